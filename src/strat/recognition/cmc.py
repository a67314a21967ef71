"""The cumulative match characteristic straight from embeddings."""

from __future__ import annotations

from numpy.typing import ArrayLike

from strat.base.validate.arguments import checked
from strat.recognition.curves import MatchCurve, match_curve
from strat.recognition.ranks import ranks_of_embeddings


@checked
def cmc(
    probes: ArrayLike,
    gallery: ArrayLike,
    probe_ids: ArrayLike,
    gallery_ids: ArrayLike,
    *,
    score: str = "cosine",
    enrolment: str = "single",
    at: ArrayLike | None = None,
    up_to: int | None = None,
    target: str = "population",
    ties: str = "pessimistic",
    average: str = "probes",
    method: str = "closed form",
    open_set: bool = False,
    failed_probes: ArrayLike | None = None,
    failed_gallery: ArrayLike | None = None,
    failures: str = "miss",
    covariance: ArrayLike | None = None,
    device: str = "cpu",
) -> MatchCurve:
    """The cumulative match characteristic (CMC, or CMS curve) of embeddings, with errors.

    It is `ranks_of_embeddings`, then `match_curve`.

    Parameters
    ----------
    probes, gallery
        One row per image.
    probe_ids, gallery_ids
        Subject of each row.
    score
        ``"cosine"``, ``"inner"``, ``"euclidean"``, ``"l1"`` or ``"mahalanobis"``.
    enrolment
        What several gallery images of a subject mean: ``"single"`` (there is one each), ``"best"`` or ``"mean"`` per
        subject, or ``"images"``, each by itself.
    at, up_to, target, ties, average, method
        As in `match_curve`.
    open_set, failed_probes, failed_gallery, failures, covariance, device
        As in `ranks_of_embeddings`.

    Examples
    --------
    >>> probes, gallery = [[1.0, 0.1], [0.9, 0.0], [1.0, 0.9], [0.1, 1.0]], [[1.0, 0.0], [0.0, 1.0]]
    >>> curve = cmc(probes, gallery, ["a", "a", "b", "b"], ["a", "b"])
    >>> curve.of().value.tolist()
    [0.75, 1.0]
    """
    ranks = ranks_of_embeddings(
        probes,
        gallery,
        probe_subjects=probe_ids,
        gallery_subjects=gallery_ids,
        score=score,
        enrolment=enrolment,
        open_set=open_set,
        failed_probes=failed_probes,
        failed_gallery=failed_gallery,
        failures=failures,
        covariance=covariance,
        device=device,
    )
    return match_curve(ranks, target=target, method=method, at=at, up_to=up_to, ties=ties, average=average)
