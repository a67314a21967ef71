"""Models compared over many data sets: signed ranks, signs, Friedman and Iman-Davenport."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, bdtrc, ndtr

from strat.columns import Array, numbers, same_length
from strat.comparison.results import ALTERNATIVES, TestResult, chi2_pvalue, f_pvalue
from strat.comparison.scores import Scores, check_units, ranked, scores, tie_sizes
from strat.doors import checked
from strat.errors import StratError, one_of

# Up to so many data sets the signed-rank test enumerates its null distribution.
EXACT_UP_TO = 1000


@dataclass(frozen=True)
class SignedRank(TestResult):
    """A Wilcoxon signed rank test.

    Attributes
    ----------
    r_plus, r_minus
        Sums of the ranks where a > b and where a < b; ranks of zeros are split between them.
    zeros
        Number of data sets without a difference.
    z
        The book's normal approximation (for N > 25).
    """

    r_plus: float
    r_minus: float
    zeros: int
    z: float

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return super().to_dict() | {k: getattr(self, k) for k in ("r_plus", "r_minus", "zeros", "z")}


@dataclass(frozen=True)
class Sign(TestResult):
    """A sign test.

    Attributes
    ----------
    above, below, draws
        Data sets where a > b, a < b and a = b.
    """

    above: int
    below: int
    draws: int

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return super().to_dict() | {k: getattr(self, k) for k in ("above", "below", "draws")}


@dataclass(frozen=True)
class WinDrawLoss:
    """How often a system is better, equal and worse."""

    wins: int
    draws: int
    losses: int


@dataclass(frozen=True)
class Friedman(TestResult):
    """A test that all systems are equivalent, by their ranks.

    Attributes
    ----------
    systems
        Names.
    ranks
        Average rank of each system (1 is the best).
    n
        Number of data sets.
    """

    systems: tuple[str, ...]
    ranks: Array = field(repr=False)
    n: int

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        ranks = dict(zip(self.systems, self.ranks.tolist(), strict=True))
        return super().to_dict() | {"average_ranks": ranks, "data_sets": self.n}


@checked
def signed_rank(a: ArrayLike, b: ArrayLike, *, alternative: str = "two-sided") -> SignedRank:
    """Wilcoxon's signed rank test as Kuncheva 1.4.3 has it: the ranks of zeros are split, the p-value is exact.

    The null distribution is that of all signs of the differences that are not zero, with shared ranks as they are;
    over 1,000 data sets, the normal distribution with the same variance. (Table 1.A.1 (a) of the book has wrong column
    heads, ERRATA 22: use the p-value.)

    Examples
    --------
    All of five differences positive: T = 0, p = 2 / 2^5.

    >>> result = signed_rank([2, 3, 4, 5, 7], [1, 1, 1, 1, 1])
    >>> result.statistic, result.pvalue
    (0.0, 0.0625)
    """
    d = _differences(a, b)
    rank = ranked(np.abs(d)[None])[0]
    zero = d == 0
    split = 0.5 * float(rank[zero].sum())
    plus, minus = float(rank[d > 0].sum()) + split, float(rank[d < 0].sum()) + split
    n = len(d)
    t = min(plus, minus)
    z = (t - n * (n + 1) / 4.0) / math.sqrt(n * (n + 1) * (2 * n + 1) / 24.0)
    moving = rank[~zero]
    below, above = _tail(moving, plus - split), _tail(moving, minus - split)
    pvalue = _pick(below, above, alternative)
    name = "Wilcoxon signed rank, " + ("exact" if n <= EXACT_UP_TO else "normal")
    null = "the differences are symmetric about zero"
    return SignedRank(name, t, pvalue, (), alternative, null, plus, minus, int(zero.sum()), z)


@checked
def signed_rank_critical(n: int, alpha: float) -> int | None:
    """The largest T = min(R+, R−) that is significant two-tailed at `alpha` for n data sets, None if there is none.

    >>> signed_rank_critical(10, 0.05), signed_rank_critical(5, 0.05)
    (8, None)
    """
    tails = 2.0 * np.cumsum(_null(np.arange(1.0, n + 1)))[::2]
    good = np.flatnonzero(tails <= alpha * (1 + 1e-12))
    return int(good[-1]) if len(good) else None


@checked
def sign(a: ArrayLike, b: ArrayLike, *, alternative: str = "two-sided", draws: str = "split") -> Sign:
    """The sign test over data sets; the statistic is the number of data sets where a > b.

    Parameters
    ----------
    alternative
        "greater": a is larger on more than half of the data sets.
    draws
        "split": half to each side, one left out if their number is odd (Kuncheva 1.4.3, Demšar);
        "drop": the test on the data sets that differ.

    Examples
    --------
    >>> sign([2, 2, 2, 2, 2], [1, 1, 1, 1, 1], alternative="greater").pvalue
    0.03125
    """
    one_of("draws", draws, ("split", "drop"))
    d = _differences(a, b)
    above, below = int((d > 0).sum()), int((d < 0).sum())
    equal = len(d) - above - below
    half = equal // 2 if draws == "split" else 0
    wins, n = above + half, above + below + 2 * half
    at_most = float(bdtr(wins, n, 0.5)) if n else 1.0
    at_least = (float(bdtrc(wins - 1, n, 0.5)) if wins else 1.0) if n else 1.0
    pvalue = _pick(at_most, at_least, alternative)
    null = "on a data set drawn at random a is above b as often as below"
    return Sign(f"sign test, draws {draws}", float(wins), pvalue, (), alternative, null, above, below, equal)


@checked
def sign_critical(n: int, alpha: float) -> int | None:
    """The smallest number of wins on n data sets that is significant one-tailed, Kuncheva (1.A.5).

    >>> sign_critical(5, 0.05), sign_critical(20, 0.05), sign_critical(3, 0.05)
    (5, 15, None)
    """
    wins = np.arange(n + 1)
    tails = np.where(wins == 0, 1.0, bdtrc(np.maximum(wins - 1, 0), n, 0.5))
    good = np.flatnonzero(tails <= alpha * (1 + 1e-12))
    return int(good[0]) if len(good) else None


@checked
def win_draw_loss(a: ArrayLike, b: ArrayLike, *, higher_is_better: bool) -> WinDrawLoss:
    """On how many data sets a is better than, equal to and worse than b.

    >>> win_draw_loss([0.9, 0.8, 0.7], [0.8, 0.8, 0.9], higher_is_better=True)
    WinDrawLoss(wins=1, draws=1, losses=1)
    """
    d = _differences(a, b)
    above, below = int((d > 0).sum()), int((d < 0).sum())
    wins, losses = (above, below) if higher_is_better else (below, above)
    return WinDrawLoss(wins, len(d) - above - below, losses)


@checked
def friedman(table: Any, *, higher_is_better: bool, ties: bool = True) -> Friedman:
    """Friedman's test that all systems are equivalent, Kuncheva (1.14).

    Parameters
    ----------
    table
        Data sets × systems: a two-dimensional array, a mapping of columns or a data frame.
    higher_is_better
        True for accuracies, False for errors.
    ties
        Correct for shared ranks, as SciPy and R do; False is (1.14) as the book prints it (ERRATA 24).

    Examples
    --------
    Three data sets that rank three systems alike: 12 · 3 / 12 · (1 + 4 + 9 − 12) = 6.

    >>> result = friedman([[1, 2, 3]] * 3, higher_is_better=False)
    >>> result.statistic, round(result.pvalue, 4), result.ranks.tolist()
    (6.0, 0.0498, [1.0, 2.0, 3.0])
    """
    s = scores(table, higher_is_better=higher_is_better)
    ranks = s.ranks.mean(axis=0)
    statistic = friedman_statistic(s, ranks, ties=ties)
    m = len(s.systems)
    name = "Friedman, corrected for ties" if ties else "Friedman (1.14), without correction for ties"
    pvalue = chi2_pvalue(statistic, m - 1)
    return Friedman(name, statistic, pvalue, (m - 1.0,), "two-sided", EQUIVALENT, s.systems, ranks, len(s.values))


@checked
def iman_davenport(table: Any, *, higher_is_better: bool, ties: bool = False) -> Friedman:
    """Iman and Davenport's F version of Friedman's test, Kuncheva (1.15), less conservative.

    (1.15) is built on (1.14), which has no correction for ties; `ties=True` builds it on the corrected statistic.

    Examples
    --------
    Ranks 1 2, 1 2, 2 1: chi-squared 1/3, F = 2 · (1/3) / (3 − 1/3).

    >>> result = iman_davenport([[1, 2], [1, 2], [2, 1]], higher_is_better=False)
    >>> round(result.statistic, 4), result.df
    (0.25, (1.0, 2.0))
    """
    s = scores(table, higher_is_better=higher_is_better)
    ranks = s.ranks.mean(axis=0)
    n, m = s.values.shape
    x2 = friedman_statistic(s, ranks, ties=ties)
    room = n * (m - 1) - x2
    # All data sets rank the systems alike: no variation is left.
    f = (n - 1) * x2 / room if room > 1e-12 * n * m else math.inf
    df = (m - 1.0, (m - 1.0) * (n - 1.0))
    name = "Iman-Davenport (1.15)" + (", corrected for ties" if ties else "")
    return Friedman(name, f, f_pvalue(f, df), df, "two-sided", EQUIVALENT, s.systems, ranks, n)


EQUIVALENT = "all systems are equivalent: on every data set each order of them is equally likely"


def friedman_statistic(s: Scores, ranks: Array, *, ties: bool) -> float:
    """(1.14), over 1 − sum(t³ − t) / (N (M³ − M)) where ties are corrected for; 0 where everything is tied."""
    n, m = s.values.shape
    # sum (R_j - (M+1)/2)^2 is the book's bracket without its cancellation.
    statistic = 12.0 * n / (m * (m + 1)) * float(((ranks - 0.5 * (m + 1)) ** 2).sum())
    if not ties:
        return statistic
    t = tie_sizes(s.values).astype(float)
    correction = 1.0 - float((t**3 - t).sum()) / (n * (m**3 - m))
    return statistic / correction if correction > 1e-12 else 0.0


@checked
def cochran_q(correct: Any) -> TestResult:
    """Cochran's Q: are all systems right equally often, on the same independent items?

    Parameters
    ----------
    correct
        Items × systems of 0 and 1 (array, mapping of columns or data frame).

    Examples
    --------
    Column sums 3, 1 and row sums 1, 1, 2 (one row where both are right): Q = McNemar's (2 − 0)² / 2.

    >>> round(cochran_q([[1, 0], [1, 0], [1, 1]]).statistic, 4)
    2.0
    """
    values = scores(correct, higher_is_better=True).values
    if not np.isin(values, (0.0, 1.0)).all():
        raise StratError("`correct` must hold 0 (wrong) and 1 (right) only, got other numbers.")
    m = values.shape[1]
    column, row = values.sum(axis=0), values.sum(axis=1)
    room = float((row * (m - row)).sum())
    q = (m - 1.0) * m * float(((column - column.mean()) ** 2).sum()) / room if room else 0.0
    null = "every system is right on an item with the same probability, items independent"
    return TestResult("Cochran's Q", q, chi2_pvalue(q, m - 1), (m - 1.0,), "two-sided", null)


def _differences(a: ArrayLike, b: ArrayLike) -> Array:
    """A − b, with differences that rounding made cleaned to zero or to ties."""
    x, y = numbers("a", a), numbers("b", b)
    same_length(a=x, b=y)
    if x.ndim != 1 or y.ndim != 1:
        raise StratError(f"`a` must have one number per data set, got the shape {x.shape}.")
    if len(x) < 2:
        raise StratError("`a` must have two data sets or more, got one.")
    check_units(x, y, "a", "b")
    scale = max(float(np.abs(x).max()), float(np.abs(y).max())) or 1.0
    return np.round((x - y) / scale, 13)


def _null(ranks: Array) -> Array:
    """Distribution of twice the sum of the ranks with a positive sign, over all signs."""
    doubled = np.rint(2.0 * ranks).astype(int)
    probability = np.zeros(int(doubled.sum()) + 1)
    probability[0], top = 1.0, 0
    for r in doubled:
        step = 0.5 * probability[: top + 1]
        probability[: top + 1] = step
        probability[r : top + r + 1] += step
        top += r
    return probability


def _tail(ranks: Array, at: float) -> float:
    """P(sum of positive ranks <= at)."""
    if len(ranks) <= EXACT_UP_TO:
        return float(_null(ranks)[: int(np.rint(2 * at)) + 1].sum())
    return float(ndtr((at - 0.5 * ranks.sum()) / math.sqrt(0.25 * float(ranks @ ranks))))


def _pick(at_most: float, at_least: float, alternative: str) -> float:
    one_of("alternative", alternative, ALTERNATIVES)
    if alternative == "two-sided":
        return min(1.0, 2.0 * min(at_most, at_least))
    return min(1.0, at_most if alternative == "less" else at_least)
