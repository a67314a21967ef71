"""Pictures with matplotlib: forests of values with intervals, and curves with limits.

The library is loaded when something is drawn. Every label from data goes through `drawable`, so that a dollar sign is
no formula and a control sign is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from strat.base import extras
from strat.base.errors import StratError, drawable
from strat.base.limits import LIMITS
from strat.base.text import class_named, number, of_class, places
from strat.base.validate.columns import Array
from strat.show.colours import BLUE, GREY, OKABE_ITO
from strat.show.figures import new_axes, open_frame

if TYPE_CHECKING:
    from strat.estimation.curves import Curve
    from strat.estimation.result import Estimate

ROW = 0.24  # inches for each row of a forest
TIGHT_ROW = 0.15
TIGHT_FROM = 60
SQUARE = (5.2, 5.2)
WEAK = 0.2  # equal error rate beyond which a DET picture shows all rates
OF_CURVE = "strat-curve"  # marks the lines of curves, so that the next one in the same axes gets the next colour
PROBIT_TICKS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99, 0.999)
DECADES = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.4, 0.8, 0.95)
BETWEEN = (2e-4, 5e-4, 2e-3, 5e-3, 0.02, 0.3, 0.5, 0.7, 0.9, 0.98)
ROOM, CHARACTER = 0.012, 0.0195  # of an axis: between the labels of two ticks, and for a character of a label


def draw(estimate: Estimate, ax: Any = None, level: float = 0.95) -> Any:
    """The picture that suits an estimate: its own kind of curve, a curve over numbers, or a forest."""
    if estimate.curve is not None:
        from strat.estimation.curves import of_estimate

        return draw_curve(of_estimate(estimate, level), ax)
    labels = estimate.axes[-1].labels if estimate.axes else ()
    if len(labels) > 1 and all(isinstance(v, int | float) and not isinstance(v, bool) for v in labels):
        return _lines(estimate, new_axes(ax), level, np.asarray(labels, float))
    name = estimate.name + of_class(estimate.positive)
    return forest(marks_of(estimate, level), ax, x_label=f"{name}, {100 * level:g} % interval")


# ---- forests


@dataclass(frozen=True)
class Mark:
    """A row of a forest: a label, a value and its limits (None: it has none)."""

    label: str
    value: float
    low: float | None
    high: float | None

    def text(self, decimals: int) -> str:
        """The value with its limits, as papers print it."""
        if self.low is None or self.high is None:
            return f"{number(self.value, decimals)} (no interval)"
        return f"{number(self.value, decimals)} ({number(self.low, decimals)}, {number(self.high, decimals)})"


def decimals(marks: Sequence[Mark]) -> int:
    """Decimals for a column of values: two figures of half the usual width of an interval."""
    widths = [mark.high - mark.low for mark in marks if mark.low is not None and mark.high is not None]
    return places(float(np.median(widths)) / 2) if widths else 3


def in_text(estimate: Estimate, level: float) -> str:
    """The first value of an estimate with its limits, as papers print it."""
    mark = marks_of(estimate, level)[0]
    return mark.text(decimals([mark]))


def marks_of(estimate: Estimate, level: float, name: str | None = None) -> list[Mark]:
    """A row for each value of an estimate."""
    places_of = [
        " · ".join(str(axis.labels[i]) for axis, i in zip(estimate.axes, at, strict=True))
        for at in np.ndindex(estimate.point.shape)
    ]
    if not estimate.axes:
        places_of = [name or estimate.name]
    elif name:
        places_of = [f"{name}: {place}" for place in places_of]
    values, sides = np.ravel(estimate.point).tolist(), limits(estimate, level)
    return [Mark(label, value, *side) for label, value, side in zip(places_of, values, sides, strict=True)]


def limits(estimate: Estimate, level: float) -> list[tuple[float | None, float | None]]:
    """The limits of each value; none where they can't be had (a group of one unit)."""
    if estimate.least_df <= 0:
        return [(None, None)] * estimate.point.size
    low, high = (np.ravel(np.asarray(side, float)).tolist() for side in estimate.interval(level))
    return list(zip(low, high, strict=True))


