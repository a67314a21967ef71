"""From what each unit does to each value to standard errors, degrees of freedom and effective sizes: one road.

Whatever the source (rows in memory, distinct rows with their numbers, sums that an engine made), it fills the same
small table, `UnitSums`; everything after that is here and in :mod:`strat.designs.variance`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from strat.base import validate
from strat.base.errors import StratError, one_of
from strat.base.limits import LIMITS
from strat.base.validate.columns import Array
from strat.designs import Design, variance
from strat.designs.factored import Factored, Influence
from strat.designs.lines import DesignLines
from strat.estimation import linear
from strat.estimation.totals import sparse_unit_totals
from strat.estimation.unit_shares import UnitShares
from strat.estimation.value_df import (
    df_of_shares,
    df_of_values,
    looked_at,
    rows_by_class,
    sizes_and_seen,
    weights_by_class,
)
from strat.measures.base import Statistic
from strat.replication import Replicates


class UnitSums(Protocol):
    """What inference needs to know of each line of a design.

    Attributes
    ----------
    influence
        What the line adds to each value, to first order: lines × outputs.
    by_class
        For each view, what the line weighs in each true class: classes × lines × views.
    bases
        For each value, what the line weighs in what the value is a share of: lines × outputs (None: its view).
    repeats
        Lines whose squares are the variance of the repeats of items, where these are a second stage.
    """

    @property
    def influence(self) -> Array:
        """Lines × outputs."""

    @property
    def by_class(self) -> Array:
        """Classes × lines × views."""

    @property
    def bases(self) -> Array | None:
        """Lines × outputs."""

    @property
    def repeats(self) -> Array | None:
        """Lines of the second stage × outputs."""


@dataclass(frozen=True, eq=False)
class GivenSums:
    """Sums that somebody else has made: an engine that holds the rows."""

    influence: Array
    by_class: Array
    bases: Array | None = None
    repeats: Array | None = None


class RowSums:
    """Sums over the rows of a design, each made when it is first needed."""

    def __init__(self, statistic: Statistic, design: Design, totals: Array) -> None:
        self.statistic, self.design, self.totals = statistic, design, totals

    @cached_property
    def gradient(self) -> Array:
        """The derivative of the statistic at its totals: components × outputs."""
        return linear.gradient(self.statistic, self.totals, self.design.weights)

    @cached_property
    def influence(self) -> Array:
        """What each line adds to each value."""
        with np.errstate(divide="ignore", invalid="ignore"):
            influence = self._influence()
        if not np.isfinite(influence).all():
            raise StratError(
                f"`{self.statistic.name}` must be defined near these weights too for the closed form, got a value that "
                "is not; use replicates such as fay(design, rho=0.5)."
            )
        return influence

    @cached_property
    def factored(self) -> Factored | None:
        """The same as a product that is not written out, where it is one."""
        if self.statistic.factored_gradient is None:
            return None
        left, right = self.statistic.factored_gradient(self.totals)
        return Factored(sparse_unit_totals(self.statistic, self.design) @ left, right)

    def _influence(self) -> Array:
        if self.statistic.sparse_gradient is not None:
            per_unit = sparse_unit_totals(self.statistic, self.design)
            return np.asarray((per_unit @ self.statistic.sparse_gradient(self.totals)).todense())
        if self.factored is not None:
            return self.factored.dense()
        if self.statistic.of_weights or self.statistic.quantile is not None:
            return linear.weights_influence(self.statistic, self.design)
        return linear.unit_influence(self.statistic, self.design, self.gradient)

    @cached_property
    def by_class(self) -> Array:
        """What each line weighs in each class of each view."""
        return weights_by_class(self.statistic, self.design)

    @cached_property
    def bases(self) -> Array | None:
        """What each line weighs in what each value is a share of."""
        slope = base_slopes(self.statistic)
        return None if slope is None else linear.unit_influence(self.statistic, self.design, slope)

    @property
    def repeats(self) -> Array | None:
        """The second stage, if there is one that counts."""
        design = self.design
        if self.statistic.of_weights or design.item is None or not (design.fraction > 0).any():
            return None
        each = linear.row_influence(self.statistic, self.gradient) * design.weights[:, None]
        return variance.repeat_deviations(each, design)


def influence_of(sums: UnitSums, design: Design) -> Influence:
    """What each line adds to each value, as a product where it is one and the design has use for it."""
    product = sums.factored if isinstance(sums, RowSums) else None
    return sums.influence if product is None or not variance.takes_products(design, product.shape[1]) else product


def base_slopes(statistic: Statistic) -> Array | None:
    """By how much each component adds to what each value is a share of: components × outputs (None: not known)."""
    number = statistic.components
    if statistic.base is None or number > LIMITS.share_components:
        return None
    return np.asarray(statistic.base(np.eye(number)), float).reshape(number, -1)


def each_value(statistic: Statistic, by_view: Array) -> Array:
    """A number for each value, from one for each view; the values of one view stand together."""
    runs = int(np.prod(statistic.shape)) // len(by_view)
    return np.repeat(by_view, runs).reshape(statistic.shape)


def closed_form(held: Holdings) -> Array:
    """Lines whose squares are the variance of the values: m × shape."""
    sums, design, shape = held.sums, held.design, held.point.shape
    inside = held.inside.T if design.layout is not None else None
    spread = variance.deviations(influence_of(sums, design), design, inside)
    repeats = sums.repeats
    if repeats is not None:
        spread = np.concatenate([spread, repeats])
    return spread.reshape(len(spread), *shape)


def degrees_of_freedom(held: Holdings, replicates: Replicates | None, df: float | str | None) -> Array:
    """Degrees of freedom of each value, by what each unit can do to it."""
    statistic, sums, design = held.statistic, held.sums, held.design
    if isinstance(df, str):
        one_of("df", df, ("design", "effective", "satterthwaite"))
    if design.layout is not None and replicates is None and df in (None, "effective", "satterthwaite"):
        return variance.layout_df(influence_of(sums, design), design, held.inside.T).reshape(statistic.shape)
    if isinstance(df, str):
        if df == "satterthwaite":
            return variance.satterthwaite_df(variance.deviations(sums.influence, design), design).reshape(
                statistic.shape
            )
        return each_value(statistic, held.nominal_df if df == "design" else held.effective_df)
    if df is not None:
        if not validate.number("df", df) > 0:
            raise StratError.about(
                "df", f"must be positive, 'design', 'effective', 'satterthwaite' or None, got {df!r}."
            )
        return np.full(statistic.shape, float(df))
    if replicates is not None and replicates.df != design.df:
        whole = (held.inside > 0).all(axis=0)  # a view gives replicates no more than its units have
        most = np.where(whole, replicates.df, np.minimum(replicates.df, held.nominal_df))
        return each_value(statistic, most)
    return held.df().reshape(statistic.shape)


def _all_equal(weights: Array) -> bool:
    """Whether all units of each view that hold something hold the same."""
    held = (view if view.min(initial=np.inf) > 0 else view[view > 0] for view in weights)
    return all(view.max(initial=0.0) <= 1.001 * view.min(initial=np.inf) for view in held)


@dataclass(frozen=True, eq=False)
class Holdings:
    """What each unit holds of what each value rests on, and what follows from it.

    Attributes
    ----------
    statistic, design
        What is estimated, and under which design.
    sums
        What each unit adds up to.
    point
        The values.
    squares
        Makes the mean squares of the rows' influences, classes × values (None: not known).
    """

    statistic: Statistic
    design: Design
    sums: UnitSums
    point: Array
    squares: Callable[[], Array] | None = None

    @property
    def is_share(self) -> bool:
        """Whether a count of hits and rows stands behind each value."""
        return self.statistic.proportion and not self.statistic.graded

    @cached_property
    def _by_class(self) -> tuple[Array, DesignLines]:
        """What lines weigh in each class of each view, and these lines: one for each class of rows that are equal."""
        sums, plain = self.sums, self.design.equal_rows and len(self.statistic.views) == 1
        if plain and isinstance(sums, RowSums) and not self.statistic.of_weights and sums.bases is None:
            return rows_by_class(self.statistic, self.design)
        return sums.by_class, self.design.as_lines

    @property
    def lines(self) -> DesignLines:
        """The lines that `weights` and `by_class` are of."""
        return self._by_class[1]

    @property
    def by_class(self) -> Array:
        """What each line weighs in each class of each view: classes × lines × views."""
        return self._by_class[0]

    @cached_property
    def inside(self) -> Array:
        """What each line weighs in each view: lines × views."""
        by_class = self.by_class
        return np.asarray(by_class[0] if len(by_class) == 1 else by_class.sum(axis=0))

    @cached_property
    def weights(self) -> Array:
        """What each line weighs in what each value is a share of, or in the class that fewest units hold."""
        if self.sums.bases is not None:
            return self.sums.bases
        return looked_at(self.inside, self.by_class, self.lines, share=self.is_share)

    @property
    def runs(self) -> int:
        """How many values stand behind each column of `weights`."""
        return max(self.point.size // self.weights.shape[1], 1)

    @property
    def in_units(self) -> bool:
        """Whether the design calls for limits of shares of rows in units or strata; independent rows need none."""
        design = self.design
        rows_alone = design.single_rows and design.n_strata == 1
        repeated = design.item is not None and bool((design.fraction > 0).any())
        return not (rows_alone or repeated or design.layout is not None or (design.fraction == 1).all())

    @cached_property
    def shares(self) -> UnitShares | None:
        """Hits and rows of each unit, where a value is a share (and rows of a class, all of them hits, elsewhere)."""
        design = self.design
        if not self.in_units or design.lines * self.point.size > LIMITS.unit_shares:
            return None
        weights = np.repeat(self.weights, self.runs, axis=1)
        rows = weights * design.rows_per_weight[:, None]
        if not weights.any():
            return None
        hits = weights
        if self.is_share:
            value = np.ravel(self.point)
            hits = self.sums.influence * weights.sum(axis=0) + value * weights
            slack = 1e-7 * np.abs(weights).max(axis=0)
            if ((hits < -slack) | (hits > weights + slack)).any():
                return None  # no plain share: a threshold, say, moves with the rows too
            hits = np.minimum(np.maximum(hits, 0.0), weights)
        shares = UnitShares(hits, weights, rows, design, self.statistic.shape)
        return shares if shares.clustered else None

    def units(self) -> Array:
        """Units that an exact interval may count on where nothing varied (Kish's, for unequal weights)."""
        design, weights, lines = self.design, self.weights, self.lines
        size, seen = sizes_and_seen(weights, lines)
        if self.statistic.graded and self.sums.bases is not None:  # a part of each row, such as a coverage of a half
            size = size * np.minimum(weights.sum(axis=0) / design.weights.sum(), 1.0)
        if design.item is not None and (seen >= 1).any():  # only the tries vary
            size = np.where(seen >= 1, variance.kish(design.weights), size)
            seen = np.where(seen >= 1, 0.0, seen)
        return np.repeat(variance.of_the_unseen(size, seen), self.runs).reshape(self.statistic.shape)

    def df(self) -> Array:
        """Degrees of freedom of each value."""
        design = self.design
        df = self._of_units() * variance.part_of_df(design)
        return np.maximum(df, np.minimum(df, 1.0))

    @property
    def by_view(self) -> bool:
        """Whether all values of a view rest on the same units, or are too many to ask for each."""
        many = self.design.lines * self.point.size > LIMITS.unit_shares and self.sums.bases is None
        if many or len(self.by_class) > 1 or self.sums.bases is not None:
            return many
        return _all_equal((self.inside / self.lines.copies).T)

    @cached_property
    def nominal_df(self) -> Array:
        """Units less strata, of those that weigh something in each view."""
        return variance.nominal_dfs(self.inside > 0, self.lines)

    @cached_property
    def effective_df(self) -> Array:
        """The same from the weights of the units alone: fewer where a few of them carry most of the weight."""
        return variance.effective_dfs(self.inside, self.lines, self.nominal_df)

    @cached_property
    def usual_df(self) -> Array:
        """Units less strata; the effective number where a few units carry most of the weight of a view."""
        return variance.used_df(self.nominal_df, self.effective_df)

    def _of_units(self) -> Array:
        if self.by_view:
            return np.ravel(each_value(self.statistic, self.usual_df))
        by_class, lines = self._by_class
        per_weight = self.design.rows_per_weight[:, None] if lines is self.design.as_lines else np.ones((1, 1))
        if self.is_share:
            weights = np.repeat(self.weights, self.runs, axis=1)
            each = np.ravel(each_value(self.statistic, self.nominal_df))
            return df_of_shares(np.ravel(self.point), self.sums.influence, weights, each, per_weight, lines)
        if self.squares is None:
            return np.ravel(each_value(self.statistic, self.usual_df))
        squares = self.squares()
        runs = np.array_split(np.arange(squares.shape[1]), by_class.shape[-1])
        parts = [
            df_of_values(self.sums.influence[:, run], by_class[..., [k]], squares[:, None, run], per_weight, lines)
            for k, run in enumerate(runs)
        ]
        # where no row moved a value, nothing tells units apart but their weight
        return np.where(squares.any(axis=0), np.concatenate(parts), np.ravel(each_value(self.statistic, self.usual_df)))


def rows_of(counts: Array | None, view: NDArray[np.bool_] | None, n: int) -> float:
    """Number of original rows that a view looks at."""
    if counts is None:
        return float(n if view is None else view.sum())
    return float(counts.sum() if view is None else counts[view].sum())


def srs_variance(statistic: Statistic, weights: Array, counts: Array | None, slope: Array) -> Array:
    """Variance that a simple random sample of as many rows would have: the reference of the design effect."""
    if rows_of(counts, None, len(weights)) < 2:
        return np.full(slope.shape[1], np.nan)
    if len(statistic.views) == 1:
        return _srs_of(statistic, weights, counts, slope, statistic.domain)
    runs = np.array_split(np.arange(slope.shape[1]), len(statistic.views))
    parts = [
        _srs_of(statistic, weights, counts, slope[:, run], view)
        for run, view in zip(runs, statistic.views, strict=True)
    ]
    return np.concatenate(parts)


def _srs_of(
    statistic: Statistic, w: Array, counts: Array | None, slope: Array, view: NDArray[np.bool_] | None
) -> Array:
    n = rows_of(counts, view, len(w))
    inside, influence = linear.distinct(statistic, w if view is None else w * view)
    step, total = max(1, LIMITS.differentiated_numbers // len(inside)), inside.sum()
    variances = []
    for start in range(0, slope.shape[1], step):
        e = influence(slope[:, start : start + step])
        centred = e - inside @ e / total
        variances.append(total * (inside @ centred**2) / max(n - 1, 1))
    return np.concatenate(variances)
