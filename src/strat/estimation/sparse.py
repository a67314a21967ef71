"""The closed form for very many values of which each concerns a few units: the shares of thousands of classes.

What a unit without a class does to that class's share is exactly zero, so only what is not zero is kept. The numbers
are those of :func:`strat.designs.variance.deviations`, whose lines × values would not fit.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from strat.base.validate.columns import Array
from strat.designs import Design
from strat.designs.layout import bessel
from strat.estimation.inference import rows_of
from strat.estimation.totals import sparse_row_components, sparse_unit_totals
from strat.measures.base import Statistic


class SparseSums:
    """Sums over the rows of a design of which most are zero."""

    repeats = None
    bases = None

    def __init__(self, statistic: Statistic, design: Design, totals: Array) -> None:
        assert statistic.sparse_gradient is not None
        self.statistic, self.design = statistic, design
        self.slope = statistic.sparse_gradient(totals)

    @property
    def influence(self) -> Array:
        """What each line adds to each value, with its zeros."""
        return np.asarray((sparse_unit_totals(self.statistic, self.design) @ self.slope).todense())

    @cached_property
    def by_class(self) -> Array:
        """What each line weighs in each view, as one class: the values are too many for more."""
        masks = (1.0 if view is None else view for view in self.statistic.views)
        return np.stack([self.design.by_line(self.design.weights * mask) for mask in masks], axis=-1)[None]

    @cached_property
    def variances(self) -> Array:
        """The variance of each value."""
        return variances(sparse_unit_totals(self.statistic, self.design) @ self.slope, self.design)

    def srs_variances(self) -> Array:
        """The variances that a simple random sample of as many rows would have."""
        statistic, design = self.statistic, self.design
        w = design.weights if statistic.domain is None else design.weights * statistic.domain
        each = (sparse_row_components(statistic) @ self.slope).tocoo()
        row, column, value = each.row, each.col, each.data
        number = each.shape[1]
        mean = np.bincount(column, w[row] * value, minlength=number) / w.sum()
        held = np.bincount(column, w[row], minlength=number)
        squares = np.bincount(column, w[row] * (value - mean[column]) ** 2, minlength=number)
        rows = rows_of(design.counts, statistic.domain, len(design))
        return np.asarray(w.sum() * (squares + (w.sum() - held) * mean**2) / max(rows - 1, 1))


def fits(design: Design) -> bool:
    """Whether the variance of this design is a sum over strata, so that zeros need not be written out."""
    centred = design.lone == "centre" and bool(((design.sizes == 1) & (design.fraction < 1)).any())
    repeated = design.item is not None and bool((design.fraction > 0).any())
    return design.kind != "systematic" and not centred and not repeated


def variances(influence: Any, design: Design) -> Array:
    """The textbook variance of each column of a sparse matrix of influences (lines × values)."""
    entries = influence.tocoo()
    line, column, number = entries.row, entries.col, influence.shape[1]
    copies, sizes = design.copies[line], design.sizes
    keys, cell = np.unique(design.stratum[line] * number + column, return_inverse=True)
    stratum, value = keys // number, keys % number
    mean = np.bincount(cell, entries.data, minlength=len(keys)) / sizes[stratum]
    squares = np.bincount(cell, copies * (entries.data / copies - mean[cell]) ** 2, minlength=len(keys))
    squares += (sizes[stratum] - np.bincount(cell, copies, minlength=len(keys))) * mean**2
    scale = bessel(sizes) * (1.0 - design.fraction)
    total = np.bincount(value, squares * scale[stratum], minlength=number).astype(float, copy=False)
    alone = int(((sizes == 1) & (design.fraction < 1)).sum())
    return total * design.n_strata / (design.n_strata - alone) if alone and design.lone == "average" else total
