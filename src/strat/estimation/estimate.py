"""The one place where sampling and measuring meet."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.columns import Array, number
from strat.designs import Design
from strat.errors import StratError, StratWarning, one_of
from strat.estimation import cautions, linear
from strat.estimation.intervals import critical
from strat.estimation.result import Estimate, Woodruff, _variance
from strat.estimation.totals import is_dense, sparse_unit_totals, totals, unit_totals
from strat.replication import Given, LeaveOneOut, Replicates, Resamples, blocks, jackknife
from strat.statistics.base import Rows, Statistic, unnamed_axes

KEEP = 1 << 24  # numbers of spread that are kept (128 MB); a larger map keeps its standard errors alone
PROBES = 4  # unnamed units for each replicate up to which a function of weights is asked once for each unit
THIN = 10  # rows beyond a quantile below which the exact interval of the share is the better way to its limits
ROUNDING = 1e-14  # what sums and differences may leave of the size of what was added up
PIECE = 1 << 18  # unit totals of a map that are worked on at once: they stay in the processor's cache


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
        Degrees of freedom: a number, "effective" (from the weights of the units), "satterthwaite" (also from the
        observed variances of strata), or None for the design's own: units less strata, of the units that a domain
        reaches; where a few units carry most of the weight, so that the effective number is less than half of
        that, the effective number.

    Examples
    --------
    >>> from strat.designs import Design
    >>> from strat.replication import brr
    >>> from strat.statistics import mean
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
        replicates = replace(replicates, design=_named_by_content(statistic, design))
        design = replicates.design
    if replicates is None and _bends(statistic, design):
        with suppress(StratError):  # undefined without one of the units: the closed form keeps them all
            return _one(statistic, design, jackknife(design), df)
    width = max(16, PIECE // design.n_units)
    if statistic.split is not None and np.prod(statistic.shape) > width:
        return _in_pieces(statistic, design, replicates, df, width)
    return _one(statistic, design, replicates, df)


def _design(on: Design | Replicates) -> Design:
    if isinstance(on, Replicates):
        return on.design
    if isinstance(on, Design):
        return on
    raise StratError(f"`on` must be a Design or Replicates of one, got {type(on).__name__}.")


def _fitted(statistic: Statistic, design: Design) -> Statistic:
    if not isinstance(statistic, Statistic):
        raise StratError(f"`statistic` must be a Statistic such as strat.mean(y), got {type(statistic).__name__}.")
    if statistic.of_weights and len(statistic) == 0:
        statistic = replace(statistic, rows=(Rows(None, None, len(design)),))
    if len(statistic) != len(design):
        raise StratError(f"`statistic` must have as many rows as the design ({len(design)}), got {len(statistic)}.")
    return statistic


def _bends(statistic: Statistic, design: Design) -> bool:
    """Whether the statistic bends too much for the closed form with so few units, and can be jackknifed."""
    repeated = design.item is not None and bool((design.fraction > 0).any())
    return design.n_units < statistic.curved_below and design.kind != "systematic" and not repeated


def _order_matters(statistic: Statistic, replicates: Replicates) -> bool:
    """Whether unnamed units get other factors when they stand in another order."""
    if replicates.design.labelled or isinstance(replicates.operator, LeaveOneOut | Given):
        return False  # factors that somebody gave belong to the rows as they stand
    if statistic.of_weights:  # what a row holds shows in what its weight does, at the price of a call for each unit
        return replicates.design.n_units <= PROBES * replicates.number
    return not (isinstance(replicates.operator, Resamples) and _lumpable(statistic, replicates.design))


def _named_by_content(statistic: Statistic, design: Design) -> Design:
    """The design with its unnamed units (single rows) in the order of what they hold, whatever the rows' order."""
    key = _effects(statistic, design) if statistic.of_weights else _contents(statistic, design)
    stratum, sizes = design.stratum[design.unit], design.sizes
    if design.in_order and (sizes == sizes[0]).all():
        order = (np.argsort(key.reshape(-1, sizes[0]), axis=1, kind="stable") + design.starts[:, None]).ravel()
    else:
        order = np.lexsort((key, stratum))
    unit = np.empty(len(design), np.int64)
    unit[order] = np.arange(len(design))
    return replace(design, unit=unit, labelled=True)


