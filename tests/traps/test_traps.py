"""A catalogue of traps: what once gave a wrong number, or a wrong word, in silence; each test tells its story."""

from __future__ import annotations

import enum
import gzip
import itertools
import json
import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from typer.testing import CliRunner

import strat
from strat import comparison, gaussian, planning, protocols, statistics, tables
from strat.algebra import field
from strat.cli.app import app, main
from strat.comparison.hypergeometric import Counts, log_probabilities, upper_tail
from strat.errors import StratError
from strat.estimation.content_order import ordered_by_content
from strat.recognition import match_curve, ranks_of_embeddings, verification
from strat.statistics import loss, probabilities, score_rates, scores
from strat.statistics.positive import positive_of
from strat.tables import evaluate, read
from strat.tables.check import check
from strat.tables.check_result import sheet

ORACLES = Path(__file__).parents[1] / "oracles"


# ---- tables and files


Columns = Mapping[str, list[Any]]
Road = Callable[[Columns, Path], Any]


def _csv(columns: Columns, path: Path, delimiter: str = ",") -> Path:
    rows = [delimiter.join(columns), *(delimiter.join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(rows) + "\n")
    return path


def _gzip(columns: Columns, folder: Path) -> Path:
    packed = folder / "t.csv.gz"
    packed.write_bytes(gzip.compress(_csv(columns, folder / "t.csv").read_bytes()))
    return packed


def _zstandard(columns: Columns, folder: Path) -> Path:
    import zstandard

    packed = folder / "t.csv.zst"
    packed.write_bytes(zstandard.ZstdCompressor().compress(_csv(columns, folder / "t.csv").read_bytes()))
    return packed


def _json(columns: Columns, folder: Path) -> Path:
    rows = [json.dumps(dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]
    (folder / "t.jsonl").write_text("\n".join(rows))
    return folder / "t.jsonl"


def _pandas(columns: Columns, folder: Path) -> Any:
    import pandas as pd

    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def _polars(columns: Columns, folder: Path) -> Any:
    import polars as pl

    return pl.DataFrame({name: pl.Series(_text(values), strict=False) for name, values in columns.items()})


def _arrow(columns: Columns, folder: Path) -> Any:
    import pyarrow as pa

    return pa.table({name: pa.array(_text(values)) for name, values in columns.items()})


def _text(values: list[Any]) -> list[Any]:
    """One type, as a typed frame has it."""
    return [str(v) for v in values] if any(isinstance(v, str) for v in values) else values


def _parquet(columns: Columns, folder: Path) -> Path:
    import pyarrow.parquet as pq

    pq.write_table(_arrow(columns, folder), folder / "t.parquet")
    return folder / "t.parquet"


def _arrow_file(columns: Columns, folder: Path) -> Path:
    import pyarrow.feather

    pyarrow.feather.write_feather(_arrow(columns, folder), folder / "t.arrow")
    return folder / "t.arrow"


def _relation(columns: Columns, folder: Path) -> Any:
    import duckdb

    return duckdb.connect().from_arrow(_arrow(columns, folder))


ROADS: dict[str, Road] = {
    "csv": lambda columns, folder: _csv(columns, folder / "t.csv"),
    "tsv": lambda columns, folder: _csv(columns, folder / "t.tsv", "\t"),
    "gzip": _gzip,
    "zstandard": _zstandard,
    "json lines": _json,
    "parquet": _parquet,
    "arrow file": _arrow_file,
    "arrow": _arrow,
    "pandas": _pandas,
    "polars": _polars,
    "polars lazy": lambda columns, folder: _polars(columns, folder).lazy(),
    "duckdb": _relation,
    "mapping": lambda columns, folder: dict(columns),
}
every_road = pytest.mark.parametrize("road", list(ROADS))
NA_TABLE = {
    "y": ["a", "b", "NA", "a", "b", "a"],
    "p": ["a", "b", "a", "b", "", "a"],
    "g": [1, 1, 2, 2, 3, 3],
    "s": [0.5, "NA", 1.0, 0.25, 0.75, "."],
    "w": [1, 2, 1, "null", 1, 1],
}


@every_road
def test_a_mark_is_missing(road: str, tmp_path: Path) -> None:
    """`NA` in a CSV was a class of its own: accuracy 0.5 where pandas gave 0.75."""
    table = ROADS[road](NA_TABLE, tmp_path)
    found = evaluate(table, truth="y", predicted="p", units="g", missing="drop", metrics="accuracy")
    assert found["accuracy"].value == 0.75
    assert (found.dropped, found.marks) == (2, {"NA": 1, "": 1})
    assert "2 rows with missing values dropped ('NA' 1, empty 1)" in str(found)
    with pytest.raises(StratError, match=r"`y` has 1, `p` has 1 missing \('NA' 1, empty 1\); drop.*if 'NA' is a label"):
        evaluate(table, truth="y", predicted="p", units="g")


@every_road
def test_marks_among_numbers(road: str, tmp_path: Path) -> None:
    """A number column with `NA` was refused as text, even with missing="drop"."""
    table = ROADS[road](NA_TABLE, tmp_path)
    found = evaluate(table, score="s", units="g", missing="drop")
    assert found["mean"].value == pytest.approx(2.5 / 4, abs=1e-15)
    assert (found.dropped, found.marks) == (2, {"NA": 1, ".": 1})
    with pytest.raises(StratError, match="`s` has 2 missing"):
        evaluate(table, score="s", units="g")


@every_road
def test_marks_among_weights(road: str, tmp_path: Path) -> None:
    """A weight of `null` must leave its row out on every road."""
    table = ROADS[road](NA_TABLE, tmp_path)
    found = evaluate(table, truth="y", predicted="p", weights="w", units="g", missing="drop", metrics="accuracy")
    assert (found["accuracy"].value, found.dropped) == (1.0, 3)
    with pytest.raises(StratError, match="missing"):
        evaluate(table, truth="y", predicted="p", weights="w", units="g")


@every_road
def test_marks_are_the_users(road: str, tmp_path: Path) -> None:
    """`na=` replaces the marks: a class called None can be one, and -9 can be missing."""
    columns = {"y": ["None", "a", "-9", "a"], "p": ["None", "a", "a", "None"]}
    table = ROADS[road](columns, tmp_path)
    assert evaluate(table, truth="y", predicted="p", na=[], metrics="accuracy").rows == 4
    found = evaluate(table, truth="y", predicted="p", na=["-9"], missing="drop", metrics="accuracy")
    assert (found.rows, found.marks, found["accuracy"].value) == (3, {"-9": 1}, pytest.approx(2 / 3))


def test_marks_in_compare_check_sample_and_read(tmp_path: Path) -> None:
    """Every function that reads a table takes `na`, and says what it left out."""
    path = _csv(
        {"y": ["a", "b", "x", "a", "b"], "A": list("abaab"), "B": list("bbaaa"), "g": [1, 2, 3, 4, 5]},
        tmp_path / "t.csv",
    )
    wide = {"truth": "y", "predicted": ["A", "B"], "na": ["x"], "missing": "drop"}
    board = tables.compare(path, **wide)  # type: ignore[arg-type]
    assert "1 row with missing values dropped ('x' 1)" in board.notes
    with pytest.raises(StratError, match=r"`y` has 1 missing \('x' 1\)"):
        tables.compare(path, **wide | {"missing": "error"})  # type: ignore[arg-type]
    with pytest.raises(StratError, match=r"\('x' 1\)"):
        tables.check(path, truth="y", predicted="A", na=["x"])
    with pytest.raises(StratError, match=r"\('x' 1\)"):
        tables.sample(path, size=2, strata="y", na=["x"])
    assert len(read(path, na=["x"]).column("y", missing="drop")) == 4
    with pytest.raises(StratError, match="`na` must be given where"):
        evaluate(read(path), truth="y", predicted="A", na=["x"])


@pytest.mark.parametrize("command", ["evaluate", "compare", "check", "sample", "rank", "chance"])
def test_marks_on_the_command_line(command: str, tmp_path: Path) -> None:
    """--na, repeated, replaces the marks in every command that reads a table."""
    path = _csv({"y": ["a", "x", "b"], "A": list("abb"), "B": list("bbz"), "g": [1, 2, 3]}, tmp_path / "t.csv")
    label = ["--truth", "y", "--predicted", "A"]
    options = {
        "compare": [*label, "--predicted", "B"],
        "sample": ["--size", "2", "--strata", "y"],
        "rank": ["--dataset", "y", "--system", "A", "--score", "g", "--higher-is-better"],
    }
    found = CliRunner().invoke(app, [command, str(path), *options.get(command, label), "--na", "x", "--na", "z"])
    assert isinstance(found.exception, StratError) or found.exit_code == 1
    assert "'x' 1" in str(found.exception) + found.output


def test_a_large_csv_reads_marks_among_numbers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A number column whose first `NA` comes after the rows that are looked at could not be read."""
    monkeypatch.setattr("strat.tables.files.csv_reader._WHOLE_SNIFF", 0)
    monkeypatch.setattr("strat.tables.files.csv_reader.SAMPLE", 1000)
    path = _csv({"s": [*range(50_000), "NA", "1.5"]}, tmp_path / "t.csv")
    assert read(path).numbers("s", missing="drop").sum() == sum(range(50_000)) + 1.5


def test_parts_by_name(tmp_path: Path) -> None:
    """Two CSV parts with their columns in another order were put together by position: mean 1.25 for 0.5."""
    a = _csv({"score": [0.5, 0.5], "weight": [2, 2]}, tmp_path / "c.csv")
    b = _csv({"weight": [2, 2], "score": [0.5, 0.5]}, tmp_path / "d.csv")
    for paths in ([a, b], [b, a]):
        assert evaluate(paths, score="score")["mean"].value == 0.5


@pytest.mark.parametrize(
    "content", ["id,label\n0.5,2\n", "0.5,2\n0.5,2\n", "score\n0.5\n", "score,weight,x\n1,2,3\n", ""]
)
def test_parts_with_other_columns(content: str, tmp_path: Path) -> None:
    """A CSV part with other names, or without a header, was taken all the same, and lost its first row."""
    a = _csv({"score": [0.5, 0.5], "weight": [2, 2]}, tmp_path / "c.csv")
    (tmp_path / "d.csv").write_text(content)
    with pytest.raises(StratError, match=r"d\.csv` must (have the columns of .*c\.csv`, but it|start with a line)"):
        evaluate([a, tmp_path / "d.csv"], score="score")


@pytest.mark.parametrize("road", ["csv", "json lines", "parquet", "arrow file"])
def test_a_folder_is_no_column(road: str, tmp_path: Path) -> None:
    """A folder called guess=z replaced the column `guess`: accuracy 0 for 1."""
    folder = tmp_path / "guess=z"
    folder.mkdir()
    path = ROADS[road]({"truth": ["a", "b"], "guess": ["a", "b"]}, folder)
    assert evaluate(path, truth="truth", predicted="guess", metrics="accuracy")["accuracy"].value == 1.0


@pytest.mark.parametrize("folder", ["~", "file:", "a*", "[x]", "{a,b}", "s3:", "http:"])
@pytest.mark.parametrize("road", ["csv", "json lines", "parquet", "arrow file"])
def test_paths_mean_themselves(road: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder called `~` was read from the home folder, one called `file:` from the root."""
    home = tmp_path / "home"
    home.mkdir()
    ROADS[road]({"s": [0, 0]}, home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path)
    (tmp_path / folder).mkdir()
    path = ROADS[road]({"s": [1, 1]}, tmp_path / folder).relative_to(tmp_path)
    (tmp_path / "ax").mkdir()
    ROADS[road]({"s": [0, 0]}, tmp_path / "ax")
    assert read(str(path)).numbers("s").tolist() == [1, 1]


@pytest.mark.parametrize("second", ["a.csv", "./a.csv", "link.csv", "hard.csv", "a*.csv", "l*.csv"])
def test_a_file_counts_once(second: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same file twice, or by a link or a glob that overlaps, counted double without a word."""
    monkeypatch.chdir(tmp_path)
    _csv({"s": [1, 0]}, Path("a.csv"))
    Path("link.csv").symlink_to("a.csv")
    os.link("a.csv", "hard.csv")
    with pytest.raises(StratError, match="`source` must name each file once, got"):
        evaluate(["a.csv", second], score="s")


def test_a_log_counts_once(tmp_path: Path) -> None:
    """A folder of logs and a file in it gave the file's samples twice with runs="repeat"."""
    path = tmp_path / "samples_task_2024-01-01T00-00-00.jsonl"
    rows = [{"doc_id": i, "doc": {}, "metrics": ["acc"], "acc": 1.0} for i in range(3)]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert len(tables.read_logs(tmp_path)) == 3
    with pytest.raises(StratError, match="must name each file once"):
        tables.read_logs([tmp_path, path], runs="repeat")


def test_a_mark_in_a_log_is_no_stratum(tmp_path: Path) -> None:
    """Samples whose subject is "N/A" made a stratum of their own."""
    path = tmp_path / "samples_task_2024-01-01T00-00-00.jsonl"
    rows = [{"doc_id": i, "doc": {"subject": s}, "metrics": ["acc"], "acc": 1.0} for i, s in enumerate(["x", "N/A"])]
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(StratError, match="1 lack 'subject'"):
        tables.read_logs(path, strata="subject")
    assert len(tables.read_logs(path, strata="subject", na=[])) == 2


class Mood(str, enum.Enum):  # noqa: UP042  (a StrEnum writes itself as its text)
    """Labels as many programs keep them."""

    POS = "pos"
    NEG = "neg"


class Level(enum.IntEnum):
    """Numbers as labels."""

    LOW = 1
    HIGH = 2


class Loud(str):
    """A text that writes itself in another way."""

    __slots__ = ()

    def __str__(self) -> str:
        return "the same for all"


class NumpyLoud(np.str_):
    """The same on top of NumPy's text."""

    def __str__(self) -> str:
        return "the same for all"


@pytest.mark.parametrize(("a", "b"), [(Mood.POS, Mood.NEG), (Level.LOW, Level.HIGH), (Loud("x"), Loud("y")),
                                 (NumpyLoud("x"), NumpyLoud("y"))])  # fmt: skip
@pytest.mark.parametrize("make", [list, tuple, lambda values: np.array(values, object)])
def test_labels_of_a_class_of_their_own(a: Any, b: Any, make: Any) -> None:
    """Labels of `class Mood(str, Enum)` collapsed to one: accuracy 1 for 0.5."""
    t, p = make([a, b] * 10), make([a, a] * 10)
    assert strat.accuracy(t, p).value() == 0.5
    plain = ["x", "y"] if isinstance(a, str) else [1, 2]
    assert strat.accuracy(t, t).value() == 1.0
    assert strat.Design.clustered(t).n_units == 2
    found = evaluate({"t": t, "p": p, "u": make([a] * 4 + [b] * 16)}, truth="t", predicted="p", units="u")
    assert found["accuracy"].value == 0.5
    assert "2 units" in found.design
    assert found.labels is not None
    assert found.labels.dtype.kind in "Ui"
    assert len(plain) == len(found.labels)


def test_enum_labels_beside_plain_ones() -> None:
    """A member of a text enumeration is its text, also as the positive class and as a key of the population."""
    t = [Mood.POS, Mood.NEG] * 10
    plain = [m.value for m in t]
    assert strat.accuracy(t, plain).value() == 1.0
    assert strat.recall(t, plain, positive=Mood.POS).value() == 1.0
    a, b = (dict.fromkeys(keys, 100.0) for keys in (("pos", "neg"), (Mood.POS, Mood.NEG)))
    assert np.array_equal(
        strat.Design.stratified(t, population=a).population, strat.Design.stratified(plain, population=b).population
    )


WIDE = [1234567890123456000 + k for k in range(4)]
WIDER = [123456789012345678901234567890 + k for k in range(4)]


def _decimals(road: str, values: list[int], folder: Path) -> Any:
    import duckdb
    import polars as pl
    import pyarrow as pa

    ids = pa.array([Decimal(v) for v in values for _ in range(2)], pa.decimal128(38, 0))
    table = pa.table({"t": [0, 1] * len(values), "p": [0, 0] * len(values), "u": ids})
    connection = duckdb.connect()
    relation = connection.from_arrow(table)
    if road == "parquet":
        relation.write_parquet(str(folder / "d.parquet"))
        return folder / "d.parquet"
    if road == "json lines":
        lines = [json.dumps({"t": i % 2, "p": 0, "u": int(u)}) for i, u in enumerate(ids.to_pylist())]
        (folder / "d.jsonl").write_text("\n".join(lines))
        return folder / "d.jsonl"
    frames: dict[str, Callable[[], Any]] = {
        "duckdb": lambda: relation,
        "arrow": lambda: table,
        "polars": lambda: pl.from_arrow(table),
        "polars lazy": lambda: pl.from_arrow(table).lazy(),  # type: ignore[union-attr]
        "pandas": table.to_pandas,
        "mapping": lambda: {name: table[name].to_pylist() for name in table.column_names},
        "integers": lambda: {**{n: table[n].to_pylist() for n in "tp"}, "u": [int(v) for v in ids.to_pylist()]},
        "csv": lambda: _csv({n: table[n].to_pylist() for n in table.column_names}, folder / "d.csv"),
    }
    return frames[road]()


EXACT_ROADS = ("parquet", "json lines", "duckdb", "arrow", "polars", "polars lazy", "pandas", "mapping", "integers")


@pytest.mark.parametrize("values", [WIDE, WIDER], ids=["64 bits", "97 bits"])
@pytest.mark.parametrize("road", [*EXACT_ROADS, "csv"])
def test_wide_ids_are_not_rounded(road: str, values: list[int], tmp_path: Path) -> None:
    """Ids stored as DECIMAL, or as JSON numbers beyond 64 bits, were rounded to floats: 2 units for 200."""
    table = _decimals(road, values, tmp_path)
    found = evaluate(table, truth="t", predicted="p", units="u", metrics="accuracy")
    assert "in 4 units" in found.design
    assert evaluate(table, truth="t", predicted="p", strata="u", metrics="accuracy").strata.keys() == (
        set(values) if values is WIDE else set(map(str, values))
    )
    assert len(np.unique(read(table).column("u"))) == 4


@pytest.mark.parametrize("road", [*EXACT_ROADS, "csv"])
def test_wide_labels_are_not_rounded(road: str, tmp_path: Path) -> None:
    """As labels, wide numbers that differ in the last digit were equal: accuracy 1 for 0.5."""
    table = read(_decimals(road, WIDER, tmp_path))
    u = table.column("u")
    assert strat.accuracy(u, np.roll(u, 1)).value() == 0.5


def test_a_wide_label_beside_a_narrow_one() -> None:
    """A column of wide whole numbers can be compared with one of small ones, exactly."""
    columns = {"t": [2**70, 1, 2**53 + 1, 3], "p": [1, 1, 2**53, 3]}
    assert evaluate(columns, truth="t", predicted="p", metrics="accuracy")["accuracy"].value == 0.5
    columns = {"t": [2**63, 1, 2**63 + 1], "p": [2**63 + 1, 1, 2**63 + 1]}
    found = evaluate(columns, truth="t", predicted="p", metrics="accuracy")["accuracy"].value
    assert found == strat.accuracy(columns["t"], columns["p"]).value() == pytest.approx(2 / 3)


@pytest.mark.parametrize("road", ["mapping", "parquet", "duckdb", "polars", "polars lazy", "arrow", "pandas"])
def test_a_whole_number_is_not_the_float_beside_it(road: str, tmp_path: Path) -> None:
    """BIGINT 2^53 + 1 equalled DOUBLE 2^53 as a label."""
    columns = {"t": [2**53 + 1, 1, 2], "p": [2.0**53, 1.0, 2.0]}
    if road == "pandas":
        import pandas as pd

        table: Any = pd.DataFrame(columns)
    else:
        table = ROADS[road](columns, tmp_path)
    found = evaluate(table, truth="t", predicted="p", metrics=["accuracy", "macro_recall"])
    assert found["accuracy"].value == pytest.approx(2 / 3)
    assert found["macro_recall"].value == 0.5  # four classes: two right, one wrong, one only predicted
    assert strat.accuracy(np.array(columns["t"]), np.array(columns["p"])).value() == pytest.approx(2 / 3)


ODD_NAMES = ("*", "^p$", "a.b", 'x"y')


@pytest.mark.parametrize("name", ODD_NAMES)
@every_road
def test_names_are_names(road: str, name: str, tmp_path: Path) -> None:
    """A column called `*` stood for all columns in DuckDB, `^p$` for a pattern in Polars: accuracy 1 for 0.5."""
    if road in ("csv", "tsv", "gzip", "zstandard") and '"' in name:
        pytest.skip("the writer of this test does not quote")
    columns = {"p": ["a", "b"] * 4, name: ["a", "a"] * 4, "u": [1, 1, 2, 2, 3, 3, 4, 4], "s": [0.0, 1.0] * 4}
    table = ROADS[road](columns, tmp_path)
    assert evaluate(table, truth=name, predicted="p", metrics="accuracy", units="u")["accuracy"].value == 0.5
    assert evaluate(table, truth="p", predicted="p", strata=name, metrics="accuracy").rows == 8
    assert read(table).column(name).tolist() == columns[name]
    scores = ROADS[road]({**columns, name: [0.25, 0.75] * 4}, tmp_path)
    assert evaluate(scores, score=name, units="u")["mean"].value == 0.5
    assert evaluate(scores, score="s", weights=name, units="u")["mean"].value == 0.75


@pytest.mark.parametrize("name", ["influence_0", "key", "units", "strat_mass", "*", "sum_0"])
def test_names_in_two_passes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Parquet files that are read in two passes a column called influence_0 was a raw error of the engine."""
    monkeypatch.setattr("strat.tables.stream.LARGE", 1)
    columns = {"t": ["a", "b"] * 8, name: ["a", "a"] * 8, "u": [k // 4 for k in range(16)]}
    path = _parquet(columns, tmp_path)
    assert evaluate(path, truth="t", predicted=name, units="u", metrics="accuracy")["accuracy"].value == 0.5


def test_marks_and_wide_ids_in_two_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit `NA` is missing, and decimal ids stay apart, in two passes as in one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.setattr("strat.tables.stream.LARGE", 1)
    wide = pa.array([Decimal(WIDER[k // 4]) for k in range(16)], pa.decimal128(38, 0))
    units = ["NA", *(f"u{k // 4}" for k in range(1, 16))]
    pq.write_table(pa.table({"t": ["a", "b"] * 8, "p": ["a", "a"] * 8, "u": wide, "n": units}), tmp_path / "t.parquet")
    found = evaluate(tmp_path / "t.parquet", truth="t", predicted="p", units="u", metrics="accuracy")
    assert "in 4 units" in found.design
    with pytest.raises(StratError, match="`n` has 1 missing"):
        evaluate(tmp_path / "t.parquet", truth="t", predicted="p", units="n")
    found = evaluate(tmp_path / "t.parquet", truth="t", predicted="p", units="n", missing="drop", metrics="accuracy")
    assert (found.rows, found.dropped) == (15, 1)


@pytest.mark.parametrize("odd", ["01", "x", "1.5", "true", "99999999999999999999", str(2**130)])
@pytest.mark.parametrize("road", ["csv", "json lines"])
def test_the_order_of_rows_decides_no_type(
    road: str, odd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In large files five rows `01` at the end were read as 1, at the start they were text."""
    monkeypatch.setattr("strat.tables.files.csv_reader._WHOLE_SNIFF", 0)
    monkeypatch.setattr("strat.tables.files.json_reader._WHOLE_JSON", 0)
    monkeypatch.setattr("strat.tables.files.csv_reader.SAMPLE", 1000)
    monkeypatch.setattr("strat.tables.files.json_reader.SAMPLE", 1000)
    value = odd if road == "csv" or odd in ("01", "x") else json.loads(odd)
    rows = [1, 2] * 20_000
    found = []
    for values in ([value] * 5 + rows, rows + [value] * 5):
        path = ROADS[road]({"y": values, "p": values[::-1]}, tmp_path)
        got = np.unique(read(path).column("y"))
        made = evaluate(path, truth="y", predicted="p", metrics="accuracy")
        assert made.labels is not None
        assert (made.labels.dtype.kind, made.labels.tolist()) == (got.dtype.kind, got.tolist())
        found.append((got.dtype.kind, got.tolist()))
    assert found[0] == found[1]
    assert len(found[0][1]) == 3


def test_a_table_in_threads(tmp_path: Path) -> None:
    """A table of a file used by eight threads ended in the engine's ResourceInUseException."""
    rng = np.random.default_rng(0)
    path = _csv({"y": rng.integers(0, 3, 3000).tolist(), "p": rng.integers(0, 3, 3000).tolist()}, tmp_path / "t.csv")
    table = read(path)
    start = threading.Barrier(8)

    def one(_: int) -> float:
        start.wait()
        values = [evaluate(table, truth="y", predicted="p", metrics="accuracy")["accuracy"].value for _ in range(5)]
        assert len(set(values)) == 1
        return float(values[0])

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(one, range(8)))) == 1


@pytest.mark.parametrize("kind", ["large_string", "string_view", "string"])
def test_text_of_pyarrow(kind: str) -> None:
    """PyArrow's large_string and string_view ended in "object too deep for desired array"."""
    import pyarrow as pa

    t, p = (pa.array(v, getattr(pa, kind)()) for v in (["a", "b"], ["a", "a"]))
    assert strat.accuracy(t, p).value() == 0.5
    assert strat.accuracy(pa.chunked_array([t]), p).value() == 0.5
    assert evaluate({"t": t, "p": p}, truth="t", predicted="p", metrics="accuracy")["accuracy"].value == 0.5


def test_a_multiindex_is_no_column() -> None:
    """A MultiIndex of pandas ended in "object too deep for desired array"."""
    import pandas as pd

    index = pd.MultiIndex.from_tuples([(1, 2), (3, 4)])
    with pytest.raises(StratError, match="`truth` must have one label per row"):
        strat.accuracy(index, index)


@pytest.mark.parametrize("column", [{"a", "b"}, frozenset("ab"), {"a": 1, "b": 2}, "ab"])
def test_a_column_has_an_order(column: Any) -> None:
    """A set was taken for a column of two rows, in any order."""
    with pytest.raises(StratError, match="column `t` must have one value per row, in order"):
        evaluate({"t": column, "p": ["a", "b"]}, truth="t", predicted="p")


@pytest.mark.parametrize(("text", "advice"), [("0,5", "a decimal comma"), ("92.5%", "a percentage"), ("hm", "`na`")])
@every_road
def test_text_among_numbers_gets_advice(road: str, text: str, advice: str, tmp_path: Path) -> None:
    """Scores such as `0,5` or `92.5%` were refused as "holds text; mend its values"."""
    values = ["0.5", text] * 3
    table = ROADS[road]({"s": [f'"{v}"' if road in ("csv", "gzip", "zstandard") else v for v in values]}, tmp_path)
    with pytest.raises(StratError, match=f"column `s` must be numbers, got '{text}'.*{advice}"):
        evaluate(table, score="s")


def test_blanks_after_commas(tmp_path: Path) -> None:
    """In a CSV with `, ` between its fields ` a` and `a` were two labels: accuracy 0 without a hint."""
    (tmp_path / "t.csv").write_text("y, p, g\na, a, 1\nb, b, 2\nNA, a, 3\na, NA, 4\n")
    found = evaluate(tmp_path / "t.csv", truth="y", predicted="p", units="g", missing="drop", metrics="accuracy")
    assert (found["accuracy"].value, found.dropped) == (1.0, 2)


@every_road
def test_blanks_around_labels_are_told(road: str, tmp_path: Path) -> None:
    """Labels that differ by a blank only are told."""
    table = ROADS[road]({"y": ["a", "b", "a"], "p": ["a ", "b", "a"]}, tmp_path)
    found = evaluate(table, truth="y", predicted="p", metrics="accuracy")
    assert any("'a ' count as other labels" in note for note in found.warnings)


SPELLED = [(["Yes", "No"], ["yes", "no"]), (["a", "b"], ["a ", "b "]), (["1", "0"], ["1.0", "0.0"]),
           (["é", "b"], ["e\u0301", "b"])]  # fmt: skip


@pytest.mark.parametrize(("truth", "predicted"), SPELLED)
def test_labels_in_another_spelling_are_noted(truth: list[str], predicted: list[str]) -> None:
    """A system that wrote "yes" for "Yes" was worse by 76 points, p < 0.001, and a gate said so without a word."""
    table = {"y": truth * 20, "good": truth * 20, "odd": predicted * 20}
    for measure in ("accuracy", "error_rate", "macro_f1", "kappa", "balanced_accuracy", "mcc"):
        found = evaluate(table, truth="y", predicted="odd", metrics=measure)
        assert any("count as other labels" in note and repr(truth[0]) in note for note in found.warnings)
        assert evaluate(table, truth="y", predicted="good", metrics=measure).warnings == ()
    board = tables.compare(table, truth="y", predicted=["good", "odd"])
    assert any("count as other labels" in note for note in board.notes)
    passed = tables.gate(table, truth="y", baseline="good", candidate="odd", margin=0.1)
    assert any("count as other labels" in note for note in passed.notes)
    assert any("count as other labels" in note for note in check(table, truth="y", predicted="odd", trials=50)[0].notes)


def test_letters_of_two_sizes_are_two_classes() -> None:
    """Characters are read as capitals and small letters: these are classes, not spellings."""
    found = evaluate({"y": list("aAbB") * 5, "p": list("aABB") * 5}, truth="y", predicted="p")
    assert not any("other labels" in note for note in found.warnings)


def test_labels_of_another_language_are_noted() -> None:
    """An accuracy of 0 because no predicted label occurs in the truth came without a word."""
    found = evaluate({"y": ["cat", "dog"] * 5, "p": ["Katze", "Hund"] * 5}, truth="y", predicted="p")
    assert any("no predicted label ('Hund', 'Katze') occurs in the truth" in note for note in found.warnings)


def test_systems_of_text_beside_a_truth_of_numbers_are_refused() -> None:
    """`compare` called a system that wrote "1" for 1 wrong in every row; `evaluate` refused it."""
    table = {"y": [0, 1] * 10, "a": [0, 1] * 10, "b": ["0", "1"] * 10}
    with pytest.raises(StratError, match="labels of the type of `truth`, got '0' against 0"):
        tables.compare(table, truth="y", predicted=["a", "b"])


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: strat.accuracy(a, b),
        lambda a, b: strat.plot.roc(a, b),
        lambda a, b: comparison.chance_of_labels(a, b),
        lambda a, b: comparison.mcnemar(a, a, b),
        lambda a, b: strat.Design.stratified(strata=a, units=b),
        lambda a, b: evaluate({"y": a, "p": b}, truth="y", predicted="p"),
    ],
)
def test_columns_of_pandas_in_another_order_are_refused(call: Any) -> None:
    """pandas pairs rows by index, NumPy by place: the accuracy of a sorted column was 0.45 without a word."""
    a = pd.Series([0, 1, 1, 0, 1, 0])
    with pytest.raises(StratError, match="the same index in another order; align it"):
        call(a, a.sort_values())


