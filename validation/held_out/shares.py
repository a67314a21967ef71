"""Shares of right rows in units, strata and finite populations; units differ in three ways."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import strat

from ..trials import Draw, Layout, Rng, Scenario, Trial, layout, levels, unequal
from .procedures import estimated
from .shapes import SHAPES, rates

LAYOUTS = (
    (8, 40, 0.85, 0.1),
    (12, 15, 0.93, 0.15),
    (18, 12, 0.88, 0.25),
    (25, 30, 0.97, 0.1),
    (35, 8, 0.9, 0.3),
    (80, 6, 0.985, 0.15),
    (150, 12, 0.99, 0.25),
)


def in_units(where: Layout, rate: float, icc: float, shape: str) -> Draw:
    """Rows right or wrong in units of these sizes."""
    design, units = where.design(), len(where.stratum)

    def draw(rng: Rng) -> Trial:
        own = rates(rng, rate, icc, shape, units)
        right = (rng.random(len(where.unit)) < own[where.unit]).astype(float)
        return estimated(strat.proportion(right), design, rate, right=right)

    return draw


def in_strata(strata: int, units: int, size: int, rate: float, icc: float, shape: str) -> Draw:
    """Strata whose rates are spread about one rate."""
    where = layout(strata, units, size)
    design, means = where.design(), levels(strata, rate, 0.5)

    def draw(rng: Rng) -> Trial:
        own = np.concatenate([rates(rng, float(mean), icc, shape, units) for mean in means])
        right = (rng.random(len(where.unit)) < own[where.unit]).astype(float)
        return estimated(strat.proportion(right), design, float(means.mean()), right=right)

    return draw


def of_population(population: int, units: int, size: int, rate: float, icc: float, shape: str) -> Draw:
    """Units drawn without replacement from a finite population, which every trial has its own of."""
    unit = np.repeat(np.arange(units), size)
    design = strat.Design.clustered(units=unit, population=population)

    def draw(rng: Rng) -> Trial:
        own = rates(rng, rate, icc, shape, population)
        values = rng.random((population, size)) < own[:, None]
        right = values[:units].ravel().astype(float)
        return estimated(strat.proportion(right), design, float(values.mean()), right=right)

    return draw


def one_sided(rows: int, rate: float, side: str) -> Draw:
    """A one-sided limit of a share of independent rows, and so its one-sided test."""
    design = strat.Design.simple_random(n=rows)

    def draw(rng: Rng) -> Trial:
        trial = estimated(strat.proportion((rng.random(rows) < rate).astype(float)), design, rate)
        trial.extra["side"] = side
        return trial

    return draw


def _scenarios() -> list[Scenario]:
    made: list[Scenario] = []

    def add(name: str, family: str, make: object, steps: Sequence[str] = ("answer",)) -> None:
        made.append(Scenario(name, family, name, make, tuple(steps)))  # type: ignore[arg-type]

    for shape in SHAPES:
        for units, size, rate, icc in LAYOUTS:
            name = f"{units} units of {size}, rate {rate}, icc {icc}, {shape}"
            where = layout(1, units, size)
            add(name, "shares in units", lambda w=where, r=rate, i=icc, s=shape: in_units(w, r, i, s))
        where = layout(1, 24, unequal(24, 3, 60))
        add(f"24 units of 3 to 60, rate 0.9, icc 0.2, {shape}", "shares in units",
            lambda w=where, s=shape: in_units(w, 0.9, 0.2, s))  # fmt: skip
        add(f"9 strata of 3 units of 10, rate 0.92, icc 0.15, {shape}", "shares in strata",
            lambda s=shape: in_strata(9, 3, 10, 0.92, 0.15, s))  # fmt: skip
        add(f"20 of 45 units of 8, rate 0.9, icc 0.2, {shape}", "shares of finite populations",
            lambda s=shape: of_population(45, 20, 8, 0.9, 0.2, s))  # fmt: skip
    add("8 strata of 4 rows, rate 0.85", "shares in strata", lambda: in_strata(8, 4, 1, 0.85, 0.0, "Beta"))
    for rows, rate in ((35, 0.8), (150, 0.96), (700, 0.995)):
        add(f"{rows} rows, rate {rate}", "shares of rows",
            lambda n=rows, r=rate: in_units(layout(1, n, 1), r, 0.0, "Beta"))  # fmt: skip
    for rows, rate, side in ((80, 0.95, "lower"), (300, 0.97, "lower"), (60, 0.9, "upper")):
        add(f"{side} limit, {rows} rows, rate {rate}", "one-sided limits",
            lambda n=rows, r=rate, s=side: one_sided(n, r, s), ("one-sided",))  # fmt: skip
    return made


SCENARIOS = _scenarios()
