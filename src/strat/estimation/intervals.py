"""Intervals on the scale of a link, and exact ones with an effective sample size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy  # its parts load when they are first used: `import strat` stays light

from strat.columns import Array, number
from strat.errors import StratError
from strat.statistics.proportions import clopper_pearson, korn_graubard, wilson

Limits = tuple[Array, Array]


def critical(level: float, df: Array | float) -> Array:
    """Student's two-sided critical value."""
    return np.asarray(scipy.special.stdtrit(df, 0.5 + confidence(level) / 2))


def confidence(level: float) -> float:
    """The level, if it is one."""
    if not 0 < number("level", level) < 1:
        raise StratError(f"`level` must lie strictly between 0 and 1, got {level!r}; 0.95 is usual.")
    return float(level)


def straight(value: Array, se: Array, c: Array | float) -> Limits:
    """The plain limits, value ± c · se."""
    return value - c * se, value + c * se


def _through(
    link: Callable[[Array], Array], back: Callable[[Array], Array], slope: Callable[[Array], Array]
) -> Callable[[Array, Array, Array | float], Limits]:
    def limits(value: Array, se: Array, c: Array | float) -> Limits:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            centre, half = link(value), c * se * np.abs(slope(value))
            low, high = back(centre - half), back(centre + half)
        plain = straight(value, se, c)  # where the link has no finite value: at an end of the range, or all of it gone
        known = (se > 0) & np.isfinite(centre) & np.isfinite(half)
        return np.where(known, low, plain[0]), np.where(known, high, plain[1])

    return limits


by_logit = _through(lambda p: scipy.special.logit(p), lambda x: scipy.special.expit(x), lambda p: 1.0 / (p * (1.0 - p)))
by_log = _through(np.log, np.exp, lambda v: 1.0 / v)
by_fisher = _through(np.arctanh, np.tanh, lambda r: 1.0 / (1.0 - r**2))
by_arcsine = _through(
    lambda p: np.arcsin(np.sqrt(p)),
    lambda a: np.sin(np.clip(a, 0.0, np.pi / 2)) ** 2,
    lambda p: 0.5 / np.sqrt(p * (1.0 - p)),
)


def by_wilson(share: Array, trials: Array, level: float, df: Array | float) -> Limits:
    """Wilson's interval with an effective number of trials and Student's critical value."""
    low, high = wilson(share, trials, level, df=df)
    return np.asarray(low), np.asarray(high)


def exact(share: Array, trials: Array | float, level: float) -> Limits:
    """Clopper and Pearson's limits for an effective number of trials, which need not be whole and may be endless."""
    endless = np.isinf(trials)
    finite = np.where(endless, 1.0, trials)
    low, high = clopper_pearson(share * finite, finite, level)
    return np.where(endless, share, low), np.where(endless, share, high)


def by_korn_graubard(share: Array, se: Array, rows: float, level: float, df: float) -> Limits:
    """Exact limits with the effective sample size p (1 - p) / se², less for few degrees of freedom."""
    inside = (se > 0) & (share > 0) & (share < 1)
    p = np.where(inside, share, 0.5)
    effect = np.where(inside, rows * se**2 / (p * (1 - p)), 1.0)
    low, high = korn_graubard(p * rows, rows, level, design_effect=effect, df=df, truncate=False)
    return np.where(inside, low, share), np.where(inside, high, share)
