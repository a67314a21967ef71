"""Pairs of systems, as many of them as somebody asks for: differences, standard errors, t and simultaneous limits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array
from strat.comparison.paired_shares import PairedScore

EXTREMES = 16  # systems at either end of a draw whose pairs are looked at first


@dataclass(frozen=True, eq=False)
class SystemPairs:
    """Some systems − some systems: a block of the table of all pairs.

    Attributes
    ----------
    differences
        Row system − column system.
    errors
        Standard error of each difference.
    moving
        Pairs whose standard error is more than rounding.
    still
        Pairs of shares with zero estimated variance, in an incompletely sampled population.
    score
        Tango's score of the pairs, where they are shares of the same rows.
    df, units
        Degrees of freedom, and the number of units that pairs without any variation count on.
    """

    differences: Array
    errors: Array
    moving: NDArray[np.bool_]
    still: NDArray[np.bool_]
    score: PairedScore | None
    df: float
    units: float

    @cached_property
    def t(self) -> Array:
        """Differences over their standard errors; 0 where neither varies."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(self.moving, self.differences / self.errors, np.inf * self.differences)
        t = np.nan_to_num(t, nan=0.0, posinf=np.inf, neginf=-np.inf)
        if self.score is not None:
            t = np.where(self.moving, self.score.statistic(0.0), t)
        if not self.still.any():
            return t
        tail = np.minimum((1.0 - np.abs(self.differences) / 2.0) ** self.units, 0.5)  # as in `Comparison.pvalue`
        return np.where(self.still, -np.sign(self.differences) * stdtrit(self.df, tail), t)

    @property
    def pvalues(self) -> Array:
        """P-value of each pair alone."""
        return np.asarray(2.0 * stdtr(self.df, -np.abs(self.t)), float)

    def limits(self, critical: float) -> tuple[Array, Array]:
        """Limits of the differences for a critical value of |t|; exact ones for pairs that never varied."""
        half = critical * self.errors
        low, high = self.differences - half, self.differences + half
        if self.score is not None:
            scored = self.score.limits(critical)
            low, high = (np.where(self.moving, *pair) for pair in zip(scored, (low, high), strict=True))
        if not self.still.any():
            return low, high
        exact = 2.0 * (1.0 - stdtr(self.df, -critical) ** (1.0 / self.units))
        return (
            np.where(self.still, np.maximum(self.differences - exact, -1.0), low),
            np.where(self.still, np.minimum(self.differences + exact, 1.0), high),
        )


def pair_errors(covariance: Array, i: NDArray[np.intp], j: NDArray[np.intp]) -> Array:
    """Standard errors of the differences of systems i and systems j."""
    variance = covariance.diagonal()
    return np.sqrt(np.maximum(variance[i, None] + variance[j] - 2.0 * covariance[np.ix_(i, j)], 0.0))


def largest_of_pairs(normal: Array, covariance: Array, floor: float) -> Array:
    """The largest |difference| over its standard error among all pairs, in each draw (draws × systems).

    Of many systems the largest is nearly always one of the highest less one of the lowest, or of a pair with a small
    error: all pairs are looked at only in draws where another could be larger.
    """
    draws, systems = normal.shape
    step = max(1, LIMITS.cached_draws // systems)
    if systems <= 3 * EXTREMES:
        return np.concatenate([_largest(normal[a : a + step], covariance, floor) for a in range(0, draws, step)])
    places = np.arange(systems)
    errors = pair_errors(covariance, places, places)
    moving = errors > floor
    inverse = np.divide(1.0, errors, out=np.zeros_like(errors), where=moving)
    i, j = np.triu_indices(systems, 1)
    each = errors[i, j]
    few = min(EXTREMES * systems // 8, len(each) - 1)
    usual = float(np.partition(each, few)[few])  # a few pairs have smaller errors
    small = np.flatnonzero((each > floor) & (each < usual))
    if usual <= floor:
        return np.concatenate([_largest(normal[a : a + step], covariance, floor) for a in range(0, draws, step)])
    parts = []
    for a in range(0, draws, step):
        drawn = normal[a : a + step]
        largest, beyond = _of_extremes(drawn, inverse)
        if len(small):
            gaps = np.abs(drawn[:, i[small]] - drawn[:, j[small]]) * inverse[i[small], j[small]]
            np.maximum(largest, gaps.max(axis=1), out=largest)
        other = np.flatnonzero(beyond > largest * usual)
        if len(other):
            largest[other] = _largest(drawn[other], covariance, floor)
        parts.append(largest)
    return np.concatenate(parts)


def _of_extremes(drawn: Array, inverse: Array) -> tuple[Array, Array]:
    """The largest ratio among the highest less the lowest of each draw, and the largest gap of any other pair."""
    k, systems = EXTREMES, drawn.shape[1]
    order = np.argpartition(drawn, (k, systems - k - 1), axis=1)
    low, high = order[:, :k], order[:, systems - k :]
    lowest, highest = np.take_along_axis(drawn, low, 1), np.take_along_axis(drawn, high, 1)
    ratios = (highest[:, :, None] - lowest[:, None, :]) * inverse[high[:, :, None], low[:, None, :]]
    next_low, next_high = (np.take_along_axis(drawn, order[:, [place]], 1)[:, 0] for place in (k, systems - k - 1))
    beyond = np.maximum(highest.max(axis=1) - next_low, next_high - lowest.min(axis=1))
    return ratios.max(axis=(1, 2)), beyond


def _largest(normal: Array, covariance: Array, floor: float) -> Array:
    """The same of all pairs, one system after the other: no loop runs over pairs."""
    drawn = np.ascontiguousarray(normal.T)
    largest = np.zeros(drawn.shape[1])
    places = np.arange(len(drawn))
    for k in places[:-1]:
        errors = pair_errors(covariance, places[k : k + 1], places[k + 1 :])[0]
        gap = drawn[k + 1 :] - drawn[k]
        gap *= np.divide(1.0, errors, out=np.zeros_like(errors), where=errors > floor)[:, None]
        np.maximum(largest, gap.max(axis=0), out=largest)
        np.maximum(largest, -gap.min(axis=0), out=largest)
    return largest
