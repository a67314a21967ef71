"""Ordered designs: every k-th unit along an order, within strata or not; neighbours are compared.

The variance comes from differences of neighbours (Cochran 8.11; Wolter 2007, 8.2): of first order they let nothing but
jumps count, of higher order no smooth drift. What no difference can see is where the sample started: under a linear
trend the mean moves by up to half a step with it, and that is added where a trend shows, or taken out where the start
is known (Yates 1948). What comes back after some units of the sample may come back with its step, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError
from strat.base.notes import Note
from strat.base.text import counted
from strat.base.validate.columns import Array, Codes, encode, numbers, same_length
from strat.designs.facts import LayoutFacts
from strat.designs.layout import satterthwaite, sums

MOST_DIFFERENCES = 4  # the highest order of successive differences (Wolter 2007, 8.2)
CLEAR_TREND, ENOUGH = 4.0, 6  # how many standard errors of the slope from zero, in so many units or more
CLEAR_PERIOD, LONG = 1e-3, 30  # p-value of a period, in so many units or more
CYCLES, NEAR = 3, 6  # a period comes back so often; its line is held against so many frequencies to either side


@dataclass(frozen=True, eq=False)
class Ordered:
    """Lines that stand in the order in which they were drawn, stratum by stratum.

    Attributes
    ----------
    stratum
        For each line, its stratum; never decreasing.
    fraction
        For each stratum, the sampled share.
    order
        Of the differences: 1 compares two neighbours, 2 three, and so on.
    ends
        What the weight of each line was multiplied by to make up for where the sample started: the first and the last
        line of each stratum (None: the start is not known).
    """

    stratum: Codes
    fraction: Array
    order: int = 1
    ends: Array | None = None

    @property
    def corrected(self) -> bool:
        """Whether the weights of the ends make up for where the sample started."""
        return self.ends is not None

    @property
    def groupings(self) -> Mapping[str, Codes]:
        """Every line was drawn."""
        return {"unit": np.arange(len(self.stratum))}

    @cached_property
    def sizes(self) -> Codes:
        """Units of each stratum."""
        return np.bincount(self.stratum, minlength=len(self.fraction))

    @cached_property
    def _coefficients(self) -> Array:
        return np.array([(-1.0) ** k * comb(self.order, k) for k in range(self.order + 1)])

    @cached_property
    def _windows(self) -> Codes:
        """First lines of the runs of neighbours that lie in one stratum."""
        last = np.arange(len(self.stratum) - self.order)
        return last[self.stratum[last] == self.stratum[last + self.order]]

    @cached_property
    def stratum_df(self) -> Array:
        """Degrees of freedom of each stratum's mean square of differences.

        With m differences whose products at lag k expect r_k: (m r_0)² / (m r_0² + 2 sum of (m - k) r_k²), which is
        2 (n - 1)² / (3 n - 4) for first differences.
        """
        c, m = self._coefficients, (self.sizes - self.order).astype(float)
        products = [float(c[: len(c) - k] @ c[k:]) for k in range(len(c))]
        spread = m * products[0] ** 2
        for k, r in enumerate(products[1:], start=1):
            spread = spread + 2.0 * np.maximum(m - k, 0.0) * r**2
        return np.asarray((m * products[0]) ** 2 / spread)

    @property
    def nominal_df(self) -> float:
        """Of all strata that were not seen whole."""
        drawn = self.fraction < 1
        return float(self.stratum_df[drawn].sum() if drawn.any() else self.stratum_df.sum())

    def deviations(self, influence: Array, weights: Array) -> Array:
        """Differences of neighbours, and the trend of strata that have a clear one.

        Where ends weigh more or less, differences are those of even weights: the variance of a sum of independent
        values with these factors is the sum of their squares times that of one.
        """
        differences = self._differences(influence)
        return np.concatenate([differences, *self._trends(influence)])

    def _differences(self, influence: Array) -> Array:
        first, n, m = self._windows, self.sizes, (self.sizes - self.order).astype(float)
        each = influence if self.ends is None else influence / self.ends[:, None]
        differences = np.asarray(sum(c * each[first + k] for k, c in enumerate(self._coefficients)))
        squares = n if self.ends is None else np.bincount(self.stratum, self.ends**2)
        if self.corrected and self.order == 1:  # the line that the ends take out is no noise
            several = m > 1  # of one difference nothing would be left
            means = sums(self.stratum[first], differences, len(n)) * (several / m)[:, None]
            differences, m = differences - means[self.stratum[first]], np.where(several, m - 1.0 / m, m)
        scale = np.sqrt((1.0 - self.fraction) * squares / (m * (self._coefficients**2).sum()))
        return np.asarray(differences * scale[self.stratum[first]][:, None])

    def _slopes(self, influence: Array) -> tuple[Array, Array]:
        """For each stratum the slope of the influence a step, and how many of its standard errors it is from zero."""
        number = len(self.fraction)
        place = np.arange(len(self.stratum)) - np.searchsorted(self.stratum, np.arange(number))[self.stratum]
        x = place - ((self.sizes - 1) / 2.0)[self.stratum]
        squares = np.bincount(self.stratum, x**2, minlength=number)
        slopes, clear = [], []
        for z in influence.T:
            slope = np.bincount(self.stratum, x * z, minlength=number) / squares
            mean = np.bincount(self.stratum, z, minlength=number) / self.sizes
            rest = np.bincount(self.stratum, (z - mean[self.stratum] - slope[self.stratum] * x) ** 2, minlength=number)
            error = np.sqrt(rest / np.maximum(self.sizes - 2, 1) / squares)
            slopes.append(slope)
            rounding = 1e-12 * np.abs(z).max(initial=0.0)
            clear.append((np.abs(slope) > CLEAR_TREND * error) & (self.sizes >= ENOUGH) & (np.abs(slope) > rounding))
        return np.stack(slopes, axis=1), np.stack(clear, axis=1)

    def _trends(self, influence: Array) -> list[Array]:
        """Where the sample started moves its mean by a slope times a step, evenly: variance step² (1 - 1/k²) / 12."""
        slopes, clear = self._slopes(influence)
        if self.corrected or not clear.any():
            return []
        moved = slopes * (self.sizes * np.sqrt((1.0 - self.fraction**2) / 12.0))[:, None]
        return [np.where(clear, moved, 0.0)[clear.any(axis=1)]]

    def degrees_of_freedom(self, influence: Array, weights: Array) -> Array:
        """Satterthwaite's over the strata, no more than the differences of neighbours have."""
        differences = self._differences(influence)
        by_stratum = sums(self.stratum[self._windows], differences**2, len(self.fraction))
        pooled = (by_stratum**2 / self.stratum_df[:, None]).sum(axis=0)
        total = (self.deviations(influence, weights) ** 2).sum(axis=0)
        return np.minimum(satterthwaite(total, pooled, self.nominal_df), self.nominal_df)

    def notes(self, influence: Array, weights: Array) -> tuple[Note, ...]:
        """A trend along the order, and what comes back along it."""
        notes = []
        number = 0 if self.corrected else int(self._slopes(influence[:, :1])[1].sum())
        if number:
            notes.append(Note("trend", {"several": number if len(self.fraction) > 1 else None}))
        period = self.period(influence[:, 0])
        if period:
            notes.append(Note("period", {"period": period}))
        return tuple(notes)

    def period(self, z: Array) -> float:
        """After how many units values come back, where that is clear in some stratum (0: it is not)."""
        first = np.searchsorted(self.stratum, np.arange(len(self.fraction)))
        periods = [_period(z[a : a + n]) for a, n in zip(first, self.sizes, strict=True) if n >= LONG]
        return next((period for period in periods if period), 0.0)

    @property
    def facts(self) -> LayoutFacts:
        """What was drawn, and what the estimate is about."""
        units, strata = len(self.stratum), len(self.fraction)
        words = counted(units, "unit") + (f" in {counted(strata, 'stratum')}" if strata > 1 else "")
        if self.order > 1:
            words += f", differences of order {self.order}"
        limited = " (finitely many)" if (self.fraction > 0).any() else ""
        target = (
            f"the ordered population that these {units:,} units were drawn from{limited}, if nothing in it comes back "
            "with the period of the sample, which can't be seen"
        )
        return LayoutFacts((("unit", units),), words, target)


