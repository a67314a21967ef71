"""Recognition systems: galleries, probes, ranks, curves with errors, verification and open set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strat.base.elsewhere import answers_for
from strat.recognition.cmc import cmc
from strat.recognition.compare_matchers import (
    MatcherComparison,
    OpenSetComparison,
    compare_matchers,
    compare_open_sets,
)
from strat.recognition.curves import (
    MatchCurve,
    cms_of,
    design_of,
    match_curve,
    reciprocal_rank_of,
    relative_rank_of,
    within_rank_of,
)
from strat.recognition.det_curve import DetCurve
from strat.recognition.experiment import (
    System,
    compare_methods,
    compare_systems,
    compare_units,
    permutations,
    run,
    system_of_embeddings,
    system_of_model,
    system_of_scores,
)
from strat.recognition.gallery_effect import GalleryEffect, evaluation_figures, gallery_effect
from strat.recognition.gallery_sampling import GallerySampling, gallery_sampling
from strat.recognition.measures import Cost
from strat.recognition.open_set import OpenSet, open_set, size_curve, within_rank_by_size
from strat.recognition.ranks import Ranks, ranks, ranks_of_embeddings
from strat.recognition.reidentification import Reidentification, reidentification
from strat.recognition.score_files import Candidates, ScoreTable, candidates, read_matrix, read_triples
from strat.recognition.sets import ImageArray, Representation, image_array, representation
from strat.recognition.streaming import verification_of_file
from strat.recognition.trial_files import Trials, read_genuine_impostor, read_labels, read_scores, read_trials
from strat.recognition.trials import eer, linked_subjects, verification_of_embeddings, verification_of_trials
from strat.recognition.verification import Verification
from strat.recognition.verification_tables import verification

__all__ = [
    "Candidates",
    "Cost",
    "DetCurve",
    "GalleryEffect",
    "GallerySampling",
    "ImageArray",
    "MatchCurve",
    "MatcherComparison",
    "OpenSet",
    "OpenSetComparison",
    "Ranks",
    "Reidentification",
    "Representation",
    "ScoreTable",
    "System",
    "Trials",
    "Verification",
    "candidates",
    "cmc",
    "cms_of",
    "compare_matchers",
    "compare_methods",
    "compare_open_sets",
    "compare_systems",
    "compare_units",
    "design_of",
    "eer",
    "evaluation_figures",
    "gallery_effect",
    "gallery_sampling",
    "image_array",
    "linked_subjects",
    "match_curve",
    "open_set",
    "permutations",
    "ranks",
    "ranks_of_embeddings",
    "read_genuine_impostor",
    "read_labels",
    "read_matrix",
    "read_scores",
    "read_trials",
    "read_triples",
    "reciprocal_rank_of",
    "reidentification",
    "relative_rank_of",
    "representation",
    "run",
    "size_curve",
    "system_of_embeddings",
    "system_of_model",
    "system_of_scores",
    "verification",
    "verification_of_embeddings",
    "verification_of_file",
    "verification_of_trials",
    "within_rank_by_size",
    "within_rank_of",
]

if not TYPE_CHECKING:  # else any misspelt name would pass the type checker
    __getattr__ = answers_for(__name__)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
