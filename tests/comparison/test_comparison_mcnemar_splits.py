"""McNemar in its conventions, and tests over splits: the book's examples, other packages, type-I error."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from strat.base.errors import StratError
from strat.comparison import (
    corrected_t,
    five_by_two_f,
    five_by_two_t,
    mcnemar,
    mcnemar_clustered,
    mcnemar_exact,
    mcnemar_midp,
    split_ratio,
    uncorrected_t,
)

counts = st.tuples(*[st.integers(0, 40)] * 4).filter(lambda c: sum(c) > 0)
A = [7.4, 18.1, 13.7, 17.5, 13.0, 12.5, 8.9, 12.1, 12.4, 7.4]
B = [9.9, 11.0, 5.7, 12.5, 2.7, 6.6, 10.6, 6.4, 12.5, 7.8]


def columns(n11: int, n10: int, n01: int, n00: int) -> tuple[list[int], list[int], list[int]]:
    a = [1] * (n11 + n10) + [0] * (n01 + n00)
    b = [1] * n11 + [0] * n10 + [1] * n01 + [0] * n00
    return [1] * len(a), a, b


def test_example_1_7() -> None:
    """LDC right on 37 of 50, QDC on 31; ERRATA 18 and 23."""
    truth = ["versicolor"] * 25 + ["virginica"] * 25
    ldc = ["versicolor"] * 20 + ["virginica"] * 5 + ["versicolor"] * 8 + ["virginica"] * 17
    qdc = ["versicolor"] * 20 + ["virginica"] * 5 + ["versicolor"] * 14 + ["virginica"] * 11
    result = mcnemar(truth, ldc, qdc)
    assert (result.n11, result.n10, result.n01, result.n00) == (31, 6, 0, 13)
    assert f"{result.statistic:.4f}" == "4.1667"
    assert f"{result.pvalue:.4f}" == "0.0412"
    assert mcnemar_exact(truth, ldc, qdc).pvalue == 0.03125
    assert mcnemar_midp(truth, ldc, qdc).pvalue == 0.015625


@given(counts)
def test_mcnemar_equals_statsmodels(c: tuple[int, int, int, int]) -> None:
    n11, n10, n01, n00 = c
    data = columns(*c)
    if n10 != n01:  # where they are equal statsmodels corrects a difference of zero, and R does not
        theirs = statsmodels_mcnemar([[n11, n10], [n01, n00]], exact=False, correction=True)
        assert mcnemar(*data).statistic == pytest.approx(theirs.statistic)
        assert mcnemar(*data).pvalue == pytest.approx(theirs.pvalue)
        exact = statsmodels_mcnemar([[n11, n10], [n01, n00]], exact=True)
        assert mcnemar_exact(*data).pvalue == pytest.approx(min(exact.pvalue, 1.0))
    else:
        assert mcnemar(*data).pvalue == mcnemar_exact(*data).pvalue == mcnemar_midp(*data).pvalue == 1.0


@given(counts)
def test_midp_is_the_exact_p_less_half_of_what_was_seen(c: tuple[int, int, int, int]) -> None:
    _, n10, n01, _ = c
    n, k = n10 + n01, min(n10, n01)
    x = stats.binom(n, 0.5)
    wanted = min(1.0, 2 * (x.cdf(k) - 0.5 * x.pmf(k)))
    assert mcnemar_midp(*columns(*c)).pvalue == pytest.approx(wanted)


@given(counts)
def test_swapping_systems_changes_no_p(c: tuple[int, int, int, int]) -> None:
    truth, a, b = columns(*c)
    for test in (mcnemar, mcnemar_exact, mcnemar_midp):
        one, other = test(truth, a, b), test(truth, b, a)
        assert one.pvalue == other.pvalue <= 1.0
        assert (one.n10, one.n01) == (other.n01, other.n10)


def test_equal_counts_are_capped() -> None:
    assert mcnemar_exact(*columns(0, 3, 3, 0)).pvalue == 1.0
    assert mcnemar_midp(*columns(0, 3, 3, 0)).pvalue <= 1.0


@given(counts)
def test_clustered_with_one_row_per_unit_is_a_t_test(c: tuple[int, int, int, int]) -> None:
    truth, a, b = columns(*c)
    d = np.array(a) - np.array(b)
    if len(d) < 2 or d.std() == 0:
        return
    theirs = stats.ttest_1samp(d, 0.0)
    ours = mcnemar_clustered(truth, a, b, units=np.arange(len(d)))
    assert ours.pvalue == pytest.approx(theirs.pvalue)


def test_clustered_mcnemar_counts_repeated_rows_once() -> None:
    """Every row ten times in its unit: the clustered test does not believe that there are more items."""
    rng = np.random.default_rng(0)
    truth, a, b = np.ones(60, int), rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    once = mcnemar_clustered(truth, a, b, units=np.arange(60))
    ten = mcnemar_clustered(*(np.repeat(v, 10) for v in (truth, a, b)), units=np.repeat(np.arange(60), 10))
    assert ten.pvalue == pytest.approx(once.pvalue)
    assert ten.deff == pytest.approx(10 * once.deff)
    assert mcnemar(*(np.repeat(v, 10) for v in (truth, a, b))).pvalue < mcnemar(truth, a, b).pvalue
    strata = np.repeat([0, 1], 30)
    assert mcnemar_clustered(truth, a, b, units=np.arange(60), strata=strata).df == (1.0, 58.0)


@pytest.mark.slow
def test_type_one_error_of_mcnemar_under_clusters() -> None:
    """Independent items: each holds. Items in clusters: McNemar rejects far too often, the clustered one holds."""
    rng = np.random.default_rng(3)
    sims, hits = 2000, defaultdict(int)
    for _ in range(sims):
        for name, effect in (("independent", 0.0), ("clustered", 1.0)):
            unit = np.repeat(np.arange(40), 10)
            lean = effect * rng.normal(size=40)[unit]
            a = (rng.normal(size=400) + lean < 0.5).astype(int)
            b = (rng.normal(size=400) - lean < 0.5).astype(int)
            truth = np.ones(400, int)
            hits[name, "chi2"] += mcnemar(truth, a, b).pvalue <= 0.05
            hits[name, "midp"] += mcnemar_midp(truth, a, b).pvalue <= 0.05
            hits[name, "clustered"] += mcnemar_clustered(truth, a, b, units=unit).pvalue <= 0.05
    rate = {k: v / sims for k, v in hits.items()}
    assert 0.03 <= rate["independent", "chi2"] <= 0.06
    assert 0.04 <= rate["independent", "midp"] <= 0.06
    assert 0.04 <= rate["independent", "clustered"] <= 0.06
    assert 0.04 <= rate["clustered", "clustered"] <= 0.06
    assert rate["clustered", "chi2"] > 0.25


def test_example_1_9() -> None:
    plain, right = uncorrected_t(A, B), corrected_t(A, B, ratio=split_ratio(folds=10))
    assert f"{plain.mean:.2f}" == "3.73"
    assert f"{plain.se * 10**0.5:.4f}" == "4.5090"
    assert f"{plain.se:.4f}" == "1.4259"
    assert f"{plain.pvalue:.4f}" == "0.0280"
    assert f"{right.se:.4f}" == "2.0717"
    assert f"{right.pvalue:.4f}" == "0.1053"
    assert plain.pvalue == pytest.approx(stats.ttest_rel(A, B).pvalue)
    assert right.interval()[0] < 0 < right.interval()[1]
    assert corrected_t(A, B, ratio=1 / 9, alternative="greater").pvalue == pytest.approx(right.pvalue / 2)
    assert corrected_t(A, B, ratio=1 / 9, alternative="less").pvalue == pytest.approx(1 - right.pvalue / 2)


def test_baycomp_s_posterior_is_half_of_the_corrected_p() -> None:
    baycomp = pytest.importorskip("baycomp")
    found = baycomp.two_on_single(np.array(A), np.array(B))
    assert 2 * min(found) == pytest.approx(corrected_t(A, B, ratio=1 / 9).pvalue)


def test_ratio_from_the_rows_of_the_splits() -> None:
    from sklearn.model_selection import RepeatedKFold

    splits = list(RepeatedKFold(n_splits=5, n_repeats=2, random_state=0).split(np.zeros(50)))
    indices = {"train": [a for a, _ in splits], "test": [b for _, b in splits]}
    assert split_ratio(indices=indices) == pytest.approx(1 / 4)
    drawn = np.random.default_rng(0).integers(0, 1000, 1000)
    out = np.setdiff1d(np.arange(1000), drawn)
    assert split_ratio(indices={"train": [drawn], "test": [out]}) == pytest.approx(0.368 / 0.632, rel=0.1)


def test_five_by_two() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.random((5, 2)), rng.random((5, 2))
    d = a - b
    s2 = d.var(axis=1, ddof=1)
    t = five_by_two_t(a, b)
    assert t.statistic == pytest.approx(d[0, 0] / np.sqrt(s2.mean()))
    assert t.pvalue == pytest.approx(2 * stats.t(5).sf(abs(t.statistic)))
    f = five_by_two_f(a, b)
    assert f.pvalue == pytest.approx(stats.f(10, 5).sf((d**2).sum() / (2 * s2.sum())))


@pytest.mark.slow
def test_type_one_error_of_the_tests_over_splits() -> None:
    """Two nearest-mean classifiers that each see another noise feature: equal by symmetry."""
    rng = np.random.default_rng(7)
    sims, hits = 1500, defaultdict(int)
    for _ in range(sims):
        y = np.repeat([-1.0, 1.0], 50)
        x = rng.normal(size=(100, 3))
        x[:, 0] += y
        scores = {}
        fold = rng.permutation(np.arange(100) % 10)
        for name, keep in (("a", [0, 1]), ("b", [0, 2])):
            errors = []
            for k in range(10):
                train, test = fold != k, fold == k
                w = x[train & (y > 0)][:, keep].mean(axis=0) - x[train & (y < 0)][:, keep].mean(axis=0)
                c = x[train][:, keep].mean(axis=0)
                errors.append((np.sign((x[test][:, keep] - c) @ w) != y[test]).mean())
            scores[name] = np.array(errors)
        if (scores["a"] - scores["b"]).std() == 0:
            continue
        hits["plain"] += uncorrected_t(scores["a"], scores["b"]).pvalue <= 0.05
        hits["corrected"] += corrected_t(scores["a"], scores["b"], ratio=1 / 9).pvalue <= 0.05
    assert hits["corrected"] / sims <= 0.06
    assert hits["plain"] > hits["corrected"]


def test_corrected_t_on_weka_s_splits(shared: Path) -> None:
    """54 data sets × 10×10 folds: the correction takes away a good part of the significant differences."""
    runs: dict[tuple[str, str], list[float]] = defaultdict(list)
    with gzip.open(shared / "data" / "weka_uci_10x10cv.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            runs[row["dataset"], row["classifier"]].append(float(row["percent_correct"]))
    names = sorted({d for d, _ in runs})
    assert len(names) == 54
    plain = corrected = 0
    for name in names:
        a, b = runs[name, "nbc"], runs[name, "aode"]
        if np.std(np.subtract(a, b)) == 0:
            continue
        plain += uncorrected_t(a, b).pvalue < 0.05
        result = corrected_t(a, b, ratio=split_ratio(folds=10))
        d = np.subtract(a, b)
        t = d.mean() / (d.std(ddof=1) * np.sqrt(1 / 100 + 1 / 9))
        assert result.pvalue == pytest.approx(2 * stats.t(99).sf(abs(t)))
        corrected += result.pvalue < 0.05
    assert corrected < plain


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: mcnemar([1, 2], [1, 2], [1]), "`b` must have as many rows as `truth`"),
        (lambda: mcnemar([1, 2], ["1", "2"], [1, 2]), "`a` must have labels of the same type"),
        (lambda: mcnemar([1, 2], [1.0, np.nan], [1, 2]), "`a` must name every row"),
        (
            lambda: mcnemar_clustered([1] * 4, [1] * 4, [0] * 4, units=[1, 1, 1, 1]),
            "must name at least two units",
        ),
        (lambda: mcnemar_clustered([1] * 4, [1] * 4, [0] * 4, units=[1, 1, 2, 2]), "no variance to test with"),
        (lambda: corrected_t([1, 2], [1, 2], ratio=-1), "`ratio` must be testing size"),
        (lambda: corrected_t([1], [2], ratio=0.1), "two splits or more"),
        (lambda: corrected_t([2, 3], [1, 2], ratio=0.1), "must not differ by the same amount"),
        (lambda: corrected_t([2, 3], [1, 2.5], ratio=0.1, alternative="larger"), "`alternative` must be one of"),
        (lambda: split_ratio(folds=1), "`folds` must be 2 or more"),
        (lambda: split_ratio(testing=1), "`testing` and `training` must both be given"),
        (lambda: five_by_two_t([1, 2], [1, 2]), "5 repeats × 2 halves"),
        (lambda: five_by_two_f([[1, 1]] * 5, [[0, 0]] * 5), "got no variance"),
    ],
)
def test_bad_input_of_mcnemar_and_splits(call: object, said: str) -> None:
    with pytest.raises(StratError, match=said):
        call()  # type: ignore[operator]


def test_no_difference_at_all() -> None:
    assert corrected_t([1, 2, 3], [1, 2, 3], ratio=0.1).pvalue == 1.0
    result = mcnemar_clustered([1] * 4, [1, 0, 1, 0], [1, 0, 1, 0], units=[1, 1, 2, 2])
    assert result.pvalue == 1.0
    assert set(result.to_dict()) >= {"deff", "icc", "n10", "pvalue"}
