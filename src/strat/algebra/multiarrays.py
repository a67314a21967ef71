"""Orthogonal multi-arrays: balanced selections of units from strata of unequal sizes (Sitter 1993).

Sitter (Biometrika 80, 211-221) replaces the symbol of an orthogonal array by a *set* of units, so that a replicate
takes m_h of the n_h units of stratum h, and asks for three things: each unit of a stratum is taken equally often,
each pair of units of a stratum is taken together equally often, and units of two strata meet in proportion. Then
replicates of a linear statistic, with the factors 1 + sqrt(m/(n - m)) (n/m·taken - 1), have exactly the textbook
variance, whatever the numbers of units.

Here such an array comes from ordinary orthogonal arrays, whose runs are combined in all ways: one for each prime, or
one for several (`array_parts`). The symbols of a stratum's columns together name one block of a balanced design on its
units (`unit_selections`): a single unit, half of them, a hyperplane of the space that they make. Of the ways to select
the units of each size those are taken that need the fewest runs together (`array_plans`).

No array of any kind has fewer runs than divisibility allows: n_h with gcd(n_h, m_h) = 1 must divide their number, and
so must n_h n_g for two strata. Two strata each of 5, 7 and 11 units take at least 148,225 runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.algebra.array_parts import in_words
from strat.algebra.array_plans import RUN, Digits, Plan, best_plan
from strat.algebra.unit_selections import blocks
from strat.base import validate
from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.text import counted
from strat.base.validate.arguments import checked

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class MultiArray:
    """For each run and stratum, the units that are selected.

    Attributes
    ----------
    sizes
        Numbers of units n_h.
    plan
        The orthogonal arrays behind it, and the columns of each stratum.
    """

    sizes: tuple[int, ...]
    plan: Plan

    @property
    def runs(self) -> int:
        """Number of runs: the product of those of the arrays behind it."""
        return self.plan.runs

    @property
    def selected(self) -> tuple[int, ...]:
        """Numbers of units m_h that each run takes."""
        return tuple(self.plan.ways[n].taken for n in self.sizes)

    def __str__(self) -> str:
        parts = ", ".join(map(in_words, self.plan.parts))
        return f"orthogonal multi-array: {counted(self.runs, 'run')} × {counted(len(self.sizes), 'stratum')} ({parts})"

    def choose(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Which units runs start .. stop - 1 take: runs × sum(sizes), units in the order of the strata.

        >>> multi_array([2, 3]).choose(0, 3).astype(int).tolist()
        [[1, 0, 0, 1, 0], [0, 1, 0, 1, 0], [1, 0, 0, 0, 1]]
        """
        if start < 0 or stop > self.runs:
            raise StratError.about("stop", f"must be at most the number of runs {self.runs}, got {start} to {stop}.")
        number = stop - start
        read = _Symbols(self.plan, np.arange(start, stop))
        offsets = np.concatenate([[0], np.cumsum(self.sizes)])
        taken = np.zeros((number, offsets[-1]), dtype=bool)
        for n, way in self.plan.ways.items():
            strata = np.flatnonzero(np.array(self.sizes) == n)
            block = read.joined([self.plan.blocks[h] for h in strata])
            if way.taken == 1:
                taken[np.arange(number)[:, None], offsets[strata] + block] = True
            else:
                of_class = read.joined([self.plan.classes[n]])
                taken[:, offsets[strata][:, None] + np.arange(n)] = blocks(way)[of_class, block]
        return taken


class _Symbols:
    """The symbols of some runs of all parts, and numbers joined from their digits in mixed radix."""

    def __init__(self, plan: Plan, runs: Integers) -> None:
        self.number = len(runs)
        self.rows: list[Integers] = []
        for part in plan.parts:
            runs, rows = np.divmod(runs, part.runs)
            self.rows.append(rows)
        self.symbols = [part.symbols(rows) for part, rows in zip(plan.parts, self.rows, strict=True)]

    def joined(self, numbers: Sequence[Digits]) -> Integers:
        """Runs × numbers, 0 without digits; the same digit of all of them stands in the same part."""
        total, radix = np.zeros((self.number, len(numbers)), dtype=np.int64), 1
        for same in zip(*numbers, strict=True):
            part, levels = same[0].part, same[0].levels
            if same[0].column == RUN:
                columns = self.rows[part][:, None]
            else:
                columns = self.symbols[part][:, [digit.column for digit in same]]
            total += columns % levels * radix
            radix *= levels
        return total


