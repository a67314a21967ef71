"""Crossed designs of many rows: two passes of sums, no matrix of rows by rows."""

from __future__ import annotations

import numpy as np

import strat
from benchmarks.harness import best, show

SIZES = ((100_000, 500, 5_000), (1_000_000, 1_000, 20_000))


def main() -> None:
    lines = []
    for rows, first, second in SIZES:
        rng = np.random.default_rng(1)
        a, b, y = rng.integers(0, first, rows), rng.integers(0, second, rows), rng.random(rows)

        def crossed(a: np.ndarray = a, b: np.ndarray = b, y: np.ndarray = y) -> None:
            strat.estimate(strat.mean(y), on=strat.Design.crossed({"a": a, "b": b}))

        def clustered(b: np.ndarray = b, y: np.ndarray = y) -> None:
            strat.estimate(strat.mean(y), on=strat.Design.clustered(b))

        seconds, one = best(crossed, 3), best(clustered, 3)
        lines.append([f"{rows:,} rows, {first:,} × {second:,}", f"{seconds:.2f} s", f"{one:.2f} s"])
    show("A mean by two crossed factors (CPU)", ["", "crossed", "clusters of one factor"], lines)


if __name__ == "__main__":
    main()
