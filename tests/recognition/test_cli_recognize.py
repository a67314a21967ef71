"""`strat recognize` from files to figures, and what it says about bad ones."""

from __future__ import annotations

import json

import numpy as np
import pytest

from strat.cli import main
from strat.datasets import recognizer
from strat.recognition import match_curve, ranks_of_embeddings


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
    assert found["schema"] == "strat/recognize/1"
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
    assert "Target: the population of subjects" in out
    assert (folder / "c.png").stat().st_size > 1000


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
    assert "2 units, without image 2" in out
    assert "rank 1 by bootstrap" in out


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
        (["--images", "all.npz"], "`--per-subject` must say"),
        (["--probes", "p.npz", "--gallery", "no.npz"], "is not there"),
        (["--probes", "p.npz", "--gallery", "g.npz", "--key", "embedding"], "did you mean 'embeddings'"),
        (["--probes", "p.npz", "--gallery", "g.npz", "--at", "one"], "`--at` must be numbers"),
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


@pytest.mark.filterwarnings("default:mates score worse")
def test_a_warning_is_one_line_without_code(tmp_path, capsys):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "d.npz", table=rng.normal(size=(30, 30)) + 5 * np.eye(30), subject=np.arange(30))
    code, _, err = call(capsys, "--distance", tmp_path / "d.npz")
    assert code == 0
    assert err.startswith("strat: warning: mates score worse than ")
    assert err.count("\n") == 1


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
