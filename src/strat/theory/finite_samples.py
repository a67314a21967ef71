"""What finite design and test sets do to the error of a classifier (F&H, Sections II and III)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from strat.columns import Array, values
from strat.doors import checked
from strat.errors import StratError
from strat.notebook import in_words
from strat.theory.dependent import both_errors
from strat.theory.gaussian import GaussianClass, Problem, as_points, probabilities, two_gaussians
from strat.theory.quadratic_form import Complex, boundary_expectation
from strat.theory.rules import (
    QuadraticRule,
    errors_of_designs,
    estimate_class,
    form_in_class,
    linear_rule,
    quadratic_rule,
)


@checked
def quadratic_degradation(*, features: int, design_samples: float, distance: float) -> float:
    """How much a quadratic classifier's expected error exceeds Bayes' because its design set is finite.

    For two Gaussian classes with equal covariances. F&H do not print it; it is half of (56) with (62).

    Parameters
    ----------
    features
        Number of features, n.
    design_samples
        Design samples of each class, 𝔑.
    distance
        |M|, the distance of the means in units of the common standard deviation (Mahalanobis).

    Examples
    --------
    Table I, n = 8 and k = 3, at a Bayes error of 10 %: printed 16.89 %.

    >>> round(100 * (0.10 + quadratic_degradation(features=8, design_samples=24, distance=2.5631)), 2)
    16.9
    """
    return leave_one_out_bias(features=features, design_samples=design_samples, distance=distance) / 2


@checked
def linear_degradation(*, features: int, design_samples: float, distance: float) -> float:
    """How much Fisher's linear classifier's expected error exceeds Bayes' because its design set is finite.

    The same expansion for F&H (15); it agrees with Okamoto's for `design_samples` of each class. Roughly
    proportional to n / 𝔑, where the quadratic classifier's goes like n² / 𝔑.

    Examples
    --------
    >>> round(100 * linear_degradation(features=8, design_samples=24, distance=2.5631), 2)
    2.87
    """
    check_model(features=features, design_samples=design_samples, distance=distance)
    if 2 * design_samples - 2 < features:
        raise StratError(_too_few(features, design_samples, (features + 2) / 2))
    square = distance**2
    bracket = (1 + square / 4) * features - 1
    return _boundary_height(square) * bracket / design_samples


@checked
def leave_one_out_bias(*, features: int, design_samples: float, distance: float) -> float:
    """E{ε_L - ε_R} of a quadratic classifier, F&H (56) with (62), for equal covariances.

    Roughly proportional to n² / N.

    Examples
    --------
    Table II, n = 8 and k = 10: printed 4.14 %.

    >>> round(100 * leave_one_out_bias(features=8, design_samples=80, distance=2.5631), 2)
    4.14
    """
    check_model(features=features, design_samples=design_samples, distance=distance)
    if design_samples <= features:
        raise StratError(_too_few(features, design_samples, features + 1))
    n, square = features, distance**2
    bracket = n**2 + (1 + square / 2) * n + square**2 / 16 - square / 2 - 1
    return _boundary_height(square) * bracket / design_samples


def check_model(*, features: float, design_samples: float, distance: float) -> None:
    """Errors for a model of two Gaussians that makes no sense."""
    if features < 1:
        raise StratError(f"`features` must be at least 1, got {features!r}; count the measured features.")
    if not design_samples > 0:
        raise StratError(f"`design_samples` must be positive, got {design_samples!r}; count those of one class.")
    if not 1e-100 <= distance <= 1e100:
        raise StratError(
            f"`distance` must be positive and at most 1e100, got {distance!r}; for a Bayes error e it is -2·Φ⁻¹(e)."
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
        raise StratError(f"`error` must be between 0 and 0.5, got {error!r}; it is a Bayes error of two classes.")
    return float(-2 * ndtri(error))


@checked
def boundary_beta(problem: Problem, code: int) -> float:
    """β̄_i of F&H (57) in the form (63), for any two Gaussian classes and Bayes' quadratic classifier.

    (62) covers equal covariances only; here the integral over the boundary is computed for all.

    Examples
    --------
    >>> from strat.theory import shifted_problem
    >>> beta = boundary_beta(shifted_problem(8, distance=2.5631), 0)
    >>> round(beta, 6) == round(80 * leave_one_out_bias(features=8, design_samples=80, distance=2.5631), 6)
    True
    """
    if code not in (0, 1):
        raise StratError(f"`code` must be 0 or 1, the first class or the second, got {code!r}.")
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
def leave_one_out_bias_between(problem: Problem, *, design_samples: ArrayLike) -> float:
    """E{ε_L - ε_R} of F&H (56) for any two Gaussian classes, with N_1 and N_2 design samples.

    Examples
    --------
    >>> from strat.theory import scaled_problem
    >>> round(100 * leave_one_out_bias_between(scaled_problem(8), design_samples=80), 2)
    4.29
    """
    counts = np.broadcast_to(values("design_samples", design_samples), (2,))
    if (counts < 1).any():
        raise StratError(f"`design_samples` must be at least 1, got {counts.min():g}; count those of each class.")
    betas = np.array([boundary_beta(problem, 0), boundary_beta(problem, 1)])
    return float((problem.priors * betas / counts).sum())


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
        raise StratError(f"`errors` must be between 0 and 1, got {shares.tolist()!r}; use shares, not percent.")
    tested = values("test_samples", test_samples, finite=False)
    if tested.ndim and tested.shape != shares.shape:
        raise StratError(f"`test_samples` must have one number per class ({len(shares)}), got {tested.size}.")
    counts = np.broadcast_to(tested, shares.shape)
    if not (counts > 1e-100).all():
        raise StratError(f"`test_samples` must be positive, got {counts.tolist()!r}; test every class.")
    p = probabilities("priors", priors, len(shares))
    return float((p**2 * shares * (1 - shares) / counts).sum() + design_variance)


@dataclass(frozen=True)
class SampleError:
    """An error estimate on given test samples, F&H (7) and (23), and its variance, (13)."""

    value: float
    by_class: tuple[float, float]
    variance: float

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
    p = probabilities("priors", priors, 2)
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
    p = probabilities("priors", priors, 2)
    first = estimate_class(design[0], "design[0]")
    second = estimate_class(design[1], "design[1]")
    make = linear_rule if linear else quadratic_rule
    return error_on_samples(make(first, second, priors=p), *test, priors=p)


@dataclass(frozen=True)
class HoldoutMoments:
    """Expectation and variance of a hold-out error: the bias is the design set's, the variance the test set's."""

    bayes: float
    degradation: float
    variance: float

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
) -> HoldoutMoments:
    """Expectation (27) and variance (33) of the hold-out error for equal covariances and priors.

    Examples
    --------
    >>> moments = holdout_moments(features=8, distance=2.5631, design_samples=80, test_samples=80)
    >>> round(moments.expected, 4), round(moments.se, 4)
    (0.1207, 0.0258)
    """
    from scipy.special import ndtr

    bayes = float(ndtr(-distance / 2))
    degrade = linear_degradation if linear else quadratic_degradation
    extra = degrade(features=features, design_samples=design_samples, distance=distance)
    expected = min(bayes + extra, 0.5)
    variance = error_variance([expected, expected], test_samples=test_samples, design_variance=design_variance)
    return HoldoutMoments(bayes, extra, variance)


@in_words
@dataclass(frozen=True, eq=False)
class Simulated:
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
    problem: Problem, *, design_samples: int, repetitions: int = 1000, rng: int | np.random.Generator = 0
) -> Simulated:
    """True errors of quadratic classifiers designed on simulated samples, as in F&H's Table I.

    Sample means and covariances are drawn from their exact (normal and Wishart) distributions.

    Examples
    --------
    >>> from strat.theory import shifted_problem
    >>> errors = simulate_degradation(shifted_problem(4, distance=2.5631), design_samples=200, repetitions=50)
    >>> 0.10 < errors.mean < 0.11
    True
    """
    generator = np.random.default_rng(rng)
    first, second = two_gaussians(problem)
    one = draw_estimates(first, design_samples, repetitions, generator)
    two = draw_estimates(second, design_samples, repetitions, generator)
    return Simulated(errors_of_designs(*one, *two, problem))


@checked
def simulate_bias(
    problem: Problem, *, design_samples: int, repetitions: int = 1000, rng: int | np.random.Generator = 0
) -> Simulated:
    """ε_L - ε_R over simulated sample sets: the variance (58), which has no closed form, is `.sd` squared.

    Examples
    --------
    >>> from strat.theory import shifted_problem
    >>> bias = simulate_bias(shifted_problem(8, distance=2.5631), design_samples=80, repetitions=200)
    >>> 0.03 < bias.mean < 0.05
    True
    """
    generator = np.random.default_rng(rng)
    first, second = two_gaussians(problem)
    needed = design_samples * problem.dimension * 2
    block = max(1, 2_000_000 // needed)
    values = []
    for start in range(0, repetitions, block):
        count = min(block, repetitions - start)
        one, two = (draw_samples(kind, design_samples, count, generator) for kind in (first, second))
        resubstitution, left_out = both_errors(one, two, priors=problem.priors)
        values.append(left_out - resubstitution)
    return Simulated(np.concatenate(values))


def draw_estimates(
    kind: GaussianClass, samples: int, repetitions: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Sample means and sample covariances of `samples` points, `repetitions` times, without the points.

    The mean is N(M, Σ/N) and (N-1) times the covariance is Wishart, by Bartlett's triangular factor.
    """
    n, df = kind.dimension, samples - 1
    if samples <= n:
        raise StratError(_too_few(n, samples, n + 1))
    means = kind.mean + rng.standard_normal((repetitions, n)) @ kind.factor.T / np.sqrt(samples)
    triangle = np.tril(rng.standard_normal((repetitions, n, n)), -1)
    diagonal = np.sqrt(rng.chisquare(df - np.arange(n), size=(repetitions, n)))
    triangle[:, np.arange(n), np.arange(n)] = diagonal
    root = kind.factor @ triangle / np.sqrt(df)
    return means, root @ np.swapaxes(root, 1, 2)


def draw_samples(kind: GaussianClass, samples: int, repetitions: int, rng: np.random.Generator) -> Array:
    """`repetitions` sets of `samples` points of a class."""
    if samples <= kind.dimension + 1:
        raise StratError(_too_few(kind.dimension, samples, kind.dimension + 2))
    draws = rng.standard_normal((repetitions, samples, kind.dimension))
    return np.asarray(kind.mean + draws @ kind.factor.T)


def _half_sign(rule: QuadraticRule, points: ArrayLike, argument: str) -> Array:
    # α of F&H (8): half the sign of h
    return np.asarray(np.sign(rule.score(as_points(points, rule.dimension, argument))) / 2)


def _boundary_height(square: float) -> float:
    return float(np.exp(-square / 8) / (2 * np.sqrt(2 * np.pi * square)))


def _too_few(features: int, samples: float, least: float) -> str:
    return (
        f"`design_samples` must be at least {least:g} for {features} features, or a covariance is singular, "
        f"got {samples:g}; use more samples or fewer features."
    )
