"""Measures of predicted probabilities: log loss, Brier score, calibration, top-k accuracy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of, plain, some
from strat.base.notes import Note
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, encode, labels_of, numbers, same_length
from strat.measures.base import Axis, Rows, Statistic
from strat.measures.positive import positives, refused
from strat.measures.quotients import quotient, row_mean, share_of
from strat.measures.register import SCORES, measure


@measure(
    "log_loss",
    "cross_entropy",
    "nll",
    needs=SCORES,
    unit="nats",
    bounds=(0.0, np.inf),
    higher_is_better=False,
    mixes_classes=True,
)
@checked
def log_loss(
    truth: ArrayLike, probability: ArrayLike, *, labels: ArrayLike | None = None, positive: object = None
) -> Statistic:
    """The mean of −log(probability of the true class), with probabilities clipped away from 0 and 1 as in scikit-learn.

    Parameters
    ----------
    truth
        Labels.
    probability
        Of the positive class (one number per row), or rows × classes in sorted order of the labels.
    labels
        The classes that the columns stand for; None: those in `truth`.
    positive
        The class whose probability is given, for one number per row; None: 1 if the labels are 0 and 1 or −1 and 1,
        True if they are False and True; any others must be named.

    Examples
    --------
    >>> round(float(log_loss([0, 1], [0.5, 0.5]).value()), 4)
    0.6931
    """
    codes, p, label = _probabilities(truth, probability, labels, positive)
    eps = np.finfo(float).eps
    own = np.clip(p[np.arange(len(codes)), codes], eps, 1 - eps)
    return replace(
        row_mean("log loss", -np.log(own), link="log", bounds=(0.0, np.inf)), positive=label, higher_is_better=False
    )


@measure(
    "brier",
    "brier_score",
    "brier_score_loss",
    needs=SCORES,
    unit="squared error",
    bounds=(0.0, 2.0),
    higher_is_better=False,
    mixes_classes=True,
    reference="Brier 1950",
)
@checked
def brier(
    truth: ArrayLike,
    probability: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    positive: object = None,
    scale_by_half: bool | str = "auto",
) -> Statistic:
    """The mean squared distance of the probabilities from what happened.

    Parameters
    ----------
    truth, probability, labels, positive
        As for `log_loss`.
    scale_by_half
        Whether to halve the sum over classes, so that it lies in [0, 1]; "auto": for two classes.

    Examples
    --------
    >>> float(brier([0, 1], [0.5, 1.0]).value())
    0.125
    """
    codes, p, label = _probabilities(truth, probability, labels, positive)
    half = p.shape[1] < 3 if scale_by_half == "auto" else bool(scale_by_half)
    off = p.copy()
    off[np.arange(len(codes)), codes] -= 1.0
    rows = (off**2).sum(axis=1) * (0.5 if half else 1.0)
    link, bounds = ("logit", (0.0, 1.0)) if half else ("identity", (0.0, 2.0))
    return replace(row_mean("Brier score", rows, link=link, bounds=bounds), positive=label, higher_is_better=False)


@measure("top_k_accuracy", needs=SCORES, reads="matrix", at="k", mixes_classes=True)
@checked
def top_k_accuracy(
    truth: ArrayLike, score: ArrayLike, *, k: int = 2, labels: ArrayLike | None = None, positive: object = None
) -> Statistic:
    """The share of rows whose true class is among the k with the highest scores.

    Ties are resolved for the later column, as scikit-learn does.

    Parameters
    ----------
    truth
        Labels.
    score
        Rows × classes in sorted order of the labels, or one number per row for two classes.
    k
        How many guesses are allowed.
    labels
        The classes that the columns stand for; None: those in `truth`.
    positive
        The class that a high score indicates, for one number per row; as for `log_loss`.

    Examples
    --------
    >>> float(top_k_accuracy([0, 1, 2], [[0.5, 0.2, 0.3], [0.6, 0.3, 0.1], [0.5, 0.4, 0.1]]).value())
    0.6666666666666666
    """
    if k != int(k) or k < 1:
        raise StratError.about("k", f"must be a whole number of at least 1, got {plain(k)!r}.")
    codes, values, label = _scores_of_classes(truth, score, labels, positive)
    classes = values.shape[1]
    notes = (Note("trivial-top-k", {"k": k, "classes": classes}),) if k >= classes else ()
    own = values[np.arange(len(codes)), codes][:, None]
    ahead = (values > own) | ((values == own) & (np.arange(values.shape[1]) > codes[:, None]))
    return replace(
        share_of(f"top-{k} accuracy", ahead.sum(axis=1) < k), positive=label, notes=notes, higher_is_better=True
    )


def _scores_of_classes(
    truth: ArrayLike, score: ArrayLike, labels: ArrayLike | None, positive: object
) -> tuple[Codes, Array, Any]:
    """Codes of the true classes, the scores rows × classes, and the positive class where one number stands for two."""
    if _is_matrix(score):
        refused(positive, "for a score of each class")
        values = numbers("score", score)
        return _coded(truth, values.shape[1], labels, "score"), values, None
    codes, given, label, _ = positives(truth, score, positive, labels=labels)
    half = 0.5 if given.min() >= 0 and given.max() <= 1 else 0.0
    return codes, np.stack([np.zeros(len(given)), np.where(given > half, 1.0, -1.0)], axis=1), label


@checked
def calibration_curve(
    truth: ArrayLike,
    probability: ArrayLike,
    *,
    bins: int = 5,
    strategy: str = "uniform",
    positive: object = None,
) -> Statistic:
    """The share of positives and the mean probability in each bin of predicted probability.

    Parameters
    ----------
    truth
        Labels of two classes.
    probability
        Of the positive class.
    bins
        How many; bins that no row falls into are left out, as scikit-learn does.
    strategy
        "uniform": bins of equal width; "quantile": of equal numbers of rows. The bins are then fixed.
    positive
        The positive class; None: as for `log_loss`.

    Examples
    --------
    >>> curve = calibration_curve([0, 1, 1, 1], [0.2, 0.2, 0.8, 0.6], bins=2)
    >>> print(curve.axes[0].labels, curve.value())
    ('positives', 'probability') [[0.5 1. ]
     [0.2 0.7]]
    """
    y, p, label = _binary(truth, probability, positive)
    codes, edges = _bins(p, bins, strategy)
    present, place = np.unique(codes, return_inverse=True)
    place = place.reshape(-1)
    k = len(present)
    rows = (
        Rows(place, None, k),
        Rows(place * 2 + y, np.repeat(np.eye(k), 2, axis=0) * np.tile([[0.0], [1.0]], (k, 1)), k),
        _in_bins(place, p, k),
    )
    middles = ((edges[:-1] + edges[1:]) / 2)[present]
    return Statistic(
        "calibration",
        rows,
        _shares_of_bins,
        _slopes_of_bins,
        (Axis("share", ("positives", "probability")), Axis("bin", tuple(middles.tolist()))),
        "logit",
        (0.0, 1.0),
        proportion=True,
        base=lambda totals: np.stack([totals[..., :k]] * 2, axis=-2),
        positive=label,
        curve="calibration",
        graded=True,
    )


def _shares_of_bins(totals: Array) -> Array:
    """The share of positives and the mean probability of each bin: (…, 3 k) -> (…, 2, k)."""
    weight, positives, sums = np.split(totals, 3, axis=-1)
    return np.stack([quotient(positives, weight), quotient(sums, weight)], axis=-2)


def _slopes_of_bins(totals: Array) -> Array:
    """The derivatives of `_shares_of_bins` by the totals: (3 k, 2, k)."""
    k = len(totals) // 3
    weight = totals[:k]
    value = _shares_of_bins(totals)
    slopes = np.zeros((3, k, 2, k))
    one = np.divide(1.0, weight, out=np.zeros(k), where=weight != 0)
    j = np.arange(k)
    slopes[0, j, :, j] = np.nan_to_num(-value.T * one[:, None])
    slopes[1, j, 0, j] = one
    slopes[2, j, 1, j] = one
    return slopes.reshape(3 * k, 2, k)


@measure(
    "calibration_error",
    "ece",
    "expected_calibration_error",
    needs=SCORES,
    unit="difference of shares",
    higher_is_better=False,
    mixes_classes=True,
    reference="Naeini et al. 2015",
)
@checked
def calibration_error(
    truth: ArrayLike,
    probability: ArrayLike,
    *,
    bins: int = 10,
    strategy: str = "uniform",
    norm: str = "l1",
    positive: object = None,
) -> Statistic:
    """The expected calibration error: how far the share of positives lies from the mean probability, over bins.

    With rows × classes it looks at the most probable class, as is usual: its probability against how often it
    is right.

    Parameters
    ----------
    truth, probability, strategy, positive
        As for `calibration_curve`.
    bins
        How many bins.
    norm
        "l1": mean distance, weighted by the bins' weights; "l2": root of the mean squared distance; "max": the largest.

    Notes
    -----
    A distance can't be negative, so the value is too large on average where the predictions are well calibrated, by
    about the noise within bins. The interval of the norm "l1" allows for that: it reaches down to 0 where noise alone
    explains the value, and a note says how much noise alone would show. The intervals of the other norms, and of
    replicates, do not.

    Examples
    --------
    >>> round(float(calibration_error([0, 1, 1, 1], [0.2, 0.2, 0.8, 0.6], bins=2).value()), 4)
    0.3
    """
    one_of("norm", norm, ("l1", "l2", "max"))
    label = None
    if _is_matrix(probability):
        codes, matrix, _ = _probabilities(truth, probability, None, positive)
        y = (matrix.argmax(axis=1) == codes).astype(np.int64)
        p = matrix.max(axis=1)
    else:
        y, p, label = _binary(truth, probability, positive)
    place, _ = _bins(p, bins, strategy)
    k = int(bins)
    rows = (Rows(place, None, k), _in_bins(place, y - p, k))

    def function(totals: Array) -> Array:
        weight, off = totals[..., :k], np.abs(totals[..., k:])
        if norm == "l1":
            return quotient(off.sum(axis=-1), weight.sum(axis=-1))
        distance = np.divide(off, weight, out=np.zeros_like(off), where=weight > 0)
        if norm == "max":
            return np.asarray(distance.max(axis=-1))
        return np.sqrt(quotient((weight * distance**2).sum(axis=-1), weight.sum(axis=-1)))

    def gradient(totals: Array) -> Array:
        n = totals[:k].sum()
        value = float(np.abs(totals[k:]).sum() / n)
        return np.concatenate([np.full(k, -value / n), np.sign(totals[k:]) / n])

    slopes = gradient if norm == "l1" else None
    return Statistic(
        "calibration error",
        rows,
        function,
        slopes,
        bounds=(0.0, 1.0),
        positive=label,
        higher_is_better=False,
        sum_of=(_gaps(rows, k), np.ones(k)) if norm == "l1" else None,
    )


def _gaps(rows: tuple[Rows, ...], bins: int) -> Statistic:
    """By how much positives outnumber their probabilities in each bin, over the weight of all rows."""

    def function(totals: Array) -> Array:
        return quotient(totals[..., bins:], totals[..., :bins].sum(axis=-1, keepdims=True))

    def gradient(totals: Array) -> Array:
        weight = totals[:bins].sum()
        below = np.repeat(-totals[None, bins:] / weight**2, bins, axis=0)
        return np.concatenate([below, np.eye(bins) / weight])

    axes = (Axis("bin", tuple(range(bins))),)
    return Statistic("calibration gaps", rows, function, gradient, axes, bounds=(-1.0, 1.0))


def _in_bins(place: Codes, values: Array, bins: int) -> Rows:
    """A block that adds each row's value to the component of its bin."""
    table = np.zeros((len(values), bins))
    table[np.arange(len(values)), place] = values
    return Rows(None, table, bins)


