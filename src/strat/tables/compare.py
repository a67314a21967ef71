"""`compare`: systems on the same items, paired by item, with differences that know how the items were drawn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.columns import Array, Codes, encode
from strat.comparison.many import ManySystems
from strat.designs import LONE, Design
from strat.doors import checked, shown
from strat.errors import StratError, near, one_of, some
from strat.estimation import Estimate, estimate
from strat.statistics import Axis, mean
from strat.tables import out
from strat.tables.frames import Column
from strat.tables.hints import traps
from strat.tables.limits import possible
from strat.tables.logs import ItemTable, read_logs, read_long
from strat.tables.logs.clusters import looks_clustered
from strat.tables.out import Sheet, jsonable
from strat.tables.table import Names, Table, listed, missing_message, read
from strat.words import counted

UNMATCHED = ("error", "common")


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """Systems on the same items, best first.

    Attributes
    ----------
    many
        The systems with their joint covariance: pairs, simultaneous intervals, rank intervals, the winner.
    level
        Confidence level.
    notes
        What was assumed, what did not match, what looks clustered.
    """

    many: ManySystems
    level: float
    notes: tuple[str, ...] = ()

    @property
    def systems(self) -> tuple[str, ...]:
        """Names, the best first."""
        return self.many.systems

    @property
    def estimate(self) -> Estimate:
        """The mean score of each system, with the covariance that pairing brings."""
        return self.many.estimate

    @checked
    def difference(self, a: str, b: str) -> Estimate:
        """The paired difference of two systems, a less b."""
        i, j = self._place(a), self._place(b)
        return self.estimate.map(lambda v: v[..., i] - v[..., j], name=f"{a} − {b}")

    def _place(self, name: str) -> int:
        if not isinstance(name, str) or name not in self.systems:
            hint = near(str(name), self.systems)
            raise StratError(f"`system` must be one that was compared, got {shown(name)}; {hint}")
        return self.systems.index(name)

    @property
    def tied(self) -> tuple[str, ...]:
        """The systems that can't be told from the best one."""
        close = np.abs(self.many.t[0]) <= self.many.critical(self.level)
        return tuple(s for s, near_best in zip(self.systems, close, strict=True) if near_best)

    def to_dict(self) -> dict[str, list[Any]]:
        """The leaderboard's columns, best first."""
        low, high = self.estimate.interval(self.level)
        behind_low, behind_high = self.many.intervals(self.level)
        first, last = self.many.ranks(self.level)
        return {
            "rank": [f"{a}" if a == b else f"{a}–{b}" for a, b in zip(first, last, strict=True)],
            "system": list(self.systems),
            "score": self.estimate.point.tolist(),
            "se": np.ravel(self.estimate.se).tolist(),
            "low": np.ravel(low).tolist(),
            "high": np.ravel(high).tolist(),
            "behind": self.many.differences[:, 0].tolist(),
            "behind_low": behind_low[:, 0].tolist(),
            "behind_high": behind_high[:, 0].tolist(),
        }

    def pairs(self) -> dict[str, list[Any]]:
        """Every pair: difference, standard error, simultaneous limits, p values (alone, and for all pairs at once)."""
        i, j = np.triu_indices(len(self.systems), 1)
        low, high = self.many.intervals(self.level)
        return {
            "better": [self.systems[k] for k in i],
            "worse": [self.systems[k] for k in j],
            "difference": self.many.differences[i, j].tolist(),
            "se": self.many.errors[i, j].tolist(),
            "low": low[i, j].tolist(),
            "high": high[i, j].tolist(),
            "pvalue": self.many.pvalues("none")[i, j].tolist(),
            "adjusted": self.many.pvalues("max-t")[i, j].tolist(),
        }

    def sheet(self) -> Sheet:
        """The leaderboard as a table."""
        percent = f"{100 * self.level:g} %"
        names = ["rank", "system", "score", "se", f"{percent} low", f"{percent} high", "behind", "low", "high"]
        rows = list(zip(*self.to_dict().values(), strict=True))
        tied = f"can't be told from the best: {some(self.tied, 8)}" if len(self.tied) > 1 else "the best one is clear"
        said = (
            f"answers for {self.estimate.target}",
            f"{tied} (paired differences, {percent} for all pairs at once)",
            *self.notes,
        )
        return Sheet("strat/compare/1", names, rows, title=self.estimate.design, notes=said, data=self.data())

    def data(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        board = [dict(zip(self.to_dict(), row, strict=True)) for row in zip(*self.to_dict().values(), strict=True)]
        pairs = self.pairs()
        made: dict[str, Any] = jsonable(
            {
                "level": self.level,
                "design": self.estimate.design,
                "target": self.estimate.target,
                "critical": self.many.critical(self.level),
                "leaderboard": board,
                "tied_with_best": self.tied,
                "pairs": [dict(zip(pairs, row, strict=True)) for row in zip(*pairs.values(), strict=True)],
                "notes": self.notes,
            }
        )
        return made

    def to_frame(self, library: str | None = None) -> Any:
        """The leaderboard as a frame."""
        return out.frame_of(self.to_dict(), library)

    def to_json(self) -> str:
        """JSON with the schema "strat/compare/1"."""
        return out.json_text(self.sheet())

    def to_markdown(self) -> str:
        """A Markdown table."""
        return out.markdown_text(self.sheet())

    def to_latex(self) -> str:
        """A LaTeX table (booktabs)."""
        return out.latex_text(self.sheet())

    def to_csv(self) -> str:
        """Comma-separated values."""
        return out.csv_text(self.sheet())

    @checked
    def report(self, path: str | Path) -> Path:
        """Write one self-contained HTML file."""
        return out.report(self, path)

    def plot(self, ax: Any = None) -> Any:
        """Every system with its interval, best at the top."""
        return self.many.plot(ax, level=self.level)

    def __str__(self) -> str:
        """The leaderboard as text."""
        return out.plain_text(self.sheet())

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        return out.html_text(self.sheet())


@checked
def compare(
    source: Any,
    *,
    truth: str | None = None,
    predicted: Names = (),
    scores: Names = (),
    system: str | None = None,
    item: str | None = None,
    score: str | None = None,
    strata: str | None = None,
    units: str | None = None,
    weights: str | None = None,
    epoch: str | None = None,
    population: Any = None,
    metric: str | None = None,
    higher_is_better: bool = True,
    level: float = 0.95,
    lone: str = "error",
    unmatched: str = "error",
    missing: str = "error",
    failed: str = "error",
    incomplete: str = "error",
    runs: str = "error",
) -> Leaderboard:
    """Two or more systems on the same items: a leaderboard with intervals, paired differences and ties.

    Parameters
    ----------
    source
        A folder of logs, log files, a long table (system, item, score), or a wide table with a column per system.
    truth, predicted
        Wide tables of labels: the true label's column and one column for each system.
    scores
        Wide tables of scores: one column for each system.
    system, item, score, epoch
        Columns of a long table (looked up by their usual names if not given); repeats of an item are averaged.
    strata, units, weights
        Columns, or metadata fields of logs: fixed groups, what was drawn, how much an item counts.
    population
        Units in the population of each stratum: a number or a mapping from stratum.
    metric
        For logs: which measure.
    higher_is_better
        Whether a larger score is a better one.
    level
        Confidence level.
    lone
        What to do with a stratum of one unit.
    unmatched
        Items that some system lacks: "error" refuses them by count and name, "common" compares on the others and says
        how many are left out.
    missing
        "error" refuses missing values by name and count; "drop" leaves those rows out.
    failed, incomplete, runs
        For logs: see :func:`read_logs`.

    Examples
    --------
    >>> wide = {"A": [1, 1, 1, 0, 1, 1], "B": [0, 1, 0, 0, 1, 1]}
    >>> found = compare(wide, scores=["A", "B"])
    >>> found.systems, round(found.difference("A", "B").value, 4)
    (('A', 'B'), 0.3333)
    """
    one_of("lone", lone, LONE)
    one_of("unmatched", unmatched, UNMATCHED)
    if not 0 < level < 1:
        raise StratError(f"`level` must be between 0 and 1, got {level!r}.")
    predicted, scores = listed("predicted", predicted), listed("scores", scores)
    named = {"system": system, "item": item, "score": score, "epoch": epoch}
    of_logs = {"metric": metric, "failed": failed, "incomplete": incomplete, "runs": runs}
    if predicted or scores:
        _left_out("where each system has a column: it is for long tables", **named)
        _left_out("for tables: it is for logs", **of_logs)
        _left_out("for one table: every system has its rows; see `missing`", unmatched=unmatched)
        if not predicted:
            _left_out("beside `scores`, which need no truth", truth=truth)
        if strata is not None or units is not None or weights is not None:
            read(source).require(strata=strata, units=units, weights=weights)
        board = _wide(read(source), truth, predicted, scores, strata, units, weights, missing)
    else:
        _left_out("without `predicted`: scores need no truth", truth=truth)
        if isinstance(source, ItemTable):
            roles = {"strata": strata, "units": units, "weights": weights, "missing": missing}
            _left_out("for items that are read already: say it where they are read", **named, **roles, **of_logs)
        elif _is_logs(source):
            _left_out(
                "for logs and folders, which are read by the usual names", **named, weights=weights, missing=missing
            )
        else:
            _left_out("for tables: it is for logs", **of_logs)
        items = _items(
            source, system, item, score, strata, units, weights, epoch, metric, missing, failed, incomplete, runs
        )
        board = _pivot(items, unmatched)
    return _compared(board, population, level, lone, higher_is_better)


def _left_out(why: str, **given: str | None) -> None:
    """Refuse what was said where it can't apply, so that nothing is ignored silently."""
    for name, value in given.items():
        if value not in (None, "error"):
            raise StratError(f"`{name}` must be left out {why}, got {value!r}.")


leaderboard = compare


@dataclass(frozen=True, eq=False)
class Board:
    """Items × systems, with what each item's design needs."""

    systems: tuple[str, ...]
    scores: Array
    strata: NDArray[Any] | None
    units: NDArray[Any] | None
    weights: Array | None
    about: dict[str, NDArray[Any]]
    names: dict[str, str | None]
    notes: tuple[str, ...]


def _items(
    source: Any,
    system: str | None,
    item: str | None,
    score: str | None,
    strata: str | None,
    units: str | None,
    weights: str | None,
    epoch: str | None,
    metric: str | None,
    missing: str,
    failed: str,
    incomplete: str,
    runs: str,
) -> ItemTable:
    if isinstance(source, ItemTable):
        return source
    if _is_logs(source):
        return read_logs(
            source, metric=metric, stratum=strata, cluster=units, failed=failed, incomplete=incomplete, runs=runs
        )
    return read_long(
        source,
        system=system,
        item=item,
        score=score,
        stratum=strata,
        cluster=units,
        epoch=epoch,
        weight=weights,
        missing=missing,
    )


def _is_logs(source: Any) -> bool:
    given = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(given, list | tuple) or not all(isinstance(s, str | os.PathLike) for s in given):
        return False
    return any(
        possible(s).is_dir() or Path(s).suffix in (".eval", ".json") or Path(s).name.startswith("samples_")
        for s in given
    )


def _pivot(items: ItemTable, unmatched: str) -> Board:
    """One line per item that every system has, repeats averaged."""
    who, systems = encode("system", items.system)
    what, labels = encode("item", items.item)
    cell = what * len(systems) + who
    size = len(labels) * len(systems)
    tries = np.bincount(cell, minlength=size).reshape(len(labels), len(systems))
    sums = np.bincount(cell, items.score, minlength=size).reshape(tries.shape)
    whole = np.asarray((tries > 0).all(axis=1))
    notes = [*items.notes, *_unmatched(tries, labels, [str(s) for s in systems], unmatched)]
    if tries.max() > 1:
        notes.append(f"repeats of an item averaged ({tries[tries > 0].min()} to {tries.max()} a system)")
    first = np.empty(len(labels), np.int64)
    first[what[::-1]] = np.arange(len(what))[::-1]
    _constant(items, what, first)

    def of_item(values: Any) -> Any:
        return None if values is None else values[first][whole]

    return Board(
        systems=tuple(str(s) for s in systems),
        scores=(sums[whole] / tries[whole]),
        strata=of_item(items.stratum),
        units=of_item(items.cluster),
        weights=of_item(items.weight),
        about={name: of_item(values) for name, values in items.about.items()},
        names={"strata": "stratum", "units": "cluster"},
        notes=tuple(notes),
    )


def _unmatched(tries: NDArray[Any], items: NDArray[Any], systems: Sequence[str], unmatched: str) -> list[str]:
    lost = np.asarray((tries == 0).any(axis=1))
    left, common = int(lost.sum()), int((~lost).sum())
    if not left:
        return []
    lacking = {s: int((tries[:, k] == 0).sum()) for k, s in enumerate(systems) if (tries[:, k] == 0).any()}
    said = ", ".join(f"{s} lacks {n:,}" for s, n in sorted(lacking.items(), key=lambda kv: -kv[1])[:4])
    if unmatched == "common" and common:
        return [f"compared on the {counted(common, 'item')} that all systems have; {left:,} left out ({said})"]
    way_out = (
        f"choose unmatched='common' (command line: --unmatched common) to compare on the other {common:,}"
        if common
        else "no item is common to all: see whether items have the same names everywhere, or leave systems out"
    )
    raise StratError(
        f"every system must be scored on the same items, but {left:,} of {counted(len(lost), 'item')} lack some system "
        f"({said}; such items are {some(items[lost].tolist(), 3)}); {way_out}."
    )


def _constant(items: ItemTable, what: Codes, first: Codes) -> None:
    """An item's stratum, cluster and weight must be the same wherever it occurs."""
    for name, values in (("stratum", items.stratum), ("cluster", items.cluster), ("weight", items.weight)):
        if values is not None and (values != values[first][what]).any():
            i = int(np.flatnonzero(values != values[first][what])[0])
            raise StratError(
                f"`{name}` must be the same for an item in every row, got {values[i]!s} and "
                f"{values[first][what][i]!s} for item {items.item[i]!s}."
            )


def _wide(
    table: Table,
    truth: str | None,
    predicted: Sequence[str],
    scores: Sequence[str],
    strata: str | None,
    units: str | None,
    weights: str | None,
    missing: str,
) -> Board:
    systems = list(scores) or list(predicted)
    if predicted and truth is None:
        raise StratError("`truth` must name the column of true labels beside `predicted`, got None.")
    if len(systems) < 2:
        raise StratError(f"`{'scores' if scores else 'predicted'}` must name at least two systems' columns.")
    twice = [name for k, name in enumerate(systems) if name in systems[:k]]
    if twice:
        raise StratError(f"`{'scores' if scores else 'predicted'}` must name each system once, got {twice[0]!r} twice.")
    for name in systems:
        table.require(scores=name)
    table.require(truth=truth)
    roles = [name for name in (truth if predicted else None, strata, units, weights) if name is not None]
    columns = {c.name: c for c in table.backend.fetch(list(dict.fromkeys([*systems, *roles])))}
    for name in [*scores, *([weights] if weights else [])]:
        columns[name] = columns[name].numbers()
    keep, note = _complete(columns, missing, table.source)

    def values(name: str | None) -> Any:
        return None if name is None else columns[name].values[keep]

    right = [values(name) == values(truth) for name in systems] if predicted else [values(name) for name in systems]
    return Board(
        systems=tuple(systems),
        scores=np.stack(right, axis=1).astype(float),
        strata=values(strata),
        units=values(units),
        weights=values(weights),
        about={},
        names={"strata": strata, "units": units},
        notes=note,
    )


def _complete(columns: dict[str, Column], missing: str, source: str) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    one_of("missing", missing, ("error", "drop"))
    lost = {c.name: c.lost for c in columns.values() if c.lost}
    n = len(next(iter(columns.values())))
    if not lost:
        return np.ones(n, bool), ()
    if missing == "error":
        raise StratError(missing_message(lost, source))
    keep = ~np.any([c.missing for c in columns.values() if c.missing is not None], axis=0)
    return keep, (f"{counted(int((~keep).sum()), 'row')} with missing values dropped",)


def _compared(board: Board, population: Any, level: float, lone: str, higher_is_better: bool) -> Leaderboard:
    if len(board.systems) < 2:
        raise StratError(f"`source` must hold at least two systems to compare, got {some(board.systems)} alone.")
    on = _design(board, population, lone)
    goal = -_means(board) if higher_is_better else _means(board)
    order = np.lexsort((np.array(board.systems), goal))
    systems = tuple(board.systems[k] for k in order)
    scores = board.scores[:, order]
    made = replace(mean(scores), name="mean score", axes=(Axis("system", systems),), split=None)
    if (scores >= 0).all() and (scores <= 1).all():
        made = replace(made, link="logit", bounds=(0.0, 1.0), proportion=bool(np.isin(scores, (0.0, 1.0)).all()))
    found = estimate(made, on=on)
    notes = [*board.notes, *traps(units=board.units, strata=board.strata, names=board.names, rows=len(scores))]
    if board.units is None:
        alike = looks_clustered(board.about, board.scores.mean(axis=1), strata=board.strata)
        notes += [f"note: {said}" for said in alike]
    return Leaderboard(ManySystems(systems, found, higher_is_better), level, tuple(notes))


def _means(board: Board) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large is refused with the statistic
        return np.asarray(np.average(board.scores, axis=0, weights=board.weights))


def _design(board: Board, population: Any, lone: str) -> Design:
    options: dict[str, Any] = {"weights": board.weights, "population": population}
    if board.units is not None:
        return Design.clustered(board.units, strata=board.strata, lone=lone, **options)
    if board.strata is not None:
        return Design.stratified(board.strata, lone=lone, **options)
    return Design.simple_random(len(board.scores), **options)
