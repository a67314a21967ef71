"""Crossed, blocked, ordered and staged designs in `evaluate`, `compare`, `check`, `plan` and the commands."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import strat
from strat import Design, StratError, comparison, planning
from strat.base.notes import codes_of
from strat.cli import main
from strat.designs.facts import DesignFacts, LayoutFacts
from strat.show.report import explain
from strat.verbs.check import check
from strat.verbs.check_result import sheet
from strat.verbs.components import components_of
from strat.verbs.simulate_layouts import blocks_simulator, ordered_simulator
from strat.verbs.simulate_stages import staged_simulator

N = 60


@pytest.fixture(scope="module")
def line() -> dict[str, np.ndarray]:
    """Every 20th of 1,200, from the fifth on, of values on a straight line with some noise; the step of a unit is 1."""
    rng = np.random.default_rng(5)
    place = 5 + 20 * np.arange(N)
    noise = rng.normal(size=N)
    return {
        "place": place,
        "y": place + noise,
        "z": place + noise + rng.normal(0.5, 0.1, N),
        "half": np.repeat([0, 1], N // 2),
        "first": np.repeat([5, 5], N // 2),
    }


@pytest.fixture(scope="module")
def schools() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(6)
    district, school = np.divmod(np.arange(120), 6)
    score = 10 + rng.normal(size=20)[district] + rng.normal(size=120)
    more = {"districts": np.full(120, 40), "schools": np.full(120, 12)}
    return {"district": district, "school": school, "y": score, "z": score + rng.normal(0.2, 0.1, 120), **more}


def _written(path: Path, table: dict[str, Any]) -> str:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    return str(path)


def _run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as done:
        main(list(arguments))
    return int(done.value.code or 0)


def test_a_start_reaches_the_design(line: dict[str, np.ndarray]) -> None:
    """The population's mean place is 600.5; the sample, which starts at 5 of 20, has 595."""
    plain, corrected = (
        strat.evaluate(line, score="y", design=strat.Sampling(order="place", population=1200, start=start))["mean"]
        for start in (None, 5)
    )
    by_hand = strat.estimate(strat.mean(line["y"]), on=Design.systematic(order=line["place"], population=1200, start=5))
    assert float(corrected.value) == pytest.approx(float(by_hand.value), rel=1e-12)
    assert float(corrected.se) == pytest.approx(float(by_hand.se), rel=1e-12)
    assert abs(float(corrected.value) - 600.5) < 1.0 < abs(float(plain.value) - 600.5)
    assert "trend" in codes_of(plain.notes)
    assert not corrected.notes


@pytest.mark.parametrize("start", ["first", {0: 5, 1: 5}, 5])
def test_a_start_of_each_stratum(line: dict[str, np.ndarray], start: Any) -> None:
    one = strat.evaluate(
        line, score="y", design=strat.Sampling(order="place", strata="half", population=600, start=start)
    )["mean"]
    by_hand = Design.systematic(order=line["place"], strata=line["half"], population=600, start={0: 5, 1: 5})
    assert float(one.se) == pytest.approx(float(strat.estimate(strat.mean(line["y"]), on=by_hand).se), rel=1e-12)


def test_differences_reach_the_design(line: dict[str, np.ndarray]) -> None:
    for differences in (1, 2, 3):
        asked: dict[str, Any] = {"population": 1200, "start": 5, "differences": differences}
        one = strat.evaluate(line, score="y", design=strat.Sampling(order="place", **asked))["mean"]
        own = strat.estimate(strat.mean(line["y"]), on=Design.systematic(order=line["place"], **asked))
        assert float(one.se) == pytest.approx(float(own.se), rel=1e-12)
        assert float(one.df) == pytest.approx(float(own.df))


def test_systems_along_an_order_and_in_stages(line: dict[str, np.ndarray], schools: dict[str, np.ndarray]) -> None:
    along = strat.compare(
        line, score=["y", "z"], design=strat.Sampling(order="place", strata="half", population=600, start="first")
    )
    design = Design.systematic(order=line["place"], strata=line["half"], population=600, start={0: 5, 1: 5})
    difference = strat.estimate(strat.mean(line["z"] - line["y"]), on=design)
    assert float(along.difference("z", "y").se) == pytest.approx(float(difference.se), rel=1e-6)
    staged = strat.compare(
        schools,
        score=["y", "z"],
        design=strat.Sampling(stages=["district", "school"], population=["districts", "schools"]),
    )
    population = {"district": 40, "school": 12}
    by_hand = Design.staged({name: schools[name] for name in population}, population=population)
    gap = strat.estimate(strat.mean(schools["z"] - schools["y"]), on=by_hand)
    assert float(staged.difference("z", "y").se) == pytest.approx(float(gap.se), rel=1e-6)


