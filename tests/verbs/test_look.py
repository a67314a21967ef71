"""`strat look`: tables as strangers have them, and commands that run as they are printed, with the right numbers."""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import strat
from strat.base.errors import StratError
from strat.cli import main
from strat.data import read
from strat.verbs import Look, look

Columns = dict[str, Any]


def write(path: Path, columns: Columns, delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = 0
    try:
        main([str(a) for a in arguments])
    except SystemExit as end:
        code = int(end.code or 0)
    said = capsys.readouterr()
    return code, said.out, said.err


def printed(text: str) -> list[str]:
    """The commands in what was printed."""
    return [line.strip() for line in text.splitlines() if line.startswith("  strat ")]


def run_as_printed(line: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    program, *arguments = shlex.split(line)
    assert program == "strat"
    code, out, error = run(capsys, *arguments, "--json")
    assert code == 0, (line, error)
    return json.loads(out)


def medical() -> Columns:
    """Images of patients of three hospitals; two have no diagnosis, and `weight` is that of a body."""
    rng = np.random.default_rng(3)
    patient = np.repeat(np.arange(60), 4)
    truth = np.where(rng.random(60)[patient] < 0.3, "malignant", "benign").astype(object)
    probability = np.clip(np.where(truth == "malignant", 0.6, 0.3) + rng.normal(0, 0.2, 240), 0.001, 0.999).round(3)
    predicted = np.where(probability > 0.5, "malignant", "benign")
    truth[[3, 9]] = "NA"
    return {
        "patient_id": [f"P{p:03d}" for p in patient],
        "hospital": np.array(["Bern", "Genf", "Basel"])[patient % 3],
        "age": rng.integers(20, 90, 60)[patient],
        "weight": rng.integers(50, 99, 240),
        "diagnosis": truth,
        "prediction": predicted,
        "probability": probability,
    }


def benchmark() -> Columns:
    """A long table: three models, eighty questions in four subjects, two samples each."""
    rng = np.random.default_rng(4)
    model, question, sample = (np.ravel(a) for a in np.meshgrid(np.arange(3), np.arange(80), [1, 2], indexing="ij"))
    return {
        "model": np.array(["alpha", "beta", "gamma"])[model],
        "subject": np.array(["law", "algebra", "virology", "logic"])[question % 4],
        "question_id": [f"q{k}" for k in question],
        "sample": sample,
        "correct": (rng.random(480) < 0.4 + 0.2 * model).astype(int),
    }


def two_systems() -> Columns:
    """Labels of two systems beside the truth, several sentences of a document."""
    rng = np.random.default_rng(5)
    gold = rng.choice(["cat", "dog", "owl"], 200)
    return {
        "doc": np.repeat(np.arange(50), 4),
        "sentence": [f"a sentence that is rather long, number {k}" for k in range(200)],
        "gold": gold,
        "old model": np.where(rng.random(200) < 0.6, gold, "cat"),
        "new model": np.where(rng.random(200) < 0.8, gold, "dog"),
    }


def test_a_stranger_with_medical_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    table = medical()
    write(tmp_path / "medical.csv", table)
    code, text, _ = run(capsys, "look", "medical.csv")
    assert code == 0
    assert "Which class is positive, 'benign' or 'malignant'?" in text
    assert "does 'weight' say how many rows" in text
    commands = printed(text)
    assert commands[0] == (
        "strat evaluate medical.csv --truth diagnosis --predicted prediction --strata hospital --units patient_id "
        "--missing drop"
    )
    known = table["diagnosis"] != "NA"
    accuracy = run_as_printed(commands[0], capsys)["measures"][0]
    right = (table["diagnosis"] == table["prediction"])[known].mean()
    assert (accuracy["measure"], accuracy["estimate"]) == ("accuracy", pytest.approx(right))
    assert [c.partition("--positive ")[2].split()[0] for c in commands[1:]] == ["benign", "malignant"]
    auc = run_as_printed(commands[2], capsys)["measures"][2]
    from sklearn.metrics import roc_auc_score

    expected = roc_auc_score(table["diagnosis"][known] == "malignant", table["probability"][known])
    assert (auc["measure"], auc["estimate"]) == ("auc", pytest.approx(expected))


def test_a_stranger_with_a_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    table = benchmark()
    write(tmp_path / "bench.csv", table)
    _, text, _ = run(capsys, "look", "bench.csv")
    (command,) = printed(text)
    board = run_as_printed(command, capsys)["leaderboard"]
    means = {name: table["correct"][table["model"] == name].mean() for name in ("alpha", "beta", "gamma")}
    assert {line["system"]: line["score"] for line in board} == pytest.approx(means)
    assert "--strata subject" in command
    assert "--epoch sample" in command


def test_a_stranger_with_two_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    table = two_systems()
    write(tmp_path / "two systems.csv", table)
    _, text, _ = run(capsys, "look", "two systems.csv")
    commands = printed(text)
    board = run_as_printed(commands[0], capsys)["leaderboard"]
    right = {name: (table[name] == table["gold"]).mean() for name in ("old model", "new model")}
    assert {line["system"]: line["score"] for line in board} == pytest.approx(right)
    assert "--units doc" in commands[0]
    assert run_as_printed(commands[1], capsys)["measures"][0]["estimate"] == pytest.approx(right["old model"])


@pytest.mark.parametrize("table", [medical, benchmark, two_systems])
def test_calls_run_as_printed(table: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "t.csv", table())
    for source in ("t.csv", table()):
        for step in strat.look(source).steps:
            assert len(str(eval(step.call, {"strat": strat, "frame": source}))) > 100
            assert (step.command is None) == (source != "t.csv")


def test_a_file_alone_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "two.csv", two_systems())
    write(tmp_path / "bench.csv", benchmark())
    for words, missing in (
        (["evaluate", "two.csv"], "`--truth` and `--predicted`, or `--score`, must name columns"),
        (["evaluate", "two.csv", "--truth", "gold"], "`--predicted` or `--score` must name columns beside `--truth`"),
        (["check", "two.csv"], "`--truth` and `--predicted`"),
        (["compare", "two.csv"], "`--predicted` or `--score` must name the columns to compare"),
    ):
        code, text, error = run(capsys, *words)
        assert code == 2, words
        assert missing in error
        assert error.count("\n") == 1
        assert printed(text)[0].startswith("strat compare two.csv --truth gold")
    code, text, _ = run(capsys, "evaluate", "two.csv", "--json")
    assert (code, json.loads(text)["schema"]) == (2, "strat/look/2")
    assert run(capsys, "compare", "bench.csv", "--epoch", "sample")[0] == 0  # its columns have the usual names


def test_forms_of_the_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = look(medical())
    assert isinstance(found, Look)
    assert repr(found) == str(found)
    assert "<table>" in found._repr_html_()
    assert list(found.to_frame("pandas")["name"]) == list(medical())
    assert found.to_dict()["missing"] == [0, 0, 0, 0, 2, 0, 0]
    data = json.loads(found.to_json())
    assert data["roles"][0] == {
        "role": "truth",
        "column": "diagnosis",
        "reason": "its name, and 2 labels",
        "sure": True,
    }
    to = tmp_path / "columns.csv"
    path = write(tmp_path / "m.csv", medical())
    assert run(capsys, "look", path, "-o", to)[:2] == (0, "")
    assert to.read_text(encoding="utf-8").startswith("column,kind,levels")


def test_kinds_and_examples() -> None:
    table = {
        "label": ["yes", "no", "NA", "yes"],
        "n": [1, 2, 3, 4],
        "x": [0.5, 1.5, None, 2.5],
        "ok": [True, False, True, True],
        "when": ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-03"],
        "words": [f"quite a long sentence with many words, number {k}" for k in range(4)],
        "share": ["92.5%", "10%", "0%", "7%"],
    }
    found = {column.name: column for column in look(table).columns}
    kinds = ["labels", "whole numbers", "numbers", "truth values", "dates", "text", "numbers"]
    assert [column.kind for column in found.values()] == kinds
    assert (found["label"].missing, found["label"].marks, found["label"].levels) == (1, {"NA": 1}, 2)
    assert found["label"].examples == "no, yes"
    assert found["x"].examples == "0.5 to 2.5"
    assert found["share"].examples == "0 to 0.925"
    assert any("percent signs" in note for note in look(table).notes)


def roles_of(table: Columns) -> dict[str, Any]:
    roles = look(table).roles
    names = ("truth", "predicted", "score", "right", "system", "items", "epoch", "strata", "units", "weights")
    return {name: value for name in names if (value := getattr(roles, name))}


def test_a_subject_is_a_field_or_a_person() -> None:
    rng = np.random.default_rng(0)
    right = rng.integers(0, 2, 240)
    fields = np.tile(["law", "art", "logic"], 80)
    assert roles_of({"subject": fields, "correct": right}) == {"right": ("correct",), "strata": "subject"}
    people = {"subject": [f"S{k}" for k in np.repeat(np.arange(60), 4)], "correct": right}
    assert roles_of(people) == {"right": ("correct",), "units": "subject"}


def test_few_numbered_subjects_that_hold_passages_are_fields() -> None:
    rng = np.random.default_rng(0)
    passage = np.repeat(np.arange(12), 5)
    table = {"subject": [f"s{k}" for k in passage % 4], "passage": passage, "correct": rng.integers(0, 2, 60)}
    assert roles_of(table) == {"right": ("correct",), "strata": "subject", "units": "passage"}
    assert "unsure: 'subject' as strata" in str(look(table))


def test_a_prediction_that_is_always_the_same() -> None:
    found = look({"label": ["a", "b"] * 6, "pred": ["a"] * 12})
    assert found.call == 'strat.evaluate(frame, truth="label", predicted="pred")'


def test_a_prediction_of_other_labels_is_none() -> None:
    """A column that is called a prediction, but shares no label with the truth, can't be right once."""
    table = {"label": ["cat", "dog", "cat", "dog"] * 5, "pred": ["c1", "c2", "c1", "c2"] * 5}
    assert strat.look(table).roles.predicted == ()
    assert strat.look({**table, "pred": ["cat", "c2", "c1", "c2"] * 5}).roles.predicted == ("pred",)


def test_names_that_say_nothing() -> None:
    """Two columns that share their labels are truth and prediction, and which is which is left open."""
    rng = np.random.default_rng(0)
    first = rng.choice(["b", "m"], 50)
    found = look(
        {"reader": first, "network": np.where(rng.random(50) < 0.8, first, "b"), "length": rng.normal(size=50)}
    )
    assert (found.roles.truth, found.roles.predicted) == ("reader", ("network",))
    assert [p.sure for p in found.roles.proposals] == [False, True]
    assert "which column holds the truth?" in str(found)


def test_self_explaining_classes_need_no_choice() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 100)
    score = (0.3 * truth + 0.7 * rng.random(100)).round(3)
    found = look({"y_true": truth, "y_pred": (score > 0.5).astype(int), "y_prob": score})
    assert found.call == 'strat.evaluate(frame, truth="y_true", predicted="y_pred", score="y_prob")'
    assert len(found.steps) == 1
    assert "positive=" not in str(found)


