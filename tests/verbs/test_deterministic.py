"""Deterministic: the same numbers for any row order, engine, number of threads and block size; the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import strat
from command_cases import Program, table
from strat import Design, estimate
from strat.base.limits import changed
from strat.recognition import ranks_of_embeddings
from strat.verbs import compare, evaluate

RNG = np.random.default_rng(8)
N = 600
ROWS: dict[str, np.ndarray] = {
    "truth": RNG.integers(0, 3, N),
    "guess": RNG.integers(0, 3, N),
    "score": np.round(RNG.random(N), 6),
    "other": np.round(RNG.random(N), 6),
    "stratum": np.array([f"s{i}" for i in np.arange(N) % 5]),
    "unit": np.array([f"u{i:03}" for i in np.arange(N) // 6]),
    "weight": np.exp(RNG.normal(0, 2, N)),
}
ROWS["stratum"] = np.array([f"s{int(u[1:]) % 5}" for u in ROWS["unit"]])
LABELS = {"truth": "truth", "predicted": "guess"}
CLOSE = {"rtol": 1e-12, "atol": 1e-13}
METHODS = ("taylor", "jackknife", "generalized", "bootstrap")


def numbers(found: Any) -> np.ndarray:
    columns = found.to_dict()
    return np.array([columns[name] for name in ("estimate", "se", "low", "high")], float)


def evaluated(rows: Any, method: str = "taylor", **more: Any) -> np.ndarray:
    options = {"truth": "truth", "predicted": "guess", "strata": "stratum", "units": "unit", "weights": "weight"}
    return numbers(evaluate(rows, **options, metrics=["accuracy", "macro_f1", "kappa"], method=method, **more))


@pytest.mark.parametrize("method", METHODS)
def test_any_row_order(method: str) -> None:
    order = np.random.default_rng(1).permutation(N)
    shuffled = {name: column[order] for name, column in ROWS.items()}
    np.testing.assert_allclose(evaluated(shuffled, method), evaluated(ROWS, method), **CLOSE)


@pytest.mark.parametrize("method", METHODS)
def test_any_names_of_units_in_the_same_order(method: str) -> None:
    renamed = {**ROWS, "unit": np.array([f"passage number {u}" for u in ROWS["unit"]])}
    np.testing.assert_allclose(evaluated(renamed, method), evaluated(ROWS, method), **CLOSE)


def engines() -> dict[str, Callable[[Path], Any]]:
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    def written(name: str, write: Callable[[Any, Path], Any]) -> Callable[[Path], str]:
        def make(folder: Path) -> str:
            write(pl.DataFrame(ROWS), folder / name)
            return str(folder / name)

        return make

    return {
        "pandas": lambda f: pd.DataFrame(ROWS),
        "polars": lambda f: pl.DataFrame(ROWS),
        "lazy polars": lambda f: pl.LazyFrame(ROWS),
        "pyarrow": lambda f: pa.table(ROWS),
        "duckdb": lambda f: duckdb.from_arrow(pa.table(ROWS)),
        "csv": written("a.csv", lambda frame, path: frame.write_csv(path)),
        "parquet": written("a.parquet", lambda frame, path: frame.write_parquet(path)),
        "json lines": written("a.jsonl", lambda frame, path: frame.write_ndjson(path)),
    }


@pytest.mark.parametrize("name", engines())
def test_any_engine(name: str, tmp_path: Path) -> None:
    np.testing.assert_allclose(evaluated(engines()[name](tmp_path)), evaluated(ROWS), **CLOSE)


def test_any_order_of_files(tmp_path: Path) -> None:
    import polars as pl

    frame = pl.DataFrame(ROWS)
    parts = []
    for k in range(6):
        frame[100 * k : 100 * (k + 1)].write_csv(tmp_path / f"{k}.csv")
        parts.append(str(tmp_path / f"{k}.csv"))
    np.testing.assert_allclose(evaluated(parts[::-1]), evaluated(parts), **CLOSE)


def test_any_order_of_a_board() -> None:
    order = np.random.default_rng(2).permutation(N)
    made = [
        compare({n: c[o] for n, c in ROWS.items()}, score=["score", "other"], strata="stratum", units="unit")
        for o in (np.arange(N), order)
    ]
    for name in ("score", "se", "low", "high", "behind_low", "behind_high"):
        np.testing.assert_allclose(made[1].to_dict()[name], made[0].to_dict()[name], **CLOSE)
    swapped = compare(ROWS, score=["other", "score"], strata="stratum", units="unit")
    assert swapped.systems == made[0].systems
    np.testing.assert_allclose(swapped.to_dict()["se"], made[0].to_dict()["se"], **CLOSE)


SHUFFLED: dict[str, Callable[[Any], Any]] = {
    "look": strat.look,
    "check": lambda rows: strat.check(rows, **LABELS, units="unit", metrics="accuracy", trials=50),
    "check of scores": lambda rows: strat.check(rows, truth="right", score="score", weights="weight", trials=50),
    "check of rows": lambda rows: strat.check(rows, score="right", strata="stratum", trials=50),
    "by": lambda rows: strat.evaluate(rows, **LABELS, units="unit", by="stratum", metrics="macro_f1"),
    "board": lambda rows: strat.compare(rows, score=["score", "other", "right"], units="unit"),
    "gate": lambda rows: strat.gate(rows, score=["score", "other"], baseline="other", margin=0.02, strata="stratum"),
}


@pytest.mark.parametrize("verb", SHUFFLED)
def test_what_a_verb_prints_does_not_depend_on_the_order_of_rows(verb: str) -> None:
    rows = {**ROWS, "right": (ROWS["truth"] == ROWS["guess"]).astype(int), "id": np.repeat(np.arange(N // 4), 4)}
    order = np.random.default_rng(1).permutation(N)
    shuffled = {name: column[order] for name, column in rows.items()}
    assert str(SHUFFLED[verb](shuffled)) == str(SHUFFLED[verb](rows))


def test_auc_in_any_order() -> None:
    truth = (ROWS["truth"] > 0).astype(int)
    order = np.random.default_rng(3).permutation(N)
    on = [Design.clustered(ROWS["unit"][o], strata=ROWS["stratum"][o]) for o in (np.arange(N), order)]
    a = estimate(strat.auc(truth, ROWS["score"]), on=on[0])
    b = estimate(strat.auc(truth[order], ROWS["score"][order]), on=on[1])
    np.testing.assert_allclose([b.value, b.se], [a.value, a.se], **CLOSE)


def test_any_block_size() -> None:
    """Ranks are counted in blocks: the counts are the same whatever the block."""
    p, g = RNG.normal(size=(50, 8)), RNG.normal(size=(30, 8))
    who = {"probe_subjects": np.arange(50) % 30, "gallery_subjects": np.arange(30)}
    wanted = ranks_of_embeddings(p, g, **who, score="l1")
    for cells in (1, 64, 1000):
        with changed(scores_at_once=cells):
            found = ranks_of_embeddings(p, g, **who, score="l1")
        for name in ("above", "tied"):
            np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))


SAME = {
    "evaluate": ("evaluate", "{}", "--truth", "truth", "--predicted", "guess", "--strata", "subject", "--units",
                 "passage", "--nested", "--weights", "weight", "--json"),
    "bootstrap": ("evaluate", "{}", "--truth", "truth", "--predicted", "guess", "--units", "passage", "--method",
                  "bootstrap", "--json"),
    "compare": ("compare", "{}", "--truth", "truth", "--predicted", "guess", "--predicted", "truth", "--units",
                "passage", "--json"),
    "sample": ("sample", "{}", "--size", "12", "--strata", "subject", "--seed", "5", "--json"),
    "systematic sample": ("sample", "{}", "--size", "12", "--method", "systematic", "--seed", "5", "--json"),
    "chance": ("chance", "{}", "--truth", "truth", "--predicted", "guess", "--units", "passage", "--exchange",
               "between", "--permutations", "99", "--seed", "3", "--json"),
    "plan": ("plan", "width", "--width", "0.1", "--proportion", "0.5", "--json"),
    "array": ("array", "--levels", "3", "--columns", "7", "--json"),
}  # fmt: skip
SCORED = ("evaluate", "{}", "--truth", "truth", "--predicted", "guess", "--score", "score", "--strata", "subject",
          "--units", "passage", "--nested", "--weights", "weight", "--json")  # fmt: skip
IN_STRATA = ("evaluate", "{}", "--truth", "truth", "--predicted", "guess", "--strata", "stratum", "--units", "unit",
             "--weights", "weight", "--json")  # fmt: skip


@pytest.mark.parametrize("ask", SAME.values(), ids=SAME.keys())
def test_the_same_bytes_of_json(ask: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text(table(200))
    arguments = [a.format(path) for a in ask]
    first, second = Program(capsys)(*arguments), Program(capsys)(*arguments)
    assert (first.code, first.err) == (0, "")
    assert first.out == second.out
    assert json.loads(first.out)["schema"].startswith("strat/")


def test_the_command_has_the_numbers_of_the_library(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text(table(3000))
    printed = json.loads(Program(capsys)(*(a.format(path) for a in SCORED)).out)
    wanted = evaluate(str(path), truth="truth", predicted="guess", score="score", strata="subject", units="passage",
                      weights="weight", nested=True)  # fmt: skip
    got = np.array([[m[k] for k in ("estimate", "se", "low", "high")] for m in printed["measures"]], float)
    np.testing.assert_allclose(got.T, numbers(wanted), **CLOSE)


IN_TURN = """
import json, sys
from strat.cli import main
for arguments in json.load(sys.stdin):
    try:
        main(arguments)
    except SystemExit as ended:
        assert not ended.code, arguments
    print(end="\\0")
