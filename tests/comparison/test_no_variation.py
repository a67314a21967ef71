"""Two systems whose difference is the same in every unit: nothing varies, and little is known."""

from __future__ import annotations

import pytest

import strat
from strat.comparison import Comparison, many, mcnemar_exact, paired


def _accuracies(a: list[int], b: list[int], population: float | None = None) -> Comparison:
    truth, design = [1] * len(a), strat.Design.simple_random(n=len(a), population=population)
    return paired(strat.accuracy(truth, a), strat.accuracy(truth, b), on=design, higher_is_better=True)


@pytest.mark.parametrize("n", [2, 3, 6, 20])
def test_all_right_against_all_wrong_is_the_exact_test(n: int) -> None:
    """Three of three against none of three is p = 0.25, and not 0."""
    found = _accuracies([1] * n, [0] * n)
    assert found.pvalue == pytest.approx(mcnemar_exact([1] * n, [1] * n, [0] * n).pvalue)
    low, high = found.interval(1 - found.pvalue)
    assert low == pytest.approx(0.0, abs=1e-12)
    assert high == 1.0


def test_two_perfect_systems_are_not_equivalent_by_three_items() -> None:
    """No difference in three items shows no equivalence; in four hundred it does, with a margin of two points."""
    few, many = _accuracies([1] * 3, [1] * 3), _accuracies([1] * 400, [1] * 400)
    assert few.equivalence(0.02).pvalue == pytest.approx(0.99**3)
    assert few.noninferiority(0.02, baseline="B").pvalue == pytest.approx(0.99**3)
    assert many.equivalence(0.02).pvalue == pytest.approx(0.99**400)
    assert few.pvalue == 1.0


def test_a_population_seen_whole_leaves_no_doubt() -> None:
    """Every item there is was tried: the difference is what it is."""
    found = _accuracies([1] * 3, [0] * 3, population=3)
    assert found.interval() == (1.0, 1.0)
    assert found.pvalue == 0.0


def test_other_shares_do_not_collapse_either() -> None:
    """Macro F1 of two perfect systems."""
    truth = [0, 1] * 10
    one = strat.f1(truth, truth, average="macro")
    found = paired(one, one, on=strat.Design.simple_random(n=20), higher_is_better=True)
    assert found.interval()[1] == pytest.approx(2 * (1 - 0.025 ** (1 / 20)))


def test_many_systems_without_variation_are_not_told_apart_by_three_items() -> None:
    """The same exact p-value as for two systems, and intervals that do not collapse."""
    found = many({"a": [1] * 3, "b": [0] * 3}, on=strat.Design.simple_random(n=3), higher_is_better=True)
    assert found.pvalues()[0, 1] == pytest.approx(0.25)
    assert found.intervals()[0][0, 1] == pytest.approx(1 - 2 * (1 - 0.025 ** (1 / 3)))
    assert found.ranks()[1].tolist() == [2, 2]
    three = many({"a": [1] * 3, "b": [0] * 3, "c": [1] * 3}, on=strat.Design.simple_random(n=3), higher_is_better=True)
    assert (three.pvalues() > 0.249).all()
    assert three.groups() == [("a", "c", "b")]
    assert three.rank("b") == (1, 3)
    twelve = many(
        {"a": [1] * 12, "b": [0] * 12, "c": [1] * 12}, on=strat.Design.simple_random(n=12), higher_is_better=True
    )
    assert twelve.rank("b") == (3, 3)


def test_the_winner_stays_in_its_range() -> None:
    """An upper limit of a share is at most 1."""
    right = {"a": [1] * 19 + [0], "b": [1] * 12 + [0] * 8, "c": [1] * 10 + [0] * 10}
    best = many(right, on=strat.Design.simple_random(n=20), higher_is_better=True).winner()
    assert 0 <= best.low <= best.corrected <= best.high <= 1


def test_equal_systems_in_units_are_not_known_exactly_by_rows_either() -> None:
    """What rows taken as independent would have said is no point, but what such rows do say."""
    right, truth = [1, 1, 1, 0] * 20, [1] * 80
    one = strat.accuracy(truth, right)
    pair = paired(one, one, on=strat.Design.clustered(units=[i // 4 for i in range(80)]), higher_is_better=True)
    low, high = pair.independent_interval()
    assert high == pytest.approx(2 * (1 - 0.025 ** (1 / 80)))
    assert low == -high
    alone = paired(one, one, on=strat.Design.simple_random(n=80), higher_is_better=True)
    assert alone.interval() == (low, high)
