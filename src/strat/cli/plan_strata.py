"""`strat plan boundaries`, `finite`, `intraclass` and `levels`: from what strata, units and factors are planned."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from strat import planning
from strat.base.errors import StratError
from strat.cli import options
from strat.cli.options import Level, naming, numbers_of
from strat.cli.output import Json, Sheet, emit

SCHEMA = "strat/plan/1"


def boundaries(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="A table of the frame or of a pilot.")],
    score: Annotated[str, typer.Option(help="Column of a score that is correlated with what will be measured.")],
    strata: Annotated[int, typer.Option(help="How many strata are wanted.")] = 5,
    as_json: Json = False,
) -> None:
    """Cut a score into strata by the rule of Dalenius and Hodges.

    strat plan boundaries pilot.csv --score judge --strata 4
    """
    from strat import data

    with naming(score="--score", strata="--strata"):
        values = data.read(files).numbers(score)
        answer = planning.stratum_boundaries(values, strata=strata)
    ends = [*answer.cuts.tolist(), float(values.max())]
    rows = list(zip(range(1, len(ends) + 1), ends, answer.sizes.tolist(), answer.deviations.tolist(), strict=True))
    emit(
        Sheet(SCHEMA, ("stratum", "up to", "rows", "deviation"), rows, str(answer), (), answer.to_dict()),
        as_json=as_json,
    )


def finite(
    successes: Annotated[str, typer.Option(help="Successes among the rows drawn; one number for each stratum.")],
    trials: Annotated[str, typer.Option(help="Rows drawn, such as 40 or 40,30.")],
    population: Annotated[str, typer.Option(help="Rows in all, drawn or not.")],
    level: Level = 0.95,
    as_json: Json = False,
) -> None:
    """Exact limits of a share in a finite benchmark of which some rows were drawn.

    strat plan finite --successes 0 --trials 40 --population 50

    strat plan finite --successes 3,0 --trials 10,20 --population 10,40
    """
    from strat.estimation import proportions

    given = {"successes": successes, "trials": trials, "population": population}
    counts: dict[str, Any] = {name: numbers_of(f"--{name}", text) for name, text in given.items()}
    if len({len(numbers) for numbers in counts.values()}) > 1:
        lengths = ", ".join(str(len(numbers)) for numbers in counts.values())
        raise StratError(f"`--population` must have as many numbers as --successes and --trials, got {lengths}.")
    with naming(**{name: f"--{name}" for name in (*given, "level")}):
        low, high = proportions.stratified_hypergeometric_interval(**counts, level=level)
    share = sum(n * x / m for x, m, n in zip(*counts.values(), strict=True)) / sum(counts["population"])
    title = (
        f"share {share:.4g} ({100 * level:g} % {low:.4g} to {high:.4g}) of {sum(counts['population']):,.0f} rows, exact"
    )
    data: dict[str, Any] = {"share": share, "low": low, "high": high, "level": level, **counts}
    emit(Sheet(SCHEMA, ("share", "low", "high"), [(share, low, high)], title, (), data), as_json=as_json)


def intraclass(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="A table with several rows of each unit.")],
    score: Annotated[str, typer.Option(help="Column of numbers, such as 0 and 1 for wrong and right.")],
    units: Annotated[str, typer.Option(help="Column of what was drawn: subjects, passages.")],
    seed: Annotated[int, typer.Option(help="Seed of the permutations.")] = 0,
    as_json: Json = False,
) -> None:
    """The intraclass correlation with an interval and an exact test, for `strat plan units --intraclass`.

    strat plan intraclass pilot.csv --score correct --units patient
    """
    from strat import data, estimation

    with naming(y="--score", units="--units", rng="--seed"):
        table = data.read(files)
        correlation = estimation.intraclass(table.numbers(score), table.column(units), rng=seed)
    low, high = correlation.interval()
    row = (correlation.value, low, high, correlation.pvalue, correlation.effect)
    columns = ("correlation", "low", "high", "p", "design effect")
    emit(Sheet(SCHEMA, columns, [row], str(correlation), (), correlation.to_dict()), as_json=as_json)


def levels(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="The pilot's table, as for `strat evaluate`.")],
    crossed: Annotated[str, typer.Option(metavar="A,B", help="Columns of factors that were drawn: item,setting,run.")],
    truth: options.Truth = None,
    predicted: options.Predicted = None,
    score: options.Score = None,
    strata: options.Strata = None,
    weights: options.Weights = None,
    metric: Annotated[str | None, typer.Option(help="Measure of the table: accuracy, recall, auc, …")] = None,
    positive: options.Positive = None,
    width: Annotated[
        float | None, typer.Option(help="Wanted width of the interval; also says how many levels reach it.")
    ] = None,
    level: Level = 0.95,
    as_json: Json = False,
) -> None:
    """How much of the variance each drawn factor makes, with intervals, and the levels that a width takes.

    strat plan levels ratings.csv --score good --crossed worker,prompt

    strat plan levels ratings.csv --score good --crossed worker,prompt --width 0.1
    """
    from strat.verbs.components import components_of

    names = ("crossed", "truth", "predicted", "score", "strata", "weights", "metric", "positive", "width", "level")
    with naming(metrics="--metric", **{name: f"--{name}" for name in names}):
        parts = components_of(
            files, crossed=crossed, truth=truth, predicted=predicted, score=score, strata=strata, weights=weights,
            metric=metric, positive=positive,
        )  # fmt: skip
        limits = parts.intervals(level)
        answer = None if width is None else planning.levels_for_width(parts, width=width, level=level)
    rows = [
        (name, parts.levels.get(name), share, parts.variances[name], *limits[name])
        for name, share in parts.shares.items()
    ]
    columns = ("factor", "levels", "share", "variance", "low", "high")
    data = {**parts.to_dict(), "level": level, "plan": None if answer is None else answer.to_dict()}
    notes = () if answer is None else (str(answer),)
    emit(Sheet(SCHEMA, columns, rows, str(parts), notes, data), as_json=as_json)
