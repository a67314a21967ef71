"""CMS, rates within a rank and mean reciprocal rank: laws, CVPR's example, the textbook variance, errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strat
from strat.base.errors import StratError
from strat.measures.ranks import cms, mean_reciprocal_rank, within_rank
from strat.recognition import cms_of, match_curve, ranks, reciprocal_rank_of, within_rank_of

RANKS = st.lists(st.integers(1, 12), min_size=1, max_size=40)


def test_cvpr_example():
    e = [1] * 235 + [7] * 21
    assert round(float(within_rank(e, 3).value()), 3) == 0.918
    assert cms(e).value()[2] == 235 / 256


@given(RANKS)
def test_cms_rises_to_one_and_counts(ranks_):
    value = cms(ranks_).value()
    assert (np.diff(value) >= 0).all()
    assert value[-1] == 1
    np.testing.assert_allclose(value, [np.mean(np.array(ranks_) <= r) for r in range(1, max(ranks_) + 1)])


@given(RANKS, st.lists(st.integers(0, 4), min_size=40, max_size=40))
def test_ties_broken_at_random_are_averages(ranks_, tied):
    tied = tied[: len(ranks_)]
    value = cms(ranks_, at=[1, 3, 6, 20], tied=tied).value()
    spans = [np.arange(r, r + t + 1) for r, t in zip(ranks_, tied, strict=True)]
    plain = np.mean([[np.mean(span <= k) for k in (1, 3, 6, 20)] for span in spans], axis=0)
    np.testing.assert_allclose(value, plain)
    mrr = np.mean([np.mean(1 / span) for span in spans])
    np.testing.assert_allclose(float(mean_reciprocal_rank(ranks_, tied=tied).value()), mrr)


def test_failures_miss_at_every_rank():
    assert cms([1, np.inf], up_to=3).value().tolist() == [0.5, 0.5, 0.5]
    assert float(mean_reciprocal_rank([2, np.inf]).value()) == 0.25
    assert float(within_rank([2, np.inf], 2).value()) == 0.5
    assert cms([1, np.inf], up_to=2, tied=[1, 0]).value().tolist() == [0.25, 0.5]


def test_gradient_is_the_derivative():
    statistic = cms([1, 2, 2, 5], up_to=4)
    t = np.array([3.0, 2.0, 1.0, 2.0, 4.0])
    slope = statistic.gradient(t)
    for i in range(5):
        step = np.eye(5)[i] * 1e-6
        rise = statistic.function(t + step) - statistic.function(t - step)
        np.testing.assert_allclose(slope[i], rise / 2e-6, atol=1e-8)


@pytest.mark.parametrize("units", [2, 3])
def test_brr_band_has_the_textbook_variance(units):
    rng = np.random.default_rng(units)
    strata = np.repeat(np.arange(256), units)
    r = np.minimum(rng.geometric(0.3 + 0.5 * rng.uniform(size=256))[strata] + rng.integers(0, 3, len(strata)), 9)
    on = strat.brr(strat.Design.stratified(strata=strata))
    found = strat.estimate(cms(r, up_to=8), on=on)
    assert on.number == {2: 260, 3: 648}[units]
    hits = (r[:, None] <= np.arange(1, 9)).reshape(256, units, 8)
    textbook = hits.var(axis=1, ddof=1).sum(axis=0) / units / 256**2
    np.testing.assert_allclose(found.se**2, textbook, rtol=1e-9)
    low, high = found.band()
    inner_low, inner_high = found.interval()
    assert (low <= inner_low).all()
    assert (high >= inner_high).all()


def tied_table():
    s = np.array([[9, 9, 1], [2, 8, 8], [1, 2, 7], [5, 5, 5]])
    return ranks(similarity=s, probes=list("abca"), gallery=list("abc"))


def test_rules_for_ties():
    r = tied_table()
    assert [float(within_rank_of(r, 1, ties=t).value()) for t in ("pessimistic", "expected", "optimistic")] == [
        0.25,
        pytest.approx((0.5 + 0.5 + 1 + 1 / 3) / 4),
        1.0,
    ]
    assert cms_of(r, up_to=3).value().tolist() == [0.25, 0.75, 1.0]
    assert float(reciprocal_rank_of(r).value()) == pytest.approx((0.5 + 0.5 + 1 + 1 / 3) / 4)
    assert strat.estimate(cms(r), on=strat.Design.simple_random(n=4)).value[0] == 0.25


def test_curves_of_two_systems_are_paired():
    rng = np.random.default_rng(0)
    labels = np.arange(30)
    a = rng.standard_normal((60, 30)) + 2 * np.eye(30)[np.arange(60) % 30]
    b = a + 0.1 * rng.standard_normal((60, 30))
    made = {k: ranks(similarity=s, probes=np.arange(60) % 30, gallery=labels) for k, s in {"a": a, "b": b}.items()}
    curve = match_curve(made, at=[1, 5])
    gap = curve.difference("a", "b")
    assert gap.value[0] == pytest.approx(curve.of("a").value[0] - curve.of("b").value[0])
    alone = np.hypot(curve.of("a").se, curve.of("b").se)
    assert (gap.se < alone).all()
    flipped = curve.difference("b", "a")
    np.testing.assert_allclose(flipped.value, -gap.value)
    assert "rank 1" in str(curve)
    assert "design effect" in str(curve)
    ax = curve.plot(axis="relative")
    assert ax.get_xlabel().startswith("relative rank")
    assert match_curve(made["a"]).plot().get_xscale() == "log"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cms([0, 1]), "whole numbers from 1, got 0.0"),
        (lambda: cms([1.5]), "whole numbers from 1"),
        (lambda: cms([[1]]), "one rank per probe"),
        (lambda: cms([1, np.nan]), "must not be missing, got nan in row 1"),
        (lambda: cms([1], tied=[-1]), "`tied` must be counts from 0"),
        (lambda: cms([1], up_to=0), "`up_to` must be a rank"),
        (lambda: cms([1], up_to=2, at=[1]), "must not come together"),
        (lambda: cms([1], at=[2, 1]), "rising ranks"),
        (lambda: cms([1], at=[0.5]), "rising ranks"),
        (lambda: within_rank([1], 0), "`k` must be a rank"),
        (lambda: match_curve({}), "at least one system"),
        (lambda: match_curve(tied_table(), target="everybody"), "`target` must be one of"),
        (lambda: match_curve(tied_table(), method="guess"), "`method` must be one of"),
        (lambda: match_curve(tied_table(), ties="lucky"), "`ties` must be one of"),
        (lambda: match_curve(tied_table()).difference("x", "system"), "`system` must be one of"),
        (lambda: match_curve({"a": tied_table(), "b": tied_table()}).of(), "`system` must be one of"),
    ],
)
def test_errors(call, words):
    with pytest.raises(StratError, match=words):
        call()


def test_systems_with_other_probes_are_refused():
    a = tied_table()
    b = ranks(similarity=np.eye(3), probes=list("abc"), gallery=list("abc"))
    with pytest.raises(StratError, match="same probes in the same order"):
        match_curve({"a": a, "b": b})
    strangers = ranks(similarity=np.ones((2, 2)), probes=list("xy"), gallery=list("ab"), open_set=True)
    with pytest.raises(StratError, match="must have mated probes"):
        match_curve(strangers)


def test_a_failed_probe_keeps_the_end_of_the_curve_open():
    """A probe that failed is missed at every rank, also at N."""
    s = np.eye(6) + 0.1
    r = ranks(similarity=s, probes=range(6), gallery=range(6), failed_probes=[5])
    end = match_curve(r, at=[6]).of()
    assert end.value[-1] < 1
    assert end.interval()[1][-1] > end.interval()[0][-1]
