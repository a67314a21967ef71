"""Two systems on the same rows in 4 to 28 units: nearly the same, different by unit, or with a bad kind of unit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import strat
from strat.comparison import paired
from strat.comparison.paired_shares import FewUnitsScore

from ..trials import Array, Draw, Rng, Scenario, Trial

Chances = Callable[[Rng, int], tuple[Array, Array]]


def same(first: float, second: float) -> tuple[float, Chances]:
    """Only the first, or only the second is right with these chances, in all units."""
    return first - second, lambda rng, k: (np.full(k, first), np.full(k, second))


def by_unit(chance: float, spread: float) -> tuple[float, Chances]:
    """Units favour one or the other."""

    def chances(rng: Rng, k: int) -> tuple[Array, Array]:
        away = spread * rng.uniform(-1.0, 1.0, k)
        return chance + away, chance - away

    return 0.0, chances


def bad_kind(share: float, loss: float, chance: float = 0.02) -> tuple[float, Chances]:
    """In a share of the units the first system loses much more."""
    target = (1.0 - share) * 0.0 + share * (chance - loss)
    return target, lambda rng, k: (np.full(k, chance), np.where(rng.random(k) < share, loss, chance))


def in_units(sizes: int | tuple[int, ...], units: int, kind: tuple[float, Chances]) -> Draw:
    """The difference, value ± t · se, and the second interval where the note gives one."""
    target, chances = kind
    unit = np.repeat(np.arange(units), np.resize(np.atleast_1d(sizes), units))
    design = strat.Design.clustered(units=unit)

    def draw(rng: Rng) -> Trial:
        first, second = (p[unit] for p in chances(rng, units))
        u = rng.random(len(unit))
        alone, other = u < first, (u >= first) & (u < first + second)
        both = rng.random(len(unit)) < 0.85
        a, b = ((alone | (both & ~other)).astype(float), (other | (both & ~alone)).astype(float))
        one = paired(strat.proportion(a), strat.proportion(b), on=design, higher_is_better=True)
        score = one.discordance.of_first_two(float(one.difference.variance), one.df)
        assert isinstance(score, FewUnitsScore)
        limits = {"default": one.interval(), "t": tuple(float(v) for v in one.difference.interval())}
        noted = score.calm and not score.still
        limits["with one more unit, where noted"] = score.with_one_more(*one.interval()) if noted else one.interval()
        extra = {"estimate": one.difference, "span": 2.0, "limits": limits}
        return Trial(None, design, target, {}, extra)

    return draw


PAIRS: dict[str, Callable[[], Draw]] = {
    "7 units of 35, 1 % and 1 %": lambda: in_units(35, 7, same(0.01, 0.01)),
    "4 units of 45, 2 % and 2 %": lambda: in_units(45, 4, same(0.02, 0.02)),
    "22 units of 14, 1.5 % and 1.5 %": lambda: in_units(14, 22, same(0.015, 0.015)),
    "11 units of 20, 9 % and 2 %": lambda: in_units(20, 11, same(0.09, 0.02)),
    "9 units of 5 to 60, 6 % and 3 %": lambda: in_units((5, 10, 20, 40, 60), 9, same(0.06, 0.03)),
    "8 units of 30, which differ": lambda: in_units(30, 8, by_unit(0.12, 0.1)),
    "16 units of 18, which differ": lambda: in_units(18, 16, by_unit(0.15, 0.12)),
    "26 units of 10, which differ": lambda: in_units(10, 26, by_unit(0.15, 0.12)),
    "13 units of 20, one in ten loses .45": lambda: in_units(20, 13, bad_kind(0.1, 0.45)),
    "19 units of 15, one in ten loses .4": lambda: in_units(15, 19, bad_kind(0.1, 0.4)),
    "24 units of 12, one in twelve loses .5": lambda: in_units(12, 24, bad_kind(1 / 12, 0.5)),
    "16 units of 25, one in eight loses .3": lambda: in_units(25, 16, bad_kind(1 / 8, 0.3)),
}

SCENARIOS = [
    Scenario(f"difference in few units, {name}", "differences in few units", name, make, ("limits",))
    for name, make in PAIRS.items()
]  # fmt: skip
