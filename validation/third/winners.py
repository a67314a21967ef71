"""The value of the best of several systems, whom luck helped to come first: shares and other measures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

import strat
from strat.comparison import many
from strat.comparison.many_systems import ManySystems

from ..held_out.procedures import IGNORES_THE_CHOICE
from ..trials import Array, Draw, Rng, Scenario, Trial


def _latent(rng: Rng, units: int, size: int, systems: int, icc: float) -> Array:
    """Normal scores of rows and systems that share the rows, and lean to systems unit by unit."""
    unit = np.repeat(np.arange(units), size)
    z = np.sqrt(0.35) * rng.standard_normal(len(unit))[:, None]
    z = z + np.sqrt(0.65 - icc) * rng.standard_normal((len(unit), systems))
    return np.asarray(z + np.sqrt(icc) * rng.standard_normal((units, systems))[unit])


def _trial(board: ManySystems, truth: Array, *, lower: bool = False) -> Trial:
    """The limits of the winner against its own value, as if that were 0."""
    best, own = board.winner(), truth[board.order[0]]
    name = best.system
    one = board.estimate.at(name)
    each = (one.interval(), one.interval(1 - 0.05 / len(truth)))
    plain, wide = (tuple(float(v) - own for v in limits) for limits in each)
    bonferroni = (plain[0], wide[1]) if lower else (wide[0], plain[1])
    limits = {"default": (best.low - own, best.high - own), IGNORES_THE_CHOICE: plain, "Bonferroni": bonferroni}
    return Trial(None, None, 0.0, {}, {"limits": limits, "notes": board.estimate.notes, "span": np.inf})


def shares(units: int, size: int, truth: Sequence[float], icc: float) -> Draw:
    """Systems right or wrong on the same rows."""
    rate = np.asarray(truth, float)
    unit = np.repeat(np.arange(units), size)
    design = strat.Design.simple_random(n=units) if size == 1 else strat.Design.clustered(units=unit)

    def draw(rng: Rng) -> Trial:
        right = (_latent(rng, units, size, len(rate), icc) < ndtri(rate)).astype(float)
        return _trial(many(right, on=design, higher_is_better=True), rate)

    return draw


def seconds(units: int, size: int, truth: Sequence[float], spread: float) -> Draw:
    """Systems that take log-normal times on the same rows; the fastest is chosen by its mean."""
    mean = np.asarray(truth, float)
    design = strat.Design.clustered(units=np.repeat(np.arange(units), size))

    def draw(rng: Rng) -> Trial:
        times = mean * np.exp(spread * _latent(rng, units, size, len(mean), 0.1) - spread**2 / 2)
        return _trial(many(times, on=design, higher_is_better=False), mean, lower=True)

    return draw


def f1(units: int, size: int, truth: Sequence[float], icc: float) -> Draw:
    """F1 of systems that find yes, which is a third of the rows, with these rates, and cry wolf in a tenth."""
    rate = np.asarray(truth, float)
    unit = np.repeat(np.arange(units), size)
    value = 2 * rate / (rate + 0.1 * 2 + 1)  # of hits, calls and rows of yes, all three times as many
    systems = [f"{k:02d}" for k in range(len(rate))]

    def draw(rng: Rng) -> Trial:
        yes = rng.random(len(unit)) < 1 / 3
        said = _latent(rng, units, size, len(rate), icc) < ndtri(np.where(yes[:, None], rate, 0.1))
        table = {"truth": yes.astype(int), "unit": unit} | dict(zip(systems, said.T.astype(int), strict=True))
        board = strat.compare(table, truth="truth", predicted=systems, metrics="f1", positive=1, units="unit").many
        return _trial(board, value[[int(name) for name in board.systems]])

    return draw


SHARES: dict[str, tuple[int, int, Sequence[float], float]] = {
    "5 equal at 0.85, 14 units of 16": (14, 16, (0.85,) * 5, 0.12),
    "3 equal at 0.93, 18 units of 12": (18, 12, (0.93,) * 3, 0.15),
    "7 of 0.92 to 0.97, 20 units of 18": (20, 18, tuple(np.linspace(0.92, 0.97, 7)), 0.1),
    "4 of 0.95 to 0.98, 30 units of 12": (30, 12, tuple(np.linspace(0.95, 0.98, 4)), 0.15),
    "18 of 0.6 to 0.8, 24 units of 11": (24, 11, tuple(np.linspace(0.6, 0.8, 18)), 0.1),
    "8, one best by 0.05, 22 units of 14": (22, 14, (0.75,) * 7 + (0.8,), 0.1),
    "5, one best by 0.1, 28 units of 9": (28, 9, (0.7,) * 4 + (0.8,), 0.15),
    "2 at 0.88 and 0.9, 16 units of 15": (16, 15, (0.88, 0.9), 0.15),
    "10 equal at 0.7, 300 rows": (300, 1, (0.7,) * 10, 0.0),
    "6 of 0.97 to 0.99, 160 rows": (160, 1, tuple(np.linspace(0.97, 0.99, 6)), 0.0),
    "40 of 0.5 to 0.7, 40 units of 10": (40, 10, tuple(np.linspace(0.5, 0.7, 40)), 0.1),
    "12 equal at 0.8, 10 units of 20": (10, 20, (0.8,) * 12, 0.1),
}
OTHERS = {
    "winner, mean seconds of 6 equal systems, 20 units of 12": lambda: seconds(20, 12, (2.0,) * 6, 0.6),
    "winner, mean seconds of 5 systems, 2 to 2.4, 40 units of 6": lambda: seconds(40, 6, np.linspace(2, 2.4, 5), 0.5),
    "winner, F1 of 5 systems with recall 0.75 to 0.85, 25 units of 16": lambda: f1(
        25, 16, np.linspace(0.75, 0.85, 5), 0.1
    ),
}
SCENARIOS = [
    *(Scenario(f"winner, {name}", "winners: shares", name, lambda a=a: shares(*a), ("limits",))
      for name, a in SHARES.items()),
    *(Scenario(name, "winners: other measures", name, make, ("limits",)) for name, make in OTHERS.items()),
]  # fmt: skip
