"""Further searches for features: from all of them down, over every set, and one at a time."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.validate.arguments import checked
from strat.protocols.selection import Criterion, checked_rows, criterion_of, wanted_features


@checked
def backward_selection(
    X: ArrayLike, y: ArrayLike, *, features: int, criterion: str | Criterion = "mahalanobis"
) -> NDArray[np.int64]:
    """The features that are left when the least useful one is taken out again and again, in order of their columns.

    Parameters
    ----------
    X, y
        Training rows and their labels; give no test rows (see `peeking`).
    features
        How many to keep.
    criterion
        As in `forward_selection`.

    Examples
    --------
    The centroids lie 1, 3 and 2 apart along the three features: the first goes.

    >>> backward_selection([[0, 0, 0], [1, 3, 2]], [0, 1], features=2, criterion="centroids").tolist()
    [1, 2]
    """
    table, codes = checked_rows(X, y)
    wanted, measure = wanted_features(features, table.shape[1]), criterion_of(criterion, y)
    kept = list(range(table.shape[1]))
    while len(kept) > wanted:
        without = [measure(table[:, [g for g in kept if g != f]], codes) for f in kept]
        del kept[int(np.argmax(without))]
    return np.array(kept)


@checked
def exhaustive_search(
    X: ArrayLike, y: ArrayLike, *, features: int, criterion: str | Criterion = "mahalanobis"
) -> NDArray[np.int64]:
    """The best of all sets of `features` features, in order of their columns.

    Examples
    --------
    >>> exhaustive_search([[0, 0, 0], [1, 3, 2]], [0, 1], features=2, criterion="centroids").tolist()
    [1, 2]
    """
    table, codes = checked_rows(X, y)
    wanted, measure = wanted_features(features, table.shape[1]), criterion_of(criterion, y)
    if (sets := math.comb(table.shape[1], wanted)) > LIMITS.feature_sets:
        raise StratError.about(
            "features",
            f"must leave at most {LIMITS.feature_sets:,} sets to look at, got {sets:,}; use floating_search.",
        )
    every = combinations(range(table.shape[1]), wanted)
    return np.array(max(every, key=lambda chosen: measure(table[:, list(chosen)], codes)))


@checked
def single_features(X: ArrayLike, y: ArrayLike, *, criterion: str | Criterion = "mahalanobis") -> NDArray[np.int64]:
    """All features, each judged alone, best first: fast, and blind to what features do together.

    Examples
    --------
    >>> single_features([[0, 0, 0], [1, 3, 2]], [0, 1], criterion="centroids").tolist()
    [1, 2, 0]
    """
    table, codes = checked_rows(X, y)
    measure = criterion_of(criterion, y)
    values = np.array([measure(table[:, [f]], codes) for f in range(table.shape[1])])
    return np.argsort(-values, kind="stable")
