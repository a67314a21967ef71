"""The critical-difference diagram: average ranks on a line, best at the left, bars over what does not differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import drawable
from strat.base.validate.columns import Array
from strat.show.colours import BLACK, BLUE, ORANGE
from strat.show.figures import new_axes


def cliques(same: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Largest runs [first, last] of neighbours of which no two differ, two or more long.

    >>> cliques(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], bool))
    [(0, 1), (1, 2)]
    """
    groups: list[tuple[int, int]] = []
    last = 0
    for first in range(len(same)):
        last = max(first, last)  # without its first system a run has no pair that it had not before
        while last + 1 < len(same) and same[first : last + 2, last + 1].all():
            last += 1
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups


def draw_groups(
    systems: Sequence[str],
    ranks: Array,
    same: NDArray[np.bool_],
    difference: float | None,
    alpha: float,
    ax: Any,
) -> Any:
    """Draw all pairs: a bar over each largest group that does not differ."""
    order = np.argsort(ranks, kind="stable")
    runs = cliques(same[np.ix_(order, order)])
    ax = _axes(ax, len(systems), len(runs))
    _scale(ax, len(systems), difference, alpha)
    level = 0.0
    for first, last in runs:
        level -= 0.35
        _bar(ax, ranks[order[first]], ranks[order[last]], level)
    _labels(ax, [systems[k] for k in order], ranks[order], level - 0.3, [BLACK] * len(systems))
    return ax


def draw_control(
    systems: Sequence[str],
    ranks: Array,
    control: str,
    same: Mapping[str, bool],
    difference: float | None,
    alpha: float,
    ax: Any,
) -> Any:
    """Draw a control: a bar from it over the systems that do not differ from it, the others in another colour."""
    order = np.argsort(ranks, kind="stable")
    joined = [ranks[k] for k, s in enumerate(systems) if s == control or same[s]]
    ax = _axes(ax, len(systems), 1)
    _scale(ax, len(systems), difference, alpha)
    level = -0.35
    _bar(ax, min(joined), max(joined), level)
    names = [f"{systems[k]} (control)" if systems[k] == control else systems[k] for k in order]
    colours = [BLUE if systems[k] == control else BLACK if same[systems[k]] else ORANGE for k in order]
    _labels(ax, names, ranks[order], level - 0.3, colours)
    return ax


def _axes(ax: Any, systems: int, bars: int) -> Any:
    ax = new_axes(ax, (8, 1.1 + 0.26 * ((systems + 1) // 2) + 0.12 * bars))
    ax.set_axis_off()
    return ax


def _scale(ax: Any, systems: int, difference: float | None, alpha: float) -> None:
    """The line of ranks with its ticks, and the critical difference above it."""
    ax.plot([1, systems], [0, 0], color=BLACK, lw=1.2)
    for rank in range(1, systems + 1):
        ax.plot([rank, rank], [0, 0.14], color=BLACK, lw=1.2)
        ax.text(rank, 0.22, str(rank), ha="center", va="bottom", fontsize=9)
    if difference is not None:
        end = min(1 + difference, systems + 0.5)
        ax.plot([1, end], [0.95, 0.95], color=ORANGE, lw=1.4, marker="|", markersize=7)
        ax.text(0.5 * (1 + end), 1.05, f"CD = {difference:.2f} (α = {alpha:g})", ha="center", fontsize=9, color=ORANGE)


def _bar(ax: Any, first: float, last: float, level: float) -> None:
    ax.plot([first - 0.03, last + 0.03], [level, level], color=BLUE, lw=5, solid_capstyle="butt")


def _labels(ax: Any, names: Sequence[str], ranks: Array, top: float, colours: Sequence[str]) -> None:
    """Names at both sides, the better half at the left, each with a line down from its rank."""
    half, most = (len(names) + 1) // 2, len(names)
    pad = 0.06 * (most - 1)
    for k, (name, rank, colour) in enumerate(zip(names, ranks, colours, strict=True)):
        left = k < half
        level = top - 0.55 * (k if left else most - 1 - k)
        edge = 1 - pad if left else most + pad
        ax.plot([rank, rank, edge], [0, level, level], color=colour, lw=0.9)
        name = drawable(name)
        text = f"{name}  {rank:.2f} " if left else f" {rank:.2f}  {name}"
        ax.text(edge, level, text, ha="right" if left else "left", va="center", fontsize=9, color=colour)
    ax.set_xlim(1 - 6 * pad, most + 6 * pad)
