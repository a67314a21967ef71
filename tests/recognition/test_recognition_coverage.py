"""Nominal 95 % intervals by subject cover the population of subjects; intervals by row don't."""

from __future__ import annotations

import numpy as np
import pytest

import strat
from strat.datasets import recognizer
from strat.recognition import (
    compare_matchers,
    design_of,
    match_curve,
    ranks,
    ranks_of_embeddings,
    verification,
    within_rank_of,
)

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


def faces(seed, subjects=60, noise=0.9):
    """Probes × gallery of subjects drawn anew: two probes and an entry each."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(subjects), 3)
    centres = rng.standard_normal((subjects, 5))
    x = centres[who] + noise * rng.standard_normal((3 * subjects, 5))
    first = np.arange(3 * subjects) % 3 == 0
    return [-np.linalg.norm(y[~first][:, None] - y[first][None], axis=2) for y in
            (x, x + 0.3 * rng.standard_normal(x.shape))], who[~first], who[first]  # fmt: skip


@pytest.mark.slow
def test_the_band_of_a_match_curve_never_falls_is_closed_at_rank_n_and_covers():
    at = [1, 2, 3, 5, 8, 12, 20, 30, 45, 60]
    curves = []
    for seed in range(300):
        (scores, _), probes, gallery = faces(seed)
        curves.append(match_curve(ranks(similarity=scores, probes=probes, gallery=gallery, threads=1), at=at).of())
    truth = np.mean([c.value for c in curves], axis=0)
    low, high = np.array([c.band() for c in curves]).transpose(1, 0, 2)
    assert (np.diff(low, axis=1) >= -1e-12).all()
    assert (np.diff(high, axis=1) >= -1e-12).all()
    assert (low[:, -1] == 1).all()
    covered = ((low <= truth + 1e-12) & (truth <= high + 1e-12)).all(axis=1).mean()
    assert 0.93 <= covered <= 0.98  # 0.957 when this was written


@pytest.mark.slow
def test_intervals_of_differences_between_matchers_cover():
    gaps = {"eer": [], "auc": [], "min_cllr": []}
    for seed in range(200):
        tables, probes, gallery = faces(seed, 50, 0.5)
        both = compare_matchers(
            {n: verification(similarity=t, probes=probes, gallery=gallery) for n, t in zip("AB", tables, strict=True)}
        )
        for name, found in gaps.items():
            found.append(both.difference("A", "B", name))
    for name, found in gaps.items():
        truth = np.mean([g.value for g in found])
        low, high = np.array([g.interval() for g in found]).T
        assert 0.91 <= ((low <= truth) & (truth <= high)).mean() <= 0.99, name


@pytest.mark.slow
@pytest.mark.parametrize(("subjects", "gap", "shared", "fmr"), [(20, 2.8, 0.1, 0.05), (18, 2.6, 0.2, None)])
def test_rates_at_a_threshold_that_few_subjects_decide_cover(
    subjects: int, gap: float, shared: float, fmr: float | None
) -> None:
    """Limits of subjects drawn anew alone covered 99 % and were a quarter wider."""
    from validation.held_out.scores import verified

    draw, rng, held, widths = verified(subjects, gap, shared, fmr), np.random.default_rng(4), [], []
    for _ in range(250):
        trial = draw(rng)
        low, high = trial.extra["estimate"].interval()
        held.append(low <= trial.truth <= high)
        widths.append(high - low)
    assert np.mean(held) > 0.93 - 0.03
    assert np.mean(widths) < {20: 0.46, 18: 0.23}[subjects]  # they were 0.491 and 0.244
