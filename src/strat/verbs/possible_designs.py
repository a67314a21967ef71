"""Designs that the data of a table suggest where names of columns say nothing: questions, each with a line to try."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from strat.base.limits import LIMITS
from strat.base.validate.columns import Array
from strat.verbs.hints import FEW, Suspect, correctness, suspects
from strat.verbs.roles import Roles, combined, constant_in
from strat.verbs.seen_column import DATES, ITEM, LABELS, NUMBERS, REPEAT, TEXT, TRUTHS, UNITS, WEIGHT, WHOLE, Seen
from strat.verbs.steps import Step

FEWEST_LEVELS = 3  # of a factor that may have been drawn
FILLED = 0.9  # share of the combinations of two factors that occur where they are crossed
FEWEST_REPLICATES = 8  # numbered columns of weights that look like replicate weights
UNLABELLED = 0.2  # share of rows without a label from which on labels look like a sample
FEWEST_LABELS = 10  # labelled rows that may be a sample of all
RELATED = 0.3  # correlation with the labels from which on a column looks like a proxy of them
_REPLICATE = re.compile(
    r"((?:w|wt|wgt|weight)?[-_ .]?(?:rep|repl|replicate|brr|fay|jk|jkn|jackknife|boot|bootstrap|bsw)"
    r"[-_ .]?(?:w|wt|wgt|weight)?s?[-_ .]?|pwgtp|wgtp)(\d+)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _View:
    """The columns, the roles that they seem to play, and what can be computed with these."""

    seen: Mapping[str, Seen]
    roles: Roles
    steps: Sequence[Step]
    files: tuple[str, ...]

    def free(self, *kinds: str, but: Sequence[str] = ()) -> list[Seen]:
        """Columns of these kinds, complete, with several levels, that play no role but one of `but`."""
        taken = {proposal.column for proposal in self.roles.proposals if proposal.role not in but}
        complete = [one for one in self.seen.values() if one.kind in kinds and not (one.codes < 0).any()]
        return [one for one in complete if one.levels > 1 and one.name not in taken]

    def line(self, verb: str | None, without: Sequence[str] = (), **added: object) -> str:
        """What to try: the first step of this verb (None: of any), or one that lacks a column, with other roles."""
        template = Step("", "evaluate", {"score": "COLUMN"})
        first = next((step for step in self.steps if verb in (None, step.verb)), template)
        kept = {role: value for role, value in first.roles.items() if role not in (*without, *added)}
        return self.whole(first.verb, kept | added)

    def whole(self, verb: str, roles: Mapping[str, object]) -> str:
        """A command, or a call where the rows are not in files."""
        step = Step("", verb, roles, self.files)
        return step.command or step.call


def possible_designs(
    seen: Mapping[str, Seen], roles: Roles, steps: Sequence[Step], files: tuple[str, ...], names: Sequence[str]
) -> list[str]:
    """Questions about the design that only the owner of the table can answer, each with a line to try.

    Parameters
    ----------
    seen, roles, steps, files
        The columns that were looked at, by name; the roles and steps that were proposed; the files as they were named.
    names
        All columns of the table, also those that were not looked at.
    """
    view = _View(seen, roles, steps, files)
    crossed = _crossed(view)
    tried = _repeats(view)
    taken = (*crossed, *([tried] if tried else []))
    questions = [_about_crossed(view, *crossed)] if crossed else []
    questions += [_about_repeats(view, tried)] if tried else []
    questions += [] if crossed else _units(view, taken)
    return [*questions, *_replicates(view, names), *_proxies(view)]


def _units(view: _View, taken: Sequence[str]) -> list[str]:
    """Columns whose levels may have been drawn: repeated labels, and whatever correctness clearly goes with."""
    if not view.steps:
        return []
    known = view.roles.units or view.roles.items
    free = [one for one in view.free(LABELS, TEXT, WHOLE, DATES) if one.name not in taken and _repeated(one)]
    if known is not None:  # what holds several of the known units may have been drawn before them
        free = [one for one in free if one.levels <= view.seen[known].levels / 2 and constant_in(one, view.seen[known])]
    clear = _clustered(view, free)
    drawn = [one for one in free if one.name in clear or (known is None and _like_names_of_units(one))]
    drawn = sorted(drawn, key=lambda one: -clear[one.name].ratio if one.name in clear else 0.0)
    return [_about_units(view, one, clear.get(one.name)) for one in drawn[:2]]


def _repeated(one: Seen) -> bool:
    """Whether it has more levels than fixed groups do, most of them with several rows."""
    sizes = np.bincount(one.codes, minlength=one.levels)
    return one.levels > FEW and 2 * one.levels <= len(one.codes) and 2 * int((sizes > 1).sum()) > one.levels


def _like_names_of_units(one: Seen) -> bool:
    """Whether its values are names; whole numbers count where the column is called what people call units or items."""
    return one.kind in (LABELS, TEXT) or (one.kind == WHOLE and one.called((*UNITS, *ITEM)))


def _clustered(view: _View, columns: Sequence[Seen]) -> dict[str, Suspect]:
    """The columns within whose levels correctness is clearly correlated, by name."""
    value = _value(view)
    if value is None:
        return {}
    keep = np.isfinite(value)
    if int(keep.sum()) < 2 * FEW or np.ptp(value[keep]) == 0:
        return {}
    coded = {one.name: (one.codes[keep], one.levels) for one in columns}
    return {suspect.name: suspect for suspect in suspects(coded, value[keep])}


def _value(view: _View) -> Array | None:
    """Whether the first prediction is right, or the per-row score; missing where either is."""
    roles = view.roles
    if roles.truth is not None and roles.predicted:
        return correctness([view.seen[roles.truth].column, view.seen[roles.predicted[0]].column], right=True)
    return correctness([view.seen[roles.right[0]].column], right=False) if roles.right else None


def _about_units(view: _View, one: Seen, suspect: Suspect | None) -> str:
    what = "the score" if view.roles.right else "correctness"
    related = "" if suspect is None else f"; {what} is correlated within them, icc {suspect.icc:.2f}"
    strata = None if view.roles.strata is None else view.seen[view.roles.strata]
    crossing = ["strata"] if strata is not None and not constant_in(strata, one) else []
    line = view.line(None, without=crossing, units=one.name)
    about = f"about {len(one.codes) / one.levels:.0f} rows each{related}"
    return f"the {one.levels:,} values of {one.name!r} may have been drawn ({about}); if so, try: {line}"


def _crossed(view: _View) -> tuple[str, ...]:
    """Two columns of which nearly every combination of levels occurs, once."""
    if view.roles.system is not None:
        return ()
    free = view.free(LABELS, TEXT, WHOLE, but=("units", "strata", "items"))
    free = [one for one in free if one.levels >= FEWEST_LEVELS and not one.called(REPEAT) and "," not in one.name]
    for a, b in combinations(free[: LIMITS.crossed_columns], 2):
        rows, cells = len(a.codes), a.levels * b.levels
        if FILLED * cells <= rows <= cells and combined(a, b) == rows:
            return a.name, b.name
    return ()


def _about_crossed(view: _View, a: str, b: str) -> str:
    line = view.line("evaluate", without=("units", "strata", "items"), crossed=(a, b))
    return f"both {a!r} and {b!r} may have been drawn (each pair of their values occurs once); if so, try: {line}"


def _repeats(view: _View) -> str | None:
    """The column of items that were tried several times, equally often, each try right or wrong."""
    roles = view.roles
    if roles.system is not None or len(roles.right) != 1 or not _right_or_wrong(view.seen[roles.right[0]]):
        return None
    if roles.items is not None:
        return roles.items
    named = [one for one in view.free(LABELS, TEXT, WHOLE, but=("units", "strata")) if one.called(ITEM)]
    tried = [one for one in named if _repeated(one) and len(set(np.bincount(one.codes).tolist())) == 1]
    return tried[0].name if tried else None


def _right_or_wrong(one: Seen) -> bool:
    return one.levels == 2 and {float(label) for label in one.labels.tolist()} == {0.0, 1.0}


def _about_repeats(view: _View, items: str) -> str:
    one = view.seen[items]
    tries = int(np.bincount(one.codes[one.codes >= 0]).min())
    wanted: dict[str, object] = {"score": view.roles.right[0], "items": items, "metrics": f"pass@{tries}"}
    strata = view.roles.strata
    wanted |= {"strata": strata} if strata not in (None, items) else {}
    line = view.whole("evaluate", wanted)
    return f"the rows of one {items!r} may be tries of it (at least {tries} of each); if so, try: {line}"


def _replicates(view: _View, names: Sequence[str]) -> Iterator[str]:
    """Numbered columns that are called replicates and hold weights."""
    series: dict[str, list[str]] = {}
    for name in names:
        match = _REPLICATE.fullmatch(name)
        if match is not None:
            series.setdefault(match[1], []).append(name)
    for prefix, columns in series.items():
        held = [view.seen[name] for name in columns if name in view.seen]
        if len(columns) >= FEWEST_REPLICATES and all(map(_like_weights, held)):
            yield _about_replicates(view, prefix, len(columns))


def _like_weights(one: Seen) -> bool:
    return one.kind in (NUMBERS, WHOLE) and one.levels > 2 and float(one.labels.min()) >= 0


def _about_replicates(view: _View, prefix: str, number: int) -> str:
    full = [one.name for one in view.seen.values() if one.called(WEIGHT) and not _REPLICATE.fullmatch(one.name)]
    weights = view.roles.weights or (full[0] if full else "COLUMN")
    design = {"weights": weights, "replicate_weights": prefix, "scale": round(1 / number, 6)}
    line = view.line("evaluate", without=("units", "strata", "items"), **design)
    return (
        f"the {number} columns '{prefix}…' may be replicate weights; if so, with the scale of your method (1/{number} "
        f"for BRR and the bootstrap), try: {line}"
    )


def _proxies(view: _View) -> list[str]:
    """A number in every row that goes with a label that some rows have."""
    if view.roles.predicted or view.roles.system is not None:
        return []
    for label in view.seen.values():
        known = label.codes >= 0
        sampled = FEWEST_LABELS <= int(known.sum()) <= (1 - UNLABELLED) * len(known)
        if not (label.numeric and sampled and label.levels >= 2) or label.called(WEIGHT):
            continue
        for one in view.free(NUMBERS, WHOLE, TRUTHS, but=("score", "predicted")):
            if one.name != label.name and _correlation(label, one) > RELATED:
                line = view.whole("evaluate", {"score": label.name, "proxy": one.name})
                some = f"{int(known.sum()):,} of {len(known):,} rows"
                about = f"{one.name!r} may stand in for {label.name!r}, which {some} have"
                return [f"{about}; if these rows were drawn at random, try: {line}"]
    return []


def _correlation(label: Seen, one: Seen) -> float:
    """Of two columns in the rows that have both; 0 where either is constant there."""
    both = (label.codes >= 0) & (one.codes >= 0)
    x, y = (np.asarray(column.labels, float)[column.codes[both]] for column in (label, one))
    return float(np.corrcoef(x, y)[0, 1]) if np.ptp(x) > 0 and np.ptp(y) > 0 else 0.0
