"""Blocked, ordered and staged designs, designs from columns, and collapsed strata."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import strat
from strat import Design, StratError
from strat.designs.blocks import fixed_kinds


def _codes(estimate: strat.Estimate) -> list[str]:
    return [getattr(note, "code", "") for note in estimate.notes]


# ---- blocks


def test_blocks_are_a_two_way_analysis_without_interaction() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(size=(8, 1)) + np.array([0.0, 3.0, 7.0]) + rng.normal(size=(8, 3))
    unit, kind = np.divmod(np.arange(24), 3)
    got = strat.estimate(strat.mean(y.ravel()), on=Design.blocks(unit, kind))
    rest = y - y.mean(axis=1, keepdims=True) - y.mean(axis=0) + y.mean()
    assert got.se**2 == pytest.approx((rest**2).sum() / 14 / 24)
    assert float(got.df) == 14


def test_what_kinds_and_units_differ_by_is_no_error() -> None:
    rng = np.random.default_rng(2)
    unit, kind = np.divmod(np.arange(60), 3)
    kept = rng.random(60) < 0.8
    y, unit, kind = rng.normal(size=60)[kept], unit[kept], kind[kept]
    plain = strat.estimate(strat.mean(y), on=Design.blocks(unit, kind))
    moved = y + np.arange(20)[unit] + np.array([0.0, 50.0, -20.0])[kind]
    assert strat.estimate(strat.mean(moved), on=Design.blocks(unit, kind)).se == pytest.approx(plain.se)


def test_strata_of_fixed_kinds_are_noticed_and_strata_of_draws_are_not() -> None:
    rng = np.random.default_rng(3)
    unit, kind = np.divmod(np.arange(120), 3)
    hits = (rng.random(120) < np.array([0.1, 0.8, 0.95])[kind]).astype(float)
    strata = strat.estimate(strat.proportion(hits), on=Design.stratified(unit))
    blocks = strat.estimate(strat.proportion(hits), on=Design.blocks(unit, kind))
    assert "fixed-kinds" in _codes(strata)
    assert blocks.se < strata.se
    draws = (rng.random(120) < 0.7).astype(float)
    assert "fixed-kinds" not in _codes(strat.estimate(strat.proportion(draws), on=Design.stratified(unit)))
    table = {"ok": hits, "who": unit}
    assert any("fixed kinds" in note for note in strat.evaluate(table, score="ok", strata="who").notes)


def test_blocks_need_cells_to_spare() -> None:
    with pytest.raises(StratError, match="`kinds` must be at least two"):
        Design.blocks([1, 1, 2, 2], [1, 1, 1, 1])
    table = {"y": [0, 1, 1, 0], "k": [1, 2, 1, 2]}
    with pytest.raises(StratError, match="`kinds` must come with `units`"):
        strat.evaluate(table, score="y", design=strat.Sampling(kinds="k"))


def test_rows_of_a_unit_that_differ_more_than_units_do_are_noted_once() -> None:
    """A negative intraclass correlation: a design effect well under 1 under fixed kinds, and hardly ever by chance."""
    rng = np.random.default_rng(16)
    unit, kind = np.divmod(np.arange(240), 3)
    truth = np.tile([1, 0, 1], 80)
    guess = np.where(rng.random(240) < 0.95, truth, 1 - truth) ^ (kind == 2)
    board = strat.evaluate(
        {"t": truth, "g": guess, "u": unit}, truth="t", predicted="g", units="u", metrics=["accuracy", "mcc", "kappa"]
    )
    assert float(board["accuracy"].deff) < 0.5
    assert [n.code for n in board.notes if n.code == "negative-correlation"] == ["negative-correlation"]
    alarms = 0
    for _ in range(200):
        alone = strat.estimate(strat.proportion(rng.random(240) < 0.8), on=Design.clustered(unit))
        alarms += "negative-correlation" in _codes(alone)
    assert alarms <= 5
    within = strat.evaluate(
        {"t": truth, "g": guess, "u": unit}, truth="t", predicted="g", strata="u", metrics=["accuracy", "mcc"]
    )
    assert [n.code for n in within.notes].count("fixed-kinds") <= 1


def test_the_note_on_negative_correlation_is_of_plain_clusters_only() -> None:
    """Its formula knows no second factor and no finite population."""
    rng = np.random.default_rng(16)
    unit, kind = np.divmod(np.arange(240), 3)
    hits = (rng.random(240) < np.array([0.95, 0.9, 0.05])[kind]).astype(float)
    alone, finite, crossed = (
        strat.estimate(strat.proportion(hits), on=design)
        for design in (
            Design.clustered(unit),
            Design.clustered(unit, population=400),
            Design.crossed(factors={"unit": unit, "block": np.arange(240) // 60}),
        )
    )
    assert max(float(one.deff) for one in (alone, finite, crossed)) < 0.5
    assert ["negative-correlation" in _codes(one) for one in (alone, finite, crossed)] == [True, False, False]


def test_strata_in_which_nothing_varies_have_no_fixed_kinds() -> None:
    """All values equal: the ratio of mean squares is 0 / 0, and no sign of anything."""
    unit = np.repeat(np.arange(40), 3)
    assert "fixed-kinds" not in _codes(strat.estimate(strat.proportion(np.ones(120)), on=Design.stratified(unit)))
    assert fixed_kinds(np.zeros((120, 1)), unit, np.ones(120)) == ()


# ---- ordered


def test_degrees_of_freedom_of_successive_differences() -> None:
    for n in (6, 10, 50):
        assert Design.systematic(order=np.arange(n)).df == pytest.approx(2 * (n - 1) ** 2 / (3 * n - 4))


def test_strata_are_added_up() -> None:
    rng = np.random.default_rng(4)
    y, stratum, place = rng.normal(size=30), np.repeat([0, 1, 2], 10), np.tile(np.arange(10), 3)
    sizes = {0: 100, 1: 50, 2: 20}
    design = Design.systematic(order=place, strata=stratum, population=sizes, weights=np.ones(30))
    whole = strat.estimate(strat.total(y), on=design)
    parts = []
    for h, size in sizes.items():
        alone = Design.systematic(order=np.arange(10), population=size, weights=np.ones(10))
        parts.append(strat.estimate(strat.total(y[stratum == h]), on=alone).se ** 2)
    assert whole.se**2 == pytest.approx(sum(parts))


def test_strata_that_were_seen_whole_have_no_degrees_of_freedom() -> None:
    stratum, place = np.repeat(["a", "b"], 10), np.tile(np.arange(10), 2)

    def df(**sizes: int) -> float:
        return float(Design.systematic(order=place, strata=stratum, population=sizes, weights=np.ones(20)).df)

    each = 2 * 9**2 / 26
    assert [df(a=10, b=100), df(a=100, b=100), df(a=10, b=10)] == pytest.approx([each, 2 * each, 2 * each])


def test_higher_differences_let_no_drift_count() -> None:
    line = np.arange(40.0)
    smooth = 0.001 * line**2
    noise = np.random.default_rng(5).normal(size=40)
    for order in (2, 3):
        design = Design.systematic(order=line, differences=order)
        got = strat.estimate(strat.mean(noise), on=design)
        binomial = np.array([np.diff(noise, n=order)]).ravel()
        coefficients = float((np.diff(np.eye(order + 1), n=order, axis=0) ** 2).sum())
        assert got.se**2 == pytest.approx((binomial**2).sum() / (40 - order) / coefficients / 40)
    third = strat.estimate(strat.mean(smooth), on=Design.systematic(order=line, differences=3))
    assert "trend" in _codes(third)


def test_a_trend_is_seen_and_covered() -> None:
    """Every 20th of 1,000 values on a line: the mean moves by up to half a step, which differences don't see."""
    population = np.arange(1000) / 100
    held = 0
    for start in range(20):
        design = Design.systematic(order=np.arange(50), population=1000)
        got = strat.estimate(strat.mean(population[start::20]), on=design)
        low, high = got.interval()
        held += low <= population.mean() <= high
        assert "trend" in _codes(got)
    assert held == 20
    noise = np.random.default_rng(6).normal(size=50)
    assert "trend" not in _codes(strat.estimate(strat.mean(noise), on=Design.systematic(order=np.arange(50))))


