"""The values of a statistic in every replicate of a design, from totals of units, of kinds of rows, or in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.validate.columns import Array
from strat.designs import Design
from strat.estimation.totals import is_dense, sparse_unit_totals, unit_totals
from strat.measures.base import Statistic
from strat.replication import Replicates, Resamples, blocks

ROUNDING = 1e-14  # what sums and differences may leave of the size of what was added up


def replicated(statistic: Statistic, replicates: Replicates, point: Array) -> Array:
    """Replicate values minus the value: replicates × shape."""
    design, operator = replicates.design, replicates.operator
    with np.errstate(divide="ignore", invalid="ignore"):
        if isinstance(operator, Resamples) and lumpable(statistic, design):
            values = statistic.function(_lump_totals(statistic, design, operator))
        elif is_dense(statistic, design) and replicates.number * statistic.components <= 16 * LIMITS.kept_spread:
            per_unit = unit_totals(statistic, design)
            values = statistic.function(_rounded(operator.totals(per_unit), per_unit))
        else:
            values = _blockwise(statistic, replicates)
    replicated = np.asarray(values, float)
    spread = replicated - replicates.centre(replicated, point)
    if not np.isfinite(spread).all():
        bad = int((~np.isfinite(spread.reshape(len(spread), -1)).all(axis=1)).sum())
        raise StratError(
            f"`{statistic.name}` must be defined in every replicate, got {bad} of {len(spread)} where it is not; "
            "use fay(design, rho=0.5), or the closed form (on=design), which keep every unit in."
        )
    return spread


def _rounded(sums: Array, per_unit: Array) -> Array:
    """Replicate totals, with 0 where only rounding is left of what was taken out: 0 / 0 must not look like a number."""
    tiny = ROUNDING * np.abs(per_unit).sum(axis=0)
    sums[np.abs(sums) <= tiny] = 0.0
    return sums


def _blockwise(statistic: Statistic, replicates: Replicates) -> Array:
    """Replicates a few at a time, for very many components and for functions of row weights."""
    design = replicates.design
    per_unit: Any = None if statistic.of_weights else sparse_unit_totals(statistic, design)
    parts = []
    for a, b in blocks(replicates.number, max(design.lines, statistic.components)):
        factors = replicates.factors(a, b)
        sums = factors[:, design.unit] * design.weights if per_unit is None else factors @ per_unit
        parts.append(statistic.function(sums))
    return np.concatenate(parts)


def lumpable(statistic: Statistic, design: Design) -> bool:
    """Whether the units are single rows of few kinds, so that a bootstrap can draw kinds instead of rows."""
    coded = len(statistic.rows) == 1 and statistic.rows[0].codes is not None and statistic.rows[0].scale is None
    if not coded or not design.rows_are_units or (design.weights != design.weights[0]).any():
        return False
    return statistic.rows[0].lines * design.n_strata < len(design) // 4


def _lump_totals(statistic: Statistic, design: Design, operator: Resamples) -> Array:
    block = statistic.rows[0]
    assert block.codes is not None
    key = design.stratum[design.unit] * block.lines + block.codes
    kinds, counts = np.unique(key, return_counts=True)
    drawn = operator.lumps(kinds // block.lines, counts) * design.weights[0]
    line = kinds % block.lines
    if block.values is not None:
        return drawn @ block.values[line]
    totals = np.zeros((len(drawn), block.lines))
    np.add.at(totals.T, line, drawn.T)
    return totals[:, : block.components]
