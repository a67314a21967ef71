"""Estimates from Parquet files too large for cells of every unit: two passes, and only unit sums come back.

The first pass adds up the distinct rows (without their units), from which the statistic and the influence of each
distinct row follow; the second adds up these influences in each unit. The closed-form variance needs nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes
from strat.data.backends import Lazy
from strat.data.binning import FINE
from strat.data.cells import Cells
from strat.data.engines import exact
from strat.data.reduce import reduce
from strat.data.table import Table
from strat.designs import Design
from strat.designs.from_columns import GROUP, design_of
from strat.estimation import Estimate
from strat.estimation.estimate import estimate_from_sums, too_curved
from strat.estimation.table import LineSums, ValueRows, lines_of, table_values
from strat.estimation.table import fits as in_one_table
from strat.measures import Statistic
from strat.measures.base import PairArea
from strat.measures.register import Measure
from strat.verbs.binning_bounds import require_bounds
from strat.verbs.file_sums import SumColumns, SumsAsked, checked_sums, sums_by_unit
from strat.verbs.grouping import Domains, Make, Part, gathered, grouped, measured, one_by_one, rows_by_label, variants
from strat.verbs.groups import Groups
from strat.verbs.metrics import columns_of
from strat.verbs.sources import Basis, Sources, Split


def fits(table: Table, roles: Mapping[str, str | None], method: str) -> bool:
    """Whether two passes pay: a large Parquet file with units, and a closed form."""
    files = getattr(table.backend, "files", None)
    if files is None or method != "taylor" or roles["units"] is None or roles["items"] is not None:
        return False
    suffixes = {path.suffix.lower() for path in files.paths}
    return suffixes <= {".parquet", ".pq"} and len(table) > LIMITS.rows_in_memory and _joinable(table, roles)


def _joinable(table: Table, roles: Mapping[str, str | None]) -> bool:
    """Whether rows can be joined with their cells: by labels as they are stored."""
    names = [name for role, name in roles.items() if name is not None and role != "units"]
    backend = table.backend
    return isinstance(backend, Lazy) and not backend.inside and not exact(backend.lazy, names)[1]


def two_passes(source: Sources, metrics: Sequence[Measure], split: Split) -> Basis | None:
    """Estimates in two passes for each set of columns that measures need; None where cells of units must be made."""
    whole = source.bins is None and len(source.table) <= LIMITS.exact_rows
    if whole and any("score" in metric.needs for metric in metrics):
        return None  # nearly every row may have a score of its own, and is a cell of its own
    parts = []
    for needs in dict.fromkeys(metric.needs for metric in metrics):
        part = _passes(source, [metric for metric in metrics if metric.needs == needs], split)
        if part is None:
            return None
        parts.append(part)
    strata = next((part.strata for part in parts if part.strata), dict[Any, Estimate]())
    estimates = {name: result for part in parts for name, result in part.estimates.items()}
    groups = {name: result for part in parts for name, result in part.groups.items()}
    return replace(
        parts[0],
        estimates={metric.word: estimates[metric.word] for metric in metrics},
        groups={metric.word: groups[metric.word] for metric in metrics if metric.word in groups},
        strata=strata,
    )


def _passes(source: Sources, metrics: Sequence[Measure], split: Split) -> Basis | None:
    """The measures of one set of columns."""
    roles = source.roles
    divided = [metric for metric in metrics if metric in split.metrics]
    by = split.roles if divided else ()
    named = {role: roles[role] for role in (*metrics[0].needs, *by)}
    cells = _distinct_rows(source, metrics, named)
    columns = columns_of(cells, source.positive)
    statistics = [metric.build(columns) for metric in metrics]
    if any(s.of_weights or s.quantile is not None for s in statistics):
        return None
    asked = SumsAsked(cells)
    whole = [asked.add(statistic) for statistic in statistics]
    in_one = {metric.word: groups_in_file(metric, cells, split, source.positive, asked) for metric in divided}
    alone = [metric for metric in divided if in_one[metric.word] is None]
    parts = [one_by_one(metric, cells, split.roles, source.positive) for metric in alone]
    own = [{label: asked.add(s, rows) for label, (rows, s) in divided_rows.items()} for divided_rows, _ in parts]
    sums = sums_by_unit(source, named, cells, asked.matrix, by)
    if sums is None and source.missing == "drop":
        return None
    labels, mass, rows, summed = checked_sums(sums, source.table, roles, by)
    design = _design(source, labels, mass, rows)
    if any(too_curved(statistic, design) for statistic in statistics):
        return None
    summed = np.column_stack([summed, mass])
    estimates = {
        metric.word: _estimate(s, of, summed, design, cells)
        for metric, s, of in zip(metrics, statistics, whole, strict=True)
    }
    results = {name: one.groups(labels, rows, summed, design, cells) for name, one in in_one.items() if one}
    groups = {name: one for name, one in results.items() if one is not None}
    if len(groups) < len(results):
        return None
    lines = rows_by_label(labels, split.roles) if alone else {}
    for metric, (divided_rows, undefined), of in zip(alone, parts, own, strict=True):
        make = _from_sums(of, lines, summed, design, cells)
        counts = cells.counts
        groups[metric.word] = grouped(metric, split.by, divided_rows, undefined, design, counts, make, of_rows=False)
    return _basis(cells, design, labels, estimates, groups, by)


def _basis(
    cells: Cells,
    design: Design,
    labels: Mapping[str, NDArray[Any]],
    estimates: Mapping[str, Estimate],
    groups: Mapping[str, Groups],
    by: Sequence[str],
) -> Basis:
    """What the measures rest on, with the groups that were asked for, or the strata."""
    if any(role.startswith(GROUP) for role in by):
        return Basis(cells, design, labels, estimates, groups)
    strata = next((one.each for one in groups.values()), dict[Any, Estimate]())
    return Basis(cells, design, labels, estimates, {}, strata)


def _distinct_rows(source: Sources, metrics: Sequence[Measure], named: Mapping[str, str | None]) -> Cells:
    """The first pass, whose bins must have bounds."""
    cells = reduce(source.table, named, weights=source.weights, missing=source.missing, bins=source.bins or FINE)
    if cells.binning is not None:
        require_bounds(metrics, cells)
    return cells


def _design(source: Sources, labels: Mapping[str, NDArray[Any]], mass: Array, rows: Array) -> Design:
    """The design of the units."""
    return design_of(
        labels,
        rows=len(mass),
        counts=rows,
        weights=mass,
        sampling=source.sampling,
    )


def _estimate(statistic: Statistic, of: SumColumns, summed: Array, design: Design, cells: Cells) -> Estimate:
    sums, parts = of.sums(summed, design), of.of_parts(summed, design)
    return estimate_from_sums(statistic, sums, on=design, parts=parts, weights=cells.mass, counts=cells.counts)


def _from_sums(
    own: Mapping[Any, SumColumns],
    lines: Mapping[Any, Codes],
    summed: Array,
    design: Design,
    cells: Cells,
) -> Make:
    """How to estimate in one group, from the sums of its units."""

    def make(label: Any, statistic: Statistic, rows: Codes) -> tuple[Estimate, Design]:
        inside = design.restricted(lines[label])
        here = summed[lines[label]]
        sums, parts = own[label].sums(here, inside), own[label].of_parts(here, inside)
        weights, counts = cells.mass[rows], cells.counts[rows]
        return estimate_from_sums(statistic, sums, on=inside, weights=weights, counts=counts, parts=parts), inside

    return make


@dataclass(frozen=True, eq=False)
class GroupsAsked:
    """What the second pass adds up for the groups that have one kind of statistic.

    Attributes
    ----------
    groups, cells
        The groups, and their cells.
    rows
        These cells with what each does to the value of its group.
    columns
        Where the sums stand.
    """

    groups: Codes
    cells: Codes
    rows: ValueRows
    columns: SumColumns

    def part(self, domains: Domains, summed: Array, rows: Array, design: Design) -> Part:
        """The values, from the sums of each unit in each group: the rows of the design and of `domains`."""
        here, place = _rows_of(domains, self.groups)
        lines, line, unit = lines_of(design, design.unit[here], place)
        sums, number = summed[here], len(lines.stratum)

        def added(column: Array) -> Array:
            return np.bincount(line, column, minlength=number).astype(float)

        (classes,) = self.columns.classes
        by_class = np.stack([added(sums[:, k]) for k in classes])
        bases = None if self.columns.bases is None else added(sums[:, self.columns.bases][:, 0])
        influence = added(sums[:, self.columns.influence][:, 0])
        of_lines = LineSums(influence, by_class.sum(axis=0), bases, by_class, added(sums[:, -1]), added(rows[here]))
        return self.groups, self.rows.defined, table_values(self.rows, of_lines, lines, unit)

    def estimate(self, rows: Codes, here: Codes, summed: Array, design: Design, cells: Cells) -> Estimate:
        """One group's estimate, from its cells and its lines."""
        inside = design.restricted(here)
        place = np.searchsorted(self.cells, rows)
        statistic = replace(self.rows.statistic, curved_below=0).repeated(place)
        classes = tuple(view[: statistic.truth_classes] for view in self.columns.classes)
        sums = replace(self.columns, classes=classes).sums(summed[here], inside)
        return estimate_from_sums(statistic, sums, on=inside, weights=cells.mass[rows], counts=cells.counts[rows])


