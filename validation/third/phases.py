"""Labels on a part of the rows that a judge has seen whole: judges hardly ever wrong, too kind or useless."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

import strat

from ..held_out.shapes import rates
from ..trials import Array, Draw, Rng, Scenario, Trial

ALONE = "labels alone"


@dataclass(frozen=True)
class World:
    """What is drawn, judged and labelled.

    Attributes
    ----------
    name
        The judge, in words.
    rows, labels
        How many; of units that are labelled whole, how many units.
    rate
        The share of yes, or of the rows that a system has right.
    right
        How often the judge says yes where it is yes, and no where it is no.
    units, icc, shape
        Units of equal size (0: single rows), the correlation within them, and how they differ.
    scheme
        "rows" (labels are a simple random sample), "units" (of whole units), "chance" (with probabilities by the
        judge's answer), "strata" (as many in each answer of the judge).
    apart
        Normal deviates between the scores of yes and no, of a judge who gives a number (None: yes or no).
    bunched
        The share of units in which the judge errs three times as often (or never errs, to make up).
    system
        How often a system has yes and no right: its accuracy, or F1, is asked for.
    other
        The rate of a second system; the difference is asked for.
    """

    name: str
    rows: int
    labels: int
    rate: float = 0.9
    right: tuple[float, float] = (0.95, 0.95)
    units: int = 0
    icc: float = 0.15
    shape: str = "Beta"
    scheme: str = "rows"
    apart: float | None = None
    bunched: float = 0.0
    system: tuple[float, float] | None = None
    measure: str = "mean"
    other: float | None = None


def said(rng: Rng, y: Array, right: tuple[float, float], more: Array | float = 1.0) -> Array:
    """What a judge says of y who is wrong `more` times as often."""
    wrong = np.where(y > 0, 1 - right[0], 1 - right[1]) * more
    return np.where(rng.random(len(y)) < wrong, 1 - y, y)


def labelled(rng: Rng, world: World, unit: Array, judge: Array) -> tuple[Array, Array]:
    """Which rows are labelled, and with which probability."""
    chosen, chance = np.zeros(world.rows, bool), np.full(world.rows, world.labels / world.rows)
    if world.scheme == "units":
        chosen = np.isin(unit, rng.choice(world.units, world.labels, replace=False))
    elif world.scheme == "rows":
        chosen[rng.choice(world.rows, world.labels, replace=False)] = True
    elif world.scheme == "chance":
        chance = chance * np.where(judge > 0.5, 0.7, 1.9)
        chosen = rng.random(world.rows) < chance
    else:
        for answer in (judge > 0.5, judge <= 0.5):
            inside = np.flatnonzero(answer)
            number = min(len(inside), world.labels // 2)
            chosen[rng.choice(inside, number, replace=False)] = True
            chance[inside] = number / max(len(inside), 1)
    return chosen, chance


def answers(rng: Rng, world: World) -> dict[str, Any]:
    """The columns of a sample: A, and B or a system's guesses, true or judged, with what is labelled."""
    units = world.units or world.rows
    unit = np.repeat(np.arange(units), world.rows // units)
    own = rates(rng, world.rate, world.icc if world.units else 0.0, world.shape, units)[unit]
    truth = (rng.random(world.rows) < own).astype(float)
    more: Any = 1.0
    if world.bunched:
        more = np.where(rng.random(units) < world.bunched, 3.0, (1 - 3 * world.bunched) / (1 - world.bunched))[unit]
    judge = said(rng, truth, world.right, more)
    if world.apart is not None:
        judge = expit(world.apart * (truth - 0.5) + rng.standard_normal(world.rows))
    chosen, chance = labelled(rng, world, unit, judge)
    columns = {
        "unit": unit,
        "chosen": chosen,
        "weight": 1 / chance,
        "answer": judge > 0.5,
        "A": truth,
        "judge A": judge,
    }
    if world.other is not None:
        by_luck = 0.3  # right where the first is wrong
        as_well = (world.other - (1 - world.rate) * by_luck) / world.rate
        both = rng.random(world.rows) < np.where(truth > 0, as_well, by_luck)
        columns |= {"B": both.astype(float), "judge B": said(rng, both.astype(float), world.right)}
    if world.system is not None:
        columns["guess"] = said(rng, truth, world.system)
    return columns


def value_of(world: World) -> float:
    """The true value."""
    if world.other is not None:
        return world.rate - world.other
    if world.system is None:
        return world.rate
    hits, passes = world.rate * world.system[0], (1 - world.rate) * world.system[1]
    called = hits + (1 - world.rate) - passes
    return hits + passes if world.measure == "accuracy" else 2 * hits / (called + world.rate)


def asked(world: World, columns: dict[str, Any], *, judged: bool) -> tuple[tuple[float, float], tuple[Any, ...]]:
    """The interval and the notes, with the judge or of the labelled rows alone."""
    chosen = columns["chosen"]
    rows = np.ones(world.rows, bool) if judged else chosen
    table = {name: values[rows] for name, values in columns.items()}
    options: dict[str, Any] = {"units": "unit"} if world.units else {}
    names = ["A"] if world.other is None else ["A", "B"]
    judges: Any = [f"judge {name}" for name in names]
    if judged:
        table |= {name: np.where(chosen, table[name], np.nan) for name in names}
        drawn = {"chance": {"probability": "chance"}, "strata": {"label_strata": "answer"}}.get(world.scheme, {})
        table["chance"] = 1 / table["weight"]
        options["proxy"] = strat.Proxy(judges if len(names) > 1 else judges[0], **drawn)
    elif world.scheme in ("chance", "strata"):
        options |= {"weights": "weight"} | ({} if world.units or world.scheme == "chance" else {"strata": "answer"})
    if world.system is not None:
        words = np.array(["no", "yes"])
        spoken = {name: words[columns[name].astype(int)][rows] for name in ("A", "guess", "judge A")}
        table |= spoken | ({"A": np.where(chosen, spoken["A"], None)} if judged else {})
        options |= {"positive": "yes"} if world.measure == "f1" else {}
        one = strat.evaluate(table, truth="A", predicted="guess", metrics=world.measure, **options)
        return one[world.measure].interval(), one.notes
    if world.other is None:
        one = strat.evaluate(table, score="A", **options)
        return one["mean"].interval(), one.notes
    board = strat.compare(table, score=names, higher_is_better=True, baseline="B", **options)
    return board.interval(), board.notes


def two_phases(world: World) -> Draw:
    """The default interval, and that of the labelled rows alone."""
    truth = value_of(world)

    def draw(rng: Rng) -> Trial:
        columns = answers(rng, world)
        while world.system is not None and len(set(columns["A"][columns["chosen"]])) < 2:
            columns = answers(rng, world)  # labels of one kind are refused
        default, notes = asked(world, columns, judged=True)
        alone, _ = asked(world, columns, judged=False)
        limits = {"default": default, ALONE: alone}
        return Trial(None, None, truth, {}, {"limits": limits, "notes": notes, "independent": not world.units})

    return draw


def ratings(rows: int, labels: int, agree: float, gross: float, shares: tuple[float, ...], units: int = 0) -> Draw:
    """The mean of ratings from 1 to 5, by a judge who agrees, or is off by one, or says anything."""
    unit = np.repeat(np.arange(units or rows), rows // (units or rows))
    truth = float(np.dot(range(1, 6), shares))

    def draw(rng: Rng) -> Trial:
        y = 1 + np.searchsorted(np.cumsum(shares)[:-1], rng.random(rows), side="right")
        off = np.clip(y + rng.choice([-1, 1, 1], rows), 1, 5)  # too kind
        judge = np.where(rng.random(rows) < agree, y, np.where(rng.random(rows) < gross, rng.integers(1, 6, rows), off))
        chosen = np.isin(unit, rng.choice(units or rows, labels, replace=False))
        table = {"y": np.where(chosen, y, np.nan), "judge": judge, "unit": unit}
        options = {"units": "unit"} if units else {}
        one = strat.evaluate(table, score="y", proxy="judge", metrics="mean", **options)
        alone = strat.evaluate({name: v[chosen] for name, v in table.items()}, score="y", metrics="mean", **options)
        limits = {"default": one["mean"].interval(), ALONE: alone["mean"].interval()}
        return Trial(
            None, None, truth, {}, {"limits": limits, "notes": one.notes, "independent": not units, "span": 4.0}
        )

    return draw


YES_OR_NO = (
    World("hardly ever wrong", 1200, 45, 0.92, (0.98, 0.96)),
    World("hardly ever wrong", 2500, 60, 0.97, (0.99, 0.9)),
    World("hardly ever wrong", 700, 25, 0.6, (0.98, 0.98)),
    World("too kind", 1500, 40, 0.95, (0.99, 0.4)),
    World("too kind", 4000, 90, 0.985, (0.995, 0.6)),
    World("too strict", 900, 50, 0.85, (0.8, 0.99)),
    World("useless", 800, 35, 0.93, (0.9, 0.1)),
    World("fair", 600, 22, 0.75, (0.85, 0.8)),
    World("fair", 5000, 300, 0.88, (0.93, 0.9)),
    World("hardly ever wrong, rare yes", 3000, 70, 0.03, (0.9, 0.98)),
)
NUMBERS = (
    World("who gives a number, good", 1500, 50, 0.9, apart=5.0),
    World("who gives a number, fair", 900, 45, 0.8, apart=2.0),
    World("who gives a number, nearly perfect", 2000, 80, 0.96, apart=7.0),
    World("who gives a number, useless", 600, 28, 0.85, apart=0.0),
    World("who gives a number, fair", 3000, 220, 0.93, apart=2.5),
)
UNITS = (
    World("hardly ever wrong", 1600, 22, 0.88, (0.97, 0.95), 160, scheme="units"),
    World("errs in some units", 1000, 18, 0.8, (0.92, 0.85), 100, shape="one bad in ten", scheme="units", bunched=0.2),
    World("too kind", 1500, 30, 0.94, (0.99, 0.5), 300, shape="logit-normal", scheme="units"),
    World("hardly ever wrong", 1200, 50, 0.9, (0.98, 0.95), 120),
    World("fair", 900, 60, 0.7, (0.85, 0.8), 60, 0.3, "logit-normal"),
    World("who gives a number", 1400, 25, 0.85, (0.9, 0.9), 200, scheme="units", apart=3.5),
    World("useless", 1000, 12, 0.8, (0.7, 0.3), 100, scheme="units"),
)
DRAWN = (
    World("hardly ever wrong", 1500, 60, 0.93, (0.98, 0.9), scheme="strata"),
    World("fair", 800, 40, 0.75, (0.85, 0.8), scheme="strata"),
    World("hardly ever wrong", 1800, 70, 0.92, (0.97, 0.9), scheme="chance"),
    World("who gives a number", 1200, 90, 0.85, scheme="chance", apart=3.0),
    World("fair", 1200, 80, 0.8, (0.9, 0.85), 150, scheme="strata"),
)
PAIRS = (
    World("hardly ever wrong", 1800, 70, 0.94, (0.98, 0.95), other=0.91),
    World("fair", 1000, 60, 0.8, (0.9, 0.85), other=0.74),
    World("too kind", 2500, 120, 0.96, (0.99, 0.6), other=0.94),
    World("useless", 900, 50, 0.7, (0.6, 0.4), other=0.65),
    World("hardly ever wrong", 700, 30, 0.85, (0.97, 0.97), other=0.8),
    World("hardly ever wrong", 1600, 28, 0.9, (0.97, 0.95), 200, other=0.86, scheme="units"),
    World("fair", 1200, 20, 0.8, (0.9, 0.9), 120, 0.2, other=0.75, scheme="units"),
)
SYSTEMS = (
    World("hardly ever wrong", 1200, 50, 0.6, (0.97, 0.97), system=(0.92, 0.9), measure="accuracy"),
    World("fair", 900, 40, 0.4, (0.88, 0.92), system=(0.85, 0.9), measure="accuracy"),
    World("hardly ever wrong", 1500, 70, 0.3, (0.96, 0.98), system=(0.85, 0.95), measure="f1"),
    World("fair", 1000, 60, 0.5, (0.9, 0.88), system=(0.9, 0.85), measure="f1"),
    World("fair", 1200, 24, 0.4, (0.92, 0.93), 120, system=(0.88, 0.9), measure="f1", scheme="units"),
)
RATINGS = (
    ("agrees with 93 %", 1000, 45, 0.93, 0.2, (0.05, 0.05, 0.1, 0.3, 0.5), 0),
    ("agrees with 85 %, gross errors", 600, 25, 0.85, 0.6, (0.1, 0.1, 0.2, 0.3, 0.3), 0),
    ("agrees with 98 %", 2000, 60, 0.98, 0.3, (0.02, 0.03, 0.05, 0.2, 0.7), 0),
    ("agrees with 60 %", 800, 80, 0.6, 0.1, (0.2, 0.2, 0.2, 0.2, 0.2), 0),
    ("agrees with 90 %", 1200, 24, 0.9, 0.3, (0.05, 0.1, 0.15, 0.3, 0.4), 150),
)
WHAT = {"rows": "labels", "units": "units labelled whole", "chance": "labels by the judge's word",
        "strata": "labels in each answer by halves"}  # fmt: skip


def _scenario(family: str, world: World) -> Scenario:
    what = f"{world.measure} of a system, " if world.system else "difference, " if world.other else ""
    units = f" in {world.units} units, icc {world.icc}, {world.shape}" if world.units else ""
    size = f"{world.rows:,} rows{units}, {world.labels} {WHAT[world.scheme]}, rate {world.rate}"
    name = f"two phases, {what}judge {world.name}, {size}"
    return Scenario(name, f"two phases: {family}", name, lambda: two_phases(world), ("limits",))


SCENARIOS = [
    *(_scenario("yes or no", world) for world in YES_OR_NO),
    *(_scenario("numbers of a judge", world) for world in NUMBERS),
    *(_scenario("units", world) for world in UNITS),
    *(_scenario("labels drawn by the judge's word", world) for world in DRAWN),
    *(_scenario("differences", world) for world in PAIRS),
    *(_scenario("accuracy and F1 of a system", world) for world in SYSTEMS),
    *(Scenario(f"two phases, ratings, judge {name}, {a[0]:,} rows, {a[1]} labels" + (f", {a[5]} units" if a[5] else ""),
               "two phases: ratings", name, lambda a=a: ratings(*a), ("limits",)) for name, *a in RATINGS),
]  # fmt: skip
