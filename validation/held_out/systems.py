"""Two systems on the same rows, non-inferiority at its margin, and boards of 10 to 50 systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri

from ..trials import Array, Draw, Layout, Rng, Scenario, Trial, layout
from .procedures import compared, ranked


def discordant(where: Layout, only_a: float, only_b: float) -> Draw:
    """Independent rows on which only A, or only B, is right with these chances."""
    design = where.design()

    def draw(rng: Rng) -> Trial:
        u = rng.random(len(where.unit))
        a = (u < only_a) | ((u >= only_a + only_b) & (u < 0.9))
        b = (u >= only_a) & ((u < only_a + only_b) | (u < 0.9))
        return compared(a.astype(float), b.astype(float), design, only_a - only_b)

    return draw


def _right(rng: Rng, where: Layout, rates: Array, icc: float) -> Array:
    """Right or wrong of systems with these rates, which units favour or not."""
    k = len(rates)
    z = np.sqrt(0.3) * rng.standard_normal(len(where.unit))[:, None]
    z = z + np.sqrt(0.7 - icc) * rng.standard_normal((len(where.unit), k))
    z = z + np.sqrt(icc) * rng.standard_normal((len(where.stratum), k))[where.unit]
    return (z < ndtri(rates)).astype(float)


def in_units(where: Layout, first: float, second: float, icc: float) -> Draw:
    """Two systems in units that favour one or the other."""
    design, rates = where.design(), np.array([first, second])

    def draw(rng: Rng) -> Trial:
        right = _right(rng, where, rates, icc)
        return compared(right[:, 0], right[:, 1], design, first - second)

    return draw


def loses_in_some_units(units: int, size: int, share: float, loss: float) -> Draw:
    """A is wrong on a part of what B has right, in a share of the units only."""
    where = layout(1, units, size)
    design = where.design()

    def draw(rng: Rng) -> Trial:
        b = rng.random(len(where.unit)) < 0.85
        lost = (rng.random(units) < share)[where.unit] & (rng.random(len(b)) < loss / 0.85)
        return compared((b & ~lost).astype(float), b.astype(float), design, -share * loss)

    return draw


def board(where: Layout, rates: Sequence[float], icc: float, *, winner: bool = False) -> Draw:
    """Many systems on the same items."""
    design, rate = where.design(), np.asarray(rates, float)
    truth: Any = float(rate.max()) if winner else rate[:, None] - rate

    def draw(rng: Rng) -> Trial:
        return ranked(_right(rng, where, rate, icc), design, rate, truth)

    return draw


PAIRS: dict[str, Callable[[], Draw]] = {
    "400 rows, only B right on 1.5 %, A never": lambda: discordant(layout(1, 400, 1), 0.0, 0.015),
    "120 rows, 1 % and 5 %": lambda: discordant(layout(1, 120, 1), 0.01, 0.05),
    "60 rows, 10 % and 15 %": lambda: discordant(layout(1, 60, 1), 0.10, 0.15),
    "24 units of 15, loses 0.25 in 12 % of them": lambda: loses_in_some_units(24, 15, 0.12, 0.25),
    "16 units of 30, 0.965 against 0.985": lambda: in_units(layout(1, 16, 30), 0.965, 0.985, 0.1),
    "12 strata of 3 units of 8, 0.82 against 0.87": lambda: in_units(layout(12, 3, 8), 0.82, 0.87, 0.15),
}
EQUAL = (0.75,)
BOARDS: dict[str, tuple[Layout, Sequence[float], float]] = {
    "10 equal systems, 14 units of 15": (layout(1, 14, 15), EQUAL * 10, 0.1),
    "20 equal systems, 18 units of 15": (layout(1, 18, 15), EQUAL * 20, 0.1),
    "50 equal systems, 25 units of 12": (layout(1, 25, 12), EQUAL * 50, 0.1),
    "12 systems 0.65 to 0.85, 40 units of 8": (layout(1, 40, 8), tuple(np.linspace(0.65, 0.85, 12)), 0.15),
    "8 equal systems, 7 strata of 3 units of 10": (layout(7, 3, 10), EQUAL * 8, 0.1),
    "10 systems 0.96 to 0.99, 150 rows": (layout(1, 150, 1), tuple(np.linspace(0.96, 0.99, 10)), 0.0),
}

SCENARIOS = [
    *(Scenario(f"difference, {name}", "differences", name, make, ("pair",)) for name, make in PAIRS.items()),
    *(Scenario(f"non-inferiority, {name}", "non-inferiority", name, make, ("non-inferiority",))
      for name, make in PAIRS.items()),
    *(Scenario(f"all pairs, {name}", "boards", name, lambda w=where, r=rates, i=icc: board(w, r, i), ("board",))
      for name, (where, rates, icc) in BOARDS.items()),
    *(Scenario(f"winner, {name}", "boards", name, lambda w=where, r=rates, i=icc: board(w, r, i, winner=True),
               ("winner",)) for name, (where, rates, icc) in list(BOARDS.items())[:4]),
]  # fmt: skip
