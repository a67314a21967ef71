"""Training and testing sessions: checks at the door, splits, fits in parallel, the table of predictions."""

from __future__ import annotations

import math
import pickle
import time
import tracemalloc
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.columns import Array, Codes, encode, same_length
from strat.datasets.draws import Rng, generator
from strat.designs import Design
from strat.errors import StratError, StratWarning, plain, some
from strat.protocols.results import Memory, Table, Times

Rows = NDArray[np.int64]
Split = tuple[Rows, Rows]
TRACE_LIMIT = 1.0
TRIES = 20


@dataclass(frozen=True, eq=False)
class Task:
    """A checked learning task: an estimator that can be cloned, its features, labels and units."""

    estimator: Any
    X: Any
    y: NDArray[Any]
    codes: Codes
    classes: NDArray[Any]
    unit: Codes | None
    unit_labels: NDArray[Any] | None

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def class_sizes(self) -> Rows:
        """Rows of each class."""
        return np.bincount(self.codes, minlength=len(self.classes))


@dataclass(frozen=True, eq=False)
class Session:
    """One training and one testing."""

    test: Rows
    predicted: NDArray[Any]
    score: Array
    fit: float
    predict: float


def task(estimator: Any, X: Any, y: ArrayLike, units: ArrayLike | Design | None) -> Task:
    """The checked task, or one clear sentence about what is wrong with it."""
    cloned(estimator)
    if isinstance(units, Design):
        units = None if units.rows_are_units else units.unit
    codes, classes = encode("y", y)
    features = X if hasattr(X, "shape") else np.asarray(X)
    if len(features.shape) != 2:
        raise StratError(f"`X` must be rows × features, got an array of shape {features.shape}.")
    same_length(y=codes, X=np.empty(features.shape[0]))
    if len(classes) < 2:
        raise StratError(f"`y` must have at least two classes, got only {plain(classes[0])!r}.")
    unit, labels = (None, None) if units is None else encode("units", units)
    if unit is not None:
        same_length(y=codes, units=unit)
    return Task(estimator, features, classes[codes], codes, classes, unit, labels)


def cloned(estimator: Any) -> Any:
    """A fresh copy of the estimator, unfitted."""
    from sklearn.base import clone, is_regressor

    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise StratError(f"`estimator` must have `fit` and `predict`, got {type(estimator).__name__}.")
    try:
        fresh = clone(estimator)
    except (TypeError, RuntimeError) as reason:
        raise StratError(
            f"`estimator` must be an estimator that scikit-learn can clone, got {type(estimator).__name__} "
            f"({str(reason).splitlines()[0]}); inherit from BaseEstimator and store the arguments unchanged."
        ) from None
    if is_regressor(estimator):
        raise StratError(f"`estimator` must be a classifier, got the regressor {type(estimator).__name__}.")
    return fresh


def run(task: Task, splits: Sequence[Split], *, n_jobs: int | None) -> list[Session]:
    """A session for each (training, test) pair, through joblib and whatever backend is chosen there."""
    from joblib import Parallel, delayed

    return list(
        Parallel(n_jobs=n_jobs)(
            delayed(session)(cloned(task.estimator), task.X, task.y, task.classes, train, test)
            for train, test in splits
        )
    )


def session(estimator: Any, X: Any, y: NDArray[Any], classes: NDArray[Any], train: Rows, test: Rows) -> Session:
    """Train on some rows, test on others, with a clock running."""
    from sklearn.utils import _safe_indexing as take

    start = time.perf_counter()
    fit(estimator, take(X, train), y[train])
    fitted = time.perf_counter()
    rows = take(X, test)
    predicted = np.asarray(estimator.predict(rows))
    done = time.perf_counter()
    return Session(test, predicted, score(estimator, rows, predicted, classes), fitted - start, done - fitted)


