"""The measures that are asked of a table: those that were named, or those that its columns suggest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from strat.base.errors import StratError, one_of, some
from strat.base.validate.arguments import shown
from strat.data.cells import Cells
from strat.data.table import Table
from strat.measures.base import Statistic
from strat.measures.classification import accuracy
from strat.measures.positive import refused
from strat.measures.register import AUTO, AVERAGES, BETWEEN, LABELS, Columns, Measure, Word, known, of_function
from strat.measures.register import named as of_word
from strat.verbs.hints import first_rows

Metrics = Sequence[str | Callable[..., Statistic]] | str | Callable[..., Statistic]  # names, or functions of columns


def chosen(
    metrics: Metrics | None,
    roles: Mapping[str, str | None],
    average: str | None = AUTO,
    *,
    decided: bool = False,
    table: Table | None = None,
) -> list[Measure]:
    """The measures asked for, or those that the columns at hand suggest.

    `decided` says that predictions come from a score and a threshold; `average` is how shares of classes are averaged;
    columns of `table` may be proposed for a role that is missing.
    """
    given = {role for role, name in roles.items() if name is not None} | ({"predicted"} if decided else set())
    wanted = _default(given, decided=decided) if metrics is None else one_by_one(metrics)
    if not wanted:
        raise StratError.about("metrics", "must name at least one measure, got none.")
    selected = [_of_labels_if_any(named(one, given), given) for one in wanted]
    for measure in selected:
        if not measure.of_tables:
            files = ", on the command line `strat score`" if measure.files else ""
            problem = f"must be measures of a table, got {measure.word!r}: type {measure.call}{files}."
            raise StratError.about("metrics", problem)
        absent = [role for role in measure.needs if role not in given]
        if absent:
            raise _lacking(measure, absent[0], roles, table)
    selected = selected if average == AUTO else _with_average(selected, average)
    words: dict[str, str] = {}
    for place, measure in enumerate(selected):
        first = words.setdefault(str(measure), measure.word)
        if len(words) <= place:
            both = f"{first!r} twice" if first == measure.word else f"{first!r} and {measure.word!r}, which are one"
            way_out = "give each function a name of its own (def)" if any(map(callable, wanted)) else "name it once"
            raise StratError.about("metrics", f"must be different measures, got {both}; {way_out}.")
    return selected


def one_by_one(metrics: Any) -> list[Any]:
    """The names and functions of a list of measures, one by one; a text may hold several, comma-separated."""
    if isinstance(metrics, str) or callable(metrics):
        listed = [metrics]
    elif isinstance(metrics, Iterable) and getattr(metrics, "ndim", 1) == 1:
        listed = list(metrics)
    else:
        raise StratError.about("metrics", f"must be a name, a function, or a list of these, got {shown(metrics)}.")
    return [one for given in listed for one in (BETWEEN.split(given) if isinstance(given, str) else [given])]


def named(metric: Any, given: Iterable[str] = ("truth", "predicted", "score", "items")) -> Measure:
    """The measure of this name, or that a user-defined function makes."""
    return _own(metric) if callable(metric) else of_word(metric, given=set(given))


def _own(function: Callable[..., Any]) -> Measure:
    """The measure that a function is in the register, or that a user's function of labels makes."""
    if entered := of_function(function):
        return of_word(str(entered)) if entered.of_tables else entered.called(str(entered))
    name = getattr(function, "__name__", "statistic")
    better = getattr(function, "higher_is_better", True)
    own = Measure(name=name, function=function, needs=LABELS, higher_is_better=better, own=True)
    return replace(own, word=name) if isinstance(name, Word) else own.called(name)


def _of_labels_if_any(measure: Measure, given: set[str]) -> Measure:
    """The measure as it is, or of repeated labels, where these are at hand and scores are not."""
    if measure.of != "item" or "score" in given or "predicted" not in given or "score" not in measure.needs:
        return measure
    if measure.reads == "labels":
        return replace(measure, needs=("predicted", "items"))
    return replace(measure, needs=(*LABELS, "items"), make=lambda columns, **_: measure.build(_successes(columns)))


def _successes(columns: Columns) -> Columns:
    """The columns with a score that says whether the label of a try is the true one."""
    return {**columns, "score": np.asarray(accuracy(columns["truth"], columns["predicted"]).rows[0].codes, float)}


def _lacking(measure: Measure, role: str, roles: Mapping[str, str | None], table: Table | None) -> StratError:
    """The error about a measure that lacks a role: what the role is to it, and which columns could be it."""
    names = [name for name in measure.arguments if measure.arguments[name].default is measure.arguments[name].empty]
    place = measure.needs.index(role)
    argument = names[place] if place < len(names) and not measure.own else role
    meaning = (
        "" if role == "items" or argument in (role, "y", "x", "success", "answers", "probability") else f" ({argument})"
    )
    instead = " (or `score` with `threshold`)" if role == "predicted" else ""
    could = () if table is None else _could_be(role, table, roles)
    proposal = f"; it could be {some(could, 3)}" if could else ""
    return StratError.about(
        role, f"must name a column{meaning} for the measure {measure.word!r}{instead}, and is missing{proposal}."
    )


