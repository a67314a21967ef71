"""Forecasts of numbers: percentage and scaled errors, quantile losses, CRPS, coverage, and correlations of ranks.

The usual unit is the series (or the molecule, the site), not the single value.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from strat.base.errors import StratError, plain
from strat.base.validate.arguments import checked
from strat.base.validate.columns import LARGEST, Array, Codes, encode, number_columns, numbers, same_length
from strat.measures.base import Statistic, last_remembered
from strat.measures.fields.inputs import of_row_weights
from strat.measures.fields.pairs import Lower
from strat.measures.means import CURVED_BELOW, mean
from strat.measures.quotients import share_of
from strat.measures.register import THREE, measure


def _loss(name: str, rows: Array) -> Statistic:
    """The mean of losses, which are not negative."""
    return replace(mean(rows), name=name, bounds=(0.0, np.inf), higher_is_better=False)


@measure("mape", reads="numbers", unit="share of the truth", bounds=(0.0, np.inf), higher_is_better=False)
@checked
def mape(truth: ArrayLike, predicted: ArrayLike) -> Statistic:
    """The mean absolute percentage error as a share (0.1 is 10 %).

    Each row adds (size of its error / size of its truth, 1). The usual unit is the series.

    Parameters
    ----------
    truth, predicted
        One number per row; no truth may be 0.

    Examples
    --------
    >>> float(mape([10, 20], [11, 18]).value())
    0.1
    """
    true, given = number_columns(truth=truth, predicted=predicted)
    if not true.all():
        place = int(np.flatnonzero(true == 0)[0])
        raise StratError.about("truth", f"must not be 0 for a percentage error, got 0 in row {place}; use mae or mase.")
    return _loss("mean absolute percentage error", np.abs((given - true) / true))


@measure(
    "mase",
    needs=THREE,
    reads="numbers",
    unit="naive errors",
    bounds=(0.0, np.inf),
    higher_is_better=False,
    reference="Hyndman and Koehler 2006",
)
@checked
def mase(truth: ArrayLike, predicted: ArrayLike, scale: ArrayLike) -> Statistic:
    """The mean absolute scaled error: errors relative to those of the naive forecast (Hyndman and Koehler 2006).

    Each row adds (size of its error / scale, 1). The usual unit is the series.

    Parameters
    ----------
    truth, predicted
        One number per row.
    scale
        For each row, the mean absolute error of the naive forecast in the series' training part.

    Examples
    --------
    >>> float(mase([10, 20], [11, 18], [1.0, 4.0]).value())
    0.75
    """
    true, given, unit = number_columns(truth=truth, predicted=predicted, scale=scale)
    if not (unit > 0).all():
        raise StratError.about("scale", f"must be above 0 in every row, got {float(unit.min()):g}.")
    return _loss("mean absolute scaled error", np.abs(given - true) / unit)


@measure(
    "pinball_loss",
    "pinball",
    reads="numbers",
    at="q",
    unit="unit of the truth",
    bounds=(0.0, np.inf),
    higher_is_better=False,
    reference="Koenker and Bassett 1978",
)
@checked
def pinball_loss(truth: ArrayLike, predicted: ArrayLike, *, q: float = 0.5) -> Statistic:
    """The mean pinball loss of a predicted quantile: q × shortfall where the truth is above, (1 − q) × excess below.

    Each row adds (its loss, 1). The usual unit is the series.

    Parameters
    ----------
    truth, predicted
        One number per row.
    q
        The order of the quantile, between 0 and 1.

    Examples
    --------
    >>> float(pinball_loss([1.0, 3.0], [2.0, 2.0], q=0.9).value())
    0.5
    """
    if not 0 <= q <= 1:
        raise StratError.about("q", f"must lie between 0 and 1, got {plain(q)!r}.")
    true, given = number_columns(truth=truth, predicted=predicted)
    off = true - given
    return _loss("pinball loss", np.maximum(q * off, (q - 1.0) * off))


@measure(
    "crps",
    needs=("truth", "ensemble"),
    unit="unit of the truth",
    bounds=(0.0, np.inf),
    higher_is_better=False,
    reference="Gneiting and Raftery 2007",
)
@checked
def crps(truth: ArrayLike, ensemble: ArrayLike) -> Statistic:
    """The mean continuous ranked probability score of ensembles: E|X − truth| − E|X − X′| / 2 (Gneiting 2007, eq. 21).

    Each row adds (its score, 1). The usual unit is the series.

    Parameters
    ----------
    truth
        One number per row.
    ensemble
        Rows × members: draws from the forecast.

    Examples
    --------
    >>> float(crps([0.0], [[-1.0, 1.0]]).value())
    0.5
    """
    true = numbers("truth", truth, most=LARGEST, axes=1)
    members = numbers("ensemble", ensemble, most=LARGEST, axes=2)
    same_length(truth=true, ensemble=members)
    m = members.shape[1]
    if m == 0:
        raise StratError.about("ensemble", "must have at least one member in each row, got none.")
    ordered = np.sort(members, axis=1)
    spread = ordered @ (2.0 * np.arange(1, m + 1) - m - 1.0) / m**2  # half of E|X − X'|
    return _loss("CRPS", np.abs(members - true[:, None]).mean(axis=1) - spread)


@measure("interval_share", "coverage", needs=THREE, reads="numbers")
@checked
def interval_share(truth: ArrayLike, low: ArrayLike, high: ArrayLike) -> Statistic:
    """The coverage of prediction intervals: the share of rows whose truth lies in [low, high].

    Each row adds (1 if its truth lies inside, 1). The usual unit is the series.

    Parameters
    ----------
    truth, low, high
        One number per row.

    Examples
    --------
    >>> float(interval_share([1, 5], [0, 0], [2, 2]).value())
    0.5
    """
    true, below, above = number_columns(truth=truth, low=low, high=high)
    if (below > above).any():
        place = int(np.flatnonzero(below > above)[0])
        raise StratError.about(
            "low", f"must not lie above `high`, got {below[place]:g} and {above[place]:g} in row {place}."
        )
    return share_of("coverage of intervals", (below <= true) & (true <= above)).renamed("coverage of intervals")


@measure(
    "kendall",
    "kendalltau",
    "kendall_tau",
    of="pair",
    reads="numbers",
    unit="correlation",
    bounds=(-1.0, 1.0),
    reference="Kendall 1938",
)
@checked
def kendall(x: ArrayLike, y: ArrayLike) -> Statistic:
    """Kendall's τ-b: concordant − discordant pairs over the pairs that are not tied, of x and of y.

    Every pair of rows adds (sign, 1 if not tied in x, 1 if not tied in y). The usual unit is the series.

    Parameters
    ----------
    x, y
        One number per row.

    Examples
    --------
    >>> float(kendall([1, 2, 3], [1, 3, 2]).value().round(4))
    0.3333
    """
    of_x, of_y = _rank_codes(x, y)
    lower = Lower(of_x, of_y)
    parts = last_remembered(lambda w: _tau(w, of_x, of_y, lower))
    facts: dict[str, Any] = {"link": "correlation", "bounds": (-1.0, 1.0)}
    return of_row_weights("Kendall's τ", len(of_x), lambda w: parts(w)[0], lambda w: parts(w)[1], **facts)


def _tau(w: Array, of_x: Codes, of_y: Codes, lower: Lower) -> tuple[float, Array]:
    """τ-b of weighted rows, and its derivatives by the weights."""
    total = w.sum()
    both = lower.of_equal_x(w) + 2.0 * lower(w)  # twice the weight below in x and in y, halves for ties
    signs = 2.0 * both - 2.0 * (_middle(of_x, w) + _middle(of_y, w)) + total  # Σⱼ wⱼ sign(xᵢ − xⱼ) sign(yᵢ − yⱼ)
    kernels = np.stack([signs, *(total - np.bincount(codes, w)[codes] for codes in (of_x, of_y))])
    agree, not_x, not_y = kernels @ w
    root = np.sqrt(not_x * not_y)
    tau = agree / root
    return float(tau), 2.0 * np.array([1.0 / root, -tau / (2.0 * not_x), -tau / (2.0 * not_y)]) @ kernels


def _rank_codes(x: ArrayLike, y: ArrayLike) -> tuple[Codes, Codes]:
    """The codes of two columns, each of which varies, in the order of their values."""
    columns = dict(zip(("x", "y"), number_columns(x=x, y=y), strict=True))
    for name, column in columns.items():
        if (column == column[0]).all():
            raise StratError.about(name, f"must vary over the rows, got {column[0]:g} in every one.")
    return encode("x", columns["x"])[0], encode("y", columns["y"])[0]


@measure(
    "spearman",
    "spearmanr",
    "spearman_rho",
    reads="numbers",
    unit="correlation",
    bounds=(-1.0, 1.0),
    reference="Spearman 1904",
)
@checked
def spearman(x: ArrayLike, y: ArrayLike) -> Statistic:
    """Spearman's correlation of ranks; ties get the mean of their ranks.

    The components are the weights of the rows, so the interval allows for the ranks having been estimated, too.
    The usual unit is the series.

    Parameters
    ----------
    x, y
        One number per row.

    Examples
    --------
    >>> float(spearman([1, 2, 3], [1, 3, 2]).value().round(4))
    0.5
    """
    of_x, of_y = _rank_codes(x, y)
    facts: dict[str, Any] = {"link": "correlation", "bounds": (-1.0, 1.0), "curved_below": CURVED_BELOW}
    value, slopes = partial(_rank_correlation, of_x=of_x, of_y=of_y), partial(_rank_slopes, of_x=of_x, of_y=of_y)
    return of_row_weights("Spearman's ρ", len(of_x), value, slopes, **facts)


def _middle(codes: Codes, weights: Array, *, above: bool = False) -> Array:
    """The weight below (or above) each row's value, and half of that at it."""
    at = np.bincount(codes, weights)
    below = np.cumsum(at) - at / 2
    return (at.sum() - below if above else below)[codes]


