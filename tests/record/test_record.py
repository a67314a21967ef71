"""The record of what the library says: no number, limit, degree of freedom or note of 900 calls changes unsaid."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import suppress

import pytest
from numbers_of_results import recorded

import record
import strat
from law_tables import GROUPS_OF_MEASURES
from strat.base.result import Result
from strat.measures.register import spellings

BASES = {"Result", "SheetResult"}  # what results are made of
PICTURES = {"plot", "report"}  # parts that draw, from numbers that are recorded
UNCALLED = {"example_path", "read_logs", "evaluation_figures", *("every", "named")}
"""A path, a reader that tests/data checks, pictures, and the register of measures."""


@pytest.mark.parametrize("part", record.PARTS)
def test_every_call_says_what_it_said(part: str) -> None:
    old = {name: said for name, said in record.stored().items() if name in record.PARTS[part]}
    changes = record.changes(old, record.made(part))
    assert not changes, "\n".join([f"{len(changes)} differences; `make record` renews the record:", *changes])


def test_showing_a_result_changes_nothing() -> None:
    """One result of each class, in every way that it shows itself."""
    calls = {name: call for part in record.PARTS.values() for name, call in part.items()}
    first = {said["is"]: name for name, said in reversed(record.stored().items())}
    changed = []
    for name in first.values():
        result = calls[name]()
        before = recorded(result)
        repr(result), str(result)
        for way in ("_repr_html_", "to_dict", "to_json", "to_markdown", "to_latex"):
            getattr(result, way, str)()
        with suppress(strat.StratError):  # what holds no estimate
            strat.explain(result)
        changed += [name] if str(recorded(result)) != str(before) else []
    assert changed == []


def test_the_record_has_the_calls_of_the_table_and_no_others() -> None:
    assert list(record.stored()) == [name for part in record.PARTS.values() for name in part]


def test_no_call_of_the_record_was_refused() -> None:
    assert [name for name, said in record.stored().items() if "refused" in said] == []


def test_every_class_of_results_is_in_the_record() -> None:
    recorded = {said.get("is") for said in record.stored().values()}
    assert {kind.__name__ for kind in _kinds(Result)} - recorded == BASES


def _kinds(kind: type) -> set[type]:
    """The class and those of the library that are made of it."""
    return {kind}.union(*(_kinds(k) for k in kind.__subclasses__() if k.__module__.startswith("strat.")))


def test_every_public_function_is_in_the_record() -> None:
    called = {name.split(" (")[0].rpartition(".")[2] for name in record.stored()}
    assert {name for name in _functions() if name not in called} == UNCALLED


def _functions() -> Iterator[str]:
    """The public functions of the library and of its parts."""
    for module in (strat, *(getattr(strat, name) for name in strat.__all__ if name not in PICTURES)):
        if inspect.ismodule(module):
            yield from (name for name in getattr(module, "__all__", ()) if inspect.isfunction(getattr(module, name)))


def test_every_measure_that_has_a_name_is_in_the_record() -> None:
    asked = {measure for _, measures in GROUPS_OF_MEASURES.values() for measure in measures}
    assert set(spellings()) - asked == set()
    assert {f"evaluate {group}, simple" for group in GROUPS_OF_MEASURES} - set(record.stored()) == set()


def test_a_change_of_the_record_is_said_in_the_changelog() -> None:
    line = record.line_of(record.STORED.read_text(encoding="utf-8"))
    said = record.said_in_changelog(record.CHANGELOG.read_text(encoding="utf-8"))
    assert line in said, f'the newest section of CHANGELOG.md must say "{line}" under "Changed results"'
