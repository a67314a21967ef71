"""Names that other tools have answer with the line to type here, and every such line runs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import strat
from strat.base.elsewhere import LINES
from strat.base.validate.arguments import OTHER_CALLS

N = 120
PARTS = ("measures", "comparison", "recognition", "planning", "protocols", "plot")


@pytest.fixture(scope="module")
def words() -> dict[str, Any]:
    """What stands in the lines: columns, a design, a table, votes, a model."""
    pd = pytest.importorskip("pandas")
    linear = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, N)
    columns: dict[str, Any] = {
        "truth": truth,
        "predicted": np.where(rng.random(N) < 0.8, truth, 1 - truth),
        "score": np.clip(0.3 + 0.4 * truth + rng.normal(0, 0.2, N), 0, 1),
        "other": np.clip(0.3 + 0.3 * truth + rng.normal(0, 0.3, N), 0, 1),
        "group": np.array(["a", "b"])[rng.integers(0, 2, N)],
    }
    left = rng.choice(["x", "y", "z"], N)
    right = np.array([{"x": "y", "y": "z", "z": "x"}[one] for one in left])
    x, psu = rng.normal(size=N), np.arange(N) // 6
    return columns | {
        "strat": strat,
        "table": pd.DataFrame(columns),
        "votes": pd.DataFrame({"left": left, "right": right, "winner": rng.choice(["left", "right", "tie"], N)}),
        "x": x,
        "y": rng.gamma(2, 2, N),
        "solved": truth == 1,
        "grade": rng.integers(1, 4, N),
        "frame": pd.DataFrame({"x": x}),
        "psu": psu,
        "strata": psu // 2,
        "weights": rng.uniform(1, 2, N),
        "design": strat.Design.clustered(psu, strata=psu // 2),  # two clusters per stratum
        "reader": np.arange(N) % 4,
        "case": np.arange(N) // 4,
        "scores_of_data_sets": rng.random((8, 3)),
        "sizes": [50, 100, 200, 400],
        "errors": [0.14, 0.12, 0.11, 0.105],
        "probes": rng.normal(size=(6, 4)),
        "gallery": rng.normal(size=(4, 4)),
        "probe_ids": [0, 0, 1, 1, 2, 3],
        "gallery_ids": [0, 1, 2, 3],
        "model": linear.LogisticRegression(),
        "X": np.column_stack([x, columns["score"]]),
    }


@pytest.mark.parametrize("line", sorted({*LINES.values(), *OTHER_CALLS.values()}))
def test_every_line_that_is_proposed_runs(line: str, words: dict[str, Any]) -> None:
    by_case = {"truth": np.repeat(words["truth"][: N // 4], 4)} if "readers(" in line else {}
    assert eval(line, {**words, **by_case}) is not None


@pytest.mark.parametrize("name", sorted(LINES))
def test_a_name_of_another_tool_answers_with_the_line(name: str) -> None:
    part, _, word = f"strat.{name}".rpartition(".")
    module = import_module(part)
    assert not hasattr(module, word)
    with pytest.raises(AttributeError, match="has no attribute") as caught:
        getattr(module, word)
    assert str(caught.value) == f"module {part!r} has no attribute {word!r}; type {LINES[name]}"


@pytest.mark.parametrize("part", PARTS)
def test_parts_answer_as_well_and_say_no_more_of_a_word_that_nobody_has(part: str) -> None:
    module = getattr(strat, part)
    with pytest.raises(AttributeError, match=r"; type strat\.estimate\(strat\.mean\(y\), on=design\)$"):
        module.svymean  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no attribute 'xyzzy'$") as caught:
        module.xyzzy  # noqa: B018
    assert caught.value.obj is module


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("mcnemar", "strat.comparison.mcnemar"),
        ("selection_rate", "strat.measures.selection_rate"),
        ("win_rate", "strat.measures.win_rate"),
        ("fit_learning_curve", "strat.planning.fit_learning_curve"),
        ("f1_score", "strat.measures.f1"),
        ("roc_auc", "strat.measures.auc"),
    ],
)
def test_a_name_of_a_part_answers_with_its_place(name: str, line: str) -> None:
    with pytest.raises(AttributeError, match=rf"; type {line}(\(|$)"):
        getattr(strat, name)
    assert eval(line)


def test_names_of_the_language_are_not_looked_up() -> None:
    """Tools ask modules for names such as `__wrapped__` all the time."""
    with pytest.raises(AttributeError, match=r"^module 'strat' has no attribute '__wrapped__'$"):
        strat.__wrapped__  # type: ignore[attr-defined]  # noqa: B018
