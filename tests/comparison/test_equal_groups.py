"""Are all groups equal? Laws (order, labels, sign), Fisher's and R's answers, level and power, what can't differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

import strat
from strat import StratError
from strat.comparison import equal_groups
from strat.comparison.equal_groups import equal_areas, equal_shares, equal_values, rao_scott, welch

SURVEY = Path(__file__).resolve().parents[2] / "build" / "survey" / "apiclus1.csv"


@pytest.fixture(autouse=True, scope="module")
def few_draws() -> Iterator[None]:
    """The laws hold for any number of draws."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(equal_groups, "MOST_DRAWS", 1_999)
        yield


def drawn(seed: int, *, share: bool = False) -> dict[str, Any]:
    """Lines of 24 units, some of them in several of four groups."""
    rng = np.random.default_rng(seed)
    unit, group = np.unique(np.stack([rng.integers(0, 24, 60), rng.integers(0, 4, 60)]), axis=1)
    size = rng.integers(1, 6, len(unit)).astype(float)
    total = rng.binomial(size.astype(int), 0.7).astype(float) if share else size * rng.normal(1.0, 1.0, len(unit))
    return {"total": total, "size": size, "group": group, "unit": unit, "share": share}


def taken(lines: dict[str, Any], order: Any) -> dict[str, Any]:
    return {name: v[order] if isinstance(v, np.ndarray) else v for name, v in lines.items()}


@given(seed=st.integers(0, 999), share=st.booleans())
def test_order_labels_and_sign_change_nothing(seed: int, share: bool) -> None:
    lines = drawn(seed, share=share)
    p, rng = equal_values(**lines).pvalue, np.random.default_rng(seed)
    assert equal_values(**taken(lines, rng.permutation(len(lines["unit"])))).pvalue == pytest.approx(p)
    renamed = {"group": rng.permutation(4)[lines["group"]], "unit": rng.permutation(24)[lines["unit"]]}
    assert equal_values(**{**lines, **renamed}).pvalue == pytest.approx(p)
    other = lines["size"] - lines["total"] if share else -lines["total"]
    assert equal_values(**{**lines, "total": other}).pvalue == pytest.approx(p)


@given(seed=st.integers(0, 999))
def test_scaled_values_and_weights_change_nothing(seed: int) -> None:
    lines = drawn(seed)
    p = equal_values(**lines).pvalue
    assert equal_values(**{**lines, "total": 7.0 * lines["total"] + 3.0 * lines["size"]}).pvalue == pytest.approx(p)
    assert equal_values(**{**lines, "total": 3 * lines["total"], "size": 3 * lines["size"]}).pvalue == pytest.approx(p)


