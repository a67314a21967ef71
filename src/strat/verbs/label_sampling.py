"""Which rows to label: groups by a judge's score, its doubt, and probabilities that follow it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError
from strat.base.validate.columns import Array, Codes

LEAST_DOUBT = 0.05  # of the largest doubt: no row is left without a chance to be labelled


def quantile_groups(scores: Array, bins: int) -> NDArray[Any]:
    """Groups of about equally many rows, by score: the number of each, from 1; equal scores stay together.

    >>> quantile_groups(np.array([0.1, 0.9, 0.5, 0.9]), 2).tolist()
    [1, 2, 1, 2]
    """
    if bins < 2:
        raise StratError.about("bins", f"must be at least 2, got {bins}.")
    cuts = np.unique(np.quantile(scores, np.arange(1, bins) / bins, method="inverted_cdf"))
    groups: NDArray[Any] = np.unique(np.searchsorted(cuts, scores), return_inverse=True)[1].reshape(-1) + 1
    return groups


def doubt(scores: Array) -> Array:
    """How unsure a judge is of each row: sqrt(p (1 − p)) for scores from 0 to 1."""
    if (scores < 0).any() or (scores > 1).any():
        raise StratError.about(
            "judge",
            "must lie from 0 to 1 for its doubt to give an allocation, got other scores; give `spread`, or "
            "method='proportional'.",
        )
    return np.sqrt(scores * (1.0 - scores))


def at_least(doubts: Array) -> Array:
    """Doubts with a floor, so that no row is left without a chance to be labelled."""
    largest = float(doubts.max())
    return np.maximum(doubts, LEAST_DOUBT * largest) if largest > 0 else np.ones(len(doubts))


def mean_doubt(doubts: Array, stratum: Codes) -> Array:
    """The mean doubt in each stratum, none near zero."""
    return at_least(np.bincount(stratum, doubts) / np.bincount(stratum))


def inclusion_probabilities(sizes: Array, number: int) -> Array:
    """Probabilities proportional to sizes that add up to a number, none above 1.

    >>> inclusion_probabilities(np.array([8.0, 1.0, 1.0]), 2).tolist()
    [1.0, 0.5, 0.5]
    """
    sure = np.zeros(len(sizes), bool)
    while True:
        rest = number - sure.sum()
        p = np.where(sure, 1.0, rest * sizes / sizes[~sure].sum() if (~sure).any() else 1.0)
        more = (p >= 1.0) & ~sure
        if not more.any():
            return np.asarray(p)
        sure |= more
