"""The limits of an estimate: which interval suits it, and what happens at the ends of its range."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, one_of
from strat.base.validate.columns import Array
from strat.estimation import intervals
from strat.estimation.intervals import Limits
from strat.estimation.proportions import hypergeometric_interval
from strat.estimation.proportions.hypergeometric import balanced_limits
from strat.replication import MethodKind

if TYPE_CHECKING:
    from strat.estimation.facts import Unseen
    from strat.estimation.result import Estimate

METHODS = (
    "t",
    "logit",
    "log",
    "fisher",
    "arcsine",
    "wilson",
    "exact",
    "hypergeometric",
    "woodruff",
    "woodruff-exact",
    "percentile",
    "beta-binomial",
    "mover",
    "folded",
    "classes",
    "placements",
    "items",
)
_KNOW_THE_UNSEEN = ("beta-binomial", "mover", "folded", "hypergeometric", "items")
WHOLE = 1e-6  # of a row: rounding
_OF_LINK = {"identity": "t", "logit": "logit", "score": "wilson", "log": "log", "correlation": "fisher"}


def limits(estimate: Estimate, level: float, method: str | None) -> Limits:
    """Lower and upper limit of each value, each for itself, by `method` or by what suits the statistic."""
    chosen = method or default_method(estimate)
    one_of("method", chosen, METHODS)
    low, high = _by(estimate, chosen, level, asked=method is not None)
    low, high = np.maximum(low, estimate.bounds[0]), np.minimum(high, estimate.bounds[1])
    if chosen not in _KNOW_THE_UNSEEN:
        low, high = _unvaried(estimate, level, low, high)
    if np.isinf(estimate.effective_units).any():  # by definition, or because all was seen
        known = np.isinf(estimate.effective_units) & at_an_end(estimate)
        low, high = np.where(known, estimate.point, low), np.where(known, estimate.point, high)
    direction = estimate.measure.monotone
    return intervals.monotone(low, high, direction) if direction and estimate.point.ndim else (low, high)


def default_method(estimate: Estimate) -> str:
    """The method that suits the statistic."""
    if estimate.inference.woodruff is not None and estimate.inference.spread is None:
        return "woodruff"
    if np.isfinite(estimate.inference.population) and _counted(estimate):
        return "hypergeometric"
    if estimate.inference.shares is not None:
        return "beta-binomial"
    if estimate.inference.sum_of is not None:
        return estimate.inference.sum_of.method
    return _OF_LINK[estimate.link]


def _by(estimate: Estimate, method: str, level: float, *, asked: bool) -> Limits:
    df = estimate.usable_df
    if method in ("woodruff", "woodruff-exact"):
        return _woodruff(estimate, level, None if not asked else method == "woodruff-exact")
    if method == "percentile":
        return _percentile(estimate, level)
    if method == "beta-binomial":
        return _beta_binomial(estimate, level)
    if method in _BROUGHT:
        return _of_parts(estimate, method, level)
    if method == "hypergeometric":
        return _of_population(estimate, level)
    se, c = np.sqrt(estimate.variance), intervals.critical(level, df)
    if method == "t":
        return intervals.straight(estimate.point, se, c)
    if method == "log":
        return intervals.by_log(estimate.point, se, c)
    if method == "fisher":
        return intervals.by_fisher(estimate.point, se, c)
    return _share(estimate, method, se, level, c)


def _share(estimate: Estimate, method: str, se: Array, level: float, c: Array) -> Limits:
    """Methods for a share, after bringing the range of the statistic to [0, 1]."""
    bottom, top = estimate.bounds
    if not np.isfinite([bottom, top]).all():
        raise StratError.about("method", f"must be 't' for {estimate.name}, which has no finite range, got {method!r}.")
    p, s = (estimate.point - bottom) / (top - bottom), se / (top - bottom)
    if method == "exact" and np.isfinite(estimate.inference.population):
        low, high = _exact_of_population(estimate, p, level)
    elif method == "exact":
        low, high = intervals.by_korn_graubard(p, s, estimate.rows, level, estimate.usable_df)
    elif method == "wilson":
        p = np.clip(p, 0.0, 1.0)  # sums of weights leave a perfect share a hair's breadth off
        seen = (s > 0) & (p > 0) & (p < 1)
        units = np.broadcast_to(estimate.effective_units, p.shape).astype(float)
        size = np.divide(p * (1 - p), s**2, out=units, where=seen)
        low, high = intervals.by_wilson(p, size, level, estimate.usable_df)
    else:
        low, high = (intervals.by_logit if method == "logit" else intervals.by_arcsine)(p, s, c)
    return bottom + low * (top - bottom), bottom + high * (top - bottom)


def _counted(estimate: Estimate) -> bool:
    """Whether these are shares, each a whole number of rows over all of them, not of grades between 0 and 1."""
    hits = np.asarray(estimate.point) * estimate.rows
    return estimate.proportion and bool((np.abs(hits - np.rint(hits)) < WHOLE).all())


def _of_population(estimate: Estimate, level: float) -> Limits:
    """Blaker's limits of a share of a finite population, of which so many rows were drawn."""
    population = estimate.inference.population
    if not np.isfinite(population) or not _counted(estimate):
        raise StratError.about(
            "method",
            f"must not be 'hypergeometric' for {estimate.name}; use it for shares of single rows of equal weight from "
            "a population of known size, in closed form.",
        )
    rows, hits = round(estimate.rows), np.rint(np.ravel(estimate.point) * estimate.rows).astype(int)
    each = [balanced_limits(int(one), rows, round(population), level) for one in hits]
    low, high = np.array(each).T.reshape(2, *estimate.point.shape)
    return low, high


