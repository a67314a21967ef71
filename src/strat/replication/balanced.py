"""Balanced repeated replication: over Hadamard matrices, orthogonal arrays and multi-arrays."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from strat.algebra import OrthogonalArray, hadamard_columns, m_sequence, orthogonal_array, prime_power
from strat.algebra import multi_array as orthogonal_multi_array
from strat.algebra.orthogonal import codes_and_levels, exponent, fewest_runs, is_balanced, is_orthogonal, shared_terms
from strat.base import validate
from strat.base.errors import StratError, some
from strat.base.limits import LIMITS
from strat.base.text import counted
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes
from strat.designs import Design
from strat.designs.layout import bessel
from strat.replication import scales
from strat.replication.methods import Method, MethodKind
from strat.replication.operators import (
    Contrasts,
    Operator,
    Rotations,
    Runs,
    Selections,
)
from strat.replication.replicates import Replicates, usable_sizes

DENSE_COLUMNS = 256  # up to here the least Hadamard order; beyond it the fast Walsh-Hadamard transform
_OTHERS = "use generalized(design), multi_array(design) or jackknife(design), which take any number of units."


@checked
def brr(design: Design, *, array: OrthogonalArray | ArrayLike | None = None) -> Replicates:
    """Balanced repeated replication: each replicate takes one of the p units of each stratum (STRAT 7).

    Two units per stratum give half-samples over a Hadamard matrix; any prime power p of units gives the general
    method over an orthogonal array from a Galois field (STRAT 7.3, with the right limit on the number of columns), up
    to 256 strata in as few replicates as difference schemes allow. For other numbers of units see :func:`generalized`
    and :func:`multi_array`; :func:`partially_balanced` takes fewer replicates at a stated loss.

    Parameters
    ----------
    design
        The same number of units in every stratum.
    array
        Use this array (runs × columns, such as one from a catalogue) instead of one of our own. Its first columns serve
        the strata in their order. Of two symbols the larger takes the first unit, so that +1 does (STRAT (12)); of more
        the least does. The first unit of a stratum is the one whose label sorts first or, of rows without `units`, the
        first row. An array that is not balanced costs degrees of freedom, as stated with the replicates.

    Notes
    -----
    With orthonormal contrasts of the units, the variance of a linear statistic is g'Gg for the sample's contrasts g and
    the mean squares and products G of those of the array. Balance makes G the unit matrix. Else the variance is
    unbiased over the order of the units in their strata, and as uncertain as one of m / sum(G²) times the degrees of
    freedom, for m equally large normal contrasts (Satterthwaite).

    Examples
    --------
    >>> from strat.designs import Design
    >>> print(brr(Design.stratified(strata=[1, 1, 2, 2, 3, 3])))
    BRR: 4 replicates from a Hadamard matrix of order 4, 3 degrees of freedom
    >>> two = Design.stratified(strata=[1, 1, 2, 2])
    >>> print(brr(two, array=[[1, 1], [1, -1], [-1, 1], [-1, -1]]))
    BRR: 4 replicates from the given array of strength 2, 2 degrees of freedom
    >>> brr(two, array=[[1, 1], [-1, -1]]).df  # both strata always take the same unit: one contrast instead of two
    1.0
    """
    return _balanced(design, 0.0, Method(MethodKind.BRR, "BRR"), array)


@checked
def fay(design: Design, *, rho: float = 0.5, array: OrthogonalArray | ArrayLike | None = None) -> Replicates:
    """Fay's method: BRR in which units left out keep the share rho of their weight (0 <= rho < 1).

    `array` is used as in :func:`brr`.

    Examples
    --------
    >>> from strat.designs import Design
    >>> sorted(set(fay(Design.stratified(strata=[1, 1, 2, 2]), rho=0.3).factors().ravel().round(12).tolist()))
    [0.3, 1.7]
    """
    return _balanced(design, _rho(rho), Method(MethodKind.FAY, f"Fay (rho = {float(rho):g})"), array)


def _rho(rho: float) -> float:
    if not 0 <= validate.number("rho", rho) < 1:
        raise StratError.about("rho", f"must be at least 0 and below 1, got {rho!r}; 0 is plain BRR.")
    return float(rho)


def _balanced(
    design: Design, rho: float, method: Method, array: OrthogonalArray | ArrayLike | None = None
) -> Replicates:
    sizes = usable_sizes(design)
    p = int(sizes[0])
    if (sizes != p).any():
        raise StratError.about(
            "design",
            f"must have the same number of units in every stratum for BRR, got {sizes.min()} to "
            f"{sizes.max()}; {_OTHERS}",
        )
    if p == 1:
        raise StratError.about("design", f"must have at least two units in every stratum for BRR, got 1; {_OTHERS}")
    if array is not None:
        return _over_given(design, array, p, rho, method)
    if p == 2:
        return contrasts_over(design, rho, method)
    try:
        prime_power(p)
    except StratError:
        raise StratError.about(
            "design", f"must have a prime power of units in every stratum for BRR, got {p}; {_OTHERS}"
        ) from None
    gain = (1.0 - rho) * np.sqrt(1.0 - design.fraction)
    operator, words = _over_an_array(p, gain)
    scale = scales.balanced(operator.number, units=p, rho=rho)
    return Replicates(design, method, operator, scale, design.df, words)


def _over_given(design: Design, array: OrthogonalArray | ArrayLike, p: int, rho: float, method: Method) -> Replicates:
    """Replicates over an array from elsewhere, with what it lacks in words and in degrees of freedom."""
    codes, _ = codes_and_levels(array)
    strata, symbols = design.n_strata, len(np.unique(codes))
    if symbols != p or codes.shape[1] < strata or len(codes) < 2:
        raise StratError.about(
            "array",
            f"must have two runs or more, a column for each of the {strata:,} strata and {p} symbols for their units, "
            f"got {counted(len(codes), 'run')}, {counted(codes.shape[1], 'column')} and {counted(symbols, 'symbol')}; "
            "transpose it if its rows are strata, or leave it out.",
        )
    used = codes[:, :strata] if p > 2 else 1 - codes[:, :strata]
    df, words = design.df, "the given array of strength 2"
    given = OrthogonalArray(used, p, "given")
    if not is_orthogonal(given):
        df = design.df * strata * (p - 1) / shared_terms(given)
        lacks = "does not take every unit equally often" if is_balanced(given) else "is not balanced"
        lost = f" ({counted(df, 'degree of freedom', '.4g')} instead of {design.df:g})" if df < design.df else ""
        words = f"the given array, which {lacks}{lost}"
    operator = Runs(used, p, (1.0 - rho) * np.sqrt(1.0 - design.fraction))
    as_they_stand = replace(design, labelled=True)  # the array says of each row when it is taken
    return Replicates(as_they_stand, method, operator, scales.balanced(len(used), units=p, rho=rho), df, words)


def _over_an_array(p: int, gain: Array) -> tuple[Operator, str]:
    """The operator with the fewest replicates for strata of p units, and the array in words."""
    strata = len(gain)
    b = exponent(p, strata)
    if strata <= DENSE_COLUMNS and fewest_runs(p, strata) < p**b:
        array = orthogonal_array(p, strata)
        return Runs(array.symbols, p, gain), f"an orthogonal array of {array.runs:,} runs by a difference scheme"
    b = _degree(p, strata)
    return Rotations(m_sequence(p, b).astype(np.int64), p, gain), f"the orthogonal array of GF({p}^{b})"


def _degree(p: int, strata: int) -> int:
    """The least b for which the array of GF(p^b) has a column for each stratum."""
    b = exponent(p, strata)
    if p**b > LIMITS.sequence_length:
        raise StratError.about(
            "design",
            f"must need at most {LIMITS.sequence_length:,} replicates for BRR, got {strata:,} strata of {p:,} "
            f"units, which need {p}^{b} = {p**b:,}; use generalized(design), which needs about as many as there are "
            "units, or the closed form (on=design).",
        )
    return b


@checked
def generalized(design: Design, *, rho: float | None = None) -> Replicates:
    """Balanced replication for any number of units per stratum, equal or not.

    Each stratum's n_h - 1 Helmert contrasts take a column each of a two-level array. For a linear statistic the
    variance is exactly the textbook one. `rho` shrinks the factors towards 1 as Fay's method does; by default it is the
    least that keeps every factor at or above zero (0 with two units per stratum: classical BRR).

    Examples
    --------
    >>> from strat.designs import Design
    >>> generalized(Design.stratified(strata=[1, 1, 1, 2, 2, 2, 2])).number
    8
    """
    usable_sizes(design)
    method = Method(MethodKind.GENERALIZED, "generalized BRR")
    return contrasts_over(design, safe_rho(design.sizes) if rho is None else _rho(rho), method)


def safe_rho(sizes: Codes) -> float:
    """The least rho under which no factor is negative: the first unit of the largest stratum has the widest ones.

    >>> f"{safe_rho(np.array([2, 3])):.6f} {2 - np.sqrt(3):.6f}"
    '0.267949 0.267949'
    """
    n = int(sizes.max())
    if n <= 2:
        return 0.0
    j = np.arange(1, n)
    first = (1 / np.sqrt(j * (j + 1.0))).sum()
    return max(0.0, 1.0 - 1.0 / (np.sqrt(n / (n - 1.0)) * first))


def contrasts_over(
    design: Design, rho: float, method: Method, columns: Codes | None = None, order: int = 0
) -> Replicates:
    """Replicates of the strata's Helmert contrasts, each over a column of a two-level array of its own."""
    sizes = design.sizes
    number = int((sizes - 1).sum())
    array = None
    if columns is not None:
        words = "all sign patterns"
    elif number <= DENSE_COLUMNS:
        array = hadamard_columns(number)
        order, words = len(array), f"a Hadamard matrix of order {len(array):,}"
    else:
        order = 1 << int(number).bit_length()
        columns, words = np.arange(1, number + 1), f"a Sylvester matrix of order {order:,}"
    operator = Contrasts(design.stratum, *contrast_geometry(design, rho), order, columns, array)
    return Replicates(design, method, operator, scales.balanced(order, rho=rho), design.df, words)


