"""Exact limits of a share in a finite population from which rows were drawn without replacement."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy  # its parts load when they are first used: `import strat` stays light
from numpy.typing import ArrayLike

from strat.base import validate
from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, values

MOST_POPULATION = 1e12  # units that a sample can be drawn from


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
