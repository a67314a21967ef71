"""Errors speak of values, never of the library that a value comes from."""

from __future__ import annotations

import ast
import pickle
import re

import numpy as np
import pytest

import strat
from source_trees import assert_none, calls
from strat.base.errors import StratError, close_names, near
from strat.planning import rows_for_width


@pytest.mark.parametrize(
    ("given", "said"),
    [(np.float64(2.5), "2.5"), (np.int8(-3), "-3"), (np.True_, "True"), (np.str_("a"), "'a'"), ("b", "'b'")],
)
def test_values_are_named_as_a_person_would(given, said):
    assert str(StratError(f"`x` must be otherwise, got {given!r}.")) == f"`x` must be otherwise, got {said}."


def test_a_message_survives_another_process():
    error = pickle.loads(pickle.dumps(StratError.about("x", "must not be np.int64(3).")))
    assert (str(error), error.argument) == ("`x` must not be 3.", "x")


@pytest.mark.parametrize(
    ("predicate", "sentence"),
    [
        ("must lie below 1, got 2.", "`x` must lie below 1, got 2."),
        ("and `y` must not be given together.", "`x` and `y` must not be given together."),
        (", `y` and `z` must have one length.", "`x`, `y` and `z` must have one length."),
    ],
)
def test_the_sentence_is_made_from_the_argument(predicate, sentence):
    error = StratError.about("x", predicate)
    assert (str(error), error.argument) == (sentence, "x")


def test_no_argument_is_read_out_of_a_sentence():
    assert StratError("`level` must lie below 1, got 2.").argument is None


def test_every_error_about_an_argument_names_it_as_a_fact():
    """No literal sentence of the source begins with an argument: `StratError.about` puts it there."""
    begins = re.compile(r"`[A-Za-z_]\w*` ")
    assert_none(
        f"{module}:{node.lineno}"
        for module, node in calls("StratError")
        if not node.keywords
        if any(isinstance(one, ast.Constant) and begins.match(str(one.value)) for one in ast.walk(node.args[0]))
        and ast.unparse(node.args[0]).strip("f\"'").startswith("`")
    )


def test_the_argument_stays_when_the_option_is_spelled():
    error = StratError.about("units", "must name a column, got 'a'; see units= and `strata`.").spelled(
        {"units": "--units"}
    )
    assert str(error) == "`--units` must name a column, got 'a'; see --units  and `strata`."
    assert error.argument == "units"


def test_a_clause_is_added_and_the_argument_kept():
    with pytest.raises(StratError, match=r"; are `truth` and `score` swapped\?$") as caught:
        strat.auc([0.1, 0.2, 0.7], ["a", "b", "a"])
    assert caught.value.argument == "score"


def test_an_error_about_one_model_is_about_the_models():
    from sklearn.linear_model import LinearRegression
    from sklearn.naive_bayes import GaussianNB

    with pytest.raises(StratError, match=r"^`models\['b'\]` must be a classifier") as caught:
        strat.compare_models({"a": GaussianNB(), "b": LinearRegression()}, [[0.0], [1.0]] * 9, [0, 1] * 9)
    assert caught.value.argument == "models"


def test_errors_of_calls_name_a_parameter_as_a_fact():
    with pytest.raises(StratError) as caught:
        strat.evaluate({"y": [0, 1], "p": [0, 1]}, truth="y", predicted="q")
    assert caught.value.argument == "predicted"
    with pytest.raises(StratError) as caught:
        strat.estimate(strat.mean([1.0, 2.0]), on=strat.Design.simple_random(n=2)).interval(95)
    assert caught.value.argument == "level"


def test_calls_with_numpy_scalars():
    with pytest.raises(StratError, match=r"got -1\.0\.$"):
        rows_for_width(width=np.float64(-1), proportion=0.5)
    with pytest.raises(StratError, match=r"got 0\.$"):
        strat.Design.simple_random(n=np.int64(0))


NAMES = [
    "accuracy",
    "auroc",
    "f1",
    "r2",
    "mse",
    "sensitivity",
    "specificity",
    "roc_auc",
    "balanced_accuracy",
    "label_strata",
]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("accurracy", ["accuracy"]),
        ("acuracy", ["accuracy"]),
        ("ROC AUC", ["roc_auc"]),
        ("rocauc", ["roc_auc"]),
        ("sensitivty", ["sensitivity"]),
        ("acc", ["accuracy"]),
        ("strata", ["label_strata"]),
        ("balanced_acuracy", ["balanced_accuracy"]),
        ("f2", ["f1"]),
        ("perplexity", []),
        ("x", []),
        ("", []),
    ],
)
def test_a_hint_names_what_may_be_meant_and_never_a_far_off_guess(typed: str, meant: list[str]) -> None:
    assert close_names(typed, NAMES) == meant
    assert near(typed, NAMES).startswith("did you mean" if meant else "there are")


def test_at_most_three_names_are_proposed() -> None:
    assert near("model_e", [f"model_{letter}" for letter in "abcd"]).count("model_") == 3


def test_no_file_is_proposed_for_its_ending_alone() -> None:
    assert close_names("nofile.csv", ["trials.csv", "huge.csv", "apiclus2.csv"]) == []
