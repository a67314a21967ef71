"""The same evaluation through every frame library, file format and engine gives the same numbers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import strat
from strat import StratError
from strat.base.limits import changed
from strat.data import read, reduce
from strat.designs.from_columns import design_of
from strat.designs.sampling import Sampling
from strat.measures.classification import f1
from strat.measures.register import spellings
from strat.measures.scores import auc
from strat.verbs import evaluate

Make = Callable[[dict[str, np.ndarray], Path], Any]


def _duckdb(data: dict[str, Any], folder: Path) -> Any:
    import duckdb
    import pyarrow as pa

    return duckdb.connect().from_arrow(pa.table(data))


def _polars(data: dict[str, np.ndarray]) -> Any:
    import polars as pl

    return pl.DataFrame({k: v.tolist() if v.dtype == object else v for k, v in data.items()})


def _pandas(data: dict[str, np.ndarray]) -> Any:
    import pandas as pd

    return pd.DataFrame(data)


def _arrow(data: dict[str, np.ndarray]) -> Any:
    import pyarrow as pa

    return pa.table(data)


def _dask(data: dict[str, np.ndarray], folder: Path) -> Any:
    dask = pytest.importorskip("dask.dataframe")
    return dask.from_pandas(_pandas(data), npartitions=3)


def _written(name: str, write: Callable[[Any, Path], None]) -> Make:
    def make(data: dict[str, np.ndarray], folder: Path) -> Path:
        path = folder / name
        write(_polars(data), path)
        return path

    return make


def _packed(suffix: str) -> Make:
    def make(data: dict[str, np.ndarray], folder: Path) -> Path:
        import gzip

        import zstandard

        text = _polars(data).write_csv().encode()
        path = folder / f"table.csv{suffix}"
        path.write_bytes(gzip.compress(text) if suffix == ".gz" else zstandard.ZstdCompressor().compress(text))
        return path

    return make


def _parts(data: dict[str, np.ndarray], folder: Path) -> str:
    frame = _polars(data)
    frame.head(700).write_parquet(folder / "part-1.parquet")
    frame.tail(1300).write_parquet(folder / "part-2.parquet")
    return str(folder / "part-*.parquet")


SOURCES: dict[str, Make] = {
    "columns": lambda data, folder: data,
    "lists": lambda data, folder: {k: v.tolist() for k, v in data.items()},
    "pandas": lambda data, folder: _pandas(data),
    "pandas categories": lambda data, folder: _pandas(data).astype({"truth": "category", "subject": "category"}),
    "polars": lambda data, folder: _polars(data),
    "polars lazy": lambda data, folder: _polars(data).lazy(),
    "pyarrow": lambda data, folder: _arrow(data),
    "duckdb": _duckdb,
    "dask": _dask,
    "csv": _written("t.csv", lambda f, p: f.write_csv(p)),
    "tsv": _written("t.tsv", lambda f, p: f.write_csv(p, separator="\t")),
    "semicolons": _written("t.csv", lambda f, p: f.write_csv(p, separator=";")),
    "csv.gz": _packed(".gz"),
    "csv.zst": _packed(".zst"),
    "parquet": _written("t.parquet", lambda f, p: f.write_parquet(p)),
    "parquet parts": _parts,
    "json lines": _written("t.jsonl", lambda f, p: f.write_ndjson(p)),
    "arrow": _written("t.arrow", lambda f, p: f.write_ipc(p)),
}
DESIGNS: dict[str, dict[str, str]] = {
    "rows": {},
    "weighted rows": {"weights": "weight"},
    "strata": {"strata": "subject"},
    "units": {"units": "passage"},
    "all": {"strata": "subject", "units": "passage", "weights": "weight"},
}


def _row_by_row(data: dict[str, np.ndarray], roles: dict[str, str]) -> strat.Design:
    columns = {role: data[name] for role, name in roles.items()}
    weights = columns.get("weights")
    if "units" in columns:
        return strat.Design.clustered(columns["units"], strata=columns.get("strata"), weights=weights)
    if "strata" in columns:
        return strat.Design.stratified(columns["strata"], weights=weights)
    return strat.Design.simple_random(len(data["truth"]), weights=weights)


def _sources_and_designs() -> list[Any]:
    """Every source on every design; quick: every source on the fullest design and on one other."""
    simple = [design for design in DESIGNS if design != "all"]
    return [
        pytest.param(source, design, marks=() if design in ("all", simple[k % len(simple)]) else pytest.mark.slow)
        for k, source in enumerate(SOURCES)
        for design in DESIGNS
    ]


@pytest.mark.parametrize(("source", "on"), _sources_and_designs())
def test_every_source_gives_the_numbers_of_the_rows(
    source: str, on: str, predictions: dict[str, np.ndarray], tmp_path: Path
) -> None:
    made, roles = SOURCES[source](predictions, tmp_path), DESIGNS[on]
    found = evaluate(made, truth="truth", predicted="guess", metrics=["accuracy", "macro_f1"], **roles)
    area = evaluate(made, truth="cat", score="score", **roles)
    design = _row_by_row(predictions, roles)
    truth, guess = predictions["truth"], predictions["guess"]
    for name, statistic, estimate in (
        ("accuracy", strat.accuracy(truth, guess), found["accuracy"]),
        ("macro_f1", f1(truth, guess, average="macro"), found["macro_f1"]),
        ("auc", auc(predictions["cat"], predictions["score"]), area["auc"]),
    ):
        wanted = strat.estimate(statistic, on=design)
        assert estimate.value == pytest.approx(wanted.value, rel=1e-12), name
        assert estimate.se == pytest.approx(wanted.se, rel=1e-10), name
        assert estimate.df == pytest.approx(wanted.df, rel=1e-9), name
        assert estimate.deff == pytest.approx(wanted.deff, rel=1e-9), name
        assert estimate.interval() == pytest.approx(wanted.interval(), rel=1e-10), name


@pytest.mark.parametrize("source", ["columns", "polars", "polars lazy", "duckdb", "parquet"])
@pytest.mark.parametrize("method", ["generalized", "jackknife"])
def test_replicates_of_cells_are_replicates_of_rows(
    source: str, method: str, predictions: dict[str, np.ndarray], tmp_path: Path
) -> None:
    made = SOURCES[source](predictions, tmp_path)
    found = evaluate(
        made, truth="truth", predicted="guess", strata="subject", units="passage", metrics="macro_f1", method=method
    )
    design = strat.Design.stratified(predictions["subject"], units=predictions["passage"])
    statistic = f1(predictions["truth"], predictions["guess"], average="macro")
    wanted = strat.estimate(statistic, on=getattr(strat, method)(design))
    assert found["macro_f1"].se == pytest.approx(wanted.se, rel=1e-9)


@pytest.mark.parametrize(
    "source", ["pandas", "polars", "polars lazy", "pyarrow", "duckdb", "dask", "csv", "parquet", "json lines"]
)
def test_missing_values_are_refused_by_name_and_count(
    source: str, predictions: dict[str, np.ndarray], tmp_path: Path
) -> None:
    holes = {k: v.astype(object) if v.dtype.kind == "U" else v for k, v in predictions.items()}
    holes["guess"] = holes["guess"].copy()
    holes["guess"][:3] = None
    made = SOURCES[source](holes, tmp_path)
    with pytest.raises(StratError, match=r"`guess` has 3 missing( \(empty 3\))?; drop these rows"):
        evaluate(made, truth="truth", predicted="guess", units="passage")
    found = evaluate(made, truth="truth", predicted="guess", units="passage", missing="drop", metrics="accuracy")
    rest = {k: v[3:] for k, v in predictions.items()}
    wanted = evaluate(rest, truth="truth", predicted="guess", units="passage", metrics="accuracy")
    assert (found.dropped, found.rows) == (3, 1997)
    assert found["accuracy"].se == pytest.approx(wanted["accuracy"].se, rel=1e-12)


@pytest.mark.parametrize("source", ["pandas", "polars", "pyarrow", "polars lazy", "parquet"])
def test_columns_come_back_as_they_are(source: str, predictions: dict[str, np.ndarray], tmp_path: Path) -> None:
    table = read(SOURCES[source](predictions, tmp_path))
    assert table.names == tuple(predictions)
    assert len(table) == 2000
    for name, values in predictions.items():
        assert np.array_equal(table.column(name), values)


def test_the_answer_comes_in_the_library_of_the_question(predictions: dict[str, np.ndarray], tmp_path: Path) -> None:
    for source, library in (("pandas", "pandas"), ("polars", "polars"), ("pyarrow", "pyarrow")):
        made = SOURCES[source](predictions, tmp_path)
        frame = evaluate(made, truth="truth", predicted="guess", units="passage").to_frame()
        assert type(frame).__module__.split(".")[0] == library


def test_binned_scores_stay_within_the_printed_bound(predictions: dict[str, np.ndarray]) -> None:
    rng = np.random.default_rng(3)
    data = {**predictions, "score": rng.random(2000) + 0.3 * predictions["cat"]}
    exact = evaluate(_polars(data), truth="cat", score="score", units="passage")["auc"]
    binned = evaluate(_polars(data).lazy(), truth="cat", score="score", units="passage", bins=16)
    (note,) = binned.notes
    bound = note.facts["bound"]
    assert 0 < abs(binned["auc"].value - exact.value) <= bound < 0.05
    assert binned["auc"].se == pytest.approx(exact.se, rel=0.05)


OF_SCORES = [name for name, measure in spellings().items() if measure.needs == ("truth", "score")]


def many_scores() -> dict[str, np.ndarray]:
    """6,000 comparisons of 60 people, nearly all with a score of their own."""
    rng = np.random.default_rng(8)
    unit = rng.integers(0, 60, 6000)
    truth = (rng.random(6000) < 0.3).astype(int)
    score = 1 / (1 + np.exp(-rng.normal(1.6 * truth - 1 + 0.4 * (unit % 3), 1)))
    return {"y": truth, "s": score, "u": unit, "w": rng.integers(1, 4, 6000)}


def same_numbers(source: Any, data: dict[str, np.ndarray], roles: dict[str, str]) -> None:
    ask: dict[str, Any] = {"truth": "y", "score": "s", "metrics": OF_SCORES, "positive": 1, **roles}
    found, wanted = evaluate(source, **ask), evaluate(data, **ask)
    for name in OF_SCORES:
        np.testing.assert_allclose(found[name].value, wanted[name].value, rtol=1e-12, atol=1e-14, err_msg=name)
        np.testing.assert_allclose(found[name].se, wanted[name].se, rtol=1e-10, err_msg=name)
        np.testing.assert_allclose(
            np.asarray(found[name].interval()), np.asarray(wanted[name].interval()), rtol=1e-10, err_msg=name
        )


@pytest.mark.parametrize("source", ["polars lazy", "duckdb", "parquet", "csv"])
@pytest.mark.parametrize(
    "roles", [{"units": "u"}, {}, {"units": "u", "weights": "w"}], ids=["units", "rows", "weights"]
)
def test_a_file_is_a_frame_for_every_measure_of_scores(source: str, roles: dict[str, str], tmp_path: Path) -> None:
    """The standard error of an EER was between 0.6 and 1.6 times that of the frame: 256 bins from 4,097 scores on."""
    data = many_scores()
    assert "equal_error_rate" in OF_SCORES
    same_numbers(SOURCES[source](data, tmp_path), data, roles)


@pytest.mark.parametrize("source", ["duckdb", "parquet"])
@pytest.mark.parametrize("roles", [{"units": "u"}, {}, {"units": "u", "weights": "w"}])
@changed(exact_rows=6000, rows_in_memory=100, grouped_rows=100)
def test_scores_of_a_large_file_are_those_of_a_frame_up_to_the_limit(
    source: str, roles: dict[str, str], tmp_path: Path
) -> None:
    """Files of more than a million rows were binned; those of more than five million went through two passes."""
    data = many_scores()
    same_numbers(SOURCES[source](data, tmp_path), data, roles)


@pytest.mark.slow
def test_scores_of_ten_million_rows_of_a_file_are_those_of_columns(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    unit, truth = rng.integers(0, 20_000, 10_000_000), (rng.random(10_000_000) < 0.3).astype(np.int8)
    data = {"u": unit, "y": truth, "s": np.clip(0.7 * rng.random(10_000_000) + 0.2 * truth, 1e-9, 1)}
    ask: dict[str, Any] = {"truth": "y", "score": "s", "units": "u", "metrics": ["auc", "ap", "eer", "brier"]}
    found, wanted = evaluate(SOURCES["parquet"](data, tmp_path), **ask), evaluate(data, **ask)
    assert found.notes == ()
    for name, one in wanted.estimates.items():
        assert found[name].value == pytest.approx(one.value, rel=1e-12)
        assert found[name].se == pytest.approx(one.se, rel=1e-11)


@changed(exact_rows=5999)
def test_the_note_on_bins_bounds_each_measure(tmp_path: Path) -> None:
    data = many_scores()
    found = evaluate(SOURCES["parquet"](data, tmp_path), truth="y", score="s", units="u", metrics=["auc", "eer", "ap"])
    wanted = evaluate(data, truth="y", score="s", units="u", metrics=["auc", "eer", "ap"])
    bounds = {note.at["metric"][0]: note.facts["bound"] for note in found.notes}
    assert set(bounds) == {"auc", "eer", "ap"}
    assert all(abs(found[name].value - wanted[name].value) <= bound for name, bound in bounds.items())


def test_few_distinct_scores_are_never_binned(predictions: dict[str, np.ndarray]) -> None:
    found = evaluate(_polars(predictions).lazy(), truth="cat", score="score", units="passage")
    assert found.notes == ()


@pytest.mark.parametrize("source", ["polars lazy", "duckdb", "parquet"])
def test_the_order_of_rows_does_not_decide_on_bins(source: str, tmp_path: Path) -> None:
    """The first rows of a sorted file have few distinct scores, those of a shuffled one have many."""
    rng = np.random.default_rng(2)
    score = np.sort(rng.integers(0, 9000, 150_000)) / 9000
    data = {"cat": (rng.random(150_000) < score).astype(int), "score": score, "unit": rng.integers(0, 40, 150_000)}
    order = rng.permutation(150_000)
    shuffled = {name: column[order] for name, column in data.items()}
    found = [
        evaluate(SOURCES[source](rows, tmp_path), truth="cat", score="score", units="unit") for rows in (data, shuffled)
    ]
    assert found[0].notes == found[1].notes
    assert found[0]["auc"].value == pytest.approx(found[1]["auc"].value, rel=1e-12)
    assert found[0]["auc"].se == pytest.approx(found[1]["auc"].se, rel=1e-12)


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("population", [None, {"art": 900, "biology": 10**6, "chess": None, "drama": 5000}])
def test_cells_count_the_rows_of_domains(
    many: bool, population: dict[str, Any] | None, predictions: dict[str, np.ndarray]
) -> None:
    """Rows as units: degrees of freedom of domains, of one and of several, are those of the rows one by one."""
    sizes = {s: int((predictions["subject"] == s).sum()) for s in ("art", "biology", "chess", "drama")}
    known = None if population is None else {s: size or sizes[s] for s, size in population.items()}  # chess: seen whole

    def statistic(truth: Any, guess: Any) -> Any:
        parts = {name: strat.domain(strat.accuracy(truth, guess), np.asarray(truth) == name) for name in ("ant", "cat")}
        return strat.stack("class", all=strat.accuracy(truth, guess), **parts) if many else parts["cat"]

    cells = reduce(read(predictions), {"truth": "truth", "predicted": "guess", "strata": "subject"})
    found = strat.estimate(
        statistic(cells.columns["truth"], cells.columns["predicted"]),
        on=design_of(cells.columns, rows=len(cells), counts=cells.counts, sampling=Sampling(population=known)),
    )
    design = strat.Design.stratified(predictions["subject"], population=known)
    wanted = strat.estimate(statistic(predictions["truth"], predictions["guess"]), on=design)
    np.testing.assert_allclose(found.df, wanted.df, rtol=1e-12)
    np.testing.assert_allclose(found.value, wanted.value, rtol=1e-12)
    np.testing.assert_allclose(found.se, wanted.se, rtol=1e-10)
    np.testing.assert_allclose(found.effective_units, wanted.effective_units, rtol=1e-10)


def test_one_and_true_are_not_one_label_in_a_table_either() -> None:
    with pytest.raises(StratError, match="`column t` must have labels of one type, got 1, True"):
        evaluate({"t": [1, True, 0, 1], "p": [1, 1, 0, 0]}, truth="t", predicted="p")
    both = {"t": [True, False, True, True], "p": [True, True, None, True]}
    found = evaluate(both, truth="t", predicted="p", missing="drop", metrics="accuracy")
    assert found["accuracy"].value == pytest.approx(2 / 3)


UUIDS = [f"00000000-0000-0000-0000-00000000000{k % 4}" for k in range(12)]
SQL_TYPES: dict[str, list[Any]] = {
    "uuid": UUIDS,
    "time with time zone": [f"12:00:0{k % 4}+01" for k in range(12)],
    "bit": [f"1{k % 4:03b}" for k in range(12)],
    "uhugeint": [2**127 + k % 4 for k in range(12)],
    "bignum": [2**130 + k % 4 for k in range(12)],
}


@pytest.mark.parametrize("kind", SQL_TYPES)
def test_types_that_numpy_does_not_know_are_labels(kind: str, tmp_path: Path) -> None:
    """A column of UUIDs was taken for wide numbers: `decimal.InvalidOperation` from every command."""
    texts = [str(value) for value in SQL_TYPES[kind]]
    columns = {"t": [0, 1] * 6, "p": [0, 1, 1] * 4, "u": texts, "v": texts[::-1]}
    shown = _duckdb(columns, tmp_path).project(f"t, p, u::{kind} as u, v::{kind} as v")
    asked: list[dict[str, Any]] = [
        {"truth": "u", "predicted": "v"},
        {"truth": "t", "predicted": "p", "units": "u", "by": "t"},
    ]
    for roles in asked:
        found, same = (evaluate(table, **roles, metrics="accuracy") for table in (shown, columns))
        assert found.to_dict()["se"] == pytest.approx(same.to_dict()["se"])
        assert (found.to_dict()["estimate"], found.design) == (same.to_dict()["estimate"], same.design)
    assert sorted(set(map(str, read(shown).column("u").tolist()))) == sorted(set(texts))


def test_wide_whole_numbers_of_duckdb_are_scores() -> None:
    """A score of the type UHUGEINT ended in DuckDB's NotImplementedException."""
    import duckdb

    for kind in ("uhugeint", "bignum"):
        shown = duckdb.sql(f"select (2::{kind} * range)::{kind} as s from range(4)")
        assert evaluate(shown, score="s")["mean"].value == 3


