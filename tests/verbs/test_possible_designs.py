"""What `look` asks about the design from the data alone: one line each, which runs, and silence on ordinary tables."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_look import benchmark, medical, two_systems

import strat
from strat.cli import main
from strat.datasets import clustered_predictions
from strat.datasets.example import example

Columns = dict[str, Any]


def clinics(*, icc: bool = True, seed: int = 0) -> Columns:
    """Sixty clinics of ten patients each, whose name says nothing to a program."""
    rng = np.random.default_rng(seed)
    clinic = np.repeat(np.arange(60), 10)
    chance = np.clip(0.75 + (0.2 if icc else 0.0) * rng.normal(size=60), 0, 1)[clinic]
    truth = rng.choice(["a", "b"], 600)
    other = np.where(truth == "a", "b", "a")
    return {
        "clinic": [f"c{k:02d}" for k in clinic],
        "label": truth,
        "pred": np.where(rng.random(600) < chance, truth, other),
    }


def readers() -> Columns:
    """Six readers who all read the same forty cases."""
    rng = np.random.default_rng(0)
    reader, case = (np.ravel(a) for a in np.meshgrid(np.arange(6), np.arange(40), indexing="ij"))
    score = (rng.random(240) + 0.5 * (case % 2)).round(3)
    return {"reader": [f"R{k}" for k in reader], "case": case, "truth": case % 2, "score": score}


def replicates() -> Columns:
    """A file with the weights of twenty replicates."""
    rng = np.random.default_rng(0)
    weight = rng.uniform(1, 3, 200)
    named = {f"rep_{k}": weight * rng.choice([0.0, 2.0], 200) for k in range(1, 21)}
    return {"correct": rng.integers(0, 2, 200), "w": weight, **named}


def judged() -> Columns:
    """A judge of every answer beside a person's label of one in five."""
    rng = np.random.default_rng(0)
    human = rng.integers(0, 2, 500)
    judge = np.clip(0.3 + 0.4 * human + rng.normal(0, 0.15, 500), 0, 1).round(3)
    return {"id": np.arange(500), "human": [*human[:100].tolist(), *[None] * 400], "judge": judge}


def tries() -> Columns:
    """Five tries of each of fifty tasks."""
    rng = np.random.default_rng(0)
    task = np.repeat(np.arange(50), 5)
    return {"task_id": [f"t{k}" for k in task], "passed": (rng.random(250) < rng.beta(2, 2, 50)[task]).astype(int)}


def asked(source: Any) -> list[str]:
    """The questions that come with something to try."""
    return [question for question in strat.look(source).roles.questions if "try: " in question]


def write(path: Path, columns: Columns) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


CASES = [
    (clinics, "the 60 values of 'clinic' may have been drawn", "--units clinic", "clustered: 600 rows in 60 clinics"),
    (readers, "both 'reader' and 'case' may have been drawn", "--crossed reader,case", "crossed: 240 rows in 6 levels"),
    (
        replicates,
        "the 20 columns 'rep_…' may be replicate weights",
        "--replicate-weights rep_",
        "given replicates: 200 rows, 20 replicates; 19 degrees",
    ),
    (judged, "'judge' may stand in for 'human', which 100 of 500 rows have", "--proxy judge", "two phases"),
    (tries, "the rows of one 'task_id' may be tries of it", "--items task_id --metric pass@5", "50 tasks with repeats"),
]


@pytest.mark.parametrize(("table", "question", "option", "design"), CASES)
def test_one_question_whose_line_runs_and_has_the_design(
    table: Any,
    question: str,
    option: str,
    design: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "t.csv", table())
    (one,) = asked("t.csv")
    assert one.startswith(question)
    assert f"unsure: {one}" in str(strat.look("t.csv"))
    command = one.partition("try: ")[2]
    assert option in command
    program, *words = shlex.split(command)
    assert program == "strat"
    with pytest.raises(SystemExit, match="0"):
        main(words)
    assert design in capsys.readouterr().out