def contrast_geometry(design: Design, rho: float) -> tuple[Codes, Array]:
    """Place of each unit in its stratum, and the gain of each stratum's contrasts."""
    sizes = design.sizes
    position = np.arange(design.n_units) - design.starts[design.stratum]
    return position, (1.0 - rho) * np.sqrt(bessel(sizes) * (1.0 - design.fraction))


@checked
def multi_array(design: Design) -> Replicates:
    """Balanced replication over an orthogonal multi-array, for unequal numbers of units (Sitter 1993).

    A replicate takes m_h of the n_h units of each stratum; a unit's factor is ``1 + a_h (delta n_h / m_h - 1)`` with
    ``a_h = sqrt(m_h / (n_h - m_h))``, so that the variance of a linear statistic is exactly the textbook one.

    Examples
    --------
    >>> from strat.designs import Design
    >>> multi_array(Design.stratified(strata=[1, 1, 1, 2, 2])).number
    6
    """
    sizes = usable_sizes(design)
    if (sizes == 1).any():
        raise StratError.about(
            "design",
            f"must have at least two units in every stratum for a multi-array, got one in "
            f"{some(design.stratum_labels[sizes == 1])}; use generalized(design), which leaves them as they are.",
        )
    array = orthogonal_multi_array(sizes.tolist(), most=sys.maxsize)
    if array.runs > LIMITS.multi_array_runs:
        raise StratError.about(
            "design",
            f"must need at most {LIMITS.multi_array_runs:,} replicates for a multi-array, got strata of "
            f"{some(np.unique(sizes))} units, which need {array.runs:,}; use generalized(design), which needs about as "
            "many as there are units.",
        )
    m = np.asarray(array.selected, float)
    gain = np.sqrt(np.divide(m, sizes - m, out=np.zeros(len(sizes)), where=sizes > m) * (1.0 - design.fraction))
    operator = Selections(array, design.stratum, gain, m / sizes)
    words = f"an orthogonal multi-array of {array.runs:,} runs"
    method = Method(MethodKind.MULTI_ARRAY, "multi-array BRR")
    return Replicates(design, method, operator, scales.balanced(array.runs), design.df, words)
