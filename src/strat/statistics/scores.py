"""Measures of scores: what two classes' histograms over the distinct scores add up to.

A higher score speaks for the positive class; a row is called positive at a threshold when its score is at least that.
Ties count half in areas, exactly. A curve has thresholds as its axis, so it works with every design and has bands.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.columns import Array, Codes, encode, numbers, same_length
from strat.errors import StratError, StratWarning, one_of, plain, some
from strat.statistics.base import Axis, Rows, Statistic

__all__ = [
    "auc",
    "average_precision",
    "det",
    "equal_error_rate",
    "precision_recall",
    "rate_at",
    "roc",
    "threshold_at",
]

MOST_THRESHOLDS = 512
RATES = ("fpr", "tpr", "fnr", "tnr")


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
        Labels.
    score
        One score per row for two classes; rows × classes (columns in sorted order of the labels) for more.
    multi_class
        "ovr": each class against the rest; "ovo": each pair of classes (Hand and Till).
    average
        Over classes or pairs: "macro", or "weighted" by their sizes; None (with "ovr"): one area for each class.
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
        return _auc_of_classes(truth, score, multi_class, average, labels)
    positive, support, codes = _two(truth, score, pos_label)
    m = len(support)

    def gradient(totals: Array) -> Array:
        return np.concatenate(_area_slopes(totals[:m], totals[m:]))

    return Statistic(
        "AUC",
        (Rows(positive * m + codes, None, 2 * m),),
        lambda totals: _area(totals[..., :m], totals[..., m:]),
        gradient,
        link="logit",
        bounds=(0.0, 1.0),
        base=lambda totals: _rarer(totals, m),
    )


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
        Over classes: "macro", "weighted" or None for each.
    labels, pos_label
        As for `auc`.

    Examples
    --------
    >>> round(float(average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).value()), 4)
    0.8333
    """
    if np.ndim(score) == 2 and np.shape(score)[1] > 1:
        return _classes_against_rest(
            "average precision", truth, score, average, labels, _average_precision, _average_precision_slopes
        )
    positive, support, codes = _two(truth, score, pos_label)
    m = len(support)
    return Statistic(
        "average precision",
        (Rows(positive * m + codes, None, 2 * m),),
        lambda totals: _average_precision(totals[..., :m], totals[..., m:]),
        lambda totals: np.concatenate(_average_precision_slopes(totals[:m], totals[m:])),
        link="logit",
        bounds=(0.0, 1.0),
        base=lambda totals: _rarer(totals, m),
    )


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
    positive, support, codes = _two(truth, score, pos_label)
    wanted = _wanted("fpr", fpr)
    m = len(support)
    many = np.ndim(fpr) > 0
    sign = 1.0 if rate == "tpr" else -1.0

    def function(totals: Array) -> Array:
        flat = totals.reshape(-1, 2 * m)
        found = np.stack([_height(row[:m], row[m:], wanted) for row in flat]).reshape(*totals.shape[:-1], -1)
        found = found if rate == "tpr" else 1 - found
        return found if many else found[..., 0]

    def gradient(totals: Array) -> Array:
        slopes = sign * _height_slopes(totals[:m], totals[m:], wanted)
        return slopes if many else slopes[:, 0]

    axes = (Axis("fpr", tuple(wanted.tolist())),) if many else ()
    name = f"{rate} at fpr {wanted[0]:g}" if not many else f"{rate} at fpr"
    rows = (Rows(positive * m + codes, None, 2 * m),)

    def base(totals: Array) -> Array:
        size = totals[..., m:].sum(axis=-1)
        return np.repeat(size[..., None], len(wanted), axis=-1) if many else size

    return Statistic(name, rows, function, gradient, axes, "logit", (0.0, 1.0), base=base)


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
        "fpr": the least score t with at most the share `at` of negatives at or above it (infinity if none does);
        "fnr": the greatest with at most the share `at` of positives below it; "tpr" and "tnr": their complements,
        at least `at`.
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
    positive, support, codes = _two(truth, score, pos_label)
    wanted = _wanted("at", at)
    m = len(support)
    many = np.ndim(at) > 0
    wanted = wanted if rate in ("fpr", "fnr") else 1 - wanted
    negatives = rate in ("fpr", "tnr")

    def function(totals: Array) -> Array:
        flat = totals.reshape(-1, 2 * m)
        one = [_threshold(row[:m], row[m:], support, wanted, negatives) for row in flat]
        found = np.stack(one).reshape(*totals.shape[:-1], -1)
        return found if many else found[..., 0]

    def gradient(totals: Array) -> Array:
        side = slice(0, m) if negatives else slice(m, 2 * m)
        slopes = np.zeros((2 * m, len(wanted)))
        slopes[side] = _threshold_slopes(totals[side], support, function(totals), wanted, negatives)
        return slopes if many else slopes[:, 0]

    axes = (Axis(rate, tuple(np.atleast_1d(np.asarray(at, float)).tolist())),) if many else ()
    name = f"threshold at {rate}" + ("" if many else f" {float(np.asarray(at)):g}")
    rows = (Rows(positive * m + codes, None, 2 * m),)
    return Statistic(name, rows, function, gradient, axes)


