"""Logs of AI benchmarks, read without the packages that wrote them: one table of items, whatever the harness."""

from __future__ import annotations

from strat.data.logs.item_table import ItemTable
from strat.data.logs.long import read_long
from strat.data.logs.reading import read_logs

__all__ = ["ItemTable", "read_logs", "read_long"]
