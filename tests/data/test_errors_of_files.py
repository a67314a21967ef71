"""Files that are broken, odd or hostile: one sentence with the file and the place."""

from __future__ import annotations

import gzip
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from strat import StratError, verbs
from strat.data import read
from strat.data.untrusted import stamps_of, unchanged


def _file(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_stray_quote_has_its_line(tmp_path: Path) -> None:
    path = _file(tmp_path, "q.csv", "x,y\n" + "1,a\n" * 30 + '1,"b"c\n' + "2,c\n" * 10)
    with pytest.raises(StratError, match=r"q\.csv`, line 32, can't be read as CSV .*stray quote"):
        read(path)


def test_an_open_quote_is_an_error(tmp_path: Path) -> None:
    path = _file(tmp_path, "q.csv", "x,y\n" + "1,a\n" * 30 + '1,"b\n' + "2,c\n" * 10)
    with pytest.raises(StratError, match=r"q\.csv`, line 42, can't be read"):
        read(path)


@pytest.mark.parametrize(("row", "got"), [("1,b,5", 3), ("1", 1)])
def test_a_ragged_row_has_its_line(tmp_path: Path, row: str, got: int) -> None:
    path = _file(tmp_path, "w.csv", "x,y\n" + "1,a\n" * 30 + row + "\n" + "2,c\n" * 10)
    with pytest.raises(StratError, match=rf"w\.csv`, line 32, must have 2 fields as the first line, got {got}"):
        read(path).column("x")


def test_a_column_that_is_half_numbers(tmp_path: Path) -> None:
    path = _file(tmp_path, "h.csv", "x,w\n" + "1,2\n" * 30000 + "1,oops\n")
    with pytest.raises(StratError, match=r"column `w` must be numbers, got 'oops' in row 30000"):
        read(path).numbers("w")
    assert read(path).column("w")[-1] == "oops"


def test_na_in_numbers_counts_as_missing(tmp_path: Path) -> None:
    path = _file(tmp_path, "n.csv", "x\n1\nNA\n3\n")
    with pytest.raises(StratError, match="`x` has 1 missing"):
        read(path).numbers("x")
    assert read(path).numbers("x", missing="drop").tolist() == [1, 3]


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_a_truncated_binary_file(tmp_path: Path, name: str) -> None:
    import polars as pl

    whole = tmp_path / ("whole" + name)
    frame = pl.DataFrame({"x": np.arange(10000)})
    frame.write_parquet(whole) if name == "t.parquet" else frame.write_ipc(whole)
    cut = _file(tmp_path, name, whole.read_bytes()[: whole.stat().st_size // 2])
    with pytest.raises(StratError, match=rf"{name}` can't be read"):
        read(cut).column("x")


def test_a_truncated_gzip(tmp_path: Path) -> None:
    packed = gzip.compress(b"x,y\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(5000)))
    path = _file(tmp_path, "t.csv.gz", packed[: len(packed) // 2])
    with pytest.raises(StratError, match=r"t\.csv\.gz` can't be read"):
        read(path).column("x")


def test_a_broken_json_line_has_its_number(tmp_path: Path) -> None:
    path = _file(tmp_path, "j.jsonl", '{"a":1}\n{"a":2\n{"a":3}\n')
    with pytest.raises(StratError, match=r"j\.jsonl` can't be read: .*line [23]"):
        read(path).column("a")


def test_a_json_line_that_is_too_long(tmp_path: Path) -> None:
    path = _file(tmp_path, "j.jsonl", '{"a":"x"}\n{"a":"' + "x" * (80 << 20) + '"}\n')
    with pytest.raises(StratError, match=r"j\.jsonl` can't be read: .*size"):
        read(path).column("a")


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = _file(tmp_path, "l.csv", "x,y\n1,\xe9\n".encode("latin1"))
    with pytest.raises(StratError, match=r"l\.csv`.*(unicode|UTF-8)"):
        read(path).column("x")


def test_empty_files_and_no_rows(tmp_path: Path) -> None:
    with pytest.raises(StratError, match="must start with a line of column names"):
        read(_file(tmp_path, "e.csv", ""))
    table = read(_file(tmp_path, "h.csv", "x,y\n"))
    assert len(table) == 0


def test_a_name_twice(tmp_path: Path) -> None:
    with pytest.raises(StratError, match=r"must name each column once, got 'x' twice"):
        read(_file(tmp_path, "d.csv", "x,x\n1,2\n"))


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    path = _file(tmp_path, "t.pkl", pickle.dumps([1]))
    with pytest.raises(StratError, match="strat never loads one"):
        read(path)


def test_unknown_endings_and_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(StratError, match=r"must end in one of \.csv"):
        read(_file(tmp_path, "t.dat", "x"))
    _file(tmp_path, "results.csv", "x\n1\n")
    with pytest.raises(StratError, match=r"got '.*result\.csv'; did you mean 'results\.csv'"):
        read(tmp_path / "result.csv")
    with pytest.raises(StratError, match="got the folder"):
        read(tmp_path)
    with pytest.raises(StratError, match="files of one format"):
        read([tmp_path / "results.csv", _file(tmp_path, "t.jsonl", '{"x":1}')])


def test_glob_signs_in_a_name_stand_for_themselves(tmp_path: Path) -> None:
    _file(tmp_path, "a1.csv", "x\n9\n")
    path = _file(tmp_path, "a[1].csv", "x\n1\n")
    assert read(path).column("x").tolist() == [1]


def test_text_columns_keep_their_zeros(tmp_path: Path) -> None:
    path = _file(tmp_path, "z.csv", "id,x\n7,1\n8,2\n")
    assert read(path, text=["id"]).column("id").tolist() == ["7", "8"]


def test_a_wrong_name_gets_the_near_ones() -> None:
    with pytest.raises(
        StratError, match="`column` must name a column of the columns, got 'trth'; did you mean 'truth'"
    ):
        read({"truth": [1]}).column("trth")


def test_other_sources_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StratError, match="`source` must be a path, a data frame"):
        read(3)
    with pytest.raises(StratError, match="column `b` must have as many rows as `a`"):
        read({"a": [1, 2], "b": [1]}).columns(["a", "b"])
    with pytest.raises(StratError, match="must hold plain labels"):
        read({"a": [[1], [2]]}).column("a")
    with pytest.raises(StratError, match="`memory` must be a size"):
        read(_file(tmp_path, "t.csv", "x\n1\n"), memory="lots")


def test_a_file_that_changes_while_it_is_read(tmp_path: Path) -> None:
    path = _file(tmp_path, "c.csv", "x\n1\n")
    with pytest.raises(StratError, match="changed while it was read"), unchanged(stamps_of([path])):
        path.write_text("x\n1\n2\n")


def test_the_share_done_is_told(tmp_path: Path) -> None:
    path = _file(tmp_path, "p.csv", "x\n" + "1\n" * 200000)
    heard: list[float] = []
    assert len(read(path, progress=heard.append)) == 200000
    assert heard
    assert all(0 <= share <= 1 for share in heard)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_order_of_parts_decides_no_type(order: tuple[int, int], tmp_path: Path) -> None:
    """Text in any part makes the column text."""
    parts = [_file(tmp_path, "a.csv", "y\n1\n2\n"), _file(tmp_path, "b.csv", "y\n01\nx\n")]
    assert sorted(read([parts[k] for k in order]).column("y").tolist()) == ["01", "1", "2", "x"]


def test_decimals_stay_numbers() -> None:
    """DECIMAL(10,2) labels and scores mean the same as floats and whole numbers."""
    import duckdb

    rows = duckdb.connect().sql(
        "select (i % 3)::decimal(10,2) t, (i % 2)::int p, 0.5::decimal(38,10) s from range(6) r(i)"
    )
    assert verbs.evaluate(rows, truth="t", predicted="p", metrics="accuracy")["accuracy"].value == pytest.approx(2 / 6)
    assert verbs.evaluate(rows, score="s")["mean"].value == 0.5


def test_the_extra_for_excel_is_named_where_it_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(StratError, match=r'needs the package openpyxl; pip install "strateval\[excel\]"'):
        read(_file(tmp_path, "t.xlsx", "PK"))
