"""The hierarchical model of cross-validated differences on several data sets, integrated on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy
from scipy.special import gammaln, stdtr, stdtrit

from strat.base.notes import Note
from strat.base.validate.columns import Array

NODES, WEIGHTS = np.polynomial.legendre.leggauss(32)
LEVELS, SHARES = 0.5 * (NODES + 1.0), 0.5 * WEIGHTS  # of the narrower of two densities, by its probability
COARSE, FINE = (41, 25, 7), (81, 31, 11)  # points for the centre, the scale and the degrees of freedom
REFINED = 8  # times as many points for the centre where regions are compared
TINY = 1e-300  # what a density is taken for where it is below the smallest float
REACH = 9.0  # log posterior below its maximum that still counts


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Weights of grid points, and what each says of a further data set: below, within, above the region."""

    weight: Array
    regions: Array
    notes: tuple[str, ...]

    @property
    def largest(self) -> tuple[float, float, float]:
        """Posterior probability that each region is the most probable one."""
        shares = np.bincount(self.regions.argmax(axis=1), self.weight, minlength=3)
        return tuple((shares / shares.sum()).tolist())

    def draw(self, number: int, source: np.random.Generator) -> Array:
        """Posterior draws of the probabilities of the three regions."""
        return self.regions[source.choice(len(self.weight), number, p=self.weight)]


@dataclass(frozen=True, eq=False)
class Sets:
    """What the splits of each data set say of its mean difference: Student's t with a place, a scale and one df."""

    mean: Array
    scale: Array
    df: float


def hierarchical_posterior(d: Array, ratio: float, rope: float) -> Hierarchy:
    """The posterior of differences, data sets × splits."""
    sets, notes = _sets(d, ratio)
    spread = float(sets.mean.std(ddof=1)) + float(np.median(sets.scale))
    middle, reach = float(sets.mean.mean()), float(np.abs(d).max())
    width = 8.0 * spread / np.sqrt(len(d)) + spread
    grid = _grid(
        (max(-reach, middle - width), min(reach, middle + width)),
        (np.log(spread) - 5.0, np.log(spread) + 4.0),
        (np.log(0.02), np.log(300.0)),
        COARSE,
    )
    log_posterior = _log_posterior(sets, *grid)
    centre, log_scale, log_df = (_where(log_posterior, axis, grid[axis]) for axis in range(3))
    fine = _grid(centre, log_scale, log_df, FINE)
    return _regions(*_refine(_log_posterior(sets, *fine), fine), rope, notes)


