"""Models over data sets: the book's examples and tables, published conclusions, other packages, type-I error."""

from __future__ import annotations

import csv
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.descriptivestats import sign_test
from statsmodels.stats.multitest import multipletests

from strat.base.errors import StratError
from strat.comparison import (
    adjust,
    against_control,
    all_pairs,
    benjamini_hochberg,
    bonferroni,
    bonferroni_dunn,
    cochran_q,
    friedman,
    hochberg,
    holm,
    iman_davenport,
    mcnemar,
    nemenyi,
    nemenyi_bonferroni,
    shaffer,
    sign,
    sign_critical,
    signed_rank,
    signed_rank_critical,
    studentized_range_quantile,
    studentized_range_tail,
    win_draw_loss,
)

matplotlib.use("Agg")

# Kuncheva, Table 1.3: errors of 11 models on 20 data sets (fictional).
TABLE_1_3 = np.array([
    [4.1, 14.1, 5.8, 2.3, 22.5, 1.4, 21.8, 8.0, 9.1, 15.5, 5.4],
    [5.0, 1.4, 6.2, 2.6, 11.7, 6.7, 12.0, 4.7, 2.4, 8.7, 5.6],
    [0.8, 12.9, 5.4, 9.0, 12.0, 8.5, 3.7, 0.5, 6.5, 1.5, 19.8],
    [1.6, 4.9, 4.8, 21.6, 6.6, 0.6, 24.1, 3.5, 12.7, 3.9, 5.4],
    [5.3, 6.2, 1.1, 0.9, 3.3, 2.9, 7.4, 12.6, 5.5, 13.2, 1.4],
    [7.2, 9.3, 3.4, 9.5, 15.1, 6.1, 3.1, 10.4, 0.9, 8.0, 6.2],
    [8.5, 2.8, 9.3, 11.7, 8.9, 0.1, 5.4, 4.3, 3.5, 1.4, 0.1],
    [8.0, 2.0, 0.1, 17.4, 9.6, 4.1, 1.2, 0.8, 9.9, 4.2, 11.1],
    [7.3, 1.4, 11.4, 3.7, 4.9, 9.4, 9.6, 17.9, 4.3, 8.2, 1.9],
    [16.9, 8.8, 4.3, 11.9, 4.4, 8.4, 2.5, 8.0, 10.0, 8.5, 11.2],
    [3.9, 0.8, 1.8, 9.5, 2.0, 10.9, 18.9, 4.4, 6.3, 3.6, 2.5],
    [5.1, 6.0, 6.6, 14.2, 9.8, 3.2, 12.2, 6.3, 10.5, 27.5, 15.6],
    [4.1, 3.7, 5.8, 0.3, 15.7, 0.2, 3.8, 15.3, 5.1, 15.1, 12.0],
    [10.7, 8.4, 16.2, 2.6, 3.7, 11.6, 0.5, 27.3, 3.3, 4.3, 2.4],
    [9.7, 2.8, 0.2, 5.2, 2.2, 4.9, 19.5, 1.7, 16.4, 2.3, 10.0],
    [2.7, 35.7, 4.3, 6.8, 5.4, 12.2, 5.7, 4.8, 19.1, 8.3, 19.2],
    [6.3, 34.1, 20.3, 6.7, 2.6, 15.9, 0.8, 14.1, 0.4, 8.3, 6.3],
    [6.3, 11.5, 13.3, 6.8, 11.0, 5.3, 0.8, 9.7, 7.0, 5.0, 7.5],
    [0.8, 7.9, 3.2, 3.1, 5.5, 2.6, 7.9, 2.9, 1.7, 23.2, 2.1],
    [13.8, 12.8, 8.3, 3.8, 21.7, 3.9, 10.4, 11.7, 15.4, 7.9, 7.7],
])  # fmt: skip
MODELS = [f"C{k}" for k in range(1, 12)]
EXAMPLE_1_10 = dict(zip(MODELS, TABLE_1_3.T, strict=True))
EXAMPLE_1_11 = EXAMPLE_1_10 | {"C1": (TABLE_1_3[:, 0] - 0.8) * 0.5}

