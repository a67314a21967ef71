"""Limits of a value of two phases: how often the judge is right, in each of its answers, among the labelled rows.

A judge who agrees with forty labels may still be wrong in one row of twenty. Where each row counts as one of two
things, as in a share, an accuracy or an F1, the rows are parted by what is known of all of them: what the judge says,
and what its word leaves open. In each part g the labels are a sample of a share p_g with Jeffreys' limits l_g, u_g,
and the value is Σ W_g v_g with v_g linear in p_g. Its limits are

    low = θ − √(Σ W_g² (v_g − v(l_g))² + t² V),

V the design's variance of the mean of v_g over all rows, and high in the same way (MOVER, Zou and Donner 2008). Where
rows count as numbers, the variance gets what one more label that differs by one step would add.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy  # its parts load when they are first used: `import strat` stays light
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes
from strat.estimation.functions import Difference
from strat.measures.base import Statistic
from strat.measures.means import mean

if TYPE_CHECKING:
    from strat.estimation.result import Estimate

HITS_ADDED = 1 / 3  # to the hits and to the misses among the labels of each of several parts
HITS_ADDED_TO_ALL = 1 / 2  # to those of a single part: Jeffreys' limits
HITS_ADDED_TO_PAIRS = 1 / 4  # to the labels that only one of two systems has right, and to the others
CORRELATION = 0.2  # within units, of what the judge gets wrong, that is believed before an error is seen
CORRELATION_UNITS = 2.0  # units with an error that this belief counts for
ANSWERS = 3  # of the judge up to which each makes a part; more are numbers
LABELS_OF_TWO, LABELS_OF_THREE = 30, 200  # labels below which numbers of the judge make two, or three parts; then four
PLACES = 120  # where a judge's numbers may be cut
KINDS = 8  # of rows, by what they may count as, up to which each makes a part
ROUNDING = 1e-9  # of what a row counts as


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each row counts as in each value: the value is the weighted mean of these.

    Attributes
    ----------
    chosen
        Which rows are labelled.
    weights, inverse
        Of each row: its weight, and one over its probability of being labelled.
    unit
        The unit of each row (None: rows are units).
    counted
        What the labelled rows count as, by their labels: labelled rows × values.
    forecast
        What rows count as by the judge: rows × values.
    either
        What rows count as if the judge is right, and if it is wrong: rows × values each (None: 0 or 1 in a share,
        anything elsewhere).
    shares
        Whether rows count as 0 or 1.
    held
        Whether λ is fixed, not fitted.
    """

    chosen: NDArray[np.bool_]
    weights: Array
    inverse: Array
    unit: Codes | None
    counted: Array
    forecast: Array
    either: tuple[Array, Array] | None
    shares: bool
    held: bool

    def of(self, first: int, second: int | None) -> Parted | float:
        """The rows of one value, or of a difference of two, in parts; else what one label more by one step does."""

        def taken(values: Array) -> Array:
            return values[:, first] - (0.0 if second is None else values[:, second])

        counted, forecast = taken(self.counted), taken(self.forecast)
        if self.either is not None:
            right, wrong = (taken(side) for side in self.either)
            levels = np.round(np.column_stack([np.minimum(right, wrong), np.maximum(right, wrong)]), 9)
            kinds, kind = np.unique(levels, axis=0, return_inverse=True)
            if len(kinds) <= KINDS:
                part = _parts(forecast, self.chosen, np.ravel(kind))
                low, high = levels[np.unique(part, return_index=True)[1]].T
                return Parted.of(self, part, low, (high - low, np.zeros(len(low))), counted, forecast)
        elif self.shares:
            part = _parts(forecast, self.chosen, np.zeros(len(forecast), np.intp), join=second is not None)
            one = np.ones(part.max() + 1)
            return Parted.of(self, part, 0.0 * one, (one, 0.0 * one if second is None else one), counted, forecast)
        steps, word = (np.diff(np.unique(np.round(v, 9))) for v in (counted, forecast[self.chosen]))
        return float(min(steps, default=min(word, default=0.0))) / len(counted)


