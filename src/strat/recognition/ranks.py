"""Scores to ranks: four columns per probe, from which every curve and every replicate follows.

For each probe: how many gallery scores are strictly better than its mate's (`above`), how many are equal to it
(`tied`), the mate's own score, and the best score of a non-mate. The matrix is never needed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.columns import Array, Codes, encode
from strat.errors import StratError, one_of, some
from strat.recognition.exact import SCORES, Space, space

TIES = ("pessimistic", "optimistic", "expected")


@dataclass(frozen=True, eq=False)
class Ranks:
    """What a gallery says about each probe.

    Attributes
    ----------
    above
        Gallery scores strictly better than the mate's; 0 where there is no mate.
    tied
        Gallery scores equal to the mate's, the mate's own subject not counted; 0 where there is no mate.
    mate
        The mate's score, the greater the better (a distance is negated). NaN: the probe has no mate in the
        gallery (open set). Minus infinity: a failure to acquire or to enrol, a miss at every rank.
    best_nonmate
        The best score of another subject; minus infinity where there is none.
    subject
        The label of each probe's subject.
    gallery_size
        N, the number of enrolled entries that each probe was compared with.
    rechecked
        Comparisons that lay inside the error bound of the fast product and were made again in float64.
    method
        How the comparisons were made.
    rows
        Which rows of the probes these are (all of them, unless failures were left out).
    """

    above: Codes
    tied: Codes
    mate: Array
    best_nonmate: Array
    subject: NDArray[Any]
    gallery_size: int
    rechecked: int
    method: str
    rows: Codes

    def __len__(self) -> int:
        """Number of probes."""
        return len(self.above)

    @property
    def mated(self) -> NDArray[np.bool_]:
        """Which probes have a mate in the gallery (failures included)."""
        return ~np.isnan(self.mate)

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Which mated probes failed to be acquired or have a mate that failed to be enrolled."""
        return np.isneginf(self.mate)

    @property
    def tied_probes(self) -> int:
        """How many probes have a non-mate with exactly the mate's score."""
        return int(np.count_nonzero(self.tied))

    def rank(self, ties: str = "pessimistic") -> Array:
        """The rank of each probe's own class; infinite for a failure, NaN without a mate.

        ``"pessimistic"`` is the number of gallery scores greater than or equal to that of the own class
        (STRAT 2.2, ERRATA 9); ``"optimistic"`` puts the mate before its equals, ``"expected"`` in their middle.
        """
        one_of("ties", ties, TIES)
        share = {"pessimistic": 1.0, "optimistic": 0.0, "expected": 0.5}[ties]
        rank: Array = 1.0 + self.above + share * self.tied
        rank[self.failed] = np.inf
        rank[~self.mated] = np.nan
        return rank


def ranks_of_embeddings(
    probes: ArrayLike,
    gallery: ArrayLike,
    *,
    probe_subjects: ArrayLike,
    gallery_subjects: ArrayLike,
    score: str,
    device: str = "cpu",
    open_set: bool = False,
    covariance: ArrayLike | None = None,
) -> Ranks:
    """Ranks of embeddings, equal for every probe to those of float64 scores.

    >>> r = ranks_of_embeddings([[1.0, 0.0], [1.0, 1.0]], [[2.0, 1.0], [0.0, 1.0]],
    ...                         probe_subjects=["a", "b"], gallery_subjects=["a", "b"], score="cosine")
    >>> r.rank().tolist(), r.mate.round(3).tolist()
    ([1.0, 2.0], [0.894, 0.707])
    """
    one_of("score", score, SCORES)
    if device != "cpu":
        raise StratError(f"`device` must be 'cpu', got {device!r}.")
    vectors = space(probes, gallery, score=score, covariance=covariance)
    mates = _mates(probe_subjects, gallery_subjects, open_set)
    return _plain(vectors, mates, np.asarray(probe_subjects))


def _mates(probe_subjects: ArrayLike, gallery_subjects: ArrayLike, open_set: bool) -> Codes:
    """The gallery row of each probe's subject, −1 where there is none."""
    codes, labels = encode("gallery_subjects", gallery_subjects)
    if len(labels) < len(codes):
        twice = labels[np.bincount(codes) > 1]
        raise StratError(f"`gallery_subjects` must name each subject once, got {some(twice)} more than once.")
    wanted = np.asarray(probe_subjects)
    place = np.clip(np.searchsorted(labels, wanted), 0, len(labels) - 1)
    mates = np.where(labels[place] == wanted, np.argsort(codes, kind="stable")[place], -1)
    if not open_set and (mates < 0).any():
        raise StratError(
            f"every probe must have its subject in the gallery (closed set), got {some(np.unique(wanted[mates < 0]))} "
            "without one; pass open_set=True to count them as non-mated probes."
        )
    return mates.astype(np.int64)


def _plain(vectors: Space, mates: Codes, subject: NDArray[Any]) -> Ranks:
    n, size = len(vectors.probes), len(vectors.gallery)
    everyone = np.arange(size)
    above, tied = np.zeros(n, np.int64), np.zeros(n, np.int64)
    mate, best = np.full(n, np.nan), np.full(n, -np.inf)
    for i in range(n):
        scores = vectors.pairs(np.full(size, i), everyone)
        if mates[i] >= 0:
            mate[i] = scores[mates[i]]
            above[i], tied[i] = (scores > mate[i]).sum(), (scores == mate[i]).sum() - 1
            scores[mates[i]] = -np.inf
        best[i] = scores.max()
    return Ranks(above, tied, mate, best, subject, size, 0, "float64 pairs", np.arange(n))
