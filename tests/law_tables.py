"""What the laws share: one small table in every source, the kinds of designs, measures, and pairs of their choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import strat
from strat.measures.register import spellings

Data = dict[str, np.ndarray]
Roles = dict[str, Any]
SYSTEMS = 2


def table(seed: int = 5, units: int = 24, each: int = 4) -> Data:
    """Rows of units in three strata, with the columns that every kind of design asks for, and two systems."""
    rng = np.random.default_rng(seed)
    n, unit = units * each, np.repeat(np.arange(units), each)
    truth, ease = rng.integers(0, 3, n), rng.beta(5, 2, units)[unit]
    binary = (truth == 1).astype(np.int64)
    data = {
        "truth": truth,
        "binary": binary,
        "unit": unit,
        "stratum": np.array(["art", "biology", "chess"])[unit % 3],
        "weight": rng.integers(1, 4, n).astype(float),
        "reader": np.arange(n) % 6,
        "case": np.arange(n) // 6,
        "school": np.array([f"s{k}" for k in unit // 3]),
        "place": np.arange(n),
        "pose": np.arange(n) % each,
        "item": np.arange(n) // 3,
        "sex": np.array(["f", "m", "x"])[rng.integers(0, 3, n)],  # crosses the units
        "kind": np.array(["in", "out"])[unit // 3 % 2],  # whole units
        "amount": np.round(2.0 + rng.gamma(3.0, 1.0, n), 2),
        "length": rng.integers(3, 9, n).astype(float),
        "event": (rng.random(n) < 0.7).astype(np.int64),
        "low": np.round(rng.uniform(1.0, 4.0, n), 2),
        "high": np.round(rng.uniform(5.0, 9.0, n), 2),
        "answer": truth[np.arange(n) // 3 * 3],  # one for all tries of an item
        "severity": np.array(["Minor", "Major", "Minor"])[truth],
        "category": np.array(["Fluency", "Accuracy"])[binary],
    }
    for k in range(SYSTEMS):
        data[f"guess{k}"] = np.where(rng.random(n) < ease - 0.05 * k, truth, rng.integers(0, 3, n))
        data[f"called{k}"] = np.where(rng.random(n) < ease - 0.05 * k, binary, 1 - binary)
        raised = 0.35 + 0.3 * binary * ease + rng.normal(0, 0.12, n)
        data[f"score{k}"] = np.round(np.clip(raised, 0.02, 0.98), 2)
        data[f"amount{k}"] = np.round(data["amount"] * rng.gamma(20.0, 0.05, n), 2)
        data[f"right{k}"] = (data[f"guess{k}"] == truth).astype(np.int64)
    for column in data.values():
        column.flags.writeable = False  # nothing that is asked changes what it is asked of
    return data


DESIGNS: dict[str, Roles] = {
    "simple": {},
    "strata": {"strata": "stratum"},
    "clusters": {"units": "unit"},
    "both": {"units": "unit", "strata": "stratum"},
    "weights": {"weights": "weight"},
    "crossed": {"design": strat.Sampling(crossed=["reader", "case"])},
    "staged": {"design": strat.Sampling(stages=["school", "unit"])},
    "ordered": {"design": strat.Sampling(order="place")},
    "blocks": {"design": strat.Sampling(units="unit", kinds="pose")},
    "repeats": {"items": "item"},
}
DESIGN_OF: dict[str, Callable[[Data], strat.Design]] = {  # the same, of arrays
    "simple": lambda t: strat.Design.simple_random(len(t["truth"])),
    "strata": lambda t: strat.Design.stratified(t["stratum"]),
    "clusters": lambda t: strat.Design.clustered(t["unit"]),
    "both": lambda t: strat.Design.clustered(t["unit"], strata=t["stratum"]),
    "weights": lambda t: strat.Design.simple_random(len(t["truth"]), weights=t["weight"]),
    "crossed": lambda t: strat.Design.crossed(factors={"reader": t["reader"], "case": t["case"]}),
    "staged": lambda t: strat.Design.staged(stages={"school": t["school"], "unit": t["unit"]}),
    "ordered": lambda t: strat.Design.systematic(t["place"]),
    "blocks": lambda t: strat.Design.blocks(units=t["unit"], kinds=t["pose"]),
    "repeats": lambda t: strat.Design.clustered(t["item"]),
}
# A measure with its columns: "{}" is the number of the system.
MEASURES: dict[str, Roles] = {
    "accuracy": {"truth": "truth", "predicted": "guess{}"},
    "macro_f1": {"truth": "truth", "predicted": "guess{}"},
    "recall": {"truth": "binary", "predicted": "called{}", "positive": 1},
    "auc": {"truth": "binary", "score": "score{}", "positive": 1},
    "mean": {"score": "right{}"},
    "rmse": {"truth": "amount", "predicted": "amount{}"},
}

# Every measure that has a name, by the columns that it is asked of: those of a line go into one call.
LABELS: Roles = {"truth": "truth", "predicted": "guess0"}
BINARY: Roles = {"truth": "binary", "predicted": "called0", "positive": 1}
SCORES: Roles = {"truth": "binary", "score": "score0", "positive": 1}
AMOUNTS: Roles = {"truth": "amount", "predicted": "amount0"}
OF_BINARY = (
    *("negative_predictive_value", "false_positive_rate", "false_negative_rate"),
    *("positive_likelihood_ratio", "negative_likelihood_ratio"),
)
OF_AMOUNTS = (
    *(
        "rmse",
        "mae",
        "mse",
        "mean_error",
        "r2",
        "mape",
        "spearman",
        "kendall",
        "correlation",
        "pinball_loss",
        "pinball_loss@0.8",
    ),
    *("icc1", "icc2", "icc3", "krippendorff_alpha_interval", "krippendorff_alpha_ratio"),
)
OF_RATINGS = ("gwet_ac2_linear", "gwet_ac2_quadratic", "krippendorff_alpha_ordinal")
OF_SCORES = (
    *("auc", "average_precision", "equal_error_rate", "brier", "log_loss", "calibration_error"),
    *("observed_expected", "calibration_slope", "calibration_intercept", "net_benefit@0.3"),
)
OF_TRIES = ("pass@2", "pass^2", "best@2", "mean@2", "consistency")
GROUPS_OF_MEASURES: dict[str, tuple[Roles, tuple[str, ...]]] = {
    "labels": (
        LABELS,
        tuple(
            name
            for name, one in sorted(spellings().items(), key=lambda item: item[0] != "accuracy")
            if one.needs == ("truth", "predicted")
            and one.at is None
            and name not in {*OF_BINARY, *OF_AMOUNTS, *OF_RATINGS}
        ),
    ),
    "two labels": (BINARY, OF_BINARY),
    "amounts": (AMOUNTS, OF_AMOUNTS),
    "ratings": (LABELS, OF_RATINGS),
    "scores": (SCORES, OF_SCORES),
    "numbers": ({"score": "amount0"}, ("mean", "total", "median", "latency@0.9")),
    "selections": ({"predicted": BINARY["predicted"]}, ("selection_rate",)),
    "ratio": ({"truth": "length", "score": "amount0"}, ("ratio",)),
    "spent": ({"predicted": "called0", "score": "length"}, ("cost_per_success",)),
    "forecasts": ({"truth": "amount", "predicted": "amount0", "score": "length"}, ("mase",)),
    "limits": ({"truth": "amount", "predicted": "low", "score": "high"}, ("interval_share",)),
    "times": ({"truth": "length", "predicted": "event", "score": "score0"}, ("harrell_c",)),
    "risks": ({"truth": "binary", "predicted": "score0", "score": "score1"}, ("nri", "idi")),
    "errors": ({"truth": "category", "predicted": "severity", "items": "item"}, ("mqm",)),
    "votes": ({"truth": "answer", "predicted": "guess0", "items": "item"}, ("majority_vote",)),
    "tries": ({"score": "right0", "items": "item"}, OF_TRIES),
}


def asked_of_all(group: str, design: str) -> Roles:
    """The arguments of `evaluate` for all measures of a line, on a kind of design that names columns alone."""
    roles, names = GROUPS_OF_MEASURES[group]
    return DESIGNS[design] | roles | {"metrics": list(names)}


def of_one(measure: str, system: int = 0) -> Roles:
    """The arguments of `evaluate` for a measure of one system."""
    return {"metrics": measure} | {role: _at(column, system) for role, column in MEASURES[measure].items()}


def of_all(measure: str) -> Roles:
    """The arguments of `compare` for a measure of all systems."""
    several = {"predicted", "score"}
    return {"metrics": measure} | {
        role: [_at(column, k) for k in range(SYSTEMS)] if role in several else column
        for role, column in MEASURES[measure].items()
    }


def names_of(measure: str) -> list[str]:
    """The columns of the systems."""
    asked = of_all(measure)
    return asked.get("predicted") or asked["score"]


def _at(column: Any, system: int) -> Any:
    return column.format(system) if isinstance(column, str) else column


def judged(rows: Data) -> dict[str, Any]:
    """A judge of every row, and people's scores of a third of them."""
    labelled = np.random.default_rng(2).random(len(rows["unit"])) < 1 / 3
    human = {name: np.where(labelled, rows[of], np.nan) for name, of in (("human", "right0"), ("human1", "right1"))}
    chance = np.full(len(labelled), 1 / 3)
    return {**human, "judge": rows["score0"], "judge1": rows["score1"], "chance": chance, "unit": rows["unit"]}


