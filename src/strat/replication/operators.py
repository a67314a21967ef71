"""From unit totals to replicate totals, without ever storing a matrix of replicates.

Each operator knows its replicates by a rule. ``totals(t)`` takes unit totals (units × components) to replicate
totals (replicates × components); ``factors(start, stop)`` gives the dense factors of some replicates
(replicates × units) to those who need them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from strat.algebra import MultiArray, circular_level_sums, sylvester_rows, walsh_hadamard
from strat.base.limits import LIMITS
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes


class Operator(Protocol):
    """What a method of replication does to unit totals."""

    @property
    def number(self) -> int:
        """Number of replicates."""
        ...

    def totals(self, t: Array) -> Array:
        """Replicate totals (replicates × components) of unit totals (units × components)."""
        ...

    def factors(self, start: int, stop: int) -> Array:
        """Factors of the replicates from start to stop (replicates × units)."""
        ...


@checked
def blocks(number: int, units: int) -> Iterator[tuple[int, int]]:
    """Ranges of replicates whose dense factors stay small."""
    step = max(1, LIMITS.factors_at_once // max(units, 1))
    return ((a, min(a + step, number)) for a in range(0, number, step))


def _by_blocks(operator: Operator, t: Array) -> Array:
    parts = [operator.factors(a, b) @ t for a, b in blocks(operator.number, len(t))]
    return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Replicates made of orthonormal contrasts between the units of each stratum (DESIGN 2).

    Unit i of stratum h has the factor ``1 + gain_h sum_j u_hj(i) H(a, column(h, j))`` in replicate a, where the
    u_hj are the n_h - 1 Helmert contrasts and H is a two-level array. With two units and gain sqrt(2) these are
    half-samples, with the factors 0 and 2.

    Attributes
    ----------
    stratum, position
        Stratum of each unit and its place there (0, 1, …).
    gain
        For each stratum, sqrt(n_h / (n_h - 1)), with the finite population correction and Fay's (1 - rho).
    order
        Number of replicates k.
    columns
        Column of the Sylvester array for each contrast; or the dense array (k × contrasts) itself.
    """

    stratum: Codes
    position: Codes
    gain: Array
    order: int
    columns: Codes | None
    array: NDArray[np.int8] | None = None

    @property
    def number(self) -> int:
        """Number of replicates."""
        return self.order

    def contrasts(self, t: Array) -> Array:
        """Scaled contrasts of unit totals: contrasts × components."""
        if len(t) == 2 * len(self.gain) and self._only_pairs:
            return (t[::2] - t[1::2]) * (self.gain / np.sqrt(2.0))[:, None]
        owner = self.position > 0  # the unit at place j >= 1 owns the contrast of j with those before it
        j = self.position[owner].astype(float)
        before = _sums_before(t, self.position)[owner]
        scale = self.gain[self.stratum[owner]] / np.sqrt(j * (j + 1))
        return (before - j[:, None] * t[owner]) * scale[:, None]

    def totals(self, t: Array) -> Array:
        """Replicate totals: the full total plus the signed sum of the contrasts."""
        c = self.contrasts(t)
        if self.columns is None:
            assert self.array is not None
            totals = np.asarray(self.array.astype(float) @ c)
        else:
            spread = np.zeros((self.order, t.shape[1]))
            spread[self.columns] = c
            totals = walsh_hadamard(spread)
        totals += t.sum(axis=0)
        return totals

    def signs(self, start: int, stop: int) -> Array:
        """The two-level array's rows from start to stop: replicates × contrasts."""
        if self.columns is None:
            assert self.array is not None
            return self.array[start:stop].astype(float)
        return sylvester_rows(start, stop, self.columns).astype(float)

    def factors(self, start: int, stop: int) -> Array:
        """Dense factors: the transpose of `contrasts`, applied to the signs."""
        owner = self.position > 0
        j = self.position[owner].astype(float)
        signed = np.zeros((stop - start, len(self.stratum)))
        signed[:, owner] = self.signs(start, stop) * (self.gain[self.stratum[owner]] / np.sqrt(j * (j + 1)))
        own = signed * self.position
        after = _sums_before(signed[:, ::-1].T, self._places_from_the_end)[::-1].T
        dense: Array = 1.0 + after - own
        dense[np.abs(dense) < 1e-14] = 0.0  # a unit that is out is out, whatever rounding leaves of it
        return dense

    @cached_property
    def _only_pairs(self) -> bool:
        return bool((self.position[::2] == 0).all() and (self.position[1::2] == 1).all())

    @cached_property
    def _places_from_the_end(self) -> Codes:
        sizes = np.bincount(self.stratum)
        return (sizes[self.stratum] - 1 - self.position)[::-1]


