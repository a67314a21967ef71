"""Ways to limits that a measure brings along: averages over classes, the area under the ROC curve, means over items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.validate.columns import Array
from strat.designs import Design, variance
from strat.estimation import intervals
from strat.estimation.area_intervals import Placements, weight
from strat.estimation.facts import Way
from strat.estimation.inference import Holdings
from strat.estimation.intervals import Limits
from strat.estimation.macro_intervals import ClassCounts, LeftOut
from strat.estimation.pass_intervals import HAIR, effective_items
from strat.estimation.spread import Spread
from strat.measures.base import ClassAverage, ItemMean, Kind, Several, Statistic, made_of
from strat.measures.quotients import quotient

if TYPE_CHECKING:
    from strat.estimation.result import Estimate

FEW_ROWS = 5  # of a class, below which its F1 may be far off on average
BIASED = 0.45  # half-widths between a value and its corrected one, from which on a note says so
ROUNDING = 1e-9  # of the rows of a class: what sums leave of a class none of whose units is left


@dataclass(frozen=True, eq=False)
class OfClasses:
    """The way to the limits of an average over classes of which some have few rows.

    Attributes
    ----------
    counts
        Hits and rows of each class.
    df
        Degrees of freedom: units less strata.
    make
        Makes the average without each unit, when somebody asks (None: rows are the units).
    """

    counts: ClassCounts
    df: float
    make: Callable[[], LeftOut | None] | None = None
    method: ClassVar[str] = "classes"

    @cached_property
    def without_units(self) -> LeftOut | None:
        """The average without each unit (None: rows are the units, or are too many)."""
        return None if self.make is None else self.make()

    def __getstate__(self) -> dict[str, Any]:
        """With the averages themselves, for another process."""
        units = self.without_units
        return {"counts": self.counts, "df": self.df, "make": None, "without_units": units}

    def corrected(self, variance: float, level: float) -> tuple[float, float, float]:
        """Lower limit, the average without its bias, and upper limit."""
        alone = self.counts.alone
        effect = max(variance / alone, 1.0) if alone > 0 else 1.0
        return self.counts.limits(float(intervals.critical(level, self.df)), effect, self.without_units)

    def at(self, cut: Any) -> None:
        """There is one value."""

    def limits(self, one: Estimate, level: float) -> Limits:
        """Limits of the average; itself where nothing varied."""
        if not self.counts.alone > 0:
            return one.point, one.point
        low, _, high = self.corrected(float(one.variance), level)
        return np.asarray(low), np.asarray(high)


@dataclass(frozen=True, eq=False)
class OfPairs:
    """The way to the limits of areas: those on the logit scale up to .9, from .95 on those of what is out of place.

    Attributes
    ----------
    placed
        What the scores of both classes say.
    squares
        On how many equal squares each variance rests.
    """

    placed: Placements
    squares: Array
    method: ClassVar[str] = "placements"

    def at(self, cut: Any) -> OfPairs:
        """The way of some areas."""
        return OfPairs(self.placed.at(cut), np.atleast_1d(self.squares[cut]))

    def limits(self, one: Estimate, level: float) -> Limits:
        """Limits of the areas."""
        c, area, variance = (np.ravel(v) for v in (intervals.critical(level, one.usable_df), one.point, one.variance))
        low, high = intervals.by_logit(area, np.sqrt(variance), c)
        part = weight(area)
        near = (part > 0) & (variance > HAIR**2) & (self.placed.beyond > HAIR)
        if near.any():
            own = self.at(near)
            limits = own.placed.limits(variance[near], own.squares, c[near])
            turned = area[near] < 0.5
            for side, own_side, other in ((low, limits[0], limits[1]), (high, limits[1], limits[0])):
                side[near] += part[near] * (np.where(turned, 1.0 - other, own_side) - side[near])
        return low.reshape(one.point.shape), high.reshape(one.point.shape)


@dataclass(frozen=True, eq=False)
class OfItems:
    """The way to the limits of a mean over items of a value between 0 and 1.

    Attributes
    ----------
    above, below
        The shares of the units, by weight, whose values are above 0, and below 1.
    """

    above: Array
    below: Array
    method: ClassVar[str] = "items"

    def at(self, cut: Any) -> None:
        """There is one value."""

    def limits(self, one: Estimate, level: float) -> Limits:
        """Limits of the mean."""
        mean = np.clip(one.point, 0.0, 1.0)
        size = effective_items(mean, one.variance, one.effective_units, self.above, self.below)
        return intervals.by_wilson(mean, size, level, one.usable_df)


@dataclass(frozen=True, eq=False)
class OfEach:
    """The ways of several values.

    Attributes
    ----------
    each
        That of each value.
    """

    each: tuple[OfClasses | OfPairs | OfItems, ...]

    @property
    def method(self) -> str:
        """The method of all of them."""
        return self.each[0].method

    def at(self, cut: Any) -> Way | None:
        """That of one value, or of some."""
        place = cut[0] if isinstance(cut, tuple) else cut
        return self.each[place] if isinstance(place, int) else OfEach(tuple(self.each[k] for k in place))

    def limits(self, one: Estimate, level: float) -> Limits:
        """Limits of each value."""
        values = (one.at(label) for label in one.axes[0].labels)
        each = [way.limits(value, level) for way, value in zip(self.each, values, strict=True)]
        low, high = (np.array([float(np.asarray(pair[side])) for pair in each]) for side in (0, 1))
        return low, high


class Behind(Protocol):
    """What the rows behind a value tell of it, as far as it is needed here."""

    @property
    def size(self) -> float:
        """Number of rows that the measure looks at."""

    @property
    def totals(self) -> Array | None:
        """Their totals."""

    @property
    def parts(self) -> Callable[[Statistic], Estimate] | None:
        """The estimate of another statistic of the same rows."""


def own_way(held: Holdings, behind: Behind, spread: Spread) -> Way | None:
    """The way to limits that the statistic brings along (None: none that fits the design)."""
    kinds, design = made_of(held.statistic), held.design
    repeated = design.item is not None and bool((design.fraction > 0).any())
    if design.layout is not None or repeated or behind.totals is None or (design.fraction == 1).all():
        return None
    if not isinstance(kinds, Several):
        return None if kinds is None else _way(kinds, held, behind, spread, 0)
    ways = [_way(kind, held, behind, spread, value) for value, kind in enumerate(kinds.each)]
    known = tuple(way for way in ways if way is not None)
    return OfEach(known) if len(known) == len(ways) else None


def _way(
    kind: Kind, held: Holdings, behind: Behind, spread: Spread, value: int
) -> OfClasses | OfPairs | OfItems | None:
    """The way of one of the values."""
    assert behind.totals is not None
    if isinstance(kind, ClassAverage):
        return _of_classes(kind, held, behind, behind.totals, value)
    if isinstance(kind, ItemMean):
        return _of_items(held, value)
    negative, positive = kind.read(behind.totals)
    if not (negative.sum() > 0 and positive.sum() > 0):
        return None
    placed = Placements.of_histograms(negative, positive, behind.size)
    return OfPairs(placed, _squares(spread.scaled[:, value : value + 1], held.design))


def bias_note(name: str, point: Array, variances: Array, way: Way | None) -> tuple[Note, ...]:
    """What an average over classes of few rows is once its bias is taken off, where that matters."""
    few = 0 if not isinstance(way, OfClasses) else int((way.counts.rows < FEW_ROWS).sum())
    if not isinstance(way, OfClasses) or not few:
        return ()
    low, corrected, high = way.corrected(float(variances), 0.95)
    if abs(corrected - float(point)) <= BIASED * (high - low) / 2.0:
        return ()
    facts = {"measure": name, "few": few, "of": len(way.counts.rows), "rows": FEW_ROWS, "corrected": corrected}
    return (Note("rare-classes", facts),)


def _squares(deviations: Array, design: Design) -> Array:
    """On how many equal squares the variance of each value rests."""
    squares = deviations**2
    copies = design.copies[:, None] if len(squares) == design.lines else 1.0
    return quotient(squares.sum(axis=0) ** 2, (squares**2 / copies).sum(axis=0), 0.0)


def _of_items(held: Holdings, value: int) -> OfItems:
    """From what each unit adds to the mean, its own mean."""
    weights = held.weights[:, min(value, held.weights.shape[1] - 1)]
    part = weights / weights.sum()
    away = np.divide(held.sums.influence[:, value], part, out=np.zeros_like(part), where=part > 0)
    values = float(np.ravel(held.point)[value]) + away
    return OfItems(np.asarray(part @ (values > ROUNDING)), np.asarray(part @ (values < 1.0 - ROUNDING)))


def _of_classes(kind: ClassAverage, held: Holdings, behind: Behind, totals: Array, value: int) -> OfClasses | None:
    hits, rows = kind.read(totals)
    there = rows > 0
    if there.sum() < 2:
        return None
    design, views = held.design, held.inside.shape[1]
    view = min(value, views - 1)
    size = float(variance.kish_of_values(held.inside[:, [view]] / held.lines.copies, held.lines)[0])
    scale = (size if design.single_rows else behind.size) / float(held.sums.by_class[..., view].sum())
    unseen = float((~there).sum()) if kind.declared else 0.0
    counts = ClassCounts(hits[there] * scale, rows[there] * scale, kind.harmonic, unseen)
    parts, make = kind.counts(held.statistic), behind.parts
    df = float(np.ravel(np.broadcast_to(held.usual_df, views))[view])
    if design.single_rows or make is None or parts is None:
        return OfClasses(counts, df)
    point = float(np.ravel(held.point)[value])
    return OfClasses(counts, df, lambda: _left_out(kind, parts, make, design, point))


def _left_out(
    kind: ClassAverage, parts: Statistic, make: Callable[[Statistic], Estimate], design: Design, point: float
) -> LeftOut | None:
    """The average without each unit, from what units add to the counts of the classes."""
    plain = design.kind != "systematic" and bool((design.sizes > 1).all() and (design.copies == 1).all())
    if not plain or design.lines * int(np.prod(parts.shape)) > LIMITS.unit_shares:
        return None
    counts = make(parts)
    spread = counts.inference.spread
    if spread is None or len(spread.scaled) != design.lines:
        return None
    sizes, unseen = design.sizes[design.stratum], 1.0 - design.fraction[design.stratum]
    if (unseen == 0).any():
        return None
    lost = spread.scaled * np.sqrt(sizes / (sizes - 1.0) / unseen)[:, None]
    hits, rows = np.moveaxis((counts.point - lost.reshape(-1, *counts.point.shape)), 1, 0)
    held_by = rows > ROUNDING * counts.point[1]
    value = kind.value(np.divide(np.maximum(hits, 0.0), rows, out=np.zeros_like(rows), where=held_by))
    over = rows.shape[1] if kind.declared else held_by.sum(axis=1)
    return LeftOut((value * held_by).sum(axis=1) / over, point, design.stratum, unseen)
