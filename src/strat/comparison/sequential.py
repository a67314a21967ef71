"""Confidence sequences: limits that hold at every look at once, however often and whenever somebody looks.

Units (items, clusters) arrive one after the other. A fixed-n interval holds at one n that was chosen before; who looks
every night and stops when the answer suits sees a wrong claim far more often. These limits are wrong at *any* time in
at most 1 − level of all series.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from strat.base import validate
from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array

LARGEST = 10**15  # units of a plan
FEWEST = 2  # units that a variance needs


@dataclass(frozen=True, eq=False, repr=False)
class ConfidenceSequence(Result):
    """The mean of units that arrive one by one, with limits that hold at all times at once.

    Attributes
    ----------
    mean
        The mean of the first 1, 2, … units.
    low, high
        Limits after each of them that hold at all times at once; each side has half of the error.
    level
        Confidence level of both limits together, as everywhere.
    method
        "empirical Bernstein" (for bounded values, at any number of units) or "asymptotic".
    """

    mean: Array
    low: Array
    high: Array
    level: float
    method: str

    @checked
    def above(self, value: float) -> int | None:
        """After how many units the lower limit first lies above `value`; None: never so far."""
        return _first(self.low > value)

    @checked
    def below(self, value: float) -> int | None:
        """After how many units the upper limit first lies below `value`; None: never so far."""
        return _first(self.high < value)

    def __len__(self) -> int:
        """Number of units."""
        return len(self.mean)

    def __str__(self) -> str:
        """Where the sequence stands."""
        return (
            f"mean {self.mean[-1]:.4f} of {len(self):,} units, {100 * self.level:g} % limits at any time "
            f"{self.low[-1]:.4f} to {self.high[-1]:.4f} ({self.method})"
        )


@checked
def confidence_sequence(
    values: ArrayLike,
    *,
    bounds: tuple[float, float] | None = None,
    planned: int | None = None,
    level: float = 0.95,
) -> ConfidenceSequence:
    """The mean of units in the order of their arrival, with limits that hold at every look at once.

    With `bounds` the limits hold at any number of units: the empirical Bernstein sequence with predictable weights of
    Waudby-Smith and Ramdas (2024, theorem 2). Without, they hold for many units: the asymptotic sequence of
    Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024), narrower, and for values of any range.

    Parameters
    ----------
    values
        The value of each unit, such as the mean difference of two systems in a cluster. Units must be independent, with
        one mean; the mean over units is what is estimated.
    bounds
        The smallest and the largest value that a unit can have: (−1, 1) for a difference of shares.
    planned
        The number of units at which the asymptotic limits are to be narrowest; by default all of them.
    level
        Confidence level of both limits together; one of them alone is wrong half as often.

    Examples
    --------
    >>> import numpy as np
    >>> gains = np.random.default_rng(0).choice([-1, 0, 1], 2000, p=[0.1, 0.7, 0.2])
    >>> sequence = confidence_sequence(gains, planned=500)
    >>> sequence.above(0) is not None  # shown to be better before all 2,000 were seen
    True
    """
    array = validate.numbers("values", values, most=1e100)
    if array.ndim != 1 or len(array) < FEWEST:
        raise StratError.about("values", f"must have one value for each of two units or more, got shape {array.shape}.")
    error = (1.0 - validate.level(level)) / 2  # on each side
    if bounds is not None:
        if planned is not None:
            raise StratError.about("planned", f"must be left out beside `bounds`, got {planned!r}.")
        return _bernstein(array, _range(bounds, array), error)
    if planned is not None:
        validate.count("planned", planned, most=LARGEST)
    n = np.arange(1.0, len(array) + 1)
    mean = np.cumsum(array) / n
    centred = array - array.mean()
    squares = np.cumsum(centred**2) - n * (mean - array.mean()) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.sqrt(np.maximum(squares, 0.0) / (n - 1.0))
        radius = deviation / np.sqrt(n) * _multiplier(error, n, planned or len(array))
    radius[: FEWEST - 1] = math.inf
    return ConfidenceSequence(mean, mean - radius, mean + radius, level, "asymptotic")


@checked
def anytime_error(error: float, *, units: float, planned: float) -> float:
    """The error rate at which a fixed-n limit equals the limit that holds at every look with the given error rate.

    An interval of a mean from so many units, at level 1 − this, is part of an asymptotic confidence sequence: whoever
    looks whenever they like is wrong at any time with probability `error` at most. The price is small near `planned`.

    Parameters
    ----------
    error
        One-sided error rate that is to hold over all looks.
    units
        Units there are at this look.
    planned
        Units at which the limits are to be narrowest, chosen before the first look.

    Examples
    --------
    >>> round(anytime_error(0.05, units=500, planned=500), 4)
    0.0027
    """
    validate.share("error", error, high=0.5, open_ends=True)
    validate.positive("units", units)
    validate.positive("planned", planned)
    return float(ndtr(-_multiplier(error, np.asarray(float(units)), planned)))


def _multiplier(error: float, n: Array, planned: float) -> Array:
    """How many standard errors wide a one-sided limit at time n is, of the sequence that is narrowest at `planned`.

    sqrt(2 (nρ² + 1) / (nρ²) · log(1 + sqrt(nρ² + 1) / (2 α))), with ρ² = (−2 log 2α + log(1 − 2 log 2α)) / planned.
    """
    rho = (-2.0 * math.log(2.0 * error) + math.log1p(-2.0 * math.log(2.0 * error))) / planned
    spent = n * rho
    return np.asarray(np.sqrt(2.0 * (spent + 1.0) / spent * np.log1p(np.sqrt(spent + 1.0) / (2.0 * error))))


def _bernstein(values: Array, bounds: tuple[float, float], error: float) -> ConfidenceSequence:
    """Predictable plug-in empirical Bernstein sequence, on the scale from 0 to 1."""
    low, high = bounds
    x = (values - low) / (high - low)
    n = np.arange(1.0, len(x) + 1)
    guess = (0.5 + np.cumsum(x)) / (n + 1.0)
    spread = (0.25 + np.cumsum((x - guess) ** 2)) / (n + 1.0)
    before = np.concatenate([[0.5], guess[:-1]])
    variance = np.concatenate([[0.25], spread[:-1]])
    bets = np.minimum(np.sqrt(2.0 * math.log(1.0 / error) / (variance * n * np.log1p(n))), 0.5)
    # v · ψ(λ) with v = 4 (x − guess)² and ψ(λ) = (−log(1 − λ) − λ) / 4
    paid = np.cumsum((x - before) ** 2 * (-np.log1p(-bets) - bets))
    total = np.cumsum(bets)
    centre = np.cumsum(bets * x) / total
    radius = (math.log(1.0 / error) + paid) / total
    lower = np.maximum.accumulate(np.maximum(centre - radius, 0.0))
    upper = np.minimum.accumulate(np.minimum(centre + radius, 1.0))
    mean = np.cumsum(values) / n
    width = high - low
    return ConfidenceSequence(mean, low + width * lower, low + width * upper, 1.0 - 2.0 * error, "empirical Bernstein")


def _range(bounds: tuple[float, float], values: Array) -> tuple[float, float]:
    pair = [validate.number("bounds", one) for one in bounds]
    low, high = pair if len(pair) == 2 else (math.nan, math.nan)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise StratError.about("bounds", f"must be two numbers, the smaller one first, got {bounds!r}.")
    if values.min() < low or values.max() > high:
        raise StratError.about(
            "values", f"must lie within `bounds` ({low:g} to {high:g}), got {values.min():g} to {values.max():g}."
        )
    return low, high


def _first(reached: NDArray[np.bool_]) -> int | None:
    places = np.flatnonzero(reached)
    return int(places[0]) + 1 if len(places) else None
