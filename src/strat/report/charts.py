"""Pictures as inline SVG: forests, curves with bands, critical-difference diagrams.

Shapes lie in a viewBox that stretches with the page while texts are HTML beside it, so that a picture fills a phone
and a desk alike with letters of the same size. Every label goes through `Markup.format`, which escapes it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from strat.columns import Array
from strat.report.parts import Bar, Mark

WIDE = 1000.0
POINTS = 400
COLOURS = 8


def domain(numbers: Sequence[float | None], *also: float | None, pad: float = 0.05) -> tuple[float, float]:
    """The range of an axis that shows all finite numbers, with a little air."""
    found = [float(v) for v in (*numbers, *also) if v is not None and math.isfinite(v)]
    if not found:
        return 0.0, 1.0
    low, high = min(found), max(found)
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
    found = [math.log10(m) + t for t in tens for m in ((1, 2, 5) if many else (1,))]
    return [t for t in found if low - 1e-9 <= t <= high + 1e-9]


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


# ---- forests


def forest_cell(mark: Mark, low: float, high: float, reference: float | None) -> Markup:
    """One row of a forest plot."""

    def at(value: float) -> float:
        return round(WIDE * (value - low) / (high - low), 2)

    parts = []
    if reference is not None:
        parts.append(Markup('<path class="ref" d="M{} 0V24"/>').format(at(reference)))
    if mark.naive_low is not None and mark.naive_high is not None:
        parts.append(Markup('<path class="naive" d="M{} 19H{}"/>').format(at(mark.naive_low), at(mark.naive_high)))
    if mark.low is not None and mark.high is not None:
        parts.append(Markup('<path class="ci" d="M{} 12H{}"/>').format(at(mark.low), at(mark.high)))
    if mark.value is not None:
        parts.append(Markup('<path class="dot" d="M{} 12h.01"/>').format(at(mark.value)))
    head = Markup('<svg viewBox="0 0 1000 24" preserveAspectRatio="none" aria-hidden="true" focusable="false">')
    return head + Markup("").join(parts) + Markup("</svg>")


def axis(low: float, high: float, wanted: int = 3) -> Markup:
    """The ticks of a forest's head."""
    found = ticks(low, high, wanted)
    spans = [
        Markup('<span style="left:{}%">{}</span>').format(round(100 * (t - low) / (high - low), 2), said)
        for t, said in zip(found, tick_texts(found), strict=True)
    ]
    head = Markup('<div class="axis" aria-hidden="true" data-low="{}" data-high="{}">').format(low, high)
    return head + Markup("").join(spans) + Markup("</div>")


def bars(given: Sequence[Bar], reference: float | None) -> Markup:
    """The picture beside the answer: an honest interval above the naive one."""
    low, high = domain([v for bar in given for v in (bar.low, bar.high)], reference, pad=0.12)
    rows = []
    for bar in given:
        mark = Mark(bar.value, bar.low, bar.high)
        rows.append(
            Markup('<div class="bar{}"><span>{}</span>{}</div>').format(
                " is-naive" if bar.naive else "", bar.label, forest_cell(mark, low, high, reference)
            )
        )
    return Markup("").join(rows) + Markup('<div class="bar"><span></span>{}</div>').format(axis(low, high))


# ---- curves


@dataclass(frozen=True)
class Series:
    """A curve: where it runs, its pointwise limits, and the band that holds for all points at once."""

    name: str
    x: Array
    y: Array
    low: Array | None = None
    high: Array | None = None
    band_low: Array | None = None
    band_high: Array | None = None
    region: tuple[Array, Array] | None = None


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
    shapes = [_grid_lines(frame)]
    if frame.diagonal:
        shapes.append(Markup('<path class="ref" d="M0 1000L1000 0"/>'))
    thin = [_thinned(s) for s in series]
    shapes += [_areas(s, frame, k) for k, s in enumerate(thin)]
    shapes += [
        Markup('<path class="curve s{}" d="{}"/>').format(k % COLOURS, _path(frame.across(s.x), frame.down(s.y)))
        for k, s in enumerate(thin)
    ]
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
        Markup("").join(shapes),
        _ticks(frame.x, frame.x_log, "left"),
        frame.x_label,
    )


