"""The one group-by in an engine, with sums of weights that do not depend on the order of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.data.backends import Lazy
from strat.data.binning import plain_numbers
from strat.data.cells import bad_weights, require_in_range
from strat.data.column import Column, all_marks
from strat.data.exact_sums import LAST, WHOLE, Grid
from strat.data.files import quoted
from strat.data.table import Table, missing_message

ROWS, WEIGHT, BAD, ABOVE = "strat_rows", "strat_weight", "strat_bad", "strat_above"
SINGLE, NARROW = 24, 12  # bits of a single float; of pieces that 2^41 rows of a cell may have


def rows_with_weight(table: Table, lazy: Any, weights: str) -> tuple[Any, int]:
    """The rows whose weight is there, and how many have none."""
    import narwhals as nw

    lost = _no_number(nw.col(weights), lazy.collect_schema()[weights])
    number = int(plain_numbers(table.backend.collect(lazy.select(lost.cast(nw.Int64).sum().alias("n")))["n"])[0])
    return (lazy.filter(~lost), number) if number else (lazy, 0)


def marks_of_missing(backend: Lazy, name: str) -> dict[str, int]:
    """How many values of a column with missing ones are which mark, where a file's reader took them for missing."""
    return all_marks(backend.with_marks([Column(name, None, np.ones(1), np.ones(1, bool))]))


def _no_number(column: Any, kind: Any) -> Any:
    return column.is_null() | column.is_nan() if kind.is_float() else column.is_null()


def collected_groups(
    table: Table, lazy: Any, keys: Sequence[str], weights: str | None, *, score: str | None = None
) -> tuple[dict[str, Any], Grid | None]:
    """The group-by's columns, and the grid that its sums of weights were made on."""
    if weights is None and score is not None and _nearly_distinct(table, lazy, score):
        return table.backend.collect(_rows_in_order(lazy, keys)), None
    if weights is None or not lazy.implementation.is_duckdb():
        groups = table.backend.collect(grouped_sums(lazy, keys, weights))
        if weights is not None and plain_numbers(groups[BAD]).any():
            _refuse_bad(table, lazy, weights)
        return _refused(groups, weights), None
    grid = _usual(lazy, weights) if not _knows_ends(table) else _fitted(table, lazy, weights)
    groups = table.backend.collect(grouped_sums(lazy, keys, weights, grid))
    if np.isnan(grid.joined(groups)).any():
        _refuse_bad(table, lazy, weights)
        grid = _fitted(table, lazy, weights)
        groups = table.backend.collect(grouped_sums(lazy, keys, weights, grid))
    if not grid.room(plain_numbers(groups[ROWS])):
        grid = _fitted(table, lazy, weights, bits=NARROW)
        groups = table.backend.collect(grouped_sums(lazy, keys, weights, grid))
    return {**groups, WEIGHT: grid.joined(groups)}, grid


def _nearly_distinct(table: Table, lazy: Any, score: str) -> bool:
    """Whether most rows of DuckDB have a score of their own, so that sorting them takes half the time of grouping."""
    import narwhals as nw

    if not lazy.implementation.is_duckdb() or len(table) <= LIMITS.grouped_rows:
        return False
    counted = lazy.to_native().aggregate(f"approx_count_distinct({quoted(score)}) as n")
    return bool(2 * plain_numbers(table.backend.collect(nw.from_native(counted))["n"])[0] > len(table))


def _rows_in_order(lazy: Any, keys: Sequence[str]) -> Any:
    """Each row as a group of its own, in the order in which groups come."""
    import narwhals as nw

    columns = {key_column(place): nw.col(name) for place, name in enumerate(keys)}
    return lazy.select(**columns, **{ROWS: nw.lit(1)}).sort(*columns)


def _knows_ends(table: Table) -> bool:
    """Whether the least and the greatest value of a column cost nothing: Parquet files have them written down."""
    files = getattr(table.backend, "files", None)
    return files is not None and {path.suffix.lower() for path in files.paths} <= {".parquet", ".pq"}


