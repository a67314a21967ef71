"""Measures of rare classes that units hold in bunches: recall, balanced accuracy, F1, macro F1, MCC."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import strat

from ..scenarios import labels
from ..trials import Draw, Rng, Scenario, Trial, layout
from .procedures import estimated
from .shapes import rates

SKEW, GOOD = (0.7, 0.2, 0.07, 0.03), (0.95, 0.85, 0.8, 0.75)


def bunched(build: Callable[..., Any], units: int, size: int, holders: float, inside: float, right: tuple[float, float],
            icc: float) -> Draw:  # fmt: skip
    """A share `holders` of the units has the class in a share `inside` of its rows; the others never."""
    design = strat.Design.clustered(units=np.repeat(np.arange(units), size))
    unit = design.unit
    prevalence = holders * inside
    cells = np.array([[(1 - prevalence) * right[0], (1 - prevalence) * (1 - right[0])],
                      [prevalence * (1 - right[1]), prevalence * right[1]]])  # fmt: skip
    truth = float(build(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])).value(cells.ravel()))

    def draw(rng: Rng) -> Trial:
        y = ((rng.random(units) < holders)[unit] & (rng.random(len(unit)) < inside)).astype(int)
        if len(np.unique(unit[y == 1])) < 2 or y.all():  # with one unit there is no standard error
            return draw(rng)
        own = np.stack([rates(rng, rate, icc, "Beta", units) for rate in right], axis=1)
        said = np.where(rng.random(len(unit)) < own[unit, y], y, 1 - y)
        return estimated(build(y, said), design, truth)

    return draw


def as_estimated(draw: Draw) -> Draw:
    """A draw of the first grid with its estimate made once."""

    def drawn(rng: Rng) -> Trial:
        trial = draw(rng)
        return estimated(trial.statistic, trial.design, trial.truth)

    return drawn


def _recall(y: Any, p: Any) -> Any:
    return strat.recall(y, p, positive=1)


def _f1(y: Any, p: Any) -> Any:
    return strat.f1(y, p, positive=1)


def _scenario(name: str, make: Callable[[], Draw]) -> Scenario:
    return Scenario(name, "classes", name, make, ("answer",))


SCENARIOS = [
    _scenario("recall, class in about 7 of 45 units",
              lambda: bunched(_recall, 45, 12, 0.16, 0.4, (0.95, 0.85), 0.2)),
    _scenario("recall, class in about 20 of 60 units",
              lambda: bunched(_recall, 60, 10, 0.33, 0.5, (0.95, 0.9), 0.2)),
    _scenario("balanced accuracy, prevalence 0.04 in bunches, 40 units",
              lambda: bunched(strat.balanced_accuracy, 40, 15, 0.13, 0.3, (0.97, 0.85), 0.1)),
    _scenario("balanced accuracy, prevalence 0.12, 25 units",
              lambda: bunched(strat.balanced_accuracy, 25, 20, 0.5, 0.24, (0.95, 0.9), 0.1)),
    _scenario("balanced accuracy, 300 rows, prevalence 0.08",
              lambda: as_estimated(labels("balanced accuracy", layout(1, 300, 1), (0.92, 0.08), (0.95, 0.8), 0.0))),
    _scenario("F1, prevalence 0.08, 24 units of 25",
              lambda: bunched(_f1, 24, 25, 0.5, 0.16, (0.97, 0.8), 0.1)),
    _scenario("macro F1, four classes, 15 units of 30",
              lambda: as_estimated(labels("macro F1", layout(1, 15, 30), SKEW, GOOD, 0.15))),
    _scenario("MCC, 14 units of 20",
              lambda: as_estimated(labels("MCC", layout(1, 14, 20), (0.8, 0.2), (0.9, 0.8), 0.2))),
    _scenario("kappa, 18 units of 15", lambda: as_estimated(labels("kappa", layout(1, 18, 15), SKEW, GOOD, 0.2))),
]  # fmt: skip
