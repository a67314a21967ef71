"""Neyman's allocation: how many units each stratum should get, in whole numbers."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.colours import BLUE
from strat.columns import Array, Codes, numbers, same_length
from strat.doors import checked
from strat.errors import StratError
from strat.notebook import in_words
from strat.theory.pictures import new_axes


@in_words
@dataclass(frozen=True, eq=False)
class Allocation:
    """Units per stratum with the least variance of the population mean, beside proportional allocation."""

    counts: Codes
    proportional: Codes
    se: float
    proportional_se: float
    totals: Array
    standard_errors: Array

    def __str__(self) -> str:
        return (
            f"{', '.join(map(str, self.counts.tolist()))} of {int(self.counts.sum())}: standard error {self.se:.4g} "
            f"(proportional allocation: {self.proportional_se:.4g})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return {
            "counts": self.counts.tolist(),
            "proportional": self.proportional.tolist(),
            "standard_error": self.se,
            "proportional_standard_error": self.proportional_se,
            "curve": {"total": self.totals.tolist(), "standard_error": self.standard_errors.tolist()},
        }

    def plot(self, ax: Any = None) -> Any:
        """Standard error against the total number of units."""
        axes = new_axes(ax)
        axes.plot(self.totals, self.standard_errors, color=BLUE, label="Neyman")
        axes.plot([self.counts.sum()], [self.se], "o", color="black")
        axes.plot([self.counts.sum()], [self.proportional_se], "s", color="#D55E00", label="proportional")
        axes.set_xscale("log")
        axes.set_xlabel("units in all")
        axes.set_ylabel("standard error of the mean")
        axes.legend(frameon=False)
        return axes


@checked
def neyman_allocation(*, sizes: ArrayLike, deviations: ArrayLike, total: int, least: int = 2) -> Allocation:
    """The whole numbers of units per stratum that minimise the variance of the population mean.

    Parameters
    ----------
    sizes
        Population size of each stratum.
    deviations
        Standard deviation within each stratum, from a pilot or a guess; sqrt(p(1-p)) for a share p.
    total
        Units to spend.
    least
        Units that every stratum must get; two, or no variance can be estimated.

    Notes
    -----
    Each unit goes where it lowers the variance most, which is optimal in whole numbers (Wright); strata are
    never given more units than they have, and the finite population correction is kept.

    Examples
    --------
    Equal sizes, deviations 1 to 3: units go 1 to 3.

    >>> neyman_allocation(sizes=[1000, 1000], deviations=[1.0, 3.0], total=40).counts
    array([10, 30])
    """
    people, spreads = numbers("sizes", sizes), numbers("deviations", deviations)
    same_length(sizes=people, deviations=spreads)
    _check(people, spreads, total, least)
    counts = _optimal(people, spreads, total, least)
    even = _optimal(people, np.ones(len(people)), total, least)
    top = int(min(people.sum(), 20 * total))
    grid = np.unique(np.geomspace(max(_lowest(people, least), total / 20), max(top, total), 40).round())
    curve = [_error(people, spreads, _optimal(people, spreads, int(t), least)) for t in grid]
    return Allocation(
        counts,
        even,
        _error(people, spreads, counts),
        _error(people, spreads, even),
        grid,
        np.array(curve),
    )


def _check(people: Array, spreads: Array, total: int, least: int) -> None:
    if (people < 1).any() or (people != np.floor(people)).any():
        raise StratError(f"`sizes` must be whole numbers of at least 1, got {people.tolist()!r}; count each stratum.")
    if (spreads < 0).any():
        raise StratError(f"`deviations` must not be negative, got {spreads.min():g}; they are standard deviations.")
    lowest = _lowest(people, least)
    if total < lowest:
        raise StratError(
            f"`total` must be at least {lowest} to give each of {len(people)} strata {least} units, got {total}; "
            "spend more, join strata, or lower `least`."
        )
    if total > people.sum():
        raise StratError(
            f"`total` must not exceed the population of {int(people.sum())}, got {total}; a census needs no plan."
        )


def _lowest(people: Array, least: int) -> int:
    return int(np.minimum(people, least).sum())


def _optimal(people: Array, spreads: Array, total: int, least: int) -> Codes:
    strength = people * spreads
    counts = np.minimum(people, least).astype(np.int64)
    rough = _continuous(people, strength, total, counts)
    # the whole-number optimum is within a unit or two of the continuous one, so greed starts just below
    counts = np.maximum(counts, np.floor(rough).astype(np.int64) - 2)
    counts = np.minimum(counts, people.astype(np.int64))
    heap = [(-_gain(strength[h], counts[h]), h) for h in range(len(people)) if counts[h] < people[h]]
    heapq.heapify(heap)
    for _ in range(total - int(counts.sum())):
        _, h = heapq.heappop(heap)
        counts[h] += 1
        if counts[h] < people[h]:
            heapq.heappush(heap, (-_gain(strength[h], counts[h]), h))
    return counts


def _continuous(people: Array, strength: Array, total: int, low: Codes) -> Array:
    # n_h proportional to N_h S_h between its limits: bisection over the factor
    if not strength.any():
        return low.astype(float)
    strength = strength / strength.max()
    strength = np.where(strength < 1e-200, 0, strength)
    below, above = 0.0, float((people / np.where(strength > 0, strength, np.inf)).max())
    for _ in range(200):
        factor = (below + above) / 2
        spent = np.clip(factor * strength, low, people).sum()
        below, above = (factor, above) if spent < total else (below, factor)
    return np.clip(below * strength, low, people)


def _gain(strength: float, count: int) -> float:
    return float(strength**2 / (count * (count + 1))) if count else np.inf


def _error(people: Array, spreads: Array, counts: Codes) -> float:
    shares = people / people.sum()
    return float(np.sqrt((shares**2 * spreads**2 * (1 / counts - 1 / people)).sum()))
