"""Confusion matrices: what the rows of a classifier add up to, and the matrix as an object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of, plain, some
from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, encode, is_number, same_length, union
from strat.measures.base import Axis, Rows, Statistic
from strat.measures.label_notes import label_notes
from strat.measures.quotients import quotient

MOST_DECISIONS = 10  # more distinct fractions than this, beside a truth of two classes, are scores


@dataclass(frozen=True, eq=False)
class Pair:
    """True and predicted classes as codes of one list of labels, with notes on these."""

    truth: Codes
    predicted: Codes
    labels: NDArray[Any]
    notes: tuple[Note, ...] = ()

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.labels)

    @property
    def true_classes(self) -> int:
        """Number of classes that occur in the truth."""
        return int((np.bincount(self.truth, minlength=1) > 0).sum())

    @property
    def cells(self) -> Codes:
        """The cell of the K × K matrix that each row falls into."""
        return self.truth * self.classes + self.predicted


def pair(truth: ArrayLike, predicted: ArrayLike, labels: ArrayLike | None = None) -> Pair:
    """Both columns coded by the sorted union of their labels and of `labels`."""
    t, truth_labels = encode("truth", truth)
    p, predicted_labels = encode("predicted", predicted)
    same_length(truth=t, predicted=p)
    parts = [truth_labels, predicted_labels]
    if labels is not None:
        parts.append(_given_labels(labels))
    for name, part in zip(("predicted", "labels"), parts[1:], strict=False):
        if family(part) != family(truth_labels):
            raise StratError.about(
                name,
                f"must have labels of the same type as `truth`, got {plain(part[0])!r} beside "
                f"{plain(truth_labels[0])!r}; make them all text.",
            )
    refuse_scores(predicted_labels, truth_labels)
    every = union(*parts)
    notes = label_notes(truth_labels, predicted_labels)
    return Pair(np.searchsorted(every, truth_labels)[t], np.searchsorted(every, predicted_labels)[p], every, notes)


def refuse_scores(predicted: NDArray[Any], truth: NDArray[Any] | None = None) -> None:
    """Refuse predictions of two classes that are many different fractions, and a truth that is, where they have two."""
    swapped = "; are `truth` and `predicted` swapped?"
    scores = ", which look like scores; take predicted = score >= threshold, or a measure of scores such as auc."
    for name, labels, others, hint in (("truth", truth, predicted, swapped), ("predicted", predicted, truth, scores)):
        if labels is None or (others is not None and len(others) > 2):
            continue
        if labels.dtype.kind != "f" or len(labels) <= MOST_DECISIONS or (labels % 1 == 0).all():
            continue
        such = f"{len(labels):,} different numbers, such as {plain(labels[0])!r}"
        raise StratError.about(name, f"must be labels, got {such}{hint}")


def _given_labels(labels: ArrayLike) -> NDArray[Any]:
    codes, distinct = encode("labels", labels)
    if len(distinct) != len(codes):
        raise StratError.about("labels", f"must be distinct, got {some(np.asarray(labels).tolist())}.")
    return distinct


def family(labels: NDArray[Any]) -> str:
    """Which type labels are of, where only labels of one can be equal."""
    if is_number(labels):
        return "number"
    kind = labels.dtype.kind
    return type(labels[0]).__name__ if kind == "O" else kind


@dataclass(frozen=True, eq=False)
class Counts:
    """What the rows add up to for measures of each class, and how to read it.

    Attributes
    ----------
    rows
        The blocks of a statistic.
    labels
        The classes.
    read
        From totals to (true positives, predicted, actual, all) of each class: ``(…, c) -> (…, 4, K)``.
    back
        From derivatives by those to derivatives by the components: ``(4, K, …) -> (c, …)``.
    sparse_back
        From derivatives of the shares of some classes, each by its own three counts, to a sparse matrix of derivatives
        by the components: ``(3, m), (m,) -> (c, m)``.
    classes
        How many classes the truth has.
    truth
        The true class of each row (None: rows of several labels).
    """

    rows: tuple[Rows, ...]
    labels: NDArray[Any]
    read: Callable[[Array], Array]
    back: Callable[[Array], Array]
    sparse_back: Callable[[Array, Codes], Any] | None = None
    classes: int = 0
    truth: Codes | None = None


def counts_of(columns: Pair) -> Counts:
    """The smallest components from which every class's counts follow."""
    k = columns.classes
    if k <= LIMITS.confusion_classes:
        rows: tuple[Rows, ...] = (Rows(columns.cells, None, k * k),)
        return Counts(
            rows, columns.labels, _read_cells, _back_to_cells, classes=columns.true_classes, truth=columns.truth
        )
    codes, seen = encode("truth", columns.cells)
    if len(seen) * 3 * k <= LIMITS.confusion_numbers:
        truth, predicted = np.divmod(seen, k)
        one = np.eye(k)
        table = np.hstack([one[truth], one[predicted], one[truth] * (truth == predicted)[:, None]])
        rows = (Rows(codes, table, 3 * k),)
    else:
        hit = np.where(columns.truth == columns.predicted, columns.truth, k)
        rows = (
            Rows(columns.truth, None, k),
            Rows(columns.predicted, None, k),
            Rows(hit, None, k),
        )
    return Counts(
        rows,
        columns.labels,
        _read_margins,
        _back_to_margins,
        _sparse_back_to_margins(k),
        columns.true_classes,
        columns.truth,
    )


