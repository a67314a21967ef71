"""`strat plan`: how many rows, units, strata, repeats and design samples a wanted answer needs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from strat import planning
from strat.base.errors import StratError
from strat.cli import plan_pilot, plan_strata, plan_training
from strat.cli.options import (
    Level,
    Picture,
    leave_out,
    naming,
    numbers_of,
)
from strat.cli.output import Json, Sheet, emit
from strat.cli.plan_options import (
    SCHEMA,
    Assurance,
    Deff,
    Measure,
    Power,
    Prevalence,
    Share,
    known_prevalence,
    share_looked_at,
    show,
    show_plan,
    thinned,
)
from strat.planning.assurance import ASSURANCE

command = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)


@command.callback()
def plan() -> None:
    """Plan how many rows, units, strata, repeats and design samples a wanted answer needs.

    strat plan width --width 0.04 --proportion 0.9 --design-effect 2.5

    strat plan width --width 0.04 --proportion 0.8 --metric sensitivity --prevalence 0.086

    strat plan power --difference 0.02 --disagreement 0.1

    strat plan units --width 0.1 --proportion 0.8 --rows-per-unit 20 --intraclass 0.3 --strata 4

    strat plan pilot pilot.csv --truth label --predicted guess --units patient --metric recall --width 0.04

    strat plan pilot --se 0.0317 --units 698 --width 0.04

    strat plan allocation --sizes 500,300,200 --deviations 0.5,0.3,0.1 --total 100

    strat plan allocation --sizes 1000,1000 --deviations 1,1 --costs 1,4 --budget 120

    strat plan boundaries pilot.csv --score judge --strata 4

    strat plan intraclass pilot.csv --score correct --units patient

    strat plan levels ratings.csv --score good --crossed worker,prompt --width 0.1

    strat plan finite --successes 0 --trials 40 --population 50

    strat plan design-samples --features 8 --bayes-error 0.1 --degradation 0.005

    strat plan labels --width 0.05 --rows 10000 --correlation 0.7 --proportion 0.8
    """


@command.command()
def width(
    ctx: typer.Context,
    width: Annotated[float, typer.Option(help="Wanted width of the interval, upper minus lower limit.")],
    proportion: Annotated[float | None, typer.Option(help="Expected share, such as an accuracy.")] = None,
    deviation: Annotated[float | None, typer.Option(help="Standard deviation of rows, for a mean.")] = None,
    measure: Measure = None,
    prevalence: Prevalence = None,
    share: Share = None,
    level: Level = 0.95,
    assurance: Assurance = ASSURANCE,
    design_effect: Deff = 1.0,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Rows for an interval of a wanted width.

    strat plan width --width 0.04 --proportion 0.9

    strat plan width --width 0.04 --proportion 0.8 --metric sensitivity --prevalence 0.086

    strat plan width --width 0.04 --proportion 0.85 --metric auc --prevalence 0.086
    """
    if (proportion is None) == (deviation is None):
        raise StratError("`--proportion` (of a share) or `--deviation` (of a mean) must be given, one of the two.")
    common: dict[str, float] = {"width": width, "level": level, "design_effect": design_effect, "assurance": assurance}
    if proportion is None:
        leave_out(ctx, "measure", "prevalence", "share", why="with --deviation, which plans a mean of all rows")
        answer = planning.rows_for_mean(deviation=deviation or 0.0, **common)
    elif measure == "auc":
        leave_out(ctx, "share", why="with --metric auc, which looks at every row")
        answer = planning.rows_for_auc(auc=proportion, prevalence=known_prevalence(measure, prevalence), **common)
    else:
        answer = planning.rows_for_width(
            proportion=proportion, share=share_looked_at(ctx, measure, prevalence, share), **common
        )
    show_plan(answer, plot, as_json)