def test_a_column_of_scores_for_each_system(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = {"correct_a": [1, 0, 1, 1] * 5, "correct_b": [1, 0, 0, 1] * 5}
    path = write(tmp_path / "w.csv", table)
    board = run_as_printed(str(look(path).command), capsys)["leaderboard"]
    assert [(line["system"], line["score"]) for line in board] == [("correct_a", 0.75), ("correct_b", 0.5)]
    assert eval(str(look(table).call), {"strat": strat, "frame": table}).systems == ("correct_a", "correct_b")


@pytest.mark.parametrize(
    ("predicted", "scores", "pairs"),
    [
        (("pred_a", "pred_b"), ("score_a", "score_b"), {"score_a": "pred_a", "score_b": "pred_b"}),
        (("pred1", "pred2"), ("prob2",), {"prob2": "pred2"}),
        (("pred_a",), ("score_a", "score_b"), {"score_a": "pred_a", "score_b": None}),
        (("pred_a",), ("score_b",), {"score_b": None}),
        (("pred_a", "pred_b"), ("score",), {"score": None}),
        (("guess",), ("model_score",), {"model_score": "guess"}),
        (("y_pred",), ("prob",), {"prob": "y_pred"}),
    ],
)
def test_a_score_stands_beside_the_predictions_of_its_own_system(
    predicted: tuple[str, ...], scores: tuple[str, ...], pairs: dict[str, str | None]
) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 80)
    table = {"y": truth} | {name: np.where(rng.random(80) < 0.8, truth, 1 - truth) for name in predicted}
    table |= {name: np.round(0.4 * truth + 0.6 * rng.random(80), 3) for name in scores}
    proposed = {step.roles["score"]: step.roles.get("predicted") for step in look(table).steps if "score" in step.roles}
    assert proposed == pairs


