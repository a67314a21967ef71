"""Decimal commas and percent signs in columns of numbers: read and said, or refused with advice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import strat
from strat.base.errors import StratError
from strat.data import read


def _csv(delimiter: str) -> Callable[[dict[str, list[str]], Path], Any]:
    def write(table: dict[str, list[str]], folder: Path) -> Path:
        path = folder / "t.csv"
        rows = zip(*table.values(), strict=True)
        quoted = [delimiter.join(f'"{v}"' if delimiter in v else v for v in row) for row in [tuple(table), *rows]]
        path.write_text("\n".join(quoted) + "\n", encoding="utf-8")
        return path

    return write


def _frame(library: str) -> Callable[[dict[str, list[str]], Path], Any]:
    def make(table: dict[str, list[str]], folder: Path) -> Any:
        native = pytest.importorskip(library)
        return native.DataFrame(table)

    return make


def _lazy(table: dict[str, list[str]], folder: Path) -> Any:
    return pytest.importorskip("polars").LazyFrame(table)


ROADS = {
    "semicolons": _csv(";"),
    "commas": _csv(","),
    "mapping": lambda table, folder: table,
    "pandas": _frame("pandas"),
    "polars": _frame("polars"),
    "lazy": _lazy,
}
every_road = pytest.mark.parametrize("road", ROADS)


@every_road
@pytest.mark.parametrize(
    ("texts", "plain", "note"),
    [
        (["0,75", "0,5", "1", "NA", "0,25"], [0.75, 0.5, 1, None, 0.25], "decimal commas: '0,75' was read as 0.75"),
        (["92.5%", "50 %", "0%", "", "7%"], [0.925, 0.5, 0, None, 0.07], "percent signs: '92.5%' was read as 0.925"),
        (["92,5%", "50%", "0,5%", "NA", "7%"], [0.925, 0.5, 0.005, None, 0.07], "decimal commas and percent signs"),
    ],
)
def test_read_as_numbers(road: str, texts: list[str], plain: list[Any], note: str, tmp_path: Path) -> None:
    group = ["a", "a", "b", "b", "c"]
    found = strat.evaluate(ROADS[road]({"s": texts, "g": group}, tmp_path), score="s", units="g", missing="drop")
    expected = strat.evaluate({"s": plain, "g": group}, score="s", units="g", missing="drop")
    assert found["mean"].value == pytest.approx(expected["mean"].value, rel=1e-14)
    assert found["mean"].se == pytest.approx(expected["mean"].se, rel=1e-12)
    assert found.dropped == 1
    assert sum(note in said for said in found.notes) == 1


@every_road
@pytest.mark.parametrize(
    ("texts", "advice"),
    [
        (["1,234", "2,000"], "thousands or a decimal comma\\? Write 1234 or 1.234"),
        (["1,234.5", "2.5"], "a thousands separator\\?"),
        (["1.234,5", "2,5"], "a thousands separator\\?|a decimal comma\\?"),
        (["1,234,567", "0,5"], "thousands|a decimal comma\\?"),
        (["0,5", "0.5"], "a decimal comma\\?"),
        (["50%", "0.5"], "a percentage\\?"),
        (["0,5", "high"], "a decimal comma\\?|choose another column"),
    ],
)
def test_refused_with_advice(road: str, texts: list[str], advice: str, tmp_path: Path) -> None:
    with pytest.raises(StratError, match=f"column `s` must be numbers, got .*(?:{advice})"):
        strat.evaluate(ROADS[road]({"s": texts, "g": ["a", "b"]}, tmp_path), score="s")


@every_road
def test_weights_with_decimal_commas(road: str, tmp_path: Path) -> None:
    table = {"y": ["a", "b", "a", "b"], "p": ["a", "b", "b", "b"], "w": ["0,5", "1", "2", "1,5"]}
    found = strat.evaluate(ROADS[road](table, tmp_path), truth="y", predicted="p", weights="w", metrics="accuracy")
    assert found["accuracy"].value == pytest.approx(0.6)
    assert any("column 'w' is written with decimal commas" in note for note in found.notes)


def test_labels_stay_as_they_are(tmp_path: Path) -> None:
    path = _csv(";")({"y": ["0,5", "1,5"], "p": ["0,5", "0,5"]}, tmp_path)
    assert read(path).column("y").tolist() == ["0,5", "1,5"]
    assert strat.evaluate(path, truth="y", predicted="p", metrics="accuracy")["accuracy"].value == 0.5


def test_comparisons_say_it_too(tmp_path: Path) -> None:
    path = _csv(";")({"a": ["0,5", "1"] * 3, "b": ["0,25", "1"] * 3}, tmp_path)
    assert sum("decimal commas" in note for note in strat.compare(path, score=["a", "b"]).notes) == 2
    table = {"system": ["x", "x", "y", "y"], "item": ["1", "2", "1", "2"], "score": ["50%", "10%", "5%", "1%"]}
    assert "percent signs" in strat.compare(table).notes[0]
