"""Shares in a part of the rows that few units hold, or one unit most of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import strat

from ..trials import Draw, Rng, Scenario, Trial
from .procedures import estimated
from .shapes import rates


def domain(held: Sequence[int], others: int, size: int, rate: float, icc: float) -> Draw:
    """Units with `held` rows of the domain, among `size` rows or as many as the domain has; `others` hold none."""
    units = len(held) + others
    sizes = np.maximum(np.concatenate([held, np.zeros(others, int)]), size)
    unit = np.repeat(np.arange(units), sizes)
    place = np.arange(len(unit)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    inside = place < np.concatenate([held, np.zeros(others, int)])[unit]
    design = strat.Design.clustered(units=unit)

    def draw(rng: Rng) -> Trial:
        right = (rng.random(len(unit)) < rates(rng, rate, icc, "Beta", units)[unit]).astype(float)
        return estimated(strat.domain(strat.proportion(right), inside), design, rate, right=right[inside])

    return draw


def _scenario(name: str, *args: object) -> Scenario:
    return Scenario(name, "domains", name, lambda: domain(*args), ("answer",))  # type: ignore[arg-type]


SCENARIOS = [
    _scenario("9 of 50 units, eight with 2 rows and one with 40", [2] * 8 + [40], 41, 10, 0.85, 0.2),
    _scenario("15 of 60 units with 4 rows each", [4] * 15, 45, 8, 0.9, 0.2),
    _scenario("16 of 30 units, 14 with 3 rows and 2 with 45", [3] * 14 + [45] * 2, 14, 10, 0.8, 0.3),
    _scenario("25 of 100 units with 1 to 25 rows", list(range(1, 26)), 75, 10, 0.9, 0.2),
]
