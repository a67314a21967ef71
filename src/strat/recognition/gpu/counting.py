"""Ranks of embeddings on a GPU, equal for every probe to those of float64 scores.

The work is quadratic, probes × gallery, and no score is stored. A fused kernel multiplies in bfloat16 and decides
each pair whose score lies further from its probe's threshold than the proven error bound (`strat.recognition.bounds`);
the few pairs inside the bound are scored again in float64, in the fixed order that the CPU uses too.

What is exact: all four columns. `mate` and `best_nonmate` are float64 scores (every non-mate that could be the best one
is scored in float64), `above` and `tied` compare float64 scores.
"""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from strat.columns import Array, Codes, encode
from strat.errors import StratError, StratWarning, one_of
from strat.recognition import bounds
from strat.recognition.blocks import Counts as Columns

if TYPE_CHECKING:
    from strat.recognition.ranks import Ranks

FORMS = ("cosine", "inner", "euclidean")
KERNELS = ("auto", "hopper", "portable", "float64")
PROBES_AT_ONCE = 1 << 20
ROWS_AT_ONCE = 1 << 15
PAIRS_AT_ONCE = 1 << 22
NOTES_PER_PROBE = 48
LEAST_NOTES = 4096
TILES_AT_ONCE = 1 << 25
CROWD = 50  # a probe with more than one entry in so many inside its band is cheaper in float64 altogether
CROWDED = 1 << 24  # the mark that a kernel sets on probes with more notes than it keeps
LEAST = -3e38  # below every score and above the minus infinity that stands for "not a candidate"
CUSHION = 2.0**-20  # covers the float32 roundings of thresholds and band widths themselves


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
    device = _device()
    who = _probes(probes, probe_codes, form, device, distinct)
    size = _rows_on_card(len(gallery), probes.shape[1], gallery_rows, device)
    parts = _Parts(gallery, gallery_codes, form, device, _cuts(gallery_codes, len(gallery), size, distinct))
    for part in parts:
        _score_mates(who, part)
    who, order = _hardest_last(who)
    rechecked = sum(_count(who, part, _kernel(kernel, device)) for part in parts)
    return _answer(who, order, rechecked, _kernel(kernel, device))


def ranks_of_embeddings(
    probes: Any,
    gallery: Any,
    *,
    probe_subjects: Any,
    gallery_subjects: Any,
    score: str,
    enrolment: str = "single",
    open_set: bool = False,
    failed_probes: Any = None,
    failed_gallery: Any = None,
    failures: str = "miss",
    covariance: Any = None,
    device: str = "cuda",
) -> Ranks:
    """`strat.recognition.ranks_of_embeddings` on a GPU: the same arguments, and the same ranks for every probe."""
    from strat.recognition.matching import match
    from strat.recognition.ranks import assemble

    one_of("device", device, ("cpu", "cuda"))
    _supported(score)
    _device()
    p_labels, g_labels = _labels(probe_subjects), _labels(gallery_subjects)
    matching = match(
        p_labels, g_labels, enrolment=enrolment, open_set=open_set, failed_probes=failed_probes,
        failed_gallery=failed_gallery,
    )  # fmt: skip
    p = _chosen("probes", probes, matching.probes, len(p_labels))
    kept = np.sort(matching.members)
    g = _chosen("gallery", gallery, kept, len(g_labels))
    p_codes, g_codes = _subject_codes(p_labels[matching.probes], g_labels[kept])
    if enrolment == "mean" or score == "mahalanobis":
        p, g, score, g_codes = _on_host(p, g, g_codes, enrolment, score, covariance)
    several = enrolment == "best"
    c = count_better(p, g, probe_codes=p_codes, gallery_codes=g_codes, form=score, distinct=several)
    columns = Columns(c.above, c.tied, c.mate, c.best_nonmate, c.rechecked)
    return assemble(columns, matching, failures, c.method)


def _supported(score: str) -> None:
    if score == "l1":
        raise StratError(
            "`score` must be 'cosine', 'inner', 'euclidean' or 'mahalanobis' on a GPU, got 'l1', which is no "
            "matrix product; device='cpu' computes it."
        )


def _labels(values: Any) -> Any:
    return np.asarray(values.cpu() if hasattr(values, "cpu") else values)


