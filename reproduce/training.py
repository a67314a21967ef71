"""STRAT 2.1.3: whether a generic training hurts LDA more than PCA, on features of LFW; the claim asks for evidence.

Other images than those of the gallery and the probes train: of the enrolled subjects (own), of as many strangers
(generic), or of both. Gallery, probes and the number of training images stay the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import f as fisher

from reproduce.entries import SEEN, Entry, Found, Setting, Value
from strat.base.validate.columns import Array, Codes
from strat.designs import Design
from strat.estimation import estimate
from strat.measures import mean
from strat.recognition import ImageArray, run, system_of_model

FILE = "lfw_embeddings.npz"
FEATURES = {"LBP": ("lbp128", "cosine"), "dlib": ("dlib128", "euclidean")}
SUBJECTS, TRAINING, COMPONENTS, SETS = 140, 3, 60, 20
Transform = Callable[[Array], Array]


def pca(x: Array, who: Array, *, components: int = COMPONENTS) -> Transform:
    """The leading principal components of the training images."""
    middle = x.mean(axis=0)
    axes = np.linalg.svd(x - middle, full_matrices=False)[2][:components].T
    return lambda images: (images - middle) @ axes


def lda(x: Array, who: Array, *, components: int = COMPONENTS) -> Transform:
    """Fisher's discriminants after principal components: the spread within subjects is made a sphere."""
    reduced = pca(x, who, components=2 * components)
    y = reduced(x)
    label = np.unique(who, return_inverse=True)[1]
    means = np.stack([np.bincount(label, column) for column in y.T], axis=1) / np.bincount(label)[:, None]
    within = (y - means[label]).T @ (y - means[label]) / len(y)
    values, vectors = np.linalg.eigh(within + 0.1 * np.trace(within) / len(within) * np.eye(len(within)))
    whiten = vectors / np.sqrt(values)
    axes = whiten @ np.linalg.svd((means - means.mean(axis=0)) @ whiten, full_matrices=False)[2][:components].T
    return lambda images: reduced(images) @ axes


METHODS = {"PCA": pca, "LDA": lda}


@dataclass(frozen=True)
class Faces:
    """Features, and rows of images by subject: the enrolled subjects', and those of strangers to draw from."""

    features: Array
    who: Array
    enrolled: Codes
    strangers: Codes
    score: str

    def hits(self, method: str, rows: Codes) -> Array:
        """Which enrolled subjects' probes are found at rank 1 after training on these rows."""
        system = system_of_model(
            method,
            self.features,
            subjects=self.who,
            fit=METHODS[method],
            score=self.score,
            training="initial",
            training_rows=rows,
        )
        array = ImageArray(self.enrolled[:, :2], self.who[self.enrolled[:, 0]])
        return np.asarray(run(system, array).ranks.rank() == 1, float)

    def training(self, kind: str, seed: int = 0) -> Codes:
        """The rows of a training: three images each of the enrolled subjects, of as many strangers, or of both."""
        own = self.enrolled[:, 2:].reshape(-1)
        drawn = np.random.default_rng(seed).choice(len(self.strangers), SUBJECTS, replace=False)
        generic = self.strangers[drawn, 2:].reshape(-1)
        return {"own": own, "generic": generic, "both": np.concatenate([own, generic])}[kind]


def faces(file: Path, key: str, score: str) -> Faces:
    """Five images each of the enrolled subjects, and of all others that have as many."""
    z = np.load(file)
    who, images = z["subject"], TRAINING + 2
    order = np.lexsort((z["image"], who))
    starts = np.flatnonzero(np.r_[True, np.diff(who[order]) > 0])
    enough = starts[np.bincount(who)[who[order[starts]]] >= images]
    rows = order[enough[:, None] + np.arange(images)]
    rows = rows[np.random.default_rng(213).permutation(len(rows))]
    return Faces(z[key].astype(float), who, rows[:SUBJECTS], rows[SUBJECTS:], score)


def experiment(setting: Setting) -> Found:
    """Rank-1 rates by method and training, what generic training costs each method, and how much its sets matter."""
    values, sets = [], setting.times(SETS, 5 * SETS)
    file = setting.file(FILE)
    assert file is not None
    for name, (key, score) in FEATURES.items():
        data = faces(file, key, score)
        own = {m: data.hits(m, data.training("own")) for m in METHODS}
        generic = {m: np.array([data.hits(m, data.training("generic", k)) for k in range(sets)]) for m in METHODS}
        for method in METHODS:
            both = np.mean([data.hits(method, data.training("both", k)).mean() for k in range(4)])
            note = f"generic {generic[method].mean():.3f} (mean of {sets} sets), both {both:.3f} (of 4)"
            what = f"{name} features: rank 1 of {method}, own training"
            values.append(Value(what, None, float(own[method].mean()), note=note))
        values += [_more_lost(name, own, generic), _more_spread(name, generic)]
    words = (
        f"{SUBJECTS} subjects of LFW, one gallery image and one probe each; {TRAINING} other images of each, or of as "
        f"many strangers, train {COMPONENTS} components. Features stand for images, which the data does not have."
    )
    return Found(tuple(values), (words,))


def _more_lost(name: str, own: dict[str, Array], generic: dict[str, Array]) -> Value:
    """Whether LDA loses more by generic instead of own training than PCA does, paired by subject."""
    lost = {method: own[method] - generic[method].mean(axis=0) for method in METHODS}
    more = estimate(mean(lost["LDA"] - lost["PCA"]), on=Design.simple_random(n=SUBJECTS))
    low, high = (float(side) for side in more.interval())
    each = ", ".join(f"{method} {rates.mean():+.3f}" for method, rates in lost.items())
    note = f"loss of {each}; LDA's is larger by {more.value:+.3f} (95 % {low:+.3f} to {high:+.3f})"
    return _claim(
        f"{name} features: LDA loses more by generic training than PCA", low > 0, note, "95 % interval above 0"
    )


def _more_spread(name: str, generic: dict[str, Array]) -> Value:
    """Whether rates of LDA vary more from one set of strangers to another."""
    spread = {method: float(hits.mean(axis=1).std(ddof=1)) for method, hits in generic.items()}
    sets = len(generic["LDA"])
    ratio = (spread["LDA"] / spread["PCA"]) ** 2
    p = float(fisher.sf(ratio, sets - 1, sets - 1))
    note = f"sd over {sets} sets: LDA {spread['LDA']:.4f}, PCA {spread['PCA']:.4f}; F = {ratio:.2f}, p = {p:.2g}"
    what = f"{name} features: LDA is more sensitive to which strangers train"
    return _claim(what, p < 0.05, note, "F test, p < 0.05")


def _claim(what: str, seen: bool, note: str, rule: str) -> Value:
    return Value(what, "may be", SEEN if seen else "not seen here", rule=rule, note=note, other_data=True)


ENTRIES: tuple[Any, ...] = (
    Entry("strat/2.1.3", "section 2.1.3", "Generic and own training of PCA and LDA", experiment, needs=FILE),
)
