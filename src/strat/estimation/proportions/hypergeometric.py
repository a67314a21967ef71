"""Exact limits of a share in a finite population from which rows were drawn without replacement."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy  # its parts load when they are first used: `import strat` stays light
from numpy.typing import ArrayLike, NDArray

from strat.base import validate
from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, values

MOST_POPULATION = 1e12  # units that a sample can be drawn from
TIE = 1.0 + 1e-7  # tails that differ by less are equal
MOST_TAILS = 100  # opposite tails beyond which both kinds of exact limits are the same for all purposes


@checked
def hypergeometric_interval(
    successes: ArrayLike, trials: ArrayLike, population: ArrayLike, level: float = 0.95
) -> tuple[Any, Any]:
    """The exact interval of a share in a finite population, of which `trials` were drawn at random: (low, high).

    Each limit is the last number of successes in the population that a one-sided exact test of (1 - level) / 2 does not
    reject; the interval covers at least `level` whatever the share, and is never wider than what was not drawn allows.

    Parameters
    ----------
    successes, trials
        Whole numbers of rows: successes among those drawn, and those drawn.
    population
        Rows in all, drawn or not.
    level
        Confidence level.

    Examples
    --------
    No error in 40 of the 50 items of a benchmark: at most 2 of the other 10 are errors, for with 3 the chance that
    none is among the 40 drawn is C(10, 3) / C(50, 3) = 0.006.

    >>> hypergeometric_interval(0, 40, 50)
    (0.0, 0.04)
    >>> hypergeometric_interval(3, 10, 10)
    (0.3, 0.3)
    """
    x, n, size = _whole(successes, trials, population)
    low, high = _counts(x, n, size, (1 - validate.level(level)) / 2)
    return _pair(low / size, high / size)


@checked
def stratified_hypergeometric_interval(
    successes: ArrayLike, trials: ArrayLike, population: ArrayLike, level: float = 0.95
) -> tuple[float, float]:
    """The exact interval of a share in a finite population that was sampled in strata: (low, high).

    Strata are drawn independently, so that exact intervals of level^(1/L) in each of L strata hold together with
    probability `level`, and so do the limits added up (Wright 1991). It covers at least `level` whatever the shares;
    with many strata it is wide, and the interval of `estimate` with population sizes is narrower and approximate.

    Parameters
    ----------
    successes, trials, population
        One whole number for each stratum, as for `hypergeometric_interval`.
    level
        Confidence level.

    Examples
    --------
    The first stratum was drawn whole, and says nothing uncertain:

    >>> low, high = stratified_hypergeometric_interval([3, 0], [10, 20], [10, 40])
    >>> print(low, round(high, 4))
    0.06 0.14
    """
    x, n, size = (np.atleast_1d(part) for part in _whole(successes, trials, population))
    each = validate.level(level) ** (1 / max(int((n < size).sum()), 1))
    low, high = _counts(x, n, size, (1 - each) / 2)
    return float(low.sum() / size.sum()), float(high.sum() / size.sum())


def balanced_limits(successes: float, trials: float, population: float, level: float) -> tuple[float, float]:
    """Blaker's (2000) limits of a share of a finite population: exact, and within those of `hypergeometric_interval`.

    A number K of successes in the population is accepted where the smaller tail of what was drawn, and the largest
    opposite tail that is no larger, come to more than 1 − level together. So it covers at least `level` whatever K is,
    and does not spend half of what is left on a side where next to nothing can happen. One side alone may be missed by
    up to 1 − level.

    Examples
    --------
    No error in 40 of 50 items: with 2 errors in the other 10 the chance to see none is C(10, 2) / C(50, 2) = 0.037,
    and there is no opposite tail as small; so it is 1 at most.

    >>> balanced_limits(0, 40, 50, 0.95)
    (0.0, 0.02)
    """
    low = _balanced_low(successes, trials, population, 1.0 - level)
    high = population - _balanced_low(trials - successes, trials, population, 1.0 - level)
    return low / population, high / population


def _balanced_low(x: float, n: float, size: float, alpha: float) -> float:
    """The least number of successes in the population that is accepted."""
    law = scipy.stats.hypergeom
    if x == 0 or n == size:
        return x

    def above(k: Array) -> Array:
        return np.asarray(law.sf(x - 1, size, k, n))

    middle = np.floor(x / n * size)
    ends = np.array([alpha / 2.0, alpha])
    least, most = _first(lambda k: above(k) > ends, np.full(2, x), np.full(2, middle))
    upper = above(np.array([least, most])) * TIE
    # the least number drawn whose lower tail is larger than the upper one
    first, last = _first(lambda j: law.cdf(j, size, [least, most], n) > upper, np.zeros(2), np.full(2, x))
    if last - first > MOST_TAILS:
        return float(least)
    tails = np.arange(first, last + 1.0) - 1.0  # along one of them the sum of both tails falls, then rises
    begin = _first(
        lambda k: law.cdf(tails, size, k, n) <= above(k) * TIE, np.full(len(tails), least), np.full(len(tails), most)
    )
    end = np.append(np.maximum(begin[1:] - 1.0, begin[:-1]), most)

    def accepted(k: Array) -> NDArray[np.bool_]:
        return np.asarray(above(k) + law.cdf(tails, size, k, n) > alpha)

    at_once = accepted(begin)
    ends = np.where(at_once, begin, _first(accepted, begin, np.where(at_once, begin, end)))
    return float(min(ends[accepted(ends)], default=most))


def _counts(x: Array, n: Array, size: Array, tail: float) -> tuple[Array, Array]:
    """The least and the largest number of successes in the population that are not rejected at `tail`."""
    law = scipy.stats.hypergeom
    low = _first(lambda k: law.sf(x - 1, size, k, n) > tail, x, size - n + x)
    high = _first(lambda k: law.cdf(x, size, k + 1, n) <= tail, x, size - n + x)
    return low, high


def _first(accepts: Any, start: Array, stop: Array) -> Array:
    """The least whole number from start to stop that is accepted, by bisection; stop, if none before it is."""
    low, high = start.copy(), stop.copy()
    while (low < high).any():
        middle = np.floor((low + high) / 2)
        yes = np.asarray(accepts(middle)) & (low < high)
        high = np.where(yes, middle, high)
        low = np.where(yes | (low >= high), low, middle + 1)
    return high


def _whole(successes: ArrayLike, trials: ArrayLike, population: ArrayLike) -> tuple[Array, Array, Array]:
    named = {
        "successes": values("successes", successes),
        "trials": values("trials", trials),
        "population": values("population", population, most=MOST_POPULATION),
    }
    for name, given in named.items():
        if (given != np.floor(given)).any() or (given < (name != "successes")).any():
            least = 0 if name == "successes" else 1
            bad = given.ravel()[np.flatnonzero((given != np.floor(given)) | (given < least))[0]]
            raise StratError.about(name, f"must be whole numbers of at least {least}, got {bad:g}; count rows.")
    try:
        x, n, size = np.broadcast_arrays(*named.values())
    except ValueError:
        shapes = ", ".join(str(given.shape) for given in named.values())
        raise StratError.about(
            "population", f"must fit the shapes of `successes` and `trials`, got {shapes}."
        ) from None
    for name, small, large, other in (("successes", x, n, "trials"), ("trials", n, size, "population")):
        if (small > large).any():
            at = np.flatnonzero(small > large)[0]
            raise StratError.about(
                name, f"must be at most `{other}`, got {small.ravel()[at]:g} of {large.ravel()[at]:g}; count again."
            )
    return x, n, size


def _pair(low: Array, high: Array) -> tuple[Any, Any]:
    return (float(low), float(high)) if low.ndim == 0 else (low, high)