def equal_error_rate(truth: ArrayLike, score: ArrayLike, *, pos_label: object = None) -> Statistic:
    """The rate at which false positives and false negatives are equal, on the straight lines of the ROC curve.

    Examples
    --------
    >>> float(equal_error_rate([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).value())
    0.5
    """
    positive, support, codes = _two(truth, score, pos_label)
    m = len(support)

    def function(totals: Array) -> Array:
        flat = totals.reshape(-1, 2 * m)
        return np.array([_equal_error(row[:m], row[m:]) for row in flat]).reshape(totals.shape[:-1])

    def gradient(totals: Array) -> Array:
        # fnr(x) − x = 0 at the answer: its derivative by the totals over 1 less the slope of fnr there.
        at = np.array([_equal_error(totals[:m], totals[m:])])
        by_totals = -_height_slopes(totals[:m], totals[m:], at)[:, 0]
        return by_totals / (1 + _roc_slope(totals[:m], totals[m:], at)[0])

    rows = (Rows(positive * m + codes, None, 2 * m),)
    return Statistic(
        "equal error rate",
        rows,
        function,
        gradient,
        link="logit",
        bounds=(0.0, 1.0),
        base=lambda totals: _rarer(totals, m),
    )


def _two(truth: ArrayLike, score: ArrayLike, pos_label: object) -> tuple[Codes, Array, Codes]:
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


def _matrix(truth: ArrayLike, score: ArrayLike, labels: ArrayLike | None) -> tuple[Codes, NDArray[Any], Array]:
    """Codes of the true classes, the classes, and the scores rows × classes."""
    codes, found = encode("truth", truth)
    values = numbers("score", score)
    same_length(truth=codes, score=values)
    names = found if labels is None else np.asarray(labels)
    if labels is not None:
        order = np.argsort(names)
        place = np.searchsorted(names[order], found)
        known = place < len(names)
        known[known] = names[order][place[known]] == found[known]
        if not known.all():
            raise StratError(f"`labels` must hold every class of `truth`, got none for {some(found[~known].tolist())}.")
        codes = order[place][codes]
    if values.shape[1] != len(names):
        raise StratError(
            f"`score` must have one column for each of the {len(names)} classes, got {values.shape[1]}; "
            "name the classes of the columns in `labels`."
        )
    return codes, names, values


def _auc_of_classes(
    truth: ArrayLike, score: ArrayLike, multi_class: str, average: str | None, labels: ArrayLike | None
) -> Statistic:
    one_of("multi_class", multi_class, ("ovr", "ovo"))
    if multi_class == "ovo":
        return _one_against_one(truth, score, average, labels)
    return _classes_against_rest("AUC", truth, score, average, labels, _area, _area_slopes)


Slopes = Callable[[Array, Array], tuple[Array, Array]]


