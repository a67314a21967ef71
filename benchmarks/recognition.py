"""Ranks, curves and error rates against their rivals: `python -m benchmarks.recognition`."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import best, ratio, show
from strat.recognition import design_of, match_curve, ranks_of_embeddings, verification, verification_of_file
from strat.recognition.ranks import Ranks

N, D = 20_000, 128
FEW = 200  # probes for rivals whose cost makes the whole impossible; times scaled up


def unit(n: int, seed: int) -> Any:
    x = np.random.default_rng(seed).standard_normal((n, D), dtype=np.float32)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def bare_product(p: Any, g: Any, rows: int) -> None:
    out = np.empty((rows, len(g)), np.float32)
    for start in range(0, len(p), rows):
        part = p[start : start + rows]
        np.matmul(part, g.T, out=out[: len(part)])


def resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


class Peak:
    """The largest resident memory of this process while the block runs, less that at its start, in MB."""

    def __enter__(self) -> Peak:
        self.base = self.most = resident()
        self.on = True
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self) -> None:
        while self.on:
            self.most = max(self.most, resident())
            time.sleep(0.005)

    def __exit__(self, *_: object) -> None:
        self.on = False
        self.thread.join()
        self.extra = self.most - self.base


def have(module: str, package: str, *more: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", package, *more], check=False, capture_output=True)
    try:
        importlib.import_module(module)
    except ImportError:
        print(f"({package} could not be installed here: left out)")
        return False
    return True


def rank_rows() -> tuple[list[list[str]], float]:
    noise, g = unit(N, 1), unit(N, 2)
    labels = np.arange(N)
    table, floors, mine = [], [], 0.0
    for name, p in (("half of the probes at rank 1", noise + 0.4 * g), ("mates no better than strangers", noise)):

        def ours(p: Any = p) -> Ranks:
            return ranks_of_embeddings(p, g, probe_subjects=labels, gallery_subjects=labels, score="inner")

        times = []
        for _ in range(4):  # turn about, so that both meet the same machine
            floors.append(min(best(lambda r=r: bare_product(noise, g, r), 1) for r in (256, 1024)))
            times.append(best(ours, 1))
        with Peak() as peak:
            found = ours()
        same = np.array_equal(found.above[:FEW], _float64(p[:FEW], g, labels[:FEW]))
        mine = min(times)
        notes = f"{peak.extra:.0f} MB extra; {found.rechecked:,} near-ties; float64: {'same' if same else 'DIFFERENT'}"
        table.append([f"strat, {name}", f"{mine:.2f}", mine, notes])
    floor = min(floors)
    made = [[row[0], row[1], f"{row[2] / floor:.2f} ×", row[3]] for row in table]
    made.insert(0, ["bare float32 product in blocks (the floor)", f"{floor:.2f}", "1.00 ×", ""])
    return made + rival_ranks(noise + 0.4 * g, g, labels, floor), mine


def _float64(p: Any, g: Any, mates: Any) -> Any:
    scores = p.astype(float) @ g.astype(float).T
    return (scores > scores[np.arange(len(p)), mates][:, None]).sum(axis=1)


def rival_ranks(p: Any, g: Any, labels: Any, floor: float) -> list[list[str]]:
    table = []
    if have("faiss", "faiss-cpu"):
        import faiss

        def flat(k: int) -> Any:
            index = faiss.IndexFlatIP(D)
            index.add(g)
            return index.search(p, k)

        for k in (1, 100):
            t = best(lambda k=k: flat(k), 2)
            table.append([f"faiss flat, ranks up to {k}", f"{t:.2f}", ratio(t, floor), ""])
    if have("torchmetrics", "torchmetrics"):
        import torch
        from torchmetrics.retrieval import RetrievalHitRate

        metric = RetrievalHitRate(top_k=1)
        scores = torch.from_numpy(p[:FEW] @ g.T).reshape(-1)
        target = torch.from_numpy((labels[:FEW, None] == labels).reshape(-1))
        index = torch.arange(FEW).repeat_interleave(N)
        t = best(lambda: metric(scores, target, indexes=index), 1) * N / FEW
        table.append(["torchmetrics hit rate at 1 (scaled from 200 probes)", f"{t:.0f}", ratio(t, floor), ""])
    if have("pytorch_metric_learning", "pytorch-metric-learning"):
        import torch
        from pytorch_metric_learning.distances import DotProductSimilarity
        from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator
        from pytorch_metric_learning.utils.inference import CustomKNN

        calculator = AccuracyCalculator(
            include=("precision_at_1",), k=1, knn_func=CustomKNN(DotProductSimilarity(normalize_embeddings=False), 1000)
        )
        x, y, z = torch.from_numpy(p), torch.from_numpy(g), torch.from_numpy(labels)
        t = best(lambda: calculator.get_accuracy(x, z, y, z), 1)
        table.append(["pytorch-metric-learning, precision at 1", f"{t:.2f}", ratio(t, floor), ""])
    return table


def curve_row(of_ranks: float) -> list[str]:
    n = 100_000
    rng = np.random.default_rng(3)
    subject = np.arange(n) // 5
    above = rng.geometric(0.2 + 0.7 * rng.uniform(size=n // 5))[subject] - 1
    zero = np.zeros(n)
    made = Ranks(above, np.zeros(n, np.int64), zero, zero, subject, N, 0, "made up", np.arange(n))

    def ours() -> Any:
        curve = match_curve(made, target="population").of()
        return curve.interval(), curve.band()

    t = best(ours, 3)
    design = design_of(subject)
    return [
        f"CMS with intervals and band, {n:,} probes of {design.n_units:,} subjects",
        f"{t:.2f}",
        f"{t / (of_ranks * n / N):.3f} of the ranks' time",
        "",
    ]


def det_rows() -> list[list[str]]:
    from sklearn.metrics import det_curve

    k = 3163  # 3163² = 10^7 comparisons
    rng = np.random.default_rng(4)
    scores = rng.standard_normal((k, k)) + 0.5 * rng.standard_normal(k)[:, None] + 3 * np.eye(k)
    labels = np.arange(k)

    def ours() -> Any:
        v = verification(similarity=scores, probes=labels, gallery=labels)
        return v.det().estimate.interval(), v.eer().interval()

    mine = best(ours, 2)
    truth = np.eye(k, dtype=bool).ravel()
    theirs = best(lambda: det_curve(truth, scores.ravel()), 2)
    table = [
        ["strat: sort, DET and EER with two-way intervals, 10^7 scores", f"{mine:.2f}", "1.0", ""],
        ["scikit-learn det_curve, 10^7 scores, no intervals", f"{theirs:.2f}", ratio(theirs, mine), ""],
    ]
    if have("pyeer.eer_info", "pyeer", "setuptools<81"):
        from pyeer.eer_info import get_eer_stats

        few = scores[:1000, :1000]
        same = np.eye(1000, dtype=bool)
        t = best(lambda: get_eer_stats(few[same].tolist(), few[~same].tolist()), 1)
        one = best(lambda: verification(similarity=few, probes=labels[:1000], gallery=labels[:1000]).det(), 2)
        table.append(["pyeer, 10^6 scores", f"{t:.2f}", ratio(t, one), f"strat on the same {one:.2f} s"])
    return table


def streamed_row(number: int = 10_000_000, subjects: int = 1500) -> list[str]:
    """EER of a list of trials in a Parquet file, read in batches."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(5)
    effect = rng.standard_normal(subjects)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "trials.parquet")
        kinds = [("probe_subject", pa.int32()), ("gallery_subject", pa.int32()), ("score", pa.float32())]
        with pq.ParquetWriter(file, pa.schema(kinds)) as writer:
            for start in range(0, number, 1 << 21):
                n = min(1 << 21, number - start)
                a, b = rng.integers(0, subjects, (2, n))
                b = np.where(rng.random(n) < 0.05, a, b)
                score = 0.5 * (effect[a] + effect[b]) + rng.standard_normal(n) + 3 * (a == b)
                columns = [x.astype(t) for x, t in ((a, np.int32), (b, np.int32), (score, np.float32))]
                writer.write_table(pa.table(dict(zip([name for name, _ in kinds], columns, strict=True))))
        with Peak() as peak:
            seconds = best(lambda: verification_of_file(file).eer().interval(), 1)
    notes = f"{peak.extra:.0f} MB extra"
    return [f"strat: EER of {number:,} trials streamed from Parquet", f"{seconds:.2f}", "", notes]


def main() -> None:
    print("CPU seconds of all threads, the least of a few runs; strat's ranks include each probe's best non-mate.")
    table, seconds = rank_rows()
    show(f"ranks, {N:,} probes × {N:,} gallery × {D}", ["way", "seconds", "ratio to floor", "notes"], table)
    show("curves", ["job", "seconds", "ratio", "notes"], [curve_row(seconds)])
    show("verification", ["job", "seconds", "ratio to strat", "notes"], [*det_rows(), streamed_row()])


if __name__ == "__main__":
    main()