# Kuncheva, Table 1.A.1 (b): wins needed on N = 5 … 25 data sets at 0.10 and 0.05.
SIGN_10 = [5, 6, 6, 7, 7, 8, 9, 9, 10, 10, 11, 12, 12, 13, 13, 14, 14, 15, 16, 16, 17]
SIGN_05 = [5, 6, 7, 7, 8, 9, 9, 10, 10, 11, 12, 12, 13, 13, 14, 15, 15, 16, 16, 17, 18]
# Table 1.A.1 (a), N = 6 … 25; its heads are wrong (ERRATA 22).
WILCOXON_FIRST = [0, 2, 4, 6, 8, 11, 14, 17, 21, 25, 30, 35, 40, 46, 52, 59, 66, 73, 81, 89]
WILCOXON_THIRD = [None, None, 0, 2, 3, 5, 7, 10, 13, 16, 20, 23, 28, 32, 38, 43, 49, 55, 61, 68]

tables = st.integers(2, 6).flatmap(
    lambda m: st.lists(st.lists(st.integers(0, 4), min_size=m, max_size=m), min_size=2, max_size=12)
)


def read(path: Path) -> dict[str, list[float]]:
    rows = list(csv.reader(path.read_text().splitlines()))
    return {name: [float(row[k]) for row in rows[1:]] for k, name in enumerate(rows[0]) if k}


def test_a_test_says_whether_it_rejects() -> None:
    """The H of the book's programs [H, p]."""
    five = sign([1] * 5, [0] * 5, alternative="greater")  # p = 1/32
    assert (five.rejects(), five.rejects(0.01), five.rejects(1 / 32)) == (True, False, False)
    with pytest.raises(StratError, match="`alpha` must lie strictly between 0 and 1, got 5"):
        five.rejects(5)


def test_example_1_10() -> None:
    book = friedman(EXAMPLE_1_10, higher_is_better=False, ties=False)
    assert f"{book.statistic:.4f} {book.pvalue:.4f}" == "6.9182 0.7331"
    corrected = friedman(EXAMPLE_1_10, higher_is_better=False)
    assert f"{corrected.statistic:.4f} {corrected.pvalue:.4f}" == "6.9229 0.7327"
    f = iman_davenport(EXAMPLE_1_10, higher_is_better=False)
    assert f"{f.statistic:.4f} {f.pvalue:.4f}" == "0.6808 0.7415"
    assert f.df == (10.0, 190.0)
    printed = [5.22, 6.28, 5.50, 6.10, 7.10, 4.88, 6.28, 6.10, 6.05, 6.55, 5.95]
    np.testing.assert_allclose(book.ranks, printed, atol=0.0051)


def test_example_1_11() -> None:
    book = friedman(EXAMPLE_1_11, higher_is_better=False, ties=False)
    assert f"{book.statistic:.4f} {book.pvalue:.4f}" == "21.7273 0.0166"
    f = iman_davenport(EXAMPLE_1_11, higher_is_better=False)
    assert f"{f.statistic:.4f} {f.pvalue:.4f}" == "2.3157 0.0136"
    for test in (nemenyi, nemenyi_bonferroni):
        assert test(EXAMPLE_1_11, higher_is_better=False).different() == [("C1", "C5"), ("C1", "C10")]
    z = nemenyi_bonferroni(EXAMPLE_1_11, higher_is_better=False)
    assert [f"{z.pvalues[0, k]:.4f}" for k in (4, 9, 1)] == ["0.0042", "0.0230", "0.0710"]
    q = nemenyi(EXAMPLE_1_11, higher_is_better=False)
    assert [f"{q.pvalues[0, k]:.4f}" for k in (4, 9, 1)] == ["0.0037", "0.0182", "0.0501"]
    assert q.critical_difference() == pytest.approx(3.3758, abs=5e-5)
    one = bonferroni_dunn(EXAMPLE_1_11, control="C1", higher_is_better=False, alternative="greater")
    assert one.different() == [m for m in MODELS if m not in ("C1", "C3", "C6")]
    p = dict(zip(one.others, one.pvalues, strict=True))
    assert f"{p['C3']:.4f} {p['C6']:.4f} {p['C2']:.4f}" == "0.0752 0.1905 0.0065"
    two = bonferroni_dunn(EXAMPLE_1_11, control="C1", higher_is_better=False)
    assert two.pvalues[0] == pytest.approx(2 * one.pvalues[0])
    printed = [3.10, 6.47, 5.65, 6.35, 7.25, 5.28, 6.42, 6.30, 6.20, 6.80, 6.17]
    np.testing.assert_allclose(book.ranks, printed, atol=0.0051)


