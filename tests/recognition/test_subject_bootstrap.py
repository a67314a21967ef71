"""Subjects drawn anew: rates of all draws at once against rates of each draw by counting, ties and weights included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strat.base.limits import changed
from strat.recognition import subject_bootstrap, verification
from strat.recognition.subject_bootstrap import Part


def counted(nonmated, mated, times):
    """FMR at or above, and FNMR below, each place and above all of them, counted in a single draw."""
    places = np.arange(max(nonmated.place.max(), mated.place.max()) + 2)
    others = nonmated.weight * times[nonmated.first] * times[nonmated.second]
    own = mated.weight * times[mated.first]
    fmr = [others[nonmated.place >= at].sum() / others.sum() if others.sum() else 1.0 for at in places]
    fnmr = [own[mated.place < at].sum() / own.sum() if own.sum() else 0.0 for at in places]
    return np.array(fmr), np.array(fnmr)


def equal_rate(fmr, fnmr):
    """On the line between the last threshold with FMR above FNMR and the next one."""
    after = max(int(np.argmax(fmr - fnmr <= 1e-12)), 1)
    high, low = fmr[after - 1] - fnmr[after - 1], fmr[after] - fnmr[after]
    return fmr[after - 1] + (high / (high - low) if high > low else 0.0) * (fmr[after] - fmr[after - 1])


def parts(rng, subjects, distinct, *, weighted):
    """Comparisons of all subjects with all, of so many distinct scores, two of some pairs."""
    first, second = np.nonzero(~np.eye(subjects, dtype=bool))
    first, second = np.append(first, first[:3]), np.append(second, second[:3])
    place = rng.integers(0, distinct, len(first))
    mated = np.arange(1, subjects)  # the first subject has no mated comparison
    own = np.minimum(rng.integers(0, distinct, len(mated)) + distinct // 3, distinct - 1)
    weight = rng.uniform(0.5, 2.0, len(first)) if weighted else np.ones(len(first))
    alone = rng.uniform(0.5, 2.0, len(mated)) if weighted else np.ones(len(mated))
    others = subject_bootstrap._best_first(Part(place, first, second, weight))
    return others, subject_bootstrap._best_first(Part(own, mated, np.zeros_like(mated), alone))


@given(st.integers(0, 10_000), st.integers(3, 12), st.sampled_from([2, 5, 40, 200]), st.booleans())
def test_the_rates_of_all_draws_are_those_of_each(seed, subjects, distinct, weighted):
    rng = np.random.default_rng(seed)
    nonmated, mated = parts(rng, subjects, distinct, weighted=weighted)
    times = rng.multinomial(subjects, np.full(subjects, 1 / subjects), 8).T.astype(float)
    wanted = np.array([0.02, 0.3, 0.11])
    equal = subject_bootstrap._equal(nonmated, mated, times)
    at = subject_bootstrap._at(nonmated, mated, times, wanted)
    for draw, one in enumerate(times.T):
        fmr, fnmr = counted(nonmated, mated, one)
        if fmr[-1] == 0 and fnmr[-1] == 1:
            assert equal[draw] == pytest.approx(equal_rate(fmr, fnmr), abs=1e-9)
            expected = [fnmr[np.argmax(fmr <= rate + 1e-12)] for rate in wanted]
            assert at[draw] == pytest.approx(expected, abs=1e-9)


def test_draws_without_comparisons_of_one_kind_have_no_error_of_it():
    rng = np.random.default_rng(1)
    nonmated, mated = parts(rng, 4, 50, weighted=False)
    times = np.array([[4, 0, 0, 0], [0, 4, 0, 0], [2, 1, 1, 0]], float).T
    equal = subject_bootstrap._equal(nonmated, mated, times)
    assert equal[:2].tolist() == [1.0, 1.0]  # no non-mated comparison, so that none is rejected
    assert 0 <= equal[2] <= 1
    assert subject_bootstrap._at(nonmated, mated, times, np.array([0.1]))[0].tolist() == [0.0]  # no mated one: no miss


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_how_many_comparisons_are_added_up_at_a_time_does_not_matter(chunk):
    rng = np.random.default_rng(2)
    nonmated, mated = parts(rng, 12, 60, weighted=False)
    times = rng.multinomial(12, np.full(12, 1 / 12), 30).T.astype(float)
    before = subject_bootstrap._equal(nonmated, mated, times)
    with changed(summed_comparisons=chunk):
        assert subject_bootstrap._equal(nonmated, mated, times) == pytest.approx(before, abs=1e-12)


def test_a_comparison_of_a_subject_that_was_not_drawn_does_not_count():
    scores = np.random.default_rng(3).standard_normal((6, 6)) + 2 * np.eye(6)
    v = verification(similarity=scores, probes=np.arange(6), gallery=np.arange(6))
    nonmated, mated = subject_bootstrap._parts(v.comparisons, list(v.comparisons.nonmated()))
    once, without = np.ones((6, 1)), np.ones((6, 1))
    without[5] = 0.0
    fewer = verification(similarity=scores[:5, :5], probes=np.arange(5), gallery=np.arange(5))
    assert subject_bootstrap._equal(nonmated, mated, once)[0] == pytest.approx(v.equal[0])
    assert subject_bootstrap._equal(nonmated, mated, without)[0] == pytest.approx(fewer.equal[0])


def test_rates_at_a_rate_have_the_limits_of_the_score_and_mirror_each_other():
    scores = np.random.default_rng(4).standard_normal((30, 30)) + 2.5 * np.eye(30)
    v = verification(similarity=scores, probes=np.arange(30), gallery=np.arange(30))
    missed, found = v.fnmr_at(0.05), v.tar_at(0.05)
    assert missed.interval() == missed.interval(method="wilson")
    assert found.interval() == pytest.approx(tuple(1 - limit for limit in missed.interval()[::-1]))
    assert v.eer().interval() == v.eer().interval(method="logit")
