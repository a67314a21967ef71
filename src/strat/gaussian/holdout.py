"""Expectation and variance of a hold-out error with finite design and test sets, F&H (27) and (33)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.gaussian.degradation import Degradation
from strat.gaussian.finite_samples import error_variance


@dataclass(frozen=True, repr=False)
class HoldoutMoments(Result):
    """Expectation and variance of a hold-out error: the bias is the design set's, the variance the test set's.

    `method` tells where the degradation comes from: "first order" or "simulated".
    """

    bayes: float
    degradation: float
    variance: float
    method: str = "first order"

    def __str__(self) -> str:
        return (
            f"expected error {self.expected:.4g} (Bayes {self.bayes:.4g}), standard error {self.se:.3g}, {self.method}"
        )

    @property
    def expected(self) -> float:
        """ε̄ of F&H (27)."""
        return self.bayes + self.degradation

    @property
    def se(self) -> float:
        """The square root of F&H (33)."""
        return float(np.sqrt(self.variance))

    @property
    def rmse(self) -> float:
        """Root mean squared difference from Bayes' error."""
        return float(np.hypot(self.degradation, self.se))


@checked
def holdout_moments(
    *,
    features: int,
    distance: float,
    design_samples: float,
    test_samples: float,
    linear: bool = False,
    design_variance: float = 0.0,
    method: str = "auto",
) -> HoldoutMoments:
    """Expectation (27) and variance (33) of the hold-out error for equal covariances and priors.

    `method` is that of `quadratic_degradation`.

    Examples
    --------
    >>> moments = holdout_moments(features=8, distance=2.5631, design_samples=400, test_samples=80)
    >>> round(moments.expected, 4), round(moments.se, 4), moments.method
    (0.1041, 0.0241, 'first order')
    >>> holdout_moments(features=64, distance=2.5631, design_samples=70, test_samples=100).expected < 0.5
    True
    """
    case = Degradation(features, distance, linear)
    extra = case.at(design_samples, method)
    used = case.method(design_samples) if method == "auto" else method
    return moments_with(case.bayes, extra, test_samples, used, design_variance)


def moments_with(
    bayes: float, extra: float, test_samples: float, method: str, design_variance: float = 0.0
) -> HoldoutMoments:
    """The moments of a hold-out error with this degradation."""
    expected = min(bayes + extra, 0.5)
    variance = error_variance([expected, expected], test_samples=test_samples, design_variance=design_variance)
    return HoldoutMoments(bayes, extra, variance, method)
