"""Estimates from Parquet files too large for cells of every unit: two passes, and only unit sums come back.

The first pass adds up the distinct rows (without their units), from which the statistic and the influence of each
distinct row follow; the second adds up these influences in each unit. The closed-form variance needs nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.columns import Array
from strat.designs import Design
from strat.errors import StratError
from strat.estimation import Estimate, cautions, estimate, linear
from strat.estimation.totals import totals
from strat.statistics import Statistic
from strat.tables.files import FileSource
from strat.tables.frames import column_of
from strat.tables.metrics import Metric, columns_of, single
from strat.tables.reduce import Binning, Cells, binned, reduce
from strat.tables.table import Table, missing_message

LARGE = 5_000_000
BINS = 1 << 16


@dataclass(frozen=True, eq=False)
class Streamed:
    """What two passes give: the cells without units, the design of the units, and the estimates."""

    cells: Cells
    design: Design
    units: NDArray[Any]
    strata: NDArray[Any] | None
    estimates: Mapping[str, Estimate]


def fits(table: Table, roles: Mapping[str, str | None], method: str) -> bool:
    """Whether two passes pay: a large Parquet file with units, and a closed form."""
    files = getattr(table.backend, "files", None)
    if files is None or method != "taylor" or roles["units"] is None or roles["items"] is not None:
        return False
    suffixes = {path.suffix.lower() for path in files.paths}
    return suffixes <= {".parquet", ".pq"} and len(table) > LARGE


def stream(
    table: Table,
    roles: Mapping[str, str | None],
    metrics: Sequence[Metric],
    *,
    weights: str | None,
    population: float | Mapping[Any, float] | None,
    missing: str,
    lone: str,
    bins: int | None,
    positive: object,
) -> Streamed | None:
    """Estimates in two passes for each set of columns that measures need; None: rows without a unit must go first."""
    made: dict[str, Estimate] = {}
    last: tuple[Cells, Design, NDArray[Any], NDArray[Any] | None] | None = None
    for needs in dict.fromkeys(metric.needs for metric in metrics):
        group = [metric for metric in metrics if metric.needs == needs]
        named = {role: roles[role] for role in needs}
        cells = reduce(table, named, weights=weights, missing=missing, bins=bins or BINS)
        columns = columns_of(cells, positive)
        statistics = [single(metric, metric.build(columns)) for metric in group]
        pseudo = Design.stratified(
            np.zeros(len(cells), np.int64), weights=cells.mass, counts=cells.counts, lone="certainty"
        )
        if any(s.of_weights or s.quantile is not None for s in statistics):
            return None
        slopes = [linear.gradient(s, totals(s, pseudo.weights), pseudo.weights) for s in statistics]
        influence = np.hstack([linear.row_influence(s, g) for s, g in zip(statistics, slopes, strict=True)])
        domains = [s.domain[:, None] for s in statistics if s.domain is not None]
        sums = _sums(table, roles, named, cells, np.hstack([influence, *domains]), weights)
        if sums is None and missing == "drop":
            return None
        units, strata, mass, rows, summed = _checked(sums, table, roles)
        design = Design.clustered(units, strata=strata, weights=mass, counts=rows, population=population, lone=lone)
        on_cells = [estimate(s, on=pseudo, df=1.0) for s in statistics]
        placed = _all_placed(on_cells, statistics, pseudo, design, np.column_stack([summed, mass]))
        made |= dict(zip([metric.name for metric in group], placed, strict=True))
        last = (cells, design, units, strata) if last is None else last
    assert last is not None
    return Streamed(*last, {metric.name: made[metric.name] for metric in metrics})


def _all_placed(
    made: Sequence[Estimate], statistics: Sequence[Statistic], pseudo: Design, design: Design, sums: Array
) -> list[Estimate]:
    """Each estimate with its spread, from the units' sums of influences, weights in domains, and all weights."""
    placed = np.empty_like(sums)
    placed[design.unit] = sums
    domains = iter(placed.T[len(statistics) :])
    found = []
    for k, (one, statistic) in enumerate(zip(made, statistics, strict=True)):
        inside = placed[:, -1] if statistic.domain is None else next(domains)
        found.append(_placed(one, statistic, pseudo, design, placed[:, k : k + 1], inside))
    return found


def _placed(
    made: Estimate, statistic: Statistic, pseudo: Design, design: Design, influence: Array, inside: Array
) -> Estimate:
    """The estimate of the cells, with the spread that the units give it; `inside`: what its domain weighs in each."""
    spread = linear.deviations(influence, design).reshape(-1, *made.point.shape)
    weight = pseudo.weights if statistic.domain is None else pseudo.weights * statistic.domain
    known = 1.0 - float(inside @ design.fraction[design.stratum] / inside.sum())
    worth = made.worth * _kish(inside) / _kish(weight) / known if known > 0 else np.inf
    df = _df(statistic, design, inside)
    # a share's influence is (hits - share of rows) / all rows
    share = cautions.is_share(statistic)
    hits = influence[:, 0] * inside.sum() + float(made.value) * inside if share else None
    return replace(
        made,
        spread=spread,
        scales=1.0,
        variance=np.asarray((spread**2).sum(axis=0)),
        df=df,
        notes=cautions.notes_on_units(statistic, float(design.df), df, spread, hits, inside),
        worth=worth,
        design=design.summary,
        target=target_of(design),
    )


