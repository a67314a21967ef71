"""Errors speak of values, never of the library that a value comes from."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import strat
from strat.errors import StratError
from strat.theory import rows_for_width


@pytest.mark.parametrize(
    ("given", "said"),
    [(np.float64(2.5), "2.5"), (np.int8(-3), "-3"), (np.True_, "True"), (np.str_("a"), "'a'"), ("b", "'b'")],
)
def test_values_are_named_as_a_person_would(given, said):
    assert str(StratError(f"`x` must be otherwise, got {given!r}.")) == f"`x` must be otherwise, got {said}."


def test_a_message_survives_another_process():
    error = pickle.loads(pickle.dumps(StratError("`x` must not be np.int64(3).")))
    assert str(error) == "`x` must not be 3."


def test_calls_with_numpy_scalars():
    with pytest.raises(StratError, match=r"got -1\.0; "):
        rows_for_width(width=np.float64(-1), proportion=0.5)
    with pytest.raises(StratError, match=r"got 0\.$"):
        strat.Design.simple_random(n=np.int64(0))
