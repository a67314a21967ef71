"""The numbers of a picture: a ROC, DET, precision-recall or reliability curve with its limits and its one figure.

A `Curve` knows no drawing library: matplotlib pictures (`drawing`) and the pictures of the report show the same one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of
from strat.base.limits import LIMITS
from strat.base.validate.columns import Array
from strat.designs import Design
from strat.estimation.estimate import estimate
from strat.estimation.result import Estimate
from strat.measures import probabilities, score_rates, scores
from strat.measures.base import Statistic
from strat.measures.positive import positives
from strat.replication import Replicates

KINDS = ("roc", "det", "precision_recall", "calibration")
GRID = 101  # false positive rates at which the limits of a ROC or DET curve stand
THRESHOLDS = 200  # thresholds of a precision-recall curve that get limits
TAIL = 1_000  # distinct scores at either end that classes leave as they are
BINS = 10  # of a calibration curve
BARS = 20  # of the histogram below a calibration curve

Region = tuple[Array, Array]
"""Upper and lower edge of a region, each 2 × points (across, up)."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve with its limits, ready to be drawn.

    Attributes
    ----------
    kind
        One of `KINDS`.
    x, y
        Its points.
    level
        Confidence level of the limits and of the figure.
    each
        Limits that hold at each place of the curve.
    whole
        Limits that hold for the whole curve at once.
    figure, symbol
        The one number that goes with the curve (None: not known), such as the area, and its short name.
    positive
        The positive class.
    prevalence
        The share of positives, where the picture has a line for it.
    bars
        Edges and heights of the histogram of predicted probabilities, for a reliability diagram.
    places
        What the limits `each` hold at: "false positive rate", "threshold", "bin".
    """

    kind: str
    x: Array
    y: Array
    level: float
    each: Region | None = None
    whole: Region | None = None
    figure: Estimate | None = None
    symbol: str = ""
    positive: Any = None
    prevalence: float | None = None
    bars: tuple[Array, Array] | None = None
    places: str = "false positive rate"

    @property
    def across(self) -> str:
        """What the horizontal axis shows, in words."""
        return WORDS[self.kind][0]

    @property
    def up(self) -> str:
        """What the vertical axis shows, in words."""
        return WORDS[self.kind][1]

    @property
    def diagonal(self) -> bool:
        """Whether the diagonal means something: chance in a ROC, perfect calibration in a reliability diagram."""
        return self.kind in ("roc", "calibration")


WORDS = {
    "roc": ("false positive rate", "true positive rate"),
    "det": ("false positive rate", "false negative rate"),
    "precision_recall": ("recall", "precision"),
    "calibration": ("mean predicted probability", "share of positives"),
}


# ---- from rows


def of_rows(
    kind: str,
    truth: ArrayLike,
    score: ArrayLike,
    *,
    on: Design | Replicates,
    positive: object = None,
    level: float = 0.95,
) -> Curve:
    """The curve of scores or probabilities under a design, with its limits and its figure.

    Examples
    --------
    >>> design = Design.simple_random(n=6)
    >>> curve = of_rows("roc", [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], on=design)
    >>> curve.symbol, round(float(curve.figure.value), 3)
    ('AUC', 0.889)
    """
    one_of("kind", kind, KINDS)
    return _FROM_ROWS[kind](truth, score, on, positive, level)


def _of(statistic: Statistic, on: Design | Replicates) -> Array:
    return statistic.value((on.design if isinstance(on, Replicates) else on).weights)


def classes(score: ArrayLike) -> ArrayLike:
    """The scores, or where very many are distinct the lower ends of classes of them, fine in both tails.

    What limits need grows with the distinct scores times the places of the curve.

    >>> len(np.unique(classes(np.arange(100_000))))
    6014
    """
    values = np.asarray(score)
    distinct = np.unique(values)
    if len(distinct) <= LIMITS.curve_scores:
        return score
    between = np.rint(np.linspace(0, len(distinct) - 1, LIMITS.curve_scores)).astype(int)
    edges = np.unique(np.concatenate([distinct[:TAIL], distinct[between], distinct[-TAIL:]]))
    return edges[np.searchsorted(edges, values, side="right") - 1]


def _roc(truth: ArrayLike, score: ArrayLike, on: Design | Replicates, positive: object, level: float) -> Curve:
    area = estimate(scores.auc(truth, score, positive=positive), on=on)
    x, y = _of(scores.roc(truth, score, positive=positive), on)
    grid = np.linspace(0.0, 1.0, GRID)
    height = estimate(score_rates.rate_at(truth, classes(score), fpr=grid, positive=positive), on=on)
    curve = of_estimate(height.changed(monotone=1), level)
    return replace(curve, x=x, y=y, figure=area, symbol="AUC", positive=area.positive)


def _det(truth: ArrayLike, score: ArrayLike, on: Design | Replicates, positive: object, level: float) -> Curve:
    from scipy.special import ndtr, ndtri  # not with the module, which loads with the core

    equal = estimate(score_rates.equal_error_rate(truth, score, positive=positive), on=on)
    x, y = _of(scores.det(truth, score, positive=positive), on)
    inside = (x > 0) & (x < 1)
    if not inside.any():
        raise StratError.about(
            "score",
            "must have a threshold whose false positive rate lies between 0 and 1 for a DET curve, got none: "
            "are all scores the same?",
        )
    grid = ndtr(np.linspace(ndtri(x[inside].min()), ndtri(x[inside].max()), GRID))
    statistic = score_rates.rate_at(truth, classes(score), fpr=np.clip(grid, 0, 1), rate="fnr", positive=positive)
    height = estimate(statistic, on=on)
    curve = of_estimate(height.changed(monotone=-1), level)
    return replace(curve, x=x, y=y, figure=equal, symbol="EER", positive=equal.positive)


def _precision_recall(
    truth: ArrayLike, score: ArrayLike, on: Design | Replicates, positive: object, level: float
) -> Curve:
    area = estimate(scores.average_precision(truth, score, positive=positive), on=on)
    hits, values, *_ = positives(truth, score, positive)
    weights = (on.design if isinstance(on, Replicates) else on).weights
    distinct = np.unique(values)
    at = distinct[np.unique(np.rint(np.linspace(0, len(distinct) - 1, THRESHOLDS)).astype(int))]
    curve = of_estimate(estimate(scores.precision_recall(truth, score, thresholds=at, positive=positive), on=on), level)
    prevalence = float(weights @ hits / weights.sum())
    return replace(curve, figure=area, symbol="average precision", positive=area.positive, prevalence=prevalence)


def _calibration(truth: ArrayLike, score: ArrayLike, on: Design | Replicates, positive: object, level: float) -> Curve:
    options: dict[str, Any] = {"bins": BINS, "positive": positive}
    error = estimate(probabilities.calibration_error(truth, score, **options), on=on)
    curve = of_estimate(estimate(probabilities.calibration_curve(truth, score, **options), on=on), level)
    design = on.design if isinstance(on, Replicates) else on
    rows = design.counts if design.counts is not None else design.copies[design.unit]
    heights, edges = np.histogram(np.asarray(score, float).ravel(), BARS, (0.0, 1.0), weights=rows)
    return replace(curve, figure=error, symbol="calibration error", positive=error.positive, bars=(edges, heights))


_FROM_ROWS: dict[str, Callable[[ArrayLike, ArrayLike, Design | Replicates, object, float], Curve]] = {
    "roc": _roc,
    "det": _det,
    "precision_recall": _precision_recall,
    "calibration": _calibration,
}


# ---- from an estimate


def of_estimate(estimate: Estimate, level: float = 0.95) -> Curve:
    """The curve whose points an estimate holds, as its `curve` says."""
    if estimate.curve in ("roc_height", "det_height"):
        return _height(estimate, level)
    if estimate.curve == "calibration":
        return _reliability(estimate, level)
    if estimate.curve == "precision_recall":
        return _precisions(estimate, level)
    if estimate.curve in ("roc", "det"):
        return _rates(estimate, level)
    raise StratError.about(
        "estimate",
        f"must be of roc(), det(), precision_recall(), calibration_curve() or rate_at(), got {estimate.name}.",
    )


def _height(estimate: Estimate, level: float) -> Curve:
    """A curve over false positive rates that were asked for."""
    kind = "roc" if estimate.curve == "roc_height" else "det"
    x = np.asarray(estimate.axes[-1].labels, float)
    # where everything is called positive nothing is missed, in any sample
    units = np.where(x >= 1, np.inf, estimate.effective_units)
    estimate = estimate.changed(monotone=1 if kind == "roc" else -1, effective_units=units, holders=None)
    order = np.argsort(x)
    limits = estimate.interval(level)
    whole = estimate.band(level) if _small(estimate) else None
    return Curve(
        kind, x[order], estimate.point[order], level, _upright(x[order], limits, order),
        None if whole is None else _upright(x[order], whole, order), positive=estimate.positive,
    )  # fmt: skip


def _upright(x: Array, limits: tuple[Any, Any], order: NDArray[np.intp]) -> Region:
    low, high = (np.asarray(side)[order] for side in limits)
    return np.stack([x, high]), np.stack([x, low])


def _rates(estimate: Estimate, level: float) -> Curve:
    """False positive and true positive (or false negative) rates at the same thresholds."""
    kind, (x, y) = str(estimate.curve), estimate.point
    whole = None
    if _small(estimate):
        low, high = estimate.band(level)
        whole = region(np.asarray(low), np.asarray(high), kind)
    closed = kind == "roc" and x[0] == y[0] == 0 and x[-1] == y[-1] == 1 and _small(estimate)
    area = estimate.map(_trapezoids, name="AUC", link="logit", bounds=(0.0, 1.0)) if closed else None
    return Curve(
        kind, x, y, level, None, whole, area, "AUC" if closed else "", estimate.positive, places="threshold"
    )  # fmt: skip


def _trapezoids(rates: Array) -> Array:
    x, y = rates[..., 0, :], rates[..., 1, :]
    return np.asarray((np.diff(x, axis=-1) * (y[..., 1:] + y[..., :-1]) / 2).sum(axis=-1))


def _small(estimate: Estimate) -> bool:
    return estimate.inference.spread is not None and estimate.point.size <= LIMITS.curve_values


def region(low: Array, high: Array, kind: str) -> Region:
    """The edges of the boxes of all thresholds, drawn in where the curve can only rise (ROC) or fall (DET)."""
    if kind == "roc":  # at fpr f: at most the tpr of thresholds further right, at least that of those further left
        return _edge(low[0], high[1], np.minimum, last=True), _edge(high[0], low[1], np.maximum, last=False)
    return _edge(high[0], high[1], np.minimum, last=False), _edge(low[0], low[1], np.maximum, last=True)


def _edge(x: Array, y: Array, best: Any, *, last: bool) -> Array:
    order = np.argsort(x, kind="stable")
    sorted_y = y[order]
    bound = best.accumulate(sorted_y[::-1])[::-1] if last else best.accumulate(sorted_y)
    return np.stack([x[order], bound])


def _precisions(estimate: Estimate, level: float) -> Curve:
    """Precision over recall; the limits are those of the precision at each threshold."""
    precision, recall = estimate.point
    low, high = (np.asarray(side)[0] for side in estimate.interval(level))
    each = (np.stack([recall, high]), np.stack([recall, low]))
    return Curve("precision_recall", recall, precision, level, each, positive=estimate.positive, places="threshold")


def _reliability(estimate: Estimate, level: float) -> Curve:
    share, probability = estimate.point
    order = np.argsort(probability, kind="stable")
    low, high = (np.asarray(side)[0][order] for side in estimate.interval(level))
    x = probability[order]
    each = (np.stack([x, high]), np.stack([x, low]))
    return Curve("calibration", x, share[order], level, each, positive=estimate.positive, places="bin")
