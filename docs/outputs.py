"""Run the examples of the pages, and print beneath each what it prints.

    python docs/outputs.py                        rewrite the outputs of every page
    python docs/outputs.py docs/howto/gate.md     of one page
    python docs/outputs.py --check                change nothing; exit with 1 where an output is not current

A page is run from top to bottom in an empty folder and one namespace. A fence ``python`` is code, a fence ``sh`` holds
`strat` commands, one a line; the fence ``text`` right after either is its output. Other fences and indented lines are
not run. ``<!-- file: PATH -->`` puts a file of the repository into the folder. ``<!-- output varies -->`` before a
block is for times and for machines with a GPU: its output is renewed only if the page is named. Figures that a block
draws, and HTML files that it writes, are put beneath it when the site is built.
"""

from __future__ import annotations

import argparse
import contextlib
import html
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl

DOCS = Path(__file__).parent
ROOT = DOCS.parent
BLOCK = re.compile(
    r"(<!-- output varies -->\n)?^```(python|sh)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
WIDTH = 110
NUMBER = re.compile(r"[-−+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class Example:
    """One block of a page: where it lies, what it is, and the output that the page shows."""

    start: int
    end: int
    line: int
    kind: str
    code: str
    shown: str | None
    varies: bool = False


@dataclass(slots=True)
class Outcome:
    """What running one block gave: text, figures as matplotlib objects, files in HTML."""

    example: Example
    text: str
    figures: list[Any] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)


def pages() -> list[Path]:
    """Every page with an example, the README and its neighbours too."""
    every = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
    return [page for page in every if "_build" not in page.parts and examples(page.read_text(encoding="utf-8"))]


def examples(text: str) -> list[Example]:
    """The blocks of a page that are run."""
    return [
        Example(m.start(2) - 3, m.end(), text[: m.start(2)].count("\n") + 2, m[2], m[3], m[4], bool(m[1]))
        for m in BLOCK.finditer(text)
    ]


def run(page: Path, text: str) -> Iterator[Outcome]:
    """Run a page's blocks in the current folder, and give what each printed, drew and wrote."""
    mpl.use("agg")
    from matplotlib import pyplot as plt

    for name in re.findall(r"<!-- file: (\S+) -->", text):
        shutil.copy(ROOT / name, Path.cwd())
    namespace: dict[str, Any] = {"__name__": "documented"}
    figures_before, files_before = set(plt.get_fignums()), set[Path]()
    apart: list[Any] = []  # figures that pyplot does not know
    for example in examples(text):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            if example.kind == "python":
                exec(compile("\n" * (example.line - 1) + example.code, str(page), "exec"), namespace)
            else:
                commands(example)
        figures = [plt.figure(number) for number in plt.get_fignums() if number not in figures_before]
        held = [value.figure for value in namespace.values() if isinstance(value, plt.Axes)]
        figures += [figure for figure in held if not hasattr(figure, "number") and figure not in apart]
        apart += figures
        files = [path for path in sorted(Path.cwd().glob("*.html")) if path not in files_before]
        figures_before |= set(plt.get_fignums())
        files_before |= set(files)
        yield Outcome(example, tidy(printed.getvalue()), figures, files)
    plt.close("all")


def commands(example: Example) -> None:
    """Run the `strat` commands of a block, each of which has to end with 0."""
    from strat.cli import main

    for line in example.code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if words[0] != "strat":
            raise ValueError(f"line {example.line}: a fence `sh` holds strat commands, got {line!r}")
        errors = io.StringIO()
        try:
            with contextlib.redirect_stderr(errors):
                main(words[1:])
        except SystemExit as end:
            if end.code:
                raise ValueError(f"line {example.line}: {line!r} ended with {end.code}: {errors.getvalue()}") from end


def tidy(text: str) -> str:
    """The output without spaces at the ends of lines, colours, and the folder that it was run in."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text).replace(f"{Path.cwd()}{os.sep}", "")
    return "".join(f"{piece}\n" for line in text.rstrip().splitlines() for piece in wrapped(line.rstrip()))


def wrapped(line: str) -> list[str]:
    """A long sentence in several lines, as a terminal shows it; a row of a table stays whole."""
    if len(line) <= WIDTH or "  " in line.strip():
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


@contextlib.contextmanager
def empty_folder() -> Iterator[None]:
    """A folder for a page's files, and a terminal of a known width."""
    columns = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(WIDTH)
    try:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            yield
    finally:
        os.environ.pop("COLUMNS") if columns is None else os.environ.update(COLUMNS=columns)


def current(text: str, page: Path, *, every: bool = False) -> str:
    """The page with the outputs that its examples give now; with `every`, also of those that vary."""
    with empty_folder():
        outcomes = list(run(page, text))
    for outcome in reversed(outcomes):
        e = outcome.example
        if e.varies and e.shown is not None and not every:
            continue
        block = f"```{e.kind}\n{e.code}```\n" + (f"\n```text\n{outcome.text}```\n" if outcome.text else "")
        text = text[: e.start] + block + text[e.end :]
    return text


def same(shown: str, given: str) -> bool:
    """Whether two outputs say the same: the same words, and numbers that agree to 0.1 % or to their last digit."""
    words = [" ".join(re.sub("-{2,}", "-", NUMBER.sub("#", text)).split()) for text in (shown, given)]
    if words[0] != words[1]:
        return False
    return all(_close(a, b) for a, b in zip(NUMBER.findall(shown), NUMBER.findall(given), strict=True))


def _close(a: str, b: str) -> bool:
    x, y = (float(text.replace(",", "").replace("−", "-")) for text in (a, b))
    digits = len(a.partition("e")[0].partition(".")[2])
    return abs(x - y) <= max(0.001 * abs(x), 1.01 * 10.0**-digits if "." in a and "e" not in a else 0.0)


# ---- pictures, when the site is built


def illustrated(page: Path, text: str, folder: Path, above: str) -> str:
    """The page with the figures that its blocks draw and the reports that its commands write, saved in `folder`."""
    if not re.search(r"\.plot|plot\.|--html", text):
        return text
    folder.mkdir(parents=True, exist_ok=True)
    name = "-".join(page.relative_to(DOCS).with_suffix("").parts)
    added: list[tuple[int, str]] = []
    with empty_folder(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, outcome in enumerate(run(page, text), 1):
            pieces = [
                picture(figure, folder, f"{name}-{number}-{k}.png", above) for k, figure in enumerate(outcome.figures)
            ]
            pieces += [frame(file, folder, f"{name}-{number}-{file.name}", above) for file in outcome.files]
            added += [(outcome.example.end, piece) for piece in pieces]
    for place, piece in reversed(added):
        text = f"{text[:place]}\n{piece}\n{text[place:]}"
    return text


def picture(figure: Any, folder: Path, name: str, above: str) -> str:
    """Save a figure, and give the lines of HTML that show it."""
    figure.savefig(folder / name, dpi=160, bbox_inches="tight")
    axes = figure.axes[0]
    what = axes.get_title() or " against ".join(t for t in (axes.get_ylabel(), axes.get_xlabel()) if t) or "as drawn"
    words = html.escape(f"Figure that this code draws: {what}")
    return f'<img class="drawn" loading="lazy" alt="{words}" src="{above}_drawn/{name}">'


def frame(file: Path, folder: Path, name: str, above: str) -> str:
    """Copy a report, and give the lines of HTML that show it in place."""
    (folder / name).write_bytes(file.read_bytes())
    address = f"{above}_drawn/{name}"
    return (
        f'<iframe class="drawn" loading="lazy" title="The report that this command writes" src="{address}"></iframe>\n'
        f'<p class="drawn"><a href="{address}">{file.name} on a page of its own</a></p>'
    )


def main() -> int:
    """Rewrite the outputs, or say which are not current."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", nargs="*", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    stale = 0
    for page in [p.resolve() for p in options.page] or [p for p in pages() if DOCS in p.parents]:
        text = page.read_text(encoding="utf-8")
        renewed = current(text, page, every=bool(options.page))
        if text != renewed:
            stale += 1
            print(page.relative_to(ROOT))
            if not options.check:
                page.write_text(renewed, encoding="utf-8")
    return int(options.check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
