"""Curves of scores and of ranks: from rows, or from a result that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base import validate
from strat.base.errors import StratError
from strat.base.validate.arguments import checked
from strat.base.validate.columns import same_length
from strat.designs.from_columns import design_of
from strat.estimation import Estimate
from strat.estimation.curves import Curve, of_estimate, of_rows
from strat.show.drawing import draw_curve

if TYPE_CHECKING:
    from strat.recognition import Ranks
    from strat.recognition.curves import MatchCurve


@checked
def roc(
    truth: ArrayLike | Estimate,
    score: ArrayLike | None = None,
    *,
    units: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    positive: object = None,
    name: str = "",
    band: bool = True,
    level: float = 0.95,
    ax: Any = None,
) -> Any:
    """The ROC curve with its limits, the diagonal, and the area with its interval in the legend.

    Parameters
    ----------
    truth
        Labels of two classes; or an estimate of `strat.roc` or `strat.rate_at`, alone.
    score
        A score per row, higher for the positive class.
    units, strata, weights
        How the rows were drawn: the cluster, the stratum and the weight of each (None: a simple random sample).
    positive
        The positive class; None: 1 of 0 and 1, True of False and True.
    name
        What to call the curve in the legend; a second call with the same `ax` adds a curve in another colour.
    band
        Whether to draw the band that holds for the whole curve at once, besides the interval at each place.
    level
        Confidence level.
    ax
        Axes of matplotlib to draw into (None: those of a new figure).

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> ax = roc([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], units=[1, 2, 2, 3, 3, 4])
    >>> ax.get_xlabel().splitlines()[0], ax.get_ylabel()
    ('false positive rate', 'true positive rate')
    """
    return draw_curve(_curve("roc", truth, score, units, strata, weights, positive, level), ax, name=name, band=band)


@checked
def det(
    truth: Any,
    score: ArrayLike | None = None,
    *,
    units: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    positive: object = None,
    name: str = "",
    band: bool = True,
    level: float = 0.95,
    ax: Any = None,
) -> Any:
    """The detection error trade-off on normal deviate axes, with the equal error rate in the legend.

    Also draws a `DetCurve` of recognition. The parameters are those of `roc`; an estimate must be of `strat.det` or of
    `strat.rate_at` with ``rate="fnr"``.
    """
    from strat.recognition.det_curve import DetCurve

    if isinstance(truth, DetCurve):
        return truth.plot(ax, axis="probit", level=level, name=name or None)
    return draw_curve(_curve("det", truth, score, units, strata, weights, positive, level), ax, name=name, band=band)


@checked
def precision_recall(
    truth: ArrayLike | Estimate,
    score: ArrayLike | None = None,
    *,
    units: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    positive: object = None,
    name: str = "",
    level: float = 0.95,
    ax: Any = None,
) -> Any:
    """Precision over recall with its interval at each threshold, and the share of positives as a dashed line.

    The parameters are those of `roc`; an estimate must be of `strat.precision_recall`.
    """
    return draw_curve(_curve("precision_recall", truth, score, units, strata, weights, positive, level), ax, name=name)


@checked
def calibration(
    truth: ArrayLike | Estimate,
    probability: ArrayLike | None = None,
    *,
    units: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    positive: object = None,
    name: str = "",
    level: float = 0.95,
    ax: Any = None,
) -> Any:
    """The reliability diagram: the share of positives in ten bins of probability, and how many rows lie where.

    The parameters are those of `roc`, with probabilities of the positive class; an estimate must be of
    `strat.calibration_curve`.
    """
    curve = _curve("calibration", truth, probability, units, strata, weights, positive, level)
    return draw_curve(curve, ax, name=name)


def _curve(
    kind: str,
    truth: Any,
    score: Any,
    units: ArrayLike | None,
    strata: ArrayLike | None,
    weights: ArrayLike | None,
    positive: object,
    level: float,
) -> Curve:
    """The numbers of the picture, from rows or from an estimate."""
    validate.level(level)
    if isinstance(truth, Estimate):
        return _given(kind, truth, level)
    if isinstance(truth, Curve):
        return truth
    column = "probability" if kind == "calibration" else "score"
    if score is None:
        raise StratError(f"`{column}` must be given beside the truth, one number per row, got None.")
    columns = {name: np.asarray(v) for name, v in (("units", units), ("strata", strata)) if v is not None}
    rows = {"truth": truth, column: score, **columns}
    same_length(**rows if weights is None else {**rows, "weights": weights})
    weight = None if weights is None else np.asarray(weights, float)
    design = design_of(columns, rows=len(np.asarray(truth)), weights=weight)
    return of_rows(kind, truth, score, on=design, positive=positive, level=level)


def _given(kind: str, estimate: Estimate, level: float) -> Curve:
    held = None if estimate.curve is None else of_estimate(estimate, level)
    if held is None or held.kind != kind:
        makers = {"calibration": "calibration_curve"}
        raise StratError.about(
            "truth",
            f"must be labels or an estimate of strat.{makers.get(kind, kind)}(), got an estimate of "
            f"{estimate.name}; draw that with its .plot().",
        )
    return held


@checked
def cmc(
    ranks: Ranks | Mapping[str, Ranks] | MatchCurve,
    *,
    axis: str = "log",
    band: bool = True,
    level: float = 0.95,
    ax: Any = None,
) -> Any:
    """The cumulative match characteristic of one system, or of several on the same probes.

    Parameters
    ----------
    ranks
        Ranks of one system, a name and ranks for each of several, or a match curve that was made of them.
    axis
        "log", "linear" or "relative" (r / N).
    band, level, ax
        As for `roc`.
    """
    from strat.recognition.curves import MatchCurve, match_curve

    curve = ranks if isinstance(ranks, MatchCurve) else match_curve(ranks)
    return curve.plot(ax, axis=axis, level=level, band=band)
