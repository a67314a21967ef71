"""Measures of a classifier's decisions: each a function of the totals of a confusion matrix.

Names, averages and values are scikit-learn's; weights belong to the design, not to the measure.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.columns import Array, Codes, same_length
from strat.doors import checked
from strat.errors import StratError, StratWarning, one_of, plain, some
from strat.statistics.base import Axis, Rows, Statistic, block_totals
from strat.statistics.confusion import Counts, Pair, chosen, counts_of, pair
from strat.statistics.multilabel import multilabel_counts, row_measure

__all__ = [
    "balanced_accuracy",
    "f1",
    "fbeta",
    "jaccard",
    "kappa",
    "mcc",
    "metric",
    "precision",
    "recall",
    "specificity",
]

AVERAGES = ("binary", "micro", "macro", "weighted", "samples")
Coefficients = tuple[float, float, float, float]
"""What (true positives, predicted, actual, all rows) count for."""


@checked
def precision(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    average: str | None = "binary",
    pos_label: object = 1,
    labels: ArrayLike | None = None,
    zero_division: str | float = "warn",
) -> Statistic:
    """The share of a class's predictions that are right, tp / (tp + fp).

    Parameters
    ----------
    truth, predicted
        Labels, or 0/1 matrices of rows × labels for multilabel data.
    average
        "binary": of `pos_label` alone; "micro": of all classes together; "macro": mean over classes; "weighted":
        mean weighted by the true classes' sizes; "samples": mean over rows (multilabel); None: each class.
    pos_label
        The positive class when `average` is "binary".
    labels
        The classes that count, in order; None: all.
    zero_division
        Value of 0 / 0: a number or nan (left out of averages); "warn" means 0 with a warning.

    Examples
    --------
    >>> float(precision([0, 1, 1, 1], [1, 1, 0, 1]).value())
    0.6666666666666666
    """
    settings = _Settings(average, pos_label, labels, zero_division)
    return _class_share("precision", truth, predicted, (1, 0, 0, 0), (0, 1, 0, 0), settings)


@checked
def recall(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    average: str | None = "binary",
    pos_label: object = 1,
    labels: ArrayLike | None = None,
    zero_division: str | float = "warn",
) -> Statistic:
    """The share of a class that is found, tp / (tp + fn); the arguments are those of `precision`.

    Examples
    --------
    >>> print(recall([0, 1, 1, 2], [0, 1, 2, 2], average=None).value())
    [1.  0.5 1. ]
    """
    settings = _Settings(average, pos_label, labels, zero_division)
    return _class_share("recall", truth, predicted, (1, 0, 0, 0), (0, 0, 1, 0), settings)


@checked
def specificity(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    average: str | None = "binary",
    pos_label: object = 1,
    labels: ArrayLike | None = None,
    zero_division: str | float = "warn",
) -> Statistic:
    """The share of rows outside a class that are kept out, tn / (tn + fp); arguments as for `precision`.

    Examples
    --------
    >>> float(specificity([0, 0, 0, 1], [0, 0, 1, 1]).value())
    0.6666666666666666
    """
    settings = _Settings(average, pos_label, labels, zero_division)
    return _class_share("specificity", truth, predicted, (1, -1, -1, 1), (0, 0, -1, 1), settings)


@checked
def fbeta(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    beta: float,
    average: str | None = "binary",
    pos_label: object = 1,
    labels: ArrayLike | None = None,
    zero_division: str | float = "warn",
) -> Statistic:
    """The weighted harmonic mean of precision and recall, where recall counts `beta` times as much.

    It is (1 + β²) tp / (β² actual + predicted); the other arguments are those of `precision`.

    Examples
    --------
    >>> float(fbeta([0, 1, 1, 1], [1, 1, 0, 1], beta=2.0).value())
    0.6666666666666666
    """
    if not beta >= 0:
        raise StratError(f"`beta` must be zero or more, got {plain(beta)!r}.")
    settings = _Settings(average, pos_label, labels, zero_division)
    if np.isinf(beta):
        return _class_share("F-inf", truth, predicted, (1, 0, 0, 0), (0, 0, 1, 0), settings)
    b = float(beta) ** 2
    return _class_share(f"F{beta:g}", truth, predicted, (1 + b, 0, 0, 0), (0, 1, b, 0), settings)


@checked
def f1(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    average: str | None = "binary",
    pos_label: object = 1,
    labels: ArrayLike | None = None,
    zero_division: str | float = "warn",
) -> Statistic:
    """The harmonic mean of precision and recall, 2 tp / (actual + predicted); arguments as for `precision`.

    Examples
    --------
    >>> float(f1([0, 1, 1, 2], [0, 1, 2, 2], average="macro").value())
    0.7777777777777777
    """
    settings = _Settings(average, pos_label, labels, zero_division)
    return _class_share("F1", truth, predicted, (2, 0, 0, 0), (0, 1, 1, 0), settings)


@checked
def jaccard(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    average: str | None = "binary",
    pos_label: object = 1,
    labels: ArrayLike | None = None,
    zero_division: str | float = "warn",
) -> Statistic:
    """Intersection over union, tp / (tp + fp + fn); the arguments are those of `precision`.

    Examples
    --------
    >>> float(jaccard([0, 1, 1, 1], [1, 1, 0, 1]).value())
    0.5
    """
    settings = _Settings(average, pos_label, labels, zero_division)
    return _class_share("Jaccard", truth, predicted, (1, 0, 0, 0), (-1, 1, 1, 0), settings)


@checked
def balanced_accuracy(truth: ArrayLike, predicted: ArrayLike, *, adjusted: bool = False) -> Statistic:
    """The mean recall of the classes that occur in `truth`; adjusted: 0 for chance and 1 at best.

    Examples
    --------
    >>> float(balanced_accuracy([0, 0, 0, 1], [0, 0, 1, 1]).value())
    0.8333333333333333
    """
    counts = counts_of(pair(truth, predicted))

    def parts(totals: Array) -> tuple[Array, Array, Array]:
        hit, _, actual, _ = np.moveaxis(counts.read(totals), -2, 0)
        there = actual > 0
        return _divide(hit, actual, 0.0), there, there.sum(axis=-1)

    def function(totals: Array) -> Array:
        per, there, number = parts(totals)
        score = _divide((per * there).sum(axis=-1), number, np.nan)
        return (score - 1 / number) / (1 - 1 / number) if adjusted else score

    def gradient(totals: Array) -> Array:
        per, there, number = parts(totals)
        scale = 1 / number / (1 - 1 / number if adjusted else 1)
        actual = counts.read(totals)[2]
        slopes = np.zeros((4, len(per)))
        slopes[0] = _divide(there * scale, actual, 0.0)
        slopes[2] = -slopes[0] * per
        return counts.back(slopes)

    _warn_absent(counts)
    link, bounds = ("identity", (-np.inf, 1.0)) if adjusted else ("logit", (0.0, 1.0))
    name = "adjusted balanced accuracy" if adjusted else "balanced accuracy"
    return Statistic(name, counts.rows, function, gradient, link=link, bounds=bounds)


@checked
def mcc(truth: ArrayLike, predicted: ArrayLike) -> Statistic:
    """The Matthews correlation coefficient for any number of classes; 0 where it is 0 / 0.

    Examples
    --------
    >>> round(float(mcc([1, 1, 1, 0], [1, 0, 1, 1]).value()), 4)
    -0.3333
    """
    counts = counts_of(pair(truth, predicted))

    def function(totals: Array) -> Array:
        hit, predicted_, actual, every = np.moveaxis(counts.read(totals), -2, 0)
        n, right = every[..., 0], hit.sum(axis=-1)
        cross = right * n - (actual * predicted_).sum(axis=-1)
        spread = (n**2 - (actual**2).sum(axis=-1)) * (n**2 - (predicted_**2).sum(axis=-1))
        return _divide(cross, np.sqrt(np.maximum(spread, 0.0)), 0.0)

    def gradient(totals: Array) -> Array:
        hit, predicted_, actual, every = counts.read(totals)
        n, right = every[0], hit.sum()
        a, b = n**2 - (actual**2).sum(), n**2 - (predicted_**2).sum()
        slopes = np.zeros((4, len(hit)))
        if a <= 0 or b <= 0:
            return counts.back(slopes)
        root, cross = np.sqrt(a * b), right * n - actual @ predicted_
        value = cross / root
        slopes[0] = n / root
        slopes[1] = -actual / root + value * predicted_ / b
        slopes[2] = -predicted_ / root + value * actual / a
        slopes[3, 0] = right / root - value * n * (1 / a + 1 / b)
        return counts.back(slopes)

    return Statistic("Matthews correlation", counts.rows, function, gradient, link="correlation", bounds=(-1.0, 1.0))


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
    cost = _disagreement(k, weights)
    if k * k <= 4096:
        rows = Rows(codes, None, k * k)
        rows = rows if inside.all() else rows.masked(inside)
        function, gradient = _kappa_of_cells(k, cost)
        blocks: tuple[Rows, ...] = (rows,)
    else:
        distinct, line = np.unique(cost.ravel()[codes], return_inverse=True)
        blocks = (
            Rows(codes // k, None, k),
            Rows(codes % k, None, k),
            Rows(line.reshape(-1), distinct[:, None], 1),
        )
        blocks = blocks if inside.all() else tuple(block.masked(inside) for block in blocks)
        function, gradient = _kappa_of_margins(k, cost)
    if len(np.unique(codes[inside])) == 1 and (codes[inside][:1] % (k + 1) == 0).all():
        _warn("kappa is undefined where only one class occurs", "nan")
    name = "kappa" if weights is None else f"kappa ({weights} weights)"
    return Statistic(name, blocks, function, gradient, link="correlation", bounds=(-1.0, 1.0))


@checked
def metric(
    function: Callable[..., float],
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    name: str | None = None,
    link: str = "identity",
    bounds: tuple[float, float] = (-np.inf, np.inf),
    **arguments: Any,
) -> Statistic:
    """Any scikit-learn style metric, as a function of the rows' weights.

    It calls ``function(truth, predicted, sample_weight=…, **arguments)`` once for each replicate, on the rows
    whose weight is not zero. Slower than the measures written out here, always possible.

    Parameters
    ----------
    function
        A metric that takes `sample_weight`.
    truth, predicted
        Whatever the metric takes, one row (or line of a matrix) per case.
    name, link, bounds
        What it is called, the scale on which it is nearest to normal, the range it can't leave.
    **arguments
        More keyword arguments for the metric.

    Examples
    --------
    >>> from sklearn.metrics import zero_one_loss
    >>> float(metric(zero_one_loss, [0, 1, 1, 1], [1, 1, 1, 1]).value())
    0.25
    """
    if not callable(function):
        raise StratError(f"`function` must be a metric that can be called, got {plain(function)!r}.")
    y, p = np.asarray(truth), np.asarray(predicted)
    n = same_length(truth=y, predicted=p)

    def one(weights: Array) -> float:
        there = weights != 0
        try:
            return float(function(y[there], p[there], sample_weight=weights[there], **arguments))
        except TypeError as error:
            raise StratError(
                "`function` must be a metric that takes (truth, predicted, sample_weight=…) and returns a number, got "
                f"an error: {error}; give it weights, or use `statistic` with a function of the weights."
            ) from error

    def of_weights(weights: Array) -> Array:
        flat = weights.reshape(-1, n)
        return np.array([one(w) for w in flat], float).reshape(weights.shape[:-1])

    title = name or getattr(function, "__name__", "metric").replace("_", " ")
    return Statistic(title, (Rows(None, None, n),), of_weights, link=link, bounds=bounds, of_weights=True)


class _Settings:
    """How per-class shares are averaged, checked."""

    def __init__(
        self, average: str | None, pos_label: object, labels: ArrayLike | None, zero_division: str | float
    ) -> None:
        if average is not None:
            one_of("average", average, AVERAGES)
        if zero_division != "warn" and (
            isinstance(zero_division, str) or not (zero_division in (0, 1) or zero_division != zero_division)
        ):
            raise StratError(f"`zero_division` must be 'warn', 0, 1 or nan, got {plain(zero_division)!r}.")
        self.average, self.pos_label, self.labels = average, pos_label, labels
        self.warn = zero_division == "warn"
        self.zero = 0.0 if self.warn else float(zero_division)


def _class_share(
    name: str,
    truth: ArrayLike,
    predicted: ArrayLike,
    top: Coefficients,
    bottom: Coefficients,
    settings: _Settings,
) -> Statistic:
    """A share top / bottom of each class, averaged: precision, recall, F, Jaccard, specificity."""
    if np.ndim(truth) == 2:
        return _multilabel_share(name, truth, predicted, top, bottom, settings)
    if settings.average == "samples":
        raise StratError(
            "`average` must be 'binary', 'micro', 'macro', 'weighted' or None for one label per row, "
            "got 'samples'; it needs 0/1 matrices."
        )
    columns = pair(truth, predicted, None if settings.average == "binary" else settings.labels)
    shown = _positive(columns, settings) if settings.average == "binary" else chosen(columns, settings.labels)
    statistic = _averaged(name, counts_of(columns), shown, top, bottom, settings)
    if settings.average is None or not statistic.proportion:
        return statistic
    return replace(statistic, domain=_domain(columns, shown, bottom))


def _positive(columns: Pair, settings: _Settings) -> Codes:
    """The positive class for average="binary"."""
    if columns.classes > 2:
        raise StratError(
            f"`average` must be 'micro', 'macro', 'weighted' or None for {columns.classes} classes, got 'binary'; "
            "to look at one class, name it in `labels` with average='macro'."
        )
    if settings.pos_label not in columns.labels.tolist() and columns.classes < 2:
        return np.array([-1])
    return np.array([columns.where(settings.pos_label)])


def _domain(columns: Pair, shown: Codes, bottom: Coefficients) -> NDArray[np.bool_]:
    """The rows of which a single class's share is a plain share: those that add to what is divided by."""
    actual, given = columns.truth == shown[0], columns.predicted == shown[0]
    parts = (actual & given, given, actual, np.ones(len(actual), bool))
    return np.asarray(sum(b * part for b, part in zip(bottom, parts, strict=True)) > 0)


