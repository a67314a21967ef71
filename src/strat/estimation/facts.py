"""What an estimate knows beside its values: how the measure behaves, and what intervals and tests are made of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from strat.base.validate.columns import Array
from strat.estimation.folded import distance_limits, expected_noise
from strat.estimation.functions import PartOf
from strat.estimation.intervals import critical
from strat.estimation.mover import sum_limits
from strat.estimation.phase_limits import PhaseLimits, phases_at
from strat.estimation.spread import Spread
from strat.estimation.unit_shares import UnitShares
from strat.measures.base import PhaseRows, Statistic

if TYPE_CHECKING:
    from strat.estimation.result import Estimate

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Known(Generic[Value]):
    """A value at hand, in the place of one that is made when somebody asks.

    What makes a value holds the rows and functions behind it, which don't travel between processes: a result is pickled
    with the value itself.
    """

    value: Value

    def __call__(self) -> Value:
        """The value."""
        return self.value


@dataclass(frozen=True)
class MeasureFacts:
    """How the values of a measure behave.

    Attributes
    ----------
    link
        The scale on which their sampling distribution is nearest to normal; "score": their distance from a value in
        standard errors at that value (Wilson).
    bounds
        The range that they can't leave.
    proportion
        Whether they are weighted shares of rows, so that exact binomial intervals make sense.
    positive
        The class that the measure looks at (None: it looks at all of them).
    monotone
        1 if the values can't fall along the last axis, −1 if they can't rise, 0 otherwise; limits then do the same.
    curve
        The picture that the values are the points of: that of the statistic (None: no picture of its own).
    own_name
        Whether the name was given by whoever made the estimate, such as that of a difference of two systems.
    """

    link: str = "identity"
    bounds: tuple[float, float] = (-np.inf, np.inf)
    proportion: bool = False
    positive: Any = None
    monotone: int = 0
    curve: str | None = None
    own_name: bool = False

    @classmethod
    def of(cls, statistic: Statistic, *, crossed: bool = False) -> MeasureFacts:
        """What is known of a statistic, here or over crossed factors.

        Few levels of a factor leave few degrees of freedom, with which the logit scale stretches rare shares far out;
        the score holds as often and is narrower (`python -m validation.crossed`).
        """
        return cls(
            link="score" if crossed and statistic.proportion and statistic.link == "logit" else statistic.link,
            bounds=statistic.bounds,
            proportion=statistic.proportion,
            positive=statistic.positive,
            curve=statistic.curve,
        )


@dataclass(frozen=True, eq=False)
class FromShares:
    """The way back from shares of rows to values: the inverse of a distribution.

    Attributes
    ----------
    invert
        From totals and shares to values.
    totals
        The totals of the rows.
    """

    invert: Callable[[Array, Array], Array]
    totals: Array

    def __call__(self, shares: Array) -> Array:
        """The values at these shares."""
        return self.invert(self.totals, np.ravel(shares)).reshape(np.shape(shares))


@dataclass(frozen=True, eq=False)
class Woodruff:
    """The way to a quantile's limits: through the share of rows at or below it (Woodruff 1952).

    Attributes
    ----------
    make
        Estimates the share, when somebody asks.
    back
        From shares to values.
    thin
        Where few rows lie beyond the quantile, so that the exact interval of the share is taken.
    """

    make: Callable[[], Estimate]
    back: FromShares
    thin: NDArray[np.bool_]

    @cached_property
    def share(self) -> Estimate:
        """The share of rows at or below the quantile."""
        return self.make()

    def __getstate__(self) -> dict[str, Any]:
        """With the share itself, for another process."""
        return {"make": Known(self.share), "back": self.back, "thin": self.thin}

    def at(self, *labels: Any, cut: Any) -> Woodruff:
        """The same for a part of the quantiles."""
        return Woodruff(lambda: self.share.at(*labels), self.back, np.asarray(self.thin[cut]))

    def limits(self, level: float, exact: NDArray[np.bool_] | bool) -> tuple[Array, Array]:
        """Limits by the straight interval of the share; by the exact one where asked for, or if that leaves 0 to 1."""
        low, high = (np.asarray(side) for side in self.share.interval(level, method="t"))
        beyond = exact | (low <= 0) | (high >= 1)
        if np.any(beyond):
            inside = self.share.interval(level, method="exact")
            low, high = np.where(beyond, inside[0], low), np.where(beyond, inside[1], high)
        return self.back(np.asarray(low)), self.back(np.asarray(high))


@dataclass(frozen=True, eq=False)
class SumOfShares:
    """The way to the limits of a sum of shares: through the limits of each.

    Attributes
    ----------
    make
        Estimates the shares, when somebody asks.
    coefficients
        What each share is multiplied by.
    """

    make: Callable[[], Estimate]
    coefficients: Array
    method: ClassVar[str] = "mover"

    @cached_property
    def shares(self) -> Estimate:
        """The shares."""
        return self.make()

    def __getstate__(self) -> dict[str, Any]:
        """With the shares themselves, for another process."""
        return {"make": Known(self.shares), "coefficients": self.coefficients}

    def limits(self, one: Estimate, level: float) -> tuple[Array, Array]:
        """Limits of the sum."""
        each = (np.asarray(side) for side in self.shares.interval(level))
        below, above = sum_limits(
            self.coefficients, self.shares.point, (next(each), next(each)), self.shares.covariance
        )
        return one.point - below, one.point + above


@dataclass(frozen=True, eq=False)
class SumOfDistances:
    """The way to the limits of a sum of distances from 0, such as the calibration error: through their noise.

    Attributes
    ----------
    make
        Estimates the distances with their signs, when somebody asks.
    """

    make: Callable[[], Estimate]
    method: ClassVar[str] = "folded"

    @cached_property
    def distances(self) -> Estimate:
        """The distances, each with its sign."""
        return self.make()

    def __getstate__(self) -> dict[str, Any]:
        """With the distances themselves, for another process."""
        return {"make": Known(self.distances)}

    @property
    def noise(self) -> float:
        """What the sum would be on average if all true distances were 0."""
        return expected_noise(self.distances.covariance)

    def limits(self, one: Estimate, level: float) -> tuple[Array, Array]:
        """Limits of the sum."""
        t = float(np.max(critical(level, one.usable_df)))
        below, above = distance_limits(self.distances.point, self.distances.covariance, t)
        return one.point - below, one.point + above


@dataclass(frozen=True, eq=False)
class OwnLimits:
    """Limits that whoever made the value makes of it as well.

    Attributes
    ----------
    make
        From a level to the limits.
    """

    make: Callable[[float], tuple[Array, Array]]
    method: ClassVar[str] = "mover"

    def limits(self, one: Estimate, level: float) -> tuple[Array, Array]:
        """Limits of the value."""
        return self.make(level)


def way_through(
    sum_of: tuple[Statistic, Array] | PhaseRows, estimated: Callable[[Statistic], Estimate]
) -> SumOfShares | SumOfDistances | PhaseLimits:
    """The way to the limits of a sum of parts, which are shares or distances from 0, or of values of two phases."""
    if not isinstance(sum_of, tuple):
        return PhaseLimits(sum_of, estimated, np.arange(math.prod(sum_of.shape)).reshape(sum_of.shape))
    parts, coefficients = sum_of
    if parts.proportion:
        return SumOfShares(lambda: estimated(parts), coefficients)
    return SumOfDistances(lambda: estimated(parts))


@dataclass(frozen=True, eq=False)
class Unseen:
    """What a function of bounded values could be if a part of what was not seen were anything within their range.

    Attributes
    ----------
    function
        The function.
    point, bounds
        The values, and the range that they can't leave.
    """

    function: Callable[[Array], Array]
    point: Array
    bounds: tuple[float, float]

    def at(self, cut: Any) -> Unseen:
        """The same for a part of the function's values."""
        return replace(self, function=PartOf(self.function, cut))

    def limits(self, part: Array | float) -> tuple[Array, Array]:
        """The least and the largest value of the function, over the corners of the range."""
        size = self.point.size
        corners = np.array(list(itertools.product(self.bounds, repeat=size))).reshape(-1, *self.point.shape)
        mixed = np.concatenate([self.point[None], self.point + np.max(part) * (corners - self.point)])
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.asarray(self.function(mixed), float)
        each = np.where(np.isfinite(each), each, each[:1])
        return each.min(axis=0), each.max(axis=0)