def test_degrees_of_freedom_by_name(schools: dict[str, np.ndarray]) -> None:
    table = {**schools, "w": 1.0 + 200.0 * (schools["district"] == 0)}
    found = {
        df: float(strat.evaluate(table, score="y", units="district", weights="w", df=df)["mean"].df)
        for df in ("design", "effective", None)
    }
    assert found["design"] == 19
    assert found["effective"] < 3
    assert found[None] < 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": 5}, "`start` must go with `order`"),
        ({"differences": 2}, "`differences` must go with `order`"),
        ({"order": "place", "start": 5}, "`start` must come with `population`"),
        (
            {"order": "place", "population": 1200, "start": 21},
            r"`start` must be from 1 to the step of the sample \(20\)",
        ),
        ({"order": "place", "population": 1200, "start": "place"}, "`start` must be one number without strata"),
        ({"crossed": "half"}, "`crossed` must name two to 4 columns, got 1"),
    ],
)
def test_what_is_refused(line: dict[str, np.ndarray], options: dict[str, Any], message: str) -> None:
    with pytest.raises(StratError, match=message):
        strat.evaluate(line, score="y", design=strat.Sampling(**options))
    with pytest.raises(StratError, match=message):
        strat.compare(line, score=["y", "z"], design=strat.Sampling(**options))
    with pytest.raises(StratError, match=message):
        check(line, score="y", trials=50, design=strat.Sampling(**options))


def test_degrees_of_freedom_are_refused_where_they_would_be_ignored(schools: dict[str, np.ndarray]) -> None:
    with pytest.raises(StratError, match="`df` must be left out beside `by`"):
        strat.evaluate(schools, score="y", by="district", df="design")
    with pytest.raises(StratError, match="`df` must be one of 'design', 'effective', 'satterthwaite', got 'few'"):
        strat.evaluate(schools, score="y", df="few")


def test_strata_of_one_unit_are_joined_by_a_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Labels alternate between small and large strata: by size, like is joined with like."""
    rng = np.random.default_rng(12)
    size = np.where(np.arange(40) % 2, 100.0, 1.0) + rng.random(40)
    table = {"y": size + 0.1 * rng.normal(size=40), "h": np.arange(40), "size": size}
    by_label, by_size = (
        strat.evaluate(table, score="y", design=strat.Sampling(strata="h", lone="collapse", collapse_by=by))["mean"]
        for by in (None, "size")
    )
    assert float(by_size.se) < 0.02 * float(by_label.se)
    design = Design.stratified(strata=table["h"], lone="certainty").collapsed(
        by=dict(zip(range(40), size, strict=True))
    )
    assert float(by_size.se) == pytest.approx(float(strat.estimate(strat.mean(table["y"]), on=design).se), rel=1e-9)
    with pytest.raises(StratError, match="`collapse_by` must go with lone='collapse', got 'size' without"):
        strat.Sampling(strata="h", collapse_by="size")
    with pytest.raises(StratError, match="`collapse_by` must go with `strata`, got 'size' without"):
        strat.evaluate(table, score="y", design=strat.Sampling(lone="collapse", collapse_by="size"))
    with pytest.raises(StratError, match="`collapse_by` must name a column of numbers, got text in 'name'"):
        strat.evaluate(
            {**table, "name": ["a"] * 40},
            score="y",
            design=strat.Sampling(strata="h", lone="collapse", collapse_by="name"),
        )
    file = _written(tmp_path / "t.csv", table)
    assert _run("evaluate", file, "--score", "y", "--strata", "h", "--lone", "collapse", "--collapse-by", "size") == 0
    assert f"{float(by_size.se):.4f}" in capsys.readouterr().out


# ---- check


def _means(source: Any, statistic: Any, number: int = 300) -> tuple[np.ndarray, np.ndarray, float]:
    """Means and standard errors of samples, and the true value."""
    rng = np.random.default_rng(7)
    samples = [source.draw(rng) for _ in range(number)]
    each = [strat.estimate(statistic(columns["score"]), on=design) for columns, design in samples]
    columns, mass = source.expected()
    truth = float(mass @ columns["score"] / mass.sum())
    return np.array([float(e.value) for e in each]), np.array([float(e.se) for e in each]), truth


def test_samples_along_an_order_vary_as_a_drift_lets_them() -> None:
    """On a line without noise the mean moves evenly by a step, which the estimate's standard error holds."""
    values = np.arange(100.0)
    design = Design.systematic(order=np.arange(100))
    means, errors, truth = _means(ordered_simulator({"score": values}, design, "a straight line"), strat.mean)
    assert truth == pytest.approx(49.5, abs=0.05)
    assert means.std() == pytest.approx(np.sqrt(1 / 12), rel=0.1)
    assert errors.mean() == pytest.approx(np.sqrt(1 / 12), rel=0.1)
    known = ordered_simulator(
        {"score": values}, Design.systematic(order=np.arange(100), population=2000), "a straight line", corrected=True
    )
    assert np.ptp(_means(known, strat.mean, 50)[0]) < 0.01  # a start that is known takes the line out


