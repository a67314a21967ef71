"""Is a measure the same in all groups?  Tests in which no group is known exactly, however small it is.

The reference distributions are those of rows, or of whole units, given to the groups at random: counted where they
are few, else drawn with a fixed seed. Variances are those under the hypothesis that all groups are equal, so that a
group without an error is not one whose value is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from strat.base.validate.columns import Array, Codes
from strat.estimation.hypothesis_tests import TestResult, chi2_pvalue, f_pvalue

MOST_DRAWS, FEWEST_DRAWS = 9_999, 199  # random orders: with 9,999 a p of 0.05 is off by 0.002, with 199 by 0.015
DRAWN = 1_000_000  # scores drawn altogether, and half as many ranks, which cost more: some 50 ms
DRAWN_HITS = 500_000  # groups of random tables altogether: some 40 ms
MANY_UNITS = 20_000  # from here on chi-squared needs no draws
EXPECTED = 25  # hits and misses in every group from which on chi-squared needs no draws
LARGEST_TABLE = 10**9  # rows of tables that NumPy draws
UNLIKE = 0.5  # p below which the variances of groups are taken to differ
SIZES_DIFFER = 0.05  # p below which the sizes of units are taken to differ between groups
CORRELATED = -0.9, 0.95  # the correlation of a unit's lines lies between; the first over groups less one
SHAPES = 0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 1e9  # t of variances x (1 + t x) by size that are tried where rows are gone
LEAST_PRIOR, MOST_PRIOR = 1.0, 1e9  # rows that the pooled variance counts for beside those of a group
LEAST_KURTOSIS = 1.2  # of hits and misses of equal number it is 1, which leaves variances no error
FEW_SCORES = 20  # rows of a group up to which its scale is not estimated
LEAST_VARIANCE = 1e-12  # of an AUC: rounding
SEED = 20_010_612  # fixed: the same question has the same answer
TIED = 1e-9  # of a statistic: rounding
TINY = 1e-300  # in place of 0 in a denominator
NULL = "the measure is the same in all groups"


def equal_shares(hits: Codes, rows: Codes) -> TestResult:
    """The test that independent rows have the same share of hits in all groups: Pearson's, given the margins, mid-p.

    Two groups: over all tables with these margins; more: over random ones. With 25 expected hits and misses in every
    group the distribution is chi-squared. A group without rows is left out.

    Examples
    --------
    Three of three and none of three: 2 of the 20 ways to share three hits are as extreme; a half of them counts.

    >>> test = equal_shares(np.array([3, 0]), np.array([3, 3]))
    >>> test.statistic, round(test.pvalue, 6)
    (6.0, 0.05)
    """
    hits, rows = np.asarray(hits, np.int64), np.asarray(rows, np.int64)
    hits, rows = hits[rows > 0], rows[rows > 0]
    total, number = int(hits.sum()), int(rows.sum())
    if len(rows) < 2 or total in (0, number):
        return _result("exact test, mid-p", 0.0, 1.0)
    statistic, rare = float(_pearson(hits, rows, total)), min(total, number - total)
    if rows.min() * rare >= EXPECTED * number or number >= LARGEST_TABLE:
        df = len(rows) - 1.0
        return _result("chi-squared test", statistic, chi2_pvalue(statistic, df), (df,))
    rows = np.sort(rows)
    if len(rows) == 2:
        first = np.arange(max(0, rare - rows[1]), min(rows[0], rare) + 1)
        logs = _log_choose(rows[0], first) + _log_choose(rows[1], rare - first) - _log_choose(number, rare)
        values = _pearson(np.stack([first, rare - first], axis=1), rows, rare)
        return _result("exact test, mid-p", statistic, _mid_p(values, statistic, np.exp(logs)))
    tables = int(np.clip(DRAWN_HITS // len(rows), FEWEST_DRAWS, MOST_DRAWS))
    drawn = np.random.default_rng(SEED).multivariate_hypergeometric(rows, rare, size=tables)
    p = _drawn_p(_pearson(drawn, rows, rare), statistic)
    return _result(f"exact test, mid-p of {tables:,} random tables, seed {SEED}", statistic, p)


def equal_values(
    total: Array,
    size: Array,
    group: Codes,
    *,
    unit: Codes | None = None,
    stratum: Codes | None = None,
    unseen: Array | None = None,
    alone: Array | None = None,
    squares: float | None = None,
    share: bool = False,
) -> TestResult:
    """The test that Σ total / Σ size is the same in all groups, from a line for each unit in each group.

    Welch's statistic of the units' scores, total − ratio · size, and its distribution when scores are given to the
    groups at random. A share has the variance of its pooled value. Elsewhere a group's variance is drawn to the pooled
    one as far as the groups' variances agree, and where they do not, p is at least that of Welch's own test. Where the
    sizes of units differ between groups they stay in place, and scores change places at one variance.

    Parameters
    ----------
    total, size
        What a line adds to the numerator and to the denominator. Of a measure that is no ratio: its influence times
        the size of the group, plus the group's value times the line's size.
    group
        The group of each line, from 0.
    unit
        The unit of each line (None: each is a unit); a unit with rows of several groups has a line in each.
    stratum, unseen
        The stratum of each line, and the part of its stratum's units that was not sampled.
    alone, squares
        Σ w² of the weights of a line's rows (None: rows of weight 1), and the sum of the squared scores of all rows,
        which tell how far rows of a unit are correlated (None: not known; a share does not need it).
    share
        Whether rows are hits or misses.

    Examples
    --------
    One of the ten ways to halve six values is as extreme; a half of it counts.

    >>> test = equal_values(np.array([1.0, 2.0, 3.0, 7.0, 8.0, 9.0]), np.ones(6), np.array([0, 0, 0, 1, 1, 1]))
    >>> round(test.statistic, 1), 0.045 < test.pvalue < 0.055
    (4.7, True)
    """
    looked = size > 0
    count = np.arange(len(size))
    scores = _scores(
        total[looked],
        size[looked],
        group[looked],
        (count if unit is None else unit)[looked],
        (np.zeros_like(count) if stratum is None else stratum)[looked],
        (np.ones(len(size)) if unseen is None else unseen)[looked],
        (size if alone is None else alone)[looked],
        squares,
        share=share,
    )
    if scores is None:
        return _result("permutation test", 0.0, 1.0)
    statistic, number = scores.observed(), len(scores.score)
    guard = 0.0 if share else scores.welch_where_unlike()
    if number > MANY_UNITS:
        df = len(scores.n) - 1.0
        return _result("chi-squared test", statistic, max(guard, chi2_pvalue(statistic, df)), (df,))
    draws = int(np.clip(DRAWN // number, FEWEST_DRAWS, MOST_DRAWS))
    p = max(guard, _drawn_p(scores.drawn(draws), statistic))
    what = "rows" if unit is None else "units"
    return _result(f"permutation test, {draws:,} orders of {what}, seed {SEED}", statistic, p)


def equal_areas(truth: NDArray[np.bool_], score: Array, group: Codes) -> TestResult:
    """The test that the AUC of independent rows is the same in all groups: scores given to the groups at random.

    Scores change places within each class, after those of each group were brought to one place and scale, which no
    AUC notices. The statistic is Welch's of the areas with DeLong's variances, each drawn to the pooled one as far as
    the groups agree. A group without one of the classes is left out.

    Examples
    --------
    >>> truth = np.tile([True, True, True, False, False, False], 2)
    >>> score = np.array([4.0, 5, 6, 1, 2, 3, 1, 2, 3, 4, 5, 6])
    >>> equal_areas(truth, score, np.repeat([0, 1], 6)).pvalue < 0.02
    True
    """
    positives, negatives = np.bincount(group, truth), np.bincount(group, ~truth)
    kept = ((positives > 0) & (negatives > 0))[group]
    areas = _ranks(truth[kept], score[kept], np.unique(group[kept], return_inverse=True)[1])
    if areas is None:
        return _result("permutation test", 0.0, 1.0)
    draws = int(np.clip(DRAWN // 2 // len(areas.group), FEWEST_DRAWS, MOST_DRAWS))
    observed = float(areas.statistic(areas.group[None])[0])
    p = _drawn_p(areas.drawn(draws), observed)
    name = f"permutation test, {draws:,} orders of scores, seed {SEED}"
    return _result(name, observed, p)


def welch(values: Array, variances: Array, df: Array) -> TestResult:
    """Welch's test (1951) that all values are equal, from their variances and degrees of freedom."""
    weight, k = 1.0 / variances, len(values)
    centre = (weight * values).sum() / weight.sum()
    lost = float(((1.0 - weight / weight.sum()) ** 2 / df).sum())
    f = float((weight * (values - centre) ** 2).sum()) / (k - 1) / (1.0 + 2.0 * (k - 2) / (k * k - 1) * lost)
    dfs = (k - 1.0, (k * k - 1) / (3.0 * lost))
    return _result("Welch's test", f, f_pvalue(f, dfs), dfs)


