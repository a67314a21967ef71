"""A plain long table: system, items, score, and if there are any, strata, units, epoch, weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from strat.base.errors import StratError, one_of
from strat.base.notes import Note
from strat.base.validate.arguments import checked
from strat.base.validate.names import Names, listed
from strat.data.column import Column, all_marks, all_notes, dropped_note
from strat.data.logs.item_table import ItemTable
from strat.data.table import Table, missing_message, read

NAMES = {
    "system": ("system", "model", "model_name"),
    "items": ("item", "items", "item_id", "id", "question_id", "doc_id", "instance_id"),
    "score": ("score", "correct", "value", "acc"),
}
EXACT = {
    "strata": ("strata", "stratum"),
    "units": ("units", "cluster"),
    "epoch": ("epoch",),
    "weights": ("weights", "weight"),
}


@checked
def read_long(
    source: Any,
    *,
    system: str | None = None,
    items: str | None = None,
    score: str | None = None,
    strata: str | None = None,
    units: str | None = None,
    epoch: str | None = None,
    weights: str | None = None,
    about: Names = (),
    missing: str = "error",
    na: Names | None = None,
) -> ItemTable:
    """Scores of systems on items from a frame or a file, one row for each.

    Column names that are not given are looked up: `system` or `model`, `item` or `id`, `score` or `correct`. Strata,
    units, epoch and weights are used without being named only if a column is called so ("strata" or "stratum", "units"
    or "cluster", "epoch", "weights" or "weight"), and a note says it.

    Parameters
    ----------
    about
        Further columns to keep, such as those that make groups.

    Examples
    --------
    >>> table = read_long({"system": ["a", "b"], "item": ["q1", "q1"], "score": [1, 0]})
    >>> table.systems, len(table)
    (['a', 'b'], 2)
    """
    one_of("missing", missing, ("error", "drop"))
    table = read(source, na=na)
    given = {"system": system, "items": items, "score": score, "strata": strata}
    given |= {"units": units, "epoch": epoch, "weights": weights}
    names = {role: _name(table, role, name) for role, name in given.items()}
    used = {role: name for role, name in names.items() if name is not None}
    kept = listed("about", about)
    for name in kept:
        table.require(about=name)
    columns = {c.name: c for c in table.backend.fetch(list(dict.fromkeys([*used.values(), *kept])))}
    for role in ("score", "epoch", "weights"):
        if role in used:
            columns[used[role]] = columns[used[role]].numbers()
    lost = {c.name: c.lost for c in columns.values() if c.lost}
    if lost and missing == "error":
        raise StratError(missing_message(lost, table.source, all_marks(columns.values())))
    gone = [c.missing for c in columns.values() if c.missing is not None]
    keep = ~np.any(gone, axis=0) if gone else np.ones(len(columns[used["score"]]), bool)
    values = {role: columns[name].values[keep] for role, name in used.items()}
    notes: list[Note] = notes_on_roles(assumed_roles(table.names, given))
    if not keep.all():
        notes.append(dropped_note(int((~keep).sum()), all_marks(columns.values())))
    if "epoch" in values and not np.equal(np.mod(values["epoch"], 1), 0).all():
        raise StratError.about(
            "epoch", f"must number repeats by whole numbers, got others in column {used['epoch']!r}."
        )
    return ItemTable(
        system=values["system"],
        items=values["items"],
        score=values["score"].astype(float),
        strata=values.get("strata"),
        units=values.get("units"),
        epoch=values["epoch"].astype(np.int64) if "epoch" in values else None,
        weights=values.get("weights"),
        about={name: columns[name].values[keep] for name in kept},
        notes=(*notes, *all_notes(columns.values())),
    )


def assumed_roles(names: Sequence[str], given: Mapping[str, str | None]) -> dict[str, str]:
    """The roles that columns play by their names alone, because nobody named others."""
    called = {role: [name for name in known if name in names] for role, known in EXACT.items() if not given.get(role)}
    return {role: columns[0] for role, columns in called.items() if columns}


def notes_on_roles(assumed: Mapping[str, str]) -> list[Note]:
    """What was assumed."""
    return [Note("role-chosen", {"role": role, "column": name}) for role, name in assumed.items()]


def _dropped(rows: int, columns: Mapping[str, Column]) -> tuple[Note, ...]:
    return (dropped_note(rows, all_marks(columns.values())),) if rows else ()


def _name(table: Table, role: str, given: str | None) -> str | None:
    if given is not None:
        table.require(**{role: given})
        return given
    for name in {**NAMES, **EXACT}[role]:
        if name in table.names:
            return name
    if role in NAMES:
        wide = "; in a wide table, name a column for each of two systems or more" if role == "system" else ""
        raise StratError.about(
            role,
            f"must name a column of {table.source}; none is called {' or '.join(NAMES[role][:2])}, "
            f"there are {', '.join(map(repr, table.names[:12]))}{wide}.",
        )
    return None
