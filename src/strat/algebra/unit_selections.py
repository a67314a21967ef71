"""How a run of a multi-array selects units of one stratum: the blocks of balanced designs, in parallel classes.

A run takes one block of a class. The blocks of a class part the units, so that a unit is taken equally often whatever
the class, and the classes together hold each pair of units equally often. The block needs a column of the array for
each prime power in the number of blocks of a class; which class it comes from may be chosen by anything that does not
depend on this column, and one column does so for all strata.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from strat.algebra.fields import field
from strat.algebra.hadamard import hadamard, hadamard_columns, is_reachable
from strat.algebra.primes import factorize, is_prime_power
from strat.base.limits import LIMITS

Blocks = NDArray[np.bool_]


@dataclass(frozen=True)
class Selection:
    """A way to select some of `units`.

    Attributes
    ----------
    units
        Number of units of the stratum.
    levels
        Prime powers whose product is the number of blocks of a class; each takes a column of its own.
    classes
        Prime powers whose product is the number of classes; none for a single one.
    """

    units: int
    levels: tuple[int, ...]
    classes: tuple[int, ...] = ()

    @property
    def taken(self) -> int:
        """How many units a run takes."""
        return int(blocks(self)[0, 0].sum()) if self.classes else block_size(self.units)


@lru_cache(maxsize=4096)
def selections(units: int) -> tuple[Selection, ...]:
    """The ways that are known here, single units (or residues) first.

    >>> [(way.levels, way.classes, way.taken) for n in (7, 9, 12) for way in selections(n)]
    [((7,), (), 3), ((9,), (), 1), ((3,), (4,), 3), ((4, 3), (), 1), ((2,), (11,), 6)]
    """
    return (Selection(units, prime_powers(units)), *_resolved(units))


def _resolved(n: int) -> Iterator[Selection]:
    if n > LIMITS.resolved_units:
        return
    factors = factorize(n)
    if n % 2 == 0 and n > 2 and is_reachable(_order(n)):
        yield Selection(n, (2,), prime_powers(n - 1 if n % 4 == 0 else 2 * n - 2))
    if n % 2 and len(factors) == 1 and n not in factors:
        p = min(factors)
        yield Selection(n, (p,), prime_powers((n - 1) // (p - 1)))


@lru_cache(maxsize=4096)
def prime_powers(n: int) -> tuple[int, ...]:
    """The prime powers whose product is n.

    >>> prime_powers(360)
    (8, 9, 5)
    """
    return tuple(p**m for p, m in factorize(n).items())


@lru_cache(maxsize=64)
def blocks(way: Selection) -> Blocks:
    """Which units each block takes: classes × blocks of a class × units.

    >>> blocks(Selection(4, (2,), (3,))).astype(int).tolist()
    [[[1, 0, 1, 0], [0, 1, 0, 1]], [[1, 1, 0, 0], [0, 0, 1, 1]], [[1, 0, 0, 1], [0, 1, 1, 0]]]
    """
    n = way.units
    if not way.classes:
        return (np.eye(n, dtype=bool) if block_size(n) == 1 else residue_blocks(n))[None]
    return halves(n) if way.levels == (2,) else hyperplanes(n)


def halves(n: int) -> Blocks:
    """Splits of n units, n even, into halves that hold each pair equally often: splits × 2 × units.

    For n = 0 modulo 4 they are the columns of a Hadamard matrix of order n; else those of order 2n, in the n rows where
    its second column is 1.
    """
    if n % 4 == 0:
        first = hadamard_columns(n - 1).T[:, :n] > 0
    else:
        matrix = hadamard(2 * n)
        first = matrix[matrix[:, 1] > 0, 2:].T > 0
    return np.stack([first, ~first], axis=1)


def _order(n: int) -> int:
    return n if n % 4 == 0 else 2 * n


def hyperplanes(n: int) -> Blocks:
    """The hyperplanes of the affine space of n = p^k points: (n - 1)/(p - 1) classes × p × points.

    >>> hyperplanes(9).sum(axis=(0, 1)).tolist()  # each point lies on a line of each of four classes
    [4, 4, 4, 4, 4, 4, 4, 4, 4]
    """
    ((p, k),) = factorize(n).items()
    points = (np.arange(n)[:, None] // p ** np.arange(k)) % p
    first = [next(int(x) for x in point if x) for point in points[1:]]
    normals = points[1:][np.array(first) == 1]
    values = (normals @ points.T) % p
    return np.stack([values == level for level in range(p)], axis=1)


def block_size(n: int) -> int:
    """How many of n units a run takes without classes: (n - 1)/2 where quadratic residues are a design, else one.

    >>> [block_size(n) for n in (2, 3, 6, 7, 9, 11, 27)]
    [1, 1, 1, 3, 1, 5, 13]
    """
    return (n - 1) // 2 if 7 <= n <= LIMITS.selected_units and n % 4 == 3 and is_prime_power(n) else 1


@lru_cache(maxsize=16)
def residue_blocks(n: int) -> Blocks:
    """The quadratic residues of GF(n) and their translates, blocks × units: a symmetric design for n = 3 modulo 4.

    >>> residue_blocks(7)[0].nonzero()[0].tolist()  # the squares modulo 7: a line of the Fano plane
    [1, 2, 4]
    """
    f = field(n)
    every = np.arange(n)
    residue: Blocks = f.character(f.subtract(every, every[:, None])) == 1
    return residue


def number_of_classes(way: Selection) -> int:
    """How many classes there are, 1 for a way without."""
    return math.prod(way.classes)
