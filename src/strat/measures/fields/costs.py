"""What success costs: money, tokens or seconds for each solved task.

The usual unit is the task, with its trials as repeats. For latency take `strat.quantile(seconds, 0.95)`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import number_columns
from strat.measures.base import Statistic
from strat.measures.quotients import ratio_of_totals
from strat.measures.register import measure


@measure(
    "cost_per_success",
    "tokens_per_success",
    "cost_per_solved_task",
    needs=("score", "predicted"),
    reads="numbers",
    unit="cost",
    bounds=(0.0, np.inf),
    higher_is_better=False,
)
@checked
def cost_per_success(cost: ArrayLike, success: ArrayLike) -> Statistic:
    """All that was spent over all that succeeded: dollars per solved task, tokens per success.

    Each row adds (its cost, 1 if it succeeded); failures are paid for, too.
    The usual unit is the task, with its trials as rows.

    Parameters
    ----------
    cost
        What each row cost, 0 or more.
    success
        1 where it succeeded, 0 where not.

    Examples
    --------
    >>> float(cost_per_success([0.5, 0.25, 0.75], [1, 0, 1]).value())
    0.75
    """
    spent, solved = number_columns(cost=cost, success=success)
    if (spent < 0).any():
        raise StratError.about("cost", f"must not be negative, got {float(spent.min()):g}.")
    other = ~np.isin(solved, (0.0, 1.0))
    if other.any():
        raise StratError.about("success", f"must be 0 or 1 in every row, got {some(solved[other], 3)}.")
    if not solved.any():
        raise StratError.about("success", "must be 1 in some row, got none: nothing was solved at any cost.")
    return ratio_of_totals("cost per success", spent, solved)
