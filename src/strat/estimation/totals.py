"""The small matrix that every variance method sees: units × components."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes
from strat.designs import Design
from strat.measures.base import Rows, Statistic, block_totals


def totals(statistic: Statistic, weights: Array) -> Array:
    """Weighted totals over all rows: (components,)."""
    parts = [block_totals(block, weights) for block in statistic.rows]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def magnitudes(statistic: Statistic, weights: Array) -> Array:
    """Totals of the absolute components: the size that a step of differentiation should have."""
    sized = [b if b.values is None else replace(b, values=np.abs(b.values)) for b in statistic.rows]
    return np.concatenate([block_totals(block, np.abs(weights)) for block in sized])


def is_dense(statistic: Statistic, design: Design) -> bool:
    """Whether the unit totals are few enough to stand in memory as a dense matrix."""
    return not statistic.of_weights and design.lines * statistic.components <= LIMITS.dense_totals


def unit_totals(statistic: Statistic, design: Design) -> Array:
    """Weighted totals of each unit: units × components, dense."""
    parts = [_block(block, design) for block in statistic.rows]
    return parts[0] if len(parts) == 1 else np.hstack(parts)


def _block(block: Rows, design: Design) -> Array:
    unit, weights, units = design.unit, block.weighted(design.weights), design.lines
    if block.values is None:
        assert block.codes is not None
        flat = np.bincount(unit * block.lines + block.codes, weights, minlength=units * block.lines)
        return flat.reshape(units, block.lines)[:, : block.components].astype(float, copy=False)
    if block.codes is not None and block.lines * units <= LIMITS.dense_totals and block.lines < len(design):
        by_line = np.bincount(unit * block.lines + block.codes, weights, minlength=units * block.lines)
        return by_line.reshape(units, block.lines).astype(float, copy=False) @ block.values
    values = block.values if block.codes is None else block.values[block.codes]
    return sum_by_unit(values, design, weights)


def sum_by_unit(values: Array, design: Design, weights: Array) -> Array:
    """Weighted sums over the rows of each unit of values (rows × columns)."""
    if design.rows_are_units and design.in_order:
        return values * weights[:, None]
    if design.rows_are_units:
        sums = np.empty((design.lines, values.shape[1]))
        sums[design.unit] = values * weights[:, None]
        return sums
    if values.shape[1] <= LIMITS.columns_one_by_one:
        columns = [np.bincount(design.unit, weights * v, minlength=design.lines) for v in values.T]
        return np.stack(columns, axis=1).astype(float, copy=False)
    return np.asarray(_indicator(design, weights) @ values)


def sparse_unit_totals(statistic: Statistic, design: Design) -> Any:
    """Weighted totals of each unit as a sparse matrix (units × components)."""
    from scipy import sparse

    parts = [_sparse_block(block, design.unit, design.weights, design.lines) for block in statistic.rows]
    return sparse.hstack(parts, format="csr")


def sparse_row_components(statistic: Statistic) -> Any:
    """What each row adds to each component as a sparse matrix (rows × components)."""
    from scipy import sparse

    n = len(statistic)
    return sparse.hstack([_sparse_block(block, np.arange(n), np.ones(n), n) for block in statistic.rows], format="csr")


def _sparse_block(block: Rows, place: Codes, weights: Array, places: int) -> Any:
    """Weighted sums over the rows of each place: places × components."""
    from scipy import sparse

    weights = block.weighted(weights)
    codes = np.arange(len(place)) if block.codes is None else block.codes
    width = max(block.lines, len(place)) if block.codes is None else block.lines
    by_line = sparse.csr_array((weights, (place, codes)), shape=(places, width))
    if block.values is None:
        return by_line[:, : block.components]
    return by_line @ sparse.csr_array(block.values)


def _indicator(design: Design, weights: Array) -> Any:
    from scipy import sparse

    n = len(design)
    return sparse.csr_array((weights, (design.unit, np.arange(n))), shape=(design.lines, n))
