"""Notes that results carry: a sentence for people, with a code for programs. Every note of the library is made here."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

OF_THE_DESIGN = (
    "collapsed-strata",
    "crossed-components",
    "few-levels",
    "fixed-kinds",
    "negative-correlation",
    "period",
    "trend",
)
FEW_DF = 10  # degrees of freedom below which a standard error is itself uncertain


class Note(str):
    """What a reader should know beside a number: its text, and a code that stays the same when the text changes.

    Examples
    --------
    >>> note = Note("few-units", "errors occur in only 3 of 60 clusters (effective number 2.1).")
    >>> print(note.code, "|", note)
    few-units | errors occur in only 3 of 60 clusters (effective number 2.1).
    """

    __slots__ = ("code",)
    code: str

    def __new__(cls, code: str, text: str) -> Note:
        """A note of that code."""
        note = super().__new__(cls, text)
        note.code = code
        return note

    def to_dict(self) -> dict[str, str]:
        """The code and the text."""
        return {"code": self.code, "text": str(self)}

    def __getnewargs__(self) -> tuple[Any, ...]:
        """What a copy is made from."""
        return self.code, str(self)


def codes_of(notes: Iterable[str]) -> set[str]:
    """The codes of notes."""
    return {note.code for note in notes if isinstance(note, Note)}


def once(notes: Iterable[str], codes: Container[str] = OF_THE_DESIGN) -> tuple[str, ...]:
    """Each note once; of those with these codes, by default about how the data was drawn, only the first.

    >>> once([Note("trend", "drifts by 2"), Note("few-df", "few units"), Note("trend", "drifts by 3")])
    ('drifts by 2', 'few units')
    """
    kept: dict[str, str] = {}
    for note in notes:
        code = note.code if isinstance(note, Note) else ""
        kept.setdefault(code if code in codes else note, note)
    return tuple(kept.values())


def records(notes: Iterable[str]) -> list[dict[str, str]]:
    """Code and text of each note, once, for JSON; a sentence that is no note has the code "remark".

    >>> records([Note("few-df", "few units"), Note("few-df", "few units")])
    [{'code': 'few-df', 'text': 'few units'}]
    """
    each = (note.to_dict() if isinstance(note, Note) else {"code": "remark", "text": note} for note in notes)
    return list({(one["code"], one["text"]): one for one in each}.values())


def no_variation(number: int, of: int, *, limited: bool) -> Note:
    """That so many values have a standard error of zero though something was not seen.

    >>> print(no_variation(1, 1, limited=True))
    nothing varied in the value between units: the limits allow for what these units do not show
    """
    which = "the value" if of == 1 else f"{number} of {of} values"
    allowed = "the limits allow for what these units do not show"
    text = allowed if limited else "the interval is a point, which is not evidence of certainty"
    return Note("no-variation", f"nothing varied in {which} between units: {text}")
