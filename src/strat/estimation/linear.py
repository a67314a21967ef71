"""Closed forms: what a small weight on each unit does to the statistic, and the variance that follows.

The textbook variances of stratified, clustered and systematic samples (STRAT 6; Cochran 5, 8, 9A) and Taylor
linearization are one thing: the influence of each unit is a variable whose total has the textbook variance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from strat.columns import Array, Codes
from strat.designs import Design
from strat.errors import StratError
from strat.estimation.totals import magnitudes, sum_by_unit, unit_totals
from strat.statistics.base import Statistic

VERY_UNEQUAL = 0.5  # effective over nominal degrees of freedom below which the effective ones are used
STEP = 1e-3  # relative step of the five-point rule: truncation 1e-12 and rounding 1e-13 meet here
BATCH = 1 << 22  # numbers in one call of the function that is differentiated
_STENCIL = ((-2.0, 1 / 12), (-1.0, -8 / 12), (1.0, 8 / 12), (2.0, -1 / 12))


def derivatives(function: Callable[[Array], Array], at: Array, directions: Array, steps: Array) -> Array:
    """Derivatives of a vectorised function at a point along directions (m × c), with a step for each: m × outputs."""
    if not len(directions):
        return np.zeros((0, np.asarray(function(at)).size))
    made = []
    width = max(1, BATCH // (4 * len(at)))
    for a in range(0, len(directions), width):
        d, h = directions[a : a + width], steps[a : a + width]
        points = np.stack([at + (s * h)[:, None] * d for s, _ in _STENCIL])
        values = np.asarray(function(points)).reshape(4, len(d), -1)
        made.append(np.tensordot([c for _, c in _STENCIL], values, 1) / h[:, None])
    return np.concatenate(made)


def gradient(statistic: Statistic, totals: Array, weights: Array) -> Array:
    """Derivatives of the statistic by its totals: components × outputs."""
    if statistic.gradient is not None:
        return statistic.gradient(totals).reshape(len(totals), -1)
    size = magnitudes(statistic, weights)
    live = np.flatnonzero(size > 0)
    made = np.zeros((len(totals), int(np.prod(statistic.shape))))
    made[live] = derivatives(statistic.function, totals, np.eye(len(totals))[live], STEP * size[live])
    return made


def unit_influence(statistic: Statistic, design: Design, slope: Array) -> Array:
    """What each unit's rows add to the statistic, to first order: units × outputs."""
    outputs = slope.shape[1]
    if statistic.components <= max(outputs, 64):
        return unit_totals(statistic, design) @ slope
    return sum_by_unit(row_influence(statistic, slope), design, design.weights)


def row_influence(statistic: Statistic, slope: Array) -> Array:
    """What a small weight on each row adds to the statistic: rows × outputs."""
    made: Array | float = 0.0
    start = 0
    for block in statistic.rows:
        by_line = block.spread(slope[start : start + block.components])
        made = made + (by_line if block.codes is None else by_line[block.codes])
        start += block.components
    return np.asarray(made)


def weights_influence(statistic: Statistic, design: Design) -> Array:
    """The same for a function of row weights, by differentiating along each unit's weights: units × outputs."""
    order = np.argsort(design.unit, kind="stable")
    cuts = np.searchsorted(design.unit[order], np.arange(1, design.n_units))
    made = []
    for rows in np.split(order, cuts):
        direction = np.zeros(len(design))
        direction[rows] = design.weights[rows]
        made.append(derivatives(statistic.function, design.weights, direction[None], np.array([STEP])))
    return np.concatenate(made)


def size(design: Design, domain: NDArray[np.bool_] | None) -> float:
    """Number of original rows, of the domain if there is one."""
    if domain is None:
        return design.size
    return float(domain.sum() if design.counts is None else design.counts[domain].sum())


def srs_variance(statistic: Statistic, design: Design, slope: Array) -> Array:
    """Variance that a simple random sample of as many rows would have: the reference of the design effect."""
    if design.size < 2:
        return np.full(slope.shape[1], np.nan)
    runs = np.array_split(np.arange(slope.shape[1]), len(statistic.views))
    parts = [_srs_of(statistic, design, slope[:, run], view) for run, view in zip(runs, statistic.views, strict=True)]
    return np.concatenate(parts)