@pytest.mark.parametrize("value", ["[1]", "{'a': 1}", "map {1: 1}", "union_value(a := 1)"])
def test_nested_columns_of_duckdb_are_refused(value: str) -> None:
    """Maps and unions ended in `decimal.InvalidOperation`."""
    import duckdb

    shown = duckdb.sql(f"select {value} as t, {value} as p from range(4)")
    with pytest.raises(StratError, match="column `t` must hold plain labels or numbers, got values of the type"):
        evaluate(shown, truth="t", predicted="p")


@changed(rows_in_memory=1)
def test_uuids_in_two_passes(tmp_path: Path) -> None:
    """A Parquet file with units of UUIDs, in two passes as in one."""
    columns = {"t": [0, 1] * 6, "p": [0, 1, 1] * 4, "u": UUIDS}
    made = _duckdb(columns, tmp_path).project("t, p, u::uuid as u")
    made.write_parquet(str(tmp_path / "t.parquet"))
    asked: list[dict[str, Any]] = [{"units": "u"}, {"strata": "u"}, {"by": "u"}]
    for roles in asked:
        found, same = (
            evaluate(table, truth="t", predicted="p", **roles, metrics="accuracy")
            for table in (tmp_path / "t.parquet", columns)
        )
        assert (found["accuracy"].value, found.design) == (same["accuracy"].value, same.design)


@pytest.mark.costly("a program that ends must be a real one")
def test_a_program_that_read_a_file_ends_without_a_word(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("truth,guess\n" + "a,a\nb,a\nb,b\n" * 10)
    program = f"import strat; strat.evaluate({str(path)!r}, truth='truth', predicted='guess')"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("", "")
