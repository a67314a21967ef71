"""How many rows, units, strata, repeats and design samples a wanted answer needs: a number and its curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from strat.colours import BLUE
from strat.columns import Array
from strat.doors import checked
from strat.errors import StratError
from strat.notebook import in_words
from strat.theory.finite_samples import (
    HoldoutMoments,
    holdout_moments,
    linear_degradation,
    quadratic_degradation,
)
from strat.theory.pictures import new_axes

MOST = 10**9
POINTS = 60


@in_words
@dataclass(frozen=True, eq=False)
class Plan:
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
    """

    counted: str
    number: int
    measure: str
    target: float
    reached: float
    sizes: Array
    values: Array

    def __str__(self) -> str:
        return f"{self.number:,} {self.counted} give {self.measure} {self.reached:.4g} (wanted: {self.target:.4g})"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return {
            "counted": self.counted,
            "number": self.number,
            "measure": self.measure,
            "target": self.target,
            "reached": self.reached,
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


@checked
def rows_for_width(*, width: float, proportion: float, level: float = 0.95, design_effect: float = 1.0) -> Plan:
    """How many rows a share needs for an interval of this width (Wilson's, which stays in [0, 1]).

    Parameters
    ----------
    width
        The whole width, upper less lower limit.
    proportion
        The share that is expected: an accuracy, an error rate.
    level
        Of the interval.
    design_effect
        The variance relative to independent rows, from a pilot or 1 + (rows per unit - 1)·intraclass correlation.

    Examples
    --------
    The known 385 for ± 5 points at one half is Wald's; Wilson's interval needs 4 rows less.

    >>> print(rows_for_width(width=0.10, proportion=0.5))
    381 rows give interval width 0.09991 (wanted: 0.1)
    >>> rows_for_width(width=0.10, proportion=0.5, design_effect=3).number
    1141
    """
    _between("proportion", proportion, 0, 1)
    _positive("width", width)
    z = _two_sided(level)
    deff = _positive("design_effect", design_effect)

    def measure(rows: Array) -> Array:
        n = rows / deff
        return 2 * z * np.sqrt(proportion * (1 - proportion) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)

    return falling_plan("rows", "interval width", width, measure, argument="width")


@checked
def rows_for_mean(*, width: float, deviation: float, level: float = 0.95, design_effect: float = 1.0) -> Plan:
    """How many rows a mean needs for an interval of this width, at a known standard deviation of rows.

    Examples
    --------
    >>> rows_for_mean(width=0.5, deviation=1.0).number
    64
    """
    _positive("width", width)
    _positive("deviation", deviation)
    deff = _positive("design_effect", design_effect)

    def measure(rows: Array) -> Array:
        return 2 * _t(level, rows - 1) * deviation * np.sqrt(deff / rows)

    return falling_plan("rows", "interval width", width, measure, least=2, argument="width")


@checked
def units_for_width(
    *,
    width: float,
    proportion: float,
    rows_per_unit: float,
    intraclass: float,
    strata: int = 1,
    level: float = 0.95,
) -> Plan:
    """How many units (subjects, passages), spread evenly over strata, a share needs for this interval width.

    The design effect is 1 + (b - 1)·ρ (Kish), the degrees of freedom units - strata.

    Examples
    --------
    >>> plan = units_for_width(width=0.1, proportion=0.8, rows_per_unit=20, intraclass=0.3)
    >>> plan.number
    85
    """
    _between("proportion", proportion, 0, 1, open_ends=True)
    _positive("width", width)
    deff = kish(rows_per_unit, intraclass)
    _whole("strata", strata, 1)

    def measure(each: Array) -> Array:
        units = each * strata
        variance = proportion * (1 - proportion) * deff / (units * rows_per_unit)
        return 2 * _t(level, units - strata) * np.sqrt(variance)

    plan = falling_plan("units", "interval width", width, measure, least=2, argument="width")
    return _times(plan, strata, "units")


@checked
def strata_for_width(*, width: float, deviation: float, units_per_stratum: int = 2, level: float = 0.95) -> Plan:
    """How many strata of a fixed number of units a mean needs for this interval width.

    `deviation` is that of unit means within a stratum. Degrees of freedom: units - strata.

    Examples
    --------
    >>> strata_for_width(width=0.1, deviation=0.2).number
    34
    """
    _positive("width", width)
    _positive("deviation", deviation)
    _whole("units_per_stratum", units_per_stratum, 2)

    def measure(strata: Array) -> Array:
        df = strata * (units_per_stratum - 1)
        return 2 * _t(level, df) * deviation / np.sqrt(strata * units_per_stratum)

    return falling_plan("strata", "interval width", width, measure, argument="width")


@checked
def rows_per_unit_for_width(
    *, width: float, proportion: float, units: int, intraclass: float, strata: int = 1, level: float = 0.95
) -> Plan:
    """How many rows each of a fixed number of units must give; past a point more rows say nothing new.

    Examples
    --------
    >>> rows_per_unit_for_width(width=0.06, proportion=0.8, units=100, intraclass=0.1).number
    21
    """
    _between("proportion", proportion, 0, 1, open_ends=True)
    _positive("width", width)
    _whole("units", units, strata + 1)
    kish(1.0, intraclass)
    t = float(_t(level, np.array([units - strata]))[0])

    def measure(rows: Array) -> Array:
        deff = 1 + (rows - 1) * intraclass
        return 2 * t * np.sqrt(proportion * (1 - proportion) * deff / (units * rows))

    floor = 2 * t * np.sqrt(proportion * (1 - proportion) * intraclass / units)
    if width <= floor:
        raise StratError(
            f"`width` must be above {floor:.4g} with {units} units at intraclass correlation {intraclass:g}, got "
            f"{width:g}; no number of rows per unit reaches it, so draw more units."
        )
    return falling_plan("rows per unit", "interval width", width, measure, argument="width")


@checked
def repeats_for_width(*, width: float, items: int, between: float, within: float, level: float = 0.95) -> Plan:
    """How many repeated runs of each item a mean over items needs for this interval width.

    Parameters
    ----------
    width
        The whole width.
    items
        Number of items, which are a sample of items of their kind.
    between, within
        Standard deviations of item means and of repeats within an item.
    level
        Of the interval.

    Examples
    --------
    >>> repeats_for_width(width=0.1, items=400, between=0.4, within=0.4).number
    2
    """
    _positive("width", width)
    _whole("items", items, 2)
    t = float(_t(level, np.array([items - 1.0]))[0])

    def measure(repeats: Array) -> Array:
        return 2 * t * np.sqrt((between**2 + within**2 / repeats) / items)

    floor = 2 * t * between / np.sqrt(items)
    if width <= floor:
        needed = int(np.ceil((2 * t * between / width) ** 2)) + 1
        raise StratError(
            f"`width` must be above {floor:.4g} with {items} items, got {width:g}; repeats can't reach it because "
            f"items differ, so use more items (at least {needed})."
        )
    return falling_plan("repeats per item", "interval width", width, measure, argument="width")


@checked
def rows_for_power(
    *, null: float, alternative: float, power: float = 0.8, level: float = 0.95, design_effect: float = 1.0
) -> Plan:
    """How many rows a test of a share against `null` needs to detect `alternative` with this power.

    Examples
    --------
    >>> rows_for_power(null=0.5, alternative=0.6).number
    194
    """
    _between("null", null, 0, 1, open_ends=True)
    _between("alternative", alternative, 0, 1)
    _between("power", power, 0, 1, open_ends=True)
    deff = _positive("design_effect", design_effect)
    gap = abs(alternative - null)
    if gap == 0:
        raise StratError(
            f"`alternative` must differ from `null`, got {alternative:g} for both; no number of rows finds no "
            "difference."
        )
    z = _two_sided(level)
    root0, root1 = np.sqrt(null * (1 - null)), np.sqrt(alternative * (1 - alternative))

    def measure(rows: Array) -> Array:
        return _power((gap * np.sqrt(rows / deff) - z * root0), root1)

    return rising_plan("rows", "power", power, measure)


@checked
def paired_rows_for_power(
    *,
    difference: float,
    disagreement: float,
    power: float = 0.8,
    level: float = 0.95,
    design_effect: float = 1.0,
) -> Plan:
    """How many rows a paired comparison of two systems needs (McNemar's test) to find this difference.

    Parameters
    ----------
    difference
        Difference of the two accuracies that must not be missed.
    disagreement
        Share of rows on which exactly one system is right.
    power, level, design_effect
        Wanted power; confidence level of the test; variance relative to independent rows.

    Examples
    --------
    >>> paired_rows_for_power(difference=0.05, disagreement=0.20).number
    626
    """
    _between("disagreement", disagreement, 0, 1)
    _between("power", power, 0, 1, open_ends=True)
    gap = abs(_nonzero("difference", difference))
    if gap > disagreement:
        raise StratError(
            f"`difference` must not exceed `disagreement` ({disagreement:g}), got {difference:g}; two systems can't "
            "differ more than they disagree."
        )
    deff = _positive("design_effect", design_effect)
    measure = _paired_power(disagreement, level, deff)
    return rising_plan("rows", "power", power, lambda rows: measure(rows, np.full_like(rows, gap)))


@checked
def detectable_difference(
    *,
    rows: int,
    disagreement: float,
    power: float = 0.8,
    level: float = 0.95,
    design_effect: float = 1.0,
) -> Detectable:
    """The smallest difference of two accuracies that a paired comparison of `rows` rows finds with this power.

    Examples
    --------
    >>> round(detectable_difference(rows=626, disagreement=0.20).difference, 4)
    0.05
    """
    _whole("rows", rows, 2)
    _between("disagreement", disagreement, 0, 1, open_ends=True)
    _between("power", power, 0, 1, open_ends=True)
    deff = _positive("design_effect", design_effect)
    measure = _paired_power(disagreement, level, deff)
    top = np.full(1, disagreement)
    if measure(np.array([float(rows)]), top)[0] < power:
        raise StratError(
            f"`rows` must be more than {rows} to find any difference at a disagreement of {disagreement:g} with "
            f"power {power:g}; two systems can't differ more than they disagree, so test more rows."
        )
    sizes = np.unique(np.geomspace(max(2, rows / 20), rows * 20, POINTS).round())
    low, high = np.zeros(len(sizes) + 1), np.full(len(sizes) + 1, disagreement)
    every = np.append(sizes, rows).astype(float)
    for _ in range(60):
        middle = (low + high) / 2
        enough = measure(every, middle) >= power
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    reachable = measure(every, np.full(len(every), disagreement)) >= power
    values = np.where(reachable, high, np.nan)
    return Detectable(rows, float(values[-1]), power, sizes[reachable[:-1]], values[:-1][reachable[:-1]])


@in_words
@dataclass(frozen=True, eq=False)
class Detectable:
    """The smallest detectable difference at a number of rows, and at others."""

    rows: int
    difference: float
    power: float
    sizes: Array
    values: Array

    def __str__(self) -> str:
        return f"{self.rows:,} rows find a difference of {self.difference:.4g} with power {self.power:.4g}"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        curve = {"size": self.sizes.tolist(), "value": self.values.tolist()}
        return {"rows": self.rows, "difference": self.difference, "power": self.power, "curve": curve}

    def plot(self, ax: Any = None) -> Any:
        """Smallest detectable difference against rows."""
        axes = new_axes(ax)
        axes.plot(self.sizes, self.values, color=BLUE)
        axes.plot([self.rows], [self.difference], "o", color="black")
        axes.set_xscale("log")
        axes.set_xlabel("rows")
        axes.set_ylabel(f"smallest difference found with power {self.power:g}")
        return axes


@in_words
@dataclass(frozen=True, eq=False)
class Split:
    """A split of the samples of each class into design and test, and every other one (F&H II-D)."""

    design: int
    test: int
    moments: HoldoutMoments
    sizes: Array
    degradations: Array
    standard_errors: Array

    def __str__(self) -> str:
        return (
            f"design on {self.design}, test on {self.test} of {self.design + self.test} samples per class: "
            f"degradation {self.moments.degradation:.4f}, standard error {self.moments.se:.4f}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        curve = {
            "design": self.sizes.tolist(),
            "degradation": self.degradations.tolist(),
            "standard_error": self.standard_errors.tolist(),
        }
        numbers = {"degradation": self.moments.degradation, "standard_error": self.moments.se}
        return {"design": self.design, "test": self.test, **numbers, "curve": curve}

    def plot(self, ax: Any = None) -> Any:
        """Bias, standard error and their root mean square against the size of the design set."""
        axes = new_axes(ax)
        axes.plot(self.sizes, self.degradations, color=BLUE, label="bias (design set)")
        axes.plot(self.sizes, self.standard_errors, color="#E69F00", linestyle="--", label="se (test set)")
        both = np.hypot(self.degradations, self.standard_errors)
        axes.plot(self.sizes, both, color="#009E73", linestyle="-.", label="root mean square")
        axes.axvline(self.design, color="black", linewidth=0.8)
        axes.set_xlabel("design samples per class")
        axes.set_ylabel("error of the hold-out estimate")
        axes.set_ylim(0, 2.5 * both.min())
        axes.legend(frameon=False)
        return axes


@checked
def design_test_split(*, samples: int, features: int, distance: float, linear: bool = False) -> Split:
    """How to divide each class's samples between design and test: least mean squared error of the hold-out.

    The bias comes from the design set and the variance from the test set, F&H (27) and (33).

    Examples
    --------
    >>> split = design_test_split(samples=200, features=8, distance=2.5631)
    >>> split.design, split.test
    (104, 96)
    """
    least = int(np.ceil((features + 2) / 2)) if linear else features + 1
    if samples < least + 1:
        raise StratError(
            f"`samples` must be at least {least + 1} per class for {features} features, got {samples}; the classifier "
            "can't be designed and tested on fewer."
        )
    sizes = np.unique(np.linspace(least, samples - 1, min(samples - least, 2000)).round()).astype(int)
    moments = [
        holdout_moments(
            features=features, distance=distance, design_samples=int(d), test_samples=samples - int(d), linear=linear
        )
        for d in sizes
    ]
    best = int(np.argmin([m.rmse for m in moments]))
    return Split(
        int(sizes[best]),
        samples - int(sizes[best]),
        moments[best],
        sizes.astype(float),
        np.array([m.degradation for m in moments]),
        np.array([m.se for m in moments]),
    )


@checked
def design_samples_for(*, degradation: float, features: int, distance: float, linear: bool = False) -> Plan:
    """How many design samples per class bring a classifier's degradation below a wanted size, by F&H's theory.

    Examples
    --------
    Table I at n = 8: 400 samples per class leave 0.41 points.

    >>> design_samples_for(degradation=0.0042, features=8, distance=2.5631).number
    395
    """
    _positive("degradation", degradation)
    function = linear_degradation if linear else quadratic_degradation
    least = int(np.ceil((features + 2) / 2)) if linear else features + 1

    def measure(sizes: Array) -> Array:
        each = [function(features=features, design_samples=float(s), distance=distance) for s in sizes]
        return np.array(each)

    return falling_plan(
        "design samples per class", "degradation", degradation, measure, least=least, argument="degradation"
    )


@checked
def kish(rows_per_unit: float, intraclass: float) -> float:
    """The design effect 1 + (b - 1)·ρ of units of b rows with intraclass correlation ρ.

    Examples
    --------
    >>> kish(20, 0.3)
    6.7
    """
    if not 1 <= rows_per_unit <= 1e15:
        raise StratError(
            f"`rows_per_unit` must be at least 1 and at most 1e15, got {rows_per_unit!r}; it is an average count."
        )
    if not 0 <= intraclass <= 1:
        raise StratError(f"`intraclass` must be between 0 and 1, got {intraclass!r}; it is a correlation.")
    return round(1 + (rows_per_unit - 1) * intraclass, 12)


def falling_plan(
    counted: str,
    name: str,
    target: float,
    measure: Callable[[Array], Array],
    *,
    least: int = 1,
    argument: str = "target",
) -> Plan:
    """The smallest size at which a falling measure is at or below the target."""
    return _search(counted, name, target, measure, least, argument, falling=True)


def rising_plan(counted: str, name: str, target: float, measure: Callable[[Array], Array], *, least: int = 1) -> Plan:
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
) -> Plan:
    def good(size: int) -> bool:
        value = measure(np.array([float(size)]))[0]
        return bool(value <= target) if falling else bool(value >= target)

    if not good(MOST):
        reached = measure(np.array([float(MOST)]))[0]
        raise StratError(
            f"`{argument}` must be reachable, got {target:g}, but {MOST:,} {counted} still give {name} "
            f"{reached:.3g}; ask for less."
        )
    low, high = least - 1, least
    while not good(high):
        low, high = high, min(2 * high, MOST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle, high)
    sizes = np.unique(np.geomspace(max(least, high / 30), max(high * 30, least + 10), POINTS).round())
    return Plan(counted, high, name, target, float(measure(np.array([float(high)]))[0]), sizes, measure(sizes))


