"""Critical-difference diagrams as inline SVG: systems on a line, with bars over those not distinguishable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from markupsafe import Markup

from strat.base.errors import visible
from strat.base.validate.columns import Array
from strat.show.report.axes import domain, tick_texts, ticks

CLASSIC = 24
_NAME = 26
_LETTER = 8.2
_AXIS = 330.0


@dataclass(frozen=True)
class _Ladder:
    """What a diagram shows: names and places, best first, bars, the range of the line, and what is written on it."""

    names: Sequence[str]
    places: Array
    groups: Sequence[tuple[int, int]]
    low: float
    high: float
    difference: tuple[float, str] | None
    falling: bool
    unit: str

    @property
    def marks(self) -> list[tuple[float, str]]:
        """The ticks and their numbers."""
        values = ticks(self.low, self.high, 6)
        return list(zip(values, tick_texts(values), strict=True))

    def at(self, value: float, left: float) -> float:
        """Where a value lies on a line that starts at `left`."""
        share = (value - self.low) / (self.high - self.low)
        return left + _AXIS * (1 - share if self.falling else share)


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
    """Systems on a line, best first, with bars over those that are not distinguishable.

    `names` and `places` are in the order best first; `groups` holds first and last positions of each bar;
    `falling` puts the largest place at the left.
    """
    names = [visible(name) for name in names]
    low, high = limits or domain(list(places), pad=0.02)
    if difference is not None:
        high = max(high, low + 1.02 * difference[0])
    content = _Ladder(names, np.asarray(places, float), groups, low, high, difference, falling, unit)
    return _classic(content) if len(names) <= CLASSIC else _tall(replace(content, falling=False))


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
    levels = []
    for first, last in groups:
        level = next((k for k, end in enumerate(ends) if end < first), len(ends))
        ends[level:] = [last] if level == len(ends) else [last, *ends[level + 1 :]]
        levels.append(level)
    return levels


def _classic(content: _Ladder) -> Markup:
    """Names on both sides, joined with their places on the line by leaders."""
    names, half = content.names, (len(content.names) + 1) // 2
    left, top = 20.0 + max(_room(names[:half]), 20.0), 62.0
    right = left + _AXIS
    parts = [Markup('<path class="rule" d="M{} {}H{}"/>').format(left, top, right)]
    for value, label in content.marks:
        x = content.at(value, left)
        parts.append(Markup('<path class="rule" d="M{} {}v-6"/>').format(round(x, 1), top))
        parts.append(_text(x, top - 11, label, name="tick"))
    parts.append(_text(left, 14, content.unit, "start", "tick"))
    width = right + 20 + _room(names[half:])
    if content.difference is not None:
        size, label = content.difference
        end = left + _AXIS * size / (content.high - content.low)
        width = max(width, end + 8 + _LETTER * len(label))
        parts.append(Markup('<path class="cd" d="M{} 28v8m0 -4H{}m0 -4v8"/>').format(left, round(end, 1)))
        parts.append(_text(end + 8, 36, label, "start", "tick"))
    levels = _levels(content.groups)
    for (first, last), level in zip(content.groups, levels, strict=True):
        a, b = sorted(content.at(content.places[k], left) for k in (first, last))
        y = top + 14 + 9 * level
        parts.append(Markup('<path class="group" d="M{} {}H{}"/>').format(round(a - 3, 1), y, round(b + 3, 1)))
    below = top + 22 + 9 * (max(levels, default=-1) + 1)
    return _picture(width, below + 22 * half + 12, [*parts, *_leaders(content, left, top, below)])


def _leaders(content: _Ladder, left: float, top: float, below: float) -> list[Markup]:
    """Each name, the better half at the left, and the line from it to its place."""
    number = len(content.names)
    half, right = (number + 1) // 2, left + _AXIS
    parts = []
    for k, (name, place) in enumerate(zip(content.names, content.places.tolist(), strict=True)):
        first_half = k < half
        y = below + 22 * (k if first_half else number - 1 - k) + 10
        x, edge = content.at(place, left), left - 10 if first_half else right + 10
        parts.append(Markup('<path class="leader" d="M{} {}V{}H{}"/>').format(round(x, 1), top, y, edge))
        parts.append(_text(edge - 5 if first_half else edge + 5, y + 4, name, "end" if first_half else "start"))
    return parts


def _tall(content: _Ladder) -> Markup:
    """One line for each name, where there are too many for leaders."""
    left, top, row = 20.0 + _room(content.names), 40.0, 17.0
    right, bottom = left + _AXIS, top + row * len(content.names)
    parts = [_text(left, 12, content.unit, "start", "tick")]
    for value, label in content.marks:
        x = content.at(value, left)
        parts.append(Markup('<path class="gridline" d="M{} {}V{}"/>').format(round(x, 1), top - 4, bottom))
        parts.append(_text(x, top - 9, label, name="tick"))
    for k, (name, place) in enumerate(zip(content.names, content.places.tolist(), strict=True)):
        y = top + row * (k + 0.5)
        x = content.at(place, left)
        parts.append(_text(left - 10, y + 4, name, "end"))
        parts.append(Markup('<circle class="point" cx="{}" cy="{}" r="3.5"/>').format(round(x, 1), y))
    levels = _levels(content.groups)
    for (first, last), level in zip(content.groups, levels, strict=True):
        x = right + 16 + 9 * level
        y0, y1 = top + row * (first + 0.2), top + row * (last + 0.8)
        parts.append(Markup('<path class="group" d="M{} {}V{}"/>').format(x, round(y0, 1), round(y1, 1)))
    return _picture(right + 30 + 9 * (max(levels, default=0) + 1), bottom + 8, parts)


def _picture(width: float, height: float, parts: Sequence[Markup]) -> Markup:
    head = Markup(
        '<div class="scroll" tabindex="0" role="group" aria-label="Diagram, scrolls sideways">'
        '<svg class="ladder" viewBox="0 0 {} {}" width="{}" height="{}" aria-hidden="true" focusable="false">'
    ).format(round(width), round(height), round(width), round(height))
    return head + Markup("").join(parts) + Markup("</svg></div>")
