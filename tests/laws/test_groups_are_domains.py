"""A group of `evaluate(by=)` is a domain: its rows are measured, and the others stay in the design."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import strat
from facts_of_results import differences, facts
from law_tables import DESIGN_OF, DESIGNS, MEASURES, SOURCES, Data, crossing, of_one
from strat.verbs.metrics import chosen

GROUPS = ("sex", "kind")  # the first crosses the units, the second holds whole ones


def _both(
    source: Callable[[str], Any], rows: Data, name: str, by: str, design: str, measure: str
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """What each group says, and the domain of its rows."""
    groups = strat.evaluate(source(name), **of_one(measure), **DESIGNS[design], by=by).groups[measure]
    roles = {role: column for role, column in of_one(measure).items() if role in ("truth", "predicted", "score")}
    columns = {role: rows[column] for role, column in roles.items()} | {"positive": of_one(measure).get("positive")}
    statistic, on = chosen(measure, roles)[0].build(columns), DESIGN_OF[design](rows)
    return [
        (facts(strat.estimate(strat.domain(statistic, rows[by] == label), on=on)), facts(one))
        for label, one in groups.each.items()
    ]


@pytest.mark.parametrize(
    ("name", "by", "design", "measure"),
    crossing(list(SOURCES), GROUPS, list(DESIGNS), list(MEASURES)),
)
def test_the_numbers_of_a_group_are_those_of_its_domain(
    source: Callable[[str], Any], rows: Data, name: str, by: str, design: str, measure: str
) -> None:
    for domain, group in _both(source, rows, name, by, design, measure):
        del domain["notes"], group["notes"]
        assert differences(domain, group) == []


@pytest.mark.parametrize(("by", "design", "measure"), crossing(GROUPS, list(DESIGNS), list(MEASURES)))
def test_the_notes_of_a_group_are_those_of_its_domain(
    source: Callable[[str], Any], rows: Data, by: str, design: str, measure: str
) -> None:
    for domain, group in _both(source, rows, "mapping", by, design, measure):
        assert domain["notes"] == group["notes"]
