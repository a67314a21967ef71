"""Recognisers, benchmarks and classifiers whose rows are correlated by as much as one wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, expit, logit, ndtr

from strat.base import validate
from strat.base.errors import StratError, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes
from strat.base.validate.scalars import Rng, generator


@dataclass(frozen=True, eq=False)
class Recognizer:
    """Embeddings of images of subjects.

    Attributes
    ----------
    embeddings
        Images × dimensions, of length one.
    subject, image
        Who is on each image, and the number of the image among that subject's.
    difficulty
        The factor on the noise of each subject's images (one per subject, about 1).
    """

    embeddings: Array
    subject: Codes
    image: Codes
    difficulty: Array

    def split(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Rows of the gallery (every subject's first image) and of the probes (all others)."""
        return self.image == 0, self.image > 0


@checked
def recognizer(
    *,
    subjects: int = 200,
    images: int | Sequence[int] = 4,
    dimensions: int = 32,
    noise: float = 1.0,
    difficulty: float = 0.5,
    quality: float = 0.3,
    rng: Rng = 0,
) -> Recognizer:
    """Images of subjects as a recogniser sees them: correlated within a subject, unequal in difficulty.

    An image is its subject's centre (normal, length about 1) plus normal noise of length about
    `noise` × the subject's difficulty × the image's own quality; both factors are log-normal with median 1.

    Parameters
    ----------
    subjects
        How many subjects.
    images
        Images of each subject, or one number per subject.
    dimensions
        Length of an embedding.
    noise
        Length of the noise relative to a subject's centre.
    difficulty, quality
        Standard deviation of the logarithm of a subject's and of an image's factor (0: all equal).
    rng
        Seed or Generator.

    Examples
    --------
    >>> data = recognizer(subjects=3, images=2, dimensions=4, rng=1)
    >>> data.embeddings.shape, data.subject.tolist(), data.image.tolist()
    ((6, 4), [0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1])
    """
    people, d = validate.count("subjects", subjects), validate.count("dimensions", dimensions)
    per = _sizes("images", images, people)
    source = generator(rng)
    subject = np.repeat(np.arange(people), per)
    image = np.arange(len(subject)) - np.repeat(np.cumsum(per) - per, per)
    centre = source.standard_normal((people, d)) / np.sqrt(d)
    factor = np.exp(_at_least_zero("difficulty", difficulty) * source.standard_normal(people))
    own = np.exp(_at_least_zero("quality", quality) * source.standard_normal(len(subject)))
    length = _at_least_zero("noise", noise) * factor[subject] * own
    x = centre[subject] + length[:, None] * source.standard_normal((len(subject), d)) / np.sqrt(d)
    return Recognizer(x / np.linalg.norm(x, axis=1, keepdims=True), subject, image, factor)


@checked
def clustered_predictions(
    *,
    units: int = 100,
    per_unit: int | Sequence[int] = 20,
    accuracy: float = 0.8,
    icc: float = 0.2,
    classes: int = 2,
    priors: ArrayLike | None = None,
    rng: Rng = 0,
) -> dict[str, NDArray[Any]]:
    """A classifier's output on units of rows, with a wanted intraclass correlation of being right.

    Each unit has its own accuracy, drawn from the Beta distribution with mean `accuracy` and
    α + β = 1/icc − 1; two rows of one unit are then right together with correlation exactly `icc`.

    Returns
    -------
    dict
        Columns truth, predicted, score (two classes: the score of class 1, above ½ where class 1 is
        predicted; more classes: the confidence in the predicted one) and unit.

    Examples
    --------
    Units that are right or wrong as one have an intraclass correlation of 1.

    >>> t = clustered_predictions(units=4, per_unit=3, icc=1.0, rng=1)
    >>> right = (t["truth"] == t["predicted"]).reshape(4, 3)
    >>> bool((right == right[:, :1]).all())
    True
    """
    m, c = validate.count("units", units), validate.count("classes", classes, least=2)
    per = _sizes("per_unit", per_unit, m)
    source = generator(rng)
    unit = np.repeat(np.arange(m), per)
    p_unit = _beta(source.uniform(size=m), np.full(m, validate.share("accuracy", accuracy)), validate.share("icc", icc))
    truth = source.choice(c, size=len(unit), p=validate.probabilities("priors", priors, c))
    right = source.uniform(size=len(unit)) < p_unit[unit]
    other = (truth + source.integers(1, c, size=len(unit))) % c
    predicted = np.where(right, truth, other)
    confidence = 1 - source.uniform(size=len(unit)) * (1 - 1 / c)
    score = np.where(predicted == 1, confidence, 1 - confidence) if c == 2 else confidence
    return {"truth": truth, "predicted": predicted, "score": score, "unit": unit}