def _exact_of_population(estimate: Estimate, share: Array, level: float) -> Limits:
    """Limits of exact one-sided tests of a share of a finite population, of which so many rows were drawn."""
    rows, population = round(estimate.rows), round(estimate.inference.population)
    low, high = hypergeometric_interval(np.round(share * rows), rows, population, level)
    return np.asarray(low), np.asarray(high)


def _beta_binomial(estimate: Estimate, level: float) -> Limits:
    shares = estimate.inference.shares
    if shares is None:
        raise StratError.about(
            "method",
            f"must not be 'beta-binomial' for {estimate.name}: it is for shares of rows in units or strata, "
            "in closed form.",
        )
    return shares.limits(level)


_BROUGHT = {  # limits by a way that the measure brings along, and what they are for
    "mover": "sums of shares such as post-stratified ones",
    "folded": "sums of distances such as the calibration error",
    "classes": "averages over classes such as macro F1",
    "placements": "the area under the ROC curve",
    "items": "means over items such as pass@k",
}


def _of_parts(estimate: Estimate, method: str, level: float) -> Limits:
    parts = estimate.inference.sum_of
    if parts is None or parts.method != method:
        raise StratError.about(
            "method", f"must not be {method!r} for {estimate.name}: it is for {_BROUGHT[method]}, in closed form."
        )
    return parts.limits(estimate, level)


def _unvaried(estimate: Estimate, level: float, low: Array, high: Array) -> Limits:
    """Where nothing varied: at most a part q of what was not seen may be anything within the range.

    With n units that agree, 1 − q is the exact lower limit of their share; at an end of the range these are the exact
    limits of a share without an error.
    """
    unseen = estimate.inference.unseen
    if unseen is not None and not np.isfinite(estimate.bounds).all():
        return _mixed(estimate, unseen, level, low, high)
    still = unvaried(estimate)
    if not still.any():
        return low, high
    bottom, top = estimate.bounds
    part, point = 1.0 - _perfect(estimate, level), np.clip(estimate.point, bottom, top)
    return (
        np.where(still, point - (point - bottom) * part, low),
        np.where(still, point + (top - point) * part, high),
    )


def _mixed(estimate: Estimate, unseen: Unseen, level: float, low: Array, high: Array) -> Limits:
    """The same for a function of bounded values, of which a part q may be anything within their range."""
    still = unvaried(estimate)
    if not still.any():
        return low, high
    least, largest = unseen.limits(1.0 - _perfect(estimate, level))
    return np.where(still, least, low), np.where(still, largest, high)


def _perfect(estimate: Estimate, level: float) -> Array:
    """The lower limit of a share of 1 of the units that a value rests on."""
    holders = estimate.inference.holders
    if holders is not None:
        return holders.limits(level)[0]
    if np.isfinite(estimate.inference.population):
        return _exact_of_population(estimate, np.ones(estimate.point.shape), level)[0]
    return intervals.exact(np.ones(estimate.point.shape), exact_size(estimate, level), level)[0]


def unvaried(estimate: Estimate) -> NDArray[np.bool_]:
    """Where nothing varied in a value with a finite range, or in a function of such values."""
    bottom, top = estimate.bounds
    unseen = estimate.inference.unseen
    if unseen is not None and not np.isfinite([bottom, top]).all():
        least, largest = unseen.limits(1.0)
        return np.asarray(np.sqrt(estimate.variance) <= 1e-12 * (largest - least)) & np.isfinite(
            estimate.effective_units
        )
    if not np.isfinite([bottom, top]).all() or estimate.inference.woodruff is not None:
        return np.zeros(estimate.point.shape, bool)
    return np.asarray(np.sqrt(estimate.variance) <= 1e-12 * (top - bottom))


def at_an_end(estimate: Estimate) -> NDArray[np.bool_]:
    """Where the value lies at an end of its range and nothing varied."""
    bottom, top = estimate.bounds
    if not -np.inf < bottom <= top < np.inf or estimate.inference.woodruff is not None:
        return np.zeros(estimate.point.shape, bool)
    hair = 1e-12 * (top - bottom)  # what sums of weights may leave a perfect share off
    end = (estimate.point <= bottom + hair) | (estimate.point >= top - hair)
    return np.asarray((np.sqrt(estimate.variance) <= hair) & end)


def exact_size(estimate: Estimate, level: float) -> Array:
    """Number of units that an exact limit counts on, less for few degrees of freedom."""
    units = np.asarray(estimate.effective_units)
    usual = intervals.critical(level, np.maximum(units - 1, 1))
    few = np.minimum((usual / intervals.critical(level, estimate.df)) ** 2, 1.0)
    return np.maximum(units * few, 1.0)


def _woodruff(estimate: Estimate, level: float, exact: bool | None) -> Limits:
    way = estimate.inference.woodruff
    if way is None:
        raise StratError.about("method", f"must not be 'woodruff' for {estimate.name}: it is for quantiles.")
    return way.limits(level, way.thin if exact is None else exact)


def _percentile(estimate: Estimate, level: float) -> Limits:
    if estimate.method.kind is not MethodKind.BOOTSTRAP:
        raise StratError.about("method", f"'percentile' must go with bootstrap replicates, got {estimate.method}.")
    low, high = (np.quantile(estimate.replicates, tail, axis=0) for tail in ((1 - level) / 2, (1 + level) / 2))
    return low, high
