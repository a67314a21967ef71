"""Randomization tests that keep the problem's constraints: whole units, shuffled within strata (STRAT 5.2).

They test that the labels of the systems mean nothing. They say nothing about a population, and the spread of the
shuffled values is not a standard error: for an interval use `paired` or `unpaired`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, one_of
from strat.base.limits import LIMITS
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, encode, numbers, same_length
from strat.designs import Design
from strat.estimation.hypothesis_tests import ALTERNATIVES, TestResult
from strat.estimation.totals import totals, unit_totals
from strat.measures import Statistic


@dataclass(frozen=True, repr=False)
class Randomization(TestResult):
    """A randomization test. It has no standard error and no interval: shuffling is not sampling.

    Attributes
    ----------
    permutations
        How many shuffles were drawn; p = (1 + hits) / (1 + permutations).
    seed
        Where they came from.
    units
        How many whole units were exchanged.
    """

    permutations: int
    seed: int
    units: int

    def __str__(self) -> str:
        """The test as a sentence, with the null that it tests."""
        return (
            f"{self.name}: difference {self.statistic:.4f}, p = {self.pvalue:.4g} ({self.permutations} shuffles of "
            f"{self.units} units, seed {self.seed}); null: {self.null}; no standard error comes from this"
        )


@checked
def randomization(
    a: Statistic,
    b: Statistic,
    *,
    on: Design,
    permutations: int = 9999,
    alternative: str = "two-sided",
    rng: int = 0,
) -> Randomization:
    """Exchange the two systems' answers in whole units, by a fair coin for each unit, and measure again.

    Parameters
    ----------
    a, b
        The same measure of two systems on the same items.
    on
        The design: its units are exchanged whole.

    Examples
    --------
    Five units, A right and B wrong in each: of 32 exchanges, two are as extreme.

    >>> from strat.designs import Design
    >>> from strat.measures import accuracy
    >>> result = randomization(
    ...     accuracy([1] * 5, [1] * 5), accuracy([1] * 5, [0] * 5), on=Design.simple_random(n=5)
    ... )
    >>> result.statistic, abs(result.pvalue - 2 / 32) < 0.01
    (1.0, True)
    """
    one_of("alternative", alternative, ALTERNATIVES)
    if len(a) != len(b) or len(a) != len(on):
        raise StratError.about("a", f", `b` and `on` must have the same rows, got {len(a)}, {len(b)} and {len(on)}.")
    _same_measure(a, b, on)
    first, second = unit_totals(a, on), unit_totals(b, on)
    middle, half = 0.5 * (first + second).sum(axis=0), 0.5 * (first - second)
    generator = np.random.default_rng(rng)
    observed = float(np.asarray(a.function(first.sum(axis=0)) - b.function(second.sum(axis=0))))
    drawn = []
    for size in _sizes(permutations, len(half)):
        signs = 2.0 * generator.integers(0, 2, (size, len(half)), dtype=np.int8) - 1.0
        moved = signs @ half
        drawn.append(a.function(middle + moved) - a.function(middle - moved))
    null = "in every unit the answers of the two systems could as well have been exchanged"
    scale = float(np.max(np.abs([a.function(first.sum(axis=0)), b.function(second.sum(axis=0))])))
    p = _pvalue(np.concatenate(drawn), observed, scale, alternative)
    return Randomization(
        f"randomization of {a.name}, paired by unit", observed, p, (), alternative, null, permutations, rng, on.n_units
    )


@checked
def stratified_shuffling(
    values: ArrayLike,
    system: ArrayLike,
    *,
    strata: ArrayLike,
    units: ArrayLike | None = None,
    permutations: int = 9999,
    alternative: str = "two-sided",
    rng: int = 0,
) -> Randomization:
    """Noreen's stratified shuffling for two systems on different items: units change system within their stratum.

    The statistic is the difference of the systems' means (first label in sorted order − second), averaged over strata
    by their number of rows.

    Examples
    --------
    One stratum, three units each, 1 1 1 against 0 0 0: 2 of the 20 ways to share them are as extreme.

    >>> result = stratified_shuffling(
    ...     [1, 1, 1, 0, 0, 0], list("AAABBB"), strata=["s"] * 6, permutations=4999
    ... )
    >>> result.statistic, abs(result.pvalue - 0.1) < 0.02
    (1.0, True)
    """
    one_of("alternative", alternative, ALTERNATIVES)
    y = numbers("values", values, axes=1)
    which, labels = encode("system", system)
    stratum = encode("strata", strata)[0]
    unit = np.arange(len(y)) if units is None else encode("units", units)[0]
    same_length(values=y, system=which, strata=stratum, units=unit)
    if len(labels) != 2:
        raise StratError.about("system", f"must have two labels, got {len(labels)}.")
    keys = np.stack([stratum, which, unit], axis=1)
    distinct, code = np.unique(keys, axis=0, return_inverse=True)
    code = code.reshape(-1)
    sums, sizes = np.bincount(code, y), np.bincount(code).astype(float)
    table = _Strata(distinct[:, 0], distinct[:, 1] == 0, sums.astype(float), sizes)
    observed = float(table.difference(table.first[None])[0])
    generator = np.random.default_rng(rng)
    drawn = [table.difference(table.shuffled(size, generator)) for size in _sizes(permutations, len(distinct))]
    null = "within a stratum it does not matter which system a unit was given to"
    p = _pvalue(np.concatenate(drawn), observed, float(np.abs(y).max(initial=0.0)), alternative)
    name = f"stratified shuffling, {labels[0]} − {labels[1]}"
    return Randomization(name, observed, p, (), alternative, null, permutations, rng, len(distinct))


@dataclass(frozen=True)
class _Strata:
    """Units with their stratum, system, sum and size; sorted by stratum."""

    stratum: Codes
    first: Array
    sums: Array
    sizes: Array

    def __post_init__(self) -> None:
        n = np.bincount(self.stratum)
        k = np.bincount(self.stratum, self.first)
        if ((k == 0) | (k == n)).any():
            raise StratError.about(
                "strata", f"must each have units of both systems, got {int(((k == 0) | (k == n)).sum())} that have not."
            )

    def difference(self, first: Array) -> Array:
        """Weighted difference of means for each line of memberships (lines × units)."""
        starts = np.searchsorted(self.stratum, np.arange(self.stratum[-1] + 1))
        rows = np.add.reduceat(self.sizes, starts)
        totals = []
        for member in (first, 1.0 - first):
            num = np.add.reduceat(member * self.sums, starts, axis=1)
            den = np.add.reduceat(member * self.sizes, starts, axis=1)
            totals.append(num / den)
        result: Array = (totals[0] - totals[1]) @ (rows / rows.sum())
        return result

    def shuffled(self, lines: int, rng: np.random.Generator) -> Array:
        """Memberships shuffled within strata: sort by stratum and a random key, then deal them out again."""
        keys = self.stratum + rng.random((lines, len(self.stratum)))
        order = np.argsort(keys, axis=1)
        dealt = np.empty((lines, len(self.stratum)))
        np.put_along_axis(dealt, order, np.broadcast_to(self.first.astype(float), dealt.shape), axis=1)
        return dealt


def _same_measure(a: Statistic, b: Statistic, on: Design) -> None:
    alike = a.components == b.components and not a.shape and not b.shape and not a.of_weights
    if alike:
        for own, other in ((a, b), (b, a)):
            sums = totals(own, on.weights)
            alike = alike and bool(np.allclose(own.function(sums), other.function(sums)))
    if not alike:
        raise StratError.about(
            "a",
            "and `b` must be one measure with one number and the same classes; "
            "give both the same `labels` so that their totals can be exchanged.",
        )


def _sizes(permutations: int, units: int) -> list[int]:
    if permutations < 1:
        raise StratError.about("permutations", f"must be 1 or more, got {permutations}.")
    step = max(1, LIMITS.randomized_numbers // max(units, 1))
    return [min(step, permutations - k) for k in range(0, permutations, step)]


def _pvalue(drawn: Array, observed: float, scale: float, alternative: str) -> float:
    """Share of shuffles as extreme, ties up to rounding of values of this scale among them."""
    slack = 1e-12 * max(scale, abs(observed))
    if alternative == "two-sided":
        hits = int((np.abs(drawn) >= abs(observed) - slack).sum())
    elif alternative == "greater":
        hits = int((drawn >= observed - slack).sum())
    else:
        hits = int((drawn <= observed + slack).sum())
    return (1 + hits) / (1 + len(drawn))
