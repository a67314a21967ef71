"""What people type first: the programs of a newcomer, on frames of pandas and of Polars."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import strat
from strat import StratError
from strat.cli import main
from strat.measures.register import every

Frame = Callable[[dict[str, Any]], Any]
FRAMES: dict[str, Frame] = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


def _patients() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(120), rng.integers(1, 6, 120))
    ill = rng.random(len(patient)) < 0.3
    risk = np.clip(0.25 + 0.3 * ill + 0.2 * rng.normal(size=len(patient)), 0, 1)
    return {
        "patient": patient,
        "doc": patient,
        "site": np.array(list("abc"))[patient % 3],
        "sex": np.array(["f", "m"])[patient % 2],
        "age_band": np.array(["old", "young"])[(patient // 3) % 2],
        "language": np.array(["de", "en", "fr"])[(patient // 2) % 3],
        "diagnosis": np.where(ill, "malignant", "benign"),
        "prob": risk,
        "p": np.where(risk > 0.4, "malignant", "benign"),
        "species": rng.choice(["cat", "cow", "dog"], len(patient)),
        "guess": rng.choice(["cat", "cow", "dog"], len(patient)),
    }


@pytest.fixture(params=FRAMES, ids=list(FRAMES))
def df(request: pytest.FixtureRequest) -> Any:
    return FRAMES[request.param](_patients())


def test_f1_by_language(df: Any) -> None:
    found = strat.evaluate(
        df, truth="species", predicted="guess", clusters="doc", metrics=["f1", "recall"], by="language"
    )
    assert list(found.groups) == ["f1", "recall"]
    frame = found.to_frame()
    assert type(frame) is type(df)
    assert list(frame.columns[:3]) == ["language", "measure", "rows"]
    assert len(frame) == 2 + 2 * 3


def test_recall_of_each_class(df: Any) -> None:
    found = strat.evaluate(df, truth="species", predicted="guess", units="patient", metrics="recall", average=None)
    columns = found.to_dict()
    assert columns["class"] == ["cat", "cow", "dog"]
    data = _patients()
    for label, value in zip(columns["class"], columns["estimate"], strict=True):
        own = data["species"] == label
        assert value == pytest.approx((data["guess"][own] == label).mean())


def test_a_clinical_table(df: Any) -> None:
    found = strat.evaluate(
        df,
        truth="diagnosis",
        score="prob",
        units="patient",
        strata="site",
        metrics=["sensitivity", "specificity", "ppv", "npv", "auc", "brier"],
        threshold=0.2,
        positive="malignant",
        by=["sex", "age_band"],
    )
    data = _patients()
    ill, called = data["diagnosis"] == "malignant", data["prob"] >= 0.2
    assert found["sensitivity"].value == pytest.approx(called[ill].mean())
    assert found["specificity"].value == pytest.approx((~called)[~ill].mean())
    assert found["ppv"].value == pytest.approx(ill[called].mean())
    assert found["npv"].value == pytest.approx((~ill)[~called].mean())
    assert found["brier"].value == pytest.approx(((data["prob"] - ill) ** 2).mean())
    inside = (data["sex"] == "f") & (data["age_band"] == "old")
    assert found.groups["ppv"]["f", "old"].value == pytest.approx(ill[called & inside].mean())
    text = str(found)
    assert "equal in all groups?" in text
    assert "Predicted positive: prob of at least 0.2." in text
    assert repr(found) == text
    assert {line["positive"] for line in json.loads(found.to_json())["groups"]} == {"malignant"}


ALIASES = {word: one for one in every() if one.of_tables and not one.needs_number for word in one.also}


@pytest.mark.parametrize("alias", ALIASES)
def test_every_word_of_the_trade_is_a_measure(alias: str) -> None:
    data = _patients()
    ill = (data["diagnosis"] == "malignant").astype(int)
    table = {"y": ill, "p": (data["prob"] > 0.4).astype(int), "s": data["prob"]}
    metric = ALIASES[alias]
    if metric.name == "interval_share":
        table["p"] = np.minimum(table["p"], table["s"])  # a lower limit
    roles = dict(zip(("truth", "predicted", "score"), "yps", strict=True))
    asked: dict[str, Any] = {role: name for role, name in roles.items() if role in metric.needs}
    one = strat.evaluate(table, **asked, metrics=alias)
    assert one[alias].value == strat.evaluate(table, **asked, metrics=metric.name)[metric.name].value


@pytest.mark.parametrize(
    ("word", "hint"),
    [("cmc", "strat.recognition.cmc"), ("sensitivty", "did you mean 'sensitivity'"), ("rocauc", "'roc_auc'")],
)
def test_other_words_are_told_where_to_go(word: str, hint: str) -> None:
    with pytest.raises(StratError, match=hint):
        strat.evaluate({"y": [0, 1], "p": [0, 1]}, truth="y", predicted="p", metrics=word)


def test_numbers_have_measures_too() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(size=60)
    p = y + rng.normal(0.1, 0.3, 60)
    found = strat.evaluate({"y": y, "p": p}, truth="y", predicted="p", metrics=["rmse", "mae", "r2", "bias"])
    assert found["rmse"].value == pytest.approx(np.sqrt(np.mean((p - y) ** 2)))
    assert found["mae"].value == pytest.approx(np.abs(p - y).mean())
    assert found["r2"].value == pytest.approx(1 - ((p - y) ** 2).sum() / ((y - y.mean()) ** 2).sum())
    assert found["bias"].value == pytest.approx((p - y).mean())
    sums = strat.evaluate({"s": y}, score="s", metrics=["total", "median", "mean"])
    assert sums["total"].value == pytest.approx(y.sum())
    assert sums["median"].value == pytest.approx(np.median(y), abs=0.1)


@pytest.mark.parametrize("make", [lambda d, f: d, lambda d, f: pl.DataFrame(d).lazy(), lambda d, f: _csv(d, f)])
def test_a_threshold_decides_by_the_scores_of_the_table(tmp_path: Path, make: Any) -> None:
    """Engines put scores into bins; the threshold is applied before."""
    rng = np.random.default_rng(2)
    data = {"y": rng.integers(0, 2, 9000), "s": rng.random(9000), "u": np.arange(9000) // 3}
    found = strat.evaluate(
        make(data, tmp_path), truth="y", score="s", units="u", threshold=0.37, metrics=["sensitivity", "auc"]
    )
    assert found["sensitivity"].value == pytest.approx((data["s"] >= 0.37)[data["y"] == 1].mean(), rel=1e-12)


def _csv(data: dict[str, Any], folder: Path) -> Path:
    pd.DataFrame(data).to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def test_a_table_for_the_paper(df: Any) -> None:
    found = strat.evaluate(
        df,
        truth="diagnosis",
        score="prob",
        units="patient",
        threshold=0.4,
        positive="malignant",
        metrics=["ppv", "auc"],
    )
    lines = found.paper(names={"auc": "AUROC"}).splitlines()
    low, high = found.interval("auc")
    assert lines[-1] == f"| AUROC | {found['auc'].value:.2f} ({low:.2f}, {high:.2f}) |"
    assert r"\toprule" in found.paper("latex", digits=3)
    assert f"{100 * found['ppv'].value:.1f} (" in found.paper("text", digits=1, percent=True)
    assert "naive" not in found.to_latex()
    assert "naive" in found.to_latex(naive=True)


WRONG: list[tuple[dict[str, Any], str]] = [
    (
        {"truth": "diagnosis", "predicted": "p", "units": "doc", "clusters": "doc"},
        "`units` and `clusters` must not come",
    ),
    ({"truth": "diagnosis", "predicted": "p", "threshold": 0.5}, "`threshold` must be left out beside `predicted`"),
    ({"truth": "diagnosis", "threshold": 0.5}, "`threshold` must go with `truth` and `score`"),
    (
        {"truth": "species", "score": "prob", "threshold": 0.5, "metrics": "accuracy"},
        "`threshold` must be left out for 3",
    ),
    ({"truth": "species", "predicted": "guess", "average": "mean", "metrics": "f1"}, "`average` must be one of"),
    ({"truth": "species", "predicted": "guess", "average": None, "metrics": "kappa"}, "`average` must be left out for"),
    (
        {"truth": "diagnosis", "score": "prob", "metrics": "sensitivity"},
        r"`predicted` must name a column .*`threshold`",
    ),
]


@pytest.mark.parametrize(("asked", "message"), WRONG)
def test_wrong_questions_get_a_sentence(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(StratError, match=message):
        strat.evaluate(_patients(), **asked)


def test_the_command_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _csv(_patients(), tmp_path)
    asked = ["--truth", "diagnosis", "--score", "prob", "--threshold", "0.2", "--positive", "malignant"]
    asked += ["--clusters", "patient", "--metrics", "sensitivity", "--metrics", "auc", "--by", "sex"]
    with pytest.raises(SystemExit) as end:
        main(["evaluate", str(path), *asked, "--json"])
    assert not end.value.code
    told = json.loads(capsys.readouterr().out)
    found = strat.evaluate(
        path,
        truth="diagnosis",
        score="prob",
        threshold=0.2,
        positive="malignant",
        clusters="patient",
        metrics=["sensitivity", "auc"],
        by="sex",
    )
    assert told["measures"][0]["estimate"] == found["sensitivity"].value
    assert [line["sex"] for line in told["groups"]] == ["f", "m", "f", "m"]
    assert told["roles"]["units"] == "patient"
    with pytest.raises(SystemExit):
        main(["evaluate", str(path), *asked, "--paper", "--digits", "3"])
    assert f"{found['auc'].value:.3f} (" in capsys.readouterr().out


def test_a_threshold_that_no_row_reaches_keeps_the_other_measures() -> None:
    """It ended in a warning with a source line, and an error about `trials`."""
    found = strat.evaluate({"y": [0, 1] * 5, "s": [0.1, 0.4] * 5}, truth="y", score="s", threshold=0.9)
    assert found["specificity"].value == 1
    assert any("precision is undefined" in note for note in found.notes)
    assert "ppv" in str(found)


def test_measures_may_stand_in_one_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = strat.evaluate({"y": [0, 1, 1, 0], "p": [0, 1, 0, 0]}, truth="y", predicted="p", metrics="accuracy, kappa")
    assert list(found.estimates) == ["accuracy", "kappa"]
    path = _csv(_patients(), tmp_path)
    with pytest.raises(SystemExit):
        main(
            [
                "evaluate",
                str(path),
                "--truth",
                "diagnosis",
                "--predicted",
                "p",
                "--metric",
                "sensitivty",
                "--positive",
                "malignant",
            ]
        )
    assert "did you mean 'sensitivity'" in capsys.readouterr().err


def test_a_comparison_in_groups_has_a_report(tmp_path: Path) -> None:
    data = _patients()
    board = strat.compare(
        {**data, "other": data["guess"][::-1]}, truth="species", predicted=["guess", "other"], units="doc", by="site"
    )
    page = board.report(tmp_path / "r.html").read_text()
    assert "By site" in page
