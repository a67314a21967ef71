"""Chance: p-values below the smallest float, large tables, small tables, and all permutations."""

from __future__ import annotations

import itertools
import json
import math
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from strat import comparison
from strat.base.errors import StratError
from strat.comparison.hypergeometric import Counts, log_probabilities, upper_tail
from strat.comparison.rank_permutations import DRAWS, friedman_pvalue, simulated_pvalue
from table_sources import ask

# ---- p-values below the smallest float, and large tables


def test_a_good_classifier_within_units() -> None:
    """Twelve subjects of 100 easy trials: the p-value underflowed, its logarithm was -inf, and printing it raised."""
    truth, units = np.tile(np.repeat([0, 1], 50), 12), np.repeat(np.arange(12), 100)
    found = comparison.chance_within(truth, truth, units=units)
    assert found.log10_pvalue == pytest.approx(-12 * math.log10(math.comb(100, 50)), rel=1e-12)
    assert "p = 8.99e-349, exact" in str(found)


def test_a_good_classifier_within_units_on_the_command_line(tmp_path: Path) -> None:
    """`strat chance --units` ended in a traceback for 20 subjects × 100 trials at 95 %, and would print p-value 0."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 2000)
    said = np.where(rng.random(2000) < 0.95, truth, 1 - truth)
    path = tmp_path / "p.csv"
    path.write_text(
        "t,p,u\n" + "\n".join(f"{t},{p},{k // 100}" for k, (t, p) in enumerate(zip(truth, said, strict=True)))
    )
    options = ("--truth", "t", "--predicted", "p", "--units", "u")
    text = ask("chance", path, *options)
    exponent = math.floor(json.loads(ask("chance", path, *options, "--json"))["log10_pvalue"])
    assert exponent < -308
    assert text.count(f"e{exponent}") == 2


@given(st.integers(2, 3), st.integers(1, 4), st.integers(2, 7), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_within_units_equals_the_convolution_of_fractions(classes: int, units: int, rows: int, seed: int) -> None:
    """The tilted sum equals exact arithmetic where that is possible."""
    rng = np.random.default_rng(seed)
    truth, said = rng.integers(0, classes, (2, units, rows))
    total = [Fraction(1)]
    for t, s in zip(truth, said, strict=True):
        own = [Fraction(0)] * (rows + 1)
        orders = list(itertools.permutations(s.tolist()))
        for order in orders:
            own[int((t == np.array(order)).sum())] += Fraction(1, len(orders))
        total = [
            sum((total[i] * own[k - i] for i in range(len(total)) if 0 <= k - i <= rows), Fraction(0))
            for k in range(len(total) + rows)
        ]
    found = comparison.chance_within(truth.ravel(), said.ravel(), units=np.repeat(np.arange(units), rows))
    exact = float(sum(total[int((truth == said).sum()) :]))
    assert found.pvalue == pytest.approx(exact, rel=1e-12)
    assert abs(found.pvalue - exact) <= found.error


def test_a_unit_that_cannot_agree() -> None:
    """A unit of more than 150 rows, none of which can be right, raised IndexError."""
    truth = np.r_[np.zeros(200, int), np.tile([0, 1], 20)]
    said = np.r_[np.ones(200, int), np.tile([0, 1], 20)]
    found = comparison.chance_within(truth, said, units=np.repeat([0, 1], [200, 40]))
    assert found.pvalue == pytest.approx(1 / math.comb(40, 20), rel=1e-12)
    assert comparison.chance([[0, 200], [0, 0]]).distribution[0] == 1.0


def test_many_units_and_classes_need_little_memory() -> None:
    """A table of units × classes × classes was made: 16 GB for 2,000 units and 1,000 classes."""
    units = np.repeat(np.arange(2000), 2)
    truth = np.arange(4000) % 1000
    assert comparison.chance_within(truth, truth, units=units).log10_pvalue == pytest.approx(2000 * math.log10(0.5))


def test_two_classes_of_any_size() -> None:
    """Two classes had no size limit: 1,000,000 rows took 135 s and 20,000,000 did not end."""
    start = time.perf_counter()
    found = comparison.chance([[10**7, 3], [5, 10**7]])
    middle = comparison.chance([[250_500, 249_500], [249_500, 250_500]])
    assert time.perf_counter() - start < 5
    assert found.method == middle.method == "exact"
    assert found.log10_pvalue < -6e6
    theirs = stats.hypergeom(10**6, 500_000, 500_000).sf(250_499)
    assert middle.pvalue == pytest.approx(theirs, rel=1e-8)
    assert comparison.chance([[10**7, 0], [10**7, 0]]).pvalue == 1.0


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 300), st.data())
@settings(max_examples=50)
def test_hypergeometric_tails_are_within_their_bound(r: int, s: int, c: int, data: st.DataObject) -> None:
    """Stirling's series and the ratios of terms equal whole numbers within the bound, far below 1e-12."""
    counts = Counts(r, s, min(c, r + s - 1), 0, 1)
    if counts.low == counts.high:
        return
    least = data.draw(st.integers(counts.low + 1, counts.high))
    terms = [math.comb(r, k) * math.comb(s, counts.c - k) for k in range(counts.low, counts.high + 1)]
    exact = Fraction(sum(terms[least - counts.low :]), sum(terms))
    value, shift, error = upper_tail(counts, least)
    assert abs(Fraction(value, 1 << shift) - exact) <= Fraction(error, 1 << shift) < exact / 10**12
    logs = [math.log(term) - math.log(sum(terms)) for term in terms]
    np.testing.assert_allclose(log_probabilities(counts), logs, rtol=1e-12, atol=1e-12)