def _classes_against_rest(
    name: str,
    truth: ArrayLike,
    score: ArrayLike,
    average: str | None,
    labels: ArrayLike | None,
    value: Callable[[Array, Array], Array],
    slopes: Slopes,
) -> Statistic:
    """One binary measure for each class against the rest, averaged; one block of components per class."""
    if average is not None:
        one_of("average", average, ("macro", "weighted"))
    codes, names, scores = _matrix(truth, score, labels)
    k = len(names)
    blocks, sizes = [], []
    for j in range(k):
        places, support = encode("score", scores[:, j])
        sizes.append(len(support))
        blocks.append(Rows((codes == j) * len(support) + places, None, 2 * len(support)))
    cuts = np.concatenate([[0], np.cumsum([2 * m for m in sizes])])

    def parts(totals: Array) -> list[tuple[Array, Array]]:
        pieces = [totals[..., a:b] for a, b in pairwise(cuts)]
        return [(piece[..., :m], piece[..., m:]) for piece, m in zip(pieces, sizes, strict=True)]

    def function(totals: Array) -> Array:
        per = np.stack([value(negative, positive) for negative, positive in parts(totals)], axis=-1)
        if average is None:
            return per
        weights = np.stack([positive.sum(axis=-1) for _, positive in parts(totals)], axis=-1)
        return _averaged(per, weights if average == "weighted" else np.ones_like(per), skip=average == "weighted")

    def gradient(totals: Array) -> Array:
        each = [np.concatenate(slopes(negative, positive)) for negative, positive in parts(totals)]
        if average is None:
            made = np.zeros((cuts[-1], k))
            for j, piece in enumerate(each):
                made[cuts[j] : cuts[j + 1], j] = piece
            return made
        if average == "macro":
            return np.concatenate(each) / k
        size = np.array([positive.sum() for _, positive in parts(totals)])
        per = np.array([value(negative, positive) for negative, positive in parts(totals)])
        mean = float(np.nansum(size * np.nan_to_num(per)) / size.sum())
        by_size = np.nan_to_num(per) - mean
        pieces = [
            np.nan_to_num(piece) * size[j] / size.sum()
            + np.concatenate([np.zeros(sizes[j]), np.full(sizes[j], by_size[j] / size.sum())])
            for j, piece in enumerate(each)
        ]
        return np.concatenate(pieces)

    axes = () if average else (Axis("class", tuple(plain(label) for label in names)),)
    title = name if average is None else f"{average} {name}"
    return Statistic(title, tuple(blocks), function, gradient, axes, "logit", (0.0, 1.0))


def _one_against_one(truth: ArrayLike, score: ArrayLike, average: str | None, labels: ArrayLike | None) -> Statistic:
    """Hand and Till's measure: each pair of classes by both their scores."""
    if average is None or average not in ("macro", "weighted"):
        raise StratError(f"`average` must be 'macro' or 'weighted' with multi_class='ovo', got {average!r}.")
    codes, names, scores = _matrix(truth, score, labels)
    k = len(names)
    coded = [encode("score", scores[:, j]) for j in range(k)]
    sizes = [len(support) for _, support in coded]
    blocks = tuple(Rows(codes * m + place, None, k * m) for (place, _), m in zip(coded, sizes, strict=True))
    cuts = np.concatenate([[0], np.cumsum([k * m for m in sizes])])
    pairs = list(combinations(range(k), 2))

    def parts(totals: Array) -> list[Array]:
        return [totals[..., cuts[j] : cuts[j + 1]].reshape(*totals.shape[:-1], k, sizes[j]) for j in range(k)]

    def function(totals: Array) -> Array:
        by = parts(totals)
        per = np.stack(
            [
                (_area(by[a][..., b, :], by[a][..., a, :]) + _area(by[b][..., a, :], by[b][..., b, :])) / 2
                for a, b in pairs
            ],
            axis=-1,
        )
        size = by[0].sum(axis=-1)
        both = np.stack([size[..., a] + size[..., b] for a, b in pairs], axis=-1)
        return _averaged(per, both if average == "weighted" else np.ones_like(per), skip=False)

    rows_of = Statistic(f"{average} AUC (one against one)", blocks, function, link="logit", bounds=(0.0, 1.0))
    if average == "weighted":
        return rows_of

    def gradient(totals: Array) -> Array:
        by = parts(totals)
        made = [np.zeros_like(piece) for piece in by]
        for a, b in pairs:
            for own, other in ((a, b), (b, a)):
                negative, positive = _area_slopes(by[own][other], by[own][own])
                made[own][other] += negative / (2 * len(pairs))
                made[own][own] += positive / (2 * len(pairs))
        return np.concatenate([piece.ravel() for piece in made])

    return Statistic(rows_of.name, blocks, function, gradient, link="logit", bounds=(0.0, 1.0))


def _averaged(per: Array, weights: Array, *, skip: bool) -> Array:
    """Weighted mean over the last axis; `skip` lets weightless nan pass."""
    values = np.where(skip & (weights == 0), 0.0, per)
    result: Array = (weights * values).sum(axis=-1) / weights.sum(axis=-1)
    return result


