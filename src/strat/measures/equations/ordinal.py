"""Ordered outcomes: the proportional-odds model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from strat.base.errors import StratError, some
from strat.base.validate.argument_kinds import Columns
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, encode, labels_of
from strat.measures.base import Axis, Statistic
from strat.measures.equations.models import _terms
from strat.measures.equations.solver import Equation, as_statistic, differences


@checked
def ordinal_logit(y: ArrayLike, x: Columns, *, order: Sequence[Any] | None = None) -> Statistic:
    """The coefficients and cut points of the proportional-odds model of an ordered outcome.

    P(y ≤ k) = 1 / (1 + exp(xβ − c_k)): a positive coefficient goes with higher outcomes. `x` is a dictionary of
    columns, or a data frame. `order` lists the outcomes from the lowest to the highest (None: sorted).

    Examples
    --------
    >>> model = ordinal_logit([1, 1, 2, 3, 2, 3, 3, 1], {"b": [0, 0, 0, 0, 1, 1, 1, 1]})
    >>> model.axes[0].labels
    ('b', '1|2', '2|3')
    """
    codes, labels = encode("y", y)
    levels = labels.tolist() if order is None else labels_of("order", order).tolist()
    unknown = [label for label in labels.tolist() if label not in levels]
    if unknown or len(levels) < 2:
        raise StratError.about("order", f"must list at least two outcomes and all that occur, got {some(levels)}.")
    absent = [level for level in levels if level not in labels.tolist()]
    if absent:
        raise StratError.about("order", f"must list outcomes that occur, got {some(absent)} without a row.")
    place = np.array([levels.index(label) for label in labels.tolist()])[codes]
    design, names = _terms(x, len(place), intercept=False)
    lines, line = np.unique(np.column_stack([place, design]), axis=0, return_inverse=True)
    scores = _scores(lines[:, 0].astype(np.int64), lines[:, 1:], len(levels) - 1)
    cuts = np.cumsum(np.bincount(place))[:-1] / len(place)
    start = np.concatenate([np.zeros(design.shape[1]), scipy.special.logit(cuts)])
    axis = Axis("coefficient", (*names, *(f"{low}|{high}" for low, high in pairwise(levels))))
    one = Equation("ordinal logit", scores, lambda theta, w: differences(scores, theta, w), start)
    return as_statistic(one, line.reshape(-1), len(lines), (axis,))


def _scores(place: Any, x: Array, cuts: int) -> Any:
    """The score function of each line: derivatives of log P by the coefficients and the cut points."""
    rows, p = np.arange(len(place)), x.shape[1]

    def scores(theta: Array) -> Array:
        edges = np.concatenate([[-np.inf], theta[p:], [np.inf]])
        upper, lower = edges[place + 1] - x @ theta[:p], edges[place] - x @ theta[:p]
        high, low = scipy.special.expit(upper), scipy.special.expit(lower)
        share = np.maximum(high - low, np.finfo(float).tiny)
        top, bottom = high * scipy.special.expit(-upper) / share, low * scipy.special.expit(-lower) / share
        by_cut = np.zeros((len(place), cuts + 2))
        by_cut[rows, place + 1] += top
        by_cut[rows, place] -= bottom
        return np.hstack([-(top - bottom)[:, None] * x, by_cut[:, 1:-1]])

    return scores
