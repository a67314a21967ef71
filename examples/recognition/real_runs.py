"""Real recognisers with errors: LFW, BSSR1 and ORL, or generated ones where the data is absent.

    python examples/recognition/real_runs.py

ORL can also come from scikit-learn's loader, which downloads it: python examples/recognition/real_runs.py --olivetti
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import strat
from strat.datasets import recognizer
from strat.recognition import (
    ImageArray,
    compare_systems,
    image_array,
    match_curve,
    open_set,
    ranks,
    ranks_of_embeddings,
    read_matrix,
    size_curve,
    system_of_model,
    verification,
    within_rank_of,
)

SHARED = Path(os.environ.get("STRAT_SHARED", Path(__file__).resolve().parents[3] / "shared")) / "data"


def main(*options: str) -> None:
    """Run what the data allows."""
    lfw()
    if (SHARED / "bssr1_set1_scores.npz").exists():
        bssr1()
    orl("--olivetti" in options)


def lfw() -> None:
    """Many subjects with very uneven numbers of images."""
    if (SHARED / "lfw_embeddings.npz").exists():
        z = np.load(SHARED / "lfw_embeddings.npz")
        x, who, score, name = z["dlib128"].astype(np.float32), z["subject"], "euclidean", "LFW, dlib"
    else:
        sizes = 1 + np.random.default_rng(0).geometric(0.4, 800)
        data = recognizer(subjects=800, images=sizes.tolist(), dimensions=64, noise=1.2, rng=0)
        x, who, score, name = data.embeddings, data.subject, "cosine", "generated"
    first = np.r_[True, who[1:] != who[:-1]]
    many = np.bincount(who)[who] >= 2
    gallery = first & many
    r = ranks_of_embeddings(
        x[~gallery], x[gallery], probe_subjects=who[~gallery], gallery_subjects=who[gallery], score=score, open_set=True
    )
    print(f"\n{name}\n{match_curve(r)}")
    by_probe = strat.estimate(within_rank_of(r), on=strat.Design.simple_random(n=int(r.mated.sum())))
    print(f"standard error by probe, as others print it: {by_probe.se:.4f}")
    sizes = [n for n in (100, 200, 400, 800, 1680) if n <= r.gallery_size]
    print(size_curve(r, sizes=sizes).estimate)
    if not r.mated.all():
        print(open_set(r, max_rank=1).fnir_at([0.3, 0.1, 0.03, 0.01, 0.003]))
    heavy_subject(x, who)


def heavy_subject(x: Any, who: Any) -> None:
    """The subject with the most images and 399 others, all against all: by comparisons, and by subjects."""
    images = np.bincount(who)
    others = np.setdiff1d(np.flatnonzero(images >= 2), images.argmax())
    chosen = np.r_[images.argmax(), np.random.default_rng(0).choice(others, 399, replace=False)]
    used = np.isin(who, chosen)
    y = x[used].astype(float)
    squares = (y**2).sum(axis=1)
    distance = np.sqrt(np.maximum(squares[:, None] + squares - 2 * y @ y.T, 0.0))
    for average in ("comparisons", "subjects"):
        v = verification(distance=(distance + distance.T) / 2, probes=who[used], average=average)
        print(f"each of the {average} counts the same: {v}")


def bssr1() -> None:
    """Score matrices with ties and a failed template."""
    for key in ("face_c", "face_g", "finger_left", "finger_right"):
        t = read_matrix(SHARED / "bssr1_set1_scores.npz", key=key)
        failed = np.flatnonzero((t.scores == -1).all(axis=0))
        given: dict[str, Any] = {
            "similarity": t.scores,
            "probes": t.probes,
            "gallery": t.gallery,
            "failed_gallery": failed,
        }
        r = ranks(**given)
        rules = {
            rule: float(within_rank_of(r, ties=rule).value()) for rule in ("optimistic", "expected", "pessimistic")
        }
        print(f"\nBSSR1, {key}: {len(failed)} failed templates\n{match_curve(r)}")
        print("rank 1 by the rule for ties: " + ", ".join(f"{rule} {rate:.4f}" for rule, rate in rules.items()))
        v = verification(**given)
        print(v)
        print(v.fnmr_at([0.01, 0.001]))


def orl(olivetti: bool) -> None:
    """Plain pixels, eigenfaces and Fisherfaces, trained once or again for each gallery."""
    x, who, name = faces(olivetti)
    array = image_array(who, per_subject=10)
    half = array.shape[0] // 4
    test = ImageArray(array.rows[half:], array.subjects[half:])
    first = array.rows[:half].reshape(-1)
    systems = []
    for label, fit, training in (
        ("pixels", pixels, "update"),
        ("PCA, initial", eigenfaces, "initial"),
        ("PCA, update", eigenfaces, "update"),
        ("PCA, both", eigenfaces, "both"),
        ("LDA, initial", fisherfaces, "initial"),
        ("LDA, both", fisherfaces, "both"),
    ):
        rows = None if training == "update" else first
        systems.append(
            system_of_model(label, x, subjects=who, fit=fit, score="euclidean", training=training, training_rows=rows)
        )
    print(f"\n{name}: {half} subjects for initial training, {test.shape[0]} subjects × 10 images for the test")
    curve = compare_systems(systems, test, method="closed form", at=[1, 5])
    print(curve)
    print(curve.difference("PCA, update", "PCA, initial"))
    print(curve.difference("LDA, initial", "PCA, initial"))


def faces(olivetti: bool) -> tuple[np.ndarray, np.ndarray, str]:
    """Face images as rows, with their subjects."""
    if olivetti:
        from sklearn.datasets import fetch_olivetti_faces

        found = fetch_olivetti_faces()
        return found.images[:, ::2, ::2].reshape(400, -1), found.target, "Olivetti faces"
    if (SHARED / "orl_faces.npz").exists():
        z = np.load(SHARED / "orl_faces.npz")
        return z["images"][:, ::4, ::4].reshape(400, -1).astype(float), z["subject"].astype(int), "ORL"
    data = recognizer(subjects=40, images=10, dimensions=80, noise=1.5, rng=0)
    return data.embeddings, data.subject, "generated"


Transform = Callable[[np.ndarray], np.ndarray]


def pixels(images: np.ndarray, _: np.ndarray) -> Transform:
    """No training at all."""
    return lambda new: new


def eigenfaces(images: np.ndarray, _: np.ndarray) -> Transform:
    """The first 25 principal components of the training images."""
    middle = images.mean(axis=0)
    axes = np.linalg.svd(images - middle, full_matrices=False)[2][:25]
    return lambda new: (new - middle) @ axes.T


def fisherfaces(images: np.ndarray, subjects: np.ndarray) -> Transform:
    """Linear discriminants of the subjects with several training images, among their principal components."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    reduce = eigenfaces(images, subjects)
    several = np.isin(subjects, np.flatnonzero(np.bincount(subjects) > 1))
    fitted = LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1).fit(reduce(images[several]), subjects[several])
    return lambda new: fitted.transform(reduce(new))


if __name__ == "__main__":
    main(*sys.argv[1:])