def test_samples_of_blocks_keep_units_and_kinds() -> None:
    rng = np.random.default_rng(8)
    unit, kind = np.divmod(np.arange(300), 3)
    score = 5.0 * kind + 3.0 * rng.normal(size=100)[unit] + rng.normal(size=300)
    design = Design.blocks(unit, kind)
    means, errors, truth = _means(blocks_simulator({"score": score}, design, ""), strat.mean)
    assert means.mean() == pytest.approx(truth, abs=0.02)
    assert means.std() == pytest.approx(1 / np.sqrt(300), rel=0.15)  # the noise alone
    assert errors.mean() == pytest.approx(1 / np.sqrt(300), rel=0.15)


def test_samples_in_stages_vary_as_finite_populations_let_them(schools: dict[str, np.ndarray]) -> None:
    stages = {name: schools[name] for name in ("district", "school")}
    for population in ({"district": 40, "school": 12}, {"district": 20, "school": 12}, {}):
        design = Design.staged(stages, population=population)
        means, errors, truth = _means(staged_simulator({"score": schools["y"]}, design, "as estimated"), strat.mean)
        assert means.mean() == pytest.approx(truth, abs=4 * means.std() / np.sqrt(300))
        assert means.std() == pytest.approx(np.sqrt((errors**2).mean()), rel=0.15)
    census = Design.staged(stages, population={"district": 20, "school": 6})
    means, errors, truth = _means(staged_simulator({"score": schools["y"]}, census, "as estimated"), strat.mean, 5)
    assert np.allclose(means, truth)
    assert not errors.any()


@pytest.mark.parametrize(
    ("options", "shapes"),
    [
        ({"order": "row"}, 3),
        ({"units": "district", "kinds": "school"}, 1),
        ({"stages": ["district", "school"], "population": ["districts", "schools"]}, 2),
    ],
)
@pytest.mark.parametrize("what", ["score", "labels"])
def test_every_design_is_checked(
    schools: dict[str, np.ndarray], options: dict[str, Any], shapes: int, what: str
) -> None:
    truth = np.where(schools["school"] % 2, "b", "a")
    guess = np.where(schools["y"] > 9.5, truth, "a")
    table = {**schools, "row": np.arange(120), "truth": truth, "guess": guess}
    roles: dict[str, Any] = (
        {"score": "y"} if what == "score" else {"truth": "truth", "predicted": "guess", "metrics": "macro_f1"}
    )
    (one,) = check(table, **roles, design=strat.Sampling(**options), trials=60)
    assert len(one.shapes) == shapes
    assert one["default"].coverage > 0.8
    assert str(one) in str(sheet([one]))


