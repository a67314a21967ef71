"""`strat.gate`: three answers by one-sided limits, in all rows and in groups, against margins and floors."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import strat
from strat.base.errors import StratError
from strat.verbs import compare, gate
from strat.verbs.gate_result import GateCheck, GateResult


def table(
    seed: int = 0, *, shares: dict[str, float] | None = None, clusters: int = 60, each: int = 5
) -> dict[str, Any]:
    """A wide table of labels: systems with these accuracies, correlated within clusters."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(clusters), each)
    n = len(cluster)
    truth = rng.integers(0, 3, n)
    hard = rng.normal(size=clusters)[cluster]
    columns: dict[str, Any] = {"y": truth, "cluster": cluster, "id": np.arange(n)}
    for name, share in (shares or {"old": 0.7, "new": 0.7}).items():
        cut = np.sqrt(2) * norm.ppf(share)
        columns[name] = np.where(hard + rng.normal(size=n) < cut, truth, (truth + 1) % 3)
    return columns | {"half": np.where(cluster % 2, "odd", "even")}


def ask(data: dict[str, Any], **how: Any) -> GateResult:
    asked: dict[str, Any] = {"truth": "y", "baseline": "old", "candidate": "new", "units": "cluster", "margin": 0.05}
    return gate(data, **asked | how)


@pytest.mark.parametrize(
    ("new", "answer", "code"), [(0.80, "not worse", 0), (0.45, "worse", 3), (0.64, "can't tell", 4)]
)
def test_three_answers_have_three_exit_codes(new: float, answer: str, code: int) -> None:
    result = ask(table(shares={"old": 0.7, "new": new}))
    assert (result.answer, result.exit_code, result.passed) == (answer, code, code == 0)


def test_the_limits_are_those_of_the_comparison_at_the_one_sided_level() -> None:
    data = table()
    check = ask(data).checks[0]
    board = compare(data, truth="y", predicted=["old", "new"], units="cluster", baseline="old")
    assert (check.low, check.high) == board.comparison.interval(0.9)
    assert check.value == board.comparison.value
    assert (check.candidate, check.baseline) == board.comparison.values


@pytest.mark.parametrize("margin", [0.01, 0.03, 0.05, 0.1, 0.2])
def test_not_worse_agrees_with_the_test_of_noninferiority(margin: float) -> None:
    data = table(3, shares={"old": 0.7, "new": 0.68})
    board = compare(data, truth="y", predicted=["old", "new"], units="cluster", baseline="old")
    pvalue = board.comparison.noninferiority(margin, baseline="old").pvalue
    assert (ask(data, margin=margin).answer == "not worse") == (pvalue < 0.05)


def test_which_system_ranks_first_does_not_matter() -> None:
    data = table(shares={"old": 0.5, "new": 0.8})
    assert ask(data).answer == "not worse"
    turned = gate(data, truth="y", baseline="new", candidate="old", units="cluster", margin=0.05)
    assert turned.answer == "worse"


def test_errors_are_gated_the_other_way_round() -> None:
    data = table(shares={"old": 0.7, "new": 0.45})
    right, wrong = ask(data), ask(data, metrics="error_rate")
    assert right.answer == wrong.answer == "worse"
    assert wrong.checks[0].bound == 0.05
    assert wrong.checks[0].low == pytest.approx(-right.checks[0].high)
    assert ask(data, metrics="error_rate", floor=0.9).checks[1].answer == "not worse"


@given(
    low=st.floats(-1, 1), width=st.floats(0, 1), bound=st.floats(-1, 1), kind=st.sampled_from(["margin", "floor"]),
)  # fmt: skip
def test_a_check_and_its_mirror_image_agree(low: float, width: float, bound: float, kind: str) -> None:
    high = low + width
    up = GateCheck("m", "all", kind, bound, 0.0, 0.0, 0.0, low, high, True)
    down = GateCheck("m", "all", kind, -bound, 0.0, 0.0, 0.0, -high, -low, False)
    assert up.answer == down.answer
    assert up.lower == down.lower


def test_groups_must_all_pass_and_one_failure_is_enough() -> None:
    data = table(1, shares={"old": 0.7, "new": 0.7}, clusters=400)
    odd = data["half"] == "odd"
    data["new"] = np.where(odd, data["old"], (data["y"] + 1) % 3)
    result = ask(data, by="half")
    answers = {check.group: check.answer for check in result.checks}
    assert answers["even"] == "worse"
    assert answers["odd"] == "not worse"
    assert result.answer == "worse"


