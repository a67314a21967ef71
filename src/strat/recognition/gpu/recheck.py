"""Pairs inside the error bound, scored again in float64 and added to their probes' columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from strat.base.limits import LIMITS
from strat.recognition.gpu.device import compiled, load_torch
from strat.recognition.gpu.pairs import exact
from strat.recognition.gpu.rows import Part, Probes


def recheck(block: Probes, part: Part, order: Any, records: Any) -> int:
    """Decide the pairs that a kernel recorded, of entries in this order; how many they were."""
    return decide_all(block, part, _unpacked(records, order))


def _unpacked(records: Any, order: Any) -> Iterator[tuple[Any, Any]]:
    """The pairs behind records of (probe, tile of 128 entries, its most, 4 words of 32 bits)."""
    torch = load_torch()
    bit = torch.arange(32, device=records.device, dtype=torch.int32)
    for start in range(0, len(records), LIMITS.gpu_pairs):
        some = records[start : start + LIMITS.gpu_pairs]
        which, word = (some[:, 3:] != 0).nonzero(as_tuple=True)
        one, b = ((some[which, word + 3, None] >> bit) & 1).nonzero(as_tuple=True)
        which, word = which[one], word[one]
        yield some[which, 0].long(), order[some[which, 1].long() * 128 + word * 32 + b]


def decide_all(block: Probes, part: Part, pairs: Iterable[tuple[Any, Any]]) -> int:
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
        _count_subjects(block, load_torch().cat(better).unique(), load_torch().cat(equal).unique())
    return rechecked


def _cells(probe: Any, code: Any) -> Any:
    return (probe << 32) | code


def _count_subjects(block: Probes, better: Any, equal: Any) -> None:
    equal = equal[~load_torch().isin(equal, better)]
    block.above.add_((better >> 32).bincount(minlength=len(block.rows)))
    block.tied.add_((equal >> 32).bincount(minlength=len(block.rows)))


def _decide(block: Probes, probe: Any, scores: Any) -> None:
    from strat.recognition.gpu import portable

    best = _ordered(block.best)
    portable.decide[(-(-len(probe) // 1024),)](
        probe, scores, _ordered(scores), block.thresholds, block.above, block.tied, best, len(probe),
        COUNT=not block.distinct, ROWS=1024, **compiled(fused=True),
    )  # fmt: skip
    block.best.copy_(_ordered(best))


def _ordered(values: Any) -> Any:
    """Float64 as integers in the same order, or back again: what an atomic maximum needs."""
    torch = load_torch()
    bits = values.view(torch.int64) if values.dtype == torch.float64 else values
    turned = bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF)
    return turned if values.dtype == torch.float64 else turned.view(torch.float64)
