"""Classes whose truth is known: densities, priors, posteriors, samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp, ndtr

from strat.base import validate
from strat.base.errors import StratError, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import LARGEST, Array, Codes, numbers, values
from strat.gaussian.membership import maximum_membership

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class GaussianClass:
    """A Gaussian class-conditional density.

    Parameters
    ----------
    mean
        The expected vector, one number per feature.
    covariance
        The covariance matrix; a single number is a variance shared by independent features.

    Examples
    --------
    >>> GaussianClass([0.0, 0.0], 4.0).log_density([[0.0, 0.0]]).round(4)      # -log(2π·4)
    array([-3.2242])
    """

    mean: Array
    covariance: Array

    @checked
    def __init__(self, mean: ArrayLike, covariance: ArrayLike = 1.0) -> None:
        centre = numbers("mean", np.atleast_1d(np.asarray(mean)))
        matrix = values("covariance", covariance)
        if matrix.ndim == 0:
            matrix = float(matrix) * np.eye(len(centre))
        matrix = check_covariance("covariance", matrix, len(centre))
        object.__setattr__(self, "mean", frozen(centre))
        object.__setattr__(self, "covariance", frozen(matrix))

    @property
    def dimension(self) -> int:
        """The number of features."""
        return len(self.mean)

    @cached_property
    def factor(self) -> Array:
        """The lower Cholesky factor of the covariance."""
        return np.asarray(np.linalg.cholesky(self.covariance), dtype=float)

    @checked
    def distances(self, points: ArrayLike) -> Array:
        """d²(X) of F&H (50): squared normalised distance of each point from the mean."""
        rows = as_points(points, self.dimension)
        return np.asarray((np.linalg.solve(self.factor, (rows - self.mean).T) ** 2).sum(axis=0))

    @checked
    def log_density(self, points: ArrayLike) -> Array:
        """Log density at each point."""
        log_determinant = 2 * np.log(np.diag(self.factor)).sum()
        return np.asarray(-0.5 * (self.distances(points) + log_determinant + self.dimension * LOG_2PI))

    @checked
    def sample(self, count: int, rng: int | np.random.Generator = 0) -> Array:
        """`count` points drawn from the class."""
        draws = np.random.default_rng(rng).standard_normal((count, self.dimension))
        return np.asarray(self.mean + draws @ self.factor.T)

    @checked
    def cumulative(self, points: Array) -> Array:
        """Distribution function of a one-dimensional class."""
        return np.asarray(ndtr((points - self.mean[0]) / self.factor[0, 0]))

    def span(self) -> tuple[float, float]:
        """An interval that holds all but 1e-30 of a one-dimensional class."""
        reach = 12 * self.factor[0, 0]
        return float(self.mean[0] - reach), float(self.mean[0] + reach)


@dataclass(frozen=True, eq=False)
class MixtureClass:
    """A class that is itself a mixture of Gaussians, such as a checker board's colour.

    Examples
    --------
    >>> MixtureClass([GaussianClass(-1.0), GaussianClass(1.0)]).log_density([0.0]).round(4)
    array([-1.4189])
    """

    components: tuple[GaussianClass, ...]
    weights: Array

    @checked
    def __init__(self, components: Sequence[GaussianClass], weights: ArrayLike | None = None) -> None:
        parts = tuple(components)
        same_dimension("components", parts)
        object.__setattr__(self, "components", parts)
        object.__setattr__(self, "weights", validate.probabilities("weights", weights, len(parts)))

    @property
    def dimension(self) -> int:
        """The number of features."""
        return self.components[0].dimension

    @checked
    def log_density(self, points: ArrayLike) -> Array:
        """Log density at each point."""
        parts = [c.log_density(points) for c in self.components]
        return np.asarray(logsumexp(np.stack(parts, axis=1), axis=1, b=self.weights))

    @checked
    def sample(self, count: int, rng: int | np.random.Generator = 0) -> Array:
        """`count` points drawn from the class."""
        generator = np.random.default_rng(rng)
        counts = generator.multinomial(count, self.weights)
        drawn = [c.sample(int(k), generator) for c, k in zip(self.components, counts, strict=True)]
        return generator.permutation(np.concatenate(drawn))

    @checked
    def cumulative(self, points: Array) -> Array:
        """Distribution function of a one-dimensional class."""
        parts = np.stack([c.cumulative(points) for c in self.components], axis=-1)
        return np.asarray(parts @ self.weights)

    def span(self) -> tuple[float, float]:
        """An interval that holds all but 1e-30 of a one-dimensional class."""
        lows, highs = zip(*(c.span() for c in self.components), strict=True)
        return min(lows), max(highs)


@dataclass(frozen=True, eq=False)
class Problem:
    """Classes with prior probabilities: a classification problem whose truth is known.

    Examples
    --------
    Two unit Gaussians at -1 and 1: halfway the posteriors are equal, at 1 the odds are exp(2).

    >>> problem = Problem([GaussianClass(-1.0), GaussianClass(1.0)])
    >>> problem.posteriors([0.0, 1.0]).round(4)
    array([[0.5   , 0.5   ],
           [0.1192, 0.8808]])
    """

    classes: tuple[GaussianClass | MixtureClass, ...]
    priors: Array

    @checked
    def __init__(self, classes: Sequence[Any], priors: ArrayLike | None = None) -> None:
        kinds = tuple(classes)
        if len(kinds) < 2:
            raise StratError.about("classes", f"must be at least two, got {len(kinds)}; add the other classes.")
        same_dimension("classes", kinds)
        object.__setattr__(self, "classes", kinds)
        object.__setattr__(self, "priors", validate.probabilities("priors", priors, len(kinds)))

    @property
    def dimension(self) -> int:
        """The number of features."""
        return self.classes[0].dimension

    @property
    def gaussian(self) -> bool:
        """Whether every class is a single Gaussian."""
        return all(isinstance(c, GaussianClass) for c in self.classes)

    @checked
    def log_joint(self, points: ArrayLike) -> Array:
        """The discriminant functions log(P(ω_i) p(x|ω_i)) of Kuncheva (1.25), points × classes."""
        with np.errstate(divide="ignore"):
            priors = np.log(self.priors)
        return np.stack([c.log_density(points) for c in self.classes], axis=1) + priors

    @checked
    def density(self, points: ArrayLike) -> Array:
        """The unconditional density of Kuncheva (1.19)."""
        return np.asarray(np.exp(logsumexp(self.log_joint(points), axis=1)))

    @checked
    def posteriors(self, points: ArrayLike) -> Array:
        """P(ω_i|x) of Kuncheva (1.20), points × classes."""
        joint = self.log_joint(points)
        return np.asarray(np.exp(joint - logsumexp(joint, axis=1, keepdims=True)))

    @checked
    def decide(self, points: ArrayLike, rng: int | np.random.Generator = 0) -> Codes:
        """The class of the largest posterior, Kuncheva (1.23), as a code; ties are broken at random."""
        return maximum_membership(self.log_joint(points), rng=rng)

    @checked
    def sample(self, count: int, rng: int | np.random.Generator = 0) -> tuple[Array, Codes]:
        """`count` points of the whole population and the code of each one's class, in random order."""
        generator = np.random.default_rng(rng)
        codes = generator.choice(len(self.priors), size=count, p=self.priors)
        points = np.empty((count, self.dimension))
        for code, kind in enumerate(self.classes):
            mine = codes == code
            points[mine] = kind.sample(int(mine.sum()), generator)
        return points, codes.astype(np.int64)


