"""A measure in very many groups: all of them in one pass, and the estimate of each made when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import plain
from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes, encode
from strat.data.cells import Cells, combine
from strat.designs import Design
from strat.estimation import Estimate
from strat.estimation.domain_values import DomainValues, domain_values
from strat.estimation.domains import DomainRows, DomainSums, fits, lines_of
from strat.measures import Statistic
from strat.measures.register import Measure
from strat.verbs.group_lines import ManyEstimates
from strat.verbs.grouping import ALONE, UNDEFINED, built, measured
from strat.verbs.groups import Groups
from strat.verbs.sources import Split


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


def in_many_groups(
    metric: Measure,
    cells: Cells,
    split: Split,
    positive: object,
    design: Design,
    make: Callable[[Statistic, Codes], Estimate],
) -> Groups | None:
    """The measure in all groups at once; None where there are few of them, or where it takes them one by one.

    `make` estimates a statistic of some of the cells.
    """
    if metric.together is None:
        return None
    domains, parts = Domains.of(cells.columns, split.roles), list[Part]()
    columns = measured(metric, cells, positive)
    for groups, statistic in variants(metric, columns, domains):
        if not fits(statistic, design):
            return None
        parts += _in_runs(statistic, groups, domains, cells, design)
    return gathered(metric, split, parts, domains, cells.counts, lambda rows: make(built(metric, columns, rows), rows))


Part = tuple[Codes, NDArray[np.bool_], DomainValues]  # groups, where the measure is defined, and its values


def variants(metric: Measure, columns: Mapping[str, Any], domains: Domains) -> Iterator[tuple[Codes, Statistic]]:
    """Groups with the statistic that fits them: most measures have one for all."""
    if metric.together is None or len(domains) <= LIMITS.compared_groups:
        return
    kinds, statistics = metric.together(metric, columns)
    kind = np.zeros(len(domains), np.int64)
    if kinds is not None:
        np.maximum.at(kind, domains.code, kinds)
    for number, statistic in enumerate(statistics):
        groups = np.flatnonzero(kind == number)
        if len(groups):
            yield groups, statistic


def _in_runs(statistic: Statistic, groups: Codes, domains: Domains, cells: Cells, design: Design) -> Iterator[Part]:
    for run, rows in domains.runs(groups, statistic.components):
        place = np.repeat(np.arange(len(run)), np.diff(domains.starts)[run])
        of_run = DomainRows(statistic.repeated(rows), design.weights[rows], cells.counts[rows], place)
        lines, line = lines_of(design, design.unit[rows], place)
        yield run, of_run.defined, domain_values(of_run, DomainSums.of_rows(of_run, line, len(lines.stratum)), lines)


def gathered(
    metric: Measure,
    split: Split,
    parts: Sequence[Part],
    domains: Domains,
    counts: Array,
    make: Callable[[Codes], Estimate],
) -> Groups | None:
    """The groups with their values; None if there are too few for that."""
    if not parts:
        return None
    defined = np.zeros(len(domains), bool)
    for groups, there, _ in parts:
        defined[groups] = there
    number = np.cumsum(defined) - 1
    labels = [domains.label(group) for group in range(len(domains))]
    place = dict(zip(labels, range(len(domains)), strict=True))
    kept = tuple((number[groups[there]], values.at(there)) for groups, there, values in parts)
    reasons = {labels[group]: UNDEFINED for group in np.flatnonzero(~defined)}
    alone = [groups[there & (values.df <= 0)] for groups, there, values in parts]
    reasons |= {labels[group]: ALONE for group in np.sort(np.concatenate(alone))}
    rows = np.bincount(domains.code, counts)
    return Groups(
        metric=metric.word,
        by=split.by,
        each=ManyEstimates(
            tuple(labels[group] for group in np.flatnonzero(defined)),
            kept,
            lambda label: make(domains.rows(place[label])),
        ),
        rows={labels[group]: int(rows[group]) for group in np.flatnonzero(defined)},
        undefined=reasons,
        higher_is_better=metric.higher_is_better,
    )
