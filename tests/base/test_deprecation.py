"""What docs/stability.md promises of names that are to go: both work, the old one warns and says the new one."""

from __future__ import annotations

import pytest

from strat.base.deprecation import deprecated, renamed_arguments


@renamed_arguments(gone_in="0.3", pos_label="positive")
def half(n: float, *, positive: float = 1.0) -> float:
    return n * positive / 2


def test_both_names_are_understood_and_the_old_one_warns() -> None:
    assert half(3.0, positive=2.0) == 3.0
    with pytest.warns(
        DeprecationWarning, match=r"^`pos_label` will be removed in strat 0\.3; write `positive`\.$"
    ) as caught:
        assert half(3.0, pos_label=2.0) == 3.0  # type: ignore[call-arg]
    assert caught[0].filename == __file__


def test_both_at_once_are_refused() -> None:
    with pytest.raises(TypeError, match="got both 'pos_label' and 'positive'"):
        half(3.0, positive=1.0, pos_label=2.0)  # type: ignore[call-arg]


def test_a_name_of_a_module() -> None:
    with pytest.warns(DeprecationWarning, match=r"`strat\.old` will be removed in strat 1\.0; write `strat\.new`\."):
        deprecated("strat.old", "strat.new", gone_in="1.0", stacklevel=2)
