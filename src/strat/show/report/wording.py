"""Numbers as people read them in a sentence."""

from __future__ import annotations

from strat.base.text import number as number
from strat.base.text import places as places
from strat.estimation import Estimate


def percent(level: float) -> str:
    """A confidence level.

    >>> percent(0.95)
    '95 %'
    """
    return f"{100 * level:g} %"


def capital(text: str) -> str:
    """`text` with its first letter large, the others as they are.

    >>> capital("macro F1")
    'Macro F1'
    """
    return text[:1].upper() + text[1:]


def named(estimate: Estimate) -> str:
    """The name of an estimate at the start of a sentence; one that somebody gave it stays as it is.

    >>> import strat
    >>> both = strat.stack("system", old=strat.mean([0, 1, 1]), new=strat.mean([1, 0, 1]))
    >>> both = strat.estimate(both, on=strat.Design.simple_random(n=3))
    >>> named(both), named(both.map(lambda v: v[..., 1] - v[..., 0], name="new − old"))
    ('Mean', 'new − old')
    """
    return estimate.name if estimate.measure.own_name else capital(estimate.name)


def stop(text: str) -> str:
    """`text` with a full stop at the end; its first word may be somebody's label and stays as it is."""
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…")) or not text else f"{text}."


def held(text: str) -> str:
    r"""`text` with no line break between a number and its per cent sign.

    >>> held("95 % of")
    '95\xa0% of'
    """
    return text.replace(" %", "\N{NO-BREAK SPACE}%")
