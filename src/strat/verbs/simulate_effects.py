"""Samples like the user's own where rows keep their places: what is fixed stays, and what was drawn is drawn anew.

A row is right where a normal value of its own, with a part from each group of rows that share an effect, passes the
threshold of its rate, so that the rate is kept and rows that share effects are right together as often as the data say.
A score is its expectation, the effects of its groups, and a residual of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri, owens_t

from strat.base.validate.columns import Array, Codes, encode
from strat.designs import Design
from strat.measures.clustering import mean_product
from strat.verbs.simulate import (
    MAX_CORRELATION,
    Columns,
    Drawn,
    Simulator,
    by_stratum,
    class_means,
    expected,
    has_labels,
    named,
    pooled,
    rates,
    wrong_labels,
)

GRID = np.linspace(0.0, MAX_CORRELATION, 200)  # correlations of normal values, to be looked up
STARTS = (np.arange(50) + 0.5) / 50  # places of a start within its step, all alike


@dataclass(frozen=True, eq=False)
class Effects:
    """What groups of rows share: a part of the variance for each kind of group, the rest for each row.

    Attributes
    ----------
    groups
        For each kind of group, the group of each row.
    covariances
        For each kind, what two rows of one group have in common.
    names
        What the kinds are called.
    """

    groups: tuple[Codes, ...]
    covariances: Array
    names: tuple[str, ...]

    def draw(self, rng: np.random.Generator, parts: Array) -> Array:
        """New effects with these parts of the variance, summed for each row (0 without any)."""
        total: Array = np.zeros(1)
        for group, part in zip(self.groups, parts, strict=True):
            total = total + np.sqrt(part) * rng.standard_normal(int(group.max()) + 1)[group]
        return total

    def words(self, parts: Array) -> str:
        """The parts of the variance in words."""
        each = ", ".join(f"{name} {part:.2f}" for name, part in zip(self.names, parts, strict=True))
        return each or "0"


@dataclass(frozen=True, eq=False)
class Model:
    """How new samples come about.

    Attributes
    ----------
    effects
        What is drawn anew for groups of rows.
    shift
        From the place of the start within its step (0 to 1) to what is added to each row's rate or mean.
    design
        From the place of the start to the design of the sample.
    inflation
        What residuals of scores are multiplied by, to have back what the fit took of them.
    """

    effects: Effects
    shift: Callable[[float], Array]
    design: Callable[[float], Design]
    inflation: float = 1.0


def cell_effects(residual: Array, design: Design) -> Effects:
    """What rows of one line share, where lines have several rows."""
    if len(residual) == design.lines:
        return Effects((), np.zeros(0), ())
    return Effects((design.unit,), np.array([max(mean_product(residual, design.unit), 0.0)]), ("cells",))


def normal_correlations(covariances: Array, rate: float) -> Array:
    """Correlations of two normal values that pass the threshold of a rate with these covariances, at most 0.9 in all.

    P(both) = p - 2 T(h, sqrt((1 - r) / (1 + r))) with Owen's T and p = Φ(h).
    """
    both = rate - 2.0 * owens_t(ndtri(rate), np.sqrt((1.0 - GRID) / (1.0 + GRID))) - rate**2
    correlations = np.interp(covariances, np.maximum.accumulate(both), GRID)
    return np.asarray(correlations * min(1.0, MAX_CORRELATION / max(float(correlations.sum()), 1e-300)))


def simulated(columns: Mapping[str, Any], design: Design, build: Callable[[Array], Model]) -> Simulator:
    """The simulator of labels where there are predictions or rows right and wrong, of scores otherwise.

    `build` makes the model from what rates or means of classes leave of each row.
    """
    if has_labels(columns):
        return _labels(LabelRates(columns, design), design, build)
    return _scores(columns, np.asarray(columns["score"], float), design, build)


class LabelRates:
    """The classes of rows, and how often rows of each are right."""

    def __init__(self, columns: Mapping[str, Any], design: Design) -> None:
        self.columns: Columns = dict(columns) if "predicted" in columns else {}
        score = None if self.columns else np.asarray(columns["score"], float)
        truth, predicted = (columns["truth"], columns["predicted"]) if score is None else (np.ones(len(score)), score)
        seen = np.concatenate([encode("truth", truth)[1], encode("predicted", predicted)[1]])
        self.labels = np.unique(seen) if score is None else np.array([0.0, 1.0])
        self.actual, answer = np.searchsorted(self.labels, truth), np.searchsorted(self.labels, predicted)
        self.right = (self.actual == answer).astype(float)
        self.rate = rates(self.right, self.actual, design, len(self.labels))
        self.wrong = wrong_labels(self.actual, answer, design.weights, len(self.labels))
        self.up_to = np.cumsum(self.wrong, axis=1)

    def within(self, rate: Array) -> Array:
        """Rates that are neither 0 nor 1."""
        return np.clip(rate, 0.2 / len(self.rate), 1 - 0.2 / len(self.rate))

    def answered(self, rng: np.random.Generator, ok: Any, actual: Codes) -> Codes:
        """The label that each row of these classes gets: its own where it is right."""
        other = (rng.random(len(actual))[:, None] > self.up_to[actual]).sum(axis=1)
        return np.asarray(np.where(ok, actual, np.minimum(other, len(self.labels) - 1)))


def _labels(known: LabelRates, design: Design, build: Callable[[Array], Model]) -> Simulator:
    model = build(known.right - known.rate)
    usual = np.mean([known.within(known.rate + model.shift(u)) for u in STARTS], axis=0)
    whole = float(design.weights @ usual / design.weights.sum())
    parts = normal_correlations(model.effects.covariances, whole)
    rest = np.sqrt(1.0 - parts.sum())

    def draw(rng: np.random.Generator) -> Drawn:
        u = rng.random()
        threshold = ndtri(known.within(known.rate + model.shift(u)))
        ok = threshold + model.effects.draw(rng, parts) + rest * rng.standard_normal(len(usual)) > 0
        answered = known.answered(rng, ok, known.actual)
        return named(known.columns, known.labels, known.actual, answered), model.design(u)

    words = f"right in {whole:.2%} of the rows, correlations {model.effects.words(parts)} (normal scale)"
    true = (known.columns, known.labels, known.actual, usual, known.wrong, design)
    return Simulator(draw, lambda: expected(*true), words)


def _scores(columns: Mapping[str, Any], score: Array, design: Design, build: Callable[[Array], Model]) -> Simulator:
    truth = columns.get("truth")
    group, centre = class_means(truth, score)
    centre = centre + by_stratum(score - centre, design)
    model = build(score - centre)
    rest = model.inflation * (score - centre - np.mean([model.shift(u) for u in STARTS], axis=0))
    variance = float(rest.var())
    parts = model.effects.covariances
    parts = parts * min(1.0, MAX_CORRELATION * variance / max(float(parts.sum()), 1e-300))
    left = np.sqrt(1.0 - parts.sum() / variance) if variance > 0 else 0.0
    ends = (score.min(), score.max()) if truth is None else (-np.inf, np.inf)

    def draw(rng: np.random.Generator) -> Drawn:
        u, noise = rng.random(), np.empty(len(rest))
        for g in np.unique(group):
            own = np.flatnonzero(group == g)
            noise[own] = rng.choice(rest[own], len(own))
        drawn = centre + model.shift(u) + model.effects.draw(rng, parts) + left * noise
        labels = {} if truth is None else {"truth": np.asarray(truth)}
        return {"positive": columns.get("positive"), **labels, "score": np.clip(drawn, *ends)}, model.design(u)

    shares = model.effects.words(parts / variance if variance > 0 else parts)
    return Simulator(draw, lambda: pooled(draw, len(score), design), f"scores with correlations {shares}")
