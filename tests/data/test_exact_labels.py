"""Labels of classes of their own, wide ids, whole numbers beside floats: none is rounded or merged."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import strat
from strat.data import read
from strat.data.column import Column, alike
from strat.verbs import evaluate
from table_sources import ROADS, WIDER, csv_file


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
        "csv": lambda: csv_file({n: table[n].to_pylist() for n in table.column_names}, folder / "d.csv"),
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


def test_one_wide_number_is_enough_to_spell_all_that_it_is_compared_with() -> None:
    """A float takes 2^53 + 1 for 2^53, however small the other labels are."""
    for labels in ([1, 2**53 + 1], [-(2**53) - 1, 1]):
        wide, floats = Column("t", None, np.array(labels), None), Column("p", None, np.array([1.5, 2.0**53]), None)
        assert [column.spelled for column in alike([wide, floats])] == [True, True]
        assert [column.spelled for column in alike([wide, wide])] == [False, False]
