"""Discriminants, planning and finite samples: no plan for the wrong rows, no impossible error."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

import strat
from strat import comparison, gaussian, measures, planning, protocols, verbs
from strat.base.errors import StratError
from strat.cli.app import main

# ---- discriminants


def test_leave_one_out_of_collinear_features_trains_again() -> None:
    """`auto` refused constant or collinear columns and wide tables that scikit-learn's linear discriminant takes."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), np.repeat([0, 1], 20)
    X[:, 0] += y
    for table in (
        np.column_stack([X, np.ones(40)]),
        np.column_stack([X, X.sum(axis=1)]),
        rng.standard_normal((40, 60)),
    ):
        found = protocols.leave_one_out(LinearDiscriminantAnalysis(), table, y)
        assert found.error == protocols.leave_one_out(LinearDiscriminantAnalysis(), table, y, method="refit").error
        assert protocols.bounds(LinearDiscriminantAnalysis(), table, y).upper.error == found.error


def test_bounds_use_the_closed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """`bounds` asked for a key that nobody wrote, and so always trained again."""
    data = strat.datasets.gaussian_classes([30, 30], means=[[0, 0], [1, 1]], rng=1)
    wanted = protocols.resubstitution(QuadraticDiscriminantAnalysis(), data.X, data.y)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr("strat.protocols.summaries.run", refuse)
    pair = protocols.bounds(QuadraticDiscriminantAnalysis(), data.X, data.y)
    assert pair.lower.error == wanted.error
    assert np.array_equal(pair.lower.predictions["predicted"], wanted.predictions["predicted"])
    assert np.array_equal(pair.lower.predictions["fold"], wanted.predictions["fold"])
    assert pair.lower.fold_errors == pytest.approx(wanted.fold_errors)
    assert pair.lower.interval() == pytest.approx(wanted.interval())


# ---- planning and finite samples


DISTANCE = 2.5631  # a Bayes error of 10 %


def _sensitivity_spread(rng, units, together, *, intraclass=0.12, share=0.086, mean=0.776):
    """Standard deviation of a sensitivity over simulated studies of patients with 3.4 images on average."""
    found = []
    for _ in range(200):
        images = 1 + rng.binomial(4, 0.6, units)
        positive = rng.binomial(images, rng.random(units) < share if together else share)
        ease = rng.beta(mean * (1 / intraclass - 1), (1 - mean) * (1 / intraclass - 1), units)
        found.append(rng.binomial(positive, ease).sum() / positive.sum())
    return np.std(found, ddof=1)


@pytest.mark.parametrize("together", [True, False])
def test_a_sensitivity_is_planned_with_its_prevalence(together):
    """635 patients were planned for a sensitivity within ± 2 points; with 8.6 % positive images 6,700 are needed."""
    units = planning.units_for_width(
        width=0.04,
        proportion=0.776,
        rows_per_unit=3.4,
        intraclass=0.12,
        share=0.086,
        share_intraclass=float(together),
        assurance=0.5,
    ).number
    spread = _sensitivity_spread(np.random.default_rng(7), units, together)
    assert 2 * 1.96 * spread == pytest.approx(0.04, rel=0.12)
    assert 5_500 < units < 7_500


def test_a_sensitivity_without_a_prevalence_is_refused(capsys):
    """`strat plan width` planned a sensitivity as if every row were positive."""
    with pytest.raises(SystemExit) as stopped:
        main(["plan", "width", "--width", "0.04", "--proportion", "0.8", "--metric", "sensitivity"])
    assert stopped.value.code == 1
    assert "`--prevalence` must be given with --metric sensitivity" in capsys.readouterr().err


def test_power_counts_only_the_rows_that_the_measure_looks_at():
    """Rows for a difference of sensitivities ignored that most rows are negative."""
    asked = {"difference": 0.05, "disagreement": 0.2}
    whole = planning.paired_rows_for_power(**asked).number
    assert planning.paired_rows_for_power(**asked, share=0.1).number == pytest.approx(10 * whole, rel=0.01)
    found = planning.detectable_difference(rows=10 * whole, disagreement=0.2, share=0.1)
    assert found.difference == pytest.approx(0.05, rel=0.01)


@pytest.mark.parametrize("plan", [planning.rows_for_width, planning.units_for_width, planning.rows_per_unit_for_width])
def test_an_interval_of_a_share_is_narrower_than_one(plan):
    """`strat plan width --width 10 --proportion 0.5` planned 2 rows."""
    more = {
        planning.rows_for_width: {},
        planning.units_for_width: {"rows_per_unit": 5, "intraclass": 0.1},
        planning.rows_per_unit_for_width: {"units": 5, "intraclass": 0.1},
    }[plan]
    with pytest.raises(StratError, match=r"`width` must be below 1 for a share, got 10"):
        plan(width=10, proportion=0.5, **more)


