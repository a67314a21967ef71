"""Orthogonal arrays of strength 2, and checks that can be called on any array."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.algebra.difference_schemes import array_of, least_size
from strat.algebra.fields import field
from strat.algebra.hadamard import construction, hadamard_columns, hadamard_order
from strat.algebra.primes import prime_and_exponent
from strat.algebra.sequences import m_sequence
from strat.base import validate
from strat.base.errors import StratError, one_of
from strat.base.files import write_integers_csv, write_npy
from strat.base.limits import LIMITS
from strat.base.text import counted
from strat.base.validate.arguments import checked

CONSTRUCTIONS = ("rotation", "rao-hamming", "hadamard", "difference scheme")


@dataclass(frozen=True, eq=False)
class OrthogonalArray:
    """Runs × columns of symbols in which any two columns hold every ordered pair of symbols equally often.

    Attributes
    ----------
    symbols
        Integers 0 .. levels - 1, runs × columns, in a type that holds no more: `symbols.astype(int)` can be counted
        with.
    levels
        Number of symbols.
    construction
        How it was made.
    """

    symbols: NDArray[np.signedinteger]
    levels: int
    construction: str

    def __post_init__(self) -> None:
        self.symbols.flags.writeable = False

    @property
    def runs(self) -> int:
        """Number of rows."""
        return len(self.symbols)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.symbols.shape[1])

    def __str__(self) -> str:
        return (
            f"orthogonal array of strength 2: {counted(self.runs, 'run', '')} × {counted(self.columns, 'column', '')}, "
            f"{counted(self.levels, 'level', '')} ({self.construction})"
        )

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line per run, symbols comma-separated; the file appears whole or not at all."""
        write_integers_csv(path, self.symbols)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the symbols in NumPy's `.npy` format; the file appears whole or not at all."""
        write_npy(path, self.symbols)


@checked
def orthogonal_array(
    levels: SupportsIndex, columns: SupportsIndex, *, construction: str | None = None
) -> OrthogonalArray:
    """An orthogonal array of strength 2 in as few runs as our constructions need.

    Parameters
    ----------
    levels
        Number of symbols, a prime power.
    columns
        Number of columns wanted.
    construction
        "rotation", "rao-hamming", "hadamard" (two levels only) or "difference scheme" (more than two). By default the
        one with the fewest runs: Hadamard for two levels, else rotation or a difference scheme.

    Examples
    --------
    >>> print(orthogonal_array(3, 4))
    orthogonal array of strength 2: 9 runs × 4 columns, 3 levels (rotation of an m-sequence over GF(3))
    >>> orthogonal_array(2, 11).runs
    12
    >>> orthogonal_array(3, 7).runs, orthogonal_array(3, 13).runs, orthogonal_array(3, 14).runs
    (18, 27, 54)
    """
    q, count = _checked(levels, columns)
    default = (
        "hadamard" if q == 2 else "rotation" if fewest_runs(q, count) == q ** exponent(q, count) else CONSTRUCTIONS[-1]
    )
    makers: dict[str, Callable[[SupportsIndex, SupportsIndex], OrthogonalArray]] = {
        "rotation": rotation,
        "rao-hamming": rao_hamming,
        "hadamard": _from_hadamard,
        "difference scheme": _from_differences,
    }
    name = default if construction is None else one_of("construction", construction, CONSTRUCTIONS)
    return makers[name](levels, columns)


@checked
def rotation(levels: SupportsIndex, columns: SupportsIndex) -> OrthogonalArray:
    """The array whose columns are rotations of one m-sequence, with an all-zero last run (STRAT (25)).

    With N = q^b - 1, symbol (a, j) is s[(a + j) mod N] for a < N and 0 for a = N. The q^b - 1 rotations contain
    scalar multiples of each other, so at most (q^b - 1)/(q - 1) columns are orthogonal; STRAT 7.3 allows
    q^b - 1, which holds for two levels only (ERRATA 1).

    >>> rotation(3, 2).symbols.T.tolist()
    [[0, 1, 2, 2, 0, 2, 1, 1, 0], [1, 2, 2, 0, 2, 1, 1, 0, 0]]
    """
    q, count = _checked(levels, columns)
    sequence = m_sequence(q, exponent(q, count))
    size = len(sequence)
    symbols = np.zeros((size + 1, count), dtype=np.min_scalar_type(-q))
    extended = np.concatenate([sequence, sequence[:count]]).astype(symbols.dtype)
    for j in range(count):
        symbols[:size, j] = extended[j : j + size]
    return OrthogonalArray(symbols, q, f"rotation of an m-sequence over GF({q})")


