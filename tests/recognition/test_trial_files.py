"""Lists of trials in every form that people have: the same comparisons give the same figures."""

from __future__ import annotations

import numpy as np
import pytest

from strat.base.errors import StratError, StratWarning
from strat.recognition import (
    read_genuine_impostor,
    read_labels,
    read_scores,
    read_trials,
    read_triples,
    verification,
)
from strat.recognition.trial_files import parsed_columns


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(10), 3)
    s = rng.standard_normal((30, 30)) + 1.5 * (who[:, None] == who)
    s = (s + s.T) / 2
    i, j = np.triu_indices(30, 1)
    names = np.array([f"id{who[k]:02d}/clip/{k}.wav" for k in range(30)])
    return {"table": verification(similarity=s, probes=who), "score": s[i, j], "a": names[i], "b": names[j],
            "label": (who[i] == who[j]).astype(int), "subject": [f"id{w:02d}" for w in who],
            "i": i, "j": j}  # fmt: skip


def lines(path, *columns):
    path.write_text("\n".join(" ".join(map(str, row)) for row in zip(*columns, strict=True)) + "\n")
    return path


PATTERN = "^(id[0-9]+)/"


def test_voxceleb_and_sre_lists_give_the_figures_of_the_table(data, tmp_path):
    d = data
    words = np.where(d["label"] == 1, "target", "nontarget")
    files = [
        lines(tmp_path / "vox.txt", d["label"], d["a"], d["b"], d["score"]),
        lines(tmp_path / "sre.txt", d["a"], d["b"], d["score"], words),
        lines(tmp_path / "kaldi.txt", d["a"], d["b"], words, d["score"]),
    ]
    for file in files:
        v = read_trials(file, pattern=PATTERN).verification()
        assert str(v) == str(d["table"])
    linked = read_trials(files[0]).verification()  # all images of a subject are joined by mated trials
    assert linked.eer().value == d["table"].eer().value
    assert linked.eer().se == pytest.approx(d["table"].eer().se)
    assert "subjects-inferred" in [note.code for note in linked.eer().notes]


def test_scores_in_a_second_file(data, tmp_path):
    d = data
    trials = read_trials(lines(tmp_path / "t.txt", d["label"], d["a"], d["b"]), pattern=PATTERN)
    with pytest.raises(StratError, match="`scores` must be given"):
        trials.verification()
    order = np.random.default_rng(0).permutation(len(d["score"]))
    by_line = read_scores(lines(tmp_path / "s1.txt", d["score"]), trials)
    by_name = read_scores(lines(tmp_path / "s2.txt", d["a"][order], d["b"][order], d["score"][order]), trials)
    turned = read_scores(lines(tmp_path / "s3.txt", d["b"][order], d["a"][order], d["score"][order]), trials)
    np.save(tmp_path / "s4.npy", d["score"])
    for scores in (by_line, by_name, turned, read_scores(tmp_path / "s4.npy", trials)):
        np.testing.assert_array_equal(scores, d["score"])
    assert str(trials.verification(scores=by_name)) == str(d["table"])
    assert trials.verification(scores=-by_line, distance=True).eer().value == d["table"].eer().value
    with pytest.raises(StratError, match="as many as the trials"):
        read_scores(lines(tmp_path / "few.txt", d["score"][:5]), trials)
    with pytest.raises(StratError, match="a score for every trial"):
        read_scores(lines(tmp_path / "less.txt", d["a"][:5], d["b"][:5], d["score"][:5]), trials)
    with pytest.raises(StratError, match="one score for each pair"):
        read_scores(lines(tmp_path / "twice.txt", d["a"][[0, 0]], d["b"][[0, 0]], d["score"][[0, 1]]), trials)


def test_a_pair_listed_again_with_the_same_score_is_read_once(data, tmp_path):
    d = data
    again = [*range(len(d["score"])), 3, 5]
    twice = lines(tmp_path / "twice.txt", d["a"][again], d["b"][again], d["score"][again])
    trials = read_trials(lines(tmp_path / "t.txt", d["label"], d["a"], d["b"]), pattern=PATTERN)
    with pytest.warns(StratWarning, match="2 lines of 'twice.txt' repeat a pair with the same score"):
        np.testing.assert_array_equal(read_scores(twice, trials), d["score"])
    text = "\n".join(f"{d['a'][k]},{d['b'][k]},{d['score'][k]}" for k in again)
    (tmp_path / "twice.csv").write_text(f"probe,gallery,score\n{text}\n")
    table = read_triples(tmp_path / "twice.csv")
    assert [note.code for note in table.notes] == ["pairs-repeated"]
    assert np.isfinite(table.scores).sum() == len(d["score"])


