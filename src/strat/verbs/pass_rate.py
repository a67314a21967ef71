"""The pass rate of a repeated test against a floor, by exact limits."""

from __future__ import annotations

from strat.base import validate
from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.estimation import proportions
from strat.verbs.gate_result import GateCheck, GateResult


@checked
def pass_rate(
    passes: int, runs: int, *, at_least: float = 0.8, level: float = 0.95, unsure: str = "fail", name: str = "test"
) -> GateResult:
    """Whether a test that passed in so many of its runs passes in at least that share of all runs.

    Limits are Clopper and Pearson's, one-sided: each answer is wrong at most in 1 − `level` of cases, whatever the
    rate.

    Parameters
    ----------
    passes, runs
        How often the test passed, and how often it ran.
    at_least
        The pass rate that is asked for.
    level
        One-sided confidence level.
    unsure
        What "can't tell" does to the exit code, as for :func:`gate`.
    name
        What to call the test.

    Examples
    --------
    All of 14 runs passed: the lower limit is 0.05 ** (1 / 14) = 0.807.

    >>> result = pass_rate(14, 14, at_least=0.8)
    >>> result.answer, round(result.checks[0].low, 3)
    ('not worse', 0.807)
    >>> pass_rate(13, 13, at_least=0.8).answer
    "can't tell"
    """
    total = validate.count("runs", runs, least=1)
    right = validate.count("passes", passes, least=0)
    if right > total:
        raise StratError.about("passes", f"must be at most `runs` ({total}), got {right}.")
    validate.share("at_least", at_least, open_ends=True)
    validate.share("level", level, low=0.5, open_ends=True, hint="it is one-sided; 0.95 means 95 %")
    low, high = proportions.clopper_pearson(right, total, 2.0 * level - 1.0)
    rate = right / total
    check = GateCheck(
        "pass rate", "all", "floor", float(at_least), rate, None, rate, float(low), float(high), units=total
    )
    return GateResult(name, None, (check,), level, unsure, design=f"{total} independent runs")


def decided(passes: int, runs: int, planned: int, *, at_least: float, level: float) -> bool:
    """Whether the runs that are left can't change the answer any more, so that they need not be made."""
    left = planned - runs
    answers = {pass_rate(passes + more, planned, at_least=at_least, level=level).answer for more in range(left + 1)}
    return len(answers) == 1