def test_a_population_too_large_to_be_made_is_refused(schools: dict[str, np.ndarray]) -> None:
    table = {**schools, "districts": np.full(120, 10_000_000)}
    with pytest.raises(StratError, match="`population` must make at most 2,000,000 rows in all"):
        check(
            table,
            score="y",
            trials=50,
            design=strat.Sampling(stages=["district", "school"], population=["districts", "schools"]),
        )
    with pytest.raises(StratError, match="`population` must go with `stages` or `order`"):
        check(table, score="y", trials=50, design=strat.Sampling(population=1000))


# ---- plans


def test_levels_for_a_width_are_those_of_the_components() -> None:
    """The width at the planned levels is the wanted one, and one level fewer is too wide."""
    rng = np.random.default_rng(9)
    judge, item = np.divmod(np.arange(600), 60)
    score = 0.6 * rng.normal(size=10)[judge] + rng.normal(size=60)[item] + rng.normal(size=600)
    design = Design.crossed({"judge": judge, "item": item})
    parts = strat.variance_components(strat.mean(score), on=design)
    one = strat.estimate(strat.mean(score), on=design)
    low, high = one.interval()
    assert parts.interval_width() == pytest.approx(high - low, rel=1e-6)  # as many levels as now
    plan = planning.levels_for_width(parts, width=0.6)
    number = plan.alone["judge"]
    assert number is not None
    assert parts.interval_width(judge=number) <= 0.6 < parts.interval_width(judge=number - 1)
    assert parts.interval_width(**plan.together) <= 0.6
    narrow = planning.levels_for_width(parts, width=0.1)
    assert narrow.alone == {"judge": None, "item": None}
    assert min(narrow.limits.values()) > 0.1
    assert "never reach it" in str(narrow)
    assert f"{number} levels of 'judge'" in str(plan)


def test_pilots_count_what_was_drawn(schools: dict[str, np.ndarray]) -> None:
    staged = strat.evaluate(schools, score="y", design=strat.Sampling(stages=["district", "school"]))["mean"]
    clustered = strat.evaluate(schools, score="y", units="district")["mean"]
    plans = [comparison.units_for(one, width=0.5) for one in (staged, clustered)]
    assert plans[0].units == plans[1].units
    assert plans[0].rows == plans[1].rows
    crossed = strat.evaluate(schools, score="y", design=strat.Sampling(crossed=["district", "school"]))["mean"]
    with pytest.raises(StratError, match="levels_for_width"):
        comparison.units_for(crossed, width=0.5)


def test_components_of_a_table_are_those_of_its_design() -> None:
    rng = np.random.default_rng(10)
    judge, item = np.divmod(np.arange(200), 20)
    table = {"judge": judge, "item": item, "right": (rng.random(200) < 0.7).astype(int), "truth": item % 2}
    parts = components_of(table, score="right", crossed=["judge", "item"])
    own = strat.variance_components(strat.mean(table["right"]), on=Design.crossed({"judge": judge, "item": item}))
    assert parts.variances == pytest.approx(own.variances)
    table["guess"] = np.where(table["right"], table["truth"], 1 - table["truth"])
    labels = components_of(table, truth="truth", predicted="guess", crossed="judge,item", metric="accuracy")
    assert labels.variances == pytest.approx(own.variances)


# ---- the commands


