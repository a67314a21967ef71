"""Limits of the area under the ROC curve near 1, where the variance rests on a handful of rows.

With A the area, y = 1 − A, u_i and w_j the shares of the other class that a positive and a negative row is on the wrong
side of, V the variance that the design gives, V₀ that of independent rows (DeLong et al. 1988) and H(A) Hanley and
McNeil's with Newcombe's (2006) sizes: V rests on e = (Σ d²)² / Σ d⁴ squares, d what each unit adds to the area, and is
drawn towards H, which counts as six more,

    W = V (e + 6 H(A) / V₀) / (e + 6),

and the limits a solve (A − a)² = z² W H(a) / H(A). Where a few rows are wholly out of place these are short, so the
limits are no narrower than those of Fay and Feuer (1997) for y as a weighted sum of rare events, with one more event of
the mean weight: gamma quantiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its parts load when they are first used: `import strat` stays light
from numpy.typing import NDArray

from strat.base.validate.columns import Array, Codes
from strat.measures.quotients import quotient

TRUST = 6.0  # squares that the variance by formula counts as
HALVINGS = 45  # of the range of an area
FROM, FULL = 0.90, 0.95  # areas from which on these limits count, and count alone


@dataclass(frozen=True, eq=False)
class Placements:
    """What rows that are out of place say of areas, each seen from the side on which it is above one half.

    Attributes
    ----------
    positive, negative
        Numbers of rows of the two classes.
    beyond
        1 − area.
    variance
        That of independent rows (DeLong).
    event
        What a row that is out of place weighs in 1 − area, on the average over such rows.
    """

    positive: Array
    negative: Array
    beyond: Array
    variance: Array
    event: Array

    @classmethod
    def of(cls, place: Array, weight: Array, hit: NDArray[np.bool_], group: Codes, rows: Array) -> Placements:
        """From the share of the other class that each row is on the wrong side of, and which area it belongs to."""

        def added(of_rows: Array) -> Array:
            return np.bincount(group, of_rows, minlength=len(rows)).astype(float, copy=False)

        totals = [added(weight * side) for side in (hit, ~hit)]
        scale = quotient(rows, totals[0] + totals[1], 0.0)
        y = quotient(added(weight * hit * place), totals[0], 0.0)
        reversed_ = y > 0.5
        place, y = np.where(reversed_[group], 1.0 - place, place), np.where(reversed_, 1.0 - y, y)
        variance, event = np.zeros(len(rows)), np.zeros(len(rows))
        for side, total in zip((hit, ~hit), totals, strict=True):
            size, own = total * scale, weight * side
            square = quotient(added(own * (place - y[group]) ** 2), total, 0.0)
            variance += square / np.maximum(size - 1.0, 1.0)
            event = np.maximum(event, quotient(added(own * place**2), added(own * place) * size, 0.0))
        return cls(totals[0] * scale, totals[1] * scale, y, variance, event)

    @classmethod
    def of_histograms(cls, negative: Array, positive: Array, rows: float) -> Placements:
        """From what each class weighs at each distinct score, and the number of rows."""
        below = (np.cumsum(negative) - negative / 2.0) / negative.sum()
        above = 1.0 - (np.cumsum(positive) - positive / 2.0) / positive.sum()
        place = 1.0 - np.concatenate([below, above])
        hit = np.repeat([True, False], len(negative))
        weight = np.concatenate([positive, negative])
        return cls.of(place, weight, hit, np.zeros(len(hit), np.int64), np.array([rows]))

    def at(self, cut: Any) -> Placements:
        """Those of some areas."""
        return Placements(*(np.atleast_1d(part[cut]) for part in vars(self).values()))

    def by_formula(self, area: Array) -> Array:
        """The variance of an area among so many rows (Newcombe 2006, method 5)."""
        size = (self.positive + self.negative) / 2.0 - 1.0
        terms = 1.0 + size * (1.0 - area) / (2.0 - area) + size * area / (1.0 + area)
        return np.asarray(area * (1.0 - area) * terms / (self.positive * self.negative))

    def limits(self, variance: Array, squares: Array, z: Array | float) -> tuple[Array, Array]:
        """Limits of the areas, for a design that gives them this variance, which rests on so many squares.

        Examples
        --------
        Ten negatives below ten positives but for one pair: 1 − 1/100.

        >>> positive = np.repeat([0.0, 1.0, 0.0, 1.0], [9, 1, 1, 9])
        >>> placed = Placements.of_histograms(1.0 - positive, positive, 20.0)
        >>> low, high = placed.limits(placed.variance, np.array([2.0]), 1.96)
        >>> round(float(1 - placed.beyond[0]), 4), round(float(low[0]), 3), round(float(high[0]), 3)
        (0.99, 0.811, 1.0)
        """
        area, effect = 1.0 - self.beyond, variance / self.variance
        formula = self.by_formula(area)
        ratio = effect * (squares * self.variance + TRUST * formula) / (squares + TRUST) / formula

        def crossing(inside: Array, outside: Array) -> Array:
            for _ in range(HALVINGS):
                middle = (inside + outside) / 2.0
                beyond = (area - middle) ** 2 > z * z * ratio * self.by_formula(middle)
                inside, outside = np.where(beyond, inside, middle), np.where(beyond, middle, outside)
            return inside

        below, above = _gamma_limits(self.beyond, variance, self.event * effect, z)
        low, high = crossing(area, np.zeros_like(area)), crossing(area, np.ones_like(area))
        return np.minimum(low, 1.0 - above), np.maximum(high, 1.0 - below)


def _gamma_limits(total: Array, variance: Array, event: Array, z: Array | float) -> tuple[Array, Array]:
    """Fay and Feuer's limits of weighted sums of rare events."""
    tail = scipy.special.ndtr(-np.asarray(z))
    more, wide = total + event, variance + event**2
    low = variance / (2.0 * total) * scipy.special.chdtri(2.0 * total**2 / variance, 1.0 - tail)
    high = wide / (2.0 * more) * scipy.special.chdtri(2.0 * more**2 / wide, tail)
    return np.asarray(low), np.asarray(high)


def weight(area: Array) -> Array:
    """How far these limits decide, by the area or its mirror image."""
    return np.clip((np.maximum(area, 1.0 - area) - FROM) / (FULL - FROM), 0.0, 1.0)
