"""Primes, prime powers and the factors of a number."""

from __future__ import annotations

import itertools
from typing import SupportsIndex

from strat.base import validate
from strat.base.errors import StratError, short
from strat.base.validate.arguments import checked


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
        raise StratError.about("n", f"must be at most 2^40, got {short(repr(n))}; no field beyond is made.")
    return next(q for q in itertools.count(max(int(n), 2)) if is_prime_power(q))


@checked
def prime_power(order: SupportsIndex) -> tuple[int, int]:
    """The prime p and the exponent m with p^m = `order`.

    >>> prime_power(81)
    (3, 4)
    """
    return prime_and_exponent("order", validate.count("order", order, least=0))


def prime_and_exponent(name: str, q: int) -> tuple[int, int]:
    """The prime p and the exponent m with p^m = `q`, the value of the argument `name`."""
    if q > 2**40:
        raise StratError.about(name, f"must be at most 2^40, got {q}.")
    if not is_prime_power(q):
        raise StratError.about(name, f"must be a prime power, got {q}; the next one is {next_prime_power(q)}.")
    ((p, m),) = factorize(q).items()
    return p, m
