"""Notes have a code that stays, and a text."""

from __future__ import annotations

import ast
import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import strat
from source_trees import calls
from strat.base.notes import Note, records
from strat.base.notes.kinds import register


def test_a_note_keeps_its_code_in_a_copy() -> None:
    note = Note("few-df", "few units")
    for one in (copy.copy(note), copy.deepcopy(note)):
        assert (one.code, str(one)) == ("few-df", "few units")
    assert note.to_dict() == {"code": "few-df", "text": "few units", "facts": {}, "at": {}}


def test_every_note_of_an_estimate_has_a_code() -> None:
    rng = np.random.default_rng(1)
    heavy = strat.Design.clustered(units=np.repeat(np.arange(12), [200, *[2] * 11]))
    skewed = strat.Design.simple_random(n=40)
    still = strat.Design.simple_random(n=20)
    pairs = strat.jackknife(strat.Design.simple_random(n=30))
    given = {
        "heavy-units": strat.estimate(strat.mean(rng.normal(size=222)), on=heavy),
        "skewed-units": strat.estimate(strat.mean(np.exp(3 * rng.normal(size=40))), on=skewed),
        "no-variation": strat.estimate(strat.mean(np.full(20, 3.0)), on=still),
        "quantile-by-shares": strat.estimate(strat.quantile(rng.normal(size=30), 0.5), on=pairs),
        "thin-tail": strat.estimate(strat.quantile(rng.normal(size=40), 0.99), on=skewed),
        "below-chance": strat.estimate(strat.auc([0, 1] * 10, [1.0, 0.0] * 10), on=still),
    }
    for code, estimate in given.items():
        assert all(isinstance(note, Note) for note in estimate.notes), code
        assert code in {note.code for note in estimate.notes}, (code, estimate.notes)


def codes() -> set[str]:
    """The codes of all notes in the source."""
    return {str(call.args[0].value) for _, call in made() if isinstance(call.args[0], ast.Constant)}


def made() -> Iterator[tuple[str, ast.Call]]:
    """Every call that makes a note."""
    return ((module, call) for module, call in calls("Note") if not module.startswith("base/notes/"))


def test_every_code_is_documented_once() -> None:
    """Those of the register by their examples (tests/docs/test_note_examples.py), the others in a table."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "notes.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([a-z-]+)` \| .+ \| .+ \|$", page, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert codes() == set(listed) | set(register())
    assert not set(listed) & set(register())


def test_every_note_that_is_made_has_a_literal_code_or_that_of_another_note() -> None:
    others = {ast.unparse(call.args[0]) for _, call in made() if not isinstance(call.args[0], ast.Constant)}
    assert others == {"code", "note.code"}


def test_json_lists_each_note_once_with_its_code() -> None:
    twice = [Note("few-df", "few units"), Note("few-df", "few units"), Note("trend", "few units"), "a sentence"]
    assert records(twice) == [
        {"code": "few-df", "text": "few units", "facts": {}, "at": {}},
        {"code": "trend", "text": "few units", "facts": {}, "at": {}},
        {"code": "remark", "text": "a sentence", "facts": {}, "at": {}},
    ]


def test_a_caution_about_several_measures_is_said_once() -> None:
    """Accuracy and the error rate of units that show one outcome had the same sentence twice, and f1 a third figure."""
    table = {"y": [0, 1] * 60, "p": [0, 1] * 60, "u": [0] * 100 + list(range(1, 21))}
    metrics = ["accuracy", "error_rate", "f1"]
    evaluation = strat.evaluate(table, truth="y", predicted="p", units="u", metrics=metrics)
    said = [note.code for note in evaluation.notes if isinstance(note, Note)]
    assert len(said) == len(set(said))
    assert {"one-outcome", "heavy-units"} <= set(said)
    assert any("(likewise for error_rate)" in note for note in evaluation.notes)


def test_a_check_of_several_measures_says_once_that_units_are_few() -> None:
    table = {"y": [0, 1] * 30, "p": [0, 1, 1, 1, 0, 1] * 10, "u": [i // 10 for i in range(60)]}
    checks = strat.check(table, truth="y", predicted="p", units="u", trials=50)
    said = [note["code"] for note in json.loads(checks.to_json())["notes"]]
    assert said.count("few-units") == said.count("few-df") == 1
    assert str(checks).count("makes up a tenth of all clusters") == 1


def test_notes_of_an_evaluation_and_a_comparison_have_codes_in_json() -> None:
    rng = np.random.default_rng(0)
    table = {
        "y": rng.choice(["a", "b", "c", None], 400, p=[0.4, 0.3, 0.25, 0.05]),
        "p": rng.choice(["a", "b", "c"], 400),
        "q": rng.choice(["a", "b", "c"], 400),
        "u": np.repeat(["s", "t"], 200),
    }
    common = {"truth": "y", "units": "u", "missing": "drop"}
    evaluation = strat.evaluate(table, predicted="p", metrics="f1", **common)
    board = strat.compare(table, predicted=["p", "q"], metrics="f1", **common)
    for schema, result, wanted in (
        ("strat/evaluate/4", evaluation, {"units-look-like-strata", "macro-average"}),
        ("strat/compare/4", board, {"units-look-like-strata", "macro-average", "rows-dropped"}),
    ):
        content = json.loads(result.to_json())
        assert content["schema"] == schema
        assert wanted <= {note["code"] for note in content["notes"]}
        assert "remark" not in {note["code"] for note in content["notes"]}
        assert all(set(note) == {"code", "text", "facts", "at"} for note in content["notes"])
