"""`strat chance`: the exact test of a confusion matrix against random classification."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from strat.base.errors import StratError, one_of
from strat.base.notes import Note, records
from strat.cli import options, output
from strat.cli.output import Form, Sheet
from strat.comparison.chance_measures import MEASURES
from strat.measures.register import spelled

SCHEMA = "strat/chance/1"
# Below this a float loses digits, and then everything.
SMALLEST = 1e-300

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command()
@output.with_output
def chance(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A confusion matrix, or a table of predictions.")],
    truth: Annotated[str | None, typer.Option(help="Column of true labels, if FILE has one row per pattern.")] = None,
    predicted: options.Predicted = None,
    na: options.Na = None,
    units: options.Units = None,
    exchange: Annotated[
        str,
        typer.Option(
            help="With units: exchange labels within units (exact), or whole units between; auto: between where every "
            "unit has one true class."
        ),
    ] = "auto",
    independent: Annotated[
        bool, typer.Option("--independent", help="Take rows as independent even where they look clustered.")
    ] = False,
    permutations: Annotated[int, typer.Option(help="Permutations for --exchange between.")] = 9999,
    seed: options.Seed = 0,
    distribution: Annotated[
        bool, typer.Option("--distribution", help="Also give the whole distribution under chance.")
    ] = False,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            help="Also test kappa, mcc, balanced_accuracy (with --predicted), auc (with --score); repeat it.",
            callback=lambda words: words and [spelled(word) for word in words],
        ),
    ] = None,
    score: Annotated[str | None, typer.Option(help="Column of scores, for --metric auc.")] = None,
    positive: options.Positive = None,
    *,
    form: Form,
) -> None:
    """Test a confusion matrix against random classification, exactly.

    For example:

      strat chance matrix.csv --html report.html

      strat chance predictions.csv --truth label --predicted guess

      strat chance predictions.csv --truth label --predicted guess --units subject --exchange between --json
    """
    from strat import comparison, data
    from strat.measures.confusion_matrix import ConfusionMatrix

    _check_options(ctx)
    notes: list[str] = []
    if truth is None or predicted is None:
        with options.naming(path="FILE"):
            counts = ConfusionMatrix.read(file).counts
        result, extra = comparison.chance(counts, rng=seed), [comparison.no_information_rate(counts)]
    else:
        source = data.read(file, na=na)
        if units is None and not independent:
            units, notes = _clustered(source, [truth, predicted, *([score] if score else [])])
        columns = source.columns([c for c in (truth, predicted, units, score) if c])
        cluster = None if units is None else columns[units]
        result, extra = _of_labels(ctx, columns[truth], columns[predicted], cluster)
        scores = None if score is None else columns[score]
        extra += [_of_measure(ctx, one, columns[truth], columns[predicted], scores, cluster) for one in measure or []]
    form.give(_sheet(result, distribution, extra, measure or [], units is None, notes), result)


def _check_options(ctx: typer.Context) -> None:
    """Refuse what can't apply."""
    asked = ctx.params
    truth, predicted, units, measures = asked["truth"], asked["predicted"], asked["units"], asked["measure"] or []
    one_of("--exchange", asked["exchange"], ("auto", "within", "between"))
    if asked["independent"] and units is not None:
        raise StratError("`--independent` must be given without `--units`: rows are independent, or in units.")
    _check_measures(ctx, measures, truth, asked["score"])
    if (truth is None) != (predicted is None):
        raise StratError("`--truth` and `--predicted` must be given together, got one of them.")
    if truth is None:
        options.leave_out(ctx, "na", "independent", why="for a matrix, which holds numbers only")
        options.leave_out(ctx, "exchange", "permutations", why="without --units, which a matrix does not have")
        if units is not None:
            raise StratError("`--units` must come with `--truth` and `--predicted`; a matrix has no units.")