@given(
    rows=st.lists(st.integers(0, 25), min_size=2, max_size=5), seed=st.integers(0, 999)
)  # fmt: skip
def test_shares_are_tested_alike_in_any_order_and_from_either_side(rows: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    hits = rng.binomial(rows, 0.8)
    p = equal_shares(hits, np.array(rows)).pvalue
    assert 0 < p <= 1
    assert equal_shares(np.array(rows) - hits, np.array(rows)).pvalue == pytest.approx(p)
    place = rng.permutation(len(rows))
    assert equal_shares(hits[place], np.array(rows)[place]).pvalue == pytest.approx(p)


@pytest.mark.parametrize("tables", [((3, 17), (12, 8)), ((0, 9), (4, 5)), ((7, 7), (2, 12))])
def test_two_equally_large_groups_have_fishers_exact_mid_p(tables: tuple[tuple[int, int], tuple[int, int]]) -> None:
    (a, b), (c, d) = tables
    law = stats.hypergeom(a + b + c + d, a + b, a + c)
    own, each = law.pmf(a), law.pmf(np.arange(a + b + 1))
    two_sided = each[each <= own * (1 + 1e-9)].sum()
    assert stats.fisher_exact(tables).pvalue == pytest.approx(two_sided)
    tied = each[np.isclose(each, own)].sum()
    assert equal_shares(np.array([a, c]), np.array([a + b, c + d])).pvalue == pytest.approx(two_sided - tied / 2)


def test_random_tables_are_near_all_tables() -> None:
    """Three groups of 4, 5 and 6 rows with 5 hits: every table counted."""
    rows, hits, total = np.array([4, 5, 6]), np.array([3, 2, 0]), 5
    tables = np.array([(i, j, total - i - j) for i in range(5) for j in range(6) if 0 <= total - i - j <= 6])
    each = np.prod(special.comb(rows, tables), axis=1)
    off = ((tables - rows * total / 15) ** 2 / rows).sum(axis=1)
    seen = ((hits - rows * total / 15) ** 2 / rows).sum()
    tied = np.isclose(off, seen)
    exact = (each[(off > seen) & ~tied].sum() + each[tied].sum() / 2) / each.sum()
    assert equal_shares(hits, rows).pvalue == pytest.approx(exact, abs=0.02)


def test_many_expected_hits_need_no_draws() -> None:
    hits, rows = np.array([360, 300, 640]), np.array([400, 360, 700])
    test = equal_shares(hits, rows)
    wanted = stats.chi2_contingency(np.stack([hits, rows - hits]), correction=False)
    assert (test.statistic, test.pvalue) == pytest.approx((wanted.statistic, wanted.pvalue))
    assert test.df == (2.0,)


def test_welch_has_the_p_of_scipy_for_two_groups() -> None:
    rng = np.random.default_rng(3)
    parts = [rng.normal(0.0, 1.0, 12), rng.normal(0.8, 3.0, 30)]
    means, n = np.array([v.mean() for v in parts]), np.array([len(v) for v in parts])
    variances = np.array([v.var(ddof=1) for v in parts]) / n
    assert welch(means, variances, n - 1.0).pvalue == pytest.approx(stats.ttest_ind(*parts, equal_var=False).pvalue)


def test_independent_rows_are_near_the_f_test() -> None:
    rng = np.random.default_rng(5)
    group = np.repeat([0, 1, 2], [40, 30, 50])
    values = rng.normal(0.35 * group, 1.0)
    wanted = stats.f_oneway(*(values[group == k] for k in range(3))).pvalue
    assert equal_values(values, np.ones(120), group).pvalue == pytest.approx(wanted, abs=0.02)


def test_areas_do_not_notice_place_and_scale_of_a_group() -> None:
    rng = np.random.default_rng(6)
    truth, group = rng.random(150) < 0.4, np.repeat([0, 1, 2], 50)
    score = rng.normal(truth * 1.2)
    p = equal_areas(truth, score, group).pvalue
    assert equal_areas(truth, score * (1.0 + group) + 5.0 * group, group).pvalue == pytest.approx(p, abs=1e-9)
    order = rng.permutation(150)
    assert equal_areas(truth[order], score[order], group[order]).pvalue == pytest.approx(p)
    rounded = np.round(score)
    assert equal_areas(truth[order], rounded[order], 2 - group[order]).pvalue == pytest.approx(
        equal_areas(truth, rounded, group).pvalue
    )


def test_places_are_shares_of_the_other_class() -> None:
    rng = np.random.default_rng(7)
    truth, group, score = rng.random(60) < 0.5, rng.integers(0, 3, 60), rng.integers(0, 8, 60).astype(float)
    ranks = equal_groups._ranks(truth, score, group)
    assert ranks is not None
    above, below = ranks.places(ranks.group[None])
    of_row = np.repeat(np.arange(3), np.rint(ranks.m + ranks.n).astype(int))
    areas = np.array([strat.auc(truth[group == k], score[group == k], positive=True).value() for k in range(3)])
    found = [below[0][of_row == k].sum() / ranks.m[k] for k in range(3)]
    assert sorted(found) == pytest.approx(sorted(areas.tolist()))
    assert [above[0][of_row == k].sum() / ranks.n[k] for k in range(3)] == pytest.approx(found)


@pytest.mark.parametrize(
    "lines",
    [
        {"total": np.ones(6), "size": np.ones(6), "group": np.array([0, 0, 0, 1, 1, 1]), "share": True},
        {"total": np.arange(4.0), "size": np.ones(4), "group": np.zeros(4, int)},
        {"total": np.array([2.0, 0.0]), "size": np.array([1.0, 0.0]), "group": np.array([0, 1])},
    ],
)
def test_what_can_not_differ_is_equal(lines: dict[str, Any]) -> None:
    """Nothing but hits; one group; a group in which nothing is looked at."""
    assert equal_values(**lines).pvalue == 1.0


def test_a_group_without_one_of_the_classes_is_left_out() -> None:
    rng = np.random.default_rng(8)
    truth, group, score = rng.random(90) < 0.5, np.repeat([0, 1, 2], 30), rng.normal(size=90)
    truth[group == 1] = True
    two = group != 1
    assert equal_areas(truth, score, group).pvalue == equal_areas(truth[two], score[two], group[two]).pvalue
    assert equal_areas(truth[~two], score[~two], group[~two]).pvalue == 1.0


def test_strata_that_groups_are_made_of_take_their_variance_out() -> None:
    """Two groups of four strata that differ far more than their rows do: what is left differs between the groups."""
    stratum = np.repeat(np.arange(8), 10)
    values = np.tile([0.0, 4.0, 8.0, 12.0], 2)[stratum] + np.random.default_rng(9).normal(0.0, 0.5, 80) + (stratum > 3)
    group = (stratum > 3).astype(int)
    assert equal_values(values, np.ones(80), group).pvalue > 0.3
    assert equal_values(values, np.ones(80), group, stratum=stratum).pvalue < 0.001


def test_units_seen_whole_leave_less_to_chance() -> None:
    lines = drawn(11, share=True)
    half = equal_values(**lines, unseen=np.full(len(lines["unit"]), 0.1)).pvalue
    assert half < equal_values(**lines).pvalue


@pytest.mark.parametrize("sizes", [(400, 6, 6), (60, 60, 5)])
def test_equal_groups_are_seldom_told_apart_and_unequal_ones_often(sizes: tuple[int, ...]) -> None:
    rng, group = np.random.default_rng(10), np.repeat(np.arange(3), sizes)
    rejected = np.zeros(2)
    for _ in range(300):
        for k, lost in enumerate((0.0, 0.35)):
            right = rng.random(len(group)) < 0.96 - lost * (group == 1)
            rejected[k] += equal_shares(np.bincount(group, right).astype(int), np.array(sizes)).pvalue <= 0.05
    assert rejected[0] <= 300 * 0.09
    assert rejected[1] >= 300 * 0.35


def test_rao_and_scott_have_the_f_of_svychisq() -> None:
    """svychisq(~sch.wide + stype, dclus1) of R's survey 4.1-1: F = 5.1934, ndf = 1.495, ddf = 20.925, p = 0.02175."""
    if not SURVEY.exists():
        pytest.skip("apiclus1.csv of R's survey package is not here; `make survey-data` fetches it on Debian")
    pd = pytest.importorskip("pandas")
    frame = pd.read_csv(SURVEY)
    frame["wide"] = (frame["sch.wide"] == "Yes").astype(float)
    design = strat.Sampling(units="dnum", weights="pw", population="fpc")
    found = strat.evaluate(frame, score="wide", design=design, by="stype").groups["mean"]
    test = found.test("rao-scott")
    assert test.statistic == pytest.approx(5.1934, abs=5e-5)
    assert test.df == pytest.approx((1.495, 20.925), abs=5e-4)
    assert test.pvalue == pytest.approx(0.02175, abs=5e-6)
    assert found.test().pvalue == pytest.approx(0.035, abs=0.01)


def test_rao_and_scott_is_pearson_for_independent_rows() -> None:
    """The design effect is 1 but for the degree of freedom of the mean."""
    rng = np.random.default_rng(12)
    group, right = rng.integers(0, 3, 4000), rng.random(4000) < 0.8
    test = rao_scott(right.astype(float), np.ones(4000), group, rows=4000)
    wanted = stats.chi2_contingency(np.stack([np.bincount(group, right), np.bincount(group, ~right)]), correction=False)
    assert test.statistic * test.df[0] == pytest.approx(wanted.statistic, rel=0.02)
    assert test.df[0] == pytest.approx(2.0, abs=0.01)


def test_wrong_methods() -> None:
    data = {"s": [0.5, 2.0, 1.0, 3.0, 2.0, 4.0], "g": list("aaabbb")}
    groups = strat.evaluate(data, score="s", by="g").groups["mean"]
    with pytest.raises(StratError, match="`method` must be one of 'permutation', 'rao-scott', got 'wald'"):
        groups.test("wald")
    with pytest.raises(StratError, match="`method` must be 'permutation' here, got 'rao-scott', which is for shares"):
        groups.test("rao-scott")
