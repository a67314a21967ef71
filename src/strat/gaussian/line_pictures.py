"""Classes on the line, drawn: densities, regions and the errors under them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.gaussian.bayes import Region, decision_intervals
from strat.gaussian.problems import GaussianClass, Problem
from strat.show.colours import OKABE_ITO
from strat.show.figures import new_axes


@dataclass(frozen=True, eq=False)
class LinePicture:
    """Discriminant functions of a problem on the line with Bayes' regions (Kuncheva, Figures 1.18 and 1.19)."""

    points: Array
    joint: Array
    regions: tuple[Region, ...]
    other: float | None = None

    def plot(self, ax: Any = None, *, posteriors: bool = False) -> Any:
        """P(ω_i) p(x|ω_i), or the posteriors, over the shaded decision regions."""
        axes = new_axes(ax)
        heights = self.joint / self.joint.sum(axis=1, keepdims=True) if posteriors else self.joint
        for code in range(heights.shape[1]):
            axes.plot(self.points, heights[:, code], color=OKABE_ITO[code % 8], label=f"class {code + 1}")
        low, high = self.points[0], self.points[-1]
        for region in self.regions:
            start, end = max(region.low, low), min(region.high, high)
            if start < end:
                axes.axvspan(start, end, color=OKABE_ITO[region.code % 8], alpha=0.10, lw=0)
        if heights.shape[1] == 2 and not posteriors:
            self._shade(axes)
        cuts = [r.high for r in self.regions[:-1] if low < r.high < high]
        axes.plot(cuts, np.zeros(len(cuts)), "o", color="black", label="optimal boundary", clip_on=False)
        if self.other is not None:
            axes.plot([self.other], [0], "o", mfc="white", color="black", label="other boundary", clip_on=False)
        axes.set_xlabel("x")
        axes.set_ylabel("posterior" if posteriors else "prior × density")
        axes.set_xlim(low, high)
        axes.legend(frameon=False)
        return axes

    def _shade(self, axes: Any) -> None:
        # the light area is Bayes' error, the dark one what the other boundary adds (Figure 1.19)
        smaller, larger = self.joint.min(axis=1), self.joint.max(axis=1)
        axes.fill_between(self.points, 0, smaller, color="0.75", lw=0, label="Bayes error")
        if self.other is None:
            return
        chosen = (self.points > self.other).astype(int)
        wrong = chosen != self.joint.argmax(axis=1)
        axes.fill_between(self.points, smaller, larger, where=wrong, color="0.35", lw=0, label="added error")


@checked
def line_picture(
    problem: Problem, *, low: float, high: float, other: float | None = None, points: int = 801
) -> LinePicture:
    """The discriminant functions of Kuncheva (1.24) between `low` and `high`, ready to plot.

    Examples
    --------
    >>> line_picture(example_1_12(), low=0.0, high=10.0).joint.shape
    (801, 3)
    """
    x = np.linspace(low, high, points)
    return LinePicture(x, np.exp(problem.log_joint(x)), decision_intervals(problem), other)


def example_1_12() -> Problem:
    """The three classes on the line of Kuncheva's Example 1.12.

    Examples
    --------
    >>> from strat.gaussian import boundaries
    >>> boundaries(example_1_12()).round(3)
    array([4.132, 6.322, 9.92 ])
    """
    kinds = [GaussianClass(4.0, 4.0), GaussianClass(5.0, 1.44), GaussianClass(7.0, 1.0)]
    return Problem(kinds, [0.45, 0.35, 0.20])
