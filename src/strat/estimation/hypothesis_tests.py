"""What every test hands back, and how numbers are written in sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import scipy

from strat.base.errors import one_of
from strat.base.notes import records
from strat.base.result import Result
from strat.base.validate.scalars import share

ALTERNATIVES = ("two-sided", "less", "greater")


@dataclass(frozen=True, repr=False)
class TestResult(Result):
    """One test: its statistic, its p-value, and exactly which null hypothesis and convention they belong to.

    Attributes
    ----------
    name
        The test, with the convention that was used.
    statistic
        Its value.
    pvalue
        Probability, under `null`, of a statistic at least as extreme.
    df
        Degrees of freedom: none, one (t, chi-squared) or two (F).
    alternative
        "two-sided", "less" or "greater".
    null
        The hypothesis tested, in words.
    notes
        What to be careful about.
    """

    __test__ = False

    name: str
    statistic: float
    pvalue: float
    df: tuple[float, ...]
    alternative: str
    null: str
    notes: tuple[str, ...] = field(default=(), kw_only=True)

    def __str__(self) -> str:
        """The test as a sentence, and its notes."""
        return with_notes(self.sentence, self.notes)

    @property
    def sentence(self) -> str:
        """The test as a sentence."""
        df = f" (df {', '.join(f'{d:g}' for d in self.df)})" if self.df else ""
        return f"{self.name}: statistic {self.statistic:.4f}{df}, {p_text(self.pvalue)}, {self.alternative}"

    def rejects(self, alpha: float = 0.05) -> bool:
        """Whether the null hypothesis is rejected at level `alpha`: the H of Kuncheva's programs, beside their p.

        >>> test = TestResult("z", 1.9, 0.0574, (), "two-sided", "no difference")
        >>> test.rejects(), test.rejects(0.1)
        (False, True)
        """
        return self.pvalue < share("alpha", alpha, open_ends=True)

    def to_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return {
            "test": self.name,
            "statistic": finite(self.statistic),
            "pvalue": finite(self.pvalue),
            "df": list(self.df),
            "alternative": self.alternative,
            "null": self.null,
            "notes": records(self.notes),
        }


def with_notes(sentence: str, notes: tuple[str, ...]) -> str:
    """The sentence, and each note on a line of its own."""
    return "\n".join([sentence, *(f"note: {note}" for note in notes)])


def p_text(pvalue: float) -> str:
    """A p-value as people write it.

    >>> p_text(0.0412), p_text(0.00001), p_text(1.0)
    ('p = 0.041', 'p < 0.001', 'p = 1')
    """
    if pvalue < 0.001:
        return "p < 0.001"
    return f"p = {pvalue:.3f}" if pvalue < 0.1 else f"p = {pvalue:.2f}".replace("1.00", "1")


def finite(value: float) -> float | None:
    """The number, or None where JSON has no word for it."""
    return float(value) if math.isfinite(value) else None


def t_pvalue(t: float, df: float, alternative: str) -> float:
    """P-value of Student's t; `df` may be infinite."""
    one_of("alternative", alternative, ALTERNATIVES)
    below = float(scipy.special.ndtr(t)) if math.isinf(df) else float(scipy.special.stdtr(df, t))
    above = float(scipy.special.ndtr(-t)) if math.isinf(df) else float(scipy.special.stdtr(df, -t))
    if alternative == "two-sided":
        return min(2.0 * min(below, above), 1.0)
    return below if alternative == "less" else above


def chi2_pvalue(statistic: float, df: float) -> float:
    """Upper tail of chi-squared."""
    return float(scipy.special.chdtrc(df, statistic))


def f_pvalue(statistic: float, df: tuple[float, float]) -> float:
    """Upper tail of F."""
    return 0.0 if math.isinf(statistic) else float(scipy.special.fdtrc(*df, statistic))
