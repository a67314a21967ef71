"""Sets, arrays of images, score files and candidate lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strat.base.errors import StratError
from strat.recognition import ImageArray, candidates, image_array, ranks, read_matrix, read_triples, representation


def test_representation_says_what_holds():
    r = representation(list("abc"), list("cab"), gallery_images=[1, 2, 3], probe_images=[4, 5, 6])
    assert r.equally
    assert r.fully == (True, True)
    assert r.uniquely == (True, True)
    shared = representation(list("abc"), list("cab"), gallery_images=[1, 2, 3], probe_images=[3, 5, 6])
    assert not shared.equally
    assert "in both sets: 3" in str(shared)
    more = representation(list("aab"), list("ab"), classes=list("abc"))
    assert more.fully == (False, False)
    assert more.uniquely == (False, True)


@given(st.integers(3, 40), st.integers(2, 5))
def test_mixing_gives_each_column_an_equal_share(subjects, n):
    array = ImageArray(np.arange(subjects * n).reshape(subjects, n), np.arange(subjects))
    mixed = array.mixed()
    np.testing.assert_array_equal(np.sort(mixed.rows, axis=1), array.rows)
    original = mixed.rows % n
    counts = np.array([np.bincount(original[:, j], minlength=n) for j in range(n)])
    assert counts.max() - counts.min() <= 1


def test_permutation_keeps_each_subject_its_images():
    array = image_array(np.repeat(np.arange(9), 4), per_subject=4)
    np.testing.assert_array_equal(np.sort(array.permuted(1).rows, axis=1), array.rows)
    assert array.probes(1).tolist()[:3] == [0, 2, 3]
    assert array.without(0).shape == (9, 3)


def test_images_are_ordered_by_their_number():
    array = image_array([*list("aab"[::-1]), "b"], per_subject=2, images=[2, 9, 1, 1])
    assert array.rows.tolist() == [[2, 1], [3, 0]]


def test_images_are_chosen_by_name_and_carry_their_kinds_through_every_order():
    rng = np.random.default_rng(3)
    who, name = np.repeat(np.arange(30), 5), np.tile([4, 1, 7, 9, 2], 30)
    shuffled = rng.permutation(150)
    who, name = who[shuffled], name[shuffled]
    array = image_array(who, images=name, only=[7, 1, 2], kinds=10 * name)
    assert (name[array.rows] == [7, 1, 2]).all()
    assert (who[array.rows] == array.subjects[:, None]).all()
    for other in (array, array.mixed(), array.permuted(5), array.without(1)):
        np.testing.assert_array_equal(other.kinds, 10 * name[other.rows])
    np.testing.assert_array_equal(array.permuted(5).rows, np.random.default_rng(5).permuted(array.rows, axis=1))
    some = (who != 4) | (name != 2)  # one subject lacks an image
    fewer = image_array(who[some], images=name[some], only=[7, 1, 2], fewer="leave out")
    assert fewer.subjects.tolist() == [k for k in range(30) if k != 4]


def test_matrix_files(tmp_path):
    s = np.arange(9.0).reshape(3, 3)
    np.savez(tmp_path / "a.npz", face=s, subject=np.array([4, 5, 6]))
    table = read_matrix(tmp_path / "a.npz")
    assert table.probes.tolist() == [4, 5, 6]
    np.savez(tmp_path / "b.npz", tri=np.array([1.0, 2.0, 3.0]), subject=np.array([1, 1, 2]))
    assert read_matrix(tmp_path / "b.npz", key="tri").scores[0].tolist() == [0, 1, 2]
    np.savez(tmp_path / "c.npz", s=s, probes=np.arange(3), gallery=np.arange(3))
    assert read_matrix(tmp_path / "c.npz", key="s").gallery.tolist() == [0, 1, 2]
    np.save(tmp_path / "d.npy", s)
    assert isinstance(read_matrix(tmp_path / "d.npy").scores, np.memmap)
    (tmp_path / "e.csv").write_text("probe,x,y\np,1,2\nq,3,4\n")
    table = read_matrix(tmp_path / "e.csv")
    assert (table.probes.tolist(), table.gallery.tolist(), table.scores[1].tolist()) == (["p", "q"], ["x", "y"], [3, 4])


def other_order():
    """Five probes in another order than the gallery, each most similar to its mate."""
    gallery, probes = np.arange(5), np.array([3, 0, 4, 1, 2])
    return (probes[:, None] == gallery) + np.linspace(0, 0.5, 5), probes, gallery


@pytest.mark.parametrize(
    "names",
    [
        ("subject", "gallery_subject"), ("subject", "gallery"), ("probe_subject", "gallery_subject"),
        ("probes", "gallery"), ("probes", "subject"), ("probe_labels", "gallery_labels"), ("query_id", "reference_id"),
        ("row_subject", "column_subject"), ("subject", "Enrolled"),
    ],
)  # fmt: skip
def test_each_side_of_an_archive_has_its_own_labels(tmp_path, names):
    scores, *labels = other_order()
    np.savez(tmp_path / "t.npz", scores=scores, **dict(zip(names, labels, strict=True)))
    table = read_matrix(tmp_path / "t.npz", key="scores")
    assert ranks(similarity=table.scores, probes=table.probes, gallery=table.gallery).rank().tolist() == [1] * 5


@pytest.mark.parametrize(
    ("name", "labels", "words"),
    [
        ("gallery_image", np.arange(5), "labels are of the gallery alone in t.npz, got 'gallery_image'"),
        ("gallery_subject", np.arange(4), "a label for each of the 5 columns.*'gallery_subject' of shape"),
        ("whom", np.arange(5), "'subject' and the same ones in another order as 'whom'"),
    ],
)
def test_labels_that_could_be_of_either_side_are_refused(tmp_path, name, labels, words):
    scores, probes, _ = other_order()
    np.savez(tmp_path / "t.npz", scores=scores, subject=probes, **{name: labels})
    with pytest.raises(StratError, match=words):
        read_matrix(tmp_path / "t.npz", key="scores")


def test_other_labels_of_the_images_may_stand_beside_the_subjects(tmp_path):
    scores, probes, _ = other_order()
    np.savez(tmp_path / "t.npz", scores=scores, subject=probes, image=np.arange(5) + 7)
    table = read_matrix(tmp_path / "t.npz", key="scores")
    assert (table.probes.tolist(), table.gallery.tolist()) == (probes.tolist(),) * 2


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_triples(tmp_path, suffix):
    import duckdb

    path = tmp_path / f"t.{suffix}"
    values = "('p1', 'a', 'a', 0.9), ('p1', 'b', 'a', 0.1), ('p2', 'b', 'b', 0.5), ('p2', 'a', 'b', 0.6)"
    made = duckdb.sql(f"SELECT * FROM (VALUES {values}) AS t(probe, gallery, who, score)")
    (made.write_csv if suffix == "csv" else made.write_parquet)(str(path))
    table = read_triples(path, probe_subject="who")
    r = ranks(similarity=table.scores, probes=table.probes, gallery=table.gallery)
    assert r.rank().tolist() == [1, 2]


def test_candidates_come_best_first():
    c = candidates(distance=[[3, 1, 2], [1, 1, 0]], gallery=list("abc"), top=2)
    assert c.labels.tolist() == [["b", "c"], ["c", "a"]]
    assert c.scores.tolist() == [[-1, -2], [0, -1]]


def write(tmp_path, text, name="t.csv"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p: representation(["a"], ["a"], classes=["b"]), "`classes` must hold every class.*'a'"),
        (lambda p: representation(["a"], ["a"], gallery_images=[1]), "must come together"),
        (lambda p: image_array(list("aab"), per_subject=2), "2 images each, got fewer for 'b'.*leave out"),
        (lambda p: image_array(list("abc"), per_subject=2, fewer="leave out"), "2 images each"),
        (lambda p: image_array(list("aab"), per_subject=1), "whole number from 2"),
        (lambda p: image_array(list("aa"), images=[1, 2], only=[1, 3]), "name images once each, got 3; there are 1, 2"),
        (lambda p: image_array(list("aa"), images=[1, 2], only=[1, 1]), "name images once each, got 1, 1"),
        (lambda p: image_array(list("aa"), images=[1, 2], only=[2]), "whole number from 2, .* got 1"),
        (lambda p: image_array(list("aa"), images=[1, 2], only=[2, 1], per_subject=3), "`per_subject` must be 2, as"),
        (
            lambda p: image_array(list("aaa"), images=[1, 2, 2], only=[2, 1]),
            "each image of a subject once, got 2 twice",
        ),
        (lambda p: image_array(list("ab"), images=[1, 2], only=[1, 2]), "2 images each, got fewer for 'a', 'b'"),
        (lambda p: image_array(list("aa"), per_subject=2, kinds=[1]), "`kinds`"),
        (lambda p: image_array(list("aa"), per_subject=2, fewer="pad"), "`fewer` must be one of"),
        (lambda p: image_array(list("aa"), per_subject=2).column(2), "column from 0 to 1, got 2"),
        (lambda p: image_array(list("aa"), per_subject=2).without(0, 1), "but not all"),
        (lambda p: candidates(similarity=np.eye(2), gallery=["a"]), "`gallery` must name the 2 columns"),
        (lambda p: candidates(similarity=np.eye(2), gallery=["a", "b"], top=3), "`top` must be from 1"),
        (lambda p: candidates(similarity=[[np.nan, 1]], gallery=["a", "b"], top=1), "nan for probe 0"),
        (lambda p: read_matrix(p / "no.npz"), "which is not there"),
        (lambda p: read_triples(p / "no.csv"), "which is not there"),
        (lambda p: read_matrix(write(p, "", "x.txt")), "must end in .npz, .npy or .csv"),
        (lambda p: read_matrix(write(p, "p,a,b\nx,1\n")), "2 scores in every line"),
        (lambda p: read_matrix(write(p, "p,a\nx,one\n")), "must hold numbers"),
        (lambda p: read_triples(write(p, "probe,gallery,skore\na,b,1\n")), "column 'score'; did you mean 'skore'"),
        (
            lambda p: read_triples(write(p, "probe,gallery,score\na,b,1\na,b,2\n")),
            "one score for each pair, got 2.0 and 1.0 for probe 'a'",
        ),
        (lambda p: read_triples(write(p, "probe,gallery,score\na,b,1\nc,b,\n")), "`score` must have a value in every"),
        (
            lambda p: read_triples(write(p, "probe,gallery,score,s\na,b,1,x\na,c,1,y\n"), probe_subject="s"),
            "`s` must be the same in all lines",
        ),
    ],
)
def test_errors(call, words, tmp_path):
    with pytest.raises(StratError, match=words):
        call(tmp_path)


def test_archive_errors(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.eye(2), y=np.eye(2))
    with pytest.raises(StratError, match="`key` must name one of the tables"):
        read_matrix(tmp_path / "a.npz")
    with pytest.raises(StratError, match="`key` must name a table"):
        read_matrix(tmp_path / "a.npz", key="z")
    with pytest.raises(StratError, match="`subject` must name the labels"):
        read_matrix(tmp_path / "a.npz", key="x")