def by_covariance(values: Array, covariance: Array, df: float) -> TestResult:
    """Wald's test that all values are equal, for designs whose units no order makes equal, such as crossed ones."""
    k = len(values) - 1
    contrasts = np.eye(k + 1)[1:] - 1.0 / (k + 1)
    off, spread = contrasts @ values, contrasts @ covariance @ contrasts.T
    f = float(off @ np.linalg.pinv(spread) @ off) / k
    dfs = (float(k), max(df, 1.0))
    return _result("Wald's test", f, f_pvalue(f, dfs), dfs)


def rao_scott(
    total: Array,
    size: Array,
    group: Codes,
    *,
    rows: float,
    unit: Codes | None = None,
    stratum: Codes | None = None,
    unseen: Array | None = None,
) -> TestResult:
    """Rao and Scott's test (1984) that a share is the same in all groups: the F of R's `svychisq`.

    Pearson's statistic of the weighted table of groups and hits, brought to the number of rows, over the mean design
    effect of its contrasts, with Satterthwaite's degrees of freedom.

    Parameters
    ----------
    total, size
        Weighted hits and weighted rows of each line, a unit in a group.
    rows
        How many rows there are.
    group, unit, stratum, unseen
        As for `equal_values`.

    Examples
    --------
    >>> test = rao_scott(np.array([4.0, 5, 3, 1, 2, 0]), np.full(6, 5.0), np.repeat([0, 1], 3), rows=30)
    >>> print(f"{test.statistic:.3f} on {test.df[0]:g} and {test.df[1]:g}")
    10.800 on 1 and 5
    """
    name = "Rao and Scott's test"
    groups = int(group.max()) + 1
    units = np.unique(np.arange(len(size)) if unit is None else unit, return_inverse=True)[1]
    cells = np.zeros((units.max() + 1, groups, 2))
    np.add.at(cells, (units, group), np.stack([size - total, total], axis=1) / size.sum())
    table = cells.sum(axis=0)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    if groups < 2 or not table.sum(axis=0).all():
        return _result(name, 0.0, 1.0)
    pearson = rows * float(((table - expected) ** 2 / expected).sum())
    shares, cells = table.ravel(), cells.reshape(len(cells), -1)
    home, left = np.zeros(len(cells), np.int64), np.ones(len(cells))
    home[units] = 0 if stratum is None else np.unique(stratum, return_inverse=True)[1]
    left[units] = 1.0 if unseen is None else unseen
    influence = _deviations(cells - cells.sum(axis=1, keepdims=True) * shares, home, left)
    columns = np.eye(groups)[:, 1:]
    main = np.column_stack([np.ones(2 * groups), np.kron(columns, np.ones((2, 1))), np.tile([0.0, 1.0], groups)])
    both = np.kron(columns, np.array([[0.0], [1.0]]))
    contrasts = both - main @ np.linalg.lstsq(main, both, rcond=None)[0]
    weighted = contrasts * np.divide(1.0, shares, out=np.zeros_like(shares), where=shares > 0)[:, None]
    moved = influence @ weighted
    effects = np.linalg.lstsq(contrasts.T @ weighted / rows, moved.T @ moved, rcond=None)[0]
    trace = float(np.trace(effects))
    if trace <= TIED:
        return _result(name, 0.0, 1.0)
    df = trace**2 / float(np.trace(effects @ effects))
    dfs = (df, df * (len(cells) - home.max() - 1.0))
    return _result(name, pearson / trace, f_pvalue(pearson / trace, dfs), dfs)


