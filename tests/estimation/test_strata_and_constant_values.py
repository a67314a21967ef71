"""Labels in several strata, strata that are the classes, sums of distances, and values that do not vary."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import strat
from strat.estimation import limits
from strat.estimation.folded import distance_limits
from strat.verbs import look

RNG = np.random.default_rng(19)
Y = np.repeat([0, 1], 60)
GUESS = np.where(RNG.random(120) < 0.2 + 0.2 * Y, 1 - Y, Y)
TABLE = {"y": Y, "a": GUESS, "b": 1 - GUESS, "patient": np.arange(120) % 12, "h": np.arange(120) // 40}


def codes(notes: object) -> list[str]:
    return [getattr(note, "code", "remark") for note in notes]  # type: ignore[attr-defined]


# ---- a unit label in several strata


@pytest.mark.parametrize(
    "ask",
    [
        lambda **k: strat.Design.clustered(units=TABLE["patient"], strata=TABLE["h"], **k),
        lambda **k: strat.evaluate(TABLE, truth="y", predicted="a", strata="h", units="patient", **k),
        lambda **k: strat.compare(TABLE, truth="y", predicted=["a", "b"], strata="h", units="patient", **k),
        lambda **k: strat.gate(
            TABLE, truth="y", baseline="a", candidate="b", margin=0.1, strata="h", units="patient", **k
        ),
    ],
    ids=["design", "evaluate", "compare", "gate"],
)
def test_a_unit_in_several_strata_is_refused_unless_labels_are_nested(ask: object) -> None:
    with pytest.raises(strat.StratError, match=r"`units` must lie in one stratum each, got 0, 1, .* set `nested` if"):
        ask()  # type: ignore[operator]
    ask(nested=True)  # type: ignore[operator]


def test_look_proposes_no_strata_that_cut_units() -> None:
    table = {"patient": np.repeat(np.arange(30), 10), "label": np.arange(300) % 2, "pred": np.arange(300) // 2 % 2}
    across = look({**table, "hospital": np.arange(300) % 3})
    assert across.roles.strata is None
    assert any("is no stratum of 'patient'" in question for question in across.roles.questions)
    assert look({**table, "hospital": table["patient"] // 10}).roles.strata == "hospital"


# ---- strata that are the classes


@pytest.mark.parametrize("measure", ["precision", "f1", "mcc", "kappa"])
def test_measures_that_mix_classes_are_noted_where_strata_are_the_classes(measure: str) -> None:
    statistic = getattr(strat, measure)(Y, GUESS)
    assert "strata-are-classes" in codes(strat.estimate(statistic, on=strat.Design.stratified(strata=Y)).notes)
    for design in (
        strat.Design.stratified(strata=np.arange(120) % 2),
        strat.Design.stratified(strata=Y, weights=1.0 + Y),
        strat.Design.stratified(strata=Y, population={0: 900, 1: 100}),
    ):
        assert "strata-are-classes" not in codes(strat.estimate(statistic, on=design).notes)


@pytest.mark.parametrize("measure", ["recall", "specificity", "balanced_accuracy"])
def test_measures_within_classes_are_not_noted(measure: str) -> None:
    answer = strat.estimate(getattr(strat, measure)(Y, GUESS), on=strat.Design.stratified(strata=Y))
    assert "strata-are-classes" not in codes(answer.notes)


def test_accuracy_of_a_table_is_noted_where_one_column_is_truth_and_strata() -> None:
    assert "strata-are-classes" in codes(strat.evaluate(TABLE, truth="y", predicted="a", strata="y").notes)
    board = strat.compare(TABLE, truth="y", predicted=["a", "b"], strata="y")
    assert "strata-are-classes" in codes(board.notes)
    weighted = {**TABLE, "w": 1.0 + Y}
    found = strat.evaluate(weighted, truth="y", predicted="a", strata="y", weights="w")
    assert "strata-are-classes" not in codes(found.notes)


# ---- a sum of distances is never less than its noise


def test_limits_of_plain_distances_are_straight() -> None:
    covariance = np.diag([0.01, 0.04])
    below, above = distance_limits(np.array([1.0, -2.0]), covariance, 2.0)
    assert below == pytest.approx(above) == pytest.approx(2.0 * np.sqrt(0.05))


def test_the_calibration_error_of_calibrated_probabilities_covers_zero() -> None:
    rng = np.random.default_rng(3)
    design, trials, hits = strat.Design.clustered(units=np.arange(300) // 10), 120, 0
    for _ in range(trials):
        p = rng.random(300)
        y = (rng.random(300) < p).astype(int)
        hits += strat.estimate(strat.calibration_error(y, p), on=design).interval()[0] <= 0.0
    assert hits >= 0.9 * trials  # 23 % by value ± t · se


def test_the_calibration_error_says_how_much_is_noise_and_tests_by_its_interval() -> None:
    p = RNG.random(400)
    y = (RNG.random(400) < p).astype(int)
    answer = strat.estimate(strat.calibration_error(y, p), on=strat.Design.simple_random(n=400))
    assert "noise-floor" in codes(answer.notes)
    assert answer.test(0.0).pvalue > 0.05
    assert answer.test(answer.interval()[1]).pvalue == pytest.approx(0.05, abs=1e-6)
    with pytest.raises(strat.StratError, match="`method` must not be 'mover' for calibration error"):
        answer.interval(method="mover")
    with pytest.raises(strat.StratError, match="`method` must not be 'folded' for accuracy"):
        strat.estimate(strat.accuracy(y, y), on=strat.Design.simple_random(n=400)).interval(method="folded")


def test_a_test_of_a_sum_of_shares_inverts_its_interval() -> None:
    design = strat.Design.clustered(units=np.arange(120) // 4)
    answer = strat.estimate(strat.balanced_accuracy(Y, GUESS), on=design)
    assert answer.test(answer.interval()[0]).pvalue == pytest.approx(0.05, abs=1e-6)


# ---- never a point


SHARE = strat.proportion((RNG.random(50) < 0.7).astype(float))


@pytest.mark.parametrize("function", [lambda v: v[..., 0] - v[..., 1], lambda v: v[..., 0] / v[..., 1]])
@pytest.mark.parametrize("of", [lambda d: d, strat.jackknife], ids=["closed form", "jackknife"])
def test_identical_systems_through_a_map_are_no_point(function: object, of: object) -> None:
    design = strat.Design.simple_random(n=50)
    gap = strat.estimate(strat.stack("system", A=SHARE, B=SHARE), on=of(design)).map(function)  # type: ignore[operator,arg-type]
    low, high = gap.interval()
    assert low < gap.value < high
    assert "no-variation" in codes(gap.notes)
    assert gap.test(gap.value + (high - gap.value) / 2).pvalue > 0.05


def test_a_map_of_a_perfect_share_keeps_its_limit() -> None:
    perfect = strat.estimate(strat.proportion(np.ones(50)), on=strat.Design.simple_random(n=50))
    low, high = perfect.map(lambda v: 1 - v).interval()
    assert (low, high) == (0.0, pytest.approx(1 - perfect.interval()[0]))


def test_the_parts_of_a_map_keep_their_limits_in_tests() -> None:
    recalls = strat.estimate(
        strat.recall([0, 1, 2] * 20, [0, 1, 1] * 20, average=None), on=strat.Design.simple_random(n=60)
    )
    twice = recalls.map(lambda v: 2 * v)
    low, high = (np.asarray(side) for side in twice.interval())
    for label, null in zip(twice.axes[0].labels, (low + high) / 2, strict=True):
        assert twice.at(label).test(float(null)).pvalue > 0.05
    assert (np.asarray(twice.test(0.1).pvalue) > 0.05).tolist() == [False, False, True]


def test_a_map_of_what_was_seen_whole_is_known() -> None:
    whole = strat.estimate(strat.stack("system", A=SHARE, B=SHARE), on=strat.Design.simple_random(n=50, population=50))
    gap = whole.map(lambda v: v[..., 0] - v[..., 1])
    assert gap.interval() == (0.0, 0.0)
    assert "no-variation" not in codes(gap.notes)


@pytest.mark.parametrize(
    "statistic",
    [strat.mean(np.full(30, 0.7)), strat.ratio(np.arange(1.0, 31) * 2, np.arange(1.0, 31)), strat.total(np.zeros(30))],
    ids=["mean", "ratio", "total"],
)
def test_a_point_without_a_range_says_so(statistic: strat.Statistic) -> None:
    answer = strat.estimate(statistic, on=strat.Design.simple_random(n=30))
    assert "no-variation" in codes(answer.notes)


def test_one_outcome_in_units_of_several_rows_names_the_limit_by_units() -> None:
    units = np.repeat(np.arange(20), 50)
    answer = strat.estimate(strat.proportion(np.ones(1000)), on=strat.Design.clustered(units=units))
    note = next(note for note in answer.notes if note.code == "one-outcome")  # type: ignore[attr-defined]
    assert "0.832" in note
    assert answer.interval(method="exact")[0] == pytest.approx(0.025 ** (1 / 20))
    assert "one-outcome" not in codes(
        strat.estimate(strat.proportion(np.ones(20)), on=strat.Design.simple_random(n=20)).notes
    )


def test_a_value_is_at_an_end_of_its_range_if_rounding_alone_keeps_it_off() -> None:
    point = np.array([0.0, 1e-13, 1e-11, 0.5, 1 - 1e-11, 1 - 1e-13, 1.0])
    estimate = SimpleNamespace(
        point=point, bounds=(0.0, 1.0), variance=np.zeros(7), inference=SimpleNamespace(woodruff=None)
    )
    assert limits.at_an_end(estimate).tolist() == [True, True, False, False, False, True, True]  # type: ignore[arg-type]
    estimate.variance = np.full(7, 1e-6)
    assert not limits.at_an_end(estimate).any()  # type: ignore[arg-type]
