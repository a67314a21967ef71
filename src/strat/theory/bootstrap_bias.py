"""The bootstrap's bias and variance for a quadratic classifier without drawing a bootstrap (F&H IV)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from strat.columns import Array, numbers
from strat.doors import checked
from strat.errors import StratError
from strat.theory.gaussian import probabilities


@dataclass(frozen=True)
class BootstrapBias:
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
    p = probabilities("priors", priors, 2)
    sets = (_points("first", first), _points("second", second))
    fits = [_Fit.of(points, name) for points, name in zip(sets, ("first", "second"), strict=True)]
    if sets[0].shape[1] != sets[1].shape[1]:
        raise StratError(
            f"`second` must have as many features as `first` ({sets[0].shape[1]}), got {sets[1].shape[1]}."
        )
    bias, errors, variance = 0.0, [], 0.0
    threshold = float(np.log(p[0] / p[1]))
    for code, sign in ((0, 1.0), (1, -1.0)):
        h, spread, own = _scores(fits, sets[code], code)
        h = sign * (h - threshold)
        n, count = sets[code].shape[1], len(h)
        impulse = np.exp(-(h**2) / (2 * spread)) / np.sqrt(2 * np.pi * spread)
        bias += p[code] * ((own**2 + n) / 2 * impulse).sum() / count**2  # F&H (87), (88)
        error = float((h > 0).mean())
        errors.append(error)
        variance += p[code] ** 2 * error * (1 - error) / count  # F&H (93), with P_i² as in (89)
    resubstitution = float(p[0] * errors[0] + p[1] * errors[1])
    return BootstrapBias(float(bias), float(variance), resubstitution, (errors[0], errors[1]))


def _scores(fits: list[_Fit], points: Array, code: int) -> tuple[Array, Array, Array]:
    # h of F&H (14) at the points, the variance of the bootstrap's Δh of (82), and d² to the own class
    squares = [(((points - fit.mean) @ fit.root.T) ** 2).sum(axis=1) for fit in fits]
    halves = [(d + fit.log_determinant) / 2 for d, fit in zip(squares, fits, strict=True)]
    n = points.shape[1]
    spread = sum((d**2 + n) / (2 * fit.count) for d, fit in zip(squares, fits, strict=True))
    return halves[0] - halves[1], np.asarray(spread), squares[code]


@dataclass(frozen=True, eq=False)
class _Fit:
    mean: Array
    root: Array
    log_determinant: float
    count: int

    @staticmethod
    def of(points: Array, argument: str) -> _Fit:
        count, features = points.shape
        if count <= features:
            raise StratError(
                f"`{argument}` must have more samples than features ({features}) for a covariance that can be "
                f"inverted, got {count}; add samples or drop features."
            )
        mean = points.mean(axis=0)
        centred = points - mean
        try:
            factor = np.linalg.cholesky(centred.T @ centred / (count - 1))
        except np.linalg.LinAlgError:
            raise StratError(
                f"`{argument}` must have independent features, got a singular covariance of {count} samples; "
                "drop dependent features or add a ridge."
            ) from None
        return _Fit(mean, np.linalg.inv(factor), float(2 * np.log(np.diag(factor)).sum()), count)


def _points(argument: str, values: ArrayLike) -> Array:
    rows = numbers(argument, values)
    return rows[:, None] if rows.ndim == 1 else rows
