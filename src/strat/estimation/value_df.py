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

from strat.base.validate.columns import Array, Codes
from strat.designs import Design, variance
from strat.designs.lines import DesignLines, Lines
from strat.measures.base import Statistic

MOST_CLASSES = 16  # beyond so many classes of the truth a value's units are counted without them


def class_codes(statistic: Statistic, view: NDArray[np.bool_] | None) -> tuple[Codes | None, int]:
    """The true class of each row (the last number: not looked at; None: one class), and the number of classes."""
    truth = statistic.truth if statistic.truth is not None and statistic.truth_classes <= MOST_CLASSES else None
    number = 1 if truth is None else statistic.truth_classes
    if view is None:
        return truth, number
    return np.where(view, 0 if truth is None else truth, number), number


def weights_by_class(statistic: Statistic, design: Design) -> Array:
    """What each line weighs in each class of each view: classes × lines × views."""
    parts: list[Array] = []
    for view in statistic.views:
        codes, number = class_codes(statistic, view)
        if codes is None:
            parts.append(design.line_weights[None])
            continue
        place = design.unit * (number + 1) + codes
        sums = np.bincount(place, design.weights, minlength=design.lines * (number + 1)).astype(float, copy=False)
        parts.append(sums.reshape(design.lines, number + 1)[:, :number].T)
    return np.stack(parts, axis=-1)


def rows_by_class(statistic: Statistic, design: Design) -> tuple[Array, DesignLines]:
    """How many rows each class has, where they differ in nothing else (`Design.equal_rows`), and a line for each."""
    assert len(statistic.views) == 1
    codes, number = class_codes(statistic, statistic.views[0])
    copies = np.array([float(len(design))]) if codes is None else np.bincount(codes, minlength=number).astype(float)
    held = copies > 0
    return np.diag(copies)[:number, held, None], design.as_lines.joined(copies[held])


def class_sizes(by_class: Array, lines: Lines) -> Array:
    """How many equal lines hold each class (classes × values); infinite where none does."""
    sizes = np.stack([variance.kish_of_values(own, lines) for own in by_class])
    return np.where(sizes > 0, sizes, np.inf)


def looked_at(inside: Array, by_class: Array, lines: Lines, *, share: bool) -> Array:
    """What each line weighs in what a value is a share of, or in the class that fewest units hold."""
    if share or len(by_class) == 1:
        return inside
    fewest = lines.beside_lines(class_sizes(by_class, lines).argmin(axis=0))
    return np.take_along_axis(by_class, np.broadcast_to(fewest, by_class.shape[1:])[None], axis=0)[0]


def sizes_and_seen(weights: Array, lines: Lines) -> tuple[Array, Array]:
    """How many equal units each value's weights come to, and what share of its population was seen."""
    size, total = variance.kish_of_values(weights / lines.copies, lines), lines.sum(weights)
    part = lines.sum(weights * lines.on_lines(1.0 - lines.unseen))
    return size, np.divide(part, total, out=np.zeros_like(total), where=total > 0)


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


def df_of_values(influence: Array, weights: Array, squares: Array, per_weight: Array, lines: Lines) -> Array:
    """Degrees of freedom of values with these influences of lines, weights of classes and mean squares in them.

    Parameters
    ----------
    influence
        Lines × values.
    weights
        What each line weighs in each class: classes × lines × values (or × 1, where values do not differ in it).
    squares
        Mean square of a row's influence in each class: classes × 1 × values.
    per_weight
        Rows of each line over their weight.
    lines
        The strata of the lines. Lines of domains have no axis of values.
    """
    each = weights / lines.copies
    size = each * per_weight
    alone = np.divide(each**2, size, out=np.zeros_like(each), where=size > 0)
    scale = lines.beside_lines(squares)
    expected = (alone * scale).sum(axis=0)
    if size.max(initial=0.0) > 1.0:
        correlated = (np.where(size > 1.0, each**2 - alone, 0.0) * scale).sum(axis=0)
        moved = lines.sum(variance.centred(influence, lines) ** 2 * lines.copies)
        base, slope = lines.sum(lines.copies * expected), lines.sum(lines.copies * correlated)
        rho = np.clip(np.divide(moved - base, slope, out=np.zeros_like(slope), where=slope > 0), 0.0, 1.0)
        expected = expected + lines.beside_lines(rho) * correlated
    held = (weights.sum(axis=0) > 0) & np.ones(expected.shape, bool)
    return variance.working_df(expected, variance.nominal_dfs(held, lines), lines)


def df_of_shares(
    point: Array, influence: Array, weights: Array, nominal: Array, per_weight: Array, lines: Lines
) -> Array:
    """Degrees of freedom of shares of what the lines weigh, at least one of the `nominal` ones."""
    size = lines.sum(weights)
    rows = np.maximum(lines.sum(weights * per_weight), 1.0)
    p = (point * rows + 0.5) / (rows + 1.0)
    square = np.divide(p * (1 - p), size**2, out=np.zeros_like(p), where=size > 0)
    flat = square[None] if influence.ndim == 1 else square[None, None]
    df = df_of_values(influence, weights[None], flat, per_weight, lines)
    return np.maximum(df, np.minimum(nominal, 1.0))
