"""Notes on columns: both readings of what looks clustered, codes and costs among scores, roles that nobody named."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import strat
from strat.base.notes import codes_of
from strat.data.logs.item_table import ItemTable

RNG = np.random.default_rng(4)
PASSAGE = np.repeat(np.arange(12), 5)


def of_passages(spread: float = 1.0) -> np.ndarray:
    """Rows of 0 and 1 that are alike within the 12 passages."""
    return (RNG.random(60) < spread * RNG.random(12)[PASSAGE] + (1 - spread) / 2).astype(float)


WIDE: dict[str, Any] = {
    "A": of_passages(),
    "B": of_passages(),
    "y": np.ones(60),
    "passage": np.array([f"p{k}" for k in PASSAGE]),
}
PAIR = {"score": ["A", "B"]}
LABELS = {"truth": "y", "predicted": ["A", "B"], "metrics": "accuracy"}


def readings(notes: Any) -> tuple[float, float, float]:
    """The standard errors that the note names: as it stands, of units, of strata."""
    (text,) = (note for note in notes if getattr(note, "code", "") == "looks-clustered")
    numbers = re.findall(r"(\d\S*) (?=as it stands|with (?:units|strata)='passage' \(command line)", text)
    stands, drawn, fixed = map(float, numbers)
    return stands, drawn, fixed


def logged(**wide: Any) -> ItemTable:
    """The items of two systems as logs give them."""
    return ItemTable(
        system=np.repeat(["A", "B"], 60),
        items=np.tile(np.arange(60), 2),
        score=np.concatenate([wide["A"], wide["B"]]),
        about={"passage": np.tile(wide["passage"], 2)},
    )


@pytest.mark.parametrize("how", [{"score": "A"}, {"truth": "y", "predicted": "A", "metrics": "accuracy"}], ids=str)
def test_an_evaluation_names_both_standard_errors_of_few_clusters(how: dict[str, str]) -> None:
    (metric,) = strat.evaluate(WIDE, **how).estimates
    se = [float(strat.evaluate(WIDE, **how, **role)[metric].se) for role in ({}, UNITS, STRATA)]
    assert readings(strat.evaluate(WIDE, **how).notes) == pytest.approx(se, rel=0.01)


UNITS, STRATA = {"units": "passage"}, {"strata": "passage"}


@pytest.mark.parametrize("how", [PAIR, LABELS], ids=["scores", "labels"])
def test_a_comparison_and_a_gate_name_those_of_the_difference(how: dict[str, Any]) -> None:
    se = [float(strat.compare(WIDE, **how, **role).comparison.difference.se) for role in ({}, UNITS, STRATA)]
    assert readings(strat.compare(WIDE, **how).notes) == pytest.approx(se, rel=0.01)
    assert readings(strat.gate(WIDE, **how, baseline="A", margin=0.1).notes) == pytest.approx(se, rel=0.01)
    assert "looks-clustered" not in codes_of(strat.compare(WIDE, **how, **UNITS).notes)


def test_so_they_do_for_items_of_logs() -> None:
    items = logged(**WIDE)
    se = [float(strat.compare(WIDE, **PAIR, **role).comparison.difference.se) for role in ({}, UNITS, STRATA)]
    assert readings(strat.compare(items).notes) == pytest.approx(se, rel=0.01)
    assert readings(strat.gate(items, baseline="A", margin=0.1).notes) == pytest.approx(se, rel=0.01)


def test_so_they_do_for_a_long_table() -> None:
    long = {
        "system": np.repeat(["A", "B"], 60),
        "item": np.tile(np.arange(60), 2),
        "score": np.concatenate([WIDE["A"], WIDE["B"]]),
        "passage": np.tile(WIDE["passage"], 2),
        "answer": np.array([f"text {k}" for k in range(120)]),  # differs within an item
    }
    assert readings(strat.compare(long).notes) == readings(strat.compare(WIDE, **PAIR).notes)
    assert "looks-clustered" not in codes_of(strat.compare(long, units="passage").notes)


@pytest.mark.parametrize("labels", [True, False])
def test_so_they_do_for_a_table_of_each_system(labels: bool) -> None:
    item = {"item": np.arange(60), "passage": WIDE["passage"], **({"y": WIDE["y"]} if labels else {})}
    order = RNG.permutation(60)
    one = {**item, "answer": WIDE["A"]}
    other = {name: column[order] for name, column in {**item, "answer": WIDE["B"]}.items()}
    roles = {"truth": "y", "predicted": "answer", "metrics": "accuracy"} if labels else {"score": "answer"}
    tables = {"A": one, "B": other}
    assert readings(strat.compare(tables, items="item", **roles).notes) == readings(strat.compare(WIDE, **PAIR).notes)
    assert "looks-clustered" not in codes_of(strat.compare(tables, items="item", **roles, **UNITS).notes)


def test_weights_are_in_the_standard_errors() -> None:
    weighted = {**WIDE, "w": RNG.uniform(1, 3, 60)}
    how = {"score": "A", "weights": "w"}
    se = [float(strat.evaluate(weighted, **how, **role)["mean"].se) for role in ({}, UNITS, STRATA)]
    assert readings(strat.evaluate(weighted, **how).notes) == pytest.approx(se, rel=0.01)


@pytest.mark.parametrize("codes", [(-1,), (-2, -1), (9,), (99,), (999,), (-9, 99)])
@pytest.mark.parametrize("whole", [True, False])
def test_codes_beside_scores_get_a_note(codes: tuple[float, ...], whole: bool) -> None:
    plain = np.tile([0.0, 1.0, 1.0], 20) if whole else np.linspace(0, 1, 60)
    coded = plain.copy()
    coded[: len(codes)] = codes
    assert "looks-coded" in codes_of(strat.evaluate({"s": coded}, score="s").notes)
    for table, note in (({"a": coded, "b": plain}, True), ({"a": plain, "b": plain[::-1]}, False)):
        board = strat.compare(table, score=["a", "b"])
        assert ("looks-coded" in codes_of(board.notes)) == note


@pytest.mark.parametrize("values", [range(10), (0, 1, 9, 2.5), (-1, 1), (1, 2, 3, 99), (0.5, 12, 31)])
def test_other_scales_are_no_codes(values: Any) -> None:
    table = {"s": np.resize(np.array(list(values), float), 60)}
    assert "looks-coded" not in codes_of(strat.evaluate(table, score="s").notes)


@pytest.mark.parametrize("names", [("cost_a", "cost_b"), ("latency_ms", "a"), ("error rate", "b")])
def test_what_is_spent_is_not_ranked_as_a_score_without_a_word(names: tuple[str, str]) -> None:
    table = dict(zip(names, RNG.random((2, 30)), strict=True))
    assert "looks-spent" in codes_of(strat.compare(table, score=list(names)).notes)
    assert "looks-spent" not in codes_of(strat.compare(table, score=list(names), higher_is_better=False).notes)


def long_table(**more: Any) -> dict[str, Any]:
    return {"system": ["a", "b"] * 30, "item": np.repeat(np.arange(30), 2), "correct": RNG.random(60), **more}


def test_a_long_table_of_costs_gets_the_note_too() -> None:
    table = long_table(cost_usd=RNG.random(60))
    assert "looks-spent" in codes_of(strat.compare(table, system="system", items="item", score="cost_usd").notes)
    assert "looks-spent" not in codes_of(strat.compare(table, system="system", items="item", score="correct").notes)


@pytest.mark.parametrize(
    ("role", "column"),
    [
        ("strata", np.where(np.arange(60) < 2, "alone", "others")),  # one item in a stratum
        ("strata", np.tile(["x", "y"], 30)),  # every item in two strata
    ],
)
def test_a_column_that_is_only_called_strata_is_used_where_it_can_be_and_never_blamed(role: str, column: Any) -> None:
    table = long_table(stratum=column)
    board = strat.compare(table, system="system", items="item", score="correct")
    assert "role-not-chosen" in codes_of(board.notes)
    without = strat.compare({k: v for k, v in table.items() if k != "stratum"}, score="correct")
    assert board.comparison.difference.se == without.comparison.difference.se
    with pytest.raises(strat.StratError, match=f"`{role}` must"):
        strat.compare(table, score="correct", strata="stratum")
    usable = strat.compare(long_table(stratum=np.repeat(["x", "y", "z"], 20)), score="correct")
    assert "role-chosen" in codes_of(usable.notes)


def test_notes_name_the_columns_of_the_user() -> None:
    table = long_table(doc=np.repeat(np.arange(3), 20), epoch=np.ones(60, int))
    table = {name: np.tile(column, 3) for name, column in table.items()} | {"epoch": np.repeat([1, 2, 3], 60)}
    many = {**table, "item": np.asarray(table["item"])}
    board = strat.compare(many, system="system", items="item", score="correct", epoch="epoch", units="doc")
    assert "units='units'" not in " ".join(board.notes)
