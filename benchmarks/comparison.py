"""Comparisons against the packages that make them: the exact chance test, post-hoc tests, all pairs, tests of pairs."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

import strat
from benchmarks.harness import best, fresh, ratio, rival, show
from strat import comparison


def timed(job: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """CPU seconds of the shortest run, and what it gave."""
    found: list[Any] = []
    return best(lambda: found.append(job()), repeats), found[-1]


def cells(rows: list[list[Any]]) -> list[list[str]]:
    return [[f"{v:.4f}" if isinstance(v, float) else str(v) for v in row] for row in rows]


def chance() -> None:
    """Exact chance test of 5,000 patterns and 26 classes against 9,999 permutations."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 26, 5000)
    said = np.where(rng.random(5000) < 0.01, truth, rng.integers(0, 26, 5000))
    table = np.zeros((26, 26), int)
    np.add.at(table, (truth, said), 1)
    ours, found = timed(lambda: comparison.chance(table), 3)

    def permuted() -> Any:
        def agree(p: Any, axis: int) -> Any:
            return (p == truth).sum(axis=axis)

        return stats.permutation_test(
            (said,), agree, permutation_type="pairings", n_resamples=9999, vectorized=True, batch=500,
            alternative="greater", rng=np.random.default_rng(0),
        )  # fmt: skip

    theirs, simulated = timed(permuted, 1)
    sampler = stats.random_table(table.sum(axis=1), table.sum(axis=0))
    tables, drawn = timed(lambda: np.trace(sampler.rvs(9999, random_state=rng), axis1=1, axis2=2), 1)
    rows = [
        ["strat, exact", ours, "1", f"{found.pvalue:.7f} ± {found.error:.1e}"],
        ["scipy permutation_test, 9,999 draws", theirs, ratio(theirs, ours), f"{simulated.pvalue:.4f}"],
        ["scipy random_table, 9,999 draws", tables, ratio(tables, ours), f"{(drawn >= found.agreements).mean():.4f}"],
    ]
    show("Chance: 5,000 patterns, 26 classes", ["who", "seconds", "ratio", "p"], cells(rows))


def post_hoc() -> None:
    """Friedman and Nemenyi of 200 data sets × 50 systems."""
    rng = np.random.default_rng(2)
    x = rng.random((200, 50)) + 0.02 * np.arange(50)

    def ours() -> Any:
        return comparison.friedman(x, higher_is_better=True), comparison.nemenyi(x, higher_is_better=True)

    seconds, found = timed(ours, 5)
    rows = [["strat: Friedman + Nemenyi", seconds, "1", f"{found[0].statistic:.4f}"]]
    sp = rival("scikit-posthocs", "scikit_posthocs")
    if sp is not None:
        theirs, p = timed(lambda: (stats.friedmanchisquare(*x.T), sp.posthoc_nemenyi_friedman(x)), 3)
        gap = np.abs(p[1].to_numpy() - found[1].pvalues).max()
        rows.append(
            ["scipy + scikit-posthocs", theirs, ratio(theirs, seconds), f"{p[0].statistic:.4f} (p within {gap:.1e})"]
        )
    if rival("autorank") is not None:
        import pandas as pd
        from autorank import autorank

        frame = pd.DataFrame(x)
        frame.columns = [f"s{k}" for k in range(50)]
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):  # it prints a table of its own
            warnings.simplefilter("ignore")
            theirs, _ = timed(lambda: autorank(frame, verbose=False, force_mode="nonparametric"), 1)
        rows.append(["autorank", theirs, ratio(theirs, seconds), ""])
    show("Friedman + Nemenyi, 200 data sets × 50 systems", ["who", "seconds", "ratio", "statistic"], cells(rows))