def test_failing_is_corrected_for_the_number_of_checks_and_passing_is_not() -> None:
    data = table(2)
    one, all_three = ask(data).checks[0], ask(data, by="half").checks[0]
    board = compare(data, truth="y", predicted=["old", "new"], units="cluster", baseline="old")
    assert all_three.low == one.low
    assert all_three.high == board.comparison.interval(1 - 2 * 0.05 / 3)[1]


def test_several_measures_have_margins_of_their_own() -> None:
    result = ask(table(), metrics=["accuracy", "macro_f1"], margin={"accuracy": 0.5, "macro_f1": 1e-6})
    assert [check.answer for check in result.checks] == ["not worse", "can't tell"]
    assert result.answer == "can't tell"
    only = ask(table(), metrics=["accuracy", "macro_f1"], margin={"accuracy": 0.5}, floor={"macro_f1": 0.1})
    assert [(c.measure, c.kind) for c in only.checks] == [("accuracy", "margin"), ("macro_f1", "floor")]


def test_a_floor_needs_no_baseline() -> None:
    data = table(shares={"new": 0.9})
    passed = gate(data, truth="y", predicted="new", units="cluster", floor=0.8)
    estimate = strat.evaluate(data, truth="y", predicted="new", units="cluster", metrics="accuracy")["accuracy"]
    assert (passed.checks[0].low, passed.checks[0].high) == pytest.approx(estimate.interval(0.9), rel=1e-12)
    assert (passed.answer, passed.candidate, passed.baseline) == ("not worse", "new", None)
    assert gate(data, truth="y", predicted="new", units="cluster", floor=0.99).answer == "worse"
    assert gate(data, truth="y", predicted="new", units="cluster", floor=0.91).answer == "can't tell"
    assert "baseline" not in str(passed)


def units_of(shares: list[float], rows: int = 20) -> dict[str, Any]:
    """Units of so many rows, of which these shares are right."""
    right = [np.arange(rows) < round(share * rows) for share in shares]
    return {"right": np.concatenate(right).astype(int), "passage": np.repeat(np.arange(len(shares)), rows)}


def floor_of(shares: list[float], floor: float, **how: Any) -> GateResult:
    return gate(units_of(shares), score="right", metrics="mean", higher_is_better=True, floor=floor, **how)


def test_one_more_unit_that_fails_altogether_must_not_change_a_pass() -> None:
    """12 units at 0.95 are 0.95 · 12/13 = 0.877 with one more; 24 are 0.912."""
    few, more = (floor_of([0.95] * number, 0.9, units="passage") for number in (12, 24))
    assert few.checks[0].low > 0.9
    assert few.checks[0].one_more == pytest.approx(0.95 * 12 / 13)
    assert (few.answer, few.exit_code) == ("can't tell", 4)
    (note,) = (note for note in few.notes if note.code == "gate-one-more")
    assert str(note).startswith("mean: With one more passage that fails altogether the value would be 0.877, beyond")
    assert few.checks[0].needed == 18  # 0.9 / (0.95 − 0.9)
    assert more.answer == "not worse"
    assert not any(note.code == "gate-one-more" for note in more.notes)
    assert floor_of([0.95] * 12, 0.85, units="passage").answer == "not worse"


def test_one_more_unit_counts_for_errors_and_not_for_what_has_no_worst_value_or_was_seen_whole() -> None:
    errors = units_of([0.05] * 12) | {"answer": np.ones(240, int)}
    result = gate(errors, score="right", metrics="mean", higher_is_better=False, units="passage", floor=0.1)
    assert result.checks[0].one_more == pytest.approx((0.05 * 12 + 1) / 13)
    assert result.answer == "can't tell"
    alone = gate(errors, score="right", metrics="mean", higher_is_better=False, floor=0.1)
    assert alone.answer == "not worse"
    costs = {"cost": np.tile([1.0, 2.0, 3.0], 40), "passage": np.repeat(np.arange(12), 10)}
    cheap = gate(costs, score="cost", metrics="mean", higher_is_better=False, units="passage", floor=9.0)
    assert (cheap.checks[0].one_more, cheap.answer) == (None, "not worse")


