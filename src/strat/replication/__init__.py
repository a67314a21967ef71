"""Perturbed copies of a design: half-samples and their generalisations, the jackknife, the bootstrap."""

from __future__ import annotations

from strat.replication.balanced import brr, fay, generalized, multi_array
from strat.replication.given_replicates import given
from strat.replication.methods import CLOSED_FORM, Method, MethodKind
from strat.replication.operators import Given, LeaveOneOut, Operator, Resamples, blocks
from strat.replication.partial import partially_balanced
from strat.replication.replicates import Replicates
from strat.replication.resampled import all_half_samples, bootstrap, half_samples, jackknife

__all__ = [
    "CLOSED_FORM",
    "Given",
    "LeaveOneOut",
    "Method",
    "MethodKind",
    "Operator",
    "Replicates",
    "Resamples",
    "all_half_samples",
    "blocks",
    "bootstrap",
    "brr",
    "fay",
    "generalized",
    "given",
    "half_samples",
    "jackknife",
    "multi_array",
    "partially_balanced",
]
