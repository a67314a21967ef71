"""`strat plan` prints a table, JSON with a schema, a picture, and one line when it can't."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import strat
from strat.cli import main

CALLS = [
    ["width", "--width", "0.04", "--proportion", "0.9"],
    ["width", "--width", "0.5", "--deviation", "1"],
    ["power", "--difference", "0.02", "--disagreement", "0.1"],
    ["power", "--rows", "1000", "--disagreement", "0.1"],
    ["power", "--null", "0.5", "--alternative", "0.55"],
    ["units", "--width", "0.1", "--proportion", "0.8", "--rows-per-unit", "20", "--intraclass", "0.3"],
    ["units", "--width", "0.2", "--proportion", "0.8", "--units", "50", "--intraclass", "0.1"],
    ["width", "--width", "0.04", "--proportion", "0.8", "--metric", "specificity", "--prevalence", "0.1"],
    ["width", "--width", "0.04", "--proportion", "0.8", "--metric", "auc", "--prevalence", "0.1"],
    ["width", "--width", "0.04", "--proportion", "0.8", "--metric", "ppv", "--share", "0.1"],
    ["pilot", "--se", "0.03", "--units", "700", "--width", "0.04"],
    ["pilot", "--se", "0.03", "--units", "700", "--difference", "0.04"],
    ["strata", "--width", "0.1", "--deviation", "0.2"],
    ["repeats", "--width", "0.1", "--items", "400", "--between", "0.4", "--within", "0.4"],
    ["allocation", "--sizes", "500,300", "--deviations", "0.5,0.3", "--total", "50"],
    ["allocation", "--sizes", "500,300", "--deviations", "0.5,0.3", "--costs", "1,2", "--budget", "60"],
    ["finite", "--successes", "3,0", "--trials", "10,20", "--population", "10,40"],
    ["design-samples", "--features", "8", "--degradation", "0.005"],
    ["design-samples", "--features", "8", "--samples", "200", "--linear"],
    ["design-samples", "--sizes", "50,100,200,400", "--errors", "0.15,0.12,0.11,0.105", "--error", "0.102"],
]


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main(["plan", *arguments])
    printed = capsys.readouterr()
    return stopped.value.code, printed.out, printed.err


@pytest.mark.parametrize("call", CALLS, ids=lambda c: " ".join(c[:2]))
def test_every_plan_prints_a_table_and_json(capsys, call):
    code, out, _ = run(capsys, *call)
    assert code == 0
    assert len(out.splitlines()) > 3
    code, out, _ = run(capsys, *call, "--json")
    assert code == 0
    assert json.loads(out)["schema"] == "strat/plan/1"


def test_a_finite_benchmark_of_strata_by_hand(capsys):
    """3 of 10 rows, 10 drawn, and 0 of 40, 20 drawn: a share of (3 + 0) / 50."""
    call = next(call for call in CALLS if call[0] == "finite")
    answer = json.loads(run(capsys, *call, "--json")[1])
    assert answer["share"] == pytest.approx(0.06, rel=1e-12)
    assert answer["low"] <= 0.06 <= answer["high"]
    assert "share 0.06 (95 % " in run(capsys, *call)[1]


def test_a_picture_is_drawn(capsys, tmp_path):
    code, _, _ = run(capsys, *CALLS[0], "--plot", str(tmp_path / "curve.png"))
    assert code == 0
    assert (tmp_path / "curve.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["width", "--width", "0.1"], "`--proportion` (of a share) or `--deviation` (of a mean) must be given"),
        (["power", "--difference", "0.1"], "`strat plan power` must have"),
        (
            ["units", "--width", "0.1", "--proportion", "0.8", "--intraclass", "0.1"],
            "`--rows-per-unit` (to learn the units)",
        ),
        (["pilot", "--se", "0.03", "--units", "700"], "`--width` (of an interval) or `--difference` (to detect)"),
        ([*CALLS[0], "--metric", "recall"], "`--prevalence` must be given with --metric recall"),
        ([*CALLS[0], "--metric", "auc"], "`--prevalence` must be given with --metric auc"),
        ([*CALLS[0], "--metric", "precision"], "`--share` must be given with --metric precision"),
        ([*CALLS[2], "--metric", "auc"], "`--metric` must not be auc here"),
        ([*CALLS[0], "--metric", "f1"], "`--metric` must be one of 'accuracy'"),
        ([*CALLS[0], "--prevalence", "0.1"], "`--prevalence` must be left out without a --metric"),
        ([*CALLS[0], "--metric", "recall", "--prevalence", "8.6"], "`--prevalence` must lie strictly between 0 and 1"),
        (["design-samples"], "`strat plan design-samples` must have"),
        (
            ["allocation", "--sizes", "a,b", "--deviations", "1,1", "--total", "4"],
            "`--sizes` must be comma-separated numbers",
        ),
        ([*CALLS[0], "--plot", "curve.txt"], "`--plot` must end in .png, .svg or .pdf"),
        (["width", "--width", "1e-7", "--proportion", "0.5"], "`width` must be reachable"),
    ],
)
def test_what_cannot_be_planned_is_one_line(capsys, call, message):
    code, _, err = run(capsys, *call)
    assert code == 1
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_a_pilots_table_plans_the_study(capsys, tmp_path):
    """`strat plan pilot` wanted a standard error and a number of units, which had to be copied by hand."""
    table = tmp_path / "pilot.csv"
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(200), 3)
    sick = (rng.random(200) < 0.2)[who].astype(int)
    guess = np.where(rng.random(600) < 0.2, 1 - sick, sick)
    table.write_text("who,y,p\n" + "\n".join(f"{a},{b},{c}" for a, b, c in zip(who, sick, guess, strict=True)))
    roles = ["pilot", str(table), "--truth", "y", "--predicted", "p", "--metric", "recall", "--width", "0.04"]
    answer = json.loads(run(capsys, *roles, "--units", "who", "--json")[1])
    pilot = strat.evaluate(str(table), truth="y", predicted="p", units="who", metrics="recall")["recall"]
    assert answer["units"] == strat.units_for(pilot, width=0.04).units
    assert (answer["rows"], answer["pilot_units"]) == (3 * answer["units"], 200)
    for call, message in (
        ([*roles, "--units", "wo"], "`--units` must name a column"),
        ([*roles, "--se", "1"], "`--se` must be left out with a file"),
        (["pilot", "--metric", "f1", "--width", "0.04"], "`--metric` must be left out without a file"),
        (["pilot", "--se", "1", "--units", "who", "--width", "0.04"], "`--units` must be a whole number"),
        (["pilot", "--width", "0.04"], "`--se` and `--units` must be given"),
    ):
        code, _, said = run(capsys, *call)
        assert code == 1
        assert message in said


def test_boundaries_and_correlations_of_a_table(capsys, tmp_path):
    path = tmp_path / "pilot.csv"
    rows = [f"{i},{(i * i % 97) / 100},{i // 4},{int(i // 4 % 2 == 0)}" for i in range(80)]
    path.write_text("\n".join(["id,judge,unit,right", *rows]), encoding="utf-8")
    code, out, _ = run(capsys, "boundaries", str(path), "--score", "judge", "--strata", "3", "--json")
    assert code == 0
    assert len(json.loads(out)["cuts"]) == 2
    code, out, _ = run(capsys, "intraclass", str(path), "--score", "right", "--units", "unit")
    assert code == 0
    assert "intraclass correlation 1 " in out


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["allocation", "--sizes", "5,5", "--deviations", "1,1"], "`--total` .units to spend., or `--costs` and"),
        (["allocation", "--sizes", "5,5", "--deviations", "1,1", "--budget", "9"], "`--budget` must be left out one"),
        (["finite", "--successes", "1", "--trials", "5,5", "--population", "9,9"], "`--population` must have as many"),
        (["finite", "--successes", "8", "--trials", "5", "--population", "9"], "`--successes` must be at most"),
    ],
)
def test_errors_of_strata_and_finite_benchmarks(capsys, call, message):
    code, _, err = run(capsys, *call)
    assert code == 1
    assert re.search(message, err)
