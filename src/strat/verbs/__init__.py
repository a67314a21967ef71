"""What is asked of a table: how good, better than what, by how much, and how to sample the next one."""

from __future__ import annotations

from strat.designs.sampling import Sampling
from strat.verbs.check import check
from strat.verbs.check_result import Check, Checks
from strat.verbs.compare import compare
from strat.verbs.evaluate import evaluate
from strat.verbs.evaluation import Evaluation
from strat.verbs.evaluation_records import evaluation_records
from strat.verbs.gate import gate
from strat.verbs.gate_result import GateCheck, GateResult
from strat.verbs.leaderboard import Leaderboard
from strat.verbs.look import Look, look
from strat.verbs.pass_rate import pass_rate
from strat.verbs.sample import sample
from strat.verbs.sample_result import Sample
from strat.verbs.score_files import compare_files, evaluate_files
from strat.verbs.score_table import score_table
from strat.verbs.stored_baseline import StoredBaseline, read_baseline, save_baseline
from strat.verbs.two_phase import Proxy
from strat.verbs.votes import votes

__all__ = [
    "Check",
    "Checks",
    "Evaluation",
    "GateCheck",
    "GateResult",
    "Leaderboard",
    "Look",
    "Proxy",
    "Sample",
    "Sampling",
    "StoredBaseline",
    "check",
    "compare",
    "compare_files",
    "evaluate",
    "evaluate_files",
    "evaluation_records",
    "gate",
    "look",
    "pass_rate",
    "read_baseline",
    "sample",
    "save_baseline",
    "score_table",
    "votes",
]
