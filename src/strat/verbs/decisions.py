"""Predictions that a threshold makes of scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, some
from strat.data.cells import Cells
from strat.measures.positive import positive_of
from strat.measures.register import labels_of


def with_decisions(cells: Cells, positive: object) -> Cells:
    """The cells with predictions: the positive class where the score is at least the threshold, else the other one."""
    pair = two_classes(cells.columns["truth"], positive)
    return replace(cells, columns={**cells.columns, "predicted": pair[cells.columns["above"].astype(np.int64)]})


def two_classes(truth: Any, positive: object) -> NDArray[Any]:
    """The negative and the positive class, between which a threshold decides."""
    labels = labels_of(truth)
    if len(labels) > 2:
        raise StratError.about(
            "threshold", f"must be left out for {len(labels)} classes, got {some(labels)}: it decides between two."
        )
    chosen_label = positive_of(list(labels), positive)
    others = [label for label in labels if label != chosen_label]
    if not others or len(others) > 1:
        raise StratError.about(
            "truth", f"must hold the positive class and another one for `threshold`, got {some(labels)} alone."
        )
    return np.array([others[0], chosen_label])