def _srs_of(statistic: Statistic, design: Design, slope: Array, view: NDArray[np.bool_] | None) -> Array:
    w, n = design.weights, size(design, view)
    inside = w if view is None else w * view
    wide = len(design) * slope.shape[1]
    made = []
    for cut in np.array_split(np.arange(slope.shape[1]), max(1, wide // BATCH)):
        e = row_influence(statistic, slope[:, cut])
        centred = e - inside @ e / inside.sum()
        made.append(inside.sum() * (inside @ centred**2) / max(n - 1, 1))
    return np.concatenate(made)


def deviations(influence: Array, design: Design) -> Array:
    """Rows whose sum of squares is the variance of the sum of the units' influences (m × outputs)."""
    if design.kind == "systematic":
        return _successive(influence, design)
    sizes, starts = design.sizes, design.starts
    means = np.add.reduceat(influence, starts, axis=0) / sizes[:, None]
    ratio = np.divide(sizes, sizes - 1, out=np.zeros(len(sizes)), where=sizes > 1)
    scale = np.sqrt(ratio * (1.0 - design.fraction))
    made = (influence - means[design.stratum]) * scale[design.stratum][:, None]
    return _lone(made, influence, design)


def _successive(influence: Array, design: Design) -> Array:
    """Systematic samples: half the mean square of successive differences (Cochran 8.11)."""
    n = len(influence)
    if n < 2:
        raise StratError("`order` must have at least two places, got one: neighbours can't be compared.")
    return np.diff(influence, axis=0) * np.sqrt((1.0 - design.fraction[0]) * n / (2.0 * (n - 1)))


def _lone(made: Array, influence: Array, design: Design) -> Array:
    alone = (design.sizes == 1) & (design.fraction < 1)
    if not alone.any() or design.lone not in ("centre", "average"):
        return made
    if design.lone == "average":
        return made * np.sqrt(design.n_strata / (design.n_strata - alone.sum()))
    lone = alone[design.stratum]
    made[lone] = (influence - influence.mean(axis=0))[lone] * np.sqrt(1.0 - design.fraction)[design.stratum[lone]][
        :, None
    ]
    return made


def repeat_deviations(statistic: Statistic, design: Design, slope: Array) -> Array | None:
    """The second stage: how the repeats of an item vary, where units are a known share of their population."""
    if design.item is None or not (design.fraction > 0).any():
        return None
    z = row_influence(statistic, slope) * design.weights[:, None]
    item, number = design.item, int(design.item.max()) + 1
    tries = np.bincount(item, minlength=number)
    means = np.stack([np.bincount(item, c, minlength=number) for c in z.T], axis=1) / tries[:, None]
    share = design.fraction[design.stratum[design.unit]]
    m = tries[item]
    scale = np.sqrt(share * np.divide(m, m - 1, out=np.zeros(len(m)), where=m > 1))
    return (z - means[item]) * scale[:, None]


def worth_of_values(statistic: Statistic, each: Sequence[tuple[float, float]], sums: Array) -> Array | float:
    """Units that the exact interval of each value may count on, from those of its views and the weights of these."""
    if statistic.base is None and len(each) == 1:
        return each[0][0]
    runs = int(np.prod(statistic.shape)) // len(each)
    worth, weight = (np.repeat(column, runs).reshape(statistic.shape) for column in zip(*each, strict=True))
    if statistic.base is None:
        return worth
    return np.where(np.isinf(worth), np.inf, worth * statistic.base(sums) / weight)


def usual_df(nominal: float, effective: float) -> float:
    """Units less strata; the effective number where a few units carry most of the weight (see the validation page)."""
    return effective if effective < VERY_UNEQUAL * nominal else nominal


def effective_df(design: Design) -> float:
    """Effective degrees of freedom of a design, from the weights of its units alone."""
    w = np.bincount(design.unit, design.weights, minlength=design.n_units).astype(float)
    kept = np.sqrt(1 - design.fraction[design.stratum])
    return effective_units(w * kept, design.stratum, np.ones(len(w)), float(design.df))


def effective_units(w: Array, stratum: Codes, counts: Array, nominal: float) -> float:
    """Degrees of freedom of the variance between units of unequal weight w (each so many times), from these alone.

    The variance of stratum h is a quadratic form in its units' means, sum of w_i² (m_i - m)² / (1 - h_i) with
    h_i = w_i / W_h. If the means vary alike, its expectation is tr B and its variance 2 tr B², and the sum over the
    strata has (sum tr B)² / sum tr B² degrees of freedom, which is units less strata where all is equal (Bell and
    McCaffrey 2002).
    """
    if w.max() <= 1.001 * w.min() or nominal < 1:
        return nominal
    w = w / w.max()  # the answer has no scale, and fourth powers of weights would leave the floats

    def sums(values: Array) -> Array:
        return np.bincount(stratum, values * counts).astype(float)

    total = sums(w)[stratum]
    h = np.divide(w, total, out=np.zeros(len(w)), where=total > 0)
    d = np.divide(w**2, 1 - h, out=np.zeros(len(w)), where=h < 1)
    s, (s0, s1, s2) = sums(h**2), (sums(d * h**k) for k in range(3))
    first = sums(d * (1 - 2 * h + s[stratum]))
    second = sums(d**2 * (1 + 2 * (s[stratum] - 2 * h))) + s**2 * s0**2 + 2 * s0 * s2 - 4 * s * s0 * s1 + 2 * s1**2
    spread = float(second.sum())  # where one unit outweighs all, what is left of it is rounding
    return float(min(nominal, max(1.0, first.sum() ** 2 / spread if spread > 0 else 1.0)))


def satterthwaite(made: Array, unit_weights: Array, design: Design) -> Array:
    """Effective degrees of freedom for unequal strata and unequal units, for each output.

    A stratum counts as many units as its weights are worth, ``(sum w^2)^2 / sum w^4``; strata combine as in
    Satterthwaite's rule (STRAT 6.1, after Cochran 1977, 5.4).
    """
    number, stratum = design.n_strata, design.stratum
    if len(made) != len(stratum):
        return np.full(made.shape[1], float(design.df))
    squares = np.bincount(stratum, unit_weights**2, minlength=number)
    fourths = np.bincount(stratum, unit_weights**4, minlength=number)
    worth = np.divide(squares**2, fourths, out=np.ones(number), where=fourths > 0)
    df = np.maximum(worth - 1.0, 1e-9)
    v = np.stack([np.bincount(stratum, c**2, minlength=number) for c in made.T])
    spread = (v**2 / df).sum(axis=1)
    return np.divide(v.sum(axis=1) ** 2, spread, out=np.full(len(v), float(design.df)), where=spread > 0)


def domain_df(design: Design, domain: NDArray[np.bool_] | None) -> int:
    """Units less strata, counting only those that the domain reaches."""
    if domain is None:
        return design.df
    units: Codes = np.unique(design.unit[domain])
    drawn = (design.fraction < 1)[design.stratum[units]]  # a stratum seen whole adds none
    units = units[drawn] if drawn.any() and design.item is None else units
    return len(units) - len(np.unique(design.stratum[units]))
