"""What the pictures share: colours that everybody can tell apart, and axes that no window owns."""

from __future__ import annotations

from typing import Any

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")


def new_axes(ax: Any) -> Any:
    """`ax`, or the axes of a new figure."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=(6, 4), layout="constrained").subplots()