def _could_be(role: str, table: Table, roles: Mapping[str, str | None]) -> list[str]:
    """Columns without a role whose first values fit this one."""
    free = [name for name in table.names if name not in roles.values()]
    numeric = {one.name: one.codes is None for one in first_rows(table, free)} if free else {}
    return [name for name, is_number in numeric.items() if is_number or role != "score"]


def _with_average(measures: Sequence[Measure], average: str | None) -> list[Measure]:
    if average is not None:
        one_of("average", average, (AUTO, *AVERAGES))
    if not any(measure.takes_average for measure in measures):
        names = some([measure.word for measure in measures])
        raise StratError.about(
            "average", f"must be left out for {names}, which are not averaged over classes, got {average!r}."
        )
    return [measure.with_average(average) if measure.takes_average else measure for measure in measures]


def _default(given: set[str], *, decided: bool) -> list[str]:
    if decided:
        return ["accuracy", "sensitivity", "specificity", "ppv", "auc"]
    if {"truth", "predicted"} <= given:
        return ["accuracy", "macro_f1", *(["auc"] if "score" in given else [])]
    if {"truth", "score"} <= given:
        return ["auc"]
    if "score" in given:
        return ["mean"]
    if "truth" in given:
        raise StratError.about("predicted", "or `score` must name a column beside `truth`, got neither.")
    if "predicted" in given:
        raise StratError.about("truth", "must name the column of true labels beside `predicted`, got None.")
    raise StratError.about(
        "truth",
        "and `predicted` (or `score`) must name the columns to evaluate, got none of them; for a column that "
        "already says how right a row is, give `score` alone.",
    )


def repeated(metrics: Any) -> list[Measure | None]:
    """For each of the measures that were asked for: the one of the repeats of an item that it is, or None."""
    if not isinstance(metrics, str | list | tuple):  # others can be read only once
        return []
    return [_of_repeats(one) for one in one_by_one(metrics)]


def _of_repeats(metric: Any) -> Measure | None:
    """The measure, if it is of the repeats of an item and made of scores alone."""
    measure = known(metric) if isinstance(metric, str) else None  # others are refused where they are looked up
    return measure if measure is not None and measure.of == "item" and "truth" not in measure.needs else None


def single(measure: Measure, statistic: Statistic) -> Statistic:
    """The statistic, if it is a single number."""
    if statistic.shape:
        raise StratError.about(
            "metrics", f"must be single numbers here, got {measure.word!r} with shape {statistic.shape}."
        )
    return statistic


def columns_of(cells: Cells, positive: object) -> dict[str, Any]:
    """What a measure's statistic is made from."""
    return {**cells.columns, "positive": positive}


def one_class(measures: Sequence[Measure], positive: object) -> None:
    """Refuse a positive class that no measure looks at, so that it is not ignored silently."""
    if not any(measure.looks_at_one_class for measure in measures):
        names = some([measure.word for measure in measures])
        refused(positive, f"where no measure looks at one class ({names}; ask for 'f1' or 'recall', say)")


def directed(measure: Measure, higher_is_better: bool | None = None) -> bool:
    """Whether a larger value is a better one, as the caller or the measure says; an error where neither does.

    >>> directed(named("error_rate"))
    False
    """
    better = measure.higher_is_better if higher_is_better is None else higher_is_better
    if better is None:
        raise StratError.about(
            "higher_is_better",
            f"must say whether more of {measure.word!r} is better, which the measure does not (its best value may lie "
            "between); or evaluate each system by it.",
        )
    return better


def told_by(measure: Measure, statistic: Statistic) -> Measure:
    """The measure with the direction that its statistic has, where it is a user's own and says none itself.

    >>> import strat
    >>> errors = named(lambda truth, predicted: strat.error_rate(truth, predicted))
    >>> told_by(errors, strat.error_rate([0, 1], [1, 1])).higher_is_better
    False
    """
    ours = not measure.own and measure.function.__module__.startswith("strat.")
    if ours or hasattr(measure.function, "higher_is_better") or statistic.higher_is_better is None:
        return measure
    return replace(measure, higher_is_better=statistic.higher_is_better) if measure.higher_is_better else measure


def check_compared(metrics: Any, higher_is_better: bool | None = None) -> None:
    """Fail for measures that have no value, or no influences, of one column of each system.

    >>> check_compared("macro_f1")
    >>> check_compared("nri")
    Traceback (most recent call last):
    ...
    strat.base.errors.StratError: `metrics` must be measures of one system, got 'nri', which compares two itself; \
evaluate it with the old model's risk as `predicted` and the new one's as `score`.
    """
    for measure in (named(one) for one in one_by_one(metrics) if isinstance(one, str)):
        directed(measure, higher_is_better)
        if {"old", "new"} <= measure.arguments.keys():
            raise StratError.about(
                "metrics",
                f"must be measures of one system, got {measure.word!r}, which compares two itself; "
                "evaluate it with the old model's risk as `predicted` and the new one's as `score`.",
            )
        if {"predicted", "score"} <= set(measure.needs):
            raise StratError.about(
                "metrics",
                f"must be measures of one column of each system, got {measure.word!r}, which takes `predicted` and "
                "`score`; evaluate each system by it, or pair them with strat.stack and strat.estimate.",
            )
        if not measure.of_totals:
            raise StratError.about(
                "metrics",
                f"must be functions of totals to compare systems, got {measure.word!r}, a quantile; evaluate each "
                "system by it, or compare their means.",
            )
