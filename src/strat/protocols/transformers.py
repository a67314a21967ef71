"""scikit-learn transformers; apart, because they need scikit-learn when they are defined."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from strat.protocols.selection import Criterion, floating_search, forward_selection


class FilterSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Sequential forward selection by a filter, fitted on the training rows only.

    Examples
    --------
    >>> chosen = FilterSelector(features=1).fit(np.array([[0.0, 0.0], [1.0, 3.0]]), [0, 1])
    >>> chosen.order_.tolist(), chosen.get_support().tolist()
    ([1], [False, True])
    """

    def __init__(self, *, features: int = 1, criterion: str | Criterion = "centroids", floating: bool = False) -> None:
        self.features = features
        self.criterion = criterion
        self.floating = floating

    def fit(self, X: ArrayLike, y: ArrayLike) -> FilterSelector:
        """Choose the features with these rows."""
        search: Any = floating_search if self.floating else forward_selection
        self.order_ = search(X, y, features=self.features, criterion=self.criterion)
        self.n_features_in_ = np.shape(X)[1]
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, bool)
        mask[self.order_] = True
        return mask
