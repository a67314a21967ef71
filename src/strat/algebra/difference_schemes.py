"""Difference schemes, and orthogonal arrays with fewer runs than a power of the number of levels.

A difference scheme D of order r over GF(q) is an r × r matrix in which the differences of any two columns hold every
element equally often. Then D[i, a] + A[j, b], with an orthogonal array A of N runs and k columns, is an orthogonal
array of rN runs and rk columns, to which the columns of an array of r runs, each run repeated N times, can be added
(Bose and Bush 1952). The schemes here have the orders p^m (the products of GF(p^m), their low digits taken) and, for
odd p, 2p^m; and all products of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from strat.algebra.fields import Field, field
from strat.algebra.matrices import digitwise_sum
from strat.algebra.primes import factorize

Integers = NDArray[np.int64]

MOST_DOUBLINGS = 6  # arrays of 2^a p^b runs with larger a are never the least ones in reach


@dataclass(frozen=True)
class Size:
    """A number of runs, or the order of a scheme: 2^doublings · p^exponent."""

    p: int
    doublings: int
    exponent: int

    @property
    def number(self) -> int:
        """The number itself."""
        return int(2**self.doublings * self.p**self.exponent)

    def without(self, part: Size) -> Size:
        """The size over a part of it."""
        return Size(self.p, self.doublings - part.doublings, self.exponent - part.exponent)


def least_size(q: int, columns: int) -> Size:
    """The least number of runs 2^a p^b, q = p^k, for which the arrays of this module have so many columns.

    >>> [least_size(3, c).number for c in (4, 7, 13, 25, 256)], least_size(4, 9).number
    ([9, 18, 27, 54, 648], 32)
    """
    ((p, k),) = factorize(q).items()
    reach = k
    while _capacity(Size(p, 0, reach), k) < columns:
        reach += 1
    sizes = [Size(p, a, b) for a in range(_doublings(p) + 1) for b in range(k, reach + 1)]
    fitting = [size for size in sizes if size.number <= p**reach and _capacity(size, k) >= columns]
    return min(fitting, key=lambda size: size.number)


def array_of(size: Size, q: int, columns: int) -> Integers:
    """The symbols, runs × columns, of an orthogonal array of that size."""
    ((p, k),) = factorize(q).items()
    if columns == 1 or size.exponent < 2 * k:
        return np.repeat(np.arange(q), size.number // q)[:, None][:, :columns]
    order = max(_orders(size, k), key=lambda part: _columns_by(size, part, k))
    scheme, inner_columns = difference_scheme(order, q), _capacity(size.without(order), k)
    wanted = min(inner_columns, -(-columns // order.number))
    inner = array_of(size.without(order), q, wanted)
    sums = digitwise_sum(scheme[:, None, None, :], inner[None, :, :, None], p, k)
    symbols: Integers = sums.reshape(size.number, -1)[:, :columns]
    rest = columns - symbols.shape[1]
    if rest > 0:
        outer = np.repeat(array_of(order, q, rest), len(inner), axis=0)
        symbols = np.hstack([symbols, outer])
    return symbols


def difference_scheme(order: Size, q: int) -> Integers:
    """A difference scheme of that order over GF(q): rows × columns.

    >>> difference_scheme(Size(3, 0, 1), 3).tolist()
    [[0, 0, 0], [0, 1, 2], [0, 2, 1]]
    """
    ((p, k),) = factorize(q).items()
    if order.doublings < 2:
        f = field(p**order.exponent)
        full = products(f) if order.doublings == 0 else doubled(f)
        low_digits: Integers = full % q
        return low_digits
    first = Size(p, 1, k)
    left, right = difference_scheme(first, q), difference_scheme(order.without(first), q)
    summed = digitwise_sum(left[:, None, :, None], right[None, :, None, :], p, k)
    return summed.reshape(order.number, order.number)


def products(f: Field) -> Integers:
    """The products of all pairs of elements: a difference scheme of order q."""
    every = np.arange(f.order)
    return f.multiply(every[:, None], every[None, :])


def doubled(f: Field) -> Integers:
    """A difference scheme of order 2q for odd q.

    Rows are (i, x), columns (j, y). Two columns of the same j differ by a linear function of x, which takes each value
    once; columns of different j differ by a square times 1 for i = 0 and times a non-square m for i = 1, plus the same
    constant, and the two together take each value twice. The entries are x² + xy + y²/4 and xy - y²/4 for i = 0,
    m x² + xy + y²/(4m) and m (xy - y²/4) for i = 1.
    """
    every = np.arange(f.order)
    x, y = every[:, None], every[None, :]
    xy, squares = f.multiply(x, y), f.multiply(every, every)
    nonsquare = int(every[f.character(every) == -1][0])
    four = f.add(f.add(1, 1), f.add(1, 1))
    quarter = f.divide(squares, four)[None, :]
    first = f.add(f.add(squares[:, None], xy), quarter)
    second = f.subtract(xy, quarter)
    third = f.add(f.add(f.multiply(squares, nonsquare)[:, None], xy), f.divide(quarter, nonsquare))
    return np.block([[first, second], [third, f.multiply(second, nonsquare)]])


def _doublings(p: int) -> int:
    return MOST_DOUBLINGS if p > 2 else 0


def _orders(size: Size, k: int) -> Iterator[Size]:
    """Orders of schemes that leave an array of at least q runs."""
    for a in range(size.doublings + 1):
        for b in range(max(a, 1) * k, size.exponent - k + 1):
            yield Size(size.p, a, b)


def _columns_by(size: Size, order: Size, k: int) -> int:
    return order.number * _capacity(size.without(order), k) + _capacity(order, k)


@lru_cache(maxsize=4096)
def _capacity(size: Size, k: int) -> int:
    """How many columns over GF(p^k) an array of that size has here."""
    return max((_columns_by(size, order, k) for order in _orders(size, k)), default=1)
