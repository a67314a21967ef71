"""The test against chance from labels: of rows, or of rows in units."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, one_of
from strat.base.validate.arguments import checked
from strat.base.validate.columns import encode, same_length
from strat.comparison import chance_distribution
from strat.comparison.chance import BOUND, SURE, Counts, chance, chernoff, coded_labels, crosstab, margins_of
from strat.comparison.chance_margins import Margins
from strat.comparison.chance_result import CONFIDENCE, Chance, clopper_pearson
from strat.comparison.hypergeometric import TooLargeError
from strat.comparison.sum_tails import log_tail_of_sum


@checked
def chance_of_labels(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    units: ArrayLike | None = None,
    exchange: str = "auto",
    permutations: int = 9999,
    rng: int = 0,
) -> Chance:
    """The same test from two columns of labels, and of rows in units where `units` are given.

    Parameters
    ----------
    truth, predicted
        A label per row.
    units
        What the rows came in (subjects, sessions): rows of a unit are not independent patterns.
    exchange
        With units, "within": labels change places inside a unit (`chance_within`, exact). "between": whole units change
        places (`chance_between`, by permutations). "auto": between where every unit has one true class, so that nothing
        can be exchanged inside it, else within.
    permutations, rng
        For "between".

    Examples
    --------
    >>> round(chance_of_labels(list("aabb"), list("aabb")).pvalue, 6)  # 1 / C(4, 2)
    0.166667
    >>> round(chance_of_labels(list("abab"), list("abab"), units=[1, 1, 2, 2]).pvalue, 6)  # 1/2 · 1/2
    0.25
    """
    one_of("exchange", exchange, ("auto", "within", "between"))
    if units is None:
        return chance(crosstab(*coded_labels(truth, predicted)))
    if exchange == "within" or (exchange == "auto" and not one_class_each(truth, units)):
        return chance_within(truth, predicted, units=units)
    return chance_between(truth, predicted, units=units, permutations=permutations, rng=rng)


def one_class_each(truth: ArrayLike, units: ArrayLike) -> bool:
    """Whether all rows of every unit are of one true class."""
    (true, _), (unit, labels) = encode("truth", truth), encode("units", units)
    same_length(truth=true, units=unit)
    own = np.zeros(len(labels), np.int64)
    own[unit] = true
    return bool((own[unit] == true).all())


@checked
def chance_within(truth: ArrayLike, predicted: ArrayLike, *, units: ArrayLike) -> Chance:
    """The exact test when labels may only be exchanged *within* units.

    Every unit keeps its own margins, so that a system which merely knows the unit (the subject, the session) gains
    nothing. The null distribution is the convolution of the units' exact distributions.

    Examples
    --------
    Two units of two patterns, all right: 1/2 · 1/2. Exchanged over all four patterns it would be 1/6.

    >>> round(chance_within(list("abab"), list("abab"), units=[1, 1, 2, 2]).pvalue, 12)
    0.25
    """
    t, p, classes = coded_labels(truth, predicted)
    unit, labels = encode("units", units)
    same_length(truth=t, units=unit)
    rows, columns = (np.bincount(unit * classes + c, minlength=len(labels) * classes) for c in (t, p))
    parts = tuple(map(margins_of, rows.reshape(-1, classes), columns.reshape(-1, classes)))
    n, agreements = len(t), int((t == p).sum())
    mean = math.fsum(part.mean for part in parts) / n
    null = "within every unit, each way of giving its predicted labels to its patterns is equally likely"
    log, method = _tail_of_units(parts, agreements)
    pvalue = math.exp(log)
    # What rounding does to logarithms of up to 16 n and to their sums; a bound may be off by all of itself.
    error = pvalue * (2.0**-50 * (16 * n - log) if method == "exact" else 1.0)
    log10 = log / math.log(10.0)
    exact = parts if method == "exact" else ()
    return Chance(agreements, n, agreements / n, mean, pvalue, log10, error, method, null, exact)


def _tail_of_units(parts: tuple[Margins, ...], agreements: int) -> tuple[float, str]:
    """Log P(as many agreements over all units or more), and how it was found."""
    try:
        known = [(*chance_distribution.log_distribution(part), number) for part, number in Counter(parts).items()]
        log = log_tail_of_sum([(logs, number) for logs, _, number in known], agreements)
        # A distribution that is not complete lacks what is below 2^-DEPTH.
        if log > (80 - chance_distribution.DEPTH) * math.log(2.0) or all(complete for _, complete, _ in known):
            return log, "exact"
    except TooLargeError:
        pass
    bound = chernoff(parts, agreements)
    if bound > SURE * math.log(10.0):
        raise StratError.about(
            "units",
            f"must be smaller for an exact test, got one of {max(part.n for part in parts)} rows; "
            "use chance_between, or finer units.",
        )
    return bound, BOUND


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
        raise StratError.about("permutations", f"must be 1 or more, got {permutations}.")
    t, p, classes = coded_labels(truth, predicted)
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
        raise StratError.about("truth", "must have two classes or more, got one; nothing can be exchanged.")
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
        raise StratError.about(
            "units",
            "must contain two units of one size, got none, so that nothing can be exchanged; "
            "use chance_within, or units of equal size.",
        )
    total = np.zeros(permutations, np.int64)
    for members in groups:
        block = first[members][:, None] + np.arange(sizes[members[0]])
        true, predicted = t[block], p[block]
        for k in range(permutations):
            moved = rng.permutation(true, axis=0)
            if rows:
                moved = rng.permuted(moved, axis=1)
            total[k] += np.count_nonzero(moved == predicted)
    return total


def _counted(agreements: int, n: int, hits: Counts, how: str, rng: int) -> Chance:
    reached = int((hits >= agreements).sum())
    pvalue = (1 + reached) / (1 + len(hits))
    low, high = clopper_pearson(reached, len(hits))
    error = max(pvalue - low, high - pvalue)
    method = (
        f"{how}, {len(hits)} permutations from seed {rng}, "
        f"p between {low:.2g} and {high:.2g} with confidence {100 * CONFIDENCE:g} %"
    )
    null = "the true labels of whole units are unrelated to what the system says"
    return Chance(
        agreements, n, agreements / n, float(hits.mean()) / n, pvalue, math.log10(pvalue), error, method, null
    )
