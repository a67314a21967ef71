"""Float64 scores of chosen pairs, added up in the fixed order that the CPU uses too."""

from __future__ import annotations

from typing import Any

from strat.recognition import rounding
from strat.recognition.gpu.device import compiled, load_torch


def exact(who: Any, part: Any, probe: Any, entry: Any) -> Any:
    """Float64 scores of pairs on the device: the same bits as `rounding.exact_scores` of the prepared rows."""
    sums = pair_sums(who.rows, part.rows, probe, entry, distance=who.form == "euclidean")
    return -rounding.square_root(sums) if who.form == "euclidean" else sums


def pair_sums(p: Any, g: Any, probe: Any, entry: Any, *, distance: bool) -> Any:
    """Products, or squared differences, of pairs of rows, added up over the features."""
    from strat.recognition.gpu import portable

    sums = load_torch().empty(len(probe), dtype=p.dtype, device=p.device)
    if len(probe):
        options = compiled(fused=False)
        portable.score_pairs[(-(-len(probe) // 16),)](
            p, g, probe, entry, sums, len(probe), p.shape[1], DISTANCE=distance, ROWS=16, **options
        )
    return sums
