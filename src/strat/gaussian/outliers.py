"""What one design sample does to a function of mean and covariance (F&H III-A) and to a classifier (III-C)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from strat.base import validate
from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, numbers
from strat.gaussian.polynomials import Polynomial
from strat.gaussian.problems import GaussianClass, Problem, as_points, two_gaussians
from strat.gaussian.quadratic_form import boundary_expectation
from strat.gaussian.rules import form_axes, quadratic_rule

STEP = 3e-3  # of the derivative, over 1 + d²: far from where a covariance would stop being one


@checked
def sample_influence(
    function: Callable[[GaussianClass], ArrayLike], kind: GaussianClass, added: ArrayLike, *, samples: int
) -> Array:
    """What the last of `samples` design samples changes in any smooth function of mean and covariance, F&H (45).

    To first order in 1/N it is 1/N of the derivative of f at (M, Σ) in the direction of (Y - M, (Y - M)(Y - M)' - Σ),
    which is taken numerically along that line: no gradients are needed. For a discriminant function of Y's own class at
    Y it is the difference between resubstitution and leave-one-out; elsewhere it is the influence of an outlier.
    `with_sample` and `estimate_class` give the change without the expansion.

    Parameters
    ----------
    function
        f, of a class: a score such as ``lambda one: linear_rule(one, two).score(y)``, a distance such as
        ``lambda one: bhattacharyya_distance(one, two)``, or any other. It may give several numbers.
    kind
        M and Σ.
    added
        Y, the sample that joins the N - 1 others.
    samples
        N, with Y.

    Examples
    --------
    F&H (46) at Y = 2 with one feature, M = 0 and Σ = 1. By (49) it changes by -(d⁴ + n) / 2N = -(16 + 1) / 20.

    >>> score = lambda one: -one.log_density([2.0])
    >>> sample_influence(score, GaussianClass(0.0), 2.0, samples=10).round(6)
    array([-0.85])
    """
    if samples < 2:
        raise StratError.about("samples", f"must be at least 2, got {samples}; Y joins those that are there.")
    y = as_points(added, kind.dimension, "added")[0] - kind.mean
    outer = np.outer(y, y)
    step = STEP / (1 + float(kind.distances(y + kind.mean)[0]))

    def at(t: float) -> Array:
        value = np.asarray(function(GaussianClass(kind.mean + t * y, (1 - t) * kind.covariance + t * outer)))
        if value.dtype.kind not in "iuf" or not np.isfinite(value).all():
            raise StratError.about("function", f"must give finite numbers, got {value!r} near the mean and covariance.")
        return value

    slope = (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step)
    return np.asarray(slope / samples)


@checked
def outlier_influence(points: ArrayLike, outlier: ArrayLike, kind: GaussianClass) -> Array:
    """g(X, Y) of F&H (64): N times the change of f(M, Σ) at each point when Y joins N - 1 design samples.

    Examples
    --------
    One feature, Y at 2 standard deviations, X at the mean: (4 - 1) / 2.

    >>> outlier_influence([0.0], [2.0], GaussianClass(0.0))
    array([1.5])
    """
    return _influence(kind, outlier).at(as_points(points, kind.dimension))


@checked
def outlier_effect(
    design: Problem, outlier: ArrayLike, *, code: int, samples: int, truth: Problem | None = None
) -> float:
    """The change of the true error when an outlier joins class `code`'s `samples` - 1 design samples, F&H (67).

    Parameters
    ----------
    design
        The two Gaussian classes of which the classifier knows the parameters.
    outlier
        Y, the added design sample.
    code
        0 or 1, the class that Y joins.
    samples
        N, the number of design samples with Y.
    truth
        The classes that the classifier meets; those of `design` when not given. Then the classifier is
        Bayes' and the effect vanishes to first order, F&H (68).

    Examples
    --------
    >>> from strat.gaussian import shifted_problem
    >>> abs(outlier_effect(shifted_problem(3, distance=2.0), [9.0, 0.0, 0.0], code=0, samples=50)) < 1e-12
    True
    """
    if code not in (0, 1):
        raise StratError.about("code", f"must be 0 or 1, the class that the outlier joins, got {code!r}.")
    met = design if truth is None else truth
    first, second = two_gaussians(design)
    rule = quadratic_rule(first, second, priors=design.priors)
    kind = (first, second)[code]
    total = 0.0
    for sign, prior, tested in zip((1.0, -1.0), met.priors, two_gaussians(met), strict=True):
        weights, linear, constant, axes = form_axes(rule, tested)
        total += (
            sign
            * prior
            * boundary_expectation(weights, linear, constant, _influence(kind, outlier).in_class(tested, axes).mean)
        )
    return float((1.0 if code == 0 else -1.0) * total / samples)


def _influence(kind: GaussianClass, outlier: ArrayLike) -> Polynomial:
    """g(X, Y) of F&H (64) as a polynomial of X."""
    y = as_points(outlier, kind.dimension, "outlier")[0] - kind.mean
    solved = np.linalg.solve(kind.covariance, y)
    inner = np.linalg.inv(kind.covariance) - np.outer(solved, solved)
    return Polynomial.about(kind.mean, inner / 2, -solved, float(y @ solved - kind.dimension) / 2)


@checked
def scaled_outlier(kind: GaussianClass, distance: float, rng: int | np.random.Generator = 0) -> Array:
    """A sample of the class moved to normalised squared distance `distance` from its mean (F&H Table III).

    Examples
    --------
    >>> kind = GaussianClass([1.0, 2.0])
    >>> kind.distances(scaled_outlier(kind, 16.0)).round(6)
    array([16.])
    """
    point = kind.sample(1, rng)
    scale = np.sqrt(distance / kind.distances(point))
    return np.asarray(kind.mean + (point[0] - kind.mean) * scale)


@checked
def with_sample(means: ArrayLike, covariances: ArrayLike, samples: int, added: ArrayLike) -> tuple[Array, Array]:
    """Sample means and covariances of `samples` points after one more joins, exactly, F&H (36) and (38).

    Parameters
    ----------
    means, covariances
        Of each of several sets of points: sets × features, and sets × features × features.
    samples
        How many points each set has.
    added
        The point that joins each set: sets × features.

    Examples
    --------
    Points 0 and 2, joined by 4: mean 2, variance 4.

    >>> with_sample(np.array([[1.0]]), np.array([[[2.0]]]), 2, np.array([[4.0]]))
    (array([[2.]]), array([[[4.]]]))
    """
    mean, covariance, point = (
        numbers(name, values, axes=axes)
        for name, values, axes in (("means", means, 2), ("covariances", covariances, 3), ("added", added, 2))
    )
    for name, array, shape in (("added", point, mean.shape), ("covariances", covariance, (*mean.shape, mean.shape[1]))):
        if array.shape != shape:
            raise StratError.about(name, f"must be of shape {shape}, as `means` are {mean.shape}, got {array.shape}.")
    total = validate.count("samples", samples) + 1
    step = point - mean
    outer = step[:, :, None] * step[:, None, :] / total
    return mean + step / total, covariance * (total - 2) / (total - 1) + outer
