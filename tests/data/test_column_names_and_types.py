"""Odd column names, types that rows decided, text among numbers, spellings, rows in another order."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import strat
from strat import comparison, verbs
from strat.base.errors import StratError
from strat.base.limits import changed
from strat.base.notes import codes_of
from strat.data import read
from strat.verbs import evaluate
from strat.verbs.check import check
from table_sources import ROADS, WIDER, csv_file, every_road, parquet_file

ODD_NAMES = ("*", "^p$", "a.b", 'x"y')


def _names_and_roles() -> list[Any]:
    """Every name in every role on every road; quick: each pair of these once."""
    return [
        pytest.param(road, name, role, marks=() if (i + j) % 4 == role else pytest.mark.slow)
        for i, road in enumerate(ROADS)
        for j, name in enumerate(ODD_NAMES)
        for role in range(4)
        if not (road in ("csv", "tsv", "gzip", "zstandard") and '"' in name)  # the writer of these does not quote
    ]


@pytest.mark.parametrize(("road", "name", "role"), _names_and_roles())
def test_names_are_names(road: str, name: str, role: int, tmp_path: Path) -> None:
    """A column called `*` stood for all columns in DuckDB, `^p$` for a pattern in Polars: accuracy 1 for 0.5."""
    columns = {"p": ["a", "b"] * 4, name: ["a", "a"] * 4, "u": [1, 1, 2, 2, 3, 3, 4, 4], "s": [0.0, 1.0] * 4}
    if role < 2:
        table = ROADS[road](columns, tmp_path)
        assert read(table).column(name).tolist() == columns[name]
    else:
        table = ROADS[road]({**columns, name: [0.25, 0.75] * 4}, tmp_path)
    if role == 0:
        assert evaluate(table, truth=name, predicted="p", metrics="accuracy", units="u")["accuracy"].value == 0.5
    elif role == 1:
        assert evaluate(table, truth="p", predicted="p", strata=name, metrics="accuracy").rows == 8
    elif role == 2:
        assert evaluate(table, score=name, units="u")["mean"].value == 0.5
    else:
        assert evaluate(table, score="s", weights=name, units="u")["mean"].value == 0.75


@pytest.mark.parametrize("name", ["influence_0", "key", "units", "strat_mass", "*", "sum_0"])
@changed(rows_in_memory=1)
def test_names_in_two_passes(name: str, tmp_path: Path) -> None:
    """In Parquet files that are read in two passes a column called influence_0 was a raw error of the engine."""
    columns = {"t": ["a", "b"] * 8, name: ["a", "a"] * 8, "u": [k // 4 for k in range(16)]}
    path = parquet_file(columns, tmp_path)
    assert evaluate(path, truth="t", predicted=name, units="u", metrics="accuracy")["accuracy"].value == 0.5


@changed(rows_in_memory=1)
def test_marks_and_wide_ids_in_two_passes(tmp_path: Path) -> None:
    """A unit `NA` is missing, and decimal ids stay apart, in two passes as in one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

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
@changed(csv_bytes_looked_at=0, json_bytes_looked_at=0, rows_looked_at=1000)
def test_the_order_of_rows_decides_no_type(road: str, odd: str, tmp_path: Path) -> None:
    """In large files five rows `01` at the end were read as 1, at the start they were text."""
    value = odd if road == "csv" or odd in ("01", "x") else json.loads(odd)
    rows = [1, 2] * 11_000  # more than the rows of which hints are given
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
    path = csv_file(
        {"y": rng.integers(0, 3, 3000).tolist(), "p": rng.integers(0, 3, 3000).tolist()}, tmp_path / "t.csv"
    )
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
    assert {note.facts["these"] for note in found.notes} == {("a ",)}


SPELLED = [(["Yes", "No"], ["yes", "no"]), (["a", "b"], ["a ", "b "]), (["1", "0"], ["1.0", "0.0"]),
           (["é", "b"], ["e\u0301", "b"])]  # fmt: skip


@pytest.mark.parametrize(("truth", "predicted"), SPELLED)
def test_labels_in_another_spelling_are_noted(truth: list[str], predicted: list[str]) -> None:
    """A system that wrote "yes" for "Yes" was worse by 76 points, p < 0.001, and a gate said so without a word."""
    table = {"y": truth * 20, "good": truth * 20, "odd": predicted * 20}
    for measure in ("accuracy", "error_rate", "macro_f1", "kappa", "balanced_accuracy", "mcc"):
        found = evaluate(table, truth="y", predicted="odd", metrics=measure)
        assert "spelled-labels" in codes_of(found.notes)
        assert evaluate(table, truth="y", predicted="good", metrics=measure).notes == ()
    board = verbs.compare(table, truth="y", predicted=["good", "odd"])
    assert "spelled-labels" in codes_of(board.notes)
    passed = verbs.gate(table, truth="y", baseline="good", candidate="odd", margin=0.1)
    assert "spelled-labels" in codes_of(passed.notes)
    assert "spelled-labels" in codes_of(check(table, truth="y", predicted="odd", trials=50)[0].notes)


def test_letters_of_two_sizes_are_two_classes() -> None:
    """Characters are read as capitals and small letters: these are classes, not spellings."""
    found = evaluate({"y": list("aAbB") * 5, "p": list("aABB") * 5}, truth="y", predicted="p")
    assert "spelled-labels" not in codes_of(found.notes)


def test_labels_of_another_language_are_noted() -> None:
    """An accuracy of 0 because no predicted label occurs in the truth came without a word."""
    found = evaluate({"y": ["cat", "dog"] * 5, "p": ["Katze", "Hund"] * 5}, truth="y", predicted="p")
    assert any("No predicted label ('Hund', 'Katze') occurs in the truth" in note for note in found.notes)


def test_systems_of_text_beside_a_truth_of_numbers_are_refused() -> None:
    """`compare` called a system that wrote "1" for 1 wrong in every row; `evaluate` refused it."""
    table = {"y": [0, 1] * 10, "a": [0, 1] * 10, "b": ["0", "1"] * 10}
    with pytest.raises(StratError, match="labels of the type of `truth`, got '0' against 0"):
        verbs.compare(table, truth="y", predicted=["a", "b"])


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
    boards = [verbs.compare(one, score=list(systems), units="u") for one in (wide, shuffled)]
    np.testing.assert_allclose(boards[0].many.pvalues(), boards[1].many.pvalues(), rtol=1e-9)
