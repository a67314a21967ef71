"""Ranks from float32 products in cache-sized blocks, with every near-tie decided again in float64.

A float32 sum that lies farther from the probe's threshold than `bounds.bound` allows is on the side that float64
says; the others are looked at again. Before that, rows are scaled by powers of two so that no norm exceeds 1.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.columns import Array, Codes
from strat.recognition.bounds import bound
from strat.recognition.exact import Space
from strat.recognition.matching import Matching

ROWS = 512  # probes in a block
TILE = 2040  # entries in a tile: 255 words of 8 truth values, so that bytes add up without a carry
Single = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Counts:
    """The four columns for the compared probes, and how many comparisons were made again."""

    above: Codes
    tied: Codes
    mate: Array
    best: Array
    rechecked: int


@dataclass(frozen=True, eq=False)
class Scaled:
    """The gallery in float32, with norms of at most 1, so that its products order entries as the scores do.

    `layers` holds the k-th image of every entry that has one, entries with many images first; column j of
    layer k belongs to entry `order[j]`, and entry e stands in column `position[e]`.
    """

    layers: tuple[Single, ...]
    order: Codes
    position: Codes
    centre: Array
    scale: float
    largest: float
    exact: bool


@dataclass(frozen=True, eq=False)
class Block:
    """Some probes in float32, and between which products their mates' scores surely lie."""

    probes: Single
    low: Single
    high: Single
    slack: Array


def count(space: Space, matching: Matching, *, threads: int | None = None, progress: bool = False) -> Counts:
    """The four columns of every compared probe."""
    n = len(matching.probes)
    mate = mate_scores(space, matching)
    scaled = _scaled(space, matching)
    blocks = [slice(a, min(a + ROWS, n)) for a in range(0, n, ROWS)]
    parts = parallel(lambda rows: _sweep(space, matching, scaled, mate, rows), blocks, threads, progress)
    columns = [np.concatenate([p[k] for p in parts]) for k in range(3)]
    return Counts(columns[0], columns[1], mate, columns[2], sum(p[3] for p in parts))


def mate_scores(space: Space, matching: Matching) -> Array:
    """The best float64 score among each probe's mates; NaN without any."""
    mate = np.full(len(matching.probes), np.nan)
    np.fmax.at(mate, matching.row, cell_scores(space, matching, matching.row, matching.column))
    return mate


def cell_scores(space: Space, matching: Matching, row: Codes, column: Codes) -> Array:
    """The float64 score of probe and entry for each cell: the best over the entry's gallery rows."""
    if not len(row):
        return np.empty(0)
    size = matching.sizes[column]
    first = np.cumsum(size) - size
    member = np.arange(int(size.sum())) + np.repeat(matching.starts[column] - first, size)
    scores = space.pairs(matching.probes[np.repeat(row, size)], matching.members[member])
    return np.maximum.reduceat(scores, first)


def _scaled(space: Space, matching: Matching) -> Scaled:
    g = space.gallery[matching.members]
    exact = _exact_in_float32(space)
    centred = space.form == "euclidean" and not exact  # distances do not see the centre, rounding does
    centre = g.mean(axis=0) if centred else np.zeros(g.shape[1])
    if centred:
        g -= centre
    scale = _power(_largest(g))
    g *= scale
    if space.form == "euclidean":
        # the order of −‖p − g‖ is that of p·g − ‖g‖²/2
        g = np.hstack([g, -0.5 * np.einsum("ij,ij->i", g, g)[:, None]])
    sizes = matching.sizes
    order = np.argsort(-sizes, kind="stable")
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    layers = [g] if sizes.max() == 1 else [g[matching.starts[order[sizes[order] > k]] + k] for k in range(sizes.max())]
    single = tuple(layer.astype(np.float32) for layer in layers)
    return Scaled(single, order, position, centre, scale, _largest(g), exact)


def _largest(x: Array) -> float:
    return float(np.sqrt(np.einsum("ij,ij->i", x, x).max()))


def _power(size: float) -> float:
    """The power of two that brings `size` to at most 1."""
    return float(2.0 ** -np.ceil(np.log2(size))) if size > 0 else 1.0


