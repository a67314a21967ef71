"""What a scenario is, and the draws that scenarios share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import strat

Rng = np.random.Generator
Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Trial:
    """One draw: what is measured on which design, and the true value that an interval ought to cover.

    `columns` holds what rivals need (`right`, `unit`, `stratum`, `score`, …); `extra` whatever a special
    procedure wants.
    """

    statistic: Any
    design: Any
    truth: Any
    columns: dict[str, Array] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)


Draw = Callable[[Rng], Trial]


@dataclass(frozen=True)
class Scenario:
    """A situation in which intervals are tried.

    Attributes
    ----------
    name
        Unique; it seeds the draws together with the seed of the run.
    family
        The statistic, for the headings of the report.
    about
        One line on how the data arises.
    make
        Prepares what all draws share and returns the function that draws.
    procedures
        Names of the procedures of `validation.methods` that are tried, each "name" or "name/k": in every k-th trial.
    times
        How many times the usual number of trials: more for a close call.
    """

    name: str
    family: str
    about: str
    make: Callable[[], Draw]
    procedures: tuple[str, ...]
    times: int = 1


@dataclass(frozen=True, eq=False)
class Layout:
    """Rows in units in strata, the same in every trial of a scenario."""

    unit: Array  # of each row
    stratum: Array  # of each unit

    @property
    def of_row(self) -> Array:
        """The stratum of each row."""
        return self.stratum[self.unit]

    def design(self, **options: Any) -> Any:
        """The design of these rows, units and strata."""
        if len(self.unit) == len(self.stratum):  # single rows
            if self.stratum.max() == 0:
                return strat.Design.simple_random(n=len(self.unit), **options)
            return strat.Design.stratified(strata=self.of_row, **options)
        if self.stratum.max() == 0:
            return strat.Design.clustered(units=self.unit, **options)
        return strat.Design.stratified(strata=self.of_row, units=self.unit, **options)


def layout(strata: int, units: int | Sequence[int], sizes: int | Sequence[int]) -> Layout:
    """`units` in each stratum (one number or one for each), with `sizes` rows (a pattern that repeats)."""
    per = np.broadcast_to(np.asarray(units), strata)
    stratum = np.repeat(np.arange(strata), per)
    rows = np.resize(np.atleast_1d(np.asarray(sizes)), len(stratum))
    return Layout(np.repeat(np.arange(len(stratum)), rows), stratum)


def unequal(number: int, smallest: int, largest: int) -> list[int]:
    """Sizes on a geometric ladder, spread so that neighbours differ."""
    ladder = np.rint(np.geomspace(smallest, largest, number)).astype(int)
    return np.random.default_rng(number).permutation(ladder).tolist()


def shares(rng: Rng, mean: Array, icc: float) -> Array:
    """Each unit's own rate: Beta with this mean and intraclass correlation."""
    if icc == 0:
        return np.asarray(mean, float)
    total = 1 / icc - 1
    return rng.beta(np.asarray(mean) * total, (1 - np.asarray(mean)) * total)


def levels(strata: int, rate: float, spread: float) -> Array:
    """The rate of each stratum: `rate` moved on the logit scale by evenly spaced normal scores times `spread`."""
    from scipy.special import expit, logit, ndtri

    if strata == 1 or spread == 0:
        return np.full(strata, rate)
    return expit(logit(rate) + spread * ndtri((np.arange(strata) + 0.5) / strata))
