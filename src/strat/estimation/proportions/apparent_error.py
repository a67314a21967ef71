"""The apparent error rate: Kuncheva's interval, its rule of thumb, and the interval that needs none."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from strat.base.errors import StratWarning
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.estimation.proportions.binomial_limits import checked_counts
from strat.estimation.proportions.intervals import score_interval, wald


@dataclass(frozen=True, repr=False)
class ApparentError(Result):
    """The share of misclassified objects in a test set of independent objects, Kuncheva (1.8).

    Attributes
    ----------
    errors, trials
        How many objects were misclassified, of how many.
    """

    errors: float
    trials: float

    @property
    def value(self) -> float:
        """The apparent error rate, Kuncheva (1.8)."""
        return self.errors / self.trials

    @property
    def accuracy(self) -> float:
        """The apparent accuracy, 1 minus the apparent error rate."""
        return 1 - self.value

    @property
    def normal(self) -> bool:
        """Whether the rule of thumb allows the normal approximation: n > 30, and more than 5 of each kind."""
        return self.trials > 30 and self.errors > 5 and self.trials - self.errors > 5

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Nyssen's score interval of the error, which needs no rule of thumb."""
        return score_interval(self.errors, self.trials, level)

    def normal_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Kuncheva (1.9), with a warning where its own rule of thumb forbids it."""
        if not self.normal:
            warnings.warn(
                f"{self.errors:g} errors in {self.trials:g} trials break the rule of thumb for the normal "
                "approximation (more than 30 trials, more than 5 errors and more than 5 successes); "
                "use `interval`.",
                StratWarning,
                stacklevel=2,
            )
        return wald(self.errors, self.trials, level)

    def __str__(self) -> str:
        """The rate with its interval."""
        low, high = self.interval()
        counts = f"{self.errors:g} of {self.trials:g}"
        return f"apparent error {self.value:.4g} ({counts}, 95 % {low:.4g} to {high:.4g})"


@checked
def apparent_error(errors: float, trials: float) -> ApparentError:
    """The apparent error rate with its interval and the rule of thumb that guards it, Kuncheva (1.8), (1.9).

    It holds for independent objects; for anything else use `strat.error_rate` with a design.

    Examples
    --------
    >>> rate = apparent_error(43, 300)
    >>> print(rate)
    apparent error 0.1433 (43 of 300, 95 % 0.1082 to 0.1875)
    >>> print(rate.normal, [round(limit, 4) for limit in rate.normal_interval()])
    True [0.1037, 0.183]
    """
    checked_counts(errors, trials, 0.95, "errors")
    return ApparentError(float(errors), float(trials))
