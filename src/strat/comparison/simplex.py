"""Pictures of a posterior: the density of one difference, or three probabilities in a triangle."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import gammaln

from strat.base.errors import drawable
from strat.base.validate.columns import Array
from strat.show.colours import BLUE, GREEN, ORANGE
from strat.show.figures import new_axes

CORNERS = np.array([[0.0, 0.0], [0.5, math.sqrt(3.0) / 2.0], [1.0, 0.0]])  # below, equivalent, above


def draw_simplex(
    points: Array, probabilities: tuple[float, float, float], names: tuple[str, str], ax: Any = None
) -> Any:
    """Posterior draws in a triangle whose corners are the three verdicts, with lines where two are equally probable."""
    axes = new_axes(ax)
    place = points @ CORNERS
    axes.hexbin(place[:, 0], place[:, 1], gridsize=45, mincnt=1, cmap="Blues", extent=(0, 1, 0, CORNERS[1, 1]))
    axes.fill(*CORNERS.T, fill=False, edgecolor=ORANGE, lw=1.5)
    centre = CORNERS.mean(axis=0)
    for k in range(3):
        middle = (CORNERS[k] + CORNERS[(k + 1) % 3]) / 2
        axes.plot(*np.column_stack([centre, middle]), color=ORANGE, lw=1)
    below, within, above = probabilities
    a, b = drawable(names[0]), drawable(names[1])
    axes.text(0, -0.04, f"{b} higher\n{below:.3f}", ha="center", va="top")
    axes.text(1, -0.04, f"{a} higher\n{above:.3f}", ha="center", va="top")
    axes.text(0.5, CORNERS[1, 1] + 0.03, f"equivalent {within:.3f}", ha="center", va="bottom")
    axes.set(xlim=(-0.2, 1.2), ylim=(-0.2, 1.02))
    axes.set_aspect("equal")
    axes.axis("off")
    return axes


def draw_density(
    mean: float,
    scale: float,
    df: float,
    rope: float,
    probabilities: tuple[float, float, float],
    names: tuple[str, str],
    ax: Any = None,
) -> Any:
    """Student's density of the difference, the region of practical equivalence shaded in its own colour."""
    axes = new_axes(ax)
    reach = max(5.0 * scale, rope) or 1.0
    x = np.linspace(min(mean - reach, -1.2 * rope), max(mean + reach, 1.2 * rope), 801)
    constant = gammaln(0.5 * (df + 1)) - gammaln(0.5 * df) - 0.5 * math.log(math.pi * df) - math.log(scale or 1.0)
    y = np.exp(constant - 0.5 * (df + 1) * np.log1p(((x - mean) / (scale or 1.0)) ** 2 / df))
    a, b = drawable(names[0]), drawable(names[1])
    parts = (
        (x <= -rope, ORANGE, f"{b} higher"),
        (np.abs(x) <= rope, GREEN, "equivalent"),
        (x >= rope, BLUE, f"{a} higher"),
    )
    for (inside, colour, verdict), p in zip(parts, probabilities, strict=True):
        if rope or verdict != "equivalent":
            axes.fill_between(x, y, where=inside, color=colour, alpha=0.5, lw=0, label=f"{verdict}: {p:.3f}")
    axes.plot(x, y, color="#333333", lw=1)
    axes.set(xlabel=f"{a} − {b}", yticks=[], ylim=(0, None))
    axes.legend(frameon=False)
    return axes
