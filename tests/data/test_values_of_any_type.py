"""Values that are no plain text or numbers: bytes, sets, sparse arrays, 128 bits, numbers beyond all floats, marks."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
import uuid
from contextlib import nullcontext
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import strat
from strat import StratError
from strat.base.limits import changed
from strat.base.notes import codes_of
from strat.data import read
from strat.data.untrusted import whole
from strat.verbs import evaluate
from strat.verbs.check import check


def accuracy(truth: Any, predicted: Any) -> float:
    found = evaluate({"t": truth, "p": predicted}, truth="t", predicted="p", metrics="accuracy")
    return float(found["accuracy"].value)


RAW = (np.array(["a", "b"], "S"), [b"a", b"b"], [bytearray(b"a"), memoryview(b"b")], np.array([b"a", b"b"], object))


@pytest.mark.parametrize("raw", RAW, ids=["array", "bytes", "others", "objects"])
def test_bytes_are_the_text_that_they_are_in_utf8(raw: Any) -> None:
    """The same labels as bytes and as text: accuracy 0, macro F1 of 1."""
    assert accuracy(raw, ["a", "b"]) == 1
    assert float(strat.accuracy(raw, ["a", "b"]).value()) == float(strat.kappa(raw, ["a", "b"]).value()) == 1
    assert strat.Design.clustered(raw).n_units == 2


def test_bytes_that_are_no_text_stay_apart(tmp_path: Path) -> None:
    """Digests as ids, from a mapping and from a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    ids = [bytes([255, k]) for k in range(3)] * 2
    assert accuracy(ids, ids[1:] + ids[:1]) == 0
    pq.write_table(pa.table({"t": ids, "p": ids[:3] + ids[:2] + ids[:1]}), tmp_path / "t.parquet")
    found = evaluate(tmp_path / "t.parquet", truth="t", predicted="p", metrics="accuracy")["accuracy"].value
    assert found == accuracy(ids, ids[:3] + ids[:2] + ids[:1])


VALUES = [frozenset({1, "a"}), {1}, {"a": 1}, [1], object()]


@pytest.mark.parametrize("value", VALUES, ids=[type(value).__name__ for value in VALUES])
def test_values_without_a_text_of_their_own_are_refused(value: Any) -> None:
    """Equal sets could be written in another order, and equal objects at another place: they were two labels."""
    with pytest.raises(StratError, match="column `t` must hold plain labels or numbers"):
        accuracy([value, value], ["a", "b"])


def test_sparse_arrays_and_views_are_refused() -> None:
    """`len() of unsized object`, or a column of missing values."""
    sparse = scipy.sparse.csr_matrix([[0, 1, 1]])
    for call in (lambda: strat.accuracy(sparse, sparse), lambda: strat.auc([0, 1, 1], sparse)):  # type: ignore[arg-type]
        with pytest.raises(StratError, match=r"must be a column or table of all values.*toarray"):
            call()
    with pytest.raises(StratError, match=r"column `t` must have all its values, got a sparse array"):
        accuracy(sparse, [0, 1, 1])
    with pytest.raises(StratError, match=r"must be a column, one value per row.*make it a list"):
        strat.accuracy({0: 1}.values(), [1])  # type: ignore[arg-type]


def test_polars_whole_numbers_of_128_bits() -> None:
    """`InvalidOperationError: cannot convert i128 to NumPy` from every statistic."""
    pl = pytest.importorskip("polars")
    wide = pl.Series([2**100, 2**100 + 1, 2**100], dtype=pl.Int128)
    assert float(strat.accuracy(wide, wide.reverse()).value()) == 1
    assert float(strat.accuracy(wide, pl.Series([2**100] * 3, dtype=pl.Int128)).value()) == pytest.approx(2 / 3)
    assert float(strat.mean(pl.Series([1, 2, 3], dtype=pl.Int128)).value()) == 2


DAY = np.array(["2024-01-01"] * 2, "M8[D]")


@pytest.mark.parametrize(
    ("truth", "predicted"),
    [
        (DAY, ["a", "b"]),
        (DAY, [uuid.UUID(int=1)] * 2),
        (np.array([1, 2], "m8[s]"), ["a", "b"]),
        ([dt.date(2024, 1, 1)] * 2, [uuid.UUID(int=1)] * 2),
        (["1", "2"], [1, 2]),
    ],
)
@pytest.mark.parametrize("measure", ["accuracy", "error_rate", "balanced_accuracy", "kappa"])
def test_labels_of_two_types_are_refused_by_every_measure(measure: str, truth: Any, predicted: Any) -> None:
    """Accuracy was 0 where the others refused dates beside text."""
    with pytest.raises(StratError, match=r"`predicted` must have labels of the (same )?type"):
        getattr(strat, measure)(truth, predicted)


@pytest.mark.parametrize("text", ["1e400", "-1e999"])
def test_a_number_beyond_all_floats_is_no_number(text: str, tmp_path: Path) -> None:
    """It was infinite, and `y` was blamed, in a wrong number of rows."""
    import polars as pl

    (tmp_path / "t.csv").write_text(f"s\n1.5\n{text}\n{text}\n")
    sources = [tmp_path / "t.csv", {"s": ["1.5", text]}, pl.DataFrame({"s": ["1.5", text]}).lazy()]
    for source in sources:
        with pytest.raises(StratError, match=f"column `s` must be numbers, got '{text}'"):
            evaluate(source, score="s")


