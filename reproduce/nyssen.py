"""Nyssen 1998: the exact test against random classification, and the score interval."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from scipy.stats import fisher_exact

from reproduce.entries import Entry, Found, Setting, Value
from strat.comparison import chance
from strat.estimation.proportions import score_interval, wald

MATRIX = np.ones((4, 4), int) + 2 * np.eye(4, dtype=int)


def example(setting: Setting) -> Found:
    """Four classes of six patterns, three right in each."""
    result = chance(MATRIX)
    values = (
        Value("expected efficiency under chance", 0.25, result.expected, 1e-12),
        Value("efficiency", 0.5, result.efficiency, 1e-12),
        Value("p-value", 0.0085, result.pvalue, 5e-5),
        Value("sum of the distribution", None, float(result.distribution.sum()), 1e-12, derived=1.0),
    )
    note = "Nyssen enumerates tables; ours counts matches of a random permutation by rook polynomials (point 12)."
    return Found(values, (note,))


def probabilities(setting: Setting) -> Found:
    """P(N | H0) of (2.3), summed over all tables with the margins of a small one."""
    table = np.array([[2, 0, 0], [0, 1, 1], [0, 1, 1]])
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    total: dict[int, float] = {}
    for flat in product(range(int(rows.max()) + 1), repeat=9):
        n = np.array(flat).reshape(3, 3)
        if (n.sum(axis=1) == rows).all() and (n.sum(axis=0) == columns).all():
            trace = int(np.trace(n))
            total[trace] = total.get(trace, 0.0) + _probability(n, rows, columns)
    tail = sum(p for trace, p in total.items() if trace >= np.trace(table))
    values = (
        Value("sum of (2.3) over all tables", None, sum(total.values()), 1e-12, derived=1.0),
        Value("p by enumerating (2.3), and by rook polynomials", None, chance(table).pvalue, 1e-12, derived=tail),
        Value(
            "(2.3) A over B, and C, of that table",
            None,
            _chain(table),
            1e-12,
            derived=_probability(table, rows, columns),
        ),
    )
    return Found(values)


def _probability(n: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> float:
    def logs(x: np.ndarray) -> float:
        return sum(math.lgamma(v + 1) for v in np.ravel(x))

    return math.exp(logs(rows) + logs(columns) - math.lgamma(n.sum() + 1) - logs(n))


def _chain(n: np.ndarray) -> float:
    """(2.3) C: a product of hypergeometric terms, one for each cell but those of the first row and column."""
    whole, k, log = n.cumsum(axis=0).cumsum(axis=1), len(n), 0.0
    for s, t in product(range(1, k), repeat=2):
        column, above, row, block = n[: s + 1, t].sum(), whole[s - 1, t], n[s, : t + 1].sum(), whole[s, t]
        log += _log_choose(column, n[s, t]) + _log_choose(block - column, row - n[s, t]) - _log_choose(block, row)
        assert above + row == block
    return math.exp(log)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def two_classes(setting: Setting) -> Found:
    """With two classes the test is Fisher's exact one, one-sided."""
    table = [[8, 2], [3, 7]]
    fisher = float(fisher_exact(np.array(table), alternative="greater").pvalue)
    return Found((Value("p of Fisher's test (SciPy), and ours", None, chance(table).pvalue, 1e-12, derived=fisher),))


def interval(setting: Setting) -> Found:
    """99 of 100 patterns right."""
    low, high = score_interval(99, 100)
    plain_low, plain_high = wald(99, 100)
    values = (
        Value("score interval, low", 0.946, low, 5e-4),
        Value("score interval, high", 0.998, high, 5e-4),
        Value("classical interval, low", 0.970, plain_low, 5e-4),
        Value("classical interval, high", 1.01, plain_high, 5e-3),
    )
    return Found(values)


def where_it_leaves(setting: Setting) -> Found:
    """The classical interval leaves [0, 1] when e or 1 - e is below c²/(c² + n)."""
    n, c2 = 100, 1.959964**2
    outside = [k for k in range(1, n // 2) if wald(k, n)[0] < 0]
    limit = math.ceil(n * c2 / (c2 + n)) - 1
    inside = all(0 <= score_interval(k, n)[0] <= k / n <= score_interval(k, n)[1] <= 1 for k in range(n + 1))
    values = (
        Value("largest count of 100 whose classical interval is negative", None, max(outside), derived=limit),
        Value("score interval holds e and stays in [0, 1], all counts", "yes", "yes" if inside else "no"),
    )
    return Found(values)


ENTRIES = (
    Entry("nyssen/2.3", "section 2, (2.2) and (2.3)", "Probabilities of tables with fixed margins", probabilities),
    Entry("nyssen/fisher", "section 2", "Two classes: Fisher's exact test", two_classes),
    Entry("nyssen/example", "section 3", "Four classes, half of the patterns right", example),
    Entry("nyssen/interval", "section 3", "Interval for 99 of 100", interval),
    Entry("nyssen/limits", "section 3", "Where the classical interval leaves [0, 1]", where_it_leaves),
)