def _read_cells(totals: Array) -> Array:
    k = round(totals.shape[-1] ** 0.5)
    cells = totals.reshape(*totals.shape[:-1], k, k)
    actual = cells.sum(axis=-1)
    every = np.broadcast_to(actual.sum(axis=-1, keepdims=True), actual.shape)
    return np.stack([np.diagonal(cells, axis1=-2, axis2=-1), cells.sum(axis=-2), actual, every], axis=-2)


def _back_to_cells(slopes: Array) -> Array:
    hit, predicted, actual, every = slopes
    k = len(hit)
    cells: Array = actual[:, None] + predicted[None, :] + every.sum(axis=0)
    cells[np.arange(k), np.arange(k)] += hit
    return cells.reshape(k * k, *slopes.shape[2:])


def _read_margins(totals: Array) -> Array:
    actual, predicted, hit = np.split(totals, 3, axis=-1)
    every = np.broadcast_to(actual.sum(axis=-1, keepdims=True), actual.shape)
    return np.stack([hit, predicted, actual, every], axis=-2)


def _back_to_margins(slopes: Array) -> Array:
    hit, predicted, actual, every = slopes
    return np.concatenate([actual + every.sum(axis=0), predicted, hit])


def _sparse_back_to_margins(k: int) -> Callable[[Array, Codes], Any]:
    def back(slopes: Array, shown: Codes) -> Any:
        from scipy import sparse

        hit, predicted, actual = slopes
        component = np.concatenate([shown, k + shown, 2 * k + shown])
        value = np.tile(np.arange(len(shown)), 3)
        derivatives = np.concatenate([actual, predicted, hit])
        return sparse.csr_array((derivatives, (component, value)), shape=(3 * k, len(shown)))

    return back


@checked
def confusion(
    truth: ArrayLike, predicted: ArrayLike, *, labels: ArrayLike | None = None, normalize: str | None = None
) -> Statistic:
    """The confusion matrix as a statistic: weighted counts or shares, truth in rows, predictions in columns.

    Parameters
    ----------
    truth, predicted
        Labels.
    labels
        The classes to show and their order (rows outside are left out, as scikit-learn does); None: all, sorted.
    normalize
        None for totals, "true" for shares of each true class, "pred" of each predicted class, "all" of all rows.

    Examples
    --------
    >>> print(confusion([0, 0, 1, 1], [0, 1, 1, 1]).value())
    [[1. 1.]
     [0. 2.]]
    >>> print(confusion([0, 0, 1, 1], [0, 1, 1, 1], normalize="true").value())
    [[0.5 0.5]
     [0.  1. ]]
    """
    if normalize is not None:
        one_of("normalize", normalize, ("true", "pred", "all"))
    columns = pair(truth, predicted, labels)
    shown = chosen(columns, labels)
    k = columns.classes
    over = {"true": (-1,), "pred": (-2,), "all": (-2, -1)}.get(normalize or "")

    def function(totals: Array) -> Array:
        cells = totals.reshape(*totals.shape[:-1], k, k)[..., shown[:, None], shown]
        return cells if over is None else shares(cells, over)

    def gradient(totals: Array) -> Array:
        m = len(shown)
        inside = (shown[:, None] * k + shown).ravel()
        slopes = np.zeros((k * k, m * m))
        slopes[inside] = np.eye(m * m)
        if over is not None:
            cells = totals.reshape(k, k)[shown[:, None], shown]
            sums = np.broadcast_to(cells.sum(axis=over, keepdims=True), (m, m)).ravel()
            group = np.broadcast_to(np.arange(m * m).reshape(m, m).min(axis=over, keepdims=True), (m, m)).ravel()
            slopes[inside] -= shares(cells, over).ravel() * (group[:, None] == group)
            slopes = np.divide(slopes, sums, out=np.zeros_like(slopes), where=sums != 0)
        return slopes.reshape(k * k, m, m)

    names = tuple(plain(label) for label in columns.labels[shown])
    return Statistic(
        "confusion matrix",
        (Rows(columns.cells, None, k * k),),
        function,
        gradient,
        axes=(Axis("truth", names), Axis("predicted", names)),
        link="identity" if over is None else "logit",
        bounds=(0.0, np.inf if over is None else 1.0),
        proportion=over is not None,
        base=None if over is None else lambda totals: _bases(totals, k, shown, over),
        truth=columns.truth,
        notes=columns.notes,
    )


def _bases(totals: Array, k: int, shown: Codes, over: tuple[int, ...]) -> Array:
    cells = totals.reshape(*totals.shape[:-1], k, k)[..., shown[:, None], shown]
    return np.broadcast_to(cells.sum(axis=over, keepdims=True), cells.shape)


def shares(cells: Array, over: tuple[int, ...]) -> Array:
    """Cells over their sums along `over`, 0 where the sum is 0."""
    sums = cells.sum(axis=over, keepdims=True)
    return quotient(cells, sums, 0.0)


def chosen(columns: Pair, labels: ArrayLike | None) -> Codes:
    """Positions of the wanted labels among all, in the wanted order."""
    if labels is None:
        return np.arange(columns.classes)
    return np.searchsorted(columns.labels, np.asarray(labels)).astype(np.int64)