def _multilabel_share(
    name: str,
    truth: ArrayLike,
    predicted: ArrayLike,
    top: Coefficients,
    bottom: Coefficients,
    settings: _Settings,
) -> Statistic:
    if settings.average == "binary":
        raise StratError(
            "`average` must be 'micro', 'macro', 'weighted', 'samples' or None for multilabel data, got 'binary'."
        )
    if settings.average == "samples":
        return row_measure(name, truth, predicted, top, bottom, zero=settings.zero, warn=settings.warn)
    counts = multilabel_counts(truth, predicted)
    every = np.arange(len(counts.labels))
    shown = every if settings.labels is None else np.asarray(settings.labels, np.int64)
    if not np.isin(shown, every).all():
        raise StratError(f"`labels` must be columns from 0 to {every[-1]}, got {some(shown.tolist())}.")
    return _averaged(name, counts, shown, top, bottom, settings)


def _averaged(
    name: str, counts: Counts, shown: Codes, top: Coefficients, bottom: Coefficients, settings: _Settings
) -> Statistic:
    average, zero = settings.average, settings.zero
    missing = len(shown) == 1 and shown[0] < 0
    up, down = np.array(top, float), np.array(bottom, float)

    def read(totals: Array) -> Array:
        classes = counts.read(totals)
        if missing:
            return np.asarray(classes[..., :1] * np.array([0.0, 0.0, 0.0, 1.0])[:, None])
        classes = classes[..., shown]
        return classes.sum(axis=-1, keepdims=True) if average == "micro" else classes

    def function(totals: Array) -> Array:
        classes = read(totals)
        per = _divide(_mix(up, classes), _mix(down, classes), zero)
        if average == "weighted":
            return _mean(per, classes[..., 2, :])
        return per if average is None else _mean(per, np.ones_like(per))

    def gradient(totals: Array) -> Array:
        classes = read(totals)
        below = _mix(down, classes)
        per = _divide(_mix(up, classes), below, zero)
        slopes = _divide(up[:, None] - down[:, None] * np.nan_to_num(per), below, 0.0)
        return counts.back(_spread(slopes, per, classes[2], average, shown, len(counts.labels)))

    if settings.warn:
        _warn_zero(name, counts, _mix(down, read(_plain_totals(counts))), shown, average)

    def base(totals: Array) -> Array:
        below = _mix(down, read(totals))
        return np.asarray(below[..., 0]) if average else below

    axes = () if average else (Axis("class", tuple(plain(label) for label in counts.labels[shown])),)
    title = name if average in (None, "binary") else f"{average} {name}"
    # Of one class, all but F are shares of rows: 1 for a hit, out of those that are divided by.
    plain_share = (average is None or len(shown) == 1) and not missing and max(top) == 1 and zero == zero
    return Statistic(
        title,
        counts.rows,
        function,
        None if missing else gradient,
        axes,
        "logit",
        (0.0, 1.0),
        proportion=plain_share,
        base=base if plain_share else None,
    )


