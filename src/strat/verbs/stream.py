"""Estimates from Parquet files too large for cells of every unit: two passes, and only unit sums come back.

The first pass adds up the distinct rows (without their units), from which the statistic and the influence of each
distinct row follow; the second adds up these influences in each unit. The closed-form variance needs nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes
from strat.data.backends import Lazy
from strat.data.cells import Cells
from strat.data.engines import exact
from strat.data.reduce import reduce
from strat.data.table import Table
from strat.designs import Design
from strat.designs.from_columns import design_of
from strat.estimation import Estimate
from strat.estimation.estimate import estimate_from_sums, too_curved
from strat.measures import Statistic
from strat.measures.register import Measure
from strat.verbs.file_sums import SumColumns, SumsAsked, checked_sums, sums_by_unit
from strat.verbs.grouping import Make, grouped, one_by_one, rows_by_label
from strat.verbs.groups import Groups
from strat.verbs.metrics import columns_of
from strat.verbs.sources import Basis, Sources, Split
from strat.verbs.stream_groups import many_in_file

BINS = 1 << 16  # of scores in a file of very many rows


def fits(table: Table, roles: Mapping[str, str | None], method: str) -> bool:
    """Whether two passes pay: a large Parquet file with units, and a closed form."""
    files = getattr(table.backend, "files", None)
    if files is None or method != "taylor" or roles["units"] is None or roles["items"] is not None:
        return False
    suffixes = {path.suffix.lower() for path in files.paths}
    return suffixes <= {".parquet", ".pq"} and len(table) > LIMITS.rows_in_memory and _joinable(table, roles)


def _joinable(table: Table, roles: Mapping[str, str | None]) -> bool:
    """Whether rows can be joined with their cells: by labels as they are stored."""
    names = [name for role, name in roles.items() if name is not None and role != "units"]
    backend = table.backend
    return isinstance(backend, Lazy) and not backend.inside and not exact(backend.lazy, names)[1]


def two_passes(source: Sources, metrics: Sequence[Measure], split: Split) -> Basis | None:
    """Estimates in two passes for each set of columns that measures need; None where cells of units must be made."""
    parts = []
    for needs in dict.fromkeys(metric.needs for metric in metrics):
        part = _passes(source, [metric for metric in metrics if metric.needs == needs], split)
        if part is None:
            return None
        parts.append(part)
    estimates = {name: result for part in parts for name, result in part.estimates.items()}
    groups = {name: result for part in parts for name, result in part.groups.items()}
    return replace(
        parts[0],
        estimates={metric.word: estimates[metric.word] for metric in metrics},
        groups={metric.word: groups[metric.word] for metric in metrics if metric.word in groups},
    )


def _passes(source: Sources, metrics: Sequence[Measure], split: Split) -> Basis | None:
    """The measures of one set of columns."""
    roles = source.roles
    divided = [metric for metric in metrics if metric in split.metrics]
    by = split.roles if divided else ()
    named = {role: roles[role] for role in (*metrics[0].needs, *by)}
    cells = reduce(source.table, named, weights=source.weights, missing=source.missing, bins=source.bins or BINS)
    columns = columns_of(cells, source.positive)
    statistics = [metric.build(columns) for metric in metrics]
    if any(s.of_weights or s.quantile is not None for s in statistics):
        return None
    asked = SumsAsked(cells)
    whole = [asked.add(statistic) for statistic in statistics]
    many = {metric.word: many_in_file(metric, cells, split, source.positive, asked) for metric in divided}
    few = [metric for metric in divided if many[metric.word] is None]
    parts = [one_by_one(metric, cells, split.roles, source.positive) for metric in few]
    own = [{label: asked.add(s, rows) for label, (rows, s) in divided_rows.items()} for divided_rows, _ in parts]
    sums = sums_by_unit(source, named, cells, asked.matrix, by)
    if sums is None and source.missing == "drop":
        return None
    labels, mass, rows, summed = checked_sums(sums, source.table, roles, by)
    design = _design(source, labels, mass, rows)
    if any(too_curved(statistic, design) for statistic in statistics):
        return None
    summed = np.column_stack([summed, mass])
    estimates = {
        metric.word: _estimate(s, of, summed, design, cells)
        for metric, s, of in zip(metrics, statistics, whole, strict=True)
    }
    lines = rows_by_label(labels, split.roles) if few else {}
    groups: dict[str, Groups] = {}
    for name, one in many.items():
        together = None if one is None else one.groups(labels, mass, rows, summed[:, :-1], design, cells)
        if one is not None and together is None:
            return None
        if together is not None:
            groups[name] = together
    for metric, (divided_rows, undefined), of in zip(few, parts, own, strict=True):
        make = _from_sums(of, lines, summed, design, cells)
        groups[metric.word] = grouped(metric, split.by, divided_rows, undefined, design, cells.counts, make)
    return Basis(cells, design, labels, estimates, groups)


def _design(source: Sources, labels: Mapping[str, NDArray[Any]], mass: Array, rows: Array) -> Design:
    """The design of the units."""
    return design_of(
        labels,
        rows=len(mass),
        counts=rows,
        weights=mass,
        sampling=source.sampling,
    )


def _estimate(statistic: Statistic, of: SumColumns, summed: Array, design: Design, cells: Cells) -> Estimate:
    sums, parts = of.sums(summed, design), of.of_parts(summed, design)
    return estimate_from_sums(statistic, sums, on=design, parts=parts, weights=cells.mass, counts=cells.counts)


def _from_sums(
    own: Mapping[Any, SumColumns],
    lines: Mapping[Any, Codes],
    summed: Array,
    design: Design,
    cells: Cells,
) -> Make:
    """How to estimate in one group, from the sums of its units."""

    def make(label: Any, statistic: Statistic, rows: Codes) -> tuple[Estimate, Design]:
        inside = design.restricted(lines[label])
        here = summed[lines[label]]
        sums, parts = own[label].sums(here, inside), own[label].of_parts(here, inside)
        weights, counts = cells.mass[rows], cells.counts[rows]
        return estimate_from_sums(statistic, sums, on=inside, weights=weights, counts=counts, parts=parts), inside

    return make
