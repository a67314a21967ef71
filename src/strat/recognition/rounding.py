"""How far a fast score can lie from the float64 score: proven bounds, and the float64 score itself.

Ranks are decided in two steps on every device. A fast product in low precision decides each pair whose
score lies further from the probe's threshold than its error can be; the pairs inside that band are scored
again by `exact_scores`, in float64 and in one fixed order of additions, so that every device gives the same bits.

Notation, after Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., chapters 2 and 3:
u is the unit roundoff (half the distance from 1 to the next larger number), gamma_n = n u / (1 − n u).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of

Array = NDArray[np.float64]

SCORES = ("cosine", "inner", "euclidean")
LANES = 32  # partial sums that the fixed order of additions keeps

UNIT_ROUNDOFF = {"bfloat16": 2.0**-8, "float16": 2.0**-11, "float32": 2.0**-24, "float64": 2.0**-53}
"""Rounding to nearest with p significant bits errs by 2^-p relatively: bfloat16 has p = 8 (7 stored), float32 24."""

STEP = {"int8": 0.0, "bfloat16": 2.0**-22, "float16": 2.0**-22, "float32": 2.0**-24, "float64": 2.0**-53}
"""The relative error of one addition. Integers add without any. Matrix units add float32 sums of exact 16-bit
products but truncate, also while they align the terms of a block: 2^-23 for each, doubled here because no maker
documents it; nothing in this package relies on it."""

# the most features for which int32 holds any sum of 2 d products of 8-bit digits
MOST_FEATURES = (2**31 - 1) // (2 * 127**2)

TINY = 2.0**-126  # what a number below the smallest normal float32 may lose when it is flushed to zero


def gamma(n: float, u: float) -> float:
    """The constant gamma_n = n u / (1 − n u) of n roundings; Higham (3.4).

    >>> gamma(1, 2.0**-2) == (1 / 4) / (3 / 4)
    True
    """
    if n * u >= 1:
        return float("inf")
    return n * u / (1 - n * u)


def bound(
    dimension: int,
    probe_norms: ArrayLike,
    gallery_norms: ArrayLike,
    precision: str = "float32",
    *,
    probe_residuals: ArrayLike | None = None,
    gallery_residuals: ArrayLike | None = None,
) -> Array:
    """The most by which a fast inner product can differ from the float64 one, for each pair of norms.

    Parameters
    ----------
    dimension
        Number of features d.
    probe_norms, gallery_norms
        Euclidean norms of the vectors before rounding; they broadcast.
    precision
        What the vectors were rounded to: ``"int8"`` (whole numbers times one scale per vector, or two such digits;
        sums are exact), ``"bfloat16"`` or ``"float16"`` (float32 sums on matrix units), ``"float32"`` or
        ``"float64"`` (sums in the same precision, in any order).
    probe_residuals, gallery_residuals
        Norms of (rounded − unrounded) vector where they were measured: 0 for vectors that the precision
        holds exactly, and on average 2.4 times smaller than the default, u × norm, for others. ``"int8"`` has no
        default, because a whole number errs absolutely, not relatively.

    Notes
    -----
    Let x' = x + e and y' = y + f be the rounded vectors. Then

        x'·y' − x·y = e·y' + x·f,  so  |x'·y' − x·y| ≤ |e| |y'| + |x| |f|        (Cauchy-Schwarz)

    with |e| ≤ u |x| (every component errs by at most u relatively) and |y'| ≤ |y| + |f|. The product of two
    16-bit numbers is exact in float32; summing d of them in any order errs by at most gamma_d Σ|x'_i y'_i|
    ≤ gamma_d |x'| |y'| (Higham (3.5); the d-th rounding is the product's own in float32 and float64), where
    each addition errs by the `STEP` of the precision. The float64 score that the band surrounds has itself an
    error below gamma_{d+16} |x| |y| with u = 2^-53, and numbers flushed to zero cost `TINY` each.

    8-bit digits need no such model of a sum. With x' = s X and y' = t Y, where X and Y hold whole numbers of
    at most 127, every product |X_i Y_i| ≤ 127² and every partial sum of d of them, in any order and however a
    matrix unit groups them, is a whole number of at most 127² d < 2^31 for d ≤ `MOST_FEATURES`: int32 holds
    each of them exactly. So x'·y' is computed without error and all that is left is the first line, with |e| and
    |f| measured. Two digits, X = X₁ + X₂ / 256, are three or four such sums, so the same line holds for them.

    Examples
    --------
    Two unit vectors that float32 holds exactly, of one component: one rounding of the product.

    >>> float(bound(1, 1.0, 1.0, "float32", probe_residuals=0, gallery_residuals=0)) / 2.0**-24
    1.0000...

    Unit vectors rounded to bfloat16: 2 × 2^-8 from the inputs and 512 × 2^-22 from the sum.

    >>> round(float(bound(512, 1.0, 1.0, "bfloat16")), 5), round(2 * 2**-8 + 512 * 2**-22, 5)
    (0.00795, 0.00793)

    Unit vectors that 8-bit digits miss by 0.007 each: e (1 + f) + f.

    >>> round(float(bound(512, 1.0, 1.0, "int8", probe_residuals=0.007, gallery_residuals=0.007)), 6)
    0.014049
    """
    one_of("precision", precision, tuple(STEP))
    if precision == "int8" and (probe_residuals is None or gallery_residuals is None):
        raise StratError.about(
            "probe_residuals", "and `gallery_residuals` must be given for 'int8', got None; measure them."
        )
    u = UNIT_ROUNDOFF.get(precision, 0.0)
    x, y = np.asarray(probe_norms, float), np.asarray(gallery_norms, float)
    e = u * x if probe_residuals is None else np.asarray(probe_residuals, float)
    f = u * y if gallery_residuals is None else np.asarray(gallery_residuals, float)
    flushed = 0.0 if precision in ("int8", "float64") else dimension * TINY
    of_size, of_residual = factors(dimension, x, e + flushed, precision)
    return np.asarray(of_size * (y + f + flushed) + of_residual * (f + flushed) + 4 * flushed)


def factors(dimension: int, norms: Any, residuals: Any, precision: str) -> tuple[Any, Any]:
    """What a probe contributes to `bound`: a and b with bound ≤ a (|y| + |f|) + b |f|, for arrays of any library.

    >>> a, b = factors(1, 1.0, 0.0, "float32")
    >>> round(a / 2.0**-24, 6), round(b, 6)
    (1.0, 1.0)
    """
    of_size = residuals + gamma(dimension, STEP[precision]) * (norms + residuals)
    of_size = of_size + gamma(dimension + 16, 2.0**-53) * norms
    return 1.0000001 * of_size, 1.0000001 * norms


def exact_dot(x: Any, y: Any) -> Any:
    """Inner products of the rows of two float64 arrays, added in a fixed order.

    Component i goes to partial sum i mod 32, in order; the partial sums are then added in halves
    (16 + 16, 8 + 8, …). Products are rounded before they are added. NumPy arrays and torch tensors on any
    device give the same bits, whatever the number of rows, because nothing else than IEEE additions and products of
    elements is used. Missing components up to a multiple of 32 count as zero.

    >>> exact_dot(np.array([[1.0, 2.0, 3.0]]), np.array([[4.0, 5.0, 6.0]]))
    array([32.])
    """
    return _sum(x * y)


def exact_scores(x: Any, y: Any, score: str = "cosine") -> Any:
    """Float64 scores of row pairs, larger is better: the numbers that ranks are defined by.

    ``"inner"``: `exact_dot`. ``"cosine"``: that of the `unit` rows. ``"euclidean"``: minus the distance,
    −sqrt(Σ (x − y)²), in the same fixed order.

    >>> exact_scores(np.array([[3.0, 4.0]]), np.array([[0.0, 2.0]]), "cosine")
    array([0.8])
    >>> exact_scores(np.array([[3.0, 4.0]]), np.array([[0.0, 0.0]]), "euclidean")
    array([-5.])
    """
    one_of("score", score, SCORES)
    if score == "inner":
        return exact_dot(x, y)
    if score == "euclidean":
        difference = x - y
        return -square_root(_sum(difference * difference))
    return exact_dot(unit(x), unit(y))


def exact_norms(x: Any) -> Any:
    """Euclidean norms of the rows of a float64 array, added in the fixed order of `exact_dot`.

    >>> exact_norms(np.array([[3.0, 4.0]]))
    array([5.])
    """
    return square_root(exact_dot(x, x))


def unit(x: Any) -> Any:
    """Rows of a float64 array divided by their norms, the same bits on every device; zero rows stay zero.

    Rows are first scaled by the power of two of their largest entry, so that squares neither overflow nor vanish
    (exact, unless entries differ by more than 10^280).

    >>> unit(np.array([[3.0, 4.0], [0.0, 2.0]]))
    array([[0.6, 0.8],
           [0. , 1. ]])
    """
    largest = np.abs(x).max(-1) if isinstance(x, np.ndarray) else x.norm(float("inf"), dim=-1)
    scaled = x * power_of_two(np.asarray(largest) if isinstance(x, np.ndarray) else largest)[..., None]
    norms = exact_norms(scaled)
    return scaled / (norms + (norms == 0))[..., None]


def power_of_two(largest: Any) -> Any:
    """The powers of two that bring numbers into [1/2, 1); one half for zero.

    >>> power_of_two(np.array([3.0, 0.25, 0.0]))
    array([0.25, 2.  , 0.5 ])
    """
    largest = largest + (largest == 0)
    mantissa = np.frexp(largest)[0] if isinstance(largest, np.ndarray) else largest.frexp().mantissa
    return mantissa / largest  # m / (m 2^e) is a power of two, so the division is exact


def _sum(terms: Any) -> Any:
    columns = terms.shape[-1]
    total = _zeros(terms)
    for start in range(0, columns, LANES):
        width = min(LANES, columns - start)
        total[..., :width] += terms[..., start : start + width]
    width = LANES
    while width > 1:
        width //= 2
        total = total[..., :width] + total[..., width : 2 * width]
    return total[..., 0]


def _zeros(like: Any) -> Any:
    shape = (*like.shape[:-1], LANES)
    return np.zeros(shape) if isinstance(like, np.ndarray) else like.new_zeros(shape)


def square_root(values: Any) -> Any:
    """Square roots that every device rounds in the same way.

    >>> square_root(np.array([9.0]))
    array([3.])
    """
    if isinstance(values, np.ndarray) or values.device.type == "cpu":  # torch's own on a CPU errs in the last bit
        roots = np.sqrt(np.asarray(values))
        return roots if isinstance(values, np.ndarray) else values.new_tensor(roots)
    return values.sqrt()
