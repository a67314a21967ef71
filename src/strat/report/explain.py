"""What an estimate means, what was assumed, and what would change it: in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from strat.designs import KINDS
from strat.errors import StratError
from strat.estimation import Estimate
from strat.report.wording import capital, number, places
from strat.words import counted

_ASSUMED = {
    "simple random": "every row was drawn on its own, independently of the others",
    "stratified": "the strata are fixed, and within each stratum the rows were drawn independently",
    "clustered": "whole units were drawn independently of each other; rows of one unit may be as alike as they like",
    "stratified clusters": (
        "the strata are fixed, and within each stratum whole units were drawn independently of each other; rows of "
        "one unit may be as alike as they like"
    ),
    "systematic": "units were taken at even steps along an order, so that each is compared with its neighbours",
}
_SCALES = {
    "logit": "on the logit scale, which keeps the limits inside the range of the measure",
    "log": "on the log scale, which keeps the limits positive",
    "correlation": "on Fisher's scale, which keeps the limits between −1 and 1",
}
FEW = 10


def explain(estimate: Any) -> str:
    """What the number means, what was assumed and what would change it, as paragraphs of plain text.

    Parameters
    ----------
    estimate
        An :class:`~strat.Estimate`; or a result that has one: of an evaluation its first measure is explained, of a
        comparison the difference.

    Examples
    --------
    >>> import strat
    >>> made = strat.estimate(strat.accuracy([1, 1, 0, 0], [1, 1, 0, 1]), on=strat.Design.simple_random(n=4))
    >>> print(explain(made).splitlines()[0])
    Accuracy is 0.75. Its 95 % interval runs from 0.04 to 1.00, with a standard error of 0.25.
    """
    made = _estimate_of(estimate)
    lines = [_meaning(made), _target(made), _assumptions(made), *_changes(made)]
    return "\n\n".join(line for line in lines if line)


def _estimate_of(given: Any) -> Estimate:
    if isinstance(given, Estimate):
        return given
    measures = getattr(given, "estimates", None)
    if measures:
        return next(iter(measures.values()))
    for name in ("difference", "estimate"):
        found = getattr(given, name, None)
        if isinstance(found, Estimate):
            return found
    raise StratError(
        f"`estimate` must be an Estimate or a result that holds one, got {type(given).__name__}; "
        "see strat.estimate and strat.evaluate."
    )


def kind_of(estimate: Estimate) -> str:
    """The kind of design that the estimate was made on ("" where nobody said)."""
    return next((kind for kind in sorted(KINDS, key=len, reverse=True) if estimate.design.startswith(kind)), "")


def _drawn(estimate: Estimate) -> str:
    return "units" if "cluster" in kind_of(estimate) or kind_of(estimate) == "systematic" else "rows"


def _meaning(estimate: Estimate) -> str:
    if estimate.point.ndim:
        return _many(estimate)
    value, se = float(estimate.point), float(np.sqrt(estimate.variance))
    d = places(se)
    said = f"{capital(estimate.name)} is {number(value, d)}. "
    try:
        low, high = (float(side) for side in estimate.interval())
    except StratError:
        return said + "There are no degrees of freedom, so that no interval can be had."
    said += f"Its 95 % interval runs from {number(low, d)} to {number(high, d)}"
    said += f", with a standard error of {number(se, d)}." if se > 0 else "; no variation was seen."
    return said + "\n\n" + _repeated(estimate)


def _repeated(estimate: Estimate) -> str:
    return (
        f"Were the evaluation repeated with other {_drawn(estimate)} drawn in the same way, about 95 of 100 such "
        "intervals would hold the true value. It is not a range in which 95 % of single results lie."
    )


def _many(estimate: Estimate) -> str:
    labels = [axis.name for axis in estimate.axes]
    values = estimate.point
    d = places(float(np.median(np.sqrt(estimate.variance))))
    return (
        f"{capital(estimate.name)} has {values.size:,} values, by {' and '.join(labels)}, from "
        f"{number(float(values.min()), d)} to {number(float(values.max()), d)}. An interval holds for one value that "
        "was chosen beforehand; the band holds for all of them at once, and is wider.\n\n" + _repeated(estimate)
    )


def _target(estimate: Estimate) -> str:
    if not estimate.target:
        return ""
    said = f"It answers for {estimate.target}."
    if kind_of(estimate).startswith("stratified"):
        said += " About other strata it says nothing."
    if "these very" in estimate.target:
        said += " About others of their kind it says nothing."
    return said


def _assumptions(estimate: Estimate) -> str:
    kind = kind_of(estimate)
    said = f"Assumed: {_ASSUMED[kind]}; " if kind else "Assumed: "
    said += f"the estimate varies as Student's t with {counted(estimate.df, 'degree of freedom', ',.4g')} does"
    if estimate.woodruff is not None:
        said += ", on the scale of shares (Woodruff)"
    elif estimate.link in _SCALES:
        said += f", {_SCALES[estimate.link]}"
    how = f"over the replicates of {estimate.method}" if estimate.replicated else "in closed form (linearization)"
    return f"{said}. The variance was found {how}."


def _changes(estimate: Estimate) -> list[str]:
    if estimate.point.ndim:
        return [_more(estimate)]
    said = [_independence(estimate), _strata(estimate), _few(estimate), _edge(estimate), _more(estimate)]
    found = [line for line in said if line]
    return ["What would change it:\n" + "\n".join(f"- {line}" for line in found)]


def _independence(estimate: Estimate) -> str:
    kind, deff = kind_of(estimate), estimate.deff
    if deff is None or not math.isfinite(deff):
        return ""
    if kind == "simple random":
        return (
            "If rows come in groups that were drawn together (subjects, passages, repositories, repeated runs), naming "
            "them as units would widen the interval; naming fixed groups as strata would narrow it a little."
        )
    naive = math.sqrt(float(estimate.srs_variance))
    d = places(naive)
    return (
        f"Rows taken as independent would have had a standard error of {number(naive, d)}: the design effect is "
        f"{deff:.2g}, so that these {estimate.rows:,.0f} rows know as much as "
        f"{float(estimate.effective_size):,.0f} independent ones."
    )


def _strata(estimate: Estimate) -> str:
    if not kind_of(estimate).startswith("stratified"):
        return ""
    return (
        "If the strata were themselves drawn from many, and the answer should hold for others too, they are the units; "
        "the interval would then be wider, as a rule by much."
    )


def _few(estimate: Estimate) -> str:
    if estimate.df >= FEW:
        return ""
    return (
        f"With only {counted(estimate.df, 'degree of freedom', 'g')} the standard error is itself uncertain, and the "
        "interval is wide for it; more units help more than more rows in them."
    )


def _edge(estimate: Estimate) -> str:
    if float(estimate.variance) > 0 or not np.isfinite(estimate.bounds).all():
        return ""
    return "Nothing varied, so that the limits are exact ones for the effective number of rows, not the value itself."


def _more(estimate: Estimate) -> str:
    return (
        f"Half the width needs about four times as many {_drawn(estimate)}"
        + (", not rows." if _drawn(estimate) == "units" else ".")
    )  # fmt: skip
