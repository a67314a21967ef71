"""The page: results in, one self-contained HTML file out."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import platform
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import strat
from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.show.render import csv_text, jsonable, latex_text, markdown_text, numeric_columns, shown
from strat.show.report import (
    axes,
    charts,
    of_anything,
    of_checks,
    of_comparisons,
    of_estimates,
    of_evaluations,
    of_recognition,
    of_studies,
)
from strat.show.report.model import Grid, Matrix, Told
from strat.show.report.references import sources_of
from strat.show.report.wording import held, stop

SCHEMA = "strat/report/1"
HERE = Path(__file__).parent
FILTERED = 15
COUNTED = ("rows", "df", "tied probes")  # columns of whole numbers that get commas between thousands
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")

Maker = Callable[[Any, str], Told]


@cache
def _makers() -> dict[type, tuple[Maker, str]]:
    """What makes a page of each kind of result, and the title of its part ("": by its own name)."""
    from strat.comparison.data_sets import Friedman
    from strat.comparison.many_systems import ManySystems
    from strat.comparison.paired_result import Comparison
    from strat.comparison.posthoc import AgainstControl, AllPairs
    from strat.comparison.readers import ReaderStudy
    from strat.estimation.result import Estimate
    from strat.measures.confusion_matrix import ConfusionMatrix
    from strat.recognition.curves import MatchCurve
    from strat.recognition.det_curve import DetCurve
    from strat.recognition.verification import Verification
    from strat.verbs.check_result import Check
    from strat.verbs.evaluation import Evaluation
    from strat.verbs.leaderboard import Leaderboard
    from strat.verbs.model_verdicts import ModelComparison

    return {
        Evaluation: (lambda result, name: of_evaluations.of_evaluation(result), "Evaluation"),
        Check: (of_checks.of_check, "Check"),
        Leaderboard: (lambda result, name: of_comparisons.of_leaderboard(result), "Comparison"),
        ManySystems: (lambda result, name: of_comparisons.of_many(result), "Comparison"),
        Comparison: (of_comparisons.of_comparison, ""),
        AllPairs: (of_comparisons.of_all_pairs, ""),
        AgainstControl: (of_comparisons.of_control, ""),
        Friedman: (of_comparisons.of_friedman, ""),
        Estimate: (of_estimates.of_estimate, ""),
        ConfusionMatrix: (lambda result, name: of_evaluations.of_confusion(result), "Confusion matrix"),
        MatchCurve: (of_recognition.of_match_curve, "Identification"),
        DetCurve: (of_recognition.of_det_curve, "Verification"),
        Verification: (of_recognition.of_verification, "Verification"),
        ModelComparison: (of_studies.of_models, "Models"),
        ReaderStudy: (of_studies.of_readers, "Reader study"),
        object: (of_anything.of_anything, ""),
    }


@dataclass(frozen=True)
class Group:
    """What one of several results has to say, under its name ("" where there is only one)."""

    name: str
    told: Told


def page(results: Any, title: str | None, written: str = "") -> str:
    """The whole page as text; `written` is the date on it."""
    groups = [Group(name, _told(result, name)) for name, result in _named(results)]
    told = [group.told for group in groups]
    script = (HERE / "page.js").read_text(encoding="utf-8")
    keys = _keys(groups)
    text: str = _template().render(
        title=title or _title(groups),
        written=written,
        script=Markup(script),
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        groups=groups,
        answer=told[0].answer,
        facts=_facts(groups),
        methods=_merged(t.methods for t in told),
        notes=_merged(t.notes for t in told),
        sources=sources_of(topic for t in told for topic in t.topics),
        versions=_versions(),
        keys=keys,
        copies=_safe_json(_copies(groups, keys)),
        data=_safe_json(_data(groups, title)),
    )
    # in text such a sign is spelled out; in JSON it is the same sign in other letters
    return UNSEEN.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text.lstrip())


def _title(groups: Sequence[Group]) -> str:
    """What the page is about: the data of the first result, or its kind."""
    first = groups[0].told.title or groups[0].name or groups[0].told.sections[0].title
    return f"{first} – strat report"


# ---- which results, under which names


def _named(results: Any) -> list[tuple[str, Any]]:
    if isinstance(results, Mapping):
        named = [(str(name), result) for name, result in results.items()]
    elif isinstance(results, list | tuple):
        named = [(_group_name(result) if len(results) > 1 else "", result) for result in results]
    else:
        named = [("", results)]
    if not named:
        raise StratError.about("results", "must hold at least one result to report, got none.")
    for _, result in named:
        if result is None or isinstance(result, str | bytes | int | float | complex | np.ndarray):
            raise StratError.about(
                "results",
                f"must be results such as those of strat.evaluate, got {type(result).__name__}; "
                "give what a call of strat returned.",
            )
    return named


def _maker(result: Any) -> tuple[Maker, str]:
    makers = _makers()
    return next(makers[kind] for kind in type(result).__mro__ if kind in makers)


def _group_name(result: Any) -> str:
    title = _maker(result)[1]
    return title or str(getattr(result, "name", "") or of_anything.titled(type(result).__name__))


def _told(result: Any, name: str) -> Told:
    return _maker(result)[0](result, name)


def _merged(parts: Iterator[Sequence[Any]] | Any) -> list[Any]:
    """All entries once, in order."""
    return list(dict.fromkeys(entry for part in parts for entry in part))


def _facts(groups: Sequence[Group]) -> list[tuple[str, str]]:
    """The facts of all results once; where two differ, the later says whose it is."""
    facts: dict[str, str] = {}
    for group in groups:
        for name, text in group.told.facts:
            if facts.setdefault(name, text) != text:
                facts[f"{name} ({group.name})"] = text
    return list(facts.items())


# ---- what the template needs


def _keys(groups: Sequence[Group]) -> dict[int, str]:
    """A short name for each section and block, by which links and buttons find it."""
    keys: dict[int, str] = {}
    for g, group in enumerate(groups, 1):
        keys[id(group)] = f"result-{g}"
        for s, section in enumerate(group.told.sections, 1):
            keys[id(section)] = f"part-{g}-{s}"
            keys |= {id(block): f"block-{g}-{s}-{b}" for b, block in enumerate(section.blocks, 1)}
    return keys


def _blocks(groups: Sequence[Group]) -> Iterator[Any]:
    for group in groups:
        for section in group.told.sections:
            yield from section.blocks


def _copies(groups: Sequence[Group], keys: Mapping[int, str]) -> dict[str, dict[str, str]]:
    """Each table as Markdown, LaTeX and CSV."""
    return {
        keys[id(block)]: {
            "Markdown": markdown_text(block.sheet, quiet=True),
            "LaTeX": latex_text(block.sheet, quiet=True),
            "CSV": csv_text(block.sheet),
        }
        for block in _blocks(groups)
        if isinstance(block, Grid | Matrix)
    }


def _data(groups: Sequence[Group], title: str | None) -> dict[str, Any]:
    data = {
        "schema": SCHEMA,
        "title": title,
        "versions": dict(_versions()),
        "results": [{**g.told.data, "name": g.name, "answer": g.told.answer.sentence} for g in groups],
    }
    plain: dict[str, Any] = jsonable(data)
    if len(json.dumps(plain)) > LIMITS.page_data:
        plain["results"] = [_shortened(result) for result in plain["results"]]
    return plain


def _shortened(result: dict[str, Any]) -> dict[str, Any]:
    """The result without its long lists, which are counted instead, so that the page stays small."""
    long = {key: len(value) for key, value in result.items() if isinstance(value, list) and len(value) > 1000}
    return {key: value for key, value in result.items() if key not in long} | {"left_out": long}


def _safe_json(value: Any) -> Markup:
    """JSON that can't end the script element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def _versions() -> list[tuple[str, str]]:
    ours = [("Python", platform.python_version()), ("strat", strat.__version__)]
    return [*ours, *((name, version(name)) for name in ("numpy", "scipy"))]


