"""The orthogonal arrays that a multi-array is made of: one for each prime, or one for two levels and several primes.

`Pure` has columns of one number of levels, `Mixed` columns of several powers of a prime. `Joint` has columns of two
levels beside columns of odd primes p: with q the product of the primes, the runs are (a, ρ) of q numbers a and 4q rows
ρ of a Hadamard matrix, which has the columns of two levels; a column of p levels is the sum of a modulo p and a column
of a difference scheme of order 2p, repeated over the rows (Wang and Wu 1991). So 4q² runs carry 4q - 1 columns of two
levels and 2p of each p; all combinations of the runs of arrays for each prime are more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from strat.algebra.difference_schemes import Size, array_of, difference_scheme, least_size
from strat.algebra.hadamard import hadamard, hadamard_columns, hadamard_order
from strat.algebra.mixed_arrays import mixed_array, mixed_runs
from strat.algebra.orthogonal import exponent
from strat.algebra.primes import factorize
from strat.algebra.sequences import m_sequence
from strat.base.limits import LIMITS

Integers = NDArray[np.int64]

# columns of two levels below which a Hadamard matrix is taken, whose order is the least in reach
LARGEST_HADAMARD = 4096


class Part(Protocol):
    """An orthogonal array of strength 2 whose runs can be made a few at a time."""

    @property
    def runs(self) -> int:
        """Number of runs."""

    @property
    def levels(self) -> tuple[int, ...]:
        """The number of levels of each column."""

    def symbols(self, rows: Integers) -> Integers:
        """Symbols of the given runs, rows × columns."""


def in_words(part: Part) -> str:
    """The runs, and the levels that they are for.

    >>> in_words(Mixed(2, (2, 1, 1)))
    '8 for 2 and 4 levels'
    """
    *others, last = (str(q) for q in sorted(set(part.levels)))
    return f"{part.runs:,} for {', '.join(others)}{' and ' if others else ''}{last} levels"


@dataclass(frozen=True)
class Pure:
    """`columns` columns of `q` levels each, in as few runs as there are constructions for."""

    q: int
    columns: int

    @property
    def runs(self) -> int:
        """Number of runs."""
        if self._is_hadamard:
            return hadamard_order(self.columns)
        size = self._size
        return int(self.q ** exponent(self.q, self.columns)) if size is None else size.number

    @property
    def levels(self) -> tuple[int, ...]:
        """The number of levels of each column."""
        return (self.q,) * self.columns

    @property
    def _is_hadamard(self) -> bool:
        return self.q == 2 and self.columns < LARGEST_HADAMARD

    @property
    def _size(self) -> Size | None:
        """The size by difference schemes, where that has fewer runs and is small enough to be stored."""
        size = least_size(self.q, self.columns)
        fewer = size.number < self.q ** exponent(self.q, self.columns)
        return size if fewer and size.number * self.columns <= LIMITS.stored_symbols else None

    def symbols(self, rows: Integers) -> Integers:
        """Symbols of the given runs, rows × columns."""
        if self._is_hadamard:
            return _two_levels(self.columns)[rows].astype(np.int64)
        size = self._size
        if size is not None:
            return _stored(size, self.q, self.columns)[rows]
        sequence = m_sequence(self.q, exponent(self.q, self.columns))
        places = (rows[:, None] + np.arange(self.columns)) % len(sequence)
        return np.where(rows[:, None] == len(sequence), 0, sequence[places])


@lru_cache(maxsize=4)
def _two_levels(columns: int) -> NDArray[np.bool_]:
    negative: NDArray[np.bool_] = hadamard_columns(columns) < 0
    return negative


@lru_cache(maxsize=4)
def _stored(size: Size, levels: int, columns: int) -> Integers:
    return array_of(size, levels, columns)


@dataclass(frozen=True)
class Mixed:
    """Columns of p^e levels for each of the exponents."""

    p: int
    exponents: tuple[int, ...]

    @property
    def runs(self) -> int:
        """Number of runs."""
        number = mixed_runs(self.p, self.exponents)
        assert number is not None, "an array that is too large is left to `Pure`"
        return number

    @property
    def levels(self) -> tuple[int, ...]:
        """The number of levels of each column."""
        return tuple(self.p**e for e in self.exponents)

    def symbols(self, rows: Integers) -> Integers:
        """Symbols of the given runs, rows × columns."""
        array = mixed_array(self.p, self.exponents)
        assert array is not None, "an array that is too large is left to `Pure`"
        return array[rows]


@dataclass(frozen=True)
class Joint:
    """`twos` columns of two levels, then for each odd prime `p` so many of p levels, at most 2p."""

    twos: int
    odd: tuple[tuple[int, int], ...]

    @property
    def _primes(self) -> int:
        return math.prod(p for p, _ in self.odd)

    @property
    def rows(self) -> int:
        """The order of the Hadamard matrix."""
        return 4 * self._primes

    @property
    def runs(self) -> int:
        """Number of runs."""
        return self.rows * self._primes

    @property
    def levels(self) -> tuple[int, ...]:
        """The number of levels of each column."""
        return (2,) * self.twos + tuple(p for p, columns in self.odd for _ in range(columns))

    def symbols(self, rows: Integers) -> Integers:
        """Symbols of the given runs, rows × columns."""
        a, row = np.divmod(rows, self.rows)
        parts = [_hadamard_rows(self.rows, self.twos)[row]]
        for p, columns in self.odd:
            scheme = difference_scheme(Size(p, 1, 1), p)[:, :columns]
            parts.append((scheme[row % (2 * p)] + a[:, None]) % p)
        return np.hstack(parts).astype(np.int64)


@lru_cache(maxsize=4)
def _hadamard_rows(order: int, columns: int) -> NDArray[np.bool_]:
    negative: NDArray[np.bool_] = hadamard(order)[:, 1 : columns + 1] < 0
    return negative


def powers_of_a_prime(p: int, exponents: tuple[int, ...]) -> Part:
    """The array with columns of p^e levels, or of p to the largest exponent for all where that must do.

    >>> powers_of_a_prime(2, (2, 1, 1)).runs, powers_of_a_prime(3, (1,) * 7).runs
    (8, 18)
    """
    if max(exponents) > min(exponents) and mixed_runs(p, exponents) is not None:
        return Mixed(p, exponents)
    return Pure(p ** max(exponents), len(exponents))


def prime_and_power(q: int) -> tuple[int, int]:
    """The prime and the exponent of a prime power that is known to be one."""
    ((p, e),) = factorize(q).items()
    return p, e
