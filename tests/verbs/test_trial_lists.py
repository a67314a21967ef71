"""`look` sends lists of comparisons to `strat recognize`, by commands and calls that run as they are printed."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import strat
from strat.base.errors import StratError
from strat.cli import main
from strat.recognition import verification_of_trials
from strat.verbs import look

LAYOUTS = {
    "images and people": {
        "enrol": "b", "test": "a", "target": "mated", "sys": "score", "enrol_speaker": "who_b", "test_speaker": "who_a",
    },
    "images": {"gallery": "b", "probe": "a", "label": "mated", "score": "score"},
    "people": {"id1": "who_a", "id2": "who_b", "same": "mated", "cosine": "score"},
    "people, in words": {"speaker_a": "who_a", "speaker_b": "who_b", "key": "word", "distance": "negative"},
    "people without a label": {"probe_subject": "who_a", "gallery_subject": "who_b", "score": "score"},
}  # fmt: skip


def comparisons() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 20, 300)
    mated = rng.random(300) < 0.4
    b = np.where(mated, a, (a + rng.integers(1, 20, 300)) % 20)
    score = (rng.normal(size=300) + 2 * mated).round(4)
    who = [np.array([f"id{k:02d}" for k in side]) for side in (a, b)]
    images = [[f"{one}/{side}{rng.integers(4)}.wav" for one in w] for w, side in zip(who, "vw", strict=True)]
    return {
        "who_a": who[0], "who_b": who[1], "a": images[0], "b": images[1], "mated": mated.astype(int),
        "word": np.where(mated, "target", "nontarget"), "score": score, "negative": -score,
    }  # fmt: skip


def table_of(layout: str) -> pd.DataFrame:
    values = comparisons()
    return pd.DataFrame({name: values[what] for name, what in LAYOUTS[layout].items()})


def right() -> float:
    values = comparisons()
    given = {"similarity": values["score"], "probes": values["who_a"], "gallery": values["who_b"]}
    return float(verification_of_trials(**given).eer().value)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_list_of_comparisons_is_for_recognize(
    layout: str, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, file = table_of(layout), tmp_path / f"trials{suffix}"
    table.to_csv(file, index=False) if suffix == ".csv" else table.to_parquet(file)
    found = look(file)
    (step,) = found.steps
    assert {p.role: p.column for p in found.roles.proposals} == step.roles  # no units of one side alone
    assert step.command is not None
    program, verb, *options = shlex.split(step.command)
    assert (program, verb) == ("strat", "recognize")
    with pytest.raises(SystemExit) as end:
        main([verb, *options, "--json"])
    assert end.value.code == 0
    (eer,) = (row for row in json.loads(capsys.readouterr().out)["rows"] if row["figure"] == "EER")
    assert eer["estimate"] == pytest.approx(right())
    assert eval(step.call, {"strat": strat}).eer().value == pytest.approx(right())


@pytest.mark.parametrize("layout", ["images and people", "images"])
def test_the_call_for_a_frame_runs(layout: str) -> None:
    frame = table_of(layout)
    (step,) = look(frame).steps
    assert step.command is None
    assert eval(step.call, {"strat": strat, "frame": frame}).eer().value == pytest.approx(right())


def test_each_column_of_scores_is_a_system() -> None:
    frame = table_of("people").assign(other=comparisons()["negative"])
    assert [step.roles["score"] for step in look(frame.rename(columns={"cosine": "one"})).steps] == ["one", "other"]


@pytest.mark.parametrize(("text", "more"), [("1 a/x b/y\n0 a/x c/z\n", " --scores FILE"), ("a/x b/y target 0.3\n", "")])
def test_a_list_without_names_is_told_where_to_go(tmp_path: Path, text: str, more: str) -> None:
    (tmp_path / "t.txt").write_text(text)
    with pytest.raises(StratError, match=f"strat recognize --trials .*t.txt{more}"):
        look(tmp_path / "t.txt")


def test_labels_and_predictions_are_no_list_of_comparisons() -> None:
    rng = np.random.default_rng(1)
    truth = rng.choice(list("abcdefg"), 200)
    predicted = np.where(rng.random(200) < 0.7, truth, rng.choice(list("abcdefg"), 200))
    frame = pd.DataFrame({"reference": truth, "test": predicted, "score": rng.random(200)})
    frame["correct"] = (truth == predicted).astype(int)
    assert {step.verb for step in look(frame.rename(columns={"test": "prediction"})).steps} == {"evaluate"}
