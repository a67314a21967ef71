"""Every public result shows itself in words wherever it is printed, and gives its numbers as plain values."""

from __future__ import annotations

import importlib
import inspect
import json
import pickle
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import strat
from strat import comparison, gaussian, planning, protocols, recognition, verbs
from strat.estimation import intraclass, overdispersion, proportions

PARTS = (
    "comparison",
    "estimation",
    "proportions",
    "protocols",
    "recognition",
    "measures",
    "data",
    "verbs",
    "planning",
    "gaussian",
)
VALUES = {"Cost", "Measure", "Statistic"}  # what results are made from: one line in angle brackets
OTHERS = {"Winner"}

TABLE = {
    "y": [0, 1, 1, 0] * 6,
    "p": [0, 1, 0, 0, 1, 1] * 4,
    "q": [0, 1, 1, 0, 1, 1] * 4,
    "u": [i // 3 for i in range(24)],
}
ROLES: dict[str, Any] = {"truth": "y", "predicted": "p", "units": "u"}
SQUARE = np.random.default_rng(0).normal(size=(6, 6)) + 2 * np.eye(6)
WHO: dict[str, Any] = {"similarity": SQUARE, "probes": list("abcdef"), "gallery": list("abcdef")}
X, Y = np.array([[float(i % 7), float(i % 5)] for i in range(40)]), np.arange(40) % 2
BOARD = np.random.default_rng(1).random((6, 3))
RESULTS: dict[str, Callable[[], Any]] = {
    "AgainstControl": lambda: comparison.against_control(BOARD, control=0, higher_is_better=True),
    "AllPairs": lambda: comparison.all_pairs(BOARD, higher_is_better=True),
    "Allocation": lambda: planning.neyman_allocation(sizes=[50, 30], deviations=[1, 2], total=20),
    "BudgetAllocation": lambda: planning.budget_allocation(sizes=[50, 30], deviations=[1, 2], costs=[1, 2], budget=40),
    "StratumBoundaries": lambda: planning.stratum_boundaries([1, 2, 3, 4, 8, 9], strata=2),
    "IntraclassCorrelation": lambda: intraclass([1, 1, 0, 1, 0, 0], [1, 1, 2, 2, 3, 3], permutations=9),
    "ApparentError": lambda: proportions.apparent_error(3, 20),
    "Chance": lambda: comparison.chance([[5, 1], [2, 6]]),
    "Check": lambda: verbs.check(TABLE, **ROLES, trials=50)[0],
    "ConfusionMatrix": lambda: strat.ConfusionMatrix([[1, 2], [3, 4]]),
    "DetCurve": lambda: recognition.verification(**WHO).det([0.5]),
    "Estimate": lambda: verbs.evaluate(TABLE, **ROLES)["accuracy"],
    "Evaluation": lambda: verbs.evaluate(TABLE, **ROLES),
    "Friedman": lambda: comparison.friedman(BOARD, higher_is_better=True),
    "MatchCurve": lambda: recognition.match_curve(recognition.ranks(**WHO)),
    "McNemar": lambda: comparison.mcnemar(TABLE["y"], TABLE["p"], TABLE["q"]),
    "Overdispersion": lambda: overdispersion(p=0.3, spread=0.1, subtrials=10, draws=200),
    "SampleSize": lambda: planning.rows_for_width(width=0.1, proportion=0.5),
    "PeakEffect": lambda: protocols.peak_effect(X, Y, runs=2),
    "Drift": lambda: protocols.drift(GaussianNB(), X, Y, parts=3),
    "ProtocolResult": lambda: protocols.holdout(GaussianNB(), X, Y),
    "Ranks": lambda: recognition.ranks(**WHO),
    "Sample": lambda: verbs.sample({"i": np.arange(30)}, size=5, items="i"),
    "Sign": lambda: comparison.sign([1, 2, 3, 4], [0, 1, 2, 5]),
    "SignedRank": lambda: comparison.signed_rank([1, 2, 3, 4.5], [0, 1, 2.5, 5]),
    "Simulated": lambda: gaussian.Simulated(np.array([0.1, 0.2, 0.4])),
    "Test": lambda: verbs.evaluate(TABLE, **ROLES)["accuracy"].test(0.5),
    "Verification": lambda: recognition.verification(**WHO),
}


def results() -> dict[str, Any]:
    """The public classes that have a sentence or a table for people."""
    found = {}
    for part in PARTS:
        module = getattr(strat, part)
        for name in module.__all__:
            kind = getattr(module, name)
            if inspect.isclass(kind) and kind.__str__ is not object.__str__ and name not in VALUES | OTHERS:
                found[name] = kind
    return found


@pytest.mark.parametrize("name", results())
def test_a_result_class_has_every_way_to_show_itself(name: str) -> None:
    """`Evaluation`, `Check`, `Ranks` and others printed their arrays in a terminal, though `str` is a fine table."""
    kind = results()[name]
    assert kind.__repr__.__module__ in ("strat.base.result", "strat.show.sheet_result")
    for way in ("_repr_html_", "to_dict", "to_frame", "to_json", "report"):
        assert callable(getattr(kind, way)), way


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_shows_itself_in_words_and_in_plain_values(name: str, tmp_path: Path) -> None:
    result = RESULTS[name]()
    assert isinstance(result, results()[name])
    keeps_the_protocol(result, tmp_path / "report.html")


def keeps_the_protocol(result: Any, page: Path) -> None:
    """A sentence or a table, plain values, JSON with a schema and coded notes, a frame, a page, a picture, a pickle."""
    assert repr(result) == str(result)
    assert "array(" not in repr(result)
    assert result._repr_html_().startswith("<")
    assert json.loads(json.dumps(result.to_dict()))
    text = result.to_json()
    content = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert re.fullmatch(r"strat/[a-z0-9_/-]+/[0-9]+", content["schema"])
    assert all(
        set(note) == {"code", "text", "facts", "at"} and note["code"] != "remark" for note in content.get("notes", [])
    )
    frame = result.to_frame("polars")
    assert frame.height > 0
    assert frame.width > 0
    assert result.report(page).read_text(encoding="utf-8").startswith("<!doctype html>")
    if hasattr(result, "plot"):
        assert result.plot() is not None
    assert pickle.loads(pickle.dumps(result)).to_json() == text  # what a process pool hands back


@pytest.mark.slow
def test_what_every_public_function_returns_keeps_the_protocol(tmp_path: Path) -> None:
    """One result of each class that any honest call of the sweep returns."""
    import matplotlib as mpl
    from matplotlib import pyplot

    mpl.use("Agg")
    sweep = importlib.import_module("public_calls")
    returned: dict[str, Any] = {}
    for call in sweep.calls():
        with suppress(strat.StratError):
            result = call.function(**sweep.ready(call.arguments))
            returned.setdefault(type(result).__name__, result)
    ours = {name: one for name, one in returned.items() if type(one).__module__.startswith("strat.")}
    checked = [name for name in ours if hasattr(ours[name], "to_json")]
    assert set(results()) - set(checked) <= {"Check", "LevelPlan", "Look", "ReaderValue"}  # no call of their own
    assert len(checked) > 70
    for name in checked:
        keeps_the_protocol(returned[name], tmp_path / f"{name}.html")
        pyplot.close("all")


def test_results_by_name_are_read_as_a_dictionary_is() -> None:
    """`for name in result` said "`name` must be a measure that was asked for, got 0"."""
    table = {**TABLE, "g": ["a", "b"] * 12}
    found = strat.evaluate(table, **ROLES, by="g")
    assert list(found) == ["accuracy", "macro_f1"]
    assert len(found) == 2
    assert "accuracy" in found
    assert dict(found) == dict(found.items()) == found.estimates
    assert list(found.values()) == [found[name] for name in found.keys()]  # noqa: SIM118
    assert list(found.groups["accuracy"]) == ["a", "b"]
    board = strat.compare(table, truth="y", predicted=["p", "q"], metrics=["accuracy", "f1"])
    assert {name: board[name].measure for name in board} == {"accuracy": "accuracy", "f1": "f1"}


def test_results_of_another_process_answer_further_questions() -> None:
    """Closures kept processes from returning results: "Can't pickle local object '_inferred.<locals>.<lambda>'"."""
    rng = np.random.default_rng(3)
    table: dict[str, Any] = {**TABLE, "s": rng.random(24), "g": ["a", "b"] * 12}
    ours = strat.evaluate(table, truth="y", predicted="p", units="u", by="g", metrics=["accuracy", "f1"])
    theirs = pickle.loads(pickle.dumps(ours))
    assert theirs["f1"].interval(0.8) == ours["f1"].interval(0.8)
    assert theirs["f1"].deff == ours["f1"].deff
    assert theirs.groups["accuracy"].test().pvalue == ours.groups["accuracy"].test().pvalue
    design = strat.Design.clustered(units=table["u"])
    for statistic in (
        strat.quantile(table["s"], [0.25, 0.5]),
        strat.calibration_error(table["y"], table["s"]),
        strat.balanced_accuracy(table["y"], table["p"]),
    ):
        estimate = strat.estimate(statistic, on=design)
        again = pickle.loads(pickle.dumps(estimate))
        for mine, other in zip(estimate.interval(0.9), again.interval(0.9), strict=True):
            assert np.array_equal(mine, other)
    systems: dict[str, Any] = {"truth": "y", "predicted": ["p", "q"], "units": "u"}
    board = strat.compare(table, **systems, metrics=["accuracy", "f1"])
    copy = pickle.loads(pickle.dumps(board))
    assert copy.comparison.ratio.interval() == board.comparison.ratio.interval()
    gap = pickle.loads(pickle.dumps(board.difference("p", "q")))
    assert gap.interval(0.9) == board.difference("p", "q").interval(0.9)
    decision = strat.gate(table, **systems, baseline="p", margin=0.1)
    assert pickle.loads(pickle.dumps(decision)).to_json() == decision.to_json()


def test_checks_are_a_table() -> None:
    """`check` returned a bare tuple: no table in a terminal or notebook, and no frame."""
    checks = strat.check(TABLE, **ROLES, trials=50)
    assert checks["macro_f1"] is checks[1]
    assert [one.metric for one in checks] == ["accuracy", "macro_f1"]
    assert repr(checks) == str(checks)
    assert "macro_f1  default" in str(checks)
    assert checks._repr_html_().startswith("<table>")
    assert list(checks.to_frame("pandas")["interval"])[:2] == ["default", "t"]
    with pytest.raises(strat.StratError, match="`which` must be"):
        checks["f1"]
