"""Honest files, small, from which the fuzzers start."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from typing import Any

import numpy as np
import zstandard

from command_cases import table

CSV = table(12).encode()
LOG = {"version": 2, "status": "success", "eval": {"model": "m", "task": "t", "dataset": {"sample_ids": [1]}}}
SAMPLES = [
    {"id": i, "epoch": 1, "scores": {"m": {"value": "CIP"[i % 3]}}, "metadata": {"topic": "a"}} for i in range(4)
]
HARNESS = [{"doc_id": i, "filter": "none", "metrics": ["acc"], "acc": i % 2, "doc": {"q": "x"}} for i in range(4)]
STATS = [{"name": {"name": "exact_match"}, "count": 1, "sum": 1.0}]
HELM = [{"instance_id": f"i{i}", "train_trial_index": 0, "stats": STATS} for i in range(4)]


def _zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(LOG))
        archive.writestr("summaries.json", json.dumps(SAMPLES))
    return file.getvalue()


def _numpy(save: Any, *arrays: Any, **named: Any) -> bytes:
    file = io.BytesIO()
    save(file, *arrays, **named)
    return file.getvalue()


def _frame(write: str) -> bytes:
    import polars as pl

    file = io.BytesIO()
    getattr(pl.read_csv(CSV), write)(file)
    return file.getvalue()


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _triples() -> bytes:
    import polars as pl

    file = io.BytesIO()
    pl.DataFrame({"probe": ["a", "b"], "gallery": ["a", "b"], "score": [1.0, 2.0]}).write_parquet(file)
    return file.getvalue()


MATRIX = b"truth,a,b\na,3,1\nb,0,4\n"
SEEDS: dict[str, bytes] = {
    "csv": CSV,
    "tsv": CSV.replace(b",", b"\t"),
    "csv.gz": gzip.compress(CSV),
    "csv.zst": zstandard.compress(CSV),
    "parquet": _frame("write_parquet"),
    "json lines": _frame("write_ndjson"),
    "arrow": _frame("write_ipc"),
    "scores": b"score,weight\n1,1\n0.5,2\n0,1\n",
    "sample": CSV,
    "eval": _zip(),
    "inspect json": json.dumps({**LOG, "samples": SAMPLES}).encode(),
    "harness": _lines(HARNESS),
    "helm": json.dumps(HELM).encode(),
    "long": b"system,item,score\na,1,1\nb,1,0\na,2,0\nb,2,1\na,3,1\nb,3,1\n",
    "confusion csv": MATRIX,
    "confusion json": b'{"labels": ["a", "b"], "counts": [[3, 1], [0, 4]]}',
    "chance csv": MATRIX,
    "chance npy": _numpy(np.save, np.eye(3)),
    "array csv": b"0,0,0\n0,1,1\n1,0,1\n1,1,0\n",
    "array npy": _numpy(np.save, np.array([[0, 0], [0, 1], [1, 0], [1, 1]])),
    "matrix csv": b"x,a,b\na,1,0.5\nb,0.2,0.9\n",
    "matrix npz": _numpy(np.savez, scores=np.eye(3), subject=np.arange(3)),
    "matrix npy": _numpy(np.save, np.eye(3)),
    "triples csv": b"probe,gallery,score\na,a,1\na,b,0.5\nb,a,0.1\nb,b,2\n",
    "triples parquet": _triples(),
}
