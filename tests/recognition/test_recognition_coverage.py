"""Nominal 95 % intervals by subject cover the population of subjects; intervals by row don't."""

from __future__ import annotations

import numpy as np
import pytest

import strat
from strat.datasets import recognizer
from strat.recognition import design_of, ranks_of_embeddings, verification, within_rank_of

THRESHOLD = 0.55


def trial(seed):
    data = recognizer(subjects=120, images=4, dimensions=16, difficulty=0.7, rng=seed)
    g, p = data.split()
    x, who = data.embeddings, data.subject
    r = ranks_of_embeddings(x[p], x[g], probe_subjects=who[p], gallery_subjects=who[g], score="cosine", threads=1)
    rate = strat.estimate(within_rank_of(r), on=design_of(r.subject))
    rows = strat.estimate(within_rank_of(r), on=strat.Design.simple_random(n=len(r)))
    fmr = verification(similarity=x[p] @ x[g].T, probes=who[p], gallery=who[g]).fmr(THRESHOLD)
    return (rate.value, *rate.interval(), *rows.interval(), fmr.value, *fmr.interval())


@pytest.mark.slow
def test_intervals_by_subject_cover_rank_one_and_fmr():
    value, low, high, row_low, row_high, fmr, fmr_low, fmr_high = np.array([trial(10_000 + s) for s in range(600)]).T
    truth, fmr_truth = value.mean(), fmr.mean()
    assert 0.93 <= np.mean((low <= truth) & (truth <= high)) <= 0.97
    assert 0.93 <= np.mean((fmr_low <= fmr_truth) & (fmr_truth <= fmr_high)) <= 0.97
    assert np.mean((row_low <= truth) & (truth <= row_high)) < 0.87
