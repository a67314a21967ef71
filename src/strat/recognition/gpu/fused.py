"""What the kernels read for a block of probes and a gallery part, and their launches, in the order of the cascade."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from strat.base.errors import StratWarning
from strat.recognition import rounding
from strat.recognition.gpu.device import compiled, interpreted, load_torch, multiprocessors
from strat.recognition.gpu.mates import mates
from strat.recognition.gpu.rows import Part, Probes
from strat.recognition.gpu.space import TILE, Digits, Space, in_space, probe_digits

LEAST = -3e38  # below every score and above the minus infinity that stands for "not a candidate"
CUSHION = 2.0**-19  # covers the float32 roundings of fast scores, thresholds and band widths themselves
NOTE = (256, 16)  # probes and tiles that a program of `note` reads
NOTED = 64  # noted probes that are counted together


@dataclass(frozen=True, eq=False)
class Job:
    """Everything that the kernels read and write for a block of probes and a gallery part.

    A fast score with one digit lies within `of_size[0]` × `size` + `norm` × `residual[0]` + `rest` of the float64
    one, the first and third factor being the probe's and the others the tile's; with two digits likewise ([1]).
    """

    block: Probes
    part: Part
    probes: Digits
    entries: Digits
    low: Any
    high: Any
    floor: Any  # what the best non-mate reaches at least; raised as more is known
    norm: Any
    of_size: tuple[Any, Any]
    probe_code: Any
    entry_code: Any
    shift: Any  # |y|²/2 of each entry, for distances
    scale: Any
    size: Any
    residual: tuple[Any, Any]
    rest: Any
    flags: Any
    above: Any

    @property
    def shifted(self) -> bool:
        """Whether something is subtracted from the product."""
        return self.block.form == "euclidean"

    @property
    def n_tiles(self) -> int:
        """How many tiles of entries the part has."""
        return len(self.scale)


def job_of(block: Probes, part: Part, entries: Digits, space: Space) -> Job:
    """A job in which nothing was counted yet."""
    torch = load_torch()
    probes = probe_digits(block.rows, space)
    zeros = torch.zeros(len(block.rows), dtype=torch.int32, device=block.rows.device)
    return Job(
        block, part, probes, entries, **_of_probes(block, probes, space), **_of_tiles(entries, space),
        probe_code=block.codes.int(), entry_code=part.codes[entries.order].int(),
        flags=_flags(block, part, entries.order), above=zeros,
    )  # fmt: skip


def _of_probes(block: Probes, probes: Digits, space: Space) -> dict[str, Any]:
    """Per probe, in float32 and rounded outwards: both thresholds, a floor of the best non-mate, the band's factors."""
    wanted, slack = in_space(space, block.thresholds, block.rows, probes.norms)
    if space.form == "euclidean":  # plus infinity squared is no threshold
        wanted = wanted.masked_fill(block.mate == -np.inf, np.inf)
    slack = slack + CUSHION / 4 * wanted.abs().nan_to_num(posinf=0.0)
    best, loss = in_space(space, block.best, block.rows, probes.norms)
    known = block.best > -np.inf
    floor = (best - loss - CUSHION / 4 * best.abs()).masked_fill(~known, LEAST).clamp_min(LEAST)
    high = wanted + slack if not block.distinct else wanted * 0 + np.inf  # every better pair has to be seen
    sizes = []
    for residuals in probes.residuals:
        of_size, norm = rounding.factors(block.rows.shape[1], probes.norms, residuals, "int8")
        sizes.append(((of_size + CUSHION * probes.norms) * (1 + CUSHION)).float())
    columns = {"low": wanted - slack, "high": high, "floor": floor, "norm": norm * (1 + CUSHION)}
    return {k: v.float().contiguous() for k, v in columns.items()} | {"of_size": tuple(sizes)}


