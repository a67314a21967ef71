"""Cells: distinct rows with their number and weight, and the checks that all roads to them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError
from strat.base.notes import Note
from strat.base.validate.columns import Array, Codes
from strat.data.binning import Binning
from strat.data.column import Column, alike
from strat.data.exact_sums import Grid

COMPARED = ("truth", "predicted")  # roles whose labels are compared with each other
NUMBERS = ("score", "weights", "population")


@dataclass(frozen=True, eq=False)
class Cells:
    """Distinct rows, with how many there were and what they weigh together.

    Attributes
    ----------
    columns
        From the role (truth, predicted, score, strata, units, items …) to the label of each cell.
    counts
        How many rows each cell stands for.
    weights
        Their weights, added up; None when no weights were given, so that the counts serve.
    dropped
        How many rows were left out because a value was missing.
    marks
        From a text such as "NA" to the number of values that were missing because they are it.
    notes
        Notes on the labels.
    binning
        How scores were binned; None: they are exact.
    grid
        On which grid DuckDB added up the weights; None: another engine or none did.
    """

    columns: Mapping[str, NDArray[Any]]
    counts: Array
    weights: Array | None
    dropped: int = 0
    marks: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    binning: Binning | None = field(default=None)
    grid: Grid | None = field(default=None)

    def __len__(self) -> int:
        """Number of cells."""
        return len(self.counts)

    @property
    def rows(self) -> int:
        """Number of rows that the cells stand for."""
        return int(self.counts.sum())

    def each_row(self) -> Cells:
        """The rows that the cells stand for, one by one, each with its share of the cell's weight."""
        rows = np.repeat(np.arange(len(self)), self.counts.astype(np.int64))
        weights = None if self.weights is None else (self.weights / self.counts)[rows]
        columns = {role: values[rows] for role, values in self.columns.items()}
        return replace(self, columns=columns, counts=np.ones(len(rows)), weights=weights)

    @property
    def mass(self) -> Array:
        """The weight of each cell: summed weights, or the number of rows."""
        return self.counts if self.weights is None else self.weights


def combine(codes: Sequence[Codes], sizes: Sequence[int]) -> tuple[Codes, int]:
    """One code for each distinct combination that occurs, in the order of the columns' codes, and their number.

    >>> combine([np.array([0, 1, 1]), np.array([1, 0, 0])], [2, 2])
    (array([0, 1, 1]), 2)
    """
    key, size = codes[0], sizes[0]
    for code, n in zip(codes[1:], sizes[1:], strict=True):
        if size * n > 1 << 62:
            key, size = _dense(key, size)
        key, size = key * n + code, size * n
    return _dense(key, size)


def _dense(key: Codes, size: int) -> tuple[Codes, int]:
    if size > 8 * len(key) + 1024:
        distinct, dense = np.unique(key, return_inverse=True)
        return dense.astype(np.int64, copy=False).reshape(-1), len(distinct)
    present = np.zeros(size, bool)
    present[key] = True
    position = np.cumsum(present) - 1
    return position[key], int(present.sum())


def align_labels(columns: dict[str, Column], named: Mapping[str, str]) -> None:
    """Labels that are compared with each other, of one kind that rounds none."""
    compared = [named[role] for role in COMPARED if role in named]
    for column in alike([columns[name] for name in compared]):
        columns[column.name] = column


def require_in_range(name: str, weight: Array) -> None:
    """Squares of weights must stay numbers."""
    if weight.any() and not 1e-100 <= weight.max() <= 1e100:
        raise StratError.about(
            "weights",
            f"must have their largest between 1e-100 and 1e100, got {weight.max():g} in column {name!r}; "
            "divide all by one number, which changes no share.",
        )


def bad_weights(name: str, bad: int) -> StratError:
    """The error about weights that are none."""
    return StratError.about(
        "weights", f"must be finite and not negative, but column {name!r} has {bad:,} that are not; correct them."
    )
