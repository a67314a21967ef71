"""Which rows train and which rows test: folds, random splits, given splits, whole units."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from strat.base import extras
from strat.base.errors import StratError, plain, some
from strat.base.notes import Note
from strat.base.validate.arguments import shown
from strat.base.validate.columns import Codes
from strat.protocols.running import Rows, Split, Task

TRIES = 20  # random splits of units that leave every class some training units


def fold_splits(task: Task, cv: Any, *, stratify: bool, source: np.random.Generator) -> tuple[list[Split], str]:
    """The (training, test) pairs of K folds, of any scikit-learn splitter or of a list, and what they are called."""
    if not isinstance(cv, int | np.integer) or isinstance(cv, bool):
        return _given_splits(task, cv)
    k = int(cv)
    _check_folds(task, k, stratify)
    seed = int(source.integers(2**31 - 1))
    y = task.codes if stratify else np.zeros_like(task.codes)
    return _splits(_k_fold(k, stratify, task.unit is not None, seed), y, task.unit), f"{k}-fold"


def _given_splits(task: Task, cv: Any) -> tuple[list[Split], str]:
    no_list = isinstance(cv, str | bytes | bool) or not isinstance(cv, Iterable) or getattr(cv, "ndim", 1) == 0
    if not isinstance(cv, str | bytes) and hasattr(cv, "split"):
        return _by_splitter(task, cv), type(cv).__name__
    if no_list:
        raise StratError.about(
            "cv",
            f"must be a number of folds, a scikit-learn splitter or a list of (train, test) rows, got {shown(cv)}.",
        )
    splits = [_listed_split(task, number, pair) for number, pair in enumerate(cv)]
    if not splits:
        raise StratError.about("cv", "must hold at least one pair of training and test rows, got none.")
    return splits, f"{len(splits)} given splits"


def _listed_split(task: Task, number: int, pair: Any) -> Split:
    """One pair of a list, as row numbers."""
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise StratError.about("cv", f"must hold pairs of training and test rows, got {shown(pair)} in place {number}.")
    train, test = (_side(task, number, rows) for rows in pair)
    if len(both := np.intersect1d(train, test)):
        raise StratError.about(
            "cv",
            f"must test rows that were not trained on, got {len(both)} rows on both sides in place {number}; "
            "use resubstitution for the error on the training rows.",
        )
    return train, test


def _side(task: Task, number: int, given: Any) -> Rows:
    """Rows of one side of a given split, as numbers."""
    rows = np.asarray(given)
    if rows.dtype == bool and rows.shape == (len(task),):
        rows = np.flatnonzero(rows)
    numbered = rows.ndim == 1 and len(rows) > 0 and rows.dtype.kind in "iu"
    if not numbered or rows.min() < 0 or rows.max() >= len(task):
        raise StratError.about(
            "cv",
            f"must hold numbers of rows from 0 to {len(task) - 1}, some of them on either side, got {shown(rows)} "
            f"in place {number}.",
        )
    return rows.astype(np.int64)


def _by_splitter(task: Task, splitter: Any) -> list[Split]:
    GroupsConsumerMixin = extras.load("sklearn.model_selection._split").GroupsConsumerMixin
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The groups parameter is ignored")
        try:
            return [(a, b) for a, b in splitter.split(task.X, task.y, task.unit)]
        except ValueError as reason:
            grouped = task.unit is None and isinstance(splitter, GroupsConsumerMixin)
            way_out = "pass `units`" if grouped else "choose another splitter"
            raise StratError.about(
                "cv",
                f"must be able to split these rows, got a {type(splitter).__name__} that can't "
                f"({str(reason).splitlines()[0].rstrip('.')}); {way_out}.",
            ) from None


def torn_units(task: Task, splits: Iterable[Split]) -> tuple[str, ...]:
    """What to know about splits that put rows of one unit on both sides."""
    unit = task.unit
    if unit is None or not any(np.isin(unit[b], unit[a]).any() for a, b in splits):
        return ()
    return (Note("units-split"),)


def _k_fold(k: int, stratify: bool, grouped: bool, seed: int) -> Any:
    kinds = extras.load("sklearn.model_selection")
    maker = kinds.StratifiedGroupKFold if grouped else kinds.StratifiedKFold if stratify else kinds.KFold
    return maker(k, shuffle=True, random_state=seed)


def _splits(splitter: Any, y: Codes, unit: Codes | None) -> list[Split]:
    return [(a, b) for a, b in splitter.split(np.zeros(len(y)), y, unit)]


def _check_folds(task: Task, k: int, stratify: bool) -> None:
    cases = len(task) if task.unit is None else int(task.unit.max()) + 1
    what = "rows" if task.unit is None else "units"
    if not 2 <= k <= cases:
        raise StratError.about("cv", f"must lie between 2 and the number of {what} ({cases}), got {k}.")
    if not stratify:
        return
    sizes = task.class_sizes
    if task.unit is not None:
        pairs = np.unique(np.column_stack([task.codes, task.unit]), axis=0)
        sizes = np.bincount(pairs[:, 0], minlength=len(task.classes))
    least = int(sizes.argmin())
    if k > sizes[least]:
        raise StratError.about(
            "cv",
            f"must be at most the size of the smallest class "
            f"({plain(task.classes[least])!r}, {sizes[least]} {what}), got {k}; use fewer folds, "
            "`stratify=False`, or leave_one_out.",
        )


def random_splits(task: Task, repeats: int, test: float, *, stratify: bool, source: np.random.Generator) -> list[Split]:
    """Random (training, test) pairs with a wanted share of test rows."""
    if not 0 < test < 1:
        raise StratError.about("test", f"must be a share of the rows between 0 and 1, got {test!r}.")
    _check_two_each(task, test, stratify)
    if task.unit is not None:
        return [_grouped_split(task, test, stratify, source) for _ in range(repeats)]
    kinds = extras.load("sklearn.model_selection")
    maker = kinds.StratifiedShuffleSplit if stratify else kinds.ShuffleSplit
    splitter = maker(repeats, test_size=test, random_state=int(source.integers(2**31 - 1)))
    return _splits(splitter, task.codes, None)


def _check_two_each(task: Task, test: float, stratify: bool) -> None:
    lone = task.class_sizes < 2
    if stratify and lone.any():
        raise StratError.about(
            "y",
            f"must have at least two rows of every class to be split by class, got one of "
            f"{some(task.classes[lone])}; merge or drop these classes, or use `stratify=False`.",
        )
    n_test = math.ceil(len(task) * test)
    least = len(task.classes) if stratify else 1
    if min(n_test, len(task) - n_test) < least:
        raise StratError.about(
            "test",
            f"must leave a row of each of the {len(task.classes)} classes on both sides, got "
            f"{test!r} of {len(task)} rows.",
        )


def _grouped_split(task: Task, test: float, stratify: bool, source: np.random.Generator) -> Split:
    """Whole units on either side: as many of the folds of a stratified group split as the share asks for."""
    assert task.unit is not None
    most = min(20, int(task.unit.max()) + 1, int(task.class_sizes.min()) if stratify else 20)
    if most < 2:
        raise StratError.about("units", "must name at least two units to be split, got one.")
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
    raise StratError.about(
        "units",
        f"must leave every class some training units, got none of them in {TRIES} random splits with "
        f"`test` {test!r}; test fewer rows.",
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
