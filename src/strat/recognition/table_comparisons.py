"""Comparisons that are the cells of a table: every probe with every gallery image, or a set with itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.validate.columns import Array, Codes
from strat.recognition.comparisons import Block, Comparisons, Mated, at_or_above


@dataclass(frozen=True, eq=False)
class TableComparisons(Comparisons):
    """A table of scores, greater is better, with the code of each row's and each column's subject.

    With `triangle`, rows and columns are the same images: only the cells above the diagonal are comparisons.
    """

    table: NDArray[Any]
    sign: float
    row: Codes
    column: Codes
    subjects: NDArray[Any]
    triangle: bool
    equal: bool = False
    noted: tuple[Note, ...] = ()

    def nonmated(self) -> Iterator[Block]:
        """The cells of different subjects, some rows at a time."""
        n, width = self.table.shape
        step = max(1, LIMITS.comparisons_at_once // width)
        by_row, by_column = self.sides
        (row_code, _), (column_code, columns) = self._present
        for start in range(0, n, step):
            rows = np.arange(start, min(start + step, n))
            scores = self.sign * self.table[rows].astype(float)
            i, j = np.nonzero((self.row[rows][:, None] != self.column) & self._counted(rows))
            r = rows[i]
            weight = by_row[r] * by_column[j] if self.equal else None
            pair = row_code[r] * len(columns) + column_code[j]
            yield Block(self.row[r], self.column[j], scores[i, j], weight, pair)

    def _counted(self, rows: Codes) -> NDArray[np.bool_]:
        if self.triangle:
            return np.arange(self.table.shape[1]) > rows[:, None]
        return np.ones((len(rows), 1), bool)

    @cached_property
    def mated(self) -> Mated:
        """The cells of one subject."""
        row, column = self.mated_cells()
        return Mated(self.row[row], self.sign * self.table[row, column].astype(float), self._mated_weight(row))

    def mated_cells(self) -> tuple[Codes, Codes]:
        """Rows and columns of the mated comparisons."""
        order = np.argsort(self.column, kind="stable")
        first = np.searchsorted(self.column[order], self.row, side="left")
        count = np.searchsorted(self.column[order], self.row, side="right") - first
        row = np.repeat(np.arange(len(self.row)), count)
        within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        column = order[first[row] + within]
        keep = column > row if self.triangle else np.ones(len(row), bool)
        return row[keep], column[keep]

    @cached_property
    def mated_of(self) -> Array:  # type: ignore[override]
        """Weight of the mated comparisons of each subject; their number unless subjects count the same."""
        rows, columns = self.images
        number = rows * (rows - 1) / 2 if self.triangle else rows * columns
        return (number > 0).astype(float) if self.equal else number

    @cached_property
    def nonmated_of(self) -> Array:  # type: ignore[override]
        """Weight of the non-mated comparisons that each subject takes part in, on either side."""
        rows, columns = (np.sign(side) if self.equal else side for side in self.images)
        if self.triangle:
            return rows * (rows.sum() - rows)
        return rows * (columns.sum() - columns) + columns * (rows.sum() - rows)

    @cached_property
    def sides(self) -> tuple[Array, Array]:
        """Weight of each row's and each column's images: a non-mated comparison weighs their product."""
        rows, columns = self.images
        if not self.equal:
            return np.ones(len(self.row)), np.ones(len(self.column))
        return 1.0 / rows[self.row], 1.0 / columns[self.column]

    def _mated_weight(self, row: Codes) -> Array:
        rows, columns = (side[self.row[row]] for side in self.images)
        if not self.equal:
            return np.ones(len(row))
        return np.asarray(2 / (rows * (rows - 1)) if self.triangle else 1 / (rows * columns))

    @cached_property
    def images(self) -> tuple[Array, Array]:
        """Number of rows and of columns of each subject."""
        k = len(self.subjects)
        return np.bincount(self.row, minlength=k).astype(float), np.bincount(self.column, minlength=k).astype(float)

    @cached_property
    def _present(self) -> tuple[tuple[Codes, Codes], tuple[Codes, Codes]]:
        """For rows and for columns: the place of each one's subject among those present, and these subjects."""
        rows, columns = (np.unique(codes, return_inverse=True) for codes in (self.row, self.column))
        return (rows[1].reshape(-1), rows[0]), (columns[1].reshape(-1), columns[0])

    @property
    def one_each(self) -> bool:
        """Whether no two comparisons are of the same pair of subjects in the same order."""
        return all(np.bincount(codes).max() == 1 for codes in (self.row, self.column))

    @property
    def effective_nonmated(self) -> float:
        """Number of equally weighted comparisons that the non-mated ones count as."""
        if not self.equal:
            return self.weight_of_nonmated
        row, column = (
            np.bincount(codes, side**2, minlength=self.number).astype(float)
            for codes, side in zip((self.row, self.column), self.sides, strict=True)
        )
        both = row.sum() * column.sum() - row @ column
        return float(self.weight_of_nonmated**2 / (both / 2 if self.triangle else both))

    def same(self, other: Comparisons) -> bool:
        """Whether the other table has the same shape, subjects and use."""
        return (
            isinstance(other, TableComparisons)
            and (self.triangle, self.equal) == (other.triangle, other.equal)
            and all(
                np.array_equal(a, b)
                for a, b in (
                    (self.row, other.row), (self.column, other.column), (self.subjects, other.subjects)
                )
            )
        )  # fmt: skip

    # ---- pairs of subjects

    @property
    def pairs(self) -> int:  # type: ignore[override]
        """Number of ordered pairs of a row's and a column's subject."""
        (_, rows), (_, columns) = self._present
        return len(rows) * len(columns)

    def pair_squares(self, totals: Array) -> float:
        """Squares of the totals of unordered pairs: those of both orders belong together."""
        (_, rows), (_, columns) = self._present
        square = totals.reshape(len(rows), len(columns))
        both, i, j = np.intersect1d(rows, columns, assume_unique=True, return_indices=True)
        turned = square[np.ix_(i, j)] if len(both) else np.zeros((0, 0))
        return float((square**2).sum() + (turned * turned.T).sum())

    def _thresholds_at_once(self, number: int) -> int:
        return number if self.one_each else max(1, LIMITS.subject_pairs // len(self.subjects) ** 2)

    def counts(self, t: Array) -> tuple[Array, Callable[[Array], Array]]:
        """False matches of each subject at each threshold, and the squares of pairs.

        Only the cells at or above the lowest threshold are looked at one by one.
        """
        k, m = len(self.subjects), len(t)
        by_row, by_column = self.sides
        hits, pairs = np.zeros((k, m)), SinglePairs(self, m) if self.one_each else Pairs(self, m)
        for i, j, score in self._at_least(float(t[0])):
            bins = np.searchsorted(t, score, side="right")
            weight = by_row[i] * by_column[j] if self.equal else None
            for codes in (self.row[i], self.column[j]):
                hits += at_or_above(codes * (m + 1) + bins, k, m, weight)
            pairs.add(self.row[i], self.column[j], bins)
        return hits, lambda fmr: pairs.squares(fmr, hits.sum(axis=0) / 2)

    def _at_least(self, lowest: float) -> Iterator[tuple[Codes, Codes, Array]]:
        """Rows, columns and scores of the non-mated cells at or above a score, some rows at a time."""
        n, width = self.table.shape
        step = max(1, LIMITS.comparisons_at_once // 4 // width)
        for start in range(0, n, step):
            first = start + 1 if self.triangle else 0
            part = self.table[start : start + step, first:]
            flat = np.flatnonzero(_not_below(part, self.sign, lowest))
            if not len(flat):
                continue
            i, j = np.divmod(flat, part.shape[1])
            score = self.sign * part[i, j].astype(float)
            i, j = i + start, j + first
            keep = (self.row[i] != self.column[j]) & (score >= lowest)
            if self.triangle:
                keep &= j > i
            yield i[keep], j[keep], score[keep]

    def nonmated_scores(self) -> Array:
        """All non-mated scores, in the order of `nonmated`."""
        scores, filled = np.empty(self._nonmated_cells), 0
        step = max(1, LIMITS.comparisons_at_once // 4 // self.table.shape[1])
        for start in range(0, self.table.shape[0], step):
            rows = np.arange(start, min(start + step, self.table.shape[0]))
            part = self.table[start : start + step][(self.row[rows][:, None] != self.column) & self._counted(rows)]
            scores[filled : filled + len(part)] = part
            filled += len(part)
        return scores if self.sign > 0 else np.negative(scores, out=scores)

    @property
    def _nonmated_cells(self) -> int:
        rows, columns = self.images
        if self.triangle:
            return int(rows.sum() ** 2 - (rows**2).sum()) // 2
        return int(rows.sum() * columns.sum() - rows @ columns)

    def compared(self) -> Array:
        """Number of comparisons of each row's with each column's subject; in a triangle half of them each way."""
        rows, columns = self.images
        number = np.outer(rows, columns) / (2 if self.triangle else 1)
        np.fill_diagonal(number, 0.0)
        return number


def _not_below(part: NDArray[Any], sign: float, lowest: float) -> NDArray[np.bool_]:
    """Cells that may be at or above a score: single precision is compared as such, a little lower."""
    limit: Any = np.float64(sign * lowest)
    if part.dtype.kind == "f" and part.dtype.itemsize < 8:
        limit = np.nextafter(part.dtype.type(limit), part.dtype.type(-sign * np.inf))
    return np.asarray(part >= limit if sign > 0 else part <= limit)


class Pairs:
    """Sums over pairs of subjects of what the variance by subject counts twice."""

    def __init__(self, c: TableComparisons, m: int) -> None:
        self.c, self.m, k = c, m, len(c.subjects)
        self.cells = np.zeros((m + 1, k * k), np.int32)

    def add(self, a: Codes, b: Codes, bins: Codes) -> None:
        """Count some false matches."""
        k = len(self.c.subjects)
        pair = a * k + b
        if len(pair) < k * k // 8:  # few of them: nothing as long as all pairs is made
            np.add.at(self.cells, (bins, pair), 1)
        else:
            for place in np.unique(bins):
                self.cells[place] += np.bincount(pair[bins == place], minlength=k * k).astype(np.int32)

    def squares(self, fmr: Array, hits: Array) -> Array:
        """Sum e_ab² + sum e_ab e_ba at each threshold, e_ab = hits minus expected ones."""
        k, every, out = len(self.c.subjects), self.c.compared(), np.empty(self.m)
        weight = 1.0 / np.maximum(every * (2 if self.c.triangle else 1), 1.0) if self.c.equal else 1.0
        above = np.zeros((k, k))
        for place in reversed(range(self.m)):
            above += self.cells[place + 1].reshape(k, k)
            e = weight * ((above + above.T) / 2 if self.c.triangle else above) - weight * fmr[place] * every
            out[place] = np.einsum("ab,ab->", e, e) + np.einsum("ab,ba->", e, e)
        return out


class SinglePairs:
    """The same where no two comparisons are of the same subjects in the same order: its bin is all of a pair."""

    def __init__(self, c: TableComparisons, m: int) -> None:
        self.c, self.m, k = c, m, len(c.subjects)
        self.cells = np.zeros((0, 0) if c.triangle else (k, k), np.int16)

    def add(self, a: Codes, b: Codes, bins: Codes) -> None:
        """Keep the bins of some false matches."""
        if not self.c.triangle:
            self.cells[a, b] = bins

    def squares(self, fmr: Array, hits: Array) -> Array:
        """Sum e_ab² + sum e_ab e_ba at each threshold, e_ab = hits minus expected ones."""
        own = hits * (1 - 2 * fmr) + fmr**2 * self.c.weight_of_nonmated
        return own if self.c.triangle else own + self._crossed(fmr)

    def _crossed(self, fmr: Array) -> Array:
        rows, columns = self.c.images
        both_ways = (rows > 0) & (columns > 0)
        cells = self.cells if both_ways.all() else self.cells[np.ix_(both_ways, both_ways)]
        i, j = np.nonzero(cells)
        one = cells[i, j].astype(np.int64)
        other = cells[j, i].astype(np.int64)
        together, single = (at_or_above(bins, 1, self.m)[0] for bins in (np.minimum(one, other), one))
        return together - 2 * fmr * single + fmr**2 * float(both_ways.sum() * (both_ways.sum() - 1))
