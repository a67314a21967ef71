"""The one place where sampling and measuring meet."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cache

import numpy as np

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.validate.columns import Array
from strat.designs import Design
from strat.estimation import cautions, linear
from strat.estimation.content_order import ordered_by_content
from strat.estimation.facts import FromShares, Inference, Woodruff
from strat.estimation.inference import (
    RowSums,
    UnitSums,
    rows_of,
    srs_variance,
)
from strat.estimation.inferring import Behind, inferred
from strat.estimation.intervals import critical
from strat.estimation.replicate_values import lumpable
from strat.estimation.result import Estimate
from strat.estimation.sparse import SparseSums, fits
from strat.estimation.spread import Spread
from strat.estimation.totals import totals
from strat.estimation.value_df import mean_squares
from strat.measures.base import Rows, Statistic, unnamed_axes
from strat.replication import Given, LeaveOneOut, Replicates, Resamples, jackknife

THIN = 10  # rows beyond a quantile below which the exact interval of the share is the better way to its limits


def estimate(statistic: Statistic, *, on: Design | Replicates, df: float | str | None = None) -> Estimate:
    """The statistic under a design, with a standard error that fits the design.

    Parameters
    ----------
    statistic
        What to measure.
    on
        A design (closed form: Taylor linearization and the textbook variance; the jackknife for a correlation of
        few units, whose closed form is short) or replicates of one.
    df
        Degrees of freedom of every value: a number, "design" (units minus strata, as in R), "effective" (from the
        weights of the units), "satterthwaite" (also from the observed variances of strata), or None: units minus
        strata, or the effective number where a few units carry most of the weight, so that it is less than half of
        that. Each value counts the units that it looks at.

    Examples
    --------
    >>> from strat.designs import Design
    >>> from strat.replication import brr
    >>> from strat.measures import mean
    >>> design = Design.stratified(strata=["a", "a", "b", "b"])
    >>> print(estimate(mean([1.0, 3.0, 5.0, 9.0]), on=design))
    mean 4.5000 (se 1.1180, 95 % -0.3105 to 9.3105, df 2, design effect 0.43)
    >>> round(estimate(mean([1.0, 3.0, 5.0, 9.0]), on=brr(design)).se, 4)
    1.118
    """
    replicates = on if isinstance(on, Replicates) else None
    design = _design(on)
    statistic = _fitted(statistic, design)
    if replicates is not None and _order_matters(statistic, replicates):
        replicates = replace(replicates, design=ordered_by_content(statistic, design))
        design = replicates.design
    if replicates is None and too_curved(statistic, design):
        with suppress(StratError):  # undefined without one of the units: the closed form keeps them all
            expanded, rows = design.expanded()
            return _one(statistic.repeated(rows), expanded, jackknife(expanded), df)
    width = max(16, LIMITS.totals_at_once // design.lines)
    if statistic.split is not None and np.prod(statistic.shape) > width and design.layout is None:
        return _in_pieces(statistic, design, replicates, df, width)
    return _one(statistic, design, replicates, df)


def _design(on: Design | Replicates) -> Design:
    if isinstance(on, Replicates):
        return on.design
    if isinstance(on, Design):
        return on
    raise StratError.about("on", f"must be a Design or Replicates of one, got {type(on).__name__}.")


def _fitted(statistic: Statistic, design: Design) -> Statistic:
    if not isinstance(statistic, Statistic):
        raise StratError.about(
            "statistic", f"must be a Statistic such as strat.mean(y), got {type(statistic).__name__}."
        )
    if statistic.of_weights and len(statistic) == 0:
        statistic = replace(statistic, rows=(Rows(None, None, len(design)),))
    if len(statistic) != len(design):
        raise StratError.about(
            "statistic", f"must have as many rows as the design ({len(design)}), got {len(statistic)}."
        )
    return statistic


def too_curved(statistic: Statistic, design: Design) -> bool:
    """Whether linearization is unreliable for so few units, so that the jackknife is used."""
    repeated = design.item is not None and bool((design.fraction > 0).any())
    return (
        design.n_units < statistic.curved_below
        and design.layout is None
        and design.kind != "systematic"
        and not repeated
    )


def _order_matters(statistic: Statistic, replicates: Replicates) -> bool:
    """Whether unnamed units get other factors when they stand in another order."""
    if replicates.design.labelled or isinstance(replicates.operator, LeaveOneOut | Given):
        return False  # factors that somebody gave belong to the rows as they stand
    if statistic.of_weights:  # what a row holds shows in what its weight does, at the price of a call for each unit
        return replicates.design.n_units <= LIMITS.probed_units * replicates.number
    return not (isinstance(replicates.operator, Resamples) and lumpable(statistic, replicates.design))


def _large(statistic: Statistic, replicates: Replicates | None, design: Design) -> bool:
    lines = design.lines if replicates is None else replicates.number
    return lines * int(np.prod(statistic.shape)) > LIMITS.kept_spread


def _is_sparse(statistic: Statistic, design: Design, df: float | str | None) -> bool:
    """Whether the values are too many to keep what each unit does to each, and most of that is zero."""
    known = statistic.sparse_gradient is not None and design.layout is None and df != "satterthwaite"
    return known and _large(statistic, None, design) and fits(design)


def _in_pieces(
    statistic: Statistic, design: Design, replicates: Replicates | None, df: float | str | None, width: int
) -> Estimate:
    """A map of many values, piece by piece; if it is very large, standard errors only and no covariance."""
    assert statistic.split is not None
    keep = not _large(statistic, replicates, design)
    parts: list[Estimate] = []
    spreads: list[Spread] = []
    for piece in statistic.split(width):
        own = df is not None or not parts or piece.domains is not None or piece.truth is not None
        part = _one(piece, design, replicates, df if own else float(np.ravel(parts[0].df)[0]), noted=not parts)
        if keep and part.inference.spread is not None:
            spreads.append(part.inference.spread)
        parts.append(part.changed(spread=None))
    whole = [one.values for one in spreads]
    return parts[0].changed(
        point=np.concatenate([part.point for part in parts]),
        spread=spreads[0].with_values(np.concatenate(whole, axis=1)) if spreads else None,
        variance=np.concatenate([part.variance for part in parts]),
        df=np.concatenate([np.asarray(part.df) for part in parts]),
        effective_units=np.concatenate([np.broadcast_to(p.effective_units, p.point.shape) for p in parts]),
        srs=lambda: np.concatenate([part.srs_variance for part in parts]),
        axes=statistic.axes,
    )


def _one(
    statistic: Statistic,
    design: Design,
    replicates: Replicates | None,
    df: float | str | None,
    *,
    noted: bool = True,
) -> Estimate:
    sums = design.weights if statistic.of_weights else totals(statistic, design.weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        point = _finite(np.asarray(statistic.function(sums), float), statistic)
    if statistic.of_weights and point.ndim and not statistic.axes:
        statistic = replace(statistic, axes=unnamed_axes(point.shape))
    if statistic.quantile is not None and (replicates is None or not replicates.consistent_for_quantiles):
        return _woodruff(statistic, design, replicates, sums, point, df)
    if replicates is None and _is_sparse(statistic, design, df):
        few = SparseSums(statistic, design, sums)
        size = rows_of(design.counts, statistic.domain, len(design))
        return inferred(statistic, point, few, design, behind=Behind(few.srs_variances, size), df=df)
    rows = RowSums(statistic, design, sums)
    known = not statistic.of_weights and statistic.quantile is None
    # a map keeps its many pieces until somebody asks for design effects: what is cheap to make again is not kept
    again = rows if statistic.gradient is None or not statistic.axes else RowSums(statistic, design, sums)
    behind = Behind(
        srs=cache(lambda: srs_variance(statistic, design.weights, design.counts, again.gradient)) if known else None,
        size=rows_of(design.counts, statistic.domain, len(design)),
        squares=(lambda: _squares_of(again)) if known else None,
        parts=lambda share: _one(share, design, None, None, noted=False),
    )
    answer = inferred(statistic, point, rows, design, behind=behind, replicates=replicates, df=df, noted=noted)
    if statistic.quantile is not None:
        answer = answer.changed(woodruff=_share_below(statistic, design, replicates, sums, point, df))
    return answer


def _squares_of(rows: RowSums) -> Array:
    """Mean squares of the rows' influences in each class."""
    statistic, design = rows.statistic, rows.design
    if design.equal_rows and design.in_order and len(statistic.views) == 1 and not statistic.axes:
        return mean_squares(statistic, design.weights, rows.influence / design.weights[0])
    return _squares(statistic, design.weights, rows.gradient)