def voted() -> dict[str, Any]:
    """Votes on pairs of four systems, six on each prompt."""
    rng = np.random.default_rng(6)
    pair = np.array([rng.choice(4, 2, replace=False) for _ in range(120)])
    systems = np.array(["red", "green", "blue", "grey"])
    winner = rng.choice(["left", "right", "tie"], 120, p=[0.45, 0.4, 0.15])
    return {"left": systems[pair[:, 0]], "right": systems[pair[:, 1]], "winner": winner, "prompt": np.arange(120) // 6}


def _pandas(data: Data, folder: Path) -> Any:
    import pandas as pd

    return pd.DataFrame(data)


def _polars(data: Data, folder: Path) -> Any:
    import polars as pl

    return pl.DataFrame(data)


def _arrow(data: Data, folder: Path) -> Any:
    import pyarrow as pa

    return pa.table(data)


def csv_file(data: Mapping[str, Sequence[Any] | np.ndarray], path: Path) -> Path:
    """The columns in a file of comma-separated values."""
    lines = [",".join(data), *(",".join(map(str, row)) for row in zip(*data.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _parquet(data: Data, folder: Path) -> Path:
    import pyarrow.parquet

    pyarrow.parquet.write_table(_arrow(data, folder), folder / "rows.parquet", row_group_size=17)
    return folder / "rows.parquet"


def _duckdb(data: Data, folder: Path) -> Any:
    import duckdb

    return duckdb.connect().from_arrow(_arrow(data, folder))


SOURCES: dict[str, Callable[[Data, Path], Any]] = {
    "mapping": lambda data, folder: data,
    "pandas": _pandas,
    "polars": _polars,
    "arrow": _arrow,
    "csv": lambda data, folder: csv_file(data, folder / "rows.csv"),
    "parquet": _parquet,
    "duckdb": _duckdb,
}


def pairs(*factors: Sequence[str]) -> list[tuple[str, ...]]:
    """Few combinations in which every two levels of different factors meet, always the same ones.

    >>> pairs("ab", "xy", "pq")
    [('a', 'x', 'p'), ('a', 'y', 'q'), ('b', 'x', 'q'), ('b', 'y', 'p')]
    """
    every = {row: _meetings(row) for row in product(*factors)}
    missing = set().union(*every.values())
    chosen = set()
    while missing:
        best = max(every, key=lambda row: len(missing & every[row]))  # the first of the best
        chosen.add(best)
        missing -= every[best]
    return [row for row in every if row in chosen]


def _meetings(row: Sequence[str]) -> set[tuple[int, str, int, str]]:
    return {(i, row[i], j, row[j]) for i, j in combinations(range(len(row)), 2)}


def some_pairs(every: int) -> list[Any]:
    """Parameters for every design and measure: each design is quick with one measure of `every`, the rest is slow."""
    return [
        pytest.param(design, measure, id=f"{design}-{measure}", marks=() if (i - j) % every == 0 else pytest.mark.slow)
        for i, design in enumerate(DESIGNS)
        for j, measure in enumerate(MEASURES)
    ]


def crossing(*factors: Sequence[str], failing: Mapping[Any, str] | None = None) -> list[Any]:
    """Parameters for every combination: pairs are quick, the rest is slow.

    `failing` says which fail today, as a strict expectation: some levels of a combination, to the reason.
    """
    quick = set(pairs(*factors))
    return [
        pytest.param(
            *row, id="-".join(row), marks=[*(() if row in quick else (pytest.mark.slow,)), *_fails(row, failing)]
        )
        for row in product(*factors)
    ]


def _fails(row: Sequence[str], failing: Mapping[Any, str] | None) -> list[Any]:
    reasons = [why for levels, why in (failing or {}).items() if set(levels) <= set(row)]
    return [pytest.mark.xfail(strict=True, raises=AssertionError, reason=reasons[0])] if reasons else []
