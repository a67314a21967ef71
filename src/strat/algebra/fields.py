"""Finite fields GF(p^m) with primitive polynomials that are found and checked."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from functools import lru_cache
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.algebra.matrices import (
    Integers,
    companion_matrix,
    digitwise_sum,
    generator,
    has_order,
    is_irreducible,
    order_is,
    powers_of,
)
from strat.algebra.primes import prime_power
from strat.base import validate
from strat.base.errors import StratError, plain, short
from strat.base.limits import LIMITS
from strat.base.validate.arguments import checked


@dataclass(frozen=True)
class Field:
    """The field with `order` elements, written as the integers 0 to order - 1.

    The base-p digits of an element are the coefficients of its polynomial, the constant first: in GF(9) the
    element 5 = 2 + 1·3 is the polynomial 2 + x. All operations take arrays and broadcast.

    Attributes
    ----------
    order, characteristic, degree
        q = p^m, p and m.
    modulus
        Coefficients of the polynomial that products are reduced by, the constant first.
    primitive
        An element whose powers are all non-zero elements: its multiplicative order is exactly q - 1
        (the condition of STRAT B.2 is weaker and not enough: every element satisfies g^(q-1) = 1).

    Examples
    --------
    >>> f = field(9)
    >>> f
    Field(order=9, characteristic=3, degree=2, modulus=(2, 1, 1), primitive=3)
    >>> f.multiply(3, 3).item()  # x² = -x - 2 = 2x + 1
    7
    >>> f.divide(1, [1, 2, 7]).tolist()
    [1, 2, 5]
    """

    order: int
    characteristic: int
    degree: int
    modulus: tuple[int, ...]
    primitive: int
    powers: Integers = attribute(repr=False, compare=False)
    logarithms: Integers = attribute(repr=False, compare=False)
    sums: Integers | None = attribute(repr=False, compare=False)

    def elements(self, argument: str, values: ArrayLike) -> Integers:
        """`values` as elements of this field, or an error that names the first that is none."""
        array = np.asarray(values)
        if array.dtype.kind not in "iu":
            raise StratError.about(argument, f"must be whole numbers from 0 to {self.order - 1}, got {values!r}.")
        bad = (array < 0) | (array >= self.order)
        if bad.any():
            raise StratError.about(
                argument, f"must be elements 0 to {self.order - 1} of GF({self.order}), got {plain(array[bad][0])!r}."
            )
        return array.astype(np.int64, copy=False)

    def add(self, a: ArrayLike, b: ArrayLike) -> Integers:
        """The sum a + b."""
        return self._add(self.elements("a", a), self.elements("b", b))

    def subtract(self, a: ArrayLike, b: ArrayLike) -> Integers:
        """The difference a - b."""
        return self._add(self.elements("a", a), self.negative(b))

    def negative(self, a: ArrayLike) -> Integers:
        """The element that gives 0 when added to a."""
        return self._scale(self.elements("a", a), self.characteristic - 1)

    def multiply(self, a: ArrayLike, b: ArrayLike) -> Integers:
        """The product of a and b."""
        return self._multiply(self.elements("a", a), self.elements("b", b))

    def inverse(self, a: ArrayLike) -> Integers:
        """The element that gives 1 when multiplied by a, which is not 0."""
        return self.power(self._nonzero("a", a), -1)

    def divide(self, a: ArrayLike, b: ArrayLike) -> Integers:
        """The quotient of a and b, which is not 0."""
        return self.multiply(a, self.power(self._nonzero("b", b), -1))

    def power(self, a: ArrayLike, exponent: ArrayLike) -> Integers:
        """The whole power of a; 0^0 = 1, and 0 has no negative power."""
        base, n = np.broadcast_arrays(self.elements("a", a), np.asarray(exponent, dtype=np.int64))
        if ((base == 0) & (n < 0)).any():
            raise StratError.about("a", "must not be 0 where `exponent` is negative; 0 has no inverse.")
        cycle = self.order - 1
        result = self.powers[(self.logarithms[base] * (n % cycle)) % cycle]
        return np.where((base == 0) & (n > 0), 0, result)

    def log(self, a: ArrayLike) -> Integers:
        """The exponent e in 0 .. q - 2 with primitive^e = a, which is not 0."""
        return self.logarithms[self._nonzero("a", a)]

    def exp(self, exponent: ArrayLike) -> Integers:
        """The power of the primitive element with this whole exponent."""
        return self.powers[np.asarray(exponent, dtype=np.int64) % (self.order - 1)]

    def trace(self, a: ArrayLike) -> Integers:
        """The trace a + a^p + … + a^(p^(m-1)): a linear map onto the p elements 0 .. p - 1."""
        element = self.elements("a", a)
        total = element
        for i in range(1, self.degree):
            total = self._add(total, self.power(element, self.characteristic**i))
        return total

    def character(self, a: ArrayLike) -> NDArray[np.int8]:
        """1 for the squares, -1 for the non-squares, 0 for 0 (the quadratic character; odd q)."""
        if self.characteristic == 2:
            raise StratError.about(
                "character", f"must have a field of odd order, got GF({self.order}): all are squares."
            )
        element = self.elements("a", a)
        sign = np.where(self.logarithms[element] % 2 == 0, 1, -1)
        return np.where(element == 0, 0, sign).astype(np.int8)

    def order_of(self, element: int) -> int:
        """The least n >= 1 with element^n = 1.

        >>> f = field(243, modulus=(1, 0, 1, 0, 1, 1))  # the field of STRAT's Figure 1 (ERRATA 4)
        >>> f.order_of(2 + 2 * 27 + 2 * 81), f.order_of(1 + 3)
        (242, 121)
        """
        exponent = int(self.log(element))
        return (self.order - 1) // int(np.gcd(exponent, self.order - 1))

    def digits(self, a: ArrayLike) -> Integers:
        """The coefficients of each element's polynomial along a new last axis, the constant first."""
        weights = self.characteristic ** np.arange(self.degree)
        return (self.elements("a", a)[..., None] // weights) % self.characteristic

    def listing(self) -> Integers:
        """The exponents 1 to q - 1 of the primitive element, each with the coefficients of that power.

        One row for each element but 0, the constant first: what the program of STRAT's Figure 2 writes.

        >>> field(4).listing().tolist()  # x, x² = x + 1, x³ = 1
        [[1, 0, 1], [2, 1, 1], [3, 1, 0]]
        """
        exponents = np.arange(1, self.order)
        return np.column_stack([exponents, self.digits(self.exp(exponents))])

    def _nonzero(self, argument: str, a: ArrayLike) -> Integers:
        element = self.elements(argument, a)
        if (element == 0).any():
            raise StratError.about(argument, f"must not be 0 in GF({self.order}); 0 has no inverse and no logarithm.")
        return element

    def _add(self, a: Integers, b: Integers) -> Integers:
        if self.characteristic == 2:
            return a ^ b
        if self.degree == 1:
            return (a + b) % self.order
        if self.sums is not None:
            return np.asarray(self.sums[a * self.order + b])
        return digitwise_sum(a, b, self.characteristic, self.degree)

    def _multiply(self, a: Integers, b: Integers) -> Integers:
        if self.degree == 1:
            return (a * b) % self.order
        product = self.powers[(self.logarithms[a] + self.logarithms[b]) % (self.order - 1)]
        return np.where((a == 0) | (b == 0), 0, product)

    def _scale(self, a: Integers, times: int) -> Integers:
        """The sum of `times` copies of a."""
        digits = (self.digits(a) * times) % self.characteristic
        weights = self.characteristic ** np.arange(self.degree)
        return np.asarray(digits @ weights, dtype=np.int64)

    def _matmul(self, a: Integers, b: Integers) -> Integers:
        if self.degree == 1:
            return (a @ b) % self.order
        products = self._multiply(a[:, :, None], b[None, :, :])
        total = products[:, 0]
        for i in range(1, products.shape[1]):
            total = self._add(total, products[:, i])
        return total


@checked
def field(order: SupportsIndex, *, modulus: Sequence[int] | None = None) -> Field:
    """The finite field of `order` elements.

    Parameters
    ----------
    order
        A prime power, at most 2^24.
    modulus
        Coefficients of a monic irreducible polynomial of degree m over GF(p), the constant first. By default
        one is found by search for which x itself is primitive, so that its powers are the whole field.

    Examples
    --------
    >>> field(7).primitive, field(8).modulus  # 3 generates mod 7; x³ + x + 1
    (3, (1, 1, 0, 1))
    >>> field(6)
    Traceback (most recent call last):
    ...
    strat.base.errors.StratError: `order` must be a prime power, got 6; the next one is 7.
    """
    p, m = prime_power(order)
    if p**m > LIMITS.field_order:
        raise StratError.about(
            "order", f"must be at most {LIMITS.field_order}, got {p**m}; larger fields need no tables here."
        )
    return _field(p, m, None if modulus is None else tuple(int(c) for c in modulus))


@lru_cache(maxsize=64)
def _field(p: int, m: int, modulus: tuple[int, ...] | None) -> Field:
    if m == 1 and modulus is None:
        root = next(g for g in range(1, p) if has_order(np.array([[g]]), p - 1, p))
        modulus = (-root % p, 1)
    elif modulus is None:
        modulus = primitive_polynomial(p, m)
    if len(modulus) != m + 1 or modulus[-1] != 1 or not all(0 <= c < p for c in modulus):
        raise StratError.about(
            "modulus", f"must be {m + 1} coefficients from 0 to {p - 1} that end in 1, got {modulus}."
        )
    companion = companion_matrix(np.array(modulus), p)
    if not is_irreducible(companion, p):
        raise StratError.about(
            "modulus", f"must be irreducible, got the product {modulus}; leave it out and one is found."
        )
    primitive, multiplier = generator(companion, p)
    powers = powers_of(multiplier, p)
    logarithms = np.zeros(p**m, dtype=np.int64)
    logarithms[powers] = np.arange(p**m - 1)
    return Field(p**m, p, m, modulus, primitive, powers, logarithms, _sum_table(p, m))


def _sum_table(p: int, m: int) -> Integers | None:
    if p == 2 or m == 1 or p**m > LIMITS.field_table_order:
        return None
    every = np.arange(p**m)
    return digitwise_sum(every[:, None], every, p, m).ravel()


@checked
def primitive_polynomial(levels: SupportsIndex, degree: SupportsIndex) -> tuple[int, ...]:
    """Coefficients over GF(levels), the constant first, of a monic polynomial whose root generates GF(levels^degree).

    Found by search and checked: modulo the polynomial the multiplicative order of x is exactly
    levels^degree - 1 (which also makes it irreducible, for then the powers of x are all non-zero remainders).

    >>> primitive_polynomial(2, 4), primitive_polynomial(3, 2)  # x⁴ + x + 1, x² + x + 2
    ((1, 1, 0, 0, 1), (2, 1, 1))
    """
    prime_power(levels)
    if (b := validate.count("degree", degree, least=1)) > 4096:
        raise StratError.about("degree", f"must be at most 4096, got {short(repr(b))}; no longer recurrence is made.")
    return _primitive_polynomial(validate.count("levels", levels, least=0), b)


@lru_cache(maxsize=256)
def _primitive_polynomial(q: int, b: int) -> tuple[int, ...]:
    base = field(q)
    # The norm of a primitive element, (-1)^b times the constant, is primitive in GF(q); some has the norm wanted.
    constant = base.primitive if b % 2 == 0 else int(base.negative(base.primitive))
    for middle in _sparse_first(q, b - 1):
        candidate = np.array((constant, *middle, 1))
        if b == 1 or order_is(companion_over(base, candidate), q**b - 1, base._matmul):
            return tuple(int(c) for c in candidate)
    raise AssertionError("a primitive polynomial exists for every degree")


def companion_over(base: Field, polynomial: Integers) -> Integers:
    """The companion matrix of a polynomial over a field."""
    matrix = np.eye(len(polynomial) - 1, k=1, dtype=np.int64)
    matrix[-1] = base.negative(polynomial[:-1])
    return matrix


def _sparse_first(q: int, length: int) -> Iterator[tuple[int, ...]]:
    """All vectors of `length` symbols, those with few non-zero symbols and low positions first."""
    for size in range(length + 1):
        for places in itertools.combinations(range(length), size):
            for symbols in itertools.product(range(1, q), repeat=size):
                vector = [0] * length
                for place, symbol in zip(places, symbols, strict=True):
                    vector[place] = symbol
                yield tuple(vector)
