"""`strat evaluate` and `strat sample` as a person calls them: forms, exit codes, nothing half-written."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from strat.cli import main
from strat.verbs import compare


@pytest.fixture
def table(tmp_path: Path, predictions: dict[str, np.ndarray]) -> Path:
    import polars as pl

    path = tmp_path / "answers.csv"
    pl.DataFrame(predictions).write_csv(path)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = 0
    try:
        main([str(a) for a in arguments])
    except SystemExit as exit_:
        code = int(exit_.code or 0)
    said = capsys.readouterr()
    return code, said.out, said.err


ASKED = ("--truth", "truth", "--predicted", "guess")


def test_evaluate_speaks_every_form(table: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, text, _ = run(capsys, "evaluate", table, *ASKED, "--strata", "subject", "--units", "passage")
    assert code == 0
    assert "stratified clusters: 2,000 rows in 60 units in 4 strata of 15" in text
    assert "Inference is for these 4 strata, fixed" in text
    _, data, _ = run(capsys, "evaluate", table, *ASKED, "--units", "passage", "--json", "--metric", "accuracy")
    assert json.loads(data)["schema"] == "strat/evaluate/4"
    _, markdown, _ = run(capsys, "evaluate", table, *ASKED, "--units", "passage", "--markdown", "--quiet")
    assert markdown.startswith("| measure |")
    assert "note" not in markdown
    _, latex, _ = run(capsys, "evaluate", table, *ASKED, "--units", "passage", "--latex")
    assert r"\begin{tabular}" in latex
    to = tmp_path / "out.csv"
    assert run(capsys, "evaluate", table, *ASKED, "--units", "passage", "-o", to)[:2] == (0, "")
    assert to.read_text().startswith("measure,estimate")


def test_evaluate_says_what_it_saw(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, text, _ = run(capsys, "evaluate", table, *ASKED)
    assert "units='passage' (command line: --units passage) if its levels were drawn" in text


def test_errors_are_one_line_and_exit_code_1(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text, error = run(capsys, "evaluate", table, "--truth", "truth", "--predicted", "gess")
    assert (code, text) == (1, "")
    assert error.count("\n") == 1
    assert "did you mean 'guess'?" in error
    code, _, error = run(capsys, "evaluate", table, *ASKED, "--json", "--latex")
    assert code == 1
    assert "must not come together" in error
    code, _, error = run(capsys, "evaluate", table, *ASKED, "--population", "x")
    assert code == 1
    assert "`--population` must name a column" in error


def test_evaluate_reads_a_folder_of_logs(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = shared / "data/ai-logs/logs_eval_a"
    code, text, _ = run(capsys, "evaluate", logs, "--strata", "subject", "--units", "passage", "--json")
    assert code == 0
    (measure,) = json.loads(text)["measures"]
    assert measure["estimate"] == pytest.approx(2 / 3)
    assert measure["se"] == pytest.approx(0.09770, abs=5e-6)


def test_evaluate_says_which_measures_of_the_logs_it_took(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = shared / "data/ai-logs/lm_eval"
    code, text, _ = run(capsys, "evaluate", logs)
    assert code == 0
    assert "measure: acc ('demo_algebra', 'demo_law', 'demo_virology'); exact_match,take_first ('demo_gen')" in text
    (law,) = logs.glob("*/samples_demo_law*.jsonl")
    code, text, _ = run(capsys, "evaluate", law, "--metric", "acc_norm", "--json")
    assert code == 0
    assert json.loads(text)["measures"][0]["estimate"] == pytest.approx(5 / 12)
    (one,) = (shared / "data/ai-logs/logs_json_b").glob("*.json")
    code, text, _ = run(capsys, "evaluate", one, "--json")
    assert json.loads(text)["measures"][0]["estimate"] == pytest.approx(82 / 108)
    code, _, error = run(capsys, "evaluate", logs, "--metric", "acc", "--metric", "acc_norm")
    assert code == 1
    assert "`--metric` must name one measure of the logs, got 'acc', 'acc_norm'" in error


def test_records_in_unused_columns_do_no_harm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "nested.jsonl"
    lines = [{"right": i % 3 == 0, "doc": {"id": i, "tags": ["a", i]}, "list": [i]} for i in range(60)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, text, error = run(capsys, "evaluate", path, "--score", "right", "--json")
    assert (code, error) == (0, "")
    assert json.loads(text)["measures"][0]["estimate"] == pytest.approx(1 / 3)


def test_sample_draws_and_its_output_is_evaluated(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = tmp_path / "drawn.csv"
    code, text, _ = run(capsys, "sample", table, "--size", 100, "--strata", "subject", "-o", drawn)
    assert code == 0
    (line,) = [line.strip() for line in text.splitlines() if line.startswith("  strat evaluate ")]
    assert {"--strata", "--weights", "--population"} <= set(shlex.split(line))
    assert len(drawn.read_text().splitlines()) == 101
    code, text, _ = run(capsys, "sample", table, "-n", 10, "--units", "passage", "--format", "inspect")
    assert code == 0
    assert "," in text
    code, text, _ = run(capsys, "sample", table, "-n", 100, "--strata", "subject", "--format", "lm-eval")
    assert set(json.loads(text)) == {"art", "biology", "chess", "drama"}
    code, _, error = run(capsys, "sample", table, "-n", 3, "--strata", "subject")
    assert code == 1
    assert "`size` must be at least 8" in error
    code, _, error = run(capsys, "sample", table, "-n", 10, "--format", "csv", "--json")
    assert "must not come with --json" in error


def test_reports_are_one_file(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "r.html"
    code, _, _ = run(capsys, "evaluate", table, *ASKED, "--units", "passage", "--html", page)
    assert code == 0
    assert "accuracy" in page.read_text()
    board = compare({"<script>": [1, 1, 0, 1], "B": [0, 1, 0, 1]}, score=["<script>", "B"])
    text = board.report(tmp_path / "c.html").read_text()
    assert "&lt;script&gt;" in text


@pytest.mark.parametrize("command", ["evaluate", "sample"])
def test_help_has_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = run(capsys, command, "--help")
    assert code == 0
    assert f"strat {command} " in text


def test_import_stays_light() -> None:
    parts = ("fft", "interpolate", "optimize", "sparse", "spatial", "stats")
    heavy = ("duckdb", "pandas", "polars", "sklearn", "matplotlib", *(f"scipy.{part}" for part in parts))
    code = f"import sys, strat.verbs; print([m for m in {heavy} if m in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
