"""One register of measures: every word reads back, facts agree with the function, and nobody keeps another list."""

from __future__ import annotations

import ast
import importlib.util
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import strat
from strat.base.errors import StratError
from strat.measures import index, register
from strat.measures.register import Measure, every, measure, named, spellings
from strat.verbs.metrics import chosen

ROOT = Path(__file__).parents[2]
NUMBER = {"k": 2, "thresholds": 0.3, "q": 0.8, "beta": 2, "fpr": 0.2, "specificity": 0.6, "iou": 0.5, "collar": 0.25}
# lists of words that are no lists of measures
OTHER_LISTS = {
    "comparison/chance_measures.py": "the measures that have a test against chance, with their functions",
    "data/logs/lm_eval.py": "keys of a harness's files",
    "data/logs/trec.py": "what trec_eval prints",
    "measures/fields/retrieval.py": "the values of one query, with their functions",
    "measures/score_rates.py": "values of the argument `rate`",
    "show/report/curve_figures.py": "kinds of curves",
    "show/report/of_evaluations.py": "how abbreviations are written at the start of a sentence",
    "verbs/binning_bounds.py": "by how much bins of scores move each, with the functions that say so",
    "verbs/metrics.py": "what is evaluated where nothing was asked for",
}


def _by_path(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{path.stem}_by_path", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _words() -> Iterator[tuple[str, Measure]]:
    """Every word as it is asked for, with its record."""
    for one in every():
        for word in (one.name, *one.also):
            needs = one.at is not None and one.at not in one.given and (one.needs_number or word[-1] in "@^")
            sign = "" if word[-1] in "@^" else "@"
            yield (f"{word}{sign}{NUMBER.get(str(one.at), 3)}" if needs else word), one


@pytest.mark.parametrize(("word", "one"), list(_words()), ids=[word for word, _ in _words()])
def test_a_spelling_reads_back(word: str, one: Measure) -> None:
    files = one.files in register.FILES
    known = named(word, files=files)
    assert (known.function, known.word) == (one.function, word)
    again = named(str(known), files=files)
    assert (str(again), again.given, again.function) == (str(known), known.given, known.function)


@pytest.mark.parametrize(
    ("word", "canonical"),
    [
        ("Sensitivity", "recall"),
        ("F1-macro", "macro_f1"),
        ("f1:weighted", "weighted_f1"),
        ("macro fbeta@2", "macro_fbeta@2"),
        ("recall[Cancer]", "recall[Cancer]"),
        ("ppv[a b]", "precision[a b]"),
        ("fnmr@fmr=0.001", "fnmr@0.001"),
        ("tar@far=.1", "tpr@0.1"),
        ("p95", "latency@0.95"),
        ("pass^3", "pass^3"),
        ("ap50", "coco_ap@0.5"),
        ("mean@3", "mean@3"),
        ("recall@100", "recall@100"),
        ("roc_auc_score", "auc"),
        ("precision_score", "precision"),
    ],
)
def test_one_grammar(word: str, canonical: str) -> None:
    assert str(named(word)) == canonical


def test_a_word_of_two_trades_is_that_of_the_table_or_of_the_files() -> None:
    assert named("dice").function is strat.f1
    assert named("dice", files=True).function is strat.dice
    assert named("recall").needs == ("truth", "predicted")
    assert named("recall@100").needs == ("qrels", "run")


@pytest.mark.parametrize("one", list(spellings().values()), ids=list(spellings()))
def test_facts_of_the_record_are_those_of_the_statistic(one: Measure) -> None:
    rng = np.random.default_rng(3)
    truth = np.repeat(rng.integers(0, 2, 30), 2)
    columns: dict[str, Any] = {
        "truth": truth,
        "predicted": np.where(rng.random(60) < 0.8, truth, 1 - truth),
        "score": np.clip(0.3 + 0.4 * truth + rng.normal(0, 0.2, 60), 0.01, 0.99),
        "items": np.arange(60) // 2,
    }
    if one.name == "mape":
        columns["truth"] = truth + 1
    if one.name == "mqm":
        columns |= {"predicted": np.array(["Major", "Minor"])[truth], "truth": np.full(60, "Style")}
    if one.name == "interval_share":
        columns["predicted"] = columns["score"] - 1.0
    statistic = one.build(columns)
    low, high = statistic.bounds
    assert statistic.shape == ()
    assert (max(low, one.bounds[0]), min(high, one.bounds[1])) == (low, high)
    assert one.bounds[0] <= float(statistic.value()) <= one.bounds[1]
    if statistic.higher_is_better is not None:
        assert statistic.higher_is_better == one.higher_is_better
    assert (statistic.positive is not None) == (one.looks_at_one_class or "positive" in one.given)


def test_functions_of_the_register_are_public() -> None:
    for one in every():
        if not one.own:
            assert getattr(strat.measures, one.function.__name__) is one.function


def test_the_index_is_that_of_the_register() -> None:
    tool = _by_path(ROOT / "tests" / "project" / "measure_index.py")
    assert tool.text() == tool.PATH.read_text(encoding="utf-8"), "run python tests/project/measure_index.py"
    assert set(index.HOMES) == set(strat.measures.__all__)


def test_the_page_has_the_measures_of_the_register() -> None:
    page = _by_path(ROOT / "docs" / "measures.py")
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.replaced(text) == text, "run python docs/measures.py"


def _strings(node: ast.AST) -> list[str]:
    """The texts that a list, a tuple, a set or the keys of a dictionary write out."""
    each = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
    return [one.value for one in each if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def test_there_is_no_other_list_of_measures() -> None:
    words = {word.rpartition(":")[2] for word in index.MODULES}
    source = ROOT / "src" / "strat"
    found = set()
    for path in source.rglob("*.py"):
        name = path.relative_to(source).as_posix()
        if name in ("measures/__init__.py", "__init__.py"):  # the names by hand, which the index is compared with
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            texts = _strings(node)
            if len(texts) > 3 and 2 * len(words.intersection(texts)) >= len(texts):
                found.add(name)
    assert found == set(OTHER_LISTS)


def test_one_word_imports_one_field() -> None:
    code = (
        "import sys, strat\nassert not any(name.startswith('strat.measures') for name in sys.modules)\n"
        "from strat.measures.register import named\nnamed('ndcg')\n"
        "print(sorted(n for n in sys.modules if n.startswith('strat.measures.fields.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['strat.measures.fields.retrieval']"


@pytest.fixture
def own_measures() -> Iterator[None]:
    """Whatever is entered within the test is gone after it."""
    before = register.entered()
    yield
    for word in register.entered().keys() - before.keys():
        del register._ENTERED[word]


@pytest.mark.usefixtures("own_measures")
def test_a_measure_of_ones_own_is_a_measure_like_any_other() -> None:
    @measure("share_of_long", "long_share", needs=("score",), reads="numbers")
    def share_of_long(seconds: Any) -> Any:
        return strat.mean(np.asarray(seconds) >= 10)

    table = {"seconds": [3, 12, 15, 9], "other": [1, 2, 30, 40], "g": list("aabb")}
    one = strat.evaluate(table, score="seconds", metrics="long_share")
    assert one["long_share"].value == 0.5
    board = strat.compare(table, score=["seconds", "other"], metrics="share_of_long")
    assert board.measure == "share_of_long"
    assert str(named("Long share")) == "share_of_long"
    with pytest.raises(StratError, match=r"did you mean 'share_of_long'"):
        strat.evaluate(table, score="seconds", metrics="share_of_lng")

    def another(seconds: Any) -> Any:
        return strat.mean(seconds)

    with pytest.raises(StratError, match=r"`name` must be new, got 'share_of_long', which is a measure of .*register"):
        measure("share_of_long", needs=("score",))(another)
    with pytest.raises(
        StratError, match=r"`name` must be new, got 'auroc', which is a measure of strat\.measures\.scores"
    ):
        measure("mine", "auroc", needs=("score",))(another)
    assert "mine" not in register.entered()


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("xyzzy", r"got 'xyzzy'; strat\.measures\.every\(\) lists all\.$"),
        ("acuracy", r"did you mean 'accuracy' \(strat\.measures\.every\(\) lists all\)\?$"),
        ("net_benefit", r"must have a number behind 'net_benefit', as in 'net_benefit@0\.1'\.$"),
        ("pass@", r"must have a number behind 'pass@', as in 'pass@3'\.$"),
        ("recall@x", r"must be names of measures, got 'recall@x'"),
        (
            "accuracy[a]",
            r"must name a class only behind measures of one class, got 'accuracy\[a\]'; write 'accuracy'\.$",
        ),
        ("macro_recall[a]", r"must name a class only behind measures of one class, .* write 'macro_recall'\.$"),
        ("roc", r"it takes other arguments than columns: see strat\.measures\.roc\.$"),
        ("fnmr", r"a number belongs behind it, as in 'fnmr@0\.1'\.$"),
        ("cmc", r"type strat\.recognition\.cmc"),
        ("pass", r"a number belongs behind it, as in 'pass@3'\.$"),
        ("fnmrr@fmr=0.001", r"did you mean 'fnmr@fpr=0\.001'"),
        ("passs@4", r"did you mean 'pass@4'"),
        ("macro_accuracy", r"got 'macro_accuracy'; 'accuracy' is not averaged over classes\.$"),
        ("partial_auc@sensitivity=0.9", r"did you mean 'partial_auc@specificity=0\.9'"),
        ("cmc@1", r"type strat\.recognition\.cmc"),
        ("fnmr@fpt=0.1", r"must be names of measures, got 'fnmr@fpt=0\.1'"),
    ],
)
def test_an_unknown_measure_is_one_sentence(word: str, message: str) -> None:
    with pytest.raises(StratError, match=message) as caught:
        named(word)
    assert caught.value.argument == "metrics"
    assert str(caught.value).count("'") <= 2 * 6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: measure(strat.recall),
            r"`name` must be a word of small letters, as in @strat\.measure\('youden'\), got",
        ),
        (lambda: measure("my measure!"), r"`name` must be a word of small letters, .* got 'my measure!'"),
        (
            lambda: measure("mine", needs=("label",))(lambda x: x),
            r"`needs` must be a tuple of some of 'truth', .* got \('label',\)",
        ),
        (lambda: measure("mine", beter=1), r"`facts` must be facts of a measure, got 'beter'"),
        (lambda: measure("mine", needs="score")(lambda x: x), r"`needs` must be a tuple of some of .* got 'score'"),
        (lambda: measure("mine", of="banana"), r"`of` must be one of 'row', 'item', 'pair', got 'banana'"),
        (lambda: measure("mine", higher_is_better="yes"), r"`higher_is_better` must be one of True, False, None, got"),
        (lambda: measure("mine", at="k")(lambda x: x), r"`at` must be an argument of <lambda>, got 'k'"),
    ],
)
def test_a_record_that_nobody_could_read_is_refused(call: Any, message: str) -> None:
    with pytest.raises(StratError, match=message):
        call()


