"""Tables of any size: files, frames, Spark and logs against the floor, which is the bare group-by or bare reading.

`python -m benchmarks.tables [rows]` writes a Parquet file of 100,000,000 rows (or so many) to a temporary folder;
`python -m benchmarks.tables logs` or `gates` runs that part alone.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import best, fresh, ratio, rival, show

ROWS, UNITS, CLASSES = 100_000_000, 10_000, 20
LOGS, SAMPLES = 200, 1_000
CPU = "from time import process_time as now"


def write_rows(path: Path, rows: int) -> None:
    """Predictions of 20 classes in 10,000 units in random order, and a score of a two-class problem."""
    import duckdb

    engine = duckdb.connect(config={"memory_limit": "4GB"})
    engine.execute("set enable_progress_bar = false")
    engine.execute("select setseed(0.5)").fetchall()
    engine.sql(f"""copy (
        select u as unit, truth::tinyint as truth, (truth < 10)::tinyint as positive,
               (case when r < 0.6 + 0.3 * ((u * 7919) % 100) / 100.0 then truth
                     else (truth + 1 + floor(q * 19)) % {CLASSES} end)::tinyint as predicted,
               least(1.0, greatest(0.0, q * 0.7 + (truth < 10)::int * 0.25))::float as score
        from (select (hash(range) % {UNITS})::int as u, floor(random() * {CLASSES}) as truth, random() as r,
              random() as q from range({rows}))) to '{path}' (format parquet)""")


def large_file(path: Path, rows: int) -> None:
    floor = (
        f"{CPU}\nimport duckdb\nengine = duckdb.connect(config={{'memory_limit': '2GB'}})\n"
        "engine.execute('set enable_progress_bar = false')\n"
        "t = now()\nengine.sql(QUERY).fetchnumpy()\nresult = {'s': now() - t}"
    )
    ours = (
        f"{CPU}\nfrom strat.verbs import evaluate\nimport duckdb, narwhals\n"
        f"t = now()\nfound = evaluate({str(path)!r}, units='unit', ASKED)\nresult = {{'s': now() - t}}\n"
    )
    jobs = {
        "accuracy and macro-F1, 20 classes": (
            f"select unit, truth, predicted, count(*) n from '{path}' group by all",
            "truth='truth', predicted='predicted', metrics=['accuracy', 'macro_f1']",
        ),
        "AUC": (
            f"select unit, positive, floor(score * 256)::int b, count(*) n from '{path}' group by all",
            "truth='positive', score='score'",
        ),
    }
    lines = []
    for name, (query, asked) in jobs.items():
        a = fresh(floor.replace("QUERY", repr(query)))
        b = fresh(ours.replace("ASKED", asked))
        if a is None or b is None:
            continue
        lines.append((name, f"{a['s']:.1f} s", f"{b['s']:.1f} s", f"{b['s'] / a['s']:.2f}", f"{b['peak_mb']:,.0f} MB"))
    head = ["with interval", "bare DuckDB group-by", "strat", "strat / floor", "strat's peak memory"]
    show(f"Parquet of {rows:,} rows, {UNITS:,} units (CPU seconds over all threads, fresh process)", head, lines)


def from_pandas(rows: int = 1_000_000) -> None:
    from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

    from strat.verbs import evaluate

    pandas = rival("pandas")
    if pandas is None:
        return
    rng = np.random.default_rng(0)
    truth = rng.integers(0, CLASSES, rows)
    data = {
        "unit": rng.integers(0, UNITS, rows),
        "truth": truth,
        "predicted": np.where(rng.random(rows) < 0.7, truth, rng.integers(0, CLASSES, rows)),
        "positive": (truth < 10).astype(int),
        "score": rng.random(rows) + 0.3 * (truth < 10),
    }
    frame = pandas.DataFrame(data)
    words = np.array([f"class {k:02d}" for k in range(CLASSES)])
    named = frame.assign(truth=words[data["truth"]], predicted=words[data["predicted"]])
    lines = []
    for name, table in (("numbers as labels", frame), ("text as labels", named)):
        y, p = table["truth"], table["predicted"]
        theirs = best(lambda y=y, p=p: (accuracy_score(y, p), f1_score(y, p, average="macro")))
        asked = {"truth": "truth", "predicted": "predicted", "metrics": ["accuracy", "macro_f1"]}
        ours = best(lambda table=table, asked=asked: evaluate(table, units="unit", **asked))
        lines.append((f"accuracy and macro-F1, {name}", f"{theirs:.2f} s", f"{ours:.2f} s", ratio(theirs, ours)))
    theirs = best(lambda: roc_auc_score(frame["positive"], frame["score"]))
    ours = best(lambda: evaluate(frame, truth="positive", score="score", units="unit"))
    lines.append(("AUC", f"{theirs:.2f} s", f"{ours:.2f} s", ratio(theirs, ours)))
    head = ["", "scikit-learn, no interval", "strat, with interval", "faster by"]
    show(f"pandas, {rows:,} rows, {UNITS:,} units (CPU seconds)", head, lines)


def alternate(*jobs: Callable[[], Any], repeats: int = 3) -> list[float]:
    """Shortest wall times of jobs that take turns, so that a busy moment hits them alike."""
    times = [[] for _ in jobs]  # type: list[list[float]]
    for _ in range(repeats):
        for mine, job in zip(times, jobs, strict=True):
            start = time.perf_counter()
            job()
            mine.append(time.perf_counter() - start)
    return [min(mine) for mine in times]


def spark_local(path: Path, rows: int) -> None:
    from strat.verbs import evaluate

    sql = rival("pyspark", "pyspark.sql")
    if sql is None:
        return
    try:
        session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    except Exception as error:
        print(f"(Spark could not start: {str(error).splitlines()[0]}; its row is missing)")
        return
    frame = session.read.parquet(str(path))
    keys = ["unit", "truth", "predicted"]
    bare, ours = alternate(
        lambda: frame.groupBy(*keys).count().toArrow(),
        lambda: evaluate(frame, truth="truth", predicted="predicted", units="unit", metrics=["accuracy", "macro_f1"]),
    )
    session.stop()
    head = ["Spark local[2]", "bare group-by", "strat", "strat / floor"]
    show(
        f"{rows:,} rows (wall, shortest of turns)",
        head,
        [("accuracy and macro-F1", f"{bare:.1f} s", f"{ours:.1f} s", f"{ours / bare:.2f}")],
    )


def write_logs(folder: Path) -> None:
    """Logs as inspect-ai writes them: a header, summaries, and a member for each sample."""
    rng = np.random.default_rng(0)
    for k in range(LOGS):
        summaries = [
            {"id": f"item-{i}", "epoch": 1, "input": f"what is the answer to question {i}?", "target": "1",
             "metadata": {"subject": f"s{i // 50}", "passage": f"p{i // 5}"},
             "scores": {"match": {"value": "CI"[int(rng.random() < 0.3)], "answer": "1", "explanation": "1"}},
             "model_usage": {"m": {"input_tokens": 7, "output_tokens": 1, "total_tokens": 8}}, "total_time": 2.0,
             "uuid": "KNtwd7uERRDXgb78Nbp3MV", "retries": 0, "completed": True, "message_count": 2}
            for i in range(SAMPLES)
        ]  # fmt: skip
        header = {"version": 2, "status": "success", "eval": {"model": f"model-{k}", "task": "t", "created": str(k)}}
        with zipfile.ZipFile(folder / f"{k}.eval", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("header.json", json.dumps(header))
            archive.writestr("summaries.json", json.dumps(summaries))
            for i in range(SAMPLES):
                archive.writestr(f"samples/item-{i}_epoch_1.json", "{}")


def read_barely(folder: Path) -> None:
    for path in sorted(folder.glob("*.eval")):
        with zipfile.ZipFile(path) as archive:
            json.loads(archive.read("header.json"))
            json.loads(archive.read("summaries.json"))


def logs() -> None:
    from strat.data import read_logs
    from strat.verbs import compare

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_logs(folder)
        bare, ours = best(lambda: read_barely(folder)), best(lambda: read_logs(folder))
        whole = best(lambda: compare(folder, strata="subject", units="passage"), repeats=1)
    lines = [
        ("read_logs", f"{bare:.2f} s", f"{ours:.2f} s", f"{ours / bare:.2f}"),
        ("leaderboard with all pairs", f"{bare:.2f} s", f"{whole:.2f} s", f"{whole / bare:.2f}"),
    ]
    head = ["", "zipfile and json alone", "strat", "strat / floor"]
    show(f"{LOGS} logs × {SAMPLES:,} samples (CPU seconds)", head, lines)


def gates(rows: int = 1_000_000) -> None:
    """A gate of two systems on labels in memory, against scikit-learn's two accuracies without an interval."""
    from sklearn.metrics import accuracy_score

    from strat import gate

    rng = np.random.default_rng(0)
    truth = rng.integers(0, CLASSES, rows)
    old = np.where(rng.random(rows) < 0.8, truth, rng.integers(0, CLASSES, rows))
    new = np.where(rng.random(rows) < 0.02, rng.integers(0, CLASSES, rows), old)
    table = {"truth": truth, "old": old, "new": new, "unit": np.arange(rows) // 10, "group": rng.integers(0, 20, rows)}
    bare = best(lambda: (accuracy_score(truth, old), accuracy_score(truth, new)))
    asked = {"truth": "truth", "baseline": "old", "candidate": "new", "margin": 0.01}
    kinds: dict[str, dict[str, Any]] = {
        "accuracy": {}, "accuracy and macro-F1": {"metrics": ["accuracy", "macro_f1"]},
        "accuracy, clusters of 10": {"units": "unit"},
        "accuracy, clusters of 10, in 20 groups": {"units": "unit", "by": "group"},
    }  # fmt: skip
    lines = []
    for name, more in kinds.items():
        ours = best(lambda more=more: gate(table, **asked, **more))
        lines.append((name, f"{bare:.2f} s", f"{ours:.2f} s", f"{ours / bare:.1f}"))
    show(f"gate of {rows:,} rows (CPU seconds)", ["", "two accuracies of scikit-learn", "strat", "ratio"], lines)


def main() -> None:
    parts: dict[str, Callable[[], None]] = {"logs": logs, "gates": gates}
    if asked := [parts[word] for word in sys.argv[1:] if word in parts]:
        for part in asked:
            part()
        return
    rows = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdecimal() else ROWS
    from_pandas()
    logs()
    gates()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "rows.parquet"
        write_rows(path, rows)
        large_file(path, rows)
        small = Path(name) / "small.parquet"
        write_rows(small, min(rows, 5_000_000))
        spark_local(small, min(rows, 5_000_000))


if __name__ == "__main__":
    main()
