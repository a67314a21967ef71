"""Rows scaled, centred and written as two 8-bit digits, and scores as the products of such rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from strat.base.limits import LIMITS
from strat.recognition import rounding
from strat.recognition.gpu.device import compiled, load_torch
from strat.recognition.gpu.rows import Part, Probes

TILE = 128  # gallery entries that share a scale; what a kernel compares with 128 probes at a time
LEAST_SCALE = 2.0**-60  # the product of two is a normal float32


@dataclass(frozen=True, eq=False)
class Space:
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


@dataclass(frozen=True, eq=False)
class Digits:
    """Rows of a space as scale × (first + second / 256), two int8 digits, padded to a multiple of 128 columns.

    Place i holds row `order[i]`; `residuals` are the norms of what the first digit leaves, and of what both leave.
    """

    first: Any
    second: Any
    scales: Any
    norms: Any
    residuals: Any
    order: Any


def space_of(who: Probes, part: Part) -> Space:
    """Powers of two that bring rows below 1, and a centre: always for distances, else where the gallery is off zero."""
    torch = load_torch()
    mean, size = part.rows.mean(dim=0), part.rows.norm(dim=1)
    centred = bool((mean @ mean) > 0.05 * (size * size).mean())
    mean = mean if centred or who.form == "euclidean" else torch.zeros_like(mean)
    if who.form == "euclidean":
        reach = max(_largest(who.rows, mean), _largest(part.rows, mean))
        scale = _down_to_one(reach)
        return Space(who.form, scale, scale, mean * scale, mean * scale, 2.0)
    p, g = _down_to_one(float(who.rows.norm(dim=1).max())), _down_to_one(float(size.max()))
    return Space(who.form, p, g, mean * g, torch.zeros_like(mean), 1.0 + float((mean * g).norm()))


def _largest(rows: Any, centre: Any) -> float:
    parts = range(0, len(rows), LIMITS.gpu_rows)
    return max((float((rows[i : i + LIMITS.gpu_rows] - centre).norm(dim=1).max()) for i in parts), default=0.0)


def _down_to_one(size: float) -> float:
    return float(np.ldexp(1.0, -int(np.frexp(size)[1])))


def probe_digits(rows: Any, space: Space) -> Digits:
    """Float64 rows of probes in digits, each with a scale of its own."""
    reach = _reach(rows, space.probe_scale, space.probe_centre)
    order = load_torch().arange(len(rows), device=rows.device)
    return _digits(rows, space.probe_scale, space.probe_centre, _scales(reach), order)


def entry_digits(rows: Any, space: Space) -> Digits:
    """Float64 rows of the gallery in digits. Rows of like reach come together, so that a tile can share one scale."""
    torch = load_torch()
    reach, order = _reach(rows, space.entry_scale, space.centre).sort()
    last = (torch.arange(len(rows), device=rows.device) // TILE * TILE + TILE - 1).clamp_max(len(rows) - 1)
    return _digits(rows, space.entry_scale, space.centre, _scales(reach[last]), order)


def _reach(rows: Any, scale: float, centre: Any) -> Any:
    """The largest absolute number of each scaled and centred row."""
    from strat.recognition.gpu import portable

    n, d = rows.shape
    reach = rows.new_empty(n)
    portable.reach[(-(-n // 16),)](
        rows, centre, reach, rows.new_tensor([scale]), n, d, ROWS=16, **compiled(fused=True)
    )  # fmt: skip
    return reach


def _scales(reach: Any) -> Any:
    """Scales in float32 by which rows of this reach are divided, so that no digit exceeds 127."""
    return (reach * ((1 + 2.0**-22) / 127)).clamp_min(LEAST_SCALE).float()


def _digits(rows: Any, scale: float, centre: Any, scales: Any, order: Any) -> Digits:
    from strat.recognition.gpu import portable

    torch = load_torch()
    n, d = rows.shape
    width = -(-d // 128) * 128
    first, second = torch.empty(2, n, width, dtype=torch.int8, device=rows.device)
    squares = torch.empty(3, n, dtype=torch.float64, device=rows.device)
    portable.write_digits[(-(-n // 8),)](
        rows, centre, order, scales, first, second, squares, squares.new_tensor([scale]), n, d, width,
        ROWS=8, **compiled(fused=True),
    )  # fmt: skip
    norms, *residuals = squares.sqrt()
    return Digits(first, second, scales, norms, tuple(residuals), order)


def in_space(space: Space, scores: Any, x: Any, norms: Any) -> tuple[Any, Any]:
    """Scores as products of the rows of a space, and a bound on the float64 error of saying so."""
    d = x.shape[1]
    u = rounding.gamma(4 * d + 128, 2.0**-53)
    if space.form == "euclidean":
        size = norms + space.largest
        return (norms * norms - (scores * space.probe_scale) ** 2) / 2, u * size * size
    product = scores * (space.probe_scale * space.entry_scale) - x @ (space.centre * space.probe_scale)
    return product, u * norms * space.largest
