"""The positive class is named, never guessed; systems are measured side by side in one way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import strat
from strat import comparison
from strat.base.errors import StratError
from strat.cli.app import main
from strat.measures import loss, probabilities, score_rates, scores
from strat.measures.positive import positive_of
from strat.show.report import explain
from strat.verbs.check import check
from strat.verbs.check_result import sheet

RNG = np.random.default_rng(0)
WHO = np.repeat(np.arange(200), 5)
ILL = RNG.random(1000) < 0.1
SCORE = ILL + RNG.normal(size=1000)
DIAGNOSIS = np.where(ILL, "cancer", "healthy")
TABLE = {
    "who": WHO,
    "truth": DIAGNOSIS,
    "score": SCORE,
    "a": np.where(SCORE > 0.9, "cancer", "healthy"),
    "b": np.where(SCORE > 0.4, "cancer", "healthy"),
}
DESIGN = strat.Design.clustered(units=WHO)
REFUSED = "`positive` must name the positive class of 'cancer' and 'healthy'; for example positive='cancer'"


def written(path: Path, columns: dict[str, Any]) -> str:
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        main(list(arguments))
    except SystemExit as end:
        code = int(end.code or 0)
    else:
        code = 0
    out, err = capsys.readouterr()
    return code, out, err


def test_the_last_word_of_the_alphabet_is_no_positive_class() -> None:
    """AUC of labels cancer and healthy was 0.22, that of the healthy, without a word; with positive="cancer" 0.78."""
    with pytest.raises(StratError, match=REFUSED):
        strat.evaluate(TABLE, truth="truth", score="score", units="who")
    found = strat.evaluate(TABLE, truth="truth", score="score", units="who", positive="cancer")
    assert found["auc"].value == pytest.approx(strat.auc(ILL, SCORE).value())


@pytest.mark.parametrize(
    "measure",
    [
        lambda **k: strat.f1(DIAGNOSIS, TABLE["a"], **k),
        lambda **k: strat.recall(DIAGNOSIS, TABLE["a"], **k),
        lambda **k: strat.auc(DIAGNOSIS, SCORE, **k),
        lambda **k: scores.average_precision(DIAGNOSIS, SCORE, **k),
        lambda **k: score_rates.equal_error_rate(DIAGNOSIS, SCORE, **k),
        lambda **k: scores.roc(DIAGNOSIS, SCORE, thresholds=[0.0], **k),
        lambda **k: scores.det(DIAGNOSIS, SCORE, thresholds=[0.0], **k),
        lambda **k: scores.precision_recall(DIAGNOSIS, SCORE, thresholds=[0.0], **k),
        lambda **k: score_rates.rate_at(DIAGNOSIS, SCORE, fpr=0.1, **k),
        lambda **k: score_rates.rate_within(DIAGNOSIS, SCORE, fpr=0.1, **k),
        lambda **k: score_rates.threshold_at(DIAGNOSIS, SCORE, at=0.1, **k),
        lambda **k: probabilities.brier(DIAGNOSIS, 1 / (1 + np.exp(-SCORE)), **k),
        lambda **k: probabilities.log_loss(DIAGNOSIS, 1 / (1 + np.exp(-SCORE)), **k),
        lambda **k: probabilities.top_k_accuracy(DIAGNOSIS, SCORE, k=1, **k),
        lambda **k: probabilities.calibration_curve(DIAGNOSIS, 1 / (1 + np.exp(-SCORE)), **k),
        lambda **k: probabilities.calibration_error(DIAGNOSIS, 1 / (1 + np.exp(-SCORE)), **k),
        lambda **k: loss.expected_cost(DIAGNOSIS, SCORE, thresholds=[0.0], **k),
    ],
)
def test_every_measure_of_one_class_asks_and_carries_it(measure: Any) -> None:
    """F1 refused text labels, AUC, Brier, log loss, calibration and costs guessed, and no result knew its class."""
    with pytest.raises(StratError, match=REFUSED):
        measure()
    statistic = measure(positive="cancer")
    assert statistic.positive == "cancer"
    assert strat.estimate(statistic, on=DESIGN).positive == "cancer"


def test_a_threshold_is_not_chosen_for_a_guessed_class() -> None:
    """`optimal_threshold` took the last word of the alphabet for the class that a miss of costs ten."""
    with pytest.raises(StratError, match=REFUSED):
        loss.optimal_threshold(DIAGNOSIS, SCORE, false_negative=10)
    named = loss.optimal_threshold(DIAGNOSIS, SCORE, false_negative=10, positive="cancer")
    assert named == loss.optimal_threshold(ILL, SCORE, false_negative=10)


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        ([0, 1], 1),
        ([0.0, 1.0], 1.0),
        ([False, True], True),
        ([-1, 1], 1),
        (["0", "1"], "1"),
        (["False", "True"], "True"),
        ([0], 1),
        ([-1], 1),
        ([False], True),
        (["0"], "1"),
    ],
)
def test_classes_that_say_it_themselves(labels: Any, positive: Any) -> None:
    """0 and 1 need no word, whatever they are made of, and 1 stays the positive class where only 0 occurs."""
    found = positive_of(labels)
    assert found == positive
    assert type(found) is type(positive)


@pytest.mark.parametrize("labels", [[1, 2], [0, 2], ["a"], [2], [True, "yes"], ["no", "yes"], [5.0, 6.0]])
def test_classes_that_do_not_say_it(labels: Any) -> None:
    """Of 1 and 2 the 2 was positive, and of all "b" the b, which may be either."""
    with pytest.raises(StratError, match=r"`positive` must name the positive class.*for example positive="):
        positive_of(labels)


def test_text_names_a_number() -> None:
    """`--positive true` found no class in a column of truth values, because float("true") is none."""
    assert positive_of([False, True], "true") is True
    assert positive_of([1.0, 2.0], "2") == 2.0
    assert positive_of([2**60, 2**60 + 1], str(2**60 + 1)) == 2**60 + 1
    assert positive_of([False], "true") is True
    assert positive_of([2], "3") == 3
    with pytest.raises(StratError, match="`positive` must be one of the labels, got 'x'; there are 1, 2"):
        positive_of([1, 2], "x")


def test_a_mistyped_class_is_no_class_for_brier() -> None:
    """`brier(…, pos_label="Cancer")` called every row negative, and gave a number."""
    with pytest.raises(StratError, match="`positive` must be one of the labels, got 'Cancer'"):
        probabilities.brier(DIAGNOSIS, 1 / (1 + np.exp(-SCORE)), positive="Cancer")


def test_one_class_against_all_others() -> None:
    """`recall` of one class of three could be had only as the macro mean of a list of one."""
    truth, predicted = ["a", "b", "c", "a"], ["a", "c", "c", "b"]
    assert float(strat.recall(truth, predicted, positive="a").value()) == 0.5
    assert float(strat.specificity(truth, predicted, positive="c").value()) == pytest.approx(2 / 3)


def test_every_output_names_the_class(tmp_path: Path) -> None:
    """Text, JSON, LaTeX, Markdown, CSV, frames, HTML and words gave a recall and never said whose."""
    found = strat.evaluate(TABLE, truth="truth", predicted="a", units="who", metrics="recall", positive="cancer")
    for text in (str(found), found.to_latex(), found.to_markdown(), found.to_csv(), found._repr_html_()):
        assert "positive class" in text
        assert "cancer" in text
    assert json.loads(found.to_json())["measures"][0]["positive"] == "cancer"
    assert found.to_dict()["positive"] == ["cancer"]
    assert "positive class: cancer" in str(found["recall"])
    assert "positive class: cancer" in found["recall"]._repr_html_()
    assert found["recall"].to_dict()["positive"] == ["cancer"]
    assert "positive class: cancer" in explain(found)
    page = found.report(tmp_path / "r.html").read_text()
    assert "Recall (positive class: cancer) is" in page.replace("\xa0", " ")
    assert "Positive class" in page


def test_measures_of_all_classes_name_none() -> None:
    """The accuracy looks at no class, and a positive class beside it alone was ignored without a word."""
    found = strat.evaluate(TABLE, truth="truth", predicted="a", units="who")
    assert "positive" not in str(found)
    assert found["macro_f1"].positive is None
    with pytest.raises(StratError, match="`positive` must be left out where no measure looks at one class"):
        strat.evaluate(TABLE, truth="truth", predicted="a", positive="cancer")


def test_f1_of_more_classes_says_that_it_is_a_macro_average() -> None:
    """`metrics="f1"` printed "f1" for the F1 of one of two classes and for the mean over three."""
    three = {"truth": np.tile([0, 1, 2], 20), "said": np.tile([0, 1, 1, 2], 15)}
    found = strat.evaluate(three, truth="truth", predicted="said", metrics=["f1", "macro_recall"])
    assert found["f1"].name == "macro F1"
    assert any(note.startswith("f1 is the macro average over all classes") for note in found.notes)
    assert not any("macro_recall" in note for note in found.notes)
    one = strat.evaluate(three, truth="truth", predicted="said", metrics="f1", positive=2)
    assert one["f1"].positive == 2
    assert not one.notes


@pytest.mark.parametrize("units", ["who", None])
def test_an_area_below_one_half_asks_whether_it_is_reversed(units: str | None) -> None:
    """An AUC of 0.22 stood in the table like any other."""
    found = strat.evaluate(TABLE, truth="truth", score="score", units=units, positive="healthy")
    note = "AUC 0.22 is below 0.5: is the positive class (healthy) or the direction of the score reversed?"
    assert note in found.notes
    assert note in found["auc"].notes
    right = strat.evaluate(TABLE, truth="truth", score="score", units=units, positive="cancer")
    assert not any("reversed" in said for said in right.notes)


def test_a_comparison_of_areas_asks_it_too() -> None:
    """Two reversed systems were compared as if the worse one were the better."""
    both = [strat.auc(ILL, -SCORE), strat.auc(ILL, -SCORE + RNG.normal(size=1000))]
    found = comparison.paired(*both, on=DESIGN, higher_is_better=True)
    assert any(note.startswith("AUC 0.22, 0.") for note in found.difference.notes)
    assert "positive class: True" in str(found)
    assert found.to_dict()["positive"] is True


def test_systems_are_compared_for_one_class() -> None:
    """The recall of cancer by one system was subtracted from that of health by another."""
    ill, well = (strat.recall(DIAGNOSIS, TABLE["a"], positive=one) for one in ("cancer", "healthy"))
    for compare in (
        lambda: comparison.paired(ill, well, on=DESIGN, higher_is_better=True),
        lambda: comparison.unpaired(ill, well, on_a=DESIGN, on_b=DESIGN, higher_is_better=True),
        lambda: comparison.many({"a": ill, "b": well}, on=DESIGN, higher_is_better=True),
    ):
        with pytest.raises(StratError, match=r"must look at the same class as `a` \('cancer'\), got 'healthy'"):
            compare()


def test_compare_takes_a_measure_and_its_class() -> None:
    """`strat.compare(metrics="recall")` was refused, and neither road could name the class."""
    options: dict[str, Any] = {"truth": "truth", "predicted": ["a", "b"], "units": "who"}
    with pytest.raises(StratError, match=REFUSED):
        strat.compare(TABLE, metrics="recall", **options)
    found = strat.compare(TABLE, metrics="recall", positive="cancer", **options)
    assert found.systems == ("b", "a")
    for name in "ab":
        one = strat.estimate(strat.recall(DIAGNOSIS, TABLE[name], positive="cancer"), on=DESIGN)
        assert found.estimate.at(name).value == pytest.approx(one.value)
        assert found.estimate.at(name).se == pytest.approx(one.se)
    assert "measure: recall (positive class: cancer)" in str(found)
    assert json.loads(found.to_json())["positive"] == "cancer"


def test_compare_measures_all_systems_in_one_way() -> None:
    """F1 was that of one class for a system that used two labels, and a macro mean for one that used a third."""
    table = {"truth": [0, 1] * 30, "two": [0, 1, 1] * 20, "three": [0, 1, 2] * 20}
    found = strat.compare(table, truth="truth", predicted=["two", "three"], metrics="f1")
    assert found.estimate.name == "macro F1"
    assert found.estimate.at("two").value == pytest.approx(
        strat.f1(table["truth"], table["two"], average="macro").value()
    )


def test_the_command_compares_one_class_and_counts_dropped_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`compare --metric recall --missing drop` left 40 rows out and did not say so; there was no --positive."""
    columns = {name: TABLE[name].tolist() for name in ("who", "truth", "a", "b")}
    columns["truth"] = [""] * 40 + columns["truth"][40:]
    file = written(tmp_path / "t.csv", columns)
    call = ["compare", file, "--truth", "truth", "--predicted", "a", "--predicted", "b", "--metric", "recall"]
    code, _, err = ran(capsys, *call, "--missing", "drop")
    assert code == 1
    assert "`--positive` must name the positive class of 'cancer' and 'healthy'; for example --positive 'cancer'" in err
    page = tmp_path / "r.html"
    code, out, _ = ran(
        capsys, *call, "--missing", "drop", "--positive", "cancer", "--units", "who", "--html", str(page)
    )
    assert code == 0
    assert "40 rows with missing values dropped" in out
    assert "(recall, positive class: cancer)" in out
    assert "40 rows with missing values dropped" in page.read_text().replace("\xa0", " ")
    assert "Positive class" in page.read_text()
    _, out, _ = ran(capsys, *call, "--missing", "drop", "--positive", "cancer", "--json")
    data = json.loads(out)
    assert any(note["text"].startswith("40 rows with missing values dropped") for note in data["notes"])
    assert data["positive"] == data["comparison"]["positive"] == "cancer"