def _legend(series: Sequence[Series]) -> Markup:
    if len(series) < 2:
        return Markup("")
    names = [Markup('<li class="s{}">{}</li>').format(k % COLOURS, s.name) for k, s in enumerate(series)]
    return Markup('<ul class="legend">') + Markup("").join(names) + Markup("</ul>")


def _ticks(limits: tuple[float, float], log: bool, side: str) -> Markup:
    low, high = limits
    found = log_ticks(low, high) if log else ticks(low, high)
    words = [log_text(t) for t in found] if log else tick_texts(found)
    return Markup("").join(
        Markup('<span style="{}:{}%">{}</span>').format(side, round(100 * (t - low) / (high - low), 2), said)
        for t, said in zip(found, words, strict=True)
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
    keep = np.unique(np.linspace(0, n - 1, POINTS).astype(int))

    def cut(values: Array | None) -> Array | None:
        return None if values is None else values[keep]

    region = None if series.region is None else (series.region[0][:, keep], series.region[1][:, keep])
    return Series(
        series.name, series.x[keep], series.y[keep], cut(series.low), cut(series.high), cut(series.band_low),
        cut(series.band_high), region,
    )  # fmt: skip


def _areas(series: Series, frame: Frame, k: int) -> Markup:
    made = []
    if series.region is not None:
        (x0, y0), (x1, y1) = series.region
        made.append(_closed(frame, x0, y0, x1, y1, f"region s{k % COLOURS}"))
    for low, high, name in ((series.band_low, series.band_high, "band"), (series.low, series.high, "limits")):
        if low is not None and high is not None:
            made.append(_closed(frame, series.x, high, series.x, low, f"{name} s{k % COLOURS}"))
    return Markup("").join(made)


def _closed(frame: Frame, x0: Array, y0: Array, x1: Array, y1: Array, name: str) -> Markup:
    there = _path(frame.across(x0), frame.down(y0))
    back = _path(frame.across(x1)[::-1], frame.down(y1)[::-1])
    return Markup('<path class="{}" d="{}L{}Z"/>').format(name, there, back[1:])


def _path(x: Array, y: Array) -> str:
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _hover(series: Series) -> dict[str, Any]:
    found: dict[str, Any] = {"name": series.name, "x": _short(series.x), "y": _short(series.y)}
    for key, values in (("lo", series.low), ("hi", series.high)):
        if values is not None:
            found[key] = _short(values)
    return found


def _short(values: NDArray[Any]) -> list[float | None]:
    return [float(f"{v:.5g}") if math.isfinite(v) else None for v in values.tolist()]


# ---- critical-difference diagrams

CLASSIC = 24
_NAME = 26
_LETTER = 7.2
_AXIS = 330.0


def ladder(
    names: Sequence[str],
    places: Sequence[float],
    groups: Sequence[tuple[int, int]],
    *,
    difference: tuple[float, str] | None = None,
    falling: bool = False,
    unit: str = "",
    limits: tuple[float, float] | None = None,
) -> Markup:
    """Systems on a line, best first, with bars over those that are not told apart.

    `names` and `places` are in the order best first; `groups` holds first and last positions of each bar;
    `falling` puts the largest place at the left.
    """
    low, high = limits or domain(list(places), pad=0.02)
    if difference is not None:
        high = max(high, low + 1.02 * difference[0])
    draw = _classic if len(names) <= CLASSIC else _tall
    return draw(names, np.asarray(places, float), groups, low, high, difference, falling, unit)


def _text(x: float, y: float, text: str, anchor: str = "middle", name: str = "") -> Markup:
    short = text if len(text) <= _NAME else text[: _NAME - 1] + "…"
    full = Markup("<title>{}</title>").format(text) if short != text else Markup("")
    return Markup('<text x="{}" y="{}" text-anchor="{}" class="{}">{}{}</text>').format(
        round(x, 1), round(y, 1), anchor, name, full, short
    )


def _room(names: Sequence[str]) -> float:
    """Width that the longest of some names takes, cut as they are cut."""
    return _LETTER * max((min(len(name), _NAME) for name in names), default=0)


def _levels(groups: Sequence[tuple[int, int]]) -> list[int]:
    """A level for each bar so that no two on one level touch."""
    ends: list[int] = []
    found = []
    for first, last in groups:
        level = next((k for k, end in enumerate(ends) if end < first), len(ends))
        ends[level:] = [last] if level == len(ends) else [last, *ends[level + 1 :]]
        found.append(level)
    return found


def _classic(
    names: Sequence[str],
    places: Array,
    groups: Sequence[tuple[int, int]],
    low: float,
    high: float,
    difference: tuple[float, str] | None,
    falling: bool,
    unit: str,
) -> Markup:
    half = (len(names) + 1) // 2
    left, top = 20.0 + max(_room(names[:half]), 20.0), 62.0
    right = left + _AXIS

    def at(value: float) -> float:
        share = (value - low) / (high - low)
        return left + (right - left) * (1 - share if falling else share)

    parts = [Markup('<path class="rule" d="M{} {}H{}"/>').format(left, top, right)]
    marked = ticks(low, high, 6)
    for t, said in zip(marked, tick_texts(marked), strict=True):
        parts.append(Markup('<path class="rule" d="M{} {}v-6"/>').format(round(at(t), 1), top))
        parts.append(_text(at(t), top - 11, said, name="tick"))
    parts.append(_text(left, 14, unit, "start", "tick"))
    width = right + 20 + _room(names[half:])
    if difference is not None:
        end = left + (right - left) * difference[0] / (high - low)
        width = max(width, end + 8 + _LETTER * len(difference[1]))
        parts.append(Markup('<path class="cd" d="M{} 28v8m0 -4H{}m0 -4v8"/>').format(left, round(end, 1)))
        parts.append(_text(end + 8, 36, difference[1], "start", "tick"))
    levels = _levels(groups)
    for (first, last), level in zip(groups, levels, strict=True):
        a, b = sorted((at(places[first]), at(places[last])))
        y = top + 14 + 9 * level
        parts.append(Markup('<path class="group" d="M{} {}H{}"/>').format(round(a - 3, 1), y, round(b + 3, 1)))
    below = top + 22 + 9 * (max(levels, default=-1) + 1)
    for k, (name, place) in enumerate(zip(names, places.tolist(), strict=True)):
        first_half = k < half
        y = below + 22 * (k if first_half else len(names) - 1 - k) + 10
        x, edge = at(place), left - 10 if first_half else right + 10
        parts.append(Markup('<path class="leader" d="M{} {}V{}H{}"/>').format(round(x, 1), top, y, edge))
        parts.append(_text(edge - 5 if first_half else edge + 5, y + 4, name, "end" if first_half else "start"))
    height = below + 22 * half + 12
    return _picture(width, height, parts)


def _tall(
    names: Sequence[str],
    places: Array,
    groups: Sequence[tuple[int, int]],
    low: float,
    high: float,
    difference: tuple[float, str] | None,
    falling: bool,
    unit: str,
) -> Markup:
    left, top, row = 20.0 + _room(names), 40.0, 17.0
    right = left + _AXIS

    def at(value: float) -> float:
        return left + (right - left) * (value - low) / (high - low)

    parts = [_text(left, 12, unit, "start", "tick")]
    bottom = top + row * len(names)
    marked = ticks(low, high, 6)
    for t, said in zip(marked, tick_texts(marked), strict=True):
        parts.append(Markup('<path class="gridline" d="M{} {}V{}"/>').format(round(at(t), 1), top - 4, bottom))
        parts.append(_text(at(t), top - 9, said, name="tick"))
    for k, (name, place) in enumerate(zip(names, places.tolist(), strict=True)):
        y = top + row * (k + 0.5)
        parts.append(_text(left - 10, y + 4, name, "end"))
        parts.append(Markup('<circle class="point" cx="{}" cy="{}" r="3.5"/>').format(round(at(place), 1), y))
    for (first, last), level in zip(groups, _levels(groups), strict=True):
        x = right + 16 + 9 * level
        y0, y1 = top + row * (first + 0.2), top + row * (last + 0.8)
        parts.append(Markup('<path class="group" d="M{} {}V{}"/>').format(x, round(y0, 1), round(y1, 1)))
    return _picture(right + 30 + 9 * (max(_levels(groups), default=0) + 1), bottom + 8, parts)


def _picture(width: float, height: float, parts: Sequence[Markup]) -> Markup:
    head = Markup(
        '<div class="scroll" tabindex="0" role="group" aria-label="Diagram, scrolls sideways">'
        '<svg class="ladder" viewBox="0 0 {} {}" width="{}" height="{}" aria-hidden="true" focusable="false">'
    ).format(round(width), round(height), round(width), round(height))
    return head + Markup("").join(parts) + Markup("</svg></div>")