def _parts(forecast: Array, chosen: NDArray[np.bool_], kind: Codes, *, join: bool = False) -> Codes:
    """Rows by kind, and within each by what the judge says.

    A part without labels joins its neighbour, but not one of two answers: what a judge's "no" is worth can't be learnt
    from its "yes". Of differences it does, which are 0 in most rows of any part.
    """
    part, number = np.zeros(len(kind), np.intp), 0
    for one in np.unique(kind):
        inside = kind == one
        own = _answers(forecast[inside], int(chosen[inside].sum()))
        labels = np.bincount(own[chosen[inside]], minlength=own.max() + 1)
        filled = np.flatnonzero(labels)
        if len(filled) and (join or len(labels) > 2):
            nearest = np.abs(np.arange(len(labels))[:, None] - filled).argmin(axis=1)
            own = nearest[own]
        part[inside] = number + own
        number = part[inside].max() + 1
    return part


def _answers(forecast: Array, labels: int) -> Codes:
    """The judge's answers, if these are few, else its numbers in groups with the least sum of squares within."""
    values, codes, counts = np.unique(np.round(forecast, 9), return_inverse=True, return_counts=True)
    if len(values) <= ANSWERS:
        return np.ravel(codes)
    number = 2 if labels < LABELS_OF_TWO else 3 if labels < LABELS_OF_THREE else 4
    return _groups(values, counts.astype(float), number)[np.ravel(codes)]


def _groups(values: Array, counts: Array, number: int) -> Codes:
    """Sorted values in so many groups with the least sum of squares within them, by recursion over places to cut."""
    places = np.arange(len(values) + 1)
    if len(values) > PLACES:
        places = np.searchsorted(np.cumsum(counts), np.linspace(0, counts.sum(), PLACES + 1))
        places = np.unique([*places, len(values)])
    centred = values - values.mean()
    size, sums, squares = (
        np.append(0.0, np.cumsum(v))[places] for v in (counts, counts * centred, counts * centred**2)
    )
    within = (squares - squares[:, None]) - (sums - sums[:, None]) ** 2 / np.maximum(size - size[:, None], 1.0)
    within[np.tril_indices(len(places))] = np.inf
    least, steps = within[0], []
    for _ in range(number - 1):
        each = least[:, None] + within
        steps.append(each.argmin(axis=0))
        least = each.min(axis=0)
    at, group = len(places) - 1, np.zeros(len(values), np.intp)
    for step in reversed(steps):
        at = step[at]
        group[places[at] :] += 1
    return group


