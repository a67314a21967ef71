"""What every generator needs: a random source, class sizes, checks, and quasi-random integration."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import qmc

from strat.columns import Array, numbers
from strat.errors import StratError

Rng = int | np.random.Generator

SCRAMBLES = 8
POINTS = 1024


def generator(rng: Rng) -> np.random.Generator:
    """The random source behind a seed, or the source itself."""
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return np.random.default_rng(int(rng))
    raise StratError(f"`rng` must be a seed (0, 1, 2, …) or a NumPy Generator, got {rng!r}.")


def share(argument: str, value: float, *, low: float = 0.0, high: float = 1.0) -> float:
    """`value` if it lies between `low` and `high`, else an error."""
    number = float(value)
    if not low <= number <= high:
        raise StratError(f"`{argument}` must lie between {low:g} and {high:g}, got {value!r}.")
    return number


def count(argument: str, value: int, *, least: int = 1) -> int:
    """`value` if it is a whole number of at least `least`, else an error."""
    if isinstance(value, bool) or int(value) != value or value < least:
        raise StratError(f"`{argument}` must be a whole number of at least {least}, got {value!r}.")
    return int(value)


def sizes(argument: str, n: int | Sequence[int], priors: Array) -> NDArray[np.int64]:
    """Rows of each class: as given, or `n` shared out by the priors (largest remainders).

    >>> sizes("n", 10, np.array([0.25, 0.75]))
    array([3, 7])
    """
    if not isinstance(n, int | np.integer):
        given = [count(argument, int(k), least=0) for k in n]
        if len(given) != len(priors):
            raise StratError(f"`{argument}` must have one size per class ({len(priors)}), got {len(given)} sizes.")
        return np.array(given, dtype=np.int64)
    exact = count(argument, int(n)) * priors
    whole = np.floor(exact).astype(np.int64)
    rest = int(n) - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:rest]] += 1
    return whole


def shares(argument: str, values: ArrayLike | None, classes: int) -> Array:
    """Class probabilities: equal by default, else checked to sum to one."""
    if values is None:
        return np.full(classes, 1.0 / classes)
    p = numbers(argument, values)
    if p.shape != (classes,):
        raise StratError(f"`{argument}` must have one probability per class ({classes}), got shape {p.shape}.")
    if (p < 0).any() or abs(p.sum() - 1) > 1e-9:
        raise StratError(f"`{argument}` must be at least 0 and sum to 1, got {p.tolist()} (sum {p.sum():g}).")
    return p


def integrated_bayes_error(
    priors: Array,
    draw: Callable[[int, Array], Array],
    posterior: Callable[[Array], Array],
    dimensions: int,
) -> tuple[float, float]:
    """The Bayes error, 1 − E[max posterior] of Kuncheva 1.5.3, and the standard error of its integration.

    `draw(k, u)` turns uniform numbers (rows × `dimensions`) into points of class k; scrambled Sobol points
    stand for the uniforms, and the spread over independent scrambles gives the standard error.
    """
    values = np.empty(SCRAMBLES)
    for s in range(SCRAMBLES):
        sobol = qmc.Sobol(dimensions, scramble=True, rng=np.random.default_rng(s))
        u = np.clip(sobol.random(POINTS), 1e-12, 1 - 1e-12)
        missed = [1 - posterior(draw(k, u)).max(axis=1).mean() for k in range(len(priors))]
        values[s] = priors @ np.array(missed)
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(SCRAMBLES))
