"""Two models, one data set, many splits: tests that know that the training sets overlap."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, numbers, same_length
from strat.estimation.hypothesis_tests import TestResult, f_pvalue, t_pvalue
from strat.measures.splits import corrected_se
from strat.measures.student import critical

NULL = "the two models have the same expected error on training sets of this size"


@dataclass(frozen=True, repr=False)
class PairedT(TestResult):
    """A t-test of the mean difference over splits.

    Attributes
    ----------
    mean
        Mean of a − b.
    se
        Its standard error, as this test takes it.
    """

    mean: float
    se: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Confidence interval of the mean difference."""
        half = float(critical(level, self.df[0])) * self.se
        return self.mean - half, self.mean + half

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return super().to_dict() | {"mean": self.mean, "se": self.se}


@checked
def corrected_t(a: ArrayLike, b: ArrayLike, *, ratio: float, alternative: str = "two-sided") -> PairedT:
    """Nadeau and Bengio's corrected t-test over splits, Kuncheva (1.12).

    Parameters
    ----------
    a, b
        Error (or score) of each model in each split, in the same order of splits.
    ratio
        Size of a testing set over size of its training set: 1/(K − 1) for K-fold cross-validation, repeated or not,
        which makes (1.12) the book's (1.13); see `split_ratio`.
    alternative
        "less": a is below b.

    Examples
    --------
    Example 1.9 (printed 0.1053; the uncorrected test says 0.0280).

    >>> a = [7.4, 18.1, 13.7, 17.5, 13.0, 12.5, 8.9, 12.1, 12.4, 7.4]
    >>> b = [9.9, 11.0, 5.7, 12.5, 2.7, 6.6, 10.6, 6.4, 12.5, 7.8]
    >>> result = corrected_t(a, b, ratio=1 / 9)
    >>> round(result.mean, 2), round(result.se, 4), round(result.pvalue, 4)
    (3.73, 2.0717, 0.1053)
    """
    if not (math.isfinite(ratio) and ratio >= 0.0):
        raise StratError.about(
            "ratio", f"must be testing size / training size, 0 or more, got {ratio!r}; for K folds it is 1/(K - 1)."
        )
    d = differences(a, b, "splits")
    return _t("corrected t (1.12)", d, corrected_se(d, ratio), alternative)


@checked
def uncorrected_t(a: ArrayLike, b: ArrayLike, *, alternative: str = "two-sided") -> PairedT:
    """The ordinary paired t-test over splits, which takes them for independent: for contrast.

    >>> round(uncorrected_t([1, 2, 3], [0, 0, 0]).statistic, 4)  # 2 / (1/sqrt 3)
    3.4641
    """
    d = differences(a, b, "splits")
    return _t("uncorrected paired t", d, float(d.std(ddof=1)) / math.sqrt(len(d)), alternative)


@checked
def split_ratio(
    *,
    folds: int | None = None,
    testing: float | None = None,
    training: float | None = None,
    indices: Mapping[str, Sequence[Any]] | None = None,
) -> float:
    """Testing size over training size, for `corrected_t`.

    Parameters
    ----------
    folds
        K of a (repeated) cross-validation: 1/(K − 1), (1.13).
    testing, training
        Sizes or shares of a shuffled split. For a bootstrap the training size is the number of *distinct* rows,
        about 0.632 N, and the testing size the rest.
    indices
        What scikit-learn's ``cross_validate(..., return_indices=True)`` calls so: the rows of every split.

    Examples
    --------
    >>> split_ratio(folds=10) == 1 / 9, split_ratio(testing=4, training=36) == 1 / 9
    (True, True)
    """
    if indices is not None:
        if not {"test", "train"} <= set(indices):
            raise StratError.about("indices", f"must hold 'test' and 'train', got {some(indices)}.")
        testing, training = (float(np.mean([len(np.unique(rows)) for rows in indices[k]])) for k in ("test", "train"))
    if folds is not None:
        if folds < 2:
            raise StratError.about("folds", f"must be 2 or more, got {folds}.")
        return 1 / min(folds - 1, 10**300)
    if testing is None or training is None or testing <= 0 or training <= 0:
        raise StratError.about(
            "testing", "and `training` must both be given and positive, or `folds` or `indices` alone."
        )
    return testing / training


@checked
def five_by_two_t(a: ArrayLike, b: ArrayLike, *, alternative: str = "two-sided") -> TestResult:
    """Dietterich's 5×2cv t-test: five repeats of two halves; t with 5 degrees of freedom.

    Examples
    --------
    Differences (1, 2) in each repeat: s² = 1/2, t = 1 / sqrt(1/2).

    >>> round(five_by_two_t([[1, 2]] * 5, [[0, 0]] * 5).statistic, 4)
    1.4142
    """
    d, variance = _five_by_two(a, b)
    t = float(d[0, 0] / math.sqrt(variance.mean()))
    return TestResult("5×2cv t", t, t_pvalue(t, 5.0, alternative), (5.0,), alternative, NULL)


@checked
def five_by_two_f(a: ArrayLike, b: ArrayLike) -> TestResult:
    """Alpaydin's 5×2cv F-test, which uses all ten differences; F with 10 and 5 degrees of freedom.

    Examples
    --------
    Differences (1, 2) in each repeat: 25 / (2 · 5/2) = 5.

    >>> round(five_by_two_f([[1, 2]] * 5, [[0, 0]] * 5).statistic, 4)
    5.0
    """
    d, variance = _five_by_two(a, b)
    f = float((d**2).sum() / (2.0 * variance.sum()))
    return TestResult("5×2cv F", f, f_pvalue(f, (10.0, 5.0)), (10.0, 5.0), "two-sided", NULL)


def differences(a: ArrayLike, b: ArrayLike, what: str) -> Array:
    """What two models differ by, in each of two splits (or data sets) or more."""
    x, y = np.ravel(numbers("a", a)), np.ravel(numbers("b", b))
    same_length(a=x, b=y)
    if len(x) < 2:
        raise StratError.about("a", f"must have two {what} or more, got one, which has no variance.")
    return x - y


def _five_by_two(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
    x, y = numbers("a", a), numbers("b", b)
    for name, values in (("a", x), ("b", y)):
        if values.shape != (5, 2):
            raise StratError.about(name, f"must be 5 repeats × 2 halves, got the shape {values.shape}.")
    d = x - y
    variance = ((d - d.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    if variance.sum() == 0.0:
        raise StratError.about("a", "and `b` must differ between halves, got no variance; nothing can be tested.")
    return d, variance


def _t(name: str, d: Array, se: float, alternative: str) -> PairedT:
    mean, df = float(d.mean()), float(len(d) - 1)
    if se <= 1e-14 * float(np.abs(d).max()):
        if np.abs(d).max() > 0:
            raise StratError.about(
                "a",
                f"and `b` must not differ by the same amount ({mean:g}) in every split; "
                "there is no variance to test with.",
            )
        return PairedT(name, 0.0, 1.0, (df,), alternative, NULL, mean, 0.0)
    t = mean / se
    return PairedT(name, t, t_pvalue(t, df, alternative), (df,), alternative, NULL, mean, se)
