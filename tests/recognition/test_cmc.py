"""The match curve from embeddings in one call, and results that read as sentences, arrays and tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from strat import recognition
from strat.base.errors import StratError
from strat.datasets import recognizer
from strat.recognition import match_curve, open_set, ranks

DATA = recognizer(subjects=40, images=3, noise=1.3, rng=1)
GALLERY, PROBES = DATA.split()
X, WHO = DATA.embeddings, DATA.subject
RANKS = recognition.ranks_of_embeddings(
    X[PROBES], X[GALLERY], probe_subjects=WHO[PROBES], gallery_subjects=WHO[GALLERY], score="cosine"
)


def test_cmc_is_ranks_then_curve() -> None:
    """`recognition.cmc(probes, gallery, probe_ids, gallery_ids)` was an AttributeError."""
    ours = recognition.cmc(X[PROBES], X[GALLERY], WHO[PROBES], WHO[GALLERY])
    curve = recognition.match_curve(RANKS)
    np.testing.assert_array_equal(ours.of().point, curve.of().point)
    np.testing.assert_array_equal(ours.of().se, curve.of().se)
    assert ours.plot() is not None


@pytest.mark.parametrize("score", ["inner", "euclidean", "l1"])
def test_cmc_takes_every_score_and_what_match_curve_takes(score: str) -> None:
    curve = recognition.cmc(
        X[PROBES], X[GALLERY], WHO[PROBES], WHO[GALLERY], score=score, at=[1, 5], method="jackknife"
    )
    assert curve.ranks.tolist() == [1, 5]
    with pytest.raises(StratError, match="`gallery` must name each subject once"):
        recognition.cmc(X, X, WHO, WHO, score=score)
    assert recognition.cmc(X, X, WHO, WHO, score=score, enrolment="best", up_to=1).of().point[0] == 1.0


def test_ranks_are_an_array() -> None:
    """`np.asarray(ranks)` was an array of one object."""
    np.testing.assert_array_equal(np.asarray(RANKS), RANKS.rank())
    assert np.asarray(RANKS, dtype=int).dtype.kind == "i"
    assert np.mean(np.array(RANKS) == 1) == recognition.match_curve(RANKS, at=[1]).of().point[0]
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":  # before, copy=False only meant: if it can be avoided
        with pytest.raises(ValueError, match="always a copy"):
            np.array(RANKS, copy=False)


def test_results_read_as_sentences_and_tables() -> None:
    similarity = X[PROBES] @ X[GALLERY].T
    verification = recognition.verification(similarity=similarity, probes=WHO[PROBES], gallery=WHO[GALLERY])
    curve = recognition.match_curve(RANKS, at=[1, 5])
    det = verification.det()
    for result in (RANKS, verification, curve, det):
        assert repr(result) == str(result)
        assert "array(" not in repr(result)
        frame = result.to_frame("pandas")
        assert isinstance(frame, pd.DataFrame)
        assert list(frame.columns) == list(result.to_dict())
    assert RANKS.to_dict()["rank"] == RANKS.rank().tolist()
    table = verification.to_dict(fmr=[0.1])
    assert table["statistic"] == ["EER", "FNMR at FMR 0.1"]
    assert table["estimate"] == [verification.eer().value, verification.fnmr_at(0.1).value]
    assert curve.to_dict()["estimate"] == curve.of().point.tolist()
    assert det.to_dict()["FMR"] == det.fmr.tolist()
    line = det.plot().get_lines()[-1]
    assert line.get_xdata().tolist() == det.fmr.tolist()
    assert line.get_ydata() == pytest.approx(np.maximum(det.estimate.point, 0.5 / det.mated), abs=0)
    assert line.get_ydata().max() > 0.2  # no flat line at its floor


def test_each_subject_counts_the_same() -> None:
    """One subject with 60 of 100 probes: the mean over subjects, and a note that gives it beside the usual rate."""
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(21), [60, *[2] * 20])
    hit = rng.random(100) < np.where(who == 0, 0.5, 0.9)
    scores = np.eye(21)[who] * np.where(hit, 2.0, 0.5)[:, None] + 1.0 * (np.arange(21) == (who[:, None] + 1) % 21)
    r = ranks(similarity=scores, probes=who, gallery=np.arange(21))
    usual, each = (match_curve(r, at=[1, 5], average=average) for average in ("probes", "subjects"))
    means = np.array([hit[who == k].mean() for k in range(21)])
    assert usual.of().point[0] == pytest.approx(hit.mean())
    assert each.of().point[0] == pytest.approx(means.mean())
    assert np.asarray(each.of().se)[0] == pytest.approx(means.std(ddof=1) / np.sqrt(21), rel=1e-6)
    (note,) = (note for note in usual.estimate.notes if note.code == "each-subject-the-same")
    assert f"{means.mean():.4f}" in note
    assert not any(note.code == "each-subject-the-same" for note in each.estimate.notes)
    searches = open_set(ranks(similarity=scores[:, :18], probes=who, gallery=np.arange(18), open_set=True),
                        average="subjects")  # fmt: skip
    rates = searches.rates([1.5]).at("FNIR", 1.5)
    assert rates.value == pytest.approx(1 - means[:18].mean())
    with pytest.raises(StratError, match="`average` must be one of 'probes', 'subjects', got 'images'"):
        match_curve(r, average="images")
