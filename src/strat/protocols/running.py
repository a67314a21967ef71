"""Training and testing sessions: checks of arguments, splits, fits in parallel, the table of predictions."""

from __future__ import annotations

import pickle
import time
import tracemalloc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base import extras
from strat.base.errors import StratError, plain, short
from strat.base.limits import LIMITS
from strat.base.validate.arguments import shown
from strat.base.validate.columns import Array, Codes, encode, same_length
from strat.base.validate.scalars import Rng, generator
from strat.designs import Design
from strat.protocols.protocol_result import Memory, Table, Times

Rows = NDArray[np.int64]
Split = tuple[Rows, Rows]


@dataclass(frozen=True, eq=False)
class Task:
    """A checked learning task: an estimator that can be cloned, its features, labels, units and seed."""

    estimator: Any
    X: Any
    y: NDArray[Any]
    codes: Codes
    classes: NDArray[Any]
    unit: Codes | None
    unit_labels: NDArray[Any] | None
    seed: int = 0

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def class_sizes(self) -> Rows:
        """Rows of each class."""
        return np.bincount(self.codes, minlength=len(self.classes))


@dataclass(frozen=True, eq=False)
class Session:
    """One training and one testing; `scores` are rows × classes (two classes by decision: one column), if there are.

    `watched` are the answers on the rows that all models of a run answer, tested or not, and `watched_scores` one score
    for each of them (NaN where there is none).
    """

    test: Rows
    predicted: NDArray[Any]
    score: Array
    fit: float
    predict: float
    scores: Array | None = None
    scored_by: str = ""
    watched: NDArray[Any] | None = None
    watched_scores: Array | None = None


def task(estimator: Any, X: Any, y: ArrayLike, units: ArrayLike | Design | None, rng: Rng = 0) -> Task:
    """The checked task, or one clear sentence about what is wrong with it."""
    cloned(estimator)
    if isinstance(units, Design):
        units = None if units.rows_are_units else units.unit
    codes, classes = encode("y", y)
    features = _features(X)
    same_length(y=codes, X=np.empty(_length(features)))
    if len(classes) < 2:
        raise StratError.about("y", f"must have at least two classes, got only {plain(classes[0])!r}.")
    unit, labels = (None, None) if units is None else encode("units", units)
    if unit is not None:
        same_length(y=codes, units=unit)
    return Task(estimator, features, classes[codes], codes, classes, unit, labels, _estimator_seed(rng))


def _features(X: Any) -> Any:
    """What scikit-learn can take rows from: arrays of any shape, frames, sparse matrices, lists of texts or records."""
    if not hasattr(X, "shape"):
        if not isinstance(X, list | tuple):
            raise StratError.about("X", f"must hold a row for each label, got {shown(X)}.")
        if any(isinstance(row, str | bytes | dict) for row in X):
            return list(X)
        try:
            X = np.asarray(X)
        except ValueError:  # rows of different lengths: tokens, say
            return list(X)
    numeric = getattr(getattr(X, "dtype", None), "kind", "O") in "biufc"
    if len(X.shape) == 0 or (len(X.shape) == 1 and numeric):
        raise StratError.about("X", f"must be rows × features, got an array of shape {X.shape}.")
    return X


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _estimator_seed(rng: Rng) -> int:
    """A seed for the estimator's own randomness, from a stream beside the one that splits rows."""
    try:
        return int(generator(rng).spawn(1)[0].integers(2**31 - 1))
    except TypeError:  # a generator whose bits have no seed sequence to branch from
        return 0


def cloned(estimator: Any) -> Any:
    """A fresh copy of the estimator, unfitted."""
    base = extras.load("sklearn.base")
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise StratError.about("estimator", f"must have `fit` and `predict`, got {type(estimator).__name__}.")
    try:
        fresh = base.clone(estimator)
    except (TypeError, RuntimeError) as reason:
        raise StratError.about(
            "estimator",
            f"must be an estimator that scikit-learn can clone, got {type(estimator).__name__} "
            f"({str(reason).splitlines()[0]}); inherit from BaseEstimator and store the arguments unchanged.",
        ) from None
    if base.is_regressor(estimator):
        raise StratError.about("estimator", f"must be a classifier, got the regressor {type(estimator).__name__}.")
    return fresh