def test_direction_is_turned_round() -> None:
    errors = nemenyi(EXAMPLE_1_11, higher_is_better=False)
    right = nemenyi({k: 100 - np.asarray(v) for k, v in EXAMPLE_1_11.items()}, higher_is_better=True)
    np.testing.assert_array_equal(errors.ranks, right.ranks)
    wrong = friedman(EXAMPLE_1_11, higher_is_better=True)
    np.testing.assert_allclose(wrong.ranks, 12 - errors.ranks)
    less = bonferroni_dunn(EXAMPLE_1_11, control="C5", higher_is_better=False, alternative="less")
    assert "C1" in less.different()
    assert "is worse than" in str(less)
    by_place = bonferroni_dunn(np.column_stack(list(EXAMPLE_1_11.values())), control=0, higher_is_better=False)
    assert by_place.control == "system 1"


def test_table_1_a_1_b() -> None:
    assert [sign_critical(n, 0.10) for n in range(5, 26)] == SIGN_10
    assert [sign_critical(n, 0.05) for n in range(5, 26)] == SIGN_05


def test_table_1_a_1_a_as_the_errata_say() -> None:
    """Two-tailed 0.05 and 0.01, rounded to the nearest level: the entries are the exact ones or one more."""
    for alpha, printed in ((0.05, WILCOXON_FIRST), (0.01, WILCOXON_THIRD)):
        ours = [signed_rank_critical(n, alpha) for n in range(6, 26)]
        for own, book in zip(ours, printed, strict=True):
            assert own == book or (book is not None and book - (-1 if own is None else own) == 1)
    assert [signed_rank_critical(10, a) for a in (0.1, 0.05, 0.02, 0.01)] == [10, 8, 5, 3]


@given(st.lists(st.integers(-9, 9).filter(bool), min_size=2, max_size=12, unique_by=abs))
def test_signed_rank_equals_scipy_without_ties(d: list[int]) -> None:
    for alternative in ("two-sided", "less", "greater"):
        theirs = stats.wilcoxon(d, method="exact", alternative=alternative)
        ours = signed_rank(d, np.zeros(len(d)), alternative=alternative)
        assert ours.pvalue == pytest.approx(theirs.pvalue)
    assert ours.r_plus + ours.r_minus == pytest.approx(len(d) * (len(d) + 1) / 2)


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=10))
def test_signed_rank_with_zeros_and_ties_is_the_permutation_test(d: list[int]) -> None:
    d_ = np.array(d, float)
    ours = signed_rank(d_, np.zeros(len(d)))
    rank = stats.rankdata(np.abs(d_))
    moving = np.flatnonzero(d_)
    split = 0.5 * rank[d_ == 0].sum()
    signs = np.array(np.meshgrid(*[[0, 1]] * len(moving))).reshape(len(moving), -1) if len(moving) else np.zeros((0, 1))
    plus = rank[moving] @ signs + split
    t = min(ours.r_plus, ours.r_minus)
    wanted = min(1.0, 2 * (plus <= t + 1e-9).mean())
    assert ours.pvalue == pytest.approx(wanted)
    assert ours.statistic == t


