"""From the facts of a note to its sentence, in the nouns of the data.

A template has the facts in braces, with Python's format specifications, and besides

* `{n:unit}`: a number with its noun ("12 patients"), of what a design has ("unit", "stratum", "item") or of any
  other word ("row");
* `{unit}`, `{units}`, `{a unit}`, `{stratum}`, `{strata}`, `{item}`, `{items}`: the noun alone. A fact of that name
  ("unit": "subject") takes the place of the column's;
* `{n:holds/hold}`: the word that agrees with the number, or with how many there are of several values; of a fact that
  is true or false, the first if it is true;
* `{name:? ({name})}`: a piece that stands only where the fact is given;
* `{names}`, `{names!r}`: several values are comma-separated, each by the specification or as Python writes it, and the
  rest of many is counted; pairs are a name and a number ("reader 40%");
* `{do}`: what to do, in the words of the place where it is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any

from strat.base.errors import short
from strat.base.notes.kinds import Kind, kind_of
from strat.base.text import Noun, counted, noun_of, plural

Labels = Mapping[str, tuple[Any, ...]]
DEFAULT = {"unit": "cluster", "stratum": "stratum", "item": "item"}  # nouns where no column has a name
FORMS = {form: role for role in DEFAULT for form in (role, plural(2, role))}
IN_NO_GROUP = ("metric", "system")  # axes whose labels are what a note is on, not groups that it is in
SHOWN = 5  # values of one fact
COUNTED = re.compile(r"[a-z]{3,}([ -][a-z]+)*")


class Words(Formatter):
    """The words of one note: its facts, the nouns of its data, and what to do."""

    def __init__(self, facts: Mapping[str, Any], nouns: Mapping[str, str], kind: Kind, *, command_line: bool) -> None:
        self.facts = facts
        self.nouns = nouns
        self.kind = kind
        self.command_line = command_line

    def fill(self, template: str) -> str:
        """The template with the facts."""
        return self.vformat(template, (), self.facts)

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The fact of that name; or the noun, with its article; or what to do."""
        name = str(key)
        if name == "do":
            return self.fill(self.kind.advice(command_line=self.command_line))
        article, _, form = name.rpartition(" ")
        role = FORMS.get(form)
        if role is None or (role != form and name in kwargs):
            return kwargs[name]
        noun = self.noun(role)
        if form != role:
            return noun.many
        return f"{'an' if noun.one[0] in 'aeio' else 'a'} {noun.one}" if article else noun.one

    def noun(self, role: str) -> Noun:
        """What a unit, a stratum or an item is called, or whatever else is counted."""
        role = str(self.facts.get(role, role))
        otherwise = DEFAULT.get(role, role)
        column = self.nouns.get(role)
        if column is None and role not in DEFAULT and not COUNTED.fullmatch(role):
            return noun_of(role, "level")  # a factor, which is called as its column
        return Noun(otherwise, plural(2, otherwise)) if column is None else noun_of(column, otherwise)

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        """A fact, or each of several values, as Python writes it."""
        if conversion == "r" and isinstance(value, tuple | list):
            return (*(short(repr(each)) for each in value[:SHOWN]), *value[SHOWN:])
        return super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> str:
        """A fact by its specification; nothing of one that is not given."""
        if value is None:
            return ""
        if format_spec.startswith("?"):
            return "" if value is False or value == "" else format_spec[1:]
        several = isinstance(value, tuple | list)
        if "/" in format_spec:
            return format_spec.split("/")[(len(value) if several else value) != 1]
        if several:
            if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], float):
                return f"{value[0]} {self.format_field(value[1], format_spec)}"
            rest = f" and {len(value) - SHOWN} more" if len(value) > SHOWN else ""
            return ", ".join(self.format_field(each, format_spec) for each in value[:SHOWN]) + rest
        if COUNTED.fullmatch(format_spec):
            return self.noun(format_spec).counted(value)
        return str(super().format_field(value, format_spec))


def sentence(
    code: str, facts: Mapping[str, Any], at: Labels, nouns: Mapping[str, str], *, command_line: bool = False
) -> str:
    """The line of a note, headed by the labels that it concerns."""
    if "text" in facts:
        return _headed(facts["text"], at)
    kind = kind_of(code)
    words = Words(facts, nouns, kind, command_line=command_line)
    return _headed(words.fill(kind.line(facts.get("case", ""))), at)


def paragraph(
    code: str, facts: Mapping[str, Any], at: Labels, nouns: Mapping[str, str], *, command_line: bool = False
) -> str:
    """The line, what it does to the number, and what to do."""
    line = sentence(code, facts, at, nouns, command_line=command_line)
    if "text" in facts:
        return line
    kind = kind_of(code)
    words = Words(facts, nouns, kind, command_line=command_line)
    told = "{do}" in kind.line(facts.get("case", ""))
    rest = (kind.effect, "" if told else kind.advice(command_line=command_line))
    return " ".join([line, *(words.fill(template) for template in rest if template)])


def _headed(text: str, at: Labels) -> str:
    """A line with the first labels before it, and the others after it."""
    if not at:
        return text
    on = ", ".join(str(labels[0]) for axis, labels in at.items() if axis in IN_NO_GROUP)
    within = ", ".join(str(labels[0]) for axis, labels in at.items() if axis not in IN_NO_GROUP)
    likewise = " ".join(_likewise(axis, labels[1:]) for axis, labels in at.items() if len(labels) > 1)
    head = " in ".join(part for part in (on, within) if part)
    return f"{head}: {text} {likewise}".rstrip()


def _likewise(axis: str, others: Sequence[Any]) -> str:
    """Of which other labels the same is true."""
    if axis in IN_NO_GROUP:
        rest = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
        return f"Likewise for {', '.join(map(str, others[:SHOWN]))}{rest}."
    other = f"other {noun_of(axis, 'group').one}"
    return f"Likewise in {counted(len(others), other)}."
