"""The board of systems behind whatever `compare` was given: columns, tables, a long table, logs or items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, near
from strat.base.notes import Note
from strat.base.validate.columns import encode
from strat.base.validate.names import Names, listed
from strat.data.joining import by_system, join, tables_of
from strat.data.logs import ItemTable, read_logs, read_long
from strat.data.logs.long import assumed_roles, notes_on_roles
from strat.data.logs.reading import is_logs
from strat.data.table import Table, read
from strat.designs.from_columns import argument_of, design_of, is_drawn
from strat.verbs.board import Board, check_constant, of_columns, of_items
from strat.verbs.compare_arguments import Asked, Reading, names_of
from strat.verbs.hints import fields_beside


def board_of(kind: str, source: Any, asked: Asked) -> Board:
    """The board of a source of this kind."""
    if kind == "columns":
        table = read(source, na=asked.reading.na)
        board = of_columns(table, asked.values, asked.role, asked.columns, asked.reading.missing)
        return _with_fields(board, table, asked)
    if kind in ("tables", "labels"):
        return _joined(kind, source, asked)
    board = of_items(items_behind(source, asked), asked.reading.unmatched, asked.further)
    return _named(board, asked)


def _named(board: Board, asked: Asked) -> Board:
    """The board that calls the columns as whoever asked did."""
    given = {**asked.columns, "score": asked.score[0] if asked.score else None}
    return replace(board, names={**board.names, **{role: name for role, name in given.items() if name is not None}})


def _with_fields(board: Board, table: Table, asked: Asked) -> Board:
    """The board with the columns beside it, where nothing is said of how its rows were drawn and none was dropped."""
    roles = {role: name for role, name in asked.columns.items() if name is not None}
    if any(map(is_drawn, roles)) or len(board) != len(table):
        return board
    return replace(board, about=fields_beside(table, [*asked.values, *roles.values()], asked.truth))


def only_systems(board: Board, systems: str | Names | None) -> Board:
    """The board of the systems that are asked for."""
    if systems is None:
        return board
    wanted = listed("systems", systems)
    for name in wanted:
        if name not in board.systems:
            raise StratError.about(
                "systems", f"must be among those compared, got {name!r}; {near(name, board.systems)}"
            )
    return board.ordered([board.systems.index(name) for name in dict.fromkeys(wanted)])


def _joined(kind: str, source: Any, asked: Asked) -> Board:
    """The board of one table for each system, or of the rows of each system in a long table."""
    items, value, reading = str(asked.items), asked.values[0], asked.reading
    shared = list(dict.fromkeys(name for name in asked.columns.values() if name not in (None, items)))
    notes: list[Note] = []
    if kind == "tables":
        parts = tables_of(source, reading.name) or {}
        for part in parts.values():
            _require(read(part, na=reading.na), asked)
        library = next((read(part).library for part in parts.values() if hasattr(part, "columns")), None)
    else:
        table = read(source, na=reading.na)
        _require(table, asked)
        library = table.library
        parts, notes = by_system(table, str(asked.system), [items, value, *map(str, shared)], missing=reading.missing)
    joined = join(
        parts,
        items=items,
        value=value,
        shared=[str(name) for name in shared],
        unmatched=reading.unmatched,
        missing=reading.missing,
        na=reading.na,
    )
    roles = {role: name for role, name in asked.columns.items() if role != "items"}
    board = of_columns(read(joined.table, na=[]), joined.systems, asked.role, roles, "error")
    whole = read(next(iter(parts.values())), na=reading.na) if kind == "tables" else table
    board = replace(board, about=_fields_of_items(whole, joined.table[items], asked))
    return replace(board, notes=(*notes, *joined.notes, *board.notes), library=library)


def _fields_of_items(table: Table, keys: NDArray[Any], asked: Asked) -> dict[str, NDArray[Any]]:
    """The columns that say one thing of each of these items, where nothing is said of how they were drawn."""
    roles = {role: name for role, name in asked.columns.items() if name is not None and role != "items"}
    items = table.columns([str(asked.items)], missing="drop")[str(asked.items)]
    if any(map(is_drawn, roles)) or len(items) != len(table):
        return {}
    used = [str(asked.items), *asked.values, *roles.values(), *([asked.system] if asked.system else [])]
    labels, first, item = np.unique(items, return_index=True, return_inverse=True)
    fields = fields_beside(table, used, asked.truth)
    own = {name: values for name, values in fields.items() if bool((values == values[first][item]).all())}
    place = np.searchsorted(labels, keys)
    return {name: values[first][place] for name, values in own.items()}


def _require(table: Any, asked: Asked) -> None:
    table.require(items=asked.items, system=asked.system, **{asked.role: asked.values[0]})
    for role, name in asked.columns.items():
        table.require(**{argument_of(role): name})


def items_of(source: Any, asked: Mapping[str, Any], by: tuple[str, ...]) -> ItemTable:
    """The scores of systems on items behind a long table or logs, with the columns that arguments of `compare` name."""
    roles = {name: asked[name] for name in Asked.__dataclass_fields__ if name in asked}
    texts = {name: tuple(listed(name, asked[name])) for name in ("predicted", "score")}
    given = {name: asked[name] for name in Reading.__dataclass_fields__}
    reading = Reading(**{**given, "name": names_of(asked["name"])})
    return items_behind(
        source, Asked(**{**roles, **texts, "sampling": asked["design"], "by": by, "metrics": None, "reading": reading})
    )


def items_behind(source: Any, asked: Asked) -> ItemTable:
    """The scores of systems on items behind logs or a long table."""
    if isinstance(source, ItemTable):
        return source
    if is_logs(source):
        return read_logs(
            source,
            metrics=asked.metrics,
            strata=asked.sampling.strata,
            units=asked.sampling.units,
            **asked.reading.of_logs,
        )
    table = read(source, na=asked.reading.na)
    for role, name in asked.further.items():
        table.require(**{argument_of(role): name})
    read_items = read_long(
        table,
        system=asked.system,
        items=asked.items,
        score=asked.score[0] if asked.score else None,
        strata=asked.sampling.strata,
        units=asked.sampling.units,
        epoch=asked.epoch,
        weights=asked.sampling.weights,
        about=tuple(asked.further.values()),
        missing=asked.reading.missing,
    )
    return _beside_items(_with_usable_roles(read_items, asked, table.names), table, asked)


def _beside_items(items: ItemTable, table: Table, asked: Asked) -> ItemTable:
    """The items with the columns that say one thing of each, where nothing is said of how these were drawn."""
    drawn = any(is_drawn(role) for role, name in asked.columns.items() if name is not None and role != "items")
    if drawn or items.strata is not None or items.units is not None or len(items) != len(table):
        return items
    used = [name for name in (asked.system, asked.items, asked.epoch, *asked.score, *asked.columns.values()) if name]
    item = encode("items", items.items)[0]
    first = np.unique(item, return_index=True)[1]
    fields = fields_beside(table, used, None)
    own = {name: values for name, values in fields.items() if bool((values == values[first][item]).all())}
    distinct = {name: values for name, values in own.items() if len(np.unique(values[first])) < len(first)}
    return replace(items, about={**distinct, **items.about})


def _with_usable_roles(items: ItemTable, asked: Asked, names: Sequence[str]) -> ItemTable:
    """The items without strata and units that nobody named and that make no design, with a note on them."""
    assumed = assumed_roles(names, {**asked.columns, "epoch": asked.epoch})
    drawn = {role: name for role, name in assumed.items() if role in ("strata", "units")}
    columns = {"items": items.items, "strata": items.strata, "units": items.units}
    there = {role: column for role, column in columns.items() if column is not None}
    try:
        if drawn:
            item = encode("items", items.items)[0]
            check_constant(items, {role: there[role] for role in drawn}, item, np.unique(item, return_index=True)[1])
            design_of(there, rows=len(items), sampling=asked.sampling)
    except StratError:
        others = {role: name for role, name in assumed.items() if role not in drawn}
        notes = [note for note in items.notes if getattr(note, "code", "") != "role-chosen"]
        ignored = [Note("role-not-chosen", {"role": role, "column": name}) for role, name in drawn.items()]
        nothing: dict[str, Any] = dict.fromkeys(drawn)
        return replace(items, **nothing, notes=(*notes_on_roles(others), *ignored, *notes))
    return items
