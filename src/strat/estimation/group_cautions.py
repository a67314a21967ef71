"""Which of very many values carry a note: the rules of :mod:`strat.estimation.cautions`, for all values together.

The note itself, with its figures, is made for one of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array
from strat.designs.lines import DomainLines
from strat.estimation import cautions
from strat.estimation.domains import DomainSums
from strat.measures.base import Statistic

Mask = NDArray[np.bool_]


def of_values(
    statistic: Statistic,
    point: Array,
    sums: DomainSums,
    lines: DomainLines,
    deviations: Array,
    df: Array,
    nominal: Array,
) -> dict[str, Mask]:
    """By code of a note, which of the values it is on."""
    still = _unvaried(statistic, point, deviations, lines)
    found = {"heavy-units": cautions.few_for_weight(df, nominal), "no-variation": still}
    if not cautions.is_share(statistic):
        return found
    looked = np.bincount(lines.of_lines) <= LIMITS.cautious_units
    rows = sums.inside
    hits = sums.influence * lines.beside_lines(lines.sum(rows)) + lines.beside_lines(point) * rows
    rare = looked & _rare_in_few(hits, rows, lines)
    one = np.isin(point, (0.0, 1.0)) & (lines.largest(rows / lines.copies) > 1.0) & (lines.total(lines.unseen) > 0)
    calm, kinds = _how_units_differ(hits, rows, sums.per_weight, lines)
    few = looked & ~still & (lines.strata == 1)
    found |= {"few-holders": rare, "one-outcome": looked & one, "few-units": few & calm}
    kinds &= few & ~rare
    for value in np.flatnonzero(kinds):
        kinds[value] = _of_two_kinds(hits, rows, sums.per_weight, lines, int(value))
    return {**found, "two-kinds": kinds}


def _unvaried(statistic: Statistic, point: Array, deviations: Array, lines: DomainLines) -> Mask:
    (low, high) = statistic.bounds
    at_an_end = ((point == low) | (point == high)) & bool(-np.inf < low and high < np.inf)
    moved = lines.largest(np.abs(deviations)) > cautions.ROUNDING * np.abs(point)
    return np.asarray(~moved & ~at_an_end & (lines.total(lines.unseen) > 0))


def _rare_in_few(hits: Array, rows: Array, lines: DomainLines) -> Mask:
    mostly = lines.beside_lines(2.0 * lines.sum(hits) <= lines.sum(rows))
    rarer = np.where(mostly, hits, rows - hits)
    rarer = np.where(rarer > cautions.ALL_BUT * rows, rarer, 0.0)
    held = lines.sum((rarer > 0).astype(float))
    return np.asarray((held > 0) & cautions.too_few(_kish(rarer, lines), _kish(rows, lines)))


def _kish(amounts: Array, lines: DomainLines) -> Array:
    squares = lines.sum(amounts**2)
    return np.divide(lines.sum(amounts) ** 2, squares, out=np.zeros_like(squares), where=squares > 0)


def _how_units_differ(hits: Array, rows: Array, per_weight: Array, lines: DomainLines) -> tuple[Mask, Mask]:
    """Few units that hardly differ, and few units that may be of two kinds."""
    units = lines.sum(lines.copies * (rows > 0))
    each, own, drawn = rows * per_weight, hits * per_weight, lines.sum(lines.copies)
    whole = lines.sum(each)
    p = np.divide(lines.sum(own), whole, out=np.zeros_like(whole), where=whole > 0)
    off = lines.sum((own - lines.beside_lines(p) * each) ** 2 / lines.copies)
    square = off * units / np.maximum(units - 1.0, 1.0)
    some = (units > 1) & (units < cautions.KINDS_COUNT) & (drawn >= units) & (p > 0) & (p < 1)
    some &= lines.largest(each / lines.copies) > 1.0 + 1e-9
    calm = square <= cautions.CALM * whole * p * (1.0 - p)
    return some & calm & (units < cautions.SHOWS_A_TENTH), some & ~calm


def _of_two_kinds(hits: Array, rows: Array, per_weight: Array, lines: DomainLines, value: int) -> bool:
    own = lines.of_lines == value
    each = per_weight[own]
    return cautions.of_kinds(hits[own] * each, rows[own] * each, lines.copies[own]) is not None
