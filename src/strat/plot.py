"""Pictures for papers, in one call: curves with their limits and their figure, forests, rank diagrams.

Every function draws into `ax` (a new figure by default) with matplotlib, which is loaded then, and returns the axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from strat.base.elsewhere import answers_for
from strat.show.curves import calibration, cmc, det, precision_recall, roc
from strat.show.forests import critical_difference, forest, of_evaluation

__all__ = ["calibration", "cmc", "critical_difference", "det", "forest", "of_evaluation", "precision_recall", "roc"]

if not TYPE_CHECKING:  # else any misspelt name would pass the type checker
    __getattr__ = answers_for(__name__)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