def _period(z: Array) -> float:
    """The period whose line stands out of the periodogram (0: none does).

    Where the spectrum is smooth, an ordinate over the mean of m near ones is F(2, 2m): P(more than x) = (1 + x/m)^-m.
    The nearest ones are left out, because a period between two frequencies shows in both.
    """
    n = len(z)
    x = np.arange(n) - (n - 1) / 2.0
    flat = z - z.mean() - (x @ z) / (x @ x) * x
    power = np.abs(np.fft.rfft(flat))[1:] ** 2
    if n % 2 == 0:
        power[-1] /= 2.0  # one degree of freedom, counted twice
    k = int(np.argmax(power[CYCLES - 1 :])) + CYCLES - 1
    around = np.concatenate([power[max(k - NEAR, 0) : max(k - 1, 0)], power[k + 2 : k + 1 + NEAR]])
    typical = float(around.mean())
    if power[k] <= 1e-20 * n**2 * float(np.abs(z).max(initial=0.0)) ** 2 or len(around) < 3:
        return 0.0
    tail = (1.0 + float(power[k]) / typical / len(around)) ** -len(around) if typical > 0 else 0.0
    return n / (k + 1) if len(power) * tail < CLEAR_PERIOD else 0.0


def places(order: ArrayLike, units: ArrayLike | None, strata: ArrayLike | None) -> Array:
    """The place of each row along the order; rows of a unit share theirs, and no others do in a stratum."""
    place = numbers("order", order, axes=1)
    if units is not None:
        codes, labels = encode("units", units)
        same_length(order=place, units=codes)
        first = np.full(len(labels), np.inf)
        np.minimum.at(first, codes, place)
        if (first[codes] != place).any():
            raise StratError.about("order", "must be the same for all rows of a unit, got units at several places.")
        place = np.lexsort((np.arange(len(labels)), first)).argsort()[codes].astype(float)
    else:
        rank = np.unique(place, return_inverse=True)[1]
        within = rank if strata is None else rank + (rank.max() + 1) * encode("strata", strata)[0]
        doubles = len(place) - len(np.unique(within))
        if doubles:
            raise StratError.about(
                "order",
                f"must distinguish all rows, got {doubles} at the place of another one; "
                "name their `units`, or give a finer order.",
            )
        place = rank.astype(float)
    return place


