"""`strat look`: what a table holds, and the command to run next; also for commands that were given a file alone."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from strat.base.errors import visible
from strat.cli import options, output

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command()
def look(
    files: options.Files,
    sheet: Annotated[str | None, typer.Option(help="Sheet of an Excel workbook (or FILE.xlsx#SHEET).")] = None,
    text: Annotated[
        list[str] | None, typer.Option(help="Column of a CSV file to read as text (repeat for more).")
    ] = None,
    na: options.Na = None,
    as_json: output.Json = False,
    markdown: output.Markdown = False,
    latex: output.Latex = False,
    quiet: output.Quiet = False,
    to: output.Output = None,
) -> None:
    """Look at a table first: its columns, the roles they seem to play, and the command to run next.

    For example:

      strat look predictions.csv

      strat look answers.parquet --json

    Nothing is computed yet. Below the table are commands to copy, each with the same call in Python.
    """
    from strat.verbs import look as run

    overview = run(files if len(files) > 1 else files[0], sheet=sheet, text=text or (), na=na or None)
    _show(overview, as_json=as_json, markdown=markdown, latex=latex, quiet=quiet, to=to)


def _show(overview: Any, *, as_json: bool, markdown: bool, latex: bool, quiet: bool, to: Path | None) -> None:
    """The sheet; on a screen, commands are printed as they are, because a wrapped line can't be copied."""
    forms: dict[str, Any] = {"as_json": as_json, "markdown": markdown, "latex": latex, "quiet": quiet, "output": to}
    if not sys.stdout.isatty() or as_json or markdown or latex or quiet or to is not None:
        output.emit(overview.sheet(), **forms)
        return
    output.emit(replace(overview.sheet(), notes=overview.remarks()), **forms)
    for line in overview.what_next():
        typer.echo(visible(line))


def instead(ctx: typer.Context, files: Sequence[str], message: str) -> None:
    """Show what the files hold in place of an answer, say what is missing, and end with the code for wrong usage."""
    from strat.verbs import look as run

    overview = run(list(files) if len(files) > 1 else files[0], na=ctx.params.get("na") or None)
    _show(overview, as_json=bool(ctx.params.get("as_json")), markdown=False, latex=False, quiet=False, to=None)
    typer.echo(f"strat: {message}; proposals are above.", err=True)
    raise typer.Exit(2)


def unless_columns(ctx: typer.Context, files: Sequence[str]) -> None:
    """Show what the files hold where no columns were named."""
    if ctx.params.get("predicted") is None and ctx.params.get("score") is None:
        beside = "" if ctx.params.get("truth") is None else " beside `--truth`"
        wanted = "`--predicted` or `--score`" if beside else "`--truth` and `--predicted`, or `--score`,"
        instead(ctx, files, f"{wanted} must name columns{beside}, got none")


def unless_long(ctx: typer.Context, files: Sequence[str]) -> None:
    """Show what a table holds where nothing to compare was named and its columns don't have the usual names."""
    from strat.data import read
    from strat.data.logs.long import NAMES

    path = Path(files[0])
    roles = ("predicted", "score", "system", "items")
    if any(ctx.params.get(role) for role in roles) or path.is_dir() or path.suffix in (".eval", ".json"):
        return
    if path.name.startswith("samples_"):
        return
    names = read(list(files), na=ctx.params.get("na") or None).names
    if not all(any(name in names for name in NAMES[role]) for role in ("system", "items", "score")):
        instead(ctx, files, "`--predicted` or `--score` must name the columns to compare, got none")
