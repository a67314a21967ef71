"""One number per question: where two still answer, a note says so, and a strict expected failure names its issue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import strat
from strat.base.notes import codes_of
from strat.data.logs.item_table import ItemTable
from strat.estimation.functions import Difference

PUBLISHED = {1: 0.8970370, 2: 0.9408374}  # mean AUC of the five readers by treatment, as MRMCaov prints for Van Dyke
CROSSED = strat.Sampling(crossed=["reader", "case"])
RNG = np.random.default_rng(6)


@pytest.fixture
def readings(shared: Path) -> pd.DataFrame:
    return pd.read_csv(shared / "data/fields/vandyke_readers.csv")


def of_readers(rows: pd.DataFrame) -> strat.Evaluation:
    return strat.evaluate(rows, truth="truth", score="rating", design=CROSSED, metrics="auc")


@pytest.mark.shared
@pytest.mark.xfail(strict=True, reason="pools the ratings of different readers; One question, one answer")
@pytest.mark.parametrize("treatment", PUBLISHED)
def test_an_auc_over_crossed_readers_is_the_mean_of_the_readers_own(treatment: int, readings: pd.DataFrame) -> None:
    found = of_readers(readings[readings["treatment"] == treatment])
    assert found["auc"].value == pytest.approx(PUBLISHED[treatment], abs=5e-8)


@pytest.mark.shared
def test_until_then_a_note_says_that_readers_are_pooled_and_where_the_mean_is(readings: pd.DataFrame) -> None:
    one = readings[readings["treatment"] == 1]
    assert "pooled-over-crossed" in codes_of(of_readers(one).notes)
    study = strat.comparison.readers(one["truth"], one["rating"], reader=one["reader"], case=one["case"])
    assert study.values[0].value == pytest.approx(PUBLISHED[1], abs=5e-8)


@pytest.mark.parametrize("metric", ["auc", "average_precision", "brier"])
def test_the_note_stands_at_measures_that_compare_rows_with_rows(metric: str) -> None:
    reader, case = np.divmod(np.arange(120), 30)
    truth = case % 2
    table = {"reader": reader, "case": case, "y": truth} | {s: 0.5 * truth + 0.5 * RNG.random(120) for s in "ab"}
    alone = strat.evaluate(table, truth="y", score="a", design=CROSSED, metrics=metric)
    board = strat.compare(table, truth="y", score=["a", "b"], design=CROSSED, metrics=metric)
    gate = strat.gate(table, truth="y", score=["a", "b"], design=CROSSED, metrics=metric, baseline="a", margin=0.1)
    for notes in (alone.notes, board.notes, gate.notes):
        assert ("pooled-over-crossed" in codes_of(notes)) == (metric != "brier")


WIDE = {name: (RNG.random(60) < share).astype(float) for name, share in {"a": 0.8, "b": 0.6, "c": 0.7}.items()}


@pytest.mark.parametrize("systems", [["a", "b"], ["a", "b", "c"]], ids=len)
def test_a_difference_names_the_limits_that_are_printed_if_its_own_are_others(systems: list[str]) -> None:
    board = strat.compare(WIDE, score=systems)
    assert "other-limits" in codes_of(board.difference("a", "b").notes)
    pairs = board.pairs()
    place = next(k for k in range(len(pairs["better"])) if {pairs["better"][k], pairs["worse"][k]} == {"a", "b"})
    printed = board.interval() if len(systems) == 2 else (pairs["low"][place], pairs["high"][place])
    assert f"{printed[0]:.4f} to {printed[1]:.4f}" in " ".join(board.difference("a", "b").notes)


@pytest.mark.xfail(strict=True, reason="two intervals of one difference; One question, one answer")
def test_the_difference_of_two_systems_has_the_limits_of_their_comparison() -> None:
    board = strat.compare(WIDE, score=["a", "b"])
    assert board.difference("a", "b").interval() == pytest.approx(board.interval(), rel=1e-9)


def tried(*systems: str) -> ItemTable:
    """Three tries of 36 items by these systems."""
    ease = np.random.default_rng(1).random(36)
    tries = np.repeat(ease, 3)
    scores = [(np.random.default_rng(ord(name)).random(108) < tries).astype(float) for name in systems]
    return ItemTable(
        system=np.repeat(systems, 108),
        items=np.tile(np.repeat(np.arange(36), 3), len(systems)),
        score=np.concatenate(scores),
        epoch=np.tile([1, 2, 3], 36 * len(systems)),
    )


@pytest.mark.xfail(strict=True, reason="limits of item means beside limits of tries; One question, one answer")
def test_a_system_with_repeats_has_the_limits_of_its_own_evaluation() -> None:
    (alone,) = strat.evaluate(tried("A")).estimates.values()
    assert strat.compare(tried("A", "B")).estimate.at("A").interval() == pytest.approx(alone.interval(), rel=1e-9)


def test_until_then_the_board_says_what_its_limits_are_of() -> None:
    (note,) = (n for n in strat.compare(tried("A", "B")).notes if getattr(n, "code", "") == "repeats-averaged")
    assert note.facts == {"case": "tries", "least": 3, "most": None}


def judged() -> dict[str, Any]:
    """A thousand judged rows, 900 of them right, of which forty have labels; the judge agrees with all of them."""
    judge = (np.arange(1000) % 10 > 0).astype(float)
    return {"judge": judge, "label": np.where(np.arange(1000) % 25 == 0, judge, np.nan)}


def test_limits_allow_for_errors_of_the_judge_that_forty_labels_do_not_show() -> None:
    found = strat.evaluate(judged(), score="label", proxy="judge")["mean"]
    possible = 1 - 0.05 ** (1 / 40)  # what forty labels without an error don't rule out
    assert found.value - found.interval()[0] > 0.5 * possible


def two_groups() -> strat.Estimate:
    """Five rows of five right, and ninety of a hundred."""
    inside = np.arange(105) < 5
    right = strat.proportion(np.arange(105) < 95)
    both = strat.stack("group", a=strat.domain(right, inside), b=strat.domain(right, ~inside))
    return strat.estimate(both, on=strat.Design.simple_random(n=105))


def test_a_difference_from_what_did_not_vary_says_that_it_takes_it_as_known() -> None:
    both = two_groups()
    assert "known-part" in codes_of(both.map(Difference(0, 1)).notes)
    assert "known-part" not in codes_of(both.map(Difference(1, 1)).notes)


@pytest.mark.xfail(strict=True, reason="a group without errors is known exactly; Intervals that hold")
def test_a_group_without_errors_is_not_shown_to_differ_where_fishers_test_does_not() -> None:
    assert two_groups().map(Difference(0, 1)).test().pvalue > 0.05  # Fisher's exact test: 1
