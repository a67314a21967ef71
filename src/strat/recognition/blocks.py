"""Ranks from float32 products in cache-sized blocks, with every near-tie decided again in float64.

A float32 sum that lies farther from the probe's threshold than `bounds.bound` allows is on the side that float64
says; the others are looked at again. Before that, rows are scaled by powers of two so that no norm exceeds about 1,
and the threshold is made part of the product (one more column, −threshold · 1), because comparing a whole block
with one number is three times as fast as comparing each of its rows with its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes
from strat.recognition.exact import Space
from strat.recognition.matching import Matching
from strat.recognition.rounding import bound

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
    """The gallery in float32, scaled, so that its products order entries as the scores do.

    Each tile holds columns of entries, `LIMITS.entries_at_once` at a time: first one image of each, then a second one
    of those that have it, and so on. Entries with many images come first; column j belongs to entry `order[j]`, and
    entry e stands in column `position[e]`.
    """

    tiles: tuple[tuple[Single, ...], ...]
    order: Codes
    position: Codes
    centre: Array
    scale: float
    largest: float
    exact: bool


@dataclass(frozen=True, eq=False)
class Block:
    """Some probes in float32, and how far from 0 a product must lie to be surely above or below the threshold."""

    probes: Single
    mated: NDArray[np.bool_]
    slack: np.float32


def count(space: Space, matching: Matching, *, threads: int | None = None, progress: bool = False) -> Counts:
    """The four columns of every compared probe."""
    n = len(matching.probes)
    mate = mate_scores(space, matching)
    scaled = _scaled(space, matching)
    blocks = [slice(a, min(a + LIMITS.probes_at_once, n)) for a in range(0, n, LIMITS.probes_at_once)]
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
    extra = [np.ones((len(g), 1))]  # meets the threshold
    if space.form == "euclidean":
        # the order of −‖p − g‖ is that of p·g − ‖g‖²/2
        extra.insert(0, -0.5 * np.einsum("ij,ij->i", g, g)[:, None])
    g = np.hstack([g, *extra])
    sizes = matching.sizes
    order = np.argsort(-sizes, kind="stable")
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    tiles = tuple(_tile(g, matching.starts[o], sizes[o]) for o in _cut(order))
    return Scaled(tiles, order, position, centre, scale, _largest(g), exact)


def _cut(order: Codes) -> list[Codes]:
    return [order[a : a + LIMITS.entries_at_once] for a in range(0, len(order), LIMITS.entries_at_once)]


def _tile(g: Array, first: Codes, sizes: Codes) -> tuple[Single, ...]:
    """The k-th images of a tile's entries as columns, for each k; entries with more images stand first."""
    images = [g[first[sizes > k] + k] for k in range(int(sizes.max()))]
    return tuple(np.ascontiguousarray(x.T, dtype=np.float32) for x in images)


def _largest(x: Array) -> float:
    return float(np.sqrt(np.einsum("ij,ij->i", x, x).max()))


def _power(size: float) -> float:
    """The power of two that brings `size` to at most 1."""
    return float(2.0 ** -np.ceil(np.log2(size))) if size > 0 else 1.0


def _exact_in_float32(space: Space) -> bool:
    """Whether every partial sum of a product less its threshold is a half or whole number that float32 holds."""
    p, g = space.probes, space.gallery
    if not all(bool((x[:64] == np.rint(x[:64])).all()) for x in (g, p)):
        return False
    if (_largest(p) + _largest(g)) ** 2 >= 2**21:
        return False
    return all(bool((x == np.rint(x)).all()) for x in (g, p))


