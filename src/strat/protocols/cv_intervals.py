"""Intervals for cross-validation that hold and are no wider than they need be: pooled (Bayle et al.) and nested."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base import validate
from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.base.validate.scalars import Rng
from strat.designs import Design
from strat.protocols.keywords import spelled, units_of
from strat.protocols.protocol_result import NEARLY_UNBIASED, PESSIMISTIC, ProtocolResult, row_se
from strat.protocols.running import Rows, Session, Task, random_source, run, table, task
from strat.protocols.splitting import fold_splits, torn_units
from strat.protocols.summaries import of_sessions, tested_once


@spelled
@checked
def pooled_cross_validation(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = 10,
    units: ArrayLike | Design | None = None,
    groups: ArrayLike | Design | None = None,
    stratify: bool = True,
    rng: Rng = 0,
    n_jobs: int | None = None,
) -> ProtocolResult:
    """The mean error over folds, with the variance of its rows (or units) taken as independent.

    Bayle, Bayle, Janson and Mackey (2020) show that for stable learners this interval holds, for the average error of
    the K trained models. It is the shortest one; what another training set would change is not in it.

    Parameters
    ----------
    estimator, X, y, cv, units, groups, stratify, rng, n_jobs
        As in `cross_validation`; every row must be tested once.

    Examples
    --------
    30 of 100 rows wrong: the standard error is sqrt(0.3 · 0.7 / 99).

    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = np.zeros((100, 1)), np.repeat([0, 1], [70, 30])
    >>> r = pooled_cross_validation(DummyClassifier(), X, y, cv=5)
    >>> print(round(r.error, 4), round(r.se, 4))
    0.3 0.0461
    """
    job = task(estimator, X, y, units_of(units, groups), rng)
    splits, name = fold_splits(job, cv, stratify=stratify, source=random_source(rng))
    _check_once(job, [test for _, test in splits])
    result = tested_once(f"pooled {name} cross-validation", job, splits, PESSIMISTIC, n_jobs=n_jobs)
    return replace(result, notes=torn_units(job, splits))


@spelled
@checked
def nested_cross_validation(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: int = 5,
    repeats: int = 10,
    units: ArrayLike | Design | None = None,
    groups: ArrayLike | Design | None = None,
    stratify: bool = True,
    rng: Rng = 0,
    n_jobs: int | None = None,
) -> ProtocolResult:
    """The error of the classifier trained on all rows, with the nested interval of Bates, Hastie and Tibshirani (2023).

    Each fold is held out in turn, the others are cross-validated among themselves, and the squared gap between the two
    errors, less the variance of the held-out one, estimates the mean squared error of cross-validation: training sets
    that share rows are in it. It takes repeats · K (K + 1) / 2 trainings.

    Parameters
    ----------
    estimator, X, y, units, groups, stratify, rng, n_jobs
        As in `cross_validation`.
    cv
        Number of folds, at least three.
    repeats
        How often the rows are divided anew; the interval is as good as the average over them.

    Examples
    --------
    A classifier that learns nothing: the plain standard error, sqrt(0.3 · 0.7 / 99), is the least that is given.

    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = np.zeros((100, 1)), np.repeat([0, 1], [70, 30])
    >>> r = nested_cross_validation(DummyClassifier(), X, y, repeats=2)
    >>> print(round(r.error, 4), round(r.se, 4))
    0.3 0.0461
    """
    if isinstance(cv, bool) or validate.count("cv", cv) < 3:
        raise StratError.about(
            "cv", f"must be three folds or more, got {cv}: one is held out, the others cross-validated."
        )
    job = task(estimator, X, y, units_of(units, groups), rng)
    source = random_source(rng)
    gaps, inner, outer, sessions, naive = [], [], [], [], []
    for _ in range(validate.count("repeats", repeats)):
        parts = [test for _, test in fold_splits(job, cv, stratify=stratify, source=source)[0]]
        held, pairs = _trained(job, parts, n_jobs)
        gaps += _gaps(job, parts, held, pairs)
        inner.append(float(np.mean([w.mean() for own in pairs.values() for w in own])))
        wrong = _wrong(job, held)
        outer.append(float(wrong.mean()))
        naive.append(row_se(wrong, job.unit)[0])
        sessions += held
    error, se = _corrected(
        float(np.mean(inner)), float(np.mean(outer)), float(np.mean(gaps)), float(np.mean(naive)), cv
    )
    trials = len(job) if job.unit is None else int(job.unit.max()) + 1
    repeat = np.repeat(np.arange(repeats), cv).tolist()
    return of_sessions(
        job,
        sessions,
        table(job, sessions, repeat, list(range(cv)) * repeats),
        np.setdiff1d(np.arange(len(job)), sessions[0].test),
        protocol=f"nested {cv}-fold cross-validation",
        error=error,
        se=se,
        df=trials - 1,
        variance="gap between held-out and inner errors, Bates, Hastie and Tibshirani",
        bias=NEARLY_UNBIASED,
        trials=trials,
        details={"cross-validation error": float(np.mean(outer)), "inner error": float(np.mean(inner))},
    )


def _trained(
    job: Task, parts: list[Rows], n_jobs: int | None
) -> tuple[list[Session], dict[tuple[int, int], tuple[Array, Array]]]:
    """Sessions that hold out each fold, and for each two folds the errors on both of the model trained without both."""
    every, k = np.arange(len(job)), len(parts)
    splits = [(np.setdiff1d(every, part), part) for part in parts]
    twos = list(combinations(range(k), 2))
    for i, j in twos:
        both = np.concatenate([parts[i], parts[j]])
        splits.append((np.setdiff1d(every, both), both))
    sessions = run(job, splits, n_jobs=n_jobs)
    pairs = {}
    for (i, j), one in zip(twos, sessions[k:], strict=True):
        wrong = (one.predicted != job.y[one.test]).astype(float)
        pairs[i, j] = wrong[: len(parts[i])], wrong[len(parts[i]) :]
    return sessions[:k], pairs


def _gaps(
    job: Task, parts: list[Rows], held: list[Session], pairs: dict[tuple[int, int], tuple[Array, Array]]
) -> list[float]:
    """For each fold, (inner − held-out error)² less the variance of the held-out one: the terms a − b of the paper."""
    gaps = []
    for k, part in enumerate(parts):
        within = [pairs[min(j, k), max(j, k)][0 if j < k else 1] for j in range(len(parts)) if j != k]
        wrong = (held[k].predicted != job.y[part]).astype(float)
        unit = None if job.unit is None else job.unit[part]
        variance = row_se(wrong, unit)[0] ** 2
        gaps.append((float(np.concatenate(within).mean()) - float(wrong.mean())) ** 2 - variance)
    return gaps


def _corrected(inner: float, outer: float, gap: float, naive: float, folds: int) -> tuple[float, float]:
    """The error without the bias of smaller training sets, and its standard error: the plain one to √K times that.

    The inner models train on K − 2 folds: bias = (1 + (K − 2)/K) (inner − outer), and (K − 1)/K rescales the variance.
    """
    error = inner - (1.0 + (folds - 2.0) / folds) * (inner - outer)
    se = math.sqrt(max(gap, 0.0) * (folds - 1.0) / folds)
    return min(max(error, 0.0), 1.0), min(max(se, naive), math.sqrt(folds) * naive)


def _wrong(job: Task, sessions: list[Session]) -> Array:
    """1 for each row that was tested wrongly."""
    wrong = np.empty(len(job))
    for one in sessions:
        wrong[one.test] = one.predicted != job.y[one.test]
    return wrong


def _check_once(job: Task, tests: list[Rows]) -> None:
    times_tested = np.bincount(np.concatenate(tests), minlength=len(job))
    if (times_tested != 1).any():
        raise StratError.about("cv", "must test every row once, got rows that are tested more or less often.")
