"""The smallest size that reaches a target, and the curve that leads there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.columns import Array
from strat.planning.assurance import check_assurance
from strat.show.colours import BLUE
from strat.show.figures import new_axes

MOST = 10**9  # rows or units that a plan can ask for
POINTS = 60  # sizes of the curve around a plan


@dataclass(frozen=True, eq=False, repr=False)
class SampleSize(Result):
    """How many of something a target needs, and what every other number would give.

    Parameters
    ----------
    counted
        What `number` counts: "rows", "units", "design samples per class", …
    number
        The smallest that reaches the target.
    measure
        What the target is about: "interval width", "power", "degradation", …
    target
        The wanted value of the measure.
    reached
        The value that `number` gives.
    sizes, values
        The curve: the measure at each size.
    method
        How the measure was computed: "closed form", "first order" (an expansion) or "simulated".
    assurance
        In which share of studies the value is reached at least (None: the measure does not vary between studies).
    """

    counted: str
    number: int
    measure: str
    target: float
    reached: float
    sizes: Array
    values: Array
    method: str = "closed form"
    assurance: float | None = None

    def __str__(self) -> str:
        how = "" if self.method == "closed form" else f", {self.method}"
        return f"{self.number:,} {self.counted} give {self.measure} {self._reached} (wanted: {self.target:.4g}{how})"

    @property
    def _reached(self) -> str:
        in_studies = "" if self.assurance is None else f" or less in {100 * self.assurance:g} % of studies"
        return f"{self.reached:.4g}{in_studies}"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return {
            "counted": self.counted,
            "number": self.number,
            "measure": self.measure,
            "target": self.target,
            "reached": self.reached,
            "method": self.method,
            "assurance": self.assurance,
            "curve": {"size": self.sizes.tolist(), "value": self.values.tolist()},
        }

    def plot(self, ax: Any = None) -> Any:
        """The curve, with the target and the answer marked."""
        axes = new_axes(ax)
        axes.plot(self.sizes, self.values, color=BLUE)
        axes.axhline(self.target, color="#D55E00", linestyle="--", linewidth=1, label="wanted")
        axes.plot([self.number], [self.reached], "o", color="black", label=f"{self.number:,}")
        axes.set_xscale("log")
        axes.set_xlabel(self.counted)
        axes.set_ylabel(self.measure)
        axes.legend(frameon=False)
        return axes


def width_plan(
    counted: str, width: float, measure: Callable[[Array], Array], assurance: float, *, least: int = 1
) -> SampleSize:
    """The smallest size at which the interval is at most so wide in such a share of studies."""
    check_assurance(assurance)
    plan = falling_plan(counted, "interval width", width, measure, least=least, argument="width")
    return replace(plan, assurance=float(assurance))


def falling_plan(
    counted: str,
    name: str,
    target: float,
    measure: Callable[[Array], Array],
    *,
    least: int = 1,
    most: int = MOST,
    argument: str = "target",
) -> SampleSize:
    """The smallest size at which a falling measure is at or below the target; `most`: where the curve ends."""
    return _search(counted, name, target, measure, least, argument, falling=True, most=most)


def rising_plan(
    counted: str, name: str, target: float, measure: Callable[[Array], Array], *, least: int = 1
) -> SampleSize:
    """The smallest size at which a rising measure is at or above the target."""
    return _search(counted, name, target, measure, least, name, falling=False)


def _search(
    counted: str,
    name: str,
    target: float,
    measure: Callable[[Array], Array],
    least: int,
    argument: str,
    *,
    falling: bool,
    most: int = MOST,
) -> SampleSize:
    def good(size: int) -> bool:
        value = measure(np.array([float(size)]))[0]
        return bool(value <= target) if falling else bool(value >= target)

    if not good(MOST):
        reached = measure(np.array([float(MOST)]))[0]
        raise StratError.about(
            argument,
            f"must be reachable, got {target:g}, but {MOST:,} {counted} still give {name} {reached:.3g}; ask for less.",
        )
    low, high = least - 1, least
    while not good(high):
        low, high = high, min(2 * high, MOST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle, high)
    last = min(high * 30, max(most, high))
    sizes = np.unique(np.geomspace(max(least, high / 30), last, POINTS).round())
    return SampleSize(counted, high, name, target, float(measure(np.array([float(high)]))[0]), sizes, measure(sizes))
