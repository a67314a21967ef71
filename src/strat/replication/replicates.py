"""Perturbed copies of a design, and the methods that make them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from strat.algebra import hadamard_columns, m_sequence, prime_power
from strat.algebra import multi_array as orthogonal_multi_array
from strat.columns import Array, Codes, number, numbers
from strat.designs import Design
from strat.doors import checked
from strat.errors import StratError, one_of, plain, some
from strat.notebook import in_words
from strat.replication import scales
from strat.replication.operators import (
    Contrasts,
    Given,
    LeaveOneOut,
    Operator,
    Resamples,
    Rotations,
    Selections,
    blocks,
)
from strat.words import counted

DENSE_COLUMNS = 256  # up to here the least Hadamard order; beyond it the fast Walsh-Hadamard transform
MOST_HALF_SAMPLES = 20


@in_words
@dataclass(frozen=True, eq=False)
class Replicates:
    """Perturbed copies of a design: what `estimate` needs for a variance by replication.

    Attributes
    ----------
    design
        The design that they perturb.
    method
        What made them, in words.
    operator
        The rule from unit totals to replicate totals.
    scales
        One scale for all replicates, or one for each.
    df
        Degrees of freedom: the design's (number of strata for half-samples; they agree at two units).
    array
        Which array was used, in words.
    seed
        The seed, where randomness came in.
    consistent_for_quantiles
        Whether replicate values of a quantile say anything about its variance (a jackknife's don't).
    """

    design: Design
    method: str
    operator: Operator
    scales: float | Array
    df: float
    array: str = ""
    seed: int | None = None
    consistent_for_quantiles: bool = field(default=True, repr=False)

    @property
    def number(self) -> int:
        """Number of replicates k."""
        return self.operator.number

    def totals(self, unit_totals: ArrayLike) -> Array:
        """Replicate totals (replicates × components) of unit totals (units × components)."""
        t = np.asarray(unit_totals, float)
        if t.ndim != 2 or len(t) != self.design.n_units:
            raise StratError(f"`unit_totals` must have one row per unit ({self.design.n_units}), got shape {t.shape}.")
        return self.operator.totals(t)

    def factors(self, start: int = 0, stop: int | None = None) -> Array:
        """Dense factors, replicates × units: multiply a unit's weight by them."""
        return self.operator.factors(start, self.number if stop is None else min(stop, self.number))

    def row_factors(self) -> Array:
        """Dense factors for every row, replicates × rows, for other software."""
        parts = [self.factors(a, b)[:, self.design.unit] for a, b in blocks(self.number, len(self.design))]
        return np.concatenate(parts)

    def __str__(self) -> str:
        """The replicates in one line."""
        said = f"{self.method}: {counted(self.number, 'replicate')}"
        if self.array:
            said += f" from {self.array}"
        if self.seed is not None:
            said += f", seed {self.seed}"
        return f"{said}, {counted(self.df, 'degree of freedom', 'g')}"

    def __repr__(self) -> str:
        """The line in angle brackets."""
        return f"<Replicates {self}>"


@checked
def brr(design: Design) -> Replicates:
    """Balanced repeated replication: one of the p units of each stratum a replicate (STRAT 7).

    Two units per stratum give half-samples over a Hadamard matrix; any prime power p of units gives the general
    method over an orthogonal array from a Galois field (STRAT 7.3, with the right limit on the number of columns).
    Other numbers of units have :func:`generalized` and :func:`multi_array`.

    Examples
    --------
    >>> from strat.designs import Design
    >>> print(brr(Design.stratified(strata=[1, 1, 2, 2, 3, 3])))
    BRR: 4 replicates from a Hadamard matrix of order 4, 3 degrees of freedom
    """
    return _balanced(design, 0.0, "BRR")


@checked
def fay(design: Design, *, rho: float = 0.5) -> Replicates:
    """Fay's method: BRR whose units not taken keep the weight rho instead of losing it all (0 <= rho < 1).

    Examples
    --------
    >>> from strat.designs import Design
    >>> sorted(set(fay(Design.stratified(strata=[1, 1, 2, 2]), rho=0.3).factors().ravel().round(12).tolist()))
    [0.3, 1.7]
    """
    return _balanced(design, _rho(rho), f"Fay (rho = {float(rho):g})")


def _rho(rho: float) -> float:
    if not 0 <= number("rho", rho) < 1:
        raise StratError(f"`rho` must be at least 0 and below 1, got {rho!r}; 0 is plain BRR.")
    return float(rho)


