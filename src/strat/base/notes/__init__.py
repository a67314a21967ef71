"""Notes that results carry: a code and facts for programs, and a sentence for people that is made when it is read.

The sentences stand in `source`, `design`, `measures` and `values`, by what a note is about, and are imported only when
somebody wants one.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

IN_NO_GROUP = ("metric", "system", "pair", "figure", "file")  # axes of what a note is on, not of groups that it is in
OF_THE_DESIGN = (
    "collapsed-strata",
    "crossed-components",
    "few-levels",
    "fixed-kinds",
    "negative-correlation",
    "period",
    "strata-are-classes",
    "trend",
)
OF_INTERVALS = (
    "few-holders",
    "few-of-class",
    "few-units",
    "heavy-units",
    "no-variation",
    "one-outcome",
    "two-kinds",
)  # said once of several intervals, with the figures of the first
FEW_DF = 10  # degrees of freedom below which a standard error is itself uncertain
RETIRED: frozenset[str] = frozenset()  # codes that were in a release and are no more: never used again
LISTED = 100  # values of a fact in JSON
NOTHING: Mapping[str, Any] = MappingProxyType({})
_COMMAND_LINE = ContextVar("notes are read on the command line", default=False)


class Note(str):
    """What a reader should know beside a number: a code that stays the same, facts, and the labels that it concerns.

    Parameters
    ----------
    code
        The kind of note, by which `strat.base.notes.kinds` has its sentences.
    facts
        What the sentences speak of: numbers, words, and tuples of these.
    at
        The labels of the values that it concerns, by axis; none: the whole result.
    nouns
        The columns that name what was sampled, by what these are in a design: {"unit": "patient_id"}.

    Examples
    --------
    >>> facts = {"held": 3, "of": 60, "effective": 2.1}
    >>> note = Note("few-holders", facts, nouns={"unit": "patient_id"})
    >>> print(note.of(metric="f1"))
    f1: Only 3 of 60 patients hold the rarer outcome (effective number 2.1). The interval may be too short.
    """

    __slots__ = ("at", "code", "facts", "nouns")
    code: str
    facts: Mapping[str, Any]
    at: Mapping[str, tuple[Any, ...]]
    nouns: Mapping[str, str]

    def __new__(
        cls,
        code: str,
        facts: Mapping[str, Any] = NOTHING,
        at: Mapping[str, tuple[Any, ...]] = NOTHING,
        nouns: Mapping[str, str] = NOTHING,
    ) -> Note:
        """A note of that code."""
        note = super().__new__(cls, _sentence(code, facts, at, nouns, command_line=_COMMAND_LINE.get()))
        note.code, note.facts, note.at, note.nouns = code, facts, at, nouns
        return note

    @property
    def paragraph(self) -> str:
        """What was seen, what it does to the number, and what to type, in the words of the place where it is read."""
        place = _COMMAND_LINE.get()
        return _sentence(self.code, self.facts, self.at, self.nouns, command_line=place, whole=True)

    @property
    def key(self) -> tuple[Any, ...]:
        """What two notes have in common that say the same at different labels."""
        return self.code, *self.facts.items()

    def of(self, **labels: Any) -> Note:
        """The same of the values at these labels only: a label, or a tuple of them, by axis."""
        at = {axis: one if isinstance(one, tuple) else (one,) for axis, one in labels.items()}
        return Note(self.code, self.facts, {**at, **self.at}, self.nouns)

    def named(self, nouns: Mapping[str, str]) -> Note:
        """The same in the nouns of these columns, unless it has some."""
        return self if self.nouns or not nouns else Note(self.code, self.facts, self.at, nouns)

    def to_dict(self) -> dict[str, Any]:
        """The code, the text as Python's users read it, the facts and the labels, for JSON.

        Of more than a hundred values of a fact the others are counted.
        """
        facts = {name: _plain(fact) for name, fact in self.facts.items()}
        text = _sentence(self.code, self.facts, self.at, self.nouns, command_line=False)
        at = {axis: [str(label) for label in labels] for axis, labels in self.at.items()}
        return {"code": self.code, "text": text, "facts": facts, "at": at}

    def __reduce__(self) -> tuple[Any, ...]:
        """What a copy is made from."""
        return Note, (self.code, dict(self.facts), dict(self.at), dict(self.nouns))


def _sentence(
    code: str,
    facts: Mapping[str, Any],
    at: Mapping[str, tuple[Any, ...]],
    nouns: Mapping[str, str],
    *,
    command_line: bool,
    whole: bool = False,
) -> str:
    """The line of a note, or its `whole` paragraph."""
    from strat.base.notes import sentences

    wording = sentences.paragraph if whole else sentences.sentence
    return wording(code, facts, at, nouns, command_line=command_line)


def _plain(fact: Any) -> Any:
    """A fact as JSON has it.

    >>> _plain((1, "a", float("inf"))), _plain(tuple(range(120)))[99:]
    ([1, 'a', 'inf'], [99, '… 20 more'])
    """
    if isinstance(fact, tuple | list):
        rest = [f"… {len(fact) - LISTED} more"] if len(fact) > LISTED else []
        return [_plain(one) for one in fact[:LISTED]] + rest
    value = fact.item() if hasattr(fact, "item") else fact
    finite = not isinstance(value, float) or abs(value) < float("inf")
    return value if finite and isinstance(value, str | int | float | bool | None) else str(value)


def read_on_command_line() -> bool:
    """Whether what is said is read on the command line, where nothing of Python can be typed."""
    return _COMMAND_LINE.get()


@contextmanager
def on_command_line() -> Iterator[None]:
    """Within it notes tell what to type on the command line, not in Python."""
    token = _COMMAND_LINE.set(True)
    try:
        yield
    finally:
        _COMMAND_LINE.reset(token)


def codes_of(notes: Iterable[str]) -> set[str]:
    """The codes of notes."""
    return {note.code for note in notes if isinstance(note, Note)}


def once(notes: Iterable[Note], codes: Container[str] = OF_THE_DESIGN) -> tuple[Note, ...]:
    """Each note once; of those with these codes, by default about how the data was drawn, only the first.

    >>> here, there = Note("trend", {"several": None}), Note("trend", {"several": 2})
    >>> once([here, Note("gate-within-margin"), there])[1:]
    ('The candidate is lower, by less than the margin.',)
    """
    kept: dict[str, Note] = {}
    for note in notes:
        kept.setdefault(note.code if note.code in codes else note, note)
    return tuple(kept.values())


def merged(notes: Iterable[Note], codes: Container[str] = ()) -> tuple[Note, ...]:
    """Notes that say the same at several labels of their last axis as one; of these codes, whatever their figures.

    The figures are those of the first.

    >>> note = Note("few-holders", {"held": 3, "of": 60, "effective": 2.1})
    >>> for one in merged([note.of(metric="f1", site="a"), note.of(metric="f1", site="b")]):
    ...     print(one)
    f1 in site a: Only 3 of 60 clusters hold the rarer outcome (effective number 2.1). The interval may be too short.
    Likewise in 1 other site.
    """
    kept: dict[tuple[Any, ...], Note] = {}
    for note in notes:
        *others, axis = note.at or ("",)
        same = (note.code,) if note.code in codes else note.key
        key = (same, *((other, note.at[other]) for other in others), axis)
        first = kept.setdefault(key, note)
        if axis:
            labels = dict.fromkeys((*first.at[axis], *note.at[axis]))
            kept[key] = Note(note.code, first.facts, {**first.at, axis: tuple(labels)}, first.nouns)
    return tuple(kept.values())


def of_each(axis: str, named: Mapping[Any, Sequence[Note]], codes: Container[str] = OF_INTERVALS) -> tuple[Note, ...]:
    """The notes on several, by label: what all have in common once and without a label, these codes once.

    >>> one, other = Note("gate-lower"), Note("drawn-again", {"seed": 1})
    >>> print(*of_each("metric", {"f1": [one, other], "recall": [one]}), sep="; ")
    The candidate is shown to be lower, but not by more than the margin.; f1: The seed 1 gives the same sample again.
    """
    shared = set.intersection(*(set(notes) for notes in named.values())) if named else set()
    own = [note.of(**{axis: label}) for label, notes in named.items() for note in notes if note not in shared]
    common = dict.fromkeys(note for notes in named.values() for note in notes if note in shared)
    return (*common, *merged(own, codes))


def records(notes: Iterable[str]) -> list[dict[str, Any]]:
    """Code, text, facts and labels of each note, once, for JSON; a sentence that is no note has the code "remark".

    >>> records([Note("gate-within-margin"), Note("gate-within-margin")])
    [{'code': 'gate-within-margin', 'text': 'The candidate is lower, by less than the margin.', 'facts': {}, 'at': {}}]
    """
    remark = {"code": "remark", "facts": {}, "at": {}}
    each = (note.to_dict() if isinstance(note, Note) else {**remark, "text": note} for note in notes)
    return list({(one["code"], one["text"]): one for one in each}.values())