"""
SETTINGS = {  # of new processes; the engine's threads are set below
    "one thread": ("1", "0"),
    "another hash seed": ("1", "1"),
    "four threads": ("4", "0"),
}


@pytest.fixture(scope="module")
def lines(orders: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    path = tmp_path_factory.mktemp("lines") / "a.csv"
    path.write_text(table(3000))
    asks = (SCORED, IN_STRATA, SAME["bootstrap"])
    return [[a.format(orders[0] if ask is IN_STRATA else path) for a in ask] for ask in asks]


@pytest.fixture(scope="module")
def printed(lines: list[list[str]]) -> dict[str, list[str]]:
    """What the program prints for each line, in a process with each of the settings."""
    found = {}
    for name, (threads, seed) in SETTINGS.items():
        algebra = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), threads)
        ran = subprocess.run(
            [sys.executable, "-c", IN_TURN], input=json.dumps(lines), capture_output=True, text=True, check=False,
            env={**os.environ, **algebra, "PYTHONHASHSEED": seed},
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        found[name] = ran.stdout.split("\0")[:-1]
    return found


@pytest.mark.parametrize("name", SETTINGS)
def test_the_same_bytes_in_a_process_with_other_settings(
    name: str, printed: dict[str, list[str]], lines: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed[name][:2] == [Program(capsys)(*line).out for line in lines[:2]]


def test_the_same_bytes_of_a_bootstrap_with_another_hash_seed(printed: dict[str, list[str]]) -> None:
    """In two new processes, because its last digit depends on the threads that this one gives to the algebra."""
    assert printed["one thread"][2] == printed["another hash seed"][2] != ""


def test_the_same_bytes_of_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text(table(200))
    ask = ("evaluate", path, "--truth", "truth", "--predicted", "guess", "--units", "passage", "-q", "--html")
    for name in ("a.html", "b.html"):
        assert Program(capsys)(*ask, tmp_path / name).code == 0
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


MANY = 40_000
ASKED: dict[str, dict[str, Any]] = {
    "counts": {"truth": "truth", "predicted": "guess", "units": "unit"},
    "weights": {"truth": "truth", "predicted": "guess", "strata": "stratum", "units": "unit", "weights": "weight"},
    "weights over twenty orders": {"truth": "truth", "predicted": "guess", "units": "unit", "weights": "wild"},
    "one class": {"truth": "positive", "predicted": "flag", "units": "unit", "weights": "weight",
                  "metrics": ["recall", "precision", "accuracy"]},
    "area": {"truth": "positive", "score": "score", "units": "unit", "weights": "weight"},
    "mean score": {"score": "score", "units": "unit"},
    "weighted mean score": {"score": "score", "strata": "stratum", "units": "unit", "weights": "weight", "bins": 64},
    "rows": {"truth": "truth", "predicted": "guess", "strata": "stratum", "weights": "few"},
    "bootstrap": {"truth": "truth", "predicted": "guess", "units": "unit", "weights": "weight", "method": "bootstrap"},
}  # fmt: skip
READ = {"in one pass": 5_000_000, "in two passes": 0}


@pytest.fixture(scope="module")
def many_rows() -> Any:
    import polars as pl

    rng = np.random.default_rng(0)
    unit = rng.integers(0, 90, MANY)
    return pl.DataFrame(
        {
            "truth": rng.integers(0, 4, MANY),
            "guess": rng.integers(0, 4, MANY),
            "unit": unit,
            "stratum": np.array(["north", "south", "west"])[unit % 3],
            "positive": rng.integers(0, 2, MANY),
            "flag": rng.integers(0, 2, MANY),
            "score": rng.normal(0, 1, MANY),
            "weight": np.exp(rng.normal(0, 2, MANY)),
            "wild": 10 ** rng.uniform(-18, 3, MANY),
            "few": rng.choice([0.1, 0.3, 1.7], MANY),
        }
    )


@pytest.fixture(scope="module")
def orders(many_rows: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The rows in Parquet files of two orders and of row groups of two sizes: the engine's threads share the groups."""
    folder = tmp_path_factory.mktemp("orders")
    a, b = folder / "a.parquet", folder / "b.parquet"
    many_rows.write_parquet(a, row_group_size=3_000)
    many_rows.sample(fraction=1.0, shuffle=True, seed=1).write_parquet(b, row_group_size=1_000)
    return a, b


