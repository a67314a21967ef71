"""Ranks from tables of scores that are given, or made block by block, in float64."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes
from strat.recognition.blocks import Counts, parallel
from strat.recognition.matching import Matching


def count(
    scores: Callable[[Codes], NDArray[np.floating]],
    matching: Matching,
    *,
    mean: bool,
    columns: int,
    threads: int | None = None,
    progress: bool = False,
) -> Counts:
    """The four columns of every compared probe, where `scores(rows)` gives rows × gallery, greater is better."""
    n = len(matching.probes)
    step = max(1, LIMITS.scores_at_once // columns)
    blocks = [slice(a, min(a + step, n)) for a in range(0, n, step)]
    parts = parallel(lambda rows: _block(scores, matching, mean, rows), blocks, threads, progress)
    above, tied, mate, best = (np.concatenate([p[k] for p in parts]) for k in range(4))
    return Counts(above, tied, mate, best, 0)


def _block(
    scores: Callable[[Codes], NDArray[np.floating]], matching: Matching, mean: bool, rows: slice
) -> tuple[Codes, Codes, Array, Array]:
    table = np.asarray(scores(matching.probes[rows])[:, matching.members], dtype=float)
    _finite(table, matching, rows)
    table = _entries(table, matching, mean)
    mine = slice(*np.searchsorted(matching.row, [rows.start, rows.stop]))
    row, column = matching.row[mine] - rows.start, matching.column[mine]
    mate = np.full(len(table), np.nan)
    np.fmax.at(mate, row, table[row, column])
    table[row, column] = -np.inf
    above = np.count_nonzero(table > mate[:, None], axis=1)
    tied = np.count_nonzero(table == mate[:, None], axis=1)
    return above, tied, mate, table.max(axis=1)


def _entries(table: Array, matching: Matching, mean: bool) -> Array:
    """Scores of entries from those of gallery images: the best of each subject's, or their mean."""
    if matching.entries == table.shape[1]:
        return table
    if mean:
        return np.asarray(np.add.reduceat(table, matching.starts[:-1], axis=1) / matching.sizes)
    return np.asarray(np.maximum.reduceat(table, matching.starts[:-1], axis=1))


def _finite(table: Array, matching: Matching, rows: slice) -> None:
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        i, j = bad[0]
        raise StratError(
            f"scores must be finite, got {table[i, j]} for probe {matching.probes[rows][i]} and gallery image "
            f"{matching.members[j]} ({len(bad)} such scores in this block); name the failures in `failed_probes` "
            "and `failed_gallery`, or give these scores a value."
        )