def _contents(statistic: Statistic, design: Design) -> Array:
    """A number for what each row adds up; equal ones hold equal totals, and these may change places."""
    rng = np.random.default_rng(0)
    key = np.zeros(len(design))
    for block in statistic.rows:
        by_line = rng.uniform(0.5, 1.0, block.components) if block.values is None else _mixed(block.values, rng)
        key += by_line if block.codes is None else by_line[block.codes]
    return key * design.weights


def _effects(statistic: Statistic, design: Design) -> Array:
    """The statistic with each row's weight doubled, to ten digits (the order of the rows moves the last ones)."""
    made = []
    for a, b in blocks(len(design), len(design)):
        heavier = np.broadcast_to(design.weights, (b - a, len(design))).copy()
        heavier[np.arange(b - a), np.arange(a, b)] *= 2.0
        with np.errstate(divide="ignore", invalid="ignore"):
            made.append(np.asarray(statistic.function(heavier), float).reshape(b - a, -1).sum(axis=1))
    effect = np.concatenate(made)
    largest = float(np.abs(effect).max())
    return effect if not np.isfinite(largest) or largest == 0 else np.round(effect / largest, 10)


def _mixed(values: Array, rng: np.random.Generator) -> Array:
    return values @ rng.uniform(0.5, 1.0, values.shape[1])


def _large(statistic: Statistic, replicates: Replicates | None, design: Design) -> bool:
    lines = design.n_units if replicates is None else replicates.number
    return lines * int(np.prod(statistic.shape)) > KEEP


def _in_pieces(
    statistic: Statistic, design: Design, replicates: Replicates | None, df: float | str | None, width: int
) -> Estimate:
    """A map of many values, piece by piece; if it is very large, standard errors only and no covariance."""
    assert statistic.split is not None
    keep = not _large(statistic, replicates, design)
    parts: list[Estimate] = []
    spreads: list[Array] = []
    for piece in statistic.split(width):
        part = _one(piece, design, replicates, parts[0].df if parts and df is None else df)
        if keep and part.spread is not None:
            spreads.append(part.spread)
        parts.append(replace(part, spread=None))
    return replace(
        parts[0],
        point=np.concatenate([part.point for part in parts]),
        spread=np.concatenate(spreads, axis=1) if spreads else None,
        variance=np.concatenate([part.variance for part in parts]),
        srs=lambda: np.concatenate([part.srs_variance for part in parts]),
        axes=statistic.axes,
    )


