"""Many systems on the same items: all pairs at once, rank intervals, groups of ties, and the winner's curse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, some
from strat.base.notes import Note
from strat.base.validate.arguments import checked, shown
from strat.base.validate.columns import Array, numbers
from strat.comparison.many_systems import ManySystems
from strat.comparison.paired import same_class
from strat.comparison.paired_shares import discordance
from strat.comparison.sign_flips import strata_of_lines
from strat.designs import Design
from strat.estimation import Estimate, estimate
from strat.measures import Axis, Statistic, mean, stack
from strat.replication import Replicates


@checked
def many(
    systems: Mapping[str, Statistic] | Mapping[str, ArrayLike] | ArrayLike,
    *,
    on: Design | Replicates,
    higher_is_better: bool,
    names: tuple[str, ...] | None = None,
) -> ManySystems:
    """All systems on the same items, with their joint covariance under the design.

    Parameters
    ----------
    systems
        A mapping from name to the same measure of each system (accuracy, F1, …), or items × systems of scores
        (0 and 1 for wrong and right, or any number) whose means are compared.
    on
        The design or its replicates.
    names
        Names of the columns, where `systems` is an array.

    Examples
    --------
    >>> import numpy as np
    >>> from strat.designs import Design
    >>> right = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 1, 0], [1, 0, 1]] * 10)
    >>> result = many(right, on=Design.simple_random(n=60), higher_is_better=True, names=("A", "B", "C"))
    >>> print(result)
    A leads 3 systems with 0.8333 (rank 1 to 2); not distinguishable from 'B'
    >>> result.groups()
    [('A', 'B')]
    """
    if not isinstance(higher_is_better, bool | np.bool_):
        raise StratError.about("higher_is_better", f"must be True or False, got {higher_is_better!r}.")
    labels, joint, notes = _joint(systems, names)
    if len(labels) < 2:
        raise StratError.about("systems", f"must be two or more, got {len(labels)}.")
    values = estimate(joint, on=on)
    design = on.design if isinstance(on, Replicates) else on
    noted = replace(values, notes=(*values.notes, *notes))
    return ManySystems(labels, noted, bool(higher_is_better), **facts_of_pairs(joint, values, design))


def facts_of_pairs(systems: Statistic, values: Estimate, design: Design) -> dict[str, Any]:
    """What is known of the pairs of systems beside their covariance: the units' strata, and discordant rows."""
    return {"stratum": strata_of_lines(values, design), "discordance": discordance(systems, design)}


def _joint(systems: Any, names: tuple[str, ...] | None) -> tuple[tuple[str, ...], Statistic, tuple[Note, ...]]:
    """Names, the statistic of all systems together, and notes."""
    if isinstance(systems, Mapping) and systems and all(isinstance(s, Statistic) for s in systems.values()):
        by_name = {str(name): one for name, one in systems.items()}
        return tuple(by_name), _stacked(by_name), ()
    if isinstance(systems, Mapping):
        names, systems = tuple(map(str, systems)), _side_by_side(systems)
    values = numbers("systems", np.atleast_1d(systems), finite=False)
    if values.ndim != 2:
        raise StratError.about("systems", f"must be items × systems, got the shape {values.shape}.")
    labels = names or tuple(f"system {k + 1}" for k in range(values.shape[1]))
    if len(labels) != values.shape[1]:
        raise StratError.about("names", f"must be one for each of {values.shape[1]} systems, got {len(labels)}.")
    if values.shape[1] < 2:
        return labels, mean(np.zeros(max(len(values), 1))), ()
    return labels, _means(values, labels), _unit_notes(values, labels)


def _stacked(systems: Mapping[str, Statistic]) -> Statistic:
    """The same measure of each system, together."""
    for name, one in systems.items():
        if one.shape:
            raise StratError.about("systems", f"must be single numbers, got shape {one.shape} for {name!r}.")
    same_class(**systems)
    return stack("system", **systems)


def _side_by_side(systems: Mapping[Any, Any]) -> Array:
    """Scores of each system as items × systems."""
    for name, column in systems.items():
        if np.ndim(column) != 1:
            raise StratError.about("systems", f"must have one number for each item, got {shown(column)} for {name!r}.")
    lengths = {len(np.asarray(v)) for v in systems.values()}
    if len(lengths) > 1:
        raise StratError.about(
            "systems", f"must have the same items each, got {some(sorted(lengths))} rows; join them on the item."
        )
    return np.column_stack([np.asarray(v, float) for v in systems.values()]) if systems else np.empty((1, 0))


def _means(values: Array, labels: tuple[str, ...]) -> Statistic:
    """The mean score of each system: its accuracy where all scores are 0 or 1."""
    share = bool(((values == 0.0) | (values == 1.0)).all())
    return replace(
        mean(values),
        name="accuracy" if share else "mean score",
        axes=(Axis("system", labels),),
        link="logit" if share else "identity",
        bounds=(0.0, 1.0) if share else (-np.inf, np.inf),
        proportion=share,
        split=None,
    )


def _unit_notes(values: Array, labels: tuple[str, ...]) -> tuple[Note, ...]:
    """A note on percentages beside fractions: a column in 0…1 and another that is about a hundred times larger."""
    top, middle = np.abs(values).max(axis=0), np.abs(values).mean(axis=0)
    small = np.flatnonzero((top <= 1.0) & (middle > 0))
    large = np.flatnonzero((top > 20.0) & (top <= 100.0))
    if not (len(small) and len(large)):
        return ()
    a, b = int(small[0]), int(large[0])
    if not 25.0 < middle[b] / middle[a] < 400.0:
        return ()
    first, second = float(middle[a]), float(middle[b])
    return (Note("mixed-scales", {"case": "means", "a": labels[a], "b": labels[b], "first": first, "second": second}),)
