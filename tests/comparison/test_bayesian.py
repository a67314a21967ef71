"""Posteriors of two models: Student exactly, signs by quadrature, signed ranks by draws, the hierarchy on a grid."""

from __future__ import annotations

import baycomp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from strat import StratError, comparison
from strat.comparison.bayesian import _largest
from strat.comparison.hierarchical import Sets, _marginal

X = np.random.default_rng(1).normal(0.8, 0.05, 30)
Y = X + np.random.default_rng(2).normal(0.01, 0.02, 30)
FOLDS = np.random.default_rng(3).normal(0.01, 0.02, (12, 1)) + np.random.default_rng(4).normal(0, 0.03, (12, 10))


@pytest.mark.parametrize("rope", [0.0, 0.01])
def test_swapping_swaps_the_tails_and_they_sum_to_one(rope):
    calls = [
        lambda a, b: comparison.bayesian_correlated_t(a, b, ratio=1 / 9, rope=rope),
        lambda a, b: comparison.bayesian_sign(a, b, rope=rope),
    ]
    for call in calls:
        one, other = call(X, Y), call(Y, X)
        assert one.below == pytest.approx(other.above, abs=1e-12)
        assert sum(one.probabilities) == pytest.approx(1.0)
    zeros = np.zeros_like(FOLDS)
    one = comparison.bayesian_hierarchical(FOLDS, zeros, ratio=1 / 9, rope=rope)
    other = comparison.bayesian_hierarchical(zeros, FOLDS, ratio=1 / 9, rope=rope)
    assert one.below == pytest.approx(other.above, abs=2e-3)
    assert sum(one.probabilities) == pytest.approx(1.0)


@given(st.floats(0.0, 1.0), st.integers(0, 100))
@settings(max_examples=30, deadline=None)
def test_without_a_region_it_is_the_corrected_t_test(ratio, seed):
    a, b = np.random.default_rng(seed).normal(size=(2, 8))
    p = comparison.corrected_t(a, b, ratio=ratio).pvalue
    posterior = comparison.bayesian_correlated_t(a, b, ratio=ratio)
    assert 2 * min(posterior.below, posterior.above) == pytest.approx(p, rel=1e-9)


def test_correlated_t_equals_baycomp():
    for rope in (0.001, 0.01, 0.03):
        ours = comparison.bayesian_correlated_t(X[:10], Y[:10], ratio=1 / 9, rope=rope)
        # baycomp's difference is y − x; one run of ten folds
        expected = baycomp.CorrelatedTTest(X[:10], Y[:10], rope).probs()
        assert ours.probabilities == pytest.approx(expected[::-1], abs=1e-12)


@pytest.mark.parametrize("rope", [0.005, 0.01, 0.03])
def test_sign_and_signed_rank_equal_baycomp_within_its_draws(rope):
    draws = 4000
    for ours, theirs in (
        (comparison.bayesian_sign(X, Y, rope=rope), baycomp.SignTest),
        (comparison.bayesian_signed_rank(X, Y, rope=rope), baycomp.SignedRankTest),
    ):
        expected = np.array(theirs.probs(X, Y, rope, nsamples=draws, random_state=1))[::-1]
        error = 4.5 * np.sqrt(np.maximum(expected * (1 - expected), 1e-3) / draws)
        assert (np.abs(np.array(ours.probabilities) - expected) < error).all()


@pytest.mark.parametrize(
    "counts", [(0.0, 3.0, 5.0), (1.0, 2.0, 3.0), (300.0, 3.0, 310.0), (0.5, 0.5, 0.5), (0.3, 0.01, 0)]
)
def test_the_largest_share_of_a_dirichlet_draw(counts):
    drawn = np.random.default_rng(0).gamma(np.maximum(counts, 1e-300), size=(200_000, 3))
    shares = np.bincount(drawn.argmax(axis=1), minlength=3) / 200_000
    assert _largest(np.array(counts)) == pytest.approx(shares, abs=0.005)


def test_two_shares_are_a_beta_distribution():
    assert _largest(np.array([4.0, 0.0, 9.0]))[2] == pytest.approx(stats.beta(9, 4).sf(0.5), rel=1e-9)
    assert _largest(np.array([1e4, 0.0, 1.01e4]))[2] == pytest.approx(stats.beta(1.01e4, 1e4).sf(0.5), rel=1e-6)


@pytest.mark.parametrize("scale", [0.001, 0.015, 0.1])
@pytest.mark.parametrize("df", [1.5, 100.0])
def test_the_integral_over_a_data_sets_mean_difference(scale, df):
    sets = Sets(np.array([0.03, -0.01]), np.array([0.01, 0.02]), 8.0)
    ours = np.exp(_marginal(sets, np.array([0.0, 0.02]), scale, df))
    for i, centre in enumerate((0.0, 0.02)):
        for j in range(2):
            own, prior = stats.t(8.0, sets.mean[j], sets.scale[j]), stats.t(df, centre, scale)
            points = sorted({centre, float(sets.mean[j])})
            exact = quad(
                lambda d, own=own, prior=prior: own.pdf(d) * prior.pdf(d), -0.5, 0.5, points=points, limit=400
            )[0]
            assert ours[i, j] == pytest.approx(exact, rel=0.03)


