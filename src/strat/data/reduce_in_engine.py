"""Rows to cells where the rows live in an engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError
from strat.base.notes import Note
from strat.base.validate.columns import encode
from strat.data.backends import Lazy
from strat.data.binning import Binning, binned, binning_of, plain_numbers
from strat.data.cells import NUMBERS, Cells, align_labels, bad_weights, require_in_range
from strat.data.column import Column, all_marks
from strat.data.engines import as_numbers, exact
from strat.data.frames import column_of, exact_column, typed_column
from strat.data.table import Table, missing_message
from strat.data.weight_sums import (
    ABOVE,
    ROWS,
    WEIGHT,
    collected_groups,
    key_column,
    marks_of_missing,
    rows_with_weight,
)


def cells_in_engine(
    table: Table,
    backend: Lazy,
    named: Mapping[str, str],
    weights: str | None,
    missing: str,
    bins: int | None,
    threshold: float | None,
) -> Cells:
    """The cells of rows in an engine, which are grouped there."""
    loose, rows = _loose(backend, named, weights)
    lazy, marks, notes = _numbers(backend, rows, named, weights)
    roles = {role: backend.inside.get(name, name) for role, name in named.items()}
    weight = None if weights is None else backend.inside.get(weights, weights)
    lazy, binning = _with_score(table, lazy, roles, bins, threshold)
    if threshold is not None:
        roles, named = {**roles, "above": ABOVE}, {**named, "above": ABOVE}
    if weight is not None:
        _numeric("weights", weight, lazy, table.source)
    lost = 0
    if weight is not None and "weights" not in roles and missing == "drop":
        lazy, lost = rows_with_weight(table, lazy, weight)
    lazy, wide = exact(lazy, [name for role, name in roles.items() if role not in NUMBERS])
    summed = None if "weights" in roles else weight  # rows that share their weight need no sum of it
    whole = roles.get("score") if binning is None else None
    grouped, grid = collected_groups(table, lazy, list(dict.fromkeys(roles.values())), summed, score=whole)
    cells = _cells(backend, grouped, named, wide, loose, marks, missing, table.source)
    if lost:
        counts = Counter(cells.marks) + Counter(marks.get(str(weights)) or marks_of_missing(backend, str(weights)))
        cells = replace(cells, dropped=cells.dropped + lost, marks=dict(counts))
    cells = _with_middles(replace(cells, binning=binning, grid=grid, notes=notes))
    if not lazy.implementation.is_duckdb() or wide or loose:
        cells = _in_order(cells)
    return _shared(cells, str(weights)) if weight is not None and summed is None else cells


def _with_score(
    table: Table, lazy: Any, roles: Mapping[str, str], bins: int | None, threshold: float | None
) -> tuple[Any, Binning | None]:
    """The rows with their scores decided by the threshold, and binned where there are too many; and how."""
    if "score" not in roles:
        return lazy, None
    score, binning = roles["score"], None
    if _numeric("score", score, lazy, table.source, truths=True):
        binning = binning_of(table, lazy, score, bins, single="units" not in roles and "items" not in roles)
    if threshold is not None:
        lazy = _with_above(lazy, score, threshold)
    return (lazy if binning is None else binned(lazy, score, binning)), binning


def _with_middles(cells: Cells) -> Cells:
    """The cells with the middle of each bin in place of its number."""
    if cells.binning is None:
        return cells
    return replace(cells, columns={**cells.columns, "score": cells.binning.middle(cells.columns["score"])})


def _with_above(lazy: Any, score: str, threshold: float) -> Any:
    """The rows with a column that says whether the score is at least the threshold."""
    import narwhals as nw

    return lazy.with_columns((nw.col(score).cast(nw.Float64) >= threshold).fill_null(False).alias(ABOVE))


def _loose(backend: Lazy, named: Mapping[str, str], weights: str | None) -> tuple[set[str], Any]:
    """Labels that stay text until all distinct ones are seen, because only a part of the rows was; and the rows."""
    numbers = {named[role] for role in NUMBERS if role in named} | ({weights} if weights else set())
    labels = sorted(set(named.values()) - numbers)
    rows = backend.as_text(labels)
    if rows is None:
        backend.settle([*labels, *sorted(numbers)])
        return set(), backend.lazy
    backend.settle(sorted(numbers))
    return set(labels), backend.as_text(labels)


def _numbers(
    backend: Lazy, lazy: Any, named: Mapping[str, str], weights: str | None
) -> tuple[Any, dict[str, dict[str, int]], tuple[Note, ...]]:
    """The rows, with text in columns of numbers read as such; how many values of each were which mark; notes."""
    marks: dict[str, dict[str, int]] = {}
    notes: list[Note] = []
    for name in dict.fromkeys([*(named[role] for role in NUMBERS if role in named), *([weights] if weights else [])]):
        inside = backend.inside.get(name, name)
        lazy, marks[name], read = as_numbers(lazy, inside, backend.na, backend.collect, name)
        notes += read
    return lazy, marks, tuple(notes)


def _cells(
    backend: Lazy,
    grouped: Mapping[str, Any],
    named: Mapping[str, str],
    wide: set[str],
    loose: set[str],
    marks: Mapping[str, Mapping[str, int]],
    missing: str,
    source: str,
) -> Cells:
    counts = plain_numbers(grouped[ROWS])
    if not len(counts):
        raise StratError(f"{source} must have at least one row, got none.")
    keys: dict[str, Column] = {}
    for place, name in enumerate(dict.fromkeys(named.values())):
        values = grouped[key_column(place)]
        if backend.inside.get(name, name) in wide:
            column = exact_column(name, values)
        else:
            column = (typed_column if name in loose else column_of)(name, values, backend.na, counts)
        keys[name] = replace(column, marks={**column.marks, **marks.get(name, {})})
    align_labels(keys, named)
    lost = {name: int(counts[c.missing].sum()) for name, c in keys.items() if c.missing is not None}
    total = all_marks(backend.with_marks(list(keys.values()))) if lost else {}
    if lost and missing == "error":
        raise StratError(missing_message(lost, source, total))
    gone = [c.missing for c in keys.values() if c.missing is not None]
    keep = ~np.any(gone, axis=0) if gone else np.ones(len(counts), bool)
    if not keep.any():
        raise StratError(f"{source} must have at least one row without missing values, got none.")
    return Cells(
        {role: _labels(keys[name], keep) for role, name in named.items()},
        counts[keep],
        plain_numbers(grouped[WEIGHT])[keep] if WEIGHT in grouped else None,
        int(counts[~keep].sum()),
        total,
    )


def _in_order(cells: Cells) -> Cells:
    """The cells in the order of their labels, because engines return them in any."""
    order = np.lexsort([encode(role, labels)[0] for role, labels in cells.columns.items()])
    columns = {role: labels[order] for role, labels in cells.columns.items()}
    weights = None if cells.weights is None else cells.weights[order]
    return replace(cells, columns=columns, counts=cells.counts[order], weights=weights)


def _shared(cells: Cells, name: str) -> Cells:
    """Cells whose rows share their weight, which then needs no sum of rows."""
    weight = np.asarray(cells.columns["weights"], float)
    bad = ~np.isfinite(weight) | (weight < 0)
    if bad.any():
        raise bad_weights(name, int(cells.counts[bad].sum()))
    require_in_range(name, weight)
    return replace(cells, weights=weight * cells.counts)


def _labels(column: Column, keep: NDArray[np.bool_]) -> NDArray[Any]:
    if column.codes is None:
        return np.asarray(column.labels if keep.all() else column.labels[keep])
    return np.asarray(column.labels[column.codes[keep]])


def _numeric(argument: str, name: str, lazy: Any, source: str, *, truths: bool = False) -> bool:
    """Whether a column holds numbers; truth values are none, but may pass."""
    import narwhals as nw

    dtype = lazy.collect_schema()[name]
    if dtype.is_numeric():
        return True
    if truths and dtype == nw.Boolean:
        return False
    raise StratError.about(
        argument,
        f"must name a column of numbers of {source}, got {name!r}, which holds "
        f"{'truth values' if dtype == nw.Boolean else 'neither numbers nor text'}; choose another column.",
    )
