"""Samples like the user's own where two factors or more were drawn: new levels of each, in the same cells.

Which levels met (who read what), the true labels and the weights stay as they are; what levels do is drawn anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from strat.base.validate.columns import Array, Codes
from strat.designs import Design
from strat.designs.crossed import Crossing
from strat.estimation.components import variance_components
from strat.measures.clustering import mean_product
from strat.measures.means import mean
from strat.verbs.simulate import Simulator
from strat.verbs.simulate_effects import Effects, Model, simulated

CROSSED_SHAPES = ("as estimated", "at their upper quartile")


def crossed_simulator(columns: Mapping[str, Any], design: Design, shape: str) -> Simulator:
    """The simulator of labels where there are predictions or rows right and wrong, of scores otherwise."""
    still = np.zeros(len(design))
    return simulated(
        columns,
        design,
        lambda residual: Model(level_effects(residual, design, shape), lambda u: still, lambda u: design),
    )


def level_effects(residual: Array, design: Design, shape: str) -> Effects:
    """What levels add to the rows: a part of the variance for each grouping of levels."""
    layout = design.layout
    assert isinstance(layout, Crossing)
    components = variance_components(mean(residual), on=design)
    used = components.variances
    if shape != CROSSED_SHAPES[0]:
        used = {name: high for name, (_, high) in components.intervals(0.5).items()}
    share = np.bincount(design.unit, design.weights, minlength=design.lines) / design.weights.sum()
    partitions = [p for p in layout.partitions if p.number < design.lines]
    groups = [p.group[design.unit] for p in partitions]
    covariances = [used[layout.label(p)] / _square(p.group, share) for p in partitions]
    names = [layout.label(p) for p in partitions]
    if len(residual) > design.lines:
        groups.append(design.unit)
        covariances.append(max(mean_product(residual, design.unit) - sum(covariances), 0.0))
        names.append("cells")
    return Effects(tuple(groups), np.array(covariances), tuple(names))


def _square(group: Codes, share: Array) -> float:
    weights = np.bincount(group, share)
    return float(weights @ weights)