@dataclass(frozen=True, eq=False)
class Parted:
    """A value of two phases as a sum over parts of the rows, in each of which labels are a sample.

    Attributes
    ----------
    sizes
        The share of all rows in each part.
    base, steps
        What a row of a part counts as at least or by default, and by how much more or less.
    up, down
        The share of the labels that count as more, and as less.
    labels
        How many labels each part has, of equal weight.
    effect, units
        By how much the variance of the labels' residuals is larger than of single rows; units that hold labels.
    means
        What each row counts as on average in its part: for the variance of the sample of all rows.
    offset
        Variance of the mean over the labels of what a fixed λ leaves of these means (None: λ is fitted).
    clustered
        Whether the units of rows are known.
    """

    sizes: Array
    base: Array
    steps: tuple[Array, Array]
    up: Array
    down: Array
    labels: Array
    effect: float
    units: int
    means: Array
    offset: float | None
    clustered: bool

    @classmethod
    def of(
        cls,
        rows: Contributions,
        part: Codes,
        base: Array,
        steps: tuple[Array, Array],
        counted: Array,
        forecast: Array,
    ) -> Parted:
        """What the labels say of each part."""
        number, own = len(base), part[rows.chosen]
        mass = (rows.weights * rows.inverse)[rows.chosen]
        total, squares = (np.bincount(own, m, minlength=number) for m in (mass, mass**2))
        labels = np.divide(total**2, squares, out=np.zeros(number), where=squares > 0)
        above = counted - base[own]
        some = total > 0

        def share(where: NDArray[np.bool_], unknown: float) -> Array:
            hits = np.bincount(own, mass * where, minlength=number)
            return np.divide(hits, total, out=np.full(number, unknown), where=some)

        up = share(above > 0.5 * steps[0][own], 0.5)
        down = share(above < -0.5 * steps[1][own], 0.0) * (steps[1] > 0)
        mean_of = base + steps[0] * up - steps[1] * down
        residual = (counted - mean_of[own]) * mass
        effect, units = 1.0, len(own)
        if rows.unit is not None:
            effect, units = _effect(residual, rows.unit[rows.chosen])
        sizes = np.bincount(part, rows.weights, minlength=number) / rows.weights.sum()
        offset = None
        if rows.held:
            left = mean_of[part] - forecast
            spread = np.average((left - np.average(left, weights=rows.weights)) ** 2, weights=rows.weights)
            offset = float(spread) * effect * float((mass**2).sum() / mass.sum() ** 2)
        clustered = rows.unit is not None
        return cls(sizes, base, steps, up, down, labels, effect, units, mean_of[part], offset, clustered)

    @property
    def value(self) -> float:
        """The value."""
        return float(self.sizes @ (self.base + self.steps[0] * self.up - self.steps[1] * self.down))

    @property
    def step(self) -> float:
        """What one more label that says otherwise does to the value."""
        steps = np.concatenate(self.steps)
        return float(steps[steps > 0].min(initial=1.0) / self.labels.sum())

    def knows_units_of(self, one: Estimate) -> bool:
        """Whether the design has no other units than these."""
        return one.design.layout is None and (self.clustered or one.design.single_rows)

    def limits(self, point: float, level: float, df: float, variance: float) -> tuple[float, float]:
        """The limits, which hold the value itself."""
        below, above = self.distances(level, df, variance)
        centre = self.value if self.offset is None else point
        least, most = self.sizes @ (self.base - self.steps[1]), self.sizes @ (self.base + self.steps[0])
        low, high = np.clip([centre - below, centre + above], least, most)
        return min(float(low), point), max(float(high), point)

    def distances(self, level: float, df: float, variance: float) -> tuple[float, float]:
        """How far the limits lie below and above the value; `variance`: of the mean of `means` over all rows."""
        z = float(scipy.special.ndtri((1.0 + level) / 2.0))
        t = float(scipy.special.stdtrit(df, (1.0 + level) / 2.0)) if np.isfinite(df) else z
        labels = self.labels * ((z / t) ** 2 / self.effect)
        several = np.count_nonzero(self.sizes * (self.steps[0] + self.steps[1])) > 1
        two_sided = bool(self.steps[1].any())
        added = HITS_ADDED_TO_PAIRS if two_sided else HITS_ADDED if several else HITS_ADDED_TO_ALL
        (up_low, up_high), (down_low, down_high) = (
            _jeffreys(share * labels, labels, added, (1.0 - level) / 2.0) for share in (self.up, self.down)
        )
        rest = (1.0 - self.up) * (1.0 - self.down)
        odds = np.divide(self.up * self.down, rest, out=np.zeros_like(rest), where=rest > 0)
        together = np.sqrt(odds)  # minus the correlation of two shares of the same labels
        a, b = self.steps
        below, above = (
            x**2 + y**2 + 2.0 * together * x * y
            for x, y in ((a * (self.up - up_low), b * (down_high - self.down)),
                         (a * (up_high - self.up), b * (self.down - down_low)))
        )  # fmt: skip
        drawn = t * t * (variance + (self.offset or 0.0))
        return tuple(float(np.sqrt(self.sizes**2 @ side + drawn)) for side in (below, above))  # type: ignore[return-value]


def _jeffreys(hits: Array, number: Array, added: float, tail: float) -> tuple[Array, Array]:
    """Limits of shares, 0 and 1 where all labels are the same; and never on the wrong side of the share."""
    share = np.divide(hits, number, out=np.full(number.shape, 0.5), where=number > 0)
    a, b = hits + added, number - hits + added
    low = np.where(hits > ROUNDING, scipy.special.betaincinv(a, b, tail), 0.0)
    high = np.where(hits < number - ROUNDING, scipy.special.betaincinv(a, b, 1.0 - tail), 1.0)
    return np.minimum(low, share), np.maximum(high, share)


def _effect(residual: Array, unit: Codes) -> tuple[float, int]:
    """By how much residuals of rows in units vary more than those of single rows, and the number of units.

    Their correlation is drawn towards what is believed before an error is seen.
    """
    own = np.unique(unit, return_inverse=True)[1]
    size, sums, squares = (np.bincount(own, v) for v in (np.ones(len(own)), residual, residual**2))
    units, most = len(size), float((size**2).sum() / size.sum())
    wrong = float((squares > 0).sum())
    seen = 0.0
    if wrong and most > 1.0:
        ratio = float((sums**2).sum()) * units / max(units - 1, 1) / float(squares.sum())
        seen = min(max((ratio - 1.0) / (most - 1.0), 0.0), 1.0)
    correlation = (wrong * seen + CORRELATION_UNITS * CORRELATION) / (wrong + CORRELATION_UNITS)
    return 1.0 + (most - 1.0) * correlation, units


