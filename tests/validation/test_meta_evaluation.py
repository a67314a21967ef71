"""The meta-evaluation on real scores: its truth is the truth, and its columns are what their names say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from validation.meta_evaluation import BATCH, MEASURES, Population, feret, intervals, lfw, of_cell, resampled

import strat


@pytest.fixture
def made() -> Population:
    """Forty subjects of two to five images."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 6, 40)
    hits = (rng.random((2, 40, 5)) < rng.beta(4, 2, (1, 40, 1))).astype(float)
    return Population(hits * (np.arange(5) < sizes[:, None]), sizes)


def test_draws_have_the_rates_of_their_subjects_on_average(made: Population) -> None:
    hits, rates = made.draw(30, 3, 4000, np.random.default_rng(1))
    assert hits.shape == (2, 4000, 30, 3)
    assert hits.mean(axis=(1, 2, 3)) == pytest.approx(made.rates.mean(axis=1), abs=0.005)
    assert (hits.mean(axis=3) - rates).mean() == pytest.approx(0.0, abs=0.003)


def test_the_limits_are_those_of_single_estimates(made: Population) -> None:
    hits, _ = made.draw(10, 2, 3, np.random.default_rng(2))
    found = {(measure, method): (low, high) for measure, method, low, high in intervals(hits, 5)}
    a, b = hits[:, 1].reshape(2, -1)
    design = strat.Design.stratified(strata=np.repeat(range(10), 2), units=[1, 2] * 10, nested=True)
    rate = strat.estimate(strat.proportion(a), on=design).interval()
    both = strat.estimate(strat.stack("of", a=strat.proportion(a), b=strat.proportion(b)), on=strat.brr(design))
    for measure, low, high in (("rate of A", *rate), ("A − B", *both.map(lambda v: v[..., 0] - v[..., 1]).interval())):
        method = "closed form" if measure == "rate of A" else "BRR"
        assert [side[1] for side in found[measure, method]] == pytest.approx([low, high])
    n10, n01 = ((a > b).sum(), (a < b).sum())
    se = np.sqrt(n10 + n01 - (n10 - n01) ** 2 / 20) / 20
    assert [side[1] for side in found["A − B", "rows"]] == pytest.approx(
        (n10 - n01) / 20 + 1.959964 * se * np.array([-1, 1])
    )


def test_percentiles_of_single_images_have_n_minus_one_times_the_variance() -> None:
    rng = np.random.default_rng(3)
    for units in (2, 3):
        hits = (rng.random((2, 40, 400, units)) < 0.6).astype(float)
        low, high = resampled(hits, lambda a, b: a, 1)
        right = 2 * 1.96 * np.sqrt(0.24 / (400 * units) * (units - 1))
        assert (high - low).mean() == pytest.approx(right, rel=0.05)


@pytest.mark.shared
def test_the_populations_and_a_line_of_the_table(shared: Path) -> None:
    pools = feret(shared / "data"), lfw(shared / "data")
    assert [(p.hits.shape[1], p.sizes.min(), p.sizes.max()) for p in pools] == [(150, 6, 6), (158, 9, 529)]
    assert pools[0].rates.mean(axis=1) == pytest.approx([0.716, 0.552], abs=5e-4)  # as the data's page has them
    found = of_cell(pools[0], 100, 3, BATCH)
    assert set(found) == set(MEASURES)
    linear = [found["A − B"][method] for method in ("closed form", "BRR", "Fay", "JKn")]
    assert np.ptp(linear, axis=0) == pytest.approx(0.0, abs=1e-9)
    rate = found["rate of A"]
    assert rate["rows"][2] > rate["BRR"][2] < rate["Beveridge"][2] / 1.2
    assert rate["BRR"][0] > 85
