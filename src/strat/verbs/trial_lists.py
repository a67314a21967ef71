"""Tables that are lists of comparisons, two images or two people in each row: `strat recognize` is for these.

Apart from `roles`: such a table has two columns of identifiers, and no role of `evaluate` fits both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from strat.base.text import counted
from strat.recognition.trial_columns import NO, ROLES, YES
from strat.verbs.roles import Proposal, Roles
from strat.verbs.seen_column import LABELS, NUMBERS, TEXT, TRUTH, WHOLE, Seen
from strat.verbs.steps import Step, TrialStep

FEWEST = 5  # images or people on either side
MOST_SCORES = 3  # columns that are proposed, each as a system
READABLE = (".csv", ".tsv", ".txt", ".parquet")
SIDES = {
    "probe": ("probe", "test", "query", "verification", "verif"),
    "gallery": ("gallery", "enrol", "enroll", "enrolment", "enrollment", "reference", "model"),
}
FIRST_OF_TWO = re.compile(r"(.*?)[ _.-]?(1|a|left|first)", re.IGNORECASE)
SECOND_OF_TWO = re.compile(r"(.*?)[ _.-]?(2|b|right|second)", re.IGNORECASE)


def trial_steps(seen: Mapping[str, Seen], files: tuple[str, ...]) -> list[Step]:
    """What to do with a list of comparisons; nothing if the table is none."""
    columns = list(seen.values())
    pairs = list(_pairs(columns))
    label = next((one for one in columns if _is_label(one) and one.called((*TRUTH, *ROLES["label"]))), None)
    label = label or next(filter(_is_label, columns), None)
    used = {one.name for pair in pairs for one in pair} | ({label.name} if label else set())
    scores = [one for one in columns if one.kind == NUMBERS and one.levels > 2 and one.name not in used]
    scores = [one for one in scores if one.called(ROLES["score"])] or scores
    people = next(((a, b) for a, b in pairs if _people(a, b, label)), None)
    images = next((pair for pair in pairs if pair != people), None)
    if not scores or (people is None and (images is None or label is None)):
        return []
    roles = {} if label is None else {"label": label.name}
    sides = images if people is None else people
    assert sides is not None
    roles |= {f"{side}_subject" if people else side: one.name for side, one in zip(SIDES, sides, strict=True)}
    each = "" if len(scores) == 1 else " of {!r}"
    readable = len(files) == 1 and Path(files[0]).suffix.lower() in READABLE
    return [
        TrialStep(
            f"error rates{each.format(one.name)} with subjects on both sides",
            "recognize",
            {**roles, "score": one.name},
            files if readable else (),
            distance=one.called(("distance", "dist")),
        )
        for one in scores[:MOST_SCORES]
    ]


def trial_roles(steps: Iterable[Step], seen: Mapping[str, Seen]) -> Roles:
    """The roles that columns play in these comparisons, in place of those of rows that stand for themselves."""
    columns = {column: role for step in steps for role, column in step.roles.items()}
    return Roles(
        proposals=tuple(
            Proposal(role, column, f"its name, and {counted(seen[column].levels, 'level')}")
            for column, role in columns.items()
        )
    )


def _pairs(columns: list[Seen]) -> Iterable[tuple[Seen, Seen]]:
    """Columns of identifiers of both sides, by their names: the probe's and the gallery's."""
    ids = [one for one in columns if one.kind in (LABELS, TEXT, WHOLE) and one.levels >= FEWEST]
    left: list[tuple[str, Seen]] = []
    right: list[tuple[str, Seen]] = []
    for one in ids:
        for side, named in zip(SIDES, (left, right), strict=True):
            if one.name.lower() in (*ROLES[side], *ROLES[f"{side}_subject"]) or one.called(SIDES[side]):
                named.append((re.sub("|".join(SIDES[side]), "", one.name.lower()), one))
        for pattern, named in ((FIRST_OF_TWO, left), (SECOND_OF_TWO, right)):
            match = pattern.fullmatch(one.name)
            if match is not None and match[1]:
                named.append((match[1].lower(), one))
    alike = [(a, b) for rest, a in left for other, b in right if rest == other and a is not b]
    others = [(a, b) for _, a in left for _, b in right if a is not b]
    kept = dict.fromkeys((a.name, b.name) for a, b in [*alike, *others] if a.kind == b.kind)
    by_name = {one.name: one for one in ids}
    return [(by_name[a], by_name[b]) for a, b in kept]


def _is_label(one: Seen) -> bool:
    """Whether it says in usual words, or as 1 and 0, which comparisons are mated."""
    words = {str(label).lower() for label in one.labels.tolist()}
    return len(words) == 2 and len(words & set(YES)) == len(words & set(NO)) == 1


def _people(a: Seen, b: Seen, label: Seen | None) -> bool:
    """Whether both columns name people: they agree in just the rows that the label calls mated, or in some."""
    same = _values(a) == _values(b)
    if label is None:
        return bool(same.any()) and not same.all()
    mated = np.isin(np.char.lower(_values(label)), YES)
    return bool(mated.any()) and np.array_equal(same, mated)


def _values(one: Seen) -> NDArray[np.str_]:
    return np.asarray(one.labels).astype(str)[one.codes]
