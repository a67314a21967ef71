"""A file alone, spreadsheets, decimal commas, yes and no: what a person meets before the first number."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from strat.base.errors import StratError
from strat.base.limits import changed
from strat.data import read
from strat.verbs import evaluate
from table_sources import ROADS, csv_file, every_road


def test_a_file_alone_is_no_dead_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`strat evaluate results.csv` said "got neither": no column was listed and nothing proposed."""
    from strat.cli import main

    path = tmp_path / "results.csv"
    path.write_text("patient,label,pred\n" + "".join(f"{k // 2},{'ab'[k % 2]},a\n" for k in range(12)))
    with pytest.raises(SystemExit) as end:
        main(["evaluate", str(path)])
    assert end.value.code == 2
    assert f"strat evaluate {path} --truth label --predicted pred --units patient" in capsys.readouterr().out


def test_spreadsheets_get_the_right_advice(tmp_path: Path) -> None:
    """An .ods file was to be renamed to .csv, which then failed with Python's own words about new lines."""
    for name in ("r.ods", "r.xls", "r.odd"):
        (tmp_path / name).write_bytes(b"PK\x03\x04")
        with pytest.raises(StratError) as error:
            read(tmp_path / name)
        assert "rename" not in str(error.value)
    (tmp_path / "r.csv").write_bytes(b"PK\x03\x04\r\x00")
    with pytest.raises(StratError, match="perhaps an Excel workbook"):
        read(tmp_path / "r.csv")


@pytest.mark.parametrize("texts", [["0,75", "0,5"], ["75%", "50%"]])
def test_a_european_table_is_read(texts: list[str], tmp_path: Path) -> None:
    """The CSV of a European Excel (`;` and decimal commas), and percentages, were refused as text."""
    path = tmp_path / "eu.csv"
    path.write_text("name;score\n" + "".join(f"n;{text}\n" for text in texts))
    found = evaluate(path, score="score")
    assert found["mean"].value == 0.625
    assert f"{texts[0]!r} was read as 0.75" in found.notes[0]


@pytest.mark.parametrize("words", [("yes", "no"), ("Yes", "No"), ("t", "f"), ("T", "F")])
@pytest.mark.parametrize("large", [False, True])
def test_yes_and_no_are_labels(words: tuple[str, str], large: bool, tmp_path: Path) -> None:
    """A file of yes and no was read as truth values: `positive="yes"` was refused, and so was "maybe"."""
    yes, no = words
    columns = {"y": [yes, no, yes, no, yes, no], "p": [yes, no, no, no, yes, yes]}
    path = csv_file(columns, tmp_path / "t.csv")
    with changed(csv_bytes_looked_at=0) if large else nullcontext():
        found = evaluate(path, truth="y", predicted="p", positive=yes, metrics=["accuracy", "recall"])
    assert found["recall"].positive == yes
    assert found["recall"].value == pytest.approx(2 / 3)
    with pytest.raises(StratError, match=rf"positive class of '{no}' and '{yes}'"):
        evaluate(path, truth="y", predicted="p", metrics="recall")
    unsure = csv_file({**columns, "p": [yes, no, no, no, yes, "maybe"]}, tmp_path / "u.csv")
    assert evaluate(unsure, truth="y", predicted="p", metrics="accuracy")["accuracy"].value == pytest.approx(4 / 6)


@every_road
def test_yes_and_no_among_numbers(road: str, tmp_path: Path) -> None:
    """Whether it was right, yes or no, is a score of 1 and 0 from every source, and a missing one is none."""
    columns = {"u": [1, 1, 2, 2, 3, 3, 4], "right": ["yes", "no", "Yes", "No", "yes", "yes", "NA"]}
    found = evaluate(ROADS[road](columns, tmp_path), score="right", units="u", missing="drop")
    assert found["mean"].value == pytest.approx(4 / 6)
    assert found.dropped == 1
    assert "'yes' was read as 1" in found.notes[0]
