"""Coverage of two-phase intervals: `python -m validation.two_phase [runs]`.

Each scenario draws a population of units, a judge that errs with the unit, and a few labels; the interval must hold the
true value. Beside ours: prediction-powered inference (PPI++) as its authors wrote it, for independent rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, ndtri

import strat
from strat.estimation.two_phase import two_phase

Draw = dict[str, Any]
TRUE_DRAWS = 2_000_000


@dataclass(frozen=True)
class Scenario:
    """What is drawn and measured.

    Attributes
    ----------
    name
        In words.
    units, rows
        Units in the sample, and rows in each.
    labels
        Labelled rows, or labelled units where whole ones are labelled.
    scheme
        "rows" (simple random), "units" (whole ones), "strata" (by judge score, most in the middle).
    spread
        Standard deviation of units, on the logit scale: 0 for independent rows.
    measure
        "mean", "accuracy", "f1" or "auc".
    estimator
        As in `two_phase`.
    """

    name: str
    units: int
    rows: int
    labels: int
    scheme: str = "rows"
    spread: float = 0.0
    measure: str = "mean"
    estimator: str = "regression"


SCENARIOS = (
    Scenario("independent rows, 30 labels", 1000, 1, 30),
    Scenario("independent rows, 100 labels", 1000, 1, 100),
    Scenario("independent rows, 100 labels, difference", 1000, 1, 100, estimator="difference"),
    Scenario("clusters, 60 labelled rows", 100, 10, 60, spread=1.0),
    Scenario("clusters, 200 labelled rows", 100, 10, 200, spread=1.0),
    Scenario("few clusters, 100 labelled rows", 30, 30, 100, spread=1.0),
    Scenario("whole clusters labelled, 15 of 100", 100, 10, 15, "units", 1.0),
    Scenario("whole clusters labelled, 40 of 100", 100, 10, 40, "units", 1.0),
    Scenario("drawn by judge score, 90 labels", 1000, 1, 90, "strata"),
    Scenario("drawn by judge score, 90 labels, λ by stratum", 1000, 1, 90, "strata", estimator="stratified"),
    Scenario("drawn by judge score, clusters, 150 labels", 100, 10, 150, "strata", 1.0),
    Scenario("accuracy, clusters, 100 labels", 100, 10, 100, spread=1.0, measure="accuracy"),
    Scenario("F1, clusters, 150 labels", 100, 10, 150, spread=1.0, measure="f1"),
    Scenario("AUC, clusters, 150 labels", 100, 10, 150, spread=1.0, measure="auc"),
)


def drawn(s: Scenario, units: int, rng: np.random.Generator) -> Draw:
    """Rows of so many units: human judgement, judge's score and class, a system's score and class."""
    unit = np.repeat(np.arange(units), s.rows)
    shift = s.spread * rng.standard_normal(units)[unit]
    bias = 0.5 * s.spread * rng.standard_normal(units)[unit]
    latent = 1.0 + 1.5 * rng.standard_normal(len(unit)) + shift
    human = (rng.random(len(unit)) < expit(latent)).astype(np.int64)
    judge = expit(0.8 * latent + 0.4 + bias + 0.5 * rng.standard_normal(len(unit)))
    system = 1.2 * (2 * human - 1) + 0.4 * shift + 1.5 * rng.standard_normal(len(unit))
    return {
        "unit": unit, "human": human, "judge": judge, "judged": (judge > 0.5).astype(np.int64),
        "system": system, "guess": (system > 0).astype(np.int64),
    }  # fmt: skip


def labelled(s: Scenario, d: Draw, rng: np.random.Generator) -> tuple[Any, Any]:
    """Which rows are labelled, and the groups within which they were drawn."""
    n = len(d["human"])
    chosen = np.zeros(n, bool)
    if s.scheme == "units":
        chosen[np.isin(d["unit"], rng.choice(s.units, s.labels, replace=False))] = True
        return chosen, None
    if s.scheme == "rows":
        chosen[rng.choice(n, s.labels, replace=False)] = True
        return chosen, None
    groups = np.digitize(d["judge"], np.quantile(d["judge"], [1 / 3, 2 / 3]))
    for group, share in enumerate((0.5, 0.35, 0.15)):
        inside = np.flatnonzero(groups == group)
        chosen[rng.choice(inside, min(len(inside), round(share * s.labels)), replace=False)] = True
    return chosen, groups


MEASURES: dict[str, Callable[[Any, Any, Draw], Any]] = {
    "mean": lambda truth, score, d: replace(strat.mean(score), link="logit", bounds=(0.0, 1.0)),  # as `evaluate` has it
    "accuracy": lambda truth, score, d: strat.accuracy(truth, d["guess"]),
    "f1": lambda truth, score, d: strat.f1(truth, d["guess"], positive=1),
    "auc": lambda truth, score, d: strat.auc(truth, d["system"], positive=1),
}


def ours(s: Scenario, d: Draw, chosen: Any, groups: Any) -> strat.Estimate:
    """The two-phase estimate."""
    filled = np.where(chosen, d["human"], 0)
    measure = MEASURES[s.measure]
    statistic = two_phase(
        measure(filled, filled.astype(float), d),
        proxy=measure(d["judged"], d["judge"], d),
        labelled=chosen,
        strata=groups,
        units=d["unit"],
        estimator=s.estimator,
    )
    return strat.estimate(statistic, on=strat.Design.clustered(d["unit"]))


def ppi(s: Scenario, d: Draw, chosen: Any) -> tuple[float, float] | None:
    """PPI++ for a mean of independent rows (Angelopoulos, Duchi and Zrnic 2023, section 6)."""
    if s.measure != "mean" or s.scheme == "strata":
        return None
    y, f, rest = d["human"][chosen], d["judge"][chosen], d["judge"][~chosen]
    n, more = len(y), len(rest)
    lam = np.cov(y, f)[0, 1] / ((1 + n / more) * np.var(d["judge"], ddof=1)) if s.estimator == "regression" else 1.0
    point = lam * rest.mean() + (y - lam * f).mean()
    se = np.sqrt(lam**2 * rest.var() / more + (y - lam * f).var() / n)
    return point - ndtri(0.975) * se, point + ndtri(0.975) * se


def truth_of(s: Scenario) -> float:
    """The true value, from a very large draw."""
    d = drawn(s, TRUE_DRAWS // s.rows, np.random.default_rng(20_000))
    return float(MEASURES[s.measure](d["human"], d["human"].astype(float), d).value())


def trial(s: Scenario, runs: int) -> tuple[float, float, float | None]:
    """Coverage and mean width of ours, and coverage of PPI++."""
    value = truth_of(s)
    hits, widths, theirs = [], [], []
    for run in range(runs):
        rng = np.random.default_rng([run, s.labels, s.units])
        d = drawn(s, s.units, rng)
        chosen, groups = labelled(s, d, rng)
        low, high = ours(s, d, chosen, groups).interval(0.95)
        hits.append(low <= value <= high)
        widths.append(high - low)
        other = ppi(s, d, chosen)
        if other is not None:
            theirs.append(other[0] <= value <= other[1])
    return float(np.mean(hits)), float(np.mean(widths)), float(np.mean(theirs)) if theirs else None


def main(runs: int = 2000) -> None:
    """Print a line for each scenario."""
    print(f"{'scenario':45s} coverage   width   PPI++   ({runs} runs)")
    for s in SCENARIOS:
        coverage, width, other = trial(s, runs)
        beside = "" if other is None else f"{100 * other:5.1f} %"
        print(f"{s.name:45s}   {100 * coverage:5.1f} %  {width:.4f}  {beside}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
