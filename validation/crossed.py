"""How intervals of a share fare where two factors were drawn: readers and cases, speakers and attacks.

``python -m validation.crossed [samples]`` prints the table of docs/howto/crossed.md: for each scenario the coverage of
95 % intervals in percent by the crossed design of the library (and, beside it, on the logit scale), by the two-way
variance with normal limits as it is often programmed, and by clusters of one factor alone; and how much wider the
interval on the logit scale is on average.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

import strat
from strat.base.notes import codes_of

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
    Scenario("6 readers × 40 cases, rate 0.05", 0.05, 6, 40, 0.2, 0.3),
    Scenario("30 judges × 30 items, half of the cells, rate 0.04", 0.04, 30, 30, 0.3, 0.3, 0.5),
    Scenario("20 judges × 60 items, rate 0.98", 0.98, 20, 60, 0.4, 0.2),
    Scenario("80 speakers × 20 attacks, rate 0.01", 0.01, 80, 20, 0.3, 0.3),
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


@dataclass
class Counts:
    """How many samples there were, had no hit or a caution, and were covered by each interval; sums of widths."""

    samples: int = 0
    empty: int = 0
    cautioned: int = 0
    width: float = 0.0
    logit_width: float = 0.0
    held: np.ndarray[Any, Any] = field(default_factory=lambda: np.zeros(4))

    def add(self, world: Scenario, y: np.ndarray, row: np.ndarray, column: np.ndarray) -> None:
        """Count one sample; without a hit, all intervals of ours are the exact one, and the others none."""
        crossed = ours(y, row, column)
        limits, logit = crossed.interval(), crossed.interval(method="logit")
        self.samples += 1
        self.width, self.logit_width = self.width + limits[1] - limits[0], self.logit_width + logit[1] - logit[0]
        pairs = [limits, logit]
        if 0 < y.sum() < len(y):
            clustered = strat.estimate(strat.proportion(y), on=strat.Design.clustered(column))
            pairs += [usual(y, row, column), clustered.interval()]
            self.cautioned += "few-holders" in codes_of(crossed.notes)
        else:
            self.empty += 1
        for place, (low, high) in enumerate(pairs):
            self.held[place] += low <= world.rate <= high

    def cells(self) -> list[str]:
        """The figures of a line."""
        each = [*self.held, self.empty, self.cautioned]
        shares = [f"{100.0 * number / self.samples:.1f}" for number in each]
        return [*shares[:2], f"{self.logit_width / self.width:.2f}", *shares[2:]]


def counts(world: Scenario, samples: int = SAMPLES, seed: int = 1) -> Counts:
    """What became of so many samples."""
    rng, counted = np.random.default_rng(seed), Counts()
    for _ in range(samples):
        counted.add(world, *draw(world, rng))
    return counted


def main(samples: int = SAMPLES) -> None:
    """Print a line for each scenario."""
    heads = ("scenario", "crossed", "on the logit scale", "width of that over ours", "two-way, normal limits",
             "clusters of columns", "without a hit", "cautioned")  # fmt: skip
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for world in SCENARIOS:
        print(f"| {' | '.join([world.name, *counts(world, samples).cells()])} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
