"""How the methods that STRAT compares fare on real scores with a known truth: the meta-evaluation that it hopes for.

``python -m validation.meta_evaluation FOLDER [SAMPLES]`` prints the table of docs/validation.md. The hits at rank 1 of
all images of FERET and of LFW (`feret_scores.npz` and `lfw_embeddings.npz` in the folder) are the population. Each
sample draws subjects, and from the images of each as many as there are units, all with replacement; a subject is a
stratum, an image a unit. The truth of these subjects is the mean over all their images, that of the population the
mean over all subjects. The gallery is held: the first image of every subject.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform
from scipy.special import ndtri

import strat
from strat.recognition import image_array, ranks, ranks_of_embeddings

Array = np.ndarray[Any, np.dtype[Any]]
STRATA, UNITS = (6, 25, 100), (2, 3)
SAMPLES, BATCH, BOOTSTRAPS, TRIALS = 4000, 100, 400, 400
Z = float(ndtri(0.975))
METHODS = ("closed form", "BRR", "Fay", "JKn", "bootstrap", "rows", "Beveridge")
ADDED, RATIO = 0.02, "errors of A over those of B"  # a share added to both, so that no replicate divides by zero
MEASURES: dict[str, Callable[[Array, Array], Array]] = {
    "rate of A": lambda a, b: a,
    "A − B": lambda a, b: a - b,
    RATIO: lambda a, b: (1 - a + ADDED) / (1 - b + ADDED),
}


@dataclass(frozen=True)
class Population:
    """Whether two systems find each image of each subject at rank 1: hits are systems × subjects × most images."""

    hits: Array
    sizes: Array

    @property
    def rates(self) -> Array:
        """Systems × subjects."""
        return self.hits.sum(axis=2) / self.sizes

    def draw(self, strata: int, units: int, number: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Hits, systems × samples × strata × units, and the rates of the drawn subjects, systems × samples × strata."""
        who = rng.integers(0, len(self.sizes), (number, strata))
        image = (rng.random((number, strata, units)) * self.sizes[who][..., None]).astype(int)
        return self.hits[:, who[..., None], image], self.rates[:, who]


def feret(folder: Path) -> Population:
    """150 subjects that no system was trained on, six images each; A is LBP, B whitened PCA."""
    z = np.load(folder / "feret_scores.npz")
    rows = np.flatnonzero(~np.isin(z["subject"], z["subject"][z["pca_training"] > 0]))
    array = image_array(z["subject"][rows], per_subject=7, images=z["image"][rows]).rows
    probes, gallery = rows[array[:, 1:].reshape(-1)], rows[array[:, 0]]
    tables = (squareform(z[key])[np.ix_(probes, gallery)] for key in ("lbp_chi2", "pca_mahcos"))
    who = {"probes": z["subject"][probes], "gallery": z["subject"][gallery]}
    hits = [ranks(similarity=table, **who).rank().reshape(len(array), 6) == 1 for table in tables]
    return Population(np.array(hits, float), np.full(len(array), 6))


def lfw(folder: Path) -> Population:
    """158 subjects of ten images or more; A is dlib's network, B LBP. All 1,680 of two or more are enrolled."""
    z = np.load(folder / "lfw_embeddings.npz")
    who = z["subject"]
    first = np.unique(who, return_index=True)[1]
    counts = np.bincount(who)
    enrolled = first[counts[who[first]] > 1]
    probes = np.setdiff1d(np.flatnonzero(counts[who] >= 10), first)
    labels = {"probe_subjects": who[probes], "gallery_subjects": who[enrolled]}
    owner = np.unique(who[probes], return_inverse=True)[1]
    sizes = np.bincount(owner)
    hits = np.zeros((2, len(sizes), sizes.max()))
    place = np.arange(len(owner)) - np.concatenate([[0], np.cumsum(sizes)[:-1]])[owner]
    for k, (key, score) in enumerate((("dlib128", "euclidean"), ("lbp128", "inner"))):
        x = z[key].astype("f4")
        hits[k, owner, place] = ranks_of_embeddings(x[probes], x[enrolled], score=score, **labels).rank() == 1
    return Population(hits, sizes)


