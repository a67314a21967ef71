"""Leave-one-out, by refitting or by the closed form of discriminants."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from strat.base.errors import StratError, one_of, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes
from strat.designs import Design
from strat.protocols import closed_leave_one_out
from strat.protocols.keywords import spelled
from strat.protocols.protocol_result import (
    NEARLY_UNBIASED,
    OPTIMISTIC,
    Memory,
    ProtocolResult,
    Times,
    row_se,
)
from strat.protocols.running import (
    Session,
    Task,
    table,
    task,
)
from strat.protocols.summaries import ROWS, detailed, tested_once


@spelled
@checked
def leave_one_out(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    units: ArrayLike | Design | None = None,
    method: str = "auto",
    n_jobs: int | None = None,
) -> ProtocolResult:
    """The error when each row (or each unit) is tested by the classifier trained on all others.

    Linear and quadratic discriminants need one training only: the left-out row is taken off the mean and the
    covariance exactly (F&H III-A), and the predictions are those of N trainings. Where a covariance matrix is singular
    there is no such shortcut, and they are trained N times, if they can be.

    Parameters
    ----------
    estimator, X, y, n_jobs
        As in `cross_validation`.
    units
        Leave out whole units instead of rows.
    method
        "auto" (the closed form where there is one, else N trainings), "closed" (an error where there is none) or
        "refit".

    Examples
    --------
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = [[0.0], [1.0], [2.2], [2.0], [3.1], [4.0]], [0, 0, 0, 1, 1, 1]
    >>> r = leave_one_out(LinearDiscriminantAnalysis(), X, y)
    >>> print(r.predictions["predicted"], round(r.error, 4), len(r.times.fit))
    [0 0 1 0 1 1] 0.3333 1
    """
    one_of("method", method, ("auto", "closed", "refit"))
    job = task(estimator, X, y, units)
    if method == "closed":
        return _required(job)[1]
    if method == "auto":
        try:
            closed = closed_pair(job)
        except closed_leave_one_out.SingularError as singular:
            return _refit_or(singular, job, n_jobs)
        if closed is not None:
            return closed[1]
    return _refit(job, n_jobs)


def _refit_or(singular: StratError, job: Task, n_jobs: int | None) -> ProtocolResult:
    """N trainings where the closed form does not exist; its message, which says why, where they fail as well."""
    try:
        return _refit(job, n_jobs)
    except StratError:
        raise singular from None


def _refit(job: Task, n_jobs: int | None) -> ProtocolResult:
    _check_lone(job)
    rows = np.arange(len(job))
    cases = rows if job.unit is None else job.unit
    splits = [(rows[cases != c], rows[cases == c]) for c in range(int(cases.max()) + 1)]
    name = "leave-one-out" if job.unit is None else "leave-one-unit-out"
    return tested_once(name, job, splits, NEARLY_UNBIASED, n_jobs=n_jobs)


def _check_lone(job: Task) -> None:
    sizes, what = job.class_sizes, "row"
    if job.unit is not None:
        pairs = np.unique(np.column_stack([job.codes, job.unit]), axis=0)
        sizes, what = np.bincount(pairs[:, 0], minlength=len(job.classes)), "unit"
    lone = sizes < 2
    if lone.any():
        raise StratError.about(
            "y",
            f"must have at least two {what}s of every class for leave-one-out, got one of "
            f"{some(job.classes[lone])}: without it that class cannot be learned; "
            "merge or drop these classes.",
        )


def _required(job: Task) -> tuple[ProtocolResult, ProtocolResult]:
    try:
        pair = closed_pair(job)
    except closed_leave_one_out.SingularError as singular:
        raise singular.continued(", or choose method='refit'.") from None
    if pair is None:
        raise StratError.about(
            "method",
            f"must be 'auto' or 'refit' for {type(job.estimator).__name__} with these arguments"
            f"{' and units' if job.unit is not None else ''}, got 'closed': only linear and quadratic "
            "discriminants with an empirical covariance have a closed form.",
        )
    return pair


def closed_pair(job: Task) -> tuple[ProtocolResult, ProtocolResult] | None:
    """Resubstitution and leave-one-out of a discriminant without a training; None where there is no closed form."""
    _check_lone(job)
    start = time.perf_counter()
    scores = None if job.unit is not None else closed_leave_one_out.closed_scores(job)
    if scores is None:
        return None
    left_out, again = scores
    seconds = time.perf_counter() - start
    rows = np.arange(len(job))
    upper = _of_scores("leave-one-out", job, left_out, rows, NEARLY_UNBIASED, seconds)
    lower = _of_scores("resubstitution", job, again, np.zeros_like(rows), OPTIMISTIC, seconds)
    return lower, detailed(upper, {"resubstitution": lower.error})


def _of_scores(name: str, job: Task, scores: Array, fold: Codes, bias: str, seconds: float) -> ProtocolResult:
    """The result of discriminant scores, rows × classes, that were computed together."""
    best = scores.argmax(axis=1)
    probability = softmax(scores, axis=1)
    shown = probability[:, 1] if len(job.classes) == 2 else probability.max(axis=1)
    rows = np.arange(len(job))
    columns = table(job, [Session(rows, job.classes[best], shown, seconds, 0.0)], [0], [0])
    columns["fold"] = fold
    wrong = (best != job.codes).astype(float)
    se, trials = row_se(wrong, None)
    return ProtocolResult(
        protocol=name,
        error=float(wrong.mean()),
        se=se,
        df=trials - 1,
        variance=ROWS,
        bias=bias,
        fold_errors=np.bincount(fold, wrong) / np.bincount(fold),
        predictions=columns,
        times=Times(np.array([seconds]), np.zeros(1)),
        memory=Memory(float("nan"), float("nan")),
        trials=trials,
        details={"method": "closed form, F&H III-A"},
    )
