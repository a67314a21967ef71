"""The fused kernel's arguments and its launch: one look at a block of probes and a gallery part."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from strat.errors import StratWarning
from strat.recognition import bounds
from strat.recognition.gpu.device import compiled, interpreted, load_torch, multiprocessors
from strat.recognition.gpu.mates import mates
from strat.recognition.gpu.rows import Part, Probes
from strat.recognition.gpu.space import Fast, Space, fast_rows, in_space

LEAST = -3e38  # below every score and above the minus infinity that stands for "not a candidate"
CUSHION = 2.0**-20  # covers the float32 roundings of thresholds and band widths themselves


@dataclass(frozen=True, eq=False)
class Job:
    """Everything that the kernels read and write for a block of probes and a gallery part."""

    block: Probes
    part: Part
    probes: Fast
    entries: Fast
    columns: tuple[Any, ...]
    tiles: tuple[Any, ...]
    flags: Any
    above: Any
    hits: Any
    shifted: bool

    @property
    def per_probe(self) -> tuple[Any, ...]:
        """What the kernels read for each probe, in the order of their arguments."""
        return (*self.columns, self.block.codes.int())

    @property
    def per_entry(self) -> tuple[Any, ...]:
        """What the kernels read for each entry and tile, in the order of their arguments."""
        return (self.part.codes.int(), *self.tiles)


def job_of(block: Probes, part: Part, entries: Fast, space: Space) -> Job:
    """A job in which nothing was counted yet."""
    torch = load_torch()
    probes = fast_rows(block.rows, space.probe_scale, space.probe_centre)
    n_probe_tiles, n_tiles = -(-len(block.rows) // 128), -(-len(part.rows) // 256)
    zeros = torch.zeros(len(block.rows), dtype=torch.int32, device=block.rows.device)
    return Job(
        block, part, probes, entries, _columns(block, probes, space), _tiles(entries, space, n_tiles),
        _flags(block, part, n_probe_tiles, n_tiles), zeros, zeros.clone(), space.form == "euclidean",
    )  # fmt: skip


def _columns(block: Probes, probes: Fast, space: Space) -> tuple[Any, ...]:
    """Per probe, in float32 and rounded outwards: both thresholds, the band's factors, a floor of the best non-mate."""
    d = block.rows.shape[1]
    wanted, slack = in_space(space, block.thresholds, block.rows, probes.norms)
    if space.form == "euclidean":  # plus infinity squared is no threshold
        wanted = wanted.masked_fill(block.mate == -np.inf, np.inf)
    slack = slack + CUSHION / 4 * wanted.abs().nan_to_num(posinf=0.0)
    of_size, of_residual = bounds.factors(d, probes.norms, probes.residuals, "bfloat16")
    of_size = (of_size + CUSHION / 2 * probes.norms) * (1 + CUSHION)
    best, loss = in_space(space, block.best, block.rows, probes.norms)
    known = block.best > -np.inf
    floor = (best - loss - CUSHION / 4 * best.abs()).masked_fill(~known, LEAST).clamp_min(LEAST)
    high = wanted + slack if not block.distinct else wanted * 0 + np.inf  # every better pair has to be seen
    columns = (wanted - slack, high, of_size, of_residual * (1 + CUSHION), floor)
    return tuple(c.float().contiguous() for c in columns)


def _tiles(entries: Fast, space: Space, n_tiles: int) -> tuple[Any, ...]:
    """Per entry what is subtracted (|y|²/2), and per tile of 256 entries the largest size, residual and remainder."""
    torch = load_torch()
    shift = (entries.norms**2 / 2) if space.form == "euclidean" else torch.zeros_like(entries.norms)

    def largest(values: Any) -> Any:
        padded = torch.nn.functional.pad(values, (0, n_tiles * 256 - len(values)))
        return (padded.view(n_tiles, 256).amax(dim=1) * (1 + CUSHION)).float()

    size = largest(entries.norms + entries.residuals)
    padded = torch.nn.functional.pad(shift.float(), (0, n_tiles * 256 - len(shift)))
    return padded, size, largest(entries.residuals), largest(shift * CUSHION + 1e-30)


def _flags(block: Probes, part: Part, n_probe_tiles: int, n_tiles: int) -> Any:
    """Which tiles hold a pair of one subject or reach beyond the gallery's end."""
    torch = load_torch()
    flags = torch.zeros(n_probe_tiles * n_tiles, dtype=torch.uint8, device=block.rows.device)
    for probe, entry in mates(block.codes, part):
        flags[(probe // 128) * n_tiles + entry // 256] = 1
    if len(part.rows) % 256:
        flags[n_tiles - 1 :: n_tiles] = 1
    return flags.view(n_probe_tiles, n_tiles)


def look(job: Job, kernel: str, *, count: bool, capacity: int) -> Any:
    """Run the fused kernel; its notes (or, counting in place, its records), None when they are too many."""
    torch = load_torch()
    n_probe_tiles, n_tiles = job.flags.shape
    units = multiprocessors(job.above.device)
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


def _run(kernel: str, job: Job, arguments: Any, programs: int, count: bool) -> None:
    from strat.recognition.gpu import hopper, portable

    if kernel == "hopper":
        try:
            hopper.launch(job.probes.low, job.entries.low, arguments, programs, job.shifted, count)
            return
        except (_compilation_error(), AttributeError, TypeError) as trouble:
            warnings.warn(
                f"this Triton does not compile the Hopper kernel ({type(trouble).__name__}); the portable one counts "
                "the same, about a sixth slower.",
                StratWarning,
                stacklevel=2,
            )
    p, g, options = low_rows(job, {"num_warps": 8, "num_stages": 3})
    portable.look[(programs,)](p, g, *arguments, SHIFT=job.shifted, COUNT=count, **options)


def _compilation_error() -> Any:
    from triton.compiler.errors import CompilationError

    return CompilationError


def low_rows(job: Job, options: dict[str, int]) -> tuple[Any, Any, dict[str, int]]:
    """The bfloat16 rows, and launch options. The interpreter multiplies bit patterns, so it gets float32."""
    steps = {"K_STEPS": job.probes.low.shape[1] // 64}
    if interpreted():
        return job.probes.low.float(), job.entries.low.float(), steps
    return job.probes.low, job.entries.low, {**steps, **options, **compiled(fused=True)}
