"""Regression coefficients as solutions of their score equations, Σ w (y − μ(xθ)) x = 0."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from strat.base.errors import StratError, plain, some
from strat.base.validate.argument_kinds import Columns
from strat.base.validate.arguments import checked
from strat.base.validate.columns import LARGEST, Array, distinct_rows, encode, numbers, same_length
from strat.measures.base import Axis, Statistic
from strat.measures.equations.solver import Equation, as_statistic
from strat.measures.positive import positives
from strat.measures.register import SCORES, UNBOUNDED, measure
from strat.measures.register import Columns as Roles


def linear_predictor(
    name: str, y: Array, design: Array, names: tuple[Any, ...], *, logistic: bool, offset: Array | None = None
) -> Statistic:
    """The coefficients of a linear predictor: identity link, or logit with y from 0 to 1.

    The score of a row is its residual times x, A = −Σ w v x xᵀ with v = 1 or p (1 − p); the residual of a probability
    near 0 or 1 is computed without cancellation, so that separated rows are seen.
    """
    added = np.zeros(len(y)) if offset is None else offset
    content = np.column_stack([y, added, design])
    lines, codes = distinct_rows(content)
    response, known, x = lines[:, 0], lines[:, 1], lines[:, 2:]

    def scores(theta: Array) -> Array:
        eta = known + x @ theta
        if logistic:
            return (response * scipy.special.expit(-eta) - (1.0 - response) * scipy.special.expit(eta))[:, None] * x
        return (response - eta)[:, None] * x

    def slope(theta: Array, weights: Array) -> Array:
        v = weights
        if logistic:
            eta = known + x @ theta
            v = weights * scipy.special.expit(eta) * scipy.special.expit(-eta)
        return -(x.T * v) @ x

    axes = (Axis("coefficient", names),) if len(names) > 1 else ()
    start = np.zeros(x.shape[1])
    return as_statistic(Equation(name, scores, slope, start), codes, len(lines), axes)


def _terms(x: Columns, rows: int, intercept: bool) -> tuple[Array, tuple[Any, ...]]:
    """The design matrix of named columns, and the names of its coefficients."""
    if not x and not intercept:
        raise StratError.about("x", "must hold at least one column, got none.")
    columns = {}
    for name, column in x.items():
        argument = f"x[{plain(name)!r}]"
        columns[name] = numbers(argument, column, most=LARGEST, axes=1)
        same_length(y=range(rows), **{argument: columns[name]})
    first = {"intercept": np.ones(rows)} if intercept else {}
    every = {**first, **columns}
    return np.column_stack(list(every.values())), tuple(every)


def _shares(argument: str, y: ArrayLike) -> Array:
    values = numbers(argument, y, axes=1)
    outside = (values < 0) | (values > 1)
    if outside.any():
        raise StratError.about(argument, f"must be true or false, or from 0 to 1, got {some(values[outside], 3)}.")
    return values


@checked
def linear_regression(y: ArrayLike, x: Columns, *, intercept: bool = True) -> Statistic:
    """The coefficients of the linear regression of y on named columns: a dictionary, or a data frame.

    With a design these are R's `svyglm`: the sandwich variance of the weighted least squares.

    Examples
    --------
    >>> line = linear_regression([1.0, 3.0, 5.0], {"x": [0.0, 1.0, 2.0]})
    >>> dict(zip(line.axes[0].labels, line.value().round(6).tolist()))
    {'intercept': 1.0, 'x': 2.0}
    """
    values = numbers("y", y, most=LARGEST, axes=1)
    design, names = _terms(x, len(values), intercept)
    return linear_predictor("linear regression", values, design, names, logistic=False)


@checked
def logistic_regression(
    y: ArrayLike, x: Columns, *, intercept: bool = True, offset: ArrayLike | None = None
) -> Statistic:
    """The coefficients of the logistic regression of y (true or false, or a share) on named columns, as log odds.

    The columns come as a dictionary, or as a data frame. Platt scaling is this with the score as the only column.

    Examples
    --------
    >>> odds = logistic_regression([1, 0, 1, 1, 0, 0], {"group": [1, 1, 1, 0, 0, 0]})
    >>> dict(zip(odds.axes[0].labels, odds.value().round(4).tolist()))
    {'intercept': -0.6931, 'group': 1.3863}
    """
    values = _shares("y", y)
    design, names = _terms(x, len(values), intercept)
    known = None if offset is None else numbers("offset", offset, axes=1)
    if known is not None:
        same_length(y=values, offset=known)
    return linear_predictor("logistic regression", values, design, names, logistic=True, offset=known)


def _logits(probability: ArrayLike) -> Array:
    p = _shares("probability", probability)
    if ((p <= 0) | (p >= 1)).any():
        raise StratError.about(
            "probability",
            f"must lie between 0 and 1, both excluded, got {int(((p <= 0) | (p >= 1)).sum())} at an end; "
            + ("are `truth` and `probability` swapped?" if np.isin(p, (0, 1)).all() else "clip them first."),
        )
    return np.asarray(scipy.special.logit(p))


def _outcomes(truth: ArrayLike, probability: ArrayLike, positive: object) -> tuple[Array, object]:
    """What the log odds are to explain: shares between 0 and 1, or whether a row is of the positive class."""
    given = np.asarray(truth)
    if positive is None and given.dtype.kind == "f" and not np.isin(given, (-1.0, 0.0, 1.0)).all():
        return _shares("truth", given), None
    ill, _, label, _ = positives(truth, probability, positive, argument="probability")
    return ill.astype(float), label


def _slope_alone(columns: Roles) -> Statistic:
    """The second of the two coefficients."""
    both = calibration_slope(columns["truth"], columns["score"], positive=columns.get("positive"))
    gradient = both.gradient
    assert gradient is not None
    return replace(
        both,
        name="calibration slope",
        axes=(),
        split=None,
        function=lambda t: both.function(t)[..., 1],
        gradient=lambda t: gradient(t)[:, 1],
    )


@measure(
    "calibration_slope",
    needs=SCORES,
    make=_slope_alone,
    unit="slope",
    higher_is_better=None,
    bounds=UNBOUNDED,
    reference="Cox 1958",
)
@checked
def calibration_slope(truth: ArrayLike, probability: ArrayLike, *, positive: object = None) -> Statistic:
    """The intercept and slope of the logistic regression of truth on the log odds of a probability.

    A calibrated forecast has intercept 0 and slope 1; a slope below 1 means that it is overconfident.

    Parameters
    ----------
    truth
        Labels of two classes, or for each row the share of the positive one.
    probability
        Predicted probability of the positive class.
    positive
        The positive class, as for `auc`.

    Examples
    --------
    >>> p = [0.2] * 5 + [0.8] * 5
    >>> (calibration_slope([1, 0, 0, 0, 0, 1, 1, 1, 1, 0], p).value().round(4) + 0.0).tolist()
    [0.0, 1.0]
    """
    logits = _logits(probability)
    y, label = _outcomes(truth, probability, positive)
    same_length(truth=y, probability=logits)
    design = np.column_stack([np.ones(len(y)), logits])
    both = linear_predictor("calibration", y, design, ("intercept", "slope"), logistic=True)
    return replace(both, positive=label)


@measure(
    "calibration_intercept",
    needs=SCORES,
    unit="log odds",
    higher_is_better=None,
    bounds=UNBOUNDED,
    reference="Cox 1958",
)
@checked
def calibration_intercept(truth: ArrayLike, probability: ArrayLike, *, positive: object = None) -> Statistic:
    """Calibration in the large: by how much the log odds of a probability are too low, all rows together.

    Parameters
    ----------
    truth, probability, positive
        As for `calibration_slope`.

    Examples
    --------
    >>> float(calibration_intercept([1, 0, 0, 0, 0], [0.2] * 5).value().round(4)) + 0.0
    0.0
    """
    logits = _logits(probability)
    y, label = _outcomes(truth, probability, positive)
    same_length(truth=y, probability=logits)
    one = linear_predictor(
        "calibration intercept", y, np.ones((len(y), 1)), ("intercept",), logistic=True, offset=logits
    )
    return replace(one, positive=label)


@checked
def success_curve(success: ArrayLike, length: ArrayLike) -> Statistic:
    """The intercept and slope of success against the binary logarithm of a task's length.

    The length at which half of the tasks succeed is 2 to the −intercept / slope: ``estimate(…).map(lambda c:
    2 ** (-c[..., 0] / c[..., 1]))``.

    Examples
    --------
    >>> curve = success_curve([1, 1, 0, 1, 0, 0], [1, 2, 2, 8, 8, 16])
    >>> a, b = curve.value()
    >>> float((2 ** (-a / b)).round(2))
    4.0
    """
    hours = numbers("length", length, axes=1)
    if (hours <= 0).any():
        raise StratError.about("length", f"must be positive, got {some(hours[hours <= 0], 3)}.")
    y = _shares("success", success)
    same_length(success=y, length=hours)
    design = np.column_stack([np.ones(len(y)), np.log2(hours)])
    return linear_predictor("success curve", y, design, ("intercept", "doubling"), logistic=True)


@checked
def ability(
    correct: ArrayLike, *, difficulty: ArrayLike, discrimination: ArrayLike | None = None, by: ArrayLike | None = None
) -> Statistic:
    """The ability θ of a system on items of known difficulty, by the two-parameter logistic model.

    P(correct) = 1 / (1 + exp(−a (θ − b))) with each row's difficulty b and discrimination a (1: Rasch's model), both
    taken as given. `by` names the system of each row; each gets an ability.

    Examples
    --------
    >>> float(ability([1, 1, 0, 0], difficulty=[-1.0, 0.0, 0.0, 1.0]).value().round(4)) + 0.0
    0.0
    """
    y, b = _shares("correct", correct), numbers("difficulty", difficulty, axes=1)
    a = np.ones(len(y)) if discrimination is None else numbers("discrimination", discrimination, axes=1)
    same_length(correct=y, difficulty=b, discrimination=a)
    if (a <= 0).any():
        raise StratError.about("discrimination", f"must be positive, got {some(a[a <= 0], 3)}.")
    codes, labels = (np.zeros(len(y), np.int64), np.array(["ability"])) if by is None else encode("by", by)
    same_length(correct=y, by=codes)
    design = np.zeros((len(y), len(labels)))
    design[np.arange(len(y)), codes] = a
    return linear_predictor("ability", y, design, tuple(labels.tolist()), logistic=True, offset=-a * b)
