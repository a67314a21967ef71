"""The table of influences: what each unit does to each of many values, and what it holds of what each rests on.

A value is a measure in a group of rows. Every formula is that of a single value (:func:`strat.estimate` on
:meth:`Design.restricted`); only the sums are made for all values together, from rows in memory or from those that an
engine has added up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes
from strat.designs import Design, DesignFacts, variance
from strat.designs.lines import DomainLines
from strat.estimation import cautions
from strat.estimation.estimate import too_curved
from strat.estimation.facts import Inference, MeasureFacts
from strat.estimation.inference import base_slopes
from strat.estimation.intervals import Limits
from strat.estimation.limits import limits, unvaried
from strat.estimation.result import Estimate
from strat.estimation.share_intervals import SHORTEST, Fit
from strat.estimation.value_df import (
    MOST_CLASSES,
    class_codes,
    class_sizes,
    df_of_shares,
    df_of_values,
    looked_at,
    sizes_and_seen,
)
from strat.measures.base import Axis, Rows, Statistic
from strat.replication import CLOSED_FORM

Mask = NDArray[np.bool_]

_DESIGN = DesignFacts("simple random", rows=np.nan, units=0, drawn=0)  # limits do not look at it
_FINE = float(1 << 43)  # parts of a hit rate that are distinguished: rounding moves it by less
_MIX, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


def fits(statistic: Statistic, design: Design) -> bool:
    """Whether the statistic, whose gradient works on the totals of many domains, can be had in all of them at once."""
    summed = all(block.codes is not None or block.values is not None for block in statistic.rows)
    plain = not statistic.axes and summed and statistic.quantile is None and not statistic.graded
    known = statistic.gradient is not None and statistic.sum_of is None and statistic.truth_classes <= MOST_CLASSES
    viewed = len(statistic.views) == 1 and (statistic.domain is None or statistic.proportion)
    repeated = design.item is not None and bool((design.fraction > 0).any())
    textbook = design.layout is None and design.kind != "systematic" and design.lone not in ("centre", "average")
    return plain and known and viewed and textbook and not repeated and not too_curved(statistic, design)


def lines_of(design: Design, unit: Codes, domain: Codes) -> tuple[DomainLines, Codes, Codes]:
    """The lines of all domains; for each row, of this unit and this domain, its line; and for each line its unit.

    As in the design of a single domain, the units of a stratum that the domain does not reach share one empty line,
    whose unit is -1.
    """
    distinct, place = np.unique(domain * design.lines + unit, return_inverse=True)
    owner, reached = np.divmod(distinct, design.lines)
    strata, home = np.unique(owner * design.n_strata + design.stratum[reached], return_inverse=True)
    of_domain, stratum = np.divmod(strata, design.n_strata)
    rest = design.sizes[stratum] - np.bincount(home, design.copies[reached])
    empty = np.rint(rest) > 0
    position = np.arange(len(distinct)) + (np.cumsum(empty) - empty)[home]
    behind = (np.cumsum(np.bincount(home)) + np.cumsum(empty) - 1)[empty]
    line_stratum, copies = np.empty(len(distinct) + len(behind), np.int64), np.empty(len(distinct) + len(behind))
    line_stratum[position], copies[position] = home, design.copies[reached]
    line_stratum[behind], copies[behind] = np.flatnonzero(empty), rest[empty]
    sizes, unseen = design.sizes[stratum].astype(float), 1.0 - design.fraction[stratum]
    units = np.full(len(line_stratum), -1)
    units[position] = reached
    return DomainLines(line_stratum, of_domain, copies, sizes, unseen, design.item is not None), position[place], units


def lines_of_designs(designs: Sequence[Design]) -> tuple[DomainLines, Codes]:
    """The lines of several designs, of each of which one value is measured, and the line of each of their rows."""

    def after(sizes: Sequence[int]) -> Codes:
        return np.cumsum(sizes) - np.asarray(sizes)

    strata, units = after([d.n_strata for d in designs]), after([d.lines for d in designs])
    lines = DomainLines(
        np.concatenate([d.stratum + start for d, start in zip(designs, strata, strict=True)]),
        np.repeat(np.arange(len(designs)), [d.n_strata for d in designs]),
        np.concatenate([d.copies for d in designs]),
        np.concatenate([d.sizes for d in designs]).astype(float),
        1.0 - np.concatenate([d.fraction for d in designs]),
        any(d.item is not None for d in designs),
    )
    return lines, np.concatenate([d.unit + start for d, start in zip(designs, units, strict=True)])


@dataclass(frozen=True, eq=False)
class ValueRows:
    """The rows of all domains with what each does to the value of its own.

    Attributes
    ----------
    statistic
        The measure of all rows; its function and gradient take the totals of each domain.
    weights, counts
        What each row weighs, and how many original rows it stands for.
    domain
        The domain of each row; each has rows.
    """

    statistic: Statistic
    weights: Array
    counts: Array
    domain: Codes

    def added(self, of_rows: Array) -> Array:
        """Sums over the rows of each domain."""
        return np.bincount(self.domain, of_rows).astype(float, copy=False)

    @cached_property
    def totals(self) -> Array:
        """Weighted totals: domains × components."""
        number, parts = int(self.domain.max()) + 1, []
        for block in self.statistic.rows:
            weights = block.weighted(self.weights)
            if block.values is None:
                assert block.codes is not None
                place = self.domain * block.lines + block.codes
                flat = np.bincount(place, weights, minlength=number * block.lines)
                parts.append(flat.reshape(number, block.lines)[:, : block.components].astype(float))
            else:
                values = _values(block)
                parts.append(np.stack([self.added(weights * column) for column in values.T], axis=1))
        return np.hstack(parts)

    @cached_property
    def _from_rows(self) -> tuple[Array, Array] | None:
        """The value of each domain and the influences, where these do not come from totals."""
        make = self.statistic.in_groups
        return None if make is None else make(self.statistic.rows[0], self.weights, self.domain)

    @cached_property
    def point(self) -> Array:
        """The value of each domain; not a number where it has none."""
        if self._from_rows is not None:
            return self._from_rows[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.statistic.function(self.totals), float)

    def through(self, slopes: Array) -> Array:
        """What each row does to something with these derivatives in its domain: domains × components."""
        effect, start = np.zeros(len(self.domain)), 0
        for block in self.statistic.rows:
            own = slopes[:, start : start + block.components]
            if block.values is None:
                padded = np.hstack([own, np.zeros((len(own), 1))])
                each = padded[self.domain, block.codes]
            else:
                each = (_values(block) * own[self.domain]).sum(axis=1)
            effect += block.weighted(each)
            start += block.components
        return effect

    @cached_property
    def influence(self) -> Array:
        """What a small weight on each row adds to the value of its domain."""
        if self._from_rows is not None:
            return np.asarray(np.nan_to_num(self._from_rows[1]))
        assert self.statistic.gradient is not None
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(self.through(self.statistic.gradient(self.totals)))

    @cached_property
    def bases(self) -> Array | None:
        """What each row adds to what the value is a share of (None: all that is looked at)."""
        slope = base_slopes(self.statistic)
        return None if slope is None else self.through(np.broadcast_to(slope[:, 0], self.totals.shape))

    @cached_property
    def inside(self) -> Array:
        """What each row weighs in what the measure looks at."""
        view = self.statistic.domain
        return self.weights if view is None else self.weights * view

    @cached_property
    def rows(self) -> Array:
        """Original rows of each domain that the measure looks at."""
        view = self.statistic.domain
        return self.added(self.counts if view is None else self.counts * view)

    @cached_property
    def defined(self) -> Mask:
        """Where the value is one: something is looked at, and divided by."""
        base = self.inside if self.bases is None else self.weights * self.bases
        return np.isfinite(self.point) & (self.added(self.inside) > 0) & (self.added(base) > 0)

    @cached_property
    def classes(self) -> tuple[Codes, int]:
        """The true class of each row (the last number: not looked at), and the number of classes."""
        codes, number = class_codes(self.statistic, self.statistic.domain)
        return np.zeros(len(self.domain), np.int64) if codes is None else codes, number

    @property
    def squares(self) -> Array:
        """Mean square of the rows' influences in each class: classes × domains."""
        codes, number = self.classes
        place = codes * (int(self.domain.max()) + 1) + self.domain
        size = (number + 1) * (int(self.domain.max()) + 1)
        mass = np.bincount(place, self.weights, minlength=size).reshape(number + 1, -1)[:number]
        sums = np.bincount(place, self.weights * self.influence**2, minlength=size).reshape(number + 1, -1)[:number]
        return np.asarray(sums / np.where(mass > 0, mass, 1.0))

    @property
    def srs(self) -> Array:
        """Variance of a simple random sample of as many rows."""
        mass = self.added(self.inside)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = self.added(self.inside * self.influence) / mass
            square = self.added(self.inside * (self.influence - mean[self.domain]) ** 2)
            return np.where(self.added(self.counts) < 2, np.nan, mass * square / np.maximum(self.rows - 1, 1))


