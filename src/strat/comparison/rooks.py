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

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.optimize import brentq
from scipy.special import gammaln

from strat.columns import Array

# Bytes of the largest product that an exact answer may need: about a gigabyte of work and some ten seconds.
MOST_POINTS = 3 << 23
GUARD = 64
# Up to so many patterns the distribution is made of whole numbers without any rounding.
SMALL = 150
LOG_2 = math.log(2.0)


@dataclass(frozen=True)
class Margins:
    """Row and column totals of the classes that can agree at all, and the number of patterns."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    n: int

    @property
    def most(self) -> int:
        """The largest possible number of agreements."""
        return sum(map(min, self.rows, self.columns))

    @property
    def mean(self) -> float:
        """Expected number of agreements."""
        return float(Fraction(sum(r * c for r, c in zip(self.rows, self.columns, strict=True)), self.n))

    def logs(self) -> list[Array]:
        """For each class, the logarithms of its coefficients C(r, j) C(c, j) j!."""
        return [_log_rooks(r, c) for r, c in zip(self.rows, self.columns, strict=True)]


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


class TooLargeError(Exception):
    """An exact answer would need a product of more than MOST_POINTS bytes."""


def tail(margins: Margins, t: int) -> Tail:
    """P(T >= t) for these margins, with an error below 2^-GUARD of the answer."""
    if t <= 0:
        return Tail(1, 0, 0)
    if t > margins.most:
        return Tail(0, 0, 0)
    if sum(margins.rows) == sum(margins.columns) == margins.n and len(margins.rows) == 2:
        return _two_classes(margins, t)
    if margins.n <= SMALL:
        return _cut(sum(permutations_with(margins)[t:]), math.factorial(margins.n))
    return long_tail(margins, t)


def long_tail(margins: Margins, t: int) -> Tail:
    """P(T >= t) by long arithmetic, with more digits until they suffice; for 1 <= t <= most."""
    x = _tilt(margins, lambda j: j / (max(j - t + 1.0, 1.0) * max(margins.n - j, 1.0)), low=t)
    cancelled = 2.0 * margins.mean / LOG_2
    while True:
        answer = _tail_once(margins, t, x, cancelled)
        if answer.numerator > answer.error << GUARD:
            return answer
        cancelled = 2.0 * cancelled + GUARD


def _cut(part: int, whole: int) -> Tail:
    """A fraction of whole numbers, cut to 2 GUARD bits."""
    shift = whole.bit_length() - part.bit_length() + 2 * GUARD
    return Tail((part << shift) // whole, shift, 1)


def _two_classes(margins: Margins, t: int) -> Tail:
    """Fisher's exact test: n11 is hypergeometric and T = n - r1 - c1 + 2 n11; positive terms, whole numbers."""
    (r, s), c, n = margins.rows, margins.columns[0], margins.n
    least = max(-((n - r - c - t) // 2), c - s, 0)
    term = math.comb(r, least) * math.comb(s, c - least) if least <= min(r, c) else 0
    total = 0
    for k in range(least, min(r, c) + 1):
        total += term
        term = term * (r - k) * (c - k) // ((k + 1) * (s - c + k + 1))
    return _cut(total, math.comb(n, c))


def _tail_once(margins: Margins, t: int, x: Fraction, cancelled: float) -> Tail:
    n = margins.n
    j = np.arange(t, margins.most + 1)
    log_weight = _log_scale(margins, x, j) + _log_binomial(j - 1, t - 1)
    slack = (cancelled + 2 * GUARD) * LOG_2
    log_terms = log_weight + _log_bound(margins, x, j)
    kept, left = _negligible(log_terms, float(log_terms.max()) - slack)
    log_weight = log_weight[:kept]
    peak = float(log_weight.max())
    # An error of one unit in a coefficient costs its weight, not its term.
    excess = max(_logsumexp(log_weight) - float(log_terms.max()), 0.0) / LOG_2
    bits = _whole_bytes(cancelled + 2 * GUARD + 0.5 * math.log2(n) + 8 + excess)
    coefficients, scale, ulps = _product(margins, x, bits, t + kept)
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
    base = _log_sum(logs, log_x)
    bound = np.zeros(len(j))
    for step in np.concatenate([-np.geomspace(0.01, 8, 24), np.geomspace(0.01, 40, 48)]):
        bound = np.minimum(bound, _log_sum(logs, log_x + step) - base - j * step)
    return bound + 1e-6


def distribution(margins: Margins) -> Array:
    """P(T = t) for t = 0 … n, each with an absolute error below the smallest normal float."""
    n = margins.n
    if n <= SMALL:
        total = math.factorial(n)
        return np.array([float(Fraction(count, total)) for count in permutations_with(margins)])
    x = _tilt(margins, lambda j: 2.0 / max(n - j, 1.0), low=0)
    j = np.arange(margins.most + 1)
    # An error in M_j reaches P(t) times C(j, t), at most 2^j; terms that stay below 2^-1090 in all are left out.
    log_weight = _log_scale(margins, x, j) + j * LOG_2
    kept, _ = _negligible(log_weight + _log_bound(margins, x, j), -1090 * LOG_2)
    bits = _whole_bytes(max(_logsumexp(log_weight[:kept]) / LOG_2, 0.0) + 1110)
    coefficients, scale, _ = _product(margins, x, bits, kept)
    shifted = _taylor_shift(_moments(coefficients, scale, x, n, bits))
    probabilities = np.zeros(n + 1)
    for k, value in enumerate(shifted):
        probabilities[k] = _float(max(-value if k & 1 else value, 0), bits + GUARD)
    return probabilities


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
    hits = _taylor_shift([(-1) ** j * rho * math.factorial(n - j) for j, rho in enumerate(rooks)])
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
    z, logs = math.expm1(log_z), margins.logs()

    def slope(u: float) -> float:
        return margins.n + 1 - math.exp(u) - _tilted_mean(logs, math.log(z) - u)

    # E[z^T] = 1/n! ∫ x^n e^-x prod_i q_i((z - 1)/x) dx, by the trapezoid rule on log x around its peak.
    centre = float(brentq(slope, -1.0, math.log(margins.n + 2.0), xtol=1e-9))
    width = 8.0 * math.exp(-0.5 * centre)
    while True:
        # Steps of a few tenths of a width: for a bell the rule's error falls as exp(-2 pi²/step²), below rounding.
        u = np.linspace(centre - width, centre + width, 49)
        steps = np.array([_log_integrand(margins, logs, z, v) for v in u])
        if max(steps[0], steps[-1]) < steps.max() - 30.0:
            return float(_logsumexp(steps) + math.log(u[1] - u[0]) - gammaln(margins.n + 1))
        width *= 1.5


def _log_integrand(margins: Margins, logs: list[Array], z: float, u: float) -> float:
    return (margins.n + 1) * u - math.exp(u) + _log_sum(logs, math.log(z) - u)


def _product(margins: Margins, x: Fraction, bits: int, count: int) -> tuple[list[int], Fraction, int]:
    """The first `count` of ``rho_j x^j / q(x)`` in units of 2^-bits, q(x), and how many units they may be off."""
    length = bits // 8
    if 2 * length * count > MOST_POINTS:
        raise TooLargeError
    parts, scale = [], Fraction(1)
    for r, c in zip(margins.rows, margins.columns, strict=True):
        limbs, total = _class(r, c, x, bits)
        parts.append(limbs[:count])
        scale *= total
    heap = [(len(part), k, part) for k, part in enumerate(parts)]
    heapq.heapify(heap)
    while len(heap) > 1:
        _, k, a = heapq.heappop(heap)
        _, _, b = heapq.heappop(heap)
        both = _multiply(a, b)[:count]
        heapq.heappush(heap, (len(both), k, both))
    raw = np.ascontiguousarray(heap[0][2]).tobytes()
    values = [int.from_bytes(raw[k : k + length], "little") for k in range(0, len(raw), length)]
    # Each class is off by at most 2 units, each product adds one: 3 K, and a margin for second-order terms.
    return values, scale, 3 * len(parts) + 4


def _class(r: int, c: int, x: Fraction, bits: int) -> tuple[NDArray[np.uint8], Fraction]:
    """One class's coefficients times x^j over their sum, as little-endian bytes, and that sum."""
    start = bits + 32
    values, value = [], 1 << start
    for j in range(min(r, c) + 1):
        values.append(value)
        value = value * ((r - j) * (c - j) * x.numerator) // ((j + 1) * x.denominator)
    total = sum(values)
    most = (1 << bits) - 1
    raw = b"".join(min((v << bits) // total, most).to_bytes(bits // 8, "little") for v in values)
    return np.frombuffer(raw, np.uint8).reshape(len(values), bits // 8), _short(total, start, bits)


def _short(total: int, start: int, bits: int) -> Fraction:
    """The sum over 2^start, cut to bits + GUARD leading bits."""
    cut = max(total.bit_length() - bits - GUARD, 0)
    return Fraction(total >> cut, 1) * Fraction(2) ** (cut - start)


def _multiply(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The product of two polynomials whose coefficients are rows of bytes below one, cut to as many bytes."""
    rows, length = len(a) + len(b) - 1, a.shape[1]
    shape = (fft.next_fast_len(rows, real=True), fft.next_fast_len(2 * length, real=True))
    spectrum = fft.rfft2(a.astype(float), shape)
    spectrum *= fft.rfft2(b.astype(float), shape)
    product = fft.irfft2(spectrum, shape, overwrite_x=True)[:rows, : 2 * length]
    whole = np.rint(product)
    # Sums of products of bytes stay below 2^53 and the transform's error far below 1/2; this checks it.
    if np.abs(product - whole, out=product).max() > 0.25:  # pragma: no cover - the bound forbids it
        raise TooLargeError
    return _carried(whole.astype(np.int64))[:, length:].astype(np.uint8)


def _carried(limbs: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same numbers with every limb below 256."""
    while True:
        carry = limbs >> 8
        if not carry.any():
            return limbs
        limbs &= 255
        limbs[:, 1:] += carry[:, :-1]


def _taylor_shift(coefficients: list[int]) -> list[int]:
    """Coefficients of f(u + 1), by repeated sums from the top: exact, and additions only."""
    values, out = coefficients[::-1], []
    while values:
        values = list(accumulate(values))
        out.append(values.pop())
    return out


def _tilt(margins: Margins, wanted: Callable[[float], float], low: float) -> Fraction:
    """The x at which the tilted mean j(x) satisfies x = wanted(j): the terms that matter are then the largest."""
    logs = margins.logs()
    below, above = -60.0 - math.log(margins.n), 60.0
    for _ in range(60):
        middle = 0.5 * (below + above)
        j = max(_tilted_mean(logs, middle), float(low))
        if middle < math.log(wanted(min(j, margins.most))):
            below = middle
        else:
            above = middle
    return Fraction(math.exp(0.5 * (below + above))).limit_denominator(1 << 24) or Fraction(1, 1 << 24)


def _log_sum(logs: list[Array], log_x: float) -> float:
    """Log q(x), the product of the classes' polynomials."""
    return sum(_logsumexp(a + np.arange(len(a)) * log_x) for a in logs)


def _logsumexp(values: Array) -> float:
    top = values.max()
    return float(top + np.log(np.exp(values - top).sum()))


def _power(log_value: float, shift: int) -> int:
    """At least exp(log_value) 2^shift, as a whole number."""
    exponent = log_value / LOG_2 + shift
    return 1 << (int(exponent) + 2) if exponent > 0 else 1


def _tilted_mean(logs: list[Array], log_x: float) -> float:
    mean = 0.0
    for a in logs:
        j = np.arange(len(a))
        w = a + j * log_x
        w = np.exp(w - w.max())
        mean += float(w @ j / w.sum())
    return mean


def _log_scale(margins: Margins, x: Fraction, j: NDArray[np.int64]) -> Array:
    """Log of q(x) x^-j (n - j)! / n!, what turns a tilted coefficient into a binomial moment."""
    log_x = _log2(x) * LOG_2
    total = _log_sum(margins.logs(), log_x)
    result: Array = total - j * log_x + gammaln(margins.n - j + 1) - gammaln(margins.n + 1)
    return result


@lru_cache(maxsize=64)
def _log_rooks(r: int, c: int) -> Array:
    j = np.arange(min(r, c) + 1)
    result: Array = _log_binomial(r, j) + _log_binomial(c, j) + gammaln(j + 1)
    result.flags.writeable = False
    return result


def _log_binomial(n: int | NDArray[np.int64], k: int | NDArray[np.int64]) -> Array:
    a, b = np.asarray(n), np.asarray(k)
    result: Array = gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1)
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