@cache
def _template() -> Any:
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "shown": _cell,
        "sort_key": _sort_key,
        "sentence": stop,
        "id": id,
        "held": held,
        "count": _counted,
    }
    environment.globals |= {
        "forest": _forest, "numeric": numeric_columns, "bars": charts.bars, "filtered_from": FILTERED,
        "picker_data": _picker_data,
    }  # fmt: skip
    return environment.get_template("page.html.j2")


def _cell(value: Any, column: str = "") -> str:
    if column in ("p", "p adjusted") and isinstance(value, float) and value < 0.001:
        return "< 0.001"
    if column in COUNTED and isinstance(value, int) and not isinstance(value, bool):
        return _counted(value)
    if column == "df" and isinstance(value, float) and math.isfinite(value):
        return f"{value:,.1f}"
    text = shown(value)
    return text.replace("-", "−", 1) if isinstance(value, int | float) and text.startswith("-") else text


def _counted(value: float) -> str:
    """A count with commas between thousands, whole or not."""
    return f"{value:,}"


def _sort_key(value: Any) -> str:
    if value is None:
        return ""
    return repr(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _forest(grid: Grid) -> dict[str, Any]:
    """The cells of a forest plot and the axis above them."""
    numbers = [v for m in grid.marks for v in (m.value, m.low, m.high, m.naive_low, m.naive_high)]
    low, high = axes.domain(numbers, grid.reference)
    cells = [charts.forest_cell(mark, low, high, grid.reference) for mark in grid.marks]
    return {"cells": cells, "axis": charts.axis(low, high), "low": low, "high": high}


def _picker_data(picker: Any) -> str:
    parts = ("systems", "values", "errors", "pvalues", "critical", "level")
    return json.dumps({name: getattr(picker, name) for name in parts}, separators=(",", ":"), ensure_ascii=False)
