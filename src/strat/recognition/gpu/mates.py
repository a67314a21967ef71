"""The score of each probe's best mate: the threshold that other subjects' entries are compared with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from strat.base.limits import LIMITS
from strat.recognition.gpu.device import load_torch
from strat.recognition.gpu.pairs import exact
from strat.recognition.gpu.rows import Part, Probes


def score_mates(who: Probes, part: Part) -> None:
    """Raise each probe's `mate` to the best float64 score of its subject's entries in this part."""
    for probe, entry in mates(who.codes, part):
        who.mate.scatter_reduce_(0, probe, exact(who, part, probe, entry), "amax")


def mates(codes: Any, part: Part) -> Iterator[tuple[Any, Any]]:
    """Pairs (probe, entry) of one subject, some millions at a time."""
    torch = load_torch()
    low = torch.searchsorted(part.codes, codes)
    many = torch.searchsorted(part.codes, codes, right=True) - low
    if not len(codes):
        return
    step = max(1, LIMITS.gpu_pairs // max(1, int(many.max())))
    for start in range(0, len(codes), step):
        n = many[start : start + step]
        probe = torch.repeat_interleave(torch.arange(len(n), device=n.device), n)
        before = torch.cumsum(n, 0) - n
        nth = torch.arange(len(probe), device=n.device) - before[probe]
        yield probe + start, low[start : start + step][probe] + nth