def test_ends_weighted_for_the_start_make_a_line_exact() -> None:
    """Yates's end correction: on a line every start gives the population's mean, in every stratum."""
    population = 3.0 + np.arange(1000) / 100
    for start in (1, 7, 20):
        sample = population[start - 1 :: 20]
        design = Design.systematic(order=np.arange(50), population=1000, start=start)
        got = strat.estimate(strat.mean(sample), on=design)
        assert float(got.point) == pytest.approx(population.mean(), rel=1e-12)
        assert design.weights.sum() == pytest.approx(1000)
        assert "trend" not in _codes(got)
        shift = (2 * start - 20 - 1) / (2 * 49 * 20) * (sample[0] - sample[-1])  # Cochran 8.7
        assert float(got.point) == pytest.approx(sample.mean() + shift)
    frame = {"t": np.arange(60), "h": np.repeat(["a", "b"], 30), "n": np.repeat([300, 90], 30)}
    both = Design.from_columns(frame, order="t", strata="h", population="n", start={"a": 4, "b": 1})
    value = np.r_[np.arange(3, 300, 10), 1000 + 5.0 * np.arange(0, 90, 3)]
    truth = (np.arange(300).sum() + (1000 + 5.0 * np.arange(90)).sum()) / 390
    assert float(strat.estimate(strat.mean(value), on=both).point) == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("differences", [1, 2])
