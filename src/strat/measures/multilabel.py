"""Several labels per row: 0/1 matrices of rows × labels, and the measures that only they have."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError
from strat.base.notes import Note
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, numbers, same_length
from strat.measures.base import Rows, Statistic
from strat.measures.confusion_counts import Counts
from strat.measures.quotients import row_mean, share_of
from strat.measures.register import SCORES, measure

T = TypeVar("T", bound=np.generic)


@measure("hamming_loss", reads="matrix", higher_is_better=False)
@checked
def hamming_loss(truth: ArrayLike, predicted: ArrayLike) -> Statistic:
    """The share of labels that are wrong, over rows and labels.

    Examples
    --------
    >>> float(hamming_loss([[1, 0], [1, 1]], [[1, 1], [1, 1]]).value())
    0.25
    """
    t, p = _both(truth, predicted)
    return row_mean("Hamming loss", (t != p).mean(axis=1), link="logit", bounds=(0.0, 1.0))


@measure("subset_accuracy", reads="matrix")
@checked
def subset_accuracy(truth: ArrayLike, predicted: ArrayLike) -> Statistic:
    """The share of rows of which every label is right.

    Examples
    --------
    >>> float(subset_accuracy([[1, 0], [1, 1]], [[1, 1], [1, 1]]).value())
    0.5
    """
    t, p = _both(truth, predicted)
    return share_of("subset accuracy", (t == p).all(axis=1))


@measure("label_ranking_average_precision", "lrap", needs=SCORES, reads="matrix")
@checked
def label_ranking_average_precision(truth: ArrayLike, score: ArrayLike) -> Statistic:
    """For each true label the share of labels scored at least as high that are true, averaged; 1 at best.

    Examples
    --------
    >>> float(label_ranking_average_precision([[1, 0, 0]], [[0.5, 0.9, 0.1]]).value())
    0.5
    """
    t, s = _scored(truth, score)
    higher = s[:, None, :] >= s[:, :, None]
    rank = higher.sum(axis=2)
    true_rank = (higher & t[:, None, :]).sum(axis=2)
    each = np.where(t, true_rank / rank, 0.0).sum(axis=1)
    number = t.sum(axis=1)
    # A row with no true label, or with all labels true, counts as perfect, as scikit-learn has it.
    trivial = (number == 0) | (number == t.shape[1])
    rows = np.where(trivial, 1.0, each / np.maximum(number, 1))
    return row_mean("label ranking average precision", rows, link="logit", bounds=(0.0, 1.0))


@measure("label_ranking_loss", needs=SCORES, reads="matrix", higher_is_better=False)
@checked
def label_ranking_loss(truth: ArrayLike, score: ArrayLike) -> Statistic:
    """The share of (true, false) label pairs that are ordered wrongly, averaged over rows; ties are wrong.

    Examples
    --------
    >>> float(label_ranking_loss([[1, 0, 0]], [[0.5, 0.9, 0.1]]).value())
    0.5
    """
    t, s = _scored(truth, score)
    wrong = (s[:, :, None] <= s[:, None, :]) & t[:, :, None] & ~t[:, None, :]
    pairs = t.sum(axis=1) * (~t).sum(axis=1)
    rows = np.where(pairs == 0, 0.0, wrong.sum(axis=(1, 2)) / np.maximum(pairs, 1))
    return row_mean("label ranking loss", rows, link="logit", bounds=(0.0, 1.0))


@measure("coverage_error", needs=SCORES, reads="matrix", unit="labels", bounds=(0.0, np.inf), higher_is_better=False)
@checked
def coverage_error(truth: ArrayLike, score: ArrayLike) -> Statistic:
    """How far down the ranking one has to go to cover all true labels, averaged over rows.

    Examples
    --------
    >>> float(coverage_error([[1, 0, 0]], [[0.5, 0.9, 0.1]]).value())
    2.0
    """
    t, s = _scored(truth, score)
    lowest = np.where(t, s, np.inf).min(axis=1)
    return row_mean("coverage error", (s >= lowest[:, None]).sum(axis=1), bounds=(0.0, np.inf))


def multilabel_counts(truth: ArrayLike, predicted: ArrayLike) -> Counts:
    """What 0/1 matrices add up to: tp, predicted and actual of each label, and the rows."""
    t, p = _both(truth, predicted)
    k = t.shape[1]
    patterns, codes = np.unique(np.packbits(np.hstack([t, p]), axis=1), axis=0, return_inverse=True)
    bits = np.unpackbits(patterns, axis=1)[:, : 2 * k].astype(float)
    actual, given = bits[:, :k], bits[:, k:]
    table = np.hstack([actual * given, given, actual, np.ones((len(bits), 1))])

    def read(totals: Array) -> Array:
        hit, positive, true = np.split(totals[..., :-1], 3, axis=-1)
        return np.stack([hit, positive, true, np.broadcast_to(totals[..., -1:], hit.shape)], axis=-2)

    def back(slopes: Array) -> Array:
        return np.concatenate([*slopes[:3], slopes[3].sum(axis=0, keepdims=True)])

    return Counts((Rows(codes.reshape(-1), table, 3 * k + 1),), np.arange(k), read, back)


def row_measure(
    name: str,
    truth: ArrayLike,
    predicted: ArrayLike,
    top: tuple[float, ...],
    bottom: tuple[float, ...],
    *,
    zero: float,
    noted: bool,
) -> Statistic:
    """The mean over rows of a share of (tp, predicted, actual, all) within each row: average="samples"."""
    t, p = _both(truth, predicted)
    counts = np.stack([(t & p).sum(axis=1), p.sum(axis=1), t.sum(axis=1), np.full(len(t), t.shape[1])])
    above, below = np.array(top, float) @ counts, np.array(bottom, float) @ counts
    empty = below == 0
    values = np.divide(above, below, out=np.full(len(t), zero), where=~empty)
    mean = row_mean(f"samples {name}", values, link="logit", bounds=(0.0, 1.0), keep=~np.isnan(values))
    if not (noted and empty.any()):
        return mean
    first = int(np.flatnonzero(empty)[0])
    return replace(mean, notes=(Note("undefined-rows", {"n": int(empty.sum()), "first": first, "measure": name}),))


def _both(truth: ArrayLike, predicted: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    return _indicator("truth", truth), _like(truth, _indicator("predicted", predicted), "predicted")


def _scored(truth: ArrayLike, score: ArrayLike) -> tuple[NDArray[np.bool_], Array]:
    return _indicator("truth", truth), _like(truth, numbers("score", score), "score")


def _indicator(argument: str, values: ArrayLike) -> NDArray[np.bool_]:
    matrix = numbers(argument, values)
    if matrix.ndim != 2 or not np.isin(matrix, (0.0, 1.0)).all():
        raise StratError.about(
            argument, f"must be a matrix of 0 and 1, rows × labels, for multilabel measures; got shape {matrix.shape}."
        )
    return matrix.astype(bool)


def _like(truth: ArrayLike, values: NDArray[T], argument: str) -> NDArray[T]:
    wanted = np.shape(truth)
    if values.ndim == 2:
        same_length(truth=np.empty(wanted[0]), **{argument: values})
    if values.shape != wanted:
        raise StratError.about(argument, f"must have the shape of `truth`, {wanted}, got {values.shape}.")
    return values
