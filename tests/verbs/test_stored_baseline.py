"""Stored baselines: the same answer as with the baseline's rows, and no answer where the items changed."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from strat.base.errors import StratError
from strat.verbs import gate, read_baseline, save_baseline
from strat.verbs.stored_baseline import StoredBaseline

N = 200
RNG = np.random.default_rng(1)
TRUTH = RNG.choice(["a", "b"], N)
OLD = np.where(RNG.random(N) < 0.8, TRUTH, "c")
NEW = np.where(RNG.random(N) < 0.8, TRUTH, "c")
OWN = {"id": [f"q{k}" for k in range(N)], "y": TRUTH, "guess": NEW, "topic": np.arange(N) // 4}
HOW: dict[str, Any] = {"items": "id", "truth": "y", "predicted": "guess", "margin": 0.05}


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "baseline.json"
    return save_baseline({**OWN, "guess": OLD}, path, items="id", truth="y", predicted="guess", name="v1")


def test_the_answer_is_that_of_both_tables(stored: Path) -> None:
    both = {**OWN, "v1": OLD}
    direct = gate(both, truth="y", predicted=["v1", "guess"], units="topic", baseline="v1", margin=0.05)
    turned = {name: np.asarray(column)[::-1] for name, column in OWN.items()}
    for source in (OWN, turned):
        result = gate(source, baseline=stored, units="topic", **HOW)
        assert (result.checks[0].low, result.checks[0].high) == pytest.approx(
            (direct.checks[0].low, direct.checks[0].high), rel=1e-12
        )
        assert (result.baseline, result.candidate) == ("v1", "guess")


def test_the_file_has_a_schema_and_a_fingerprint_of_all_that_it_holds(stored: Path, tmp_path: Path) -> None:
    content = json.loads(stored.read_text())
    assert content["schema"] == "strat/baseline/2"
    assert content["fingerprint"].startswith("sha256:")
    turned = {name: np.asarray(column)[::-1] for name, column in OWN.items()}
    other = save_baseline(turned, tmp_path / "turned.json", items="id", truth="y", predicted="guess", name="guess")
    assert read_baseline(other).fingerprint != content["fingerprint"]  # another system
    turned["guess"] = OLD[::-1]
    other = save_baseline(turned, tmp_path / "turned.json", items="id", truth="y", predicted="guess", name="v1")
    assert json.loads(other.read_text())["fingerprint"] == content["fingerprint"]
    relabelled = {**OWN, "guess": OLD, "y": np.where(np.arange(N) == 7, "b", TRUTH)}
    relabelled["y"][7] = "b" if TRUTH[7] == "a" else "a"
    third = save_baseline(relabelled, tmp_path / "third.json", items="id", truth="y", predicted="guess", name="v1")
    assert read_baseline(third).fingerprint != content["fingerprint"]


@pytest.mark.parametrize("name", [*OWN, "v1"])
def test_no_name_of_the_baseline_overwrites_a_column_of_the_candidate(name: str, stored: Path, tmp_path: Path) -> None:
    same = {**OWN, "guess": OLD}
    path = save_baseline(same, tmp_path / "named.json", items="id", truth="y", predicted="guess", name=name)
    asked: dict[str, Any] = {"units": "topic", "by": "topic" if name == "topic" else None, **HOW}
    expected, result = gate(OWN, baseline=stored, **asked), gate(OWN, baseline=path, **asked)
    assert [(c.value, c.low, c.high, c.units) for c in result.checks] == [
        (c.value, c.low, c.high, c.units) for c in expected.checks
    ]


@pytest.mark.parametrize("name", ["y", "topic"])
def test_no_name_of_the_candidate_overwrites_a_column(name: str, stored: Path) -> None:
    result = gate(OWN, baseline=stored, candidate=name, units="topic", **HOW)
    assert result.checks[0].low == gate(OWN, baseline=stored, units="topic", **HOW).checks[0].low


def test_a_changed_truth_is_refused(stored: Path) -> None:
    changed = {**OWN, "y": np.where(np.arange(N) == 7, np.where(TRUTH == "a", "b", "a"), TRUTH)}
    with pytest.raises(
        StratError, match="`truth` must be the same as when the baseline was stored, but 1 item changed"
    ):
        gate(changed, baseline=stored, **HOW)


def test_items_that_one_lacks_are_refused_or_left_out(stored: Path) -> None:
    fewer = {name: np.asarray(column)[10:] for name, column in OWN.items()}
    with pytest.raises(StratError, match="10 items are in one of the two only"):
        gate(fewer, baseline=stored, **HOW)
    assert gate(fewer, baseline=stored, unmatched="common", **HOW).checks[0].units == N - 10
    none = {**OWN, "id": [f"x{k}" for k in range(N)]}
    with pytest.raises(StratError, match="none is common"):
        gate(none, baseline=stored, unmatched="common", **HOW)


def test_an_edited_file_is_refused(stored: Path) -> None:
    content = json.loads(stored.read_text())
    for change, message in (
        ({"schema": "strat/baseline/9"}, "must be a stored baseline with the schema 'strat/baseline/2'"),
        ({"truth": content["truth"][::-1]}, "must hold what its fingerprint names"),
        ({"values": content["values"][::-1]}, "must hold what its fingerprint names"),
        ({"values": ["zz"] * N}, "must hold what its fingerprint names"),
        ({"system": "v2"}, "must hold what its fingerprint names"),
        ({"values": content["values"][1:]}, "must have a list 'values' with one entry for each item"),
        ({"role": "x"}, "must name its system and the role of its values"),
    ):
        stored.write_text(json.dumps(content | change))
        with pytest.raises(StratError, match=message):
            gate(OWN, baseline=stored, **HOW)


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else 1


@pytest.mark.parametrize("part", ["items", "values", "truth", "epoch", "system", "role"])
@pytest.mark.parametrize(
    "odd", [None, nested(80), nested(500), {"a": 1}, 1.5, True, "\ud800", [], 10**400, float("nan")]
)
def test_a_damaged_file_is_one_sentence_or_the_same_answer(part: str, odd: Any, stored: Path) -> None:
    """Whoever edits a file can make its fingerprint anew: what it holds is looked at as well."""
    content = json.loads(stored.read_text())
    fields = {name: content[name] for name in ("system", "role", "items", "values", "truth", "epoch")}
    whole = part in ("system", "role")
    damaged = odd if whole else [*(fields[part] or [1] * N)[:-1], odd]
    fields[part] = damaged
    with suppress(ValueError, TypeError, RecursionError, UnicodeEncodeError):
        content["fingerprint"] = StoredBaseline(**fields).fingerprint
    stored.write_text(json.dumps(content | fields))
    with suppress(StratError):
        gate(OWN, baseline=stored, **HOW)


def test_scores_of_a_long_table_with_repeats(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    item = np.repeat(np.arange(40), 3)
    trial = np.tile([1, 2, 3], 40)
    scores = {"old": rng.random(120) < 0.6, "new": rng.random(120) < 0.7}
    rows = {
        "system": ["old"] * 120 + ["new"] * 120,
        "item": np.tile(item, 2),
        "trial": np.tile(trial, 2),
        "score": np.concatenate([scores["old"], scores["new"]]).astype(float),
        "topic": np.tile(item // 4, 2),
    }
    how: dict[str, Any] = {"system": "system", "items": "item", "score": "score", "epoch": "trial"}
    path = save_baseline(rows, tmp_path / "base.json", name="old", **how)
    new = {name: np.asarray(column)[120:] for name, column in rows.items()}
    for metrics in (None, "pass^2"):
        direct = gate(rows, baseline="old", margin=0.1, units="topic", metrics=metrics, **how)
        result = gate(new, baseline=path, margin=0.1, units="topic", metrics=metrics, **how)
        assert result.checks[0].low == pytest.approx(direct.checks[0].low, rel=1e-12)


def test_what_is_refused(tmp_path: Path, stored: Path) -> None:
    path = tmp_path / "x.json"
    with pytest.raises(StratError, match="`items` must name the column of items"):
        save_baseline(OWN, path, truth="y", predicted="guess")
    with pytest.raises(StratError, match="`predicted` or `score` must name the column to store"):
        save_baseline(OWN, path, items="id")
    with pytest.raises(StratError, match="`items` must name each row once"):
        save_baseline(OWN, path, items="topic", predicted="guess")
    with pytest.raises(StratError, match="`truth` must fit the stored baseline, which has true labels"):
        gate(OWN, baseline=stored, items="id", predicted="guess", margin=0.1)
    with pytest.raises(StratError, match="`predicted` must name the candidate's column, and `items` its items"):
        gate(OWN, baseline=stored, truth="y", predicted="guess", margin=0.1)
    assert not path.exists()
