"""Counting without the fused kernel: float64 products, for what 8-bit digits can't distinguish."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from strat.base.limits import LIMITS
from strat.recognition import rounding
from strat.recognition.gpu.recheck import decide_all
from strat.recognition.gpu.rows import Part, Probes
from strat.recognition.gpu.space import Space, in_space


def count_float64(block: Probes, part: Part, space: Space) -> int:
    """The same two steps with float64 products: slower, for data whose scores crowd inside the bound of two digits."""
    rechecked = 0
    step = 64 if block.distinct else 2048
    for start in range(0, len(block.rows), step):
        some = block.take(slice(start, start + step))
        rechecked += decide_all(some, part, _near_in_float64(some, part, space))
    return rechecked


def _near_in_float64(some: Probes, part: Part, space: Space) -> Iterator[tuple[Any, Any]]:
    """Count what float64 products decide; the pairs that only the fixed order of additions can."""
    x = some.rows * space.probe_scale - space.probe_centre
    norms = x.norm(dim=1)
    wanted, slack = in_space(space, some.thresholds, some.rows, norms)
    wanted = wanted.masked_fill(some.mate == -np.inf, np.inf)[:, None]
    of_size, _ = rounding.factors(x.shape[1], norms, 0.0 * norms, "float64")
    for first in range(0, len(part.rows), 32768):
        where = slice(first, first + 32768)
        y = part.rows[where] * space.entry_scale - space.centre
        half = (of_size * y.norm(dim=1).max() * 2 + 2 * slack)[:, None]
        product = x @ y.T
        if space.form == "euclidean":
            product -= (y * y).sum(dim=1) / 2
        product.masked_fill_(some.codes[:, None] == part.codes[None, where], -np.inf)
        top = product.amax(dim=1, keepdim=True) - 2 * half
        certain = (product > wanted + half) & (product < top) & (not some.distinct)
        near = (product >= (wanted - half).minimum(top)) & ~certain & (product > -np.inf)
        some.above.add_(certain.sum(dim=1))
        probe, entry = near.nonzero(as_tuple=True)
        for i in range(0, len(probe), LIMITS.gpu_pairs):
            yield probe[i : i + LIMITS.gpu_pairs], entry[i : i + LIMITS.gpu_pairs] + first
