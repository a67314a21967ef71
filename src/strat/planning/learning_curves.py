"""Learning curves: fitted to (size, error) points, extrapolated with their uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import LARGEST, Array, numbers, same_length, values
from strat.measures.student import critical
from strat.planning.sample_size import MOST
from strat.show.colours import BLUE
from strat.show.figures import new_axes


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Result):
    """error = floor + slope · size^(-power), with the covariance of what was fitted."""

    floor: float
    slope: float
    power: float
    covariance: Array
    df: int
    sizes: Array
    errors: Array

    def __str__(self) -> str:
        """The fitted curve."""
        return (
            f"error = {self.floor:.4g} + {self.slope:.4g} · size^(−{self.power:.3g}), fitted to {len(self.sizes)} sizes"
        )

    def _columns(self) -> dict[str, list[Any]]:
        """A line for each size: the observed and the fitted error."""
        fitted = self.predict(self.sizes).tolist()
        return {"size": self.sizes.tolist(), "error": self.errors.tolist(), "fitted": fitted}

    @checked
    def predict(self, size: ArrayLike) -> Array:
        """The expected error at each size."""
        return self.floor + self.slope * _sizes(size) ** -self.power

    @checked
    def se(self, size: ArrayLike) -> Array:
        """The standard error of the expected error at each size."""
        jacobian = self._jacobian(np.atleast_1d(_sizes(size)))
        return np.sqrt(np.einsum("ij,jk,ik->i", jacobian, self.covariance, jacobian))

    @checked
    def interval(self, size: ArrayLike, level: float = 0.95) -> tuple[Array, Array]:
        """Limits of the expected error at each size."""
        t = float(critical(level, self.df))
        middle, reach = np.atleast_1d(self.predict(size)), t * self.se(size)
        return middle - reach, middle + reach

    def _jacobian(self, size: Array) -> Array:
        term = size**-self.power
        columns = [np.ones_like(size), term, -self.slope * term * np.log(size)]
        return np.stack(columns[: len(self.covariance)], axis=1)

    @checked
    def samples_for(self, error: float, level: float = 0.95) -> Extrapolation:
        """The design samples at which the curve falls to `error`, with an interval from the curve's limits."""
        if not math.isfinite(error):
            raise StratError.about("error", f"must be finite, got {error:g}.")
        if error <= self.floor or self.slope <= 0:
            raise StratError.about(
                "error",
                f"must be above {self.floor:.4g}, the floor that the curve falls to, got {error:g}; more "
                "samples won't reach it, so change the features or the classifier.",
            )
        number = ((error - self.floor) / self.slope) ** (-1 / self.power)
        if number > MOST:
            raise StratError.about(
                "error",
                f"must be reachable, got {error:g}, which would take {number:.2g} samples; choose a larger one.",
            )
        grid = np.geomspace(max(1.0, number / 1e4), number * 1e4, 4001)
        low, high = self.interval(grid, level)
        first, last = np.flatnonzero(low <= error), np.flatnonzero(high <= error)
        return Extrapolation(
            error,
            int(np.ceil(number - 1e-9)),
            int(grid[first[0]]) if len(first) else 0,
            int(np.ceil(grid[last[0]])) if len(last) else None,
            level,
        )

    def plot(self, ax: Any = None, *, up_to: float | None = None) -> Any:
        """The points, the curve and its 95 % limits up to `up_to` samples."""
        axes = new_axes(ax)
        grid = np.geomspace(self.sizes.min(), up_to or 10 * self.sizes.max(), 200)
        low, high = self.interval(grid)
        axes.fill_between(grid, low, high, color="#56B4E9", alpha=0.3, lw=0, label="95 %")
        axes.plot(grid, self.predict(grid), color=BLUE, label="fitted")
        axes.plot(self.sizes, self.errors, "o", color="black", markersize=4)
        axes.axhline(self.floor, color="#D55E00", linestyle="--", linewidth=1, label="floor")
        axes.set_xscale("log")
        axes.set_xlabel("design samples")
        axes.set_ylabel("error")
        axes.legend(frameon=False)
        return axes


@dataclass(frozen=True, repr=False)
class Extrapolation(Result):
    """Design samples at which an extrapolated curve reaches an error; `high` is None when its limit never does."""

    error: float
    number: int
    low: int
    high: int | None
    level: float

    def __str__(self) -> str:
        high = "no limit" if self.high is None else f"{self.high:,}"
        return f"error {self.error:g} at {self.number:,} samples ({100 * self.level:g} %: {self.low:,} to {high})"


