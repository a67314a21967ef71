"""A table of data sets × systems, checked once, and the ranks of the systems in each data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, near, plain, some
from strat.base.notes import Note
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array

# Scores this close, relative to the larger one, are ties. Sums of a million doubles are off by at most 1.1e-10, and
# shares of fewer than a billion items that differ at all differ by more than 1e-9: rounding ties, and nothing else.
TIE = 1e-9


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
    notes
        What to look at before the ranks are believed.
    """

    values: Array
    systems: tuple[str, ...]
    data_sets: tuple[str, ...]
    higher_is_better: bool
    notes: tuple[str, ...] = ()

    @property
    def ranks(self) -> Array:
        """Rank of each system in each data set: 1 is the best, ties (up to rounding) share (ERRATA 17, 20)."""
        return ranked(-self.values if self.higher_is_better else self.values)

    def position(self, system: str | int) -> int:
        """The column of a system, by name or by its place from 0."""
        if isinstance(system, int | np.integer) and 0 <= system < len(self.systems):
            return int(system)
        if system not in self.systems:
            raise StratError.about("control", f"must be a system, got {system!r}; {near(str(system), self.systems)}")
        return self.systems.index(str(system))


def ranked(values: Array, scale: Array | None = None) -> Array:
    """Ranks along the rows of a table, smallest 1, shared among values that are equal up to rounding.

    Parameters
    ----------
    values
        Rows × columns.
    scale
        The size of the numbers that each value was computed from, where that is not the value's own: a difference is
        blurred by the rounding of both its terms.

    Examples
    --------
    >>> ranked(np.array([[0.1 + 0.2, 0.3, 0.1]])).tolist()
    [[2.5, 2.5, 1.0]]
    """
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    size = np.take_along_axis(np.abs(values if scale is None else scale), order, axis=1)
    new = np.ones(values.shape, bool)
    with np.errstate(over="ignore"):  # a gap beyond the largest float is a gap
        new[:, 1:] = ordered[:, 1:] - ordered[:, :-1] > TIE * np.maximum(size[:, 1:], size[:, :-1])
    group = np.cumsum(new.ravel()) - 1
    place = np.tile(np.arange(1.0, values.shape[1] + 1), len(values))
    mean = np.bincount(group, place) / np.bincount(group)
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, mean[group].reshape(values.shape), axis=1)
    return ranks


def differences(a: Array, b: Array) -> tuple[Array, Array]:
    """Half of a − b with what rounding made of a draw set to zero, and the ranks of the absolute differences.

    Half of it, so that no difference is beyond the largest float; signs and ranks are the same.
    """
    a, b = 0.5 * a, 0.5 * b
    size = np.maximum(np.abs(a), np.abs(b))
    d = a - b
    d[np.abs(d) <= TIE * size] = 0.0
    return d, ranked(np.abs(d)[None], size[None])[0]


