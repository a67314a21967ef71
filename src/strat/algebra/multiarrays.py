"""Orthogonal multi-arrays: balanced selections of units from strata of unequal sizes (Sitter 1993).

Sitter (Biometrika 80, 211-221) replaces the symbol of an orthogonal array by a *set* of units, so that a replicate
takes m_h of the n_h units of stratum h, and asks for three things: each unit of a stratum is taken equally often,
each pair of units of a stratum is taken together equally often, and units of two strata meet in proportion. Then
replicates of a linear statistic, with the factors 1 + sqrt(m/(n - m)) (n/m·taken - 1), have exactly the textbook
variance, whatever the numbers of units.

Here such an array comes from ordinary orthogonal arrays: n_h is a product of prime powers, each of which takes a
column of its own from an array over that field; the runs are all combinations of the runs of these arrays. Powers
of one prime share an array where that makes fewer runs: the low digits of a symbol of GF(p^M) are a symbol of p^m
levels, and pairs of them stay uniform. The symbols of a stratum's columns together name one block of a symmetric
balanced design on its units: a single unit, or, where n_h >= 7 is a prime power that leaves 3 modulo 4, the
translate of the quadratic residues, (n_h - 1)/2 units. For some mixes of sizes arrays with fewer runs are known
(18 runs carry one column of two levels and seven of three; this construction takes 36); it needs no table of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat import validate
from strat.algebra.difference_schemes import Size, array_of, least_size
from strat.algebra.fields import field
from strat.algebra.hadamard import hadamard_columns, hadamard_order
from strat.algebra.orthogonal import exponent
from strat.algebra.primes import factorize, is_prime_power
from strat.algebra.sequences import m_sequence
from strat.errors import StratError
from strat.text import counted
from strat.validate.arguments import checked

Integers = NDArray[np.int64]

LARGEST_RUNS = 2_000_000
LARGEST_HADAMARD = 4096
LARGEST_STORED = 2**22  # symbols of an array by difference schemes
LARGEST_DESIGN = 2048  # beyond, blocks × units would be too large a table, and single units serve


@dataclass(frozen=True)
class Component:
    """The orthogonal array that serves all strata whose size has one of the prime powers `serves` as a factor."""

    levels: int
    columns: int
    runs: int
    serves: tuple[int, ...]

    @classmethod
    def smallest(cls, serves: tuple[int, ...], columns: int) -> Component:
        """The component with the fewest runs for this many columns."""
        levels = max(serves)
        if levels == 2 and columns < LARGEST_HADAMARD:
            return cls(levels, columns, hadamard_order(columns), serves)
        size = _by_differences(levels, columns)
        runs = levels ** exponent(levels, columns) if size is None else size.number
        return cls(levels, columns, runs, serves)

    def symbols(self, rows: Integers) -> Integers:
        """Symbols of the given runs, rows × columns."""
        if self.levels == 2 and self.columns < LARGEST_HADAMARD:
            return _two_levels(self.columns)[rows].astype(np.int64)
        size = _by_differences(self.levels, self.columns)
        if size is not None:
            return _stored(size, self.levels, self.columns)[rows]
        sequence = m_sequence(self.levels, exponent(self.levels, self.columns))
        places = (rows[:, None] + np.arange(self.columns)) % len(sequence)
        return np.where(rows[:, None] == len(sequence), 0, sequence[places])


@lru_cache(maxsize=4)
def _two_levels(columns: int) -> NDArray[np.bool_]:
    negative: NDArray[np.bool_] = hadamard_columns(columns) < 0
    return negative


def _by_differences(levels: int, columns: int) -> Size | None:
    """The size of the array by difference schemes, where it has fewer runs and is small enough to be stored."""
    size = least_size(levels, columns)
    fewer = size.number < levels ** exponent(levels, columns)
    return size if fewer and size.number * columns <= LARGEST_STORED else None


@lru_cache(maxsize=4)
def _stored(size: Size, levels: int, columns: int) -> Integers:
    return array_of(size, levels, columns)


@dataclass(frozen=True)
class MultiArray:
    """For each run and stratum, the units that are selected.

    Attributes
    ----------
    sizes
        Numbers of units n_h.
    selected
        Numbers of units m_h that each run takes.
    runs
        Number of runs.
    """

    sizes: tuple[int, ...]
    selected: tuple[int, ...]
    components: tuple[Component, ...]

    @cached_property
    def runs(self) -> int:
        """Number of runs: the product of those of the components."""
        return math.prod(c.runs for c in self.components)

    def __str__(self) -> str:
        parts = ", ".join(f"{c.runs} for {c.levels} levels" for c in self.components)
        return f"orthogonal multi-array: {counted(self.runs, 'run')} × {counted(len(self.sizes), 'stratum')} ({parts})"

    def choose(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Which units runs start .. stop - 1 take: runs × sum(sizes), units in the order of the strata.

        >>> multi_array([2, 3]).choose(0, 3).astype(int).tolist()
        [[1, 0, 0, 1, 0], [0, 1, 0, 1, 0], [1, 0, 0, 0, 1]]
        """
        runs = np.arange(start, stop)
        if start < 0 or stop > self.runs:
            raise StratError.about("stop", f"must be at most the number of runs {self.runs}, got {start} to {stop}.")
        symbols = self._symbols(runs)
        offsets = np.concatenate([[0], np.cumsum(self.sizes)])
        taken = np.zeros((len(runs), offsets[-1]), dtype=bool)
        for n in sorted(set(self.sizes)):
            strata = np.flatnonzero(np.array(self.sizes) == n)
            if block_size(n) == 1:
                taken[np.arange(len(runs))[:, None], offsets[strata] + symbols[:, strata]] = True
            else:
                taken[:, offsets[strata][:, None] + np.arange(n)] = residue_blocks(n)[symbols[:, strata]]
        return taken

    def _symbols(self, runs: Integers) -> Integers:
        """The symbol 0 .. n_h - 1 of each run and stratum, its columns joined in mixed radix."""
        symbols = np.zeros((len(runs), len(self.sizes)), dtype=np.int64)
        radix = np.ones(len(self.sizes), dtype=np.int64)
        for component in self.components:
            runs, rows = np.divmod(runs, component.runs)
            served = [(h, q) for h, n in enumerate(self.sizes) for q in prime_powers(n) if q in component.serves]
            strata, levels = np.array(served).T
            symbols[:, strata] += (component.symbols(rows) % levels) * radix[strata]
            radix[strata] *= levels
        return symbols