def _sums_before(t: Array, position: Codes) -> Array:
    """For each unit the sum over the units before it in its stratum (strata are runs of places 0, 1, …)."""
    before = np.zeros_like(t)
    starts = np.flatnonzero(position == 0)
    most = int(position.max()) if len(position) else 0
    if most <= len(starts):
        for j in range(1, most + 1):
            at = np.flatnonzero(position == j) if most > 1 else np.flatnonzero(position)
            before[at] = before[at - 1] + t[at - 1]
        return before
    for a, b in zip(starts, [*starts[1:], len(position)], strict=True):
        before[a + 1 : b] = np.cumsum(t[a : b - 1], axis=0)
    return before


@dataclass(frozen=True, eq=False)
class Rotations:
    """General BRR with p units a stratum: the columns of the array are rotations of one sequence (STRAT B.3).

    Replicate a takes unit ``sequence[(a + h) mod (k - 1)]`` of stratum h, and the last replicate takes unit 0 of every
    stratum. The factor is ``1 + gain_h (p delta - 1)``.
    """

    sequence: Codes
    levels: int
    gain: Array

    @property
    def number(self) -> int:
        """Number of replicates p^b."""
        return len(self.sequence) + 1

    def totals(self, t: Array) -> Array:
        """Replicate totals by a circular correlation for each level."""
        strata, p = len(self.gain), self.levels
        by_unit = t.reshape(strata, p, -1)
        rest = t.sum(axis=0) - (self.gain[:, None] * by_unit.sum(axis=1)).sum(axis=0)
        return circular_level_sums(self.sequence, p * self.gain[:, None, None] * by_unit) + rest

    def factors(self, start: int, stop: int) -> Array:
        """Dense factors from the array's rows."""
        n = len(self.sequence)
        runs = np.arange(start, stop)
        chosen = self.sequence[(runs[:, None] + np.arange(len(self.gain))) % n]
        chosen[runs == n] = 0
        return _one_of_each(chosen, self.levels, self.gain)


@dataclass(frozen=True, eq=False)
class Runs:
    """General BRR with p units a stratum over an orthogonal array that is stored: runs × strata of symbols.

    Replicate a takes unit ``symbols[a, h]`` of stratum h; the factors are those of `Rotations`.
    """

    symbols: NDArray[np.signedinteger]
    levels: int
    gain: Array

    @property
    def number(self) -> int:
        """Number of replicates."""
        return len(self.symbols)

    def totals(self, t: Array) -> Array:
        """Replicate totals, block by block."""
        return _by_blocks(self, t)

    def factors(self, start: int, stop: int) -> Array:
        """Dense factors from the array's rows."""
        return _one_of_each(self.symbols[start:stop], self.levels, self.gain)


def _one_of_each(chosen: NDArray[np.signedinteger], levels: int, gain: Array) -> Array:
    """Factors 1 + gain (p delta - 1) of the units chosen in each stratum: replicates × units."""
    delta = chosen[:, :, None] == np.arange(levels)
    dense: Array = 1.0 + gain[:, None] * (levels * delta - 1.0)
    return dense.reshape(len(chosen), -1)


@dataclass(frozen=True, eq=False)
class Selections:
    """Replicates that take m_h of the n_h units by an orthogonal multi-array (Sitter 1993)."""

    array: MultiArray
    stratum: Codes
    gain: Array
    share: Array

    @property
    def number(self) -> int:
        """Number of replicates."""
        return self.array.runs

    def totals(self, t: Array) -> Array:
        """Replicate totals, block by block."""
        return _by_blocks(self, t)

    def factors(self, start: int, stop: int) -> Array:
        """Factors 1 + gain (delta n / m - 1)."""
        chosen = self.array.choose(start, stop)
        dense: Array = 1.0 + (chosen / self.share[self.stratum] - 1.0) * self.gain[self.stratum]
        return dense


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """The jackknife: each replicate is without one unit, whose stratum's others are scaled up."""

    stratum: Codes
    sizes: Codes
    left_out: Codes

    @property
    def number(self) -> int:
        """Number of replicates: one for each unit of a stratum of two or more."""
        return len(self.left_out)

    def totals(self, t: Array) -> Array:
        """The full total plus (S_h - n_h t_u) / (n_h - 1)."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        sums = np.add.reduceat(t, starts, axis=0)
        h = self.stratum[self.left_out]
        n = self.sizes[h][:, None]
        return t.sum(axis=0) + (sums[h] - n * t[self.left_out]) / (n - 1)

    def factors(self, start: int, stop: int) -> Array:
        """Dense factors: 0 for the unit left out, n / (n - 1) for its stratum's others, 1 elsewhere."""
        out = self.left_out[start:stop]
        h = self.stratum[out]
        same = self.stratum == h[:, None]
        dense = np.where(same, (self.sizes[h] / (self.sizes[h] - 1))[:, None], 1.0)
        dense[np.arange(len(out)), out] = 0.0
        return dense


