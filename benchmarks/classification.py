"""Classification measures against the packages that give them intervals: time, and what the intervals cover."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtri

import strat
from benchmarks.harness import best, ratio, rival, show
from strat.measures.classification import f1
from strat.measures.scores import auc

ROWS, CLASSES, REPLICATES, GROUPS = 100_000, 10, 1_000, 1_000
FEW = 20  # replicates that a slow rival is given; its time is scaled up to REPLICATES


def labels(rows: int = ROWS, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, CLASSES, rows)
    return truth, np.where(rng.random(rows) < 0.7, truth, rng.integers(0, CLASSES, rows))


def macro_f1(truth: Any, predicted: Any) -> float:
    from sklearn.metrics import f1_score

    return float(f1_score(truth, predicted, average="macro"))


def by_confidenceinterval(truth: np.ndarray, predicted: np.ndarray) -> Callable[[], Any] | None:
    package = rival("confidenceinterval")
    if package is None:
        return None
    options = {"average": "macro", "method": "bootstrap_percentile", "n_resamples": FEW}
    return lambda: package.f1_score(truth, predicted, **options)


def by_mlxtend(truth: np.ndarray, predicted: np.ndarray) -> Callable[[], Any] | None:
    if rival("mlxtend") is None:
        return None
    from mlxtend.evaluate import bootstrap

    both = np.column_stack([truth, predicted])
    return lambda: bootstrap(both, num_rounds=FEW, func=lambda rows: macro_f1(rows[:, 0], rows[:, 1]), seed=1)


def by_scipy(truth: np.ndarray, predicted: np.ndarray) -> Callable[[], Any]:
    from scipy.stats import bootstrap

    options = {"paired": True, "vectorized": False, "n_resamples": FEW, "method": "percentile"}
    return lambda: bootstrap((truth, predicted), macro_f1, **options)


def by_luferrer(truth: np.ndarray, predicted: np.ndarray, groups: np.ndarray) -> Callable[[], Any] | None:
    package = rival("confidence_intervals")
    if package is None:
        return None

    def job() -> Any:
        return package.evaluate_with_conf_int(
            predicted, lambda y, p: macro_f1(y, p), truth, conditions=groups, num_bootstraps=2
        )

    return job


def resampling() -> None:
    truth, predicted = labels()
    independent = strat.Design.simple_random(n=ROWS)
    groups = np.random.default_rng(2).integers(0, GROUPS, ROWS)

    def ours() -> None:
        strat.estimate(
            f1(truth, predicted, average="macro"), on=strat.bootstrap(independent, replicates=REPLICATES)
        ).interval()

    def ours_clustered() -> None:
        design = strat.Design.clustered(units=groups)
        strat.estimate(
            f1(truth, predicted, average="macro"), on=strat.bootstrap(design, replicates=REPLICATES)
        ).interval()

    mine, mine_clustered = best(ours, 5), best(ours_clustered, 5)
    job = f"macro-F1, {ROWS:,} rows × {REPLICATES:,}"
    rows = []
    for name, rival_job in (
        ("confidenceinterval", by_confidenceinterval(truth, predicted)),
        ("mlxtend bootstrap", by_mlxtend(truth, predicted)),
        ("scipy.stats.bootstrap", by_scipy(truth, predicted)),
    ):
        theirs = None if rival_job is None else best(rival_job) * REPLICATES / FEW
        rows.append([job, name, _seconds(theirs), _seconds(mine), ratio(theirs, mine), "500 ×"])
    luferrer = by_luferrer(truth, predicted, groups)
    theirs = None if luferrer is None else best(luferrer) * REPLICATES / 2
    times = [_seconds(theirs), _seconds(mine_clustered), ratio(theirs, mine_clustered)]
    rows.append([f"the same, {GROUPS:,} groups", "confidence_intervals (conditions=)", *times, "1,000 ×"])
    show(f"bootstrap intervals, CPU seconds (rivals given {FEW} replicates, 2 with groups, and scaled)", HEAD, rows)


HEAD = ("job", "rival", "its time", "ours", "ratio", "wanted")


def areas(rows: int = 1_000_000) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, rows)
    score = rng.normal(truth)
    design = strat.Design.simple_random(n=rows)
    mine = best(lambda: strat.estimate(auc(truth, score), on=design).interval())
    clustered = strat.Design.clustered(units=np.arange(rows) // 20)
    mine_clustered = best(lambda: strat.estimate(auc(truth, score), on=clustered).interval())
    table = []
    package = rival("confidenceinterval")
    if package is not None:
        theirs = best(lambda: package.roc_auc_score(truth, score))
        table.append(
            [
                f"AUC, {rows:,} rows",
                "confidenceinterval (DeLong)",
                _seconds(theirs),
                _seconds(mine),
                ratio(theirs, mine),
                "5 ×",
            ]
        )
    package = rival("MLstatkit")
    if package is not None:
        theirs = best(lambda: package.Delong_test(truth, score, score + 1e-3 * truth))
        table.append(
            [
                "the same (it compares two scores)",
                "MLstatkit (DeLong)",
                _seconds(theirs),
                _seconds(mine),
                ratio(theirs, mine),
                "5 ×",
            ]
        )
    table.append(["the same, 50,000 clusters", "none", "-", _seconds(mine_clustered), "-", "right"])
    show("the area under the ROC curve with an interval, CPU seconds", HEAD, table)


def coverage(simulations: int = 200) -> None:
    """100 groups of 20 rows, intraclass correlation 0.3: what nominal 95 % intervals cover."""
    rng = np.random.default_rng(4)
    sigma, groups, size = 1.015, 100, 20
    truth = np.tile(np.arange(size) % 2, groups)
    design = strat.Design.clustered(units=np.repeat(np.arange(groups), size))
    ci = rival("confidenceinterval")
    z = ndtri(0.8)

    def draw(number: int) -> np.ndarray:
        ease = z * np.sqrt(1 + sigma**2) + sigma * rng.normal(size=(number, 1))
        return (ease + rng.normal(size=(number, size))).ravel()

    signal = draw(100_000)
    many = np.tile(np.arange(size) % 2, 100_000)
    measures = {
        "accuracy": (
            lambda y, s: strat.accuracy(y, (s > 0).astype(int)),
            lambda y, s: ci.accuracy_score(y, (s > 0).astype(int)),
        ),
        "F1": (
            lambda y, s: f1(y, (s > 0).astype(int)),
            lambda y, s: ci.f1_score(y, (s > 0).astype(int), average="binary"),
        ),
        "macro-F1": (
            lambda y, s: f1(y, (s > 0).astype(int), average="macro"),
            lambda y, s: ci.f1_score(y, (s > 0).astype(int), average="macro"),
        ),
        "AUC": (auc, lambda y, s: ci.roc_auc_score(y, s)),
    }
    true = {name: float(ours(many, (2 * many - 1) * signal).value()) for name, (ours, _) in measures.items()}
    held = {name: np.zeros(2) for name in measures}
    for _ in range(simulations):
        score = (2 * truth - 1) * draw(groups)
        for name, (ours, theirs) in measures.items():
            low, high = strat.estimate(ours(truth, score), on=design).interval()
            held[name][0] += low <= true[name] <= high
            if ci is not None:
                low, high = theirs(truth, score)[1]
                held[name][1] += low <= true[name] <= high
    rows = [
        [name, f"{a / simulations:.3f}", "-" if ci is None else f"{b / simulations:.3f}"]
        for name, (a, b) in held.items()
    ]
    title = f"coverage of nominal 95 %, {groups} groups × {size} rows, icc 0.3, {simulations} simulations"
    show(title, ("measure", "strat, clustered design", "confidenceinterval (rows independent)"), rows)


def _seconds(time: float | None) -> str:
    return "-" if time is None else f"{time:.3g} s"


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        resampling()
        areas()
        coverage()


if __name__ == "__main__":
    main()