@lru_cache(maxsize=4096)
def prime_powers(n: int) -> tuple[int, ...]:
    """The prime powers whose product is n.

    >>> prime_powers(360)
    (8, 9, 5)
    """
    return tuple(p**m for p, m in factorize(n).items())


def block_size(n: int) -> int:
    """How many of n units a run takes: (n - 1)/2 where the quadratic residues are a design, else one.

    >>> [block_size(n) for n in (2, 3, 6, 7, 9, 11, 27)]
    [1, 1, 1, 3, 1, 5, 13]
    """
    return (n - 1) // 2 if 7 <= n <= LARGEST_DESIGN and n % 4 == 3 and is_prime_power(n) else 1


@lru_cache(maxsize=16)
def residue_blocks(n: int) -> NDArray[np.bool_]:
    """The quadratic residues of GF(n) and their translates, blocks × units: a symmetric design for n = 3 modulo 4.

    >>> residue_blocks(7)[0].nonzero()[0].tolist()  # the squares modulo 7: a line of the Fano plane
    [1, 2, 4]
    """
    f = field(n)
    every = np.arange(n)
    residue: NDArray[np.bool_] = f.character(f.subtract(every, every[:, None])) == 1
    return residue


@checked
def multi_array(sizes: Sequence[int] | Integers, *, most: int = LARGEST_RUNS) -> MultiArray:
    """An orthogonal multi-array for strata of the given numbers of units.

    Parameters
    ----------
    sizes
        Number of units in each stratum, at least 2.
    most
        The largest number of runs that is acceptable.

    Examples
    --------
    >>> print(multi_array([2, 2, 3, 3, 7]))
    orthogonal multi-array: 252 runs × 5 strata (4 for 2 levels, 9 for 3 levels, 7 for 7 levels)
    >>> multi_array([2, 2, 3, 3, 7]).selected
    (1, 1, 1, 1, 3)
    """
    numbers = tuple(validate.count("sizes", n, least=2) for n in sizes)
    if not numbers:
        raise StratError.about("sizes", "must have at least one stratum, got none.")
    columns = Counter(q for n in numbers for q in prime_powers(n))
    array = MultiArray(
        numbers,
        tuple(block_size(n) for n in numbers),
        _components(columns),
    )
    if array.runs > most:
        raise StratError.about(
            "sizes",
            f"must not need more than {most:,} runs, got {array.runs:,} ({len(numbers)} strata of "
            f"{', '.join(str(n) for n in sorted(set(numbers)))} units); use `generalized`, which takes any sizes.",
        )
    return array


