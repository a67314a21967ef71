"""The comparisons of a table of scores, checked by name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, one_of
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, Codes, encode, same_length
from strat.recognition.given_table import failed_in_list, failed_notes, score_table, symmetric
from strat.recognition.matching import failure_mask
from strat.recognition.table_comparisons import TableComparisons
from strat.recognition.trial_comparisons import ListComparisons
from strat.recognition.verification import AVERAGES, Verification, sorted_scores

MISSING = ("error", "not compared")


@checked
def verification(
    *,
    similarity: ArrayLike | None = None,
    distance: ArrayLike | None = None,
    probes: ArrayLike,
    gallery: ArrayLike | None = None,
    failed_probes: ArrayLike | None = None,
    failed_gallery: ArrayLike | None = None,
    average: str = "comparisons",
    missing: str = "error",
) -> Verification:
    """All mated and non-mated comparisons of a table of scores.

    Parameters
    ----------
    similarity, distance
        Probes × gallery; exactly one of the two.
    probes, gallery
        Subject of each row and column. Without `gallery` the table compares one set of images with itself: it must
        be square and symmetric, and each pair counts once, the diagonal never.
    failed_probes, failed_gallery
        Rows and columns without a template: FMR and FNMR are over completed comparisons.
    average
        What counts the same: "comparisons" (the usual rates, in which a subject with many images has most of them) or
        "subjects": FNMR is then the mean over subjects, FMR the mean over pairs of subjects.
    missing
        What a score that is not a number means: "error", or "not compared": the pair is in no rate.

    Examples
    --------
    >>> v = verification(similarity=[[9, 2, 4], [3, 8, 1], [2, 6, 5]], probes=list("abc"), gallery=list("abc"))
    >>> float(v.fmr(4).value), float(v.fnmr(6).value)
    (0.3333333333333333, 0.3333333333333333)
    """
    one_of("average", average, AVERAGES)
    one_of("missing", missing, MISSING)
    table, sign = score_table(similarity, distance, probes, gallery)
    triangle, columns = gallery is None, probes if gallery is None else gallery
    same_length(probes=table, labels=np.asarray(probes))
    if table.shape[1] != len(np.asarray(columns)):
        raise StratError.about(
            "gallery", f"must name the {table.shape[1]} columns, got {len(np.asarray(columns))} labels."
        )
    if triangle:
        _refuse_two_sides(table, failed_gallery)
    keep = [
        np.flatnonzero(~failure_mask(name, failed, len(np.asarray(labels))))
        for name, failed, labels in (
            ("failed_probes", failed_probes, probes),
            ("failed_gallery", failed_probes if triangle else failed_gallery, columns),
        )
    ]
    codes, labels = encode("probes", np.concatenate([np.asarray(probes)[keep[0]], np.asarray(columns)[keep[1]]]))
    if any(len(k) < s for k, s in zip(keep, table.shape, strict=True)):
        table = table[np.ix_(*keep)]
    first, second = codes[: len(keep[0])], codes[len(keep[0]) :]
    if missing == "not compared" and table.dtype.kind == "f":
        return _compared_only(sign * table.astype(float), first, second, labels, triangle, average)
    alike = failed_notes(table, labels[first], None if triangle else labels[second])
    return sorted_scores(TableComparisons(table, sign, first, second, labels, triangle, average == "subjects", alike))


def _refuse_two_sides(table: NDArray[Any], failed_gallery: ArrayLike | None) -> None:
    """Refuse what can't be the table of one set with itself."""
    if failed_gallery is not None:
        raise StratError.about(
            "failed_gallery", "must be left out where one set is compared with itself; use `failed_probes`."
        )
    if not symmetric(table):
        raise StratError.about("gallery", "must be given for a table that is not symmetric, got None.")


def _compared_only(
    table: Array, row: Codes, column: Codes, labels: NDArray[Any], triangle: bool, average: str
) -> Verification:
    """The comparisons of an incomplete table: the pairs that have a score."""
    i, j = np.nonzero(~np.isnan(table))
    if triangle:
        i, j = i[j > i], j[j > i]
    score = table[i, j]
    alike = failed_in_list(score, {"row": i, "column": j})
    return sorted_scores(ListComparisons(score, row[i], column[j], labels, average == "subjects", alike))
