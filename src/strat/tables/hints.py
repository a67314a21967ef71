"""What a careful colleague would say about the columns: this looks like clusters, that looks like strata."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.columns import Array, Codes, encode
from strat.errors import StratError
from strat.tables.frames import Column, column_of
from strat.tables.table import Table, exact

FEW = 15
LOOK = 200_000
_COLUMNS = 30


@dataclass(frozen=True)
class Suspect:
    """A column whose levels hold rows that are alike.

    Attributes
    ----------
    name, levels
        The column and how many levels it has.
    icc
        How alike rows of one level are: the intraclass correlation (ANOVA).
    ratio
        How much too small an independent-rows variance would be, if levels were drawn: 1 + (size − 1) icc.
    """

    name: str
    levels: int
    icc: float
    ratio: float

    def __str__(self) -> str:
        """The sentence with the option to add."""
        if self.levels <= FEW:
            return (
                f"rows of one {self.name!r} are alike (icc {self.icc:.2f}, {self.levels} levels): if these levels are "
                f"fixed groups, add strata={self.name!r} (command line: --strata {self.name})."
            )
        return (
            f"rows of one {self.name!r} are alike (icc {self.icc:.2f}, {self.levels:,} levels): if levels were drawn, "
            f"the standard error is about {np.sqrt(self.ratio):.1f} times too small; add units={self.name!r} "
            f"(command line: --units {self.name})."
        )


def suspects(columns: Mapping[str, tuple[Codes, int]], score: Array) -> list[Suspect]:
    """The columns that rows are clearly clustered by, the worst first.

    A column is named when the F test of equal level means is beyond doubt (p < 0.001) and the design effect
    that it would bring is at least 1.1.
    """
    found = []
    for name, (codes, levels) in columns.items():
        if not 1 < levels <= len(score) / 2:
            continue
        suspect = _suspect(name, codes, levels, score)
        if suspect is not None:
            found.append(suspect)
    return sorted(found, key=lambda s: -s.ratio)


def _suspect(name: str, codes: Codes, levels: int, score: Array) -> Suspect | None:
    from scipy.special import fdtrc

    sizes = np.bincount(codes, minlength=levels)
    n, k = len(score), int((sizes > 0).sum())
    if n == k or k < 2:
        return None
    means = np.bincount(codes, score, minlength=levels) / np.maximum(sizes, 1)
    between = float((sizes * (means - score.mean()) ** 2).sum()) / (k - 1)
    within = float(((score - means[codes]) ** 2).sum()) / (n - k)
    typical = (n - float((sizes.astype(float) ** 2).sum()) / n) / (k - 1)
    if between <= within or (within == 0 and between == 0):
        return None
    icc = (between - within) / (between + (typical - 1) * within)
    ratio = 1 + (float((sizes.astype(float) ** 2).sum()) / n - 1) * icc
    if ratio < 1.1 or (within > 0 and fdtrc(k - 1, n - k, between / within) > 1e-3):
        return None
    return Suspect(name, k, icc, ratio)


def look(table: Table, used: Sequence[str], score: Sequence[str], *, right: bool) -> list[Suspect]:
    """Suspects among the unused columns, seen in the first rows; `score` names one column, or two to compare."""
    names = [name for name in table.names if name not in used][:_COLUMNS]
    if not names or _far(table):
        return []
    columns = {c.name: c for c in _first(table, [*names, *score])}
    value = _value([columns[name] for name in score], right=right)
    keep = np.isfinite(value)
    if keep.sum() < 20 or np.ptp(value[keep]) == 0:
        return []
    labels = [name for name in names if name in columns and _is_label(columns[name])]
    candidates = {name: _coded(columns[name], keep) for name in labels}
    return suspects({name: c for name, c in candidates.items() if c is not None}, value[keep])


def _far(table: Table) -> bool:
    """Whether looking at rows would carry them off a cluster, where only aggregates should travel."""
    implementation = getattr(table.backend.lazy, "implementation", None)
    return implementation is not None and not (implementation.is_duckdb() or implementation.is_polars())


def _first(table: Table, names: Sequence[str]) -> list[Column]:
    """The first rows of these columns; one that holds no plain labels (lists, records) is no suspect."""
    wanted = list(dict.fromkeys(names))
    lazy = table.backend.lazy
    if lazy is None:
        return _plain(wanted, lambda name: _head(table.backend.fetch([name])[0]))
    grouped = table.backend.collect(exact(lazy, wanted).select(*wanted).head(LOOK))
    return _plain(wanted, lambda name: column_of(name, grouped[name]))


def _plain(names: Sequence[str], make: Callable[[str], Column]) -> list[Column]:
    found = []
    for name in names:
        with suppress(StratError):
            found.append(make(name))
    return found


def _head(column: Column) -> Column:
    missing = None if column.missing is None else column.missing[:LOOK]
    if column.codes is not None:
        return Column(column.name, column.codes[:LOOK], column.labels, missing)
    return Column(column.name, None, column.labels[:LOOK], missing)


def _value(columns: Sequence[Column], *, right: bool) -> Array:
    """What the rows are alike in: the score, or whether the prediction is right."""
    if right and len(columns) == 2:
        truth, predicted = (c.values if len(c.labels) else np.empty(len(c), "U1") for c in columns)
        value = np.asarray(truth == predicted, float)
    else:
        value = np.array(columns[0].numbers().labels, float)
    for column in columns:
        if column.missing is not None:
            value = np.where(column.missing, np.nan, value)
    return value


def _is_label(column: Column) -> bool:
    return column.codes is not None or column.labels.dtype.kind in "iub"


def _coded(column: Column, keep: NDArray[np.bool_]) -> tuple[Codes, int] | None:
    codes, labels = column.encoded()
    codes = codes[keep]
    if len(labels) < 2 or (codes < 0).any():
        return None
    return codes, len(labels)


def traps(
    *, units: NDArray[Any] | None, strata: NDArray[Any] | None, names: Mapping[str, str | None], rows: int
) -> list[str]:
    """Warnings about columns in the wrong role: subjects as clusters, row numbers as strata."""
    said = []
    if units is not None and strata is None:
        levels = len(encode("units", units)[1])
        if 2 <= levels <= FEW and rows >= 20 * levels:
            said.append(
                f"units={names.get('units')!r} has only {levels} levels for {rows:,} rows: if these levels cover "
                f"everything (the subjects of a benchmark), they are strata: use strata={names.get('units')!r}; as "
                "units they are a sample of such groups, and the interval becomes very wide."
            )
    if strata is not None:
        levels = len(encode("strata", strata)[1])
        if levels > 50 and levels >= 0.5 * rows:
            said.append(
                f"strata={names.get('strata')!r} has {levels:,} levels for {rows:,} rows: strata are few fixed "
                f"groups; if its levels were drawn, use units={names.get('strata')!r}."
            )
    return said