@dataclass(frozen=True, eq=False)
class PhaseLimits:
    """The way to the limits of values of two phases, and of their differences.

    Attributes
    ----------
    make
        What rows count as, when somebody asks.
    estimated
        Estimates a mean of all rows under the design.
    first, second
        The places of the values, and of those that are subtracted from them (None: nothing is).
    known
        The parts of values that somebody asked for, each with the variance of the mean over all rows.
    """

    make: Callable[[], Contributions] | None
    estimated: Callable[[Statistic], Estimate] | None
    first: NDArray[np.intp]
    second: NDArray[np.intp] | None = None
    known: dict[tuple[int, int | None], tuple[Parted | float, float]] = field(default_factory=dict, repr=False)
    method: ClassVar[str] = "mover"

    def __getstate__(self) -> dict[str, Any]:
        """With the parts themselves, for another process."""
        places = np.ravel(self.first).tolist()
        for pair in self.pairs():
            self.parts(*pair)
        if self.second is None and len(places) <= LIMITS.kept_pairs:
            for a in places:
                for b in places:
                    self.parts(a, b)
        return {name: v for name, v in vars(self).items() if name != "_rows"} | {"make": None, "estimated": None}

    def limits(self, one: Estimate, level: float) -> tuple[Array, Array]:
        """Limits of each value by the parts of its rows, or with one more label that differs by one step."""
        shape, whole = one.point.shape, [self.parts(*pair) for pair in self.pairs()]
        df, point = (np.broadcast_to(v, shape).ravel() for v in (one.usable_df, one.point))
        low, high = np.full((2, len(whole)), np.nan)
        for k, (parts, variance) in enumerate(whole):
            if isinstance(parts, Parted) and np.isfinite(variance) and parts.knows_units_of(one):
                low[k], high[k] = parts.limits(float(point[k]), level, float(df[k]), variance)
        if np.isnan(low).any():
            more = np.array([parts.step if isinstance(parts, Parted) else parts for parts, _ in whole]).reshape(shape)
            plain = one.changed(variance=one.variance + more**2).interval(level)
            low, high = (np.where(np.isnan(a), np.ravel(b), a) for a, b in zip((low, high), plain, strict=True))
        return low.reshape(shape), high.reshape(shape)

    def parts(self, first: int, second: int | None) -> tuple[Parted | float, float]:
        """The rows of a value or of a difference in parts, and the design's variance of the mean of all rows.

        The variance is no number where the design weighs rows otherwise than the parts do.
        """
        if (first, second) not in self.known:
            assert self.make is not None
            assert self.estimated is not None
            parts, variance = self._rows.of(first, second), np.nan
            if isinstance(parts, Parted):
                drawn = self.estimated(mean(parts.means))
                alike = abs(float(drawn.point) - parts.value) <= 1e-6 * max(1.0, abs(parts.value))
                variance = float(drawn.variance) if alike else np.nan
                parts = replace(parts, means=np.zeros(0))
            self.known[first, second] = parts, variance
        return self.known[first, second]

    @cached_property
    def _rows(self) -> Contributions:
        assert self.make is not None
        return self.make()

    def pairs(self) -> list[tuple[int, int | None]]:
        """The place of each value, and of what is subtracted from it."""
        first = np.ravel(self.first).tolist()
        return list(
            zip(first, [None] * len(first) if self.second is None else np.ravel(self.second).tolist(), strict=True)
        )


def phases_at(way: object, cut: Any) -> PhaseLimits | None:
    """The way to the limits of a part of the values; None where it is of another kind."""
    if not isinstance(way, PhaseLimits):
        return None
    second = None if way.second is None else np.asarray(way.second[cut])
    return replace(way, first=np.asarray(way.first[cut]), second=second)


def phases_mapped(way: object, function: Any) -> PhaseLimits | None:
    """The way to the limits of a difference of two values; None for other functions of them, and other ways."""
    if not isinstance(way, PhaseLimits) or not isinstance(function, Difference) or way.second is not None:
        return None
    first, second = (np.asarray(place) for place in function.parts(way.first))
    image = replace(way, first=first, second=second)
    return image if way.make is not None or set(image.pairs()) <= set(way.known) else None
