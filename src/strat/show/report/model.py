"""What a report is made of: plain values that the template lays out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from strat.show.render import Sheet

Number = float | None


@dataclass(frozen=True)
class Mark:
    """A value with its interval in a forest plot, and a second, naive interval where there is one."""

    value: Number
    low: Number
    high: Number
    naive_low: Number = None
    naive_high: Number = None
    name: str = ""


@dataclass(frozen=True)
class Bar:
    """An interval of the picture beside the answer."""

    label: str
    low: float
    value: float
    high: float
    naive: bool = False


@dataclass(frozen=True)
class Answer:
    """The answer in one sentence, a second sentence that puts it in its place, and bars to compare."""

    sentence: str
    beside: str = ""
    bars: tuple[Bar, ...] = ()
    reference: float | None = None


@dataclass(frozen=True)
class Grid:
    """A table that can be sorted and copied, with a forest plot in it where there are marks.

    Attributes
    ----------
    sheet
        The cells; its schema is not used.
    caption
        What the table shows.
    marks
        One for each row, drawn after the column `after`.
    reference
        Where the forest has its upright line.
    cut
        How many rows are shown; the others are only in the data.
    folded
        A line behind which the table is folded ("": it stands open).
    """

    sheet: Sheet
    caption: str
    marks: tuple[Mark, ...] = ()
    after: int = 1
    reference: float | None = None
    cut: int = 500
    note: str = ""
    folded: str = ""
    kind: str = field(default="grid", init=False)


@dataclass(frozen=True)
class Figure:
    """A picture made of markup, with a caption and words for people who can't see it."""

    picture: Markup
    caption: str
    spoken: str
    zooms: bool = False
    kind: str = field(default="figure", init=False)


@dataclass(frozen=True)
class Text:
    """Paragraphs; `summary` folds them behind a line that opens."""

    paragraphs: tuple[str, ...]
    summary: str = ""
    kind: str = field(default="text", init=False)


@dataclass(frozen=True)
class Matrix:
    """A confusion matrix: shares of each true class as shades, counts in the cells."""

    labels: tuple[str, ...]
    counts: tuple[tuple[float, ...], ...]
    shares: tuple[tuple[float, ...], ...]
    caption: str
    sheet: Sheet
    kind: str = field(default="matrix", init=False)


@dataclass(frozen=True)
class Picker:
    """Any two of many systems: values, and standard errors and p-values of pairs (upper triangle, row by row)."""

    systems: tuple[str, ...]
    values: tuple[float, ...]
    errors: tuple[float, ...]
    pvalues: tuple[float, ...]
    critical: float
    level: float
    kind: str = field(default="picker", init=False)


Block = Grid | Figure | Text | Matrix | Picker


@dataclass(frozen=True)
class Section:
    """A heading, a sentence under it, and what belongs there."""

    title: str
    blocks: tuple[Block, ...]
    lead: str = ""


@dataclass(frozen=True)
class Told:
    """All that one result has to say.

    Attributes
    ----------
    answer
        The sentence on top, if this result is the first one.
    sections
        Tables and pictures.
    facts
        The design and the target: a word and what it stands for.
    methods
        How it was computed, one sentence each.
    topics
        What the list of references is chosen by.
    notes
        Notes on what to keep in mind with the numbers.
    data
        Everything for machines.
    title
        What the page is called if this result is the first one.
    """

    answer: Answer
    sections: tuple[Section, ...]
    facts: tuple[tuple[str, str], ...] = ()
    methods: tuple[str, ...] = ()
    topics: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
