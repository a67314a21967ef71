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

import numpy as np
import scipy  # its parts load when they are first used: `import strat` stays light

from strat.base.validate.columns import Array
from strat.measures.quotients import quotient

TRUST = 6.0  # squares that the variance by formula counts as
FROM, FULL = 0.90, 0.95  # areas from which on these limits count, and count alone


@dataclass(frozen=True, eq=False)
class Placements:
    """What two histograms over rising scores say of their area, with the area above one half.

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

    positive: float
    negative: float
    beyond: float
    variance: float
    event: float

    @classmethod
    def of(cls, negative: Array, positive: Array, rows: float) -> Placements:
        """From what each class weighs at each distinct score, and the number of rows."""
        n, m = negative.sum(), positive.sum()
        if _area(negative, positive) < 0.5:
            return cls.of(positive, negative, rows)
        u = 1.0 - (np.cumsum(negative) - negative / 2.0) / n  # of the positive rows at each score
        w = (np.cumsum(positive) - positive / 2.0) / m
        y = float(positive @ u / m)
        scale = rows / (n + m)
        variances, events = [], []
        for weight, place, total in ((positive, u, m), (negative, w, n)):
            size = total * scale
            square = float(weight @ (place - y) ** 2) / total
            variances.append(square / max(size - 1.0, 1.0))
            mean = float(weight @ place)
            events.append(float(weight @ place**2) / mean / size if mean > 0 else 0.0)
        return cls(float(m * scale), float(n * scale), y, sum(variances), max(events))

    def by_formula(self, area: Array | float) -> Array:
        """The variance of an area among so many rows (Newcombe 2006, method 5)."""
        a, size = np.asarray(area), (self.positive + self.negative) / 2.0 - 1.0
        terms = 1.0 + size * (1.0 - a) / (2.0 - a) + size * a / (1.0 + a)
        return np.asarray(a * (1.0 - a) * terms / (self.positive * self.negative))

    def limits(self, variance: float, squares: float, z: float) -> tuple[float, float]:
        """Limits of the area, for a design that gives it this variance, which rests on so many squares.

        Examples
        --------
        Ten negatives below ten positives but for one pair: 1 − 1/100.

        >>> positive = np.repeat([0.0, 1.0, 0.0, 1.0], [9, 1, 1, 9])
        >>> negative = 1.0 - positive
        >>> placed = Placements.of(negative, positive, 20.0)
        >>> round(1 - placed.beyond, 4), [round(limit, 3) for limit in placed.limits(placed.variance, 2.0, 1.96)]
        (0.99, [0.841, 1.0])
        """
        area, effect = 1.0 - self.beyond, variance / self.variance
        formula = float(self.by_formula(area))
        ratio = effect * (squares * self.variance + TRUST * formula) / (squares + TRUST) / formula

        def away(x: float) -> float:
            return (area - x) ** 2 - z * z * ratio * float(self.by_formula(x))

        low = scipy.optimize.brentq(away, 0.0, area)
        high = scipy.optimize.brentq(away, area, 1.0)
        below, above = _gamma_limits(self.beyond, variance, self.event * effect, z)
        return min(low, 1.0 - above), max(high, 1.0 - below)


def _area(negative: Array, positive: Array) -> float:
    below = np.cumsum(negative) - negative / 2.0
    return float(quotient(below @ positive, negative.sum() * positive.sum(), 0.5))


def _gamma_limits(total: float, variance: float, event: float, z: float) -> tuple[float, float]:
    """Fay and Feuer's limits of a weighted sum of rare events."""
    tail = float(scipy.special.ndtr(-z))
    more, wide = total + event, variance + event**2
    low = variance / (2.0 * total) * scipy.special.chdtri(2.0 * total**2 / variance, 1.0 - tail)
    high = wide / (2.0 * more) * scipy.special.chdtri(2.0 * more**2 / wide, tail)
    return float(low), float(high)


def weight(area: Array) -> Array:
    """How far these limits decide, by the area or its mirror image."""
    return np.clip((np.maximum(area, 1.0 - area) - FROM) / (FULL - FROM), 0.0, 1.0)
