"""A measure in very many groups of a large file: one column of the second pass holds the influences of all groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.validate.columns import Array, Codes
from strat.data.cells import Cells
from strat.designs import Design
from strat.estimation import Estimate
from strat.estimation.domain_values import domain_values
from strat.estimation.domains import DomainRows, DomainSums, fits, lines_of
from strat.estimation.estimate import estimate_from_sums
from strat.measures.register import Measure
from strat.verbs.file_sums import SumColumns, SumsAsked
from strat.verbs.grouping import Domains, Part, gathered, measured, variants
from strat.verbs.groups import Groups
from strat.verbs.sources import Split


@dataclass(frozen=True, eq=False)
class ManyAsked:
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
    rows: DomainRows
    columns: SumColumns

    def part(self, domains: Domains, summed: Array, per_weight: Array, design: Design) -> Part:
        """The values, from the sums of each unit in each group: the rows of the design and of `domains`."""
        here, place = _rows_of(domains, self.groups)
        lines, line, unit = lines_of(design, design.unit[here], place)
        sums, number = summed[here], len(lines.stratum)

        def added(column: Array) -> Array:
            return np.bincount(line, column, minlength=number).astype(float)

        (classes,) = self.columns.classes
        by_class = np.stack([added(sums[:, k]) for k in classes])
        bases = None if self.columns.bases is None else added(sums[:, self.columns.bases][:, 0])
        influence, own = added(sums[:, self.columns.influence][:, 0]), np.zeros(number)
        own[line] = per_weight[here]  # each line is one unit in one group
        of_lines = DomainSums(influence, by_class.sum(axis=0), bases, by_class, own)
        return self.groups, self.rows.defined, domain_values(self.rows, of_lines, lines, unit)

    def estimate(self, rows: Codes, here: Codes, summed: Array, design: Design, cells: Cells) -> Estimate:
        """One group's estimate, from its cells and its lines."""
        inside = design.restricted(here)
        place = np.searchsorted(self.cells, rows)
        statistic = replace(self.rows.statistic, curved_below=0).repeated(place)
        classes = tuple(view[: statistic.truth_classes] for view in self.columns.classes)
        sums = replace(self.columns, classes=classes).sums(summed[here], inside)
        return estimate_from_sums(statistic, sums, on=inside, weights=cells.mass[rows], counts=cells.counts[rows])


@dataclass(frozen=True, eq=False)
class ManyInFile:
    """One measure in very many groups of a file, between its two passes."""

    metric: Measure
    split: Split
    domains: Domains
    asked: tuple[ManyAsked, ...]

    def groups(
        self, labels: Mapping[str, NDArray[Any]], mass: Array, rows: Array, summed: Array, design: Design, cells: Cells
    ) -> Groups | None:
        """The groups, from the sums of each unit in each of them; None where they must be taken one by one."""
        if not all(fits(one.rows.statistic, design) for one in self.asked):
            return None
        lines, whole = Domains.of(labels, self.split.roles), np.column_stack([summed, mass])
        per_weight = np.divide(rows, mass, out=np.zeros(len(mass)), where=mass > 0)
        parts = [one.part(lines, whole, per_weight, design) for one in self.asked]
        kind = np.zeros(len(self.domains), np.int64)
        for number, one in enumerate(self.asked):
            kind[one.groups] = number

        def make(own: Codes) -> Estimate:
            group = int(self.domains.code[own[0]])
            return self.asked[kind[group]].estimate(np.sort(own), lines.rows(group), whole, design, cells)

        return gathered(self.metric, self.split.by, parts, self.domains, design, cells.counts, make)


def many_in_file(metric: Measure, cells: Cells, split: Split, positive: object, asked: SumsAsked) -> ManyInFile | None:
    """What the second pass must add up for a measure in very many groups; None if these are few."""
    domains = Domains.of(cells.columns, split.roles)
    parts = []
    for groups, statistic in variants(metric, measured(metric, cells, positive), domains):
        here, place = _rows_of(domains, groups)
        if statistic.sum_of is not None or statistic.gradient is None:
            return None
        own = replace(statistic.repeated(here), curved_below=statistic.curved_below)
        rows = DomainRows(own, cells.mass[here], cells.counts[here], place)
        parts.append(ManyAsked(groups, here, rows, asked.add_rows(own, here, rows.influence, rows.bases)))
    return ManyInFile(metric, split, domains, tuple(parts)) if parts else None


def _rows_of(domains: Domains, groups: Codes) -> tuple[Codes, Codes]:
    """The rows of some groups in their order in the table, and the place of each one's group among these."""
    place = np.full(len(domains), -1)
    place[groups] = np.arange(len(groups))
    here = np.flatnonzero(place[domains.code] >= 0)
    return here, place[domains.code[here]]