def test_joined_files_count_dropped_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An item whose truth was missing in every file vanished from a comparison of two files without a word."""
    columns = {"id": list(range(60)), "truth": ["", *("ab" * 30)[1:]], "said": list("aabb" * 15)}
    files = [written(tmp_path / f"{name}.csv", columns) for name in ("one", "two")]
    code, out, _ = ran(
        capsys, "compare", *files, "--items", "id", "--truth", "truth", "--predicted", "said", "--missing", "drop"
    )
    assert code == 0
    assert "one: 1 row with missing values dropped" in out
    assert "two: 1 row with missing values dropped" in out


def test_commands_take_text_for_numbers_and_truth_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--positive false` named no class of a CSV column that reads as truth values."""
    file = written(
        tmp_path / "t.csv", {"truth": ["true", "false"] * 20, "said": ["true", "true", "false"] * 13 + ["true"]}
    )
    call = ["evaluate", file, "--truth", "truth", "--predicted", "said", "--metric", "recall", "--json"]
    code, out, err = ran(capsys, *call, "--positive", "false")
    assert code == 0, err
    assert json.loads(out)["measures"][0]["positive"] is False


def test_check_names_the_class_and_keeps_it_in_every_sample() -> None:
    """A check of text labels measured the last word of the alphabet, sample by sample."""
    with pytest.raises(StratError, match=REFUSED):
        check(TABLE, truth="truth", predicted="a", metrics="recall", trials=50)
    found = check(TABLE, truth="truth", predicted="a", metrics="recall", positive="cancer", trials=50)
    assert found[0].estimate.positive == "cancer"
    table = sheet(found)
    assert "positive class: cancer" in table.notes
    assert table.data["measures"][0]["positive"] == "cancer"