@dataclass(frozen=True, eq=False)
class _Scores:
    """Scores of units in groups, group by group, in an order that depends on neither rows, labels nor signs.

    Attributes
    ----------
    score, size, variance
        Of each line; the variances up to a factor.
    group, unit, stratum, unseen
        As in `equal_values`.
    pooled
        That factor, for a share (None: it is estimated in each group).
    """

    score: Array
    size: Array
    variance: Array
    group: Codes
    unit: Codes
    stratum: Codes
    unseen: Array
    pooled: float | None

    @cached_property
    def n(self) -> Codes:
        """Lines of each group."""
        return np.bincount(self.group)

    @cached_property
    def starts(self) -> Codes:
        """Where each group starts."""
        return np.asarray(np.cumsum(self.n) - self.n)

    @cached_property
    def kurtosis(self) -> float:
        """Of all scores, at one variance."""
        return _kurtosis(self.score / np.sqrt(self.variance))

    def observed(self) -> float:
        """The statistic, in units of what it is expected to be."""
        off, variance = self.by_group(self.score, self.size, self.variance)
        if self.unit.max() + 1 == len(self.unit):
            statistic = float(_off_centre(off, variance))
        else:
            both = np.linalg.solve(self._covariance(variance), np.column_stack([off, np.ones(len(off))]))
            statistic = float(off @ both[:, 0] - (off @ both[:, 1]) ** 2 / both[:, 1].sum())
        return statistic / self._design_effect(off, 1.0 / variance)

    def by_group(self, score: Array, size: Array, variance: Array) -> tuple[Array, Array]:
        """How far each group's ratio is from the pooled one, and its variance; draws stand on the leading axis."""
        sizes = self._sums(size)
        off, part = self._sums(score) / sizes, self._sums(variance) / sizes**2
        if self.pooled is not None:
            return off, part * self.pooled
        root = np.sqrt(variance)
        at_one = score / root
        null = (at_one * at_one).sum(axis=-1, keepdims=True) / (len(self.score) - 1)
        within = self._sums((at_one - np.repeat(off, self.n, axis=-1) * (size / root)) ** 2)
        return off, _toward_pooled(within, null, self.n, self.kurtosis) * part

    def _sums(self, values: Array) -> Array:
        return np.asarray(np.add.reduceat(values, self.starts, axis=-1))

    def _covariance(self, variance: Array) -> Array:
        """Of the groups' ratios where units have rows in several: one correlation of the lines of a unit."""
        groups, number, root = len(self.n), len(self.score), np.sqrt(self.variance)
        scale = (self.score**2).sum() / self.variance.sum() if self.pooled is None else self.pooled
        both, most = (
            float((np.bincount(self.unit, v) ** 2 - np.bincount(self.unit, v * v)).sum()) for v in (self.score, root)
        )
        correlation = float(
            np.clip(both / max(most * scale, TINY) * number / (number - 1), CORRELATED[0] / (groups - 1), CORRELATED[1])
        )
        table = scipy.sparse.csr_array((root, (self.unit, self.group)), shape=(self.unit.max() + 1, groups))
        products = (table.T @ table).toarray()
        length = np.sqrt(np.diag(products))
        shared = (1.0 - correlation) * np.eye(groups) + correlation * products / np.outer(length, length)
        return np.asarray(shared * np.sqrt(np.outer(variance, variance)))

    def _design_effect(self, off: Array, weight: Array) -> float:
        """What strata and a finite population leave of the statistic's expectation."""
        if self.stratum.max() == 0 and (self.unseen == 1.0).all():
            return 1.0
        units, groups = int(self.unit.max()) + 1, len(self.n)
        own, home, left = np.zeros((units, groups)), np.zeros(units, np.int64), np.ones(units)
        own[self.unit, self.group] = (self.score - off[self.group] * self.size) / self._sums(self.size)[self.group]
        home[self.unit], left[self.unit] = self.stratum, self.unseen
        designed, plain = (
            float((v * v @ weight).sum() - ((v @ weight) ** 2).sum() / weight.sum())
            for v in (_deviations(own, home, left), own * np.sqrt(units / (units - 1)))
        )
        return designed / plain if plain > 0 and designed > 0 else 1.0

    def drawn(self, draws: int) -> Array:
        """The statistic when scores are given to the groups at random."""
        rng, number = np.random.default_rng(SEED), len(self.score)
        if np.ptp(self.size) == 0.0 and np.ptp(self.variance) == 0.0:
            scores = rng.permuted(np.broadcast_to(self.score, (draws, number)), axis=1)
            return _off_centre(*self.by_group(scores, self.size, self.variance))
        order = rng.permuted(np.broadcast_to(np.arange(number, dtype=np.int32), (draws, number)), axis=1)
        if self._sizes_differ():
            root = np.sqrt(self.variance)
            return _off_centre(*self.by_group((self.score / root)[order] * root, self.size, self.variance))
        return _off_centre(*self.by_group(self.score[order], self.size[order], self.variance[order]))

    def _sizes_differ(self) -> bool:
        """Whether units of some groups are larger than those of others, by an analysis of variance of logarithms."""
        logs = np.log(self.size)
        between = float((self._sums(logs - logs.mean()) ** 2 / self.n).sum())
        within, df = (
            float(((logs - logs.mean()) ** 2).sum()) - between,
            (len(self.n) - 1.0, len(logs) - float(len(self.n))),
        )
        if df[1] < 1 or within <= TIED * between:
            return between > 0
        return f_pvalue(between / df[0] / (within / df[1]), df) < SIZES_DIFFER

    def welch_where_unlike(self) -> float:
        """The p-value of Welch's test where the groups' variances differ; else 0, as where one is not known."""
        n, sizes, root = self.n.astype(float), self._sums(self.size), np.sqrt(self.variance)
        off = self._sums(self.score) / sizes
        within = self._sums(((self.score - off[self.group] * self.size) / root) ** 2)
        if (n < 2).any() or (within <= 0).any():
            return 0.0
        own, pooled = within / (n - 1.0), within.sum() / (n.sum() - len(n))
        unlike = float((n / (self.kurtosis - 1.0) * (own / pooled - 1.0) ** 2).sum())
        if chi2_pvalue(unlike, len(n) - 1.0) >= UNLIKE:
            return 0.0
        return welch(off, own * self._sums(self.variance) / sizes**2, n - 1.0).pvalue


