"""Crossed designs: two factors or more were drawn."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import strat
from strat import Design, StratError
from strat.designs import variance
from strat.designs.crossed import Crossing
from strat.designs.factored import Factored


def _table(rows: int, columns: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(rows, 1)) + rng.normal(size=(1, columns)) + rng.normal(size=(rows, columns))
    row, column = np.divmod(np.arange(rows * columns), columns)
    return y, row, column


def _crossing(design: Design) -> Crossing:
    assert isinstance(design.layout, Crossing)
    return design.layout


def _incomplete(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    row, column = rng.integers(0, 6, 60), rng.integers(0, 9, 60)
    return rng.normal(size=60) + row, row, column, rng.uniform(0.5, 2.0, 60)


def test_a_complete_table_is_a_two_way_analysis_of_variance() -> None:
    y, row, column = _table(5, 12, 1)
    got = strat.estimate(strat.mean(y.ravel()), on=Design.crossed({"reader": row, "case": column}))
    by_row, by_column, mean = y.mean(axis=1), y.mean(axis=0), y.mean()
    rows, columns = 12 * ((by_row - mean) ** 2).sum() / 4, 5 * ((by_column - mean) ** 2).sum() / 11
    rest = ((y - by_row[:, None] - by_column + mean) ** 2).sum() / 44
    assert min(rows, columns) > rest
    assert got.se**2 == pytest.approx((rows + columns - rest) / 60)


def test_large_incomplete_tables_are_by_rows_and_columns_less_cells() -> None:
    rng = np.random.default_rng(2)
    row, column = rng.integers(0, 400, 20_000), rng.integers(0, 500, 20_000)
    y = rng.normal(size=400)[row] + rng.normal(size=500)[column] + rng.normal(size=20_000)
    z = (y - y.mean()) / len(y)
    cells = np.unique(row * 500 + column, return_inverse=True)[1]
    by = [(np.bincount(group, z) ** 2).sum() for group in (row, column, cells)]
    got = strat.estimate(strat.mean(y), on=Design.crossed({"a": row, "b": column}))
    assert got.se**2 == pytest.approx(by[0] + by[1] - by[2], rel=0.01)


def test_three_factors_are_without_bias() -> None:
    rng = np.random.default_rng(3)
    a, b, c = (codes.ravel() for codes in np.indices((5, 6, 4)))
    design = Design.crossed({"a": a, "b": b, "c": c})
    assert len(_crossing(design).partitions) == 7
    squares, variances = [], []
    for _ in range(300):
        y = 2 * rng.normal(size=5)[a] + 2 * rng.normal(size=6)[b] + 2 * rng.normal(size=4)[c] + rng.normal(size=120)
        squares.append(y.mean() ** 2)
        variances.append(strat.estimate(strat.mean(y), on=design).se ** 2)
    true = 4 / 5 + 4 / 6 + 4 / 4 + 1 / 120
    assert np.mean(variances) == pytest.approx(true, rel=0.1)
    assert np.mean(squares) == pytest.approx(true, rel=0.25)


def test_a_factor_within_another_adds_nothing_where_it_is_alone() -> None:
    """Cases that one reader has read each: the cells are the cases, and the readers are clusters of them."""
    rng = np.random.default_rng(4)
    case = np.repeat(np.arange(24), 2)
    reader = case // 4
    y = rng.normal(size=6)[reader] * 3 + rng.normal(size=24)[case] + rng.normal(size=48)
    crossed = strat.estimate(strat.mean(y), on=Design.crossed({"reader": reader, "case": case}))
    clustered = strat.estimate(strat.mean(y), on=Design.clustered(reader))
    assert crossed.se == pytest.approx(clustered.se)
    layout = _crossing(Design.crossed({"reader": reader, "case": case}))
    assert [layout.label(part) for part in layout.partitions] == ["reader", "case"]


def test_clusters_of_cases_are_a_factor_that_cases_lie_within() -> None:
    y, reader, case = _table(6, 20, 5)
    patient = case // 2
    by_patient = strat.estimate(strat.mean(y.ravel()), on=Design.crossed({"reader": reader, "patient": patient}))
    nested = Design.crossed({"reader": reader, "patient": patient, "case": case})
    assert len(_crossing(nested).partitions) == 5  # reader, patient, case, and both with readers
    both = strat.estimate(strat.mean(y.ravel()), on=nested)
    assert both.se == pytest.approx(by_patient.se, rel=0.15)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_order_labels_scale_and_cells_do_not_matter(seed: int) -> None:
    y, row, column, weights = _incomplete(seed)
    first = strat.estimate(strat.mean(y), on=Design.crossed({"a": row, "b": column}, weights=weights))
    order = np.random.default_rng(seed).permutation(60)
    names = np.array(["x", "q", "m", "z", "b", "c"])[row]
    other = Design.crossed({"b": column[order] * 7, "a": names[order]}, weights=10 * weights[order])
    second = strat.estimate(strat.mean(y[order]), on=other)
    assert (second.value, second.se, second.df) == pytest.approx((first.value, first.se, first.df))
    scaled = strat.estimate(strat.mean(1000 * y), on=Design.crossed({"a": row, "b": column}, weights=weights))
    assert (scaled.se, scaled.df) == pytest.approx((1000 * first.se, first.df))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_no_contrast_has_a_negative_variance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    _, row, column, weights = _incomplete(seed)
    y = rng.normal(size=(60, 3))
    design = Design.crossed({"a": row, "b": column}, weights=weights)
    got = strat.estimate(
        strat.stack("k", a=strat.mean(y[:, 0]), b=strat.mean(y[:, 1]), c=strat.mean(y[:, 2])), on=design
    )
    spread = got.deviations
    covariance = spread.T @ spread
    assert np.linalg.eigvalsh(covariance).min() > -1e-12
    one = strat.estimate(strat.mean(y[:, 0]), on=design)
    assert one.se <= got.se[0] * (1 + 1e-9)  # a part kept above zero in every direction is never smaller


def test_swapped_systems_change_the_sign_alone() -> None:
    y, row, column = _table(6, 30, 8)
    other = y + np.random.default_rng(9).normal(size=y.shape)
    table = {"A": y.ravel(), "B": other.ravel(), "reader": row, "case": column}
    board = strat.compare(table, score=["A", "B"], design=strat.Sampling(crossed=["reader", "case"]))
    difference, back = board.difference("A", "B"), board.difference("B", "A")
    assert difference.value == pytest.approx(-back.value)
    direct = strat.estimate(strat.mean((y - other).ravel()), on=Design.crossed({"reader": row, "case": column}))
    assert difference.value == pytest.approx(direct.value)
    assert difference.se == pytest.approx(direct.se, rel=0.05)


def test_which_factor_to_enlarge() -> None:
    rng = np.random.default_rng(10)
    judge, item = np.divmod(np.arange(400), 40)
    y = rng.normal(size=10)[judge] * 3 + rng.normal(size=40)[item] + rng.normal(size=400)
    got = strat.estimate(strat.mean(y), on=Design.crossed({"judge": judge, "item": item}))
    (note,) = [n for n in got.notes if getattr(n, "code", "") == "crossed-components"]
    assert note.facts["factor"] == "judge"
    assert [part for part, _ in note.facts["shares"]] == ["judge", "item", "judge × item"]
    assert sum(share for _, share in note.facts["shares"]) == pytest.approx(1)
    few = strat.estimate(strat.mean(y[:120]), on=Design.crossed({"judge": judge[:120], "item": item[:120]}))
    (note,) = [n for n in few.notes if n.code == "few-levels"]
    assert note.facts == {"levels": (3,), "factors": ("judge",)}


def test_errors_in_few_levels_are_cautioned_and_lower_the_degrees_of_freedom() -> None:
    speaker, attack = np.divmod(np.arange(480), 10)
    y = ((speaker < 2) & (attack < 6)).astype(float)
    design = Design.crossed({"speaker": speaker, "attack": attack})
    got = strat.estimate(strat.proportion(y), on=design)
    assert any("Only 2 of 48 speakers hold" in str(note) for note in got.notes)
    assert got.df < 6 < design.df


def test_strata_take_their_means_out() -> None:
    y, row, column = _table(6, 40, 11)
    group = (column >= 20).astype(int)
    shifted = (y + 50 * group.reshape(6, 40)).ravel()
    inside = strat.estimate(strat.mean(shifted), on=Design.crossed({"r": row, "c": column}, strata=group))
    plain = strat.estimate(strat.mean(y.ravel()), on=Design.crossed({"r": row, "c": column}, strata=group))
    assert inside.se == pytest.approx(plain.se)


@pytest.mark.shared
def test_votes_of_workers_on_prompts(shared: Path) -> None:
    """Published in /found: 0.0041 by vote, 0.0086 by worker, 0.0126 by prompt."""
    with (shared / "data/fields/llmfao/crowd-comparisons.csv").open() as file:
        rows = list(csv.DictReader(file))
    left = [{"left": 1.0, "tie": 0.5, "right": 0.0}[row["winner"]] for row in rows]
    worker, prompt = [row["worker"] for row in rows], [row["prompt"] for row in rows]
    designs = (
        Design.simple_random(len(left)),
        Design.clustered(worker),
        Design.clustered(prompt),
        Design.crossed({"worker": worker, "prompt": prompt}),
    )
    errors = [strat.estimate(strat.mean(left), on=design).se for design in designs]
    assert [round(float(se), 4) for se in errors] == [0.0041, 0.0086, 0.0126, 0.0140]
    assert all(a < b for a, b in pairwise(errors))


def test_what_a_crossing_refuses() -> None:
    with pytest.raises(StratError, match="must be two to 4 columns, got 1"):
        Design.crossed({"a": [1, 2, 3]})
    with pytest.raises(StratError, match="at least two levels each, got one of 'b'"):
        Design.crossed({"a": [1, 2, 3], "b": [1, 1, 1]})
    design = Design.crossed({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]})
    with pytest.raises(StratError, match="must be of units in strata for replication, got a crossed one"):
        strat.generalized(design)
    table = {"y": [0, 1, 1, 0], "a": [1, 1, 2, 2], "b": [1, 2, 1, 2]}
    with pytest.raises(StratError, match="`units` must be left out beside `crossed`"):
        strat.evaluate(table, score="y", design=strat.Sampling(crossed=["a", "b"], units="a"))
    with pytest.raises(StratError, match="`order` must be left out beside `crossed`"):
        strat.evaluate(table, score="y", design=strat.Sampling(crossed=["a", "b"], order="a"))
    with pytest.raises(StratError, match="`method` must be 'taylor'"):
        strat.evaluate(table, score="y", method="jackknife", design=strat.Sampling(crossed=["a", "b"]))
    with pytest.raises(StratError, match="`crossed` must name a column"):
        strat.evaluate(table, score="y", design=strat.Sampling(crossed=["a", "nobody"]))
    with pytest.raises(StratError, match="`target` must be left out"):
        strat.evaluate(table, score="y", target="benchmark", design=strat.Sampling(crossed=["a", "b"]))
    wide = strat.mean(np.random.default_rng(0).random((4, 501)))
    with pytest.raises(StratError, match="for more than 500 values at once"):
        strat.estimate(wide, on=design)


def test_variance_components_say_what_more_levels_bring() -> None:
    y, row, column = _table(8, 30, 12)
    statistic, design = strat.mean(y.ravel()), Design.crossed({"reader": row, "case": column})
    parts = strat.variance_components(statistic, on=design)
    assert parts.se == pytest.approx(strat.estimate(statistic, on=design).se)
    assert sum(parts.shares.values()) == pytest.approx(1)
    v = parts.variances
    doubled = v["reader"] / 2 + v["case"] + v["reader × case"] / 2
    assert parts.se_with(reader=16) == pytest.approx(np.sqrt(doubled))
    assert parts.enlarge == "reader"
    assert "enlarge 'reader'" in str(parts)
    assert parts.to_dict()["schema"] == "strat/variance_components/1"
    assert list(parts.to_frame()["factor"]) == list(v)
    with pytest.raises(StratError, match="`levels` must name factors, got 'readers'"):
        parts.se_with(readers=3)
    with pytest.raises(StratError, match="`levels` must be at least 1"):
        parts.se_with(reader=0)
    with pytest.raises(StratError, match="`on` must be a crossed design"):
        strat.variance_components(statistic, on=Design.clustered(row))
    with pytest.raises(StratError, match="`statistic` must be one value of the 240 rows"):
        strat.variance_components(strat.mean([1.0, 2.0]), on=design)


def test_products_have_the_variance_of_what_they_multiply_to() -> None:
    rng = np.random.default_rng(11)
    left = scipy.sparse.random_array((300, 6), density=0.3, rng=rng, format="csr")
    product = Factored(left, rng.normal(size=(6, 4)))
    group = {"a": rng.integers(0, 9, 300), "b": rng.integers(0, 30, 300)}
    weights, strata = rng.random(300) + 0.5, rng.integers(0, 3, 300)
    for design in (
        strat.Design.crossed(group, weights=weights, strata=strata),
        strat.Design.stratified(strata, population=dict.fromkeys(range(3), 500)),
        strat.Design.simple_random(n=300),
    ):
        by_line = Factored(scipy.sparse.csr_array(_by_line(left.toarray(), design)), product.right)
        own, written = (variance.deviations(z, design) for z in (by_line, by_line.dense()))
        np.testing.assert_allclose(own.T @ own, written.T @ written, rtol=1e-9, atol=1e-12)
        if design.layout is not None:
            df = (variance.layout_df(z, design) for z in (by_line, by_line.dense()))
            np.testing.assert_allclose(*df, rtol=1e-8)


def _by_line(values: np.ndarray, design: strat.Design) -> np.ndarray:
    return np.stack([np.bincount(design.unit, column, minlength=design.lines) for column in values.T], axis=1)


def test_a_standard_error_is_the_same_alone_and_beside_others() -> None:
    rng = np.random.default_rng(3)
    a, b, kind = rng.integers(0, 8, 400), rng.integers(0, 40, 400), rng.integers(0, 30, 400)
    design = strat.Design.crossed({"a": a, "b": b})
    alone = strat.estimate(strat.proportion(kind == 7), on=design).se
    shares = strat.stack("shares", **{f"k{k}": strat.proportion(kind == k) for k in range(30)})
    assert strat.estimate(shares, on=design).se[7] == pytest.approx(float(alone), rel=1e-9)


def _hits(rate: float, rows: int, columns: int, seed: int) -> strat.Estimate:
    rng = np.random.default_rng(seed)
    score = 0.5 * rng.normal(size=(rows, 1)) + 0.5 * rng.normal(size=columns) + rng.normal(size=(rows, columns))
    row, column = np.divmod(np.arange(rows * columns), columns)
    hits = (score < np.quantile(score, rate)).astype(float).ravel()
    return strat.estimate(strat.proportion(hits), on=Design.crossed({"row": row, "column": column}))


@given(st.integers(0, 500), st.sampled_from([0.03, 0.2, 0.5, 0.95]))
def test_a_share_has_the_limits_of_the_score(seed: int, rate: float) -> None:
    """At a limit p the share is Student's t away, in standard errors as p would have them (Wilson)."""
    share = _hits(rate, 8, 12, seed)
    assert share.interval() == share.interval(method="wilson")
    for limit in share.interval():
        at_limit = share.se * np.sqrt(limit * (1 - limit) / (share.value * (1 - share.value)))
        t = float(scipy.stats.t.ppf(0.975, share.df))
        assert abs(share.value - limit) == pytest.approx(t * at_limit, rel=1e-6)
        assert share.test(limit).pvalue == pytest.approx(0.05, rel=1e-6)
    assert share.test(0.0).pvalue == share.test(1.0).pvalue == 0.0


def test_a_share_over_factors_without_a_hit_has_exact_limits_and_means_are_straight() -> None:
    row, column = np.divmod(np.arange(60), 10)
    design = Design.crossed({"row": row, "column": column})
    none = strat.estimate(strat.proportion(np.zeros(60)), on=design)
    assert none.interval()[0] == 0 < none.interval()[1] < 1
    assert none.test(none.interval()[1]).pvalue == pytest.approx(0.05, rel=1e-6)
    values = strat.estimate(strat.mean(np.arange(60.0) % 7), on=design)
    assert values.interval() == values.interval(method="t")
