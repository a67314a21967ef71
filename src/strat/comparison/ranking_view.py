"""A ranking of systems as a picture, and its leader in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from strat.base.errors import drawable, some
from strat.base.text import class_named, of_class
from strat.show.colours import BLUE, ORANGE
from strat.show.figures import new_axes

if TYPE_CHECKING:
    from strat.comparison.many_systems import ManySystems


def draw_ranking(ranking: ManySystems, ax: Any, level: float) -> Any:
    """Every system with its interval, best at the top, and its rank interval at the right."""
    systems, estimate = ranking.systems, ranking.estimate
    ax = new_axes(ax, (7.0, 1.2 + 0.26 * len(systems)))
    low, high = (np.asarray(v) for v in estimate.interval(level))
    first, last = ranking.ranks(level)
    for place, k in enumerate(ranking.order):
        ax.plot([low[k], high[k]], [place, place], color=BLUE, lw=2)
        ax.plot(ranking.values[k], place, "o", color=ORANGE, ms=5)
        ax.annotate(
            _ranks_text(first[k], last[k]), (1.0, place), (6, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", va="center", fontsize=8,
        )  # fmt: skip
    ax.set_yticks(range(len(systems)), [drawable(systems[k]) for k in ranking.order], fontsize=8)
    ax.set_ylim(len(systems) - 0.4, -0.6)
    measure = estimate.name + of_class(estimate.positive)
    ax.set_xlabel(f"{drawable(measure)} ({100 * level:g} %); at the right: simultaneous rank intervals")
    return ax


def leader_sentence(ranking: ManySystems) -> str:
    """Who leads, within which ranks, and whom it is not distinguishable from."""
    k = ranking.order[0]
    first, last = ranking.ranks()
    near_best = np.abs(ranking.between([k]).t[0]) <= ranking.critical()
    ties = [ranking.systems[j] for j in ranking.order[1:] if near_best[j]]
    tied = f"; not distinguishable from {some(ties, 5)}" if ties else "; better than every other one"
    positive = ranking.estimate.positive
    looked_at = "" if positive is None else f", {ranking.estimate.name}, {class_named(positive)}"
    return (
        f"{ranking.systems[k]} leads {len(ranking.systems)} systems with {ranking.values[k]:.4f} "
        f"(rank {_ranks_text(first[k], last[k])}{looked_at}){tied}"
    )


def _ranks_text(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first} to {last}"
