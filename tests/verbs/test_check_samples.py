"""Checks of intervals: the naive interval is the one of `evaluate`, and samples keep what the data had."""

from __future__ import annotations

import numpy as np
import pytest

import strat
from strat.base.notes import codes_of
from strat.verbs.check import check

ROLES = {"truth": "truth", "predicted": "said", "units": "who"}


@pytest.fixture(scope="module")
def rare() -> dict[str, np.ndarray]:
    """200 units of five rows, one row in ten positive, four in five right."""
    rng = np.random.default_rng(0)
    truth = rng.random(1000) < 0.1
    said = np.where(rng.random(1000) < 0.8, truth, ~truth)
    return {"who": np.repeat(np.arange(200), 5), "truth": truth.astype(int), "said": said.astype(int)}


def test_the_naive_interval_of_check_is_that_of_evaluate(rare):
    """`check` divided by all rows for recall: naive width 0.047 (coverage 55 %) where `evaluate` says 0.164."""
    found = strat.evaluate(rare, **ROLES, metrics="recall")
    low, high = found.naive("recall")
    (checked,) = check(rare, **ROLES, metrics="recall", trials=100)
    naive = checked["rows as independent"]
    assert naive.width == pytest.approx(high - low, rel=0.1)
    assert naive.coverage > 0.85


def test_the_naive_interval_of_a_perfect_share_counts_rows():
    """Twenty units of fifty rows, all right: the naive interval was that of twenty rows, 0.83 to 1."""
    table = {"y": np.ones(1000), "u": np.repeat(np.arange(20), 50)}
    found = strat.evaluate(table, score="y", units="u")
    assert found.naive("mean")[0] == pytest.approx(0.025 ** (1 / 1000), abs=1e-3)
    assert found.interval("mean")[0] < found.naive("mean")[0] - 0.015


def test_prevalence_varies_between_the_samples_of_check(rare):
    """True labels stayed as they were, so precision seemed to be covered in 99.5 % and "wider than it need be"."""
    from strat.verbs.simulate import simulator

    design = strat.Design.clustered(units=rare["who"])
    columns = {"truth": rare["truth"], "predicted": rare["said"], "positive": 1}
    source = simulator(columns, design, "beta")
    rng = np.random.default_rng(1)
    shares = [source.draw(rng)[0]["truth"].mean() for _ in range(100)]
    expected = strat.estimate(strat.mean(rare["truth"].astype(float)), on=design).se
    assert np.std(shares) == pytest.approx(expected, rel=0.2)
    (checked,) = check(rare, **ROLES, metrics="precision", trials=150)
    assert checked["default"].verdict() != "too wide"
    assert checked["default"].coverage < 0.98


def test_a_sample_without_positives_keeps_its_positive_class():
    """A sample of zeros alone took 0 for the positive class, and its recall for that of the ones."""
    table = {"truth": [1, 1] + [0] * 18, "said": [1, 0] + [0] * 18}
    (checked,) = check(table, truth="truth", predicted="said", metrics="recall", trials=100)
    assert "undefined-samples" in codes_of(checked.notes)


def test_items_are_a_second_stage_in_check_too():
    """`check` took items for units without repeats, `evaluate` for items with repeats."""
    rng = np.random.default_rng(2)
    table = {"y": rng.integers(0, 2, 120), "item": np.repeat(np.arange(30), 4)}
    (checked,) = check(table, score="y", items="item", trials=50)
    assert checked.design == strat.evaluate(table, score="y", items="item").design


def test_check_says_that_it_holds_only_with_evidence():
    """With sixty samples "it holds" meant only that nothing was shown; and one lucky shape of units decided."""
    rng = np.random.default_rng(3)
    table = {"y": rng.integers(0, 2, 300), "u": np.repeat(np.arange(60), 5)}
    (checked,) = check(table, score="y", units="u", trials=60)
    assert not checked.holds
    assert "draw more" in str(checked)
    assert len(checked.shapes) == 3
    assert checked["default"].coverage == min(checked.shapes.values())