def _products(w: Array, of_x: Codes, of_y: Codes) -> tuple[Array, Array, Array]:
    """Middle ranks of both columns as shares of the weight, and the three moments xy, xx, yy less 1/4."""
    total = w.sum()
    f, g = _middle(of_x, w) / total, _middle(of_y, w) / total
    moments = [np.einsum("i,i,i->", w, *both) for both in ((f, g), (f, f), (g, g))]
    return f, g, np.array(moments) / total - 0.25


def _rank_correlation(w: Array, of_x: Codes, of_y: Codes) -> float:
    xy, xx, yy = _products(w, of_x, of_y)[2]
    return float(xy / np.sqrt(xx * yy))


def _rank_slopes(w: Array, of_x: Codes, of_y: Codes) -> Array:
    """Derivatives by the weights: a row moves its own term, and the ranks of all rows above it."""
    f, g, (xy, xx, yy) = _products(w, of_x, of_y)
    total = w.sum()

    def moved(u: Array, v: Array, codes_u: Codes, codes_v: Codes, moment: float) -> Array:
        shifts = (_middle(codes_u, w * v, above=True) + _middle(codes_v, w * u, above=True)) / total
        return np.asarray((u * v + shifts - 3.0 * (moment + 0.25)) / total)

    by_xy, by_xx, by_yy = moved(f, g, of_x, of_y, xy), moved(f, f, of_x, of_x, xx), moved(g, g, of_y, of_y, yy)
    return np.asarray((by_xy - xy / 2 * (by_xx / xx + by_yy / yy)) / np.sqrt(xx * yy))
