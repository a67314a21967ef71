"""Values of one measure in very many domains, with standard errors, degrees of freedom and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from strat.base.validate.columns import Array, Codes
from strat.designs import DesignFacts, variance
from strat.designs.lines import DomainLines
from strat.estimation import group_cautions
from strat.estimation.domain_shares import DomainShares
from strat.estimation.domains import DomainRows, DomainSums
from strat.estimation.facts import Inference, MeasureFacts
from strat.estimation.intervals import Limits
from strat.estimation.limits import limits, unvaried
from strat.estimation.result import Estimate
from strat.estimation.value_df import df_of_shares, df_of_values
from strat.measures.base import Axis
from strat.replication import CLOSED_FORM

_DESIGN = DesignFacts("simple random", rows=np.nan, units=0, drawn=0)  # limits do not look at it


@dataclass(frozen=True, eq=False)
class DomainValues:
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
    held: NDArray[np.bool_]
    shares: DomainShares | None
    lines: DomainLines
    influence: Array
    unit: Codes
    cautions: Mapping[str, NDArray[np.bool_]]

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

    def at(self, mask: NDArray[np.bool_]) -> DomainValues:
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

    def _estimate(self, mask: NDArray[np.bool_], *, own: bool = False) -> Estimate:
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


def domain_values(rows: DomainRows, sums: DomainSums, lines: DomainLines, unit: Codes) -> DomainValues:
    """The values of all domains, from their rows and from what these add up to in the lines, of these units."""
    share = rows.statistic.proportion
    weights = _looked_at(sums, lines, share=share)
    size, total = variance.kish_of_values(weights / lines.copies, lines), lines.sum(weights)
    part = lines.sum(weights * lines.on_lines(1.0 - lines.unseen))
    seen = np.divide(part, total, out=np.zeros_like(total), where=total > 0)
    held, shares = _of_units(rows.point, sums, weights, lines, share=share)
    deviations = variance.textbook_deviations(sums.influence, lines)
    nominal = variance.nominal_dfs(sums.inside > 0, lines)
    df = _degrees_of_freedom(rows, sums, weights, lines, nominal)
    return DomainValues(
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
        cautions=group_cautions.of_values(rows.statistic, rows.point, sums, lines, deviations, df, nominal),
    )


def _looked_at(sums: DomainSums, lines: DomainLines, *, share: bool) -> Array:
    """What each line weighs in what the value is a share of, or in the class that fewest units of its domain hold."""
    if sums.bases is not None:
        return sums.bases
    if share:
        return sums.inside
    sizes = np.stack([variance.kish_of_values(own, lines) for own in sums.by_class])
    fewest = np.where(sizes > 0, sizes, np.inf).argmin(axis=0)
    return np.take_along_axis(sums.by_class, lines.beside_lines(fewest)[None], axis=0)[0]


def _degrees_of_freedom(
    rows: DomainRows, sums: DomainSums, weights: Array, lines: DomainLines, nominal: Array
) -> Array:
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
    point: Array, sums: DomainSums, weights: Array, lines: DomainLines, *, share: bool
) -> tuple[NDArray[np.bool_], DomainShares | None]:
    """Which domains have limits of their own units, and what these hold."""
    held = (lines.total(lines.unseen) > 0) & (lines.sum(weights) > 0)
    hits = weights
    if share:
        hits = sums.influence * lines.beside_lines(lines.sum(weights)) + lines.beside_lines(point) * weights
        slack = 1e-7 * lines.beside_lines(lines.largest(np.abs(weights)))
        held &= lines.largest(np.where((hits < -slack) | (hits > weights + slack), 1.0, 0.0)) == 0
        hits = np.clip(hits, 0.0, weights)
    shares = DomainShares(hits, weights, weights * sums.per_weight, lines)
    held &= shares.clustered
    return held, shares.cut(held) if held.any() else None
