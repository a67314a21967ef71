"""What the difference of two systems says, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from strat.base.text import class_named
from strat.estimation.hypothesis_tests import p_text

if TYPE_CHECKING:
    from strat.comparison.paired_result import Comparison


def sentence(result: Comparison, level: float = 0.95) -> str:
    """The answer in words, with what independent rows would have said."""
    return "; ".join(part for part in answers(result, level) if part) + "."


def answers(result: Comparison, level: float = 0.95) -> tuple[str, str]:
    """The answer, and what independent rows would have said ("" where not asked for), without their full stops."""
    scale, unit = (100.0, " points") if result.share else (1.0, "")
    sign = 1.0 if result.higher_is_better else -1.0
    first, second = result.names if sign * result.value >= 0 else result.names[::-1]
    turn = scale * (1.0 if result.names[0] == first else -1.0) * sign
    low, high = sorted(turn * v for v in result.interval(level))
    digits = _digits(high - low)
    size = f"{digits(turn * result.value)}{unit}, {100 * level:g} % {digits(low)} to {digits(high)}"
    p = result.pvalue
    if p < 1.0 - level:
        text = f"{first} is better by {size}, {p_text(p)}"
    else:
        text = f"{first} is not shown to be better than {second}: {result.metric} differs by {size}, {p_text(p)}"
    if result.positive is not None:
        text += f" ({result.metric}, {class_named(result.positive)})"
    if result.independent is None:
        return text, ""
    a, b = sorted(turn * v for v in result.independent_interval(level))
    q = p_text(result.independent_pvalue)
    return text, f"treating rows as independent would have said {digits(a)} to {digits(b)}, {q}"


def _digits(width: float) -> Any:
    places = 1 if width >= 1.0 else min(6, 2 - math.floor(math.log10(width))) if width > 0 else 4
    return lambda v: f"{v + 0.0:.{places}f}"
