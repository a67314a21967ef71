"""Any table, file, engine or log -> columns and sums: the only part that knows data frames, files and engines."""

from __future__ import annotations

from strat.data.cells import Cells
from strat.data.logs import ItemTable, read_logs, read_long
from strat.data.reduce import reduce
from strat.data.table import Table, read

__all__ = ["Cells", "ItemTable", "Table", "read", "read_logs", "read_long", "reduce"]
