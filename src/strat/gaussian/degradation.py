"""How much a finite design set costs: F&H's first-order expansions where they hold, simulation where they do not.

An expansion in 1/N has no ceiling: with few samples per feature it promises errors above one. It is used from 20 design
samples per feature on, as long as the degradation is at most a tenth of the way from Bayes' error to one half; it is
then good to about a sixth of the degradation. Elsewhere the errors of designed classifiers are simulated with a fixed
seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, ndtr

from strat.base.errors import StratError, one_of
from strat.base.limits import LIMITS
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.gaussian.bayes import bayes_error
from strat.gaussian.finite_samples import (
    Simulated,
    boundary_beta,
    draw_factor,
    positive_sizes,
    simulate_bias,
    too_few,
)
from strat.gaussian.problems import Problem, shifted_problem

METHODS = ("auto", "first order", "simulated")
PER_FEATURE, TENTH = 20, 0.1  # where the expansion is trusted
DRAWS = 200_000  # designs of a simulated degradation
GRID = 16  # sizes of a simulated curve


@checked
def quadratic_degradation(*, features: int, design_samples: float, distance: float, method: str = "auto") -> float:
    """How much a quadratic classifier's expected error exceeds Bayes' because its design set is finite.

    For two Gaussian classes with equal covariances. F&H do not print the expansion; it is half of (56) with (62).

    Parameters
    ----------
    features
        Number of features, n.
    design_samples
        Design samples of each class, 𝔑.
    distance
        |M|, the distance of the means in units of the common standard deviation (Mahalanobis).
    method
        "first order" (the expansion, however far off), "simulated", or "auto": the expansion from 20 samples per
        feature on, while it stays within a tenth of the way from Bayes' error to one half, and simulation elsewhere.

    Examples
    --------
    Table I, n = 8 and k = 3, at a Bayes error of 10 %: printed 16.89 % in theory, and 19 % is true.

    >>> case = {"features": 8, "design_samples": 24, "distance": 2.5631}
    >>> round(100 * (0.10 + quadratic_degradation(**case, method="first order")), 2)
    16.9
    >>> round(0.10 + quadratic_degradation(**case), 2)
    0.19
    """
    return Degradation(features, distance).at(design_samples, method)


@checked
def linear_degradation(*, features: int, design_samples: float, distance: float, method: str = "auto") -> float:
    """How much Fisher's linear classifier's expected error exceeds Bayes' because its design set is finite.

    The same expansion for F&H (15); it agrees with Okamoto's for `design_samples` of each class. Roughly
    proportional to n / 𝔑, where the quadratic classifier's goes like n² / 𝔑. `method` is that of
    `quadratic_degradation`.

    Examples
    --------
    >>> case = {"features": 8, "design_samples": 24, "distance": 2.5631}
    >>> round(100 * linear_degradation(**case, method="first order"), 2), round(100 * linear_degradation(**case), 1)
    (2.87, 3.2)
    """
    return Degradation(features, distance, linear=True).at(design_samples, method)


@checked
def leave_one_out_bias(*, features: int, design_samples: float, distance: float, method: str = "auto") -> float:
    """E{ε_L - ε_R} of a quadratic classifier, F&H (56) with (62), for equal covariances.

    Roughly proportional to n² / N. `method` is that of `quadratic_degradation`.

    Examples
    --------
    Table II, n = 8 and k = 10: printed 4.14 %.

    >>> round(100 * leave_one_out_bias(features=8, design_samples=80, distance=2.5631, method="first order"), 2)
    4.14
    """
    case = Degradation(features, distance)
    case.check(design_samples)
    if one_of("method", method, METHODS) == "simulated" or (method == "auto" and not case.holds(design_samples)):
        return _simulated_bias(case.problem, [design_samples] * 2).mean
    return 2 * case.slope / design_samples


@checked
def leave_one_out_bias_between(problem: Problem, *, design_samples: ArrayLike, method: str = "auto") -> float:
    """E{ε_L - ε_R} of F&H (56) for any two Gaussian classes, with N_1 and N_2 design samples.

    `method` is that of `quadratic_degradation`.

    Examples
    --------
    >>> from strat.gaussian import scaled_problem
    >>> round(100 * leave_one_out_bias_between(scaled_problem(8), design_samples=80, method="first order"), 2)
    4.29
    """
    counts, expansion = _expanded_bias(problem, design_samples, method)
    return expansion[0] if expansion else _simulated_bias(problem, counts.tolist()).mean


@checked
def leave_one_out_bias_variance(problem: Problem, *, design_samples: ArrayLike, method: str = "auto") -> float:
    """Var{ε_L - ε_R} of F&H (58) for any two Gaussian classes, with N_1 and N_2 design samples.

    A sample adds 1/N_i to the difference when leaving it out moves it over the boundary. That happens with the
    probability β̄_i / N_i of (56), and to leading order independently from sample to sample: covariances are of order
    1/N³. So the variance is Σ P_i² β̄_i / N_i², and the standard deviation falls like 1/N, as F&H observed.

    `method` is that of `quadratic_degradation`.

    Examples
    --------
    Table II, n = 8 and k = 50: printed 0.23 % as the standard deviation of ten repetitions.

    >>> from strat.gaussian import shifted_problem
    >>> variance = leave_one_out_bias_variance(shifted_problem(8, distance=2.5631), design_samples=400)
    >>> round(100 * variance**0.5, 2)
    0.32
    """
    counts, expansion = _expanded_bias(problem, design_samples, method)
    return expansion[1] if expansion else _simulated_bias(problem, counts.tolist()).sd ** 2


def _expanded_bias(
    problem: Problem, design_samples: ArrayLike, method: str
) -> tuple[Array, tuple[float, float] | None]:
    """The design samples of both classes, and F&H (56) and (58) where the expansion is wanted and holds."""
    counts = np.broadcast_to(positive_sizes(design_samples), (2,))
    one_of("method", method, METHODS)
    if method == "simulated" or (method == "auto" and counts.min() < PER_FEATURE * problem.dimension):
        return counts, None
    betas = np.array([boundary_beta(problem, 0), boundary_beta(problem, 1)])
    bias = float((problem.priors * betas / counts).sum())
    if method == "auto" and bias / 2 > TENTH * (0.5 - bayes_error(problem).value):
        return counts, None
    return counts, (bias, float((problem.priors**2 * betas / counts**2).sum()))


def _simulated_bias(problem: Problem, counts: list[float]) -> Simulated:
    one, two = (round(count) for count in counts)
    numbers = (one + two) * problem.dimension
    if numbers > LIMITS.simulated_numbers:
        raise StratError.about(
            "design_samples",
            f"must be at most {LIMITS.simulated_numbers // problem.dimension // 2:,} where the expansion does not "
            f'hold, got {max(one, two):,}; take method="first order".',
        )
    repetitions = int(np.clip(LIMITS.simulated_numbers // numbers, 10, repetitions_for(problem.dimension)))
    return simulate_bias(problem, design_samples=(one, two), repetitions=repetitions)


@dataclass(frozen=True)
class Degradation:
    """What a finite design set adds to Bayes' error of two Gaussians with one covariance, at any size of it."""

    features: int
    distance: float
    linear: bool = False

    def __post_init__(self) -> None:
        if self.features < 1:
            raise StratError.about(
                "features", f"must be at least 1, got {self.features!r}; count the measured features."
            )
        if not 1e-100 <= self.distance <= 1e100:
            raise StratError.about(
                "distance",
                f"must be positive and at most 1e100, got {self.distance!r}; for a Bayes error e it is -2·Φ⁻¹(e).",
            )

    @property
    def bayes(self) -> float:
        """Bayes' error."""
        return float(ndtr(-self.distance / 2))

    @property
    def problem(self) -> Problem:
        """The two classes, at most 1,000 apart."""
        return shifted_problem(self.features, distance=min(self.distance, 1e3))

    @property
    def least(self) -> int:
        """The fewest design samples with which covariances can be inverted."""
        return int(np.ceil((self.features + 2) / 2)) if self.linear else self.features + 1

    def check(self, design_samples: float) -> None:
        """Refuse too few design samples."""
        if not design_samples > 0:
            raise StratError.about(
                "design_samples", f"must be positive, got {design_samples!r}; count those of one class."
            )
        if design_samples < (self.features + 2) / 2 or (not self.linear and design_samples <= self.features):
            raise StratError(too_few(self.features, design_samples, self.least))

    @property
    def slope(self) -> float:
        """What the expansion divides by the design samples: half of F&H (56) with (62), or the same for (15)."""
        n, square = self.features, min(self.distance, 1e3) ** 2  # nothing changes beyond
        height = float(np.exp(-square / 8) / (2 * np.sqrt(2 * np.pi * square)))
        if self.linear:
            return height * ((1 + square / 4) * n - 1)
        return height * (n**2 + (1 + square / 2) * n + square**2 / 16 - square / 2 - 1) / 2

    @cached_property
    def holds_from(self) -> float:
        """The design samples from which the expansion is trusted."""
        room = TENTH * (0.5 - self.bayes)
        return max(PER_FEATURE * self.features, self.slope / room) if room > 0 else np.inf

    def holds(self, design_samples: float) -> bool:
        """Whether the expansion is trusted."""
        return design_samples >= self.holds_from

    def at(self, design_samples: float, method: str = "auto") -> float:
        """The degradation with so many design samples per class."""
        self.check(design_samples)
        if one_of("method", method, METHODS) == "simulated" or (method == "auto" and not self.holds(design_samples)):
            return self.simulated(round(design_samples))
        return self.slope / design_samples

    def simulated(self, design_samples: int) -> float:
        """The average over simulated classifiers, with a fixed seed."""
        if not self.linear:
            return max(_quadratic_excess(self.features, design_samples, self.distance), 0.0)
        if self.features > LIMITS.simulated_features:
            raise StratError.about(
                "features",
                f"must be at most {LIMITS.simulated_features} where the expansion does not hold, got {self.features}; "
                f"it holds from {self.holds_from:,.0f} design samples on, so take more samples or fewer features.",
            )
        errors = self._linear_errors(design_samples, repetitions_for(self.features))
        return max(float(errors.mean()) - self.bayes, 0.0)

    def _linear_errors(self, design_samples: int, runs: int) -> Array:
        rng = np.random.default_rng(0)
        n, centres = self.features, np.stack([c.mean for c in self.problem.classes if hasattr(c, "mean")])
        means = centres + rng.standard_normal((runs, 2, n)) / np.sqrt(design_samples)
        root = draw_factor(n, 2 * design_samples - 2, runs, rng)
        white = np.linalg.solve(root, (means[:, 1] - means[:, 0])[..., None])
        weights = np.linalg.solve(np.swapaxes(root, 1, 2), white)[..., 0]  # F&H (15)
        middle = (weights * means.mean(axis=1)).sum(axis=1)
        sides = (weights @ centres.T - middle[:, None]) / np.linalg.norm(weights, axis=1)[:, None]
        return np.asarray((ndtr(sides[:, 0]) + ndtr(-sides[:, 1])) / 2)

    @cached_property
    def _grid(self) -> tuple[Array, Array]:
        last = max(min(self.holds_from, 1e9), self.least + 1)
        sizes = np.unique(np.geomspace(self.least, last, GRID).round())
        errors = np.array([self.simulated(int(size)) for size in sizes])
        return sizes, np.minimum.accumulate(np.maximum(errors, 1e-300))

    def curve(self, sizes: ArrayLike) -> Array:
        """The degradation at each size: the expansion, or between simulated sizes on logarithmic scales."""
        wanted = np.asarray(sizes, dtype=float)
        expanded = self.slope / wanted
        few = wanted < self.holds_from
        if not few.any():
            return expanded
        at, errors = self._grid
        return np.where(few, np.exp(np.interp(np.log(wanted), np.log(at), np.log(errors))), expanded)

    def method(self, design_samples: float) -> str:
        """Which of the two a degradation comes from."""
        return "first order" if self.holds(design_samples) else "simulated"