def test_a_line_that_ends_take_out_is_not_in_the_standard_error(differences: int) -> None:
    """The error of the corrected mean is that of the noise, however steep the line is, and so is the standard error."""
    rng = np.random.default_rng(11)
    off, errors, held = [], [], 0
    for _ in range(300):
        population = np.arange(1000) + rng.normal(size=1000)
        start = int(rng.integers(1, 21))
        design = Design.systematic(order=np.arange(50), population=1000, start=start, differences=differences)
        got = strat.estimate(strat.mean(population[start - 1 :: 20]), on=design)
        off.append(float(got.point) - population.mean())
        errors.append(float(got.se) ** 2)
        low, high = got.interval()
        held += low <= population.mean() <= high
    assert np.sqrt(np.mean(errors)) == pytest.approx(np.std(off), rel=0.15)
    assert 0.92 <= held / 300 <= 0.98
    two = Design.systematic(order=[0, 1], population=10, start=2)  # of one difference no line can be taken out
    assert float(strat.estimate(strat.mean([1.0, 3.0]), on=two).se) > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": 3}, "`start` must come with `population`"),
        ({"start": 6, "population": 50}, r"`start` must be from 1 to the step of the sample \(5\), got 6"),
        ({"start": 5, "population": 50, "weights": [*[5.0] * 9, 0.1]}, "`start` must go with weights that are nearly"),
    ],
)
def test_what_a_start_refuses(options: dict[str, Any], message: str) -> None:
    with pytest.raises(StratError, match=message):
        Design.systematic(order=np.arange(10), **options)


def test_what_comes_back_is_noted_and_noise_and_drift_are_not() -> None:
    rng = np.random.default_rng(8)
    line = np.arange(60)

    def codes(values: np.ndarray) -> list[str]:
        return _codes(strat.estimate(strat.mean(values), on=Design.systematic(order=np.arange(len(values)))))

    assert "period" in codes(np.sin(2 * np.pi * line / 7) + 0.3 * rng.normal(size=60))
    assert "period" in codes((line % 5 == 0).astype(float))
    noise = [rng.normal(size=60) for _ in range(100)]
    assert sum("period" in codes(z) for z in noise) <= 1
    assert sum("period" in codes(np.cumsum(z)) for z in noise) <= 2
    assert "period" not in codes(line.astype(float))
    assert "period" not in codes(np.ones(60))


