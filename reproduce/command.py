"""`strat reproduce`: what the source documents print, beside what this library computes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strat.base.errors import StratError
from strat.cli import options, output
from strat.cli.output import Sheet

if TYPE_CHECKING:
    from reproduce import Entry, Reproduced

SCHEMA = "strat/reproduce/2"

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command()
def reproduce(
    ctx: typer.Context,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]…", help="Entries (kuncheva/1.9) or sources (fh); all without any."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Print every value, not one line for each entry.")] = False,
    names: Annotated[bool, typer.Option("--list", help="List the entries without computing them.")] = False,
    slow: Annotated[bool, typer.Option("--slow", help="Repeat the simulations often (minutes).")] = False,
    data: Annotated[Path | None, typer.Option(help="Folder of the shared data files; else STRAT_SHARED.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write one self-contained page with pictures to this file.")] = None,
    as_json: output.Json = False,
    markdown: output.Markdown = False,
    latex: output.Latex = False,
    quiet: output.Quiet = False,
    to: output.Output = None,
) -> None:
    """In a clone of the project: print every example, table and figure of the sources beside ours.

    A printed value agrees, is compatible (within a tolerance of over a tenth of it) or differs, by an erratum or by
    something open. A value that only follows from a formula of the source is derived. For example:

      strat reproduce

      strat reproduce kuncheva/1.9

      strat reproduce nyssen strat --json

      strat reproduce --all --html sources.html
    """
    from reproduce import ENTRIES, Setting, chosen

    picked = chosen(ENTRIES, ids or [])
    if html is not None and html.suffix.lower() not in (".html", ".htm"):
        raise StratError(f"`--html` must name a file that ends in .html, got {str(html)!r}.")
    if names:
        options.leave_out(ctx, "every", "slow", "data", "html", why="with --list, which computes nothing")
        sheet = _listing(picked)
    else:
        made = _computed(picked, Setting(_folder(data), slow), quiet)
        sheet = _details(made) if every or ids else _overview(made)
        if html is not None:
            _write(html, made, [*(ids or ["--all"]), *(["--data", "FOLDER"] if data else [])], slow)
    output.emit(sheet, as_json=as_json, markdown=markdown, latex=latex, quiet=quiet, output=to)


def _folder(data: Path | None) -> Path | None:
    if data is not None:
        if not data.is_dir():
            raise StratError(f"`--data` must be a folder that exists, got {str(data)!r}.")
        return data
    named = os.environ.get("STRAT_SHARED")
    return Path(named) if named and Path(named).is_dir() else None


def _computed(picked: Sequence[Entry], setting: object, quiet: bool) -> list[Reproduced]:
    from reproduce import reproduce as compute

    made = []
    with output.progress("reproducing", quiet=quiet) as done:
        for number, entry in enumerate(picked, 1):
            made.append(compute(entry, setting))  # type: ignore[arg-type]
            if done:
                done(number / len(picked))
    return made


def _listing(picked: Sequence[Entry]) -> Sheet:
    rows = [(e.id, e.where, e.title, e.needs) for e in picked]
    return Sheet(SCHEMA, ("id", "where", "what", "needs"), rows)


def _overview(made: Sequence[Reproduced]) -> Sheet:
    from reproduce.page import summary

    rows = [(m.entry.id, m.entry.title, m.count, m.verdict) for m in made]
    notes = [summary(made), "`strat reproduce ID` shows the values of an entry, --all those of all."]
    notes += sorted({m.skipped + "." for m in made if m.skipped})
    return Sheet(SCHEMA, ("id", "what", "agree", "verdict"), rows, "The sources beside ours", notes, _data(made))


def _details(made: Sequence[Reproduced]) -> Sheet:
    from reproduce.page import summary

    rows = [
        (m.entry.id, v.what, v.as_printed, v.derived, v.ours, v.tolerance, v.verdict, v.note)
        for m in made
        for v in m.found.values
    ]
    notes = [summary(made), *(f"{m.entry.id}: {note}" for m in made for note in m.found.notes)]
    notes += [f"{m.entry.id}: {m.skipped}." for m in made if m.skipped]
    title = f"{made[0].entry.where}: {made[0].entry.title}" if len(made) == 1 else "The sources beside ours"
    columns = ("id", "value", "printed", "by formula", "ours", "tolerance", "verdict", "note")
    return Sheet(SCHEMA, columns, rows, title, notes, _data(made))


def _data(made: Sequence[Reproduced]) -> dict[str, object]:
    from reproduce.page import summary

    return {"summary": summary(made), "entries": [m.to_dict() for m in made]}


def _write(path: Path, made: Sequence[Reproduced], words: Sequence[str], slow: bool) -> None:
    from reproduce import SOURCES
    from reproduce.page import render

    said = " ".join(["strat reproduce", *words, *(["--slow"] if slow else []), "--html", path.name])
    output.write(path, render(made, SOURCES, command=said, slow=slow))
