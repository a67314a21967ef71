"""The better entries of other subjects, counted: few tiles to recount, many, or nearly all of them in float64."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from strat.base.errors import one_of
from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes
from strat.recognition import rounding
from strat.recognition.gpu.device import choose_kernel, find_device, load_torch, memory, on_host
from strat.recognition.gpu.float64 import count_float64
from strat.recognition.gpu.fused import Job, job_of, look, note, raise_floor, recount, recount_all
from strat.recognition.gpu.group import check_whole_subjects, share_counts, share_mates
from strat.recognition.gpu.mates import score_mates
from strat.recognition.gpu.recheck import recheck
from strat.recognition.gpu.rows import Part, Parts, Probes, cuts_of, probes_of, rows_on_card
from strat.recognition.gpu.space import TILE, Space, entry_digits, space_of

FORMS = ("cosine", "inner", "euclidean")
KERNELS = ("auto", "hopper", "portable", "float64")


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
    group: Any = None,
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
    group
        A process group of torch.distributed: `gallery` is this process's part, the probes are the same in all of
        them, and each gets the counts of the whole gallery.
    """
    one_of("form", form, FORMS)
    one_of("kernel", kernel, KERNELS)
    device = find_device()
    who = probes_of(probes, probe_codes, form, device, distinct)
    size = rows_on_card(len(gallery), probes.shape[1], gallery_rows, device)
    parts = Parts(gallery, gallery_codes, form, device, cuts_of(gallery_codes, len(gallery), size, distinct))
    if distinct and group is not None:
        check_whole_subjects(gallery_codes, device, group)
    for part in parts:
        score_mates(who, part)
    share_mates(who, group)
    rechecked = sum(_count(who, part, choose_kernel(kernel, device)) for part in parts)
    return _answer(who, share_counts(who, rechecked, group), choose_kernel(kernel, device))


def _count(who: Probes, part: Part, kernel: str) -> int:
    """Add one gallery part to the counts of all probes; the number of pairs that float64 decided."""
    space = space_of(who, part)
    if kernel == "float64" or who.rows.shape[1] > rounding.MOST_FEATURES:
        return count_float64(who, part, space)
    entries = entry_digits(part.rows, space)
    step = max(128, memory(who.rows.device) // (64 * -(-len(part.rows) // TILE)) // 128 * 128)
    blocks = (who.take(slice(i, i + step)) for i in range(0, len(who.rows), step))
    return sum(_count_block(job_of(block, part, entries, space), space, kernel) for block in blocks)


def _count_block(job: Job, space: Space, kernel: str) -> int:
    """The pairs that float64 decided for a block of probes: those that two digits left of what one digit noted."""
    tops = look(job, kernel)
    raise_floor(job, tops)
    least = job.low.minimum(job.floor)
    of_tile, of_probe = note(job, tops, least)
    hard = of_probe > job.n_tiles // LIMITS.gpu_hard_tiles
    if int(of_tile.sum()) <= max(LIMITS.gpu_notes, LIMITS.gpu_notes_per_probe * len(least)):
        hard &= False
    else:
        least = least.masked_fill(hard, np.inf)
        of_tile, _ = note(job, tops, least)
    rechecked = recheck(job.block, job.part, job.entries.order, recount(job, tops, least, of_tile))
    left, step = hard.nonzero(as_tuple=True)[0], max(1, LIMITS.gpu_tiles // job.n_tiles)
    rechecked += sum(_count_hard(job, left[i : i + step], space) for i in range(0, len(left), step))
    job.block.above.add_(job.above)
    return rechecked


def _count_hard(job: Job, rows: Any, space: Space) -> int:
    """For probes with many tiles to recount: all of them at once, and in float64 where the band is crowded."""
    records = recount_all(job, rows)
    which = records[:, 0].long()
    pairs = load_torch().zeros(len(job.above), dtype=load_torch().int64, device=which.device)
    pairs.index_add_(0, which, _bits(records[:, 3:]).sum(dim=1))
    crowded = pairs > len(job.part.rows) // LIMITS.gpu_crowd
    job.above.masked_fill_(crowded, 0)
    rechecked = recheck(job.block, job.part, job.entries.order, records[~crowded[which]])
    index = crowded.nonzero(as_tuple=True)[0]
    return rechecked + (_all_in_float64(job, index, space) if len(index) else 0)


def _all_in_float64(job: Job, index: Any, space: Space) -> int:
    """Count some of the block's probes in float64 and write their columns back."""
    rows = job.block.take(index)
    rechecked = count_float64(rows, job.part, space)
    for name in ("above", "tied", "best"):
        getattr(job.block, name)[index] = getattr(rows, name)
    return rechecked


def _bits(words: Any) -> Any:
    """How many bits are set in each 32-bit word, by adding neighbours."""
    x = words.long() & 0xFFFFFFFF
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
        x = (x & mask) + ((x >> shift) & mask)
    return x


def _answer(who: Probes, rechecked: int, kernel: str) -> Counts:
    mate = who.mate.masked_fill(who.mate == -np.inf, np.nan)
    above, tied, mate, best = on_host([who.above, who.tied, mate, who.best])
    first = "float64" if kernel == "float64" else "int8, float64 inside the error bound"
    return Counts(above, tied, mate, best, rechecked, f"GPU ({kernel}): {first}")
