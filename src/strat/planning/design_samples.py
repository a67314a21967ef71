"""Design samples for a wanted degradation, and the split of samples into design and test (F&H II)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from strat.base import validate
from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.gaussian.degradation import Degradation
from strat.gaussian.holdout import HoldoutMoments, moments_with
from strat.planning.sample_size import MOST, SampleSize, falling_plan
from strat.show.colours import BLUE
from strat.show.figures import new_axes


@dataclass(frozen=True, eq=False, repr=False)
class Split(Result):
    """A split of the samples of each class into design and test, and every other one (F&H II-D)."""

    design: int
    test: int
    moments: HoldoutMoments
    sizes: Array
    degradations: Array
    standard_errors: Array

    def __str__(self) -> str:
        return (
            f"design on {self.design}, test on {self.test} of {self.design + self.test} samples per class: "
            f"degradation {self.moments.degradation:.4f}, standard error {self.moments.se:.4f}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        curve = {
            "design": self.sizes.tolist(),
            "degradation": self.degradations.tolist(),
            "standard_error": self.standard_errors.tolist(),
        }
        numbers = {"degradation": self.moments.degradation, "standard_error": self.moments.se}
        return {"design": self.design, "test": self.test, **numbers, "curve": curve}

    def plot(self, ax: Any = None) -> Any:
        """Bias, standard error and their root mean square against the size of the design set."""
        axes = new_axes(ax)
        axes.plot(self.sizes, self.degradations, color=BLUE, label="bias (design set)")
        axes.plot(self.sizes, self.standard_errors, color="#E69F00", linestyle="--", label="se (test set)")
        both = np.hypot(self.degradations, self.standard_errors)
        axes.plot(self.sizes, both, color="#009E73", linestyle="-.", label="root mean square")
        axes.axvline(self.design, color="black", linewidth=0.8)
        axes.set_xlabel("design samples per class")
        axes.set_ylabel("error of the hold-out estimate")
        axes.set_ylim(0, 2.5 * both.min())
        axes.legend(frameon=False)
        return axes


@checked
def design_test_split(*, samples: int, features: int, distance: float, linear: bool = False) -> Split:
    """How to divide each class's samples between design and test: least mean squared error of the hold-out.

    The bias comes from the design set and the variance from the test set, F&H (27) and (33).

    Examples
    --------
    >>> split = design_test_split(samples=200, features=8, distance=2.5631)
    >>> split.design, split.test
    (109, 91)
    """
    case = Degradation(features, distance, linear)
    least = case.least
    if samples < least + 1:
        raise StratError.about(
            "samples",
            f"must be at least {least + 1} per class for {features} features, got {samples}; the classifier "
            "can't be designed and tested on fewer.",
        )
    sizes = np.unique(np.linspace(least, samples - 1, min(samples - least, 2000)).round()).astype(int)
    moments = [
        moments_with(case.bayes, float(extra), samples - int(size), case.method(int(size)))
        for size, extra in zip(sizes, case.curve(sizes), strict=True)
    ]
    best = int(np.argmin([m.rmse for m in moments]))
    return Split(
        int(sizes[best]),
        samples - int(sizes[best]),
        moments[best],
        sizes.astype(float),
        np.array([m.degradation for m in moments]),
        np.array([m.se for m in moments]),
    )


@checked
def design_samples_for(*, degradation: float, features: int, distance: float, linear: bool = False) -> SampleSize:
    """How many design samples per class bring a classifier's degradation below a wanted size, by F&H's theory.

    Where the first-order expansion does not hold (see `quadratic_degradation`), simulation takes its place; `.method`
    tells which.

    Examples
    --------
    Table I at n = 8: 400 samples per class leave 0.41 points.

    >>> design_samples_for(degradation=0.0042, features=8, distance=2.5631).number
    395
    >>> plan = design_samples_for(degradation=0.2, features=64, distance=2.5631)
    >>> 190 < plan.number < 210, plan.method
    (True, 'simulated')
    """
    validate.positive("degradation", degradation)
    case = Degradation(features, distance, linear)
    # simulations are too long: the expansion alone, and only where it holds
    large = linear and features > LIMITS.simulated_features
    least = int(np.ceil(case.holds_from)) if large and case.holds_from < MOST else case.least
    if large and case.curve([least])[0] <= degradation:
        case.simulated(least)
    plan = falling_plan(
        "design samples per class", "degradation", degradation, case.curve, least=least, argument="degradation"
    )
    return replace(plan, method=case.method(plan.number))
