"""Limits of a binomial share in closed form, each by what lies in a tail, and the arguments that they take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy  # its parts load when they are first used: `import strat` stays light
from numpy.typing import ArrayLike

from strat.base import validate
from strat.base.errors import StratError
from strat.base.validate.columns import Array, values


def score_limits(p: Array, n: Array, c: Any) -> tuple[Array, Array]:
    """Score limits of shares p of n for a critical value c."""
    # Nyssen's closing equation, with d = c² / n.
    d = c**2 / n
    root = np.sqrt(np.maximum((2 * p + d) ** 2 - 4 * (1 + d) * p**2, 0.0))
    low, high = (2 * p + d - root) / (2 * (1 + d)), (2 * p + d + root) / (2 * (1 + d))
    return np.where(p <= 0, 0.0, np.maximum(low, 0.0)), np.where(p >= 1, 1.0, np.minimum(high, 1.0))


def wilson_limits(x: Array, n: Array, tail: float) -> tuple[Array, Array]:
    """Wilson's limits with this much in each tail."""
    return score_limits(x / n, n, -scipy.special.ndtri(tail))


def wald_limits(x: Array, n: Array, tail: float) -> tuple[Array, Array]:
    """The plain limits p ± z se."""
    p = x / n
    half = -scipy.special.ndtri(tail) * np.sqrt(p * (1 - p) / n)
    return p - half, p + half


def clopper_pearson_limits(x: Array, n: Array, tail: float) -> tuple[Array, Array]:
    """Clopper and Pearson's exact limits."""
    inside = np.where(x > 0, x, 1.0), np.where(x < n, n - x, 1.0)
    low = np.where(x > 0, scipy.special.betaincinv(inside[0], n - x + 1, tail), 0.0)
    high = np.where(x < n, scipy.special.betaincinv(x + 1, inside[1], 1 - tail), 1.0)
    return low, high


def agresti_coull_limits(x: Array, n: Array, tail: float) -> tuple[Array, Array]:
    """Agresti and Coull's limits."""
    c2 = scipy.special.ndtri(tail) ** 2
    low, high = wald_limits(x + c2 / 2, n + c2, tail)
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def jeffreys_limits(x: Array, n: Array, tail: float) -> tuple[Array, Array]:
    """Limits under Jeffreys' prior."""
    low = scipy.special.betaincinv(x + 0.5, n - x + 0.5, tail)
    high = scipy.special.betaincinv(x + 0.5, n - x + 0.5, 1 - tail)
    return np.where(x > 0, low, 0.0), np.where(x < n, high, 1.0)


def logit_limits(x: Array, n: Array, tail: float) -> tuple[Array, Array]:
    """Limits on the logit scale, exact at 0 and 1."""
    x, n = np.broadcast_arrays(x, n)
    edge = (x <= 0) | (x >= n)
    p = np.where(edge, 0.5, x / n)
    half = -scipy.special.ndtri(tail) / np.sqrt(n * p * (1 - p))
    low, high = (np.array(scipy.special.expit(scipy.special.logit(p) + side)) for side in (-half, half))
    low[edge], high[edge] = clopper_pearson_limits(x[edge], n[edge], tail)
    return low, high


BY_TAIL: dict[str, Callable[[Array, Array, float], tuple[Array, Array]]] = {
    "clopper_pearson": clopper_pearson_limits,
    "wilson": wilson_limits,
    "wald": wald_limits,
    "agresti_coull": agresti_coull_limits,
    "jeffreys": jeffreys_limits,
    "logit": logit_limits,
}


def binomial_mass(x: Array, n: float, p: Array) -> Array:
    """Probabilities of x of n."""
    choose = scipy.special.gammaln(n + 1) - scipy.special.gammaln(x + 1) - scipy.special.gammaln(n - x + 1)
    mass: Array = np.exp(choose + scipy.special.xlogy(x, p) + scipy.special.xlog1py(n - x, -p))
    return mass


def checked_counts(
    successes: ArrayLike, trials: ArrayLike, level: float, name: str = "successes"
) -> tuple[Array, Array]:
    """Successes and trials of one shape, refused where they can't be."""
    x, n = same_shape(name, values(name, successes, finite=False), values("trials", trials))
    validate.level(level)
    if not (n > 0).all():
        raise StratError.about("trials", f"must be positive, got {first_of(n, ~(n > 0))!r}.")
    # A share times a size can pass the size by rounding alone.
    bad = ~((x >= 0) & (x <= n * (1 + 1e-12)))
    if bad.any():
        raise StratError.about(
            name, f"must lie between 0 and `trials`, got {first_of(x, bad)!r} of {first_of(n, bad)!r}."
        )
    return np.minimum(x, n), n


def same_shape(name: str, first: Array, second: Array, other: str = "trials") -> tuple[Array, Array]:
    """Both arrays in one shape."""
    try:
        x, n = np.broadcast_arrays(first, second)
    except ValueError:
        raise StratError.about(other, f"must fit the shape of `{name}` {first.shape}, got {second.shape}.") from None
    return x, n


def positive_values(name: str, value: ArrayLike) -> Array:
    """An array of positive numbers, refused by name."""
    array = values(name, value)
    if not (array > 0).all():
        raise StratError.about(name, f"must be positive, got {first_of(array, ~(array > 0))!r}.")
    return array


def first_of(values: Array, bad: Any) -> float:
    """The first value that is bad."""
    return float(np.ravel(values)[np.flatnonzero(np.ravel(bad))[0]])


def as_pair(low: Any, high: Any) -> tuple[Any, Any]:
    """Two numbers for numbers, two arrays for arrays."""
    low, high = np.asarray(low), np.asarray(high)
    return (float(low), float(high)) if low.ndim == 0 else (low, high)
