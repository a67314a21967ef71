"""What the pictures share: colours that everybody can tell apart, and axes that no window owns."""

from __future__ import annotations

from typing import Any

from strat import extras


def new_axes(ax: Any) -> Any:
    """`ax`, or the axes of a new figure."""
    if ax is not None:
        return ax
    figure = extras.load("matplotlib.figure")
    return figure.Figure(figsize=(6, 4), layout="constrained").subplots()
