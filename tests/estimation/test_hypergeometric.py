"""Exact limits in finite populations: coverage by enumeration, the ends, the limit of large populations, errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import strat
from strat import Design
from strat.base.errors import StratError
from strat.estimation.proportions import clopper_pearson, hypergeometric_interval, stratified_hypergeometric_interval


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
    assert shares[0].interval() == pytest.approx(expected[0])  # without an error, by default too
    for successes in range(population + 1):
        true, chance = successes / population, scipy.stats.hypergeom.pmf(range(rows + 1), population, successes, rows)
        assert sum(p for (low, high), p in zip(limits, chance, strict=True) if low <= true <= high) >= 0.95


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
