"""Three ways in which units differ, with the same mean and intraclass correlation."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from ..trials import Array, Rng, shares

SHAPES = ("Beta", "logit-normal", "one bad in ten")
_Z = ndtri((np.arange(4000) + 0.5) / 4000)


def rates(rng: Rng, mean: float, icc: float, shape: str, units: int) -> Array:
    """The own rate of each of so many units."""
    if icc == 0 or shape == "Beta":
        return shares(rng, np.full(units, mean), icc)
    if shape == "logit-normal":
        centre, spread = _logit_normal(mean, icc)
        return expit(centre + spread * rng.standard_normal(units))
    gap = bad_gap(mean, icc)
    return np.where(rng.random(units) < 0.1, mean - 0.9 * gap, mean + 0.1 * gap)


def bad_gap(mean: float, icc: float) -> float:
    """How much worse the bad units are, as far as rates allow."""
    return float(min(np.sqrt(icc * mean * (1 - mean) / 0.09), mean / 0.9, (1 - mean) / 0.1))


@lru_cache
def _logit_normal(mean: float, icc: float) -> tuple[float, float]:
    """Centre and spread of the logits."""

    def centre(spread: float) -> float:
        return float(brentq(lambda m: expit(m + spread * _Z).mean() - mean, -40, 40))

    def excess(spread: float) -> float:
        return float(expit(centre(spread) + spread * _Z).var() - icc * mean * (1 - mean))

    spread = float(brentq(excess, 1e-6, 12))
    return centre(spread), spread
