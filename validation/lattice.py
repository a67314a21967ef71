"""Few independent rows, without simulation: the exact coverage over all true rates.

The count of right rows is a whole number, so coverage jumps from rate to rate, and one rate says little. Here every
count has its interval, and each rate weighs them with the probabilities of the counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import binom, hypergeom

import strat

from .counting import GOAL
from .trials import Array

METHODS = ("default", "t", "arcsine", "wilson", "exact")
CASES: dict[str, tuple[int, int | None]] = {
    "48 rows": (48, None),
    "200 rows": (200, None),
    "1000 rows": (1000, None),
    "60 of 100 rows": (60, 100),
}
RATES = np.round(np.arange(0.5, 0.9995, 0.001), 3)
HAIR = 1e-9


def run(name: str) -> dict[str, Any]:
    """Mean and lowest coverage over the rates, and at how many of them it is within 94 to 96 %."""
    rows, population = CASES[name]
    rates = RATES if population is None else np.arange(population // 2, population) / population
    chances = _chances(rows, population, rates)
    return {
        "name": name,
        "rates": len(rates),
        "methods": {m: _figures(m, rows, population, rates, chances) for m in METHODS},
    }


def _chances(rows: int, population: int | None, rates: Array) -> Array:
    """Probabilities of the counts (columns) at each rate (rows)."""
    counts = np.arange(rows + 1)
    if population is None:
        return binom.pmf(counts, rows, rates[:, None])
    return hypergeom.pmf(counts, population, np.rint(rates * population)[:, None], rows)


def _figures(method: str, rows: int, population: int | None, rates: Array, chances: Array) -> dict[str, float]:
    design = strat.Design.simple_random(n=rows, population=population)
    limits = np.array([_limits(method, design, rows, count) for count in range(rows + 1)])
    inside = (limits[:, 0] <= rates[:, None] + HAIR) & (limits[:, 1] >= rates[:, None] - HAIR)
    coverage = (chances * inside).sum(axis=1)
    return {
        "mean": round(float(coverage.mean()), 5),
        "lowest": round(float(coverage.min()), 5),
        "within": round(float(((coverage >= GOAL[0]) & (coverage <= GOAL[1])).mean()), 5),
        "short": round(float((coverage < GOAL[0]).mean()), 5),
        "width": float(f"{float((chances @ (limits[:, 1] - limits[:, 0])).mean()):.6g}"),
    }


def _limits(method: str, design: Any, rows: int, count: int) -> tuple[float, float]:
    y = (np.arange(rows) < count).astype(float)
    return strat.estimate(strat.proportion(y), on=design).interval(method=None if method == "default" else method)