@pytest.mark.parametrize(("table", "question", "option", "design"), CASES)
def test_the_same_as_a_call_in_python(table: Any, question: str, option: str, design: str) -> None:
    columns = table()
    (one,) = asked(columns)
    assert one.startswith(question)
    assert design in eval(one.partition("try: ")[2], {"strat": strat, "frame": columns}).design


def test_the_correlation_is_said_where_it_is_clear() -> None:
    (clear,), (unclear,) = asked(clinics()), asked(clinics(icc=False))
    assert "correctness is correlated within them, icc 0.17" in clear
    assert "correlated" not in unclear


def test_numbers_count_as_units_where_their_name_says_so_or_their_rows_agree() -> None:
    number = np.repeat(np.arange(60), 10)
    alike, unlike = clinics(), clinics(icc=False)
    del alike["clinic"], unlike["clinic"]
    assert "'record_id'" in asked(unlike | {"record_id": number})[0]
    assert asked(unlike | {"number": number}) == []
    assert "icc" in asked(alike | {"number": number})[0]


def test_what_holds_known_units_may_have_been_drawn_before_them() -> None:
    table = clinics()
    patient = np.repeat(np.arange(300), 2)
    (one,) = asked({**table, "patient": patient})
    assert "'clinic' may have been drawn" in one
    assert "--units" not in one
    assert one.endswith('units="clinic")')
    assert asked({**clinics(icc=False), "patient": patient}) == []


def test_strata_that_cross_the_units_are_left_out_of_the_line() -> None:
    table = {**clinics(), "site": np.tile(["north", "south"], 300)}
    (one,) = asked(table)
    assert "strata" not in one
    assert len(eval(one.partition("try: ")[2], {"strat": strat, "frame": table}).estimates)


def ordinary(seed: int) -> Columns:
    """Independent rows with what tables have beside them: a number, an age, few groups, free text, a date."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 300)
    score = np.clip(0.3 * truth + 0.7 * rng.random(300), 0, 1).round(3)
    return {
        "id": np.arange(300),
        "age": rng.integers(20, 80, 300),
        "sex": rng.choice(["f", "m"], 300),
        "region": rng.choice(list("abcde"), 300),
        "length": rng.integers(5, 500, 300),
        "comment": [f"a free text of several words, number {k}" for k in range(300)],
        "day": [f"2024-01-{1 + k % 28:02d}" for k in range(300)],
        "y_true": truth,
        "y_pred": (score > 0.5).astype(int),
        "y_prob": score,
    }


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_asked_of_ordinary_tables(seed: int) -> None:
    table = ordinary(seed)
    assert asked(table) == []
    assert asked({name: values for name, values in table.items() if name not in ("y_pred", "y_prob")}) == []
    missing = {**table, "y_true": [None if k % 40 == 0 else v for k, v in enumerate(table["y_true"].tolist())]}
    assert asked(missing) == []


def test_nothing_is_asked_of_tables_whose_names_say_it() -> None:
    """The tables of the README, of the demo, and of the tests of `look`."""
    table = clustered_predictions(units=100, per_unit=20, icc=0.2, rng=1)
    rng = np.random.default_rng(0)
    groups = {"sex": [("f", "m")[unit % 2] for unit in table["unit"]], "risk": rng.random(2000)}
    other = clustered_predictions(units=100, per_unit=20, icc=0.2, rng=1, accuracy=0.82)["predicted"]
    for one in (table, {**table, **groups}, {**table, **groups, "other": other}, example()):
        assert asked(one) == []
    for known in (medical(), benchmark(), two_systems()):
        assert asked(known) == []


def test_numbered_columns_that_are_no_weights() -> None:
    rng = np.random.default_rng(0)
    right = rng.integers(0, 2, 100)
    assert asked({"correct": right, **{f"rep_{k}": rng.integers(0, 2, 100) for k in range(20)}}) == []
    assert asked({"correct": right, **{f"x{k}": rng.random(100) for k in range(20)}}) == []
    assert asked({"correct": right, **{f"rep_{k}": rng.random(100) for k in range(4)}}) == []
