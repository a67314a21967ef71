"""Nyssen (2.3): tables with given margins counted, their probability in three forms, random ones, and the interval."""

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

import strat
from strat.base.errors import StratError
from strat.base.limits import LIMITS, changed
from strat.comparison import (
    chance,
    chance_of_labels,
    random_tables,
    table_assignments,
    table_factors,
    table_probability,
)
from strat.estimation.proportions import interval_coverage, interval_misses, jeffreys, score_interval

NYSSEN = np.ones((4, 4), int) + 2 * np.eye(4, dtype=int)
tables = (
    st.integers(2, 3)
    .flatmap(lambda k: st.lists(st.lists(st.integers(0, 3), min_size=k, max_size=k), min_size=k, max_size=k))
    .filter(lambda t: np.sum(t) > 0)
)


def same_margins(table: np.ndarray) -> list[np.ndarray]:
    """All tables with the margins of one, row by row."""
    columns, found = table.sum(axis=0), []

    def rows(total: int, most: tuple[int, ...]) -> list[tuple[int, ...]]:
        return [r for r in itertools.product(*(range(m + 1) for m in most)) if sum(r) == total]

    def fill(done: list[tuple[int, ...]]) -> None:
        left = tuple((columns - np.sum(done, axis=0, dtype=int)).tolist()) if done else tuple(columns.tolist())
        if len(done) == len(table):
            found.append(np.array(done))
            return
        for row in rows(int(table[len(done)].sum()), left):
            fill([*done, row])

    fill([])
    return found


@given(tables)
def test_the_probabilities_of_all_tables_add_up(table: list[list[int]]) -> None:
    """To 1, to the whole distribution of agreements, and their tail to the p-value, Nyssen (2.2)."""
    every = same_margins(np.array(table))
    by_trace: Counter[int] = Counter()
    for other in every:
        by_trace[int(np.trace(other))] += table_probability(other)
    assert sum(by_trace.values()) == pytest.approx(1, rel=1e-12)
    result = chance(table)
    expected = [by_trace[t] for t in range(result.n + 1)]
    np.testing.assert_allclose(result.distribution, expected, rtol=1e-10, atol=1e-300)
    assert result.pvalue == pytest.approx(sum(expected[result.agreements :]), rel=1e-12)


@given(tables)
def test_three_forms_of_one_probability(table: list[list[int]]) -> None:
    """(B) over (A) is (C) and the decimal one; the ways of all tables with these margins are (A)."""
    these, all_ways = table_assignments(table)
    assert table_probability(table) == pytest.approx(float(Fraction(these, all_ways)), rel=1e-14)
    assert table_factors(table).prod() == pytest.approx(these / all_ways, rel=1e-11)
    assert sum(table_assignments(other)[0] for other in same_margins(np.array(table))) == all_ways


def test_another_system_s_probability() -> None:
    rng = np.random.default_rng(0)
    for classes in (2, 3, 6):
        table = rng.integers(0, 9, (classes, classes))
        theirs = stats.random_table(table.sum(axis=1), table.sum(axis=0)).pmf(table)
        assert table_probability(table) == pytest.approx(theirs, rel=1e-9)


def test_two_classes_of_any_size_are_hypergeometric() -> None:
    """At a million patterns, where logarithms of the gamma function lose seven digits of the probability."""
    table = [[250_500, 249_500], [249_500, 250_500]]
    assert table_probability(table) == pytest.approx(stats.hypergeom(10**6, 500_000, 500_000).pmf(250_500), rel=1e-9)
    these, all_ways = table_assignments([[2500, 400], [300, 2800]])
    assert table_probability([[2500, 400], [300, 2800]]) == pytest.approx(float(Fraction(these, all_ways)), rel=1e-13)
    assert table_probability([[10**7, 3], [5, 10**7]]) == 0.0


