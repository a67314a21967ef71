"""The difference of two paired shares: Tango's score interval and tests, at the design's effective sample size.

Only the rows on which exactly one system is right say anything about the difference. Where they are few, value ± t · se
is too short; the score interval (Tango 1998) estimates the variance at the difference that is tested, and McNemar's
test is its case of no difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array
from strat.designs import Design
from strat.designs.variance import kish
from strat.estimation import linear
from strat.estimation.hypothesis_tests import t_pvalue
from strat.measures import Statistic
from strat.measures.base import block_totals

ROUNDING = 1e-6  # what sums of weights may leave a row's 0 or 1 off
HALVINGS = 45  # of the range of a difference: to 6e-14


@dataclass(frozen=True, eq=False)
class Discordance:
    """On which share of the rows exactly one of two systems is right, for all pairs of some systems.

    Attributes
    ----------
    alone
        The weighted share of rows on which the row system is right and the column system is not: systems × systems.
    most
        The largest effective sample size that the design may be credited with: that of independent rows of these
        weights, more where much of a finite population was seen; infinite where rows are the units.
    size
        The sample size where it is known and need not be estimated: rows drawn one by one, of equal weight (None:
        it comes from the design's variance).
    """

    alone: Array
    most: float
    size: float | None = None

    def ordered(self, order: Sequence[int]) -> Discordance:
        """The same for the systems in another order."""
        return replace(self, alone=self.alone[np.ix_(order, order)])

    def between(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> tuple[Array, Array]:
        """For these row systems and column systems: the share only the one has right, and the share only the other."""
        return self.alone[np.ix_(rows, columns)], self.alone[np.ix_(columns, rows)].T

    def score(self, variance: Array | float, df: float, between: tuple[Array, Array] | None = None) -> PairedScore:
        """Limits and tests of pairs (all of them) for a design that gives their differences this variance."""
        alone, other = (self.alone, self.alone.T) if between is None else between
        if self.size is not None:
            return PairedScore(alone, other, np.full(alone.shape, self.size), math.inf)
        of_a_row = alone + other - (alone - other) ** 2
        size = np.divide(of_a_row, variance, out=np.full(alone.shape, self.most), where=np.asarray(variance) > 0)
        return PairedScore(alone, other, np.minimum(size, self.most), df)

    def of_first_two(self, variance: float, df: float) -> PairedScore:
        """The same of the first system − the second."""
        whole = self.score(np.full(self.alone.shape, variance), df)
        first, second, size = (np.asarray(v[0, 1]) for v in (whole.first, whole.second, whole.size))
        return PairedScore(first, second, size, whole.df)


@dataclass(frozen=True, eq=False)
class PairedScore:
    """Tango's score interval of differences of paired shares.

    Attributes
    ----------
    first, second
        The share of rows on which only the first, or only the second system is right.
    size
        Number of independent rows that would carry as much information.
    df
        Degrees of freedom of the variance that the size comes from (infinite: it is known).

    Examples
    --------
    Twelve and two discordant rows of a hundred; at no difference the statistic is McNemar's, 10 / √14.

    >>> tango = PairedScore(np.array(0.12), np.array(0.02), np.array(100.0), math.inf)
    >>> round(float(tango.statistic(0.0)), 4)
    2.6726
    >>> [round(float(limit), 4) for limit in tango.limits(1.959964)]
    [0.031, 0.1819]
    """

    first: Array
    second: Array
    size: Array
    df: float

    def statistic(self, null: Array | float) -> Array:
        """The score at this difference: (d − null) over the standard error that the null gives."""
        gap = self.first - self.second - null
        # the share q of rows on which only the second is right, most likely if the difference is `null` (Tango 1998)
        b = (2.0 - self.first + self.second) * null - self.first - self.second
        q = (np.sqrt(np.maximum(b * b + 8.0 * self.second * null * (1.0 - null), 0.0)) - b) / 4.0
        variance = (2.0 * q + null * (1.0 - null)) / self.size
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(variance > 0.0, gap / np.sqrt(variance), np.where(gap == 0.0, 0.0, np.inf * np.sign(gap)))

    def limits(self, critical: float) -> tuple[Array, Array]:
        """The differences whose statistic is within ± critical, by halving."""
        value = self.first - self.second
        low = _crossing(lambda d: self.statistic(d) > critical, np.full(value.shape, -1.0), value)
        high = _crossing(lambda d: self.statistic(d) >= -critical, value, np.full(value.shape, 1.0))
        return low, high

    def pvalue(self, null: float, alternative: str = "two-sided") -> float:
        """P-value of the score test that a single difference is `null`."""
        return t_pvalue(float(self.statistic(null)), self.df, alternative)


def _crossing(before: Callable[[Array], NDArray[np.bool_]], low: Array, high: Array) -> Array:
    """Where the difference stops being `before`, between these."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        below = before(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2.0)


def discordance(systems: Statistic, design: Design) -> Discordance | None:
    """On which share of the rows only one of two systems is right; None where that is not what differs.

    Parameters
    ----------
    systems
        The measure of the systems, along its last axis.
    design
        How the rows were drawn.

    Examples
    --------
    >>> from strat.measures import accuracy, stack
    >>> both = stack("system", a=accuracy([1, 1, 1, 1], [1, 1, 1, 0]), b=accuracy([1, 1, 1, 1], [0, 0, 1, 1]))
    >>> discordance(both, Design.simple_random(n=4)).alone.tolist()
    [[0.0, 0.5], [0.25, 0.0]]
    """
    if not systems.proportion or systems.domains is not None or systems.of_weights or len(systems.shape) != 1:
        return None
    inside = design.weights if systems.domain is None else design.weights * systems.domain
    if len(systems) != len(design) or not inside.any():
        return None
    right = _right(systems, design, inside)
    if right is None:
        return None
    wrong = np.subtract(1.0, right, out=right)
    step = max(1, LIMITS.compared_rows // len(inside))
    parts = (inside[:, None] * (1.0 - wrong[:, a : a + step]) for a in range(0, wrong.shape[1], step))
    alone = np.concatenate([part.T @ wrong for part in parts]) / inside.sum()
    copies = np.ones(len(inside)) if design.counts is None else design.counts
    seen = float((inside * design.fraction[design.stratum[design.unit]]).sum() / inside.sum())
    most = math.inf if seen >= 1 else kish(inside, copies) / (1.0 - seen)
    if not design.rows_are_units:
        return Discordance(alone, most)
    each_weighs = (inside / copies)[inside > 0]
    one_by_one = design.kind == "simple random" and bool(np.ptp(each_weighs) <= ROUNDING * each_weighs.max())
    return Discordance(alone, math.inf, most if one_by_one else None)


def _right(systems: Statistic, design: Design, inside: Array) -> Array | None:
    """Right (1) or wrong (0) of each row and system; None where the measure is no share of the same rows."""
    totals = np.concatenate([block_totals(block, design.weights) for block in systems.rows])
    slope, values = linear.gradient(systems, totals, design.weights), np.asarray(systems.function(totals))
    right = np.zeros((len(inside), len(values)))
    step = max(1, LIMITS.compared_rows // len(inside))
    for a in range(0, len(values), step):  # some systems at a time: their rows are held several times over
        influence = linear.row_influence(systems, slope[:, a : a + step])
        counted = (influence * inside.sum() + values[a : a + step])[inside > 0]
        whole = np.round(counted)
        if np.abs(counted - whole).max() > ROUNDING or not ((whole == 0.0) | (whole == 1.0)).all():
            return None
        right[inside > 0, a : a + step] = whole
    return right
