"""CVPR section 5 on generated recognisers: runs, effect and mixing, methods, units, permutations, training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import strat
from strat.base.errors import StratError
from strat.datasets import recognizer
from strat.recognition import (
    cms_of,
    compare_methods,
    compare_systems,
    compare_units,
    evaluation_figures,
    gallery_effect,
    image_array,
    permutations,
    ranks,
    run,
    system_of_embeddings,
    system_of_model,
    system_of_scores,
)


def styled(subjects=150, images=3, shift=0.0, rng=0):
    """A recogniser whose first images carry a style of their own, which helps nobody but hurts as a gallery."""
    data = recognizer(subjects=subjects, images=images, dimensions=16, rng=rng)
    x = data.embeddings.copy()
    noise = np.random.default_rng(rng + 1).standard_normal(x.shape) / 4
    x[data.image == 0] += shift * noise[data.image == 0]
    return data, x


def test_effect_is_seen_and_mixing_removes_it():
    data, x = styled(shift=1.5)
    system = system_of_embeddings("toy", x, subjects=data.subject, score="cosine")
    array = image_array(data.subject, per_subject=3)
    effect = gallery_effect(system, array)
    assert effect.test().pvalue < 1e-3
    assert gallery_effect(system, array.mixed()).test().pvalue > 0.01
    assert "rank-1 rates by gallery" in str(effect)
    assert len(effect.plot().get_lines()) == 9


def test_no_effect_has_uniform_p_values():
    low = 0
    for seed in range(40):
        data, x = styled(subjects=60, rng=seed)
        system = system_of_embeddings("toy", x, subjects=data.subject, score="cosine")
        low += gallery_effect(system, image_array(data.subject, per_subject=3), at=[1]).test().pvalue < 0.1
    assert low <= 10  # 4 expected; 11 or more has a chance of 0.002


def test_the_effect_test_is_hotellings():
    data, x = styled(subjects=50)
    system = system_of_embeddings("toy", x, subjects=data.subject, score="cosine")
    effect = gallery_effect(system, image_array(data.subject, per_subject=3))
    y = effect._by_subject(1)
    gaps = np.column_stack([y[:, 1] - y[:, 0], y[:, 2] - y[:, 1]])  # other contrasts, the same test
    t2 = 50 * gaps.mean(0) @ np.linalg.solve(np.cov(gaps.T), gaps.mean(0))
    assert effect.test().statistic == pytest.approx(t2 * 48 / (49 * 2))


def effect_of(*hits):
    """One line for each subject: whether its probe is found at rank 1 with each gallery."""
    data, x = styled(subjects=10)
    made = gallery_effect(
        system_of_embeddings("toy", x, subjects=data.subject, score="cosine"), image_array(data.subject, per_subject=3)
    )
    ranks_of = np.where(np.asarray(hits, bool), 1, 2)
    return replace(made, hits=np.repeat(ranks_of[:, :, None], 2, axis=2)).test()


@pytest.mark.parametrize("n", [2, 4, 20])
def test_a_gap_that_is_the_same_for_every_subject_is_an_effect(n):
    """One gallery finds everybody, the others nobody: nothing varies, and the exact sign test is two to the n."""
    found = effect_of(*[(1, 0, 0)] * n)
    assert found.pvalue == pytest.approx(min(1.0, 3 * 2.0 ** (1 - n)), rel=1e-12)
    assert found.method.startswith("exact sign tests")
    assert "F(" not in str(found)
    assert found.df == ()


def test_a_constant_gap_beside_one_that_varies_is_not_lost():
    """The first gallery is better for every subject by the same amount; the last one differs by chance."""
    assert effect_of(*[(1, 0, 0), (1, 0, 1)] * 10).pvalue == pytest.approx(3 * 2.0**-19, rel=1e-12)


def test_galleries_that_agree_for_every_subject_have_no_effect():
    """Two galleries that always agree say nothing; three say that there is nothing to see."""
    assert effect_of(*[(1, 1, 1), (0, 0, 0)] * 5).pvalue == 1.0
    two = effect_of(*[(1, 1, 0), (1, 1, 1), (0, 0, 1), (0, 0, 0)] * 5)
    assert two.df == (1, 19)
    assert two.pvalue == 1.0


def test_rounding_is_no_variation():
    """A gap of a third, which floating point can't hold."""
    data, x = styled(subjects=10)
    system = system_of_embeddings("toy", x, subjects=data.subject, score="cosine")
    made = gallery_effect(system, image_array(data.subject, per_subject=3))
    hits = np.full((21, 2, 3), 2)
    hits[:, 0, 0] = 1
    found = replace(made, hits=hits).test()
    assert found.df == ()
    assert found.pvalue == pytest.approx(2.0**-20, rel=1e-12)


def test_fewer_subjects_than_galleries_are_compared_by_signs():
    """Hotelling's test needs more subjects than differences; two subjects show nothing, and p says so."""
    found = effect_of((1, 0, 0), (0, 1, 0))
    assert found.df == ()
    assert found.pvalue == 1.0


