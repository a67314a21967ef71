"""Sums over all rows of an array at once, without the array: Walsh-Hadamard and circular correlation."""

from __future__ import annotations

from functools import lru_cache
from itertools import cycle

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.validate.arguments import checked
from strat.base.validate.columns import numbers, values

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


@lru_cache(maxsize=8)
def _signs(bits: int) -> NDArray[np.int8]:
    """The parity sign (-1)^popcount of 0 .. 2^bits - 1."""
    signs = np.ones(1, dtype=np.int8)
    for _ in range(bits):
        signs = np.concatenate([signs, -signs])
    return signs


@lru_cache(maxsize=8)
def _sylvester(bits: int) -> Array:
    index = np.arange(2**bits)
    return _signs(bits)[index[:, None] & index].astype(float)


@checked
def walsh_hadamard(x: ArrayLike) -> Array:
    """H x along the first axis, where H[a, j] = (-1)^popcount(a & j) is Sylvester's Hadamard matrix.

    H is a Kronecker product of small ones, each a matrix product over one group of index bits, so that the cost
    is O(n log n). H is symmetric and H H = n I.

    Parameters
    ----------
    x
        Array whose first axis has a power of two as its length; it is not changed.

    Examples
    --------
    >>> walsh_hadamard([1, 2, 3, 4]).tolist()  # 1+2+3+4, 1-2+3-4, 1+2-3-4, 1-2-3+4
    [10.0, -2.0, -4.0, 0.0]
    """
    array = values("x", x, finite=False) if np.size(x) else np.asarray(x, dtype=float)
    n = array.shape[0] if array.ndim else 0
    if n == 0 or n & (n - 1):
        raise StratError.about(
            "x",
            f"must have a power of two as its number of rows, got {n}; add rows of zeros up to "
            f"{2 ** max(n - 1, 0).bit_length()}.",
        )
    if array.size == 0 or n == 1:
        return array.copy()
    result = np.ascontiguousarray(array).reshape(n, -1)
    turns = cycle([np.empty_like(result), np.empty_like(result)])  # new memory costs more than what is done with it
    for bits, right in _radix_steps(n.bit_length() - 1):
        result = _apply(_sylvester(bits), result, right, next(turns))
    return result.reshape(array.shape)