@pytest.mark.slow
def test_the_hierarchy_equals_a_markov_chain_of_its_own():
    """Random-walk Metropolis over centre, scale, degrees of freedom and all twelve mean differences."""
    ours = comparison.bayesian_hierarchical(FOLDS, np.zeros_like(FOLDS), ratio=1 / 9, rope=0.01)
    assert np.abs(np.array(ours.probabilities) - _chain(FOLDS, 1 / 10, 0.01)).max() < 0.035


def _chain(d, rho, rope, chains=300, steps=2500):
    rng, (q, n) = np.random.default_rng(7), d.shape
    mean, squares = d.mean(axis=1), ((d - d.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    nodes = np.linspace(0.5, 5, 10)[:, None, None], np.linspace(0.05, 0.15, 10)[None, :, None]

    def log_density(state):
        centre, log_scale, log_df, delta = state[:, 0], state[:, 1], state[:, 2], state[:, 3:]
        quadratic = squares / (1 - rho) + n * (mean - delta) ** 2 / (1 + (n - 1) * rho)
        inside = stats.gamma.pdf(np.exp(log_df), nodes[0], scale=1 / nodes[1]).mean(axis=(0, 1))
        prior = stats.t.logpdf(delta, 1 + np.exp(log_df)[:, None], centre[:, None], np.exp(log_scale)[:, None])
        total = -(n - 1) / 2 * np.log(quadratic).sum(axis=1) + prior.sum(axis=1) + log_scale + log_df + np.log(inside)
        return np.where(np.abs(centre) < np.abs(d).max(), total, -np.inf)

    state = np.column_stack([np.full(chains, mean.mean()), np.full(chains, -4.0), np.full(chains, 2.0),
                             np.tile(mean, (chains, 1))])  # fmt: skip
    step = np.concatenate([[0.004, 0.25, 0.8], np.full(q, 0.003)])
    now, wins = log_density(state), np.zeros(3)
    for k in range(steps):
        proposal = state + step * rng.standard_normal(state.shape)
        then = log_density(proposal)
        taken = np.log(rng.random(chains)) < then - now
        state[taken], now[taken] = proposal[taken], then[taken]
        if k >= steps // 4 and k % 5 == 0:
            df, scale = 1 + np.exp(state[:, 2]), np.exp(state[:, 1])
            below = stats.t.cdf(-rope, df, state[:, 0], scale)
            above = stats.t.sf(rope, df, state[:, 0], scale)
            wins += np.bincount(np.argmax([below, 1 - below - above, above], axis=0), minlength=3)
    return wins / wins.sum()


def test_a_data_set_without_spread_is_noted():
    folds = FOLDS.copy()
    folds[0] = 0.02
    result = comparison.bayesian_hierarchical(folds, np.zeros_like(folds), ratio=1 / 9, rope=0.01)
    assert "1 of 12 data sets" in result.notes[0]


def test_seeds_decide_and_pictures_show_the_probabilities():
    one = comparison.bayesian_signed_rank(X, Y, rope=0.01, draws=500, rng=3)
    assert one.probabilities == comparison.bayesian_signed_rank(X, Y, rope=0.01, draws=500, rng=3).probabilities
    texts = [text.get_text() for text in one.plot(names=("new", "old")).texts]
    assert f"old higher\n{one.below:.3f}" in texts
    density = comparison.bayesian_correlated_t(X, Y, ratio=1 / 9, rope=0.01).plot()
    assert [text.get_text().split(":")[0] for text in density.get_legend().get_texts()] == [
        "b higher", "equivalent", "a higher"]  # fmt: skip


def test_a_single_point_is_noted():
    result = comparison.bayesian_correlated_t([1, 2, 3], [0, 1, 2], ratio=0.1, rope=0.5)
    assert result.probabilities == (0.0, 0.0, 1.0)
    assert "single point" in result.notes[0]
    assert comparison.bayesian_correlated_t([1, 2], [1, 2], ratio=0.1).probabilities == (0.5, 0.0, 0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: comparison.bayesian_correlated_t(X, Y, ratio=-1.0), "`ratio` must be testing size / training size"),
        (lambda: comparison.bayesian_sign(X, Y, rope=-1.0), "`rope` must be the largest difference"),
        (lambda: comparison.bayesian_sign(X, Y, prior=-1.0), "`prior` must be a weight of 0 or more"),
        (lambda: comparison.bayesian_signed_rank(X, Y, prior=0.0), "`prior` must be a weight above 0"),
        (lambda: comparison.bayesian_hierarchical(X, Y, ratio=0.1), "must be data sets × splits of one shape"),
        (lambda: comparison.bayesian_hierarchical(FOLDS[:, :2], FOLDS[:, :2], ratio=0.1), "three splits or more"),
        (lambda: comparison.bayesian_sign([1], [2]), "two values or more"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(StratError, match=message):
        call()
