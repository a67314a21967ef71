"""Ranks equal a plain double loop over float64 scores, ties, mates, failures and all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from strat.base.errors import StratError
from strat.base.limits import changed
from strat.recognition import match_curve
from strat.recognition.ranks import ranks, ranks_of_embeddings
from strat.recognition.rounding import exact_scores


def double_loop(scores, probes, gallery, entry_subject=None):
    """Above, tied, mate and best non-mate, by counting."""
    subject = gallery if entry_subject is None else entry_subject
    out = []
    for row, label in zip(scores, probes, strict=True):
        own = [s for s, g in zip(row, subject, strict=True) if g == label]
        others = [s for s, g in zip(row, subject, strict=True) if g != label]
        mate = max(own, default=np.nan)
        out.append(
            (
                sum(s > mate for s in others),
                sum(s == mate for s in others),
                mate,
                max(others, default=-np.inf),
            )
        )
    return [np.array(c) for c in zip(*out, strict=True)]


def same(r, loop):
    above, tied, mate, best = loop
    np.testing.assert_array_equal(r.above, above)
    np.testing.assert_array_equal(r.tied, tied)
    np.testing.assert_array_equal(r.mate, mate)
    np.testing.assert_array_equal(r.best_nonmate, best)


def pair_table(p, g, score):
    pairs = exact_scores(np.repeat(p, len(g), axis=0), np.tile(g, (len(p), 1)), score)
    return pairs.reshape(len(p), len(g))


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(2, 9), st.integers(1, 5))
def test_table_equals_double_loop(seed, n, size, levels):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, (n, size))
    gallery, probes = rng.permutation(size), rng.integers(0, size + 2, n)
    same(ranks(similarity=scores, probes=probes, gallery=gallery, open_set=True), double_loop(scores, probes, gallery))


@given(st.integers(0, 10**6), st.sampled_from(["best", "mean", "images"]))
def test_several_images_per_subject(seed, enrolment):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, (7, 11)).astype(float)
    gallery, probes = rng.integers(0, 5, 11), rng.integers(0, 6, 7)
    r = ranks(similarity=scores, probes=probes, gallery=gallery, open_set=True, enrolment=enrolment)
    entries = np.unique(gallery)
    reduce = {"best": lambda x: x.max(axis=1), "mean": lambda x: x.sum(axis=1) / x.shape[1]}
    if enrolment == "images":
        same(r, double_loop(scores, probes, gallery))
        assert r.gallery_size == 11
    else:
        grouped = np.column_stack([reduce[enrolment](scores[:, gallery == e]) for e in entries])
        same(r, double_loop(grouped, probes, entries))
        assert r.gallery_size == len(entries)


@pytest.mark.parametrize("score", ["cosine", "inner", "euclidean"])
@pytest.mark.parametrize("kind", ["normal", "ties", "float16", "offset", "integers"])
@pytest.mark.parametrize("enrolment", ["single", "best", "images"])
@changed(probes_at_once=32, entries_at_once=40, pending_comparisons=50)
def test_embeddings_equal_double_loop(score, kind, enrolment):
    rng = np.random.default_rng(7)
    p, g = rng.standard_normal((70, 33)), rng.standard_normal((101, 33))
    if kind == "ties":  # copies of vectors, and copies that differ in the last bits
        g[50:] = g[rng.integers(0, 20, 51)] * (1 + np.round(rng.uniform(0, 2, (51, 1))) * 2.0**-50)
        p = g[rng.integers(0, 101, 70)] + 0.1 * rng.standard_normal((70, 33))
    if kind == "float16":
        p, g = p.astype(np.float16), g.astype(np.float16)
    if kind == "offset":
        p, g = p + 1000, g + 1000
    if kind == "integers":
        p, g = rng.integers(0, 3, (70, 33)), rng.integers(0, 3, (101, 33))
    gallery = np.arange(101) if enrolment == "single" else rng.integers(0, 40, 101)
    probes = rng.integers(0, 110 if enrolment == "single" else 45, 70)
    r = ranks_of_embeddings(
        p, g, probe_subjects=probes, gallery_subjects=gallery, score=score, open_set=True, enrolment=enrolment
    )
    scores = pair_table(p.astype(float), g.astype(float), score)
    entries = None
    if enrolment == "best":
        entries = np.unique(gallery)
        scores = np.column_stack([scores[:, gallery == e].max(axis=1) for e in entries])
    same(r, double_loop(scores, probes, gallery, entries))
    if kind == "ties" and enrolment == "single":
        assert r.rechecked > 0


def test_two_steps_on_many_probes_equal_float64():
    rng = np.random.default_rng(1)
    p, g = rng.standard_normal((1500, 64)), rng.standard_normal((4100, 64))
    probes = rng.integers(0, 4100, 1500)
    r = ranks_of_embeddings(
        p.astype("f4"), g.astype("f4"), probe_subjects=probes, gallery_subjects=np.arange(4100), score="inner"
    )
    p, g = p.astype("f4").astype(float), g.astype("f4").astype(float)
    scores = p @ g.T
    mate = scores[np.arange(1500), probes]
    assert r.rechecked > 0
    np.testing.assert_array_equal(r.above, (scores > mate[:, None]).sum(axis=1))
    np.testing.assert_allclose(r.mate, mate, rtol=1e-9)


@pytest.mark.parametrize("score", ["l1", "mahalanobis"])
def test_other_scores(score):
    rng = np.random.default_rng(2)
    p, g = rng.standard_normal((30, 5)), rng.standard_normal((40, 5))
    probes = rng.integers(0, 40, 30)
    r = ranks_of_embeddings(p, g, probe_subjects=probes, gallery_subjects=np.arange(40), score=score)
    if score == "l1":
        scores = -cdist(p, g, "cityblock")
    else:
        scores = -cdist(p, g, "mahalanobis", VI=np.linalg.inv(np.cov(g.T)))
    np.testing.assert_array_equal(r.above, (scores > scores[np.arange(30), probes][:, None]).sum(axis=1))
    np.testing.assert_allclose(r.mate, scores[np.arange(30), probes], rtol=1e-10)


def test_mean_enrolment_of_vectors_is_the_mean_score_for_inner_products():
    rng = np.random.default_rng(3)
    p, g, gallery = rng.standard_normal((9, 4)), rng.standard_normal((12, 4)), np.repeat(np.arange(4), 3)
    of_vectors = ranks_of_embeddings(
        p, g, probe_subjects=np.arange(9) % 4, gallery_subjects=gallery, score="inner", enrolment="mean"
    )
    of_scores = ranks(similarity=p @ g.T, probes=np.arange(9) % 4, gallery=gallery, enrolment="mean")
    np.testing.assert_array_equal(of_vectors.above, of_scores.above)
    np.testing.assert_allclose(of_vectors.mate, of_scores.mate, rtol=1e-9)


def test_distance_is_similarity_turned_round():
    rng = np.random.default_rng(4)
    d = rng.uniform(size=(6, 6)) + 1 - np.eye(6)
    a = ranks(distance=d, probes=range(6), gallery=range(6))
    b = ranks(similarity=-d, probes=range(6), gallery=range(6))
    np.testing.assert_array_equal(a.rank(), b.rank())
    np.testing.assert_array_equal(a.mate, -np.diag(d))


def test_constant_matcher_is_no_better_than_chance():
    r = ranks(similarity=np.ones((5, 5)), probes=range(5), gallery=range(5))
    assert (r.rank() == 5).all()
    assert (r.rank("optimistic") == 1).all()
    assert r.tied_probes == 5
    e = ranks_of_embeddings(
        np.full((5, 3), 0.1), np.full((5, 3), 0.1), probe_subjects=range(5), gallery_subjects=range(5), score="cosine"
    )
    assert (e.rank() == 5).all()


def test_one_probe_counts_once_with_several_mates():
    # two probes, one with mates at places 1 and 2, the other at place 5 of 5
    scores = [[9, 8, 7, 6, 5], [9, 8, 7, 6, 5]]
    r = ranks(similarity=scores, probes=["a", "b"], gallery=["a", "a", "x", "y", "b"], enrolment="images")
    assert r.rank().tolist() == [1.0, 5.0]


def test_failures_miss_at_every_rank_or_are_left_out():
    scores = np.array([[9.0, 2, 1], [1, 8, np.nan], [np.nan, np.nan, np.nan], [3, 2, 5]])
    given = {
        "similarity": scores,
        "probes": list("abcc"),
        "gallery": list("abc"),
        "failed_probes": [2],
        "failed_gallery": [2],
    }
    r = ranks(**given)
    assert r.rank().tolist() == [1, 1, np.inf, np.inf]
    assert r.failed.tolist() == [False, False, True, True]
    assert r.gallery_size == 2
    assert r.best_nonmate.tolist() == [2, 1, -np.inf, 3]
    left = ranks(**given, failures="leave out")
    assert left.rows.tolist() == [0, 1]
    open_ = ranks(
        similarity=scores,
        probes=list("abxc"),
        gallery=list("abc"),
        failed_probes=[False, False, True, False],
        failed_gallery=[2],
        open_set=True,
    )
    assert open_.mated.tolist() == [True, True, False, True]
    assert np.isnan(open_.rank()[2])


def test_blocks_and_threads_do_not_matter():
    rng = np.random.default_rng(5)
    scores = rng.integers(0, 9, (50, 20))
    given = {"similarity": scores, "probes": np.arange(50) % 20, "gallery": np.arange(20)}
    whole = ranks(**given, threads=1)
    with changed(scores_at_once=60):
        parts = ranks(**given, threads=3, progress=True)
    np.testing.assert_array_equal(whole.above, parts.above)
    np.testing.assert_array_equal(whole.best_nonmate, parts.best_nonmate)


def test_memory_mapped_table(tmp_path):
    scores = np.random.default_rng(6).standard_normal((8, 8)).astype("f4")
    np.save(tmp_path / "s.npy", scores)
    mapped = np.load(tmp_path / "s.npy", mmap_mode="r")
    a = ranks(similarity=mapped, probes=range(8), gallery=range(8))
    b = ranks(similarity=scores, probes=range(8), gallery=range(8))
    np.testing.assert_array_equal(a.above, b.above)


GOOD = {"probes": ["a", "b"], "gallery": ["a", "b"]}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (dict(**GOOD), "exactly one of `similarity`.*got neither"),
        (dict(similarity=np.eye(2), distance=np.eye(2), **GOOD), "got both"),
        (dict(similarity=np.eye(3), **GOOD), "probes × gallery, here 2 × 2, got 3 × 3"),
        (dict(similarity=[["x"]], **GOOD), "`similarity` must be a table of numbers"),
        ({"similarity": np.eye(2), "probes": ["a", "c"], "gallery": ["a", "b"]}, "closed set.*'c'.*open_set=True"),
        (
            {"similarity": np.eye(2), "probes": ["a", "b"], "gallery": ["a", "a"], "open_set": True},
            "'a' more than once",
        ),
        (
            {"similarity": np.eye(2), "probes": [1, 2], "gallery": ["a", "b"], "open_set": True},
            "labels of the same type",
        ),
        (dict(similarity=[[1, np.nan], [0, 1]], **GOOD), "finite, got nan for probe 0 and gallery image 1"),
        (dict(similarity=np.eye(2), enrolment="worst", **GOOD), "`enrolment` must be one of"),
        (dict(similarity=np.eye(2), failures="ignore", **GOOD), "`failures` must be one of"),
        (dict(similarity=np.eye(2), failed_probes=[5], **GOOD), "`failed_probes` must be a truth value"),
        (dict(similarity=np.eye(2), failed_probes=[0, 1], **GOOD), "leave at least one probe"),
        (dict(similarity=np.eye(2), failed_gallery=[0, 1], **GOOD), "leave at least one entry"),
    ],
)
def test_bad_tables(arguments, words):
    with pytest.raises(StratError, match=words):
        ranks(**arguments)


@pytest.mark.parametrize(
    ("probes", "gallery", "more", "words"),
    [
        (np.ones((2, 3)), np.ones((2, 4)), {}, "same length, got 3 and 4"),
        (np.zeros((2, 3)), np.ones((2, 3)), {}, "`probes` must not have zero vectors under cosine.*row 0"),
        (np.full((2, 3), np.nan), np.ones((2, 3)), {}, "`probes` must be finite"),
        (np.ones((3, 3)), np.ones((2, 3)), {}, "`probes` must have one row for each of the 2 labels"),
        (np.array([["a"], ["b"]]), np.ones((2, 1)), {}, "`probes` must be numbers"),
        (np.ones((2, 0)), np.ones((2, 0)), {}, "at least one row and one column"),
        (np.ones((2, 3)), np.ones((2, 3)), {"covariance": np.eye(3)}, "belongs to score='mahalanobis'"),
        (np.ones((2, 3)), np.ones((2, 3)), {"score": "mahalanobis"}, "must be given when the gallery has no more"),
        (
            np.ones((2, 3)),
            np.ones((2, 3)),
            {"score": "mahalanobis", "covariance": np.eye(2)},
            "symmetric 3 × 3 matrix",
        ),
        (
            np.ones((2, 3)),
            np.ones((2, 3)),
            {"score": "mahalanobis", "covariance": np.ones((3, 3))},
            "positive definite",
        ),
        (np.ones((2, 3)), np.ones((2, 3)), {"score": "manhattan"}, "`score` must be one of"),
    ],
)
def test_bad_embeddings(probes, gallery, more, words):
    with pytest.raises(StratError, match=words):
        ranks_of_embeddings(
            probes, gallery, **{"probe_subjects": [0, 1], "gallery_subjects": [0, 1], "score": "cosine"} | more
        )


def test_bad_tie_rule():
    with pytest.raises(StratError, match="`ties` must be one of"):
        ranks(similarity=np.eye(2), **GOOD).rank("lucky")


def test_similarity_given_as_distance_is_noted():
    reversed_ = ranks(distance=np.eye(20), probes=range(20), gallery=range(20))
    (note,) = reversed_.notes
    assert note.code == "scores-reversed"
    assert (note.facts["given"], note.facts["other"]) == ("distance", "similarity")
    assert f"note: {note}" in str(reversed_)
    assert note in match_curve(reversed_, up_to=2).estimate.notes
    assert ranks(similarity=np.eye(20), probes=range(20), gallery=range(20)).notes == ()


@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from(["euclidean", "inner", "l1"]))
def test_whole_vectors_tie_where_their_distances_do(seed, features, score):
    """Few whole numbers make many equal distances whose square roots are not whole."""
    rng = np.random.default_rng(seed)
    p, g = (rng.integers(-3, 4, (n, features)).astype(float) for n in (12, 15))
    probes, gallery = rng.integers(0, 9, 12), rng.integers(0, 8, 15)
    found = ranks_of_embeddings(
        p, g, probe_subjects=probes, gallery_subjects=gallery, score=score, enrolment="images", open_set=True
    )
    table = -cdist(p, g, "cityblock") if score == "l1" else pair_table(p, g, score)
    same(found, double_loop(table, probes, gallery))


def test_mean_enrolment_of_vectors_that_cancel_out():
    with pytest.raises(StratError, match=r"`enrolment` must not be 'mean' .* 1 such subjects in `gallery`"):
        ranks_of_embeddings(
            np.ones((1, 2)),
            np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, 2.0]]),
            probe_subjects=["a"],
            gallery_subjects=["a", "a", "b"],
            score="cosine",
            enrolment="mean",
        )
