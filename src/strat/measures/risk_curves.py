"""Risk against coverage: what errors cost among the rows that a system is surest of."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, encode, equal, labels_of, numbers, same_length
from strat.measures.base import Axis, Rows, Statistic
from strat.measures.loss import LossMatrix


@checked
def risk_coverage(
    truth: ArrayLike,
    predicted: ArrayLike,
    confidence: ArrayLike,
    *,
    at: ArrayLike | None = None,
    loss: LossMatrix | None = None,
) -> Statistic:
    """The mean loss of the share `at` of rows with the highest confidence: the risk-coverage curve.

    Where `at` cuts a row, or rows of equal confidence, in two, it takes the part of them that it needs: ties are in a
    random order, in expectation. The curve so has no jumps, and `area_under_risk_coverage` is its integral.

    Parameters
    ----------
    truth, predicted
        Labels.
    confidence
        How sure the classifier was of each row; higher is surer.
    at
        Coverages between 0 and 1; None: 0.05, 0.10, …, 1.
    loss
        What mistakes cost; None: every one costs 1.

    Examples
    --------
    >>> curve = risk_coverage([1, 1, 0, 0], [1, 1, 1, 0], [0.9, 0.8, 0.7, 0.6], at=[0.5, 0.75, 1.0])
    >>> print(curve.value().round(4))
    [0.     0.3333 0.25  ]
    """
    each, places, m = _by_confidence(truth, predicted, confidence, loss)
    wanted = np.linspace(0.05, 1.0, 20) if at is None else np.atleast_1d(numbers("at", np.atleast_1d(np.asarray(at))))
    if not ((wanted > 0) & (wanted <= 1)).all():
        raise StratError.about("at", f"must be shares above 0 and up to 1, got {some(wanted.tolist())}.")
    rows, levels = _loss_rows(each, places, m)

    def function(totals: Array) -> Array:
        weight, cost = (part.reshape(-1, m) for part in _weight_and_cost(totals, m, levels))
        risks = np.stack([_risk(w, c, wanted) for w, c in zip(weight, cost, strict=True)])
        return risks.reshape(*totals.shape[:-1], len(wanted))

    def gradient(totals: Array) -> Array:
        by_weight, by_cost = _risk_slopes(*_weight_and_cost(totals, m, levels), wanted)
        return (by_weight + levels[:, None, None] * by_cost).reshape(len(totals), len(wanted))

    axes = (Axis("coverage", tuple(np.round(wanted, 12).tolist())),)
    if loss is not None:
        bounds = (float(loss.values.min()), float(loss.values.max()))
        return Statistic("risk", rows, function, gradient, axes, bounds=bounds)

    def base(totals: Array) -> Array:
        return np.asarray(totals.sum(axis=-1)[..., None] * wanted)

    return Statistic(
        "risk", rows, function, gradient, axes, "logit", (0.0, 1.0), proportion=True, base=base, graded=True
    )


@checked
def area_under_risk_coverage(
    truth: ArrayLike, predicted: ArrayLike, confidence: ArrayLike, *, loss: LossMatrix | None = None
) -> Statistic:
    """The mean of the risk over all coverages: the integral of the curve of `risk_coverage` from 0 to 1, exactly.

    Rows of equal confidence are in a random order, in expectation, as on the curve: without any order among rows it
    is the mean loss. The mean of the n running means of the loss, which others report, takes the curve at the end
    of each row instead: it has the same limit, and depends on the order of ties.

    Examples
    --------
    The third of four rows is lost: the risk is 0 up to 1/2, 1 − 1/(2c) up to 3/4, then 1/(4c).

    >>> round(float(area_under_risk_coverage([1, 1, 0, 0], [1, 1, 1, 0], [0.9, 0.8, 0.7, 0.6]).value()), 4)
    0.1192
    >>> round(float(0.25 - np.log(3 / 2) / 2 + np.log(4 / 3) / 4), 4)
    0.1192
    >>> float(area_under_risk_coverage([1, 1, 0, 0], [1, 1, 1, 0], [0.5, 0.5, 0.5, 0.5]).value())
    0.25
    """
    each, places, m = _by_confidence(truth, predicted, confidence, loss)
    rows, levels = _loss_rows(each, places, m)

    def function(totals: Array) -> Array:
        return _mean_risk(*_weight_and_cost(totals, m, levels))

    def gradient(totals: Array) -> Array:
        by_weight, by_cost = _mean_risk_slopes(*_weight_and_cost(totals, m, levels))
        return np.ravel(by_weight + levels[:, None] * by_cost)

    link, bounds = ("logit", (0.0, 1.0)) if loss is None else ("identity", (-np.inf, np.inf))
    return Statistic("area under the risk-coverage curve", rows, function, gradient, link=link, bounds=bounds)


def _by_confidence(
    truth: ArrayLike, predicted: ArrayLike, confidence: ArrayLike, loss: LossMatrix | None
) -> tuple[Array, Codes, int]:
    """The loss of each row, its place by falling confidence, and the number of distinct confidences."""
    if loss is None:
        t, p = labels_of("truth", truth), labels_of("predicted", predicted)
        same_length(truth=t, predicted=p)
        each = (~equal(t, p)).astype(float)
    else:
        each = loss.of(truth, predicted)
    c = numbers("confidence", confidence)
    if c.ndim != 1:
        raise StratError.about("confidence", f"must have one number per row, got shape {c.shape}.")
    same_length(truth=each, confidence=c)
    places, distinct = encode("confidence", -c)
    return each, places, len(distinct)


def _loss_rows(each: Array, places: Codes, m: int) -> tuple[tuple[Rows, ...], Array]:
    """A histogram of places for each distinct loss, and these losses."""
    levels, level = np.unique(each, return_inverse=True)
    return (Rows(level.reshape(-1) * m + places, None, len(levels) * m),), levels


def _weight_and_cost(totals: Array, m: int, levels: Array) -> tuple[Array, Array]:
    """Weight and summed loss at each place."""
    by_level = totals.reshape(*totals.shape[:-1], len(levels), m)
    return by_level.sum(axis=-2), np.tensordot(by_level, levels, axes=([-2], [0]))


def _summed(weight: Array, cost: Array, wanted: Array) -> Array:
    """The loss of the first `wanted` of all weight, with a part of the place that is cut."""
    w = np.append(0.0, np.cumsum(weight))
    return np.interp(np.clip(wanted, 0.0, 1.0) * w[-1], w, np.append(0.0, np.cumsum(cost)))


def _risk(weight: Array, cost: Array, wanted: Array) -> Array:
    return _summed(weight, cost, wanted) / (wanted * weight.sum())


def _risk_slopes(weight: Array, cost: Array, wanted: Array) -> tuple[Array, Array]:
    """Influence on the risk of weight and of loss at each place: (places × coverages) each.

    A new row above the cut pushes out the rows at the cut, whose risk is smoothed over a window.
    """
    n = weight.sum()
    size = max(float(np.count_nonzero(weight)), 2.0)
    half = np.maximum(size ** (-1 / 3) * np.sqrt(wanted * (1 - wanted)), 1 / size)
    low, high = np.maximum(wanted - half, 0.0), np.minimum(wanted + half, 1.0)
    at_cut = (_summed(weight, cost, high) - _summed(weight, cost, low)) / ((high - low) * n)
    before = (np.cumsum(weight) - weight)[:, None]
    room = np.where(wanted * n >= before, 1.0, 0.0) * np.ones_like(before)
    part = np.divide(wanted * n - before, weight[:, None], out=room, where=weight[:, None] > 0).clip(0.0, 1.0)
    risk = _risk(weight, cost, wanted)
    # Where nothing was lost there is nothing to vary: the interval is then the exact one, not a smoothed guess.
    at_cut = np.where(risk > 0, at_cut, 0.0)
    return (at_cut * (wanted - part) - risk * wanted) / (wanted * n), part / (wanted * n)


def _mean_risk(weight: Array, cost: Array) -> Array:
    """The integral of `_risk` over the coverages from 0 to 1, over leading axes.

    At a place of weight w and loss c, after W and C before it, the risk is (C + (x − W) c / w) / x for x from W to
    W + w. Its integral is c + (C w / W − c) q(w / W) with q(u) = log(1 + u) / u, and c where nothing is before it.
    """
    before, lost = np.cumsum(weight, axis=-1) - weight, np.cumsum(cost, axis=-1) - cost
    u, _ = _growth(weight, before)
    more = np.where(before > 0, (lost * u - cost) * _logarithm(u), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((cost + more).sum(axis=-1) / weight.sum(axis=-1))


def _mean_risk_slopes(weight: Array, cost: Array) -> tuple[Array, Array]:
    """Derivatives of the mean risk by weight and by loss at each place."""
    before, lost = np.cumsum(weight) - weight, np.cumsum(cost) - cost
    u, inverse = _growth(weight, before)
    q, bend = _logarithm(u), (lost * u - cost) * _logarithm_slope(u) * inverse
    first = before <= 0
    own_weight, own_cost = lost * inverse * q + bend, np.where(first, 1.0, 1 - q)
    after_weight, after_cost = -u * own_weight, u * q
    by_weight = own_weight + _later(after_weight) - float(_mean_risk(weight, cost))
    return by_weight / weight.sum(), (own_cost + _later(after_cost)) / weight.sum()


def _growth(weight: Array, before: Array) -> tuple[Array, Array]:
    """A place's weight over that before it, and one over the latter; both 0 where nothing is before it."""
    inverse = np.divide(1.0, before, out=np.zeros_like(before), where=before > 0)
    return weight * inverse, inverse


def _later(values: Array) -> Array:
    """Sums over the places after each."""
    return np.asarray(np.flip(np.cumsum(np.flip(values))) - values)


def _logarithm(u: Array) -> Array:
    """log(1 + u) / u, and 1 at 0."""
    return np.divide(np.log1p(u), u, out=np.ones_like(u), where=u > 0)


def _logarithm_slope(u: Array) -> Array:
    """The derivative of log(1 + u) / u; by its series where the difference would cancel."""
    small = u < 1e-4
    v = np.where(small, 1.0, u)
    return np.where(small, -0.5 + 2 * u / 3 - 3 * u**2 / 4, (v / (1 + v) - np.log1p(v)) / v**2)
