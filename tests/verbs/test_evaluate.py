"""`evaluate`: what it says beside the numbers, its forms, and every way to ask wrongly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strat
from strat import StratError
from strat.data import read, reduce
from strat.data.cells import combine
from strat.show.render import escape_csv, escape_latex, escape_markdown, shown, write
from strat.verbs import evaluate
from strat.verbs.evaluation import Evaluation

ROWS = {"truth": "truth", "predicted": "guess"}


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40), st.integers(0, 2)), min_size=1, max_size=60))
def test_combined_codes_are_the_distinct_rows(rows: list[tuple[int, int, int]]) -> None:
    columns = [np.array(c) for c in zip(*rows, strict=True)]
    code, number = combine(columns, [4, 41, 3])
    assert number == len(set(rows))
    order = {row: k for k, row in enumerate(sorted(set(rows)))}
    assert code.tolist() == [order[row] for row in rows]


@given(st.integers(1, 6), st.integers(0, 1000))
def test_a_row_of_weight_k_is_k_rows_in_the_value(weight: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, guess = rng.integers(0, 3, (2, 30))
    times = np.where(rng.random(30) < 0.5, weight, 1)
    once = {"truth": truth, "guess": guess, "w": times}
    again = {"truth": np.repeat(truth, times), "guess": np.repeat(guess, times)}
    a = evaluate(once, **ROWS, weights="w", metrics="accuracy")["accuracy"].value
    assert a == pytest.approx(evaluate(again, **ROWS, metrics="accuracy")["accuracy"].value)


def test_cells_keep_rows_and_weights(predictions: dict[str, np.ndarray]) -> None:
    cells = reduce(read(predictions), {"truth": "truth", "predicted": "guess", "units": "passage"}, weights="weight")
    assert cells.rows == 2000
    assert len(cells) < 540
    assert cells.mass.sum() == predictions["weight"].sum()


def test_the_naive_interval_is_that_of_independent_rows(predictions: dict[str, np.ndarray]) -> None:
    found = evaluate(predictions, **ROWS, strata="subject", units="passage", metrics="accuracy")
    plain = strat.estimate(
        strat.accuracy(predictions["truth"], predictions["guess"]), on=strat.Design.simple_random(n=2000)
    )
    assert found.naive("accuracy") == pytest.approx(plain.interval(), rel=1e-12)
    low, high = found.interval("accuracy")
    assert high - low > 1.5 * np.diff(plain.interval())[0]


def test_strata_have_estimates_of_their_own(predictions: dict[str, np.ndarray]) -> None:
    for units in (None, "passage"):
        found = evaluate(predictions, **ROWS, strata="subject", units=units)
        for label, estimate in found.strata.items():
            inside = predictions["subject"] == label
            right = predictions["truth"][inside] == predictions["guess"][inside]
            assert estimate.value == pytest.approx(right.mean())
            on = strat.Design.stratified(predictions["subject"], units=None if units is None else predictions[units])
            statistic = strat.accuracy(predictions["truth"], predictions["guess"])
            wanted = strat.estimate(strat.domain(statistic, inside), on=on)
            assert estimate.se == pytest.approx(wanted.se, rel=1e-10)
            assert estimate.df == wanted.df


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"truth": "truth"}, "`predicted` or `score` must name a column beside `truth`, got neither"),
        ({"predicted": "guess"}, "`truth` must name the column of true labels beside `predicted`, got None"),
        ({}, r"`truth` and `predicted` \(or `score`\) must name the columns to evaluate, got none of them"),
    ],
)
def test_only_the_roles_that_are_missing_are_asked_for(
    given: dict[str, str], message: str, predictions: dict[str, np.ndarray]
) -> None:
    with pytest.raises(StratError, match=message):
        evaluate(predictions, **given)


def test_the_confusion_matrix_is_kept(predictions: dict[str, np.ndarray]) -> None:
    found = evaluate(predictions, **ROWS, units="passage")
    assert found.labels is not None
    assert found.labels.tolist() == ["ant", "bee", "cat"]
    assert found.confusion.sum() == 2000
    assert np.trace(found.confusion) / 2000 == pytest.approx(found["accuracy"].value)


def test_clusters_that_nobody_named_are_seen(predictions: dict[str, np.ndarray]) -> None:
    found = evaluate(predictions, **ROWS)
    assert any("rows of the same 'passage' are correlated" in w and "--units passage" in w for w in found.notes)
    assert not any("passage" in w for w in evaluate(predictions, **ROWS, units="passage").notes)
    rng = np.random.default_rng(1)
    shuffled = {**predictions, "passage": rng.permutation(predictions["passage"])}
    assert not any("'passage'" in w for w in evaluate(shuffled, **ROWS).notes)


def test_the_outcome_under_another_name_is_no_cluster(predictions: dict[str, np.ndarray]) -> None:
    right = predictions[ROWS["truth"]] == predictions[ROWS["predicted"]]
    named = {"correct": right.astype(int), "verdict": np.where(right, "right", "wrong")}
    warnings = evaluate({**predictions, **named}, **ROWS).notes
    assert not any(name in w for w in warnings for name in named)
    assert any("'passage'" in w for w in warnings)


def test_no_rows_leave_a_cluster_for_a_hint(predictions: dict[str, np.ndarray]) -> None:
    dask = pytest.importorskip("dask.dataframe")
    import pandas as pd
    import polars as pl

    assert evaluate(pl.DataFrame(predictions).lazy(), **ROWS).notes
    assert evaluate(dask.from_pandas(pd.DataFrame(predictions), npartitions=2), **ROWS).notes == ()


def test_subjects_as_units_are_warned_about(predictions: dict[str, np.ndarray]) -> None:
    found = evaluate(predictions, **ROWS, units="subject")
    assert found.notes[0].startswith("units='subject' has only 4 levels for 2,000 rows")
    assert "use strata='subject'" in found.notes[0]


def test_rows_as_strata_are_warned_about() -> None:
    data = {"truth": [0, 1] * 100, "guess": [0, 0] * 100, "id": [i // 2 for i in range(200)]}
    found = evaluate(data, **ROWS, strata="id")
    assert found.notes[0].startswith("strata='id' has 100 levels for 200 rows")


def test_this_very_benchmark_varies_only_in_its_repeats() -> None:
    rng = np.random.default_rng(2)
    item = np.repeat(np.arange(40), 5)
    score = (rng.random(200) < rng.random(40)[item]).astype(float)
    data = {"item": item, "score": score}
    kind = evaluate(data, score="score", items="item")
    these = evaluate(data, score="score", items="item", target="benchmark")
    assert these["mean"].se < kind["mean"].se
    within = np.array([score[item == i].var(ddof=1) / 5 for i in range(40)]).sum() / 40**2
    assert these["mean"].se == pytest.approx(np.sqrt(within), rel=1e-9)
    assert "only the repeats vary" in these.target


def test_lone_strata_have_their_ways_out() -> None:
    data = {"truth": [0, 1, 0, 1, 1], "guess": [0, 1, 1, 1, 1], "s": ["a", "a", "b", "b", "c"]}
    with pytest.raises(StratError, match=r"`strata` must have at least two units each, got one in 'c'"):
        evaluate(data, **ROWS, strata="s")
    for lone in ("certainty", "collapse", "centre", "average"):
        assert 0 < evaluate(data, **ROWS, strata="s", lone=lone, metrics="accuracy")["accuracy"].se < 0.5


@pytest.mark.parametrize("method", ["jackknife", "bootstrap", "generalized"])
def test_replicates_without_units_are_of_rows(predictions: dict[str, np.ndarray], method: str) -> None:
    part = {name: values[:120] for name, values in predictions.items()}
    found = evaluate(part, **ROWS, metrics="accuracy", method=method)
    taylor = evaluate(part, **ROWS, metrics="accuracy")
    assert found["accuracy"].se == pytest.approx(taylor["accuracy"].se, rel=0.15)


def test_a_perfect_classifier_is_not_certain() -> None:
    found = evaluate({"truth": [0, 1] * 20, "guess": [0, 1] * 20}, **ROWS, metrics="accuracy")
    low, high = found.interval("accuracy")
    assert high == 1
    assert 0.9 < low < 0.95  # 1 - 3.7 / 40: Clopper and Pearson's limit of 40 of 40 is 0.912


def test_forms(predictions: dict[str, np.ndarray]) -> None:
    found = evaluate(predictions, **ROWS, units="passage")
    assert isinstance(found, Evaluation)
    data = json.loads(found.to_json())
    assert data["schema"] == "strat/evaluate/4"
    assert data["measures"][0]["estimate"] == found["accuracy"].value
    assert found.to_markdown().splitlines()[2].startswith("| measure | estimate |")
    assert r"\toprule" in found.to_latex()
    assert found.to_csv().splitlines()[0].startswith("measure,estimate,se")
    assert "Inference is for the population of units" in str(found)
    assert "<td>accuracy</td>" in found._repr_html_()
    with pytest.raises(StratError, match="`name` must be a measure that was asked for, got 'acuracy'; did you mean"):
        found["acuracy"]


def test_labels_from_data_are_harmless() -> None:
    assert escape_markdown("<script>|x|\n`y`") == r"&lt;script&gt;\|x\| \`y\`"
    assert escape_latex(r"50% \input{x}_y") == r"50\% \textbackslash{}input\{x\}\_y"
    assert [escape_csv(t) for t in ("=1+1", "@x", "-1.5", 'a"b', "x,y")] == ["'=1+1", "'@x", "-1.5", '"a""b"', '"x,y"']
    assert [shown(v) for v in (None, True, 0.12345, 12345.5, float("nan"), float("inf"), 3)] == [
        "", "yes", "0.1235", "1.235e+04", "–", "∞", "3",
    ]  # fmt: skip


def test_files_are_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")

    def broken(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", broken)
    with pytest.raises(KeyboardInterrupt):
        write(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    write(path, "new")
    assert path.read_text() == "new"
    with pytest.raises(StratError, match="there is no folder"):
        write(tmp_path / "none" / "x.csv", "x")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "`truth` and `predicted`"),
    (
        {"truth": "truth", "predicted": "gues"},
        "`predicted` must name a column of the columns, got 'gues'; did you mean 'guess'",
    ),
    ({**ROWS, "metrics": "acuracy"}, "`metrics` must be names of measures, got 'acuracy'; did you mean 'accuracy'"),
    ({**ROWS, "metrics": []}, "`metrics` must name at least one measure"),
    ({**ROWS, "metrics": "auc"}, "`score` must name a column for the measure 'auc'"),
    ({**ROWS, "method": "magic"}, "`method` must be one of"),
    ({**ROWS, "level": 95}, "`level` must lie strictly between 0 and 1, got 95"),
    ({**ROWS, "target": "everything"}, "`target` must be one of"),
    ({**ROWS, "missing": "ignore"}, "`missing` must be one of"),
    ({**ROWS, "lone": "drop"}, "`lone` must be one of"),
    ({**ROWS, "weights": "truth"}, "column `truth` must be numbers, got 'ant' in row"),
    ({**ROWS, "weights": "negative"}, "`weights` must be finite and not negative, but column 'negative' has 2,000"),
    ({"truth": "truth", "score": "guess"}, "column `guess` must be numbers"),
]
WRONGLY_DRAWN: list[tuple[dict[str, Any], str]] = [
    ({"strata": "subject", "population": "passage"}, "`population` must be the same for all rows of a stratum"),
    ({"population": "passage"}, "`population` must be one number without strata"),
    ({"population": 10}, "`population` must be at least the number of units drawn"),
    ({"units": "passage", "population": 10}, "`population` must be at least the number of units drawn"),
]


@pytest.mark.parametrize(("drawn", "message"), WRONGLY_DRAWN)
def test_wrong_designs(predictions: dict[str, np.ndarray], drawn: dict[str, Any], message: str) -> None:
    with pytest.raises(StratError, match=message):
        evaluate(predictions, **ROWS, design=strat.Sampling(**drawn))


@pytest.mark.parametrize(("asked", "message"), WRONG)
def test_wrong_questions(predictions: dict[str, np.ndarray], asked: dict[str, Any], message: str) -> None:
    data = {**predictions, "negative": -predictions["weight"]}
    with pytest.raises(StratError, match=message.replace("(", r"\(")):
        evaluate(data, **asked)


@pytest.mark.parametrize("bins", [1, 2.5])
def test_bins_must_be_whole(predictions: dict[str, np.ndarray], bins: Any) -> None:
    import polars as pl

    with pytest.raises(StratError, match="`bins` must be a whole number"):
        evaluate(pl.DataFrame(predictions).lazy(), truth="cat", score="score", bins=bins)


def test_text_scores_in_an_engine_are_refused(predictions: dict[str, np.ndarray]) -> None:
    import polars as pl

    lazy = pl.DataFrame(predictions).lazy()
    with pytest.raises(StratError, match="column `guess` must be numbers, got '"):
        evaluate(lazy, truth="truth", score="guess")
    with pytest.raises(StratError, match="`weights` must be finite and not negative, but column 'w' has 2,000"):
        evaluate(lazy.with_columns(w=-pl.col("weight")), **ROWS, weights="w", units="passage")


def test_mlflow_is_optional(predictions: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    import types

    found = evaluate(predictions, **ROWS, units="passage", metrics="accuracy")
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(StratError, match="needs the package mlflow"):
        found.log_to_mlflow()
    logged: dict[str, float] = {}
    double = types.SimpleNamespace(log_metric=logged.__setitem__, log_dict=lambda data, name: None)
    monkeypatch.setitem(sys.modules, "mlflow", double)
    found.log_to_mlflow()
    assert logged["accuracy"] == found["accuracy"].value
    assert set(logged) == {"accuracy", "accuracy_se", "accuracy_low", "accuracy_high"}


def test_truth_values_say_how_right_a_row_is_in_every_file(tmp_path: Path) -> None:
    import duckdb

    right = np.random.default_rng(0).random(60) < 0.3
    data = pd.DataFrame({"right": right, "unit": np.arange(60) // 3})
    paths = [tmp_path / name for name in ("a.csv", "a.parquet", "a.jsonl")]
    data.to_csv(paths[0], index=False)
    duckdb.from_df(data).write_parquet(str(paths[1]))
    data.to_json(paths[2], orient="records", lines=True)
    wanted = evaluate(data, score="right", units="unit")["mean"]
    for path in paths:
        found = evaluate(path, score="right", units="unit")["mean"]
        assert float(found.value) == pytest.approx(right.mean())
        assert float(found.se) == pytest.approx(float(wanted.se))
    with pytest.raises(StratError, match=r"`weights` must name a column of numbers .* which holds truth values"):
        evaluate(paths[0], score="right", weights="right")


def test_missing_objects_and_doubled_names_of_pandas() -> None:
    data = pd.DataFrame({"t": ["a", pd.NA, pd.NaT, "b", None, np.nan], "p": list("aabbab")}, dtype=object)
    with pytest.raises(StratError, match=r"`t` has 4 missing"):
        evaluate(data, truth="t", predicted="p")
    with pytest.raises(StratError, match=r"the frame must name each column once, got 'p' twice"):
        evaluate(pd.concat([data, data[["p"]]], axis=1), truth="t", predicted="p")
    with pytest.raises(StratError, match=r"column `t` must hold plain labels or numbers"):
        evaluate(data.assign(t=[np.zeros(2)] * 6), truth="t", predicted="p")
