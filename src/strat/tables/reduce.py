"""Rows to cells: one group-by where the data lives, after which the ordinary statistics run on few rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.columns import Array, Codes, encode
from strat.doors import checked
from strat.errors import StratError, one_of
from strat.tables.frames import Column, column_of
from strat.tables.sums import LAST, WHOLE, Grid
from strat.tables.table import MISSING, Table, exact, missing_message

ROWS, WEIGHT, BAD = "strat_rows", "strat_weight", "strat_bad"
BINS, FINE = 256, 1 << 16
DISTINCT = 4096
SINGLE, NARROW = 24, 12  # bits of a single float; of pieces that 2^41 rows of a cell may have


@dataclass(frozen=True)
class Binning:
    """Scores put into bins of equal width between the least and the greatest."""

    low: float
    high: float
    bins: int
    gaps: bool = False

    @property
    def width(self) -> float:
        """Width of a bin."""
        return (self.high - self.low) / self.bins

    def middle(self, index: NDArray[Any]) -> Array:
        """The middle of each bin, which stands for its scores."""
        return np.asarray(self.low + (np.asarray(index, float) + 0.5) * self.width)


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
    binning
        How scores were binned; None: they are exact.
    grid
        On which grid DuckDB added up the weights; None: another engine or none did.
    """

    columns: Mapping[str, NDArray[Any]]
    counts: Array
    weights: Array | None
    dropped: int = 0
    binning: Binning | None = field(default=None)
    grid: Grid | None = field(default=None)

    def __len__(self) -> int:
        """Number of cells."""
        return len(self.counts)

    @property
    def rows(self) -> int:
        """Number of rows that the cells stand for."""
        return int(self.counts.sum())

    @property
    def mass(self) -> Array:
        """The weight of each cell: summed weights, or the number of rows."""
        return self.counts if self.weights is None else self.weights


