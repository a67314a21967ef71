"""What a careful colleague would say about the columns: this looks like clusters, that looks like strata."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.validate.columns import Array, Codes, encode
from strat.data.backends import Lazy
from strat.data.column import Column
from strat.data.table import Table
from strat.designs.from_columns import design_of
from strat.designs.sampling import Sampling
from strat.estimation import Estimate, estimate
from strat.measures import mean
from strat.measures.clustering import anova, design_effect
from strat.measures.register import Measure, known

FEW = 15  # levels of a column that rather look like strata than like units
MOST_SUSPECTS = 3  # columns that notes name
MOST_SYSTEMS = 50  # levels of a column that may name systems
BETTER_THAN_CHANCE = 0.2  # kappa with the truth from which numbers look like another system's predictions
CODES = (-1, -2, -3, -8, -9, 8, 9, 88, 98, 99, 998, 999, 9999, -99, -999, -9999)  # of answers that are not there
SPENT = ("cost", "costs", "price", "usd", "eur", "latency", "time", "times", "seconds", "secs", "sec", "ms",
         "duration", "runtime", "tokens", "loss", "losses", "errors")  # fmt: skip
_SYSTEMS = ("system", "model", "run", "classifier", "algorithm", "matcher", "llm", "agent", "checkpoint")
_ITEMS = ("item", "id", "question", "prompt", "case", "example", "image", "document", "task", "probe")


@dataclass(frozen=True)
class Suspect:
    """A column whose levels hold rows that are correlated.

    Attributes
    ----------
    name, levels
        The column and how many levels it has.
    icc
        The intraclass correlation of the rows of one level (ANOVA).
    ratio
        How much too small an independent-rows variance would be, if levels were drawn: 1 + (size − 1) icc.
    """

    name: str
    levels: int
    icc: float
    ratio: float


@dataclass(frozen=True)
class Pooled:
    """A column that looks as if it named several systems, whose rows are measured as if they were one system's.

    Attributes
    ----------
    name, levels
        The column and how many levels it has.
    item, times
        A column whose every level occurs so many times in each level of the first (None: there is none).
    named
        Whether the column is called what people call a system.
    """

    name: str
    levels: int
    item: str | None
    times: int
    named: bool

    @property
    def note(self) -> Note:
        """The note on it."""
        facts = {"column": self.name, "levels": self.levels, "each": self.item, "sure": self.named and bool(self.item)}
        often = {"once": self.times == 1, "often": self.times if self.times > 1 else None}
        return Note("systems-pooled", {**facts, **often, "unclear": None if self.named else self.item})


def pooled(table: Table, roles: Mapping[str, str | None], weights: str | None, *, rows: int) -> list[Pooled]:
    """Columns that no role uses and that look like several systems, seen in the first rows.

    A column counts by its name; in a small table without units or items any column of text does whose levels cross
    those of another one with the same truth, once each.
    """
    used = [name for name in (*roles.values(), weights) if name is not None]
    free = _unused(table, used)
    named = [name for name in free if _called(name, _SYSTEMS)]
    any_name = (
        rows <= LIMITS.system_rows and roles["units"] is None and roles["items"] is None and roles["truth"] is not None
    )
    if (not named and not any_name) or _far(table):
        return []
    drawn = [name for name in (roles["items"], roles["units"]) if name is not None]
    wanted = free if rows <= LIMITS.system_rows else [name for name in free if name in named or _called(name, _ITEMS)]
    columns = {c.name: c for c in first_rows(table, [*wanted, *drawn, *([str(roles["truth"])] if any_name else [])])}
    coded = {name: _coded(columns[name], None) for name in (*wanted, *drawn) if name in columns}
    known = {name: c for name, c in coded.items() if c is not None and _is_label(columns[name])}
    crossings = [_crossed(name, known, named=True) for name in named if name in known]
    if any_name and not crossings:
        text = [name for name in known if columns[name].codes is not None]
        truth = columns[str(roles["truth"])].encoded()[0]
        crossings = [
            p for name in text if (p := _crossed(name, known, named=False)) is not None and _once(p, known, truth)
        ]
    return [one for one in crossings if one is not None][:2]


def _called(name: str, words: Sequence[str]) -> bool:
    """Whether a column is called one of these, or its name or number: model, model_name, Model ID."""
    parts = name.lower().replace("-", "_").replace(" ", "_").split("_")
    return parts[0] in words and (len(parts) == 1 or parts[1:] in (["name"], ["id"], ["number"]))


def _crossed(name: str, columns: Mapping[str, tuple[Codes, int]], *, named: bool) -> Pooled | None:
    """The column with the finest other one whose levels all occur equally often in each of its own."""
    codes, levels = columns[name]
    if not 2 <= levels <= min(MOST_SYSTEMS, len(codes) // 2):
        return None
    for item, (what, number) in sorted(columns.items(), key=lambda kv: -kv[1][1]):
        times, rest = divmod(len(codes), levels * number)
        if item == name or number < 2 or rest or not times:
            continue
        if (np.bincount(what * levels + codes, minlength=levels * number) == times).all():
            return Pooled(name, levels, item, times, named)
    return Pooled(name, levels, None, 0, named) if named else None


def _once(crossing: Pooled, columns: Mapping[str, tuple[Codes, int]], truth: Codes) -> bool:
    """Whether every item occurs once in each level, always with the same truth, as several systems' rows do."""
    what, number = columns[str(crossing.item)]
    of_item = np.zeros(number, np.int64)
    of_item[what] = truth
    return crossing.times == 1 and number > crossing.levels and bool((of_item[what] == truth).all())


