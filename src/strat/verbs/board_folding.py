"""A board of many rows as its distinct rows, with how many there are of each: all that labels and outcomes can tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from strat.base.limits import LIMITS
from strat.base.validate.columns import Codes
from strat.data.cells import combine
from strat.data.frames import column_of
from strat.measures.register import Measure
from strat.verbs.board import Board

FOLDED = ("truth", "strata")  # roles, beside those that make groups, that distinct rows may have


def folded(board: Board, metric: Measure) -> Board:
    """The distinct rows of a board whose rows were drawn one by one, where these are few; else the board itself."""
    plain = all(role in FOLDED or role.startswith("by_") for role in board.columns)
    if (
        len(board) < LIMITS.folded_rows
        or not plain
        or metric.by_rows
        or metric.of == "item"
        or board.decided is not None
    ):
        return board
    key: Codes = np.zeros(len(board), np.int64)
    number = 1
    for values in (*board.columns.values(), *board.values):
        if len(np.unique(values[: LIMITS.folded_rows])) > LIMITS.folded_kinds:
            return board
        codes, labels = column_of("column", values).encoded()
        key, number = combine([key, codes], [number, len(labels)])
        if number > LIMITS.folded_kinds:
            return board
    first = np.empty(number, np.int64)
    first[key[::-1]] = np.arange(len(key))[::-1]
    return replace(board.take(first), counts=np.bincount(key, minlength=number).astype(float))