@checked
def reduce(
    table: Table,
    roles: Mapping[str, str | None],
    *,
    weights: str | None = None,
    missing: str = "error",
    bins: int | None = None,
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
        Into how many bins to put the scores of rows that stay in an engine; None: exact if few are distinct,
        else 256 (65,536 where no units multiply the cells).

    Examples
    --------
    >>> from strat.tables import read
    >>> cells = reduce(read({"y": [1, 1, 0], "p": [1, 1, 1]}), {"truth": "y", "predicted": "p"})
    >>> cells.columns["truth"].tolist(), cells.counts.tolist()
    ([0, 1], [1.0, 2.0])
    """
    one_of("missing", missing, MISSING)
    named = {str(role): name for role, name in roles.items() if name is not None}
    if not named:
        raise StratError("`roles` must name at least one column, got none.")
    table.require(**{**named, "weights": weights})
    if table.backend.lazy is None:
        return _here(table, named, weights, missing)
    return _there(table, named, weights, missing, bins)


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


# ---- rows in memory


def _here(table: Table, named: Mapping[str, str], weights: str | None, missing: str) -> Cells:
    wanted = list(dict.fromkeys([*named.values(), *([weights] if weights else [])]))
    columns = {c.name: c for c in table.backend.fetch(wanted)}
    if "score" in named:
        columns[named["score"]] = columns[named["score"]].numbers()
    if weights is not None:
        columns[weights] = columns[weights].numbers()
    keep, dropped = _kept(list(columns.values()), missing, table.source)
    weight = None if weights is None else _weights(columns[weights], keep)
    if "score" in named:
        return _rows(columns, named, weight, keep, dropped)
    return _grouped(columns, named, weight, keep, dropped)


def _kept(columns: Sequence[Column], missing: str, source: str) -> tuple[NDArray[np.bool_] | None, int]:
    lost = {c.name: c.lost for c in columns if c.lost}
    if not lost:
        return None, 0
    if missing == "error":
        raise StratError(missing_message(lost, source))
    gone = np.any([c.missing for c in columns if c.missing is not None], axis=0)
    return ~gone, int(gone.sum())


def _weights(column: Column, keep: NDArray[np.bool_] | None) -> Array:
    weight = column.labels if keep is None else column.labels[keep]
    bad = int((~np.isfinite(weight) | (weight < 0)).sum())
    if bad:
        raise _bad_weights(column.name, bad)
    _in_range(column.name, weight)
    return weight


def _in_range(name: str, weight: Array) -> None:
    """Squares of weights must stay numbers."""
    if weight.any() and not 1e-100 <= weight.max() <= 1e100:
        raise StratError(
            f"`weights` must have their largest between 1e-100 and 1e100, got {weight.max():g} in column {name!r}; "
            "divide all by one number, which changes no share."
        )


def _bad_weights(name: str, bad: int) -> StratError:
    return StratError(
        f"`weights` must be finite and not negative, but column {name!r} has {bad:,} that are not; mend or drop them."
    )


def _rows(
    columns: Mapping[str, Column],
    named: Mapping[str, str],
    weight: Array | None,
    keep: NDArray[np.bool_] | None,
    dropped: int,
) -> Cells:
    """With a score almost every row is a cell of its own: no grouping would pay."""
    rows = slice(None) if keep is None else keep
    labels = {role: np.asarray(columns[name].values[rows]) for role, name in named.items()}
    counts = np.ones(len(labels["score"]))
    return Cells(labels, counts, weight, dropped)


def _grouped(
    columns: Mapping[str, Column],
    named: Mapping[str, str],
    weight: Array | None,
    keep: NDArray[np.bool_] | None,
    dropped: int,
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
        dropped,
    )


# ---- rows in an engine


def _there(table: Table, named: Mapping[str, str], weights: str | None, missing: str, bins: int | None) -> Cells:
    lazy = table.backend.lazy
    binning = None
    if "score" in named:
        if _numeric("score", named["score"], lazy, table.source, truths=True):
            binning = _binning(table, named["score"], bins, single="units" not in named and "items" not in named)
        if binning is not None:
            lazy = binned(lazy, named["score"], binning)
    if weights is not None:
        _numeric("weights", weights, lazy, table.source)
    lazy = exact(lazy, [name for role, name in named.items() if role not in ("score", "weights", "population")])
    summed = None if "weights" in named else weights  # rows that share their weight need no sum of it
    grouped, grid = _collected(table, lazy, list(dict.fromkeys(named.values())), summed)
    cells = _cells(grouped, named, missing, table.source)
    cells = replace(cells, binning=binning, grid=grid)
    if binning is not None:
        cells = replace(cells, columns={**cells.columns, "score": binning.middle(cells.columns["score"])})
    if not lazy.implementation.is_duckdb():
        cells = _in_order(cells)
    return _shared(cells, weights) if weights is not None and summed is None else cells


def _collected(table: Table, lazy: Any, keys: Sequence[str], weights: str | None) -> tuple[dict[str, Any], Grid | None]:
    """The group-by's columns, and the grid that its sums of weights were made on."""
    if weights is None or not lazy.implementation.is_duckdb():
        return _refused(table.backend.collect(_group(lazy, keys, weights)), weights), None
    grid = _usual(lazy, weights) if not _knows_ends(table) else _fitted(table, lazy, weights)
    found = table.backend.collect(_group(lazy, keys, weights, grid))
    if np.isnan(grid.joined(found)).any():
        _refuse_bad(table, lazy, weights)
        grid = _fitted(table, lazy, weights)
        found = table.backend.collect(_group(lazy, keys, weights, grid))
    if not grid.room(_plain(found[ROWS])):
        grid = _fitted(table, lazy, weights, bits=NARROW)
        found = table.backend.collect(_group(lazy, keys, weights, grid))
    return {**found, WEIGHT: grid.joined(found)}, grid


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
    _in_range(weights, np.array([high]))
    if low == 0:
        low, _ = _ends(table, lazy.filter(weight > 0), weight)
    kind = lazy.collect_schema()[weights]
    mantissa = SINGLE if kind == nw.Float32 else WHOLE
    return Grid.of(low, high, mantissa=mantissa, last=0 if kind.is_integer() else LAST, bits=bits)


def _ends(table: Table, lazy: Any, number: Any) -> tuple[float, float]:
    """The least and the greatest number; NaN where there is none."""
    found = table.backend.collect(lazy.select(number.min().alias("low"), number.max().alias("high")))
    low, high = (float(np.ma.filled(found[name], np.nan)[0]) for name in ("low", "high"))
    return low, high


def _refuse_bad(table: Table, lazy: Any, weights: str) -> None:
    import narwhals as nw

    weight = nw.col(weights).cast(nw.Float64)
    bad = _bad(weight) | (weight > float(np.finfo(float).max))
    found = int(_plain(table.backend.collect(lazy.select(bad.cast(nw.Int64).sum().alias("n")))["n"])[0])
    if found:
        raise _bad_weights(weights, found)


def _refused(found: dict[str, Any], weights: str | None) -> dict[str, Any]:
    """The sums that an engine made, unless a weight was none."""
    if weights is not None:
        bad = int(_plain(found[BAD]).sum())
        if bad or not np.isfinite(_plain(found[WEIGHT])).all():
            raise _bad_weights(weights, max(bad, 1))
        _in_range(weights, _plain(found[WEIGHT]))
    return found


def _group(lazy: Any, keys: Sequence[str], weights: str | None, grid: Grid | None = None) -> Any:
    """The one group-by: distinct keys with the number of rows and, if wanted, sums of weights.

    The keys come back as `strat_key_0` and so on: a person's names may hold dots, which engines would act on. DuckDB
    returns them in order, because its threads finish in none.
    """
    import narwhals as nw

    columns = [nw.col(name).alias(_key(place)) for place, name in enumerate(keys)]
    places = [_key(place) for place in range(len(keys))]
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


def _key(place: int) -> str:
    return f"strat_key_{place}"


def _cells(grouped: Mapping[str, Any], named: Mapping[str, str], missing: str, source: str) -> Cells:
    distinct = dict.fromkeys(named.values())
    keys = {name: column_of(name, grouped[_key(place)]) for place, name in enumerate(distinct)}
    counts = _plain(grouped[ROWS])
    if not len(counts):
        raise StratError(f"{source} must have at least one row, got none.")
    lost = {name: int(counts[c.missing].sum()) for name, c in keys.items() if c.missing is not None}
    if lost and missing == "error":
        raise StratError(missing_message(lost, source))
    gone = [c.missing for c in keys.values() if c.missing is not None]
    keep = ~np.any(gone, axis=0) if gone else np.ones(len(counts), bool)
    if not keep.any():
        raise StratError(f"{source} must have at least one row without missing values, got none.")
    return Cells(
        {role: _labels(keys[name], keep) for role, name in named.items()},
        counts[keep],
        _plain(grouped[WEIGHT])[keep] if WEIGHT in grouped else None,
        int(counts[~keep].sum()),
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
        raise _bad_weights(name, int(cells.counts[bad].sum()))
    _in_range(name, weight)
    return replace(cells, weights=weight * cells.counts)


def _plain(values: Any) -> Array:
    return column_of("totals", values).values.astype(float)


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
    raise StratError(
        f"`{argument}` must name a column of numbers of {source}, got {name!r}, which holds "
        f"{'truth values' if dtype == nw.Boolean else 'text'}; mend its values, or choose another column."
    )


def binned(lazy: Any, name: str, binning: Binning) -> Any:
    """The lazy frame with a score replaced by the index of its bin."""
    import narwhals as nw

    return lazy.with_columns(_bin(nw.col(name), binning).alias(name))


def _bin(score: Any, binning: Binning) -> Any:
    """The index of the bin; the greatest score falls into the last one because the scale is a hair too small."""
    import narwhals as nw

    scale = (1.0 - 1e-12) / binning.width
    index = ((score.cast(nw.Float64) - binning.low) * scale).floor()
    if binning.gaps:
        return nw.when(~score.is_nan()).then(index).cast(nw.Int32)
    return index.cast(nw.Int32)


def _binning(table: Table, name: str, bins: int | None, *, single: bool) -> Binning | None:
    """None when the scores are few enough to keep them all."""
    import narwhals as nw

    if bins is not None and (int(bins) != bins or bins < 2):
        raise StratError(f"`bins` must be a whole number, at least 2, got {bins!r}.")
    lazy = table.backend.lazy
    score = nw.col(name)
    if bins is None or bins >= DISTINCT:
        head = table.backend.collect(lazy.select(name).head(65536).select(score.n_unique().alias("n")))
        # the head only spares a pass: whatever the order of rows, the number of all distinct scores decides
        if int(_plain(head["n"])[0]) <= DISTINCT and _distinct(table, name) <= DISTINCT:
            return None
    is_float = lazy.collect_schema()[name].is_float()
    gaps = is_float and bool(_plain(table.backend.collect(lazy.select(score.is_nan().sum().alias("n")))["n"])[0])
    rows = lazy.select(name).filter(~score.is_nan()) if gaps else lazy.select(name)
    ends = table.backend.collect(rows.select(score.min().alias("low"), score.max().alias("high")))
    low, high = float(_plain(ends["low"])[0]), float(_plain(ends["high"])[0])
    if not np.isfinite([low, high]).all():
        raise StratError(f"`score` must be finite to be binned, but column {name!r} reaches {low} to {high}.")
    return None if low == high else Binning(low, high, bins or (FINE if single else BINS), gaps)


def _distinct(table: Table, name: str) -> int:
    import narwhals as nw

    counted = table.backend.collect(table.backend.lazy.select(nw.col(name).n_unique().alias("n")))
    return int(_plain(counted["n"])[0])
