"""What can each unit do to a value? The derivative of a statistic, and the influence of each row and unit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array
from strat.designs import Design
from strat.estimation.totals import magnitudes, sum_by_unit, unit_totals
from strat.measures.base import Statistic

STEP = 1e-3  # relative step of the five-point rule: truncation 1e-12 and rounding 1e-13 meet here
# points and weights of the five-point rule for a first derivative
_STENCIL = ((-2.0, 1 / 12), (-1.0, -8 / 12), (1.0, 8 / 12), (2.0, -1 / 12))


def derivatives(function: Callable[[Array], Array], at: Array, directions: Array, steps: Array) -> Array:
    """Derivatives of a vectorised function at a point along directions (m × c), with a step for each: m × outputs."""
    if not len(directions):
        return np.zeros((0, np.asarray(function(at)).size))
    slopes = []
    width = max(1, LIMITS.differentiated_numbers // (4 * len(at)))
    for a in range(0, len(directions), width):
        d, h = directions[a : a + width], steps[a : a + width]
        points = np.stack([at + (s * h)[:, None] * d for s, _ in _STENCIL])
        values = np.asarray(function(points)).reshape(4, len(d), -1)
        slopes.append(np.tensordot([c for _, c in _STENCIL], values, 1) / h[:, None])
    return np.concatenate(slopes)


def gradient(statistic: Statistic, totals: Array, weights: Array) -> Array:
    """Derivatives of the statistic by its totals: components × outputs."""
    if statistic.gradient is not None:
        return statistic.gradient(totals).reshape(len(totals), -1)
    size = magnitudes(statistic, weights)
    live = np.flatnonzero(size > 0)
    slopes = np.zeros((len(totals), int(np.prod(statistic.shape))))
    slopes[live] = derivatives(statistic.function, totals, np.eye(len(totals))[live], STEP * size[live])
    return slopes


def unit_influence(statistic: Statistic, design: Design, slope: Array) -> Array:
    """What each unit's rows add to the statistic, to first order: units × outputs."""
    outputs = slope.shape[1]
    if not design.rows_are_units and statistic.components <= max(outputs, 64):
        return unit_totals(statistic, design) @ slope
    return sum_by_unit(row_influence(statistic, slope), design, design.weights)


def row_influence(statistic: Statistic, slope: Array) -> Array:
    """What a small weight on each row adds to the statistic: rows × outputs."""
    start, parts = 0, []
    for block in statistic.rows:
        parts.append(block.by_row(slope[start : start + block.components]))
        start += block.components
    return parts[0] if len(parts) == 1 else np.sum(parts, axis=0)


def distinct(statistic: Statistic, weights: Array) -> tuple[Array, Callable[[Array], Array]]:
    """What equal rows weigh together (each row where all differ), and how their influence follows from the slope."""
    block = statistic.rows[0]
    if len(statistic.rows) > 1 or block.codes is None or block.scale is not None or block.lines >= len(block):
        return weights, lambda slope: row_influence(statistic, slope)
    return np.bincount(block.codes, weights, minlength=block.lines).astype(float), block.spread


def weights_influence(statistic: Statistic, design: Design) -> Array:
    """The same for a function of row weights, by differentiating along each unit's weights: units × outputs."""
    order = np.argsort(design.unit, kind="stable")
    cuts = np.searchsorted(design.unit[order], np.arange(1, design.lines))
    influences = []
    for rows in np.split(order, cuts):
        direction = np.zeros(len(design))
        direction[rows] = design.weights[rows]
        influences.append(derivatives(statistic.function, design.weights, direction[None], np.array([STEP])))
    return np.concatenate(influences)
