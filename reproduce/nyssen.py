"""Nyssen 1998: the exact test against random classification, and the score interval."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import binom, fisher_exact

from reproduce.entries import Entry, Found, Setting, Value
from strat.comparison import chance, random_tables, table_assignments, table_factors, table_probability
from strat.estimation.proportions import interval_misses, jeffreys, score_interval, wald

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
            total[trace] = total.get(trace, 0.0) + table_probability(n)
    tail = sum(p for trace, p in total.items() if trace >= np.trace(table))
    these, all_ways = table_assignments(table)
    values = (
        Value("sum of (2.3) over all tables", None, sum(total.values()), 1e-12, derived=1.0),
        Value("p by enumerating (2.3), and by rook polynomials", None, chance(table).pvalue, 1e-12, derived=tail),
        Value(
            "(2.3) by Stirling's series, and B over A", None, table_probability(table), 1e-15, derived=these / all_ways
        ),
        Value("(2.3) C, and B over A", None, float(table_factors(table).prod()), 1e-12, derived=these / all_ways),
    )
    return Found(values)


def distribution(setting: Setting) -> Found:
    """p_e of (2.2), whole, for the example: beside random tables, and at its two ends by counting."""
    draws = setting.times(20_000, 1_000_000)
    whole = chance(MATRIX).distribution
    traces = np.trace(random_tables(MATRIX, draws=draws, rng=0), axis1=1, axis2=2)
    seen = np.bincount(traces, minlength=len(whole)) / draws
    off = np.abs(seen - whole) / np.sqrt(np.maximum(whole * (1 - whole) / draws, 1e-300))
    perfect, all_ways = table_assignments(np.diag(MATRIX.sum(axis=1)))
    values = (
        Value("P(all 24 agree), and 6!⁴ / 24!", None, float(whole[24]), 1e-20, derived=perfect / all_ways),
        Value("P(23 agree): one label cannot be wrong alone", None, float(whole[23]), derived=0.0),
        Value(
            "largest deviation of random tables, in standard errors",
            None,
            float(off[whole > 10 / draws].max()),
            derived=0.0,
            holds=bool(off[whole > 10 / draws].max() < 4),
            rule="below 4",
        ),
    )
    return Found(values, ("P(0), P(1), … agreements: " + ", ".join(f"{p:.3g}" for p in whole),))


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


def given_sizes(setting: Setting) -> Found:
    """ε is that of patterns in these class sizes; the score interval lets them vary, and covers it too often."""
    n, shares = 20, (0.95, 0.5)
    mass = np.multiply.outer(*(binom(n, share).pmf(np.arange(n + 1)) for share in shares))
    truth = sum(shares) / 2
    held = np.zeros(2)
    for x, y in zip(*np.nonzero(mass > 1e-6), strict=True):
        result = chance([[x, n - x], [n - y, y]])
        limits = (result.interval(), result.interval_given_sizes())
        held += [mass[x, y] * (low <= truth <= high) for low, high in limits]
    rule, note = "0.95 or more", "two classes of 20 patterns, right with 0.95 and 0.5; all outcomes"
    values = (
        Value("coverage of the score interval", None, float(held[0]), derived=0.95, holds=held[0] >= 0.95, rule=rule),
        Value(
            "coverage of the interval for given sizes",
            None,
            float(held[1]),
            derived=0.95,
            holds=0.95 <= held[1] < held[0],
            rule="between 0.95 and the other",
            note=note,
        ),
    )
    return Found(values)


def tails(setting: Setting) -> Found:
    """P(ε < e_min) = P(ε > e_max) ≈ (1 − γ)/2: true in the middle, not near the ends."""
    values = []
    for share, right in TAILS.items():
        names = (f"P(ε < e_min) at ε = {share:g}, n = 100", f"P(ε > e_max) at ε = {share:g}, n = 100")
        for what, ours, one in zip(names, interval_misses(score_interval, 100, share), right, strict=True):
            wrong: dict[str, Any] = {} if one is None else {"erratum": 46, "right": one, "right_within": 5e-5}
            values.append(Value(what, None, ours, 0.005, derived=0.025, **wrong))
    above, below = interval_misses(jeffreys, 100, np.linspace(0.05, 0.99, 95))
    note = (
        "Averages over ε from 0.05 to 0.99 are near (1 − γ)/2 with Jeffreys' interval: "
        f"{np.mean(above):.3f} and {np.mean(below):.3f}."
    )
    return Found(tuple(values), (note,))


# what is right in place of (1 - γ)/2, on either side; None where that is near enough
TAILS = {0.5: (None, None), 0.9: (None, 0.0399), 0.99: (0.0, 0.0794)}


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
    Entry("nyssen/distribution", "section 2, (2.2)", "The whole distribution p_e", distribution),
    Entry("nyssen/interval", "section 3", "Interval for 99 of 100", interval),
    Entry("nyssen/sizes", "section 3", "The efficiency expected for given class sizes", given_sizes),
    Entry("nyssen/tails", "section 3", "Equal tails of the score interval", tails),
    Entry("nyssen/limits", "section 3", "Where the classical interval leaves [0, 1]", where_it_leaves),
)
