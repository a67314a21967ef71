"""The area under the ROC curve near 1, where few rows are out of place: rows, ties, weights, units."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr, stdtr

import strat

from ..trials import Array, Draw, Rng, Scenario, Trial

Noise = Callable[[Rng, int], Array]


def normal(rng: Rng, n: int) -> Array:
    """Standard normal deviates."""
    return rng.standard_normal(n)


def heavy(rng: Rng, n: int) -> Array:
    """Student's deviates of 5 degrees of freedom."""
    return rng.standard_t(5, n)


def _heavy_area(shift: float) -> float:
    x = np.linspace(-60.0, 60.0, 240_001)
    density = np.gradient(stdtr(5, x), x)
    return float(np.trapezoid(density * stdtr(5, x + shift), x))


def _trial(y: Array, score: Array, design: strat.Design, target: float) -> Trial:
    one = strat.estimate(strat.auc(y, score, positive=1), on=design)
    limits = {"default": one.interval(), "logit": one.interval(method="logit"), "t": one.interval(method="t")}
    return Trial(None, design, target, {}, {"estimate": one, "limits": limits})


def of_rows(rows: int, prevalence: float, shift: float, *, sd: float = 1.0, noise: Noise = normal, lost: float = 0.0,
            cuts: tuple[float, ...] = (), weighted: bool = False) -> Draw:  # fmt: skip
    """Single rows; a share of the positive rows may score as negative ones, and scores may be cut into grades."""
    area = _heavy_area(shift) if noise is heavy else float(ndtr(shift / np.sqrt(1.0 + sd**2)))
    if cuts:
        below = np.array([ndtr(np.array([*cuts, np.inf]) - by) for by in (0.0, shift)])
        negative, positive = np.diff(below, axis=1, prepend=0.0)
        area = float(positive @ (np.cumsum(negative) - negative / 2))
    target = (1.0 - lost) * area + lost / 2.0
    weights = np.resize(np.geomspace(1.0, 4.0, 5), rows) if weighted else None
    design = strat.Design.simple_random(n=rows, weights=weights)

    def draw(rng: Rng) -> Trial:
        y = (rng.random(rows) < prevalence).astype(int)
        if not 2 <= y.sum() <= rows - 2:
            return draw(rng)
        score = np.where(y == 1, shift + sd * noise(rng, rows), noise(rng, rows))
        score = np.where((y == 1) & (rng.random(rows) < lost), noise(rng, rows), score)
        return _trial(y, np.digitize(score, cuts).astype(float) if cuts else score, design, target)

    return draw


def of_units(units: int, size: int, prevalence: float, shift: float, between: float) -> Draw:
    """Units whose scores are shifted together."""
    unit = np.repeat(np.arange(units), size)
    target = float(ndtr(shift / np.sqrt(2.0 + 2.0 * between)))  # of rows of different units
    design = strat.Design.clustered(units=unit)

    def draw(rng: Rng) -> Trial:
        y = (rng.random(len(unit)) < prevalence).astype(int)
        if not 2 <= y.sum() <= len(y) - 2:
            return draw(rng)
        score = shift * y + np.sqrt(between) * rng.standard_normal(units)[unit] + rng.standard_normal(len(y))
        return _trial(y, score, design, target)

    return draw


AREAS: dict[str, Callable[[], Draw]] = {
    "AUC, 700 rows, prevalence .06": lambda: of_rows(700, 0.06, 3.2),
    "AUC, 250 rows, prevalence .2, positives vary more": lambda: of_rows(250, 0.2, 3.8, sd=1.6),
    "AUC, 2,500 rows, prevalence .02": lambda: of_rows(2500, 0.02, 3.0),
    "AUC, 400 rows, prevalence .12, heavy tails": lambda: of_rows(400, 0.12, 3.4, noise=heavy),
    "AUC, 300 rows, prevalence .25, 3 % of positives lost": lambda: of_rows(300, 0.25, 3.3, lost=0.03),
    "AUC, 160 rows, prevalence .5": lambda: of_rows(160, 0.5, 3.0),
    "AUC, 350 rows, prevalence .88": lambda: of_rows(350, 0.88, 3.1),
    "AUC, 250 rows, five grades": lambda: of_rows(250, 0.2, 3.1, cuts=(0.0, 1.0, 2.0, 3.0)),
    "AUC, 500 rows, weights 1 to 4": lambda: of_rows(500, 0.12, 3.0, weighted=True),
    "AUC, 70 units of 8, prevalence .12": lambda: of_units(70, 8, 0.12, 3.2, 0.3),
    "AUC, 30 units of 15, prevalence .2": lambda: of_units(30, 15, 0.2, 3.2, 0.2),
    "AUC .9, 250 rows": lambda: of_rows(250, 0.2, 1.8),
    "AUC .8, 150 rows": lambda: of_rows(150, 0.3, 1.2),
}

SCENARIOS = [Scenario(name, "areas near 1", name, make, ("limits",)) for name, make in AREAS.items()]