def _spread(slopes: Array, per: Array, actual: Array, average: str | None, shown: Codes, classes: int) -> Array:
    """Derivatives of the average by (tp, predicted, actual, all) of each class, from those of each share."""
    if average is None:
        full = np.zeros((4, classes, len(shown)))
        full[:, shown, np.arange(len(shown))] = slopes
        return full
    full = np.zeros((4, classes))
    if average == "micro":
        full[:, shown] = slopes
        return full
    there = ~np.isnan(per)
    weights = np.where(there, actual if average == "weighted" else 1.0, 0.0)
    if weights.sum() == 0:
        weights = there.astype(float)
    if weights.sum() == 0:
        return full
    weights = weights / weights.sum()
    full[:, shown] = slopes * weights
    if average == "weighted" and actual[there].sum() > 0:
        value = float(np.nansum(weights * np.nan_to_num(per)))
        full[2, shown] += np.where(there, np.nan_to_num(per) - value, 0.0) / actual[there].sum()
    return full


def _mix(coefficients: Array, classes: Array) -> Array:
    """The combination of (tp, predicted, actual, all) with these coefficients: (…, 4, K) -> (…, K)."""
    mixed: Array = np.tensordot(classes, coefficients, axes=([-2], [0]))
    return mixed


def _mean(per: Array, weights: Array) -> Array:
    """The weighted mean over the last axis without nan; the plain mean where all weights are 0."""
    there = ~np.isnan(per)
    w = np.where(there, weights, 0.0)
    empty = w.sum(axis=-1, keepdims=True) == 0
    w = np.where(empty, there.astype(float), w)
    return _divide((w * np.nan_to_num(per)).sum(axis=-1), w.sum(axis=-1), np.nan)