@pytest.fixture
def with_threads(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Evaluate a file with so many threads of the engine, in one or two passes, and give the JSON."""
    from strat.data.files import source

    connect = source.connect

    def evaluated(path: Path, threads: int, large: int, ask: dict[str, Any]) -> str:
        def limited(memory: str, **options: bool) -> Any:
            engine = connect(memory, **options)
            engine.execute(f"set threads = {threads}")
            return engine

        monkeypatch.setattr(source, "connect", limited)
        with changed(rows_in_memory=large):
            return evaluate(path, **ask).to_json()

    return evaluated


@pytest.mark.parametrize("large", READ.values(), ids=READ.keys())
@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED.keys())
def test_the_same_bytes_for_any_threads_run_and_order(
    ask: dict[str, Any], large: int, orders: tuple[Path, Path], with_threads: Callable[..., str]
) -> None:
    """Not to 1e-12: to the last bit, for every number of threads, every run, every order of rows and row groups."""
    a, b = orders
    made = {with_threads(path, threads, large, ask) for path, threads in ((a, 1), (a, 4), (b, 2), (b, 4))}
    assert len(made) == 1


def _files() -> list[Any]:
    """Each kind of question and of file; quick: each of them once."""
    names = ("weights", "weights over twenty orders", "area", "mean score")
    suffixes = (".csv", ".jsonl", ".arrow")
    return [
        pytest.param(name, suffix, marks=() if k % 3 == j else pytest.mark.slow)
        for k, name in enumerate(names)
        for j, suffix in enumerate(suffixes)
    ]


@pytest.mark.parametrize(("name", "suffix"), _files())
def test_the_same_bytes_from_other_files(
    name: str, suffix: str, many_rows: Any, with_threads: Callable[..., str], tmp_path: Path
) -> None:
    writers = {".csv": "write_csv", ".jsonl": "write_ndjson", ".arrow": "write_ipc"}
    paths = [tmp_path / f"{k}{suffix}" for k in "ab"]
    rows = many_rows.head(30_000)
    getattr(rows, writers[suffix])(paths[0])
    getattr(rows.sample(fraction=1.0, shuffle=True, seed=1), writers[suffix])(paths[1])
    made = {with_threads(path, threads, READ["in one pass"], ASKED[name]) for path in paths for threads in (1, 4)}
    assert len(made) == 1
    rows.write_parquet(tmp_path / "c.parquet")
    (one,) = made
    other = with_threads(tmp_path / "c.parquet", 2, READ["in one pass"], ASKED[name])
    for mine, theirs in zip(json.loads(one)["measures"], json.loads(other)["measures"], strict=True):
        for key in ("estimate", "se", "low", "high"):
            assert mine[key] == pytest.approx(theirs[key], rel=1e-12, abs=1e-13)


def test_the_same_bytes_of_a_board_for_any_threads(orders: tuple[Path, Path]) -> None:
    ask = {"score": ["score", "few"], "strata": "stratum", "units": "unit", "weights": "weight"}
    assert len({compare(orders[0], **ask).to_json() for _ in range(3)}) == 1


def test_the_same_bytes_from_a_lazy_frame(many_rows: Any) -> None:
    """An engine that returns groups in any order: its cells are put into one."""
    made = {evaluate(many_rows.lazy(), **ASKED["counts"]).to_json() for _ in range(4)}
    assert len(made) == 1
