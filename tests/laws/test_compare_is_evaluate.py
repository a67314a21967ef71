"""A system says the same in `compare` as in `evaluate`: value, standard error, degrees of freedom, limits and notes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import strat
from facts_of_results import differences, facts
from law_tables import DESIGNS, MEASURES, SOURCES, crossing, names_of, of_all, of_one

NO_NOTES = "`compare` has no notes on the value of one system: until One question, one answer"
ROWS_IN_UNITS = ("simple", "strata", "clusters", "both", "weights", "repeats")
WITHOUT_NOTES = {("clusters", "accuracy"), ("clusters", "mean"), *((design, "rmse") for design in ROWS_IN_UNITS)}


def _both(source: Any, design: str, measure: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """What each system's column says in `evaluate` and in `compare`."""
    board = strat.compare(source, **of_all(measure), **DESIGNS[design])
    alone = [strat.evaluate(source, **of_one(measure, k), **DESIGNS[design])[measure] for k in range(2)]
    return [(facts(one), facts(board.estimate.at(name))) for one, name in zip(alone, names_of(measure), strict=True)]


@pytest.mark.parametrize(("name", "design", "measure"), crossing(list(SOURCES), list(DESIGNS), list(MEASURES)))
def test_its_numbers_are_those_of_evaluate(source: Callable[[str], Any], name: str, design: str, measure: str) -> None:
    for alone, among in _both(source(name), design, measure):
        del alone["notes"], among["notes"]
        assert differences(alone, among) == []


@pytest.mark.parametrize(
    ("design", "measure"), crossing(list(DESIGNS), list(MEASURES), failing=dict.fromkeys(WITHOUT_NOTES, NO_NOTES))
)
def test_its_notes_are_those_of_evaluate(source: Callable[[str], Any], design: str, measure: str) -> None:
    for alone, among in _both(source("mapping"), design, measure):
        assert alone["notes"] == among["notes"]


@pytest.mark.xfail(strict=True, raises=strat.StratError, reason="two systems or more: until One question, one answer")
def test_one_system_is_compared_as_it_is_evaluated(source: Callable[[str], Any]) -> None:
    asked = {"truth": "truth", "predicted": "guess0", "units": "unit"}
    board = strat.compare(source("mapping"), **asked, metrics="accuracy")
    alone = strat.evaluate(source("mapping"), **asked, metrics="accuracy")["accuracy"]
    assert differences(facts(alone), facts(board.estimate.at("guess0"))) == []
