"""Products of polynomials with long fixed-point coefficients, byte by byte in one FFT."""

from __future__ import annotations

import heapq
import math
from fractions import Fraction
from itertools import accumulate

import numpy as np
import scipy
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.comparison.chance_margins import Margins
from strat.comparison.hypergeometric import TooLargeError

GUARD = 64  # bits beyond those asked for, which rounding may use up


def product(margins: Margins, x: Fraction, bits: int, count: int) -> tuple[list[int], Fraction, int]:
    """The first `count` of ``rho_j x^j / q(x)`` in units of 2^-bits, q(x), and how many units they may be off."""
    length = bits // 8
    check_size(margins, length, count)
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


def check_size(margins: Margins, length: float, count: int) -> None:
    """Whether products of `count` numbers of `length` bytes for all classes are small enough."""
    if length * count * math.log2(len(margins.rows) + 1) > LIMITS.polynomial_points:
        raise TooLargeError


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
    shape = (scipy.fft.next_fast_len(rows, real=True), scipy.fft.next_fast_len(2 * length, real=True))
    spectrum = scipy.fft.rfft2(a.astype(float), shape)
    spectrum *= scipy.fft.rfft2(b.astype(float), shape)
    product = scipy.fft.irfft2(spectrum, shape, overwrite_x=True)[:rows, : 2 * length]
    whole = np.rint(product)
    # Sums of products of bytes stay below 2^53 and the transform's error far below 1/2; this checks it.
    if np.abs(product - whole, out=product).max() > 0.25:  # pragma: no cover - the bound forbids it
        raise TooLargeError
    return _carried(np.ascontiguousarray(whole.T).astype(np.int64))[length:].T.astype(np.uint8)


def _carried(limbs: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same numbers, one per column with the least limb on top, with every limb below 256."""
    carry = np.zeros(limbs.shape[1], np.int64)
    for limb in limbs:
        limb += carry
        np.right_shift(limb, 8, out=carry)
        limb &= 255
    return limbs


def taylor_shift(coefficients: list[int]) -> list[int]:
    """Coefficients of f(u + 1), by repeated sums from the top: exact, and additions only."""
    values, out = coefficients[::-1], []
    while values:
        values = list(accumulate(values))
        out.append(values.pop())
    return out
