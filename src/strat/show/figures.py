"""The axes of a new picture: one size, one frame, and a figure that a notebook shows."""

from __future__ import annotations

from typing import Any

from strat.base import extras

WIDE = (6.4, 4.4)  # inches


def new_axes(ax: Any, size: tuple[float, float] = WIDE) -> Any:
    """`ax`, or the axes of a new figure of this size, without a frame above and to the right."""
    if ax is not None:
        return ax
    plt = extras.load("matplotlib.pyplot")
    ax = plt.subplots(figsize=size, layout="constrained")[1]
    open_frame(ax)
    return ax


def open_frame(ax: Any) -> None:
    """Leave out the frame above and to the right."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
