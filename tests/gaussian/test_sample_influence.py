"""F&H (45) for any function of mean and covariance, beside closed forms and refits; (77) to (80) by enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strat.base.errors import StratError
from strat.gaussian import (
    GaussianClass,
    bayes_error,
    bhattacharyya_distance,
    estimate_class,
    linear_rule,
    mahalanobis_distance,
    outlier_influence,
    quadratic_rule,
    sample_influence,
    scaled_problem,
    shifted_problem,
    with_sample,
)
from strat.gaussian.bootstrap_bias import resampled_moments
from strat.gaussian.dependent import fit, left_out_score

TWO = GaussianClass([2.0, 1.0, 0.0], [[1.0, 0.3, 0.0], [0.3, 2.0, 0.1], [0.0, 0.1, 0.5]])
FUNCTIONS = {
    "LDA": lambda one: linear_rule(one, TWO).score([1.0, 2.0, -1.0]),
    "QDA": lambda one: quadratic_rule(one, TWO).score([1.0, 2.0, -1.0]),
    "Mahalanobis": lambda one: mahalanobis_distance(one, TWO),
    "Bhattacharyya": lambda one: bhattacharyya_distance(one, TWO),
    "log determinant": lambda one: np.linalg.slogdet(one.covariance)[1],
    "several numbers": lambda one: one.covariance @ one.mean,
}


def some_class(seed: int) -> tuple[GaussianClass, np.ndarray]:
    rng = np.random.default_rng(seed)
    return estimate_class(rng.normal(size=(9, 3))), rng.normal(size=3) * 2


@pytest.mark.parametrize("name", FUNCTIONS)
@given(st.integers(0, 1000))
def test_it_is_what_a_sample_changes_where_there_are_many(name: str, seed: int) -> None:
    """The exact change differs by terms of order 1/N²: at ten times N a hundredth, where a wrong 1/N leaves a tenth."""
    function, (kind, y) = FUNCTIONS[name], some_class(seed)
    off = []
    for samples in (10**4, 10**5):
        mean, covariance = with_sample(kind.mean[None], kind.covariance[None], samples - 1, y[None])
        exact = np.asarray(function(GaussianClass(mean[0], covariance[0]))) - np.asarray(function(kind))
        off.append(np.abs(exact - sample_influence(function, kind, y, samples=samples)).max())
    assert off[1] < 0.02 * off[0] + 1e-10


@given(st.integers(0, 1000), st.integers(5, 500))
def test_a_quadratic_score_has_its_closed_forms(seed: int, samples: int) -> None:
    """(49) at the sample itself, and (64) at any other point."""
    kind, y = some_class(seed)
    d = kind.distances(y)[0]
    own = sample_influence(lambda one: -one.log_density(y), kind, y, samples=samples)
    assert own == pytest.approx(-(d**2 + 3) / (2 * samples), rel=1e-7)
    point = y[::-1].copy()
    other = sample_influence(lambda one: -one.log_density(point), kind, y, samples=samples)
    assert other == pytest.approx(outlier_influence(point, y, kind) / samples, rel=1e-7, abs=1e-9)


def test_linear_scores_and_distances_have_their_gradients_by_hand() -> None:
    """One feature, M = 0 and 2, variances 1 and 3, Y = 3: dM = 3, dΣ = 8, so the average variance 2 grows by 4."""
    one, two = GaussianClass(0.0, 1.0), GaussianClass(2.0, 3.0)
    # h(x) = (M2 - M1) (x - (M1 + M2)/2) / s, at x = 1: 0; its change (M2 - M1)(-dM / 2) / s
    lda = sample_influence(lambda k: linear_rule(k, two).score([1.0]), one, 3.0, samples=100)
    assert lda[0] == pytest.approx(2 * (-1.5) / 2 / 100)
    # D = (M2 - M1)² / s = 2: -2 · 2 · 3 / 2 - 4 · 4 / 4
    far = sample_influence(lambda k: mahalanobis_distance(k, two), one, 3.0, samples=100)
    assert far == pytest.approx((-6 - 4) / 100)
    # an eighth of it, and half of d ln s - half of d ln v: (4 / 2 - 8 / 2) / 2
    mu = sample_influence(lambda k: bhattacharyya_distance(k, two), one, 3.0, samples=100)
    assert mu == pytest.approx((-10 / 8 - 1) / 100)


def test_leaving_one_out_is_the_same_to_first_order() -> None:
    """(52): resubstitution minus leave-one-out of a discriminant function, sample by sample, of one fit of 400."""
    points = np.random.default_rng(3).normal(size=(400, 3))
    whole = estimate_class(points)
    logs = fit(points[None])[2]
    squares = whole.distances(points)
    left_out = left_out_score(squares[None], logs, 400, 3)[0]
    change = (squares + logs[0]) / 2 - left_out
    first = [sample_influence(lambda one, y=y: -one.log_density(y), whole, y, samples=400)[0] for y in points[:40]]
    assert change[:40] == pytest.approx(first, rel=0.15, abs=2e-4)


def test_the_mean_of_the_influence_is_zero() -> None:
    """E(Y - M) = 0 and E(Y - M)(Y - M)' = Σ: over a sample set about its own moments, exactly."""
    points = np.random.default_rng(1).normal(size=(12, 3))
    kind = GaussianClass(points.mean(axis=0), np.cov(points.T, bias=True))
    each = [sample_influence(FUNCTIONS["Bhattacharyya"], kind, y, samples=12) for y in points]
    assert np.sum(each) == pytest.approx(0, abs=1e-9)
    assert np.std(each) > 1e-3


