"""Pictures as inline SVG: forests, curves with bands, critical-difference diagrams.

Shapes lie in a viewBox that stretches with the page while texts are HTML beside it, so that a picture fills a phone
and a desk, with letters of the same size. Every label goes through `Markup.format`, which escapes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from strat.show.report.axes import WIDE, domain, tick_texts, ticks
from strat.show.report.model import Bar, Mark


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
    marks = ticks(low, high, wanted)
    spans = [
        Markup('<span style="left:{}%">{}</span>').format(round(100 * (t - low) / (high - low), 2), label)
        for t, label in zip(marks, tick_texts(marks), strict=True)
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