def _divide(top: Array, bottom: Any, zero: float) -> Array:
    """A quotient with `zero` for 0 / 0."""
    top, bottom = np.broadcast_arrays(np.asarray(top, float), np.asarray(bottom, float))
    result: Array = np.divide(top, bottom, out=np.full(top.shape, zero), where=bottom != 0)
    return result


def _inside(columns: Pair, shown: Codes) -> tuple[NDArray[np.bool_], Codes]:
    """Rows whose two labels are both wanted, and the cell of each in the wanted order (0 outside)."""
    position = np.full(columns.classes, -1)
    position[shown] = np.arange(len(shown))
    t, p = position[columns.truth], position[columns.predicted]
    inside = (t >= 0) & (p >= 0)
    if not inside.any():
        raise StratError(
            f"`labels` must name classes that occur, got {some(columns.labels[shown].tolist())}; "
            f"there are {some(columns.labels.tolist())}."
        )
    return inside, np.where(inside, t * len(shown) + p, 0)


def _disagreement(k: int, weights: str | None) -> Array:
    apart: Array = np.abs(np.arange(k)[:, None] - np.arange(k)).astype(float)
    return np.minimum(apart, 1.0) if weights is None else apart if weights == "linear" else apart**2


Pieces = tuple[Callable[[Array], Array], Callable[[Array], Array]]


