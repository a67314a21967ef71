"""Generators: seeded, shaped as asked, and true to their stated Bayes error and correlations."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import norm

from strat import datasets as ds
from strat.base.errors import StratError
from strat.gaussian import DiscreteProblem, bayes_error

MAKERS = {
    "gaussian": lambda rng: ds.gaussian_classes(
        2000, means=[[0, 0], [2, 1], [0, 2]], covariances=[np.eye(2), np.eye(2) * 2, np.eye(2)], rng=rng
    ),
    "shapes": lambda rng: ds.ellipses(1500, rng=rng),
    "strings": lambda rng: ds.strings(1500, noise=0.4, rng=rng),
    "board": lambda rng: ds.checker_board(3000, flipped=0.1, rng=rng),
    "shape_colour": lambda rng: ds.shape_colour(3000, rng=rng),
}


@pytest.mark.parametrize("name", MAKERS)
def test_same_seed_same_data_and_other_seed_other_data(name: str) -> None:
    make = MAKERS[name]
    a, b, c = make(3), make(np.random.default_rng(3)), make(4)
    assert np.array_equal(a.X, b.X)
    assert np.array_equal(a.y, b.y)
    assert not (np.array_equal(a.X, c.X) and np.array_equal(a.y, c.y))


@pytest.mark.parametrize("name", MAKERS)
def test_best_classifier_makes_the_bayes_error(name: str) -> None:
    data = MAKERS[name](11)
    posterior = data.posterior(data.X)
    assert posterior.sum(axis=1) == pytest.approx(1)
    wrong = posterior.argmax(axis=1) != data.y
    se = np.sqrt(data.bayes_error * (1 - data.bayes_error) / len(data))
    assert abs(wrong.mean() - data.bayes_error) < 3.5 * se + 3 * data.bayes_error_se


@pytest.mark.parametrize("name", MAKERS)
def test_the_problem_of_samples_has_their_bayes_error(name: str) -> None:
    assert ds.gaussian_classes(9, means=[[0.0]]).problem is None
    data = MAKERS[name](11)
    if isinstance(data.problem, DiscreteProblem):
        assert bayes_error(data.problem).value == pytest.approx(data.bayes_error, abs=1e-12)
        return
    found = bayes_error(data.problem, samples=4000)
    assert found.value == pytest.approx(data.bayes_error, abs=4 * np.hypot(found.se or 0.0, data.bayes_error_se) + 1e-6)
    assert data.problem.posteriors(data.X[::50]) == pytest.approx(data.posterior(data.X[::50]), abs=1e-9)


def test_the_density_of_a_noisy_curve_is_one_and_that_of_its_points() -> None:
    curve = ds.problems.NoisyCurve(ds.problems.FIGURE_1_7[0], (0.6, 0.9), False)
    x, y = np.meshgrid(np.linspace(-16, 4, 101), np.linspace(-9, 9, 91))
    density = np.exp(curve.log_density(np.column_stack([x.ravel(), y.ravel()])))
    assert density.sum() * 0.2 * 0.2 == pytest.approx(1, abs=1e-3)
    drawn = curve.sample(40_000, 1)
    wanted = density.reshape(x.shape)[:, x[0] < -6].sum() * 0.04
    assert np.mean(drawn[:, 0] < -6.1) == pytest.approx(wanted, abs=0.015)


def test_noise_is_one_number_or_one_for_each_feature_or_a_function_of_the_place() -> None:
    flat_noise = lambda x: np.full_like(x, 0.5)  # noqa: E731
    same = [ds.ellipses(300, noise=n, rng=2) for n in (0.5, [0.5, 0.5], flat_noise)]
    assert len({(d.X.tobytes(), round(d.bayes_error, 12)) for d in same}) == 1
    line = lambda t: np.column_stack([10 * t, 10 * t])  # noqa: E731
    apart = ds.noisy_shapes(20_000, curves=[line], noise=[2, 0.1]).X
    across = np.diff(apart, axis=1)[:, 0]
    assert across.std() == pytest.approx(np.hypot(2, 0.1), rel=0.02)
    assert apart[:, 1].std() == pytest.approx(np.sqrt(100 / 12 + 0.01), rel=0.02)
    flat = lambda t: np.column_stack([1000 * t, 1 + 0 * t])  # noqa: E731
    growing = ds.noisy_shapes(20_000, curves=[flat], noise=lambda x: 0.001 * abs(x[:, :1]) + 1e-9).X
    assert growing[growing[:, 0] > 900, 1].std() == pytest.approx(0.95, rel=0.05)
    assert growing[growing[:, 0] < 100, 1].std() == pytest.approx(100e-3 / np.sqrt(3), rel=0.1)


def test_samples_draw_every_row_at_its_place() -> None:
    """The area of a dot is its number of rows."""
    data = ds.shape_colour()
    for code, cloud in enumerate(data.plot().collections):
        drawn = dict(zip(map(tuple, np.asarray(cloud.get_offsets()).tolist()), cloud.get_sizes() / 12, strict=True))
        counts = np.unique(data.X[data.y == code], axis=0, return_counts=True)
        assert drawn == dict(zip(map(tuple, counts[0].tolist()), counts[1], strict=True))
    plane, line = ds.ellipses(90, rng=1), ds.gaussian_classes([2, 3], means=[[0], [1]], rng=1)
    drawn = np.vstack([np.asarray(c.get_offsets()) for c in plane.plot().collections])
    assert sorted(drawn.tolist()) == sorted(plane.X.tolist())
    assert np.vstack([np.asarray(c.get_offsets()) for c in line.plot().collections])[:, 1].tolist() == [0, 0, 1, 1, 1]
    plt.close("all")


def test_two_gaussians_have_the_closed_bayes_error_with_any_priors() -> None:
    for priors in ([0.5, 0.5], [0.9, 0.1]):
        data = ds.gaussian_classes(10, means=[[0.0], [2.0]], priors=priors)
        cut = 1 + np.log(priors[0] / priors[1]) / 2
        exact = priors[0] * norm.sf(cut) + priors[1] * norm.cdf(cut - 2)
        assert data.bayes_error == pytest.approx(exact, abs=1e-14)
        assert data.bayes_error_se == 0


def test_integrated_bayes_error_agrees_with_the_closed_form() -> None:
    exact = ds.gaussian_classes(4, means=[[0, 0], [2, 1]])
    integrated = ds.gaussian_classes(4, means=[[0, 0], [2, 1], [9, 9]], priors=[0.5, 0.5, 0.0])
    assert integrated.bayes_error_se > 0
    assert integrated.bayes_error == pytest.approx(exact.bayes_error, abs=5 * integrated.bayes_error_se)
    assert integrated.bayes_error_se < 5e-4


def test_class_sizes_follow_priors_or_are_given() -> None:
    means = [[0.0], [1.0]]
    assert np.bincount(ds.gaussian_classes(10, means=means, priors=[0.25, 0.75]).y).tolist() == [3, 7]
    assert np.bincount(ds.gaussian_classes([2, 5], means=means).y).tolist() == [2, 5]


def test_noise_grows_along_the_shape() -> None:
    line = lambda t: np.column_stack([t, 0 * t])  # noqa: E731
    data = ds.noisy_shapes(4000, curves=[line], noise=0.01, growing=True)
    assert data.X[data.X[:, 0] > 0.8, 1].std() > 3 * data.X[data.X[:, 0] < 0.2, 1].std()
    assert data.bayes_error == 0


def test_shape_colour_has_the_counts_of_example_1_1() -> None:
    data = ds.shape_colour()
    assert ((data.posterior(data.X).argmax(axis=1)) != data.y).sum() == 43
    assert ((data.y == 0) & (data.X == [3, 0]).all(axis=1)).sum() == 72
    assert ((data.y == 1) & (data.X == [2, 1]).all(axis=1)).sum() == 79


def intraclass(right: np.ndarray, unit: np.ndarray) -> float:
    """Correlation of pairs within a unit, about the overall mean."""
    n = np.bincount(unit)
    centred = right - right.mean()
    sums = np.bincount(unit, centred)
    squares = np.bincount(unit, centred**2)
    return float((sums**2 - squares).sum() / (n * (n - 1)).sum() / right.var())


@pytest.mark.parametrize("icc", [0.0, 0.1, 0.4])
def test_clustered_predictions_have_the_wanted_correlation(icc: float) -> None:
    t = ds.clustered_predictions(units=4000, per_unit=10, accuracy=0.8, icc=icc, rng=2)
    right = (t["truth"] == t["predicted"]).astype(float)
    assert right.mean() == pytest.approx(0.8, abs=0.02)
    assert intraclass(right, t["unit"]) == pytest.approx(icc, abs=0.02)
    assert np.array_equal(t["predicted"] == 1, t["score"] > 0.5)


def test_clustered_predictions_take_uneven_units_and_many_classes() -> None:
    t = ds.clustered_predictions(units=3, per_unit=[1, 2, 3], classes=4, rng=1)
    assert t["unit"].tolist() == [0, 1, 1, 2, 2, 2]
    big = ds.clustered_predictions(units=2000, classes=4, accuracy=0.5, rng=1)
    assert (big["truth"] == big["predicted"]).mean() == pytest.approx(0.5, abs=0.02)


def test_benchmark_has_the_wanted_correlations_and_accuracies() -> None:
    t = ds.benchmark(items=40_000, strata=1, clusters=8000, repeats=2, systems={"a": 0.6, "b": 0.7}, spread=0, rng=5)
    a = t["system"] == "a"
    right = t["correct"].astype(float)
    assert right[a].mean() == pytest.approx(0.6, abs=0.01)
    assert right[~a].mean() == pytest.approx(0.7, abs=0.01)
    first = a & (t["repeat"] == 0)
    assert intraclass(right[first], t["cluster"][first]) == pytest.approx(0.2, abs=0.02)
    pairs = right[a].reshape(-1, 2)  # two repeats of an item: icc + (1 − icc)·item_icc
    assert np.corrcoef(pairs.T)[0, 1] == pytest.approx(0.6, abs=0.02)
    assert np.corrcoef(right[a], right[~a])[0, 1] > 0.1


def test_benchmark_nests_items_in_clusters_in_strata_and_states_what_to_expect() -> None:
    t = ds.benchmark(items=60, strata=3, clusters=12, repeats=2, systems=[0.5, 0.6, 0.7])
    assert len(t["item"]) == 60 * 2 * 3
    for inner, outer in (("item", "cluster"), ("cluster", "stratum")):
        pairs = {(i, o) for i, o in zip(t[inner].tolist(), t[outer].tolist(), strict=True)}
        assert len(pairs) == len(set(t[inner].tolist()))
    keys = {(s, h, e) for s, h, e in zip(t["system"], t["stratum"], t["expected"], strict=True)}
    assert len(keys) == 9


def test_recognizer_is_harder_for_difficult_subjects() -> None:
    data = ds.recognizer(subjects=300, images=5, difficulty=1.0, rng=3)
    gallery, probes = data.split()
    assert gallery.sum() == 300
    assert probes.sum() == 1200
    assert np.linalg.norm(data.embeddings, axis=1) == pytest.approx(1)
    score = data.embeddings[probes] @ data.embeddings[gallery].T
    right = score.argmax(axis=1) == data.subject[probes]
    hard = (data.difficulty > np.median(data.difficulty))[data.subject[probes]]
    assert right[~hard].mean() > right[hard].mean() + 0.2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ds.strings(10, rng=-1), "`rng` must be a seed"),
        (lambda: ds.gaussian_classes(0, means=[[0.0]]), "`n` must be a whole number of at least 1, got 0"),
        (lambda: ds.gaussian_classes([1], means=[[0.0], [1.0]]), r"`n` must have one size per class \(2\)"),
        (lambda: ds.gaussian_classes(9, means=[0.0, 1.0]), "`means` must be classes × dimensions"),
        (
            lambda: ds.gaussian_classes(9, means=[[0.0], [1.0]], priors=[0.5, 0.6]),
            "`priors` must sum to 1",
        ),
        (
            lambda: ds.gaussian_classes(9, means=[[0.0], [1.0]], priors=[1.0]),
            "`priors` must have one probability per class",
        ),
        (
            lambda: ds.gaussian_classes(9, means=[[0.0, 1.0]], covariances=[[1.0]]),
            "`covariances` must be 2 × 2",
        ),
        (
            lambda: ds.gaussian_classes(9, means=[[0.0, 1.0]], covariances=[[1.0, 2], [2, 1]]),
            "`covariances` must be positive definite",
        ),
        (lambda: ds.noisy_shapes(9, curves=[]), "`curves` must hold at least one curve"),
        (lambda: ds.ellipses(9, noise=0), "`noise` must be above 0, got 0"),
        (lambda: ds.ellipses(9, noise=[1, 2, 3]), "`noise` must be one number, or one for each of 2 features, got 3"),
        (lambda: ds.ellipses(9, noise=np.zeros_like), "`noise` must be above 0, got 0"),
        (lambda: ds.checker_board(9, side=0), "`side` must be above 0"),
        (lambda: ds.checker_board(9, flipped=0.6), "`flipped` must lie between 0 and 0.5"),
        (lambda: ds.clustered_predictions(icc=1.2), "`icc` must lie between 0 and 1, got 1.2"),
        (lambda: ds.clustered_predictions(units=3, per_unit=[1]), "`per_unit` must be one number, or 3"),
        (lambda: ds.benchmark(systems=[]), "`systems` must name at least one"),
        (lambda: ds.benchmark(systems=[1.0]), "`systems` must be accuracies between 0 and 1"),
        (lambda: ds.benchmark(items=10, clusters=20), r"`clusters` must be at least `strata` \(5\)"),
        (lambda: ds.recognizer(noise=-1), "`noise` must be at least 0, got -1"),
    ],
)
def test_bad_input_is_one_sentence(call, message: str) -> None:
    with pytest.raises(StratError, match=message):
        call()
