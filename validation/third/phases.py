"""Labels on a part of the rows that a judge has seen whole: one that is hardly ever wrong, too kind, or useless."""

from __future__ import annotations

import numpy as np

import strat
from strat.estimation.proportions import jeffreys
from strat.estimation.two_phase import two_phase

from ..trials import Draw, Rng, Scenario, Trial

YES_OR_NO = (  # rows, labels, share, and how often the judge says yes where it is yes, and no where it is no
    ("agrees nearly always", 1000, 40, 0.9, 0.97, 0.97),
    ("too kind", 2000, 50, 0.97, 0.995, 0.5),
)


def yes_or_no(rows: int, labels: int, rate: float, sensitivity: float, specificity: float) -> Draw:
    """A share by a judge that says yes or no, and Jeffreys' interval of the labels alone."""
    design = strat.Design.simple_random(n=rows)

    def draw(rng: Rng) -> Trial:
        y = (rng.random(rows) < rate).astype(float)
        judge = (rng.random(rows) < np.where(y > 0, sensitivity, 1 - specificity)).astype(float)
        chosen = np.zeros(rows, bool)
        chosen[rng.choice(rows, labels, replace=False)] = True
        one = strat.estimate(two_phase(strat.proportion(y), proxy=strat.proportion(judge), labelled=chosen), on=design)
        alone = jeffreys(int(y[chosen].sum()), labels)
        extra = {"estimate": one, "independent": True, "limits": {"default": one.interval(), "labels alone": alone}}
        return Trial(None, design, rate, {}, extra)

    return draw


SCENARIOS = [
    Scenario(f"two phases, judge {name}, {n:,} rows, {k} labels, rate {p}", "two phases, yes or no", name,
             lambda a=(n, k, p, a, b): yes_or_no(*a), ("limits",))
    for name, n, k, p, a, b in YES_OR_NO
]  # fmt: skip
