"""The difference of two paired shares: Tango's score interval and tests, at the design's effective sample size.

Only the rows on which exactly one system is right say anything about the difference. Where they are few, value ± t · se
is too short; the score interval (Tango 1998) estimates the variance at the difference that is tested, and McNemar's
test is its case of no difference. In few units an effective size has too little to rest on: there the correlation
within units is averaged over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array
from strat.designs import Design
from strat.designs.variance import kish
from strat.estimation import linear
from strat.estimation.cautions import CALM, SHOWS_A_TENTH
from strat.estimation.hypothesis_tests import t_pvalue
from strat.measures import Statistic
from strat.measures.base import block_totals

ROUNDING = 1e-6  # what sums of weights may leave a row's 0 or 1 off
HAIR = 1e-9  # of a squared number of rows: rounding
HALVINGS = 45  # of the range of a difference: to 6e-14
FEWEST_UNITS, MOST_SYSTEMS = 4, 64  # of which counts in each unit are kept
LOSS = 0.5  # share of the rows that a system loses in a unit of an unseen kind


def _correlations(number: int = 24, power: float = 2.5, spike: float = 0.25) -> tuple[Array, Array]:
    """Correlations within units, dense near 0, and their prior probabilities: Beta(1, 4), and a quarter at 0."""
    ends = (np.arange(number + 1) / number) ** power
    middle = ((np.arange(number) + 0.5) / number) ** power
    return np.append(0.0, middle), np.append(spike, (1.0 - spike) * -np.diff((1.0 - ends) ** 4.0))


_RHO, _PRIOR = _correlations()


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
    units
        The same in each unit, where they are few, of one stratum and of equal weights (None: they are not).
    """

    alone: Array
    most: float
    size: float | None = None
    units: UnitCounts | None = None

    def ordered(self, order: Sequence[int]) -> Discordance:
        """The same for the systems in another order."""
        units = None if self.units is None else self.units.ordered(order)
        return replace(self, alone=self.alone[np.ix_(order, order)], units=units)

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

    def of_first_two(self, variance: float, df: float) -> PairedScore | FewUnitsScore | None:
        """The same of the first system − the second; None where nothing varied between many units."""
        if self.units is not None:
            return self.units.of_first_two(df)
        if not variance > 0.0:
            return None
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
        variance = tango_variance(null, self.first, self.second) / self.size
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(variance > 0.0, gap / np.sqrt(variance), np.where(gap == 0.0, 0.0, np.inf * np.sign(gap)))

    def limits(self, critical: float) -> tuple[Array, Array]:
        """The differences whose statistic is within ± critical, by halving."""
        value = self.first - self.second
        low = crossing(lambda d: self.statistic(d) > critical, np.full(value.shape, -1.0), value)
        high = crossing(lambda d: self.statistic(d) >= -critical, value, np.full(value.shape, 1.0))
        return low, high

    def pvalue(self, null: float, alternative: str = "two-sided") -> float:
        """P-value of the score test that a single difference is `null`."""
        return t_pvalue(float(self.statistic(null)), self.df, alternative)


@dataclass(frozen=True, eq=False)
class UnitCounts:
    """On how many rows of each unit exactly one of two systems is right.

    Attributes
    ----------
    alone
        For each unit, the number of rows on which the row system is right and the column system is not.
    rows
        Rows of each unit.
    """

    alone: Array
    rows: Array

    def ordered(self, order: Sequence[int]) -> UnitCounts:
        """The same for the systems in another order."""
        return UnitCounts(self.alone[:, order][:, :, order], self.rows)

    def of_first_two(self, df: float) -> FewUnitsScore:
        """Limits and tests of the first system − the second."""
        return FewUnitsScore(self.alone[:, 0, 1], self.alone[:, 1, 0], self.rows, df)


