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
SUBJECTS, TRAINING, COMPONENTS = 140, 3, 60
DRAWS, SETS = 40, 3  # of who is enrolled, and of the strangers who train for each
Transform = Callable[[Array], Array]


def _leading(centred: Array, components: int) -> Array:
    """The leading principal axes, in columns."""
    return np.asarray(np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :components])


def pca(x: Array, who: Array, *, components: int = COMPONENTS) -> Transform:
    """The leading principal components of the training images."""
    middle = x.mean(axis=0)
    axes = _leading(x - middle, components)
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
    axes = whiten @ _leading((means - means.mean(axis=0)) @ whiten, components)
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

    @property
    def subjects(self) -> Array:
        """Labels of the enrolled subjects."""
        return self.who[self.enrolled[:, 0]]

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
        array = ImageArray(self.enrolled[:, :2], self.subjects)
        return np.asarray(run(system, array).ranks.rank() == 1, float)

    def training(self, kind: str, seed: int = 0) -> Codes:
        """The rows of a training: three images each of the enrolled subjects, of as many strangers, or of both."""
        own = self.enrolled[:, 2:].reshape(-1)
        drawn = np.random.default_rng(seed).choice(len(self.strangers), SUBJECTS, replace=False)
        generic = self.strangers[drawn, 2:].reshape(-1)
        return {"own": own, "generic": generic, "both": np.concatenate([own, generic])}[kind]


def faces(file: Path, key: str, score: str, seed: int) -> Faces:
    """Five images each of the subjects that are enrolled, drawn at random, and of all others that have as many."""
    z = np.load(file)
    who, images = z["subject"], TRAINING + 2
    order = np.lexsort((z["image"], who))
    starts = np.flatnonzero(np.r_[True, np.diff(who[order]) > 0])
    enough = starts[np.bincount(who)[who[order[starts]]] >= images]
    rows = order[enough[:, None] + np.arange(images)]
    rows = rows[np.random.default_rng([213, seed]).permutation(len(rows))]
    return Faces(z[key].astype(float), who, rows[:SUBJECTS], rows[SUBJECTS:], score)


@dataclass(frozen=True)
class Trained:
    """Hits by method: of own training and of both, draws × subjects; of generic training, draws × sets × subjects."""

    subjects: Array
    own: dict[str, Array]
    generic: dict[str, Array]
    both: dict[str, Array]


def trained(file: Path, key: str, score: str, draws: int, sets: int) -> Trained:
    """All trainings for each draw of who is enrolled."""
    drawn = [faces(file, key, score, k) for k in range(draws)]
    seeds = [np.arange(sets) + sets * k for k in range(draws)]

    def hits(kind: str, method: str, number: int) -> Array:
        of_each = zip(drawn, seeds, strict=True)
        return np.array([[one.hits(method, one.training(kind, k)) for k in own[:number]] for one, own in of_each])

    return Trained(
        np.array([one.subjects for one in drawn]),
        {method: hits("own", method, 1)[:, 0] for method in METHODS},
        {method: hits("generic", method, sets) for method in METHODS},
        {method: hits("both", method, 1)[:, 0] for method in METHODS},
    )


def experiment(setting: Setting) -> Found:
    """Rank-1 rates by method and training, what generic training costs each method, and how much its sets matter."""
    values, draws = [], setting.times(DRAWS, 5 * DRAWS)
    file = setting.file(FILE)
    assert file is not None
    for name, (key, score) in FEATURES.items():
        found = trained(file, key, score, draws, SETS)
        for method in METHODS:
            note = f"generic {found.generic[method].mean():.3f}, both {found.both[method].mean():.3f}"
            what = f"{name} features: rank 1 of {method}, own training"
            values.append(Value(what, None, float(found.own[method].mean()), note=note))
        values += [_more_lost(name, found), _more_spread(name, found.generic)]
    words = (
        f"Means over {draws} draws of {SUBJECTS} subjects of LFW, each with one gallery image and one probe. "
        f"{TRAINING} other images of each, or of as many strangers ({SETS} sets), train {COMPONENTS} components. "
        "Features stand for images, which the data does not have."
    )
    return Found(tuple(values), (words,))


def _more_lost(name: str, found: Trained) -> Value:
    """Whether LDA loses more by generic instead of own training than PCA does, by subject."""
    lost = {method: found.own[method] - found.generic[method].mean(axis=1) for method in METHODS}
    design = Design.clustered(units=found.subjects.ravel())  # most subjects are drawn several times
    more = estimate(mean((lost["LDA"] - lost["PCA"]).ravel()), on=design)
    low, high = (float(side) for side in more.interval())
    each = ", ".join(f"{method} {rates.mean():+.3f}" for method, rates in lost.items())
    note = f"loss of {each}; LDA's is larger by {more.value:+.3f} (95 % {low:+.3f} to {high:+.3f})"
    return _claim(
        f"{name} features: LDA loses more by generic training than PCA", low > 0, note, "95 % interval above 0"
    )


def _more_spread(name: str, generic: dict[str, Array]) -> Value:
    """Whether rates of LDA vary more from one set of strangers to another, within draws of who is enrolled."""
    rates = {method: hits.mean(axis=2) for method, hits in generic.items()}
    spread = {method: float(np.sqrt(of_sets.var(axis=1, ddof=1).mean())) for method, of_sets in rates.items()}
    draws, sets = rates["LDA"].shape
    df = draws * (sets - 1)
    ratio = (spread["LDA"] / spread["PCA"]) ** 2
    p = float(fisher.sf(ratio, df, df))
    note = f"sd over sets: LDA {spread['LDA']:.4f}, PCA {spread['PCA']:.4f}; F({df}, {df}) = {ratio:.2f}, p = {p:.2g}"
    what = f"{name} features: LDA is more sensitive to which strangers train"
    return _claim(what, p < 0.05, note, "F test, p < 0.05")


def _claim(what: str, seen: bool, note: str, rule: str) -> Value:
    return Value(what, "may be", SEEN if seen else "not seen here", rule=rule, note=note, other_data=True)


ENTRIES: tuple[Any, ...] = (
    Entry("strat/2.1.3", "section 2.1.3", "Generic and own training of PCA and LDA", experiment, needs=FILE),
)
