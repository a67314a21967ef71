"""Measures of rows and weights that users bring along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, plain
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, same_length
from strat.measures.base import Rows, Statistic


@checked
def metric(
    function: Callable[..., float],
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    name: str | None = None,
    link: str = "identity",
    bounds: tuple[float, float] = (-np.inf, np.inf),
    **arguments: Any,
) -> Statistic:
    """Any scikit-learn style metric, as a function of the rows' weights.

    It calls ``function(truth, predicted, sample_weight=…, **arguments)`` once for each replicate, on the rows
    whose weight is not zero. Slower than the built-in measures, but always possible.

    Parameters
    ----------
    function
        A metric that takes `sample_weight`.
    truth, predicted
        Whatever the metric takes, one row (or line of a matrix) per case.
    name, link, bounds
        What it is called, the scale on which it is nearest to normal, the range it can't leave.
    **arguments
        More keyword arguments for the metric.

    Examples
    --------
    >>> from sklearn.metrics import zero_one_loss
    >>> float(metric(zero_one_loss, [0, 1, 1, 1], [1, 1, 1, 1]).value())
    0.25
    """
    if not callable(function):
        raise StratError.about("function", f"must be a metric that can be called, got {plain(function)!r}.")
    y, p = np.asarray(truth), np.asarray(predicted)
    n = same_length(truth=y, predicted=p)

    def one(weights: Array) -> float:
        there = weights != 0
        try:
            return float(function(y[there], p[there], sample_weight=weights[there], **arguments))
        except TypeError as error:
            raise StratError.about(
                "function",
                "must be a metric that takes (truth, predicted, sample_weight=…) and returns a number, got "
                f"an error: {error}; give it weights, or use `statistic` with a function of the weights.",
            ) from error

    def of_weights(weights: Array) -> Array:
        flat = weights.reshape(-1, n)
        return np.array([one(w) for w in flat], float).reshape(weights.shape[:-1])

    title = name or getattr(function, "__name__", "metric").replace("_", " ")
    return Statistic(title, (Rows(None, None, n),), of_weights, link=link, bounds=bounds)
