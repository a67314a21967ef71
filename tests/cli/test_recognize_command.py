"""`strat recognize` from files to figures, and what it says about bad ones."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from strat.base.errors import StratWarning
from strat.cli import main
from strat.cli.app import _show
from strat.datasets import recognizer
from strat.recognition import (
    compare_matchers,
    compare_open_sets,
    compare_systems,
    gallery_effect,
    gallery_sampling,
    image_array,
    match_curve,
    open_set,
    ranks,
    ranks_of_embeddings,
    reidentification,
    system_of_scores,
    verification,
)


@pytest.fixture
def data(tmp_path):
    made = recognizer(subjects=30, images=4, rng=3)
    g, p = made.split()
    np.savez(tmp_path / "p.npz", embeddings=made.embeddings[p], subject=made.subject[p])
    np.savez(tmp_path / "g.npz", embeddings=made.embeddings[g], subject=made.subject[g])
    np.savez(tmp_path / "all.npz", embeddings=made.embeddings, subject=made.subject)
    np.savez(tmp_path / "s.npz", toy=made.embeddings @ made.embeddings.T, subject=made.subject)
    s = made.embeddings[p][::3] @ made.embeddings[g].T
    np.savez(tmp_path / "m.npz", toy=s, subject=np.arange(30))
    return made, tmp_path


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main([str(a) for a in ("recognize", *arguments)])
    out = capsys.readouterr()
    return end.value.code, out.out, out.err


def test_embeddings_to_json(data, capsys):
    made, folder = data
    code, out, _ = call(capsys, "--probes", folder / "p.npz", "--gallery", folder / "g.npz", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["schema"] == "strat/recognize/2"
    g, p = made.split()
    x = made.embeddings
    r = ranks_of_embeddings(
        x[p], x[g], probe_subjects=made.subject[p], gallery_subjects=made.subject[g], score="cosine"
    )
    expected = match_curve(r, at=[1]).of()
    first = found["rows"][0]
    values = list(first.values()) if isinstance(first, dict) else first
    assert values[2] == pytest.approx(expected.value[0])
    assert values[3] == pytest.approx(expected.se[0])


def test_table_has_verification(data, capsys):
    _, folder = data
    code, out, _ = call(capsys, "--similarity", folder / "m.npz", "--plot", folder / "c.png")
    assert code == 0
    assert "EER" in out
    assert "FNMR at FMR" in out
    assert "The target is the population of subjects" in out
    assert (folder / "c.png").stat().st_size > 1000


def test_pictures_of_both_kinds_and_a_page_with_error_rates(data, capsys):
    _, folder = data
    table = ("--similarity", folder / "m.npz")
    code, _, _ = call(capsys, *table, "--plot", folder / "d.svg", "--plot-kind", "det", "--html", folder / "r.html")
    assert code == 0
    assert "false non-match rate" in (folder / "d.svg").read_text(encoding="utf-8")
    page = (folder / "r.html").read_text(encoding="utf-8")
    for part in ("At rank 1 the system identifies", "<h2>Identification</h2>", "Equal error rate", "FNMR at FMR 0.01"):
        assert part in page
    code, _, error = call(capsys, *table, "--plot-kind", "det")
    assert code == 1
    assert "`--plot-kind` must be left out without --plot" in error
    code, _, error = call(capsys, *table, "--plot", folder / "d.png", "--plot-kind", "forest")
    assert code == 1
    assert "`--plot-kind` must be one of" in error


def test_open_set(data, capsys):
    made, folder = data
    keep = made.subject < 20
    g, _p = made.split()
    np.savez(folder / "g.npz", embeddings=made.embeddings[g & keep], subject=made.subject[g & keep])
    code, out, _ = call(
        capsys, "--probes", folder / "p.npz", "--gallery", folder / "g.npz", "--open-set", "--max-rank", 1
    )
    assert code == 0
    assert "FNIR(R = 1) at FPIR" in out
    assert "30 non-mated probes" in out


@pytest.mark.parametrize("option", ["--images", "--similarity"])
def test_cvpr_evaluation(data, capsys, option):
    _, folder = data
    file = folder / ("all.npz" if option == "--images" else "s.npz")
    code, out, _ = call(capsys, option, file, "--per-subject", 4)
    assert code == 0
    assert "Gallery effect, mixed" in out
    assert "2 units, without column 2" in out
    assert "rank 1 by bootstrap" in out


def test_the_cvpr_evaluation_of_several_systems_with_images_chosen_by_name(data, capsys):
    made, folder = data
    noisy = made.embeddings + 0.3 * np.random.default_rng(0).standard_normal(made.embeddings.shape)
    tables = {name: x @ x.T for name, x in (("a", made.embeddings), ("b", noisy))}
    np.savez(folder / "two.npz", **tables, subject=made.subject, image=made.image + 1, pose=made.image % 2)
    two = ("--similarity", folder / "two.npz", "--key", "a", "--key", "b")
    code, out, _ = call(capsys, *two, "--image", "4,1,3", "--figures", folder / "figures", "--json")
    rows = json.loads(out)["rows"]
    assert code == 0
    assert {row["system"] for row in rows} == {"a", "b", "a − b"}
    assert sorted(p.name for p in (folder / "figures").iterdir()) == [
        "figure_1.png", *(f"figure_{k}_{s}.png" for k in (2, 3, 4) for s in "ab"), "figure_6.png"
    ]  # fmt: skip
    array = image_array(made.subject, images=made.image + 1, only=[4, 1, 3])
    systems = [system_of_scores(name, similarity=table, subjects=made.subject) for name, table in tables.items()]
    effect = gallery_effect(systems[0], array, at=[1])
    assert rows[0]["estimate"] == pytest.approx(effect.curves[0].point[0])
    assert [row["at"] for row in rows[:6]] == ["4", "1", "3", 1, 2, 3]  # mixed galleries have no image's name
    assert effect.plot().get_legend_handles_labels()[1] == ["gallery 4", "gallery 1", "gallery 3"]
    assert array.without(1).labels == (4, 3)
    gap = compare_systems(systems, array.mixed()).difference("a", "b").at(1)
    assert (rows[-1]["estimate"], rows[-1]["se"]) == pytest.approx((gap.value, gap.se))
    code, out, _ = call(capsys, *two, "--image", "4,1,3", "--kinds", "image")
    assert code == 0
    assert "under fixed kinds of" in out
    assert "by closed form" in out
    assert "by brr" not in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--image", "1,9"), "`--image` must name images once each, got '9'; there are '0', '1'"),
        (("--image", "1,2", "--per-subject", 3), "`--per-subject` must be 2, as many as `--image` names"),
        (
            ("--per-subject", 2, "--kinds", "imag"),
            "must find labels of the images under 'imag' .* did you mean 'image'",
        ),
        (("--per-subject", 3, "--kinds", "image", "--method", "brr"), "`--method` must be left out with --kinds"),
        (("--per-subject", 2, "--figures", "f"), "`--figures` must have three columns or more"),
        (("--figures", "f"), "`--figures` must be left out without --per-subject or --image"),
    ],
)
def test_images_and_kinds_that_are_not_there_are_refused(data, capsys, arguments, words):
    made, folder = data
    np.savez(folder / "named.npz", embeddings=made.embeddings, subject=made.subject, image=made.image)
    code, _, err = call(capsys, "--images", folder / "named.npz", *arguments)
    assert code != 0
    assert re.search(words, err.replace("\n", " "))


def test_triples(tmp_path, capsys):
    lines = ["probe,gallery,score"]
    rng = np.random.default_rng(0)
    lines += [f"{a},{b},{rng.normal() + 3 * (a == b)}" for a in "abcdef" for b in "abcdef"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    code, out, _ = call(capsys, "--similarity", tmp_path / "t.csv", "--triples")
    assert code == 0
    assert "6 mated probes of 6 subjects, N = 6" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "one of `--similarity`"),
        (["--images", "all.npz", "--at", "1"], "without a gallery to search"),
        (["--probes", "p.npz", "--gallery", "no.npz"], "is not there"),
        (["--probes", "p.npz", "--gallery", "g.npz", "--key", "embedding"], "did you mean 'embeddings'"),
        (["--probes", "p.npz", "--gallery", "g.npz", "--at", "one"], "`--at` must be comma-separated numbers"),
        (["--probes", "p.npz", "--gallery", "g.npz", "--plot", "c.gif"], "`--plot` must end in"),
        (["--probes", "p.npz", "--gallery", "g.npz", "--target", "all"], "`--target` must be one of"),
        (["--similarity", "odd.npz", "--per-subject", "2"], "square table"),
        (["--similarity", "no.npz"], "`--similarity` must name a file, got 'no.npz', which is not there"),
        (["--distance", "no.parquet"], "`--distance` must name a file, got 'no.parquet', which is not there"),
        (
            ["--similarity", "s.txt"],
            "`--similarity` must end in .npz, .npy or .csv, got 's.txt'; triples have `--triples`",
        ),
        (["--similarity", "m.npz", "--key", "tot"], "did you mean 'toy'"),
        (["--probes", "no.npz", "--gallery", "g.npz"], "`--probes` must name a file with embeddings, got 'no.npz'"),
        (["--probes", "p.npz", "--gallery", "s.txt"], "`--gallery` must be a whole file of NumPy arrays, got 's.txt'"),
        (["--probes", "p.npz", "--gallery", "g.npz", "--subject", "sub"], "`--probes` must hold 'sub', got 'p.npz'"),
        (["--images", "p.npz", "--per-subject", "3", "--subject", "who"], "`--images` must hold 'who'"),
        (
            ["--probes", "p.npz", "--gallery", "g.npz", "--per-subject", "3"],
            "`--per-subject` must come with `--images`",
        ),
        (["--similarity", "m.npz", "--open-set"], "`--open-set` must have probes of subjects outside the gallery"),
    ],
)
def test_errors_are_one_line(data, capsys, monkeypatch, arguments, words):
    _, folder = data
    monkeypatch.chdir(folder)
    (folder / "s.txt").write_text("1,2")
    np.savez("odd.npz", s=np.ones((2, 3)), probes=np.arange(2), gallery=np.arange(3))
    code, _, err = call(capsys, *arguments)
    assert code == 1
    assert words in err
    assert len(err.strip().splitlines()) == 1


def test_reversed_scores_are_noted(tmp_path, capsys):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "d.npz", table=rng.normal(size=(30, 30)) + 5 * np.eye(30), subject=np.arange(30))
    code, out, err = call(capsys, "--distance", tmp_path / "d.npz", "--json")
    assert (code, err) == (0, "")
    (text,) = (note["text"] for note in json.loads(out)["notes"] if note["code"] == "scores-reversed")
    assert text.startswith("CMS at rank: With a table of distance")
    assert "With a table of distance, mates score worse than " in text
    assert "remark" not in {note["code"] for note in json.loads(out)["notes"]}


def test_a_warning_is_one_line_without_code(capsys):
    _show(lambda *_, **__: None)(StratWarning("slower kernel"), StratWarning, "file.py", 3)
    assert capsys.readouterr().err == "strat: warning: slower kernel\n"


def test_triples_with_subjects_of_their_images(tmp_path, capsys):
    """Two images of each of three subjects, whose names are also those of gallery images of other subjects."""
    lines = ["probe,gallery,score,probe_subject,gallery_subject"]
    for i in range(6):
        lines += [f"{i},{j},{9 if i // 2 == (j + 1) % 3 else j},{i // 2},{(j + 1) % 3}" for j in range(3)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    code, out, _ = call(capsys, "--similarity", path, "--triples", "--json")
    assert code == 0
    found = json.loads(out)
    assert "6 mated probes of 3 subjects, N = 3" in out
    assert found["rows"][0]["estimate"] == 1.0
    assert call(capsys, "--similarity", path, "--triples", "--subject", "who")[0] == 1
    path.write_text("\n".join(line.rsplit(",", 1)[0] for line in lines))
    code, _, err = call(capsys, "--similarity", path, "--triples")
    assert code == 1
    assert "`--similarity` must have a column 'gallery_subject' of subjects" in err


def test_ranks_to_print_are_ranks(data, capsys):
    _, folder = data
    for at in ("0", "1.5"):
        code, _, err = call(capsys, "--probes", folder / "p.npz", "--gallery", folder / "g.npz", "--at", at)
        assert code == 1
        assert "`--at` must be ranks, whole numbers from 1" in err


def trial_files(folder, made):
    """The same comparisons as a trial list with two files of scores, as genuine and impostor files, as a table."""
    rng = np.random.default_rng(1)
    x, who = made.embeddings[:40], made.subject[:40]
    s = x @ x.T
    i, j = np.triu_indices(40, 1)
    names = [f"s{w}/{k}.png" for k, w in enumerate(who)]
    mated = who[i] == who[j]
    noisy = s[i, j] + rng.normal(size=len(i))
    pairs = [(names[a], names[b]) for a, b in zip(i, j, strict=True)]
    write = lambda name, rows: (folder / name).write_text("\n".join(" ".join(map(str, r)) for r in rows))  # noqa: E731
    write("trials.txt", [(int(m), *p) for m, p in zip(mated, pairs, strict=True)])
    write("a.txt", [(*p, v) for p, v in zip(pairs, s[i, j], strict=True)])
    write("b.txt", [(v,) for v in noisy])
    write("genuine.txt", [(v,) for v in s[i, j][mated]])
    write("impostor.txt", [(v,) for v in s[i, j][~mated]])
    lines = ["enrolled,tried,similar"] + [f"{a},{b},{v}" for (a, b), v in zip(pairs, s[i, j], strict=True)]
    (folder / "trials.csv").write_text("\n".join(lines))
    np.save(folder / "all.npy", x)
    np.save(folder / "s.npy", s)
    np.save(folder / "part.npy", s[:, :5])
    (folder / "who.txt").write_text("\n".join(map(str, who)))
    (folder / "paths.txt").write_text("\n".join(names))
    v = verification(similarity=s, probes=who)
    w = np.zeros((40, 40))
    w[i, j] = noisy
    return v, verification(similarity=w + w.T, probes=who)


def rows(out, *at):
    """Rows of a JSON sheet by figure."""
    return [row for row in json.loads(out)["rows"] if all(row[k] == value for k, value in at)]


PATTERN = ("--id-pattern", "^(s[0-9]+)/")


def test_trial_lists_score_files_and_embeddings_have_the_same_error_rates(data, capsys):
    made, folder = data
    v, _ = trial_files(folder, made)
    inputs = [
        ("--trials", folder / "trials.txt", "--scores", folder / "a.txt", *PATTERN),
        ("--trials", folder / "trials.csv", "--columns", "probe=tried,gallery=enrolled,score=similar", *PATTERN),
        ("--images", folder / "all.npy", "--labels", folder / "paths.txt", *PATTERN, "--score", "inner"),
        ("--similarity", folder / "s.npy", "--labels", folder / "who.txt"),  # no image is its own mate
    ]
    for given in inputs:
        code, out, err = call(capsys, *given, "--json", "--metric", "auc", "--metric", "min_dcf", "--p-target", "0.05")
        assert (code, err) == (0, "")
        (eer,) = rows(out, ("figure", "EER"))
        assert (eer["estimate"], eer["se"], eer["df"]) == pytest.approx((v.eer().value, v.eer().se, v.eer().df))
        (auc,) = rows(out, ("figure", "AUC"))
        assert auc["estimate"] == pytest.approx(v.auc().value)
        (dcf,) = rows(out, ("figure", "minDCF (P_target 0.05)"))
        assert dcf["low"] <= dcf["estimate"] <= dcf["high"]
    files = ("--genuine", folder / "genuine.txt", "--impostor", folder / "impostor.txt")
    code, out, _ = call(capsys, *files)
    assert code == 0
    assert "These scores have no subjects" in out
    assert f"{v.eer().value:.4f}" in out
    code, _, _ = call(capsys, *files, "--plot", folder / "det.svg")
    assert code == 0
    assert "false non-match rate" in (folder / "det.svg").read_text(encoding="utf-8")


def test_a_parquet_file_is_streamed(tmp_path, capsys):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 20, (2, 2000))
    pq.write_table(pa.table({"p": a, "g": b, "s": rng.normal(size=2000) + 2 * (a == b)}), tmp_path / "t.parquet")
    given = ("--trials", tmp_path / "t.parquet", "--columns", "probe_subject=p,gallery_subject=g,score=s", "--json")
    code, out, _ = call(capsys, *given, "--stream")
    assert code == 0
    _, held, _ = call(capsys, *given)
    for figure in ("EER", "FNMR at FMR"):
        for one, other in zip(rows(out, ("figure", figure)), rows(held, ("figure", figure)), strict=True):
            assert one["estimate"] == pytest.approx(other["estimate"], abs=2e-3)
            assert one["se"] == pytest.approx(other["se"], rel=0.05)
    code, _, err = call(capsys, *given, "--stream", "--average", "subjects")
    assert code == 1
    assert "`--average` must be left out with --stream" in err


def test_several_systems_in_one_call(data, capsys):
    made, folder = data
    v, w = trial_files(folder, made)
    trials = ("--trials", folder / "trials.txt", "--scores", folder / "a.txt", "--scores", folder / "b.txt", *PATTERN)
    code, out, _ = call(capsys, *trials, "--json", "--metric", "tar_at", "--fmr", "0.1")
    assert code == 0
    assert json.loads(out)["schema"] == "strat/recognize-systems/2"
    both = compare_matchers({"a": v, "b": w})
    (gap,) = rows(out, ("system", "a − b"), ("figure", "EER"))
    assert gap["estimate"] == pytest.approx(both.difference("a", "b").value)
    assert gap["se"] == pytest.approx(both.difference("a", "b").se)
    (tar,) = rows(out, ("system", "a − b"), ("figure", "TAR at FAR"))
    assert tar["estimate"] == pytest.approx(both.difference("a", "b", "tar_at", 0.1).value)
    for kind in ("det", "roc", "difference"):
        picture = folder / f"{kind}.svg"
        assert call(capsys, *trials, "--plot", picture, "--plot-kind", kind, "--html", folder / "r.html")[0] == 0
        assert picture.stat().st_size > 1000
    assert "DET difference, a − b" in (folder / "r.html").read_text(encoding="utf-8")
    code, out, _ = call(capsys, *trials, "--name", "new", "--name", "old")
    assert code == 0
    assert "new − old" in out


def test_several_tables_are_compared_in_ranks_and_rates(data, capsys):
    made, folder = data
    g, p = made.split()
    keep = made.subject[g] < 20
    s = made.embeddings[p] @ made.embeddings[g][keep].T
    noisy = s + np.random.default_rng(0).normal(size=s.shape)
    np.savez(folder / "two.npz", one=s, other=noisy, probes=made.subject[p], gallery=made.subject[g][keep])
    given = ("--similarity", folder / "two.npz", "--key", "one", "--key", "other", "--open-set")
    code, out, _ = call(capsys, *given, "--json")
    assert code == 0
    assert {row["figure"] for row in rows(out, ("system", "one − other"))} == {
        "CMS at rank", "EER", "FNMR at FMR", "FNIR(R = 20) at FPIR",
    }  # fmt: skip
    for kind in ("cmc", "fnir", "size"):
        assert call(capsys, *given, "--plot", folder / f"{kind}.png", "--plot-kind", kind)[0] == 0


def test_failed_templates_are_left_out_of_all_systems_by_their_score(data, capsys):
    _, folder = data
    scores = np.load(folder / "m.npz")["toy"].copy()
    other = scores + np.random.default_rng(0).normal(0, 0.3, scores.shape)
    scores[:, 4] = -1.0
    np.savez(folder / "f.npz", one=other, two=scores, subject=np.arange(30))
    given = ("--similarity", folder / "f.npz", "--key", "one", "--key", "two")
    code, out, _ = call(capsys, *given, "--json", "--failed-score", -1)
    assert code == 0
    who = {"probes": np.arange(30), "gallery": np.arange(30)}
    checks = {
        name: verification(similarity=s, **who, failed_gallery=[4]) for name, s in (("one", other), ("two", scores))
    }
    (gap,) = rows(out, ("system", "one − two"), ("figure", "EER"))
    assert gap["estimate"] == pytest.approx(float(compare_matchers(checks).difference("one", "two").value))
    (first,) = rows(out, ("system", "two"), ("figure", "CMS at rank"), ("at", 1))
    missed = ranks(similarity=scores, **who, failed_gallery=[4])
    assert first["estimate"] == pytest.approx(np.mean(missed.rank() == 1))
    assert "1 gallery image without a template is in no error rate" in out
    code, out, _ = call(capsys, *given)
    assert "two, CMS at rank: " in out
    assert "--failed-score -1" in out
    code, _, error = call(capsys, *given, "--failed-score", -2)
    assert code == 1
    assert "got -2, which no row and no column has throughout" in error


@pytest.mark.parametrize("form", ["npz", "npz, words", "csv", "npy", "triples"])
def test_each_side_has_its_own_labels_in_every_form_of_a_table(tmp_path, capsys, form):
    """Probes in another order than the gallery, in a square table: rank 1 was 0.0067 for 0.9000 from an .npz."""
    rng = np.random.default_rng(0)
    who = np.array([f"s{k}" for k in range(12)])
    probes, gallery = rng.permutation(who), rng.permutation(who)
    s = rng.normal(size=(12, 12)) + 2.5 * (probes[:, None] == gallery)
    file, more = tmp_path / f"t.{form[:3]}", []
    if form.startswith("npz"):
        names = ("subject", "gallery_subject") if form == "npz" else ("probe_labels", "gallery_labels")
        np.savez(file, scores=s, **dict(zip(names, (probes, gallery), strict=True)))
    elif form == "csv":
        lines = [
            f"probe,{','.join(gallery)}",
            *(f"{p},{','.join(map(str, row))}" for p, row in zip(probes, s, strict=True)),
        ]
        file.write_text("\n".join(lines))
    elif form == "npy":
        np.save(file, s)
        for option, labels in (("--labels", probes), ("--gallery-labels", gallery)):
            path = tmp_path / f"{option[2:]}.txt"
            path.write_text("\n".join(labels))
            more += [option, path]
    else:
        file = tmp_path / "t.csv"
        cells = [f"p{i},g{j},{s[i, j]},{probes[i]},{gallery[j]}" for i in range(12) for j in range(12)]
        file.write_text("\n".join(["probe,gallery,score,probe_subject,gallery_subject", *cells]))
        more = ["--triples"]
    code, out, error = call(capsys, "--similarity", file, *more, "--json")
    assert code == 0, error
    (first,) = rows(out, ("figure", "CMS at rank"), ("at", 1))
    expected = ranks(similarity=s, probes=probes, gallery=gallery)
    assert first["estimate"] == pytest.approx(np.mean(expected.rank() == 1))
    (eer,) = rows(out, ("figure", "EER"))
    assert eer["estimate"] == pytest.approx(
        float(verification(similarity=s, probes=probes, gallery=gallery).eer().value)
    )


def test_failed_templates_of_an_incomplete_list_are_left_out(tmp_path, capsys):
    rng = np.random.default_rng(0)
    s = rng.normal(size=(8, 8)) + 3 * np.eye(8)
    s[:, 2] = -5.0
    pairs = [(i, j) for i in range(8) for j in range(8) if (i, j) not in ((0, 1), (3, 2))]
    (tmp_path / "t.csv").write_text("\n".join(["probe,gallery,score", *(f"p{i},p{j},{s[i, j]}" for i, j in pairs)]))
    given = ("--similarity", tmp_path / "t.csv", "--triples")
    code, out, _ = call(capsys, *given)
    assert code == 0
    assert "1 column (2) has one score throughout, -5" in out
    code, out, _ = call(capsys, *given, "--failed-score", -5, "--json")
    assert code == 0
    (eer,) = rows(out, ("figure", "EER"))
    s[0, 1] = s[3, 2] = np.nan
    who = [f"p{i}" for i in range(8)]
    left = verification(similarity=s, probes=who, gallery=who, failed_gallery=[2], missing="not compared")
    assert eer["estimate"] == pytest.approx(float(left.eer().value))


def test_incomplete_triples_have_rates_of_what_was_compared(tmp_path, capsys):
    rng = np.random.default_rng(0)
    cells = [
        (a, b, rng.normal() + 3 * (a == b)) for a in "abcdefgh" for b in "abcdefgh" if rng.random() < 0.7 or a == b
    ]
    (tmp_path / "t.csv").write_text("\n".join(["p,g,s", *(f"{a},{b},{s}" for a, b, s in cells)]))
    columns = ("--columns", "probe=p,gallery=g,score=s")
    code, out, _ = call(capsys, "--similarity", tmp_path / "t.csv", "--triples", *columns)
    assert code == 0
    assert f"8 mated and {len(cells) - 8} non-mated comparisons of 8 subjects" in out
    assert "never compared" in out
    assert "CMS" not in out


def test_a_sampled_gallery_has_its_own_rows(tmp_path, capsys):
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(20), 2)
    table = rng.normal(size=(40, 20)) + 2 * (who[:, None] == np.arange(20))
    np.savez(tmp_path / "s.npz", table=table, probes=who, gallery=np.arange(20))
    code, out, err = call(capsys, "--similarity", tmp_path / "s.npz", "--sampled-gallery", "--at", "1,3", "--json")
    assert (code, err) == (0, "")
    expected = gallery_sampling(similarity=table, probes=who, gallery=np.arange(20), at=[1, 3])
    for place, rank in enumerate((1, 3)):
        (row,) = rows(out, ("figure", f"CMS at rank {rank}, gallery drawn"))
        assert row["se"] == pytest.approx(np.sqrt(expected.estimate.variance[place]))
    facts = next(note["facts"] for note in json.loads(out)["notes"] if note["code"] == "gallery-drawn")
    assert facts["probes"][0] == ["CMS at rank 1", pytest.approx(np.sqrt(expected.of_probes[0]))]
    (relative,) = rows(out, ("figure", "mean relative rank"))
    r = ranks(similarity=table, probes=who, gallery=np.arange(20))
    assert (relative["at"], relative["estimate"]) == ("r / N", pytest.approx(np.mean(r.rank() / 20)))


def test_differences_stand_beside_the_rates_that_they_are_of(data, capsys):
    made, folder = data
    trial_files(folder, made)
    given = ("--trials", folder / "trials.txt", "--scores", folder / "a.txt", "--scores", folder / "b.txt", *PATTERN)
    _, out, _ = call(capsys, *given, "--json", "--fmr", "0.2,0.02,0.1")
    at = {(row["system"], row["at"]): row["estimate"] for row in rows(out, ("figure", "FNMR at FMR"))}
    for rate in (0.2, 0.02, 0.1):
        assert at["a − b", rate] == pytest.approx(at["a", rate] - at["b", rate])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--trials", "trials.txt"], "`--scores` must name a file of scores"),
        (["--trials", "no.txt"], "`--trials` must name a file, got 'no.txt'"),
        (["--genuine", "genuine.txt"], "`--genuine` and `--impostor` must come together"),
        (["--probes", "all.npy"], "`--probes` and `--gallery` must come together"),
        (["trials.txt"], "--trials FILE for a list of comparisons"),
        (["--images", "all.npy", "--labels", "paths.txt"], "give --id-pattern to take the subject out of a path"),
        (["--images", "trials.csv"], "`--images` must be embeddings in .npy"),
        (["--similarity", "part.npy"], "`--labels` must name the subjects of the 40 rows of 'part.npy'"),
        (["--similarity", "part.npy", "--labels", "who.txt"], "`--gallery-labels` must name the subjects of the 5"),
        (["--similarity", "s.npy", "--labels", "who.txt", "--enrolment", "best"], "`--enrolment` must be left out"),
        (["--trials", "trials.csv"], "'enrolled', 'tried', 'similar'"),
        (["--trials", "trials.txt", "--scores", "genuine.txt"], "`--scores` must be as many as the trials"),
        (["--trials", "trials.csv", "--columns", "probe"], "`--columns` must be role=name"),
        (["--trials", "trials.csv", "--columns", "probe=nobody,gallery=enrolled,score=similar"], "column 'nobody'"),
        (["--images", "all.npy"], "give --labels FILE"),
        (["--images", "all.npy", "--labels", "genuine.txt"], "`--labels` must have a line for each of the 40"),
        (["--images", "all.npy", "--labels", "paths.txt", "--id-pattern", "(x)"], "`--id-pattern` must match"),
        (["--trials", "trials.txt", "--scores", "a.txt", "--name", "x", "--name", "y"], "`--name` must name each of"),
        (["--trials", "trials.txt", "--scores", "a.txt", "--metric", "aer"], "`--metric` must be one of"),
        (["--trials", "trials.txt", "--scores", "a.txt", "--p-target", "2"], "`--p-target` must be strictly between"),
        (["--trials", "trials.txt", "--scores", "a.txt", "--triples"], "`--triples` must be left out"),
        (["--trials", "trials.txt", "--scores", "a.txt", "--at", "1"], "`--at` must be left out without a gallery"),
        (["--similarity", "m.npz", "--scores", "a.txt"], "`--scores` must be left out without --trials"),
        (["--similarity", "m.npz", "--columns", "a=b"], "`--columns` must be left out"),
        (["--similarity", "m.npz", "--id-pattern", "a"], "`--id-pattern` must be left out"),
        (["--similarity", "m.npz", "--smaller-is-better"], "`--smaller-is-better` must be left out"),
        (["--similarity", "m.npz", "--plot", "x.png", "--plot-kind", "difference"], "without two systems or more"),
        (["--similarity", "m.npz", "--plot", "x.png", "--plot-kind", "fnir"], "without --open-set"),
    ],
)
def test_errors_of_lists_are_one_line(data, capsys, monkeypatch, arguments, words):
    made, folder = data
    trial_files(folder, made)
    monkeypatch.chdir(folder)
    code, _, err = call(capsys, *arguments)
    assert code == 1
    assert words in err
    assert len(err.strip().splitlines()) == 1


def test_reidentification_of_two_systems_with_cameras(tmp_path, capsys):
    rng = np.random.default_rng(1)
    who, camera = np.repeat(np.arange(12), 4), np.tile(np.arange(4), 12)
    x = rng.normal(size=(12, 6))[who] + 0.7 * rng.normal(size=(48, 6))
    vectors = {"a": x, "b": x + rng.normal(size=x.shape)}
    probe = camera == 0
    sides = {"q": probe, "g": ~probe}
    for name, v in vectors.items():
        for side, rows in sides.items():
            np.savez(tmp_path / f"{name}{side}.npz", embeddings=v[rows], subject=who[rows])
    seen = {"q": np.ones(12, int), "g": camera[~probe]}  # the probes' own camera is 1
    for side, cameras in seen.items():
        np.savetxt(tmp_path / f"{side}.txt", cameras, fmt="%d")
    files = [arg for name in "ab" for arg in ("--probes", tmp_path / f"{name}q.npz",
                                              "--gallery", tmp_path / f"{name}g.npz")]  # fmt: skip
    rule = ("--cameras", tmp_path / "q.txt", "--gallery-cameras", tmp_path / "g.txt")
    code, out, _ = call(capsys, *files, "--reid", *rule, "--score", "inner", "--at", "1,3", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["schema"] == "strat/reidentify-systems/1"
    expected = [
        reidentification(similarity=v[probe] @ v[~probe].T, probes=who[probe], gallery=who[~probe],
                         probe_cameras=seen["q"], gallery_cameras=seen["g"])
        for v in vectors.values()
    ]  # fmt: skip
    rows = [list(row.values()) if isinstance(row, dict) else row for row in found["rows"]]
    assert [row[1] for row in rows] == ["mAP", "CMC at rank", "CMC at rank"] * 2 + ["mAP"]
    assert rows[0][3] == pytest.approx(expected[0].mean_average_precision().value)
    assert rows[4][3] == pytest.approx(expected[1].cmc([1]).value[0])
    assert rows[-1][3] == pytest.approx(expected[0].difference(expected[1]).value)


def test_reidentification_refuses_what_it_can_not_use(data, capsys):
    _, folder = data
    code, _, error = call(capsys, "--images", folder / "all.npz", "--reid")
    assert code == 1
    assert "`--reidentification` must come with a table of scores, or `--probes` and `--gallery`" in error
    both = ("--probes", folder / "p.npz", "--gallery", folder / "g.npz")
    code, _, error = call(capsys, *both, "--reid", "--cameras", folder / "c.txt")
    assert code == 1
    assert "`--cameras` and `--gallery-cameras` must come together" in error
    code, _, error = call(capsys, *both, "--reid", "--junk", "x")
    assert code == 1
    assert "`--junk` must be numbers as the labels of the gallery are, got 'x'" in error


def test_open_sets_at_thresholds_of_their_own(tmp_path, capsys):
    rng = np.random.default_rng(2)
    who, gallery = np.repeat(np.arange(30), 2), np.arange(20)
    s = rng.normal(size=(60, 20)) + 3 * (who[:, None] == gallery)
    tables = {"a": s, "b": 2 * s + rng.normal(size=s.shape)}
    np.savez(tmp_path / "o.npz", **tables, probes=who, gallery=gallery)
    asked = ("--similarity", tmp_path / "o.npz", "--key", "a", "--key", "b", "--open-set")
    code, out, _ = call(capsys, *asked, "--threshold", "2,4", "--json")
    assert code == 0
    rows = [list(row.values()) if isinstance(row, dict) else row for row in json.loads(out)["rows"]]
    values = {(row[0], row[1]): row[3] for row in rows if "threshold" in row[1]}
    searches = {n: open_set(ranks(similarity=t, probes=who, gallery=gallery, open_set=True)) for n, t in tables.items()}
    gaps = compare_open_sets(searches).difference_at("a", "b", 2.0, threshold_b=4.0)
    for rate in ("FPIR", "FNIR"):
        assert values["a − b", f"{rate} at threshold"] == pytest.approx(gaps.at(rate).value)
        assert values["b", f"{rate} at threshold"] == pytest.approx(searches["b"].rates([4.0]).at(rate, 4.0).value)
    assert {("a", "FMR at threshold"), ("a − b", "FNMR at threshold")} <= values.keys()
    code, _, error = call(capsys, *asked, "--threshold", "1,2,3")
    assert code == 1
    assert "`--threshold` must be one number, or one for each of the 2 systems, got 3" in error
