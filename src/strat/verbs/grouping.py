"""Rows put into groups, each with its statistic, and the measure in each of them with their covariance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, plain
from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes, encode
from strat.data.cells import Cells, combine
from strat.designs import Design
from strat.estimation import Estimate, estimate
from strat.estimation.estimate import too_curved
from strat.estimation.spread import Influences
from strat.measures import Axis, Statistic
from strat.measures.register import Measure, labels_of
from strat.verbs.groups import Groups
from strat.verbs.metrics import columns_of

UNDEFINED = "it is not defined there: no row of the class that it looks at, say."
ALONE = "one unit alone has no interval."

Make = Callable[[Any, Statistic, Codes], tuple[Estimate, Design]]  # of a label, its statistic and its rows


def rows_by_label(columns: Mapping[str, NDArray[Any]], roles: Sequence[str]) -> dict[Any, Codes]:
    """The rows of each group, by its label (a tuple for several roles), in the order of the labels."""
    encoded = [encode(role, columns[role]) for role in roles]
    code, _ = combine([codes for codes, _ in encoded], [len(labels) for _, labels in encoded])
    order = np.argsort(code, kind="stable")
    groups = {}
    for rows in np.split(order, np.flatnonzero(np.diff(code[order])) + 1):
        names = tuple(plain(labels[codes[rows[0]]]) for codes, labels in encoded)
        groups[names if len(roles) > 1 else names[0]] = rows
    return groups


def measured(metric: Measure, cells: Cells, positive: object) -> dict[str, Any]:
    """The columns that a measure is made of, in a group as in all rows."""
    columns = columns_of(cells, positive)
    if {"truth", "predicted"} <= columns.keys() and "positive" in metric.arguments:
        columns["labels"] = labels_of(columns["truth"], columns["predicted"])
    return columns


def built(metric: Measure, columns: Mapping[str, Any], rows: Codes) -> Statistic:
    """The measure's statistic of some of the cells."""
    return metric.build({name: v[rows] if isinstance(v, np.ndarray) else v for name, v in columns.items()})


def in_groups(metric: Measure, cells: Cells, roles: Sequence[str], positive: object) -> tuple[Parts, dict[Any, str]]:
    """For each group its cells and the measure's statistic of these; and why it has none where it is undefined."""
    columns = measured(metric, cells, positive)
    parts: Parts = {}
    undefined: dict[Any, str] = {}
    for label, rows in rows_by_label(cells.columns, roles).items():
        try:
            statistic = built(metric, columns, rows)
            empty = any(view is not None and not cells.mass[rows][view].any() for view in statistic.views)
            if empty or _of_nothing(statistic) or not np.isfinite(statistic.value(cells.mass[rows])).all():
                raise StratError(UNDEFINED)
        except StratError as error:
            undefined[label] = str(error)
        else:
            parts[label] = (rows, statistic)
    return parts, undefined


def _of_nothing(statistic: Statistic) -> bool:
    """Whether a share of one class has nothing to divide by, so that its 0 would be no value of the group."""
    return statistic.positive is not None and any(
        getattr(note, "code", "") == "undefined-share" for note in statistic.notes
    )


Parts = dict[Any, tuple[Codes, Statistic]]


def grouped(
    metric: Measure,
    by: Sequence[str],
    parts: Parts,
    undefined: Mapping[Any, str],
    design: Design,
    counts: Array,
    make: Make,
) -> Groups:
    """The measure in each group; `make` estimates a statistic on the rows of one, and gives the design it used."""
    each: dict[Any, Estimate] = {}
    spreads: list[Array | None] = []  # of the groups with an interval
    reasons = dict(undefined)
    kept = _keeps_spreads(design, len(parts))
    for label, (rows, statistic) in parts.items():
        try:
            estimate, inside = make(label, statistic, rows)
        except StratError as error:
            reasons[label] = str(error)
            continue
        each[label] = estimate
        if estimate.least_df <= 0:
            reasons[label] = ALONE
        else:
            spreads.append(_whole_spread(estimate, inside, design) if kept else None)
    return Groups(
        metric=metric.word,
        by=tuple(by),
        each=each,
        rows={label: int(counts[parts[label][0]].sum()) for label in each},
        undefined=reasons,
        higher_is_better=metric.higher_is_better,
        joint=_together(metric.word, by, _with_interval(each), spreads),
    )


def _keeps_spreads(design: Design, groups: int) -> bool:
    """Whether the deviations of so many groups are few enough, and add up line by line, to keep their covariance."""
    return (
        groups <= LIMITS.compared_groups
        and design.lines * groups <= LIMITS.covariance_of_groups
        and design.kind != "systematic"
    )


def _whole_spread(estimate: Estimate, inside: Design, design: Design) -> Array | None:
    """What a group's deviations are on all lines of the design: units without rows in it have their stratum's."""
    own = estimate.inference.spread
    if not isinstance(own, Influences) or estimate.point.ndim or len(own.values) != inside.lines:
        return None
    filled = inside.unit_labels >= 0
    home = np.arange(inside.n_strata)
    home[inside.stratum[filled]] = design.stratum[inside.unit_labels[filled]]
    empty = np.zeros(design.n_strata)
    empty[home[inside.stratum[~filled]]] = (own.values / np.sqrt(inside.copies))[~filled]
    spread: Array = empty[design.stratum] * np.sqrt(design.copies)
    spread[inside.unit_labels[filled]] = own.values[filled]
    return spread


def _with_interval(each: Mapping[Any, Estimate]) -> dict[Any, Estimate]:
    return {label: estimate for label, estimate in each.items() if estimate.least_df > 0}


def _together(
    name: str, by: Sequence[str], each: Mapping[Any, Estimate], spreads: Sequence[Array | None]
) -> Estimate | None:
    """The values of all groups with their covariance, where the deviations of each are known."""
    whole = [spread for spread in spreads if spread is not None]
    if len(whole) < max(len(spreads), 2):
        return None
    parts = list(each.values())
    first = parts[0]
    known = all(part.inference.srs is not None for part in parts)
    return first.changed(
        name=name,
        point=np.array([part.value for part in parts]),
        spread=Influences(np.stack(whole, axis=1)),
        variance=np.array([float(part.variance) for part in parts]),
        df=np.array([part.df for part in parts]),
        effective_units=np.array([float(part.effective_units) for part in parts]),
        srs=(lambda: np.array([float(part.srs_variance) for part in parts])) if known else None,
        axes=(Axis(" × ".join(by), tuple(each)),),
        notes=(),
    )


def in_cells(design: Design) -> Make:
    """How to estimate on some cells of a design that has them all as rows."""

    def make(label: Any, statistic: Statistic, rows: Codes) -> tuple[Estimate, Design]:
        inside = design.restricted(rows)
        if not too_curved(statistic, design):  # a group is measured as all rows are, on every road
            statistic = replace(statistic, curved_below=0)
        return estimate(statistic, on=inside), inside

    return make
