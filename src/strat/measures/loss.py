"""Loss matrices, refusing to decide, and the thresholds that follow from costs (Kuncheva 1.3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, plain, some
from strat.base.result import Result
from strat.base.validate.arguments import checked, shown
from strat.base.validate.columns import Array, Codes, encode, is_missing, numbers, same_length
from strat.measures.base import Axis, Rows, Statistic
from strat.measures.quotients import share_of, share_slopes, share_value
from strat.measures.scores import falling_thresholds, two_classes

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
    def __init__(self, values: ArrayLike, labels: Sequence[Any] | None = None, *, refuse: object = None) -> None:
        matrix = np.array(numbers("values", values))
        if matrix.ndim != 2 or matrix.shape[0] - matrix.shape[1] not in (0, 1):
            raise StratError.about(
                "values", f"must be c × c, or (c + 1) × c with a row for refusing, got shape {matrix.shape}."
            )
        c = matrix.shape[1]
        names = tuple(range(c)) if labels is None else tuple(plain(label) for label in labels)
        if len(names) != c or len(set(names)) != c:
            raise StratError.about("labels", f"must be {c} distinct labels, got {some(names)}.")
        extra = matrix.shape[0] > c
        if refuse is not None and not extra:
            raise StratError.about("values", f"must have {c + 1} rows to hold the loss of refusing, got {c}.")
        word = (REFUSE if refuse is None else plain(refuse)) if extra else None
        if word in names:
            raise StratError.about("refuse", f"must differ from the classes, got {word!r}.")
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
            raise StratError.about("probability", f"must have {len(self.labels)} columns, got shape {p.shape}.")
        best = risks(p, self.values).argmin(axis=1)
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
def zero_one_loss(labels: Sequence[Any], *, refuse: object = None, cost: float | None = None) -> LossMatrix:
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
            raise StratError.about("cost", "must be given where `refuse` is a decision, got None.")
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
        raise StratError.about(
            "loss", f"must be a LossMatrix, got {type(loss).__name__}; make it with LossMatrix(values, labels)."
        )
    t = _places("truth", truth, loss.labels)
    d = _places("predicted", predicted, loss.decisions)
    same_length(truth=t, predicted=d)
    c = len(loss.labels)
    table = np.column_stack([loss.values.ravel(), np.ones(loss.values.size)])
    bounds = (float(loss.values.min()), float(loss.values.max()))
    return Statistic("expected loss", (Rows(d * c + t, table, 2),), share_value, share_slopes, bounds=bounds)


def risks(probability: Array, losses: Array) -> Array:
    """The expected loss of each decision (a row of `losses`) at each row of class probabilities."""
    return np.asarray(probability @ losses.T)


def doubtful(probability: Array, cost: float) -> NDArray[np.bool_]:
    """Where Chow's rule refuses: no class is as probable as 1 − cost."""
    if not 0 <= cost <= 1:
        raise StratError.about(
            "cost", f"must lie between 0 and 1, the cost of an error, got {plain(cost)!r}; rescale it."
        )
    return np.asarray(probability.max(axis=1) < 1 - cost)


@checked
def chow(probability: ArrayLike, *, cost: float, labels: Sequence[Any], refuse: object = REFUSE) -> NDArray[Any]:
    """Chow's rule: the most probable class, or refusing where its probability is under 1 − cost.

    It has the least expected loss when an error costs 1 and refusing `cost`.

    Examples
    --------
    >>> chow([[0.95, 0.05], [0.6, 0.4]], cost=0.2, labels=["a", "b"]).tolist()
    ['a', 'refuse']
    """
    p = numbers("probability", probability)
    if p.ndim != 2 or p.shape[1] != len(labels):
        raise StratError.about("probability", f"must have {len(labels)} columns, got shape {p.shape}.")
    names = [*labels, refuse]
    kinds = {isinstance(name, str) for name in names}
    choice = np.where(doubtful(p, cost), len(labels), p.argmax(axis=1))
    return np.asarray(np.asarray(names, None if len(kinds) == 1 else object)[choice])


@checked
def coverage(predicted: ArrayLike, *, refuse: object = REFUSE) -> Statistic:
    """The share of rows on which a decision was made.

    Examples
    --------
    >>> float(coverage(["a", "refuse", "b", "b"]).value())
    0.75
    """
    decided = _decided(predicted, refuse)
    return share_of("coverage", decided)


@checked
def selective_risk(truth: ArrayLike, predicted: ArrayLike, *, refuse: object = REFUSE) -> Statistic:
    """The error rate on the rows on which a decision was made.

    Examples
    --------
    >>> float(selective_risk(["a", "a", "b", "a"], ["a", "refuse", "b", "b"]).value())
    0.3333333333333333
    """
    decided = _decided(predicted, refuse)
    names, t = _names("predicted", predicted), _names("truth", truth)
    same_length(truth=t, predicted=names)
    if not decided.any():
        raise StratError.about("predicted", "must hold at least one decision, got only refusals.")
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
        views=(decided,),
        base=lambda totals: totals[..., 1],
    )


