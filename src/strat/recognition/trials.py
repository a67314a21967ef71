"""Verification from lists of comparisons, from scores alone, and straight from embeddings."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of, some
from strat.base.limits import LIMITS
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, numbers, same_length
from strat.estimation import Estimate
from strat.recognition.exact import SCORES, Space, space
from strat.recognition.matching import both_sides
from strat.recognition.trial_comparisons import IndependentComparisons, ListComparisons
from strat.recognition.verification import AVERAGES, Verification, sorted_scores
from strat.recognition.verification_tables import verification


@checked
def verification_of_trials(
    *,
    similarity: ArrayLike | None = None,
    distance: ArrayLike | None = None,
    mated: ArrayLike | None = None,
    probes: ArrayLike | None = None,
    gallery: ArrayLike | None = None,
    average: str = "comparisons",
) -> Verification:
    """The comparisons of a list of trials: only the pairs that were compared are in any rate.

    Parameters
    ----------
    similarity, distance
        The score of each comparison; exactly one of the two.
    mated
        Whether each comparison is of one subject; None: where `probes` and `gallery` agree.
    probes, gallery
        Subject on each side; None: not known, and comparisons are taken as independent, with a note. Where only
        images are known, `linked_subjects` finds subjects from `mated`.
    average
        What counts the same: "comparisons", or "subjects" (FMR is then the mean over the pairs of subjects that were
        compared).

    Examples
    --------
    >>> v = verification_of_trials(similarity=[9, 8, 1, 2, 3, 7], probes=list("abcaab"), gallery=list("abcbcc"))
    >>> print(v.fmr(5).value.__round__(4), v.fnmr(5).value.__round__(4))
    0.3333 0.3333
    """
    one_of("average", average, AVERAGES)
    name, score = _scores(similarity, distance)
    label = None if mated is None else _truth(mated, len(score))
    if (probes is None) != (gallery is None):
        raise StratError.about(
            "probes", "and `gallery` must come together, got one of them; both sides have a subject."
        )
    if probes is None or gallery is None:
        return _without_subjects(score, label, average)
    first, second, subjects = both_sides("probes", probes, "gallery", gallery)
    same_length(**{name: score, "probes": first, "gallery": second})
    wrong = np.zeros(1, bool) if label is None else label != (first == second)
    if wrong.any():
        line = int(np.argmax(wrong))
        raise StratError.about(
            "mated",
            "must be true just where `probes` and `gallery` name one subject, got "
            f"{some([subjects[first[line]], subjects[second[line]]])} in row {line} ({int(wrong.sum())} such rows).",
        )
    return sorted_scores(ListComparisons(score, first, second, subjects, average == "subjects"))


@checked
def eer(genuine: ArrayLike, impostor: ArrayLike, *, higher_is_better: bool = True) -> Estimate:
    """The equal error rate of genuine and impostor scores, with comparisons taken as independent, and a note on that.

    With the subjects of both sides `verification_of_trials` has the interval that holds, and the other measures.

    Parameters
    ----------
    genuine, impostor
        Scores of comparisons of one subject, and of two.
    higher_is_better
        Whether a higher score speaks for one subject; False for distances.

    Examples
    --------
    >>> print(eer([0.9, 0.8, 0.7, 0.3], [0.6, 0.4, 0.2, 0.1]).value)
    0.25
    """
    scores = [numbers(name, one, axes=1) for name, one in (("genuine", genuine), ("impostor", impostor))]
    both = np.concatenate(scores)
    mated = np.arange(len(both)) < len(scores[0])
    return _without_subjects(both if higher_is_better else -both, mated, "comparisons").eer()


def _without_subjects(score: Array, label: NDArray[np.bool_] | None, average: str) -> Verification:
    if label is None:
        raise StratError.about("mated", "must say which comparisons are mated where no subjects are given, got None.")
    if average == "subjects":
        raise StratError.about("average", "must be 'comparisons' where no subjects are given, got 'subjects'.")
    return sorted_scores(IndependentComparisons(score, label))


def _scores(similarity: ArrayLike | None, distance: ArrayLike | None) -> tuple[str, Array]:
    if (similarity is None) == (distance is None):
        raise StratError(
            "exactly one of `similarity` (greater is better) and `distance` (smaller is better) must be given, got "
            f"{'both' if similarity is not None else 'neither'}; it is never guessed."
        )
    if distance is None:
        assert similarity is not None
        return "similarity", numbers("similarity", similarity, axes=1)
    return "distance", -numbers("distance", distance, axes=1)


def _truth(mated: ArrayLike, n: int) -> NDArray[np.bool_]:
    array = np.asarray(mated)
    if array.shape != (n,) or (array.dtype != bool and not np.isin(array, (0, 1)).all()):
        raise StratError.about(
            "mated", f"must be true or false for each of the {n} scores, got {some(np.ravel(array), 3)}."
        )
    return array.astype(bool)


@checked
def linked_subjects(mated: ArrayLike, probes: ArrayLike, gallery: ArrayLike) -> tuple[Codes, Codes]:
    """Subjects of the images on both sides of a list of trials: those that mated trials join are one subject.

    Parameters
    ----------
    mated
        Whether each trial is of one subject.
    probes, gallery
        The image (file, model, segment) on each side.

    Examples
    --------
    >>> a, b = linked_subjects([1, 0, 1], ["x1", "x1", "y1"], ["x2", "y1", "y2"])
    >>> a.tolist(), b.tolist()
    ([0, 0, 1], [0, 1, 1])
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first, second, images = both_sides("probes", probes, "gallery", gallery)
    same_length(probes=first, gallery=second)
    label = _truth(mated, len(first))
    n = len(images)
    links = coo_array((np.ones(int(label.sum())), (first[label], second[label])), shape=(n, n))
    subject = connected_components(links, directed=False)[1].astype(np.int64)
    wrong = ~label & (subject[first] == subject[second])
    if wrong.any():
        line = int(np.argmax(wrong))
        raise StratError.about(
            "mated",
            f"must not contradict itself, got {some([images[first[line]], images[second[line]]])} as non-mated "
            f"in row {line}, which mated trials join ({int(wrong.sum())} such rows).",
        )
    return subject[first], subject[second]