def _balanced(design: Design, rho: float, method: str) -> Replicates:
    sizes = _usable(design)
    p = int(sizes[0])
    if (sizes != p).any():
        found = f"{sizes.min()} to {sizes.max()}"
        raise StratError(
            f"`design` must have the same number of units in every stratum for BRR, got {found}; {_OTHERS}"
        )
    if p == 1:
        raise StratError(f"`design` must have at least two units in every stratum for BRR, got 1; {_OTHERS}")
    if p == 2:
        return _contrasts(design, rho, method)
    try:
        prime_power(p)
    except StratError:
        raise StratError(
            f"`design` must have a prime power of units in every stratum for BRR, got {p}; {_OTHERS}"
        ) from None
    b = 1
    while (p**b - 1) // (p - 1) < len(sizes):  # the right limit: ERRATA 1 on STRAT 7.3
        b += 1
    gain = (1.0 - rho) * np.sqrt(1.0 - design.fraction)
    operator = Rotations(m_sequence(p, b).astype(np.int64), p, gain)
    scale = scales.balanced(operator.number, units=p, rho=rho)
    array = f"the orthogonal array of GF({p}^{b})"
    return Replicates(design, method, operator, scale, design.df, array)


_OTHERS = "use generalized(design), multi_array(design) or jackknife(design), which take any number of units."


def _usable(design: Design) -> Codes:
    if design.kind == "systematic":
        raise StratError("`design` must have strata for replication, got a systematic one; use design.paired() first.")
    if design.lone in ("centre", "average"):
        raise StratError(
            f"`lone` must be 'collapse' or 'certainty' for replication, got {design.lone!r}: a replicate has nothing "
            "to compare a lone unit with; the closed form (on=design) can."
        )
    if design.item is not None and (design.fraction > 0).any():
        raise StratError(
            "`items` with population sizes must be estimated in closed form (on=design), got replicates: the variation "
            "between repeats is a second stage that replicates of whole units don't see."
        )
    return design.sizes


@checked
def generalized(design: Design, *, rho: float | None = None) -> Replicates:
    """Balanced replication for any number of units per stratum, equal or not.

    Each stratum's n_h - 1 Helmert contrasts take a column each of a two-level array. For a linear statistic the
    variance is exactly the textbook one. `rho` shrinks the factors towards 1 as Fay's does; by default it is the
    least that keeps every factor at or above zero (0 with two units a stratum: classical BRR).

    Examples
    --------
    >>> from strat.designs import Design
    >>> generalized(Design.stratified(strata=[1, 1, 1, 2, 2, 2, 2])).number
    8
    """
    _usable(design)
    return _contrasts(design, _safe_rho(design.sizes) if rho is None else _rho(rho), "generalized BRR")


def _safe_rho(sizes: Codes) -> float:
    """The least rho under which no factor is negative: the first unit of the largest stratum has the widest ones."""
    n = int(sizes.max())
    if n <= 2:
        return 0.0
    j = np.arange(1, n)
    first = (1 / np.sqrt(j * (j + 1.0))).sum()
    return max(0.0, 1.0 - 1.0 / (np.sqrt(n / (n - 1.0)) * first))


def _contrasts(design: Design, rho: float, method: str, columns: Codes | None = None, order: int = 0) -> Replicates:
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
    operator = Contrasts(design.stratum, *_geometry(design, rho), order, columns, array)
    return Replicates(design, method, operator, scales.balanced(order, rho=rho), design.df, words)


def _geometry(design: Design, rho: float) -> tuple[Codes, Array]:
    """Place of each unit in its stratum, and the gain of each stratum's contrasts."""
    sizes = design.sizes
    position = np.arange(design.n_units) - design.starts[design.stratum]
    ratio = np.divide(sizes, sizes - 1, out=np.zeros(len(sizes)), where=sizes > 1)
    return position, (1.0 - rho) * np.sqrt(ratio * (1.0 - design.fraction))


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
    sizes = _usable(design)
    if (sizes == 1).any():
        raise StratError(
            f"`design` must have at least two units in every stratum for a multi-array, got one in "
            f"{some(design.stratum_labels[sizes == 1])}; use generalized(design), which leaves such strata as they are."
        )
    made = orthogonal_multi_array(sizes.tolist())
    m = np.asarray(made.selected, float)
    gain = np.sqrt(np.divide(m, sizes - m, out=np.zeros(len(sizes)), where=sizes > m) * (1.0 - design.fraction))
    operator = Selections(made, design.stratum, gain, m / sizes)
    words = f"an orthogonal multi-array of {made.runs:,} runs"
    return Replicates(design, "multi-array BRR", operator, scales.balanced(made.runs), design.df, words)


@checked
def jackknife(design: Design) -> Replicates:
    """The jackknife: each replicate leaves one unit out (JK1 without strata, JKn with them).

    Examples
    --------
    >>> from strat.designs import Design
    >>> print(jackknife(Design.simple_random(n=5)))
    JK1: 5 replicates, 4 degrees of freedom
    """
    sizes = _usable(design)
    left_out = np.flatnonzero(sizes[design.stratum] > 1)
    operator = LeaveOneOut(design.stratum, sizes, left_out)
    scale = scales.jackknife(sizes, design.fraction)[design.stratum[left_out]]
    name = "JK1" if design.n_strata == 1 else "JKn"
    return Replicates(design, name, operator, scale, design.df, consistent_for_quantiles=False)


