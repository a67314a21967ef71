"""Budgets and stratum boundaries: against enumeration, against the closed form, and with errors in words."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from strat.base.errors import StratError
from strat.planning import budget_allocation, neyman_allocation, stratum_boundaries
from strat.planning.allocation import allocation_error


def test_the_budget_is_spent_within_eight_percent_of_the_best_of_all_whole_allocations():
    rng = np.random.default_rng(0)
    for _ in range(20):
        sizes, spreads = rng.integers(5, 25, 3), rng.random(3) + 0.1
        costs = rng.integers(1, 6, 3).astype(float)
        budget = float(2 * costs.sum() + rng.integers(5, 40))
        answer = budget_allocation(sizes=sizes, deviations=spreads, costs=costs, budget=budget)
        every = (np.array(n) for n in product(*(range(2, k + 1) for k in sizes)) if np.dot(n, costs) <= budget)
        best = min(allocation_error(sizes.astype(float), spreads, n) for n in every)
        assert answer.spent <= budget * (1 + 1e-9)
        assert answer.se <= 1.08 * best + 1e-12


def test_large_numbers_follow_size_times_deviation_over_the_root_of_cost():
    answer = budget_allocation(sizes=[10**6, 10**6], deviations=[1.0, 2.0], costs=[1.0, 9.0], budget=70_000.0)
    assert answer.counts[0] / answer.counts[1] == pytest.approx(1.5, rel=1e-3)
    assert answer.se < answer.equal_se


def test_equal_costs_are_neymans_allocation():
    neyman = neyman_allocation(sizes=[500, 300, 200], deviations=[0.5, 0.3, 0.1], total=100)
    answer = budget_allocation(sizes=[500, 300, 200], deviations=[0.5, 0.3, 0.1], costs=[2.0] * 3, budget=200.0)
    assert np.abs(answer.counts - neyman.counts).max() <= 1
    assert answer.spent == 200.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"costs": [1.0, 0.0]}, "`costs` must be positive, got 0"),
        ({"budget": 5.0}, "`budget` must be at least 6 to give each of 2 strata 2 units, got 5"),
        ({"deviations": [-1.0, 1.0]}, "`deviations` must not be negative"),
    ],
)
def test_errors_of_budgets(change, message):
    call = {"sizes": [50, 30], "deviations": [1.0, 2.0], "costs": [1.0, 2.0], "budget": 30.0, **change}
    with pytest.raises(StratError, match=message):
        budget_allocation(**call)


def test_boundaries_of_a_long_tail_beat_quantiles_and_come_near_the_best_cut():
    score = np.random.default_rng(1).exponential(size=2000)
    answer = stratum_boundaries(score, strata=2)
    assert answer.quantile_ratio < 0.92
    strata = answer.strata(score)
    assert np.bincount(strata)[1:].tolist() == answer.sizes.tolist()
    best = min(
        sum(len(g) * g.std(ddof=1) for g in (score[score <= c], score[score > c])) for c in np.linspace(0.3, 4, 80)
    )
    assert answer.sizes @ answer.deviations < 1.02 * best


def test_a_uniform_score_is_cut_into_equal_parts():
    answer = stratum_boundaries(np.linspace(0, 1, 1001), strata=4)
    np.testing.assert_allclose(answer.cuts, [0.25, 0.5, 0.75], atol=0.02)


def test_errors_of_boundaries():
    with pytest.raises(StratError, match="`strata` must be at most the number of distinct scores, got 3 for 2"):
        stratum_boundaries([1, 2, 2, 1], strata=3)
