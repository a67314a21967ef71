"""Errors speak of values, never of the library that a value comes from."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import strat
from strat.errors import StratError
from strat.planning import rows_for_width


@pytest.mark.parametrize(
    ("given", "said"),
    [(np.float64(2.5), "2.5"), (np.int8(-3), "-3"), (np.True_, "True"), (np.str_("a"), "'a'"), ("b", "'b'")],
)
def test_values_are_named_as_a_person_would(given, said):
    assert str(StratError(f"`x` must be otherwise, got {given!r}.")) == f"`x` must be otherwise, got {said}."


def test_a_message_survives_another_process():
    error = pickle.loads(pickle.dumps(StratError("`x` must not be np.int64(3).")))
    assert (str(error), error.argument) == ("`x` must not be 3.", "x")


@pytest.mark.parametrize(
    ("message", "argument"),
    [
        ("`level` must lie below 1, got 2.", "level"),
        ("`predicted` and `score` must not be given together.", "predicted"),
        ("`a.csv` must have at least one row, got none.", None),
        ("`--plot` must end in .png, got 'a'.", None),
        ("column `human` must be numbers, got 'x'.", None),
        ("", None),
    ],
)
def test_an_error_knows_the_argument_that_it_is_about(message, argument):
    assert StratError(message).argument == argument
    assert StratError(message, argument="units").argument == "units"


def test_the_argument_stays_when_the_option_is_spelled():
    error = StratError("`units` must name a column, got 'a'; see units= and `strata`.").spelled({"units": "--units"})
    assert str(error) == "`--units` must name a column, got 'a'; see --units  and `strata`."
    assert error.argument == "units"


def test_errors_of_calls_name_a_parameter_as_a_fact():
    with pytest.raises(StratError) as caught:
        strat.evaluate({"y": [0, 1], "p": [0, 1]}, truth="y", predicted="q")
    assert caught.value.argument == "predicted"
    with pytest.raises(StratError) as caught:
        strat.estimate(strat.mean([1.0, 2.0]), on=strat.Design.simple_random(n=2)).interval(95)
    assert caught.value.argument == "level"


def test_calls_with_numpy_scalars():
    with pytest.raises(StratError, match=r"got -1\.0\.$"):
        rows_for_width(width=np.float64(-1), proportion=0.5)
    with pytest.raises(StratError, match=r"got 0\.$"):
        strat.Design.simple_random(n=np.int64(0))
