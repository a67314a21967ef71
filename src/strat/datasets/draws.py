"""What every generator needs: a random source, class sizes, checks, and quasi-random integration."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from strat.base import validate
from strat.base.errors import StratError
from strat.base.validate.columns import Array

SCRAMBLES = 8  # of a Sobol sequence, whose spread gives the standard error
POINTS = 1024  # of each scramble


def sizes(argument: str, n: int | Sequence[int], priors: Array) -> NDArray[np.int64]:
    """Rows of each class: as given, or `n` shared out by the priors (largest remainders).

    >>> sizes("n", 10, np.array([0.25, 0.75]))
    array([3, 7])
    """
    if not isinstance(n, int | np.integer):
        given = [validate.count(argument, int(k), least=0) for k in n]
        if len(given) != len(priors):
            raise StratError.about(argument, f"must have one size per class ({len(priors)}), got {len(given)} sizes.")
        return np.array(given, dtype=np.int64)
    exact = validate.count(argument, int(n)) * priors
    whole = np.floor(exact).astype(np.int64)
    rest = int(n) - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:rest]] += 1
    return whole


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
