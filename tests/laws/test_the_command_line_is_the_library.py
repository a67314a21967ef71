"""What the program prints with `--json` is what the library's result gives as JSON, to the last digit and sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import strat
from command_cases import Program
from law_tables import DESIGNS, MEASURES, Roles, names_of, of_all, of_one, some_pairs

REPEATED = {"predicted", "score", "metrics", "by"}
Say = Callable[..., Any]


def _options(asked: Roles) -> Iterator[str]:
    """The options that say what these arguments say."""
    for role, value in asked.items():
        if role == "design":
            yield from _options({name: _joined(each) for name, each in vars(value).items() if each and name != "mse"})
        elif not (role in ("differences", "lone") and value in ("1", "error")):
            option = "--metric" if role == "metrics" else "--" + role.replace("_", "-")
            for one in value if isinstance(value, list) and role in REPEATED else [value]:
                yield from (option, str(one))


def _joined(value: Any) -> str:
    return ",".join(value) if isinstance(value, list | tuple) else str(value)


@pytest.fixture
def says(source: Callable[[str], Any], capsys: pytest.CaptureFixture[str]) -> Say:
    """What a command says of the file of the laws, as plain values."""

    def run(command: str, asked: Roles) -> Any:
        ended = Program(capsys)(command, source("csv"), *_options(asked), "--json")
        assert ended.err == ""
        return json.loads(ended.out)

    return run


@pytest.mark.parametrize(("design", "measure"), some_pairs(len(MEASURES)))
def test_evaluate(says: Say, source: Callable[[str], Any], design: str, measure: str) -> None:
    asked = of_one(measure) | DESIGNS[design] | {"by": "kind", "level": 0.9}
    assert says("evaluate", asked) == json.loads(strat.evaluate(source("csv"), **asked).to_json())


@pytest.mark.parametrize(("design", "measure"), some_pairs(len(MEASURES)))
def test_compare(says: Say, source: Callable[[str], Any], design: str, measure: str) -> None:
    asked = of_all(measure) | DESIGNS[design] | {"level": 0.9}
    assert says("compare", asked) == json.loads(strat.compare(source("csv"), **asked).to_json())


@pytest.mark.parametrize("design", ["weights", "staged"])
def test_gate(says: Say, source: Callable[[str], Any], design: str) -> None:
    old, new = names_of("auc")
    asked = of_all("auc") | DESIGNS[design] | {"baseline": old, "candidate": new, "margin": 0.05}
    assert says("gate", asked) == json.loads(strat.gate(source("csv"), **asked).to_json())
    asked = of_one("auc") | DESIGNS[design] | {"floor": 0.5}
    assert says("gate", asked) == json.loads(strat.gate(source("csv"), **asked).to_json())


@pytest.mark.parametrize("design", ["both", "crossed"])
def test_check(says: Say, source: Callable[[str], Any], design: str) -> None:
    asked = of_one("mean") | DESIGNS[design] | {"trials": 50}
    assert says("check", asked) == json.loads(strat.check(source("csv"), **asked).to_json())


def test_look_and_sample(says: Say, source: Callable[[str], Any]) -> None:
    assert says("look", {}) == json.loads(strat.look(source("csv")).to_json())
    drawn: dict[str, Any] = {"size": 12, "items": "place", "strata": "stratum", "seed": 3}
    assert says("sample", drawn) == json.loads(strat.sample(source("csv"), **drawn).to_json())