@dataclass(frozen=True, eq=False)
class GroupsInFile:
    """One measure in groups of a file, between its two passes."""

    metric: Measure
    split: Split
    domains: Domains
    asked: tuple[GroupsAsked, ...]

    def groups(
        self, labels: Mapping[str, NDArray[Any]], rows: Array, summed: Array, design: Design, cells: Cells
    ) -> Groups | None:
        """The groups, from the sums of each unit in each of them; None where they must be taken one by one."""
        if not all(in_one_table(one.rows.statistic, design) for one in self.asked):
            return None
        lines = Domains.of(labels, self.split.roles)
        parts = [one.part(lines, summed, rows, design) for one in self.asked]
        kind = np.zeros(len(self.domains), np.int64)
        for number, one in enumerate(self.asked):
            kind[one.groups] = number

        def make(own: Codes) -> Estimate:
            group = int(self.domains.code[own[0]])
            return self.asked[kind[group]].estimate(np.sort(own), lines.rows(group), summed, design, cells)

        return gathered(self.metric, self.split.by, parts, self.domains, design, cells.counts, make)


def groups_in_file(
    metric: Measure, cells: Cells, split: Split, positive: object, asked: SumsAsked
) -> GroupsInFile | None:
    """What the second pass must add up for a measure in groups; None if these are few."""
    domains = Domains.of(cells.columns, split.roles)
    parts = []
    for groups, statistic in variants(metric, measured(metric, cells, positive), domains):
        here, place = _rows_of(domains, groups)
        if not (statistic.sum_of is None or isinstance(statistic.sum_of, PairArea)) or statistic.gradient is None:
            return None
        own = replace(statistic.repeated(here), curved_below=statistic.curved_below)
        rows = ValueRows(own, cells.mass[here], cells.counts[here], place)
        parts.append(GroupsAsked(groups, here, rows, asked.add_rows(own, here, rows.influence, rows.bases)))
    return GroupsInFile(metric, split, domains, tuple(parts)) if parts else None


def _rows_of(domains: Domains, groups: Codes) -> tuple[Codes, Codes]:
    """The rows of some groups in their order in the table, and the place of each one's group among these."""
    place = np.full(len(domains), -1)
    place[groups] = np.arange(len(groups))
    here = np.flatnonzero(place[domains.code] >= 0)
    return here, place[domains.code[here]]
