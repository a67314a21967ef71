"""Designs: what is counted, what is refused, and what can be made of one."""

from __future__ import annotations

import numpy as np
import pytest

import strat
from strat import Design, StratError


def test_units_lie_in_one_stratum_unless_they_are_nested() -> None:
    nested = Design.stratified(strata=["a", "a", "b", "b"], units=[1, 2, 1, 2], nested=True)
    assert (nested.n_units, nested.n_strata, nested.df) == (4, 2, 2)
    assert "4 rows in 4 units in 2 strata of 2" in nested.summary
    for make in (Design.stratified, Design.clustered):
        with pytest.raises(
            StratError, match=r"`units` must lie in one stratum each, got 1, 2 in several; leave `strata`"
        ):
            make(strata=["a", "a", "b", "b"], units=[1, 2, 1, 2], nested=False)
    assert Design.stratified(strata=["a", "a", "b", "b"], items=[1, 2, 1, 2]).n_units == 4  # items are their stratum's


def test_population_sizes_make_weights_and_the_correction() -> None:
    y = np.array([1.0, 3.0, 5.0, 9.0])
    design = Design.stratified(strata=["a", "a", "b", "b"], population={"a": 4, "b": 8})
    assert design.weights.tolist() == [2, 2, 4, 4]
    got = strat.estimate(strat.mean(y), on=design)
    assert got.value == pytest.approx((4 * 2 + 8 * 7) / 12)  # STRAT (1)
    by_hand = (4 / 12) ** 2 * (1 - 2 / 4) * 2 / 2 + (8 / 12) ** 2 * (1 - 2 / 8) * 8 / 2
    assert got.se == pytest.approx(np.sqrt(by_hand))
    for replicates in (strat.brr(design), strat.jackknife(design), strat.generalized(design)):
        assert strat.estimate(strat.mean(y), on=replicates).se == pytest.approx(np.sqrt(by_hand))
    whole = Design.stratified(strata=["a", "a", "b", "b"], population=2)
    assert strat.estimate(strat.mean(y), on=whole).se == 0
    assert "all of them" in whole.target


def test_repeats_are_a_second_stage() -> None:
    rng = np.random.default_rng(1)
    item = np.repeat(np.arange(30), 4)
    y = (rng.random(120) < np.repeat(rng.random(30), 4)).astype(float)
    kind = strat.estimate(strat.mean(y), on=Design.simple_random(items=item))
    plain = strat.estimate(strat.mean(y), on=Design.clustered(units=item))
    assert kind.se == pytest.approx(plain.se)  # items of this kind: the repeats are inside the items
    very = Design.simple_random(items=item, population=30)
    got = strat.estimate(strat.mean(y), on=very)
    means = y.reshape(30, 4)
    assert got.se == pytest.approx(np.sqrt((means.var(axis=1, ddof=1) / 4).sum()) / 30)
    assert got.se < plain.se
    assert "only the repeats vary" in very.target
    with pytest.raises(StratError, match="must be estimated in closed form"):
        strat.jackknife(very)


def test_systematic_samples_compare_neighbours() -> None:
    y = np.array([1.0, 2.0, 4.0, 5.0])
    design = Design.systematic(order=[0, 10, 20, 30], population=40)
    got = strat.estimate(strat.mean(y), on=design)
    differences = 1 + 4 + 1
    assert got.se == pytest.approx(np.sqrt((1 - 4 / 40) * differences / (2 * 3 * 4)))
    shuffled = Design.systematic(order=[30, 10, 20, 0], population=40)
    assert strat.estimate(strat.mean(y[[3, 1, 2, 0]]), on=shuffled).se == pytest.approx(got.se)
    pairs = Design.systematic(order=np.arange(5)).paired()
    assert pairs.sizes.tolist() == [2, 3]
    with pytest.raises(StratError, match=r"use design.paired\(\) first"):
        strat.brr(design)
    assert strat.estimate(strat.mean(y), on=strat.brr(Design.systematic(order=np.arange(4)).paired())).se > 0


def test_clusters_of_unequal_size_follow_cochran() -> None:
    unit = np.array([0, 0, 0, 1, 2, 2])
    y = np.array([1.0, 0, 1, 1, 0, 0])
    got = strat.estimate(strat.mean(y), on=Design.clustered(units=unit))
    totals, sizes = np.array([2.0, 1, 0]), np.array([3.0, 1, 2])
    ratio = totals.sum() / sizes.sum()
    by_hand = np.sqrt(3 / 2 * ((totals - ratio * sizes) ** 2).sum()) / sizes.sum()  # Cochran (9A): ratio to size
    assert got.se == pytest.approx(by_hand)


def test_reweighting_answers_for_another_population() -> None:
    y = np.array([1.0, 3.0, 5.0, 9.0])
    design = Design.stratified(strata=["a", "a", "b", "b"])
    assert strat.estimate(strat.mean(y), on=design.reweighted({"a": 1, "b": 3})).value == pytest.approx(
        0.25 * 2 + 0.75 * 7
    )
    with pytest.raises(StratError, match=r"`shares` must name every stratum, 'b' missing"):
        design.reweighted({"a": 1})
    with pytest.raises(StratError, match=r"`shares` must name strata that have rows, got 'c'"):
        design.reweighted({"a": 1, "b": 1, "c": 1})


