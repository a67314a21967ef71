"""Numbers as people read them in a sentence."""

from __future__ import annotations

from strat.text import number as number
from strat.text import places as places


def percent(level: float) -> str:
    """A confidence level.

    >>> percent(0.95)
    '95 %'
    """
    return f"{100 * level:g} %"


def capital(text: str) -> str:
    """`text` with its first letter large, the others as they are; a difference of two names stays as it is.

    >>> capital("macro F1"), capital("new − old")
    ('Macro F1', 'new − old')
    """
    return text if " − " in text else text[:1].upper() + text[1:]


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
