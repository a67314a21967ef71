"""A measure in groups of rows: all groups in one table, or one by one where the measure is another in each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, plain
from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes, encode, numbers
from strat.data.cells import Cells, combine
from strat.designs import Design, variance
from strat.estimation import Estimate, estimate
from strat.estimation.estimate import too_curved
from strat.estimation.facts import Inference
from strat.estimation.spread import Influences
from strat.estimation.table import LineSums, TableValues, ValueRows, fits, lines_of, table_values
from strat.measures import Axis, Statistic
from strat.measures.register import Measure, labels_of, shared
from strat.replication import CLOSED_FORM
from strat.verbs.group_lines import ManyEstimates
from strat.verbs.group_tests import lines_of_estimates, lines_of_table
from strat.verbs.groups import Groups
from strat.verbs.metrics import columns_of, told_by
from strat.verbs.sources import Split

UNDEFINED = "it is not defined there: no row of the class that it looks at, say."
ALONE = "one unit alone has no interval."

Make = Callable[[Any, Statistic, Codes], tuple[Estimate, Design]]  # of a label, its statistic and its rows
Part = tuple[Codes, NDArray[np.bool_], TableValues]  # groups, where the measure is defined, and its values


@dataclass(frozen=True, eq=False)
class Domains:
    """The rows of each group.

    Attributes
    ----------
    code
        For each row the number of its group.
    order, starts
        The rows in the order of their groups, and where each group starts in it.
    levels
        For each column that makes groups, the label of each group.
    """

    code: Codes
    order: Codes
    starts: Codes
    levels: tuple[NDArray[Any], ...]

    @classmethod
    def of(cls, columns: Mapping[str, NDArray[Any]], roles: Sequence[str]) -> Domains:
        """The groups that these columns make, in the order of their labels."""
        encoded = [encode(role, columns[role]) for role in roles]
        code, number = combine([codes for codes, _ in encoded], [len(labels) for _, labels in encoded])
        order = np.argsort(code, kind="stable")
        starts = np.searchsorted(code[order], np.arange(number + 1))
        first = order[starts[:-1]]
        return cls(code, order, starts, tuple(labels[codes[first]] for codes, labels in encoded))

    def __len__(self) -> int:
        """Number of groups."""
        return len(self.starts) - 1

    def rows(self, group: int) -> Codes:
        """The rows of a group."""
        return np.asarray(self.order[self.starts[group] : self.starts[group + 1]])

    def label(self, group: int) -> Any:
        """A group's label: a tuple for several columns."""
        names = tuple(plain(level[group]) for level in self.levels)
        return names if len(names) > 1 else names[0]

    def runs(self, groups: Codes, components: int) -> Iterator[tuple[Codes, Codes]]:
        """Some of the groups, a run at a time, with their rows in the order of groups."""
        width = max(1, LIMITS.group_totals // components)
        sizes = np.diff(self.starts)
        for start in range(0, len(groups), width):
            run = groups[start : start + width]
            behind = np.cumsum(sizes[run]) - sizes[run]
            place = np.arange(sizes[run].sum()) + np.repeat(self.starts[run] - behind, sizes[run])
            yield run, self.order[place]


def rows_by_label(columns: Mapping[str, NDArray[Any]], roles: Sequence[str]) -> dict[Any, Codes]:
    """The rows of each group, by its label (a tuple for several roles), in the order of the labels."""
    domains = Domains.of(columns, roles)
    return {domains.label(group): domains.rows(group) for group in range(len(domains))}


def measured(metric: Measure, cells: Cells, positive: object) -> dict[str, Any]:
    """The columns that a measure is made of, in a group as in all rows."""
    columns = columns_of(cells, positive)
    if {"truth", "predicted"} <= columns.keys() and "positive" in metric.arguments:
        columns["labels"] = labels_of(columns["truth"], columns["predicted"])
    return columns


def built(metric: Measure, columns: Mapping[str, Any], rows: Codes) -> Statistic:
    """The measure's statistic of some of the cells."""
    return metric.build({name: v[rows] if isinstance(v, np.ndarray) else v for name, v in columns.items()})


def in_groups(metric: Measure, cells: Cells, split: Split, positive: object, design: Design) -> Groups:
    """The measure in each group of cells of this design."""
    domains, columns, make = Domains.of(cells.columns, split.roles), measured(metric, cells, positive), in_cells(design)
    shared = list(variants(metric, columns, domains))
    if shared and all(fits(statistic, design) for _, statistic in shared):
        parts = [part for groups, one in shared for part in _in_runs(one, groups, domains, cells, design)]

        def of_rows(rows: Codes) -> Estimate:
            return make(None, built(metric, columns, rows), rows)[0]

        scored = None
        if metric.name == "auc" and (cells.counts == 1.0).all():
            scored = (cells.columns["truth"] == parts[0][2].measure.positive, numbers("score", cells.columns["score"]))
        return gathered(metric, split.by, parts, domains, design, cells.counts, of_rows, scored)
    each, undefined = one_by_one(metric, cells, split.roles, positive)
    metric = told_by(metric, next(iter(each.values()))[1]) if each else metric
    return grouped(metric, split.by, each, undefined, design, cells.counts, make)


def one_by_one(metric: Measure, cells: Cells, roles: Sequence[str], positive: object) -> tuple[Parts, dict[Any, str]]:
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
    *,
    of_rows: bool = True,
) -> Groups:
    """The measure in each group; `make` estimates a statistic on the rows of one, and gives the design it used.

    `of_rows`: whether the rows of a group's statistic are those of its design, which the test of equal groups asks for.
    """
    each: dict[Any, Estimate] = {}
    estimated: list[tuple[Estimate, Design, Statistic]] = []
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
        estimated.append((estimate, inside, statistic))
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
        joint=_together(metric.word, by, _with_interval(each), spreads) if kept else None,
        lines=lines_of_estimates(estimated, design, metric) if kept and of_rows else None,
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
    """The values of all groups, with their covariance where the deviations of each are known."""
    whole = [spread for spread in spreads if spread is not None]
    parts = list(each.values())
    if len(parts) < 2 or any(part.point.ndim for part in parts):
        return None
    first = parts[0]
    known = all(part.inference.srs is not None for part in parts)
    return first.changed(
        name=name,
        point=np.array([part.value for part in parts]),
        spread=Influences(np.stack(whole, axis=1)) if len(whole) == len(parts) else None,
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


def variants(metric: Measure, columns: Mapping[str, Any], domains: Domains) -> Iterator[tuple[Codes, Statistic]]:
    """Groups with the statistic that fits them: most measures have one for all."""
    kinds, statistics = shared(metric, columns)
    kind = np.zeros(len(domains), np.int64)
    if kinds is not None:
        np.maximum.at(kind, domains.code, kinds)
    for number, statistic in enumerate(statistics):
        groups = np.flatnonzero(kind == number)
        if len(groups):
            yield groups, statistic


def _in_runs(statistic: Statistic, groups: Codes, domains: Domains, cells: Cells, design: Design) -> Iterator[Part]:
    width = 1 if statistic.in_groups is not None else statistic.components
    for run, rows in domains.runs(groups, width):
        place = np.repeat(np.arange(len(run)), np.diff(domains.starts)[run])
        of_run = ValueRows(statistic.repeated(rows), design.weights[rows], cells.counts[rows], place)
        lines, line, unit = lines_of(design, design.unit[rows], place)
        sums = LineSums.of_rows(of_run, line, len(lines.stratum))
        yield run, of_run.defined, table_values(of_run, sums, lines, unit)


def gathered(
    metric: Measure,
    by: Sequence[str],
    parts: Sequence[Part],
    domains: Domains,
    design: Design,
    counts: Array,
    make: Callable[[Codes], Estimate],
    scored: tuple[NDArray[np.bool_], Array] | None = None,
) -> Groups:
    """The groups with their values; `make` estimates in one of them, from its rows.

    `scored` are the classes and scores of rows, of which an AUC is made.
    """
    defined = np.zeros(len(domains), bool)
    for groups, there, _ in parts:
        defined[groups] = there
    number = np.cumsum(defined) - 1
    labels = [domains.label(group) for group in range(len(domains))]
    place = dict(zip(labels, range(len(domains)), strict=True))
    kept = tuple((number[groups[there]], values.at(there)) for groups, there, values in parts if there.any())
    reasons = {labels[group]: UNDEFINED for group in np.flatnonzero(~defined)}
    alone = [groups[there & (values.df <= 0)] for groups, there, values in parts]
    reasons |= {labels[group]: ALONE for group in np.sort(np.concatenate(alone))}
    rows = np.bincount(domains.code, counts)
    each = ManyEstimates(
        tuple(labels[group] for group in np.flatnonzero(defined)), kept, lambda label: make(domains.rows(place[label]))
    )
    joint = _joint(metric.word, by, each, design)
    there = defined[domains.code]
    areas = None if scored is None else (scored[0][there], scored[1][there], number[domains.code[there]])
    return Groups(
        metric=metric.word,
        by=tuple(by),
        each=each,
        rows={labels[group]: int(rows[group]) for group in np.flatnonzero(defined)},
        undefined=reasons,
        higher_is_better=metric.higher_is_better,
        joint=joint,
        lines=None if joint is None else lines_of_table(kept, design, metric, areas),
    )


def _joint(name: str, by: Sequence[str], each: ManyEstimates, design: Design) -> Estimate | None:
    """The values of all groups with an interval as one estimate, with their covariance, where these are few."""
    known = each.numbers("df") > 0
    if known.sum() < 2 or not _keeps_spreads(design, len(each)):
        return None
    influence = np.zeros((design.lines, len(each)))
    for place, values in each.parts:
        influence[:, place] = values.spread(design.lines)
    srs = each.numbers("srs")[known]
    return Estimate(
        name=name,
        point=each.numbers("point")[known],
        variance=each.numbers("variance")[known],
        df=each.numbers("df")[known],
        design=design.facts,
        method=CLOSED_FORM,
        axes=(Axis(" × ".join(by), tuple(label for label, there in zip(each, known, strict=True) if there)),),
        measure=each.parts[0][1].measure,
        inference=Inference(
            spread=Influences(variance.deviations(influence[:, known], design)),
            effective_units=each.numbers("units")[known],
            srs=lambda: srs,
        ),
    )