def test_post_stratification_takes_out_the_variation_between_groups() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 300)
    y = 10.0 * group + rng.normal(size=300)
    design = Design.simple_random(n=300)
    adjusted = strat.post_stratified(strat.mean(y), by=group, sizes={0: 1, 1: 1})
    plain, better = strat.estimate(strat.mean(y), on=design), strat.estimate(adjusted, on=design)
    assert better.value == pytest.approx((y[group == 0].mean() + y[group == 1].mean()) / 2)
    assert better.se < 0.3 * plain.se
    assert strat.estimate(adjusted, on=strat.jackknife(design)).se == pytest.approx(better.se, rel=0.02)
    with pytest.raises(StratError, match="`sizes` must name exactly the groups"):
        strat.post_stratified(strat.mean(y), by=group, sizes={0: 1})


def test_lone_units_are_refused_with_choices() -> None:
    with pytest.raises(StratError, match=r"got one in 'flask'; choose lone='collapse'"):
        Design.stratified(strata=["django", "django", "flask"])
    collapsed = Design.stratified(strata=["a", "b", "b", "c"], lone="collapse")
    assert collapsed.stratum_labels.tolist() == ["a + b + c"]
    three = Design.stratified(strata=["a", "a", "b", "c", "c"], lone="collapse")
    assert three.stratum_labels.tolist() == ["a", "b + c"]
    sure = Design.stratified(strata=["a", "a", "b"], lone="certainty")
    got = strat.estimate(strat.total([1.0, 3.0, 9.0]), on=sure)
    assert got.se == pytest.approx(2.0)
    assert strat.estimate(strat.total([1.0, 3.0, 9.0]), on=strat.jackknife(sure)).se == pytest.approx(2.0)
    assert strat.estimate(strat.total([1.0, 3.0, 9.0]), on=strat.generalized(sure)).se == pytest.approx(2.0)
    with pytest.raises(StratError, match="`lone` must be 'collapse' or 'certainty' for replication"):
        strat.generalized(Design.stratified(strata=["a", "a", "b"], lone="centre"))
    with pytest.raises(StratError, match="`units` must name at least two units, got one"):
        Design.clustered(units=["x", "x"])


