"""A plain long table: system, item, score, and if there are any, stratum, cluster, epoch, weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from strat.doors import checked
from strat.errors import StratError, one_of
from strat.tables.logs.items import ItemTable
from strat.tables.table import Table, missing_message, read
from strat.words import counted

NAMES = {
    "system": ("system", "model", "model_name"),
    "item": ("item", "item_id", "id", "question_id", "doc_id", "instance_id"),
    "score": ("score", "correct", "value", "acc"),
    "stratum": ("stratum", "strata", "subject", "task"),
    "cluster": ("cluster", "unit", "units", "passage"),
    "epoch": ("epoch", "repeat", "trial"),
    "weight": ("weight", "weights"),
}


@checked
def read_long(
    source: Any,
    *,
    system: str | None = None,
    item: str | None = None,
    score: str | None = None,
    stratum: str | None = None,
    cluster: str | None = None,
    epoch: str | None = None,
    weight: str | None = None,
    missing: str = "error",
) -> ItemTable:
    """Scores of systems on items from a frame or a file, one row for each.

    Column names that are not given are looked up: `system` or `model`, `item` or `id`, `score` or `correct`.
    A stratum, cluster, epoch or weight column is used without being named only if it is called exactly so.

    Examples
    --------
    >>> table = read_long({"system": ["a", "b"], "item": ["q1", "q1"], "score": [1, 0]})
    >>> table.systems, len(table)
    (['a', 'b'], 2)
    """
    one_of("missing", missing, ("error", "drop"))
    table = read(source)
    given = {"system": system, "item": item, "score": score, "stratum": stratum}
    given |= {"cluster": cluster, "epoch": epoch, "weight": weight}
    names = {role: _name(table, role, name) for role, name in given.items()}
    used = {role: name for role, name in names.items() if name is not None}
    columns = {c.name: c for c in table.backend.fetch(list(dict.fromkeys(used.values())))}
    for role in ("score", "epoch", "weight"):
        if role in used:
            columns[used[role]] = columns[used[role]].numbers()
    lost = {c.name: c.lost for c in columns.values() if c.lost}
    if lost and missing == "error":
        raise StratError(missing_message(lost, table.source))
    gone = [c.missing for c in columns.values() if c.missing is not None]
    keep = ~np.any(gone, axis=0) if gone else np.ones(len(columns[used["score"]]), bool)
    values = {role: columns[name].values[keep] for role, name in used.items()}
    dropped = int((~keep).sum())
    if "epoch" in values and not np.equal(np.mod(values["epoch"], 1), 0).all():
        raise StratError(f"`epoch` must number repeats by whole numbers, got others in column {used['epoch']!r}.")
    return ItemTable(
        system=values["system"],
        item=values["item"],
        score=values["score"].astype(float),
        stratum=values.get("stratum"),
        cluster=values.get("cluster"),
        epoch=values["epoch"].astype(np.int64) if "epoch" in values else None,
        weight=values.get("weight"),
        notes=(f"{counted(dropped, 'row')} with missing values dropped",) if dropped else (),
    )


def _name(table: Table, role: str, given: str | None) -> str | None:
    if given is not None:
        table.require(**{role: given})
        return given
    needed = role in ("system", "item", "score")
    for name in NAMES[role] if needed else NAMES[role][:1]:
        if name in table.names:
            return name
    if needed:
        raise StratError(
            f"`{role}` must name a column of {table.source}; none is called {' or '.join(NAMES[role][:2])}, "
            f"there are {', '.join(map(repr, table.names[:12]))}."
        )
    return None
