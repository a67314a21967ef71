"""`look`: what a table holds, which column seems to play which role, and the command to run next."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from strat.base.errors import StratError, plain, short, some
from strat.base.limits import LIMITS
from strat.base.notes import Note, records
from strat.base.text import counted
from strat.base.validate.arguments import checked
from strat.base.validate.names import Names
from strat.data.backends import Lazy
from strat.data.column import Column, listed_marks
from strat.data.decimals import spelling_of_texts
from strat.data.files import MEMORY
from strat.data.table import Table, read
from strat.recognition.trial_columns import cells_of_bare_list
from strat.show.render import Sheet, jsonable
from strat.show.sheet_result import SheetResult
from strat.verbs.hints import first_rows
from strat.verbs.possible_designs import possible_designs
from strat.verbs.roles import Roles, propose
from strat.verbs.seen_column import DATES, LABELS, NUMBERS, TEXT, TRUTHS, WHOLE, Seen
from strat.verbs.steps import Step, measures, positive_choices, steps
from strat.verbs.trial_lists import trial_roles, trial_steps

EXAMPLES = 4  # values of a column that are shown
FIRST = 12  # measures that are named; the others are counted
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}.*)?|\d{1,2}[./]\d{1,2}[./]\d{4}")
_LOGS = (".eval", ".json")


@dataclass(frozen=True)
class ColumnLook:
    """What a column holds.

    Attributes
    ----------
    name, kind
        Its name, and what its values are: labels, whole numbers, numbers, truth values, text or dates.
    levels
        How many different values it has.
    examples
        The most frequent values, or the least and the greatest number.
    missing, marks
        How many values are missing, and what stands in their place.
    role
        The role that it seems to play; None: none.
    """

    name: str
    kind: str
    levels: int
    examples: str
    missing: int
    marks: Mapping[str, int]
    role: str | None


@dataclass(frozen=True, eq=False, repr=False)
class Look(SheetResult):
    """What a table holds, and what can be done with it.

    Attributes
    ----------
    source
        The table's name.
    rows, seen
        How many rows it has, and how many of them were looked at.
    columns
        What each column holds.
    roles
        The roles that columns seem to play, with reasons and open questions.
    steps
        What to do next, each as a `.command` and as a `.call` in Python.
    notes
        What was left out or read in an unusual way.
    files
        The files as they were named; empty: the rows are not in files.
    """

    source: str
    rows: int
    seen: int
    columns: tuple[ColumnLook, ...]
    roles: Roles
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def command(self) -> str | None:
        """The first command to run; None where nothing was recognized, or the rows are not in files."""
        return self.steps[0].command if self.steps else None

    @property
    def call(self) -> str | None:
        """The first call in Python; None where nothing was recognized."""
        return self.steps[0].call if self.steps else None

    def to_dict(self) -> dict[str, list[Any]]:
        """One line for each column of the table."""
        fields = ("name", "kind", "levels", "examples", "missing", "role")
        return {field: [getattr(column, field) for column in self.columns] for field in fields}

    def sheet(self) -> Sheet:
        """The columns as a table, with reasons, questions and commands below."""
        return Sheet(
            "strat/look/2",
            ["column", "kind", "levels", "examples", "missing", "role"],
            [_line(column) for column in self.columns],
            title=f"{self.source}: {counted(self.rows, 'row')}, {counted(len(self.columns), 'column')}",
            notes=[*self.remarks(), *self.what_next()],
            data=self._data(),
        )

    def remarks(self) -> list[str]:
        """Why each column has its role, what is unsure, and which measures can be computed."""
        unsure = [
            f"unsure: {p.column!r} as {p.role}, because of {p.reason}" for p in self.roles.proposals if not p.sure
        ]
        lines = [f"{p.column!r} as {p.role}: {p.reason}" for p in self.roles.proposals if p.sure]
        known = measures(self.roles, {column.name: column.kind for column in self.columns})
        more = f" and {len(known) - FIRST} more" if len(known) > FIRST else ""
        able = [f"measures (--metric): {', '.join(known[:FIRST])}{more}"] if known and not self.roles.system else []
        questions = [f"unsure: {question}" for question in self.roles.questions]
        return [*lines, *able, *self.notes, *unsure, *questions]

    def what_next(self) -> list[str]:
        """The commands and calls, ready to be copied."""
        if not self.steps:
            return [
                "",
                "No pair of truth and prediction and no score was recognized; name them:",
                *_template(self.files),
            ]
        lines = []
        for step in self.steps:
            lines += ["", f"{step.title[:1].upper()}{step.title[1:]}:"]
            lines += [f"  {step.command}"] if step.command is not None else []
            lines += [f"  {step.call}"] if step.command is None else [f"  in Python: {step.call}"]
        return lines

    def _data(self) -> dict[str, Any]:
        roles = [{"role": p.role, "column": p.column, "reason": p.reason, "sure": p.sure} for p in self.roles.proposals]
        data: dict[str, Any] = jsonable(
            {
                "source": self.source,
                "rows": self.rows,
                "rows_seen": self.seen,
                "columns": [vars(column) for column in self.columns],
                "roles": roles,
                "questions": self.roles.questions,
                "notes": records(self.notes),
                "measures": measures(self.roles, {column.name: column.kind for column in self.columns}),
                "steps": [{"title": s.title, "command": s.command, "call": s.call} for s in self.steps],
            }
        )
        return data


def _line(column: ColumnLook) -> list[Any]:
    marks = f" ({listed_marks(column.marks)})" if column.marks else ""
    missing = f"{column.missing:,}{marks}" if column.missing else ""
    return [column.name, column.kind, column.levels, column.examples, missing, column.role]


def _template(files: tuple[str, ...]) -> list[str]:
    """Commands that only lack the names of columns."""
    labels = Step("labels", "evaluate", {"truth": "COLUMN", "predicted": "COLUMN"}, files)
    scores = Step("mean of the per-row scores", "evaluate", {"score": "COLUMN"}, files)
    return [f"  {step.command or step.call}" for step in (labels, scores)]


@checked
def look(
    source: Any,
    *,
    sheet: str | None = None,
    text: Names = (),
    na: Names | None = None,
    memory: str = MEMORY,
) -> Look:
    """What a table holds, which column seems to play which role, and the command to run next.

    Roles are proposed from names and from what columns hold; nothing is computed with them. At most the first 200,000
    rows and 100 columns are looked at.

    Parameters
    ----------
    source
        A file, a glob, a data frame of any library, or a mapping of columns: whatever :func:`read` takes.
    sheet
        The sheet of an Excel workbook.
    text, na, memory
        As for :func:`read`.

    Returns
    -------
    Look
        With `.columns`, `.roles`, `.steps`, `.command` and `.call`.

    Examples
    --------
    >>> table = {"patient": [1, 1, 2, 2, 3, 3], "label": list("aabbab"), "guess": list("aabaab")}
    >>> result = look(table)
    >>> result.roles.truth, result.roles.predicted, result.roles.units
    ('label', ('guess',), 'patient')
    >>> print(result.call)
    strat.evaluate(frame, truth="label", predicted="guess", units="patient")
    """
    files = _named(source, sheet)
    _no_logs_or_lists(files)
    table = read(source, sheet=sheet, text=text, na=na, memory=memory)
    names = table.names[: LIMITS.look_columns]
    columns = _with_marks(table, first_rows(table, names))
    seen = [Seen(*_kind(column)) for column in columns]
    number = len(seen[0].column) if seen else 0
    rows = len(table) if number >= LIMITS.hint_rows else number
    if not rows:
        raise StratError(f"{table.source} must have at least one row, got none.")
    roles = propose(seen)
    by_name = {one.name: one for one in seen}
    compared = trial_steps(by_name, files)
    roles = trial_roles(compared, by_name) if compared else roles
    todo = tuple(compared or steps(roles, by_name, files))
    asked = [] if compared else possible_designs(by_name, roles, todo, files, table.names)
    nested = [name for name in names if name not in by_name]
    return Look(
        source=" ".join(files) if files else table.source,
        rows=rows,
        seen=number,
        columns=tuple(_described(one, roles) for one in seen),
        roles=replace(roles, questions=(*roles.questions, *asked)),
        steps=todo,
        notes=tuple(_notes(table, seen, nested, rows, number, roles)),
        files=files,
    )


def _with_marks(table: Table, columns: list[Column]) -> list[Column]:
    return table.backend.with_marks(columns) if isinstance(table.backend, Lazy) else columns


def _named(source: Any, sheet: str | None) -> tuple[str, ...]:
    """The files as they were named, each with its sheet; none for a frame."""
    listed = source if isinstance(source, list | tuple) else [source]
    if not listed or not all(isinstance(one, str | os.PathLike) for one in listed):
        return ()
    names = tuple(os.fspath(one) for one in listed)
    return names if sheet is None else tuple(f"{name}#{sheet}" for name in names)


def _no_logs_or_lists(files: Sequence[str]) -> None:
    for name in files:
        path = Path(name)
        if path.suffix.lower() in _LOGS or path.is_dir():
            raise StratError.about(
                "source",
                f"must be a table, got {name!r}; logs of benchmarks and folders of them need no columns: "
                f"strat evaluate {name}, or strat compare {name} for several systems.",
            )
        cells = cells_of_bare_list(path)
        if cells:
            scores = " --scores FILE" if cells == 3 else ""
            raise StratError.about(
                "source",
                f"must be a table with a line of column names, got {name!r}; a list of comparisons needs none: "
                f"strat recognize --trials {name}{scores}.",
            )


def _kind(column: Column) -> tuple[Column, str]:
    """The column, with numbers in place of texts that spell them, and what its values are."""
    labels = column.labels if column.codes is not None or column.missing is None else column.labels[~column.missing]
    kind = labels.dtype.kind
    if kind == "b":
        return column, TRUTHS
    if kind in "mM":
        return column, DATES
    if kind in "iu" or (kind == "f" and bool((labels == np.round(labels)).all()) and len(labels)):
        return column, WHOLE
    if kind == "f":
        return column, NUMBERS
    if column.spelled:
        return column, WHOLE
    return _kind_of_texts(column, [str(label) for label in labels.tolist()])


def _kind_of_texts(column: Column, texts: Sequence[str]) -> tuple[Column, str]:
    style = spelling_of_texts(texts)
    if style is not None and not style.words:
        return column.numbers(), NUMBERS
    if texts and all(map(_DATE.fullmatch, texts)):
        return column, DATES
    long = sum(len(text) > 40 or text.count(" ") > 3 for text in texts)
    return column, TEXT if 2 * long > len(texts) and len(texts) > 2 else LABELS


def _described(one: Seen, roles: Roles) -> ColumnLook:
    role = next((p.role for p in roles.proposals if p.column == one.name), None)
    return ColumnLook(one.name, one.kind, one.levels, _examples(one), one.column.lost, dict(one.column.marks), role)


def _examples(one: Seen) -> str:
    """The most frequent levels, or the range of numbers."""
    if not one.levels:
        return ""
    if one.kind in (NUMBERS, WHOLE, DATES) and (one.levels > EXAMPLES or one.kind == NUMBERS):
        return f"{_shown(one.labels[0])} to {_shown(one.labels[-1])}"
    times = np.bincount(one.codes[one.codes >= 0], minlength=one.levels)
    often = np.argsort(-times, kind="stable")[:EXAMPLES]
    more = ", …" if one.levels > EXAMPLES else ""
    return ", ".join(_shown(one.labels[k]) for k in sorted(often.tolist())) + more


def _shown(value: Any) -> str:
    value = plain(value)
    return f"{value:.6g}" if isinstance(value, float) else short(str(value), 30)


def _notes(
    table: Table, seen: Sequence[Seen], nested: Sequence[str], rows: int, number: int, roles: Roles
) -> Iterator[str]:
    if number < rows:
        yield Note("rows-not-read", f"only the first {number:,} rows were looked at")
    if len(table.names) > LIMITS.look_columns:
        yield Note(
            "columns-not-read", f"only the first {LIMITS.look_columns} of {len(table.names):,} columns were looked at"
        )
    if nested:
        yield Note("columns-left-out", f"columns that hold neither numbers nor text were left out: {some(nested)}")
    for one in seen:
        yield from one.column.notes
    used = {proposal.column for proposal in roles.proposals}
    lost = [f"{one.name!r} {one.column.lost:,}" for one in seen if one.column.lost and one.name in used]
    if lost:
        what = ", ".join(lost)
        yield Note(
            "values-missing",
            f"values are missing ({what}): missing='drop' (command line: --missing drop) leaves out their rows",
        )
    truth = next((one for one in seen if one.name == roles.truth), None)
    classes = () if truth is None else positive_choices(truth.labels.tolist())
    if classes:
        a, b = (repr(plain(label)) for label in classes)
        yield Note(
            "positive-unknown",
            f"unsure: which class is positive, {a} or {b}? F1, recall and AUC look at one; name it in `positive` "
            "(command line: --positive)",
        )
    if roles.system and roles.truth and roles.predicted:
        yield Note(
            "several-systems",
            f"rows of several systems ({roles.system!r}) with labels: add a column that is 1 where "
            f"{roles.predicted[0]!r} equals {roles.truth!r} and 0 elsewhere, and compare by it",
        )
