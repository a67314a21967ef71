"""How intervals fare along an order, under fixed kinds and in stages, and how intervals of variance components do.

``python -m validation.designs [samples]`` prints the tables of docs/howto/crossed.md and docs/howto/levels.md: for each
scenario the coverage of 95 % intervals in percent by the design of the library and by the one that is often taken for
it, both with their mean widths; and the coverage of 95 % intervals of variance components.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import strat
from strat import Design

SAMPLES = 1000
Drawn = tuple[np.ndarray, float, Design, Design]  # values, the true mean, the design, and the usual other one


@dataclass(frozen=True)
class Scenario:
    """A way to draw samples whose true mean is known."""

    name: str
    draw: Callable[[np.random.Generator], Drawn]
    other: str


def ordered(curve: Callable[[np.ndarray], np.ndarray], *, known: bool = False) -> Callable[..., Drawn]:
    """Every 20th of 1,000 along an order, on a curve with noise of standard deviation 1."""

    def draw(rng: np.random.Generator) -> Drawn:
        population = curve(np.arange(1000) / 1000) + rng.normal(size=1000)
        start = int(rng.integers(20))
        design = Design.systematic(order=np.arange(50), population=1000, start=start + 1 if known else None)
        return population[start::20], population.mean(), design, Design.simple_random(n=50, population=1000)

    return draw


def blocked(rates: tuple[float, ...], units: int) -> Callable[..., Drawn]:
    """Hits of the same units under fixed kinds, on other occasions; units differ by up to 0.1 to either side."""
    shift = np.linspace(-0.1, 0.1, units)

    def draw(rng: np.random.Generator) -> Drawn:
        unit, kind = np.divmod(np.arange(units * len(rates)), len(rates))
        chance = np.clip(np.array(rates)[kind] + shift[unit], 0.0, 1.0)
        hits = (rng.random(len(unit)) < chance).astype(float)
        return hits, chance.mean(), Design.blocks(unit, kind), Design.stratified(unit)

    return draw


def staged(first: tuple[int, int], second: tuple[int, int], share: float) -> Callable[..., Drawn]:
    """Units drawn of so many, and of each units drawn of so many; a share of the variance is between the first."""

    def draw(rng: np.random.Generator) -> Drawn:
        (n, whole), (m, parts) = first, second
        values = np.sqrt(share) * rng.normal(size=(whole, 1)) + np.sqrt(1 - share) * rng.normal(size=(whole, parts))
        rows = np.stack([values[u][rng.permutation(parts)[:m]] for u in rng.permutation(whole)[:n]])
        unit, part = np.divmod(np.arange(n * m), m)
        design = Design.staged({"unit": unit, "part": part}, population={"unit": whole, "part": parts})
        return rows.ravel(), values.mean(), design, Design.clustered(unit)

    return draw


SCENARIOS = (
    Scenario("ordered, no drift", ordered(lambda t: 0 * t), "simple random"),
    Scenario("ordered, a weak line", ordered(lambda t: t), "simple random"),
    Scenario("ordered, a steep line", ordered(lambda t: 30 * t), "simple random"),
    Scenario("ordered, a steep line, start known", ordered(lambda t: 30 * t, known=True), "simple random"),
    Scenario("ordered, an arch", ordered(lambda t: 20 * t * (1 - t)), "simple random"),
    Scenario("ordered, a wave of 5 periods", ordered(lambda t: 2 * np.sin(10 * np.pi * t)), "simple random"),
    Scenario("ordered, a wave of the step", ordered(lambda t: np.sin(100 * np.pi * t)), "simple random"),
    Scenario("blocks, 80 units × 3 kinds, 0.85 to 0.15", blocked((0.85, 0.6, 0.15), 80), "strata of units"),
    Scenario("blocks, 20 units × 4 kinds, 0.9 to 0.6", blocked((0.9, 0.8, 0.7, 0.6), 20), "strata of units"),
    Scenario("stages, 10 of 40 and 5 of 20, half between", staged((10, 40), (5, 20), 0.5), "clusters"),
    Scenario("stages, 10 of 12 and 3 of 20, a tenth between", staged((10, 12), (3, 20), 0.1), "clusters"),
    Scenario("stages, 30 of 1,000 and 4 of 8, a fifth between", staged((30, 1000), (4, 8), 0.2), "clusters"),
)


def coverages(world: Scenario, samples: int = SAMPLES, seed: int = 1) -> tuple[float, float, float, float, float]:
    """Coverage of the design and of the other one, their mean widths, and the share of samples with a caution."""
    rng = np.random.default_rng(seed)
    held, width, warned = np.zeros(2), np.zeros(2), 0
    for _ in range(samples):
        y, truth, *designs = world.draw(rng)
        each = [strat.estimate(strat.mean(y), on=design) for design in designs]
        warned += any(getattr(note, "code", "") in ("trend", "period") for note in each[0].notes)
        for place, one in enumerate(each):
            low, high = (float(limit) for limit in one.interval())
            held[place] += low <= truth <= high
            width[place] += high - low
    own, other = 100.0 * held / samples
    return own, other, *(width / samples), 100.0 * warned / samples


LEVELS = {"population": 60, "system": 6, "model": 4, "analysis": 3}
VARIANCES = {"population": 1.0, "system": 0.2, "model": 0.3, "analysis": 0.1}  # of effects; that of a cell is 1


def of_components(samples: int = SAMPLES, seed: int = 2) -> dict[str, float]:
    """Coverage of 95 % intervals of what each of STRAT's levels makes; models lie within systems."""
    rng = np.random.default_rng(seed)
    codes = dict(zip(LEVELS, (c.ravel() for c in np.indices(tuple(LEVELS.values()))), strict=True))
    codes["model"] = codes["system"] * LEVELS["model"] + codes["model"]
    numbers = {name: int(c.max()) + 1 for name, c in codes.items()}
    design = Design.crossed(codes)
    held = dict.fromkeys(LEVELS, 0)
    for _ in range(samples):
        effects = (np.sqrt(v) * rng.normal(size=numbers[name])[codes[name]] for name, v in VARIANCES.items())
        y = sum(effects) + rng.normal(size=len(design))
        limits = strat.variance_components(strat.mean(y), on=design).intervals()
        for name, v in VARIANCES.items():
            low, high = limits[name]
            held[name] += low <= v / numbers[name] <= high
    return {name: 100.0 * count / samples for name, count in held.items()}


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES
    print("| scenario | the design | width | instead | its coverage | its width | cautioned |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for world in SCENARIOS:
        own, other, width, wide, warned = coverages(world, number)
        line = f"{own:.1f} | {width:.3g} | {world.other} | {other:.1f} | {wide:.3g} | {warned:.1f}"
        print(f"| {world.name} | {line} |", flush=True)
    print("\n| level | levels | coverage of its interval |\n| --- | --- | --- |")
    for name, share in of_components(number).items():
        print(f"| {name} | {LEVELS[name]}{' in each system' if name == 'model' else ''} | {share:.1f} |")
