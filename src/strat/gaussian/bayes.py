"""Bayes' error, decision regions on the line, reject-optimal rules, and where an error comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.gaussian.membership import maximum_membership
from strat.gaussian.probability import Probability
from strat.gaussian.problems import DiscreteProblem, GaussianClass, Problem, two_gaussians
from strat.gaussian.rules import quadratic_classifier_error, quadratic_rule


@dataclass(frozen=True)
class Region:
    """An interval of the line in which one class is chosen."""

    low: float
    high: float
    code: int


@checked
def decision_intervals(problem: Problem) -> tuple[Region, ...]:
    """The decision regions of Bayes' rule on the line, left to right, Kuncheva (1.6).

    Examples
    --------
    Two unit Gaussians at -1 and 1 meet at 0.

    >>> [round(r.high, 6) for r in decision_intervals(Problem([GaussianClass(-1.0), GaussianClass(1.0)]))]
    [0.0, inf]
    """
    if problem.dimension != 1:
        raise StratError.about(
            "problem", f"must have one feature, got {problem.dimension}; use `decision_regions` for a plane."
        )
    cuts = np.unique(_crossings(problem))
    inner = (cuts[1:] + cuts[:-1]) / 2
    width = max(1.0, float(np.abs(cuts).max())) if len(cuts) else 1.0
    probes = np.concatenate([[cuts[0] - width], inner, [cuts[-1] + width]]) if len(cuts) else np.zeros(1)
    codes = maximum_membership(problem.log_joint(probes))
    regions: list[Region] = []
    for low, high, code in zip([-np.inf, *cuts], [*cuts, np.inf], codes, strict=True):
        if regions and regions[-1].code == code:
            low = regions.pop().low
        regions.append(Region(float(low) + 0.0, float(high) + 0.0, int(code)))
    return tuple(regions)


@checked
def boundaries(problem: Problem) -> Array:
    """The points of the line at which Bayes' rule changes its mind (Kuncheva, Example 1.12).

    Examples
    --------
    >>> boundaries(Problem([GaussianClass(0.0), GaussianClass(2.0)])).round(6)
    array([1.])
    """
    return np.array([r.high for r in decision_intervals(problem)[:-1]])


def _crossings(problem: Problem) -> Array:
    crossings: list[float] = []
    for a, b in combinations(range(len(problem.classes)), 2):
        one, two = problem.classes[a], problem.classes[b]
        if isinstance(one, GaussianClass) and isinstance(two, GaussianClass):
            rule = quadratic_rule(one, two, priors=np.maximum(problem.priors[[a, b]], 1e-300))
            crossings += _roots(rule.matrix[0, 0], rule.vector[0], rule.constant)
        else:
            crossings += _search(problem, a, b)
    return np.array(crossings)


def _roots(a: float, b: float, c: float) -> list[float]:
    if abs(a) < 1e-14 * max(abs(b), 1e-300):
        return [-c / b] if b else []
    inside = b * b - 4 * a * c
    if inside <= 0:
        return []
    far = -(b + np.copysign(np.sqrt(inside), b)) / 2  # the stable form: no difference of near-equal numbers
    return [float(far / a), float(c / far)] if far else [0.0]


def _search(problem: Problem, a: int, b: int) -> list[float]:
    from scipy.optimize import brentq

    spans = [problem.classes[i].span() for i in (a, b)]
    grid = np.linspace(min(s[0] for s in spans), max(s[1] for s in spans), 8001)

    def gap(x: float | Array) -> Any:
        joint = problem.log_joint(np.atleast_1d(x))
        difference = joint[:, a] - joint[:, b]
        return difference if np.ndim(x) else float(difference[0])

    values = gap(grid)
    change = np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1]))
    return [float(brentq(gap, grid[i], grid[i + 1], xtol=1e-13)) for i in change]


@checked
def bayes_error(
    problem: Problem | DiscreteProblem, *, samples: int = 200_000, rng: int | np.random.Generator = 0
) -> Probability:
    """The smallest possible error, Kuncheva (1.28).

    Exact for discrete problems, on the line, and for two Gaussians with one covariance; to 1e-8 for any two
    Gaussians (distribution of a quadratic form) and for any number of Gaussians in the plane (cubature);
    otherwise the average of one minus the largest posterior over `samples` draws, with its standard error.

    Parameters
    ----------
    problem
        The classes and priors.
    samples
        Draws for Monte Carlo, where nothing better is known.
    rng
        Seed or generator for these draws.

    Examples
    --------
    Two unit Gaussians, means 2 apart: Φ(-1).

    >>> print(bayes_error(Problem([GaussianClass([0.0, 0.0]), GaussianClass([2.0, 0.0])])))
    0.1586552539 (exact, numerical error below 1e-15)
    """
    if isinstance(problem, DiscreteProblem):
        right = (problem.masses * problem.priors[:, None]).max(axis=0).sum()
        return Probability(float(max(0.0, 1 - right)), "exact", bound=1e-15)
    if problem.dimension == 1:
        return _error_on_line(problem)
    if problem.gaussian and len(problem.classes) == 2 and problem.priors.min() > 0:
        return _error_of_two(problem)
    if problem.gaussian and problem.dimension == 2:
        return _error_in_plane(problem)
    return _error_by_draws(problem, samples, rng)


def _error_on_line(problem: Problem) -> Probability:
    regions = decision_intervals(problem)
    edges = np.array([[r.low, r.high] for r in regions])
    by_class = np.ones(len(problem.classes))
    for region, (low, high) in zip(regions, edges, strict=True):
        mass = np.diff(problem.classes[region.code].cumulative(np.array([low, high])))[0]
        by_class[region.code] -= mass
    return Probability(
        float(problem.priors @ by_class), "exact", bound=1e-15, by_class=tuple(float(e) for e in by_class)
    )


def _error_of_two(problem: Problem) -> Probability:
    first, second = two_gaussians(problem)
    equal = np.array_equal(first.covariance, second.covariance)
    if not equal:
        return quadratic_classifier_error(quadratic_rule(first, second, priors=problem.priors), problem)
    from scipy.special import ndtr

    step = np.linalg.solve(first.factor, second.mean - first.mean)
    distance, ratio = float(np.sqrt(step @ step)), float(np.log(problem.priors[0] / problem.priors[1]))
    if distance == 0:
        return Probability(float(problem.priors.min()), "exact", bound=1e-15)
    one = float(ndtr(-distance / 2 - ratio / distance))
    two = float(ndtr(-distance / 2 + ratio / distance))
    value = float(problem.priors[0] * one + problem.priors[1] * two)
    return Probability(value, "exact", bound=1e-15, by_class=(one, two))


def _error_in_plane(problem: Problem) -> Probability:
    # given the first feature the second one's problem is on the line, and solved exactly there
    from scipy.integrate import quad

    kinds = [c for c in problem.classes if isinstance(c, GaussianClass)]
    slopes = [c.covariance[0, 1] / c.covariance[0, 0] for c in kinds]
    rests = [c.covariance[1, 1] - c.covariance[0, 1] ** 2 / c.covariance[0, 0] for c in kinds]
    margins = [GaussianClass(c.mean[:1], c.covariance[:1, :1]) for c in kinds]

    def error_at(x: float) -> float:
        heights = problem.priors * np.exp([m.log_density([x])[0] for m in margins])
        if heights.sum() < 1e-300:
            return 0.0
        slices = [
            GaussianClass(c.mean[1] + s * (x - c.mean[0]), r) for c, s, r in zip(kinds, slopes, rests, strict=True)
        ]
        return float(heights.sum() * _error_on_line(Problem(slices, heights / heights.sum())).value)

    spans = np.array([m.span() for m in margins])
    centres = sorted({float(m.mean[0]) for m in margins})
    edges = [spans[:, 0].min(), *centres, spans[:, 1].max()]
    parts = [quad(error_at, a, b, epsabs=1e-10, epsrel=1e-9, limit=80)[:2] for a, b in pairwise(edges) if b > a]
    value, bound = (float(sum(column)) for column in zip(*parts, strict=True))
    return Probability(value, "cubature", bound=bound)


def _error_by_draws(problem: Problem, samples: int, rng: int | np.random.Generator) -> Probability:
    generator = np.random.default_rng(rng)
    value, variance = 0.0, 0.0
    for prior, kind in zip(problem.priors, problem.classes, strict=True):
        count = max(2, round(samples * prior))
        risk = 1 - problem.posteriors(kind.sample(count, generator)).max(axis=1)
        value += prior * risk.mean()
        variance += prior**2 * risk.var(ddof=1) / count
    return Probability(float(value), "Monte Carlo", se=float(np.sqrt(variance)))


@checked
def classifier_error(
    problem: Problem,
    decide: Callable[[Array], ArrayLike],
    *,
    samples: int = 200_000,
    rng: int | np.random.Generator = 0,
) -> Probability:
    """The error, Kuncheva (1.32), of any function from points to class codes, with its standard error.

    The average of one minus the posterior of the chosen class, which varies less than counted errors.

    Examples
    --------
    >>> problem = Problem([GaussianClass(-1.0), GaussianClass(1.0)])
    >>> error = classifier_error(problem, lambda x: x[:, 0] > 0)
    >>> abs(error.value - 0.158655) < 3 * error.se
    True
    """
    generator = np.random.default_rng(rng)
    value, variance, by_class = 0.0, 0.0, []
    for code, (prior, kind) in enumerate(zip(problem.priors, problem.classes, strict=True)):
        points = kind.sample(max(2, round(samples * prior)), generator)
        chosen = np.asarray(decide(points)).astype(np.int64)
        risk = 1 - problem.posteriors(points)[np.arange(len(points)), chosen]
        by_class.append(float((chosen != code).mean()))
        value += prior * risk.mean()
        variance += prior**2 * risk.var(ddof=1) / len(points)
    return Probability(float(value), "Monte Carlo", se=float(np.sqrt(variance)), by_class=tuple(by_class))


@checked
def shifted_boundary_error(problem: Problem, boundary: float) -> Probability:
    """The error of the rule "left of `boundary` class 1, right of it class 2" on the line, Kuncheva (1.36).

    What exceeds Bayes' error is the dark area of Kuncheva's Example 1.13.

    Examples
    --------
    >>> problem = Problem([GaussianClass(-1.0), GaussianClass(1.0)])
    >>> round(shifted_boundary_error(problem, 0.5).value - bayes_error(problem).value, 6)
    0.029017
    """
    if problem.dimension != 1 or len(problem.classes) != 2:
        raise StratError.about(
            "problem",
            f"must have one feature and two classes, got {problem.dimension} and "
            f"{len(problem.classes)}; use `classifier_error` for others.",
        )
    at = np.array([boundary])
    errors = (1 - problem.classes[0].cumulative(at)[0], problem.classes[1].cumulative(at)[0])
    return Probability(
        float(problem.priors @ np.array(errors)), "exact", bound=1e-15, by_class=(float(errors[0]), float(errors[1]))
    )
