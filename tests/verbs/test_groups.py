"""Measures in groups: any measure, any road, each group with its own degrees of freedom, and tests over all groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import strat
from binomial_limits import coverage_limits
from strat import Design, StratError
from strat.base.limits import changed
from strat.verbs import evaluate

Data = dict[str, np.ndarray]


@pytest.fixture(scope="module")
def rows() -> Data:
    """Patients at three sites with one or more images; sex and age cross them."""
    rng = np.random.default_rng(8)
    patient = np.repeat(np.arange(90), rng.integers(1, 8, 90))
    n = len(patient)
    truth = (rng.random(n) < 0.35).astype(int)
    score = np.round(rng.normal(truth, 0.9) + rng.normal(0, 0.4, 90)[patient], 1)
    return {
        "patient": patient,
        "site": np.array(["x", "y", "z"])[patient % 3],
        "sex": np.array(["f", "m"])[(patient // 3) % 2],
        "age": np.array(["old", "young"])[rng.integers(0, 2, n)],
        "truth": truth,
        "guess": (score > 0.6).astype(int),
        "score": score,
        "weight": rng.integers(1, 3, n).astype(float),
    }


ASKED: dict[str, Any] = {"truth": "truth", "predicted": "guess", "score": "score"}
DESIGNS = [{}, {"strata": "site"}, {"units": "patient"}, {"units": "patient", "strata": "site", "weights": "weight"}]


def _design(data: Data, roles: dict[str, str]) -> Design:
    columns = {role: data[name] for role, name in roles.items()}
    weights = columns.get("weights")
    if "units" in columns:
        return Design.clustered(columns["units"], strata=columns.get("strata"), weights=weights)
    if "strata" in columns:
        return Design.stratified(columns["strata"], weights=weights)
    return Design.simple_random(len(data["truth"]), weights=weights)


@pytest.mark.parametrize("roles", DESIGNS)
@pytest.mark.parametrize("by", ["sex", "age", ["sex", "age"]])
def test_a_group_is_a_domain_of_the_design(rows: Data, roles: dict[str, str], by: Any) -> None:
    found = evaluate(rows, **ASKED, **roles, metrics=["recall", "accuracy", "auc"], by=by)
    design = _design(rows, roles)
    names = [by] if isinstance(by, str) else by
    for label, made in found.groups["recall"].each.items():
        inside = np.all(
            [rows[c] == v for c, v in zip(names, label if len(names) > 1 else [label], strict=True)], axis=0
        )
        wanted = strat.estimate(strat.domain(strat.recall(rows["truth"], rows["guess"]), inside), on=design)
        assert made.value == pytest.approx(wanted.value)
        assert made.se == pytest.approx(wanted.se, rel=1e-9)
        assert made.df == pytest.approx(wanted.df)
        area = strat.estimate(strat.domain(strat.auc(rows["truth"], rows["score"]), inside), on=design)
        assert found.groups["auc"][label].se == pytest.approx(area.se, rel=1e-9)


@pytest.mark.parametrize("roles", DESIGNS[2:])
@pytest.mark.parametrize("by", ["sex", "age", "site", ["sex", "age"]])
@changed(rows_in_memory=0)
def test_two_passes_give_the_groups_of_the_rows(rows: Data, tmp_path: Path, roles: dict[str, str], by: Any) -> None:
    import polars as pl

    path = tmp_path / "rows.parquet"
    pl.DataFrame(rows).write_parquet(path)
    metrics = ["recall", "accuracy", "f1", "auc"]
    one, other = (evaluate(source, **ASKED, **roles, metrics=metrics, by=by) for source in (path, rows))
    for name in metrics:
        assert list(one.groups[name].each) == list(other.groups[name].each)
        assert one.groups[name].rows == other.groups[name].rows
        for label, made in other.groups[name].each.items():
            mine = one.groups[name][label]
            assert (mine.value, mine.se, mine.df) == pytest.approx((made.value, made.se, made.df), rel=1e-8)
        assert one.groups[name].test().pvalue == pytest.approx(other.groups[name].test().pvalue, rel=1e-6)


@pytest.mark.parametrize("roles", DESIGNS)
def test_groups_covary_as_stacked_domains_do(rows: Data, roles: dict[str, str]) -> None:
    found = evaluate(rows, **ASKED, **roles, metrics="accuracy", by="age").groups["accuracy"]
    accuracy = strat.accuracy(rows["truth"], rows["guess"])
    both = {label: strat.domain(accuracy, rows["age"] == label) for label in ("old", "young")}
    wanted = strat.estimate(strat.stack("age", **both), on=_design(rows, roles))
    assert found.joint is not None
    np.testing.assert_allclose(found.joint.covariance, wanted.covariance, rtol=1e-9, atol=1e-15)
    difference = wanted.map(lambda v: v[..., 0] - v[..., 1])
    assert found.test().pvalue == pytest.approx(difference.test().pvalue, abs=0.1)
    gap = found.gap()
    assert gap.value == pytest.approx(abs(difference.value))
    assert gap.low <= gap.value <= gap.high


def test_the_worst_group_allows_for_having_been_chosen(rows: Data) -> None:
    found = evaluate(rows, **ASKED, units="patient", metrics="recall", by=["site", "sex"]).groups["recall"]
    worst = found.worst()
    assert worst.value == min(made.value for made in found.each.values())
    low, high = found[worst.groups[0]].interval()
    assert worst.low < low
    assert worst.high <= max(high, worst.high)
    errors = evaluate(rows, **ASKED, units="patient", metrics="error_rate", by="site").groups["error_rate"]
    assert errors.worst().value == max(made.value for made in errors.each.values())


@pytest.mark.parametrize("samples", [80, pytest.param(400, marks=pytest.mark.slow)])
def test_the_worst_of_equal_groups_is_covered(samples: int) -> None:
    """Five groups that are all alike: the interval of the worst must cover their common value nearly always."""
    rng = np.random.default_rng(0)
    group, missed, naive = np.tile(np.arange(5), 60), 0, 0
    for _ in range(samples):
        data = {"g": group, "s": (rng.random(300) < 0.8).astype(float)}
        found = evaluate(data, score="s", by="g").groups["mean"]
        worst = found.worst()
        missed += not worst.low <= 0.8 <= worst.high
        low, high = found[worst.groups[0]].interval()
        naive += not low <= 0.8 <= high
    assert 1 - missed / samples >= coverage_limits(samples)[0]
    assert naive > 2 * missed


def test_a_group_without_a_class_is_left_out_with_the_reason(rows: Data) -> None:
    only = {**rows, "kind": np.where(rows["truth"] == 1, "sick", np.array(["a", "b"])[rows["patient"] % 2])}
    found = evaluate(only, **ASKED, units="patient", metrics="auc", by="kind")
    assert not found.groups["auc"].each
    assert set(found.groups["auc"].undefined) == {"sick", "a", "b"}
    assert any(note.startswith("auc in ") for note in found.notes)


def test_each_of_many_groups_has_the_degrees_of_freedom_of_its_units() -> None:
    """That they do not cost the square is measured by tests/project/test_growth_with_size.py."""
    rng = np.random.default_rng(1)
    n = 4_000
    data = {"u": np.arange(n) // 4, "g": np.arange(n) // 20, "s": (rng.random(n) < 0.7).astype(float)}
    found = evaluate(data, score="s", units="u", by="g").groups["mean"]
    assert len(found) == 200
    assert {made.df for made in found.each.values()} == {4.0}


def test_wrong_groups() -> None:
    data = {"s": [0.0, 1.0, 1.0, 0.0], "g": ["a", "a", "b", "b"]}
    with pytest.raises(StratError, match="`by` must name a column of the columns, got 'h'"):
        evaluate(data, score="s", by="h")
    with pytest.raises(StratError, match="`by` must go with method='taylor'"):
        evaluate(data, score="s", by="g", method="jackknife")
    with pytest.raises(StratError, match="`label` must be a group with an estimate, got 'c'"):
        evaluate(data, score="s", by="g").groups["mean"]["c"]


def test_a_group_is_measured_as_all_rows_are() -> None:
    """With three classes, a group where two occur had the F1 of one class, beside macro averages elsewhere."""
    truth = np.array([0, 1, 2, 0, 1, 2] * 10 + [0, 1] * 20)
    guess = np.array([0, 1, 1, 0, 2, 2] * 10 + [0, 1, 1, 1] * 10)
    data = {"t": truth, "p": guess, "g": np.repeat(["all three", "two"], [60, 40])}
    found = evaluate(data, truth="t", predicted="p", metrics="f1", by="g").groups["f1"]
    two = data["g"] == "two"
    wanted = strat.f1(truth[two], guess[two], average="macro").value()
    assert found["two"].value == pytest.approx(float(wanted))


def test_a_group_without_the_class_has_no_sensitivity() -> None:
    """It is not 0: nothing was there to be found."""
    data = {"t": [1, 1, 0, 1, 0, 0, 0, 0], "p": [1, 0, 0, 1, 0, 1, 0, 0], "g": list("aaaabbbb")}
    found = evaluate(data, truth="t", predicted="p", metrics="sensitivity", by="g").groups["sensitivity"]
    assert list(found.each) == ["a"]
    assert "b" in found.undefined


def test_the_gap_of_groups_without_an_error_is_no_point() -> None:
    """Two groups of 30 without an error: the largest gap was "0.0000 to 0.0000"."""
    data = {"g": np.repeat(["a", "b"], 30), "t": [0, 1] * 30, "p": [0, 1] * 30}
    found = evaluate(data, truth="t", predicted="p", metrics="accuracy", by="g").groups["accuracy"]
    low, _ = found["a"].interval()
    assert found.gap().low == 0
    assert found.gap().high == pytest.approx(1 - low, rel=0.05)


def test_the_gap_is_covered_where_a_group_may_show_no_error() -> None:
    """It held in 85 % of samples, and was [0, 0] in the others."""
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(200):
        right = np.r_[rng.random(40) < 0.99, rng.random(40) < 0.95].astype(float)
        gap = evaluate({"s": right, "g": np.repeat(["a", "b"], 40)}, score="s", by="g").groups["mean"].gap()
        held += gap.low <= 0.04 <= gap.high
    assert held >= 186


def test_one_unit_alone_leaves_the_other_groups_their_answers() -> None:
    data = {
        "g": list("aaaaaaaaaab"),
        "u": list("aabbccddeez"),
        "t": [0, 1] * 5 + [1],
        "p": [0, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1],
    }
    found = evaluate(data, truth="t", predicted="p", metrics="accuracy", by="g", units="u")
    assert "accuracy in b: There is no value: one unit alone has no interval" in str(found)
    assert found.to_dict()["low"][-1] is None


def test_a_group_counts_its_own_units() -> None:
    """A plan from a group paired the units of all groups with the rows of one."""
    rng = np.random.default_rng(2)
    unit = np.repeat(np.arange(60), 3)
    data = {"u": unit, "g": np.where(unit < 20, "few", "many"), "s": (rng.random(180) < 0.7).astype(float)}
    few = evaluate(data, score="s", units="u", by="g").groups["mean"]["few"]
    assert few.design.units == 20
    assert str(few.design).startswith("clustered: 60 rows in 20 units; 19 degrees")


def test_the_smallest_ratio_is_that_of_the_extremes(rows: Data) -> None:
    found = evaluate(rows, **ASKED, units="patient", metrics="recall", by="site").groups["recall"]
    values = {label: made.value for label, made in found.each.items()}
    ratio = found.ratio()
    assert ratio.value == pytest.approx(min(values.values()) / max(values.values()))
    assert [values[label] for label in ratio.groups] == [min(values.values()), max(values.values())]
    assert ratio.low < ratio.value < ratio.high <= 1


@pytest.mark.parametrize(("shares", "value"), [((0, 20), 0.0), ((0, 0), np.nan)])
def test_a_ratio_where_nothing_was_seen(shares: tuple[int, int], value: float) -> None:
    data = {"g": np.repeat(["a", "b"], 40), "s": np.concatenate([np.arange(40) < share for share in shares])}
    ratio = evaluate({**data, "s": data["s"].astype(float)}, score="s", by="g").groups["mean"].ratio()
    np.testing.assert_equal(ratio.value, value)
    assert ratio.low == 0
    assert 0.1 < ratio.high <= 1
    assert ("not defined" in str(ratio)) == np.isnan(value)


@pytest.mark.slow
def test_ratio_and_equalized_odds_are_covered() -> None:
    """Four groups: limits of the smallest ratio and of equalized odds hold their true values, which were chosen."""
    rng = np.random.default_rng(3)
    group = np.tile(np.arange(4), 75)
    true_positive, true_negative = np.array([0.9, 0.8, 0.85, 0.9]), np.array([0.8, 0.85, 0.8, 0.7])
    held = np.zeros(3)
    for _ in range(30):
        truth = rng.integers(0, 2, 300)
        right = rng.random(300) < np.where(truth == 1, true_positive[group], true_negative[group])
        data = {"t": truth, "p": np.where(right, truth, 1 - truth), "g": group}
        metrics = ["recall", "false_positive_rate"]
        found = evaluate(data, truth="t", predicted="p", by="g", metrics=metrics)
        odds, ratio = found.equalized_odds(), found.groups["recall"].ratio()
        ends = ((odds.difference, 0.15), (odds.ratio, 0.5), (ratio, 0.8 / 0.9))
        held += [one.low <= value <= one.high for one, value in ends]
    assert (held >= 27).all()


def test_wrong_ratios_and_odds(rows: Data) -> None:
    with pytest.raises(StratError, match="`mean` must not be below 0 for a ratio, got -1"):
        evaluate({"s": [-1.5, -0.5, 1.0, 2.0], "g": list("aabb")}, score="s", by="g").groups["mean"].ratio()
    with pytest.raises(StratError, match="`metrics` must hold 'recall' and 'false_positive_rate'"):
        evaluate(rows, **ASKED, metrics="recall", by="sex").equalized_odds()


def test_what_carries_a_group_is_noted() -> None:
    """One unit with most rows of a group: its interval is wide, and the note names the group."""
    sizes = [1] * 7 + [60] + [10] * 32
    unit = np.repeat(np.arange(40), sizes)
    right = (np.random.default_rng(1).random(len(unit)) < 0.8).astype(int)
    group = np.where(unit < 8, "heavy", "even")
    table = {"unit": unit, "right": right, "group": group}
    noted = [n for n in strat.evaluate(table, score="right", units="unit", by="group").notes if "heavy" in n]
    assert any(str(n).startswith("mean in heavy: A few units carry most of the weight") for n in noted)
    assert not [n for n in strat.evaluate(table, score="right", units="unit").notes if "carry most" in n]


SMALL_AND_PERFECT = {"g": ["a"] * 5 + ["b"] * 100, "ok": [1] * 95 + [0] * 10, "t": [1] * 105}


@pytest.mark.parametrize("metric", ["accuracy", "sensitivity", "f1", "error_rate"])
def test_a_small_group_without_an_error_may_equal_the_others(metric: str) -> None:
    """Five rows without an error beside ten errors in a hundred: p was 0.001, and Fisher's exact test says 1."""
    positive = {"positive": 1} if metric in ("sensitivity", "f1") else {}
    found = evaluate(SMALL_AND_PERFECT, truth="t", predicted="ok", metrics=metric, by="g", **positive)
    seen, hypergeometric = 10, stats.hypergeom(105, 5, 10)  # errors in all, and among the five
    each = hypergeometric.pmf(range(6))
    off = [(k - 5 * seen / 105) ** 2 for k in range(6)]  # Pearson's statistic of two groups rises with it
    assert off[0] < min(off[1:])
    test = found.groups[metric].test()
    assert test.pvalue == pytest.approx(1 - each[0] / 2)
    assert f"{metric}, equal in all groups? p = 0.7 (exact test, mid-p)" in str(found)