def test_two_measures_of_one_word_are_refused_where_one_would_be_lost() -> None:
    table = {"y": [0, 1, 0, 1], "p": [0, 1, 1, 1]}
    both = [lambda a, b: strat.accuracy(a, b), lambda a, b: strat.f1(a, b)]
    with pytest.raises(StratError, match=r"got '<lambda>' twice; give each function a name of its own"):
        strat.evaluate(table, truth="y", predicted="p", metrics=both)
    with pytest.raises(StratError, match=r"got 'accuracy' twice; name it once"):
        strat.evaluate(table, truth="y", predicted="p", metrics=["accuracy", "accuracy"])


def test_no_winner_where_no_direction_is_better() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 80)
    table = {"y": truth, "a": rng.random(80), "b": rng.random(80), "p": rng.integers(0, 2, 80), "g": np.arange(80) % 2}
    with pytest.raises(StratError, match="`higher_is_better` must say whether more of 'observed_expected' is better"):
        strat.compare(table, truth="y", score=["a", "b"], metrics="observed_expected")
    board = strat.compare(table, truth="y", score=["a", "b"], metrics="observed_expected", higher_is_better=False)
    assert not board.many.higher_is_better
    with pytest.raises(StratError, match="`higher_is_better` must say whether more of 'bias' is better"):
        strat.gate(table, truth="y", predicted="p", metrics="bias", floor=-1)
    groups = strat.evaluate(table, truth="y", predicted="p", metrics="bias", by="g")
    assert "worst group" not in str(groups)
    with pytest.raises(StratError, match="must have a better direction for a worst group"):
        groups.groups["bias"].worst()


