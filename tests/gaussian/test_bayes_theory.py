"""Posteriors, regions, Bayes' error, rejection and the parts of an error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.stats import norm

from strat.base.errors import StratError
from strat.gaussian import (
    DiscreteProblem,
    GaussianClass,
    MixtureClass,
    Problem,
    QuadraticRule,
    bayes_error,
    best_linear_error,
    boundaries,
    chow_decide,
    chow_rule,
    classifier_error,
    decision_intervals,
    decompose_error,
    estimate_class,
    example_1_12,
    line_picture,
    linear_rule,
    maximum_membership,
    minimum_risk,
    quadratic_classifier_error,
    quadratic_rule,
    reject_curve,
    scaled_problem,
    shifted_boundary_error,
)


def three_in_the_plane() -> Problem:
    kinds = [
        GaussianClass([0.0, 0.0], [[1.0, 0.4], [0.4, 1.0]]),
        GaussianClass([2.0, 0.5], [[0.6, -0.2], [-0.2, 1.2]]),
        GaussianClass([0.5, 2.5], 0.8),
    ]
    return Problem(kinds, [0.5, 0.3, 0.2])


def test_example_1_12_regions_are_those_of_a_fine_grid():
    problem = example_1_12()
    x = np.linspace(-6, 16, 200_001)
    codes = problem.decide(x)
    changes = (x[1:] + x[:-1])[codes[1:] != codes[:-1]] / 2
    assert boundaries(problem) == pytest.approx(changes, abs=2e-4)
    assert [r.code for r in decision_intervals(problem)] == [0, 1, 2, 0]


def test_example_1_12_posteriors_and_joint_choose_alike():
    problem = example_1_12()
    x = np.linspace(0, 10, 999)
    assert (problem.posteriors(x).argmax(axis=1) == problem.log_joint(x).argmax(axis=1)).all()
    assert problem.posteriors(x).sum(axis=1) == pytest.approx(1)


def test_example_1_13_a_shifted_boundary_adds_the_dark_area():
    problem = Problem([GaussianClass(4.0, 2.0), GaussianClass(6.5, 1.5)], [0.55, 0.45])
    cut = float(boundaries(problem)[0])
    optimal, shifted = shifted_boundary_error(problem, cut).value, shifted_boundary_error(problem, cut + 0.7).value
    x = np.linspace(cut, cut + 0.7, 200_001)
    joint = np.exp(problem.log_joint(x))
    dark = trapezoid(joint[:, 1] - joint[:, 0], x)
    assert shifted - optimal == pytest.approx(dark, abs=1e-8)
    assert optimal == pytest.approx(bayes_error(problem).value, abs=1e-6)  # a second boundary lies far out


def test_bayes_error_on_the_line_equals_an_integral():
    problem = example_1_12()
    x = np.linspace(-20, 30, 2_000_001)
    expected = 1 - trapezoid(np.exp(problem.log_joint(x)).max(axis=1), x)
    assert bayes_error(problem).value == pytest.approx(expected, abs=1e-9)


def test_bayes_error_of_mixtures_on_the_line_equals_an_integral():
    checker = Problem(
        [
            MixtureClass([GaussianClass(0.0, 0.2), GaussianClass(4.0, 0.3)], [0.4, 0.6]),
            MixtureClass([GaussianClass(2.0, 0.4), GaussianClass(6.0, 0.1)]),
        ]
    )
    x = np.linspace(-10, 16, 500_001)
    expected = 1 - trapezoid(np.exp(checker.log_joint(x)).max(axis=1), x)
    assert bayes_error(checker).value == pytest.approx(expected, abs=1e-8)
    assert ((boundaries(checker) > 0) & (boundaries(checker) < 6)).sum() == 3


def test_equal_covariances_have_a_closed_form_with_any_priors():
    covariance = [[2.0, 0.5], [0.5, 1.0]]
    problem = Problem([GaussianClass([0, 0], covariance), GaussianClass([1, 2], covariance)], [0.7, 0.3])
    numeric = quadratic_classifier_error(quadratic_rule(*problem.classes, priors=problem.priors), problem)
    found = bayes_error(problem)
    assert found.method == "exact"
    assert found.value == pytest.approx(numeric.value, abs=1e-10)
    assert found.by_class == pytest.approx(numeric.by_class, abs=1e-10)


def test_identical_classes_err_as_often_as_the_rarer_prior():
    assert bayes_error(Problem([GaussianClass([0, 0]), GaussianClass([0, 0])], [0.8, 0.2])).value == pytest.approx(0.2)
    assert bayes_error(Problem([GaussianClass(0.0), GaussianClass(0.0)], [0.8, 0.2])).value == pytest.approx(0.2)


def test_cubature_in_the_plane_equals_simulation_and_the_two_class_form():
    problem = three_in_the_plane()
    found = bayes_error(problem)
    assert found.method == "cubature"
    assert found.bound < 1e-7
    points, codes = problem.sample(100_000, 1)
    wrong = (problem.decide(points) != codes).mean()
    assert abs(wrong - found.value) < 3 * np.sqrt(wrong * (1 - wrong) / 100_000)
    pair = Problem([*problem.classes[:2], GaussianClass([40.0, 40.0])], [0.6, 0.4, 0.0])
    two = bayes_error(Problem(problem.classes[:2], [0.6, 0.4]))
    assert bayes_error(pair).value == pytest.approx(two.value, abs=1e-7)


def test_monte_carlo_covers_the_truth():
    kinds = [GaussianClass([shift, 0, 0, 0]) for shift in (0, 2, 50)]
    found = bayes_error(Problem(kinds, [0.4, 0.4, 0.2]), samples=60_000)
    assert found.method == "Monte Carlo"
    assert abs(found.value - 0.8 * norm.cdf(-1)) < 3 * found.se


def test_discrete_problem_is_a_sum():
    problem = DiscreteProblem([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]], [0.6, 0.4])
    assert bayes_error(problem).value == pytest.approx(1 - (0.3 + 0.18 + 0.24))
    assert problem.decide().tolist() == [0, 0, 1]
    assert problem.posteriors().sum(axis=1) == pytest.approx(1)


@given(st.floats(-2, 2), st.floats(0.2, 4), st.floats(0.05, 0.95))
def test_no_rule_beats_bayes(shift, variance, prior):
    problem = Problem([GaussianClass(0.0), GaussianClass(1.0, variance)], [prior, 1 - prior])
    rule = QuadraticRule([[0.0]], [1.0], -shift)
    assert quadratic_classifier_error(rule, problem).value >= bayes_error(problem).value - 1e-12


def test_classifier_error_equals_the_exact_one():
    problem = scaled_problem(3)
    rule = linear_rule(GaussianClass([0, 0, 0]), GaussianClass([1, 0, 0]))
    found, exact = classifier_error(problem, rule.decide), quadratic_classifier_error(rule, problem)
    assert abs(found.value - exact.value) < 3 * found.se


def test_decomposition_sums_and_names_its_parts():
    problem = Problem([GaussianClass([0, 0]), GaussianClass([1.5, 0], [[3.0, 0.0], [0.0, 0.5]])])
    rng = np.random.default_rng(0)
    trained = linear_rule(*(estimate_class(c.sample(30, rng)) for c in problem.classes))
    parts = decompose_error(trained, problem, model="linear")
    assert parts.approximation + parts.model + parts.bayes == pytest.approx(parts.total)
    assert min(parts.approximation, parts.model) > 0
    assert decompose_error(quadratic_rule(*problem.classes), problem, model="quadratic").approximation == pytest.approx(
        0, abs=1e-10
    )


def test_best_line_is_not_beaten_by_any_direction():
    problem = Problem(
        [GaussianClass([0, 0], [[1, 0.3], [0.3, 2]]), GaussianClass([1.5, 1], [[2, -0.4], [-0.4, 0.7]])], [0.6, 0.4]
    )
    best = best_linear_error(problem)
    found = 1.0
    for angle in np.linspace(0, 2 * np.pi, 181):
        w = np.array([np.cos(angle), np.sin(angle)])
        sides = [(w @ c.mean, np.sqrt(w @ c.covariance @ w)) for c in problem.classes]
        t = np.linspace(-6, 6, 601)
        errors = 0.6 * norm.sf((t - sides[0][0]) / sides[0][1]) + 0.4 * norm.cdf((t - sides[1][0]) / sides[1][1])
        found = min(found, errors.min())
    assert best <= found + 1e-9
    assert best == pytest.approx(found, abs=2e-4)


def test_chow_is_the_minimum_risk_with_a_refusal():
    posteriors = np.random.default_rng(0).dirichlet([1, 1, 1], size=500)
    for cost in (0.1, 0.3, 0.5):
        loss = np.vstack([1 - np.eye(3), np.full(3, cost)])
        refused = minimum_risk(posteriors, loss)
        assert (np.where(refused == 3, -1, refused) == chow_rule(posteriors, cost=cost)).all()


def test_reject_curve_trades_errors_for_rejections():
    problem = Problem([GaussianClass(-1.0), GaussianClass(1.0)])
    curve = reject_curve(problem, [0.0, 0.1, 0.3, 0.5])
    assert (np.diff(curve.errors) > 0).all()
    assert (np.diff(curve.rejections) < 0).all()
    assert abs(curve.errors[-1] - norm.cdf(-1)) < 3 * curve.se[-1]
    # at cost 0.1 a rejection is |2x| < log 9: rejected share is known
    edge = np.log(9) / 2
    share = norm.cdf(edge - 1) - norm.cdf(-edge - 1)
    assert curve.rejections[1] == pytest.approx(share, abs=0.005)
    assert (chow_decide(problem, [0.0, 3.0], cost=0.1) == [-1, 1]).all()


def test_ties_are_random_fair_and_seeded():
    scores = np.tile([1.0, 1.0, 0.0], (9000, 1))
    chosen = maximum_membership(scores, rng=1)
    assert set(chosen) == {0, 1}
    assert 4300 < (chosen == 0).sum() < 4700
    assert (chosen == maximum_membership(scores, rng=1)).all()


def test_samples_have_the_priors_and_moments():
    problem = three_in_the_plane()
    points, codes = problem.sample(60_000, 3)
    assert np.bincount(codes) / 60_000 == pytest.approx(problem.priors, abs=0.01)
    assert points[codes == 1].mean(axis=0) == pytest.approx(problem.classes[1].mean, abs=0.03)
    assert problem.density(points[:5]) == pytest.approx(np.exp(problem.log_joint(points[:5])).sum(axis=1))


def test_values_are_read_only():
    kind = GaussianClass([0.0, 1.0])
    with pytest.raises(ValueError, match="read-only"):
        kind.mean[0] = 3
    with pytest.raises(AttributeError):
        kind.mean = np.zeros(2)


def test_pictures_draw():
    axes = line_picture(example_1_12(), low=0, high=10).plot(posteriors=True)
    assert axes.get_ylabel() == "posterior"
    two = Problem([GaussianClass(4.0, 2.0), GaussianClass(6.5, 1.5)])
    assert line_picture(two, low=0, high=10, other=6.0).plot().get_xlim() == (0, 10)
    assert reject_curve(two, [0.1, 0.2], samples=1000).plot().get_xlabel() == "rejected (%)"


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: chow_rule([[0.5, 0.4]], cost=0.1), r"`posteriors` must sum to one in each row, got 0.9 in row 0"),
        (lambda: chow_rule([[1.5, -0.5]], cost=0.1), r"`posteriors` must not be negative"),
        (lambda: chow_rule([[0.5, 0.5]], cost=2), r"`cost` must lie between 0 and 1"),
        (lambda: chow_rule([0.5, 0.5], cost=0.2), r"`posteriors` must be a table"),
        (lambda: maximum_membership([[0.5, np.nan]]), r"`scores` must be numbers, got a missing one in row 0"),
        (lambda: minimum_risk([[0.5, 0.5]], [[0, 1, 1]]), r"`loss` must have one column per class \(2\), got 3"),
        (lambda: DiscreteProblem([[0.5, 0.6], [0.5, 0.5]]), r"`masses` must sum to 1"),
        (lambda: DiscreteProblem([0.5, 0.5]), r"`masses` must be a table"),
        (lambda: MixtureClass([GaussianClass(0.0)], [0.5]), r"`weights` must sum to 1"),
        (lambda: decision_intervals(three_in_the_plane()), r"`problem` must have one feature, got 2"),
        (lambda: shifted_boundary_error(example_1_12(), 1.0), r"`problem` must have one feature and two classes"),
        *(
            (
                lambda p=p: linear_rule(GaussianClass(0.0), GaussianClass(1.0), priors=p),
                r"`priors` must be two positive numbers",
            )
            for p in ([1.0, 1.0, 1.0], [0.0, 1.0])
        ),
        (lambda: reject_curve(example_1_12(), [2.0]), r"`costs` must be between 0 and 1"),
        (
            lambda: decompose_error(QuadraticRule([[0.0]], [1.0], 0.0), example_1_12(), model="cubic"),
            r"`model` must be one of 'linear', 'quadratic', got 'cubic'",
        ),
    ],
)
def test_bad_input_to_bayes_theory_is_one_sentence(call, match):
    with pytest.raises(StratError, match=match):
        call()
