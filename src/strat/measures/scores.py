"""Measures of scores: what two classes' histograms over the distinct scores add up to.

A higher score speaks for the positive class; a row is called positive at a threshold when its score is at least that.
Ties count half in areas, exactly. A curve has thresholds as its axis, so it works with every design and has bands.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, one_of, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, encode, numbers, values
from strat.measures.base import FEW_UNITS, Axis, Rows, Statistic
from strat.measures.positive import positives, refused
from strat.measures.quotients import quotient
from strat.measures.register import SCORES, measure, one_for_all
from strat.measures.score_classes import AREA, PRECISION_AREA, against_rest, one_against_one
from strat.measures.score_histograms import (
    partial_roc_area,
    partial_roc_area_slopes,
    precision_area,
    precision_area_slopes,
    roc_area,
    roc_area_in_groups,
    roc_area_slopes,
)

AREAS = {  # scikit-learn's names, of scores for each class
    "roc_auc_ovr_weighted": {"multi_class": "ovr", "average": "weighted"},
    "roc_auc_ovo": {"multi_class": "ovo"},
    "roc_auc_ovo_weighted": {"multi_class": "ovo", "average": "weighted"},
}
MOST_THRESHOLDS = 512  # of a curve for which no thresholds were given


@measure(
    "auc",
    "auroc",
    "roc_auc",
    "c_statistic",
    "concordance",
    needs=SCORES,
    of="pair",
    symmetric=True,
    unit="share of pairs",
    together=one_for_all,
    reference="Hanley and McNeil 1982",
)
@measure(
    "roc_auc_ovr",
    needs=SCORES,
    reads="matrix",
    of="pair",
    symmetric=True,
    given={"multi_class": "ovr"},
    variants=AREAS,
    unit="share of pairs",
    reference="Hand and Till 2001",
)
@checked
def auc(
    truth: ArrayLike,
    score: ArrayLike,
    *,
    multi_class: str = "ovr",
    average: str | None = "macro",
    labels: ArrayLike | None = None,
    positive: object = None,
) -> Statistic:
    """The area under the ROC curve: the chance that a positive row outscores a negative one, with ties counted half.

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
    positive
        The positive class, against all others if there are more than two; None: 1 if the labels are 0 and 1 or −1 and
        1, True if they are False and True; any others must be named. Only for one score per row.

    Examples
    --------
    >>> float(auc([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8]).value())
    0.875
    """
    if np.ndim(score) == 2 and np.shape(score)[1] > 1:
        one_of("multi_class", multi_class, ("ovr", "ovo"))
        refused(positive, "for a score of each class")
        if multi_class == "ovo":
            return one_against_one(truth, score, average, labels)
        return against_rest(AREA, truth, score, average, labels)
    hits, support, codes, label = two_classes(truth, score, positive)
    m = len(support)

    def gradient(totals: Array) -> Array:
        return np.concatenate(roc_area_slopes(totals[:m], totals[m:]))

    def in_groups(rows: Rows, weights: Array, group: Codes) -> tuple[Array, Array]:
        hit, score = np.divmod(np.asarray(rows.codes), m)
        return roc_area_in_groups(hit, score, weights, group)

    return Statistic(
        "AUC",
        (Rows(hits * m + codes, None, 2 * m),),
        lambda totals: roc_area(totals[..., :m], totals[..., m:]),
        gradient,
        link="logit",
        bounds=(0.0, 1.0),
        truth=hits,
        curved_below=FEW_UNITS,
        positive=label,
        chance=0.5,
        higher_is_better=True,
        in_groups=in_groups,
    )


@measure("partial_auc@", "pauc@", needs=SCORES, of="pair", at="specificity", unit="area", reference="McClish 1989")
@checked
def partial_auc(
    truth: ArrayLike,
    score: ArrayLike,
    *,
    specificity: ArrayLike | None = None,
    sensitivity: ArrayLike | None = None,
    standardized: bool = False,
    positive: object = None,
) -> Statistic:
    """The area under the part of the ROC curve that matters: where the specificity, or the sensitivity, is high.

    Parameters
    ----------
    truth, score
        Labels of two classes and a score per row.
    specificity, sensitivity
        One of the two: from where to where, as in ``specificity=(0.9, 1)``; one number reaches up to 1. Over a range of
        specificities the sensitivity is added up, over one of sensitivities the specificity.
    standardized
        Whether to bring the area of an uninformative score to 0.5 and that of a perfect one to 1 (McClish 1989), as
        `max_fpr` of scikit-learn does.
    positive
        The positive class, as for `auc`.

    Examples
    --------
    >>> truth, score = [0, 0, 0, 0, 1, 1], [1, 2, 3, 5, 4, 6]
    >>> float(partial_auc(truth, score, specificity=0.5)), float(partial_auc(truth, score, sensitivity=0.5))
    (0.375, 0.375)
    >>> float(partial_auc(truth, score, specificity=0.5, standardized=True).value().round(4))
    0.8333
    """
    if (specificity is None) == (sensitivity is None):
        got = "neither" if specificity is None else "both"
        raise StratError(f"exactly one of `specificity` and `sensitivity` must be given, got {got}.")
    argument = "sensitivity" if specificity is None else "specificity"
    start, stop = _range(argument, sensitivity if specificity is None else specificity)
    low, high = 1 - stop, 1 - start
    hits, support, codes, label = two_classes(truth, score, positive)
    m = len(support)

    def sides(totals: Array) -> tuple[Array, Array]:
        """The classes as (negative, positive); for sensitivities the ROC curve is seen from the other class."""
        negative, hit = totals[..., :m], totals[..., m:]
        return (negative, hit) if argument == "specificity" else (hit[..., ::-1], negative[..., ::-1])

    chance = (high**2 - low**2) / 2
    scale = 0.5 / (high - low - chance) if standardized else 1.0
    shift = 0.5 - scale * chance if standardized else 0.0

    def gradient(totals: Array) -> Array:
        one, other = partial_roc_area_slopes(*sides(totals), low, high)
        return scale * np.concatenate([one, other] if argument == "specificity" else [other[::-1], one[::-1]])

    return Statistic(
        f"{'standardized ' * standardized}partial AUC ({argument} {start:g} to {stop:g})",
        (Rows(hits * m + codes, None, 2 * m),),
        lambda totals: shift + scale * partial_roc_area(*sides(totals), low, high),
        gradient,
        link="logit",
        bounds=(shift, shift + scale * (high - low)),
        truth=hits,
        curved_below=FEW_UNITS,
        positive=label,
        chance=shift + scale * chance,
        higher_is_better=True,
    )


def _range(argument: str, given: Any) -> tuple[float, float]:
    """A range of rates in rising order; one number reaches up to 1."""
    rates = np.ravel(values(argument, given, finite=False)).tolist()
    ends = sorted(rates if len(rates) > 1 else [*rates, 1.0])
    if len(ends) != 2 or not 0 <= ends[0] < ends[1] <= 1:
        raise StratError.about(argument, f"must be a range between 0 and 1, such as (0.9, 1), got {some(rates, 3)}.")
    return ends[0], ends[1]


@measure("average_precision", "auprc", "pr_auc", "ap", needs=SCORES, of="pair", unit="area")
@checked
def average_precision(
    truth: ArrayLike,
    score: ArrayLike,
    *,
    average: str | None = "macro",
    labels: ArrayLike | None = None,
    positive: object = None,
) -> Statistic:
    """The mean of the precisions at each recall step, sum (R_n − R_{n−1}) P_n.

    Parameters
    ----------
    truth, score
        As for `auc`; with rows × classes each class stands against the rest.
    average
        Over classes: "macro", "weighted", "micro" or None for each.
    labels, positive
        As for `auc`.

    Examples
    --------
    >>> round(float(average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).value()), 4)
    0.8333
    """
    if np.ndim(score) == 2 and np.shape(score)[1] > 1:
        refused(positive, "for a score of each class")
        return against_rest(PRECISION_AREA, truth, score, average, labels)
    hits, support, codes, label = two_classes(truth, score, positive)
    m = len(support)
    return Statistic(
        "average precision",
        (Rows(hits * m + codes, None, 2 * m),),
        lambda totals: precision_area(totals[..., :m], totals[..., m:]),
        lambda totals: np.concatenate(precision_area_slopes(totals[:m], totals[m:])),
        link="logit",
        bounds=(0.0, 1.0),
        truth=hits,
        curved_below=FEW_UNITS,
        positive=label,
        higher_is_better=True,
    )


@checked
def roc(
    truth: ArrayLike, score: ArrayLike, *, thresholds: ArrayLike | None = None, positive: object = None
) -> Statistic:
    """The ROC curve: false and true positive rates at each threshold, highest threshold first.

    Parameters
    ----------
    truth, score
        Labels of two classes and a score per row.
    thresholds
        Where to look, in any order; None: infinity, then every distinct score, or 512 of them evenly among the
        distinct ones where there are more.
    positive
        The positive class, as for `auc`.

    Examples
    --------
    >>> curve = roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.axes[1].labels
    (inf, 0.8, 0.4, 0.35, 0.1)
    >>> print(curve.value())
    [[0.  0.  0.5 0.5 1. ]
     [0.  0.5 0.5 1.  1. ]]
    """
    return replace(_curve("ROC", truth, score, thresholds, positive, ("fpr", "tpr")), curve="roc")


@checked
def det(
    truth: ArrayLike, score: ArrayLike, *, thresholds: ArrayLike | None = None, positive: object = None
) -> Statistic:
    """The detection error trade-off: false positive and false negative rates at each threshold, highest first.

    The arguments are those of `roc`.

    Examples
    --------
    >>> print(det([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], thresholds=[0.8, 0.4]).value())
    [[0.  0.5]
     [0.5 0.5]]
    """
    return replace(_curve("DET", truth, score, thresholds, positive, ("fpr", "fnr")), curve="det")


@checked
def precision_recall(
    truth: ArrayLike, score: ArrayLike, *, thresholds: ArrayLike | None = None, positive: object = None
) -> Statistic:
    """Precision and recall at each threshold, highest first; precision 1 where nothing is called positive.

    The arguments are those of `roc`.

    Examples
    --------
    >>> print(precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], thresholds=[0.8, 0.4]).value())
    [[1.  0.5]
     [0.5 0.5]]
    """
    curve = _curve("precision and recall", truth, score, thresholds, positive, ("precision", "recall"))
    return replace(curve, curve="precision_recall")


def two_classes(truth: ArrayLike, score: ArrayLike, positive: object) -> tuple[Codes, Array, Codes, Any]:
    """Whether each row is positive, the distinct scores rising, each row's place among them, the positive class."""
    hits, values, label, _ = positives(truth, score, positive)
    places, support = encode("score", values)
    return hits, support, places, label


