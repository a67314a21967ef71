"""Any table or log -> columns and unit totals: the only part that knows data frames, files and engines."""

from __future__ import annotations

from strat.tables.table import Table, read

__all__ = ["Table", "read"]
