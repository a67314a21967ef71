"""CVPR: ranks, cumulative match scores, the gallery effect, and the seven figures on the data that there is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from reproduce.entries import NOT_SEEN, SEEN, Entry, Found, Setting, Value
from reproduce.strat_arrays import in_words, rebuilt, runs_648, signs, triples
from strat import algebra
from strat.designs import Design
from strat.estimation import Estimate, estimate
from strat.measures import cms, mean, stack
from strat.recognition import (
    GalleryEffect,
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
    size_curve,
    system_of_embeddings,
    system_of_scores,
    within_rank_by_size,
)
from strat.replication import brr, jackknife

FILE = "feret_scores.npz"
COLOURS = ("#0072B2", "#D55E00", "#009E73")
PRINTED_8 = ("++-+---", "+-+---+", "+----++", "---++-+", "--++-+-", "-++--+-", "-++----", "+++++++")
Arrays = Callable[[int], ImageArray]
Experiment = tuple[list[System], Arrays, str]


def array_8(setting: Setting) -> Found:
    """The 8 × 7 array of our copy, and the one rebuilt from its first row."""
    whole = rebuilt(PRINTED_8[0])
    same = sum(row in whole for row in PRINTED_8)
    values = (
        Value(
            "the array of our copy is orthogonal",
            "yes",
            in_words(algebra.is_orthogonal(signs(PRINTED_8))),
            erratum=5,
            right="no",
        ),
        Value("rebuilt: rotations of the first row, last row +; orthogonal", "yes", _orthogonal(whole)),
        Value("rows of our copy that are rows of the rebuilt array, of 8", None, same),
    )
    return Found(values, ("The wrong signs are damage of the copy, not of the paper.",))


def _orthogonal(rows: tuple[str, ...]) -> str:
    return in_words(algebra.is_orthogonal(signs(rows)))


def score_235(setting: Setting) -> Found:
    """235 of 256 probes within rank 3."""
    found = np.repeat([3, 9], [235, 21])
    value = cms(found, up_to=3).value()[2]
    return Found((Value("CMS(E, 3)", 0.918, float(value), 5e-4),))


def tied_rank(setting: Setting) -> Found:
    """The rank of a probe counts scores greater than or equal to its own class's."""
    tied = ranks(similarity=[[5, 5, 1]], probes=["b"], gallery=["a", "b", "c"])
    values = (
        Value("rank of a probe whose class ties with one stranger", None, int(tied.rank()[0])),
        Value("its relative rank, r / N with N = 3 enrolled", None, float(tied.relative_rank("N")[0])),
    )
    return Found(values, ("Ties count against the system (point 9 of the errata).",))


def numbers(setting: Setting) -> Found:
    """How many replicates each method used for 256 strata of three units."""
    design, built = triples(256), runs_648()
    bound = 1 + 256 * (3 - 1)
    right = in_words(algebra.is_orthogonal(built))
    removed = jackknife(design).number
    values = (
        Value("BRR", 256, algebra.rotation(3, 256).runs, erratum=8, right=729, note="by STRAT's own construction"),
        Value("least number of runs, by Rao's bound", None, bound),
        Value("replicates that `brr` takes", None, brr(design).number),
        Value("an array of 648 runs and 256 columns is orthogonal", None, right, note=f"{built.shape}"),
        Value("jackknife", 768, removed),
        Value("jackknife, if it removed one stratum at a time", None, removed, derived=256, erratum=33, right=768),
    )
    return Found(values)


# ---- the figures: FERET's images are not free, its scores by three systems are in the shared data

FRONTAL, TURNED = (1, 6, 7), 2  # images of a subject in the shared scores that face the camera, and one that does not
TARGET = (0.15, 0.25)  # what "approximately 20 %" may be
MOST = 0.5  # "for a large portion of all graphs": at more than this share of the ranks
LOW_RANKS = 0.1  # "the important zero to 0.1 ranks"