@pytest.mark.parametrize("problem", [shifted_problem(3, distance=2.0), scaled_problem(4)])
def test_bhattacharyya_bounds_bayes_error(problem) -> None:
    one, two = problem.classes
    assert bayes_error(problem).value <= 0.5 * np.exp(-bhattacharyya_distance(one, two))
    assert bhattacharyya_distance(one, two) == pytest.approx(bhattacharyya_distance(two, one))


def test_what_cannot_be_differentiated_is_refused_in_a_sentence() -> None:
    kind = GaussianClass([0.0, 0.0])
    with pytest.raises(StratError, match=r"`function` must give finite numbers, got array\(nan\)"):
        sample_influence(lambda one: np.nan, kind, [1.0, 1.0], samples=5)
    with pytest.raises(StratError, match=r"`samples` must be at least 2, got 1"):
        sample_influence(lambda one: 1.0, kind, [1.0, 1.0], samples=1)
    with pytest.raises(StratError, match="`added` must have 2 numbers"):
        sample_influence(lambda one: 1.0, kind, [1.0, 1.0, 1.0], samples=5)
    with pytest.raises(StratError, match="`second` must be classes of one number of features"):
        mahalanobis_distance(kind, GaussianClass(0.0))


def test_the_expectations_of_resampled_moments() -> None:
    """(79) and (80) over all 4⁴ draws; about the resample's own mean with N - 1, unbiased for the divisor N."""
    points = np.random.default_rng(0).normal(size=(4, 2))
    draws = np.array(list(itertools.product(range(4), repeat=4)))
    counts = np.stack([(draws == j).sum(axis=1) for j in range(4)], axis=1).astype(float)
    means, about_original = resampled_moments(points, counts, "original")
    assert means.mean(axis=0) == pytest.approx(points.mean(axis=0))
    assert about_original.mean(axis=0) == pytest.approx(3 / 4 * np.cov(points.T))
    _, about_own = resampled_moments(points, counts, "resampled")
    assert about_own.mean(axis=0) == pytest.approx(np.cov(points.T, bias=True))
    for draw, mean, covariance in zip(draws[100:110], means[100:110], about_own[100:110], strict=True):
        assert mean == pytest.approx(points[draw].mean(axis=0))
        assert covariance == pytest.approx(np.cov(points[draw].T), abs=1e-12)
