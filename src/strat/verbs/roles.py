"""Which column of a table seems to play which role, from its name and from what it holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from strat.data.cells import combine
from strat.verbs.hints import FEW, MOST_SYSTEMS, like_predictions
from strat.verbs.seen_column import (
    ITEM,
    LABELS,
    NUMBERS,
    PREDICTED,
    PROBABILITY,
    REPEAT,
    RIGHT,
    SAMPLED,
    STRATA,
    SYSTEM,
    TEXT,
    TRUTH,
    TRUTHS,
    UNITS,
    WEIGHT,
    WHOLE,
    Seen,
)

MOST_STRATA = 100  # levels of a column that may be strata
_NUMBERED = re.compile(r"[^\W\d]{0,4}[-_ ]?\d+")


@dataclass(frozen=True)
class Proposal:
    """A column in a role, why, and whether the choice is sure enough to act on it."""

    role: str
    column: str
    reason: str
    sure: bool = True


@dataclass(frozen=True)
class Roles:
    """The roles that columns seem to play.

    Attributes
    ----------
    truth, predicted, score, right
        True labels, predicted labels, probabilities or other scores of a class, and per-row
        scores such as 0/1 correctness.
    system, items, epoch
        What names the system in a long table, what was asked, and the number of a repeat.
    strata, units, weights
        The design.
    unmatched
        Whether some system lacks some items.
    proposals
        Each role with its reason.
    questions
        What only the owner of the table knows.
    """

    truth: str | None = None
    predicted: tuple[str, ...] = ()
    score: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    system: str | None = None
    items: str | None = None
    epoch: str | None = None
    strata: str | None = None
    units: str | None = None
    weights: str | None = None
    unmatched: bool = False
    proposals: tuple[Proposal, ...] = ()
    questions: tuple[str, ...] = ()


@dataclass
class _Choice:
    """The columns of a table while roles are given out."""

    seen: Sequence[Seen]
    taken: dict[str, Seen] = field(default_factory=dict)
    proposals: list[Proposal] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)

    def free(self) -> list[Seen]:
        return [one for one in self.seen if one.name not in self.taken]

    def rows(self) -> NDArray[np.bool_]:
        """The rows without missing values in the columns that have a role."""
        there = [one.codes >= 0 for one in self.taken.values()] or [np.ones(len(self.seen[0].codes), bool)]
        return np.asarray(np.all(there, axis=0))

    def give(self, role: str, one: Seen, reason: str, *, sure: bool = True) -> str:
        self.taken[one.name] = one
        self.proposals.append(Proposal(role, one.name, reason, sure))
        return one.name

    def named(self, words: Sequence[str], test: Callable[[Seen], bool], unlike: Iterable[str] = ()) -> list[Seen]:
        """Free columns called so, in the order of the words, that pass the test."""
        other = tuple(unlike)
        matching = [one for one in self.free() if one.called(words) and test(one) and not one.called(other)]
        return sorted(matching, key=lambda one: min(words.index(word) for word in one.words if word in words))


def propose(seen: Sequence[Seen]) -> Roles:
    """The roles that these columns seem to play."""
    choice = _Choice(seen)
    system = _system(choice)
    truth, predicted = _labels(choice)
    score, right = _scores(choice, truth, predicted)
    items, epoch, unmatched = _items(choice, system)
    strata, units = _design(choice, items)
    weights = _weights(choice)
    names = {"truth": truth, "system": system, "items": items, "epoch": epoch, "strata": strata, "units": units}
    return Roles(
        **names,
        predicted=predicted,
        score=score,
        right=right,
        weights=weights,
        unmatched=unmatched,
        proposals=tuple(choice.proposals),
        questions=tuple(choice.questions),
    )


def _system(choice: _Choice) -> str | None:
    def test(one: Seen) -> bool:
        return one.few and one.levels <= MOST_SYSTEMS and one.words[0].split("_")[0] in SYSTEM

    truths = choice.named(TRUTH, lambda one: one.few, PREDICTED)
    candidates = [one for one in choice.named(SYSTEM, test) if not any(like_labels(one, truth) for truth in truths)]
    if not candidates:
        return None
    return choice.give("system", candidates[0], f"its name, and {candidates[0].levels} levels")


def like_labels(one: Seen, truth: Seen) -> bool:
    """Whether a column holds labels of another: shared levels, and for numbers agreement beyond chance."""
    constant = one.called(PREDICTED) and one.levels == 1 and one.kind in (LABELS, TRUTHS, WHOLE)
    if one.name == truth.name or one.kind != truth.kind or not (one.few or constant):
        return False
    ours, theirs = set(one.labels.tolist()), set(truth.labels.tolist())
    shared = len(ours & theirs)
    if one.called(PREDICTED):
        return shared > 0
    if one.kind == LABELS:
        return 2 * shared >= len(ours | theirs) and shared > 1
    return ours <= theirs and not one.called((*RIGHT, *REPEAT, *WEIGHT)) and like_predictions(one.column, truth.column)


def _labels(choice: _Choice) -> tuple[str | None, tuple[str, ...]]:
    """The column of true labels, and those with labels like them."""
    truths = choice.named(TRUTH, lambda one: one.few, (*PREDICTED, *PROBABILITY))
    guesses = choice.named(PREDICTED, lambda one: one.few)
    if truths:
        # of several columns called so, the one that another one shares its labels with
        truth = next((one for one in truths if any(like_labels(other, one) for other in choice.free())), truths[0])
        choice.give("truth", truth, f"its name, and {truth.levels} labels")
    else:
        pair = _pair(guesses, choice.free())
        if pair is None:
            return None, ()
        truth, reason, sure = pair
        choice.give("truth", truth, reason, sure=sure)
        if not sure:
            choice.questions.append(f"which column holds the truth? {truth.name!r} was taken because it comes first")
    predicted = [one for one in choice.free() if like_labels(one, truth)]
    for one in predicted:
        why = "its name, and " if one.called(PREDICTED) else ""
        choice.give("predicted", one, f"{why}the labels of {truth.name!r}")
    return truth.name, tuple(one.name for one in predicted)


def _pair(guesses: Sequence[Seen], free: Sequence[Seen]) -> tuple[Seen, str, bool] | None:
    """A column that shares its labels with one that is called a prediction, or with any other column of text."""
    for guess in guesses:
        for one in free:
            if one not in guesses and one.few and like_labels(guess, one):
                return one, f"it has the labels of {guess.name!r}", True
    text = [one for one in free if one.kind == LABELS and one.few]
    for place, one in enumerate(text):
        other = next((other for other in text[place + 1 :] if like_labels(other, one)), None)
        if other is not None:
            return one, f"it shares its labels with {other.name!r}", False
    return None


def _scores(choice: _Choice, truth: str | None, predicted: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Scores of a class where there are two, and columns of per-row scores such as 0/1 correctness."""
    score: list[str] = []
    if truth is not None and choice.taken[truth].levels == 2:
        for one in choice.named(PROBABILITY, lambda one: one.kind in (NUMBERS, WHOLE) and one.levels > 2):
            score.append(choice.give("score", one, "its name, and numbers" + _within(one)))
        for one in choice.free():
            if not score and one.kind == NUMBERS and _within(one) and one.levels > 10:
                score.append(choice.give("score", one, "numbers from 0 to 1", sure=False))
    if truth is not None and (predicted or score):
        return tuple(score), ()
    right = choice.named(RIGHT, lambda one: one.numeric)
    kinds = {one.levels == 2 for one in right}
    right = right if len(kinds) == 1 else right[:1]
    what = "its name, and {}"
    for one in right:
        choice.give("score", one, what.format("truth values" if one.kind == TRUTHS else f"numbers{_within(one)}"))
    return (), tuple(one.name for one in right)


