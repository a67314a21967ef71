"""The page: results in, one self-contained HTML file out."""

from __future__ import annotations

import base64
import hashlib
import json
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from strat.doors import checked
from strat.errors import StratError
from strat.report import charts, sections, systems
from strat.report.parts import Grid, Matrix, Told
from strat.report.references import sources_of
from strat.report.wording import held, stop
from strat.tables.out import csv_text, jsonable, latex_text, markdown_text, numeric_columns, shown
from strat.tables.out import write as write_whole

SCHEMA = "strat/report/1"
HERE = Path(__file__).parent
DATA_LIMIT = 3_000_000
FILTERED = 15

# Class names and not classes: a result's module is loaded if there is a result, and only then.
MAKERS: dict[str, Callable[..., Told]] = {
    "strat.tables.evaluation.Evaluation": lambda found, name: sections.of_evaluation(found),
    "strat.tables.compare.Leaderboard": lambda found, name: systems.of_leaderboard(found),
    "strat.comparison.many.ManySystems": lambda found, name: systems.of_many(found),
    "strat.comparison.paired.Comparison": systems.of_comparison,
    "strat.comparison.posthoc.AllPairs": systems.of_all_pairs,
    "strat.comparison.posthoc.AgainstControl": systems.of_control,
    "strat.comparison.data_sets.Friedman": systems.of_friedman,
    "strat.estimation.result.Estimate": sections.of_estimate,
    "strat.statistics.confusion.ConfusionMatrix": lambda found, name: sections.of_confusion(found),
    "strat.recognition.curves.MatchCurve": sections.of_match_curve,
    "strat.recognition.verification.DetCurve": sections.of_det_curve,
    "builtins.object": sections.of_anything,
}
GROUPS = {
    "Evaluation": "Evaluation",
    "Leaderboard": "Comparison",
    "ManySystems": "Comparison",
    "MatchCurve": "Identification",
    "DetCurve": "Verification",
    "ConfusionMatrix": "Confusion matrix",
}


@dataclass(frozen=True)
class Group:
    """What one of several results has to say, under its name ("" where there is only one)."""

    name: str
    told: Told


@checked
def write(results: Any, path: str | Path, title: str | None = None) -> Path:
    """Write the report of one result, or of several, as one self-contained HTML file; returns its path.

    The file is written whole or not at all. It needs no network, holds the numbers as JSON for machines, and stays
    under 6 MB.

    Parameters
    ----------
    results
        An evaluation, a comparison, an estimate, a curve or any other result; a list of them (the first one gives the
        answer on top); or a mapping from names to them.
    path
        Where to write, such as ``"report.html"``.
    title
        The page's title.
    """
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise StratError(f"`path` must end in .html, got {str(path)!r}.")
    write_whole(target, render(results, title=title))
    return target


@checked
def render(results: Any, title: str | None = None) -> str:
    """The report as text; the arguments are those of `write`.

    Examples
    --------
    >>> import strat
    >>> made = strat.estimate(strat.accuracy(["a", "b"], ["a", "a"]), on=strat.Design.simple_random(n=2))
    >>> page = render(made, title="Two rows")
    >>> "<title>Two rows</title>" in page, "Accuracy is 0.5" in page
    (True, True)
    """
    groups = [Group(name, _told(result, name)) for name, result in _named(results)]
    told = [group.told for group in groups]
    script = (HERE / "page.js").read_text(encoding="utf-8")
    keys = _keys(groups)
    text: str = _template().render(
        title=title or "strat report",
        script=Markup(script),
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        groups=groups,
        answer=told[0].answer,
        facts=_facts(groups),
        methods=_merged(t.methods for t in told),
        warnings=_merged(t.warnings for t in told),
        sources=sources_of(topic for t in told for topic in t.topics),
        versions=_versions(),
        keys=keys,
        copies=_safe_json(_copies(groups, keys)),
        data=_safe_json(_data(groups, title)),
    )
    return text.lstrip()


# ---- which results, under which names


