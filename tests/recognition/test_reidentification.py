"""Mean average precision and match rates with the camera rule, against brute force and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strat
from strat.base.errors import StratError
from strat.recognition import reidentification


def brute(scores, right):
    """Average precision and first rank by walking down the list, wrong ones first among equals."""
    order = sorted(range(len(scores)), key=lambda j: (-scores[j], right[j]))
    hits, precisions, first = 0, [], None
    for place, j in enumerate(order, 1):
        if right[j]:
            hits += 1
            precisions.append(hits / place)
            first = first or place
    return (np.mean(precisions), first) if precisions else None


@given(st.integers(0, 10**6), st.sampled_from([0, 1, None]))
def test_values_are_those_of_walking_down_the_list(seed, digits):
    rng = np.random.default_rng(seed)
    p, g = rng.integers(0, 4, 10), np.r_[np.arange(4), rng.integers(-1, 4, 20)]
    pc, gc = rng.integers(0, 3, 10), rng.integers(0, 3, 24)
    s = rng.normal(size=(10, 24)) + (p[:, None] == g)
    s = s if digits is None else s.round(digits)
    expected = []
    for i in range(10):
        use = (g != -1) & ~((g == p[i]) & (gc == pc[i]))
        expected.append(brute(s[i, use].tolist(), (g[use] == p[i]).tolist()))
    if not any(expected):
        return
    r = reidentification(similarity=s, probes=p, gallery=g, probe_cameras=pc, gallery_cameras=gc, junk=[-1])
    kept = np.array([e for e in expected if e is not None])
    np.testing.assert_allclose(r.average_precision, kept[:, 0])
    np.testing.assert_array_equal(r.rank, kept[:, 1])
    assert r.left_out == 10 - len(kept)


def test_scikit_learn_has_the_same_average_precision():
    from sklearn.metrics import average_precision_score

    rng = np.random.default_rng(2)
    p, g = rng.integers(0, 6, 30), np.repeat(np.arange(6), 5)
    d = rng.normal(size=(30, 30)) - 1.5 * (p[:, None] == g)
    r = reidentification(distance=d, probes=p, gallery=g)
    expected = [average_precision_score(g == p[i], -d[i]) for i in range(30)]
    np.testing.assert_allclose(r.average_precision, expected)
    units = strat.Design.clustered(units=p)
    found = r.mean_average_precision()
    assert found.value == pytest.approx(np.mean(expected))
    assert found.se == pytest.approx(strat.estimate(strat.mean(np.array(expected)), on=units).se)
    assert "mAP" in str(r)
    assert (np.diff(r.cmc([1, 2, 5]).value) >= 0).all()
    assert r.cmc([1]).value[0] == np.mean(r.rank == 1)


def test_two_systems_are_paired_by_probe():
    rng = np.random.default_rng(3)
    p, g = np.repeat(np.arange(20), 2), np.repeat(np.arange(20), 4)
    s = rng.normal(size=(40, 80)) + 1.5 * (p[:, None] == g)
    a, b = (reidentification(similarity=x, probes=p, gallery=g) for x in (s, s + 0.7 * rng.normal(size=s.shape)))
    gap = a.difference(b)
    assert gap.value == pytest.approx(np.mean(a.average_precision - b.average_precision))
    assert b.difference(a).value == pytest.approx(-gap.value)
    assert gap.se < np.hypot(a.mean_average_precision().se, b.mean_average_precision().se)
    with pytest.raises(StratError, match="same probes"):
        a.difference(reidentification(similarity=s[:5], probes=p[:5], gallery=g))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"gallery": [1, 2]}, "`gallery` must name the 3 columns"),
        ({"gallery": [4, 5, 6]}, "must have right images"),
        ({"gallery": [1, 2, 3], "probe_cameras": [1, 1]}, "must come together"),
        ({"gallery": [1, 2, 3], "probe_cameras": [1], "gallery_cameras": [1, 1, 1]}, "as many rows"),
        ({"gallery": [1, 2, 3], "similarity": [[np.nan, 1, 2], [1, 2, 3]]}, "scores must be finite"),
    ],
)
def test_what_is_refused(arguments, words):
    given = {"similarity": [[1.0, 2, 3], [3, 2, 1]], "probes": [1, 2]} | arguments
    with pytest.raises(StratError, match=words):
        reidentification(**given)