def test_names_that_are_subjects_are_not_inferred(data, tmp_path):
    d = data
    who = np.array(d["subject"])
    trials = read_trials(lines(tmp_path / "t.txt", d["label"], who[d["i"]], who[d["j"]], d["score"]))
    v = trials.verification()
    assert str(v) == str(d["table"])
    assert "subjects-inferred" not in [note.code for note in v.eer().notes]


def test_an_image_with_one_score_in_all_its_trials_is_named(data, tmp_path):
    d = data
    score = np.where((d["a"] == d["a"][40]) | (d["b"] == d["a"][40]), -1.0, d["score"])
    trials = read_trials(lines(tmp_path / "t.txt", d["label"], d["a"], d["b"], score), pattern=PATTERN)
    notes = [note for note in trials.verification().eer().notes if note.code == "templates-alike"]
    assert notes
    assert all(d["a"][40] in note.facts["names"] and note.facts["score"] == -1 for note in notes)
    fine = read_trials(lines(tmp_path / "f.txt", d["label"], d["a"], d["b"], d["score"]), pattern=PATTERN)
    assert "templates-alike" not in [note.code for note in fine.verification().eer().notes]


def test_a_role_has_one_column():
    with pytest.raises(StratError, match="one column for each role, got score=a and score=b"):
        parsed_columns("probe=x,score=a, score=b")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_with_any_names(data, tmp_path, kind):
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    d = data
    frame = pa.table({"enrol_file": d["a"], "utt": d["b"], "cosine": d["score"], "who1": np.array(d["subject"])[d["i"]],
                      "who2": np.array(d["subject"])[d["j"]]})  # fmt: skip
    file = tmp_path / f"t.{kind}"
    (pa.csv.write_csv if kind == "csv" else pa.parquet.write_table)(frame, file)
    columns = {"score": "cosine", "probe_subject": "who2", "gallery_subject": "who1"}
    assert str(read_trials(file, columns=columns).verification()) == str(d["table"])
    both = {"probe": "utt", "gallery": "enrol_file", "score": "cosine"}
    assert str(read_trials(file, columns=both, pattern=PATTERN).verification()) == str(d["table"])
    with pytest.raises(StratError, match="`path` must have a column 'cosin'"):
        read_trials(file, columns={"score": "cosin", "probe_subject": "who2", "gallery_subject": "who1"})
    with pytest.raises(StratError, match="must say which trials are mated"):
        read_trials(file, columns={"score": "cosine"})
    with pytest.raises(StratError, match="subjects of both sides"):
        read_trials(file, columns={"score": "cosine", "probe_subject": "who2"})


def test_genuine_and_impostor_files(data, tmp_path):
    d = data
    mated = d["label"] == 1
    plain = [lines(tmp_path / f"{n}.txt", d["score"][use]) for n, use in (("genuine", mated), ("impostor", ~mated))]
    v = read_genuine_impostor(*plain).verification()
    assert v.eer().value == d["table"].eer().value
    assert v.eer().notes[-1].code == "no-subjects"
    named = [
        lines(tmp_path / f"{n}3.txt", d["a"][use], d["b"][use], d["score"][use])
        for n, use in (("genuine", mated), ("impostor", ~mated))
    ]
    assert str(read_genuine_impostor(*named, pattern=PATTERN).verification()) == str(d["table"])
    with pytest.raises(StratError, match="`impostor` must name a file"):
        read_genuine_impostor(plain[0], tmp_path / "none.txt")


