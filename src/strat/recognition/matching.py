"""Who is whose mate: labels of probes and gallery turned into columns, groups and failures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of, some
from strat.base.validate.columns import Codes, encode

ENROLMENTS = ("single", "best", "mean", "images")
FAILURES = ("miss", "leave out")
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Matching:
    """Which gallery rows make up which entry, and which entries are each probe's mates.

    Attributes
    ----------
    probes
        Rows of the probes that are compared (failures to acquire left out).
    members, starts
        Gallery rows grouped by entry, and where each entry's group starts (one more at the end).
    row, column
        Cells of the table probes × entries that hold a mate, in the order of rows.
    subject
        Label of every probe given.
    known
        Which probes given have their subject among the gallery's labels, failed to enrol or not.
    """

    probes: Codes
    members: Codes
    starts: Codes
    row: Codes
    column: Codes
    subject: NDArray[Any]
    known: Mask

    @property
    def entries(self) -> int:
        """Number of enrolled entries, N."""
        return len(self.starts) - 1

    @property
    def sizes(self) -> Codes:
        """Number of gallery rows behind each entry."""
        return np.diff(self.starts)

    def compact(self) -> Matching:
        """The same for arrays that hold the compared probes and the enrolled rows alone, in this order."""
        return replace(self, probes=np.arange(len(self.probes)), members=np.arange(len(self.members)))

    def one_each(self) -> Matching:
        """The same for a gallery with one row per entry."""
        entries = np.arange(self.entries + 1)
        return replace(self, members=entries[:-1], starts=entries)


def match(
    probe_subjects: ArrayLike,
    gallery_subjects: ArrayLike,
    *,
    enrolment: str,
    open_set: bool,
    failed_probes: ArrayLike | None,
    failed_gallery: ArrayLike | None,
) -> Matching:
    """The matching of two lists of labels, with every label checked."""
    one_of("enrolment", enrolment, ENROLMENTS)
    probe_codes, probe_labels = encode("probes", probe_subjects)
    gallery_codes, gallery_labels = encode("gallery", gallery_subjects)
    _same_kind(probe_labels, gallery_labels)
    fine = ~failure_mask("failed_gallery", failed_gallery, len(gallery_codes))
    if not fine.any():
        raise StratError.about("failed_gallery", "must leave at least one entry, got all of them marked as failed.")
    if enrolment == "single":
        _once(gallery_codes, gallery_labels)
    wanted = _look_up(probe_labels, gallery_labels)[probe_codes]
    if not open_set and (wanted < 0).any():
        lost = np.unique(probe_labels[probe_codes[wanted < 0]])
        raise StratError(
            f"every probe must have its subject in the gallery (closed set), got {some(lost)} "
            f"({int((wanted < 0).sum())} probes) without one; pass open_set=True to count them as non-mated."
        )
    acquired = np.flatnonzero(~failure_mask("failed_probes", failed_probes, len(probe_codes)))
    if not len(acquired):
        raise StratError.about("failed_probes", "must leave at least one probe, got all of them marked as failed.")
    members = np.flatnonzero(fine)
    if enrolment == "images":
        groups = np.arange(len(members))
    else:
        members = members[np.argsort(gallery_codes[members], kind="stable")]
        groups = np.unique(gallery_codes[members], return_inverse=True)[1].reshape(-1)
    starts = np.append(np.flatnonzero(np.diff(groups, prepend=-1)), len(members))
    row, column = _cells(wanted[acquired], gallery_codes[members][starts[:-1]], len(gallery_labels))
    labels = probe_labels[probe_codes]
    return Matching(acquired, members, starts, row, column, labels, wanted >= 0)


def failure_mask(argument: str, failed: ArrayLike | None, n: int) -> Mask:
    """Which of n rows failed: none, a truth value per row, or the rows' positions."""
    if failed is None:
        return np.zeros(n, bool)
    array = np.asarray(failed)
    if array.dtype == bool and array.shape == (n,):
        return array
    if array.dtype.kind in "iu" and array.ndim == 1 and (not len(array) or 0 <= array.min() <= array.max() < n):
        mask = np.zeros(n, bool)
        mask[array] = True
        return mask
    raise StratError.about(
        argument,
        f"must be a truth value for each of the {n} rows or positions among them, "
        f"got {array.dtype} of shape {array.shape}.",
    )


def _same_kind(probe_labels: NDArray[Any], gallery_labels: NDArray[Any]) -> None:
    kinds = [("text" if x.dtype.kind in "US" else "numbers") for x in (probe_labels, gallery_labels)]
    if kinds[0] != kinds[1]:
        raise StratError.about(
            "probes",
            f"and `gallery` must have labels of the same type, got {kinds[0]} ({some(probe_labels, 2)}) "
            f"and {kinds[1]} ({some(gallery_labels, 2)}); make them all text.",
        )


def _once(codes: Codes, labels: NDArray[Any]) -> None:
    if len(labels) < len(codes):
        raise StratError.about(
            "gallery",
            f"must name each subject once, got {some(labels[np.bincount(codes) > 1])} more than once; "
            "say with `enrolment` what several images mean: 'best' or 'mean' score per subject, or 'images' "
            "to rank every image by itself.",
        )


def _look_up(probe_labels: NDArray[Any], gallery_labels: NDArray[Any]) -> Codes:
    """The gallery's code of each probe label, −1 where it has none."""
    place = np.clip(np.searchsorted(gallery_labels, probe_labels), 0, len(gallery_labels) - 1)
    return np.where(gallery_labels[place] == probe_labels, place, -1).astype(np.int64)


def _cells(wanted: Codes, entry_subject: Codes, subjects: int) -> tuple[Codes, Codes]:
    """Rows and columns of all mated cells; entries come in no particular order of subjects."""
    order = np.argsort(entry_subject, kind="stable")
    first = np.searchsorted(entry_subject[order], np.arange(subjects + 1))
    count = np.where(wanted >= 0, first[wanted + 1] - first[wanted], 0)
    row = np.repeat(np.arange(len(wanted)), count)
    within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    return row, order[first[wanted[row]] + within]


def both_sides(first: str, a: ArrayLike, second: str, b: ArrayLike) -> tuple[Codes, Codes, NDArray[Any]]:
    """Codes of two columns of labels in one order of labels, and the labels.

    >>> both_sides("probes", ["b", "c"], "gallery", ["a", "b"])[:2]
    (array([1, 2]), array([0, 1]))
    """
    (i, left), (j, right) = encode(first, a), encode(second, b)
    codes, labels = encode(first, np.concatenate([left, right]))
    return codes[: len(left)][i], codes[len(left) :][j], labels