@checked
def expected_cost(
    truth: ArrayLike,
    score: ArrayLike,
    *,
    false_positive: float = 1.0,
    false_negative: float = 1.0,
    thresholds: ArrayLike | None = None,
    positive: object = None,
) -> Statistic:
    """The mean cost per row of calling positive what scores at least a threshold, at each threshold.

    Parameters
    ----------
    truth, score
        Labels of two classes and a score per row.
    false_positive, false_negative
        What each kind of error costs.
    thresholds
        In any order; None: infinity, then every distinct score, or 512 of them.
    positive
        The positive class, as for `auc`.

    Examples
    --------
    >>> print(expected_cost([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], thresholds=[0.5, 0.2], false_negative=3).value())
    [0.75 0.25]
    """
    fp, fn = _cost("false_positive", false_positive), _cost("false_negative", false_negative)
    hits, support, places, label = two_classes(truth, score, positive)
    falling = falling_thresholds(support, thresholds, endless=True)
    k = len(falling)
    bins = np.searchsorted(-falling, -support, side="left")[places]

    def function(totals: Array) -> Array:
        wrong, hit = np.cumsum(totals[..., : k + 1], axis=-1), np.cumsum(totals[..., k + 1 :], axis=-1)
        every = wrong[..., -1:] + hit[..., -1:]
        return np.asarray((fp * wrong[..., :-1] + fn * (hit[..., -1:] - hit[..., :-1])) / every)

    def gradient(totals: Array) -> Array:
        above = (np.arange(k + 1)[:, None] <= np.arange(k)).astype(float)
        slopes = np.concatenate([fp * above, fn * (1 - above)])
        return np.asarray((slopes - function(totals)) / totals.sum())

    rows = (Rows(hits * (k + 1) + bins, None, 2 * (k + 1)),)
    axes = (Axis("threshold", tuple(falling.tolist())),)
    return Statistic("expected cost", rows, function, gradient, axes, bounds=(0.0, max(fp, fn)), positive=label)


@dataclass(frozen=True, repr=False)
class Threshold(Result):
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

    def __str__(self) -> str:
        """The threshold with its cost."""
        return f"threshold {self.value:.4g}: mean cost {self.cost:.4g} per row ({self.calibrated:.4g} if calibrated)"


@checked
def optimal_threshold(
    truth: ArrayLike,
    score: ArrayLike,
    *,
    false_positive: float = 1.0,
    false_negative: float = 1.0,
    weights: ArrayLike | None = None,
    positive: object = None,
) -> Threshold:
    """The score threshold of least expected cost on these rows (the highest one of several).

    Choose it on one half and measure with `expected_cost` on the other: its own cost is optimistic, and no
    interval of the threshold itself is honest (it does not settle at the usual rate).

    Examples
    --------
    >>> optimal_threshold([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], false_negative=3)
    threshold 0.35: mean cost 0.25 per row (0.25 if calibrated)
    """
    fp, fn = _cost("false_positive", false_positive), _cost("false_negative", false_negative)
    if fp + fn == 0:
        raise StratError.about("false_positive", "and `false_negative` must not both be 0.")
    hits, support, places, _ = two_classes(truth, score, positive)
    w = np.ones(len(places)) if weights is None else numbers("weights", weights, axes=1)
    same_length(truth=places, weights=w)
    m = len(support)
    negative, positive_mass = np.bincount(hits * m + places, w, minlength=2 * m).reshape(2, m)
    wrong = np.append(0.0, np.cumsum(negative[::-1]))
    missed = positive_mass.sum() - np.append(0.0, np.cumsum(positive_mass[::-1]))
    costs = (fp * wrong + fn * missed) / w.sum()
    best = int(costs.argmin())
    value = float(np.append(np.inf, support[::-1])[best])
    return Threshold(value, float(costs[best]), fp / (fp + fn))


def _places(argument: str, labels: ArrayLike, known: Sequence[Any]) -> Codes:
    """The position of each label among the known ones; labels and the word for refusing may differ in type."""
    array = np.asarray(labels, object) if isinstance(labels, list | tuple) else np.asarray(labels)
    if array.ndim != 1 or len(array) == 0:
        raise StratError.about(argument, f"must have one label per row, got shape {array.shape}.")
    where = {name: i for i, name in enumerate(known)}
    if array.dtype == object:
        names = [plain(v) for v in array]
        distinct = list(dict.fromkeys(names))
    else:
        codes, present = encode(argument, array)
        distinct = present.tolist()
    unknown = [name for name in distinct if name not in where]
    if unknown:
        raise StratError.about(
            argument, f"must hold labels of the loss matrix, got {some(unknown)}; there are {some(known)}."
        )
    if array.dtype == object:
        return np.array([where[name] for name in names])
    return np.array([where[name] for name in distinct])[codes]


def _decided(predicted: ArrayLike, refuse: object) -> NDArray[np.bool_]:
    return np.array([name != refuse for name in _names("predicted", predicted)])


def _names(argument: str, labels: ArrayLike) -> list[Any]:
    """Labels that may be of several types: classes, and the word for refusing."""
    array = np.asarray(labels, object)
    names = [plain(label) for label in array]
    if not names:
        raise StratError.about(argument, "must have at least one row, got none.")
    if array.ndim != 1 or any(is_missing(name) for name in names):
        raise StratError.about(argument, f"must have one label per row and none missing, got {shown(labels)}.")
    return names


def _cost(argument: str, value: float) -> float:
    if not (np.isfinite(value) and value >= 0):
        raise StratError.about(argument, f"must be zero or more, got {plain(value)!r}.")
    return float(value)