def _values(block: Rows) -> Array:
    """What each row adds to each component."""
    assert block.values is not None
    return block.values if block.codes is None else block.values[block.codes]


@dataclass(frozen=True, eq=False)
class LineSums:
    """What the lines of all domains add up to: influences, weights in what is looked at, in what is divided by, and
    in each true class (classes × lines), all weights, and rows.
    """

    influence: Array
    inside: Array
    bases: Array | None
    by_class: Array
    mass: Array
    rows: Array

    @classmethod
    def of_rows(cls, rows: ValueRows, place: Codes, lines: int) -> LineSums:
        """The sums over rows that stand in memory."""

        def added(of_rows: Array) -> Array:
            return np.bincount(place, of_rows, minlength=lines).astype(float, copy=False)

        (codes, number), mass = rows.classes, added(rows.weights)
        by_class = np.stack([added(rows.weights * (codes == k)) for k in range(number)])
        bases = None if rows.bases is None else added(rows.weights * rows.bases)
        influence, inside = added(rows.weights * rows.influence), added(rows.inside)
        return cls(influence, inside, bases, by_class, mass, added(rows.counts))

    @cached_property
    def per_weight(self) -> Array:
        """Rows of each line over their weight (0 where they weigh nothing)."""
        return np.divide(self.rows, self.mass, out=np.zeros(len(self.mass)), where=self.mass > 0)


