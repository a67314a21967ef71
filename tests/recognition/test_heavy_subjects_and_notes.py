"""Recognition: heavy subjects, few misses, limits that do not fall, notes that are printed."""

from __future__ import annotations

import json

import numpy as np
import pytest

from strat.cli.app import main
from strat.recognition import match_curve, ranks_of_embeddings, verification


@pytest.fixture(scope="module")
def heavy() -> tuple[np.ndarray, np.ndarray]:
    """Scores of 101 subjects, of whom the first has 200 images and 99.5 % of the mated comparisons."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(101), np.r_[200, np.full(100, 2)])
    x = rng.normal(size=(101, 8))[who] + np.where(who == 0, 0.25, 0.6)[:, None] * rng.normal(size=(len(who), 8))
    s = -np.sqrt(((x[:, None] - x[None]) ** 2).sum(2))
    return (s + s.T) / 2, who


def test_verification_sees_a_heavy_subject(heavy):
    """EER 0.0101 (se 0.0014, df 100, to 0.0134), no note; without the subject with 99.5 % of the pairs it is 0.11."""
    scores, who = heavy
    rest = who > 0
    without = verification(similarity=scores[np.ix_(rest, rest)], probes=who[rest])
    whole = verification(similarity=scores, probes=who)
    pairs = [(whole.eer(), without.eer()), (whole.fnmr_at(0.01), without.fnmr_at(0.01))]
    pairs.append((whole.fnmr(-2.0), without.fnmr(-2.0)))
    for found, other in pairs:
        assert found.df < 2
        assert found.interval()[0] < other.value < found.interval()[1]
        assert str(found.notes[0]).startswith("A few subjects carry most of the mated comparisons")
        assert "99.5%" in str(found.notes[0])
    assert whole.fmr(-2.0).df < 5
    assert not any("carry most" in note for note in without.eer().notes)


def test_rates_at_a_threshold_have_their_own_degrees_of_freedom():
    """FNMR got the degrees of freedom of FMR, half the subjects."""
    rng = np.random.default_rng(1)
    s = rng.normal(size=(40, 40)) + 2 * np.eye(40)
    v = verification(similarity=s, probes=np.arange(40), gallery=np.arange(40))
    assert (v.fmr(1.0).df, v.fnmr(1.0).df) == (20.0, 39.0)
    assert 20.0 < v.eer().df < 39.0  # between those of the two rates


def test_few_misses_of_a_verification_are_noted():
    """60 subjects with an EER of 2 %, one or two misses: the interval covers 83 to 85 %, and nothing said so."""
    rng = np.random.default_rng(5)
    s = rng.normal(size=(60, 60)) + 4.2 * np.eye(60)
    v = verification(similarity=s, probes=np.arange(60), gallery=np.arange(60))
    assert "few-holders" in {note.code for note in v.eer().notes}


@pytest.fixture(scope="module")
def curve():
    """A curve that reaches 1 before rank N, of subjects with very unequal numbers of probes."""
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(60), np.r_[150, np.full(59, 2)])
    x = rng.normal(size=(60, 6))
    probes = x[who] + 0.5 * rng.normal(size=(len(who), 6))
    r = ranks_of_embeddings(probes, x, probe_subjects=who, gallery_subjects=np.arange(60), score="euclidean")
    return match_curve(r)


def test_limits_of_a_match_curve_do_not_fall(curve):
    """LFW: the lower limit fell from 0.9965 at rank 895 to 0.918 at rank 1,015, where the curve reaches 1."""
    assert curve.of().value[-2] == 1
    for low, high in (curve.of().interval(), curve.of().band()):
        assert (np.diff(low) >= 0).all()
        assert (np.diff(high) >= 0).all()
        assert low[-1] == high[-1] == 1  # at rank N by definition
    gap = match_curve({"a": _ranks(0.5), "b": _ranks(0.9)}, at=[1, 5, 40]).difference("a", "b")
    assert gap.measure.monotone == 0


def _ranks(noise):
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(40), 2)
    x = rng.normal(size=(40, 5))
    probes = x[who] + noise * rng.normal(size=(80, 5))
    return ranks_of_embeddings(probes, x, probe_subjects=who, gallery_subjects=np.arange(40), score="euclidean")


def test_a_curve_prints_its_notes(curve):
    """`print(curve)` had no note beside 0.9456 with "0.5135 to 0.9965", and the hidden one said "too short"."""
    notes = curve.estimate.notes
    assert [note.code for note in notes] == ["heavy-units", "each-subject-the-same"]
    assert not any("too short" in note for note in notes)
    assert "effective degrees of freedom" in notes[0]
    for text in (str(curve), str(curve.of())):
        assert all(f"note: {note}" in text for note in notes)


def test_the_command_prints_the_notes_of_its_figures(heavy, tmp_path, capsys):
    """`strat recognize` printed EER and curves of one dominating subject without a word."""
    scores, who = heavy
    np.savez(tmp_path / "s.npz", similarity=scores[:, 199:], probes=who, gallery=who[199:])
    with pytest.raises(SystemExit) as done:
        main(["recognize", "--similarity", str(tmp_path / "s.npz"), "--enrolment", "best", "--json"])
    assert done.value.code == 0
    notes = [note["text"] for note in json.loads(capsys.readouterr().out)["notes"]]
    assert any("CMS at rank" in note and "carry most of the weight" in note for note in notes)
    assert any("EER" in note and "carry most of the mated comparisons" in note for note in notes)


def test_embeddings_in_an_npy_file_are_refused_with_the_way_out(tmp_path, capsys):
    """`--probes emb.npy` was answered with "must hold 'embeddings', got 'emb.npy'; there are ''"."""
    np.save(tmp_path / "emb.npy", np.eye(3))
    with pytest.raises(SystemExit) as done:
        main(["recognize", "--probes", str(tmp_path / "emb.npy"), "--gallery", str(tmp_path / "emb.npy")])
    assert done.value.code == 1
    error = capsys.readouterr().err
    assert "give --labels FILE (one per line), or an .npz file that holds 'embeddings' and 'subject'" in error
    assert "there are ''" not in error


def test_each_subject_can_count_the_same(heavy):
    """A rate of one subject's pairs (EER 0.0101 of 99.5 % one subject) was the only one to be had."""
    scores, who = heavy
    rest = who > 0
    without = verification(similarity=scores[np.ix_(rest, rest)], probes=who[rest]).eer()
    equal = verification(similarity=scores, probes=who, average="subjects").eer()
    assert equal.df > 50
    assert equal.value == pytest.approx(without.value, rel=0.1)
    assert not equal.notes


def test_an_eer_between_two_thresholds_has_the_variance_of_its_misses():
    """20 subjects, EER 0.025: no miss at the threshold itself, so mated scores counted as known; coverage was 51 %."""
    rng = np.random.default_rng(21)
    covered, truth = [], 0.025  # Φ(−4.8 / (2 √1.5)): scores have variance 1.5, mated ones are 4.8 higher
    for _ in range(120):
        effects = 0.5 * rng.normal(size=(2, 20))
        s = effects[0][:, None] + effects[1] + rng.normal(size=(20, 20)) + 4.8 * np.eye(20)
        low, high = verification(similarity=s, probes=np.arange(20), gallery=np.arange(20)).eer().interval()
        covered.append(low <= truth <= high)
    assert np.mean(covered) > 0.9
