"""Boards of many systems and measures in many groups: pages stay small, time grows as what is shown."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import strat
from strat.base.limits import changed

board_pages = import_module("strat.show.report.board_page")  # the function of this name hides the module


def _board(systems: int) -> strat.Leaderboard:
    rng = np.random.default_rng(systems)
    right = {f"s{k}": (rng.random(120) < 0.3 + 0.5 * k / systems).astype(int) for k in range(systems)}
    return strat.compare(pd.DataFrame(right), score=list(right))


def _in_groups(number: int) -> strat.Evaluation:
    rng = np.random.default_rng(number)
    rows = 6 * number
    truth = rng.integers(0, 2, rows)
    predicted = np.where(rng.random(rows) < 0.8, truth, 1 - truth)
    data = pd.DataFrame({"y": truth, "p": predicted, "g": np.arange(rows) % number})
    return strat.evaluate(data, truth="y", predicted="p", by="g", metrics="accuracy")


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def test_a_page_of_many_systems_stays_small_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    sizes = []
    for most in (60, 20):
        with changed(picker_systems=most):
            _board(60).report(tmp_path / "board.html")
        page = (tmp_path / "board.html").read_text(encoding="utf-8")
        assert ("Pairs of the first 20 systems can be chosen" in page) == (most == 20)
        sizes.append(len(page))
    assert sizes[1] < sizes[0] - 10_000


@changed(paired_systems=20)
def test_pairs_of_many_systems_are_computed_on_demand(tmp_path: Path) -> None:
    board = _board(60)
    text = board_pages.board_page(board, tmp_path / "board.html").read_text(encoding="utf-8")
    content = json.loads(board.to_json())
    board_pages.board_feed(board), str(board), board.report(tmp_path / "report.html")
    assert "_all" not in vars(board.many)  # nobody made the table of all pairs
    assert "Differences are shown between the first 20 systems." in text
    assert len(content["pairs"]) == 190
    assert content["pairs_left_out"] == 60 * 59 // 2 - 190
    every = board.pairs()
    asked = board.pairs(first=20)
    place = [k for k, name in enumerate(every["worse"]) if name in board.systems[:20]]
    assert asked["adjusted"] == pytest.approx([every["adjusted"][k] for k in place])
    assert asked["low"] == pytest.approx([every["low"][k] for k in place])


def test_draws_fall_with_the_number_of_systems_and_the_board_says_how_many() -> None:
    few, many = _board(4).many, _board(700).many
    assert few._largest_t.draws == 20_000
    assert many._largest_t.draws == 1_000_000_000 // (700 * 699 // 2)


def test_groups_grow_linearly() -> None:
    _in_groups(10)
    small = min(_seconds(lambda: str(_in_groups(80))) for _ in range(2))
    large = _seconds(lambda: str(_in_groups(320)))
    assert large / small < 10  # 4 × the groups; pairs of all groups would be 16 ×


@changed(compared_groups=20)
def test_too_many_groups_are_not_compared_with_each_other_and_say_so() -> None:
    result = _in_groups(21)
    assert "21 groups are too many to compare with each other" in str(result)
