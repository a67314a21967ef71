"""Finite fields GF(p^m) with primitive polynomials that are found and checked, and their m-sequences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from functools import lru_cache
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.doors import checked
from strat.errors import StratError, plain, short

Integers = NDArray[np.int64]
Product = Callable[[Integers, Integers], Integers]

LARGEST_ORDER = 2**24
TABLE_ORDER = 256


def factorize(n: int) -> dict[int, int]:
    """The primes that divide `n`, each with its exponent.

    >>> factorize(360)
    {2: 3, 3: 2, 5: 1}
    """
    factors: dict[int, int] = {}
    divisor = 2
    while divisor * divisor <= n:
        while n % divisor == 0:
            factors[divisor] = factors.get(divisor, 0) + 1
            n //= divisor
        divisor += 1 + divisor % 2
    if n > 1:
        factors[n] = factors.get(n, 0) + 1
    return factors


@checked
def is_prime(n: int) -> bool:
    """Whether `n` is a prime number.

    >>> [n for n in range(12) if is_prime(n)]
    [2, 3, 5, 7, 11]
    """
    return n > 1 and all(n % d for d in itertools.chain((2,), range(3, int(n**0.5) + 1, 2)) if d < n)


@checked
def is_prime_power(n: int) -> bool:
    """Whether `n` is p^m for a prime p and m >= 1.

    >>> [n for n in range(17) if is_prime_power(n)]
    [2, 3, 4, 5, 7, 8, 9, 11, 13, 16]
    """
    return n > 1 and len(factorize(n)) == 1


@checked
def next_prime_power(n: int) -> int:
    """The least prime power that is not below `n`.

    >>> next_prime_power(6), next_prime_power(14), next_prime_power(9)
    (7, 16, 9)
    """
    if n > 1 << 40:
        raise StratError(f"`n` must be at most 2^40, got {short(repr(n))}; no field beyond is made.")
    return next(q for q in itertools.count(max(int(n), 2)) if is_prime_power(q))


@checked
def prime_power(order: SupportsIndex) -> tuple[int, int]:
    """The prime p and the exponent m with p^m = `order`.

    >>> prime_power(81)
    (3, 4)
    """
    q = whole("order", order)
    if q > 2**40:
        raise StratError(f"`order` must be at most 2^40, got {q}.")
    if not is_prime_power(q):
        raise StratError(f"`order` must be a prime power, got {q}; the next one is {next_prime_power(q)}.")
    ((p, m),) = factorize(q).items()
    return p, m


def whole(argument: str, value: object, least: int | None = None) -> int:
    """`value` as an int, or an error that names the argument."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise StratError(f"`{argument}` must be a whole number, got {plain(value)!r}.")
    number = value.__index__()
    if least is not None and number < least:
        raise StratError(f"`{argument}` must be at least {least}, got {number}.")
    return number


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
            raise StratError(f"`{argument}` must be whole numbers from 0 to {self.order - 1}, got {values!r}.")
        bad = (array < 0) | (array >= self.order)
        if bad.any():
            raise StratError(
                f"`{argument}` must be elements 0 to {self.order - 1} of GF({self.order}), "
                f"got {plain(array[bad][0])!r}."
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
            raise StratError("`a` must not be 0 where `exponent` is negative; 0 has no inverse.")
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
            raise StratError(f"`character` must have a field of odd order, got GF({self.order}): all are squares.")
        element = self.elements("a", a)
        sign = np.where(self.logarithms[element] % 2 == 0, 1, -1)
        return np.where(element == 0, 0, sign).astype(np.int8)

    def order_of(self, element: int) -> int:
        """The least n >= 1 with element^n = 1.

        >>> field(243, modulus=(1, 2, 0, 0, 0, 1)).order_of(2 + 2 * 27 + 2 * 81)  # ERRATA 4
        11
        """
        exponent = int(self.log(element))
        return (self.order - 1) // int(np.gcd(exponent, self.order - 1))

    def digits(self, a: ArrayLike) -> Integers:
        """The coefficients of each element's polynomial along a new last axis, the constant first."""
        weights = self.characteristic ** np.arange(self.degree)
        return (self.elements("a", a)[..., None] // weights) % self.characteristic

    def _nonzero(self, argument: str, a: ArrayLike) -> Integers:
        element = self.elements(argument, a)
        if (element == 0).any():
            raise StratError(f"`{argument}` must not be 0 in GF({self.order}); 0 has no inverse and no logarithm.")
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


def digitwise_sum(a: Integers, b: Integers, base: int, digits: int) -> Integers:
    """The sum of two integers in `base` without carries."""
    total = np.zeros(np.broadcast_shapes(a.shape, b.shape), dtype=np.int64)
    for weight in (base**i for i in range(digits)):
        total += ((a // weight + b // weight) % base) * weight
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
    strat.errors.StratError: `order` must be a prime power, got 6; the next one is 7.
    """
    p, m = prime_power(order)
    if p**m > LARGEST_ORDER:
        raise StratError(f"`order` must be at most {LARGEST_ORDER}, got {p**m}; larger fields need no tables here.")
    return _field(p, m, None if modulus is None else tuple(int(c) for c in modulus))


@lru_cache(maxsize=64)
def _field(p: int, m: int, modulus: tuple[int, ...] | None) -> Field:
    if m == 1 and modulus is None:
        root = next(g for g in range(1, p) if _has_order(np.array([[g]]), p - 1, p))
        modulus = (-root % p, 1)
    elif modulus is None:
        modulus = primitive_polynomial(p, m)
    if len(modulus) != m + 1 or modulus[-1] != 1 or not all(0 <= c < p for c in modulus):
        raise StratError(f"`modulus` must be {m + 1} coefficients from 0 to {p - 1} that end in 1, got {modulus}.")
    companion = _companion(np.array(modulus), p)
    primitive, multiplier = _generator(companion, p)
    powers = _powers(multiplier, p)
    logarithms = np.zeros(p**m, dtype=np.int64)
    logarithms[powers] = np.arange(p**m - 1)
    return Field(p**m, p, m, modulus, primitive, powers, logarithms, _sum_table(p, m))


def _sum_table(p: int, m: int) -> Integers | None:
    if p == 2 or m == 1 or p**m > TABLE_ORDER:
        return None
    every = np.arange(p**m)
    return digitwise_sum(every[:, None], every, p, m).ravel()


def _companion(modulus: Integers, p: int) -> Integers:
    """The matrix C with (digits of a) C = digits of x·a, modulo the polynomial, over GF(p)."""
    m = len(modulus) - 1
    matrix = np.eye(m, k=1, dtype=np.int64)
    matrix[-1] = -modulus[:-1] % p
    return matrix


def _generator(companion: Integers, p: int) -> tuple[int, Integers]:
    """The first primitive element, x before all others, and the matrix that multiplies by it."""
    m = len(companion)
    shifts = [np.eye(m, dtype=np.int64)]
    for _ in range(m - 1):
        shifts.append((shifts[-1] @ companion) % p)
    first = [int((companion[0] * p ** np.arange(m)).sum())]
    for element in itertools.chain(first, range(1, p**m)):
        digits = (element // p ** np.arange(m)) % p
        multiplier = np.stack([(digits @ shift) % p for shift in shifts])
        if _has_order(multiplier, p**m - 1, p):
            return element, multiplier
    raise StratError("`modulus` must be irreducible, got a product; leave it out and one is found.")


def _has_order(matrix: Integers, order: int, p: int) -> bool:
    """Whether the least n >= 1 with matrix^n = 1 over GF(p) is `order`."""
    return _order_is(matrix, order, lambda a, b: (a @ b) % p)


def _order_is(matrix: Integers, order: int, product: Product) -> bool:
    one = np.eye(len(matrix), dtype=np.int64)
    squares = [matrix]
    while 2 ** len(squares) <= order:
        squares.append(product(squares[-1], squares[-1]))

    def power(n: int) -> Integers:
        result = one
        for i, square in enumerate(squares):
            if n >> i & 1:
                result = product(result, square)
        return result

    if not np.array_equal(power(order), one):
        return False
    return not any(np.array_equal(power(order // r), one) for r in factorize(order))


def _powers(multiplier: Integers, p: int) -> Integers:
    """1, g, g², … as elements, by doubling: the next n powers are g^n times the first n."""
    m = len(multiplier)
    count = p**m - 1
    digits = np.zeros((count, m))
    digits[0, 0] = 1
    known, step = 1, multiplier.astype(float)
    while known < count:
        new = min(known, count - known)
        digits[known : known + new] = (digits[:new] @ step) % p
        known, step = known + new, (step @ step) % p
    return np.asarray(digits @ (float(p) ** np.arange(m)), dtype=np.int64)


@checked
def primitive_polynomial(levels: SupportsIndex, degree: SupportsIndex) -> tuple[int, ...]:
    """Coefficients over GF(levels), the constant first, of a monic polynomial whose root generates GF(levels^degree).

    Found by search and checked: modulo the polynomial the multiplicative order of x is exactly
    levels^degree - 1 (which also makes it irreducible, for then the powers of x are all non-zero remainders).

    >>> primitive_polynomial(2, 4), primitive_polynomial(3, 2)  # x⁴ + x + 1, x² + x + 2
    ((1, 1, 0, 0, 1), (2, 1, 1))
    """
    prime_power(levels)
    if (b := whole("degree", degree, 1)) > 4096:
        raise StratError(f"`degree` must be at most 4096, got {short(repr(b))}; no longer recurrence is made.")
    return _primitive_polynomial(whole("levels", levels), b)


@lru_cache(maxsize=256)
def _primitive_polynomial(q: int, b: int) -> tuple[int, ...]:
    base = field(q)
    # The norm of a primitive element, (-1)^b times the constant, is primitive in GF(q); some has the norm wanted.
    constant = base.primitive if b % 2 == 0 else int(base.negative(base.primitive))
    for middle in _sparse_first(q, b - 1):
        candidate = np.array((constant, *middle, 1))
        if b == 1 or _order_is(_companion_over(base, candidate), q**b - 1, base._matmul):
            return tuple(int(c) for c in candidate)
    raise AssertionError("a primitive polynomial exists for every degree")


def _companion_over(base: Field, polynomial: Integers) -> Integers:
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


@checked
def m_sequence(levels: SupportsIndex, degree: SupportsIndex) -> Integers:
    """A maximal-length linear recurring sequence over GF(levels), of period levels^degree - 1.

    Its first `degree` symbols are 0, …, 0, 1 and every window of `degree` symbols but the all-zero one occurs
    exactly once in a period. It is the "column of the Galois Field" of STRAT B.3, and the rotations of it are
    the columns of the orthogonal array of STRAT (25). The array is cached and read-only.

    >>> m_sequence(2, 3).tolist()  # s(n + 3) = s(n + 1) + s(n)
    [0, 0, 1, 0, 1, 1, 1]
    >>> m_sequence(3, 2).tolist()  # s(n + 2) = 2 s(n + 1) + s(n)
    [0, 1, 2, 2, 0, 2, 1, 1]
    """
    prime_power(levels)
    q, b = whole("levels", levels), whole("degree", degree, 1)
    if b > 64 or q**b > 2 * LARGEST_ORDER:
        raise StratError(f"`degree` must keep levels^degree below {2 * LARGEST_ORDER}, got {q}^{b}.")
    return _m_sequence(q, b)


@lru_cache(maxsize=8)
def _m_sequence(q: int, b: int) -> Integers:
    base, count = field(q), q**b - 1
    one_step = _companion_over(base, np.array(primitive_polynomial(q, b)))
    sequence = np.zeros(count + 4 * b, dtype=np.int64)
    sequence[b - 1] = 1
    for n in range(b, 3 * b):
        sequence[n] = base._matmul(one_step[-1:], sequence[n - b : n, None])[0, 0]
    step, jump = 1, one_step
    while 2 * step <= 2 * b:
        step, jump = 2 * step, base._matmul(jump, jump)
    # Row 0 of jump holds x^step modulo the polynomial: s(n + step) = sum_i jump[0, i] s(n + i).
    while step < count:
        _extend(base, sequence, jump[0], slice(0, min(step, count + b - step)), step)
        _extend(base, sequence, jump[0], slice(step, min(step + b, count + b - step)), step)
        step, jump = 2 * step, base._matmul(jump, jump)
    sequence = sequence[:count].copy()
    sequence.flags.writeable = False
    return sequence


def _extend(base: Field, sequence: Integers, row: Integers, where: slice, step: int) -> None:
    """Write s(n + step) = sum_i row_i s(n + i) for the n of `where`."""
    if where.stop <= where.start:
        return
    total = np.zeros(where.stop - where.start, dtype=np.int64)
    for i, factor in enumerate(row):
        if factor:
            term = sequence[where.start + i : where.stop + i]
            total = base._add(total, term if factor == 1 else base._multiply(term, factor))
    sequence[where.start + step : where.stop + step] = total
