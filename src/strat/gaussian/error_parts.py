"""Where the error of a trained classifier comes from (Kuncheva 1.7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from strat.base.errors import one_of
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.gaussian.bayes import bayes_error
from strat.gaussian.problems import Problem, two_gaussians
from strat.gaussian.rules import QuadraticRule, linear_rule, quadratic_classifier_error


@dataclass(frozen=True, repr=False)
class ErrorParts(Result):
    """Kuncheva (1.7): the error of a trained classifier as approximation, model and Bayes error."""

    total: float
    approximation: float
    model: float
    bayes: float

    def __str__(self) -> str:
        return (
            f"error {self.total:.4f} = approximation {self.approximation:.4f} + model {self.model:.4f} "
            f"+ Bayes {self.bayes:.4f}"
        )


@checked
def decompose_error(rule: QuadraticRule, problem: Problem, *, model: str) -> ErrorParts:
    """Where the error of a trained classifier comes from, Kuncheva (1.7), when the truth is known.

    Parameters
    ----------
    rule
        The trained classifier.
    problem
        Two Gaussian classes with known parameters.
    model
        "linear" or "quadratic": the family that `rule` was taken from. Its best member is Bayes' rule for
        "quadratic"; for "linear" the best hyperplane is found numerically.

    Examples
    --------
    A linear rule, displaced from its best place at 0 to 0.5, between two unit Gaussians at -1 and 1:

    >>> from strat.gaussian import GaussianClass
    >>> problem = Problem([GaussianClass(-1.0), GaussianClass(1.0)])
    >>> print(decompose_error(QuadraticRule([[0.0]], [1.0], -0.5), problem, model="linear"))
    error 0.1877 = approximation 0.0290 + model 0.0000 + Bayes 0.1587
    """
    one_of("model", model, ("linear", "quadratic"))
    total = quadratic_classifier_error(rule, problem).value
    bayes = bayes_error(problem).value
    best = bayes if model == "quadratic" else best_linear_error(problem)
    best = max(best, bayes)  # a search may end a rounding error below
    return ErrorParts(total, total - best, best - bayes, bayes)


@checked
def best_linear_error(problem: Problem) -> float:
    """The smallest error of any hyperplane between two Gaussian classes.

    The best normal is (t·Σ1 + (1-t)·Σ2)⁻¹(M2 - M1) for some t (Anderson and Bahadur), so the search is over t and
    the threshold only.

    Examples
    --------
    >>> from strat.gaussian import GaussianClass
    >>> round(best_linear_error(Problem([GaussianClass([0.0, 0.0]), GaussianClass([2.0, 0.0])])), 6)
    0.158655
    """
    from scipy.optimize import minimize
    from scipy.special import ndtr

    first, second = two_gaussians(problem)
    step = second.mean - first.mean

    def error(parameters: Array) -> float:
        t, threshold = parameters
        shared = t * first.covariance + (1 - t) * second.covariance
        values = np.linalg.eigvalsh(shared)
        if values[0] <= 1e-9 * abs(values[-1]):
            return 1.0
        normal = np.linalg.solve(shared, step)
        length = float(np.sqrt(max(float(normal @ step), 1e-300)))
        sides = [(normal @ k.mean / length, np.sqrt(normal @ k.covariance @ normal) / length) for k in (first, second)]
        one = ndtr(-(threshold - sides[0][0]) / sides[0][1])
        two = ndtr((threshold - sides[1][0]) / sides[1][1])
        return float(problem.priors @ np.array([one, two]))

    largest = float(problem.priors.max())
    if not step.any():
        return 1 - largest
    start = linear_rule(first, second, priors=np.maximum(problem.priors, 1e-12))
    height = float(-start.constant / np.sqrt(start.vector @ step))
    options: Any = {"xatol": 1e-10, "fatol": 1e-14, "maxiter": 4000}
    runs = [
        float(minimize(error, np.array([t, height]), method="Nelder-Mead", options=options).fun)
        for t in (0.5, 0.1, 0.9)
    ]
    return float(min(*runs, 1 - largest))
