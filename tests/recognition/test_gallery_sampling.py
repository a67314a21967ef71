"""The gallery as a sample: the jackknife against leaving out by hand, and against drawing subjects anew."""

from __future__ import annotations

import numpy as np
import pytest

from strat.base.errors import StratError
from strat.recognition import gallery_sampling, match_curve, open_set, ranks


def world(seed, subjects=40, images=3, enrolled=1.0):
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(subjects), images)
    x = rng.standard_normal((subjects, 6))[who] + 0.87 * rng.standard_normal((len(who), 6))
    first = np.arange(len(who)) % images == 0
    gallery = first & (who < enrolled * subjects)
    s = -np.linalg.norm(x[~first][:, None] - x[gallery][None], axis=2)
    return s, who[~first], who[gallery]


def test_rates_are_those_of_the_curves():
    s, p, g = world(1, enrolled=0.6)
    found = gallery_sampling(similarity=s, probes=p, gallery=g, at=[1, 3], threshold=-1.5)
    r = ranks(similarity=s, probes=p, gallery=g, open_set=True)
    fpir, fnir = open_set(r, max_rank=3).rates([-1.5]).value[:, 0]
    expected = [*match_curve(r, at=[1, 3]).of().value, fnir, fpir]
    np.testing.assert_allclose(found.estimate.value, expected)
    again = gallery_sampling(distance=-s, probes=p, gallery=g, at=[1, 3], threshold=1.5)
    np.testing.assert_allclose(again.estimate.variance, found.estimate.variance)
    assert "of which probes" in str(found)


def test_the_jackknife_is_leaving_out_subjects_by_hand():
    s, p, g = world(2, subjects=15, enrolled=0.8)
    found = gallery_sampling(similarity=s, probes=p, gallery=g, at=[1])
    both, alone = [], []
    owed = 0.0
    rank = lambda s, p, g: ranks(similarity=s, probes=p, gallery=g, open_set=True)  # noqa: E731
    whole = rank(s, p, g)
    for a in range(15):
        r = rank(s[p != a][:, g != a], p[p != a], g[g != a])
        both.append(np.mean(r.rank()[r.mated] == 1))
        r = rank(s[p != a], p[p != a], g)
        alone.append(np.mean(r.rank()[r.mated] == 1))
    for a in np.unique(p):  # what the probes of one subject owe to the entry of another
        mine = rank(s[p == a], p[p == a], g)
        for b in g[g != a]:
            less = rank(s[p == a][:, g != b], p[p == a], g[g != b])
            gained = np.nansum(less.rank() == 1) - np.nansum(mine.rank() == 1)
            owed += gained**2
    n = whole.mated.sum()
    jack = lambda v: 14 / 15 * np.sum((v - np.mean(v)) ** 2)  # noqa: E731
    assert found.of_probes[0] == pytest.approx(jack(alone))
    assert found.estimate.variance[0] == pytest.approx(max(jack(both) - owed / n**2, jack(alone)))
    assert found.share[0] == pytest.approx(1 - found.of_probes[0] / found.estimate.variance[0])


@pytest.mark.slow
@pytest.mark.parametrize("enrolled", [1.0, 0.6])
def test_intervals_hold_when_probes_and_gallery_are_drawn_anew(enrolled):
    """300 draws of 60 subjects: the mean variance is that over draws or up to a third more; 95 % intervals cover."""
    names = ("similarity", "probes", "gallery")
    made = [
        gallery_sampling(**dict(zip(names, world(seed, 60, 3, enrolled), strict=True)), at=[1, 5])
        for seed in range(300)
    ]
    values = np.array([m.estimate.value for m in made])
    ratio = np.mean([m.estimate.variance for m in made], axis=0) / values.var(axis=0)
    assert (ratio > 0.85).all()
    assert (ratio < 1.35).all()
    low, high = np.array([m.estimate.interval() for m in made]).transpose(1, 0, 2)
    covered = ((low <= values.mean(axis=0)) & (values.mean(axis=0) <= high)).mean(axis=0)
    assert (covered > 0.93).all()
    assert (covered < 0.99).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"gallery": ["a", "a"]}, "`gallery` must name each subject once"),
        ({"gallery": ["a"]}, "probes × gallery"),
        ({"gallery": ["x", "y"]}, "must have mated probes"),
        ({"at": [3]}, "`at` must be ranks from 1 to N = 2"),
        ({"threshold": 1.0}, "`threshold` must come with probes of subjects outside"),
        ({"similarity": [[np.nan, 1], [1, 2]]}, "scores must be finite"),
    ],
)
def test_what_is_refused(arguments, words):
    given = {"similarity": [[1.0, 2], [3, 2]], "probes": ["a", "b"], "gallery": ["a", "b"]} | arguments
    with pytest.raises(StratError, match=words):
        gallery_sampling(**given)
