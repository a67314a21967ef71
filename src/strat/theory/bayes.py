"""Bayes' error, decision regions on the line, reject-optimal rules, and where an error comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.colours import OKABE_ITO
from strat.columns import Array, Codes
from strat.doors import checked
from strat.errors import StratError, one_of
from strat.theory.gaussian import DiscreteProblem, GaussianClass, Problem, two_gaussians
from strat.theory.membership import maximum_membership
from strat.theory.pictures import new_axes
from strat.theory.results import Probability
from strat.theory.rules import QuadraticRule, linear_rule, quadratic_classifier_error, quadratic_rule


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
        raise StratError(
            f"`problem` must have one feature, got {problem.dimension}; use `decision_regions` for a plane."
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
    found: list[float] = []
    for a, b in combinations(range(len(problem.classes)), 2):
        one, two = problem.classes[a], problem.classes[b]
        if isinstance(one, GaussianClass) and isinstance(two, GaussianClass):
            rule = quadratic_rule(one, two, priors=np.maximum(problem.priors[[a, b]], 1e-300))
            found += _roots(rule.matrix[0, 0], rule.vector[0], rule.constant)
        else:
            found += _search(problem, a, b)
    return np.array(found)


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


@dataclass(frozen=True)
class ErrorParts:
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


@dataclass(frozen=True, eq=False)
class RejectCurve:
    """Error and rejection of Chow's rule at several costs of a rejection."""

    costs: Array
    errors: Array
    rejections: Array
    se: Array

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
    A rejection that costs as much as a coin's error is never worth it with two classes.

    >>> problem = Problem([GaussianClass(-1.0), GaussianClass(1.0)])
    >>> curve = reject_curve(problem, [0.5, 0.2], samples=20_000)
    >>> float(curve.rejections[0]), bool(curve.errors[1] < curve.errors[0])
    (0.0, True)
    """
    levels = np.atleast_1d(np.asarray(costs, dtype=float))
    if ((levels < 0) | (levels > 1)).any():
        raise StratError(f"`costs` must be between 0 and 1, the cost of an error, got {levels.tolist()!r}; rescale.")
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


@dataclass(frozen=True, eq=False)
class LinePicture:
    """Discriminant functions of a problem on the line with Bayes' regions (Kuncheva, Figures 1.18 and 1.19)."""

    points: Array
    joint: Array
    regions: tuple[Region, ...]
    other: float | None = None

    def plot(self, ax: Any = None, *, posteriors: bool = False) -> Any:
        """P(ω_i) p(x|ω_i), or the posteriors, over the shaded decision regions."""
        axes = new_axes(ax)
        heights = self.joint / self.joint.sum(axis=1, keepdims=True) if posteriors else self.joint
        for code in range(heights.shape[1]):
            axes.plot(self.points, heights[:, code], color=OKABE_ITO[code % 8], label=f"class {code + 1}")
        low, high = self.points[0], self.points[-1]
        for region in self.regions:
            start, end = max(region.low, low), min(region.high, high)
            if start < end:
                axes.axvspan(start, end, color=OKABE_ITO[region.code % 8], alpha=0.10, lw=0)
        if heights.shape[1] == 2 and not posteriors:
            self._shade(axes)
        cuts = [r.high for r in self.regions[:-1] if low < r.high < high]
        axes.plot(cuts, np.zeros(len(cuts)), "o", color="black", label="optimal boundary", clip_on=False)
        if self.other is not None:
            axes.plot([self.other], [0], "o", mfc="white", color="black", label="other boundary", clip_on=False)
        axes.set_xlabel("x")
        axes.set_ylabel("posterior" if posteriors else "prior × density")
        axes.set_xlim(low, high)
        axes.legend(frameon=False)
        return axes

    def _shade(self, axes: Any) -> None:
        # the light area is Bayes' error, the dark one what the other boundary adds (Figure 1.19)
        smaller, larger = self.joint.min(axis=1), self.joint.max(axis=1)
        axes.fill_between(self.points, 0, smaller, color="0.75", lw=0, label="Bayes error")
        if self.other is None:
            return
        chosen = (self.points > self.other).astype(int)
        wrong = chosen != self.joint.argmax(axis=1)
        axes.fill_between(self.points, smaller, larger, where=wrong, color="0.35", lw=0, label="added error")


@checked
def line_picture(
    problem: Problem, *, low: float, high: float, other: float | None = None, points: int = 801
) -> LinePicture:
    """The discriminant functions of Kuncheva (1.24) between `low` and `high`, ready to plot.

    Examples
    --------
    >>> line_picture(example_1_12(), low=0.0, high=10.0).joint.shape
    (801, 3)
    """
    x = np.linspace(low, high, points)
    return LinePicture(x, np.exp(problem.log_joint(x)), decision_intervals(problem), other)


def example_1_12() -> Problem:
    """The three classes on the line of Kuncheva's Example 1.12.

    Examples
    --------
    >>> boundaries(example_1_12()).round(3)
    array([4.132, 6.322, 9.92 ])
    """
    kinds = [GaussianClass(4.0, 4.0), GaussianClass(5.0, 1.44), GaussianClass(7.0, 1.0)]
    return Problem(kinds, [0.45, 0.35, 0.20])


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
        raise StratError(
            f"`problem` must have one feature and two classes, got {problem.dimension} and "
            f"{len(problem.classes)}; use `classifier_error` for others."
        )
    at = np.array([boundary])
    errors = (1 - problem.classes[0].cumulative(at)[0], problem.classes[1].cumulative(at)[0])
    return Probability(
        float(problem.priors @ np.array(errors)), "exact", bound=1e-15, by_class=(float(errors[0]), float(errors[1]))
    )


@checked
def chow_decide(problem: Problem, points: ArrayLike, *, cost: float) -> Codes:
    """Chow's decision at each point from the problem's own posteriors: a code, or -1 for a rejection.

    Examples
    --------
    >>> problem = Problem([GaussianClass(-1.0), GaussianClass(1.0)])
    >>> chow_decide(problem, [-2.0, 0.1, 2.0], cost=0.2)
    array([ 0, -1,  1])
    """
    from strat.theory.membership import chow_rule

    return chow_rule(problem.posteriors(points), cost=cost)