def test_columns_of_pandas_with_other_indexes_go_by_place() -> None:
    """Predictions of a model come with an index of their own, or none; frames have an order."""
    truth = pd.Series([0, 1, 1], index=[7, 3, 5])
    for predicted in (pd.Series([0, 1, 0]), np.array([0, 1, 0]), pd.Series([0, 1, 0], index=truth.index)):
        assert strat.accuracy(truth, predicted).value() == pytest.approx(2 / 3)


@pytest.mark.parametrize("seed", range(3))
def test_simultaneous_limits_do_not_depend_on_the_order_of_rows(seed: int) -> None:
    """Rounding turned the eigenvectors of equal groups, and with them the draws: 0.7533 became 0.7540."""
    rng = np.random.default_rng(3)
    n, unit = 600, np.repeat(np.arange(100), 6)
    truth = rng.integers(0, 2, n)
    score = np.round(0.3 * truth + 0.6 * rng.random(n), 3)
    frame = pd.DataFrame({"y": truth, "s": score, "u": unit, "g": unit % 4, "t": np.round(rng.random(n), 2)})
    mixed = frame.sample(frac=1, random_state=seed)
    rows: dict[str, Any] = {"truth": "y", "score": "s", "units": "u", "by": "g", "metrics": ["auc", "brier"]}
    for name, groups in evaluate(frame, **rows).groups.items():
        other = evaluate(mixed, **rows).groups[name].worst()
        assert (other.low, other.high) == pytest.approx((groups.worst().low, groups.worst().high), rel=1e-9)
    systems = {f"s{k}": rng.permutation(score) for k in range(3)}
    wide, shuffled = frame.assign(**systems), frame.assign(**systems).sample(frac=1, random_state=seed)
    boards = [tables.compare(one, score=list(systems), units="u") for one in (wide, shuffled)]
    np.testing.assert_allclose(boards[0].many.pvalues(), boards[1].many.pvalues(), rtol=1e-9)