def suspects(columns: Mapping[str, tuple[Codes, int]], score: Array) -> list[Suspect]:
    """The columns that rows are clearly clustered by, the worst first.

    A column is named when the F test of equal level means is beyond doubt (p < 0.001) and the design effect
    that it would bring is at least 1.1.
    """
    clustered = []
    for name, (codes, levels) in columns.items():
        if not 1 < levels <= len(score) / 2:
            continue
        suspect = _suspect(name, codes, score)
        if suspect is not None:
            clustered.append(suspect)
    return sorted(clustered, key=lambda s: -s.ratio)


def _suspect(name: str, codes: Codes, score: Array) -> Suspect | None:
    from scipy.special import fdtrc

    used, unit = np.unique(codes, return_inverse=True)
    n, k = len(score), len(used)
    if n == k or k < 2:
        return None
    parts = anova(score - score.mean(), unit.reshape(-1))
    if parts.between <= parts.within or (k <= len(np.unique(score)) and parts.within <= 1e-12 * parts.between):
        return None  # no correlation, or the score itself under another name
    sizes = np.bincount(unit.reshape(-1)).astype(float)
    icc, ratio = parts.correlation, design_effect(parts.correlation, float((sizes**2).sum()) / n)
    if ratio < 1.1 or (parts.within > 0 and fdtrc(k - 1, n - k, parts.between / parts.within) > 1e-3):
        return None
    return Suspect(name, k, icc, ratio)


@dataclass(frozen=True, eq=False)
class _Seen:
    """The first rows: how right each is, what weighs it, and the codes and number of levels of unused columns."""

    value: Array
    mass: Array | None
    coded: Mapping[str, tuple[Codes, int]]


def _unused(table: Table, used: Sequence[str]) -> list[str]:
    """The columns that play no role, as many as are looked at."""
    return [name for name in table.names if name not in used][: LIMITS.hint_columns]


def look(table: Table, used: Sequence[str], score: Sequence[str], *, right: bool) -> list[Suspect]:
    """Suspects among the unused columns, seen in the first rows; `score` names one column, or two to compare."""
    seen = _seen(table, used, score, right, None)
    return [] if seen is None else suspects(seen.coded, seen.value)


def clustered(
    table: Table, used: Sequence[str], score: Sequence[str], *, right: bool, weights: str | None, rows: int
) -> list[Note]:
    """What these suspects would make of the standard error of the accuracy, or of the mean score, of all rows."""
    seen = _seen(table, used, score, right, weights)
    if seen is None:
        return []
    of, times = "the accuracy" if right else "the mean", np.sqrt(min(1.0, len(seen.value) / rows))
    return [
        both_readings(one, of, seen.value, seen.coded[one.name][0], weights=seen.mass, times=times)
        for one in suspects(seen.coded, seen.value)[:MOST_SUSPECTS]
    ]


def _seen(table: Table, used: Sequence[str], score: Sequence[str], right: bool, weights: str | None) -> _Seen | None:
    names = _unused(table, used)
    if not names or _far(table):
        return None
    weighing = [] if weights is None else [weights]
    columns = {c.name: c for c in first_rows(table, [*names, *score, *weighing])}
    value = correctness([columns[name] for name in score], right=right)
    keep = np.isfinite(value)
    if keep.sum() < 20 or np.ptp(value[keep]) == 0:
        return None
    candidates = labelled(columns, names, columns[score[0]] if right else None)
    coded = {name: _coded(column, keep) for name, column in candidates.items()}
    mass = None if weights is None else np.asarray(columns[weights].numbers().labels, float)[keep]
    return _Seen(value[keep], mass, {name: c for name, c in coded.items() if c is not None})