def _block(space: Space, scaled: Scaled, probes: Codes, mate: Array) -> Block:
    """The probes' rows, each scaled by its own power of two, with their thresholds as a last column."""
    x = space.probes[probes]
    if scaled.centre.any():
        x -= scaled.centre
    x *= scaled.scale
    square = np.einsum("ij,ij->i", x, x)
    if space.form == "euclidean":
        x = np.hstack([x, np.ones((len(x), 1))])
        away = np.rint(mate**2) if scaled.exact else mate**2  # whole vectors: the rounded root must not break ties
        threshold = 0.5 * (square - away * scaled.scale**2)
        reach = (1 + np.sqrt(square)) ** 2
        square = square + 1
    else:
        threshold, reach = mate * scaled.scale**2, np.sqrt(square)
    mated = ~np.isnan(threshold)
    threshold = np.where(mated, threshold, 0.0)
    norm = np.sqrt(square + threshold**2)
    own = 2.0 ** -np.ceil(np.log2(np.where(norm > 0, norm, 1.0)))
    d = x.shape[1] + 1
    # the last part covers float64: the threshold, centring, and that equal roots may have unequal squares
    slack = bound(d, norm * own, scaled.largest, "float32") + 64 * (d + 8) * 2.0**-53 * (1 + reach * own)
    rows = np.hstack([x, -threshold[:, None]]) * own[:, None]
    return Block(rows.astype(np.float32), mated, np.float32(0) if scaled.exact else _above32(float(slack.max())))


def _above32(x: float) -> np.float32:
    """The least float32 that is surely above x."""
    return np.float32(np.nextafter(np.float32(x), np.float32(np.inf)))


def _sweep(
    space: Space, matching: Matching, scaled: Scaled, mate: Array, rows: slice
) -> tuple[Codes, Codes, Array, int]:
    block = _block(space, scaled, matching.probes[rows], mate[rows])
    mine = slice(*np.searchsorted(matching.row, [rows.start, rows.stop]))
    sweep = _Sweep(block, matching.row[mine] - rows.start, scaled.position[matching.column[mine]])
    tile = np.empty((len(block.probes), LIMITS.entries_at_once), np.float32)
    spare = np.empty_like(tile) if max(map(len, scaled.tiles)) > 1 else tile
    for k, columns in enumerate(scaled.tiles):
        sweep.look(_product(block.probes, columns, tile, spare), k * LIMITS.entries_at_once)
        if sweep.pending > LIMITS.pending_comparisons:
            _decide(space, matching, scaled, mate[rows], rows.start, sweep)
    _decide(space, matching, scaled, mate[rows], rows.start, sweep)
    return np.where(block.mated, sweep.above, 0), sweep.tied, sweep.exact, sweep.rechecked


def _product(p: Single, columns: tuple[Single, ...], tile: Single, spare: Single) -> Single:
    """Products of the block with a tile's entries, the best over each entry's images."""
    out = np.matmul(p, columns[0], out=tile[:, : columns[0].shape[1]])
    for more in columns[1:]:
        width = more.shape[1]
        np.maximum(out[:, :width], np.matmul(p, more, out=spare[:, :width]), out=out[:, :width])
    return out


class _Sweep:
    """What one block of probes has seen so far, tile by tile."""

    def __init__(self, block: Block, row: Codes, column: Codes) -> None:
        n = len(block.probes)
        self.mated, self.slack = block.mated, block.slack
        self.row, self.column = row, column
        self.above = np.zeros(n, np.int64)
        self.tied = np.zeros(n, np.int64)
        self.best = np.full(n, -np.inf, np.float32)
        self.exact = np.full(n, -np.inf)
        self.rechecked = 0
        self.near: list[tuple[Codes, Codes]] = []
        self.leaders: list[tuple[Codes, Codes, Single]] = []
        self.masks = np.zeros((2, n, LIMITS.entries_at_once), bool)

    def look(self, tile: Single, start: int) -> None:
        """Count what is surely above, and keep the cells that are not sure or may be the best."""
        inside = (self.column >= start) & (self.column < start + tile.shape[1])
        tile[self.row[inside], self.column[inside] - start] = -np.inf
        top = tile.max(axis=1)
        live = np.flatnonzero((top >= -self.slack) & self.mated)
        if len(live) > 0.7 * len(tile):
            self._count(tile, np.arange(len(tile)), start)
        elif len(live):
            self._count(tile[live], live, start)
        self._lead(tile, top, start)

    @property
    def pending(self) -> int:
        """Comparisons that wait for float64."""
        return sum(len(part[0]) for part in self.near) + sum(len(part[0]) for part in self.leaders)

    def _mask(self, which: int, rows: int, width: int) -> NDArray[np.bool_]:
        mask = self.masks[which, :rows]
        if width < LIMITS.entries_at_once:
            mask[:, width:] = False
        return mask

    def _count(self, scores: Single, rows: Codes, start: int) -> None:
        n, width = scores.shape
        sure, maybe = self._mask(0, n, width), self._mask(1, n, width)
        np.greater(scores, self.slack, out=sure[:, :width])
        np.greater_equal(scores, -self.slack, out=maybe[:, :width])
        counts = _row_counts(sure)
        self.above[rows] += counts
        unsure = np.flatnonzero((_row_counts(maybe) != counts) & self.mated[rows])
        if len(unsure):
            row, column = _true_cells(sure[unsure] != maybe[unsure])
            self.near.append((rows[unsure[row]], column + start))

    def _lead(self, tile: Single, top: Single, start: int) -> None:
        np.maximum(self.best, top, out=self.best)
        bar = self.bar()
        rows = np.flatnonzero((top >= bar) & (top > -np.inf))
        if not len(rows):
            return
        close = self._mask(0, len(rows), tile.shape[1])
        np.greater_equal(tile[rows], bar[rows][:, None], out=close[:, : tile.shape[1]])
        alone = (_row_counts(close) == 1) | (self.slack == 0)
        column = close.argmax(axis=1)
        self._keep(tile, rows[alone], column[alone], start)
        if not alone.all():
            row, column = _true_cells(close[~alone])
            self._keep(tile, rows[~alone][row], column, start)

    def bar(self) -> Single:
        """What a product must reach to be, perhaps, the best of its row: twice the slack below the best so far."""
        bar = self.best - 2 * self.slack
        return np.nextafter(bar, np.float32(-np.inf)) if self.slack else bar

    def _keep(self, tile: Single, row: Codes, column: Codes, start: int) -> None:
        self.leaders.append((row, column + start, tile[row, column]))