@checked
def bootstrap(
    design: Design, *, replicates: int = 1000, rng: int | np.random.Generator = 0, kind: str = "rao-wu"
) -> Replicates:
    """The bootstrap of units within strata: Rao and Wu's n_h - 1 draws, rescaled; or the plain n_h draws.

    The plain bootstrap is too narrow by the factor (n_h - 1) / n_h, which is half with two units a stratum.

    Examples
    --------
    >>> from strat.designs import Design
    >>> print(bootstrap(Design.stratified(strata=[1, 1, 1, 2, 2, 2]), replicates=200))
    Rao-Wu bootstrap: 200 replicates, seed 0, 4 degrees of freedom
    """
    sizes = _usable(design)
    one_of("kind", kind, ("rao-wu", "plain"))
    seed = _seed(rng)
    draws = sizes - 1 if kind == "rao-wu" else sizes.copy()
    operator = Resamples(sizes, draws, np.sqrt(1.0 - design.fraction), _number(replicates), seed)
    name = "Rao-Wu bootstrap" if kind == "rao-wu" else "plain bootstrap"
    return Replicates(design, name, operator, scales.balanced(replicates), design.df, seed=seed)


@checked
def half_samples(design: Design, *, replicates: int, rng: int | np.random.Generator = 0) -> Replicates:
    """Half-samples drawn at random (STRAT (10)): their variance itself varies, which shows why balance matters."""
    _only_pairs(design)
    seed = _seed(rng)
    signs = np.random.default_rng(seed).integers(0, 2, size=(_number(replicates), design.n_strata)) * 2 - 1
    operator = Contrasts(design.stratum, *_geometry(design, 0.0), replicates, None, signs.astype(np.int8))
    scale = scales.balanced(replicates)
    return Replicates(design, "random half-samples", operator, scale, design.df, "random signs", seed)


@checked
def all_half_samples(design: Design) -> Replicates:
    """Every one of the 2^L half-samples (STRAT (5)), for up to 20 strata."""
    _only_pairs(design)
    strata = design.n_strata
    if strata > MOST_HALF_SAMPLES:
        raise StratError(
            f"`design` must have at most {MOST_HALF_SAMPLES} strata for all half-samples, got {strata} (2^{strata} of "
            "them); brr(design) gives the same variance of a linear statistic with a few."
        )
    columns = np.left_shift(1, np.arange(strata)).astype(np.int64)  # the L single-bit columns of Sylvester's array
    return _contrasts(design, 0.0, "all half-samples", columns, 1 << strata)


@checked
def given(
    design: Design,
    factors: ArrayLike,
    *,
    scale: float | None = None,
    scales: ArrayLike | None = None,
    df: float | None = None,
    method: str = "given replicates",
) -> Replicates:
    """Replicates whose factors were made elsewhere: replicates × units, or replicates × rows (equal within a unit).

    Examples
    --------
    >>> from strat.designs import Design
    >>> print(given(Design.stratified(strata=[1, 1, 2, 2]), [[2, 0, 2, 0], [0, 2, 0, 2]], scale=0.5))
    given replicates: 2 replicates, 2 degrees of freedom
    """
    dense = numbers("factors", factors)
    if dense.ndim != 2 or dense.shape[1] not in (design.n_units, len(design)):
        raise StratError(
            f"`factors` must be replicates × units ({design.n_units}) or replicates × rows ({len(design)}), "
            f"got shape {dense.shape}."
        )
    if dense.shape[1] == len(design) and not design.rows_are_units:
        by_unit = np.empty((len(dense), design.n_units))
        by_unit[:, design.unit] = dense
        if (by_unit[:, design.unit] != dense).any():
            raise StratError("`factors` must be equal for the rows of a unit, got several values in one.")
        dense = by_unit
    elif dense.shape[1] == len(design):
        dense = dense[:, np.argsort(design.unit)]
    if (scale is None) == (scales is None):
        raise StratError("`scale` (one number) or `scales` (one per replicate) must be given, and not both.")
    used = _scales(scale, scales, len(dense))
    return Replicates(design, method, Given(dense), used, design.df if df is None else df)


def _scales(scale: float | None, scales: ArrayLike | None, number: int) -> float | Array:
    used = numbers("scale", [scale]) if scales is None else numbers("scales", scales)  # type: ignore[arg-type]
    name = "scale" if scales is None else "scales"
    if scales is not None and used.shape != (number,):
        raise StratError(f"`scales` must be one for each replicate ({number}), got an array of shape {used.shape}.")
    if (used < 0).any():
        raise StratError(f"`{name}` must not be negative, got {some(used[used < 0])}: a variance would be.")
    return float(used[0]) if scales is None else used


def _only_pairs(design: Design) -> None:
    if (_usable(design) != 2).any():
        raise StratError("`design` must have two units in every stratum for half-samples; use generalized(design).")


def _number(replicates: int) -> int:
    if not number("replicates", replicates).is_integer() or replicates < 2:
        raise StratError(f"`replicates` must be a whole number of at least 2, got {plain(replicates)!r}.")
    return int(replicates)


def _seed(rng: int | np.random.Generator) -> int:
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if rng is None or not number("rng", rng).is_integer() or rng < 0:
        raise StratError(f"`rng` must be a seed of 0 or more, or a NumPy Generator, got {plain(rng)!r}.")
    return int(rng)
