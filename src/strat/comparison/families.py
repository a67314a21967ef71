"""The family of tests over data sets: aligned ranks, Quade, Conover, pairwise Wilcoxon, and what each separates."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtr

from strat.base.errors import one_of
from strat.base.limits import LIMITS
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.comparison.adjustments import ADJUSTMENTS, OF_PAIRS, adjust
from strat.comparison.data_sets import EQUIVALENT, Friedman, signed_rank
from strat.comparison.posthoc import AllPairs, nemenyi, pair_matrix, rank_error
from strat.comparison.rank_permutations import agreement_pvalue, orders_pvalue
from strat.comparison.score_table import Scores, ranked, scores
from strat.estimation.frames import frame
from strat.estimation.hypothesis_tests import chi2_pvalue, f_pvalue

RANKINGS = ("friedman", "aligned", "quade", "conover", "wilcoxon")


@checked
def aligned_friedman(table: Any, *, higher_is_better: bool, method: str = "auto") -> Friedman:
    """Friedman's test on aligned ranks (Hodges and Lehmann): all scores, less their data set's mean, ranked together.

    It sees how much systems differ, not only their order, which helps where there are few systems. The p-value is that
    of all orders within the data sets where they can be counted, that of random orders for tables that are not large
    (as in `friedman`), and that of chi-squared elsewhere, or everywhere with `method="chi-squared"`; `name` says which.

    Examples
    --------
    Two data sets, two systems, differences −1, 1, −2, 2: aligned ranks 2 3 1 4 and sums 3, 7.

    >>> result = aligned_friedman([[0, 2], [0, 4]], higher_is_better=False)
    >>> result.ranks.tolist(), round(result.statistic, 4), result.pvalue  # of 2² orders two agree
    ([1.5, 3.5], 1.6, 0.5)
    """
    s = scores(table, higher_is_better=higher_is_better)
    ranks = _aligned(s)
    n, k = ranks.shape
    middle = 0.5 * (n * k + 1)
    # Σ R_j² − (k n²/4)(kn+1)² and the bracket below, both as sums of squares about the mean
    between = (k - 1) * float(((ranks.sum(axis=0) - n * middle) ** 2).sum())
    # squares of the ranks as they are, not of 1 … kn: ties shrink them
    room = float((ranks**2).sum()) - float((ranks.sum(axis=1) ** 2).sum()) / k
    statistic = between / room if room > 0 else 0.0
    one_of("method", method, ("auto", "chi-squared"))
    pvalue, how = orders_pvalue(ranks) if method == "auto" else (math.nan, "")
    name, df = f"Friedman, aligned ranks, {how or 'chi-squared'}", () if how else (k - 1.0,)
    pvalue = pvalue if how else chi2_pvalue(statistic, k - 1)
    return Friedman(name, statistic, pvalue, df, "two-sided", EQUIVALENT, s.systems, ranks.mean(axis=0), n,
                    notes=s.notes)  # fmt: skip


@checked
def quade(table: Any, *, higher_is_better: bool, method: str = "auto") -> Friedman:
    """Quade's test: Friedman's with data sets weighted by the rank of the range of their scores.

    The p-value is found as that of `aligned_friedman`, with F for large tables, or everywhere with `method="F"`.

    Examples
    --------
    Three data sets with ranges 1, 2, 3 that rank two systems alike but for the first.

    >>> result = quade([[1, 0], [0, 2], [0, 3]], higher_is_better=False)
    >>> round(result.statistic, 4)  # S = ±2, A = 7, B = 8/3: 2 · (8/3) / (7 − 8/3)
    1.2308
    >>> result.pvalue  # |±1 ±2 ±3| is at least 4 for 4 of 2³ orders
    0.5
    """
    s = scores(table, higher_is_better=higher_is_better)
    weight, ranks = _ranges(s), s.ranks
    n, k = ranks.shape
    weighted = weight[:, None] * (ranks - 0.5 * (k + 1))
    all_squares, between = float((weighted**2).sum()), float((weighted.sum(axis=0) ** 2).sum()) / n
    room = all_squares - between
    average = weight @ ranks / weight.sum()
    # where all data sets agree F is infinite, and the p-value that of just this order of every data set (Conover)
    statistic = 0.0 if not all_squares else math.inf if room <= 1e-12 * all_squares else (n - 1.0) * between / room
    one_of("method", method, ("auto", "F"))
    pvalue, how = orders_pvalue(weighted) if method == "auto" else (math.nan, "")
    df = (k - 1.0, (k - 1.0) * (n - 1.0))
    if not how:
        pvalue = agreement_pvalue(weighted) if math.isinf(statistic) else f_pvalue(statistic, df)
    return Friedman(f"Quade, {how or 'F'}", statistic, pvalue, () if how else df, "two-sided", EQUIVALENT, s.systems,
                    average, n, notes=s.notes)  # fmt: skip


@checked
def pairwise(table: Any, *, higher_is_better: bool, ranks: str = "friedman", adjust: str = "holm") -> AllPairs:
    """All pairs of systems over data sets, by the ranks and the adjustment that are named.

    Parameters
    ----------
    table, higher_is_better
        As in `friedman`.
    ranks
        "friedman": z of average ranks, (1.16); "aligned": of aligned ranks; "quade": of ranks weighted by range;
        "conover": Student's t of Friedman's ranks, more powerful and only after Friedman's test has rejected;
        "wilcoxon": the exact signed rank test of each pair, which no third system can change.
    adjust
        "none", "bonferroni", "holm", "hochberg", "hommel", "holland", "rom", "finner", "li", "shaffer",
        "bergmann-hommel" (at most eleven systems), "benjamini-hochberg", "benjamini-yekutieli".

    Examples
    --------
    >>> table = {"A": [1] * 10, "B": [2] * 10, "C": [3] * 10}
    >>> pairwise(table, higher_is_better=False, ranks="wilcoxon").different()
    [('A', 'B'), ('A', 'C'), ('B', 'C')]
    """
    one_of("ranks", ranks, RANKINGS)
    s = scores(table, higher_is_better=higher_is_better)
    average, z, raw = _RAW[ranks](s)
    return _adjusted(s, f"all pairs, {_NAMES[ranks]}, {adjust}", average, z, raw, adjust)


@dataclass(frozen=True, eq=False, repr=False)
class Family(Result):
    """Which procedure separates which pair of systems.

    Attributes
    ----------
    procedures
        From the name of each procedure to its pairs.
    systems, n
        The systems, and the number of data sets.
    """

    procedures: dict[str, AllPairs] = field(repr=False)
    systems: tuple[str, ...]
    n: int

    @checked
    def separated(self, alpha: float = 0.05) -> dict[str, int]:
        """How many pairs each procedure separates."""
        return {name: len(one.different(alpha)) for name, one in self.procedures.items()}

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns: the pair, and its adjusted p-value by each procedure, most separated pairs first."""
        i, j = np.triu_indices(len(self.systems), 1)
        columns = {name: one.pvalues[i, j] for name, one in self.procedures.items()}
        order = np.argsort(np.mean(list(columns.values()), axis=0), kind="stable")
        names = [(self.systems[i[k]], self.systems[j[k]]) for k in order]
        return {
            "a": [a for a, _ in names],
            "b": [b for _, b in names],
            **{name: column[order].tolist() for name, column in columns.items()},
        }

    def to_frame(self, library: str | None = None) -> Any:
        """The table as a data frame of pandas, Polars or PyArrow (the first that is loaded)."""
        return frame(self.to_dict(), library)

    def __str__(self) -> str:
        """The table as text: a star where a pair is separated at 5 %."""
        columns = self.to_dict()
        pairs = [f"{a} – {b}" for a, b in zip(columns.pop("a"), columns.pop("b"), strict=True)]
        width = max(len(p) for p in [*pairs, "separated"])
        head = " ".join([" " * width, *(f"{name:>{max(len(name), 8)}}" for name in columns)])
        lines = []
        for k, pair in enumerate(pairs):
            cells = [f"{p[k]:.4f}{'*' if p[k] < 0.05 else ' '}".rjust(max(len(name), 8)) for name, p in columns.items()]
            lines.append(" ".join([f"{pair:{width}}", *cells]))
        total = " ".join(
            [f"{'separated':{width}}", *(f"{n:>{max(len(name), 8)}}" for name, n in self.separated().items())]
        )
        return "\n".join([head, *lines, total])


