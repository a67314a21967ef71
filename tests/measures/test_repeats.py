"""Measures of repeats against all subsets counted one by one, published figures, and what is refused."""

from __future__ import annotations

import csv
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import strat
from strat.base.errors import StratError
from strat.planning import RepeatVariance, repeat_variance

TRIES = st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=3, max_size=6), min_size=1, max_size=5)
SCORES = st.lists(st.lists(st.floats(-5, 5), min_size=3, max_size=6), min_size=1, max_size=5)


def rows(tries: list[list[float]]) -> tuple[list[float], list[int]]:
    return [v for one in tries for v in one], [i for i, one in enumerate(tries) for _ in one]


def over_subsets(tries: list[list[float]], k: int, of: Any) -> float:
    return float(np.mean([np.mean([of(s) for s in combinations(one, k)]) for one in tries]))


@given(tries=TRIES, k=st.integers(1, 3))
def test_shares_are_those_of_all_subsets(tries: list[list[float]], k: int) -> None:
    success, items = rows(tries)
    for function, of in (
        (strat.pass_at_k, lambda s: max(s)),
        (strat.pass_hat_k, lambda s: min(s)),
        (strat.majority_at_k, lambda s: 1.0 if sum(s) > len(s) / 2 else 0.5 if sum(s) == len(s) / 2 else 0.0),
    ):
        value = float(function(success, k=k, items=items).value())
        assert value == pytest.approx(over_subsets(tries, k, of), abs=1e-12)


@given(tries=SCORES, k=st.integers(1, 3))
def test_the_best_and_the_mean_are_those_of_all_subsets(tries: list[list[float]], k: int) -> None:
    score, items = rows(tries)
    assert float(strat.best_of_k(score, k=k, items=items).value()) == pytest.approx(
        over_subsets(tries, k, max), abs=1e-9
    )
    assert float(strat.mean_at_k(score, k=k, items=items).value()) == pytest.approx(
        over_subsets(tries, k, np.mean), abs=1e-9
    )


@given(tries=TRIES)
def test_laws_between_measures(tries: list[list[float]]) -> None:
    success, items = rows(tries)
    at = [float(strat.pass_at_k(success, k=k, items=items).value()) for k in (1, 2, 3)]
    hat = [float(strat.pass_hat_k(success, k=k, items=items).value()) for k in (1, 2, 3)]
    assert at[0] == pytest.approx(hat[0])
    assert at == sorted(at)
    assert hat == sorted(hat, reverse=True)
    agree = float(strat.consistency(success, items=items).value())
    wrong = float(strat.pass_hat_k([1 - s for s in success], k=2, items=items).value())
    assert agree == pytest.approx(hat[1] + wrong)  # both right, or both wrong


@given(tries=TRIES, seed=st.integers(0, 9))
def test_order_and_names_do_not_matter(tries: list[list[float]], seed: int) -> None:
    success, items = rows(tries)
    order = np.random.default_rng(seed).permutation(len(success))
    renamed = [f"item {9 - i}" for i in items]
    for function in (strat.pass_at_k, strat.pass_hat_k, strat.majority_at_k, strat.best_of_k):
        plain = function(success, k=2, items=items).value()
        turned = function(np.array(success)[order], k=2, items=np.array(renamed)[order]).value()
        assert float(turned) == pytest.approx(float(plain), abs=1e-12)


def test_the_standard_error_is_that_of_the_item_values() -> None:
    rng = np.random.default_rng(0)
    items = np.repeat(np.arange(80), 4)
    success = (rng.random(320) < np.repeat(rng.random(80), 4)).astype(float)
    estimate = strat.estimate(strat.pass_hat_k(success, k=2, items=items), on=strat.Design.clustered(units=items))
    c = success.reshape(80, 4).sum(axis=1)
    values = c * (c - 1) / 12
    assert float(estimate.value) == pytest.approx(values.mean())
    assert float(estimate.se) == pytest.approx(values.std(ddof=1) / np.sqrt(80))


