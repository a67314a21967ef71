"""Tries of the same tasks: pass@k where few tasks can be solved, and shares of tasks that are all or nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import betaln

import strat

from ..trials import Array, Draw, Rng, Scenario, Trial

Chances = Callable[[Rng, int], Array]


def solvable(tasks: int, tries: int, k: int, share: float, a: float, b: float) -> Draw:
    """pass@k of tasks of which a share can be solved, each with a chance from Beta(a, b)."""
    target = share * float(1.0 - np.exp(betaln(a, b + k) - betaln(a, b)))
    item = np.repeat(np.arange(tasks), tries)
    design = strat.Design.clustered(units=item)

    def draw(rng: Rng) -> Trial:
        chance = np.where(rng.random(tasks) < share, rng.beta(a, b, tasks), 0.0)
        right = (rng.random(len(item)) < chance[item]).astype(int)
        one = strat.estimate(strat.pass_at_k(right, k=k, items=item), on=design)
        limits = {name: one.interval(method=name) for name in ("logit", "t", "wilson")}
        return Trial(None, design, target, {}, {"estimate": one, "limits": {"default": one.interval(), **limits}})

    return draw


def two_kinds(share: float, better: float, worse: float) -> tuple[float, Chances]:
    """Tasks of two kinds."""
    return share * better + (1 - share) * worse, lambda rng, n: np.where(rng.random(n) < share, better, worse)


def alike(rate: float, correlation: float) -> tuple[float, Chances]:
    """Tasks with chances from a Beta distribution."""
    size = 1.0 / correlation - 1.0
    return rate, lambda rng, n: rng.beta(rate * size, (1.0 - rate) * size, n)


def all_or_nothing(tasks: int, tries: int, kind: tuple[float, Chances]) -> Draw:
    """The share of tries that are right, over tasks whose tries agree."""
    rate, chances = kind
    item = np.repeat(np.arange(tasks), tries)
    design = strat.Design.clustered(units=item)

    def draw(rng: Rng) -> Trial:
        right = (rng.random(len(item)) < chances(rng, tasks)[item]).astype(float)
        one = strat.estimate(strat.proportion(right), on=design)
        limits = {name: one.interval(method=name) for name in ("t", "logit", "wilson", "exact")}
        return Trial(None, design, rate, {}, {"estimate": one, "limits": {"default": one.interval(), **limits}})

    return draw


PASS: dict[str, Callable[[], Draw]] = {
    "pass@8 of 8 tries, 22 tasks, 15 % solvable": lambda: solvable(22, 8, 8, 0.15, 1, 1),
    "pass@12 of 12 tries, 45 tasks, 4 % solvable": lambda: solvable(45, 12, 12, 0.04, 1, 1),
    "pass@1 of 10 tries, 24 tasks, 12 % solvable": lambda: solvable(24, 10, 1, 0.12, 1, 1),
    "pass@4 of 10 tries, 30 tasks, 10 % solvable": lambda: solvable(30, 10, 4, 0.1, 1, 2),
    "pass@5 of 5 tries, 14 tasks, half solvable": lambda: solvable(14, 5, 5, 0.5, 0.5, 1.5),
    "pass@3 of 6 tries, 18 tasks, 92 % solved at once": lambda: solvable(18, 6, 3, 0.92, 40, 1),
    "pass@2 of 6 tries, 40 tasks, mild": lambda: solvable(40, 6, 2, 1.0, 2, 3),
    "pass@5 of 8 tries, 60 tasks, mild": lambda: solvable(60, 8, 5, 1.0, 1, 2),
}
AGREE: dict[str, Callable[[], Draw]] = {
    "28 tasks × 5, 88 % always, 12 % never": lambda: all_or_nothing(28, 5, two_kinds(0.88, 1.0, 0.0)),
    "35 tasks × 8, 10 % always, 90 % never": lambda: all_or_nothing(35, 8, two_kinds(0.1, 1.0, 0.0)),
    "18 tasks × 6, 80 % at .98, 20 % at .05": lambda: all_or_nothing(18, 6, two_kinds(0.8, 0.98, 0.05)),
    "50 tasks × 4, 93 % always, 7 % never": lambda: all_or_nothing(50, 4, two_kinds(0.93, 1.0, 0.0)),
    "24 tasks × 10, rate .75, correlation .75": lambda: all_or_nothing(24, 10, alike(0.75, 0.75)),
    "26 tasks × 8, rate .8, correlation .3": lambda: all_or_nothing(26, 8, alike(0.8, 0.3)),
}

SCENARIOS = [
    Scenario(name, heading, name, make, ("limits",))
    for heading, each in (("pass@k", PASS), ("tasks that are all or nothing", AGREE))
    for name, make in each.items()
]  # fmt: skip
