"""Partial AUC, selection rate, win rate, decision curves, and the EER of two lists: other tools' values, and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strat
from strat import measures as m
from strat import recognition
from strat.base.errors import StratError

# wfns of pROC's data aSAH: how many of 72 patients with a good outcome and of 41 with a poor one have each grade
GOOD, POOR = [37, 20, 3, 8, 4], [2, 12, 1, 8, 18]
OUTCOME = np.repeat([0, 1], [72, 41])
GRADE = np.concatenate([np.repeat(np.arange(1, 6), counts) for counts in (GOOD, POOR)])
TIES = ([0, 0, 0, 1, 1, 1, 0, 1], [1, 2, 3, 3, 4, 5, 5, 6])
# tests/testthat/test-auc.R and helper-partial-auc-boundary-expected.R of pROC 1.19 (commits 3a2663e and 4dfcbae)
PROC: list[tuple[dict[str, Any], float]] = [
    ({"specificity": (1, 0.9)}, 0.0334417344173442),
    ({"specificity": (0.9, 0.8)}, 0.0598373983739837),
    ({"specificity": (0.5, 0)}, 0.488134475939354),
    ({"specificity": (1, 0)}, 0.823678861788618),
    ({"specificity": (0.95, 0.9)}, 0.023563685636856336),
    ({"specificity": (0.45, 0.05)}, 0.39050758075148323),
    ({"sensitivity": (1, 0.9)}, 0.0400999322493225),
    ({"sensitivity": (0.9, 0.8)}, 0.0609953703703703),
    ({"sensitivity": (0.5, 0)}, 0.483358739837398),
    ({"sensitivity": (1, 0)}, 0.823678861788618),
    ({"sensitivity": (0.95, 0.9)}, 0.02693865740740737),
    ({"sensitivity": (0.45, 0.05)}, 0.38731900218307741),
    ({"specificity": (1, 0.9), "standardized": True}, 0.649693339038653),
    ({"specificity": (0.9, 0.8), "standardized": True}, 0.763749402199904),
    ({"specificity": (0.5, 0), "standardized": True}, 0.952537903757416),
    ({"sensitivity": (1, 0.9), "standardized": True}, 0.68473648552275),
    ({"sensitivity": (0.9, 0.8), "standardized": True}, 0.770561002178649),
    ({"sensitivity": (0.5, 0), "standardized": True}, 0.933434959349593),
]
PROC_TIES: list[tuple[dict[str, Any], float]] = [
    ({"specificity": (0.95, 0.9)}, 0.01624999999999998),
    ({"specificity": (0.45, 0.05)}, 0.4),
    ({"sensitivity": (0.95, 0.9)}, 0.02874999999999996),
    ({"sensitivity": (0.45, 0.05)}, 0.38),
]


@pytest.mark.parametrize(("part", "area"), PROC, ids=[str(part) for part, _ in PROC])
def test_partial_areas_are_those_of_proc(part: dict[str, Any], area: float) -> None:
    assert float(m.partial_auc(OUTCOME, GRADE, **part)) == pytest.approx(area, abs=1e-14)


@pytest.mark.parametrize(("part", "area"), PROC_TIES, ids=[str(part) for part, _ in PROC_TIES])
def test_partial_areas_of_tied_scores_are_those_of_proc(part: dict[str, Any], area: float) -> None:
    assert float(m.partial_auc(*TIES, **part)) == pytest.approx(area, abs=1e-14)


@given(st.integers(0, 10_000), st.floats(0.05, 0.9))
def test_partial_areas_add_up_and_a_standardized_one_is_that_of_scikit_learn(seed: int, cut: float) -> None:
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(seed)
    truth = np.append(rng.integers(0, 2, 40), [0, 1])
    score = np.round(rng.normal(truth), 1)
    for argument in ("specificity", "sensitivity"):
        parts = [float(m.partial_auc(truth, score, **{argument: part})) for part in ((0, cut), (cut, 1))]
        assert sum(parts) == pytest.approx(float(m.auc(truth, score)), abs=1e-12)
    ours = m.partial_auc(truth, score, specificity=1 - cut, standardized=True)
    assert float(ours) == pytest.approx(roc_auc_score(truth, score, max_fpr=cut), abs=1e-12)


def test_a_perfect_and_an_uninformative_score_have_the_standardized_areas_one_and_a_half() -> None:
    truth = [0, 0, 1, 1]
    for argument in ("specificity", "sensitivity"):
        perfect = m.partial_auc(truth, [1, 2, 3, 4], **{argument: 0.9}, standardized=True)
        tied = m.partial_auc(truth, [1, 1, 1, 1], **{argument: 0.9}, standardized=True)
        assert [float(perfect), float(tied)] == pytest.approx([1.0, 0.5])


def test_limits_of_a_partial_area_stay_within_its_range() -> None:
    one = strat.estimate(m.partial_auc(OUTCOME, GRADE, specificity=0.9), on=strat.Design.simple_random(n=113))
    low, high = one.interval(0.999)
    assert 0 < low < one.value < high < 0.1


def test_selection_rates_and_their_gap_are_those_of_fairlearn() -> None:
    fairness = pytest.importorskip("fairlearn.metrics")
    predicted = np.random.default_rng(3).integers(0, 2, 90)
    assert float(m.selection_rate(predicted)) == fairness.selection_rate(predicted, predicted)
    named = np.array(["no", "yes"])[predicted]
    assert float(m.selection_rate(named, positive="yes")) == predicted.mean()


def test_win_rates_are_shares_of_votes_with_half_for_a_tie() -> None:
    rng = np.random.default_rng(5)
    left = rng.integers(0, 4, 200)
    right = (left + rng.integers(1, 4, 200)) % 4
    winner = rng.choice(["left", "right", "tie"], 200)
    half = np.array([{"left": 1.0, "right": 0.0, "tie": 0.5}[one] for one in winner])
    by_hand = [np.concatenate([half[left == i], 1 - half[right == i]]).mean() for i in range(4)]
    np.testing.assert_allclose(m.win_rate(left, right, winner).value(), by_hand)
    swapped = np.array([{"left": "right", "right": "left"}.get(one, one) for one in winner])
    np.testing.assert_allclose(m.win_rate(right, left, swapped).value(), by_hand)
    names = np.where(winner == "tie", "tie", np.where(winner == "left", left, right).astype(str))
    np.testing.assert_allclose(m.win_rate(left.astype(str), right.astype(str), names).value(), by_hand)


def test_two_systems_share_all_wins() -> None:
    rates = strat.estimate(
        m.win_rate(["a"] * 8, ["b"] * 8, ["left"] * 5 + ["tie"] + ["right"] * 2), on=strat.Design.simple_random(n=8)
    )
    np.testing.assert_array_equal(rates.value, [5.5 / 8, 2.5 / 8])
    np.testing.assert_allclose(rates.covariance, rates.variance[0] * np.array([[1, -1], [-1, 1]]))


def test_a_decision_curve_has_the_model_and_treating_all_and_a_line_for_treating_none() -> None:
    rng = np.random.default_rng(7)
    truth, at = rng.integers(0, 2, 300), np.array([0.1, 0.3, 0.6])
    risk = np.clip(0.3 + 0.4 * truth + rng.normal(0, 0.2, 300), 0, 1)
    curve = m.decision_curve(truth, risk, thresholds=at)
    model, everybody = curve.value()
    np.testing.assert_allclose(model, m.net_benefit(truth, risk, thresholds=at).value())
    np.testing.assert_allclose(everybody, truth.mean() - (1 - truth.mean()) * at / (1 - at))
    answer = strat.estimate(curve, on=strat.Design.simple_random(n=300))
    lines = {line.get_gid(): line for line in answer.plot().lines}
    assert list(lines["strat-reference"].get_ydata()) == [0, 0]
    gain = answer.map(lambda v: v[..., 0, :] - v[..., 1, :])
    avoided = ((risk < at[:, None]) * np.where(truth, -1.0, (at / (1 - at))[:, None])).mean(axis=1)
    np.testing.assert_allclose(gain.value, avoided)


def test_the_eer_of_two_lists_is_that_of_their_trials() -> None:
    rng = np.random.default_rng(2)
    genuine, impostor = rng.normal(2, 1, 60), rng.normal(0, 1, 300)
    mated = np.arange(360) < 60
    whole = recognition.verification_of_trials(similarity=np.r_[genuine, impostor], mated=mated).eer()
    one = recognition.eer(genuine, impostor)
    assert (one.value, one.se, one.notes) == (whole.value, whole.se, whole.notes)
    assert recognition.eer(-genuine, -impostor, higher_is_better=False).value == one.value
    assert "taken as independent" in one.notes[0]
    assert any("reversed" in note for note in recognition.eer(impostor, genuine).notes)


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: m.partial_auc([0, 1], [1, 2]), "exactly one of `specificity` and `sensitivity` .* got neither"),
    (lambda: m.partial_auc([0, 1], [1, 2], specificity=0.9, sensitivity=0.9), "got both"),
    (
        lambda: m.partial_auc([0, 1], [1, 2], specificity=1),
        r"`specificity` must be a range .* such as \(0.9, 1\), got 1",
    ),
    (lambda: m.partial_auc([0, 1], [1, 2], sensitivity=(0.2, 1.5)), "`sensitivity` must be a range between 0 and 1"),
    (lambda: m.partial_auc([0, 1], [1, 2], specificity=(0.1, 0.2, 0.3)), "`specificity` must be a range"),
    (lambda: m.selection_rate(["no", "yes"]), "`positive` must name the positive class of 'no' and 'yes'"),
    (lambda: m.selection_rate(np.linspace(0, 1, 20)), "`predicted` must be labels, got 20 different numbers"),
    (lambda: m.win_rate(["a"], ["b"], ["c"]), "`winner` must be 'left', 'right' or 'tie', or name one of the two"),
    (lambda: m.win_rate(["a"], ["a"], ["left"]), "`right` must differ from `left` in every vote"),
    (lambda: m.decision_curve([0, 1], [0.2, 1.2], thresholds=[0.1]), "`probability` must lie between 0 and 1"),
    (lambda: m.decision_curve([0, 1], [0.2, 0.7], thresholds=[1.0]), "`thresholds` must lie between 0 and 1"),
    (lambda: recognition.eer([], [0.1]), "`genuine` must have at least one row, got none"),
    (lambda: recognition.eer([0.5], [[0.1, 0.2]]), "`impostor` must have one value per row"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_is_refused_is_one_sentence(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(StratError, match=message):
        call()
