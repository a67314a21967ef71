"""Proxies brought to the scale of the truth, each row by a fit that has not seen its unit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import ArrayLike

from strat.base.errors import StratError, one_of
from strat.base.validate.arguments import checked
from strat.base.validate.columns import LARGEST, Array, Codes, encode, numbers, same_length
from strat.estimation.two_phase import mask_of
from strat.measures.equations.models import logistic_regression

CALIBRATIONS = ("isotonic", "logistic")
Fit = Callable[[Array], Array]


@checked
def cross_fitted(
    proxy: ArrayLike,
    truth: ArrayLike,
    *,
    labelled: ArrayLike,
    units: ArrayLike | None = None,
    method: str = "isotonic",
    folds: int = 5,
    rng: int | np.random.Generator = 0,
) -> Array:
    """The proxy as a forecast of the truth, of every row, fitted to labelled rows of other units.

    Units are put into `folds` groups at random; the fit that a row gets has not seen its group, so that the estimate
    of two phases stays unbiased.

    Parameters
    ----------
    proxy, truth
        The cheap judgement of every row, and the true one of the labelled rows (anything in the others).
    labelled
        Which rows have the true judgement.
    units
        What was drawn; None: single rows.
    method
        "isotonic" (non-decreasing) or "logistic" (Platt's, for a truth from 0 to 1).
    folds, rng
        How many groups, and the seed that makes them.

    Examples
    --------
    >>> judge, human = [1.0, 2.0] * 10, [0.0, 1.0] * 10
    >>> sorted(set(cross_fitted(judge, human, labelled=[True] * 20).tolist()))
    [0.0, 1.0]
    """
    one_of("method", method, CALIBRATIONS)
    x, known = numbers("proxy", proxy, axes=1), numbers("truth", truth, axes=1, finite=False)
    same_length(proxy=x, truth=known)
    chosen = mask_of("labelled", labelled, len(x))
    y = numbers("truth", np.where(chosen, known, 0.0), axes=1, most=LARGEST)
    codes = np.arange(len(x)) if units is None else encode("units", units)[0]
    same_length(proxy=x, units=codes)
    held = np.unique(codes[chosen])
    if not 2 <= folds <= len(held):
        raise StratError.about(
            "folds", f"must be from 2 to the number of units with labels ({len(held)}), got {folds}."
        )
    fold = _folds(codes, held, folds, np.random.default_rng(rng))
    fit = isotonic if method == "isotonic" else _logistic
    forecast = np.empty(len(x))
    for k in range(folds):
        seen, here = chosen & (fold != k), fold == k
        forecast[here] = fit(x[seen], y[seen])(x[here])
    return forecast


def _folds(codes: Codes, held: Codes, folds: int, rng: np.random.Generator) -> Codes:
    """The fold of each row: units with labels spread evenly, then the others."""
    number = int(codes.max()) + 1
    rest = np.setdiff1d(np.arange(number), held)
    order = np.concatenate([rng.permutation(held), rng.permutation(rest)])
    fold = np.empty(number, np.int64)
    fold[order] = np.arange(number) % folds
    return fold[codes]


def isotonic(x: Array, y: Array) -> Fit:
    """The never falling step function with the least squares, linear between its points."""
    points, place = np.unique(x, return_inverse=True)
    counts = np.bincount(place).astype(float)
    levels = scipy.optimize.isotonic_regression(np.bincount(place, y) / counts, weights=counts).x
    return lambda at: np.asarray(np.interp(at, points, levels))


def _logistic(x: Array, y: Array) -> Fit:
    intercept, slope = logistic_regression(y, {"proxy": x}).value()
    return lambda at: np.asarray(scipy.special.expit(intercept + slope * at))
