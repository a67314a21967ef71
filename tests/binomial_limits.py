"""Limits of simulated coverage: computed from the number of draws, so that few draws are no excuse for a wrong one."""

from __future__ import annotations

from scipy import stats


def coverage_limits(draws: int, low: float = 0.93, high: float = 0.97) -> tuple[float, float]:
    """Where the share of nominal 95 % intervals that cover must lie, in so many draws.

    Many draws: between `low` and `high`. Few: so wide that only one right interval in a thousand fails on each side.
    """
    least, most = stats.binom.ppf([0.001, 0.999], draws, 0.95) / draws
    return min(low, float(least)), max(high, float(most))
