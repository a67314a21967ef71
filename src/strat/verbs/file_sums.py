"""The second pass over a large file: sums of influences by unit, made in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError
from strat.base.validate.columns import Array, Codes
from strat.data.binning import Binning, binned
from strat.data.cells import Cells
from strat.data.engines import exact, unmarked
from strat.data.files import FileSource, quoted
from strat.data.frames import column_of, exact_column
from strat.data.table import Table, missing_message
from strat.designs import Design
from strat.designs.layout import sums as of_groups
from strat.estimation import linear
from strat.estimation.inference import GivenSums, base_slopes
from strat.estimation.totals import totals
from strat.estimation.value_df import class_codes
from strat.measures import Statistic
from strat.verbs.sources import Sources


@dataclass(frozen=True)
class SumColumns:
    """Where the sums of one statistic stand.

    Attributes
    ----------
    influence
        Its influences.
    classes
        For each view, the weights of its classes (-1: all weights).
    bases
        What each value is a share of (None: its view).
    parts
        The same of the shares that it is a sum of (None: it is none).
    """

    influence: slice
    classes: tuple[tuple[int, ...], ...]
    bases: slice | None = None
    parts: SumColumns | None = None

    def sums(self, summed: Array, design: Design) -> GivenSums:
        """The sums of each unit, from those of each row of its design."""

        def by_unit(columns: Array) -> Array:
            return of_groups(design.unit, columns, design.lines)

        return GivenSums(
            by_unit(summed[:, self.influence]),
            np.stack([by_unit(summed[:, list(view)]).T for view in self.classes], axis=-1),
            None if self.bases is None else by_unit(summed[:, self.bases]),
        )

    def of_parts(self, summed: Array, design: Design) -> GivenSums | None:
        """The sums of the shares that the statistic is a sum of, if it is one."""
        return None if self.parts is None else self.parts.sums(summed, design)


class SumsAsked:
    """The columns that the second pass adds up: influences of distinct rows, and which rows each view holds."""

    def __init__(self, cells: Cells) -> None:
        self.cells, self.columns = cells, list[Array]()

    def add(self, statistic: Statistic, rows: Codes | None = None) -> SumColumns:
        """The statistic of these cells (None: of all)."""
        weights = self.cells.mass if rows is None else self.cells.mass[rows]
        slope, base = linear.gradient(statistic, totals(statistic, weights), weights), base_slopes(statistic)
        influence = self._put(linear.row_influence(statistic, slope), rows)
        bases = None if base is None else self._put(linear.row_influence(statistic, base), rows)
        classes = tuple(self._classes(statistic, view, rows) for view in statistic.views)
        parts = self.add(statistic.sum_of[0], rows) if isinstance(statistic.sum_of, tuple) else None
        return SumColumns(influence, classes, bases, parts)

    def add_rows(self, statistic: Statistic, rows: Codes, influence: Array, bases: Array | None) -> SumColumns:
        """The statistics of many groups of these cells, of which each knows what it does to its own."""
        base = None if bases is None else self._put(bases[:, None], rows)
        classes = tuple(self._classes(statistic, view, rows) for view in statistic.views)
        return SumColumns(self._put(influence[:, None], rows), classes, base)

    def _put(self, columns: Array, rows: Codes | None) -> slice:
        start = len(self.columns)
        self.columns += [self._spread(column, rows) for column in columns.T]
        return slice(start, len(self.columns))

    def _classes(self, statistic: Statistic, view: NDArray[np.bool_] | None, rows: Codes | None) -> tuple[int, ...]:
        codes, number = class_codes(statistic, view)
        if codes is None:
            return (-1,)
        place = self._put((codes[:, None] == np.arange(number)).astype(float), rows)
        return tuple(range(place.start, place.stop))

    def _spread(self, column: Array, rows: Codes | None) -> Array:
        if rows is None:
            return column
        spread = np.zeros(len(self.cells))
        spread[rows] = column
        return spread

    @property
    def matrix(self) -> Array:
        """The columns side by side."""
        return np.stack(self.columns, axis=1)


def sums_by_unit(
    source: Sources, named: Mapping[str, str | None], cells: Cells, influence: Array, by: Sequence[str]
) -> dict[str, Any] | None:
    """The second pass: in each unit the number of rows, their weight, and the sums of their influences."""
    table, roles, weights = source.table, source.roles, source.weights
    files: FileSource = table.backend.files  # type: ignore[attr-defined]
    lazy, wide = _rows_with_groups(table, roles, by)
    if cells.binning is not None:
        lazy = binned(lazy, str(named["score"]), cells.binning)
    lookup, condition = _match({str(name): _key(cells, role) for role, name in named.items()})
    shift, scaled = _scaled(influence, cells)
    lookup |= {f"influence_{k}": column for k, column in enumerate(scaled.T)}
    files.engine.register("strat_columns", lookup)
    # a table of its own, so that the planner knows it is the small side of the join
    files.engine.execute("create or replace temp table strat_cells as select * from strat_columns")
    files.engine.unregister("strat_columns")
    rows = lazy.to_native().set_alias("strat_data")
    table_of_cells = files.engine.table("strat_cells").set_alias("strat_lookup")
    groups = [f"strat_data.{quoted(str(roles[role]))}" for role in _group_roles(roles, by)]
    named_groups = [f"{g} as {role}" for g, role in zip(groups, _group_roles(roles, by), strict=True)]
    asked = ", ".join([*named_groups, "count(*) as strat_rows", *_summed(cells, influence.shape[1], weights)])
    summed = rows.join(table_of_cells, condition).aggregate(asked, ", ".join(groups))
    sums = files.fetch(summed.order(", ".join(_group_roles(roles, by))))
    lost = any(isinstance(sums[role], np.ma.MaskedArray) for role in _group_roles(roles, by))
    if lost:
        return None
    for role in _group_roles(roles, by):
        if roles[role] in wide:
            sums[role] = exact_column(role, sums[role]).values
    for name, power in (*shift.items(), *([] if cells.grid is None else [("strat_mass", _places(cells.grid.top))])):
        sums[name] = np.ldexp(sums[name], -power)
    return sums


def _scaled(influence: Array, cells: Cells) -> tuple[dict[str, int], NDArray[Any]]:
    """Influences, times powers of two so that they, or their products with weights, are added as whole numbers.

    Whole numbers of 62 bits add up exactly in DuckDB's 128, so that no order of rows and no threads change a bit.
    """
    largest = 1.0 if cells.grid is None else np.minimum(cells.mass, cells.grid.top)[:, None]
    shift = _places(np.abs(influence * largest).max(axis=0))
    scaled = np.ldexp(influence, shift)
    names = [f"sum_{k}" for k in range(len(shift))]
    return dict(zip(names, shift.tolist(), strict=True)), scaled if cells.grid else np.rint(scaled).astype(np.int64)


def _places(bound: Any) -> Any:
    """By which power of two to multiply numbers up to `bound` so that they have 62 bits before the point."""
    return 62 - np.frexp(bound)[1]


def _summed(cells: Cells, number: int, weights: str | None) -> list[str]:
    """What the second pass adds up: weights and influences, as whole numbers."""
    if cells.grid is None:
        return ["count(*)::double as strat_mass", *(f"sum({_influence(k)}) as sum_{k}" for k in range(number))]
    weight = f"strat_data.{quoted(str(weights))}::double"
    unit = f"{float(np.ldexp(1.0, _places(cells.grid.top)))!r}::double"
    products = [f"sum(({weight} * {_influence(k)})::bigint) as sum_{k}" for k in range(number)]
    return [f"sum(({weight} * {unit})::bigint) as strat_mass", *products]


def _influence(k: int) -> str:
    return f"strat_lookup.influence_{k}"


def _match(keys: Mapping[str, NDArray[Any]]) -> tuple[dict[str, NDArray[Any]], str]:
    """Columns to join the rows with their cells by, and the condition; one whole number where that is possible.

    A join by one small whole number is a look-up, several times as fast as one by several columns.
    """
    spans = {n: int(v.max()) - int(v.min()) + 1 for n, v in keys.items() if v.dtype.kind in "iu"}
    size = np.prod([float(span) for span in spans.values()]) if len(spans) == len(keys) else np.inf
    if size > 1 << 24:
        lookup = {f"key_{i}": values for i, values in enumerate(keys.values())}
        parts = [_same(name, i, values) for i, (name, values) in enumerate(keys.items())]
        return lookup, " and ".join(parts)
    code, terms = np.zeros(len(next(iter(keys.values()))), np.int64), list[str]()
    for name, values in keys.items():
        low = int(values.min())
        code = code * spans[name] + (values - values.dtype.type(low)).astype(np.int64)
        terms = [f"({term}) * {spans[name]}" for term in terms]
        kind = "integer" if abs(low) + spans[name] < 1 << 31 else "hugeint"
        terms.append(f"(strat_data.{quoted(name)}::{kind} - {low})::integer")
        terms = [" + ".join(terms)]
    return {"key": code.astype(np.int32)}, f"{terms[0]} = strat_lookup.key"


def _same(name: str, place: int, values: NDArray[Any]) -> str:
    column = f"strat_data.{quoted(name)}"
    return (
        f"{column}::double = strat_lookup.key_{place}"
        if values.dtype.kind == "f"
        else (f"{column} = strat_lookup.key_{place}")
    )


def _group_roles(roles: Mapping[str, str | None], by: Sequence[str] = ()) -> list[str]:
    return list(dict.fromkeys(role for role in ("strata", "units", *by) if roles[role] is not None))


def _rows_with_groups(table: Table, roles: Mapping[str, str | None], by: Sequence[str]) -> tuple[Any, set[str]]:
    """The rows, with marks in strata and units missing and wide numbers there as text; and which columns are so."""
    names = [str(roles[role]) for role in _group_roles(roles, by)]
    return exact(unmarked(table.backend.lazy, names, table.backend.na), names)


def _key(cells: Cells, role: str) -> NDArray[Any]:
    values = cells.columns[role]
    if role == "score" and cells.binning is not None:
        return _index(values, cells.binning)
    return values.astype(object) if values.dtype.kind == "U" else values


def _index(middle: NDArray[Any], binning: Binning) -> NDArray[Any]:
    return np.round((middle - binning.low) / binning.width - 0.5).astype(np.int32)


def checked_sums(
    sums: dict[str, Any] | None, table: Table, roles: Mapping[str, str | None], by: Sequence[str]
) -> tuple[dict[str, NDArray[Any]], Array, Array, Array]:
    """The labels of each line by role, its weight, its rows, and its sums."""
    if sums is None:
        raise StratError(missing_message(_lost(table, roles, by), table.source))
    labels = {role: column_of(role, sums[role]).values for role in _group_roles(roles, by)}
    columns = [np.asarray(sums[name], float) for name in sums if name.startswith("sum_")]
    mass, rows = np.asarray(sums["strat_mass"], float), np.asarray(sums["strat_rows"], float)
    return labels, mass, rows, np.stack(columns, axis=1)


def _lost(table: Table, roles: Mapping[str, str | None], by: Sequence[str]) -> dict[str, int]:
    import narwhals as nw

    names = [str(roles[role]) for role in _group_roles(roles, by)]
    counted = table.backend.collect(
        _rows_with_groups(table, roles, by)[0].select(*[nw.col(n).is_null().sum() for n in names])
    )
    return {name: int(counted[name][0]) for name in names if int(counted[name][0])}