def test_signed_rank_sees_ties_through_rounding() -> None:
    """0.84 − 0.82 and 0.59 − 0.57 are the same difference, whatever binary fractions say."""
    result = signed_rank([0.84, 0.59, 0.5], [0.82, 0.57, 0.6])
    assert (result.r_plus, result.r_minus) == (3.0, 3.0)


def test_signed_rank_of_many_data_sets_is_near_normal() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.1, 1, 900), np.zeros(900)
    assert signed_rank(a, b).pvalue == pytest.approx(stats.wilcoxon(a, method="asymptotic").pvalue, rel=0.02)
    more = rng.normal(0.1, 1, 1500)
    assert "normal" in signed_rank(more, np.zeros(1500)).name
    assert signed_rank(more, np.zeros(1500)).pvalue == pytest.approx(stats.wilcoxon(more).pvalue, rel=0.01)


@given(st.lists(st.integers(-2, 2), min_size=2, max_size=30))
def test_sign_test(d: list[int]) -> None:
    a = np.array(d, float)
    wins, losses = int((a > 0).sum()), int((a < 0).sum())
    dropped = sign(a, np.zeros(len(a)), draws="drop")
    if wins + losses:
        assert dropped.pvalue == pytest.approx(min(1.0, stats.binomtest(wins, wins + losses).pvalue))
        assert dropped.pvalue == pytest.approx(min(1.0, sign_test(a)[1]))
    split = sign(a, np.zeros(len(a)), alternative="greater")
    half = (len(a) - wins - losses) // 2
    assert split.statistic == wins + half
    assert split.pvalue == pytest.approx(float(stats.binom(wins + losses + 2 * half, 0.5).sf(wins + half - 1)))
    found = win_draw_loss(a, np.zeros(len(a)), higher_is_better=False)
    assert (found.wins, found.draws, found.losses) == (losses, len(a) - wins - losses, wins)


@given(tables)
def test_friedman_equals_scipy(table: list[list[int]]) -> None:
    values = np.array(table)
    ours = friedman(values, higher_is_better=False, method="chi-squared")
    if values.shape[1] >= 3 and (values != values[:, :1]).any():
        theirs = stats.friedmanchisquare(*values.T)
        assert ours.statistic == pytest.approx(theirs.statistic, abs=1e-9)
        assert ours.pvalue == pytest.approx(theirs.pvalue, abs=1e-9)
    assert ours.ranks.sum() == pytest.approx(values.shape[1] * (values.shape[1] + 1) / 2)


@given(tables)
def test_order_and_monotone_changes_do_not_matter(table: list[list[int]]) -> None:
    values = np.array(table, float)
    base = friedman(values, higher_is_better=False, method="chi-squared")
    order = np.random.default_rng(0).permutation(len(values))
    for other in (values[order], np.exp(values) + 200):
        assert friedman(other, higher_is_better=False, method="chi-squared").statistic == pytest.approx(base.statistic)


def test_all_ties_and_perfect_agreement() -> None:
    tied = np.ones((4, 3))
    assert friedman(tied, higher_is_better=True).pvalue == 1.0
    assert friedman(tied, higher_is_better=True, ties=False).pvalue == 1.0
    assert nemenyi(tied, higher_is_better=True).different() == []
    assert "no two of 3 systems differ" in str(nemenyi(tied, higher_is_better=True))
    assert iman_davenport([[1, 2, 3]] * 4, higher_is_better=True).pvalue == pytest.approx(6.0**-3)


def test_demsar_2006(shared: Path) -> None:
    """Chi-squared 9.28, F 3.69 with 3 and 39 df; at 0.10 CD 1.12 (rounded): m and m+cf beat C4.5."""
    t = read(shared / "data" / "demsar_2006_auc.csv")
    result = friedman(t, higher_is_better=True, ties=False)
    assert f"{result.statistic:.2f}" == "9.28"
    assert [f"{r:.3f}" for r in result.ranks] == ["3.143", "2.000", "2.893", "1.964"]
    f = iman_davenport(t, higher_is_better=True)
    assert f"{f.statistic:.2f}" == "3.69"
    found = nemenyi(t, higher_is_better=True)
    assert found.critical_difference(0.10) == pytest.approx(1.12, abs=0.005)
    assert found.different(0.10) == [("C4.5+m", "C4.5"), ("C4.5+m+cf", "C4.5")]
    assert found.different(0.05) == []


