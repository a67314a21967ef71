"""The intraclass correlation's interval and test, and intervals of variance components: coverage and closed forms."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.stats

import strat
from strat.estimation import intraclass


def test_the_interval_is_the_f_distributions_for_equal_units():
    rng = np.random.default_rng(0)
    y = (rng.normal(size=(12, 1)) + rng.normal(size=(12, 5))).ravel()
    found = intraclass(y, np.repeat(np.arange(12), 5), permutations=9)
    f = scipy.stats.f_oneway(*y.reshape(12, 5)).statistic
    low, high = (f / scipy.stats.f.ppf(q, 11, 48) for q in (0.975, 0.025))
    assert found.value == pytest.approx(strat.intraclass_correlation(y, np.repeat(np.arange(12), 5)))
    np.testing.assert_allclose(found.interval(), [(r - 1) / (r + 4) for r in (low, high)])


def test_the_interval_covers_and_the_test_keeps_its_level():
    rng = np.random.default_rng(1)
    units = np.repeat(np.arange(15), rng.integers(2, 7, 15))
    covered, small = 0, 0
    for _ in range(300):
        y = rng.normal(size=15)[units] + rng.normal(size=len(units))
        low, high = intraclass(y, units, permutations=1).interval()
        covered += low <= 0.5 <= high
        small += intraclass(rng.random(len(units)) < 0.2, units, permutations=39, rng=rng).pvalue <= 0.05
    assert 0.91 <= covered / 300 <= 0.98
    assert small / 300 <= 0.085


def test_units_that_agree_are_seen_and_words_say_so():
    found = intraclass(np.repeat([0.0, 1.0, 2.0, 3.0], 3), np.repeat(np.arange(4), 3))
    assert found.value == 1.0
    assert found.pvalue < 0.01
    assert found.interval() == (1.0, 1.0)
    assert "test that rows are independent of their units" in str(found)
    with pytest.raises(strat.StratError, match="`units` must hold at least two units"):
        intraclass([1.0, 2.0], [1, 2])


def test_intervals_of_crossed_and_nested_components_cover():
    rng = np.random.default_rng(2)
    a, b = np.divmod(np.arange(12 * 30), 30)
    design = strat.Design.crossed({"s": a, "i": b})
    true = {"s": 1 / 12, "i": 1 / 30, "s × i": 1 / 360}
    hits = dict.fromkeys(true, 0)
    for _ in range(200):
        y = rng.normal(size=12)[a] + rng.normal(size=30)[b] + rng.normal(size=360)
        for name, (low, high) in strat.variance_components(strat.mean(y), on=design).intervals().items():
            hits[name] += low <= true[name] <= high
    assert all(0.9 <= hit / 200 <= 0.99 for hit in hits.values())


def test_a_level_widens_and_limits_hold_the_value():
    rng = np.random.default_rng(3)
    a, b = np.divmod(np.arange(60), 10)
    parts = strat.variance_components(
        strat.mean(rng.normal(size=6)[a] + rng.normal(size=60)), on=strat.Design.crossed({"a": a, "b": b})
    )
    for name, value in parts.variances.items():
        (low, high), (lower, higher) = parts.intervals(0.5)[name], parts.intervals(0.99)[name]
        assert lower <= low <= value <= high <= higher


@pytest.mark.parametrize(
    ("population", "direction"),
    [("clustered", "too narrow"), ("stratified", "too wide"), ("systematic", "too wide"),
     ("stratified clusters", "too narrow or too wide"), ("crossed", "too narrow")],
)  # fmt: skip
def test_plans_warn_in_the_right_direction(population, direction):
    assert re.search(rf"Intervals (may|will usually) be {direction}\.", _noted(strat.Plan(population=population)))


def test_a_plans_analysis_is_compared_with_the_design():
    noted = _noted(strat.Plan(analysis="stratified"))
    assert "The plan is for a stratified analysis, but the design is simple random" in noted


def _noted(plan):
    """The note on an estimate by simple random sampling of what the plan drew in another way."""
    on = strat.Design.simple_random(n=10).with_plan(plan)
    return next(
        note for note in strat.estimate(strat.mean(np.arange(10.0)), on=on).notes if note.code == "plan-ignored"
    )
