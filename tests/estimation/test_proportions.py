"""Intervals for one proportion: Nyssen's example, SciPy as oracle, exact coverage, the bounds' own laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from strat.base.errors import StratError, StratWarning
from strat.estimation import proportions as p

METHODS = (p.score_interval, p.clopper_pearson, p.agresti_coull, p.jeffreys, p.logit_interval)
counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_nyssen_prints_99_of_100() -> None:
    assert np.round(p.score_interval(99, 100), 3).tolist() == [0.946, 0.998]
    assert p.score_interval(99, 100) == pytest.approx((0.94551, 0.99823), abs=5e-6)
    assert np.round(p.wald(99, 100), 3).tolist() == [0.970, 1.010]


@given(counts)
def test_wald_leaves_the_range_where_nyssen_says(count: tuple[int, int]) -> None:
    """Where e or 1 − e is positive and less than c² / (c² + n)."""
    x, n = count
    c2 = stats.norm.ppf(0.975) ** 2
    low, high = p.wald(x, n)
    for share, out in ((x / n, low < 0), (1 - x / n, high > 1)):
        if abs(share - c2 / (c2 + n)) > 1e-9:
            assert out == (1e-12 < share < c2 / (c2 + n))


@given(counts, st.floats(0.5, 0.999))
def test_scipy_agrees(count: tuple[int, int], level: float) -> None:
    x, n = count
    test = stats.binomtest(x, n)
    for ours, theirs in ((p.score_interval, "wilson"), (p.clopper_pearson, "exact")):
        reference = test.proportion_ci(level, theirs)
        assert ours(x, n, level) == pytest.approx((reference.low, reference.high), abs=1e-9)


@given(counts)
def test_statsmodels_agrees(count: tuple[int, int]) -> None:
    from statsmodels.stats.proportion import proportion_confint

    x, n = count
    assert p.agresti_coull(x, n) == pytest.approx(
        np.clip(proportion_confint(x, n, method="agresti_coull"), 0, 1), abs=1e-12
    )
    low, high = proportion_confint(x, n, method="jeffreys")
    assert p.jeffreys(x, n) == pytest.approx((low if x else 0.0, high if x < n else 1.0), abs=1e-9)


@given(counts, st.floats(0.5, 0.999))
def test_intervals_hold_the_share_mirror_and_widen(count: tuple[int, int], level: float) -> None:
    x, n = count
    for method in METHODS:
        low, high = method(x, n, level)
        assert 0 <= low <= x / n <= high <= 1
        assert low < high
        mirrored = method(n - x, n, level)
        assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=1e-9)
        wider = method(x, n, (1 + level) / 2)
        assert wider[0] <= low + 1e-12
        assert wider[1] >= high - 1e-12


@given(counts)
def test_arrays_give_what_numbers_give(count: tuple[int, int]) -> None:
    x, n = count
    for method in (*METHODS, p.wald):
        low, high = method([x, 0, n], [n, n, n])
        assert (low[0], high[0]) == pytest.approx(method(x, n))
        assert low.shape == high.shape == (3,)


def test_clopper_pearson_never_covers_less_than_it_says() -> None:
    grid = np.linspace(0.001, 0.999, 199)
    for n in (5, 30, 100):
        assert p.interval_coverage(p.clopper_pearson, n, grid).min() >= 0.95


def test_the_score_interval_covers_on_average_and_wald_does_not() -> None:
    grid = np.linspace(0.005, 0.995, 397)
    score, wald = (p.interval_coverage(m, 50, grid) for m in (p.score_interval, p.wald))
    assert 0.945 < score.mean() < 0.96
    assert wald.mean() < 0.92
    assert wald.min() < 0.3  # at 0.005 nearly every sample of 50 has no event, and [0, 0] misses
    assert score.min() > 0.8


def test_coverage_by_simulation_is_coverage_by_summing() -> None:
    draws = np.random.default_rng(3).binomial(40, 0.1, 40_000)
    low, high = p.score_interval(draws, 40)
    simulated = np.mean((low <= 0.1) & (high >= 0.1))
    assert p.interval_coverage(p.score_interval, 40, 0.1) == pytest.approx(simulated, abs=0.005)


@given(st.integers(1, 500), st.floats(0.8, 0.999))
def test_no_event_seen(n: int, level: float) -> None:
    exact = 1 - (1 - level) ** (1 / n)
    assert p.upper_bound(0, n, level) == pytest.approx(exact, rel=1e-9)
    assert p.lower_bound(n, n, level) == pytest.approx(1 - exact, rel=1e-9)
    assert exact <= p.rule_of_three(n, level) + 1e-15
    assert p.rule_of_three(n, level) == pytest.approx(min(1.0, -np.log(1 - level) / n))


def test_rule_of_three_is_close_and_knows_the_design_effect() -> None:
    assert p.rule_of_three(1000) == pytest.approx(p.upper_bound(0, 1000), rel=2e-3)
    assert p.rule_of_three(1000, design_effect=4) == pytest.approx(p.rule_of_three(250))
    assert p.upper_bound(0, 1000, design_effect=4) == pytest.approx(p.upper_bound(0, 250))


@given(counts)
def test_a_one_sided_bound_is_an_end_of_a_wider_interval(count: tuple[int, int]) -> None:
    for name, method in (
        ("clopper_pearson", p.clopper_pearson),
        ("wilson", p.score_interval),
        ("wald", p.wald),
    ):
        low, high = method(*count, 0.9)
        assert p.lower_bound(*count, method=name) == pytest.approx(low, abs=1e-12)
        assert p.upper_bound(*count, method=name) == pytest.approx(high, abs=1e-12)


def test_korn_graubard() -> None:
    assert p.korn_graubard(7, 80) == pytest.approx(p.clopper_pearson(7, 80))
    assert p.korn_graubard(7, 80, design_effect=0.5) == pytest.approx(p.clopper_pearson(7, 80))
    assert p.korn_graubard(7, 80, design_effect=0.5, truncate=False) == pytest.approx(p.clopper_pearson(14, 160))
    # With 10 degrees of freedom: n* = 80 / 2 (t(79) / t(10))².
    size = 40 * (stats.t.ppf(0.975, 79) / stats.t.ppf(0.975, 10)) ** 2
    x, y = size * 7 / 80, size * 73 / 80
    expected = stats.beta.ppf(0.025, x, y + 1), stats.beta.ppf(0.975, x + 1, y)
    assert p.korn_graubard(7, 80, design_effect=2, df=10) == pytest.approx(expected)


def test_wilson_takes_students_quantile() -> None:
    assert p.wilson(99, 100) == pytest.approx(p.score_interval(99, 100))
    c = stats.t.ppf(0.975, 5)
    for end in p.wilson(15, 50, df=5):
        assert abs(end - 0.3) == pytest.approx(c * np.sqrt(end * (1 - end) / 50))
    assert p.wilson(15, 50, df=1e9) == pytest.approx(p.wilson(15, 50), rel=1e-6)


def test_apparent_error_checks_the_rule_of_thumb() -> None:
    rate = p.apparent_error(43, 300)
    assert rate.value == pytest.approx(0.14333, abs=1e-5)
    assert rate.accuracy == pytest.approx(1 - rate.value)
    half = 1.96 * np.sqrt(rate.value * (1 - rate.value) / 300)
    assert rate.normal_interval() == pytest.approx((rate.value - half, rate.value + half), abs=1e-5)
    assert rate.normal
    low, high = rate.interval()
    assert f"95 % {low:.4g} to {high:.4g}" in str(rate)
    for errors, trials in ((5, 300), (295, 300), (10, 30)):
        few = p.apparent_error(errors, trials)
        assert not few.normal
        with pytest.warns(StratWarning, match="rule of thumb"):
            few.normal_interval()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: p.score_interval(-1, 10), "`successes` must lie between 0 and `trials`, got -1.0 of 10.0"),
        (lambda: p.score_interval(11, 10), "got 11.0 of 10.0"),
        (lambda: p.score_interval([1, np.nan], 10), "got nan of 10.0"),
        (lambda: p.score_interval(1, 0), "`trials` must be positive, got 0.0"),
        (lambda: p.score_interval(1, 10, 95), "`level` must lie strictly between 0 and 1, got 95"),
        (lambda: p.korn_graubard(1, 10, design_effect=0), "`design_effect` must be positive, got 0.0"),
        (lambda: p.upper_bound(1, 10, method="exact"), "`method` must be one of 'clopper_pearson'"),
        (lambda: p.interval_coverage(p.wald, 2.5, 0.1), "`trials` must be a whole number"),
        (lambda: p.apparent_error(12, 10), "`errors` must lie between 0 and `trials`"),
    ],
)
def test_errors(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(StratError, match=message):
        call()