def labelled(columns: Mapping[str, Column], names: Sequence[str], truth: Column | None) -> dict[str, Column]:
    """The columns of labels among these that are no predictions of the truth."""
    labels = {name: columns[name] for name in names if name in columns and _is_label(columns[name])}
    return {name: c for name, c in labels.items() if truth is None or not like_predictions(c, truth)}


def fields_beside(table: Table, used: Sequence[str], truth: str | None) -> dict[str, NDArray[Any]]:
    """The columns of labels that play no role, whole; none of a table that is larger than what is looked at."""
    names = _unused(table, used)
    if not names or _far(table) or len(table) > LIMITS.hint_rows:
        return {}
    columns = {c.name: c for c in first_rows(table, names if truth is None else [*names, truth])}
    whole = {name: c for name, c in columns.items() if c.missing is None or not c.missing.any()}
    return {name: c.values for name, c in labelled(whole, names, whole.get(str(truth))).items()}


def both_readings(
    suspect: Suspect,
    of: str,
    score: Array,
    codes: Codes,
    *,
    strata: NDArray[Any] | None = None,
    weights: Array | None = None,
    times: float = 1.0,
) -> Note:
    """What a column makes of the standard error of a mean, if its levels were drawn, and if they are fixed groups."""
    layer = {} if strata is None else {"strata": strata}
    errors = [_standard_error(score, columns, weights) for columns in (layer, {**layer, "units": codes})]
    errors.append(_standard_error(score, {"strata": codes}, weights) if strata is None else None)
    plain, sampled, fixed = (None if se is None else float(se * times) for se in errors)
    facts = {"column": suspect.name, "icc": suspect.icc, "levels": suspect.levels}
    return Note("looks-clustered", {**facts, "of": of, "plain": plain, "sampled": sampled, "fixed": fixed})


def _standard_error(score: Array, columns: Mapping[str, NDArray[Any]], weights: Array | None) -> float | None:
    """Of the mean, by the design that these columns make; None where they make none, or nothing varies within it."""
    try:
        design = design_of(columns, rows=len(score), weights=weights)
        return float(estimate(mean(score), on=design).se) or None
    except StratError:  # a unit in several strata, a stratum of one row
        return None


def like_predictions(column: Column, truth: Column) -> bool:
    """Whether a column holds labels of the truth: all text that does, and numbers that agree beyond chance."""
    (codes, levels), (actual, classes) = column.encoded(), truth.encoded()
    place = {label: k for k, label in enumerate(classes.tolist())}
    if not all(level in place for level in levels.tolist()):
        return False
    if levels.dtype.kind not in "biuf":
        return True
    keep = (codes >= 0) & (actual >= 0)
    guesses = np.array([place[level] for level in levels.tolist()])[codes[keep]]
    share = [np.bincount(one, minlength=len(classes)) / max(len(guesses), 1) for one in (guesses, actual[keep])]
    chance = float(share[0] @ share[1])
    agreement = float((guesses == actual[keep]).mean()) if len(guesses) else 0.0
    return chance < 1 and (agreement - chance) / (1 - chance) > BETTER_THAN_CHANCE


def _far(table: Table) -> bool:
    """Whether looking at rows would carry them off a cluster, where only aggregates should travel."""
    implementation = getattr(table.backend.lazy, "implementation", None)
    return implementation is not None and not (implementation.is_duckdb() or implementation.is_polars())


def first_rows(table: Table, names: Sequence[str]) -> list[Column]:
    """The first rows of these columns; one that holds no plain labels (lists, records) is no suspect."""
    wanted = list(dict.fromkeys(names))
    if not isinstance(table.backend, Lazy):
        return _plain(wanted, lambda name: _head(table.backend.fetch([name])[0]))
    nested = set(table.backend.nested(wanted))
    wanted = [name for name in wanted if name not in nested]
    return _plain(wanted, table.backend.brought(wanted, LIMITS.hint_rows))


def _plain(names: Sequence[str], make: Callable[[str], Column]) -> list[Column]:
    columns = []
    for name in names:
        with suppress(StratError):
            columns.append(make(name))
    return columns