def _radix_steps(bits: int) -> list[tuple[int, int]]:
    """Groups of index bits, each with the number of indices to its right."""
    passes = -(-bits // LIMITS.transform_radix_bits)
    sizes = [bits // passes + (i < bits % passes) for i in range(passes)]
    steps, left = [], bits
    for size in sizes:
        left -= size
        steps.append((size, 2**left))
    return steps


def _apply(factor: Array, x: Array, right: int, result: Array) -> Array:
    """The factor applied to one group of bits, as `result`, in pieces that BLAS does not split over threads.

    A busy machine makes threads that wait for each other a hundred times slower, and one thread is enough here.
    """
    radix, wide = len(factor), right * x.shape[1]
    if wide == 1:
        piece = min(LIMITS.transform_piece, len(x) // radix)
        np.matmul(x.reshape(-1, piece, radix), factor, out=result.reshape(-1, piece, radix))
        return result
    source, target = x.reshape(-1, radix, wide), result.reshape(-1, radix, wide)
    for start in range(0, wide, LIMITS.transform_piece):
        part = slice(start, start + LIMITS.transform_piece)
        np.matmul(factor, source[:, :, part], out=target[:, :, part])
    return result


@checked
def sylvester_rows(start: int, stop: int, columns: ArrayLike) -> NDArray[np.int8]:
    """Rows start .. stop - 1 of the given columns of Sylvester's matrix, as ±1.

    >>> sylvester_rows(0, 4, [0, 1, 2, 3]).tolist()
    [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]
    """
    which = numbers("columns", columns, most=2.0**53, axes=1).astype(np.int64)
    largest = max(stop - 1, int(which.max(initial=0)), 0)
    if start < 0 or int(which.min(initial=0)) < 0:
        raise StratError.about("columns", f"and `start` must not be negative, got a start of {start}.")
    signs = _signs(16)
    kind = np.uint16 if largest < 2**16 else np.int64
    common = np.arange(start, stop).astype(kind)[:, None] & which.astype(kind)
    result: NDArray[np.int8] = signs[common & 0xFFFF] if largest >= 2**16 else signs[common]
    for shift in range(16, largest.bit_length(), 16):
        result *= signs[common >> shift & 0xFFFF]
    return result


@checked
def circular_level_sums(sequence: ArrayLike, values: ArrayLike) -> Array:
    """For each rotation of a sequence, the sum of the values that its symbols pick.

    With the N symbols s of `sequence` and L <= N rows of values,
    ``out[a] = sum_h values[h, s[(a + h) mod N]]`` for a < N, and ``out[N] = sum_h values[h, 0]``: the totals of
    all replicates that the rotation construction of STRAT (25) selects, with the all-zero run last.
    Fast Fourier transforms do it in O(N log N) for each component and O(N) extra memory.

    Parameters
    ----------
    sequence
        Symbols 0 .. q - 1. An m-sequence needs one transform pair per component: its levels are rotations of
        each other. Any other sequence works, at one more transform per level.
    values
        Shape (L, q, c).

    Returns
    -------
    Array of shape (N + 1, c).

    Examples
    --------
    >>> circular_level_sums([0, 1, 1], [[[1.0], [2.0]], [[10.0], [20.0]]]).ravel().round(9).tolist()
    [21.0, 22.0, 12.0, 11.0]
    """
    symbols, table = np.asarray(sequence), numbers("values", values, finite=False)
    _check_level_sums(symbols, table)
    length, (_, levels, components) = len(symbols), table.shape
    shifts = _level_shifts(symbols, levels)
    out = np.empty((length + 1, components))
    if shifts is None:
        spectra = [_spectrum(symbols == level) for level in range(1, levels)]
    else:
        spectra = [_spectrum(symbols == 1)]
    for c in range(components):
        base = table[:, 0, c].sum()
        groups = _placed(table[:, :, c], shifts, length)
        total = np.zeros(length // 2 + 1, dtype=complex)
        for group, spectrum in zip(groups, spectra, strict=True):
            total += np.conj(_spectrum(group)) * spectrum
        out[:length, c] = _signal(total, length) + base
        out[length, c] = base
    return out


def _check_level_sums(symbols: NDArray[np.generic], table: Array) -> None:
    if symbols.ndim != 1 or symbols.dtype.kind not in "iu" or len(symbols) == 0:
        raise StratError.about("sequence", f"must be a vector of whole numbers, got shape {symbols.shape}.")
    if table.ndim != 3 or table.shape[1] < 2:
        raise StratError.about("values", f"must have the shape (rows, levels >= 2, components), got {table.shape}.")
    if len(table) > len(symbols):
        raise StratError.about(
            "values", f"must have at most as many rows as `sequence` has symbols ({len(symbols)}), got {len(table)}."
        )
    low, high = int(symbols.min()), int(symbols.max())
    if low < 0 or high >= table.shape[1]:
        raise StratError.about(
            "sequence", f"must hold symbols 0 to {table.shape[1] - 1}, got {low if low < 0 else high}."
        )


def _spectrum(x: NDArray[np.generic]) -> NDArray[np.complex128]:
    from scipy import fft  # not with the module: `import strat` stays light

    spectrum: NDArray[np.complex128] = fft.rfft(x.astype(float, copy=False), workers=1)
    return spectrum


def _signal(spectrum: NDArray[np.complex128], length: int) -> Array:
    from scipy import fft

    signal: Array = fft.irfft(spectrum, n=length, workers=1)
    return signal


def _level_shifts(symbols: NDArray[np.generic], levels: int) -> Integers | None:
    """How far to rotate the places of symbol 1 to get those of each other symbol; None if they are no rotations.

    In an m-sequence over GF(q), s(n + N/(q-1)) = λ s(n) for a primitive λ, so the non-zero symbols take turns.
    """
    period, rest = divmod(len(symbols), levels - 1)
    if rest or period == 0:
        return None
    ahead = np.roll(symbols, -period)
    successor = np.zeros(levels, dtype=np.int64)
    successor[symbols.astype(np.int64)] = ahead
    if successor[0] != 0 or not np.array_equal(successor[symbols.astype(np.int64)], ahead):
        return None
    shifts = np.full(levels, -1, dtype=np.int64)
    level = 1
    for turn in range(levels - 1):
        if level == 0 or shifts[level] >= 0:
            return None
        shifts[level] = turn * period
        level = int(successor[level])
    return shifts


def _placed(values: Array, shifts: Integers | None, length: int) -> list[Array]:
    """The values of each level beyond level 0, padded to the sequence; on one line if levels are rotations."""
    beyond = values[:, 1:] - values[:, :1]
    groups = []
    if shifts is None:
        for level in range(beyond.shape[1]):
            groups.append(np.concatenate([beyond[:, level], np.zeros(length - len(values))]))
        return groups
    line = np.zeros(length)
    # symbol l at place n means symbol 1 at place n - shift: row h meets place a + h - shift.
    for level, shift in enumerate(shifts[1:]):
        start = -int(shift) % length
        head = min(len(values), length - start)
        line[start : start + head] += beyond[:head, level]
        line[: len(values) - head] += beyond[head:, level]
    return [line]
