"""`strat demo` does the main job on bundled data and leaves one report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import strat
from strat.cli import main
from strat.datasets.example import example_path


def run(*arguments: str) -> int:
    try:
        main(list(arguments))
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_it_writes_one_report_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo") == 0
    assert [p.name for p in tmp_path.iterdir()] == ["strat-demo.html"]
    page = (tmp_path / "strat-demo.html").read_text(encoding="utf-8")
    assert "guess (0.852) is better than baseline (0.789) by 0.063" in page
    said = capsys.readouterr().out
    assert "report: strat-demo.html" in said
    assert "accuracy    0.8523" in said


def test_json_has_a_schema_and_the_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo", "--json", "--out", "other.html") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["schema"] == "strat/demo/1"
    assert data["report"] == "other.html"
    assert data["comparison"]["tied_with_best"] == ["guess"]
    assert Path("other.html").is_file()


def test_data_prints_the_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo", "--data") == 0
    assert capsys.readouterr().out.strip() == str(example_path())
    assert not list(Path.cwd().iterdir())


def test_copy_makes_a_new_file_and_never_overwrites(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo", "--copy", "predictions.csv") == 0
    assert Path("predictions.csv").read_bytes() == example_path().read_bytes()
    assert run("demo", "--copy", "predictions.csv") == 1
    said = capsys.readouterr().err
    assert said == "strat: `--copy` must name a new file, got 'predictions.csv', which is there already.\n"


def test_a_report_that_is_no_page_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo", "--out", "report.txt") == 1
    assert "`path` must end in .html" in capsys.readouterr().err


def test_the_report_of_evaluate_is_the_same_page() -> None:
    source = str(example_path())
    columns = ["--truth", "label", "--predicted", "guess", "--strata", "subject", "--units", "passage"]
    assert run("evaluate", source, *columns, "--html", "e.html", "-q") == 0
    found = strat.evaluate(source, truth="label", predicted="guess", strata="subject", units="passage")
    assert Path("e.html").read_bytes() == strat.show.report.write(found, "f.html").read_bytes()
