"""Strata out of features, when none are given (Kuncheva 1.6.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base import extras, validate
from strat.base.errors import StratError, one_of
from strat.base.limits import LIMITS
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, numbers
from strat.base.validate.scalars import Rng, generator

METRICS = ("euclidean", "cityblock", "chebyshev", "cosine", "correlation", "hamming", "canberra")


@checked
def strata_from_features(
    X: ArrayLike,
    *,
    k: int,
    method: str = "kmeans",
    metric: Any = "euclidean",
    least: int = 1,
    scale: bool = False,
    rng: Rng = 0,
) -> Codes:
    """A stratum for each row, found by clustering its features.

    Parameters
    ----------
    X
        Features known *before* the systems ran; never their results, which would make the strata chase the errors.
    k
        Number of strata.
    method
        "kmeans" (c-means: round clusters) or "single" (single linkage: joins the two clusters with the smallest
        distance; follows strings, and gives outliers strata of their own).
    metric
        The distance of two rows, for "single" ("kmeans" is Euclidean): one of SciPy's `pdist` by name, or a function
        of two rows. For a similarity S of at most 1 give 1 − S.
    least
        Join clusters with fewer rows than this to the nearest other one; 2 keeps a variance possible.
    scale
        Bring every feature to standard deviation 1 first.
    rng
        Seed or Generator, for the starts of "kmeans".

    Returns
    -------
    array
        Numbers 0, 1, … in the order in which the strata first appear.

    Examples
    --------
    >>> strata_from_features([[0.0], [0.1], [5.0], [5.1]], k=2).tolist()
    [0, 0, 1, 1]
    >>> strata_from_features([[0.0], [1.0], [2.0], [9.0]], k=2, method="single").tolist()
    [0, 0, 0, 1]

    By the angle between them long and short rows belong together.

    >>> strata_from_features([[1, 0], [9, 0], [0, 1], [0, 9]], k=2, method="single", metric="cosine").tolist()
    [0, 0, 1, 1]
    """
    table = numbers("X", X)
    table = table[:, None] if table.ndim == 1 else table.reshape(len(table), -1)
    if validate.count("k", k) > len(np.unique(table, axis=0)):
        raise StratError.about(
            "k", f"must be at most the number of distinct rows ({len(np.unique(table, axis=0))}), got {k}."
        )
    if scale:
        spread = table.std(axis=0)
        table = table / np.where(spread > 0, spread, 1)
    codes = cluster(table, k, method, generator(rng), metric=metric)
    return _in_order(_joined(table, codes, validate.count("least", least)))


def cluster(
    X: Array, k: int, method: str, source: np.random.Generator, *, starts: int = 10, metric: Any = "euclidean"
) -> Codes:
    """The number of its cluster, 0 to k - 1, for each row."""
    if one_of("method", method, ("kmeans", "single")) == "single":
        return _single(X, k, metric) - 1
    if metric != "euclidean":
        raise StratError.about("metric", f"must be 'euclidean' for `method` 'kmeans', got {metric!r}; use 'single'.")
    KMeans = extras.load("sklearn.cluster").KMeans
    seed = int(source.integers(2**31 - 1))
    return np.asarray(KMeans(k, n_init=starts, random_state=seed).fit_predict(X), dtype=np.int64)


def _single(X: Array, k: int, metric: Any) -> Codes:
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist

    if not callable(metric):
        one_of("metric", metric, METRICS)
    if len(X) > LIMITS.linked_rows:
        raise StratError.about(
            "X",
            f"must have at most {LIMITS.linked_rows} rows for single linkage, which needs all pairs of them, got "
            f"{len(X)}; use method='kmeans'.",
        )
    if not np.isfinite(pdist(X, metric)).all():
        raise StratError.about("metric", f"must give each pair of rows a number, got {metric!r}, which does not.")
    return np.asarray(fcluster(linkage(X, "single", metric), k, criterion="maxclust"), dtype=np.int64)


def _joined(X: Array, label: Codes, least: int) -> Codes:
    """Clusters that are too small, joined to the one with the nearest centre, smallest first."""
    label = np.unique(label, return_inverse=True)[1]
    if len(X) < least:
        raise StratError.about("least", f"must be at most the number of rows ({len(X)}), got {least}.")
    while True:
        names, sizes = np.unique(label, return_counts=True)
        if sizes.min() >= least or len(names) == 1:
            return label
        centre = np.array([X[label == name].mean(axis=0) for name in names])
        i = int(sizes.argmin())
        away = ((centre - centre[i]) ** 2).sum(axis=1)
        away[i] = np.inf
        label = np.where(label == names[i], names[int(away.argmin())], label)


def _in_order(label: Codes) -> Codes:
    _, first, code = np.unique(label, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[code]