def test_ordered_tables() -> None:
    rng = np.random.default_rng(7)
    table = {"y": rng.random(40), "t": rng.permutation(40), "site": np.repeat(["a", "b"], 20)}
    got = strat.evaluate(table, score="y", design=strat.Sampling(order="t", strata="site"))
    own = strat.estimate(strat.mean(table["y"]), on=Design.systematic(order=table["t"], strata=table["site"]))
    assert got["mean"].se == pytest.approx(own.se)
    assert got.roles["order"] == "t"
    with pytest.raises(StratError, match="`differences` must be a whole number from 1 to 4, got 5"):
        Design.systematic(order=np.arange(9), differences=5)
    with pytest.raises(StratError, match="`order` must have at least 3 places in every stratum, got 2"):
        Design.systematic(order=[1, 2], differences=2)


# ---- stages


def test_two_stages_follow_cochran() -> None:
    """Cochran (11.24): between-unit variance of the unseen, within-unit variance of the seen."""
    rng = np.random.default_rng(8)
    y = rng.normal(size=(4, 3)) + rng.normal(size=(4, 1))
    district, school = np.divmod(np.arange(12), 3)
    design = Design.staged({"district": district, "school": school}, population={"district": 10, "school": 7})
    got = strat.estimate(strat.total(y.ravel()), on=design)
    totals = 7 / 3 * y.sum(axis=1)
    between = 10**2 * (1 - 4 / 10) * totals.var(ddof=1) / 4
    within = 10 / 4 * (7**2 * (1 - 3 / 7) * y.var(axis=1, ddof=1) / 3).sum()
    assert got.se**2 == pytest.approx(between + within)
    assert got.value == pytest.approx(2.5 * totals.sum())


def test_stages_of_limitless_populations_are_clusters() -> None:
    rng = np.random.default_rng(9)
    y, district, school = rng.normal(size=20), np.repeat(np.arange(5), 4), np.arange(20)
    staged = strat.estimate(strat.mean(y), on=Design.staged({"d": district, "s": school}))
    assert staged.se == pytest.approx(strat.estimate(strat.mean(y), on=Design.clustered(district)).se)


def test_repeats_are_a_last_stage() -> None:
    rng = np.random.default_rng(10)
    y, item = rng.random(30), np.repeat(np.arange(10), 3)
    staged = Design.staged({"item": item, "try": np.arange(30)}, population={"item": 25}, weights=np.ones(30))
    repeats = Design.simple_random(items=item, population=25, weights=np.ones(30))
    assert strat.estimate(strat.mean(y), on=staged).se == pytest.approx(strat.estimate(strat.mean(y), on=repeats).se)


def test_three_stages_see_less_and_less() -> None:
    rng = np.random.default_rng(11)
    units = dict(zip("abc", (codes.ravel() for codes in np.indices((4, 3, 2))), strict=True))
    y = rng.normal(size=24)
    sizes = {"a": 8, "b": 6, "c": 4}
    first = strat.estimate(strat.total(y), on=Design.staged(units, population={"a": 8}, weights=np.full(24, 8.0))).se
    third = strat.estimate(strat.total(y), on=Design.staged(units, population=sizes, weights=np.full(24, 8.0))).se
    seen = strat.estimate(strat.total(y), on=Design.staged(units, population={"a": 4, "b": 3, "c": 2})).se
    assert seen == pytest.approx(0, abs=1e-12)
    assert third < np.hypot(first, 1e-9) * 2
    table = {**units, "y": y, "A": np.full(24, 8), "B": np.full(24, 6), "C": np.full(24, 4)}
    got = strat.evaluate(table, score="y", design=strat.Sampling(stages=["a", "b", "c"], population=["A", "B", "C"]))
    own = strat.estimate(strat.mean(y), on=Design.staged(units, population=sizes))
    assert got["mean"].se == pytest.approx(own.se)


