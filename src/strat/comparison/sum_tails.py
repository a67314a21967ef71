"""The tail of a sum of independent counts, far beyond the smallest float."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from strat.base.validate.columns import Array

# What is below this share of the largest probability has no part in the digits of the answer.
NOTHING = 1e-40


def log_tail_of_sum(parts: Sequence[tuple[Array, int]], t: int) -> float:
    """Log P(sum >= t) of independent counts: the log probabilities of 0, 1, … of each kind, and how many there are.

    The distributions are tilted, p(k) z^k / sum, so that the sum has its mean next to t: there everything is of
    ordinary size, all terms are positive, and the tail keeps its digits however small it is.

    Examples
    --------
    Two fair coins, both heads; and two thousand of them.

    >>> coin = np.log([0.5, 0.5])
    >>> round(math.exp(log_tail_of_sum([(coin, 2)], 2)), 12)
    0.25
    >>> round(log_tail_of_sum([(coin, 2000)], 2000) / math.log(2.0), 9)
    -2000.0
    """
    log_z = _tilt(parts, t)
    total, first, scale = np.ones(1), 0, 0.0
    for log, number in parts:
        tilted, own = _tilted(log, log_z)
        probability, start = _trimmed(tilted)
        scale += number * own
        for _ in range(number):
            total, left_out = _trimmed(np.convolve(total, probability))
            first += start + left_out
    k = np.arange(len(total)) + first
    with np.errstate(divide="ignore"):
        terms = (np.log(total) - log_z * (k - t))[k >= t]
    top = float(terms.max(initial=-math.inf))
    if math.isinf(top):
        return -math.inf
    return min(scale - log_z * t + top + math.log(math.fsum(np.exp(terms - top))), 0.0)


def _trimmed(probability: Array) -> tuple[Array, int]:
    """Without what is next to nothing at both ends, and how many are left out at the first one."""
    kept = np.flatnonzero(probability > NOTHING * probability.max())
    return probability[kept[0] : kept[-1] + 1], int(kept[0])


def _tilted(log: Array, log_z: float) -> tuple[Array, float]:
    """Probabilities proportional to p(k) z^k, and the log of what they were divided by."""
    weights = log + log_z * np.arange(len(log))
    top = float(weights.max())
    raw = np.exp(weights - top)
    total = math.fsum(raw)
    return raw / total, top + math.log(total)


def _tilt(parts: Sequence[tuple[Array, int]], t: int) -> float:
    """The log z >= 0 at which the tilted sum has mean t − 1/2, which exists where t is the largest sum, too."""

    def mean(log_z: float) -> float:
        return math.fsum(number * float(_tilted(log, log_z)[0] @ np.arange(float(len(log)))) for log, number in parts)

    low, high = 0.0, 60.0
    if mean(low) >= t - 0.5:
        return 0.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if mean(middle) < t - 0.5 else (low, middle)
    return high
