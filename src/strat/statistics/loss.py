"""Loss matrices, refusing to decide, and the thresholds that follow from costs (Kuncheva 1.3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.columns import Array, Codes, encode, numbers, same_length
from strat.doors import checked
from strat.errors import StratError, plain, some
from strat.statistics.base import Axis, Rows, Statistic
from strat.statistics.multilabel import share_slopes, share_value
from strat.statistics.scores import falling_thresholds, two_classes

__all__ = [
    "LossMatrix",
    "Threshold",
    "area_under_risk_coverage",
    "chow",
    "coverage",
    "expected_cost",
    "expected_loss",
    "optimal_threshold",
    "risk_coverage",
    "selective_risk",
    "zero_one_loss",
]

REFUSE = "refuse"


@dataclass(frozen=True, eq=False)
class LossMatrix:
    """What each decision costs for each true class: Kuncheva's λ, decisions in rows and true classes in columns.

    Attributes
    ----------
    values
        The losses: c × c, or (c + 1) × c with a last row for refusing to decide.
    labels
        The c classes.
    refuse
        The label that stands for refusing (None: no such decision).

    Examples
    --------
    Missing an illness costs 10, a false alarm 1, asking a second doctor 0.5:

    >>> loss = LossMatrix([[0, 10], [1, 0], [0.5, 0.5]], ["healthy", "ill"], refuse="ask")
    >>> loss.decide([[0.99, 0.01], [0.5, 0.5], [0.9, 0.1]]).tolist()
    ['healthy', 'ill', 'ask']
    """

    values: Array
    labels: tuple[Any, ...]
    refuse: Any = None

    @checked
    def __init__(self, values: ArrayLike, labels: Sequence[Any] | None = None, *, refuse: Any = None) -> None:
        matrix = np.array(numbers("values", values))
        if matrix.ndim != 2 or matrix.shape[0] - matrix.shape[1] not in (0, 1):
            raise StratError(
                f"`values` must be c × c, or (c + 1) × c with a row for refusing, got shape {matrix.shape}."
            )
        c = matrix.shape[1]
        names = tuple(range(c)) if labels is None else tuple(plain(label) for label in labels)
        if len(names) != c or len(set(names)) != c:
            raise StratError(f"`labels` must be {c} distinct labels, got {some(names)}.")
        extra = matrix.shape[0] > c
        if refuse is not None and not extra:
            raise StratError(f"`values` must have {c + 1} rows to hold the loss of refusing, got {c}.")
        word = (REFUSE if refuse is None else plain(refuse)) if extra else None
        if word in names:
            raise StratError(f"`refuse` must differ from the classes, got {word!r}.")
        matrix.flags.writeable = False
        object.__setattr__(self, "values", matrix)
        object.__setattr__(self, "labels", names)
        object.__setattr__(self, "refuse", word)

    @property
    def decisions(self) -> tuple[Any, ...]:
        """What can be decided: the classes, and refusing."""
        return self.labels if self.refuse is None else (*self.labels, self.refuse)

    @checked
    def decide(self, probability: ArrayLike) -> NDArray[Any]:
        """The decision of least expected loss for each row of posterior probabilities (rows × classes)."""
        p = numbers("probability", probability)
        if p.ndim != 2 or p.shape[1] != len(self.labels):
            raise StratError(f"`probability` must have {len(self.labels)} columns, got shape {p.shape}.")
        best = (p @ self.values.T).argmin(axis=1)
        kinds = {isinstance(name, str) for name in self.decisions}
        names = np.asarray(self.decisions) if len(kinds) == 1 else np.asarray(self.decisions, object)
        return np.asarray(names[best])

    @checked
    def of(self, truth: ArrayLike, decided: ArrayLike) -> Array:
        """The loss of each row."""
        t = _places("truth", truth, self.labels)
        d = _places("predicted", decided, self.decisions)
        same_length(truth=t, predicted=d)
        return np.asarray(self.values[d, t])


@checked
def zero_one_loss(labels: Sequence[Any], *, refuse: Any = None, cost: float | None = None) -> LossMatrix:
    """The matrix by which every error costs 1, and refusing (if allowed) costs `cost`.

    Examples
    --------
    >>> print(zero_one_loss(["a", "b"], refuse="?", cost=0.2).values)
    [[0.  1. ]
     [1.  0. ]
     [0.2 0.2]]
    """
    c = len(labels)
    matrix = 1 - np.eye(c)
    if cost is None:
        if refuse is not None:
            raise StratError("`cost` must be given where `refuse` is a decision, got None.")
        return LossMatrix(matrix, labels)
    return LossMatrix(np.vstack([matrix, np.full(c, float(cost))]), labels, refuse=refuse)


@checked
def expected_loss(truth: ArrayLike, predicted: ArrayLike, loss: LossMatrix) -> Statistic:
    """The mean loss of the decisions in `predicted`, which may hold the label of refusing.

    Examples
    --------
    >>> loss = zero_one_loss([0, 1], refuse="?", cost=0.2)
    >>> float(expected_loss([0, 0, 1, 1], [0, 1, 1, "?"], loss).value())
    0.3
    """
    if not isinstance(loss, LossMatrix):
        raise StratError(
            f"`loss` must be a LossMatrix, got {type(loss).__name__}; make it with LossMatrix(values, labels)."
        )
    t = _places("truth", truth, loss.labels)
    d = _places("predicted", predicted, loss.decisions)
    same_length(truth=t, predicted=d)
    c = len(loss.labels)
    table = np.column_stack([loss.values.ravel(), np.ones(loss.values.size)])
    bounds = (float(loss.values.min()), float(loss.values.max()))
    return Statistic("expected loss", (Rows(d * c + t, table, 2),), share_value, share_slopes, bounds=bounds)


@checked
def chow(probability: ArrayLike, *, cost: float, labels: Sequence[Any], refuse: Any = REFUSE) -> NDArray[Any]:
    """Chow's rule: the most probable class, or refusing where its probability is under 1 − cost.

    It has the least expected loss when an error costs 1 and refusing `cost`.

    Examples
    --------
    >>> chow([[0.95, 0.05], [0.6, 0.4]], cost=0.2, labels=["a", "b"]).tolist()
    ['a', 'refuse']
    """
    if not 0 <= cost <= 1:
        raise StratError(f"`cost` must lie between 0 and 1 (the cost of an error), got {plain(cost)!r}.")
    p = numbers("probability", probability)
    if p.ndim != 2 or p.shape[1] != len(labels):
        raise StratError(f"`probability` must have {len(labels)} columns, got shape {p.shape}.")
    names = [*labels, refuse]
    kinds = {isinstance(name, str) for name in names}
    choice = np.where(p.max(axis=1) < 1 - cost, len(labels), p.argmax(axis=1))
    return np.asarray(np.asarray(names, None if len(kinds) == 1 else object)[choice])


@checked
def coverage(predicted: ArrayLike, *, refuse: Any = REFUSE) -> Statistic:
    """The share of rows on which a decision was made.

    Examples
    --------
    >>> float(coverage(["a", "refuse", "b", "b"]).value())
    0.75
    """
    decided = _decided(predicted, refuse)
    rows = Rows(decided.astype(np.int64), np.array([[0.0, 1.0], [1.0, 1.0]]), 2)
    return Statistic("coverage", (rows,), share_value, share_slopes, link="logit", bounds=(0.0, 1.0), proportion=True)


@checked
def selective_risk(truth: ArrayLike, predicted: ArrayLike, *, refuse: Any = REFUSE) -> Statistic:
    """The error rate on the rows on which a decision was made.

    Examples
    --------
    >>> float(selective_risk(["a", "a", "b", "a"], ["a", "refuse", "b", "b"]).value())
    0.3333333333333333
    """
    decided = _decided(predicted, refuse)
    names = [plain(v) for v in np.asarray(predicted, object)]
    t = [plain(v) for v in np.asarray(truth, object)]
    same_length(truth=t, predicted=names)
    if not decided.any():
        raise StratError("`predicted` must hold at least one decision, got only refusals.")
    wrong = np.array([a != b for a, b in zip(t, names, strict=True)])
    codes = np.where(decided, wrong, 2).astype(np.int64)
    table = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    return Statistic(
        "selective risk",
        (Rows(codes, table, 2),),
        share_value,
        share_slopes,
        link="logit",
        bounds=(0.0, 1.0),
        proportion=True,
        domain=decided,
        base=lambda totals: totals[..., 1],
    )


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
        raise StratError(f"`at` must be shares above 0 and up to 1, got {some(wanted.tolist())}.")
    rows, levels = _loss_rows(each, places, m)

    def function(totals: Array) -> Array:
        weight, cost = (part.reshape(-1, m) for part in _weight_and_cost(totals, m, levels))
        found = np.stack([_risk(w, c, wanted) for w, c in zip(weight, cost, strict=True)])
        return found.reshape(*totals.shape[:-1], len(wanted))

    def gradient(totals: Array) -> Array:
        by_weight, by_cost = _risk_slopes(*_weight_and_cost(totals, m, levels), wanted)
        return (by_weight + levels[:, None, None] * by_cost).reshape(len(totals), len(wanted))

    axes = (Axis("coverage", tuple(np.round(wanted, 12).tolist())),)
    if loss is not None:
        bounds = (float(loss.values.min()), float(loss.values.max()))
        return Statistic("risk", rows, function, gradient, axes, bounds=bounds)

    def base(totals: Array) -> Array:
        return np.asarray(totals.sum(axis=-1)[..., None] * wanted)

    return Statistic("risk", rows, function, gradient, axes, "logit", (0.0, 1.0), proportion=True, base=base)


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


@checked
def expected_cost(
    truth: ArrayLike,
    score: ArrayLike,
    *,
    false_positive: float = 1.0,
    false_negative: float = 1.0,
    thresholds: ArrayLike | None = None,
    pos_label: object = None,
) -> Statistic:
    """The mean cost per row of calling positive what scores at least a threshold, at each threshold.

    Parameters
    ----------
    truth, score
        Labels of two classes and a score per row.
    false_positive, false_negative
        What each kind of error costs.
    thresholds
        Falling; None: infinity, then every distinct score, or 512 of them.
    pos_label
        The positive class; None: the larger label.

    Examples
    --------
    >>> print(expected_cost([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], thresholds=[0.5, 0.2], false_negative=3).value())
    [0.75 0.25]
    """
    fp, fn = _cost("false_positive", false_positive), _cost("false_negative", false_negative)
    positive, support, places = two_classes(truth, score, pos_label)
    falling = falling_thresholds(support, thresholds, endless=True)
    k = len(falling)
    bins = np.searchsorted(-falling, -support, side="left")[places]

    def function(totals: Array) -> Array:
        wrong, hit = np.cumsum(totals[..., : k + 1], axis=-1), np.cumsum(totals[..., k + 1 :], axis=-1)
        every = wrong[..., -1:] + hit[..., -1:]
        return np.asarray((fp * wrong[..., :-1] + fn * (hit[..., -1:] - hit[..., :-1])) / every)

    def gradient(totals: Array) -> Array:
        above = (np.arange(k + 1)[:, None] <= np.arange(k)).astype(float)
        made = np.concatenate([fp * above, fn * (1 - above)])
        return np.asarray((made - function(totals)) / totals.sum())

    rows = (Rows(positive * (k + 1) + bins, None, 2 * (k + 1)),)
    axes = (Axis("threshold", tuple(falling.tolist())),)
    return Statistic("expected cost", rows, function, gradient, axes, bounds=(0.0, max(fp, fn)))


@dataclass(frozen=True)
class Threshold:
    """The threshold of least expected cost.

    Attributes
    ----------
    value
        Call positive what scores at least this.
    cost
        The mean cost per row there, on the rows it was chosen on (so too low for new ones).
    calibrated
        The threshold that scores would have if they were true probabilities, fp / (fp + fn).
    """

    value: float
    cost: float
    calibrated: float


@checked
def optimal_threshold(
    truth: ArrayLike,
    score: ArrayLike,
    *,
    false_positive: float = 1.0,
    false_negative: float = 1.0,
    weights: ArrayLike | None = None,
    pos_label: object = None,
) -> Threshold:
    """The score threshold of least expected cost on these rows (the highest one of several).

    Choose it on one half and measure with `expected_cost` on the other: its own cost is optimistic, and no
    interval of the threshold itself is honest (it does not settle at the usual rate).

    Examples
    --------
    >>> optimal_threshold([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], false_negative=3)
    Threshold(value=0.35, cost=0.25, calibrated=0.25)
    """
    fp, fn = _cost("false_positive", false_positive), _cost("false_negative", false_negative)
    if fp + fn == 0:
        raise StratError("`false_positive` and `false_negative` must not both be 0.")
    positive, support, places = two_classes(truth, score, pos_label)
    w = np.ones(len(places)) if weights is None else numbers("weights", weights)
    same_length(truth=places, weights=w)
    m = len(support)
    negative, found = np.bincount(positive * m + places, w, minlength=2 * m).reshape(2, m)
    wrong = np.append(0.0, np.cumsum(negative[::-1]))
    missed = found.sum() - np.append(0.0, np.cumsum(found[::-1]))
    costs = (fp * wrong + fn * missed) / w.sum()
    best = int(costs.argmin())
    value = float(np.append(np.inf, support[::-1])[best])
    return Threshold(value, float(costs[best]), fp / (fp + fn))


def _places(argument: str, labels: ArrayLike, known: Sequence[Any]) -> Codes:
    """The position of each label among the known ones; labels and the word for refusing may differ in type."""
    array = np.asarray(labels, object) if isinstance(labels, list | tuple) else np.asarray(labels)
    if array.ndim != 1 or len(array) == 0:
        raise StratError(f"`{argument}` must have one label per row, got shape {array.shape}.")
    where = {name: i for i, name in enumerate(known)}
    if array.dtype == object:
        names = [plain(v) for v in array]
        distinct = list(dict.fromkeys(names))
    else:
        codes, found = encode(argument, array)
        distinct = found.tolist()
    unknown = [name for name in distinct if name not in where]
    if unknown:
        raise StratError(
            f"`{argument}` must hold labels of the loss matrix, got {some(unknown)}; there are {some(known)}."
        )
    if array.dtype == object:
        return np.array([where[name] for name in names])
    return np.array([where[name] for name in distinct])[codes]


def _decided(predicted: ArrayLike, refuse: Any) -> NDArray[np.bool_]:
    values = [plain(v) for v in np.asarray(predicted, object)]
    if not values:
        raise StratError("`predicted` must have at least one row, got none.")
    return np.array([v != refuse for v in values])


def _by_confidence(
    truth: ArrayLike, predicted: ArrayLike, confidence: ArrayLike, loss: LossMatrix | None
) -> tuple[Array, Codes, int]:
    """The loss of each row, its place by falling confidence, and the number of distinct confidences."""
    if loss is None:
        t, p = np.asarray(truth), np.asarray(predicted)
        encode("truth", truth)
        encode("predicted", predicted)
        same_length(truth=t, predicted=p)
        each = (t != p).astype(float)
    else:
        each = loss.of(truth, predicted)
    c = numbers("confidence", confidence)
    if c.ndim != 1:
        raise StratError(f"`confidence` must have one number per row, got shape {c.shape}.")
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


def _cost(argument: str, value: float) -> float:
    if not (np.isfinite(value) and value >= 0):
        raise StratError(f"`{argument}` must be zero or more, got {plain(value)!r}.")
    return float(value)
