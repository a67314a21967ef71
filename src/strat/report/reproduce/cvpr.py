"""CVPR: ranks, cumulative match scores, the gallery effect, and the seven figures on the data that there is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from strat import algebra
from strat.designs import Design
from strat.estimation import Estimate, estimate
from strat.recognition import (
    ImageArray,
    System,
    cms_of,
    compare_methods,
    compare_systems,
    compare_units,
    gallery_effect,
    image_array,
    ranks,
    run,
    system_of_embeddings,
    system_of_scores,
)
from strat.replication import bootstrap, brr, jackknife
from strat.report.reproduce.entries import Entry, Found, Setting, Value
from strat.report.reproduce.strat import signs
from strat.statistics import cms

FILE = "feret_scores.npz"
COLOURS = ("#0072B2", "#D55E00", "#009E73")
PRINTED_8 = ("++-+---", "+-+---+", "+----++", "---++-+", "--++-+-", "-++--+-", "-++----", "+++++++")
Arrays = Callable[[int], ImageArray]
Experiment = tuple[list[System], Arrays, str]


def array_8(setting: Setting) -> Found:
    """The 8 × 7 array as CVPR prints it."""
    printed = signs(PRINTED_8)
    said = "yes" if algebra.is_orthogonal(printed) else "no"
    return Found((Value("the printed array is orthogonal", "yes", said, erratum=5),))


def score_235(setting: Setting) -> Found:
    """235 of 256 probes within rank 3."""
    found = np.repeat([3, 9], [235, 21])
    value = cms(found, up_to=3).value()[2]
    return Found((Value("CMS(E, 3)", 0.918, float(value), 5e-4),))


def tied_rank(setting: Setting) -> Found:
    """The rank of a probe counts scores greater than or equal to its own class's."""
    made = ranks(similarity=[[5, 5, 1]], probes=["b"], gallery=["a", "b", "c"])
    value = Value("rank of a probe whose class ties with one stranger", 2, int(made.rank()[0]))
    return Found((value,), ("Ties count against the system (erratum 9).",))


def numbers(setting: Setting) -> Found:
    """How many replicates each method used for 256 strata of three units."""
    design = Design.stratified(strata=np.repeat(np.arange(256), 3), units=np.tile([1, 2, 3], 256))
    values = (
        Value("BRR", 256, brr(design).number, erratum=8),
        Value("jackknife", 768, jackknife(design).number),
        Value("bootstrap", 1000, bootstrap(design).number),
    )
    return Found(values)


# ---- the figures: FERET's images are not free, its scores by three systems are in the shared data


@cache
def experiment(file: Path | None) -> Experiment:
    """Three systems and the array of n images per subject, with a word on where they come from."""
    if file is None:
        return _generated()
    from scipy.spatial.distance import squareform

    z = np.load(file)
    who, rows = z["subject"], np.flatnonzero(~np.isin(z["subject"], z["subject"][z["pca_training"] > 0]))
    names = {"PCA-L2": "pca_l2", "PCA-MahCos": "pca_mahcos", "LBP": "lbp_chi2"}
    systems = [system_of_scores(name, similarity=squareform(z[key]), subjects=who) for name, key in names.items()]

    def arrays(n: int) -> ImageArray:
        made = image_array(who[rows], per_subject=n, images=z["image"][rows])
        return ImageArray(rows[made.rows], made.subjects)

    count = len(np.unique(who[rows]))
    said = f"Data: scores of {count} FERET subjects by eigenfaces and local binary patterns, not CVPR's FaceIt."
    return systems, arrays, said


def _generated() -> Experiment:
    from strat.datasets import recognizer

    data = [recognizer(subjects=120, images=4, noise=noise, rng=4) for noise in (1.6, 1.4, 1.2)]
    who = data[0].subject
    systems = [
        system_of_embeddings(name, d.embeddings, subjects=who, score="cosine")
        for name, d in zip(("weak", "middling", "strong"), data, strict=True)
    ]
    said = "Data: three generated recognisers, 120 subjects; give --data for real scores. Their images have no kinds."
    return systems, lambda n: image_array(who, per_subject=n), said


def _experiment(setting: Setting) -> Experiment:
    return experiment(setting.file(FILE))


def _claim(what: str, printed: str, seen: bool, note: str) -> Value:
    """A claim about FERET's faces, looked at on other data."""
    return Value(what, printed, "seen here too" if seen else "not seen here", note=note, other_data=True)


def figure_1(setting: Setting) -> Found:
    """Traditional curves: one gallery, one probe set, no errors."""
    systems, arrays, said = _experiment(setting)
    array = arrays(3)
    curves = {s.name: _curve(s, array) for s in systems}
    values = tuple(Value(f"rank-1 rate of {name}", None, float(c[0])) for name, c in curves.items())

    def picture() -> Any:
        ax = _axes()
        for (name, curve), colour in zip(curves.items(), COLOURS, strict=True):
            ax.plot(np.arange(1, len(curve) + 1), curve, color=colour, label=name)
        ax.set(xlabel="rank", ylabel="cumulative match score")
        ax.legend(frameon=False, loc="lower right")
        return ax

    return Found(values, (said,), picture)


