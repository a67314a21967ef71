"""Resubstitution and leave-one-out errors of a quadratic classifier from one fit (F&H III-A), in batches."""

from __future__ import annotations

import numpy as np

from strat.base.validate.columns import Array


def both_errors(first: Array, second: Array, *, priors: Array) -> tuple[Array, Array]:
    """Resubstitution and leave-one-out errors of each sample set; shape (sets, samples, features).

    Leaving a sample out changes its own class's mean and covariance by rank one, F&H (37) and (38), so
    the N refits follow from the N distances of the full fit.
    """
    shift = np.log(priors[0] / priors[1])
    total_r, total_l = np.zeros(len(first)), np.zeros(len(first))
    pairs = ((first, second, priors[0], -shift), (second, first, priors[1], shift))
    for own, other, prior, offset in pairs:
        mean, root, log_determinant = fit(own)
        distance = distances(own, mean, root)
        rival = half_score(distances(own, *fit(other)[:2]), fit(other)[2])
        inside = half_score(distance, log_determinant)
        outside = left_out_score(distance, log_determinant, own.shape[1], own.shape[2])
        total_r += prior * ((inside - rival + offset) > 0).mean(axis=1)
        total_l += prior * ((outside - rival + offset) > 0).mean(axis=1)
    return total_r, total_l


def fit(points: Array) -> tuple[Array, Array, Array]:
    """Mean, inverse Cholesky factor of the sample covariance, and its log determinant, of each set."""
    mean = points.mean(axis=1, keepdims=True)
    centred = points - mean
    covariance = np.swapaxes(centred, 1, 2) @ centred / (points.shape[1] - 1)
    factor = np.linalg.cholesky(covariance)
    log_determinant = 2 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    return mean, np.linalg.inv(factor), log_determinant


def distances(points: Array, mean: Array, root: Array) -> Array:
    """d²(X), F&H (86), of every point of every set."""
    return np.asarray((((points - mean) @ np.swapaxes(root, 1, 2)) ** 2).sum(axis=2))


def half_score(distance: Array, log_determinant: Array) -> Array:
    """f(M, Σ) of F&H (46)."""
    return (distance + log_determinant[:, None]) / 2


def left_out_score(distance: Array, log_determinant: Array, count: int, features: int) -> Array:
    """F of F&H (46) for each point with that point left out of its class's mean and covariance.

    Exact, where (49) is a first-order expansion.
    """
    shrink = (count - 2) / (count - 1)  # the scatter without the point is divided by count - 2
    outside, rest = left_out(shrink * distance, 1 / (count - 2), count)
    logs = log_determinant[:, None] - features * np.log(shrink) + np.log(rest)
    return np.asarray((outside + logs) / 2)


def left_out(distance: Array, scale: float, count: int) -> tuple[Array, Array]:
    """Squared distances of points from their class's mean without them, and what that takes off the determinant.

    `distance` is measured from the mean of all `count` points in a matrix B that holds `scale` times their scatter;
    without a point the mean moves by rank one, F&H (37), and B loses scale · N / (N - 1) · (Y - M)(Y - M)', (38), which
    Sherman and Morrison's formula inverts. The determinant of B is multiplied by the second array.
    """
    grow = count / (count - 1)
    rest = np.maximum(1 - scale * grow * distance, 1e-300)
    return np.asarray(grow**2 * distance / rest), np.asarray(rest)
