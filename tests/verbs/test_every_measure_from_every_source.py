"""Every measure on every design says the same from every source: rows in memory, frames, engines, and files.

Whatever holds the rows, every measure has the same value, standard error, degrees of freedom, interval, notes and
values by stratum as the statistic of the rows on their design; neither the order of rows nor their chunks matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import strat
from strat import Design, Estimate
from strat.base.limits import changed
from strat.base.notes import Note
from strat.measures.register import spellings
from strat.verbs import evaluate
from strat.verbs.evaluation import Evaluation
from strat.verbs.metrics import chosen

Data = dict[str, np.ndarray]
ALL = slice(None)
LABELS = {"truth": "truth", "predicted": "guess"}
SCORES = {"truth": "cat", "score": "score"}
BINARY = {"truth": "cat", "predicted": "called"}


def agreement(truth: Any, predicted: Any) -> strat.Statistic:
    """A curved measure: the correlation of two codes, which is jackknifed with few units."""
    return strat.correlation(_codes(truth), _codes(predicted))


def spread(truth: Any, predicted: Any) -> strat.Statistic:
    """A measure that is no share, on the log scale."""
    return strat.variance(_codes(truth) - 1.3 * _codes(predicted))


def middle(truth: Any, predicted: Any) -> strat.Statistic:
    """A quantile, whose interval goes through a share."""
    return strat.quantile(_codes(truth) + 0.1 * _codes(predicted), 0.4)


def weighted_share(truth: Any, predicted: Any) -> strat.Statistic:
    """A function of row weights."""
    right = np.asarray(truth == predicted, float)
    return strat.statistic(lambda w: float(w @ right / w.sum()), n=len(right))


def _codes(labels: Any) -> np.ndarray:
    return np.asarray([ord(str(label)[0]) - 97.0 for label in labels])


ONE_CLASS = {
    *("negative_predictive_value", "false_positive_rate", "false_negative_rate"),
    *("positive_likelihood_ratio", "negative_likelihood_ratio"),
}
OF_NUMBERS = ("rmse", "mae", "mse", "mean_error", "r2", "mape", "spearman", "kendall", "correlation", "pinball_loss")
OF_RISKS = ("calibration_slope", "calibration_intercept", "net_benefit@0.3")
OF_RATINGS = ("icc1", "icc2", "icc3", "krippendorff_alpha_interval", "krippendorff_alpha_ratio",
              "gwet_ac2_linear", "gwet_ac2_quadratic")  # fmt: skip
NUMERIC = {"mean", "total", "median", "ratio", "cost_per_success", *OF_NUMBERS, *OF_RISKS, *OF_RATINGS}
MEASURES: dict[str, tuple[Any, dict[str, str]]] = {
    name: (name, SCORES if "score" in metric.needs else BINARY if name in ONE_CLASS else LABELS)
    for name, metric in spellings().items()
    if name not in NUMERIC and len(metric.needs) == 2 and metric.of != "item"
} | {
    "mase": ("mase", {"truth": "weight", "predicted": "score", "score": "risk"}),
    "interval_share": ("interval_share", {"truth": "cat", "predicted": "score", "score": "weight"}),
    "harrell_c": ("harrell_c", {"truth": "weight", "predicted": "called", "score": "risk"}),
    **{name: (name, {"truth": "cat", "predicted": "risk", "score": "score"}) for name in ("nri", "idi")},
    **{name: (name, {"score": "score"}) for name in ("mean", "total", "median", "latency@0.9")},
    "selection_rate": ("selection_rate", {"predicted": "called"}),
    **{name: (name, {"truth": "cat", "score": "risk"}) for name in OF_RISKS},
    **{name: (name, {"truth": "cat", "predicted": "called"}) for name in OF_RATINGS},
    "ratio": ("ratio", {"truth": "weight", "score": "score"}),
    "cost_per_success": ("cost_per_success", {"predicted": "called", "score": "weight"}),
    "pinball_loss@0.8": ("pinball_loss@0.8", {"truth": "weight", "predicted": "score"}),
    **{name: (name, {"truth": "weight", "predicted": "score"}) for name in OF_NUMBERS},
    "agreement": (agreement, LABELS),
    "spread": (spread, LABELS),
    "middle": (middle, LABELS),
    "weighted share": (weighted_share, LABELS),
}
DESIGNS: dict[str, dict[str, Any]] = {
    "rows": {},
    "weighted rows": {"weights": "weight"},
    "strata": {"strata": "subject"},
    "strata of a known population": {"strata": "subject", "population": 900},
    "units": {"units": "passage"},
    "weighted units in strata": {"strata": "subject", "units": "passage", "weights": "weight"},
    "units of a known population": {"strata": "subject", "units": "passage", "weights": "weight", "population": 40},
}


def _file(data: Data, folder: Path) -> Any:
    import polars as pl

    path = folder / "rows.parquet"
    pl.DataFrame(data).write_parquet(path, row_group_size=97)
    return path


def _parts(data: Data, folder: Path) -> Any:
    import polars as pl

    order = np.random.default_rng(3).permutation(len(data["truth"]))
    frame = pl.DataFrame({name: values[order] for name, values in data.items()})
    frame.head(50).write_parquet(folder / "part-1.parquet")
    frame.tail(len(order) - 50).write_parquet(folder / "part-2.parquet")
    return str(folder / "part-*.parquet")


def _csv(data: Data, folder: Path) -> Any:
    import polars as pl

    path = folder / "rows.csv"
    pl.DataFrame(data).write_csv(path)
    return path


def _duckdb(data: Data, folder: Path) -> Any:
    import duckdb
    import pyarrow as pa

    return duckdb.connect().from_arrow(pa.table(data))


def _lazy(data: Data, folder: Path) -> Any:
    import polars as pl

    return pl.DataFrame(data).lazy()


def _shuffled(data: Data, folder: Path) -> Any:
    import pandas as pd

    return pd.DataFrame(data).sample(frac=1.0, random_state=1)


def _dask(data: Data, folder: Path) -> Any:
    import pandas as pd

    dask = pytest.importorskip("dask.dataframe")
    return dask.from_pandas(pd.DataFrame(data), npartitions=3)


def _spark(data: Data, folder: Path) -> Any:
    import pandas as pd

    session = pytest.importorskip("pyspark.sql").SparkSession
    spark = session.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    return spark.createDataFrame(pd.DataFrame(data))


ROADS: dict[str, Callable[[Data, Path], Any]] = {
    "columns": lambda data, folder: data,
    "pandas, rows shuffled": _shuffled,
    "polars lazy": _lazy,
    "duckdb": _duckdb,
    "csv": _csv,
    "two passes": _file,
    "two passes, shuffled parts": _parts,
}
FAR = {"dask": _dask, "spark": _spark}


@pytest.fixture(scope="module")
def rows() -> Data:
    """Four hundred rows of 60 units in 4 strata, unlike in size, with few distinct scores."""
    rng = np.random.default_rng(11)
    unit = np.sort(rng.choice(60, 400, p=np.arange(20, 80) / np.arange(20, 80).sum()))
    truth = rng.choice(["ant", "bee", "cat"], 400)
    right = rng.random(400) < rng.beta(6, 3, 60)[unit]
    guess = np.where(right, truth, rng.choice(["ant", "bee", "cat"], 400))
    weight = rng.integers(1, 4, 400).astype(float)
    score = np.round(rng.random(400) * 0.6 + 0.4 * (truth == "cat"), 1)
    return {
        "subject": np.array(["art", "biology", "chess", "drama"])[unit % 4],
        "passage": unit,
        "truth": truth,
        "guess": guess,
        "weight": weight,
        "score": score,
        "risk": 0.1 + 0.8 * score,
        "cat": (truth == "cat").astype(np.int64),
        "called": ((truth == "cat") ^ (rng.random(400) < 0.2)).astype(np.int64),
    }


def _row_design(data: Data, roles: dict[str, Any]) -> Design:
    columns = {role: data[name] for role, name in roles.items() if isinstance(name, str)}
    options = {"weights": columns.get("weights"), "population": roles.get("population")}
    if "units" in columns:
        return Design.clustered(columns["units"], strata=columns.get("strata"), **options)
    if "strata" in columns:
        return Design.stratified(columns["strata"], **options)
    return Design.simple_random(len(data["truth"]), **options)


def _of_rows(data: Data, measure: Any, asked: dict[str, str], design: Design, *, closed: bool = False) -> Estimate:
    (metric,) = chosen(measure, asked)
    statistic = metric.build({role: data[name] for role, name in asked.items()})
    return strat.estimate(replace(statistic, curved_below=0) if closed else statistic, on=design)


class Wanted(NamedTuple):
    """What an estimate must say."""

    value: Any
    se: Any
    df: Any
    method: Any
    replicated: bool
    notes: tuple[Note, ...]
    interval: Any
    deff: Any

    @classmethod
    def of(cls, one: Estimate) -> Wanted:
        limits = one.interval() if one.least_df > 0 else None
        return cls(one.value, one.se, one.df, one.method, one.replicated, one.notes, limits, one.deff)


def _same(one: Estimate, other: Wanted, what: str) -> None:
    assert one.value == pytest.approx(other.value, rel=1e-10, abs=1e-12), what
    assert one.se == pytest.approx(other.se, rel=1e-8, abs=1e-12), what
    assert one.df == pytest.approx(other.df, rel=1e-9), what
    assert one.method == other.method, what
    assert one.replicated == other.replicated, what
    assert _without_nouns(one.notes) == _without_nouns(other.notes), what
    if other.interval is not None:
        assert one.interval() == pytest.approx(other.interval, rel=1e-7, abs=1e-10), what
    if other.deff is not None:
        assert one.deff == pytest.approx(other.deff, rel=1e-7), what


def _without_nouns(notes: tuple[Note, ...]) -> list[str]:
    """What they say of data whose columns have no names, as those of a design of arrays have none."""
    return [str(Note(note.code, note.facts, note.at)) for note in notes]


def _of_any_rows(notes: tuple[Note, ...]) -> tuple[Note, ...]:
    """Notes that a group of rows has too; whether rows of units are opposed is asked of all rows alone."""
    return tuple(note for note in notes if note.code != "negative-correlation")


_KNOWN: dict[Any, Wanted] = {}  # by measure, columns, design and stratum: the roads have them in common


def _wanted(data: Data, measure: Any, asked: dict[str, str], roles: dict[str, Any], **more: Any) -> Wanted:
    """What the rows of memory give, or those of one stratum of them."""
    key = (measure, *map(str, (asked, roles, more)))
    if key not in _KNOWN:
        _KNOWN[key] = _of_stratum(data, measure, asked, roles, **more)
    return _KNOWN[key]


def _of_stratum(
    data: Data,
    measure: Any,
    asked: dict[str, str],
    roles: dict[str, Any],
    label: str | None = None,
    closed: bool = False,
) -> Wanted:
    if label is None:
        return Wanted.of(_of_rows(data, measure, asked, _row_design(data, roles)))
    inside = data["subject"] == label
    part = {key: values[inside] for key, values in data.items()}
    own = dict(roles, strata=None) if "population" not in roles else roles
    on = _row_design(part, {k: v for k, v in own.items() if v is not None})
    alone = _of_rows(part, measure, asked, on, closed=closed)
    return Wanted.of(replace(alone, notes=_of_any_rows(alone.notes)))


def _hold(
    found: Evaluation, data: Data, measure: Any, asked: dict[str, str], roles: dict[str, Any], *, strata: slice = ALL
) -> None:
    nouns = {"unit": roles.get("units"), "stratum": roles.get("strata")}
    design = _row_design(data, roles).named({role: str(name) for role, name in nouns.items() if name is not None})
    assert (found.design, found.target) == (design.summary, design.target)
    (name,) = found.estimates
    _same(found[name], _wanted(data, measure, asked, roles), name)
    if "strata" not in roles:
        return
    assert set(found.strata) == set(np.unique(data["subject"]))
    closed = not found[name].replicated  # a stratum is measured as all rows are
    for label, estimate in list(found.strata.items())[strata]:
        _same(estimate, _wanted(data, measure, asked, roles, label=str(label), closed=closed), f"{name} in {label}")


@pytest.fixture
def large() -> Iterator[None]:
    with changed(rows_in_memory=0):
        yield


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("design", DESIGNS)
def test_every_measure_on_every_design_of_columns(rows: Data, design: str, part: int) -> None:
    """In one of the strata, another for other designs and measures; all of them from all sources is slow.

    Other sources equal columns by tests/laws/test_a_file_is_a_frame_is_an_engine.py.
    """
    stratum = (part + list(DESIGNS).index(design)) % 4
    _measure_all(list(MEASURES)[part::4], rows, rows, DESIGNS[design], strata=slice(stratum, stratum + 1))


@pytest.mark.parametrize("road", ROADS)
def test_every_source_with_its_own_strata(large: None, rows: Data, tmp_path: Path, road: str) -> None:
    _measure_all(list(MEASURES)[::11], ROADS[road](rows, tmp_path), rows, DESIGNS["weighted units in strata"])


@pytest.mark.slow  # 88 measures × 7 designs × 7 sources: two minutes
@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("design", DESIGNS)
def test_every_measure_on_every_design_from_every_source(
    large: None, rows: Data, tmp_path: Path, design: str, road: str
) -> None:
    _measure_all(MEASURES, ROADS[road](rows, tmp_path), rows, DESIGNS[design])


def _measure_all(names: Iterable[str], source: Any, data: Data, roles: dict[str, Any], *, strata: slice = ALL) -> None:
    for measure, asked in map(MEASURES.__getitem__, names):
        found = evaluate(source, **asked, design=strat.Sampling(**roles), metrics=measure)
        _hold(found, data, measure, asked, roles, strata=strata)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("road", FAR)
def test_every_measure_on_a_cluster(rows: Data, tmp_path: Path, road: str) -> None:
    source = FAR[road](rows, tmp_path)
    for roles in (DESIGNS["strata"], DESIGNS["weighted units in strata"]):
        _measure_all(MEASURES, source, rows, roles)


def test_a_jackknifed_measure_is_jackknifed_on_every_road(large: None, rows: Data, tmp_path: Path) -> None:
    """It was linearized on two of three roads, and called JK1."""
    for roles in ({}, {"units": "passage"}):
        for road, make in ROADS.items():
            part = {name: values[:120] for name, values in rows.items()}
            found = evaluate(make(part, tmp_path), **LABELS, design=strat.Sampling(**roles), metrics=agreement)[
                "agreement"
            ]
            assert found.method.kind is strat.replication.MethodKind.JACKKNIFE, road
            design = _row_design(part, roles)
            assert len(found.replicates) == design.n_units
            wanted = strat.estimate(agreement(part["truth"], part["guess"]), on=strat.jackknife(design))
            assert found.se == pytest.approx(wanted.se, rel=1e-10), road


def test_repeats_of_an_item_count_as_tries_whatever_makes_cells_of_them() -> None:
    """Two equal tries of an item share a cell, and were taken for one try of this very benchmark."""
    rng = np.random.default_rng(4)
    item = np.repeat(np.arange(30), 4)
    right = rng.random(120) < rng.random(30)[item]
    labels = {"truth": np.ones(120, int), "guess": right.astype(int), "item": item}
    by_labels = evaluate(labels, **LABELS, items="item", target="benchmark", metrics="accuracy")["accuracy"]
    by_score = evaluate({"s": right.astype(float), "item": item}, score="s", items="item", target="benchmark")["mean"]
    assert by_labels.se == pytest.approx(by_score.se, rel=1e-12)