def _rarer(totals: Array, m: int) -> Array:
    """The weight of the smaller class: what a perfect score of both can be counted on."""
    return np.minimum(totals[..., :m].sum(axis=-1), totals[..., m:].sum(axis=-1))


def _over(top: Array, bottom: Any) -> Array:
    top, bottom = np.broadcast_arrays(top, bottom)
    result: Array = np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom != 0)
    return result


def _area(negative: Array, positive: Array) -> Array:
    """The share of (negative, positive) pairs in the right order, ties half; scores rise along the last axis."""
    below = np.cumsum(negative, axis=-1) - negative / 2
    right = (below * positive).sum(axis=-1)
    return _snapped(_over(right, negative.sum(axis=-1) * positive.sum(axis=-1)))


def _snapped(area: Array) -> Array:
    """Exactly 1 where only rounding keeps it from 1: a perfect score is told apart by that."""
    return np.where(np.abs(area - 1) < 1e-13, 1.0, area)


def _area_slopes(negative: Array, positive: Array) -> tuple[Array, Array]:
    n, p = negative.sum(), positive.sum()
    if n == 0 or p == 0:
        return np.full_like(negative, np.nan), np.full_like(positive, np.nan)
    below = np.cumsum(negative) - negative / 2
    above = p - np.cumsum(positive) + positive / 2
    area = float(_area(negative, positive))
    if area in (0.0, 1.0):
        return np.zeros_like(negative), np.zeros_like(positive)
    return (above / p - area) / n, (below / n - area) / p


def _from_top(values: Array) -> Array:
    """Sums over scores at least as high."""
    return np.flip(np.cumsum(np.flip(values, -1), axis=-1), -1)


def _average_precision(negative: Array, positive: Array) -> Array:
    hit, wrong = _from_top(positive), _from_top(negative)
    called = hit + wrong
    precision = np.divide(hit, called, out=np.zeros_like(hit), where=called > 0)
    total = positive.sum(axis=-1)
    # Without a positive row recall is one everywhere and the area 0, as scikit-learn has it.
    mean = np.divide((positive * precision).sum(axis=-1), total, out=np.zeros(np.shape(total)), where=total > 0)
    return _snapped(mean)


def _average_precision_slopes(negative: Array, positive: Array) -> tuple[Array, Array]:
    hit, wrong = _from_top(positive), _from_top(negative)
    called, total = hit + wrong, positive.sum()
    if total == 0 or float(_average_precision(negative, positive)) == 1.0:
        return np.zeros_like(negative), np.zeros_like(positive)
    safe = np.where(called > 0, called, 1.0)
    precision = hit / safe
    # A row adds to every step at or below its own score.
    by_hit = np.cumsum(positive * wrong / safe**2)
    by_wrong = np.cumsum(-positive * hit / safe**2)
    value = float(positive @ precision) / total
    return by_wrong / total, (precision + by_hit - value) / total


def _curve(
    name: str,
    truth: ArrayLike,
    score: ArrayLike,
    thresholds: ArrayLike | None,
    pos_label: object,
    rates: tuple[str, str],
) -> Statistic:
    """Two rates at each threshold, from a histogram of the scores between thresholds."""
    positive, support, places = _two(truth, score, pos_label)
    falling = _thresholds(support, thresholds, endless=rates[0] != "precision")
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


def _thresholds(support: Array, thresholds: ArrayLike | None, *, endless: bool) -> Array:
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
        return _over(wrong[..., :-1], wrong[..., -1:])
    if rate in ("tpr", "recall"):
        return _over(hit[..., :-1], hit[..., -1:])
    if rate == "fnr":
        return _over(hit[..., -1:] - hit[..., :-1], hit[..., -1:])
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


def _path(negative: Array, positive: Array) -> tuple[Array, Array]:
    """The corners of the ROC curve, from (0, 0) to (1, 1)."""
    x = np.concatenate([[0.0], np.cumsum(negative[::-1])])
    y = np.concatenate([[0.0], np.cumsum(positive[::-1])])
    with np.errstate(invalid="ignore", divide="ignore"):
        return x / x[-1], y / y[-1]


