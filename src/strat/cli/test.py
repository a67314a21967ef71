"""`strat test`: one test of two systems by its name, and the advice which one the data calls for."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from strat.base.errors import StratError, one_of
from strat.cli import options, output
from strat.cli.output import Form, Sheet

SCHEMA = "strat/test/2"

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command("test")
@output.with_output
def run(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A table with a column for each system.")],
    system: Annotated[
        list[str] | None,
        typer.Option("--system", "--column", help="Column of a system (repeat it): predicted labels, or numbers."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--test",
            help="mcnemar, mcnemar-exact, mcnemar-midp, mcnemar-clustered, cochran (items); corrected-t, "
            "uncorrected-t, 5x2cv-t, 5x2cv-f, bayes-t (splits); wilcoxon, sign, friedman, bayes-sign, "
            "bayes-signed-rank (data sets). Default: the one that the data calls for.",
        ),
    ] = None,
    truth: Annotated[str | None, typer.Option(help="Column of true labels: rows are items.")] = None,
    units: options.Units = None,
    folds: Annotated[int | None, typer.Option(help="Rows are splits: folds of the cross-validation.")] = None,
    ratio: Annotated[float | None, typer.Option(help="Rows are splits: testing size over training size.")] = None,
    five_by_two: Annotated[
        bool, typer.Option("--five-by-two", help="Rows are the ten splits of five repeats of two halves.")
    ] = False,
    alternative: Annotated[
        str, typer.Option(help="two-sided; greater: the first system is larger; less.")
    ] = "two-sided",
    lower_is_better: Annotated[bool, typer.Option("--lower-is-better", help="Friedman: numbers are errors.")] = False,
    rope: Annotated[float, typer.Option(help="bayes tests: differences up to this are practically equivalent.")] = 0.0,
    seed: options.Seed = 0,
    na: options.Na = None,
    *,
    form: Form,
) -> None:
    """Test two systems (McNemar, Wilcoxon, corrected t, …), with advice on which test to use.

    Items have --truth and predicted labels; splits of one data set have --folds, --ratio or --five-by-two and a score
    in each; without any of these a row is a data set. Cochran's and Friedman's tests take more than two systems.

    For example:

      strat test predictions.csv --truth label --system guess --system baseline --units passage

      strat test folds.csv --system a --system b --folds 10 --test corrected-t --json

      strat test accuracies.csv --system C1 --system C2 --test wilcoxon --alternative greater
    """
    from strat import comparison, data
    from strat.comparison import advice

    system = _check_options(ctx)
    names = [*system, *(c for c in (truth, units) if c is not None)]
    table = data.read(file, na=na)
    columns = table.columns(names) if truth is not None else {c: table.numbers(c) for c in names}
    split = folds is not None or ratio is not None or five_by_two
    rows = advice.ITEMS if truth is not None else advice.SPLITS if split else advice.DATA_SETS
    n = len(columns[system[0]])
    advised = comparison.advise(rows=rows, systems=len(system), units=units is not None, five_by_two=five_by_two, n=n)
    chosen = _chosen(ctx, advised, rows)
    if folds is not None:
        with options.naming(folds="--folds"):
            ratio = comparison.split_ratio(folds=folds)
    spelled = {"columns": "--system"} | {one: f"--{one}" for one in ("units", "ratio", "alternative", "rope")}
    with options.naming(**spelled):
        result = comparison.run_test(
            chosen,
            {c: columns[c] for c in system},
            truth=None if truth is None else columns[truth],
            units=None if units is None else columns[units],
            ratio=1.0 if five_by_two else ratio,
            higher_is_better=not lower_is_better,
            alternative=alternative,
            rope=rope,
            rng=seed,
        )
    if chosen in advice.BAYESIAN:
        options.leave_out(ctx, "html", why=f"for {chosen}, which has no page of its own")
    form.give(_sheet(result, chosen, advised, system, rows, n), result)


def _check_options(ctx: typer.Context) -> list[str]:
    """The columns of the systems; what can't apply is refused."""
    asked = ctx.params
    system = list(asked["system"] or ())
    if len(system) < 2:
        raise StratError("`--system` must be given twice or more, once for each column to compare.")
    if len(set(system)) < len(system):
        raise StratError(f"`--system` must name different columns, got {system[0]!r} twice.")
    if asked["truth"] is not None:
        options.leave_out(ctx, "folds", "ratio", "five_by_two", why="with --truth: rows are items")
    else:
        options.leave_out(ctx, "units", why="without --truth: clusters are of items")
    if sum((asked["folds"] is not None, asked["ratio"] is not None, asked["five_by_two"])) > 1:
        raise StratError("`--folds`, `--ratio` and `--five-by-two` describe the same thing; give only one of them.")
    return system


def _chosen(ctx: typer.Context, advised: Any, rows: str) -> str:
    """The test that was named, else the advised one, with options that are for it."""
    from strat.comparison import advice

    chosen = ctx.params["name"] or advised.test
    if chosen is None:
        raise StratError(f"`--test` must be named: {advised.reason}.")
    one_of("--test", chosen, advice.TESTS)
    _fits(chosen, rows)
    if chosen not in advice.BAYESIAN:
        options.leave_out(ctx, "rope", "seed", why=f"for {chosen}: it is for the bayes tests")
    if chosen != "friedman":
        options.leave_out(ctx, "lower_is_better", why=f"for {chosen}: only Friedman's ranks have a direction")
    return str(chosen)


def _fits(chosen: str, rows: str) -> None:
    """Refuse a test that is for other rows."""
    from strat.comparison import advice

    kinds = {advice.ITEMS: advice.OF_ITEMS, advice.SPLITS: advice.OF_SPLITS, advice.DATA_SETS: advice.OF_DATA_SETS}
    if chosen not in kinds[rows]:
        wanted = next(kind for kind, tests in kinds.items() if chosen in tests)
        way_out = {
            advice.ITEMS: "give --truth",
            advice.SPLITS: "give --folds, --ratio or --five-by-two",
            advice.DATA_SETS: "leave out --truth, --folds, --ratio and --five-by-two",
        }[wanted]
        raise StratError(f"`--test` must be one for {rows}, got {chosen!r}, which is for {wanted}; {way_out}.")


def _sheet(result: Any, chosen: str, advised: Any, systems: list[str], rows: str, n: int) -> Sheet:
    """The numbers of the test, what it is, and the advice."""
    numbers = result.to_dict()
    shown = [(key, value) for key, value in numbers.items() if isinstance(value, int | float) and key != "student"]
    notes = [result.sentence, *(f"{key}: {numbers[key]}" for key in ("null",) if key in numbers)]
    same = "this test" if advised.test == chosen else "the data calls for"
    notes += [f"advice: {same}: {advised}", *result.notes]
    title = f"{chosen}: {', '.join(systems[:-1])} and {systems[-1]} on {n} {rows}"
    title += f"; differences are {systems[0]} − {systems[1]}" if len(systems) == 2 else ""
    data = {"test": chosen, "systems": systems, "rows": rows, "n": n, "result": numbers,
            "advice": advised.to_dict()}  # fmt: skip
    return Sheet(SCHEMA, ("", "value"), shown, title=title, notes=notes, data=data)
