"""`Check`: how often an interval covered the truth on samples like the user's own, and the table of several checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, SupportsIndex, overload

from strat.base.errors import one_of
from strat.base.notes import Note, codes_of, once, records
from strat.base.text import class_named
from strat.estimation import Estimate
from strat.measures.register import asked_for, spelled
from strat.show.render import Sheet
from strat.show.sheet_result import SheetResult
from strat.verbs.check_trials import NAIVE, Line

ANSWERS = {
    "holds": "it holds",
    "too short": "it is too short",
    "too wide": "it is wider than necessary",
    "undecided": "too few samples to tell whether it holds; draw more",
}
VARIED = {  # what the shapes of a design's samples differ in, by its kind
    "crossed": "coverage by variance components",
    "staged": "coverage by variance components",
    "systematic": "coverage by drift",
}
CALM = "it holds only if other {units} differ no more than these few"
DOUBTED = "it holds for samples like these, which may show too little: see the notes"
FEW_UNITS = {"few-units", "no-variation"}  # codes of notes that say so
OF_DESIGN = ("few-units", "few-df")  # codes of notes on the design, which are the same for every measure
DOUBTS = FEW_UNITS | {"two-kinds", "few-holders", "few-of-class", "thin-tail"}  # codes of notes on what a sample hides


@dataclass(frozen=True, eq=False, repr=False)
class Check(SheetResult):
    """What became of a measure's intervals on samples like the user's own.

    Attributes
    ----------
    metric, estimate
        The measure, and its estimate on the data themselves.
    lines
        One for each interval, the default first, under the shape of unit differences that is hardest for the default.
    shapes
        Coverage of the default interval under each shape of unit differences.
    trials, seed
        How many samples were drawn for each shape, and from which seed.
    design, assumption
        What was kept, and what was assumed, in words.
    notes
        What to look at.
    """

    metric: str
    estimate: Estimate = field(repr=False)
    lines: tuple[Line, ...]
    shapes: Mapping[str, float]
    trials: int
    seed: int
    level: float
    design: str
    assumption: str
    notes: tuple[Note, ...] = ()

    def __getitem__(self, method: str) -> Line:
        """The line of a method."""
        one_of("method", method, [line.method for line in self.lines])
        return next(line for line in self.lines if line.method == method)

    @property
    def holds(self) -> bool:
        """Whether the default interval is shown to keep its level, under every shape that was tried.

        Few units prove nothing: a sample may happen to hold no unit of the bad kind. Nor does a sample with errors in
        few units, or with few rows of a class, beyond a threshold or a quantile.
        """
        return self.lines[0].verdict(self.level) == "holds" and DOUBTS.isdisjoint(codes_of(self.notes))

    @property
    def few_units(self) -> bool:
        """Whether the units are too few, or too much the same, to show how units differ."""
        return not FEW_UNITS.isdisjoint(codes_of(self.notes))

    @property
    def shape(self) -> str:
        """The shape of unit differences with the lowest coverage."""
        return min(self.shapes, key=lambda shape: self.shapes[shape])

    def sheet(self) -> Sheet:
        """How often each interval covered the truth, with the answer below."""
        return sheet((self,))

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns of the table: a line for each interval."""
        return _columns(self.sheet())

    def __str__(self) -> str:
        """The answer as a sentence."""
        first = self.lines[0]
        verdict = first.verdict(self.level)
        doubt = CALM.format(units=self.estimate.design.called("unit")) if self.few_units else DOUBTED
        answer = doubt if verdict == "holds" and not self.holds else ANSWERS[verdict]
        share = f"{first.coverage:.1%} of {self.trials:,} samples like yours (± {2 * first.error:.1%})"
        text = f"{self.metric}: the {self.level:.0%} interval covers the truth in {share}: {answer}"
        if verdict == "too short":
            text += f"; {self._instead()}"
        return text + "."

    def _instead(self) -> str:
        """Which other method would hold, in words."""
        others = {line: line.verdict(self.level) for line in self.lines[1:] if line.method != NAIVE}
        better = [line for line, verdict in others.items() if verdict == "holds"]
        if better:
            return f"{min(better, key=lambda line: line.width).method!r} would hold"
        if "undecided" in others.values():
            return "too few samples to tell whether another method holds"
        return f"no method here holds: more {self.estimate.design.called('unit')} are needed"


class Checks(SheetResult, tuple[Check, ...]):
    """The checks of several measures, in order; `checks["accuracy"]` is that of one."""

    __slots__ = ()

    @overload
    def __getitem__(self, which: SupportsIndex | str) -> Check: ...
    @overload
    def __getitem__(self, which: slice) -> Checks: ...
    def __getitem__(self, which: SupportsIndex | slice | str) -> Check | tuple[Check, ...]:
        """The check of a measure, by name or by place."""
        if not isinstance(which, str):
            return tuple.__getitem__(self, which)
        words = [one.metric for one in self]
        return tuple.__getitem__(self, words.index(asked_for("which", which, words)))

    def sheet(self) -> Sheet:
        """How often each interval covered the truth, with the answers below."""
        return sheet(self)

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns of the table: a line for each interval of each measure."""
        return _columns(self.sheet())


def _columns(table: Sheet) -> dict[str, list[Any]]:
    return {name: [row[k] for row in table.rows] for k, name in enumerate(table.columns)}


def sheet(checks: Sequence[Check]) -> Sheet:
    """The checks as a table for the screen, with the answers below it."""
    columns = ("measure", "interval", "coverage", "±", "mean width", "useless", "verdict")
    rows = [
        (one.metric, line.method, line.coverage, 2 * line.error, line.width, line.useless, line.verdict(one.level))
        for one in checks
        for line in one.lines
    ]
    every = once((note for one in checks for note in one.notes), OF_DESIGN)
    notes = [str(one) for one in checks] + [f"note: {note}" for note in every]
    notes += list(dict.fromkeys(class_named(p) for one in checks if (p := one.estimate.positive) is not None))
    notes.append(f"{checks[0].trials:,} samples a shape, seed {checks[0].seed}, of the design: {checks[0].design}")
    notes += [f"{one.metric}: {one.assumption}; {_by_shape(one)}" for one in checks]
    title = f"Would a {checks[0].level:.0%} interval hold for data like yours?"
    return Sheet("strat/check/2", columns, rows, title, tuple(dict.fromkeys(notes)), _data(checks))


def _by_shape(one: Check) -> str:
    if len(one.shapes) == 1:
        return next(iter(one.shapes))
    what = VARIED.get(one.estimate.design.kind, f"coverage where {one.estimate.design.called('unit')} differ")
    return f"{what}: " + ", ".join(f"{shape} ({share:.1%})" for shape, share in one.shapes.items())


def _data(checks: Sequence[Check]) -> dict[str, Any]:
    first = checks[0]
    return {
        "level": first.level,
        "trials": first.trials,
        "seed": first.seed,
        "design": first.design,
        "measures": [_measure(one) for one in checks],
        "notes": records(once((note for one in checks for note in one.notes), OF_DESIGN)),
    }


def _measure(one: Check) -> dict[str, Any]:
    return {
        "metric": spelled(one.metric),
        "asked": one.metric,
        "positive": one.estimate.positive,
        "estimate": float(one.estimate.value),
        "holds": one.holds,
        "sentence": str(one),
        "assumption": one.assumption,
        "shapes": dict(one.shapes),
        "intervals": [
            {
                "method": line.method,
                "coverage": line.coverage,
                "error": line.error,
                "width": line.width,
                "useless": line.useless,
                "verdict": line.verdict(one.level),
            }
            for line in one.lines
        ],
    }