@cache
def experiment(file: Path | None) -> Experiment:
    """Three systems and the array of n images per subject, with a word on where they come from.

    CVPR's subjects "were front facing": the first three images are the frontal ones; a fourth is a turned head.
    """
    if file is None:
        return _generated()
    from scipy.spatial.distance import squareform

    z = np.load(file)
    who, rows = z["subject"], np.flatnonzero(~np.isin(z["subject"], z["subject"][z["pca_training"] > 0]))
    names = {"PCA-L2": "pca_l2", "PCA-MahCos": "pca_mahcos", "LBP": "lbp_chi2"}
    systems = [system_of_scores(name, similarity=squareform(z[key]), subjects=who) for name, key in names.items()]
    whole = image_array(who[rows], per_subject=7, images=z["image"][rows])
    columns = [image - 1 for image in (*FRONTAL, TURNED)]

    def arrays(n: int) -> ImageArray:
        return ImageArray(rows[whole.rows[:, columns[:n]]], whole.subjects)

    words = (
        f"Data: scores of {len(whole.subjects)} FERET subjects by eigenfaces and local binary patterns, not CVPR's "
        f"FaceIt; frontal images {', '.join(map(str, FRONTAL))}, and image {TURNED}, a turned head, as the fourth."
    )
    return systems, arrays, words


def _generated() -> Experiment:
    from strat.datasets import recognizer

    data = [recognizer(subjects=120, images=4, noise=noise, rng=4) for noise in (1.6, 1.4, 1.2)]
    who = data[0].subject
    systems = [
        system_of_embeddings(name, d.embeddings, subjects=who, score="cosine")
        for name, d in zip(("weak", "middling", "strong"), data, strict=True)
    ]
    words = "Data: three generated recognisers, 120 subjects; give --data for real scores. Their images have no kinds."
    return systems, lambda n: image_array(who, per_subject=n), words


def _experiment(setting: Setting) -> Experiment:
    return experiment(setting.file(FILE))


def _claim(what: str, printed: str, seen: bool, note: str, rule: str) -> Value:
    """A claim about FERET's faces, looked at on other data; `rule` is what the paper's words ask for."""
    return Value(what, printed, SEEN if seen else NOT_SEEN, rule=rule, note=note, other_data=True)


def best_of(systems: list[System], array: ImageArray) -> System:
    """The system with the highest rank-1 rate: CVPR's FI2."""
    return max(systems, key=lambda s: float(cms_of(run(s, array).ranks, at=[1]).value()[0]))


def figure_1(setting: Setting) -> Found:
    """Traditional curves: one gallery, one probe set, no errors."""
    systems, arrays, words = _experiment(setting)
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

    return Found(values, (words,), picture)


def _curve(system: System, array: ImageArray) -> Any:
    return cms_of(run(system, array, probes=[1]).ranks, at=np.arange(1, array.shape[0] + 1)).value()


def _axes() -> Any:
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(6.4, 4.2), layout="constrained")[1]


def figure_2(setting: Setting) -> Found:
    """The gallery effect, and which gallery is best."""
    systems, arrays, words = _experiment(setting)
    effects = {s.name: gallery_effect(s, arrays(3)) for s in systems}
    values = []
    for name, effect in effects.items():
        test = effect.test()
        what = f"{name}: rank-1 rates differ between galleries"
        values.append(_claim(what, "significantly", test.pvalue < 0.05, str(test), "p < 0.05"))
        pvalues = _best_gallery(effect)
        note = "paired t against the others, not adjusted: p = " + ", ".join(f"{p:.2g}" for p in pvalues)
        what = f"{name}: the topmost curve is better than each of the others at rank 1"
        values.append(_claim(what, "significantly improved", max(pvalues) < 0.05, note, "each p < 0.05"))
        first = int(np.argmax(test.rates)) == 0
        what = f"{name}: the best gallery has neutral expressions"
        values.append(_claim(what, "majority", first, str(test), "image 1 has the highest rate"))
        parts = effect.components()
        most, share = max(parts.shares.items(), key=lambda part: part[1])
        note = f"the most is made by {most!r}, {share:.0%}; six galleries for three would bring the standard error "
        note += f"from {parts.se:.4f} to {parts.se_with(gallery=6):.4f}"
        what = f"{name}: share of the variance of the rate over all galleries that galleries make"
        values.append(Value(what, None, parts.shares["gallery"], note=note))
    return Found(tuple(values), (words,), effects[best_of(systems, arrays(3)).name].plot)


