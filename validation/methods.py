"""Every interval that we offer, and what others would have computed from the same draw.

A procedure takes a trial and gives intervals by name: {"default": (low, high), …}. Ours have plain names, those of
others start with "rival: ". Estimates are shared among the intervals made from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit
from scipy.stats import binom

import strat
from strat.comparison import many, paired
from strat.designs import variance
from strat.estimation import intervals
from strat.estimation.limits import METHODS
from strat.estimation.spread import Influences

from .trials import Array, Trial

Limits = tuple[Any, Any]
Found = dict[str, Limits]
Z = float(ndtri(0.975))
BOOTSTRAPS = 400
RIVAL = "rival: "


# ---- ours


def closed(trial: Trial) -> Found:
    """Closed form with every interval that suits the statistic."""
    one = strat.estimate(trial.statistic, on=trial.design)
    found: Found = {"default": one.interval(), "t": one.interval(method="t")}
    if one.inference.woodruff is not None:
        share, invert = one.inference.woodruff.share, one.inference.woodruff.back
        for method in ("t", "logit", "exact"):
            low, high = share.interval(method=method)
            found[f"Woodruff by {method}"] = (invert(np.asarray(low)), invert(np.asarray(high)))
        return {name: pair for name, pair in found.items() if name != "t"}
    if trial.statistic.name == "mean":
        found["log"] = one.interval(method="log")
    if one.link == "logit":
        for method in ("arcsine", "wilson", "exact"):
            found[method] = _asked(one, method)
    if one.link == "correlation":
        found["fisher"] = one.interval(method="fisher")
        straight = strat.estimate(replace(trial.statistic, curved_below=0), on=trial.design)
        found["linearization"] = straight.interval()
    if trial.design.n_strata > 1 or _unequal(trial.design):
        other = strat.estimate(trial.statistic, on=trial.design, df="satterthwaite")
        found["default, satterthwaite df"] = other.interval()
    if trial.statistic.domain is not None:
        found["default, effective df"] = replace(one, df=effective_df(trial.design, trial.statistic.domain)).interval()
    elif _unequal(trial.design) and trial.design.kind != "systematic":
        found |= _leverage(one, trial.design)
    return found


def _asked(one: Any, method: str) -> Limits:
    """The interval by a method, or none where the method refuses."""
    try:
        return one.interval(method=method)
    except strat.StratError:
        return math.nan, math.nan


def unit_weights(design: Any, domain: Array | None = None) -> Array:
    """The weight of each unit's rows (in a domain)."""
    w = design.weights if domain is None else design.weights * domain
    return np.bincount(design.unit, w, minlength=design.n_units)


def _unequal(design: Any) -> bool:
    w = unit_weights(design)
    return bool(w.max() > 1.001 * w.min() or design.sizes.max() > design.sizes.min())


def _leverage(one: Any, design: Any) -> Found:
    """Candidates for unequal units: effective degrees of freedom, and deviations mended for leverage."""
    df = effective_df(design)
    w = unit_weights(design)
    h = w / np.bincount(design.stratum, w)[design.stratum]
    n = design.sizes[design.stratum]
    factor = np.sqrt(np.divide(1 - 1 / n, 1 - h, out=np.ones(len(h)), where=h < 1))
    own = one.inference.spread.values
    spread = Influences(own * factor.reshape(-1, *[1] * one.point.ndim) if len(own) == len(h) else own)
    mended = one.changed(spread=spread, variance=spread.variance)
    found = {
        "default, effective df": replace(one, df=df).interval(),
        "leverage": mended.interval(),
        "leverage, effective df": replace(mended, df=df).interval(),
    }
    if one.proportion:
        found["exact, effective df"] = _asked(replace(one, df=df), "exact")
    return found


def effective_df(design: Any, domain: Array | None = None) -> float:
    """Effective degrees of freedom from the units' weights (or, as a candidate, from those of a domain)."""
    weights, lines = unit_weights(design, domain)[:, None], design.as_lines
    return float(variance.effective_dfs(weights, lines, variance.nominal_dfs(weights > 0, lines))[0])


def edges(trial: Trial) -> Found:
    """Candidates for shares near 0 and 1: when to go exact, and how many trials to count where nothing varied."""
    one = strat.estimate(trial.statistic, on=trial.design)
    low, high = one.interval()
    value, se, rows = float(one.value), float(one.se), float(one.rows)
    found: Found = {"default, kurtosis df": replace(one, df=_kurtosis_df(one, trial)).interval()}
    size = value * (1 - value) / se**2 if se > 0 else np.inf
    for least in (5, 10):
        few = se > 0 and min(value, 1 - value) * size < least
        found[f"exact below {least} errors"] = _asked(one, "exact") if few else (low, high)
    if se == 0:
        found["edge by rows"] = tuple(float(v) for v in intervals.exact(np.round(value), rows, 0.95))
        found["edge, one-sided"] = tuple(
            float(v) for v in intervals.exact(np.round(value), np.asarray(one.effective_units, float), 0.90)
        )
    else:
        found["edge by rows"] = found["edge, one-sided"] = (low, high)
    return found


