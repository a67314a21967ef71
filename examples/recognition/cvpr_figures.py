"""The seven figures of CVPR section 5, redrawn.

    python examples/recognition/cvpr_figures.py [FOLDER]

With the shared data (the folder named by STRAT_SHARED, or ../shared) the systems are eigenfaces with the Euclidean
distance (PCA-L2), whitened eigenfaces with the cosine (PCA-MahCos) and local binary patterns (LBP) on the 150 subjects
of FERET that no system was trained on. Without it, three generated recognisers stand in. Prints what each figure shows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import strat
from strat.datasets import recognizer
from strat.recognition import (
    ImageArray,
    System,
    cms_of,
    compare_methods,
    compare_systems,
    compare_units,
    gallery_effect,
    image_array,
    permutations,
    run,
    system_of_embeddings,
    system_of_scores,
)
from strat.recognition.experiment import MethodComparison, places

Arrays = Callable[[int], ImageArray]


def main(folder: str = "examples/recognition/figures") -> None:
    """Draw all seven, and say in words what they show."""
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    systems, arrays, source = load()
    print(source)
    for number, draw in enumerate((figure_1, figure_2, figure_3, figure_4, figure_5, figure_6, figure_7), 1):
        ax, words = draw(systems, arrays)
        ax.set_title(f"Figure {number}. {words.split('. ')[0]}", fontsize=9, loc="left")
        ax.figure.savefig(out / f"cvpr_{number}.png", dpi=110)
        plt.close(ax.figure)
        print(f"Figure {number}: {words}")


def load() -> tuple[list[System], Arrays, str]:
    """Three systems, and the array of n images per subject."""
    shared = Path(os.environ.get("STRAT_SHARED", Path(__file__).resolve().parents[3] / "shared"))
    file = shared / "data" / "feret_scores.npz"
    if file.exists():
        return from_feret(file)
    data = [recognizer(subjects=200, images=7, noise=noise, rng=4) for noise in (1.6, 1.4, 1.2)]
    who = data[0].subject
    names = ("weak", "middling", "strong")
    systems = [
        system_of_embeddings(name, d.embeddings, subjects=who, score="cosine")
        for name, d in zip(names, data, strict=True)
    ]
    return systems, lambda n: image_array(who, per_subject=n), "generated recognisers: 200 subjects × 7 images"


def from_feret(file: Path) -> tuple[list[System], Arrays, str]:
    """FERET: 150 subjects × 7 images, tested outside the PCA's training subjects."""
    from scipy.spatial.distance import squareform

    z = np.load(file)
    who, rows = z["subject"], np.flatnonzero(~np.isin(z["subject"], z["subject"][z["pca_training"] > 0]))
    names = {"PCA-L2": "pca_l2", "PCA-MahCos": "pca_mahcos", "LBP": "lbp_chi2"}
    systems = [system_of_scores(name, similarity=squareform(z[key]), subjects=who) for name, key in names.items()]

    def arrays(n: int) -> ImageArray:
        made = image_array(who[rows], per_subject=n, images=z["image"][rows])
        return ImageArray(rows[made.rows], made.subjects)

    return systems, arrays, f"FERET scores: {len(np.unique(who[rows]))} subjects × 7 images"


def figure_1(systems: list[System], arrays: Arrays) -> tuple[plt.Axes, str]:
    """The traditional curve: one gallery, one probe set, linear axis, no errors."""
    array = arrays(3)
    _, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    at = np.arange(1, array.shape[0] + 1)
    first = {}
    for system, color in zip(systems, ("#0072B2", "#D55E00", "#009E73"), strict=True):
        curve = cms_of(run(system, array, probes=[1]).ranks, at=at).value()
        first[system.name] = curve[0]
        ax.plot(at, curve, color=color, label=system.name)
    ax.set_xlabel(f"rank (N = {array.shape[0]})")
    ax.set_ylabel("cumulative match score")
    ax.legend(frameon=False, loc="lower right")
    rates = ", ".join(f"{name} {rate:.3f}" for name, rate in first.items())
    return ax, (
        f"Traditional CMS curves say nothing about errors. Rank-1 rates {rates} from one probe each; whether they "
        "differ by more than chance cannot be seen, and the linear axis squeezes the low ranks into the left edge."
    )


def figure_2(systems: list[System], arrays: Arrays) -> tuple[plt.Axes, str]:
    """The gallery effect of the last system."""
    effect = gallery_effect(systems[-1], arrays(3))
    return effect.plot(), f"The gallery effect ({systems[-1].name}, 2 units, BRR ± 2 se). {effect.test()}."