# ---- looking first


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
    assert f"{texts[0]!r} was read as 0.75" in found.warnings[0]


@pytest.mark.parametrize("words", [("yes", "no"), ("Yes", "No"), ("t", "f"), ("T", "F")])
@pytest.mark.parametrize("large", [False, True])
def test_yes_and_no_are_labels(
    words: tuple[str, str], large: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of yes and no was read as truth values: `positive="yes"` was refused, and so was "maybe"."""
    if large:
        monkeypatch.setattr("strat.tables.files.csv_reader._WHOLE_SNIFF", 0)
    yes, no = words
    columns = {"y": [yes, no, yes, no, yes, no], "p": [yes, no, no, no, yes, yes]}
    path = _csv(columns, tmp_path / "t.csv")
    found = evaluate(path, truth="y", predicted="p", positive=yes, metrics=["accuracy", "recall"])
    assert found["recall"].positive == yes
    assert found["recall"].value == pytest.approx(2 / 3)
    with pytest.raises(StratError, match=rf"positive class of '{no}' and '{yes}'"):
        evaluate(path, truth="y", predicted="p", metrics="recall")
    unsure = _csv({**columns, "p": [yes, no, no, no, yes, "maybe"]}, tmp_path / "u.csv")
    assert evaluate(unsure, truth="y", predicted="p", metrics="accuracy")["accuracy"].value == pytest.approx(4 / 6)


@every_road
def test_yes_and_no_among_numbers(road: str, tmp_path: Path) -> None:
    """Whether it was right, yes or no, is a score of 1 and 0 from every source, and a missing one is none."""
    columns = {"u": [1, 1, 2, 2, 3, 3, 4], "right": ["yes", "no", "Yes", "No", "yes", "yes", "NA"]}
    found = evaluate(ROADS[road](columns, tmp_path), score="right", units="u", missing="drop")
    assert found["mean"].value == pytest.approx(4 / 6)
    assert found.dropped == 1
    assert "'yes' was read as 1" in found.warnings[0]


# ---- the positive class, and systems side by side


RNG = np.random.default_rng(0)
WHO = np.repeat(np.arange(200), 5)
ILL = RNG.random(1000) < 0.1
SCORE = ILL + RNG.normal(size=1000)
DIAGNOSIS = np.where(ILL, "cancer", "healthy")
TABLE = {
    "who": WHO,
    "truth": DIAGNOSIS,
    "score": SCORE,
    "a": np.where(SCORE > 0.9, "cancer", "healthy"),
    "b": np.where(SCORE > 0.4, "cancer", "healthy"),
}
DESIGN = strat.Design.clustered(units=WHO)
REFUSED = "`positive` must name the positive class of 'cancer' and 'healthy'; for example positive='cancer'"


def written(path: Path, columns: dict[str, Any]) -> str:
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        main(list(arguments))
    except SystemExit as end:
        code = int(end.code or 0)
    else:
        code = 0
    out, err = capsys.readouterr()
    return code, out, err


def test_the_last_word_of_the_alphabet_is_no_positive_class() -> None:
    """AUC of labels cancer and healthy was 0.22, that of the healthy, without a word; with positive="cancer" 0.78."""
    with pytest.raises(StratError, match=REFUSED):
        strat.evaluate(TABLE, truth="truth", score="score", units="who")
    found = strat.evaluate(TABLE, truth="truth", score="score", units="who", positive="cancer")
    assert found["auc"].value == pytest.approx(strat.auc(ILL, SCORE).value())


@pytest.mark.parametrize(
    "measure",
    [
        lambda **k: strat.f1(DIAGNOSIS, TABLE["a"], **k),
        lambda **k: strat.recall(DIAGNOSIS, TABLE["a"], **k),
        lambda **k: strat.auc(DIAGNOSIS, SCORE, **k),
        lambda **k: scores.average_precision(DIAGNOSIS, SCORE, **k),
        lambda **k: score_rates.equal_error_rate(DIAGNOSIS, SCORE, **k),
        lambda **k: scores.roc(DIAGNOSIS, SCORE, thresholds=[0.0], **k),
        lambda **k: scores.det(DIAGNOSIS, SCORE, thresholds=[0.0], **k),
        lambda **k: scores.precision_recall(DIAGNOSIS, SCORE, thresholds=[0.0], **k),
        lambda **k: score_rates.rate_at(DIAGNOSIS, SCORE, fpr=0.1, **k),
        lambda **k: score_rates.rate_within(DIAGNOSIS, SCORE, fpr=0.1, **k),
        lambda **k: score_rates.threshold_at(DIAGNOSIS, SCORE, at=0.1, **k),
        lambda **k: probabilities.brier(DIAGNOSIS, 1 / (1 + np.exp(-SCORE)), **k),
        lambda **k: probabilities.log_loss(DIAGNOSIS, 1 / (1 + np.exp(-SCORE)), **k),
        lambda **k: probabilities.top_k_accuracy(DIAGNOSIS, SCORE, k=1, **k),
        lambda **k: probabilities.calibration_curve(DIAGNOSIS, 1 / (1 + np.exp(-SCORE)), **k),
        lambda **k: probabilities.calibration_error(DIAGNOSIS, 1 / (1 + np.exp(-SCORE)), **k),
        lambda **k: loss.expected_cost(DIAGNOSIS, SCORE, thresholds=[0.0], **k),
    ],
)
def test_every_measure_of_one_class_asks_and_carries_it(measure: Any) -> None:
    """F1 refused text labels, AUC, Brier, log loss, calibration and costs guessed, and no result knew its class."""
    with pytest.raises(StratError, match=REFUSED):
        measure()
    statistic = measure(positive="cancer")
    assert statistic.positive == "cancer"
    assert strat.estimate(statistic, on=DESIGN).positive == "cancer"


def test_a_threshold_is_not_chosen_for_a_guessed_class() -> None:
    """`optimal_threshold` took the last word of the alphabet for the class that a miss of costs ten."""
    with pytest.raises(StratError, match=REFUSED):
        loss.optimal_threshold(DIAGNOSIS, SCORE, false_negative=10)
    named = loss.optimal_threshold(DIAGNOSIS, SCORE, false_negative=10, positive="cancer")
    assert named == loss.optimal_threshold(ILL, SCORE, false_negative=10)


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        ([0, 1], 1),
        ([0.0, 1.0], 1.0),
        ([False, True], True),
        ([-1, 1], 1),
        (["0", "1"], "1"),
        (["False", "True"], "True"),
        ([0], 1),
        ([-1], 1),
        ([False], True),
        (["0"], "1"),
    ],
)
def test_classes_that_say_it_themselves(labels: Any, positive: Any) -> None:
    """0 and 1 need no word, whatever they are made of, and 1 stays the positive class where only 0 occurs."""
    found = positive_of(labels)
    assert found == positive
    assert type(found) is type(positive)


@pytest.mark.parametrize("labels", [[1, 2], [0, 2], ["a"], [2], [True, "yes"], ["no", "yes"], [5.0, 6.0]])
def test_classes_that_do_not_say_it(labels: Any) -> None:
    """Of 1 and 2 the 2 was positive, and of all "b" the b, which may be either."""
    with pytest.raises(StratError, match=r"`positive` must name the positive class.*for example positive="):
        positive_of(labels)


def test_text_names_a_number() -> None:
    """`--positive true` found no class in a column of truth values, because float("true") is none."""
    assert positive_of([False, True], "true") is True
    assert positive_of([1.0, 2.0], "2") == 2.0
    assert positive_of([2**60, 2**60 + 1], str(2**60 + 1)) == 2**60 + 1
    assert positive_of([False], "true") is True
    assert positive_of([2], "3") == 3
    with pytest.raises(StratError, match="`positive` must be one of the labels, got 'x'; there are 1, 2"):
        positive_of([1, 2], "x")


def test_a_mistyped_class_is_no_class_for_brier() -> None:
    """`brier(…, pos_label="Cancer")` called every row negative, and gave a number."""
    with pytest.raises(StratError, match="`positive` must be one of the labels, got 'Cancer'"):
        probabilities.brier(DIAGNOSIS, 1 / (1 + np.exp(-SCORE)), positive="Cancer")


def test_one_class_against_all_others() -> None:
    """`recall` of one class of three could be had only as the macro mean of a list of one."""
    truth, predicted = ["a", "b", "c", "a"], ["a", "c", "c", "b"]
    assert float(strat.recall(truth, predicted, positive="a").value()) == 0.5
    assert float(strat.specificity(truth, predicted, positive="c").value()) == pytest.approx(2 / 3)


def test_every_output_names_the_class(tmp_path: Path) -> None:
    """Text, JSON, LaTeX, Markdown, CSV, frames, HTML and words gave a recall and never said whose."""
    found = strat.evaluate(TABLE, truth="truth", predicted="a", units="who", metrics="recall", positive="cancer")
    for text in (str(found), found.to_latex(), found.to_markdown(), found.to_csv(), found._repr_html_()):
        assert "positive class" in text
        assert "cancer" in text
    assert json.loads(found.to_json())["measures"][0]["positive"] == "cancer"
    assert found.to_dict()["positive"] == ["cancer"]
    assert "positive class: cancer" in str(found["recall"])
    assert "positive class: cancer" in found["recall"]._repr_html_()
    assert found["recall"].to_dict()["positive"] == ["cancer"]
    assert "positive class: cancer" in strat.report.explain(found)
    page = found.report(tmp_path / "r.html").read_text()
    assert "Recall (positive class: cancer) is" in page.replace("\xa0", " ")
    assert "Positive class" in page


def test_measures_of_all_classes_name_none() -> None:
    """The accuracy looks at no class, and a positive class beside it alone was ignored without a word."""
    found = strat.evaluate(TABLE, truth="truth", predicted="a", units="who")
    assert "positive" not in str(found)
    assert found["macro_f1"].positive is None
    with pytest.raises(StratError, match="`positive` must be left out where no measure looks at one class"):
        strat.evaluate(TABLE, truth="truth", predicted="a", positive="cancer")


def test_f1_of_more_classes_says_that_it_is_a_macro_average() -> None:
    """`metrics="f1"` printed "f1" for the F1 of one of two classes and for the mean over three."""
    three = {"truth": np.tile([0, 1, 2], 20), "said": np.tile([0, 1, 1, 2], 15)}
    found = strat.evaluate(three, truth="truth", predicted="said", metrics=["f1", "macro_recall"])
    assert found["f1"].name == "macro F1"
    assert any(note.startswith("f1 is the macro average over all classes") for note in found.warnings)
    assert not any("macro_recall" in note for note in found.warnings)
    one = strat.evaluate(three, truth="truth", predicted="said", metrics="f1", positive=2)
    assert one["f1"].positive == 2
    assert not one.warnings


@pytest.mark.parametrize("units", ["who", None])
def test_an_area_below_one_half_asks_whether_it_is_reversed(units: str | None) -> None:
    """An AUC of 0.22 stood in the table like any other."""
    found = strat.evaluate(TABLE, truth="truth", score="score", units=units, positive="healthy")
    note = "AUC 0.22 is below 0.5: is the positive class (healthy) or the direction of the score reversed?"
    assert note in found.warnings
    assert note in found["auc"].notes
    right = strat.evaluate(TABLE, truth="truth", score="score", units=units, positive="cancer")
    assert not any("reversed" in said for said in right.warnings)


def test_a_comparison_of_areas_asks_it_too() -> None:
    """Two reversed systems were compared as if the worse one were the better."""
    both = [strat.auc(ILL, -SCORE), strat.auc(ILL, -SCORE + RNG.normal(size=1000))]
    found = comparison.paired(*both, on=DESIGN, higher_is_better=True)
    assert any(note.startswith("AUC 0.22, 0.") for note in found.difference.notes)
    assert "positive class: True" in str(found)
    assert found.to_dict()["positive"] is True


def test_systems_are_compared_for_one_class() -> None:
    """The recall of cancer by one system was subtracted from that of health by another."""
    ill, well = (strat.recall(DIAGNOSIS, TABLE["a"], positive=one) for one in ("cancer", "healthy"))
    for compare in (
        lambda: comparison.paired(ill, well, on=DESIGN, higher_is_better=True),
        lambda: comparison.unpaired(ill, well, on_a=DESIGN, on_b=DESIGN, higher_is_better=True),
        lambda: comparison.many({"a": ill, "b": well}, on=DESIGN, higher_is_better=True),
    ):
        with pytest.raises(StratError, match=r"must look at the same class as `a` \('cancer'\), got 'healthy'"):
            compare()


def test_compare_takes_a_measure_and_its_class() -> None:
    """`strat.compare(metrics="recall")` was refused, and neither road could name the class."""
    options: dict[str, Any] = {"truth": "truth", "predicted": ["a", "b"], "units": "who"}
    with pytest.raises(StratError, match=REFUSED):
        strat.compare(TABLE, metrics="recall", **options)
    found = strat.compare(TABLE, metrics="recall", positive="cancer", **options)
    assert found.systems == ("b", "a")
    for name in "ab":
        one = strat.estimate(strat.recall(DIAGNOSIS, TABLE[name], positive="cancer"), on=DESIGN)
        assert found.estimate.at(name).value == pytest.approx(one.value)
        assert found.estimate.at(name).se == pytest.approx(one.se)
    assert "measure: recall (positive class: cancer)" in str(found)
    assert json.loads(found.to_json())["positive"] == "cancer"


def test_compare_measures_all_systems_in_one_way() -> None:
    """F1 was that of one class for a system that used two labels, and a macro mean for one that used a third."""
    table = {"truth": [0, 1] * 30, "two": [0, 1, 1] * 20, "three": [0, 1, 2] * 20}
    found = strat.compare(table, truth="truth", predicted=["two", "three"], metrics="f1")
    assert found.estimate.name == "macro F1"
    assert found.estimate.at("two").value == pytest.approx(
        strat.f1(table["truth"], table["two"], average="macro").value()
    )


def test_the_command_compares_one_class_and_counts_dropped_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`compare --metric recall --missing drop` left 40 rows out and did not say so; there was no --positive."""
    columns = {name: TABLE[name].tolist() for name in ("who", "truth", "a", "b")}
    columns["truth"] = [""] * 40 + columns["truth"][40:]
    file = written(tmp_path / "t.csv", columns)
    call = ["compare", file, "--truth", "truth", "--predicted", "a", "--predicted", "b", "--metric", "recall"]
    code, _, err = ran(capsys, *call, "--missing", "drop")
    assert code == 1
    assert "`--positive` must name the positive class of 'cancer' and 'healthy'; for example --positive 'cancer'" in err
    page = tmp_path / "r.html"
    code, out, _ = ran(
        capsys, *call, "--missing", "drop", "--positive", "cancer", "--units", "who", "--html", str(page)
    )
    assert code == 0
    assert "40 rows with missing values dropped" in out
    assert "(recall, positive class: cancer)" in out
    assert "40 rows with missing values dropped" in page.read_text().replace("\xa0", " ")
    assert "Positive class" in page.read_text()
    _, out, _ = ran(capsys, *call, "--missing", "drop", "--positive", "cancer", "--json")
    data = json.loads(out)
    assert any(note["text"].startswith("40 rows with missing values dropped") for note in data["notes"])
    assert data["positive"] == data["comparison"]["positive"] == "cancer"


def test_joined_files_count_dropped_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An item whose truth was missing in every file vanished from a comparison of two files without a word."""
    columns = {"id": list(range(60)), "truth": ["", *("ab" * 30)[1:]], "said": list("aabb" * 15)}
    files = [written(tmp_path / f"{name}.csv", columns) for name in ("one", "two")]
    code, out, _ = ran(
        capsys, "compare", *files, "--items", "id", "--truth", "truth", "--predicted", "said", "--missing", "drop"
    )
    assert code == 0
    assert "one: 1 row with missing values dropped" in out
    assert "two: 1 row with missing values dropped" in out


def test_commands_take_text_for_numbers_and_truth_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--positive false` named no class of a CSV column that reads as truth values."""
    file = written(
        tmp_path / "t.csv", {"truth": ["true", "false"] * 20, "said": ["true", "true", "false"] * 13 + ["true"]}
    )
    call = ["evaluate", file, "--truth", "truth", "--predicted", "said", "--metric", "recall", "--json"]
    code, out, err = ran(capsys, *call, "--positive", "false")
    assert code == 0, err
    assert json.loads(out)["measures"][0]["positive"] is False


def test_check_names_the_class_and_keeps_it_in_every_sample() -> None:
    """A check of text labels measured the last word of the alphabet, sample by sample."""
    with pytest.raises(StratError, match=REFUSED):
        check(TABLE, truth="truth", predicted="a", metrics="recall", trials=50)
    found = check(TABLE, truth="truth", predicted="a", metrics="recall", positive="cancer", trials=50)
    assert found[0].estimate.positive == "cancer"
    table = sheet(found)
    assert "positive class: cancer" in table.notes
    assert table.data["measures"][0]["positive"] == "cancer"


def test_pooled_systems_are_noticed() -> None:
    """`evaluate` of a long table of three models pooled them without a word."""
    questions = np.arange(100)
    long = {
        "question": np.tile(questions, 3),
        "model": np.repeat(["x", "y", "z"], 100),
        "truth": np.tile(questions % 2, 3),
        "said": RNG.integers(0, 2, 300),
    }
    note = (
        "column 'model' has 3 levels, and every 'question' occurs once in each: these look like several systems "
        "pooled; use compare, or keep the rows of one."
    )
    assert note in strat.evaluate(long, truth="truth", predicted="said").warnings
    assert note in strat.evaluate(long, truth="truth", predicted="said", units="question").warnings
    assert not strat.evaluate(long, truth="truth", predicted="said", strata="model").warnings
    other = {("kind" if name == "model" else name): values for name, values in long.items()}
    said = strat.evaluate(other, truth="truth", predicted="said").warnings
    assert any(note.startswith("column 'kind' has 3 levels") and "units='question'" in note for note in said)
    one = {name: values[:100] for name, values in long.items()}
    assert not any("column" in note for note in strat.evaluate(one, truth="truth", predicted="said").warnings)


@pytest.mark.parametrize("names", [("cancer", "healthy"), (1, 0)])
def test_another_system_is_no_stratum(names: tuple[Any, Any]) -> None:
    """The note on correlated rows proposed strata='pred_b', the predictions of another system."""
    rng = np.random.default_rng(1)
    truth = rng.random(2000) < 0.5
    hard = rng.random(2000) < 0.3
    said = {name: np.where(hard & (rng.random(2000) < 0.9), ~truth, truth) for name in ("pred_a", "pred_b")}
    group = np.where(hard, "h", "e")
    table = {k: np.where(v, *names) for k, v in {"truth": truth, **said}.items()} | {"group": group}
    table["pred_b"] = np.where(truth & ~said["pred_b"], names[1], table["pred_b"])
    found = strat.evaluate(table, truth="truth", predicted="pred_a")
    assert any("'group'" in note for note in found.warnings)
    assert not any("'pred_b'" in note for note in found.warnings)


def test_thresholds_come_in_any_order() -> None:
    """`roc(thresholds=[.2, .5])` was refused: they "must fall from the first to the last"."""
    rising, falling = (scores.roc(ILL, SCORE, thresholds=t) for t in ([0.2, 0.5, 0.5], [0.5, 0.2]))
    assert rising.axes[1].labels == falling.axes[1].labels == (0.5, 0.2)
    np.testing.assert_array_equal(rising.value(), falling.value())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: strat.auc(SCORE, ILL), "are `truth` and `score` swapped"),
        (lambda: strat.auc(SCORE, DIAGNOSIS), "are `truth` and `score` swapped"),
        (lambda: probabilities.brier(SCORE, ILL.astype(int)), "are `truth` and `probability` swapped"),
    ],
)
def test_swapped_arguments_are_noticed(call: Any, words: str) -> None:
    """`auc(score, truth)` complained of a thousand classes and did not guess why."""
    with pytest.raises(StratError, match=words):
        call()
    with pytest.raises(StratError) as caught:
        strat.auc([0, 1, 2], [0.1, 0.2, 0.3])
    assert "swapped" not in str(caught.value)


