"""A leaderboard as columns and as plain values: systems, groups and measures one below the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from strat.base.limits import LIMITS
from strat.base.notes import records
from strat.measures.register import spelled
from strat.show.render import jsonable
from strat.verbs.groups import in_words

if TYPE_CHECKING:
    from strat.verbs.leaderboard import Leaderboard

ALL = "all"  # what the line of all rows is called among groups
FROM_BASELINE = ("difference", "difference_low", "difference_high")
OWN = (
    *("measure", "rows", "rank", "system", "score", "se", "low", "high", "pvalue", "adjusted"),
    *("behind", "behind_low", "behind_high", *FROM_BASELINE),
)
Columns = dict[str, list[Any]]


def all_columns(board: Leaderboard, most: int | None = None) -> Columns:
    """One line for each system, best first; in groups, and by measure, one below the other.

    Parts beyond the first `most` lines are not made: their ranks take draws of their own.
    """
    parts, lines = list[Columns](), 0
    for part in (part for one in (board, *board.others) for part in _with_groups(one)):
        parts.append(part)
        lines += len(next(iter(part.values())))
        if most is not None and lines >= most:
            break
    names = dict.fromkeys(name for part in parts for name in part)
    lengths = [len(next(iter(part.values()))) for part in parts]
    columns: Columns = {name: [] for name in names}
    for part, n in zip(parts, lengths, strict=True):
        for name in names:
            columns[name] += part.get(name, [None] * n)
    return columns if board.others else {k: v for k, v in columns.items() if k != "measure"}


def number_of_lines(board: Leaderboard) -> int:
    """How many lines all columns have."""
    own = (
        len(board.systems)
        if not board.by
        else (1 + len(board.each)) * (1 if len(board.systems) == 2 else len(board.systems))
    )
    return own + sum(map(number_of_lines, board.others))


def _with_groups(board: Leaderboard) -> Iterator[Columns]:
    """The columns of all rows, and of each group: of two systems a line with their difference."""
    whole = {"measure": board.measure or board.estimate.name}
    if not board.by:
        yield _repeated(whole, own_columns(board))
        return
    for label, one, rows in (
        (ALL, board, int(board.estimate.rows)),
        *((k, b, board.rows[k]) for k, b in board.each.items()),
    ):
        names = (label,) * len(board.by) if one is board or len(board.by) == 1 else label
        head = {_apart(by, board.systems): str(name) for by, name in zip(board.by, names, strict=True)}
        columns = _of_two(one) if len(board.systems) == 2 else own_columns(one)
        yield _repeated(whole | head | {"rows": rows}, columns)


def _of_two(board: Leaderboard) -> Columns:
    """One line: both systems and their difference, the first − the second."""
    pair = board.comparison
    low, high = pair.interval(board.level)
    values = {_apart(name, ()): [value] for name, value in zip(pair.names, pair.values, strict=True)}
    return values | {
        "difference": [pair.value], "se": [pair.se], "low": [low], "high": [high], "pvalue": [pair.pvalue]
    }  # fmt: skip


def own_columns(board: Leaderboard) -> Columns:
    """Rank, system, score and its limits, and the difference from the best one or from the baseline."""
    low, high = board.estimate.interval(board.level)
    first, last = board.many.ranks(board.level)
    return {
        "rank": [f"{a}" if a == b else f"{a}–{b}" for a, b in zip(first, last, strict=True)],
        "system": list(board.systems),
        "score": board.estimate.point.tolist(),
        "se": np.ravel(board.estimate.se).tolist(),
        "low": np.ravel(low).tolist(),
        "high": np.ravel(high).tolist(),
        **(_behind(board) if board.baseline is None else _from_baseline(board, board.baseline)),
    }


def _behind(board: Leaderboard) -> Columns:
    """System − best, with limits for all pairs at once."""
    pairs = board.many.between(range(len(board.systems)), [0])
    low, high = pairs.limits(board.many.critical(board.level))
    return {
        "behind": pairs.differences[:, 0].tolist(),
        "behind_low": low[:, 0].tolist(),
        "behind_high": high[:, 0].tolist(),
    }


def _from_baseline(board: Leaderboard, baseline: str) -> Columns:
    """System − baseline, with limits for all systems at once; nothing for the baseline itself."""
    columns = board.many.against(baseline, board.level)
    place = {system: k for k, system in enumerate(columns["system"])}
    taken = (*zip(FROM_BASELINE, ("difference", "low", "high"), strict=True), ("adjusted", "adjusted"))
    return {name: [columns[column][place[s]] if s in place else None for s in board.systems] for name, column in taken}


def header(board: Leaderboard, name: str) -> str:
    """What a table calls a column."""
    percent = f"{100 * board.level:g} %"
    two = bool(board.by) and len(board.systems) == 2
    difference = " − ".join(board.comparison.names) if two else f"− {board.baseline}"
    headers = {
        "low": f"{percent} low",
        "high": f"{percent} high",
        "behind_low": f"behind {percent} low",
        "behind_high": f"behind {percent} high",
        "difference": difference,
        "difference_low": f"{difference} {percent} low",
        "difference_high": f"{difference} {percent} high",
        "adjusted": "adjusted p",
        "pvalue": "p",
    }
    return headers.get(name, name)


def plain_data(board: Leaderboard) -> dict[str, Any]:
    """Everything as plain values, for JSON."""
    content: dict[str, Any] = {
        "level": board.level,
        "measure": spelled(board.measure or board.estimate.name),
        "asked": board.measure,
        "positive": board.positive,
        "design": board.estimate.design_text,
        "target": board.estimate.target,
        "critical": board.many.critical(board.level),
        "baseline": board.baseline,
        "leaderboard": _lines(own_columns(board)),
        "tied_with_best": board.tied,
        **_pairs_data(board),
        "notes": records(board.notes),
    }
    if len(board.systems) == 2:
        content["comparison"] = board.comparison.to_dict(board.level)
    else:
        content["winner"] = {**vars(board.winner()), "method": board.winner().method}
    if board.baseline is not None:
        content["against_baseline"] = _lines(board.against())
    if board.by:
        content["by"] = _groups_data(board)
    if board.others:
        further = {spelled(one.measure or one.estimate.name): plain_data(one) for one in board.others}
        content["further_measures"] = further
    plain: dict[str, Any] = jsonable(content)
    return plain


def _pairs_data(board: Leaderboard) -> dict[str, Any]:
    """The pairs of the first systems, and how many others there are."""
    pairs = _lines(board.pairs(first=LIMITS.paired_systems))
    left = math.comb(len(board.systems), 2) - len(pairs)
    return {"pairs": pairs, **({"pairs_left_out": left} if left else {})}


def _groups_data(board: Leaderboard) -> dict[str, Any]:
    groups = [
        {"group": label, "rows": board.rows[label], "leaderboard": _lines(own_columns(one))}
        | ({"comparison": one.comparison.to_dict(board.level)} if len(board.systems) == 2 else {})
        for label, one in board.each.items()
    ]
    content = {
        "columns": board.by,
        "groups": groups,
        "undefined": {in_words(k): v for k, v in board.undefined.items()},
    }
    return content | ({} if board.differences is None else {"differences": board.differences.data(board.level)})


def _apart(name: str, others: tuple[str, ...]) -> str:
    """A name of the user's that is no other column's."""
    return f"{name} " if name in (*OWN, *others) else name


def _repeated(head: Mapping[str, Any], columns: Mapping[str, list[Any]]) -> Columns:
    n = len(next(iter(columns.values())))
    return {name: [value] * n for name, value in head.items()} | dict(columns)


def _lines(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]
