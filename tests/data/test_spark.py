"""Spark reduces on the cluster: one group-by, only aggregates travel, the same numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from strat.data import read
from strat.data.weight_sums import grouped_sums
from strat.verbs import evaluate

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql")
    try:
        session = (
            sql.SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.ui.showConsoleProgress", "false")
            .getOrCreate()
        )
    except Exception as error:  # no Java here
        pytest.skip(f"Spark can't start: {error}")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame(spark: Any, predictions: dict[str, np.ndarray], tmp_path_factory: pytest.TempPathFactory) -> Any:
    import polars as pl

    path: Path = tmp_path_factory.mktemp("spark") / "rows.parquet"
    pl.DataFrame(predictions).write_parquet(path)
    return spark.read.parquet(str(path))


@pytest.mark.parametrize("roles", [{}, {"strata": "subject", "units": "passage", "weights": "weight"}])
def test_spark_gives_the_numbers_of_the_rows(frame: Any, predictions: dict[str, np.ndarray], roles: Any) -> None:
    found = evaluate(frame, truth="truth", predicted="guess", **roles)
    wanted = evaluate(predictions, truth="truth", predicted="guess", **roles)
    for name, estimate in wanted.estimates.items():
        assert found[name].value == pytest.approx(estimate.value, rel=1e-12)
        assert found[name].se == pytest.approx(estimate.se, rel=1e-12)


def test_the_plan_ships_only_aggregates(frame: Any) -> None:
    lazy = grouped_sums(read(frame).backend.lazy, ["passage", "truth", "guess"], "weight").to_native()
    plan = lazy._jdf.queryExecution().executedPlan().toString()
    assert plan.count("HashAggregate") == 2  # partial where the rows are, final after the exchange
    assert plan.index("Exchange") < plan.rindex("HashAggregate")
    assert "Python" not in plan
    assert "score" not in plan  # columns that nobody asked for are not read