def test_the_perfect_table_of_nyssen_s_example() -> None:
    """The rarest of the tables, which the whole distribution has, too."""
    perfect = np.diag([6] * 4)
    assert table_assignments(perfect) == (1, math.factorial(24) // math.factorial(6) ** 4)
    assert chance(NYSSEN).distribution[24] == pytest.approx(table_probability(perfect), rel=1e-12)
    assert table_factors([[3]]).shape == (0, 0)
    assert table_probability([[3]]) == 1.0


def test_random_tables_come_as_often_as_their_probability_says() -> None:
    table = np.array([[2, 1, 0], [0, 2, 1], [1, 0, 1]])
    drawn = random_tables(table, draws=20_000, rng=1)
    assert (drawn.sum(axis=2) == table.sum(axis=1)).all()
    assert (drawn.sum(axis=1) == table.sum(axis=0)).all()
    every = same_margins(table)
    seen = Counter(other.tobytes() for other in drawn.astype(np.int64))
    counts = [seen[other.astype(np.int64).tobytes()] for other in every]
    assert sum(counts) == len(drawn)
    expected = [len(drawn) * table_probability(other) for other in every]
    assert stats.chisquare(counts, expected).pvalue > 0.001
    assert (random_tables(table, draws=5, rng=1) == drawn[:5]).all()


def test_what_is_too_large_is_refused_in_a_sentence() -> None:
    with pytest.raises(StratError, match=r"`draws` must be at least 1 .* got 0"):
        random_tables(NYSSEN, draws=0)
    with changed(drawn_table_cells=160), pytest.raises(StratError, match=r"at most 10 for this table, got 11"):
        random_tables(NYSSEN, draws=11)
    with pytest.raises(StratError, match=r"`confusion` must count at most 100,000 patterns, got 100,004"):
        table_assignments([[LIMITS.written_factorials, 1], [1, 2]])
    with pytest.raises(StratError, match="`confusion` must be square"):
        table_probability([[1, 2]])


# ---- the efficiency of given class sizes


def test_the_interval_of_given_class_sizes_is_that_of_evaluate() -> None:
    """One number per question."""
    counts = np.array([[40, 3, 2], [9, 10, 6], [0, 1, 19]])
    truth, said = (np.repeat(codes.ravel(), counts.ravel()) for codes in np.indices(counts.shape))
    rows = {"t": truth, "p": said}
    whole = strat.evaluate(rows, truth="t", predicted="p", strata="t", metrics="accuracy")
    result = chance(counts)
    assert result.interval_given_sizes() == pytest.approx(whole["accuracy"].interval(), rel=1e-12)
    assert result.by_class == ((40, 45), (10, 25), (19, 20))
    assert chance_of_labels(truth, said).interval_given_sizes(0.9) == pytest.approx(whole["accuracy"].interval(0.9))


def test_it_covers_the_efficiency_of_these_sizes_and_is_narrower_than_the_score_interval() -> None:
    """All outcomes of 20 patterns each, right with 0.95 and 0.5: nothing is simulated."""
    n, shares = 20, np.array([0.95, 0.5])
    mass = [stats.binom(n, share).pmf(np.arange(n + 1)) for share in shares]
    held, width = np.zeros(2), np.zeros(2)
    for x, y in itertools.product(range(n + 1), repeat=2):
        weight = mass[0][x] * mass[1][y]
        if weight > 1e-6:
            result = chance([[x, n - x], [n - y, y]])
            limits = (result.interval_given_sizes(), result.interval())
            held += [weight * (low <= shares.mean() <= high) for low, high in limits]
            width += [weight * (high - low) for low, high in limits]
    assert 0.95 < held[0] < held[1] < 0.98
    assert width[0] < 0.96 * width[1]


def test_class_sizes_that_say_too_little_are_refused_in_a_sentence() -> None:
    with pytest.raises(StratError, match="A class of one pattern"):
        chance([[1, 0], [2, 3]]).interval_given_sizes()
    within = chance_of_labels(list("abab"), list("abab"), units=[1, 1, 2, 2])
    with pytest.raises(StratError, match="The class sizes are not known"):
        within.interval_given_sizes()
    assert chance([[3, 1, 0], [1, 4, 0], [0, 0, 0]]).by_class == ((3, 4), (4, 5))


# ---- the tails of the score interval


@given(st.integers(1, 60), st.floats(0.01, 0.99))
def test_misses_and_coverage_add_up_and_mirror(trials: int, share: float) -> None:
    above, below = interval_misses(score_interval, trials, share)
    assert above + below + interval_coverage(score_interval, trials, share) == pytest.approx(1)
    # a limit that is the truth itself may fall on either side of it by rounding
    mirrored = interval_misses(score_interval, trials, 1 - share)
    assert mirrored == pytest.approx((below, above), abs=1e-9) or not 0.01 < share * trials % 1 < 0.99


def test_nyssen_s_tails_are_equal_in_the_middle_alone() -> None:
    """P(ε < e_min) = P(ε > e_max) ≈ (1 − γ)/2 holds at one half, and fails near 1."""
    middle, end = (interval_misses(score_interval, 100, share) for share in (0.5, 0.99))
    assert middle[0] == pytest.approx(middle[1])
    assert end == pytest.approx((0.0, stats.binom(100, 0.99).cdf(97)))
    above, below = interval_misses(jeffreys, 100, [0.9, 0.99])
    assert max(*above, *below) < 0.025
