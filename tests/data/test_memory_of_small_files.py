"""Small files that ask for much memory: refused, or read for what is in them. Growth is a ratio of two sizes."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from strat.base.errors import StratError
from strat.data import read_logs
from strat.data.untrusted import Limits
from strat.recognition import read_matrix
from strat.verbs import evaluate

MEGABYTE = 1 << 20


def _peak(job: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        job()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _refused(job: Callable[[], Any], match: str, most: int) -> None:
    def tried() -> None:
        with pytest.raises(StratError, match=match):
            job()

    assert _peak(tried) < most


def _log(path: Path, summaries: bytes) -> Path:
    header = {"version": 2, "status": "success", "eval": {"model": "m", "task": "t"}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("summaries.json", summaries)
    return path


def _zeros(path: Path, **small: Any) -> Path:
    """Half a gigabyte of zeros in half a megabyte, beside what is wanted."""
    np.savez_compressed(path, **small)
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (8192, 8192), }"
    head = head.ljust(117) + b"\n"
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("zeros.npy", "w") as member:
        member.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
        for _ in range(512):
            member.write(bytes(MEGABYTE))
    return path


def test_an_array_of_packed_zeros_is_refused_and_one_that_nobody_asked_for_is_not_read(tmp_path: Path) -> None:
    """A `.npz` of 4.7 MB asked for more than 4 GiB, also when another array was wanted."""
    path = _zeros(tmp_path / "x.npz", scores=np.eye(4), subject=np.array(list("abab")))
    assert path.stat().st_size < MEGABYTE
    _refused(lambda: read_matrix(path, key="zeros", subject="subject"), "times its size", 8 * MEGABYTE)
    assert _peak(lambda: read_matrix(path, key="scores", subject="subject")) < 8 * MEGABYTE


def test_arrays_are_read_as_before(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", scores=np.eye(4), subject=np.array(list("abab")))
    np.testing.assert_array_equal(read_matrix(tmp_path / "x.npz").scores, np.eye(4))


@pytest.mark.parametrize("suffix", ["csv.gz", "csv"])
def test_a_line_without_an_end_is_refused(tmp_path: Path, suffix: str) -> None:
    """6,000 rows with mixed line ends and then one endless line, 6 MB packed, asked for more than 4 GiB."""
    path = tmp_path / f"x.{suffix}"
    rows = "t,p\n" + "a,b\r\na,b\n" * 3_000
    with gzip.open(path, "wb", 1) if suffix == "csv.gz" else path.open("wb") as file:
        file.write(rows.encode())
        for _ in range(80):
            file.write(b"a" * MEGABYTE)
    _refused(lambda: evaluate(str(path), truth="t", predicted="p"), "is it text|can't be read", 400 * MEGABYTE)


def test_summaries_of_many_tiny_objects_are_refused_before_they_are_parsed(tmp_path: Path) -> None:
    """213 kB of `[{},{},…]` became 63 million dictionaries, more than 4 GiB."""
    packed = b"[" + b"{}," * 21_000_000 + b"{}]"
    noise = np.random.default_rng(1).integers(0, 10, 200_000).astype(str)
    path = _log(tmp_path / "x.eval", b'["' + "".join(noise).encode() + b'",' + packed[1:])
    size = len(packed)
    _refused(lambda: read_logs(str(path)), "must hold at most 20,000,000 objects", size + 140 * MEGABYTE)


def test_objects_of_all_members_of_an_archive_count(tmp_path: Path) -> None:
    path = tmp_path / "x.eval"
    sample = [{"id": 1, "epoch": 1, "scores": {"s": {"value": 1}}}]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": {"model": "m", "task": "t"}}))
        for part in range(5):
            archive.writestr(f"_journal/summaries/{part}.json", json.dumps(sample))
    with pytest.raises(StratError, match="at most 12 objects"):
        read_logs(str(path), limits=Limits(objects=12), incomplete="keep")


def _own_fields(samples: int) -> bytes:
    return json.dumps(
        [
            {"id": i, "epoch": 1, "metadata": {f"k{i}": i, "all": i % 3}, "scores": {"s": {"value": "C"}}}
            for i in range(samples)
        ]
    ).encode()


def test_metadata_under_a_name_of_its_own_in_each_sample_costs_what_it_holds(tmp_path: Path) -> None:
    """20,000 samples, each with a metadata key of its own, 106 kB, asked for more than 4 GiB."""
    peaks = []
    for samples in (500, 4_000):
        path = _log(tmp_path / f"{samples}.eval", _own_fields(samples))
        peaks.append(_peak(lambda path=path: read_logs(str(path))))
    assert peaks[1] < 1.5 * 8 * peaks[0]
    assert set(read_logs(str(tmp_path / "500.eval")).about) == {"all"}


def test_documents_with_fields_of_their_own_cost_what_they_hold(tmp_path: Path) -> None:
    peaks = []
    for samples in (500, 4_000):
        path = tmp_path / str(samples) / "samples_t_2026-01-01T00-00-00.jsonl"
        path.parent.mkdir()
        lines = [{"doc_id": i, "doc": {f"k{i}": i, "all": "x"}, "acc": 1.0, "metrics": ["acc"]} for i in range(samples)]
        path.write_text("\n".join(json.dumps(line) for line in lines))
        peaks.append(_peak(lambda path=path: read_logs(str(path.parent))))
    assert peaks[1] < 1.5 * 8 * peaks[0]


def test_tasks_with_fields_of_their_own_cost_what_they_hold(tmp_path: Path) -> None:
    """2,000 honest tasks of 100 samples, each with its own field names, took 3.3 GB."""
    peaks = []
    for tasks in (20, 160):
        folder = tmp_path / str(tasks)
        folder.mkdir()
        for task in range(tasks):
            samples = [
                {
                    "id": i,
                    "epoch": 1,
                    "metadata": {f"f{task}-{k}": k for k in range(20)},
                    "scores": {"s": {"value": "C"}},
                }
                for i in range(20)
            ]
            header = {"version": 2, "status": "success", "eval": {"model": "m", "task": f"t{task}"}}
            (folder / f"{task}.json").write_text(json.dumps({**header, "samples": samples}))
        peaks.append(_peak(lambda folder=folder: read_logs(str(folder))))
    assert peaks[1] < 1.5 * 8 * peaks[0]


def test_scorers_under_names_of_their_own_are_refused_beyond_a_limit(tmp_path: Path) -> None:
    samples = [{"id": i, "epoch": 1, "scores": {f"s{i}": {"value": 1}}} for i in range(6_000)]
    path = _log(tmp_path / "x.eval", json.dumps(samples).encode())
    _refused(lambda: read_logs(str(path)), "cells of samples × measures, got 6,000 × 6,000", 64 * MEGABYTE)
