"""What the page asks: the questions, the fields of each, and a sentence on what a field means."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from strat.base.errors import StratError

COLUMN, COLUMNS, TEXT, NUMBER, CHOICE = "column", "columns", "text", "number", "choice"


@dataclass(frozen=True)
class Field:
    """One thing to fill in.

    Attributes
    ----------
    label, help
        Its name for a person, and what it means in a sentence.
    kind
        A column, several columns, a text, a number or a choice.
    choices
        What can be chosen, where the kind is a choice; the first one is the default and is left out of commands.
    """

    label: str
    help: str
    kind: str = COLUMN
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """A question, the command that answers it, and the fields that it needs."""

    title: str
    help: str
    verb: str
    fields: tuple[str, ...]


FIELDS = {
    "truth": Field("Truth", "The right answer of each row: the diagnosis, the reference label."),
    "predicted": Field("Prediction", "What the system predicted: one of the labels of the truth."),
    "score": Field(
        "Score", "A number for each row: how sure the system is of the positive class, or how many points the row gets."
    ),
    "positive": Field(
        "Positive class",
        "The class that F1, sensitivity and AUC are about, such as ill. Leave empty for 0 and 1.",
        TEXT,
    ),
    "threshold": Field(
        "Threshold", "A score of at least this counts as positive; needed if there is no prediction.", NUMBER
    ),
    "units": Field(
        "Cluster", "What was drawn: patient, passage, speaker. The rows of one cluster resemble each other."
    ),
    "strata": Field("Stratum", "Fixed groups within which rows or clusters were drawn: site, subject area, language."),
    "items": Field("Repeat of", "The question or task, if each was run several times: its rows are repeats."),
    "epoch": Field("Number of the repeat", "Which run of the item this row is: 1, 2, 3."),
    "weights": Field("Weight", "How many cases of the population a row stands for."),
    "system": Field("System", "In a long table: the column that names the system of each row."),
    "by": Field(
        "Groups", "One number for each value of these columns, with its interval: sex, site, age group.", COLUMNS
    ),
    "metrics": Field(
        "Measures", "Comma-separated, such as accuracy, sensitivity, ppv, auc. Leave empty for the usual ones.", TEXT
    ),
    "missing": Field(
        "Missing values", "Refuse rows with missing values, or leave those rows out.", CHOICE, ("error", "drop")
    ),
    "trials": Field(
        "Samples", "How many samples to draw to see how often the interval holds. Leave empty for 1,000.", NUMBER
    ),
    "width": Field("Wanted width", "Upper minus lower limit of the interval: 0.04 for plus or minus 2 points.", NUMBER),
    "level": Field("Level", "How often such intervals must hold. Leave empty for 0.95.", NUMBER),
}

_ROLES = ("truth", "predicted", "score", "positive", "units", "strata")
_DESIGN = ("items", "weights", "metrics", "missing", "level")
QUESTIONS = {
    "good": Question("How good is it?", "Measures with intervals.", "evaluate", (*_ROLES, "threshold", *_DESIGN)),
    "better": Question(
        "Which is better?",
        "Two or more systems on the same rows: choose several predictions, several scores, or the column that names "
        "the system.",
        "compare",
        (*_ROLES, "system", "items", "epoch", "weights", "metrics", "missing", "level"),
    ),
    "group": Question(
        "How good is it by group?", "The measures for each group.", "evaluate", ("by", *_ROLES, "threshold", *_DESIGN)
    ),
    "hold": Question(
        "Would the interval hold?",
        "Simulated data like yours, with a known truth, show how often it covers.",
        "check",
        (*_ROLES, *_DESIGN, "trials"),
    ),
    "plan": Question(
        "How much data do I need?",
        "How many clusters like yours give an interval of the width that you want.",
        "plan pilot",
        ("width", *_ROLES, "metrics", "level"),
    ),
}
SEVERAL = {"better": ("predicted", "score"), "group": ("by",)}  # fields of several columns, by question


def in_labels(message: str) -> str:
    """A message of the library with the labels of the form for the names of arguments.

    >>> in_labels("`positive` must name the positive class; for example positive='ill' (command line: --positive).")
    '"Positive class" must name the positive class; for example Positive class = ill.'
    """
    message = re.sub(r" \(command line: [^)]*\)", "", message)
    for name, field in FIELDS.items():
        message = message.replace(f"`{name}`", f'"{field.label}"')
        for match in re.finditer(rf"\b{name}=(['\"])(.*?)\1", message):
            message = message.replace(match[0], f"{field.label} = {match[2]}")
    return message


def described() -> dict[str, Any]:
    """The questions and fields as the page gets them."""
    return {
        "fields": {name: asdict(one) for name, one in FIELDS.items()},
        "questions": {name: asdict(one) | {"several": SEVERAL.get(name, ())} for name, one in QUESTIONS.items()},
    }


def roles_of(question: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The filled fields as arguments of the function that answers the question.

    >>> roles_of("good", {"truth": "label", "predicted": "guess", "units": "", "level": "0.9", "metrics": "f1, auc"})
    {'truth': 'label', 'predicted': 'guess', 'metrics': ('f1', 'auc'), 'level': 0.9}
    """
    unknown = [name for name in values if name not in QUESTIONS[question].fields]
    if unknown:
        raise StratError.about(unknown[0], "must be left out for this question.")
    filled = {name: _value(name, values[name]) for name in QUESTIONS[question].fields if name in values}
    if question == "plan" and filled.get("width") is None:
        raise StratError.about("width", "must be the wanted width of the interval, got nothing; for example 0.04.")
    if question == "group" and not filled.get("by"):
        raise StratError.about("by", "must name at least one column that makes groups, got none.")
    return {name: value for name, value in filled.items() if value not in (None, ())}


def _value(name: str, value: Any) -> Any:
    kind = FIELDS[name].kind
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in texts):
        raise StratError.about(name, f"must be text, got {type(texts[0]).__name__}.")
    if isinstance(value, list):
        return tuple(texts)
    if kind == COLUMN or (name == "positive" and value):
        return value or None
    text = value.strip()
    if name == "metrics":
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if kind == NUMBER:
        return _number(name, text)
    return None if text == (FIELDS[name].choices or ("",))[0] else text


def _number(name: str, text: str) -> float | int | None:
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise StratError.about(name, f"must be a number, got {text!r}; write 0.5, not 0,5.")
    return int(number) if name == "trials" and number == int(number) else number