@command.command()
def power(
    ctx: typer.Context,
    difference: Annotated[float | None, typer.Option(help="Difference of two accuracies to detect (paired).")] = None,
    disagreement: Annotated[
        float | None, typer.Option(help="Share of rows on which exactly one system is right.")
    ] = None,
    null: Annotated[float | None, typer.Option(help="Share under the null hypothesis (one system).")] = None,
    alternative: Annotated[float | None, typer.Option(help="Share to detect (one system).")] = None,
    rows: Annotated[
        int | None, typer.Option(help="Rows at hand; gives the smallest difference that they detect.")
    ] = None,
    measure: Measure = None,
    prevalence: Prevalence = None,
    share: Share = None,
    power: Power = 0.8,
    level: Level = 0.95,
    design_effect: Deff = 1.0,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Rows to detect a difference, or the smallest difference that given rows detect.

    strat plan power --difference 0.02 --disagreement 0.1

    strat plan power --rows 1000 --disagreement 0.1

    strat plan power --null 0.5 --alternative 0.55

    strat plan power --null 0.7 --alternative 0.8 --metric sensitivity --prevalence 0.086
    """
    common: dict[str, float] = {"power": power, "level": level, "design_effect": design_effect}
    common["share"] = share_looked_at(ctx, measure, prevalence, share)
    if null is not None and alternative is not None:
        leave_out(ctx, "difference", "disagreement", "rows", why="with --null and --alternative, which plan one system")
        show_plan(planning.rows_for_power(null=null, alternative=alternative, **common), plot, as_json)
    elif disagreement is not None and difference is not None:
        leave_out(ctx, "null", "alternative", "rows", why="with --difference and --disagreement, which give the rows")
        answer = planning.paired_rows_for_power(difference=difference, disagreement=disagreement, **common)
        show_plan(answer, plot, as_json)
    elif disagreement is not None and rows is not None:
        leave_out(ctx, "null", "alternative", why="with --rows and --disagreement, which plan two systems")
        plan = planning.detectable_difference(rows=rows, disagreement=disagreement, **common)
        curve = thinned(plan.sizes, plan.values)
        show(plan, plot, as_json, columns=("rows", "smallest difference"), rows=curve)
    else:
        raise StratError(
            "`strat plan power` must have `--difference` and `--disagreement`, `--rows` and `--disagreement`, or "
            "`--null` and `--alternative`."
        )


@command.command()
def units(
    ctx: typer.Context,
    width: Annotated[float, typer.Option(help="Wanted width of the interval.")],
    proportion: Annotated[float, typer.Option(help="Expected share, such as an accuracy.")],
    intraclass: Annotated[float, typer.Option(help="Intraclass correlation of rows in a unit.")],
    rows_per_unit: Annotated[float | None, typer.Option(help="Rows in each unit; gives the units.")] = None,
    units: Annotated[int | None, typer.Option(help="Units at hand; gives the rows per unit.")] = None,
    strata: Annotated[int, typer.Option(help="Strata over which units are spread evenly.")] = 1,
    measure: Measure = None,
    prevalence: Prevalence = None,
    share: Share = None,
    share_intraclass: Annotated[
        float, typer.Option(help="1: all rows of a unit have the same class; 0: positive rows are spread at random.")
    ] = 1.0,
    level: Level = 0.95,
    assurance: Assurance = ASSURANCE,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Units (subjects, passages) of several rows, or rows per unit, for an interval of a wanted width.

    strat plan units --width 0.1 --proportion 0.8 --rows-per-unit 20 --intraclass 0.3 --strata 4

    strat plan units --width 0.04 --proportion 0.776 --rows-per-unit 3.4 --intraclass 0.12 --metric sensitivity
    --prevalence 0.086
    """
    common: dict[str, Any] = {"width": width, "proportion": proportion, "intraclass": intraclass}
    common |= {"strata": strata, "level": level, "share": share_looked_at(ctx, measure, prevalence, share)}
    common |= {"share_intraclass": share_intraclass, "assurance": assurance}
    if rows_per_unit is not None and units is None:
        answer = planning.units_for_width(rows_per_unit=rows_per_unit, **common)
    elif units is not None and rows_per_unit is None:
        answer = planning.rows_per_unit_for_width(units=units, **common)
    else:
        raise StratError(
            "`--rows-per-unit` (to learn the units) or `--units` (to learn the rows) must be given, one of the two."
        )
    show_plan(answer, plot, as_json)


command.command()(plan_pilot.pilot)


@command.command()
def labels(
    ctx: typer.Context,
    width: Annotated[float, typer.Option(help="Wanted width of the interval.")],
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE...]", help="A table with a proxy in all rows, labels in some.")
    ] = None,
    score: Annotated[str | None, typer.Option(help="With a file: column of labels, missing in some rows.")] = None,
    proxy: Annotated[str | None, typer.Option(help="With a file: column of the proxy.")] = None,
    probability: Annotated[
        str | None,
        typer.Option(help="With a file: column of the probability with which a row was labelled, if unequal."),
    ] = None,
    rows: Annotated[int | None, typer.Option(help="Rows that the proxy judges (default: those of the file).")] = None,
    correlation: Annotated[float | None, typer.Option(help="Without a file: of the proxy with the truth.")] = None,
    proportion: Annotated[float | None, typer.Option(help="Without a file: expected share of true rows.")] = None,
    deviation: Annotated[float | None, typer.Option(help="Without a file: standard deviation of the truth.")] = None,
    level: Level = 0.95,
    design_effect: Deff = 1.0,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """True labels for an interval of a wanted width where a proxy judges every row, and what it saves.

    strat plan labels --width 0.05 --rows 10000 --correlation 0.7 --proportion 0.8

    strat plan labels judged.csv --score human --proxy judge --width 0.04 --rows 20000
    """
    if files:
        leave_out(ctx, "correlation", "proportion", "deviation", why="with a file: its labelled rows give it")
        if score is None or proxy is None:
            raise StratError("`--score` and `--proxy` must be given with a file.")
        from strat.verbs.two_phase import pilot_of_labels

        with naming(score="--score", proxy="--proxy", probability="--probability"):
            known, correlation, deviation = pilot_of_labels(files, score=score, proxy=proxy, probability=probability)
        rows = known if rows is None else rows
    else:
        leave_out(ctx, "score", "proxy", "probability", why="without a file")
    if rows is None or correlation is None:
        raise StratError("`--rows` and `--correlation` must be given without a file.")
    answer = planning.labels_for_width(
        width=width, rows=rows, correlation=correlation, proportion=proportion, deviation=deviation, level=level,
        design_effect=design_effect,
    )  # fmt: skip
    curve = thinned(answer.plan.sizes, answer.plan.values)
    show(answer, plot, as_json, columns=("labels", "interval width"), rows=curve)


