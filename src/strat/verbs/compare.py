"""`compare`: systems on the same items, paired by item, with differences that know how the items were drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from strat.base import validate
from strat.base.errors import StratError
from strat.base.validate.arguments import checked, shown
from strat.base.validate.names import Names, listed
from strat.data.table import read
from strat.designs.from_columns import argument_of
from strat.designs.sampling import Sampling, sampling_of
from strat.measures.register import AUTO, Measure
from strat.verbs.board import AMOUNT, of_items
from strat.verbs.compare_arguments import Asked, Reading, check_arguments, kind_of_source, names_of, refuse_given
from strat.verbs.compare_by_proxy import compared_by_proxy
from strat.verbs.compare_sources import board_of, items_behind, only_systems
from strat.verbs.comparing import Way, compared, known_baseline
from strat.verbs.leaderboard import Leaderboard
from strat.verbs.metrics import Metrics, check_compared, chosen, one_by_one, one_class, repeated
from strat.verbs.two_phase import Proxy, proxy_of

__all__ = ["Leaderboard", "compare"]

AMOUNTS = ("cost", "latency", "time", "tokens")  # measures of logs that are spent: less is better, without an upper end


@checked
def compare(
    source: Any,
    *,
    truth: str | None = None,
    predicted: str | Names = (),
    score: str | Names = (),
    system: str | None = None,
    items: str | None = None,
    epoch: str | None = None,
    strata: str | None = None,
    units: str | None = None,
    clusters: str | None = None,
    weights: str | None = None,
    lone: str = "error",
    nested: bool = False,
    design: Sampling | None = None,
    metrics: Metrics | None = None,
    by: str | Names | None = None,
    positive: object = None,
    threshold: float | None = None,
    average: str | None = AUTO,
    baseline: str | None = None,
    proxy: str | Names | Proxy | None = None,
    systems: str | Names | None = None,
    higher_is_better: bool | None = None,
    name: str | Names | None = None,
    level: float = 0.95,
    unmatched: str = "error",
    missing: str = "error",
    na: Names | None = None,
    failed: str = "error",
    incomplete: str = "error",
    runs: str = "error",
) -> Leaderboard:
    """Two or more systems on the same items: a leaderboard with intervals, paired differences and ties.

    Parameters
    ----------
    source
        A wide table with a column for each system; a long table with a row for each system and item; one table for each
        system (a list of files, or a mapping from system to file or frame), joined on `items`; or benchmark logs.
    truth
        The column of true labels.
    predicted
        Columns of predicted labels: one for each system in a wide table, else one.
    score
        Columns of numbers: one for each system in a wide table, else one. With `truth`, probabilities or decision
        scores for measures such as "auc"; without it, a per-row score such as 0/1 correctness.
    system, items, epoch
        Columns of a long table: the system, the item that systems are paired by, and which try of the item a row is
        (tries are averaged). `items` is also what several tables are joined on; in a wide table, rows of one item are
        repeats.
    strata, units, weights
        Columns, or metadata fields of logs: fixed groups, what was drawn, how much an item counts.
    clusters
        Another name for `units`.
    lone
        What to do with a stratum of one unit.
    nested
        Whether the same unit label in two strata means two units; by default it is an error.
    design
        Instead of strata, units, weights, lone and nested: all that is known of how items were drawn, as for
        :func:`strat.evaluate`. `items` of a long table must tell the combinations of crossed levels apart.
    metrics
        One measure or several, by their names in :func:`strat.evaluate` or as functions of (truth, predicted): by
        default "accuracy" of labels, "auc" of scores with `truth`. For logs: the name of a measure in the logs.
    by
        A column, or several, that make groups: the comparison in each of them, and for two systems the test that their
        difference is the same in all.
    positive
        The class that a measure of one class looks at, as for :func:`strat.evaluate`.
    threshold
        With `truth` and `score`: label a row positive where its score is at least this.
    average
        How f1, precision, recall, … are averaged over classes: "macro", "micro" or "weighted".
    baseline
        The system to compare the others with: differences are system − baseline, with limits for all of them at once.
    proxy
        For a wide table whose true judgements are missing by design in some rows, as for :func:`strat.evaluate`: with
        `truth`, columns that stand in for it; else a column for each of `score`, in their order.
    systems
        The systems to compare; by default all those in `source`.
    higher_is_better
        Whether a larger score is a better one (by default it is); a named measure knows that itself.
    name
        What to call the systems: one name for each file or log, in their order.
    level
        Confidence level.
    unmatched
        Items that some system lacks: "error" refuses them by count and name, "common" compares on the others and says
        how many are left out.
    missing
        "error" refuses missing values by name and count; "drop" leaves those rows out.
    na
        Strings that mark a missing value, instead of the usual "", "NA", "N/A", "NaN", "null", "None", "." and so on.
    failed, incomplete, runs
        For logs: see :func:`read_logs`.

    Returns
    -------
    Leaderboard
        With `.pvalue` and `.interval()` of two systems, `.difference(a, b)`, `.pairs()`, `.ranks()`, `.groups()`,
        `.winner()`, `.to_frame()`, `.to_json()`, `.plot()`, `.report(path)`; `.each` and `.test()` for groups, and
        `.boards` for several measures.

    Examples
    --------
    >>> wide = {"A": [1, 1, 1, 0, 1, 1], "B": [0, 1, 0, 0, 1, 1]}
    >>> board = compare(wide, score=["A", "B"])
    >>> board.systems, round(board.difference("A", "B").value, 4)
    (('A', 'B'), 0.3333)
    >>> table = {"y": [0, 1] * 20, "old": [0, 0] * 20, "new": [0, 1, 1, 1] * 10, "who": [k // 2 for k in range(40)]}
    >>> compare(table, truth="y", predicted=["old", "new"], units="who", metrics="macro_f1", baseline="old").systems
    ('new', 'old')
    """
    asked = Asked(
        truth=truth,
        predicted=tuple(listed("predicted", predicted)),
        score=tuple(listed("score", score)),
        system=system,
        items=items,
        epoch=epoch,
        sampling=_sampling(
            design, strata=strata, units=units, clusters=clusters, weights=weights, lone=lone, nested=nested
        ),
        by=() if by is None else tuple(listed("by", by)),
        metrics=metrics,
        reading=Reading(names_of(name), unmatched, missing, na, failed, incomplete, runs),
        positive=positive,
        threshold=threshold,
        average=average,
        higher_is_better=higher_is_better,
        proxy=proxy_of(proxy),
    )
    return _leaderboard(source, asked, validate.level(level), baseline, systems)


def _sampling(design: Sampling | None, **given: Any) -> Sampling:
    """How items were drawn; which column tells them apart is an argument of its own."""
    sampling = sampling_of(design, **given)
    sampling.refuse_replicates()
    if sampling.items is not None:
        raise StratError.about(
            "items",
            f"must be given beside `design`, not in it, got {sampling.items!r} there: systems are paired by it.",
        )
    return sampling


def _leaderboard(
    source: Any, asked: Asked, level: float, baseline: str | None, systems: str | Names | None
) -> Leaderboard:
    """The leaderboard of the first measure, with those of the others."""
    kind = kind_of_source(source, asked)
    scored = kind in ("logs", "long", "items")
    repeated = _repeated(asked.metrics) if scored else []
    if kind == "items" and not repeated:
        refuse_given("for items that are read already: give it where they are read", metrics=asked.metrics)
    check_arguments(kind, asked)
    way = Way(level, asked.sampling, asked.positive, asked.higher_is_better, baseline, asked.by)
    if repeated:
        return _of_repeats(source, asked, way, systems, repeated)
    if kind == "logs" and asked.metrics is not None:
        return _of_logs(source, asked, way, systems)
    if asked.proxy is not None:
        return _by_proxy(kind, source, asked, way, systems)
    board = only_systems(board_of(kind, source, asked), systems)
    if asked.threshold is not None:
        board = board.with_threshold(asked.threshold, asked.positive)
    measures = _measures(asked)
    if asked.truth is not None:
        known = any(metric.higher_is_better is not None and not metric.by_rows for metric in measures)
        if asked.higher_is_better is not None and not scored and known:
            raise StratError.about(
                "higher_is_better", "must be left out beside `truth`: a measure knows what is better."
            )
        one_class(measures, asked.positive)
    boards = [compared(board, metric, way) for metric in measures]
    return replace(boards[0], others=tuple(boards[1:]))


def _by_proxy(kind: str, source: Any, asked: Asked, way: Way, systems: str | Names | None) -> Leaderboard:
    """A board for each measure, of rows that have the true judgement in part."""
    assert asked.proxy is not None
    if kind != "columns":
        raise StratError.about("proxy", "must go with one table that has a column for each system; give it one.")
    refuse_given("beside `proxy`", by=asked.by, systems=systems, threshold=asked.threshold, items=asked.items)
    known_baseline(way, asked.values)
    table = read(source, na=asked.reading.na)
    roles = {role: name for role, name in asked.columns.items() if role != "items"}
    for role, name in [*roles.items(), *((asked.role, name) for name in asked.values)]:
        table.require(**{argument_of(role): name})
    boards = [compared_by_proxy(table, asked.values, roles, asked.proxy, way, metric) for metric in _measures(asked)]
    return replace(boards[0], others=tuple(boards[1:]))


def _measures(asked: Asked) -> list[Measure]:
    """The measures asked for; by default the accuracy of labels, the AUC of scores beside a truth, else their mean."""
    decided = asked.threshold is not None
    labels = bool(asked.predicted) or decided
    default = "mean" if asked.truth is None else "accuracy" if labels else "auc"
    metrics = default if asked.metrics is None else asked.metrics
    check_compared(metrics, asked.higher_is_better)
    roles = {"truth": asked.truth, asked.role: asked.values[0] if asked.values else "score", "items": asked.items}
    return chosen(metrics, roles, asked.average, decided=decided)


def _repeated(metrics: Any) -> list[Measure]:
    """The measures of repeats among those asked for, which are computed item by item."""
    of_items = repeated(metrics)
    if any(of_items) and not all(of_items):
        other = next(name for name, one in zip(one_by_one(metrics), of_items, strict=True) if one is None)
        raise StratError.about(
            "metrics",
            f"must not mix measures of repeats with others, got {shown(other)} beside them; ask for 'mean@1' "
            "or compare twice.",
        )
    return [one for one in of_items if one is not None]


def _of_repeats(
    source: Any, asked: Asked, way: Way, systems: str | Names | None, metrics: list[Measure]
) -> Leaderboard:
    """One board for each measure of repeats: its value of each item is the item's score."""
    (mean,) = chosen("mean", {"score": "score"})
    items = items_behind(source, replace(asked, metrics=None))
    boards = []
    for metric in metrics:
        board = only_systems(of_items(items, asked.reading.unmatched, asked.further, metric), systems)
        one = compared(board, mean, way)
        boards.append(replace(one, many=one.many.called(metric.word), measure=metric.word))
    return replace(boards[0], others=tuple(boards[1:]))


def _of_logs(source: Any, asked: Asked, way: Way, systems: str | Names | None) -> Leaderboard:
    """One board for each of the logs' own measures."""
    (mean,) = chosen("mean", {"score": "score"})
    boards = []
    for measure in listed("metrics", asked.metrics):
        board = of_items(items_behind(source, replace(asked, metrics=measure)), asked.reading.unmatched, asked.further)
        metric = replace(mean, name=AMOUNT, word=AMOUNT, higher_is_better=False) if measure in AMOUNTS else mean
        one = compared(only_systems(board, systems), metric, way)
        if measure in AMOUNTS:
            one = replace(one, many=one.many.called(f"mean {measure}"))
        boards.append(replace(one, measure=measure))
    return replace(boards[0], others=tuple(boards[1:]))
