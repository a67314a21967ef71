"""Is a measure the same in all groups?  Tests in which no group is known exactly, however small it is.

The reference distributions are those of rows, or of whole units, that were given to the groups at random: counted
where they are few, else drawn with a fixed seed. What varied is measured under the hypothesis that all groups are
equal, so that a group without an error does not count as one that has none.
"""

from __future__ import annotations

import numpy as np
import scipy

from strat.base.validate.columns import Array, Codes
from strat.estimation.hypothesis_tests import TestResult, chi2_pvalue, f_pvalue

DRAWS = 9_999  # random orders of units: a p of 0.05 is off by 0.007
TABLES = 9_999  # random tables of hits: a p of 0.05 is off by 0.002
FEWEST_DRAWS = 199  # of very many units
DRAWN = 1_500_000  # units drawn altogether
EXPECTED = 25  # hits and misses in every group from which on chi-squared needs no draws
UNLIKE = 0.5  # p below which the variances of groups are taken to differ
SIZES_DIFFER = 0.05  # p below which the sizes of units are taken to differ between groups
SEED = 20_010_612  # fixed: the same question has the same answer
TIED = 1e-9  # of a statistic: rounding


def equal_shares(hits: Codes, rows: Codes) -> TestResult:
    """The test that independent rows have the same share of hits in all groups, given the margins: mid-p.

    Two groups: Pearson's statistic over all tables, which orders them as Fisher's exact test with mid-p does where
    the groups are equally large; more: random tables. With 25 expected hits and misses in every group the
    distribution is chi-squared.

    Examples
    --------
    Three of three and none of three: 2 of the 20 ways to share three hits, half of which count.

    >>> test = equal_shares([3, 0], [3, 3])
    >>> test.statistic, round(test.pvalue, 6)
    (6.0, 0.05)
    """
    hits, rows = np.asarray(hits, np.int64), np.asarray(rows, np.int64)
    hits, rows = hits[rows > 0], rows[rows > 0]
    total, number = int(hits.sum()), int(rows.sum())
    if len(rows) < 2 or total in (0, number):
        return _result("exact test of shares, mid-p", 0.0, 1.0)
    statistic = float(_pearson(hits, rows, total))
    rare = min(total, number - total)
    if rows.min() * rare >= EXPECTED * number:
        df = len(rows) - 1.0
        return _result("chi-squared", statistic, chi2_pvalue(statistic, df), (df,))
    rows = np.sort(rows)
    if len(rows) == 2:
        first = np.arange(max(0, rare - rows[1]), min(rows[0], rare) + 1)
        tables = np.stack([first, rare - first], axis=1)
        logs = _log_choose(rows[0], first) + _log_choose(rows[1], rare - first) - _log_choose(number, rare)
        p = _mid_p(_pearson(tables, rows, rare), statistic, np.exp(logs))
        return _result("exact test of shares, mid-p", statistic, p)
    drawn = np.random.default_rng(SEED).multivariate_hypergeometric(rows, rare, size=TABLES)
    p = _drawn_p(_pearson(drawn, rows, rare), statistic)
    return _result(f"exact test of shares, mid-p of {TABLES:,} random tables (seed {SEED})", statistic, p)


