"""`strat plan pilot`: units like those of a pilot study."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from strat import planning
from strat.base.errors import StratError
from strat.cli.options import (
    Kinds,
    Level,
    Order,
    Picture,
    PopulationSizes,
    Positive,
    Predicted,
    Score,
    Stages,
    Truth,
    leave_out,
    naming,
    sampling,
    spelling,
)
from strat.cli.output import Json
from strat.cli.plan_options import Assurance, Power, show_plan
from strat.planning.assurance import ASSURANCE


def pilot(
    ctx: typer.Context,
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE...]", help="The pilot's table, as for `strat evaluate`.")
    ] = None,
    se: Annotated[float | None, typer.Option(help="Without a file: standard error of a value or a difference.")] = None,
    units: Annotated[
        str | None, typer.Option(help="Column of what was drawn; without a file, how many were drawn.")
    ] = None,
    strata: Annotated[str | None, typer.Option(help="Column of strata; without a file, how many there were.")] = None,
    kinds: Kinds = None,
    order: Order = None,
    stages: Stages = None,
    population: PopulationSizes = None,
    truth: Truth = None,
    predicted: Predicted = None,
    score: Score = None,
    metric: Annotated[str | None, typer.Option(help="Measure of the pilot's table: accuracy, recall, auc, …")] = None,
    positive: Positive = None,
    width: Annotated[float | None, typer.Option(help="Wanted width of the interval.")] = None,
    difference: Annotated[float | None, typer.Option(help="Difference to detect.")] = None,
    power: Power = 0.8,
    level: Level = 0.95,
    assurance: Assurance = ASSURANCE,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Units like those of a pilot study, for an interval of a wanted width or to detect a difference.

    strat plan pilot pilot.csv --truth label --predicted guess --units patient --metric recall --width 0.04

    strat plan pilot --se 0.0317 --units 698 --width 0.04

    strat plan pilot --se 0.011 --units 568 --difference 0.02

    strat plan pilot schools.csv --score pass --stages district,school --width 0.05

    Crossed factors have `strat plan levels`.
    """
    if (width is None) == (difference is None):
        raise StratError("`--width` (of an interval) or `--difference` (to detect) must be given, one of the two.")
    if width is not None:
        leave_out(ctx, "power", why="with --width")
    else:
        leave_out(ctx, "assurance", why="with --difference, which --power is for")
    if files:
        leave_out(ctx, "se", why="with a file: its rows give it")
        target: dict[str, Any] = {"power": power, "difference": difference}
        if width is not None:
            target = {"width": width, "assurance": assurance}
        show_plan(_pilot_of_table(ctx, {**target, "level": level}), plot, as_json)
        return
    of_files = ("truth", "predicted", "score", "metric", "positive", "kinds", "order", "stages", "population")
    leave_out(ctx, *of_files, why="without a file of the pilot's rows")
    if se is None or units is None:
        raise StratError("`--se` and `--units` must be given without a file of the pilot's rows.")
    common: dict[str, Any] = {"se": se, "units": _number("--units", units), "level": level}
    common["strata"] = 1 if strata is None else _number("--strata", strata)
    if width is not None:
        answer = planning.pilot_units_for_width(width=width, assurance=assurance, **common)
    else:
        assert difference is not None
        answer = planning.pilot_units_for_power(difference=difference, power=power, **common)
    show_plan(answer, plot, as_json)


def _pilot_of_table(ctx: typer.Context, target: dict[str, Any]) -> planning.SampleSize:
    """The plan from the first measure of a pilot's table."""
    from strat import comparison, verbs

    asked = {name: ctx.params[name] for name in ("truth", "predicted", "score", "positive")}
    with naming(**spelling(ctx)):
        evaluation = verbs.evaluate(ctx.params["files"], **asked, metrics=ctx.params["metric"], design=sampling(ctx))
    answer: planning.SampleSize = comparison.units_for(next(iter(evaluation.estimates.values())), **target)
    return answer


def _number(option: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise StratError(f"`{option}` must be a whole number where no file is given, got {text!r}.") from None
