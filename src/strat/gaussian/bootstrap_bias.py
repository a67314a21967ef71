"""The bootstrap's bias and variance for a quadratic classifier without drawing a bootstrap (F&H IV)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from strat.base import validate
from strat.base.errors import StratError, one_of
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.gaussian.finite_samples import Simulated
from strat.gaussian.problems import GaussianClass, sample_rows
from strat.gaussian.rules import estimate_class


@dataclass(frozen=True, repr=False)
class BootstrapBias(Result):
    """What the bootstrap would say of the optimism of the resubstitution error.

    Parameters
    ----------
    bias
        E*{ε_b*|S}, F&H (87): what the average over infinitely many bootstraps approaches.
    variance
        Var*{ε_b*|S}, F&H (93) with the squared priors it must carry: the variance of one bootstrap's bias.
    resubstitution
        ε_R of the sample set.
    by_class
        ε_R of each class.
    """

    bias: float
    variance: float
    resubstitution: float
    by_class: tuple[float, float]

    @property
    def corrected(self) -> float:
        """ε_R plus the bias: the bootstrap estimate of the error."""
        return self.resubstitution + self.bias

    @property
    def sd(self) -> float:
        """Standard deviation of one bootstrap's bias."""
        return float(np.sqrt(self.variance))


@checked
def bootstrap_bias(first: ArrayLike, second: ArrayLike, *, priors: ArrayLike | None = None) -> BootstrapBias:
    """The expectation (87) and variance (93) of the bootstrap bias of a quadratic classifier.

    F&H leave (88) as δ(h) at the sample points, which no finite sample can evaluate. A bootstrap moves h
    by an amount whose variance follows from (82) and the moments of the resampling frequencies: for Gaussian
    classes it is (d_1⁴ + n)/(2N_1) + (d_2⁴ + n)/(2N_2), the very factor of (88). The impulse is spread by that
    much, as a normal density. The cost is one fit and two distances per sample.

    Parameters
    ----------
    first, second
        Samples of the two classes, one row per sample.
    priors
        P_1 and P_2; equal when not given.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> result = bootstrap_bias(rng.normal(0, 1, (80, 2)), rng.normal(2, 1, (80, 2)))
    >>> result.resubstitution, 0 < result.bias < 0.02
    (0.13125, True)
    """
    p = validate.probabilities("priors", priors, 2)
    sets, fits = _two_fits(first, second)
    bias, errors, variance = 0.0, [], 0.0
    threshold = float(np.log(p[0] / p[1]))
    for code, sign in ((0, 1.0), (1, -1.0)):
        h, spread, own = _scores(fits, sets, code)
        h = sign * (h - threshold)
        n, count = sets[code].shape[1], len(h)
        impulse = np.exp(-(h**2) / (2 * spread)) / np.sqrt(2 * np.pi * spread)
        bias += p[code] * ((own**2 + n) / 2 * impulse).sum() / count**2  # F&H (87), (88)
        error = float((h > 0).mean())
        errors.append(error)
        variance += p[code] ** 2 * error * (1 - error) / count  # F&H (93), with P_i² as in (89)
    resubstitution = float(p[0] * errors[0] + p[1] * errors[1])
    return BootstrapBias(float(bias), float(variance), resubstitution, (errors[0], errors[1]))


def _scores(fits: list[GaussianClass], sets: tuple[Array, Array], code: int) -> tuple[Array, Array, Array]:
    # h of F&H (14) at the points, the variance of the bootstrap's Δh of (82), and d² to the own class
    points = sets[code]
    squares = [fit.distances(points) for fit in fits]
    h = fits[1].log_density(points) - fits[0].log_density(points)
    n = points.shape[1]
    spread = sum((d**2 + n) / (2 * len(x)) for d, x in zip(squares, sets, strict=True))
    return h, np.asarray(spread), squares[code]


