"""The best of many systems, corrected for having been chosen because it was the best.

The estimates of all systems are drawn around values that are shrunk to their mean (James and Stein), and around equal
ones: how far the winner's estimate then lies from its own value, in its own standard errors, says at which tails its
own limits hold after the choice. The limits stay on the scale of the measure, exact ones where nothing varied, and few
units are their business; only the choice, the number of systems and their correlation are in the draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from strat.base.validate.columns import Array
from strat.estimation import Estimate
from strat.estimation.intervals import symmetric_root

DRAWS = 4_000  # of all estimates
SEED = 20_010_612  # fixed: the same question has the same answer


@dataclass(frozen=True)
class Winner:
    """The best of many systems, with what choosing it did to its value taken off.

    Attributes
    ----------
    system
        Who came first.
    value
        Its value as it stands, too good on average because it was chosen for being high.
    corrected
        The value less what choosing the best adds, in the median of the draws.
    low, high
        Interval that holds for the chosen system: its own limits, at the tails that the choice leaves.
    level
        Its confidence level.
    tied
        Other systems with the same value; none of them was chosen for being higher.
    """

    system: str
    value: float
    corrected: float
    low: float
    high: float
    level: float
    tied: tuple[str, ...] = ()

    @property
    def method(self) -> str:
        """How the limits were found, in words."""
        return f"its own limits at tails from {DRAWS:,} draws, seed {SEED}"

    def __str__(self) -> str:
        """The winner as a sentence."""
        limits = f"{100 * self.level:g} % {self.low:.4f} to {self.high:.4f}"
        first = f"{self.system} came first with {self.value:.4f}"
        if self.tied:
            others = " and ".join(self.tied) if len(self.tied) < 3 else f"{len(self.tied)} others"
            return f"{first}, tied with {others}; {limits}"
        return f"{first}; corrected for having been chosen {self.corrected:.4f}, {limits}"


def winner_limits(own: Estimate, tails: tuple[float, float, float], sign: float) -> tuple[float, float, float]:
    """Lower limit, corrected value and upper limit of the winner's `own` value, by its own limits at these tails.

    `tails` are those on the side of worse, in the middle, and on the side of better; `sign` is −1 where low is good.
    """
    worse, middle, better = (_limit(own, tail, sign) for tail in tails)
    low, high = sorted((worse, better))
    return low, float(np.clip(middle, low, high)), high


def _limit(own: Estimate, tail: float, sign: float) -> float:
    """The one-sided limit with this tail: on the side of worse for tails below a half, else on the other side."""
    if tail == 0.5:
        return float(own.point)
    low, high = own.interval(abs(1.0 - 2.0 * tail))
    return float(low if (tail < 0.5) == (sign > 0) else high)


def tails_of_the_best(point: Array, covariance: Array, level: float) -> tuple[float, float, float]:
    """At which tails the best value's own limits hold: on the side of worse, in the middle, on the side of better.

    Parameters
    ----------
    point, covariance
        The values, the best one first and more being better; and the covariance of the first ones, whose luck is drawn.

    Examples
    --------
    One of two equal systems comes first by luck: the lower limit needs a smaller tail, and half of the luck, .56
    standard errors, is taken off the value.

    >>> tails = tails_of_the_best(np.array([0.9, 0.9]), np.eye(2) / 400, 0.95)
    >>> [round(tail, 3) for tail in tails]
    [0.014, 0.286, 0.94]
    """
    tail = 0.5 * (1.0 - level)
    known = np.diag(covariance) > 0
    if len(point) < 2 or not known.any():
        return tail, 0.5, 1.0 - tail
    # a system that was not seen to vary has no error to draw: it is taken to vary as the others do
    spread = covariance + np.diag(np.where(known, 0.0, np.median(np.diag(covariance)[known])))
    number = len(spread)
    noise = (np.trace(spread) - spread.sum() / number) / (number - 1)
    seen = point.var(ddof=1)
    keep = max(0.0, 1.0 - noise / seen) if seen > 0 else 0.0
    half = np.random.default_rng(SEED).standard_normal((DRAWS // 2, number))
    errors = np.concatenate([half, -half]) @ symmetric_root(spread)
    errors_in_se = errors / np.sqrt(np.diag(spread))
    lines = np.arange(DRAWS)
    ahead = (point - point.mean())[:number]
    luck = [
        np.quantile(errors_in_se[lines, (errors + part * ahead).argmax(axis=1)], (tail, 0.5, 1.0 - tail))
        for part in (keep, 0.0)
    ]
    (least, middle, most), (_, _, most_of_equal) = luck
    below = np.sqrt(ndtr(-most) * ndtr(-max(most, most_of_equal))) * number / len(point)
    above = np.sqrt(max(ndtr(least), tail) * tail)
    return min(float(below), tail), min(float(ndtr(-middle)), 0.5), 1.0 - max(float(above), tail)
