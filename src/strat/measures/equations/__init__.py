"""Statistics that solve an equation: θ with Σ w ψ(row; θ) = 0 (M-estimators, generalized estimating equations)."""

from __future__ import annotations

from strat.measures.equations.models import (
    ability,
    calibration_intercept,
    calibration_slope,
    linear_regression,
    logistic_regression,
    success_curve,
)
from strat.measures.equations.ordinal import ordinal_logit
from strat.measures.equations.solver import equation
from strat.measures.equations.votes import bradley_terry, win_rate

__all__ = [
    "ability",
    "bradley_terry",
    "calibration_intercept",
    "calibration_slope",
    "equation",
    "linear_regression",
    "logistic_regression",
    "ordinal_logit",
    "success_curve",
    "win_rate",
]
