"""Results -> one self-contained HTML file, and what a number means in words."""

from __future__ import annotations

from strat.show.report.board_page import board_feed, board_page
from strat.show.report.explain import explain
from strat.show.report.writing import render, write

__all__ = ["board_feed", "board_page", "explain", "render", "write"]