def test_weights_of_units_count_for_one_more() -> None:
    table = units_of([0.95] * 24) | {"w": np.where(np.arange(480) < 40, 50.0, 1.0)}
    result = gate(table, score="right", metrics="mean", higher_is_better=True, floor=0.8, units="passage", weights="w")
    squares = np.array([50.0] * 2 + [1.0] * 22)
    units = squares.sum() ** 2 / (squares**2).sum()
    assert result.checks[0].one_more == pytest.approx(0.95 * units / (units + 1))


def test_an_open_answer_says_what_would_settle_it_and_that_is_enough() -> None:
    data = table(4, shares={"old": 0.7, "new": 0.71})
    open_case = ask(data, margin=0.02)
    check = open_case.checks[0]
    assert check.answer == "can't tell"
    assert check.needed is not None
    assert check.needed > check.units == 60
    times = int(np.ceil(check.needed / 60))
    more = {name: np.tile(column, times) for name, column in data.items() if name != "half"}
    more["cluster"] = np.concatenate([data["cluster"] + 60 * k for k in range(times)])
    assert ask(more, margin=0.02).answer == "not worse"
    assert any(note.startswith("accuracy: To settle it") for note in open_case.notes)


def test_an_open_answer_passes_only_if_asked_to() -> None:
    data = table(shares={"old": 0.7, "new": 0.64})
    assert [ask(data, unsure=unsure).exit_code for unsure in ("fail", "warn", "pass")] == [4, 0, 0]
    worse = table(shares={"old": 0.7, "new": 0.4})
    assert ask(worse, unsure="pass").exit_code == 3


def test_equal_predictions_are_not_worse_if_there_are_enough_of_them() -> None:
    data = table()
    data["new"] = data["old"]
    assert ask(data).answer == "can't tell"  # 60 clusters: 2 (1 − 0.05^(1/60)) = 0.097
    assert ask(data, margin=0.1).answer == "not worse"


def test_a_long_table_and_more_systems() -> None:
    data = table(shares={"old": 0.7, "new": 0.8, "other": 0.2})
    n = len(data["y"])
    long = {
        "system": ["old"] * n + ["new"] * n + ["other"] * n,
        "item": [*range(n)] * 3,
        "score": np.concatenate([(data[s] == data["y"]) for s in ("old", "new", "other")]).astype(float),
        "cluster": np.tile(data["cluster"], 3),
    }
    how: dict[str, Any] = {"system": "system", "items": "item", "score": "score", "units": "cluster", "margin": 0.05}
    wide = ask(data).checks[0]
    check = gate(long, baseline="old", candidate="new", **how).checks[0]
    assert (check.low, check.high) == pytest.approx((wide.low, wide.high))
    with pytest.raises(StratError, match="`candidate` must name one of the 2 systems beside 'old': 'new', 'other'"):
        gate(long, baseline="old", **how)


def test_json_has_a_schema_and_every_number() -> None:
    result = ask(table(), by="half")
    content = json.loads(result.to_json())
    assert content["schema"] == "strat/gate/3"
    assert (content["answer"], content["exit_code"]) == (result.answer, result.exit_code)
    assert [check["low"] for check in content["checks"]] == [check.low for check in result.checks]


def test_markdown_starts_with_the_answer_and_holds_a_table() -> None:
    result = ask(table(shares={"old": 0.7, "new": 0.4}))
    lines = result.to_markdown().splitlines()
    assert lines[0].startswith("**worse: accuracy: new − old = -")
    assert lines[2].startswith("| measure | asked | old | new |")
    assert result.line == str(result).splitlines()[0]


def test_the_frame_has_a_line_for_each_check() -> None:
    frame = ask(table(), by="half").to_frame("pandas")
    assert frame["group"].tolist() == ["all", "even", "odd"]


def test_a_loss_within_the_margin_is_noted() -> None:
    data = table(5, clusters=800)
    flip = np.random.default_rng(0).random(len(data["y"])) < 0.02
    data["new"] = np.where(flip, (data["y"] + 1) % 3, data["old"])
    result = ask(data)
    assert result.answer == "not worse"
    assert any("is lower, by less than the margin" in note for note in result.notes)