@dataclass(frozen=True, eq=False)
class DiscreteProblem:
    """Classes over finitely many values, by their probability mass functions, Kuncheva (1.21).

    Parameters
    ----------
    masses
        P(v_j|ω_i), classes × values; each row sums to one.
    priors
        P(ω_i); equal when not given.

    Examples
    --------
    >>> DiscreteProblem([[0.5, 0.5], [0.0, 1.0]]).posteriors().round(4)        # values × classes
    array([[1.    , 0.    ],
           [0.3333, 0.6667]])
    """

    masses: Array
    priors: Array

    @checked
    def __init__(self, masses: ArrayLike, priors: ArrayLike | None = None) -> None:
        rows = numbers("masses", masses)
        if rows.ndim != 2:
            raise StratError.about(
                "masses", f"must be a table of classes by values, got {rows.ndim} dimension(s); give one row per class."
            )
        checked = np.stack([validate.probabilities("masses", row, len(row)) for row in rows])
        object.__setattr__(self, "masses", frozen(checked))
        object.__setattr__(self, "priors", validate.probabilities("priors", priors, len(rows)))

    def posteriors(self) -> Array:
        """P(ω_i|v_j), values × classes; a value that never occurs keeps the priors."""
        joint = self.masses.T * self.priors
        total = joint.sum(axis=1, keepdims=True)
        return np.where(total > 0, joint / np.where(total > 0, total, 1), self.priors)

    @checked
    def decide(self, rng: int | np.random.Generator = 0) -> Codes:
        """The class of the largest posterior at each value; ties are broken at random."""
        return maximum_membership(self.posteriors(), rng=rng)


def two_gaussians(problem: Problem) -> tuple[GaussianClass, GaussianClass]:
    """The two Gaussian classes of a problem that F&H's theory covers, or an error that says why not."""
    kinds = [c for c in problem.classes if isinstance(c, GaussianClass)]
    if len(problem.classes) != 2 or len(kinds) != 2:
        raise StratError.about(
            "problem",
            f"must have two Gaussian classes, got {len(problem.classes)} classes "
            f"({len(kinds)} Gaussian); use `classifier_error` for other problems.",
        )
    return kinds[0], kinds[1]


@checked
def mahalanobis_distance(first: GaussianClass, second: GaussianClass) -> float:
    """The squared distance of two means, (M_2 - M_1)' Σ⁻¹ (M_2 - M_1), with the average of the covariances.

    Examples
    --------
    >>> round(mahalanobis_distance(GaussianClass([0.0, 0.0], 1.0), GaussianClass([2.0, 0.0], 3.0)), 12)  # 2² / 2
    2.0
    """
    return 8 * _bhattacharyya_parts(first, second)[0]