def _of_tiles(entries: Digits, space: Space) -> dict[str, Any]:
    """Per entry what is subtracted; per tile its scale, and the largest size, residuals and remainder."""
    torch = load_torch()
    n_tiles = -(-len(entries.norms) // TILE)
    shift = (entries.norms**2 / 2) if space.form == "euclidean" else torch.zeros_like(entries.norms)

    def tiled(values: Any) -> Any:
        return torch.nn.functional.pad(values, (0, n_tiles * TILE - len(values))).view(n_tiles, TILE)

    def largest(values: Any) -> Any:
        return (tiled(values).amax(dim=1) * (1 + CUSHION)).float()

    return {
        "shift": tiled(shift.float()),
        "scale": tiled(entries.scales).amax(dim=1),
        "size": largest(entries.norms + entries.residuals[0]),
        "residual": tuple(largest(r) for r in entries.residuals),
        "rest": largest(shift * CUSHION + 1e-30),
    }


def _flags(block: Probes, part: Part, order: Any) -> Any:
    """Which tiles hold a pair of one subject or reach beyond the gallery's end."""
    torch = load_torch()
    n_probe_tiles, n_tiles = -(-len(block.rows) // 128), -(-len(part.rows) // TILE)
    flags = torch.zeros(n_probe_tiles * n_tiles, dtype=torch.uint8, device=order.device)
    tile = torch.empty_like(order)
    tile[order] = torch.arange(len(order), device=order.device) // TILE
    for probe, entry in mates(block.codes, part):
        flags[(probe // 128) * n_tiles + tile[entry]] = 1
    if len(part.rows) % TILE:
        flags[n_tiles - 1 :: n_tiles] = 1
    return flags


def look(job: Job, kernel: str) -> Any:
    """The largest fast score of each probe in each tile, as an array of tiles × probes."""
    from strat.recognition.gpu import hopper, portable

    tops = load_torch().empty(job.n_tiles, len(job.block.rows), dtype=job.scale.dtype, device=job.scale.device)
    arguments = (
        tops, job.probes.scales, job.probe_code, job.scale, job.entry_code, job.shift, job.flags,
        len(job.block.rows), len(job.part.rows),
    )  # fmt: skip
    p, g = job.probes.first, job.entries.first
    if kernel == "hopper":
        try:
            hopper.launch(p, g, arguments, *_grid(job, 64 * hopper.groups(p.shape[1])), job.shifted)
            return tops
        except (_compilation_error(), AttributeError, TypeError) as trouble:
            warnings.warn(
                f"this Triton does not compile the Hopper kernel ({type(trouble).__name__}); the portable one counts "
                "the same in twice the time.",
                StratWarning,
                stacklevel=2,
            )
    sizes, programs = _grid(job, 128)
    options = _options(job, {"num_warps": 8, "num_stages": 4})
    portable.look[(programs,)](p, g, *arguments, *sizes, SHIFT=job.shifted, **options)
    return tops


def _grid(job: Job, rows: int) -> tuple[tuple[int, int, int, int], int]:
    """How many tiles of probes and of entries, of entries in an item of work, and items; and the programs for them."""
    n_probe_tiles, units = -(-len(job.block.rows) // rows), multiprocessors(job.scale.device)
    segment = min(256, max(16, job.n_tiles * n_probe_tiles // (16 * units)))
    n_items = n_probe_tiles * -(-job.n_tiles // segment)
    return (n_probe_tiles, job.n_tiles, segment, n_items), min(units, n_items)


def _compilation_error() -> Any:
    from triton.compiler.errors import CompilationError

    return CompilationError


def _options(job: Job, options: dict[str, int]) -> dict[str, int]:
    steps = {"K_STEPS": job.probes.first.shape[1] // 128}
    return steps if interpreted() else {**steps, **options, **compiled(fused=True)}


def raise_floor(job: Job, tops: Any) -> None:
    """Raise each probe's floor to what two digits prove of the best entry in the tile where one digit found it."""
    tile, noted = tops.argmax(dim=0).sort()
    _count(job, noted.int(), _blocks(tile.bincount(minlength=job.n_tiles)), records=noted, lead=True)


def note(job: Job, tops: Any, least: Any) -> tuple[Any, Any]:
    """How many probes can reach `least` in each tile, and in how many tiles each probe can."""
    torch = load_torch()
    of_tile, of_probe = (torch.zeros(n, dtype=torch.int64, device=tops.device) for n in tops.shape)
    _note(job, tops, least, of_tile, of_probe, write=False)
    return of_tile, of_probe


def _note(job: Job, tops: Any, least: Any, of_tile: Any, out: Any, *, write: bool) -> None:
    from strat.recognition.gpu import portable

    n_tiles, n_probes = tops.shape
    rows, tiles = NOTE
    portable.note[(-(-n_probes // rows), -(-n_tiles // tiles))](
        tops, least, job.of_size[0], job.norm, job.size, job.residual[0], job.rest, of_tile, out,
        n_probes, n_tiles, WRITE=write, ROWS=rows, TILES=tiles, **compiled(fused=True),
    )  # fmt: skip


def recount(job: Job, tops: Any, least: Any, of_tile: Any) -> Any:
    """Count with two digits where `note` found so many probes in each tile; records of the pairs that are left."""
    noted = load_torch().empty(int(of_tile.sum()), dtype=load_torch().int32, device=tops.device)
    _note(job, tops, least, of_tile.cumsum(0) - of_tile, noted, write=True)
    return _recorded(job, noted, _blocks(of_tile), len(noted))


def recount_all(job: Job, rows: Any) -> Any:
    """The same for some probes and every tile."""
    torch = load_torch()
    start = torch.arange(0, len(rows), NOTED, device=rows.device, dtype=torch.int32)
    tile = torch.arange(job.n_tiles, device=rows.device, dtype=torch.int32).repeat_interleave(len(start))
    start = start.repeat(job.n_tiles)
    blocks = (tile, start, (len(rows) - start).clamp_max(NOTED))
    return _recorded(job, rows.int(), blocks, len(rows) * job.n_tiles)


def _blocks(of_tile: Any) -> tuple[Any, Any, Any]:
    """The tile, first note and number of notes of each block, from the number of notes in each tile."""
    torch = load_torch()
    start = of_tile.cumsum(0) - of_tile
    blocks = (of_tile + NOTED - 1) // NOTED
    tile = torch.repeat_interleave(torch.arange(len(of_tile), device=of_tile.device), blocks)
    nth = torch.arange(len(tile), device=of_tile.device) - (blocks.cumsum(0) - blocks)[tile]
    size = (of_tile[tile] - NOTED * nth).clamp_max(NOTED)
    return tile.int(), (start[tile] + NOTED * nth).int(), size.int()


def _recorded(job: Job, noted: Any, blocks: tuple[Any, Any, Any], capacity: int) -> Any:
    """Records of the kernel of two digits, less those that proved too low."""
    torch = load_torch()
    records = torch.empty(capacity, 7, dtype=torch.int32, device=noted.device)
    records = records[: _count(job, noted, blocks, records=records, lead=False)]
    row, most = records[:, 0].long(), records[:, 2].contiguous().view(torch.float32)
    return records[most >= job.low.minimum(job.floor)[row]]


def _count(job: Job, noted: Any, blocks: tuple[Any, Any, Any], *, records: Any, lead: bool) -> int:
    """Run the kernel of two digits: raise floors and, unless only the lead is wanted, count and record."""
    from strat.recognition.gpu import portable

    cursor = load_torch().zeros(1, dtype=load_torch().int64, device=noted.device)
    if len(blocks[0]):
        portable.recount[(len(blocks[0]),)](
            job.probes.first, job.probes.second, job.entries.first, job.entries.second, noted, *blocks,
            job.low, job.high, job.floor, job.probes.scales, job.of_size[1], job.norm, job.probe_code,
            job.scale, job.size, job.residual[1], job.rest, job.entry_code, job.shift,
            job.above, records, cursor, len(job.part.rows),
            SHIFT=job.shifted, LEAD=lead, ROWS=NOTED, **_options(job, {"num_warps": 4, "num_stages": 2}),
        )  # fmt: skip
    return int(cursor.item())