def test_the_difference_of_systems_is_tested_where_it_did_not_vary_in_a_group() -> None:
    rng = np.random.default_rng(2)
    table = {"g": ["a"] * 8 + ["b"] * 80, "t": [1] * 88, "x": [1] * 8 + list(rng.integers(0, 2, 80)), "y": [1] * 88}
    board = strat.compare(table, truth="t", predicted=["x", "y"], metrics="accuracy", by="g")
    fisher = stats.fisher_exact([[0, 8], [80 - sum(table["x"][8:]), sum(table["x"][8:])]]).pvalue
    assert board.test().pvalue == pytest.approx(fisher, abs=0.03)
    assert "equal in all groups? p = " in str(board)


def test_the_largest_gap_allows_for_the_other_side() -> None:
    """The small group without an error may be the worse one, by as much as its own limit says."""
    gap = evaluate(SMALL_AND_PERFECT, score="ok", by="g").groups["mean"].gap()
    low, _ = evaluate(SMALL_AND_PERFECT, score="ok", by="g").groups["mean"]["a"].interval()
    assert gap.high >= 0.9 - low


def test_more_groups_than_rows_in_one_can_be_tested() -> None:
    """Thirty groups of 25 rows: the test counted on the rows of one group."""
    rng = np.random.default_rng(4)
    data = {"g": np.repeat(np.arange(30), 25), "s": (rng.random(750) < np.repeat(np.linspace(0.3, 0.8, 30), 25)) * 1.0}
    assert evaluate(data, score="s", by="g").groups["mean"].test().pvalue < 0.001
