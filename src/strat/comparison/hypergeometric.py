"""Agreements of two classes, or of one among others: the hypergeometric distribution at any size, with proven bounds.

The first term of a tail comes from Stirling's series in decimal arithmetic, the others from it by their ratio in whole
numbers, so that twenty million patterns take no longer than the terms that matter: a few standard deviations.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING

import numpy as np

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array

if TYPE_CHECKING:
    from strat.comparison.chance_margins import Margins

# Bits of a first term, more than any later error can reach, and bits to which Stirling's series is right.
BITS, RIGHT = 192, 120
# Below this a factorial is computed; above it eight terms of Stirling's series are right to 1e-41.
STIRLING = 256
# the first eight Bernoulli numbers but the one of order 1, as fractions
BERNOULLI = ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510))
TWO_PI = Decimal("6.28318530717958647692528676655900576839433879875021164194988918")


class TooLargeError(Exception):
    """An exact answer would take too much time or memory."""


@dataclass(frozen=True)
class Counts:
    """X = labels of one class among the `r` patterns of that class, where `c` of all r + s patterns get its label.

    The agreements are offset + step · X.
    """

    r: int
    s: int
    c: int
    offset: int
    step: int

    @property
    def low(self) -> int:
        """The smallest possible X."""
        return max(self.c - self.s, 0)

    @property
    def high(self) -> int:
        """The largest possible X."""
        return min(self.r, self.c)

    def ratio(self, k: int) -> tuple[int, int]:
        """P(X = k + 1) / P(X = k) as a fraction."""
        return (self.r - k) * (self.c - k), (k + 1) * (self.s - self.c + k + 1)


def of_margins(margins: Margins) -> Counts | None:
    """How the agreements of these margins are hypergeometric; None where more than two classes can agree."""
    if len(margins.rows) == 1:
        return Counts(margins.rows[0], margins.n - margins.rows[0], margins.columns[0], 0, 1)
    if len(margins.rows) == 2 and sum(margins.rows) == sum(margins.columns) == margins.n:
        (r, s), c = margins.rows, margins.columns[0]
        return Counts(r, s, c, s - c, 2)
    return None


def upper_tail(counts: Counts, least: int) -> tuple[int, int, int]:
    """P(X >= least) for low < least <= high, as a whole number over 2^shift, the shift, and a bound on its error.

    >>> value, shift, error = upper_tail(Counts(2, 2, 2, 0, 2), 2)  # 1 / C(4, 2)
    >>> abs(value / 2**shift - 1 / 6) <= error / 2**shift + 2.0**-54
    True
    """
    n = counts.r + counts.s
    spread = math.sqrt(counts.r / n * counts.s / n * counts.c / n * (n - counts.c))
    # A term falls below 2^-BITS of the first one within so many standard deviations, or the support ends.
    if min(counts.high - counts.low, math.sqrt(2 * BITS) * spread) > LIMITS.hypergeometric_terms:
        raise TooLargeError
    if least > (counts.r + 1) * (counts.c + 1) // (n + 2):
        return _summed(counts, least, up=True)
    total, shift, error = _summed(counts, least - 1, up=False)
    return (1 << shift) - total, shift, error


def _summed(counts: Counts, start: int, *, up: bool) -> tuple[int, int, int]:
    """The sum of P(X = k) from `start` away from the mode, over 2^shift, and a bound on its error."""
    term, shift = _first(counts, start)
    total, k, terms = 0, start, 0
    while term and counts.low <= k <= counts.high:
        total, terms = total + term, terms + 1
        if up:
            above, below = counts.ratio(k)
        else:
            below, above = counts.ratio(k - 1)
        term, k = term * above // below, k + (1 if up else -1)
    # The first term's error, one unit lost in each of the others, and the terms that are less than a unit.
    return total, shift, (total >> RIGHT) + terms**2 + counts.r + counts.s


def _first(counts: Counts, k: int) -> tuple[int, int]:
    """P(X = k) as a whole number of about BITS bits over 2^shift, right to RIGHT of them."""
    r, s, c = counts.r, counts.s, counts.c
    with localcontext() as context:
        context.prec = 80
        log = _log_binomial(r, k) + _log_binomial(s, c - k) - _log_binomial(r + s, c)
        log_2 = Decimal(2).ln()
        shift = BITS + int(-log / log_2)
        return int((log + shift * log_2).exp()), shift


def log_of_factorials(above: list[int], below: list[int]) -> float:
    """Log of the product of the factorials of `above` over that of `below`, right to the last digits at any size.

    >>> round(math.exp(log_of_factorials([2, 2, 2, 2], [4, 2, 0, 0, 2])), 12)  # 1 / C(4, 2)
    0.166666666667
    """
    with localcontext() as context:
        context.prec = 80
        times = Counter(above)
        times.subtract(below)
        return float(sum((k * _log_factorial(n) for n, k in times.items()), Decimal(0)))


def _log_binomial(n: int, k: int) -> Decimal:
    return _log_factorial(n) - _log_factorial(k) - _log_factorial(n - k)


def _log_factorial(n: int) -> Decimal:
    """Log n! to 1e-41; Stirling's series alternates, so that its error is below the first term left out."""
    if n < STIRLING:
        return Decimal(math.factorial(n)).ln()
    x = Decimal(n)
    series = (Decimal(a) / (b * 2 * j * (2 * j - 1) * x ** (2 * j - 1)) for j, (a, b) in enumerate(BERNOULLI, start=1))
    return (x + Decimal("0.5")) * x.ln() - x + TWO_PI.ln() / 2 + sum(series)


def log_probabilities(counts: Counts) -> Array:
    """Log P(X = k) for k = low … high, with a relative error of P about that of its logarithm's rounding.

    >>> np.exp(log_probabilities(Counts(2, 2, 2, 0, 2))).round(4).tolist()
    [0.1667, 0.6667, 0.1667]
    """
    k = np.arange(counts.low, counts.high, dtype=float)
    steps = np.log(counts.r - k) + np.log(counts.c - k) - np.log(k + 1.0) - np.log(counts.s - counts.c + k + 1.0)
    mode = int(np.count_nonzero(steps > 0))
    # Sums away from the mode, so that rounding is least where the probabilities are large.
    above = np.cumsum(steps[mode:])
    below = -np.cumsum(steps[:mode][::-1])[::-1]
    logs = np.concatenate([below, [0.0], above])
    result: Array = logs - math.log(math.fsum(np.exp(logs)))
    return result
