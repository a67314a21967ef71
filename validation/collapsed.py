"""How much too large the variance of joined strata is, and what the note says of it.

``python -m validation.collapsed`` prints the table of docs/howto/crossed.md: strata of one unit are joined by label or
by something known of them. For each scenario the mean of the estimated variance over the true one, the median of the
ratio that the note gives, how often it gives one, and the coverage of 95 % intervals in percent.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

import strat
from strat.designs import collapsing

SAMPLES = 1000


@dataclass(frozen=True)
class Scenario:
    """Strata of one unit, and others of three, whose means differ by `spread` (a unit's deviation being 1).

    Means are drawn, or one low and one high in turn (`in_turn`); `known` joins strata by their means, known with an
    error of 0.5.
    """

    name: str
    lone: int
    others: int
    spread: float
    in_turn: bool = False
    known: bool = False


SCENARIOS = (
    Scenario("30 of one unit, 15 of three, means alike", 30, 15, 0.0),
    Scenario("30 of one unit, 15 of three, means as different as units", 30, 15, 1.0),
    Scenario("30 of one unit, 15 of three, means 1.7 times as different", 30, 15, 1.7),
    Scenario("the same, joined by what is known of them", 30, 15, 1.7, known=True),
    Scenario("40 of one unit, one low and one high in turn", 40, 0, 1.6, in_turn=True),
    Scenario("40 of one unit, means 1.6 times as different", 40, 0, 1.6),
    Scenario("the same, joined by what is known of them", 40, 0, 1.6, known=True),
)


def means_of(world: Scenario, rng: np.random.Generator) -> np.ndarray:
    """The mean of each stratum."""
    number = world.lone + world.others
    return world.spread * (np.arange(number) % 2 * 2.0 - 1.0 if world.in_turn else rng.normal(size=number))


def sample(world: Scenario, rng: np.random.Generator) -> tuple[strat.Design, np.ndarray, float]:
    """A design, the values drawn, and the true mean over all strata, equal in size."""
    number = world.lone + world.others
    means = means_of(world, rng)
    sizes = rng.permutation(np.repeat([1, 3], [world.lone, world.others])) if world.others else np.ones(number, int)
    stratum = np.repeat(np.arange(number), sizes)
    known = means + 0.5 * rng.normal(size=number)
    design = strat.Design.stratified(strata=stratum, weights=1.0 / sizes[stratum], lone="certainty")
    joined = design.collapsed(by=dict(enumerate(known.tolist())) if world.known else None)
    return joined, means[stratum] + rng.normal(size=len(stratum)), float(means.mean())


def row(world: Scenario, samples: int = SAMPLES, seed: int = 1) -> tuple[float, float, float, float]:
    """Estimated over true variance, the note's median ratio, how often it has one, and coverage, both in percent."""
    rng = np.random.default_rng(seed)
    variances, errors, ratios, held = [], [], [], 0
    for _ in range(samples):
        design, y, truth = sample(world, rng)
        one = strat.estimate(strat.mean(y), on=design)
        weights = design.line_weights
        influence = (y - float(one.point)) * design.weights / design.weights.sum()
        found = collapsing.excess(design.by_line(influence)[:, None], weights, design)
        ratios += [] if found is None else [float(found.ratio[0])]
        variances.append(float(one.se) ** 2)
        errors.append(float(one.point) - truth)
        low, high = one.interval()
        held += bool(low <= truth <= high)
    told = float(np.median(ratios)) if ratios else np.nan
    return float(np.mean(variances) / np.var(errors)), told, 100.0 * len(ratios) / samples, 100.0 * held / samples


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES
    print("| strata | estimated over true variance | the note says (median) | says a number, % | coverage, % |")
    print("| --- | --- | --- | --- | --- |")
    for world in SCENARIOS:
        ratio, told, often, covered = row(world, count)
        print(f"| {world.name} | {ratio:.1f} | {told:.1f} | {often:.0f} | {covered:.1f} |", flush=True)
