"""Gaussian classes: the Bayes error, and what finite samples do to an error estimate (Fukunaga and Hayes; Kuncheva)."""

from __future__ import annotations

from strat.gaussian.bayes import (
    Region,
    bayes_error,
    boundaries,
    classifier_error,
    decision_intervals,
    shifted_boundary_error,
)
from strat.gaussian.bootstrap_bias import BootstrapBias, bootstrap_bias, simulate_bootstrap_bias
from strat.gaussian.degradation import (
    leave_one_out_bias,
    leave_one_out_bias_between,
    leave_one_out_bias_variance,
    linear_degradation,
    quadratic_degradation,
)
from strat.gaussian.design_moments import DesignMoments, ScoreMoments, design_moments, score_moments
from strat.gaussian.error_parts import ErrorParts, best_linear_error, decompose_error
from strat.gaussian.finite_samples import (
    SampleError,
    Simulated,
    boundary_beta,
    distance_for_error,
    error_of_sets,
    error_on_samples,
    error_variance,
    simulate_bias,
    simulate_degradation,
)
from strat.gaussian.holdout import HoldoutMoments, holdout_moments
from strat.gaussian.line_pictures import LinePicture, example_1_12, line_picture
from strat.gaussian.membership import chow_rule, maximum_membership, minimum_risk
from strat.gaussian.outliers import outlier_effect, outlier_influence, sample_influence, scaled_outlier, with_sample
from strat.gaussian.probability import Probability
from strat.gaussian.problems import (
    DiscreteProblem,
    GaussianClass,
    MixtureClass,
    Problem,
    bhattacharyya_distance,
    mahalanobis_distance,
    scaled_problem,
    shifted_problem,
    standard_problem,
)
from strat.gaussian.quadratic_form import quadratic_form_tail
from strat.gaussian.regions import (
    CanonicalClassifier,
    DecisionRegions,
    Overlap,
    Separability,
    decision_regions,
    inseparable_points,
    linear_separability,
    nearest_neighbour,
    overlap,
    separable_pairs,
)
from strat.gaussian.rejection import RejectCurve, chow_decide, reject_curve
from strat.gaussian.rules import QuadraticRule, estimate_class, linear_rule, quadratic_classifier_error, quadratic_rule

__all__ = [
    "BootstrapBias",
    "CanonicalClassifier",
    "DecisionRegions",
    "DesignMoments",
    "DiscreteProblem",
    "ErrorParts",
    "GaussianClass",
    "HoldoutMoments",
    "LinePicture",
    "MixtureClass",
    "Overlap",
    "Probability",
    "Problem",
    "QuadraticRule",
    "Region",
    "RejectCurve",
    "SampleError",
    "ScoreMoments",
    "Separability",
    "Simulated",
    "bayes_error",
    "best_linear_error",
    "bhattacharyya_distance",
    "bootstrap_bias",
    "boundaries",
    "boundary_beta",
    "chow_decide",
    "chow_rule",
    "classifier_error",
    "decision_intervals",
    "decision_regions",
    "decompose_error",
    "design_moments",
    "distance_for_error",
    "error_of_sets",
    "error_on_samples",
    "error_variance",
    "estimate_class",
    "example_1_12",
    "holdout_moments",
    "inseparable_points",
    "leave_one_out_bias",
    "leave_one_out_bias_between",
    "leave_one_out_bias_variance",
    "line_picture",
    "linear_degradation",
    "linear_rule",
    "linear_separability",
    "mahalanobis_distance",
    "maximum_membership",
    "minimum_risk",
    "nearest_neighbour",
    "outlier_effect",
    "outlier_influence",
    "overlap",
    "quadratic_classifier_error",
    "quadratic_degradation",
    "quadratic_form_tail",
    "quadratic_rule",
    "reject_curve",
    "sample_influence",
    "scaled_outlier",
    "scaled_problem",
    "score_moments",
    "separable_pairs",
    "shifted_boundary_error",
    "shifted_problem",
    "simulate_bias",
    "simulate_bootstrap_bias",
    "simulate_degradation",
    "standard_problem",
    "with_sample",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
