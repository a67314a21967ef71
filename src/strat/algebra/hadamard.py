"""Hadamard matrices of as many orders as short constructions reach."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import SupportsIndex

import numpy as np

from strat.algebra.fields import field
from strat.algebra.primes import is_prime_power
from strat.algebra.t_matrices import Four, Signs, circulant, t_and_williamson, t_blocks
from strat.base import validate
from strat.base.errors import StratError, short
from strat.base.limits import LIMITS
from strat.base.validate.arguments import checked

# For orders 4v that nothing above reaches: generators of a group of multipliers modulo v, and four unions of its
# orbits (bit i: the i-th orbit, ordered by least element) whose ±1 sequences have autocorrelations that cancel.
# Found by a search for pairs of pairs with opposite autocorrelation, 47 and 59 among Turyn-type sequences (whose
# group is trivial); the supplementary difference sets of Đoković for 103 and 151 (1994), 191 (2008), 219 (1992) and
# 239 (with Paley's residues). Each is checked in the tests.
ORBIT_UNIONS: dict[int, tuple[tuple[int, ...], tuple[int, int, int, int]]] = {
    23: ((22,), (1684, 1305, 1149, 2033)),
    39: ((29,), (79, 121, 285, 231)),
    43: ((4,), (50, 42, 15, 37)),
    47: ((1,), (99713775833936, 117424738210640, 41025195217744, 23311267337040)),
    59: ((1,), (11336044294038632, 95071942263825512, 565124317076907112, 481389200973620328)),
    65: ((9,), (11828, 2967, 7068, 183)),
    67: ((29,), (5911054, 5129655, 2995845, 4085605)),
    93: ((2,), (1333, 5748, 5043, 7096)),
    103: ((46,), (6789152184, 8763732932, 6283843214, 12839017502)),
    119: ((2,), (106, 113, 15, 71)),
    127: ((2,), (329641, 174017, 381586, 95757)),
    133: ((4,), (30833, 103093, 19302, 90802)),
    151: ((8,), (1523926578, 477963284, 701694462, 2057080648)),
    153: ((8, 19), (7061, 7258, 4202, 6052)),
    163: ((38,), (258451, 157334, 101097, 379175)),
    191: ((39,), (167402080448, 539829060424, 267927065642, 402863340136)),
    209: ((26,), (1552713, 313190, 1344441, 1296170)),
    219: ((4,), (65753264, 26380788, 94987090, 51718558)),
    239: ((10,), (5439026046, 33850740842, 3294097466, 12153038291)),
    247: ((9, 35), (9885, 12381, 3911, 1443)),
}


@checked
def hadamard(order: SupportsIndex) -> Signs:
    """A Hadamard matrix: ±1, orthogonal columns, the first column all ones.

    Every other column then holds as many +1 as -1, which is the full balance of STRAT (15).

    Parameters
    ----------
    order
        1, 2 or a multiple of 4 that the constructions reach: Sylvester, Paley I and II over prime powers,
        Miyamoto, Goethals-Seidel for some others, products of these, and T-matrices with Williamson's.
        `hadamard_order` gives the least one for a number of columns.

    Examples
    --------
    >>> hadamard(4).tolist()
    [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]
    >>> h = hadamard(28).astype(int)  # Paley over GF(27)
    >>> bool((h.T @ h == 28 * np.eye(28)).all())
    True
    """
    n = validate.count("order", order, least=1)
    if n > 1 << 32:
        raise StratError.about("order", f"must be at most 2^32, got {short(repr(n))}; no memory holds the matrix.")
    if not is_reachable(n):
        below = next((k for k in range(n - 1, 0, -1) if is_reachable(k)), 1)
        above = next(k for k in range(n + 1, 4 * n + 5) if is_reachable(k))
        raise StratError.about(
            "order",
            f"must be 1, 2 or a multiple of 4 that our constructions reach, got {n}; "
            f"the nearest are {below} and {above}.",
        )
    if n > LIMITS.dense_hadamard_order:
        raise StratError.about("order", f"must be at most {LIMITS.dense_hadamard_order} for a dense matrix, got {n}.")
    matrix = _build(n)
    return matrix * matrix[:, :1]


@checked
def hadamard_order(columns: SupportsIndex) -> int:
    """The least order that is reached and has room for `columns` columns beside the constant one.

    >>> [hadamard_order(c) for c in (1, 3, 4, 7, 8, 36)]
    [2, 4, 8, 8, 12, 40]
    """
    n = validate.count("columns", columns, least=1) + 1
    if n > 1 << 32:
        raise StratError.about("columns", f"must be at most 2^32, got {short(str(n - 1))}; no memory holds the matrix.")
    while not is_reachable(n):
        n += 1
    return n


@checked
def hadamard_columns(columns: SupportsIndex) -> Signs:
    """`columns` mutually orthogonal, balanced ±1 columns in as few rows as our constructions need.

    These are the half-samples of STRAT (12): row a takes the first unit of stratum h where the entry is +1.

    >>> hadamard_columns(3).tolist()
    [[1, 1, 1], [-1, 1, -1], [1, -1, -1], [-1, -1, 1]]
    """
    count = validate.count("columns", columns, least=1)
    return hadamard(hadamard_order(count))[:, 1 : count + 1]


def is_reachable(order: int) -> bool:
    """Whether `hadamard` makes this order.

    >>> [n for n in range(1, 40) if is_reachable(n)]
    [1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36]
    """
    return _way(order) is not None


class Family(Enum):
    """The families of constructions, as sentences name them."""

    SYLVESTER = "Sylvester"
    PALEY_FIRST = "Paley I over GF({})"
    PALEY_SECOND = "Paley II over GF({})"
    MIYAMOTO = "Miyamoto over GF({})"
    GOETHALS_SEIDEL = "Goethals-Seidel array of four circulants of order {}"
    KRONECKER = "Kronecker product of {} and {}"
    T_MATRICES = "T-matrices of order {} with Williamson matrices of order {}"


def construction(order: int) -> str | None:
    """How `hadamard` makes this order, in words; None if it does not.

    >>> construction(64), construction(20), construction(36), construction(40)
    ('Sylvester', 'Paley I over GF(19)', 'Paley II over GF(17)', 'Kronecker product of 2 and 20')
    """
    way = _way(order)
    return None if way is None else way[0].value.format(*way[1])


@lru_cache(maxsize=65_536)
def _way(order: int) -> tuple[Family, tuple[int, ...]] | None:
    """The family that makes this order, and its parameters."""
    if order in (1, 2):
        return Family.SYLVESTER, ()
    if order < 4 or order % 4:
        return None
    if order & (order - 1) == 0:
        return Family.SYLVESTER, ()
    if is_prime_power(order - 1):  # order - 1 = 3 modulo 4
        return Family.PALEY_FIRST, (order - 1,)
    if (order // 2 - 1) % 4 == 1 and is_prime_power(order // 2 - 1):
        return Family.PALEY_SECOND, (order // 2 - 1,)
    if (order // 4) % 4 == 1 and is_prime_power(order // 4) and is_reachable(order // 4 - 1):
        return Family.MIYAMOTO, (order // 4,)
    if order // 4 in ORBIT_UNIONS:
        return Family.GOETHALS_SEIDEL, (order // 4,)
    factors = _kronecker_factors(order)
    if factors is not None:
        return Family.KRONECKER, factors
    parts = t_and_williamson(order)
    return None if parts is None else (Family.T_MATRICES, parts)


def _kronecker_factors(order: int) -> tuple[int, int] | None:
    """Two reachable orders whose product is `order`: the doubling first."""
    for first in (2, *range(4, int(order**0.5) + 1, 4)):
        if order % first == 0 and is_reachable(first) and is_reachable(order // first):
            return first, order // first
    return None


def _build(order: int) -> Signs:
    way = _way(order)
    if way is None:
        raise AssertionError(f"no construction for {order}")
    family, numbers = way
    if family is Family.SYLVESTER:
        return _sylvester(order)
    if family is Family.KRONECKER:
        return np.kron(_build(numbers[0]), _build(numbers[1]))
    if family is Family.GOETHALS_SEIDEL:
        return goethals_seidel(*orbit_signs(numbers[0]))
    if family is Family.T_MATRICES:
        return goethals_seidel_array(t_blocks(*numbers), numbers[1])
    makers = {Family.PALEY_FIRST: paley_first, Family.PALEY_SECOND: paley_second, Family.MIYAMOTO: miyamoto}
    return makers[family](numbers[0])


def _sylvester(order: int) -> Signs:
    """The doubling [[H, H], [H, -H]] of STRAT (21), which makes H of order 2n (not n²: ERRATA 3)."""
    matrix = np.ones((1, 1), dtype=np.int8)
    while len(matrix) < order:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix


def jacobsthal(order: int) -> Signs:
    """The matrix of the quadratic character χ(a - b) over all pairs of elements of GF(order), order odd.

    >>> jacobsthal(3).tolist()
    [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]
    """
    f = field(order)
    every = np.arange(order)
    character, negative = f.character(every), f.negative(every)
    return np.stack([character[f.add(a, negative)] for a in range(order)])


def paley_first(q: int) -> Signs:
    """Paley's first construction: order q + 1 from a prime power q = 3 modulo 4."""
    matrix = np.ones((q + 1, q + 1), dtype=np.int8)
    matrix[1:, 1:] = jacobsthal(q) - np.eye(q, dtype=np.int8)
    return matrix