@dataclass(frozen=True, eq=False)
class FewUnitsScore:
    """Tango's score for a difference of paired shares in few units, with the correlation within units averaged over.

    A row counts 1 where only the first system is right, −1 where only the second is, and 0 otherwise. With d their mean
    and V(δ) Tango's variance of a row at the difference δ, limits solve

        E[Φ((d − δ) / √(V(δ)/N · (1 + ρ (Σ m²/N − 1))))] = α/2

    over the posterior of the correlation ρ within units, whose likelihood is that of the units' sum of squares as a
    scaled chi-squared variate with k − 1 degrees of freedom. The unknown variance is paid for once: there is no t
    beside it, as there is where the design's variance makes an effective size. Where all units show the same, the
    limits are those with one more unit in which one system loses half of the rows.

    Attributes
    ----------
    plus, minus
        Rows of each unit on which only the first, or only the second system is right.
    rows
        Rows of each unit.
    df
        Degrees of freedom of the deviates in which statistics are given.

    Examples
    --------
    Six units of forty rows; A alone is right on twelve rows, B alone on six.

    >>> score = FewUnitsScore(np.array([1.0, 3, 2, 2, 2, 2]), np.ones(6), np.full(6, 40.0), 5.0)
    >>> [round(float(limit), 4) for limit in score.limits(2.5706)]
    [-0.014, 0.0677]
    >>> round(score.pvalue(0.0), 3)
    0.181
    """

    plus: Array
    minus: Array
    rows: Array
    df: float

    @property
    def value(self) -> float:
        """The difference."""
        return float((self.plus - self.minus).sum() / self.rows.sum())

    @cached_property
    def _shares(self) -> tuple[float, float]:
        """Shares of rows on which only the first, and only the second is right."""
        n = self.rows.sum()
        return float(self.plus.sum() / n), float(self.minus.sum() / n)

    @property
    def _squares(self) -> float:
        """Sum of squares of the units about what the mean makes of their rows, for so many units unbiased."""
        k = len(self.rows)
        return float(((self.plus - self.minus - self.value * self.rows) ** 2).sum()) * k / max(k - 1.0, 1.0)

    @property
    def _of_rows(self) -> float:
        """The variance of a row, as if half a row more had been one where only one system is right."""
        first, second = self._shares
        n = self.rows.sum()
        return max((first + second) * n / (n + 1.0) + 0.5 / (n + 1.0) - self.value**2, 1e-9)

    @cached_property
    def _effects(self) -> tuple[Array, Array]:
        """Design effects, and their probabilities."""
        n = float(self.rows.sum())
        effects = 1.0 + _RHO * (float((self.rows**2).sum()) / n - 1.0)
        expected = self._of_rows * n * effects
        logs = -(len(self.rows) - 1.0) / 2.0 * (np.log(expected) + self._squares / expected)
        weights = _PRIOR * np.exp(logs - logs.max())
        return effects, weights / weights.sum()

    def below(self, null: Array | float) -> Array:
        """The probability of a difference no larger than the one seen, where the true one is `null`."""
        first, second = self._shares
        delta = np.asarray(null, float)
        variance = np.maximum(tango_variance(delta, first, second), 1e-15) / self.rows.sum()
        effects, weights = self._effects
        deviates = (self.value - delta)[..., None] / np.sqrt(variance[..., None] * effects)
        return np.asarray(scipy.special.ndtr(deviates) @ weights)

    @cached_property
    def _units(self) -> float:
        """The number of units of equal size that would say as much."""
        return float(self.rows.sum() ** 2 / (self.rows**2).sum())

    @property
    def still(self) -> bool:
        """Whether all units show the same: then one more that does not is taken to be unseen."""
        return self._squares <= HAIR

    def statistic(self, null: float) -> float:
        """Student's deviate of that probability."""
        if self.still:
            side = 1.0 if null < self.value else -1.0
            null = ((self._units + 1.0) * null + side * LOSS) / self._units
            null = min(null, self.value) if side > 0 else max(null, self.value)
        below = float(self.below(null))
        if below in (0.0, 1.0):
            return math.inf if below else -math.inf
        return float(scipy.special.stdtrit(self.df, below))

    def limits(self, critical: float) -> tuple[Array, Array]:
        """The differences that leave the tail of this Student's deviate on either side."""
        tail = float(scipy.special.stdtr(self.df, -critical))
        value = np.asarray(self.value)
        low = crossing(lambda d: self.below(d) > 1.0 - tail, np.asarray(-1.0), value)
        high = crossing(lambda d: self.below(d) >= tail, value, np.asarray(1.0))
        return self.with_one_more(low, high) if self.still else (low, high)

    def pvalue(self, null: float, alternative: str = "two-sided") -> float:
        """P-value of the test that the difference is `null`."""
        return t_pvalue(self.statistic(null), self.df, alternative)

    @property
    def calm(self) -> bool:
        """Whether fewer than 29 units differ hardly more than independent rows: a bad kind of unit may be unseen."""
        first, second = self._shares
        of_rows = float(self.rows.sum()) * (first + second - self.value**2)
        return self._units < SHOWS_A_TENTH and (of_rows <= 0.0 or self._squares <= CALM * of_rows)

    def with_one_more(self, low: Array, high: Array) -> tuple[Array, Array]:
        """These limits with one more unit of the mean weight in which either system loses on half of the rows."""
        k = self._units
        return np.maximum((k * low - LOSS) / (k + 1.0), -1.0), np.minimum((k * high + LOSS) / (k + 1.0), 1.0)


def tango_variance(null: Array | float, first: Array | float, second: Array | float) -> Array:
    """The variance of a row at this difference (Tango 1998), from the shares of rows that one system alone has right.

    The share q of rows on which only the second is right is the most likely one if the difference is `null`.
    """
    b = (2.0 - first + second) * null - first - second
    q = (np.sqrt(np.maximum(b * b + 8.0 * second * null * (1.0 - null), 0.0)) - b) / 4.0
    return np.asarray(2.0 * q + null * (1.0 - null))


def crossing(before: Callable[[Array], NDArray[np.bool_]], low: Array, high: Array) -> Array:
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
        return Discordance(alone, most, units=_of_units(wrong, inside, design))
    each_weighs = (inside / copies)[inside > 0]
    one_by_one = design.kind == "simple random" and bool(np.ptp(each_weighs) <= ROUNDING * each_weighs.max())
    return Discordance(alone, math.inf, most if one_by_one else None)


def _of_units(wrong: Array, inside: Array, design: Design) -> UnitCounts | None:
    """On how many rows of each unit one system alone is right, where units are few and of equal weights."""
    rows = np.bincount(design.unit, inside, minlength=design.lines)
    held = np.flatnonzero(rows)
    weights = inside[inside > 0]
    counted = design.counts is None and bool(np.ptp(weights) <= ROUNDING * weights.max())
    endless = design.layout is None and design.n_strata == 1 and design.item is None and not design.fraction.any()
    few = FEWEST_UNITS <= len(held) < SHOWS_A_TENTH and wrong.shape[1] <= MOST_SYSTEMS and (design.copies == 1).all()
    if not (counted and endless and few and len(held) == design.lines):
        return None
    parts = [wrong[(design.unit == unit) & (inside > 0)] for unit in held]
    return UnitCounts(np.stack([(1.0 - part).T @ part for part in parts]), rows / weights.max())


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
