"""Counts of a gallery whose parts lie on several GPUs or machines, one process for each, over torch.distributed."""

from __future__ import annotations

from typing import Any

from strat.base.errors import StratError
from strat.recognition.gpu.device import load_torch
from strat.recognition.gpu.rows import Probes


def share_mates(who: Probes, group: Any) -> None:
    """Raise each probe's `mate` to the best over all processes: every part is compared with the same threshold."""
    if group is not None:
        _reduce(who.mate, "MAX", group)


def share_counts(who: Probes, rechecked: int, group: Any) -> int:
    """Add up the columns of all processes, and the pairs that float64 decided."""
    if group is None:
        return rechecked
    _reduce(who.above, "SUM", group)
    _reduce(who.tied, "SUM", group)
    _reduce(who.best, "MAX", group)
    pairs = who.above.new_tensor([rechecked])
    _reduce(pairs, "SUM", group)
    return int(pairs)


def check_whole_subjects(gallery_codes: Any, device: Any, group: Any) -> None:
    """Refuse a subject whose entries lie on two processes: its best entry would count twice."""
    torch = load_torch()
    mine = torch.as_tensor(gallery_codes).to(device=device, dtype=torch.int64).unique()
    size = mine.max().reshape(1) + 1
    _reduce(size, "MAX", group)
    processes = torch.zeros(int(size), dtype=torch.int32, device=device)
    processes[mine] = 1
    _reduce(processes, "SUM", group)
    if bool((processes > 1).any()):
        raise StratError.about(
            "gallery",
            f"must keep a subject's rows on one process with distinct=True, got subject "
            f"{int((processes > 1).nonzero()[0])} on {int(processes.max())}; split the gallery by subject.",
        )


def _reduce(values: Any, operation: str, group: Any) -> None:
    from torch import distributed

    distributed.all_reduce(values, getattr(distributed.ReduceOp, operation), group=group)
