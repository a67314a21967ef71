"""Exact limits in finite populations: coverage by enumeration, the ends, the limit of large populations, errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import strat
from strat import Design
from strat.base.errors import StratError
from strat.estimation.proportions import clopper_pearson, hypergeometric_interval, stratified_hypergeometric_interval
from strat.estimation.proportions.hypergeometric import balanced_limits


@pytest.mark.parametrize(("size", "n", "level"), [(50, 20, 0.95), (50, 45, 0.9), (12, 5, 0.95), (200, 30, 0.99)])
def test_it_covers_at_least_its_level_whatever_the_share(size, n, level):
    seen = np.arange(n + 1)
    low, high = hypergeometric_interval(np.minimum(seen, n), n, size, level)
    for k in range(size + 1):
        covered = (low <= k / size + 1e-12) & (k / size - 1e-12 <= high)
        assert scipy.stats.hypergeom.pmf(seen, size, k, n) @ covered >= level - 1e-9


def test_no_limit_could_be_nearer():
    low, high = hypergeometric_interval(7, 20, 50)
    for limit, step, tail in ((low, -1, lambda k: scipy.stats.hypergeom.sf(6, 50, k, 20)),
                              (high, 1, lambda k: scipy.stats.hypergeom.cdf(7, 50, k, 20))):  # fmt: skip
        assert tail(round(50 * limit)) > 0.025 >= tail(round(50 * limit) + step)


def test_a_large_population_gives_clopper_and_pearsons_and_a_census_a_point():
    np.testing.assert_allclose(hypergeometric_interval(7, 60, 10**9), clopper_pearson(7, 60), atol=1e-6)
    assert hypergeometric_interval(3, 10, 10) == (0.3, 0.3)
    low, high = hypergeometric_interval([0, 40], 40, 50)
    assert low.tolist() == [0.0, 0.96]
    assert high.tolist() == [0.04, 1.0]


def test_the_stratified_one_covers_at_least_its_level():
    sizes, n = np.array([12, 20]), np.array([5, 8])
    a, b = (x.ravel() for x in np.meshgrid(np.arange(6), np.arange(9), indexing="ij"))
    limits = np.array([stratified_hypergeometric_interval([x, y], n, sizes) for x, y in zip(a, b, strict=True)])
    for k in ((0, 0), (1, 3), (6, 10), (12, 2), (3, 19)):
        chance = scipy.stats.hypergeom.pmf(a, 12, k[0], 5) * scipy.stats.hypergeom.pmf(b, 20, k[1], 8)
        share = sum(k) / 32
        assert chance @ ((limits[:, 0] <= share + 1e-12) & (share - 1e-12 <= limits[:, 1])) >= 0.95 - 1e-9


def test_one_stratum_is_the_plain_one():
    assert stratified_hypergeometric_interval([7], [20], [50]) == hypergeometric_interval(7, 20, 50)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.5, 10, 20), "`successes` must be whole numbers of at least 0, got 1.5"),
        ((1, 0, 20), "`trials` must be whole numbers of at least 1, got 0"),
        ((11, 10, 20), "`successes` must be at most `trials`, got 11 of 10"),
        ((1, 30, 20), "`trials` must be at most `population`, got 30 of 20"),
        (([1, 2], [3, 3, 3], 20), "`population` must fit the shapes"),
    ],
)
def test_errors_name_the_argument(arguments, message):
    with pytest.raises(StratError, match=message):
        hypergeometric_interval(*arguments)


@pytest.mark.parametrize(("rows", "population"), [(20, 50), (40, 100), (7, 9)])
def test_exact_limits_of_a_finite_population_are_hypergeometric(rows, population):
    design = Design.simple_random(n=rows, population=population)
    shares = [strat.estimate(strat.proportion(np.arange(rows) < hits), on=design) for hits in range(rows + 1)]
    limits = [share.interval(method="exact") for share in shares]
    expected = [hypergeometric_interval(hits, rows, population) for hits in range(rows + 1)]
    np.testing.assert_allclose(limits, expected)
    for successes in range(population + 1):
        true, chance = successes / population, scipy.stats.hypergeom.pmf(range(rows + 1), population, successes, rows)
        assert sum(p for (low, high), p in zip(limits, chance, strict=True) if low <= true <= high) >= 0.95


def by_enumeration(rows: int, population: int, level: float) -> np.ndarray:
    """Blaker's limits by his definition: the tails of every sample under every number of successes."""
    k, x = np.arange(population + 1), np.arange(rows + 1)
    chance = scipy.stats.hypergeom.pmf(x, population, k[:, None], rows)
    tail = np.minimum(np.cumsum(chance, 1), np.cumsum(chance[:, ::-1], 1)[:, ::-1])
    accepted = np.array(
        [[p[t <= own * (1 + 1e-7)].sum() > 1 - level for own in t] for p, t in zip(chance, tail, strict=True)]
    )
    accepted &= (k[:, None] >= x) & (k[:, None] <= population - rows + x)
    return np.array([(k[column].min(), k[column].max()) for column in accepted.T]) / population