@command.command()
def strata(
    width: Annotated[float, typer.Option(help="Wanted width of the interval.")],
    deviation: Annotated[float, typer.Option(help="Standard deviation of unit means within a stratum.")],
    units_per_stratum: Annotated[int, typer.Option(help="Units in each stratum.")] = 2,
    level: Level = 0.95,
    assurance: Assurance = ASSURANCE,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Strata of a fixed number of units for an interval of a wanted width."""
    answer = planning.strata_for_width(
        width=width, deviation=deviation, units_per_stratum=units_per_stratum, level=level, assurance=assurance
    )
    show_plan(answer, plot, as_json)


@command.command()
def repeats(
    width: Annotated[float, typer.Option(help="Wanted width of the interval.")],
    items: Annotated[int, typer.Option(help="Number of items.")],
    between: Annotated[float, typer.Option(help="Standard deviation of item means.")],
    within: Annotated[float, typer.Option(help="Standard deviation of repeats within an item.")],
    level: Level = 0.95,
    assurance: Assurance = ASSURANCE,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Repeated runs of each item for an interval of a wanted width."""
    answer = planning.repeats_for_width(
        width=width, items=items, between=between, within=within, level=level, assurance=assurance
    )
    show_plan(answer, plot, as_json)


@command.command()
def allocation(
    ctx: typer.Context,
    sizes: Annotated[str, typer.Option(help="Population size of each stratum, such as 500,300,200.")],
    deviations: Annotated[str, typer.Option(help="Standard deviation within each stratum.")],
    total: Annotated[int | None, typer.Option(help="Units to spend.")] = None,
    costs: Annotated[str | None, typer.Option(help="What a unit of each stratum costs, with --budget.")] = None,
    budget: Annotated[float | None, typer.Option(help="What may be spent in all, instead of --total.")] = None,
    least: Annotated[int, typer.Option(help="Fewest units for each stratum.")] = 2,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Neyman's allocation of units over strata, beside the proportional one; or the best that a budget buys.

    strat plan allocation --sizes 500,300,200 --deviations 0.5,0.3,0.1 --total 100

    strat plan allocation --sizes 1000,1000 --deviations 1,1 --costs 1,4 --budget 120
    """
    people, spreads = numbers_of("--sizes", sizes), numbers_of("--deviations", deviations)
    if costs is not None and budget is not None:
        leave_out(ctx, "total", "plot", why="with --costs and --budget, which give the units")
        _show_budget(people, spreads, numbers_of("--costs", costs), budget, least, as_json)
        return
    leave_out(ctx, "costs", "budget", why="one without the other")
    if total is None:
        raise StratError("`--total` (units to spend), or `--costs` and `--budget`, must be given.")
    answer = planning.neyman_allocation(sizes=people, deviations=spreads, total=total, least=least)
    rows = list(zip(range(1, len(people) + 1), people, spreads, answer.counts, answer.proportional, strict=True))
    columns = ("stratum", "size", "deviation", "units", "proportional")
    show(answer, plot, as_json, columns=columns, rows=rows)


def _show_budget(
    people: list[float], spreads: list[float], prices: list[float], budget: float, least: int, as_json: bool
) -> None:
    named = {name: f"--{name}" for name in ("sizes", "deviations", "costs", "budget", "least")}
    with naming(**named):
        answer = planning.budget_allocation(sizes=people, deviations=spreads, costs=prices, budget=budget, least=least)
    rows = list(zip(range(1, len(people) + 1), people, spreads, prices, answer.counts, answer.equal, strict=True))
    columns = ("stratum", "size", "deviation", "cost", "units", "equal share")
    emit(Sheet(SCHEMA, columns, rows, str(answer), (), answer.to_dict()), as_json=as_json)


for _planner in (plan_strata.boundaries, plan_strata.finite, plan_strata.intraclass, plan_strata.levels):
    command.command()(_planner)
command.command()(plan_training.design_samples)
