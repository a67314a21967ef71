"""`strat plan` prints a table, JSON with a schema, a picture, and one line when it can't."""

from __future__ import annotations

import json

import pytest

from strat.cli import main

CALLS = [
    ["width", "--width", "0.04", "--proportion", "0.9"],
    ["width", "--width", "0.5", "--deviation", "1"],
    ["power", "--difference", "0.02", "--disagreement", "0.1"],
    ["power", "--rows", "1000", "--disagreement", "0.1"],
    ["power", "--null", "0.5", "--alternative", "0.55"],
    ["units", "--width", "0.1", "--proportion", "0.8", "--rows-per-unit", "20", "--intraclass", "0.3"],
    ["units", "--width", "0.2", "--proportion", "0.8", "--units", "50", "--intraclass", "0.1"],
    ["strata", "--width", "0.1", "--deviation", "0.2"],
    ["repeats", "--width", "0.1", "--items", "400", "--between", "0.4", "--within", "0.4"],
    ["allocation", "--sizes", "500,300", "--deviations", "0.5,0.3", "--total", "50"],
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
        (["design-samples"], "`strat plan design-samples` must have"),
        (
            ["allocation", "--sizes", "a,b", "--deviations", "1,1", "--total", "4"],
            "`--sizes` must be numbers with commas",
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