def test_pooled_systems_are_noticed() -> None:
    """`evaluate` of a long table of three models pooled them without a word."""
    questions = np.arange(100)
    long = {
        "question": np.tile(questions, 3),
        "model": np.repeat(["x", "y", "z"], 100),
        "truth": np.tile(questions % 2, 3),
        "said": RNG.integers(0, 2, 300),
    }
    note = (
        "column 'model' has 3 levels, and every 'question' occurs once in each: these look like several systems "
        "pooled; use compare, or keep the rows of one."
    )
    assert note in strat.evaluate(long, truth="truth", predicted="said").notes
    assert note in strat.evaluate(long, truth="truth", predicted="said", units="question").notes
    assert not strat.evaluate(long, truth="truth", predicted="said", strata="model").notes
    other = {("kind" if name == "model" else name): values for name, values in long.items()}
    said = strat.evaluate(other, truth="truth", predicted="said").notes
    assert any(note.startswith("column 'kind' has 3 levels") and "units='question'" in note for note in said)
    one = {name: values[:100] for name, values in long.items()}
    assert not any("column" in note for note in strat.evaluate(one, truth="truth", predicted="said").notes)


@pytest.mark.parametrize("names", [("cancer", "healthy"), (1, 0)])
def test_another_system_is_no_stratum(names: tuple[Any, Any]) -> None:
    """The note on correlated rows proposed strata='pred_b', the predictions of another system."""
    rng = np.random.default_rng(1)
    truth = rng.random(2000) < 0.5
    hard = rng.random(2000) < 0.3
    said = {name: np.where(hard & (rng.random(2000) < 0.9), ~truth, truth) for name in ("pred_a", "pred_b")}
    group = np.where(hard, "h", "e")
    table = {k: np.where(v, *names) for k, v in {"truth": truth, **said}.items()} | {"group": group}
    table["pred_b"] = np.where(truth & ~said["pred_b"], names[1], table["pred_b"])
    found = strat.evaluate(table, truth="truth", predicted="pred_a")
    assert any("'group'" in note for note in found.notes)
    assert not any("'pred_b'" in note for note in found.notes)