def _kappa(observed: Array, actual: Array, predicted: Array, cost: Array) -> Array:
    n = actual.sum(axis=-1)
    expected = _divide(((actual @ cost) * predicted).sum(axis=-1), n, np.nan)
    return 1 - _divide(observed, expected, np.nan)


def _kappa_slopes(observed: float, actual: Array, predicted: Array, cost: Array) -> tuple[float, Array, Array]:
    """Derivatives of kappa by the observed cost, and by the actual and predicted totals."""
    n = actual.sum()
    chance = actual @ cost @ predicted
    if chance == 0:
        return 0.0, np.zeros_like(actual), np.zeros_like(actual)
    ratio = observed * n / chance
    by_actual = -observed / chance + ratio * (cost @ predicted) / chance
    return -n / chance, by_actual, ratio * (actual @ cost) / chance


def _kappa_of_cells(k: int, cost: Array) -> Pieces:
    def function(totals: Array) -> Array:
        cells = totals.reshape(*totals.shape[:-1], k, k)
        return _kappa((cells * cost).sum(axis=(-2, -1)), cells.sum(axis=-1), cells.sum(axis=-2), cost)

    def gradient(totals: Array) -> Array:
        cells = totals.reshape(k, k)
        observed, actual, predicted = _kappa_slopes(
            float((cells * cost).sum()), cells.sum(axis=1), cells.sum(axis=0), cost
        )
        return np.ravel(observed * cost + actual[:, None] + predicted)

    return function, gradient


