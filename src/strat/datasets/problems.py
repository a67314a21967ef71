"""Classes in a feature space whose densities are known: Kuncheva 1.1 and 1.6.1."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, ndtri

from strat.base import validate
from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, numbers
from strat.base.validate.scalars import Rng, generator
from strat.datasets.draws import integrated_bayes_error, sizes
from strat.gaussian.bayes import bayes_error
from strat.gaussian.problems import LOG_2PI, DiscreteProblem, GaussianClass, Problem, check_covariance
from strat.show.colours import OKABE_ITO
from strat.show.figures import new_axes

Curve = Callable[[Array], Array]
Noise = tuple[float, ...] | Callable[[Array], Array]
GRID = 256  # points of an ellipse


@dataclass(frozen=True, eq=False)
class Samples:
    """Rows drawn from classes whose distributions are known.

    Attributes
    ----------
    X
        Features, rows × dimensions, in the order of the classes.
    y
        Class of each row, 0 to c − 1.
    bayes_error
        The smallest error that any classifier can reach on this problem.
    bayes_error_se
        Standard error of its numerical integration; 0 where a closed form gave it.
    posterior
        From points to class probabilities (rows × classes): the best possible classifier.
    priors
        Class probabilities of the problem (not of this sample).
    problem
        The classes and priors that the rows were drawn from, as `strat.gaussian.bayes_error` and its kin take them:
        a curve with noise has the density of 256 Gaussians along it, and a checker board is the colour of its squares.
        None where there is one class only, or a curve of one feature.
    """

    X: Array
    y: Codes
    bayes_error: float
    bayes_error_se: float = 0.0
    posterior: Callable[[ArrayLike], Array] = field(default=lambda x: np.asarray(x, float), repr=False)
    priors: Array = field(default_factory=lambda: np.array([0.5, 0.5]))
    problem: Problem | DiscreteProblem | None = field(default=None, repr=False)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.y)

    def plot(self, ax: Any = None) -> Any:
        """The rows by their first two features, a colour for each class; the area of a dot is its number of rows."""
        axes = new_axes(ax)
        for code, colour in zip(range(len(self.priors)), OKABE_ITO, strict=False):
            own = np.column_stack([self.X, self.y])[self.y == code, :2]  # one feature: beside the class
            places, rows = np.unique(own, axis=0, return_counts=True)
            axes.scatter(*places.T, s=12 * rows, color=colour, lw=0, alpha=0.6, label=f"class {code}")
        axes.set(xlabel="feature 0", ylabel="feature 1" if self.X.shape[1] > 1 else "class")
        axes.margins(0.15)
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return axes


@checked
def gaussian_classes(
    n: int | Sequence[int],
    *,
    means: ArrayLike,
    covariances: ArrayLike | None = None,
    priors: ArrayLike | None = None,
    rng: Rng = 0,
) -> Samples:
    """Rows of normal classes, with their Bayes error: exact for two classes, integrated for more.

    Parameters
    ----------
    n
        Rows in all, shared out by the priors, or one size per class.
    means
        One mean per class: classes × dimensions.
    covariances
        One matrix for all classes, or one per class; the identity by default.
    priors
        Class probabilities; equal by default.
    rng
        Seed or Generator.

    Examples
    --------
    The two classes of Kuncheva's Example 1.8, means (−1, 0) and (1, 0): the Bayes error is Φ(−1).

    >>> data = gaussian_classes([20, 20], means=[[-1, 0], [1, 0]], rng=1)
    >>> data.X.shape, round(data.bayes_error, 4)
    ((40, 2), 0.1587)
    """
    mu = numbers("means", means)
    if mu.ndim != 2:
        raise StratError.about("means", f"must be classes × dimensions, got an array of shape {mu.shape}.")
    sigma = _covariances(covariances, mu)
    p = validate.probabilities("priors", priors, len(mu))
    kinds = [GaussianClass(m, c) for m, c in zip(mu, sigma, strict=True)]
    n_k, source = sizes("n", n, p), generator(rng)
    X = np.vstack([kind.sample(int(m), source) for kind, m in zip(kinds, n_k, strict=True)])
    y = np.repeat(np.arange(len(mu)), n_k)
    if len(mu) == 1:
        return Samples(X, y, 0.0, 0.0, _certain, p)
    problem = Problem(kinds, p)
    if p.max() == 1.0:
        error, se = 0.0, 0.0
    elif len(kinds) == 2:
        error, se = bayes_error(problem).value, 0.0
    else:
        draw = lambda k, u: mu[k] + ndtri(u) @ kinds[k].factor.T  # noqa: E731
        error, se = integrated_bayes_error(p, draw, problem.posteriors, problem.dimension)
    return Samples(X, y, error, se, problem.posteriors, p, problem)


def _certain(x: ArrayLike) -> Array:
    """The posterior of a class that is alone."""
    return np.ones((len(np.asarray(x)), 1))


def _covariances(given: ArrayLike | None, mu: Array) -> Array:
    classes, d = mu.shape
    sigma = np.eye(d) if given is None else numbers("covariances", given)
    if sigma.shape not in ((d, d), (classes, d, d)):
        raise StratError.about(
            "covariances", f"must be {d} × {d}, or {classes} such matrices, got shape {sigma.shape}."
        )
    sigma = np.ascontiguousarray(np.broadcast_to(sigma, (classes, d, d)))
    for matrix in sigma:
        check_covariance("covariances", matrix, d)
    return sigma


@checked
def noisy_shapes(
    n: int | Sequence[int],
    *,
    curves: Sequence[Curve],
    noise: ArrayLike | Callable[[Array], Array] = 0.5,
    growing: bool = False,
    priors: ArrayLike | None = None,
    rng: Rng = 0,
) -> Samples:
    """Points scattered about curves, one curve per class (Kuncheva 1.1.4.2).

    Parameters
    ----------
    n
        Rows in all, shared out by the priors, or one size per class.
    curves
        For each class a function from t in [0, 1] (a vector) to points (len(t) × dimensions).
    noise
        Standard deviation of the normal noise: a number, one for each feature, or a function from points on the
        curve to standard deviations of each coordinate, such as ``lambda x: 0.1 + 0.05 * abs(x)``.
    growing
        Let the noise grow with t: its standard deviation is `noise`·t, as in Figure 1.7b.
    priors, rng
        As in `gaussian_classes`.

    Examples
    --------
    Two straight strokes, 2 apart and 20 long: far from their ends the Bayes error is Φ(−1 / 0.5) = 0.0228.

    >>> stroke = lambda height: lambda t: np.column_stack([20 * t, np.full_like(t, height)])
    >>> data = noisy_shapes(100, curves=[stroke(0), stroke(2)], noise=0.5)
    >>> data.X.shape, round(data.bayes_error, 3)
    ((100, 2), 0.023)

    Noise along the strokes alone leaves them apart.

    >>> data = noisy_shapes(100, curves=[stroke(0), stroke(2)], noise=[3, 0.1])
    >>> round(data.bayes_error, 3)
    0.0
    """
    if len(curves) == 0:
        raise StratError.about("curves", "must hold at least one curve, got none.")
    spread: Noise = noise if callable(noise) else tuple(numbers("noise", np.atleast_1d(noise)).tolist())
    p = validate.probabilities("priors", priors, len(curves))
    n_k, source = sizes("n", n, p), generator(rng)
    kinds = tuple(NoisyCurve(curve, spread, growing) for curve in curves)
    X = np.vstack([kind.sample(int(m), source) for kind, m in zip(kinds, n_k, strict=True)])
    y = np.repeat(np.arange(len(kinds)), n_k)
    if len(kinds) == 1:
        return Samples(X, y, 0.0, 0.0, _certain, p)
    problem = Problem(kinds, p)
    error, se = _shape_bayes_error(tuple(p.tolist()), kinds)
    return Samples(X, y, error, se, problem.posteriors, p, problem if X.shape[1] > 1 else None)


@dataclass(frozen=True)
class NoisyCurve:
    """Points scattered about a curve, as a class of a problem: its density is that of 256 Gaussians along it."""

    curve: Curve
    noise: Noise
    growing: bool

    @property
    def dimension(self) -> int:
        """The number of features."""
        return self.places(np.ones(1))[0].shape[1]

    def places(self, t: Array) -> tuple[Array, Array]:
        """Points on the curve, and the standard deviations of the noise there."""
        points = np.asarray(self.curve(t), float)
        spread = np.asarray(self.noise(points) if callable(self.noise) else self.noise, float)
        if spread.shape[-1] not in (1, points.shape[1]):
            raise StratError.about(
                "noise", f"must be one number, or one for each of {points.shape[1]} features, got {spread.shape[-1]}."
            )
        if not (spread > 0).all():
            raise StratError.about("noise", f"must be above 0, got {spread.min():g}.")
        return points, np.broadcast_to(spread, points.shape) * (t[:, None] if self.growing else 1.0)

    def log_density(self, points: ArrayLike) -> Array:
        """Log density at each point."""
        centre, spread = self.places((np.arange(GRID) + 0.5) / GRID)
        squared = (((np.asarray(points, float)[:, None] - centre) / spread) ** 2).sum(axis=2)
        each = -0.5 * squared - np.log(spread).sum(axis=1)
        return np.asarray(logsumexp(each, axis=1) - np.log(GRID) - 0.5 * LOG_2PI * centre.shape[1])

    def sample(self, count: int, rng: Rng = 0) -> Array:
        """`count` points drawn from the class."""
        source = generator(rng)
        points, spread = self.places(source.uniform(size=count))
        return np.asarray(points + source.standard_normal(points.shape) * spread)


@functools.lru_cache(maxsize=256)
def _shape_bayes_error(priors: tuple[float, ...], kinds: tuple[NoisyCurve, ...]) -> tuple[float, float]:
    def draw(k: int, u: Array) -> Array:
        points, spread = kinds[k].places(u[:, 0])
        return np.asarray(points + ndtri(u[:, 1:]) * spread)

    problem = Problem(kinds, priors)
    return integrated_bayes_error(problem.priors, draw, problem.posteriors, problem.dimension + 1)


def ellipse(centre: tuple[float, float], axes: tuple[float, float], angle: float) -> Curve:
    """A curve for `noisy_shapes`: the whole ellipse, by the parametric equations of Example 1.4."""

    def curve(t: Array) -> Array:
        a, b = axes[0] * np.cos(2 * np.pi * t), axes[1] * np.sin(2 * np.pi * t)
        cos, sin = np.cos(angle), np.sin(angle)
        return np.column_stack([centre[0] + a * cos - b * sin, centre[1] + a * sin + b * cos])

    return curve


# centre, semi-axes and angle of the three ellipses of Kuncheva's Figure 1.7a
FIGURE_1_7 = (
    ellipse((-6, 0), (2, 6), -2.0),
    ellipse((-2, -2), (4, 3), -1.0),
    ellipse((2, 4), (4, 1), 0.9),
)


@checked
def ellipses(
    n: int | Sequence[int] = 900, *, noise: ArrayLike | Callable[[Array], Array] = 0.5, rng: Rng = 0
) -> Samples:
    """The three noisy ellipses of Kuncheva's Example 1.4, with equal priors.

    Examples
    --------
    >>> data = ellipses(300, rng=1)
    >>> data.X.shape, np.bincount(data.y).tolist()
    ((300, 2), [100, 100, 100])
    """
    return noisy_shapes(n, curves=FIGURE_1_7, noise=noise, rng=rng)


@checked
def strings(
    n: int | Sequence[int] = 100, *, noise: ArrayLike | Callable[[Array], Array] = 0.1, rng: Rng = 0
) -> Samples:
    """Two string-shaped clusters in the manner of Kuncheva's Example 1.14: single linkage finds them.

    Examples
    --------
    >>> len(strings(100, rng=1))
    100
    """
    return noisy_shapes(n, curves=(_lower_string, _upper_string), noise=noise, rng=rng)


def _lower_string(t: Array) -> Array:
    return np.column_stack([8 * t, 0.5 * np.sin(2 * np.pi * t)])


def _upper_string(t: Array) -> Array:
    return np.add(_lower_string(t), [0, 1.5])


@checked
def checker_board(
    n: int, *, side: float = 0.2, angle: float = np.pi / 6, flipped: float = 0.0, rng: Rng = 0
) -> Samples:
    """The rotated checker board of Kuncheva 1.1.4.3 on the unit square.

    Parameters
    ----------
    n
        Rows.
    side
        Side of a square of the board.
    angle
        Angle of the rotation, in radians.
    flipped
        Share of labels turned over at random: the Bayes error (0: the classes are separable).
    rng
        Seed or Generator.

    Examples
    --------
    >>> data = checker_board(1000, side=0.5, angle=-np.pi / 3)
    >>> data.bayes_error, bool((data.posterior(data.X).argmax(axis=1) == data.y).all())
    (0.0, True)
    """
    if not side > 0:
        raise StratError.about("side", f"must be above 0, got {side!r}.")
    wrong = validate.share("flipped", flipped, high=0.5)
    source = generator(rng)
    X = source.uniform(size=(validate.count("n", n), 2))
    y = _square(X, side, angle) ^ (source.uniform(size=n) < wrong)

    colours = np.array([[1 - wrong, wrong], [wrong, 1 - wrong]])
    posterior = lambda x: colours[_square(np.asarray(x, float), side, angle)]  # noqa: E731
    return Samples(X, y.astype(np.int64), wrong, 0.0, posterior, problem=DiscreteProblem(colours))


def _square(X: Array, side: float, angle: float) -> Codes:
    cos, sin = np.cos(angle), np.sin(angle)
    u, v = X[:, 0] * cos - X[:, 1] * sin, X[:, 0] * sin + X[:, 1] * cos
    parity: Codes = (np.ceil(u / side) + np.floor(v / side)).astype(np.int64) % 2
    return parity


# Kuncheva, Example 1.1: rows are the classes, columns triangle, square, circle in white, then in black
SHAPE_COLOUR = np.array([[9, 22, 72, 1, 4, 20], [4, 25, 5, 8, 79, 7]])


@checked
def shape_colour(n: int | None = None, *, rng: Rng = 0) -> Samples:
    """The shape-colour set of Kuncheva's Example 1.1: its very 256 objects, or `n` drawn from its table.

    The features are the shape (1 triangle, 2 square, 3 circle) and the colour (0 white, 1 black).

    Examples
    --------
    The best decision makes 43 errors.

    >>> data = shape_colour()
    >>> len(data), data.bayes_error * 256
    (256, 43.0)
    """
    cells: NDArray[Any] = SHAPE_COLOUR.ravel()
    error = float(SHAPE_COLOUR.min(axis=0).sum() / SHAPE_COLOUR.sum())
    if n is None:
        drawn = np.repeat(np.arange(12), cells)
    else:
        drawn = np.sort(generator(rng).choice(12, size=validate.count("n", n), p=cells / cells.sum()))
    y, thing = np.divmod(drawn, 6)
    X = np.column_stack([thing % 3 + 1, thing // 3]).astype(float)
    return Samples(
        X, y.astype(np.int64), error, 0.0, _shape_colour_posterior, problem=DiscreteProblem(SHAPE_COLOUR / 128)
    )


def _shape_colour_posterior(x: ArrayLike) -> Array:
    points = np.asarray(x).astype(int)
    result: Array = (SHAPE_COLOUR / SHAPE_COLOUR.sum(axis=0)).T[points[:, 0] - 1 + 3 * points[:, 1]]
    return result
