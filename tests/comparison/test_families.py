"""The family of tests over data sets: adjustments, aligned ranks, Quade, Conover, Wilcoxon, and what each separates."""

from __future__ import annotations

import functools
import itertools
import os
from pathlib import Path

import numpy as np
import pytest
import scikit_posthocs as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

import strat
from strat import StratError, comparison

PVALUES = st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=10)
LOTION = np.array([5, 4, 7, 10, 12, 1, 3, 1, 0, 2, 16, 12, 22, 22, 35, 5, 4, 3, 5, 4, 10, 9, 7, 13, 10, 19, 18, 28, 37,
                   58, 10, 7, 6, 8, 7]).reshape(7, 5)  # fmt: skip
SIMPLE = ("bonferroni", "holm", "hochberg", "hommel", "holland", "rom", "finner", "li", "benjamini-yekutieli")


@given(PVALUES)
@settings(max_examples=60, deadline=None)
def test_equal_to_statsmodels(pvalues):
    for ours, theirs in (
        (comparison.hommel, "hommel"),
        (comparison.holland, "holm-sidak"),
        (comparison.benjamini_yekutieli, "fdr_by"),
    ):
        with np.errstate(divide="ignore"):  # theirs takes the logarithm of 1 − 1
            expected = multipletests(pvalues, method=theirs)[1]
        assert ours(pvalues) == pytest.approx(expected, rel=1e-9)


@given(PVALUES)
@settings(max_examples=60, deadline=None)
def test_laws_of_every_adjustment(pvalues):
    """Never below the p-value, never above 1, in the order of the p-values, whatever their order in the list."""
    for method in SIMPLE:
        adjusted = comparison.adjust(pvalues, method)
        assert (adjusted >= np.array(pvalues) * (1 - 1e-9)).all()
        assert (adjusted <= 1.0).all()
        order = np.argsort(pvalues, kind="stable")
        assert (np.diff(adjusted[order]) >= -1e-12).all()
        assert comparison.adjust(pvalues[::-1], method)[::-1] == pytest.approx(adjusted)


@given(PVALUES)
@settings(max_examples=60, deadline=None)
def test_what_is_more_powerful_than_what(pvalues):
    of = {method: comparison.adjust(pvalues, method) for method in SIMPLE}
    for better, worse in (("hommel", "hochberg"), ("rom", "hochberg"), ("hochberg", "holm"), ("holland", "holm"),
                          ("finner", "holland"), ("holm", "bonferroni")):  # fmt: skip
        assert (of[better] <= of[worse] + 1e-9).all(), (better, worse)


@pytest.mark.parametrize("level", [0.05, 0.3])
def test_rom_is_exact_for_independent_hypotheses(level):
    p = np.random.default_rng(0).random((4000, 4))
    rejected = np.mean([comparison.rom(row).min() <= level for row in p])
    assert rejected == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / 4000))


def test_finner_and_li_by_hand():
    assert comparison.finner([0.01, 0.02, 0.6]) == pytest.approx([1 - 0.99**3, max(1 - 0.99**3, 1 - 0.98**1.5), 0.6])
    assert comparison.li([0.01, 0.02, 0.6]) == pytest.approx([0.01 / 0.41, 0.02 / 0.42, 0.6])


def test_bergmann_hommel_is_the_definition():
    """The largest of |I| min p over every set of pairs that can be exactly the ties and holds the pair."""
    pairs = list(itertools.combinations(range(4), 2))
    exhaustive = set()
    for labels in itertools.product(range(4), repeat=4):
        exhaustive.add(frozenset(k for k, (i, j) in enumerate(pairs) if labels[i] == labels[j]))
    for seed in range(20):
        p = np.random.default_rng(seed).random(6) ** 3
        slow = [max(len(s) * min(p[list(s)]) for s in exhaustive if k in s) for k in range(6)]
        assert comparison.bergmann_hommel(p, systems=4) == pytest.approx(np.minimum(slow, 1.0))
        assert (comparison.bergmann_hommel(p, systems=4) <= comparison.shaffer(p, systems=4) + 1e-12).all()


def test_ten_systems_are_not_too_many():
    p = np.random.default_rng(0).random(45) ** 4
    adjusted = comparison.bergmann_hommel(p, systems=10)
    assert (adjusted >= p).all()
    with pytest.raises(StratError, match="`systems` must be at most 11 for Bergmann-Hommel, got 12"):
        comparison.bergmann_hommel(np.ones(66), systems=12)
    with pytest.raises(StratError, match="must be those of all 3 pairs of 3 `systems`, got 2"):
        comparison.bergmann_hommel([0.1, 0.2], systems=3)


