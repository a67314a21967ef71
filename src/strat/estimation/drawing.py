"""An estimate as a picture: a point with its interval, a row of them, or a curve with its band."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from strat.colours import OKABE_ITO

if TYPE_CHECKING:
    from strat.estimation.result import Estimate


def draw(estimate: Estimate, ax: Any, level: float) -> Any:
    """Draw into `ax` (a new figure by default) and return it."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(6, 4))
    labels = estimate.axes[-1].labels if estimate.axes else ()
    numeric = len(labels) > 1 and all(isinstance(v, int | float) for v in labels)
    if numeric:
        _curve(estimate, ax, level, np.asarray(labels, float))
    else:
        _forest(estimate, ax, level)
    return ax


def _curve(estimate: Estimate, ax: Any, level: float, x: Any) -> None:
    low, high = estimate.interval(level)
    outer = estimate.band(level) if estimate.spread is not None else (low, high)
    for i, values in enumerate(np.atleast_2d(estimate.point)):
        name = None if estimate.point.ndim == 1 else str(estimate.axes[0].labels[i])
        color = OKABE_ITO[i % len(OKABE_ITO)]
        ax.plot(x, values, label=name or estimate.name, color=color)
        ax.fill_between(x, np.atleast_2d(low)[i], np.atleast_2d(high)[i], color=color, alpha=0.25, lw=0)
        ax.fill_between(x, np.atleast_2d(outer[0])[i], np.atleast_2d(outer[1])[i], color=color, alpha=0.12, lw=0)
    ax.set_xlabel(estimate.axes[-1].name)
    ax.set_ylabel(estimate.name)
    ax.legend(frameon=False, title=f"{level:.0%}: pointwise (dark), all at once (light)", title_fontsize=8)


def _forest(estimate: Estimate, ax: Any, level: float) -> None:
    columns = estimate.to_dict(level)
    names = [" · ".join(map(str, row)) for row in zip(*(columns[a.name] for a in estimate.axes), strict=True)]
    names = names or [estimate.name]
    y = np.arange(len(names))[::-1]
    value, low, high = (np.asarray(columns[c]) for c in ("estimate", "low", "high"))
    ax.hlines(y, low, high, color=OKABE_ITO[0], lw=2)
    ax.plot(value, y, "o", color=OKABE_ITO[0])
    ax.set_yticks(y, names)
    ax.set_ylim(-0.7, len(names) - 0.3)
    ax.set_xlabel(f"{estimate.name}, {level:.0%} interval")
