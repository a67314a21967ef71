"""scikit-learn estimators of our own; apart, because they need scikit-learn when they are defined."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from strat.base.errors import StratError, plain
from strat.base.validate.columns import Array, encode, numbers
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


class QuadraticDiscriminant(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The quadratic discriminant classifier with covariances (1 − r) Σ + r I.

    It is scikit-learn's with `reg_param=r`, but for the divisor n − 1 of F&H (35), and it also takes classes with
    fewer rows than features as long as r > 0.

    Examples
    --------
    With r = 1 it is the nearest-mean classifier.

    >>> model = QuadraticDiscriminant(r=1.0).fit([[0.0], [2.0], [4.0], [10.0]], ["a", "a", "b", "b"])
    >>> model.predict([[3.9], [4.1]]).tolist()
    ['a', 'b']
    """

    def __init__(self, r: float = 0.0, priors: ArrayLike | None = None) -> None:
        self.r = r
        self.priors = priors

    def fit(self, X: ArrayLike, y: ArrayLike) -> QuadraticDiscriminant:
        """Means, covariances and priors of the classes."""
        table = numbers("X", X)
        codes, self.classes_ = encode("y", y)
        sizes = np.bincount(codes)
        _check_discriminant(self.r, table.shape[1], sizes, self.classes_)
        self.priors_ = sizes / len(table) if self.priors is None else np.asarray(self.priors, float)
        self.means_ = np.array([table[codes == k].mean(axis=0) for k in range(len(sizes))])
        self.variances_, self.rotations_ = [], []
        for k, n in enumerate(sizes):
            own = table[codes == k] - self.means_[k]
            values, axes = np.linalg.eigh(own.T @ own / max(n - 1, 1))
            self.variances_.append((1 - self.r) * np.maximum(values, 0) + self.r)
            self.rotations_.append(axes)
        if min(v[0] / v[-1] for v in self.variances_) < 1e-12:
            raise np.linalg.LinAlgError("singular covariance")
        self.n_features_in_ = table.shape[1]
        return self

    def decision_scores(self, X: ArrayLike) -> Array:
        """Log of prior times density for each class, up to one constant."""
        table = numbers("X", X)
        parts = [
            -0.5 * (((table - m) @ axes) ** 2 @ (1 / v) + np.log(v).sum())
            for m, v, axes in zip(self.means_, self.variances_, self.rotations_, strict=True)
        ]
        return np.column_stack(parts) + np.log(self.priors_)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class with the highest score."""
        return np.asarray(self.classes_[self.decision_scores(X).argmax(axis=1)])

    def predict_proba(self, X: ArrayLike) -> Array:
        """Posterior probabilities."""
        return np.asarray(softmax(self.decision_scores(X), axis=1))


def _check_discriminant(r: float, features: int, sizes: NDArray[Any], classes: NDArray[Any]) -> None:
    if not 0 <= r <= 1:
        raise StratError.about("r", f"must lie between 0 and 1, got {r!r}.")
    least = int(sizes.argmin())
    if r == 0 and sizes[least] <= features:
        raise StratError.about(
            "X",
            f"must have more rows in each class than features ({features}) when r is 0, got {sizes[least]} of "
            f"{plain(classes[least])!r}: its covariance is singular; set `r` above 0 or select features.",
        )
