"""Groups in one table: every number is that of the group by itself, in memory and in a file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import strat
from strat import measures
from strat.base.limits import changed
from strat.base.notes import OF_INTERVALS
from strat.measures.register import Measure
from strat.verbs.group_lines import ManyEstimates, records_of

GROUPS = 14
DESIGNS: dict[str, dict[str, Any]] = {
    "rows": {},
    "weighted rows": {"weights": "weight"},
    "strata": {"strata": "stratum"},
    "units across groups": {"units": "unit"},
    "units inside groups": {"units": "own"},
    "weighted units in strata": {"units": "unit", "strata": "stratum", "weights": "weight"},
    "a finite population": {"units": "unit", "strata": "stratum", "population": dict.fromkeys(range(4), 90)},
}
LABELS = {"truth": "truth", "predicted": "predicted"}
MEASURES: dict[str, dict[str, Any]] = {
    "accuracy": LABELS,
    "recall": LABELS | {"positive": 1},
    "negative_predictive_value": LABELS | {"positive": 1},
    "f1": LABELS | {"positive": 1},
    "macro_f1": LABELS,
    "mean": {"score": "score"},
    "mcc": LABELS,
    "auc": {"truth": "binary", "score": "score"},
}


@pytest.fixture(scope="module")
def table() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(29)
    rows = 330
    group = np.append(np.arange(GROUPS), rng.integers(0, GROUPS, rows - GROUPS))
    truth = rng.integers(0, 3, rows)
    unit = rng.integers(0, 120, rows)
    score = np.where(group % 3 == 0, rng.integers(0, 2, rows), np.where(group % 3 == 1, 1, 9) * rng.random(rows))
    predicted = np.where((rng.random(rows) < 0.7) | (group < 4), truth, rng.integers(0, 3, rows))
    return {
        "group": group,
        "truth": np.where(group == 5, 0, truth),
        "predicted": np.where(group == 5, 0, predicted),
        "binary": (truth == 1).astype(int),
        "score": score.round(3),
        "weight": rng.integers(1, 5, rows).astype(float),
        "unit": unit,
        "stratum": unit % 4,
        "own": group * 4 + rng.integers(0, 4, rows),
    }


@pytest.fixture
def many() -> Iterator[None]:
    """A few groups are many."""
    with changed(compared_groups=3):
        yield


def _same(one: Any, other: Any, near: float = 1e-12) -> bool:
    if one is None or other is None or not isinstance(other, float):
        return bool(one == other)
    return math.isclose(one, other, rel_tol=near, abs_tol=1e-12) or (math.isnan(one) and math.isnan(other))


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("design", DESIGNS)
def test_all_groups_at_once_are_each_by_itself(table: dict[str, np.ndarray], design: str, measure: str) -> None:
    result = strat.evaluate(
        table, by="group", metrics=measure, **MEASURES[measure], design=strat.Sampling(**DESIGNS[design])
    )
    each = result.groups[measure].each
    assert isinstance(each, ManyEstimates)
    one_by_one = records_of(dict(each.items()), 0.95)
    for (label, line), (other, alone) in zip(records_of(each, 0.95), one_by_one, strict=True):
        assert label == other
        different = {name: (line[name], alone[name]) for name in line if not _same(line[name], alone[name])}
        assert not different, f"group {label}"
    noted = {note.code: labels for note, labels in each.cautions()}
    codes = {label: {note.code for note in one.notes} & set(OF_INTERVALS) for label, one in each.items()}
    assert noted == {c: tuple(k for k in codes if c in codes[k]) for c in set().union(*codes.values())}


@pytest.mark.parametrize("measure", ["accuracy", "recall", "f1", "macro_f1", "mean"])
def test_few_groups_and_many_groups_read_alike(table: dict[str, np.ndarray], measure: str) -> None:
    few = strat.evaluate(table, by="group", metrics=measure, units="unit", **MEASURES[measure])
    with changed(compared_groups=3):
        many = strat.evaluate(table, by="group", metrics=measure, units="unit", **MEASURES[measure])
    assert dict(few.groups[measure].undefined) == dict(many.groups[measure].undefined)
    for name, column in few.to_dict().items():
        assert all(_same(one, other) for one, other in zip(many.to_dict()[name], column, strict=True)), name


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("measure", ["accuracy", "recall", "macro_f1", "mean"])
@pytest.mark.parametrize("design", ["units across groups", "units inside groups", "weighted units in strata"])
@changed(rows_in_memory=0)
def test_a_file_of_two_passes_gives_the_groups_of_the_rows(
    table: dict[str, np.ndarray], design: str, measure: str, tmp_path: Path
) -> None:
    path = tmp_path / "rows.parquet"
    pl.DataFrame(table).write_parquet(path)
    options = {"by": "group", "metrics": measure, **MEASURES[measure], "design": strat.Sampling(**DESIGNS[design])}
    in_file, in_memory = (strat.evaluate(source, **options).groups[measure] for source in (path, table))
    assert isinstance(in_file.each, ManyEstimates)
    assert dict(in_file.undefined) == dict(in_memory.undefined)
    for name, column in in_memory.to_dict().items():
        for one, other in zip(in_file.to_dict()[name], column, strict=True):
            assert one == other if not isinstance(other, float) else one == pytest.approx(other, rel=1e-9, abs=1e-9)
    label = next(iter(in_file.each))
    assert in_file[label].interval() == pytest.approx(in_memory[label].interval(), rel=1e-9)
    assert in_file[label].notes == in_memory[label].notes


@pytest.mark.usefixtures("many")
def test_strata_are_groups_too_and_pages_show_them(table: dict[str, np.ndarray], tmp_path: Path) -> None:
    result = strat.evaluate(table, strata="group", metrics="accuracy", **LABELS)
    assert isinstance(result.strata.estimates, ManyEstimates)
    assert [line["stratum"] for line in result.data()["strata"]] == list(range(GROUPS))
    result.report(tmp_path / "r.html")
    by = strat.evaluate(table, by=["group", "stratum"], metrics="accuracy", **LABELS)
    assert isinstance(by.groups["accuracy"].each, ManyEstimates)
    assert "groups are too many to compare with each other" in str(by)
    by.report(tmp_path / "r.html")


def _columns_for(measure: Measure) -> dict[str, str]:
    """Columns of `every` for what the measure needs."""
    numbers = measure.reads == "numbers" and "truth" in measure.needs
    names = {"truth": "amount", "predicted": "forecast"} if numbers else {"truth": "truth", "predicted": "predicted"}
    return {role: {**names, "score": "score"}[role] for role in measure.needs}


def test_every_measure_that_groups_share_is_that_of_each_group() -> None:
    rng = np.random.default_rng(31)
    n = 500
    truth, amount = rng.integers(0, 2, n), rng.normal(5.0, 1.0, n)
    every = {
        "group": rng.integers(0, 6, n),
        "unit": rng.integers(0, 80, n),
        "truth": truth,
        "predicted": np.where(rng.random(n) < 0.75, truth, 1 - truth),
        "score": (0.6 * rng.random(n) + 0.3 * truth + 0.05).round(2),
        "amount": amount,
        "forecast": amount + rng.normal(0.0, 0.5, n),
    }
    shared, different = [], []
    of_rows = [m for m in measures.every() if m.of_tables and "items" not in m.needs and not m.needs_number]
    for measure in of_rows:
        try:
            result = strat.evaluate(every, by="group", metrics=measure.name, units="unit", **_columns_for(measure))
        except strat.StratError:  # of other columns
            continue
        each = result.groups[measure.name].each
        if isinstance(each, ManyEstimates):
            shared.append(measure.name)
            alone = records_of(dict(each.items()), 0.95)
            pairs = zip(records_of(each, 0.95), alone, strict=True)
            different += [measure.name for (_, a), (_, b) in pairs if not all(_same(a[k], b[k], 1e-10) for k in a)]
    assert len(shared) >= 30
    assert not different


@pytest.mark.parametrize("measure", ["recall", "precision", "f1"])
def test_a_share_of_nothing_is_no_value_of_a_group(measure: str) -> None:
    """Nothing is positive in b, neither in truth nor predicted: 0 / 0 is not 0."""
    rows = {"g": list("aaabbb"), "y": [1, 0, 1, 0, 0, 0], "p": [1, 1, 0, 0, 0, 0]}
    result = strat.evaluate(rows, truth="y", predicted="p", by="g", metrics=measure).groups[measure]
    assert list(result.each) == ["a"]
    assert list(result.undefined) == ["b"]
