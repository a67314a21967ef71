"""What an estimate means, what was assumed, and what would change it: in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from strat.base.errors import StratError
from strat.base.notes import FEW_DF
from strat.base.text import counted, of_class
from strat.designs import KINDS
from strat.estimation import Estimate
from strat.estimation.limits import default_method
from strat.show.report.wording import named, number, percent, places

_ASSUMED = {
    "simple random": "every row was drawn on its own, independently of the others",
    "stratified": "the {strata} are fixed, and within each {stratum} the rows were drawn independently",
    "clustered": "whole {units} were drawn independently of each other; rows within one {unit} may be arbitrarily "
    "correlated",
    "stratified clusters": (
        "the {strata} are fixed, and within each {stratum} whole {units} were drawn independently of each other; rows "
        "within one {unit} may be arbitrarily correlated"
    ),
    "systematic": "{units} were taken at even steps along an order, so that each is compared with its neighbours",
    "crossed": "the levels of every factor were drawn independently of those of the others",
    "blocks": "whole {units} were drawn independently of each other, and the kinds under which each was seen are fixed",
    "staged": "units were drawn at random at every stage, within those of the stage before",
}
_VARIES = {
    "t": "the estimate varies as Student's t with {df} does",
    "logit": "the estimate varies as Student's t with {df} does, on the logit scale, which keeps the limits inside the "
    "range of the measure",
    "wilson": "the estimate varies as Student's t with {df} does, over the standard error that each limit would have "
    "(Wilson), which keeps the limits inside the range of the measure",
    "log": "the estimate varies as Student's t with {df} does, on the log scale, which keeps the limits positive",
    "fisher": "the estimate varies as Student's t with {df} does, on Fisher's scale, which keeps the limits between "
    "−1 and 1",
    "beta-binomial": "the shares of {units} vary as a beta-binomial does, with every correlation within {units} "
    "weighed by how well it fits the data, on {df}",
    "hypergeometric": "the rows that were drawn are as likely as any others of the population",
    "mover": "each of its parts varies as its own interval says",
    "folded": "each distance in the sum varies as Student's t with {df} does; their sum is never less than its noise",
    "woodruff": "the share below varies as Student's t with {df} does (Woodruff)",
}


def degrees(estimate: Estimate) -> str:
    """The degrees of freedom of its values in words."""
    least, most = estimate.least_df, float(np.max(estimate.df))
    span = f"{least:,.4g} to " if least < most else ""
    return f"{span}{counted(most, 'degree of freedom', ',.4g')}"


def explain(estimate: Any) -> str:
    """What the number means, what was assumed and what would change it, as paragraphs of plain text.

    Parameters
    ----------
    estimate
        An :class:`~strat.Estimate`, with its 95 % limits; or a result that has one, with limits at the level of the
        result: of an evaluation its first measure is explained, of a comparison the difference.

    Examples
    --------
    >>> import strat
    >>> accuracy = strat.estimate(strat.accuracy([1, 1, 0, 0], [1, 1, 0, 1]), on=strat.Design.simple_random(n=4))
    >>> print(explain(accuracy).splitlines()[0])
    Accuracy is 0.75. Its 95 % interval runs from 0.04 to 1.00, with a standard error of 0.25.
    """
    single = _estimate_of(estimate)
    level = getattr(estimate, "level", 0.95)
    lines = [_meaning(single, level), _target(single), _assumptions(single), *_changes(single)]
    return "\n\n".join(line for line in lines if line)


def _estimate_of(given: Any) -> Estimate:
    if isinstance(given, Estimate):
        return given
    measures = getattr(given, "estimates", None)
    if measures:
        return next(iter(measures.values()))
    for name in ("difference", "estimate"):
        candidate = getattr(given, name, None)
        if isinstance(candidate, Estimate):
            return candidate
    raise StratError.about(
        "estimate",
        f"must be an Estimate or a result that holds one, got {type(given).__name__}; "
        "see strat.estimate and strat.evaluate.",
    )


def kind_of(estimate: Estimate) -> str:
    """The kind of design that the estimate was made on ("" where unknown)."""
    return estimate.design.kind if estimate.design.kind in KINDS else ""


def _of_units(estimate: Estimate) -> bool:
    return estimate.design.clustered or estimate.design.kind == "systematic"


def _drawn(estimate: Estimate) -> str:
    return estimate.design.called("unit") if _of_units(estimate) else "rows"


def _nouns(estimate: Estimate) -> dict[str, str]:
    """What units and strata are called, one and several."""
    called = estimate.design.called
    one = {role: called(role, 1) for role in ("unit", "stratum")}
    return {**one, "units": called("unit"), "strata": called("stratum")}


def _meaning(estimate: Estimate, level: float) -> str:
    if estimate.point.ndim:
        return _many(estimate, level)
    value, se = float(estimate.point), float(np.sqrt(estimate.variance))
    d = places(se)
    text = f"{named(estimate)}{of_class(estimate.positive)} is {number(value, d)}. "
    try:
        low, high = (float(side) for side in estimate.interval(level))
    except StratError:
        return text + "There are no degrees of freedom, so that there is no interval."
    text += f"Its {percent(level)} interval runs from {number(low, d)} to {number(high, d)}"
    text += f", with a standard error of {number(se, d)}." if se > 0 else "; no variation was seen."
    return text + "\n\n" + _repeated(estimate, level)


def _repeated(estimate: Estimate, level: float) -> str:
    return (
        f"Were the evaluation repeated with other {_drawn(estimate)} drawn in the same way, about {100 * level:g} of "
        "100 such intervals would hold the true value. It is not a range in which "
        f"{percent(level)} of single results lie."
    )


def _many(estimate: Estimate, level: float) -> str:
    labels = [axis.name for axis in estimate.axes]
    values = estimate.point
    d = places(float(np.median(np.sqrt(estimate.variance))))
    measure = named(estimate) + of_class(estimate.positive)
    return (
        f"{measure} has {values.size:,} values, by {' and '.join(labels)}, from "
        f"{number(float(values.min()), d)} to {number(float(values.max()), d)}. An interval holds for one value that "
        "was chosen beforehand; the band holds for all of them at once, and is wider.\n\n" + _repeated(estimate, level)
    )


def _target(estimate: Estimate) -> str:
    if not estimate.target:
        return ""
    text = f"The target of inference is {estimate.target}."
    if estimate.design.stratified:
        text += f" About other {estimate.design.called('stratum')} it says nothing."
    if estimate.design.census:
        text += " About others of their kind it says nothing."
    return text


def _assumptions(estimate: Estimate) -> str:
    kind = kind_of(estimate)
    nouns = _nouns(estimate)
    text = f"Assumed: {_ASSUMED[kind].format(**nouns)}; " if kind else "Assumed: "
    text += _VARIES[default_method(estimate)].format(df=degrees(estimate), **nouns)
    how = f"over the replicates of {estimate.method}" if estimate.replicated else "in closed form (linearization)"
    return f"{text}. The variance was found {how}."


def _changes(estimate: Estimate) -> list[str]:
    if estimate.point.ndim:
        return [_more(estimate)]
    candidates = [_independence(estimate), _strata(estimate), _few(estimate), _edge(estimate), _more(estimate)]
    lines = [line for line in candidates if line]
    return ["What would change it:\n" + "\n".join(f"- {line}" for line in lines)]


def _independence(estimate: Estimate) -> str:
    kind, deff = kind_of(estimate), estimate.deff
    if not deff or not math.isfinite(deff):  # not known, or nothing can vary
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
        f"{deff:.2g}, so that these {estimate.rows:,.0f} rows carry as much information as "
        f"{float(np.asarray(estimate.effective_size)):,.0f} independent ones."
    )


def _strata(estimate: Estimate) -> str:
    if not estimate.design.stratified:
        return ""
    return (
        f"If the {estimate.design.called('stratum')} were themselves drawn from many, and the answer should hold for "
        "others too, they are the units; the interval would then be wider, as a rule by much."
    )


def _few(estimate: Estimate) -> str:
    if estimate.least_df >= FEW_DF:
        return ""
    return (
        f"With only {degrees(estimate)} the standard error is itself uncertain, and the "
        f"interval is wide for it; more {_drawn(estimate)} help more than more rows in them."
    )


def _edge(estimate: Estimate) -> str:
    if float(estimate.variance) > 0 or not np.isfinite(estimate.bounds).all():
        return ""
    return "Nothing varied, so that the limits are exact ones for the effective number of rows, not the value itself."


def _more(estimate: Estimate) -> str:
    return (
        f"Half the width needs about four times as many {_drawn(estimate)}"
        + (", not rows." if _of_units(estimate) else ".")
    )  # fmt: skip
