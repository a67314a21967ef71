"""How often a nominal 95 % interval of a benchmark's score is right, by how the standard error was made.

A benchmark like MMLU: 57 subjects (fixed), clusters of 5 items drawn within them, 5 tries per item; the logit of an
item's chance is that of its subject, plus its cluster (sd 0.8), plus its own (sd 1.5). What the harnesses print is
wrong in a known way: one stratifies and ignores clusters, the other clusters and ignores strata.

    python -m examples.benchmarks.coverage [--repeats 1500] [--picture coverage.png]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit, ndtri, roots_hermitenorm

import strat
from strat.show.render import Sheet, plain_text

SUBJECTS, CLUSTER, TRIES = 57, 5, 5
CLUSTER_SD, ITEM_SD = 0.8, 1.5


@dataclass(frozen=True)
class World:
    """The subjects' levels and sizes: what stays fixed while items are drawn again and again."""

    level: np.ndarray
    clusters: np.ndarray

    @property
    def truth(self) -> float:
        """The expected score over all items of this kind, by Gauss-Hermite quadrature."""
        nodes, weights = roots_hermitenorm(60)
        spread = np.hypot(CLUSTER_SD, ITEM_SD)
        by_subject = expit(self.level[:, None] + spread * nodes) @ weights / weights.sum()
        return float(np.average(by_subject, weights=self.clusters))


def world(seed: int = 1) -> World:
    """57 subjects with unequal sizes, about 560 clusters of 5 items in all."""
    rng = np.random.default_rng(seed)
    sizes = np.maximum(2, np.round(rng.lognormal(2.0, 0.65, SUBJECTS))).astype(int)
    return World(rng.normal(0.9, 0.75, SUBJECTS), sizes)


def draws(made: World, repeats: int, seed: int = 2) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Scores of the items (share of tries that were right), with their clusters and subjects."""
    rng = np.random.default_rng(seed)
    subject = np.repeat(np.arange(SUBJECTS), made.clusters)
    cluster = np.repeat(np.arange(len(subject)), CLUSTER)
    for _ in range(repeats):
        logit = made.level[subject] + rng.normal(0, CLUSTER_SD, len(subject))
        chance = expit(logit[cluster] + rng.normal(0, ITEM_SD, len(cluster)))
        yield rng.binomial(TRIES, chance) / TRIES, cluster, subject[cluster]


def simulate(repeats: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Names of the methods, share of intervals that cover, mean width in points."""
    made = world()
    truth = made.truth
    names: list[str] = []
    hits, widths = np.zeros(6), np.zeros(6)
    for score, cluster, subject in draws(made, repeats):
        found = intervals(score, cluster, subject)
        names = list(found)
        limits = np.array(list(found.values()))
        hits += (limits[:, 0] <= truth) & (truth <= limits[:, 1])
        widths += limits[:, 1] - limits[:, 0]
    return names, hits / repeats, 100 * widths / repeats


def intervals(score: np.ndarray, cluster: np.ndarray, subject: np.ndarray) -> dict[str, tuple[float, float]]:
    """The same scores under six designs; only the last one is how they were drawn."""
    n = len(score)
    value = float(score.mean())
    rows = np.sqrt(value * (1 - value) / (n * TRIES - 1)) * ndtri(0.975)
    designs = {
        "items as independent": strat.Design.simple_random(n=n),
        "stratified, no clusters": strat.Design.stratified(subject),
        "clustered, no strata": strat.Design.clustered(cluster),
        "clustered by subject": strat.Design.clustered(subject),
        "stratified clusters": strat.Design.stratified(subject, units=cluster),
    }
    found = {"tries as independent": (value - rows, value + rows)}
    for name, design in designs.items():
        found[name] = strat.estimate(strat.mean(score), on=design).interval()
    return found


def main() -> None:
    """Print the table, and draw it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=1500)
    parser.add_argument("--picture", type=Path)
    asked = parser.parse_args()
    names, coverage, width = simulate(asked.repeats)
    error = 100 * np.sqrt(0.95 * 0.05 / asked.repeats)
    rows = [
        (name, f"{100 * c:.1f} %", f"{w:.2f}", f"{w / width[-1]:.2f}")
        for name, c, w in zip(names, coverage, width, strict=True)
    ]
    title = f"{SUBJECTS} subjects, clusters of {CLUSTER} items, {TRIES} tries; nominal 95 %, {asked.repeats} benchmarks"
    notes = [f"simulation error of a coverage of 95 %: {error:.1f} points"]
    print(
        plain_text(
            Sheet("", ["standard error from", "covers", "width (points)", "times the right width"], rows, title, notes)
        )
    )
    if asked.picture is not None:
        picture(names, coverage, width, asked.picture)


def picture(names: list[str], coverage: np.ndarray, width: np.ndarray, path: Path) -> None:
    """Coverage against width: right is on the line, narrow is to the left."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
    ax.axhline(95, color="#000000", lw=0.8, ls="--")
    colours = ["#D55E00", "#E69F00", "#CC79A7", "#56B4E9", "#999999", "#009E73"]
    for name, c, w, colour in zip(names, 100 * coverage, width / width[-1], colours, strict=True):
        ax.scatter(w, c, color=colour, s=60, zorder=3)
        ax.annotate(name, (w, c), xytext=(7, -9), textcoords="offset points", fontsize=8)
    ax.set_xscale("log")
    ax.set_xlim(0.45, 3.2)
    ax.set_ylim(68, 101.5)
    ax.set_xticks([0.5, 1, 2, 3], ["0.5", "1", "2", "3"])
    ax.minorticks_off()
    ax.set_xlabel("width of the interval, in widths of the right one")
    ax.set_ylabel("covers the truth (%)")
    ax.set_title("What an interval of a benchmark score is worth (nominal 95 %)", fontsize=10)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
