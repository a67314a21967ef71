"""Shares of small populations, of which a part was drawn without replacement: few hits, few left, strata."""

from __future__ import annotations

import numpy as np

import strat
from strat.estimation.proportions import hypergeometric_interval

from ..held_out.procedures import estimated
from ..trials import Draw, Rng, Scenario, Trial

ROWS = (  # rows of the population, drawn, hits
    (60, 20, 30), (200, 60, 4), (500, 50, 5), (100, 80, 3), (40, 30, 2), (150, 15, 141), (80, 40, 71), (33, 7, 11),
    (1000, 100, 970), (2000, 25, 1900),
)  # fmt: skip
STRATA = ((5, 40, 12, (0, 1, 2, 3, 0)), (3, 100, 20, (5, 10, 2)))  # strata, rows and drawn of each, hits


def of_rows(population: int, drawn: int, hits: int) -> Draw:
    """A share of single rows, and the limits of exact one-sided tests."""
    design = strat.Design.simple_random(n=drawn, population=population)

    def draw(rng: Rng) -> Trial:
        right = (rng.permutation(population)[:drawn] < hits).astype(float)
        one = strat.estimate(strat.proportion(right), on=design)
        exact = hypergeometric_interval(int(right.sum()), drawn, population)
        # counts over the size are not quite what floats hold of them
        found = {"default": one.interval(), "exact one-sided tests": exact}
        wide = {name: (low - 1e-9, high + 1e-9) for name, (low, high) in found.items()}
        return Trial(None, design, hits / population, {"right": right}, {"estimate": one, "limits": wide})

    return draw


def of_strata(strata: int, population: int, drawn: int, hits: tuple[int, ...]) -> Draw:
    """The share of a stratified population that was drawn in part."""
    stratum = np.repeat(np.arange(strata), drawn)
    design = strat.Design.stratified(strata=stratum, population=population)
    truth = sum(hits) / (strata * population)

    def draw(rng: Rng) -> Trial:
        right = np.concatenate([rng.permutation(population)[:drawn] < k for k in hits]).astype(float)
        return estimated(strat.proportion(right), design, truth, right=right)

    return draw


SCENARIOS = [
    Scenario(f"{n} of {size:,} rows, {k:,} of which are hits", "shares of small populations", f"{n} of {size}",
             lambda a=(size, n, k): of_rows(*a), ("limits",))
    for size, n, k in ROWS
] + [
    Scenario(f"{n} of {size} rows in each of {h} strata, {sum(k)} hits", "shares of small populations", f"{h} strata",
             lambda a=(h, size, n, k): of_strata(*a), ("answer",))
    for h, size, n, k in STRATA
]  # fmt: skip
