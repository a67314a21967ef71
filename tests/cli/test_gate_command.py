"""`strat gate`: exit codes, files in and out, and what a pipeline reads."""

from __future__ import annotations

import csv
import json
import os
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from strat.cli.app import app
from systems import POSIX

N = 300


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, N)
    columns: dict[str, Any] = {"id": range(N), "label": truth, "topic": np.arange(N) // 5}
    for name, share in (("old", 0.7), ("new", 0.85), ("bad", 0.4)):
        columns[name] = np.where(rng.random(N) < share, truth, (truth + 1) % 3)
    path = tmp_path / "answers.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["gate", *map(str, arguments)])


HOW = ("--truth", "label", "--units", "topic", "--baseline", "old")


@pytest.mark.parametrize(
    ("candidate", "margin", "more", "code"),
    [("new", 0.05, (), 0), ("bad", 0.05, (), 3), ("new", 0.05, ("--floor", "0.85"), 4),
     ("new", 0.05, ("--floor", "0.85", "--unsure", "pass"), 0)],
)  # fmt: skip
def test_exit_codes(answers: Path, candidate: str, margin: float, more: tuple[str, ...], code: int) -> None:
    result = run(answers, *HOW, "--candidate", candidate, "--margin", margin, *more)
    assert result.exit_code == code, result.output


def test_json_and_summary(answers: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    result = run(answers, *HOW, "--candidate", "bad", "--margin", 0.05, "--json", "--summary", summary)
    content = json.loads(result.output)
    assert (content["schema"], content["answer"], content["exit_code"]) == ("strat/gate/3", "worse", 3)
    text = summary.read_text()
    assert text.startswith("before\n**worse: accuracy")
    assert "| accuracy | loss below 0.05 |" in text


def test_a_summary_of_any_bytes_is_appended_to(answers: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_bytes(b"before \xff\xfe\n")
    assert run(answers, *HOW, "--candidate", "bad", "--margin", 0.05, "--summary", summary).exit_code == 3
    assert summary.read_bytes().startswith(b"before \xff\xfe\n**worse")


def test_a_baseline_is_stored_and_held_against(answers: Path, tmp_path: Path) -> None:
    stored = tmp_path / "base.json"
    how = ("--truth", "label", "--items", "id")
    assert run(answers, *how, "--predicted", "old", "--save", stored).exit_code == 0
    passed = run(answers, *how, "--predicted", "new", "--baseline", stored, "--margin", 0.05, "--units", "topic")
    direct = run(answers, *HOW, "--candidate", "new", "--margin", 0.05)
    assert passed.exit_code == direct.exit_code == 0
    assert passed.output == direct.output
    again = run(answers, *how, "--predicted", "new", "--baseline", stored, "--margin", 0.05, "--save", stored)
    assert isinstance(again.exception, ValueError)
    assert "`--save` must name another file than those that are read" in str(again.exception)


def test_a_candidate_that_is_stored_although_it_did_not_pass_is_said(answers: Path, tmp_path: Path) -> None:
    stored, later = tmp_path / "base.json", tmp_path / "later.json"
    how = ("--truth", "label", "--items", "id")
    run(answers, *how, "--predicted", "old", "--save", stored)
    for candidate, code in (("new", 0), ("bad", 3)):
        result = run(answers, *how, "--predicted", candidate, "--baseline", stored, "--margin", 0.05, "--save", later)
        assert result.exit_code == code
        said = f"{later} holds this candidate now, although the answer is 'worse'"
        assert (said in result.stderr) == bool(code)


@POSIX
def test_the_action_runs_no_module_of_the_checkout(answers: Path, tmp_path: Path) -> None:
    action = textwrap.dedent((Path(__file__).parents[2] / "action.yml").read_text().partition("      run: |\n")[2])
    for module in ("typer", "numpy", "shlex", "strat", "os", "sitecustomize", "usercustomize"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "encodings").mkdir()
    (tmp_path / "encodings" / "__init__.py").write_text("raise SystemExit(0)\n")
    asked = [*HOW, "--candidate", "bad", "--margin", "0.05"]
    environment = {
        **os.environ,
        "PYTHON": sys.executable,
        "PYTHONPATH": str(tmp_path),
        "PYTHONSTARTUP": str(tmp_path / "typer.py"),
        "ARGUMENTS": shlex.join([str(answers), *asked]),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    answer = subprocess.run(["bash", "-c", action], cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert answer.returncode == 3, answer.stderr
    assert "worse" in (tmp_path / "summary.md").read_text()


def test_margins_by_measure(answers: Path) -> None:
    how = ("--candidate", "new", "--metric", "accuracy", "--metric", "macro_f1")
    result = run(answers, *HOW, *how, "--margin", "accuracy=0.05", "--margin", "macro_f1=0.1", "--json")
    assert [check["bound"] for check in json.loads(result.output)["checks"]] == [-0.05, -0.1]
    for wrong, message in (("x", "`--margin` must be a number, or measure=number, got 'x'"),):
        assert message in str(run(answers, *HOW, *how, "--margin", wrong).exception)
    again = run(answers, *HOW, *how, "--margin", "accuracy=0.05", "--margin", "accuracy=0.5")
    assert "`--margin` must be given once for each measure, got 'accuracy=0.5' again" in str(again.exception)
    both = run(answers, *HOW, *how, "--margin", "0.1", "--margin", "macro_f1=0.1")
    assert "`--margin` must be one number, or measure=number for each measure" in str(both.exception)
    assert "`--margin` must say how large a loss" in str(run(answers, *HOW, "--candidate", "new").exception)


def test_a_warning_passes(answers: Path) -> None:
    result = run(answers, *HOW, "--candidate", "new", "--margin", 0.05, "--floor", 0.85, "--unsure", "warn")
    assert result.exit_code == 0
    assert "strat: warning: can't tell: accuracy" in result.stderr


def test_pass_hat_k_of_a_file(answers: Path, tmp_path: Path) -> None:
    path = tmp_path / "tries.csv"
    rows = [f"q{i},{t},{int((i + t) % 10 != 0)}" for i in range(100) for t in range(4)]
    path.write_text("\n".join(["task,trial,ok", *rows]))
    result = run(path, "--items", "task", "--score", "ok", "--metric", "pass^2", "--floor", "0.5", "--json")
    check = json.loads(result.output)["checks"][0]
    assert result.exit_code == 0
    assert check["measure"] == "pass^2"
    assert check["candidate"] == pytest.approx(0.6 + 0.4 * 0.5)  # 40 of 100 tasks failed once: C(3, 2) / C(4, 2)