def _df(statistic: Statistic, design: Design, inside: Array) -> float:
    """Units less strata, of those that a domain reaches if there is one."""
    if statistic.domain is not None:
        return float(linear.domain_df(design, (inside > 0)[design.unit]))
    return linear.usual_df(float(design.df), linear.effective_df(design))


def target_of(design: Design) -> str:
    """What the estimate answers for; each line of the design is a unit here, not a row."""
    return design.target.replace(" rows ", " units ")


def _kish(weights: Array) -> float:
    return float(weights.sum() ** 2 / (weights**2).sum())


def _sums(
    table: Table,
    roles: Mapping[str, str | None],
    named: Mapping[str, str | None],
    cells: Cells,
    influence: Array,
    weights: str | None,
) -> dict[str, Any] | None:
    """The second pass: in each unit the number of rows, their weight, and the sums of their influences."""
    files: FileSource = table.backend.files  # type: ignore[attr-defined]
    lazy = table.backend.lazy
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
    groups = [f"strat_data.{_quoted(str(roles[role]))}" for role in _group_roles(roles)]
    named_groups = [f"{g} as {role}" for g, role in zip(groups, _group_roles(roles), strict=True)]
    asked = ", ".join([*named_groups, "count(*) as strat_rows", *_summed(cells, influence.shape[1], weights)])
    summed = rows.join(table_of_cells, condition).aggregate(asked, ", ".join(groups))
    found = files.fetch(summed.order(", ".join(_group_roles(roles))))
    lost = any(isinstance(found[role], np.ma.MaskedArray) for role in _group_roles(roles))
    if lost:
        return None
    for name, by in (*shift.items(), *([] if cells.grid is None else [("strat_mass", _places(cells.grid.top))])):
        found[name] = np.ldexp(found[name], -by)
    return found


def _scaled(influence: Array, cells: Cells) -> tuple[dict[str, int], NDArray[Any]]:
    """Influences, times powers of two so that they, or their products with weights, are added as whole numbers.

    Whole numbers of 62 bits add up exactly in DuckDB's 128, so that no order of rows and no threads change a bit.
    """
    largest = 1.0 if cells.grid is None else np.minimum(cells.mass, cells.grid.top)[:, None]
    shift = _places(np.abs(influence * largest).max(axis=0))
    made = np.ldexp(influence, shift)
    names = [f"sum_{k}" for k in range(len(shift))]
    return dict(zip(names, shift.tolist(), strict=True)), made if cells.grid else np.rint(made).astype(np.int64)


def _places(bound: Any) -> Any:
    """By which power of two to multiply numbers up to `bound` so that they have 62 bits before the point."""
    return 62 - np.frexp(bound)[1]


def _summed(cells: Cells, number: int, weights: str | None) -> list[str]:
    """What the second pass adds up: weights and influences, as whole numbers."""
    if cells.grid is None:
        return ["count(*)::double as strat_mass", *(f"sum(influence_{k}) as sum_{k}" for k in range(number))]
    weight = f"strat_data.{_quoted(str(weights))}::double"
    unit = f"{float(np.ldexp(1.0, _places(cells.grid.top)))!r}::double"
    products = [f"sum(({weight} * influence_{k})::bigint) as sum_{k}" for k in range(number)]
    return [f"sum(({weight} * {unit})::bigint) as strat_mass", *products]


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
        terms.append(f"(strat_data.{_quoted(name)}::{kind} - {low})::integer")
        terms = [" + ".join(terms)]
    return {"key": code.astype(np.int32)}, f"{terms[0]} = strat_lookup.key"


def _same(name: str, place: int, values: NDArray[Any]) -> str:
    column = f"strat_data.{_quoted(name)}"
    return (
        f"{column}::double = strat_lookup.key_{place}"
        if values.dtype.kind == "f"
        else (f"{column} = strat_lookup.key_{place}")
    )


def _group_roles(roles: Mapping[str, str | None]) -> list[str]:
    return [role for role in ("strata", "units") if roles[role] is not None]


def _key(cells: Cells, role: str) -> NDArray[Any]:
    values = cells.columns[role]
    if role == "score" and cells.binning is not None:
        return _index(values, cells.binning)
    return values.astype(object) if values.dtype.kind == "U" else values


def _index(middle: NDArray[Any], binning: Binning) -> NDArray[Any]:
    return np.round((middle - binning.low) / binning.width - 0.5).astype(np.int32)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _checked(
    sums: dict[str, Any] | None, table: Table, roles: Mapping[str, str | None]
) -> tuple[NDArray[Any], NDArray[Any] | None, Array, Array, Array]:
    if sums is None:
        raise StratError(missing_message(_lost(table, roles), table.source))
    units = column_of("units", sums["units"]).values
    strata = column_of("strata", sums["strata"]).values if "strata" in sums else None
    columns = [np.asarray(sums[name], float) for name in sums if name.startswith("sum_")]
    mass, rows = np.asarray(sums["strat_mass"], float), np.asarray(sums["strat_rows"], float)
    return units, strata, mass, rows, np.stack(columns, axis=1)


def _lost(table: Table, roles: Mapping[str, str | None]) -> dict[str, int]:
    import narwhals as nw

    names = [str(roles[role]) for role in _group_roles(roles)]
    counted = table.backend.collect(table.backend.lazy.select(*[nw.col(n).is_null().sum() for n in names]))
    return {name: int(counted[name][0]) for name in names if int(counted[name][0])}