def test_far_too_many_patterns_are_refused_in_a_sentence() -> None:
    """10^15 patterns of two classes never ended."""
    with pytest.raises(StratError, match=r"`confusion` must count at most .* take a random sample"):
        comparison.chance([[10**15, 10**15], [10**15, 10**15]])


# ---- small tables


def test_three_by_three_is_not_significant() -> None:
    """Three data sets, three systems: F said 0.049 and chi-squared 0.097 where the exact p-value is 0.194."""
    table = [[1, 2, 3], [1, 2, 3], [1, 3, 2]]
    exact = comparison.friedman(table, higher_is_better=False)
    assert exact.pvalue == pytest.approx(7 / 36)
    assert exact.name.endswith("exact")
    chi2 = comparison.friedman(table, higher_is_better=False, method="chi-squared")
    assert chi2.pvalue == pytest.approx(stats.friedmanchisquare(*np.array(table).T).pvalue)
    f = comparison.iman_davenport(table, higher_is_better=False)
    assert f.notes[0].facts["exact"]
    assert f.notes[0].facts["pvalue"] == pytest.approx(7 / 36)
    with pytest.raises(StratError, match="'auto' or 'chi-squared' for 11 systems on 20 data sets"):
        comparison.friedman(np.random.default_rng(0).random((20, 11)), higher_is_better=True, method="exact")


@given(st.integers(2, 4).flatmap(lambda m: st.lists(st.tuples(*[st.integers(0, 2)] * m), min_size=2, max_size=3)))
@settings(max_examples=40)
def test_exact_friedman_equals_all_permutations(rows: list[tuple[int, ...]]) -> None:
    """With ties and without: every order of the ranks within each data set."""
    ranks = np.array([stats.rankdata(row) for row in rows])
    squares = [
        float((np.sum(orders, axis=0) ** 2).sum())
        for orders in itertools.product(*(list(itertools.permutations(row)) for row in ranks.tolist()))
    ]
    observed = float((ranks.sum(axis=0) ** 2).sum())
    wanted = np.mean(np.array(squares) >= observed - 1e-9)
    assert comparison.friedman(rows, higher_is_better=False).pvalue == pytest.approx(wanted)


def test_perfect_agreement_is_not_impossible_by_chance() -> None:
    """Two data sets that agree on three systems had an Iman-Davenport p-value of 0; by chance it is 1 in 6."""
    assert comparison.iman_davenport([[1, 2, 3]] * 2, higher_is_better=False).pvalue == pytest.approx(1 / 6)


