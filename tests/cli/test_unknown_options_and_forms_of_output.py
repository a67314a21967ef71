"""Options that a command does not have, and files whose name tells the form of the output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from strat.cli.app import main

ROLES = ["--truth", "label", "--predicted", "guess"]


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "answers.csv"
    rows = [f"{k % 2},{k % 2 if k % 5 else 1 - k % 2},u{k // 4},s{k // 40}" for k in range(80)]
    path.write_text("label,guess,passage,subject\n" + "\n".join(rows), encoding="utf-8")
    return str(path)


def ended(arguments: list[str]) -> int | None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return end.value.code  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("--measure", "--metric"),
        ("--report", "--html"),
        ("--y-true", "--truth"),
        ("--y_pred", "--predicted"),
        ("--groups", "--units"),
        ("--confidence-level", "--level"),
        ("--unit", "--units"),
    ],
)
def test_an_unknown_option_names_the_one_that_was_meant(
    typed: str, meant: str, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(["evaluate", table, typed, "x"]) == 2
    assert f"there is no option {typed}; did you mean '{meant}'" in capsys.readouterr().err


def test_an_option_that_resembles_none_says_so(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(["evaluate", table, "--zzz"]) == 2
    assert "there is no option --zzz; " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ending", "begins"),
    [
        (".json", "{"),
        (".md", "**"),
        (".tex", "% "),
        (".csv", "measure,"),
        (".txt", "clustered: "),
        (".HTML", "<!doctype html>"),
    ],
)
def test_the_name_of_the_output_tells_its_form(ending: str, begins: str, table: str, tmp_path: Path) -> None:
    target = tmp_path / f"result{ending}"
    assert ended(["evaluate", table, *ROLES, "--units", "passage", "--output", str(target)]) in (0, None)
    text = target.read_text(encoding="utf-8")
    assert text.startswith(begins)
    if ending == ".json":
        assert json.loads(text)["schema"].startswith("strat/evaluate/")


def test_a_form_that_was_asked_for_wins_over_the_name(table: str, tmp_path: Path) -> None:
    target = tmp_path / "result.txt"
    assert ended(["evaluate", table, *ROLES, "--json", "-o", str(target)]) in (0, None)
    assert json.loads(target.read_text(encoding="utf-8"))["schema"].startswith("strat/evaluate/")


@pytest.mark.parametrize(
    ("command", "ending", "way"),
    [("evaluate", ".png", "--plot"), ("evaluate", ".xlsx", ".csv file"), ("look", ".html", "writes no page")],
)
def test_a_name_that_denies_text_is_refused_before_anything_is_done(
    command: str, ending: str, way: str, table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / f"result{ending}"
    assert ended([command, table, "-o", str(target)]) == 1
    assert way in capsys.readouterr().err
    assert not target.exists()


def test_a_page_and_a_text_can_be_written_at_once(table: str, tmp_path: Path) -> None:
    page, text = tmp_path / "page.html", tmp_path / "table.md"
    assert ended(["evaluate", table, *ROLES, "--html", str(page), "-o", str(text)]) in (0, None)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "| accuracy |" in text.read_text(encoding="utf-8")
