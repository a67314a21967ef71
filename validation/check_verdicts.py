"""How often `check` says "holds", by the true coverage: ``python -m validation.check_verdicts [samples] [trials]``.

Each line draws samples from a population whose units differ as named, counts how often the default interval covers the
truth, and asks `check` of the first samples whether it would. A tool that tells the truth hardly ever says "holds"
where coverage is below 92 %. Where a note of the sample rules "holds" out, fifty trials are enough.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

import strat
from strat.base.notes import codes_of
from strat.verbs import check_trials
from strat.verbs.check import check
from strat.verbs.check_result import DOUBTS, Check

from .held_out.shapes import rates

Rng = np.random.Generator
Columns = dict[str, Any]
COVERAGE_SAMPLES, SAMPLES, TRIALS = 400, 20, 1000  # as many trials as `check` has unless asked
FEWEST = 50  # trials that `check` takes at least


@dataclass(frozen=True)
class Population:
    """What samples are drawn from, how they are measured, and the true value."""

    name: str
    draw: Callable[[Rng], Columns]
    arguments: Mapping[str, Any]
    truth: float


def shares(units: int, rows: int, rate: float, icc: float, shape: str) -> Population:
    """Rows right or wrong in units."""
    unit = np.repeat(np.arange(units), rows)

    def draw(rng: Rng) -> Columns:
        return {"unit": unit, "right": (rng.random(len(unit)) < rates(rng, rate, icc, shape, units)[unit]).astype(int)}

    name = f"{units} units of {rows}, rate {rate:g}, icc {icc:g}, {shape}"
    return Population(name, draw, {"score": "right", "units": "unit", "metrics": "mean"}, rate)


def area(rows: int, prevalence: float, shift: float) -> Population:
    """The AUC of independent rows, of which few are positive."""

    def draw(rng: Rng) -> Columns:
        truth = (rng.random(rows) < prevalence).astype(int)
        return {"truth": truth, "score": shift * truth + rng.standard_normal(rows)}

    asked = {"truth": "truth", "score": "score", "metrics": "auc", "positive": 1}
    return Population(f"AUC, {rows} rows, prevalence {prevalence:g}", draw, asked, float(ndtr(shift / np.sqrt(2))))


POPULATIONS = (
    shares(14, 25, 0.9, 0.2, "one bad in ten"),
    shares(22, 18, 0.8, 0.15, "one bad in ten"),
    shares(26, 10, 0.92, 0.3, "one bad in ten"),
    shares(40, 15, 0.9, 0.2, "one bad in ten"),
    area(300, 0.05, 1.9),
    shares(20, 20, 0.85, 0.1, "Beta"),
    shares(60, 10, 0.85, 0.15, "Beta"),
    shares(120, 5, 0.8, 0.2, "logit-normal"),
)


def coverage(world: Population, samples: int) -> float:
    """In which share of samples the default interval holds the truth."""
    rng, held = np.random.default_rng(1), 0
    for _ in range(samples):
        data = world.draw(rng)
        asked = {name: value for name, value in world.arguments.items() if name != "metrics"}
        ((_, one),) = strat.evaluate(data, **asked, metrics=[world.arguments["metrics"]]).estimates.items()
        low, high = one.interval()
        held += low <= world.truth <= high
    return held / samples


def doubted(one: Check) -> bool:
    """Whether a note says that the sample may hide what makes the interval short, so that it never "holds"."""
    return not DOUBTS.isdisjoint(codes_of(one.notes))


def verdicts(world: Population, samples: int, trials: int) -> list[Check]:
    """What `check` says of each of some samples."""
    rng, checks = np.random.default_rng(2), []
    for _ in range(samples):
        data = world.draw(rng)
        one = check(data, **world.arguments, trials=FEWEST)[0]
        checks.append(one if doubted(one) else check(data, **world.arguments, trials=trials)[0])
    return checks


def main(samples: int = SAMPLES, trials: int = TRIALS) -> None:
    """Print a line for each population."""
    check_trials.OTHERS = 1_000_000  # verdicts are on the default, and other methods cost time
    print("| population | true coverage % | a note doubts the sample % | `check` says it holds % |")
    print("| --- | ---: | ---: | ---: |")
    for world in POPULATIONS:
        checks = verdicts(world, samples, trials)
        doubts, holds = (100 * np.mean(flags) for flags in zip(*((doubted(c), c.holds) for c in checks), strict=True))
        true = 100 * coverage(world, COVERAGE_SAMPLES)
        print(f"| {world.name} | {true:.1f} | {doubts:.0f} | {holds:.0f} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
