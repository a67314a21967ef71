"""Speaker diarization: missed speech, false alarms and confusion of speakers over the time that was spoken.

The usual unit is the recording.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, one_of, some
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, same_length
from strat.measures.base import Statistic
from strat.measures.quotients import ratio_of_totals
from strat.measures.register import measure

Turn = tuple[float, float, Any]
PARTS = ("missed", "false_alarm", "confusion")


@checked
def diarization_errors(
    reference: Any, hypothesis: Any, *, collar: float = 0.0, skip_overlap: bool = False
) -> dict[str, Array]:
    """What each recording adds up, in seconds: missed, false alarm, confusion, and the total that was spoken.

    Speakers are matched one to one so that most time agrees, in each recording. The usual unit is the recording.

    Parameters
    ----------
    reference, hypothesis
        One list of (start, end, speaker) for each recording.
    collar
        Seconds on either side of every boundary of the reference that are not scored (0.25 in NIST's evaluations;
        pyannote.metrics takes both sides together, 0.5).
    skip_overlap
        Whether time with two or more speakers in the reference is left out; otherwise it counts for each.

    Examples
    --------
    >>> parts = diarization_errors([[(0, 10, "A"), (10, 14, "B")]], [[(0, 8, "x"), (8, 15, "y")]])
    >>> {name: seconds.tolist() for name, seconds in parts.items()}
    {'missed': [0.0], 'false_alarm': [1.0], 'confusion': [2.0], 'total': [14.0]}
    """
    if not (np.isfinite(collar) and collar >= 0):
        raise StratError.about("collar", f"must be a number of seconds from 0, got {collar:g}.")
    left, right = _recordings("reference", reference), _recordings("hypothesis", hypothesis)
    same_length(reference=left, hypothesis=right)
    parts = np.array([_parts(a, b, collar, skip_overlap) for a, b in zip(left, right, strict=True)])
    return dict(zip((*PARTS, "total"), parts.T, strict=True))


@measure(
    "der",
    needs=("reference turns", "turns"),
    at="collar",
    variants={f"der_{part}": {"part": part} for part in PARTS},
    unit="seconds per second",
    bounds=(0.0, np.inf),
    higher_is_better=False,
    files="turns",
)
@checked
def der(
    reference: Any, hypothesis: Any, *, collar: float = 0.0, skip_overlap: bool = False, part: str | None = None
) -> Statistic:
    """The diarization error rate: (missed + false alarm + confusion) / total speech, totals over totals.

    Each recording adds (seconds in error, seconds of speech). The usual unit is the recording.

    Parameters
    ----------
    reference, hypothesis, collar, skip_overlap
        As for `diarization_errors`.
    part
        "missed", "false_alarm" or "confusion" for that part of the rate alone; None: all three.

    Examples
    --------
    >>> turns = [[(0, 10, "A"), (10, 14, "B")]], [[(0, 8, "x"), (8, 15, "y")]]
    >>> float(der(*turns).value().round(6)), float(der(*turns, collar=1).value())
    (0.214286, 0.1)
    >>> [float(der(*turns, part=part).value().round(6)) for part in ("missed", "false_alarm", "confusion")]
    [0.0, 0.071429, 0.142857]
    """
    if part is not None:
        one_of("part", part, PARTS)
    errors = diarization_errors(reference, hypothesis, collar=collar, skip_overlap=skip_overlap)
    total = errors["total"]
    if not total.any():
        raise StratError.about("reference", "must hold some speech that is scored, got none in any recording.")
    seconds = sum((errors[one] for one in PARTS if part in (None, one)), np.zeros(len(total)))
    name = "diarization error rate" if part is None else f"{part.replace('_', ' ')} of speakers"
    return ratio_of_totals(name, seconds, total)


def _recordings(argument: str, recordings: Any) -> list[list[Turn]]:
    if not isinstance(recordings, Sequence) or isinstance(recordings, str | bytes) or not recordings:
        raise StratError.about(
            argument, f"must be a list of recordings, each a list of turns, got {some([recordings])}."
        )
    return [[_turn(argument, turn) for turn in _turns(argument, turns)] for turns in recordings]


def _turns(argument: str, turns: Any) -> list[Any]:
    if isinstance(turns, str | bytes) or not isinstance(turns, Sequence):
        raise StratError.about(
            argument, f"must be a list of (start, end, speaker) for each recording, got {some([turns])}."
        )
    return list(turns)


def _turn(argument: str, turn: Any) -> Turn:
    """One turn, if it has a beginning before its end."""
    try:
        start, end, speaker = turn
        start, end = float(start), float(end)
        hash(speaker)
    except (TypeError, ValueError, OverflowError):
        raise StratError.about(argument, f"must hold turns (start, end, speaker), got {some([turn])}.") from None
    if not (np.isfinite([start, end]).all() and start <= end):
        raise StratError.about(argument, f"must hold turns that end after they start, got {start:g} to {end:g}.")
    return start, end, speaker


def _parts(
    reference: list[Turn], hypothesis: list[Turn], collar: float, skip_overlap: bool
) -> tuple[float, float, float, float]:
    """Missed, false alarm, confusion and total seconds of one recording."""
    from scipy.optimize import linear_sum_assignment

    edges = np.unique([time for turn in reference for time in turn[:2]])
    others = [time for turn in hypothesis for time in turn[:2]]
    times = np.unique(np.concatenate([edges, edges - collar, edges + collar, others]))
    if len(times) < 2:
        return 0.0, 0.0, 0.0, 0.0
    ours, theirs = _active(reference, times), _active(hypothesis, times)
    n, m = ours.sum(axis=0), theirs.sum(axis=0)
    lengths = np.where(_near(times, edges, collar) | (skip_overlap & (n > 1)), 0.0, np.diff(times))
    together = (ours * lengths) @ theirs.T
    agreed = float(together[linear_sum_assignment(together, maximize=True)].sum()) if together.size else 0.0
    missed = float(lengths @ np.maximum(n - m, 0))
    false_alarm = float(lengths @ np.maximum(m - n, 0))
    return missed, false_alarm, float(lengths @ np.minimum(n, m)) - agreed, float(lengths @ n)


def _near(times: Array, edges: Array, collar: float) -> NDArray[np.bool_]:
    """Which pieces of time lie within the collar of a boundary."""
    middle = (times[1:] + times[:-1]) / 2.0
    after = np.searchsorted(edges, middle)
    padded = np.concatenate([[-np.inf], edges, [np.inf]])
    return np.minimum(middle - padded[after], padded[after + 1] - middle) < collar


def _active(turns: list[Turn], times: Array) -> Array:
    """Speakers × pieces of time: 1 where the speaker speaks."""
    speakers = {name: place for place, name in enumerate(dict.fromkeys(turn[2] for turn in turns))}
    active = np.zeros((len(speakers), len(times) - 1))
    for start, end, name in turns:
        first, last = np.searchsorted(times, [start, end])
        active[speakers[name], first:last] = 1.0
    return active
