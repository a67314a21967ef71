"""A table of data sets × systems, checked once, and the ranks of the systems in each data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.columns import Array
from strat.doors import checked
from strat.errors import StratError, near, plain, some


@dataclass(frozen=True, eq=False)
class Scores:
    """One number for each data set (row) and system (column), complete and finite.

    Attributes
    ----------
    values
        Data sets × systems.
    systems, data_sets
        Their names.
    higher_is_better
        Whether a larger number is a better one.
    """

    values: Array
    systems: tuple[str, ...]
    data_sets: tuple[str, ...]
    higher_is_better: bool

    @property
    def ranks(self) -> Array:
        """Rank of each system in each data set: 1 is the best, ties share (ERRATA 17, 20)."""
        return ranked(-self.values if self.higher_is_better else self.values)

    def position(self, system: str | int) -> int:
        """The column of a system, by name or by its place from 0."""
        if isinstance(system, int | np.integer) and 0 <= system < len(self.systems):
            return int(system)
        if system not in self.systems:
            raise StratError(f"`control` must be a system, got {system!r}; {near(str(system), self.systems)}")
        return self.systems.index(str(system))


def ranked(values: Array) -> Array:
    """Ranks along the rows of a table, smallest 1, shared among equal values."""
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    new = np.ones(values.shape, bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    group = np.cumsum(new.ravel()) - 1
    place = np.tile(np.arange(1.0, values.shape[1] + 1), len(values))
    mean = np.bincount(group, place) / np.bincount(group)
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, mean[group].reshape(values.shape), axis=1)
    return ranks


def tie_sizes(values: Array) -> NDArray[np.int64]:
    """Sizes of all groups of equal values within rows (1 for a value that is alone)."""
    ordered = np.sort(values, axis=1)
    new = np.ones(values.shape, bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return np.bincount(np.cumsum(new.ravel()) - 1)


@checked
def scores(table: Any, *, higher_is_better: bool) -> Scores:
    """A checked table from a two-dimensional array, a mapping of columns, or any data frame.

    A first column of text names the data sets.

    >>> s = scores({"A": [0.9, 0.8], "B": [0.7, 0.8]}, higher_is_better=True)
    >>> s.ranks.tolist()
    [[1.0, 2.0], [1.5, 1.5]]
    """
    if isinstance(table, Scores):
        return table
    if not isinstance(higher_is_better, bool | np.bool_):
        raise StratError(
            f"`higher_is_better` must be True (accuracy) or False (error), got {plain(higher_is_better)!r}."
        )
    names, columns = _columns(table)
    data_sets: Sequence[Any] = range(1, len(columns[0]) + 1) if columns else ()
    if columns and np.asarray(columns[0]).dtype.kind in "OUS" and not _numeric(columns[0]):
        data_sets, names, columns = list(columns[0]), names[1:], columns[1:]
    values = _values(names, columns)
    labels = tuple(str(d) for d in data_sets)
    _check(values, names, labels)
    return Scores(values, tuple(names), labels, bool(higher_is_better))


def check_units(first: Array, second: Array, a: str, b: str) -> None:
    """Refuse percentages beside fractions: one column in 0…1, another a hundred times larger."""
    small, large = (first, second) if np.abs(first).max() <= np.abs(second).max() else (second, first)
    if np.abs(small).max() > 1.0 or np.abs(large).max() > 100.0 or (large <= np.maximum(1.0, 5.0 * small)).any():
        return
    middle = float(np.median(np.abs(small)))
    if middle > 0 and 25.0 < float(np.median(large)) / middle < 400.0:
        raise StratError(
            f"`{a}` and `{b}` must be in one unit, got {np.median(first):g} and {np.median(second):g} "
            "in the middle; one looks like a percentage and the other like a fraction: divide by 100."
        )


def _columns(table: Any) -> tuple[list[str], list[Any]]:
    if isinstance(table, Mapping):
        for name, column in table.items():
            if not np.ndim(column):
                raise StratError(f"`table` must have a column of scores under {name!r}, got {some([column])}.")
        return [str(k) for k in table], list(table.values())
    names = getattr(table, "columns", None)
    if names is not None and hasattr(table, "__getitem__"):
        return [str(k) for k in names], [np.asarray(table[k]) for k in names]
    values = np.asarray(table)
    if values.ndim != 2:
        raise StratError(f"`table` must have data sets × systems, got the shape {values.shape}.")
    return [f"system {k + 1}" for k in range(values.shape[1])], list(values.T)


def _numeric(column: ArrayLike) -> bool:
    try:
        np.asarray(column, float)
    except (TypeError, ValueError):
        return False
    return True


def _values(names: list[str], columns: list[Any]) -> Array:
    if len(columns) < 2:
        raise StratError(f"`table` must have two systems or more, got {len(columns)}.")
    lengths = {len(c) for c in columns}
    if len(lengths) > 1:
        raise StratError(f"`table` must have as many rows in every column, got {some(sorted(lengths))}.")
    for name, column in zip(names, columns, strict=True):
        if not _numeric(column):
            raise StratError(f"`table` must hold numbers, got text in the column {name!r}.")
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise StratError(f"`table` must name every system once, got {some(twice)} more than once.")
    return np.column_stack([np.asarray(c, float) for c in columns])


def _check(values: Array, names: list[str], data_sets: tuple[str, ...]) -> None:
    missing = np.argwhere(~np.isfinite(values))
    if len(missing):
        cells = [f"{names[j]} on {data_sets[i]}" for i, j in missing]
        raise StratError(
            f"`table` must have every system on every data set, got no number for {some(cells, 3)}; "
            "Friedman's test and its post-hoc tests rank whole data sets: drop these data sets or systems, "
            "or compare pairs with `signed_rank` and `sign` on the data sets that both have."
        )
    if len(values) < 2:
        raise StratError(
            f"`table` must have two data sets or more, got {len(values)}; "
            "on one data set compare splits (corrected_t) or items (mcnemar, paired)."
        )
    for j in range(1, values.shape[1]):
        check_units(values[:, 0], values[:, j], names[0], names[j])
