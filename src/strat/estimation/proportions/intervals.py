"""Intervals of a proportion from (successes, trials, level), two-sided and one-sided, and their exact coverage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, one_of, plain
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, values
from strat.estimation.proportions.binomial_limits import (
    BY_TAIL,
    agresti_coull_limits,
    as_pair,
    binomial_mass,
    checked_counts,
    clopper_pearson_limits,
    first_of,
    jeffreys_limits,
    logit_limits,
    positive_values,
    same_shape,
    score_limits,
    wald_limits,
)
from strat.measures.student import critical

Limits = tuple[Any, Any]
"""Two numbers for numbers, two arrays for arrays."""


@checked
def score_interval(successes: ArrayLike, trials: ArrayLike, level: float = 0.95) -> Limits:
    """Nyssen's score interval of a proportion, which is Wilson's: (low, high).

    It never leaves [0, 1], never collapses, and is right on average over the proportions.

    Parameters
    ----------
    successes, trials
        Counts, or effective counts; numbers or arrays that broadcast.
    level
        Confidence level.

    Examples
    --------
    Nyssen's example, 99 of 100 (printed as [0.946, 0.998]):

    >>> low, high = score_interval(99, 100)
    >>> print(f"{low:.5f} {high:.5f}")
    0.94551 0.99823
    """
    x, n = checked_counts(successes, trials, level)
    return as_pair(*score_limits(x / n, n, critical(level)))


@checked
def wilson(successes: ArrayLike, trials: ArrayLike, level: float = 0.95, *, df: ArrayLike = np.inf) -> Limits:
    """The score interval with Student's quantile for finite degrees of freedom, else `score_interval`: (low, high).

    With an effective number of trials the successes are the share times that number.

    Examples
    --------
    >>> low, high = wilson(99, 100)
    >>> print(f"{low:.5f} {high:.5f}")
    0.94551 0.99823
    """
    s, n = checked_counts(successes, trials, level)
    n, quantile = same_shape("trials", n, _student(level, df), "df")
    return as_pair(*score_limits(s / n, n, quantile))


@checked
def wald(successes: ArrayLike, trials: ArrayLike, level: float = 0.95) -> Limits:
    """The textbook interval of a proportion, p ± z sqrt(p (1 − p) / n), just as it comes out: (low, high).

    It is Kuncheva (1.9). It leaves [0, 1] and collapses at 0 and 1; see `interval_coverage` for how often it
    misses. It is here to be compared with.

    Examples
    --------
    >>> low, high = wald(99, 100)
    >>> print(f"{low:.3f} {high:.3f}")
    0.970 1.010
    >>> low, high = wald(0, 100)
    >>> print(low, high)
    0.0 0.0
    """
    return as_pair(*wald_limits(*checked_counts(successes, trials, level), (1 - level) / 2))


@checked
def clopper_pearson(successes: ArrayLike, trials: ArrayLike, level: float = 0.95) -> Limits:
    """The exact interval of a proportion, which covers at least `level` whatever the proportion: (low, high).

    Examples
    --------
    With no success in n trials the upper end is 1 − (α/2)^(1/n):

    >>> low, high = clopper_pearson(0, 10)
    >>> print(low, round(high, 6), round(1 - 0.025 ** 0.1, 6))
    0.0 0.308497 0.308497
    """
    return as_pair(*clopper_pearson_limits(*checked_counts(successes, trials, level), (1 - level) / 2))


@checked
def agresti_coull(successes: ArrayLike, trials: ArrayLike, level: float = 0.95) -> Limits:
    """Wald's interval about the score interval's centre, cut to [0, 1]: (low, high).

    Examples
    --------
    >>> low, high = agresti_coull(99, 100)
    >>> print(f"{low:.4f} {high:.4f}")
    0.9401 1.0000
    """
    return as_pair(*agresti_coull_limits(*checked_counts(successes, trials, level), (1 - level) / 2))


@checked
def jeffreys(successes: ArrayLike, trials: ArrayLike, level: float = 0.95) -> Limits:
    """Quantiles of the posterior under Jeffreys' prior, with 0 and 1 kept at the ends: (low, high).

    Examples
    --------
    >>> low, high = jeffreys(99, 100)
    >>> print(f"{low:.4f} {high:.4f}")
    0.9542 0.9989
    """
    return as_pair(*jeffreys_limits(*checked_counts(successes, trials, level), (1 - level) / 2))


@checked
def logit_interval(successes: ArrayLike, trials: ArrayLike, level: float = 0.95) -> Limits:
    """Wald's interval on the logit scale, which stays in [0, 1]; exact at the ends: (low, high).

    Examples
    --------
    >>> low, high = logit_interval(50, 100)
    >>> print(f"{low:.4f} {high:.4f}")
    0.4032 0.5968
    """
    return as_pair(*logit_limits(*checked_counts(successes, trials, level), (1 - level) / 2))


@checked
def korn_graubard(
    successes: ArrayLike,
    trials: ArrayLike,
    level: float = 0.95,
    *,
    design_effect: ArrayLike = 1.0,
    df: ArrayLike | None = None,
    truncate: bool = True,
) -> Limits:
    """Korn and Graubard's interval for designs, Clopper-Pearson's with effective trials: (low, high).

    Parameters
    ----------
    successes, trials
        Counts of rows (weighted share times rows, and rows).
    level
        Confidence level.
    design_effect
        Variance under the design over that of simple random sampling.
    df
        Degrees of freedom of the design; the effective size shrinks by (t(n − 1) / t(df))².
        None: no correction.
    truncate
        Whether the effective size may not exceed the number of trials, as its authors advise.

    Examples
    --------
    >>> low, high = korn_graubard(5, 100, design_effect=2.0)
    >>> print(f"{low:.4f} {high:.4f}")
    0.0084 0.1515
    >>> low, high = clopper_pearson(2.5, 50)
    >>> print(f"{low:.4f} {high:.4f}")
    0.0084 0.1515
    """
    x, n = checked_counts(successes, trials, level)
    n, deff = same_shape("trials", n, positive_values("design_effect", design_effect), "design_effect")
    effective = n / deff
    if df is not None:
        effective, wide = same_shape("trials", effective, _student(level, df), "df")
        effective = effective * (_student(level, n - 1) / wide) ** 2
    if truncate:
        effective = np.minimum(effective, n)
    return as_pair(*clopper_pearson_limits(x / n * effective, effective, (1 - level) / 2))


@checked
def upper_bound(
    successes: ArrayLike,
    trials: ArrayLike,
    level: float = 0.95,
    *,
    method: str = "clopper_pearson",
    design_effect: ArrayLike = 1.0,
) -> Any:
    """The one-sided upper bound of a proportion.

    Parameters
    ----------
    successes, trials
        Counts, or effective counts.
    level
        Confidence that the proportion lies below the bound.
    method
        One of "clopper_pearson", "wilson", "wald", "agresti_coull", "jeffreys", "logit".
    design_effect
        What the counts are divided by.

    Examples
    --------
    No error in 60 independent trials:

    >>> print(round(upper_bound(0, 60), 4), round(1 - 0.05 ** (1 / 60), 4))
    0.0487 0.0487
    >>> print(round(upper_bound(0, 60, design_effect=3), 4))
    0.1391
    """
    return _one_sided(successes, trials, level, method, design_effect)[1][()]


@checked
def lower_bound(
    successes: ArrayLike,
    trials: ArrayLike,
    level: float = 0.95,
    *,
    method: str = "clopper_pearson",
    design_effect: ArrayLike = 1.0,
) -> Any:
    """The one-sided lower bound of a proportion; the arguments are those of `upper_bound`.

    Examples
    --------
    >>> print(round(lower_bound(60, 60), 4))
    0.9513
    """
    return _one_sided(successes, trials, level, method, design_effect)[0][()]


@checked
def rule_of_three(trials: ArrayLike, level: float = 0.95, *, design_effect: ArrayLike = 1.0) -> Any:
    """The upper bound −log(1 − level) · deff / n of a rate of which no event was seen, at most 1.

    At 95 % the numerator is 2.996: the rule of three. With a design effect, 60 trials count as 60 / deff.

    Examples
    --------
    >>> print(round(rule_of_three(60), 4), round(rule_of_three(60, design_effect=3), 4))
    0.0499 0.1498
    """
    _, n = checked_counts(0.0, trials, level)
    return np.minimum(1.0, -np.log1p(-level) * positive_values("design_effect", design_effect) / n)[()]


@checked
def interval_coverage(
    method: Callable[[ArrayLike, ArrayLike, float], Limits],
    trials: int,
    probability: ArrayLike,
    level: float = 0.95,
) -> Any:
    """How often the interval of `method` holds the true probability, exactly, by summing the binomial.

    Parameters
    ----------
    method
        Any function of (successes, trials, level) in this module.
    trials
        Number of independent trials.
    probability
        True probability or probabilities.
    level
        Nominal level.

    Examples
    --------
    Wald's failure: with 50 trials and a true error of 2 %, the nominal 95 % are 64 %, because no error in 50,
    which happens with probability 0.98^50 = 0.36, gives the interval [0, 0].

    >>> for method in (wald, score_interval, clopper_pearson):
    ...     print(method.__name__, round(interval_coverage(method, 50, 0.02), 3))
    wald 0.635
    score_interval 0.922
    clopper_pearson 0.982
    """
    return 1.0 - sum(interval_misses(method, trials, probability, level))


@checked
def interval_misses(
    method: Callable[[ArrayLike, ArrayLike, float], Limits],
    trials: int,
    probability: ArrayLike,
    level: float = 0.95,
) -> Limits:
    """How often the interval of `method` lies wholly above the true probability, and how often wholly below, exactly.

    The parameters are those of `interval_coverage`. Nyssen takes both tails of the score interval for equal, (1 − γ)/2
    each; near 0 and 1 they are not.

    Examples
    --------
    With 100 patterns and 0.99, up to 97 right ones give an interval below the truth, and none gives one above it:

    >>> above, below = interval_misses(score_interval, 100, 0.99)
    >>> print(f"{above:.4f} {below:.4f}")
    0.0000 0.0794
    >>> above, below = interval_misses(score_interval, 100, 0.5)
    >>> print(f"{above:.4f} {below:.4f}")
    0.0284 0.0284
    """
    if trials != int(trials) or trials < 1:
        raise StratError.about("trials", f"must be a whole number of at least 1, got {plain(trials)!r}.")
    x = np.arange(int(trials) + 1.0)
    low, high = method(x, float(trials), level)
    p = values("probability", probability)[..., None]
    if not ((p >= 0) & (p <= 1)).all():
        raise StratError.about("probability", f"must lie between 0 and 1, got {first_of(p, ~((p >= 0) & (p <= 1)))!r}.")
    mass = binomial_mass(x, float(trials), p)
    return as_pair((mass * (low > p)).sum(axis=-1), (mass * (high < p)).sum(axis=-1))


def _one_sided(
    successes: ArrayLike, trials: ArrayLike, level: float, method: str, design_effect: ArrayLike
) -> tuple[Array, Array]:
    x, n = checked_counts(successes, trials, level)
    x, deff = same_shape("successes", x, positive_values("design_effect", design_effect), "design_effect")
    return BY_TAIL[one_of("method", method, tuple(BY_TAIL))](x / deff, n / deff, 1 - level)


def _student(level: float, df: ArrayLike) -> Any:
    """The two-sided quantile of Student's distribution, normal for infinite degrees of freedom."""
    nu = values("df", df, finite=False)
    if not (nu > 0).all():
        raise StratError.about("df", f"must be positive, got {first_of(nu, ~(nu > 0))!r}.")
    return critical(level, nu)
