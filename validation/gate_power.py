"""How often a gate answers what: `python validation/gate_power.py [trials]`; `wrong [trials]` prints the second table.

Two systems answer the same items in clusters (both find the same clusters hard, and each has clusters of its own that
it finds hard), with accuracies 0.70 and 0.70 − loss, and a margin of 0.05. The first table of the docs is by the true
loss; beside the gate stands what a gate would say that took rows for independent. The second one is for a loss of
exactly the margin, where both claims are wrong, and for rarer errors; `note` says how often the gate notes that the
differences or the errors of the clusters are skewed.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from typing import Any

import numpy as np
from scipy.stats import norm

import strat
from strat.comparison.paired_shares import Discordance
from strat.designs import Design
from strat.estimation.cautions import skewed_units
from strat.measures.student import critical

ACCURACY, MARGIN = 0.70, 0.05
DESIGNS = ((40, 10), (100, 10), (300, 5))
LOSSES = (-0.05, 0.0, 0.025, 0.05, 0.075, 0.10, 0.15)
ANSWERS = ("not worse", "worse", "can't tell")
LAYOUTS = (
    (40, 10, 0.70), (100, 10, 0.70), (300, 5, 0.70), (40, 10, 0.90), (40, 10, 0.95), (100, 10, 0.95), (40, 10, None),
    (60, 8, 0.75), (25, 20, 0.96), (80, 6, 0.93), (60, 5, None),  # not looked at to choose what is noted
)  # fmt: skip
FEW = 0.2  # the share of clusters that hold all errors where no accuracy is given
ASKED = 5  # samples of each layout whose answer is compared with what `strat.gate` says


def rows(rng: np.random.Generator, clusters: int, each: int, loss: float, accuracy: float = ACCURACY) -> dict[str, Any]:
    """Whether each of two systems is right, item by item."""
    cluster = np.repeat(np.arange(clusters), each)
    hard = rng.normal(size=clusters)[cluster]
    columns: dict[str, Any] = {"cluster": cluster}
    for name, share in (("old", accuracy), ("new", accuracy - loss)):
        own = 0.7 * rng.normal(size=clusters)[cluster]
        noise = rng.normal(size=len(cluster))
        columns[name] = (hard + own + noise < np.sqrt(2.49) * norm.ppf(share)).astype(float)
    return columns


def rare(rng: np.random.Generator, clusters: int, each: int) -> dict[str, Any]:
    """Accuracies 0.95 and 0.90, where all errors are in a fifth of the clusters."""
    cluster = np.repeat(np.arange(clusters), each)
    hard = (rng.random(clusters) < FEW)[cluster]
    errors = {name: hard & (rng.random(len(cluster)) < rate / FEW) for name, rate in (("old", 0.05), ("new", 0.10))}
    return {"cluster": cluster, **{name: 1.0 - wrong for name, wrong in errors.items()}}


def claim(data: dict[str, Any], clusters: int, *, by_row: bool = False) -> str:
    """What the gate answers: its own parts, without the tables around them."""
    old, new = (data[name].reshape(clusters, -1) for name in ("old", "new"))
    alone, other = float(((1 - old) * new).mean()), float(((1 - new) * old).mean())
    df = math.inf if by_row else clusters - 1.0
    parts = Discordance(np.array([[0.0, alone], [other, 0.0]]), float(old.size), float(old.size) if by_row else None)
    gap = new.mean(axis=1) - old.mean(axis=1)
    t = float(parts.of_first_two(float(gap.var(ddof=1)) / clusters, df).statistic(-MARGIN))
    limit = critical(0.90, df)
    return ANSWERS[0] if t > limit else ANSWERS[1] if t < -limit else ANSWERS[2]


def skewed(data: dict[str, Any], clusters: int) -> bool:
    """Whether the gate notes skewed clusters: their differences, or the errors of both systems."""
    new, old = (data[name].reshape(clusters, -1).mean(axis=1) for name in ("new", "old"))
    design = Design.simple_random(n=clusters)
    parts = (new - old, new + old)
    return any(skewed_units(part - part.mean(), np.ones(clusters), design) is not None for part in parts)


def check(data: dict[str, Any], clusters: int) -> None:
    """Fail unless the gate itself says the same."""
    how: dict[str, Any] = {"score": ["old", "new"], "baseline": "old", "margin": MARGIN}
    asked = strat.gate(data, units="cluster", **how)
    noted = "skewed-units" in {note.code for note in asked.notes}
    assert (asked.answer, noted) == (claim(data, clusters), skewed(data, clusters))
    assert strat.gate(data, **how).answer == claim(data, clusters, by_row=True)


def answers(trials: int, clusters: int, each: int, loss: float) -> tuple[Counter[str], Counter[str]]:
    """What the gate answers by cluster, and by row."""
    rng = np.random.default_rng([clusters, each, round(1000 * (loss + 1))])
    by_cluster, by_row = Counter[str](), Counter[str]()
    for k in range(trials):
        data = rows(rng, clusters, each, loss)
        if k < ASKED:
            check(data, clusters)
        by_cluster[claim(data, clusters)] += 1
        by_row[claim(data, clusters, by_row=True)] += 1
    return by_cluster, by_row


def wrong(trials: int) -> None:
    """Print how often each claim is made where both are wrong."""
    print("| clusters × items | accuracies | not worse % | worse % | note % | not worse, without a note % |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for clusters, each, accuracy in LAYOUTS:
        rng = np.random.default_rng([clusters, each, round(100 * (accuracy or 0.0))])
        said = Counter[str]()
        for k in range(trials):
            data = rows(rng, clusters, each, MARGIN, accuracy) if accuracy else rare(rng, clusters, each)
            if k < ASKED:
                check(data, clusters)
            answer, noted = claim(data, clusters), skewed(data, clusters)
            said.update([answer] + ["note"] * noted + ["unnoted"] * (answer == ANSWERS[0] and not noted))
        shares = " | ".join(f"{100 * said[name] / trials:.1f}" for name in ("not worse", "worse", "note", "unnoted"))
        kind = (
            f"{accuracy:.2f}, {accuracy - MARGIN:.2f}" if accuracy else "0.95, 0.90, errors in a fifth of the clusters"
        )
        print(f"| {clusters} × {each} | {kind} | {shares} |", flush=True)


def power(trials: int) -> None:
    """Print the answers by the true loss."""
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


def main(arguments: list[str]) -> None:
    """Print the table that is asked for."""
    table = wrong if "wrong" in arguments else power
    numbers = [int(word) for word in arguments if word.isdigit()]
    table(numbers[0] if numbers else 1000)


if __name__ == "__main__":
    main(sys.argv[1:])