def test_the_rates_at_a_rate_are_complements() -> None:
    table = {"y": [0] * 7 + [1] * 7, "s": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7] * 2}
    result = strat.evaluate(table, truth="y", score="s", metrics=["tar@far=0.2", "frr@far=0.2"])
    assert result["tar@far=0.2"].value + result["frr@far=0.2"].value == pytest.approx(1.0)


def test_what_is_near_is_of_the_same_kind_of_data() -> None:
    with pytest.raises(StratError, match="did you mean 'auprc'"):
        named("auprcc", given={"truth", "score"})
    with pytest.raises(StratError, match=r"did you mean 'recall'") as caught:
        named("recal", given={"truth", "predicted"})
    assert "calibration" not in str(caught.value)


def test_a_measure_that_lacks_a_column_says_which_could_be_it() -> None:
    table = {"y": [0, 1, 0, 1], "p": list("abab"), "risk": [0.1, 0.8, 0.3, 0.9], "time": [1.0, 2.0, 3.0, 4.0]}
    with pytest.raises(
        StratError,
        match=r"`score` must name a column for the measure 'auc', and is missing; it could be 'risk', 'time'",
    ):
        strat.evaluate(table, truth="y", metrics="auc")
    with pytest.raises(StratError, match=r"`predicted` must name a column \(event\) for the measure 'c_index'"):
        strat.evaluate(table, truth="time", score="risk", metrics="c_index")
    with pytest.raises(
        StratError, match=r"got 'ndcg@10': type strat\.measures\.ndcg\(qrels, run, k=10\), on the command line"
    ):
        strat.evaluate(table, truth="y", predicted="p", metrics="ndcg@10")
    with pytest.raises(StratError, match=r"got 'hamming_loss': type strat\.measures\.hamming_loss\(truth, predicted\)"):
        chosen("hamming_loss", {"truth": "y", "predicted": "p"})