def test_images_of_fixed_kinds_are_blocks_of_subjects_and_kinds():
    """The variance is that of what is left of hits without the effects of subjects and of kinds."""
    data, x = styled(subjects=40, images=4, shift=3.0)
    system = system_of_embeddings("toy", x, subjects=data.subject, score="cosine")
    array = image_array(data.subject, per_subject=4, images=data.image, kinds=data.image)
    one = run(system, array, gallery=1)
    hit = (one.ranks.rank() == 1).reshape(40, 3).astype(float)
    left = hit - hit.mean(axis=0) - hit.mean(axis=1, keepdims=True) + hit.mean()
    found = one.cms(method="closed form", at=[1])
    assert found.df == 78
    assert found.variance == pytest.approx((left**2).sum() / 78 / 120)
    free = run(system, image_array(data.subject, per_subject=4, images=data.image), gallery=1)
    assert found.variance < free.cms(at=[1]).variance  # the first images are worse, which is no error here
    with pytest.raises(StratError, match="closed form"):
        one.cms()
    assert run(system, array.mixed(), gallery=1).cms(method="closed form", at=[1]).df == 120 - 40 - 4 + 1


@pytest.mark.parametrize("factor", ["subject", "gallery", "probe"])
def test_the_components_of_the_rate_belong_to_what_the_hits_depend_on(factor):
    data, x = styled(subjects=40, images=4)
    system = system_of_embeddings("toy", x, subjects=data.subject, score="cosine")
    effect = gallery_effect(system, image_array(data.subject, per_subject=4), at=[1])
    gallery = np.arange(4)[:, None]
    probe = np.array([np.delete(np.arange(4), j) for j in range(4)])
    depends = {"subject": np.arange(40)[:, None, None] % 3, "gallery": gallery % 2, "probe": probe % 2}[factor]
    parts = replace(effect, hits=1 + np.broadcast_to(depends, effect.hits.shape)).components()
    assert parts.shares[factor] == pytest.approx(1.0, abs=1e-9)
    assert parts.levels == {"subject": 40, "gallery": 4, "probe": 4}
    assert parts.name == "rank-1 rate"
    assert parts.se_with(**{factor: 4 * parts.levels[factor]}) == pytest.approx(parts.se / 2)


def test_all_figures_are_drawn_for_every_system(tmp_path):
    data, x = styled(subjects=20, images=4)
    noisy = x + 0.2 * np.random.default_rng(3).standard_normal(x.shape)
    systems = [system_of_embeddings(n, v, subjects=data.subject, score="cosine") for n, v in (("a", x), ("b", noisy))]
    array = image_array(data.subject, per_subject=4)
    figures = evaluation_figures(systems, array)
    assert [*figures] == ["1", *(f"{k} {s}" for k in (2, 3, 4, 5) for s in "ab"), "6", "7"]
    numbers = {name: len(draw().get_lines()) for name, draw in figures.items()}
    assert [numbers[f"{k} a"] for k in (2, 3, 4, 5)] == [12, 5, 12, 4]  # curves with ± 2 se; methods; numbers of units
    assert "5 a" not in evaluation_figures(systems, array.without(3))
    for refused in (array.without(2, 3), image_array(data.subject, per_subject=4, kinds=data.image)):
        with pytest.raises(StratError, match="`array` must have three columns or more, without fixed kinds"):
            evaluation_figures(systems, refused)


def test_methods_agree_and_count_their_replicates():
    data, x = styled(subjects=256, images=4)
    system = system_of_embeddings("toy", x, subjects=data.subject, score="cosine")
    made = run(system, image_array(data.subject, per_subject=4), gallery=1)
    found = compare_methods(made, methods=("closed form", "brr", "jackknife", "bootstrap"))
    assert found.replicates == {"closed form": 0, "brr": 648, "jackknife": 768, "bootstrap": 1000}
    np.testing.assert_allclose(found.se("brr"), found.se("closed form"), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.se("jackknife"), found.se("closed form"), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.se("bootstrap")[:5], found.se("closed form")[:5], rtol=0.15)
    assert len(found.plot().get_lines()) == 4


def test_more_units_have_less_variance_on_average():
    data, x = styled(subjects=120, images=4)
    system = system_of_embeddings("toy", x, subjects=data.subject, score="cosine")
    found = compare_units(system, image_array(data.subject, per_subject=4), at=[1, 3])
    three, *two = (np.asarray(e.variance) for e in found.estimates.values())
    assert (np.mean(two, axis=0) > three).all()
    assert len(found.plot(variance=True).get_lines()) == 4


