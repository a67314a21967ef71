"""Resubstitution, hold-out, cross-validation, leave-one-out and three-way testing (Kuncheva 1.3.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base import extras, validate
from strat.base.errors import StratError, some
from strat.base.validate.arguments import checked
from strat.base.validate.scalars import Rng
from strat.designs import Design
from strat.protocols.keywords import spelled, units_of
from strat.protocols.over_time import rising_errors
from strat.protocols.protocol_result import (
    OPTIMISTIC,
    PESSIMISTIC,
    ProtocolResult,
)
from strat.protocols.running import Session, Split, Task, cloned, errors, random_source, run, subset, task
from strat.protocols.splitting import fold_splits, random_splits, torn_units
from strat.protocols.summaries import detailed, over_splits, tested_once


@spelled
@checked
def resubstitution(estimator: Any, X: Any, y: ArrayLike, *, units: ArrayLike | Design | None = None) -> ProtocolResult:
    """The error on the very rows that the classifier was trained on.

    It is too low: F&H III and Kuncheva 1.3.4. Its use is as a lower bound beside leave-one-out; see `bounds`.

    Parameters
    ----------
    estimator
        Any scikit-learn classifier. Where it has a `random_state` of None, every training gets its own, drawn from
        `rng`, so that a result can be had again.
    X, y
        What the classifier takes (features, texts, images, a data frame, a sparse matrix), and labels.
    units
        What the rows came in (subjects, passages), as labels or as a `strat.Design`; their number, not that of the
        rows, gives the variance. A search within the estimator that splits by groups gets them too.

    Examples
    --------
    One nearest neighbour remembers every row.

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> resubstitution(KNeighborsClassifier(1), [[0], [1], [2], [3]], [0, 1, 0, 1]).error
    0.0
    """
    job = task(estimator, X, y, units)
    rows = np.arange(len(job))
    return tested_once("resubstitution", job, [(rows, rows)], OPTIMISTIC, n_jobs=None)


@spelled
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
    job = task(estimator, X, y, units, rng)
    splits = random_splits(job, 1, test, stratify=stratify, source=random_source(rng))
    return tested_once("hold-out", job, splits, PESSIMISTIC, n_jobs=None)


@spelled
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
    """The mean error of many random splits (data shuffle).

    Splits make no more rows: the interval is that of the distinct tested rows or units, wider as far as the trained
    models differ (see `strat.protocols.intervals`). It is for models that are trained on so many rows.

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
    0.3 (5,) test rows as independent draws, more where the trained models differ
    """
    job = task(estimator, X, y, units, rng)
    if validate.count("repeats", repeats) < 2:
        raise StratError.about("repeats", f"must be at least 2, got {repeats}; use holdout for one split.")
    splits = random_splits(job, repeats, test, stratify=stratify, source=random_source(rng))
    numbers = (list(range(repeats)), [0] * repeats)
    return over_splits("repeated hold-out", job, splits, n_jobs=n_jobs, numbers=numbers)


@spelled
@checked
def cross_validation(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = 10,
    repeats: int = 1,
    units: ArrayLike | Design | None = None,
    groups: ArrayLike | Design | None = None,
    stratify: bool = True,
    rng: Rng = 0,
    n_jobs: int | None = None,
) -> ProtocolResult:
    """The mean error over folds that take turns at testing; M × K folds with `repeats=M`.

    Parameters
    ----------
    estimator, X, y, units, stratify, rng, n_jobs
        As in `repeated_holdout`.
    cv
        Number of folds, any scikit-learn splitter (which then decides about classes and units), or a list of pairs of
        training and test rows.
    repeats
        How often the rows are split anew.
    groups
        Another name of `units`, for those who come from scikit-learn.

    For measures other than the error, with the intervals of `strat.evaluate`, see `strat.cross_validate`.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = np.zeros((100, 1)), np.repeat([0, 1], [70, 30])
    >>> r = cross_validation(DummyClassifier(), X, y, cv=5)
    >>> r.protocol, round(r.error, 12), r.bias
    ('5-fold cross-validation', 0.3, 'pessimistic')
    """
    job = task(estimator, X, y, units_of(units, groups), rng)
    source = random_source(rng)
    given = not isinstance(cv, int | np.integer)
    if given and repeats != 1:
        raise StratError.about(
            "repeats", f"must be 1 with given splits, got {repeats}; let the splitter repeat itself."
        )
    parts = [fold_splits(job, cv, stratify=stratify, source=source) for _ in range(validate.count("repeats", repeats))]
    splits = [split for part, _ in parts for split in part]
    often = f"{repeats} × " if repeats > 1 else ""
    name = f"cross-validation ({parts[0][1]})" if given else f"{often}{parts[0][1]} cross-validation"
    once = len(splits) == 1
    result = (
        tested_once(name, job, splits, PESSIMISTIC, n_jobs=n_jobs)
        if once
        else over_splits(name, job, splits, n_jobs=n_jobs)
    )
    rising = rising_errors(result, splits) if given else ()
    return replace(result, notes=(*torn_units(job, splits), *rising))


@spelled
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
    job = task(estimator, X, y, units, rng)
    if not 0 < validation < 1 - test:
        raise StratError.about("validation", f"must lie between 0 and 1 − `test` ({1 - test:g}), got {validation!r}.")
    candidates = list(extras.load("sklearn.model_selection").ParameterGrid(grid))
    source = random_source(rng)
    learn, tested = random_splits(job, 1, test, stratify=stratify, source=source)[0]
    inner = subset(job, learn)
    a, b = random_splits(inner, 1, validation / (1 - test), stratify=stratify, source=source)[0]
    tried = [_candidate(job, p, [(learn[a], learn[b])], n_jobs) for p in candidates]
    rates = np.array([errors(job, sessions)[0] for sessions in tried])
    chosen = candidates[int(rates.argmin())]
    final = _with(job, chosen)
    result = tested_once("three-way hold-out", final, [(learn, tested)], PESSIMISTIC, n_jobs=n_jobs)
    details = {"chosen": chosen, "candidates": candidates, "validation_errors": rates}
    return detailed(result, details)


def _candidate(job: Task, parameters: Mapping[str, Any], splits: list[Split], n_jobs: int | None) -> list[Session]:
    return run(_with(job, parameters), splits, n_jobs=n_jobs)


def _with(job: Task, parameters: Mapping[str, Any]) -> Task:
    try:
        return replace(job, estimator=cloned(job.estimator).set_params(**parameters))
    except ValueError as reason:
        raise StratError.about(
            "grid", f"must name arguments of the estimator, got {some(parameters)}: {reason}"
        ) from None
