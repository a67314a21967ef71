"""Axes of pictures: ranges, ticks and their numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

WIDE = 1000.0


def domain(numbers: Sequence[float | None], *also: float | None, pad: float = 0.05) -> tuple[float, float]:
    """The range of an axis that shows all finite numbers, with a little air."""
    finite = [float(v) for v in (*numbers, *also) if v is not None and math.isfinite(v)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    air = pad * (high - low) or max(abs(high) * 0.05, 1e-6)
    return low - air, high + air


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers within a range, about as many as wanted.

    >>> ticks(0.73, 0.91)
    [0.75, 0.8, 0.85, 0.9]
    """
    if not high > low:
        return [low]
    step = _step(low, high, wanted)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _step(low: float, high: float, wanted: int) -> float:
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999)


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten within a range of logarithms, with 2 and 5 between where there are few."""
    tens = range(math.floor(low), math.ceil(high) + 1)
    many = high - low < 2.5
    places = [math.log10(m) + t for t in tens for m in ((1, 2, 5) if many else (1,))]
    return [t for t in places if low - 1e-9 <= t <= high + 1e-9]


def tick_texts(values: Sequence[float]) -> list[str]:
    """The numbers of ticks, all with as many decimals as the one that needs most.

    >>> tick_texts([0.8, 0.85])
    ['0.80', '0.85']
    """
    digits = max((len(f"{v:.8g}".partition(".")[2]) for v in values if "e" not in f"{v:.8g}"), default=0)
    return [(f"{v:.{digits}f}" if "e" not in f"{v:.8g}" else f"{v:.6g}").replace("-", "−") for v in values]


def log_text(power: float) -> str:
    """The number of a tick on a logarithmic axis."""
    return f"{10.0**power:.6g}"
