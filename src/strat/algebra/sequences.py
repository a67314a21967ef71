"""m-sequences: the longest linear recurring sequences over a finite field."""

from __future__ import annotations

from functools import lru_cache
from typing import SupportsIndex

import numpy as np

from strat.algebra.fields import Field, companion_over, field, primitive_polynomial
from strat.algebra.matrices import Integers
from strat.algebra.primes import prime_power
from strat.base import validate
from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.validate.arguments import checked


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
    q, b = validate.count("levels", levels, least=0), validate.count("degree", degree, least=1)
    if b > 64 or q**b > LIMITS.sequence_length:
        raise StratError.about("degree", f"must keep levels^degree at or below {LIMITS.sequence_length}, got {q}^{b}.")
    return _m_sequence(q, b)


@lru_cache(maxsize=8)
def _m_sequence(q: int, b: int) -> Integers:
    base, count = field(q), q**b - 1
    one_step = companion_over(base, np.array(primitive_polynomial(q, b)))
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