def test_garcia_herrera_2008(shared: Path) -> None:
    """Average ranks 2.100, 3.250, 2.200, 4.333, 3.117; Bonferroni rejects 4 pairs, Holm 5, Shaffer 6."""
    t = read(shared / "data" / "garcia_herrera_2008_accuracy.csv")
    assert [f"{r:.3f}" for r in friedman(t, higher_is_better=True).ranks] == [
        "2.100", "3.250", "2.200", "4.333", "3.117",
    ]  # fmt: skip
    rejected = {
        a: len(all_pairs(t, higher_is_better=True, adjust=a).different()) for a in ("bonferroni", "holm", "shaffer")
    }
    assert rejected == {"bonferroni": 4, "holm": 5, "shaffer": 6}


def test_ucr_with_a_missing_cell(shared: Path) -> None:
    rows = list(csv.reader((shared / "data" / "ucr109_accuracy.csv").read_text().splitlines()))
    t: dict[str, list[float]] = {
        name: [float(row[k]) if row[k] else np.nan for row in rows[1:]] for k, name in enumerate(rows[0]) if k
    }
    with pytest.raises(
        StratError, match=r"no number for .*; Friedman's test and its post-hoc tests rank whole data sets"
    ):
        friedman(t, higher_is_better=True)
    keep = np.isfinite(np.column_stack(list(t.values()))).all(axis=1)
    full = {k: np.array(v)[keep] for k, v in t.items()}
    assert keep.sum() == 108
    result = nemenyi(full, higher_is_better=True)
    best = result.systems[int(np.argmin(result.ranks))]
    assert best == "HIVE-COTE 2.0"
    assert friedman(full, higher_is_better=True).pvalue < 1e-50
    assert result.groups()[0][0] == best


def test_post_hoc_equals_scikit_posthocs() -> None:
    sp = pytest.importorskip("scikit_posthocs")
    values = np.column_stack(list(EXAMPLE_1_11.values()))
    theirs = sp.posthoc_nemenyi_friedman(values).to_numpy()
    np.testing.assert_allclose(nemenyi(EXAMPLE_1_11, higher_is_better=False).pvalues, theirs, atol=2e-6)
    siegel = sp.posthoc_siegel_friedman(values, p_adjust="bonferroni").to_numpy()
    ours = nemenyi_bonferroni(EXAMPLE_1_11, higher_is_better=False).pvalues
    np.testing.assert_allclose(ours, siegel, rtol=1e-9)
    for method in ("holm", "fdr_bh", "simes-hochberg"):
        name = {"fdr_bh": "benjamini-hochberg", "simes-hochberg": "hochberg"}.get(method, method)
        mine = all_pairs(EXAMPLE_1_11, higher_is_better=False, adjust=name).pvalues
        np.testing.assert_allclose(mine, sp.posthoc_siegel_friedman(values, p_adjust=method).to_numpy(), rtol=1e-9)


@pytest.mark.parametrize("m", [2, 3, 10, 60])
def test_studentized_range_equals_scipy(m: int) -> None:
    q = np.array([0.3, 1.5, 3.0, 4.5, 7.0])
    np.testing.assert_allclose(studentized_range_tail(q, m), stats.studentized_range.sf(q, m, np.inf), rtol=2e-6)
    for alpha in (0.1, 0.05, 0.01):
        assert studentized_range_quantile(alpha, m) == pytest.approx(
            stats.studentized_range.isf(alpha, m, np.inf), rel=1e-6
        )


