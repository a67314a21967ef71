"""The commands and calls that a table with certain roles allows, spelled so that they run as they are printed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strat.base.errors import StratError, plain
from strat.designs.sampling import DEFAULTS
from strat.measures.positive import positive_of
from strat.measures.register import spellings
from strat.verbs.roles import Roles
from strat.verbs.seen_column import NUMBERS, PREDICTED, PROBABILITY, SYSTEM, TEXT, TRUTH, WHOLE, Seen

# where the argument of the function is not the role, and where the option is not the argument behind two dashes
ARGUMENTS = {"scores": "score"}
OPTIONS = {"metrics": "--metric", "replicate_weights": "--replicate-weights"}
JOINED = ("crossed",)  # several columns in one option
IN_CALLS = ("strata", "units", "items", "weights")  # of a sampling, these are arguments of the calls, too


@dataclass(frozen=True)
class Step:
    """One thing to do next.

    Attributes
    ----------
    title
        What it answers.
    verb
        The command: "evaluate", "compare", "check" or "plan pilot"; all but the last are functions, too.
    roles
        From a role to a column, several columns, or a choice such as "drop".
    files
        The files as they were named; empty: the rows are not in files.
    """

    title: str
    verb: str
    roles: Mapping[str, Any]
    files: tuple[str, ...] = field(default=())

    @property
    def command(self) -> str | None:
        """The command line, quoted for a POSIX shell; None where the rows are not in files."""
        if not self.files:
            return None
        words = ["strat", *self.verb.split(), *(f"./{name}" if name.startswith("-") else name for name in self.files)]
        for role, value in self.roles.items():
            option = OPTIONS.get(role, f"--{ARGUMENTS.get(role, role)}")
            for one in _one_by_one(role, value):
                text = str(plain(one))
                words += [option] if one is True else [f"{option}={text}"] if text.startswith("-") else [option, text]
        return shlex.join(words)

    @property
    def call(self) -> str:
        """The call in Python."""
        source = "frame" if not self.files else _python(self.files[0] if len(self.files) == 1 else list(self.files))
        drawn = {role: value for role, value in self.roles.items() if role in DEFAULTS}
        if set(drawn) <= set(IN_CALLS):
            return f"strat.{self.verb}({', '.join([source, *_named(self.roles)])})"
        others = {role: value for role, value in self.roles.items() if role not in drawn}
        design = f"design=strat.Sampling({', '.join(_named(drawn))})"
        return f"strat.{self.verb}({', '.join([source, *_named(others), design])})"


@dataclass(frozen=True)
class TrialStep(Step):
    """What to do with a list of comparisons, whose roles are those of `strat.recognition.read_trials`.

    Attributes
    ----------
    distance
        Whether smaller scores are better.
    """

    distance: bool = False

    @property
    def command(self) -> str | None:
        """The command line, quoted for a POSIX shell; None where the rows are not in a file that it reads."""
        if not self.files or any("," in str(name) for name in self.roles.values()):
            return None
        columns = ",".join(f"{role}={name}" for role, name in self.roles.items())
        file = self.files[0]
        better = ["--smaller-is-better"] if self.distance else []
        trials = [f"--trials={file}"] if file.startswith("-") else ["--trials", file]
        return shlex.join(["strat", "recognize", *trials, "--columns", columns, *better])

    @property
    def call(self) -> str:
        """The call in Python."""
        better = "distance=True" if self.distance else ""
        if self.files:
            columns = ", ".join(f"{_python(role)}: {_python(name)}" for role, name in self.roles.items())
            return (
                f"strat.recognition.read_trials({_python(self.files[0])}, columns={{{columns}}}).verification({better})"
            )
        order = ("score", "probe", "gallery", "label", "probe_subject", "gallery_subject")
        given = [f"frame[{_python(self.roles[role])}]" if role in self.roles else "None" for role in order]
        return f"strat.recognition.Trials({', '.join(given)}).verification({better})"


def _one_by_one(role: str, value: Any) -> tuple[Any, ...]:
    """What each option of a role gets: several columns have one each, or one for all of them."""
    if role in JOINED and isinstance(value, tuple):
        return (",".join(value),)
    return value if isinstance(value, tuple) else (value,)


def _named(roles: Mapping[str, Any]) -> list[str]:
    return [f"{ARGUMENTS.get(role, role)}={_python(value)}" for role, value in roles.items()]


def _python(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_python, value)) + "]"
    if isinstance(value, str) and value.isprintable() and '"' not in value and "\\" not in value:
        return f'"{value}"'
    return repr(plain(value))


def steps(roles: Roles, seen: Mapping[str, Seen], files: tuple[str, ...]) -> list[Step]:
    """What can be computed with these roles, the most useful first."""
    design = {"strata": roles.strata, "units": roles.units, "weights": roles.weights}
    every = [
        Step(title, verb, _complete(wanted | design, seen), files)
        for title, verb, wanted in (
            *_of_systems(roles),
            *([] if roles.system else _of_classes(roles, seen)),
            *_of_scores(roles),
        )
    ]
    return [step for place, step in enumerate(every) if step not in every[:place]]


Wanted = tuple[str, str, dict[str, Any]]


def _of_systems(roles: Roles) -> list[Wanted]:
    """Comparisons of a long table, or of one column for each system."""
    if roles.system and roles.items and roles.right:
        wanted = {"system": roles.system, "items": roles.items, "score": roles.right[0], "epoch": roles.epoch}
        return [("compare the systems", "compare", wanted | {"unmatched": "common" if roles.unmatched else None})]
    if roles.system:
        return []
    if roles.truth and len(roles.predicted) > 1:
        labels = {"truth": roles.truth, "predicted": roles.predicted}
        return [(f"compare {len(roles.predicted)} systems by their accuracy", "compare", labels)]
    if len(roles.right) > 1:
        return [(f"compare {len(roles.right)} systems by their mean score", "compare", {"scores": roles.right})]
    return []


def _of_classes(roles: Roles, seen: Mapping[str, Seen]) -> list[Wanted]:
    """Measures of labels, and of scores of a class."""
    if roles.truth is None:
        return []
    items = {"items": roles.items}
    labels = {"truth": roles.truth}
    one = {"predicted": roles.predicted[0]} if roles.predicted else {}
    of = f" of {roles.predicted[0]!r}" if len(roles.predicted) > 1 else ""
    classes = positive_choices(seen[roles.truth].labels.tolist())
    by_class: list[Wanted] = []
    if one and (not roles.score or classes):
        by_class.append((f"accuracy and macro F1{of}", "evaluate", labels | one | items))
    for score in roles.score:
        own = _prediction_of(score, roles)
        for positive in classes or (None,):
            which = "" if positive is None else f", if {plain(positive)!r} is the positive class"
            title = f"AUC of {score!r}" if own is None else f"accuracy, macro F1 and AUC of {score!r}"
            wanted = labels | {"predicted": own, "score": score, "positive": positive} | items
            by_class.append((title + which, "evaluate", wanted))
    return by_class


def _prediction_of(score: str, roles: Roles) -> str | None:
    """The column of predictions of the system that a score is of, where the names say so; a lone pair may lack one."""
    named = {one: _system_in(one) for one in (score, *roles.predicted)}
    same = [one for one in roles.predicted if named[one] == named[score]]
    if len(same) == 1:
        return same[0]
    alone = len(roles.predicted) == len(roles.score) == 1 and not (named[score] and named[roles.predicted[0]])
    return roles.predicted[0] if alone else None


def _system_in(name: str) -> frozenset[str]:
    """What a column's name says beyond its role: the `a` and the `2` of `score_a2`."""
    words = re.findall(r"[^\W\d_]+|\d+", name.lower())
    return frozenset(word for word in words if word not in (*TRUTH, *PREDICTED, *PROBABILITY, *SYSTEM, "hat"))


