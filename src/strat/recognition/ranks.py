"""Scores to ranks: four columns per probe, from which every curve and every replicate follows.

For each probe: how many gallery scores are strictly better than its mate's (`above`), how many are equal to it
(`tied`), the mate's own score, and the best score of a non-mate. The matrix is never needed again.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of
from strat.base.notes import Note
from strat.base.result import Result
from strat.base.text import counted
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes
from strat.estimation.frames import frame
from strat.recognition import blocks
from strat.recognition.blocks import Counts
from strat.recognition.exact import SCORES, Space, space
from strat.recognition.given_table import failed_notes, score_table
from strat.recognition.matching import FAILURES, Matching, match
from strat.recognition.table import count as count_table

TIES = ("pessimistic", "optimistic", "expected")


@dataclass(frozen=True, eq=False, repr=False)
class Ranks(Result):
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
    notes
        What a reader should know, such as mates that score worse than strangers.
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
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        """Number of probes."""
        return len(self.above)

    def __str__(self) -> str:
        """How many probes of each kind, ties, and how many are first."""
        mated, first = self.mated, int((self.rank() == 1).sum())
        among = f"{first} of {int(mated.sum())} mated ones at rank 1"
        text = f"{counted(len(self), 'probe')} against N = {self.gallery_size}: {among}"
        others = {"non-mated": int((~mated).sum()), "failed": int(self.failed.sum()), "tied": self.tied_probes}
        text = ", ".join([text, *(f"{number} {kind}" for kind, number in others.items() if number)])
        return "\n".join([text, *(f"note: {note}" for note in self.notes)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The rank of each probe, ties against the system: ``np.asarray(ranks)`` is ``ranks.rank()``."""
        if copy is False:
            raise ValueError("ranks are computed, so that an array of them is always a copy")
        return self.rank() if dtype is None else self.rank().astype(dtype)

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns: a line for each probe."""
        columns = {
            "row": self.rows,
            "subject": self.subject,
            "rank": self.rank(),
            "above": self.above,
            "tied": self.tied,
            "mate": self.mate,
            "best_nonmate": self.best_nonmate,
        }
        return {name: column.tolist() for name, column in columns.items()}

    def to_frame(self, library: str | None = None) -> Any:
        """The columns as a data frame of pandas, Polars or PyArrow (the first that is loaded or installed)."""
        return frame(self.to_dict(), library)

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

    def relative_rank(self, by: str = "N", ties: str = "pessimistic") -> Array:
        """The rank as a share: of the N entries of the gallery (`by` "N"), or of the m mated probes ("m": STRAT 2.2).

        Both are the same with one probe of each enrolled subject.
        """
        one_of("by", by, ("N", "m"))
        return np.asarray(self.rank(ties) / (self.gallery_size if by == "N" else int(self.mated.sum())))


@checked
def ranks(
    *,
    similarity: ArrayLike | None = None,
    distance: ArrayLike | None = None,
    probes: ArrayLike,
    gallery: ArrayLike,
    enrolment: str = "single",
    open_set: bool = False,
    failed_probes: ArrayLike | None = None,
    failed_gallery: ArrayLike | None = None,
    failures: str = "miss",
    threads: int | None = None,
    progress: bool | None = None,
) -> Ranks:
    """Ranks from a table of scores, probes × gallery.

    Parameters
    ----------
    similarity, distance
        The table, one row per probe and one column per gallery image; exactly one of the two, because it should not be
        guessed which way is better. A memory-mapped array is read in blocks.
    probes, gallery
        Subject of each row and of each column.
    enrolment
        What several images of a subject in the gallery mean: ``"single"`` (there is one each; a label twice is
        an error), ``"best"`` or ``"mean"`` score per subject, ``"images"`` (every image is an entry by itself and
        the best mate counts: retrieval).
    open_set
        Whether probes may have no mate in the gallery; they then count as non-mated.
    failed_probes, failed_gallery
        Failures to acquire and to enrol, as a truth value per row or as positions. Their scores are not read.
    failures
        ``"miss"``: a failure is a miss at every rank; ``"leave out"``: such probes are left out.
    threads
        How many threads work (None: one per core).
    progress
        Whether to draw a bar (None: on long work at a terminal).

    Examples
    --------
    Three probes; the second one's mate ties with a stranger, the third one's comes last.

    >>> r = ranks(similarity=[[9, 2, 1], [5, 5, 1], [7, 6, 3]], probes=["a", "b", "c"], gallery=["a", "b", "c"])
    >>> r.rank().tolist(), r.rank("optimistic").tolist(), r.tied_probes
    ([1.0, 2.0, 3.0], [1.0, 1.0, 3.0], 1)
    """
    table, sign = score_table(similarity, distance, probes, gallery)
    matching = match(
        probes,
        gallery,
        enrolment=enrolment,
        open_set=open_set,
        failed_probes=failed_probes,
        failed_gallery=failed_gallery,
    )
    wanted = (len(matching.subject), len(np.asarray(gallery)))
    if table.shape != wanted:
        raise StratError(
            f"the table of scores must be probes × gallery, here {wanted[0]} × {wanted[1]}, got "
            f"{' × '.join(map(str, table.shape))}; is it transposed?"
        )
    counts = count_table(
        lambda rows: sign * table[rows].astype(float),
        matching,
        mean=enrolment == "mean",
        columns=table.shape[1],
        threads=threads,
        progress=_show(progress, table.size),
    )
    notes = _direction(counts, matching, "similarity" if sign > 0 else "distance")
    alike = failed_notes(table, probes, gallery, kept=(matching.probes, matching.members))
    return replace(assemble(counts, matching, failures, "float64 table"), notes=(*notes, *alike))


@checked
def ranks_of_embeddings(
    probes: ArrayLike,
    gallery: ArrayLike,
    *,
    probe_subjects: ArrayLike,
    gallery_subjects: ArrayLike,
    score: str,
    enrolment: str = "single",
    open_set: bool = False,
    failed_probes: ArrayLike | None = None,
    failed_gallery: ArrayLike | None = None,
    failures: str = "miss",
    covariance: ArrayLike | None = None,
    device: str = "cpu",
    threads: int | None = None,
    progress: bool | None = None,
) -> Ranks:
    """Ranks of embeddings, for every probe those of float64 scores, without ever storing the table.

    Parameters
    ----------
    probes, gallery
        One row per image.
    probe_subjects, gallery_subjects
        Subject of each row.
    score
        ``"cosine"``, ``"inner"``, ``"euclidean"``, ``"l1"`` or ``"mahalanobis"``.
    enrolment, open_set, failed_probes, failed_gallery, failures, threads, progress
        As in `ranks`; ``enrolment="mean"`` enrols the mean vector of a subject (of its unit vectors for cosine).
    covariance
        For Mahalanobis; that of the gallery by default.
    device
        ``"cpu"`` or ``"cuda"``.

    Examples
    --------
    >>> r = ranks_of_embeddings([[1.0, 0.0], [1.0, 1.0]], [[2.0, 1.0], [0.0, 1.0]],
    ...                         probe_subjects=["a", "b"], gallery_subjects=["a", "b"], score="cosine")
    >>> r.rank().tolist(), r.mate.round(3).tolist()
    ([1.0, 2.0], [0.894, 0.707])
    """
    one_of("score", score, SCORES)
    one_of("failures", failures, FAILURES)
    if device != "cpu" or getattr(probes, "is_cuda", False):
        return _on_device(
            probes,
            gallery,
            probe_subjects=probe_subjects,
            gallery_subjects=gallery_subjects,
            score=score,
            enrolment=enrolment,
            open_set=open_set,
            failed_probes=failed_probes,
            failed_gallery=failed_gallery,
            failures=failures,
            covariance=covariance,
            device=device,
        )
    matching = match(
        probe_subjects,
        gallery_subjects,
        enrolment=enrolment,
        open_set=open_set,
        failed_probes=failed_probes,
        failed_gallery=failed_gallery,
    )
    p, g = _rows("probes", probes, len(matching.subject)), _rows("gallery", gallery, len(np.asarray(gallery_subjects)))
    vectors = space(p[matching.probes], g[matching.members], score=score, covariance=covariance)
    compact = matching.compact()
    if enrolment == "mean":
        vectors, compact = _mean_enrolment(vectors, compact, score)
    work = vectors.probes.size * len(vectors.gallery)
    if score == "l1":
        counts = _l1(vectors, compact, threads, _show(progress, work))
        return assemble(counts, matching, failures, "float64 distances")
    counts = blocks.count(vectors, compact, threads=threads, progress=_show(progress, work))
    return assemble(counts, matching, failures, "float32 product, near-ties in float64")


def _on_device(probes: Any, gallery: Any, **arguments: Any) -> Ranks:
    """The same call on another device; `strat.recognition.gpu` is imported only now."""
    result: Ranks = importlib.import_module("strat.recognition.gpu").ranks_of_embeddings(probes, gallery, **arguments)
    return result


def assemble(counts: Counts, matching: Matching, failures: str, method: str) -> Ranks:
    """The four columns for all probes given, with what `failures` says about those that were not compared."""
    one_of("failures", failures, FAILURES)
    n = len(matching.subject)
    above, tied = np.zeros(n, np.int64), np.zeros(n, np.int64)
    mate, best = np.full(n, np.nan), np.full(n, -np.inf)
    mate[matching.known] = -np.inf
    done = matching.probes
    above[done], tied[done], best[done] = counts.above, counts.tied, counts.best
    mate[done] = np.where(np.isnan(counts.mate), mate[done], counts.mate)
    rows = np.arange(n)
    if failures == "leave out":
        acquired = np.zeros(n, bool)
        acquired[done] = True
        rows = np.flatnonzero(acquired & ~np.isneginf(mate))
    return Ranks(
        above[rows],
        tied[rows],
        mate[rows],
        best[rows],
        matching.subject[rows],
        matching.entries,
        counts.rechecked,
        method,
        rows,
    )


def _direction(counts: Counts, matching: Matching, given: str) -> tuple[Note, ...]:
    """A note when mates score worse than strangers do, as they would with the sign turned round."""
    mated = ~np.isnan(counts.mate)
    others = matching.entries - 1
    if not mated.any() or others < 2:
        return ()
    place = float((counts.above[mated] + 0.5 * counts.tied[mated]).mean() / others)
    if place <= max(0.65, 0.5 + 4 / np.sqrt(12 * mated.sum())):
        return ()
    other = "distance" if given == "similarity" else "similarity"
    return (Note("scores-reversed", {"case": "ranks", "given": given, "place": place, "other": other}),)


def _rows(argument: str, values: ArrayLike, n: int) -> NDArray[Any]:
    array = np.asanyarray(values)
    if array.ndim != 2 or len(array) != n:
        raise StratError.about(
            argument, f"must have one row for each of the {n} labels, got an array of shape {array.shape}."
        )
    return array


def _mean_enrolment(vectors: Space, matching: Matching, score: str) -> tuple[Space, Matching]:
    mean = np.add.reduceat(vectors.gallery[matching.members], matching.starts[:-1], axis=0) / matching.sizes[:, None]
    if score == "cosine":
        if not (lengths := np.abs(mean).max(axis=1)).all():
            raise StratError.about(
                "enrolment",
                f"must not be 'mean' where a subject's unit vectors cancel out under cosine, got "
                f"{int((lengths == 0).sum())} such subjects in `gallery`; use 'best' or drop them.",
            )
        mean = space(mean, mean, score="cosine").gallery
    return Space(vectors.probes, np.ascontiguousarray(mean), vectors.form), matching.one_each()


def _l1(vectors: Space, matching: Matching, threads: int | None, progress: bool) -> Counts:
    from scipy.spatial.distance import cdist

    return count_table(
        lambda rows: -cdist(vectors.probes[rows], vectors.gallery, "cityblock"),
        matching,
        mean=False,
        columns=len(vectors.gallery),
        threads=threads,
        progress=progress,
    )


def _show(progress: bool | None, work: int) -> bool:
    return (work > 1 << 38 and sys.stderr.isatty()) if progress is None else progress
