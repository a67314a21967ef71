"""Orthogonal arrays of strength 2 whose columns have several powers of one prime as their numbers of levels.

The runs are the p^b elements of a space over GF(p), split into (x, w) with w of j digits and x of b - j >= j. The sums
of w and the low digits of c·x in GF(p^(b - j)) are p^(b - j) columns of p^j levels, any two orthogonal (a difference
scheme), and so are all columns of x alone beside them. A column of p^j levels may be exchanged for an array of p^j
runs, of which it names the run: columns of fewer levels are packed so. Every element of the space is used.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from strat.algebra.difference_schemes import Size, difference_scheme
from strat.algebra.matrices import digitwise_sum
from strat.base.limits import LIMITS

Integers = NDArray[np.int64]
Placed = dict[int, Integers]
Wanted = list[tuple[int, int]]


@lru_cache(maxsize=4096)
def mixed_runs(p: int, exponents: tuple[int, ...]) -> int | None:
    """The number of runs of `mixed_array`, or None.

    >>> mixed_runs(2, (3, 2, 2, 1, 1))
    32
    """
    array = mixed_array(p, exponents)
    return None if array is None else len(array)


@lru_cache(maxsize=8)
def mixed_array(p: int, exponents: tuple[int, ...]) -> Integers | None:
    """Symbols, runs × columns, of columns with p^e levels each, in the fewest runs p^b of this construction.

    None where it would be too large to be stored.

    >>> mixed_array(2, (2, 1, 1, 1, 1)).tolist()[:3], mixed_array(3, (2, 1, 2, 1)).shape
    ([[0, 0, 0, 0, 0], [0, 1, 1, 1, 1], [1, 1, 0, 1, 0]], (81, 4))
    """
    points = sum((p**e - 1) // (p - 1) for e in exponents)
    two_largest = sum(sorted(exponents)[-2:])
    b = next(b for b in range(two_largest, 64) if (p**b - 1) // (p - 1) >= points)
    wanted = sorted(((e, i) for i, e in enumerate(exponents)), reverse=True)
    while p**b * len(exponents) <= LIMITS.stored_symbols:
        placed, left = _place(p, b, wanted)
        if not left:
            return np.stack([placed[i] for i in range(len(exponents))], axis=1)
        b += 1
    return None


def _place(p: int, b: int, wanted: Wanted) -> tuple[Placed, Wanted]:
    """Columns of p^b runs for as many of the wanted (exponent, name) as they carry, and the rest, largest first."""
    largest = next((e for e, _ in wanted if e <= b), 0)
    if largest in (0, b):
        one = next((w for w in wanted if w[0] == b), None) if largest else None
        return ({one[1]: np.arange(p**b)}, [w for w in wanted if w is not one]) if one else ({}, wanted)
    j = min(largest, b - largest)
    x, w = np.divmod(np.arange(p**b), p**j)
    alone: Placed = {}
    if j < largest:  # the one column of so many levels must be x itself
        alone, wanted = _place(p, b - j, wanted)
    sums, wanted = _sums(p, b - j, j, wanted, x, w)
    if j == largest:
        alone, wanted = _place(p, b - j, wanted)
    return sums | {name: column[x] for name, column in alone.items()}, wanted


def _sums(p: int, d: int, j: int, wanted: Wanted, x: Integers, w: Integers) -> tuple[Placed, Wanted]:
    """Columns that are the sum of w and the low j digits of c·x, or are packed into such a one."""
    scheme = difference_scheme(Size(p, 0, d), p**j)
    columns: Placed = {}
    for c in range(p**d):
        if not any(e <= j for e, _ in wanted):
            break
        symbol = digitwise_sum(scheme[x, c], w, p, j)
        packed, wanted = _place(p, j, wanted)
        columns |= {name: column[symbol] for name, column in packed.items()}
    return columns, wanted
