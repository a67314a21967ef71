"""`Leaderboard`: systems on the same items, best first, with paired differences, in groups and by several measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from strat.base.errors import StratError, near, some
from strat.base.notes import Note, of_each, once
from strat.base.result import write_report
from strat.base.text import of_class
from strat.base.validate.arguments import checked, shown
from strat.base.validate.columns import Array
from strat.comparison.many_systems import ManySystems
from strat.comparison.paired import of_estimate
from strat.comparison.paired_result import Comparison
from strat.comparison.paired_sentence import sentence
from strat.comparison.winner import Winner
from strat.estimation import Estimate
from strat.estimation.facts import Known
from strat.estimation.functions import Difference
from strat.estimation.hypothesis_tests import TestResult
from strat.show.render import Sheet
from strat.show.sheet_result import ByName, SheetResult
from strat.verbs import leaderboard_columns
from strat.verbs.groups import Groups, in_words

SCHEMA = "strat/compare/4"


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(ByName[str, "Leaderboard"], SheetResult):
    """Systems on the same items, best first.

    Attributes
    ----------
    many
        The systems with their joint covariance: pairs, simultaneous intervals, rank intervals, the winner.
    level
        Confidence level.
    notes
        What was assumed, what did not match, what looks clustered.
    measure
        What was measured, as it was asked for.
    baseline
        The system that differences are stated against: system − baseline. None: behind the best one.
    independent
        Makes the same as `many.estimate` if every row were an independent draw (None: not two systems, or just that).
    by, each, rows
        The columns that make groups, and from a group's label to its own leaderboard and its number of rows.
    differences
        Two systems: their difference in each group, with the test that it is the same in all.
    undefined
        Groups in which the measure is not defined, with the reason.
    others
        Leaderboards of the further measures that were asked for.
    library
        The data frame library that the rows came in.
    """

    many: ManySystems
    level: float
    notes: tuple[Note, ...] = ()
    measure: str = ""
    baseline: str | None = None
    independent: Callable[[], Estimate] | None = None
    by: tuple[str, ...] = ()
    each: Mapping[Any, Leaderboard] = field(default_factory=dict)
    rows: Mapping[Any, int] = field(default_factory=dict)
    differences: Groups | None = None
    undefined: Mapping[Any, str] = field(default_factory=dict)
    others: tuple[Leaderboard, ...] = ()
    library: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        """With the values of independent rows themselves, for another process."""
        return {**vars(self), "independent": None if self.independent is None else Known(self.independent())}

    @property
    def systems(self) -> tuple[str, ...]:
        """Names, the best first."""
        return self.many.systems

    @property
    def estimate(self) -> Estimate:
        """The measure of each system, with the covariance that pairing brings."""
        return self.many.estimate

    @property
    def positive(self) -> Any:
        """The class that the measure looks at (None: it looks at all of them)."""
        return self.estimate.positive

    @property
    def boards(self) -> dict[str, Leaderboard]:
        """From the name of each measure to its leaderboard; this one is the first."""
        return {board.measure or board.estimate.name: board for board in (self, *self.others)}

    def named(self) -> Mapping[str, Leaderboard]:
        """From the name of each measure to its leaderboard."""
        return self.boards

    def __getitem__(self, measure: str) -> Leaderboard:
        """The leaderboard of a measure."""
        if not isinstance(measure, str) or measure not in self.boards:
            hint = near(str(measure), list(self.boards))
            raise StratError.about("measure", f"must be one that was asked for, got {shown(measure)}; {hint}")
        return self.boards[measure]

    @property
    def tied(self) -> tuple[str, ...]:
        """The best system and those that are not distinguishable from it."""
        close = np.abs(self.many.between([0]).t[0]) <= self.many.critical(self.level)
        return tuple(s for s, near_best in zip(self.systems, close, strict=True) if near_best)

    def ranks(self, level: float | None = None) -> tuple[Array, Array]:
        """First and last rank that each system may have, for all systems at once; 1 is the best."""
        return self.many.ranks(self.level if level is None else level)

    def groups(self, level: float | None = None) -> list[tuple[str, ...]]:
        """Largest groups of neighbours, best first, of which no two are distinguishable."""
        return self.many.groups(self.level if level is None else level)

    def winner(self, level: float | None = None) -> Winner:
        """The best system, corrected for having been chosen because it was the best."""
        return self._winner if level is None else self.many.winner(level)

    @cached_property
    def _winner(self) -> Winner:
        return self.many.winner(self.level)

    @checked
    def difference(self, a: str | None = None, b: str | None = None) -> Estimate:
        """The paired difference a − b of two systems.

        Without `b`, from the baseline; without both, of the only two systems: candidate − baseline, or best − other.
        """
        if a is None and b is None:
            a, b = self.comparison.names
        elif b is None and self.baseline is None:
            raise StratError.about("b", "must name the system to subtract, got None; or give `baseline` to compare().")
        i, j = self._place(a), self._place(self.baseline if b is None else b)
        name = f"{self.systems[i]} − {self.systems[j]}"
        return self._with_other_limits(self.estimate.map(Difference(i, j), name=name), i, j)

    def _with_other_limits(self, one: Estimate, i: int, j: int) -> Estimate:
        """The difference, with a note where the limits that are printed with the systems are others."""
        printed = self.many.between([i], [j]).limits(self.many.critical(self.level))
        limits = [float(side[0, 0]) for side in printed]
        if len(self.systems) == 2:
            low, high = self.interval()
            limits = [low, high] if self.comparison.names[0] == self.systems[i] else [-high, -low]
        own = np.array(one.interval(self.level), float)
        if np.allclose(own, limits, rtol=1e-9, atol=1e-12):
            return one
        case = "two" if len(self.systems) == 2 else "several"
        note = Note("other-limits", {"case": case, "low": float(limits[0]), "high": float(limits[1])})
        return replace(one, notes=(*one.notes, note))

    def _place(self, name: str | None) -> int:
        if not isinstance(name, str) or name not in self.systems:
            hint = near(str(name), self.systems)
            raise StratError.about("system", f"must be one that was compared, got {shown(name)}; {hint}")
        return self.systems.index(name)

    @cached_property
    def comparison(self) -> Comparison:
        """Two systems: candidate − baseline (without a baseline: best − other), with all that can be asked of it."""
        if len(self.systems) != 2:
            raise StratError(
                f"a comparison is of two systems, and these are {len(self.systems)}; see .pairs() for all pairs, or "
                ".difference(a, b) for one of them."
            )
        return of_estimate(
            self.estimate,
            independent=None if self.independent is None else self.independent(),
            higher_is_better=self.many.higher_is_better,
            baseline=self.baseline,
            discordance=self.many.discordance,
        )

    @property
    def pvalue(self) -> float:
        """Two systems: the p-value of the paired test that they do not differ."""
        return self.comparison.pvalue

    @checked
    def interval(self, level: float | None = None) -> tuple[float, float]:
        """Two systems: confidence limits of their difference."""
        return self.comparison.interval(self.level if level is None else level)

    def units_for(self, **target: Any) -> Any:
        """Two systems: how many units like these find a difference (``power=0.8``), or reach a ``width=``."""
        return self.comparison.units_for(**target)

    def pairs(self, first: int | None = None) -> dict[str, list[Any]]:
        """Every pair: difference, standard error, simultaneous limits, p values (alone, and for all pairs at once).

        `first` keeps only the pairs of that many systems, best first; their limits still hold for all pairs.
        """
        shown = self.systems[:first]
        i, j = np.triu_indices(len(shown), 1)
        pairs = self.many.between(range(len(shown)), range(len(shown)))
        low, high = pairs.limits(self.many.critical(self.level))
        return {
            "better": [shown[k] for k in i],
            "worse": [shown[k] for k in j],
            "difference": pairs.differences[i, j].tolist(),
            "se": pairs.errors[i, j].tolist(),
            "low": low[i, j].tolist(),
            "high": high[i, j].tolist(),
            "pvalue": pairs.pvalues[i, j].tolist(),
            "adjusted": self.many.adjusted(pairs)[i, j].tolist(),
        }

    @checked
    def against(self, baseline: str | None = None) -> dict[str, list[Any]]:
        """Every other system − the baseline, with simultaneous limits."""
        named = self.baseline if baseline is None else baseline
        if named is None:
            raise StratError.about("baseline", "must name the system to subtract, got None.")
        self._place(named)
        return self.many.against(named, self.level)

    def test(self) -> TestResult:
        """Two systems in groups: the test that their difference is the same in all groups."""
        if self.differences is None:
            raise StratError.about(
                "by", "must make groups, of two systems, for the test that their difference is the same."
            )
        return self.differences.test()

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns: one line for each system, best first; in groups, and by measure, one below the other."""
        return leaderboard_columns.all_columns(self)

    def sheet(self) -> Sheet:
        """The leaderboard as a table, with all numbers for JSON."""
        return replace(self.table(), data=self.data())

    def table(self, max_rows: int | None = None) -> Sheet:
        """The leaderboard as a table to look at: without the pairs, of which there may be many."""
        columns = leaderboard_columns.all_columns(self, max_rows)
        rows = list(zip(*columns.values(), strict=True))[:max_rows]
        names = [leaderboard_columns.header(self, name) for name in columns]
        left_out = leaderboard_columns.number_of_lines(self) - len(rows)
        return Sheet(SCHEMA, names, rows, self.estimate.design_text, self.sentences, left_out=left_out)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences below the table: the answer, what was measured, for whom it holds, and the notes."""
        lines: list[str] = []
        for board in (self, *self.others):
            lead = f"{board.measure}: " if self.others else ""
            lines += [f"{lead}{line}" for line in (*board._answer(), *board._of_groups())]
        lines += [f"measure: {b.estimate.name}{of_class(b.positive)}" for b in (self, *self.others)]
        notes = once(of_each("metric", {board.measure: board.notes for board in (self, *self.others)}))
        return (*lines, f"Inference is for {self.estimate.target}.", *notes)

    def _answer(self) -> list[str]:
        if len(self.systems) == 2:
            return [sentence(self.comparison, self.level)]
        percent = f"{100 * self.level:g} %"
        if len(self.tied) > 1:
            tied = f"not distinguishable from the best: {some(self.tied[1:], 8)}"
        else:
            tied = "the best system differs from every other one"
        return [str(self.winner()), f"{tied} (paired differences, {percent} for all pairs at once)"]

    def _of_groups(self) -> list[str]:
        """Whether the difference is the same in all groups, where it is largest, and which groups have no value."""
        lines = [] if self.differences is None else self.differences.sentences(self.level)
        return [*lines, *(f"no value in {in_words(label)}: {why}" for label, why in list(self.undefined.items())[:3])]

    def data(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return leaderboard_columns.plain_data(self)

    @checked
    def report(self, path: str | Path) -> Path:
        """Write one self-contained HTML file."""
        return write_report(list(self.boards.values()) if self.others else self, path)

    def plot(self, ax: Any = None) -> Any:
        """Every system with its interval, best at the top."""
        return self.many.plot(ax, level=self.level)
