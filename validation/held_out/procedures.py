"""What is tried on the second grid: the default answer, and few other ways to the same limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import strat
from strat.comparison import many, paired
from strat.estimation.hypothesis_tests import t_pvalue
from strat.measures.student import critical

from ..methods import RIVAL, Found, Z, _asked, _wilson
from ..trials import Trial

IGNORES_THE_CHOICE = "uncorrected"  # limits of a winner


def answer(trial: Trial) -> Found:
    """The interval that is printed, and those that a person could have asked for."""
    one = trial.extra["estimate"]
    others = ("t", "logit", "wilson", "exact") if one.proportion else ("t", "logit") if one.link == "logit" else ("t",)
    found: Found = {"default": one.interval()} | {name: _asked(one, name) for name in others}
    right = trial.columns.get("right")
    if right is not None:
        found[RIVAL + "Wilson on rows"] = _wilson(float(right.mean()), len(right), Z)
    return found | trial.extra.get("rivals", {})


def one_sided(trial: Trial) -> Found:
    """The one-sided limit on the side where being short is dangerous, and value − t · se."""
    one, side = trial.extra["estimate"], trial.extra["side"]
    limit = float(one.limit(0.95, side=side))
    straight = one.interval(0.9, method="t")
    other = one.bounds[1 if side == "lower" else 0]
    pairs = {"default": (limit, other), "t": (float(straight[0 if side == "lower" else 1]), other)}
    return {name: pair if side == "lower" else pair[::-1] for name, pair in pairs.items()}


def band(trial: Trial) -> Found:
    """The simultaneous band, and Bonferroni's."""
    one = trial.extra["estimate"]
    return {"default": one.band(), "Bonferroni": one.interval(1 - 0.05 / one.point.size)}


def pair(trial: Trial) -> Found:
    """The interval of a paired difference, and value ± t · se."""
    one = trial.extra["comparison"]
    return {"default": one.interval(), "t": tuple(float(v) for v in one.difference.interval())}


def noninferiority(trial: Trial) -> Found:
    """The test at the margin: it rejects a true null where the interval (margin, ∞) of losses misses the truth."""
    one, margin = trial.extra["comparison"], -float(trial.truth)
    t = (one.value + margin) / one.se if one.se else np.inf
    rejected = {
        "default": one.noninferiority(margin, baseline="B").pvalue <= 0.05,
        "t": t_pvalue(float(t), one.df, "greater") <= 0.05,
    }
    return {name: (trial.truth + (1e-6 if wrong else -0.5), 1.0) for name, wrong in rejected.items()}


def board(trial: Trial) -> Found:
    """All differences at once; Bonferroni's; each pair alone."""
    one = trial.extra["board"]
    pairs = len(one.systems) * (len(one.systems) - 1) // 2
    wide = float(critical(1 - 0.05 / pairs, one.estimate.least_df))
    half = wide * one.errors
    return {"default": one.intervals(), "Bonferroni": (one.differences - half, one.differences + half)}


def winner(trial: Trial) -> Found:
    """The best system's own value, corrected for having been chosen, against the truth of whoever was chosen."""
    one = trial.extra["board"]
    best = one.winner()
    shift = float(trial.truth) - trial.extra["rates"][one.systems.index(best.system)]
    naive = one.estimate.at(best.system).interval()
    return {"default": (best.low + shift, best.high + shift), IGNORES_THE_CHOICE: (naive[0] + shift, naive[1] + shift)}


def limits(trial: Trial) -> Found:
    """The limits that a draw brings with it, by their names."""
    found: Found = trial.extra["limits"]
    return found


PROCEDURES: dict[str, Callable[[Trial], Found]] = {
    "answer": answer,
    "one-sided": one_sided,
    "simultaneous band": band,
    "pair": pair,
    "non-inferiority": noninferiority,
    "board": board,
    "winner": winner,
    "limits": limits,
}


def estimated(statistic: Any, design: Any, truth: Any, **columns: Any) -> Trial:
    """A trial whose estimate is made once, for its limits and its notes."""
    return Trial(statistic, design, truth, columns, {"estimate": strat.estimate(statistic, on=design)})


def compared(a: Any, b: Any, design: Any, truth: float) -> Trial:
    """A trial of two systems, right or wrong row by row."""
    one = paired(strat.proportion(a), strat.proportion(b), on=design, higher_is_better=True)
    extra = {"comparison": one, "estimate": one.difference, "span": 2.0}
    return Trial(None, design, truth, {"a": a, "b": b}, extra)


def ranked(right: Any, design: Any, rates: Any, truth: Any) -> Trial:
    """A trial of many systems, right or wrong row by row."""
    one = many(right, on=design, higher_is_better=True)
    return Trial(None, design, truth, {}, {"board": one, "estimate": one.estimate, "rates": rates, "span": 2.0})
