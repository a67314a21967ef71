"""Real data: LFW, FERET, ORL and BSSR1, with the figures that were found for them by other means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import squareform

import strat
from strat.recognition import (
    ImageArray,
    compare_methods,
    gallery_effect,
    image_array,
    match_curve,
    open_set,
    ranks,
    ranks_of_embeddings,
    read_matrix,
    run,
    size_curve,
    system_of_model,
    system_of_scores,
    verification,
    within_rank_of,
)

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def lfw(shared):
    z = np.load(shared / "data" / "lfw_embeddings.npz")
    who = z["subject"]
    first = np.r_[True, who[1:] != who[:-1]]
    many = np.bincount(who)[who] >= 2
    return z, who, first & many, ~first & many, ~many


def lfw_ranks(lfw, name, score, probes):
    z, who, gallery, _, _ = lfw
    x = z[name].astype("f4")
    return ranks_of_embeddings(
        x[probes], x[gallery], probe_subjects=who[probes], gallery_subjects=who[gallery], score=score, open_set=True
    )


def test_lfw_needs_errors_by_subject(lfw):
    r = lfw_ranks(lfw, "dlib128", "euclidean", lfw[3])
    assert (len(r), r.gallery_size) == (7484, 1680)
    curve = match_curve(r).of()
    assert curve.value[0] == pytest.approx(0.8880, abs=5e-5)
    assert curve.se[0] == pytest.approx(0.0092, abs=5e-5)
    assert curve.deff[0] == pytest.approx(6.4, abs=0.05)
    rows = strat.estimate(within_rank_of(r), on=strat.Design.simple_random(n=7484))
    assert rows.se == pytest.approx(0.0036, abs=5e-5)


@pytest.mark.parametrize(("name", "score", "rate"), [("lbp128", "inner", 0.146), ("openface3", "euclidean", 0.0174)])
def test_lfw_weaker_recognisers(lfw, name, score, rate):
    r = lfw_ranks(lfw, name, score, lfw[3])
    assert float(within_rank_of(r).value()) == pytest.approx(rate, abs=5e-4)


def test_lfw_open_set(lfw):
    r = lfw_ranks(lfw, "dlib128", "euclidean", lfw[3] | lfw[4])
    assert int((~r.mated).sum()) == 4069
    found = open_set(r, max_rank=1).fnir_at([0.3, 0.1, 0.03, 0.01, 0.003])
    np.testing.assert_allclose(found.value, [0.165, 0.267, 0.438, 0.598, 0.693], atol=0.003)
    assert "N = 1680, R = 1" in found.name


def test_lfw_gallery_sizes(lfw):
    curve = size_curve(lfw_ranks(lfw, "dlib128", "euclidean", lfw[3]), sizes=[100, 200, 400, 800, 1680])
    np.testing.assert_allclose(1 - curve.estimate.value, [0.963, 0.955, 0.943, 0.913, 0.888], atol=0.012)
    assert 1 - curve.estimate.value[-1] == pytest.approx(0.8880, abs=5e-5)


def test_lfw_failures_to_acquire_are_misses(lfw):
    z, who, g, p, _ = lfw
    x = z["dlib128"].astype("f4")
    lost = z["detected"] == 0
    given = {
        "probe_subjects": who[p],
        "gallery_subjects": who[g],
        "score": "euclidean",
        "failed_probes": lost[p],
        "failed_gallery": lost[g],
    }
    r = ranks_of_embeddings(x[p], x[g], **given)
    left = ranks_of_embeddings(x[p], x[g], **given, failures="leave out")
    assert r.failed.sum() == len(r) - len(left)
    assert len(left) < len(r) == 7484
    assert float(within_rank_of(left).value()) > float(within_rank_of(r).value())


@pytest.fixture(scope="module")
def feret(shared):
    z = np.load(shared / "data" / "feret_scores.npz")
    rows = np.flatnonzero(z["subject"] > 50)
    return z, rows


def feret_array(feret, n):
    z, rows = feret
    a = image_array(z["subject"][rows], per_subject=n, images=z["image"][rows])
    return ImageArray(rows[a.rows], a.subjects)


@pytest.mark.parametrize(("name", "rate"), [("pca_l2", 0.506), ("pca_mahcos", 0.552), ("lbp_chi2", 0.716)])
def test_feret_rank_one(feret, name, rate):
    z, _ = feret
    system = system_of_scores(name, similarity=squareform(z[name]), subjects=z["subject"])
    made = run(system, feret_array(feret, 7))
    assert made.cms(at=[1]).value[0] == pytest.approx(rate, abs=5e-4)


@pytest.mark.parametrize("n", [4, 5, 7])
def test_feret_gallery_effect_and_mixing(feret, n):
    z, _ = feret
    system = system_of_scores("lbp", similarity=squareform(z["lbp_chi2"]), subjects=z["subject"])
    array = feret_array(feret, n)
    assert gallery_effect(system, array).test().pvalue < 1e-20
    assert gallery_effect(system, array.mixed()).test().pvalue > 0.05
    found = compare_methods(run(system, array, gallery=1), at=[1, 2, 5])
    np.testing.assert_allclose(found.se("brr"), found.se("jackknife"), rtol=1e-9)


def test_feret_images_are_fixed_kinds_and_not_draws(feret):
    """The strata of these subjects have a larger error than their population; both notes say why."""
    z, _ = feret
    system = system_of_scores("lbp", similarity=squareform(z["lbp_chi2"]), subjects=z["subject"])
    r = run(system, feret_array(feret, 4).mixed()).ranks
    strata, population = (match_curve(r, target=target, at=[1]).of() for target in ("these subjects", "population"))
    assert [round(float(one.se[0]), 4) for one in (strata, population)] == [0.0267, 0.0135]
    assert [note.code for note in strata.notes] == ["fixed-kinds"]
    assert [note.code for note in population.notes] == ["negative-correlation"]
    images = z["image"][feret_array(feret, 4).mixed().rows]
    kinds = (10 * images[:, :1] + images[:, 1:]).ravel()  # the pose in the gallery and that of the probe
    hit = r.rank() == 1
    blocks = strat.estimate(strat.proportion(hit), on=strat.Design.blocks(units=r.subject, kinds=kinds))
    assert round(float(blocks.se), 4) == 0.0117


def bssr(shared, key):
    return read_matrix(shared / "data" / "bssr1_set1_scores.npz", key=key)


def test_bssr1_ties_move_the_figure(shared):
    t = bssr(shared, "finger_left")
    r = ranks(similarity=t.scores, probes=t.probes, gallery=t.gallery)
    assert r.tied_probes == 65
    rates = [float(within_rank_of(r, ties=rule).value()) for rule in ("optimistic", "expected", "pessimistic")]
    np.testing.assert_allclose(rates, [0.8646, 0.8614, 0.8588], atol=5e-5)
    five = [float(within_rank_of(r, 5, ties=rule).value()) for rule in ("optimistic", "pessimistic")]
    np.testing.assert_allclose(five, [0.8956, 0.8878], atol=5e-5)


def test_bssr1_failed_template(shared):
    t = bssr(shared, "face_c")
    column = np.flatnonzero((t.scores == -1).all(axis=0))
    assert len(column) == 1
    as_given = ranks(similarity=t.scores, probes=t.probes, gallery=t.gallery)
    stated = ranks(similarity=t.scores, probes=t.probes, gallery=t.gallery, failed_gallery=column)
    left = ranks(similarity=t.scores, probes=t.probes, gallery=t.gallery, failed_gallery=column, failures="leave out")
    assert stated.failed.sum() == 1
    assert len(left) == 516
    assert np.isinf(stated.rank()[column[0]])
    assert as_given.rank()[column[0]] == 517


@pytest.mark.parametrize("key", ["face_c", "face_g", "finger_left", "finger_right"])
def test_bssr1_rates_equal_scikit_learns(shared, key):
    from sklearn.metrics import det_curve

    t = bssr(shared, key)
    v = verification(similarity=t.scores, probes=t.probes, gallery=t.gallery)
    same = np.eye(517, dtype=bool)
    scores = np.asarray(t.scores, float)
    fpr, fnr, thresholds = det_curve(same.ravel(), scores.ravel())
    np.testing.assert_allclose(v.fmr_at(thresholds), fpr, atol=1e-12)
    np.testing.assert_allclose(v.fnmr_below(thresholds), fnr, atol=1e-12)
    point = np.argmin(np.abs(fpr - fnr))
    assert min(fpr[point], fnr[point]) - 1e-9 <= v.eer().value <= max(fpr[point], fnr[point]) + 1e-9


# pyeer 0.5.6, get_eer_stats: its lower and upper equal error rate (it reports their middle)
PYEER = {
    "face_c": (0.0425531914893617, 0.04449492450482059),
    "face_g": (0.058027079303675046, 0.058027079303675046),
    "finger_left": (0.06107837404225331, 0.08897485493230174),
    "finger_right": (0.03981677237491191, 0.05415860735009671),
}


@pytest.mark.parametrize("key", list(PYEER))
def test_bssr1_equal_error_rate_lies_between_pyeers_two(shared, key):
    t = bssr(shared, key)
    low, high = PYEER[key]
    found = verification(similarity=t.scores, probes=t.probes, gallery=t.gallery).eer()
    assert low - 1e-12 <= found.value <= high + 1e-12


@pytest.mark.parametrize("key", list(PYEER))
def test_bssr1_curves_equal_pyeers(shared, key):
    eer_stats = pytest.importorskip("pyeer.eer_stats", exc_type=ImportError)
    t = bssr(shared, key)
    scores = np.asarray(t.scores, float)
    same = np.eye(517, dtype=bool)
    thresholds, fmr, fnmr = eer_stats.calculate_roc(scores[same], scores[~same], ds_scores=False)[:3]
    v = verification(similarity=t.scores, probes=t.probes, gallery=t.gallery)
    np.testing.assert_allclose(v.fmr_at(thresholds), fmr, atol=1e-12)
    np.testing.assert_allclose(v.fnmr_below(thresholds), fnmr, atol=1e-12)


def test_bssr1_two_way_error_is_the_bootstrap_of_subjects(shared):
    t = bssr(shared, "face_g")
    v = verification(similarity=t.scores, probes=t.probes, gallery=t.gallery)
    at = float(v.threshold(0.01))
    hits = (t.scores >= at) & ~np.eye(517, dtype=bool)
    rng = np.random.default_rng(0)
    rate = []
    for _ in range(400):
        w = np.bincount(rng.integers(0, 517, 517), minlength=517).astype(float)
        rate.append(w @ hits @ w / (w.sum() ** 2 - w @ w))
    found = v.fmr(at)
    assert found.se == pytest.approx(np.std(rate), rel=0.12)
    row_wise = hits.mean(axis=1).std() / np.sqrt(517)
    assert found.se > 1.4 * row_wise
    assert found.deff > 20


def test_orl_initial_against_update_training(shared):
    z = np.load(shared / "data" / "orl_faces.npz")
    x = z["images"][:, ::8, ::8].reshape(400, -1).astype(float)

    def eigenfaces(images, _):
        middle = images.mean(axis=0)
        axes = np.linalg.svd(images - middle, full_matrices=False)[2][:20]
        return lambda new: (new - middle) @ axes.T

    who = z["subject"].astype(int)
    array = image_array(who, per_subject=10)
    test = ImageArray(array.rows[10:], array.subjects[10:])
    given = {"subjects": who, "fit": eigenfaces, "score": "euclidean"}
    once = system_of_model("initial", x, training="initial", training_rows=who <= 10, **given)
    again = system_of_model("update", x, training="update", **given)
    rates = {s.name: run(s, test).cms(at=[1]) for s in (once, again)}
    assert all(0.5 < e.value[0] < 0.95 for e in rates.values())
    assert all(0.01 < e.se[0] < 0.05 for e in rates.values())