@checked
def family(table: Any, *, higher_is_better: bool) -> Family:
    """Every procedure for all pairs over data sets, side by side: choose one before you look.

    Examples
    --------
    >>> table = {"A": [1] * 10, "B": [2] * 10, "C": [3] * 10}
    >>> family(table, higher_is_better=False).separated()["shaffer"]
    3
    """
    s = scores(table, higher_is_better=higher_is_better)
    average, z, raw = _friedman(s)
    methods = [
        m for m in (*ADJUSTMENTS, *OF_PAIRS) if m != "bergmann-hommel" or len(s.systems) <= LIMITS.bergmann_systems
    ]
    methods = [m for m in methods if m != "rom" or len(s.systems) * (len(s.systems) - 1) // 2 <= 100]
    procedures = {"nemenyi": nemenyi(s, higher_is_better=higher_is_better)}
    procedures |= {m: _adjusted(s, f"all pairs, {_NAMES['friedman']}, {m}", average, z, raw, m) for m in methods}
    for ranks in RANKINGS[1:]:
        procedures[f"{ranks}+holm"] = pairwise(s, higher_is_better=higher_is_better, ranks=ranks, adjust="holm")
    return Family(procedures, s.systems, len(s.values))


def _adjusted(s: Scores, name: str, average: Array, z: Array, raw: Array, method: str) -> AllPairs:
    k = len(s.systems)
    pvalues = pair_matrix(adjust(np.minimum(raw, 1.0), method, systems=k), k)
    return AllPairs(name, s.systems, average, len(s.values), z, pvalues, s.notes)


def _aligned(s: Scores) -> Array:
    """Ranks of all scores less their data set's mean, 1 the best, data sets × systems."""
    values = -s.values if s.higher_is_better else s.values
    aligned = values - values.mean(axis=1, keepdims=True)
    size = np.broadcast_to(np.abs(values).max(axis=1, keepdims=True), values.shape)
    return ranked(aligned.reshape(1, -1), size.reshape(1, -1)).reshape(values.shape)


def _ranges(s: Scores) -> Array:
    """Rank of each data set by the range of its scores, 1 the smallest."""
    return ranked(np.ptp(s.values, axis=1)[None], np.abs(s.values).max(axis=1)[None])[0]


def _of_error(average: Array, error: float) -> tuple[Array, Array, Array]:
    z = (average[:, None] - average) / error
    return average, z, 2.0 * ndtr(-np.abs(z[np.triu_indices(len(average), 1)]))


def _friedman(s: Scores) -> tuple[Array, Array, Array]:
    n, k = s.values.shape
    return _of_error(s.ranks.mean(axis=0), rank_error(k, n))


def _aligned_pairs(s: Scores) -> tuple[Array, Array, Array]:
    return _permuted(_aligned(s), float(len(s.values)))


def _quade_pairs(s: Scores) -> tuple[Array, Array, Array]:
    weight = _ranges(s)
    return _permuted(weight[:, None] * s.ranks, float(weight.sum()))


def _permuted(points: Array, total: float) -> tuple[Array, Array, Array]:
    """Sums of points over `total`, and z by their variance over all orders of the systems within each data set.

    The closed forms that are printed for aligned ranks, k (n + 1) / 6, and for Quade's, with a factor (k − 1) / 2, are
    not this variance: the first is far too small, the second too large for more than three systems.
    """
    within = float(points.var(axis=1, ddof=1).sum())
    average = points.sum(axis=0) / total
    if within == 0.0:
        return average, np.zeros((len(average),) * 2), np.ones(len(average) * (len(average) - 1) // 2)
    return _of_error(average, math.sqrt(2.0 * within) / total)


def _conover(s: Scores) -> tuple[Array, Array, Array]:
    """Conover (1999): t = (R_i − R_j) / sqrt{2 (n A − Σ R_j²) / ((n−1)(k−1))} of rank sums, A the sum of squares."""
    ranks = s.ranks
    n, k = ranks.shape
    sums, df = ranks.sum(axis=0), (n - 1.0) * (k - 1.0)
    room = max(2.0 * (n * float((ranks**2).sum()) - float((sums**2).sum())) / df, 0.0)
    gap = sums[:, None] - sums
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(gap == 0.0, 0.0, gap / math.sqrt(room)) if room > 0 else np.where(gap == 0, 0.0, np.inf * gap)
    t = np.nan_to_num(t, nan=0.0, posinf=np.inf, neginf=-np.inf)
    return ranks.mean(axis=0), t, 2.0 * stdtr(df, -np.abs(t[np.triu_indices(k, 1)]))


def _wilcoxon(s: Scores) -> tuple[Array, Array, Array]:
    k = len(s.systems)
    z, raw = np.zeros((k, k)), []
    for i, j in zip(*np.triu_indices(k, 1), strict=True):
        test = signed_rank(s.values[:, i], s.values[:, j])
        better = (test.r_plus >= test.r_minus) == s.higher_is_better
        z[i, j] = test.z if better else -test.z  # like the others: negative where the first has the smaller rank
        z[j, i] = -z[i, j]
        raw.append(test.pvalue)
    return s.ranks.mean(axis=0), z, np.array(raw)


_RAW = {
    "friedman": _friedman,
    "aligned": _aligned_pairs,
    "quade": _quade_pairs,
    "conover": _conover,
    "wilcoxon": _wilcoxon,
}
_NAMES = {
    "friedman": "average ranks as z (1.16)",
    "aligned": "aligned ranks as z",
    "quade": "ranks weighted by range as z",
    "conover": "Conover's t of average ranks",
    "wilcoxon": "Wilcoxon signed rank, exact",
}
