"""Averages over classes of which many have few rows: macro F1, recall, precision, multilabel F1; rows and units."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit, logit

import strat

from ..held_out.shapes import rates
from ..trials import Array, Draw, Rng, Scenario, Trial

MEASURES: dict[str, Callable[..., Any]] = {
    "macro F1": partial(strat.f1, average="macro"),
    "macro recall": partial(strat.recall, average="macro"),
    "macro precision": partial(strat.precision, average="macro"),
    "balanced accuracy": strat.balanced_accuracy,
}


def cells(classes: int, accuracy: float, spread: float, *, zipf: float = 1.0, slope: float = 0.0) -> Array:
    """Shares of (truth, prediction): Zipf classes, whose logits of accuracy spread and fall as they get rarer."""
    source = np.random.default_rng(1_000 * classes + round(100 * accuracy))
    share = 1.0 / np.arange(1, classes + 1) ** zipf
    share /= share.sum()
    rarer = np.log(share) - np.log(share).mean()
    right = expit(logit(accuracy) + spread * source.standard_normal(classes) + slope * rarer)
    wrong = source.gamma(0.6, size=(classes, classes)) * share
    np.fill_diagonal(wrong, 0.0)
    wrong *= ((1.0 - right) / wrong.sum(axis=1))[:, None]
    return share[:, None] * (wrong + np.diag(right))


def true_value(measure: str, table: Array) -> float:
    """The measure in the population."""
    truth, said = (np.ravel(codes) for codes in np.indices(table.shape))
    return float(MEASURES[measure](truth, said).value(np.ravel(table)))


def _trial(measure: str, truth: Array, said: Array, design: Any, target: float) -> Trial:
    one = strat.estimate(MEASURES[measure](truth, said), on=design)
    limits = {"default": one.interval(), "logit": one.interval(method="logit"), "t": one.interval(method="t")}
    return Trial(None, design, target, {}, {"estimate": one, "limits": limits})


def of_rows(measure: str, rows: int, table: Array, *, weighted: bool = False) -> Draw:
    """Single rows; with weights 1 to 5 that have nothing to do with the classes, if wanted."""
    target, share = true_value(measure, table), np.ravel(table)
    weights = np.resize(np.geomspace(1.0, 5.0, 7), rows) if weighted else None
    design = strat.Design.simple_random(n=rows, weights=weights)

    def draw(rng: Rng) -> Trial:
        truth, said = np.divmod(rng.choice(len(share), rows, p=share / share.sum()), len(table))
        return _trial(measure, truth, said, design, target)

    return draw


def of_units(measure: str, units: int, size: int, table: Array, topics: float, icc: float) -> Draw:
    """Units with classes of their own (the fewer topics, the fewer classes a unit has), and accuracies of their own."""
    target, share = true_value(measure, table), table.sum(axis=1)
    right = np.diag(table) / share
    wrong = table * (1.0 - np.eye(len(table)))
    steps = np.cumsum(wrong / wrong.sum(axis=1, keepdims=True), axis=1)
    design = strat.Design.clustered(units=np.repeat(np.arange(units), size))

    def draw(rng: Rng) -> Trial:
        mix = np.cumsum(rng.dirichlet(topics * len(share) * share, size=units), axis=1)
        truth = (mix[:, None, :-1] < rng.random((units, size, 1))).sum(axis=2)
        own = np.stack([rates(rng, rate, icc, "Beta", units) for rate in right], axis=1)
        hit = rng.random(truth.shape) < np.take_along_axis(own, truth, axis=1)
        other = (steps[truth][..., :-1] < rng.random(truth.shape)[..., None]).sum(axis=2)
        return _trial(measure, truth.ravel(), np.where(hit, truth, other).ravel(), design, target)

    return draw


def multilabel(labels: int, rows: int, most: float, least: float, sensitivity: float) -> Draw:
    """Labels of which the rarest are hardly ever there, each found or given in vain for itself."""
    there = np.geomspace(most, least, labels)
    found = np.clip(sensitivity + 0.15 * np.sin(np.arange(labels)), 0.05, 0.98)
    vain = there * (1.0 - sensitivity)
    target = float(np.mean(2 * there * found / (there + there * found + (1 - there) * vain)))
    design = strat.Design.simple_random(n=rows)

    def draw(rng: Rng) -> Trial:
        truth = rng.random((rows, labels)) < there
        said = rng.random((rows, labels)) < np.where(truth, found, vain)
        return _trial("macro F1", truth.astype(int), said.astype(int), design, target)

    return draw


ROWS: dict[str, Callable[[], Draw]] = {
    "macro F1, 45 classes, 400 rows": lambda: of_rows("macro F1", 400, cells(45, 0.75, 0.7)),
    "macro F1, 18 classes, 180 rows": lambda: of_rows("macro F1", 180, cells(18, 0.8, 0.5)),
    "macro F1, 90 classes, 600 rows": lambda: of_rows("macro F1", 600, cells(90, 0.7, 0.8)),
    "macro F1, 28 classes, 500 rows, rare ones harder":
        lambda: of_rows("macro F1", 500, cells(28, 0.75, 0.4, slope=0.5)),
    "macro F1, 28 classes, 300 rows, rare ones easier":
        lambda: of_rows("macro F1", 300, cells(28, 0.7, 0.4, slope=-0.3)),
    "macro F1, 9 classes, 90 rows": lambda: of_rows("macro F1", 90, cells(9, 0.85, 0.5)),
    "macro F1, 5 classes, 4,000 rows": lambda: of_rows("macro F1", 4000, cells(5, 0.85, 0.5)),
    "macro F1, 40 classes, 500 rows, weights 1 to 5":
        lambda: of_rows("macro F1", 500, cells(40, 0.75, 0.6), weighted=True),
    "macro recall, 45 classes, 400 rows": lambda: of_rows("macro recall", 400, cells(45, 0.75, 0.7)),
    "macro recall, 70 classes, 1,400 rows": lambda: of_rows("macro recall", 1400, cells(70, 0.7, 0.6, zipf=0.7)),
    "macro precision, 22 classes, 250 rows": lambda: of_rows("macro precision", 250, cells(22, 0.8, 0.5)),
    "balanced accuracy, 30 classes, 350 rows": lambda: of_rows("balanced accuracy", 350, cells(30, 0.8, 0.6)),
}  # fmt: skip
LABELS: dict[str, Callable[[], Draw]] = {
    "multilabel macro F1, 25 labels of 6 to .3 %, 350 rows": lambda: multilabel(25, 350, 0.06, 0.003, 0.75),
    "multilabel macro F1, 60 labels of 5 to .2 %, 500 rows": lambda: multilabel(60, 500, 0.05, 0.002, 0.6),
    "multilabel macro F1, 10 labels of 20 to 2 %, 150 rows": lambda: multilabel(10, 150, 0.2, 0.02, 0.8),
}
UNITS: dict[str, Callable[[], Draw]] = {
    "macro F1, 50 units of 12, 25 classes, strong topics":
        lambda: of_units("macro F1", 50, 12, cells(25, 0.75, 0.5), 0.15, 0.1),
    "macro F1, 35 units of 10, 14 classes, topics": lambda: of_units("macro F1", 35, 10, cells(14, 0.8, 0.5), 0.5, 0.1),
    "macro F1, 22 units of 25, 8 classes, weak topics":
        lambda: of_units("macro F1", 22, 25, cells(8, 0.85, 0.4), 3, 0.1),
    "macro F1, 120 units of 5, 30 classes, topics": lambda: of_units("macro F1", 120, 5, cells(30, 0.7, 0.6), 0.3, 0.1),
    "macro recall, 50 units of 12, 25 classes, strong topics":
        lambda: of_units("macro recall", 50, 12, cells(25, 0.75, 0.5), 0.15, 0.1),
    "macro recall, 22 units of 25, 8 classes, weak topics":
        lambda: of_units("macro recall", 22, 25, cells(8, 0.85, 0.4), 3, 0.1),
}  # fmt: skip

SCENARIOS = [
    Scenario(name, heading, name, make, ("limits",))
    for heading, each in (("averages over rare classes", ROWS | LABELS), ("averages over classes, in units", UNITS))
    for name, make in each.items()
]  # fmt: skip
