"""Re-identification: mean average precision and match rates with the camera rule, with errors by subject."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, some
from strat.base.result import Result
from strat.base.text import counted
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, encode, same_length
from strat.base.validate.labels import plain_labels
from strat.designs import Design
from strat.estimation import Estimate, estimate
from strat.measures.means import mean
from strat.measures.ranks import cms
from strat.recognition.curves import design_of, places
from strat.recognition.given_table import refuse_own_images, score_table
from strat.recognition.matching import both_sides


@dataclass(frozen=True, eq=False, repr=False)
class Reidentification(Result):
    """What a gallery with several images of each subject says about each probe.

    Attributes
    ----------
    average_precision
        The mean precision at the right images of each probe.
    rank
        The rank of the first right image.
    subject
        Subject of each probe.
    gallery_size
        Images in the gallery.
    left_out
        Probes without a right image that the camera rule lets count.
    """

    average_precision: Array
    rank: Array
    subject: NDArray[Any]
    gallery_size: int
    left_out: int

    @property
    def design(self) -> Design:
        """Whole subjects were drawn."""
        return design_of(self.subject)

    def mean_average_precision(self) -> Estimate:
        """MAP: the mean over probes of the average precision."""
        return _share(self.average_precision, "mAP", self.design)

    @checked
    def cmc(self, at: ArrayLike | None = None) -> Estimate:
        """The share of probes whose first right image is at a rank or before it."""
        ranks = places(self.gallery_size) if at is None else at
        return estimate(cms(self.rank, at=ranks), on=self.design).changed(monotone=1)

    @checked
    def difference(self, other: Reidentification) -> Estimate:
        """MAP of this system minus that of another on the same probes, paired."""
        if not np.array_equal(self.subject, other.subject):
            raise StratError.about("other", "must be of the same probes in the same order, got other subjects.")
        gaps = self.average_precision - other.average_precision
        return estimate(replace(mean(gaps), name="mAP, difference", bounds=(-1.0, 1.0)), on=self.design)

    def __str__(self) -> str:
        """MAP, and the rank-1 rate."""
        first = self.cmc([1]).at(1)
        lines = [
            f"{counted(len(self.rank), 'probe')} of {counted(len(np.unique(self.subject)), 'subject')} against "
            f"{counted(self.gallery_size, 'image')}",
            str(self.mean_average_precision()),
            str(replace(first, name="rank 1")),
        ]
        if self.left_out:
            lines.append(f"note: {counted(self.left_out, 'probe')} without a right image of another camera left out")
        return "\n".join(lines)


def _share(values: Array, name: str, design: Design) -> Estimate:
    return estimate(replace(mean(values), name=name, link="logit", bounds=(0.0, 1.0)), on=design)


@checked
def reidentification(
    *,
    similarity: ArrayLike | None = None,
    distance: ArrayLike | None = None,
    probes: ArrayLike,
    gallery: ArrayLike,
    probe_cameras: ArrayLike | None = None,
    gallery_cameras: ArrayLike | None = None,
    junk: ArrayLike | None = None,
) -> Reidentification:
    """Average precision and first right rank of each probe in a gallery with several images of a subject.

    Ties count against the system. The average precision is the mean of the precision at each right image, as in most
    code for re-identification (the trapezoids of Market-1501's first script are a little lower).

    Parameters
    ----------
    similarity, distance
        Probes × gallery; exactly one of the two.
    probes, gallery
        Subject of each row and column.
    probe_cameras, gallery_cameras
        Camera of each; images of the probe's subject by the probe's camera are then no entries for it. None: all count.
    junk
        Subjects in the gallery that stand for no subject and are no entries for any probe (-1 in Market-1501).

    Examples
    --------
    The probe's own subject is at ranks 1 and 3: precisions 1 and 2/3.

    >>> r = reidentification(similarity=[[9, 5, 3, 1]], probes=["a"], gallery=["a", "b", "a", "b"])
    >>> r.average_precision.round(4).tolist(), r.rank.tolist()
    ([0.8333], [1.0])
    """
    table, sign = score_table(similarity, distance)
    p, g, subjects = both_sides("probes", probes, "gallery", gallery)
    same_length(probes=p, table=table)
    if table.shape[1] != len(g):
        raise StratError.about("gallery", f"must name the {table.shape[1]} columns, got {len(g)} labels.")
    if (probe_cameras is None) != (gallery_cameras is None):
        raise StratError.about("probe_cameras", "and `gallery_cameras` must come together, got one of them.")
    if probe_cameras is None:
        refuse_own_images(table, probes, gallery)
    seen_by = None
    if probe_cameras is not None and gallery_cameras is not None:
        seen_by = both_sides("probe_cameras", probe_cameras, "gallery_cameras", gallery_cameras)[:2]
        same_length(probes=p, probe_cameras=seen_by[0])
        same_length(gallery=g, gallery_cameras=seen_by[1])
    entries = np.ones(len(g), bool) if junk is None else ~np.isin(subjects, _junk(junk, subjects))[g]
    rows = [_row(sign * table[i].astype(float), p[i], g, entries, i, seen_by) for i in range(len(p))]
    kept = [i for i, row in enumerate(rows) if row is not None]
    if not kept:
        raise StratError.about(
            "probes", f"must have right images in the gallery, got none for {some(subjects[np.unique(p)])}."
        )
    values = np.array([row for row in rows if row is not None])
    return Reidentification(values[:, 0], values[:, 1], subjects[p[kept]], len(g), len(p) - len(kept))


def _junk(junk: ArrayLike, subjects: NDArray[Any]) -> NDArray[Any]:
    """The labels that stand for no subject, of the same type as those of subjects."""
    labels = encode("junk", np.atleast_1d(np.asarray(plain_labels(junk))))[1]
    if (labels.dtype.kind in "iuf") != (subjects.dtype.kind in "iuf"):
        raise StratError.about(
            "junk", f"must be labels as those of `gallery` ({some(subjects, 2)}), got {some(labels, 2)}."
        )
    return labels


def _row(
    scores: Array, subject: int, gallery: NDArray[Any], entries: NDArray[np.bool_], i: int, seen_by: Any
) -> tuple[float, float] | None:
    """Average precision and first right rank of one probe; None without a right image."""
    right = gallery == subject
    use = entries if seen_by is None else entries & ~(right & (seen_by[1] == seen_by[0][i]))
    scores, right = scores[use], right[use]
    if not right.any():
        return None
    if not np.isfinite(scores).all():
        raise StratError(f"scores must be finite, got {scores[~np.isfinite(scores)][0]} for probe {i}.")
    order = np.lexsort((right, -scores))  # among equals the wrong ones come first
    hits = np.flatnonzero(right[order])
    return float(np.mean(np.arange(1, len(hits) + 1) / (hits + 1))), float(hits[0] + 1)
