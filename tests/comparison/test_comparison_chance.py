"""The exact chance test: Nyssen's example, brute force, Fisher, sizes beyond enumeration, and units."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from strat.base.errors import StratError
from strat.base.limits import LIMITS, changed
from strat.comparison import (
    chance,
    chance_between,
    chance_distribution,
    chance_margins,
    chance_of_labels,
    chance_within,
)
from strat.comparison.chance import chernoff
from strat.comparison.chance_margins import Margins

NYSSEN = np.ones((4, 4), int) + 2 * np.eye(4, dtype=int)

small_tables = (
    st.integers(2, 4)
    .flatmap(lambda k: st.lists(st.lists(st.integers(0, 3), min_size=k, max_size=k), min_size=k, max_size=k))
    .filter(lambda t: np.sum(t) > 0)
)


def brute(table: np.ndarray) -> list[Fraction]:
    """P(T = t) from every assignment of predicted labels to patterns."""
    truth = np.repeat(np.arange(len(table)), table.sum(axis=1))
    said = np.repeat(np.arange(len(table)), table.sum(axis=0))
    found: Counter[int] = Counter()
    for order in set(itertools.permutations(said.tolist())):
        found[int((truth == np.array(order)).sum())] += 1
    total = sum(found.values())
    return [Fraction(found[t], total) for t in range(len(truth) + 1)]


def test_nyssen_s_example() -> None:
    result = chance(NYSSEN)
    assert result.pvalue == pytest.approx(0.00848955, abs=5e-9)
    assert result.expected == 0.25
    assert result.efficiency == 0.5
    assert result.method == "exact"
    assert result.error < 1e-17
    assert result.distribution[12:].sum() == pytest.approx(result.pvalue, rel=1e-13)


@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=3, max_size=3))
def test_equals_brute_force(table: list[list[int]]) -> None:
    counts = np.array(table)
    if not 0 < counts.sum() <= 7:
        return
    wanted = brute(counts)
    result = chance(counts)
    np.testing.assert_allclose(result.distribution, [float(p) for p in wanted], rtol=1e-14, atol=0)
    assert result.pvalue == pytest.approx(float(sum(wanted[int(np.trace(counts)) :])), rel=1e-14)


@given(small_tables)
def test_long_arithmetic_equals_whole_numbers(table: list[list[int]]) -> None:
    """The fixed-point route of large tables gives what the route without any rounding gives."""
    counts = np.array(table) * 7
    result = chance(counts)
    margins = result._parts[0]
    whole = chance_distribution.permutations_with(margins)
    total = math.factorial(margins.n)
    exact = Fraction(sum(whole[result.agreements :]), total)
    assert result.pvalue == pytest.approx(float(exact), rel=4e-16)
    if 0 < result.agreements <= margins.most:
        long = chance_distribution.long_tail(margins, result.agreements)
        assert abs(Fraction(long.numerator, 2**long.shift) - exact) <= Fraction(long.error, 2**long.shift)
        assert long.value == pytest.approx(float(exact), rel=4e-16)
    assert sum(whole) == total


def test_large_distribution_equals_whole_numbers() -> None:
    margins = Margins((90, 60, 40, 30), (70, 80, 50, 20), 220)
    assert margins.n > LIMITS.whole_patterns
    total = math.factorial(margins.n)
    wanted = [float(Fraction(c, total)) for c in chance_distribution.permutations_with(margins)]
    np.testing.assert_allclose(chance_distribution.distribution(margins), wanted, rtol=1e-13, atol=1e-300)


@given(st.integers(1, 400), st.integers(1, 400), st.integers(0, 400), st.integers(1, 400))
def test_two_classes_are_fisher_s_test(a: int, b: int, c: int, d: int) -> None:
    ours = chance([[a, b], [c, d]])
    assert ours.pvalue == pytest.approx(stats.fisher_exact([[a, b], [c, d]], alternative="greater").pvalue, rel=1e-9)


@given(small_tables, st.randoms())
def test_order_of_classes_does_not_matter(table: list[list[int]], random: object) -> None:
    counts = np.array(table)
    order = np.random.default_rng(len(table)).permutation(len(counts))
    assert chance(counts).pvalue == chance(counts[np.ix_(order, order)]).pvalue


@given(small_tables)
def test_distribution_sums_to_one_and_has_the_expected_mean(table: list[list[int]]) -> None:
    result = chance(table)
    assert result.distribution.sum() == pytest.approx(1.0, rel=1e-12)
    mean = result.distribution @ np.arange(result.n + 1)
    assert mean / result.n == pytest.approx(result.expected, rel=1e-12)


def test_five_thousand_patterns_and_26_classes() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 26, 5000)
    said = np.where(rng.random(5000) < 0.01, truth, rng.integers(0, 26, 5000))
    result = chance_of_labels(truth, said)
    assert result.method == "exact"
    assert result.error <= 1e-15 * result.pvalue
    margins = result._parts[0]
    table = np.zeros((26, 26), int)
    np.add.at(table, (truth, said), 1)
    drawn = stats.random_table(table.sum(axis=1), table.sum(axis=0)).rvs(20_000, random_state=np.random.default_rng(2))
    simulated = (np.trace(drawn, axis1=1, axis2=2) >= result.agreements).mean()
    assert result.pvalue == pytest.approx(simulated, abs=5 * math.sqrt(result.pvalue / 20_000))
    assert margins.mean / 5000 == pytest.approx(result.expected)


def test_far_tail_has_a_logarithm() -> None:
    table = 190 * np.eye(26, dtype=int)
    result = chance(table)
    # All right: 1 / (number of ways to give the labels).
    ways = (math.lgamma(190 * 26 + 1) - 26 * math.lgamma(191)) / math.log(10)
    assert result.pvalue == 0.0
    assert result.log10_pvalue == pytest.approx(-ways, rel=1e-12)
    assert "e-" in str(result)


def test_beyond_exact_the_error_is_bounded() -> None:
    table = np.array([[60, 40, 45], [50, 60, 50], [50, 50, 61]])
    exact = chance(table)
    with changed(polynomial_points=10):
        simulated = chance(table, draws=20_000)
        sure = chance(table + 100 * np.eye(3, dtype=int), draws=1000)
    assert "random tables" in simulated.method
    assert abs(simulated.pvalue - exact.pvalue) <= simulated.error
    assert "Chernoff" in sure.method
    assert chance(table + 100 * np.eye(3, dtype=int)).log10_pvalue <= sure.log10_pvalue
    with pytest.raises(StratError, match="`distribution` is not known"):
        _ = simulated.distribution


def test_chernoff_s_bound_uses_the_generating_function() -> None:
    margins = Margins((30, 20, 10), (20, 25, 15), 60)
    p = chance_distribution.distribution(margins)
    for z in (1.1, 2.0, 5.0):
        wanted = math.log(p @ z ** np.arange(61.0))
        assert chance_distribution.log_generating(margins, math.log(z)) == pytest.approx(wanted, abs=1e-9)


def test_chernoff_s_bound_is_one() -> None:
    """From the middle to the last possible agreement, the bound lies above the exact tail, and not far above."""
    margins = Margins((300, 200, 100), (200, 250, 150), 600)
    for t in (210, 250, 300, 400, 480, 499):
        exact, bound = chance_distribution.tail(margins, t).log10, chernoff((margins,), t) / math.log(10)
        assert exact <= bound <= exact + 2
    assert chernoff((margins,), 100) == 0.0


def test_within_units_multiplies() -> None:
    truth, said = np.tile([0, 1, 1], 4), np.tile([0, 1, 1], 4)
    result = chance_within(truth, said, units=np.repeat(np.arange(4), 3))
    assert result.pvalue == pytest.approx((1 / 3) ** 4, rel=1e-12)
    one = chance_within(truth, said, units=np.zeros(12, int))
    assert one.pvalue == pytest.approx(chance_of_labels(truth, said).pvalue, rel=1e-12)


def test_within_ignores_what_the_unit_gives_away() -> None:
    """A system that only knows the unit's class is far above chance over all rows and nothing within units."""
    unit = np.repeat(np.arange(30), 10)
    truth = unit % 2
    assert chance_of_labels(truth, truth).pvalue < 1e-50
    assert chance_within(truth, truth, units=unit).pvalue == pytest.approx(1.0)


