"""`strat check`: would this interval hold for data like yours?"""

from __future__ import annotations

from typing import Annotated

import typer

from strat.cli import look, options, output

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
    crossed: options.Crossed = None,
    kinds: options.Kinds = None,
    order: options.Order = None,
    differences: options.Differences = 1,
    start: options.Start = None,
    stages: options.Stages = None,
    population: options.PopulationSizes = None,
    weights: options.Weights = None,
    metric: options.Metrics = None,
    trials: Annotated[
        int | None,
        typer.Option(help="Samples for each way in which units may differ (default 1000, fewer above 20,000 rows)."),
    ] = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    positive: options.Positive = None,
    missing: options.Missing = "error",
    na: options.Na = None,
    lone: options.Lone = "error",
    nested: options.Nested = False,
    as_json: output.Json = False,
    markdown: output.Markdown = False,
    latex: output.Latex = False,
    quiet: output.Quiet = False,
    to: output.Output = None,
) -> None:
    """Say whether the interval would hold for data like yours, by samples with a known truth.

    For example:

      strat check predictions.csv --truth label --predicted guess --units passage --metric accuracy

      strat check scores.csv --score correct --strata task --trials 200 --json

      strat check ratings.csv --score good --crossed worker,prompt --trials 200

      strat check shots.csv --score hit --units subject --kinds pose --trials 200

      strat check schools.csv --score pass --stages district,school --population districts,schools
    """
    from strat.verbs.check import check as run
    from strat.verbs.check_result import sheet

    look.unless_columns(ctx, files)
    options.applied(ctx, truth=truth, score=score, strata=strata)
    with output.progress("drawing samples", quiet=quiet) as progress, options.naming(**options.spelling(ctx)):
        checks = run(
            files,
            truth=truth,
            predicted=predicted,
            score=score,
            design=options.sampling(ctx),
            metrics=metric or None,
            trials=trials,
            level=level,
            rng=seed,
            positive=positive,
            missing=missing,
            na=na,
            progress=progress,
        )
    output.emit(sheet(checks), as_json=as_json, markdown=markdown, latex=latex, quiet=quiet, output=to)
