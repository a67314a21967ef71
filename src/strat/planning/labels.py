"""How many true labels an interval needs where a proxy judges every row, and how many that saves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from strat.base import validate
from strat.base.errors import StratError
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array
from strat.measures.student import critical
from strat.planning.sample_size import MOST, SampleSize, falling_plan


@dataclass(frozen=True, eq=False, repr=False)
class LabelPlan(Result):
    """How many labels a width needs with a proxy, and how many without.

    Attributes
    ----------
    plan
        With the proxy: the number, and the width at every other number.
    alone
        Labels that the same width needs without the proxy.
    rows
        Rows that the proxy judges.
    correlation
        Of the proxy with the truth.
    """

    plan: SampleSize
    alone: int
    rows: int
    correlation: float

    @property
    def number(self) -> int:
        """Labels needed with the proxy."""
        return self.plan.number

    @property
    def saved(self) -> int:
        """Labels that the proxy saves."""
        return self.alone - self.number

    def __str__(self) -> str:
        """The plan as a sentence."""
        saved = f"{self.alone:,} without the proxy: it saves {self.saved:,}"
        return f"{self.plan}; {saved}"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        own = {"alone": self.alone, "saved": self.saved, "rows": self.rows, "correlation": self.correlation}
        return {**self.plan.to_dict(), **own}

    def plot(self, ax: Any = None) -> Any:
        """The width at each number of labels."""
        return self.plan.plot(ax)


@checked
def labels_for_width(
    *,
    width: float,
    rows: int,
    correlation: float,
    proportion: float | None = None,
    deviation: float | None = None,
    level: float = 0.95,
    design_effect: float = 1.0,
) -> LabelPlan:
    """How many labels a mean needs where a proxy judges all rows (the regression estimator of two phases).

    The variance is σ² ((1 − ρ²) / n + ρ² / N) with n labels of N rows (Cochran 1977, 12.6).

    Parameters
    ----------
    width
        The whole width of the interval, upper minus lower limit.
    rows
        Rows that the proxy judges.
    correlation
        Of the proxy with the truth, from a pilot.
    proportion, deviation
        The expected share of true rows, or the standard deviation of the truth: one of the two.
    level, design_effect
        Of the interval; the variance relative to independent rows.

    Examples
    --------
    >>> print(labels_for_width(width=0.1, rows=100_000, correlation=0.8, proportion=0.5))
    142 labels give interval width 0.09967 (wanted: 0.1); 387 without the proxy: it saves 245
    """
    if (proportion is None) == (deviation is None):
        raise StratError.about("proportion", "(of a share) or `deviation` (of a mean) must be given, one of the two.")
    validate.positive("width", width)
    validate.level(level)
    if not 3 <= rows <= MOST:
        raise StratError.about("rows", f"must be from 3 to {MOST:,}, got {rows!r}.")
    if not -1 <= correlation <= 1:
        raise StratError.about("correlation", f"must lie from -1 to 1, got {correlation!r}.")
    if proportion is not None:
        validate.share("proportion", proportion, open_ends=True, hint="use a share, not percent")
    sigma = float(np.sqrt(proportion * (1 - proportion))) if proportion is not None else float(deviation or 0.0)
    validate.positive("deviation", sigma)
    deff = validate.positive("design_effect", design_effect)

    def widths(labels: Array, r: float) -> Array:
        variance = sigma**2 * deff * ((1 - r**2) / labels + r**2 / rows)
        return np.asarray(2 * critical(level, np.maximum(labels - 1, 1)) * np.sqrt(variance))

    if widths(np.array([float(rows)]), correlation)[0] > width:
        raise StratError.about(
            "width",
            f"must be one that {rows:,} rows can give, got {width:g}: even with all of them labelled it is "
            f"{widths(np.array([float(rows)]), 0.0)[0]:.3g}; judge more rows.",
        )
    plan, alone = (
        falling_plan("labels", "interval width", width, partial(widths, r=r), least=3, most=rows, argument="width")
        for r in (correlation, 0.0)
    )
    return LabelPlan(plan, alone.number, rows, correlation)