def _exact_in_float32(space: Space) -> bool:
    """Whether every partial sum of p·g and of ‖p − g‖² is a whole number that float32 holds."""
    p, g = space.probes, space.gallery
    if not all(bool((x[:64] == np.rint(x[:64])).all()) for x in (g, p)):
        return False
    if (_largest(p) + _largest(g)) ** 2 >= 2**23:
        return False
    return all(bool((x == np.rint(x)).all()) for x in (g, p))


def _block(space: Space, scaled: Scaled, probes: Codes, mate: Array) -> Block:
    """The probes' rows, each scaled by its own power of two, and the band around each one's threshold."""
    x = (
        (space.probes[probes] - scaled.centre) * scaled.scale
        if scaled.centre.any()
        else space.probes[probes] * scaled.scale
    )
    norm = np.sqrt(np.einsum("ij,ij->i", x, x))
    if space.form == "euclidean":
        x = np.hstack([x, np.ones((len(x), 1))])
        threshold = 0.5 * (norm**2 - (mate * scaled.scale) ** 2)
        reach = (1 + norm) ** 2
        norm = np.sqrt(1 + norm**2)
    else:
        threshold, reach = mate * scaled.scale**2, norm
    own = 2.0 ** -np.ceil(np.log2(np.where(norm > 0, norm, 1.0)))
    d = x.shape[1]
    # the last part covers float64: the threshold, centring, and that equal roots may have unequal squares
    slack = bound(d, norm * own, scaled.largest, "float32") + 64 * (d + 8) * 2.0**-53 * (1 + reach * own)
    if scaled.exact:
        slack = np.zeros(len(x))
    low, high = _outward(np.where(np.isnan(threshold), np.inf, threshold * own), slack)
    return Block((x * own[:, None]).astype(np.float32), low, high, 2 * slack)


def _sweep(
    space: Space, matching: Matching, scaled: Scaled, mate: Array, rows: slice
) -> tuple[Codes, Codes, Array, int]:
    block = _block(space, scaled, matching.probes[rows], mate[rows])
    mine = slice(*np.searchsorted(matching.row, [rows.start, rows.stop]))
    sweep = _Sweep(block, matching.row[mine] - rows.start, scaled.position[matching.column[mine]])
    tile = np.empty((len(block.probes), TILE), np.float32)
    spare = np.empty_like(tile) if len(scaled.layers) > 1 else tile
    for start in range(0, matching.entries, TILE):
        stop = min(start + TILE, matching.entries)
        sweep.look(_product(block.probes, scaled.layers, start, stop, tile, spare), start)
    return _settle(space, matching, scaled, mate[rows], rows.start, sweep)


def _outward(threshold: Array, slack: Array) -> tuple[Single, Single]:
    """Threshold minus and plus slack in float32, rounded away from the threshold."""
    return _floor32(threshold - slack)[:, None], -_floor32(-(threshold + slack))[:, None]


def _product(p: Single, layers: tuple[Single, ...], start: int, stop: int, tile: Single, spare: Single) -> Single:
    """Products of the block with entries start to stop, the best over each entry's images."""
    out = tile[:, : stop - start]
    np.matmul(p, layers[0][start:stop].T, out=out)
    for layer in layers[1:]:
        part = layer[start:stop]
        if not len(part):
            break
        other = np.matmul(p, part.T, out=spare[:, : len(part)])
        np.maximum(out[:, : len(part)], other, out=out[:, : len(part)])
    return out