def _squares(statistic: Statistic, weights: Array, slope: Array) -> Array:
    """Mean squares of the rows' influences in each class, a few values at a time: classes × values."""
    # rows then differ in what they add alone
    whole = statistic.truth is None and statistic.domain is None and statistic.domains is None
    mass, influence = linear.distinct(statistic, weights) if whole else (weights, None)
    each = influence or (lambda part: linear.row_influence(statistic, part))
    wide = len(mass) * slope.shape[1]
    cuts = np.array_split(np.arange(slope.shape[1]), min(slope.shape[1], 1 + wide // LIMITS.differentiated_numbers))
    if len(cuts) == 1 or len(statistic.views) > 1:
        return mean_squares(statistic, mass, each(slope))
    return np.concatenate([mean_squares(statistic, mass, each(slope[:, cut])) for cut in cuts], axis=1)


def estimate_from_sums(
    statistic: Statistic,
    units: UnitSums,
    *,
    on: Design,
    weights: Array,
    counts: Array | None,
    parts: UnitSums | None = None,
) -> Estimate:
    """The statistic of rows with these weights and counts, whose influences somebody has added up in the units.

    `on` is the design of the units, a line each; the statistic's own rows need not know their units. `parts` are the
    sums of the shares that the value is a sum of, if it is one.
    """
    sums = totals(statistic, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        point = _finite(np.asarray(statistic.function(sums), float), statistic)
    slope = linear.gradient(statistic, sums, weights)
    behind = Behind(
        srs=cache(lambda: srs_variance(statistic, weights, counts, slope)),
        size=rows_of(counts, statistic.domain, len(weights)),
        squares=lambda: _squares(statistic, weights, slope),
        parts=None
        if parts is None or statistic.sum_of is None
        else lambda share: estimate_from_sums(share, parts, on=on, weights=weights, counts=counts),
    )
    return inferred(statistic, point, units, on, behind=behind)


def _finite(value: Array, statistic: Statistic) -> Array:
    if not np.isfinite(value).all():
        bad = int((~np.isfinite(value)).sum())
        raise StratError(
            f"`{statistic.name}` must be defined on these rows, got {bad} of {value.size} values that are not: "
            "something it divides by is zero (a class without rows, say, or values that do not vary)."
        )
    return value


def _share_below(
    statistic: Statistic,
    design: Design,
    replicates: Replicates | None,
    sums: Array,
    point: Array,
    df: float | str | None,
) -> Woodruff:
    """The share of rows at or below a quantile, and the way back from shares to values (Woodruff 1952)."""
    assert statistic.quantile is not None
    support, orders = statistic.quantile.support, statistic.quantile.orders
    block = statistic.rows[0]
    below = (support[:, None] <= np.atleast_1d(point)).astype(float)
    share = Statistic(
        name=f"share at or below the {statistic.name}",
        rows=(Rows(block.codes, np.column_stack([below, np.ones(len(support))]), below.shape[1] + 1),),
        function=lambda t: t[..., :-1] / t[..., -1:] if point.ndim else t[..., 0] / t[..., 1],
        axes=statistic.axes,
        bounds=(0.0, 1.0),
    )

    thin = rows_of(design.counts, statistic.domain, len(design)) * np.minimum(orders, 1 - orders) < THIN
    return Woodruff(lambda: _one(share, design, replicates, df), FromShares(statistic.quantile.invert, sums), thin)


def _woodruff(
    statistic: Statistic,
    design: Design,
    replicates: Replicates | None,
    sums: Array,
    point: Array,
    df: float | str | None,
) -> Estimate:
    """A quantile through the share of rows at or below it, inverted."""
    estimate = _share_below(statistic, design, replicates, sums, point, df)
    inner = estimate.share
    other = () if replicates is None else (Note("quantile-by-shares", {"method": str(replicates.method)}),)
    low, high = (estimate.back(np.asarray(side)) for side in inner.interval(0.95, method="t"))
    return replace(
        inner,
        name=statistic.name,
        point=point,
        variance=((high - low) / (2.0 * critical(0.95, inner.df))) ** 2,
        method=replace(inner.method, by_shares=True),
        measure=replace(inner.measure, bounds=statistic.bounds),
        notes=(*inner.notes, *_tails(statistic, inner), *other),
        inference=Inference(None, inner.rows, inner.effective_units, woodruff=estimate),
    )


def _tails(statistic: Statistic, share: Estimate) -> tuple[Note, ...]:
    assert statistic.quantile is not None
    orders = np.ravel(statistic.quantile.orders)
    if len(orders) > 1:
        return ()
    effect = float(share.deff) if share.deff is not None and np.isfinite(share.deff) else 1.0
    note = cautions.thin_tail(float(orders[0]), share.rows * min(orders[0], 1 - orders[0]) / max(effect, 1.0))
    return (note,) if note else ()
