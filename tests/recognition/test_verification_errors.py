"""FMR, FNMR, EER and DET: rates as others count them, the two-way variance against brute force, errors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strat.base.errors import StratError
from strat.base.notes import codes_of, on_command_line
from strat.recognition import compare_matchers, ranks, reidentification, verification, verification_of_trials


def brute_variance(scores, rows, columns, t, triangle=False):
    """Sum of products of all pairs of non-mated comparisons that share a subject, times K (K − 1) / ((K − 2) n)²."""
    cells = [
        (scores[i, j] >= t, {rows[i], columns[j]})
        for i in range(len(rows))
        for j in range(len(columns))
        if rows[i] != columns[j] and (not triangle or j > i)
    ]
    rate = np.mean([hit for hit, _ in cells])
    total = sum((a[0] - rate) * (b[0] - rate) for a, b in itertools.product(cells, cells) if a[1] & b[1])
    k = len(set(rows) | set(columns))
    independent = rate * (1 - rate) / len(cells)
    return rate, max(total / len(cells) ** 2, independent) * k * (k - 1) / (k - 2) ** 2


@pytest.mark.parametrize("rows", [np.arange(7), np.array([0, 0, 1, 1, 2, 3, 4, 4])])
@pytest.mark.parametrize("columns", [np.arange(7), np.arange(3, 9), np.array([0, 1, 2, 3, 3, 4, 4])])
def test_two_way_variance_is_the_sum_over_pairs_that_share_a_subject(rows, columns):
    rng = np.random.default_rng(len(columns))
    effect = rng.standard_normal(9)
    scores = effect[rows][:, None] + effect[columns] + rng.standard_normal((len(rows), len(columns)))
    v = verification(similarity=scores, probes=rows, gallery=columns)
    for t in (-1.0, 0.5):
        rate, variance = brute_variance(scores, rows, columns, t)
        found = v.fmr(t)
        assert found.value == pytest.approx(rate)
        assert found.se**2 == pytest.approx(variance)


def test_a_set_against_itself_counts_each_pair_once():
    rng = np.random.default_rng(1)
    subjects = np.array([0, 0, 1, 1, 2, 2, 3, 4])
    s = rng.standard_normal((8, 8))
    s = s + s.T
    v = verification(similarity=s, probes=subjects)
    assert len(v.mated) == 3
    assert len(v.nonmated) == 25
    rate, variance = brute_variance(s, subjects, subjects, 0.3, triangle=True)
    assert v.fmr(0.3).value == pytest.approx(rate)
    assert v.fmr(0.3).se ** 2 == pytest.approx(variance)


def test_fnmr_variance_is_by_subject():
    subjects = np.repeat(np.arange(6), 3)
    rng = np.random.default_rng(2)
    s = rng.standard_normal((18, 6)) + (subjects[:, None] == np.arange(6))
    v = verification(similarity=s, probes=subjects, gallery=np.arange(6))
    miss = (s[np.arange(18), subjects] < 0.7).astype(float)
    by = [(miss[subjects == a] - miss.mean()).sum() for a in range(6)]
    assert v.fnmr(0.7).se ** 2 == pytest.approx(np.square(by).sum() / 18**2 * 6 / 5)


@given(st.integers(0, 10**6), st.integers(3, 8), st.integers(2, 6))
def test_rates_and_eer_by_counting(seed, n, levels):
    rng = np.random.default_rng(seed)
    s = rng.integers(0, levels, (n, n)).astype(float)
    v = verification(similarity=s, probes=np.arange(n), gallery=np.arange(n))
    mated, others = np.diag(s), s[~np.eye(n, dtype=bool)]
    for t in range(levels + 1):
        assert v.fmr_at(t) == pytest.approx(np.mean(others >= t))
        assert v.fnmr_below(t) == pytest.approx(np.mean(mated < t))
    for f in (0.05, 0.3, 0.9):
        t = float(v.threshold(f))
        assert np.mean(others >= t) <= f
        assert np.mean(others >= np.nextafter(t, -np.inf)) > f
    from strat.measures.score_rates import equal_error_rate

    truth = np.concatenate([np.ones(n), np.zeros(len(others))])
    both = np.concatenate([mated, others])
    if len(np.unique(both)) > 1:
        assert v.equal[0] == pytest.approx(float(equal_error_rate(truth, both).value()))


def test_distances_turn_round():
    rng = np.random.default_rng(3)
    d = rng.uniform(size=(9, 9)) + 1 - np.eye(9)
    a = verification(distance=d, probes=np.arange(9), gallery=np.arange(9))
    b = verification(similarity=-d, probes=np.arange(9), gallery=np.arange(9))
    assert a.eer().value == b.eer().value


def test_bootstrap_of_subjects_agrees():
    rng = np.random.default_rng(4)
    k = 120
    a, b = rng.standard_normal(k), rng.standard_normal(k)
    s = 0.7 * a[:, None] + 0.7 * b + rng.standard_normal((k, k)) + 4 * np.eye(k)
    v = verification(similarity=s, probes=np.arange(k), gallery=np.arange(k))
    t, rate = 2.0, []
    hits = (s >= t) & ~np.eye(k, dtype=bool)
    for _ in range(600):
        w = np.bincount(rng.integers(0, k, k), minlength=k).astype(float)
        rate.append(w @ hits @ w / (w.sum() ** 2 - w @ w))
    assert v.fmr(t).se == pytest.approx(np.std(rate), rel=0.12)
    one_sided = hits.sum(axis=1) / (k - 1)
    assert v.fmr(t).se > 1.15 * one_sided.std(ddof=1) / np.sqrt(k)


def test_failures_are_left_out():
    s = np.array([[9.0, 1, 2, 3], [1, 8, 2, np.nan], [0, 1, 7, 2], [np.nan] * 4])
    v = verification(
        similarity=s, probes=range(4), gallery=range(4), failed_probes=[3], failed_gallery=[False, False, False, True]
    )
    assert len(v.mated) == 3
    assert len(v.nonmated) == 6


def test_det_curve_draws():
    rng = np.random.default_rng(5)
    s = rng.standard_normal((40, 40)) + 2 * np.eye(40)
    v = verification(similarity=s, probes=np.arange(40), gallery=np.arange(40))
    det = v.det()
    assert (np.diff(det.estimate.value) <= 0).all()
    for axis in ("log", "probit", "roc"):
        ax = det.plot(axis=axis)
        assert "40 subjects" in ax.get_xlabel()
    assert ax.get_xlim() == (0, 1)  # a ROC is drawn to its end, with its own name
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said == ["true match rate", "95 % interval at each false match rate"]
    ticks = [t for t in det.plot(axis="probit").get_xticks() if 0.01 <= t <= 0.5]
    assert ticks[:5] == [0.01, 0.02, 0.05, 0.1, 0.2]  # there is room for more than powers of ten
    with pytest.raises(StratError, match="`axis` must be one of"):
        det.plot(axis="roq")
    assert v.det([0.1, 0.2]).estimate.value.shape == (2,)
    assert "mated and" in str(v)
    assert v.fnmr_at(0.1).value == v.fnmr_at([0.1]).value[0]


@given(st.integers(0, 10**6), st.floats(0.001, 0.999), st.sampled_from([0, 1, 8]))
def test_fnmr_at_a_rate_is_that_of_the_least_threshold_within_it(seed, fmr, digits):
    rng = np.random.default_rng(seed)
    who = np.arange(24) % 8
    v = verification(similarity=rng.standard_normal((24, 8)).round(digits), probes=who, gallery=np.arange(8))
    t = float(v.threshold(fmr))
    assert v.fnmr_at(fmr).value == pytest.approx(v.rates([t]).value[1, 0], abs=1e-12)
    assert v.fmr_at(t) <= fmr
    below = np.unique(v.nonmated)
    assert all(v.fmr_at(lower) > fmr for lower in below[below < t])


def test_no_false_match_seen_leaves_room():
    s = np.eye(10) * 5 + np.linspace(0, 1, 100).reshape(10, 10)
    v = verification(similarity=s, probes=np.arange(10), gallery=np.arange(10))
    low, high = v.fmr(3.0).interval()
    assert low == 0
    assert high > 0.1


EYE = np.eye(3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"similarity": EYE, "probes": range(3), "gallery": range(2)}, "`gallery` must name the 3 columns"),
        ({"similarity": [[1, 2], [3, 4]], "probes": range(2)}, "table that is not symmetric"),
        ({"similarity": EYE, "probes": range(3), "failed_gallery": [1]}, "`failed_gallery` must be left out"),
        ({"similarity": EYE, "probes": [0, 0, 0], "gallery": [0, 0, 0]}, "must be non-mated comparisons"),
        ({"similarity": EYE, "probes": range(3), "gallery": [7, 8, 9]}, "must be mated comparisons"),
        ({"similarity": EYE * np.nan, "probes": range(3), "gallery": range(3)}, "scores must be finite"),
        ({"similarity": EYE[:2, :2], "probes": range(2), "gallery": range(2)}, "at least three subjects"),
    ],
)
def test_bad_input(arguments, words):
    with pytest.raises(StratError, match=words):
        verification(**arguments)


def test_bad_rates():
    v = verification(similarity=EYE, probes=range(3), gallery=range(3))
    with pytest.raises(StratError, match="`fmr` must lie strictly between"):
        v.threshold(1.5)


def test_a_threshold_is_a_number():
    v = verification(similarity=np.eye(4), probes=list("abcd"), gallery=list("abcd"))
    with pytest.raises(StratError, match=r"`thresholds` must be scores, got nan"):
        v.fmr(np.nan)


def test_no_miss_at_a_fixed_fmr_leaves_the_exact_limit():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(60, 60))
    np.fill_diagonal(scores, np.maximum(np.sort(rng.normal(3, 1, 60)), 1.3))
    v = verification(similarity=scores, probes=np.arange(60), gallery=np.arange(60))
    found = v.fnmr_at([0.02, 0.15])
    assert found.value[0] > 0
    assert found.value[1] == 0
    exact = v.fnmr(float(v.threshold(0.15))).interval()
    assert exact[1] == pytest.approx(1 - 0.025 ** (1 / 60))
    assert found.interval()[1][1] == pytest.approx(exact[1])


def test_a_curve_of_few_comparisons_has_a_point():
    v = verification(similarity=np.eye(4), probes=list("abcd"), gallery=list("abcd"))
    assert v.det().fmr.tolist() == [0.5, 0.7]


def unequal(seed=6):
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(8), [9, 5, 4, 3, 2, 2, 1, 2])
    effect = rng.standard_normal(8)
    s = effect[who][:, None] + effect[who] + rng.standard_normal((len(who), len(who))) + (who[:, None] == who)
    return (s + s.T) / 2, who


@pytest.mark.parametrize("triangle", [True, False])
def test_each_subject_counts_the_same(triangle):
    s, who = unequal()
    sides = {"probes": who} if triangle else {"probes": who, "gallery": who}
    v = verification(similarity=s, **sides, average="subjects")
    pairs = np.triu(np.ones_like(s, bool), 1) if triangle else np.ones_like(s, bool)
    miss, match = {}, {}
    for a, b in itertools.product(range(8), range(8)):
        scores = s[np.outer(who == a, who == b) & pairs]
        if len(scores):
            (miss if a == b else match)[a, b] = (scores < 0.5).mean() if a == b else (scores >= 0.5).mean()
    assert v.fnmr(0.5).value == pytest.approx(np.mean(list(miss.values())))
    assert v.fmr(0.5).value == pytest.approx(np.mean(list(match.values())))
    spread = np.var(list(miss.values()), ddof=1) / len(miss)
    assert v.fnmr(0.5).se ** 2 == pytest.approx(spread)
    assert v.fnmr(0.5).df == len(miss) - 1


def test_each_subject_counts_the_same_in_the_variance_of_fmr():
    s, who = unequal(7)
    v = verification(similarity=s, probes=who, gallery=who, average="subjects")
    table = np.array([[(s[np.ix_(who == a, who == b)] >= 0.5).mean() for b in range(8)] for a in range(8)])
    one = verification(similarity=table, probes=np.arange(8), gallery=np.arange(8))
    off = ~np.eye(8, dtype=bool)
    e = np.where(off, table - table[off].mean(), 0.0)
    t = e.sum(axis=1) + e.sum(axis=0)
    expected = ((t**2).sum() - (e**2).sum() - (e * e.T).sum()) / 56**2 * 8 * 7 / 6**2
    assert v.fmr(0.5).value == pytest.approx(table[off].mean())
    assert v.fmr(0.5).se ** 2 == pytest.approx(expected)
    assert one.subjects == v.subjects


def test_a_copied_image_changes_nothing_where_subjects_count_the_same():
    rng = np.random.default_rng(8)
    effect = 1.5 * rng.standard_normal(10)
    s = rng.standard_normal((20, 10)) + np.tile(np.eye(10) + effect + effect[:, None], (2, 1))
    who = np.tile(np.arange(10), 2)
    again = np.r_[np.arange(20), 0, 10]  # both images of one subject
    kw = {"gallery": np.arange(10), "average": "subjects"}
    a = verification(similarity=s, probes=who, **kw)
    b = verification(similarity=s[again], probes=who[again], **kw)
    assert a.eer().value == pytest.approx(b.eer().value)
    assert a.fnmr_at(0.1).value == pytest.approx(b.fnmr_at(0.1).value)
    for t in (0.0, 1.0):
        assert a.fmr(t).value == pytest.approx(b.fmr(t).value)
        assert a.fmr(t).se == pytest.approx(b.fmr(t).se)
        assert a.fnmr(t).se == pytest.approx(b.fnmr(t).se)


def test_equal_subjects_count_the_same_anyway():
    rng = np.random.default_rng(9)
    who = np.repeat(np.arange(12), 3)
    s = rng.standard_normal((36, 36)) + 2 * (who[:, None] == who)
    s = s + s.T
    a, b = (verification(similarity=s, probes=who, average=average) for average in ("comparisons", "subjects"))
    for x, y in ((a.eer(), b.eer()), (a.fnmr_at(0.05), b.fnmr_at(0.05)), (a.fmr(1.0), b.fmr(1.0))):
        assert x.value == pytest.approx(y.value)
        assert x.se == pytest.approx(y.se)
        assert x.df == pytest.approx(y.df)
    assert a.rates([1.0]).deff == pytest.approx(b.rates([1.0]).deff)


def test_what_counts_is_one_of_two():
    with pytest.raises(StratError, match="`average` must be one of"):
        verification(similarity=EYE, probes=range(3), gallery=range(3), average="people")


def test_names_of_subjects_do_not_matter():
    """Neither does their order, nor a monotone change of the scores, though subjects are drawn at random."""
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(12), 3)
    s = rng.standard_normal((36, 36)) + 1.5 * (who[:, None] == who)
    s = s + s.T
    v = verification(similarity=s, probes=who)
    turned = rng.permutation(12)
    order = rng.permutation(36)
    for other in (
        verification(similarity=s, probes=turned[who]),
        verification(similarity=s[np.ix_(order, order)], probes=who[order]),
        verification(similarity=np.exp(s), probes=who),
    ):
        assert other.eer().se == pytest.approx(v.eer().se, rel=1e-12)
        assert np.asarray(other.fnmr_at([0.1, 0.02]).se) == pytest.approx(np.asarray(v.fnmr_at([0.1, 0.02]).se))


def test_a_table_of_images_with_themselves_is_refused_as_a_gallery():
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(5), 2)
    s = rng.standard_normal((10, 10))
    own = s + s.T + 9 * np.eye(10)
    for call in (verification, ranks, reidentification):
        more = {"enrolment": "images"} if call is ranks else {}
        with pytest.raises(StratError, match="each image would be its own mate"):
            call(similarity=own, probes=who, gallery=who, **more)
        call(similarity=s, probes=who, gallery=who, **more)  # other images, in the same order


def test_lists_without_subjects_are_compared_in_one_order_only():
    """Which lines are mated is all that is known of the order of a list without subjects, and it must agree."""
    rng = np.random.default_rng(6)
    mated = np.arange(400) % 4 == 0
    score = rng.standard_normal(400) + 2 * mated
    other, shorter = rng.permutation(400), np.arange(399)
    first, once_more, turned, cut = (
        verification_of_trials(similarity=score[order], mated=mated[order])
        for order in (np.arange(400), np.arange(400), other, shorter)
    )
    same = compare_matchers({"a": first, "b": once_more}).difference("a", "b", "auc")
    assert same.value == same.se == 0
    for wrong in (turned, cut):
        with pytest.raises(StratError, match="`systems` must have made the same comparisons in the same order"):
            compare_matchers({"a": first, "b": wrong})


def test_scores_the_wrong_way_round_are_noted():
    rng = np.random.default_rng(5)
    who = np.repeat(np.arange(20), 2)
    s = rng.standard_normal((40, 40)) + 3 * (who[:, None] == who)
    codes = [
        [n.code for n in verification(**{k: s}, probes=who, gallery=who).eer().notes]
        for k in ("distance", "similarity")
    ]
    assert "scores-reversed" in codes[0]
    assert "scores-reversed" not in codes[1]


def with_failures():
    """Twelve subjects, of whom one has no template as a probe and another none in the gallery."""
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((12, 12)) + 3 * np.eye(12)
    scores[3], scores[:, 7] = -9.0, -9.0
    return scores, {"probes": list("abcdefghijkl"), "gallery": list("abcdefghijkl")}


def test_images_with_one_score_throughout_are_named():
    scores, who = with_failures()
    for figure in (verification(similarity=scores, **who).eer(), ranks(similarity=scores, **who)):
        of_probes, of_gallery = (note for note in figure.notes if note.code == "templates-alike")
        assert of_probes.facts == {"n": 1, "image": "probe", "names": ("d",), "score": -9.0, "listed": False}
        assert str(of_gallery).startswith("1 gallery image ('h')")
        with on_command_line():
            assert "--failed-score -9" in of_gallery.paragraph
    named = {"failed_probes": [3], "failed_gallery": [7]}
    for figure in (verification(similarity=scores, **who, **named).eer(), ranks(similarity=scores, **who, **named)):
        assert "templates-alike" not in codes_of(figure.notes)


def test_an_image_without_a_template_is_named_in_a_table_of_own_images():
    who = np.repeat(list("abcdef"), 2)
    x = np.random.default_rng(0).standard_normal((12, 12))
    own = x + x.T
    assert "templates-alike" not in codes_of(verification(similarity=own, probes=who).eer().notes)
    own[4, :], own[:, 4] = -1.0, -1.0
    own[4, 4] = 1.0
    assert "1 probe ('c')" in " ".join(verification(similarity=own, probes=who).eer().notes)


def test_a_difference_carries_the_notes_of_both_matchers():
    scores, who = with_failures()
    other = scores + np.random.default_rng(1).standard_normal(scores.shape)
    both = {"whole": verification(similarity=other, **who), "failed": verification(similarity=scores, **who)}
    assert "templates-alike" in codes_of(compare_matchers(both).difference("whole", "failed").notes)