@checked
def rao_hamming(levels: SupportsIndex, columns: SupportsIndex) -> OrthogonalArray:
    """The array of all linear forms: runs are the vectors of GF(q)^b, columns the points of its projective space.

    >>> rao_hamming(2, 3).symbols.tolist()  # columns a, b, a + b
    [[0, 0, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0]]
    """
    q, count = _checked(levels, columns)
    b, base = exponent(q, count), field(q)
    vectors = (np.arange(q**b)[:, None] // q ** np.arange(b)) % q
    symbols = np.zeros((q**b, count), dtype=np.min_scalar_type(-q))
    for j, point in enumerate(_points(q, b, count)):
        total = np.zeros(q**b, dtype=np.int64)
        for i in np.flatnonzero(point):
            total = base.add(total, base.multiply(vectors[:, i], point[i]))
        symbols[:, j] = total
    return OrthogonalArray(symbols, q, f"Rao-Hamming over GF({q})")


def _from_hadamard(levels: SupportsIndex, columns: SupportsIndex) -> OrthogonalArray:
    if validate.count("levels", levels, least=0) != 2:
        raise StratError.about(
            "levels", f"must be 2 for the construction 'hadamard', got {levels}; use 'rotation' or 'rao-hamming'."
        )
    count = validate.count("columns", columns, least=1)
    symbols = (hadamard_columns(count) < 0).astype(np.int8)
    how = construction(hadamard_order(count))
    return OrthogonalArray(symbols, 2, f"Hadamard matrix, {how}")


def fewest_runs(q: int, columns: int) -> int:
    """The fewest runs that any construction here takes for columns of q levels, a prime power.

    >>> [fewest_runs(3, c) for c in (4, 7, 256)], fewest_runs(2, 11)
    ([9, 18, 648], 12)
    """
    return hadamard_order(columns) if q == 2 else least_size(q, columns).number


def _from_differences(levels: SupportsIndex, columns: SupportsIndex) -> OrthogonalArray:
    q, count = _checked(levels, columns)
    if q == 2:
        raise StratError.about(
            "levels", "must be more than 2 for the construction 'difference scheme', got 2; 'hadamard' is the least."
        )
    symbols = array_of(least_size(q, count), q, count)
    return OrthogonalArray(symbols.astype(np.min_scalar_type(-q)), q, f"difference scheme over GF({q})")


def _checked(levels: SupportsIndex, columns: SupportsIndex) -> tuple[int, int]:
    q, count = validate.count("levels", levels, least=2), validate.count("columns", columns, least=1)
    prime_and_exponent("levels", q)
    runs = q ** exponent(q, count)
    if runs * count > LIMITS.array_symbols:
        raise StratError.about(
            "columns",
            f"must keep the array below {LIMITS.array_symbols:,} symbols, got {count:,} columns of {runs:,} runs; "
            "`m_sequence` and `circular_level_sums` work without the array.",
        )
    return q, count


def exponent(q: int, columns: int) -> int:
    """The least b with (q^b - 1)/(q - 1) >= columns (ERRATA 1)."""
    b = 1
    while (q**b - 1) // (q - 1) < columns:
        b += 1
    return b


def _points(q: int, b: int, count: int) -> Iterator[NDArray[np.int64]]:
    """Vectors of GF(q)^b whose last non-zero symbol is 1, in the order of their first symbols."""
    number = 0
    for last in range(b):
        for lower in range(q**last):
            if number == count:
                return
            number += 1
            point = np.zeros(b, dtype=np.int64)
            point[:last] = (lower // q ** np.arange(last)) % q
            point[last] = 1
            yield point


Checked: TypeAlias = OrthogonalArray | ArrayLike


@checked
def is_orthogonal(array: Checked) -> bool:
    """Whether any two columns hold every ordered pair of symbols exactly runs / levels² times (strength 2).

    STRAT A asks for "zero or the same number", which is too weak for BRR (ERRATA 2).

    >>> is_orthogonal([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    True
    >>> is_orthogonal([[1, 1], [1, -1]])  # a Hadamard matrix with its constant column
    False
    """
    return is_fully_balanced(array)


@checked
def is_balanced(array: Checked) -> bool:
    """Whether cross terms of different columns cancel, STRAT (11).

    For ±1 that is sum_a δ_h(a) δ_h'(a) = 0 for all h < h'; for more symbols the indicators, centred at
    1/levels, take the place of the signs.

    >>> is_balanced([[1, 1], [1, -1]]), is_fully_balanced([[1, 1], [1, -1]])
    (True, False)
    """
    codes, levels = codes_and_levels(array)
    step = max(1, 2048 // levels)
    starts = range(0, codes.shape[1], step)
    blocks = [(s, codes[:, s : s + step]) for s in starts]
    return all(_cross_terms_cancel(left, right, levels, s == t) for s, left in blocks for t, right in blocks if t >= s)


@checked
def is_fully_balanced(array: Checked) -> bool:
    """Whether the array is balanced, STRAT (11), and each symbol is in each column equally often, STRAT (15).

    Together the two are strength 2.

    >>> is_fully_balanced(orthogonal_array(5, 6))
    True
    """
    codes, levels = codes_and_levels(array)
    counts = np.stack([(codes == level).sum(axis=0) for level in range(levels)])
    return bool((counts * levels == len(codes)).all()) and is_balanced(array)


def _cross_terms_cancel(left: NDArray[np.int64], right: NDArray[np.int64], levels: int, same: bool) -> bool:
    a, b = _centred(left, levels), _centred(right, levels)
    # q times the centred indicators are whole numbers, so the products are exact up to 2^53
    gram = (a.T @ b).reshape(left.shape[1], levels, right.shape[1], levels)
    if same:
        index = np.arange(left.shape[1])
        gram[index, :, index, :] = 0
    return not gram.any()


def shared_terms(array: Checked) -> float:
    """The sum of squared mean products of the columns' orthonormal contrasts: their number where they are balanced.

    >>> shared_terms([[1, 1], [1, -1], [-1, 1], [-1, -1]]), shared_terms([[1, 1], [-1, -1]])
    (2.0, 4.0)
    """
    codes, levels = codes_and_levels(array)
    centred = _centred(codes, levels)  # levels times projections, whose products have the norm of the contrasts' own
    step = max(1, 2048 // levels) * levels
    squares = sum(float(((centred[:, s : s + step].T @ centred) ** 2).sum()) for s in range(0, centred.shape[1], step))
    return squares / (len(codes) * levels) ** 2


def _centred(codes: NDArray[np.int64], levels: int) -> NDArray[np.float64]:
    indicator: NDArray[np.float64] = (codes[:, :, None] == np.arange(levels)) * float(levels) - 1.0
    return indicator.reshape(len(codes), -1)


def codes_and_levels(array: Checked) -> tuple[NDArray[np.int64], int]:
    """Symbols as 0 .. levels - 1 and the number of levels, at least 2."""
    if isinstance(array, OrthogonalArray):
        return np.asarray(array.symbols, dtype=np.int64), array.levels
    given = np.asarray(array)
    if given.ndim != 2 or 0 in given.shape:
        raise StratError.about("array", f"must have runs and columns, got shape {given.shape}.")
    if given.dtype.kind == "f" and np.isfinite(given).all() and (given == np.round(given)).all():
        given = given.astype(np.int64)
    if given.dtype.kind not in "iu":
        raise StratError.about("array", f"must hold whole numbers (symbols, or +1 and -1), got {given.dtype}.")
    values, codes = np.unique(given, return_inverse=True)
    return codes.reshape(given.shape).astype(np.int64), max(len(values), 2)
