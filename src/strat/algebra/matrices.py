"""Matrices over a prime field: the companion of a polynomial, its order, and the powers of an element."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from strat.algebra.primes import factorize

Integers = NDArray[np.int64]
Product = Callable[[Integers, Integers], Integers]


def companion_matrix(modulus: Integers, p: int) -> Integers:
    """The matrix C with (digits of a) C = digits of x·a, modulo the polynomial, over GF(p)."""
    m = len(modulus) - 1
    matrix = np.eye(m, k=1, dtype=np.int64)
    matrix[-1] = -modulus[:-1] % p
    return matrix


def generator(companion: Integers, p: int) -> tuple[int, Integers]:
    """The first primitive element, x before all others, and the matrix that multiplies by it."""
    m = len(companion)
    shifts = [np.eye(m, dtype=np.int64)]
    for _ in range(m - 1):
        shifts.append((shifts[-1] @ companion) % p)
    first = [int((companion[0] * p ** np.arange(m)).sum())]
    for element in itertools.chain(first, range(p if m > 1 else 1, p**m)):  # constants generate GF(p) alone
        digits = (element // p ** np.arange(m)) % p
        multiplier = np.stack([(digits @ shift) % p for shift in shifts])
        if has_order(multiplier, p**m - 1, p):
            return element, multiplier
    raise AssertionError("a primitive element exists in every field")


def has_order(matrix: Integers, order: int, p: int) -> bool:
    """Whether the least n >= 1 with matrix^n = 1 over GF(p) is `order`."""
    return order_is(matrix, order, lambda a, b: (a @ b) % p)


def order_is(matrix: Integers, order: int, product: Product) -> bool:
    """The same with a product of one's own, such as that over a larger field."""
    one = np.eye(len(matrix), dtype=np.int64)
    squares = _squares(matrix, order, product)
    if not np.array_equal(_power(squares, order, product), one):
        return False
    return not any(np.array_equal(_power(squares, order // r, product), one) for r in factorize(order))


def _squares(matrix: Integers, most: int, product: Product) -> list[Integers]:
    """The matrix, its square, the square of that, …: enough for powers up to `most`."""
    squares = [matrix]
    while 2 ** len(squares) <= most:
        squares.append(product(squares[-1], squares[-1]))
    return squares


def _power(squares: list[Integers], n: int, product: Product) -> Integers:
    result = np.eye(len(squares[0]), dtype=np.int64)
    for i, square in enumerate(squares):
        if n >> i & 1:
            result = product(result, square)
    return result


def is_irreducible(companion: Integers, p: int) -> bool:
    """Whether the polynomial of a companion matrix is irreducible over GF(p) (Rabin 1980; Berlekamp 1970).

    The map a -> a^p is linear. Its m-th power is 1 if and only if the polynomial has no double factor and none whose
    degree does not divide m; and it leaves a space of as many dimensions as there are factors in place.
    """
    m = len(companion)

    def product(a: Integers, b: Integers) -> Integers:
        return (a @ b) % p

    to_the_p = _power(_squares(companion, p, product), p, product)
    rows = [np.eye(1, m, dtype=np.int64)]
    for _ in range(m - 1):
        rows.append(product(rows[-1], to_the_p))
    frobenius, one = np.concatenate(rows), np.eye(m, dtype=np.int64)
    if not np.array_equal(_power(_squares(frobenius, m, product), m, product), one):
        return False
    return _rank((frobenius - one) % p, p) == m - 1


def _rank(matrix: Integers, p: int) -> int:
    """The rank over GF(p), by elimination."""
    rest, rank = matrix.copy(), 0
    for column in range(matrix.shape[1]):
        pivots = np.flatnonzero(rest[rank:, column])
        if len(pivots):
            rest[[rank, rank + pivots[0]]] = rest[[rank + pivots[0], rank]]
            scaled = rest[rank] * pow(int(rest[rank, column]), -1, p) % p
            rest[rank + 1 :] = (rest[rank + 1 :] - rest[rank + 1 :, [column]] * scaled) % p
            rank += 1
    return rank


def powers_of(multiplier: Integers, p: int) -> Integers:
    """1, g, g², … as elements, by doubling: the next n powers are g^n times the first n."""
    count = p ** len(multiplier) - 1
    powers = np.ones(count, dtype=np.int64)
    known, step = 1, multiplier
    while known < count:
        new = min(known, count - known)
        powers[known : known + new] = times(powers[:new], step, p)
        known, step = known + new, (step @ step) % p
    return powers


def times(elements: Integers, multiplier: Integers, p: int) -> Integers:
    """Elements times g, through tables of the products of their low and of their high digits."""
    m = len(multiplier)
    if m == 1:
        return elements * multiplier[0, 0] % p
    low = m // 2
    by_low, by_high = (_all_products(part, p) for part in (multiplier[:low], multiplier[low:]))
    a, b = by_low[elements % p**low], by_high[elements // p**low]
    return a ^ b if p == 2 else digitwise_sum(a, b, p, m)


def _all_products(rows: Integers, p: int) -> Integers:
    """The products of all elements of len(rows) digits with what has these rows."""
    digits = (np.arange(p ** len(rows))[:, None] // p ** np.arange(len(rows))) % p
    return np.asarray(((digits @ rows) % p) @ p ** np.arange(rows.shape[1]), dtype=np.int64)


def digitwise_sum(a: Integers, b: Integers, base: int, digits: int) -> Integers:
    """The sum of two integers in `base` without carries."""
    total = np.zeros(np.broadcast_shapes(a.shape, b.shape), dtype=np.int64)
    for weight in (base**i for i in range(digits)):
        total += ((a // weight + b // weight) % base) * weight
    return total