def _head(column: Column) -> Column:
    missing = None if column.missing is None else column.missing[: LIMITS.hint_rows]
    if column.codes is not None:
        return replace(column, codes=column.codes[: LIMITS.hint_rows], missing=missing)
    return replace(column, labels=column.labels[: LIMITS.hint_rows], missing=missing)


def correctness(columns: Sequence[Column], *, right: bool) -> Array:
    """What rows may be correlated in: the score, or whether the prediction is right."""
    if right and len(columns) == 2:
        truth, predicted = (c.values if len(c.labels) else np.empty(len(c), "U1") for c in columns)
        value = np.asarray(truth == predicted, float)
    else:
        value = np.array(columns[0].numbers().labels, float)
    for column in columns:
        if column.missing is not None:
            value = np.where(column.missing, np.nan, value)
    return value


def _is_label(column: Column) -> bool:
    return column.codes is not None or column.labels.dtype.kind in "iub"


def _coded(column: Column, keep: NDArray[np.bool_] | None) -> tuple[Codes, int] | None:
    codes, labels = column.encoded()
    codes = codes if keep is None else codes[keep]
    if len(labels) < 2 or (codes < 0).any():
        return None
    return codes, len(labels)


def pooled_over_crossed(metrics: Sequence[Measure], sampling: Sampling) -> list[Note]:
    """A note on measures that compare rows with rows, also ratings of different readers."""
    names = tuple(metric.word for metric in metrics if metric.of == "pair")
    if sampling.crossed is None or not names:
        return []
    return [Note("pooled-over-crossed", {"factors": tuple(sampling.drawn.values())}).of(metric=names)]


def coded_scores(scores: Mapping[str, Array]) -> list[Note]:
    """A note on scores of 0 to 1 beside which stand -1, 9, 99 or the like, as codes for what was not answered do."""
    coded: dict[tuple[float, ...], list[str]] = {}
    for name, values in scores.items():
        outside = np.unique(values[(values < 0) | (values > 1)])
        if not len(outside) or not np.isin(outside, CODES).all():
            continue
        inside = values[(values >= 0) & (values <= 1)]
        if len(inside) and np.ptp(inside) > 0:
            coded.setdefault(tuple(outside.tolist()), []).append(name)
    return [Note("looks-coded", {"codes": codes, "columns": tuple(names)}) for codes, names in coded.items()]


def looks_spent(names: Sequence[str]) -> list[Note]:
    """A note on scores that are called as what is spent or lost, and of which more was taken as better."""
    spent = [name for name in names if any(map(_less_is_better, re.findall(r"[a-z]+", name.lower())))]
    return [Note("looks-spent", {"column": spent[0]})] if spent else []


def _less_is_better(word: str) -> bool:
    measure = known(word)
    return word in SPENT or (measure is not None and not measure.upwards)


def traps(
    *, units: NDArray[Any] | None, strata: NDArray[Any] | None, names: Mapping[str, str | None], rows: int
) -> list[Note]:
    """Warnings about columns in the wrong role: subjects as clusters, row numbers as strata."""
    notes: list[Note] = []
    if units is not None and strata is None:
        levels = len(encode("units", units)[1])
        if 2 <= levels <= FEW and rows >= 20 * levels:
            facts = {"column": names.get("units") or "units", "levels": levels, "rows": rows}
            notes.append(Note("units-look-like-strata", facts))
    if strata is not None:
        levels = len(encode("strata", strata)[1])
        if levels > 50 and levels >= 0.5 * rows:
            facts = {"column": names.get("strata") or "strata", "levels": levels, "rows": rows}
            notes.append(Note("strata-look-like-units", facts))
    return notes


def classes_as_strata(names: Mapping[str, str | None], metrics: Sequence[Measure], *, weighted: bool) -> list[Note]:
    """A warning about measures over rows of all classes, where one column is both the truth and the strata."""
    same = names.get("strata") is not None and names.get("strata") == names.get("truth")
    mixed = any(metric.mixes_classes for metric in metrics)
    return [Note("strata-are-classes")] if same and mixed and not weighted else []


def averages(metrics: Sequence[Measure], estimates: Mapping[str, Estimate]) -> list[Note]:
    """What to know about measures of one class that were averaged, because there are more than two."""
    return [
        Note("macro-average", {"measure": metric.word})
        for metric in metrics
        if metric.takes_average and estimates[metric.word].positive is None
    ]
