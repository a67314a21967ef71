"""Rates of a score at another rate, thresholds that have a rate, and the equal error rate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, one_of, some
from strat.base.notes import Note
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, values
from strat.measures.base import Axis, Rows, Statistic
from strat.measures.register import SCORES, measure
from strat.measures.score_histograms import (
    equal_error,
    roc_height,
    roc_height_slopes,
    roc_slope,
    roc_step,
    roc_step_slopes,
    threshold_for,
    threshold_slopes,
)
from strat.measures.scores import two_classes

FEW_BEYOND = 5.0  # comparisons beyond a threshold that it takes to know where that lies
RATES = ("fpr", "tpr", "fnr", "tnr")


@checked
def rate_at(
    truth: ArrayLike,
    score: ArrayLike,
    *,
    fpr: ArrayLike,
    rate: str = "tpr",
    positive: object = None,
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
    positive
        The positive class, as for `auc`.

    Examples
    --------
    >>> float(rate_at([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], fpr=0.25).value())
    0.5
    """
    one_of("rate", rate, ("tpr", "fnr"))
    return _at_fpr(truth, score, fpr, rate, positive, roc_height, roc_height_slopes)


@measure("tpr@", "tar@", needs=SCORES, of="pair", at="fpr", at_also=("fmr", "far"))
@measure(
    "fnmr@",
    "fnr@",
    "frr@",
    needs=SCORES,
    of="pair",
    at="fpr",
    at_also=("fmr", "far"),
    given={"rate": "fnr"},
    higher_is_better=False,
)
@checked
def rate_within(
    truth: ArrayLike, score: ArrayLike, *, fpr: ArrayLike, rate: str = "tpr", positive: object = None
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
    return _at_fpr(truth, score, fpr, rate, positive, roc_step, roc_step_slopes)


def few_beyond(rate: float, number: int, name: str, what: str) -> tuple[Note, ...]:
    """That hardly any comparison lies beyond a small rate, by which its threshold was found.

    >>> few_beyond(0.01, 120, "fpr", "negatives")
    ('Only 1.2 of 120 negatives lie beyond fpr 0.01. The interval there may be too short.',)
    """
    beyond = rate * number
    if beyond >= FEW_BEYOND:
        return ()
    return (Note("few-beyond", {"beyond": beyond, "number": number, "what": what, "name": name, "rate": rate}),)


def _at_fpr(
    truth: ArrayLike,
    score: ArrayLike,
    fpr: ArrayLike,
    rate: str,
    positive: object,
    height: Callable[[Array, Array, Array], Array],
    slopes: Callable[[Array, Array, Array], Array],
) -> Statistic:
    """A point of the ROC curve, by one way to go between its corners."""
    hits, support, codes, label = two_classes(truth, score, positive)
    wanted = _wanted("fpr", fpr)
    m = len(support)
    many = np.ndim(fpr) > 0
    sign = 1.0 if rate == "tpr" else -1.0

    def function(totals: Array) -> Array:
        flat = totals.reshape(-1, 2 * m)
        rates = np.stack([height(row[:m], row[m:], wanted) for row in flat]).reshape(*totals.shape[:-1], -1)
        rates = rates if rate == "tpr" else 1 - rates
        return rates if many else rates[..., 0]

    def gradient(totals: Array) -> Array:
        slope = sign * slopes(totals[:m], totals[m:], wanted)
        return slope if many else slope[:, 0]

    axes = (Axis("fpr", tuple(wanted.tolist())),) if many else ()
    name = f"{rate} at fpr {wanted[0]:g}" if not many else f"{rate} at fpr"
    rows = (Rows(hits * m + codes, None, 2 * m),)

    def base(totals: Array) -> Array:
        size = totals[..., m:].sum(axis=-1)
        return np.repeat(size[..., None], len(wanted), axis=-1) if many else size

    few = few_beyond(float(wanted[wanted > 0].min(initial=1.0)), int((hits == 0).sum()), "fpr", "negatives")
    curve = ("roc_height" if rate == "tpr" else "det_height") if many else None
    return Statistic(
        name,
        rows,
        function,
        gradient,
        axes,
        "logit",
        (0.0, 1.0),
        base=base,
        positive=label,
        curve=curve,
        truth=hits,
        notes=few,
    )


@checked
def threshold_at(
    truth: ArrayLike, score: ArrayLike, *, at: ArrayLike, rate: str = "fpr", positive: object = None
) -> Statistic:
    """The threshold with a wanted rate: the one that keeps the error at or below `at` at the least cost.

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
    positive
        The positive class, as for `auc`.

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
    hits, support, codes, label = two_classes(truth, score, positive)
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
        thresholds = one.reshape(*totals.shape[:-1], -1)
        return thresholds if many else thresholds[..., 0]

    def gradient(totals: Array) -> Array:
        side = slice(0, m) if negatives else slice(m, 2 * m)
        slopes = np.zeros((2 * m, len(wanted)))
        slopes[side] = threshold_slopes(totals[side], support, function(totals), wanted, negatives)
        return slopes if many else slopes[:, 0]

    axes = (Axis(rate, tuple(np.atleast_1d(np.asarray(at, float)).tolist())),) if many else ()
    name = f"threshold at {rate}" + ("" if many else f" {float(np.asarray(at)):g}")
    rows = (Rows(hits * m + codes, None, 2 * m),)
    return Statistic(name, rows, function, gradient, axes, positive=label, truth=hits)


def _unreachable(rate: str, negative: Array, positive: Array, thresholds: Array, wanted: Array) -> StratError:
    """The error for a rate under that of the highest score, in the rows or in the worst replicate of them."""
    lost, column = np.nonzero(np.isinf(thresholds))
    top = [row.nonzero()[0][-1] for row in negative[lost] + positive[lost]]
    least = np.ceil(1e6 * (negative[lost, top] / negative[lost].sum(axis=1)).max()) / 1e6
    asked = wanted[column].min()
    many = len(thresholds) > 1
    limit, got = (f"at least {least:g}", asked) if rate == "fpr" else (f"at most {1 - least:g}", 1 - asked)
    return StratError.about(
        "at",
        f"must be {limit} for {rate!r}, got {got:g}: at the highest score{' of a replicate' * many} the share "
        f"{least:g} of negatives is called positive, and no threshold among the scores has fewer; ask for that rate, "
        f"or {'use the closed form (on=design)' if many else 'give more negatives'}.",
    )


@measure("equal_error_rate", "eer", needs=SCORES, of="pair", higher_is_better=False)
@checked
def equal_error_rate(truth: ArrayLike, score: ArrayLike, *, positive: object = None) -> Statistic:
    """The rate at which false positives and false negatives are equal, on the straight lines of the ROC curve.

    Examples
    --------
    >>> float(equal_error_rate([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).value())
    0.5
    """
    hits, support, codes, label = two_classes(truth, score, positive)
    m = len(support)

    def function(totals: Array) -> Array:
        flat = totals.reshape(-1, 2 * m)
        return np.array([equal_error(row[:m], row[m:]) for row in flat]).reshape(totals.shape[:-1])

    def gradient(totals: Array) -> Array:
        # fnr(x) − x = 0 at the answer: its derivative by the totals over 1 less the slope of fnr there.
        at = np.array([equal_error(totals[:m], totals[m:])])
        by_totals = -roc_height_slopes(totals[:m], totals[m:], at)[:, 0]
        return by_totals / (1 + roc_slope(totals[:m], totals[m:], at)[0])

    rows = (Rows(hits * m + codes, None, 2 * m),)
    return Statistic(
        "equal error rate",
        rows,
        function,
        gradient,
        link="logit",
        bounds=(0.0, 1.0),
        truth=hits,
        positive=label,
        higher_is_better=False,
    )


def _wanted(argument: str, rates: ArrayLike) -> Array:
    wanted = np.atleast_1d(values(argument, rates, finite=False))
    if wanted.ndim != 1 or not ((wanted >= 0) & (wanted <= 1)).all():
        raise StratError.about(argument, f"must be rates between 0 and 1, got {some(np.ravel(wanted).tolist())}.")
    return wanted