def test_rank_of_two_systems_tells_wilcoxon(tmp_path: Path) -> None:
    """Two systems got Friedman's and Nemenyi's tests and no word of Wilcoxon's, which the book asks for."""
    path = tmp_path / "two.csv"
    path.write_text("d,A,B\na,1,2\nb,1,3\nc,2,1.5\nd,3,9\n")
    assert "Wilcoxon signed rank, exact: statistic 1.0000, p = 0.25" in ask("rank", path, "--lower-is-better")
    found = json.loads(ask("rank", path, "--lower-is-better", "--json"))
    assert found["signed_rank"]["pvalue"] == comparison.signed_rank([1, 1, 2, 3], [2, 3, 1.5, 9]).pvalue


def orders_of(data_sets: int, systems: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(systems) for _ in range(data_sets)]) + rng.normal(size=systems) * 1.5


@pytest.mark.parametrize(("data_sets", "systems"), [(5, 4), (10, 3), (4, 5)])
def test_random_orders_give_the_exact_p_of_friedman(data_sets, systems):
    for seed in range(3):
        ranks = np.argsort(np.argsort(orders_of(data_sets, systems, seed), axis=1), axis=1) + 1.0
        exact, simulated = friedman_pvalue(ranks), simulated_pvalue(ranks)
        assert simulated == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / DRAWS) + 1 / DRAWS)
        assert simulated == simulated_pvalue(ranks[::-1, ::-1])


def test_few_data_sets_of_many_systems_have_the_p_of_random_orders():
    """3 data sets × 12 systems: chi-squared said 0.065, the permutations 0.031, and nothing told of it."""
    table = orders_of(3, 12, 1)
    found = comparison.friedman(table, higher_is_better=False)
    assert found.name.endswith("by random orders")
    chi2 = comparison.friedman(table, higher_is_better=False, method="chi-squared").pvalue
    assert found.pvalue != pytest.approx(chi2, rel=0.1)
    note = comparison.iman_davenport(table, higher_is_better=False).notes[0]
    assert (note.facts["exact"], note.facts["pvalue"]) == (False, found.pvalue)
    assert comparison.friedman(orders_of(11, 12, 1), higher_is_better=False).name.endswith("chi-squared")
    assert comparison.friedman(orders_of(15, 5, 1), higher_is_better=False).name.endswith("by random orders")
    assert comparison.friedman(orders_of(31, 5, 1), higher_is_better=False).name.endswith("chi-squared")


@pytest.mark.parametrize("test", [comparison.aligned_friedman, comparison.quade])
@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (4, 2), (2, 4)])
def test_aligned_ranks_and_quade_have_the_p_of_all_orders(test, shape):
    """By the statistics of all tables whose scores are exchanged within their data sets (2 × 2 gave 0.21 for 0.5)."""
    for seed in range(4):
        table = np.round(np.random.default_rng(seed).normal(size=shape), 1) + 0.0
        found = test(table, higher_is_better=False)
        orders = itertools.product(*(list(itertools.permutations(row)) for row in table.tolist()))
        every = [test(one, higher_is_better=False).statistic for one in orders]
        assert found.pvalue == pytest.approx(np.mean(np.array(every) >= found.statistic * (1 - 1e-9)))
        assert found.name.endswith("exact")
        assert (found.df, found.notes) == ((), ())


@pytest.mark.parametrize(("test", "other"), [(comparison.aligned_friedman, "chi-squared"), (comparison.quade, "F")])
def test_larger_tables_have_random_orders_and_large_ones_an_approximation(test, other):
    rng = np.random.default_rng(0)
    some, many = rng.normal(size=(10, 8)), rng.normal(size=(11, 8))
    assert test(some, higher_is_better=False).name.endswith("by random orders")
    rough = test(some, higher_is_better=False, method=other)
    assert rough.name.endswith(other)
    assert rough.pvalue == pytest.approx(test(some, higher_is_better=False).pvalue, abs=0.03)
    assert test(many, higher_is_better=False).name.endswith(other)
    with pytest.raises(StratError, match="`method` must be"):
        test(some, higher_is_better=False, method="exactly")


def test_data_sets_that_all_agree_by_quade():
    """The p-value is that of just this order of the other data sets: 3!⁻¹; everything equal says nothing."""
    table = [[1, 2, 3]] * 2
    assert comparison.quade(table, higher_is_better=False).pvalue == pytest.approx(1 / 6)
    assert comparison.quade(table, higher_is_better=False, method="F").pvalue == pytest.approx(1 / 6)
    assert comparison.quade([[1, 1], [2, 2]], higher_is_better=False).pvalue == 1
