"""`strat plan`: how many rows, units, strata, repeats and design samples a wanted answer needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from strat import theory
from strat.cli.options import Level, Picture, leave_out, picture
from strat.cli.output import Json, Sheet, draw, emit
from strat.errors import StratError

SCHEMA = "strat/plan/1"

command = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)

Deff = Annotated[float, typer.Option("--design-effect", help="Variance relative to independent rows.")]
Power = Annotated[float, typer.Option(help="Wanted power.")]
Linear = Annotated[bool, typer.Option("--linear", help="Fisher's linear classifier instead of the quadratic one.")]
BayesError = Annotated[float, typer.Option("--bayes-error", help="Expected Bayes error of the two classes.")]


@command.callback()
def plan() -> None:
    """Plan how much data a wanted answer needs: a number and the curve around it.

    strat plan width --width 0.04 --proportion 0.9 --design-effect 2.5

    strat plan power --difference 0.02 --disagreement 0.1

    strat plan units --width 0.1 --proportion 0.8 --rows-per-unit 20 --intraclass 0.3 --strata 4

    strat plan allocation --sizes 500,300,200 --deviations 0.5,0.3,0.1 --total 100

    strat plan design-samples --features 8 --bayes-error 0.1 --degradation 0.005
    """


@command.command()
def width(
    width: Annotated[float, typer.Option(help="Wanted width of the interval, upper less lower limit.")],
    proportion: Annotated[float | None, typer.Option(help="Expected share, such as an accuracy.")] = None,
    deviation: Annotated[float | None, typer.Option(help="Standard deviation of rows, for a mean.")] = None,
    level: Level = 0.95,
    design_effect: Deff = 1.0,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Rows for an interval of a wanted width."""
    if (proportion is None) == (deviation is None):
        raise StratError("`--proportion` (of a share) or `--deviation` (of a mean) must be given, one of the two.")
    if proportion is not None:
        answer = theory.rows_for_width(width=width, proportion=proportion, level=level, design_effect=design_effect)
    else:
        answer = theory.rows_for_mean(width=width, deviation=deviation or 0.0, level=level, design_effect=design_effect)
    _show_plan(answer, plot, as_json)