def subset(task: Task, rows: Rows) -> Task:
    """The task on some of its rows."""
    take = extras.load("sklearn.utils")._safe_indexing

    unit = None if task.unit is None else np.unique(task.unit[rows], return_inverse=True)[1]
    return replace(task, X=take(task.X, rows), y=task.y[rows], codes=task.codes[rows], unit=unit)


def run(task: Task, splits: Sequence[Split], *, n_jobs: int | None, watch: Rows | None = None) -> list[Session]:
    """A session for each (training, test) pair, through joblib and whatever backend is chosen there.

    All models answer the rows in `watch` as well. Where the estimator has a `random_state` of None, each session gets
    its own, drawn from the task's seed.
    """
    joblib = extras.load("joblib")
    models = seeded(task, len(splits))
    return list(
        joblib.Parallel(n_jobs=n_jobs)(
            joblib.delayed(session)(model, task, train, test, watch)
            for model, (train, test) in zip(models, splits, strict=True)
        )
    )


def seeded(task: Task, number: int) -> list[Any]:
    """Fresh copies of the estimator, each with seeds of its own where it leaves its `random_state` to chance."""
    places = random_states(task.estimator)
    seeds = np.random.default_rng(task.seed).integers(2**31 - 1, size=(number, len(places))).tolist()
    return [cloned(task.estimator).set_params(**dict(zip(places, own, strict=True))) for own in seeds]


def random_states(estimator: Any) -> list[str]:
    """The estimator's arguments that leave randomness to chance, its parts' included."""
    given = estimator.get_params(deep=True)
    return sorted(name for name, value in given.items() if value is None and name.endswith("random_state"))


def session(estimator: Any, task: Task, train: Rows, test: Rows, watch: Rows | None = None) -> Session:
    """Train on some rows, test on others, with a clock running; then answer the rows in `watch`."""
    take = extras.load("sklearn.utils")._safe_indexing

    start = time.perf_counter()
    fit(estimator, take(task.X, train), task.y[train], None if task.unit is None else task.unit[train])
    fitted = time.perf_counter()
    rows = take(task.X, test)
    predicted = np.asarray(estimator.predict(rows))
    done = time.perf_counter()
    scores, by = score_matrix(estimator, rows, task.classes)
    one = single_score(scores, predicted, task.classes)
    answers, marks = (None, None) if watch is None else _answers(estimator, take(task.X, watch), task.classes)
    return Session(test, predicted, one, fitted - start, done - fitted, scores, by, answers, marks)


def _answers(estimator: Any, X: Any, classes: NDArray[Any]) -> tuple[NDArray[Any], Array]:
    """What a trained estimator says of rows, and with which score."""
    predicted = np.asarray(estimator.predict(X))
    return predicted, single_score(score_matrix(estimator, X, classes)[0], predicted, classes)


def fit(estimator: Any, X: Any, y: NDArray[Any], groups: Codes | None = None) -> Any:
    """The estimator, fitted; a search within that splits by groups gets the units."""
    with learning(estimator, X, y):
        if groups is not None and _wants_groups(estimator):
            with extras.load("sklearn").config_context(enable_metadata_routing=True):
                return estimator.fit(X, y, groups=groups)
        return estimator.fit(X, y)


def _wanted_of_rows(estimator: str, X: Any, y: NDArray[Any]) -> str:
    """What rows must have so that the covariance matrices of an estimator are not singular, and what these have."""
    least, features = int(np.unique(y, return_counts=True)[1].min()), int(np.prod(np.shape(X)[1:]))
    if least <= features:
        return (
            f"more training rows in every class than features for {estimator}, got {features} features and {least} "
            "rows in the smallest class"
        )
    return (
        f"features that are not (nearly) linear functions of each other for {estimator}, got {features} that are "
        "within some class"
    )