def _kurtosis_df(one: Any, trial: Trial) -> float:
    """Degrees of freedom from how the squared deviations vary, 2 V^2 / (sum z^4 - V^2 / n): few errors make few."""
    squares = one.inference.spread.values.ravel() ** 2
    total = float(squares.sum())
    spread = float((squares**2).sum()) - total**2 / len(squares)
    most = min(one.df, effective_df(trial.design, trial.statistic.domain))
    return min(most, max(2 * total**2 / spread, 1.0)) if spread > 0 else most


def replicates(trial: Trial) -> Found:
    """BRR (or its generalization for unequal strata) and the jackknife, with the default interval."""
    return {**_on(trial, "balanced replicates", _balanced(trial.design)), **jackknife(trial)}


def jackknife(trial: Trial) -> Found:
    """The jackknife of units."""
    return _on(trial, "jackknife", _made(trial.design, "jackknife"))


def bootstrap(trial: Trial) -> Found:
    """The bootstrap of units within strata: its standard error with t, and its percentiles."""
    one = _estimate(trial, _made(trial.design, "bootstrap"))
    if one is None:
        return {"bootstrap": (np.nan, np.nan), "bootstrap percentile": (np.nan, np.nan)}
    return {"bootstrap": one.interval(), "bootstrap percentile": one.interval(method="percentile")}


def _on(trial: Trial, name: str, copies: Any) -> Found:
    one = _estimate(trial, copies)
    return {name: (np.nan, np.nan) if one is None else one.interval()}


def _estimate(trial: Trial, copies: Any) -> Any:
    try:
        return strat.estimate(trial.statistic, on=copies)
    except strat.StratError:  # undefined in a replicate
        return None


_COPIES: dict[tuple[int, str], tuple[Any, Any]] = {}


def _made(design: Any, kind: str) -> Any:
    """Replicates of a design, kept while trials share it."""
    key = (id(design), kind)
    if key not in _COPIES or _COPIES[key][0] is not design:
        if len(_COPIES) > 64:
            _COPIES.clear()
        make = {
            "jackknife": strat.jackknife,
            "bootstrap": lambda d: strat.bootstrap(d, replicates=BOOTSTRAPS),
            "plain": lambda d: strat.bootstrap(d, replicates=BOOTSTRAPS, kind="plain"),
            "rows": lambda d: strat.bootstrap(_rows_of(d), replicates=BOOTSTRAPS, kind="plain"),
            "units": lambda d: strat.bootstrap(_units_of(d), replicates=BOOTSTRAPS, kind="plain"),
            "balanced": _balance,
        }[kind]
        _COPIES[key] = (design, make(design))
    return _COPIES[key][1]


def _balanced(design: Any) -> Any:
    return _made(design, "balanced")


def _balance(design: Any) -> Any:
    try:
        return strat.brr(design)
    except strat.StratError:
        return strat.generalized(design)


def _rows_of(design: Any) -> Any:
    return strat.Design.simple_random(n=len(design.unit))


def _units_of(design: Any) -> Any:
    return strat.Design.clustered(units=design.unit)


def lone(trial: Trial) -> Found:
    """What to do with strata of one unit."""
    found = {}
    for kind, design in trial.extra["designs"].items():
        found["lone: " + kind] = strat.estimate(trial.statistic, on=design).interval()
    return found


def other_target(trial: Trial) -> Found:
    """Our own interval for the other target: strata where units were meant, or the other way round."""
    return {"for the other target": strat.estimate(trial.statistic, on=trial.extra["other design"]).interval()}


def band(trial: Trial) -> Found:
    """Bands that should hold for a whole curve at once."""
    one = strat.estimate(trial.statistic, on=trial.design)
    places = one.point.size
    each = one.interval(1 - 0.05 / places)
    independent = strat.estimate(trial.statistic, on=_once(trial.design))
    rows = _wilson(one.point, len(trial.design.unit), float(ndtri(1 - 0.025 / places)))
    return {
        "default": one.band(),
        "Bonferroni": each,
        "pointwise interval": one.interval(),
        RIVAL + "band on rows": independent.band(),
        RIVAL + "Wilson on rows, Bonferroni": rows,
    }


@lru_cache(maxsize=8)
def _once(design: Any) -> Any:
    return _rows_of(design)