@dataclass(frozen=True, eq=False)
class ValueShares:
    """What each line of many domains adds to the share of its domain: weighted hits, weights and rows.

    Examples
    --------
    Two domains of two units each, of which the first units have equal shares:

    >>> lines = DomainLines(np.array([0, 0, 1, 1]), np.array([0, 1]), np.ones(4), np.full(2, 2.0), np.ones(2))
    >>> rows = np.array([5.0, 5.0, 5.0, 5.0])
    >>> low, high = ValueShares(np.array([5.0, 4.0, 5.0, 3.0]), rows, rows, lines).limits(0.95)
    >>> low.round(2).tolist()
    [0.45, 0.35]
    """

    hits: Array
    weights: Array
    rows: Array
    lines: DomainLines

    @property
    def clustered(self) -> Mask:
        """Whether a unit of the domain holds more than one row, or it has strata."""
        return (self.lines.strata > 1) | (self.lines.largest(self.rows / self.lines.copies) > 1.0 + SHORTEST)

    def cut(self, domains: Mask) -> ValueShares:
        """Those of some domains."""
        lines, kept = self.lines.cut(domains)
        return ValueShares(self.hits[kept], self.weights[kept], self.rows[kept], lines)

    def limits(self, level: float) -> Limits:
        """Lower and upper limit of each domain's share."""
        _, first, same = np.unique(self._contents(), axis=0, return_index=True, return_inverse=True)
        largest = self.lines.largest(self.rows / self.lines.copies)[first]
        single = self.lines.strata[first] == 1
        low, high = np.empty(len(first)), np.empty(len(first))
        for kind in (single, ~single):  # domains of large units stand together
            order = np.flatnonzero(kind)[np.argsort(largest[kind], kind="stable")]
            for start in range(0, len(order), LIMITS.domains_at_once):
                some = order[start : start + LIMITS.domains_at_once]
                low[some], high[some] = self._limits(first[some], level)
        return low[same.ravel()], high[same.ravel()]

    def _limits(self, domains: Codes, level: float) -> Limits:
        """Limits of a few domains, in the order in which they are named."""
        mask = np.zeros(len(self.lines.strata), bool)
        mask[domains] = True
        few = self.cut(mask)
        place = np.argsort(np.argsort(domains))
        low, high = Fit(few.hits, few.weights, few.rows, few.lines).limits(level)
        return low[place], high[place]

    def _contents(self) -> NDArray[np.uint64]:
        """Two numbers of 64 bits for each domain, equal where its lines hold the same in whatever order."""
        lines = self.lines
        rate = np.divide(self.hits, self.weights, out=np.zeros_like(self.hits), where=self.weights > 0)
        each = (np.rint(rate * _FINE), self.weights, self.rows, lines.copies)
        two = []
        for seed in (_MIX, _SECOND):
            of_strata = np.add.reduceat(_mixed(each, seed), np.flatnonzero(np.diff(lines.stratum, prepend=-1)))
            of_strata = _mixed((of_strata, lines.sizes, lines.unseen), seed)
            two.append(np.add.reduceat(of_strata, np.flatnonzero(np.diff(lines.domain, prepend=-1))))
        return np.stack(two, axis=1)


