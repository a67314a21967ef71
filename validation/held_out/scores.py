"""AUC with rare classes, EER and FNMR at a FMR with few subjects, bands of ROC and CMS curves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr, ndtri

import strat
from strat import recognition

from ..scenarios import area, match_scores
from ..trials import Draw, Layout, Rng, Scenario, Trial, layout
from .classes import as_estimated
from .procedures import estimated


def verified(subjects: int, gap: float, shared: float, at_fmr: float | None) -> Draw:
    """Subjects against subjects, mated scores `gap` above the others: the equal error rate, or FNMR at a FMR."""
    names, rest = np.arange(subjects), np.sqrt(1 - 2 * shared)
    truth = float(ndtr(-gap / 2)) if at_fmr is None else float(ndtr(-ndtri(at_fmr) - gap))

    def draw(rng: Rng) -> Trial:
        own = np.sqrt(shared) * rng.standard_normal(subjects)
        table = own[:, None] + own + rest * rng.standard_normal((subjects, subjects))
        mated = np.sqrt(2 * shared) * rng.standard_normal(subjects) + rest * rng.standard_normal(subjects)
        np.fill_diagonal(table, gap + mated)
        found = recognition.verification(similarity=table, probes=names, gallery=names)
        one = found.eer() if at_fmr is None else found.fnmr_at(at_fmr)
        return Trial(None, None, truth, {}, {"estimate": one})

    return draw


def roc_band(where: Layout, shift: float, between: float, share: float) -> Draw:
    """Both rates at eight fixed thresholds, units shifted."""
    design, units = where.design(), len(where.stratum)
    thresholds = np.linspace(2.0, -0.8, 8)
    spread = np.sqrt(1 + between)
    truth = np.stack([ndtr(-thresholds / spread), ndtr((shift - thresholds) / spread)])

    def draw(rng: Rng) -> Trial:
        y = (rng.random(len(where.unit)) < share).astype(int)
        score = shift * y + np.sqrt(between) * rng.standard_normal(units)[where.unit] + rng.standard_normal(len(y))
        return estimated(strat.roc(y, score, thresholds=thresholds, positive=1), design, truth)

    return draw


def _scenario(name: str, family: str, make: Callable[[], Draw], *steps: str) -> Scenario:
    return Scenario(name, family, name, make, steps or ("answer",))


SCENARIOS = [
    _scenario("AUC, 36 units of 8, one class a unit, prevalence 0.2", "scores",
              lambda: as_estimated(area(layout(1, 36, 8), 1.6, 0.4, pure=True, share=0.2))),
    _scenario("AUC, 25 units of 16, prevalence 0.04", "scores",
              lambda: as_estimated(area(layout(1, 25, 16), 1.6, 0.3, pure=False, share=0.04))),
    _scenario("AUC, 400 rows, prevalence 0.05", "scores",
              lambda: as_estimated(area(layout(1, 400, 1), 1.9, 0.0, pure=False, share=0.05))),
    _scenario("AUC, 14 units of 18", "scores",
              lambda: as_estimated(area(layout(1, 14, 18), 2.2, 0.4, pure=False))),
    _scenario("EER 0.11, 16 subjects", "recognition", lambda: verified(16, 2.5, 0.1, None)),
    _scenario("EER 0.11, 30 subjects", "recognition", lambda: verified(30, 2.5, 0.1, None)),
    _scenario("EER 0.04, 50 subjects", "recognition", lambda: verified(50, 3.5, 0.1, None)),
    _scenario("FNMR at FMR 0.005, 50 subjects", "recognition", lambda: verified(50, 3.2, 0.1, 0.005)),
    _scenario("FNMR at FMR 0.02, 25 subjects", "recognition", lambda: verified(25, 3.2, 0.1, 0.02)),
    _scenario("ROC band, 24 units of 12", "bands", lambda: roc_band(layout(1, 24, 12), 1.5, 0.3, 0.4),
              "simultaneous band"),
    _scenario("ROC band, 150 rows", "bands", lambda: roc_band(layout(1, 150, 1), 1.5, 0.0, 0.3), "simultaneous band"),
    _scenario("ROC band, 45 units of 10, prevalence 0.15", "bands", lambda: roc_band(layout(1, 45, 10), 1.8, 0.5, 0.15),
              "simultaneous band"),
    _scenario("ROC band, 500 rows, prevalence 0.1", "bands", lambda: roc_band(layout(1, 500, 1), 2.0, 0.0, 0.1),
              "simultaneous band"),
    _scenario("CMS band, 24 subjects of 5 probes", "bands",
              lambda: as_estimated(match_scores(24, 5, 0.75, 0.25, 6)), "simultaneous band"),
    _scenario("CMS band, 70 subjects of 2 probes", "bands",
              lambda: as_estimated(match_scores(70, 2, 0.6, 0.35, 8)), "simultaneous band"),
    _scenario("CMS band, 40 subjects of 3 probes, rank 1 at 0.92", "bands",
              lambda: as_estimated(match_scores(40, 3, 0.92, 0.2, 5)), "simultaneous band"),
]  # fmt: skip