def _height(negative: Array, positive: Array, wanted: Array) -> Array:
    """The ROC curve at these false positive rates; the upper end where it rises straight up."""
    x, y = _path(negative, positive)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return np.full(len(wanted), np.nan)
    before = np.searchsorted(x, wanted, side="right") - 1  # the top of a vertical piece
    after = np.minimum(before + 1, len(x) - 1)
    part = _over(wanted - x[before], x[after] - x[before])
    return np.asarray(y[before] + np.nan_to_num(part) * (y[after] - y[before]))


def _roc_slope(negative: Array, positive: Array, wanted: Array) -> Array:
    """The slope of the ROC curve, smoothed over a window that shrinks as the sample grows."""
    size = max(float(np.count_nonzero(negative)), 2.0)
    half = np.maximum(size ** (-1 / 3) * np.sqrt(wanted * (1 - wanted)), 2.0 / size)
    low, high = np.maximum(wanted - half, 0.0), np.minimum(wanted + half, 1.0)
    rise: Array = _height(negative, positive, high) - _height(negative, positive, low)
    return rise / np.maximum(high - low, 1e-12)


def _height_slopes(negative: Array, positive: Array, wanted: Array) -> Array:
    """Influence of each bin on the ROC's height: of the positives at the threshold, and of the negatives on it."""
    n, p = negative.sum(), positive.sum()
    m = len(negative)
    if n == 0 or p == 0:
        return np.full((2 * m, len(wanted)), np.nan)
    height, slope = _height(negative, positive, wanted), _roc_slope(negative, positive, wanted)
    # At the ends nothing varied: the interval is then the exact one, not a smoothed guess.
    slope = np.where((height > 0) & (height < 1), slope, 0.0)
    # The share of each bin that lies above the threshold: 1, 0, or a part of the bin that is cut.
    top = np.flip(np.cumsum(np.flip(negative))) - negative
    part = np.clip(
        np.divide(
            wanted * n - top[:, None],
            negative[:, None],
            out=np.where(wanted * n >= top[:, None], 1.0, 0.0),
            where=negative[:, None] > 0,
        ),
        0.0,
        1.0,
    )
    return np.concatenate([-slope * (part - wanted) / n, (part - height) / p])


def _threshold(negative: Array, positive: Array, support: Array, wanted: Array, negatives: bool) -> Array:
    """The threshold that keeps the share of one class on its wrong side at or under `wanted`."""
    there = negative + positive > 0
    mass, support = (negative if negatives else positive)[there], support[there]
    total = mass.sum()
    if total == 0:
        return np.full(len(wanted), np.nan)
    slack = 4 * np.finfo(float).eps
    if negatives:
        above = np.flip(np.cumsum(np.flip(mass))) / total  # the share at or above each score, falling
        first = np.searchsorted(-above, -(wanted + slack), side="left")
        return np.append(support, np.inf)[first]
    below = (np.cumsum(mass) - mass) / total  # the share below each score, rising
    return support[np.searchsorted(below, wanted + slack, side="right") - 1]


def _threshold_slopes(mass: Array, support: Array, found: Array, wanted: Array, negatives: bool) -> Array:
    """Influence on a quantile: the wrong side less its share, over the density there, smoothed."""
    found = np.atleast_1d(found)
    total = mass.sum()
    cumulated = np.cumsum(mass) / total
    size = max(float(np.count_nonzero(mass)), 2.0)
    half = np.maximum(size ** (-1 / 3) * np.sqrt(wanted * (1 - wanted)), 2.0 / size)
    centre = 1 - wanted if negatives else wanted
    low, high = np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)
    spread = np.interp(high, cumulated, support) - np.interp(low, cumulated, support)
    inverse_density = spread / (high - low)
    wrong = support[:, None] >= found if negatives else support[:, None] < found
    sign = 1.0 if negatives else -1.0
    result: Array = sign * (wrong - mass @ wrong / total) * inverse_density / total
    return result


def _equal_error(negative: Array, positive: Array) -> float:
    x, y = _path(negative, positive)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return float("nan")
    gap = x - (1 - y)  # rises from −1 to 1 along the curve
    after = int(np.argmax(gap >= 0))
    if after == 0 or gap[after] == 0:
        return float(x[after])
    part = -gap[after - 1] / (gap[after] - gap[after - 1])
    return float(x[after - 1] + part * (x[after] - x[after - 1]))
