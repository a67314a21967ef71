"""The difference of two systems, and every question that it answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.comparison.paired_sentence import sentence
from strat.comparison.paired_shares import Discordance, FewUnitsScore, PairedScore
from strat.designs import Design
from strat.estimation import Estimate
from strat.estimation.frames import frame
from strat.estimation.functions import Ratio
from strat.estimation.hypothesis_tests import TestResult, p_text, t_pvalue, with_notes
from strat.estimation.phase_limits import PhaseLimits
from strat.measures.student import critical
from strat.show.colours import BLUE, GREY, ORANGE
from strat.show.figures import new_axes


@dataclass(frozen=True, repr=False)
class NonInferiority(TestResult):
    """The test that a candidate is not worse than a baseline by a margin or more.

    The statistic and its tail are in the direction of better: (gain + margin) / se, where the gain is
    candidate − baseline for a measure that should be high and baseline − candidate for one that should be low. For
    shares of the same rows the standard error is the one at the margin (Tango's score).

    Attributes
    ----------
    candidate, baseline
        Their names.
    margin
        The largest loss that does not matter.
    difference
        candidate − baseline.
    """

    candidate: str
    baseline: str
    margin: float
    difference: float

    @property
    def claim(self) -> str:
        """What a small p-value shows."""
        return f"{self.candidate} not worse than {self.baseline} by more than {self.margin:g}"

    def __str__(self) -> str:
        """The test as a sentence."""
        return f"{self.claim}: {p_text(self.pvalue)}"

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        roles = {k: getattr(self, k) for k in ("candidate", "baseline", "margin", "difference")}
        return super().to_dict() | roles


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Which of two systems is better, by how much, and how sure that is.

    Attributes
    ----------
    names
        The two systems A and B.
    metric
        What was measured.
    values
        The measure of each system.
    difference
        The estimate of the difference A − B, with the standard error that the design gives: positive where the first
        system has the larger value. With the candidate first it is candidate − baseline.
    independent
        The same if every row were an independent draw (None where the design says just that).
    higher_is_better
        Whether a larger value is a better one.
    paired
        Whether both systems saw the same items.
    share
        Whether the measure is a share of rows, so that differences are stated in points.
    units
        Number of units drawn.
    both
        The estimate of both values, for their ratio (None: not paired).
    discordance
        For shares of the same rows, on how many of them only one system is right: intervals and tests are then
        Tango's score, at the effective sample size (None: value ± t · se).
    """

    names: tuple[str, str]
    metric: str
    values: tuple[float, float]
    difference: Estimate
    independent: Estimate | None
    higher_is_better: bool
    paired: bool
    share: bool
    units: int
    both: Estimate | None = None
    discordance: Discordance | None = None

    @property
    def value(self) -> float:
        """The difference A − B: the first system's value minus the second's."""
        return float(self.difference.value)

    @property
    def se(self) -> float:
        """Standard error of the difference."""
        return float(self.difference.se)

    @property
    def df(self) -> float:
        """Degrees of freedom."""
        return float(self.difference.df)

    @property
    def positive(self) -> Any:
        """The class that the measure looks at (None: it looks at all of them)."""
        return self.difference.positive

    @property
    def pvalue(self) -> float:
        """Two-sided p-value of no difference; where nothing varied, exact for the number of units."""
        if self._still:
            return min(1.0, 2.0 * self._missed(abs(self.value)))
        score = self._score(self.difference)
        return float(self.difference.test(0.0).pvalue) if score is None else score.pvalue(0.0)

    @property
    def independent_pvalue(self) -> float:
        """The p-value if every row were an independent draw."""
        one = self.difference if self.independent is None else self.independent
        score = self._score(one)
        return float(one.test(0.0).pvalue) if score is None else score.pvalue(0.0)

    @checked
    def independent_interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval if every row were an independent draw."""
        if self.independent is None:
            return self.interval(level)
        unseen = bool(np.isfinite(np.min(self.independent.effective_units)))
        still = self.share and unseen and not float(self.independent.variance) > 0.0
        return self._unseen(level, self.independent.rows) if still else self._limits(self.independent, level)

    @property
    def ratio(self) -> Estimate:
        """The estimate of first / second (of error rates, say), with its interval on the log scale."""
        if self.both is None:
            raise StratError.about("ratio", "is known for paired systems only; these were compared on different items.")
        if self.values[1] == 0.0:
            raise StratError.about(
                "ratio", f"must not divide by zero, got {self.metric} 0 for {self.names[1]}; use the difference."
            )
        return self.both.map(Ratio(0, 1), name=f"ratio of {self.metric}", link="log", bounds=(0.0, math.inf))

    @checked
    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Confidence interval of the difference; where nothing varied, exact for the number of units."""
        if not self._still:
            return self._limits(self.difference, level)
        return self._unseen(level, self.units)

    def _unseen(self, level: float, units: float) -> tuple[float, float]:
        """Exact limits where none of so many units, or rows, differed from the others."""
        half = 1.0 - (0.5 * (1.0 - level)) ** (1.0 / units)
        return max(-1.0, self.value - 2.0 * half), min(1.0, self.value + 2.0 * half)

    @checked
    def equivalence(self, margin: float) -> TestResult:
        """Two one-sided tests that the systems differ by less than `margin`: a small p-value shows equivalence."""
        low, high = self._against(-_positive(margin)), self._against(margin)
        if self._still:
            p = self._missed(margin - abs(self.value))
        else:
            p = max(t_pvalue(low, self.df, "greater"), t_pvalue(high, self.df, "less"))
        null = f"the systems differ by {margin:g} or more"
        t = low if abs(low) < abs(high) else high
        return TestResult(f"equivalence, two one-sided {self._kind}", t, p, (self.df,), "two-sided", null)

    @checked
    def noninferiority(
        self, margin: float, *, candidate: str | None = None, baseline: str | None = None
    ) -> NonInferiority:
        """The one-sided test that the candidate is not worse than the baseline by `margin` or more.

        A small p-value shows non-inferiority. Which system is the candidate must be named, because the answer depends
        on it, and neither the order of the systems nor their scores say so.

        Parameters
        ----------
        margin
            The largest loss that does not matter, positive, in the unit of the measure.
        candidate, baseline
            One of the two names; the other system has the other role.

        Examples
        --------
        The new system has 8 of 10 right, the old one 5: new is not worse by 0.1, and old is not shown to be so.

        >>> from strat.comparison import paired
        >>> from strat.designs import Design
        >>> from strat.measures import accuracy
        >>> truth, new, old = [1] * 10, [1] * 8 + [0] * 2, [1] * 5 + [0] * 5
        >>> result = paired(
        ...     accuracy(truth, new), accuracy(truth, old), on=Design.simple_random(n=10), higher_is_better=True,
        ...     names=("new", "old"),
        ... )
        >>> print(result.noninferiority(0.1, baseline="old"))
        new not worse than old by more than 0.1: p = 0.032
        >>> print(result.noninferiority(0.1, baseline="new"))
        old not worse than new by more than 0.1: p = 0.89
        """
        _positive(margin)
        first = self._is_candidate(candidate, baseline)
        names = self.names if first else self.names[::-1]
        difference = self.value if first else -self.value
        turn = 1.0 if first == self.higher_is_better else -1.0  # of A − B into the candidate's gain
        t = turn * self._against(-turn * margin)
        p = self._missed(turn * self.value + margin) if self._still else t_pvalue(t, self.df, "greater")
        null = f"{names[0]} is worse than {names[1]} by {margin:g} or more"
        test = f"non-inferiority, {self._kind}"
        return NonInferiority(test, t, p, (self.df,), "greater", null, *names, margin, difference)

    def units_for(self, **target: Any) -> Any:
        """How many units like these find a difference: ``units_for(power=0.8, difference=0.02)``, or ``width=``."""
        from strat.comparison.pilot import units_for  # which needs this class

        return units_for(self, **target)

    def _is_candidate(self, candidate: str | None, baseline: str | None) -> bool:
        """Whether the first system is the candidate."""
        a, b = self.names
        for argument, name in (("candidate", candidate), ("baseline", baseline)):
            if name is not None and name not in self.names:
                raise StratError.about(argument, f"must be one of the two systems, {a!r} or {b!r}, got {name!r}.")
        if candidate is None and baseline is None:
            raise StratError.about(
                "baseline",
                f"must name the system that the other one must not be worse than, {a!r} or {b!r}, got "
                "neither `baseline` nor `candidate`.",
            )
        if candidate == baseline or a == b:
            raise StratError.about(
                "candidate", f"and `baseline` must be two systems, got {candidate or baseline!r} for both."
            )
        return candidate == a or baseline == b

    @property
    def _still(self) -> bool:
        """Whether a difference of shares has zero estimated variance, and units are not counted one by one."""
        if self.discordance is not None and self.discordance.units is not None:
            return False
        counted = self.share and not isinstance(self.difference.inference.sum_of, PhaseLimits)
        return counted and self.se == 0.0 and bool(np.isfinite(np.min(self.difference.effective_units)))

    def _missed(self, gap: float) -> float:
        """How likely it is at most to see no other difference where the true one lies `gap` away.

        A unit shifts a share by at most 2, so at least gap / 2 of the units would, and n units miss them all.
        """
        return float((1.0 - min(max(gap, 0.0) / 2.0, 1.0)) ** self.units)

    def _score(self, difference: Estimate) -> PairedScore | FewUnitsScore | None:
        """Tango's score for shares of the same rows, under the design of this estimate of their difference."""
        known = bool(np.isinf(np.min(difference.effective_units))) and not float(difference.variance) > 0.0
        if self.discordance is None or known:
            return None
        rows = self.discordance if difference is self.difference else replace(self.discordance, units=None)
        return rows.of_first_two(float(difference.variance), float(difference.df))

    def _limits(self, difference: Estimate, level: float) -> tuple[float, float]:
        score = self._score(difference)
        if score is None:
            return _interval(difference, level)
        low, high = score.limits(float(critical(level, score.df)))
        return float(low), float(high)

    @property
    def _kind(self) -> str:
        return "t" if self._score(self.difference) is None else "score"

    def _against(self, null: float) -> float:
        score = self._score(self.difference)
        if score is not None:
            return float(score.statistic(null))
        if isinstance(self.difference.inference.sum_of, PhaseLimits):
            return float(np.asarray(self.difference.test(null).statistic))
        if self.se == 0.0:
            return _infinite(self.value - null)
        return (self.value - null) / self.se

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the difference should know."""
        return self.difference.notes

    def __str__(self) -> str:
        """The answer as a sentence; of systems on different items, with the notes."""
        return with_notes(sentence(self), () if self.paired else self.notes)

    @checked
    def to_frame(self, library: str | None = None, level: float = 0.95) -> Any:
        """One row for the difference as sampled, one for independent rows where these would say something else."""
        numbers = self.to_dict(level)
        names = ("difference", "se", "low", "high", "pvalue")
        lines = [{"rows": "as sampled", **{name: numbers[name] for name in names}}]
        alone = numbers.get("if_rows_were_independent")
        lines += [] if alone is None else [{"rows": "as independent", "difference": self.value, **alone}]
        return frame({name: [line[name] for line in lines] for name in ("rows", *names)}, library)

    def plot(self, ax: Any = None, *, level: float = 0.95) -> Any:
        """The difference with its interval, and below it what independent rows would have said."""
        ax = new_axes(ax, (7, 1.6))
        lines = [("as sampled", self.interval(level))]
        if self.independent is not None:
            lines.append(("rows as independent", self.independent_interval(level)))
        for place, (_, limits) in enumerate(lines):
            ax.plot(limits, [place, place], color=BLUE if place == 0 else GREY, lw=2)
            ax.plot(self.value, place, "o", color=ORANGE if place == 0 else GREY, ms=5)
        ax.axvline(0.0, color=GREY, lw=0.8)
        ax.set_yticks(range(len(lines)), [name for name, _ in lines], fontsize=8)
        ax.set_ylim(len(lines) - 0.4, -0.6)
        ax.set_xlabel(f"{self.metric}: {self.names[0]} − {self.names[1]} ({100 * level:g} %)")
        return ax

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The numbers for JSON."""
        low, high = self.interval(level)
        numbers: dict[str, Any] = {
            "a": self.names[0], "b": self.names[1], "metric": self.metric, "paired": self.paired,
            "value_a": self.values[0], "value_b": self.values[1], "difference": self.value, "se": self.se,
            "df": self.df, "low": low, "high": high, "level": level, "pvalue": self.pvalue,
            "positive": self.positive, "higher_is_better": self.higher_is_better, "method": str(self.difference.method),
            "sentence": sentence(self, level),
        }  # fmt: skip
        if self.independent is not None:
            low, high = self.independent_interval(level)
            numbers["if_rows_were_independent"] = {
                "se": float(self.independent.se), "low": low, "high": high, "pvalue": self.independent_pvalue,
            }  # fmt: skip
        return numbers


def is_share(one: Estimate) -> bool:
    """Whether a measure is a share of rows."""
    return one.proportion or one.bounds == (0.0, 1.0)


def rows_independent(design: Design) -> bool:
    """Whether every row was drawn by itself."""
    return design.kind == "simple random" and design.rows_are_units


def _interval(one: Estimate, level: float) -> tuple[float, float]:
    low, high = one.interval(level)
    return float(low), float(high)


def _infinite(gap: float) -> float:
    """The t of a gap that no variation blurs."""
    return math.copysign(math.inf, gap) if gap else 0.0


def _positive(margin: float) -> float:
    if not (margin > 0 and math.isfinite(margin)):
        raise StratError.about(
            "margin", f"must be positive, got {margin!r}; it is the largest difference that does not matter."
        )
    return float(margin)