def _kappa_of_margins(k: int, cost: Array) -> Pieces:
    def function(totals: Array) -> Array:
        return _kappa(totals[..., 2 * k], totals[..., :k], totals[..., k : 2 * k], cost)

    def gradient(totals: Array) -> Array:
        observed, actual, predicted = _kappa_slopes(float(totals[2 * k]), totals[:k], totals[k : 2 * k], cost)
        return np.concatenate([actual, predicted, [observed]])

    return function, gradient


def _plain_totals(counts: Counts) -> Array:
    """Totals with weight 1 for every row."""
    ones = np.ones(len(counts.rows[0]))
    return np.concatenate([block_totals(block, ones) for block in counts.rows])


def _warn_zero(name: str, counts: Counts, below: Array, shown: Codes, average: str | None) -> None:
    if not (below == 0).any():
        return
    why = {"precision": "is never predicted", "recall": "never occurs"}.get(name, "has nothing to divide by")
    if average == "micro" or (shown < 0).any():
        _warn(f"{name} is undefined for these rows, of which the class {why}", "0")
    else:
        which: Sequence[object] = counts.labels[shown][below == 0].tolist()
        _warn(f"{name} is undefined for the class {some(which)}, which {why}", "0")


def _warn_absent(counts: Counts) -> None:
    actual = counts.read(_plain_totals(counts))[2]
    if (actual == 0).any():
        which = counts.labels[actual == 0].tolist()
        warnings.warn(
            f"`predicted` has the class {some(which)}, which never occurs in `truth`; it is left out.",
            StratWarning,
            stacklevel=3,
        )


def _warn(sentence: str, value: str) -> None:
    hint = "; set `zero_division` to choose the value" if value == "0" else ""
    warnings.warn(f"{sentence}: its value is {value}{hint}.", StratWarning, stacklevel=5)
