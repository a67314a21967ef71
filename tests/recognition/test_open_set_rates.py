"""FNIR and FPIR by counting, rates at smaller galleries against drawing them, errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strat
from strat.base.errors import StratError
from strat.recognition import open_set, ranks, size_curve, within_rank_by_size


def table(seed=0, n=60, size=12):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % (size + 6)
    s = rng.standard_normal((n, size)) + 1.5 * (labels[:, None] == np.arange(size))
    return s, labels, ranks(similarity=s, probes=labels, gallery=np.arange(size), open_set=True)


@given(st.integers(0, 10**6), st.integers(1, 12), st.floats(-1, 3))
def test_rates_by_counting(seed, max_rank, t):
    s, labels, r = table(seed)
    found = open_set(r, max_rank=max_rank).rates([t])
    mated = labels < 12
    order = np.argsort(-s, axis=1)
    listed = [lab in order[i, :max_rank] and s[i, lab] >= t for i, lab in enumerate(labels) if lab < 12]
    assert found.value[1, 0] == pytest.approx(1 - np.mean(listed))
    assert found.value[0, 0] == pytest.approx(np.mean(s[~mated].max(axis=1) >= t))


def test_errors_are_by_subject():
    _, labels, r = table(n=90)
    made = open_set(r, max_rank=1)
    found = made.rates([1.0])
    mated = labels < 12
    miss = (~((r.rank() <= 1) & (r.mate >= 1.0)))[mated].astype(float)
    by = np.array([(miss[labels[mated] == a] - miss.mean()).sum() for a in range(12)])
    assert found.se[1, 0] == pytest.approx(np.sqrt((by**2).sum()) / mated.sum() * np.sqrt(18 / 17), rel=1e-6)
    assert "N = 12, R = 1" in str(made)


def test_fnir_at_fpir_and_threshold():
    _, _, r = table(n=300)
    made = open_set(r)
    t = made.threshold(0.1)
    others = r.best_nonmate[~r.mated]
    assert np.mean(others >= t) <= 0.1 < np.mean(others >= np.nextafter(t, -np.inf))
    curve = made.fnir_at([0.05, 0.1, 0.3])
    assert (np.diff(curve.value) <= 0).all()
    assert (curve.se > 0).all()
    ax = made.plot()
    assert ax.get_ylabel() == "FNIR(N = 12, R = 12, T)"


@given(st.integers(0, 10**6), st.integers(1, 12), st.floats(0.001, 0.999), st.sampled_from([0, 1, 8]))
def test_fnir_at_a_rate_is_that_of_the_least_threshold_within_it(seed, max_rank, fpir, digits):
    """The same rule as FNMR at an FMR: a threshold that the scores have, ties included, and nothing between two."""
    s, labels, _ = table(seed)
    r = ranks(similarity=s.round(digits), probes=labels, gallery=np.arange(12), open_set=True)
    made = open_set(r, max_rank=max_rank)
    t = made.threshold(fpir)
    fnir = made.fnir_at(fpir).value
    assert fnir == pytest.approx(made.rates([t]).value[1, 0], abs=1e-12)
    assert fnir == pytest.approx(np.mean(made.score[made.mated] < t), abs=1e-12)
    assert np.mean(made.score[~made.mated] >= t) <= fpir
    below = np.unique(made.score[~made.mated])
    assert all(np.mean(made.score[~made.mated] >= lower) > fpir for lower in below[below < t])


def test_a_rate_that_some_searches_have_exactly_is_within_itself():
    s = np.array([[9.0, 0], [0, 4], [5, 0], [3, 0], [2, 0], [1, 0]])
    made = open_set(ranks(similarity=s, probes=list("abwxyz"), gallery=list("ab"), open_set=True))
    assert made.fnir_at([0.24, 0.25, 0.49]).value.tolist() == [0.5, 0.0, 0.0]


def test_smaller_galleries_are_the_mean_over_draws():
    s, labels, _ = table(n=24)
    keep = labels < 12
    s, labels = s[keep], labels[keep]
    r = ranks(similarity=s, probes=labels, gallery=np.arange(12))
    expected = within_rank_by_size(r, [4], k=2).value()[0]
    rng = np.random.default_rng(0)
    drawn = []
    for i, own in enumerate(labels):
        others = np.delete(np.arange(12), own)
        hits = [(s[i, rng.choice(others, 3, replace=False)] >= s[i, own]).sum() < 2 for _ in range(1500)]
        drawn.append(np.mean(hits))
    assert expected == pytest.approx(np.mean(drawn), abs=0.01)
    whole = within_rank_by_size(r, [12]).value()[0]
    assert whole == pytest.approx(np.mean(r.rank() == 1))
    curve = size_curve(r, max_rank=1)
    assert (np.diff(curve.estimate.value) >= -1e-12).all()
    assert curve.plot().get_xlabel() == "N, enrolled subjects"


def test_failures_are_misses():
    s = np.array([[3.0, 1], [1, 4], [2, 1], [0, 0]])
    r = ranks(similarity=s, probes=list("abxy"), gallery=list("ab"), open_set=True, failed_probes=[0])
    assert open_set(r).rates([0.5]).value[1, 0] == 0.5
    assert within_rank_by_size(r, [2]).value()[0] == 0.5
    with pytest.raises(StratError, match="probes without a mate"):
        strat.cms(r) if hasattr(strat, "cms") else __import__("strat.measures.ranks", fromlist=["cms"]).cms(r)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r: open_set(r, max_rank=0), "`max_rank` must be a rank from 1 to N = 12"),
        (lambda r: open_set(r).threshold(0), "`fpir` must lie strictly between"),
        (lambda r: open_set(r).fnir_at([0.1, 2]), r"`fpir` must lie strictly between 0 and 1, got 0.1, 2.0"),
        (lambda r: open_set(r).fnir_at([]), "`fpir` must hold at least one rate, got none"),
        (lambda r: open_set(r).fnir_at("low"), "`fpir` must be a column, one value per row, got 'low'"),
        (lambda r: within_rank_by_size(r, [13]), "`sizes` must be whole numbers from 1 to N = 12"),
        (
            lambda r: open_set(ranks(similarity=np.eye(2), probes=[0, 1], gallery=[0, 1])),
            "mated and non-mated probes",
        ),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(StratError, match=words):
        call(table()[2])
