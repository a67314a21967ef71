"""Measures of scores: what two classes' histograms over the distinct scores add up to.

A higher score speaks for the positive class; a row is called positive at a threshold when its score is at least that.
Ties count half in areas, exactly. A curve has thresholds as its axis, so it works with every design and has bands.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.columns import Array, Codes, encode, numbers, same_length
from strat.doors import checked
from strat.errors import StratError, StratWarning, one_of, plain, some
from strat.statistics.base import Axis, Rows, Statistic
from strat.statistics.score_classes import AREA, PRECISION_AREA, against_rest, one_against_one
from strat.statistics.score_histograms import (
    equal_error,
    precision_area,
    precision_area_slopes,
    quotient,
    rarer,
    roc_area,
    roc_area_slopes,
    roc_height,
    roc_height_slopes,
    roc_slope,
    roc_step,
    roc_step_slopes,
    threshold_for,
    threshold_slopes,
)

__all__ = [
    "auc",
    "average_precision",
    "det",
    "equal_error_rate",
    "precision_recall",
    "rate_at",
    "rate_within",
    "roc",
    "threshold_at",
]

MOST_THRESHOLDS = 512
RATES = ("fpr", "tpr", "fnr", "tnr")


@checked
def auc(
    truth: ArrayLike,
    score: ArrayLike,
    *,
    multi_class: str = "ovr",
    average: str | None = "macro",
    labels: ArrayLike | None = None,
    pos_label: object = None,
) -> Statistic:
    """The area under the ROC curve: the chance that a positive row outscores a negative one, ties half.

    Parameters
    ----------
    truth
        Labels, or a 0/1 matrix of rows × labels for multilabel data.
    score
        One score per row for two classes; rows × classes (columns in sorted order of the labels) for more.
    multi_class
        "ovr": each class against the rest; "ovo": each pair of classes (Hand and Till).
    average
        Over classes or pairs: "macro", or "weighted" by their sizes; with "ovr" also "micro" (every row and class
        one case) and None (one area for each class).
    labels
        The classes that the columns of `score` stand for; None: those in `truth`, sorted.
    pos_label
        The positive one of two classes; None: the larger label.

    Examples
    --------
    >>> float(auc([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8]).value())
    0.875
    """
    if np.ndim(score) == 2 and np.shape(score)[1] > 1:
        one_of("multi_class", multi_class, ("ovr", "ovo"))
        if multi_class == "ovo":
            return one_against_one(truth, score, average, labels)
        return against_rest(AREA, truth, score, average, labels)
    positive, support, codes = two_classes(truth, score, pos_label)
    m = len(support)

    def gradient(totals: Array) -> Array:
        return np.concatenate(roc_area_slopes(totals[:m], totals[m:]))

    return Statistic(
        "AUC",
        (Rows(positive * m + codes, None, 2 * m),),
        lambda totals: roc_area(totals[..., :m], totals[..., m:]),
        gradient,
        link="logit",
        bounds=(0.0, 1.0),
        base=lambda totals: rarer(totals, m),
    )


@checked
def average_precision(
    truth: ArrayLike,
    score: ArrayLike,
    *,
    average: str | None = "macro",
    labels: ArrayLike | None = None,
    pos_label: object = None,
) -> Statistic:
    """The mean of the precisions at each recall step, sum (R_n − R_{n−1}) P_n.

    Parameters
    ----------
    truth, score
        As for `auc`; with rows × classes each class stands against the rest.
    average
        Over classes: "macro", "weighted", "micro" or None for each.
    labels, pos_label
        As for `auc`.

    Examples
    --------
    >>> round(float(average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).value()), 4)
    0.8333
    """
    if np.ndim(score) == 2 and np.shape(score)[1] > 1:
        return against_rest(PRECISION_AREA, truth, score, average, labels)
    positive, support, codes = two_classes(truth, score, pos_label)
    m = len(support)
    return Statistic(
        "average precision",
        (Rows(positive * m + codes, None, 2 * m),),
        lambda totals: precision_area(totals[..., :m], totals[..., m:]),
        lambda totals: np.concatenate(precision_area_slopes(totals[:m], totals[m:])),
        link="logit",
        bounds=(0.0, 1.0),
        base=lambda totals: rarer(totals, m),
    )


@checked
def roc(
    truth: ArrayLike, score: ArrayLike, *, thresholds: ArrayLike | None = None, pos_label: object = None
) -> Statistic:
    """The ROC curve: false and true positive rates at each threshold, highest threshold first.

    Parameters
    ----------
    truth, score
        Labels of two classes and a score per row.
    thresholds
        Where to look, falling; None: infinity, then every distinct score, or 512 of them evenly among the
        distinct ones where there are more.
    pos_label
        The positive class; None: the larger label.

    Examples
    --------
    >>> curve = roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.axes[1].labels
    (inf, 0.8, 0.4, 0.35, 0.1)
    >>> print(curve.value())
    [[0.  0.  0.5 0.5 1. ]
     [0.  0.5 0.5 1.  1. ]]
    """
    return _curve("ROC", truth, score, thresholds, pos_label, ("fpr", "tpr"))


@checked
def det(
    truth: ArrayLike, score: ArrayLike, *, thresholds: ArrayLike | None = None, pos_label: object = None
) -> Statistic:
    """The detection error trade-off: false positive and false negative rates at each threshold, highest first.

    The arguments are those of `roc`.

    Examples
    --------
    >>> print(det([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], thresholds=[0.8, 0.4]).value())
    [[0.  0.5]
     [0.5 0.5]]
    """
    return _curve("DET", truth, score, thresholds, pos_label, ("fpr", "fnr"))


@checked
def precision_recall(
    truth: ArrayLike, score: ArrayLike, *, thresholds: ArrayLike | None = None, pos_label: object = None
) -> Statistic:
    """Precision and recall at each threshold, highest first; precision 1 where nothing is called positive.

    The arguments are those of `roc`.

    Examples
    --------
    >>> print(precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], thresholds=[0.8, 0.4]).value())
    [[1.  0.5]
     [0.5 0.5]]
    """
    return _curve("precision and recall", truth, score, thresholds, pos_label, ("precision", "recall"))


@checked
def rate_at(
    truth: ArrayLike,
    score: ArrayLike,
    *,
    fpr: ArrayLike,
    rate: str = "tpr",
    pos_label: object = None,
) -> Statistic:
    """The true positive rate (or its complement "fnr") where the false positive rate is `fpr`: a point of the ROC.

    The curve between two thresholds is the straight line. Its interval counts both that the rate itself and that
    the threshold for `fpr` were found from the sample.

    Parameters
    ----------
    truth, score
        Labels of two classes and a score per row.
    fpr
        Wanted false positive rate or rates.
    rate
        "tpr" or "fnr".
    pos_label
        The positive class; None: the larger label.

    Examples
    --------
    >>> float(rate_at([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], fpr=0.25).value())
    0.5
    """
    one_of("rate", rate, ("tpr", "fnr"))
    return _at_fpr(truth, score, fpr, rate, pos_label, roc_height, roc_height_slopes)


@checked
def rate_within(
    truth: ArrayLike, score: ArrayLike, *, fpr: ArrayLike, rate: str = "tpr", pos_label: object = None
) -> Statistic:
    """The true positive rate (or "fnr") at the least threshold whose false positive rate is at most `fpr`.

    Unlike `rate_at` it is a rate that a threshold has, and not better than one: nothing lies between two thresholds.

    Examples
    --------
    >>> float(rate_within([0, 0, 1, 1], [0.4, 0.1, 0.8, 0.3], fpr=0.49).value())
    0.5
    >>> float(rate_within([0, 0, 1, 1], [0.4, 0.1, 0.8, 0.3], fpr=0.5).value())
    1.0
    """
    one_of("rate", rate, ("tpr", "fnr"))
    return _at_fpr(truth, score, fpr, rate, pos_label, roc_step, roc_step_slopes)


def _at_fpr(
    truth: ArrayLike,
    score: ArrayLike,
    fpr: ArrayLike,
    rate: str,
    pos_label: object,
    height: Callable[[Array, Array, Array], Array],
    slopes: Callable[[Array, Array, Array], Array],
) -> Statistic:
    """A point of the ROC curve, by one way to go between its corners."""
    positive, support, codes = two_classes(truth, score, pos_label)
    wanted = _wanted("fpr", fpr)
    m = len(support)
    many = np.ndim(fpr) > 0
    sign = 1.0 if rate == "tpr" else -1.0

    def function(totals: Array) -> Array:
        flat = totals.reshape(-1, 2 * m)
        found = np.stack([height(row[:m], row[m:], wanted) for row in flat]).reshape(*totals.shape[:-1], -1)
        found = found if rate == "tpr" else 1 - found
        return found if many else found[..., 0]

    def gradient(totals: Array) -> Array:
        made = sign * slopes(totals[:m], totals[m:], wanted)
        return made if many else made[:, 0]

    axes = (Axis("fpr", tuple(wanted.tolist())),) if many else ()
    name = f"{rate} at fpr {wanted[0]:g}" if not many else f"{rate} at fpr"
    rows = (Rows(positive * m + codes, None, 2 * m),)

    def base(totals: Array) -> Array:
        size = totals[..., m:].sum(axis=-1)
        return np.repeat(size[..., None], len(wanted), axis=-1) if many else size

    return Statistic(name, rows, function, gradient, axes, "logit", (0.0, 1.0), base=base)


@checked
def threshold_at(
    truth: ArrayLike, score: ArrayLike, *, at: ArrayLike, rate: str = "fpr", pos_label: object = None
) -> Statistic:
    """The threshold with a wanted rate: the one that keeps the error at or under `at` and gives away least.

    Parameters
    ----------
    truth, score
        Labels of two classes and a score per row.
    at
        Wanted rate or rates.
    rate
        "fpr": the least score t with at most the share `at` of negatives at or above it (an error says what can be
        had where even the highest score has more of them); "fnr": the greatest with at most the share `at` of
        positives below it; "tpr" and "tnr": their complements, at least `at`.
    pos_label
        The positive class; None: the larger label.

    Notes
    -----
    It is a quantile: use replicates of the bootstrap or of balanced half-samples. The closed form has a smoothed
    slope, and a jackknife is inconsistent.

    Examples
    --------
    >>> float(threshold_at([0, 0, 0, 0, 1], [1, 2, 3, 4, 5], at=0.25).value())
    4.0
    """
    one_of("rate", rate, RATES)
    positive, support, codes = two_classes(truth, score, pos_label)
    wanted = _wanted("at", at)
    m = len(support)
    many = np.ndim(at) > 0
    wanted = wanted if rate in ("fpr", "fnr") else 1 - wanted
    negatives = rate in ("fpr", "tnr")

    def function(totals: Array) -> Array:
        flat = totals.reshape(-1, 2 * m)
        one = np.stack([threshold_for(row[:m], row[m:], support, wanted, negatives) for row in flat])
        if np.isinf(one).any():
            raise _unreachable(rate, flat[:, :m], flat[:, m:], one, wanted)
        found = one.reshape(*totals.shape[:-1], -1)
        return found if many else found[..., 0]

    def gradient(totals: Array) -> Array:
        side = slice(0, m) if negatives else slice(m, 2 * m)
        slopes = np.zeros((2 * m, len(wanted)))
        slopes[side] = threshold_slopes(totals[side], support, function(totals), wanted, negatives)
        return slopes if many else slopes[:, 0]

    axes = (Axis(rate, tuple(np.atleast_1d(np.asarray(at, float)).tolist())),) if many else ()
    name = f"threshold at {rate}" + ("" if many else f" {float(np.asarray(at)):g}")
    rows = (Rows(positive * m + codes, None, 2 * m),)
    return Statistic(name, rows, function, gradient, axes)


def _unreachable(rate: str, negative: Array, positive: Array, found: Array, wanted: Array) -> StratError:
    """The error for a rate under that of the highest score, in the rows or in the worst replicate of them."""
    lost, column = np.nonzero(np.isinf(found))
    top = [row.nonzero()[0][-1] for row in negative[lost] + positive[lost]]
    least = np.ceil(1e6 * (negative[lost, top] / negative[lost].sum(axis=1)).max()) / 1e6
    asked = wanted[column].min()
    many = len(found) > 1
    limit, got = (f"at least {least:g}", asked) if rate == "fpr" else (f"at most {1 - least:g}", 1 - asked)
    return StratError(
        f"`at` must be {limit} for {rate!r}, got {got:g}: at the highest score{' of a replicate' * many} the share "
        f"{least:g} of negatives is called positive, and no threshold among the scores has fewer; ask for that rate, "
        f"or {'use the closed form (on=design)' if many else 'give more negatives'}."
    )


@checked
def equal_error_rate(truth: ArrayLike, score: ArrayLike, *, pos_label: object = None) -> Statistic:
    """The rate at which false positives and false negatives are equal, on the straight lines of the ROC curve.

    Examples
    --------
    >>> float(equal_error_rate([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).value())
    0.5
    """
    positive, support, codes = two_classes(truth, score, pos_label)
    m = len(support)

    def function(totals: Array) -> Array:
        flat = totals.reshape(-1, 2 * m)
        return np.array([equal_error(row[:m], row[m:]) for row in flat]).reshape(totals.shape[:-1])

    def gradient(totals: Array) -> Array:
        # fnr(x) − x = 0 at the answer: its derivative by the totals over 1 less the slope of fnr there.
        at = np.array([equal_error(totals[:m], totals[m:])])
        by_totals = -roc_height_slopes(totals[:m], totals[m:], at)[:, 0]
        return by_totals / (1 + roc_slope(totals[:m], totals[m:], at)[0])

    rows = (Rows(positive * m + codes, None, 2 * m),)
    return Statistic(
        "equal error rate",
        rows,
        function,
        gradient,
        link="logit",
        bounds=(0.0, 1.0),
        base=lambda totals: rarer(totals, m),
    )


def two_classes(truth: ArrayLike, score: ArrayLike, pos_label: object) -> tuple[Codes, Array, Codes]:
    """Whether each row is positive, the distinct scores rising, and each row's place among them."""
    codes, labels = encode("truth", truth)
    values = numbers("score", score)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim != 1:
        raise StratError(f"`score` must have one number per row for two classes, got shape {values.shape}.")
    same_length(truth=codes, score=values)
    positive = _positives(codes, labels, pos_label)
    places, support = encode("score", values)
    return positive, support, places


def _positives(codes: Codes, labels: NDArray[Any], pos_label: object) -> Codes:
    if pos_label is None:
        if len(labels) > 2:
            raise StratError(
                f"`truth` must have two classes, got {len(labels)} ({some(labels.tolist())}); "
                "give one score for each class, or name the positive class in `pos_label`."
            )
        if len(labels) == 1 and labels.dtype.kind in "biuf":
            positive = np.full(len(codes), int(labels[0] > 0))
        else:
            positive = (codes == len(labels) - 1).astype(np.int64)
    else:
        found = np.flatnonzero(labels == pos_label)
        if len(found) == 0:
            raise StratError(
                f"`pos_label` must be one of the labels, got {plain(pos_label)!r}; there are {some(labels.tolist())}."
            )
        positive = (codes == found[0]).astype(np.int64)
    if positive.all() or not positive.any():
        warnings.warn(
            f"`truth` has one class only, {some(labels.tolist())}: rates of the missing class are nan.",
            StratWarning,
            stacklevel=4,
        )
    return positive


def _curve(
    name: str,
    truth: ArrayLike,
    score: ArrayLike,
    thresholds: ArrayLike | None,
    pos_label: object,
    rates: tuple[str, str],
) -> Statistic:
    """Two rates at each threshold, from a histogram of the scores between thresholds."""
    positive, support, places = two_classes(truth, score, pos_label)
    falling = falling_thresholds(support, thresholds, endless=rates[0] != "precision")
    k = len(falling)
    # Bin b < k holds the scores at or above falling[b] and below falling[b - 1]; bin k those below all.
    bins = np.searchsorted(-falling, -support, side="left")[places]

    def function(totals: Array) -> Array:
        wrong = np.cumsum(totals[..., : k + 1], axis=-1)
        hit = np.cumsum(totals[..., k + 1 :], axis=-1)
        return np.stack([_rate(rate, wrong, hit) for rate in rates], axis=-2)

    def gradient(totals: Array) -> Array:
        wrong, hit = np.cumsum(totals[: k + 1]), np.cumsum(totals[k + 1 :])
        made = np.zeros((2, k + 1, 2, k))
        for i, rate in enumerate(rates):
            made[:, :, i] = _rate_slopes(rate, wrong, hit)
        return made.reshape(2 * (k + 1), 2, k)

    def base(totals: Array) -> Array:
        wrong = np.cumsum(totals[..., : k + 1], axis=-1)
        hit = np.cumsum(totals[..., k + 1 :], axis=-1)
        return np.stack([_rate_base(rate, wrong, hit) for rate in rates], axis=-2)

    axes = (Axis("rate", rates), Axis("threshold", tuple(falling.tolist())))
    rows = (Rows(positive * (k + 1) + bins, None, 2 * (k + 1)),)
    return Statistic(name, rows, function, gradient, axes, "logit", (0.0, 1.0), proportion=True, base=base)


def falling_thresholds(support: Array, thresholds: ArrayLike | None, *, endless: bool) -> Array:
    if thresholds is None:
        few = support
        if len(support) > MOST_THRESHOLDS:
            few = support[np.unique(np.rint(np.linspace(0, len(support) - 1, MOST_THRESHOLDS)).astype(int))]
        falling = few[::-1].astype(float)
        return np.concatenate([[np.inf], falling]) if endless else falling
    falling = numbers("thresholds", thresholds, finite=False)
    if falling.ndim != 1 or np.isnan(falling).any() or (np.diff(falling) >= 0).any():
        raise StratError(f"`thresholds` must fall from the first to the last, got {some(falling.tolist())}.")
    return falling


def _rate(rate: str, wrong: Array, hit: Array) -> Array:
    """A rate at each threshold from cumulated negatives and positives (the last place holds all)."""
    if rate == "fpr":
        return quotient(wrong[..., :-1], wrong[..., -1:])
    if rate in ("tpr", "recall"):
        return quotient(hit[..., :-1], hit[..., -1:])
    if rate == "fnr":
        return quotient(hit[..., -1:] - hit[..., :-1], hit[..., -1:])
    called = wrong[..., :-1] + hit[..., :-1]
    return np.where(called > 0, np.divide(hit[..., :-1], called, out=np.zeros_like(called), where=called > 0), 1.0)


def _rate_base(rate: str, wrong: Array, hit: Array) -> Array:
    if rate == "precision":
        return np.asarray(wrong[..., :-1] + hit[..., :-1])
    every = wrong if rate == "fpr" else hit
    return np.broadcast_to(every[..., -1:], every[..., :-1].shape)


def _rate_slopes(rate: str, wrong: Array, hit: Array) -> Array:
    """Derivatives of a rate at each threshold by the histogram's bins: (2 classes, bins, thresholds)."""
    k = len(wrong) - 1
    above = np.arange(k + 1)[:, None] <= np.arange(k)
    made = np.zeros((2, k + 1, k))
    if rate == "precision":
        called = wrong[:-1] + hit[:-1]
        safe = np.where(called > 0, called, 1.0)
        made[0] = above * np.where(called > 0, -hit[:-1] / safe**2, 0.0)
        made[1] = above * np.where(called > 0, wrong[:-1] / safe**2, 0.0)
        return made
    side, cumulated = (0, wrong) if rate == "fpr" else (1, hit)
    if cumulated[-1] > 0:
        made[side] = (above - cumulated[:-1] / cumulated[-1]) / cumulated[-1]
    return -made if rate == "fnr" else made


def _wanted(argument: str, rates: ArrayLike) -> Array:
    values = np.atleast_1d(np.asarray(rates, float))
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise StratError(f"`{argument}` must be rates between 0 and 1, got {some(np.ravel(values).tolist())}.")
    return values
