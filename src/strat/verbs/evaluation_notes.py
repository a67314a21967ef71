"""Notes on an evaluation: traps, bins, averages, undefined groups, pooled systems, what looks clustered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from strat.base.limits import LIMITS
from strat.base.notes import IN_NO_GROUP, OF_INTERVALS, Note, merged, of_each, once
from strat.data.cells import Cells
from strat.designs.from_columns import (
    GROUP,
    is_drawn,
)
from strat.measures.register import Measure
from strat.verbs.binning_bounds import notes_on_bins
from strat.verbs.group_lines import ManyEstimates
from strat.verbs.groups import Groups, in_words
from strat.verbs.hints import averages, classes_as_strata, clustered, coded_scores, pooled, pooled_over_crossed, traps
from strat.verbs.sources import Basis, Sources

SHOWN = 3  # strata whose undefined measures are named


def notes_on(columns: Sources, basis: Basis, wanted: Sequence[Measure]) -> tuple[Note, ...]:
    """Notes on the result, each thing once."""
    table, roles = columns.table, columns.roles
    notes: list[Note] = [
        *_traps(basis, roles),
        *basis.cells.notes,
    ]
    if basis.cells.binning is not None:
        notes += notes_on_bins(wanted, basis.cells, columns.positive)
    notes += averages(wanted, basis.estimates)
    notes += pooled_over_crossed(wanted, columns.sampling)
    weighted = columns.weights is not None or columns.sampling.population is not None
    notes += classes_as_strata(roles, wanted, weighted=weighted)
    if roles["truth"] is None and "score" in basis.cells.columns:
        notes += coded_scores({str(roles["score"]): np.asarray(basis.cells.columns["score"], float)})
    notes += of_each("metric", {name: one.notes for name, one in basis.estimates.items()})
    notes += _own(basis.cells, wanted)
    notes += [note for groups in basis.groups.values() for note in _undefined(groups)]
    if any(role.startswith(GROUP) for role in roles):
        notes += merged([note for groups in basis.groups.values() for note in _of_groups(groups)], OF_INTERVALS)
    systems = []
    if not any(metric.of == "item" for metric in wanted):  # several tries of an item look like several systems
        systems = pooled(table, roles, columns.weights, rows=basis.cells.rows)
    notes += [one.note for one in systems]
    if all(name is None for role, name in roles.items() if is_drawn(role)):
        notes += _suspects(columns, [one.name for one in systems], basis.cells.rows)
    return once(note.named(basis.design.nouns) for note in notes)


def _undefined(groups: Groups) -> list[Note]:
    """The groups without a value, those with the same reason together."""
    reasons: dict[str, list[Any]] = {}
    for label, why in groups.undefined.items():
        reasons.setdefault(why, []).append(label)
    named = list(reasons.items())[:SHOWN]
    return [_at(groups, labels, Note("group-undefined", {"why": why})) for why, labels in named]


def _of_groups(groups: Groups) -> list[Note]:
    """What makes the intervals of groups uncertain: units that carry a group, few that show errors."""
    if isinstance(groups.each, ManyEstimates):
        return [_at(groups, labels, note) for note, labels in groups.each.cautions()]
    known: dict[str, tuple[Note, list[Any]]] = {}
    for label, one in groups.each.items():
        for note in one.notes:
            if note.code in OF_INTERVALS:
                known.setdefault(note.code, (note, []))[1].append(label)
    return [_at(groups, labels, note) for note, labels in known.values()]


def _at(groups: Groups, labels: Sequence[Any], note: Note) -> Note:
    """A note on these groups of all; the figures are those of the first."""
    axis = groups.by[0] if len(groups.by) == 1 and groups.by[0] not in IN_NO_GROUP else "group"
    facts = {**note.facts, "groups": len(groups.each) + len(groups.undefined)}
    return Note(note.code, facts, {axis: tuple(map(in_words, labels)), "metric": (groups.metric,)}, note.nouns)


def _traps(basis: Basis, roles: Mapping[str, str | None]) -> list[Note]:
    labels = basis.labels
    return traps(units=labels.get("units"), strata=labels.get("strata"), names=roles, rows=basis.cells.rows)


def _own(cells: Cells, wanted: Sequence[Measure]) -> list[Note]:
    """What somebody's own measure must know where there are too many rows to hand over."""
    if cells.rows <= LIMITS.rows_made_of_cells:
        return []
    return [
        Note("distinct-rows", {"distinct": len(cells), "rows": cells.rows}).of(metric=metric.word)
        for metric in wanted
        if metric.by_rows
    ]


def _suspects(columns: Sources, systems: list[str], rows: int) -> list[Note]:
    table, roles, weights = columns.table, columns.roles, columns.weights
    used = [*systems, *(name for name in (*roles.values(), weights) if name is not None)]
    right = roles["truth"] is not None and roles["predicted"] is not None
    score = [str(roles["truth"]), str(roles["predicted"])] if right else [str(roles["score"])]
    if not right and (roles["truth"] is not None or roles["score"] is None):
        return []
    return clustered(table, used, score, right=right, weights=weights, rows=rows)
