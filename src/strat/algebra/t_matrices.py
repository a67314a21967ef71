"""T-sequences, and Hadamard matrices of order 4tw from them and Williamson's matrices (Cooper and Wallis 1972).

T-sequences are four sequences of length t with entries -1, 0 and 1, exactly one of them non-zero at each place, whose
autocorrelations cancel. Here they come from Golay pairs (t = 2^k + 1) and from Turyn-type sequences (t = 3n - 1).
Williamson's matrices are four symmetric circulants of order w whose squares add up to 4wI; Turyn's come from a
conference matrix of order q + 1 = 2w, for every prime power q that leaves 1 modulo 4.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from strat.algebra.fields import field
from strat.algebra.primes import is_prime_power

Signs = NDArray[np.int8]
Four = tuple[Signs, Signs, Signs, Signs]

# Turyn-type sequences x, y, z (length n) and w (length n - 1): the k-th hexadecimal digit holds the signs of x, y, z
# and w at place k, its highest bit that of x, 1 for -1; the last digit has those of x, y and z only. The lengths 16,
# 24 and 28 are of Best, Đoković, Kharaghani and Ramp (2013), 36 is of Kharaghani and Tayfeh-Rezaie (2005).
TURYN_TYPE = {
    16: "0000778e52de5561",
    24: "00000b7c2cb2bc4b6cd9a961",
    28: "0000067cde3e50639ab46135aa51",
    36: "060989975b685d8fc80750b21c0212eceb26",
}
GOLAY_LENGTHS = (1, 2, 4, 8, 16, 32)  # of the Golay pairs that doubling makes (Golay 1961)
T_LENGTHS = tuple(sorted({2 * n + 1 for n in GOLAY_LENGTHS} | {3 * n - 1 for n in TURYN_TYPE}))


def t_and_williamson(order: int) -> tuple[int, int] | None:
    """The t and w with 4tw = order for which both parts are known; None if there are none.

    >>> t_and_williamson(428), t_and_williamson(732), t_and_williamson(668)
    ((107, 1), (3, 61), None)
    """
    for t in T_LENGTHS:
        w, rest = divmod(order, 4 * t)
        if rest == 0 and w % 2 and (w == 1 or is_prime_power(2 * w - 1)):
            return t, w
    return None


def turyn_type(n: int) -> Four:
    """The sequences x, y, z and w, with N_x + N_y + 2 N_z + 2 N_w = 0 at every lag but 0.

    >>> [len(x) for x in turyn_type(16)]
    [16, 16, 16, 15]
    """
    digits = np.array([int(digit, 16) for digit in TURYN_TYPE[n]])
    digits[-1] *= 2
    x, y, z, w = ((1 - 2 * (digits >> place & 1)).astype(np.int8) for place in (3, 2, 1, 0))
    return x, y, z, w[:-1]


def golay_pair(n: int) -> tuple[Signs, Signs]:
    """Two sequences of length n, a power of two, whose autocorrelations cancel.

    >>> [x.tolist() for x in golay_pair(4)]
    [[1, 1, 1, -1], [1, 1, -1, 1]]
    """
    first = second = np.ones(1, dtype=np.int8)
    while len(first) < n:
        first, second = np.concatenate([first, second]), np.concatenate([first, -second])
    return first, second


def t_sequences(t: int) -> Four:
    """Four T-sequences of length t.

    >>> np.array(t_sequences(3)).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
    """
    if (t + 1) // 3 in TURYN_TYPE and t % 3 == 2:
        x, y, z, w = turyn_type((t + 1) // 3)
        parts: tuple[tuple[Signs, int], ...]
        parts = ((z, 0), (w, len(z)), ((x + y) // 2, t - len(x)), ((x - y) // 2, t - len(x)))
    else:
        first, second = golay_pair((t - 1) // 2)
        parts = ((np.ones(1, np.int8), 0), (first, 1), (second, 1 + len(first)), (np.zeros(1, np.int8), 0))
    placed = np.zeros((4, t), dtype=np.int8)
    for row, (part, start) in zip(placed, parts, strict=True):
        row[start : start + len(part)] = part
    a, b, c, d = placed
    return a, b, c, d


@lru_cache(maxsize=8)
def williamson(w: int) -> Four:
    """First rows of Turyn's four symmetric circulants of order w, whose squares add up to 4wI.

    With a primitive element τ of GF(q²), q = 2w - 1, the signs χ(Im τ^k) are a negacyclic conference matrix of order
    q + 1 (Delsarte, Goethals and Seidel 1971); its even and odd places are the circulants S and T with S² + T² = qI,
    and I + S, S - I, T and T are Williamson's.

    >>> np.array(williamson(3)).tolist()
    [[1, -1, -1], [-1, -1, -1], [-1, 1, 1], [-1, 1, 1]]
    """
    if w == 1:
        one = np.ones(1, dtype=np.int8)
        return one, one, one, one
    q = 2 * w - 1
    f = field(q * q)
    powers = f.exp(np.arange(1, q + 1))
    imaginary = f.subtract(f.power(powers, q), powers)  # δ times an element of GF(q), whose logarithms are (q + 1) k
    steps = (f.log(imaginary) - f.log(imaginary[:1])) // (q + 1)
    signs = np.concatenate([[0], 1 - 2 * (steps % 2)]).astype(np.int8)
    alternating = (1 - 2 * (np.arange(w) % 2)).astype(np.int8)
    even, odd = signs[::2] * alternating, np.roll(signs[1::2] * alternating, -((w - 1) // 2))
    one = np.zeros(w, dtype=np.int8)
    one[0] = 1
    return one + even, even - one, odd, odd


def t_blocks(t: int, w: int) -> Four:
    """Four matrices of order tw, circulants of symmetric commuting blocks, whose EE' add up to 4twI."""
    x, (a, b, c, d) = t_sequences(t), williamson(w)
    rows = ((a, b, c, d), (-b, a, d, -c), (-c, -d, a, b), (-d, c, -b, a))
    first, second, third, fourth = (
        sum(np.kron(circulant(part), circulant(block)) for part, block in zip(x, row, strict=True)) for row in rows
    )
    return first, second, third, fourth  # type: ignore[return-value]  # a sum of arrays starts from 0 for the checker


def circulant(row: Signs) -> Signs:
    """The matrix whose rows are the rotations of `row`."""
    places = np.arange(len(row))
    matrix: Signs = row[(places - places[:, None]) % len(row)]
    return matrix
