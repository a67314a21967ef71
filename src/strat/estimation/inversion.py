"""Tests that invert the interval: p is one minus the level at which a limit meets the null value.

So a test at 1 − level rejects a null value exactly if it lies outside the interval of that level, whatever interval is
printed, on both sides and on one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import scipy  # its parts load when they are first used: `import strat` stays light

from strat.base.validate.columns import Array
from strat.estimation import limits

if TYPE_CHECKING:
    from strat.estimation.result import Estimate

FURTHEST = 8.0  # normal deviates: a level of 1 − 1.2e-15, beyond which floats hold no level
NEAREST = 1e-6  # normal deviates: nearer than this, a value is the null value
HAIR = 1e-12  # of the range of a value: rounding
STEPS = 200  # of the search for the level whose limit is the null value
_SCALES: dict[str, Callable[[Array], Array]] = {
    "t": lambda v: v,
    "log": np.log,
    "fisher": np.arctanh,
    "logit": lambda v: scipy.special.logit(v),
}
_SLOPES: dict[str, Callable[[Array], Array]] = {
    "t": np.ones_like,
    "log": lambda v: 1.0 / v,
    "fisher": lambda v: 1.0 / (1.0 - v**2),
    "logit": lambda v: 1.0 / (v * (1.0 - v)),
}


def statistics(estimate: Estimate, null: float) -> Array:
    """The t of each value against `null`, whose p-value is that of the interval.

    Where the interval is value ± t · se on some scale, the distance on that scale over its standard error; otherwise
    Student's deviate of the level at which a limit meets the null value.
    """
    method = limits.default_method(estimate)
    t = np.full(estimate.point.shape, np.nan)
    if method in _SCALES:
        t = _on_scale(estimate, method, null)
    elif method == "wilson":
        t = _by_score(estimate, null)
    for place in map(tuple, np.argwhere(np.isnan(t))):
        t[place] = _by_root(_single(estimate, place), null)
    return t


def pvalues(t: Array, df: Array, alternative: str) -> Array:
    """P-values of Student's t: two-sided, or of values "greater" or "less" than the null."""
    if alternative == "two-sided":
        return np.asarray(np.minimum(2.0 * scipy.special.stdtr(df, -np.abs(t)), 1.0))
    return np.asarray(scipy.special.stdtr(df, -t if alternative == "greater" else t))


def _on_scale(estimate: Estimate, method: str, null: float) -> Array:
    """Distances on the scale of the interval; NaN where its limits come from elsewhere, as where nothing varied."""
    se, point = np.sqrt(estimate.variance), estimate.point
    bottom, top = estimate.bounds if method == "logit" else (0.0, 1.0)
    scaled = [(np.asarray(v, float) - bottom) / (top - bottom) for v in (point, null)]
    with np.errstate(divide="ignore", invalid="ignore"):
        here, there = (_SCALES[method](v) for v in scaled)
        error = se / (top - bottom) * np.abs(_SLOPES[method](scaled[0]))
        t = (here - there) / error
    outside = np.copysign(np.inf, point - null)  # no value beyond the range can be
    t = np.where((null < estimate.bounds[0]) | (null > estimate.bounds[1]), outside, t)
    known = (se > 0) & np.isfinite(here) & np.isfinite(error)
    if not np.isfinite(estimate.bounds).all():
        t = np.where(known, t, np.where(point == null, 0.0, outside))
        return np.where(limits.unvaried(estimate), np.nan, t)
    return np.where(known & ~limits.at_an_end(estimate), t, np.nan)


def _by_score(estimate: Estimate, null: float) -> Array:
    """Distances over the standard error that the null value would have; NaN where limits come from elsewhere."""
    bottom, top = estimate.bounds
    point, there = ((np.asarray(v, float) - bottom) / (top - bottom) for v in (estimate.point, null))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt(np.maximum(there * (1.0 - there), 0.0) / (point * (1.0 - point)))
        t = (estimate.point - null) / (np.sqrt(estimate.variance) * ratio)
    t = np.where((there <= 0) | (there >= 1), np.copysign(np.inf, point - there), t)
    return np.where(limits.unvaried(estimate) | (point <= 0) | (point >= 1), np.nan, t)


def _single(estimate: Estimate, place: tuple[int, ...]) -> Estimate:
    if not place:
        return estimate
    return estimate.at(*(axis.labels[i] for axis, i in zip(estimate.axes, place, strict=True)))


def _by_root(one: Estimate, null: float) -> float:
    """Student's deviate of the level at which a limit of a single value meets the null value."""
    span = one.bounds[1] - one.bounds[0]
    hair = HAIR * span if np.isfinite(span) else 0.0  # a limit that has reached the end of the range has met it

    def gaps(deviate: float) -> tuple[float, float]:
        low, high = limits.limits(one, float(2.0 * scipy.special.ndtr(deviate) - 1.0), None)
        return float(low) - null - hair, null - float(high) - hair

    low, high = gaps(NEAREST)
    if low <= 0.0 and high <= 0.0:
        return 0.0
    side = 0 if low > 0.0 else 1
    sign = 1.0 if side == 0 else -1.0
    if gaps(FURTHEST)[side] > 0.0:
        return sign * np.inf if not one.bounds[0] <= null <= one.bounds[1] else sign * _student(FURTHEST, one)
    return sign * _student(_root(lambda deviate: gaps(deviate)[side]), one)


def _root(gap: Callable[[float], float]) -> float:
    """Where a falling function of the deviate is zero."""
    return float(scipy.optimize.brentq(gap, NEAREST, FURTHEST, xtol=1e-9, rtol=1e-9, maxiter=STEPS))


def _student(deviate: float, one: Estimate) -> float:
    """Student's deviate with the tail of a normal one."""
    df = float(np.asarray(one.df))
    if np.isinf(df):
        return deviate
    return -float(scipy.special.stdtrit(df, float(scipy.special.ndtr(-deviate))))
