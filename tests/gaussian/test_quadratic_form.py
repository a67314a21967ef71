"""The distribution of a quadratic form: known answers to 1e-8, laws, and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from strat.base.errors import StratError
from strat.gaussian import (
    GaussianClass,
    Problem,
    QuadraticRule,
    linear_rule,
    quadratic_classifier_error,
    quadratic_form_tail,
    quadratic_rule,
    scaled_problem,
    shifted_problem,
    standard_problem,
)
from strat.gaussian.quadratic_form import boundary_expectation, tails


@pytest.mark.parametrize("n", [1, 2, 3, 8, 64, 200])
@pytest.mark.parametrize("share", [0.01, 0.5, 1.0, 2.0, 4.0])
def test_chi_squared(n, share):
    found = quadratic_form_tail(np.ones(n), np.zeros(n), -share * n)
    assert found.value == pytest.approx(stats.chi2.sf(share * n, n), abs=1e-12)
    assert found.bound < 1e-8


@pytest.mark.parametrize("n", [1, 2, 8, 64])
@pytest.mark.parametrize("shift", [0.1, 1.0, 5.0, 40.0])
@pytest.mark.parametrize("share", [0.8, 1.0, 1.1])
def test_noncentral_chi_squared(n, shift, share):
    x = share * n * (1 + shift**2)
    found = quadratic_form_tail(np.ones(n), np.full(n, 2 * shift), n * shift**2 - x)
    assert found.value == pytest.approx(stats.ncx2.sf(x, n, n * shift**2), abs=1e-10)


@pytest.mark.parametrize("x", [0.0, 1e-9, 1e-3, 0.5, 5.0, 40.0])
def test_difference_of_exponentials(x):
    found = quadratic_form_tail(np.array([1.0, 1.0, -1.0, -1.0]), np.zeros(4), -x)
    assert found.value == pytest.approx(0.5 * np.exp(-x / 2), abs=1e-13)


def test_ratio_of_squares_has_an_arc_tangent():
    found = quadratic_form_tail(np.array([1.0, -3.0]), np.zeros(2), 0.0)
    assert found.value == pytest.approx(1 / 3, abs=1e-13)


@given(
    st.floats(-3, 3).filter(lambda v: abs(v) > 1e-3),
    st.floats(-5, 5),
    st.floats(-5, 5),
)
def test_one_dimension_is_a_pair_of_roots(a, b, c):
    inside = b * b - 4 * a * c
    if inside <= 0:
        expected = float(c > 0) if inside < 0 else None
    else:
        low, high = sorted(((-b - np.sqrt(inside)) / (2 * a), (-b + np.sqrt(inside)) / (2 * a)))
        between = stats.norm.cdf(high) - stats.norm.cdf(low)
        expected = between if a < 0 else 1 - between
    if expected is not None:
        found = quadratic_form_tail(np.array([a]), np.array([b]), c)
        assert found.value == pytest.approx(expected, abs=1e-8)


@given(st.integers(0, 10_000), st.integers(1, 12))
def test_both_tails_sum_to_one_and_scale_does_not_matter(seed, n):
    rng = np.random.default_rng(seed)
    weights, linear, constant = rng.normal(size=n), rng.normal(size=n), float(rng.normal())
    up = quadratic_form_tail(weights, linear, constant).value
    down = quadratic_form_tail(-weights, -linear, -constant).value
    scaled = quadratic_form_tail(7 * weights, 7 * linear, 7 * constant).value
    assert up + down == pytest.approx(1, abs=1e-9)
    assert scaled == pytest.approx(up, abs=1e-9)


def test_nearly_linear_forms_agree_with_the_linear_limit():
    linear = np.array([1.0, 2.0, 0.5])
    limit = stats.norm.sf(1.5 / np.sqrt((linear**2).sum()))
    for size in (0.0, 1e-14, 1e-10, 1e-8):
        weights = size * np.array([1.0, -1.0, 0.3])
        assert quadratic_form_tail(weights, linear, -1.5).value == pytest.approx(limit, abs=1e-7)


def test_bound_holds_where_scales_differ_by_orders_of_magnitude():
    rng = np.random.default_rng(5)
    shape = (300, 4)
    weights = rng.normal(size=shape) * 10 ** rng.uniform(-6, 2, shape)
    linear = rng.normal(size=shape) * 10 ** rng.uniform(-4, 2, shape)
    constant = rng.normal(size=300) * 10 ** rng.uniform(-3, 3, 300)
    value, bound = tails(weights, linear, constant, tolerance=1e-11)
    z = rng.standard_normal((40_000, 4))
    simulated = ((z**2) @ weights.T + z @ linear.T + constant > 0).mean(axis=0)
    spread = np.sqrt(np.maximum(value * (1 - value), 1e-5) / 40_000)
    assert np.isfinite(value).all()
    assert (np.abs(simulated - value) < 4.5 * spread).all()
    assert bound.max() < 1e-8


def test_impossible_and_certain_events():
    assert quadratic_form_tail(np.array([-1.0]), np.array([0.0]), -0.5).value == 0
    assert quadratic_form_tail(np.array([1.0]), np.array([0.0]), 0.5).value == 1


@pytest.mark.parametrize("problem", [shifted_problem(8, distance=2.5631), scaled_problem(8), standard_problem()])
def test_error_of_a_designed_classifier_equals_simulation(problem):
    rng = np.random.default_rng(3)
    design = [
        GaussianClass(c.mean + 0.2 * rng.standard_normal(8), np.cov(c.sample(60, rng).T)) for c in problem.classes
    ]
    rule = quadratic_rule(*design)
    error = quadratic_classifier_error(rule, problem)
    points, codes = problem.sample(400_000, rng)
    counted = (rule.decide(points) != codes).mean()
    assert error.bound < 1e-8
    assert abs(counted - error.value) < 3 * np.sqrt(error.value * (1 - error.value) / 400_000)


def test_error_with_known_answers():
    unit = shifted_problem(5, distance=2.0)
    assert quadratic_classifier_error(linear_rule(*unit.classes), unit).value == pytest.approx(
        stats.norm.cdf(-1), abs=1e-12
    )
    ring = scaled_problem(8)
    edge = 2 * 8 * np.log(2) / (1 - 1 / 4)
    known = 0.5 * stats.chi2.sf(edge, 8) + 0.5 * stats.chi2.cdf(edge / 4, 8)
    assert quadratic_classifier_error(quadratic_rule(*ring.classes), ring).value == pytest.approx(known, abs=1e-12)


def test_rule_that_never_decides_and_rule_that_always_does():
    problem = shifted_problem(2, distance=1.0)
    assert quadratic_classifier_error(QuadraticRule(np.zeros((2, 2)), [0, 0], 0.0), problem).value == 0.5
    always = quadratic_classifier_error(QuadraticRule(np.zeros((2, 2)), [0, 0], 1.0), problem)
    assert always.by_class == (1.0, 0.0)


def test_boundary_expectation_is_a_density():
    # E{δ(z² - 1)} for z standard normal is the density of z² at 1
    found = boundary_expectation(
        np.array([1.0]), np.array([0.0]), -1.0, lambda mean, variance: np.ones(mean.shape[:-1], complex)
    )
    assert found == pytest.approx(stats.chi2.pdf(1, 1), abs=1e-9)


def test_errors_say_what_to_do():
    problem = shifted_problem(3, distance=1.0)
    with pytest.raises(StratError, match=r"`rule` must have the problem's 3 feature"):
        quadratic_classifier_error(QuadraticRule([[1.0]], [0.0], 0.0), problem)
    with pytest.raises(StratError, match=r"`matrix` must be 2 by 2"):
        QuadraticRule([[1.0]], [0.0, 1.0], 0.0)
    three = Problem([GaussianClass(0.0), GaussianClass(1.0), GaussianClass(2.0)])
    with pytest.raises(StratError, match=r"`problem` must have two Gaussian classes, got 3"):
        quadratic_classifier_error(QuadraticRule([[1.0]], [0.0], 0.0), three)