def test_repeats_of_one_system_are_items() -> None:
    table = {k: v[:160] for k, v in benchmark().items() if k != "model"}
    assert look(table).call == 'strat.evaluate(frame, score="correct", items="question_id", strata="subject")'


def test_weights_only_where_the_name_says_so() -> None:
    table = {"correct": [1, 0, 1, 1] * 5, "sampling_weight": np.linspace(1, 3, 20)}
    assert roles_of(table) == {"right": ("correct",), "weights": "sampling_weight"}


def test_strata_of_one_unit_are_not_proposed() -> None:
    rng = np.random.default_rng(1)
    patient = np.repeat(np.arange(30), 4)
    table = {"patient": patient, "site": np.where(patient == 0, "small", "large"), "correct": rng.integers(0, 2, 120)}
    assert roles_of(table) == {"right": ("correct",), "units": "patient"}


def test_items_that_a_system_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = {k: np.asarray(v)[3:] for k, v in benchmark().items()}
    path = write(tmp_path / "b.csv", table)
    command = str(look(path).command)
    assert command.endswith("--unmatched common --strata subject")
    run_as_printed(command, capsys)


def test_nothing_to_recognize(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "n.csv", {"a": [1.5, 2.5], "b": ["x", "y"]})
    code, text, _ = run(capsys, "look", path)
    assert code == 0
    assert f"strat evaluate {path} --truth COLUMN --predicted COLUMN" in text
    assert look(path).command is None