def test_votes_and_ties() -> None:
    value = strat.majority_vote([1, 1, 1, 2, 2, 3], [1, 1, 0, 2, 9, 4], items=list("aaabbc")).value()
    assert float(value) == pytest.approx((1 + 0.5 + 0) / 3)


@pytest.mark.shared
def test_published_figures_of_tau_bench(shared: Path) -> None:
    """gpt-4o on the airline tasks, 50 × 4 trials: pass^1 to pass^4 as published by sierra-research/tau-bench."""
    with (shared / "data/fields/taubench_airline_gpt4o.csv").open() as file:
        lines = list(csv.DictReader(file))
    table = {"task": [r["task"] for r in lines], "reward": [float(r["reward"]) for r in lines]}
    result = strat.evaluate(table, score="reward", items="task", metrics=["pass^1", "pass^2", "pass^3", "pass^4"])
    assert [round(float(result[f"pass^{k}"].value), 3) for k in (1, 2, 3, 4)] == [0.42, 0.273, 0.22, 0.2]


def test_wide_and_long_tables_agree() -> None:
    rng = np.random.default_rng(3)
    items, trial = np.repeat(np.arange(30), 3), np.tile([1, 2, 3], 30)
    a, b = (rng.random(90) < 0.6).astype(float), (rng.random(90) < 0.7).astype(float)
    topic = items // 3
    wide = strat.compare(
        {"item": items, "a": a, "b": b, "topic": topic}, score=["a", "b"], items="item", units="topic", metrics="pass^2"
    )
    long = strat.compare(
        {"system": ["a"] * 90 + ["b"] * 90, "item": np.tile(items, 2), "t": np.tile(trial, 2),
         "score": np.concatenate([a, b]), "topic": np.tile(topic, 2)},
        system="system", items="item", epoch="t", score="score", units="topic", metrics="pass^2",
    )  # fmt: skip
    assert wide.difference("b", "a").value == pytest.approx(long.difference("b", "a").value)
    assert wide.difference("b", "a").se == pytest.approx(long.difference("b", "a").se)


def test_variance_parts_are_found_again() -> None:
    rng = np.random.default_rng(0)
    means = rng.normal(0, 0.5, 4000)
    score = np.repeat(means, 3) + rng.normal(0, 1.0, 12000)
    parts = repeat_variance(score, items=np.repeat(np.arange(4000), 3))
    assert parts.within == pytest.approx(1.0, rel=0.05)
    assert parts.between == pytest.approx(0.25, rel=0.15)
    assert parts.se() == pytest.approx(np.sqrt((0.25 + 1 / 3) / 4000), rel=0.05)


@given(
    within=st.floats(0.01, 1), between=st.floats(0.01, 1), item_cost=st.floats(0, 20), budget=st.integers(100, 2000)
)  # fmt: skip
@example(within=0.75, between=0.01, item_cost=13.0, budget=168)  # 4 items, not 3, whose repeats leave 30 unspent
def test_no_other_split_of_the_budget_is_much_better(
    within: float, between: float, item_cost: float, budget: int
) -> None:
    parts = RepeatVariance(10, 2.0, within, between)
    best = parts.best_split(budget, item_cost=item_cost)
    assert best.cost <= budget
    others = [parts._split(budget, r, item_cost, 1.0) for r in range(1, 60) if item_cost + r <= budget]
    assert best.se <= 1.1 * min(other.se for other in others)  # whole numbers of items leave some of a small budget


