"""`strat check`: samples like one's own, with a known truth, tell intervals that hold from those that don't."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import strat
from strat import StratError
from strat.cli import main
from strat.datasets import clustered_predictions
from strat.tables.check import Line, check, sheet
from strat.tables.worlds import world

LABELS = {"truth": "truth", "predicted": "predicted"}


@pytest.fixture(scope="module")
def clustered() -> dict[str, np.ndarray]:
    return clustered_predictions(units=30, per_unit=10, accuracy=0.85, icc=0.3, rng=5)


def test_it_tells_what_holds_from_what_does_not(clustered: dict[str, np.ndarray]) -> None:
    (found,) = check(clustered, **LABELS, units="unit", metrics="accuracy", trials=400)
    assert found.holds
    assert found["rows as independent"].verdict() == "too short"
    assert found["default"].width > 1.3 * found["rows as independent"].width
    assert "it holds" in str(found)
    assert found.trials == 400


def test_independent_rows_need_no_units() -> None:
    rng = np.random.default_rng(1)
    table = {"right": (rng.random(300) < 0.8).astype(int)}
    (found,) = check(table, score="right", trials=400)
    assert found.holds
    assert found["rows as independent"].verdict() == "holds"
    assert "intraclass correlation 0.00" in found.world


def test_measures_of_labels_and_of_scores(clustered: dict[str, np.ndarray]) -> None:
    found = check(clustered, **LABELS, score="score", units="unit", metrics=["kappa", "auc"], trials=100)
    assert [one.metric for one in found] == ["kappa", "auc"]
    for one in found:
        assert 0.85 <= one["default"].coverage <= 1.0
        assert 0 < one["default"].width < 1


def test_without_an_error_the_world_still_has_some() -> None:
    table = {"y": ["a", "b"] * 30, "said": ["a", "b"] * 30}
    (found,) = check(table, truth="y", predicted="said", metrics="accuracy", trials=200)
    assert found["default"].coverage > 0.9
    assert found["t"].useless == 0  # at the edge every method is exact
    assert any("few errors" in note for note in found.notes)


def test_weights_without_an_error() -> None:
    rng = np.random.default_rng(3)
    table = {"right": np.ones(60), "w": np.exp(1.5 * rng.normal(size=60))}
    (found,) = check(table, score="right", weights="w", trials=100)
    assert found["default"].useless == 0
    assert [line.method for line in found.lines][:4] == ["default", "t", "wilson", "exact"]


def test_few_and_unequal_units_are_named() -> None:
    unit = np.repeat(np.arange(6), [1, 1, 1, 1, 1, 95])
    rng = np.random.default_rng(2)
    (found,) = check({"u": unit, "s": rng.normal(size=100)}, score="s", units="u", trials=100)
    assert any("few units: with 5 degrees of freedom" in note for note in found.notes)
    assert any("unequal units: 6 of them are worth 1" in note for note in found.notes)


def test_the_world_keeps_the_rate_and_the_likeness_of_units() -> None:
    t = clustered_predictions(units=400, per_unit=10, accuracy=0.8, icc=0.3, classes=3, rng=1)
    design = strat.Design.clustered(units=t["unit"])
    made = world({"truth": t["truth"], "predicted": t["predicted"], "positive": None}, design)
    rng = np.random.default_rng(0)
    drawn = [made.draw(rng) for _ in range(20)]
    right = np.array([(d["truth"] == d["predicted"]).astype(float) for d in drawn])
    assert right.mean() == pytest.approx((t["truth"] == t["predicted"]).mean(), abs=0.01)
    icc = np.mean([strat.intraclass_correlation(r, t["unit"]) for r in right])
    assert icc == pytest.approx(strat.intraclass_correlation((t["truth"] == t["predicted"]) * 1.0, t["unit"]), abs=0.03)
    assert made.expected is not None
    columns, mass = made.expected
    assert float(strat.accuracy(columns["truth"], columns["predicted"]).value(mass)) == pytest.approx(
        right.mean(), abs=0.01
    )


def test_same_seed_same_answer_and_other_seed_another(clustered: dict[str, np.ndarray]) -> None:
    asked = {**LABELS, "units": "unit", "metrics": "accuracy", "trials": 60}
    first, second, third = (check(clustered, **asked, rng=seed)[0] for seed in (1, 1, 2))
    assert first.lines == second.lines
    assert first.lines != third.lines


def test_verdicts() -> None:
    assert Line("x", 0.90, 0.01, 0.1, 0.0).verdict() == "too short"
    assert Line("x", 0.93, 0.01, 0.1, 0.0).verdict() == "holds"
    assert Line("x", 0.99, 0.005, 0.1, 0.0).verdict() == "too wide"
    assert Line("x", 0.90, 0.01, 0.1, 0.0).verdict(0.9) == "holds"


def test_strata_weights_and_items(clustered: dict[str, np.ndarray]) -> None:
    table = {**clustered, "fold": clustered["unit"] // 10, "w": 1.0 + clustered["unit"] % 3}
    (found,) = check(table, **LABELS, strata="fold", items="unit", weights="w", metrics="macro_f1", trials=60)
    assert "30 units in 3 strata of 10" in found.design
    assert sheet([found]).schema == "strat/check/1"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trials": 3}, "`trials` must be a whole number of at least 50, got 3"),
        ({"level": 2.0}, "`level` must be between 0 and 1, got 2.0"),
        ({"rng": -1}, "`rng` must be a seed of 0 or more, got -1"),
        ({"units": "gone"}, "`units` must name a column"),
        ({"weights": "predicted"}, "`weights` must name a column of numbers, got text in 'predicted'"),
    ],
)
def test_errors_say_what_to_do(options: dict[str, object], message: str) -> None:
    table = {"truth": ["a", "b", "a"], "predicted": ["a", "b", "b"]}
    with pytest.raises(StratError, match=message):
        check(table, **LABELS, **options)  # type: ignore[arg-type]


def test_an_unknown_method_is_named(clustered: dict[str, np.ndarray]) -> None:
    (found,) = check(clustered, **LABELS, metrics="accuracy", trials=50)
    with pytest.raises(StratError, match="`method` must be one of"):
        found["magic"]


def test_the_command(clustered: dict[str, np.ndarray], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answers.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(clustered)
        writer.writerows(zip(*clustered.values(), strict=True))
    asked = ["check", str(path), "--truth", "truth", "--predicted", "predicted", "--units", "unit", "--trials", "60"]
    with pytest.raises(SystemExit) as done:
        main([*asked, "--metric", "accuracy", "--json"])
    assert done.value.code == 0
    data = json.loads(capsys.readouterr().out)
    assert data["schema"] == "strat/check/1"
    assert data["measures"][0]["intervals"][0]["method"] == "default"
    with pytest.raises(SystemExit) as done:
        main([*asked, "--metric", "nonsense"])
    assert done.value.code == 1
    assert "`metrics` must be names of measures" in capsys.readouterr().err