@pytest.mark.parametrize("features", [1, 2, 8, 64, 300])
def test_no_expected_error_is_impossible(features):
    """The first-order expansion gave an expected error of 1.168 and a leave-one-out bias of 2.30, without a word."""
    samples = features + 6
    moments = gaussian.holdout_moments(features=features, distance=DISTANCE, design_samples=samples, test_samples=100)
    assert moments.method == "simulated"
    assert 0.1 <= moments.expected <= 0.5
    linear = gaussian.linear_degradation(features=features, design_samples=samples, distance=DISTANCE)
    assert 0 < linear < 0.4
    bias = gaussian.leave_one_out_bias(features=features, design_samples=samples, distance=DISTANCE)
    assert 0 < bias < 1


def test_design_samples_follow_the_truth_where_the_expansion_fails():
    """374 design samples were planned for 64 features where about 200 are enough."""
    plan = planning.design_samples_for(degradation=0.2, features=64, distance=DISTANCE)
    errors = gaussian.simulate_degradation(
        gaussian.shifted_problem(64, distance=DISTANCE), design_samples=plan.number, repetitions=60
    )
    assert plan.method == "simulated"
    assert errors.mean - 0.1 == pytest.approx(0.2, abs=0.01)
    assert plan.values.max() < 0.4


@pytest.mark.parametrize(("features", "samples"), [(1, 8), (2, 12), (8, 24), (16, 100)])
def test_the_simulation_without_matrices_is_the_one_with_them(features, samples):
    """A degradation needs no matrices, only chi-squareds; the law is that of whole classifiers."""
    fast = gaussian.quadratic_degradation(
        features=features, design_samples=samples, distance=DISTANCE, method="simulated"
    )
    errors = gaussian.simulate_degradation(
        gaussian.shifted_problem(features, distance=DISTANCE), design_samples=samples, repetitions=1500, rng=3
    )
    assert fast == pytest.approx(errors.mean - 0.1, abs=4 * errors.se + 0.002)


def test_neyman_has_one_answer():
    """`strat sample` and `strat plan allocation` differed in 28 of 300 random cases, and neither was always best."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        sizes = rng.integers(1, 8, rng.integers(1, 5))
        spreads = np.round(3 * rng.random(len(sizes)), 1)
        total = int(rng.integers(np.minimum(sizes, 2).sum(), sizes.sum() + 1))
        counts = verbs.sample(
            {"g": np.repeat(np.arange(len(sizes)), sizes)},
            size=total,
            strata="g",
            method="neyman",
            spread=dict(enumerate(spreads.tolist())),
        )
        drawn = np.bincount(counts.stratum, minlength=len(sizes))
        assert (
            drawn.tolist() == planning.neyman_allocation(sizes=sizes, deviations=spreads, total=total).counts.tolist()
        )
        every = itertools.product(*(range(min(2, n), n + 1) for n in sizes.tolist()))
        best = min(((sizes * spreads) ** 2 / c).sum() for c in map(np.array, every) if c.sum() == total)
        assert ((sizes * spreads) ** 2 / drawn).sum() == pytest.approx(best)


def test_a_large_stratum_gives_up_more_than_two_units():
    """Greed that started two units below the continuous solution could not take 43 from one large stratum."""
    sizes = np.r_[np.full(1000, 50), 10**7]
    spreads = np.r_[np.full(1000, 2.46 / 50), 0.001]
    counts = planning.neyman_allocation(sizes=sizes, deviations=spreads, total=12_460, least=1).counts
    gain = (sizes * spreads) ** 2 / (counts * (counts + 1))  # of one more unit
    loss = (sizes * spreads) ** 2 / np.maximum(counts * (counts - 1), 1)  # of one less
    assert gain.max() <= loss[counts > 1].min() * (1 + 1e-12)


@pytest.mark.parametrize("method", ["proportional", "neyman", "systematic"])
def test_many_strata_are_drawn_in_linear_time(method):
    """100,000 strata took 20 seconds, in time that grew with their square."""
    table = {"g": np.repeat(np.arange(50_000), 3), "s": np.random.default_rng(0).random(150_000)}
    start = time.perf_counter()
    verbs.sample(table, size=110_000, strata="g", method=method, spread="s" if method == "neyman" else None)
    assert time.perf_counter() - start < 8


def test_chow_refuses_alike_wherever_it_is_asked():
    """At a probability of 0.7 and a cost of 0.3 one copy of Chow's rule decided and the other, by rounding, refused."""
    for probability in np.arange(1, 50) / 100:
        posteriors, cost = [[1 - probability, probability]], float(probability)
        refused = measures.chow(posteriors, cost=cost, labels=["a", "b"])[0] == "refuse"
        assert refused == (gaussian.chow_rule(posteriors, cost=cost)[0] == -1)


def test_levels_are_refused_in_one_way():
    """The interval of a corrected t-test took any level, and answered NaN."""
    result = comparison.corrected_t([1.0, 2.0, 4.0], [0.0, 0.5, 0.0], ratio=0.1)
    for ask in (result.interval, planning.fit_learning_curve([10, 20, 40], [0.3, 0.2, 0.16]).samples_for):
        with pytest.raises(StratError, match=r"`level` must lie strictly between 0 and 1, got 95"):
            ask(level=95) if ask == result.interval else ask(0.13, 95)
