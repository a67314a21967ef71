"""Measures of predicted probabilities: log loss, Brier score, calibration, top-k accuracy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.columns import Array, Codes, encode, numbers, same_length
from strat.doors import checked
from strat.errors import StratError, StratWarning, one_of, plain, some
from strat.statistics.base import Axis, Rows, Statistic
from strat.statistics.multilabel import row_mean, share_of

__all__ = ["brier", "calibration_curve", "calibration_error", "log_loss", "top_k_accuracy"]


@checked
def log_loss(truth: ArrayLike, probability: ArrayLike, *, labels: ArrayLike | None = None) -> Statistic:
    """The mean of −log(probability of the true class), with probabilities kept off 0 and 1 as scikit-learn does.

    Parameters
    ----------
    truth
        Labels.
    probability
        Of the larger label (one number per row), or rows × classes in sorted order of the labels.
    labels
        The classes that the columns stand for; None: those in `truth`.

    Examples
    --------
    >>> round(float(log_loss([0, 1], [0.5, 0.5]).value()), 4)
    0.6931
    """
    codes, p = _probabilities(truth, probability, labels)
    eps = np.finfo(float).eps
    own = np.clip(p[np.arange(len(codes)), codes], eps, 1 - eps)
    return row_mean("log loss", -np.log(own), link="log", bounds=(0.0, np.inf))


@checked
def brier(
    truth: ArrayLike,
    probability: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: object = None,
    scale_by_half: bool | str = "auto",
) -> Statistic:
    """The mean squared distance of the probabilities from what happened.

    Parameters
    ----------
    truth, probability, labels
        As for `log_loss`.
    pos_label
        The class whose probability is given, for one number per row; None: the larger label.
    scale_by_half
        Whether to halve the sum over classes, so that it lies in [0, 1]; "auto": for two classes.

    Examples
    --------
    >>> float(brier([0, 1], [0.5, 1.0]).value())
    0.125
    """
    single = np.ndim(probability) == 1
    given = np.asarray(truth) == pos_label if single and pos_label is not None else truth
    codes, p = _probabilities(given, probability, None if single and pos_label is not None else labels)
    half = p.shape[1] < 3 if scale_by_half == "auto" else bool(scale_by_half)
    off = p.copy()
    off[np.arange(len(codes)), codes] -= 1.0
    rows = (off**2).sum(axis=1) * (0.5 if half else 1.0)
    return row_mean("Brier score", rows, link="logit" if half else "identity", bounds=(0.0, 1.0 if half else 2.0))


@checked
def top_k_accuracy(truth: ArrayLike, score: ArrayLike, *, k: int = 2, labels: ArrayLike | None = None) -> Statistic:
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

    Examples
    --------
    >>> float(top_k_accuracy([0, 1, 2], [[0.5, 0.2, 0.3], [0.6, 0.3, 0.1], [0.5, 0.4, 0.1]]).value())
    0.6666666666666666
    """
    if k != int(k) or k < 1:
        raise StratError(f"`k` must be a whole number of at least 1, got {plain(k)!r}.")
    values = numbers("score", score)
    if values.ndim == 1 or values.shape[1] == 1:
        values = values.reshape(len(values))
        half = 0.5 if values.min() >= 0 and values.max() <= 1 else 0.0
        values = np.stack([np.zeros(len(values)), np.where(values > half, 1.0, -1.0)], axis=1)
    codes = _coded(truth, values.shape[1], labels, "score")
    if k >= values.shape[1]:
        warnings.warn(
            f"`k` is {k}, not less than the number of classes ({values.shape[1]}): the share is 1 for any scores.",
            StratWarning,
            stacklevel=2,
        )
    own = values[np.arange(len(codes)), codes][:, None]
    ahead = (values > own) | ((values == own) & (np.arange(values.shape[1]) > codes[:, None]))
    return share_of(f"top-{k} accuracy", ahead.sum(axis=1) < k)