def test_what_stages_refuse() -> None:
    units = {"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]}
    with pytest.raises(StratError, match="`population` of 'b' must be at least the number of units drawn"):
        Design.staged(units, population={"a": 4, "b": 1})
    with pytest.raises(StratError, match="`population` must name stages"):
        Design.staged(units, population={"c": 4})
    with pytest.raises(StratError, match="`population` of 'b' must be the same for all rows drawn from one unit"):
        Design.staged(units, population={"a": 4, "b": [3, 4, 3, 3]})
    with pytest.raises(StratError, match="at least two units of 'a', got one"):
        Design.staged({"a": [1, 1], "b": [1, 2]})
    with pytest.raises(StratError, match="must name at least one stage"):
        Design.staged({})
    table = {**units, "y": [0.1, 0.2, 0.3, 0.5], "A": [4] * 4}
    with pytest.raises(StratError, match=r"`population` must name a column for each stage \(2\), got 1"):
        strat.evaluate(table, score="y", design=strat.Sampling(stages=["a", "b"], population=["A"]))
    with pytest.raises(StratError, match=r"`population` must name a column for each stage \(2\), got 1"):
        Design.from_columns(table, stages=["a", "b"], population="A")
    with pytest.raises(StratError, match="`population` must be one column without `stages`, got 2"):
        strat.evaluate(table, score="y", design=strat.Sampling(units="a", population=["A", "A"]))


# ---- from columns, collapsed strata


def test_designs_from_columns() -> None:
    table = {"s": ["x", "x", "y", "y"], "u": [1, 2, 3, 4], "w": [1.0, 2.0, 1.0, 2.0], "t": [4, 3, 2, 1]}
    assert str(Design.from_columns(table, strata="s", clusters="u")) == str(
        Design.clustered(table["u"], strata=table["s"])
    )
    assert Design.from_columns(table, crossed=["s", "t"]).kind == "crossed"
    assert Design.from_columns(table, order="t", weights="w").kind == "systematic"
    assert Design.from_columns(table, weights="w").kind == "simple random"
    assert Design.from_columns(table, stages=["s", "u"]).kind == "staged"
    assert str(Design.from_columns(table)) == str(Design.simple_random(4))
    with pytest.raises(StratError, match="`strata` must name a column of `frame`, got 'site'"):
        Design.from_columns(table, strata="site")
    with pytest.raises(StratError, match="`columns` must be roles"):
        Design.from_columns(table, stratum="s")
    with pytest.raises(StratError, match="`clusters` must not come together"):
        Design.from_columns(table, units="u", clusters="u")
    with pytest.raises(StratError, match="`replicate_weights` must be left out here"):
        Design.from_columns(table, replicate_weights="r", weights="w", scale=1.0)


@pytest.mark.parametrize(
    "roles",
    [
        {},
        {"weights": "w"},
        {"strata": "s", "population": "n"},
        {"strata": "s", "population": {"x": 10, "y": 20}},
        {"units": "u", "items": "i"},
        {"items": "i"},
        {"strata": "s", "units": "v", "nested": True},
        {"strata": "l", "lone": "collapse", "collapse_by": "n"},
        {"crossed": ["u", "v"]},
        {"order": "t", "differences": 2},
        {"stages": ["u", "i"], "population": ["m", "n"]},
        {"units": "u", "kinds": "v"},
    ],
)
def test_columns_make_the_same_design_for_a_design_and_for_a_table(roles: dict[str, Any]) -> None:
    """`Design.from_columns` had its own list of roles: it refused items without units, and joined no strata by size."""
    table = {
        "s": ["x"] * 4 + ["y"] * 4, "u": [1, 1, 2, 2, 3, 3, 4, 4], "v": [1, 2] * 4, "i": [1, 2, 3, 4, 5, 6, 7, 8],
        "l": ["a"] * 3 + ["b"] * 4 + ["c"], "w": [1.0, 2.0] * 4, "t": list(range(8)), "m": [9] * 8, "n": [30] * 8,
        "y": [0.1, 0.4, 0.3, 0.9, 0.5, 0.2, 0.8, 0.7],
    }  # fmt: skip
    design = Design.from_columns(table, **roles)
    whole = strat.evaluate(table, score="y", metrics="mean", design=strat.Sampling(**roles))
    assert whole.design == design.summary
    alone = strat.estimate(strat.mean(table["y"]), on=design)
    assert alone.se == pytest.approx(whole["mean"].se, rel=1e-12)


def test_collapsed_strata_tell_their_bias_and_can_be_paired() -> None:
    level = np.arange(40) % 20 * 10.0
    y = level + np.random.default_rng(12).normal(size=40)
    blind = Design.stratified(strata=np.arange(40), lone="collapse")
    assert "collapsed-strata" in _codes(strat.estimate(strat.mean(y), on=blind))
    paired = Design.stratified(strata=np.arange(40), lone="certainty").collapsed(by=dict(enumerate(level.tolist())))
    assert paired.sizes.tolist() == [2] * 20
    near = strat.estimate(strat.mean(y), on=paired)
    assert near.se < strat.estimate(strat.mean(y), on=blind).se / 2
    assert near.se == pytest.approx(np.sqrt(((y[:20] - y[20:]) ** 2).sum()) / 40)
    fine = Design.stratified(strata=np.repeat([1, 2], 5), lone="collapse")
    assert _codes(strat.estimate(strat.mean(np.arange(10.0)), on=fine)) == []


def test_the_note_says_how_much_too_large_the_variance_of_joined_strata_is() -> None:
    """By strata of several units; by what all pairs differ by; or that nothing shows it."""
    rng = np.random.default_rng(14)
    sizes = np.repeat([1, 3], [30, 15])
    stratum = np.repeat(np.arange(45), sizes)
    y = 2.0 * rng.normal(size=45)[stratum] + rng.normal(size=75)
    design = Design.stratified(strata=stratum, weights=1.0 / sizes[stratum], lone="collapse")
    (note,) = (n for n in strat.estimate(strat.mean(y), on=design).notes if n.code == "collapsed-strata")
    pooled = (((y - (np.bincount(stratum, y) / sizes)[stratum]) ** 2)[30:]).sum() / 30
    others = sum(3 / 9 * y[stratum == h].var(ddof=1) for h in range(30, 45)) + 30 * pooled
    by_hand = (float(strat.estimate(strat.mean(y), on=design).se) * 45) ** 2 / others
    assert note.facts == {"case": "others", "least": float(f"{by_hand:.2g}"), "most": None}
    in_turn = np.tile([0.0, 5.0], 10) + rng.normal(size=20)
    blind = Design.stratified(strata=np.arange(20), lone="collapse")
    (note,) = strat.estimate(strat.mean(in_turn), on=blind).notes
    d = in_turn[::2] - in_turn[1::2]
    by_hand = (d**2).sum() / ((d**2).sum() - (d.sum() ** 2 - (d**2).sum()) / 9)
    assert note.facts == {"case": "pairs", "least": float(f"{by_hand:.2g}"), "most": None}
    (note,) = strat.estimate(strat.mean(rng.normal(size=20)), on=blind).notes
    assert (note.code, dict(note.facts)) == ("collapsed-strata", {})
    replicated = strat.estimate(strat.mean(in_turn), on=strat.brr(blind))
    assert "collapsed-strata" in _codes(replicated)


def test_the_note_on_several_values_gives_a_range_and_none_of_a_domain() -> None:
    rng = np.random.default_rng(15)
    stratum = np.repeat(np.arange(20), np.repeat([1, 3], 10))
    y, flat = 5.0 * rng.normal(size=20)[stratum] + rng.normal(size=40), rng.normal(size=40)
    design = Design.stratified(strata=stratum, lone="collapse")
    both = strat.estimate(strat.stack("y", A=strat.mean(y), B=strat.mean(flat)), on=design)
    assert both.notes[0].facts["most"] > both.notes[0].facts["least"] > 0
    assert re.search(r"about [\d.]+ to [\d.]+ times what it would be", both.notes[0])
    part = strat.estimate(strat.domain(strat.mean(y), np.arange(40) % 2 == 0), on=design)
    assert "collapsed-strata" in _codes(part)


def test_a_systematic_sample_is_analysed_as_one() -> None:
    rng = np.random.default_rng(13)
    benchmark = {"id": np.arange(600), "task": np.repeat(["a", "b"], 300), "t": rng.permutation(600)}
    right = np.sin(benchmark["t"] / 60) + 0.1 * rng.normal(size=600)
    drawn = strat.verbs.sample(benchmark, size=60, items="id", strata="task", method="systematic", order="t", seed=1)
    assert 'order="order"' in drawn.notes[0]
    scores = {**drawn.columns(), "right": right[drawn.row]}
    roles = {"strata": "stratum", "weights": "weight", "population": "population"}
    ordered = strat.evaluate(scores, score="right", design=strat.Sampling(order="order", **roles))
    random = strat.evaluate(scores, score="right", design=strat.Sampling(**roles))
    assert ordered["mean"].value == pytest.approx(random["mean"].value)
    assert ordered["mean"].se < random["mean"].se / 2
    assert strat.verbs.sample(benchmark, size=60, items="id").order is None


def unequal_districts() -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """Fifteen districts of 1 to 5 schools, of which a few stand for most schools of the population."""
    rng = np.random.default_rng(6)
    sizes = np.tile([1, 2, 3, 4, 5], 3)
    district = np.repeat(np.arange(15), sizes)
    school = np.concatenate([np.arange(n) for n in sizes])
    schools = np.repeat(np.where(np.arange(15) < 4, 60, sizes + 2), sizes)
    y = rng.normal(size=len(district)) + rng.normal(size=15)[district]
    return {"district": district, "school": school}, schools, y


def test_a_staged_design_has_the_degrees_of_freedom_of_what_its_first_stage_weighs() -> None:
    """Two stages of the api schools: df 39 and no note, where the same clusters had 1.25 and one (82 % coverage)."""
    units, schools, y = unequal_districts()
    design = Design.staged(units, **populations(schools))
    staged = strat.estimate(strat.mean(y), on=design)
    squares = np.bincount(units["district"], staged_weights(units, schools)) ** 2
    assert staged.df == pytest.approx(squares.sum() ** 2 / (squares**2).sum() - 1)
    (note,) = (note for note in staged.notes if note.code == "heavy-units")
    assert str(note).startswith("A few districts carry most of the weight")
    assert (note.facts["df"], note.facts["nominal"]) == (staged.df, 14)
    as_r = strat.estimate(strat.mean(y), on=design, df="design")
    assert as_r.df == 14
    assert as_r.se == staged.se
    assert np.ptp(staged.interval()) > 1.3 * np.ptp(as_r.interval())
    even = Design.staged({"district": np.repeat(np.arange(15), 3), "school": np.tile(range(3), 15)})
    found = strat.estimate(strat.mean(np.arange(45.0)), on=even)
    assert found.df == pytest.approx(14)
    assert "heavy-units" not in _codes(found)


def test_degrees_of_freedom_of_a_staged_domain_are_those_of_the_units_that_it_has() -> None:
    units, schools, y = unequal_districts()
    design = Design.staged(units, **populations(schools))
    few = np.isin(units["district"], [0, 5, 6])
    part = strat.estimate(strat.domain(strat.mean(y), few), on=design)
    assert 1 <= part.df < 3
    assert strat.estimate(strat.mean(np.ones(len(y))), on=design).df == strat.estimate(strat.mean(y), on=design).df


def test_two_units_in_each_stratum_give_a_staged_design_no_more_degrees_than_the_heaviest_stratum_allows() -> None:
    rng = np.random.default_rng(2)
    stratum, district = np.repeat(np.arange(6), 4), np.repeat(np.arange(12), 2)
    units = {"district": district, "school": np.tile([0, 1], 12)}

    def df(schools: np.ndarray) -> float:
        design = Design.staged(units, strata=stratum, population={"district": 20, "school": schools})
        return float(strat.estimate(strat.mean(rng.normal(size=24)), on=design).df)

    assert df(np.full(24, 5)) == pytest.approx(6)
    assert df(np.where(stratum == 0, 5_000, 5)) == pytest.approx(1, abs=1e-3)


def populations(schools: np.ndarray) -> dict[str, Any]:
    return {"population": {"district": 200, "school": schools}}


def staged_weights(units: dict[str, Any], schools: np.ndarray) -> np.ndarray:
    """Weights that a staged sample of 15 of 200 districts, and of some schools in each, implies."""
    drawn = np.bincount(units["district"])[units["district"]]
    return np.asarray(200 / 15 * schools / drawn)
