"""The board for other pages: no request, nothing unescaped, the numbers of the leaderboard; and its JSON feed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from strat.base.errors import StratError
from strat.cli.app import app
from strat.show.report import board_feed, board_page
from strat.verbs import Leaderboard, compare

EVIL = '</script><b onclick="x">&'


@pytest.fixture
def board() -> Leaderboard:
    rng = np.random.default_rng(0)
    data = {name: (rng.random(80) < share).astype(float) for name, share in ((EVIL, 0.9), ("B", 0.5), ("C", 0.55))}
    return compare(data, score=list(data))


def test_the_feed_has_the_numbers_of_the_leaderboard(board: Leaderboard) -> None:
    feed = board_feed(board)
    assert feed["schema"] == "strat/board/2"
    assert [one["system"] for one in feed["systems"]] == list(board.systems)
    first, last = board.ranks()
    assert [(one["first_rank"], one["last_rank"]) for one in feed["systems"]] == list(
        zip(first.tolist(), last.tolist(), strict=True)
    )
    assert [one["score"] for one in feed["systems"]] == board.estimate.point.tolist()
    assert [one["system"] for one in feed["systems"] if one["tied_with_best"]] == list(board.tied)
    json.dumps(feed, allow_nan=False)


def test_the_page_asks_for_nothing_and_escapes_names(board: Leaderboard, tmp_path: Path) -> None:
    text = board_page(board, tmp_path / "board.html").read_text()
    assert EVIL not in text
    assert "&lt;/script&gt;&lt;b onclick=&quot;x&quot;&gt;&amp;" in text
    assert not re.search(r"(src|href)\s*=|https?://|@import|url\(", text)
    assert text.count("<script") == text.count("</script>") == 2
    data = json.loads(re.findall(r'application/json">(.*?)</script>', text)[0])
    assert data["score"] == board.estimate.point.tolist()
    assert data["critical"] == board.many.critical(board.level)


def test_the_page_names_its_measures_and_says_what_pointing_does(tmp_path: Path) -> None:
    results = [
        {"provider": {"id": system}, "vars": {"q": k}, "success": k % step > 0, "cost": 0.01 * (k + step),
         "testCase": {}, "response": {}}
        for system, step in (("a", 3), ("b", 2)) for k in range(20)
    ]  # fmt: skip
    log = tmp_path / "run.json"
    log.write_text(json.dumps({"evalId": "x", "results": {"results": results}}))
    board = compare(log, metrics=["success", "cost"])
    feed = board_feed(board)
    assert feed["measure"] == "success"
    text = board_page(board, tmp_path / "board.html").read_text()
    assert '<th class="n">success</th>' in text
    assert "Point at a system to see every other one − this one" in text
    cost = feed["systems"][0]["further"]["cost"]
    assert f'title="{cost["low"]:.4f} to {cost["high"]:.4f}">{cost["value"]:.4f}</td>' in text


def test_the_page_must_be_html(board: Leaderboard, tmp_path: Path) -> None:
    with pytest.raises(StratError, match=r"`path` must end in \.html, got"):
        board_page(board, tmp_path / "board.txt")


def test_the_command_writes_both(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n" + "1,0\n0,1\n1,1\n" * 10)
    page, feed = tmp_path / "b.html", tmp_path / "b.json"
    arguments = ["compare", str(table), "--score", "a", "--score", "b", "--board", str(page), "--feed", str(feed)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert page.read_text().startswith("<!doctype html>")
    assert len(json.loads(feed.read_text())["systems"]) == 2