WRONG: list[tuple[Any, str]] = [
    (lambda: strat.pass_at_k([1, 0, 2], k=1, items=[1, 1, 1]), "`success` must be 0 or 1"),
    (lambda: strat.pass_at_k([1, 0], k=3, items=[1, 1]), "`k` must be at most the number of repeats of every item"),
    (lambda: strat.pass_at_k([1, 0], k=0, items=[1, 1]), "`k` must be a whole number"),
    (lambda: strat.pass_hat_k([1, 0], k=1, items=[1]), "`items` must have one label for each of the 2 rows"),
    (lambda: strat.consistency([1, 0], items=[1, 2]), "`k` must be at most"),
    (lambda: strat.majority_vote([1, 2], [1, 1], items=[1, 1]), "`truth` must be the same in all repeats"),
    (lambda: repeat_variance([1, 0], items=[1, 2]), "`items` must hold at least two items, of which one has repeats"),
    (lambda: RepeatVariance(2, 2, 1, 1).best_split(1, item_cost=1), "`budget` must pay for one run of one item"),
    (lambda: RepeatVariance(2, 2, 1, 1).best_split(9, item_cost=-1), "`item_cost` must not be negative"),
    (
        lambda: strat.evaluate({"s": [1, 0] * 2, "i": [1, 1, 2, 2]}, score="s", items="i", metrics="pass@3"),
        "`k` must be at most the number of repeats",
    ),
    (lambda: strat.evaluate({"s": [1, 0]}, score="s", metrics="pass@1"), "`items` must name a column for the measure"),
    (
        lambda: strat.compare(
            {"system": ["a", "b"], "item": [1, 1], "score": [1, 0]}, metrics=["pass@1", "accuracy"]
        ),
        "`metrics` must not mix measures of repeats with others, got 'accuracy'",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(WRONG)))
def test_what_is_refused(case: int) -> None:
    call, message = WRONG[case]
    with pytest.raises(StratError, match=message):
        call()


def test_votes_and_consistency_are_measures_of_evaluate_compare_and_gate() -> None:
    rng = np.random.default_rng(0)
    task, truth = np.repeat(np.arange(30), 3), np.repeat(rng.integers(0, 3, 30), 3)
    table: dict[str, Any] = {"task": task, "truth": truth}
    for name in ("old", "new"):
        table[name] = np.where(rng.random(90) < 0.7, truth, rng.integers(0, 3, 90))
    design = strat.Design.clustered(units=task)
    expected = {
        "majority_vote": strat.majority_vote(truth, table["new"], items=task),
        "consistency": strat.consistency(table["new"], items=task),
        "pass^2": strat.pass_hat_k(table["new"] == truth, k=2, items=task),
    }
    for name, statistic in expected.items():
        alone = strat.estimate(statistic, on=design)
        own = strat.evaluate(table, truth="truth", predicted="new", items="task", metrics=name)[name]
        assert own.interval() == pytest.approx(alone.interval())
        how: dict[str, Any] = {"truth": "truth", "items": "task", "metrics": name}
        board = strat.compare(table, predicted=["old", "new"], **how)
        assert board.estimate.at("new").value == pytest.approx(alone.value)
        check = strat.gate(table, baseline="old", candidate="new", margin=0.1, **how).checks[0]
        assert check.value == pytest.approx(board.difference("new", "old").value)


def test_consistency_of_scores_in_a_long_table() -> None:
    rows = [(s, i, t, float((i * t + len(s)) % 3 > 0)) for s in ("a", "bb") for i in range(8) for t in range(3)]
    system, item, trial, score = (list(column) for column in zip(*rows, strict=True))
    table = {"system": system, "item": item, "trial": trial, "score": score}
    board = strat.compare(
        table, system="system", items="item", epoch="trial", score="score", metrics=["consistency", "pass^2"]
    )
    own = [k for k, name in enumerate(system) if name == "bb"]
    direct = strat.consistency([score[k] for k in own], items=[item[k] for k in own]).value()
    assert board.estimate.at("bb").value == pytest.approx(float(direct))
    with pytest.raises(StratError, match="`truth` must name a column for the measure 'majority_vote'"):
        strat.evaluate(table, score="score", items="item", metrics="majority_vote")