def figure_3(systems: list[System], arrays: Arrays) -> tuple[plt.Axes, str]:
    """BRR, jackknife and bootstrap, and the latter two without strata, as CVPR used them."""
    made = run(systems[-1], arrays(4), gallery=1)
    found = compare_methods(made)
    flat = strat.Design.simple_random(n=len(made.ranks))
    statistic = cms_of(made.ranks, at=places(made.ranks.gallery_size))
    replicates = {"jackknife, no strata": strat.jackknife(flat), "bootstrap, no strata": strat.bootstrap(flat)}
    estimates = dict(found.estimates) | {k: strat.estimate(statistic, on=on) for k, on in replicates.items()}
    numbers = dict(found.replicates) | {k: on.number for k, on in replicates.items()}
    both = MethodComparison(estimates, numbers, found.gallery_size)
    low = np.asarray(estimates["brr"].axes[-1].labels) <= 0.1 * found.gallery_size
    ratio = np.mean(estimates["brr"].variance[low] / estimates["jackknife, no strata"].variance[low])
    same = np.abs(both.se("brr") - both.se("jackknife")).max()
    return both.plot(), (
        f"Standard errors by method ({systems[-1].name}, 3 units, gallery 2). BRR with {numbers['brr']} replicates and "
        f"the stratified jackknife with {numbers['jackknife']} agree to {same:.0e}; the bootstrap adds its own noise. "
        f"Over relative ranks up to 0.1 the variance with strata is {ratio:.2f} times that without: CVPR's 20 % came "
        "from strata, not from BRR, and is there where a subject's images are alike."
    )


def figure_4(systems: list[System], arrays: Arrays) -> tuple[plt.Axes, str]:
    """The same as figure 2 after systematic mixing."""
    effect = gallery_effect(systems[-1], arrays(3).mixed())
    return effect.plot(), (
        f"Mixing removes the gallery effect ({systems[-1].name}). {effect.test()}. All rates are lower than before: a "
        "gallery of one kind of image is easier to search than one of several kinds."
    )


def figure_5(systems: list[System], arrays: Arrays) -> tuple[plt.Axes, str]:
    """Two against three units with the same strata."""
    found = compare_units(systems[-1], arrays(4).mixed(), gallery=1)
    variances = {name: float(e.variance[0]) for name, e in found.estimates.items()}
    three, *two = variances.values()
    return found.plot(variance=True), (
        f"Variance with 3 units and with 2 of them, the same strata ({systems[-1].name}, mixed). At rank 1 three units "
        f"have {three:.2e}, two have {', '.join(f'{v:.2e}' for v in two)}, {np.mean(two):.2e} on average: half as "
        "many images again, and on average less variance; a single pair of columns can be lucky."
    )


def _three(systems: list[System], arrays: Arrays, n: int) -> tuple[plt.Axes, str]:
    array = arrays(n).mixed()
    curve = compare_systems(systems, array)
    ax = curve.plot(axis="log")
    gaps = []
    for worse, better in zip(curve.systems, curve.systems[1:], strict=False):
        gap = curve.difference(better, worse)
        low, high = (np.asarray(side) for side in gap.band())
        at = np.asarray(gap.axes[-1].labels)
        where = "; ".join(
            f"{word} at ranks {at[side].min()} to {at[side].max()}"
            for word, side in (("better", low > 0), ("worse", high < 0))
            if side.any()
        )
        gaps.append(
            f"{better} − {worse} at rank 1 {gap.value[0]:+.3f} (se {gap.se[0]:.3f}), {where or 'no band beyond 0'}"
        )
    beveridge = permutations(systems[-1], array, number=200, at=[1])
    return ax, (
        f"Three systems with errors, {n - 1} units, mixed strata. {'; '.join(gaps)}. Beveridge's permutation gives "
        f"{systems[-1].name} {beveridge.mean[0]:.3f} with standard deviation {beveridge.se[0]:.3f} (200 trials of one "
        "probe each)."
    )


def figure_6(systems: list[System], arrays: Arrays) -> tuple[plt.Axes, str]:
    """Three systems, two units."""
    return _three(systems, arrays, 3)


def figure_7(systems: list[System], arrays: Arrays) -> tuple[plt.Axes, str]:
    """Three systems, three units."""
    return _three(systems, arrays, 4)


if __name__ == "__main__":
    main(*sys.argv[1:])