@checked
def multi_array(sizes: Sequence[int] | Integers, *, most: int = LIMITS.multi_array_runs) -> MultiArray:
    """An orthogonal multi-array for strata of the given numbers of units.

    Parameters
    ----------
    sizes
        Number of units in each stratum, at least 2.
    most
        The largest number of runs that is acceptable.

    Examples
    --------
    >>> print(multi_array([2, 2, 3, 3, 7]))
    orthogonal multi-array: 252 runs × 5 strata (4 for 2 levels, 9 for 3 levels, 7 for 7 levels)
    >>> multi_array([2, 2, 3, 3, 7]).selected
    (1, 1, 1, 1, 3)
    """
    numbers = tuple(validate.count("sizes", n, least=2) for n in sizes)
    if not numbers:
        raise StratError.about("sizes", "must have at least one stratum, got none.")
    array = MultiArray(numbers, best_plan(numbers))
    if array.runs > most:
        raise StratError.about(
            "sizes",
            f"must not need more than {most:,} runs, got {array.runs:,} ({len(numbers)} strata of "
            f"{', '.join(str(n) for n in sorted(set(numbers)))} units); use `generalized`, which takes any sizes.",
        )
    return array


@checked
def is_orthogonal_multi_array(chosen: MultiArray | ArrayLike, sizes: Sequence[int] | None = None) -> bool:
    """Whether a selection has the three balances of an orthogonal multi-array.

    Each unit of a stratum equally often, each pair of units of a stratum together equally often, and units of two
    strata together in proportion: runs · (m_h/n_h) · (m_g/n_g) times.

    Parameters
    ----------
    chosen
        A `MultiArray`, or runs × units of 0 and 1.
    sizes
        Number of units of each stratum, for a matrix.

    Examples
    --------
    >>> is_orthogonal_multi_array(multi_array([2, 3, 4, 6]))
    True
    >>> is_orthogonal_multi_array([[1, 0, 1, 0], [0, 1, 0, 1]], [2, 2])
    False
    """
    if isinstance(chosen, MultiArray):
        together = _together(chosen)
        return _has_balance(together, np.array(chosen.sizes), chosen.runs)
    taken = np.asarray(chosen)
    counts = np.asarray([] if sizes is None else sizes, dtype=np.int64)
    if taken.ndim != 2 or counts.sum() != taken.shape[1]:
        raise StratError.about(
            "sizes", f"must add up to the number of units of `chosen`, got {counts.sum()} for shape {taken.shape}."
        )
    if not np.isin(taken, (0, 1)).all():
        raise StratError.about("chosen", "must hold 0 and 1 only, got other values.")
    ones = taken.astype(float)
    return _has_balance(ones.T @ ones, counts, len(taken))


def _together(array: MultiArray) -> NDArray[np.float64]:
    units = sum(array.sizes)
    total = np.zeros((units, units))
    step = max(1, 2**22 // units)
    for start in range(0, array.runs, step):
        block = array.choose(start, min(start + step, array.runs)).astype(float)
        total += block.T @ block
    return total


def _has_balance(together: NDArray[np.float64], sizes: Integers, runs: int) -> bool:
    stratum = np.repeat(np.arange(len(sizes)), sizes)
    often = np.diag(together)
    first = np.cumsum(sizes) - sizes
    expected = np.outer(often[first], often[first])[np.ix_(stratum, stratum)]
    across = stratum[:, None] != stratum
    if (often != often[first][stratum]).any() or (often[first] == 0).any():
        return False
    if (together * runs != expected)[across].any():
        return False
    second = np.minimum(first + 1, len(stratum) - 1)
    pair = together[first, second][stratum][:, None]
    within = ~across & ~np.eye(len(stratum), dtype=bool)
    return not ((together != pair) & within).any()
