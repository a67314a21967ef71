"""F&H's formulas against each other, against refits and against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from strat.base.errors import StratError
from strat.gaussian import (
    GaussianClass,
    Problem,
    bootstrap_bias,
    boundary_beta,
    distance_for_error,
    error_of_sets,
    error_on_samples,
    error_variance,
    estimate_class,
    holdout_moments,
    leave_one_out_bias,
    leave_one_out_bias_between,
    linear_degradation,
    linear_rule,
    outlier_effect,
    outlier_influence,
    quadratic_classifier_error,
    quadratic_degradation,
    quadratic_rule,
    scaled_outlier,
    scaled_problem,
    shifted_problem,
    simulate_bias,
    simulate_bootstrap_bias,
    simulate_degradation,
    standard_problem,
    with_sample,
)
from strat.gaussian.dependent import both_errors, fit, left_out_score
from strat.gaussian.finite_samples import draw_estimates


@given(st.integers(1, 40), st.floats(0.5, 6))
def test_boundary_integral_equals_the_closed_form(n, distance):
    problem = shifted_problem(n, distance=distance)
    numeric = leave_one_out_bias_between(problem, design_samples=100, method="first order")
    closed = leave_one_out_bias(features=n, design_samples=100, distance=distance, method="first order")
    assert numeric == pytest.approx(closed, rel=1e-8)


def test_boundary_beta_equals_a_thin_shell_of_simulated_points():
    problem = standard_problem()
    rule = quadratic_rule(*problem.classes)
    for code, kind in enumerate(problem.classes):
        points = kind.sample(500_000, 11 + code)
        near = np.abs(rule.score(points)) < 0.05
        values = np.where(near, (kind.distances(points) ** 2 + 8) / 2, 0) / 0.1
        assert abs(boundary_beta(problem, code) - values.mean()) < 4 * values.std() / np.sqrt(len(points))


@given(st.integers(1, 30), st.integers(60, 5000), st.floats(0.5, 6))
def test_quadratic_degradation_is_half_the_bias_and_goes_like_one_over_n(features, samples, distance):
    arguments = {"features": features, "distance": distance, "method": "first order"}
    one = quadratic_degradation(design_samples=samples, **arguments)
    assert one == pytest.approx(leave_one_out_bias(design_samples=samples, **arguments) / 2)
    assert quadratic_degradation(design_samples=2 * samples, **arguments) == pytest.approx(one / 2)


def test_misprint_of_table_1():
    exact = 0.1 + quadratic_degradation(
        features=16, design_samples=48, distance=distance_for_error(0.1), method="first order"
    )
    assert 100 * exact == pytest.approx(21.52, abs=0.005)


def test_printed_distance_is_rounded():
    assert distance_for_error(0.10) == pytest.approx(2.5631, abs=5e-5)


def test_linear_degradation_equals_simulation():
    distance, n, samples, runs = distance_for_error(0.1), 6, 150, 3000
    problem = shifted_problem(n, distance=distance)
    rng = np.random.default_rng(0)
    one = draw_estimates(problem.classes[0], samples, runs, rng)
    two = draw_estimates(problem.classes[1], samples, runs, rng)
    excess = []
    for m1, s1, m2, s2 in zip(*one, *two, strict=True):
        w = np.linalg.solve((s1 + s2) / 2, m2 - m1)
        c = -w @ (m1 + m2) / 2
        length = np.sqrt(w @ w)
        e1 = norm.cdf((w @ problem.classes[0].mean + c) / length)
        e2 = norm.cdf(-(w @ problem.classes[1].mean + c) / length)
        excess.append((e1 + e2) / 2 - 0.1)
    theory = linear_degradation(features=n, design_samples=samples, distance=distance)
    assert np.mean(excess) == pytest.approx(theory, abs=3 * np.std(excess) / np.sqrt(runs) + 0.05 * theory)


def test_degradation_and_bias_equal_simulation_for_many_samples():
    problem = shifted_problem(4, distance=distance_for_error(0.1))
    errors = simulate_degradation(problem, design_samples=400, repetitions=1000, rng=1)
    theory = 0.1 + quadratic_degradation(features=4, design_samples=400, distance=distance_for_error(0.1))
    assert abs(errors.mean - theory) < 3 * errors.se + 1e-4
    bias = simulate_bias(problem, design_samples=400, repetitions=1000, rng=2)
    assert abs(bias.mean - leave_one_out_bias_between(problem, design_samples=400)) < 3 * bias.se + 1e-4
    assert bias.sd > 0


def test_standard_deviation_of_the_degradation_goes_like_one_over_n():
    problem = shifted_problem(8, distance=distance_for_error(0.1))
    small = simulate_degradation(problem, design_samples=160, repetitions=600, rng=3)
    large = simulate_degradation(problem, design_samples=640, repetitions=600, rng=4)
    assert small.sd / large.sd == pytest.approx(4, rel=0.25)


def test_drawn_estimates_have_the_moments_of_sample_estimates():
    kind = GaussianClass([1.0, -1.0], [[2.0, 0.6], [0.6, 1.0]])
    means, covariances = draw_estimates(kind, 12, 20_000, np.random.default_rng(0))
    assert np.cov(means.T) == pytest.approx(kind.covariance / 12, abs=0.004)
    assert covariances.mean(axis=0) == pytest.approx(kind.covariance, abs=0.03)
    assert covariances[:, 0, 0].var() == pytest.approx(2 * 2.0**2 / 11, rel=0.05)


@given(st.integers(0, 1000))
def test_leave_one_out_equals_refits(seed):
    rng = np.random.default_rng(seed)
    one, two = rng.normal(size=(9, 2)), rng.normal(1, 1.5, size=(8, 2))
    wrong_in, wrong_out = [], []
    for own, other in ((one, two), (two, one)):
        rival = estimate_class(other)
        for i in range(len(own)):
            for keep, found in ((own, wrong_in), (np.delete(own, i, axis=0), wrong_out)):
                rule = quadratic_rule(estimate_class(keep), rival)
                found.append((rule.score(own[i : i + 1])[0] > 0) / (2 * len(own)))
    resubstitution, left_out = both_errors(one[None], two[None], priors=np.array([0.5, 0.5]))
    assert resubstitution[0] == pytest.approx(sum(wrong_in))
    assert left_out[0] == pytest.approx(sum(wrong_out))


def test_left_out_score_is_exact():
    rng = np.random.default_rng(4)
    points = rng.normal(size=(1, 12, 3))
    mean, root, logs = fit(points)
    white = (points - mean) @ np.swapaxes(root, 1, 2)
    found = left_out_score((white**2).sum(axis=2), logs, 12, 3)[0]
    for i in range(12):
        rest = estimate_class(np.delete(points[0], i, axis=0))
        expected = (rest.distances(points[0, i : i + 1])[0] + np.linalg.slogdet(rest.covariance)[1]) / 2
        assert found[i] == pytest.approx(expected)


def test_error_variance_is_the_binomial_one():
    assert error_variance([0.2, 0.4], test_samples=[10, 20], priors=[0.3, 0.7]) == pytest.approx(
        0.09 * 0.16 / 10 + 0.49 * 0.24 / 20
    )
    assert error_variance([0.1, 0.1], test_samples=50, design_variance=0.01) == pytest.approx(0.0109)


def test_error_on_samples_counts_and_halves_the_boundary():
    rule = linear_rule(GaussianClass(-1.0), GaussianClass(1.0))
    found = error_on_samples(rule, [-1.0, 0.0], [1.0, -2.0], priors=[0.4, 0.6])
    assert found.value == pytest.approx(0.4 * 0.25 + 0.6 * 0.5)
    assert found.variance == pytest.approx(0.16 * 0.25 * 0.75 / 2 + 0.36 * 0.25 / 2)


def test_bias_comes_from_design_and_variance_from_test():
    distance, n, design, test = distance_for_error(0.1), 4, 60, 25
    problem = shifted_problem(n, distance=distance)
    rng = np.random.default_rng(7)
    values = []
    for _ in range(800):
        draws = [c.sample(design + test, rng) for c in problem.classes]
        found = error_of_sets(design=tuple(d[:design] for d in draws), test=tuple(d[design:] for d in draws))
        values.append(found.value)
    moments = holdout_moments(features=n, distance=distance, design_samples=design, test_samples=test)
    assert np.mean(values) == pytest.approx(moments.expected, abs=3 * np.std(values) / np.sqrt(800) + 0.003)
    assert np.std(values) == pytest.approx(moments.se, rel=0.12)


def test_linear_rules_of_sets():
    rng = np.random.default_rng(0)
    near, far = rng.normal(0, 1, (30, 2)), rng.normal(3, 1, (30, 2))
    assert error_of_sets(design=(near, far), test=(near, far), linear=True).value < 0.1


def test_outlier_influence_is_the_derivative_of_the_score():
    kind = GaussianClass([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]])
    outlier, at = np.array([3.0, -2.0]), np.array([[1.0, 2.0]])
    samples = 1_000_000
    mean, covariance = with_sample(kind.mean[None], kind.covariance[None], samples - 1, outlier[None])
    joined = GaussianClass(mean[0], covariance[0])
    change = [(k.distances(at)[0] + np.linalg.slogdet(k.covariance)[1]) / 2 for k in (joined, kind)]
    assert samples * (change[0] - change[1]) == pytest.approx(outlier_influence(at, outlier, kind)[0], abs=1e-3)


def test_outlier_effect_vanishes_for_bayes_and_is_the_derivative_otherwise():
    truth = scaled_problem(3)
    design = Problem([GaussianClass([0.3, 0.0, 0.0], 1.3), GaussianClass([0.0, 0.2, 0.0], 3.0)])
    outlier, samples = np.array([4.0, 1.0, -1.0]), 1_000_000
    assert outlier_effect(truth, outlier, code=1, samples=samples) == pytest.approx(0, abs=1e-12)
    for code in (0, 1):
        kinds = list(design.classes)
        mean, covariance = with_sample(kinds[code].mean[None], kinds[code].covariance[None], samples - 1, outlier[None])
        kinds[code] = GaussianClass(mean[0], covariance[0])
        before = quadratic_classifier_error(quadratic_rule(*design.classes), truth).value
        after = quadratic_classifier_error(quadratic_rule(*kinds), truth).value
        effect = outlier_effect(design, outlier, code=code, samples=samples, truth=truth)
        assert effect == pytest.approx(after - before, rel=2e-3, abs=1e-11)


@given(st.integers(0, 500))
def test_with_sample_equals_a_refit(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(7, 2))
    old, new = estimate_class(points[:-1]), estimate_class(points)
    mean, covariance = with_sample(old.mean[None], old.covariance[None], 6, points[-1:])
    assert mean[0] == pytest.approx(new.mean)
    assert covariance[0] == pytest.approx(new.covariance)


def test_scaled_outlier_has_its_distance():
    kind = GaussianClass([1.0, 2.0], [[2.0, 0.3], [0.3, 1.0]])
    assert kind.distances(scaled_outlier(kind, 7.0, rng=4))[0] == pytest.approx(7.0)


def test_bootstrap_formula_equals_drawn_bootstraps():
    problem = shifted_problem(4, distance=distance_for_error(0.1))
    rng = np.random.default_rng(2)
    formula, drawn, variances = [], [], []
    for _ in range(40):
        one, two = (c.sample(120, rng) for c in problem.classes)
        found, biases = bootstrap_bias(one, two), simulate_bootstrap_bias(one, two, replicates=200, rng=rng).values
        formula.append(found.bias)
        drawn.append(biases.mean())
        variances.append((found.variance, biases.var()))
    assert np.mean(formula) == pytest.approx(np.mean(drawn), rel=0.10)
    assert np.corrcoef(formula, drawn)[0, 1] > 0.5
    close = np.mean(variances, axis=0)
    assert close[0] == pytest.approx(close[1], rel=0.25)


def test_bootstrap_variance_carries_squared_priors():
    # the errata's example: N = 80, 7.13 % in each class, 0.041 in the table's unit of 1/100
    rng = np.random.default_rng(0)
    found = bootstrap_bias(rng.normal(0, 1, (80, 2)), rng.normal(1, 1, (80, 2)))
    expected = sum(0.25 * e * (1 - e) / 80 for e in found.by_class)
    assert found.variance == pytest.approx(expected)
    assert pytest.approx(0.041, abs=0.0005) == 100 * 2 * 0.25 * 0.0713 * (1 - 0.0713) / 80


def test_bootstrap_with_unequal_priors_shifts_the_threshold():
    rng = np.random.default_rng(1)
    one, two = rng.normal(0, 1, (60, 2)), rng.normal(1, 1, (60, 2))
    found = bootstrap_bias(one, two, priors=[0.9, 0.1])
    rule = quadratic_rule(estimate_class(one), estimate_class(two), priors=[0.9, 0.1])
    assert found.by_class == pytest.approx(error_on_samples(rule, one, two).by_class)
    assert found.corrected == pytest.approx(found.resubstitution + found.bias)


def test_printed_bayes_errors_of_the_three_cases():
    def bayes(problem):
        return 100 * quadratic_classifier_error(quadratic_rule(*problem.classes), problem).value

    assert bayes(shifted_problem(8, distance=distance_for_error(0.1))) == pytest.approx(10, abs=1e-6)
    assert bayes(scaled_problem(8)) == pytest.approx(9, abs=0.05)
    # printed 1.9; the published two-decimal parameters give 1.80
    assert bayes(standard_problem()) == pytest.approx(1.80, abs=0.005)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: GaussianClass([0, 0], [[1, 1], [1, 1]]), r"`covariance` must be positive definite, got a singular"),
        (lambda: GaussianClass([0, 0], [[1, 2], [0, 1]]), r"`covariance` must be finite and symmetric"),
        (lambda: GaussianClass([0, 0], [[1.0]]), r"`covariance` must be 2 by 2"),
        (
            lambda: Problem([GaussianClass(0.0), GaussianClass(1.0)], [0.5, 0.4]),
            r"`priors` must sum to 1, got a sum of 0.9",
        ),
        (lambda: Problem([GaussianClass(0.0), GaussianClass(1.0)], [1.5, -0.5]), r"`priors` must not be negative"),
        (
            lambda: Problem([GaussianClass(0.0), GaussianClass(1.0)], [1.0]),
            r"`priors` must have one probability per class",
        ),
        (lambda: Problem([GaussianClass(0.0)]), r"`classes` must be at least two"),
        (lambda: Problem([GaussianClass(0.0), GaussianClass([0.0, 1.0])]), r"`classes` must be classes of one number"),
        (lambda: estimate_class(np.zeros((3, 4))), r"`points` must have more samples than features \(4\)"),
        (lambda: estimate_class(np.ones((9, 2, 2))), r"`points` must have rows and columns, got an array of shape"),
        (lambda: estimate_class(np.ones((9, 0))), r"`points` must have rows and columns, got an array of shape"),
        (lambda: estimate_class(np.ones((9, 2))), r"`points` must be positive definite, got a singular"),
        (lambda: bootstrap_bias(np.zeros((2, 3)), np.ones((9, 3))), r"`first` must have more samples than features"),
        (
            lambda: bootstrap_bias(np.ones((9, 2)), np.ones((9, 2))),
            r"`first` must be positive definite, got a singular matrix",
        ),
        (lambda: bootstrap_bias(np.eye(4)[:, :2], np.eye(5)[:, :3]), r"`second` must have as many features"),
        (lambda: leave_one_out_bias(features=8, design_samples=8, distance=2), r"`design_samples` must be at least 9"),
        (lambda: linear_degradation(features=8, design_samples=3, distance=2), r"`design_samples` must be at least 5"),
        (lambda: quadratic_degradation(features=0, design_samples=8, distance=2), r"`features` must be at least 1"),
        (lambda: quadratic_degradation(features=2, design_samples=0, distance=2), r"`design_samples` must be positive"),
        (lambda: quadratic_degradation(features=2, design_samples=8, distance=0), r"`distance` must be positive"),
        (lambda: distance_for_error(0.7), r"`error` must be between 0 and 0.5"),
        (lambda: error_variance([10.0], test_samples=5), r"`errors` must be between 0 and 1"),
        (lambda: error_variance([0.1], test_samples=0), r"`test_samples` must be positive"),
        (
            lambda: simulate_bias(shifted_problem(8, distance=1.0), design_samples=9),
            r"`design_samples` must be at least 10",
        ),
        (lambda: outlier_effect(scaled_problem(2), [1, 1], code=2, samples=5), r"`code` must be 0 or 1"),
        (lambda: GaussianClass([0, 0]).log_density([[1.0, 2.0, 3.0]]), r"`points` must have 2 numbers per row"),
    ],
)
def test_bad_input_is_one_sentence(call, match):
    with pytest.raises(StratError, match=match):
        call()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((np.zeros(2), np.eye(2), 10, np.ones(2)), "`means` must"),
        (([[0.0, 0.0]], np.eye(2), 10, [[1.0, 1.0]]), "`covariances` must"),
        (([[0.0, 0.0]], [np.eye(2)], 10, [[1.0]]), r"`added` must be of shape \(1, 2\)"),
        (([[0.0, 0.0]], [np.eye(2)], 0, [[1.0, 1.0]]), "`samples` must"),
    ],
)
def test_with_sample_names_what_has_another_shape(arguments, words):
    with pytest.raises(StratError, match=words):
        with_sample(*arguments)
