"""`strat.compare` from every source, by any measure, in groups, against a baseline; and `strat compare` the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

import strat
from strat import comparison, verbs
from strat.base.errors import StratError
from strat.cli.app import app
from strat.estimation.hypothesis_tests import f_pvalue
from strat.measures import Statistic
from writing_logs import Write

RNG = np.random.default_rng(5)
N = 360
DOC = np.repeat(np.arange(60), 6)
LANGUAGE = np.array(["de", "en", "fr"])[DOC % 3]
TRUTH = RNG.choice(["x", "y", "z"], N)
ILL = np.where(RNG.random(N) < 0.4, "malignant", "benign")


def _answers(skill: float) -> np.ndarray:
    hard = RNG.normal(size=60)[DOC]
    return np.where(RNG.normal(size=N) + hard < skill, TRUTH, RNG.choice(["x", "y", "z"], N))


COLUMNS = {
    "id": np.arange(N),
    "doc": DOC,
    "lang": LANGUAGE,
    "y": TRUTH,
    "model_a": _answers(0.2),
    "model_b": _answers(0.9),
    "model_c": _answers(0.3),
    "ill": ILL,
    "a": (ILL == "malignant") + RNG.normal(size=N),
    "b": 1.3 * (ILL == "malignant") + RNG.normal(size=N),
}
FRAME = pd.DataFrame(COLUMNS)
DESIGN = strat.Design.clustered(units=DOC)
LABELS: dict[str, Any] = {"truth": "y", "predicted": ["model_a", "model_b"], "units": "doc"}
THREE: dict[str, Any] = LABELS | {"predicted": ["model_a", "model_b", "model_c"]}
AREAS: dict[str, Any] = {"truth": "ill", "score": ["a", "b"], "units": "doc", "positive": "malignant"}


def _ask(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("front") / "t.csv"
    FRAME.to_csv(path, index=False)
    return path


# ---- measures


def test_any_measure_is_paired() -> None:
    board = strat.compare(FRAME, **LABELS, metrics="macro_f1")
    pair = comparison.paired(
        *(strat.f1(TRUTH, COLUMNS[name], average="macro") for name in ("model_b", "model_a")),
        on=DESIGN,
        higher_is_better=True,
        names=("model_b", "model_a"),
    )
    assert board.systems == pair.names
    assert board.pvalue == pytest.approx(pair.pvalue)
    assert board.interval() == pytest.approx(pair.interval())
    assert board.comparison.independent.se == pytest.approx(pair.independent.se)
    assert str(board.comparison) == str(pair)


def test_areas_are_paired_with_the_class_named() -> None:
    board = strat.compare(FRAME, **AREAS, metrics="auc")
    pair = comparison.paired(
        *(strat.auc(ILL, COLUMNS[name], positive="malignant") for name in "ba"), on=DESIGN, higher_is_better=True
    )
    assert board.pvalue == pytest.approx(pair.pvalue)
    assert "measure: AUC (positive class: malignant)" in str(board)
    assert strat.compare(FRAME, **AREAS).pvalue == board.pvalue  # what scores beside a truth are for
    with pytest.raises(StratError, match="`positive` must name the positive class"):
        strat.compare(FRAME, **AREAS | {"positive": None})


@pytest.mark.parametrize(
    "source", [FRAME, pl.DataFrame(COLUMNS), COLUMNS, "file"], ids=["pandas", "polars", "dict", "file"]
)
def test_every_source_says_the_same(source: Any, file: Path) -> None:
    board = strat.compare(file if isinstance(source, str) else source, **LABELS, metrics="macro_f1")
    assert board.pvalue == pytest.approx(strat.compare(FRAME, **LABELS, metrics="macro_f1").pvalue, abs=1e-12)
    if not isinstance(source, str | dict):
        assert type(board.to_frame()) is type(source)


def test_several_measures_make_several_boards() -> None:
    board = strat.compare(FRAME, **LABELS, metrics=["accuracy", "macro_f1"])
    assert list(board.boards) == ["accuracy", "macro_f1"]
    assert board["macro_f1"].pvalue == strat.compare(FRAME, **LABELS, metrics="macro_f1").pvalue
    assert board.to_dict()["measure"] == ["accuracy"] * 2 + ["macro_f1"] * 2
    assert "macro_f1: model_b" in str(board)
    assert list(json.loads(board.to_json())["further_measures"]) == ["macro_f1"]
    with pytest.raises(
        StratError, match="`measure` must be a measure that was asked for, got 'f1'; there are 'accuracy', 'macro_f1'"
    ):
        board["f1"]


def test_errors_and_losses_rank_the_lowest_first() -> None:
    numbers = {"y": RNG.normal(size=N), "doc": DOC}
    numbers |= {"near": numbers["y"] + 0.1 * RNG.normal(size=N), "far": numbers["y"] + RNG.normal(size=N)}
    board = strat.compare(numbers, truth="y", predicted=["far", "near"], units="doc", metrics="rmse")
    assert board.systems == ("near", "far")
    chance = {"ill": ILL, "sure": np.where(ILL == "malignant", 0.8, 0.1), "even": np.full(N, 0.5) + 0.01 * (DOC % 2)}
    board = strat.compare(chance, truth="ill", score=["even", "sure"], metrics="brier", positive="malignant")
    assert board.systems == ("sure", "even")


def test_a_measure_knows_what_is_better() -> None:
    board = strat.compare(FRAME, **LABELS, metrics="error_rate")
    assert board.systems == strat.compare(FRAME, **LABELS).systems
    with pytest.raises(StratError, match="`higher_is_better` must be left out beside `truth`"):
        strat.compare(FRAME, **LABELS, higher_is_better=True)

    def losses(truth: Any, predicted: Any) -> Any:
        return strat.mean((truth != predicted) * 2.0)

    own = strat.compare(FRAME, **LABELS, metrics=losses, higher_is_better=False)
    assert own.systems == board.systems
    assert own.pvalue == pytest.approx(board.pvalue, rel=0.05)  # t of a mean, the score of a share


def test_a_threshold_makes_labels_of_scores() -> None:
    at = strat.compare(FRAME, **AREAS, metrics="recall", threshold=0.5)
    labels = {name: np.where(COLUMNS[name] >= 0.5, "malignant", "benign") for name in "ab"}
    own = strat.compare(
        {**COLUMNS, **labels}, truth="ill", predicted=["a", "b"], units="doc", metrics="recall", positive="malignant"
    )
    assert at.interval() == pytest.approx(own.interval())
    assert at.positive == "malignant"
    both = strat.compare(FRAME, **AREAS, metrics=["auroc", "sensitivity"], threshold=0.5)
    assert both["sensitivity"].pvalue == pytest.approx(at.pvalue)
    assert both["auroc"].pvalue == pytest.approx(strat.compare(FRAME, **AREAS).pvalue)
    with pytest.raises(StratError, match="`threshold` must be left out beside `predicted`: it is for scores"):
        strat.compare(FRAME, **LABELS, threshold=0.5)


def test_an_average_over_classes() -> None:
    board = strat.compare(FRAME, **LABELS, metrics="f1", average="macro")
    assert board.pvalue == strat.compare(FRAME, **LABELS, metrics="macro_f1").pvalue
    with pytest.raises(StratError, match="`average` must be left out for 'kappa'"):
        strat.compare(FRAME, **LABELS, metrics="kappa", average="macro")


def test_clusters_are_units() -> None:
    other = {key: value for key, value in LABELS.items() if key != "units"}
    assert strat.compare(FRAME, **other, clusters="doc").pvalue == strat.compare(FRAME, **LABELS).pvalue
    with pytest.raises(StratError, match="`units` and `clusters` must not come together"):
        strat.compare(FRAME, **LABELS, clusters="doc")


# ---- what can be asked of the result


def test_the_result_answers_what_the_page_asks() -> None:
    board = strat.compare(FRAME, **THREE)
    assert board.groups() == board.many.groups(0.95)
    assert np.array_equal(board.ranks()[0], board.many.ranks(0.95)[0])
    assert board.winner() == board.many.winner(0.95)
    with pytest.raises(StratError, match=r"these are 3; see .pairs\(\) for all pairs, or .difference\(a, b\)"):
        _ = board.pvalue
    with pytest.raises(StratError, match="`b` must name the system to subtract"):
        board.difference("model_a")
    assert board.difference("model_a", "model_b").value == -board.difference("model_b", "model_a").value


@pytest.mark.parametrize("options", [LABELS, THREE, THREE | {"baseline": "model_a"}, LABELS | {"by": "lang"}])
def test_columns_have_names_of_their_own(options: dict[str, Any]) -> None:
    board = strat.compare(FRAME, **options)
    headers = board.sheet().columns
    assert len(set(headers)) == len(headers)
    assert repr(board) == str(board)
    assert repr(board.many) == str(board.many)
    assert "<table>" in board._repr_html_()
    assert list(board.to_frame().columns) == list(board.to_dict())


def test_two_systems_have_a_comparison_with_a_picture_and_a_page(tmp_path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    pair = strat.compare(FRAME, **LABELS).comparison
    assert repr(pair) == str(pair)
    assert pair.to_frame("pandas")["rows"].tolist() == ["as sampled", "as independent"]
    assert pair.plot().get_xlabel().endswith("model_b − model_a (95 %)")
    assert pair.report(tmp_path / "pair.html").stat().st_size > 1000
    assert strat.compare(FRAME, **THREE).many.to_frame("polars")["system"][0] == "model_b"


def test_the_sentence_has_the_level_of_the_table() -> None:
    assert "90 % " in str(strat.compare(FRAME, **LABELS, level=0.9)).split("\n\n")[-1].split(";")[0]


# ---- a baseline


def test_differences_are_stated_against_the_baseline() -> None:
    for baseline, other in (("model_a", "model_b"), ("model_b", "model_a")):
        board = strat.compare(FRAME, **LABELS, baseline=baseline)
        assert board.comparison.names == (other, baseline)
        assert board.difference().value == pytest.approx(board.difference(other, baseline).value)
        row = board.to_dict()["system"].index(other)
        assert board.to_dict()["difference"][row] == pytest.approx(board.difference(other).value)
        assert board.to_dict()["difference"][1 - row] is None
    with pytest.raises(StratError, match="`baseline` must be one of the systems, got 'model_d'; did you mean"):
        strat.compare(FRAME, **LABELS, baseline="model_d")


def test_limits_against_a_baseline_hold_for_all_others_at_once() -> None:
    board = strat.compare(FRAME, **THREE, baseline="model_a")
    columns = board.against()
    assert columns["system"] == [name for name in board.systems if name != "model_a"]
    alone = [board.difference(name).interval() for name in columns["system"]]
    pairs = board.many.intervals(0.95)
    k = board.systems.index("model_a")
    for row, name in enumerate(columns["system"]):
        width = columns["high"][row] - columns["low"][row]
        i = board.systems.index(name)
        assert alone[row][1] - alone[row][0] < width < pairs[1][i, k] - pairs[0][i, k]
        assert columns["pvalue"][row] <= columns["adjusted"][row]


# ---- groups


@pytest.mark.parametrize("metric", ["accuracy", "macro_f1"])
def test_differences_in_groups_are_those_of_domains(metric: str) -> None:
    board = strat.compare(FRAME, **LABELS, metrics=metric, by="lang")
    make = strat.accuracy if metric == "accuracy" else lambda t, p: strat.f1(t, p, average="macro")
    parts = {
        f"{name} {lang}": strat.domain(make(TRUTH, COLUMNS[name]), lang == LANGUAGE)
        for lang in ("de", "en", "fr")
        for name in ("model_b", "model_a")
    }
    joint = strat.estimate(strat.stack("part", **parts), on=DESIGN)
    differences = joint.map(lambda v: v[..., ::2] - v[..., 1::2])
    assert list(board.each) == ["de", "en", "fr"]
    for k, lang in enumerate(board.each):
        assert board.each[lang].comparison.value == pytest.approx(differences.value[k])
        assert board.each[lang].comparison.se == pytest.approx(differences.se[k])
        assert board.each[lang].comparison.names == ("model_b", "model_a")
    off = differences.map(lambda v: v[..., 1:] - v[..., :1])
    wald = off.value @ np.linalg.inv(off.covariance) @ off.value / 2
    test = board.test()
    assert test.pvalue == pytest.approx(f_pvalue(float(wald), (2.0, 30.0)), abs=0.1)
    assert board.to_dict()["lang"] == ["all", "de", "en", "fr"]
    assert "difference model_b − model_a, equal in all groups? p = " in str(board)
    assert json.loads(board.to_json())["by"]["differences"]["test"]["pvalue"] == pytest.approx(test.pvalue)


def test_more_systems_have_a_board_in_each_group() -> None:
    board = strat.compare(FRAME, **THREE, by=["lang"])
    assert len(board.to_dict()["system"]) == 12
    within = strat.compare(FRAME[LANGUAGE == "de"], **THREE)
    assert board.each["de"].systems == within.systems
    assert board.each["de"].estimate.point == pytest.approx(within.estimate.point)
    with pytest.raises(StratError, match="`by` must make groups, of two systems"):
        board.test()


def test_groups_without_a_value_are_named() -> None:
    only = {**COLUMNS, "site": np.where((DOC < 30) | (ILL == "benign"), "p", "q"), "one": np.where(DOC == 3, "s", "r")}
    board = strat.compare(only, **AREAS, by="site")
    assert list(board.each) == ["p"]
    assert "no value in q: " in str(board)
    single = strat.compare(only, **LABELS, by="one")
    assert single.undefined["s"] == "all its rows belong to one unit, so that it has no standard error."


# ---- tables of one system each, and long ones


def _parts() -> dict[str, pd.DataFrame]:
    shared = FRAME[["id", "doc", "y", "lang"]]
    order = np.random.default_rng(1).permutation(N)
    return {
        name: shared.assign(guess=COLUMNS[name]).iloc[order if name == "model_b" else np.arange(N)]
        for name in ("model_a", "model_b")
    }


JOIN: dict[str, Any] = {"items": "id", "truth": "y", "predicted": "guess", "units": "doc", "metrics": "macro_f1"}


def test_one_table_for_each_system(tmp_path: Path) -> None:
    wanted = strat.compare(FRAME, **LABELS, metrics="macro_f1").pvalue
    parts = _parts()
    assert strat.compare(parts, **JOIN).pvalue == pytest.approx(wanted, abs=1e-12)
    assert isinstance(strat.compare(parts, **JOIN).to_frame(), pd.DataFrame)
    files = [tmp_path / f"{name}.csv" for name in parts]
    for path, part in zip(files, parts.values(), strict=True):
        part.to_csv(path, index=False)
    board = strat.compare([str(path) for path in files], **JOIN)
    assert board.pvalue == pytest.approx(wanted, abs=1e-12)
    assert set(board.systems) == {"model_a", "model_b"}
    named = strat.compare(files, **JOIN, name=["old", "new"], by="lang", baseline="old")
    assert named.comparison.names == ("new", "old")
    assert len(named.each) == 3
    with pytest.raises(StratError, match="`name` must have one name for each of the 2 tables"):
        strat.compare(files, **JOIN, name=["old"])
    with pytest.raises(StratError, match="`source` must name the systems of several frames"):
        strat.compare(list(parts.values()), **JOIN)
    with pytest.raises(StratError, match="`items` must name the column of items"):
        strat.compare(parts, **JOIN | {"items": None})


def test_a_long_table_of_labels() -> None:
    long = pd.concat([part.assign(model=name) for name, part in _parts().items()])
    board = strat.compare(long, system="model", **JOIN, by="lang")
    assert board.pvalue == pytest.approx(strat.compare(FRAME, **LABELS, metrics="macro_f1").pvalue, abs=1e-12)
    assert list(board.each) == ["de", "en", "fr"]
    with pytest.raises(StratError, match="`items` must name each row of model_a once"):
        strat.compare(long, system="model", **JOIN | {"items": "doc"})
    with pytest.raises(StratError, match="every system must have the same items, but model_b has 1 "):
        strat.compare(long.iloc[1:], system="model", **JOIN)
    some = strat.compare(long.iloc[1:], system="model", **JOIN, unmatched="common")
    facts = {"case": "extra", "common": 359, "extra": (("model_b", 1),)}
    assert facts in [note.facts for note in some.notes]


def test_tries_of_a_long_table_are_averaged_and_grouped() -> None:
    rows = [
        {"model": model, "item": i, "epoch": e, "score": float(RNG.random() < p), "topic": "uv"[i % 2]}
        for model, p in (("new", 0.8), ("old", 0.4))
        for i in range(40)
        for e in range(5)
    ]
    board = strat.compare(pd.DataFrame(rows), system="model", by="topic")
    assert {"case": "tries", "least": 5, "most": None} in [note.facts for note in board.notes]
    assert "The column 'epoch' is taken as epoch because of its name." in board.notes
    assert list(board.each) == ["u", "v"]
    with pytest.raises(StratError, match="`by` must name a column"):
        strat.compare(pd.DataFrame(rows), system="model", by="subject")


def test_the_population_of_a_long_table_is_a_column_too() -> None:
    long = {"system": np.repeat(["a", "b"], 40), "item": np.tile(np.arange(40), 2), "score": RNG.random(80)}
    rows = strat.compare(long | {"size": np.full(80, 80.0)}, design=strat.Sampling(population="size"))
    assert rows.pvalue == pytest.approx(strat.compare(long, design=strat.Sampling(population=80)).pvalue)
    assert rows.pvalue < strat.compare(long).pvalue
    with pytest.raises(StratError, match="`population` must name a column"):
        strat.compare(long, design=strat.Sampling(population="size"))


def test_scores_of_data_sets_from_a_long_table(tmp_path: Path) -> None:
    grid = RNG.random((8, 3))
    long = pd.DataFrame([(f"d{i}", "ABC"[j], grid[i, j]) for i in range(8) for j in range(3)], columns=["d", "s", "v"])
    scores = verbs.score_table(long, dataset="d", system="s", score="v", higher_is_better=True)
    wide = verbs.score_table(
        {"d": [f"d{i}" for i in range(8)], **dict(zip("ABC", grid.T, strict=True))}, higher_is_better=True
    )
    assert np.array_equal(scores.values, grid)
    assert np.array_equal(wide.values, grid)
    assert scores.data_sets == wide.data_sets
    long.to_csv(tmp_path / "long.csv", index=False)
    printed = _ask(
        "rank", tmp_path / "long.csv", "--dataset", "d", "--system", "s", "--score", "v", "--higher-is-better", "--json"
    )
    friedman = comparison.friedman(scores, higher_is_better=True)
    assert json.loads(printed)["friedman"]["pvalue"] == pytest.approx(friedman.pvalue)
    with pytest.raises(StratError, match="`dataset`, `system` and `score` together"):
        verbs.score_table(long, system="s", higher_is_better=True)


# ---- logs


def test_logs_are_named_by_file_and_by_hand(tmp_path: Path, eval_log: Write) -> None:
    for name, right in (("first", 3), ("second", 1)):
        samples = [{"id": i, "epoch": 1, "scores": {"m": {"value": 1.0 * (i % 4 < right)}}} for i in range(12)]
        eval_log(tmp_path / f"{name}.eval", samples, model="alpha")
    board = strat.compare(tmp_path, runs="separate")
    facts = {"runs": (("alpha #1", "first.eval"), ("alpha #2", "second.eval"))}
    assert facts in [note.facts for note in board.notes]
    assert strat.compare(tmp_path, name=["one", "two"]).systems == ("one", "two")
    files = [tmp_path / "second.eval", tmp_path / "first.eval"]
    assert strat.compare(files, name=["two", "one"]).systems == ("one", "two")
    text = _ask("compare", *files, "--name", "tuned", "--name", "base", "--json")
    assert json.loads(text)["leaderboard"][0]["system"] == "base"
    with pytest.raises(
        StratError, match=r"one name for each of the 2 logs \('first.eval', 'second.eval'\), got 3 names"
    ):
        strat.compare(tmp_path, name=["one", "two", "three"])
    with pytest.raises(StratError, match=r"or give the systems names with `name`"):
        strat.compare(tmp_path)


# ---- the command line


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--metric", "macro_f1", "--by", "lang"], {"metrics": "macro_f1", "by": "lang"}),
        (["--metrics", "accuracy", "--metric", "kappa"], {"metrics": ["accuracy", "kappa"]}),
        (["--predicted", "model_c", "--baseline", "model_a"], THREE | {"baseline": "model_a"}),
        (["--metric", "f1", "--average", "weighted"], {"metrics": "f1", "average": "weighted"}),
    ],
)
def test_the_command_says_what_the_library_says(arguments: list[str], options: dict[str, Any], file: Path) -> None:
    call = ["compare", file, "--truth", "y", "--predicted", "model_a", "--predicted", "model_b", "--clusters", "doc"]
    text = _ask(*call, *arguments, "--json")
    assert json.loads(text) == json.loads(strat.compare(str(file), **LABELS | options).to_json())


def test_areas_on_the_command_line(file: Path) -> None:
    call = ["compare", file, "--truth", "ill", "--score", "a", "--score", "b", "--units", "doc"]
    found = json.loads(_ask(*call, "--metric", "auc", "--positive", "malignant", "--json"))
    assert found["schema"] == "strat/compare/4"
    assert found["comparison"]["pvalue"] == pytest.approx(strat.compare(FRAME, **AREAS).pvalue, abs=1e-12)
    with pytest.raises(StratError, match="`--positive` must name the positive class"):
        _ask(*call)


@pytest.mark.parametrize("command", ["compare", "rank", "chance"])
def test_commands_share_the_options_of_output(command: str) -> None:
    text = _ask(command, "--help")
    for option in ("--html", "--json", "--markdown", "--latex", "--quiet", "--output"):
        assert text.count(option) >= 1, option


@pytest.mark.parametrize(
    ("metric", "way_out"),
    [
        ("nri", "which compares two itself; evaluate it with the old model's risk as `predicted`"),
        ("net_reclassification_improvement", "which compares two itself"),
        (
            "cost_per_success",
            "which takes `predicted` and `score`; evaluate each system by it, or pair them with strat",
        ),
        ("harrell_c", "which takes `predicted` and `score`"),
        ("median", "a quantile; evaluate each system by it, or compare their means"),
        ("p95", "a quantile; evaluate each system by it"),
        ("quantile@0.9", "a quantile; evaluate each system by it"),
        ("mean, median", "got 'median', a quantile"),
    ],
)
def test_measures_that_are_evaluated_and_not_compared(metric: str, way_out: str) -> None:
    rng = np.random.default_rng(0)
    table = {"y": rng.integers(0, 2, 40), "a": rng.random(40), "b": rng.random(40)}
    with pytest.raises(StratError, match="`metrics` must be ") as error:
        strat.compare(table, truth="y", score=["a", "b"], metrics=metric)
    assert way_out in str(error.value)


def test_a_measure_of_ones_own_has_the_direction_of_its_statistic() -> None:
    """Fewer errors are better, whoever counts them."""
    rows = {
        "y": [0, 1] * 30,
        "good": [0, 1] * 28 + [1, 0] * 2,
        "bad": [0, 1] * 20 + [1, 0] * 10,
        "g": list("aabb") * 15,
    }

    def errors(truth: Any, predicted: Any) -> Statistic:
        return strat.error_rate(truth, predicted)

    own, ours = (strat.compare(rows, truth="y", predicted=["good", "bad"], metrics=m) for m in (errors, "error_rate"))
    assert own.systems == ours.systems == ("good", "bad")
    assert own.pvalue == ours.pvalue
    gates = (
        strat.gate(rows, truth="y", predicted=["good", "bad"], baseline="good", candidate="bad", margin=0.02, metrics=m)
        for m in (errors, "error_rate")
    )
    assert [gate.answer for gate in gates] == ["worse", "worse"]
    groups = strat.evaluate(rows, truth="y", predicted="bad", by="g", metrics=errors).groups["errors"]
    assert groups.higher_is_better is False
