"""Two-class quadratic and linear classifiers, and their exact error on Gaussian classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import LARGEST, Array, Codes, numbers
from strat.gaussian.probability import Probability
from strat.gaussian.problems import (
    GaussianClass,
    Problem,
    as_points,
    check_covariance,
    frozen,
    sample_rows,
    two_gaussians,
)
from strat.gaussian.quadratic_form import tails


@dataclass(frozen=True, eq=False)
class QuadraticRule:
    """h(X) = X'·matrix·X + vector'X + constant; class 1 (code 0) when h < 0, class 2 when h > 0, F&H (1).

    Examples
    --------
    >>> rule = QuadraticRule(np.eye(2), [0.0, 0.0], -1.0)          # inside the unit circle: class 1
    >>> rule.decide([[0.0, 0.0], [2.0, 0.0]])
    array([0, 1])
    """

    matrix: Array
    vector: Array
    constant: float

    @checked
    def __init__(self, matrix: ArrayLike, vector: ArrayLike, constant: float) -> None:
        slope = numbers("vector", np.atleast_1d(np.asarray(vector)))
        square = numbers("matrix", np.atleast_2d(np.asarray(matrix)))
        if square.shape != (len(slope), len(slope)):
            raise StratError.about(
                "matrix",
                f"must be {len(slope)} by {len(slope)} as `vector` has {len(slope)} value(s), got "
                f"shape {square.shape}; give one row and column per feature.",
            )
        object.__setattr__(self, "matrix", frozen((square + square.T) / 2))
        object.__setattr__(self, "vector", frozen(slope))
        object.__setattr__(self, "constant", float(constant))

    @property
    def dimension(self) -> int:
        """The number of features."""
        return len(self.vector)

    @checked
    def score(self, points: ArrayLike) -> Array:
        """h(X) at each point."""
        rows = as_points(points, self.dimension)
        return np.asarray(((rows @ self.matrix) * rows).sum(axis=1) + rows @ self.vector + self.constant)

    @checked
    def decide(self, points: ArrayLike) -> Codes:
        """The code of the class of each point: 0 where h < 0, else 1."""
        return (self.score(points) > 0).astype(np.int64)


@checked
def quadratic_rule(first: GaussianClass, second: GaussianClass, *, priors: ArrayLike = (0.5, 0.5)) -> QuadraticRule:
    """The quadratic classifier F&H (14) of two classes' means and covariances; Bayes' rule if they are true.

    Examples
    --------
    Covariances 1 and 4, one mean: the classes meet where x² (1/2 - 1/8) = ln 2.

    >>> rule = quadratic_rule(GaussianClass(0.0, 1.0), GaussianClass(0.0, 4.0))
    >>> float(np.sqrt(-rule.constant / rule.matrix[0, 0])).__round__(4)
    1.3596
    """
    matrix, vector, constant = _quadratic_parts(
        first.mean[None], first.covariance[None], second.mean[None], second.covariance[None]
    )
    ratio = _odds(priors)
    return QuadraticRule(matrix[0], vector[0], float(constant[0] - np.log(ratio[0] / ratio[1])))


@checked
def linear_rule(first: GaussianClass, second: GaussianClass, *, priors: ArrayLike = (0.5, 0.5)) -> QuadraticRule:
    """Fisher's linear classifier F&H (15), with the average of the two covariances.

    Examples
    --------
    >>> rule = linear_rule(GaussianClass([-1.0, 0.0]), GaussianClass([1.0, 0.0]))
    >>> rule.vector, rule.constant
    (array([2., 0.]), 0.0)
    """
    shared = (first.covariance + second.covariance) / 2
    a, b = np.linalg.solve(shared, first.mean), np.linalg.solve(shared, second.mean)
    ratio = _odds(priors)
    constant = (first.mean @ a - second.mean @ b) / 2 - np.log(ratio[0] / ratio[1])
    return QuadraticRule(np.zeros_like(shared), b - a, float(constant))


def _odds(priors: ArrayLike) -> Array:
    """Two positive numbers whose ratio counts."""
    pair = numbers("priors", priors, most=LARGEST)
    if pair.shape != (2,) or not (pair > 0).all():
        raise StratError.about(
            "priors", f"must be two positive numbers, got {some(pair)}; leave no class without a share."
        )
    return pair


@checked
def quadratic_classifier_error(rule: QuadraticRule, problem: Problem, *, tolerance: float = 1e-11) -> Probability:
    """The error, F&H (4), of a given quadratic (or linear) classifier on two given Gaussian classes.

    Parameters
    ----------
    rule
        The classifier, for example `quadratic_rule` of two estimated classes.
    problem
        The true classes and priors on which it is tested.
    tolerance
        Wanted absolute numerical error; far below 1e-8 by default.

    Returns
    -------
    Probability
        `.value`, `.bound` (numerical error) and `.by_class` (ε1, ε2).

    Examples
    --------
    The linear rule between two unit Gaussians 2 apart errs with probability Φ(-1).

    >>> problem = Problem([GaussianClass(-1.0), GaussianClass(1.0)])
    >>> error = quadratic_classifier_error(linear_rule(*problem.classes), problem)
    >>> round(error.value, 10), error.bound < 1e-8
    (0.1586552539, True)
    """
    first, second = two_gaussians(problem)
    if rule.dimension != problem.dimension:
        raise StratError.about(
            "rule",
            f"must have the problem's {problem.dimension} feature(s), got {rule.dimension}; "
            "design it on the same features.",
        )
    parts = [_form(rule.matrix[None], rule.vector[None], np.array([rule.constant]), c)[:3] for c in (first, second)]
    weights, linear, constant = (np.concatenate(p) for p in zip(*parts, strict=True))
    sign = np.array([1.0, -1.0])
    # a rule that says h = 0 everywhere in a class decides nothing; F&H's ½ sgn(h) then counts one half
    flat = ~(weights.any(axis=1) | linear.any(axis=1))
    tail, bound = tails(weights * sign[:, None], linear * sign[:, None], constant * sign, tolerance=tolerance)
    errors = np.where(flat, 0.5 * (1 + np.sign(constant * sign)), tail)
    priors = problem.priors
    return Probability(
        float(priors @ errors),
        "quadratic form",
        bound=float(priors @ bound),
        by_class=(float(errors[0]), float(errors[1])),
    )


@checked
def estimate_class(points: ArrayLike, argument: str = "points") -> GaussianClass:
    """The Gaussian class with the sample mean and the sample covariance (divisor N - 1) of its points.

    Examples
    --------
    >>> estimate_class([[0.0], [2.0]]).covariance
    array([[2.]])
    """
    rows = sample_rows(argument, points)
    count, features = rows.shape
    if count <= features:
        raise StratError.about(
            argument,
            f"must have more samples than features ({features}) for a covariance that can be "
            f"inverted, got {count}; add samples, drop features, or add a ridge to the covariance.",
        )
    covariance = check_covariance(argument, np.atleast_2d(np.cov(rows.T)), features)
    return GaussianClass(rows.mean(axis=0), covariance)


def errors_of_designs(
    first_means: Array,
    first_covariances: Array,
    second_means: Array,
    second_covariances: Array,
    problem: Problem,
    *,
    linear: bool = False,
    tolerance: float = 1e-7,
) -> tuple[Array, Array]:
    """True errors, in either class, of many classifiers at once: one per row of estimated means and covariances."""
    first, second = two_gaussians(problem)
    parts = _linear_parts if linear else _quadratic_parts
    matrix, vector, constant = parts(first_means, first_covariances, second_means, second_covariances)
    rule = matrix, vector, constant - np.log(problem.priors[0] / problem.priors[1])
    one, _ = tails(*_form(*rule, first)[:3], tolerance=tolerance)
    two, _ = tails(*(-part for part in _form(*rule, second)[:3]), tolerance=tolerance)
    return one, two


def _linear_parts(m1: Array, s1: Array, m2: Array, s2: Array) -> tuple[Array, Array, Array]:
    # F&H (15)
    inverse = np.linalg.inv((s1 + s2) / 2)
    a, b = ((inverse @ m[..., None])[..., 0] for m in (m1, m2))
    return np.zeros_like(s1), b - a, ((m1 * a).sum(axis=-1) - (m2 * b).sum(axis=-1)) / 2


def _quadratic_parts(m1: Array, s1: Array, m2: Array, s2: Array) -> tuple[Array, Array, Array]:
    # F&H (14), expanded into matrix, vector and constant
    inverse1, inverse2 = np.linalg.inv(s1), np.linalg.inv(s2)
    a = (inverse1 @ m1[..., None])[..., 0]
    b = (inverse2 @ m2[..., None])[..., 0]
    logs = np.linalg.slogdet(s1)[1] - np.linalg.slogdet(s2)[1]
    constant = ((m1 * a).sum(axis=-1) - (m2 * b).sum(axis=-1) + logs) / 2
    return (inverse1 - inverse2) / 2, b - a, constant


def form_in_class(rule: QuadraticRule, kind: GaussianClass) -> tuple[Array, Array, float]:
    """The weights, linear coefficients and constant of h as a form of the class's standard normal vector."""
    weights, linear, constant, _ = form_axes(rule, kind)
    return weights, linear, constant


def form_axes(rule: QuadraticRule, kind: GaussianClass) -> tuple[Array, Array, float, Array]:
    """`form_in_class`, and the axes in which it is diagonal: X = mean + factor·axes·z."""
    weights, linear, constant, axes = _form(rule.matrix[None], rule.vector[None], np.array([rule.constant]), kind)
    return weights[0], linear[0], float(constant[0]), axes[0]


def _form(matrix: Array, vector: Array, constant: Array, kind: GaussianClass) -> tuple[Array, Array, Array, Array]:
    # h at X = mean + factor·z, in the axes of its quadratic part
    inner = kind.factor.T @ matrix @ kind.factor
    weights, axes = np.linalg.eigh((inner + np.swapaxes(inner, -1, -2)) / 2)
    at_mean = matrix @ kind.mean
    slope = (2 * at_mean + vector) @ kind.factor
    linear = np.einsum("mji,mj->mi", axes, slope)
    return weights, linear, at_mean @ kind.mean + vector @ kind.mean + constant, axes
