"""Any table or log -> columns and unit totals: the only part that knows data frames, files and engines."""

from __future__ import annotations

from strat.tables.check import Check, check
from strat.tables.compare import Leaderboard, compare, leaderboard
from strat.tables.evaluate import evaluate
from strat.tables.evaluation import Evaluation
from strat.tables.logs import ItemTable, read_logs, read_long
from strat.tables.reduce import Cells, reduce
from strat.tables.sample import Sample, sample
from strat.tables.table import Table, read

__all__ = [
    "Cells",
    "Check",
    "Evaluation",
    "ItemTable",
    "Leaderboard",
    "Sample",
    "Table",
    "check",
    "compare",
    "evaluate",
    "leaderboard",
    "read",
    "read_logs",
    "read_long",
    "reduce",
    "sample",
]
