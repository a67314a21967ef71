"""Gates with a floor at the true value, in few units of which some are bad: how often they pass."""

from __future__ import annotations

import numpy as np

import strat

from ..trials import Draw, Rng, Scenario, Trial, shares

TWO_KINDS = (  # units, rows of each, rate of most units, rate of the bad ones, share of the bad ones
    (10, 30, 0.95, 0.5, 0.1),
    (12, 25, 0.95, 0.45, 0.1),
    (16, 12, 0.95, 0.5, 0.125),
    (18, 20, 0.96, 0.3, 1 / 12),
    (20, 15, 0.95, 0.45, 0.1),
    (22, 15, 0.95, 0.45, 0.1),
    (24, 10, 0.96, 0.4, 0.1),
    (12, 20, 0.95, 0.6, 1 / 6),
    (14, 40, 0.97, 0.0, 1 / 15),
    (20, 20, 0.95, 0.0, 0.05),
)
CORRELATED = ((8, 50, 0.9, 0.3), (15, 20, 0.8, 0.2), (22, 20, 0.95, 0.1))  # units, rows, rate, correlation


def gated(units: int, rows: int, rate: float, bad: float, part: float, icc: float) -> Draw:
    """A gate passes a floor that is true: the interval above it, where it does, misses; its limit alone as a rival."""
    floor = rate * (1 - part) + bad * part
    unit = np.repeat(np.arange(units), rows)

    def draw(rng: Rng) -> Trial:
        own = shares(rng, np.where(rng.random(units) < part, bad, rate), icc)
        table = {"right": (rng.random(units * rows) < own[unit]).astype(int), "unit": unit}
        if np.ptp(table["right"]) == 0:
            table["right"][0] = 0
        result = strat.gate(table, score="right", metrics="mean", higher_is_better=True, units="unit", floor=floor)
        (check,) = result.checks
        wrong = {"default": result.answer == "not worse", "limit alone": check.low >= floor}
        found = {name: (floor + (1e-6 if miss else -0.5), 1.0) for name, miss in wrong.items()}
        return Trial(None, None, floor, {}, {"limits": found, "notes": result.notes, "span": 2.0})

    return draw


SCENARIOS = [
    Scenario(f"floor of {k} units of {m}, {q:.2f} of them at {bad}, others at {rate}", "gates with a floor",
             f"{k} units, two kinds", lambda a=(k, m, rate, bad, q, 0.0): gated(*a), ("limits",))
    for k, m, rate, bad, q in TWO_KINDS
] + [
    Scenario(f"floor of {k} units of {m} at {rate}, icc {icc}", "gates with a floor", f"{k} units, Beta",
             lambda a=(k, m, rate, 0.0, 0.0, icc): gated(*a), ("limits",))
    for k, m, rate, icc in CORRELATED
]  # fmt: skip
