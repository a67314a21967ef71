"""Each claim that CVPR prints about its figures, on the frontal images of the FERET scores, with its threshold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from reproduce.entries import Setting

from reproduce import cvpr
from strat.recognition import ImageArray, compare_units, gallery_effect, image_array, run

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def setting(shared: Path) -> Setting:
    return Setting(shared)


def seen(make, setting):
    return {value.what: value.ours for value in make(setting).values if value.other_data}


def test_the_frontal_images_are_columns_1_6_and_7(setting):
    systems, arrays, words = cvpr.experiment(setting.file(cvpr.FILE))
    z = np.load(setting.file(cvpr.FILE))
    assert z["image"][arrays(3).rows].tolist() == [[1, 6, 7]] * 150
    assert "frontal images 1, 6, 7" in words
    # turned heads know each other, and frontal ones do: what the columns are is seen in the rates between them
    rows = np.flatnonzero(~np.isin(z["subject"], z["subject"][z["pca_training"] > 0]))
    whole = image_array(z["subject"][rows], per_subject=7, images=z["image"][rows])
    array = ImageArray(rows[whole.rows], whole.subjects)
    rate = lambda g, p: np.mean(run(systems[-1], array, gallery=g, probes=[p]).ranks.rank() == 1)  # noqa: E731
    assert rate(0, 5) > 0.8
    assert rate(1, 2) > 0.95
    assert rate(1, 4) < 0.15


def test_figure_2_galleries_differ_and_the_neutral_one_is_best(setting):
    found = seen(cvpr.figure_2, setting)
    assert len(found) == 6
    assert set(found.values()) == {"seen here too"}


def test_figure_3_strata_save_a_fifth_with_two_units_and_not_with_the_three_that_cvpr_has(setting):
    found = cvpr.figure_3(setting)
    three, two = (v for v in found.values if v.other_data)
    assert ("3 units" in three.what, "2 units" in two.what) == (True, True)
    assert (three.ours, two.ours) == ("not seen here", "seen here too")
    assert "PCA-MahCos -4 %" in three.note
    assert "PCA-MahCos 17 %" in two.note
    assert "LBP 3 %" in two.note
    assert [v.printed for v in found.values] == ["approximately 20 %"] * 2 + [None]  # the gap of BRR is not printed
    labels = [text.get_text() for text in found.picture().get_legend().get_texts()]
    assert any("no strata" in label for label in labels)


def test_figure_4_mixed_galleries_do_not_differ(setting):
    assert set(seen(cvpr.figure_4, setting).values()) == {"seen here too"}


def test_figure_5_three_units_have_the_lowest_variance_with_few_exceptions(setting):
    assert set(seen(cvpr.figure_5, setting).values()) == {"seen here too"}
    assert "lowest at 38 of 42 ranks" in cvpr.figure_5(setting).values[0].note  # at the last rank all are 0
    # with turned heads alone it is not: the threshold of the claim can fail
    systems, _, _ = cvpr.experiment(setting.file(cvpr.FILE))
    z = np.load(setting.file(cvpr.FILE))
    rows = np.flatnonzero(~np.isin(z["subject"], z["subject"][z["pca_training"] > 0]))
    first = image_array(z["subject"][rows], per_subject=4, images=z["image"][rows])
    poses = ImageArray(rows[first.rows], first.subjects)
    found = compare_units(systems[-1], poses.mixed(), gallery=1)
    variances = np.stack([e.variance for e in found.estimates.values()])
    assert np.mean(variances[0] <= variances[1:].min(axis=0)) < 0.2


@pytest.mark.parametrize("figure", [cvpr.figure_6, cvpr.figure_7])
def test_figures_6_and_7_the_best_system_is_better_at_most_ranks(setting, figure):
    found = seen(figure, setting)
    assert len(found) == 2
    assert all(what.startswith("PCA-MahCos is better than") for what in found)
    assert set(found.values()) == {"seen here too"}


def test_fewer_subjects_help_pca_more_than_one_of_the_others_only(setting):
    found = seen(cvpr.fewer_subjects, setting)
    assert list(found.values()) == ["not seen here", "seen here too"]


def test_mixing_lowers_all_rates(setting):
    systems, arrays, _ = cvpr.experiment(setting.file(cvpr.FILE))
    for system in systems:
        given, mixed = (gallery_effect(system, a, at=[1]).test().rates for a in (arrays(3), arrays(3).mixed()))
        assert max(mixed) < min(given)
