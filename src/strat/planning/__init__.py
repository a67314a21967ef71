"""How many rows, clusters, repeats or design samples a wanted precision or power takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strat.base.elsewhere import answers_for
from strat.planning.allocation import Allocation, neyman_allocation
from strat.planning.boundaries import StratumBoundaries, stratum_boundaries
from strat.planning.costs import BudgetAllocation, budget_allocation
from strat.planning.design_samples import Split, design_samples_for, design_test_split
from strat.planning.labels import LabelPlan, labels_for_width
from strat.planning.learning_curves import Extrapolation, LearningCurve, fit_learning_curve, fit_power_curve
from strat.planning.levels import LevelPlan, levels_for_width
from strat.planning.power import (
    Detectable,
    detectable_difference,
    paired_rows_for_power,
    pilot_units_for_power,
    pilot_units_for_width,
    rows_for_power,
)
from strat.planning.repeats import RepeatSplit, RepeatVariance, repeat_variance
from strat.planning.sample_size import SampleSize
from strat.planning.width import (
    repeats_for_width,
    rows_for_auc,
    rows_for_mean,
    rows_for_width,
    rows_per_unit_for_width,
    strata_for_width,
    units_for_width,
)

__all__ = [
    "Allocation",
    "BudgetAllocation",
    "Detectable",
    "Extrapolation",
    "LabelPlan",
    "LearningCurve",
    "LevelPlan",
    "RepeatSplit",
    "RepeatVariance",
    "SampleSize",
    "Split",
    "StratumBoundaries",
    "budget_allocation",
    "design_samples_for",
    "design_test_split",
    "detectable_difference",
    "fit_learning_curve",
    "fit_power_curve",
    "labels_for_width",
    "levels_for_width",
    "neyman_allocation",
    "paired_rows_for_power",
    "pilot_units_for_power",
    "pilot_units_for_width",
    "repeat_variance",
    "repeats_for_width",
    "rows_for_auc",
    "rows_for_mean",
    "rows_for_power",
    "rows_for_width",
    "rows_per_unit_for_width",
    "strata_for_width",
    "stratum_boundaries",
    "units_for_width",
]

if not TYPE_CHECKING:  # else any misspelt name would pass the type checker
    __getattr__ = answers_for(__name__)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
