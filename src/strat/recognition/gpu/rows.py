"""Probes and gallery parts on the card: rows in float64, prepared for the form of the score, and codes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.recognition import rounding
from strat.recognition.gpu.device import as_numpy, load_torch
from strat.recognition.gpu.pairs import pair_sums


@dataclass(frozen=True, eq=False)
class Probes:
    """Rows and subjects of probes on the card, with the columns that are being counted for them."""

    rows: Any  # float64, prepared for the form
    codes: Any
    form: str
    above: Any
    tied: Any
    mate: Any  # minus infinity until a mate was met
    best: Any
    distinct: bool = False

    def take(self, index: Any) -> Probes:
        """Some of the probes: a slice shares its columns with these, an index copies them."""
        fields = (self.rows, self.codes, self.above, self.tied, self.mate, self.best)
        rows, codes, above, tied, mate, best = (x[index] for x in fields)
        return Probes(rows, codes, self.form, above, tied, mate, best, self.distinct)

    @property
    def thresholds(self) -> Any:
        """The mate's score, and plus infinity without one: nothing is better."""
        return self.mate.masked_fill(self.mate == -np.inf, np.inf)


@dataclass(frozen=True, eq=False)
class Part:
    """Some gallery rows on the card, sorted by subject so that mates lie together."""

    rows: Any
    codes: Any


class Parts:
    """The gallery's parts, loaded when asked for and kept when there is only one."""

    def __init__(self, gallery: Any, codes: Any, form: str, device: Any, cuts: list[Any]) -> None:
        self._source = (gallery, codes, form, device)
        self._cuts = cuts
        self._only: Part | None = None

    def __iter__(self) -> Iterator[Part]:
        for cut in self._cuts:
            if self._only is not None:
                yield self._only
                continue
            part = self._load(cut)
            self._only = part if len(self._cuts) == 1 else None
            yield part

    def _load(self, where: Any) -> Part:
        gallery, codes, form, device = self._source
        rows = _prepared("gallery", gallery[where], form, device)
        sorted_codes, order = _codes(codes[where], device).sort(stable=True)
        if bool((order[1:] < order[:-1]).any()):
            rows = rows[order]
        return Part(rows, sorted_codes)


def probes_of(rows: Any, codes: Any, form: str, device: Any, distinct: bool = False) -> Probes:
    """Probes on the card before any entry was met."""
    torch = load_torch()
    n = len(rows)
    zeros = torch.zeros(n, dtype=torch.int64, device=device)
    least = torch.full((n,), -np.inf, dtype=torch.float64, device=device)
    prepared = _prepared("probes", rows, form, device)
    codes = _codes(codes, device)
    return Probes(prepared, codes, form, zeros, zeros.clone(), least, least.clone(), distinct)


def cuts_of(codes: Any, n: int, size: int, whole_subjects: bool) -> list[Any]:
    """Which gallery rows come to the card together; rows of one subject at once where subjects are counted."""
    if not whole_subjects or n <= size:
        return [slice(i, i + size) for i in range(0, n, size)]
    codes = as_numpy(codes)
    order = np.argsort(codes, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(codes[order])) + 1, n)
    cuts = [0]
    while cuts[-1] < n:
        fits = ends[(ends > cuts[-1]) & (ends <= cuts[-1] + size)]
        cuts.append(int(fits[-1] if len(fits) else ends[ends > cuts[-1]][0]))
    return [order[a:b] for a, b in itertools.pairwise(cuts)]


def rows_on_card(n: int, d: int, wanted: int | None, device: Any) -> int:
    """How many gallery rows to hold: 8 bytes a number, 2 in digits, as much again while preparing."""
    if wanted is not None:
        if wanted < 1:
            raise StratError.about("gallery_rows", f"must be at least 1, got {wanted}; leave it out to take what fits.")
        return int(wanted)
    if device.type != "cuda":
        return max(1, n)
    cuda = load_torch().cuda
    free = cuda.mem_get_info(device)[0] + cuda.memory_reserved(device) - cuda.memory_allocated(device)
    return int(max(1, min(n, 0.7 * free / (20 * d + 64))))


def _prepared(argument: str, rows: Any, form: str, device: Any) -> Any:
    """`rows` in float64 on the device; unit rows for cosine."""
    torch = load_torch()
    out = torch.empty(tuple(rows.shape), dtype=torch.float64, device=device)
    for start in range(0, len(rows), LIMITS.gpu_rows):
        where = slice(start, start + LIMITS.gpu_rows)
        out[where] = _sent(rows[where], device)
    largest = out.norm(float("inf"), dim=1)
    if not bool(largest.isfinite().all()):
        raise StratError.about(argument, "must be finite, got NaN or infinity; drop these rows.")
    if form == "cosine":
        if not bool(largest.all()):
            raise StratError.about(argument, "must not have zero vectors under cosine; drop these rows.")
        _make_unit(out, largest)
    return out


def _sent(rows: Any, device: Any) -> Any:
    """Rows on the device. Host memory goes through a pinned block, from which the card fetches by itself."""
    torch = load_torch()
    if not isinstance(rows, torch.Tensor):
        rows = np.ascontiguousarray(rows)
        rows = torch.from_numpy(rows if rows.flags.writeable else rows.copy())
    if rows.device.type == "cpu" and device.type == "cuda":
        rows = torch.empty(rows.shape, dtype=rows.dtype, pin_memory=True).copy_(rows)
    return rows.to(device=device, non_blocking=True)


def _make_unit(rows: Any, largest: Any) -> None:
    """`rounding.unit` in place, bit for bit."""
    rows *= rounding.power_of_two(largest)[:, None]
    everyone = load_torch().arange(len(rows), device=rows.device)
    rows /= rounding.square_root(pair_sums(rows, rows, everyone, everyone, distance=False))[:, None]


def _codes(values: Any, device: Any) -> Any:
    torch = load_torch()
    if not isinstance(values, torch.Tensor):
        values = torch.from_numpy(np.array(values))
    codes = values.to(device=device, dtype=torch.int64)
    if len(codes) and (int(codes.min()) < -1 or int(codes.max()) >= 2**31):
        raise StratError(
            f"codes must be whole numbers from 0 to 2^31 − 1, or −1 for no subject, got {int(codes.min())} to "
            f"{int(codes.max())}; number the subjects in order."
        )
    return codes
