"""Recognition systems: galleries, probes, ranks, curves with errors, verification and open set."""

from __future__ import annotations

from strat.recognition.curves import MatchCurve, cms_of, design_of, match_curve, reciprocal_rank_of, within_rank_of
from strat.recognition.ranks import Ranks, ranks, ranks_of_embeddings
from strat.recognition.sets import ImageArray, Representation, image_array, representation

__all__ = [
    "ImageArray",
    "MatchCurve",
    "Ranks",
    "Representation",
    "cms_of",
    "design_of",
    "image_array",
    "match_curve",
    "ranks",
    "ranks_of_embeddings",
    "reciprocal_rank_of",
    "representation",
    "within_rank_of",
]
