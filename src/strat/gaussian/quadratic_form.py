"""The distribution of a quadratic function of a Gaussian vector, to ten digits (what Novak's program did).

Imhof's and Davies' integrals run along a vertical line, where the integrand decays slowly and oscillates.
Here the line passes through the saddle point and is bent into a hyperbola towards the side on which the
integrand dies; the trapezoidal rule then converges exponentially, for one dimension as for sixty-four.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from strat.base.limits import LIMITS
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.gaussian.probability import Probability

Complex = NDArray[np.complex128]
BEND = 0.5  # largest tangent of the hyperbola's angle; below 1, so that a Gaussian part still decays
STEP = 0.2  # first step of the trapezoidal rule, which is halved up to seven times
STRONG = 700.0  # a term this strong has ended the integrand, by exp(-0.06·STRONG), before it can grow
LIMIT = 90.0  # the integrand's slowest decay is exp(-u / 2)


@checked
def quadratic_form_tail(weights: Array, linear: Array, constant: float, *, tolerance: float = 1e-11) -> Probability:
    """P(h > 0) for h = sum of weights·z² + linear·z, plus constant, with z independent standard normal.

    Examples
    --------
    The probability that a squared standard normal is above 1 is 2 Φ(-1) = 0.3173.

    >>> quadratic_form_tail(np.array([1.0]), np.array([0.0]), -1.0).value.__round__(6)
    0.317311
    """
    value, bound = tails(np.atleast_2d(weights), np.atleast_2d(linear), np.array([constant]), tolerance=tolerance)
    return Probability(float(value[0]), "quadratic form", bound=float(bound[0]))


def tails(weights: Array, linear: Array, constant: Array, *, tolerance: float = 1e-11) -> tuple[Array, Array]:
    """P(h > 0) of each row's form, and a bound of its absolute error.

    Rows are independent problems: `weights` and `linear` have shape (problems, features).
    """
    flipped = weights.sum(axis=1) + constant > 0
    sign = np.where(flipped, -1.0, 1.0)
    weights, linear, constant = weights * sign[:, None], linear * sign[:, None], constant * sign
    possible = _highest(weights, linear, constant) > 0
    value, bound = np.zeros(len(constant)), np.zeros(len(constant))
    rows = np.flatnonzero(possible)
    size = max(1, LIMITS.quadrature_cells // (weights.shape[1] * LIMITS.quadrature_points))
    for part in np.split(rows, np.arange(size, len(rows), size)):
        if len(part):
            value[part], bound[part] = _smaller_tail(weights[part], linear[part], constant[part], tolerance=tolerance)
    value = np.clip(value, 0.0, 1.0)
    return np.where(flipped, 1 - value, value), bound


def _smaller_tail(weights: Array, linear: Array, constant: Array, *, tolerance: float) -> tuple[Array, Array]:
    saddle = _saddle(weights, linear, constant, pole=1.0)
    width = 1 / np.sqrt(_second(weights, linear, saddle) + 1 / saddle**2)

    def integrand(s: Complex) -> Complex:
        return np.asarray(np.exp(cumulant(weights, linear, constant, s)) / s)

    return contour_integral(integrand, saddle, width, _lean(weights, linear, constant, saddle), tolerance=tolerance)


def boundary_expectation(
    weights: Array, linear: Array, constant: float, moment: Callable[[Complex, Complex], Complex]
) -> float:
    """E{q(z) δ(h(z))}, the integral of q over the boundary h = 0, for z standard normal.

    `moment(mean, variance)` is that of `boundary_expectations`, of one q that does not depend on s.
    """
    return float(boundary_expectations(weights, linear, constant, lambda m, v, _: np.atleast_2d(moment(m, v)))[0])


def boundary_expectations(
    weights: Array, linear: Array, constant: float, moment: Callable[[Complex, Complex, Complex], Complex]
) -> Array:
    """E{q(z) δ(h(z))} for several q, and with a factor s for δ'(h) in place of δ(h).

    Under the weight exp(s·h) each z_j is again normal, with mean s·linear_j·v_j and variance
    v_j = 1 / (1 - 2·weights_j·s); `moment(mean, variance, s)` gives the expectations of all q then, one per row, from
    means and variances with features on the last axis. So F&H (21), (57) and (67) need one integral over s, not one
    over the feature space.
    """
    w, b, c = np.atleast_2d(weights), np.atleast_2d(linear), np.array([constant])
    if _highest(w, b, c)[0] <= 0 or _highest(-w, -b, -c)[0] <= 0:
        probe = np.ones((1, w.shape[1]), dtype=complex)
        return np.zeros(len(moment(probe, probe, probe[:, 0])))
    sign = -1.0 if (w.sum(axis=1) + c)[0] > 0 else 1.0
    # δ(h) = δ(-h), so the saddle is sought on the positive side
    w, b, c = w * sign, b * sign, c * sign
    saddle = _saddle(w, b, c, pole=0.0)
    width = 1 / np.sqrt(_second(w, b, saddle))

    def integrand(s: Complex) -> Complex:
        path = s[:1]  # the same for every q
        variance = 1 / (1 - 2 * w * path[0][:, None])
        tilted = moment(path[0][:, None] * b * variance, variance, sign * path[0])
        return np.asarray(np.exp(cumulant(w, b, c, path)) * tilted)

    rows = np.ones(len(integrand(saddle[:, None].astype(complex))))
    lean = _lean(w, b, c, saddle)
    return contour_integral(integrand, saddle * rows, width * rows, lean * rows, tolerance=1e-12)[0]


def cumulant(weights: Array, linear: Array, constant: Array, s: Complex) -> Complex:
    """Log E{exp(s·h)} at complex s of shape (problems, points)."""
    variance = 1 - 2 * weights[:, None, :] * s[:, :, None]
    halves = np.log(variance)
    if linear.any():
        halves -= (linear[:, None, :] * s[:, :, None]) ** 2 / variance
    return np.asarray(constant[:, None] * s - 0.5 * halves.sum(axis=2))


def contour_integral(
    integrand: Callable[[Complex], Complex],
    start: Array,
    width: Array,
    lean: Array,
    *,
    tolerance: float,
) -> tuple[Array, Array]:
    """1/(2πi) times the integral along s(u) = start + lean·width·(cosh u - 1) + i·width·sinh u.

    The integrand is real on the real axis, so the upper half of the path is enough. The step is halved
    until nothing changes by more than `tolerance`; the last change and the rounding are the bound.
    """

    def along(u: Array) -> Complex:
        run, rise = lean[:, None] * (np.cosh(u) - 1), np.sinh(u)
        s = start[:, None] + width[:, None] * (run + 1j * rise)
        slope = width[:, None] * (lean[:, None] * rise + 1j * np.cosh(u))
        return np.asarray(integrand(s) * slope / np.pi)

    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        total, magnitude, end = _march(along)
        step, value = STEP, STEP * total
        for _ in range(7):
            total = total + _between(along, step, end)
            step /= 2
            change, value = np.abs(step * total - value), step * total
            if (change < tolerance).all():
                break
    return value, change + 1e-13 * np.maximum(magnitude * STEP, 0.1)


def _march(along: Callable[[Array], Complex]) -> tuple[Array, Array, Array]:
    # each path ends where its integrand has died: beyond that point the path may go straight up
    first = along(np.zeros(1))[:, 0]
    total, magnitude, peak = first.imag / 2, np.abs(first) / 2, np.abs(first)
    end, position = np.full(len(first), LIMIT), 1
    while position * STEP < LIMIT and (end == LIMIT).any():
        u = STEP * np.arange(position, position + LIMITS.quadrature_points, dtype=float)
        values = along(u)
        sizes = np.abs(values)
        dying = ~(sizes > 1e-17 * peak[:, None])
        ended = dying.any(axis=1) & (end == LIMIT)
        end = np.where(ended, u[dying.argmax(axis=1)], end)
        alive = u < end[:, None]
        total = total + np.where(alive, values.imag, 0).sum(axis=1)
        sizes = np.where(alive, sizes, 0)
        magnitude, peak = magnitude + sizes.sum(axis=1), np.maximum(peak, sizes.max(axis=1))
        position += LIMITS.quadrature_points
    return total, magnitude, end


def _between(along: Callable[[Array], Complex], step: float, end: Array) -> Array:
    # the sum over the middles of the steps so far
    points = np.asarray(np.arange(step / 2, end.max(), step), dtype=float)
    total = np.zeros(len(end))
    for part in np.split(points, np.arange(LIMITS.quadrature_points, len(points), LIMITS.quadrature_points)):
        total += np.where(part < end[:, None], along(part).imag, 0).sum(axis=1)
    return total


def _highest(weights: Array, linear: Array, constant: Array) -> Array:
    # the supremum of h: finite only when no weight is positive and flat directions have no slope
    top = constant.copy()
    negative = weights < 0
    top += np.where(negative, linear**2 / np.where(negative, -4 * weights, 1), 0).sum(axis=1)
    unlimited = ((weights > 0) | ((weights == 0) & (linear != 0))).any(axis=1)
    return np.where(unlimited, np.inf, top)


def _lean(weights: Array, linear: Array, constant: Array, start: Array) -> Array:
    # Which way, and how far, the path may lean. A term's exponent strength·t²/(1 - t) decays on the side of its
    # own singularity, and there no further constant is needed; on the other side it decays once its linear
    # part is moved into the constant, and strong terms end the integrand before they could grow. So a side is
    # free when the constant that is left decays there.
    rest = 1 - 2 * weights * start[:, None]
    curved = weights != 0
    safe = np.where(curved, weights, 1)
    strength = np.where(curved, linear**2 / (8 * safe**2 * rest), 0)
    weak = curved & (strength < STRONG)
    moved = np.where(weak, linear**2 / (4 * safe), 0)
    local = linear**2 * start[:, None] * (1 - weights * start[:, None]) / rest**2
    right, left = (constant + np.where(weak & (weights * side < 0), -moved, local).sum(axis=1) for side in (1, -1))
    # where neither side is free, far terms decide, and the terms that would grow make the path stand up
    far = constant + np.where(weak, -moved, local).sum(axis=1)
    side = np.where(far > 0, -1.0, 1.0)
    load = np.where(weak & (weights * side[:, None] > 0), strength + 1, 0).sum(axis=1)
    careful = side * np.minimum(BEND, 2 / np.sqrt(np.maximum(load, 1)))
    return np.where(right <= 0, BEND, np.where(left >= 0, -BEND, careful))


def _slope(weights: Array, linear: Array, constant: Array, s: Array) -> Array:
    at = s[:, None]
    variance = 1 - 2 * weights * at
    parts = weights / variance + linear**2 * at * (1 - weights * at) / variance**2
    return np.asarray(parts.sum(axis=1) + constant)


def _second(weights: Array, linear: Array, s: Array) -> Array:
    variance = 1 - 2 * weights * s[:, None]
    return np.asarray((2 * weights**2 / variance**2 + linear**2 / variance**3).sum(axis=1))


def _saddle(weights: Array, linear: Array, constant: Array, *, pole: float) -> Array:
    # where cumulant - pole·log s is least on the positive axis: bisection over the odds s / (end - s)
    top = weights.max(axis=1)
    end = np.where(top > 0, 1 / np.where(top > 0, 2 * top, 1), np.inf)
    spread = np.sqrt((2 * weights**2 + linear**2).sum(axis=1))
    low, high = np.full(len(top), -45.0), np.full(len(top), 45.0)
    for _ in range(18):
        middle = (low + high) / 2
        s = _point(middle, end, spread)
        rising = _slope(weights, linear, constant, s) - pole / s > 0
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    return _point((low + high) / 2, end, spread)


def _point(log_odds: Array, end: Array, spread: Array) -> Array:
    odds = np.exp(log_odds)
    finite = np.isfinite(end)
    return np.where(finite, np.where(finite, end, 1) * odds / (1 + odds), odds / spread)
