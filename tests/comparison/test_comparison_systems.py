"""Systems on the same items: paired differences, randomization, all pairs, ranks, winners, type-I error, coverage."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import strat
from strat.base.errors import StratError
from strat.comparison import (
    cochran_q,
    many,
    mcnemar,
    paired,
    randomization,
    stratified_shuffling,
    unpaired,
)
from strat.measures.classification import f1
from strat.measures.scores import auc

matplotlib.use("Agg")

bits = st.integers(0, 1)
outcomes = st.lists(st.tuples(bits, bits), min_size=6, max_size=40)


def clustered_systems(rng: np.random.Generator, units: int, size: int, systems: int, effect: float) -> np.ndarray:
    """Right or wrong, items in units whose difficulty differs from system to system: no system is better."""
    unit = np.repeat(np.arange(units), size)
    lean = effect * rng.normal(size=(units, systems))[unit]
    return (rng.normal(size=(units * size, systems)) + lean < 0.5).astype(float)


@given(outcomes)
def test_simple_random_pairs_are_a_paired_t_test(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs).T
    d = a - b
    if d.std() == 0:
        return
    on = strat.Design.simple_random(n=len(a))
    result = paired(strat.mean(a), strat.mean(b), on=on, higher_is_better=True)
    theirs = stats.ttest_rel(a, b)
    assert result.pvalue == pytest.approx(theirs.pvalue)
    np.testing.assert_allclose(result.interval(), theirs.confidence_interval())
    assert result.independent is None
    other = paired(strat.mean(b), strat.mean(a), on=on, higher_is_better=True)
    assert other.value == pytest.approx(-result.value)
    assert other.pvalue == pytest.approx(result.pvalue)


@pytest.fixture(scope="module")
def example() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    unit = np.repeat(np.arange(60), 10)
    hard = rng.normal(size=60)[unit]
    truth = rng.integers(0, 3, 600)
    wrong = (truth + rng.integers(1, 3, 600)) % 3
    a = np.where(rng.normal(size=600) + hard < 1.2, truth, wrong)
    b = np.where(rng.normal(size=600) + hard < 0.7, truth, wrong)
    return truth, a, b, unit


def test_every_variance_method_agrees(example: tuple[np.ndarray, ...]) -> None:
    truth, a, b, unit = example
    on = strat.Design.stratified(strata=unit // 2, units=unit)
    found = [
        paired(strat.accuracy(truth, a), strat.accuracy(truth, b), on=o, higher_is_better=True)
        for o in (on, strat.brr(on), strat.jackknife(on), strat.bootstrap(on, replicates=4000, rng=1))
    ]
    for other in found[1:3]:
        assert other.se == pytest.approx(found[0].se, rel=1e-6)
    assert found[3].se == pytest.approx(found[0].se, rel=0.08)


def test_any_measure(example: tuple[np.ndarray, ...]) -> None:
    truth, a, b, unit = example
    on = strat.Design.clustered(units=unit)
    macro = paired(
        f1(truth, a, average="macro"), f1(truth, b, average="macro"), on=on, higher_is_better=True, names=("new", "old")
    )
    assert macro.value > 0
    jack = paired(
        f1(truth, a, average="macro"), f1(truth, b, average="macro"), on=strat.jackknife(on), higher_is_better=True
    )
    assert jack.se == pytest.approx(macro.se, rel=0.05)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    areas = paired(auc(y, y + rng.normal(size=600)), auc(y, rng.normal(size=600)), on=on, higher_is_better=True)
    assert areas.pvalue < 0.001


def test_ratio_of_error_rates(example: tuple[np.ndarray, ...]) -> None:
    truth, a, b, unit = example
    on = strat.Design.clustered(units=unit)
    result = paired(strat.error_rate(truth, a), strat.error_rate(truth, b), on=on, higher_is_better=False)
    assert result.ratio.value == pytest.approx((a != truth).sum() / (b != truth).sum())
    low, high = result.ratio.interval()
    assert 0 < low < result.ratio.value < high < 1
    assert str(result).startswith("A is better by")


def test_sentence_says_what_independent_rows_would_have_said(example: tuple[np.ndarray, ...]) -> None:
    truth, a, b, unit = example
    result = paired(
        strat.accuracy(truth, a), strat.accuracy(truth, b), on=strat.Design.clustered(units=unit),
        higher_is_better=True, names=("new", "old"),
    )  # fmt: skip
    assert "new is better by" in str(result)
    assert "treating rows as independent would have said" in str(result)
    turned = paired(
        strat.accuracy(truth, b), strat.accuracy(truth, a), on=strat.Design.clustered(units=unit),
        higher_is_better=True, names=("old", "new"),
    )  # fmt: skip
    assert str(turned) == str(result)
    assert result.to_dict()["if_rows_were_independent"]["pvalue"] >= 0


def test_no_discordant_item_keeps_an_interval() -> None:
    truth = np.ones(50, int)
    result = paired(
        strat.accuracy(truth, truth),
        strat.accuracy(truth, truth),
        on=strat.Design.simple_random(n=50),
        higher_is_better=True,
    )
    low, high = result.interval()
    assert result.pvalue == 1.0
    assert low < -0.05
    assert high > 0.05


def test_equivalence_and_noninferiority(example: tuple[np.ndarray, ...]) -> None:
    truth, a, _, unit = example
    rng = np.random.default_rng(1)
    near = np.where(rng.random(600) < 0.02, (truth + 1) % 3, a)
    on = strat.Design.clustered(units=unit)
    right = [strat.mean((side == truth).astype(float)) for side in (a, near)]
    result = paired(*right, on=on, higher_is_better=True)
    t1 = (result.value + 0.1) / result.se
    t2 = (result.value - 0.1) / result.se
    wanted = max(stats.t(result.df).sf(t1), stats.t(result.df).cdf(t2))
    assert result.equivalence(0.1).pvalue == pytest.approx(wanted)
    assert result.equivalence(0.1).pvalue < 0.05 < result.equivalence(0.001).pvalue
    assert result.noninferiority(0.1, baseline="B").pvalue == pytest.approx(stats.t(result.df).sf(t1))
    shares = paired(strat.accuracy(truth, a), strat.accuracy(truth, near), on=on)
    errors = paired(strat.error_rate(truth, a), strat.error_rate(truth, near), on=on)
    assert errors.noninferiority(0.1, baseline="B").pvalue == pytest.approx(
        shares.noninferiority(0.1, baseline="B").pvalue
    )


def test_sensors_on_different_items() -> None:
    rng = np.random.default_rng(0)
    strata = np.repeat(np.arange(10), 6)
    x, y = rng.normal(size=60) + strata, rng.normal(size=60) + strata
    on = strat.Design.stratified(strata=strata)
    result = unpaired(strat.mean(x), strat.mean(y), on_a=on, on_b=on, higher_is_better=True)
    sx, sy = strat.estimate(strat.mean(x), on=on).se, strat.estimate(strat.mean(y), on=on).se
    assert result.se == pytest.approx(np.hypot(sx, sy))
    assert 50 <= result.df <= 100
    assert not result.paired
    with pytest.raises(StratError, match="paired systems only"):
        _ = result.ratio
    other = strat.Design.stratified(strata=strata + 5)
    with pytest.raises(StratError, match="must have the strata of `on_a`, got 5"):
        unpaired(strat.mean(x), strat.mean(y), on_a=on, on_b=other, higher_is_better=True)
    uneven = strat.Design.stratified(strata=np.r_[strata, [0] * 30])
    mixed = unpaired(strat.mean(x), strat.mean(np.r_[y, y[:30]]), on_a=on, on_b=uneven, higher_is_better=True)
    assert mixed.notes[0].code == "other-stratum-shares"
    assert f"note: {mixed.notes[0]}" in str(mixed)


def test_a_note_on_one_of_two_systems_names_it() -> None:
    truth, design = ["Yes", "No"] * 20, strat.Design.simple_random(n=40)
    odd, good = strat.accuracy(truth, ["yes", "No"] * 20), strat.accuracy(truth, truth)
    for result in (
        paired(odd, good, on=design, names=("new", "old")),
        unpaired(odd, good, on_a=design, on_b=design, names=("new", "old")),
    ):
        (note,) = (one for one in result.notes if one.code == "spelled-labels")
        assert note.at == {"system": ("new",)}
    (both,) = paired(odd, odd, on=design).notes
    assert (both.code, dict(both.at)) == ("spelled-labels", {})
    with pytest.raises(StratError, match="`names` must be two different names, got 'new' twice"):
        paired(odd, good, on=design, names=("new", "new"))


def test_randomization_equals_the_sign_flip_test() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, 12), rng.integers(0, 2, 12)
    truth = np.ones(12, int)
    on = strat.Design.simple_random(n=12)
    result = randomization(strat.accuracy(truth, a), strat.accuracy(truth, b), on=on, permutations=20_000)
    d = a - b
    signs = np.array(np.meshgrid(*[[-1, 1]] * 12)).reshape(12, -1)
    exact = (np.abs(d @ signs) >= abs(d.sum())).mean()
    assert result.pvalue == pytest.approx(exact, abs=0.015)
    assert "could as well have been exchanged" in str(result)
    assert "no standard error" in str(result)
    assert not hasattr(result, "se")
    again = randomization(strat.accuracy(truth, a), strat.accuracy(truth, b), on=on, permutations=20_000)
    assert again.pvalue == result.pvalue


def test_randomization_of_another_measure(example: tuple[np.ndarray, ...]) -> None:
    truth, a, b, unit = example
    on = strat.Design.clustered(units=unit)
    result = randomization(f1(truth, a, average="macro"), f1(truth, b, average="macro"), on=on, permutations=999)
    assert result.pvalue == 0.001
    assert result.units == 60
    greater = randomization(
        strat.accuracy(truth, a), strat.accuracy(truth, b), on=on, permutations=99, alternative="greater"
    )
    less = randomization(strat.accuracy(truth, a), strat.accuracy(truth, b), on=on, permutations=99, alternative="less")
    assert greater.pvalue == 0.01
    assert less.pvalue == 1.0


def test_stratified_shuffling_keeps_strata() -> None:
    """Systems that ran on strata of different difficulty: shuffling within strata sees no difference."""
    rng = np.random.default_rng(0)
    strata = np.repeat([0, 1], 200)
    system = np.where(rng.random(400) < np.where(strata == 0, 0.8, 0.2), "A", "B")
    y = (rng.random(400) < np.where(strata == 0, 0.9, 0.3)).astype(float)
    assert stratified_shuffling(y, system, strata=strata, permutations=999).pvalue > 0.05
    assert stratified_shuffling(y, system, strata=np.zeros(400), permutations=999).pvalue <= 0.002
    units = np.arange(400) // 2 * 1000 + (system == "A")
    assert stratified_shuffling(y, system, strata=strata, units=units, permutations=99).units < 400


@pytest.mark.slow
def test_type_one_error_of_paired_tests_under_clusters() -> None:
    rng = np.random.default_rng(8)
    sims = 1500
    hits = {"paired": 0, "independent": 0, "randomization": 0, "mcnemar": 0, "cover": 0}
    unit = np.repeat(np.arange(40), 10)
    on = strat.Design.clustered(units=unit)
    truth = np.ones(400, int)
    for k in range(sims):
        a, b = clustered_systems(rng, 40, 10, 2, 1.0).T.astype(int)
        sa, sb = strat.accuracy(truth, a), strat.accuracy(truth, b)
        result = paired(sa, sb, on=on, higher_is_better=True)
        assert result.independent is not None
        hits["paired"] += result.pvalue <= 0.05
        hits["independent"] += result.independent.test(0).pvalue <= 0.05
        hits["mcnemar"] += mcnemar(truth, a, b).pvalue <= 0.05
        if k < 500:
            hits["randomization"] += randomization(sa, sb, on=on, permutations=399, rng=k).pvalue <= 0.05
    assert 0.04 <= hits["paired"] / sims <= 0.06
    assert hits["randomization"] / 500 <= 0.07
    assert hits["independent"] / sims > 0.15
    assert hits["mcnemar"] / sims > 0.15


def test_max_t_is_narrower_than_bonferroni() -> None:
    rng = np.random.default_rng(0)
    y = (rng.normal(size=(500, 12)) + 2 * rng.normal(size=(500, 1)) < 0).astype(float)
    result = many(y, on=strat.Design.simple_random(n=500), higher_is_better=True)
    pairs = 12 * 11 / 2
    assert stats.t(499).isf(0.025) < result.critical() < stats.t(499).isf(0.025 / pairs)
    assert result.critical() == pytest.approx(stats.studentized_range.isf(0.05, 12, 499) / np.sqrt(2), rel=0.02)


def test_many_agrees_with_paired(example: tuple[np.ndarray, ...]) -> None:
    truth, a, b, unit = example
    on = strat.Design.clustered(units=unit)
    result = many({"a": strat.accuracy(truth, a), "b": strat.accuracy(truth, b)}, on=on, higher_is_better=True)
    two = paired(strat.accuracy(truth, a), strat.accuracy(truth, b), on=on, higher_is_better=True)
    assert result.errors[0, 1] == pytest.approx(two.se)
    assert result.pvalues("none")[0, 1] == pytest.approx(two.pvalue)
    assert result.critical() == pytest.approx(stats.t(two.df).isf(0.025), rel=0.02)
    frame = many({"a": (a == truth).astype(float), "b": (b == truth).astype(float)}, on=on, higher_is_better=True)
    np.testing.assert_allclose(frame.errors, result.errors)
    measure = many(
        {"a": f1(truth, a, average="macro"), "b": f1(truth, b, average="macro")},
        on=strat.jackknife(on),
        higher_is_better=True,
    )
    assert measure.groups() == []


def test_ranks_groups_and_direction() -> None:
    rng = np.random.default_rng(2)
    p = np.array([0.9, 0.88, 0.5, 0.48, 0.2])
    y = (rng.random((800, 5)) < p).astype(float)
    names = ("v", "w", "x", "y", "z")
    on = strat.Design.simple_random(n=800)
    result = many(y, on=on, higher_is_better=True, names=names)
    low, high = result.ranks()
    assert low.tolist() == [1, 1, 3, 3, 5]
    assert high.tolist() == [2, 2, 4, 4, 5]
    assert result.groups() == [("v", "w"), ("x", "y")] or set(map(frozenset, result.groups())) == {
        frozenset("vw"),
        frozenset("xy"),
    }
    errors = many(1 - y, on=on, higher_is_better=False, names=names)
    np.testing.assert_array_equal(errors.ranks()[0], low)
    assert result.rank("z") == (5, 5)
    alone = result.rank("v")
    assert low[0] <= alone[0] <= alone[1] <= high[0]
    assert cochran_q(y).pvalue < 1e-10
    assert result.to_dict()["systems"][0]["system"] in ("v", "w")
    order = rng.permutation(5)
    turned = many(y[:, order], on=on, higher_is_better=True, names=tuple(names[k] for k in order))
    assert turned.rank("x") == result.rank("x")
    assert "leads 5 systems" in str(result)


def test_identical_systems_tie() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, (50, 1)) * np.ones((1, 3))
    result = many(y, on=strat.Design.simple_random(n=50), higher_is_better=True)
    assert result.ranks()[0].tolist() == [1, 1, 1]
    assert result.ranks()[1].tolist() == [3, 3, 3]
    assert (result.pvalues() == 1.0).all()


@pytest.mark.slow
def test_simultaneous_errors_and_rank_coverage() -> None:
    rng = np.random.default_rng(1)
    sims, false, missed, holm = 600, 0, 0, 0
    on = strat.Design.clustered(units=np.repeat(np.arange(50), 6))
    truth = np.array([1, 2, 3, 4, 5])
    for _ in range(sims):
        same = clustered_systems(rng, 50, 6, 5, 0.7)
        result = many(same, on=on, higher_is_better=True)
        false += bool((result.pvalues() < 0.05).any())
        holm += bool((result.pvalues("holm") < 0.05).any())
        skill = np.array([1.0, 0.8, 0.6, 0.4, 0.2])
        lean = 0.7 * rng.normal(size=(50, 5))[np.repeat(np.arange(50), 6)]
        y = (rng.normal(size=(300, 5)) + lean < skill).astype(float)
        low, high = many(y, on=on, higher_is_better=True).ranks()
        missed += bool(((truth < low) | (truth > high)).any())
    assert 0.03 <= false / sims <= 0.07
    assert holm / sims <= 0.06
    assert missed / sims <= 0.05


@pytest.mark.slow
def test_winner_s_curse_is_taken_off() -> None:
    """Twelve equal systems: the best one's own value is too high on average; the corrected one is not."""
    rng = np.random.default_rng(6)
    naive, corrected, covered, plain = [], [], 0, 0
    sims = 600
    on = strat.Design.simple_random(n=300)
    for _ in range(sims):
        y = (rng.random((300, 12)) < 0.7).astype(float)
        result = many(y, on=on, higher_is_better=True)
        w = result.winner()
        naive.append(w.value)
        corrected.append(w.corrected)
        covered += w.low <= 0.7 <= w.high
        k = result.order[0]
        low, high = result.estimate.interval()
        plain += low[k] <= 0.7 <= high[k]
    assert np.mean(naive) > 0.73
    assert (np.array(corrected) < 0.7).mean() == pytest.approx(0.5, abs=0.1)
    assert covered / sims >= 0.93
    assert plain / sims < 0.88


