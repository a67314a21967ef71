"""The trap of early stopping: a training that ends when the test error is least has seen the test rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base import extras, validate
from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.base.validate.scalars import Rng
from strat.designs import Design
from strat.protocols.keywords import spelled
from strat.protocols.peeking import Peeking
from strat.protocols.running import Rows, Task, cloned, fit, learning, random_source, seeded, subset, task
from strat.protocols.splitting import fold_splits, random_splits, torn_units


@spelled
@checked
def early_stopping(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    steps: int = 50,
    validation: float = 0.25,
    cv: Any = 10,
    repeats: int = 1,
    units: ArrayLike | Design | None = None,
    rng: Rng = 0,
    n_jobs: int | None = None,
) -> Peeking:
    """The optimism of stopping a training at its least test error, against stopping by validation rows.

    Every training is done once, on the training rows without the validation rows, and looked at after each step.
    Peeking stops it where the test rows do best; honestly it stops where the validation rows do best, and only then is
    it tested.

    Parameters
    ----------
    estimator
        A classifier that shows its steps: with `staged_predict` (boosting: a step is an estimator, as many as it makes)
        or `partial_fit` (gradient descent, neural networks: a step is a pass through the rows).
    X, y, cv, repeats, units, rng, n_jobs
        As in `peeking`.
    steps
        Passes, for `partial_fit`.
    validation
        Share of the training rows that decide where to stop.

    Examples
    --------
    Features and labels have nothing to do with each other: the honest error is a half.

    >>> from sklearn.linear_model import SGDClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((80, 20)), np.tile([0, 1], 40)
    >>> result = early_stopping(SGDClassifier(), X, y, steps=20, cv=5)
    >>> bool(result.peeked.mean() < result.honest.mean()), len(result.chosen_honestly)
    (True, 5)
    """
    job = task(estimator, X, y, units, rng)
    _check_steps(job.estimator)
    validate.count("steps", steps, most=LIMITS.stopping_steps)
    validate.share("validation", validation, open_ends=True)
    source = random_source(rng)
    times = validate.count("repeats", repeats)
    splits = [s for _ in range(times) for s in fold_splits(job, cv, stratify=True, source=source)[0]]
    parts = []
    for train, test in splits:
        a, b = random_splits(subset(job, train), 1, validation, stratify=True, source=source)[0]
        parts.append((train[a], train[b], test))
    joblib = extras.load("joblib")
    curves = joblib.Parallel(n_jobs=n_jobs)(
        joblib.delayed(_curves)(model, job, part, steps)
        for model, part in zip(seeded(job, len(parts)), parts, strict=True)
    )
    stops = [int(validated.argmin()) for validated, _ in curves]
    peeked = np.array([tested.min() for _, tested in curves])
    honest = np.array([tested[stop] for (_, tested), stop in zip(curves, stops, strict=True)])
    ratio = float(np.mean([len(b) / len(a) for a, b in splits]))
    best = tuple(int(tested.argmin()) + 1 for _, tested in curves)
    return Peeking(peeked, honest, ratio, best, tuple(stop + 1 for stop in stops), torn_units(job, splits))


def _check_steps(estimator: Any) -> None:
    fresh = cloned(estimator)
    if not (hasattr(fresh, "staged_predict") or hasattr(fresh, "partial_fit")):
        raise StratError.about(
            "estimator",
            f"must have `staged_predict` or `partial_fit`, got {type(estimator).__name__}, whose training "
            "shows no steps; use `peeking` with a `grid` of what decides when it stops.",
        )


def _curves(model: Any, job: Task, part: tuple[Rows, Rows, Rows], steps: int) -> tuple[Array, Array]:
    """The error on the validation rows and on the test rows after each step."""
    train, *tested = part
    take = extras.load("sklearn.utils")._safe_indexing
    features = [take(job.X, rows) for rows in tested]
    shown = _stages(model, job, train, features, steps)
    rates = np.array(
        [
            [np.mean(np.asarray(guess) != job.y[rows]) for guess, rows in zip(stage, tested, strict=True)]
            for stage in shown
        ]
    )
    return rates[:, 0], rates[:, 1]


def _stages(model: Any, job: Task, train: Rows, features: list[Any], steps: int) -> Iterator[tuple[Any, ...]]:
    """The predictions for each set of features after each step."""
    take = extras.load("sklearn.utils")._safe_indexing
    rows, labels = take(job.X, train), job.y[train]
    if hasattr(model, "staged_predict"):
        model = fit(model, rows, labels, None if job.unit is None else job.unit[train])
        yield from zip(*(model.staged_predict(each) for each in features), strict=True)
        return
    for _ in range(steps):
        with learning(model, rows, labels):
            model.partial_fit(rows, labels, classes=job.classes)
        yield tuple(model.predict(each) for each in features)