def _curve(system: System, array: ImageArray) -> Any:
    return cms_of(run(system, array, probes=[1]).ranks, at=np.arange(1, array.shape[0] + 1)).value()


def _axes() -> Any:
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(6.4, 4.2), layout="constrained")[1]


def figure_2(setting: Setting) -> Found:
    """The gallery effect."""
    systems, arrays, said = _experiment(setting)
    effect = gallery_effect(systems[-1], arrays(3))
    test = effect.test()
    value = _claim("rank-1 rates differ between galleries", "significantly", test.pvalue < 0.05, str(test))
    return Found((value,), (said,), effect.plot)


def figure_3(setting: Setting) -> Found:
    """Standard errors by BRR, jackknife and bootstrap, with strata and without."""
    systems, arrays, said = _experiment(setting)
    made = run(systems[-1], arrays(4), gallery=1)
    found = compare_methods(made)
    flat = Design.simple_random(n=len(made.ranks))
    at = np.asarray(found.estimates["brr"].axes[-1].labels)
    loose = estimate(cms_of(made.ranks, at=at), on=jackknife(flat))
    low = at <= 0.1 * found.gallery_size
    saved = 1 - float(np.mean(_ratio(found.estimates["brr"], loose)[low]))
    same = float(np.abs(found.se("brr") - found.se("jackknife")).max())
    values = (
        _claim(
            "variance saved by strata at relative ranks up to 0.1", "about 20 %", saved > 0.05, f"{100 * saved:.0f} %"
        ),
        Value(
            "largest gap between BRR and the stratified jackknife",
            0.0,
            same,
            1e-12,
            note="the saving comes from strata, not from BRR",
        ),
    )
    return Found(values, (said,), found.plot)


def _ratio(a: Estimate, b: Estimate) -> Any:
    return np.divide(a.variance, b.variance, out=np.ones_like(a.variance), where=b.variance > 0)


def figure_4(setting: Setting) -> Found:
    """Mixing the images removes the gallery effect."""
    systems, arrays, said = _experiment(setting)
    effect = gallery_effect(systems[-1], arrays(3).mixed())
    test = effect.test()
    value = _claim("rates of mixed galleries differ", "not significantly", test.pvalue > 0.05, str(test))
    return Found((value,), (said,), effect.plot)


def figure_5(setting: Setting) -> Found:
    """Three units against two, the same strata."""
    systems, arrays, said = _experiment(setting)
    found = compare_units(systems[-1], arrays(4).mixed(), gallery=1)
    three, *two = (float(e.variance[0]) for e in found.estimates.values())
    note = f"rank 1: {three:.2e}, and {np.mean(two):.2e} on average of two units"
    value = _claim("three units have less variance than two", "yes", three < float(np.mean(two)), note)
    return Found((value,), (said,), lambda: found.plot(variance=True))


def _three(setting: Setting, images: int) -> Found:
    systems, arrays, said = _experiment(setting)
    curve = compare_systems(systems, arrays(images).mixed())
    first, last = curve.systems[0], curve.systems[-1]
    gap = curve.difference(last, first)
    low, _ = gap.band()
    seen = bool((np.asarray(low) > 0).any())
    note = f"{last} less {first} at rank 1: {gap.value[0]:+.3f} (se {gap.se[0]:.3f})"
    value = _claim("the best system is better over a stretch of ranks", "significantly", seen, note)
    return Found((value,), (said,), lambda: curve.plot(axis="log"))


def figure_6(setting: Setting) -> Found:
    """Three systems with errors, two units."""
    return _three(setting, 3)


def figure_7(setting: Setting) -> Found:
    """Three systems with errors, three units."""
    return _three(setting, 4)


ENTRIES = (
    Entry("cvpr/rank", "section 1.1", "Rank and relative rank", tied_rank),
    Entry("cvpr/8", "section 3.2, (8)", "The 8 × 7 array", array_8),
    Entry("cvpr/cms", "section 5", "235 of 256 within rank 3", score_235),
    Entry("cvpr/replicates", "section 5", "Numbers of replicates for 256 strata of three units", numbers),
    Entry("cvpr/figure-1", "Figure 1", "Traditional CMS curves", figure_1),
    Entry("cvpr/figure-2", "Figure 2", "The gallery effect", figure_2),
    Entry("cvpr/figure-3", "Figure 3", "Standard errors by method", figure_3),
    Entry("cvpr/figure-4", "Figure 4", "Mixing removes the gallery effect", figure_4),
    Entry("cvpr/figure-5", "Figure 5", "Two and three units", figure_5),
    Entry("cvpr/figure-6", "Figure 6", "Three systems, two units", figure_6),
    Entry("cvpr/figure-7", "Figure 7", "Three systems, three units", figure_7),
)