def _bins(p: Array, bins: int, strategy: str) -> tuple[Codes, Array]:
    """The bin of each row and the edges."""
    one_of("strategy", strategy, ("uniform", "quantile"))
    if bins != int(bins) or bins < 1:
        raise StratError.about("bins", f"must be a whole number of at least 1, got {plain(bins)!r}.")
    at = np.linspace(0.0, 1.0, int(bins) + 1)
    edges = at if strategy == "uniform" else np.percentile(p, at * 100)
    return np.searchsorted(edges[1:-1], p).astype(np.int64), edges


def _binary(
    truth: ArrayLike, probability: ArrayLike, positive: object, labels: ArrayLike | None = None
) -> tuple[Codes, Array, Any]:
    """Whether each row is positive, the probability that it is, and the positive class."""
    codes, p, label, _ = positives(truth, probability, positive, argument="probability", labels=labels)
    return codes, _in_range("probability", p), label


def _is_matrix(values: ArrayLike) -> bool:
    """Whether there is a number for each class, not one per row."""
    return np.ndim(values) == 2 and np.shape(values)[1] > 1


def _probabilities(
    truth: ArrayLike, probability: ArrayLike, labels: ArrayLike | None, positive: object
) -> tuple[Codes, Array, Any]:
    """Codes of the true classes, the probabilities rows × classes, and the positive class if one was needed."""
    if not _is_matrix(probability):
        codes, single, label = _binary(truth, probability, positive, labels)
        return codes, np.stack([1 - single, single], axis=1), label
    refused(positive, "for a probability of each class")
    p = _in_range("probability", probability)
    sums = p.sum(axis=1)
    off = np.abs(sums - 1) > np.sqrt(np.finfo(float).eps)
    if off.any():
        row = int(np.flatnonzero(off)[0])
        raise StratError.about(
            "probability",
            f"must sum to one in every row, got {float(sums[row]):.6g} in row {row} "
            f"({int(off.sum())} such rows); divide each row by its sum.",
        )
    return _coded(truth, p.shape[1], labels, "probability"), p, None


def _in_range(argument: str, values: ArrayLike) -> Array:
    p = numbers(argument, values)
    bad = (p < 0) | (p > 1)
    if bad.any():
        raise StratError.about(argument, f"must lie between 0 and 1, got {float(p[bad][0])!r}.")
    return p


def _coded(truth: ArrayLike, columns: int, labels: ArrayLike | None, argument: str) -> Codes:
    """The column of each row's true class."""
    codes, present = encode("truth", truth)
    same_length(truth=codes)
    names: NDArray[Any] = present if labels is None else labels_of("labels", labels)
    if len(names) != columns:
        if labels is None and columns == 2 and len(names) == 1 and names[0] in (-1, 0, 1):
            return np.full(len(codes), int(names[0] > 0))
        raise StratError.about(
            argument,
            f"must have one column for each of the {len(names)} classes ({some(names.tolist())}), "
            f"got {columns}; name the classes of the columns in `labels`.",
        )
    if labels is None:
        return codes
    where = {plain(name): i for i, name in enumerate(names)}
    unknown = [name for name in present.tolist() if name not in where]
    if unknown:
        raise StratError.about("labels", f"must hold every class of `truth`, got none for {some(unknown)}.")
    return np.array([where[name] for name in present.tolist()])[codes]
