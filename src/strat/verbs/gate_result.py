"""`GateResult`: whether a candidate may replace a baseline, as text, Markdown, JSON and an exit code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strat.base.notes import Note, records
from strat.base.result import write_report
from strat.base.text import counted
from strat.base.validate.arguments import checked
from strat.measures.register import spelled
from strat.show.render import Sheet, jsonable
from strat.show.sheet_result import SheetResult
from strat.verbs.leaderboard import Leaderboard

SCHEMA = "strat/gate/3"
NOT_WORSE, WORSE, UNSURE = "not worse", "worse", "can't tell"
EXIT_CODES = {NOT_WORSE: 0, WORSE: 3, UNSURE: 4}
ON_UNSURE = ("fail", "warn", "pass")


@dataclass(frozen=True)
class GateCheck:
    """One question of a gate: one measure, in all rows or in one group, against a margin or a floor.

    Attributes
    ----------
    measure, group
        What was measured, and where ("all": in all rows).
    kind
        "margin": the change from the baseline is held against the margin; "floor": the candidate's own value against
        the floor.
    bound
        What decides: the change must not lie beyond it (−margin; +margin where a smaller value is better), the value
        neither.
    candidate, baseline
        Their values; None where the measure is not defined, or where there is no baseline.
    value
        What is held against the bound: candidate − baseline, or the candidate's value.
    low, high
        One-sided confidence limits of `value`. The limit on the worse side is for this check alone, because all
        checks must pass; the limit on the better side holds for all checks at once, because one failure is enough.
    higher_is_better
        Whether a larger value is a better one.
    needed, needed_if_equal
        Units (rows, clusters: what was drawn) that settle it with probability 0.8, if the truth is what was observed,
        and if the systems are in truth equal; None where that can't be planned.
    units
        Units that there are; None where that is not known.
    reason
        Why there is no value, if there is none.
    one_more
        Of a floor: the value with one more unit (of the usual weight) that fails altogether. It must not lie beyond the
        floor either, for units can't show a kind that they happen not to hold. None where that is not known.
    """

    measure: str
    group: str
    kind: str
    bound: float
    candidate: float | None
    baseline: float | None
    value: float | None
    low: float | None
    high: float | None
    higher_is_better: bool = True
    units: int | None = None
    needed: int | None = None
    needed_if_equal: int | None = None
    reason: str = ""
    one_more: float | None = None

    @property
    def answer(self) -> str:
        """One of "not worse", "worse" and "can't tell"."""
        if self.low is None or self.high is None:
            return UNSURE
        worst, best = (self.low, self.high) if self.higher_is_better else (self.high, self.low)
        if self._above(worst) > 0 or (self._above(worst) == 0 and self.kind == "floor"):
            return UNSURE if self.rests_on_one else NOT_WORSE
        return WORSE if self._above(best) < 0 else UNSURE

    def _above(self, value: float) -> float:
        """By how much a value is better than the bound."""
        return (1.0 if self.higher_is_better else -1.0) * (value - self.bound)

    @property
    def rests_on_one(self) -> bool:
        """Whether the limit reaches the floor, and would not with one more unit that fails altogether."""
        worst = self.low if self.higher_is_better else self.high
        if self.one_more is None or worst is None:
            return False
        return self._above(worst) >= 0 and self._above(self.one_more) < 0

    @property
    def lower(self) -> bool:
        """Whether the candidate is shown to be below the baseline, by however little."""
        if self.low is None or self.high is None or self.kind != "margin":
            return False
        return self.high < 0 if self.higher_is_better else self.low > 0

    @property
    def rule(self) -> str:
        """What is asked, in words."""
        if self.kind == "floor":
            return f"at {'least' if self.higher_is_better else 'most'} {self.bound:g}"
        return f"loss below {abs(self.bound):g}"

    def sentence(self, names: tuple[str, str | None]) -> str:
        """The check as one line."""
        place = "" if self.group == "all" else f" in {self.group}"
        if self.value is None or self.low is None or self.high is None:
            return f"{self.measure}{place}: {self.reason}"
        subject = names[0] if self.kind == "floor" else f"{names[0]} − {names[1]}"
        signed = f"{self.value:.4f}" if self.kind == "floor" else f"{self.value:+.4f}"
        limits = f"limits {self.low:.4f} and {self.high:.4f}"
        return f"{self.measure}{place}: {subject} = {signed} ({limits}; asked: {self.rule})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            **vars(self),
            "measure": spelled(self.measure),
            "asked": self.measure,
            "answer": self.answer,
            "rule": self.rule,
            "lower": self.lower,
        }


@dataclass(frozen=True, eq=False, repr=False)
class GateResult(SheetResult):
    """Whether a candidate may replace a baseline.

    Attributes
    ----------
    candidate, baseline
        Their names (no baseline where only floors were asked for).
    checks
        One for each measure, group and bound.
    level
        One-sided confidence level.
    unsure
        What an open answer does to the exit code: "fail" (4), "warn" or "pass" (0).
    notes
        What was assumed, and what would settle an open answer.
    boards
        From measure to the leaderboard that the checks come from; empty where only floors were asked for.
    design
        How the items were drawn, in one line.
    """

    candidate: str
    baseline: str | None
    checks: tuple[GateCheck, ...]
    level: float
    unsure: str = "fail"
    notes: tuple[Note, ...] = ()
    boards: Mapping[str, Leaderboard] = field(default_factory=dict)
    design: str = ""

    @property
    def answer(self) -> str:
        """What all checks say: "worse" if any is, "not worse" if all are, else "can't tell"."""
        answers = {check.answer for check in self.checks}
        if WORSE in answers:
            return WORSE
        return NOT_WORSE if answers == {NOT_WORSE} else UNSURE

    @property
    def exit_code(self) -> int:
        """0 not worse, 3 worse, 4 can't tell (0 with `unsure="pass"` or "warn")."""
        return 0 if self.answer == UNSURE and self.unsure != "fail" else EXIT_CODES[self.answer]

    @property
    def passed(self) -> bool:
        """Whether the exit code is 0."""
        return self.exit_code == 0

    @property
    def line(self) -> str:
        """One line for a log: the answer, and the check that decides it."""
        deciding = [check for check in self.checks if check.answer == self.answer]
        rest = f"; {counted(len(self.checks), 'check')}" if len(self.checks) > 1 else ""
        return f"{self.answer}: {deciding[0].sentence((self.candidate, self.baseline))}{rest}"

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns: one line for each check."""
        lines = [
            {
                "measure": check.measure,
                "group": check.group,
                "asked": check.rule,
                "baseline": check.baseline,
                "candidate": check.candidate,
                "change": check.value if check.kind == "margin" else None,
                "low": check.low,
                "high": check.high,
                "answer": check.answer,
            }
            for check in self.checks
        ]
        return {name: [line[name] for line in lines] for name in lines[0]}

    def table(self, max_rows: int | None = None) -> Sheet:
        """The checks as a table to look at."""
        columns = self.to_dict()
        if set(columns["group"]) == {"all"}:
            del columns["group"]
        if self.baseline is None:
            del columns["baseline"], columns["change"]
        percent = f"{100 * self.level:g} %"
        names = {"low": f"{percent} low", "high": f"{percent} high", "candidate": self.candidate}
        names |= {"baseline": str(self.baseline), "change": f"{self.candidate} − {self.baseline}"}
        rows = list(zip(*columns.values(), strict=True))
        return Sheet(
            SCHEMA, [names.get(c, c) for c in columns], rows, title=self.line, notes=(self.design, *self.notes)
        )

    def sheet(self) -> Sheet:
        """The same with all numbers for JSON."""
        table = self.table()
        return Sheet(SCHEMA, table.columns, table.rows, table.title, table.notes, self.data())

    def data(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        content: dict[str, Any] = jsonable(
            {
                "answer": self.answer,
                "exit_code": self.exit_code,
                "candidate": self.candidate,
                "baseline": self.baseline,
                "level": self.level,
                "unsure": self.unsure,
                "design": self.design,
                "checks": [check.to_dict() for check in self.checks],
                "notes": records(self.notes),
            }
        )
        return content

    @checked
    def report(self, path: str | Path) -> Path:
        """Write the leaderboards behind the checks, or checks of a floor alone, to one self-contained HTML file."""
        return write_report(list(self.boards.values()) or self, path)
