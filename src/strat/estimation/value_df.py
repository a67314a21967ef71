"""Degrees of freedom of each value, from what each unit can do to it.

A standard error rests on as many squares as there are units that can move the value, and on fewer where a few of them
can move it much more than the others: units with many rows, with large weights, or with rows of the class that the
value turns on. With z the influence of a row and s_c² its mean square over the rows of true class c, a unit with
weight n_c in m_c rows of that class is expected to move the value by

    v_i = Σ_c s_c² n_c² (1 + (m_c − 1) ρ) / m_c,

where the correlation ρ within units is the one that makes Σ v_i what the units' influences are. If these were
independent normal deviates with variances v_i, twice the squared mean of the textbook variance over its variance
(Satterthwaite) would be what `variance.working_df` gives, which is units minus strata where all v_i are equal. The
classes are those that were drawn, not what was said of them, so that rare errors do not count as rare classes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from strat.designs import Design, variance
from strat.statistics.base import Statistic
from strat.validate.columns import Array, Codes

MOST_CLASSES = 16  # beyond so many classes of the truth a value's units are counted without them


def class_codes(statistic: Statistic, view: NDArray[np.bool_] | None) -> tuple[Codes | None, int]:
    """The true class of each row (the last number: not looked at; None: one class), and the number of classes."""
    truth = statistic.truth if statistic.truth is not None and statistic.truth_classes <= MOST_CLASSES else None
    number = 1 if truth is None else statistic.truth_classes
    if view is None:
        return truth, number
    return np.where(view, 0 if truth is None else truth, number), number


def weights_by_class(statistic: Statistic, design: Design) -> Array:
    """What each line weighs in each class of each view: views × classes × lines."""
    parts = []
    for view in statistic.views:
        codes, number = class_codes(statistic, view)
        if codes is None:
            parts.append(design.by_line(design.weights)[None])
            continue
        place = design.unit * (number + 1) + codes
        sums = np.bincount(place, design.weights, minlength=design.lines * (number + 1)).astype(float, copy=False)
        parts.append(sums.reshape(design.lines, number + 1)[:, :number].T)
    return np.stack(parts)


def mean_squares(statistic: Statistic, weights: Array, influence: Array) -> Array:
    """Mean square of the rows' influences in each class, for each value: classes × values."""
    runs = np.array_split(np.arange(influence.shape[1]), len(statistic.views))
    parts = []
    for run, view in zip(runs, statistic.views, strict=True):
        codes, number = class_codes(statistic, view)
        place = np.zeros(len(weights), np.int64) if codes is None else codes
        mass = np.bincount(place, weights, minlength=number + 1)[:number]
        sums = [np.bincount(place, weights * influence[:, j] ** 2, minlength=number + 1)[:number] for j in run]
        parts.append(np.stack(sums, axis=1) / np.where(mass > 0, mass, 1.0)[:, None])
    return np.concatenate(parts, axis=1)


def rows_per_weight(design: Design) -> Array:
    """Rows of each line over their weight (0 where they weigh nothing)."""
    rows = design.by_line(np.ones(len(design)) if design.counts is None else design.counts)
    mass = variance.line_weights(design)
    return np.divide(rows, mass, out=np.zeros(design.lines), where=mass > 0)


def df_of_values(influence: Array, weights: Array, squares: Array, design: Design) -> Array:
    """Degrees of freedom of values with these influences of lines, weights of classes and mean squares in them.

    Parameters
    ----------
    influence
        Lines × values.
    weights
        What each line weighs in each class: classes × lines, or classes × lines × values where values differ in it.
    squares
        Mean square of a row's influence in each class: classes × values.
    design
        The strata of the lines.
    """
    copies = design.copies[:, None]
    each = weights.reshape(*weights.shape[:2], -1) / copies
    size = each * (rows_per_weight(design)[:, None])
    alone = np.divide(each**2, size, out=np.zeros_like(each), where=size > 0)
    scale = squares[:, None, :]
    expected = (alone * scale).sum(axis=0)
    if size.max(initial=0.0) > 1.0:
        correlated = (np.where(size > 1.0, each**2 - alone, 0.0) * scale).sum(axis=0)
        moved = ((variance.centred(influence, design)) ** 2 * copies).sum(axis=0)
        base, slope = (copies * expected).sum(axis=0), (copies * correlated).sum(axis=0)
        rho = np.clip(np.divide(moved - base, slope, out=np.zeros_like(slope), where=slope > 0), 0.0, 1.0)
        expected = expected + rho * correlated
    held = (weights.reshape(*weights.shape[:2], -1).sum(axis=0) > 0) & np.ones(expected.shape, bool)
    return variance.working_df(expected, held, design)