def _usual(lazy: Any, weights: str) -> Grid:
    """A grid for almost all weights, so that one pass over the rows is enough."""
    return Grid.of(1.0, 2.0**47, last=0) if lazy.collect_schema()[weights].is_integer() else Grid()


def _fitted(table: Table, lazy: Any, weights: str, bits: int = Grid.bits) -> Grid:
    """The grid for these very weights, once they are known to be weights."""
    import narwhals as nw

    weight = nw.col(weights).cast(nw.Float64)
    low, high = _ends(table, lazy, weight)
    if not (low >= 0 and np.isfinite(high)):
        _refuse_bad(table, lazy, weights)
    if not high > 0:
        return Grid()
    require_in_range(weights, np.array([high]))
    if low == 0:
        low, _ = _ends(table, lazy.filter(weight > 0), weight)
    kind = lazy.collect_schema()[weights]
    mantissa = SINGLE if kind == nw.Float32 else WHOLE
    return Grid.of(low, high, mantissa=mantissa, last=0 if kind.is_integer() else LAST, bits=bits)


def _ends(table: Table, lazy: Any, number: Any) -> tuple[float, float]:
    """The least and the greatest number; NaN where there is none."""
    ends = table.backend.collect(lazy.select(number.min().alias("low"), number.max().alias("high")))
    low, high = (float(np.ma.filled(ends[name], np.nan)[0]) for name in ("low", "high"))
    return low, high


def _refuse_bad(table: Table, lazy: Any, weights: str) -> None:
    import narwhals as nw

    weight = nw.col(weights).cast(nw.Float64)
    lost = rows_with_weight(table, lazy, weights)[1]
    if lost:
        marks = marks_of_missing(table.backend, weights) if isinstance(table.backend, Lazy) else {}
        raise StratError(missing_message({weights: lost}, table.source, marks))
    bad = _bad(weight) | (weight > float(np.finfo(float).max))
    bad_rows = int(plain_numbers(table.backend.collect(lazy.select(bad.cast(nw.Int64).sum().alias("n")))["n"])[0])
    if bad_rows:
        raise bad_weights(weights, bad_rows)


def _refused(groups: dict[str, Any], weights: str | None) -> dict[str, Any]:
    """The sums that an engine made, unless a weight was none."""
    if weights is not None:
        bad = int(plain_numbers(groups[BAD]).sum())
        if bad or not np.isfinite(plain_numbers(groups[WEIGHT])).all():
            raise bad_weights(weights, max(bad, 1))
        require_in_range(weights, plain_numbers(groups[WEIGHT]))
    return groups


def grouped_sums(lazy: Any, keys: Sequence[str], weights: str | None, grid: Grid | None = None) -> Any:
    """The one group-by: distinct keys with the number of rows and, if wanted, sums of weights.

    The keys come back as `strat_key_0` and so on: names of columns may hold dots, which engines would act on. DuckDB
    returns them in order, because its threads finish in none.
    """
    import narwhals as nw

    columns = [nw.col(name).alias(key_column(place)) for place, name in enumerate(keys)]
    places = [key_column(place) for place in range(len(keys))]
    sums: list[Any] = [nw.len().alias(ROWS)]
    if weights is None:
        lazy = lazy.select(*columns)
    elif grid is None:
        weight = nw.col(weights).cast(nw.Float64)
        lazy = lazy.select(*columns, weight.alias(WEIGHT), _bad(weight).cast(nw.Int64).alias(BAD))
        sums += [nw.col(name).sum() for name in (WEIGHT, BAD)]
    else:
        weight = nw.col(weights).cast(nw.Float64)
        lazy = grid.parted(lazy.select(*columns, weight.alias(WEIGHT)), nw.col(WEIGHT))
        sums += [nw.col(name).sum() for name in grid.names()]
    grouped = lazy.group_by(*places).agg(*sums)
    return grouped.sort(*places) if lazy.implementation.is_duckdb() else grouped


def _bad(weight: Any) -> Any:
    return weight.is_null() | weight.is_nan() | (weight < 0)


def key_column(place: int) -> str:
    """What the group-by calls its key at this place."""
    return f"strat_key_{place}"