def pairs() -> None:
    """All 4,950 pairs of 100 systems on 10,000 items, with simultaneous intervals and ranks."""
    rng = np.random.default_rng(3)
    skill = rng.uniform(-0.2, 0.6, 100)
    right = (rng.normal(size=(10_000, 100)) + rng.normal(size=(10_000, 1)) < skill).astype(float)
    on = strat.Design.clustered(units=np.arange(10_000) // 10)

    def ours() -> Any:
        found = comparison.many(right, on=on, higher_is_better=True)
        return found, found.intervals(), found.ranks()

    seconds, found = timed(ours, 1)

    def mcnemar() -> Any:
        from statsmodels.stats.contingency_tables import mcnemar as one

        p = []
        for a, b in zip(*np.triu_indices(20, 1), strict=True):
            table = np.histogram2d(right[:, a], right[:, b], bins=2)[0]
            p.append(one(table, exact=False).pvalue)
        return p

    few, _ = timed(mcnemar, 1)
    theirs = few * 4950 / 190
    t = found[0]
    rows = [
        ["strat: pairs, max-t intervals, ranks, 1,000 clusters", seconds, "1", f"{t.critical():.3f}"],
        ["statsmodels McNemar per pair (190 pairs, scaled), Bonferroni, rows independent", theirs,
         ratio(theirs, seconds), f"{stats.norm.isf(0.025 / 4950):.3f}"],
    ]  # fmt: skip
    show("All pairs of 100 systems on 10,000 items", ["who", "seconds", "ratio", "critical value"], cells(rows))


def randomization() -> None:
    """A paired randomization test of 10,000 items, 999 shuffles."""
    rng = np.random.default_rng(4)
    truth = np.ones(10_000, int)
    a, b = (rng.random(10_000) < p for p in (0.7, 0.69))
    on = strat.Design.simple_random(n=10_000)
    sa, sb = strat.accuracy(truth, a.astype(int)), strat.accuracy(truth, b.astype(int))
    seconds, found = timed(lambda: comparison.randomization(sa, sb, on=on, permutations=999), 3)
    rows = [["strat", seconds, "1", f"{found.pvalue:.3f}"]]
    if rival("mlxtend") is not None:
        from mlxtend.evaluate import permutation_test

        x, y = a.astype(float), b.astype(float)
        theirs, p = timed(lambda: permutation_test(x, y, method="approximate", num_rounds=999, seed=0, paired=True), 1)
        rows.append(["mlxtend permutation_test, paired", theirs, ratio(theirs, seconds), f"{p:.3f}"])
    show("Paired randomization, 10,000 items, 999 shuffles", ["who", "seconds", "ratio", "p"], cells(rows))


def type_one() -> None:
    """How often each test rejects at 5 % when no system is better: 40 clusters of 10 items."""
    rng = np.random.default_rng(5)
    unit = np.repeat(np.arange(40), 10)
    on = strat.Design.clustered(units=unit)
    truth, sims = np.ones(400, int), 1000
    hits = dict.fromkeys(("McNemar (1.10)", "paired t, rows independent", "McNemar, clustered", "paired, design"), 0)
    for _ in range(sims):
        lean = rng.normal(size=40)[unit]
        a, b = ((rng.normal(size=400) + sign * lean < 0.5).astype(int) for sign in (1, -1))
        found = comparison.paired(strat.accuracy(truth, a), strat.accuracy(truth, b), on=on, higher_is_better=True)
        assert found.independent is not None
        hits["McNemar (1.10)"] += comparison.mcnemar(truth, a, b).pvalue <= 0.05
        hits["paired t, rows independent"] += found.independent.test(0).pvalue <= 0.05
        hits["McNemar, clustered"] += comparison.mcnemar_clustered(truth, a, b, units=unit).pvalue <= 0.05
        hits["paired, design"] += found.pvalue <= 0.05
    show("Type-I error at 5 % under clusters", ["test", "rejected"], cells([[k, v / sims] for k, v in hits.items()]))


def boards() -> None:
    """A leaderboard of very many systems with its page and feed, in a fresh process."""
    code = """
import json, tempfile, time
from pathlib import Path
import numpy as np
import strat
rng = np.random.default_rng(0)
hard = rng.normal(size=ITEMS)
right = {f"s{k}": (rng.random(ITEMS) < 1 / (1 + np.exp(hard - a))).astype(float)
         for k, a in enumerate(rng.normal(0, 0.6, SYSTEMS))}
before, start = peak_mb(), time.process_time()
board = strat.compare(right, score=list(right))
compared = time.process_time() - start
str(board)
from strat.show.report import board_feed, board_page
with tempfile.TemporaryDirectory() as folder:
    page = board_page(board, Path(folder) / "board.html").stat().st_size
feed = len(json.dumps(board_feed(board)))
result = {"before": before, "compare": compared, "all": time.process_time() - start, "page": page, "feed": feed}
"""
    lines = []
    for systems, items in ((300, 1_000), (1_000, 10_000), (3_000, 10_000)):
        done = fresh(code.replace("SYSTEMS", str(systems)).replace("ITEMS", str(items)), timeout=1_800)
        if done is not None:
            lines.append(
                (f"{systems:,} × {items:,}", f"{done['compare']:.1f} s", f"{done['all']:.1f} s",
                 f"{done['before']:,.0f} MB", f"{done['peak_mb']:,.0f} MB", f"{done['page'] / 1e6:.2f} MB",
                 f"{done['feed'] / 1e6:.2f} MB")
            )  # fmt: skip
    head = ["systems × items", "compare", "with text, page and feed", "memory with the data", "peak", "page", "feed"]
    show("leaderboards (CPU seconds, fresh process)", head, lines)


def main() -> None:
    chance()
    post_hoc()
    pairs()
    randomization()
    type_one()
    boards()


if __name__ == "__main__":
    main()
