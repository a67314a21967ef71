"""The small matrix that every variance method sees: units × components."""

from __future__ import annotations

from typing import Any

import numpy as np

from strat.columns import Array
from strat.designs import Design
from strat.statistics.base import Rows, Statistic, block_totals

DENSE = 1 << 26  # numbers in a dense matrix of unit totals (512 MB); beyond it the matrix is sparse
FEW = 16  # columns that are added up one by one; more go through one sparse product


def totals(statistic: Statistic, weights: Array) -> Array:
    """Weighted totals over all rows: (components,)."""
    return np.concatenate([block_totals(block, weights) for block in statistic.rows])


def magnitudes(statistic: Statistic, weights: Array) -> Array:
    """Totals of the absolute components: the size that a step of differentiation should have."""
    sized = [b if b.values is None else Rows(b.codes, np.abs(b.values), b.components) for b in statistic.rows]
    return np.concatenate([block_totals(block, np.abs(weights)) for block in sized])


def is_dense(statistic: Statistic, design: Design) -> bool:
    """Whether the unit totals are few enough to stand in memory as a dense matrix."""
    return not statistic.of_weights and design.n_units * statistic.components <= DENSE


def unit_totals(statistic: Statistic, design: Design) -> Array:
    """Weighted totals of each unit: units × components, dense."""
    parts = [_block(block, design) for block in statistic.rows]
    return parts[0] if len(parts) == 1 else np.hstack(parts)


def _block(block: Rows, design: Design) -> Array:
    unit, weights, units = design.unit, design.weights, design.n_units
    if block.values is None:
        assert block.codes is not None
        flat = np.bincount(unit * block.components + block.codes, weights, minlength=units * block.components)
        return flat.reshape(units, block.components).astype(float, copy=False)
    if block.codes is not None and block.lines * units <= DENSE and block.lines < len(design):
        by_line = np.bincount(unit * block.lines + block.codes, weights, minlength=units * block.lines)
        return by_line.reshape(units, block.lines).astype(float, copy=False) @ block.values
    values = block.values if block.codes is None else block.values[block.codes]
    return sum_by_unit(values, design, weights)


def sum_by_unit(values: Array, design: Design, weights: Array) -> Array:
    """Weighted sums over the rows of each unit of values (rows × columns)."""
    if design.rows_are_units and design.in_order:
        return values * weights[:, None]
    if design.rows_are_units:
        made = np.empty((design.n_units, values.shape[1]))
        made[design.unit] = values * weights[:, None]
        return made
    if values.shape[1] <= FEW:
        columns = [np.bincount(design.unit, weights * v, minlength=design.n_units) for v in values.T]
        return np.stack(columns, axis=1).astype(float, copy=False)
    return np.asarray(_indicator(design, weights) @ values)


def sparse_unit_totals(statistic: Statistic, design: Design) -> Any:
    """Weighted totals of each unit as a sparse matrix (units × components)."""
    from scipy import sparse

    parts = []
    for block in statistic.rows:
        indicator = _indicator(design, design.weights)
        if block.codes is not None:
            lines = sparse.csr_array(
                (np.ones(len(design)), (np.arange(len(design)), block.codes)), shape=(len(design), block.lines)
            )
            indicator = indicator @ lines
        parts.append(indicator if block.values is None else sparse.csr_array(indicator @ block.values))
    return sparse.hstack(parts, format="csr")


def _indicator(design: Design, weights: Array) -> Any:
    from scipy import sparse

    n = len(design)
    return sparse.csr_array((weights, (design.unit, np.arange(n))), shape=(design.n_units, n))
