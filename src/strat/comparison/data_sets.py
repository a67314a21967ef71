"""Models compared over many data sets: signed ranks, signs, Friedman and Iman-Davenport."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, bdtrc, ndtr

from strat.base.errors import StratError, one_of
from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, numbers, same_length
from strat.comparison.rank_permutations import (
    FEW_DATA_SETS,
    FEW_SYSTEMS,
    agreement_pvalue,
    friedman_pvalue,
    orders_pvalue,
    simulated_pvalue,
)
from strat.comparison.score_table import Scores, differences, scores, tie_sizes, unit_note
from strat.estimation.hypothesis_tests import ALTERNATIVES, TestResult, chi2_pvalue, f_pvalue


@dataclass(frozen=True, repr=False)
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


@dataclass(frozen=True, repr=False)
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


@dataclass(frozen=True, repr=False)
class WinDrawLoss(Result):
    """How often a system is better, equal and worse."""

    wins: int
    draws: int
    losses: int

    def __str__(self) -> str:
        """The three counts."""
        return f"wins {self.wins}, draws {self.draws}, losses {self.losses}"


@dataclass(frozen=True, repr=False)
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
    d, rank, notes = _differences(a, b)
    zero = d == 0
    split = 0.5 * float(rank[zero].sum())
    plus, minus = float(rank[d > 0].sum()) + split, float(rank[d < 0].sum()) + split
    n = len(d)
    t = min(plus, minus)
    z = (t - n * (n + 1) / 4.0) / math.sqrt(n * (n + 1) * (2 * n + 1) / 24.0)
    pvalue = _pick(*_tails(rank[~zero], plus - split, minus - split), alternative)
    name = "Wilcoxon signed rank, " + ("exact" if n <= LIMITS.signed_rank_sets else "normal")
    null = "the differences are symmetric about zero"
    return SignedRank(name, t, pvalue, (), alternative, null, plus, minus, int(zero.sum()), z, notes=notes)


@checked
def signed_rank_critical(n: int, alpha: float) -> int | None:
    """The largest T = min(R+, R−) that is significant two-tailed at `alpha` for n data sets, None if there is none.

    >>> signed_rank_critical(10, 0.05), signed_rank_critical(5, 0.05)
    (8, None)
    """
    tails = 2.0 * np.cumsum(_null(np.arange(1, n + 1)))
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
    d, _, notes = _differences(a, b)
    above, below = int((d > 0).sum()), int((d < 0).sum())
    equal = len(d) - above - below
    half = equal // 2 if draws == "split" else 0
    wins, n = above + half, above + below + 2 * half
    at_most = float(bdtr(wins, n, 0.5)) if n else 1.0
    at_least = (float(bdtrc(wins - 1, n, 0.5)) if wins else 1.0) if n else 1.0
    pvalue = _pick(at_most, at_least, alternative)
    null = "on a data set drawn at random a is above b as often as below"
    name = f"sign test, draws {draws}"
    return Sign(name, float(wins), pvalue, (), alternative, null, above, below, equal, notes=notes)


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
    wins 1, draws 1, losses 1
    """
    d, _, _ = _differences(a, b)
    above, below = int((d > 0).sum()), int((d < 0).sum())
    wins, losses = (above, below) if higher_is_better else (below, above)
    return WinDrawLoss(wins, len(d) - above - below, losses)


@checked
def friedman(table: Any, *, higher_is_better: bool, ties: bool = True, method: str = "auto") -> Friedman:
    """Friedman's test that all systems are equivalent, Kuncheva (1.14).

    Scores that differ by rounding only share their rank.

    Parameters
    ----------
    table
        Data sets × systems: a two-dimensional array, a mapping of columns or a data frame.
    higher_is_better
        True for accuracies, False for errors.
    ties
        Correct for shared ranks, as SciPy and R do; False is (1.14) as the book prints it (ERRATA 24).
    method
        "exact": the p-value over all orders of the systems within each data set; "chi-squared": the approximation,
        which is rough for few data sets; "auto": exact where that takes under a second (three systems on 200 data
        sets, five on ten), by 39,999 random orders on up to ten data sets, and on up to thirty with at most five
        systems; the approximation elsewhere. `name` says which one it was.

    Examples
    --------
    Three data sets that rank three systems in the same order: 12 · 3 / 12 · (1 + 4 + 9 − 12) = 6, and p = 1 / 3!².

    >>> result = friedman([[1, 2, 3]] * 3, higher_is_better=False)
    >>> result.statistic, round(result.pvalue, 4), result.ranks.tolist()
    (6.0, 0.0278, [1.0, 2.0, 3.0])
    >>> round(friedman([[1, 2, 3]] * 3, higher_is_better=False, method="chi-squared").pvalue, 4)
    0.0498
    """
    one_of("method", method, ("auto", "exact", "chi-squared"))
    s = scores(table, higher_is_better=higher_is_better)
    every = s.ranks
    ranks, (n, m) = every.mean(axis=0), every.shape
    statistic = friedman_statistic(s, ranks, ties=ties)
    pvalue, how = (math.nan, "") if method == "chi-squared" else orders_pvalue(every, LIMITS.rank_sums)
    if method == "exact" and how != "exact":
        raise StratError.about(
            "method",
            f"must be 'auto' or 'chi-squared' for {m} systems on {n} data sets, got 'exact': their orders are "
            "too many to count.",
        )
    name = "Friedman, corrected for ties" if ties else "Friedman (1.14), without correction for ties"
    df = () if how else (m - 1.0,)
    name, pvalue = f"{name}, {how or 'chi-squared'}", pvalue if how else chi2_pvalue(statistic, m - 1)
    return Friedman(name, statistic, pvalue, df, "two-sided", EQUIVALENT, s.systems, ranks, n, notes=s.notes)


