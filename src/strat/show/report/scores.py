"""Curves of scores in the report: ROC, DET, precision and recall, reliability; the same numbers as `strat.plot`."""

from __future__ import annotations

import numpy as np

from strat.base.errors import StratError
from strat.base.text import counted
from strat.base.validate.columns import Array
from strat.estimation.curves import Curve
from strat.show.report.curve_charts import Frame, Series, curves
from strat.show.report.model import Figure, Section
from strat.show.report.wording import capital, number, percent, places
from strat.verbs.evaluation import Evaluation

TITLES = {
    "roc": "ROC curve",
    "det": "Detection error trade-off",
    "precision_recall": "Precision and recall",
    "calibration": "Reliability diagram",
}
EVALUATED = ("roc", "calibration")


def of_scores(evaluation: Evaluation) -> list[Section]:
    """The ROC curve and, for probabilities, the reliability diagram of an evaluation with scores."""
    if evaluation.scored is None:
        return []
    blocks = []
    for kind in EVALUATED:
        try:
            curve = evaluation.scored.curve(kind)
        except StratError:  # more than two classes, or scores that are no probabilities: no such picture
            continue
        blocks.append(figure_of(curve))
    return [Section("Scores", tuple(blocks))] if blocks else []


def figure_of(curve: Curve) -> Figure:
    """A curve with its limits, its figure and what it is compared with."""
    low, high = _limits(curve)
    dots = curve.kind == "calibration"
    series = Series(TITLES[curve.kind], curve.x, curve.y, low, high, region=curve.whole, dots=dots)
    frame = Frame(
        curve.across, curve.up, (0.0, 1.0), (0.0, 1.0), diagonal=curve.diagonal, level=curve.prevalence
    )  # fmt: skip
    return Figure(curves([series], frame), _caption(curve), _spoken(curve), zooms=True)


def _limits(curve: Curve) -> tuple[Array | None, Array | None]:
    """The limits at the points of the curve itself, between the places where they were found."""
    if curve.each is None:
        return None, None
    (x, high), (_, low) = curve.each
    if len(x) == len(curve.x):
        return low, high
    return np.interp(curve.x, x, low), np.interp(curve.x, x, high)


def _caption(curve: Curve) -> str:
    sentences = [f"{TITLES[curve.kind]}."]
    if curve.figure is not None:
        low, high = (float(side) for side in curve.figure.interval(curve.level))
        d = places((high - low) / 2)
        limits = f"{percent(curve.level)} interval {number(low, d)} to {number(high, d)}"
        sentences.append(f"{capital(curve.symbol)} {number(float(curve.figure.value), d)} ({limits}).")
    if curve.kind == "calibration":
        sentences.append("Dashed: perfect calibration. Bars: the interval of the share of positives in each bin.")
        if curve.bars is not None:
            sentences.append(_where(curve.bars[1]))
        return " ".join(sentences)
    if curve.diagonal:
        sentences.append("Dashed: an uninformative score.")
    if curve.prevalence is not None:
        sentences.append(f"Dashed: the share of positives, {number(curve.prevalence, 3)}.")
    if curve.each is not None:
        sentences.append(f"Dark: {percent(curve.level)} interval at each {curve.places}.")
    if curve.whole is not None:
        sentences.append(f"Light: {percent(curve.level)} band that holds for the whole curve at once.")
    return " ".join(sentences)


def _where(rows: Array) -> str:
    """Where most predictions lie, in place of a histogram."""
    fifths = rows.reshape(5, -1).sum(axis=1)
    k = int(np.argmax(fifths))
    total = float(fifths.sum())
    return (
        f"{100 * fifths[k] / total:.0f} % of {counted(round(total), 'row')} have a probability of "
        f"{k / 5:g} to {(k + 1) / 5:g}."
    )


def _spoken(curve: Curve) -> str:
    middle = len(curve.x) // 2
    return f"{TITLES[curve.kind]}: at {curve.across} {curve.x[middle]:.3g} the {curve.up} is {curve.y[middle]:.3g}."
