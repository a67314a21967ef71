"""Estimates over an axis of numbers as curves with limits and bands."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array
from strat.estimation import Estimate
from strat.estimation.curves import WORDS as PAIRS
from strat.estimation.curves import of_estimate as of_estimate_curve
from strat.show.report.curve_charts import Frame, Series, curves
from strat.show.report.model import Figure
from strat.show.report.scores import figure_of
from strat.show.report.wording import capital, named, number, percent, places

if TYPE_CHECKING:
    pass

LEVEL = 0.95
WORDS = {
    "fpr": "false positive rate",
    "tpr": "true positive rate",
    "fnr": "false negative rate",
    "tpr at fpr": "true positive rate",
    "fnr at fpr": "false negative rate",
}


def is_curve(estimate: Estimate) -> bool:
    """Whether its last axis is a row of numbers."""
    labels = estimate.axes[-1].labels
    return (
        len(labels) > 2
        and estimate.point.ndim <= 2
        and all(isinstance(v, int | float) and not isinstance(v, bool) for v in labels)
    )


def curve_sentence(estimate: Estimate) -> str:
    """What the curve says at one place that people ask for: a false positive rate of 0.1, or the middle."""
    if estimate.curve is not None and estimate.point.ndim == 2:
        first, second = PAIRS[estimate.curve]
        at = f"{estimate.point.shape[1]:,} {estimate.axes[-1].name}s"
        return f"{named(estimate)}: {first} and {second} at {at}."
    x = np.asarray(estimate.axes[-1].labels, float)
    across, up = (WORDS.get(name, name) for name in (estimate.axes[-1].name, estimate.name))
    k = int(np.argmin(np.abs(x - 0.1))) if estimate.axes[-1].name == "fpr" else len(x) // 2
    low, high = (np.atleast_2d(side) for side in estimate.interval(LEVEL))
    names = [""] if estimate.point.ndim == 1 else [f" for {v}" for v in estimate.axes[0].labels]
    sentences = []
    for i, name in enumerate(names[:3]):
        d = places(float(np.atleast_2d(estimate.se)[i, k]))
        v, a, b = (number(float(np.atleast_2d(t)[i, k]), d) for t in (estimate.point, low, high))
        sentences.append(f"{v} (95 % interval {a} to {b}){name}")
    return f"At {across} {x[k]:.3g} the {up} is {' and '.join(sentences)}."


def figure_of_curve(estimate: Estimate) -> Figure:
    """The picture of a curve, by its kind where it has one."""
    if estimate.curve is not None:
        return figure_of(of_estimate_curve(estimate, LEVEL))
    x = np.asarray(estimate.axes[-1].labels, float)
    names = [estimate.name] if estimate.point.ndim == 1 else [str(v) for v in estimate.axes[0].labels]
    across, up = estimate.axes[-1].name, estimate.name
    return curve_figure(estimate, x, names, x_label=WORDS.get(across, across), y_label=WORDS.get(up, up))


def curve_figure(
    estimate: Estimate,
    x: Array,
    names: list[str],
    *,
    x_label: str,
    y_label: str,
    x_log: bool = False,
    least: float | None = None,
    caption: str = "",
) -> Figure:
    """Curves over the last axis with pointwise limits (dark) and a simultaneous band (light).

    With `least` the upright axis is logarithmic, and what lies lower is drawn there.
    """
    values = np.atleast_2d(estimate.point)
    low, high = (_drawn(side, values) for side in estimate.interval(LEVEL))
    banded = estimate.inference.spread is not None and estimate.point.size <= LIMITS.banded_values
    outer = estimate.band(LEVEL) if banded else (low, high)
    lower, upper = (_drawn(side, values) for side in outer)
    series = [
        Series(name, x, values[k], low[k], high[k], lower[k], upper[k]) for k, name in enumerate(names)
    ]  # fmt: skip
    seen = np.concatenate([lower, upper, values])
    up = _range(seen if least is None else np.maximum(seen, least), least is not None)
    frame = Frame(
        x_label, y_label, _range(x, x_log), up, x_log, least is not None,
    )  # fmt: skip
    text = caption or f"{capital(y_label)} by {x_label}."
    text += f" Dark: {percent(LEVEL)} interval at each point."
    text += " Light: band that holds for all points at once." if banded else ""
    return Figure(curves(series, frame), text, _spoken_curve(series, x_label), zooms=True)


def _drawn(side: Any, values: Array) -> Array:
    """Limits as lines of a picture; where there are none, the curve itself."""
    given = np.atleast_2d(side)
    return np.where(np.isfinite(given), given, values)


def _range(values: Array, log: bool) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    if log:
        finite = np.log10(finite[finite > 0])
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    if not log and low >= 0 and high <= 1:
        return (0.0 if low < 0.5 else math.floor(low * 10) / 10), 1.0
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _spoken_curve(series: list[Series], x_label: str) -> str:
    parts = []
    for s in series[:6]:
        parts.append(
            f"{s.name}: {s.y[0]:.3g} at {x_label} {s.x[0]:.3g}, {s.y[len(s.y) // 2]:.3g} at "
            f"{s.x[len(s.x) // 2]:.3g}, {s.y[-1]:.3g} at {s.x[-1]:.3g}"
        )
    return "; ".join(parts)