@pytest.mark.parametrize("absurd", [pd.NA, float("nan"), [1], {}, np.array([0, 1]), object, "1x", 2, 1j])
def test_absurd_classes_are_refused(absurd: Any) -> None:
    """A class that is none of the labels is refused by name, whatever it is made of."""
    with pytest.raises(StratError, match=r"`positive` must be one (of the labels|value)"):
        strat.recall([0, 1, 1], [0, 1, 0], positive=absurd)


def test_scores_are_no_predictions() -> None:
    """`evaluate` of a column of probabilities as `predicted` gave accuracy 0 and a macro F1 of a thousand classes."""
    with pytest.raises(
        StratError, match=r"`predicted` must be labels, got 1,000 different numbers.*which look like scores"
    ):
        strat.evaluate({"truth": ILL.astype(int), "p": SCORE}, truth="truth", predicted="p")
    with pytest.raises(StratError, match="look like scores"):
        strat.f1(ILL, SCORE)


# ---- replicates and arrays


def correlated(rng: np.random.Generator, n: int) -> strat.Statistic:
    x = rng.normal(size=n)
    return strat.correlation(x, 0.6 * x + 0.8 * rng.normal(size=n))


def classified(rng: np.random.Generator, n: int) -> strat.Statistic:
    truth = rng.integers(0, 3, n)
    return strat.balanced_accuracy(truth, np.where(rng.random(n) < 0.7, truth, rng.integers(0, 3, n)))


def pairs(strata: int, *, named: bool, units: int = 2) -> strat.Design:
    labels = np.tile(np.arange(units), strata) if named else None
    return strat.Design.stratified(strata=np.repeat(np.arange(strata), units), units=labels, nested=named)


def test_unnamed_rows_were_sorted_by_size() -> None:
    """Unnamed rows were sorted by size, so that one replicate of 1,024 had 39 % of the variance: 0.0177 for 0.0147."""
    statistic = correlated(np.random.default_rng(0), 2000)
    rows, named = (strat.estimate(statistic, on=strat.brr(pairs(1000, named=k))) for k in (False, True))
    assert rows.se == pytest.approx(named.se, rel=0.02)
    assert rows.se == pytest.approx(strat.estimate(statistic, on=pairs(1000, named=True)).se, rel=0.02)
    squares = (rows.replicates - rows.value) ** 2
    assert squares.max() < 0.03 * squares.sum()