def _scores(
    total: Array,
    size: Array,
    group: Codes,
    unit: Codes,
    stratum: Codes,
    unseen: Array,
    alone: Array,
    squares: float | None,
    *,
    share: bool,
) -> _Scores | None:
    """The scores in their order; None where there is nothing to compare, or nothing varied."""
    group = np.unique(group, return_inverse=True)[1]
    if not len(group) or group.max() == 0:
        return None
    rate = float(total.sum() / size.sum())
    score = total - rate * size
    if np.abs(score).max() <= TIED * np.abs(total).max():
        return None
    score = score if (score**3).sum() >= 0 else -score
    ranked = np.lexsort([np.bincount(group, v) for v in (np.abs(score), size, np.ones(len(size)))])
    group = np.argsort(ranked)[group]
    order = np.lexsort((score, size, group))
    score, size = score[order], size[order]
    pooled = rate * (1.0 - rate) if share else None
    single = pooled if squares is None else squares / float(alone.sum())
    variance = _fitted(score, size) if single is None else _correlated(score, size, alone[order], single)
    unit, stratum = (np.unique(codes[order], return_inverse=True)[1] for codes in (unit, stratum))
    return _Scores(score, size, variance, group[order], unit, stratum, unseen[order], pooled)


def _correlated(score: Array, size: Array, alone: Array, single: float) -> Array:
    """Variances of lines over that of a row, with the rows of a line correlated as the scores' squares say."""
    pairs, n = float((size * size - alone).sum()), len(score)
    if pairs <= TIED * float((size * size).sum()):
        return np.asarray(alone)
    excess = float((score * score).sum()) / max(single, TINY) * n / (n - 1) - float(alone.sum())
    rho = min(max(excess / pairs, 0.0), 1.0)
    return np.asarray(rho * size * size + (1.0 - rho) * alone)


