"""Any other result as content of a page: its sentence, and numbers of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from strat.show.render import Sheet, jsonable
from strat.show.report.model import Answer, Block, Grid, Section, Text, Told
from strat.show.report.wording import stop
from strat.show.sheet_result import SheetResult

QUANTITIES = {"pvalue": "p-value", "log10_pvalue": "log10 of the p-value", "null": "null hypothesis"}
CHANCE = {"n": "patterns", "expected": "expected by chance", "error": "error of the p-value at most"}


def of_anything(result: Any, name: str = "") -> Told:
    """A result that has a sentence, and numbers of its own."""
    from strat.comparison.chance_result import Chance

    text = str(result)
    data = _plain_data(result)
    chance = isinstance(result, Chance)
    words = QUANTITIES | (CHANCE if chance else {})
    lines = [(words.get(key, key), value) for key, value in data.items() if not isinstance(value, list | dict)]
    blocks: list[Block] = []
    if isinstance(result, SheetResult):  # a table stays a table
        sheet = result.table()
        blocks = [Grid(sheet, sheet.title), *([Text(tuple(sheet.notes))] if sheet.notes else [])]
    elif "\n" in text:
        blocks = [Text(tuple(text.split("\n\n")))]
    if lines:
        blocks.append(Grid(Sheet("", ("quantity", "value"), lines), "Numbers"))
    title = name or titled(type(result).__name__)
    answer = Answer(stop(text.splitlines()[0]) if text else title)
    topics = frozenset({"chance"}) if chance else frozenset()
    return Told(answer, (Section(title, tuple(blocks), stop(text.splitlines()[0])),), topics=topics, data=data)


def _plain_data(result: Any) -> dict[str, Any]:
    for name in ("to_dict", "data"):
        make: Callable[[], Mapping[str, Any]] | None = getattr(result, name, None)
        if callable(make):
            plain: dict[str, Any] = jsonable(dict(make()))
            return plain
    return {}


def titled(name: str) -> str:
    """The name of a class as words.

    >>> titled("McNemar"), titled("ProtocolResult")
    ('McNemar', 'Protocol result')
    """
    first, *rest = re.findall(r"(?:Mc)?[A-Z]?[^A-Z]+|[A-Z]", name)
    return " ".join([first, *(word.lower() for word in rest)])