def _row_counts(mask: NDArray[np.bool_]) -> Codes:
    """How many truths are in each row of LIMITS.entries_at_once truth values, eight at a time."""
    words = mask.view(np.uint64).sum(axis=1)
    return np.asarray(words.view(np.uint8).reshape(len(mask), 8).sum(axis=1, dtype=np.int64))


def _true_cells(mask: NDArray[np.bool_]) -> tuple[Codes, Codes]:
    """Rows and columns of the few truths in a mask of LIMITS.entries_at_once columns."""
    word = np.flatnonzero(mask.view(np.uint64).reshape(-1))
    which, byte = np.nonzero(mask.reshape(-1, 8)[word])
    row, column = np.divmod(word[which] * 8 + byte, mask.shape[1])
    return row, column


def _decide(space: Space, matching: Matching, scaled: Scaled, mate: Array, first: int, sweep: _Sweep) -> None:
    """Decide the near-ties and the best non-mates kept so far with float64 scores."""
    n = len(sweep.above)
    row, column = (_joined([part[k] for part in sweep.near], int) for k in range(2))
    scores = cell_scores(space, matching, row + first, scaled.order[column])
    sweep.above += np.bincount(row[scores > mate[row]], minlength=n)
    sweep.tied += np.bincount(row[scores == mate[row]], minlength=n)
    sweep.rechecked += len(row)
    row, column, value = (
        _joined([part[k] for part in sweep.leaders], kind) for k, kind in enumerate((int, int, float))
    )
    keep = value >= sweep.bar()[row]
    row, column = row[keep], column[keep]
    np.maximum.at(sweep.exact, row, cell_scores(space, matching, row + first, scaled.order[column]))
    sweep.near.clear()
    sweep.leaders.clear()


def _joined(parts: list[Any], kind: type) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, np.int64 if kind is int else np.float64)


def parallel(work: Callable[[slice], Any], blocks: list[slice], threads: int | None, progress: bool) -> list[Any]:
    """Results of the blocks in order, made by so many threads with one BLAS thread each."""
    threads = threads or cores()
    with _one_blas_thread(), ThreadPoolExecutor(threads) as pool, _bar(len(blocks), progress) as step:

        def one(block: slice) -> Any:
            result = work(block)
            step()
            return result

        return list(pool.map(one, blocks))


def _one_blas_thread() -> AbstractContextManager[Any]:
    """BLAS held to one thread; without the package that can, it shares its own: as right, somewhat slower."""
    try:
        from threadpoolctl import threadpool_limits
    except ModuleNotFoundError:
        return nullcontext()
    limited: AbstractContextManager[Any] = threadpool_limits(1, "blas")
    return limited


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
