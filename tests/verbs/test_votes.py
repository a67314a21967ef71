"""`votes`: rankings from votes on pairs, in the library and on the command line."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import strat
from binomial_limits import coverage_limits
from strat.base.errors import StratError
from strat.cli.app import app

N = 900
RNG = np.random.default_rng(9)
STRENGTH = {"a": 1.0, "b": 0.2, "c": -0.2, "d": -1.0}
LEFT = RNG.choice(list("abcd"), N)
RIGHT = np.array([RNG.choice([s for s in "abcd" if s != one]) for one in LEFT])
GAP = np.array([STRENGTH[one] - STRENGTH[other] for one, other in zip(LEFT, RIGHT, strict=True)])
TABLE = {
    "left": LEFT,
    "right": RIGHT,
    "winner": np.where(RNG.random(N) < 1 / (1 + np.exp(-GAP - 0.5)), "left", "right"),
    "prompt": np.arange(N) // 30,
    "length": RNG.normal(size=N),
}


def test_the_ranking_is_that_of_the_statistic() -> None:
    board = strat.votes(TABLE, units="prompt")
    known = strat.estimate(
        strat.bradley_terry(LEFT, RIGHT, TABLE["winner"]), on=strat.Design.clustered(TABLE["prompt"])
    )
    assert board.systems == ("a", "b", "c", "d")
    assert board.estimate.value == pytest.approx(known.value)
    assert board.estimate.se == pytest.approx(known.se)
    assert board.difference("a", "d").value == pytest.approx(known.value[0] - known.value[3])


def test_other_terms_are_notes() -> None:
    board = strat.votes(TABLE, units="prompt", home=True, covariates="length")
    terms = [note for note in board.notes if getattr(note, "code", "") == "vote-term"]
    assert [term.split(":")[0] for term in terms] == ["left side", "length"]
    assert len(board.systems) == 4
    statistic = strat.bradley_terry(LEFT, RIGHT, TABLE["winner"], home=True, covariates={"length": TABLE["length"]})
    known = strat.estimate(statistic, on=strat.Design.clustered(TABLE["prompt"]))
    for term in terms:
        label, _, numbers = term.partition(": ")
        assert float(numbers.partition(",")[0]) == pytest.approx(float(known.at(label).value), abs=5e-5)


def test_votes_as_units_are_told() -> None:
    assert any(getattr(note, "code", "") == "votes-as-units" for note in strat.votes(TABLE).notes)
    assert not any(getattr(note, "code", "") == "votes-as-units" for note in strat.votes(TABLE, units="prompt").notes)


@pytest.mark.shared
def test_what_the_unit_does_on_real_votes(shared: Any) -> None:
    file = str(shared / "data/fields/llmfao/crowd-comparisons.csv")
    by = {unit: np.median(strat.votes(file, units=unit).estimate.se) for unit in ("prompt", "worker", "id")}
    by["vote"] = np.median(strat.votes(file).estimate.se)
    assert by["prompt"] > 1.5 * by["vote"]
    assert by["worker"] > by["vote"]


@pytest.mark.parametrize("runs", [50, pytest.param(150, marks=pytest.mark.slow)])
def test_intervals_of_clustered_votes_hold(runs: int) -> None:
    """Prompts that suit one system more than others: intervals by vote are short, those by prompt hold."""
    hits = {"prompt": 0, "vote": 0}
    systems, prompts, each = "abcd", 40, 15
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        suits = 0.8 * rng.standard_normal((prompts, 4))
        suits -= suits.mean(axis=1, keepdims=True)
        prompt = np.repeat(np.arange(prompts), each)
        pairs = np.array([rng.choice(4, 2, replace=False) for _ in prompt])
        base = np.array(list(STRENGTH.values()))
        d = (base + suits)[prompt, pairs[:, 0]] - (base + suits)[prompt, pairs[:, 1]]
        winner = np.where(rng.random(len(d)) < 1 / (1 + np.exp(-d)), "left", "right")
        left, right = (np.array(list(systems))[pairs[:, k]] for k in (0, 1))
        statistic = strat.bradley_terry(left, right, winner)
        for name, on in (("prompt", strat.Design.clustered(prompt)), ("vote", strat.Design.simple_random(n=len(d)))):
            low, high = strat.estimate(statistic, on=on).map(lambda v: v[..., 1] - v[..., 2]).interval(0.95)
            hits[name] += low <= 0.36 <= high  # 0.4 shrunk by what the prompts add, as a marginal model has it
    least, most = coverage_limits(runs, 0.91, 0.99)
    assert least <= hits["prompt"] / runs <= most
    assert hits["vote"] < hits["prompt"]


@pytest.fixture
def file(tmp_path: Any) -> str:
    path = tmp_path / "votes.csv"
    names = ("left", "right", "winner", "prompt", "length")
    rows = zip(*(TABLE[name] for name in names), strict=True)
    path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return str(path)


def test_the_command(file: str, tmp_path: Any) -> None:
    page = tmp_path / "ranking.html"
    options = ["--units", "prompt", "--home", "--covariate", "length", "--json", "--html", str(page)]
    told = CliRunner().invoke(app, ["votes", file, *options])
    assert told.exit_code == 0, told.output
    data = json.loads(told.stdout)
    assert data["schema"].startswith("strat/")
    assert "left side" in told.stdout
    assert page.stat().st_size > 10_000


def test_errors(file: str) -> None:
    with pytest.raises(StratError, match="`left` must name a column"):
        strat.votes(TABLE, left="x")
    with pytest.raises(StratError, match="`covariates` must name a column"):
        strat.votes(TABLE, covariates="x")
    told = CliRunner().invoke(app, ["votes", file, "--ties", "no"])
    assert told.exit_code == 1
    assert "`--ties` must be" in str(told.exception)