def _within(one: Seen) -> str:
    inside = one.levels and float(one.labels.min()) >= 0 and float(one.labels.max()) <= 1
    return " from 0 to 1" if inside else ""


def _items(choice: _Choice, system: str | None) -> tuple[str | None, str | None, bool]:
    """What was asked, the number of the repeat, and whether some system lacks some items."""
    kinds = (LABELS, TEXT, WHOLE)
    free = [one for one in choice.free() if one.kind in kinds and one.levels > 1 and not (one.codes < 0).any()]
    repeats = [one for one in free if one.called(REPEAT) and one.kind == WHOLE]
    free = sorted((one for one in free if one not in repeats), key=lambda one: (not one.called(ITEM), -one.levels))
    if system is None:
        return _tried(choice, free, repeats), None, False
    return _answered(choice, system, free, repeats)


def _tried(choice: _Choice, free: Sequence[Seen], repeats: Sequence[Seen]) -> str | None:
    """What one system was asked several times, if the rows of each item are numbered."""
    if not repeats:
        return None
    tried = [one for one in free if one.called(ITEM) and once([one, repeats[0]]) and not once([one])]
    if not tried:
        return None
    return choice.give("items", tried[0], f"its name; each has several rows, numbered by {repeats[0].name!r}")


def _answered(
    choice: _Choice, system: str, free: Sequence[Seen], repeats: Sequence[Seen]
) -> tuple[str | None, str | None, bool]:
    """What each system was asked once (in each repeat, if it is repeated), the repeat, and whether some lacks some."""
    who = choice.taken[system]
    for one in free:
        common, complete = _crossed(one, who, choice.rows())
        for epoch in ([], *([repeat] for repeat in repeats)):
            if common > 1 and once([one, who, *epoch]):
                choice.give("items", one, f"each occurs once for each {system!r}" + (" and repeat" if epoch else ""))
                for repeat in epoch:
                    choice.give("epoch", repeat, "its name; it numbers the rows of an item")
                return one.name, epoch[0].name if epoch else None, not complete
    choice.questions.append(
        f"which column names the item? None was found whose every level occurs once for each {system!r}; without it, "
        "keep the rows of one system"
    )
    return None, None, False