def test_permutations_centre_on_the_mean_over_images():
    data, x = styled(subjects=60)
    system = system_of_embeddings("toy", x, subjects=data.subject, score="cosine")
    array = image_array(data.subject, per_subject=3)
    found = permutations(system, array, number=60, at=[1, 5])
    mean = np.mean([run(system, array, gallery=j).cms(at=[1, 5]).value for j in range(3)], axis=0)
    np.testing.assert_allclose(found.mean, mean, atol=0.05)
    low, high = found.interval()
    assert (low <= found.mean).all()
    assert (high >= found.mean).all()
    assert (found.se > 0).all()


def test_several_systems_in_one_picture():
    data, x = styled(subjects=40)
    rng = np.random.default_rng(9)
    systems = [
        system_of_embeddings("good", x, subjects=data.subject, score="cosine"),
        system_of_scores("noisy", similarity=x @ x.T + rng.standard_normal((120, 120)), subjects=data.subject),
    ]
    curve = compare_systems(systems, image_array(data.subject, per_subject=3))
    assert curve.systems == ("good", "noisy")
    assert curve.difference("good", "noisy").value[0] > 0


def test_one_probe_column_makes_subjects_the_units():
    data, x = styled(subjects=30, images=2)
    system = system_of_embeddings("toy", x, subjects=data.subject, score="cosine")
    made = run(system, image_array(data.subject, per_subject=2))
    assert made.design.kind == "clustered"
    assert made.design.n_units == 30


def pca(x, _):
    middle = x.mean(axis=0)
    axes = np.linalg.svd(x - middle, full_matrices=False)[2][:5]
    return lambda images: (images - middle) @ axes.T


def test_initial_and_update_training():
    data, x = styled(subjects=40)
    array = image_array(data.subject, per_subject=3)
    calls = []

    def counted(images, subjects):
        calls.append(len(images))
        return pca(images, subjects)

    given = {"subjects": data.subject, "fit": counted, "score": "euclidean"}
    once = system_of_model("once", x, training="initial", training_rows=data.subject < 10, **given)
    gallery_effect(once, array, at=[1])
    assert calls == [30]
    calls.clear()
    again = system_of_model("again", x, training="update", **given)
    gallery_effect(again, array, at=[1])
    assert calls == [40, 40, 40]
    calls.clear()
    both = system_of_model("both", x, training="both", training_rows=np.flatnonzero(data.subject < 10), **given)
    run(both, array)
    assert calls == [60]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s, a, x, d: run(s, a, gallery=5), "column from 0 to 2, got 5"),
        (lambda s, a, x, d: run(s, a, gallery=0, probes=[0]), "other than the gallery's"),
        (lambda s, a, x, d: compare_units(s, a), "at least four columns"),
        (lambda s, a, x, d: gallery_effect(s, a.without(0)), "at least three columns"),
        (lambda s, a, x, d: gallery_effect(s, a).test(rank=0), "`rank` must be a rank"),
        (lambda s, a, x, d: system_of_scores("x", similarity=np.eye(2), subjects=[1]), "images × images"),
        (
            lambda s, a, x, d: system_of_model("m", x, subjects=d, fit=pca, score="inner", training="initial"),
            "`training_rows` must be given with training='initial'",
        ),
        (
            lambda s, a, x, d: system_of_model(
                "m", x, subjects=d, fit=pca, score="inner", training="update", training_rows=[1]
            ),
            "`training_rows` must not be given",
        ),
        (
            lambda s, a, x, d: system_of_model("m", x, subjects=d, fit=pca, score="inner", training="never"),
            "`training` must be one of",
        ),
    ],
)
def test_bad_input(call, words):
    data, x = styled(subjects=12)
    system = system_of_embeddings("toy", x, subjects=data.subject, score="cosine")
    with pytest.raises(StratError, match=words):
        call(system, image_array(data.subject, per_subject=3), x, data.subject)


def test_relative_ranks_say_of_what_they_are_a_share():
    r = ranks(similarity=[[9, 1, 2], [1, 2, 9], [1, 7, 2], [3, 6, 1]], probes=list("abbc"), gallery=list("abc"))
    np.testing.assert_allclose(r.relative_rank("N"), r.rank() / 3)
    np.testing.assert_allclose(r.relative_rank("m"), r.rank() / 4)
    with pytest.raises(StratError, match="`by` must be one of"):
        r.relative_rank("n")


def test_methods_that_do_not_know_the_strata_are_there_by_name():
    data = recognizer(subjects=25, images=3, rng=5)
    s = system_of_embeddings("toy", data.embeddings, subjects=data.subject, score="cosine")
    one = run(s, image_array(data.subject, per_subject=3))
    found = compare_methods(one, methods=("jackknife", "jackknife, no strata"), at=[1])
    flat = strat.estimate(cms_of(one.ranks, at=[1]), on=strat.jackknife(strat.Design.simple_random(n=50)))
    assert found.se("jackknife, no strata")[0] == pytest.approx(flat.se[0])
    with pytest.raises(StratError, match="`method` must be one of"):
        compare_methods(one, methods=("half, no strata",))
