"""Type-I errors of our tests on scores like those of TREC's ad hoc runs, beside published ones of the same tests.

``python -m validation.trec`` prints the table of docs/howto/fields.md; the data is read from $STRAT_SHARED.

A pair of systems is drawn that have the same mean over all topics: the scores of two real runs of one track (the second
is one of the ten nearest to the first) are taken as their margins, the second raised to the power that gives it the
mean of the first, and joined by a normal copula with the runs' own τ. Fifty topics are drawn from that pair.
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy

import strat
from strat import comparison as c

TRACKS = ("adhoc5_ap", "adhoc6_ap", "adhoc7_ap", "adhoc8_ap")
TOPICS, SHUFFLES, NEAREST = 50, 499, 10
GRID = (np.arange(2000) + 0.5) / 2000
DESIGN = strat.Design.simple_random(n=TOPICS)

Array = np.ndarray
Test = Callable[[Array, Array, np.random.Generator], float]


def folder() -> Path:
    """Where the scores are."""
    return Path(os.environ.get("STRAT_SHARED", "../shared")) / "data/fields/trec"


def tracks(where: Path) -> list[Array]:
    """Topics × runs of each track; runs that find nothing are left out."""
    tables = []
    for name in TRACKS:
        with (where / f"{name}.csv").open() as file:
            scores = np.array([[float(value) for value in row] for row in list(csv.reader(file))[1:]])
        tables.append(scores[:, scores.mean(axis=0) > 0.01])
    return tables


def pair_with_equal_means(scores: Array, rng: np.random.Generator) -> tuple[Array, Array, float, float]:
    """Sorted scores of two runs, the power that gives the second one the mean of the first, and their correlation."""
    means = scores.mean(axis=0)
    first = int(rng.integers(scores.shape[1]))
    second = int(rng.choice(np.argsort(np.abs(means - means[first]))[1 : NEAREST + 1]))
    a, b = (np.sort(scores[:, run]) for run in (first, second))
    wanted, margin = _quantile(a, GRID).mean(), _quantile(b, GRID)
    power = scipy.optimize.brentq(lambda g: (margin**g).mean() - wanted, 0.01, 50.0)
    tau = scipy.stats.kendalltau(scores[:, first], scores[:, second])[0]
    return a, b, float(power), float(np.sin(np.pi * tau / 2))


def _quantile(ordered: Array, share: Array) -> Array:
    places = (np.arange(len(ordered)) + 0.5) / len(ordered)
    return np.interp(share, places, ordered)


def topics(scores: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Scores of two systems with the same mean on topics that were drawn."""
    a, b, power, correlation = pair_with_equal_means(scores, rng)
    z = rng.standard_normal((2, TOPICS))
    share = scipy.special.ndtr([z[0], correlation * z[0] + np.sqrt(1 - correlation**2) * z[1]])
    return _quantile(a, share[0]), _quantile(b, share[1]) ** power


def _paired(a: Array, b: Array, rng: np.random.Generator) -> float:
    return c.paired(strat.mean(a), strat.mean(b), on=DESIGN, higher_is_better=True).pvalue


def _bootstrap(a: Array, b: Array, rng: np.random.Generator) -> float:
    seed = int(rng.integers(1 << 31))
    return strat.estimate(strat.mean(a - b), on=strat.bootstrap(DESIGN, replicates=SHUFFLES, rng=seed)).test(0).pvalue


def _shuffled(a: Array, b: Array, rng: np.random.Generator) -> float:
    seed = int(rng.integers(1 << 31))
    return c.randomization(strat.mean(a), strat.mean(b), on=DESIGN, permutations=SHUFFLES, rng=seed).pvalue


TESTS: dict[str, tuple[str, Test]] = {
    "Student's t (`paired`)": ("t2", _paired),
    "Wilcoxon (`signed_rank`)": ("w2", lambda a, b, _: c.signed_rank(a, b).pvalue),
    "sign (`sign`)": ("s2", lambda a, b, _: c.sign(a, b).pvalue),
    "bootstrap (`bootstrap`)": ("b2", _bootstrap),
    "permutation (`randomization`)": ("p2", _shuffled),
}


def pvalues(samples: int, seed: int = 1) -> dict[str, Array]:
    """p-values of each test where the null is true."""
    rng, tables = np.random.default_rng(seed), tracks(folder())
    rows = []
    for _ in range(samples):
        a, b = topics(tables[rng.integers(len(tables))], rng)
        rows.append([test(a, b, rng) for _, test in TESTS.values()])
    return dict(zip(TESTS, np.array(rows).T, strict=True))


def published() -> dict[float, dict[str, float]]:
    """From a level to the published type-I error of each test."""
    with (folder() / "published_type_1_ap_50.csv").open() as file:
        return {float(row["alpha"]): {k: float(v) for k, v in row.items()} for row in csv.DictReader(file)}


def main(samples: int = 2000) -> None:
    """Print the table."""
    levels, known, drawn = (0.01, 0.05, 0.1), published(), pvalues(samples)
    print("| test | " + " | ".join(f"at {100 * a:g} %, here | published" for a in levels) + " |")
    print("| --- |" + " --- |" * (2 * len(levels)))
    for name, (column, _) in TESTS.items():
        cells = [f"{100 * (drawn[name] <= a).mean():.1f} | {100 * known[a][column]:.1f}" for a in levels]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
