"""Results -> one self-contained HTML file, and what a number means in words."""

from __future__ import annotations

from strat.report.explain import explain
from strat.report.page import render, write

__all__ = ["explain", "render", "write"]