pvalues = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@pytest.mark.costly("the first test of a process that imports statsmodels pays for it")
@settings(max_examples=15)
@given(pvalues)
def test_adjustments_equal_statsmodels(p: list[float]) -> None:
    for ours, name in (
        (bonferroni, "bonferroni"), (holm, "holm"), (hochberg, "simes-hochberg"), (benjamini_hochberg, "fdr_bh"),
    ):  # fmt: skip
        np.testing.assert_allclose(ours(p), multipletests(p, method=name)[1], atol=1e-12)
    assert (holm(p) <= bonferroni(p) + 1e-15).all()


@given(st.integers(3, 6), st.data())
def test_shaffer_lies_between_holm_and_the_raw_values(m: int, data: st.DataObject) -> None:
    pairs = m * (m - 1) // 2
    p = data.draw(st.lists(st.floats(0, 1), min_size=pairs, max_size=pairs))
    adjusted = shaffer(p, systems=m)
    assert (adjusted <= holm(p) + 1e-15).all()
    assert (adjusted >= np.array(p) - 1e-15).all()


def test_cochran_s_q() -> None:
    from statsmodels.stats.contingency_tables import cochrans_q

    rng = np.random.default_rng(0)
    x = (rng.random((60, 4)) < [0.5, 0.6, 0.7, 0.5]).astype(int)
    theirs = cochrans_q(x)
    ours = cochran_q(x)
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.pvalue == pytest.approx(theirs.pvalue)
    truth = np.ones(60, int)
    result = mcnemar(truth, x[:, 0], x[:, 1])
    assert cochran_q(x[:, :2]).statistic == pytest.approx((result.n10 - result.n01) ** 2 / (result.n10 + result.n01))


@pytest.mark.slow
def test_type_one_error_over_data_sets() -> None:
    rng = np.random.default_rng(11)
    sims = 3000
    hits = dict.fromkeys(("friedman", "iman", "nemenyi", "z", "wilcoxon", "sign", "dunn"), 0)
    for _ in range(sims):
        x = rng.normal(size=(30, 6)) + rng.normal(size=(30, 1))
        hits["friedman"] += friedman(x, higher_is_better=True, method="chi-squared").pvalue <= 0.05
        hits["iman"] += iman_davenport(x, higher_is_better=True).pvalue <= 0.05
        hits["nemenyi"] += bool(nemenyi(x, higher_is_better=True).different())
        hits["z"] += bool(nemenyi_bonferroni(x, higher_is_better=True).different())
        hits["dunn"] += bool(bonferroni_dunn(x, control="system 1", higher_is_better=True).different())
        hits["wilcoxon"] += signed_rank(x[:, 0], x[:, 1]).pvalue <= 0.05
        hits["sign"] += sign(x[:, 0], x[:, 1]).pvalue <= 0.05
    rate = {k: v / sims for k, v in hits.items()}
    for name in ("friedman", "iman", "nemenyi", "wilcoxon"):
        assert 0.04 <= rate[name] <= 0.06, rate
    for name in ("z", "sign", "dunn"):  # conservative: Bonferroni, and the jumps of the binomial
        assert 0.02 <= rate[name] <= 0.06, rate


def test_diagram_shows_what_the_test_says() -> None:
    import matplotlib.pyplot as plt

    result = nemenyi(EXAMPLE_1_11, higher_is_better=False)
    ax = result.plot(alpha=0.05)
    text = " ".join(t.get_text() for t in ax.texts)
    assert "CD = 3.38 (α = 0.05)" in text
    assert all(m in text for m in MODELS)
    assert len(result.groups()) == 2
    control = bonferroni_dunn(EXAMPLE_1_11, control="C1", higher_is_better=False).plot()
    assert any("C1 (control)" in t.get_text() for t in control.texts)
    plt.close("all")


def test_frames_and_arrays_agree() -> None:
    import pandas as pd
    import polars as pl

    base = friedman(EXAMPLE_1_10, higher_is_better=False)
    names = [f"set {k}" for k in range(20)]
    for table in (
        TABLE_1_3,
        pd.DataFrame(EXAMPLE_1_10),
        pd.DataFrame({"data": names, **EXAMPLE_1_10}),
        pl.DataFrame({"data": names, **EXAMPLE_1_10}),
    ):
        assert friedman(table, higher_is_better=False).statistic == base.statistic
    assert set(base.to_dict()["average_ranks"]) == set(MODELS)