def tie_sizes(ranks: Array) -> NDArray[np.int64]:
    """Sizes of all groups of shared ranks within rows (1 for a rank that is not shared)."""
    ordered = np.sort(ranks, axis=1)
    new = np.ones(ranks.shape, bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return np.bincount(np.cumsum(new.ravel()) - 1)


@checked
def scores(table: Any, *, higher_is_better: bool, same_unit: bool = False) -> Scores:
    """A checked table from a two-dimensional array, a mapping of columns, or any data frame.

    A first column of text names the data sets. Every test over data sets takes the result in place of a table.

    Parameters
    ----------
    table
        Data sets × systems.
    higher_is_better
        True for accuracies, False for errors.
    same_unit
        True says that all columns are in one unit, also where one looks like a percentage and another like a fraction;
        without it such a table gets a note.

    Examples
    --------
    >>> s = scores({"A": [0.9, 0.8], "B": [0.7, 0.8]}, higher_is_better=True)
    >>> s.ranks.tolist()
    [[1.0, 2.0], [1.5, 1.5]]
    """
    if isinstance(table, Scores):
        return table
    if not isinstance(higher_is_better, bool | np.bool_):
        raise StratError.about(
            "higher_is_better", f"must be True (accuracy) or False (error), got {plain(higher_is_better)!r}."
        )
    names, columns = _columns(table)
    data_sets: Sequence[Any] = range(1, len(columns[0]) + 1) if columns else ()
    if columns and np.asarray(columns[0]).dtype.kind in "OUS" and not _numeric(columns[0]):
        data_sets, names, columns = list(columns[0]), names[1:], columns[1:]
    return named_scores(data_sets, names, columns, higher_is_better=bool(higher_is_better), same_unit=same_unit)


def named_scores(
    data_sets: Sequence[Any], names: list[str], columns: list[Any], *, higher_is_better: bool, same_unit: bool
) -> Scores:
    """A checked table of which it is known which are the data sets' names and which the systems' columns."""
    values = _values(names, columns)
    labels = tuple(str(d) for d in data_sets)
    _check(values, names, labels)
    notes = () if same_unit else _unit_notes(values, names)
    return Scores(values, tuple(names), labels, higher_is_better, notes)


def unit_note(first: Array, second: Array, a: str, b: str) -> Note | None:
    """What to say of percentages beside fractions: one column in 0…1, another about a hundred times larger."""
    small, large = (first, second) if np.abs(first).max() <= np.abs(second).max() else (second, first)
    if np.abs(small).max() > 1.0 or np.abs(large).max() > 100.0 or (large <= np.maximum(1.0, 5.0 * small)).any():
        return None
    middle = float(np.median(np.abs(small)))
    if not (middle > 0 and 25.0 < float(np.median(large)) / middle < 400.0):
        return None
    of_a, of_b = float(np.median(first)), float(np.median(second))
    return Note("mixed-scales", {"case": "medians", "a": a, "b": b, "first": of_a, "second": of_b})


def _unit_notes(values: Array, names: list[str]) -> tuple[str, ...]:
    """The first pair of columns that look like a fraction and a percentage."""
    top = np.abs(values).max(axis=0)
    for i, j in product(np.flatnonzero(top <= 1.0), np.flatnonzero((top > 1.0) & (top <= 100.0))):
        note = unit_note(values[:, i], values[:, j], names[i], names[j])
        if note is not None:
            return (note,)
    return ()


def _columns(table: Any) -> tuple[list[str], list[Any]]:
    if isinstance(table, Mapping):
        for name, column in table.items():
            if not np.ndim(column):
                raise StratError.about("table", f"must have a column of scores under {name!r}, got {some([column])}.")
        return [str(k) for k in table], list(table.values())
    names = getattr(table, "columns", None)
    if names is not None and hasattr(table, "__getitem__"):
        return [str(k) for k in names], [np.asarray(table[k]) for k in names]
    try:
        values = np.asarray(table)
    except ValueError:
        raise StratError.about("table", "must have rows of one length, got lists of several lengths.") from None
    if values.ndim != 2:
        raise StratError.about("table", f"must have data sets × systems, got the shape {values.shape}.")
    return [f"system {k + 1}" for k in range(values.shape[1])], list(values.T)


def _numeric(column: ArrayLike) -> bool:
    try:
        np.asarray(column, float)
    except (TypeError, ValueError):
        return False
    return True


def _values(names: list[str], columns: list[Any]) -> Array:
    if len(columns) < 2:
        raise StratError.about("table", f"must have two systems or more, got {len(columns)}.")
    lengths = {len(c) for c in columns}
    if len(lengths) > 1:
        raise StratError.about("table", f"must have as many rows in every column, got {some(sorted(lengths))}.")
    for name, column in zip(names, columns, strict=True):
        if not _numeric(column):
            raise StratError.about("table", f"must hold numbers, got text in the column {name!r}.")
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise StratError.about("table", f"must name every system once, got repeats of {some(twice)}.")
    return np.column_stack([np.asarray(c, float) for c in columns])


def _check(values: Array, names: list[str], data_sets: tuple[str, ...]) -> None:
    missing = np.argwhere(~np.isfinite(values))
    if len(missing):
        cells = [f"{names[j]} on {data_sets[i]}" for i, j in missing]
        raise StratError.about(
            "table",
            f"must have every system on every data set, got no number for {some(cells, 3)}; "
            "Friedman's test and its post-hoc tests rank whole data sets: drop these data sets or systems, "
            "or compare pairs with `signed_rank` and `sign` on the data sets that both have.",
        )
    if len(values) < 2:
        raise StratError.about(
            "table",
            f"must have two data sets or more, got {len(values)}; "
            "on one data set compare splits (corrected_t) or items (mcnemar, paired).",
        )
