"""A gate says what `compare` says, or with a floor what `evaluate` says, by one-sided limits that give its answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import strat
from facts_of_results import differences, facts
from law_tables import DESIGNS, MEASURES, SOURCES, crossing, names_of, of_all, of_one, some_pairs

TWO_SIDED = 0.9  # whose limits are those of one-sided 95 %
MARGIN, FLOOR = 0.05, 0.5


@pytest.mark.parametrize(("name", "design", "measure"), crossing(list(SOURCES), list(DESIGNS), list(MEASURES)))
def test_a_margin_is_held_against_the_limits_of_compare(
    source: Callable[[str], Any], name: str, design: str, measure: str
) -> None:
    baseline, candidate = names_of(measure)
    asked = of_all(measure) | DESIGNS[design]
    gate = strat.gate(source(name), **asked, baseline=baseline, candidate=candidate, margin=MARGIN)
    board = strat.compare(source(name), **asked, baseline=baseline, level=TWO_SIDED)
    (check,) = gate.checks
    value_of = {system: facts(board.estimate.at(system).value) for system in (baseline, candidate)}
    wanted = [value_of[baseline], value_of[candidate], board.difference(candidate).value, *board.interval()]
    assert differences(facts(wanted), [check.baseline, check.candidate, check.value, check.low, check.high]) == []
    low, high = board.interval() if board.many.higher_is_better else (-board.interval()[1], -board.interval()[0])
    assert gate.answer == ("not worse" if low > -MARGIN else "worse" if high < -MARGIN else "can't tell")
    own = {code for code in facts(gate)["notes"] if not code.startswith("gate-")}
    assert own == set(facts(board)["notes"])


@pytest.mark.parametrize(("design", "measure"), some_pairs(2))
def test_a_floor_is_held_against_the_limits_of_evaluate(
    source: Callable[[str], Any], design: str, measure: str
) -> None:
    asked = of_one(measure) | DESIGNS[design]
    gate = strat.gate(source("mapping"), **asked, floor=FLOOR)
    alone = strat.evaluate(source("mapping"), **asked)[measure]
    (check,) = gate.checks
    low, high = alone.interval(TWO_SIDED)
    assert differences(facts([alone.value, low, high]), [check.value, check.low, check.high]) == []
    if check.higher_is_better:
        assert gate.answer == ("not worse" if low >= FLOOR else "worse" if high < FLOOR else "can't tell")
    else:
        assert gate.answer == ("not worse" if high <= FLOOR else "worse" if low > FLOOR else "can't tell")
