"""`strat check`: would this interval hold for data like yours?"""

from __future__ import annotations

from typing import Annotated

import typer

from strat.cli import output

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command()
def check(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="CSV, TSV, Parquet, JSON lines or Arrow (.gz, .zst too), or globs."),
    ],
    truth: Annotated[str | None, typer.Option(help="Column of true labels.")] = None,
    predicted: Annotated[str | None, typer.Option(help="Column of predicted labels.")] = None,
    score: Annotated[
        str | None, typer.Option(help="Column of scores: for AUC, or alone: how right each row is.")
    ] = None,
    strata: Annotated[str | None, typer.Option(help="Column of fixed groups (subjects, tasks).")] = None,
    units: Annotated[str | None, typer.Option(help="Column of what was drawn (passages, patients).")] = None,
    items: Annotated[str | None, typer.Option(help="Column of items; rows of one item are repeats.")] = None,
    weights: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="Measure (repeat for more): accuracy, macro_f1, auc, kappa, …")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(help="Samples to draw (default 1000, fewer for more than 20,000 rows).")
    ] = None,
    level: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    positive: Annotated[str | None, typer.Option(help="The positive one of two classes.")] = None,
    missing: Annotated[str, typer.Option(help="Missing values: error or drop.")] = "error",
    lone: Annotated[
        str, typer.Option(help="Strata of one unit: error, collapse, certainty, centre, average.")
    ] = "error",
    as_json: output.Json = False,
    markdown: output.Markdown = False,
    latex: output.Latex = False,
    quiet: output.Quiet = False,
    to: output.Output = None,
) -> None:
    """Would this interval hold for data like yours? Samples of your design, with a known truth, say so.

    For example:

      strat check predictions.csv --truth label --predicted guess --units passage --metric accuracy

      strat check scores.csv --score correct --strata task --trials 200 --json
    """
    from strat.tables.check import check as run
    from strat.tables.check import sheet

    with output.progress("drawing samples", quiet=quiet) as progress:
        found = run(
            files,
            truth=truth,
            predicted=predicted,
            score=score,
            strata=strata,
            units=units,
            items=items,
            weights=weights,
            metrics=metric or None,
            trials=trials,
            level=level,
            rng=seed,
            positive=positive,
            missing=missing,
            lone=lone,
            progress=progress,
        )
    output.emit(sheet(found), as_json=as_json, markdown=markdown, latex=latex, quiet=quiet, output=to)
