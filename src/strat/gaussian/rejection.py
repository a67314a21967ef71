"""Bayes' classifier with the option to refuse: Chow's rule, and the trade of errors for refusals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, numbers
from strat.gaussian.problems import Problem
from strat.show.colours import OKABE_ITO
from strat.show.figures import new_axes


@dataclass(frozen=True, eq=False, repr=False)
class RejectCurve(Result):
    """Error and rejection of Chow's rule at several costs of a rejection."""

    costs: Array
    errors: Array
    rejections: Array
    se: Array

    def __str__(self) -> str:
        """A line for each cost."""
        lines = zip(self.costs, self.errors, self.rejections, strict=True)
        return "\n".join(f"cost {cost:g}: error {error:.4f}, rejected {share:.4f}" for cost, error, share in lines)

    @property
    def risks(self) -> Array:
        """Expected cost: errors plus cost times rejections; the least that any rule can reach."""
        return self.errors + self.costs * self.rejections

    def plot(self, ax: Any = None) -> Any:
        """Error against rejection rate, on `ax` or a new figure."""
        axes = new_axes(ax)
        axes.plot(100 * self.rejections, 100 * self.errors, color=OKABE_ITO[0], marker="o", markersize=3)
        axes.set_xlabel("rejected (%)")
        axes.set_ylabel("wrong, of all objects (%)")
        axes.set_title("Chow's error-reject trade-off")
        return axes


@checked
def reject_curve(
    problem: Problem, costs: ArrayLike, *, samples: int = 200_000, rng: int | np.random.Generator = 0
) -> RejectCurve:
    """The best possible error at each rejection rate, by Chow's rule on the known posteriors.

    Examples
    --------
    A rejection that costs as much as a coin's error never pays with two classes.

    >>> from strat.gaussian import GaussianClass
    >>> problem = Problem([GaussianClass(-1.0), GaussianClass(1.0)])
    >>> curve = reject_curve(problem, [0.5, 0.2], samples=20_000)
    >>> float(curve.rejections[0]), bool(curve.errors[1] < curve.errors[0])
    (0.0, True)
    """
    levels = numbers("costs", np.atleast_1d(costs), axes=1)
    if ((levels < 0) | (levels > 1)).any():
        raise StratError.about(
            "costs", f"must be between 0 and 1, the cost of an error, got {levels.tolist()!r}; rescale."
        )
    generator = np.random.default_rng(rng)
    errors, rejections, variance = (np.zeros(len(levels)) for _ in range(3))
    for prior, kind in zip(problem.priors, problem.classes, strict=True):
        points = kind.sample(max(2, round(samples * prior)), generator)
        risk = 1 - problem.posteriors(points).max(axis=1)
        kept = risk[:, None] <= levels
        wrong = np.where(kept, risk[:, None], 0)
        errors += prior * wrong.mean(axis=0)
        rejections += prior * (~kept).mean(axis=0)
        variance += prior**2 * wrong.var(axis=0, ddof=1) / len(points)
    return RejectCurve(levels, errors, rejections, np.sqrt(variance))


@checked
def chow_decide(problem: Problem, points: ArrayLike, *, cost: float) -> Codes:
    """Chow's decision at each point from the problem's own posteriors: a code, or -1 for a rejection.

    Examples
    --------
    >>> from strat.gaussian import GaussianClass
    >>> problem = Problem([GaussianClass(-1.0), GaussianClass(1.0)])
    >>> chow_decide(problem, [-2.0, 0.1, 2.0], cost=0.2)
    array([ 0, -1,  1])
    """
    from strat.gaussian.membership import chow_rule

    return chow_rule(problem.posteriors(points), cost=cost)
