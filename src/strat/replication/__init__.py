"""Perturbed copies of a design: half-samples and their generalisations, the jackknife, the bootstrap."""

from __future__ import annotations

from strat.replication.operators import Given, LeaveOneOut, Operator, Resamples, blocks
from strat.replication.replicates import (
    Replicates,
    all_half_samples,
    bootstrap,
    brr,
    fay,
    generalized,
    given,
    half_samples,
    jackknife,
    multi_array,
)

__all__ = [
    "Given",
    "LeaveOneOut",
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
]