@dataclass(frozen=True, eq=False)
class Inference:
    """What standard errors, covariances and limits of values are made of.

    Attributes
    ----------
    spread
        Influences of units or deviations of replicates; None for a map too large to keep them.
    rows
        Number of rows that the measure looks at.
    effective_units
        Number of equal units that an exact limit counts on, of each value (infinite: nothing was left unseen).
    population
        Rows that single rows were drawn from at random, each alike, where the values are shares of all of them
        (infinite: endless, not known, or drawn otherwise).
    srs
        Makes the variance of a simple random sample of as many rows (None: the values are no statistic of rows).
    woodruff
        The way to a quantile's limits (None: it is no quantile).
    shares
        Hits and rows of each unit, where the values are shares of rows in units or strata (None: they are not).
    holders
        Rows that each unit holds of what a value rests on, all of them hits: for limits where nothing varied.
    sum_of
        The way to the limits of a sum of shares or of distances, of values of two phases, or to others (None: those of
        the statistic's kind).
    unseen
        What a function of values could be beyond what was seen, where these have a finite range (None: not known).
    """

    spread: Spread | None = field(default=None, repr=False)
    rows: float = np.inf
    effective_units: Array | float = np.inf
    population: float = np.inf
    srs: Callable[[], Array] | None = field(default=None, repr=False)
    woodruff: Woodruff | None = field(default=None, repr=False)
    shares: UnitShares | None = field(default=None, repr=False)
    holders: UnitShares | None = field(default=None, repr=False)
    sum_of: SumOfShares | SumOfDistances | PhaseLimits | OwnLimits | None = field(default=None, repr=False)
    unseen: Unseen | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """With the variance of a simple random sample itself, for another process."""
        return {**vars(self), "srs": None if self.srs is None else Known(self.srs())}

    def at(self, *labels: Any, cut: Any, srs: Callable[[], Array]) -> Inference:
        """What the part of the values at `cut`, whose labels these are, is made of."""
        each = self.effective_units
        return Inference(
            spread=None if self.spread is None else self.spread.at(cut),
            rows=self.rows,
            effective_units=each if np.ndim(each) == 0 else np.asarray(each)[cut],
            population=self.population,
            srs=None if self.srs is None else lambda: np.asarray(srs()[cut]),
            woodruff=None if self.woodruff is None else self.woodruff.at(*labels, cut=cut),
            shares=None if self.shares is None else self.shares.at(cut),
            holders=None if self.holders is None else self.holders.at(cut),
            sum_of=None if self.sum_of is None else phases_at(self.sum_of, cut),
            unseen=None if self.unseen is None else self.unseen.at(cut),
        )