def paley_second(q: int) -> Signs:
    """Paley's second construction: order 2(q + 1) from a prime power q = 1 modulo 4."""
    conference = np.ones((q + 1, q + 1), dtype=np.int8)
    conference[0, 0] = 0
    conference[1:, 1:] = jacobsthal(q)
    one = np.eye(q + 1, dtype=np.int8)
    return np.block([[conference + one, conference - one], [conference - one, -conference - one]])


def miyamoto(q: int) -> Signs:
    """Miyamoto's construction: order 4q from a prime power q = 1 modulo 4 and a Hadamard matrix of order q - 1.

    With U of two copies of the quadratic character's matrix, the element 0 left out, and V = [[I, K], [-K', I]] from
    the Hadamard matrix K, the middle part U ⊗ [[1, 1], [1, 1]] + V ⊗ [[1, -1], [-1, 1]] has the inner products
    4q I - 4 (ones within each of four groups of rows), which a border of four rows and columns completes.
    """
    sign = field(q).character(np.arange(q))
    order = np.concatenate([np.flatnonzero(sign == 1), np.flatnonzero(sign == -1)])
    core = jacobsthal(q)[np.ix_(order, order)]
    core[q // 2 :] *= -1  # now the rows of both diagonal blocks add up to -1
    one, ones = np.eye(q - 1, dtype=np.int8), np.ones((q // 2 * 2, 1), dtype=np.int8)
    plus = np.array([[1, 1], [1, 1]], dtype=np.int8)
    minus = np.array([[1, -1], [-1, 1]], dtype=np.int8)
    k = hadamard(q - 1)
    middle = np.kron(np.kron(np.eye(2, dtype=np.int8), core), plus)
    middle += np.kron(np.block([[one, k], [-k.T, one]]), minus)
    corner = (1 - 2 * np.eye(4)).astype(np.int8)
    lines = _sylvester(4)
    return np.block([[np.kron(corner, ones), middle], [lines @ corner // 2, np.kron(lines, ones.T)]])


def orbit_signs(v: int) -> tuple[Signs, Signs, Signs, Signs]:
    """Four ±1 sequences of length v, constant on the orbits of multipliers, whose autocorrelations cancel.

    >>> a, b, c, d = orbit_signs(43)
    >>> [sum(int(x @ np.roll(x, lag)) for x in (a, b, c, d)) for lag in (0, 1, 2)]
    [172, 0, 0]
    """
    multipliers, unions = ORBIT_UNIONS[v]
    group = _multiplier_group(multipliers, v)
    orbits = sorted({min(place * g % v for g in group) for place in range(v)})
    number = {least: i for i, least in enumerate(orbits)}
    of_place = np.array([number[min(place * g % v for g in group)] for place in range(v)])
    a, b, c, d = (np.where(union >> of_place & 1, -1, 1).astype(np.int8) for union in unions)
    return a, b, c, d


def _multiplier_group(generators: tuple[int, ...], v: int) -> set[int]:
    group, new = {1}, {1}
    while new:
        new = {a * g % v for a in new for g in generators} - group
        group |= new
    return group


def goethals_seidel(a: Signs, b: Signs, c: Signs, d: Signs) -> Signs:
    """The Goethals-Seidel array of four sequences of length v with cancelling autocorrelations: order 4v."""
    return goethals_seidel_array((circulant(a), circulant(b), circulant(c), circulant(d)), 1)


def goethals_seidel_array(matrices: Four, width: int) -> Signs:
    """The array of four circulants of symmetric blocks, `width` columns each, of which the products add up to 4vI."""

    def reversed_blocks(matrix: Signs) -> Signs:
        blocks = matrix.reshape(len(matrix), -1, width)
        return blocks[:, ::-1].reshape(matrix.shape)

    first = matrices[0]
    p, q, r = (reversed_blocks(x) for x in matrices[1:])
    pt, qt, rt = (reversed_blocks(x.T) for x in matrices[1:])
    return np.block([[first, p, q, r], [-p, first, rt, -qt], [-q, -rt, first, pt], [-r, qt, -pt, first]])
