"""Limits on memory and time are changed within a block, and are the old ones after it, whatever happens there."""

from __future__ import annotations

from contextlib import suppress

import pytest

from strat.base.limits import LIMITS, changed


def test_limits_change_within_a_block_alone() -> None:
    usual = LIMITS.compared_groups
    with changed(compared_groups=3):
        with suppress(KeyError), changed(compared_groups=2, rows_in_memory=1):
            assert (LIMITS.compared_groups, LIMITS.rows_in_memory) == (2, 1)
            raise KeyError
        assert (LIMITS.compared_groups, LIMITS.rows_in_memory) == (3, 5_000_000)
    assert LIMITS.compared_groups == usual


def test_a_misspelt_limit_is_refused() -> None:
    with pytest.raises(AttributeError, match=r"there is no limit compared_group$"), changed(compared_group=3):
        pass