@checked
def simulate_bootstrap_bias(
    first: ArrayLike,
    second: ArrayLike,
    *,
    replicates: int = 100,
    priors: ArrayLike | None = None,
    about: str = "resampled",
    rng: int | np.random.Generator = 0,
) -> Simulated:
    """ε_b* = ε_H* - ε_R* of F&H (74) of each of `replicates` resampled pairs of sets: a quadratic classifier's bias.

    Parameters
    ----------
    first, second
        Samples of the two classes, one row per sample.
    replicates
        How many pairs are drawn.
    priors
        P_1 and P_2; equal when not given.
    about
        "resampled": the covariance of a resampled set about its own mean, with the divisor N - 1, as a program that
        knows nothing of the bootstrap computes it. "original": about the mean of the original set, with the divisor
        N, as F&H (78) do to simplify the theory.
    rng
        Seed or Generator.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> biases = simulate_bootstrap_bias(rng.normal(0, 1, (80, 2)), rng.normal(2, 1, (80, 2)), replicates=200)
    >>> len(biases.values), 0 < biases.mean < 0.02
    (200, True)
    """
    one_of("about", about, ("resampled", "original"))
    p, generator = validate.probabilities("priors", priors, 2), np.random.default_rng(rng)
    if replicates < 1:
        raise StratError.about("replicates", f"must be at least 1, got {replicates}.")
    sets, _ = _two_fits(first, second)  # refuses what has no covariance
    counts = [generator.multinomial(len(x), np.full(len(x), 1 / len(x)), size=replicates).astype(float) for x in sets]
    fits = [_resampled_fit(x, c, about) for x, c in zip(sets, counts, strict=True)]
    bias, threshold = np.zeros(replicates), float(np.log(p[0] / p[1]))
    for code, sign in ((0, 1.0), (1, -1.0)):
        points, count = sets[code], counts[code]
        own, other = (_resampled_score(points, *fits[i]) for i in (code, 1 - code))
        wrong = own - other > sign * threshold
        bias += p[code] * (wrong.mean(axis=1) - (wrong * count).sum(axis=1) / len(points))
    return Simulated(bias)


def _resampled_fit(points: Array, counts: Array, about: str) -> tuple[Array, Array, Array]:
    """Means (77), inverse covariances (78) and their log determinants."""
    means, covariances = resampled_moments(points, counts, about)
    # a bootstrap of few distinct points may be singular; the floor keeps it in the experiment as a bad fit
    n = points.shape[1]
    covariances += 1e-9 * np.trace(covariances, axis1=1, axis2=2)[:, None, None] * np.eye(n) / n
    return means, np.asarray(np.linalg.inv(covariances), dtype=float), np.linalg.slogdet(covariances)[1]


def resampled_moments(points: Array, counts: Array, about: str) -> tuple[Array, Array]:
    """Means (77) and covariances (78) of resampled sets, from two matrix products of the frequencies."""
    size, n = points.shape
    centre = points.mean(axis=0)
    shifted = points - centre
    means = counts @ shifted / size
    products = (shifted[:, :, None] * shifted[:, None, :]).reshape(size, n * n)
    covariances = (counts @ products).reshape(-1, n, n) / size
    if about == "resampled":
        covariances = (covariances - means[:, :, None] * means[:, None, :]) * size / (size - 1)
    return means + centre, covariances


def _resampled_score(points: Array, means: Array, inverses: Array, logs: Array) -> Array:
    centred = points[None] - means[:, None, :]
    return np.asarray((((centred @ inverses) * centred).sum(axis=2) + logs[:, None]) / 2)


def _two_fits(first: ArrayLike, second: ArrayLike) -> tuple[tuple[Array, Array], list[GaussianClass]]:
    one, two = sample_rows("first", first), sample_rows("second", second)
    fits = [estimate_class(one, "first"), estimate_class(two, "second")]
    if one.shape[1] != two.shape[1]:
        raise StratError.about("second", f"must have as many features as `first` ({one.shape[1]}), got {two.shape[1]}.")
    return (one, two), fits
