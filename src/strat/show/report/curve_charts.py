"""Curves with bands as inline SVG, with what hovering and zooming need."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from strat.base.validate.columns import Array
from strat.show.report.axes import WIDE, log_text, log_ticks, tick_texts, ticks

POINTS = 400
COLOURS = 8


@dataclass(frozen=True)
class Series:
    """A curve: where it runs, its pointwise limits, and the band that holds for all points at once.

    `region` is a closed shape, such as the band of a ROC curve. `dots` draws points with upright intervals in place of
    shades.
    """

    name: str
    x: Array
    y: Array
    low: Array | None = None
    high: Array | None = None
    band_low: Array | None = None
    band_high: Array | None = None
    region: tuple[Array, Array] | None = None
    dots: bool = False


@dataclass(frozen=True)
class Frame:
    """The axes of a picture of curves."""

    x_label: str
    y_label: str
    x: tuple[float, float]
    y: tuple[float, float]
    x_log: bool = False
    y_log: bool = False
    diagonal: bool = False
    level: float | None = None

    def across(self, values: Array) -> Array:
        """Values to places in the viewBox, left to right."""
        v = np.log10(np.maximum(values, 10.0 ** self.x[0])) if self.x_log else values
        return WIDE * (v - self.x[0]) / (self.x[1] - self.x[0])

    def down(self, values: Array) -> Array:
        """Values to places in the viewBox, top to bottom."""
        v = np.log10(np.maximum(values, 10.0 ** self.y[0])) if self.y_log else values
        return WIDE - WIDE * (v - self.y[0]) / (self.y[1] - self.y[0])


def curves(series: Sequence[Series], frame: Frame) -> Markup:
    """Curves with bands, a legend, and what hovering and zooming need."""
    thin = [_thinned(s) for s in series]
    settings = {
        "x": frame.x, "y": frame.y, "xlog": frame.x_log, "ylog": frame.y_log,
        "xlabel": frame.x_label, "ylabel": frame.y_label, "series": [_hover(s) for s in thin],
    }  # fmt: skip
    return Markup(
        '<div class="curves" data-chart="{}">{}<div class="area"><div class="ylabel" aria-hidden="true">{}</div>'
        '<div class="yticks" aria-hidden="true">{}</div><div class="canvas" tabindex="0" role="group" '
        'aria-label="Curve; arrow keys read its points, plus and minus zoom, 0 resets"><svg viewBox="0 0 1000 1000" '
        'preserveAspectRatio="none" aria-hidden="true" focusable="false">{}</svg><i class="cursor" hidden></i></div>'
        '<div class="xticks" aria-hidden="true">{}</div><div class="xlabel" aria-hidden="true">{}</div></div></div>'
    ).format(
        json.dumps(settings, separators=(",", ":"), allow_nan=False),
        _legend(series),
        frame.y_label,
        _ticks(frame.y, frame.y_log, "bottom"),
        Markup("").join([*_reference_lines(frame), *_drawn(thin, frame)]),
        _ticks(frame.x, frame.x_log, "left"),
        frame.x_label,
    )


def _reference_lines(frame: Frame) -> list[Markup]:
    """The grid, the diagonal and the level, where they are wanted."""
    lines = [_grid_lines(frame)]
    if frame.diagonal:
        lines.append(Markup('<path class="ref" d="M0 1000L1000 0"/>'))
    if frame.level is not None:
        down = round(float(frame.down(np.asarray(frame.level))), 1)
        lines.append(Markup('<path class="ref" d="M0 {}H1000"/>').format(down))
    return lines


def _drawn(series: Sequence[Series], frame: Frame) -> list[Markup]:
    """The bands of all curves, and above them the curves."""
    paths = [_path(frame.across(s.x), frame.down(s.y)) for s in series]
    curve = Markup('<path class="curve s{}" d="{}"/>')
    return [
        *(_areas(s, frame, k) for k, s in enumerate(series)),
        *(curve.format(k % COLOURS, path) for k, path in enumerate(paths)),
    ]


def _legend(series: Sequence[Series]) -> Markup:
    if len(series) < 2:
        return Markup("")
    names = [Markup('<li class="s{}">{}</li>').format(k % COLOURS, s.name) for k, s in enumerate(series)]
    return Markup('<ul class="legend">') + Markup("").join(names) + Markup("</ul>")


def _ticks(limits: tuple[float, float], log: bool, side: str) -> Markup:
    low, high = limits
    marks = log_ticks(low, high) if log else ticks(low, high)
    words = [log_text(t) for t in marks] if log else tick_texts(marks)
    return Markup("").join(
        Markup('<span style="{}:{}%">{}</span>').format(side, round(100 * (t - low) / (high - low), 2), label)
        for t, label in zip(marks, words, strict=True)
    )


def _grid_lines(frame: Frame) -> Markup:
    across = log_ticks(*frame.x) if frame.x_log else ticks(*frame.x)
    up = log_ticks(*frame.y) if frame.y_log else ticks(*frame.y)
    lines = [f"M{WIDE * (t - frame.x[0]) / (frame.x[1] - frame.x[0]):.1f} 0V1000" for t in across]
    lines += [f"M0 {WIDE - WIDE * (t - frame.y[0]) / (frame.y[1] - frame.y[0]):.1f}H1000" for t in up]
    return Markup('<path class="gridline" d="{}"/>').format("".join(lines))


def _thinned(series: Series) -> Series:
    n = len(series.x)
    if n <= POINTS:
        return series
    keep = _kept(n)

    def cut(values: Array | None) -> Array | None:
        return None if values is None else values[keep]

    return replace(
        series, x=series.x[keep], y=series.y[keep], low=cut(series.low), high=cut(series.high),
        band_low=cut(series.band_low), band_high=cut(series.band_high),
    )  # fmt: skip


def _areas(series: Series, frame: Frame, k: int) -> Markup:
    areas = []
    if series.dots:
        return _whiskers(series, frame, k)
    if series.region is not None:
        (x0, y0), (x1, y1) = (edge[:, _kept(edge.shape[1])] for edge in series.region)
        areas.append(_closed(frame, x0, y0, x1, y1, f"region s{k % COLOURS}"))
    for low, high, name in ((series.band_low, series.band_high, "band"), (series.low, series.high, "limits")):
        if low is not None and high is not None:
            areas.append(_closed(frame, series.x, high, series.x, low, f"{name} s{k % COLOURS}"))
    return Markup("").join(areas)


def _kept(n: int) -> NDArray[np.int64]:
    """Places of the points that are drawn."""
    return np.unique(np.linspace(0, n - 1, min(n, POINTS)).astype(np.int64))


def _whiskers(series: Series, frame: Frame, k: int) -> Markup:
    """Points with upright intervals."""
    assert series.low is not None
    assert series.high is not None
    across = frame.across(series.x).tolist()
    upright = zip(across, frame.down(series.low).tolist(), frame.down(series.high).tolist(), strict=True)
    bars = "".join(f"M{a:.1f} {b:.1f}V{c:.1f}" for a, b, c in upright)
    points = "".join(f"M{a:.1f} {b:.1f}h.01" for a, b in zip(across, frame.down(series.y).tolist(), strict=True))
    return Markup('<path class="whisker s{0}" d="{1}"/><path class="bead s{0}" d="{2}"/>').format(
        k % COLOURS, bars, points
    )


def _closed(frame: Frame, x0: Array, y0: Array, x1: Array, y1: Array, name: str) -> Markup:
    there = _path(frame.across(x0), frame.down(y0))
    back = _path(frame.across(x1)[::-1], frame.down(y1)[::-1])
    return Markup('<path class="{}" d="{}L{}Z"/>').format(name, there, back[1:])


def _path(x: Array, y: Array) -> str:
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _hover(series: Series) -> dict[str, Any]:
    data: dict[str, Any] = {"name": series.name, "x": _short(series.x), "y": _short(series.y)}
    for key, values in (("lo", series.low), ("hi", series.high)):
        if values is not None:
            data[key] = _short(values)
    return data


def _short(values: NDArray[Any]) -> list[float | None]:
    return [float(f"{v:.5g}") if math.isfinite(v) else None for v in values.tolist()]