def _quadratic_excess(features: int, design_samples: int, distance: float) -> float:
    """E{error} of quadratic classifiers minus Bayes', over DRAWS designs and one test point of the first class each.

    For a point X that a Wishart matrix W = TT' of f degrees of freedom knows nothing of, X'W⁻¹X = X'X / t² and
    log det W = log t² + R, where t² is chi-squared with f - n + 1 degrees of freedom and R, independent of it, the sum
    of the other log chi-squareds. So no matrix is drawn; (X - M₁)'(X - M₁) and (X - M₂)'(X - M₂) are a 2 × 2 Wishart's
    diagonal but for the axis of the means. Bayes' decision on the same points is taken off, which removes their noise.
    """
    rng = np.random.default_rng(0)
    n, df, root = features, design_samples - 1, np.sqrt(design_samples)
    along, *errors = rng.standard_normal((3, DRAWS))
    own, rival = (along - errors[0] / root) ** 2, (along - distance - errors[1] / root) ** 2
    first = np.sqrt(1 + 1 / design_samples)
    across, other = 1 / first, np.sqrt(first**2 - 1 / first**2)
    radius = np.sqrt(_chi_squared(n - 1, rng))
    own += (first * radius) ** 2
    rival += (across * radius + (other * rng.standard_normal(DRAWS) if n > 1 else 0)) ** 2
    rival += other**2 * _chi_squared(max(n - 2, 0), rng)
    scales = [_chi_squared(df - n + 1, rng) for _ in range(2)]
    score = df * (own / scales[0] - rival / scales[1]) + np.log(scales[0] / scales[1])
    wrong = _tail_of_determinants(n, df, rng, -score)
    return float((wrong - (along > distance / 2)).mean())


def _chi_squared(df: int, rng: np.random.Generator) -> Array:
    return 2 * rng.standard_gamma(df / 2, DRAWS)


def _tail_of_determinants(features: int, df: int, rng: np.random.Generator, points: Array) -> Array:
    """P(R₁ - R₂ > point): sums of log chi-squareds of df, …, df - n + 2 degrees of freedom; normal where many."""
    if features == 1:
        return np.asarray((points < 0).astype(float))
    if features > 100:  # the variance, a sum of trigammas at half steps, by the midpoint rule
        variance = 4 * (digamma((df + 0.5) / 2) - digamma((df - features + 1.5) / 2))
        return np.asarray(ndtr(-points / np.sqrt(variance)))
    shapes = (df - np.arange(features - 1)) / 2
    sums = np.log(rng.standard_gamma(shapes, size=(2, 20_000, len(shapes)))).sum(axis=2)
    drawn = np.sort(sums[0] - sums[1])
    return 1 - np.searchsorted(drawn, points) / len(drawn)


def repetitions_for(features: int) -> int:
    """Designs of a simulation: the error of a designed classifier varies less, the more features there are."""
    return int(np.clip(8000 // features, 20, 2000))
