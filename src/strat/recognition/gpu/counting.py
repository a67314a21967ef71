"""The better entries of other subjects, counted: few tiles to recount, many, or nearly all of them in float64."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from strat.columns import Array, Codes
from strat.errors import one_of
from strat.recognition.gpu.device import choose_kernel, find_device, load_torch
from strat.recognition.gpu.float64 import count_float64
from strat.recognition.gpu.fused import Job, job_of, look, low_rows
from strat.recognition.gpu.mates import hardest_last, score_mates
from strat.recognition.gpu.recheck import recheck
from strat.recognition.gpu.rows import Part, Parts, Probes, cuts_of, probes_of, rows_on_card
from strat.recognition.gpu.space import Fast, Space, fast_rows, space_of

FORMS = ("cosine", "inner", "euclidean")
KERNELS = ("auto", "hopper", "portable", "float64")
PROBES_AT_ONCE = 1 << 20
NOTES_PER_PROBE = 48
LEAST_NOTES = 4096
TILES_AT_ONCE = 1 << 25
CROWD = 50  # a probe with more than one entry in so many inside its band is cheaper in float64 altogether
CROWDED = 1 << 24  # the mark that a kernel sets on probes with more notes than it keeps


@dataclass(frozen=True, eq=False)
class Counts:
    """What the gallery says about each probe, in the order of the probes.

    Attributes
    ----------
    above, tied
        Gallery entries of other subjects whose float64 score is greater than, or equal to, the mate's.
    mate
        The best score of the own subject's entries; NaN where the gallery has none.
    best_nonmate
        The best score of another subject's entry; minus infinity where there is none.
    rechecked
        Pairs that were scored again in float64.
    method
        How the comparisons were made.
    """

    above: Codes
    tied: Codes
    mate: Array
    best_nonmate: Array
    rechecked: int
    method: str


def count_better(
    probes: Any,
    gallery: Any,
    *,
    probe_codes: Any,
    gallery_codes: Any,
    form: str = "cosine",
    distinct: bool = False,
    gallery_rows: int | None = None,
    kernel: str = "auto",
) -> Counts:
    """Entries of other subjects that score better than each probe's best mate, and by how much the best one does.

    Parameters
    ----------
    probes, gallery
        One row per image: NumPy arrays (also memory-mapped: a gallery larger than the card is streamed) or torch
        tensors on any device.
    probe_codes, gallery_codes
        The subject of each row, as integers from 0. A probe whose code the gallery lacks (−1, say) has no mate.
    form
        ``"cosine"``, ``"inner"`` or ``"euclidean"`` (the negated distance). Rows that are unit vectors already
        give cosines with ``"inner"``.
    distinct
        Count subjects, each by its best entry, instead of entries.
    gallery_rows
        Gallery rows on the card at a time; by default what fits.
    kernel
        ``"hopper"`` (compute capability 9.0), ``"portable"``, ``"float64"`` (no fast step) or ``"auto"``.
    """
    one_of("form", form, FORMS)
    one_of("kernel", kernel, KERNELS)
    device = find_device()
    who = probes_of(probes, probe_codes, form, device, distinct)
    size = rows_on_card(len(gallery), probes.shape[1], gallery_rows, device)
    parts = Parts(gallery, gallery_codes, form, device, cuts_of(gallery_codes, len(gallery), size, distinct))
    for part in parts:
        score_mates(who, part)
    who, order = hardest_last(who)
    rechecked = sum(_count(who, part, choose_kernel(kernel, device)) for part in parts)
    return _answer(who, order, rechecked, choose_kernel(kernel, device))


def _count(who: Probes, part: Part, kernel: str) -> int:
    """Add one gallery part to the counts of all probes; the number of pairs that float64 decided."""
    space = space_of(who, part)
    entries = fast_rows(part.rows, space.entry_scale, space.centre)
    starts = range(0, len(who.rows), PROBES_AT_ONCE)
    blocks = (who.take(slice(i, i + PROBES_AT_ONCE)) for i in starts)
    return sum(_count_block(block, part, entries, space, kernel) for block in blocks)


def _count_block(block: Probes, part: Part, entries: Fast, space: Space, kernel: str) -> int:
    """The pairs rechecked for a block of probes: few tiles to recount, many, or nearly all of them in float64."""
    if kernel == "float64":
        return count_float64(block, part, entries, space)
    job = job_of(block, part, entries, space)
    notes = look(job, kernel, count=False, capacity=max(LEAST_NOTES, NOTES_PER_PROBE * len(block.rows)))
    easy = job.hits < CROWDED
    if notes is None:
        easy = easy & False
    rechecked = 0 if notes is None else _recount(job, notes, easy)
    left = (~easy).nonzero(as_tuple=True)[0]
    step = max(1, TILES_AT_ONCE // job.flags.shape[1])
    for start in range(0, len(left), step):
        rechecked += _on_copy(block, left[start : start + step], _count_in_place, part, entries, space, kernel)
    return rechecked


def _on_copy(block: Probes, index: Any, count: Any, *arguments: Any) -> int:
    """Run `count` on some of the block's probes and write their columns back."""
    rows = block.take(index)
    rechecked: int = count(rows, *arguments)
    for name in ("above", "tied", "best"):
        getattr(block, name)[index] = getattr(rows, name)
    return rechecked


