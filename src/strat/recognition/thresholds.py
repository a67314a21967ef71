"""The rule for "at a false match (or positive identification) rate": a threshold that the scores have.

A rate is asked for as an upper limit. The threshold is the least one whose rate is at most that, and the other error is
what is counted at that very threshold: nothing is read off a line between two thresholds, where no threshold is. So a
system is never called better than a threshold makes it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, some
from strat.base.validate.columns import Array

SUMMED = 1e-10  # what adding up weights may leave a share off


def wanted_rates(argument: str, rates: ArrayLike) -> Array:
    """`rates` as numbers strictly between 0 and 1, or an error that names the argument."""
    try:
        values = np.asarray(rates, float)
    except (TypeError, ValueError, OverflowError):
        raise StratError.about(
            argument, f"must be rates, got {some(np.ravel(np.asarray(rates, object)), 3)}."
        ) from None
    if values.size == 0:
        raise StratError.about(argument, "must hold at least one rate, got none.")
    if not ((values > 0) & (values < 1)).all():
        raise StratError.about(argument, f"must lie strictly between 0 and 1, got {some(np.ravel(values), 3)}.")
    return values


def least_threshold(scores: Array, wanted: Array, below: Array | None = None) -> Array:
    """The least threshold that at most the share `wanted` of these sorted scores is at or above.

    With weights, `below` is the share of the weight before each score, and 1.

    >>> float(least_threshold(np.array([1.0, 2.0, 3.0, 4.0]), np.array(0.25))) > 3.0
    True
    """
    n = len(scores)
    if below is None:
        allowed = np.floor(wanted * n * (1 + 1e-12)).astype(np.int64)  # scores that may remain
    else:
        allowed = n - np.searchsorted(below, 1 - wanted - SUMMED, side="left")
    return np.asarray(np.nextafter(scores[n - allowed - 1], np.inf))
