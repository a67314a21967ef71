"""Is a measure better than chance? Tests of kappa, MCC, balanced accuracy and AUC, and of the no-information rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtrc

from strat.base import validate
from strat.base.errors import StratError, one_of
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Codes, encode, numbers, same_length, union
from strat.base.validate.scalars import Rng, generator
from strat.comparison.chance import chance
from strat.comparison.chance_result import NULL
from strat.estimation.hypothesis_tests import TestResult
from strat.measures.classification import balanced_accuracy, mcc
from strat.measures.confusion_matrix import ConfusionMatrix
from strat.measures.kappas import kappa
from strat.measures.positive import positive_of
from strat.measures.register import spelled
from strat.measures.scores import auc

MEASURES = ("kappa", "mcc", "balanced_accuracy", "auc")
WITHIN = "within every unit, each way of giving its predictions to its rows is equally likely"
EXACT_PAIRS = 10_000  # positives × negatives up to which the distribution of an AUC is counted


@dataclass(frozen=True, repr=False)
class NoInformationRate(TestResult):
    """The share of right answers against that of always naming the most frequent class.

    Attributes
    ----------
    rate
        Share of the most frequent class.
    agreements, n
        Right answers, and all of them.
    """

    rate: float
    agreements: int
    n: int

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return super().to_dict() | {"rate": self.rate, "agreements": self.agreements, "n": self.n}


@checked
def no_information_rate(confusion: ArrayLike) -> NoInformationRate:
    """The binomial test that the accuracy is above the share of the most frequent class.

    This is the "accuracy against no information rate" that other programs print. Its null, always the same answer with
    this accuracy, is not that of `chance`, and patterns are taken for independent.

    Examples
    --------
    Nine right of ten where six are of one class: P(X >= 9) of Binomial(10, 0.6).

    >>> test = no_information_rate([[6, 0], [1, 3]])
    >>> test.rate, round(test.pvalue, 4)
    (0.6, 0.0464)
    """
    counts = ConfusionMatrix(np.asarray(confusion)).counts
    n, right = int(counts.sum()), int(np.trace(counts))
    rate = float(counts.sum(axis=1).max()) / n
    pvalue = 1.0 if right == 0 else float(bdtrc(right - 1, n, rate))
    name, null = "no-information rate, exact binomial", "the accuracy is at most the share of the most frequent class"
    return NoInformationRate(name, right / n, pvalue, (), "greater", null, rate, right, n)


@checked
def chance_of_measure(
    truth: ArrayLike,
    predicted: ArrayLike | None = None,
    *,
    measure: str = "balanced_accuracy",
    score: ArrayLike | None = None,
    positive: object = None,
    units: ArrayLike | None = None,
    permutations: int = 9999,
    rng: Rng = 0,
) -> TestResult:
    """Whether kappa, MCC, balanced accuracy or AUC is better than when predictions are given to rows at random.

    With both margins fixed kappa and MCC grow with the number of agreements, as does balanced accuracy of two classes:
    their test is Nyssen's, exactly. The AUC without ties is Mann and Whitney's, exactly up to 10,000 pairs. All else,
    and all with units, is by random permutations.

    Parameters
    ----------
    truth, predicted
        Labels; predictions are not needed for the AUC.
    measure
        "kappa", "mcc", "balanced_accuracy" or "auc".
    score, positive
        For the AUC: scores, and the class that they speak for.
    units
        Clusters of rows: predictions are exchanged within them only.
    permutations, rng
        How many, and the seed or Generator that draws them.

    Examples
    --------
    Three of three in both classes: one of the C(6, 3) = 20 orders.

    >>> chance_of_measure([0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], measure="mcc").pvalue
    0.05
    >>> chance_of_measure([0, 0, 0, 1, 1, 1], score=[1, 2, 3, 4, 5, 6], measure="auc").pvalue
    0.05
    """
    measure = one_of("measure", spelled(measure), MEASURES)
    if (measure == "auc") != (score is not None) or (measure == "auc") == (predicted is not None):
        wanted = "`score` and no `predicted`" if measure == "auc" else "`predicted` and no `score`"
        raise StratError.about("measure", f"{measure!r} must come with {wanted}.")
    unit = None if units is None else encode("units", units)[0]
    number = validate.count("permutations", permutations, least=99, most=10**7)
    if measure == "auc":
        return _of_scores(truth, score, positive, unit, number, rng)
    return _of_labels(truth, predicted, measure, unit, number, rng)


def _of_labels(
    truth: ArrayLike, predicted: Any, measure: str, unit: Codes | None, permutations: int, rng: Rng
) -> TestResult:
    (first, true_labels), (second, own_labels) = encode("truth", truth), encode("predicted", predicted)
    labels = union(true_labels, own_labels)
    t, p = np.searchsorted(labels, true_labels)[first], np.searchsorted(labels, own_labels)[second]
    same_length(truth=t, predicted=p, **({} if unit is None else {"units": unit}))
    make: Any = {"kappa": kappa, "mcc": mcc, "balanced_accuracy": balanced_accuracy}[measure]
    observed = float(make(t, p).value(None))
    if unit is None and (measure != "balanced_accuracy" or len(labels) == 2):
        counts = np.bincount(t * len(labels) + p, minlength=len(labels) ** 2).reshape(len(labels), -1)
        test = chance(counts)
        return TestResult(f"{measure} against chance, {test.method}", observed, test.pvalue, (), "greater", NULL)
    k = len(labels)
    size = np.bincount(t, minlength=k)

    def value(order: Codes) -> float:
        """The numerator that the measure grows with: agreements, weighted by class for balanced accuracy."""
        right = np.bincount(t[t == p[order]], minlength=k)
        if measure != "balanced_accuracy":
            return float(right.sum())
        return float((right[size > 0] / size[size > 0]).mean())

    return _permuted(measure, observed, value, len(t), unit, permutations, rng)


def _of_scores(
    truth: ArrayLike, score: Any, positive: object, unit: Codes | None, permutations: int, rng: Rng
) -> TestResult:
    codes, labels = encode("truth", truth)
    values = numbers("score", score)
    if values.ndim != 1:
        raise StratError.about("score", f"must be one number for each row, got the shape {values.shape}.")
    same_length(truth=codes, score=values, **({} if unit is None else {"units": unit}))
    if len(labels) != 2:
        raise StratError.about("truth", f"must have two classes for the AUC, got {len(labels)}.")
    label = positive_of(labels, positive)
    is_positive = labels[codes] == label
    observed = float(auc(labels[codes], values, positive=label).value(None))
    n1, n0 = int(is_positive.sum()), int((~is_positive).sum())
    if unit is None and len(np.unique(values)) == len(values) and n1 * n0 <= EXACT_PAIRS:
        pvalue = _wins_at_least(round(observed * n1 * n0), min(n1, n0), max(n1, n0))
        return TestResult("auc against chance, exact (Mann-Whitney)", observed, pvalue, (), "greater", NULL)
    ordered = np.sort(values)
    first, last = np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")
    rank = 0.5 * (first + last + 1)

    def value(order: Codes) -> float:
        return float(rank[order][is_positive].sum())

    return _permuted("auc", observed, value, len(values), unit, permutations, rng)


def _wins_at_least(wins: int, fewer: int, more: int) -> float:
    """P(so many wins or more of all pairs): coefficients of Π (1 − q^(more+i)) / (1 − q^i) in whole numbers."""
    ways = np.zeros(fewer * more + 1, object)
    ways[0] = 1
    for i in range(1, fewer + 1):
        shifted = ways.copy()
        shifted[more + i :] -= ways[: len(ways) - more - i]
        for start in range(i):  # division by 1 − q^i: running sums of every i-th one
            shifted[start::i] = np.cumsum(shifted[start::i])
        ways = shifted
    return float(int(ways[wins:].sum()) / math.comb(fewer + more, fewer))


def _permuted(
    measure: str, observed: float, value: Any, n: int, unit: Codes | None, permutations: int, rng: Rng
) -> TestResult:
    """(1 + permutations as good or better) / (1 + permutations), over orders of all rows or within units."""
    source, rows = generator(rng), np.arange(n)
    seen, least = value(rows), 0
    place = None if unit is None else np.argsort(unit, kind="stable")
    for _ in range(permutations):
        if unit is None or place is None:
            order = source.permutation(n)
        else:
            order = np.empty(n, np.int64)
            order[place] = np.lexsort((source.random(n), unit))
        least += value(order) >= seen - 1e-12 * abs(seen)
    pvalue = (1.0 + least) / (1.0 + permutations)
    name = f"{measure} against chance, {permutations} permutations" + (" within units" if unit is not None else "")
    return TestResult(name, observed, pvalue, (), "greater", NULL if unit is None else WITHIN)
