"""Forests of values with intervals, and diagrams of average ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strat.base import validate
from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.estimation import Estimate
from strat.show import drawing
from strat.verbs.evaluation import Evaluation
from strat.verbs.groups import Groups
from strat.verbs.pictures import of_evaluation, of_groups

__all__ = ["critical_difference", "forest", "of_evaluation"]


@checked
def forest(
    estimates: Any, *, reference: float | None = None, x_label: str | None = None, level: float = 0.95, ax: Any = None
) -> Any:
    """Values with their intervals, one row each, and in numbers at the right.

    Parameters
    ----------
    estimates
        An estimate (a row for each of its values), a list of estimates, a mapping from names to them, an evaluation
        (a row for each measure) or a measure by group.
    reference
        Where to draw a dashed line, such as the value of the whole.
    x_label
        What the horizontal axis shows; None: the name of the estimate, if there is one.
    level
        Confidence level.
    ax
        Axes of matplotlib to draw into (None: those of a new figure, whose height grows with the rows).

    Examples
    --------
    >>> import strat
    >>> design = strat.Design.simple_random(n=4)
    >>> ax = forest({"A": strat.estimate(strat.proportion([1, 0, 1, 1]), on=design)})
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['A']
    """
    validate.level(level)
    if isinstance(estimates, Evaluation):
        return of_evaluation(estimates, "forest", ax=ax)
    if isinstance(estimates, Groups):
        return of_groups(estimates, reference=reference, level=level, ax=ax)
    named = _named(estimates)
    marks = [mark for name, one in named for mark in drawing.marks_of(one, level, name)]
    names = dict.fromkeys(one.name for _, one in named)
    label = f"{next(iter(names)) if len(names) == 1 else 'value'}, {100 * level:g} % interval"
    return drawing.forest(marks, ax, x_label=label if x_label is None else x_label, reference=reference)


def _named(estimates: Any) -> list[tuple[str | None, Estimate]]:
    """Estimates with the names that were given to them."""
    pairs: list[tuple[Any, Any]]
    if isinstance(estimates, Mapping):
        pairs = [(str(name), one) for name, one in estimates.items()]
    else:
        pairs = [(None, one) for one in (estimates if isinstance(estimates, Sequence) else [estimates])]
    for _, one in pairs:
        if not isinstance(one, Estimate):
            raise StratError.about(
                "estimates", f"must be estimates, such as those of strat.estimate, got {type(one).__name__}."
            )
    return pairs


@checked
def critical_difference(
    results: Any, *, higher_is_better: bool | None = None, alpha: float = 0.05, ax: Any = None
) -> Any:
    """Demšar's critical-difference diagram: average ranks on a line, bars over systems that do not differ.

    Parameters
    ----------
    results
        A result of `strat.comparison.nemenyi`, `all_pairs`, `bonferroni_dunn` or `against_control`; or a table of
        scores, one row for each data set and a column for each system, which gets Nemenyi's test.
    higher_is_better
        For a table: whether a larger score is better.
    alpha
        Level of the test.
    ax
        Axes of matplotlib to draw into (None: those of a new figure).

    Examples
    --------
    >>> ax = critical_difference({"A": [1] * 9, "B": [2] * 9, "C": [3] * 9}, higher_is_better=False)
    >>> any(text.get_text().startswith("CD = ") for text in ax.texts)
    True
    """
    from strat.comparison import nemenyi
    from strat.comparison.posthoc import AgainstControl, AllPairs

    if isinstance(results, AllPairs | AgainstControl):
        return results.plot(ax, alpha=alpha)
    if higher_is_better is None:
        raise StratError.about("higher_is_better", "must be True or False for a table of scores, got None.")
    return nemenyi(results, higher_is_better=higher_is_better).plot(ax, alpha=alpha)