@contextmanager
def learning(estimator: Any, X: Any, y: NDArray[Any]) -> Iterator[None]:
    """Name what scikit-learn raises for rows that it can't learn from, a singular covariance first of all."""
    try:
        yield
    except np.linalg.LinAlgError:
        raise StratError.about(
            "X",
            f"must have {_wanted_of_rows(type(estimator).__name__, X, y)}: a covariance matrix is singular; regularise "
            "it (as `quadratic_discriminant(r=…)` does), select features or get more rows.",
        ) from None
    except (ValueError, TypeError, OverflowError) as reason:
        # all else is a bug, here or in the estimator
        if not isinstance(reason, ValueError) and getattr(getattr(X, "dtype", None), "kind", "O") != "O":
            raise
        message = str(reason).strip().partition("\n")[0].rstrip(".:")
        raise StratError.about(
            "estimator",
            f"must be able to learn from these rows, but {type(estimator).__name__} raised "
            f"{type(reason).__name__}: {short(message)}.",
        ) from reason


def _wants_groups(estimator: Any) -> bool:
    """Whether a splitter somewhere within the estimator asks for groups, by scikit-learn's metadata routing."""
    if not hasattr(estimator, "get_metadata_routing"):
        return False
    routing = extras.load("sklearn.utils.metadata_routing")
    with extras.load("sklearn").config_context(enable_metadata_routing=True):
        return "groups" in routing.get_routing_for_object(estimator).consumes("fit", {"groups"})


def score_matrix(estimator: Any, X: Any, classes: NDArray[Any]) -> tuple[Array | None, str]:
    """Scores of each row for each class (one column for two classes by decision), and the method that gave them."""
    known = getattr(estimator, "classes_", None)
    if known is None or not np.array_equal(known, classes):
        return None, ""
    for method in ("predict_proba", "decision_function"):
        if hasattr(estimator, method):
            values = np.asarray(getattr(estimator, method)(X), float)
            values = values[:, None] if values.ndim == 1 else values
            fits = values.shape[1] == len(classes) or (values.shape[1] == 1 and len(classes) == 2)
            return (values, method) if fits else (None, "")
    return None, ""


def single_score(scores: Array | None, predicted: NDArray[Any], classes: NDArray[Any]) -> Array:
    """One score per row: of the greater of two labels, or of the predicted one; NaN where there is none."""
    if scores is None:
        return np.full(len(predicted), np.nan)
    if len(classes) == 2:
        return scores[:, -1]
    return scores[np.arange(len(scores)), np.searchsorted(classes, predicted)]


def table(task: Task, sessions: Sequence[Session], repeats: Sequence[int], folds: Sequence[int]) -> Table:
    """All predictions as columns."""
    sizes = [len(s.test) for s in sessions]
    row = np.concatenate([s.test for s in sessions])
    columns: Table = {
        "row": row,
        "fold": np.repeat(folds, sizes),
        "repeat": np.repeat(repeats, sizes),
        "truth": task.y[row],
        "predicted": np.concatenate([s.predicted for s in sessions]),
        "score": np.concatenate([s.score for s in sessions]),
    }
    if task.unit is not None and task.unit_labels is not None:
        columns["unit"] = task.unit_labels[task.unit[row]]
    return columns


def errors(task: Task, sessions: Iterable[Session]) -> Array:
    """Share of wrong rows in each session, Kuncheva (1.8)."""
    return np.array([np.mean(s.predicted != task.y[s.test]) for s in sessions])


def times(sessions: Sequence[Session]) -> Times:
    """Seconds of all sessions."""
    return Times(np.array([s.fit for s in sessions]), np.array([s.predict for s in sessions]))


def memory(task: Task, train: Rows, seconds: float) -> Memory:
    """Bytes of one trained classifier, and the most its training held at once if that is cheap to learn."""
    take = extras.load("sklearn.utils")._safe_indexing

    if seconds > LIMITS.traced_seconds:
        return Memory(float("nan"), float("nan"))
    X, y, model = take(task.X, train), task.y[train], cloned(task.estimator)
    groups = None if task.unit is None else task.unit[train]
    tracing = tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    fit(model, X, y, groups)
    peak = tracemalloc.get_traced_memory()[1] - before
    if not tracing:
        tracemalloc.stop()
    try:
        size = float(len(pickle.dumps(model)))
    except (pickle.PicklingError, AttributeError, TypeError):
        size = float("nan")
    return Memory(size, float(peak))


def random_source(rng: Rng) -> np.random.Generator:
    """The random source behind `rng`."""
    return generator(rng)