def test_lists_and_scores_with_or_without_a_header(data, tmp_path):
    d = data
    rows = list(zip(d["label"], d["a"], d["b"], d["score"], strict=True))
    with_header = [("label", "enrol", "test", "llr"), *rows]
    for name, mark, table in (("t.txt", " ", with_header), ("h.csv", ",", with_header), ("p.csv", ",", rows)):
        (tmp_path / name).write_text("\n".join(mark.join(map(str, row)) for row in table))
        assert str(read_trials(tmp_path / name, pattern=PATTERN).verification()) == str(d["table"]), name
    trials = read_trials(lines(tmp_path / "key.txt", d["label"], d["a"], d["b"]), pattern=PATTERN)
    scores = [("modelid", "segmentid", "side", "LLR"), *((a, b, "a", v) for _, a, b, v in reversed(rows))]
    (tmp_path / "s.tsv").write_text("\n".join("\t".join(map(str, row)) for row in scores))
    np.testing.assert_array_equal(read_scores(tmp_path / "s.tsv", trials), d["score"])
    (tmp_path / "bad.csv").write_text("enrol,test,points\na,b,1\n")
    with pytest.raises(StratError, match="`scores` must have a column 'score', got 'enrol', 'test', 'points'"):
        read_scores(tmp_path / "bad.csv", trials)
    (tmp_path / "half.csv").write_text("reference_subject,who,score\na,b,1\n")
    with pytest.raises(StratError, match="got gallery_subject without probe_subject; there are 'reference_subject'"):
        read_trials(tmp_path / "half.csv")


def test_genuine_and_impostor_scores_in_arrays_and_tables(data, tmp_path):
    d = data
    parts = {"genuine": d["score"][d["label"] == 1], "impostor": d["score"][d["label"] == 0]}
    for name, values in parts.items():
        np.save(tmp_path / f"{name}.npy", values)
        (tmp_path / f"{name}.csv").write_text("score\n" + "\n".join(map(str, values)))
    for kind in ("npy", "csv"):
        v = read_genuine_impostor(*(tmp_path / f"{name}.{kind}" for name in parts)).verification()
        assert v.eer().value == d["table"].eer().value
    (tmp_path / "words.txt").write_text("0.5\nhigh\n")
    with pytest.raises(StratError, match="`impostor` must be numbers, got high in row 2"):
        read_genuine_impostor(tmp_path / "genuine.npy", tmp_path / "words.txt")


def test_labels_in_a_table(tmp_path):
    (tmp_path / "who.csv").write_text("path,subject\na/1.png,7\na/2.png,7\nb/1.png,9\n")
    assert read_labels(tmp_path / "who.csv").tolist() == [7, 7, 9]
    assert read_labels(tmp_path / "who.csv", pattern="^(.*)/").tolist() == ["a", "a", "b"]


def test_labels_of_embeddings(tmp_path):
    paths = ["a/1.png", "a/2.png", "b/1.png"]
    file = lines(tmp_path / "paths.txt", paths)
    assert read_labels(file, pattern="^(.*)/").tolist() == ["a", "a", "b"]
    assert read_labels(file).tolist() == paths
    np.save(tmp_path / "who.npy", np.array([3, 3, 5]))
    assert read_labels(tmp_path / "who.npy").tolist() == [3, 3, 5]
    with pytest.raises(StratError, match="`labels` must name a file"):
        read_labels(tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("a b 0.1\nc d 0.2\n", {}, "must have a column of labels"),
        ("1 a b c d\n0 a b c d\n", {}, "perhaps a score"),
        ("1 a b\n0 a\n", {}, "as many cells in every line"),
        ("", {}, "at least one line"),
        ("1 a b 1\n0 a c 2\n", {"columns": {"lable": "1"}}, "`columns` must name roles"),
        ("1 a b 1\n0 a c 2\n", {"columns": {"label": "9"}}, "positions from 1 to 4"),
        ("1 a b 1\n0 a c 2\n", {"columns": {"label": "2", "score": "4"}}, "`label` must be words"),
        ("1 a b x\n0 a c 2\n", {}, "`score` must be numbers"),
        ("1 a b 1\n0 a c 2\n", {"pattern": "("}, "`pattern` must be a regular expression"),
        ("1 a b 1\n0 a c 2\n", {"pattern": "a"}, "`pattern` must have a group"),
        ("1 a b 1\n0 a c 2\n", {"pattern": "(a)"}, "`pattern` must match every name"),
    ],
)
def test_lists_that_are_refused(tmp_path, text, arguments, words):
    (tmp_path / "t.txt").write_text(text)
    with pytest.raises(StratError, match=words):
        read_trials(tmp_path / "t.txt", **arguments)