def _of_labels(ctx: typer.Context, truth: Any, predicted: Any, units: Any) -> tuple[Any, list[Any]]:
    """The test of labels by chance, and of independent rows the no-information rate."""
    from strat import comparison
    from strat.measures.confusion_matrix import ConfusionMatrix

    asked = ctx.params
    if units is None:
        drawn = () if asked["measure"] else ("permutations",)
        options.leave_out(ctx, "exchange", *drawn, why="without --units")
        counts = ConfusionMatrix.from_labels(truth, predicted).counts
        return comparison.chance(counts, rng=asked["seed"]), [comparison.no_information_rate(counts)]
    how = {"exchange": asked["exchange"], "permutations": asked["permutations"], "rng": asked["seed"]}
    result = comparison.chance_of_labels(truth, predicted, units=units, **how)
    if result.exact and not asked["measure"]:
        options.leave_out(ctx, "permutations", why="without --exchange between or --metric: nothing draws them")
        options.leave_out(ctx, "seed", why="with --exchange within, which is exact")
    return result, []


def _clustered(table: Any, used: list[str]) -> tuple[str | None, list[str]]:
    """The column that rows are most clearly clustered by, if there is one with many levels, and a note about it."""
    from strat.verbs.hints import FEW, look

    for suspect in look(table, used, used[:2], right=True):
        if suspect.levels > FEW:
            facts = {"column": suspect.name, "icc": suspect.icc, "levels": suspect.levels}
            return suspect.name, [Note("tested-by-units", facts)]
    return None, []


def _of_measure(ctx: typer.Context, measure: str, truth: Any, predicted: Any, score: Any, units: Any) -> Any:
    """The test of one further measure by permutations."""
    from strat import comparison

    asked, auc = ctx.params, measure == "auc"
    names = ("score", "predicted", "positive", "permutations")
    with options.naming(**{name: f"--{name}" for name in names}):
        return comparison.chance_of_measure(
            truth,
            None if auc else predicted,
            measure=measure,
            score=score if auc else None,
            positive=asked["positive"] if auc else None,
            units=units,
            permutations=asked["permutations"],
            rng=asked["seed"],
        )


def _check_measures(ctx: typer.Context, measures: list[str], truth: str | None, score: str | None) -> None:
    for one in measures:
        one_of("--metric", one, MEASURES)
    if truth is None:
        options.leave_out(ctx, "measure", "score", "positive", why="for a matrix: give --truth and --predicted")
    if ("auc" in measures) != (score is not None):
        raise StratError("`--score` must be given with `--metric auc`, and only with it.")
    if "auc" not in measures:
        options.leave_out(ctx, "positive", why="without --metric auc")


def _small(result: Any) -> str:
    return str(result.p_digits if result.exact else f"<= {result.p_digits}")


def _sheet(
    result: Any, distribution: bool, extra: list[Any], measures: list[str], independent: bool, notes: list[str]
) -> Sheet:
    data = result.to_dict() | {"tests": [one.to_dict() for one in extra], "notes": records(notes)}
    rows: list[tuple[str, Any]] = [
        ("patterns", result.n),
        ("agreements", result.agreements),
        ("efficiency", result.efficiency),
        ("expected by chance", result.expected),
        ("p-value", result.pvalue if result.pvalue > SMALLEST else _small(result)),
        ("error of the p-value at most", result.error),
        ("method", result.method),
    ]
    if independent:  # rows of units are not: their interval is `strat evaluate --units`
        low, high = result.interval()
        data["interval"] = [low, high]
        rows.insert(3, ("95 % score interval", f"{low:.4f} to {high:.4f}"))
        if min(size for _, size in result.by_class) > 1:
            low, high = result.interval_given_sizes()
            data["interval_given_sizes"] = [low, high]
            rows.insert(4, ("95 % for these class sizes", f"{low:.4f} to {high:.4f}"))
        rows.append(("no-information rate", extra[0].rate))
        rows.append(("p-value against that rate", extra[0].pvalue))
    for measure, test in zip(measures, extra[int(independent) :], strict=True):
        rows += [(test.name, test.statistic), (f"p-value of {measure}", test.pvalue)]
    if distribution:
        probabilities = result.distribution
        data["distribution"] = probabilities.tolist()
        shown = np.flatnonzero(probabilities > 0)
        rows += [(f"P({k} agreements)", float(probabilities[k])) for k in shown]
    return Sheet(SCHEMA, ("", "value"), rows, title=str(result), notes=(f"null: {result.null}", *notes), data=data)