def _recount(job: Job, notes: Any, easy: Any) -> int:
    """Count and recheck in the noted tiles that can still matter, now that the floor of the best non-mate is final."""
    from strat.recognition.gpu import portable

    torch = load_torch()
    row, tile, most = notes[:, 0].long(), notes[:, 1], notes[:, 2].contiguous().view(torch.float32)
    keep = easy[row] & (most >= job.columns[0].minimum(job.columns[4])[row])
    tile, order = tile[keep].sort()
    noted = notes[:, 0][keep][order].contiguous()
    if not len(noted):
        return 0
    records = torch.empty(len(noted), 10, dtype=torch.int32, device=noted.device)
    cursor = torch.zeros(1, dtype=torch.int64, device=noted.device)
    blocks = _blocks_of_64(tile, job.flags.shape[1])
    p, g, options = low_rows(job, {"num_warps": 4, "num_stages": 3})
    portable.recount[(len(blocks[0]),)](
        p, g, noted, *blocks, *job.per_probe, *job.per_entry,
        job.above, records, cursor, len(noted), len(job.part.rows), SHIFT=job.shifted, **options,
    )  # fmt: skip
    job.block.above.add_(job.above)
    return recheck(job.block, job.part, records[: int(cursor.item())])


def _blocks_of_64(tile: Any, n_tiles: int) -> tuple[Any, Any, Any]:
    """The tile, first note and number of notes of each block, from tiles in ascending order."""
    torch = load_torch()
    size = torch.bincount(tile, minlength=n_tiles)
    blocks = (size + 63) // 64
    of = torch.repeat_interleave(torch.arange(n_tiles, device=tile.device), blocks)
    nth = torch.arange(len(of), device=tile.device) - (blocks.cumsum(0) - blocks)[of]
    start = (size.cumsum(0) - size)[of] + 64 * nth
    return of.int(), start.int(), (size[of] - 64 * nth).clamp_max(64).int()


def _count_in_place(block: Probes, part: Part, entries: Fast, space: Space, kernel: str) -> int:
    """For probes with many tiles to recount: the fused kernel counts by itself; float64 where the band is crowded."""
    job = job_of(block, part, entries, space)
    records = look(job, kernel, count=True, capacity=len(block.rows) * job.flags.shape[1])
    which = records[:, 0].long()
    pairs = load_torch().zeros(len(block.rows), dtype=load_torch().int64, device=which.device)
    pairs.index_add_(0, which, _bits(records[:, 2:]).sum(dim=1))
    crowded = pairs > len(part.rows) // CROWD
    block.above.add_(job.above.masked_fill(crowded, 0))
    rechecked = recheck(block, part, records[~crowded[which]])
    index = crowded.nonzero(as_tuple=True)[0]
    return rechecked + (_on_copy(block, index, count_float64, part, entries, space) if len(index) else 0)


def _bits(words: Any) -> Any:
    """How many bits are set in each 32-bit word, by adding neighbours."""
    x = words.long() & 0xFFFFFFFF
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
        x = (x & mask) + ((x >> shift) & mask)
    return x


def _answer(who: Probes, order: Any, rechecked: int, kernel: str) -> Counts:
    mate = who.mate.masked_fill(who.mate == -np.inf, np.nan)
    columns = [x.new_empty(x.shape) for x in (who.above, who.tied, mate, who.best)]
    for column, x in zip(columns, (who.above, who.tied, mate, who.best), strict=True):
        column[order] = x
    above, tied = (x.int().cpu().numpy().astype(np.int64) for x in columns[:2])
    mate, best = (x.cpu().numpy() for x in columns[2:])
    first = "float64" if kernel == "float64" else "bfloat16, float64 inside the error bound"
    return Counts(above, tied, mate, best, rechecked, f"GPU ({kernel}): {first}")