@checked
def verification_of_embeddings(
    probes: ArrayLike,
    gallery: ArrayLike | None = None,
    *,
    probe_subjects: ArrayLike,
    gallery_subjects: ArrayLike | None = None,
    score: str = "cosine",
    average: str = "comparisons",
) -> Verification:
    """All comparisons of two sets of embeddings, or of one set with itself.

    Parameters
    ----------
    probes, gallery
        One row per image; without `gallery` each pair of probes is compared once.
    probe_subjects, gallery_subjects
        Subject of each row.
    score
        ``"cosine"``, ``"inner"``, ``"euclidean"``, ``"l1"`` or ``"mahalanobis"``.
    average
        As in `verification`.

    Examples
    --------
    >>> x = [[1.0, 0.1], [0.9, 0.0], [0.1, 1.0], [0.0, 0.8], [-1.0, 0.1], [-0.7, 0.0]]
    >>> v = verification_of_embeddings(x, probe_subjects=list("aabbcc"), score="cosine")
    >>> len(v.mated), len(v.nonmated), float(v.eer().value)
    (3, 12, 0.0)
    """
    one_of("score", score, SCORES)
    if (gallery is None) != (gallery_subjects is None):
        raise StratError.about("gallery", "and `gallery_subjects` must come together, got one of them.")
    other = probes if gallery is None else gallery
    size = len(np.asarray(probes)) * len(np.asarray(other))
    if size > LIMITS.trial_scores:
        raise StratError.about(
            "probes",
            f"and `gallery` must make at most {LIMITS.trial_scores:,} comparisons, got {size:,}; take some of the "
            "images, or write scores to a Parquet file for `verification_of_file`.",
        )
    table = table_of(space(probes, other, score=score))
    if gallery is None:
        table = np.maximum(table, table.T)  # rounding may differ between both halves
    return verification(similarity=table, probes=probe_subjects, gallery=gallery_subjects, average=average)


def table_of(vectors: Space) -> Array:
    """The scores of all probes with all of the gallery, greater is better."""
    p, g = vectors.probes, vectors.gallery
    if vectors.form == "l1":
        from scipy.spatial.distance import cdist

        return np.asarray(-cdist(p, g, "cityblock"))
    product = p @ g.T
    if vectors.form == "inner":
        return np.asarray(product)
    squares = (p**2).sum(axis=1)[:, None] + (g**2).sum(axis=1)
    return np.asarray(-np.sqrt(np.maximum(squares - 2 * product, 0.0)))