@command.command()
def power(
    ctx: typer.Context,
    difference: Annotated[float | None, typer.Option(help="Difference of two accuracies to find (paired).")] = None,
    disagreement: Annotated[
        float | None, typer.Option(help="Share of rows on which exactly one system is right.")
    ] = None,
    null: Annotated[float | None, typer.Option(help="Share under the null hypothesis (one system).")] = None,
    alternative: Annotated[float | None, typer.Option(help="Share to find (one system).")] = None,
    rows: Annotated[int | None, typer.Option(help="With these rows: the smallest difference found.")] = None,
    power: Power = 0.8,
    level: Level = 0.95,
    design_effect: Deff = 1.0,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Rows to find a difference, or the smallest difference that given rows find.

    strat plan power --difference 0.02 --disagreement 0.1

    strat plan power --rows 1000 --disagreement 0.1

    strat plan power --null 0.5 --alternative 0.55
    """
    common: dict[str, float] = {"power": power, "level": level, "design_effect": design_effect}
    if null is not None and alternative is not None:
        leave_out(ctx, "difference", "disagreement", "rows", why="with --null and --alternative, which plan one system")
        _show_plan(theory.rows_for_power(null=null, alternative=alternative, **common), plot, as_json)
    elif disagreement is not None and difference is not None:
        leave_out(ctx, "null", "alternative", "rows", why="with --difference and --disagreement, which give the rows")
        answer = theory.paired_rows_for_power(difference=difference, disagreement=disagreement, **common)
        _show_plan(answer, plot, as_json)
    elif disagreement is not None and rows is not None:
        leave_out(ctx, "null", "alternative", why="with --rows and --disagreement, which plan two systems")
        found = theory.detectable_difference(rows=rows, disagreement=disagreement, **common)
        curve = _thinned(found.sizes, found.values)
        _show(found, plot, as_json, columns=("rows", "smallest difference"), rows=curve)
    else:
        raise StratError(
            "`strat plan power` must have `--difference` and `--disagreement`, `--rows` and `--disagreement`, or "
            "`--null` and `--alternative`."
        )


@command.command()
def units(
    width: Annotated[float, typer.Option(help="Wanted width of the interval.")],
    proportion: Annotated[float, typer.Option(help="Expected share, such as an accuracy.")],
    intraclass: Annotated[float, typer.Option(help="Intraclass correlation of rows in a unit.")],
    rows_per_unit: Annotated[float | None, typer.Option(help="Rows in each unit; gives the units.")] = None,
    units: Annotated[int | None, typer.Option(help="Units at hand; gives the rows per unit.")] = None,
    strata: Annotated[int, typer.Option(help="Strata over which units are spread evenly.")] = 1,
    level: Level = 0.95,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Units (subjects, passages) of several rows, or rows per unit, for an interval of a wanted width."""
    common: dict[str, Any] = {"width": width, "proportion": proportion, "intraclass": intraclass}
    common |= {"strata": strata, "level": level}
    if rows_per_unit is not None and units is None:
        answer = theory.units_for_width(rows_per_unit=rows_per_unit, **common)
    elif units is not None and rows_per_unit is None:
        answer = theory.rows_per_unit_for_width(units=units, **common)
    else:
        raise StratError(
            "`--rows-per-unit` (to learn the units) or `--units` (to learn the rows) must be given, one of the two."
        )
    _show_plan(answer, plot, as_json)


@command.command()
def strata(
    width: Annotated[float, typer.Option(help="Wanted width of the interval.")],
    deviation: Annotated[float, typer.Option(help="Standard deviation of unit means within a stratum.")],
    units_per_stratum: Annotated[int, typer.Option(help="Units in each stratum.")] = 2,
    level: Level = 0.95,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Strata of a fixed number of units for an interval of a wanted width."""
    answer = theory.strata_for_width(width=width, deviation=deviation, units_per_stratum=units_per_stratum, level=level)
    _show_plan(answer, plot, as_json)


@command.command()
def repeats(
    width: Annotated[float, typer.Option(help="Wanted width of the interval.")],
    items: Annotated[int, typer.Option(help="Number of items.")],
    between: Annotated[float, typer.Option(help="Standard deviation of item means.")],
    within: Annotated[float, typer.Option(help="Standard deviation of repeats within an item.")],
    level: Level = 0.95,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Repeated runs of each item for an interval of a wanted width."""
    answer = theory.repeats_for_width(width=width, items=items, between=between, within=within, level=level)
    _show_plan(answer, plot, as_json)


@command.command()
def allocation(
    sizes: Annotated[str, typer.Option(help="Population size of each stratum, such as 500,300,200.")],
    deviations: Annotated[str, typer.Option(help="Standard deviation within each stratum.")],
    total: Annotated[int, typer.Option(help="Units to spend.")],
    least: Annotated[int, typer.Option(help="Units that every stratum gets at least.")] = 2,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Neyman's allocation of units over strata, beside the proportional one."""
    people, spreads = _numbers("--sizes", sizes), _numbers("--deviations", deviations)
    answer = theory.neyman_allocation(sizes=people, deviations=spreads, total=total, least=least)
    rows = list(zip(range(1, len(people) + 1), people, spreads, answer.counts, answer.proportional, strict=True))
    columns = ("stratum", "size", "deviation", "units", "proportional")
    _show(answer, plot, as_json, columns=columns, rows=rows)


@command.command()
def design_samples(
    ctx: typer.Context,
    features: Annotated[int | None, typer.Option(help="Number of features, for F&H's theory.")] = None,
    degradation: Annotated[float | None, typer.Option(help="Wanted excess over Bayes' error.")] = None,
    bayes_error: BayesError = 0.1,
    linear: Linear = False,
    samples: Annotated[int | None, typer.Option(help="Samples of a class to split into design and test.")] = None,
    sizes: Annotated[str | None, typer.Option(help="Measured learning curve: sizes, such as 50,100,200.")] = None,
    errors: Annotated[str | None, typer.Option(help="Measured learning curve: errors at these sizes.")] = None,
    error: Annotated[float | None, typer.Option(help="Wanted error on the learning curve.")] = None,
    level: Level = 0.95,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Design samples for a wanted degradation, from theory or a learning curve; or the design-test split.

    strat plan design-samples --features 8 --bayes-error 0.1 --degradation 0.005

    strat plan design-samples --features 8 --bayes-error 0.1 --samples 200

    strat plan design-samples --sizes 50,100,200,400 --errors 0.15,0.12,0.11,0.105 --error 0.102
    """
    curve, theoretical = ("sizes", "errors", "error"), ("features", "degradation", "bayes_error", "linear", "samples")
    if sizes is not None and errors is not None and error is not None:
        leave_out(ctx, *theoretical, why="with a measured learning curve")
        _curve(sizes, errors, error, level, plot, as_json)
    elif features is not None and degradation is not None:
        leave_out(ctx, *curve, "samples", "level", why="with --features and --degradation, which follow from theory")
        distance = theory.distance_for_error(bayes_error)
        answer = theory.design_samples_for(degradation=degradation, features=features, distance=distance, linear=linear)
        _show_plan(answer, plot, as_json)
    elif features is not None and samples is not None:
        leave_out(ctx, *curve, "level", why="with --features and --samples, which follow from theory")
        distance = theory.distance_for_error(bayes_error)
        split = theory.design_test_split(samples=samples, features=features, distance=distance, linear=linear)
        rows = _thinned(split.sizes, split.degradations, split.standard_errors)
        _show(split, plot, as_json, columns=("design", "degradation", "standard error"), rows=rows)
    else:
        raise StratError(
            "`strat plan design-samples` must have `--features` with `--degradation` or `--samples`, or a learning "
            "curve: `--sizes`, `--errors` and `--error`."
        )


def _curve(sizes: str, errors: str, error: float, level: float, plot: Path | None, as_json: bool) -> None:
    curve = theory.fit_learning_curve(_numbers("--sizes", sizes), _numbers("--errors", errors))
    found = curve.samples_for(error, level)
    grid = [float(found.number) * f for f in (0.25, 0.5, 1.0, 2.0, 4.0)]
    low, high = curve.interval(grid, level)
    rows = [
        (round(g), float(m), float(a), float(b))
        for g, m, a, b in zip(grid, curve.predict(grid), low, high, strict=True)
    ]
    data = {
        "error": error,
        "number": found.number,
        "low": found.low,
        "high": found.high,
        "level": level,
        "floor": curve.floor,
        "slope": curve.slope,
        "power": curve.power,
    }
    _save(curve, plot)
    notes = (f"The curve's floor is {curve.floor:.4g}; an extrapolation is as good as its points.",)
    emit(Sheet(SCHEMA, ("samples", "error", "low", "high"), rows, str(found), notes, data), as_json=as_json)


def _show_plan(answer: theory.Plan, plot: Path | None, as_json: bool) -> None:
    rows = _thinned(answer.sizes, answer.values)
    _show(answer, plot, as_json, columns=(answer.counted, answer.measure), rows=rows)


def _show(answer: Any, plot: Path | None, as_json: bool, *, columns: Any, rows: Any) -> None:
    _save(answer, plot)
    emit(Sheet(SCHEMA, columns, rows, str(answer), (), answer.to_dict()), as_json=as_json)


def _thinned(*columns: Any) -> list[tuple[Any, ...]]:
    step = max(1, len(columns[0]) // 10)
    counts = [int(v) for v in columns[0][::step]]
    return list(zip(counts, *(c[::step].tolist() for c in columns[1:]), strict=True))


def _save(answer: Any, plot: Path | None) -> None:
    picture(plot)
    if plot is not None:
        draw(answer.plot().figure, plot)


def _numbers(argument: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise StratError(f"`{argument}` must be numbers with commas, such as 500,300, got {text!r}.") from None