def _fitted(score: Array, size: Array) -> Array:
    """Variances of lines by their sizes where nothing is known of rows: those of the greatest normal likelihood."""
    x = size / size.mean()
    if np.ptp(x) <= TIED:
        return np.ones(len(x))
    tried = [x * (1.0 + t * x) / (1.0 + t) for t in SHAPES]
    fit = [len(x) * np.log((score * score / v).mean()) + np.log(v).sum() for v in tried]
    return tried[int(np.argmin(fit))]


@dataclass(frozen=True, eq=False)
class _Ranks:
    """Rows in the order of their scores.

    Attributes
    ----------
    positive
        Whether a row is of the positive class.
    group
        Its group, from 0; smaller groups first.
    tie
        The number of its score among the distinct ones.
    m, n
        Positive and negative rows of each group.
    kurtosis
        Of the places of positive and negative rows among all of the other class.
    """

    positive: NDArray[np.bool_]
    group: Codes
    tie: Codes
    m: NDArray[Any]
    n: NDArray[Any]
    kurtosis: tuple[float, float]

    def statistic(self, group: Codes) -> Array:
        """The statistic with these groups of the rows, on the leading axis."""
        starts = self._starts
        area, variance = np.zeros(1), np.zeros(1)
        for places, number, kurtosis in zip(self.places(group), (self.n, self.m), self.kurtosis, strict=True):
            sums, squares = (np.add.reduceat(v, starts, axis=1) for v in (places, places * places))
            null = squares.sum(axis=1, keepdims=True) - sums.sum(axis=1, keepdims=True) ** 2 / number.sum()
            within = np.maximum(squares - sums**2 / number, 0.0)
            null = np.maximum(null, TINY) / (number.sum() - 1.0)
            area, variance = sums / number, variance + _toward_pooled(within, null, number, kurtosis) / number
        return _off_centre(area, np.maximum(variance, LEAST_VARIANCE))

    @property
    def _starts(self) -> Codes:
        return np.asarray(np.cumsum(self.m + self.n) - self.m - self.n).astype(np.int64)

    def places(self, group: Codes) -> tuple[Array, Array]:
        """The part of the positive rows above each negative row of a group, of the negative ones below each positive.

        Ties count a half; rows of the other class have 0. Rows stand group by group.
        """
        order = np.argsort(group, axis=1, kind="stable")
        positive, sizes = self.positive[order], np.rint(self.m + self.n).astype(np.int64)
        upto: NDArray[Any] = np.cumsum(positive, axis=1, dtype=np.int32)
        others: NDArray[Any] = np.arange(1, len(self.tie) + 1, dtype=np.int32) - upto
        if self.tie[-1] + 1 < len(self.tie):
            first, last = self._runs(order, sizes)
            upto, others = (
                0.5 * (np.take_along_axis(v, last, 1) + np.take_along_axis(v - own, first, 1))
                for v, own in ((upto, positive), (others, ~positive))
            )
        m, n, m_before, n_before = (
            np.repeat(v, sizes) for v in (self.m, self.n, np.cumsum(self.m) - self.m, np.cumsum(self.n) - self.n)
        )
        return np.where(positive, 0.0, 1.0 - (upto - m_before) / m), np.where(positive, (others - n_before) / n, 0.0)

    def _runs(self, order: Codes, sizes: Codes) -> tuple[Codes, Codes]:
        """Where the run of equal scores within a group begins and ends, for each row."""
        key = self.tie[order] + np.repeat(np.arange(len(sizes)), sizes) * len(self.tie)
        at = np.arange(len(self.tie))
        edge = np.ones((len(order), len(self.tie) + 1), bool)
        edge[:, 1:-1] = np.diff(key, axis=1) != 0
        first = np.maximum.accumulate(np.where(edge[:, :-1], at, 0), axis=1)
        last = np.minimum.accumulate(np.where(edge[:, 1:], at, len(at))[:, ::-1], axis=1)[:, ::-1]
        return first, last

    def drawn(self, draws: int) -> Array:
        """The statistic when scores are given to the groups at random, within each class."""
        rng = np.random.default_rng(SEED)
        group: NDArray[Any] = np.empty((draws, len(self.group)), np.int16)  # short numbers sort faster
        for side in (self.positive, ~self.positive):
            group[:, side] = rng.permuted(np.broadcast_to(self.group[side], (draws, int(side.sum()))), axis=1)
        return self.statistic(group)


