"""The simulation of the examples: only stratified clusters keep what they promise."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from examples.benchmarks.coverage import simulate


@pytest.mark.slow
def test_only_the_design_that_was_drawn_covers() -> None:
    names, coverage, width = simulate(1000)
    by_name = dict(zip(names, coverage, strict=True))
    assert 0.93 <= by_name["stratified clusters"] <= 0.97
    assert by_name["tries as independent"] < 0.80
    assert by_name["items as independent"] < 0.93
    assert by_name["stratified, no clusters"] < 0.92
    assert by_name["clustered, no strata"] > 0.96
    assert width[names.index("clustered, no strata")] > 1.1 * width[-1]
