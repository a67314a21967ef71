"""How many levels of crossed factors (readers, cases, settings, training runs) an interval of a wanted width takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from strat.base import validate
from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.estimation.components import VarianceComponents

MOST_LEVELS = 10_000_000  # of a factor that a plan can ask for


@dataclass(frozen=True, eq=False, repr=False)
class LevelPlan(Result):
    """Levels of crossed factors for an interval of a wanted width.

    Attributes
    ----------
    components
        The variance components of the pilot.
    width, level
        The wanted width, and the confidence level.
    alone
        From each factor to the levels that it needs if the others stay as they are (None: no number of them suffices).
    limits
        From each factor to the width that it approaches with ever more levels, the others staying as they are.
    together
        From each factor to its levels if all grow by the same factor.
    """

    components: VarianceComponents
    width: float
    level: float
    alone: dict[str, int | None]
    limits: dict[str, float]
    together: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return {
            "width": self.width,
            "level": self.level,
            "pilot": self.components.to_dict(),
            "pilot_width": self.components.interval_width(self.level),
            "alone": self.alone,
            "limits": self.limits,
            "together": self.together,
        }

    def __str__(self) -> str:
        """The answers as a sentence."""
        enough = [
            f"{number:,} levels of {name!r} (now {self.components.levels[name]:,}), the others as they are"
            for name, number in self.alone.items()
            if number is not None
        ]
        enough.append(" and ".join(f"{number:,} of {name!r}" for name, number in self.together.items()))
        short = [f"{name!r} ({self.limits[name]:.4g})" for name, number in self.alone.items() if number is None]
        ends = f"; more levels of one alone never reach it: {', '.join(short)}" if short else ""
        return f"interval width {self.width:.4g} takes {'; or '.join(enough)}{ends}"


@checked
def levels_for_width(components: VarianceComponents, *, width: float, level: float = 0.95) -> LevelPlan:
    """How many levels of each factor an interval of this width takes, by the variance components of a pilot.

    The width is that of value ± t · se, with Satterthwaite's degrees of freedom of so many levels; components of few
    levels are hardly known, and so is what follows from them (`components.intervals()`).

    Examples
    --------
    >>> from strat.designs import Design
    >>> from strat.estimation.components import variance_components
    >>> from strat.measures import mean
    >>> y = [1.0, 2.0, 6.0, 3.0, 2.0, 4.0, 9.0, 5.0]
    >>> pilot = Design.crossed({"reader": [1, 1, 1, 1, 2, 2, 2, 2], "case": [1, 2, 3, 4, 1, 2, 3, 4]})
    >>> plan = levels_for_width(variance_components(mean(y), on=pilot), width=3.0)
    >>> plan.alone, plan.together
    ({'reader': None, 'case': None}, {'reader': 10, 'case': 20})
    """
    validate.positive("width", width)
    validate.level(level)
    if components.se == 0:
        raise StratError.about("components", "must have a standard error, got 0: nothing varied in the pilot.")

    def wide(levels: dict[str, int]) -> bool:
        return components.interval_width(level, **levels) > width

    now = components.levels
    limits = {name: components.interval_width(level, **{name: MOST_LEVELS}) for name in now}
    alone = {name: _fewest(lambda n, name=name: wide({name: n}), 2) for name in now}
    times = _fewest(lambda m: wide({name: math.ceil(number * m / 100) for name, number in now.items()}), 1)
    if times is None:
        raise StratError.about(
            "width", f"must be within reach of {MOST_LEVELS:,} levels, got {width:g}; ask for a wider one."
        )
    together = {name: max(2, math.ceil(number * times / 100)) for name, number in now.items()}
    return LevelPlan(components, width, level, alone, limits, together)


def _fewest(too_wide: Any, low: int) -> int | None:
    """The least number from `low` on that is enough, by doubling and halving (None: not even the most are)."""
    if not too_wide(low):
        return low
    high = 2 * low
    while too_wide(high):
        low, high = high, 2 * high
        if low > MOST_LEVELS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if too_wide(middle) else (low, middle)
    return high