TWO = [[1, 2], [2, 1]]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: friedman([[1, 2, 3]], higher_is_better=True), "two data sets or more, got 1"),
        (lambda: friedman([[1], [2]], higher_is_better=True), "two systems or more, got 1"),
        (lambda: friedman([1, 2, 3], higher_is_better=True), "data sets × systems"),
        (lambda: friedman([[1, 2], [2, 1]], higher_is_better=None), "`higher_is_better` must be True"),
        (lambda: friedman({"A": [1, 2], "B": ["x", "y"]}, higher_is_better=True), "got text in the column 'B'"),
        (lambda: friedman({"A": [1, 2], "B": [1, 2, 3]}, higher_is_better=True), "as many rows in every column"),
        (lambda: bonferroni_dunn([[1, 2], [2, 1]], control="sistem 1", higher_is_better=True), "did you mean"),
        (lambda: all_pairs([[1, 2], [2, 1]], higher_is_better=True, adjust="homl"), "`adjust` must be one of"),
        (lambda: against_control(TWO, control="system 1", higher_is_better=True, adjust="shaffer"), "`adjust` must be"),
        (lambda: against_control(TWO, control="system 1", higher_is_better=True, alternative="x"), "`alternative`"),
        (lambda: signed_rank([1], [2]), "two data sets or more"),
        (lambda: signed_rank([1, np.nan], [2, 3]), "`a` must be finite"),
        (lambda: sign([1, 2], [2, 1], draws="half"), "`draws` must be one of"),
        (lambda: cochran_q([[1, 2], [0, 1]]), "0 \\(wrong\\) and 1 \\(right\\) only"),
        (lambda: shaffer([0.1, 0.2], systems=3), "all 3 pairs of 3"),
        (lambda: holm([0.1, 1.2]), "between 0 and 1, got 1.2"),
        (lambda: holm([]), "a list of p-values"),
        (lambda: adjust([0.1], "shaffer"), "`adjust` must be one of"),
        (lambda: studentized_range_quantile(2.0, 3), "`alpha` must lie between"),
    ],
)  # fmt: skip
def test_bad_input_over_data_sets(call: object, said: str) -> None:
    with pytest.raises(StratError, match=said):
        call()  # type: ignore[operator]


def test_the_same_name_twice() -> None:
    import pandas as pd

    frame = pd.DataFrame([[1.0, 2.0], [2.0, 1.0]], columns=["A", "B"])
    frame.columns = ["A", "A"]
    with pytest.raises(StratError):
        friedman(frame, higher_is_better=True)


@pytest.mark.filterwarnings("ignore")
def test_critical_difference_equals_autorank_s(capsys: pytest.CaptureFixture[str]) -> None:
    autorank = pytest.importorskip("autorank")
    import pandas as pd

    frame = pd.DataFrame(EXAMPLE_1_11)
    theirs = autorank.autorank(frame, verbose=False, order="ascending", force_mode="nonparametric")
    capsys.readouterr()
    ours = nemenyi(EXAMPLE_1_11, higher_is_better=False)
    assert theirs.cd == pytest.approx(ours.critical_difference(), abs=1e-4)
    ranks = theirs.rankdf["meanrank"]
    assert ranks["C1"] == pytest.approx(ours.ranks[0])


def test_a_table_of_numbers_has_no_system_made_of_row_numbers() -> None:
    from strat.verbs import score_table

    accuracies = {"A": [0.9, 0.8, 0.7], "B": [0.8, 0.7, 0.6]}
    table = score_table(accuracies, higher_is_better=True)
    assert table.systems == ("A", "B")
    assert table.data_sets == ("1", "2", "3")
    years = score_table({"year": [2019, 2020, 2021], **accuracies}, dataset="year", higher_is_better=True)
    assert years.systems == ("A", "B")
    assert years.data_sets == ("2019", "2020", "2021")
