"""Every reader as a function of bytes: what both fuzzers call. A StratError is an answer; anything else is a find."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from strat.base.errors import StratError, StratWarning
from strat.data import read, read_logs
from strat.data.untrusted import Limits
from strat.measures.confusion_matrix import ConfusionMatrix
from strat.recognition import read_matrix, read_triples
from strat.verbs import compare, evaluate, sample

SMALL = Limits(member=1 << 20, archive=1 << 21, ratio=1000, members=1000, line=1 << 16)


def _file(name: str, use: Callable[[Path], Any]) -> Callable[[bytes], None]:
    def target(content: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", StratWarning)
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            try:
                use(path)
            except StratError as error:
                said = str(error)
                assert said, "an empty message"
                assert said.rstrip().endswith((".", "?", "!")), said
            left = sorted(p.name for p in Path(folder).rglob("*") if p.is_file())
            assert left == [path.name], left

    return target


def _table(path: Path) -> None:
    table = read(str(path))
    names = list(table.names[:3])
    table.backend.fetch(names)
    roles = dict(zip(("truth", "predicted", "strata"), names, strict=False))
    if len(names) > 1:
        evaluate(table, **roles, metrics="accuracy").to_json()


def _scores(path: Path) -> None:
    table = read(str(path))
    evaluate(table, score=table.names[0], weights=table.names[-1]).to_markdown()


def _sample(path: Path) -> None:
    table = read(str(path))
    sample(table, size=2, strata=table.names[0], least=1).to_csv()


def _logs(path: Path) -> None:
    found = read_logs(path.parent, failed="zero", incomplete="keep", runs="separate", limits=SMALL)
    compare(found).to_json()


def _chance(path: Path) -> None:
    ConfusionMatrix.read(path)


def _array(path: Path) -> None:
    from strat.cli.array import _array_sheet
    from strat.cli.array import _read as read_array

    _array_sheet(read_array(path), "read", check=True)


LM = "samples_t_2026-01-01T00-00-00.1.jsonl"
TARGETS: dict[str, Callable[[bytes], None]] = {
    "csv": _file("a.csv", _table),
    "tsv": _file("a.tsv", _table),
    "csv.gz": _file("a.csv.gz", _table),
    "csv.zst": _file("a.csv.zst", _table),
    "parquet": _file("a.parquet", _table),
    "json lines": _file("a.jsonl", _table),
    "arrow": _file("a.arrow", _table),
    "scores": _file("a.csv", _scores),
    "sample": _file("a.csv", _sample),
    "eval": _file("logs/a.eval", _logs),
    "inspect json": _file("logs/a.json", _logs),
    "harness": _file(f"logs/m/{LM}", _logs),
    "helm": _file("logs/r:model=a/per_instance_stats.json", _logs),
    "long": _file("logs/a.csv", _logs),
    "confusion csv": _file("m.csv", ConfusionMatrix.read),
    "confusion json": _file("m.json", ConfusionMatrix.read),
    "chance csv": _file("m.csv", _chance),
    "chance npy": _file("m.npy", _chance),
    "array csv": _file("m.csv", _array),
    "array npy": _file("m.npy", _array),
    "matrix csv": _file("m.csv", read_matrix),
    "matrix npz": _file("m.npz", read_matrix),
    "matrix npy": _file("m.npy", read_matrix),
    "triples csv": _file("m.csv", read_triples),
    "triples parquet": _file("m.parquet", read_triples),
}
