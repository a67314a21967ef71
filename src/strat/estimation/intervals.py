"""Intervals on the scale of a link, and exact ones with an effective sample size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy  # its parts load when they are first used: `import strat` stays light

from strat.base.validate.columns import Array
from strat.estimation.proportions import clopper_pearson, korn_graubard
from strat.estimation.proportions.binomial_limits import score_limits
from strat.measures.student import critical as critical

Limits = tuple[Array, Array]
BAND_DRAWS = 20_000  # of the largest deviation that a simultaneous band allows for
FARTHEST = 8.2  # normal deviates of the least and the largest share that is drawn
NOISE = 1e-13  # of the largest eigenvalue: rounding
MOST_LEVELS, LADDER, LARGE_DF = 40, 1.05, 1e5  # levels of df of a band beyond which they are lowered by up to 5 %


def simultaneous_level(directions: Array, df: Array, level: float) -> float:
    """The level of each of several t intervals that makes all of them hold at once with probability `level`.

    `directions` (m × values, columns of length one) have the values' correlations as products. The smallest p-value is
    drawn: normal deviates with these correlations over one root of a chi square, taken at the same quantile for values
    whose degrees of freedom differ.
    """
    order = np.argsort(df, kind="stable")  # values with as many degrees of freedom stand together
    directions, df = directions[:, order], _on_few_levels(df[order])
    root = directions if len(directions) <= directions.shape[1] else symmetric_root(directions.T @ directions)
    rng = np.random.default_rng(20_010_612)  # fixed: the same question has the same answer
    equal = bool((df == df[0]).all())
    draws = (np.abs(rng.standard_normal((500, len(root))) @ root) for _ in range(BAND_DRAWS // 500))
    if equal:
        largest = np.concatenate([z.max(axis=1) for z in draws])
        if np.isfinite(df[0]):
            largest = largest / np.sqrt(rng.chisquare(df[0], BAND_DRAWS) / df[0])
        return float(1.0 - 2.0 * scipy.special.stdtr(df[0], -np.quantile(largest, level)))
    distinct, starts = np.unique(np.minimum(df, LARGE_DF), return_index=True)
    roots = _chi_roots(distinct)
    t = np.concatenate([np.maximum.reduceat(z, starts, axis=1) / roots(rng.random(len(z))) for z in draws])
    return float(1.0 - _quantile_of_smallest_p(t, distinct, 1.0 - level))


def _on_few_levels(df: Array) -> Array:
    """Rising degrees of freedom, lowered to a geometric ladder where they have more than `MOST_LEVELS` levels."""
    if len(np.unique(df)) <= MOST_LEVELS:
        return df
    ladder = df[0] * LADDER ** np.arange(np.ceil(np.log(LARGE_DF / min(df[0], 1.0)) / np.log(LADDER)) + 1)
    return np.asarray(ladder[np.searchsorted(ladder, df, side="right") - 1])


def _chi_roots(df: Array) -> Callable[[Array], Array]:
    """From upper shares to roots of chi squares over their degrees of freedom: shares × degrees of freedom.

    On the scale of normal deviates these are nearly straight lines: splines through exact ones are off by 1e-9 of them
    with 2 degrees of freedom and by 1e-12 with 12, at a fifth of the price.
    """
    from scipy.interpolate import CubicSpline

    knots = np.linspace(-FARTHEST, FARTHEST, 801)
    spline = CubicSpline(knots, np.sqrt(scipy.special.chdtri(df, scipy.special.ndtr(knots)[:, None]) / df))

    def roots(at: Array) -> Array:
        deviates = np.clip(scipy.special.ndtri(at), -FARTHEST, FARTHEST)
        return np.maximum(spline(deviates), np.finfo(float).tiny)

    return roots


def _quantile_of_smallest_p(t: Array, df: Array, share: float) -> float:
    """A low quantile of the smallest p-value of each line of t values with these (rising) degrees of freedom.

    No p-value of a line lies below that of its largest t with the most degrees of freedom, so that lines of small t
    need not be looked at.
    """
    largest = t.max(axis=1)
    least = np.quantile(largest, max(0.0, 1.0 - 4.0 * share))
    smallest = np.full(len(t), np.inf)
    for looked in (largest >= least, largest < least):
        smallest[looked] = 2.0 * scipy.special.stdtr(df, -t[looked]).min(axis=1)
        if np.quantile(smallest, share, method="higher") <= 2.0 * scipy.special.stdtr(df[-1], -least):
            break
    return float(np.quantile(smallest, share))


def symmetric_root(covariance: Array) -> Array:
    """The symmetric matrix whose square is the covariance, safe for a singular one.

    Eigenvectors alone would do for the distribution of draws, but rounding turns those of equal eigenvalues, and with
    them the draws of a fixed seed: the same rows in another order would get other limits.

    >>> symmetric_root(np.array([[4.0, 0.0], [0.0, 9.0]])).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    values, vectors = np.linalg.eigh(covariance)
    positive = np.where(values > NOISE * values[-1], values, 0.0)
    return np.asarray((vectors * np.sqrt(positive)) @ vectors.T)


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
    return score_limits(share, trials, critical(level, df))


def exact(share: Array, trials: Array | float, level: float) -> Limits:
    """Clopper and Pearson's limits for an effective number of trials, which need not be whole and may be endless."""
    endless = np.isinf(trials)
    finite = np.where(endless, 1.0, trials)
    low, high = clopper_pearson(share * finite, finite, level)
    return np.where(endless, share, low), np.where(endless, share, high)


def monotone(low: Array, high: Array, direction: int) -> Limits:
    """Limits along the last axis of values that can't fall (direction 1) or can't rise (−1).

    What bounds a value from below bounds all later ones too, and what bounds it from above all earlier ones, so
    simultaneous limits stay valid and only get closer.

    >>> low, high = monotone(np.array([0.5, 0.7, 0.6]), np.array([0.8, 1.0, 0.9]), 1)
    >>> low.tolist(), high.tolist()
    ([0.5, 0.7, 0.7], [0.8, 0.9, 0.9])
    """
    if direction < 0:
        above, below = monotone(-high, -low, 1)
        return -below, -above
    falling = np.flip(np.minimum.accumulate(np.flip(high, axis=-1), axis=-1), axis=-1)
    return np.maximum.accumulate(low, axis=-1), falling


def by_korn_graubard(share: Array, se: Array, rows: float, level: float, df: Array | float) -> Limits:
    """Exact limits with the effective sample size p (1 - p) / se², less for few degrees of freedom."""
    inside = (se > 0) & (share > 0) & (share < 1)
    p = np.where(inside, share, 0.5)
    effect = np.where(inside, rows * se**2 / (p * (1 - p)), 1.0)
    low, high = korn_graubard(p * rows, rows, level, design_effect=effect, df=df, truncate=False)
    return np.where(inside, low, share), np.where(inside, high, share)
