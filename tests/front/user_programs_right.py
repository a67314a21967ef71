"""Programs that a type checker must accept: read by it, never run."""

from __future__ import annotations

import strat
from strat import Design, comparison, datasets, recognition

table = {"y": [0, 1, 1, 0], "p": [0, 1, 0, 0], "q": [0, 1, 1, 1], "site": ["a", "a", "b", "b"]}


def evaluate_a_table() -> str:
    found = strat.evaluate(table, truth="y", predicted="p", units="site", metrics=["accuracy", "f1"])
    estimate: strat.Estimate = found["accuracy"]
    low, high = estimate.interval(level=0.9)
    return f"{estimate.value:.3f} {float(low):.3f} to {float(high):.3f}, se {estimate.se:.3f}, {estimate.design}"


def estimate_a_statistic() -> float:
    design = Design.stratified(["a", "a", "b", "b"], units=[1, 2, 3, 4])
    accuracy = strat.estimate(strat.accuracy([0, 1, 1, 0], [0, 1, 0, 0]), on=design)
    width = accuracy.interval()[1] - accuracy.interval()[0]
    return float(accuracy.value + 2 * accuracy.se) + float(width) + accuracy.least_df


def replicate_and_test() -> strat.estimation.Test:
    design = Design.clustered(["a", "a", "b", "b"])
    replicates = strat.bootstrap(design, replicates=100, rng=1)
    return strat.estimate(strat.f1([0, 1, 1, 0], [0, 1, 0, 0], positive=1), on=replicates).test(null=0.5)


def every_part_is_visible() -> tuple[float, float]:
    ranks = recognition.ranks(similarity=[[0.9, 0.1], [0.2, 0.8]], probes=["a", "b"], gallery=["a", "b"])
    assert isinstance(ranks, recognition.Ranks)
    test = comparison.mcnemar([0, 1, 1], [0, 1, 0], [1, 1, 1])
    strat.planning.rows_for_width(width=0.1, proportion=0.5)
    strat.algebra.hadamard(8)
    datasets.benchmark(rng=1)
    low, high = strat.estimation.proportions.wilson(90, 100)
    return float(low) + test.pvalue, float(high)


def explain_and_check() -> None:
    strat.explain(strat.evaluate(table, truth="y", predicted="p"))
    strat.check(table, truth="y", predicted="p", trials=50)
    strat.compare(table, truth="y", predicted=["p", "q"])
    strat.measures.chow([[0.2, 0.8]], cost=0.1, labels=["a", "b"])
