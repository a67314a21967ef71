"""Drawn samples: allocation, weights, the harnesses' forms, and an interval that covers the whole benchmark."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strat
from binomial_limits import coverage_limits
from strat import StratError
from strat.cli import main
from strat.designs.sampling import Sampling
from strat.verbs import evaluate, sample
from strat.verbs.sample import allocate


@given(
    st.lists(st.integers(2, 300), min_size=1, max_size=12),
    st.floats(0, 1),
    st.sampled_from(["proportional", "equal", "neyman"]),
    st.integers(0, 99),
)
def test_allocation_is_whole_and_within_its_limits(totals: list[int], share: float, method: str, seed: int) -> None:
    sizes = np.array(totals)
    size = int(2 * len(sizes) + share * (sizes.sum() - 2 * len(sizes)))
    spread = np.random.default_rng(seed).random(len(sizes))
    made = allocate(sizes, size, method=method, spread=spread)
    assert made.sum() == size
    assert (made >= 2).all()
    assert (made <= sizes).all()


def test_neyman_follows_size_times_spread() -> None:
    assert allocate(np.array([100, 100, 400]), 60, method="neyman", spread=np.array([0.4, 0.2, 0.1])).tolist() == [
        24,
        12,
        24,
    ]
    full = allocate(np.array([4, 100]), 50, method="neyman", spread=np.array([9.0, 0.1]))
    assert full.tolist() == [4, 46]  # never more than there are; the rest goes on


def _benchmark(rng: np.random.Generator) -> dict[str, Any]:
    passage = np.repeat(np.arange(300), 5)
    task = np.array(["a", "b", "c"])[np.digitize(passage, [150, 240])]
    level = {"a": 0.5, "b": 1.2, "c": -0.4}
    p = 1 / (1 + np.exp(-np.array([level[t] for t in task]) - rng.normal(0, 1, 300)[passage]))
    return {"id": np.arange(1500), "task": task, "passage": passage, "right": (rng.random(1500) < p).astype(float)}


@pytest.mark.parametrize(
    ("asked", "size"),
    [
        ({"strata": "task"}, 150),
        pytest.param({"strata": "task", "method": "equal"}, 150, marks=pytest.mark.slow),
        ({"strata": "task", "units": "passage"}, 60),
        pytest.param(
            {"strata": "task", "units": "passage", "method": "neyman", "spread": {"a": 2.0, "b": 1.0, "c": 1.0}},
            60,
            marks=pytest.mark.slow,
        ),
        ({"method": "simple"}, 150),
        ({"strata": "task", "method": "systematic"}, 150),
    ],
)
@pytest.mark.parametrize("samples", [100, pytest.param(300, marks=pytest.mark.slow)])
def test_the_interval_covers_the_whole_benchmark(asked: dict[str, Any], size: int, samples: int) -> None:
    whole = _benchmark(np.random.default_rng(11))
    truth = whole["right"].mean()
    inside = 0
    for seed in range(samples):
        drawn = sample(whole, size=size, items="id", seed=seed, **asked)
        part = {**drawn.columns(), "right": whole["right"][drawn.row]}
        roles = {"strata": "stratum" if "stratum" in part else None, "units": "unit" if "unit" in part else None}
        design = Sampling(**roles, weights="weight", population="population")
        found = evaluate(part, score="right", design=design)
        low, high = found.interval("mean")
        inside += low <= truth <= high
    least, most = coverage_limits(samples, 0.92, 0.985)
    assert least <= inside / samples <= most


def test_weights_add_up_to_the_whole() -> None:
    whole = _benchmark(np.random.default_rng(1))
    drawn = sample(whole, size=150, items="id", strata="task", seed=3)
    assert drawn.weight.sum() == pytest.approx(1500)
    again = sample(whole, size=150, items="id", strata="task", seed=3)
    assert np.array_equal(drawn.item, again.item)
    other = sample(whole, size=150, items="id", strata="task", seed=4)
    assert not np.array_equal(drawn.item, other.item)
    units = sample(whole, size=30, items="id", strata="task", units="passage")
    assert len(units) == 150  # whole passages
    assert set(units.population.tolist()) == {150.0, 90.0, 60.0}


def test_forms_of_the_harnesses() -> None:
    whole = {"doc": [f"t{i % 2}/{i // 2}" for i in range(20)], "task": [f"t{i % 2}" for i in range(20)]}
    drawn = sample(whole, size=6, items="doc", strata="task")
    chosen = json.loads(drawn.to_lm_eval())
    assert {task: len(ids) for task, ids in chosen.items()} == {"t0": 3, "t1": 3}
    assert all(0 <= i < 10 for ids in chosen.values() for i in ids)
    assert drawn.to_inspect() == ",".join(drawn.item.tolist())
    assert drawn.to_csv().splitlines()[0] == "item,stratum,weight,population,row,doc,task"
    assert "6 of 20 items in 2 strata, proportional allocation, seed 0" in str(drawn)
    with pytest.raises(StratError, match="must be document numbers"):
        sample({"id": ["x", "y", "z"]}, size=2, items="id").to_lm_eval()
    with pytest.raises(StratError, match="must hold no comma"):
        sample({"id": ["x,1", "y,2"]}, size=2, items="id").to_inspect()


def test_wrong_questions() -> None:
    whole = {"id": list(range(10)), "task": ["a"] * 5 + ["b"] * 5, "twice": [1] * 10}
    for asked, message in (
        ({"size": 0}, "`size` must be a whole number"),
        ({"size": 11}, "`size` must be at most the number of units there are"),
        ({"size": 3, "strata": "task"}, "`size` must be at least 4"),
        ({"size": 4, "strata": "taks"}, "did you mean 'task'"),
        ({"size": 4, "strata": "task", "method": "neyman"}, "`spread` must be given"),
        (
            {"size": 4, "strata": "task", "method": "neyman", "spread": {"a": 1}},
            "`spread` must name every stratum, 'b'",
        ),
        ({"size": 4, "strata": "task", "method": "neyman", "spread": {"a": 1, "b": -1}}, "`spread` must be finite"),
        ({"size": 4, "items": "twice"}, "`items` must name each row once, got 1 again"),
        ({"size": 4, "method": "lucky"}, "`method` must be one of"),
    ):
        with pytest.raises(StratError, match=message):
            sample(whole, **asked)  # type: ignore[arg-type]


def test_a_judges_scores_can_be_cut_by_dalenius_and_hodges() -> None:
    scores = np.random.default_rng(0).beta(0.5, 3, size=400).round(3)
    table = {"id": range(400), "j": scores}
    drawn = sample(table, size=40, items="id", judge="j", bins=4, cut="dalenius-hodges")
    even = sample(table, size=40, items="id", judge="j", bins=4)
    assert drawn.weight.sum() == pytest.approx(400)
    assert np.ptp(drawn.population) > 100 > np.ptp(even.population)  # a long tail: few rows in the last strata
    with pytest.raises(StratError, match="`cut` must be left out without `judge`"):
        sample(table, size=40, items="id", cut="dalenius-hodges")


def _items(seed: int = 2) -> dict[str, Any]:
    """A benchmark with columns of its own, one of them called as the sample calls its weights, one with gaps."""
    rng = np.random.default_rng(seed)
    return {
        "id": np.arange(1000),
        "task": np.repeat(["algebra", "law", "virology"], [600, 300, 100]),
        "passage": np.concatenate([np.arange(600), np.arange(300), np.arange(100)]) // 4,
        "correct": (rng.random(1000) < 0.7).astype(int),
        "weight": rng.random(1000),
        "comment": [None if k % 7 == 0 else f"text {k}" for k in range(1000)],
        "judge": rng.random(1000).round(3),
    }


@pytest.mark.parametrize(
    ("asked", "design"),
    [
        ({"strata": "task"}, "stratified: 120 rows in 120 units in 3 strata of 12 to 72; 117 degrees"),
        ({"units": "passage"}, "clustered: "),
        ({"strata": "task", "units": "passage"}, "stratified clusters: 480 rows in 120 units in 3 strata"),
        ({"strata": "task", "method": "systematic"}, "systematic: 120 rows in 120 units in 3 strata"),
        ({"method": "simple"}, "simple random: 120 rows in 120 units; 119 degrees"),
        ({"judge": "judge", "method": "neyman"}, "stratified: 120 rows in 120 units in 5 strata"),
        ({"judge": "judge", "method": "unequal"}, "simple random: 120 rows in 120 units; 119 degrees"),
        ({"strata": "task", "size": 8, "least": 1}, "stratified: 8 rows in 8 units in 2 strata"),
    ],
)
def test_the_line_that_is_printed_analyses_the_sample_as_it_was_drawn(
    asked: dict[str, Any],
    design: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = _items()
    pd.DataFrame(whole).to_csv("items.csv", index=False)
    options = [word for name, value in ({"size": 120} | asked).items() for word in (f"--{name}", str(value))]
    with pytest.raises(SystemExit, match="0"):
        main(["sample", "items.csv", "--items", "id", *options, "--output", "drawn.csv"])
    *_, line = capsys.readouterr().out.splitlines()
    program, *words = shlex.split(line)
    assert program == "strat"
    with pytest.raises(SystemExit, match="0"):
        main([*words, "--json"])
    result = json.loads(capsys.readouterr().out)
    assert result["design"].startswith(design)
    file = pd.read_csv("drawn.csv")
    mean = np.average(file["correct"], weights=file["drawn_weight"])
    assert result["measures"][0]["estimate"] == pytest.approx(mean)
    assert "(finitely many)" in result["target"] or "systematic" in design or "collapse" in line


def test_a_sample_keeps_the_columns_of_the_table() -> None:
    whole = _items()
    drawn = sample(whole, size=120, items="id", strata="task", units="passage")
    columns = drawn.to_dict()
    assert list(columns) == ["item", "stratum", "unit", "drawn_weight", "population", "row", *whole]
    for name, values in whole.items():
        assert columns[name] == np.asarray(values, object)[drawn.row].tolist()
    assert columns["stratum"] == columns["task"]
    own = sample({"item": whole["id"], "stratum": whole["task"]}, size=9, items="item", strata="stratum")
    assert list(own.to_dict()) == ["item", "stratum", "weight", "population", "row"]


def test_how_to_analyse_is_a_call_that_runs() -> None:
    drawn = sample(_items(), size=120, items="id", strata="task", units="passage")
    result = eval(drawn.analysis().call, {"strat": strat, "frame": drawn.columns()})
    assert result.design.startswith("stratified clusters: 480 rows in 120 units in 3 strata of 12 to 72")
    assert drawn.analysis().call in drawn.notes[0]
    assert drawn.analysis("d.csv").command.endswith("--population population --nested")
    bare = sample({"id": np.arange(50)}, size=5, items="id")
    assert bare.analysis("d.csv").command == (
        "strat evaluate d.csv --score COLUMN --weights weight --population population"
    )


def test_nothing_is_printed_where_the_file_is_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "items.csv"
    pd.DataFrame({"id": np.arange(50), "task": ["law"] * 50}).to_csv(path, index=False)
    for words in (["--format", "lm-eval", "-o", tmp_path / "ids.json"], ["-q", "-o", tmp_path / "d.csv"]):
        with pytest.raises(SystemExit, match="0"):
            main(["sample", str(path), "--size", "5", "--items", "id", "--strata", "task", *map(str, words)])
        assert capsys.readouterr().out == ""