def fit(estimator: Any, X: Any, y: NDArray[Any]) -> Any:
    """The estimator, fitted; a singular covariance is said clearly."""
    try:
        return estimator.fit(X, y)
    except np.linalg.LinAlgError:
        least, features = int(np.unique(y, return_counts=True)[1].min()), X.shape[1]
        why = (
            f"more training rows in every class than features for {type(estimator).__name__}, got {features} features "
            f"and {least} rows in the smallest class"
            if least <= features
            else f"features that are not (nearly) linear functions of each other for {type(estimator).__name__}, "
            f"got {features} that are within some class"
        )
        raise StratError(
            f"`X` must have {why}: a covariance matrix is singular; regularise it (as "
            "`quadratic_discriminant(r=…)` does), select features or get more rows."
        ) from None


def score(estimator: Any, X: Any, predicted: NDArray[Any], classes: NDArray[Any]) -> Array:
    """The classifier's own score of each row: of the greater of two labels, or of the predicted one."""
    known = getattr(estimator, "classes_", None)
    nothing = np.full(len(predicted), np.nan)
    if known is None or not np.array_equal(known, classes):
        return nothing
    for method in ("predict_proba", "decision_function"):
        if hasattr(estimator, method):
            values = np.asarray(getattr(estimator, method)(X), float)
            if values.ndim == 1:
                return values
            if len(classes) == 2:
                return values[:, 1]
            if values.shape[1] != len(classes):
                return nothing
            return values[np.arange(len(values)), np.searchsorted(classes, predicted)]
    return nothing


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
    from sklearn.utils import _safe_indexing as take

    if seconds > TRACE_LIMIT:
        return Memory(float("nan"), float("nan"))
    X, y, model = take(task.X, train), task.y[train], cloned(task.estimator)
    tracing = tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    fit(model, X, y)
    peak = tracemalloc.get_traced_memory()[1] - before
    if not tracing:
        tracemalloc.stop()
    try:
        size = float(len(pickle.dumps(model)))
    except (pickle.PicklingError, AttributeError, TypeError):
        size = float("nan")
    return Memory(size, float(peak))


def fold_splits(task: Task, folds: Any, *, stratify: bool, source: np.random.Generator) -> tuple[list[Split], str]:
    """The (training, test) pairs of K folds, or of any scikit-learn splitter, and what they are called."""
    if not isinstance(folds, int | np.integer):
        return _given_splits(task, folds), type(folds).__name__
    k = int(folds)
    _check_folds(task, k, stratify)
    seed = int(source.integers(2**31 - 1))
    y = task.codes if stratify else np.zeros_like(task.codes)
    return _splits(_k_fold(k, stratify, task.unit is not None, seed), y, task.unit), f"{k}-fold"


def _given_splits(task: Task, splitter: Any) -> list[Split]:
    if isinstance(splitter, str) or not hasattr(splitter, "split"):
        raise StratError(f"`folds` must be a number or a scikit-learn splitter, got {type(splitter).__name__}.")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The groups parameter is ignored")
        try:
            splits = [(a, b) for a, b in splitter.split(task.X, task.y, task.unit)]
        except ValueError as reason:
            way_out = "pass `units`" if task.unit is None and "groups" in str(reason) else "choose another splitter"
            raise StratError(
                f"`folds` must be able to split these rows, got a {type(splitter).__name__} that can't "
                f"({str(reason).splitlines()[0].rstrip('.')}); {way_out}."
            ) from None
    unit = task.unit
    if unit is not None and any(np.isin(unit[b], unit[a]).any() for a, b in splits):
        warnings.warn(
            f"`folds` is a {type(splitter).__name__}, which puts rows of one unit on both sides: the error will "
            "look too small; use a number of folds or a splitter that knows groups.",
            StratWarning,
            stacklevel=4,
        )
    return splits


def _k_fold(k: int, stratify: bool, grouped: bool, seed: int) -> Any:
    from sklearn.model_selection import KFold, StratifiedGroupKFold, StratifiedKFold

    maker = StratifiedGroupKFold if grouped else StratifiedKFold if stratify else KFold
    return maker(k, shuffle=True, random_state=seed)


def _splits(splitter: Any, y: Codes, unit: Codes | None) -> list[Split]:
    return [(a, b) for a, b in splitter.split(np.zeros(len(y)), y, unit)]


