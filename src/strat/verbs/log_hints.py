"""What looks clustered among the items of logs and tables: the fields beside them, seen as a table's columns are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.validate.columns import Array, Codes, encode
from strat.data.logs.item_table import ItemTable
from strat.verbs.hints import MOST_SUSPECTS, both_readings, suspects

FEWEST = 20  # rows below which no correlation is spoken of


def looks_clustered(
    about: Mapping[str, NDArray[Any]],
    scores: Sequence[tuple[str, Array]],
    *,
    strata: NDArray[Any] | None,
    weights: Array | None = None,
    used: tuple[str | None, ...] = (),
) -> list[Note]:
    """Notes on fields within whose values items are correlated in one of these scores, beyond what strata explain."""
    columns: dict[str, tuple[Codes, int]] = {}
    notes: dict[str, Note] = {}
    for of, score in scores:
        if len(notes) == MOST_SUSPECTS:
            break
        rows, seen = len(score), score[: LIMITS.hint_rows]
        if len(seen) < FEWEST or np.ptp(seen) == 0:
            continue
        columns = columns or {
            name: _codes(name, v[: LIMITS.hint_rows]) for name, v in about.items() if name not in used
        }
        layer = None if strata is None else strata[: LIMITS.hint_rows]
        mass = None if weights is None else weights[: LIMITS.hint_rows]
        for one in suspects(columns, _within(seen, layer)):
            if one.name in notes or len(notes) == MOST_SUSPECTS:
                continue
            codes, times = columns[one.name][0], float(np.sqrt(len(seen) / rows))
            notes[one.name] = both_readings(one, of, seen, codes, strata=layer, weights=mass, times=times)
    return list(notes.values())


def _within(score: Array, strata: NDArray[Any] | None) -> Array:
    """What strata leave unexplained."""
    if strata is None:
        return score
    codes, _ = encode("strata", strata)
    return np.asarray(score - (np.bincount(codes, score) / np.bincount(codes))[codes])


def _codes(name: str, values: NDArray[Any]) -> tuple[Codes, int]:
    """A code for each distinct value, and their number; long texts are not copied."""
    if values.dtype != object:
        codes, labels = encode(name, values)
        return codes, len(labels)
    place: dict[Any, int] = {}
    codes = np.fromiter((place.setdefault(value, len(place)) for value in values), np.int64, len(values))
    return codes, len(place)


def item_hints(table: ItemTable, *, strata: str | None, used: tuple[str | None, ...] = ()) -> list[Note]:
    """The same for the rows of one system: repeats of an item are one item."""
    codes, labels = encode("items", table.items)
    first = np.empty(len(labels), np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    score = np.bincount(codes, table.score) / np.bincount(codes)
    columns = {**table.about, **table.columns()}
    about = {name: values[first] for name, values in table.about.items()}
    layer = columns[strata][first] if strata in columns else None
    return looks_clustered(about, [("the mean", score)], strata=layer, used=(*used, strata))