def two_way(trial: Trial) -> Found:
    """False match rates: subjects on both sides, one side, none."""
    one = trial.extra["estimate"]
    found: Found = {"default": one.interval(), "t": one.interval(method="t"), "wilson": _asked(one, "wilson")}
    if one.name.startswith("FNMR"):
        n = trial.extra["table"].shape[0]
        return {**found, RIVAL + "Wilson on rows": _wilson(float(one.value), n, Z)}
    size = float(one.value) * (1 - float(one.value)) / float(one.variance) if one.variance > 0 else np.inf
    n = trial.extra["table"].shape[0] * (trial.extra["table"].shape[0] - 1)
    few = one.variance > 0 and float(one.value) * size < 10
    k = len(trial.extra["table"])
    exact = one.changed(rows=float(n))
    found["exact"] = _asked(exact, "exact")
    found["default, subjects - 1 df"] = replace(one, df=k - 1.0).interval()
    found["exact below 10 errors"] = found["exact"] if few else found["default"]
    # without what centring takes out of both sides: (k - 2) / (k - 1) of a subject's own part is left, not all
    plain = replace(exact, variance=exact.variance * ((k - 2) / (k - 1)) ** 2)
    found["no dyadic factor"] = plain.interval()
    found["no dyadic factor, exact"] = _asked(plain, "exact")
    above = trial.extra["table"] >= trial.extra["threshold"]
    hits = np.where(np.eye(len(above), dtype=bool), 0.0, above)
    p = hits.sum() / n
    by_row = hits.sum(axis=1) - p * (len(above) - 1)
    se = np.sqrt(len(above) / (len(above) - 1) * (by_row**2).sum()) / n
    found[RIVAL + "Wilson on rows"] = _wilson(p, n, Z)
    found[RIVAL + "clustered, normal"] = (p - Z * se, p + Z * se)
    return found


def compared(trial: Trial) -> Found:
    """The paired difference (or ratio) of two systems."""
    x = trial.extra
    one = paired(x["a"], x["b"], on=trial.design, higher_is_better=not x["ratio"])
    if x["ratio"]:
        try:
            return {"default": one.ratio.interval()}
        except strat.StratError:
            return {"default": (np.nan, np.nan)}
    found: Found = {"default": one.interval()}
    if _unequal(trial.design):
        found["default, effective df"] = replace(one.difference, df=effective_df(trial.design)).interval()
    copies = paired(x["a"], x["b"], on=_made(trial.design, "jackknife"), higher_is_better=True)
    return {**found, "jackknife": copies.interval()}


def league(trial: Trial) -> Found:
    """All differences at once. (The winner's own value is a method of its own, with its own truth.)"""
    x = trial.extra["systems"]
    one = many(x, on=trial.design, higher_is_better=True)
    alone = many(x, on=_once(trial.design), higher_is_better=True)
    t = float(stdtrit(trial.design.df, 0.975))
    pairs = x.shape[1] * (x.shape[1] - 1) / 2
    wide = float(stdtrit(trial.design.df, 1 - 0.025 / pairs))
    best = one.winner()
    k = one.systems.index(best.system)
    shift = trial.truth[0, 0] - trial.extra["rates"][k]  # the winner is judged against its own rate
    at = np.full(trial.truth.shape, 1.0)
    naive = one.estimate.at(best.system).interval()
    return {
        "default": one.intervals(),
        "Bonferroni": (one.differences - wide * one.errors, one.differences + wide * one.errors),
        "each pair alone": (one.differences - t * one.errors, one.differences + t * one.errors),
        RIVAL + "max-t on rows": alone.intervals(),
        "winner, corrected": (trial.truth + (best.low + shift) * at, trial.truth + (best.high + shift) * at),
        "winner, naive": (trial.truth + (naive[0] + shift) * at, trial.truth + (naive[1] + shift) * at),
    }


# ---- rivals


def _wilson(p: Any, n: float, z: float) -> Limits:
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return centre - half, centre + half


def rows(trial: Trial) -> Found:
    """What comes out when every row counts as an independent trial."""
    y = trial.columns["right"]
    n, p = len(y), float(y.mean())
    se = float(y.std(ddof=1)) / np.sqrt(n)
    exact = intervals.exact(np.asarray(p), float(n), 0.95)
    found = {
        RIVAL + "Wilson on rows": _wilson(p, n, Z),
        RIVAL + "exact on rows": (float(exact[0]), float(exact[1])),
        RIVAL + "normal on rows": (p - Z * se, p + Z * se),
        # percentiles of resampled 0 and 1 are quantiles of the binomial: no resampling needed
        RIVAL + "row bootstrap": tuple(binom.ppf([0.025, 0.975], n, p) / n),
    }
    stratum = trial.columns["stratum"]
    if stratum[-1] > 0:
        size = np.bincount(stratum)
        q = np.bincount(stratum, y) / size
        pooled = np.sqrt((size * q * (1 - q)).sum() / (n - len(size)) / n)
        found[RIVAL + "pooled by stratum"] = (p - Z * pooled, p + Z * pooled)
    return found