def end_factors(layout: Ordered, weights: Array, population: Array, start: Array) -> Array:
    """What the weight of each line is multiplied by so that a linear trend no longer moves the mean (Yates 1948).

    The mean place of the sample is off the population's by s = r + (n - 1) k / 2 - (N + 1) / 2, with r the place of its
    first unit and k = N / n; the mean minus s times the slope (last - first value) / ((n - 1) k) is exact on a line.
    """
    n, sizes = layout.sizes, population
    step = sizes / n
    shift = start + (n - 1) * step / 2.0 - (sizes + 1.0) / 2.0
    moved = n * shift / ((n - 1) * step)
    first = np.searchsorted(layout.stratum, np.arange(len(n)))
    mean = np.bincount(layout.stratum, weights) / n
    factors = np.ones(len(weights))
    factors[first] += moved * mean / weights[first]
    factors[first + n - 1] -= moved * mean / weights[first + n - 1]
    if (factors <= 0).any():
        raise StratError.about(
            "start", "must go with weights that are nearly equal, got an end that would weigh 0 or less."
        )
    return factors


def checked_starts(start: Array, population: Array, sizes: Codes) -> Array:
    """The place of the first unit of each stratum, counted from 1, within the first step."""
    if not np.isfinite(population).all():
        raise StratError.about(
            "start", "must come with `population`, which says how far the units of the sample lie apart."
        )
    step = np.ceil(population / sizes)
    if not ((start >= 1) & (start <= step)).all():
        wrong = np.flatnonzero(~((start >= 1) & (start <= step)))[0]
        raise StratError.about(
            "start",
            f"must be from 1 to the step of the sample ({step[wrong]:g}), got {start[wrong]:g}: the "
            "place of the first unit along the order of its population, counted from 1.",
        )
    return start


def ordered(stratum: Codes, fraction: Array, order: int) -> Ordered:
    """The layout of units in their order; each stratum must have enough of them."""
    if not 1 <= order <= MOST_DIFFERENCES:
        raise StratError.about("differences", f"must be a whole number from 1 to {MOST_DIFFERENCES}, got {order}.")
    layout = Ordered(stratum, fraction, order)
    if (layout.sizes <= order).any():
        least = int(layout.sizes.min())
        raise StratError.about(
            "order",
            f"must have at least {order + 1} places in every stratum, got {least}: neighbours can't be compared.",
        )
    return layout
