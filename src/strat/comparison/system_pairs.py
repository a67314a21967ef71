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

    A few draws at a time, and one system after the other: memory is that of the draws, and no loop runs over pairs.
    """
    step = max(1, LIMITS.cached_draws // normal.shape[1])
    parts = [
        _largest(np.ascontiguousarray(normal[a : a + step].T), covariance, floor) for a in range(0, len(normal), step)
    ]
    return np.concatenate(parts)


def _largest(drawn: Array, covariance: Array, floor: float) -> Array:
    largest = np.zeros(drawn.shape[1])
    places = np.arange(len(drawn))
    for k in places[:-1]:
        errors = pair_errors(covariance, places[k : k + 1], places[k + 1 :])[0]
        gap = drawn[k + 1 :] - drawn[k]
        gap *= np.divide(1.0, errors, out=np.zeros_like(errors), where=errors > floor)[:, None]
        np.maximum(largest, gap.max(axis=0), out=largest)
        np.maximum(largest, -gap.min(axis=0), out=largest)
    return largest
