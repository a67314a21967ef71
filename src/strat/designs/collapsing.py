"""Strata of one unit joined with others, and by how much that makes the variance too large.

The variance of joined strata holds what these differ by: that of two strata of one unit is the squared difference of
their units, whose mean is the sum of the two variances *and* the squared difference of the two means (Cochran 1977,
5A.12). One unit a stratum does not show how much of it is which. Two things can: other strata, of several units, if
those joined vary as they do; and a difference that all pairs have in common, as where they stand along a trend.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strat.base.notes import Note
from strat.base.validate.columns import Array, Codes
from strat.designs.drawn_units import DrawnUnits
from strat.designs.layout import bessel, sums

FEW_DF = 5  # degrees of freedom within strata below which these say nothing about others
FEW_PAIRS = 5  # pairs of joined strata below which their differences show no common direction
SURE = 4.0  # squared sum of differences over the sum of their squares that chance hardly reaches: 1 on average
MOST = 100.0  # beyond, a ratio is no more than "more than"


def joined_strata(sizes: Codes, order: Codes) -> Codes:
    """The group of each stratum, so that each has at least two units: in this order, each lone one with the next.

    >>> joined_strata(np.array([1, 1, 3, 1]), np.arange(4)).tolist()
    [0, 0, 1, 1]
    """
    group = np.zeros(len(sizes), np.int64)
    now, filled = -1, 2
    for h in order:
        if filled >= 2:
            now, filled = now + 1, 0
        group[h] = now
        filled += sizes[h]
    if filled < 2:
        group[group == now] = now - 1
    first = np.unique(group, return_index=True)[1]
    return np.asarray(np.argsort(np.argsort(first))[group])


@dataclass(frozen=True)
class Excess:
    """How many times too large the variance of each value is, by other strata or by what all pairs differ by."""

    ratio: Array
    by_others: bool


def excess(influence: Array, weights: Array, design: DrawnUnits) -> Excess | None:
    """By how much joining strata made the variance of each value too large (None: nothing shows it).

    Parameters
    ----------
    influence
        Lines × values.
    weights
        What each line weighs.
    design
        One whose strata were joined.
    """
    if design.joined is None:
        return None
    before = _Before(influence, design)
    collapsed = before.collapsed
    within = before.as_the_others(weights)
    if within is not None:
        return Excess(_ratio(collapsed, within), by_others=True)
    common = before.in_common()
    return None if common is None else Excess(_ratio(collapsed, collapsed - common), by_others=False)


def _ratio(collapsed: Array, true: Array) -> Array:
    bounded = np.maximum(true, collapsed / MOST)
    return np.maximum(np.divide(collapsed, bounded, out=np.ones_like(collapsed), where=bounded > 0), 1.0)


class _Before:
    """The strata as they were before some were joined, in the order of joining."""

    def __init__(self, influence: Array, design: DrawnUnits) -> None:
        assert design.joined is not None
        self.stratum, self.copies = design.joined, design.copies
        self.sizes = np.bincount(self.stratum, self.copies)
        self.each = influence / self.copies[:, None]
        self.means = self.by_stratum(influence) / self.sizes[:, None]
        self.group = np.zeros(len(self.sizes), np.int64)
        self.group[self.stratum] = design.stratum
        self.unseen = (1.0 - design.fraction)[self.group][:, None]
        merged = np.bincount(design.stratum, self.copies)
        grand = sums(design.stratum, influence, len(merged)) / merged[:, None]
        squares = self.copies[:, None] * (self.each - grand[design.stratum]) ** 2
        ratio = (bessel(merged) * (1.0 - design.fraction))[design.stratum]
        self.collapsed: Array = (ratio[:, None] * squares).sum(axis=0)

    def by_stratum(self, of_lines: Array) -> Array:
        """Sums over the lines of each stratum."""
        return sums(self.stratum, of_lines, len(self.sizes))

    def as_the_others(self, weights: Array) -> Array | None:
        """The variance if single units vary as those of other strata do, in proportion to their weight."""
        several = self.sizes > 1
        df = float((self.sizes[several] - 1.0).sum())
        scale = (np.bincount(self.stratum, weights, minlength=len(self.sizes)) / self.sizes)[:, None] ** 2
        if df < FEW_DF or not (scale[several] > 0).all():
            return None
        squares = self.by_stratum(self.copies[:, None] * (self.each - self.means[self.stratum]) ** 2)
        pooled = (squares[several] / scale[several]).sum(axis=0) / df
        own = squares / np.maximum(self.sizes - 1.0, 1.0)[:, None]
        of_unit = np.where(several[:, None], own, pooled * scale)
        return np.asarray((self.unseen * self.sizes[:, None] * of_unit).sum(axis=0))

    def in_common(self) -> Array | None:
        """What the squared difference that all pairs of single units have in common adds to the variance.

        With d the differences of G pairs and δ their means, E((Σd)² - Σd²)/(G - 1) is Gδ² where all δ are equal, and no
        more than Σδ², the excess, on average over the signs of any others.
        """
        members = np.bincount(self.group)
        pair = (members == 2) & (np.bincount(self.group, self.sizes) == 2)
        first = np.searchsorted(np.sort(self.group), np.flatnonzero(pair))
        strata = np.argsort(self.group, kind="stable")
        one, other = strata[first], strata[np.minimum(first + 1, len(strata) - 1)]
        number = len(one)
        if number < FEW_PAIRS:
            return None
        d = (self.means[one] - self.means[other]) * np.sqrt(self.unseen[one])
        square, squares = d.sum(axis=0) ** 2, (d**2).sum(axis=0)
        if not (square > SURE * squares).any():
            return None
        return np.where(square > SURE * squares, (square - squares) / (number - 1.0), 0.0)


def note(known: Excess | None) -> Note:
    """That strata were joined, and what it does to the variance."""
    if known is None:
        return Note("collapsed-strata")
    least, most = (float(f"{ratio:.2g}") for ratio in (known.ratio.min(), known.ratio.max()))
    case = "others" if known.by_others else "pairs"
    return Note("collapsed-strata", {"case": case, "least": least, "most": most if most > least else None})
