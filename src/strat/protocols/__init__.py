"""Training and testing protocols for any scikit-learn classifier, and what they do to an error estimate."""

from strat.protocols.classic import (
    cross_validation,
    holdout,
    leave_one_out,
    repeated_holdout,
    resubstitution,
    three_way,
)
from strat.protocols.clusters import strata_from_features
from strat.protocols.comparing import PROTOCOLS, Bounds, ProtocolComparison, bounds, compare_protocols
from strat.protocols.discriminants import quadratic_discriminant
from strat.protocols.guard import Peeking, peeking
from strat.protocols.resampling import bootstrap
from strat.protocols.results import Memory, ProtocolResult, Times, corrected_se
from strat.protocols.selection import (
    PeakEffect,
    filter_selector,
    floating_search,
    forward_selection,
    peak_effect,
    wrapper,
)

__all__ = [
    "PROTOCOLS",
    "Bounds",
    "Memory",
    "PeakEffect",
    "Peeking",
    "ProtocolComparison",
    "ProtocolResult",
    "Times",
    "bootstrap",
    "bounds",
    "compare_protocols",
    "corrected_se",
    "cross_validation",
    "filter_selector",
    "floating_search",
    "forward_selection",
    "holdout",
    "leave_one_out",
    "peak_effect",
    "peeking",
    "quadratic_discriminant",
    "repeated_holdout",
    "resubstitution",
    "strata_from_features",
    "three_way",
    "wrapper",
]