def _one(statistic: Statistic, design: Design, replicates: Replicates | None, df: float | str | None) -> Estimate:
    sums = design.weights if statistic.of_weights else totals(statistic, design.weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        point = _finite(np.asarray(statistic.function(sums), float), statistic)
    if statistic.of_weights and point.ndim and not statistic.axes:
        statistic = replace(statistic, axes=unnamed_axes(point.shape))
    if statistic.quantile is not None and (replicates is None or not replicates.consistent_for_quantiles):
        return _woodruff(statistic, design, replicates, sums, point, df)
    slope = _Slope(statistic, design, sums)
    scales = 1.0 if replicates is None else replicates.scales
    spread = _closed(slope, point.shape) if replicates is None else _replicated(statistic, replicates, point)
    used = _df(slope, replicates, df)
    return Estimate(
        name=statistic.name,
        point=point,
        spread=spread,
        scales=scales,
        variance=_variance(spread, scales),
        replicated=replicates is not None,
        df=used,
        method="closed form" if replicates is None else str(replicates.method),
        axes=statistic.axes,
        link=statistic.link,
        bounds=statistic.bounds,
        proportion=statistic.proportion,
        srs=(lambda: linear.srs_variance(statistic, design, slope.gradient).reshape(point.shape))
        if slope.known
        else None,
        rows=linear.size(design, statistic.domain),
        worth=_worth(statistic, design, sums),
        design=design.summary if replicates is None else f"{design.summary}; {replicates}",
        target=design.target,
        plan=design.plan,
        notes=cautions.notes(statistic, design, replicates, spread, used if df is None else None),
        woodruff=None if statistic.quantile is None else _share_below(statistic, design, replicates, sums, point, df),
    )


def _finite(value: Array, statistic: Statistic) -> Array:
    if not np.isfinite(value).all():
        bad = int((~np.isfinite(value)).sum())
        raise StratError(
            f"`{statistic.name}` must be defined on these rows, got {bad} of {value.size} values that are not: "
            "something it divides by is zero (a class without rows, say, or values that do not vary)."
        )
    return value


class _Slope:
    """The derivative of a statistic at its totals, found when it is first needed."""

    def __init__(self, statistic: Statistic, design: Design, sums: Array) -> None:
        self.statistic, self.design, self.sums = statistic, design, sums
        self.known = not statistic.of_weights and statistic.quantile is None

    @cached_property
    def gradient(self) -> Array:
        return linear.gradient(self.statistic, self.sums, self.design.weights)

    @cached_property
    def influence(self) -> Array:
        if not self.known:
            return linear.weights_influence(self.statistic, self.design)
        return linear.unit_influence(self.statistic, self.design, self.gradient)


def _closed(slope: _Slope, shape: tuple[int, ...]) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        influence = slope.influence
    if not np.isfinite(influence).all():
        raise StratError(
            f"`{slope.statistic.name}` must be defined near these weights too for the closed form, got a value that is "
            "not; use replicates such as fay(design, rho=0.5)."
        )
    made = linear.deviations(influence, slope.design)
    repeats = linear.repeat_deviations(slope.statistic, slope.design, slope.gradient) if slope.known else None
    if repeats is not None:
        made = np.concatenate([made, repeats])
    return made.reshape(len(made), *shape)


def _replicated(statistic: Statistic, replicates: Replicates, point: Array) -> Array:
    """Replicate values less the value: replicates × shape."""
    design, operator = replicates.design, replicates.operator
    with np.errstate(divide="ignore", invalid="ignore"):
        if isinstance(operator, Resamples) and _lumpable(statistic, design):
            values = statistic.function(_lump_totals(statistic, design, operator))
        elif is_dense(statistic, design) and replicates.number * statistic.components <= 16 * KEEP:
            per_unit = unit_totals(statistic, design)
            values = statistic.function(_rounded(operator.totals(per_unit), per_unit))
        else:
            values = _blockwise(statistic, replicates)
    spread = np.asarray(values, float) - point
    bad = int((~np.isfinite(spread.reshape(len(spread), -1)).all(axis=1)).sum())
    if bad:
        raise StratError(
            f"`{statistic.name}` must be defined in every replicate, got {bad} of {len(spread)} where it is not; "
            "use fay(design, rho=0.5), or the closed form (on=design), which keep every unit in."
        )
    return spread


def _rounded(sums: Array, per_unit: Array) -> Array:
    """Replicate totals, with 0 where only rounding is left of what was taken out: 0 / 0 must not look like a number."""
    tiny = ROUNDING * np.abs(per_unit).sum(axis=0)
    sums[np.abs(sums) <= tiny] = 0.0
    return sums


def _blockwise(statistic: Statistic, replicates: Replicates) -> Array:
    """Replicates a few at a time, for very many components and for functions of row weights."""
    design = replicates.design
    per_unit: Any = None if statistic.of_weights else sparse_unit_totals(statistic, design)
    made = []
    for a, b in blocks(replicates.number, max(design.n_units, statistic.components)):
        factors = replicates.factors(a, b)
        sums = factors[:, design.unit] * design.weights if per_unit is None else factors @ per_unit
        made.append(statistic.function(sums))
    return np.concatenate(made)


def _lumpable(statistic: Statistic, design: Design) -> bool:
    """Whether the units are single rows of few kinds, so that a bootstrap can draw kinds instead of rows."""
    coded = len(statistic.rows) == 1 and statistic.rows[0].codes is not None
    if not coded or not design.rows_are_units or (design.weights != design.weights[0]).any():
        return False
    return statistic.rows[0].lines * design.n_strata < len(design) // 4


def _lump_totals(statistic: Statistic, design: Design, operator: Resamples) -> Array:
    block = statistic.rows[0]
    assert block.codes is not None
    key = design.stratum[design.unit] * block.lines + block.codes
    kinds, counts = np.unique(key, return_counts=True)
    drawn = operator.lumps(kinds // block.lines, counts) * design.weights[0]
    line = kinds % block.lines
    if block.values is not None:
        return drawn @ block.values[line]
    made = np.zeros((len(drawn), block.components))
    np.add.at(made.T, line, drawn.T)
    return made


def _df(slope: _Slope, replicates: Replicates | None, df: float | str | None) -> float:
    design, statistic = slope.design, slope.statistic
    if df is None:
        usual = float(design.df if replicates is None else replicates.df)
        if statistic.domains is not None:  # the least that is known about any value, so that no interval is too narrow
            return float(max(1, min(linear.domain_df(design, view) for view in statistic.domains)))
        if statistic.domain is not None:
            return float(linear.domain_df(design, statistic.domain))
        return linear.usual_df(usual, linear.effective_df(design)) if usual == design.df else usual
    if isinstance(df, str):
        one_of("df", df, ("effective", "satterthwaite"))
        if df == "effective":
            return linear.effective_df(design)
        weight = np.bincount(design.unit, design.weights, minlength=design.n_units).astype(float)
        return float(linear.satterthwaite(linear.deviations(slope.influence, design), weight, design).min())
    if not number("df", df) > 0:
        raise StratError(f"`df` must be positive, 'effective', 'satterthwaite' or None, got {df!r}.")
    return float(df)


def _worth(statistic: Statistic, design: Design, sums: Array) -> Array | float:
    """Number of units that an exact interval may count on where nothing varied (Kish's, for unequal weights)."""
    return linear.worth_of_values(statistic, [_worth_of(design, view) for view in statistic.views], sums)


def _worth_of(design: Design, view: NDArray[np.bool_] | None) -> tuple[float, float]:
    """The same for all that the view looks at, and the weight of that."""
    inside = design.weights if view is None else design.weights * view
    by_unit = np.bincount(design.unit, inside, minlength=design.n_units)
    known = 1.0 - float((by_unit * design.fraction[design.stratum]).sum() / by_unit.sum())
    if known <= 0:
        return np.inf, float(inside.sum())
    return float(by_unit.sum() ** 2 / (by_unit**2).sum() / known), float(inside.sum())


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
    support, orders, invert = statistic.quantile.support, statistic.quantile.orders, statistic.quantile.invert
    block = statistic.rows[0]
    below = (support[:, None] <= np.atleast_1d(point)).astype(float)
    share = Statistic(
        name=f"share at or below the {statistic.name}",
        rows=(Rows(block.codes, np.column_stack([below, np.ones(len(support))]), below.shape[1] + 1),),
        function=lambda t: t[..., :-1] / t[..., -1:] if point.ndim else t[..., 0] / t[..., 1],
        axes=statistic.axes,
        bounds=(0.0, 1.0),
    )

    def back(p: Array) -> Array:
        return invert(sums, np.ravel(p)).reshape(np.shape(p))

    thin = linear.size(design, statistic.domain) * np.minimum(orders, 1 - orders) < THIN
    return Woodruff(lambda: _one(share, design, replicates, df), back, thin)


def _woodruff(
    statistic: Statistic,
    design: Design,
    replicates: Replicates | None,
    sums: Array,
    point: Array,
    df: float | str | None,
) -> Estimate:
    """A quantile through the share of rows at or below it, inverted."""
    made = _share_below(statistic, design, replicates, sums, point, df)
    inner = made.share
    if replicates is not None:
        warnings.warn(
            f"{replicates.method} replicates say nothing about a quantile's variance; Woodruff's interval is used.",
            StratWarning,
            stacklevel=4,
        )
    low, high = (made.back(np.asarray(side)) for side in inner.interval(0.95, method="t"))
    return replace(
        inner,
        name=statistic.name,
        point=point,
        variance=((high - low) / (2.0 * critical(0.95, inner.df))) ** 2,
        spread=None,
        method=f"Woodruff, {inner.method}",
        bounds=statistic.bounds,
        srs=None,
        replicated=False,
        woodruff=made,
        notes=(*inner.notes, *_tails(statistic, inner)),
    )


def _tails(statistic: Statistic, share: Estimate) -> tuple[str, ...]:
    assert statistic.quantile is not None
    orders = np.ravel(statistic.quantile.orders)
    if len(orders) > 1:
        return ()
    effect = float(share.deff) if share.deff is not None and np.isfinite(share.deff) else 1.0
    note = cautions.thin_tail(float(orders[0]), share.rows * min(orders[0], 1 - orders[0]) / max(effect, 1.0))
    return (note,) if note else ()