def test_between_units_counts_units_not_rows() -> None:
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(12), 20)
    truth = (unit % 2).astype(int)
    # What the system says depends on the unit and not on its class.
    said = rng.permutation(np.repeat([0, 1], 6))[unit]
    rows = chance_of_labels(truth, said).pvalue
    units = chance_between(truth, said, units=unit).pvalue
    assert units > 0.02
    assert units > rows or rows > 0.9


def test_between_units_of_mixed_classes() -> None:
    truth = np.tile([0, 1, 0, 2], 8)
    same = chance_between(truth, truth, units=np.repeat(np.arange(8), 4))
    assert same.pvalue == pytest.approx(1.0)  # every unit has the same pattern: exchanging changes nothing
    rows = chance_between(truth, truth, units=np.repeat(np.arange(8), 4), shuffle="units and rows", permutations=999)
    assert rows.pvalue == pytest.approx(1 / 1000)
    assert "999 permutations" in rows.method


@pytest.mark.slow
def test_type_one_error_of_the_clustered_variants() -> None:
    rng = np.random.default_rng(5)
    rejected = {"rows": 0, "between": 0, "within": 0}
    sims = 400
    for _ in range(sims):
        unit = np.repeat(np.arange(20), 10)
        truth = (rng.permutation(20) % 2)[unit]
        # The system's answers hang together within a unit and know nothing of the class.
        said = (rng.beta(0.5, 0.5, 20)[unit] < rng.random(200)).astype(int)
        rejected["rows"] += chance_of_labels(truth, said).pvalue <= 0.05
        rejected["between"] += (
            chance_between(truth, said, units=unit, permutations=199, rng=int(rng.integers(1 << 30))).pvalue <= 0.05
        )
        mixed = rng.integers(0, 2, 200)
        rejected["within"] += chance_within(mixed, said, units=unit).pvalue <= 0.05
    assert rejected["between"] / sims <= 0.075
    assert rejected["within"] / sims <= 0.07
    assert rejected["rows"] / sims > 0.15  # rows as independent: fails


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ([[1, 2, 3], [4, 5, 6]], "`confusion` must be square"),
        ([[1, -2], [3, 4]], "`confusion` must not be negative, got -2"),
        ([[0.5, 0.5], [0.2, 0.8]], "a normalised matrix does not contain the number of patterns"),
        ([[0, 0], [0, 0]], "at least one pattern"),
        ([[np.nan, 1], [1, 1]], "not a number"),
    ],
)
def test_bad_tables(table: list[list[float]], said: str) -> None:
    with pytest.raises(StratError, match=said):
        chance(table)


