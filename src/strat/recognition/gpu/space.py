"""Rows scaled, centred and rounded to bfloat16, and scores as the products of such rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from strat.recognition import bounds
from strat.recognition.gpu.device import compiled, load_torch
from strat.recognition.gpu.rows import ROWS_AT_ONCE, Part, Probes


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
class Fast:
    """Scaled and centred rows in bfloat16, padded to a multiple of 64 columns, with what rounding did to them."""

    low: Any
    norms: Any
    residuals: Any


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
    parts = range(0, len(rows), ROWS_AT_ONCE)
    return max((float((rows[i : i + ROWS_AT_ONCE] - centre).norm(dim=1).max()) for i in parts), default=0.0)


def _down_to_one(size: float) -> float:
    return float(np.ldexp(1.0, -int(np.frexp(size)[1])))


def fast_rows(rows: Any, scale: float, centre: Any) -> Fast:
    """Float64 rows scaled, centred and rounded to bfloat16."""
    from strat.recognition.gpu import portable

    torch = load_torch()
    n, d = rows.shape
    width = -(-d // 64) * 64
    low = torch.empty(n, width, dtype=torch.bfloat16, device=rows.device)
    squares = torch.empty(2, n, dtype=torch.float64, device=rows.device)
    portable.lower[(-(-n // 16),)](
        rows, centre, low, squares, squares.new_tensor([scale]), n, d, width, ROWS=16, **compiled(fused=True)
    )
    norms, residuals = squares.sqrt()
    return Fast(low, norms, residuals)


def in_space(space: Space, scores: Any, x: Any, norms: Any) -> tuple[Any, Any]:
    """Scores as products of the fast rows, and a bound on the float64 error of saying so."""
    d = x.shape[1]
    u = bounds.gamma(4 * d + 128, 2.0**-53)
    if space.form == "euclidean":
        size = norms + space.largest
        return (norms * norms - (scores * space.probe_scale) ** 2) / 2, u * size * size
    product = scores * (space.probe_scale * space.entry_scale) - x @ (space.centre * space.probe_scale)
    return product, u * norms * space.largest
