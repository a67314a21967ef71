"""How intervals of a false non-match rate fare where a few subjects have most of the comparisons.

``python -m validation.heavy_subjects`` prints the table of docs/background/two_way.md.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit, stdtrit

from strat import Design
from strat.designs import variance

SAMPLES = 4000
RATE, CORRELATION = 0.1, 0.1
LAYOUTS = {
    "40 equal": np.full(40, 10),
    "60, lognormal sizes": np.ceil(3 * np.exp(1.5 * np.random.default_rng(0).normal(size=60))).astype(int),
    "3 with 88 % of the pairs, 40 others": np.repeat([100, 1], [3, 40]),
    "1 with 90 %, 40 others": np.repeat([360, 1], [1, 40]),
    "1 with 95 %, 100 others": np.repeat([2000, 1], [1, 100]),
}


def coverages(sizes: np.ndarray, rng: np.random.Generator) -> list[float]:
    """Coverage in percent of four 95 % intervals on the logit scale."""
    k, h, total = len(sizes), sizes / sizes.sum(), 1 / CORRELATION - 1
    rates = rng.beta(RATE * total, (1 - RATE) * total, (SAMPLES, k))
    misses = rng.binomial(sizes, rates)
    rate = misses.sum(axis=1) / sizes.sum()
    moved = h * (misses / sizes - rate[:, None])
    plain = (moved**2).sum(axis=1) * k / (k - 1)
    corrected = (moved**2 / (1 - h)).sum(axis=1)
    jackknife = (moved**2 / (1 - h) ** 2).sum(axis=1) * (k - 1) / k
    lines, nominal = Design.simple_random(n=k).as_lines, np.array([k - 1.0])
    effective = variance.effective_dfs(sizes[:, None].astype(float), lines, nominal)
    few = float(variance.used_df(nominal, effective)[0])
    ways = ((plain, k - 1), (plain, few), (corrected, few), (jackknife, k - 1))
    return [covered(rate, variance, df) for variance, df in ways]


def covered(rate: np.ndarray, variance: np.ndarray, df: float) -> float:
    """Share of the samples with an error in which the interval holds the rate."""
    seen = (rate > 0) & (rate < 1)
    half = stdtrit(df, 0.975) * np.sqrt(variance[seen]) / (rate[seen] * (1 - rate[seen]))
    low, high = (expit(logit(rate[seen]) + side * half) for side in (-1, 1))
    return float(100 * ((low <= RATE) & (high >= RATE)).mean())


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    for name, sizes in LAYOUTS.items():
        print(f"| {name} | " + " | ".join(f"{share:.1f}" for share in coverages(sizes, rng)) + " |")
