"""Variance components of a measure, from the columns of a table: how much is population, system, model, analysis?"""

from __future__ import annotations

from typing import Any

from strat.base.validate.arguments import checked
from strat.base.validate.names import Names
from strat.data.table import read
from strat.designs.from_columns import design_of
from strat.designs.sampling import Sampling
from strat.estimation.components import VarianceComponents, variance_components
from strat.measures.register import labels_of
from strat.verbs.check import columns_by_role
from strat.verbs.metrics import chosen, one_class


@checked
def components_of(
    source: Any,
    *,
    crossed: str | Names,
    truth: str | None = None,
    predicted: str | None = None,
    score: str | None = None,
    strata: str | None = None,
    weights: str | None = None,
    metric: str | None = None,
    positive: object = None,
    missing: str = "error",
) -> VarianceComponents:
    """How much of the variance of a measure comes from each crossed factor of a table.

    Parameters
    ----------
    source, truth, predicted, score, strata, weights, positive, missing
        As :func:`strat.evaluate` takes them.
    crossed
        Columns of two to four factors, each a draw: items, settings, training runs, splits; readers and cases.
    metric
        The measure; by default accuracy of labels, and the mean of scores.

    Examples
    --------
    >>> table = {"y": [1, 1, 0, 1, 0, 0, 1, 1, 0], "run": [1, 1, 1, 2, 2, 2, 3, 3, 3], "item": [1, 2, 3] * 3}
    >>> parts = components_of(table, score="y", crossed=["run", "item"])
    >>> parts.enlarge, parts.levels
    ('item', {'run': 3, 'item': 3})
    """
    table = read(source)
    roles = {"truth": truth, "predicted": predicted, "score": score, "strata": strata}
    wanted = chosen(metric, {**roles, "units": None, "items": None})
    one_class(wanted, positive)
    drawn = Sampling(crossed=crossed).drawn
    columns = columns_by_role(table, {**roles, **drawn, "weights": weights}, missing)
    design = design_of(columns, rows=len(next(iter(columns.values()))), weights=columns.get("weights"))
    data: dict[str, Any] = {**columns, "positive": positive}
    if wanted[0].needs == ("truth", "predicted"):
        data["labels"] = labels_of(columns["truth"], columns["predicted"])
    return variance_components(wanted[0].build(data), on=design)