@pytest.mark.parametrize(
    ("word", "canonical"),
    [
        ("fnmr@fmr=1e-3", "fnmr@0.001"),
        ("fnmr@fmr=0.00001", "fnmr@1e-05"),
        ("net_benefit@0.1234567", "net_benefit@0.1234567"),
        ("recall@1234567", "recall@1234567"),
        ("f1[a[b], c]", "f1[a[b], c]"),
        ("Recall [Cancer]", "recall[Cancer]"),
    ],
)
def test_no_digit_of_a_number_and_no_sign_of_a_class_is_lost(word: str, canonical: str) -> None:
    first = named(word)
    again = named(str(first))
    assert (str(first), str(again), again.given) == (canonical, canonical, first.given)


def test_the_word_that_was_asked_is_shown_and_the_canonical_one_is_in_json() -> None:
    table = {"y": [0, 1, 1, 0] * 9, "p": [0, 1, 0, 0] * 9, "q": [1, 1, 0, 0] * 9, "g": list("ab") * 18}
    asked = {"Sensitivity": "recall", "F1-macro": "macro_f1", "f1:micro": "micro_f1"}
    evaluation = strat.evaluate(table, truth="y", predicted="p", metrics=list(asked), by="g")
    again = pickle.loads(pickle.dumps(evaluation))
    for result in (evaluation, again):
        content = json.loads(result.to_json())
        assert {one["asked"]: one["measure"] for one in content["measures"]} == asked
        assert [one["measure"] for one in content["between_groups"]] == list(asked.values())
    assert all(word in str(evaluation) for word in asked)
    assert evaluation["Sensitivity"] is evaluation["recall"] is evaluation["TPR"]
    board = strat.compare(table, truth="y", predicted=["p", "q"], metrics=["TPR", "Specificity"])
    content = json.loads(board.to_json())
    assert (content["measure"], content["asked"], list(content["further_measures"])) == (
        "recall",
        "TPR",
        ["specificity"],
    )
    assert board["selectivity"].measure == "Specificity"
    checks = json.loads(strat.check(table, truth="y", predicted="p", metrics="TPR", trials=50).to_json())
    assert [(one["metric"], one["asked"]) for one in checks["measures"]] == [("recall", "TPR")]