@checked
def calibration_curve(
    truth: ArrayLike,
    probability: ArrayLike,
    *,
    bins: int = 5,
    strategy: str = "uniform",
    pos_label: object = None,
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
    pos_label
        The positive class; None: the larger label.

    Examples
    --------
    >>> curve = calibration_curve([0, 1, 1, 1], [0.2, 0.2, 0.8, 0.6], bins=2)
    >>> print(curve.axes[0].labels, curve.value())
    ('positives', 'probability') [[0.5 1. ]
     [0.2 0.7]]
    """
    y, p = _binary(truth, probability, pos_label)
    codes, edges = _bins(p, bins, strategy)
    present, place = np.unique(codes, return_inverse=True)
    place = place.reshape(-1)
    k = len(present)
    rows = (
        Rows(place, None, k),
        Rows(place * 2 + y, np.repeat(np.eye(k), 2, axis=0) * np.tile([[0.0], [1.0]], (k, 1)), k),
        _in_bins(place, p, k),
    )

    def function(totals: Array) -> Array:
        weight, positives, sums = np.split(totals, 3, axis=-1)
        return np.stack([_over(positives, weight), _over(sums, weight)], axis=-2)

    def gradient(totals: Array) -> Array:
        weight = totals[:k]
        value = function(totals)
        made = np.zeros((3, k, 2, k))
        one = np.divide(1.0, weight, out=np.zeros(k), where=weight != 0)
        j = np.arange(k)
        made[0, j, :, j] = np.nan_to_num(-value.T * one[:, None])
        made[1, j, 0, j] = one
        made[2, j, 1, j] = one
        return made.reshape(3 * k, 2, k)

    def base(totals: Array) -> Array:
        return np.stack([totals[..., :k]] * 2, axis=-2)

    middles = ((edges[:-1] + edges[1:]) / 2)[present]
    axes = (Axis("share", ("positives", "probability")), Axis("bin", tuple(middles.tolist())))
    return Statistic("calibration", rows, function, gradient, axes, "logit", (0.0, 1.0), proportion=True, base=base)


@checked
def calibration_error(
    truth: ArrayLike,
    probability: ArrayLike,
    *,
    bins: int = 10,
    strategy: str = "uniform",
    norm: str = "l1",
    pos_label: object = None,
) -> Statistic:
    """The expected calibration error: how far the share of positives lies from the mean probability, over bins.

    With rows × classes it looks at the most probable class, as is usual: its probability against how often it
    is right.

    Parameters
    ----------
    truth, probability, strategy, pos_label
        As for `calibration_curve`.
    bins
        How many bins.
    norm
        "l1": mean distance, weighted by the bins' weights; "l2": root of the mean squared distance; "max": the largest.

    Notes
    -----
    A distance can't be negative, so it is too large on average where the predictions are well calibrated (by
    about the noise within bins), and its interval is only good where the error is clearly above that noise.

    Examples
    --------
    >>> round(float(calibration_error([0, 1, 1, 1], [0.2, 0.2, 0.8, 0.6], bins=2).value()), 4)
    0.3
    """
    one_of("norm", norm, ("l1", "l2", "max"))
    if np.ndim(probability) == 2:
        codes, matrix = _probabilities(truth, probability, None)
        y = (matrix.argmax(axis=1) == codes).astype(np.int64)
        p = matrix.max(axis=1)
    else:
        y, p = _binary(truth, probability, pos_label)
    place, _ = _bins(p, bins, strategy)
    k = int(bins)
    rows = (Rows(place, None, k), _in_bins(place, y - p, k))

    def function(totals: Array) -> Array:
        weight, off = totals[..., :k], np.abs(totals[..., k:])
        if norm == "l1":
            return _over(off.sum(axis=-1), weight.sum(axis=-1))
        distance = np.divide(off, weight, out=np.zeros_like(off), where=weight > 0)
        if norm == "max":
            return np.asarray(distance.max(axis=-1))
        return np.sqrt(_over((weight * distance**2).sum(axis=-1), weight.sum(axis=-1)))

    def gradient(totals: Array) -> Array:
        n = totals[:k].sum()
        value = float(np.abs(totals[k:]).sum() / n)
        return np.concatenate([np.full(k, -value / n), np.sign(totals[k:]) / n])

    return Statistic(
        "calibration error", rows, function, gradient if norm == "l1" else None, link="identity", bounds=(0.0, 1.0)
    )


def _in_bins(place: Codes, values: Array, bins: int) -> Rows:
    """A block that adds each row's value to the component of its bin."""
    table = np.zeros((len(values), bins))
    table[np.arange(len(values)), place] = values
    return Rows(None, table, bins)