def test_grouping_units_keeps_the_total() -> None:
    y = np.arange(24.0)
    design = Design.stratified(strata=np.arange(24) // 8).grouped(2, rng=4)
    assert design.sizes.tolist() == [2, 2, 2]
    assert strat.estimate(strat.total(y), on=strat.brr(design)).value == y.sum()
    with pytest.raises(StratError, match="`groups` must be from 2"):
        Design.stratified(strata=np.arange(24) // 8).grouped(9)


def test_a_plan_travels_and_is_noted() -> None:
    plan = strat.Plan(population="stratified clusters", context="faces indoors", explicit=("pose",), trials=2)
    simple = strat.estimate(strat.mean(np.arange(10.0)), on=Design.simple_random(n=10).with_plan(plan))
    (note,) = (note for note in simple.notes if note.code == "plan-ignored")
    assert note.facts["missing"] == "strata and clusters"
    assert "which the analysis (simple random) ignores" in str(note)
    design = Design.clustered(units=[1, 1, 2, 2], strata=[0, 0, 0, 0]).with_plan(plan)
    planned = strat.estimate(strat.mean([1.0, 2.0, 4.0, 3.0]), on=design)
    assert "plan-ignored" not in {note.code for note in planned.notes}
    got = strat.estimate(strat.mean([1.0, 2, 3, 4]), on=design)
    assert got.plan is plan
    assert "faces indoors" in str(got.plan)
    with pytest.raises(StratError, match="`population` must be one of"):
        strat.Plan(population="random")


BAD = {
    r"`units` must have as many rows as `strata` \(3\), got 2": lambda: Design.stratified(
        strata=[1, 1, 2], units=[1, 2]
    ),
    r"`weights` must have one value per row \(2\)": lambda: Design.simple_random(n=2, weights=[1.0, 2.0, 3.0]),
    r"`weights` must be finite, got nan in row 1": lambda: Design.simple_random(weights=[1.0, float("nan")]),
    "`weights` must not be negative, got -1.0 in row 0": lambda: Design.simple_random(weights=[-1.0, 2.0]),
    "`weights` must not all be zero": lambda: Design.simple_random(weights=[0.0, 0.0]),
    "`population` must name strata that have rows, got 'c'": lambda: Design.stratified(
        strata=["a", "a"], population={"a": 3, "c": 9}
    ),
    "`population` must be at least the number of units drawn, got 1.0 for stratum 'a' with 2": lambda: (
        Design.stratified(strata=["a", "a"], population=1)
    ),
    "`strata` must have labels of one type": lambda: Design.stratified(strata=["a", 1, "b"]),
    "`strata` must name every row, got a missing label in row 1": lambda: Design.stratified(strata=["a", None, "a"]),
    "`strata` must name every row, got a missing label in row 0": lambda: Design.stratified(strata=[float("nan"), 1.0]),
    "`strata` must have at least one row, got none": lambda: Design.stratified(strata=[]),
    "`n` must be a whole number of rows": lambda: Design.simple_random(n=0),
    r"`strata` must have one label per row, got an array of shape \(2, 2\)": lambda: Design.stratified(
        strata=[["a", "b"], ["c", "d"]]
    ),
    "`lone` must be one of": lambda: Design.stratified(strata=[1, 1], lone="drop"),
    "prime power of units in every stratum for BRR, got 6; use generalized": lambda: strat.brr(
        Design.stratified(strata=np.arange(12) // 6)
    ),
    "same number of units in every stratum for BRR, got 2 to 3; use generalized": lambda: strat.brr(
        Design.stratified(strata=[1, 1, 2, 2, 2])
    ),
    "`rho` must be at least 0 and below 1, got 1": lambda: strat.fay(Design.stratified(strata=[1, 1]), rho=1),
    "at most 20 strata": lambda: strat.all_half_samples(Design.stratified(strata=np.arange(50) // 2)),
    "`replicates` must be a whole number of at least 2": lambda: strat.bootstrap(
        Design.simple_random(n=4), replicates=1
    ),
    "`rng` must be a seed of 0 or more": lambda: strat.bootstrap(Design.simple_random(n=4), rng=-1),
    "`y` must be finite, got nan in row 2": lambda: strat.mean([1.0, 2.0, float("nan")]),
    "`y` must be numbers, got 'a'": lambda: strat.mean(["a", "b"]),
    "`y` must be true or false": lambda: strat.proportion([0, 1, 2]),
    "`x` must not be zero in every row": lambda: strat.ratio([1.0, 2.0], [0.0, 0.0]),
    r"`predicted` must have as many rows as `truth` \(2\), got 1": lambda: strat.accuracy([1, 2], [1]),
    "`predicted` must have labels of the type of `truth`": lambda: strat.accuracy([1, 2], ["a", "b"]),
    r"`statistic` must have as many rows as the design \(3\), got 2": lambda: strat.estimate(
        strat.mean([1.0, 2.0]), on=Design.simple_random(n=3)
    ),
    "`on` must be a Design or Replicates": lambda: strat.estimate(strat.mean([1.0, 2.0]), on="rows"),
    "`statistic` must be a Statistic": lambda: strat.estimate(len, on=Design.simple_random(n=3)),
    "`level` must lie strictly between 0 and 1": lambda: strat.estimate(
        strat.mean([1.0, 2.0]), on=Design.simple_random(n=2)
    ).interval(95),
    "`method` must be one of": lambda: strat.estimate(strat.mean([1.0, 2.0]), on=Design.simple_random(n=2)).interval(
        method="wald"
    ),
    "`df` must be positive": lambda: strat.estimate(strat.mean([1.0, 2.0]), on=Design.simple_random(n=2), df=-1),
    "`q` must lie strictly between 0 and 1": lambda: strat.quantile([1.0, 2.0], 1.5),
    "`x` must vary over the rows": lambda: strat.correlation([1.0, 1.0], [1.0, 2.0]),
    "`where` must choose at least one row": lambda: strat.domain(strat.mean([1.0, 2.0]), [False, False]),
    "must be defined in every replicate": lambda: strat.estimate(
        strat.domain(strat.mean([1.0, 2.0, 3.0, 4.0]), [True, False, False, False]),
        on=strat.brr(Design.stratified(strata=[1, 1, 2, 2])),
    ),
    "`function` must be vectorised over leading axes": lambda: strat.function_of_totals(
        [[1.0, 2.0]], lambda t: np.float64(np.sum(t))
    ),
    "`factors` must be replicates × units": lambda: strat.given(Design.simple_random(n=4), [[1.0, 2.0]], scale=1),
    "`scale` .one number. or `scales`": lambda: strat.given(Design.simple_random(n=2), [[1.0, 2.0]]),
    "must have the same axes to be stacked": lambda: strat.stack(
        "s", a=strat.mean([1.0, 2.0]), b=strat.mean([[1.0, 2.0], [3.0, 4.0]])
    ),
    "degrees of freedom: there is no interval": lambda: strat.estimate(
        strat.domain(strat.mean([1.0, 2.0, 3.0]), [True, False, False]), on=Design.simple_random(n=3)
    ).interval(),
}


@pytest.mark.parametrize("message", BAD, ids=lambda m: m[:50])
def test_bad_input_is_one_sentence(message: str) -> None:
    with pytest.raises(StratError, match=message) as caught:
        BAD[message]()
    assert "\n" not in str(caught.value)


def test_values_show_themselves_in_words() -> None:
    design = Design.stratified(strata=[1, 1, 2, 2])
    for value in (design, strat.brr(design), strat.mean([1.0, 2.0]), strat.Plan()):
        assert value._repr_html_().startswith("<pre>")
    assert repr(strat.mean([1.0, 2.0])) == "mean 1.5000 (2 rows, no design: see strat.estimate)"
