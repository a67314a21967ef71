"""Fast sums against the dense products that they replace, and fields against galois where it is installed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from scipy.linalg import hadamard as scipy_hadamard

from strat.algebra import circular_level_sums, field, hadamard_order, m_sequence, rotation, walsh_hadamard

ROW = "{:<58}{:>12}{:>12}{:>10}"


def seconds(job: Callable[[], object], repeats: int = 3) -> float:
    """The best of a few runs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        best = min(best, time.perf_counter() - start)
    return best


def line(job: str, ours: float, rival: float | None) -> None:
    ratio = "" if rival is None else f"{rival / ours:.1f} ×"
    print(ROW.format(job, f"{ours:.4f} s", "" if rival is None else f"{rival:.4f} s", ratio))


def transforms() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4096, 200))
    dense = scipy_hadamard(4096).astype(float)
    line(
        "Walsh-Hadamard, 4,096 × 200, against the dense product",
        seconds(lambda: walsh_hadamard(x)),
        seconds(lambda: dense @ x),
    )
    long = rng.normal(size=2**20)
    line("Walsh-Hadamard, 1,048,576 × 1", seconds(lambda: walsh_hadamard(long)), None)
    values = rng.normal(size=(1093, 3, 2))
    symbols, sequence = rotation(3, 1093).symbols, m_sequence(3, 7)
    index = np.arange(1093)
    line(
        "level sums, 1,093 strata × 3, 2,187 runs, against picking",
        seconds(lambda: circular_level_sums(sequence, values)),
        seconds(lambda: values[index, symbols].sum(axis=1)),
    )
    values = rng.normal(size=(100_000, 3, 2))
    sequence = m_sequence(3, 12)
    line("level sums, 100,000 strata × 3, 531,441 runs", seconds(lambda: circular_level_sums(sequence, values)), None)


def fields() -> None:
    if find_spec("galois") is None:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "galois"]
        subprocess.run(pip, check=False, capture_output=True)
    rng = np.random.default_rng(0)
    a, b = rng.integers(1, 243, (2, 1_000_000))
    ours = field(243)
    if find_spec("galois") is None:
        print("galois could not be installed: no comparison of fields")
        return
    import galois

    theirs = galois.GF(3**5, irreducible_poly=galois.Poly(ours.modulus[::-1], field=galois.GF(3)))
    x, y = theirs(a), theirs(b)
    assert (np.asarray(x * y) == ours.multiply(a, b)).all()
    assert (np.asarray(x + y) == ours.add(a, b)).all()
    line("GF(243), a million products, against galois", seconds(lambda: ours.multiply(a, b)), seconds(lambda: x * y))
    line("GF(243), a million sums, against galois", seconds(lambda: ours.add(a, b)), seconds(lambda: x + y))


def slack() -> None:
    """How many replicates more than the next multiple of 4 a number of strata needs."""
    extra = [hadamard_order(n) - 4 * (n // 4 + 1) for n in range(3, 1000)]
    print(
        f"\nHadamard orders for 3 to 999 strata: at most {max(extra)} replicates beyond the next multiple of 4, "
        f"{np.mean(np.array(extra) == 0):.1%} with none."
    )


def main() -> None:
    print(ROW.format("job", "strat", "rival", "ratio"))
    transforms()
    fields()
    slack()


if __name__ == "__main__":
    main()