def _components(columns: Counter[int]) -> tuple[Component, ...]:
    """For each prime, one array for each of its powers or one for all, whichever makes fewer runs."""
    components: list[Component] = []
    for prime in sorted({min(factorize(q)) for q in columns}):
        powers = tuple(sorted(q for q in columns if q % prime == 0))
        apart = [Component.smallest((q,), columns[q]) for q in powers]
        joint = Component.smallest(powers, sum(columns[q] for q in powers))
        components += [joint] if joint.runs < math.prod(c.runs for c in apart) else apart
    return tuple(components)


@checked
def is_orthogonal_multi_array(chosen: MultiArray | ArrayLike, sizes: Sequence[int] | None = None) -> bool:
    """Whether a selection has the three balances of an orthogonal multi-array.

    Each unit of a stratum equally often, each pair of units of a stratum together equally often, and units of two
    strata together in proportion: runs · (m_h/n_h) · (m_g/n_g) times.

    Parameters
    ----------
    chosen
        A `MultiArray`, or runs × units of 0 and 1.
    sizes
        Number of units of each stratum, for a matrix.

    Examples
    --------
    >>> is_orthogonal_multi_array(multi_array([2, 3, 4, 6]))
    True
    >>> is_orthogonal_multi_array([[1, 0, 1, 0], [0, 1, 0, 1]], [2, 2])
    False
    """
    if isinstance(chosen, MultiArray):
        together = _together(chosen)
        return _has_balance(together, np.array(chosen.sizes), chosen.runs)
    taken = np.asarray(chosen)
    counts = np.asarray([] if sizes is None else sizes, dtype=np.int64)
    if taken.ndim != 2 or counts.sum() != taken.shape[1]:
        raise StratError.about(
            "sizes", f"must add up to the number of units of `chosen`, got {counts.sum()} for shape {taken.shape}."
        )
    if not np.isin(taken, (0, 1)).all():
        raise StratError.about("chosen", "must hold 0 and 1 only, got other values.")
    ones = taken.astype(float)
    return _has_balance(ones.T @ ones, counts, len(taken))


def _together(array: MultiArray) -> NDArray[np.float64]:
    units = sum(array.sizes)
    total = np.zeros((units, units))
    step = max(1, 2**22 // units)
    for start in range(0, array.runs, step):
        block = array.choose(start, min(start + step, array.runs)).astype(float)
        total += block.T @ block
    return total


def _has_balance(together: NDArray[np.float64], sizes: Integers, runs: int) -> bool:
    stratum = np.repeat(np.arange(len(sizes)), sizes)
    often = np.diag(together)
    first = np.cumsum(sizes) - sizes
    expected = np.outer(often[first], often[first])[np.ix_(stratum, stratum)]
    across = stratum[:, None] != stratum
    if (often != often[first][stratum]).any() or (often[first] == 0).any():
        return False
    if (together * runs != expected)[across].any():
        return False
    second = np.minimum(first + 1, len(stratum) - 1)
    pair = together[first, second][stratum][:, None]
    within = ~across & ~np.eye(len(stratum), dtype=bool)
    return not ((together != pair) & within).any()
