"""Recognition systems: galleries, probes, ranks, curves with errors, verification and open set."""

from __future__ import annotations

from strat.recognition.curves import MatchCurve, cms_of, design_of, match_curve, reciprocal_rank_of, within_rank_of
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
from strat.recognition.gallery_effect import GalleryEffect, gallery_effect
from strat.recognition.open_set import OpenSet, open_set, size_curve, within_rank_by_size
from strat.recognition.ranks import Ranks, ranks, ranks_of_embeddings
from strat.recognition.scores import Candidates, ScoreTable, candidates, read_matrix, read_triples
from strat.recognition.sets import ImageArray, Representation, image_array, representation
from strat.recognition.verification import DetCurve, Verification, verification

__all__ = [
    "Candidates",
    "DetCurve",
    "GalleryEffect",
    "ImageArray",
    "MatchCurve",
    "OpenSet",
    "Ranks",
    "Representation",
    "ScoreTable",
    "System",
    "Verification",
    "candidates",
    "cms_of",
    "compare_methods",
    "compare_systems",
    "compare_units",
    "design_of",
    "gallery_effect",
    "image_array",
    "match_curve",
    "open_set",
    "permutations",
    "ranks",
    "ranks_of_embeddings",
    "read_matrix",
    "read_triples",
    "reciprocal_rank_of",
    "representation",
    "run",
    "size_curve",
    "system_of_embeddings",
    "system_of_model",
    "system_of_scores",
    "verification",
    "within_rank_by_size",
    "within_rank_of",
]