def test_equal_contents_come_first_in_some_strata_and_last_in_others() -> None:
    """With few kinds of rows an order by content alone puts the same kind first in every stratum."""
    y = np.tile([0.0, 1.0], 400)
    design = pairs(400, named=False)
    first = y[np.argsort(ordered_by_content(strat.mean(y), design).unit)][::2]
    assert 0.4 < first.mean() < 0.6
    same = strat.Design.simple_random(n=800)
    sorted_values = y[np.argsort(ordered_by_content(strat.mean(y), same).unit)]
    assert 300 < np.count_nonzero(np.diff(sorted_values)) < 500  # equal rows don't stand together


def own_function(rng: np.random.Generator, n: int) -> tuple[np.ndarray, Callable[[np.ndarray], strat.Statistic]]:
    y = rng.exponential(size=n)
    return y, lambda v: strat.statistic(lambda w: np.log(np.einsum("...i,i->...", w, v**2)))


@pytest.mark.parametrize("method", [strat.brr, strat.fay, strat.generalized, strat.multi_array])
@pytest.mark.parametrize("kind", ["ratio", "function"])
def test_row_order_and_scale_of_weights_change_nothing(
    method: Callable[[strat.Design], strat.Replicates], kind: str
) -> None:
    """The order by hash is still the same for rows in any order and weights on any scale."""
    rng = np.random.default_rng(5)
    n, strata, weights = 36, np.repeat(np.arange(12), 3), rng.integers(1, 4, 36) / 7
    y, of = own_function(rng, n)
    x = rng.integers(1, 3, n).astype(float)
    y[:6] = y[6:12]  # equal rows, too

    def run(order: np.ndarray, scale: float) -> strat.Estimate:
        statistic = strat.ratio(y[order], x[order]) if kind == "ratio" else of(y[order])
        design = strat.Design.stratified(strata=strata[order], weights=scale * weights[order])
        return strat.estimate(statistic, on=method(design))

    plain = run(np.arange(n), 1.0)
    for scale in (1.0, 0.1, 3.7):
        assert run(rng.permutation(n), scale).se == pytest.approx(plain.se, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("strata", "units"), [(30, 2), (100, 2), (500, 2), (100, 3)])
@pytest.mark.parametrize("make", [correlated, classified])
def test_unnamed_rows_have_the_true_variance(
    make: Callable[[np.random.Generator, int], strat.Statistic], strata: int, units: int
) -> None:
    """Variances of unnamed rows were 1.1 to 1.6 times too large, whatever the number of strata."""
    ratios = {}
    for named in (False, True):
        rng, replicates = np.random.default_rng(1), strat.brr(pairs(strata, named=named, units=units))
        found = [strat.estimate(make(rng, strata * units), on=replicates) for _ in range(500)]
        ratios[named] = np.mean([e.variance for e in found]) / np.var([e.value for e in found], ddof=1)
    assert ratios[False] == pytest.approx(ratios[True], rel=0.04)
    assert 0.8 < ratios[False] < (1.3 if strata == 30 else 1.2)  # 500 trials know a variance to some 6 %


def sorted_pairs(strata: int) -> tuple[strat.Statistic, strat.Design]:
    """Correlated values, and units whose names tell which of a pair is the smaller one."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(strata, 2))
    y = 0.6 * x + 0.8 * rng.normal(size=x.shape)
    return strat.correlation(x.ravel(), y.ravel()), strat.Design.stratified(
        strata=np.repeat(np.arange(strata), 2),
        units=np.argsort(np.argsort(x + y, axis=1), axis=1).ravel(),
        nested=True,
    )


def test_a_replicate_that_carries_the_variance_is_noted() -> None:
    """Names that tell the size of units make BRR as wrong as sorting did, and nothing was said about it."""
    statistic, design = sorted_pairs(500)
    assert any("replicates carries" in note for note in strat.estimate(statistic, on=strat.brr(design)).notes)
    assert not strat.estimate(statistic, on=strat.brr(pairs(500, named=False))).notes
    y = np.sort(np.random.default_rng(0).normal(size=(500, 2)), axis=1).ravel()
    assert not strat.estimate(strat.mean(y), on=strat.brr(pairs(500, named=True))).notes  # a sum: exact all the same


def test_a_statistic_far_from_linear_is_noted() -> None:
    """The square of a mean that is about 0 is all curvature: its replicates lie above it, and nothing was said."""
    y = np.random.default_rng(1).normal(size=60)
    y -= y.mean()
    square = strat.function_of_totals(np.column_stack([y, np.ones(60)]), lambda t: (t[..., 0] / t[..., 1] + 0.05) ** 2)
    for replicates in (strat.brr(pairs(30, named=False)), strat.jackknife(pairs(30, named=False))):
        assert any("replicates lie above" in note for note in strat.estimate(square, on=replicates).notes)
    assert not strat.estimate(strat.mean(y), on=strat.brr(pairs(30, named=False))).notes


CLUSTERS = strat.Design.clustered(units=[1, 1, 2, 2, 3, 3], weights=[10.0] * 6)
JK1 = np.array([[0, 0, 1.5, 1.5, 1.5, 1.5], [1.5, 1.5, 0, 0, 1.5, 1.5], [1.5, 1.5, 1.5, 1.5, 0, 0]])


def test_replicate_weights_were_taken_for_factors() -> None:
    """Replicate weights, as survey files hold them, were taken for factors: a standard error of 2761 for 69."""
    y = np.arange(1.0, 7)
    right = strat.estimate(strat.total(y), on=strat.given(CLUSTERS, JK1, scale=2 / 3)).se
    assert right == pytest.approx(69.28203230275508)
    weights = strat.given(CLUSTERS, weights=10 * JK1, scale=2 / 3)
    assert strat.estimate(strat.total(y), on=weights).se == pytest.approx(right)
    with pytest.raises(strat.StratError, match=r"`factors` must be about 1 on average.* got 10 .*weights=…\.$"):
        strat.given(CLUSTERS, 10 * JK1, scale=2 / 3)


def test_normalized_replicate_weights_are_recognized() -> None:
    """Weights of mean 1 have a mean factor near 1; unit by unit they are the weights all the same."""
    w = np.random.default_rng(0).lognormal(0, 0.7, 40)
    w /= w.mean()
    design = strat.Design.simple_random(weights=w)
    factors = strat.jackknife(design).row_factors()
    with pytest.raises(strat.StratError, match="if they are replicate weights"):
        strat.given(design, factors * w, scale=39 / 40)
    given = strat.given(design, weights=factors * w, scale=39 / 40)
    assert given.factors() == pytest.approx(strat.given(design, factors, scale=39 / 40).factors())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "`factors` .* or `weights` .* must be given, and not both"),
        ({"factors": JK1, "weights": JK1}, "must be given, and not both"),
        ({"weights": JK1}, "`weights` must add up to about what the design's weights do .60., got 6 on average"),
        ({"weights": 10 * JK1.T}, r"got shape \(6, 3\); these are rows × replicates: transpose them"),
        ({"weights": 10 * JK1 + np.arange(6)}, "equal for the rows of a unit up to the weights, .*simple_random"),
    ],
)
def test_given_weights_are_checked(arguments: dict[str, np.ndarray], message: str) -> None:
    """Each mistake with replicate weights has one sentence with the way out."""
    with pytest.raises(strat.StratError, match=message):
        strat.given(CLUSTERS, **arguments, scale=2 / 3)


def test_weights_where_the_design_has_none() -> None:
    """A row of weight 0 can't be scaled up to a replicate weight."""
    design = strat.Design.simple_random(weights=[0.0, 1, 1])
    assert strat.given(design, weights=[[0, 2, 0], [0, 0, 2]], scale=0.5).factors()[:, 0].tolist() == [1, 1]
    with pytest.raises(strat.StratError, match=r"`weights` must be 0 where the design's weight is, got 1\.0 in row 0"):
        strat.given(design, weights=[[1, 1, 0], [1, 0, 1]], scale=0.5)


def test_given_replicates_had_more_degrees_of_freedom_than_replicates() -> None:
    """Three replicates of six rows had 5 degrees of freedom; public files name no units."""
    rows = strat.Design.simple_random(n=6, weights=[10.0] * 6)
    assert strat.given(rows, JK1, scale=2 / 3).df == 2
    assert strat.given(rows, JK1, scale=2 / 3, df=7).df == 7
    assert strat.given(rows, weights=10 * JK1[[0, 1, 2, 0, 1, 2]], scale=1 / 3).df == 2  # each of them twice


def test_weights_of_a_public_file_have_r_s_standard_errors_and_degrees() -> None:
    """Replicate weights without units and strata give R's standard error and R's degrees of freedom (12 of 16)."""
    read = [np.genfromtxt(ORACLES / f"a_12x2{n}.csv", delimiter=",", names=True, dtype=None, encoding="utf8")
            for n in ("", "_repfactors_BRR")]  # fmt: skip
    table, factors = read
    replicate_weights = table["weight"] * np.array([factors[f"r{i + 1}"] for i in range(16)])
    public = strat.given(strat.Design.simple_random(weights=table["weight"]), weights=replicate_weights, scale=1 / 16)
    full = strat.Design.stratified(strata=table["stratum"], units=table["psu"], weights=table["weight"])
    named = strat.given(full, weights=replicate_weights, scale=1 / 16)
    assert public.df == named.df == 12
    one, other = (strat.estimate(strat.mean(table["x"]), on=on) for on in (public, named))
    assert one.se == pytest.approx(other.se, rel=1e-10)


def test_half_samples_of_levy_and_lemeshow() -> None:
    """R survey 4.1, example of `svrepdesign` (data scd): svyratio with mse=TRUE, BRR and Fay with rho 0.3."""
    alive, arrests = [25, 24, 30, 49, 80, 70], [120, 78, 185, 228, 670, 530]
    half = 2.0 * np.array([[1, 0, 1, 0, 1, 0], [1, 0, 0, 1, 0, 1], [0, 1, 1, 0, 0, 1], [0, 1, 0, 1, 1, 0]])
    design = strat.Design.stratified(strata=[1, 1, 2, 2, 3, 3])
    for factors, scale, se in ((half, 1 / 4, 0.009426636), (1 + 0.7 * (half - 1), 1 / 4 / 0.49, 0.009529189)):
        found = strat.estimate(strat.ratio(alive, arrests), on=strat.given(design, factors, scale=scale))
        assert found.se == pytest.approx(se, rel=1e-6)
        assert found.df == 3


@pytest.mark.parametrize("units", [50, 200])
def test_generalized_replicates_of_a_quantile(units: int) -> None:
    """`generalized` with many units a stratum moves so little that the variance of a median was 1.5 to 2.7 times the
    true one; Woodruff's interval takes its place, as with the jackknife."""  # fmt: skip
    strata = np.repeat(np.arange(4), units)
    replicates = strat.generalized(strat.Design.stratified(strata=strata))
    assert not replicates.consistent_for_quantiles
    rng = np.random.default_rng(1)
    found = [strat.estimate(strat.quantile(rng.normal(size=4 * units), 0.5), on=replicates) for _ in range(100)]
    assert any("Woodruff's interval is used" in note for note in found[0].notes)
    assert 0.6 < np.mean([e.variance for e in found]) / np.var([e.value for e in found]) < 1.4


def test_given_jackknife_weights_of_a_quantile() -> None:
    """Factors of a jackknife that were given from outside were believed to show a quantile's variance."""
    design = strat.Design.simple_random(n=30)
    given = strat.given(design, strat.jackknife(design).factors(), scale=29 / 30)
    found = strat.estimate(strat.quantile(np.random.default_rng(0).normal(size=30), 0.5), on=given)
    assert any("Woodruff's interval is used" in note for note in found.notes)
    assert found.method.by_shares


@pytest.mark.parametrize(("rho", "shows"), [(0.0, True), (0.3, True), (0.5, True), (0.6, False), (0.9, False)])
def test_fay_shows_a_quantile_up_to_a_half(rho: float, shows: bool) -> None:
    """Fay's rho of 0.9 made the variance of a median two to six times the true one."""
    assert strat.fay(pairs(20, named=True), rho=rho).consistent_for_quantiles is shows


def test_a_reducible_modulus_is_refused_at_once() -> None:
    """x¹⁶ + x + 1 over GF(2) was refused after 36 s: every element had been tried as a generator."""
    start = time.perf_counter()
    with pytest.raises(strat.StratError, match="`modulus` must be irreducible, got the product"):
        field(2**16, modulus=(1, 1, *[0] * 14, 1))
    assert time.perf_counter() - start < 2


def test_brr_beyond_the_sequences_names_the_design() -> None:
    """7,000 strata of 81 units: the message was about `degree`, an argument that nobody gave."""
    design = strat.Design.stratified(strata=np.repeat(np.arange(7000), 81))
    with pytest.raises(strat.StratError, match=r"^`design` .* got 7,000 strata of 81 units.*use generalized"):
        strat.brr(design)


def test_a_multi_array_beyond_all_runs_names_the_design() -> None:
    """Strata of 3 to 22 units: the message was about `sizes`, an argument that nobody gave."""
    design = strat.Design.stratified(strata=np.repeat(np.arange(20), np.arange(3, 23)))
    with pytest.raises(strat.StratError, match=r"^`design` .* strata of 3, 4, 5, 6, 7 and 15 more units"):
        strat.multi_array(design)