@checked
def benchmark(
    *,
    items: int = 1000,
    strata: int = 5,
    clusters: int = 100,
    repeats: int = 1,
    systems: Mapping[str, float] | Sequence[float] = (0.70, 0.72),
    icc: float = 0.2,
    item_icc: float = 0.5,
    shared: float = 0.7,
    spread: float = 0.5,
    rng: Rng = 0,
) -> dict[str, NDArray[Any]]:
    """Results of several systems on one benchmark: items in clusters in strata, each tried `repeats` times.

    A stratum moves every system's accuracy by a normal amount on the logit scale. A cluster (a passage, a
    repository) has its own accuracy about that, Beta distributed, so that two items of one cluster are
    right together with correlation exactly `icc`; an item has its own about its cluster's. Systems find
    the same clusters and items hard.

    Parameters
    ----------
    items, strata, clusters, repeats
        How many; clusters are shared out over the strata in turn, items over the clusters.
    systems
        Accuracy of each system where the stratum moves nothing, by name or in order (A, B, …).
    icc
        Correlation within a stratum of two items of a cluster.
    item_icc
        Correlation of two repeats of an item, given its cluster's accuracy.
    shared
        Correlation between systems of the normal scores of clusters, and of items.
    spread
        Standard deviation of the strata on the logit scale.
    rng
        Seed or Generator.

    Returns
    -------
    dict
        Columns system, stratum, cluster, item, repeat, correct (0 or 1), and expected: the true accuracy of
        that system in that stratum, so that its mean over a system's rows is what an estimate aims at.

    Examples
    --------
    >>> t = benchmark(items=6, strata=2, clusters=3, repeats=2, systems={"old": 0.5, "new": 0.6})
    >>> len(t["correct"]), sorted(t)
    (24, ['cluster', 'correct', 'expected', 'item', 'repeat', 'stratum', 'system'])
    """
    n, h, m = validate.count("items", items), validate.count("strata", strata), validate.count("clusters", clusters)
    if not h <= m <= n:
        raise StratError.about(
            "clusters", f"must be at least `strata` ({h}) and at most `items` ({n}), got {clusters!r}."
        )
    names, accuracy = _systems(systems)
    source = generator(rng)
    stratum_of, cluster_of = np.arange(m) % h, np.sort(np.arange(n) % m)
    moved = expit(logit(accuracy)[:, None] + _at_least_zero("spread", spread) * source.standard_normal(h))
    rho, k = validate.share("shared", shared), len(names)
    p_cluster = _beta(_copula(source, k, m, rho), moved[:, stratum_of], validate.share("icc", icc))
    p_item = _beta(_copula(source, k, n, rho), p_cluster[:, cluster_of], validate.share("item_icc", item_icc))
    shape = (k, n, validate.count("repeats", repeats))
    correct = source.uniform(size=shape) < p_item[:, :, None]
    system, item, repeat = (axis.ravel() for axis in np.indices(shape))
    cluster = cluster_of[item]
    return {
        "system": np.array(names)[system],
        "stratum": stratum_of[cluster],
        "cluster": cluster,
        "item": item,
        "repeat": repeat,
        "correct": correct.ravel().astype(np.int64),
        "expected": moved[system, stratum_of[cluster]],
    }


def _beta(u: Array, mean: Array, icc: float) -> Array:
    """Quantiles of the Beta distribution with this mean and variance icc·mean·(1 − mean)."""
    if icc == 0:
        return np.broadcast_to(mean, u.shape).copy()
    if icc == 1:
        return (u > 1 - mean).astype(float)
    total = 1 / icc - 1
    inside = (mean > 1e-12) & (mean < 1 - 1e-12)
    safe = np.where(inside, mean, 0.5)
    drawn: Array = np.where(inside, betaincinv(safe * total, (1 - safe) * total, u), mean)
    return drawn


def _copula(source: np.random.Generator, systems: int, n: int, rho: float) -> Array:
    common = source.standard_normal(n)
    own = source.standard_normal((systems, n))
    uniform: Array = ndtr(np.sqrt(rho) * common + np.sqrt(1 - rho) * own)
    return uniform


def _systems(given: Mapping[str, float] | Sequence[float]) -> tuple[list[str], Array]:
    if isinstance(given, Mapping):
        names, values = list(given), list(given.values())
    else:
        values = list(given)
        names = [chr(ord("A") + i) if i < 26 else f"S{i + 1}" for i in range(len(values))]
    if not values:
        raise StratError.about("systems", "must name at least one system, got none.")
    accuracy = validate.numbers("systems", values, axes=1)
    outside = accuracy[(accuracy <= 0) | (accuracy >= 1)]
    if len(outside):
        raise StratError.about("systems", f"must be accuracies between 0 and 1, got {some(outside.tolist())}.")
    return names, accuracy


def _sizes(argument: str, given: int | Sequence[int], units: int) -> NDArray[np.int64]:
    if isinstance(given, int | np.integer):
        return np.full(units, validate.count(argument, int(given)))
    if any(not abs(k) < 1 << 31 for k in given):
        raise StratError.about(argument, f"must be whole numbers below 2^31, got {some(given, 2)}.")
    each = np.array([validate.count(argument, int(k)) for k in given], dtype=np.int64)
    if len(each) != units:
        raise StratError.about(argument, f"must be one number, or {units} of them, got {len(each)}.")
    return each


def _at_least_zero(argument: str, value: float) -> float:
    if not value >= 0:
        raise StratError.about(argument, f"must be at least 0, got {value!r}.")
    return float(value)
