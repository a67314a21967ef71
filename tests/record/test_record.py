"""The record of what the library says: no number, limit, degree of freedom or note of some 800 calls changes unsaid."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import record

import strat
from strat.base.result import Result
from strat.show.sheet_result import SheetResult
from strat.verbs.metrics import METRICS

# Results that no call gives back here, and why.
NOT_HERE: dict[str, str] = {}


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return record.made()


def test_every_call_says_what_it_said(made: dict[str, Any]) -> None:
    changes = record.changes(record.stored(), made)
    assert not changes, "\n".join([f"{len(changes)} differences; `make record` renews the record:", *changes])


def test_a_change_of_the_record_is_said_in_the_changelog() -> None:
    line = record.line_of(record.STORED.read_text(encoding="utf-8"))
    said = record.said_in_changelog(record.CHANGELOG.read_text(encoding="utf-8"))
    assert line in said, f'the newest section of CHANGELOG.md must say "{line}" under "Changed results"'