def test_checking_an_array_that_is_not_orthogonal_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`strat array w.csv` had exit code 0 for an array that is not orthogonal, so that no script could use it."""
    path = tmp_path / "w.csv"
    path.write_text("1,1\n1,1\n1,-1\n")
    with pytest.raises(SystemExit) as end:
        main(["array", str(path)])
    assert end.value.code == 1
    captured = capsys.readouterr()
    assert "orthogonal      no" in captured.out
    assert captured.err.startswith("strat: `file` must hold an orthogonal array of strength 2, got 'w.csv'")
    assert captured.err.count("\n") == 1


# ---- comparisons and chance


def ask(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def worse(tmp_path: Path) -> Path:
    """A candidate that is clearly worse than main."""
    rng = np.random.default_rng(0)
    right = {"main": rng.random(2000) < 0.66, "candidate": rng.random(2000) < 0.60}
    lines = [f"{name},{item},{int(ok)}" for name, column in right.items() for item, ok in enumerate(column)]
    path = tmp_path / "worse.csv"
    path.write_text("model,question,correct\n" + "\n".join(lines))
    return path


LONG = ("--system", "model", "--items", "question", "--score", "correct")


# ---- who is the candidate


def test_a_worse_candidate_does_not_pass(worse: Path) -> None:
    """Non-inferiority was tested for whoever ranked first: main against the candidate, p = 3.5e-20."""
    found = json.loads(ask("compare", worse, *LONG, "--margin", 0.01, "--baseline", "main", "--json"))
    gate = found["noninferiority"]
    assert (gate["candidate"], gate["baseline"], gate["margin"]) == ("candidate", "main", 0.01)
    assert gate["pvalue"] > 0.5
    assert gate["difference"] == pytest.approx(found["comparison"]["difference"])
    assert gate["difference"] < 0
    assert (found["comparison"]["a"], found["comparison"]["b"]) == ("candidate", "main")
    text = ask("compare", worse, *LONG, "--margin", 0.01, "--baseline", "main")
    assert "candidate not worse than main by more than 0.01: p = " in text
    other = json.loads(ask("compare", worse, *LONG, "--margin", 0.01, "--baseline", "candidate", "--json"))
    assert other["noninferiority"]["candidate"] == "main"
    assert other["noninferiority"]["pvalue"] < 0.001


def test_a_margin_needs_a_baseline(worse: Path) -> None:
    """`--margin` chose the candidate by the scores; now it asks, and names both systems."""
    with pytest.raises(StratError, match=r"`--baseline`, got none: choose --baseline candidate .* or --baseline main"):
        ask("compare", worse, *LONG, "--margin", 0.01)
    with pytest.raises(StratError, match="`--baseline` must be one of the systems, got 'old'"):
        ask("compare", worse, *LONG, "--margin", 0.01, "--baseline", "old")


def _pair(a: list[float], b: list[float], *, higher_is_better: bool = True) -> comparison.Comparison:
    on = strat.Design.simple_random(n=len(a))
    return comparison.paired(strat.mean(a), strat.mean(b), on=on, higher_is_better=higher_is_better, names=("A", "B"))


def test_noninferiority_must_be_told_who_is_the_candidate() -> None:
    """`noninferiority(margin)` took the first argument of `paired` for the candidate without a word."""
    pair = _pair([1.0, 2, 3, 4], [2.0, 2, 4, 4])
    with pytest.raises(StratError, match=r"`baseline` must name the system .* 'A' or 'B'"):
        pair.noninferiority(0.1)
    with pytest.raises(StratError, match="`candidate` must be one of the two systems, 'A' or 'B', got 'C'"):
        pair.noninferiority(0.1, candidate="C")
    with pytest.raises(StratError, match="must be two systems, got 'A' for both"):
        pair.noninferiority(0.1, candidate="A", baseline="A")


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=12),
    st.floats(0.01, 3),
    st.booleans(),
)
@settings(max_examples=25)
def test_noninferiority_does_not_depend_on_the_order_of_the_systems(
    rows: list[tuple[int, int]], margin: float, higher: bool
) -> None:
    """The same candidate and baseline have the same p-value, whichever comes first and however it scores."""
    a, b = ([float(v) for v in side] for side in zip(*rows, strict=True))
    one, two = _pair(a, b, higher_is_better=higher), _pair(b, a, higher_is_better=higher)
    first = one.noninferiority(margin, candidate="A")
    second = two.noninferiority(margin, candidate="B")
    assert first.pvalue == pytest.approx(second.pvalue)
    assert first.difference == pytest.approx(second.difference)
    assert one.noninferiority(margin, baseline="B") == first


# ---- ties and the order of rows


def test_ties_do_not_break_on_rounding() -> None:
    """0.1 + 0.2 and 0.3 ranked 1 and 2 in Friedman's test, and tied in Wilcoxon's."""
    table = {"A": [0.1 + 0.2] * 4, "B": [0.3] * 4, "C": [0.1] * 4}
    assert comparison.friedman(table, higher_is_better=True).ranks.tolist() == [1.5, 1.5, 3.0]
    assert comparison.nemenyi(table, higher_is_better=True).ranks.tolist() == [1.5, 1.5, 3.0]
    assert comparison.signed_rank(table["A"], table["B"]).zeros == 4
    assert comparison.sign(table["A"], table["B"]).draws == 4
    assert comparison.win_draw_loss(table["A"], table["B"], higher_is_better=True).draws == 4


def test_small_scores_are_not_tied_with_each_other() -> None:
    """Differences were rounded to 1e-13 of the largest score of all: errors of 1e-14 beside a data set of 1e3 tied."""
    a, b = [1e3, 1e-14, 3e-14, 2e-14], [2e3, 2e-14, 6e-14, 5e-14]
    assert comparison.signed_rank(a, b).zeros == 0
    assert comparison.friedman({"A": a, "B": b}, higher_is_better=False).ranks.tolist() == [1.0, 2.0]


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    """Runs were averaged by a plain sum: B with A's ten scores in another order ranked 1.58 beside 1.42."""
    rng = np.random.default_rng(1)
    lines = []
    for k in range(12):
        runs = rng.uniform(0.6, 0.9, 10).round(6)
        lines += [f"d{k},A,{v}" for v in runs] + [f"d{k},B,{v}" for v in rng.permutation(runs)]
        lines += [f"d{k},C,{v - 0.1}" for v in runs]
    options = ("--dataset", "set", "--system", "model", "--score", "score", "--higher-is-better", "--json")
    answers = []
    for order in (np.arange(len(lines)), rng.permutation(len(lines))):
        path = tmp_path / "runs.csv"
        path.write_text("set,model,score\n" + "\n".join(lines[k] for k in order))
        answers.append(ask("rank", path, *options))
    assert answers[0] == answers[1]
    assert json.loads(answers[0])["friedman"]["average_ranks"] == {"A": 1.5, "B": 1.5, "C": 3.0}


def test_mcnemar_of_equal_counts() -> None:
    """N10 = N01 gave a statistic of 1/(2 N10) and p < 1; R gives 0 and 1."""
    found = comparison.mcnemar([1] * 4, [1, 1, 0, 0], [0, 0, 1, 1])
    assert (found.statistic, found.pvalue) == (0.0, 1.0)


# ---- p-values below the smallest float, and large tables


def test_a_good_classifier_within_units() -> None:
    """Twelve subjects of 100 easy trials: the p-value underflowed, its logarithm was -inf, and printing it raised."""
    truth, units = np.tile(np.repeat([0, 1], 50), 12), np.repeat(np.arange(12), 100)
    found = comparison.chance_within(truth, truth, units=units)
    assert found.log10_pvalue == pytest.approx(-12 * math.log10(math.comb(100, 50)), rel=1e-12)
    assert "p = 8.99e-349, exact" in str(found)


def test_a_good_classifier_within_units_on_the_command_line(tmp_path: Path) -> None:
    """`strat chance --units` ended in a traceback for 20 subjects × 100 trials at 95 %, and would print p-value 0."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 2000)
    said = np.where(rng.random(2000) < 0.95, truth, 1 - truth)
    path = tmp_path / "p.csv"
    path.write_text(
        "t,p,u\n" + "\n".join(f"{t},{p},{k // 100}" for k, (t, p) in enumerate(zip(truth, said, strict=True)))
    )
    options = ("--truth", "t", "--predicted", "p", "--units", "u")
    text = ask("chance", path, *options)
    exponent = math.floor(json.loads(ask("chance", path, *options, "--json"))["log10_pvalue"])
    assert exponent < -308
    assert text.count(f"e{exponent}") == 2


@given(st.integers(2, 3), st.integers(1, 4), st.integers(2, 7), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_within_units_equals_the_convolution_of_fractions(classes: int, units: int, rows: int, seed: int) -> None:
    """The tilted sum equals exact arithmetic where that is possible."""
    rng = np.random.default_rng(seed)
    truth, said = rng.integers(0, classes, (2, units, rows))
    total = [Fraction(1)]
    for t, s in zip(truth, said, strict=True):
        own = [Fraction(0)] * (rows + 1)
        orders = list(itertools.permutations(s.tolist()))
        for order in orders:
            own[int((t == np.array(order)).sum())] += Fraction(1, len(orders))
        total = [
            sum((total[i] * own[k - i] for i in range(len(total)) if 0 <= k - i <= rows), Fraction(0))
            for k in range(len(total) + rows)
        ]
    found = comparison.chance_within(truth.ravel(), said.ravel(), units=np.repeat(np.arange(units), rows))
    exact = float(sum(total[int((truth == said).sum()) :]))
    assert found.pvalue == pytest.approx(exact, rel=1e-12)
    assert abs(found.pvalue - exact) <= found.error


def test_a_unit_that_cannot_agree() -> None:
    """A unit of more than 150 rows, none of which can be right, raised IndexError."""
    truth = np.r_[np.zeros(200, int), np.tile([0, 1], 20)]
    said = np.r_[np.ones(200, int), np.tile([0, 1], 20)]
    found = comparison.chance_within(truth, said, units=np.repeat([0, 1], [200, 40]))
    assert found.pvalue == pytest.approx(1 / math.comb(40, 20), rel=1e-12)
    assert comparison.chance([[0, 200], [0, 0]]).distribution[0] == 1.0


def test_many_units_and_classes_need_little_memory() -> None:
    """A table of units × classes × classes was made: 16 GB for 2,000 units and 1,000 classes."""
    units = np.repeat(np.arange(2000), 2)
    truth = np.arange(4000) % 1000
    assert comparison.chance_within(truth, truth, units=units).log10_pvalue == pytest.approx(2000 * math.log10(0.5))


def test_two_classes_of_any_size() -> None:
    """Two classes had no size limit: 1,000,000 rows took 135 s and 20,000,000 did not end."""
    start = time.perf_counter()
    found = comparison.chance([[10**7, 3], [5, 10**7]])
    middle = comparison.chance([[250_500, 249_500], [249_500, 250_500]])
    assert time.perf_counter() - start < 5
    assert found.method == middle.method == "exact"
    assert found.log10_pvalue < -6e6
    theirs = stats.hypergeom(10**6, 500_000, 500_000).sf(250_499)
    assert middle.pvalue == pytest.approx(theirs, rel=1e-8)
    assert comparison.chance([[10**7, 0], [10**7, 0]]).pvalue == 1.0


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 300), st.data())
@settings(max_examples=50)
def test_hypergeometric_tails_are_within_their_bound(r: int, s: int, c: int, data: st.DataObject) -> None:
    """Stirling's series and the ratios of terms equal whole numbers within the bound, far below 1e-12."""
    counts = Counts(r, s, min(c, r + s - 1), 0, 1)
    if counts.low == counts.high:
        return
    least = data.draw(st.integers(counts.low + 1, counts.high))
    terms = [math.comb(r, k) * math.comb(s, counts.c - k) for k in range(counts.low, counts.high + 1)]
    exact = Fraction(sum(terms[least - counts.low :]), sum(terms))
    value, shift, error = upper_tail(counts, least)
    assert abs(Fraction(value, 1 << shift) - exact) <= Fraction(error, 1 << shift) < exact / 10**12
    logs = [math.log(term) - math.log(sum(terms)) for term in terms]
    np.testing.assert_allclose(log_probabilities(counts), logs, rtol=1e-12, atol=1e-12)


def test_far_too_many_patterns_are_refused_in_a_sentence() -> None:
    """10^15 patterns of two classes never ended."""
    with pytest.raises(StratError, match=r"`confusion` must count at most .* take a random sample"):
        comparison.chance([[10**15, 10**15], [10**15, 10**15]])


# ---- percentages beside fractions


def test_a_very_good_system_beside_a_poor_one() -> None:
    """Errors in per cent of a good system beside a baseline were refused as fractions, with no way round."""
    table = {"good": [0.3, 0.8, 0.5, 0.9, 0.2, 0.6], "mid": [3, 9, 4, 7, 2, 8], "baseline": [35, 62, 48, 80, 21, 55]}
    found = comparison.friedman(table, higher_is_better=False)
    assert found.ranks.tolist() == [1.0, 2.0, 3.0]
    assert "good and baseline have medians of 0.55 and 51.5: one looks like a fraction" in found.notes[0]
    assert "note: good and baseline" in str(found)
    sure = comparison.scores(table, higher_is_better=False, same_unit=True)
    assert comparison.friedman(sure, higher_is_better=False).notes == ()
    assert "percentage" in comparison.signed_rank(table["good"], table["baseline"]).notes[0]
    assert "percentage" in str(comparison.nemenyi(table, higher_is_better=False))


# ---- small tables


def test_three_by_three_is_not_significant() -> None:
    """Three data sets, three systems: F said 0.049 and chi-squared 0.097 where the exact p-value is 0.194."""
    table = [[1, 2, 3], [1, 2, 3], [1, 3, 2]]
    exact = comparison.friedman(table, higher_is_better=False)
    assert exact.pvalue == pytest.approx(7 / 36)
    assert exact.name.endswith("exact")
    chi2 = comparison.friedman(table, higher_is_better=False, method="chi-squared")
    assert chi2.pvalue == pytest.approx(stats.friedmanchisquare(*np.array(table).T).pvalue)
    f = comparison.iman_davenport(table, higher_is_better=False)
    assert "the exact test gives p = 0.19" in f.notes[0]
    with pytest.raises(StratError, match="'auto' or 'chi-squared' for 11 systems on 20 data sets"):
        comparison.friedman(np.random.default_rng(0).random((20, 11)), higher_is_better=True, method="exact")