class _Sweep:
    """What one block of probes has seen so far, tile by tile."""

    def __init__(self, block: Block, row: Codes, column: Codes) -> None:
        n = len(block.probes)
        self.low, self.high, self.slack = block.low, block.high, block.slack
        self.row, self.column = row, column
        self.above = np.zeros(n, np.int64)
        self.best = np.full(n, -np.inf)
        self.near: list[tuple[Codes, Codes]] = []
        self.leaders: list[tuple[Codes, Codes, Array]] = []
        self.masks = np.zeros((2, n, TILE), bool)

    def look(self, tile: Single, start: int) -> None:
        """Count what is surely above, and keep the cells that are not sure or may be the best."""
        width = tile.shape[1]
        inside = (self.column >= start) & (self.column < start + width)
        tile[self.row[inside], self.column[inside] - start] = -np.inf
        sure, maybe = self.masks
        if width < TILE:
            self.masks[:, :, width:] = False
        np.greater(tile, self.high, out=sure[:, :width])
        np.greater_equal(tile, self.low, out=maybe[:, :width])
        some = _row_counts(sure)
        self.above += some
        unsure = np.flatnonzero(_row_counts(maybe) != some)
        if len(unsure):
            row, column = _true_cells(sure[unsure] != maybe[unsure])
            self.near.append((unsure[row], column + start))
        self._lead(tile, start)

    def _lead(self, tile: Single, start: int) -> None:
        top = tile.max(axis=1).astype(float)
        self.best = np.maximum(self.best, top)
        bar = self.best - self.slack
        rows = np.flatnonzero((top >= bar) & (top > -np.inf))
        if not len(rows):
            return
        close = self.masks[0][: len(rows)]
        np.greater_equal(tile[rows], _floor32(bar[rows])[:, None], out=close[:, : tile.shape[1]])
        alone = (_row_counts(close) == 1) | (self.slack[rows] == 0)
        column = close.argmax(axis=1)
        self._keep(tile, rows[alone], column[alone], start)
        if not alone.all():
            row, column = _true_cells(close[~alone])
            self._keep(tile, rows[~alone][row], column, start)

    def _keep(self, tile: Single, row: Codes, column: Codes, start: int) -> None:
        self.leaders.append((row, column + start, tile[row, column].astype(float)))


def _floor32(x: Array) -> Single:
    y = x.astype(np.float32)
    return np.where(y > x, np.nextafter(y, np.float32(-np.inf)), y)


def _row_counts(mask: NDArray[np.bool_]) -> Codes:
    """How many truths are in each row of TILE truth values, eight at a time."""
    words = mask.view(np.uint64).sum(axis=1)
    return np.asarray(words.view(np.uint8).reshape(len(mask), 8).sum(axis=1, dtype=np.int64))


def _true_cells(mask: NDArray[np.bool_]) -> tuple[Codes, Codes]:
    """Rows and columns of the few truths in a mask of TILE columns."""
    word = np.flatnonzero(mask.view(np.uint64).reshape(-1))
    which, byte = np.nonzero(mask.reshape(-1, 8)[word])
    row, column = np.divmod(word[which] * 8 + byte, mask.shape[1])
    return row, column


def _settle(
    space: Space, matching: Matching, scaled: Scaled, mate: Array, first: int, sweep: _Sweep
) -> tuple[Codes, Codes, Array, int]:
    """Decide the near-ties and the best non-mate with float64 scores."""
    n = len(sweep.above)
    row, column = (_joined([part[k] for part in sweep.near], int) for k in range(2))
    scores = cell_scores(space, matching, row + first, scaled.order[column])
    above = sweep.above + np.bincount(row[scores > mate[row]], minlength=n)
    tied = np.bincount(row[scores == mate[row]], minlength=n)
    lead_row, lead_column, value = (
        _joined([part[k] for part in sweep.leaders], kind) for k, kind in enumerate((int, int, float))
    )
    keep = value >= (sweep.best - sweep.slack)[lead_row]
    lead_row, lead_column = lead_row[keep], lead_column[keep]
    best = np.full(n, -np.inf)
    leading = cell_scores(space, matching, lead_row + first, scaled.order[lead_column])
    np.maximum.at(best, lead_row, leading)
    return above, tied, best, len(row)


def _joined(parts: list[Any], kind: type) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, np.int64 if kind is int else np.float64)


def parallel(work: Callable[[slice], Any], blocks: list[slice], threads: int | None, progress: bool) -> list[Any]:
    """Results of the blocks in order, made by so many threads with one BLAS thread each."""
    from threadpoolctl import threadpool_limits

    threads = threads or cores()
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(threads) as pool, _bar(len(blocks), progress) as step:

        def one(block: slice) -> Any:
            result = work(block)
            step()
            return result

        return list(pool.map(one, blocks))


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _bar(total: int, progress: bool) -> Iterator[Callable[[], None]]:
    if not progress:
        yield lambda: None
        return
    from rich.progress import Progress

    with Progress(transient=True) as bar:
        task = bar.add_task("ranks", total=total)
        yield lambda: bar.advance(task)
