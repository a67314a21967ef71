"""An option that can't apply is refused in one sentence that names it: no command ignores what a person typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from strat.base.errors import StratError
from strat.cli import main
from strat.cli.app import app
from strat.cli.options import naming
from strat.data import ItemTable
from strat.verbs import compare

LABELS = ("t.csv", "--truth", "label", "--predicted", "guess")
WIDE = ("compare", "t.csv", "--score", "right", "--score", "other")
PAIR = ("compare", "t.csv", "--truth", "label", "--predicted", "guess", "--predicted", "second")
LONG = ("compare", "long.csv")
FILES = ("compare", "a.csv", "b.csv", "--items", "id", "--score", "right")
TABLE = ("recognize", "--similarity", "m.npz")
VECTORS = ("recognize", "--probes", "p.npz", "--gallery", "p.npz")
SYSTEMS = ("rank", "wide.csv", "--higher-is-better")
CURVE = ("--sizes", "50,100,200,400", "--errors", "0.15,0.12,0.11,0.105", "--error", "0.102")
THEORY = ("plan", "design-samples", "--features", "8", "--degradation", "0.005")

# what was asked, the option that can't apply there, why
CASES: list[tuple[tuple[str, ...], tuple[str, ...], str]] = [
    (("evaluate", *LABELS), ("--lone", "collapse"), "without --strata"),
    (("evaluate", *LABELS), ("--bins", "9"), "without --score"),
    (("evaluate", *LABELS), ("--positive", "a"), "for measures that look at all classes"),
    (("evaluate", *LABELS), ("--failed", "zero"), "for tables"),
    (("evaluate", *LABELS), ("--incomplete", "keep"), "for tables"),
    (("evaluate", *LABELS), ("--runs", "latest"), "for tables"),
    (("evaluate", "t.csv", "--score", "right"), ("--predicted", "guess"), "without --truth"),
    (("evaluate", "t.csv", "--score", "right"), ("--positive", "a"), "without --truth"),
    (("evaluate", "log.json"), ("--truth", "label"), "for logs"),
    (("evaluate", "log.json"), ("--predicted", "guess"), "for logs"),
    (("evaluate", "log.json"), ("--positive", "a"), "for logs"),
    (("evaluate", "log.json"), ("--missing", "drop"), "for logs"),
    (("evaluate", "log.json"), ("--bins", "9"), "for logs"),
    (("evaluate", "log.json"), ("--text", "id"), "for logs"),
    (("evaluate", "log.json"), ("--memory", "1GB"), "for logs"),
    (("check", *LABELS), ("--lone", "collapse"), "without --strata"),
    (("check", *LABELS), ("--positive", "a"), "for measures that look at all classes"),
    (WIDE, ("--unmatched", "common"), "for one table with a column for each system"),
    (WIDE, ("--system", "id"), "where each system has a column"),
    (WIDE, ("--epoch", "id"), "where each system has a column"),
    (WIDE, ("--lone", "collapse"), "without `--strata`"),
    (WIDE, ("--failed", "zero"), "for tables"),
    (PAIR, ("--lower-is-better",), "beside `--truth`"),
    (FILES, ("--epoch", "id"), "where each system has a table"),
    (FILES, ("--runs", "latest"), "for tables"),
    (TABLE, ("--max-rank", "3"), "without --open-set"),
    (TABLE, ("--fpir", "0.1"), "without --open-set"),
    (TABLE, ("--cameras", "w.txt"), "without --reidentification"),
    (TABLE, ("--junk", "1"), "without --reidentification"),
    ((*TABLE, "--reid"), ("--fmr", "0.1"), "with --reidentification"),
    ((*TABLE, "--reid"), ("--threshold", "0.1"), "with --reidentification"),
    (TABLE, ("--score", "cosine"), "with a table of scores"),
    (TABLE, ("--device", "cuda"), "with a table of scores"),
    (("recognize", "--similarity", "m.csv"), ("--key", "toy"), "for .csv files"),
    (("recognize", "--similarity", "m.csv"), ("--subject", "who"), "for a table in a .csv file"),
    (("recognize", "--similarity", "m.csv", "--triples"), ("--key", "toy"), "for .csv files and triples"),
    (TABLE, ("--labels", "w.txt"), "with scores"),
    (VECTORS, ("--triples",), "for embeddings"),
    (("recognize", "--images", "p.npz", "--per-subject", "2"), ("--at", "1"), "with --per-subject"),
    (("recognize", "--images", "p.npz", "--per-subject", "2"), ("--open-set",), "with --per-subject"),
    (("recognize", "--images", "p.npz", "--per-subject", "2"), ("--max-rank", "2"), "with --per-subject"),
    (("recognize", "--images", "p.npz", "--per-subject", "2"), ("--target", "population"), "with --per-subject"),
    (("recognize", "--images", "p.npz", "--per-subject", "2"), ("--ties", "expected"), "with --per-subject"),
    (("recognize", "--images", "p.npz", "--per-subject", "2"), ("--enrolment", "best"), "with --per-subject"),
    (("chance", "matrix.csv"), ("--exchange", "between"), "without --units"),
    (("chance", "matrix.csv"), ("--permutations", "99"), "without --units"),
    (("chance", *LABELS, "--units", "passage"), ("--permutations", "99"), "without --exchange between"),
    (("chance", *LABELS, "--units", "passage"), ("--seed", "1"), "with --exchange within"),
    (SYSTEMS, ("--alternative", "greater"), "without --control"),
    (("sample", "t.csv", "--size", "9"), ("--spread", "right"), "with --method proportional: it is for neyman"),
    (("sample", "t.csv", "--size", "9"), ("--order", "id"), "with --method proportional: it is for systematic"),
    (("sample", "t.csv", "--size", "9", "--method", "simple"), ("--strata", "passage"), "with --method simple"),
    (("array", "--field", "9"), ("--levels", "3"), "with --field"),
    (("array", "--field", "9"), ("--check",), "with --field"),
    (("array", "oa.csv"), ("--construction", "rotation"), "with a FILE"),
    (("array", "oa.csv"), ("--levels", "3"), "with a FILE"),
    (("array", "oa.csv"), ("--out", "x.csv"), "with a FILE"),
    (("plan", "power", "--null", "0.5", "--alternative", "0.6"), ("--rows", "9"), "with --null and --alternative"),
    (("plan", "power", "--difference", "0.1", "--disagreement", "0.2"), ("--rows", "9"), "with --difference"),
    (("plan", "power", "--difference", "0.1", "--disagreement", "0.2"), ("--null", "0.5"), "with --difference"),
    (("plan", "power", "--rows", "99", "--disagreement", "0.2"), ("--null", "0.5"), "with --rows"),
    (("plan", "design-samples", *CURVE), ("--features", "8"), "with a measured learning curve"),
    (("plan", "design-samples", *CURVE), ("--linear",), "with a measured learning curve"),
    (("plan", "design-samples", *CURVE), ("--bayes-error", "0.1"), "with a measured learning curve"),
    (THEORY, ("--samples", "200"), "with --features and --degradation"),
    (THEORY, ("--level", "0.9"), "with --features and --degradation"),
    (("plan", "design-samples", "--features", "8", "--samples", "99"), ("--error", "0.1"), "with --features"),
    (("reproduce", "--list"), ("--html", "x.html"), "with --list"),
    (("reproduce", "--list"), ("--slow",), "with --list"),
    (("reproduce", "--list"), ("--all",), "with --list"),
    (("demo", "--data"), ("--json",), "with --data"),
    (("demo", "--data"), ("--copy", "x.csv"), "with --data"),
    (("demo", "--copy", "x.csv"), ("--out", "x.html"), "with --copy"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("options")
    rng = np.random.default_rng(0)
    names = "id,label,guess,second,right,other,passage\n"
    rows = [
        f"{i},{'ab'[i % 2]},{'ab'[int(rng.random() < 0.6)]},{'ab'[int(rng.random() < 0.5)]},{rng.random():.3f},"
        f"{rng.random():.3f},{'xyz'[i % 3]}\n"
        for i in range(60)
    ]
    for name in ("t.csv", "a.csv", "b.csv"):
        (here / name).write_text(names + "".join(rows))
    long = [f"{s},{i},{rng.random():.3f}\n" for s in "AB" for i in range(30)]
    (here / "long.csv").write_text("system,item,score\n" + "".join(long))
    (here / "matrix.csv").write_text("40,5\n8,47\n")
    (here / "oa.csv").write_text("0,0,0\n0,1,1\n1,0,1\n1,1,0\n")
    (here / "wide.csv").write_text("A,B,C\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rng.random((12, 3))))
    who = np.repeat(np.arange(8), 3)
    np.savez(here / "p.npz", embeddings=rng.normal(size=(24, 5)) + who[:, None], subject=who)
    scores = rng.normal(size=(8, 8)) + 3 * np.eye(8)
    np.savez(here / "m.npz", toy=scores, subject=np.arange(8))
    lines = [
        ",".join(["", *"abcdefgh"]),
        *(",".join([n, *map(str, r)]) for n, r in zip("abcdefgh", scores, strict=True)),
    ]
    (here / "m.csv").write_text("\n".join(lines))
    _log(here / "log.json")
    return here


def _log(path: Path, epochs: int = 1, passages: int = 12) -> None:
    """A log of 60 samples whose passage decides how right they are."""
    samples = [
        {"id": i, "epoch": e + 1, "scores": {"match": {"value": "C" if (i % passages) % 2 else "I"}},
         "metadata": {"passage": f"p{i % passages}" if passages > 1 else f"p{i}"}}
        for i in range(60) for e in range(epochs)
    ]  # fmt: skip
    log: dict[str, Any] = {
        "version": 2,
        "status": "success",
        "eval": {"task": "claims", "model": "m", "created": "2024-01-01T00:00:00+00:00", "run_id": "r", "task_id": "t",
                 "dataset": {"samples": 60}, "config": {"epochs": epochs}},
        "results": {"total_samples": 60 * epochs, "completed_samples": 60 * epochs, "scores": []},
        "samples": samples,
    }  # fmt: skip
    path.write_text(json.dumps(log))


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[Any, str, str]:
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    said = capsys.readouterr()
    return end.value.code, said.out, said.err


@pytest.mark.parametrize(("asked", "option", "why"), CASES, ids=[" ".join((a[0], *o)) for a, o, _ in CASES])
def test_what_can_not_apply_is_refused(
    asked: tuple[str, ...],
    option: tuple[str, ...],
    why: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(p.name for p in folder.iterdir())
    code, out, err = _run(capsys, *asked, *option)
    assert code == 1, out
    assert err.startswith(f"strat: `{option[0]}` must be left out {why}")
    assert err.count("\n") == 1
    assert sorted(p.name for p in folder.iterdir()) == before


def test_margin_needs_two_systems(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    third = (*PAIR, "--predicted", "label")
    code, _, err = _run(capsys, *third, "--margin", "0.1", "--html", "never.html")
    assert code == 1
    assert "`--margin` must be left out for 3 systems: it compares two." in err
    assert not (folder / "never.html").exists()


def test_the_positive_class_applies_to_measures_of_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    found = []
    for positive in ("a", "b"):
        code, out, err = _run(capsys, "evaluate", *LABELS, "--metric", "f1", "--positive", positive, "--json")
        assert code == 0, err
        found.append(json.loads(out)["measures"][0]["estimate"])
    assert found[0] != found[1]
    code, _, err = _run(capsys, "evaluate", *LABELS, "--metric", "f1", "--positive", "q")
    assert code == 1
    assert "got 'q'" in err


def test_error_rates_rank_the_lowest_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    boards = []
    for metric in ("accuracy", "error_rate"):
        code, out, err = _run(capsys, *PAIR, "--metric", metric, "--json")
        assert code == 0, err
        boards.append([line["system"] for line in json.loads(out)["leaderboard"]])
    assert boards[0] == boards[1]


WIDE_OF = {"A": [1, 0], "B": [1, 1]}
TABLE_OF = {"system": ["a", "a", "b", "b"], "item": [1, 2, 1, 2], "score": [1, 0, 1, 1]}
READ = ItemTable(system=np.array(list("aabb")), items=np.array([1, 2, 1, 2]), score=np.array([1.0, 0.0, 1.0, 1.0]))


@pytest.mark.parametrize(
    ("source", "options", "words"),
    [
        (WIDE_OF, {"score": ["A", "B"], "epoch": "A"}, "`epoch` must be left out where each system has a column"),
        (WIDE_OF, {"score": ["A", "B"], "metrics": "f1"}, "`truth` must name a column for the measure 'f1'"),
        (WIDE_OF, {"score": ["A", "B"], "positive": 1}, "`positive` must be left out without `truth`"),
        (WIDE_OF, {"score": ["A", "B"], "unmatched": "common"}, "`unmatched` must be left out for one"),
        (TABLE_OF, {"metrics": "f1"}, "`truth` must name a column for the measure 'f1'"),
        (
            TABLE_OF,
            {"failed": "zero"},
            "`failed` must be left out for tables: it is for logs of benchmarks, got 'zero'",
        ),
        (TABLE_OF, {"truth": "score"}, "`truth` must come with `predicted` or `score`"),
        (READ, {"units": "passage"}, "`units` must be left out for items that are read already"),
        ("logs.eval", {"weights": "w"}, "`weights` must be left out for logs and folders"),
    ],
)
def test_python_refuses_the_same(source: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(StratError, match=words):
        compare(source, **options)


def test_errors_name_what_was_typed() -> None:
    with (
        pytest.raises(StratError, match="`--similarity` must name a file beside `--key`"),
        naming(path="--similarity", key="--key"),
    ):
        raise StratError.about("path", "must name a file beside `key`.")


def test_logs_get_the_hint_that_tables_get(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _log(tmp_path / "log.json", passages=20)
    hint = "Rows of the same 'passage' are correlated (intraclass correlation 1.00, 20 levels). The standard error of"
    code, out, _ = _run(capsys, "evaluate", str(tmp_path / "log.json"))
    assert code == 0
    assert hint in out
    assert "With --units passage it is " in out
    code, out, _ = _run(capsys, "evaluate", str(tmp_path / "log.json"), "--units", "passage")
    assert code == 0
    assert "are correlated" not in out
    assert "60 rows in 20 passages" in out


def test_repeats_of_one_sample_are_no_new_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _log(tmp_path / "log.json", epochs=3, passages=20)
    code, out, _ = _run(capsys, "evaluate", str(tmp_path / "log.json"), "--json")
    found = json.loads(out)
    assert code == 0
    assert "180 rows in 60 items" in found["design"]
    text = {note["code"]: note["text"] for note in found["notes"]}["looks-clustered"]
    assert "Rows of the same 'passage' are correlated (intraclass correlation 1.00, 20 levels)" in text


def test_strata_that_explain_the_likeness_raise_no_hint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _log(tmp_path / "log.json", passages=6)
    code, out, _ = _run(capsys, "evaluate", str(tmp_path / "log.json"))
    assert code == 0
    assert "With --units passage it is " in out
    code, out, _ = _run(capsys, "evaluate", str(tmp_path / "log.json"), "--strata", "passage")
    assert code == 0
    assert "are correlated" not in out


def test_failed_samples_of_logs_have_a_way_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _log(tmp_path / "log.json")
    log = json.loads((tmp_path / "log.json").read_text())
    log["samples"][3]["scores"] = {}
    (tmp_path / "log.json").write_text(json.dumps(log))
    code, _, err = _run(capsys, "evaluate", str(tmp_path / "log.json"))
    assert code == 1
    assert "(command line: --failed)" in err
    for failed, rows in (("zero", 60), ("drop", 59)):
        code, out, err = _run(capsys, "evaluate", str(tmp_path / "log.json"), "--failed", failed, "--json")
        assert code == 0, err
        assert json.loads(out)["rows"] == rows


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate", "t.csv", "--score", "a", "--score", "b"], "--score takes one value, and is given 2 times; strat "
         "compare takes one for each system, and nri and idi take the old model's risk as --predicted."),
        (["evaluate", "t.csv", "--predicted=a", "--predicted", "b"], "strat compare takes one for each system."),
        (["plan", "width", "--width", "0.1", "--width", "0.2"], "--width takes one value, and is given 2 times."),
        (["check", "t.csv", "--clusters", "a", "--units", "b"], "--units takes one value, and is given 2 times."),
        (["compare", "t.csv", "--system", "a", "--system", "b"], "columns of systems are --predicted or --score."),
    ],
)  # fmt: skip
def test_an_option_of_one_value_is_not_typed_in_vain(words: list[str], message: str) -> None:
    """The last of several would count, silently."""
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


def test_options_of_several_values_are_repeated(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("y,old,new\n" + "\n".join(f"{k % 2},{k % 5 / 5},{k % 7 / 7}" for k in range(70)), encoding="utf-8")
    words = ["evaluate", str(path), "--truth", "y", "--score", "new", "--metric", "auc", "--metric", "brier"]
    assert CliRunner().invoke(app, words).exit_code == 0
    both = ["evaluate", str(path), "--truth", "y", "--predicted", "old", "--score", "new", "--metric", "nri"]
    done = CliRunner().invoke(app, both)
    assert done.exit_code == 0, done.output
    assert "nri" in done.output
