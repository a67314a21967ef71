"""How intervals of a share fare where two factors were drawn: readers and cases, speakers and attacks.

``python -m validation.crossed`` prints the table of docs/howto/crossed.md: for each scenario the coverage of 95 %
intervals in percent by the crossed design of the library, by the two-way variance with normal limits as it is often
programmed, and by clusters of one factor alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

import strat

SAMPLES, NORMAL = 1000, 1.959963984540054


@dataclass(frozen=True)
class Scenario:
    """A share `rate` of hits, of rows × columns with normal effects of these variances (that of a cell being 1)."""

    name: str
    rate: float
    rows: int
    columns: int
    row_variance: float
    column_variance: float
    filled: float = 1.0


SCENARIOS = (
    Scenario("5 readers × 100 cases", 0.3, 5, 100, 0.1, 0.5),
    Scenario("20 judges × 200 items", 0.3, 20, 200, 0.1, 0.5),
    Scenario("20 judges × 200 items, a fifth of the cells", 0.3, 20, 200, 0.1, 0.5, 0.2),
    Scenario("no effects at all, 20 × 50", 0.3, 20, 50, 0.0, 0.0),
    Scenario("13 prompts × 120 workers", 0.5, 13, 120, 0.2, 0.1),
    Scenario("48 speakers × 10 attacks, rate 0.05", 0.05, 48, 10, 0.3, 0.1),
    Scenario("48 speakers × 10 attacks, rate 0.02", 0.02, 48, 10, 0.3, 0.1),
    Scenario("48 speakers × 10 attacks, rate 0.01", 0.01, 48, 10, 0.5, 0.3),
    Scenario("48 speakers × 40 attacks, rate 0.005", 0.005, 48, 40, 0.5, 0.3),
)


def draw(world: Scenario, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hits, and the row and the column of each of them."""
    total = 1.0 + world.row_variance + world.column_variance
    a = rng.normal(size=world.rows) * np.sqrt(world.row_variance)
    b = rng.normal(size=world.columns) * np.sqrt(world.column_variance)
    chance = ndtr(ndtri(world.rate) * np.sqrt(total) + a[:, None] + b)
    there = rng.random(chance.shape) < world.filled
    row, column = np.nonzero(there)
    return (rng.random(len(row)) < chance[there]).astype(float), row, column


def ours(y: np.ndarray, row: np.ndarray, column: np.ndarray) -> strat.Estimate:
    """The share of hits by the crossed design."""
    return strat.estimate(strat.proportion(y), on=strat.Design.crossed({"row": row, "column": column}))


def usual(y: np.ndarray, row: np.ndarray, column: np.ndarray) -> tuple[float, float]:
    """The two-way variance by rows + columns - cells with normal limits."""
    z = (y - y.mean()) / len(y)
    squares = [(np.bincount(group, z) ** 2).sum() for group in (row, column)]
    half = NORMAL * np.sqrt(max(sum(squares) - (z**2).sum(), 0.0))
    return y.mean() - half, y.mean() + half


def coverages(world: Scenario, samples: int = SAMPLES, seed: int = 1) -> tuple[float, float, float, float, float]:
    """Coverage of the three intervals, the share of samples without a hit, and that of samples with a caution."""
    rng = np.random.default_rng(seed)
    held, empty, warned = np.zeros(3), 0, 0
    for _ in range(samples):
        y, row, column = draw(world, rng)
        crossed = ours(y, row, column)
        if y.sum() in (0, len(y)):
            empty += 1
            held[0] += crossed.interval()[1] >= world.rate
            continue
        clustered = strat.estimate(strat.proportion(y), on=strat.Design.clustered(column))
        warned += any("may be too short" in note for note in crossed.notes)
        for place, (low, high) in enumerate((crossed.interval(), usual(y, row, column), clustered.interval())):
            held[place] += low <= world.rate <= high
    own, two_way, one_way = 100.0 * held / samples
    return own, two_way, one_way, 100.0 * empty / samples, 100.0 * warned / samples


if __name__ == "__main__":
    print("| scenario | crossed | two-way, normal limits | clusters of columns | without a hit | cautioned |")
    print("| --- | --- | --- | --- | --- | --- |")
    for world in SCENARIOS:
        print(f"| {world.name} | " + " | ".join(f"{share:.1f}" for share in coverages(world)) + " |", flush=True)