def test_winner_of_a_clear_race_is_hardly_corrected() -> None:
    rng = np.random.default_rng(0)
    y = (rng.random((2000, 4)) < [0.9, 0.5, 0.5, 0.4]).astype(float)
    w = many(y, on=strat.Design.simple_random(n=2000), higher_is_better=True).winner()
    assert w.corrected == pytest.approx(w.value, abs=0.001)
    assert w.low < w.corrected < w.high
    errors = many(1 - y, on=strat.Design.simple_random(n=2000), higher_is_better=False).winner()
    assert errors.corrected == pytest.approx(1 - w.corrected)
    assert "came first" in str(w)
    perfect = np.ones((20, 2))
    perfect[3, 1] = 0
    assert many(perfect, on=strat.Design.simple_random(n=20), higher_is_better=True).winner().low < 1


def test_swebench(shared: Path) -> None:
    """24 systems, repositories as strata: the leader is not alone, and strata narrow the intervals."""
    table: dict[str, dict[str, float]] = {}
    strata: dict[str, str] = {}
    with gzip.open(shared / "data" / "swebench_verified_items.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            table.setdefault(row["system"], {})[row["item"]] = float(row["correct"])
            strata[row["item"]] = row["stratum"]
    items = sorted(strata)
    y = {name: [right[i] for i in items] for name, right in table.items()}
    on = strat.Design.stratified(strata=[strata[i] for i in items], lone="collapse")
    result = many(y, on=on, higher_is_better=True)
    low, high = result.ranks()
    best = result.order[0]
    assert low[best] == 1
    assert high[best] > 1
    assert (low <= high).all()
    assert result.winner().corrected <= result.winner().value
    two = [result.systems[k] for k in (result.order[0], result.order[-1])]
    gap = result.differences[result.order[0], result.order[-1]]
    assert gap > 0.2, two


def test_mmlu_pro(shared: Path) -> None:
    """29 models × 12,032 questions, 14 subjects as strata; -1 is wrong, models not run on all are left out."""
    with gzip.open(shared / "data" / "mmlu_pro_items.csv.gz", "rt") as file:
        rows = list(csv.reader(file))
    head, body = rows[0], rows[1:]
    values = np.array([[int(v) for v in row[4:]] for row in body])
    full = (values > -2).all(axis=0)
    y = np.clip(values[:, full], 0, 1).astype(float)
    names = tuple(np.array(head[4:])[full])
    on = strat.Design.stratified(strata=[row[1] for row in body])
    result = many(y, on=on, higher_is_better=True, names=names)
    low, high = result.ranks()
    assert y.shape == (12032, 26)
    assert (high - low).max() < 10
    assert result.pvalues().min() < 0.001


def test_plot_of_many() -> None:
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(0)
    y = (rng.random((100, 3)) < [0.9, 0.5, 0.4]).astype(float)
    ax = many(y, on=strat.Design.simple_random(n=100), higher_is_better=True, names=("A", "B", "C")).plot()
    assert next(t.get_text() for t in ax.get_yticklabels()) == "A"
    plt.close("all")


ON = strat.Design.simple_random(n=4)
FOUR = [[1, 0], [0, 1], [1, 1], [0, 1]]
ACC = strat.accuracy([1, 1, 0, 0], [1, 0, 1, 0])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: paired(ACC, strat.accuracy([1], [1]), on=ON, higher_is_better=True), "join them on the item"),
        (lambda: paired([1, 2], ACC, on=ON, higher_is_better=True), "`a` must be a Statistic"),
        (lambda: paired(ACC, strat.mean(np.ones((4, 2))), on=ON, higher_is_better=True), "`b` must be a single number"),
        (lambda: paired(ACC, ACC, on=ON, higher_is_better="yes"), "`higher_is_better` must be True or False"),
        (lambda: paired(ACC, ACC, on=ON, higher_is_better=True).equivalence(0), "`margin` must be positive"),
        (lambda: paired(ACC, strat.mean([0.0] * 4), on=ON, higher_is_better=True).ratio, "must not divide by zero"),
        (lambda: randomization(ACC, strat.accuracy([1], [1]), on=ON), "must have the same rows"),
        (lambda: randomization(ACC, strat.variance([1.0, 2, 3, 4]), on=ON), "one measure"),
        (lambda: randomization(ACC, ACC, on=ON, permutations=0), "`permutations` must be 1 or more"),
        (lambda: stratified_shuffling([1, 2], ["A", "A"], strata=[1, 1]), "`system` must have two labels, got 1"),
        (lambda: stratified_shuffling([1, 2], ["A", "B"], strata=[1, 2]), "units of both systems, got 2"),
        (lambda: many(np.ones((4, 1)), on=ON, higher_is_better=True), "two or more, got 1"),
        (lambda: many(np.ones(4), on=ON, higher_is_better=True), "items × systems"),
        (lambda: many({"A": [1, 0, 1, 0], "B": [1, 0]}, on=ON, higher_is_better=True), "same items each"),
        (lambda: many(np.ones((4, 2)), on=ON, higher_is_better=True, names=("A",)), "`names` must be one for each"),
        (lambda: many(np.ones((4, 2)), on=ON, higher_is_better=1), "`higher_is_better` must be True or False"),
        (lambda: many({"A": ACC, "B": strat.mean(np.ones((4, 2)))}, on=ON, higher_is_better=True), "single numbers"),
        (lambda: many(FOUR, on=ON, higher_is_better=True).rank("C"), "`system` must be one of"),
        (lambda: many(FOUR, on=ON, higher_is_better=True).pvalues("x"), "`adjust` must be"),
    ],
)  # fmt: skip
def test_bad_input_of_systems(call: object, said: str) -> None:
    with pytest.raises(StratError, match=said):
        call()  # type: ignore[operator]


def test_percentages_beside_fractions_get_a_note() -> None:
    board = many([[1, 100], [0, 100], [1, 0], [0, 0]], on=ON, higher_is_better=True)
    note = board.estimate.notes[-1]
    assert note.code == "mixed-scales"
    assert note in str(board)
    assert note not in board.sentence


@pytest.mark.parametrize(
    ("share", "other", "noted"), [(1, 25, False), (1, 26, True), (0.125, 49, True), (0.125, 50, False)]
)
def test_percentages_are_25_to_400_times_as_large_as_fractions(share: float, other: float, noted: bool) -> None:
    board = many({"a": [share] * 4, "b": [other] * 4}, on=ON, higher_is_better=True)
    assert ("mixed-scales" in [getattr(note, "code", "") for note in board.estimate.notes]) is noted
