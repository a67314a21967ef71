"""`strat.recognition.ranks_of_embeddings` for rows that a GPU compares: subjects matched, rows chosen, columns made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from strat.base.errors import StratError, one_of
from strat.base.validate.columns import Codes, encode
from strat.recognition.blocks import Counts as Columns
from strat.recognition.gpu.counting import count_better
from strat.recognition.gpu.device import as_numpy, find_device, load_torch

if TYPE_CHECKING:
    from strat.recognition.ranks import Ranks


def ranks_of_embeddings(
    probes: Any,
    gallery: Any,
    *,
    probe_subjects: Any,
    gallery_subjects: Any,
    score: str,
    enrolment: str = "single",
    open_set: bool = False,
    failed_probes: Any = None,
    failed_gallery: Any = None,
    failures: str = "miss",
    covariance: Any = None,
    device: str = "cuda",
) -> Ranks:
    """`strat.recognition.ranks_of_embeddings` on a GPU: the same arguments, and the same ranks for every probe."""
    from strat.recognition.matching import match
    from strat.recognition.ranks import assemble

    one_of("device", device, ("cpu", "cuda"))
    _supported(score)
    find_device()
    p_labels, g_labels = as_numpy(probe_subjects), as_numpy(gallery_subjects)
    matching = match(
        p_labels, g_labels, enrolment=enrolment, open_set=open_set, failed_probes=failed_probes,
        failed_gallery=failed_gallery,
    )  # fmt: skip
    p = _chosen("probes", probes, matching.probes, len(p_labels))
    kept = np.sort(matching.members)
    g = _chosen("gallery", gallery, kept, len(g_labels))
    p_codes, g_codes = _subject_codes(p_labels[matching.probes], g_labels[kept])
    if enrolment == "mean" or score == "mahalanobis":
        p, g, score, g_codes = _on_host(p, g, g_codes, enrolment, score, covariance)
    several = enrolment == "best"
    c = count_better(p, g, probe_codes=p_codes, gallery_codes=g_codes, form=score, distinct=several)
    columns = Columns(c.above, c.tied, c.mate, c.best_nonmate, c.rechecked)
    return assemble(columns, matching, failures, c.method)


def _supported(score: str) -> None:
    if score == "l1":
        raise StratError.about(
            "score",
            "must be 'cosine', 'inner', 'euclidean' or 'mahalanobis' on a GPU, got 'l1', which is no "
            "matrix product; device='cpu' computes it.",
        )


def _chosen(argument: str, rows: Any, index: Codes, n: int) -> Any:
    """The rows of an array or tensor that take part; all of them without a copy."""
    rows = rows if hasattr(rows, "cpu") else np.asanyarray(rows)
    if rows.ndim != 2 or len(rows) != n:
        raise StratError.about(
            argument, f"must have one row for each of the {n} labels, got an array of shape {tuple(rows.shape)}."
        )
    if len(index) == n:
        return rows
    return rows[load_torch().as_tensor(index, device=rows.device)] if hasattr(rows, "cpu") else rows[index]


def _subject_codes(probes: Any, gallery: Any) -> tuple[Codes, Codes]:
    """Codes that are equal where labels are; −1 for probes whose subject the gallery lacks."""
    g_codes, known = encode("gallery", gallery)
    p_codes, wanted = encode("probes", probes)
    place = np.searchsorted(known, wanted).clip(max=len(known) - 1)
    return np.where(known[place] == wanted, place, -1)[p_codes], g_codes


def _on_host(p: Any, g: Any, codes: Codes, enrolment: str, score: str, covariance: Any) -> tuple[Any, Any, str, Codes]:
    """Whitened rows and mean templates are linear work: NumPy makes them, as on the CPU."""
    from strat.recognition.exact import space

    rows = space(as_numpy(p), as_numpy(g), score=score, covariance=covariance)
    entries = rows.gallery
    if enrolment == "mean":
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        sizes = np.diff(np.append(starts, len(codes)))
        entries = np.add.reduceat(entries[order], starts, axis=0) / sizes[:, None]
        entries = space(entries, entries, score="cosine").gallery if score == "cosine" else entries
        codes = codes[order][starts]
    return rows.probes, entries, rows.form, codes