def _of_scores(roles: Roles) -> list[Wanted]:
    """The mean of per-row scores."""
    if roles.system or len(roles.right) != 1:
        return []
    return [(f"the mean of {roles.right[0]!r}", "evaluate", {"score": roles.right[0], "items": roles.items})]


READ_AS = {NUMBERS: ("numbers",), WHOLE: ("labels", "numbers"), TEXT: ("labels", "texts")}  # by the kind of the truth


def positive_choices(labels: Sequence[Any]) -> tuple[Any, ...]:
    """The two labels if the user has to say which one is positive; none if they say it themselves.

    >>> positive_choices(["benign", "malignant"]), positive_choices([0, 1])
    (('benign', 'malignant'), ())
    """
    try:
        positive_of(labels)
    except StratError:
        return tuple(labels) if len(labels) == 2 else ()
    return ()


def _complete(wanted: Mapping[str, Any], seen: Mapping[str, Seen]) -> dict[str, Any]:
    """The roles that are there, and what to do about missing values if a column of theirs has some."""
    there = {role: value for role, value in wanted.items() if value is not None}
    columns = [name for value in there.values() for name in (value if isinstance(value, tuple) else (value,))]
    lost = any(seen[name].column.lost for name in columns if name in seen)
    return there | ({"missing": "drop"} if lost else {})


def measures(roles: Roles, kinds: Mapping[str, str]) -> list[str]:
    """Names of measures that the columns allow, without averages of one another; those of all classes come first."""
    given = {"truth"} if roles.truth else set()
    given |= {"predicted"} if roles.predicted else set()
    given |= {"score"} if roles.score or roles.right else set()
    reads = READ_AS.get(kinds[roles.truth], ("labels",)) if roles.truth else ("labels", "numbers")
    allowed = [one for one in spellings().values() if set(one.needs) <= given and one.reads in reads and not one.given]
    if roles.truth:  # of a score that says how right a row is, not how likely a class
        allowed = [one for one in allowed if one.needs != ("score",)]
    return [one.word for one in sorted(allowed, key=lambda one: (one.reads == "numbers", "positive" in one.arguments))]