@dataclass(frozen=True, eq=False)
class Resamples:
    """The bootstrap: units drawn with replacement within strata.

    Attributes
    ----------
    sizes
        Units in each stratum.
    draws
        How many units each stratum draws (n_h - 1 for Rao and Wu, n_h for the plain bootstrap).
    shrink
        For each stratum, sqrt(1 - f_h): the finite population correction.
    k, seed
        Number of replicates; replicate block b is drawn from the seed and b, so that any part can be made again.
    """

    sizes: Codes
    draws: Codes
    shrink: Array
    k: int
    seed: int

    BLOCK = 64

    @property
    def number(self) -> int:
        """Number of replicates."""
        return self.k

    def totals(self, t: Array) -> Array:
        """Replicate totals, block by block."""
        return _by_blocks(self, t)

    def factors(self, start: int, stop: int) -> Array:
        """Dense factors of some replicates."""
        first = start // self.BLOCK
        parts = [self._block(b) for b in range(first, (stop - 1) // self.BLOCK + 1)]
        offset = first * self.BLOCK
        return np.concatenate(parts)[start - offset : stop - offset]

    def _block(self, b: int) -> Array:
        rng = np.random.default_rng([self.seed, b])
        units = int(self.sizes.sum())
        starts = np.repeat(np.concatenate([[0], np.cumsum(self.sizes)[:-1]]), self.draws)
        width = np.repeat(self.sizes, self.draws)
        drawn = starts + rng.integers(0, width, size=(self.BLOCK, len(width)))
        flat = drawn + units * np.arange(self.BLOCK)[:, None]
        counts = np.bincount(flat.ravel(), minlength=self.BLOCK * units).reshape(self.BLOCK, units)
        return self.rescaled(counts, np.repeat(np.arange(len(self.sizes)), self.sizes))

    def rescaled(self, counts: NDArray[np.int64], stratum: Codes) -> Array:
        """Factors 1 + sqrt(1 - f) (n / m · count - 1); a stratum that draws nothing keeps the factor 1."""
        ratio = np.divide(self.sizes, self.draws, out=np.ones(len(self.sizes)), where=self.draws > 0)
        dense: Array = 1.0 + (counts * ratio[stratum] - 1.0) * self.shrink[stratum]
        dense[:, self.draws[stratum] == 0] = 1.0
        return dense

    def lumps(self, stratum: Codes, multiplicity: Codes) -> Array:
        """Sums of factors over lumps of interchangeable units (k × lumps), drawn as multinomials.

        The distribution is that of `factors` summed over the units of each lump; the draws are others.
        """
        rng = np.random.default_rng([self.seed, self.k])
        out = np.empty((self.k, len(stratum)))
        for h in range(len(self.sizes)):
            at = np.flatnonzero(stratum == h)
            m, n = int(self.draws[h]), int(self.sizes[h])
            share = multiplicity[at] / n
            counts = rng.multinomial(m, share / share.sum(), size=self.k)
            scaled = counts * (n / m) if m else np.broadcast_to(multiplicity[at], counts.shape)
            out[:, at] = multiplicity[at] + (scaled - multiplicity[at]) * self.shrink[h]
        return out


@dataclass(frozen=True, eq=False)
class Given:
    """Replicates whose factors somebody else made: replicates × units."""

    dense: Array

    @property
    def number(self) -> int:
        """Number of replicates."""
        return len(self.dense)

    def totals(self, t: Array) -> Array:
        """The plain product."""
        return self.dense @ t

    def factors(self, start: int, stop: int) -> Array:
        """The factors themselves."""
        return self.dense[start:stop]
