"""Loss matrices, refusing, Chow's rule, risk-coverage and cost-optimal thresholds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strat
from strat.measures import loss as lo
from strat.measures import risk_curves

seeds = st.integers(0, 10_000)


def posteriors(seed: int, n: int = 40, classes: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(classes), n)


@given(seeds)
def test_decisions_have_the_least_expected_loss(seed: int) -> None:
    rng = np.random.default_rng(seed)
    loss = lo.LossMatrix(np.vstack([rng.random((3, 3)) * 3, np.full(3, 0.4)]), list("abc"), refuse="?")
    p = posteriors(seed)
    decided = loss.decide(p)
    risks = p @ loss.values.T  # rows × decisions
    own = risks[np.arange(len(p)), [loss.decisions.index(d) for d in decided]]
    np.testing.assert_allclose(own, risks.min(axis=1))


@given(seeds, st.floats(0.0, 1.0))
def test_chows_rule_is_the_zero_one_loss_with_refusing(seed: int, cost: float) -> None:
    p = posteriors(seed)
    loss = lo.zero_one_loss(list("abc"), refuse="refuse", cost=cost)
    risks = p @ loss.values.T
    chosen = [loss.decisions.index(d) for d in lo.chow(p, cost=cost, labels=list("abc"))]
    np.testing.assert_allclose(risks[np.arange(len(p)), chosen], risks.min(axis=1), atol=1e-12)


@given(seeds)
def test_zero_one_loss_is_the_error(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, predicted = rng.integers(0, 3, (2, 50))
    weights = rng.random(50)
    value = lo.expected_loss(truth, predicted, lo.zero_one_loss([0, 1, 2])).value(weights)
    assert value == pytest.approx(np.average(truth != predicted, weights=weights))


def test_loss_rows_are_decisions_and_columns_truths() -> None:
    """Kuncheva: λ_ij is the loss of assigning label i when the true label is j."""
    loss = lo.LossMatrix([[0, 10], [1, 0]], ["well", "ill"])
    assert loss.of(["ill"], ["well"]).tolist() == [10.0]
    assert loss.of(["well"], ["ill"]).tolist() == [1.0]


def test_refusing_with_its_share_and_the_risk_of_the_rest() -> None:
    truth = np.array(["a", "a", "b", "b", "b"])
    predicted = np.array(["a", "b", "?", "b", "?"])
    assert lo.coverage(predicted, refuse="?").value() == pytest.approx(3 / 5)
    risk = lo.selective_risk(truth, predicted, refuse="?")
    assert risk.value() == pytest.approx(1 / 3)
    loss = lo.zero_one_loss(["a", "b"], refuse="?", cost=0.25)
    assert lo.expected_loss(truth, predicted, loss).value() == pytest.approx((1 + 2 * 0.25) / 5)
    estimate = strat.estimate(risk, on=strat.Design.simple_random(n=5))
    assert estimate.df == 2  # three decided rows


@given(seeds)
def test_risk_coverage_by_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, predicted = rng.integers(0, 2, (2, 30))
    confidence = rng.permutation(30) / 30.0
    order = np.argsort(-confidence)
    wrong = (truth != predicted)[order]
    running = np.cumsum(wrong) / np.arange(1, 31)
    at = np.arange(1, 31) / 30
    found = risk_curves.risk_coverage(truth, predicted, confidence, at=at).value()
    np.testing.assert_allclose(found, running, atol=1e-9)


@given(seeds, st.sampled_from([1, 2, 3, 7, 40]))
def test_the_area_is_the_integral_of_the_curve_with_ties_too(seed: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    truth, predicted = rng.integers(0, 2, (2, 40))
    confidence, weights = rng.integers(0, levels, 40), rng.random(40) + 0.01
    for loss in (None, lo.LossMatrix([[0.0, 2.0], [5.0, -1.0]], [0, 1])):
        area = risk_curves.area_under_risk_coverage(truth, predicted, confidence, loss=loss).value(weights)
        nodes, share = np.polynomial.legendre.leggauss(20)
        held = [weights[confidence == level].sum() for level in np.unique(confidence)[::-1]]
        ends = np.append(0.0, np.cumsum(held) / weights.sum()).clip(0.0, 1.0)
        at = ((ends[1:] + ends[:-1])[:, None] + (ends[1:] - ends[:-1])[:, None] * nodes) / 2
        curve = risk_curves.risk_coverage(truth, predicted, confidence, at=at.ravel(), loss=loss).value(weights)
        integral = (curve.reshape(at.shape) @ share * (ends[1:] - ends[:-1]) / 2).sum()
        assert area == pytest.approx(integral, abs=1e-6)


@given(seeds)
def test_the_area_does_not_know_the_order_of_ties_and_nears_the_mean_of_running_means(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, predicted = rng.integers(0, 2, (2, 400))
    tied = risk_curves.area_under_risk_coverage(truth, predicted, np.ones(400)).value()
    assert tied == pytest.approx((truth != predicted).mean())
    confidence = rng.permutation(400)
    running = np.cumsum((truth != predicted)[np.argsort(-confidence)]) / np.arange(1, 401)
    area = risk_curves.area_under_risk_coverage(truth, predicted, confidence).value()
    assert area == pytest.approx(running.mean(), abs=0.01)


@given(seeds)
def test_slopes_of_the_area_are_its_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, predicted = rng.integers(0, 2, (2, 30))
    statistic = risk_curves.area_under_risk_coverage(truth, predicted, rng.integers(0, 6, 30))
    totals = rng.random(statistic.components) + 0.1
    step = 1e-6 * np.eye(len(totals))
    found = (statistic.function(totals + step) - statistic.function(totals - step)) / 2e-6
    np.testing.assert_allclose(statistic.gradient(totals), found, atol=1e-7)


@given(seeds)
def test_the_optimal_threshold_is_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = np.append(rng.integers(0, 2, 38), [0, 1])
    score = np.round(rng.normal(truth), 1)
    weights = rng.random(40)
    best = lo.optimal_threshold(truth, score, false_positive=1, false_negative=2, weights=weights)
    costs = lo.expected_cost(truth, score, false_positive=1, false_negative=2)
    assert best.cost == pytest.approx(costs.value(weights).min())
    at = costs.axes[0].labels.index(best.value)
    assert costs.value(weights)[at] == pytest.approx(best.cost)
    assert best.calibrated == pytest.approx(1 / 3)


def test_calibrated_scores_have_the_textbook_threshold() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(200_000)
    truth = (rng.random(200_000) < p).astype(int)
    best = lo.optimal_threshold(truth, p, false_positive=1, false_negative=4)
    assert best.value == pytest.approx(best.calibrated, abs=0.03)


def test_a_risk_coverage_curve_has_a_band_wider_than_its_intervals() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 600)
    score = rng.normal(truth)
    statistic = risk_curves.risk_coverage(truth, (score > 0.5).astype(int), np.abs(score - 0.5))
    estimate = strat.estimate(statistic, on=strat.Design.clustered(units=np.arange(600) // 10))
    low, high = estimate.interval()
    outer_low, outer_high = estimate.band()
    assert low.shape == (20,)
    assert (outer_low <= low + 1e-12).all()
    assert (outer_high >= high - 1e-12).all()
    assert (outer_high - outer_low).mean() > 1.1 * (high - low).mean()


def test_a_loss_has_decisions_in_its_rows_and_a_confusion_matrix_the_truth():
    """ERRATA 45: Σ a_ij λ_ji / n, which the other way round would be 0.7."""
    truth, predicted = list("aaaabbbbbb"), list("aaabaabbbb")  # a_ij = 3 1, 2 4
    loss = lo.LossMatrix(np.array([[0.0, 5.0], [1.0, 0.0]]), list("ab"))  # deciding a where b is true costs 5
    assert float(lo.expected_loss(truth, predicted, loss).value()) == pytest.approx((1 * 1 + 2 * 5) / 10)
