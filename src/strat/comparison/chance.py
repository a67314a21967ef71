"""Is a confusion matrix better than random classification? Nyssen's exact test for any number of classes."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, plain
from strat.base.limits import LIMITS
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, encode, is_number, same_length, union
from strat.base.validate.scalars import Rng, generator
from strat.comparison import chance_distribution
from strat.comparison.chance_margins import Margins, log_binomial
from strat.comparison.chance_result import CONFIDENCE, NULL, Chance, clopper_pearson
from strat.comparison.hypergeometric import TooLargeError, log_of_factorials

Counts = NDArray[np.int64]
# Decimal logarithm of a p-value below which a bound says enough and nothing is simulated.
SURE = -8.0
BOUND = "an upper bound by Chernoff's inequality; too large for exact arithmetic"


@checked
def chance(confusion: ArrayLike, *, draws: int = 50_000, rng: int = 0) -> Chance:
    """Nyssen's exact test of a confusion matrix against random classification.

    The null distribution keeps both margins: true class sizes and numbers of predicted labels. It is found from
    rook polynomials in polynomial time (ERRATA 12) in whole-number arithmetic, for any number of classes; with
    two classes it is Fisher's exact test, one-sided.

    Parameters
    ----------
    confusion
        Counts, true classes × predicted classes in the same order.
    draws, rng
        Beyond what exact arithmetic can do in a few seconds (some 20,000 patterns of 26 even classes; 10^10 of two) the
        p-value is simulated with so many random tables from this seed; its error is bounded (Clopper-Pearson at
        99.9 %, and Chernoff's inequality from above) and `method` says so.

    Examples
    --------
    Nyssen's example: four classes of six, three right in each (printed p = 0.0085).

    >>> table = [[3, 1, 1, 1], [1, 3, 1, 1], [1, 1, 3, 1], [1, 1, 1, 3]]
    >>> result = chance(table)
    >>> round(result.pvalue, 7), result.expected
    (0.0084896, 0.25)
    >>> print(result)
    50.0 % of 24 patterns agree where chance gives 25.0 % (p = 0.00849, exact)
    """
    table = counts_of(confusion)
    margins = _margins(table)
    agreements = int(np.trace(table))
    try:
        tail = chance_distribution.tail(margins, agreements)
    except TooLargeError:
        return _simulated(table, margins, agreements, draws, rng)
    n, p = margins.n, min(tail.value, 1.0)
    # The proven bound, and the rounding of the answer to a float.
    error = max(tail.bound, 2.0**-53 * p)
    observed = (agreements, n, agreements / n, margins.mean / n)
    return Chance(*observed, p, tail.log10, error, "exact", NULL, (margins,), _by_class(table))


def _by_class(table: Counts) -> tuple[tuple[int, int], ...]:
    """Patterns of each class that agree, and all of them."""
    sizes = table.sum(axis=1)
    return tuple(zip(np.diag(table)[sizes > 0].tolist(), sizes[sizes > 0].tolist(), strict=True))


def _simulated(table: Counts, margins: Margins, agreements: int, draws: int, rng: int) -> Chance:
    """Random tables with these margins (Patefield), or Chernoff's bound where that is sharper."""
    if margins.n > LIMITS.patterns:
        raise StratError.about(
            "confusion",
            f"must count at most {LIMITS.patterns:,} patterns, got {margins.n:,}; take a random sample of them.",
        )
    log10_bound = chernoff((margins,), agreements) / math.log(10.0)
    n = margins.n
    observed = (agreements, n, agreements / n, margins.mean / n)
    if log10_bound > SURE:
        reached = _reached(table, agreements, draws, rng)
        low, high = clopper_pearson(reached, draws)
        if math.log10(high) <= log10_bound:
            p = (1 + reached) / (1 + draws)
            method = (
                f"{draws} random tables from seed {rng}: between {low:.3g} and {high:.3g} "
                f"with confidence {100 * CONFIDENCE:g} %"
            )
            return Chance(*observed, p, math.log10(p), high - low, method, by_class=_by_class(table))
    p = 10.0**log10_bound
    return Chance(*observed, p, log10_bound, p, BOUND, by_class=_by_class(table))


def _reached(table: Counts, agreements: int, draws: int, rng: int) -> int:
    """How many random tables with the margins of this one agree as much."""
    generator = np.random.default_rng(rng)
    reached, block = 0, max(1, min(draws, 5_000_000 // table.size))
    for start in range(0, draws, block):
        tables = _drawn_tables(table, min(block, draws - start), generator)
        reached += int((np.trace(tables, axis1=1, axis2=2) >= agreements).sum())
    return reached


def _drawn_tables(table: Counts, draws: int, rng: np.random.Generator) -> Counts:
    from scipy.stats import random_table

    return np.asarray(random_table(table.sum(axis=1), table.sum(axis=0), seed=rng).rvs(draws), dtype=np.int64)


@checked
def random_tables(confusion: ArrayLike, *, draws: int, rng: Rng = 0) -> Counts:
    """Random tables with the margins of a confusion matrix: draws × true classes × predicted classes.

    Each table comes with the probability that `table_probability` gives it, Nyssen (2.3), so that any measure can be
    tested against random classification.

    Examples
    --------
    Two classes of two patterns: 1, 4 and 1 of the 6 ways to place the labels agree in 0, 2 and 4 patterns.

    >>> tables = random_tables([[2, 0], [0, 2]], draws=6000)
    >>> np.bincount(np.trace(tables, axis1=1, axis2=2))[::2].round(-2)
    array([1000, 4000, 1000])
    """
    table = counts_of(confusion)
    if draws < 1 or draws * table.size > LIMITS.drawn_table_cells:
        most = LIMITS.drawn_table_cells // table.size
        raise StratError.about("draws", f"must be at least 1 and at most {most:,} for this table, got {draws:,}.")
    return _drawn_tables(table, draws, generator(rng))


@checked
def table_assignments(confusion: ArrayLike) -> tuple[int, int]:
    """How many ways to give the predicted labels to the patterns make this table, and how many ways there are.

    These are (B) and (A) of Nyssen (2.3): the product of r_i! / prod_j n_ij! over the true classes, and
    n! / prod_j c_j!, as whole numbers.

    Examples
    --------
    Two of two patterns right in each of two classes: one of C(4, 2) ways.

    >>> table_assignments([[2, 0], [0, 2]])
    (1, 6)
    """
    table = counts_of(confusion)
    n = int(table.sum())
    if n > LIMITS.written_factorials:
        raise StratError.about(
            "confusion",
            f"must count at most {LIMITS.written_factorials:,} patterns, got {n:,}; "
            "`table_probability` takes any number.",
        )
    these = math.prod(_multinomial(row) for row in table.tolist())
    return these, _multinomial(table.sum(axis=0).tolist())


def _multinomial(counts: list[int]) -> int:
    return math.factorial(sum(counts)) // math.prod(map(math.factorial, counts))


@checked
def table_probability(confusion: ArrayLike) -> float:
    """The probability of exactly this table under random classification that keeps its margins, Nyssen (2.3).

    It is (B) over (A), `table_assignments`, by Stirling's series in decimal arithmetic: right to the last digits at any
    size, and 0.0 below 1e-323. Beside it, `chance` adds up the probabilities of all tables that agree as much.

    Examples
    --------
    All patterns right: one of C(4, 2) ways to place the labels.

    >>> round(table_probability([[2, 0], [0, 2]]), 12)
    0.166666666667
    """
    table = counts_of(confusion)
    margins = [*table.sum(axis=1).tolist(), *table.sum(axis=0).tolist()]
    return math.exp(log_of_factorials(margins, [int(table.sum()), *table.ravel().tolist()]))


@checked
def table_factors(confusion: ArrayLike) -> Array:
    """The factors of (C) in Nyssen (2.3), whose product is `table_probability`.

    Each is hypergeometric: the probability of the cell (s, t), from the second row and column on, given the cells left
    of it in its row and the sums of the rows above. A small one shows where the table is unlike random classification.

    Examples
    --------
    The first: of 7 patterns in the first two rows and columns, 4 in the second column, 3 in the second row, 3 in both;
    C(4, 3) C(3, 0) / C(7, 3) = 4 / 35.

    >>> table_factors([[3, 1, 0], [0, 3, 1], [1, 0, 3]]).round(4)
    array([[0.1143, 0.5   ],
           [0.5   , 0.0646]])
    """
    table = counts_of(confusion)
    if len(table) < 2:
        return np.ones((0, 0))
    whole = table.cumsum(axis=0).cumsum(axis=1)
    column, row = table.cumsum(axis=0)[1:, 1:], table.cumsum(axis=1)[1:, 1:]
    block, cell = whole[1:, 1:], table[1:, 1:]
    logs = log_binomial(column, cell) + log_binomial(block - column, row - cell) - log_binomial(block, row)
    return np.asarray(np.exp(logs))


def chernoff(parts: tuple[Margins, ...], t: int) -> float:
    """Log of the smallest of E[z^T] z^-t over z > 1, an upper bound on P(T >= t) for the sum T over the parts."""
    if t <= math.fsum(part.mean for part in parts):
        return 0.0
    from scipy.optimize import minimize_scalar

    kinds = Counter(part for part in parts if part.rows)

    def log_bound(log_z: float) -> float:
        return sum(k * chance_distribution.log_generating(part, log_z) for part, k in kinds.items()) - log_z * t

    minimum = minimize_scalar(log_bound, bounds=(1e-6, 12.0), method="bounded")
    return min(float(minimum.fun) + 1e-6 * len(parts), 0.0)


def _margins(table: Counts) -> Margins:
    return margins_of(table.sum(axis=1), table.sum(axis=0))


def margins_of(rows: Counts, columns: Counts) -> Margins:
    """The margins of the classes that can agree, from row and column totals."""
    can = (rows > 0) & (columns > 0)
    return Margins(tuple(rows[can].tolist()), tuple(columns[can].tolist()), int(rows.sum()))


def counts_of(confusion: ArrayLike) -> Counts:
    """The confusion matrix as whole numbers, checked."""
    table = np.asarray(getattr(confusion, "counts", confusion))
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise StratError.about(
            "confusion",
            f"must be square, true classes × predicted classes, got the shape {table.shape}; "
            "give every class a row and a column.",
        )
    if table.dtype.kind not in "iufb" or not np.isfinite(table.astype(float)).all():
        raise StratError.about("confusion", "must be counts, got something that is not a number.")
    if (table < 0).any():
        raise StratError.about("confusion", f"must not be negative, got {table.min()}.")
    if table.max(initial=0) > 2**53:
        raise StratError.about("confusion", f"must count at most 2^53 patterns in a cell, got {table.max():g}.")
    whole = np.rint(table).astype(np.int64)
    if not np.array_equal(whole, table):
        raise StratError.about(
            "confusion",
            "must be whole counts of patterns, got fractions; a normalised matrix does not contain the number of "
            "patterns.",
        )
    if whole.sum() == 0:
        raise StratError.about("confusion", "must count at least one pattern, got none.")
    return whole


def coded_labels(truth: ArrayLike, predicted: ArrayLike) -> tuple[Counts, Counts, int]:
    """Codes of both columns over their common classes."""
    (t, a), (p, b) = encode("truth", truth), encode("predicted", predicted)
    same_length(truth=t, predicted=p)
    if is_number(a) != is_number(b):
        raise StratError.about(
            "truth", f"and `predicted` must have labels of one type, got {plain(a[0])!r} and {plain(b[0])!r}."
        )
    classes = union(a, b)
    return np.searchsorted(classes, a)[t], np.searchsorted(classes, b)[p], len(classes)


def crosstab(t: Counts, p: Counts, classes: int) -> Counts:
    """The confusion matrix of two columns of codes."""
    return np.bincount(t * classes + p, minlength=classes**2).reshape(classes, classes)
