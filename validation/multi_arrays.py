"""How many random designs an orthogonal multi-array of at most 2,000,000 runs serves, and how many none can serve.

``python -m validation.multi_arrays`` prints the table of docs/howto/arrays.md: for 1,000 random designs of each kind
the share that `multi_array` refuses, and the share for which whole numbers alone ask for more runs of any multi-array
that selects strata of one size alike. Then every run of 100 more arrays is counted: each unit, each pair of units of a
stratum and each pair of units of two strata must be taken as often as balance asks.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections import Counter
from collections.abc import Sequence

import numpy as np

from strat.algebra import MultiArray, multi_array
from strat.algebra.array_plans import best_plan
from strat.base.limits import LIMITS

DESIGNS = 1000
LONG, AT_ONCE = 20_000, 4_000_000
KINDS = ((20, 6), (10, 12), (20, 12), (50, 8))  # most strata, most units of a stratum


def designs(strata: int, units: int, number: int, seed: int = 0) -> list[list[int]]:
    """Sizes of 2 to `strata` strata of 2 to `units` units each, all evenly drawn."""
    rng = np.random.default_rng(seed)
    return [rng.integers(2, units + 1, rng.integers(2, strata + 1)).tolist() for _ in range(number)]


def divisors(n: int) -> set[tuple[int, int]]:
    """What divides the number of runs if m of n units are taken, for each m: n over common factors, and for pairs."""
    pairs = n * (n - 1)
    return {(n // math.gcd(n, m), pairs // math.gcd(pairs, m * (m - 1))) for m in range(1, n // 2 + 1)}


def least_runs(sizes: Sequence[int], enough: int = LIMITS.multi_array_runs) -> int:
    """A number of runs below which no multi-array is, or one of at most `enough`.

    Units of a stratum are taken N m/n times each, pairs N m (m - 1)/(n (n - 1)) times, and units of two strata
    N (m/n) (m'/n') times together: all whole numbers, which give a common multiple; the least over all m counts.
    """
    counts, least = Counter(sizes), math.inf
    for chosen in itertools.product(*(sorted(divisors(n)) for n in counts)):
        units = [of_unit for of_unit, _ in chosen]
        within = [of_pair for _, of_pair in chosen]
        across = [a * b for a, b in itertools.combinations(units, 2)]
        alike = [a * a if counts[n] > 1 else a for n, a in zip(counts, units, strict=True)]
        least = min(least, math.lcm(*within, *across, *alike))
        if least <= enough:
            break
    return int(least)


def shares(strata: int, units: int, number: int) -> tuple[float, float]:
    """The share of designs that is refused here, and the share that must be, in percent."""
    refused = [sizes for sizes in designs(strata, units, number) if best_plan(sizes).runs > LIMITS.multi_array_runs]
    impossible = sum(least_runs(sizes) > LIMITS.multi_array_runs for sizes in refused)
    return 100.0 * len(refused) / number, 100.0 * impossible / number


def lacks_balance(array: MultiArray) -> bool:
    """Whether any unit or pair of units is taken more or less often than a multi-array must take it."""
    stratum = np.repeat(np.arange(len(array.sizes)), array.sizes)
    n, m = np.array(array.sizes)[stratum], np.array(array.selected)[stratum]
    together = np.zeros((len(stratum), len(stratum)))
    step = max(1, AT_ONCE // len(stratum))  # single precision holds these counts exactly
    for start in range(0, array.runs, step):
        taken = np.asarray(array.choose(start, min(start + step, array.runs)), np.float32)
        together += taken.T @ taken
    share = m / n
    wanted = np.where(stratum[:, None] == stratum, share * (m - 1) / np.maximum(n - 1, 1), share[:, None] * share)
    np.fill_diagonal(wanted, share)
    return bool((np.abs(together - array.runs * wanted) > 1e-6 * array.runs).any())


def counted(number: int, seed: int = 1) -> str:
    """How many of so many random designs are served, and how many of these lack a balance, by counting."""
    rng = np.random.default_rng(seed)
    sizes = [rng.integers(2, 13, rng.integers(3, 25)).tolist() for _ in range(number)]
    arrays = [multi_array(one) for one in sizes if best_plan(one).runs <= LIMITS.multi_array_runs]
    long, wrong = sum(array.runs > LONG for array in arrays), sum(map(lacks_balance, arrays))
    return (
        f"Of {number} designs of 3 to 24 strata of 2 to 12 units {len(arrays)} are served, {long} of them in more than "
        f"{LONG:,} runs; by counting every run, {wrong} lack a balance."
    )


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else DESIGNS
    print("| strata | units of each | refused, % | of any multi-array, % |")
    print("| --- | --- | --- | --- |")
    for strata, units in KINDS:
        ours, all_arrays = shares(strata, units, count)
        print(f"| 2 to {strata} | 2 to {units} | {ours:.1f} | {all_arrays:.1f} |", flush=True)
    print(counted(max(1, count // 10)))