def _ranks(truth: NDArray[np.bool_], score: Array, group: Codes) -> _Ranks | None:
    """The rows in their order; None where there are not two groups, or every group has the AUC 1, or 0."""
    if not len(group) or group.max() == 0:
        return None
    if 2 * len(np.unique(score)) > len(score):
        score = _aligned(truth, score, group)
    ranked = np.lexsort([np.bincount(group, v) for v in (score, ~truth, truth)])
    group = np.argsort(ranked)[group]
    order = np.lexsort((group, truth, score))
    positive, group, tie = truth[order], group[order], np.unique(score[order], return_inverse=True)[1]
    m, n = np.bincount(group, positive), np.bincount(group, ~positive)
    whole = _Ranks(positive, group, tie, m.sum(keepdims=True), n.sum(keepdims=True), (3.0, 3.0))
    places = whole.places(np.zeros((1, len(group)), np.int64))
    above, below = places[0][0][~positive], places[1][0][positive]
    if below.min() == 1.0 or below.max() == 0.0:
        return None
    return _Ranks(positive, group, tie, m, n, (_kurtosis(above), _kurtosis(below)))


def _aligned(truth: NDArray[np.bool_], score: Array, group: Codes) -> Array:
    """Scores with those of each group brought to one place, and to one scale where it has more than a few."""
    aligned = np.empty(len(score))
    for number in range(int(group.max()) + 1):
        own = group == number
        sides = [score[own & side] for side in (truth, ~truth)]
        middle = sum(float(np.median(side)) for side in sides) / 2.0
        squares = sum(float(((side - side.mean()) ** 2).sum()) for side in sides)
        scale = np.sqrt(squares / (own.sum() - 2)) if own.sum() > FEW_SCORES and squares > 0 else 1.0
        aligned[own] = (score[own] - middle) / scale
    return aligned


