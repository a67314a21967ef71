"""Neyman's allocation: how many units each stratum should get, in whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base import validate
from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, numbers, same_length
from strat.show.colours import BLUE
from strat.show.figures import new_axes


@dataclass(frozen=True, eq=False, repr=False)
class Allocation(Result):
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

    def _columns(self) -> dict[str, list[Any]]:
        """A line for each stratum."""
        return {"count": self.counts.tolist(), "proportional": self.proportional.tolist()}

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
    never given more units than they have, and the finite population correction is kept. `strat.sample` with
    method="neyman" draws by the same numbers.

    Examples
    --------
    Equal sizes, deviations 1 to 3: units go 1 to 3.

    >>> neyman_allocation(sizes=[1000, 1000], deviations=[1.0, 3.0], total=40).counts
    array([10, 30])
    """
    people, spreads = numbers("sizes", sizes, axes=1), numbers("deviations", deviations, axes=1)
    same_length(sizes=people, deviations=spreads)
    _check(people, spreads, total, least)
    counts = neyman_counts(people, spreads, total, least=least)
    even = proportional_counts(people, np.minimum(people, least), people, total)
    top = int(min(people.sum(), 20 * total))
    grid = np.unique(np.geomspace(max(_lowest(people, least), total / 20), max(top, total), 40).round())
    curve = [allocation_error(people, spreads, neyman_counts(people, spreads, int(t), least=least)) for t in grid]
    return Allocation(
        counts,
        even,
        allocation_error(people, spreads, counts),
        allocation_error(people, spreads, even),
        grid,
        np.array(curve),
    )


def checked_strata(people: Array, spreads: Array) -> None:
    """Refuse sizes that are not counts, and deviations below zero."""
    if (people < 1).any() or (people != np.floor(people)).any():
        raise StratError.about(
            "sizes", f"must be whole numbers of at least 1, got {people.tolist()!r}; count each stratum."
        )
    if (spreads < 0).any():
        raise StratError.about(
            "deviations", f"must not be negative, got {spreads.min():g}; they are standard deviations."
        )


def _check(people: Array, spreads: Array, total: int, least: int) -> None:
    checked_strata(people, spreads)
    validate.count("total", total, least=0, most=10**15)
    lowest = _lowest(people, least)
    if total < lowest:
        raise StratError.about(
            "total",
            f"must be at least {lowest} to give each of {len(people)} strata {least} units, got {total}; "
            "spend more, join strata, or lower `least`.",
        )
    if total > people.sum():
        raise StratError.about(
            "total", f"must not exceed the population of {int(people.sum())}, got {total}; a census needs no plan."
        )


def _lowest(people: Array, least: int) -> int:
    return int(np.minimum(people, least).sum())


def neyman_counts(sizes: ArrayLike, deviations: ArrayLike, total: int, *, least: int = 2) -> Codes:
    """Units per stratum, in whole numbers, with the least variance of the population mean.

    Giving a stratum its (n + 1)-th unit lowers the variance by (N S)² / (n (n + 1)), which falls with n; so the best
    whole numbers take every unit whose gain is above one threshold (Wright 2012), found here by bisection. Where no
    stratum varies, the allocation is proportional.

    Examples
    --------
    >>> neyman_counts([50, 50], [4.0, 1.0], 10)
    array([8, 2])
    """
    top = np.asarray(sizes, dtype=float)
    floor = np.minimum(top, least)
    strength = top * np.asarray(deviations, dtype=float)
    strength = strength / (strength.max() or 1.0)
    varies = strength > 1e-100
    rest = ~varies
    if total - floor[rest].sum() < top[varies].sum():
        counts = floor.copy()
        spent = int(total - floor[rest].sum())
        counts[varies] = _least_variance(strength[varies], floor[varies], top[varies], spent)
        return counts.astype(np.int64)
    counts = top.copy()  # every stratum that varies is taken whole
    counts[rest] = proportional_counts(top[rest], floor[rest], top[rest], int(total - top[varies].sum()))
    return counts.astype(np.int64)


def _least_variance(strength: Array, floor: Array, top: Array, total: int) -> Array:
    def counts_at(log_factor: float) -> Array:
        # the smallest n with n (n + 1) >= (strength · factor)²
        reach = np.minimum(strength * np.exp(log_factor), top + 1)
        return np.clip(np.ceil(np.sqrt(0.25 + reach**2) - 0.5), floor, top)

    low, high = np.log(1e-10), np.log((top.max() + 1) / strength.min())
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (middle, high) if counts_at(middle).sum() <= total else (low, middle)
    counts = counts_at(low)
    # what is left are ties at the threshold
    return _spread_rest(counts, lambda n: strength**2 / np.maximum(n * (n + 1), 1e-30), top, int(total - counts.sum()))


def proportional_counts(wish: ArrayLike, floor: ArrayLike, top: ArrayLike, total: int) -> Codes:
    """Whole numbers in proportion to `wish` between `floor` and `top` that add up to `total`: largest remainders.

    Examples
    --------
    >>> proportional_counts([80, 20], [2, 2], [80, 20], 11)
    array([9, 2])
    """
    low, high = np.asarray(floor, dtype=float), np.asarray(top, dtype=float)
    if not len(low):
        return np.zeros(0, np.int64)
    weight = np.asarray(wish, dtype=float)
    weight = np.maximum(weight, 1e-12 * max(float(weight.max()), 1.0))
    below, above = 0.0, float((high / weight).max()) + 1.0
    for _ in range(100):
        middle = (below + above) / 2
        below, above = (middle, above) if np.clip(middle * weight, low, high).sum() < total else (below, middle)
    ideal = np.clip(above * weight, low, high)
    counts = np.clip(np.floor(ideal + 1e-9), low, high)
    counts = _spread_rest(counts, lambda n: ideal - n, high, int(total - counts.sum()))
    return counts.astype(np.int64)


def _spread_rest(counts: Array, gain: Callable[[Array], Array], top: Array, rest: int) -> Array:
    """`counts` with the `rest` of the units, one each, where the gain is largest; ties in order."""
    while rest > 0:
        gains = np.where(counts < top, gain(counts), -np.inf)
        best = np.argsort(-gains, kind="stable")[: min(rest, int((counts < top).sum()))]
        counts[best] += 1
        rest -= len(best)
    return counts


def allocation_error(people: Array, spreads: Array, counts: Array | Codes) -> float:
    """Standard error of the population mean under an allocation, with finite population corrections."""
    shares = people / people.sum()
    return float(np.sqrt((shares**2 * spreads**2 * (1 / counts - 1 / people)).sum()))
