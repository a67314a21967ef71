"""Calls that do not bind read as Python's own, with a hint; what is raised within is never explained away."""

from __future__ import annotations

import inspect
import traceback

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import strat
from source_trees import assert_none
from strat import protocols
from strat.base.errors import StratError
from strat.base.validate.arguments import checked

TABLE = {"y": [0, 1, 1, 0], "p": [0, 1, 0, 0]}

CALLS = {
    "grp": (
        lambda: strat.evaluate(TABLE, truth="y", grp="x"),
        "evaluate() got an unexpected keyword argument 'grp'; did you mean 'by'?",
    ),
    "pos_label": (
        lambda: strat.f1([1], [1], pos_label=1),
        "f1() got an unexpected keyword argument 'pos_label'; did you mean 'positive'?",
    ),
    "y_pred": (
        lambda: strat.evaluate(TABLE, truth="y", y_pred="p"),
        "evaluate() got an unexpected keyword argument 'y_pred'; did you mean 'predicted'?",
    ),
    "metric": (
        lambda: strat.evaluate(TABLE, truth="y", predicted="p", metric="f1"),
        "evaluate() got an unexpected keyword argument 'metric'; did you mean 'metrics'?",
    ),
    "value": (
        lambda: strat.evaluate(TABLE, value="y"),
        "evaluate() got an unexpected keyword argument 'value'; did you mean 'score'?",
    ),
    "fay": (
        lambda: strat.brr(strat.Design.simple_random(n=4), fay=0.3),
        "brr() got an unexpected keyword argument 'fay'; type strat.fay(design, rho=0.3)",
    ),
    "seed": (
        lambda: strat.bootstrap(strat.Design.simple_random(n=4), seed=1),
        "bootstrap() got an unexpected keyword argument 'seed'; did you mean 'rng'?",
    ),
    "cluster": (
        lambda: strat.Design.stratified(["a"], cluster=[1]),
        "Design.stratified() got an unexpected keyword argument 'cluster'; did you mean 'units'?",
    ),
    "alpha": (
        lambda: strat.score_interval(1, 2, alpha=0.1),
        "score_interval() got an unexpected keyword argument 'alpha'; did you mean 'level'?",
    ),
    "near": (
        lambda: strat.evaluate(TABLE, thruth="y"),
        "evaluate() got an unexpected keyword argument 'thruth'; did you mean 'truth'?",
    ),
    "far": (lambda: strat.f1([1], [1], zzz=1), "f1() got an unexpected keyword argument 'zzz'"),
    "missing": (lambda: strat.f1([1]), "f1() missing 1 required positional argument: 'predicted'"),
    "too many": (
        lambda: strat.f1([1], [1], "macro"),
        "f1() takes 2 positional arguments but 3 were given; name the others: average=…",
    ),
    "names of columns": (
        lambda: strat.evaluate(TABLE, "y", "p"),
        "evaluate() takes 1 positional argument but 3 were given; name the others: truth=…, predicted=…",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_does_not_bind(name):
    """Wrong calls lost the function's name and Python's hint: "missing a required argument: 'predicted'"."""
    call, message = CALLS[name]
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert len(traceback.extract_tb(caught.tb)) == 3  # this test, the call, the checking of its arguments


FAULTS = [
    *(MemoryError, RecursionError, OSError, AssertionError, AttributeError, NameError, KeyError, ZeroDivisionError),
    *(TypeError, ValueError, IndexError, OverflowError, FloatingPointError, RuntimeError),
]


@pytest.mark.parametrize("kind", FAULTS)
def test_an_error_within_goes_on_unchanged(kind):
    """An internal KeyError with `offset=0` was reported as "`offset` must be positive, got 0."."""
    fault = kind("within")

    @checked
    def inner(
        truth: list[str],
        *,
        offset: int = 0,
        rng: int = 0,
        on: strat.Design | None = None,
        units: np.ndarray | None = None,
    ) -> None:
        raise fault

    with pytest.raises(kind) as caught:
        inner(["cat", "dog"], offset=0, units=np.ones((2, 2)))
    assert caught.value is fault


def test_measures_go_by_the_name_that_the_function_has_for_them() -> None:
    with pytest.raises(TypeError, match="keyword argument 'metrics'; did you mean 'scoring'"):
        strat.cross_validate(None, [[1]], [1], metrics="f1")


PUBLIC = [
    function
    for part in (strat, strat.measures, strat.estimation.proportions, strat.designs, strat.replication)
    for name in part.__all__
    if inspect.isfunction(function := getattr(part, name)) and hasattr(function, "__wrapped__")
]


def _honest(annotation: str) -> object:
    """An argument of the annotated kind."""
    if annotation in ("int", "float"):
        return 1
    if annotation.startswith("Callable"):
        return len
    return {"a": 1.0} if annotation.startswith(("Mapping", "Columns")) else ["cat", "dog"]


def test_no_public_function_explains_a_fault_away():
    """1,084 of 4,296 faults within public functions became a sentence about an honest argument."""
    assert len(set(PUBLIC)) > 100
    assert_none(function.__name__ for function in dict.fromkeys(PUBLIC) if not _lets_a_fault_through(function))


def _lets_a_fault_through(function):
    """Whether an error raised within the function is what its caller sees."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__, strict=True))
    honest = cells["function"].cell_contents
    required = {
        name: _honest(str(one.annotation))
        for name, one in inspect.signature(honest).parameters.items()
        if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    }
    samples = {"design": strat.Design.simple_random(n=4), "on": strat.Design.simple_random(n=4)}
    samples |= {"statistic": strat.mean([1.0, 2.0]), "loss": strat.measures.LossMatrix([[0, 1], [1, 0]])}
    samples |= {"pilot": strat.estimate(strat.mean([1.0, 2.0]), on=strat.Design.simple_random(n=2))}
    samples |= {
        "function": len,
        "method": strat.score_interval,
        "sizes": {"a": 1.0},
        "axis": "x",
        "name": "x",
        "start": [0.0],
    }
    fault = AttributeError("within")

    def broken(*_: object, **__: object) -> None:
        raise fault

    cells["function"].cell_contents = broken
    try:
        function(**{name: samples.get(name, sample) for name, sample in required.items()})
    except Exception as error:
        return error is fault
    else:
        return False
    finally:
        cells["function"].cell_contents = honest


def test_a_users_classifier_may_fail_in_its_own_words():
    """A classifier that raised with text labels was reported as "`y` must be numbers"."""

    class Broken(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        protocols.cross_validation(Broken(), np.ones((8, 2)), ["a", "b"] * 4, cv=2)


def test_a_users_function_may_fail_in_its_own_words():
    """A bug in a function for `map` was reported as "`bounds` must be finite, got inf."."""
    estimate = strat.estimate(strat.mean([1.0, 2.0, 4.0]), on=strat.Design.simple_random(n=3))
    with pytest.raises(KeyError, match="mine"):
        estimate.map(lambda values: {}["mine"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: strat.brr([1]), "`design` must be a Design, got [1]"),
        (lambda: strat.gaussian.bayes_error("two"), "`problem` must be a DiscreteProblem or a Problem, got 'two'"),
        (lambda: strat.accuracy(3, [1]), "`truth` must have one value per row, got the single value 3"),
        (lambda: strat.mean({1, 2}), "`y` must be a column, one value per row, got {1, 2}"),
        (lambda: strat.mean([[1], [1, 2]]), "`y` must have rows of one length, got lists of several lengths"),
        (lambda: strat.f1([1], [1], average=["a"]), "`average` must be text, got ['a']"),
        (lambda: strat.algebra.field(9, modulus=["x"]), "`modulus` must be a number, got 'x'"),
        (lambda: strat.cms([1, 2], up_to=2**53), "`up_to` must be at most 1,099,511,627,776, got"),
    ],
)
def test_kinds_are_checked_before_the_call(call, message):
    with pytest.raises(StratError) as caught:
        call()
    assert str(caught.value).startswith(message)
