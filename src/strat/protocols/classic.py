"""Resubstitution, hold-out, cross-validation, leave-one-out and three-way testing (Kuncheva 1.3.4)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from strat.columns import Array
from strat.datasets.draws import Rng, count
from strat.designs import Design
from strat.doors import checked
from strat.errors import StratError, one_of, some
from strat.protocols import discriminants
from strat.protocols.results import (
    NEARLY_UNBIASED,
    OPTIMISTIC,
    PESSIMISTIC,
    Memory,
    ProtocolResult,
    Times,
    corrected_se,
    row_se,
)
from strat.protocols.sessions import (
    Session,
    Split,
    Task,
    cloned,
    errors,
    fold_splits,
    memory,
    random_source,
    random_splits,
    repeat_numbers,
    run,
    table,
    task,
    times,
)

ROWS = "test rows as independent draws"
UNITS = "test units as independent draws"


@checked
def resubstitution(estimator: Any, X: Any, y: ArrayLike, *, units: ArrayLike | Design | None = None) -> ProtocolResult:
    """The error on the very rows that the classifier was trained on.

    It is too low: F&H III and Kuncheva 1.3.4. Its use is as a lower bound beside leave-one-out; see `bounds`.

    Parameters
    ----------
    estimator
        Any scikit-learn classifier.
    X, y
        Features (rows × features) and labels.
    units
        What the rows came in (subjects, passages), as labels or as a `strat.Design`; their number, not that of the
        rows, gives the variance.

    Examples
    --------
    One nearest neighbour remembers every row.

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> resubstitution(KNeighborsClassifier(1), [[0], [1], [2], [3]], [0, 1, 0, 1]).error
    0.0
    """
    job = task(estimator, X, y, units)
    rows = np.arange(len(job))
    return _once("resubstitution", job, [(rows, rows)], OPTIMISTIC, n_jobs=None)


@checked
def holdout(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    test: float = 0.5,
    units: ArrayLike | Design | None = None,
    stratify: bool = True,
    rng: Rng = 0,
) -> ProtocolResult:
    """The error on rows that were set aside before training.

    Parameters
    ----------
    estimator, X, y
        As in `resubstitution`.
    test
        Share of the rows that are set aside; half of them by tradition.
    units
        Units that must not be split: all rows of a unit are on one side.
    stratify
        Keep the proportions of the classes on both sides.
    rng
        Seed or Generator.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = np.zeros((100, 1)), np.repeat([0, 1], [70, 30])
    >>> r = holdout(DummyClassifier(), X, y)
    >>> print(r.error, round(r.se, 4))       # 15 of 50 wrong: sqrt(0.3 · 0.7 / 49)
    0.3 0.0655
    """
    job = task(estimator, X, y, units)
    splits = random_splits(job, 1, test, stratify=stratify, source=random_source(rng))
    return _once("hold-out", job, splits, PESSIMISTIC, n_jobs=None)


@checked
def repeated_holdout(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    repeats: int = 30,
    test: float = 0.1,
    units: ArrayLike | Design | None = None,
    stratify: bool = True,
    rng: Rng = 0,
    n_jobs: int | None = None,
) -> ProtocolResult:
    """The mean error of many random splits (data shuffle), with Nadeau and Bengio's variance.

    Parameters
    ----------
    estimator, X, y, units, stratify, rng
        As in `holdout`.
    repeats
        How many splits.
    test
        Share of the rows that each split sets aside.
    n_jobs
        Sessions at a time, for joblib.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = np.zeros((100, 1)), np.repeat([0, 1], [70, 30])
    >>> r = repeated_holdout(DummyClassifier(), X, y, repeats=5)
    >>> print(round(r.error, 12), r.fold_errors.shape, r.variance)
    0.3 (5,) corrected for overlapping training sets, Nadeau-Bengio
    """
    job = task(estimator, X, y, units)
    if count("repeats", repeats) < 2:
        raise StratError(f"`repeats` must be at least 2, got {repeats}; use holdout for one split.")
    splits = random_splits(job, repeats, test, stratify=stratify, source=random_source(rng))
    return _many("repeated hold-out", job, splits, n_jobs=n_jobs, numbers=(list(range(repeats)), [0] * repeats))


@checked
def cross_validation(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    folds: Any = 10,
    repeats: int = 1,
    units: ArrayLike | Design | None = None,
    stratify: bool = True,
    rng: Rng = 0,
    n_jobs: int | None = None,
) -> ProtocolResult:
    """The mean error over folds that take turns at testing; M × K folds with `repeats=M`.

    Parameters
    ----------
    estimator, X, y, units, stratify, rng, n_jobs
        As in `repeated_holdout`.
    folds
        Number of folds, or any scikit-learn splitter (which then decides about classes and units).
    repeats
        How often the rows are split anew.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = np.zeros((100, 1)), np.repeat([0, 1], [70, 30])
    >>> r = cross_validation(DummyClassifier(), X, y, folds=5)
    >>> r.protocol, round(r.error, 12), r.bias
    ('5-fold cross-validation', 0.3, 'pessimistic')
    """
    job = task(estimator, X, y, units)
    source = random_source(rng)
    given = not isinstance(folds, int | np.integer)
    if given and repeats != 1:
        raise StratError(f"`repeats` must be 1 with a splitter, got {repeats}; let the splitter repeat itself.")
    parts = [fold_splits(job, folds, stratify=stratify, source=source) for _ in range(count("repeats", repeats))]
    splits = [split for part, _ in parts for split in part]
    often = f"{repeats} × " if repeats > 1 else ""
    name = f"cross-validation ({parts[0][1]})" if given else f"{often}{parts[0][1]} cross-validation"
    if len(splits) == 1:
        return _once(name, job, splits, PESSIMISTIC, n_jobs=n_jobs)
    return _many(name, job, splits, n_jobs=n_jobs)


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
    covariance exactly (F&H III-A), and the predictions are those of N trainings.

    Parameters
    ----------
    estimator, X, y, n_jobs
        As in `cross_validation`.
    units
        Leave out whole units instead of rows.
    method
        "auto", "closed" (an error where there is no closed form) or "refit".

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
    _check_lone(job)
    if method != "refit":
        closed = _closed(job, required=method == "closed")
        if closed is not None:
            return closed
    rows = np.arange(len(job))
    cases = rows if job.unit is None else job.unit
    splits = [(rows[cases != c], rows[cases == c]) for c in range(int(cases.max()) + 1)]
    return _once(
        "leave-one-out" if units is None else "leave-one-unit-out", job, splits, NEARLY_UNBIASED, n_jobs=n_jobs
    )


def _check_lone(job: Task) -> None:
    sizes, what = job.class_sizes, "row"
    if job.unit is not None:
        pairs = np.unique(np.column_stack([job.codes, job.unit]), axis=0)
        sizes, what = np.bincount(pairs[:, 0], minlength=len(job.classes)), "unit"
    lone = sizes < 2
    if lone.any():
        raise StratError(
            f"`y` must have at least two {what}s of every class for leave-one-out, got one of "
            f"{some(job.classes[lone])}: without it nothing is left to learn that class from; "
            "merge or drop these classes."
        )


def _closed(job: Task, *, required: bool) -> ProtocolResult | None:
    start = time.perf_counter()
    found = None if job.unit is not None else discriminants.closed_scores(job)
    if found is None:
        if required:
            raise StratError(
                f"`method` must be 'auto' or 'refit' for {type(job.estimator).__name__} with these arguments"
                f"{' and units' if job.unit is not None else ''}, got 'closed': only linear and quadratic "
                "discriminants with an empirical covariance have a closed form."
            )
        return None
    scores, plainly = found
    seconds = time.perf_counter() - start
    best = scores.argmax(axis=1)
    probability = softmax(scores, axis=1)
    shown = probability[:, 1] if len(job.classes) == 2 else probability.max(axis=1)
    rows = np.arange(len(job))
    lone = Session(rows, job.classes[best], shown, seconds, 0.0)
    columns = table(job, [lone], [0], [0])
    columns["fold"] = rows
    wrong = (best != job.codes).astype(float)
    se, trials = row_se(wrong, None)
    return ProtocolResult(
        protocol="leave-one-out",
        error=float(wrong.mean()),
        se=se,
        df=trials - 1,
        variance=ROWS,
        bias=NEARLY_UNBIASED,
        fold_errors=wrong,
        predictions=columns,
        times=Times(np.array([seconds]), np.zeros(1)),
        memory=Memory(float("nan"), float("nan")),
        trials=trials,
        details={
            "method": "closed form, F&H III-A",
            "resubstitution": float(np.mean(plainly.argmax(axis=1) != job.codes)),
        },
    )


@checked
def three_way(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    grid: Mapping[str, Sequence[Any]],
    validation: float = 0.25,
    test: float = 0.25,
    units: ArrayLike | Design | None = None,
    stratify: bool = True,
    rng: Rng = 0,
    n_jobs: int | None = None,
) -> ProtocolResult:
    """The test error of the candidate that did best on validation rows, both unseen in training.

    Parameters
    ----------
    estimator, X, y, units, stratify, rng, n_jobs
        As in `cross_validation`.
    grid
        Values of each argument of the estimator to choose from, as for scikit-learn's ParameterGrid.
    validation, test
        Shares of the rows for choosing and for testing; the rest trains. The chosen one is trained again on
        training and validation rows before the test.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from strat.datasets import gaussian_classes
    >>> data = gaussian_classes(400, means=[[-1, 0], [1, 0]], rng=1)
    >>> r = three_way(KNeighborsClassifier(), data.X, data.y, grid={"n_neighbors": [1, 15]})
    >>> r.details["chosen"], len(r.details["validation_errors"])
    ({'n_neighbors': 15}, 2)
    """
    from sklearn.model_selection import ParameterGrid

    job = task(estimator, X, y, units)
    if not 0 < validation < 1 - test:
        raise StratError(f"`validation` must lie between 0 and 1 − `test` ({1 - test:g}), got {validation!r}.")
    candidates = list(ParameterGrid(grid))
    source = random_source(rng)
    learn, tested = random_splits(job, 1, test, stratify=stratify, source=source)[0]
    inner = _subset(job, learn)
    a, b = random_splits(inner, 1, validation / (1 - test), stratify=stratify, source=source)[0]
    tried = [_candidate(job, p, [(learn[a], learn[b])], n_jobs) for p in candidates]
    found = np.array([errors(job, sessions)[0] for sessions in tried])
    chosen = candidates[int(found.argmin())]
    final = _with(job, chosen)
    result = _once("three-way hold-out", final, [(learn, tested)], PESSIMISTIC, n_jobs=n_jobs)
    details = {"chosen": chosen, "candidates": candidates, "validation_errors": found}
    return _detailed(result, details)


def _candidate(job: Task, parameters: Mapping[str, Any], splits: list[Split], n_jobs: int | None) -> list[Session]:
    return run(_with(job, parameters), splits, n_jobs=n_jobs)


def _with(job: Task, parameters: Mapping[str, Any]) -> Task:
    from dataclasses import replace

    try:
        return replace(job, estimator=cloned(job.estimator).set_params(**parameters))
    except ValueError as reason:
        raise StratError(f"`grid` must name arguments of the estimator, got {some(parameters)}: {reason}") from None


def _subset(job: Task, rows: Any) -> Task:
    from dataclasses import replace

    from sklearn.utils import _safe_indexing as take

    unit = None if job.unit is None else np.unique(job.unit[rows], return_inverse=True)[1]
    return replace(job, X=take(job.X, rows), y=job.y[rows], codes=job.codes[rows], unit=unit)


def _detailed(result: ProtocolResult, details: Mapping[str, Any]) -> ProtocolResult:
    from dataclasses import replace

    return replace(result, details={**result.details, **details})


def _once(name: str, job: Task, splits: Sequence[Split], bias: str, *, n_jobs: int | None) -> ProtocolResult:
    """The result of a protocol that tests no row twice: its rows, or units, are the independent cases."""
    sessions = run(job, splits, n_jobs=n_jobs)
    columns = table(job, sessions, [0] * len(splits), range(len(splits)))
    wrong = (columns["truth"] != columns["predicted"]).astype(float)
    se, trials = row_se(wrong, columns.get("unit"))
    return ProtocolResult(
        protocol=name,
        error=float(wrong.mean()),
        se=se,
        df=trials - 1,
        variance=ROWS if job.unit is None else UNITS,
        bias=bias,
        fold_errors=errors(job, sessions),
        predictions=columns,
        times=times(sessions),
        memory=memory(job, splits[0][0], sessions[0].fit),
        trials=trials,
    )


def _many(
    name: str,
    job: Task,
    splits: Sequence[Split],
    *,
    n_jobs: int | None,
    numbers: tuple[list[int], list[int]] | None = None,
) -> ProtocolResult:
    """The result of a protocol whose training sets overlap: Nadeau and Bengio's variance, Kuncheva (1.12)."""
    sessions = run(job, splits, n_jobs=n_jobs)
    repeats, folds = repeat_numbers(splits, len(job)) if numbers is None else numbers
    found: Array = errors(job, sessions)
    ratio = float(np.mean([len(b) / len(a) for a, b in splits]))
    columns = table(job, sessions, repeats, folds)
    return ProtocolResult(
        protocol=name,
        error=float(found.mean()),
        se=corrected_se(found, ratio),
        df=len(found) - 1,
        variance="corrected for overlapping training sets, Nadeau-Bengio",
        bias=PESSIMISTIC,
        fold_errors=found,
        predictions=columns,
        times=times(sessions),
        memory=memory(job, splits[0][0], sessions[0].fit),
        trials=len(np.unique(columns.get("unit", columns["row"]))),
        details={"ratio": ratio},
    )
