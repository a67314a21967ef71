"""Measures of fields from the columns of a table: two raters, predicted risks, forecasts, and what success costs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from strat import measures
from strat.base.validate.columns import Array, encode
from strat.data.cells import combine
from strat.designs.from_columns import GROUP
from strat.measures import Statistic
from strat.measures.positive import positives

Columns = Mapping[str, Any]
Build = Callable[[Columns], Statistic]
LABELS, SCORES, THREE = ("truth", "predicted"), ("truth", "score"), ("truth", "predicted", "score")
LEVELS, AC2, ICC = ("ordinal", "interval", "ratio"), ("linear", "quadratic"), ("ICC1", "ICC2", "ICC3")


def _of_raters(function: Callable[..., Statistic], c: Columns) -> Statistic:
    """Of the ratings of two raters, in the columns of the truth and of the predictions."""
    pairs = [list(pair) for pair in zip(*(np.asarray(c[role]).tolist() for role in LABELS), strict=True)]
    return function(pairs)


RATERS: dict[str, Build] = {
    "fleiss_kappa": partial(_of_raters, measures.fleiss_kappa),
    "krippendorff_alpha": partial(_of_raters, measures.krippendorff_alpha),
    "gwet_ac1": partial(_of_raters, measures.gwet_ac),
    **{
        f"krippendorff_alpha_{level}": partial(_of_raters, partial(measures.krippendorff_alpha, level=level))
        for level in LEVELS
    },
    **{f"gwet_ac2_{w}": partial(_of_raters, partial(measures.gwet_ac, weights=w)) for w in AC2},
    **{kind.lower(): partial(_of_raters, partial(measures.icc, kind=kind)) for kind in ICC},
}


def _one_value(name: str, statistic: Statistic, place: int) -> Statistic:
    """One of several values of a statistic, under a name of its own."""
    gradient = statistic.gradient
    assert gradient is not None

    def function(t: Array) -> Array:
        return statistic.function(t)[..., place]

    return replace(
        statistic, name=name, axes=(), split=None, function=function, gradient=lambda t: gradient(t)[:, place]
    )


def _calibration_slope(c: Columns) -> Statistic:
    ill, risk, label, _ = positives(c["truth"], c["score"], c.get("positive"))
    return replace(_one_value("calibration slope", measures.calibration_slope(ill, risk), 1), positive=label)


def _calibration_intercept(c: Columns) -> Statistic:
    ill, risk, label, _ = positives(c["truth"], c["score"], c.get("positive"))
    return replace(measures.calibration_intercept(ill, risk), positive=label)


def _cost_per_success(c: Columns) -> Statistic:
    return measures.cost_per_success(np.asarray(c["score"], float), np.asarray(c["predicted"], float))


def _ratio(c: Columns) -> Statistic:
    return measures.ratio(np.asarray(c["score"], float), np.asarray(c["truth"], float))


def _two_models(function: Callable[..., Statistic], c: Columns) -> Statistic:
    """Of the risks that an old and a new model predict, in the columns of the predictions and of the scores."""
    old, new = (np.asarray(c[role], float) for role in ("predicted", "score"))
    return function(c["truth"], old, new, positive=c.get("positive"))


def _of_numbers(function: Callable[..., Statistic], c: Columns) -> Statistic:
    """Of three columns of numbers, in the order of the roles."""
    return function(*(np.asarray(c[role], float) for role in THREE))


def _mqm(c: Columns) -> Statistic:
    """A segment is an item of one system and one rater, where `by` names them; kinds of errors make no segments."""
    kinds = [np.asarray(c[role]) for role in ("truth", "predicted")]
    groups = [np.asarray(column) for role, column in c.items() if role.startswith(GROUP)]
    whose = [column for column in groups if not any(np.array_equal(column, kind) for kind in kinds)]
    encoded = [encode("items", column) for column in (np.asarray(c["items"]), *whose)]
    segments, _ = combine([codes for codes, _ in encoded], [len(labels) for _, labels in encoded])
    return measures.mqm(kinds[1], kinds[0], segments=segments)


RISKS: dict[str, Build] = {
    "calibration_slope": _calibration_slope,
    "calibration_intercept": _calibration_intercept,
}
OTHERS: dict[str, tuple[tuple[str, ...], Build]] = {
    "ratio": (SCORES, _ratio),  # all scores over all truths: errors over words, seconds in error over seconds spoken
    "cost_per_success": (("predicted", "score"), _cost_per_success),  # whether it succeeded, and what it cost
    "mase": (THREE, partial(_of_numbers, measures.mase)),  # the score is the scale of the series
    "interval_share": (THREE, partial(_of_numbers, measures.interval_share)),  # from the prediction up to the score
    "harrell_c": (THREE, partial(_of_numbers, measures.concordance)),  # time, whether it was an event, and the risk
    "mqm": (("truth", "predicted", "items"), _mqm),  # category and severity of an error, and the rated segment
}
TWO_MODELS: dict[str, Build] = {
    "nri": partial(_two_models, measures.nri),  # the prediction is the old model's risk, the score the new one's
    "idi": partial(_two_models, measures.idi),
}


def _net_benefit(at: float, c: Columns) -> Statistic:
    curve = measures.net_benefit(c["truth"], c["score"], thresholds=[at], positive=c.get("positive"))
    return _one_value(f"net benefit at {at:g}", curve, 0)


def _pinball_loss(q: float, c: Columns) -> Statistic:
    return measures.pinball_loss(np.asarray(c["truth"], float), np.asarray(c["predicted"], float), q=q)


def _quantile(q: float, c: Columns) -> Statistic:
    return measures.quantile(np.asarray(c["score"], float), q).renamed(f"quantile {q:g}")


class NumberedMetric(NamedTuple):
    """A measure whose name ends in a number: its columns, how it is made, which way is better, and of which class."""

    needs: tuple[str, ...]
    build: Callable[[float, Columns], Statistic]
    higher_is_better: bool
    looks_at_one_class: bool = False


AT_A_NUMBER = {  # by the name before "@"
    "net_benefit": NumberedMetric(SCORES, _net_benefit, higher_is_better=True, looks_at_one_class=True),
    "pinball_loss": NumberedMetric(LABELS, _pinball_loss, higher_is_better=False),
    "quantile": NumberedMetric(("score",), _quantile, higher_is_better=True),
    "latency": NumberedMetric(("score",), _quantile, higher_is_better=False),
}
NUMBERED = re.compile(rf"({'|'.join(AT_A_NUMBER)})@([0-9]*\.?[0-9]+)$")


def is_quantile(name: str) -> bool:
    """Whether a name such as "latency@0.95" or "p95" means a quantile.

    >>> is_quantile("p95"), is_quantile("net_benefit@0.2")
    (True, False)
    """
    numbered = at_a_number(name)
    return numbered is not None and numbered[0].build is _quantile


PERCENTILE = re.compile(r"^p([0-9]{2})$")  # p95: the latency that 95 of 100 do not exceed


def at_a_number(name: Any) -> tuple[NumberedMetric, float] | None:
    """The measure and the number that a name such as "net_benefit@0.2" or "latency@0.95" means.

    >>> metric, number = at_a_number("p95")
    >>> metric.needs, number, at_a_number("latency") is None
    (('score',), 0.95, True)
    """
    parts = NUMBERED.match(PERCENTILE.sub(r"latency@0.\1", name)) if isinstance(name, str) else None
    return None if parts is None else (AT_A_NUMBER[parts[1]], float(parts[2]))
