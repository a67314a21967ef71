"""How often a gate answers what, by the true loss: `python validation/gate_power.py [trials]` prints the docs' table.

Two systems answer the same items in clusters (both find the same clusters hard, and each has clusters of its own that
it finds hard), with accuracies 0.70 and 0.70 − loss, and a margin of 0.05. Beside the gate stands what a gate would say
that took rows for independent.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import numpy as np
from scipy.stats import norm

import strat

ACCURACY, MARGIN = 0.70, 0.05
DESIGNS = ((40, 10), (100, 10), (300, 5))
LOSSES = (-0.05, 0.0, 0.025, 0.05, 0.075, 0.10, 0.15)
ANSWERS = ("not worse", "worse", "can't tell")


def rows(rng: np.random.Generator, clusters: int, each: int, loss: float) -> dict[str, Any]:
    """Whether each of two systems is right, item by item."""
    cluster = np.repeat(np.arange(clusters), each)
    hard = rng.normal(size=clusters)[cluster]
    columns: dict[str, Any] = {"cluster": cluster}
    for name, share in (("old", ACCURACY), ("new", ACCURACY - loss)):
        own = 0.7 * rng.normal(size=clusters)[cluster]
        noise = rng.normal(size=len(cluster))
        columns[name] = (hard + own + noise < np.sqrt(2.49) * norm.ppf(share)).astype(float)
    return columns


def answers(trials: int, clusters: int, each: int, loss: float) -> tuple[Counter[str], Counter[str]]:
    """What the gate answers by cluster, and by row."""
    rng = np.random.default_rng([clusters, each, round(1000 * (loss + 1))])
    by_cluster, by_row = Counter[str](), Counter[str]()
    for _ in range(trials):
        data = rows(rng, clusters, each, loss)
        how: dict[str, Any] = {"score": ["old", "new"], "baseline": "old", "margin": MARGIN}
        by_cluster[strat.gate(data, units="cluster", **how).answer] += 1
        by_row[strat.gate(data, **how).answer] += 1
    return by_cluster, by_row


def main(trials: int) -> None:
    """Print the table."""
    print(
        "| clusters × items | true loss | not worse % | worse % | can't tell % | rows as independent: not worse, "
        "worse % |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for clusters, each in DESIGNS:
        for loss in LOSSES:
            own, naive = answers(trials, clusters, each, loss)
            shares = " | ".join(f"{100 * own[answer] / trials:.1f}" for answer in ANSWERS)
            rest = ", ".join(f"{100 * naive[answer] / trials:.1f}" for answer in ANSWERS[:2])
            print(f"| {clusters} × {each} | {loss:g} | {shares} | {rest} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