def test_bad_columns() -> None:
    with pytest.raises(StratError, match="labels of one type"):
        chance_of_labels(["a", "b"], [1, 2])
    with pytest.raises(StratError, match="must have two classes or more"):
        chance_between(["a", "a"], ["a", "b"], units=[1, 2])
    with pytest.raises(StratError, match="two units of one size"):
        chance_between(["a", "b", "a"], ["a", "b", "b"], units=[1, 1, 2])
    with pytest.raises(StratError, match="`units` must have as many rows"):
        chance_within(["a", "b"], ["a", "b"], units=[1])


def test_classes_that_never_occur_or_are_never_said() -> None:
    assert chance([[5, 0], [3, 0]]).pvalue == pytest.approx(1.0)
    assert chance([[4, 1, 0], [1, 4, 0], [0, 0, 0]]).pvalue == chance([[4, 1], [1, 4]]).pvalue
    assert chance([[7]]).pvalue == 1.0


def test_coefficients_near_the_peak_are_all_that_matter() -> None:
    """Large classes are summed near their peaks only: three million patterns take seconds, not half a minute."""
    margins = Margins((3000, 40, 900), (2500, 700, 740), 3940)
    for log_x in (-12.0, -8.0, -3.0, 2.0):
        full = chance_margins.log_sum(margins.logs(), log_x)
        mean = chance_margins.tilted_mean(margins.logs(), log_x)
        for whole in (0, 10**6):
            with changed(kept_coefficients=whole):
                near = chance_distribution._near_peak(margins, log_x)
            assert sum(log for log, _ in near) == pytest.approx(full, rel=1e-12)
            assert sum(j for _, j in near) == pytest.approx(mean, rel=1e-9)


def test_labels_in_units_choose_what_is_exchanged():
    rng = np.random.default_rng(3)
    unit = np.repeat(np.arange(12), 5)
    mixed, guess = rng.integers(2, size=60), rng.integers(2, size=60)
    assert chance_of_labels(mixed, guess, units=unit) == chance_within(mixed, guess, units=unit)
    pure = np.repeat(rng.permutation(12) % 2, 5)
    between = chance_between(pure, guess, units=unit, permutations=199)
    assert chance_of_labels(pure, guess, units=unit, permutations=199) == between
    within = chance_of_labels(pure, guess, units=unit, exchange="within")
    assert within.pvalue == 1.0
    with pytest.raises(StratError, match="`exchange` must be one of"):
        chance_of_labels(pure, guess, units=unit, exchange="rows")
