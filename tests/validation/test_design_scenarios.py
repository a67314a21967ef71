"""Scenarios of ordered, blocked and staged designs: a few samples of each come out as they must."""

from __future__ import annotations

import pytest
from validation.designs import LEVELS, SCENARIOS, coverages, of_components

WORLDS = {world.name: world for world in SCENARIOS}


def test_a_known_start_is_narrower_and_holds() -> None:
    plain = coverages(WORLDS["ordered, a steep line"], samples=60)
    known = coverages(WORLDS["ordered, a steep line, start known"], samples=60)
    assert min(plain[0], known[0]) > 85
    assert known[2] < 0.8 * plain[2] < 0.5 * plain[3]  # widths: both below that of a simple random sample
    assert plain[4] == 100
    assert known[4] == 0


@pytest.mark.parametrize("name", [name for name in WORLDS if not name.startswith("ordered")])
def test_blocks_are_narrower_than_strata_and_stages_hold(name: str) -> None:
    own, _, width, wide, _ = coverages(WORLDS[name], samples=60)
    assert own > 85
    if name.startswith("blocks"):
        assert width < wide


def test_intervals_of_variance_components_hold_their_level() -> None:
    assert min(of_components(samples=40).values()) > 80
    assert set(LEVELS) == {"population", "system", "model", "analysis"}
