"""Every measure says the same of a file, of a frame and of an engine, to 12 digits, on every kind of design."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import cycle
from typing import Any

import pytest

import strat
from facts_of_results import differences, facts
from law_tables import DESIGNS, GROUPS_OF_MEASURES, SOURCES, asked_of_all, pairs, table
from strat.base.limits import changed

FEW = [name for name in GROUPS_OF_MEASURES if name != "labels"]  # measures in one call
EACH = pairs(list(SOURCES), list(DESIGNS), FEW) + [  # and forty measures in one, on a design for each source
    (name, design, "labels") for name, design in (("csv", "clusters"), ("polars", "crossed"), ("duckdb", "both"))
]
IN_UNITS = ("clusters", "both")  # designs of files that are read in pieces


@cache
def _of_columns(design: str, group: str) -> Any:
    return facts(strat.evaluate(table(), **asked_of_all(group, design)))


def _unlike(source: Any, asked: list[tuple[str, str]]) -> list[str]:
    """What the source says differently, of measures on designs that name their items, or their units, alone."""
    return [
        f"{group}, {design}: {line}"
        for design, group in asked
        if not {"items", "design"} <= set(asked_of_all(group, design))
        for line in differences(
            _of_columns(design, group), facts(strat.evaluate(source, **asked_of_all(group, design))), 1e-12, 1e-13
        )
    ]


@pytest.mark.parametrize("name", [name for name in SOURCES if name != "mapping"])
@pytest.mark.costly("a source is asked for every measure, in calls of their own")
def test_every_measure_of_a_source_is_that_of_columns(source: Callable[[str], Any], name: str) -> None:
    assert _unlike(source(name), [(design, group) for of, design, group in EACH if of == name]) == []


def test_every_measure_of_a_file_that_is_read_in_pieces_is_that_of_columns(
    source: Callable[[str], Any],
) -> None:
    with changed(rows_in_memory=0, exact_rows=0):
        assert _unlike(source("parquet"), list(zip(cycle(IN_UNITS), GROUPS_OF_MEASURES, strict=False))) == []
