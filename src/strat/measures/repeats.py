"""What k repeats of each item say: pass@k, pass^k, the best of k, votes, and agreement between repeats.

Every measure is a mean over items of a number that the repeats of the item give, and each is unbiased for the k that is
asked for, whatever number n ≥ k of repeats there is. Rows are repeats; the design must keep the repeats of an item
together, as units or inside them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, some
from strat.base.validate import scalars
from strat.base.validate.arguments import checked
from strat.base.validate.columns import LARGEST, Array, Codes, encode, numbers, same_length
from strat.measures.base import ItemMean, Statistic
from strat.measures.means import ratio
from strat.measures.register import TRIES, UNBOUNDED, measure


@measure("pass@", "pass_at@", needs=TRIES, reads="numbers", of="item", at="k", reference="Chen et al. 2021")
@checked
def pass_at_k(success: ArrayLike, *, k: int, items: ArrayLike) -> Statistic:
    """pass@k: how often at least one of k tries of an item succeeds, 1 − C(n − c, k) / C(n, k) averaged over items.

    Parameters
    ----------
    success
        Whether each row, a try of its item, succeeded (0 or 1).
    k
        Number of tries; every item needs that many rows.
    items
        Which item each row is a try of.

    Examples
    --------
    Two items with three tries each, 1 and 3 of them right: 1 − C(2, 2) / C(3, 2) = 2/3, and 1.

    >>> round(float(pass_at_k([1, 0, 0, 1, 1, 1], k=2, items=list("aaabbb")).value()), 4)
    0.8333
    """
    right, item, n = _tries(success, items, k)
    return _share(f"pass@{k}", 1.0 - _all_among(n - _sums(right, item), n, k), item, n)


@measure("pass^", needs=TRIES, reads="numbers", of="item", at="k", reference="Yao et al. 2024")
@checked
def pass_hat_k(success: ArrayLike, *, k: int, items: ArrayLike) -> Statistic:
    """pass^k: how often all of k tries of an item succeed, C(c, k) / C(n, k) averaged over items.

    It is not (the share of successes)^k, which is too large wherever items differ, and too large for one item, too.

    Parameters
    ----------
    success, k, items
        As for :func:`pass_at_k`.

    Examples
    --------
    Two items with three tries each, 2 and 3 of them right: C(2, 2) / C(3, 2) = 1/3, and 1.

    >>> round(float(pass_hat_k([1, 1, 0, 1, 1, 1], k=2, items=list("aaabbb")).value()), 4)
    0.6667
    """
    right, item, n = _tries(success, items, k)
    return _share(f"pass^{k}", _all_among(_sums(right, item), n, k), item, n)


@measure("majority@", "maj@", needs=TRIES, reads="numbers", of="item", at="k")
@checked
def majority_at_k(success: ArrayLike, *, k: int, items: ArrayLike) -> Statistic:
    """How often more than half of k tries of an item succeed (exactly half counts ½), averaged over items.

    Parameters
    ----------
    success, k, items
        As for :func:`pass_at_k`.

    Examples
    --------
    Of four tries two are right; among three of them a majority is in half of the cases.

    >>> float(majority_at_k([1, 1, 0, 0], k=3, items=list("aaaa")).value())
    0.5
    """
    from scipy.stats import hypergeom

    right, item, n = _tries(success, items, k)
    c = np.round(_sums(right, item)).astype(np.int64)
    values = hypergeom.sf(k // 2, n, c, k)
    if k % 2 == 0:
        values = values + 0.5 * hypergeom.pmf(k // 2, n, c, k)
    return _share(f"majority@{k}", np.asarray(values), item, n)


@measure("mean@", "avg@", needs=TRIES, reads="numbers", of="item", at="k", unit="unit of the score", bounds=UNBOUNDED)
@checked
def mean_at_k(score: ArrayLike, *, items: ArrayLike, k: int = 1) -> Statistic:
    """mean@k: the mean over items of the mean of an item's repeats, of which each item must have k.

    Every item counts the same, however many repeats it has. More repeats change the precision, not what is estimated.

    Parameters
    ----------
    score
        The score of each row.
    items
        Which item each row is a repeat of.
    k
        How many repeats every item must have at least.

    Examples
    --------
    >>> float(mean_at_k([1, 0, 0, 0.5], items=list("aaab")).value())  # (1/3 + 1/2) / 2
    0.4166666666666667
    """
    values, item, n = _repeats("score", score, items, k)
    return _mean_of_items(f"mean@{k}", _sums(values, item) / n, item, n)


@measure("best@", needs=TRIES, reads="numbers", of="item", at="k", unit="unit of the score", bounds=UNBOUNDED)
@checked
def best_of_k(score: ArrayLike, *, k: int, items: ArrayLike) -> Statistic:
    """best@k: the expected largest of k scores of an item, averaged over items; pass@k for scores of 0 and 1.

    Parameters
    ----------
    score, items
        As for :func:`mean_at_k`.
    k
        Number of repeats among which the best is taken.

    Examples
    --------
    Of 1, 2 and 6, the best of two is 2 in one pair of three, 6 in two of them.

    >>> round(float(best_of_k([1, 2, 6], k=2, items=list("aaa")).value()), 4)
    4.6667
    """
    values, item, n = _repeats("score", score, items, k)
    order = np.lexsort((values, item))
    first = np.concatenate([[0], np.cumsum(n)[:-1]])
    place = np.empty(len(values))
    place[order] = np.arange(len(values)) - np.repeat(first, n) + 1
    # the j-th smallest of n is the largest of k in C(j − 1, k − 1) of C(n, k) subsets
    size = n[item].astype(float)
    weight = k / size
    for i in range(1, k):
        weight = weight * np.maximum(place - i, 0.0) / (size - i)
    return _mean_of_items(f"best@{k}", _sums(values * weight, item), item, n)


@measure("majority_vote", needs=("truth", "predicted", "items"), of="item")
@checked
def majority_vote(truth: ArrayLike, answers: ArrayLike, *, items: ArrayLike) -> Statistic:
    """The share of items whose most frequent answer is the true one; a tie of t answers counts 1/t.

    Parameters
    ----------
    truth, answers
        The true label and the answer of each row, a try of its item.
    items
        Which item each row is a try of.

    Examples
    --------
    >>> float(majority_vote([1, 1, 1, 2, 2], [1, 1, 0, 2, 3], items=list("aaabb")).value())  # 1 and a tie of two
    0.75
    """
    answer, labels = encode("answers", answers)
    item, n = _codes(items, len(answer), 1)
    true, _ = encode("truth", truth)
    same_length(truth=true, answers=answer)
    _constant(true, item)
    counts, pairs = _answers(item, answer, len(labels))
    most = np.zeros(len(n))
    np.maximum.at(most, pairs // len(labels), counts)
    leading = counts == most[pairs // len(labels)]
    ties = np.bincount(pairs // len(labels), leading, minlength=len(n))
    right = np.asarray(truth)[np.arange(len(item))] == np.asarray(answers)
    cell = np.searchsorted(pairs, item * len(labels) + answer)
    won = np.zeros(len(n))
    won[item[right & leading[cell]]] = 1.0
    return _share("majority vote", won / ties, item, n)


@measure("consistency", needs=TRIES, of="item")
@checked
def consistency(answers: ArrayLike, *, items: ArrayLike) -> Statistic:
    """How often two repeats of an item give the same answer, averaged over items.

    Parameters
    ----------
    answers
        The answer, or the success, of each row.
    items
        Which item each row is a repeat of; every item needs at least two.

    Examples
    --------
    One item with the answers x, x, y (one pair of three agrees), one with z twice.

    >>> round(float(consistency(list("xxyzz"), items=list("aaabb")).value()), 4)
    0.6667
    """
    answer, labels = encode("answers", answers)
    item, n = _codes(items, len(answer), 2)
    counts, pairs = _answers(item, answer, len(labels))
    agree = np.bincount(pairs // len(labels), counts * (counts - 1.0), minlength=len(n))
    return _share("consistency", agree / (n * (n - 1.0)), item, n)


# ---- items and their repeats


def _tries(success: ArrayLike, items: ArrayLike, k: int) -> tuple[Array, Codes, Codes]:
    right, item, n = _repeats("success", success, items, k)
    other = ~np.isin(right, (0.0, 1.0))
    if other.any():
        raise StratError.about("success", f"must be 0 or 1 (false or true) in every row, got {some(right[other], 3)}.")
    return right, item, n


def _repeats(argument: str, values: ArrayLike, items: ArrayLike, k: int) -> tuple[Array, Codes, Codes]:
    """The values as numbers, the code of each row's item, and the number of repeats of each item."""
    array = numbers(argument, values, most=LARGEST)
    if array.ndim != 1:
        raise StratError.about(argument, f"must have one value per row, got shape {array.shape}.")
    return array, *_codes(items, len(array), scalars.count("k", k, least=1))