def _sets(d: Array, ratio: float) -> tuple[Sets, tuple[str, ...]]:
    """With σ uniform, the likelihood of δ is Q(δ)^(−(n−1)/2), Q = SS/(1−ρ) + n (x̄−δ)²/(1+(n−1)ρ): t with n − 2 df."""
    n, rho = d.shape[1], ratio / (1.0 + ratio)
    squares = ((d - d.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    size = float(np.abs(d).max()) or 1.0
    flat = squares <= (1e-12 * size) ** 2 * n
    typical = float(np.median(squares[~flat])) if (~flat).any() else size**2 * n
    squares = np.maximum(squares, 1e-4 * typical)
    scale = np.sqrt(squares / (1.0 - rho) * (1.0 + (n - 1.0) * rho) / (n * (n - 2.0)))
    still = Note("no-variation", {"case": "data sets", "same": int(flat.sum()), "n": len(d), "unit": "split"})
    return Sets(d.mean(axis=1), scale, n - 2.0), (still,) if flat.any() else ()


def _grid(
    centre: tuple[float, float], log_scale: tuple[float, float], log_df: tuple[float, float], points: tuple[int, ...]
) -> tuple[Array, Array, Array]:
    """Centres, logarithms of scales, logarithms of degrees of freedom less one."""
    ranges = (centre, log_scale, log_df)
    return tuple(np.linspace(*r, k) for r, k in zip(ranges, points, strict=True))  # type: ignore[return-value]


def _where(log_posterior: Array, axis: int, points: Array) -> tuple[float, float]:
    """The part of an axis where the posterior is not negligible, a step wider on both sides."""
    others = tuple(k for k in range(3) if k != axis)
    best = log_posterior.max(axis=others)
    inside = np.flatnonzero(best > best.max() - REACH)
    return float(points[max(inside[0] - 1, 0)]), float(points[min(inside[-1] + 1, len(points) - 1)])


def _log_posterior(sets: Sets, centre: Array, log_scale: Array, log_df: Array) -> Array:
    """Log posterior density per step of the grid, centres × scales × degrees of freedom."""
    result = np.empty((len(centre), len(log_scale), len(log_df)))
    for j, scale in enumerate(np.exp(log_scale)):
        for k, less_one in enumerate(np.exp(log_df)):
            likelihood = _marginal(sets, centre, float(scale), 1.0 + less_one).sum(axis=1)
            # uniform in the scale, so that a step of its logarithm counts by the scale
            result[:, j, k] = likelihood + np.log(scale) + _df_prior(float(less_one))
    return result - result.max()


def _marginal(sets: Sets, centre: Array, scale: float, df: float) -> Array:
    """Log ∫ t(δ; data set) t(δ; centre, scale, df) dδ, centres × data sets, over quantiles of the narrower density."""
    result = np.empty((len(centre), len(sets.mean)))
    narrow = sets.scale <= scale
    gap = sets.mean - centre[:, None]
    own = sets.scale[narrow, None] * stdtrit(sets.df, LEVELS)
    inside = _density((gap[:, narrow, None] + own) / scale, df) / scale
    result[:, narrow] = np.log(inside @ SHARES + TINY)
    wide = sets.scale[~narrow]
    given = scale * stdtrit(df, LEVELS)
    inside = _density((gap[:, ~narrow, None] - given) / wide[:, None], sets.df) / wide[:, None]
    result[:, ~narrow] = np.log(inside @ SHARES + TINY)
    return result


def _density(t: Array, df: float) -> Array:
    """Student's density."""
    constant = gammaln(0.5 * (df + 1.0)) - gammaln(0.5 * df) - 0.5 * np.log(np.pi * df)
    density: Array = np.exp(constant - 0.5 * (df + 1.0) * np.log1p(t * t / df))
    return density


@cache
def _df_prior(less_one: float) -> float:
    """Log of the prior of df − 1 times df − 1: gamma with a shape in 0.5 to 5 and a rate in 0.05 to 0.15, uniform."""
    shape, rate = 0.5 + 4.5 * LEVELS[:, None], 0.05 + 0.1 * LEVELS
    log_density = shape * np.log(rate) - gammaln(shape) + shape * np.log(less_one) - rate * less_one
    return float(np.log(SHARES @ np.exp(log_density) @ SHARES))


def _refine(log_posterior: Array, grid: tuple[Array, Array, Array]) -> tuple[Array, tuple[Array, Array, Array]]:
    """More points along the centre, so that the borders between regions fall between close neighbours."""
    centre = np.linspace(grid[0][0], grid[0][-1], REFINED * (len(grid[0]) - 1) + 1)
    return scipy.interpolate.CubicSpline(grid[0], log_posterior)(centre), (centre, *grid[1:])


def _regions(log_posterior: Array, grid: tuple[Array, Array, Array], rope: float, notes: tuple[str, ...]) -> Hierarchy:
    """Weights of grid points with P(below), P(within), P(above) on a further data set."""
    keep = log_posterior > -2.0 * REACH
    weight = np.exp(log_posterior[keep])
    centre, scale, less_one = (axis[keep] for axis in np.meshgrid(grid[0], *map(np.exp, grid[1:]), indexing="ij"))
    below = stdtr(1.0 + less_one, (-rope - centre) / scale)
    above = stdtr(1.0 + less_one, (centre - rope) / scale)
    within = np.maximum(1.0 - below - above, 0.0) if rope else np.zeros_like(below)
    return Hierarchy(weight / weight.sum(), np.column_stack([below, within, above]), notes)
