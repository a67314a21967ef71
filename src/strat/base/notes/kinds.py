"""The register of notes: every kind that there is, with its sentences. It is made when the first sentence is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal

About = Literal["source", "design", "measure", "value"]


@dataclass(frozen=True)
class Kind:
    """A kind of note: the only place with its sentences, which `strat.base.notes.sentences` makes of facts.

    Attributes
    ----------
    code
        A slug that programs branch on, the same for ever.
    about
        What it is true of: the source of the data, the design, the measure, or single values.
    says
        The line: what was seen, and what follows. Of a code that several situations share, a line for each, by the
        fact "case" of the note.
    effect
        What it does to the number, where the line does not say all.
    do
        What to do, with what is typed in Python; none where nothing is to be done.
    do_on_command_line
        The same for those who read it on the command line, where that differs.
    """

    code: str
    about: About
    says: str | Mapping[str, str]
    effect: str = ""
    do: str = ""
    do_on_command_line: str = ""

    def line(self, case: str = "") -> str:
        """The template of the line."""
        return self.says if isinstance(self.says, str) else self.says[case]

    def advice(self, *, command_line: bool) -> str:
        """The template of what to do."""
        return (command_line and self.do_on_command_line) or self.do


@cache
def register() -> Mapping[str, Kind]:
    """Every kind by its code."""
    from strat.base.notes import design, measures, source, values

    kinds = (*source.KINDS, *design.KINDS, *measures.KINDS, *values.KINDS)
    return MappingProxyType({kind.code: kind for kind in kinds})


def kind_of(code: str) -> Kind:
    """The kind of note with this code."""
    return register()[code]
