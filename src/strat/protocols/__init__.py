"""Training and testing protocols for any scikit-learn classifier, and what they do to an error estimate."""

from typing import TYPE_CHECKING

from strat.base.elsewhere import answers_for
from strat.measures.splits import corrected_se
from strat.protocols.bayes_bounds import (
    BayesBounds,
    annotator_error_bounds,
    bayes_error_bounds,
    error_parts,
    soft_label_error,
)
from strat.protocols.classic import cross_validation, holdout, repeated_holdout, resubstitution, three_way
from strat.protocols.closed_leave_one_out import quadratic_discriminant
from strat.protocols.clusters import ClusterNumber, cluster_number
from strat.protocols.comparing import PROTOCOLS, Bounds, ProtocolComparison, bounds, compare_protocols
from strat.protocols.cv_intervals import nested_cross_validation, pooled_cross_validation
from strat.protocols.early_stopping import early_stopping
from strat.protocols.feature_searches import backward_selection, exhaustive_search, single_features
from strat.protocols.leaving_out import leave_one_out
from strat.protocols.over_time import Drift, drift
from strat.protocols.peeking import Peeking, peeking
from strat.protocols.protocol_result import Memory, ProtocolResult, Times
from strat.protocols.resampling import bootstrap
from strat.protocols.selection import (
    PeakEffect,
    filter_selector,
    floating_search,
    forward_selection,
    peak_effect,
    selection_stability,
    wrapper,
)
from strat.protocols.strata import strata_from_features
from strat.protocols.uncertain_labels import UncertainLabels, uncertain_labels

__all__ = [
    "PROTOCOLS",
    "BayesBounds",
    "Bounds",
    "ClusterNumber",
    "Drift",
    "Memory",
    "PeakEffect",
    "Peeking",
    "ProtocolComparison",
    "ProtocolResult",
    "Times",
    "UncertainLabels",
    "annotator_error_bounds",
    "backward_selection",
    "bayes_error_bounds",
    "bootstrap",
    "bounds",
    "cluster_number",
    "compare_protocols",
    "corrected_se",
    "cross_validation",
    "drift",
    "early_stopping",
    "error_parts",
    "exhaustive_search",
    "filter_selector",
    "floating_search",
    "forward_selection",
    "holdout",
    "leave_one_out",
    "nested_cross_validation",
    "peak_effect",
    "peeking",
    "pooled_cross_validation",
    "quadratic_discriminant",
    "repeated_holdout",
    "resubstitution",
    "selection_stability",
    "single_features",
    "soft_label_error",
    "strata_from_features",
    "three_way",
    "uncertain_labels",
    "wrapper",
]

if not TYPE_CHECKING:  # else any misspelt name would pass the type checker
    __getattr__ = answers_for(__name__)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
