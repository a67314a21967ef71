"""Vectors that are ready to be compared, and the float64 score that decides every comparison.

A score here is a function of two rows and of nothing else: the same two vectors give the same bits, whichever
block or thread meets them. Every fast path (float32 blocks, a GPU) has to give the order of these scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, one_of
from strat.base.limits import LIMITS
from strat.base.validate.columns import LARGEST, Array, Codes
from strat.recognition.rounding import exact_scores, unit

SCORES = ("cosine", "inner", "euclidean", "l1", "mahalanobis")


@dataclass(frozen=True, eq=False)
class Space:
    """Probes and gallery as float64 vectors, and how two of them are scored.

    Attributes
    ----------
    probes, gallery
        Rows to compare: unit vectors for cosine, whitened for Mahalanobis, as given otherwise.
    form
        ``"inner"`` (the greater the better), ``"euclidean"`` or ``"l1"`` (the distance, negated).
    """

    probes: Array
    gallery: Array
    form: str

    def pairs(self, probe: Codes, entry: Codes) -> Array:
        """The float64 scores of the named pairs; the greater, the better, so that distances are negated."""
        scores = np.empty(len(probe))
        step = max(1, LIMITS.exact_pairs // max(1, self.probes.shape[1]))
        for start in range(0, len(probe), step):
            part = slice(start, start + step)
            scores[part] = _score(self.probes[probe[part]], self.gallery[entry[part]], self.form)
        return scores


def _score(p: Array, g: Array, form: str) -> Array:
    scores = -np.abs(p - g).sum(axis=1) if form == "l1" else exact_scores(p, g, form)
    return np.asarray(scores, float)


def space(probes: ArrayLike, gallery: ArrayLike, *, score: str, covariance: ArrayLike | None = None) -> Space:
    """Both sets of vectors, checked and made ready for `score`.

    >>> s = space([[3.0, 4.0]], [[0.0, 2.0], [4.0, 3.0]], score="cosine")
    >>> s.pairs(np.array([0, 0]), np.array([0, 1])).round(6).tolist()
    [0.8, 0.96]
    """
    one_of("score", score, SCORES)
    p, g = vectors("probes", probes), vectors("gallery", gallery)
    if p.shape[1] != g.shape[1]:
        raise StratError.about(
            "probes",
            f"and `gallery` must have vectors of the same length, got {p.shape[1]} and {g.shape[1]}; "
            "were they made by the same model?",
        )
    if covariance is not None and score != "mahalanobis":
        raise StratError.about(
            "covariance", f"belongs to score='mahalanobis', got score={score!r}; leave it out or change the score."
        )
    if score == "cosine":
        return Space(_unit("probes", p), _unit("gallery", g), "inner")
    if score == "mahalanobis":
        w = _whitening(g, covariance)
        return Space(np.ascontiguousarray(p @ w), np.ascontiguousarray(g @ w), "euclidean")
    return Space(p, g, score)


def vectors(argument: str, values: ArrayLike) -> Array:
    """`values` as a finite float64 matrix, one row per image."""
    array = np.asarray(values)
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise StratError.about(
            argument, f"must be numbers with one row per image, got shape {array.shape} of {array.dtype}."
        )
    if 0 in array.shape:
        raise StratError.about(argument, f"must have at least one row and one column, got shape {array.shape}.")
    array = np.ascontiguousarray(array, dtype=np.float64)
    bad = ~np.isfinite(array).all(axis=1)
    if bad.any():
        raise StratError.about(
            argument,
            f"must be finite, got NaN or infinity in row {np.flatnonzero(bad)[0]} "
            f"({int(bad.sum())} such rows); name these rows in `failed_{argument}` or drop them.",
        )
    if max(-array.min(), array.max()) > LARGEST:
        raise StratError.about(
            argument, f"must not be larger than {LARGEST:g}, got {np.abs(array).max():g}; scale them."
        )
    return array


def _unit(argument: str, x: Array) -> Array:
    zero = np.flatnonzero(~x.any(axis=1))
    if len(zero):
        raise StratError.about(
            argument,
            f"must not have zero vectors under cosine, got one in row {zero[0]} "
            f"({len(zero)} such rows); name them in `failed_{argument}` or drop them.",
        )
    return np.ascontiguousarray(unit(x))


def _whitening(gallery: Array, covariance: ArrayLike | None) -> Array:
    """W with W W' = inverse covariance, so that ‖(p − g) W‖ is the Mahalanobis distance."""
    d = gallery.shape[1]
    if covariance is None and len(gallery) <= d:
        raise StratError.about(
            "covariance",
            f"must be given when the gallery has no more rows ({len(gallery)}) than columns ({d}); "
            "estimate it on a training set.",
        )
    c = np.cov(gallery, rowvar=False).reshape(d, d) if covariance is None else np.asarray(covariance, float)
    if c.shape != (d, d) or not np.allclose(c, c.T):
        raise StratError.about("covariance", f"must be a symmetric {d} × {d} matrix, got shape {c.shape}.")
    try:
        lower = np.linalg.cholesky(c)
    except np.linalg.LinAlgError:
        raise StratError.about(
            "covariance",
            "must be positive definite, got one that is not; drop constant or repeated columns, "
            "or add a little to its diagonal.",
        ) from None
    return np.asarray(np.linalg.inv(lower).T)