@checked
def bhattacharyya_distance(first: GaussianClass, second: GaussianClass) -> float:
    """Bhattacharyya's distance μ of two classes: Bayes' error is at most sqrt(P_1 P_2) exp(-μ).

    An eighth of `mahalanobis_distance` and half of the log of the determinant of the average covariance over the
    geometric mean of both determinants.

    Examples
    --------
    >>> round(bhattacharyya_distance(GaussianClass(0.0), GaussianClass(2.0)), 12)  # 2² / 8
    0.5
    >>> round(bhattacharyya_distance(GaussianClass(0.0), GaussianClass(0.0, 4.0)), 6)  # ln(2.5 / 2) / 2
    0.111572
    """
    return sum(_bhattacharyya_parts(first, second))


def _bhattacharyya_parts(first: GaussianClass, second: GaussianClass) -> tuple[float, float]:
    """What the means and what the covariances contribute."""
    same_dimension("second", (first, second))
    middle = GaussianClass(second.mean - first.mean, (first.covariance + second.covariance) / 2)
    logs = [float(np.log(np.diag(kind.factor)).sum()) for kind in (middle, first, second)]
    return float(middle.distances(np.zeros((1, middle.dimension)))[0]) / 8, logs[0] - (logs[1] + logs[2]) / 2


@checked
def shifted_problem(features: int, *, distance: float) -> Problem:
    """F&H's case I-I: two classes with identity covariance whose means are `distance` apart."""
    mean = np.zeros(_at_least_one("features", features))
    mean[0] = distance
    return Problem([GaussianClass(np.zeros(features)), GaussianClass(mean)])


@checked
def scaled_problem(features: int, *, scale: float = 4.0) -> Problem:
    """F&H's case I-4I: one mean, covariances I and `scale`·I."""
    centre = np.zeros(_at_least_one("features", features))
    return Problem([GaussianClass(centre), GaussianClass(centre, scale)])


def _at_least_one(argument: str, count: int) -> int:
    if count < 1:
        raise StratError.about(argument, f"must be at least 1, got {count}.")
    return count


def standard_problem() -> Problem:
    """Fukunaga's eight-dimensional Standard Data (F&H Tables III c and IV c).

    Its Bayes error is 1.80 %; F&H and Fukunaga's book say 1.9 %, which the parameters that they print do not give.
    """
    mean = [3.86, 3.10, 0.84, 0.84, 1.64, 1.08, 0.26, 0.01]
    variances = [8.41, 12.06, 0.12, 0.22, 1.49, 1.77, 0.35, 2.73]
    return Problem([GaussianClass(np.zeros(8)), GaussianClass(mean, np.diag(variances))])


def frozen(array: Array) -> Array:
    """A read-only copy."""
    copy = np.array(array, dtype=float)
    copy.setflags(write=False)
    return copy


def as_points(points: ArrayLike, dimension: int, argument: str = "points") -> Array:
    """Rows of `dimension` numbers; a plain vector is a column of one-dimensional points."""
    rows = numbers(argument, np.atleast_1d(np.asanyarray(points)), most=LARGEST)
    if rows.ndim == 1:
        rows = rows[:, None] if dimension == 1 else rows[None, :]
    if rows.ndim != 2 or rows.shape[1] != dimension:
        raise StratError.about(
            argument,
            f"must have {dimension} numbers per row, got an array of shape {rows.shape}; give one row per point.",
        )
    return rows


def sample_rows(argument: str, points: ArrayLike) -> Array:
    """Points of any dimension as rows and columns; a plain vector is a column."""
    rows = numbers(argument, points)
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim > 2 or not rows.shape[1]:
        raise StratError.about(argument, f"must have rows and columns, got an array of shape {rows.shape}.")
    return rows


def check_covariance(argument: str, matrix: Array, features: int) -> Array:
    """`matrix` if it is a symmetric positive definite matrix of the right size."""
    if matrix.shape != (features, features):
        raise StratError.about(
            argument,
            f"must be {features} by {features} for {features} feature(s), got shape "
            f"{matrix.shape}; give one row and column per feature.",
        )
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T, rtol=1e-8, atol=1e-12):
        raise StratError.about(
            argument, f"must be finite and symmetric, got {matrix.tolist()!r}; average it with its transpose."
        )
    values = np.linalg.eigvalsh(matrix)
    if values[0] <= 1e-13 * max(values[-1], 0) or values[-1] <= 0:
        raise StratError.about(
            argument,
            f"must be positive definite, got a singular matrix (smallest eigenvalue "
            f"{values[0]:.3g}); drop dependent features, add samples, or add a ridge to the diagonal.",
        )
    return matrix


def same_dimension(argument: str, classes: Sequence[GaussianClass | MixtureClass]) -> None:
    """An error when there are no classes or their numbers of features differ."""
    if not all(hasattr(c, "dimension") for c in classes):
        raise StratError.about(argument, f"must be classes such as GaussianClass, got {some(classes)}.")
    dimensions = sorted({c.dimension for c in classes})
    if len(dimensions) != 1:
        raise StratError.about(
            argument,
            f"must be classes of one number of features, got {dimensions}; measure the same features in each class.",
        )
