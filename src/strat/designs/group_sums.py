"""Sums of centred influences in groups, their squares, and covariances made of these."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes
from strat.designs.factored import Factored, Influence
from strat.designs.layout import centred, sums


class DenseGroups:
    """Sums in groups of centred influences that are written out."""

    def __init__(self, influence: Array, weights: Array, stratum: Codes) -> None:
        self.centred = centred(influence, weights, stratum)

    def lengths(self) -> Array:
        """Root of the sum of squares over lines, for each output."""
        return np.asarray(np.sqrt((self.centred**2).sum(axis=0)))

    def sums(self, group: Codes, number: int) -> Array:
        """Groups × outputs."""
        return sums(group, self.centred, number)

    def squares(self, group: Codes, number: int) -> Array:
        """Sums of squares and products over groups: outputs × outputs."""
        own = self.centred if number == len(group) else self.sums(group, number)
        return np.asarray(own.T @ own)


class FactoredGroups:
    """The same of a product, whose centred influences are (S - A T) R.

    S is the sparse table, A the share by weight of each line in its stratum, T the strata's sums of S, and R the small
    table; sums of squares in groups G are then Rᵀ (GS - GAT)ᵀ (GS - GAT) R.
    """

    def __init__(self, influence: Factored, weights: Array, stratum: Codes) -> None:
        from scipy.sparse import csr_array

        self.left, self.right = influence.left.tocsr(), influence.right
        lines, strata = len(weights), int(stratum.max()) + 1
        whole = np.bincount(stratum, weights, minlength=strata)
        share = np.divide(weights, whole[stratum], out=np.zeros(lines), where=weights > 0)
        self.share = csr_array((share, (np.arange(lines), stratum)), shape=(lines, strata))
        self.totals = (_groups(stratum, strata) @ self.left).toarray()

    def lengths(self) -> Array:
        """Root of the sum of squares over lines, for each output."""
        return np.sqrt(np.maximum(np.diagonal(self._of_lines), 0.0))

    def sums(self, group: Codes, number: int) -> Array:
        """Groups × outputs."""
        of_groups = _groups(group, number)
        return np.asarray(((of_groups @ self.left).toarray() - (of_groups @ self.share) @ self.totals) @ self.right)

    def squares(self, group: Codes, number: int) -> Array:
        """Sums of squares and products over groups: outputs × outputs."""
        if number == len(group):
            return self._of_lines
        of_groups = _groups(group, number)
        return self._products(of_groups @ self.left, of_groups @ self.share)

    @cached_property
    def _of_lines(self) -> Array:
        return self._products(self.left, self.share)

    def _products(self, left: Any, share: Any) -> Array:
        full = left.nnz > LIMITS.dense_share * np.prod(left.shape, dtype=float)
        squares = left.toarray().T @ left.toarray() if full else (left.T @ left).toarray()
        mixed = (left.T @ share) @ self.totals
        own = self.totals.T @ ((share.T @ share) @ self.totals)
        return np.asarray(self.right.T @ (squares - mixed - mixed.T + own) @ self.right)


def _groups(group: Codes, number: int) -> Any:
    """Which lines lie in each group: groups × lines, sparse."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(group)), (group, np.arange(len(group)))), shape=(number, len(group)))


def in_groups(influence: Influence, weights: Array, stratum: Codes) -> DenseGroups | FactoredGroups:
    """Influences less their strata's means, ready to be added up in groups."""
    if isinstance(influence, Factored):
        return FactoredGroups(influence, weights, stratum)
    return DenseGroups(influence, weights, stratum)


def root(covariance: Array) -> Array:
    """Lines whose squares and products add up to a covariance; negative directions count as nothing."""
    size = np.sqrt(np.abs(np.diagonal(covariance)))
    size[size == 0] = 1.0  # outputs of very different sizes must not drown each other in rounding
    values, vectors = np.linalg.eigh((covariance + covariance.T) / (2.0 * np.outer(size, size)))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))).T * size)


def nonnegative(covariance: Array) -> Array:
    """The covariance without negative variances in any direction, each output's own being kept or zero.

    Leaving negative directions out makes the others larger, the more so the more outputs there are; scaled back, an
    output has the variance that it would have alone.
    """
    own = np.maximum(np.diagonal(covariance), 0.0)
    if covariance.shape == (1, 1):
        return own[:, None]
    lines = root(covariance)
    larger = (lines**2).sum(axis=0)
    lines = lines * np.sqrt(np.divide(own, larger, out=np.zeros(len(own)), where=larger > 0))
    return np.asarray(lines.T @ lines)


def stratified_root(influence: Factored, stratum: Codes, scale: Array) -> Array:
    """Lines whose squares are the variance Σ_h scale_h Σ_i (z_hi - z̄_h)² of influences in strata, and covariances."""
    from scipy.sparse import diags_array

    strata = len(scale)
    sizes = np.bincount(stratum, minlength=strata)
    totals = (_groups(stratum, strata) @ influence.left).toarray()
    lines = diags_array(np.sqrt(scale)[stratum]) @ influence.left
    squares = (lines.T @ lines).toarray() - totals.T @ ((scale / sizes)[:, None] * totals)
    return root(influence.right.T @ squares @ influence.right)
