"""Measures of a classifier's decisions: each a function of the totals of a confusion matrix.

Names, averages and values are scikit-learn's; weights belong to the design, not to the measure.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, plain
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, encode, equal, same_length
from strat.measures.base import FEW_UNITS, Rows, Statistic
from strat.measures.class_shares import Settings, class_share, left_out_note, recalls_of_classes
from strat.measures.confusion_counts import counts_of, family, pair, refuse_scores
from strat.measures.label_notes import label_notes
from strat.measures.positive import positive_of
from strat.measures.quotients import quotient, share_slopes, share_value
from strat.measures.register import measure, of_classes_there, of_one_class, one_for_all


@measure(
    "precision", "positive_predictive_value", "ppv", averaged=True, looks_at="called positive", together=of_one_class
)
@checked
def precision(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    average: str | None = "binary",
    positive: object = None,
    labels: ArrayLike | None = None,
    zero_division: str | float = "warn",
) -> Statistic:
    """The share of a class's predictions that are right, tp / (tp + fp).

    Parameters
    ----------
    truth, predicted
        Labels, or 0/1 matrices of rows × labels for multilabel data.
    average
        "binary": of the class `positive`; "micro": of all classes together; "macro": mean over classes; "weighted":
        mean weighted by the true classes' sizes; "samples": mean over rows (multilabel); None: each class.
    positive
        The class to look at when `average` is "binary"; against all others if there are more than two. None: 1 if
        the labels are 0 and 1 or −1 and 1, True if they are False and True; any others must be named.
    labels
        The classes that count, in order; None: all.
    zero_division
        Value of 0 / 0: a number or nan (left out of averages); "warn" means 0 with a note.

    Examples
    --------
    >>> float(precision([0, 1, 1, 1], [1, 1, 0, 1]).value())
    0.6666666666666666
    """
    settings = Settings(average, positive, labels, zero_division)
    return class_share("precision", truth, predicted, (1, 0, 0, 0), (0, 1, 0, 0), settings)


@measure(
    "recall",
    "sensitivity",
    "true_positive_rate",
    "tpr",
    "hit_rate",
    averaged=True,
    looks_at="positive",
    together=of_one_class,
)
@checked
def recall(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    average: str | None = "binary",
    positive: object = None,
    labels: ArrayLike | None = None,
    zero_division: str | float = "warn",
) -> Statistic:
    """The share of a class that is found, tp / (tp + fn); the arguments are those of `precision`.

    Examples
    --------
    >>> print(recall([0, 1, 1, 2], [0, 1, 2, 2], average=None).value())
    [1.  0.5 1. ]
    """
    settings = Settings(average, positive, labels, zero_division)
    return class_share("recall", truth, predicted, (1, 0, 0, 0), (0, 0, 1, 0), settings)


@measure(
    "specificity", "selectivity", "true_negative_rate", "tnr", averaged=True, looks_at="negative", together=of_one_class
)
@checked
def specificity(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    average: str | None = "binary",
    positive: object = None,
    labels: ArrayLike | None = None,
    zero_division: str | float = "warn",
) -> Statistic:
    """The share of rows outside a class that are kept out, tn / (tn + fp); arguments as for `precision`.

    Examples
    --------
    >>> float(specificity([0, 0, 0, 1], [0, 0, 1, 1]).value())
    0.6666666666666666
    """
    settings = Settings(average, positive, labels, zero_division)
    return class_share("specificity", truth, predicted, (1, -1, -1, 1), (0, 0, -1, 1), settings)


@measure("negative_predictive_value", "npv", looks_at="called negative", together=one_for_all)
@checked
def negative_predictive_value(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    positive: object = None,
    zero_division: str | float = "warn",
) -> Statistic:
    """The share of rows not called positive that are not, tn / (tn + fn).

    Examples
    --------
    >>> float(negative_predictive_value([0, 0, 0, 1], [0, 0, 1, 0]).value())
    0.6666666666666666
    """
    settings = Settings("binary", positive, None, zero_division)
    return class_share("negative predictive value", truth, predicted, (1, -1, -1, 1), (0, -1, 0, 1), settings)


@measure("false_positive_rate", "fpr", "fall_out", higher_is_better=False, looks_at="negative", together=one_for_all)
@checked
def false_positive_rate(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    positive: object = None,
    zero_division: str | float = "warn",
) -> Statistic:
    """The share of rows outside the positive class that are called positive, fp / (tn + fp).

    Examples
    --------
    >>> float(false_positive_rate([0, 0, 0, 1], [0, 0, 1, 0]).value())
    0.3333333333333333
    """
    settings = Settings("binary", positive, None, zero_division)
    return class_share("false positive rate", truth, predicted, (-1, 1, 0, 0), (0, 0, -1, 1), settings)


@measure("false_negative_rate", "fnr", "miss_rate", higher_is_better=False, looks_at="positive", together=one_for_all)
@checked
def false_negative_rate(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    positive: object = None,
    zero_division: str | float = "warn",
) -> Statistic:
    """The share of rows of the positive class that are missed, fn / (tp + fn).

    Examples
    --------
    >>> float(false_negative_rate([0, 0, 1, 1], [0, 0, 1, 0]).value())
    0.5
    """
    settings = Settings("binary", positive, None, zero_division)
    return class_share("false negative rate", truth, predicted, (-1, 0, 1, 0), (0, 0, 1, 0), settings)


@measure("selection_rate", "positive_rate", "predicted_prevalence", higher_is_better=None, needs=("predicted",))
@checked
def selection_rate(predicted: ArrayLike, *, positive: object = None) -> Statistic:
    """The share of rows that are predicted positive, whatever the truth is.

    Its gap between groups is the demographic parity difference, its ratio the demographic parity ratio.

    Parameters
    ----------
    predicted
        Predicted labels.
    positive
        The class that is counted; as for `precision`.

    Examples
    --------
    >>> float(selection_rate([0, 1, 1, 0]))
    0.5
    """
    codes, labels = encode("predicted", predicted)
    refuse_scores(labels)
    label = positive_of(labels.tolist(), positive)
    chosen = np.array([name == label for name in labels.tolist()], np.int64)[codes]
    shares = (Rows(chosen, np.array([[0.0, 1.0], [1.0, 1.0]]), 2),)
    return Statistic(
        "selection rate",
        shares,
        share_value,
        share_slopes,
        link="logit",
        bounds=(0.0, 1.0),
        proportion=True,
        positive=label,
    )


@measure("fbeta", at="beta", averaged=True, together=of_classes_there, unit="score", reference="van Rijsbergen 1979")
@checked
def fbeta(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    beta: float,
    average: str | None = "binary",
    positive: object = None,
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
        raise StratError.about("beta", f"must be zero or more, got {plain(beta)!r}.")
    settings = Settings(average, positive, labels, zero_division)
    if math.isinf(float(beta) * float(beta)):
        return class_share("F-inf", truth, predicted, (1, 0, 0, 0), (0, 0, 1, 0), settings)
    b = float(beta) ** 2
    return class_share(f"F{beta:g}", truth, predicted, (1 + b, 0, 0, 0), (0, 1, b, 0), settings)


@measure(
    "f1",
    "f1_score",
    "f_measure",
    "f_score",
    "dice",
    averaged=True,
    together=of_classes_there,
    unit="score",
    reference="van Rijsbergen 1979",
)
@checked
def f1(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    average: str | None = "binary",
    positive: object = None,
    labels: ArrayLike | None = None,
    zero_division: str | float = "warn",
) -> Statistic:
    """The harmonic mean of precision and recall, 2 tp / (actual + predicted); arguments as for `precision`.

    Examples
    --------
    >>> float(f1([0, 1, 1, 2], [0, 1, 2, 2], average="macro").value())
    0.7777777777777777
    """
    settings = Settings(average, positive, labels, zero_division)
    return class_share("F1", truth, predicted, (2, 0, 0, 0), (0, 1, 1, 0), settings)


@measure("jaccard", "iou", averaged=True, together=of_classes_there, reference="Jaccard 1912")
@checked
def jaccard(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    average: str | None = "binary",
    positive: object = None,
    labels: ArrayLike | None = None,
    zero_division: str | float = "warn",
) -> Statistic:
    """Intersection over union, tp / (tp + fp + fn); the arguments are those of `precision`.

    Examples
    --------
    >>> float(jaccard([0, 1, 1, 1], [1, 1, 0, 1]).value())
    0.5
    """
    settings = Settings(average, positive, labels, zero_division)
    return class_share("Jaccard", truth, predicted, (1, 0, 0, 0), (-1, 1, 1, 0), settings)


@measure("accuracy", "acc", mixes_classes=True, looks_at="all", together=one_for_all)
@checked
def accuracy(truth: ArrayLike, predicted: ArrayLike) -> Statistic:
    """The weighted share of rows that are labelled correctly.

    Examples
    --------
    >>> float(accuracy(["a", "b", "a"], ["a", "b", "b"]).value().round(4))
    0.6667
    """
    return _agreement("accuracy", truth, predicted, True)


@measure(
    "error_rate",
    "error",
    "misclassification_rate",
    higher_is_better=False,
    mixes_classes=True,
    looks_at="all",
    together=one_for_all,
)
@checked
def error_rate(truth: ArrayLike, predicted: ArrayLike) -> Statistic:
    """The weighted share of rows that are labelled incorrectly.

    Examples
    --------
    >>> float(error_rate(["a", "b", "a"], ["a", "b", "b"]).value().round(4))
    0.3333
    """
    return _agreement("error rate", truth, predicted, False)


def _agreement(name: str, truth: ArrayLike, predicted: ArrayLike, counted: bool) -> Statistic:
    (t, truths), (p, guesses) = encode("truth", truth), encode("predicted", predicted)
    same_length(truth=t, predicted=p)
    if family(truths) != family(guesses):
        raise StratError.about(
            "predicted",
            f"must have labels of the type of `truth`, got {plain(guesses[p[0]])!r} against {plain(truths[t[0]])!r}; "
            "make both text or both numbers.",
        )
    alike = truths.dtype == guesses.dtype and np.array_equal(truths, guesses)
    right = t == p if alike else equal(truths[t], guesses[p])
    codes = (right == counted).astype(np.int64)
    return Statistic(
        name=name,
        rows=(Rows(codes, np.array([[0.0, 1.0], [1.0, 1.0]]), 2),),
        function=share_value,
        gradient=share_slopes,
        link="logit",
        bounds=(0.0, 1.0),
        proportion=True,
        notes=label_notes(truths, guesses),
        higher_is_better=counted,
    )


@measure("balanced_accuracy", "bacc", reference="Brodersen et al. 2010")
@checked
def balanced_accuracy(truth: ArrayLike, predicted: ArrayLike, *, adjusted: bool = False) -> Statistic:
    """The mean recall of the classes that occur in `truth`; adjusted: 0 for chance and 1 at best.

    Examples
    --------
    >>> float(balanced_accuracy([0, 0, 0, 1], [0, 0, 1, 1]).value())
    0.8333333333333333
    """
    columns = pair(truth, predicted)
    counts = counts_of(columns)

    def parts(totals: Array) -> tuple[Array, Array, Array]:
        hit, _, actual, _ = np.moveaxis(counts.read(totals), -2, 0)
        there = actual > 0
        return quotient(hit, actual, 0.0), there, there.sum(axis=-1)

    def function(totals: Array) -> Array:
        per, there, number = parts(totals)
        score = quotient((per * there).sum(axis=-1), number, np.nan)
        return (score - 1 / number) / (1 - 1 / number) if adjusted else score

    def gradient(totals: Array) -> Array:
        per, there, number = parts(totals)
        scale = 1 / number / (1 - 1 / number if adjusted else 1)
        actual = counts.read(totals)[2]
        slopes = np.zeros((4, len(per)))
        slopes[0] = quotient(there * scale, actual, 0.0)
        slopes[2] = -slopes[0] * per
        return counts.back(slopes)

    link, bounds = ("identity", (-np.inf, 1.0)) if adjusted else ("logit", (0.0, 1.0))
    name = "adjusted balanced accuracy" if adjusted else "balanced accuracy"
    return Statistic(
        name,
        counts.rows,
        function,
        gradient,
        link=link,
        bounds=bounds,
        notes=(*columns.notes, *left_out_note(counts)),
        classes=counts.classes,
        higher_is_better=True,
        truth=counts.truth,
        sum_of=recalls_of_classes(counts, 1 / (1 - 1 / max(counts.classes, 2)) if adjusted else 1.0),
    )


@measure(
    "mcc",
    "matthews_corrcoef",
    "matthews",
    unit="correlation",
    bounds=(-1.0, 1.0),
    together=one_for_all,
    reference="Matthews 1975",
)
@checked
def mcc(truth: ArrayLike, predicted: ArrayLike) -> Statistic:
    """The Matthews correlation coefficient for any number of classes; 0 where it is 0 / 0.

    Examples
    --------
    >>> round(float(mcc([1, 1, 1, 0], [1, 0, 1, 1]).value()), 4)
    -0.3333
    """
    columns = pair(truth, predicted)
    counts = counts_of(columns)

    def function(totals: Array) -> Array:
        hit, predicted_, actual, every = np.moveaxis(counts.read(totals), -2, 0)
        n, right = every[..., 0], hit.sum(axis=-1)
        cross = right * n - (actual * predicted_).sum(axis=-1)
        spread = (n**2 - (actual**2).sum(axis=-1)) * (n**2 - (predicted_**2).sum(axis=-1))
        return quotient(cross, np.sqrt(np.maximum(spread, 0.0)), 0.0)

    def gradient(totals: Array) -> Array:
        hit, predicted_, actual, every = np.moveaxis(counts.read(totals), -2, 0)
        n, right = every[..., :1], hit.sum(axis=-1, keepdims=True)
        a, b = (n**2 - (side**2).sum(axis=-1, keepdims=True) for side in (actual, predicted_))
        known = (a > 0) & (b > 0)
        a, b = np.where(known, a, 1.0), np.where(known, b, 1.0)
        root, cross = np.sqrt(a * b), right * n - (actual * predicted_).sum(axis=-1, keepdims=True)
        value = cross / root
        slopes = np.zeros((4, *hit.shape))
        slopes[0] = n / root
        slopes[1] = -actual / root + value * predicted_ / b
        slopes[2] = -predicted_ / root + value * actual / a
        slopes[3, ..., :1] = right / root - value * n * (1 / a + 1 / b)
        slopes = np.where(known, slopes, 0.0)
        return np.moveaxis(counts.back(np.moveaxis(slopes, -1, 1)), 0, -1)

    return Statistic(
        "Matthews correlation",
        counts.rows,
        function,
        gradient,
        link="correlation",
        bounds=(-1.0, 1.0),
        higher_is_better=True,
        notes=columns.notes,
        classes=counts.classes,
        truth=counts.truth,
        curved_below=FEW_UNITS,
    )
