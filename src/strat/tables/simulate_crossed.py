"""Samples like the user's own where two factors or more were drawn: new levels of each, in the same cells.

Which levels met (who read what), the true labels and the weights stay as they are; what levels do is drawn anew. A row
is right where a normal value of its own, with a part from each grouping of levels, passes the threshold of its rate, so
that the rate is kept and rows that share levels are right together as often as the variance components say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, owens_t

from strat.designs import Design
from strat.designs.crossed import Crossing, Partition
from strat.estimation.components import variance_components
from strat.statistics.means import mean
from strat.tables.simulate import (
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
from strat.validate.columns import Array, Codes, encode

CROSSED_SHAPES = ("as estimated", "at their upper quartile")
GRID = np.linspace(0.0, MAX_CORRELATION, 200)  # correlations of normal values, to be looked up


def crossed_simulator(columns: Mapping[str, Any], design: Design, shape: str) -> Simulator:
    """The simulator of labels where there are predictions or rows right and wrong, of scores otherwise."""
    if "predicted" in columns:
        return _labels(columns["truth"], columns["predicted"], design, dict(columns), shape)
    score = np.asarray(columns["score"], float)
    if has_labels(columns):
        return _labels(np.ones(len(score)), score, design, {}, shape)
    return _scores(columns, score, design, shape)


class Effects:
    """What levels add to the rows: a part of the variance for each grouping of levels, the rest for each row."""

    def __init__(self, residual: Array, design: Design, shape: str) -> None:
        layout = design.layout
        assert isinstance(layout, Crossing)
        self.rows = design.unit
        parts = variance_components(mean(residual), on=design)
        used = parts.variances if shape == CROSSED_SHAPES[0] else {k: v[1] for k, v in parts.intervals(0.5).items()}
        share = np.bincount(design.unit, design.weights, minlength=design.lines) / design.weights.sum()
        self.partitions = [p for p in layout.partitions if p.number < design.lines]
        self.covariances = [used[layout.label(p)] / _square(p, share) for p in self.partitions]
        if len(residual) > design.lines:
            self.partitions.append(Partition(frozenset(), np.arange(design.lines), design.lines))
            self.covariances.append(max(_in_cells(residual, design.unit) - sum(self.covariances), 0.0))

    def draw(self, rng: np.random.Generator, parts: Array) -> Array:
        """New effects with these parts of the variance, for each row."""
        effects = np.zeros(len(self.rows))
        for partition, part in zip(self.partitions, parts, strict=True):
            effects += np.sqrt(part) * rng.standard_normal(partition.number)[partition.group][self.rows]
        return effects

    def words(self, layout: Any, parts: Array) -> str:
        """The parts of the variance in words."""
        names = [layout.label(p) if p.factors else "cells" for p in self.partitions]
        return ", ".join(f"{name} {part:.2f}" for name, part in zip(names, parts, strict=True))


def _square(partition: Partition, share: Array) -> float:
    weights = np.bincount(partition.group, share)
    return float(weights @ weights)


def _in_cells(residual: Array, cell: Codes) -> float:
    """Mean product of two rows of one cell."""
    total, count = np.bincount(cell, residual), np.bincount(cell).astype(float)
    pairs = float((count * (count - 1)).sum())
    return float((total**2).sum() - (residual**2).sum()) / pairs if pairs > 0 else 0.0


def _normal_correlations(covariances: Array, rate: float) -> Array:
    """Correlations of two normal values that pass the threshold of a rate with these covariances, at most 0.9 in all.

    P(both) = p - 2 T(h, sqrt((1 - r) / (1 + r))) with Owen's T and p = Φ(h).
    """
    both = rate - 2.0 * owens_t(ndtri(rate), np.sqrt((1.0 - GRID) / (1.0 + GRID))) - rate**2
    correlations = np.interp(covariances, np.maximum.accumulate(both), GRID)
    return np.asarray(correlations * min(1.0, MAX_CORRELATION / max(float(correlations.sum()), 1e-300)))


def _labels(truth: NDArray[Any], predicted: NDArray[Any], design: Design, columns: Columns, shape: str) -> Simulator:
    labels = np.unique(np.concatenate([encode("truth", truth)[1], encode("predicted", predicted)[1]]))
    if "predicted" not in columns:
        labels = np.array([0.0, 1.0])
    actual, answer = np.searchsorted(labels, truth), np.searchsorted(labels, predicted)
    right = (actual == answer).astype(float)
    rate = rates(right, actual, design, len(labels))
    wrong = wrong_labels(actual, answer, design.weights, len(labels))
    effects = Effects(right - rate, design, shape)
    whole = float(design.weights @ rate / design.weights.sum())
    parts = _normal_correlations(np.array(effects.covariances), whole)
    threshold, rest, up_to = ndtri(rate), np.sqrt(1.0 - parts.sum()), np.cumsum(wrong, axis=1)

    def draw(rng: np.random.Generator) -> Drawn:
        ok = threshold + effects.draw(rng, parts) + rest * rng.standard_normal(len(rate)) > 0
        other = (rng.random(len(rate))[:, None] > up_to[actual]).sum(axis=1)
        answered = np.where(ok, actual, np.minimum(other, len(labels) - 1))
        return named(columns, labels, actual, answered), design

    words = f"right in {whole:.2%} of the rows, correlations {effects.words(design.layout, parts)} (normal scale)"
    return Simulator(draw, lambda: expected(columns, labels, actual, rate, wrong, design), words)


def _scores(columns: Mapping[str, Any], score: Array, design: Design, shape: str) -> Simulator:
    group, centre = class_means(columns.get("truth"), score)
    centre = centre + by_stratum(score - centre, design)
    rest = score - centre
    effects = Effects(rest, design, shape)
    variance = float(rest.var())
    parts = np.array(effects.covariances)
    parts = parts * min(1.0, MAX_CORRELATION * variance / max(float(parts.sum()), 1e-300))
    left = np.sqrt(1.0 - parts.sum() / variance) if variance > 0 else 0.0
    truth = columns.get("truth")
    ends = (score.min(), score.max()) if truth is None else (-np.inf, np.inf)

    def draw(rng: np.random.Generator) -> Drawn:
        noise = np.empty(len(rest))
        for g in np.unique(group):
            own = np.flatnonzero(group == g)
            noise[own] = rng.choice(rest[own], len(own))
        drawn = centre + effects.draw(rng, parts) + left * noise
        labels = {} if truth is None else {"truth": np.asarray(truth)}
        return {"positive": columns.get("positive"), **labels, "score": np.clip(drawn, *ends)}, design

    shares = effects.words(design.layout, parts / variance if variance > 0 else parts)
    return Simulator(draw, lambda: pooled(draw, len(score)), f"scores with correlations {shares}")
