"""How many agreements chance makes: rook polynomials with as many digits as the cancellation needs.

The trace of a table with fixed margins is the number of matches in a random permutation (ERRATA 12).
Class i contributes ``q_i(x) = sum_j C(r_i, j) C(c_i, j) j! x^j``; with ``rho_j`` the coefficients of the
product, the binomial moments of the trace T are ``M_j = E[C(T, j)] = rho_j (n - j)! / n!``, and

    P(T >= t) = sum_{j >= t} (-1)^(j - t) C(j - 1, t - 1) M_j,     P(T = t) = sum_j (-1)^(j - t) C(j, t) M_j.

The signs alternate, so the sums cancel up to about ``exp(2 E[T])``. Everything is therefore done in whole
numbers: the polynomials are multiplied as fixed-point numbers of F bits, byte by byte in one FFT whose
rounding is checked, and F is chosen (and the result checked) so that the error bound is far below the answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import gammaln

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array
from strat.comparison import hypergeometric
from strat.comparison.chance_margins import (
    Margins,
    log_binomial,
    log_coefficients,
    log_rooks,
    log_sum,
    logsumexp,
    tilted_mean,
)
from strat.comparison.hypergeometric import TooLargeError
from strat.comparison.long_polynomials import GUARD, check_size, product, taylor_shift

# Probabilities below 2^-DEPTH are below the smallest normal float.
DEPTH = 1080
LOG_2 = math.log(2.0)


@dataclass(frozen=True)
class Tail:
    """P(T >= t) as a whole number over a power of two, with a proven bound on its error."""

    numerator: int
    shift: int
    error: int

    @property
    def value(self) -> float:
        """The probability as a float (0 where it is below the smallest one)."""
        return _float(self.numerator, self.shift)

    @property
    def bound(self) -> float:
        """The bound on the error of `value` before it was rounded to a float."""
        return _float(self.error, self.shift)

    @property
    def log10(self) -> float:
        """Its decimal logarithm, also where the float underflows."""
        if self.numerator <= 0:
            return -math.inf
        extra = max(self.numerator.bit_length() - 60, 0)
        return math.log10(self.numerator >> extra) + (extra - self.shift) * math.log10(2)


def tail(margins: Margins, t: int) -> Tail:
    """P(T >= t) for these margins, with an error below 2^-GUARD of the answer."""
    if t <= 0:
        return Tail(1, 0, 0)
    if t > margins.most:
        return Tail(0, 0, 0)
    if margins.n <= LIMITS.whole_patterns:
        return _cut(sum(permutations_with(margins)[t:]), math.factorial(margins.n))
    counts = hypergeometric.of_margins(margins)
    if counts is not None:
        return _two_classes(counts, t)
    return long_tail(margins, t)


def long_tail(margins: Margins, t: int) -> Tail:
    """P(T >= t) by long arithmetic, with more digits until they suffice; for 1 <= t <= most."""
    cancelled = 2.0 * margins.mean / LOG_2
    check_size(margins, cancelled / 8.0, t)  # at least: before any work on large classes
    x = _tilt(margins, lambda j: j / (max(j - t + 1.0, 1.0) * max(margins.n - j, 1.0)), low=t)
    while True:
        answer = _tail_once(margins, t, x, cancelled)
        if answer.numerator > answer.error << GUARD:
            return answer
        cancelled = 2.0 * cancelled + GUARD


def _cut(part: int, whole: int) -> Tail:
    """A fraction of whole numbers, cut to 2 GUARD bits."""
    shift = whole.bit_length() - part.bit_length() + 2 * GUARD
    return Tail((part << shift) // whole, shift, 1)


def _two_classes(counts: hypergeometric.Counts, t: int) -> Tail:
    """Fisher's exact test: the agreements of one class are hypergeometric, and fix those of the other."""
    least = -((counts.offset - t) // counts.step)
    if least <= counts.low:
        return Tail(1, 0, 0)
    return Tail(*hypergeometric.upper_tail(counts, least))


def _tail_once(margins: Margins, t: int, x: Fraction, cancelled: float) -> Tail:
    n = margins.n
    j = np.arange(t, margins.most + 1)
    log_weight = _log_scale(margins, x, j) + log_binomial(j - 1, t - 1)
    slack = (cancelled + 2 * GUARD) * LOG_2
    log_terms = log_weight + _log_bound(margins, x, j)
    kept, left = _negligible(log_terms, float(log_terms.max()) - slack)
    log_weight = log_weight[:kept]
    peak = float(log_weight.max())
    # An error of one unit in a coefficient costs its weight, not its term.
    excess = max(logsumexp(log_weight) - float(log_terms.max()), 0.0) / LOG_2
    bits = _whole_bytes(cancelled + 2 * GUARD + 0.5 * math.log2(n) + 8 + excess)
    coefficients, scale, ulps = product(margins, x, bits, t + kept)
    # Weights from t on by their recurrence, scaled so that the largest has about bits + GUARD bits.
    first = scale * x**-t / math.perm(n, t)
    shift = int(bits + GUARD + (peak - float(log_weight[0])) / LOG_2 - _log2(first))
    weight = _floor(first, shift)
    total = weights = 0
    for k in range(t, t + kept):
        term = coefficients[k] * weight
        total += -term if (k - t) & 1 else term
        weights += weight
        weight = weight * (k * x.denominator) // ((k - t + 1) * (n - k) * x.numerator) if k < n else 0
    return Tail(total, shift + bits, ulps * weights + (1 << bits) + _power(left, shift + bits))


def _negligible(log_terms: Array, below: float) -> tuple[int, float]:
    """How many first terms matter, and the log of a bound (under `below`) on the sum of the rest."""
    rest = np.logaddexp.accumulate(log_terms[::-1])[::-1]
    small = np.flatnonzero(rest < below)
    kept = max(int(small[0]), 1) if len(small) else len(log_terms)
    return kept, float(rest[kept]) if kept < len(log_terms) else -math.inf


def _log_bound(margins: Margins, x: Fraction, j: NDArray[np.int64]) -> Array:
    """Log of an upper bound on ``rho_j x^j / q(x)``: its positive terms give q(y)/q(x) (x/y)^j for any y."""
    logs, log_x = margins.logs(), _log2(x) * LOG_2
    base = log_sum(logs, log_x)
    bound = np.zeros(len(j))
    for step in np.concatenate([-np.geomspace(0.01, 8, 24), np.geomspace(0.01, 40, 48)]):
        bound = np.minimum(bound, log_sum(logs, log_x + step) - base - j * step)
    return bound + 1e-6


def distribution(margins: Margins) -> Array:
    """P(T = t) for t = 0 … n, each with an absolute error below the smallest normal float."""
    if margins.n > LIMITS.whole_patterns and hypergeometric.of_margins(margins) is not None:
        return np.exp(log_distribution(margins)[0])
    values, shift = _counts(margins, DEPTH)
    probabilities = np.zeros(margins.n + 1)
    for t, value in enumerate(values):
        probabilities[t] = _float(value, shift)
    return probabilities


def log_distribution(margins: Margins) -> tuple[Array, bool]:
    """Log P(T = t) for t = 0 … n, -inf where T cannot be t, and whether that is all.

    Where the long arithmetic that this takes would be too large, what lies below 2^-DEPTH is -inf, too, and it is not.
    """
    logs = np.full(margins.n + 1, -math.inf)
    counts = hypergeometric.of_margins(margins) if margins.n > LIMITS.whole_patterns else None
    if counts is not None:
        own = hypergeometric.log_probabilities(counts)
        logs[counts.offset + counts.step * (counts.low + np.arange(len(own)))] = own
        return logs, True
    # No possible T is rarer than one of the ways to give the labels.
    wanted = depth = math.ceil(_log_ways(margins) / LOG_2) + GUARD
    try:
        values, shift = _counts(margins, depth)
    except TooLargeError:
        depth = DEPTH
        values, shift = _counts(margins, depth)
    noise = 1 << max(shift - depth, 0)
    for t, value in enumerate(values):
        if value >= noise:
            logs[t] = math.log(value) - shift * LOG_2
    return logs, depth == wanted


def _log_ways(margins: Margins) -> float:
    """Log of the number of ways to give the labels of the classes that can agree."""
    rest = margins.n - sum(margins.columns)
    return float(gammaln(margins.n + 1) - gammaln(np.array([*margins.columns, rest]) + 1.0).sum())


def _counts(margins: Margins, depth: int) -> tuple[list[int], int]:
    """P(T = t) for t = 0, 1, … as whole numbers over 2^shift, each with an error far below 2^-depth."""
    n = margins.n
    if n <= LIMITS.whole_patterns or not margins.rows:
        ways = permutations_with(margins) if margins.rows else [math.factorial(n)]
        shift = math.factorial(n).bit_length() + 2 * GUARD
        return [(count << shift) // math.factorial(n) for count in ways], shift
    x = _tilt(margins, lambda j: 2.0 / max(n - j, 1.0), low=0)
    j = np.arange(margins.most + 1)
    # An error in M_j reaches P(t) times C(j, t), at most 2^j; terms that stay below 2^-depth in all are left out.
    log_weight = _log_scale(margins, x, j) + j * LOG_2
    kept, _ = _negligible(log_weight + _log_bound(margins, x, j), -(depth + 10) * LOG_2)
    bits = _whole_bytes(max(logsumexp(log_weight[:kept]) / LOG_2, 0.0) + depth + 30)
    coefficients, scale, _ = product(margins, x, bits, kept)
    shifted = taylor_shift(_moments(coefficients, scale, x, n, bits))
    return [max(-value if k & 1 else value, 0) for k, value in enumerate(shifted)], bits + GUARD


def permutations_with(margins: Margins) -> list[int]:
    """How many of the n! permutations make exactly 0, 1, … n agreements: whole numbers, nothing rounded."""
    rooks = [1]
    for r, c in zip(margins.rows, margins.columns, strict=True):
        own = [math.comb(r, j) * math.comb(c, j) * math.factorial(j) for j in range(min(r, c) + 1)]
        product = [0] * (len(rooks) + len(own) - 1)
        for i, a in enumerate(rooks):
            for j, b in enumerate(own):
                product[i + j] += a * b
        rooks = product
    n = margins.n
    hits = taylor_shift([(-1) ** j * rho * math.factorial(n - j) for j, rho in enumerate(rooks)])
    return [(-1) ** k * h for k, h in enumerate(hits)] + [0] * (n + 1 - len(hits))


def _moments(coefficients: list[int], scale: Fraction, x: Fraction, n: int, bits: int) -> list[int]:
    """(-1)^j M_j as whole numbers over 2^(bits + GUARD)."""
    extra = max(int(-_log2(scale)), 0)
    weight = _floor(scale, bits + GUARD + extra)
    moments = []
    for k, coefficient in enumerate(coefficients):
        moment = (coefficient * weight) >> (bits + extra)
        moments.append(-moment if k & 1 else moment)
        weight = weight * x.denominator // (max(n - k, 1) * x.numerator)
    return moments


def log_generating(margins: Margins, log_z: float) -> float:
    """Log E[z^T] for z > 1, where every term is positive and nothing cancels (relative error about 1e-9)."""
    z = math.expm1(log_z)

    def slope(u: float) -> float:
        return margins.n + 1 - math.exp(u) - sum(mean for _, mean in _near_peak(margins, math.log(z) - u))

    # E[z^T] = 1/n! ∫ x^n e^-x prod_i q_i((z - 1)/x) dx, by the trapezoid rule on log x around its peak.
    centre = float(scipy.optimize.brentq(slope, -1.0, math.log(margins.n + 2.0), xtol=1e-9))
    width = 8.0 * math.exp(-0.5 * centre)
    while True:
        # Steps of a few tenths of a width: for a bell the rule's error falls as exp(-2 pi²/step²), below rounding.
        u = np.linspace(centre - width, centre + width, 49)
        steps = np.array([_log_integrand(margins, z, v) for v in u])
        if max(steps[0], steps[-1]) < steps.max() - 30.0:
            return float(logsumexp(steps) + math.log(u[1] - u[0]) - gammaln(margins.n + 1))
        width *= 1.5


def _log_integrand(margins: Margins, z: float, u: float) -> float:
    return (margins.n + 1) * u - math.exp(u) + sum(log for log, _ in _near_peak(margins, math.log(z) - u))


def _near_peak(margins: Margins, log_x: float) -> list[tuple[float, float]]:
    """For each class log q_i(x) and its tilted mean j, from the coefficients that matter."""
    brackets = []
    for r, c in zip(margins.rows, margins.columns, strict=True):
        first, last = _window(r, c, log_x)
        j = np.arange(first, last + 1)
        logs = log_rooks(r, c)[first : last + 1] if min(r, c) < LIMITS.kept_coefficients else log_coefficients(r, c, j)
        weights = logs + j * log_x
        top = float(weights.max())
        weights = np.exp(weights - top)
        total = float(weights.sum())
        brackets.append((top + math.log(total), float(weights @ j.astype(float)) / total))
    return brackets


def _window(r: int, c: int, log_x: float) -> tuple[int, int]:
    """Between which j the terms C(r, j) C(c, j) j! x^j matter: the peak, (r − j)(c − j) x = j + 1, ± 9 widths."""
    most, rest = min(r, c), math.exp(-log_x)
    half = 0.5 * (r + c + rest)
    peak = min(max((r * c - rest) / (half + math.sqrt(max(half**2 - r * c + rest, 0.0))), 0.0), float(most))
    bend = 1.0 / (r - peak + 1.0) + 1.0 / (c - peak + 1.0) + 1.0 / (peak + 1.0)
    reach = 9.0 / math.sqrt(bend) + 40.0
    return max(int(peak - reach), 0), min(int(peak + reach), most)


def _tilt(margins: Margins, wanted: Callable[[float], float], low: float) -> Fraction:
    """The x at which the tilted mean j(x) satisfies x = wanted(j): the terms that matter are then the largest."""
    logs = margins.logs()
    below, above = -60.0 - math.log(margins.n), 60.0
    for _ in range(60):
        middle = 0.5 * (below + above)
        j = max(tilted_mean(logs, middle), float(low))
        if middle < math.log(wanted(min(j, margins.most))):
            below = middle
        else:
            above = middle
    return Fraction(math.exp(0.5 * (below + above))).limit_denominator(1 << 24) or Fraction(1, 1 << 24)


def _power(log_value: float, shift: int) -> int:
    """At least exp(log_value) 2^shift, as a whole number."""
    exponent = log_value / LOG_2 + shift
    return 1 << (int(exponent) + 2) if exponent > 0 else 1


def _log_scale(margins: Margins, x: Fraction, j: NDArray[np.int64]) -> Array:
    """Log of q(x) x^-j (n - j)! / n!, what turns a tilted coefficient into a binomial moment."""
    log_x = _log2(x) * LOG_2
    total = log_sum(margins.logs(), log_x)
    result: Array = total - j * log_x + gammaln(margins.n - j + 1) - gammaln(margins.n + 1)
    return result


def _whole_bytes(bits: float) -> int:
    return 8 * math.ceil(bits / 8)


def _floor(value: Fraction, shift: int) -> int:
    return (value.numerator << shift) // value.denominator if shift >= 0 else int(value / 2**-shift)


def _log2(value: Fraction) -> float:
    def one(whole: int) -> float:
        extra = max(whole.bit_length() - 60, 0)
        return math.log2(whole >> extra) + extra

    return one(value.numerator) - one(value.denominator)


def _float(numerator: int, shift: int) -> float:
    """A whole number over 2^shift, without overflow on the way."""
    extra = max(numerator.bit_length() - 64, 0)
    return math.ldexp(float(numerator >> extra), extra - shift)