def _mixed(columns: tuple[NDArray[np.generic], ...], seed: np.uint64) -> NDArray[np.uint64]:
    """One number of 64 bits for each line of several columns."""
    mixed = np.full(len(columns[0]), seed)
    for column in columns:
        bits = np.ascontiguousarray(column if column.dtype == np.uint64 else column.astype(float) + 0.0).view(np.uint64)
        mixed = (mixed ^ bits) * _MIX
        mixed ^= mixed >> np.uint64(29)
        mixed = mixed * seed
        mixed ^= mixed >> np.uint64(32)
    return mixed


@dataclass(frozen=True, eq=False)
class TableValues:
    """One number for each domain.

    Attributes
    ----------
    measure
        How the values behave.
    point, variance, df, rows, units, srs
        As those of an estimate, of each domain.
    held
        Whether a domain has limits of its own units: those of a share, or of a value that did not vary.
    shares
        Hits, weights and rows of the lines of these domains (None: of none).
    lines, influence, unit
        The lines of the domains, what each adds to the value of its own, and which unit it is (-1: several without
        rows in the domain).
    weights, per_weight
        What each line weighs in all that is looked at, or in what the value is a share of, and rows over weight.
    cautions
        By code of a note, which of the values it is on.
    """

    measure: MeasureFacts
    point: Array
    variance: Array
    df: Array
    rows: Array
    units: Array
    srs: Array
    held: Mask
    shares: ValueShares | None
    lines: DomainLines
    influence: Array
    unit: Codes
    weights: Array
    per_weight: Array
    cautions: Mapping[str, Mask]

    def __len__(self) -> int:
        """Number of domains."""
        return len(self.point)

    @cached_property
    def se(self) -> Array:
        """Standard errors."""
        return np.sqrt(self.variance)

    @property
    def deff(self) -> Array:
        """Design effects."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.srs > 0, self.variance / self.srs, 1.0)

    def at(self, mask: Mask) -> TableValues:
        """The values of some domains."""
        if mask.all():
            return self
        arrays = {
            name: getattr(self, name)[mask] for name in ("point", "variance", "df", "rows", "units", "srs", "held")
        }
        shares = None if self.shares is None or not arrays["held"].any() else self.shares.cut(mask[self.held])
        lines, kept = self.lines.cut(mask)
        codes = {code: on[mask] for code, on in self.cautions.items()}
        return replace(
            self,
            **arrays,
            shares=shares,
            lines=lines,
            influence=self.influence[kept],
            unit=self.unit[kept],
            weights=self.weights[kept],
            per_weight=self.per_weight[kept],
            cautions=codes,
        )

    def spread(self, lines: int) -> Array:
        """What each line of the whole design adds to each value: lines × domains."""
        whole, filled = np.zeros((lines, len(self))), np.flatnonzero(self.unit >= 0)
        whole[self.unit[filled], self.lines.of_lines[filled]] = self.influence[filled]
        return whole

    def limits(self, level: float) -> Limits:
        """Lower and upper limit of each domain; not a number where there is one unit alone."""
        known = self.df > 0
        low, high = np.full(len(self), np.nan), np.full(len(self), np.nan)
        with_units = known & self.held
        if not self.measure.proportion:  # those limits are for what did not vary
            with_units &= unvaried(self._estimate(np.ones(len(self), bool)))
        for mask, own in ((known & ~with_units, False), (with_units, True)):
            if mask.any():
                low[mask], high[mask] = limits(self._estimate(mask, own=own), level, None)
        return low, high

    def naive(self, level: float) -> Limits:
        """The limits that independent rows would have given."""
        low, high = np.full(len(self), np.nan), np.full(len(self), np.nan)
        known = np.isfinite(self.srs) & (self.df > 0)
        alone = replace(
            self,
            variance=self.srs,
            df=np.maximum(self.rows - 1.0, 1.0),
            units=self.rows if self.measure.proportion else self.units,
        )
        if known.any():
            low[known], high[known] = limits(alone._estimate(known), level, None)
        return low, high

    def _estimate(self, mask: Mask, *, own: bool = False) -> Estimate:
        """Some of the domains as one estimate, with the limits of their own units if asked."""
        shares = self.shares.cut(mask[self.held]) if own and self.shares is not None else None
        parts = {"shares" if self.measure.proportion else "holders": shares}
        return Estimate(
            name="value",
            point=self.point[mask],
            variance=self.variance[mask],
            df=self.df[mask],
            design=_DESIGN,
            method=CLOSED_FORM,
            axes=(Axis("domain", tuple(range(int(mask.sum())))),),
            measure=self.measure,
            inference=Inference(effective_units=self.units[mask], **parts),  # type: ignore[arg-type]
        )


def table_values(rows: ValueRows, sums: LineSums, lines: DomainLines, unit: Codes) -> TableValues:
    """The values of all domains, from their rows and from what these add up to in the lines, of these units."""
    share = rows.statistic.proportion
    weights = looked_at(sums.inside, sums.by_class, lines, share=share) if sums.bases is None else sums.bases
    size, seen = sizes_and_seen(weights, lines)
    held, shares = _of_units(rows.point, sums, weights, lines, share=share)
    deviations = variance.textbook_deviations(sums.influence, lines)
    nominal = variance.nominal_dfs(sums.inside > 0, lines)
    df = _degrees_of_freedom(rows, sums, weights, lines, nominal)
    return TableValues(
        measure=MeasureFacts.of(rows.statistic),
        point=rows.point,
        variance=lines.sum(deviations**2),
        df=df,
        rows=rows.rows,
        units=variance.of_the_unseen(size, seen),
        srs=rows.srs,
        held=held,
        shares=shares,
        lines=lines,
        influence=sums.influence,
        unit=unit,
        weights=sums.inside if sums.bases is None else sums.bases,
        per_weight=sums.per_weight,
        cautions=noted_values(rows.statistic, rows.point, sums, lines, deviations, df, nominal),
    )


def _degrees_of_freedom(rows: ValueRows, sums: LineSums, weights: Array, lines: DomainLines, nominal: Array) -> Array:
    usual = variance.used_df(nominal, variance.effective_dfs(sums.inside, lines, nominal))
    if rows.statistic.proportion:
        own = df_of_shares(rows.point, sums.influence, weights, nominal, sums.per_weight, lines)
    else:
        squares = rows.squares
        own = df_of_values(sums.influence, sums.by_class, squares, sums.per_weight, lines)
        own = np.where(squares.any(axis=0), own, usual)
    if sums.bases is not None or len(sums.by_class) > 1:
        return own
    each = sums.by_class[0] / lines.copies
    least = -lines.largest(np.where(each > 0, -each, -np.inf))
    return np.where(lines.largest(each) <= 1.001 * least, usual, own)  # units of one weight


def _of_units(
    point: Array, sums: LineSums, weights: Array, lines: DomainLines, *, share: bool
) -> tuple[Mask, ValueShares | None]:
    """Which domains have limits of their own units, and what these hold."""
    held = (lines.total(lines.unseen) > 0) & (lines.sum(weights) > 0)
    hits = weights
    if share:
        hits = sums.influence * lines.beside_lines(lines.sum(weights)) + lines.beside_lines(point) * weights
        slack = 1e-7 * lines.beside_lines(lines.largest(np.abs(weights)))
        held &= lines.largest(np.where((hits < -slack) | (hits > weights + slack), 1.0, 0.0)) == 0
        hits = np.clip(hits, 0.0, weights)
    shares = ValueShares(hits, weights, weights * sums.per_weight, lines)
    held &= shares.clustered
    return held, shares.cut(held) if held.any() else None


def noted_values(
    statistic: Statistic,
    point: Array,
    sums: LineSums,
    lines: DomainLines,
    deviations: Array,
    df: Array,
    nominal: Array,
) -> dict[str, Mask]:
    """By code of a note, which of the values it is on."""
    still = _still(statistic, point, deviations, lines)
    single = lines.largest(sums.rows / lines.copies) <= 1.0
    noted = {"heavy-units": cautions.few_for_weight(df, nominal), "no-variation": still}
    if statistic.chance is not None and len(sums.by_class) > 1:
        noted["few-of-class"] = single & _few_of_a_class(sums, lines)
    if not cautions.is_share(statistic):
        return noted
    looked = ~single & (np.bincount(lines.of_lines) <= LIMITS.cautious_units)
    rows = sums.inside
    hits = sums.influence * lines.beside_lines(lines.sum(rows)) + lines.beside_lines(point) * rows
    rare = looked & _rare_in_few(hits, rows, lines)
    one = np.isin(point, (0.0, 1.0)) & (lines.largest(rows / lines.copies) > 1.0) & (lines.total(lines.unseen) > 0)
    calm, kinds = _how_units_differ(hits, rows, sums.per_weight, lines)
    few = looked & ~still & (lines.strata == 1)
    noted |= {"few-holders": rare, "one-outcome": looked & one, "few-units": few & calm}
    kinds &= few & ~rare
    for value in np.flatnonzero(kinds):
        kinds[value] = _of_two_kinds(hits, rows, sums.per_weight, lines, int(value))
    return {**noted, "two-kinds": kinds}


def _few_of_a_class(sums: LineSums, lines: DomainLines) -> Mask:
    return np.asarray(class_sizes(sums.by_class / lines.copies, lines).min(axis=0) < cautions.FEW_OF_A_CLASS)


def _still(statistic: Statistic, point: Array, deviations: Array, lines: DomainLines) -> Mask:
    (low, high) = statistic.bounds
    at_an_end = ((point == low) | (point == high)) & bool(-np.inf < low and high < np.inf)
    moved = lines.largest(np.abs(deviations)) > cautions.ROUNDING * np.abs(point)
    return np.asarray(~moved & ~at_an_end & (lines.total(lines.unseen) > 0))


def _rare_in_few(hits: Array, rows: Array, lines: DomainLines) -> Mask:
    mostly = lines.beside_lines(2.0 * lines.sum(hits) <= lines.sum(rows))
    rarer = np.where(mostly, hits, rows - hits)
    rarer = np.where(rarer > cautions.ALL_BUT * rows, rarer, 0.0)
    held = lines.sum((rarer > 0).astype(float))
    return np.asarray((held > 0) & cautions.too_few(_kish(rarer, lines), _kish(rows, lines)))


def _kish(amounts: Array, lines: DomainLines) -> Array:
    squares = lines.sum(amounts**2)
    return np.divide(lines.sum(amounts) ** 2, squares, out=np.zeros_like(squares), where=squares > 0)


def _how_units_differ(hits: Array, rows: Array, per_weight: Array, lines: DomainLines) -> tuple[Mask, Mask]:
    """Few units that hardly differ, and few units that may be of two kinds."""
    units = lines.sum(lines.copies * (rows > 0))
    each, own, drawn = rows * per_weight, hits * per_weight, lines.sum(lines.copies)
    whole = lines.sum(each)
    p = np.divide(lines.sum(own), whole, out=np.zeros_like(whole), where=whole > 0)
    off = lines.sum((own - lines.beside_lines(p) * each) ** 2 / lines.copies)
    square = off * units / np.maximum(units - 1.0, 1.0)
    some = (units > 1) & (units < cautions.KINDS_COUNT) & (drawn >= units) & (p > 0) & (p < 1)
    some &= lines.largest(each / lines.copies) > 1.0 + 1e-9
    calm = square <= cautions.CALM * whole * p * (1.0 - p)
    return some & calm & (units < cautions.SHOWS_A_TENTH), some & ~calm


def _of_two_kinds(hits: Array, rows: Array, per_weight: Array, lines: DomainLines, value: int) -> bool:
    own = lines.of_lines == value
    each = per_weight[own]
    return cautions.of_kinds(hits[own] * each, rows[own] * each, lines.copies[own]) is not None