def _times(plan: Plan, factor: int, counted: str) -> Plan:
    return Plan(
        counted,
        plan.number * factor,
        plan.measure,
        plan.target,
        plan.reached,
        plan.sizes * factor,
        plan.values,
    )


def _paired_power(disagreement: float, level: float, deff: float) -> Callable[[Array, Array], Array]:
    # McNemar's test: variance `disagreement` under no difference, disagreement - difference² otherwise
    z = _two_sided(level)

    def power(rows: Array, gap: Array) -> Array:
        spread = np.sqrt(np.maximum(disagreement - gap**2, 0))
        return _power(gap * np.sqrt(rows / deff) - z * np.sqrt(disagreement), spread)

    return power


def _power(excess: Array, spread: float | Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(np.asarray(spread) > 0, ndtr(excess / spread), excess >= 0), dtype=float)


def _two_sided(level: float) -> float:
    _between("level", level, 0, 1, open_ends=True)
    return float(ndtri((1 + level) / 2))


def _t(level: float, df: Array) -> Array:
    _between("level", level, 0, 1, open_ends=True)
    return np.where(df > 0, stdtrit(np.maximum(df, 1e-9), (1 + level) / 2), np.inf)


def _between(argument: str, value: float, low: float, high: float, *, open_ends: bool = False) -> None:
    inside = low < value < high if open_ends else low <= value <= high
    if not inside:
        word = "strictly between" if open_ends else "between"
        raise StratError(f"`{argument}` must be {word} {low:g} and {high:g}, got {value!r}; use a share, not percent.")


def _positive(argument: str, value: float) -> float:
    if not 1e-100 < value < 1e100:  # squares stay numbers
        raise StratError(f"`{argument}` must be positive, got {value!r}; nothing reaches zero or squares beyond 1e200.")
    return value


def _nonzero(argument: str, value: float) -> float:
    if not value or not np.isfinite(value):
        raise StratError(f"`{argument}` must not be zero, got {value!r}; no number of rows finds no difference.")
    return value


def _whole(argument: str, value: int, least: int) -> None:
    if not least <= value <= 1 << 53 or value != int(value):
        raise StratError(f"`{argument}` must be a whole number of at least {least} and at most 2^53, got {value!r}.")