@given(st.integers(2, 4).flatmap(lambda m: st.lists(st.tuples(*[st.integers(0, 2)] * m), min_size=2, max_size=3)))
@settings(max_examples=40)
def test_exact_friedman_equals_all_permutations(rows: list[tuple[int, ...]]) -> None:
    """With ties and without: every order of the ranks within each data set."""
    ranks = np.array([stats.rankdata(row) for row in rows])
    squares = [
        float((np.sum(orders, axis=0) ** 2).sum())
        for orders in itertools.product(*(list(itertools.permutations(row)) for row in ranks.tolist()))
    ]
    observed = float((ranks.sum(axis=0) ** 2).sum())
    wanted = np.mean(np.array(squares) >= observed - 1e-9)
    assert comparison.friedman(rows, higher_is_better=False).pvalue == pytest.approx(wanted)


def test_perfect_agreement_is_not_impossible_by_chance() -> None:
    """Two data sets that agree on three systems had an Iman-Davenport p-value of 0; by chance it is 1 in 6."""
    assert comparison.iman_davenport([[1, 2, 3]] * 2, higher_is_better=False).pvalue == pytest.approx(1 / 6)


def test_rank_of_two_systems_tells_wilcoxon(tmp_path: Path) -> None:
    """Two systems got Friedman's and Nemenyi's tests and no word of Wilcoxon's, which the book asks for."""
    path = tmp_path / "two.csv"
    path.write_text("d,A,B\na,1,2\nb,1,3\nc,2,1.5\nd,3,9\n")
    assert "Wilcoxon signed rank, exact: statistic 1.0000, p = 0.25" in ask("rank", path, "--lower-is-better")
    found = json.loads(ask("rank", path, "--lower-is-better", "--json"))
    assert found["signed_rank"]["pvalue"] == comparison.signed_rank([1, 1, 2, 3], [2, 3, 1.5, 9]).pvalue


# ---- discriminants


def test_leave_one_out_of_collinear_features_trains_again() -> None:
    """`auto` refused constant or collinear columns and wide tables that scikit-learn's linear discriminant takes."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), np.repeat([0, 1], 20)
    X[:, 0] += y
    for table in (
        np.column_stack([X, np.ones(40)]),
        np.column_stack([X, X.sum(axis=1)]),
        rng.standard_normal((40, 60)),
    ):
        found = protocols.leave_one_out(LinearDiscriminantAnalysis(), table, y)
        assert found.error == protocols.leave_one_out(LinearDiscriminantAnalysis(), table, y, method="refit").error
        assert protocols.bounds(LinearDiscriminantAnalysis(), table, y).upper.error == found.error


def test_bounds_use_the_closed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """`bounds` asked for a key that nobody wrote, and so always trained again."""
    data = strat.datasets.gaussian_classes([30, 30], means=[[0, 0], [1, 1]], rng=1)
    wanted = protocols.resubstitution(QuadraticDiscriminantAnalysis(), data.X, data.y)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr("strat.protocols.summaries.run", refuse)
    pair = protocols.bounds(QuadraticDiscriminantAnalysis(), data.X, data.y)
    assert pair.lower.error == wanted.error
    assert np.array_equal(pair.lower.predictions["predicted"], wanted.predictions["predicted"])
    assert np.array_equal(pair.lower.predictions["fold"], wanted.predictions["fold"])
    assert pair.lower.fold_errors == pytest.approx(wanted.fold_errors)
    assert pair.lower.interval() == pytest.approx(wanted.interval())


# ---- randomization


def test_small_measures_can_be_told_by_shuffling() -> None:
    """Shuffled differences tied with the observed one up to 1e-10, whatever the scale: tiny losses had p = 1."""
    losses = np.random.default_rng(0).normal(1.0, 0.1, 30)
    on = strat.Design.simple_random(n=30)
    for scale in (1.0, 1e-12):
        found = comparison.randomization(
            strat.mean(scale * losses), strat.mean(scale * (losses + 0.5)), on=on, permutations=199
        )
        assert found.pvalue == pytest.approx(1 / 200)
    kinds = np.repeat(["A", "B"], 15)
    for scale in (1.0, 1e-12):
        values = scale * (losses + (kinds == "B"))
        found = comparison.stratified_shuffling(values, kinds, strata=["s"] * 30, permutations=199)
        assert found.pvalue == pytest.approx(1 / 200)


def test_scores_near_the_largest_float(tmp_path: Path) -> None:
    """Sums and differences of scores of 1e308 are beyond the largest float; their means and ranks are not."""
    table = {"A": [1e308, -1e308, 1e308], "B": [-1e308, 1e308, 1.5e308]}
    assert comparison.friedman(table, higher_is_better=True).ranks.tolist() == pytest.approx([5 / 3, 4 / 3])
    assert comparison.signed_rank(table["A"], table["B"]).r_plus == 2.5
    path = tmp_path / "large.csv"
    rows = [f"{d},{s},{v}" for d in "abc" for s, v in (("A", "1e308"), ("A", "1e308"), ("B", "9e307"), ("B", "9e307"))]
    path.write_text("set,model,score\n" + "\n".join(rows))
    options = ("--dataset", "set", "--system", "model", "--score", "score", "--higher-is-better", "--json")
    assert json.loads(ask("rank", path, *options))["friedman"]["average_ranks"] == {"A": 1.0, "B": 2.0}


# ---- planning and finite samples


DISTANCE = 2.5631  # a Bayes error of 10 %


def _sensitivity_spread(rng, units, together, *, intraclass=0.12, share=0.086, mean=0.776):
    """Standard deviation of a sensitivity over simulated studies of patients with 3.4 images on average."""
    found = []
    for _ in range(200):
        images = 1 + rng.binomial(4, 0.6, units)
        positive = rng.binomial(images, rng.random(units) < share if together else share)
        ease = rng.beta(mean * (1 / intraclass - 1), (1 - mean) * (1 / intraclass - 1), units)
        found.append(rng.binomial(positive, ease).sum() / positive.sum())
    return np.std(found, ddof=1)


@pytest.mark.parametrize("together", [True, False])
def test_a_sensitivity_is_planned_with_its_prevalence(together):
    """635 patients were planned for a sensitivity within ± 2 points; with 8.6 % positive images 6,700 are needed."""
    units = planning.units_for_width(
        width=0.04,
        proportion=0.776,
        rows_per_unit=3.4,
        intraclass=0.12,
        share=0.086,
        share_intraclass=float(together),
        assurance=0.5,
    ).number
    spread = _sensitivity_spread(np.random.default_rng(7), units, together)
    assert 2 * 1.96 * spread == pytest.approx(0.04, rel=0.12)
    assert 5_500 < units < 7_500


def test_a_sensitivity_without_a_prevalence_is_refused(capsys):
    """`strat plan width` planned a sensitivity as if every row were positive."""
    with pytest.raises(SystemExit) as stopped:
        main(["plan", "width", "--width", "0.04", "--proportion", "0.8", "--measure", "sensitivity"])
    assert stopped.value.code == 1
    assert "`--prevalence` must be given with --measure sensitivity" in capsys.readouterr().err


def test_power_counts_only_the_rows_that_the_measure_looks_at():
    """Rows for a difference of sensitivities ignored that most rows are negative."""
    asked = {"difference": 0.05, "disagreement": 0.2}
    whole = planning.paired_rows_for_power(**asked).number
    assert planning.paired_rows_for_power(**asked, share=0.1).number == pytest.approx(10 * whole, rel=0.01)
    found = planning.detectable_difference(rows=10 * whole, disagreement=0.2, share=0.1)
    assert found.difference == pytest.approx(0.05, rel=0.01)


@pytest.mark.parametrize("plan", [planning.rows_for_width, planning.units_for_width, planning.rows_per_unit_for_width])
def test_an_interval_of_a_share_is_narrower_than_one(plan):
    """`strat plan width --width 10 --proportion 0.5` planned 2 rows."""
    more = {
        planning.rows_for_width: {},
        planning.units_for_width: {"rows_per_unit": 5, "intraclass": 0.1},
        planning.rows_per_unit_for_width: {"units": 5, "intraclass": 0.1},
    }[plan]
    with pytest.raises(StratError, match=r"`width` must be below 1 for a share, got 10"):
        plan(width=10, proportion=0.5, **more)


@pytest.mark.parametrize("features", [1, 2, 8, 64, 300])
def test_no_expected_error_is_impossible(features):
    """The first-order expansion gave an expected error of 1.168 and a leave-one-out bias of 2.30, without a word."""
    samples = features + 6
    moments = gaussian.holdout_moments(features=features, distance=DISTANCE, design_samples=samples, test_samples=100)
    assert moments.method == "simulated"
    assert 0.1 <= moments.expected <= 0.5
    linear = gaussian.linear_degradation(features=features, design_samples=samples, distance=DISTANCE)
    assert 0 < linear < 0.4
    bias = gaussian.leave_one_out_bias(features=features, design_samples=samples, distance=DISTANCE)
    assert 0 < bias < 1


def test_design_samples_follow_the_truth_where_the_expansion_fails():
    """374 design samples were planned for 64 features where about 200 are enough."""
    plan = planning.design_samples_for(degradation=0.2, features=64, distance=DISTANCE)
    errors = gaussian.simulate_degradation(
        gaussian.shifted_problem(64, distance=DISTANCE), design_samples=plan.number, repetitions=60
    )
    assert plan.method == "simulated"
    assert errors.mean - 0.1 == pytest.approx(0.2, abs=0.01)
    assert plan.values.max() < 0.4


@pytest.mark.parametrize(("features", "samples"), [(1, 8), (2, 12), (8, 24), (16, 100)])
def test_the_simulation_without_matrices_is_the_one_with_them(features, samples):
    """A degradation needs no matrices, only chi-squareds; the law is that of whole classifiers."""
    fast = gaussian.quadratic_degradation(
        features=features, design_samples=samples, distance=DISTANCE, method="simulated"
    )
    errors = gaussian.simulate_degradation(
        gaussian.shifted_problem(features, distance=DISTANCE), design_samples=samples, repetitions=1500, rng=3
    )
    assert fast == pytest.approx(errors.mean - 0.1, abs=4 * errors.se + 0.002)


def test_neyman_has_one_answer():
    """`strat sample` and `strat plan allocation` differed in 28 of 300 random cases, and neither was always best."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        sizes = rng.integers(1, 8, rng.integers(1, 5))
        spreads = np.round(3 * rng.random(len(sizes)), 1)
        total = int(rng.integers(np.minimum(sizes, 2).sum(), sizes.sum() + 1))
        counts = tables.sample(
            {"g": np.repeat(np.arange(len(sizes)), sizes)},
            size=total,
            strata="g",
            method="neyman",
            spread=dict(enumerate(spreads.tolist())),
        )
        drawn = np.bincount(counts.stratum, minlength=len(sizes))
        assert (
            drawn.tolist() == planning.neyman_allocation(sizes=sizes, deviations=spreads, total=total).counts.tolist()
        )
        every = itertools.product(*(range(min(2, n), n + 1) for n in sizes.tolist()))
        best = min(((sizes * spreads) ** 2 / c).sum() for c in map(np.array, every) if c.sum() == total)
        assert ((sizes * spreads) ** 2 / drawn).sum() == pytest.approx(best)


def test_a_large_stratum_gives_up_more_than_two_units():
    """Greed that started two units below the continuous solution could not take 43 from one large stratum."""
    sizes = np.r_[np.full(1000, 50), 10**7]
    spreads = np.r_[np.full(1000, 2.46 / 50), 0.001]
    counts = planning.neyman_allocation(sizes=sizes, deviations=spreads, total=12_460, least=1).counts
    gain = (sizes * spreads) ** 2 / (counts * (counts + 1))  # of one more unit
    loss = (sizes * spreads) ** 2 / np.maximum(counts * (counts - 1), 1)  # of one less
    assert gain.max() <= loss[counts > 1].min() * (1 + 1e-12)


@pytest.mark.parametrize("method", ["proportional", "neyman", "systematic"])
def test_many_strata_are_drawn_in_linear_time(method):
    """100,000 strata took 20 seconds, in time that grew with their square."""
    table = {"g": np.repeat(np.arange(50_000), 3), "s": np.random.default_rng(0).random(150_000)}
    start = time.perf_counter()
    tables.sample(table, size=110_000, strata="g", method=method, spread="s" if method == "neyman" else None)
    assert time.perf_counter() - start < 8


def test_chow_refuses_alike_wherever_it_is_asked():
    """At a probability of 0.7 and a cost of 0.3 one copy of Chow's rule decided and the other, by rounding, refused."""
    for probability in np.arange(1, 50) / 100:
        posteriors, cost = [[1 - probability, probability]], float(probability)
        refused = statistics.chow(posteriors, cost=cost, labels=["a", "b"])[0] == "refuse"
        assert refused == (gaussian.chow_rule(posteriors, cost=cost)[0] == -1)


def test_levels_are_refused_in_one_way():
    """The interval of a corrected t-test took any level, and answered NaN."""
    result = comparison.corrected_t([1.0, 2.0, 4.0], [0.0, 0.5, 0.0], ratio=0.1)
    for ask in (result.interval, planning.fit_learning_curve([10, 20, 40], [0.3, 0.2, 0.16]).samples_for):
        with pytest.raises(StratError, match=r"`level` must lie strictly between 0 and 1, got 95"):
            ask(level=95) if ask == result.interval else ask(0.13, 95)


# ---- checks of intervals, recognition


ROLES = {"truth": "truth", "predicted": "said", "units": "who"}


@pytest.fixture(scope="module")
def rare() -> dict[str, np.ndarray]:
    """200 units of five rows, one row in ten positive, four in five right."""
    rng = np.random.default_rng(0)
    truth = rng.random(1000) < 0.1
    said = np.where(rng.random(1000) < 0.8, truth, ~truth)
    return {"who": np.repeat(np.arange(200), 5), "truth": truth.astype(int), "said": said.astype(int)}