@checked
def fit_learning_curve(
    sizes: ArrayLike, errors: ArrayLike, *, power: float = 1.0, se: ArrayLike | None = None
) -> LearningCurve:
    """The curve floor + slope / size^power through measured errors; F&H (20) and (21) give power 1.

    Parameters
    ----------
    sizes
        Design samples of each measurement.
    errors
        The measured errors.
    power
        The known exponent; `fit_power_curve` estimates it.
    se
        Standard errors of the measurements, as relative weights; equal when not given.

    Examples
    --------
    >>> curve = fit_learning_curve([50, 100, 200, 400], [0.14, 0.12, 0.11, 0.105])
    >>> round(curve.floor, 4), round(curve.slope, 4)
    (0.1, 2.0)
    """
    x, y, weights = _points(sizes, errors, se, least=3)
    if not 1e-3 <= power <= 100:
        raise StratError.about("power", f"must lie between 0.001 and 100, got {power!r}; theory says 1.")
    return _linear_fit(x, y, weights, power)


@checked
def fit_power_curve(sizes: ArrayLike, errors: ArrayLike, *, se: ArrayLike | None = None) -> LearningCurve:
    """The curve floor + slope · size^(-power), power estimated too (at least four different sizes).

    Examples
    --------
    >>> sizes = np.array([50, 100, 200, 400, 800])
    >>> curve = fit_power_curve(sizes, 0.1 + 0.5 * sizes**-0.5)
    >>> round(curve.power, 3), round(curve.floor, 4)
    (0.5, 0.1)
    """
    from scipy.optimize import minimize_scalar

    x, y, weights = _points(sizes, errors, se, least=4)

    def misfit(power: float) -> float:
        fitted = _linear_fit(x, y, weights, power)
        return float((weights * (y - fitted.predict(x)) ** 2).sum())

    grid = np.geomspace(0.05, 4, 60)
    best = int(np.argmin([misfit(p) for p in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    power = float(minimize_scalar(misfit, bounds=(low, high), method="bounded", options={"xatol": 1e-9}).x)
    rough = _linear_fit(x, y, weights, power)
    df = len(x) - 3
    full = LearningCurve(rough.floor, rough.slope, power, np.zeros((3, 3)), max(df, 1), x, y)
    jacobian = full._jacobian(x)
    variance = float((weights * (y - full.predict(x)) ** 2).sum()) / max(df, 1)
    covariance = np.asarray(np.linalg.pinv((jacobian.T * weights) @ jacobian) * variance, dtype=float)
    return LearningCurve(rough.floor, rough.slope, power, covariance, max(df, 1), x, y)


def _linear_fit(x: Array, y: Array, weights: Array, power: float) -> LearningCurve:
    columns = np.stack([np.ones_like(x), x**-power], axis=1)
    information = (columns.T * weights) @ columns
    floor, slope = np.linalg.solve(information, columns.T @ (weights * y))
    df = len(x) - 2
    variance = float((weights * (y - floor - slope * x**-power) ** 2).sum()) / df
    covariance = np.asarray(np.linalg.inv(information) * variance, dtype=float)
    return LearningCurve(float(floor), float(slope), power, covariance, df, x, y)


def _points(sizes: ArrayLike, errors: ArrayLike, se: ArrayLike | None, *, least: int) -> tuple[Array, Array, Array]:
    x, y = numbers("sizes", sizes, axes=1), numbers("errors", errors, most=LARGEST, axes=1)
    same_length(sizes=x, errors=y)
    if (x <= 0).any():
        raise StratError.about("sizes", f"must be positive, got {x.min():g}; they count design samples.")
    if len(np.unique(x)) < least:
        raise StratError.about(
            "sizes", f"must hold at least {least} different sizes, got {len(np.unique(x))}; measure the error at more."
        )
    weights = np.ones_like(x) if se is None else 1 / _spreads(se) ** 2
    same_length(sizes=x, se=weights)
    return x, y, weights / weights.mean()


def _sizes(size: ArrayLike) -> Array:
    """Sizes at which a curve has a value."""
    sizes = values("size", size)
    if sizes.ndim > 1:
        raise StratError.about("size", f"must be one number or a list, got an array of shape {sizes.shape}.")
    if not (sizes > 1e-100).all():
        raise StratError.about("size", f"must be positive, got {sizes.min():g}; it counts design samples.")
    return sizes


def _spreads(se: ArrayLike) -> Array:
    """Standard errors that make weights."""
    spreads = numbers("se", se, most=1e100)
    if not (spreads > 1e-100).all():
        raise StratError.about(
            "se", f"must be positive, got {spreads.min():g}; leave it out if all errors have the same weight."
        )
    return spreads