@pytest.mark.parametrize(("rows", "population"), [(20, 60), (60, 200), (30, 40), (15, 150), (40, 80), (7, 33), (1, 9)])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_default_limits_of_a_finite_population_are_blakers(rows, population, level):
    found = np.array([balanced_limits(x, rows, population, level) for x in range(rows + 1)])
    np.testing.assert_allclose(found, by_enumeration(rows, population, level))
    exact = np.transpose(hypergeometric_interval(np.arange(rows + 1), rows, population, level))
    assert (found[:, 0] >= exact[:, 0]).all()
    assert (found[:, 1] <= exact[:, 1]).all()
    for k in range(population + 1):
        chance = scipy.stats.hypergeom.pmf(range(rows + 1), population, k, rows)
        covered = (found[:, 0] <= k / population + 1e-12) & (k / population - 1e-12 <= found[:, 1])
        assert chance @ covered >= level - 1e-9


@given(st.data())
def test_default_limits_of_a_finite_population_hold_the_share_and_are_alike_on_both_sides(data):
    population = data.draw(st.integers(2, 5_000))
    rows = data.draw(st.integers(1, population - 1))
    hits = data.draw(st.integers(0, rows))
    low, high = balanced_limits(hits, rows, population, 0.95)
    assert hits / population <= low <= hits / rows <= high <= (population - rows + hits) / population
    assert balanced_limits(rows - hits, rows, population, 0.95) == pytest.approx((1 - high, 1 - low))
    wider = balanced_limits(hits, rows, population, 0.99)
    assert wider[0] <= low
    assert high <= wider[1]


def test_large_populations_have_the_limits_of_exact_tests_nearly():
    low, high = balanced_limits(1_900, 2_000, 10**9, 0.95)
    other = clopper_pearson(1_900, 2_000)
    assert other[0] < low < other[0] + 3e-4
    assert other[1] - 3e-4 < high < other[1]
    assert balanced_limits(450_000, 500_000, 10**6, 0.95) == hypergeometric_interval(450_000, 500_000, 10**6)


def test_the_test_of_a_share_of_a_finite_population_inverts_its_interval():
    design = Design.simple_random(n=40, population=200)
    share = strat.estimate(strat.proportion(np.arange(40) < 30), on=design)
    low, high = share.interval()
    assert (low, high) == balanced_limits(30, 40, 200, 0.95) == share.interval(method="hypergeometric")
    assert share.test(low + 1e-3).pvalue > 0.05 > share.test(low - 1e-3).pvalue
    assert "Blaker" in strat.explain(share) or "population" in strat.explain(share)


def test_hypergeometric_limits_are_for_rows_of_a_population():
    endless = strat.estimate(strat.proportion([1, 0, 1]), on=Design.simple_random(n=3))
    with pytest.raises(StratError, match=r"`method` must not be 'hypergeometric' for .*population of known size"):
        endless.interval(method="hypergeometric")


def test_equal_rows_that_were_folded_have_the_same_limits():
    table = {"y": [1] * 15 + [0] * 5, "p": [1] * 20}
    sampling = strat.Sampling(population=50)
    found = strat.evaluate(table, truth="y", predicted="p", metrics="accuracy", design=sampling)["accuracy"]
    assert found.interval(method="exact") == hypergeometric_interval(15, 20, 50)


def test_shares_of_a_part_of_a_finite_population_keep_an_effective_size():
    design = Design.simple_random(n=20, population=50)
    truth = np.tile([1, 0], 10)
    right = strat.recall(truth, truth * (np.arange(20) > 3), positive=1)
    low, high = strat.estimate(right, on=design).interval(method="exact")
    assert (low, high) != pytest.approx(hypergeometric_interval(8, 10, 50), abs=1e-6)