def _curve(
    name: str,
    truth: ArrayLike,
    score: ArrayLike,
    thresholds: ArrayLike | None,
    positive: object,
    rates: tuple[str, str],
) -> Statistic:
    """Two rates at each threshold, from a histogram of the scores between thresholds."""
    hits, support, places, label = two_classes(truth, score, positive)
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
        slopes = np.zeros((2, k + 1, 2, k))
        for i, rate in enumerate(rates):
            slopes[:, :, i] = _rate_slopes(rate, wrong, hit)
        return slopes.reshape(2 * (k + 1), 2, k)

    def base(totals: Array) -> Array:
        wrong = np.cumsum(totals[..., : k + 1], axis=-1)
        hit = np.cumsum(totals[..., k + 1 :], axis=-1)
        return np.stack([_rate_base(rate, wrong, hit) for rate in rates], axis=-2)

    axes = (Axis("rate", rates), Axis("threshold", tuple(falling.tolist())))
    rows = (Rows(hits * (k + 1) + bins, None, 2 * (k + 1)),)
    return Statistic(
        name,
        rows,
        function,
        gradient,
        axes,
        "logit",
        (0.0, 1.0),
        proportion=True,
        base=base,
        positive=label,
        truth=hits,
    )


def falling_thresholds(support: Array, thresholds: ArrayLike | None, *, endless: bool) -> Array:
    """The distinct thresholds that were asked for, or those among the scores, highest first."""
    if thresholds is None:
        few = support
        if len(support) > MOST_THRESHOLDS:
            few = support[np.unique(np.rint(np.linspace(0, len(support) - 1, MOST_THRESHOLDS)).astype(int))]
        falling = few[::-1].astype(float)
        return np.concatenate([[np.inf], falling]) if endless else falling
    wanted = numbers("thresholds", thresholds, finite=False)
    if wanted.ndim != 1 or np.isnan(wanted).any():
        raise StratError.about("thresholds", f"must be a list of numbers, got {some(np.ravel(wanted).tolist())}.")
    return np.unique(wanted)[::-1]


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
    slopes = np.zeros((2, k + 1, k))
    if rate == "precision":
        called = wrong[:-1] + hit[:-1]
        safe = np.where(called > 0, called, 1.0)
        slopes[0] = above * np.where(called > 0, -hit[:-1] / safe**2, 0.0)
        slopes[1] = above * np.where(called > 0, wrong[:-1] / safe**2, 0.0)
        return slopes
    side, cumulated = (0, wrong) if rate == "fpr" else (1, hit)
    if cumulated[-1] > 0:
        slopes[side] = (above - cumulated[:-1] / cumulated[-1]) / cumulated[-1]
    return -slopes if rate == "fnr" else slopes
