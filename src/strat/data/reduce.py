"""Rows to cells: one group-by where the data lives, after which the ordinary statistics run on few rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, one_of, some
from strat.base.text import counted
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.data.backends import Lazy
from strat.data.cells import NUMBERS, Cells, align_labels, bad_weights, combine, require_in_range
from strat.data.column import Column, all_marks, all_notes
from strat.data.reduce_in_engine import cells_in_engine
from strat.data.table import MISSING, Table, missing_message


@checked
def reduce(
    table: Table,
    roles: Mapping[str, str | None],
    *,
    weights: str | None = None,
    missing: str = "error",
    bins: int | None = None,
    threshold: float | None = None,
) -> Cells:
    """The cells of a table: distinct values of the named columns with their number and summed weights.

    Parameters
    ----------
    table
        What :func:`read` gave.
    roles
        From a role to the column that plays it; the role "score" is numeric and may be binned.
    weights
        The column of row weights.
    missing
        "error" refuses missing values by name and count; "drop" leaves those rows out.
    bins
        Into how many bins to put the scores of rows that stay in an engine; None: exact up to 10,000,000 rows, and if
        few are distinct, else 256 (65,536 where no units multiply the cells).
    threshold
        Adds the role "above": whether the score, as it stands in the table, is at least this.

    Examples
    --------
    >>> from strat.data import read
    >>> cells = reduce(read({"y": [1, 1, 0], "p": [1, 1, 1]}), {"truth": "y", "predicted": "p"})
    >>> cells.columns["truth"].tolist(), cells.counts.tolist()
    ([0, 1], [1.0, 2.0])
    """
    one_of("missing", missing, MISSING)
    named = {str(role): name for role, name in roles.items() if name is not None}
    if not named:
        raise StratError.about("roles", "must name at least one column, got none.")
    if threshold is not None and "score" not in named:
        raise StratError.about(
            "threshold", f"must come with a column in the role 'score', got only {some(list(named))}."
        )
    table.require(**{**named, "weights": weights})
    if isinstance(table.backend, Lazy):
        cells = cells_in_engine(table, table.backend, named, weights, missing, bins, threshold)
    else:
        cells = _here(table, named, weights, missing, threshold)
    if "score" in named:
        _require_finite(named["score"], cells)
    return cells


def _require_finite(name: str, cells: Cells) -> None:
    endless = np.isinf(np.asarray(cells.columns["score"], float))
    if endless.any():
        rows = int(cells.counts[endless].sum())
        raise StratError.about(
            "score", f"must be finite, got an infinite number in {counted(rows, 'row')} of column {name!r}."
        )


def _here(table: Table, named: Mapping[str, str], weights: str | None, missing: str, threshold: float | None) -> Cells:
    wanted = list(dict.fromkeys([*named.values(), *([weights] if weights else [])]))
    columns = {c.name: c for c in table.backend.fetch(wanted)}
    for name in [*(named[role] for role in NUMBERS if role in named), *([weights] if weights else [])]:
        columns[name] = columns[name].numbers()
    align_labels(columns, named)
    keep = _kept(list(columns.values()), missing, table.source)
    weight = None if weights is None else _weights(columns[weights], keep)
    cells = (_rows if "score" in named else _grouped)(columns, named, weight, keep)
    if threshold is not None:
        cells = replace(cells, columns={**cells.columns, "above": cells.columns["score"] >= threshold})
    cells = replace(cells, notes=all_notes(columns.values()))
    if keep is None:
        return cells
    return replace(cells, dropped=int((~keep).sum()), marks=all_marks(columns.values()))


def _kept(columns: Sequence[Column], missing: str, source: str) -> NDArray[np.bool_] | None:
    lost = {c.name: c.lost for c in columns if c.lost}
    if not lost:
        return None
    if missing == "error":
        raise StratError(missing_message(lost, source, all_marks(columns)))
    return np.asarray(~np.any([c.missing for c in columns if c.missing is not None], axis=0))


def _weights(column: Column, keep: NDArray[np.bool_] | None) -> Array:
    weight = column.labels if keep is None else column.labels[keep]
    bad = int((~np.isfinite(weight) | (weight < 0)).sum())
    if bad:
        raise bad_weights(column.name, bad)
    require_in_range(column.name, weight)
    return weight


def _rows(
    columns: Mapping[str, Column],
    named: Mapping[str, str],
    weight: Array | None,
    keep: NDArray[np.bool_] | None,
) -> Cells:
    """With a score almost every row is a cell of its own: no grouping would pay."""
    rows = slice(None) if keep is None else keep
    labels = {role: np.asarray(columns[name].values[rows]) for role, name in named.items()}
    counts = np.ones(len(labels["score"]))
    return Cells(labels, counts, weight)


def _grouped(
    columns: Mapping[str, Column],
    named: Mapping[str, str],
    weight: Array | None,
    keep: NDArray[np.bool_] | None,
) -> Cells:
    encoded = {name: columns[name].encoded() for name in dict.fromkeys(named.values())}
    codes = [c if keep is None else c[keep] for c, _ in encoded.values()]
    if not len(codes[0]):
        raise StratError("the table must have at least one row without missing values, got none.")
    cell, number = combine(codes, [len(labels) for _, labels in encoded.values()])
    counts = np.bincount(cell, minlength=number).astype(float)
    first = np.empty(number, np.int64)
    first[cell[::-1]] = np.arange(len(cell))[::-1]
    by_name = {name: labels[code[first]] for (name, (_, labels)), code in zip(encoded.items(), codes, strict=True)}
    return Cells(
        {role: by_name[name] for role, name in named.items()},
        counts,
        None if weight is None else np.bincount(cell, weight, minlength=number).astype(float),
    )