def test_the_commands_take_every_design(
    line: dict[str, np.ndarray], schools: dict[str, np.ndarray], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    along, staged = _written(tmp_path / "line.csv", line), _written(tmp_path / "schools.csv", schools)
    order = ["--order", "place", "--strata", "half", "--population", "600", "--start", "first"]
    stages = ["--stages", "district,school", "--population", "districts,schools"]
    assert _run("evaluate", along, "--score", "y", *order, "--json") == 0
    value = json.loads(capsys.readouterr().out)["measures"][0]["estimate"]
    own = strat.evaluate(
        line, score="y", design=strat.Sampling(order="place", strata="half", population=600, start="first")
    )["mean"]
    assert value == pytest.approx(float(own.value))
    assert _run("compare", staged, "--score", "y", "--score", "z", *stages) == 0
    assert "in 2 stages" in capsys.readouterr().out
    assert _run("compare", along, "--score", "y", "--score", "z", *order) == 0
    assert _run("check", staged, "--score", "y", *stages, "--trials", "50") == 0
    assert "variance components" in capsys.readouterr().out
    assert _run("plan", "pilot", staged, "--score", "y", *stages, "--width", "0.5") == 0
    assert "like the 20 of the pilot" in capsys.readouterr().out
    assert _run("evaluate", staged, "--score", "y", "--units", "district", "--df", "design") == 0
    capsys.readouterr()
    assert _run("plan", "levels", staged, "--score", "y", "--crossed", "district,school", "--width", "1", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert set(data["shares"]) == {"district", "school", "district × school"}
    assert data["plan"]["width"] == 1
    assert _run("plan", "levels", staged, "--score", "y", "--crossed", "district") == 1
    assert "`--crossed` must name two to 4 columns, got 1" in capsys.readouterr().err


def _replicated(rows: int = 60, replicates: int = 16) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    weight = rng.uniform(1, 3, rows)
    named = {f"rep{k}": weight * rng.choice([0.0, 2.0], rows) for k in range(1, replicates + 1)}
    return {"good": rng.integers(0, 2, rows), "w": weight, **named}


@pytest.mark.parametrize("replicates", [4, 16, 100])
def test_given_replicates_are_the_design_that_is_named(replicates: int) -> None:
    """Nothing else is known of how rows were drawn: the number of replicates and their degrees of freedom are said."""
    sampling = strat.Sampling(weights="w", replicate_weights="rep", scale=1 / replicates)
    result = strat.evaluate(_replicated(replicates=replicates), score="good", design=sampling)
    df = result["mean"].df
    assert result.design == f"given replicates: 60 rows, {replicates} replicates; {df:g} degrees of freedom"
    assert str(result["mean"].design) == result.design
    assert result.target == "the population that the weights stand for"
    assert "drawn on its own" not in explain(result)


def test_replicates_of_a_design_that_is_known_keep_it() -> None:
    design = strat.Design.clustered(units=np.arange(20) // 2)
    known = strat.estimate(strat.mean(np.arange(20.0)), on=strat.jackknife(design))
    assert str(known.design) == str(design)
    factors = np.where(np.eye(10) > 0, 0.0, 10 / 9)
    assert str(strat.estimate(strat.mean(np.arange(20.0)), on=strat.given(design, factors, scale=0.9)).design) == str(
        design
    )


def test_other_degrees_of_freedom_than_the_layout_has_are_explained() -> None:
    rng = np.random.default_rng(0)
    judge, item = (axis.ravel() for axis in np.meshgrid(range(6), range(20), indexing="ij"))
    table = {"judge": judge, "item": item, "good": (rng.random(120) < 0.5 + 0.08 * (judge % 4)).astype(float)}
    result = strat.evaluate(table, score="good", design=strat.Sampling(crossed=["judge", "item"]))
    assert f"{result['mean'].df:.4g}" != "5"
    assert result.design.endswith("; 5 degrees of freedom")
    line = "df: each value's own, by Satterthwaite's formula; the design has nominally 5."
    assert line in result.sheet().notes
    plain = strat.evaluate(table, score="good", units="judge")
    assert not any(note.startswith("df:") for note in plain.sheet().notes)


def test_one_value_with_other_degrees_of_freedom_is_enough() -> None:
    """Of three values the first has those of the design: the others are explained."""
    layout = LayoutFacts((("reader", 6), ("case", 40)), "6 levels of 'reader' × 40 levels of 'case'", "")
    facts = DesignFacts("crossed", rows=240, units=240, drawn=240, df=5, layout=layout)
    assert facts.about_df([5, 5, 5]) is None
    assert facts.about_df([5, 4.3, 5]) == facts.about_df([4.3])


@pytest.mark.parametrize(
    ("sampling", "words"),
    [
        (strat.Sampling(crossed=["judge", "item"]), "the levels of every factor were drawn independently"),
        (strat.Sampling(units="judge", kinds="item"), "the kinds under which each was seen are fixed"),
        (strat.Sampling(stages=["judge", "item"]), "units were drawn at random at every stage"),
    ],
)
def test_every_layout_says_what_was_assumed(sampling: strat.Sampling, words: str) -> None:
    rng = np.random.default_rng(0)
    judge, item = (axis.ravel() for axis in np.meshgrid(range(6), range(4), indexing="ij"))
    table = {"judge": judge, "item": item, "good": rng.integers(0, 2, 24)}
    assert words in explain(strat.evaluate(table, score="good", design=sampling))