def units(trial: Trial) -> Found:
    """Clustered standard errors and bootstraps of units that know no strata."""
    y, unit = trial.columns["right"], trial.columns["unit"]
    n, p = len(y), float(y.mean())
    size = np.bincount(unit).astype(float)
    sums = np.bincount(unit, y)[size > 0]
    size = size[size > 0]
    c = len(size)
    se = np.sqrt(c / (c - 1) * ((sums - p * size) ** 2).sum()) / n
    t = float(stdtrit(c - 1, 0.975))
    effective = min(p * (1 - p) / se**2, n) if se > 0 else n
    counts = _resampled(c)
    made = counts @ sums / (counts @ size)
    return {
        RIVAL + "clustered, normal": (p - Z * se, p + Z * se),
        RIVAL + "clustered, t": (p - t * se, p + t * se),
        RIVAL + "clustered Wilson": _wilson(p, effective, t),
        RIVAL + "cluster bootstrap": tuple(np.quantile(made, [0.025, 0.975])),
    }


@lru_cache(maxsize=8)
def _resampled(number: int) -> Array:
    return np.random.default_rng(number).multinomial(number, np.full(number, 1 / number), BOOTSTRAPS).astype(float)


def normal_rows(trial: Trial) -> Found:
    """1.96 standard errors of independent rows."""
    y = trial.columns["right"]
    se = y.std(ddof=1) / np.sqrt(len(y))
    return {RIVAL + "normal on rows": (y.mean() - Z * se, y.mean() + Z * se)}


def row_bootstrap(trial: Trial) -> Found:
    """Percentiles of resampled rows, for any statistic."""
    return {RIVAL + "row bootstrap": _percentiles(trial, "rows")}


def unit_bootstrap(trial: Trial) -> Found:
    """Percentiles of resampled units, strata ignored, for any statistic."""
    if trial.design.rows_are_units and trial.design.n_strata == 1:
        return {}
    return {RIVAL + "cluster bootstrap": _percentiles(trial, "units")}


def _percentiles(trial: Trial, kind: str) -> Limits:
    one = _estimate(trial, _made(trial.design, kind))
    return (np.nan, np.nan) if one is None else one.interval(method="percentile")


def row_quantiles(trial: Trial) -> Found:
    """The order statistics that a binomial count of independent rows puts around the quantile."""
    y = np.sort(trial.columns["value"])
    low, high = binom.ppf([0.025, 0.975], len(y), trial.extra["q"]).astype(int)
    return {RIVAL + "order statistics of rows": (y[max(low - 1, 0)], y[min(high, len(y) - 1)])}


def delong(trial: Trial) -> Found:
    """DeLong's variance: placements of each row among those of the other class, rows independent."""
    y, s = trial.columns["truth"].astype(bool), trial.columns["score"]
    a, b = np.sort(s[y]), np.sort(s[~y])
    of_a, of_b = np.searchsorted(b, a) / len(b), 1 - np.searchsorted(a, b) / len(a)
    value, se = of_a.mean(), np.sqrt(of_a.var(ddof=1) / len(a) + of_b.var(ddof=1) / len(b))
    return {RIVAL + "DeLong": (value - Z * se, value + Z * se)}


def paired_rivals(trial: Trial) -> Found:
    """Unpaired z; paired z on rows; a bootstrap of units."""
    a, b, unit = trial.columns["a"], trial.columns["b"], trial.columns["unit"]
    d, n = a - b, len(a)
    apart = np.sqrt(a.var(ddof=1) / n + b.var(ddof=1) / n)
    alone = d.std(ddof=1) / np.sqrt(n)
    sums, size = np.bincount(unit, d), np.bincount(unit).astype(float)
    counts = _resampled(len(size))
    made = counts @ sums / (counts @ size)
    return {
        RIVAL + "unpaired z": (d.mean() - Z * apart, d.mean() + Z * apart),
        RIVAL + "paired z on rows": (d.mean() - Z * alone, d.mean() + Z * alone),
        RIVAL + "cluster bootstrap": tuple(np.quantile(made, [0.025, 0.975])),
    }


PROCEDURES: dict[str, Callable[[Trial], Found]] = {
    "closed": closed,
    "edges": edges,
    "replicates": replicates,
    "jackknife": jackknife,
    "bootstrap": bootstrap,
    "lone": lone,
    "other target": other_target,
    "band": band,
    "two-way": two_way,
    "paired": compared,
    "league": league,
    "rows": rows,
    "units": units,
    "normal rows": normal_rows,
    "row bootstrap": row_bootstrap,
    "unit bootstrap": unit_bootstrap,
    "row quantiles": row_quantiles,
    "delong": delong,
    "paired rivals": paired_rivals,
}
assert set(METHODS) >= {"t", "logit", "arcsine", "wilson", "exact"}