def _chosen(argument: str, rows: Any, index: Codes, n: int) -> Any:
    """The rows of an array or tensor that take part; all of them without a copy."""
    rows = rows if hasattr(rows, "cpu") else np.asanyarray(rows)
    if rows.ndim != 2 or len(rows) != n:
        raise StratError(
            f"`{argument}` must have one row for each of the {n} labels, got an array of shape {tuple(rows.shape)}."
        )
    if len(index) == n:
        return rows
    return rows[_torch().as_tensor(index, device=rows.device)] if hasattr(rows, "cpu") else rows[index]


def _subject_codes(probes: Any, gallery: Any) -> tuple[Codes, Codes]:
    """Codes that are equal where labels are; −1 for probes whose subject the gallery lacks."""
    g_codes, known = encode("gallery", gallery)
    p_codes, wanted = encode("probes", probes)
    place = np.searchsorted(known, wanted).clip(max=len(known) - 1)
    return np.where(known[place] == wanted, place, -1)[p_codes], g_codes


def _on_host(p: Any, g: Any, codes: Codes, enrolment: str, score: str, covariance: Any) -> tuple[Any, Any, str, Codes]:
    """Whitened rows and mean templates are linear work: NumPy makes them, as on the CPU."""
    from strat.recognition.exact import space

    rows = space(_labels(p), _labels(g), score=score, covariance=covariance)
    entries = rows.gallery
    if enrolment == "mean":
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        sizes = np.diff(np.append(starts, len(codes)))
        entries = np.add.reduceat(entries[order], starts, axis=0) / sizes[:, None]
        entries = space(entries, entries, score="cosine").gallery if score == "cosine" else entries
        codes = codes[order][starts]
    return rows.probes, entries, rows.form, codes


@dataclass(frozen=True, eq=False)
class _Probes:
    rows: Any  # float64, prepared for the form
    codes: Any
    form: str
    above: Any
    tied: Any
    mate: Any  # minus infinity until a mate was met
    best: Any
    distinct: bool = False

    def take(self, index: Any) -> _Probes:
        fields = (self.rows, self.codes, self.above, self.tied, self.mate, self.best)
        rows, codes, above, tied, mate, best = (x[index] for x in fields)
        return _Probes(rows, codes, self.form, above, tied, mate, best, self.distinct)

    @property
    def thresholds(self) -> Any:
        """The mate's score, and plus infinity without one: nothing is better."""
        return self.mate.masked_fill(self.mate == -np.inf, np.inf)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some gallery rows on the card, sorted by subject so that mates lie together."""

    rows: Any
    codes: Any


@dataclass(frozen=True, eq=False)
class _Fast:
    """Scaled and centred rows in bfloat16, padded to a multiple of 64 columns, with what rounding did to them."""

    low: Any
    norms: Any
    residuals: Any


class _Parts:
    """The gallery's parts, loaded when asked for and kept when there is only one."""

    def __init__(self, gallery: Any, codes: Any, form: str, device: Any, cuts: list[Any]) -> None:
        self._source = (gallery, codes, form, device)
        self._cuts = cuts
        self._only: _Part | None = None

    def __iter__(self) -> Iterator[_Part]:
        for cut in self._cuts:
            if self._only is not None:
                yield self._only
                continue
            part = self._load(cut)
            self._only = part if len(self._cuts) == 1 else None
            yield part

    def _load(self, where: Any) -> _Part:
        gallery, codes, form, device = self._source
        rows = _prepared("gallery", gallery[where], form, device)
        sorted_codes, order = _codes(codes[where], device).sort(stable=True)
        if bool((order[1:] < order[:-1]).any()):
            rows = rows[order]
        return _Part(rows, sorted_codes)


def _cuts(codes: Any, n: int, size: int, whole_subjects: bool) -> list[Any]:
    """Which gallery rows come to the card together; rows of one subject at once where subjects are counted."""
    if not whole_subjects or n <= size:
        return [slice(i, i + size) for i in range(0, n, size)]
    codes = _labels(codes)
    order = np.argsort(codes, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(codes[order])) + 1, n)
    cuts = [0]
    while cuts[-1] < n:
        fits = ends[(ends > cuts[-1]) & (ends <= cuts[-1] + size)]
        cuts.append(int(fits[-1] if len(fits) else ends[ends > cuts[-1]][0]))
    return [order[a:b] for a, b in itertools.pairwise(cuts)]


def _torch() -> Any:
    try:
        import torch
        import triton  # noqa: F401
    except ImportError as missing:
        raise StratError(
            f"`device` must be 'cpu' here, got 'cuda': {missing.name} is not installed; "
            "install strat[gpu], or keep device='cpu', which gives the same ranks."
        ) from None
    return torch