def _best_gallery(effect: GalleryEffect) -> list[float]:
    """The p-values of the paired tests of the best gallery against each other one, at rank 1."""
    rates = (effect.hits <= 1).mean(axis=2)
    best = int(np.argmax(rates.mean(axis=0)))
    design = Design.simple_random(n=len(rates))
    gaps = [rates[:, best] - rates[:, j] for j in range(rates.shape[1]) if j != best]
    return [float(estimate(mean(gap), on=design).test().pvalue) for gap in gaps]


METHODS_COMPARED = ("brr", "jackknife", "bootstrap", "jackknife, no strata", "bootstrap, no strata")


def figure_3(setting: Setting) -> Found:
    """Standard errors by BRR, jackknife and bootstrap, with strata and without, as CVPR compares them: three units.

    The fourth image that three units need is a turned head here, so that two units stand beside them.
    """
    systems, arrays, words = _experiment(setting)
    best = best_of(systems, arrays(3))
    found = compare_methods(run(best, arrays(4), gallery=1), methods=METHODS_COMPARED)
    values = []
    low, high = TARGET
    for number, images, words_of in ((3, 4, "as CVPR has it"), (2, 3, "frontal images alone")):
        saved = {s.name: _saved(s, arrays(images)) for s in systems}
        value = _claim(
            f"{best.name}, {number} units, gallery 2: variance saved at relative ranks up to {LOW_RANKS}",
            "approximately 20 %",
            low <= saved[best.name] <= high,
            f"{words_of}: " + "; ".join(f"{name} {100 * share:.0f} %" for name, share in saved.items()),
            f"{100 * low:.0f} to {100 * high:.0f} %",
        )
        values.append(value)
    same = float(np.abs(found.se("brr") - found.se("jackknife")).max())
    note = "with strata both are the same: the saving comes from strata, not from BRR"
    gap = Value("largest gap between the standard errors of BRR and the stratified jackknife", None, same, note=note)
    return Found((*values, gap), (words,), found.plot)


def _saved(system: System, array: ImageArray) -> float:
    """The share of the unstratified jackknife's variance that strata save at low relative ranks, gallery 2."""
    found = compare_methods(run(system, array, gallery=1), methods=("brr", "jackknife, no strata"))
    at = np.asarray(found.estimates["brr"].axes[-1].labels)
    low = at <= LOW_RANKS * found.gallery_size
    return 1 - float(np.mean(_ratio(found.estimates["brr"], found.estimates["jackknife, no strata"])[low]))


def _ratio(a: Estimate, b: Estimate) -> Any:
    return np.divide(a.variance, b.variance, out=np.ones_like(a.variance), where=b.variance > 0)


