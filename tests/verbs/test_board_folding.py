"""Boards of many rows by their distinct rows: the same numbers and words as row by row, and far fewer rows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import strat
from strat.base.limits import changed
from strat.measures.register import Measure
from strat.verbs import board_folding, comparing
from strat.verbs.board import Board

ROWS = 2_000


def _table() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, ROWS)
    systems = {f"p{k}": np.where(rng.random(ROWS) < 0.6 + 0.1 * k, truth, rng.integers(0, 3, ROWS)) for k in range(3)}
    scores = {f"r{k}": (systems[f"p{k}"] == truth).astype(float) for k in range(3)}
    group = np.array(["a", "b"])[rng.integers(0, 2, ROWS)]
    return {"y": truth, **systems, **scores, "s": rng.integers(0, 4, ROWS), "g": group, "u": np.arange(ROWS) // 5}


@pytest.mark.parametrize(
    "asked",
    [
        {"truth": "y", "predicted": ["p0", "p1"]},
        {"truth": "y", "predicted": ["p0", "p1", "p2"], "strata": "s", "metrics": ["accuracy", "macro_f1"]},
        {"truth": "y", "predicted": ["p0", "p1"], "by": "g", "metrics": "kappa"},
        {"truth": "y", "predicted": ["p0", "p1"], "units": "u"},
        {"score": ["r0", "r1", "r2"], "strata": "s", "by": "g", "baseline": "r1"},
    ],
)
def test_distinct_rows_say_what_rows_say(asked: dict[str, Any]) -> None:
    by_rows = strat.compare(_table(), **asked)
    with changed(folded_rows=10):
        by_kinds = strat.compare(_table(), **asked)
    assert str(by_kinds) == str(by_rows)
    ours, theirs = (np.array(_numbers(json.loads(board.to_json()))) for board in (by_kinds, by_rows))
    assert ours.shape == theirs.shape
    assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def _numbers(value: Any) -> list[float]:
    """All numbers of a JSON document, in its order."""
    if isinstance(value, dict | list):
        return [n for one in (value.values() if isinstance(value, dict) else value) for n in _numbers(one)]
    return [float(value)] if isinstance(value, int | float) else []


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Rows before and after every folding."""
    seen: list[tuple[int, int]] = []

    def watched(board: Board, metric: Measure) -> Board:
        short = board_folding.folded(board, metric)
        seen.append((len(board), len(short)))
        return short

    monkeypatch.setattr(comparing, "folded", watched)
    return seen


def test_a_gate_of_many_rows_looks_at_few(sizes: list[tuple[int, int]]) -> None:
    table = {name: np.tile(column, 15) for name, column in _table().items()}
    strat.gate(table, truth="y", baseline="p1", candidate="p2", margin=0.01)
    strat.gate(table, truth="y", baseline="p1", candidate="p2", margin=0.01, units="u")
    (rows, kinds), *with_units = sizes
    assert rows == 15 * ROWS
    assert kinds <= 27
    assert with_units[0] == (rows, rows)  # units hold rows: they are added up in each
    assert with_units[1][1] <= 27  # what independent rows would have said


def test_columns_of_many_values_are_left_as_they_are(sizes: list[tuple[int, int]]) -> None:
    rng = np.random.default_rng(1)
    strat.compare({"a": rng.random(30_000), "b": rng.random(30_000)}, score=["a", "b"])
    assert sizes == [(30_000, 30_000)]
