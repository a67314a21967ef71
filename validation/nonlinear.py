"""Non-linear statistics with few units: how good is each way to find a variance?

For each statistic and design, `trials` samples are drawn; every method says a standard error for each. Reported are
the coverage of the default interval, the mean of the variances over the true variance (that of the estimates, over
the trials), how much the variances vary from sample to sample, and how often a method gives no answer.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import strat

from .counting import Tally, seed_of
from .scenarios import STATISTICS, area, correlation, labels
from .trials import Draw, Layout, Rng, Trial, layout

DESIGNS = {
    "4 strata of 2": layout(4, 2, 12),
    "10 strata of 2": layout(10, 2, 8),
    "16 strata of 2": layout(16, 2, 6),
    "5 strata of 3": layout(5, 3, 8),
    "4 strata of 5": layout(4, 5, 6),
    "6 strata of 2 to 7": layout(6, [2, 3, 4, 5, 6, 7], 6),
    "12 units": layout(1, 12, 10),
}


def ratio(where: Layout) -> Draw:
    """A ratio of two skewed totals of units: its linear part is far from all of it."""
    design = where.design()

    def draw(rng: Rng) -> Trial:
        own = np.exp(0.6 * rng.standard_normal(len(where.stratum)))[where.unit]
        x = own * np.exp(0.4 * rng.standard_normal(len(where.unit)))
        y = 0.5 * x + own * rng.standard_normal(len(where.unit)) * 0.5
        return Trial(strat.ratio(y, x), design, 0.5)

    return draw


THREE, SKEW = (0.5, 0.3, 0.2), (0.9, 0.8, 0.7)
MEASURES: dict[str, Callable[[Layout], Draw]] = {
    "ratio": ratio,
    "correlation": lambda w: correlation(w, 0.7, 0.3),
    "macro F1": lambda w: labels("macro F1", w, THREE, SKEW, 0.2),
    "kappa": lambda w: labels("kappa", w, THREE, SKEW, 0.2),
    "AUC": lambda w: area(w, 1.5, 0.3, pure=False),
}
assert set(MEASURES) & set(STATISTICS)


def _half_shrunk(design: Any) -> Any:
    return strat.generalized(design, rho=0.5)


METHODS: dict[str, Callable[[Any], Any]] = {
    "linearization": lambda design: design,
    "BRR": strat.brr,
    "Fay 0.3": partial(strat.fay, rho=0.3),
    "Fay 0.5": partial(strat.fay, rho=0.5),
    "Fay 0.7": partial(strat.fay, rho=0.7),
    "contrasts": strat.generalized,
    "contrasts, rho 0.5": _half_shrunk,
    "multi-array": strat.multi_array,
    "jackknife": strat.jackknife,
    "bootstrap": partial(strat.bootstrap, replicates=200),
    "plain bootstrap": partial(strat.bootstrap, replicates=200, kind="plain"),
}
EXPENSIVE = {("AUC", "multi-array"), ("AUC", "bootstrap"), ("AUC", "plain bootstrap")}


def cases() -> list[str]:
    """Names of all combinations, "statistic, design"."""
    return [f"{measure} | {where}" for measure in MEASURES for where in DESIGNS]


def _copies(design: Any, measure: str) -> dict[str, Any]:
    """The replicates that this design allows; those that equal others are left out."""
    made = {}
    pairs = bool((design.sizes == 2).all())
    for name, method in METHODS.items():
        if pairs and name in ("contrasts", "contrasts, rho 0.5"):
            continue  # BRR and Fay 0.5
        if (measure, name) in EXPENSIVE or (measure == "AUC" and not pairs and name in ("Fay 0.3", "Fay 0.7")):
            continue
        try:
            made[name] = method(design)
        except strat.StratError:
            continue
        if getattr(made[name], "number", 0) > 600:
            del made[name]
    return made


def run(case: str, trials: int, seed: int) -> dict[str, Any]:
    """All methods on one statistic and design."""
    measure, _, where = case.partition(" | ")
    draw = MEASURES[measure](DESIGNS[where])
    rng = np.random.default_rng(seed_of("nonlinear " + case, seed))
    tallies: dict[str, Tally] = {}
    variances: dict[str, list[float]] = {}
    points, copies, truth = [], {}, math.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(trials):
            trial = draw(rng)
            truth = trial.truth
            copies = copies or _copies(trial.design, measure)
            for name, on in copies.items():
                _try(name, on, trial, tallies, variances, points)
    true = float(np.var(points, ddof=1))
    return {
        "name": case,
        "measure": measure,
        "design": where,
        "trials": trials,
        "seed": seed,
        "truth": truth,
        "bias": float(f"{(np.mean(points) - truth) / math.sqrt(true):.3g}"),
        "methods": {name: {**tallies[name].figures(), **_quality(variances[name], true)} for name in copies},
    }


def _try(
    name: str, on: Any, trial: Trial, tallies: dict[str, Tally], variances: dict[str, list[float]], points: list[float]
) -> None:
    tally, seen = tallies.setdefault(name, Tally()), variances.setdefault(name, [])
    try:
        straight = name == "linearization"  # a correlation of few units would else be jackknifed
        one = strat.estimate(replace(trial.statistic, curved_below=0) if straight else trial.statistic, on=on)
    except strat.StratError:
        tally.add(math.nan, math.nan, trial.truth, math.inf)
        return
    if straight:
        points.append(float(one.value))
    seen.append(float(one.variance))
    tally.add(*one.interval(), trial.truth, float(one.bounds[1] - one.bounds[0]))


def _quality(variances: list[float], true: float) -> dict[str, float]:
    v = np.asarray(variances)
    if not len(v):
        return {"variance_ratio": math.nan, "variance_ratio_mc": math.nan, "variance_cv": math.nan}
    return {
        "variance_ratio": float(f"{v.mean() / true:.4g}"),
        "variance_ratio_mc": float(f"{v.std() / true / math.sqrt(len(v)):.2g}"),
        "variance_cv": float(f"{v.std() / v.mean():.3g}"),
    }