def test_the_naive_interval_of_check_is_that_of_evaluate(rare):
    """`check` divided by all rows for recall: naive width 0.047 (coverage 55 %) where `evaluate` says 0.164."""
    found = strat.evaluate(rare, **ROLES, metrics="recall")
    low, high = found.naive("recall")
    (checked,) = check(rare, **ROLES, metrics="recall", trials=100)
    naive = checked["rows as independent"]
    assert naive.width == pytest.approx(high - low, rel=0.1)
    assert naive.coverage > 0.85


def test_the_naive_interval_of_a_perfect_share_counts_rows():
    """Twenty units of fifty rows, all right: the naive interval was that of twenty rows, 0.83 to 1."""
    table = {"y": np.ones(1000), "u": np.repeat(np.arange(20), 50)}
    found = strat.evaluate(table, score="y", units="u")
    assert found.naive("mean")[0] == pytest.approx(0.025 ** (1 / 1000), abs=1e-3)
    assert found.interval("mean")[0] < found.naive("mean")[0] - 0.015


def test_prevalence_varies_between_the_samples_of_check(rare):
    """True labels stayed as they were, so precision seemed to be covered in 99.5 % and "wider than it need be"."""
    from strat.tables.simulate import simulator

    design = strat.Design.clustered(units=rare["who"])
    columns = {"truth": rare["truth"], "predicted": rare["said"], "positive": 1}
    source = simulator(columns, design, "beta")
    rng = np.random.default_rng(1)
    shares = [source.draw(rng)[0]["truth"].mean() for _ in range(200)]
    expected = strat.estimate(strat.mean(rare["truth"].astype(float)), on=design).se
    assert np.std(shares) == pytest.approx(expected, rel=0.2)
    (checked,) = check(rare, **ROLES, metrics="precision", trials=300)
    assert checked["default"].verdict() != "too wide"
    assert checked["default"].coverage < 0.98


def test_a_sample_without_positives_keeps_its_positive_class():
    """A sample of zeros alone took 0 for the positive class, and its recall for that of the ones."""
    table = {"truth": [1, 1] + [0] * 18, "said": [1, 0] + [0] * 18}
    (checked,) = check(table, truth="truth", predicted="said", metrics="recall", trials=100)
    assert any(note.startswith("undefined in ") for note in checked.notes)


def test_items_are_a_second_stage_in_check_too():
    """`check` took items for units without repeats, `evaluate` for items with repeats."""
    rng = np.random.default_rng(2)
    table = {"y": rng.integers(0, 2, 120), "item": np.repeat(np.arange(30), 4)}
    (checked,) = check(table, score="y", items="item", trials=50)
    assert checked.design == strat.evaluate(table, score="y", items="item").design


def test_check_says_that_it_holds_only_with_evidence():
    """With sixty samples "it holds" meant only that nothing was shown; and one lucky shape of units decided."""
    rng = np.random.default_rng(3)
    table = {"y": rng.integers(0, 2, 300), "u": np.repeat(np.arange(60), 5)}
    (checked,) = check(table, score="y", units="u", trials=60)
    assert not checked.holds
    assert "draw more" in str(checked)
    assert len(checked.shapes) == 3
    assert checked["default"].coverage == min(checked.shapes.values())


@pytest.fixture(scope="module")
def heavy() -> tuple[np.ndarray, np.ndarray]:
    """Scores of 101 subjects, of whom the first has 200 images and 99.5 % of the mated comparisons."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(101), np.r_[200, np.full(100, 2)])
    x = rng.normal(size=(101, 8))[who] + np.where(who == 0, 0.25, 0.6)[:, None] * rng.normal(size=(len(who), 8))
    s = -np.sqrt(((x[:, None] - x[None]) ** 2).sum(2))
    return (s + s.T) / 2, who


def test_verification_sees_a_heavy_subject(heavy):
    """EER 0.0101 (se 0.0014, df 100, to 0.0134), no note; without the subject with 99.5 % of the pairs it is 0.11."""
    scores, who = heavy
    rest = who > 0
    without = verification(similarity=scores[np.ix_(rest, rest)], probes=who[rest])
    whole = verification(similarity=scores, probes=who)
    pairs = [(whole.eer(), without.eer()), (whole.fnmr_at(0.01), without.fnmr_at(0.01))]
    pairs.append((whole.fnmr(-2.0), without.fnmr(-2.0)))
    for found, other in pairs:
        assert found.df < 2
        assert found.interval()[0] < other.value < found.interval()[1]
        assert "a few subjects carry most of the mated comparisons" in found.notes[0]
        assert "99.5%" in found.notes[0]
    assert whole.fmr(-2.0).df < 5
    assert not any("carry most" in note for note in without.eer().notes)


def test_rates_at_a_threshold_have_their_own_degrees_of_freedom():
    """FNMR got the degrees of freedom of FMR, half the subjects."""
    rng = np.random.default_rng(1)
    s = rng.normal(size=(40, 40)) + 2 * np.eye(40)
    v = verification(similarity=s, probes=np.arange(40), gallery=np.arange(40))
    assert (v.fmr(1.0).df, v.fnmr(1.0).df) == (20.0, 39.0)
    assert 20.0 < v.eer().df < 39.0  # between those of the two rates


def test_few_misses_of_a_verification_are_noted():
    """60 subjects with an EER of 2 %, one or two misses: the interval covers 83 to 85 %, and nothing said so."""
    rng = np.random.default_rng(5)
    s = rng.normal(size=(60, 60)) + 4.2 * np.eye(60)
    v = verification(similarity=s, probes=np.arange(60), gallery=np.arange(60))
    assert any("subjects hold the rarer outcome" in note for note in v.eer().notes)


@pytest.fixture(scope="module")
def curve():
    """A curve that reaches 1 before rank N, of subjects with very unequal numbers of probes."""
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(60), np.r_[150, np.full(59, 2)])
    x = rng.normal(size=(60, 6))
    probes = x[who] + 0.5 * rng.normal(size=(len(who), 6))
    r = ranks_of_embeddings(probes, x, probe_subjects=who, gallery_subjects=np.arange(60), score="euclidean")
    return match_curve(r)


def test_limits_of_a_match_curve_do_not_fall(curve):
    """LFW: the lower limit fell from 0.9965 at rank 895 to 0.918 at rank 1,015, where the curve reaches 1."""
    assert curve.of().value[-2] == 1
    for low, high in (curve.of().interval(), curve.of().band()):
        assert (np.diff(low) >= 0).all()
        assert (np.diff(high) >= 0).all()
        assert low[-1] == high[-1] == 1  # at rank N by definition
    gap = match_curve({"a": _ranks(0.5), "b": _ranks(0.9)}, at=[1, 5, 40]).difference("a", "b")
    assert gap.measure.monotone == 0


def _ranks(noise):
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(40), 2)
    x = rng.normal(size=(40, 5))
    probes = x[who] + noise * rng.normal(size=(80, 5))
    return ranks_of_embeddings(probes, x, probe_subjects=who, gallery_subjects=np.arange(40), score="euclidean")


def test_a_curve_prints_its_notes(curve):
    """`print(curve)` had no note beside 0.9456 with "0.5135 to 0.9965", and the hidden one said "too short"."""
    notes = curve.estimate.notes
    assert [note.code for note in notes] == ["heavy-units", "each-subject-the-same"]
    assert not any("too short" in note for note in notes)
    assert "effective degrees of freedom" in notes[0]
    for text in (str(curve), str(curve.of())):
        assert all(f"note: {note}" in text for note in notes)


def test_the_command_prints_the_notes_of_its_figures(heavy, tmp_path, capsys):
    """`strat recognize` printed EER and curves of one dominating subject without a word."""
    scores, who = heavy
    np.savez(tmp_path / "s.npz", similarity=scores[:, 199:], probes=who, gallery=who[199:])
    with pytest.raises(SystemExit) as done:
        main(["recognize", "--similarity", str(tmp_path / "s.npz"), "--enrolment", "best", "--json"])
    assert done.value.code == 0
    notes = [note["text"] for note in json.loads(capsys.readouterr().out)["notes"]]
    assert any("CMS at rank" in note and "carry most of the weight" in note for note in notes)
    assert any("EER" in note and "carry most of the mated comparisons" in note for note in notes)


def test_embeddings_in_an_npy_file_are_refused_with_the_way_out(tmp_path, capsys):
    """`--probes emb.npy` was answered with "must hold 'embeddings', got 'emb.npy'; there are ''"."""
    np.save(tmp_path / "emb.npy", np.eye(3))
    with pytest.raises(SystemExit) as done:
        main(["recognize", "--probes", str(tmp_path / "emb.npy"), "--gallery", str(tmp_path / "emb.npy")])
    assert done.value.code == 1
    error = capsys.readouterr().err
    assert "give --labels FILE (one a line), or an .npz file that holds 'embeddings' and 'subject'" in error
    assert "there are ''" not in error


def test_each_subject_can_count_the_same(heavy):
    """A rate of one subject's pairs (EER 0.0101 of 99.5 % one subject) was the only one to be had."""
    scores, who = heavy
    rest = who > 0
    without = verification(similarity=scores[np.ix_(rest, rest)], probes=who[rest]).eer()
    equal = verification(similarity=scores, probes=who, average="subjects").eer()
    assert equal.df > 50
    assert equal.value == pytest.approx(without.value, rel=0.1)
    assert not equal.notes


def test_an_eer_between_two_thresholds_has_the_variance_of_its_misses():
    """20 subjects, EER 0.025: no miss at the threshold itself, so mated scores counted as known; coverage was 51 %."""
    rng = np.random.default_rng(21)
    covered, truth = [], 0.025  # Φ(−4.8 / (2 √1.5)): scores have variance 1.5, mated ones are 4.8 higher
    for _ in range(120):
        effects = 0.5 * rng.normal(size=(2, 20))
        s = effects[0][:, None] + effects[1] + rng.normal(size=(20, 20)) + 4.8 * np.eye(20)
        low, high = verification(similarity=s, probes=np.arange(20), gallery=np.arange(20)).eer().interval()
        covered.append(low <= truth <= high)
    assert np.mean(covered) > 0.9


# ---- the road to an estimate


def test_threads_keep_their_notes_to_themselves() -> None:
    """In threads, 104 of 200 results lost their warning, and 65 of 200 clean ones carried another data set's."""
    clean = {"t": [0, 1, 2] * 20, "p": [0, 1, 2, 1, 2, 0] * 10}
    noted = {"t": [0, 1, 2] * 20, "p": [0, 1, 1] * 20}

    def notes(data: dict[str, list[int]]) -> bool:
        found = strat.evaluate(data, truth="t", predicted="p", metrics="macro_precision")
        return any("is never predicted" in note for note in found.warnings)

    with ThreadPoolExecutor(8) as pool:
        heard = list(pool.map(notes, [clean, noted] * 60))
    assert heard == [False, True] * 60


def test_stacked_values_keep_their_own_degrees_of_freedom() -> None:
    """Stacked domains all got the fewest degrees of freedom: 59 and 5 became 5 and 5."""
    group = np.repeat(["big", "small"], [60, 6])
    y = (np.random.default_rng(0).random(66) < 0.7).astype(float)
    design = strat.Design.stratified(strata=group)
    parts = {label: strat.domain(strat.mean(y), group == label) for label in ("big", "small")}
    both = strat.estimate(strat.stack("g", **parts), on=design)
    assert both.df.tolist() == [59, 5]
    alone = strat.estimate(parts["big"], on=design)
    np.testing.assert_allclose((both.at("big").df, *both.at("big").interval()), (alone.df, *alone.interval()))
    gap = both.map(lambda v: v[..., 0] - v[..., 1])
    assert gap.df == 5
    assert both.map(lambda v: v[..., ::-1]).df.tolist() == [5, 59]


def test_a_measure_of_ones_is_no_certainty() -> None:
    """The mean of twenty ones was "1.0000 to 1.0000" without a word."""
    found = strat.estimate(strat.mean([1.0] * 20), on=strat.Design.simple_random(n=20))
    assert any("nothing varied" in note for note in found.notes)
    whole = strat.estimate(strat.mean([1.0] * 20), on=strat.Design.simple_random(n=20, population=20))
    assert not whole.notes


def test_a_measure_that_counts_rows_gets_the_rows() -> None:
    """A variance in `evaluate` divided by the number of distinct rows less one, not by the number of rows less one."""
    rng = np.random.default_rng(1)
    data = {"t": rng.integers(0, 3, 200), "p": rng.integers(0, 3, 200)}
    found = strat.evaluate(data, truth="t", predicted="p", metrics=[lambda t, p: strat.variance(t - p)])
    (made,) = found.estimates.values()
    assert np.isclose(made.value, np.var(data["t"] - data["p"], ddof=1))


def test_weights_that_round_do_not_narrow_a_perfect_share():
    """What sums of weights leave of a variance of nothing counted as one, and the limit of 17 units was 0.9992."""
    weights = np.array([2, 1, 2, 4, 4, 4, 3, 4, 1, 1, 1, 2, 3, 1, 3, 3, 3, 1], float)
    units = np.array([0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])
    perfect = strat.accuracy(np.ones(18), np.ones(18))
    for scale in (1.0, 0.1, 1 / 3, 1 / 7, 1 / 49):
        design = strat.Design.clustered(units=units, weights=weights * scale)
        low = strat.estimate(perfect, on=design).interval()[0]
        assert low == pytest.approx(0.77, abs=0.1)


def test_a_domain_with_as_many_rows_as_lines_adds_up_its_rows():
    """Two rows in one unit and one line of empty units are two lines: the second row took the place of the first."""
    y, units = np.array([1.0, 6.0, 2.0, 4.0, 3.0, 7.0]), np.array([0, 0, 1, 1, 2, 3])
    design = strat.Design.clustered(units=units)
    inside = np.array([0, 1, 4])
    domain = strat.ratio(np.where(np.isin(range(6), inside), y, 0.0), np.isin(range(6), inside).astype(float))
    alone = strat.estimate(strat.mean(y[inside]), on=design.restricted(inside))
    assert alone.se == pytest.approx(strat.estimate(domain, on=design).se, rel=1e-12)
