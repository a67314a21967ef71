"""`gate`: may a candidate replace a baseline? Three answers by one-sided limits, for pipelines and for people."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from strat.base import validate
from strat.base.errors import StratError, near, one_of, some
from strat.base.notes import Note, merged
from strat.base.validate.arguments import checked, shown
from strat.base.validate.names import Names, listed
from strat.comparison.paired_result import Comparison
from strat.comparison.pilot import units_for
from strat.comparison.sequential import anytime_error
from strat.designs.facts import DesignFacts
from strat.designs.sampling import Sampling, sampling_of
from strat.estimation import Estimate
from strat.measures.register import AUTO
from strat.verbs.compare import compare
from strat.verbs.evaluate import evaluate
from strat.verbs.gate_result import NOT_WORSE, ON_UNSURE, UNSURE, GateCheck, GateResult
from strat.verbs.groups import in_words
from strat.verbs.leaderboard import Leaderboard
from strat.verbs.leaderboard_columns import ALL
from strat.verbs.metrics import Metrics, chosen, directed
from strat.verbs.stored_baseline import beside_candidate, is_baseline, read_baseline

POWER = 0.8  # with which an open check is to be settled
HAIR = 1e-9  # of a unit: rounding
Bound = float | Mapping[str, float]
Question = Callable[[float, float, float | None], GateCheck]  # of the two one-sided error rates, and planned units


@checked
def gate(
    source: Any,
    *,
    baseline: str | os.PathLike[str] | None = None,
    candidate: str | None = None,
    margin: float | Mapping[str, float] | None = None,
    floor: float | Mapping[str, float] | None = None,
    metrics: Metrics | None = None,
    by: str | Names | None = None,
    level: float = 0.95,
    unsure: str = "fail",
    anytime: int | None = None,
    truth: str | None = None,
    predicted: str | Names = (),
    score: str | Names = (),
    system: str | None = None,
    items: str | None = None,
    epoch: str | None = None,
    strata: str | None = None,
    units: str | None = None,
    clusters: str | None = None,
    weights: str | None = None,
    lone: str = "error",
    nested: bool = False,
    design: Sampling | None = None,
    positive: object = None,
    threshold: float | None = None,
    average: str | None = AUTO,
    higher_is_better: bool | None = None,
    name: str | Names | None = None,
    unmatched: str = "error",
    missing: str = "error",
    na: Names | None = None,
    failed: str = "error",
    incomplete: str = "error",
    runs: str = "error",
) -> GateResult:
    """Whether a candidate is not worse than a baseline: "not worse", "worse" or "can't tell".

    The candidate is worse if it loses more than the margin. "Not worse" and "worse" are each shown by a one-sided
    confidence limit of the paired difference, so each is wrong in at most 1 − `level` of gates; where neither is shown,
    the answer is "can't tell", with how many more units would settle it. With several measures or groups all must be
    shown to be not worse (which needs no correction), and one that is worse is enough (so that its limit is
    Bonferroni's, for all checks at once).

    Parameters
    ----------
    source
        Whatever :func:`compare` takes; with a stored baseline, the candidate's rows alone.
    baseline
        The system that must not be replaced by a worse one: its name, or a file that :func:`save_baseline` wrote.
        Without it there are floors only, and `source` holds one system.
    candidate
        The system in question; by default the only other one. In a wide table, `baseline` and `candidate` are columns,
        which `predicted` or `score` need not repeat.
    margin
        The largest loss that does not matter, in the unit of the measure, or a mapping from measure to it.
    floor
        What the candidate's own value must reach by its lower limit (for an error: must not pass by its upper limit),
        or a mapping from measure to it.
    metrics, by
        As for :func:`compare`: every measure is checked in all rows and in every group.
    level
        One-sided confidence level, above 0.5.
    unsure
        What "can't tell" does to the exit code: "fail" (4), "warn" or "pass" (0).
    anytime
        Where the gate is asked again and again while units arrive (every night, or until it is settled): the number of
        units that are planned. The limits are then those of a confidence sequence, which hold at every look at once.
    truth, predicted, score, system, items, epoch, strata, units, clusters, weights, lone, nested, design
        As for :func:`compare`.
    positive, threshold, average, higher_is_better, name, unmatched, missing, na, failed, incomplete, runs
        As for :func:`compare`.

    Returns
    -------
    GateResult
        With `.answer`, `.exit_code`, `.passed`, `.checks`, `.line`, `.to_markdown()`, `.to_json()`, `.to_frame()`.

    Examples
    --------
    The new system is right in 10 of 200 items more than the old one and never wrong where that is right: d̄ = 0.05, and
    Tango's score (0.05 − δ) / sqrt(δ (1 − δ) / 200) is 1.645, the one-sided critical value, at the lower limit 0.0301.

    >>> old = [1] * 150 + [0] * 50
    >>> new = [1] * 160 + [0] * 40
    >>> result = gate({"old": old, "new": new}, score=["old", "new"], baseline="old", margin=0.01)
    >>> result.answer, result.exit_code, round(result.checks[0].low, 4)
    ('not worse', 0, 0.0301)
    >>> gate({"old": old, "new": new}, score=["old", "new"], baseline="new", margin=0.01).answer
    'worse'
    """
    handed: dict[str, Any] = {
        "truth": truth, "predicted": listed("predicted", predicted), "score": listed("score", score),
        "system": system, "items": items, "epoch": epoch,
        "design": sampling_of(
            design, strata=strata, units=units, clusters=clusters, weights=weights, lone=lone, nested=nested
        ),
        "positive": positive, "threshold": threshold, "average": average, "higher_is_better": higher_is_better,
        "name": name, "unmatched": unmatched, "missing": missing, "na": na,
        "failed": failed, "incomplete": incomplete, "runs": runs,
    }  # fmt: skip
    one_of("unsure", unsure, ON_UNSURE)
    validate.share("level", level, low=0.5, open_ends=True, hint="it is one-sided; 0.95 means 95 %")
    if anytime is not None:
        validate.count("anytime", anytime, least=2)
    if baseline is None:
        questions, result, known = _alone(source, candidate, margin, floor, metrics, by, handed)
    else:
        largest_loss = _required(margin)
        asked = handed | {"level": round(2.0 * level - 1.0, 12)}  # two-sided, whose limits are those of the gate
        board = _board(source, baseline, candidate, metrics, by, asked)
        questions, result, known = _against(board, largest_loss, floor)
    checks = tuple(ask(1.0 - level, (1.0 - level) / len(questions), anytime) for ask in questions)
    notes = (*(note.named(known.nouns) for note in _of_checks(checks, level, anytime)), *result.notes)
    return replace(result, checks=checks, level=level, unsure=unsure, notes=notes, design=str(known))


# ---- the two systems


def _board(
    source: Any, baseline: str | os.PathLike[str], candidate: str | None, metrics: Any, by: Any, handed: dict[str, Any]
) -> Leaderboard:
    """The leaderboard of candidate and baseline."""
    asked: dict[str, Any] = dict(handed)
    named = os.fspath(baseline)
    if is_baseline(baseline):
        stored = read_baseline(baseline)
        source, named, candidate, asked = beside_candidate(stored, source, candidate, asked, by)
    elif Path(named).suffix == ".json" and len(asked["predicted"] or asked["score"]) == 1 and asked["system"] is None:
        raise StratError.about("baseline", f"must be a system, or a stored file that is there, got {named!r}.")
    elif candidate is not None and asked["truth"] is not None and not (asked["predicted"] or asked["score"]):
        asked["predicted"] = (named, candidate)
    pair = None if candidate is None else (candidate, named)
    if pair is not None and candidate == named:
        raise StratError.about("candidate", f"must be another system than `baseline`, got {candidate!r} for both.")
    board = compare(source, **asked, metrics=metrics, by=by, baseline=named, systems=pair)
    if len(board.systems) != 2:
        others = [s for s in board.systems if s != named]
        raise StratError.about(
            "candidate", f"must name one of the {len(others)} systems beside {named!r}: {some(others, 8)}."
        )
    return board


def _against(board: Leaderboard, margin: Bound, floor: Bound | None) -> tuple[list[Question], GateResult, DesignFacts]:
    """The questions of each measure, in all rows and in each group, with what they come from."""
    boards = board.boards
    margins = _bounds("margin", margin, list(boards))
    floors = {} if floor is None else _bounds("floor", floor, list(boards))
    for value in margins.values():
        validate.positive("margin", value)
    questions: list[Question] = []
    for measure, one in boards.items():
        for place, part in [(ALL, one), *((in_words(label), each) for label, each in one.each.items())]:
            if measure in margins:
                questions.append(_of_change(measure, place, part.comparison, margins[measure]))
            if measure in floors:
                own = part.estimate.at(part.comparison.names[0])
                higher = part.comparison.higher_is_better
                questions.append(_of_value(measure, place, own, floors[measure], higher_is_better=higher))
        questions += [_undefined(measure, in_words(label), why) for label, why in one.undefined.items()]
    candidate, named = board.comparison.names
    notes = tuple(dict.fromkeys(note for one in boards.values() for note in one.notes))
    return questions, GateResult(candidate, named, (), board.level, "fail", notes, boards), board.estimate.design


def _required(margin: Bound | None) -> Bound:
    """The margin, without which nothing is compared."""
    if margin is None:
        raise StratError.about(
            "margin", "must say how large a loss does not matter, got None; for example margin=0.01 (one point)."
        )
    return margin


def _bounds(argument: str, bound: Bound, measures: list[str]) -> dict[str, float]:
    """From measure to its bound."""
    if isinstance(bound, Mapping):
        for name in bound:
            if name not in measures:
                raise StratError.about(
                    argument, f"must be for measures that are asked for, got {shown(name)}; {near(str(name), measures)}"
                )
        if not bound:
            raise StratError.about(
                argument, "must be a number, or a mapping from measure to one, got an empty mapping."
            )
        return {name: _finite(argument, value) for name, value in bound.items()}
    return dict.fromkeys(measures, _finite(argument, bound))


def _finite(argument: str, value: object) -> float:
    number = validate.number(argument, value)
    if not abs(number) < 1e100:
        raise StratError.about(argument, f"must be a finite number, got {shown(value)}.")
    return number


# ---- floors alone


def _alone(
    source: Any, candidate: str | None, margin: Any, floor: Bound | None, metrics: Any, by: Any, handed: dict[str, Any]
) -> tuple[list[Question], GateResult, DesignFacts]:
    """The questions of one system without a baseline."""
    if floor is None:
        raise StratError.about("baseline", "must name a system or a stored file, got None, and no `floor` either.")
    if margin is not None:
        raise StratError.about("margin", f"must be left out without `baseline`, got {shown(margin)}.")
    asked, value = _of_one_system(handed)
    default = (
        "mean" if asked["truth"] is None else "auc" if asked["predicted"] is asked["threshold"] is None else "accuracy"
    )
    result = evaluate(source, **asked, metrics=default if metrics is None else metrics, by=by)
    roles = {role: name for role, name in result.roles.items() if role in ("truth", "predicted", "score", "items")}
    higher = handed["higher_is_better"]
    better = {m.word: directed(m, higher) for m in chosen(list(result.estimates), roles, decided=True)}
    questions: list[Question] = []
    for measure, bound in _bounds("floor", floor, list(result.estimates)).items():
        up = better[measure]
        questions.append(_of_value(measure, ALL, _one(result[measure]), bound, higher_is_better=up))
        groups = result.groups.get(measure)
        if groups is not None:
            questions += [
                _of_value(measure, in_words(label), _one(each), bound, higher_is_better=up)
                for label, each in groups.each.items()
            ]
            questions += [_undefined(measure, in_words(label), why) for label, why in groups.undefined.items()]
    name = candidate or value
    design = next(iter(result.estimates.values())).design
    return questions, GateResult(name, None, (), result.level, "fail", result.notes, {}), design


def _of_one_system(handed: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The arguments of :func:`evaluate`, and the column of the system."""
    asked: dict[str, Any] = dict(handed)
    for role in ("predicted", "score"):
        columns = asked[role]
        if len(columns) > 1:
            raise StratError.about(role, f"must name one column without `baseline`, got {some(columns)}.")
        asked[role] = columns[0] if columns else None
    for name in ("system", "epoch", "name"):
        if asked.pop(name) is not None:
            raise StratError.about(name, "must be left out without `baseline`: a floor alone is for one system.")
    del asked["higher_is_better"]
    asked["design"] = replace(asked["design"], items=asked.pop("items"))
    for name in ("unmatched", "failed", "incomplete", "runs"):
        if asked.pop(name) != "error":
            raise StratError.about(name, "must be left out without `baseline`: a floor alone is for one table.")
    return asked, asked["predicted"] or asked["score"] or "candidate"


def _one(estimate: Estimate) -> Estimate:
    if estimate.point.ndim:
        raise StratError.about(
            "metrics", f"must be single numbers for a gate, got {estimate.name} with a value per class."
        )
    return estimate


# ---- questions


def _of_change(measure: str, place: str, pair: Comparison, margin: float) -> Question:
    """Whether the candidate loses less than the margin."""
    higher = pair.higher_is_better
    bound = -margin if higher else margin

    def ask(alone: float, together: float, planned: float | None) -> GateCheck:
        alone, together = (_at_this_look(error, pair.difference, planned) for error in (alone, together))
        low, high = _limits(pair.interval, alone, together, higher_is_better=higher)
        check = GateCheck(
            measure, place, "margin", bound, pair.values[0], pair.values[1], pair.value, low, high, higher,
            _units(pair.difference),
        )  # fmt: skip
        if check.answer != UNSURE:
            return check
        worse = pair.value < bound if higher else pair.value > bound
        level = 1.0 - 2.0 * (together if worse else alone)
        needed = _needed(pair, abs(pair.value - bound), level)
        return replace(check, needed=needed, needed_if_equal=_needed(pair, margin, level))

    return ask


def _of_value(measure: str, place: str, value: Estimate, floor: float, *, higher_is_better: bool) -> Question:
    """Whether the candidate's own value reaches the floor."""

    def ask(alone: float, together: float, planned: float | None) -> GateCheck:
        point = float(value.value)
        alone, together = (_at_this_look(error, value, planned) for error in (alone, together))
        low, high = _limits(value.interval, alone, together, higher_is_better=higher_is_better)
        check = GateCheck(
            measure, place, "floor", floor, point, None, point, low, high, higher_is_better, _units(value),
            one_more=_with_one_more(value, higher_is_better=higher_is_better),
        )  # fmt: skip
        if check.answer != UNSURE:
            return check
        below = point < floor if higher_is_better else point > floor
        level = 1.0 - 2.0 * (together if below else alone)
        needed = _needed(value, abs(point - floor), level)
        if check.rests_on_one and check.units is not None and point != floor:
            each = check.units / float(np.asarray(value.effective_units))
            worst = floor if higher_is_better else 1.0 - floor
            needed = max(needed or 0, math.ceil(each * worst / abs(point - floor) - HAIR))
        return replace(check, needed=needed)

    return ask


def _with_one_more(value: Estimate, *, higher_is_better: bool) -> float | None:
    """A value between 0 and 1 with one more unit that fails altogether, beside the equal ones that it counts as."""
    if value.bounds != (0.0, 1.0):
        return None
    units = float(np.asarray(value.effective_units))
    part = 1.0 / (units + 1.0)
    return float(value.value) * (1.0 - part) + (0.0 if higher_is_better else part)


def _undefined(measure: str, place: str, reason: str) -> Question:
    def ask(alone: float, together: float, planned: float | None) -> GateCheck:
        return GateCheck(measure, place, "margin", 0.0, None, None, None, None, None, reason=reason)

    return ask


def _limits(
    interval: Callable[[float], tuple[Any, Any]], alone: float, together: float, *, higher_is_better: bool
) -> tuple[float, float]:
    """One-sided limits: on the worse side for this check alone, on the better side for all checks at once."""
    low = interval(1.0 - 2.0 * (alone if higher_is_better else together))[0]
    high = interval(1.0 - 2.0 * (together if higher_is_better else alone))[1]
    return float(low), float(high)


def _at_this_look(error: float, value: Estimate, planned: float | None) -> float:
    """The error rate at this look of limits that hold at every look, if these are wanted."""
    if planned is None:
        return error
    units = _units(value)
    if units is None:
        raise StratError.about("anytime", "must be left out where the number of units is not known.")
    return anytime_error(error, units=units, planned=planned)


def _units(value: Estimate) -> int | None:
    units = value.design.units
    return int(units) if 0 < units < 1e15 else None


def _needed(pilot: Comparison | Estimate, difference: float, level: float) -> int | None:
    """Units that show such a difference with the usual power; None where nothing can be planned."""
    try:
        return units_for(pilot, power=POWER, difference=difference, level=level).units
    except StratError:
        return None


def _of_checks(checks: Iterable[GateCheck], level: float, planned: int | None) -> list[Note]:
    """What a reader should know: how limits were set, which checks are open, and what would settle them."""
    asked = list(checks)
    notes = [_at(check, note) for check in asked if (note := _settling(check))][:4]
    for check in asked:
        if check.answer == UNSURE and check.lower:
            notes.append(_at(check, Note("gate-lower")))
        elif check.answer == NOT_WORSE and check.lower:
            notes.append(_at(check, Note("gate-within-margin")))
        if check.rests_on_one:
            notes.append(_at(check, Note("gate-one-more", {"value": check.one_more, "floor": check.bound})))
        if check.reason:
            notes.append(_at(check, Note("gate-undefined", {"why": check.reason})))
    facts = {"percent": 100 * level, "looks": planned, "checks": len(asked) if len(asked) > 1 else None}
    return [*merged(notes), Note("gate-limits", facts)]


def _settling(check: GateCheck) -> Note | None:
    """What would settle an open check."""
    if check.answer != UNSURE or check.units is None:
        return None
    more, equal = (
        None if needed is None else max(needed - check.units, 1) for needed in (check.needed, check.needed_if_equal)
    )
    if more is equal is None:
        return None
    case = "equal" if more is None else "difference" if equal is None else ""
    return Note("gate-settle", {"case": case, "power": POWER, "more": more, "equal": equal, "there": check.units})


def _at(check: GateCheck, note: Note) -> Note:
    """The note on the measure, and the group, of a check."""
    return note.of(metric=check.measure, **({} if check.group == ALL else {"group": check.group}))