def test_odd_names_are_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = rng.choice(["it's", "$x"], 40)
    table = {"-label": truth, 'pred "b"': np.where(rng.random(40) < 0.9, truth, "$x"), "pred a;rm": truth}
    write(tmp_path / "-my file's.csv", table)
    commands = printed(run(capsys, "look", "./-my file's.csv")[1])
    assert len(commands) > 1
    for command in commands:
        run_as_printed(command, capsys)


def test_logs_and_empty_tables_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StratError, match="logs of benchmarks and folders of them need no columns: strat evaluate"):
        look(tmp_path)
    path = tmp_path / "e.csv"
    path.write_text("a,b\n", encoding="utf-8")
    with pytest.raises(StratError, match="must have at least one row"):
        look(path)


def test_columns_of_lists_are_left_out() -> None:
    import polars as pl

    found = look(pl.DataFrame({"label": ["a", "b"] * 3, "pred": ["a", "a"] * 3, "tags": [["x"]] * 6}))
    assert "neither numbers nor text are left out: 'tags'" in str(found)
    assert found.roles.truth == "label"


def test_only_the_first_columns_are_looked_at() -> None:
    found = look({f"c{k}": [1.5, 2.5] for k in range(130)})
    assert len(found.columns) == 100
    assert "Only the first 100 of 130 columns" in str(found)


NAMES = {
    "label": ["label", "y", "Truth", "gold_label", "target"],
    "pred": ["pred", "prediction", "yHat", "guess", "model_output"],
    "prob": ["prob", "score", "confidence", "p"],
    "unit": ["patient", "docId", "user_id", "session", "subject"],
    "stratum": ["site", "language", "category", "subject", "task"],
    "other": ["age", "x1", "notes", "weight", "date", "group"],
}


@pytest.mark.parametrize("seed", range(25))
def test_whatever_is_proposed_runs(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tables of random make, with random gaps: every printed command ends in a result."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 120))
    truth = rng.choice([["a", "b"], ["x", "y", "z"], [0, 1], [1, 2, 3], [True, False]][seed % 5], n)
    unit = rng.integers(0, rng.integers(3, n), n)
    values = {
        "label": truth,
        "pred": np.where(rng.random(n) < 0.8, truth, rng.permutation(truth)),
        "prob": rng.random(n).round(3),
        "unit": unit,
        "stratum": np.array(["u", "v", "w"])[unit % 3] if seed % 2 else rng.choice(["u", "v", "w"], n),
        "other": rng.choice([1, 2, 3, 40], n),
    }
    kept = [role for role in values if rng.random() < 0.8] or ["label", "pred"]
    table = {str(rng.choice(NAMES[role])) + ("" if rng.random() < 0.7 else f"_{k}"): values[role].astype(object)
             for k, role in enumerate(kept)}  # fmt: skip
    for column in table.values():
        column[rng.random(n) < rng.choice([0, 0, 0.03])] = "NA"
    write(tmp_path / "t.csv", table)
    code, text, error = run(capsys, "look", "t.csv")
    assert code == 0, error
    for command in printed(text):
        if "COLUMN" not in command:
            run_as_printed(command, capsys)


@pytest.mark.shared
@pytest.mark.parametrize(
    "name", ["swebench_verified_items.csv.gz", "fields/llmfao/crowd-comparisons.csv", "fields/vandyke_readers.csv"]
)
def test_whatever_is_proposed_for_tables_of_others_runs(
    name: str, shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text, error = run(capsys, "look", str(shared / "data" / name))
    assert code == 0, error
    for command in printed(text):
        if "COLUMN" not in command:
            run_as_printed(command, capsys)


def test_a_table_that_is_read_already() -> None:
    assert look(read(medical())).roles.units == "patient_id"
    assert re.search(r"strat\.evaluate\(frame, ", str(look(read(medical()))))
