"""AUC, detection costs, Cllr, TAR at FAR: against own brute force and pyeer; their variance and paired differences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strat.base.errors import StratError
from strat.base.notes import codes_of
from strat.recognition import (
    Cost,
    compare_matchers,
    compare_open_sets,
    linked_subjects,
    open_set,
    ranks,
    verification,
    verification_of_embeddings,
    verification_of_trials,
)
from strat.recognition import measures as m
from strat.recognition.two_way import moved, sums_of

MEASURES = [
    ("eer", None),
    ("auc", None),
    ("cllr", None),
    ("min_cllr", None),
    ("zero_fmr", None),
    ("fnmr_at", 0.2),
    ("tar_at", 0.2),
    ("fmr", 0.6),
    ("fnmr", 0.6),
    ("min_dcf", Cost(0.3, 2.0, 1.0)),
    ("act_dcf", Cost(0.3, 2.0, 1.0)),
]


def scores(seed, subjects=9, images=3, digits=None, shift=1.5):
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(subjects), images)
    effect = rng.standard_normal(subjects)
    s = 0.6 * (effect[who][:, None] + effect[who]) + rng.standard_normal((len(who), len(who)))
    s = (s + s.T) / 2 + shift * (who[:, None] == who)
    return (s if digits is None else s.round(digits)), who


def flat(s, who):
    i, j = np.triu_indices(len(who), 1)
    return s[i, j], who[i], who[j]


def brute(mated, others, name, at):
    """The measure by its definition, every threshold tried one by one."""
    thresholds = [*np.unique(np.concatenate([mated, others])), np.inf]
    fnmr = lambda t: np.mean(mated < t)  # noqa: E731
    fmr = lambda t: np.mean(others >= t)  # noqa: E731
    if name == "auc":
        return np.mean([(a > b) + 0.5 * (a == b) for a, b in itertools.product(mated, others)])
    if name == "cllr":
        return (np.mean(np.log2(1 + np.exp(-mated))) + np.mean(np.log2(1 + np.exp(others)))) / 2
    if name == "zero_fmr":
        return np.mean(mated <= others.max())
    if name in ("fnmr_at", "tar_at"):
        rate = min(fnmr(t) for t in [*thresholds, *(np.nextafter(t, np.inf) for t in thresholds)] if fmr(t) <= at)
        return rate if name == "fnmr_at" else 1 - rate
    if name in ("fmr", "fnmr"):
        return {"fmr": fmr, "fnmr": fnmr}[name](at)
    if name in ("min_dcf", "act_dcf"):
        miss, false = at.c_miss * at.p_target, at.c_fa * (1 - at.p_target)
        tried = thresholds if name == "min_dcf" else [np.log(false / miss)]
        return min(miss * fnmr(t) + false * fmr(t) for t in tried) / min(miss, false)
    raise AssertionError(name)


@given(st.integers(0, 10**6), st.sampled_from([0, 1, None]), st.sampled_from(MEASURES))
def test_values_are_those_of_the_definition(seed, digits, measure):
    name, at = measure
    s, who = scores(seed, 6, 2, digits)
    x, a, b = flat(s, who)
    v = verification(similarity=s, probes=who)
    if name in ("eer", "min_cllr"):
        return
    assert v.measure(name, at).value == pytest.approx(brute(x[a == b], x[a != b], name, at), abs=1e-12)


@given(st.integers(0, 10**6), st.sampled_from([0, 1, None]))
def test_minimum_cllr_is_that_of_the_best_monotone_calibration(seed, digits):
    s, who = scores(seed, 5, 2, digits)
    x, a, b = flat(s, who)
    mated, others = x[a == b], x[a != b]
    # every cut of the sorted distinct scores into blocks whose posteriors rise: the least cost is the minimum
    distinct = np.unique(x)
    if len(distinct) > 9:
        distinct = np.quantile(distinct, np.linspace(0, 1, 9), method="nearest")
        mated, others = (distinct[np.searchsorted(distinct, y, side="right") - 1] for y in (mated, others))
        distinct = np.unique(distinct)
    w = np.array([[np.mean(mated == d), np.mean(others == d)] for d in distinct])
    best = np.inf
    for cuts in itertools.product([0, 1], repeat=len(distinct) - 1):
        blocks = np.split(w, np.flatnonzero(cuts) + 1)
        total = np.array([block.sum(axis=0) for block in blocks])
        p = total[:, 0] / total.sum(axis=1)
        if (np.diff(p) < 0).any():
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            cost = np.nansum(-total[:, 0] * np.log2(p)) + np.nansum(-total[:, 1] * np.log2(1 - p))
        best = min(best, cost / 2)
    trials = np.concatenate([mated, others])
    v = verification_of_trials(similarity=trials, mated=np.arange(len(trials)) < len(mated))
    assert v.min_cllr().value == pytest.approx(best, abs=1e-12)
    assert v.min_cllr().value <= v.cllr().value + 1e-12
    assert v.min_cllr().value <= 1 + 1e-12


def test_pyeer_has_the_same_values():
    """EER between its low and high, FMR100, FMR1000, ZeroFMR and AUC of pyeer 0.5.6."""
    pyeer = pytest.importorskip("pyeer.eer_info")
    rng = np.random.default_rng(5)
    genuine, impostor = rng.normal(2.5, 1, 3000), rng.normal(0, 1, 20_000)
    stats = pyeer.get_eer_stats(genuine, impostor)
    both = np.concatenate([genuine, impostor])
    v = verification_of_trials(similarity=both, mated=np.arange(len(both)) < len(genuine))
    assert stats.eer_low - 1e-9 <= v.eer().value <= stats.eer_high + 1e-9
    assert v.auc().value == pytest.approx(stats.auc, abs=1e-6)
    assert v.zero_fmr().value == pytest.approx(stats.fmr0, abs=1e-12)
    assert v.fnmr_at(0.01).value == pytest.approx(stats.fmr100, abs=1.5 / len(genuine))
    assert v.fnmr_at(0.001).value == pytest.approx(stats.fmr1000, abs=1.5 / len(genuine))


def two_way_by_pairs(x, a, b, functional):
    """Sum of products of the contributions of all pairs of comparisons that share a subject, with the corrections."""
    k, mated = len(set(a) | set(b)), a == b
    u = np.zeros(len(x))
    u[mated] = functional.mated(x[mated]) / mated.sum()
    u[~mated] = functional.nonmated(x[~mated]) / (~mated).sum()
    share = np.array([np.sum(mated & (a == s)) for s in range(k)]) / mated.sum()
    own = 1 / np.sqrt(1 - share)
    u[mated] *= own[a[mated]]
    u[~mated] *= np.sqrt(k * (k - 1)) / (k - 2)
    shares = [{p, q} for p, q in zip(a, b, strict=True)]
    total = sum(u[i] * u[j] for i, j in itertools.product(range(len(u)), repeat=2) if shares[i] & shares[j])
    least = sum(u[mated & (a == s)].sum() ** 2 for s in range(k)) + np.sum(u[~mated] ** 2)
    return max(total, least)  # never less than if non-mated comparisons were independent


@pytest.mark.parametrize(("name", "at"), MEASURES)
def test_the_variance_is_the_sum_over_comparisons_that_share_a_subject(name, at):
    s, who = scores(3, 7, 2)
    x, a, b = flat(s, who)
    v = verification(similarity=s, probes=who)
    f = m.functional(v, name, at)
    expected = two_way_by_pairs(x, a, b, f)
    sums = sums_of([v.comparisons], [[(0, 1.0, f)]])
    assert moved(v.comparisons, sums).variance[0] == pytest.approx(expected, rel=1e-9)
    for values in (f.mated(x[a == b]), f.nonmated(x[a != b])):
        assert values.mean() == pytest.approx(0, abs=1e-9)  # contributions are centred


@pytest.mark.parametrize("average", ["comparisons", "subjects"])
@pytest.mark.parametrize(("name", "at"), MEASURES)
def test_a_list_of_all_pairs_is_the_table(name, at, average):
    s, who = scores(4, 8, 3)
    x, a, b = flat(s, who)
    order = np.random.default_rng(1).permutation(len(x))
    swap = np.random.default_rng(2).random(len(x)) < 0.5
    first, second = np.where(swap, b, a)[order], np.where(swap, a, b)[order]
    table = verification(similarity=s, probes=who, average=average).measure(name, at)
    listed = verification_of_trials(similarity=x[order], probes=first, gallery=second, average=average)
    found = listed.measure(name, at)
    assert found.value == pytest.approx(table.value, abs=1e-12)
    assert found.se == pytest.approx(table.se, rel=1e-9)
    assert found.df == pytest.approx(table.df)


def test_an_incomplete_table_has_the_rates_of_the_pairs_that_were_compared():
    s, who = scores(5, 8, 3)
    keep = np.triu(np.random.default_rng(0).random(s.shape) < 0.4, 1)
    s = np.where(keep | keep.T, s, np.nan)
    v = verification(similarity=s, probes=who, missing="not compared")
    i, j = np.nonzero(np.triu(~np.isnan(s), 1))
    listed = verification_of_trials(similarity=s[i, j], probes=who[i], gallery=who[j])
    assert len(v.mated) + len(v.nonmated) == len(i)
    assert str(v) == str(listed)
    with pytest.raises(StratError, match="missing='not compared'"):
        verification(similarity=s, probes=who, gallery=who)
    with pytest.raises(StratError, match="`missing` must be one of"):
        verification(similarity=s, probes=who, missing="none")


def test_scores_without_subjects_are_independent_and_say_so():
    rng = np.random.default_rng(6)
    genuine, impostor = rng.normal(1, 1, 400), rng.normal(-1, 1, 3000)
    both = np.concatenate([genuine, impostor])
    v = verification_of_trials(similarity=both, mated=np.arange(len(both)) < 400)
    p, q = np.mean(genuine < 0), np.mean(impostor >= 0)
    assert v.fnmr(0).se == pytest.approx(np.sqrt(p * (1 - p) / 399))
    assert v.fmr(0).se == pytest.approx(np.sqrt(q * (1 - q) / 2999))
    assert v.fmr(0).notes[-1].code == "no-subjects"
    for estimate in (v.eer(), v.auc(), v.fnmr_at([0.1, 0.01])):
        assert "no-subjects" in codes_of(estimate.notes)
    # the joint errors of several rates are those of each comparison on its own line
    curve = v.rates([-0.5, 0.0, 0.5])
    line = np.stack([(impostor >= t) - np.mean(impostor >= t) for t in (-0.5, 0.0, 0.5)]) / 3000
    np.testing.assert_allclose(curve.covariance[:3, :3], line @ line.T * 3000 / 2999, rtol=1e-9)


@pytest.mark.parametrize(("name", "at"), MEASURES)
def test_differences_are_paired(name, at):
    s, who = scores(7, 7, 2)
    r = s + 0.3 * np.random.default_rng(3).standard_normal(s.shape)
    r = (r + r.T) / 2
    v, w = (verification(similarity=x, probes=who) for x in (s, r))
    both = compare_matchers({"A": v, "B": w})
    gap, back = both.difference("A", "B", name, at), both.difference("B", "A", name, at)
    assert gap.value == pytest.approx(v.measure(name, at).value - w.measure(name, at).value)
    assert back.value == pytest.approx(-gap.value)
    assert gap.name == f"{m.functional(v, name, at).name}, A − B"
    assert back.se == pytest.approx(gap.se)
    f, g = m.functional(v, name, at), m.functional(w, name, at)
    (x, a, b), (y, _, _) = flat(s, who), flat(r, who)
    joint = m.Functional(
        "", 0.0, lambda i: f.mated(x[i]) - g.mated(y[i]), lambda i: f.nonmated(x[i]) - g.nonmated(y[i])
    )
    lines = np.arange(len(x))
    assert gap.se**2 == pytest.approx(two_way_by_pairs(lines, a, b, joint), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "at", "off"),
    [("eer", None, 0.1), ("auc", None, 0.1), ("min_dcf", Cost(0.3), 0.1), ("fnmr_at", 0.1, 0.3)],
)
def test_differences_vary_as_a_bootstrap_of_subjects_says(name, at, off):
    """Where a threshold moves with the data, the bootstrap of 60 subjects is rough."""
    s, who = scores(8, 60, 3)
    r = s + 0.8 * np.random.default_rng(4).standard_normal(s.shape)
    r = (r + r.T) / 2
    gap = compare_matchers({n: verification(similarity=x, probes=who) for n, x in (("A", s), ("B", r))})
    rng, gaps = np.random.default_rng(5), []
    for _ in range(120):
        drawn = rng.integers(0, 60, 60)
        rows = np.concatenate([np.flatnonzero(who == a) for a in drawn])
        labels = np.repeat(np.arange(60), 3)
        i, j = np.triu_indices(len(rows), 1)
        own = (who[rows[i]] == who[rows[j]]) & (labels[i] != labels[j])  # a subject drawn twice is not a stranger
        i, j = i[~own], j[~own]
        pair = [
            verification_of_trials(similarity=x[rows[i], rows[j]], probes=labels[i], gallery=labels[j]) for x in (s, r)
        ]
        gaps.append(np.subtract(*(m.functional(v, name, at).value for v in pair)))
    assert gap.difference("A", "B", name, at).se == pytest.approx(np.std(gaps), rel=off)


def test_det_difference_has_a_band_and_pictures():
    s, who = scores(9, 30, 3)
    r = s + 0.8 * np.random.default_rng(4).standard_normal(s.shape)
    both = compare_matchers({"A": verification(similarity=s, probes=who),
                             "B": verification(similarity=(r + r.T) / 2, probes=who)})  # fmt: skip
    gap = both.det_difference("A", "B", [0.3, 0.1, 0.05])
    assert gap.axes[0].labels == (0.05, 0.1, 0.3)
    for k, rate in enumerate(gap.axes[0].labels):
        single = both.difference("A", "B", "fnmr_at", rate)
        assert (gap.value[k], gap.se[k]) == pytest.approx((single.value, single.se))
    low, high = gap.band()
    inner = gap.interval()
    assert (low <= inner[0]).all()
    assert (high >= inner[1]).all()
    assert both.plot().get_legend() is not None
    assert both.plot_difference("A", "B").get_ylabel() == "difference of false non-match rates"
    table = both.to_dict(fmr=[0.1])
    assert table["system"] == ["A", "A", "B", "B", "A − B", "A − B"]
    assert table["statistic"][-1] == "FNMR at FMR 0.1"
    assert np.isnan(table["pvalue"][0])
    assert 0 <= table["pvalue"][-1] <= 1
    same = compare_matchers({"A": both.systems["A"], "B": both.systems["A"]}).difference("A", "B")
    assert (same.value, same.se) == (0, 0)
    assert same.notes[-1].code == "no-variation"
    assert "A − B" in str(both)


def test_open_sets_are_compared_on_the_same_searches():
    rng = np.random.default_rng(10)
    who, gallery = np.repeat(np.arange(80), 2), np.arange(50)
    base = rng.standard_normal((160, 50)) + 2.5 * (who[:, None] == gallery)
    made = [
        open_set(ranks(similarity=base + noise * rng.standard_normal(base.shape), probes=who, gallery=gallery,
                       open_set=True), max_rank=5)
        for noise in (0.0, 1.0)
    ]  # fmt: skip
    both = compare_open_sets({"A": made[0], "B": made[1]})
    gap = both.difference("A", "B", [0.3, 0.1])
    alone = [o.fnir_at([0.3, 0.1]) for o in made]
    np.testing.assert_allclose(gap.value, alone[0].value - alone[1].value)
    unpaired = np.sqrt(sum(np.asarray(e.variance) for e in alone))
    assert (gap.se < unpaired).all()  # the same probes: what is hard for one is hard for the other
    np.testing.assert_allclose(both.difference("B", "A", [0.3, 0.1]).value, -gap.value)
    at = both.difference_at("A", "B", 2.0, threshold_b=2.5)
    rates = [o.rates([t]) for o, t in zip(made, (2.0, 2.5), strict=True)]
    for rate in ("FPIR", "FNIR"):
        one, other = (e.at(rate, t) for e, t in zip(rates, (2.0, 2.5), strict=True))
        assert at.at(rate).value == pytest.approx(one.value - other.value)
        assert 0 < at.at(rate).se < 1.3 * np.hypot(one.se, other.se)
    assert both.difference_at("A", "A", 2.0).value.tolist() == [0, 0]
    with pytest.raises(StratError, match="`a` and `b` must be among 'A', 'B', got 'C'"):
        both.difference_at("A", "C", 2.0)
    assert "N = 50, R = 5" in str(both)
    assert both.plot().get_legend() is not None
    with pytest.raises(StratError, match="same searches with the same N and R"):
        compare_open_sets({"A": made[0], "B": open_set(ranks(
            similarity=base, probes=who, gallery=gallery, open_set=True), max_rank=1)})  # fmt: skip
    with pytest.raises(StratError, match="must be among"):
        both.difference("A", "C", [0.1])


def test_embeddings_are_compared_all_with_all():
    rng = np.random.default_rng(11)
    who = np.repeat(np.arange(12), 3)
    x = rng.standard_normal((12, 6))[who] + 0.7 * rng.standard_normal((36, 6))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    cosine = verification_of_embeddings(x, probe_subjects=who)
    assert cosine.eer().value == pytest.approx(verification(similarity=unit @ unit.T, probes=who).eer().value)
    d = np.linalg.norm(x[:, None] - x[None], axis=2)
    far = verification_of_embeddings(x, probe_subjects=who, score="euclidean")
    np.testing.assert_allclose(far.mated, np.sort(-d[np.triu(who[:, None] == who, 1)]), atol=1e-7)
    first = np.arange(36) % 3 == 0
    l1 = verification_of_embeddings(
        x[first], x[~first], probe_subjects=who[first], gallery_subjects=who[~first], score="l1"
    )
    assert (len(l1.mated), len(l1.nonmated)) == (24, 12 * 24 - 24)
    with pytest.raises(StratError, match="`gallery` and `gallery_subjects` must come together"):
        verification_of_embeddings(x, x, probe_subjects=who)


def test_subjects_are_linked_by_mated_trials():
    a, b = linked_subjects([1, 1, 0, 0], ["m1", "m1", "m1", "m2"], ["s1", "s2", "s3", "s1"])
    assert a[0] == a[1] == b[0] == b[1]
    assert len({a[0], b[2], a[3]}) == 3
    with pytest.raises(StratError, match="must not contradict itself"):
        linked_subjects([1, 1, 0], ["x", "y", "x"], ["y", "z", "z"])


def test_a_cost_knows_its_threshold_and_refuses_nonsense():
    cost = Cost(0.05, 10.0, 1.0)
    assert cost.threshold == pytest.approx(np.log(0.95 / 0.5))
    assert str(cost) == "P_target 0.05, C_miss 10, C_fa 1"
    for bad in ({"p_target": 1.0}, {"c_miss": 0}, {"c_fa": "x"}, {"p_target": True}):
        with pytest.raises(StratError, match=f"`{next(iter(bad))}` must be"):
            Cost(**bad)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda v: v.measure("aer"), "`name` must be one of"),
        (lambda v: v.measure("eer", 0.1), "`at` must be left out"),
        (lambda v: v.measure("fnmr_at"), "`at` must be a false match rate"),
        (lambda v: v.measure("fmr"), "`at` must be a threshold"),
        (lambda v: v.measure("min_dcf", 0.1), "`at` must be a Cost"),
        (lambda v: compare_matchers({"A": v}), "must name two Verification results or more"),
        (lambda v: compare_matchers({"A": v, "B": v}).difference("A", "C"), "must be among"),
        (lambda v: compare_matchers({"A": v, "B": v}).difference("A", "B", at_b=2.0), "`at_b` must be left out"),
        (
            lambda v: compare_matchers({"A": v, "B": verification(similarity=np.eye(4), probes=range(4),
                                                                  gallery=range(4))}),
            "must have made the same comparisons",
        ),
    ],
)  # fmt: skip
def test_questions_that_have_no_answer(call, words):
    s, who = scores(12, 5, 2)
    with pytest.raises(StratError, match=words):
        call(verification(similarity=s, probes=who))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"mated": [1, 0]}, "exactly one of `similarity`"),
        ({"similarity": [1.0, 2.0]}, "`mated` must say"),
        ({"similarity": [1.0, 2.0], "mated": [1, 3]}, "`mated` must be true or false"),
        ({"similarity": [1.0, 2.0], "mated": [1, 0], "average": "subjects"}, "`average` must be 'comparisons'"),
        ({"similarity": [1.0, 2.0], "probes": ["a", "b"]}, "must come together"),
        ({"similarity": [1.0, 2.0], "probes": ["a", "b"], "gallery": ["a", "c"], "mated": [0, 0]}, "just where"),
    ],
)
def test_lists_that_are_refused(arguments, words):
    with pytest.raises(StratError, match=words):
        verification_of_trials(**arguments)