def figure_4(setting: Setting) -> Found:
    """Mixing the images removes the gallery effect, along the curve."""
    systems, arrays, words = _experiment(setting)
    effects = {s.name: gallery_effect(s, arrays(3).mixed()) for s in systems}
    size = arrays(3).shape[0]
    ranks_tried = (1, max(2, size // 30), max(3, size // 10))
    values = []
    for name, effect in effects.items():
        tests = [effect.test(rank) for rank in ranks_tried]
        what = f"{name}: rates of mixed galleries differ at rank 1, {ranks_tried[1]} or {ranks_tried[2]}"
        apart = any(test.pvalue < 0.05 for test in tests)
        values.append(_claim(what, "not significantly", not apart, "; ".join(map(str, tests)), "no p < 0.05"))
    for system in systems:
        two, three = (float(np.ptp(gallery_effect(system, arrays(n).mixed(), at=[1]).test().rates)) for n in (3, 4))
        note = f"rank-1 rates of mixed galleries lie within {two:.3f} with two units, {three:.3f} with three"
        what = f"{system.name}: with three units mixing brings the galleries closer than with two"
        values.append(_claim(what, "even closer together", three < two, note, "a smaller range of rank-1 rates"))
    return Found(tuple(values), (words,), effects[best_of(systems, arrays(3)).name].plot)


def figure_5(setting: Setting) -> Found:
    """Three units against two, the same strata."""
    systems, arrays, words = _experiment(setting)
    best = best_of(systems, arrays(3))
    found = compare_units(best, arrays(4).mixed(), gallery=1)
    variances = np.stack([e.variance for e in found.estimates.values()])
    at = np.asarray(next(iter(found.estimates.values())).axes[-1].labels)
    lowest = variances[0] < variances[1:].min(axis=0)  # where nothing varies none is the lowest
    low = at <= LOW_RANKS * found.gallery_size
    note = f"lowest at {lowest.sum()} of {len(at)} ranks, and at {lowest[low].sum()} of the {low.sum()} low ones"
    seen = bool(lowest[low].all()) and float(lowest.mean()) > 0.8
    what, rule = f"{best.name}: three units have the lowest variance", "at all low ranks and 80 % of all"
    value = _claim(what, "except for a few anomalies towards the higher ranks", seen, note, rule)
    return Found((value,), (words,), lambda: found.plot(variance=True))


def _three(setting: Setting, images: int) -> Found:
    systems, arrays, words = _experiment(setting)
    array = arrays(images).mixed()
    curve = compare_systems(systems, array)
    best = best_of(systems, array).name
    values = []
    for other in (s for s in curve.systems if s != best):
        gap = curve.difference(best, other)
        low, high = (np.asarray(side) for side in gap.band())
        better, worse = int((low > 0).sum()), int((high < 0).sum())
        first = f"rank 1 {gap.point[0]:+.3f} (se {np.sqrt(gap.variance)[0]:.3f})"
        note = f"better at {better} of {len(low)} ranks, worse at {worse}; {first}"
        seen, rule = (
            better > MOST * len(low) and worse == 0,
            f"at more than {100 * MOST:.0f} % of the ranks, nowhere worse",
        )
        values.append(_claim(f"{best} is better than {other}", "for a large portion", seen, note, rule))
    pca, other = (s.name for s in systems if s.name != best)
    low, high = (np.asarray(side) for side in curve.difference(pca, other).band())
    apart = int(((low > 0) | (high < 0)).sum())
    note = f"apart at {apart} of {len(low)} ranks, by the band of the whole curve; {other} stands for FI1"
    what = f"{pca} performs like {other}"
    if images > 3:  # said of Figure 7 alone
        values.append(_claim(what, "similar", apart == 0, note, "no rank at which the band leaves 0 out"))
    else:
        values.append(Value(f"ranks of {len(low)} at which {pca} and {other} are apart", None, apart))
    return Found(tuple(values), (words,), lambda: curve.plot(axis="log"))


def figure_6(setting: Setting) -> Found:
    """Three systems with errors, two units."""
    return _three(setting, 3)


def figure_7(setting: Setting) -> Found:
    """Three systems with errors, three units."""
    return _three(setting, 4)


def fewer_subjects(setting: Setting) -> Found:
    """Whether a smaller gallery helps PCA more than it helps the others, as CVPR supposes: 256 subjects, not 481."""
    systems, arrays, words = _experiment(setting)
    array = arrays(3).mixed()
    size = array.shape[0]
    sizes = [round(size * 256 / 481), size]
    first, *others = systems
    values = []
    for other in others:
        both = [run(s, array) for s in (first, other)]
        joint = estimate(
            stack("system", {r.system: within_rank_by_size(r.ranks, sizes) for r in both}),
            on=Design.clustered(units=both[0].ranks.subject),
        )
        gain = joint.map(lambda v: (v[..., 0, 0] - v[..., 0, 1]) - (v[..., 1, 0] - v[..., 1, 1]))
        low, high = gain.interval()
        sides = f"95 % {low:+.4f} to {high:+.4f}"
        note = f"rank 1 from N = {sizes[1]} to {sizes[0]}: {gain.value:+.4f} more than {other.name} ({sides})"
        what = f"{first.name} gains more than {other.name} from fewer subjects"
        values.append(_claim(what, "may have been", float(low) > 0, note, "95 % interval above 0"))
    curve = size_curve(run(first, array).ranks)
    return Found(tuple(values), (words,), lambda: curve.plot(name=first.name))


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
    Entry("cvpr/figure-6-7", "section 5", "PCA with fewer subjects", fewer_subjects),
)
