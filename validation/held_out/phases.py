"""Labels on a part of the rows that a judge has seen whole, and two factors that were drawn both."""

from __future__ import annotations

from .. import crossed, two_phase
from ..methods import RIVAL
from ..trials import Draw, Rng, Scenario, Trial


def judged(world: two_phase.Scenario) -> Draw:
    """A two-phase estimate, and prediction-powered inference where it knows the measure."""
    truth = two_phase.truth_of(world)

    def draw(rng: Rng) -> Trial:
        data = two_phase.drawn(world, world.units, rng)
        chosen, groups = two_phase.labelled(world, data, rng)
        other = two_phase.ppi(world, data, chosen)
        rivals = {} if other is None else {RIVAL + "PPI++": other}
        extra = {"estimate": two_phase.ours(world, data, chosen, groups), "rivals": rivals}
        return Trial(None, None, truth, {}, {**extra, "independent": world.rows == 1})

    return draw


def both_drawn(world: crossed.Scenario) -> Draw:
    """A share over the cells of two factors, and the usual two-way variance with normal limits."""

    def draw(rng: Rng) -> Trial:
        y, row, column = crossed.draw(world, rng)
        rivals = {RIVAL + "two-way, normal limits": crossed.usual(y, row, column)}
        return Trial(None, None, world.rate, {"right": y}, {"estimate": crossed.ours(y, row, column), "rivals": rivals})

    return draw


PHASES = (
    two_phase.Scenario("400 rows, 50 labels", 400, 1, 50),
    two_phase.Scenario("60 units of 15, 120 labels", 60, 15, 120, spread=0.8),
    two_phase.Scenario("60 units of 8, 20 labelled whole", 60, 8, 20, "units", 0.8),
    two_phase.Scenario("600 rows, 120 labels by judge score", 600, 1, 120, "strata"),
    two_phase.Scenario("accuracy, 80 units of 12, 150 labels", 80, 12, 150, spread=0.8, measure="accuracy"),
    two_phase.Scenario("F1, 600 rows, 120 labels", 600, 1, 120, measure="f1"),
)
FACTORS = (
    crossed.Scenario("8 readers × 60 cases, rate 0.8", 0.8, 8, 60, 0.15, 0.6),
    crossed.Scenario("15 judges × 90 items, a quarter of the cells, rate 0.6", 0.6, 15, 90, 0.2, 0.4, 0.25),
    crossed.Scenario("35 speakers × 14 attacks, rate 0.04", 0.04, 35, 14, 0.3, 0.15),
    crossed.Scenario("60 speakers × 12 attacks, rate 0.015", 0.015, 60, 12, 0.4, 0.2),
)

SCENARIOS = [
    *(Scenario(f"two phases, {w.name}", "two phases", w.name, lambda w=w: judged(w), ("answer",)) for w in PHASES),
    *(Scenario(f"crossed, {w.name}", "crossed", w.name, lambda w=w: both_drawn(w), ("answer",)) for w in FACTORS),
]  # fmt: skip
