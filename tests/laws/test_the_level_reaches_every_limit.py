"""The level that is asked for is that of every limit: in numbers, in words, and on pages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import strat
from facts_of_results import facts, leaves
from law_tables import BINARY, DESIGNS, LABELS, Data, Roles, judged, of_all, of_one, voted

Ask = Callable[[Data, float], Any]
LIMITS = re.compile(r"(^|_)(low|high|critical|width)$")  # the last names of what must change
BOTH: dict[str, Any] = {"units": "unit", "strata": "stratum"}
TWO: dict[str, Any] = {"truth": "truth", "predicted": ["guess0", "guess1"], **BOTH}
THREE: dict[str, Any] = {**TWO, "predicted": ["guess0", "guess1", "answer"]}


def _models(rows: Data, level: float) -> Any:
    y = np.arange(60) % 2
    both = {"a": GaussianNB(), "b": GaussianNB(var_smoothing=0.5)}
    how: dict[str, Any] = {"cv": 3, "repeats": 2, "groups": np.arange(60) // 3, "five_by_two": True, "sources": 2}
    return strat.compare_models(both, _cloud(y), y, metrics=["accuracy", "roc_auc"], **how, level=level)


def _cloud(y: Any) -> Any:
    return np.random.default_rng(4).normal(size=(len(y), 2)) + y[:, None]


def _folds(rows: Data, level: float) -> Any:
    y = np.arange(60) % 2
    return strat.cross_validate(GaussianNB(), _cloud(y), y, cv=3, level=level)


def _by_kind(how: Roles, rows: Data, level: float) -> Any:
    return strat.evaluate(rows, **of_one("accuracy"), **how, by="kind", level=level)


def _board(how: Roles, rows: Data, level: float) -> Any:
    return strat.compare(rows, **of_all("auc"), **how, level=level)


VERBS: dict[str, Ask] = {
    "groups": lambda rows, level: strat.evaluate(rows, **LABELS, **BOTH, by=["kind", "sex"], level=level),
    "odds": lambda rows, level: strat.evaluate(
        rows, **BINARY, metrics=["recall", "false_positive_rate"], by="kind", level=level
    ).equalized_odds(),
    "two phases": lambda rows, level: strat.evaluate(
        judged(rows), score="human", proxy=strat.Proxy("judge", probability="chance"), units="unit", level=level
    ),
    "board": lambda rows, level: strat.compare(rows, **TWO, by="kind", level=level),
    "two measures": lambda rows, level: strat.compare(rows, **THREE, metrics=["accuracy", "kappa"], level=level),
    "baseline": lambda rows, level: strat.compare(rows, **THREE, baseline="guess0", level=level),
    "gate": lambda rows, level: strat.gate(rows, **TWO, baseline="guess0", margin=0.2, by="kind", level=level),
    "floor": lambda rows, level: strat.gate(rows, **LABELS, floor=0.7, level=level),
    "votes": lambda rows, level: strat.votes(voted(), units="prompt", level=level),
    "check": lambda rows, level: strat.check(rows, **LABELS, metrics="accuracy", trials=50, level=level),
    "models": _models,
    "folds": _folds,
}
OF_DESIGNS: dict[str, Ask] = {f"groups, {design}": partial(_by_kind, how) for design, how in DESIGNS.items()} | {
    f"board, {design}": partial(_board, how) for design, how in DESIGNS.items()
}
EVERY = VERBS | OF_DESIGNS


def _limits(result: Any) -> dict[str, float]:
    """Every limit, but those at an end of what can be: 0 and 1."""
    return {
        place: value
        for place, value in leaves(facts(json.loads(result.to_json())))
        if LIMITS.search(place.rpartition(".")[2]) and isinstance(value, float) and value not in (0.0, 1.0)
    }


@pytest.mark.parametrize("name", EVERY)
def test_no_limit_stays_where_the_level_changes(rows: Data, name: str) -> None:
    narrow, wide = (_limits(EVERY[name](rows, level)) for level in (0.6, 0.95))
    assert wide
    assert [place for place, value in wide.items() if narrow.get(place) == value] == []


@pytest.mark.parametrize("name", VERBS)
def test_no_sentence_and_no_page_names_another_level(rows: Data, name: str, tmp_path: Path) -> None:
    result = VERBS[name](rows, 0.8)
    texts = [str(result), result.to_json(), result.report(tmp_path / "page.html").read_text(encoding="utf-8")]
    if hasattr(result, "estimates") or hasattr(result, "estimate"):
        texts.append(strat.explain(result))
    shown = (re.sub(r"<(style|script|svg).*?</\1>|<[^>]*>", "", text, flags=re.DOTALL) for text in texts)
    assert [found for text in shown for found in re.findall(r".{0,60}\b95 ?%.{0,20}", text)] == []