def equal_values(
    total: Array,
    size: Array,
    group: Codes,
    *,
    unit: Codes | None = None,
    stratum: Codes | None = None,
    unseen: Array | None = None,
    alone: Array | None = None,
    squares: Array | None = None,
    share: bool = False,
) -> TestResult:
    """The test that Σ total / Σ size is the same in all groups, from a line for each unit in each group.

    Welch's statistic of the units' scores, total − ratio · size, whose reference distribution is that of scores given
    to the groups at random. A share has the variance of its pooled value; elsewhere that of a group is drawn to the
    pooled one as far as the groups' variances agree, and where they do not, p is at least that of Welch's own test.

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
        The stratum of each line, and the share of its stratum's units that were not sampled.
    alone
        Of a share: Σ w² of the weights of the line's rows (None: the rows have weight 1).
    share
        Whether rows have hits or misses.

    Examples
    --------
    >>> test = equal_values(np.array([1.0, 2.0, 3.0, 7.0, 8.0, 9.0]), np.ones(6), np.array([0, 0, 0, 1, 1, 1]))
    >>> round(test.statistic, 1), 0.05 < test.pvalue < 0.06  # one of the ten ways to halve them, half of which counts
    (54.0, True)
    """
    lines = _Lines.of(total, size, group, unit, stratum, unseen, alone, squares, share=share)
    if lines is None:
        return _result("permutation test of groups", 0.0, 1.0)
    observed = float(lines.statistic(lines.score, lines.size, lines.variance)) if lines.separate else lines.joint()
    statistic = observed / lines.design_effect()
    draws = int(np.clip(DRAWN // len(lines.score), FEWEST_DRAWS, DRAWS))
    p = _drawn_p(lines.drawn(draws), statistic)
    if not share:
        p = max(p, lines.welch_where_unlike())
    what = "units" if unit is not None else "rows"
    return _result(f"permutation test of groups, {draws} random orders of {what} (seed {SEED})", statistic, p)


class _Lines:
    """Scores of units in groups, in an order that depends neither on that of rows nor on labels nor on the sign."""

    @classmethod
    def of(cls, total, size, group, unit, stratum, unseen, alone, squares, *, share):  # type: ignore[no-untyped-def]
        looked = size > 0
        total, size, group = total[looked], size[looked], np.unique(group[looked], return_inverse=True)[1]
        if not len(size) or group.max() == 0:
            return None
        rate = total.sum() / size.sum()
        score = total - rate * size
        if np.abs(score).max() <= TIED * max(abs(rate), np.abs(total / size).max()) * size.max():
            return None
        if (score**3).sum() < 0:
            score = -score
        own = lambda v, default: default if v is None else v[looked]  # noqa: E731
        unit = own(unit, np.arange(len(score)))
        stratum = own(stratum, np.zeros(len(score), np.int64))
        alone = own(alone, size)
        counts = np.bincount(group)
        key = np.lexsort((np.bincount(group, np.abs(score)), np.bincount(group, size), counts))
        place = np.empty(len(key), np.int64)
        place[key] = np.arange(len(key))
        group = place[group]
        order = np.lexsort((np.abs(score), size, group))
        self = cls()
        self.score, self.size, self.group = score[order], size[order], group[order]
        self.unit = np.unique(unit[order], return_inverse=True)[1]
        self.stratum = np.unique(stratum[order], return_inverse=True)[1]
        self.unseen = None if unseen is None else unseen[looked][order]
        self.n = np.bincount(self.group)
        self.cut = np.cumsum(self.n) - self.n
        self.share = share
        self.pooled = rate * (1 - rate) if share else None
        self.single = self.pooled if share else None if squares is None else squares[looked].sum() / alone.sum()
        self.separate = self.unit.max() + 1 == len(self.unit)
        self.variance = self._variances(alone[order])
        z = self.score / np.sqrt(self.variance)
        z = z - z.mean()
        self.kurtosis = max(1.2, float((z**4).mean() / max((z**2).mean() ** 2, 1e-300)))
        return self

    def _variances(self, alone):
        """Of the lines' scores, up to a factor: rows of a unit are correlated."""
        x, u, n = self.size, self.score, len(self.score)
        if self.single is not None:
            pairs = (x * x - alone).sum()
            if pairs <= 1e-9 * (x * x).sum():
                return x * x
            excess = (u * u).sum() / self.single * n / (n - 1) - alone.sum()
            rho = float(np.clip(excess / pairs, 0.0, 1.0))
            return rho * x * x + (1 - rho) * alone
        if np.ptp(x) <= 1e-9 * x.max():
            return np.ones(n)
        y = x / x.mean()
        best = None
        for t in (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, np.inf):
            v = y * y if np.isinf(t) else y * (1 + t * y) / (1 + t)
            fit = n * np.log((u * u / v).mean()) + np.log(v).sum()
            if best is None or fit < best[0]:
                best = (fit, v)
        return best[1]

    def sums(self, v):
        return np.add.reduceat(v, self.cut, axis=-1)

    def groups(self, u, x, v):
        """Each group's ratio minus the pooled one, and its variance; draws on the leading axis."""
        X = self.sums(x)
        off = self.sums(u) / X
        part = self.sums(v) / X**2
        if self.share:
            return off, part * self.pooled
        root = np.sqrt(v)
        s = u / root
        n, N, G = self.n.astype(float), len(self.score), len(self.n)
        if np.ptp(x) == 0:
            squares = np.maximum(self.sums(s * s) - n * off**2 * (x.flat[0] / root.flat[0]) ** 2, 0.0)
        else:
            squares = self.sums((s - np.repeat(off, self.n, axis=-1) * (x / root)) ** 2)
        own = squares / np.maximum(n - 1, 1)
        null = (s * s).sum(-1, keepdims=True) / (N - 1)
        pooled = np.maximum(squares.sum(-1, keepdims=True) / max(N - G, 1), 1e-300)
        w = np.where(n > 1, n / (self.kurtosis - 1), 0.0)
        q = (w * (own / pooled - 1) ** 2).sum(-1, keepdims=True)
        between = np.maximum(q - ((n > 1).sum() - 1), 0) / max(w.sum() - (w**2).sum() / max(w.sum(), 1e-300), 1e-300)
        with np.errstate(divide="ignore"):
            a = np.clip((self.kurtosis - 1) / between, 1.0, 1e9)
        return off, np.maximum((n - 1) * own + a * null, 1e-300) / (n - 1 + a) * part

    def statistic(self, u, x, v):
        off, var = self.groups(u, x, v)
        w = 1 / var
        c = (w * off).sum(-1, keepdims=True) / w.sum(-1, keepdims=True)
        return (w * (off - c) ** 2).sum(-1)

    def joint(self):
        """The statistic where units have rows in several groups, whose scores are correlated."""
        off, var = self.groups(self.score, self.size, self.variance)
        G, N, root = len(self.n), len(self.score), np.sqrt(self.variance)
        pairs = lambda a: (np.bincount(self.unit, a) ** 2 - np.bincount(self.unit, a * a)).sum()  # noqa: E731
        scale = self.pooled if self.share else (self.score**2).sum() / self.variance.sum()
        c = pairs(self.score) / max(pairs(root), 1e-300) / scale * N / (N - 1)
        c = float(np.clip(c, -0.9 / max(G - 1, 1), 0.95))
        table = np.zeros((self.unit.max() + 1, G))
        table[self.unit, self.group] = root
        m = table.T @ table
        d = np.sqrt(np.diag(m))
        cov = ((1 - c) * np.eye(G) + c * m / np.outer(d, d)) * np.sqrt(np.outer(var, var))
        i = np.linalg.solve(cov, np.column_stack([off, np.ones(G)]))
        return float(off @ i[:, 0] - (off @ i[:, 1]) ** 2 / i[:, 1].sum())

    def design_effect(self):
        """What strata and a finite population leave of the statistic's expectation under independent units."""
        if self.stratum.max() == 0 and self.unseen is None:
            return 1.0
        off, var = self.groups(self.score, self.size, self.variance)
        w, X = 1 / var, self.sums(self.size)
        K, G = self.unit.max() + 1, len(self.n)
        e = np.zeros((K, G))
        e[self.unit, self.group] = (self.score - off[self.group] * self.size) / X[self.group]
        stratum = np.zeros(K, np.int64)
        stratum[self.unit] = self.stratum
        f = np.ones(K)
        if self.unseen is not None:
            f[self.unit] = self.unseen
        sizes = np.bincount(stratum).astype(float)
        mean = np.stack([np.bincount(stratum, c) for c in e.T], 1) / sizes[:, None]
        mean[sizes == 1] = 0.0
        factor = np.where(sizes > 1, sizes / np.maximum(sizes - 1, 1), 1.0)[stratum] * f
        q = lambda z: (z * z * w).sum(1) - (z @ w) ** 2 / w.sum()  # noqa: E731
        return float((factor * q(e - mean[stratum])).sum() / max(q(e).sum() * K / (K - 1), 1e-300))

    def drawn(self, draws):
        u, x, v = self.score, self.size, self.variance
        rng = np.random.default_rng(SEED)
        if np.ptp(x) == 0:
            return self.statistic(rng.permuted(np.broadcast_to(u, (draws, len(u))), axis=1), x, v)
        order = rng.permuted(np.broadcast_to(np.arange(len(u), dtype=np.int32), (draws, len(u))), axis=1)
        if self._sizes_differ():
            return self.statistic((u / np.sqrt(v))[order] * np.sqrt(v), x, v)
        return self.statistic(u[order], x[order], v[order])

    def _sizes_differ(self):
        logs, n, G = np.log(self.size), self.n.astype(float), len(self.n)
        off = self.sums(logs) / n - logs.mean()
        between = (n * off**2).sum()
        within = ((logs - logs.mean()) ** 2).sum() - between
        if len(logs) <= G or within <= 1e-12 * between:
            return bool(between > 0)
        df = (G - 1.0, len(logs) - float(G))
        return f_pvalue(between / df[0] / (within / df[1]), df) < SIZES_DIFFER

    def welch_where_unlike(self):
        n, G, N = self.n.astype(float), len(self.n), len(self.score)
        X, root = self.sums(self.size), np.sqrt(self.variance)
        off = self.sums(self.score) / X
        own = self.sums((self.score / root - off[self.group] * self.size / root) ** 2) / np.maximum(n - 1, 1)
        if (n < 2).any() or (own <= 0).any():
            return 0.0
        pooled = (own * (n - 1)).sum() / (N - G)
        q = float((n / (self.kurtosis - 1) * (own / pooled - 1) ** 2).sum())
        if chi2_pvalue(q, G - 1.0) >= UNLIKE:
            return 0.0
        return welch(off, own * self.sums(self.variance) / X**2, n - 1).pvalue


def equal_areas(truth: Array, score: Array, group: Codes) -> TestResult:
    """The test that the AUC of independent rows is the same in all groups: scores given to the groups at random.

    Within each class, after each group's scores were brought to one place and scale, which no AUC notices. The
    statistic is Welch's of the areas with DeLong's variances, each drawn to the pooled one as in `equal_values`.
    Groups without one of the classes have no AUC and are left out.

    Examples
    --------
    >>> truth, score = np.tile([1, 1, 1, 0, 0, 0], 2), np.array([4, 5, 6, 1, 2, 3, 1, 2, 3, 4, 5, 6])
    >>> test = equal_areas(truth, score, np.repeat([0, 1], 6))
    >>> round(test.pvalue, 3) <= 0.01
    True
    """
    areas = _Areas.of(np.asarray(truth) > 0, np.asarray(score, float), np.asarray(group))
    if areas is None:
        return _result("permutation test of AUC", 0.0, 1.0)
    draws = int(np.clip(DRAWN // len(areas.positive), FEWEST_DRAWS, DRAWS))
    observed = float(areas.statistic(areas.group[None])[0])
    p = _drawn_p(areas.drawn(draws), observed)
    name = f"permutation test of AUC, {draws} random orders of scores within each class (seed {SEED})"
    return _result(name, observed, p)


class _Areas:
    """Scores in their order, with class and group."""

    @classmethod
    def of(cls, truth, score, group):
        G = group.max() + 1
        m, n = np.bincount(group, truth, G), np.bincount(group, ~truth, G)
        keep = ((m > 0) & (n > 0))[group]
        if keep.sum() == 0 or len(np.unique(group[keep])) < 2:
            return None
        truth, score, group = truth[keep], score[keep], np.unique(group[keep], return_inverse=True)[1]
        if 2 * len(np.unique(score)) > len(score):
            score = _aligned(truth, score, group)
        m, n = np.bincount(group, truth), np.bincount(group, ~truth)
        key = np.lexsort((np.bincount(group, score), n, m))
        place = np.argsort(key)
        group = place[group]
        order = np.lexsort((group, truth, score))
        self = cls()
        self.positive, self.group = truth[order], group[order].astype(np.int16)
        _, self.tie = np.unique(score[order], return_inverse=True)
        self.tied = len(np.unique(self.tie)) < len(self.tie)
        self.m, self.n = m[key].astype(float), n[key].astype(float)
        self.cut = np.r_[0, np.cumsum(self.m + self.n)[:-1]].astype(int)
        self.kurtosis = (3.0, 3.0)
        v, w = self.placements(np.zeros((1, len(group)), np.int16), np.array([0]), m.sum(), n.sum())
        if v.sum() in (0, m.sum() * 1.0):
            return None
        p = self.positive
        self.kurtosis = (_kurtosis(v[0][p]), _kurtosis(w[0][~p]))
        return self

    def placements(self, group, cut, m, n):
        """For each row in the order of groups: the shares of the other class on its wrong side, ties half."""
        order = np.argsort(group, axis=1, kind="stable")
        p = self.positive[order]
        size = np.diff(np.r_[cut, p.shape[1]])
        ahead_p = np.cumsum(p, axis=1, dtype=np.int32)
        ahead_n = np.arange(1, p.shape[1] + 1, dtype=np.int32) - ahead_p
        lo_p, lo_n = ahead_p - p, ahead_n - ~p
        if self.tied:
            tie = self.tie[order]
            sorted_group = np.repeat(np.arange(len(cut)), size)
            new = np.ones(p.shape, bool)
            new[:, 1:] = (np.diff(tie, axis=1) != 0) | (np.diff(sorted_group) != 0)
            at = np.arange(p.shape[1], dtype=np.int32)
            start = np.maximum.accumulate(np.where(new, at, 0), axis=1)
            last = np.ones(p.shape, bool)
            last[:, :-1] = new[:, 1:]
            end = np.minimum.accumulate(np.where(last, at, p.shape[1])[:, ::-1], axis=1)[:, ::-1]
            take = np.take_along_axis
            below_p = 0.5 * (take(lo_p, start, 1) + take(ahead_p, end, 1))
            below_n = 0.5 * (take(lo_n, start, 1) + take(ahead_n, end, 1))
        else:
            below_p, below_n = ahead_p, ahead_n
        base_p, base_n = np.r_[0, np.cumsum(m)[:-1]] if np.ndim(m) else np.zeros(1), np.r_[0, np.cumsum(n)[:-1]] if np.ndim(n) else np.zeros(1)
        rep = lambda a: np.repeat(np.atleast_1d(a), size)  # noqa: E731
        v = np.where(p, (below_n - rep(base_n)) / rep(n), 0.0)
        w = np.where(p, 0.0, 1.0 - (below_p - rep(base_p)) / rep(m))
        return v, w

    def statistic(self, group):
        v, w = self.placements(group, self.cut, self.m, self.n)
        sums = lambda a: np.add.reduceat(a, self.cut, axis=1)  # noqa: E731
        sv, qv, sw, qw = sums(v), sums(v * v), sums(w), sums(w * w)
        area = sv / self.m
        c = (area * self.m).sum(-1, keepdims=True) / self.m.sum()
        var = _drawn_to_pooled(qv - 2 * c * sv + self.m * c**2, sv - self.m * c, self.m, self.kurtosis[0]) / self.m
        var = var + _drawn_to_pooled(qw - 2 * c * sw + self.n * c**2, sw - self.n * c, self.n, self.kurtosis[1]) / self.n
        return _spread(area, np.maximum(var, 1e-12))

    def drawn(self, draws):
        rng = np.random.default_rng(SEED)
        group = np.empty((draws, len(self.group)), np.int16)
        for side in (self.positive, ~self.positive):
            group[:, side] = rng.permuted(np.broadcast_to(self.group[side], (draws, side.sum())), axis=1)
        return self.statistic(group)


def _aligned(truth, score, group):
    out = np.empty(len(score))
    for g in range(group.max() + 1):
        own = group == g
        p, q = score[own & truth], score[own & ~truth]
        middle = (np.median(p) + np.median(q)) / 2
        scale = 1.0
        if len(p) + len(q) > 20:
            scale = np.sqrt((((p - p.mean()) ** 2).sum() + ((q - q.mean()) ** 2).sum()) / (len(p) + len(q) - 2)) or 1.0
        out[own] = (score[own] - middle) / scale
    return out


def _kurtosis(z):
    z = z - z.mean()
    return max(1.2, float((z**4).mean() / max((z**2).mean() ** 2, 1e-300)))


def _drawn_to_pooled(squares, sums, n, kurtosis):
    """Each group's variance, drawn to the pooled one as far as the variances agree."""
    total = n.sum()
    centred = np.maximum(squares - sums**2 / n, 0.0)
    own = centred / np.maximum(n - 1, 1)
    pooled = np.maximum(centred.sum(-1, keepdims=True) / max(total - len(n), 1), 1e-300)
    null = np.maximum(squares.sum(-1, keepdims=True) - sums.sum(-1, keepdims=True) ** 2 / total, 1e-300) / (total - 1)
    w = np.where(n > 1, n / (kurtosis - 1), 0.0)
    q = (w * (own / pooled - 1) ** 2).sum(-1, keepdims=True)
    between = np.maximum(q - ((n > 1).sum() - 1), 0) / max(w.sum() - (w**2).sum() / max(w.sum(), 1e-300), 1e-300)
    with np.errstate(divide="ignore"):
        a = np.clip((kurtosis - 1) / between, 1.0, 1e9)
    return ((n - 1) * own + a * null) / (n - 1 + a)


def _spread(values, variances):
    w = 1 / variances
    c = (w * values).sum(-1, keepdims=True) / w.sum(-1, keepdims=True)
    return (w * (values - c) ** 2).sum(-1)


def welch(values: Array, variances: Array, df: Array) -> TestResult:
    """Welch's test (1951) that all values are equal, from their variances and degrees of freedom."""
    w, k = 1 / variances, len(values)
    c = (w * values).sum() / w.sum()
    lost = float(((1 - w / w.sum()) ** 2 / df).sum())
    f = float((w * (values - c) ** 2).sum()) / (k - 1) / (1 + 2 * (k - 2) / (k * k - 1) * lost)
    dfs = (k - 1.0, (k * k - 1) / (3 * lost))
    return _result("Welch's F", f, f_pvalue(f, dfs), dfs)


def _result(name: str, statistic: float, p: float, df: tuple[float, ...] = ()) -> TestResult:
    return TestResult(f"equality of groups, {name}", float(statistic), float(min(p, 1.0)), df, "two-sided", "")


def _pearson(hits, rows, total):
    p = total / rows.sum()
    return ((hits - rows * p) ** 2 / rows).sum(-1) / (p * (1 - p))


def _log_choose(n, k):
    g = scipy.special.gammaln
    return g(n + 1.0) - g(k + 1.0) - g(n - k + 1.0)


def _mid_p(values, observed, weights):
    tied = np.abs(values - observed) <= TIED * max(observed, TIED)
    return float(weights[(values > observed) & ~tied].sum() + 0.5 * weights[tied].sum())


def _drawn_p(drawn, observed):
    return (_mid_p(drawn, observed, np.ones(len(drawn))) + 0.5) / (len(drawn) + 1)
