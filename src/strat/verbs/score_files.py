"""Hypotheses scored against a reference, each in a field's own file: word errors, diarization, retrieval, masks, …"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from strat.base.errors import StratError, some
from strat.base.validate.arguments import checked, shown
from strat.data.table import read
from strat.designs.sampling import Sampling
from strat.measures.base import Statistic
from strat.measures.register import BETWEEN, Measure
from strat.verbs.compare import compare
from strat.verbs.evaluate import evaluate
from strat.verbs.evaluation import Evaluation
from strat.verbs.field_files import Items, measure_of, read_items
from strat.verbs.leaderboard import Leaderboard

Names = Sequence[str]
ROW = "reference"  # the column of row numbers, which stand for what the files hold


@checked
def evaluate_files(
    reference: str | os.PathLike[str],
    hypothesis: str | os.PathLike[str],
    *,
    metrics: str | Names,
    about: Any = None,
    strata: str | None = None,
    units: str | None = None,
    design: Sampling | None = None,
    by: str | Names | None = None,
    level: float = 0.95,
) -> Evaluation:
    r"""How good a system is, from the files of its field: a reference, and what the system made of it.

    A row is a "line" of text (counted from 1), an utterance of a .trn file (with its "speaker"), a "recording" of an
    RTTM file, a "topic" of TREC's qrels, an "image" of COCO's annotations, or a "case" with a mask (an .npz file, or a
    folder of .npy files).

    Parameters
    ----------
    reference, hypothesis
        Paths of two files of one kind; for retrieval the qrels and the run.
    metrics
        "wer", "cer", "mer", "wil", "bleu", "chrf", "chrf++", "ter", "rouge1", "rouge2", "rougeL", "exact_match",
        "token_f1" of texts; "der" of RTTM files, "der@0.25" with a collar, and its parts "der_missed",
        "der_false_alarm" and "der_confusion"; "ndcg@10", "map", "mrr", "p@10",
        "recall@100", "err@20", "bpref" of runs; "coco_ap", "coco_ap@0.5", "coco_ar"; "dice", "dice_totals", "mean_iou",
        "hausdorff", "hausdorff@95" of masks.
    about
        A table of what is known of each row: with a column that is called as rows are ("utterance", "image", …) they
        are joined by it, otherwise they are in order.
    strata, units, by
        Columns of that table (or the row's own name, or "speaker"), as for `strat.evaluate`.
    design
        How the rows were drawn where there is more to say of it than strata and units: a :class:`strat.Sampling` of
        these columns.
    level
        The confidence level.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "ref.txt").write_text("the cat sat\na dog ran\nwe saw it\n")
    >>> _ = (folder / "hyp.txt").write_text("the cat sat\na dog ran off\nwe sat\n")
    >>> result = evaluate_files(folder / "ref.txt", folder / "hyp.txt", metrics="wer")
    >>> round(result["wer"].value, 4)
    0.3333
    """
    wanted, items = _asked(reference, [hypothesis], metrics)
    table = _table(items, about)
    table["hypothesis"] = table[ROW]
    measures = [_measure(one, items) for one in wanted]
    return evaluate(
        table, truth=ROW, predicted="hypothesis", metrics=measures, strata=strata, units=units, design=design, by=by,
        level=level,
    )  # fmt: skip


@checked
def compare_files(
    reference: str | os.PathLike[str],
    hypotheses: Sequence[Any],
    *,
    metrics: str,
    about: Any = None,
    strata: str | None = None,
    units: str | None = None,
    design: Sampling | None = None,
    by: str | Names | None = None,
    baseline: str | None = None,
    level: float = 0.95,
) -> Leaderboard:
    r"""Which system is better, from the files of its field: a reference, and what each system made of it.

    Systems are paired by row, and called what their files are.

    Parameters
    ----------
    reference, about, strata, units, design, by, level
        As for `evaluate_files`.
    hypotheses
        Paths of two files or more.
    metrics
        One measure of `evaluate_files`.
    baseline
        The system that the others are compared with.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "ref.txt").write_text("the cat sat\na dog ran\nwe saw it\nit was big\n")
    >>> _ = (folder / "old.txt").write_text("the cat sat\na dog ran off\nwe sat\nit is big\n")
    >>> _ = (folder / "new.txt").write_text("the cat sat\na dog ran\nwe saw it\nit is big\n")
    >>> board = compare_files(folder / "ref.txt", [folder / "old.txt", folder / "new.txt"], metrics="wer")
    >>> board.systems
    ('new', 'old')
    """
    paths = [Path(path) for path in _list_of("hypotheses", hypotheses, (str, os.PathLike), "paths of files")]
    systems = _systems(paths)
    (wanted,), items = _asked(reference, paths, metrics)
    table = _table(items, about)
    rows = table[ROW]
    columns = {system: rows + place * len(rows) for place, system in enumerate(systems)}
    return compare(
        {**table, **columns}, truth=ROW, predicted=systems, metrics=_measure(wanted, items), strata=strata,
        units=units, design=design, by=by, baseline=baseline, level=level,
    )  # fmt: skip


def _asked(reference: Any, hypotheses: Sequence[Any], metrics: str | Names) -> tuple[list[Measure], Items]:
    """The measures, and the rows that the files hold."""
    each = [metrics] if isinstance(metrics, str) else _list_of("metrics", metrics, str, "names of measures")
    wanted = [measure_of(one.strip()) for given in each for one in BETWEEN.split(given)]
    kinds = {one.files for one in wanted}
    if len(kinds) != 1:
        names = some([one.word for one in wanted])
        raise StratError.about("metrics", f"must take one kind of file, got {names}; call once for each kind.")
    return wanted, read_items(Path(reference), [Path(p) for p in hypotheses], str(wanted[0].files))


def _list_of(argument: str, given: Any, kind: type | tuple[type, ...], what: str) -> list[Any]:
    """What a list holds, if all of it is of one kind."""
    each = list(given) if isinstance(given, list | tuple) else [given]
    if not each or not all(isinstance(one, kind) for one in each):
        raise StratError.about(argument, f"must be {what}, got {shown(given)}.")
    return each


def _measure(wanted: Measure, items: Items) -> Callable[[Any, Any], Statistic]:
    """The measure of rows that are given by their numbers; those of a system also tell which it is."""

    def measure(truth: Any, predicted: Any) -> Statistic:
        system = int(np.asarray(predicted).flat[0]) // len(items.labels)
        return items.measured(wanted, np.asarray(truth).tolist(), system)

    measure.__name__ = wanted.word
    measure.higher_is_better = wanted.upwards  # type: ignore[attr-defined]
    return measure


def _table(items: Items, about: Any) -> dict[str, Any]:
    """A row for each item: its number, its name, and what is known of it."""
    number = len(items.labels)
    table: dict[str, Any] = {ROW: np.arange(number), items.item: np.array(items.labels)}
    table.update({name: np.array(column) for name, column in items.columns.items()})
    if about is None:
        return table
    given = read(about)
    columns = given.columns(list(given.names))
    place = _places(items, columns)
    return {**table, **{name: np.asarray(values)[place] for name, values in columns.items() if name not in table}}


def _places(items: Items, columns: dict[str, Any]) -> list[int]:
    """Where the row of each item is in a table."""
    rows = len(next(iter(columns.values())))
    if items.item not in columns:
        if rows != len(items.labels):
            raise StratError.about(
                "about",
                f"must have a column {items.item!r}, or a row for each of the {len(items.labels):,} in order, got "
                f"{rows:,} rows and {some(columns)}.",
            )
        return list(range(rows))
    where = {str(label): place for place, label in enumerate(np.asarray(columns[items.item]).tolist())}
    absent = [label for label in items.labels if str(label) not in where]
    if absent or len(where) < rows:
        problem = f"no row for {some(absent, 3)}" if absent else "one twice"
        raise StratError.about("about", f"must have a row for each {items.item}, got {problem}.")
    return [where[str(label)] for label in items.labels]


def _systems(paths: Sequence[Path]) -> list[str]:
    """The names of systems: of their files, or with the folder where these are alike."""
    if len(paths) < 2:
        raise StratError.about(
            "hypotheses", f"must be two files or more, got {len(paths)}; use evaluate_files for one."
        )
    for names in ([path.stem for path in paths], [f"{path.parent.name}/{path.stem}" for path in paths]):
        if len(set(names)) == len(names):
            return names
    raise StratError.about("hypotheses", f"must be different files, got {some([str(path) for path in paths])}.")