def _named(results: Any) -> list[tuple[str, Any]]:
    if isinstance(results, Mapping):
        found = [(str(name), result) for name, result in results.items()]
    elif isinstance(results, list | tuple):
        found = [(_group_name(result) if len(results) > 1 else "", result) for result in results]
    else:
        found = [("", results)]
    if not found:
        raise StratError("`results` must hold at least one result to report, got none.")
    for _, result in found:
        if result is None or isinstance(result, str | bytes | int | float | complex | np.ndarray):
            raise StratError(
                f"`results` must be results such as those of strat.evaluate, got {type(result).__name__}; "
                "give what a call of strat returned."
            )
    return found


def _group_name(result: Any) -> str:
    name = type(result).__name__
    return GROUPS.get(name) or str(getattr(result, "name", "") or sections.titled(name))


def _told(result: Any, name: str) -> Told:
    for kind in type(result).__mro__:
        maker = MAKERS.get(f"{kind.__module__}.{kind.__qualname__}")
        if maker is not None:
            return maker(result, name)
    raise AssertionError("every class is an object")  # pragma: no cover


def _merged(parts: Iterator[Sequence[Any]] | Any) -> list[Any]:
    """All entries once, in order."""
    return list(dict.fromkeys(entry for part in parts for entry in part))


def _facts(groups: Sequence[Group]) -> list[tuple[str, str]]:
    """The facts of all results once; where two differ, the later says whose it is."""
    found: dict[str, str] = {}
    for group in groups:
        for name, said in group.told.facts:
            if found.setdefault(name, said) != said:
                found[f"{name} ({group.name})"] = said
    return list(found.items())


# ---- what the template needs


def _keys(groups: Sequence[Group]) -> dict[int, str]:
    """A short name for each section and block, by which links and buttons find it."""
    found: dict[int, str] = {}
    for g, group in enumerate(groups, 1):
        found[id(group)] = f"result-{g}"
        for s, section in enumerate(group.told.sections, 1):
            found[id(section)] = f"part-{g}-{s}"
            found |= {id(block): f"block-{g}-{s}-{b}" for b, block in enumerate(section.blocks, 1)}
    return found


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
    made = {
        "schema": SCHEMA,
        "title": title,
        "versions": dict(_versions()),
        "results": [{**g.told.data, "name": g.name, "answer": g.told.answer.sentence} for g in groups],
    }
    plain: dict[str, Any] = jsonable(made)
    if len(json.dumps(plain)) > DATA_LIMIT:
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
    found = [("Python", platform.python_version())]
    for name in ("strat", "numpy", "scipy"):
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:  # pragma: no cover - run from a folder without an installation
            continue
    return found


@cache
def _template() -> Any:
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"shown": _cell, "sort_key": _sort_key, "sentence": stop, "id": id, "held": held}
    environment.globals |= {
        "forest": _forest, "numeric": numeric_columns, "bars": charts.bars, "filtered_from": FILTERED,
        "picker_data": _picker_data,
    }  # fmt: skip
    return environment.get_template("page.html.j2")


def _cell(value: Any, column: str = "") -> str:
    if column in ("p", "p adjusted") and isinstance(value, float) and value < 0.001:
        return "< 0.001"
    text = shown(value)
    return text.replace("-", "−", 1) if isinstance(value, int | float) and text.startswith("-") else text


def _sort_key(value: Any) -> str:
    if value is None:
        return ""
    return repr(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _forest(grid: Grid) -> dict[str, Any]:
    """The cells of a forest plot and the axis above them."""
    numbers = [v for m in grid.marks for v in (m.value, m.low, m.high, m.naive_low, m.naive_high)]
    low, high = charts.domain(numbers, grid.reference)
    cells = [charts.forest_cell(mark, low, high, grid.reference) for mark in grid.marks]
    return {"cells": cells, "axis": charts.axis(low, high), "low": low, "high": high}


def _picker_data(picker: Any) -> str:
    parts = ("systems", "values", "errors", "pvalues", "critical", "level")
    return json.dumps({name: getattr(picker, name) for name in parts}, separators=(",", ":"), ensure_ascii=False)