def test_a_function_of_ones_own_keeps_its_name_in_json() -> None:
    def sensitivity(truth: Any, predicted: Any) -> Any:
        return strat.accuracy(truth, predicted)

    table = {"y": [0, 1, 1, 0] * 9, "p": [0, 1, 0, 0] * 9}
    result = strat.evaluate(table, truth="y", predicted="p", metrics=sensitivity)
    assert [one["measure"] for one in json.loads(result.to_json())["measures"]] == ["sensitivity"]


def test_a_function_of_the_register_is_the_measure_of_its_name() -> None:
    """strat.auc given as a function took the labels for scores."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 80)
    table = {"y": truth, "p": rng.integers(0, 2, 80), "s": rng.random(80) + truth, "i": np.arange(80) // 2}
    for function, word in [
        (strat.auc, "auc"),
        (strat.recall, "recall"),
        (strat.measures.selection_rate, "positive_rate"),
    ]:
        both = [
            strat.evaluate(table, truth="y", predicted="p", score="s", metrics=one)[word].value
            for one in (function, word)
        ]
        assert both[0] == both[1]
    with pytest.raises(StratError, match="must have a number behind 'pass@', as in 'pass@3'"):
        strat.evaluate(table, score="s", items="i", metrics=strat.pass_at_k)
    with pytest.raises(StratError, match=r"got 'ndcg': type strat\.measures\.ndcg\(qrels, run\)"):
        strat.evaluate(table, truth="y", predicted="p", metrics=strat.ndcg)


def test_a_comma_in_a_class_does_not_part_two_measures() -> None:
    labels = ["a, b", "c", "d[e]"] * 20
    words = ["recall[a, b]", "recall[d[e]]"]
    for asked in (words, ",".join(words)):
        result = strat.evaluate({"y": labels, "p": labels}, truth="y", predicted="p", metrics=asked)
        assert list(result.estimates) == words


@pytest.mark.usefixtures("own_measures")
@pytest.mark.parametrize("word", ["macro_f1", "f1_macro", "p95", "recall_score", "ndcg", "fnr@"])
def test_a_word_that_the_grammar_reads_is_not_free(word: str) -> None:
    with pytest.raises(StratError, match=rf"`name` must be new, got '{word}', which is a measure of strat\.measures\."):
        measure(word, needs=("score",))(lambda score: strat.mean(score))


@pytest.mark.usefixtures("own_measures")
def test_a_measure_of_ones_own_that_makes_no_statistic_or_is_asked_of_a_module() -> None:
    @measure("half", "halb")
    def half(truth: Any, predicted: Any) -> Any:
        return 0.5

    with pytest.raises(StratError, match=r"must make statistics, such as strat\.accuracy does, got 0\.5 from 'halb'"):
        strat.evaluate({"y": [0, 1], "p": [0, 1]}, truth="y", predicted="p", metrics="halb")
    with pytest.raises(AttributeError, match=r"has no attribute 'half'$"):
        strat.half  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("positive_rate", "selection_rate(predicted)"),
        ("accuracy_score", "accuracy(truth, predicted)"),
        ("macro_f1", "f1(truth, predicted, average='macro')"),
        ("p95", "quantile(y, q=0.95)"),
        ("roc_auc_ovr", "auc(truth, score, multi_class='ovr')"),
    ],
)
@pytest.mark.parametrize("module", [strat, strat.measures, strat.plot])
def test_a_word_of_a_measure_answers_with_the_call(module: ModuleType, name: str, line: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    assert str(caught.value).endswith(f"; type strat.measures.{line}")
