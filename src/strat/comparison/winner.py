"""The best of many systems, corrected for having been chosen because it was the best."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from scipy.special import log_ndtr, stdtr

from strat.base.validate.columns import Array
from strat.estimation import Estimate


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
        Median-unbiased value given that it was chosen; see `informative`.
    low, high
        Interval that holds for the chosen system (hybrid of Andrews, Kitagawa and McCloskey, with Student's t).
    level
        Its confidence level.
    tied
        Other systems with the same value; none of them was chosen for being higher.
    runner_up
        The value of the next system; None: there is only one.
    """

    system: str
    value: float
    corrected: float
    low: float
    high: float
    level: float
    tied: tuple[str, ...] = ()
    runner_up: float | None = None

    @property
    def informative(self) -> bool:
        """Whether the corrected value lies between the winner's own and the next one's.

        Given that it was chosen, the value of a winner by a hair could hardly have been lower: its distribution ends
        just below it and says little about the centre. The median-unbiased value is right on average still, but each
        single one may lie anywhere within the interval: below all systems, or above the value itself where a rival
        varies more. Sentences then have the interval alone, which holds.
        """
        if self.runner_up is None:
            return True
        return min(self.value, self.runner_up) <= self.corrected <= max(self.value, self.runner_up)

    def __str__(self) -> str:
        """The winner as a sentence."""
        limits = f"{100 * self.level:g} % {self.low:.4f} to {self.high:.4f}"
        first = f"{self.system} came first with {self.value:.4f}"
        if self.tied:
            others = " and ".join(self.tied) if len(self.tied) < 3 else f"{len(self.tied)} others"
            return f"{first}, tied with {others}; {limits}"
        if not self.informative:
            return f"{first}, too close to the next one for a value corrected for having been chosen; {limits}"
        return f"{first}; corrected for having been chosen {self.corrected:.4f}, {limits}"


def winner_limits(
    estimate: Estimate, covariance: Array, k: int, sign: float, level: float, reach: float
) -> tuple[float, float, float]:
    """Lower limit, corrected value and upper limit of value k, which came first (for sign −1 by being the lowest).

    `covariance` is the estimate's, which many systems compute once; `reach` is the critical value of the largest |t| of
    all values at the level 1 − (1 − level) / 10.
    """
    spread, beta = math.sqrt(covariance[k, k]), 0.1 * (1.0 - level)
    # A share moves in steps of one row: a tie means "within half a step", not "exactly at the edge".
    step = 1.0 / estimate.rows if estimate.proportion else 0.0
    bound = _truncation(sign * estimate.point, covariance, k, step)
    alpha = (1.0 - level - beta) / (1.0 - beta)
    x, df = sign * float(estimate.point[k]), estimate.least_df
    limits = [_centre(x, spread, bound, reach, df, p) for p in (1.0 - 0.5 * alpha, 0.5, 0.5 * alpha)]
    low, middle, high = np.clip(sorted(sign * v for v in limits), *estimate.bounds).tolist()
    return low, middle, high


def _truncation(x: Array, covariance: Array, k: int, step: float) -> tuple[float, float]:
    """Between which values x_k would have come first, given what is independent of it."""
    slope = np.delete(covariance[:, k] / covariance[k, k], k)
    rest = np.delete(x, k) - 0.5 * step - slope * x[k]
    steep = 1.0 - slope
    with np.errstate(divide="ignore", invalid="ignore"):
        edge = rest / steep
    low = edge[steep > 1e-12].max(initial=-math.inf)
    high = edge[steep < -1e-12].min(initial=math.inf)
    return float(low), float(high)


def _centre(x: float, se: float, bound: tuple[float, float], reach: float, df: float, p: float) -> float:
    """The centre at which the truncated distribution has the fraction `p` at or below x (within ± reach of it)."""

    def gap(centre: float) -> float:
        a = max((bound[0] - centre) / se, -reach)
        b = min((bound[1] - centre) / se, reach)
        z = min(max((x - centre) / se, a), b)
        return _fraction(a, z, b, df) - p

    a, b = x - reach * se, x + reach * se
    first, last = gap(a + 1e-9 * se), gap(b - 1e-9 * se)
    if first <= 0.0 or last >= 0.0:
        return a if first <= 0.0 else b
    return float(scipy.optimize.brentq(gap, a + 1e-9 * se, b - 1e-9 * se, xtol=1e-10 * se))


def _fraction(a: float, z: float, b: float, df: float) -> float:
    """(F(z) − F(a)) / (F(b) − F(a)) for Student's F, from the thinner side."""
    if b <= a:
        return 0.5
    if a > 0:
        return 1.0 - _fraction(-b, -z, -a, df)
    if math.isinf(df):
        return _normal_fraction(a, z, b)
    below, at, above = (float(stdtr(df, v)) for v in (a, z, b))
    return (at - below) / (above - below) if above > below else 0.5


def _normal_fraction(a: float, z: float, b: float) -> float:
    """The same for the normal distribution, by logarithms: its tails leave the floats."""
    top, bottom, base = (float(log_ndtr(v)) for v in (z, b, a))
    if bottom == base:
        return 0.5
    return math.expm1(base - top) * math.exp(top - bottom) / math.expm1(base - bottom) if top > base else 0.0
