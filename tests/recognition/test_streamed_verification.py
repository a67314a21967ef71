"""Comparisons streamed from Parquet: the figures of the same scores in memory, and what is refused."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strat.base.errors import StratError
from strat.base.limits import changed
from strat.recognition import Cost, streaming, verification_of_file, verification_of_trials
from strat.recognition.streaming import step_of, value_of


@pytest.fixture
def trials():
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 40, (2, 6000))
    effect = rng.normal(size=40)
    score = 0.5 * (effect[a] + effect[b]) + rng.normal(size=6000) + 2.5 * (a == b)
    return a, b, value_of(step_of(score))


def write(path, a, b, score, names=("probe_subject", "gallery_subject", "score")):
    pq.write_table(pa.table(dict(zip(names, (a, b, score), strict=True))), path, row_group_size=1000)
    return path


@pytest.mark.parametrize("text", [False, True])
@changed(streamed_rows=700)  # several batches
def test_streamed_figures_are_those_in_memory(trials, tmp_path, text):
    a, b, score = trials
    labels = [np.array([f"s{x:02d}" for x in side]) for side in (a, b)] if text else [a, b]
    v = verification_of_file(write(tmp_path / "t.parquet", *labels, score))
    w = verification_of_trials(similarity=score, probes=labels[0], gallery=labels[1])
    assert (v.n_mated, v.n_nonmated, v.subjects) == (w.n_mated, w.n_nonmated, w.subjects)
    for name, at in (
        ("eer", None),
        ("fnmr_at", 0.01),
        ("auc", None),
        ("min_dcf", Cost(0.1)),
        ("fmr", 1.0),
        ("cllr", None),
    ):
        streamed, held = v.measure(name, at), w.measure(name, at)
        assert streamed.value == pytest.approx(held.value, abs=1e-12), name
        assert streamed.se == pytest.approx(held.se, rel=1e-9), name
        assert streamed.df == pytest.approx(held.df), name
    np.testing.assert_allclose(v.det().estimate.value, w.det().estimate.value)
    np.testing.assert_allclose(v.det().estimate.se, w.det().estimate.se, rtol=1e-9)
    assert v.comparisons.same(v.comparisons)
    assert not v.comparisons.same(w.comparisons)


def test_distances_turn_round_and_pairs_may_be_too_many(trials, tmp_path):
    a, b, score = trials
    file = write(tmp_path / "t.parquet", a, b, -score, ("who", "whom", "d"))
    columns = {"probe_subject": "who", "gallery_subject": "whom", "score": "d"}
    v = verification_of_file(file, columns=columns, distance=True)
    w = verification_of_trials(similarity=score, probes=a, gallery=b)
    assert v.eer().value == pytest.approx(w.eer().value, abs=1e-3)  # rounding down is the other way for a distance
    exact = v.eer().se
    with changed(streamed_pairs=10):
        wide = verification_of_file(file, columns=columns, distance=True).eer()
    assert wide.notes[-1].code == "pairs-not-kept"
    assert exact <= wide.se < 1.5 * exact


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=2, max_size=50))
def test_steps_keep_the_order_and_are_close(values):
    x = np.sort(np.array(values, np.float32))
    steps = step_of(x)
    assert (np.diff(steps) >= 0).all()
    back = value_of(steps)
    np.testing.assert_array_equal(step_of(back), steps)
    assert (np.abs(back - x) <= 1.3e-4 * np.abs(x) + 1e-30).all()
    assert (back <= x).all()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"a": [1, 2]}, "must have a column 'probe_subject'"),
        ({"probe_subject": [1, 1], "gallery_subject": [1, 2], "score": [1.0, 2.0]}, "at least three subjects"),
        ({"probe_subject": [1, 2, 3], "gallery_subject": [2, 3, 1], "score": [1.0, 2, 3]}, "must be mated comparisons"),
        ({"probe_subject": [1, 2, 3], "gallery_subject": [1, 2, 3], "score": [1.0, 2, 3]}, "must be non-mated"),
        ({"probe_subject": [1, 2, 3], "gallery_subject": [1, 1, 1], "score": [1.0, np.nan, 3]}, "finite scores"),
        ({"probe_subject": [1, 2, None], "gallery_subject": [1, 1, 1], "score": [1.0, 2, 3]}, "name a subject on both"),
    ],
)
def test_files_that_are_refused(tmp_path, table, words):
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    with pytest.raises(StratError, match=words):
        verification_of_file(tmp_path / "t.parquet")


def test_what_is_no_parquet_file_is_refused(tmp_path):
    for name in ("none.parquet", "t.csv"):
        with pytest.raises(StratError, match=r"must name a \.parquet file"):
            verification_of_file(tmp_path / name)
    (tmp_path / "t.parquet").write_bytes(b"rubbish")
    with pytest.raises(StratError, match="whole Parquet file"):
        verification_of_file(tmp_path / "t.parquet")


@changed(streamed_rows=1 << 14)
def test_memory_does_not_grow_with_the_comparisons(tmp_path, monkeypatch):
    import tracemalloc

    monkeypatch.setattr(streaming, "BITS", 13)  # so that a few rows fill the histogram
    rng = np.random.default_rng(2)
    peaks = []
    for rows in (10_000, 100_000, 400_000):  # the first call loads packages
        a, b = rng.integers(0, 150, (2, rows))
        b = np.where(rng.random(rows) < 0.5, a, b)
        file = write(tmp_path / f"{rows}.parquet", a, b, rng.normal(size=rows) + (a == b))
        tracemalloc.start()
        verification_of_file(file).eer().interval()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.3 * peaks[1]


@changed(streamed_rows=1 << 16)
def test_what_was_read_of_a_file_is_let_go(tmp_path):
    rng = np.random.default_rng(3)
    names = ("probe", "gallery", "score")
    columns = (*rng.integers(0, 50, (2, 40 << 16)).astype(np.int32), rng.normal(size=40 << 16).astype(np.float32))
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table(dict(zip(names, columns, strict=True))), file, row_group_size=1 << 16)
    held = []
    before = pa.total_allocated_bytes()
    for _ in streaming.batches(file, names, np.arange(50), 1.0):
        held.append(pa.total_allocated_bytes() - before)
    assert len(held) > 2
    assert held[-1] < 0.25 * file.stat().st_size
