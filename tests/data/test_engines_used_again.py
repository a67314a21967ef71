"""One DuckDB engine serves one question after the other, and nothing of a question stays for the next."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pyarrow as pa
import pytest

import warm
from strat.data import read
from strat.data.files import connect, engine
from strat.verbs import evaluate
from table_sources import ROADS

ASK: dict[str, Any] = {"truth": "t", "predicted": "p", "metrics": "accuracy"}


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The engines that were opened since the test began; it begins and ends with none that is idle."""
    gc.collect()
    engine._IDLE.clear()
    made: list[Any] = []
    real = duckdb.connect

    def counted(*given: Any, **options: Any) -> Any:
        made.append(options)
        return real(*given, **options)

    monkeypatch.setattr(duckdb, "connect", counted)
    yield made
    engine._IDLE.clear()


def _settings(user: Any) -> tuple[Any, ...]:
    asked = "current_setting('memory_limit'), current_setting('threads'), current_setting('temp_directory')"
    return tuple(user.execute(f"select {asked}").fetchone())


def test_ten_questions_open_one_engine(tmp_path: Path, opened: list[Any]) -> None:
    path = tmp_path / "t.csv"
    for right in range(10):
        path.write_text("t,p\n" + "a,a\n" * right + "a,b\n" * (10 - right))
        assert evaluate(path, **ASK)["accuracy"].value == right / 10
    assert len(opened) == 1


def test_two_tables_at_once_have_an_engine_each(tmp_path: Path, opened: list[Any]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("t,p\na,a\na,b\n")
    first, second = read(str(path), memory="100MiB"), read(str(path), memory="200MiB")
    assert len(opened) == 2
    assert evaluate(first, **ASK)["accuracy"].value == evaluate(second, **ASK)["accuracy"].value == 0.5


def test_settings_and_tables_of_one_user_are_not_those_of_the_next(opened: list[Any]) -> None:
    first = connect("100MiB")
    before = _settings(first)
    first.execute("set threads = 7; create temp table mine as select 1 as x")
    first.register("columns", pa.table({"x": [1]}))
    del first
    gc.collect()
    second = connect("200MiB")
    after = _settings(second)
    assert len(opened) == 1
    assert (before[0], after[0]) == ("100.0 MiB", "200.0 MiB")
    assert before[1] == after[1] != 7
    assert before[2] != after[2]
    assert not Path(before[2]).exists()
    assert second.execute("select table_name from information_schema.tables").fetchall() == []


def _workbook(columns: dict[str, list[Any]], folder: Path) -> Path:
    book = openpyxl.Workbook()
    for row in (columns, *zip(*columns.values(), strict=True)):
        book.active.append(list(row))
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


FILES = {name: ROADS[name] for name in ("csv", "json lines", "parquet", "arrow file")} | {"workbook": _workbook}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_changes_between_two_questions_is_read_again(kind: str, tmp_path: Path) -> None:
    """Also where its time and, but for a workbook, its size are those of before."""
    sizes = set()
    for predicted, right in ((["a", "b", "b", "a", "b"], 0.8), (["b", "b", "a", "a", "b"], 0.4)):
        path = FILES[kind]({"t": ["a", "b", "b", "a", "a"], "p": predicted}, tmp_path)
        os.utime(path, (1_000_000_000, 1_000_000_000))
        sizes.add(path.stat().st_size)
        assert evaluate(path, **ASK)["accuracy"].value == right
    assert len(sizes) == 1 or kind == "workbook"


def test_one_that_refuses_its_next_user_makes_room_for_a_new_one(opened: list[Any]) -> None:
    closed = duckdb.connect()
    closed.close()
    engine._IDLE.append(closed)
    assert connect().execute("select 1").fetchone() == (1,)
    assert len(opened) == 2


PROGRAM = """
import gc, os, sys
import strat
path, ask = sys.argv[1], {"truth": "t", "predicted": "p"}
held = strat.read(path)
first = strat.evaluate(path, **ask).to_json()
child = os.fork()
if not child:
    same = strat.evaluate(path, **ask).to_json() == first
    del held
    gc.collect()  # what was opened before the copy was made can't be closed in it
    os._exit(0 if same and strat.evaluate(path, **ask).to_json() == first else 3)
assert os.waitpid(child, 0)[1] == 0
assert strat.evaluate(held, **ask).to_json() == first
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no copies of a process here")
def test_a_copy_of_the_process_asks_engines_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("t,p\na,a\na,b\n")
    done = warm.run(PROGRAM, path)
    assert (done.code, done.out, done.err) == (0, "", "")
