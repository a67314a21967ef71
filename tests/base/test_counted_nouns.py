"""One row, two rows: what is counted agrees with its number, wherever it is printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import strat
from strat.base.text import counted, plural
from strat.cli import main
from strat.recognition import match_curve, ranks, verification
from strat.show import report

WRONG = re.compile(
    r"(?<![\d.,/^])1 (?:rows|units|strata|items|degrees|systems|runs|columns|levels|probes|subjects|images|replicates|"
    r"classes|samples|data sets|mated probes|non-mated probes|probe images|gallery images|non-mated comparisons)\b"
)


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [
        (1, "row", "1 row"),
        (0, "row", "0 rows"),
        (12345, "row", "12,345 rows"),
        (2, "stratum", "2 strata"),
        (1, "stratum", "1 stratum"),
        (3, "class", "3 classes"),
        (1.0, "degree of freedom", "1.0 degree of freedom"),
        (1.5, "degree of freedom", "1.5 degrees of freedom"),
        (2, "non-mated comparison", "2 non-mated comparisons"),
    ],
)
def test_the_noun_follows_its_number(number: float, noun: str, said: str) -> None:
    assert counted(number, noun) == said
    assert said.endswith(plural(number, noun))


def small() -> list[Any]:
    """Results of the smallest designs, galleries and arrays that there are."""
    two = strat.Design.simple_random(n=2)
    stratified = strat.Design.stratified(strata=[1, 1, 2, 2])
    mean = strat.estimate(strat.mean([1.0, 3.0]), on=two)
    r = ranks(similarity=[[2.0, 1.0]], probes=["a"], gallery=["a", "b"])
    table = np.array([[9.0, 1, 2], [1, 8, 2]])
    v = verification(similarity=table, probes=["a", "b"], gallery=["a", "b", "c"])
    return [
        two,
        stratified,
        mean,
        strat.jackknife(two),
        strat.brr(strat.Design.stratified(strata=[1, 1])),
        r,
        v,
        v.det([0.5]),
        match_curve(ranks(similarity=[[2.0, 1], [1, 2]], probes=["a", "b"], gallery=["a", "b"]), at=[1]),
        strat.evaluate({"t": ["a", "b", "a"], "p": ["a", "b", None]}, truth="t", predicted="p", missing="drop"),
        strat.compare({"A": [1, 0], "B": [1, 1]}, score=["A", "B"]),
    ]


@pytest.mark.parametrize("which", range(len(small())))
def test_small_results_count_in_the_singular(which: int) -> None:
    found = small()[which]
    assert not WRONG.search(str(found)), str(found)


def test_reports_and_explanations_of_small_results_too() -> None:
    mean = strat.estimate(strat.mean([1.0, 3.0]), on=strat.Design.simple_random(n=2))
    evaluation = strat.evaluate(
        {"t": ["a", "b", "a"], "p": ["a", "b", None]}, truth="t", predicted="p", missing="drop", metrics="accuracy"
    )
    pages = [report.render(mean), report.explain(mean), report.render(evaluation)]
    for page in pages:
        assert "1 degree of freedom" in page
        assert not WRONG.search(page), WRONG.search(page)
    assert "1 row with missing values" in pages[2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["evaluate", "two.csv", "--score", "s"], "2 rows in 2 units; 1 degree of freedom"),
        (["compare", "two.csv", "--score", "s", "--score", "o"], "1 degree of freedom"),
        (["array", "--levels", "2", "--columns", "1"], "× 1 column, 2 levels"),
        (["sample", "two.csv", "--size", "1", "--least", "1"], "1 of 2 items"),
    ],
)
def test_commands_count_in_the_singular(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.csv").write_text("s,o\n0.5,0.1\n0.25,0.7\n")
    with pytest.raises(SystemExit) as end:
        main(arguments)
    out = capsys.readouterr()
    assert end.value.code == 0, out.err
    assert said in out.out
    assert not WRONG.search(out.out), out.out
