"""The moments of a classifier's error over design sets: F&H (16)-(22) and (32) for any two Gaussian classes.

To first order the deviation of the discriminant function is linear in those of the estimated parameters,
Δh(X) = Σ_i a_i(X)'ΔM_i + tr B_i(X)ΔΣ_i, and so is that of the error of either class, which is the integral of Δh over
the boundary. The double integral of (22) is therefore a quadratic form of two single ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, one_of
from strat.base.limits import LIMITS
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.gaussian.degradation import METHODS, PER_FEATURE, TENTH, repetitions_for
from strat.gaussian.finite_samples import class_errors_of_designs, positive_sizes
from strat.gaussian.polynomials import Polynomial
from strat.gaussian.problems import GaussianClass, Problem, as_points, two_gaussians
from strat.gaussian.quadratic_form import Complex, boundary_expectations
from strat.gaussian.rules import (
    QuadraticRule,
    form_axes,
    linear_rule,
    quadratic_classifier_error,
    quadratic_rule,
)


@dataclass(frozen=True, eq=False, repr=False)
class DesignMoments(Result):
    """What a finite design set does to the true error of a classifier, over design sets.

    Attributes
    ----------
    error
        The error with the true parameters; Bayes' error for a quadratic classifier.
    degradation
        The expected error minus that, F&H (21).
    covariance
        Variances and covariance of the errors of the two classes, F&H (32).
    priors
        Shares of the two classes.
    method, variance_method
        "first order" or "simulated": where the degradation and the covariance come from.
    """

    error: float
    degradation: float
    covariance: Array
    priors: Array
    method: str
    variance_method: str

    @property
    def expected(self) -> float:
        """ε̄ of F&H (20)."""
        return self.error + self.degradation

    @property
    def variance(self) -> float:
        """Var_d{ε̂} of F&H (22): what `error_variance` takes as `design_variance`."""
        return float(self.priors @ self.covariance @ self.priors)

    @property
    def sd(self) -> float:
        """Its square root."""
        return float(np.sqrt(max(self.variance, 0.0)))

    @property
    def correlation(self) -> float:
        """The correlation of the errors of the two classes, which F&H (II-C) say is close to -1; NaN without spread."""
        spread = float(np.sqrt(self.covariance[0, 0] * self.covariance[1, 1]))
        return float(np.clip(self.covariance[0, 1] / spread, -1, 1)) if spread > 0 else float("nan")

    def __str__(self) -> str:
        """One sentence."""
        return (
            f"expected error {self.expected:.4g} ({self.error:.4g} with the true parameters; {self.method}), standard "
            f"deviation {self.sd:.3g} over design sets, correlation of the classes' errors {self.correlation:.2f} "
            f"({self.variance_method})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return {
            "error": self.error,
            "degradation": self.degradation,
            "expected": self.expected,
            "variance": self.variance,
            "covariance": self.covariance.tolist(),
            "correlation": self.correlation,
            "method": self.method,
            "variance_method": self.variance_method,
        }


@dataclass(frozen=True, eq=False)
class ScoreMoments:
    """E_d{Δh} and E_d{Δh²} at each point, F&H (18), to first order in the reciprocal of the design samples."""

    mean: Array
    square: Array


@checked
def design_moments(
    problem: Problem, *, design_samples: ArrayLike, linear: bool = False, method: str = "auto"
) -> DesignMoments:
    """Expectation and variance of the true error of a classifier designed on finite samples, F&H (20)-(22).

    For any two Gaussian classes: unequal covariances and priors, and the linear classifier where it is not Bayes'.
    Bayes' classifier has no variance of order 1/𝔑; what is left, of order 1/𝔑², is simulated.

    Parameters
    ----------
    problem
        The two classes, from which design samples come and on which the classifier is tested.
    design_samples
        𝔑, of each class, or one number for each.
    linear
        Fisher's linear classifier, F&H (15), in place of the quadratic one, (14).
    method
        "first order", "simulated", or "auto": the expansion from 20 samples per feature on while the degradation is
        at most a tenth of the way to one half (for the variance: while the standard deviation is above the
        degradation), and simulation with a fixed seed elsewhere.

    Examples
    --------
    The linear classifier is not Bayes' where covariances differ: the variance falls with the samples, not their square.

    >>> from strat.gaussian import GaussianClass
    >>> classes = Problem([GaussianClass([0, 0]), GaussianClass([1.5, 0], [[3.0, 0.0], [0.0, 0.5]])])
    >>> few, many = (design_moments(classes, design_samples=n, linear=True) for n in (200, 800))
    >>> few.variance_method, round(few.variance / many.variance, 1)
    ('first order', 4.0)
    """
    one_of("method", method, METHODS)
    counts = np.broadcast_to(positive_sizes(design_samples), (2,))
    rule = (linear_rule if linear else quadratic_rule)(*two_gaussians(problem), priors=problem.priors)
    error = quadratic_classifier_error(rule, problem).value
    if method == "simulated" or (method == "auto" and counts.min() < PER_FEATURE * problem.dimension):
        return _simulated(problem, counts, linear, error)
    expansion = _Expansion(problem, counts, linear, rule)
    first = DesignMoments(
        error, expansion.degradation(), expansion.covariance(), problem.priors, "first order", "first order"
    )
    if method == "first order" or (_possible(first) and first.sd >= abs(first.degradation)):
        return first
    drawn = _simulated(problem, counts, linear, error)
    if not _possible(first):
        return drawn
    return DesignMoments(error, first.degradation, drawn.covariance, problem.priors, "first order", "simulated")


def _possible(moments: DesignMoments) -> bool:
    return abs(moments.degradation) <= TENTH * max(0.5 - moments.error, 0.0)


def _simulated(problem: Problem, counts: Array, linear: bool, error: float) -> DesignMoments:
    one, two = (round(float(count)) for count in counts)
    drawn = class_errors_of_designs(
        problem, (one, two), repetitions=repetitions_for(problem.dimension), rng=0, linear=linear
    )
    covariance = np.cov(np.stack(drawn))
    degradation = float(problem.priors @ [errors.mean() for errors in drawn]) - error
    return DesignMoments(error, degradation, covariance, problem.priors, "simulated", "simulated")


@checked
def score_moments(
    points: ArrayLike, problem: Problem, *, design_samples: ArrayLike, linear: bool = False
) -> ScoreMoments:
    """The first two moments over design sets of the deviation Δh(X) of the discriminant function, F&H (16)-(18).

    Both are of order 1/𝔑; the third and the fourth, which are left out, of order 1/𝔑².

    Examples
    --------
    One feature, X at the first mean: d is 0 for that class and 2 for the other; (d⁴ + 1) / 2𝔑 is 0.005 and 0.085.

    >>> from strat.gaussian import shifted_problem
    >>> moments = score_moments([0.0], shifted_problem(1, distance=2.0), design_samples=100)
    >>> moments.square.round(4), moments.mean.round(4)
    (array([0.09]), array([-0.04]))
    """
    rows = as_points(points, problem.dimension)
    counts = np.broadcast_to(positive_sizes(design_samples), (2,))
    rule = (linear_rule if linear else quadratic_rule)(*two_gaussians(problem), priors=problem.priors)
    expansion = _Expansion(problem, counts, linear, rule)
    mean, roots, rest = expansion.score_mean(), expansion.squared_parts(), expansion.plain_part()
    square = sum(weight * part.at(rows) ** 2 for weight, part in roots) + rest.at(rows)
    return ScoreMoments(mean.at(rows), np.asarray(square))


@dataclass(frozen=True, eq=False)
class _Expansion:
    """The first-order expansion of one classifier at its true parameters."""

    problem: Problem
    counts: Array
    linear: bool
    rule: QuadraticRule

    @property
    def kinds(self) -> tuple[GaussianClass, GaussianClass]:
        return two_gaussians(self.problem)

    def score_mean(self) -> Polynomial:
        """E_d{Δh} as a polynomial of X, from the terms of second order in (16)."""
        if self.linear:
            return self._linear_mean()
        n, total = self.problem.dimension, _zero(self.problem.dimension)
        for sign, kind, count in zip((1, -1), self.kinds, self.counts, strict=True):
            level = n - n * (n + 1) / 2
            total += sign / (2 * count) * ((n + 1) * _distance(kind) + _constant(level, n))
        return total

    def _linear_mean(self) -> Polynomial:
        first, second = self.kinds
        inverse, slope, middle = _fisher(first, second)
        n, level, pull = len(slope), 0.0, np.zeros(len(slope))
        for sign, kind, count in zip((1, -1), (first, second), self.counts, strict=True):
            size = np.trace(inverse @ kind.covariance)
            level += sign * size / (2 * count)
            pull += inverse @ kind.covariance @ (inverse @ kind.covariance + size * np.eye(n)) @ slope / (4 * count)
        return Polynomial(np.zeros((n, n)), pull, float(level - pull @ middle))

    def squared_parts(self) -> list[tuple[float, Polynomial]]:
        """Weights and polynomials whose squares E_d{Δh²} holds: (d_i⁴ + n) / 2𝔑_i for the quadratic classifier."""
        if self.linear:
            return []
        return [(1 / (2 * float(count)), _distance(kind)) for kind, count in zip(self.kinds, self.counts, strict=True)]

    def plain_part(self) -> Polynomial:
        """What E_d{Δh²} holds beside them."""
        n = self.problem.dimension
        if not self.linear:
            return _constant(float((n / (2 * self.counts)).sum()), n)
        inverse, slope, middle = _fisher(*self.kinds)
        total = _zero(n)
        for sign, kind, count in zip((-1, 1), self.kinds, self.counts, strict=True):
            sigma = kind.covariance
            across, along = inverse @ sigma @ inverse, inverse @ sigma @ slope
            power = float(slope @ sigma @ slope)
            square = across * (1 + power / 4) + np.outer(along, along) / 4
            total += 1 / float(count) * Polynomial.about(middle, square, -sign * along, power / 4)
        return total

    def degradation(self) -> float:
        """F&H (21): Σ ±P_i ∫ [E{Δh} δ(h) + E{Δh²} δ'(h) / 2] p_i(X) dX."""
        mean, roots, plain = self.score_mean(), self.squared_parts(), self.plain_part()
        total = 0.0
        for sign, prior, kind in zip((1, -1), self.problem.priors, self.kinds, strict=True):
            weights, linear, constant, axes = form_axes(self.rule, kind)
            inside = mean.in_class(kind, axes), plain.in_class(kind, axes)
            squares = [(weight, part.in_class(kind, axes)) for weight, part in roots]
            moment = _Degraded(*inside, squares)
            total += sign * float(prior) * float(boundary_expectations(weights, linear, constant, moment)[0])
        return total

    def covariance(self) -> Array:
        """F&H (32), with the signs of the errors: of first order, so 0 in total for Bayes' classifier."""
        n = self.problem.dimension
        if n > LIMITS.moment_features:
            raise StratError.about(
                "problem",
                f"must have at most {LIMITS.moment_features} features for the expansion of the variance, got {n}; "
                'take method="simulated".',
            )
        slopes = [_class_slopes(self.rule, kind, self) for kind in self.kinds]
        signs, result = (1, -1), np.zeros((2, 2))
        for (i, one), (j, two) in ((a, b) for a in enumerate(slopes) for b in enumerate(slopes)):
            for kind, count, (a, b), (c, d) in zip(self.kinds, self.counts, one, two, strict=True):
                means = a @ kind.covariance @ c / count
                spread = 2 * np.trace(b @ kind.covariance @ d @ kind.covariance) / (count - 1)
                result[i, j] += signs[i] * signs[j] * (means + spread)
        return result

    def parameter_slopes(self, zeroth: float, first: Array, second: Array) -> list[tuple[Array, Array]]:
        """∫ a_i(X) and ∫ B_i(X) of both classes over a measure of X with these moments."""
        if self.linear:
            inverse, slope, middle = _fisher(*self.kinds)
            gap = inverse @ (first - zeroth * middle)
            both = -(np.outer(slope, gap) + np.outer(gap, slope)) / 4
            return [(sign * gap - zeroth * slope / 2, both) for sign in (-1, 1)]
        pairs = []
        for sign, kind in zip((1, -1), self.kinds, strict=True):
            inverse = _inverse(kind.covariance)
            centre = first - zeroth * kind.mean
            scatter = second - np.outer(first, kind.mean) - np.outer(kind.mean, centre)
            pairs.append((-sign * inverse @ centre, sign / 2 * (zeroth * inverse - inverse @ scatter @ inverse)))
        return pairs


class _Degraded:
    """E{Δh} + s·E{Δh²}/2 under a tilted normal: the integrand of (21)."""

    def __init__(self, mean: Polynomial, plain: Polynomial, squares: list[tuple[float, Polynomial]]) -> None:
        self.expected, self.plain, self.squares = mean, plain, squares

    def __call__(self, mean: Complex, variance: Complex, s: Complex) -> Complex:
        square = self.plain.mean(mean, variance)
        for weight, part in self.squares:
            square = square + weight * part.second_moment(mean, variance)
        return np.asarray(self.expected.mean(mean, variance) + s * square / 2)[None]


def _class_slopes(rule: QuadraticRule, kind: GaussianClass, expansion: _Expansion) -> list[tuple[Array, Array]]:
    """∂ε/∂M_i and ∂ε/∂Σ_i of one class's error, but for its sign."""
    weights, linear, constant, axes = form_axes(rule, kind)
    n = kind.dimension
    upper = np.triu_indices(n)

    def moment(mean: Complex, variance: Complex, s: Complex) -> Complex:
        del s
        products = mean[:, upper[0]] * mean[:, upper[1]]
        products[:, upper[0] == upper[1]] += variance
        return np.concatenate([np.ones((1, len(mean))), mean.T, products.T])

    values = boundary_expectations(weights, linear, constant, moment)
    zeroth, first = float(values[0]), values[1 : n + 1]
    second = np.zeros((n, n))
    second[upper] = values[n + 1 :]
    second = second + np.triu(second, 1).T
    root = kind.factor @ axes
    along = root @ first
    cross = np.outer(along, kind.mean)
    whole = root @ second @ root.T + cross + cross.T + zeroth * np.outer(kind.mean, kind.mean)
    return expansion.parameter_slopes(zeroth, along + zeroth * kind.mean, whole)


def _fisher(first: GaussianClass, second: GaussianClass) -> tuple[Array, Array, Array]:
    """The inverse of the shared covariance, it times the difference of the means, and the middle between them."""
    inverse = _inverse((first.covariance + second.covariance) / 2)
    return inverse, inverse @ (second.mean - first.mean), (first.mean + second.mean) / 2


def _inverse(covariance: Array) -> Array:
    return np.asarray(np.linalg.inv(covariance), dtype=float)


def _distance(kind: GaussianClass) -> Polynomial:
    return Polynomial.about(kind.mean, _inverse(kind.covariance), np.zeros(kind.dimension), 0.0)


def _constant(level: float, features: int) -> Polynomial:
    return Polynomial(np.zeros((features, features)), np.zeros(features), level)


def _zero(features: int) -> Polynomial:
    return _constant(0.0, features)
