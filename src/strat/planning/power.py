"""How many rows and units a comparison needs to detect a difference, and what a pilot study says about both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from strat.base import validate
from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.measures.student import critical
from strat.planning.assurance import ASSURANCE, NOT_PERCENT, mean_width, student
from strat.planning.sample_size import POINTS, SampleSize, rising_plan, width_plan
from strat.planning.width import check_share
from strat.show.colours import BLUE
from strat.show.figures import new_axes


@checked
def rows_for_power(
    *,
    null: float,
    alternative: float,
    power: float = 0.8,
    level: float = 0.95,
    design_effect: float = 1.0,
    share: float = 1.0,
) -> SampleSize:
    """How many rows a test of a share against `null` needs to detect `alternative` with this power.

    `share` is the share of rows that the measure looks at: 1 for accuracy, the prevalence for sensitivity, …

    Examples
    --------
    >>> rows_for_power(null=0.5, alternative=0.6).number
    194
    >>> rows_for_power(null=0.5, alternative=0.6, share=0.1).number
    1939
    """
    validate.share("null", null, open_ends=True, hint=NOT_PERCENT)
    validate.share("alternative", alternative, hint=NOT_PERCENT)
    validate.share("power", power, open_ends=True, hint=NOT_PERCENT)
    deff = validate.positive("design_effect", design_effect) / check_share(share)
    gap = abs(alternative - null)
    if gap == 0:
        raise StratError.about(
            "alternative",
            f"must differ from `null`, got {alternative:g} for both; no number of rows can detect a difference of 0.",
        )
    z = float(critical(level))
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
    share: float = 1.0,
) -> SampleSize:
    """How many rows a paired comparison of two systems needs (McNemar's test) to detect this difference.

    Parameters
    ----------
    difference
        Difference of the two accuracies that must not be missed.
    disagreement
        Share of rows on which exactly one system is right.
    power, level, design_effect
        Wanted power; confidence level of the test; variance relative to independent rows.
    share
        The share of rows that the measure looks at: 1 for accuracy, the prevalence for sensitivity (`difference` and
        `disagreement` are then those among positive rows), …

    Examples
    --------
    >>> paired_rows_for_power(difference=0.05, disagreement=0.20).number
    626
    """
    validate.share("disagreement", disagreement, hint=NOT_PERCENT)
    validate.share("power", power, open_ends=True, hint=NOT_PERCENT)
    gap = abs(_nonzero("difference", difference))
    if gap > disagreement:
        raise StratError.about(
            "difference",
            f"must not exceed `disagreement` ({disagreement:g}), got {difference:g}; two systems can't "
            "differ more than they disagree.",
        )
    deff = validate.positive("design_effect", design_effect) / check_share(share)
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
    share: float = 1.0,
) -> Detectable:
    """The smallest difference of two accuracies that a paired comparison of `rows` rows finds with this power.

    `share` is the share of rows that the measure looks at, as in `paired_rows_for_power`.

    Examples
    --------
    >>> round(detectable_difference(rows=626, disagreement=0.20).difference, 4)
    0.05
    """
    validate.count("rows", rows, least=2, most=10**15)
    validate.share("disagreement", disagreement, open_ends=True, hint=NOT_PERCENT)
    validate.share("power", power, open_ends=True, hint=NOT_PERCENT)
    deff = validate.positive("design_effect", design_effect) / check_share(share)
    measure = _paired_power(disagreement, level, deff)
    top = np.full(1, disagreement)
    if measure(np.array([float(rows)]), top)[0] < power:
        raise StratError.about(
            "rows",
            f"must be more than {rows} to detect any difference at a disagreement of {disagreement:g} with "
            f"power {power:g}; two systems can't differ more than they disagree, so test more rows.",
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


@dataclass(frozen=True, eq=False, repr=False)
class Detectable(Result):
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
        axes.set_ylabel(f"smallest difference detected with power {self.power:g}")
        return axes


@checked
def pilot_units_for_width(
    *, se: float, units: int, width: float, strata: int = 1, level: float = 0.95, assurance: float = ASSURANCE
) -> SampleSize:
    """How many units like those of a pilot study an interval of this width needs.

    The pilot's standard error holds what its rows per unit, its clusters and its prevalence did to the measure; it
    falls with the root of the number of units.

    Parameters
    ----------
    se
        Standard error that `evaluate` or `compare` printed, of a value or of a difference.
    units
        Units of the pilot: rows, patients or questions, whatever was drawn.
    width
        The whole width that is wanted.
    strata, level
        Strata of the design; confidence level.
    assurance
        The share of studies in which the width is to be reached.

    Examples
    --------
    A sensitivity of 698 patients has a standard error of 0.0317, and ± 2 points are wanted.

    >>> pilot_units_for_width(se=0.0317, units=698, width=0.04).number
    6836
    """
    deviation = _pilot(se, units, strata)
    validate.positive("width", width)

    def measure(sizes: Array) -> Array:
        return mean_width(deviation / np.sqrt(sizes), sizes - strata, level, assurance)

    return width_plan("units", width, measure, assurance, least=strata + 1)


@checked
def pilot_units_for_power(
    *, se: float, units: int, difference: float, power: float = 0.8, strata: int = 1, level: float = 0.95
) -> SampleSize:
    """How many units like those of a pilot study find this difference with this power.

    `se` is the standard error of the difference (paired, where both systems met the same items) in a pilot of `units`
    units; no share of disagreement is needed, and scores may be of any kind.

    Examples
    --------
    Two models on 568 questions: a difference of 2 points, standard error 0.011.

    >>> pilot_units_for_power(se=0.011, units=568, difference=0.02).number
    1351
    """
    deviation = _pilot(se, units, strata)
    return plan_for_power(
        deviation, difference, power=power, level=level, df=lambda sizes: sizes - strata, least=strata + 1
    )


def plan_for_power(
    deviation: float,
    difference: float,
    *,
    power: float,
    level: float,
    df: Callable[[Array], Array],
    least: int,
) -> SampleSize:
    """The units that find a difference, where one unit's part has this standard deviation and df grow with units."""
    gap = abs(_nonzero("difference", difference))
    validate.share("power", power, open_ends=True, hint=NOT_PERCENT)

    def measure(sizes: Array) -> Array:
        return _power(gap * np.sqrt(sizes) / deviation - student(level, df(sizes)), 1.0)

    return rising_plan("units", "power", power, measure, least=least)


def _pilot(se: float, units: int, strata: int) -> float:
    """The standard deviation of one unit's part in a pilot."""
    validate.positive("se", se)
    validate.count("strata", strata, least=1)
    validate.count("units", units, least=strata + 1)
    return se * float(np.sqrt(units))


def _paired_power(disagreement: float, level: float, deff: float) -> Callable[[Array, Array], Array]:
    # McNemar's test: variance `disagreement` under no difference, disagreement - difference² otherwise
    z = float(critical(level))

    def power(rows: Array, gap: Array) -> Array:
        spread = np.sqrt(np.maximum(disagreement - gap**2, 0))
        return _power(gap * np.sqrt(rows / deff) - z * np.sqrt(disagreement), spread)

    return power


def _power(excess: Array, spread: float | Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(np.asarray(spread) > 0, ndtr(excess / spread), excess >= 0), dtype=float)


def _nonzero(argument: str, value: float) -> float:
    if not value or not np.isfinite(value):
        raise StratError.about(
            argument, f"must not be zero, got {value!r}; no number of rows can detect a difference of 0."
        )
    return value
