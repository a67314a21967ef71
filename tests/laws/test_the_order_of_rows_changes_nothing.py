"""The order of rows changes nothing: every verb says the same of the same rows in another order."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import strat
from facts_of_results import differences, facts
from law_tables import (
    DESIGNS,
    GROUPS_OF_MEASURES,
    Data,
    asked_of_all,
    judged,
    names_of,
    of_all,
    of_one,
    some_pairs,
    voted,
)
from strat import planning

Ask = Callable[[Any], Any]
BOTH: dict[str, Any] = {"units": "unit", "strata": "stratum"}


def in_another_order(rows: Any, seed: int = 8) -> dict[str, np.ndarray]:
    """The same rows, shuffled."""
    order = np.random.default_rng(seed).permutation(len(next(iter(rows.values()))))
    return {name: np.asarray(column)[order] for name, column in rows.items()}


def _unlike(ask: Ask, rows: Any) -> list[str]:
    return differences(facts(ask(rows)), facts(ask(in_another_order(rows))))


def _of_design(verb: str, design: str, measure: str) -> Ask:
    how, (old, new) = DESIGNS[design], names_of(measure)
    if verb == "evaluate":
        return lambda rows: strat.evaluate(rows, **of_one(measure), **how, by="sex")
    if verb == "compare":
        return lambda rows: strat.compare(rows, **of_all(measure), **how, by="kind")
    return lambda rows: strat.gate(rows, **of_all(measure), **how, baseline=old, candidate=new, margin=0.05)


@pytest.mark.parametrize("verb", ["evaluate", "compare", "gate"])
@pytest.mark.parametrize(("design", "measure"), some_pairs(6))
def test_of_a_verb(rows: Data, verb: str, design: str, measure: str) -> None:
    assert _unlike(_of_design(verb, design, measure), rows) == []


@pytest.mark.parametrize("group", GROUPS_OF_MEASURES)
def test_of_every_measure(rows: Data, group: str) -> None:
    assert _unlike(lambda rows: strat.evaluate(rows, **asked_of_all(group, "both")), rows) == []


@pytest.mark.parametrize("method", ["jackknife", "brr", "fay", "generalized", "bootstrap"])
def test_of_a_method(rows: Data, method: str) -> None:
    pairs = {**rows, "unit": rows["place"] // 4, "stratum": rows["place"] // 8}
    ask: dict[str, Any] = {**of_one("macro_f1"), **BOTH, "method": method}
    assert _unlike(lambda rows: strat.evaluate(rows, **ask), pairs) == []


QUESTIONS: dict[str, Ask] = {
    "check": lambda rows: strat.check(rows, **of_one("accuracy"), **BOTH, trials=50),
    "check of scores": lambda rows: strat.check(rows, score="amount0", units="unit", trials=50),
    "look": lambda rows: json.loads(strat.look(rows).to_json()),
    "a plan of units": lambda rows: strat.units_for(_pilot(rows), width=0.1),
    "a plan of repeats": lambda rows: planning.repeat_variance(rows["amount0"], items=rows["item"]),
    "a plan of levels": lambda rows: planning.levels_for_width(
        strat.variance_components(
            strat.mean(rows["right0"]), on=strat.Design.crossed({"reader": rows["reader"], "case": rows["case"]})
        ),
        width=0.3,
    ),
    "boundaries": lambda rows: planning.stratum_boundaries(rows["score0"], strata=3),
    "intraclass": lambda rows: strat.intraclass_correlation(rows["amount0"], units=rows["unit"]),
}


def _pilot(rows: Any) -> Any:
    return strat.evaluate(rows, **of_one("accuracy"), **BOTH)["accuracy"]


@pytest.mark.parametrize("name", QUESTIONS)
def test_of_a_question(rows: Data, name: str) -> None:
    assert _unlike(QUESTIONS[name], rows) == []


def test_of_two_phases(rows: Data) -> None:
    ask: dict[str, Any] = {"score": "human", "proxy": strat.Proxy("judge", probability="chance"), "units": "unit"}
    assert _unlike(lambda rows: strat.evaluate(rows, **ask), judged(rows)) == []


def test_of_votes() -> None:
    assert _unlike(lambda rows: strat.votes(rows, units="prompt"), voted()) == []
    assert _unlike(lambda rows: json.loads(strat.look(rows).to_json()), voted()) == []