def test_a_group_without_a_value_is_not_passed_over() -> None:
    data = table()
    data["half"] = np.where(data["cluster"] == 0, "single", "rest")
    result = ask(data, by="half", margin=0.5)
    assert {c.group: c.answer for c in result.checks}["single"] == "can't tell"
    assert {"metric": ("accuracy",), "group": ("single",)} in [n.at for n in result.notes if n.code == "gate-undefined"]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no margin": ({"margin": None}, "`margin` must say how large a loss does not matter, got None"),
    "negative margin": ({"margin": -0.1}, "`margin` must be positive"),
    "margin of no measure": ({"margin": {"f2": 0.1}}, "`margin` must be for measures that are asked for, got 'f2'"),
    "empty margin": ({"margin": {}}, "`margin` must be a number, or a mapping"),
    "infinite floor": ({"floor": float("inf")}, "`floor` must be a finite number"),
    "level of a half": ({"level": 0.5}, "`level` must lie strictly between 0.5 and 1, got 0.5; it is one-sided"),
    "unsure": ({"unsure": "skip"}, "`unsure` must be one of 'fail', 'warn', 'pass', got 'skip'"),
    "values for names": ({"predicted": np.ones(3)}, "`predicted` must be a list of names of columns, got an array"),
    "one system": ({"candidate": "old"}, "`candidate` must be another system than `baseline`|once"),
    "unknown baseline": ({"baseline": "oldd"}, "oldd"),
    "neither baseline nor floor": (
        {"baseline": None, "margin": None},
        "`baseline` must name a system or a stored file",
    ),
    "margin without baseline": ({"baseline": None, "floor": 0.5}, "`margin` must be left out without `baseline`"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_refused(case: str) -> None:
    how, message = WRONG[case]
    with pytest.raises(StratError, match=message):
        ask(table(), **how)


def test_systems_of_a_comparison_can_be_chosen() -> None:
    data = table(shares={"old": 0.7, "new": 0.8, "other": 0.2})
    every = ["old", "new", "other"]
    some = compare(data, truth="y", predicted=every, units="cluster", systems=["old", "new"])
    assert some.systems == ("new", "old")
    assert some.pvalue == compare(data, truth="y", predicted=["old", "new"], units="cluster").pvalue
    with pytest.raises(StratError, match="`systems` must be among those compared, got 'newer'; did you mean 'new'"):
        compare(data, truth="y", predicted=every, systems=["newer", "old"])


@pytest.mark.slow
def test_false_alarms_and_missed_losses_stay_below_five_percent_under_clusters() -> None:
    """With a true loss of exactly the margin, each wrong claim comes in at most 5 % (+ 3 standard errors) of gates."""
    counts = {"not worse": 0, "worse": 0, "can't tell": 0}
    trials = 400
    for seed in range(trials):
        counts[ask(table(seed + 100, shares={"old": 0.70, "new": 0.65})).answer] += 1
    most = 0.05 + 3 * np.sqrt(0.05 * 0.95 / trials)
    assert counts["not worse"] / trials <= most
    assert counts["worse"] / trials <= most


def test_skewed_differences_of_clusters_are_noted() -> None:
    cluster = np.repeat(np.arange(40), 10)
    right = np.ones(400)
    worse = np.where(cluster < 3, 0.0, 1.0)  # all losses are in three of forty clusters
    spread = np.where(np.arange(400) % 20 == 0, 0.0, 1.0)  # one in every other cluster
    how: dict[str, Any] = {"baseline": "old", "margin": 0.2, "score": ["old", "new"]}
    for new, units, expected in ((worse, "unit", True), (spread, "unit", False), (worse, None, False)):
        result = gate({"old": right, "new": new, "unit": cluster}, units=units, **how)
        assert ("skewed-units" in {note.code for note in result.notes}) is expected


def test_uneven_errors_of_clusters_are_noted_where_the_differences_are_not_skewed() -> None:
    """A sample that by chance holds none of the clusters in which the new system loses looks calm."""
    cluster = np.repeat(np.arange(40), 10)
    bad, place = cluster < 3, np.arange(400) % 10
    old = np.where(bad & (place < 4), 0.0, 1.0)
    new = np.where(bad & (place >= 2) & (place < 6), 0.0, 1.0)  # as many errors, half of them on other rows
    even = np.where(place == 0, 0.0, 1.0)
    how: dict[str, Any] = {"baseline": "old", "margin": 0.1, "score": ["old", "new"], "units": "unit"}
    for systems, expected in (((old, new), True), ((even, even), False)):
        result = gate({"old": systems[0], "new": systems[1], "unit": cluster}, **how)
        (notes,) = [[note for note in result.notes if note.code == "skewed-units"]]
        assert bool(notes) is expected
        assert all(note.facts["case"] == "errors" for note in notes)
