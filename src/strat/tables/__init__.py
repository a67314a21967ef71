"""Any table or log -> columns and unit totals: the only part that knows data frames, files and engines."""

from __future__ import annotations

from strat.designs.sampling import Sampling
from strat.tables.cells import Cells
from strat.tables.check import check
from strat.tables.check_result import Check, Checks
from strat.tables.compare import compare
from strat.tables.evaluate import evaluate
from strat.tables.evaluation import Evaluation
from strat.tables.gate import gate
from strat.tables.gate_result import GateCheck, GateResult
from strat.tables.leaderboard import Leaderboard
from strat.tables.logs import ItemTable, read_logs, read_long
from strat.tables.logs.records import evaluation_records
from strat.tables.look import Look, look
from strat.tables.pass_rate import pass_rate
from strat.tables.reduce import reduce
from strat.tables.sample import sample
from strat.tables.sample_result import Sample
from strat.tables.score_files import compare_files, evaluate_files
from strat.tables.score_table import score_table
from strat.tables.stored_baseline import StoredBaseline, read_baseline, save_baseline
from strat.tables.table import Table, read
from strat.tables.two_phase import Proxy
from strat.tables.votes import votes

__all__ = [
    "Cells",
    "Check",
    "Checks",
    "Evaluation",
    "GateCheck",
    "GateResult",
    "ItemTable",
    "Leaderboard",
    "Look",
    "Proxy",
    "Sample",
    "Sampling",
    "StoredBaseline",
    "Table",
    "check",
    "compare",
    "compare_files",
    "evaluate",
    "evaluate_files",
    "evaluation_records",
    "gate",
    "look",
    "pass_rate",
    "read",
    "read_baseline",
    "read_logs",
    "read_long",
    "reduce",
    "sample",
    "save_baseline",
    "score_table",
    "votes",
]