def test_quade_is_that_of_r():
    """R 4, ?quade.test (Conover's hand lotion): F = 3.8293, df 4 and 24, p = 0.01519."""
    result = comparison.quade(LOTION, higher_is_better=False, method="F")
    assert (round(result.statistic, 4), result.df) == (3.8293, (4.0, 24.0))
    assert result.pvalue == pytest.approx(0.01519, abs=5e-6)


def test_conover_is_that_of_scikit_posthocs():
    ours = comparison.pairwise(LOTION, higher_is_better=False, ranks="conover", adjust="none")
    theirs = np.asarray(sp.posthoc_conover_friedman(LOTION))
    assert ours.pvalues == pytest.approx(theirs, rel=1e-9)


def test_wilcoxon_pairs_are_the_tests_of_pairs():
    ours = comparison.pairwise(LOTION, higher_is_better=True, ranks="wilcoxon", adjust="none")
    assert ours.pvalues[0, 4] == comparison.signed_rank(LOTION[:, 0], LOTION[:, 4]).pvalue
    assert ours.z[0, 4] > 0  # the fifth is higher on most data sets, so that it has the smaller rank


def test_aligned_ranks_by_permutation():
    """The p-value against random orders of the systems within each data set."""
    rng = np.random.default_rng(1)
    table = rng.normal(size=(12, 4)) + np.array([0.0, 0.3, 0.6, 0.9])
    observed = comparison.aligned_friedman(table, higher_is_better=False)
    test = functools.partial(comparison.aligned_friedman, higher_is_better=False, method="chi-squared")
    shuffled = [test(rng.permuted(table, axis=1)).statistic for _ in range(600)]
    assert np.mean(np.array(shuffled) >= observed.statistic) == pytest.approx(observed.pvalue, abs=0.03)


@pytest.mark.parametrize("ranks", ["friedman", "aligned", "quade", "conover", "wilcoxon"])
def test_pairs_reject_a_twentieth_where_nothing_differs(ranks):
    rng, rejected = np.random.default_rng(2), []
    for _ in range(150):
        p = comparison.pairwise(rng.normal(size=(20, 5)), higher_is_better=True, ranks=ranks, adjust="none").pvalues
        rejected.append(np.mean(p[np.triu_indices(5, 1)] < 0.05))
    assert np.mean(rejected) == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize("ranks", ["friedman", "aligned", "quade", "conover", "wilcoxon"])
def test_the_order_of_systems_and_the_sign_do_not_matter(ranks):
    one = comparison.pairwise(LOTION, higher_is_better=False, ranks=ranks)
    turned = comparison.pairwise(-LOTION[:, ::-1], higher_is_better=True, ranks=ranks)
    assert turned.pvalues[::-1, ::-1] == pytest.approx(one.pvalues)
    assert turned.z[::-1, ::-1] == pytest.approx(one.z)


@pytest.mark.shared
def test_the_table_of_garcia_and_herrera():
    """Nemenyi separates 4 of 10 pairs, Shaffer 6, Bergmann-Hommel 8."""
    folder = os.environ.get("STRAT_SHARED")
    if not folder:
        pytest.skip("STRAT_SHARED is not set")
    table = strat.verbs.score_table(
        str(Path(folder) / "data" / "garcia_herrera_2008_accuracy.csv"), higher_is_better=True
    )
    found = comparison.family(table, higher_is_better=True)
    counts = found.separated()
    assert (counts["nemenyi"], counts["shaffer"], counts["bergmann-hommel"]) == (4, 6, 8)
    assert str(found).splitlines()[-1].startswith("separated")
    assert len(found.to_dict()["a"]) == 10


def test_no_differences_at_all():
    same = np.ones((5, 3))
    for ranks in ("friedman", "aligned", "quade", "conover", "wilcoxon"):
        assert (comparison.pairwise(same, higher_is_better=True, ranks=ranks).pvalues == 1.0).all()
    assert comparison.quade(same, higher_is_better=True).pvalue == 1.0
    assert comparison.aligned_friedman(same, higher_is_better=True).pvalue == 1.0


def test_words_that_do_not_exist():
    with pytest.raises(StratError, match="`ranks` must be one of"):
        comparison.pairwise(LOTION, higher_is_better=True, ranks="kendall")
    with pytest.raises(StratError, match="`adjust` must be one of"):
        comparison.pairwise(LOTION, higher_is_better=True, adjust="homm")
    with pytest.raises(StratError, match="`pvalues` must be at most 100 for Rom"):
        comparison.rom(np.full(101, 0.5))
