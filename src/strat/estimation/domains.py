"""One number in each of very many domains at once: the closed form, its degrees of freedom and its limits.

Every formula is that of a single domain (:meth:`Design.restricted` and :func:`estimate`); only the sums are made for
all domains together. A domain's own estimate, with notes and covariances, is made when somebody asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from strat.base.validate.columns import Array, Codes
from strat.designs import Design
from strat.designs.lines import DomainLines
from strat.estimation.estimate import too_curved
from strat.estimation.inference import base_slopes
from strat.estimation.value_df import MOST_CLASSES, class_codes
from strat.measures.base import Rows, Statistic


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


@dataclass(frozen=True, eq=False)
class DomainRows:
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
    def defined(self) -> NDArray[np.bool_]:
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
class DomainSums:
    """What the lines of all domains add up to: influences, weights in what is looked at, in what is divided by, and
    in each true class (classes × lines), and rows over weight.
    """

    influence: Array
    inside: Array
    bases: Array | None
    by_class: Array
    per_weight: Array

    @classmethod
    def of_rows(cls, rows: DomainRows, place: Codes, lines: int) -> DomainSums:
        """The sums over rows that stand in memory."""

        def added(of_rows: Array) -> Array:
            return np.bincount(place, of_rows, minlength=lines).astype(float, copy=False)

        (codes, number), mass = rows.classes, added(rows.weights)
        by_class = np.stack([added(rows.weights * (codes == k)) for k in range(number)])
        bases = None if rows.bases is None else added(rows.weights * rows.bases)
        per_weight = np.divide(added(rows.counts), mass, out=np.zeros(lines), where=mass > 0)
        return cls(added(rows.weights * rows.influence), added(rows.inside), bases, by_class, per_weight)