def _interpreted() -> bool:
    return os.environ.get("TRITON_INTERPRET") == "1"


def _device() -> Any:
    torch = _torch()
    if _interpreted():
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise StratError(
            "`device` must be 'cpu' on this machine, got 'cuda': no CUDA GPU was found; "
            "device='cpu' gives the same ranks."
        )
    return torch.device("cuda")


def _kernel(wanted: str, device: Any) -> str:
    """The fastest kernel that this GPU and this Triton have."""
    from strat.recognition.gpu import hopper as gpu_hopper

    hopper = device.type == "cuda" and _torch().cuda.get_device_capability(device) == (9, 0)
    if wanted == "auto":
        return "hopper" if hopper and gpu_hopper.AVAILABLE else "portable"
    if wanted == "hopper" and not hopper:
        raise StratError("`kernel` must be 'portable' on this GPU, got 'hopper'; or leave it 'auto'.")
    return wanted


def _codes(values: Any, device: Any) -> Any:
    torch = _torch()
    if not isinstance(values, torch.Tensor):
        values = torch.from_numpy(np.array(values))
    codes = values.to(device=device, dtype=torch.int64)
    if len(codes) and (int(codes.min()) < -1 or int(codes.max()) >= 2**31):
        raise StratError(
            f"codes must be whole numbers from 0 to 2^31 − 1, or −1 for nobody, got {int(codes.min())} to "
            f"{int(codes.max())}; number the subjects in order."
        )
    return codes


def _rows_on_card(n: int, d: int, wanted: int | None, device: Any) -> int:
    """How many gallery rows to hold: 8 bytes a number, 2 in bfloat16, as much again while preparing."""
    if wanted is not None:
        if wanted < 1:
            raise StratError(f"`gallery_rows` must be at least 1, got {wanted}; leave it out to take what fits.")
        return int(wanted)
    if device.type != "cuda":
        return max(1, n)
    free, _ = _torch().cuda.mem_get_info(device)
    return int(max(1, min(n, 0.7 * free / (20 * d + 64))))


def _prepared(argument: str, rows: Any, form: str, device: Any) -> Any:
    """`rows` in float64 on the device; unit rows for cosine."""
    torch = _torch()
    out = torch.empty(tuple(rows.shape), dtype=torch.float64, device=device)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        where = slice(start, start + ROWS_AT_ONCE)
        out[where] = _sent(rows[where], device)
    largest = out.norm(float("inf"), dim=1)
    if not bool(largest.isfinite().all()):
        raise StratError(f"`{argument}` must be finite, got NaN or infinity; drop these rows.")
    if form == "cosine":
        if not bool(largest.all()):
            raise StratError(f"`{argument}` must not have zero vectors under cosine; drop these rows.")
        _make_unit(out, largest)
    return out


def _sent(rows: Any, device: Any) -> Any:
    """Rows on the device. Host memory goes through a pinned block, from which the card fetches by itself."""
    torch = _torch()
    if not isinstance(rows, torch.Tensor):
        rows = np.ascontiguousarray(rows)
        rows = torch.from_numpy(rows if rows.flags.writeable else rows.copy())
    if rows.device.type == "cpu" and device.type == "cuda":
        rows = torch.empty(rows.shape, dtype=rows.dtype, pin_memory=True).copy_(rows)
    return rows.to(device=device, non_blocking=True)


def _make_unit(rows: Any, largest: Any) -> None:
    """`bounds.unit` in place, bit for bit."""
    rows *= bounds.power_of_two(largest)[:, None]
    everyone = _torch().arange(len(rows), device=rows.device)
    rows /= bounds.square_root(_sums(rows, rows, everyone, everyone, distance=False))[:, None]


def _probes(rows: Any, codes: Any, form: str, device: Any, distinct: bool = False) -> _Probes:
    torch = _torch()
    n = len(rows)
    zeros = torch.zeros(n, dtype=torch.int64, device=device)
    least = torch.full((n,), -np.inf, dtype=torch.float64, device=device)
    prepared = _prepared("probes", rows, form, device)
    codes = _codes(codes, device)
    return _Probes(prepared, codes, form, zeros, zeros.clone(), least, least.clone(), distinct)


