"""Is a confusion matrix better than random classification? Nyssen's exact test for any number of classes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from strat.columns import Array, encode, same_length
from strat.comparison import rooks
from strat.doors import checked
from strat.errors import StratError, one_of
from strat.notebook import in_words

Counts = NDArray[np.int64]
# Confidence with which the error of a simulated p-value is bounded.
CONFIDENCE = 0.999
# Decimal logarithm of a p-value below which a bound says enough and nothing is simulated.
SURE = -8.0
NULL = "every way of giving the predicted labels to the patterns is equally likely"


@in_words
@dataclass(frozen=True)
class Chance:
    """How a confusion matrix compares with random classification that keeps its margins.

    Attributes
    ----------
    agreements
        Patterns on the diagonal.
    n
        All patterns.
    efficiency
        agreements / n.
    expected
        Expected efficiency of random classification with the same margins (Nyssen's epsilon_0).
    pvalue
        P(as many agreements or more) under random classification, Nyssen (2.2).
    log10_pvalue
        Its decimal logarithm, also where the float underflows to 0.
    error
        Bound on the error of `pvalue`.
    method
        "exact", or how it was approximated and what bounds the error.
    null
        The hypothesis tested, in words.
    """

    agreements: int
    n: int
    efficiency: float
    expected: float
    pvalue: float
    log10_pvalue: float
    error: float
    method: str
    null: str = NULL
    _parts: tuple[rooks.Margins, ...] = field(default=(), repr=False)

    @cached_property
    def distribution(self) -> Array:
        """P(T = t) for t = 0 … n agreements under random classification."""
        if not self._parts:
            raise StratError(
                f"`distribution` is not known for a p-value found by {self.method}; only an exact test has one."
            )
        try:
            return _convolved(self._parts, self.n)
        except rooks.TooLargeError:
            raise StratError(
                f"`distribution` of {self.n} patterns with these margins is too large to make exactly; "
                "the p-value stands."
            ) from None

    def __str__(self) -> str:
        """The answer as a sentence."""
        return (
            f"{100 * self.efficiency:.1f} % of {self.n} patterns agree where chance gives "
            f"{100 * self.expected:.1f} % ({_p_text(self)}, {self.method})"
        )

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        keys = ("agreements", "n", "efficiency", "expected", "pvalue", "log10_pvalue", "error")
        values: dict[str, Any] = {k: getattr(self, k) for k in keys}
        if math.isinf(self.log10_pvalue):
            values["log10_pvalue"] = None
        return values | {"method": self.method, "null": self.null}


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
        Beyond what exact arithmetic can do (some 40,000 patterns of 26 even classes), the p-value is simulated
        with so many random tables from this seed; its error is bounded (Clopper-Pearson at 99.9 %, and
        Chernoff's inequality from above) and `method` says so.

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
    table = _counts(confusion)
    margins = _margins(table)
    agreements = int(np.trace(table))
    try:
        tail = rooks.tail(margins, agreements)
    except rooks.TooLargeError:
        return _simulated(table, margins, agreements, draws, rng)
    return _exact(margins, agreements, tail.value, tail.log10, tail.bound, (margins,))


@checked
def chance_of_labels(truth: ArrayLike, predicted: ArrayLike) -> Chance:
    """The same test from two columns of labels.

    >>> round(chance_of_labels(list("aabb"), list("aabb")).pvalue, 6)  # 1 / C(4, 2)
    0.166667
    """
    return chance(_crosstab(*_labels(truth, predicted)))


@checked
def chance_within(truth: ArrayLike, predicted: ArrayLike, *, units: ArrayLike) -> Chance:
    """The exact test when labels may only be exchanged *within* units.

    Every unit keeps its own margins, so that a system which merely knows the unit (the subject, the session) gains
    nothing. The null distribution is the convolution of the units' exact distributions.

    Examples
    --------
    Two units of two patterns, all right: 1/2 · 1/2. Exchanged over all four patterns it would be 1/6.

    >>> chance_within(list("abab"), list("abab"), units=[1, 1, 2, 2]).pvalue
    0.25
    """
    t, p, classes = _labels(truth, predicted)
    unit, labels = encode("units", units)
    same_length(truth=t, units=unit)
    flat = np.bincount((unit * classes + t) * classes + p, minlength=len(labels) * classes**2)
    tables = flat.reshape(len(labels), classes, classes)
    parts = tuple(_margins(table) for table in tables)
    agreements = int((t == p).sum())
    try:
        probabilities = _convolved(parts, len(t))
    except rooks.TooLargeError:
        raise StratError(
            f"`units` must be smaller for an exact test, got one of {tables.sum(axis=(1, 2)).max()} rows; "
            "use chance_between, or finer units."
        ) from None
    pvalue = float(probabilities[agreements:][::-1].sum())
    error = 4e-16 * len(parts) * pvalue
    mean = sum(part.mean for part in parts) / len(t)
    log10 = math.log10(pvalue) if pvalue > 0 else -math.inf
    null = "within every unit, each way of giving its predicted labels to its patterns is equally likely"
    return Chance(agreements, len(t), agreements / len(t), mean, min(pvalue, 1.0), log10, error, "exact", null, parts)


@checked
def chance_between(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    units: ArrayLike,
    shuffle: str = "whole units",
    permutations: int = 9999,
    rng: int = 0,
) -> Chance:
    """A permutation test that exchanges whole units, for predictions that depend on each other within a unit.

    Where every unit has one true class, the classes of the units are exchanged. Otherwise the true labels of a
    unit go, in order, to another unit of the same size; ``shuffle="units and rows"`` also shuffles them inside,
    which asks that rows of a unit be exchangeable.

    Returns
    -------
    Chance
        With p = (1 + hits) / (1 + permutations); `error` is the Clopper-Pearson bound at 99.9 %.

    Examples
    --------
    Four units of one class each; only 1 of the 6 ways to place the classes agrees as much.

    >>> r = chance_between(list("aaaabbbb"), list("aaaabbbb"), units=[1, 1, 2, 2, 3, 3, 4, 4])
    >>> round(r.pvalue, 1), round(r.expected, 1)
    (0.2, 0.5)
    """
    one_of("shuffle", shuffle, ("whole units", "units and rows"))
    if permutations < 1:
        raise StratError(f"`permutations` must be 1 or more, got {permutations}.")
    t, p, classes = _labels(truth, predicted)
    unit, labels = encode("units", units)
    same_length(truth=t, units=unit)
    order = np.argsort(unit, kind="stable")
    t, p, sizes = t[order], p[order], np.bincount(unit)
    generator = np.random.default_rng(rng)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    if np.array_equal(t, np.repeat(t[first], sizes)):
        votes = np.bincount(np.repeat(np.arange(len(sizes)), sizes) * classes + p, minlength=len(sizes) * classes)
        hits = _exchange_classes(votes.reshape(-1, classes), t[first], permutations, generator)
    else:
        hits = _exchange_blocks(t, p, sizes, first, permutations, generator, shuffle == "units and rows")
    return _counted(int((t == p).sum()), len(t), hits, f"{len(labels)} whole units exchanged", rng)


def _exchange_classes(votes: Counts, own: Counts, permutations: int, rng: np.random.Generator) -> Counts:
    if len(np.unique(own)) < 2:
        raise StratError("`truth` must have two classes or more, got one; nothing can be exchanged.")
    index = np.arange(len(own))
    return np.array([votes[index, rng.permutation(own)].sum() for _ in range(permutations)])


def _exchange_blocks(
    t: Counts,
    p: Counts,
    sizes: Counts,
    first: Counts,
    permutations: int,
    rng: np.random.Generator,
    rows: bool,
) -> Counts:
    """Agreements after true labels went, unit by unit, to another unit of the same size."""
    groups = [np.flatnonzero(sizes == size) for size in np.unique(sizes)]
    if all(len(g) < 2 for g in groups):
        raise StratError(
            "`units` must contain two units of one size, got none, so that nothing can be exchanged; "
            "use chance_within, or units of equal size."
        )
    total = np.zeros(permutations, np.int64)
    for members in groups:
        block = first[members][:, None] + np.arange(sizes[members[0]])
        true, said = t[block], p[block]
        for k in range(permutations):
            moved = rng.permutation(true, axis=0)
            if rows:
                moved = rng.permuted(moved, axis=1)
            total[k] += np.count_nonzero(moved == said)
    return total


def _counted(agreements: int, n: int, hits: Counts, how: str, rng: int) -> Chance:
    reached = int((hits >= agreements).sum())
    pvalue = (1 + reached) / (1 + len(hits))
    low, high = _clopper_pearson(reached, len(hits))
    error = max(pvalue - low, high - pvalue)
    method = (
        f"{how}, {len(hits)} permutations from seed {rng}, "
        f"p between {low:.2g} and {high:.2g} with confidence {100 * CONFIDENCE:g} %"
    )
    null = "the true labels of whole units are unrelated to what the system says"
    return Chance(
        agreements, n, agreements / n, float(hits.mean()) / n, pvalue, math.log10(pvalue), error, method, null
    )


def _exact(
    margins: rooks.Margins, agreements: int, p: float, log10: float, error: float, parts: tuple[rooks.Margins, ...]
) -> Chance:
    n = margins.n
    # The proven bound, and the rounding of the answer to a float.
    error = max(error, 2.0**-53 * p)
    return Chance(agreements, n, agreements / n, margins.mean / n, min(p, 1.0), log10, error, "exact", NULL, parts)


def _simulated(table: Counts, margins: rooks.Margins, agreements: int, draws: int, rng: int) -> Chance:
    """Random tables with these margins (Patefield), or Chernoff's bound where that is sharper."""
    log10_bound = _chernoff(margins, agreements) / math.log(10.0)
    n = margins.n
    found = (agreements, n, agreements / n, margins.mean / n)
    if log10_bound > SURE:
        reached = _reached(table, agreements, draws, rng)
        low, high = _clopper_pearson(reached, draws)
        if math.log10(high) <= log10_bound:
            p = (1 + reached) / (1 + draws)
            method = (
                f"{draws} random tables from seed {rng}: between {low:.3g} and {high:.3g} "
                f"with confidence {100 * CONFIDENCE:g} %"
            )
            return Chance(*found, p, math.log10(p), high - low, method)
    p = 10.0**log10_bound
    return Chance(*found, p, log10_bound, p, "an upper bound by Chernoff's inequality; too large for exact arithmetic")


def _reached(table: Counts, agreements: int, draws: int, rng: int) -> int:
    """How many random tables with the margins of this one agree as much."""
    from scipy.stats import random_table

    sampler = random_table(table.sum(axis=1), table.sum(axis=0), seed=np.random.default_rng(rng))
    reached, block = 0, max(1, min(draws, 5_000_000 // table.size))
    for start in range(0, draws, block):
        tables = sampler.rvs(min(block, draws - start))
        reached += int((np.trace(tables, axis1=1, axis2=2) >= agreements).sum())
    return reached


def _chernoff(margins: rooks.Margins, t: int) -> float:
    """Log of the smallest of E[z^T] z^-t over z > 1, an upper bound on P(T >= t)."""
    if t <= margins.mean:
        return 0.0
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(lambda s: rooks.log_generating(margins, s) - s * t, bounds=(1e-6, 12.0), method="bounded")
    return min(float(found.fun) + 1e-6, 0.0)


def _clopper_pearson(hits: int, draws: int) -> tuple[float, float]:
    half = 0.5 * (1.0 - CONFIDENCE)
    low = float(betaincinv(hits, draws - hits + 1, half)) if hits else 0.0
    high = float(betaincinv(hits + 1, draws - hits, 1.0 - half)) if hits < draws else 1.0
    return low, high


def _convolved(parts: tuple[rooks.Margins, ...], n: int) -> Array:
    """Distribution of the sum over parts; equal margins are computed once."""
    known: dict[rooks.Margins, Array] = {}
    total = np.ones(1)
    for part in parts:
        if part not in known:
            known[part] = rooks.distribution(part)
        total = np.convolve(total, known[part])
    return np.pad(total, (0, n + 1 - len(total)))


def _margins(table: Counts) -> rooks.Margins:
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    can = (rows > 0) & (columns > 0)
    return rooks.Margins(tuple(rows[can].tolist()), tuple(columns[can].tolist()), int(table.sum()))


def _counts(confusion: ArrayLike) -> Counts:
    """The confusion matrix as whole numbers, checked."""
    table = np.asarray(getattr(confusion, "counts", confusion))
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise StratError(
            f"`confusion` must be square, true classes × predicted classes, got the shape {table.shape}; "
            "give every class a row and a column."
        )
    if table.dtype.kind not in "iufb" or not np.isfinite(table.astype(float)).all():
        raise StratError("`confusion` must be counts, got something that is not a number.")
    if (table < 0).any():
        raise StratError(f"`confusion` must not be negative, got {table.min()}.")
    if table.max(initial=0) > 2**53:
        raise StratError(f"`confusion` must count at most 2^53 patterns in a cell, got {table.max():g}.")
    whole = np.rint(table).astype(np.int64)
    if not np.array_equal(whole, table):
        raise StratError(
            "`confusion` must be whole counts of patterns, got fractions; "
            "a normalised matrix has lost the number of patterns."
        )
    if whole.sum() == 0:
        raise StratError("`confusion` must count at least one pattern, got none.")
    return whole


def _labels(truth: ArrayLike, predicted: ArrayLike) -> tuple[Counts, Counts, int]:
    """Codes of both columns over their common classes."""
    n = same_length(truth=np.asarray(truth), predicted=np.asarray(predicted))
    a, b = encode("truth", truth)[1], encode("predicted", predicted)[1]
    if (a.dtype.kind in "US") != (b.dtype.kind in "US"):
        raise StratError(
            f"`truth` and `predicted` must have labels of one type, got {a[0].item()!r} and {b[0].item()!r}."
        )
    codes, classes = encode("truth", np.concatenate([np.asarray(truth), np.asarray(predicted)]))
    return codes[:n], codes[n:], len(classes)


def _crosstab(t: Counts, p: Counts, classes: int) -> Counts:
    return np.bincount(t * classes + p, minlength=classes**2).reshape(classes, classes)


def _p_text(result: Chance) -> str:
    if result.pvalue >= 1e-4:
        return f"p = {result.pvalue:.3g}"
    exponent = math.floor(result.log10_pvalue)
    sign = "=" if result.method == "exact" else "<="
    return f"p {sign} {10 ** (result.log10_pvalue - exponent):.2f}e{exponent:d}"
