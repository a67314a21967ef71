"""What finite design and test sets do to the error of a classifier (F&H, Sections II and III)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from strat.base import validate
from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, values
from strat.gaussian.dependent import both_errors
from strat.gaussian.problems import GaussianClass, Problem, as_points, two_gaussians
from strat.gaussian.quadratic_form import Complex, boundary_expectation
from strat.gaussian.rules import (
    QuadraticRule,
    errors_of_designs,
    estimate_class,
    form_in_class,
    linear_rule,
    quadratic_rule,
)


@checked
def distance_for_error(error: float) -> float:
    """|M| at which two Gaussians with equal covariances and priors have this Bayes error.

    Examples
    --------
    >>> round(distance_for_error(0.10), 4)                         # F&H's 2.56, in full
    2.5631
    """
    from scipy.special import ndtri

    if not 0 < error < 0.5:
        raise StratError.about(
            "error", f"must be between 0 and 0.5, got {error!r}; it is a Bayes error of two classes."
        )
    return float(-2 * ndtri(error))


@checked
def boundary_beta(problem: Problem, code: int) -> float:
    """β̄_i of F&H (57) in the form (63), for any two Gaussian classes and Bayes' quadratic classifier.

    (62) covers equal covariances only; here the integral over the boundary is computed for all.

    Examples
    --------
    >>> from strat.gaussian import leave_one_out_bias, shifted_problem
    >>> beta = boundary_beta(shifted_problem(8, distance=2.5631), 0)
    >>> bias = leave_one_out_bias(features=8, design_samples=80, distance=2.5631, method="first order")
    >>> round(beta, 6) == round(80 * bias, 6)
    True
    """
    if code not in (0, 1):
        raise StratError.about("code", f"must be 0 or 1, the first class or the second, got {code!r}.")
    first, second = two_gaussians(problem)
    rule = quadratic_rule(first, second, priors=problem.priors)
    weights, linear, constant = form_in_class(rule, (first, second)[code])
    n = problem.dimension

    def moment(mean: Complex, variance: Complex) -> Complex:
        # E{(z'z)²} for independent normals, so that (d⁴ + n) / 2 is integrated exactly
        sizes = (variance + mean**2).sum(axis=-1)
        spread = (2 * variance**2 + 4 * variance * mean**2).sum(axis=-1)
        return np.asarray((sizes**2 + spread + n) / 2)

    return boundary_expectation(weights, linear, constant, moment)


@checked
def error_variance(
    errors: ArrayLike,
    *,
    test_samples: ArrayLike,
    priors: ArrayLike | None = None,
    design_variance: float = 0.0,
) -> float:
    """The variance of an error estimate that comes from finite test sets, F&H (13), or from both, (33).

    Parameters
    ----------
    errors
        ε_i of each class; with a finite design set its expectation ε̄_i.
    test_samples
        N_i of each class.
    priors
        P_i; equal when not given.
    design_variance
        Var_d{ε̂}, of order 1/𝔑² for Bayes' classifier; 0 gives (13).

    Examples
    --------
    >>> round(error_variance([0.1, 0.1], test_samples=[50, 50]), 6)              # 0.1·0.9 / 100
    0.0009
    """
    shares = np.atleast_1d(values("errors", errors))
    if ((shares < 0) | (shares > 1)).any():
        raise StratError.about("errors", f"must be between 0 and 1, got {shares.tolist()!r}; use shares, not percent.")
    tested = values("test_samples", test_samples, finite=False)
    if tested.ndim and tested.shape != shares.shape:
        raise StratError.about("test_samples", f"must have one number per class ({len(shares)}), got {tested.size}.")
    counts = np.broadcast_to(tested, shares.shape)
    if not (counts > 1e-100).all():
        raise StratError.about("test_samples", f"must be positive, got {counts.tolist()!r}; test every class.")
    p = validate.probabilities("priors", priors, len(shares))
    return float((p**2 * shares * (1 - shares) / counts).sum() + design_variance)


@dataclass(frozen=True, repr=False)
class SampleError(Result):
    """An error estimate on given test samples, F&H (7) and (23), and its variance, (13)."""

    value: float
    by_class: tuple[float, float]
    variance: float

    def __str__(self) -> str:
        """The error with its standard error, and the error of each class."""
        return f"error {self.value:.4f} (se {self.se:.4f}); {self.by_class[0]:.4f} and {self.by_class[1]:.4f} by class"

    @property
    def se(self) -> float:
        """The standard error that comes from the finite test set."""
        return float(np.sqrt(self.variance))


@checked
def error_on_samples(
    rule: QuadraticRule, first: ArrayLike, second: ArrayLike, *, priors: ArrayLike | None = None
) -> SampleError:
    """The error of a given classifier on given test samples of the two classes, F&H (7).

    A sample on the boundary, where (8) is zero, counts one half.

    Examples
    --------
    >>> rule = QuadraticRule([[0.0]], [1.0], 0.0)                  # class 2 where x > 0
    >>> error_on_samples(rule, [-1.0, -2.0, 3.0, -4.0], [1.0, 2.0]).value
    0.125
    """
    p = validate.probabilities("priors", priors, 2)
    one = _half_sign(rule, first, "first")
    two = _half_sign(rule, second, "second")
    value = 0.5 + p[0] * one.mean() - p[1] * two.mean()  # F&H (7)
    by_class = (float(0.5 + one.mean()), float(0.5 - two.mean()))
    variance = error_variance(by_class, test_samples=(len(one), len(two)), priors=p)
    return SampleError(float(value), by_class, variance)


@checked
def error_of_sets(
    *,
    design: tuple[ArrayLike, ArrayLike],
    test: tuple[ArrayLike, ArrayLike],
    priors: ArrayLike | None = None,
    linear: bool = False,
) -> SampleError:
    """The error of the classifier designed on one pair of sample sets and tested on another, F&H (23).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> near, far = rng.normal(0, 1, (100, 2)), rng.normal(2, 1, (100, 2))
    >>> round(error_of_sets(design=(near[:50], far[:50]), test=(near[50:], far[50:])).value, 4)
    0.05
    """
    p = validate.probabilities("priors", priors, 2)
    first = estimate_class(design[0], "design[0]")
    second = estimate_class(design[1], "design[1]")
    make = linear_rule if linear else quadratic_rule
    return error_on_samples(make(first, second, priors=p), *test, priors=p)


@dataclass(frozen=True, eq=False, repr=False)
class Simulated(Result):
    """Values of a quantity over simulated sample sets."""

    values: Array

    def __str__(self) -> str:
        """Their average and spread."""
        return f"{self.mean:.4g} (se {self.se:.2g}; sd {self.sd:.3g} over {len(self.values):,} sample sets)"

    @property
    def mean(self) -> float:
        """Their average."""
        return float(self.values.mean())

    @property
    def sd(self) -> float:
        """Their standard deviation: what varies from one sample set to the next."""
        return float(self.values.std(ddof=1))

    @property
    def se(self) -> float:
        """Standard error of the average."""
        return self.sd / float(np.sqrt(len(self.values)))


@checked
def simulate_degradation(
    problem: Problem,
    *,
    design_samples: int,
    repetitions: int = 1000,
    linear: bool = False,
    rng: int | np.random.Generator = 0,
) -> Simulated:
    """True errors of quadratic (or linear) classifiers designed on simulated samples, as in F&H's Table I.

    Sample means and covariances are drawn from their exact (normal and Wishart) distributions.

    Examples
    --------
    >>> from strat.gaussian import shifted_problem
    >>> errors = simulate_degradation(shifted_problem(4, distance=2.5631), design_samples=200, repetitions=50)
    >>> 0.10 < errors.mean < 0.11
    True
    """
    sizes = (design_samples, design_samples)
    one, two = class_errors_of_designs(problem, sizes, repetitions=repetitions, rng=rng, linear=linear)
    return Simulated(problem.priors[0] * one + problem.priors[1] * two)


def class_errors_of_designs(
    problem: Problem,
    design_samples: tuple[int, int],
    *,
    repetitions: int,
    rng: int | np.random.Generator,
    linear: bool = False,
) -> tuple[Array, Array]:
    """The true errors of either class, ε_1 and ε_2, of classifiers designed on simulated samples."""
    generator = np.random.default_rng(rng)
    pairs = zip(two_gaussians(problem), design_samples, strict=True)
    one, two = [draw_estimates(kind, size, repetitions, generator) for kind, size in pairs]
    return errors_of_designs(*one, *two, problem, linear=linear)


@checked
def simulate_bias(
    problem: Problem, *, design_samples: ArrayLike, repetitions: int = 1000, rng: int | np.random.Generator = 0
) -> Simulated:
    """ε_L - ε_R over simulated sample sets, F&H (56) and (58); see `leave_one_out_bias_between` for the expansions.

    `design_samples` is one number for both classes, or one for each.

    Examples
    --------
    >>> from strat.gaussian import shifted_problem
    >>> bias = simulate_bias(shifted_problem(8, distance=2.5631), design_samples=80, repetitions=200)
    >>> 0.03 < bias.mean < 0.05
    True
    """
    generator = np.random.default_rng(rng)
    first, second = two_gaussians(problem)
    if repetitions < 1:
        raise StratError.about("repetitions", f"must be at least 1, got {repetitions}.")
    sizes = np.broadcast_to(positive_sizes(design_samples), (2,)).astype(int).tolist()
    block = max(1, 2_000_000 // (sum(sizes) * problem.dimension))
    biases = []
    for start in range(0, repetitions, block):
        count = min(block, repetitions - start)
        one, two = (draw_samples(k, size, count, generator) for k, size in zip((first, second), sizes, strict=True))
        resubstitution, left_out = both_errors(one, two, priors=problem.priors)
        biases.append(left_out - resubstitution)
    return Simulated(np.concatenate(biases))


def draw_estimates(
    kind: GaussianClass, samples: int, repetitions: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Sample means and sample covariances of `samples` points, `repetitions` times, without the points.

    The mean is N(M, Σ/N) and (N-1) times the covariance is Wishart, by Bartlett's triangular factor.
    """
    n, df = kind.dimension, samples - 1
    if samples <= n:
        raise StratError(too_few(n, samples, n + 1))
    means = kind.mean + rng.standard_normal((repetitions, n)) @ kind.factor.T / np.sqrt(samples)
    root = kind.factor @ draw_factor(n, df, repetitions, rng)
    return means, root @ np.swapaxes(root, 1, 2)


