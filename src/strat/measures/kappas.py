"""Cohen's kappa: costs of confusions, values and slopes from the totals of a confusion matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of, some
from strat.base.notes import Note
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes
from strat.measures.base import FEW_UNITS, Rows, Statistic
from strat.measures.confusion_counts import Pair, chosen, pair
from strat.measures.quotients import quotient
from strat.measures.register import measure, one_for_all


@measure(
    "kappa",
    "cohen_kappa",
    "cohens_kappa",
    unit="score",
    bounds=(-np.inf, 1.0),
    together=one_for_all,
    reference="Cohen 1960",
)
@checked
def kappa(
    truth: ArrayLike, predicted: ArrayLike, *, labels: ArrayLike | None = None, weights: str | None = None
) -> Statistic:
    """Cohen's kappa, the agreement beyond chance; nan where it is 0 / 0 (one class only).

    Parameters
    ----------
    truth, predicted
        Labels of the two raters.
    labels
        The classes that count, in order (the order matters to the weighted forms); None: all, sorted.
    weights
        None: every disagreement counts 1; "linear" or "quadratic": by the distance of the classes.

    Examples
    --------
    >>> round(float(kappa([0, 0, 1, 1], [0, 1, 1, 1]).value()), 4)
    0.5
    """
    if weights is not None:
        one_of("weights", weights, ("linear", "quadratic"))
    columns = pair(truth, predicted, labels)
    shown = chosen(columns, labels)
    inside, codes = _inside(columns, shown)
    k = len(shown)
    cost = _Cost(weights)
    if k * k <= 4096:
        rows = Rows(codes, None, k * k)
        rows = rows if inside.all() else rows.masked(inside)
        function, gradient = _of_cells(k, cost.between(*np.indices((k, k))), cost)
        blocks: tuple[Rows, ...] = (rows,)
    else:
        distinct, line = np.unique(cost.between(*np.divmod(codes, k)), return_inverse=True)
        blocks = (
            Rows(codes // k, None, k),
            Rows(codes % k, None, k),
            Rows(line.reshape(-1), distinct[:, None], 1),
        )
        blocks = blocks if inside.all() else tuple(block.masked(inside) for block in blocks)
        function, gradient = _of_margins(k, cost)
    alone = len(np.unique(codes[inside])) == 1 and bool((codes[inside][:1] % (k + 1) == 0).all())
    notes = (*columns.notes, Note("undefined-kappa")) if alone else columns.notes
    name = "kappa" if weights is None else f"kappa ({weights} weights)"
    return Statistic(
        name,
        blocks,
        function,
        gradient,
        link="correlation",
        bounds=(-1.0, 1.0),
        notes=notes,
        classes=columns.true_classes if labels is None else 0,
        higher_is_better=True,
        truth=columns.truth,
        curved_below=FEW_UNITS,
    )


def _inside(columns: Pair, shown: Codes) -> tuple[NDArray[np.bool_], Codes]:
    """Rows whose two labels are both wanted, and the cell of each in the wanted order (0 outside)."""
    position = np.full(columns.classes, -1)
    position[shown] = np.arange(len(shown))
    t, p = position[columns.truth], position[columns.predicted]
    inside = (t >= 0) & (p >= 0)
    if not inside.any():
        raise StratError.about(
            "labels",
            f"must name classes that occur, got {some(columns.labels[shown].tolist())}; "
            f"there are {some(columns.labels.tolist())}.",
        )
    return inside, np.where(inside, t * len(shown) + p, 0)


class _Cost:
    """What it costs to take one class for another: 1, or by the distance of the classes."""

    def __init__(self, weights: str | None) -> None:
        self.weights = weights

    def between(self, one: Codes, other: Codes) -> Array:
        """The cost of each pair of classes."""
        apart = np.abs(one - other).astype(float)
        return np.minimum(apart, 1.0) if self.weights is None else apart if self.weights == "linear" else apart**2

    def times(self, sums: Array) -> Array:
        """The matrix of costs times sums of each class (along the last axis), without the matrix."""
        if self.weights is None:
            return sums.sum(axis=-1, keepdims=True) - sums
        return self._from_below(sums) + self._from_below(sums[..., ::-1])[..., ::-1]

    def _from_below(self, sums: Array) -> Array:
        """The cost to each class of the classes before it, by repeated sums: nothing is subtracted."""
        linear = _before(_before(sums) + sums)
        return linear if self.weights == "linear" else _before(2 * linear + _before(sums) + sums)


def _before(sums: Array) -> Array:
    """For each class, the sum over those before it."""
    before = np.zeros_like(sums)
    np.cumsum(sums[..., :-1], axis=-1, out=before[..., 1:])
    return before


Pieces = tuple[Callable[[Array], Array], Callable[[Array], Array]]


def _kappa(observed: Array, actual: Array, predicted: Array, cost: _Cost) -> Array:
    n = actual.sum(axis=-1)
    expected = quotient((cost.times(actual) * predicted).sum(axis=-1), n, np.nan)
    return 1 - quotient(observed, expected, np.nan)


def _kappa_slopes(observed: Array, actual: Array, predicted: Array, cost: _Cost) -> tuple[Array, Array, Array]:
    """Derivatives of kappa by the observed cost, and by the actual and predicted totals; 0 where it is 0 / 0."""
    n, observed = actual.sum(axis=-1, keepdims=True), observed[..., None]
    chance = (cost.times(actual) * predicted).sum(axis=-1, keepdims=True)
    ratio = quotient(observed * n, chance, 0.0)
    by_actual = quotient(ratio * cost.times(predicted) - observed, chance, 0.0)
    return quotient(-n, chance, 0.0), by_actual, quotient(ratio * cost.times(actual), chance, 0.0)


def _of_cells(k: int, costs: Array, cost: _Cost) -> Pieces:
    """Kappa and its slopes, from the totals of all cells."""

    def function(totals: Array) -> Array:
        cells = totals.reshape(*totals.shape[:-1], k, k)
        return _kappa((cells * costs).sum(axis=(-2, -1)), cells.sum(axis=-1), cells.sum(axis=-2), cost)

    def gradient(totals: Array) -> Array:
        cells = totals.reshape(*totals.shape[:-1], k, k)
        observed, actual, predicted = _kappa_slopes(
            (cells * costs).sum(axis=(-2, -1)), cells.sum(axis=-1), cells.sum(axis=-2), cost
        )
        by_cell = observed[..., None] * costs + actual[..., None] + predicted[..., None, :]
        return by_cell.reshape(totals.shape)

    return function, gradient


def _of_margins(k: int, cost: _Cost) -> Pieces:
    """Kappa and its slopes, from the totals of the margins and of the costs."""

    def function(totals: Array) -> Array:
        return _kappa(totals[..., 2 * k], totals[..., :k], totals[..., k : 2 * k], cost)

    def gradient(totals: Array) -> Array:
        observed, actual, predicted = _kappa_slopes(totals[..., 2 * k], totals[..., :k], totals[..., k : 2 * k], cost)
        return np.concatenate([actual, predicted, observed], axis=-1)

    return function, gradient
