"""What `explain` says follows from the estimate, and nothing is said that does not hold."""

from __future__ import annotations

import numpy as np
import pytest

import strat
from strat.show.report import explain

RNG = np.random.default_rng(5)
UNIT = np.repeat(np.arange(40), 5)
STRATUM = UNIT % 4
RIGHT = (RNG.random(200) < np.clip(0.7 + 0.3 * RNG.standard_normal(40), 0, 1)[UNIT]).astype(float)
DESIGNS = {
    "simple random": strat.Design.simple_random(n=200),
    "stratified": strat.Design.stratified(strata=STRATUM),
    "clustered": strat.Design.clustered(units=UNIT),
    "stratified clusters": strat.Design.clustered(units=UNIT, strata=STRATUM),
    "systematic": strat.Design.systematic(order=np.arange(200)),
}


@pytest.mark.parametrize("kind", DESIGNS)
def test_every_kind_of_design_is_explained(kind: str) -> None:
    made = strat.estimate(strat.proportion(RIGHT), on=DESIGNS[kind])
    text = explain(made)
    assert f"{made.df:,.4g} degrees of freedom" in text
    assert made.target in text
    assert ("rows within one unit may be arbitrarily correlated" in text) == ("cluster" in kind)
    assert ("the strata are fixed" in text) == kind.startswith("stratified")
    assert ("logit" if kind in ("simple random", "systematic") else "beta-binomial") in text


def test_the_effective_size_is_that_of_the_estimate() -> None:
    made = strat.estimate(strat.proportion(RIGHT), on=DESIGNS["clustered"])
    assert f"{made.effective_size:,.0f} independent ones" in explain(made)


def test_replicates_are_named() -> None:
    made = strat.estimate(strat.mean(RIGHT), on=strat.jackknife(DESIGNS["clustered"]))
    assert "over the replicates of JK1" in explain(made)


def test_no_errors_is_explained() -> None:
    made = strat.estimate(strat.proportion(np.ones(30)), on=strat.Design.simple_random(n=30))
    assert "the limits are exact ones" in explain(made)


def test_few_degrees_of_freedom_are_explained() -> None:
    made = strat.estimate(strat.mean([1.0, 2.0, 4.0]), on=strat.Design.simple_random(n=3))
    assert "With only 2 degrees of freedom" in explain(made)


def test_many_values_have_a_band() -> None:
    made = strat.estimate(strat.stack("system", A=strat.mean(RIGHT), B=strat.mean(1 - RIGHT)), on=DESIGNS["clustered"])
    assert "the band holds for all of them at once" in explain(made)


def test_a_result_that_holds_an_estimate_will_do() -> None:
    table = {"truth": list("aabbaabb"), "said": list("aabaaabb"), "who": [1, 1, 1, 1, 2, 2, 3, 3]}
    found = strat.evaluate(table, truth="truth", predicted="said", units="who", metrics="accuracy")
    assert explain(found) == explain(found["accuracy"])
    board = strat.compare({"A": [1, 1, 1, 0, 1, 1], "B": [0, 1, 0, 0, 1, 1]}, score=["A", "B"])
    assert explain(board).startswith("Mean score has 2 values")


def test_a_difference_keeps_its_names() -> None:
    board = strat.compare({"new": [1, 1, 1, 0, 1, 1], "old": [0, 1, 0, 0, 1, 1]}, score=["new", "old"])
    assert explain(board.difference("new", "old")).startswith("new − old is 0.33")


def test_anything_else_is_refused() -> None:
    with pytest.raises(strat.StratError, match="`estimate` must be an Estimate or a result that holds one, got int"):
        explain(3)


def test_what_can_not_vary_has_no_effective_size_to_tell() -> None:
    """Rows of strata drawn with certainty were "as much information as inf independent ones"."""
    design = strat.Design.stratified(["a", "a", "b", "b"], units=[1, 1, 2, 2], lone="certainty")
    known = strat.estimate(strat.accuracy([1, 1, 0, 0], [1, 0, 0, 0]), on=design)
    assert known.effective_size == np.inf
    assert "inf" not in explain(known).split()


def test_the_level_is_that_of_the_result() -> None:
    """It told 95 % limits of an evaluation at another level."""
    found = strat.evaluate({"t": [1, 1, 0, 0] * 9, "p": [1, 0, 0, 0] * 9}, truth="t", predicted="p", level=0.8)
    low, high = found.interval("accuracy")
    assert f"Its 80 % interval runs from {low:.3f} to {high:.3f}" in explain(found)