def once(columns: Sequence[Seen]) -> bool:
    """Whether no two rows share their levels of all these columns."""
    return combined(*columns) == len(columns[0].codes)


def combined(*columns: Seen) -> int:
    """How many combinations of levels occur."""
    return combine([one.codes for one in columns], [one.levels for one in columns])[1]


def _crossed(item: Seen, system: Seen, rows: NDArray[np.bool_]) -> tuple[int, bool]:
    """How many items all systems have in these rows, and whether these are all."""
    there = np.zeros((item.levels, system.levels), bool)
    there[item.codes[rows], system.codes[rows]] = True
    common = int(there.all(axis=1).sum())
    return common, common == item.levels


def constant_in(one: Seen, other: Seen) -> bool:
    """Whether every level of `other` lies in one level of `one`."""
    return combined(one, other) == other.levels


def _design(choice: _Choice, items: str | None) -> tuple[str | None, str | None]:
    """Fixed groups, and what was drawn."""
    item = None if items is None else choice.taken[items]
    kinds = (LABELS, WHOLE)
    free = [one for one in choice.free() if one.kind in kinds and one.levels > 1 and not (one.codes < 0).any()]
    if item is not None:  # of an item, the design must be the same in every row
        free = [one for one in free if constant_in(one, item)]
    drawn = [one for one in free if one.called(UNITS) and not _groups(one) and _several(one, item)]
    coarse = [one for one in drawn if one.called(STRATA) and one.levels <= FEW and _holds(one, drawn)]
    drawn = [one for one in drawn if one not in coarse]
    units = min(drawn, key=lambda one: one.levels) if drawn else None
    if units is not None:
        choice.give("units", units, f"its name; {units.levels:,} levels with several rows each, so they were drawn")
    groups = [one for one in free if one in coarse or (one is not units and _groups(one))]
    groups = _not_crossing(choice, [one for one in groups if _enough(one, units or item, choice.rows())], units)
    for one in groups[1:]:
        choice.questions.append(f"{one.name!r} may be strata, too; only one column can be")
    if not groups:
        return None, None if units is None else units.name
    reason = f"its name; {groups[0].levels} levels that cover every row, so they are fixed groups"
    return choice.give("strata", groups[0], reason, sure=groups[0] not in coarse), None if units is None else units.name


def _not_crossing(choice: _Choice, groups: Sequence[Seen], units: Seen | None) -> list[Seen]:
    """The groups that hold whole units; about the others there is a question."""
    if units is None:
        return list(groups)
    crossing = [one for one in groups if not constant_in(one, units)]
    for one in crossing:
        choice.questions.append(
            f"{one.name!r} is no stratum of {units.name!r}, whose levels lie in several of it; if they mean other ones "
            f"in each, add strata={one.name!r} and `nested`"
        )
    return [one for one in groups if one not in crossing]


def _groups(one: Seen) -> bool:
    """Whether a column names fixed groups: a subject of a benchmark is one, a numbered subject is a person."""
    if not one.called(STRATA) or not 2 <= one.levels <= MOST_STRATA or one.levels > len(one.column) // 4:
        return False
    if not one.called(UNITS):
        return True
    return one.kind == LABELS and not all(_NUMBERED.fullmatch(str(label)) for label in one.labels.tolist())


def _holds(one: Seen, others: Sequence[Seen]) -> bool:
    """Whether the levels of another column lie within its own."""
    return any(other.levels > one.levels and constant_in(one, other) for other in others if other is not one)


def _several(one: Seen, item: Seen | None) -> bool:
    """Whether its levels hold several rows, or several items."""
    return one.levels <= 0.9 * (len(one.column) if item is None else item.levels)


def _enough(one: Seen, drawn: Seen | None, rows: NDArray[np.bool_]) -> bool:
    """Whether each level has two units at least, so that it has a variance."""
    group = one.codes[rows]
    if drawn is not None:
        pairs = np.unique(group * drawn.levels + drawn.codes[rows])
        group = pairs // drawn.levels
    return int(np.bincount(group, minlength=one.levels).min()) > 1


def _weights(choice: _Choice) -> str | None:
    for one in choice.named(WEIGHT, lambda one: one.kind in (NUMBERS, WHOLE) and float(one.labels.min()) >= 0):
        if one.called(SAMPLED) and not (one.codes < 0).any():
            return choice.give("weights", one, "its name, and numbers that are not negative")
        choice.questions.append(
            f"does {one.name!r} say how many rows of the population each row stands for? Then add weights={one.name!r} "
            f"(command line: --weights {one.name})"
        )
    return None
