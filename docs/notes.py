"""Write the kinds of notes in docs/reference/notes.md: of each a program that raises it, and what it then says.

    python docs/notes.py              rewrite the kinds
    python docs/notes.py --check      change nothing; exit with 1 where the page is not that of the register

`docs/notes/CODE.py` is the program of the note with that code. It leaves a result that has the note in `raised`, and
one that has not in `silent`: an object with `notes`, or a line `strat …` where only the command line has the note.
Both are made of what is bundled or made in the program, in an empty folder.
"""

from __future__ import annotations

import argparse
import contextlib
import html
import io
import json
import shlex
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

from outputs import empty_folder  # noqa: E402

from strat.base.notes import Note, on_command_line  # noqa: E402
from strat.base.notes.kinds import Kind, register  # noqa: E402

PAGE = DOCS / "reference" / "notes.md"
EXAMPLES = DOCS / "notes"
START, END = "<!-- kinds -->\n", "<!-- end of kinds -->"
ABOUT = {
    "source": "About the source of the data",
    "design": "About how the data was sampled",
    "measure": "About what is measured",
    "value": "About single values and intervals",
}


class Outcome(NamedTuple):
    """The notes of both results of a program."""

    raised: tuple[Note, ...]
    silent: tuple[Note, ...]


def program(code: str) -> str:
    """The program of the note with this code."""
    return (EXAMPLES / f"{code}.py").read_text(encoding="utf-8")


def codes() -> list[str]:
    """The codes that have a program."""
    return sorted(path.stem for path in EXAMPLES.glob("*.py"))


@cache
def outcome(code: str) -> Outcome:
    """What the program of this code gives."""
    names: dict[str, Any] = {"__name__": "documented"}
    with empty_folder():
        exec(compile(program(code), f"docs/notes/{code}.py", "exec"), names)
        return Outcome(notes_of(names["raised"]), notes_of(names["silent"]))


def notes_of(result: Any) -> tuple[Note, ...]:
    """The notes of a result, or of what a command prints as JSON."""
    if not isinstance(result, str):
        return tuple(note for note in result.notes if isinstance(note, Note))
    from strat.cli import main

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main([*shlex.split(result)[1:], "--json"])
    made = json.loads(printed.getvalue())["notes"]
    return tuple(Note(one["code"], one["facts"], one["at"]) for one in made)


def raised(code: str) -> Note:
    """The note with this code that its program raises."""
    return next(note for note in outcome(code).raised if note.code == code)


def paragraphs(note: Note) -> tuple[str, str]:
    """What a note says in Python, and on the command line."""
    with on_command_line():
        there = note.paragraph
    return note.paragraph, there


def kinds() -> str:
    """The kinds of notes, by what they are about."""
    known, text = set(codes()), ""
    for about, title in ABOUT.items():
        text += f"\n## {title}\n"
        for kind in register().values():
            if kind.about == about and kind.code in known:
                text += "\n".join(_section(kind))
    return text


def _section(kind: Kind) -> Iterator[str]:
    yield f"\n### {kind.code}\n"
    yield f"```py\n{program(kind.code).strip()}\n```\n"
    here, there = paragraphs(raised(kind.code))
    yield _quoted(here)
    if there != here:
        sentences = here.split(". ")
        differing = [one for one in there.split(". ") if one not in sentences]
        yield f"On the command line:\n\n{_quoted('. '.join(differing))}"


def _quoted(text: str) -> str:
    lines = textwrap.wrap(html.escape(text, quote=False), 118, break_long_words=False, break_on_hyphens=False)
    return "".join(f"> {line}\n" for line in lines)


def replaced(page: str) -> str:
    """The page with today's kinds."""
    before, _, rest = page.partition(START)
    return f"{before}{START}{kinds()}\n{END}{rest.partition(END)[2]}"


def main() -> int:
    """Write the kinds, or check them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing, and say whether the page is up to date")
    page = PAGE.read_text(encoding="utf-8")
    current = replaced(page)
    if parser.parse_args().check:
        return int(current != page)
    PAGE.write_text(current, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