def intervals(hits: Array, seed: int) -> Iterator[tuple[str, str, Array, Array]]:
    """Each measure and method with the limits of each sample: hits are systems × samples × strata × units."""
    _, number, strata, units = hits.shape
    rows = hits.reshape(2 * number, strata * units)
    shares = strat.stack("sample", **{str(k): strat.proportion(row) for k, row in enumerate(rows)})
    subject = np.repeat(np.arange(strata), units)
    design = strat.Design.stratified(strata=subject, units=np.tile(np.arange(units), strata), nested=True)
    ways = {
        "closed form": design,
        "BRR": strat.brr(design),
        "Fay": strat.fay(design),
        "JKn": strat.jackknife(design),
        "bootstrap": strat.bootstrap(design, replicates=BOOTSTRAPS, rng=seed),
        "subjects": strat.Design.clustered(units=subject),
    }
    estimates = {name: strat.estimate(shares, on=on) for name, on in ways.items()}
    for measure, function in MEASURES.items():
        for name, both in estimates.items():
            of_each = both.map(lambda v, f=function: f(v[..., :number], v[..., number:]))
            low, high = both.interval() if measure == "rate of A" else of_each.interval()
            yield measure, name, np.asarray(low)[:number], np.asarray(high)[:number]
        if measure != RATIO:
            yield measure, "rows", *of_rows(hits, measure)
        yield measure, "Beveridge", *resampled(hits, function, seed)


def of_rows(hits: Array, measure: str) -> tuple[Array, Array]:
    """Limits that take rows for independent: Wilson's of a rate, and those of a difference from McNemar's counts."""
    a, b = hits.reshape(2, hits.shape[1], -1)
    n = a.shape[1]
    if measure == "rate of A":
        return strat.score_interval(a.sum(axis=1), n)
    gap, discordant = (a - b).mean(axis=1), (a != b).mean(axis=1)
    half = Z * np.sqrt((discordant - gap**2) / n)
    return gap - half, gap + half


def resampled(hits: Array, function: Callable[[Array, Array], Array], seed: int) -> tuple[Array, Array]:
    """Beveridge's percentiles: each trial takes one image of each subject at random."""
    _, number, strata, units = hits.shape
    rng = np.random.default_rng([seed, 1])
    values = np.empty((TRIALS, number))
    for trial in range(TRIALS):
        taken = np.take_along_axis(hits, rng.integers(0, units, (1, number, strata, 1)), axis=3)
        values[trial] = function(*taken[..., 0].mean(axis=2))
    low, high = np.quantile(values, [0.025, 0.975], axis=0)
    return low, high


def of_cell(population: Population, strata: int, units: int, samples: int) -> dict[str, dict[str, Array]]:
    """For each measure and method: coverage of these subjects and of the population, and width, in points."""
    counted: dict[str, dict[str, Array]] = {name: {} for name in MEASURES}
    rng = np.random.default_rng([strata, units, len(population.sizes)])
    batches = samples // BATCH
    for batch in range(batches):
        hits, rates = population.draw(strata, units, BATCH, rng)
        for measure, method, low, high in intervals(hits, batch):
            of_these = MEASURES[measure](*rates.mean(axis=2))
            of_all = MEASURES[measure](*population.rates.mean(axis=1))
            covers = [(low <= truth + 1e-12) & (high >= truth - 1e-12) for truth in (of_these, of_all)]
            means = 100 * np.array([*(c.mean() for c in covers), (high - low).mean()])
            counted[measure][method] = counted[measure].get(method, 0) + means / batches
    return counted


def _cell(found: dict[str, Array], method: str, target: int) -> str:
    return f"{found[method][target]:.1f} ({found[method][2]:.1f})" if method in found else "–"


def main(folder: Path, samples: int) -> None:
    """Print the table, a line for each measure, data set and number of strata and units."""
    print(
        "| data, strata × units | " + " | ".join(METHODS) + " | BRR, all subjects | subjects as units, all subjects |"
    )
    print("| --- |" + " ---: |" * (len(METHODS) + 2))
    cells = {
        f"{name}, {strata} × {units}": of_cell(population, strata, units, samples)
        for name, population in (("FERET", feret(folder)), ("LFW", lfw(folder)))
        for strata in STRATA
        for units in UNITS
    }
    for measure in MEASURES:
        print(f"| **{measure}** |" + " |" * (len(METHODS) + 2))
        for name, found in cells.items():
            own = [_cell(found[measure], method, 0) for method in METHODS]
            print(
                f"| {name} | " + " | ".join([*own, *(_cell(found[measure], m, 1) for m in ("BRR", "subjects"))]) + " |"
            )


if __name__ == "__main__":
    given = sys.argv[1] if len(sys.argv) > 1 else str(Path(os.environ.get("STRAT_SHARED", "../shared")) / "data")
    main(Path(given), int(sys.argv[2]) if len(sys.argv) > 2 else SAMPLES)
