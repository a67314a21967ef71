"""`strat check`: would this interval hold for data like yours?"""

from __future__ import annotations

from typing import Annotated

import typer

from strat.cli import options, output

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command()
def check(
    ctx: typer.Context,
    files: options.Files,
    truth: options.Truth = None,
    predicted: options.Predicted = None,
    score: options.Score = None,
    strata: options.Strata = None,
    units: options.Units = None,
    items: options.Items = None,
    weights: options.Weights = None,
    metric: options.Metrics = None,
    trials: Annotated[
        int | None, typer.Option(help="Samples to draw (default 1000, fewer for more than 20,000 rows).")
    ] = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    positive: options.Positive = None,
    missing: options.Missing = "error",
    lone: options.Lone = "error",
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

    options.applied(ctx, truth=truth, score=score, strata=strata)
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
