"""Two trained classifiers on one testing set: McNemar's test in its conventions, each its own function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr

from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.base.validate.columns import equal, is_number, labels_of, same_length
from strat.designs import Design
from strat.designs.variance import deviations
from strat.estimation.hypothesis_tests import TestResult, chi2_pvalue, t_pvalue

NULL = "on the population of items both systems have the same accuracy"


@dataclass(frozen=True, repr=False)
class McNemar(TestResult):
    """A McNemar test with the counts of Kuncheva's Table 1.2.

    Attributes
    ----------
    n11, n10, n01, n00
        Items that (a, b) label correctly (1) or not (0): n10 only a is right, n01 only b is right.
    """

    n11: int
    n10: int
    n01: int
    n00: int

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        counts = {k: getattr(self, k) for k in ("n11", "n10", "n01", "n00")}
        return super().to_dict() | counts


@dataclass(frozen=True, repr=False)
class ClusteredMcNemar(McNemar):
    """A McNemar test whose variance comes from units.

    Attributes
    ----------
    deff
        How many times larger the variance is than McNemar's N01 + N10.
    icc
        Intraclass correlation of the row differences that this design effect speaks of (Kish).
    units
        Number of units.
    """

    deff: float
    icc: float
    units: int

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return super().to_dict() | {"deff": self.deff, "icc": self.icc, "units": self.units}


@checked
def mcnemar(truth: ArrayLike, a: ArrayLike, b: ArrayLike) -> McNemar:
    """McNemar's test by chi-squared with the continuity correction, Kuncheva (1.10).

    Where N10 = N01 the statistic is 0 and p = 1, as in R: there is nothing to correct.

    Examples
    --------
    Example 1.7: 31 right by both, 6 by LDC alone, 0 by QDC alone (ERRATA 18), 13 by neither.

    >>> truth = [1] * 50
    >>> ldc = [1] * 37 + [0] * 13
    >>> qdc = [1] * 31 + [0] * 19
    >>> result = mcnemar(truth, ldc, qdc)
    >>> round(result.statistic, 4), round(result.pvalue, 4), (result.n10, result.n01)
    (4.1667, 0.0412, (6, 0))
    """
    counts = _table(*_correct(truth, a, b))
    _, n10, n01, _ = counts
    statistic = (abs(n01 - n10) - 1) ** 2 / (n01 + n10) if n01 != n10 else 0.0
    pvalue = chi2_pvalue(statistic, 1)
    return McNemar("McNemar, chi-squared (1.10)", statistic, pvalue, (1.0,), "two-sided", NULL, *counts)


@checked
def mcnemar_exact(truth: ArrayLike, a: ArrayLike, b: ArrayLike) -> McNemar:
    """McNemar's test by the binomial distribution, capped at 1 (ERRATA 23). The statistic is min(N10, N01).

    >>> mcnemar_exact([1] * 6, [1] * 6, [0] * 6).pvalue  # 2 · (1/2)^6
    0.03125
    """
    counts = _table(*_correct(truth, a, b))
    less, total = min(counts[1], counts[2]), counts[1] + counts[2]
    pvalue = min(1.0, 2.0 * float(bdtr(less, total, 0.5))) if total else 1.0
    return McNemar("McNemar, exact", float(less), pvalue, (), "two-sided", NULL, *counts)


@checked
def mcnemar_midp(truth: ArrayLike, a: ArrayLike, b: ArrayLike) -> McNemar:
    """McNemar's mid-p test: the exact p-value minus the probability of the observed split.

    >>> mcnemar_midp([1] * 6, [1] * 6, [0] * 6).pvalue  # 2 · (1/2)^6 - (1/2)^6
    0.015625
    """
    counts = _table(*_correct(truth, a, b))
    less, total = min(counts[1], counts[2]), counts[1] + counts[2]
    # 2 P(X < k) + P(X = k) for X binomial; 1 where both are right equally often, by symmetry.
    below = float(bdtr(less - 1, total, 0.5)) if less else 0.0
    pvalue = below + float(bdtr(less, total, 0.5)) if total else 1.0
    return McNemar("McNemar, mid-p", float(less), min(pvalue, 1.0), (), "two-sided", NULL, *counts)


@checked
def mcnemar_clustered(
    truth: ArrayLike, a: ArrayLike, b: ArrayLike, *, units: ArrayLike, strata: ArrayLike | None = None
) -> ClusteredMcNemar:
    """McNemar's test with the variance that clustered items really have (STRAT 5.1, Kish).

    N10 − N01 is a sum over items; its variance is taken between the units' sums (within strata where given) instead
    of N10 + N01, which holds for independent items only. The statistic is Student's t squared with units − strata
    degrees of freedom: chi-squared without continuity correction, divided by the design effect.

    Examples
    --------
    Four units whose differences are 2, 2, 0, 0: sum 4, variance 4/3 · 4 = 16/3, t² = 16 / (16/3) = 3.

    >>> units = [1, 1, 2, 2, 3, 3, 4, 4]
    >>> result = mcnemar_clustered([1] * 8, [1] * 8, [0, 0, 0, 0, 1, 1, 1, 1], units=units)
    >>> round(result.statistic, 6), result.df, round(result.deff, 4)
    (3.0, (1.0, 3.0), 1.3333)
    """
    right_a, right_b = _correct(truth, a, b)
    counts = _table(right_a, right_b)
    difference = right_a.astype(float) - right_b
    design = Design.clustered(units, strata=strata)
    same_length(truth=difference, units=design.unit)
    sums = np.bincount(design.unit, difference, minlength=design.lines).astype(float)
    variance, df = float((deviations(sums[:, None], design) ** 2).sum()), float(design.df)
    if variance == 0.0:
        same = sums.sum() == 0.0
        if not same:
            raise StratError.about(
                "units",
                "must differ in the difference of the systems, got the same difference in each; "
                "there is no variance to test with.",
            )
        statistic, pvalue = 0.0, 1.0
    else:
        statistic = float(sums.sum() ** 2 / variance)
        pvalue = t_pvalue(statistic**0.5, df, "two-sided")
    discordant = counts[1] + counts[2]
    deff = variance / discordant if discordant else 1.0
    size = len(difference) / len(sums)
    icc = (deff - 1.0) / (size - 1.0) if size > 1 else 0.0
    return ClusteredMcNemar(
        "McNemar, clustered (t squared)", statistic, pvalue, (1.0, df), "two-sided", NULL, *counts,
        deff=deff, icc=icc, units=len(sums),
    )  # fmt: skip


def _correct(truth: ArrayLike, a: ArrayLike, b: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether each system labels each item correctly."""
    columns = {name: labels_of(name, given) for name, given in (("truth", truth), ("a", a), ("b", b))}
    same_length(**columns)
    kinds = {name: is_number(column) for name, column in columns.items()}
    for name in ("a", "b"):
        if kinds[name] != kinds["truth"]:
            raise StratError.about(
                name,
                f"must have labels of the same type as `truth`, got {columns[name][0]!r} and {columns['truth'][0]!r}.",
            )
    return equal(columns["a"], columns["truth"]), equal(columns["b"], columns["truth"])


def _table(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """N11, N10, N01, N00 of Kuncheva's Table 1.2."""
    both, only_a, only_b = int((a & b).sum()), int((a & ~b).sum()), int((~a & b).sum())
    return both, only_a, only_b, len(a) - both - only_a - only_b