def _check_folds(task: Task, k: int, stratify: bool) -> None:
    cases = len(task) if task.unit is None else int(task.unit.max()) + 1
    what = "rows" if task.unit is None else "units"
    if not 2 <= k <= cases:
        raise StratError(f"`folds` must lie between 2 and the number of {what} ({cases}), got {k}.")
    if not stratify:
        return
    sizes = task.class_sizes
    if task.unit is not None:
        pairs = np.unique(np.column_stack([task.codes, task.unit]), axis=0)
        sizes = np.bincount(pairs[:, 0], minlength=len(task.classes))
    least = int(sizes.argmin())
    if k > sizes[least]:
        raise StratError(
            f"`folds` must be at most the size of the smallest class "
            f"({plain(task.classes[least])!r}, {sizes[least]} {what}), got {k}; use fewer folds, "
            "`stratify=False`, or leave_one_out."
        )


def random_splits(task: Task, repeats: int, test: float, *, stratify: bool, source: np.random.Generator) -> list[Split]:
    """Random (training, test) pairs with a wanted share of test rows."""
    if not 0 < test < 1:
        raise StratError(f"`test` must be a share of the rows between 0 and 1, got {test!r}.")
    _check_two_each(task, test, stratify)
    if task.unit is not None:
        return [_grouped_split(task, test, stratify, source) for _ in range(repeats)]
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    maker = StratifiedShuffleSplit if stratify else ShuffleSplit
    splitter = maker(repeats, test_size=test, random_state=int(source.integers(2**31 - 1)))
    return _splits(splitter, task.codes, None)


def _check_two_each(task: Task, test: float, stratify: bool) -> None:
    lone = task.class_sizes < 2
    if stratify and lone.any():
        raise StratError(
            f"`y` must have at least two rows of every class to be split by class, got one of "
            f"{some(task.classes[lone])}; merge or drop these classes, or use `stratify=False`."
        )
    n_test = math.ceil(len(task) * test)
    least = len(task.classes) if stratify else 1
    if min(n_test, len(task) - n_test) < least:
        raise StratError(
            f"`test` must leave a row of each of the {len(task.classes)} classes on both sides, got "
            f"{test!r} of {len(task)} rows."
        )


def _grouped_split(task: Task, test: float, stratify: bool, source: np.random.Generator) -> Split:
    """Whole units on either side: as many of the folds of a stratified group split as the share asks for."""
    assert task.unit is not None
    most = min(20, int(task.unit.max()) + 1, int(task.class_sizes.min()) if stratify else 20)
    if most < 2:
        raise StratError("`units` must name at least two units to be split, got one.")
    part = Fraction(test).limit_denominator(most)
    part = min(max(part, Fraction(1, most)), 1 - Fraction(1, most))
    y = task.codes if stratify else np.zeros_like(task.codes)
    for _ in range(TRIES):
        seed = int(source.integers(2**31 - 1))
        folds = _splits(_k_fold(part.denominator, stratify, True, seed), y, task.unit)
        chosen = _first_folds(folds, test * len(task), source)
        train = np.setdiff1d(np.arange(len(task)), chosen)
        if len(np.unique(task.codes[train])) == len(task.classes):
            return train, chosen
    raise StratError(
        f"`units` must leave every class some training units, got none of them in {TRIES} random splits with "
        f"`test` {test!r}; test fewer rows."
    )


def _first_folds(folds: list[Split], wanted: float, source: np.random.Generator) -> Rows:
    """Rows of some folds, in random order, that come nearest to a wanted number; never of all folds."""
    parts = [folds[i][1] for i in source.permutation(len(folds))]
    sizes = np.cumsum([len(part) for part in parts[:-1]])
    return np.sort(np.concatenate(parts[: int(np.abs(sizes - wanted).argmin()) + 1]))


def repeat_numbers(splits: Sequence[Split], n: int) -> tuple[list[int], list[int]]:
    """Number of the repeat and of the fold of each split: a repeat ends when a row is tested again."""
    tested = np.zeros(n, bool)
    repeats, folds = [], []
    repeat = fold = 0
    for _, test in splits:
        if tested[test].any():
            repeat, fold = repeat + 1, 0
            tested[:] = False
        repeats.append(repeat)
        folds.append(fold)
        tested[test] = True
        fold += 1
    return repeats, folds


def random_source(rng: Rng) -> np.random.Generator:
    """The random source behind `rng`."""
    return generator(rng)