@checked
def iman_davenport(table: Any, *, higher_is_better: bool, ties: bool = False) -> Friedman:
    """Iman and Davenport's F version of Friedman's test, Kuncheva (1.15), less conservative.

    (1.15) is built on (1.14), which has no correction for ties; `ties=True` builds it on the corrected statistic. Up to
    ten data sets and five systems a note gives the exact p-value, from which F can be far. Where every data set ranks
    the systems alike F is infinite, and the p-value is the probability of just that.

    Examples
    --------
    Ranks 1 2, 1 2, 2 1: chi-squared 1/3, F = 2 · (1/3) / (3 − 1/3).

    >>> result = iman_davenport([[1, 2], [1, 2], [2, 1]], higher_is_better=False)
    >>> round(result.statistic, 4), result.df
    (0.25, (1.0, 2.0))
    >>> print(result.notes[0])
    3 data sets and 2 systems are few for the F approximation. The exact test gives p = 1.
    """
    s = scores(table, higher_is_better=higher_is_better)
    every = s.ranks
    ranks, (n, m) = every.mean(axis=0), every.shape
    x2 = friedman_statistic(s, ranks, ties=ties)
    room = n * (m - 1) - x2
    alike = room <= 1e-12 * n * m
    f = math.inf if alike else (n - 1) * x2 / room
    df = (m - 1.0, (m - 1.0) * (n - 1.0))
    pvalue = agreement_pvalue(every) if alike else f_pvalue(f, df)
    notes = s.notes if alike else (*s.notes, *_few(every))
    name = "Iman-Davenport (1.15)" + (", corrected for ties" if ties else "")
    return Friedman(name, f, pvalue, df, "two-sided", EQUIVALENT, s.systems, ranks, n, notes=notes)


def _few(ranks: Array) -> tuple[str, ...]:
    """The exact p-value, or that of random orders, beside F on few data sets."""
    n, m = ranks.shape
    if n > FEW_DATA_SETS:
        return ()
    exact = friedman_pvalue(ranks) if m <= FEW_SYSTEMS else None
    pvalue = simulated_pvalue(ranks) if exact is None else exact
    return (Note("few-data-sets", {"n": n, "systems": m, "exact": exact is not None, "pvalue": pvalue}),)


EQUIVALENT = "all systems are equivalent: on every data set each order of them is equally likely"


def friedman_statistic(s: Scores, ranks: Array, *, ties: bool) -> float:
    """(1.14), over 1 − sum(t³ − t) / (N (M³ − M)) where ties are corrected for; 0 where everything is tied."""
    n, m = s.values.shape
    # sum (R_j - (M+1)/2)^2 is the book's bracket without its cancellation.
    statistic = 12.0 * n / (m * (m + 1)) * float(((ranks - 0.5 * (m + 1)) ** 2).sum())
    if not ties:
        return statistic
    t = tie_sizes(s.ranks).astype(float)
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
        raise StratError.about("correct", "must hold 0 (wrong) and 1 (right) only, got other numbers.")
    m = values.shape[1]
    column, row = values.sum(axis=0), values.sum(axis=1)
    room = float((row * (m - row)).sum())
    q = (m - 1.0) * m * float(((column - column.mean()) ** 2).sum()) / room if room else 0.0
    null = "every system is right on an item with the same probability, items independent"
    return TestResult("Cochran's Q", q, chi2_pvalue(q, m - 1), (m - 1.0,), "two-sided", null)


def _differences(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array, tuple[str, ...]]:
    """Half of a − b without what rounding adds, the ranks of the absolute differences, and notes."""
    x, y = numbers("a", a), numbers("b", b)
    same_length(a=x, b=y)
    if x.ndim != 1 or y.ndim != 1:
        raise StratError.about("a", f"must have one number per data set, got the shape {x.shape}.")
    if len(x) < 2:
        raise StratError.about("a", "must have two data sets or more, got one.")
    note = unit_note(x, y, "a", "b")
    return *differences(x, y), () if note is None else (note,)


def _null(steps: Codes) -> Array:
    """Distribution of the sum of the steps with a positive sign, over all signs."""
    probability = np.zeros(int(steps.sum()) + 1)
    probability[0], top = 1.0, 0
    for r in np.sort(steps):
        step = 0.5 * probability[: top + 1]
        probability[: top + 1] = step
        probability[r : top + r + 1] += step
        top += r
    return probability


def _tails(ranks: Array, plus: float, minus: float) -> tuple[float, float]:
    """P(sum of positive ranks <= plus), P(sum of positive ranks >= plus): the second is P(sum <= minus)."""
    if len(ranks) > LIMITS.signed_rank_sets:
        spread = math.sqrt(0.25 * float(ranks @ ranks))
        return tuple(float(ndtr((at - 0.5 * ranks.sum()) / spread)) for at in (plus, minus))  # type: ignore[return-value]
    # Shared ranks may be halves.
    twice = 1.0 if (ranks == np.rint(ranks)).all() else 2.0
    null = np.cumsum(_null(np.rint(twice * ranks).astype(np.int64)))
    return float(null[int(np.rint(twice * plus))]), float(null[int(np.rint(twice * minus))])


def _pick(at_most: float, at_least: float, alternative: str) -> float:
    one_of("alternative", alternative, ALTERNATIVES)
    if alternative == "two-sided":
        return min(1.0, 2.0 * min(at_most, at_least))
    return min(1.0, at_most if alternative == "less" else at_least)
