"""Wrong types, absurd designs and extreme numbers through the Python calls: one sentence, or the right number."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import strat
from command_cases import bounded
from strat import Design, estimate, mean
from strat.base.errors import StratError
from strat.data import read, read_logs, reduce
from strat.show.report import render, write
from strat.verbs import check, compare, evaluate, sample

Y = np.arange(12.0)


def drawn(population: object) -> strat.Sampling:
    """Rows from a population of this size."""
    return strat.Sampling(population=population)  # type: ignore[arg-type]


TWO = {"t": [0, 1] * 9, "p": [0, 1, 1] * 6}
ROLES: dict[str, Any] = {"truth": "t", "predicted": "p"}
BOTH: dict[str, Any] = {"score": ["t", "p"]}


class Liar:
    """A sequence whose length is not the number of its elements."""

    def __len__(self) -> int:
        return 3

    def __iter__(self) -> Any:
        return iter([1, 2, 3, 4, 5])

    def __getitem__(self, i: int) -> int:
        return [1, 2, 3, 4, 5][i]


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "no rows": (lambda: mean([]), "at least one row"),
    "one number": (lambda: mean(3.0), "one value per row"),
    "words": (lambda: mean(["a", "b"]), "must be numbers"),
    "None": (lambda: mean(None), "must be numbers|one value|finite"),
    "a dictionary": (lambda: mean({"a": 1}), "must be a column"),
    "a function": (lambda: mean(len), "must be a column"),
    "nan": (lambda: mean([1.0, math.nan]), "must be finite"),
    "infinity": (lambda: mean([1.0, math.inf]), "must be finite"),
    "1e308": (lambda: mean([1e308, 1e308]), "must not be larger"),
    "ragged rows": (lambda: mean([[1, 2], [3]]), "rows of one length"),
    "three axes": (lambda: mean(np.ones((2, 2, 2))), "axes"),
    "an integer of 400 digits": (lambda: mean([10**400, 1]), "must be numbers|larger|finite"),
    "labels of two kinds": (lambda: Design.stratified(["a", 1, "a", 1]), "one type"),
    "labels that are missing": (lambda: Design.stratified(["a", None, "a"]), "missing label"),
    "labels that are lists": (lambda: Design.stratified([["a"], ["b"]]), "one label per row"),
    "labels that are dictionaries": (lambda: Design.stratified([{"a": 1}, {"b": 2}]), "strata"),
    "a table of labels": (lambda: Design.stratified(np.ones((2, 2))), "one label per row"),
    "no labels": (lambda: Design.stratified([]), "at least one row"),
    "one unit": (lambda: Design.clustered(["a"] * 9), "unit"),
    "a unit alone in its stratum": (lambda: Design.stratified(["a", "a", "b"]), "'b'"),
    "no rows in a design": (lambda: Design.simple_random(n=0), "`n`"),
    "rows below zero": (lambda: Design.simple_random(n=-4), "`n`"),
    "half a row": (lambda: Design.simple_random(n=2.5), "`n`"),
    "weights too few": (lambda: Design.simple_random(n=3, weights=[1, 1]), "`weights`"),
    "weights below zero": (lambda: Design.simple_random(n=3, weights=[1, 1, -1]), "`weights` must not be negative"),
    "weights of nothing": (lambda: Design.simple_random(n=3, weights=[0, 0, 0]), "`weights` must not all be zero"),
    "weights of 1e308": (lambda: Design.simple_random(n=2, weights=[1e308, 1]), "`weights` must have their largest"),
    "weights of denormals": (lambda: Design.simple_random(n=2, weights=[5e-324] * 2), "`weights` must have"),
    "a population of nan": (lambda: Design.simple_random(n=3, population=math.nan), "`population`"),
    "a population too small": (lambda: Design.simple_random(n=3, population=2), "`population`"),
    "a population of 1e300": (lambda: Design.simple_random(n=3, population=1e300), "`population`"),
    "a population of no stratum": (lambda: Design.stratified(["a"] * 4, population={"b": 9}), "'b'"),
    "lengths that differ": (lambda: estimate(mean(Y), on=Design.simple_random(n=5)), "row"),
    "no design": (lambda: estimate(mean(Y), on=None), "`on`"),
    "no statistic": (lambda: estimate(Y, on=Design.simple_random(n=12)), "`statistic`"),
    "a level of 2": (lambda: estimate(mean(Y), on=Design.simple_random(n=12)).interval(2), "`level`"),
    "a level of nan": (lambda: estimate(mean(Y), on=Design.simple_random(n=12)).interval(math.nan), "`level`"),
    "BRR of odd units": (lambda: strat.brr(Design.simple_random(n=6)), "prime power"),
    "a Fay factor of 1": (lambda: strat.fay(Design.stratified(["a", "a"]), rho=1.0), "`rho`"),
    "a Fay factor of nan": (lambda: strat.fay(Design.stratified(["a", "a"]), rho=math.nan), "`rho`"),
    "no replicates": (lambda: strat.bootstrap(Design.simple_random(n=9), replicates=0), "`replicates`"),
    "a share of 3": (lambda: strat.quantile(Y, 3), "`q`"),
    "truth and guess of two lengths": (lambda: strat.accuracy([1, 0], [1]), "row|length"),
    "truth and guess of two kinds": (lambda: strat.accuracy([1, 0], ["a", "b"]), "type|label"),
    "scores of nan": (lambda: strat.auc([1, 0], [math.nan, 1.0]), "finite"),
    "successes beyond the trials": (lambda: strat.score_interval(5, 3), "`successes`"),
    "trials of nothing": (lambda: strat.score_interval(0, 0), "`trials`"),
    "columns of two lengths": (lambda: evaluate({"t": [1, 2], "p": [1]}, truth="t", predicted="p"), "as many rows"),
    "a column of lists": (lambda: evaluate({"t": [[1], [2]], "p": [1, 2]}, truth="t", predicted="p"), "plain labels"),
    "a column of two axes": (lambda: evaluate({"t": np.ones((4, 2)), "p": [1] * 4}, truth="t", predicted="p"), "shape"),
    "a column that is a number": (lambda: evaluate({"t": 3, "p": 4}, truth="t", predicted="p"), "column"),
    "no columns": (lambda: read({}), "at least one column"),
    "a source that is a number": (lambda: read(7), "`source` must be"),
    "a source that is bytes": (lambda: read(b"a,b"), "`source` must be"),
    "a source of nothing": (lambda: read([]), "`source`"),
    "a source of None": (lambda: read(None), "`source` must be"),
    "a measure of numbers": (lambda: evaluate(TWO, truth="t", predicted="p", metrics=[3]), "`metrics`"),
    "no measure": (lambda: evaluate(TWO, truth="t", predicted="p", metrics=[]), "`metrics`"),
    "a measure that is a number": (lambda: evaluate(TWO, **ROLES, metrics=3), "`metrics` must be a name"),
    "a measure that makes a number": (lambda: evaluate(TWO, **ROLES, metrics=lambda t, p: 0.5), "make statistics"),
    "a column for its name": (lambda: evaluate(TWO, truth=np.ones((18, 2)), predicted="p"), "`truth` must be text"),
    "an evaluation's level of words": (lambda: evaluate(TWO, **ROLES, level="x"), "`level` must be a number"),
    "a check's level of words": (lambda: check(TWO, **ROLES, level="x"), "`level` must be a number"),
    "a board's level of words": (lambda: compare(TWO, **BOTH, level="x"), "`level` must be a number"),
    "a check's seed of words": (lambda: check(TWO, **ROLES, rng="x"), "`rng` must be a seed"),
    "a check's trials of words": (lambda: check(TWO, **ROLES, trials="x"), "`trials` must be a number"),
    "a check's trials without end": (lambda: check(TWO, **ROLES, trials=10**20), "`trials` must be at most"),
    "a check's trials for a year": (lambda: check(TWO, **ROLES, trials=10**8), "at most 1,000,000,"),
    "a sample's size of words": (lambda: sample(TWO, size="x"), "`size` must be a number"),
    "a sample's least of words": (lambda: sample(TWO, size=4, least="x"), "`least` must be a number"),
    "a sample's seed of words": (lambda: sample(TWO, size=4, seed="x"), "`seed` must be a number"),
    "a board's scores as numbers": (lambda: compare(TWO, score=np.ones(2)), "`score` must be a list of names"),
    "a board's scores as one name": (lambda: compare(TWO, score="t"), "two systems|`system` must name"),
    "a list of which is better": (lambda: compare(TWO, **BOTH, higher_is_better=[True]), "must be True or False"),
    "better if nan": (lambda: compare(TWO, **BOTH, higher_is_better=math.nan), "must be True or False"),
    "a population of 400 signs": (lambda: evaluate(TWO, **ROLES, design=drawn("9" * 400)), "`population` must name"),
    "a population of 400 digits": (lambda: evaluate(TWO, **ROLES, design=drawn(10**400)), "`population` must be a n"),
    "a population that is a list": (lambda: evaluate(TWO, **ROLES, design=drawn([9])), "`population` must be a number"),
    "roles that are a number": (lambda: reduce(read(TWO), roles=3), "`roles` must be a dictionary"),
    "roles of nothing": (lambda: reduce(read(TWO), roles={}), "`roles` must name at least one column"),
    "a table that is none": (lambda: reduce(3, roles={"truth": "t"}), "`table` must be a Table"),
    "an interval of 3": (lambda: evaluate(TWO, **ROLES).interval(3), "`name` must be a measure"),
    "a difference of 3": (lambda: compare(TWO, **BOTH).difference(3, "p"), "`system` must be one"),
    "a path of 100,000 signs": (lambda: read("x" * 100_000), "file name too long"),
    "logs at a path of 100,000 signs": (lambda: read_logs("x" * 100_000), "file name too long"),
    "a board at a path of 100,000 signs": (lambda: compare("x" * 100_000), "file name too long"),
    "logs that are a number": (lambda: read_logs(3), "`source` must be a file, a folder"),
    "logs that are numbers": (lambda: read_logs([1.0]), "`source` must be a file, a folder"),
    "columns by number": (lambda: read(TWO).columns([0]), "`names` must be a list of names"),
    "numbers of None": (lambda: read(TWO).numbers(None), "`name` must be a list of names"),
    "a report in 3": (lambda: write(evaluate(TWO, **ROLES), 3), "`path` must be a path or text"),
    "a report about an array": (lambda: render(np.ones(3)), "`results` must be results"),
    "a report called by an array": (lambda: render(evaluate(TWO, **ROLES), title=np.ones(3)), "`title` must be text"),
    "a board of one system": (lambda: compare({"a": [1, 0]}, score=["a"]), "two systems"),
    "a board with a system twice": (lambda: compare({"a": [1, 0], "b": [0, 1]}, score=["a", "a"]), "once"),
    "a sample of half an item": (lambda: sample({"i": range(9)}, size=2.5), "`size`"),
    "a spread that is missing": (lambda: sample({"s": ["a", "b"] * 9}, size=8, strata="s", method="neyman",
                                 spread={"a": 1}), "missing"),
    "ranks of one axis": (lambda: strat.recognition.ranks(similarity=[1, 2], probes=[1], gallery=[1, 2]), "table"),
    "both similarity and distance": (lambda: strat.recognition.ranks(similarity=[[1]], distance=[[1]], probes=[1],
                                     gallery=[1]), "similarity"),
    "probes without a mate": (lambda: strat.recognition.ranks(similarity=[[1, 2]], probes=[9], gallery=[1, 2]), "mate"),
    "embeddings of 1e200": (lambda: strat.recognition.ranks_of_embeddings(np.full((2, 2), 1e200), np.eye(2),
                            probe_subjects=[0, 1], gallery_subjects=[0, 1], score="euclidean"), "larger"),
    "a field of 6": (lambda: strat.algebra.field(6), "prime power"),
    "a field of 2^61 - 1": (lambda: strat.algebra.field(2**61 - 1), "2\\^40"),
    "a field of a half": (lambda: strat.algebra.field(2.5), "whole number"),
    "a Hadamard matrix of order 10": (lambda: strat.algebra.hadamard(10), "order|Hadamard"),
    "a confusion of halves": (lambda: strat.comparison.chance([[1.5, 2], [1, 1]]), "whole"),
    "a confusion of 1e300": (lambda: strat.comparison.chance([[1e300, 2], [1, 1]]), "2\\^53"),
    "a confusion of three axes": (lambda: strat.comparison.chance(np.ones((2, 2, 2))), "square"),
    "McNemar of two lengths": (lambda: strat.comparison.mcnemar([1, 0], [1], [1, 0]), "row"),
    "signed ranks of words": (lambda: strat.comparison.signed_rank(["a", "b"], [1, 2]), "numbers"),
    "Friedman of one system": (lambda: strat.comparison.friedman([[1], [2]], higher_is_better=True), "two|system"),
    "negative permutations": (lambda: strat.comparison.chance_between([0, 1], [0, 1], units=[0, 1], permutations=-1),
                              "permutations"),
    "masked values": (lambda: mean(np.ma.masked_array([1.0, 9.0], [False, True])), "masked values"),
    "masked labels": (lambda: strat.accuracy(np.ma.masked_array([1, 0], [0, 1]), [1, 0]), "masked values"),
    "times for numbers": (lambda: mean(np.array(["2020-01-01", "2020-01-02"], "M8[D]")), "must be numbers"),
    "complex numbers": (lambda: mean([1j, 2.0]), "must be numbers"),
    "lists of several lengths": (lambda: Design.clustered([[1], [1, 2]]), "`units`"),
    "a level of words": (lambda: strat.estimation.proportions.wald(1, 9, level="high"), "`level` must be a number"),
    "a design that is none": (lambda: strat.jackknife(7), "`design` must be a Design"),
    "a seed of words": (lambda: strat.bootstrap(Design.simple_random(n=4), rng="x"), "`rng` must be a seed"),
    "a value of many lines": (lambda: Design.simple_random(n=np.ones((9, 9))), "an array of shape"),
    "a prime power beyond all fields": (lambda: strat.algebra.next_prime_power(2**53), "at most"),
    "a plan for nothing": (lambda: strat.planning.rows_for_width(width=0, proportion=0.5), "`width`"),
    "a plan for 1e308": (lambda: strat.planning.rows_for_mean(width=1.0, deviation=1e308), "`deviation`"),
}  # fmt: skip


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED.keys())
def test_refused_in_one_sentence(call: tuple[Callable[[], Any], str]) -> None:
    made, said = call
    with bounded(), pytest.raises(StratError, match=said) as raised:
        made()
    text = str(raised.value)
    assert "\n" not in text
    assert len(text) < 1000
    assert text.endswith((".", "?"))


def of(y: Any, **design: Any) -> Any:
    return estimate(mean(y), on=Design.simple_random(n=len(y), **design))


def test_weights_over_twenty_orders_give_the_hand_value() -> None:
    y, w = np.array([1.0, 2.0, 3.0]), np.array([1e-10, 1.0, 1e10])
    assert of(y, weights=w).value == pytest.approx((1e-10 + 2 + 3e10) / (1e-10 + 1 + 1e10), rel=1e-15)


@pytest.mark.parametrize("scale", [1e-90, 1e-30, 1e30, 1e90])
def test_scaling_weights_changes_nothing(scale: float) -> None:
    w = np.array([1.0, 2.0, 3.0, 4.0])
    a, b = of(Y[:4], weights=w), of(Y[:4], weights=w * scale)
    assert b.value == pytest.approx(a.value, rel=1e-14)
    assert b.se == pytest.approx(a.se, rel=1e-12)


@pytest.mark.parametrize("shift", [0.0, 1e8, 1e12])
def test_a_shift_does_not_eat_the_standard_error(shift: float) -> None:
    """Seven digits of the se survive a shift by 10^12: deviations are taken before squares."""
    y = np.array([1.0, 2.0, 4.0, 7.0])
    assert of(y + shift).se == pytest.approx(of(y).se, rel=1e-3 if shift > 1e10 else 1e-7)


@pytest.mark.parametrize("scale", [1e-130, 1e-5, 1e5, 1e130])
def test_scaling_scores_scales_the_answer(scale: float) -> None:
    y = np.array([1.0, 2.0, 4.0, 7.0])
    assert of(y * scale).value == pytest.approx(3.5 * scale, rel=1e-14)
    assert of(y * scale).se == pytest.approx(of(y).se * scale, rel=1e-12)


@pytest.mark.parametrize("base", [2**53, 2**62, 2**63])
def test_neighbouring_large_ids_stay_apart(base: int) -> None:
    ids = np.arange(6, dtype=np.uint64) // np.uint64(2) + np.uint64(base)
    assert Design.clustered(ids).n_units == 3
    assert Design.clustered([int(i) for i in ids]).n_units == 3


def test_denormal_scores_have_a_value() -> None:
    found = of(np.array([0.0, 5e-324, 1e-310]))
    assert 0 <= found.value < 1e-300
    assert found.se >= 0


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_ranks_of_other_libraries_are_not_ranked_again(library: str) -> None:
    """Their columns have a rank() too, which would make 5, 9 and 30 of it 1, 2 and 3."""
    column = pytest.importorskip(library).Series([5, 9, 30])
    assert strat.mean_reciprocal_rank(column).value() == pytest.approx((1 / 5 + 1 / 9 + 1 / 30) / 3)
    assert strat.within_rank(column, k=9).value() == pytest.approx(2 / 3)


def test_names_may_come_in_an_array() -> None:
    found = compare(TWO, score=np.array(["t", "p"]))
    assert found.systems == ("p", "t")
    assert {type(name) for name in found.systems} == {str}


def test_what_a_persons_own_measure_raises_is_told_as_it_is() -> None:
    def broken(truth: Any, predicted: Any) -> Any:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        evaluate(TWO, **ROLES, metrics=[broken])


def test_small_types_do_not_overflow() -> None:
    from strat.planning import detectable_difference

    small = detectable_difference(rows=np.int8(100), disagreement=np.float32(0.25))
    assert small.difference == pytest.approx(detectable_difference(rows=100, disagreement=0.25).difference)


def test_a_liar_about_its_length_is_taken_by_its_elements() -> None:
    assert mean(Liar()).rows[0].values is not None


def test_arguments_are_never_changed() -> None:
    y, w, s = np.arange(6.0), np.ones(6), np.array([1, 1, 2, 2, 3, 3])
    copies = y.copy(), w.copy(), s.copy()
    found = estimate(mean(y), on=strat.brr(Design.stratified(s, weights=w)))
    found.interval()
    for given, kept in zip((y, w, s), copies, strict=True):
        np.testing.assert_array_equal(given, kept)