def _toward_pooled(within: Array, null: Array, n: NDArray[Any], kurtosis: float) -> Array:
    """Each group's variance, drawn to the one of all groups as far as the groups' variances agree.

    `within` are squares about the group's own mean. The variance of the groups' variances beyond that of sampling is
    DerSimonian and Laird's.
    """
    own = within / np.maximum(n - 1.0, 1.0)
    pooled = np.maximum(within.sum(axis=-1, keepdims=True) / max(float(n.sum()) - len(n), 1.0), TINY)
    weight = np.where(n > 1, n / (kurtosis - 1.0), 0.0)
    excess = (weight * (own / pooled - 1.0) ** 2).sum(axis=-1, keepdims=True) - (np.count_nonzero(n > 1) - 1.0)
    between = np.maximum(excess, 0.0) / max(float(weight.sum() - (weight**2).sum() / max(weight.sum(), TINY)), TINY)
    with np.errstate(divide="ignore"):
        prior = np.clip((kurtosis - 1.0) / between, LEAST_PRIOR, MOST_PRIOR)
    return np.asarray(np.maximum((n - 1.0) * own + prior * null, TINY) / (n - 1.0 + prior))


def _off_centre(values: Array, variances: Array) -> Array:
    """Squared distances from the weighted mean over their variances; the groups are the last axis."""
    weight = 1.0 / variances
    centre = (weight * values).sum(axis=-1, keepdims=True) / weight.sum(axis=-1, keepdims=True)
    return np.asarray((weight * (values - centre) ** 2).sum(axis=-1))


def _kurtosis(values: Array) -> float:
    squares = (values - values.mean()) ** 2
    return max(LEAST_KURTOSIS, float((squares**2).mean() / max(float(squares.mean()) ** 2, TINY)))


def _deviations(values: Array, home: Codes, left: Array) -> Array:
    """What units add, from the mean of their stratum: products add up to the covariance of the sums."""
    sizes = np.bincount(home).astype(float)
    means = np.stack([np.bincount(home, column) for column in values.T], axis=1) / sizes[:, None]
    means[sizes == 1] = 0.0
    factor = np.where(sizes > 1, sizes / np.maximum(sizes - 1.0, 1.0), 1.0)
    return np.asarray((values - means[home]) * np.sqrt(left * factor[home])[:, None])


def _pearson(hits: Codes, rows: Codes, total: int) -> Array:
    share = total / rows.sum()
    return np.asarray(((hits - rows * share) ** 2 / rows).sum(axis=-1) / (share * (1.0 - share)))


def _log_choose(n: int, k: Codes | int) -> Array:
    log_gamma = scipy.special.gammaln
    return np.asarray(log_gamma(n + 1.0) - log_gamma(np.add(k, 1.0)) - log_gamma(n - np.asarray(k) + 1.0))


def _mid_p(values: Array, observed: float, weights: Array) -> float:
    tied = np.abs(values - observed) <= TIED * max(observed, TIED)
    return float(weights[(values > observed) & ~tied].sum() + 0.5 * weights[tied].sum())


def _drawn_p(drawn: Array, observed: float) -> float:
    return (_mid_p(drawn, observed, np.ones(len(drawn))) + 0.5) / (len(drawn) + 1.0)


def _result(name: str, statistic: float, p: float, df: tuple[float, ...] = ()) -> TestResult:
    return TestResult(name, float(statistic), min(float(p), 1.0), df, "two-sided", NULL)
