"""The test of each value of an estimate against a null value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strat.base.result import Result
from strat.base.validate.columns import Array

Value = float | Array  # a number, or an array with the axes of the statistic


@dataclass(frozen=True, repr=False)
class Test(Result):
    """The test that a statistic equals a null value, by the interval that is printed.

    Attributes
    ----------
    statistic
        Student's t on the scale of the interval.
    pvalue
        One minus the level at which a limit of the interval meets the null value.
    df, null
        Degrees of freedom; the null value.
    alternative
        "two-sided", or that the value is "greater" or "less" than the null value.
    """

    __test__ = False

    statistic: Value
    pvalue: Value
    df: Value
    null: float
    alternative: str = "two-sided"

    def __str__(self) -> str:
        """The test in words."""
        side = "" if self.alternative == "two-sided" else f", {self.alternative}"
        if np.ndim(self.pvalue):
            return f"t tests against {self.null:g}: p = {np.array2string(np.asarray(self.pvalue), precision=4)}{side}"
        return f"t = {self.statistic:.3f} against {self.null:g}, p = {self.pvalue:.4g} (df {self.df:.4g}){side}"
