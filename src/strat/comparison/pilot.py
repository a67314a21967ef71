"""Planning from a result: how many units like those of a pilot reach a width or a power."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.special import ndtri

from strat.base import validate
from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.comparison.paired_result import Comparison
from strat.designs.facts import DesignFacts
from strat.estimation import Estimate
from strat.measures.base import Axis
from strat.planning.assurance import ASSURANCE, POINTS, check_assurance, error_factor
from strat.planning.power import plan_for_power
from strat.planning.sample_size import SampleSize, width_plan

DEGREES = 2.0  # degrees of freedom below which nothing is planned


@dataclass(frozen=True, eq=False, repr=False)
class PilotSampleSize(SampleSize):
    """How many units like those of a pilot a target needs.

    Attributes
    ----------
    pilot_units, rows_per_unit
        Units of the pilot, and how many rows each of them had on average (NaN: not known).
    """

    pilot_units: int = 0
    rows_per_unit: float = math.nan

    @property
    def units(self) -> int:
        """Number of units."""
        return self.number

    @property
    def rows(self) -> int | None:
        """Number of rows, if units have as many as in the pilot (None where that is not known)."""
        return math.ceil(self.number * self.rows_per_unit - 1e-9) if math.isfinite(self.rows_per_unit) else None

    def __str__(self) -> str:
        """The answer as a sentence."""
        rows = "" if self.rows in (None, self.units) else f" (about {self.rows:,} rows)"
        return (
            f"{self.units:,} units{rows} like the {self.pilot_units:,} of the pilot give {self.measure} "
            f"{self._reached} (wanted: {self.target:.4g})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return {**super().to_dict(), "units": self.units, "rows": self.rows, "pilot_units": self.pilot_units}


@checked
def units_for(
    pilot: Estimate | Comparison,
    *,
    width: float | None = None,
    power: float | None = None,
    difference: float | None = None,
    level: float = 0.95,
    assurance: float = ASSURANCE,
) -> PilotSampleSize:
    """How many units like those of a pilot an interval of this width needs, or a test of this power.

    The pilot's variance holds what clusters, prevalence, weights and pairing did to the measure; it falls with the
    number of units (patients, questions, rows: whatever was drawn; of stages, those of the first). The width is that of
    the interval which is printed, on its own scale.

    Parameters
    ----------
    pilot
        An estimate, such as ``strat.evaluate(…)["accuracy"]``, or a comparison of two systems.
    width
        The whole width of the interval that is wanted: 0.04 for ± 2 points.
    power, difference
        The probability of finding a difference, and the difference that matters; the one that the comparison found by
        default, which tends to be too large.
    level
        Confidence level of the interval and of the two-sided test.
    assurance
        The share of studies in which the width is to be reached.

    Examples
    --------
    Twenty patients of two images each, and an accuracy of 0.8:

    >>> from strat.designs import Design
    >>> from strat.estimation import estimate
    >>> from strat.measures import proportion
    >>> right = [1] * 28 + [0, 1] * 4 + [0] * 4
    >>> pilot = estimate(proportion(right), on=Design.clustered(units=[i // 2 for i in range(40)]))
    >>> plan = units_for(pilot, width=0.1)  # reached in 80 % of studies
    >>> plan.units, plan.rows, round(plan.reached, 4)
    (196, 392, 0.1)
    """
    validate.level(level)
    if (width is None) == (power is None):
        raise StratError.about(
            "width", "(of an interval) or `power` (to detect a difference) must be given, and not both."
        )
    estimate, units = _single(pilot)
    if width is not None:
        if difference is not None:
            raise StratError.about(
                "difference", f"must be left out for a width, got {difference!r}; it goes with `power`."
            )
        return _made(_for_width(estimate, units, width, level, assurance), estimate, units)
    assert power is not None
    return _made(_for_power(pilot, estimate, units, power, difference, level), estimate, units)


def _single(pilot: Estimate | Comparison) -> tuple[Estimate, int]:
    """The one number of a pilot, and how many units it rests on."""
    single = pilot.difference if isinstance(pilot, Comparison) else pilot
    if single.point.ndim:
        raise StratError.about(
            "pilot", f"must be a single number, got {single.name} of shape {single.point.shape}; use .at(…)."
        )
    if not (single.se > 0 and single.least_df > 0):
        raise StratError.about(
            "pilot",
            f"must have a standard error, got {single.se:g} for {single.name}: where nothing varied, or "
            "nothing was sampled, nothing can be planned from it; see strat.planning.units_for_width for an "
            "expected share.",
        )
    if single.design.kind == "crossed":
        raise StratError.about(
            "pilot",
            "must not be of a crossed design, whose variance falls with the levels of each factor in its own "
            "way; see strat.planning.levels_for_width.",
        )
    return single, _drawn(single.design) if isinstance(pilot, Estimate) or pilot.paired else pilot.units


def _drawn(facts: DesignFacts) -> int:
    """What the variance falls with the number of: units, of a layout those named first (of the first stage)."""
    return facts.units if facts.layout is None else facts.layout.parts[0][1]


def _for_width(pilot: Estimate, units: int, width: float, level: float, assurance: float) -> SampleSize:
    validate.positive("width", width)
    check_assurance(assurance)
    span = pilot.bounds[1] - pilot.bounds[0]
    if width >= span:
        raise StratError.about("width", f"must be less than the whole range of {pilot.name} ({span:g}), got {width:g}.")

    def measure(sizes: Array) -> Array:
        low, high = _found_in_studies(pilot, sizes / units).interval(level)
        widths = (np.asarray(high) - np.asarray(low)).reshape(len(sizes), -1)
        return np.asarray(np.quantile(widths, assurance, axis=1))

    return width_plan("units", width, measure, assurance, least=_least(pilot, units))


def _found_in_studies(pilot: Estimate, times: Array) -> Estimate:
    """What studies of so many times the pilot's units find: values about the pilot's, and standard errors about its."""
    middle = (np.arange(POINTS) + 0.5) / POINTS
    t = times[:, None, None]
    spread = float(pilot.se) / np.sqrt(t)
    value = np.clip(float(pilot.value) + spread * ndtri(middle)[:, None], *_inside(pilot))
    variance = (spread * error_factor(pilot.least_df * t, middle)) ** 2
    value, variance, t = (v.ravel() for v in np.broadcast_arrays(value, variance, t))
    return pilot.changed(
        point=value,
        spread=None,
        variance=variance,
        df=pilot.least_df * t,
        effective_units=np.min(pilot.effective_units) * t,
        axes=(Axis("study", tuple(range(len(value)))),),
        srs=None,
        woodruff=None,
        monotone=0,
    )


def _inside(pilot: Estimate) -> tuple[float, float]:
    """The range of the value less its ends, where no interval of a pilot's kind is."""
    low, high = pilot.bounds
    hair = 1e-9 * (high - low) if math.isfinite(high - low) else 0.0
    return low + hair, high - hair


def _for_power(
    pilot: Estimate | Comparison, estimate: Estimate, units: int, power: float, difference: float | None, level: float
) -> SampleSize:
    if difference is None and isinstance(pilot, Estimate):
        raise StratError.about(
            "difference", "must say how large a difference from the null value is to be found, got None."
        )
    wanted = float(estimate.value) if difference is None else difference
    return plan_for_power(
        float(estimate.se) * math.sqrt(units),
        wanted,
        power=power,
        level=level,
        df=lambda sizes: sizes * (estimate.least_df / units),
        least=_least(estimate, units),
    )


def _least(pilot: Estimate, units: int) -> int:
    """The fewest units that leave enough degrees of freedom, as the pilot had them per unit."""
    return max(2, math.ceil(DEGREES * units / pilot.least_df))


def _made(plan: SampleSize, pilot: Estimate, units: int) -> PilotSampleSize:
    known = {f.name: getattr(plan, f.name) for f in fields(SampleSize)}
    return PilotSampleSize(**known, pilot_units=units, rows_per_unit=pilot.design.rows / units if units else math.nan)
