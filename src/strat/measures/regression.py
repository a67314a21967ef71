"""Errors of predicted numbers: each a function of weighted sums of errors and of the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, number_columns
from strat.measures.base import Rows, Statistic
from strat.measures.means import mean
from strat.measures.quotients import quotient
from strat.measures.register import measure, one_for_all


def _errors(truth: ArrayLike, predicted: ArrayLike) -> tuple[Array, Array]:
    """The truth, and predicted minus true."""
    true, given = number_columns(truth=truth, predicted=predicted)
    return true, given - true


@measure(
    "mean_error", "bias", reads="numbers", unit="unit of the truth", higher_is_better=None, bounds=(-np.inf, np.inf)
)
@checked
def mean_error(truth: ArrayLike, predicted: ArrayLike) -> Statistic:
    """The mean of predicted − true: the bias.

    Each row adds (its error, 1). The usual unit is the series or the subject.

    Examples
    --------
    >>> float(mean_error([1, 2, 3], [2, 2, 3]).value().round(4))
    0.3333
    """
    return mean(_errors(truth, predicted)[1]).renamed("mean error")


@measure(
    "mae",
    "mean_absolute_error",
    reads="numbers",
    unit="unit of the truth",
    bounds=(0.0, np.inf),
    higher_is_better=False,
)
@checked
def mae(truth: ArrayLike, predicted: ArrayLike) -> Statistic:
    """The mean absolute error.

    Each row adds (size of its error, 1). The usual unit is the series or the subject.

    Examples
    --------
    >>> float(mae([1, 2, 3], [2, 2, 1]).value())
    1.0
    """
    return replace(mean(np.abs(_errors(truth, predicted)[1])), name="mean absolute error", bounds=(0.0, np.inf))


@measure(
    "mse",
    "mean_squared_error",
    reads="numbers",
    unit="square of the truth's unit",
    bounds=(0.0, np.inf),
    higher_is_better=False,
)
@checked
def mse(truth: ArrayLike, predicted: ArrayLike) -> Statistic:
    """The mean squared error.

    Each row adds (its squared error, 1). The usual unit is the series or the subject.

    Examples
    --------
    >>> float(mse([1, 2, 3], [2, 2, 1]).value().round(4))
    1.6667
    """
    squares = mean(_errors(truth, predicted)[1] ** 2)
    return replace(squares, name="mean squared error", link="log", bounds=(0.0, np.inf))


@measure(
    "rmse",
    "root_mean_squared_error",
    reads="numbers",
    together=one_for_all,
    unit="unit of the truth",
    bounds=(0.0, np.inf),
    higher_is_better=False,
)
@checked
def rmse(truth: ArrayLike, predicted: ArrayLike) -> Statistic:
    """The root of the mean squared error; adds up (squared error, weight).

    The usual unit is the series or the subject.

    Examples
    --------
    >>> float(rmse([1, 2, 3], [2, 2, 1]).value().round(4))
    1.291
    """
    error = _errors(truth, predicted)[1]

    def function(t: Array) -> Array:
        return np.sqrt(t[..., 0] / t[..., 1])

    def gradient(t: Array) -> Array:
        root = function(t)
        slopes = np.stack([quotient(1.0, root, 0.0), -root], axis=-1)
        return np.asarray(slopes / (2.0 * t[..., 1:]))

    rows = (Rows(None, np.column_stack([error**2, np.ones(len(error))]), 2),)
    return Statistic("root mean squared error", rows, function, gradient, link="log", bounds=(0.0, np.inf))


@measure("r2", "r_squared", "rsquared", "r²", reads="numbers", unit="share of the variance", bounds=(-np.inf, 1.0))
@checked
def r2(truth: ArrayLike, predicted: ArrayLike) -> Statistic:
    """The share of the truth's variance that is explained, R²; adds up (squared error, truth, squared truth, weight).

    The usual unit is the series or the subject.

    Examples
    --------
    >>> float(r2([1, 2, 3], [1, 2, 2]).value())
    0.5
    """
    true, error = _errors(truth, predicted)
    if (true == true[0]).all():
        raise StratError.about("truth", f"must vary over the rows for R², got {true[0]:g} in every one.")
    centred = true - true.mean()  # the value does not change, and its sums lose no digits

    def function(t: Array) -> Array:
        return np.asarray(1.0 - t[..., 0] / (t[..., 2] - t[..., 1] ** 2 / t[..., 3]))

    def gradient(t: Array) -> Array:
        spread = t[2] - t[1] ** 2 / t[3]
        by_spread = t[0] / spread**2
        return np.array([-1.0 / spread, -2.0 * t[1] / t[3] * by_spread, by_spread, (t[1] / t[3]) ** 2 * by_spread])

    columns = np.column_stack([error**2, centred, centred**2, np.ones(len(true))])
    return Statistic("R²", (Rows(None, columns, 4),), function, gradient, bounds=(-np.inf, 1.0))
