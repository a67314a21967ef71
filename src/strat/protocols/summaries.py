"""From sessions to the result of a protocol: error, standard error and what they rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from strat.base.validate.columns import Array
from strat.protocols import intervals
from strat.protocols.protocol_result import (
    PESSIMISTIC,
    ProtocolResult,
    Table,
    row_se,
)
from strat.protocols.running import Rows, Session, Split, Task, errors, memory, run, table, times
from strat.protocols.splitting import repeat_numbers

ROWS = "test rows as independent draws"
UNITS = "test units as independent draws"


def detailed(result: ProtocolResult, details: Mapping[str, Any]) -> ProtocolResult:
    """The result with further details."""
    return replace(result, details={**result.details, **details})


def of_sessions(job: Task, sessions: Sequence[Session], columns: Table, learned: Rows, **parts: Any) -> ProtocolResult:
    """A result with what every protocol takes from its sessions: errors, predictions, times and memory.

    `learned` are the training rows of the first session.
    """
    return ProtocolResult(
        fold_errors=errors(job, sessions),
        predictions=columns,
        times=times(sessions),
        memory=memory(job, learned, sessions[0].fit),
        **parts,
    )


def tested_once(name: str, job: Task, splits: Sequence[Split], bias: str, *, n_jobs: int | None) -> ProtocolResult:
    """The result of a protocol that tests no row twice: its rows, or units, are the independent cases."""
    sessions = run(job, splits, n_jobs=n_jobs)
    columns = table(job, sessions, [0] * len(splits), range(len(splits)))
    wrong = (columns["truth"] != columns["predicted"]).astype(float)
    se, trials = row_se(wrong, columns.get("unit"))
    return of_sessions(
        job,
        sessions,
        columns,
        splits[0][0],
        protocol=name,
        error=float(wrong.mean()),
        se=se,
        df=trials - 1,
        variance=ROWS if job.unit is None else UNITS,
        bias=bias,
        trials=trials,
    )


def over_splits(
    name: str,
    job: Task,
    splits: Sequence[Split],
    *,
    n_jobs: int | None,
    numbers: tuple[list[int], list[int]] | None = None,
) -> ProtocolResult:
    """The result of a protocol whose training sets overlap, with the limits of `strat.protocols.intervals`."""
    sessions = run(job, splits, n_jobs=n_jobs, watch=intervals.watched(len(job)))
    repeats, folds = repeat_numbers(splits, len(job)) if numbers is None else numbers
    rates: Array = errors(job, sessions)
    ratio = float(np.mean([len(b) / len(a) for a, b in splits]))
    each = intervals.error_of_rows(job, sessions, splits)
    columns = table(job, sessions, repeats, folds)
    return of_sessions(
        job,
        sessions,
        columns,
        splits[0][0],
        protocol=name,
        error=float(rates.mean()),
        se=each.se,
        df=each.trials - 1,
        variance=f"{ROWS if job.unit is None else UNITS}, more where the trained models differ",
        bias=PESSIMISTIC,
        trials=each.trials,
        details={"ratio": ratio},
        of_rows=each.error,
    )