def _mates(codes: Any, part: _Part) -> Iterator[tuple[Any, Any]]:
    """Pairs (probe, entry) of one subject, some millions at a time."""
    torch = _torch()
    low = torch.searchsorted(part.codes, codes)
    many = torch.searchsorted(part.codes, codes, right=True) - low
    if not len(codes):
        return
    step = max(1, PAIRS_AT_ONCE // max(1, int(many.max())))
    for start in range(0, len(codes), step):
        n = many[start : start + step]
        probe = torch.repeat_interleave(torch.arange(len(n), device=n.device), n)
        before = torch.cumsum(n, 0) - n
        nth = torch.arange(len(probe), device=n.device) - before[probe]
        yield probe + start, low[start : start + step][probe] + nth


def _score_mates(who: _Probes, part: _Part) -> None:
    for probe, entry in _mates(who.codes, part):
        who.mate.scatter_reduce_(0, probe, exact(who, part, probe, entry), "amax")


def exact(who: Any, part: Any, probe: Any, entry: Any) -> Any:
    """Float64 scores of pairs on the device: the same bits as `bounds.exact_scores` of the prepared rows."""
    sums = _sums(who.rows, part.rows, probe, entry, distance=who.form == "euclidean")
    return -bounds.square_root(sums) if who.form == "euclidean" else sums


def _sums(p: Any, g: Any, probe: Any, entry: Any, *, distance: bool) -> Any:
    from strat.recognition.gpu import portable as gpu_portable

    sums = _torch().empty(len(probe), dtype=p.dtype, device=p.device)
    if len(probe):
        options = _compiled(fused=False)
        gpu_portable.score_pairs[(-(-len(probe) // 16),)](
            p, g, probe, entry, sums, len(probe), p.shape[1], DISTANCE=distance, ROWS=16, **options
        )
    return sums


def _hardest_last(who: _Probes) -> tuple[_Probes, Any]:
    """Probes sorted by how far their mate stands out, so that tiles which must count lie together."""
    size = 1.0 if who.form == "euclidean" else who.rows.norm(dim=1).clamp_min(1e-300)
    order = (who.thresholds / size).argsort(descending=True)
    return who.take(order), order


def _answer(who: _Probes, order: Any, rechecked: int, kernel: str) -> Counts:
    mate = who.mate.masked_fill(who.mate == -np.inf, np.nan)
    columns = [x.new_empty(x.shape) for x in (who.above, who.tied, mate, who.best)]
    for column, x in zip(columns, (who.above, who.tied, mate, who.best), strict=True):
        column[order] = x
    above, tied = (x.int().cpu().numpy().astype(np.int64) for x in columns[:2])
    mate, best = (x.cpu().numpy() for x in columns[2:])
    first = "float64" if kernel == "float64" else "bfloat16, float64 inside the error bound"
    return Counts(above, tied, mate, best, rechecked, f"GPU ({kernel}): {first}")


def _count(who: _Probes, part: _Part, kernel: str) -> int:
    """Add one gallery part to the counts of all probes; the number of pairs that float64 decided."""
    space = _space(who, part)
    entries = _fast(part.rows, space.entry_scale, space.centre)
    starts = range(0, len(who.rows), PROBES_AT_ONCE)
    blocks = (who.take(slice(i, i + PROBES_AT_ONCE)) for i in starts)
    return sum(_count_block(block, part, entries, space, kernel) for block in blocks)


def _count_block(block: _Probes, part: _Part, entries: _Fast, space: _Space, kernel: str) -> int:
    """The pairs rechecked for a block of probes: few tiles to recount, many, or nearly all of them in float64."""
    if kernel == "float64":
        return _count_float64(block, part, entries, space)
    job = _job(block, part, entries, space)
    notes = _look(job, kernel, count=False, capacity=max(LEAST_NOTES, NOTES_PER_PROBE * len(block.rows)))
    easy = job.hits < CROWDED
    if notes is None:
        easy = easy & False
    rechecked = 0 if notes is None else _recount(job, notes, easy)
    left = (~easy).nonzero(as_tuple=True)[0]
    step = max(1, TILES_AT_ONCE // job.flags.shape[1])
    for start in range(0, len(left), step):
        rechecked += _on_copy(block, left[start : start + step], _count_in_place, part, entries, space, kernel)
    return rechecked


def _on_copy(block: _Probes, index: Any, count: Any, *arguments: Any) -> int:
    """Run `count` on some of the block's probes and write their columns back."""
    rows = block.take(index)
    rechecked: int = count(rows, *arguments)
    for name in ("above", "tied", "best"):
        getattr(block, name)[index] = getattr(rows, name)
    return rechecked


def _recheck(block: _Probes, part: _Part, records: Any) -> int:
    return _decide_all(block, part, _unpacked(records))


def _decide_all(block: _Probes, part: _Part, pairs: Iterable[tuple[Any, Any]]) -> int:
    """Score pairs in float64 and add them to their probes' columns: all the pairs that a block has in a part."""
    rechecked = 0
    better: list[Any] = []
    equal: list[Any] = []
    for probe, entry in pairs:
        if len(probe):
            scores = exact(block, part, probe, entry)
            _decide(block, probe, scores)
            wanted = block.thresholds[probe]
            if block.distinct:
                better.append(_cells(probe, part.codes[entry])[scores > wanted])
                equal.append(_cells(probe, part.codes[entry])[scores == wanted])
        rechecked += len(probe)
    if better:
        _count_subjects(block, _torch().cat(better).unique(), _torch().cat(equal).unique())
    return rechecked


def _cells(probe: Any, code: Any) -> Any:
    return (probe << 32) | code


def _count_subjects(block: _Probes, better: Any, equal: Any) -> None:
    equal = equal[~_torch().isin(equal, better)]
    block.above.add_((better >> 32).bincount(minlength=len(block.rows)))
    block.tied.add_((equal >> 32).bincount(minlength=len(block.rows)))


def _decide(block: _Probes, probe: Any, scores: Any) -> None:
    from strat.recognition.gpu import portable as gpu_portable

    best = _ordered(block.best)
    gpu_portable.decide[(-(-len(probe) // 1024),)](
        probe, scores, _ordered(scores), block.thresholds, block.above, block.tied, best, len(probe),
        COUNT=not block.distinct, ROWS=1024, **_compiled(fused=True),
    )  # fmt: skip
    block.best.copy_(_ordered(best))


def _ordered(values: Any) -> Any:
    """Float64 as integers in the same order, or back again: what an atomic maximum needs."""
    torch = _torch()
    bits = values.view(torch.int64) if values.dtype == torch.float64 else values
    turned = bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF)
    return turned if values.dtype == torch.float64 else turned.view(torch.float64)


def _unpacked(records: Any) -> Iterator[tuple[Any, Any]]:
    """The pairs behind records of (probe, tile of 256 entries, 8 words of 32 bits)."""
    torch = _torch()
    bit = torch.arange(32, device=records.device, dtype=torch.int32)
    for start in range(0, len(records), PAIRS_AT_ONCE):
        some = records[start : start + PAIRS_AT_ONCE]
        which, word = (some[:, 2:] != 0).nonzero(as_tuple=True)
        one, b = ((some[which, word + 2, None] >> bit) & 1).nonzero(as_tuple=True)
        which, word = which[one], word[one]
        yield some[which, 0].long(), some[which, 1].long() * 256 + word * 32 + b


@dataclass(frozen=True, eq=False)
class _Space:
    """How scores become the products of scaled and centred rows x and y.

    inner: x·y = c s − x·centre with x = a p, y = b g − centre, c = a b.
    euclidean: x·y − |y|²/2 = (|x|² − c s²)/2 with x = a (p − centre), y = a (g − centre), c = a².
    """

    form: str
    probe_scale: float
    entry_scale: float
    centre: Any
    probe_centre: Any
    largest: float


def _space(who: _Probes, part: _Part) -> _Space:
    torch = _torch()
    mean, size = part.rows.mean(dim=0), part.rows.norm(dim=1)
    centred = bool((mean @ mean) > 0.05 * (size * size).mean())
    mean = mean if centred or who.form == "euclidean" else torch.zeros_like(mean)
    if who.form == "euclidean":
        reach = max(_largest(who.rows, mean), _largest(part.rows, mean))
        scale = _down_to_one(reach)
        return _Space(who.form, scale, scale, mean * scale, mean * scale, 2.0)
    p, g = _down_to_one(float(who.rows.norm(dim=1).max())), _down_to_one(float(size.max()))
    return _Space(who.form, p, g, mean * g, torch.zeros_like(mean), 1.0 + float((mean * g).norm()))


def _largest(rows: Any, centre: Any) -> float:
    parts = range(0, len(rows), ROWS_AT_ONCE)
    return max((float((rows[i : i + ROWS_AT_ONCE] - centre).norm(dim=1).max()) for i in parts), default=0.0)


def _down_to_one(size: float) -> float:
    return float(np.ldexp(1.0, -int(np.frexp(size)[1])))


def _fast(rows: Any, scale: float, centre: Any) -> _Fast:
    from strat.recognition.gpu import portable as gpu_portable

    torch = _torch()
    n, d = rows.shape
    width = -(-d // 64) * 64
    low = torch.empty(n, width, dtype=torch.bfloat16, device=rows.device)
    squares = torch.empty(2, n, dtype=torch.float64, device=rows.device)
    gpu_portable.lower[(-(-n // 16),)](
        rows, centre, low, squares, squares.new_tensor([scale]), n, d, width, ROWS=16, **_compiled(fused=True)
    )
    norms, residuals = squares.sqrt()
    return _Fast(low, norms, residuals)


def _in_space(space: _Space, block: _Probes, scores: Any, x: Any, norms: Any) -> tuple[Any, Any]:
    """Scores as products of the fast rows, and a bound on the float64 error of saying so."""
    d = x.shape[1]
    u = bounds.gamma(4 * d + 128, 2.0**-53)
    if space.form == "euclidean":
        size = norms + space.largest
        return (norms * norms - (scores * space.probe_scale) ** 2) / 2, u * size * size
    product = scores * (space.probe_scale * space.entry_scale) - x @ (space.centre * space.probe_scale)
    return product, u * norms * space.largest


@dataclass(frozen=True, eq=False)
class _Job:
    """Everything that the kernels read and write for a block of probes and a gallery part."""

    block: _Probes
    part: _Part
    probes: _Fast
    entries: _Fast
    columns: tuple[Any, ...]
    tiles: tuple[Any, ...]
    flags: Any
    above: Any
    hits: Any
    shifted: bool

    @property
    def per_probe(self) -> tuple[Any, ...]:
        return (*self.columns, self.block.codes.int())

    @property
    def per_entry(self) -> tuple[Any, ...]:
        return (self.part.codes.int(), *self.tiles)


def _job(block: _Probes, part: _Part, entries: _Fast, space: _Space) -> _Job:
    torch = _torch()
    probes = _fast(block.rows, space.probe_scale, space.probe_centre)
    n_probe_tiles, n_tiles = -(-len(block.rows) // 128), -(-len(part.rows) // 256)
    zeros = torch.zeros(len(block.rows), dtype=torch.int32, device=block.rows.device)
    return _Job(
        block, part, probes, entries, _columns(block, probes, space), _tiles(entries, space, n_tiles),
        _flags(block, part, n_probe_tiles, n_tiles), zeros, zeros.clone(), space.form == "euclidean",
    )  # fmt: skip


def _look(job: _Job, kernel: str, *, count: bool, capacity: int) -> Any:
    """Run the fused kernel; its notes (or, counting in place, its records), None when they are too many."""
    torch = _torch()
    n_probe_tiles, n_tiles = job.flags.shape
    units = _units(job.above.device)
    segment = min(128, max(8, n_tiles * n_probe_tiles // (16 * units)))
    n_items = n_probe_tiles * -(-n_tiles // segment)
    found = torch.empty(capacity, 10 if count else 3, dtype=torch.int32, device=job.above.device)
    cursor = torch.zeros(1, dtype=torch.int64, device=job.above.device)
    arguments = (
        *job.per_probe, *job.per_entry, job.flags, job.above, job.hits, found, cursor, capacity,
        len(job.block.rows), len(job.part.rows), n_probe_tiles, n_tiles, segment, n_items,
    )  # fmt: skip
    _run(kernel, job, arguments, min(units, n_items), count)
    used = int(cursor.item())
    return found[:used] if used <= capacity else None


def _run(kernel: str, job: _Job, arguments: Any, programs: int, count: bool) -> None:
    from strat.recognition.gpu import hopper as gpu_hopper
    from strat.recognition.gpu import portable as gpu_portable

    if kernel == "hopper":
        try:
            gpu_hopper.launch(job.probes.low, job.entries.low, arguments, programs, job.shifted, count)
            return
        except (_compilation_error(), AttributeError, TypeError) as trouble:
            warnings.warn(
                f"this Triton does not compile the Hopper kernel ({type(trouble).__name__}); the portable one counts "
                "the same, about a sixth slower.",
                StratWarning,
                stacklevel=2,
            )
    p, g, options = _low(job, {"num_warps": 8, "num_stages": 3})
    gpu_portable.look[(programs,)](p, g, *arguments, SHIFT=job.shifted, COUNT=count, **options)


def _compilation_error() -> Any:
    from triton.compiler.errors import CompilationError

    return CompilationError


def _low(job: _Job, options: dict[str, int]) -> tuple[Any, Any, dict[str, int]]:
    """The bfloat16 rows, and launch options. The interpreter multiplies bit patterns, so it gets float32."""
    steps = {"K_STEPS": job.probes.low.shape[1] // 64}
    if _interpreted():
        return job.probes.low.float(), job.entries.low.float(), steps
    return job.probes.low, job.entries.low, {**steps, **options, **_compiled(fused=True)}


def _compiled(*, fused: bool) -> dict[str, Any]:
    """Whether multiply-adds may be fused, said always because Triton's default changes; the interpreter never does."""
    return {} if _interpreted() else {"enable_fp_fusion": fused}


def _recount(job: _Job, notes: Any, easy: Any) -> int:
    """Count and recheck in the noted tiles that can still matter, now that the floor of the best non-mate is final."""
    from strat.recognition.gpu import portable as gpu_portable

    torch = _torch()
    row, tile, most = notes[:, 0].long(), notes[:, 1], notes[:, 2].contiguous().view(torch.float32)
    keep = easy[row] & (most >= job.columns[0].minimum(job.columns[4])[row])
    tile, order = tile[keep].sort()
    noted = notes[:, 0][keep][order].contiguous()
    if not len(noted):
        return 0
    records = torch.empty(len(noted), 10, dtype=torch.int32, device=noted.device)
    cursor = torch.zeros(1, dtype=torch.int64, device=noted.device)
    blocks = _blocks_of_64(tile, job.flags.shape[1])
    p, g, options = _low(job, {"num_warps": 4, "num_stages": 3})
    gpu_portable.recount[(len(blocks[0]),)](
        p, g, noted, *blocks, *job.per_probe, *job.per_entry,
        job.above, records, cursor, len(noted), len(job.part.rows), SHIFT=job.shifted, **options,
    )  # fmt: skip
    job.block.above.add_(job.above)
    return _recheck(job.block, job.part, records[: int(cursor.item())])


def _blocks_of_64(tile: Any, n_tiles: int) -> tuple[Any, Any, Any]:
    """The tile, first note and number of notes of each block, from tiles in ascending order."""
    torch = _torch()
    size = torch.bincount(tile, minlength=n_tiles)
    blocks = (size + 63) // 64
    of = torch.repeat_interleave(torch.arange(n_tiles, device=tile.device), blocks)
    nth = torch.arange(len(of), device=tile.device) - (blocks.cumsum(0) - blocks)[of]
    start = (size.cumsum(0) - size)[of] + 64 * nth
    return of.int(), start.int(), (size[of] - 64 * nth).clamp_max(64).int()


def _count_in_place(block: _Probes, part: _Part, entries: _Fast, space: _Space, kernel: str) -> int:
    """For probes with many tiles to recount: the fused kernel counts by itself; float64 where the band is crowded."""
    job = _job(block, part, entries, space)
    records = _look(job, kernel, count=True, capacity=len(block.rows) * job.flags.shape[1])
    which = records[:, 0].long()
    pairs = _torch().zeros(len(block.rows), dtype=_torch().int64, device=which.device)
    pairs.index_add_(0, which, _bits(records[:, 2:]).sum(dim=1))
    crowded = pairs > len(part.rows) // CROWD
    block.above.add_(job.above.masked_fill(crowded, 0))
    rechecked = _recheck(block, part, records[~crowded[which]])
    index = crowded.nonzero(as_tuple=True)[0]
    return rechecked + (_on_copy(block, index, _count_float64, part, entries, space) if len(index) else 0)


def _bits(words: Any) -> Any:
    """How many bits are set in each 32-bit word, by adding neighbours."""
    x = words.long() & 0xFFFFFFFF
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
        x = (x & mask) + ((x >> shift) & mask)
    return x


def _units(device: Any) -> int:
    return _torch().cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 2


def _columns(block: _Probes, probes: _Fast, space: _Space) -> tuple[Any, ...]:
    """Per probe, in float32 and rounded outwards: both thresholds, the band's factors, a floor of the best non-mate."""
    d = block.rows.shape[1]
    wanted, slack = _in_space(space, block, block.thresholds, block.rows, probes.norms)
    if space.form == "euclidean":  # plus infinity squared is no threshold
        wanted = wanted.masked_fill(block.mate == -np.inf, np.inf)
    slack = slack + CUSHION / 4 * wanted.abs().nan_to_num(posinf=0.0)
    of_size, of_residual = bounds.factors(d, probes.norms, probes.residuals, "bfloat16")
    of_size = (of_size + CUSHION / 2 * probes.norms) * (1 + CUSHION)
    best, loss = _in_space(space, block, block.best, block.rows, probes.norms)
    known = block.best > -np.inf
    floor = (best - loss - CUSHION / 4 * best.abs()).masked_fill(~known, LEAST).clamp_min(LEAST)
    high = wanted + slack if not block.distinct else wanted * 0 + np.inf  # every better pair has to be seen
    columns = (wanted - slack, high, of_size, of_residual * (1 + CUSHION), floor)
    return tuple(c.float().contiguous() for c in columns)


def _tiles(entries: _Fast, space: _Space, n_tiles: int) -> tuple[Any, ...]:
    """Per entry what is subtracted (|y|²/2), and per tile of 256 entries the largest size, residual and remainder."""
    torch = _torch()
    shift = (entries.norms**2 / 2) if space.form == "euclidean" else torch.zeros_like(entries.norms)

    def largest(values: Any) -> Any:
        padded = torch.nn.functional.pad(values, (0, n_tiles * 256 - len(values)))
        return (padded.view(n_tiles, 256).amax(dim=1) * (1 + CUSHION)).float()

    size = largest(entries.norms + entries.residuals)
    padded = torch.nn.functional.pad(shift.float(), (0, n_tiles * 256 - len(shift)))
    return padded, size, largest(entries.residuals), largest(shift * CUSHION + 1e-30)


def _flags(block: _Probes, part: _Part, n_probe_tiles: int, n_tiles: int) -> Any:
    """Which tiles hold a pair of one subject or reach beyond the gallery's end."""
    torch = _torch()
    flags = torch.zeros(n_probe_tiles * n_tiles, dtype=torch.uint8, device=block.rows.device)
    for probe, entry in _mates(block.codes, part):
        flags[(probe // 128) * n_tiles + entry // 256] = 1
    if len(part.rows) % 256:
        flags[n_tiles - 1 :: n_tiles] = 1
    return flags.view(n_probe_tiles, n_tiles)


def _count_float64(block: _Probes, part: _Part, entries: _Fast, space: _Space) -> int:
    """The same two steps with float64 products: slower, for data whose scores crowd inside the bfloat16 bound."""
    rechecked = 0
    step = 64 if block.distinct else 2048
    for start in range(0, len(block.rows), step):
        some = block.take(slice(start, start + step))
        rechecked += _decide_all(some, part, _near_in_float64(some, part, entries, space))
    return rechecked


def _near_in_float64(some: _Probes, part: _Part, entries: _Fast, space: _Space) -> Iterator[tuple[Any, Any]]:
    """Count what float64 products decide; the pairs that only the fixed order of additions can."""
    x = some.rows * space.probe_scale - space.probe_centre
    norms = x.norm(dim=1)
    wanted, slack = _in_space(space, some, some.thresholds, some.rows, norms)
    wanted = wanted.masked_fill(some.mate == -np.inf, np.inf)[:, None]
    of_size, _ = bounds.factors(x.shape[1], norms, 0.0 * norms, "float64")
    for first in range(0, len(part.rows), 32768):
        where = slice(first, first + 32768)
        y = part.rows[where] * space.entry_scale - space.centre
        half = (of_size * entries.norms[where].max() * 2 + 2 * slack)[:, None]
        product = x @ y.T
        if space.form == "euclidean":
            product -= (y * y).sum(dim=1) / 2
        product.masked_fill_(some.codes[:, None] == part.codes[None, where], -np.inf)
        top = product.amax(dim=1, keepdim=True) - 2 * half
        certain = (product > wanted + half) & (product < top) & (not some.distinct)
        near = (product >= (wanted - half).minimum(top)) & ~certain & (product > -np.inf)
        some.above.add_(certain.sum(dim=1))
        probe, entry = near.nonzero(as_tuple=True)
        for i in range(0, len(probe), PAIRS_AT_ONCE):
            yield probe[i : i + PAIRS_AT_ONCE], entry[i : i + PAIRS_AT_ONCE] + first
