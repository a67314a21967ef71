"""Notes on an evaluation: traps, bins, averages, undefined groups, pooled systems, what looks clustered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from strat.base.limits import LIMITS
from strat.base.notes import Note, once
from strat.base.text import counted
from strat.base.validate.columns import encode
from strat.data.cells import Cells
from strat.designs.from_columns import (
    GROUP,
    is_drawn,
)
from strat.estimation import Estimate
from strat.measures.positive import positives
from strat.measures.register import Measure
from strat.verbs.groups import Groups, in_words, untested
from strat.verbs.hints import averages, classes_as_strata, clustered, coded_scores, pooled, pooled_over_crossed, traps
from strat.verbs.sources import Basis, Sources

SHOWN = 3  # strata whose undefined measures are named
OF_INTERVALS = (
    "heavy-units",
    "few-holders",
    "few-of-class",
    "few-units",
    "two-kinds",
    "one-outcome",
    "no-variation",
)  # notes on single groups


def notes_on(columns: Sources, basis: Basis, wanted: Sequence[Measure]) -> tuple[str, ...]:
    """Notes on the result, each thing once."""
    table, roles = columns.table, columns.roles
    notes: list[str] = [*_traps(basis, roles), *basis.cells.notes, *_binned(basis.cells, wanted, columns.positive)]
    notes += averages(wanted, basis.estimates)
    notes += pooled_over_crossed(wanted, columns.sampling)
    weighted = columns.weights is not None or columns.sampling.population is not None
    notes += classes_as_strata(roles, wanted, weighted=weighted)
    if roles["truth"] is None and "score" in basis.cells.columns:
        notes += coded_scores({str(roles["score"]): np.asarray(basis.cells.columns["score"], float)})
    notes += _of_measures(basis.estimates)
    notes += _own(basis.cells, wanted)
    for groups in basis.groups.values():
        notes += [
            Note("group-undefined", f"{groups.metric} in {in_words(label)}: {why}")
            for label, why in list(groups.undefined.items())[:SHOWN]
        ]
        if any(role.startswith(GROUP) for role in roles):
            notes += _of_groups(groups)
    if any(role.startswith(GROUP) for role in roles):
        notes += untested(basis.groups.values())
    systems = []
    if not any(metric.of == "item" for metric in wanted):  # several tries of an item look like several systems
        systems = pooled(table, roles, columns.weights, rows=basis.cells.rows)
    notes += [Note("systems-pooled", str(one)) for one in systems]
    if all(name is None for role, name in roles.items() if is_drawn(role)):
        notes += _suspects(columns, [one.name for one in systems], basis.cells.rows)
    return once(notes)


def _of_measures(estimates: Mapping[str, Estimate]) -> list[str]:
    """Notes on each measure; what makes several intervals uncertain is said once, of the first of them."""
    notes: dict[str, str] = {}
    named: dict[str, list[tuple[str, str]]] = {}
    for name, one in estimates.items():
        for note in one.notes:
            code = getattr(note, "code", "")
            key = code if code in OF_INTERVALS else note
            notes.setdefault(key, note)
            named.setdefault(key, []).append((name, note))
    return [_for_all(note, named[key]) for key, note in notes.items()]


def _for_all(note: str, named: Sequence[tuple[str, str]]) -> str:
    """The note of the first measure, with the other measures of which other figures are true."""
    (first, _), *others = named
    if all(text == note for _, text in others) or not isinstance(note, Note):
        return note
    return Note(note.code, f"{first}: {note} (likewise for {', '.join(name for name, _ in others)})")


def _of_groups(groups: Groups) -> list[Note]:
    """What makes the intervals of groups uncertain, each thing once: units that carry a group, few that show errors."""
    known: dict[str, list[tuple[Any, str]]] = {}
    for label, one in groups.each.items():
        for note in one.notes:
            if (code := getattr(note, "code", "")) in OF_INTERVALS:
                known.setdefault(code, []).append((label, note))
    return [
        Note(code, f"{groups.metric} in {in_words(ones[0][0])}: {ones[0][1]}" + _likewise(len(ones) - 1))
        for code, ones in known.items()
    ]


def _likewise(others: int) -> str:
    return "" if not others else f" (likewise in {counted(others, 'other group')})"


def _traps(basis: Basis, roles: Mapping[str, str | None]) -> list[Note]:
    labels = basis.labels
    return traps(units=labels.get("units"), strata=labels.get("strata"), names=roles, rows=basis.cells.rows)


def _own(cells: Cells, wanted: Sequence[Measure]) -> list[str]:
    """What somebody's own measure must know where there are too many rows to hand over."""
    if cells.rows <= LIMITS.rows_made_of_cells:
        return []
    return [
        Note(
            "distinct-rows",
            f"{metric.word} was made of {len(cells):,} distinct rows with weights, not of {cells.rows:,} rows: it must "
            "not count rows",
        )
        for metric in wanted
        if metric.by_rows
    ]


def _binned(cells: Cells, wanted: Sequence[Measure], positive: object) -> list[str]:
    binning = cells.binning
    if binning is None:
        return []
    text = f"scores were put into {binning.bins} bins of width {binning.width:.4g}"
    names = [metric.name for metric in wanted if "score" in metric.needs]
    if "auc" in names:
        text += f"; this moves the AUC by at most {auc_bound(cells, positive):.2g}"
    halved = [name for name in names if name in ("mean", "median")]
    if halved:
        text += f"; this moves the {' and the '.join(halved)} by at most {binning.width / 2:.2g}"
    others = [name for name in names if name not in ("auc", *halved)]
    if others:
        text += f"; how far this moves {', '.join(others)} and their standard errors is not known, so they are rough"
    return [Note("scores-binned", text + "; more `bins` make it smaller.")]


def auc_bound(cells: Cells, positive: object = None) -> float:
    """The most that binning can move the AUC: half the share of pairs of both classes that fall into one bin."""
    hits, score, *_ = positives(cells.columns["truth"], cells.columns["score"], positive)
    place, _ = encode("score", score)
    p = np.bincount(place, cells.mass * hits)
    n = np.bincount(place, cells.mass * (1 - hits))
    return float(0.5 * (p * n).sum() / (p.sum() * n.sum())) if p.sum() and n.sum() else 0.0


def _suspects(columns: Sources, systems: list[str], rows: int) -> list[Note]:
    table, roles, weights = columns.table, columns.roles, columns.weights
    used = [*systems, *(name for name in (*roles.values(), weights) if name is not None)]
    right = roles["truth"] is not None and roles["predicted"] is not None
    score = [str(roles["truth"]), str(roles["predicted"])] if right else [str(roles["score"])]
    if not right and (roles["truth"] is not None or roles["score"] is None):
        return []
    return clustered(table, used, score, right=right, weights=weights, rows=rows)