def draw_factor(features: int, df: int, repetitions: int, rng: np.random.Generator) -> Array:
    """Lower Cholesky factors of sample covariances of white points with `df` degrees of freedom."""
    triangle = np.tril(rng.standard_normal((repetitions, features, features)), -1)
    diagonal = np.sqrt(rng.chisquare(df - np.arange(features), size=(repetitions, features)))
    triangle[:, np.arange(features), np.arange(features)] = diagonal
    return np.asarray(triangle / np.sqrt(df))


def draw_samples(kind: GaussianClass, samples: int, repetitions: int, rng: np.random.Generator) -> Array:
    """`repetitions` sets of `samples` points of a class."""
    if samples <= kind.dimension + 1:
        raise StratError(too_few(kind.dimension, samples, kind.dimension + 2))
    draws = rng.standard_normal((repetitions, samples, kind.dimension))
    return np.asarray(kind.mean + draws @ kind.factor.T)


def _half_sign(rule: QuadraticRule, points: ArrayLike, argument: str) -> Array:
    # α of F&H (8): half the sign of h
    return np.asarray(np.sign(rule.score(as_points(points, rule.dimension, argument))) / 2)


def too_few(features: int, samples: float, least: float) -> str:
    """The sentence about too few design samples."""
    return (
        f"`design_samples` must be at least {least:g} for {features} features, or a covariance is singular, "
        f"got {samples:g}; use more samples or fewer features."
    )


def positive_sizes(design_samples: ArrayLike) -> Array:
    """The numbers of design samples: one, or one for each of two classes."""
    sizes = values("design_samples", design_samples, most=1e9)
    if sizes.shape not in ((), (1,), (2,)):
        raise StratError.about(
            "design_samples", f"must be one number or one for each of two classes, got {sizes.size}."
        )
    if (sizes < 1).any():
        raise StratError.about("design_samples", f"must be at least 1, got {sizes.min():g}; count those of each class.")
    return sizes