def test_infinite_scores_are_counted_in_their_column(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("score\n1.5\ninf\ninf\n")
    (tmp_path / "t.jsonl").write_text('{"score": 1.5}\n{"score": 1e400}\n{"score": 1e400}\n')
    for source in (tmp_path / "t.csv", tmp_path / "t.jsonl", {"score": [1.5, np.inf, np.inf]}):
        with pytest.raises(StratError, match="`score` must be finite, got an infinite number in 2 rows"):
            evaluate(source, score="score")


@pytest.mark.parametrize("error", ["#DIV/0!", "#VALUE!", "#REF!", "#NAME?"])
def test_errors_of_spreadsheets_are_missing(error: str, tmp_path: Path) -> None:
    """`#DIV/0!` was a label."""
    (tmp_path / "t.csv").write_text(f"t,p\na,a\nb,{error}\nb,a\n")
    with pytest.raises(StratError, match=rf"`p` has 1 missing \('{error[:-1]}.' 1\)"):
        evaluate(tmp_path / "t.csv", truth="t", predicted="p")


@pytest.mark.parametrize("unseen", ["a\u200b", "\ufeffa", "a\u2060", "a\u00a0"])
def test_characters_that_nobody_sees_are_told(unseen: str) -> None:
    """A label with a zero-width space was another label without a word."""
    found = evaluate({"t": ["a", "b"] * 3, "p": [unseen, "b"] * 3}, truth="t", predicted="p", metrics="accuracy")
    assert {note.facts["these"] for note in found.notes if note.code == "spelled-labels"} == {(unseen,)}
    with pytest.raises(StratError, match=r"got 't'; did you mean 't\\u200b'"):
        evaluate({"t\u200b": [1, 0], "p": [1, 0]}, truth="t", predicted="p")


def test_tables_of_engines_say_that_they_are_not_pickled(tmp_path: Path) -> None:
    """`TypeError: cannot pickle 'DuckDBPyConnection' object`; a table in memory can be."""
    import duckdb

    (tmp_path / "t.csv").write_text("t\n1\n")
    for table in (read(tmp_path / "t.csv"), read(duckdb.sql("select 1 as t"))):
        for act in (pickle.dumps, copy.deepcopy):
            with pytest.raises(StratError, match="can't be pickled or copied; read it again"):
                act(table)
    assert pickle.loads(pickle.dumps(read({"t": [1, 2]}))).column("t").tolist() == [1, 2]


def test_a_whole_number_of_400_digits_is_none() -> None:
    """As the trial's number of a HELM log it ended in an OverflowError."""
    with pytest.raises(ValueError, match="0000"):
        whole(10**400)


def test_check_tells_of_dropped_rows() -> None:
    table = {"t": [0, 1, 1, None] * 10, "p": [0, 1, 0, 1] * 10}
    found = check(table, truth="t", predicted="p", metrics="accuracy", trials=50, missing="drop")[0]
    assert "10 rows with missing values dropped" in found.notes


def test_categories_are_what_they_are() -> None:
    """Categories of numbers were text, and dictionaries of bytes ended in `ArrowInvalid`."""
    import pandas as pd
    import pyarrow as pa

    assert accuracy(pd.Series([1, 2, 10], dtype="category"), [1, 2, 9]) == pytest.approx(2 / 3)
    frame = pa.table({"t": pa.array([b"a\xff", b"b", None]).dictionary_encode()})
    assert read(frame).column("t", missing="drop").tolist() == ["b'a\\xff'", "b"]
    unused = pd.DataFrame({"t": pd.Categorical([1, 2, 2], categories=[3, 2, 1, 0])})
    assert read(unused).column("t").tolist() == [1, 2, 2]


def test_marks_in_numpys_text_of_any_length() -> None:
    """`None` in an array of the type StringDType was a label."""
    text = np.array(["a", "None", "b"], np.dtypes.StringDType())
    assert read({"t": text}).column("t", missing="drop").tolist() == ["a", "b"]
    assert float(strat.accuracy(text, ["a", "None", "a"]).value()) == pytest.approx(2 / 3)


def test_long_numbers_are_no_other_spelling_of_each_other() -> None:
    """Labels of 16 digits that a float can't keep apart were told as one in two spellings."""
    found = evaluate({"t": [2**53 + 1, 0.5] * 4, "p": [2**53, 0.5] * 4}, truth="t", predicted="p", metrics="accuracy")
    assert "spelled-labels" not in codes_of(found.notes)
    found = evaluate({"t": ["1", "0.5"] * 4, "p": ["1.0", "0.5"] * 4}, truth="t", predicted="p", metrics="accuracy")
    assert "spelled-labels" in codes_of(found.notes)


@pytest.mark.parametrize("text", ["NaN", "sNaN"])
def test_decimals_that_are_no_number_are_missing(text: str) -> None:
    """A signalling NaN ended in `decimal.InvalidOperation`."""
    assert read({"t": [Decimal(text), Decimal(1)]}).column("t", missing="drop").tolist() == [1]


@pytest.mark.parametrize(("number", "text"), [("1", '"1"'), ("0.5", '"0.5"'), ("true", '"true"')])
@pytest.mark.parametrize("large", [False, True])
def test_a_number_and_its_text_in_one_column_of_json(number: str, text: str, large: bool, tmp_path: Path) -> None:
    """They were one label; as in a list of Python they are refused, and other texts beside numbers are labels."""
    with changed(json_bytes_looked_at=0) if large else nullcontext():
        path = tmp_path / "t.jsonl"
        path.write_text(f'{{"t": {number}}}\n{{"t": {text}}}\n{{"t": "b"}}\n')
        with pytest.raises(StratError, match="column `t` must have labels of one type"):
            read(path).column("t")
        path.write_text(f'{{"t": {number}}}\n{{"t": "a"}}\n{{"t": "NA"}}\n')
        assert read(path).column("t", missing="drop").tolist() == [number, "a"]
