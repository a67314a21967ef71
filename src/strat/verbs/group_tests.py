"""What the test that all groups are equal needs beyond their estimates: a line for each unit in each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, one_of
from strat.base.validate.columns import Array, Codes
from strat.comparison.equal_groups import equal_areas, equal_shares, equal_values, rao_scott
from strat.designs import Design
from strat.designs.layout import bessel
from strat.estimation import Estimate
from strat.estimation.facts import MeasureFacts
from strat.estimation.hypothesis_tests import TestResult
from strat.estimation.inference import RowSums
from strat.estimation.spread import Influences
from strat.estimation.table import TableValues
from strat.estimation.totals import totals
from strat.measures import Statistic
from strat.measures.register import Measure

METHODS = ("permutation", "rao-scott")
MOST_LINES = 1_000_000  # units up to which lines of equal units are taken apart
SAME = 1e-9  # of a weight: rounding

Scored = tuple[NDArray[np.bool_], Array, Codes]  # the class, the score and the group of each row


@dataclass(frozen=True, eq=False)
class GroupLines:
    """What each unit adds to a measure in each group.

    Attributes
    ----------
    total, size
        What a line adds to what the value is a ratio of; their ratio in a group is its value.
    rows, copies
        How many rows it has, and how many equal units it stands for.
    group, unit
        Its group, from 0, and its line in the design.
    design
        How units were sampled.
    squares
        The sum of the squared scores of rows (None: not known).
    share
        Whether rows are hits or misses.
    counted_twice
        Whether it is F1, which counts its hits twice: the share of hits in the rows that are looked at is equal in all
        groups where it is.
    scored
        The rows that an AUC is made of, where they are independent (None: another measure, or rows that are not).
    """

    total: Array
    size: Array
    rows: Array
    copies: Array
    group: Codes
    unit: Codes
    design: Design
    squares: float | None
    share: bool
    counted_twice: bool = False
    scored: Scored | None = None

    def test(self, method: str) -> TestResult:
        """The test that all groups have the same value."""
        one_of("method", method, METHODS)
        if not (1.0 - self.design.fraction).any():
            raise StratError("Whether the groups are equal needs no test: every unit of the population is there.")
        return self._rao_scott() if method == "rao-scott" else self._permutation

    @cached_property
    def _permutation(self) -> TestResult:
        if self.scored is not None and self.independent:
            return equal_areas(*self.scored)
        lines = self._of_hits() if self.counted_twice else self
        if lines.share and lines.independent:
            hits, rows = (np.rint(np.bincount(lines.group, v)).astype(np.int64) for v in lines._in_rows())
            return equal_shares(hits, rows)
        return equal_values(**lines._columns(), squares=lines.squares, share=lines.share)

    @property
    def independent(self) -> bool:
        """Whether units are rows of one weight, without strata, from an infinite population."""
        looked = self.size > 0
        weight = self.size[looked] / self.rows[looked]
        one = np.ptp(weight) <= SAME * weight.max() and (self.rows[looked] <= self.copies[looked] * (1 + SAME)).all()
        return bool(one) and self.design.n_strata == 1 and not self.design.fraction.any()

    def _in_rows(self) -> tuple[Array, Array]:
        """Hits and rows, without weights."""
        per_weight = np.divide(self.rows, self.size, out=np.zeros_like(self.size), where=self.size > 0)
        return self.total * per_weight, self.rows

    def _of_hits(self) -> GroupLines:
        """The share of hits in all rows that F1 looks at, which it rises with: hits / (2 size − hits)."""
        looked = 2.0 * self.size - self.total
        per_weight = np.divide(self.rows, self.size, out=np.zeros_like(self.size), where=self.size > 0)
        return replace(self, size=looked, rows=looked * per_weight, squares=None, share=True, counted_twice=False)

    def _columns(self) -> dict[str, Any]:
        """The arguments of the tests: a line for each unit."""
        copies = np.rint(self.copies).astype(np.int64)
        if copies.sum() > MOST_LINES:
            copies = np.ones_like(copies)
        which = np.repeat(np.arange(len(copies)), copies)
        place = np.arange(len(which)) - np.repeat(np.cumsum(copies) - copies, copies)
        alone = np.divide(self.size**2, self.rows, out=np.zeros_like(self.size), where=self.rows > 0)
        total, size, alone = (v[which] / copies[which] for v in (self.total, self.size, alone))
        stratum = self.design.stratum[self.unit][which]
        return {
            "total": total,
            "size": size,
            "alone": alone,
            "group": self.group[which],
            "unit": None if self.design.rows_are_units else self.unit[which] * int(copies.max()) + place,
            "stratum": stratum,
            "unseen": (1.0 - self.design.fraction)[stratum],
        }

    def _rao_scott(self) -> TestResult:
        if not self.share:
            raise StratError.about(
                "method", "must be 'permutation' here, got 'rao-scott', which is for shares of rows."
            )
        columns = self._columns()
        del columns["alone"]
        return rao_scott(**columns, rows=float(self.rows.sum()))


Columns = dict[str, list[NDArray[Any]]]
COLUMNS = ("total", "size", "rows", "copies", "group", "unit")


def lines_of_table(
    parts: Sequence[tuple[Codes, TableValues]], design: Design, measure: Measure, scored: Scored | None
) -> GroupLines:
    """The lines of groups whose values stand in a table; `parts` are their places and their values."""
    columns: Columns = {name: [] for name in COLUMNS}
    squares = 0.0
    for place, values in parts:
        lines, filled, weights = values.lines, values.unit >= 0, values.weights
        whole = lines.sum(weights)
        total = values.influence * lines.beside_lines(whole) + lines.beside_lines(values.point) * weights
        group = place[lines.of_lines]
        each = (total, weights, weights * values.per_weight, lines.copies, group, values.unit)
        _append(columns, each, filled)
        squares += float(np.nansum(whole**2 * values.srs))
    return _joined(columns, design, squares, [values.measure for _, values in parts], measure, scored)


def lines_of_estimates(
    each: Sequence[tuple[Estimate, Design, Statistic]], design: Design, measure: Measure
) -> GroupLines | None:
    """The lines of groups that were estimated one by one, each on its part of the design; None: not to be had."""
    columns: Columns = {name: [] for name in COLUMNS}
    squares = 0.0
    if len(each) < 2 or design.layout is not None or design.kind == "systematic":
        return None
    for number, (estimate, inside, statistic) in enumerate(each):
        parts = None if estimate.point.ndim else _of_estimate(estimate, inside, statistic)
        if parts is None:
            return None
        influence, size = parts
        per_line = np.bincount(inside.unit, inside.weights, inside.lines)
        counts = np.ones(len(inside.unit)) if inside.counts is None else inside.counts
        rows = size * np.divide(
            np.bincount(inside.unit, counts, inside.lines), per_line, out=np.zeros(inside.lines), where=per_line > 0
        )
        total = influence * size.sum() + float(estimate.point) * size
        group = np.full(inside.lines, number)
        _append(columns, (total, size, rows, inside.copies, group, inside.unit_labels), inside.unit_labels >= 0)
        known = estimate.inference.srs is not None
        squares += float(size.sum() ** 2 * estimate.srs_variance) if known else np.nan
    return _joined(columns, design, squares, [estimate.measure for estimate, _, _ in each], measure, None)


def _of_estimate(estimate: Estimate, inside: Design, statistic: Statistic) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """What each line adds to the value, and what it weighs in what the value is of."""
    if statistic.axes:  # a contrast of several values, with the deviations that its variance is made of
        spread = estimate.inference.spread
        if not isinstance(spread, Influences) or len(spread.values) != inside.lines:
            return None
        factor = np.sqrt((bessel(inside.sizes) * (1.0 - inside.fraction))[inside.stratum] / inside.copies)
        influence = np.divide(spread.values, factor, out=np.zeros(inside.lines), where=factor > 0)
        return influence, np.bincount(inside.unit, inside.weights, inside.lines)
    if statistic.quantile is not None:
        return None
    sums = RowSums(statistic, inside, totals(statistic, inside.weights))
    if sums.bases is not None:
        return sums.influence[:, 0], sums.bases[:, 0]
    looked = inside.weights if statistic.domain is None else inside.weights * statistic.domain
    return sums.influence[:, 0], np.bincount(inside.unit, looked, inside.lines)


def _append(columns: Columns, each: Sequence[NDArray[Any]], filled: NDArray[np.bool_]) -> None:
    for column, of_lines in zip(columns.values(), each, strict=True):
        column.append(of_lines[filled])


def _joined(
    columns: Columns,
    design: Design,
    squares: float,
    facts: Sequence[MeasureFacts],
    measure: Measure,
    scored: Scored | None,
) -> GroupLines:
    joined: dict[str, Any] = {name: np.concatenate(column) for name, column in columns.items()}
    return GroupLines(
        **joined,
        design=design,
        squares=squares if np.isfinite(squares) else None,
        share=all(one.proportion for one in facts),
        counted_twice=measure.name == "f1" and all(one.positive is not None and not one.proportion for one in facts),
        scored=scored,
    )
