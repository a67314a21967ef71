"""Samples like the user's own of fixed kinds within units, and along an order.

Blocks: these units under these kinds, on other occasions; what units and kinds are stays, as far as it stands out of
the noise. Ordered: another start within the step, along a drift of the kind named; populations are taken as limitless.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from strat.base.validate.columns import Array
from strat.designs import Design
from strat.designs.blocks import Blocks
from strat.designs.ordered import Ordered, end_factors
from strat.verbs.simulate import Simulator
from strat.verbs.simulate_effects import Model, cell_effects, simulated

BLOCK_SHAPES = ("other occasions of the same units and kinds",)
ORDERED_SHAPES = ("a smooth curve", "a straight line", "no drift")
WINDOW = 0.1  # part of the units of a stratum whose mean a smooth curve is made of


def blocks_simulator(columns: Mapping[str, Any], design: Design, shape: str) -> Simulator:
    """New occasions of the same cells."""

    def model(residual: Array) -> Model:
        by_cell, inflation = _additive(residual, design)
        fit = by_cell[design.unit]
        return Model(cell_effects(residual - fit, design), lambda u: fit, lambda u: design, inflation)

    return simulated(columns, design, model)


def _additive(residual: Array, design: Design) -> tuple[Array, float]:
    """What units and kinds add to each cell, less what noise alone would show, and the noise over the rest."""
    layout, weights = design.layout, design.line_weights
    assert isinstance(layout, Blocks)
    cells = np.bincount(design.unit, residual * design.weights) / weights
    scale = np.sqrt(len(cells) / layout.nominal_df)
    rest = layout.deviations((cells * weights)[:, None], weights)[:, 0] / weights / scale
    noise = float((rest**2).sum()) / layout.nominal_df
    fit = cells - rest
    of_kind = (np.bincount(layout.kind, fit * weights) / np.bincount(layout.kind, weights))[layout.kind]
    parts = zip((fit - of_kind, of_kind), layout.sizes, strict=True)
    kept = np.asarray(sum(part * _reliability(part, number, noise) for part, number in parts))
    left = float(((cells - kept) ** 2).mean())
    return kept, np.sqrt(noise / left) if left > 0 else 1.0


def _reliability(part: Array, number: int, noise: float) -> float:
    square = float((part**2).sum()) / (number - 1)
    return max(1.0 - noise / square, 0.0) if square > 0 else 0.0


def ordered_simulator(columns: Mapping[str, Any], design: Design, shape: str, *, corrected: bool = False) -> Simulator:
    """New starts along the order; `corrected`: the start is known, and the ends are weighted for it."""
    layout = design.layout
    assert isinstance(layout, Ordered)
    limitless = replace(layout, fraction=np.zeros(len(layout.fraction)))
    base = replace(design, layout=limitless)

    def drawn(u: float) -> Design:
        if not corrected:
            return base
        start = 0.5 + u * design.population / layout.sizes
        factors = end_factors(limitless, design.line_weights, design.population, start)
        return replace(base, weights=design.weights * factors[design.unit], layout=replace(limitless, ends=factors))

    def model(residual: Array) -> Model:
        drift = _drift(residual, design, layout, shape)
        return Model(cell_effects(residual - drift(0.5), design), drift, drawn)

    return simulated(columns, base, model)


def _drift(residual: Array, design: Design, layout: Ordered, shape: str) -> Callable[[float], Array]:
    """From the place of the start within its step to the drift of each row."""
    weights = design.line_weights
    values = np.bincount(design.unit, residual * design.weights) / weights
    ends = np.cumsum(layout.sizes)
    pieces = [_curve(values[end - n : end], shape) for end, n in zip(ends, layout.sizes, strict=True)]
    return lambda u: np.concatenate([piece(u) for piece in pieces])[design.unit]


def _curve(values: Array, shape: str) -> Callable[[float], Array]:
    """The drift of one stratum's units at another start: a moving mean, a line by least squares, or none."""
    n = len(values)
    place = np.arange(n)
    if shape == "no drift":
        return lambda u: np.zeros(n)
    if shape == "a straight line":
        middle = place - (n - 1) / 2.0
        slope = float(middle @ values / (middle @ middle))
        return lambda u: np.asarray(slope * (middle + u - 0.5), float)
    width = max(3, int(WINDOW * n) | 1)
    summed = np.concatenate([[0.0], np.cumsum(values)])
    low, high = np.maximum(place - width // 2, 0), np.minimum(place + width // 2 + 1, n)
    smooth = (summed[high] - summed[low]) / (high - low)
    return lambda u: np.asarray(np.interp(place + u - 0.5, place, smooth), float)