def test_thresholds_come_in_any_order() -> None:
    """`roc(thresholds=[.2, .5])` was refused: they "must fall from the first to the last"."""
    rising, falling = (scores.roc(ILL, SCORE, thresholds=t) for t in ([0.2, 0.5, 0.5], [0.5, 0.2]))
    assert rising.axes[1].labels == falling.axes[1].labels == (0.5, 0.2)
    np.testing.assert_array_equal(rising.value(), falling.value())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: strat.auc(SCORE, ILL), "are `truth` and `score` swapped"),
        (lambda: strat.auc(SCORE, DIAGNOSIS), "are `truth` and `score` swapped"),
        (lambda: probabilities.brier(SCORE, ILL.astype(int)), "are `truth` and `probability` swapped"),
    ],
)
def test_swapped_arguments_are_noticed(call: Any, words: str) -> None:
    """`auc(score, truth)` complained of a thousand classes and did not guess why."""
    with pytest.raises(StratError, match=words):
        call()
    with pytest.raises(StratError) as caught:
        strat.auc([0, 1, 2], [0.1, 0.2, 0.3])
    assert "swapped" not in str(caught.value)


@pytest.mark.parametrize("absurd", [pd.NA, float("nan"), [1], {}, np.array([0, 1]), object, "1x", 2, 1j])
def test_absurd_classes_are_refused(absurd: Any) -> None:
    """A class that is none of the labels is refused by name, whatever it is made of."""
    with pytest.raises(StratError, match=r"`positive` must be one (of the labels|value)"):
        strat.recall([0, 1, 1], [0, 1, 0], positive=absurd)


def test_scores_are_no_predictions() -> None:
    """`evaluate` of a column of probabilities as `predicted` gave accuracy 0 and a macro F1 of a thousand classes."""
    with pytest.raises(
        StratError, match=r"`predicted` must be labels, got 1,000 different numbers.*which look like scores"
    ):
        strat.evaluate({"truth": ILL.astype(int), "p": SCORE}, truth="truth", predicted="p")
    with pytest.raises(StratError, match="look like scores"):
        strat.f1(ILL, SCORE)
