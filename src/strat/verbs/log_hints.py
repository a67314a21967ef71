"""What looks clustered among the items of logs: the fields that came with them, seen as a table's columns are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes, encode
from strat.data.logs.item_table import ItemTable
from strat.verbs.hints import suspects

FEWEST = 20  # rows below which no correlation is spoken of
MOST = 2  # columns that are named


def looks_clustered(
    about: Mapping[str, NDArray[Any]], score: Array, *, strata: NDArray[Any] | None, used: tuple[str | None, ...] = ()
) -> list[str]:
    """Sentences about fields within whose values items are correlated, beyond what strata explain; the worst first."""
    score = score[: LIMITS.hint_rows]
    if len(score) < FEWEST or np.ptp(score) == 0:
        return []
    if strata is not None:
        codes, _ = encode("strata", strata[: LIMITS.hint_rows])
        score = score - (np.bincount(codes, score) / np.bincount(codes))[codes]
    columns = {}
    for name, values in about.items():
        if name not in used:
            columns[name] = _codes(name, values[: LIMITS.hint_rows])
    return [str(suspect) for suspect in suspects(columns, score)][:MOST]


def _codes(name: str, values: NDArray[Any]) -> tuple[Codes, int]:
    """A code for each distinct value, and their number; long texts are not copied."""
    if values.dtype != object:
        codes, labels = encode(name, values)
        return codes, len(labels)
    place: dict[Any, int] = {}
    codes = np.fromiter((place.setdefault(value, len(place)) for value in values), np.int64, len(values))
    return codes, len(place)


def item_hints(table: ItemTable, *, strata: str | None, used: tuple[str | None, ...] = ()) -> list[str]:
    """The same for the rows of one system: repeats of an item are one item."""
    codes, labels = encode("items", table.items)
    first = np.empty(len(labels), np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    score = np.bincount(codes, table.score) / np.bincount(codes)
    columns = {**table.about, **table.columns()}
    about = {name: values[first] for name, values in table.about.items()}
    layer = columns[strata][first] if strata in columns else None
    return looks_clustered(about, score, strata=layer, used=(*used, strata))
