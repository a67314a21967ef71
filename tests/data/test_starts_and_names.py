"""How tables start and how their columns are called: data for names, Excel's `sep=`, marks, line ends, names twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from strat import StratError
from strat.data import read


def _file(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    (folder / name).write_bytes(text.encode(encoding))
    return folder / name


@pytest.mark.parametrize(
    "text",
    [
        "cat,cat\ndog,cat\ncat,dog\n",
        "u1/a,u2/b,1,0.25\nu1/a,u3/b,0,0.5\nu2/b,u3/b,1,0.75\n",
        "0,1,0.5\n1,1,0.25\n0,0,0.75\n",
        "0.5\n0.25\n",
        "cat\ndog\ncat\n",
    ],
)
def test_a_file_without_names_keeps_its_first_line(text: str, tmp_path: Path) -> None:
    """The first line of data became the names, and was lost without a word."""
    with pytest.raises(StratError, match=r"must start with a line of column names|must name each column once"):
        read(_file(tmp_path, "t.csv", text))


@pytest.mark.parametrize("name", ["t.txt", "t.csv"])
def test_blanks_between_columns_are_refused(name: str, tmp_path: Path) -> None:
    """A list of trials was read as one column under the name of its first trial."""
    with pytest.raises(StratError, match="must have a comma, a tab, a semicolon or a bar between its columns"):
        read(_file(tmp_path, name, "u1/a u2/b 1 0.5\n" + "u1/a u3/b 0 0.25\n" * 3))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0,1,2\n0,1,1\n1,0,2\n", ("0", "1", "2")),  # what pandas writes of an array
        (",0,1\n0,0.5,0.5\n1,0.25,0.75\n", ("column0", "0", "1")),
        ("id,0.1,0.5\na,0.9,0.8\nb,0.8,0.7\n", ("id", "0.1", "0.5")),  # scores at thresholds
        ("spam,guess\nspam,1\nham,0\n", ("spam", "guess")),
        ("my answer\nyes\nno way\n", ("my answer",)),
    ],
)
def test_unusual_names_are_names(text: str, names: tuple[str, ...], tmp_path: Path) -> None:
    """Names that are numbers, or also values, of single columns."""
    assert read(_file(tmp_path, "t.csv", text)).names == names


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_excels_line_of_the_separator(sign: str, mark: str, end: str, tmp_path: Path) -> None:
    """`sep=;` was taken for the name of a column."""
    lines = [f"{mark}sep={sign}", f"t{sign}p", f"a{sign}b", f"b{sign}b", ""]
    path = _file(tmp_path, "t.csv", end.join(lines))
    assert read(path).column("p").tolist() == ["b", "b"]
    assert read([path, _file(tmp_path, "u.csv", end.join(lines))]).column("t").tolist() == ["a", "b", "a", "b"]
    with pytest.raises(StratError, match="a line `sep=`, or without one"):
        read([path, _file(tmp_path, "v.csv", end.join(lines[1:]))])
    ragged = _file(tmp_path, "w.csv", end.join([*lines[:-1], "a", ""]))
    with pytest.raises(StratError, match="line 5, must have 2 fields"):
        read(ragged)


def test_byte_order_marks(tmp_path: Path) -> None:
    """Refused in JSON lines with the number of a wrong line; read in CSV."""
    assert read(_file(tmp_path, "t.csv", "\ufefft,p\na,b\n")).names == ("t", "p")
    with pytest.raises(StratError, match="must not start with a byte-order mark"):
        read(_file(tmp_path, "t.jsonl", '\ufeff{"t": 1}\n{"t": 2}\n'))
    with pytest.raises(StratError, match="must be UTF-8 text"):
        read(_file(tmp_path, "u.csv", "t,p\na,b\n", "utf-16"))


@pytest.mark.parametrize("text", ["t,p\r\na,a\nb,b\n", "t,p\na,a\nb,b\r\n", "t,p\ra,a\r\nb,b\r"])
def test_mixed_line_ends_are_named(text: str, tmp_path: Path) -> None:
    """They were refused with the question whether the file is text."""
    with pytest.raises(StratError, match="must have one kind of line end, got"):
        read(_file(tmp_path, "t.csv", text))


def _repeated(names: list[str]) -> Any:
    import pyarrow as pa

    return pa.Table.from_arrays([pa.array([k, 1]) for k in range(len(names))], names=names)


def _parquet(table: Any, folder: Path) -> Any:
    import pyarrow.parquet as pq

    pq.write_table(table, folder / "t.parquet")
    return folder / "t.parquet"


def _second_parquet(table: Any, folder: Path) -> Any:
    import pyarrow.parquet as pq

    pq.write_table(table.select([0, 1]), folder / "a.parquet")
    return [folder / "a.parquet", _parquet(table, folder)]


def _arrow_file(table: Any, folder: Path) -> Any:
    import pyarrow as pa

    with pa.OSFile(str(folder / "t.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return folder / "t.arrow"


def _duckdb(table: Any, folder: Path) -> Any:
    import duckdb

    return duckdb.sql("select " + ", ".join(f'1 as "{name}"' for name in table.column_names))


def _csv(table: Any, folder: Path) -> Any:
    return _file(folder, "t.csv", ",".join(table.column_names) + "\n1,1,1\n")


FILES = [_parquet, _second_parquet, _arrow_file, _duckdb, _csv]


@pytest.mark.parametrize("names", [["t", "p", "p"], ["t", "p", "P"]])
@pytest.mark.parametrize("make", FILES)
def test_a_name_for_two_columns_is_refused(make: Any, names: list[str], tmp_path: Path) -> None:
    """Of two columns of a Parquet file or a relation with one name the first was taken: accuracy 1.0 for 0.0."""
    with pytest.raises(StratError, match=r"must name (each column once|columns that differ by more than capitals)"):
        read(make(_repeated(names), tmp_path))


def test_names_twice_in_frames() -> None:
    """A frame of PyArrow ended in a TypeError."""
    import pandas as pd

    for frame in (_repeated(["t", "p", "p"]), pd.DataFrame([[1, 2]], columns=["p", "p"])):
        with pytest.raises(StratError, match="the frame must name each column once, got 'p' twice"):
            read(frame)


def test_parts_of_nested_columns_may_be_called_as_a_column(tmp_path: Path) -> None:
    """Only whole columns count."""
    import pyarrow as pa

    table = pa.table({"a": [{"a": 1, "c": [2]}], "b": [[{"a": 1}]], "c": [3]})
    assert read(_parquet(table, tmp_path)).column("c").tolist() == [3]


def test_names_that_are_no_text() -> None:
    """A mapping or a frame whose names are numbers ended in a KeyError."""
    import pandas as pd

    assert read({0: [1, 2]}).column("0").tolist() == [1, 2]
    assert read(pd.DataFrame({0: [1, 2]})).column("0").tolist() == [1, 2]