def _codes(items: ArrayLike, rows: int, least: int) -> tuple[Codes, Codes]:
    item, labels = encode("items", items)
    if len(item) != rows:
        raise StratError.about("items", f"must have one label for each of the {rows} rows, got {len(item)}.")
    n = np.bincount(item, minlength=len(labels))
    if (n < least).any():
        short = np.flatnonzero(n < least)
        raise StratError.about(
            "k",
            f"must be at most the number of repeats of every item, got {least}, but {len(short)} of {len(n)} items "
            f"have fewer, such as {labels[short[0]]!s} with {n[short[0]]}.",
        )
    return item, n


def _sums(values: Array, item: Codes) -> Array:
    return np.asarray(np.bincount(item, values), float)


def _all_among(c: Array, n: Codes, k: int) -> Array:
    """C(c, k) / C(n, k): the probability that k of n tries, drawn without replacement, are all among c of them."""
    share = np.ones(len(n))
    for j in range(k):
        share = share * np.maximum(c - j, 0.0) / (n - j)
    return share


def _answers(item: Codes, answer: Codes, labels: int) -> tuple[Array, Codes]:
    """How often each answer of each item occurs, and which cell (item × labels + answer) it is."""
    pairs, counts = np.unique(item * labels + answer, return_counts=True)
    return counts.astype(float), pairs


def _constant(true: Codes, item: Codes) -> None:
    first = np.empty(int(item.max()) + 1, np.int64)
    first[item[::-1]] = true[::-1]
    if (first[item] != true).any():
        raise StratError.about("truth", "must be the same in all repeats of an item, got different labels for one.")


def _mean_of_items(name: str, values: Array, item: Codes, n: Codes) -> Statistic:
    """The mean over items, as a ratio of sums over rows of which each counts 1/n of its item."""
    part = 1.0 / n[item]
    return replace(ratio(values[item] * part, part), name=name, higher_is_better=True)


def _share(name: str, values: Array, item: Codes, n: Codes) -> Statistic:
    mean = _mean_of_items(name, values, item, n)
    return replace(mean, link="logit", bounds=(0.0, 1.0), base=lambda totals: totals[..., 1], sum_of=ItemMean())