def forest(
    marks: Sequence[Mark], ax: Any = None, *, x_label: str = "", reference: float | None = None, note: str = ""
) -> Any:
    """Values with their intervals, one below the other, and in numbers at the right; a dashed line at `reference`.

    A new figure grows with the rows. More than `LIMITS.forest_rows` are cut, and the picture says so.
    """
    if not marks:
        raise StratError.about("estimates", "must hold at least one value to draw, got none.")
    shown = marks[: LIMITS.forest_rows]
    row = ROW if len(shown) <= TIGHT_FROM else TIGHT_ROW
    ax = new_axes(ax, (6.8, 0.95 + row * len(shown)))
    size = _font(ax, len(shown), row)
    y = np.arange(len(shown), dtype=float)
    if reference is not None:
        ax.axvline(reference, color=GREY, lw=1, ls="--", zorder=0, gid="strat-reference")
    _bars(ax, shown, y)
    ax.set_yticks(y, [drawable(mark.label) for mark in shown], fontsize=size)
    ax.tick_params("y", length=0)
    d = decimals(marks)
    for mark, place in zip(shown, y, strict=True):
        ax.annotate(
            mark.text(d), (1.0, place), (6, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
            va="center", fontsize=size, annotation_clip=False,
        )  # fmt: skip
    ax.set_ylim(len(shown) - 0.4, -0.6)
    left = len(marks) - len(shown)
    remarks = [text for text in (note, f"{left:,} more rows are not drawn" if left else "") if text]
    ax.set_xlabel("\n".join([drawable(x_label), *map(drawable, remarks)]))
    return ax


def _font(ax: Any, rows: int, row: float) -> float:
    """A size of letters at which rows don't touch."""
    height = ax.get_position().height * ax.figure.get_size_inches()[1] / rows if rows > 1 else row
    return float(np.clip(0.72 * 72 * min(row, height * 1.05), 3.0, 9.0))


def _bars(ax: Any, marks: Sequence[Mark], y: Array) -> None:
    drawn = [(mark, place) for mark, place in zip(marks, y, strict=True) if mark.low is not None]
    ax.hlines([p for _, p in drawn], [m.low for m, _ in drawn], [m.high for m, _ in drawn], color=BLUE, lw=1.8)
    ax.plot([mark.value for mark in marks], y, "o", color=BLUE, ms=4.5, ls="none")
    ax.margins(x=0.04)


# ---- curves of scores


def draw_curve(curve: Curve, ax: Any = None, *, name: str = "", color: str | None = None, band: bool = True) -> Any:
    """A ROC, DET, precision-recall or reliability curve with its limits; one more in the same axes adds to it."""
    ax = new_axes(ax, (5.2, 6.2) if curve.bars is not None else SQUARE)
    first = not any(line.get_gid() == OF_CURVE for line in ax.get_lines())
    color = color or OKABE_ITO[sum(line.get_gid() == OF_CURVE for line in ax.get_lines()) % len(OKABE_ITO)]
    if curve.kind == "det":
        x, y, regions = _inside(curve, band)
    else:
        x, y, regions = curve.x, curve.y, [curve.each, curve.whole if band else None]
    share = f"{100 * curve.level:g} %"
    words = (f"{share} interval at each {curve.places}", f"{share} band of the whole curve")
    if curve.kind == "calibration":
        _points(ax, curve, color, name)
    else:
        ax.plot(x, y, color=color, lw=1.7, gid=OF_CURVE, label=_legend(curve, name), zorder=3)
        for region, alpha, label in zip(regions, (0.28, 0.13), words, strict=True):
            if region is not None:
                _fill(ax, region, color, alpha, label if first else None)
    if first:
        _background(ax, curve)
    _framed(ax, curve)
    return ax


def _legend(curve: Curve, name: str) -> str:
    """The name and the figure of a curve, with its interval."""
    parts = [drawable(name)] if name else []
    if curve.figure is not None:
        parts.append(f"{curve.symbol} {in_text(curve.figure, curve.level)}")
    return ": ".join(parts) or {"roc": "ROC", "det": "DET"}.get(curve.kind, curve.up)


def _fill(ax: Any, region: tuple[Array, Array], color: str, alpha: float, label: str | None) -> None:
    (x0, y0), (x1, y1) = region
    ax.fill(np.r_[x0, x1[::-1]], np.r_[y0, y1[::-1]], color=color, alpha=alpha, lw=0, label=label)


def _points(ax: Any, curve: Curve, color: str, name: str) -> None:
    """The bins of a reliability diagram, with upright intervals, and the histogram of probabilities below."""
    assert curve.each is not None
    (_, high), (_, low) = curve.each
    label = _legend(curve, name)
    below, above = (np.maximum(side, 0.0) for side in (curve.y - low, high - curve.y))
    bars = ax.errorbar(
        curve.x, curve.y, np.stack([below, above]), fmt="none", ecolor=color, elinewidth=1.4, capsize=2.5
    )
    bars.set_label(f"{100 * curve.level:g} % interval at each bin")
    ax.plot(curve.x, curve.y, "o-", color=color, lw=1.2, ms=4.5, gid=OF_CURVE, label=label)
    if curve.bars is None:
        return
    edges, heights = curve.bars
    under = ax.inset_axes((0.0, -0.4, 1.0, 0.2), sharex=ax)
    under.bar(edges[:-1], heights, np.diff(edges), align="edge", color=color, alpha=0.5, lw=0)
    under.set_ylabel("rows")
    under.tick_params("x", labelbottom=False)
    under.yaxis.set_major_formatter("{x:,.0f}")
    open_frame(under)


def _background(ax: Any, curve: Curve) -> None:
    """What a curve is compared with: the diagonal, or the share of positives."""
    labels = {"roc": "no better than chance", "calibration": "perfect calibration"}
    if curve.diagonal:
        ax.plot([0, 1], [0, 1], color=GREY, lw=1, ls="--", zorder=1, gid="strat-diagonal", label=labels[curve.kind])
    if curve.prevalence is not None:
        label = f"share of positives {number(curve.prevalence, 3)}"
        ax.axhline(curve.prevalence, color=GREY, lw=1, ls="--", zorder=1, gid="strat-prevalence", label=label)


def _framed(ax: Any, curve: Curve) -> None:
    across, up = curve.across, curve.up
    if curve.kind == "det":
        _probit(ax, curve)
        across, up = f"{across} (%)", f"{up} (%)"
    else:
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        ax.set_aspect("equal")
    positive = "" if curve.positive is None else f"\n{drawable(class_named(curve.positive))}"
    ax.set(xlabel=across + positive, ylabel=up)
    ax.legend(frameon=False, loc=_corner(curve), fontsize=8)


def _corner(curve: Curve) -> str:
    """The corner of the picture that its curve leaves free."""
    if curve.kind == "precision_recall":
        return "lower left" if float(np.mean(curve.y)) > 0.5 else "upper right"
    return {"roc": "lower right", "det": "upper right", "calibration": "upper left"}[curve.kind]


def _crossing(curve: Curve) -> float:
    """About where both rates of a DET curve are equal."""
    return float(np.maximum(curve.x, curve.y).min())


# ---- normal deviate axes


def _inside(curve: Curve, band: bool) -> tuple[Array, Array, list[Any]]:
    """The points of a DET curve that normal deviates have a place for, and its regions, held within that."""
    least, most = PROBIT_TICKS[0], PROBIT_TICKS[-1]
    keep = (curve.x > 0) & (curve.x < 1)
    held = [
        None if edges is None else tuple(np.clip(edge, least, most) for edge in edges)
        for edges in (curve.each, curve.whole if band else None)
    ]
    return curve.x[keep], np.clip(curve.y[keep], least, most), held


def _det_limits(curve: Curve) -> tuple[float, float, float, float]:
    """The smallest and largest rates of a DET picture: what was seen, as far as it is of use and ticks go."""
    top = 0.6 if _crossing(curve) < WEAK else PROBIT_TICKS[-1]
    limits = []
    for rates, others in ((curve.x, curve.y), (curve.y, curve.x)):
        seen = rates[(rates > 0) & (rates < 1) & (others <= top)]
        low, high = (float(seen.min()), float(seen.max())) if seen.size else (0.01, top)
        limits += [max(low, PROBIT_TICKS[0]), max(min(high, top), 2 * low)]
    return limits[0], limits[1], limits[2], limits[3]


def _probit(ax: Any, curve: Curve) -> None:
    probit_axes(ax)
    low_x, high_x, low_y, high_y = _det_limits(curve)
    if sum(line.get_gid() == OF_CURVE for line in ax.get_lines()) > 1:
        (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
        low_x, high_x, low_y, high_y = min(low_x, x0), max(high_x, x1), min(low_y, y0), max(high_y, y1)
    ax.set(xlim=(low_x, high_x), ylim=(low_y, high_y))
    probit_ticks(ax)


def probit_axes(ax: Any) -> None:
    """Normal deviates on both axes."""
    from scipy.special import ndtr, ndtri

    scale = {"functions": (lambda p: ndtri(np.clip(p, 1e-9, 1 - 1e-9)), ndtr)}
    ax.set_xscale("function", **scale)
    ax.set_yscale("function", **scale)
    ax.grid(True, color="0.9", lw=0.6)
    ax.set_axisbelow(True)


def limits_last(ax: Any, **style: Any) -> None:
    """The legend with the curves first, then what their limits are."""
    handles, labels = ax.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda k: not hasattr(handles[k], "get_markersize"))  # lines are first
    ax.legend([handles[k] for k in order], [labels[k] for k in order], frameon=False, **style)


def plain_log_ticks(side: Any) -> None:
    """Ticks of a logarithmic axis at 1, 2 and 5 of each power of ten, as plain numbers."""
    ticker = extras.load("matplotlib.ticker")
    side.set_major_locator(ticker.LogLocator(10.0, (1.0, 2.0, 5.0)))
    side.set_major_formatter(ticker.FuncFormatter(lambda v, _: f"{v:,.6g}"))
    side.set_minor_locator(ticker.NullLocator())


def probit_ticks(ax: Any) -> None:
    """The ticks of a DET plot within the limits of its axes, as percentages."""
    from scipy.special import ndtri

    ticker = extras.load("matplotlib.ticker")
    for side, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        low, high = np.sort(np.clip(limits, 1e-9, 1 - 1e-9))
        length = np.ptp(ndtri([low, high]))
        ticks: list[float] = []
        for tick in (*DECADES, *PROBIT_TICKS, *BETWEEN):  # the first ones where there is not room for all
            if low <= tick <= high and all(
                abs(ndtri(tick) - ndtri(other)) >= _room(tick, other) * length for other in ticks
            ):
                ticks.append(tick)
        side.set_major_locator(ticker.FixedLocator(sorted(ticks)))
        side.set_minor_locator(ticker.NullLocator())
        side.set_major_formatter(ticker.FuncFormatter(lambda p, _: _percent(p)))


def _room(*ticks: float) -> float:
    """The share of an axis between two ticks that their labels take."""
    return ROOM + CHARACTER * sum(len(_percent(tick)) for tick in ticks) / 2


def _percent(share: float) -> str:
    return f"{100 * share:.6g}"


# ---- other curves


def _lines(estimate: Estimate, ax: Any, level: float, x: Array) -> Any:
    """Values over a numeric axis, a line for each label of the first of two axes; a dashed one at a zero between."""
    low, high = (np.atleast_2d(side) for side in estimate.interval(level))
    outer = estimate.band(level) if estimate.inference.spread is not None else None
    share = f"{100 * level:g} %"
    for i, values in enumerate(np.atleast_2d(estimate.point)):
        name = estimate.name if estimate.point.ndim == 1 else str(estimate.axes[0].labels[i])
        color = OKABE_ITO[i % len(OKABE_ITO)]
        ax.plot(x, values, label=drawable(name), color=color, gid=OF_CURVE)
        labels = (f"{share} interval at each point", f"{share} band of the whole curve") if i == 0 else (None, None)
        ax.fill_between(x, low[i], high[i], color=color, alpha=0.28, lw=0, label=labels[0])
        if outer is not None:
            lower, upper = (np.atleast_2d(side)[i] for side in outer)
            ax.fill_between(x, lower, upper, color=color, alpha=0.13, lw=0, label=labels[1])
    if low.min() < 0 < high.max():
        ax.axhline(0.0, color=GREY, lw=1, ls="--", zorder=0, gid="strat-reference")
    ax.set_xlabel(drawable(estimate.axes[-1].name))
    ax.set_ylabel(drawable(estimate.name + of_class(estimate.positive)))
    ax.legend(frameon=False, fontsize=8)
    return ax