def _bins(p: Array, bins: int, strategy: str) -> tuple[Codes, Array]:
    """The bin of each row and the edges."""
    one_of("strategy", strategy, ("uniform", "quantile"))
    if bins != int(bins) or bins < 1:
        raise StratError(f"`bins` must be a whole number of at least 1, got {plain(bins)!r}.")
    at = np.linspace(0.0, 1.0, int(bins) + 1)
    edges = at if strategy == "uniform" else np.percentile(p, at * 100)
    return np.searchsorted(edges[1:-1], p).astype(np.int64), edges


def _binary(truth: ArrayLike, probability: ArrayLike, pos_label: object) -> tuple[Codes, Array]:
    codes, names = encode("truth", truth)
    p = _in_range("probability", probability)
    if p.ndim != 1:
        raise StratError(f"`probability` must have one number per row, got shape {p.shape}.")
    same_length(truth=codes, probability=p)
    if len(names) > 2:
        raise StratError(f"`truth` must have two classes, got {len(names)} ({some(names.tolist())}).")
    if pos_label is None:
        alone = len(names) == 1 and not (names.dtype.kind in "biuf" and names[0] > 0)
        return (np.zeros_like(codes) if alone else (codes == len(names) - 1).astype(np.int64)), p
    if pos_label not in names.tolist():
        raise StratError(
            f"`pos_label` must be one of the labels, got {plain(pos_label)!r}; there are {some(names.tolist())}."
        )
    return (codes == int(np.flatnonzero(names == pos_label)[0])).astype(np.int64), p


def _probabilities(truth: ArrayLike, probability: ArrayLike, labels: ArrayLike | None) -> tuple[Codes, Array]:
    """Codes of the true classes and the probabilities, rows × classes."""
    p = _in_range("probability", probability)
    if p.ndim == 1 or p.shape[1] == 1:
        p = p.reshape(len(p))
        p = np.stack([1 - p, p], axis=1)
    sums = p.sum(axis=1)
    off = np.abs(sums - 1) > np.sqrt(np.finfo(float).eps)
    if off.any():
        row = int(np.flatnonzero(off)[0])
        raise StratError(
            f"`probability` must sum to one in every row, got {float(sums[row]):.6g} in row {row} "
            f"({int(off.sum())} such rows); divide each row by its sum."
        )
    return _coded(truth, p.shape[1], labels, "probability"), p


def _in_range(argument: str, values: ArrayLike) -> Array:
    p = numbers(argument, values)
    bad = (p < 0) | (p > 1)
    if bad.any():
        raise StratError(f"`{argument}` must lie between 0 and 1, got {float(p[bad][0])!r}.")
    return p


def _coded(truth: ArrayLike, columns: int, labels: ArrayLike | None, argument: str) -> Codes:
    """The column of each row's true class."""
    codes, found = encode("truth", truth)
    same_length(truth=codes)
    names: NDArray[Any] = found if labels is None else np.asarray(labels)
    if len(names) != columns:
        if labels is None and columns == 2 and len(names) == 1 and names.dtype.kind in "biuf":
            return np.full(len(codes), int(names[0] > 0))
        raise StratError(
            f"`{argument}` must have one column for each of the {len(names)} classes ({some(names.tolist())}), "
            f"got {columns}; name the classes of the columns in `labels`."
        )
    if labels is None:
        return codes
    where = {plain(name): i for i, name in enumerate(names)}
    unknown = [name for name in found.tolist() if name not in where]
    if unknown:
        raise StratError(f"`labels` must hold every class of `truth`, got none for {some(unknown)}.")
    return np.array([where[name] for name in found.tolist()])[codes]


def _over(top: Array, bottom: Any) -> Array:
    top, bottom = np.broadcast_arrays(top, bottom)
    result: Array = np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom != 0)
    return result
