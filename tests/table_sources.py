"""The forms that a table can take: files, frames, engines, mappings; and the command line in one call."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from strat.cli.app import app

Columns = Mapping[str, list[Any]]
Road = Callable[[Columns, Path], Any]


def csv_file(columns: Columns, path: Path, delimiter: str = ",") -> Path:
    rows = [delimiter.join(columns), *(delimiter.join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(rows) + "\n")
    return path


def _gzip(columns: Columns, folder: Path) -> Path:
    packed = folder / "t.csv.gz"
    packed.write_bytes(gzip.compress(csv_file(columns, folder / "t.csv").read_bytes()))
    return packed


def _zstandard(columns: Columns, folder: Path) -> Path:
    import zstandard

    packed = folder / "t.csv.zst"
    packed.write_bytes(zstandard.ZstdCompressor().compress(csv_file(columns, folder / "t.csv").read_bytes()))
    return packed


def _json(columns: Columns, folder: Path) -> Path:
    rows = [json.dumps(dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]
    (folder / "t.jsonl").write_text("\n".join(rows))
    return folder / "t.jsonl"


def _pandas(columns: Columns, folder: Path) -> Any:

    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def _polars(columns: Columns, folder: Path) -> Any:
    import polars as pl

    return pl.DataFrame({name: pl.Series(_text(values), strict=False) for name, values in columns.items()})


def _arrow(columns: Columns, folder: Path) -> Any:
    import pyarrow as pa

    return pa.table({name: pa.array(_text(values)) for name, values in columns.items()})


def _text(values: list[Any]) -> list[Any]:
    """One type, as a typed frame has it."""
    return [str(v) for v in values] if any(isinstance(v, str) for v in values) else values


def parquet_file(columns: Columns, folder: Path) -> Path:
    import pyarrow.parquet as pq

    pq.write_table(_arrow(columns, folder), folder / "t.parquet")
    return folder / "t.parquet"


def _arrow_file(columns: Columns, folder: Path) -> Path:
    import pyarrow.feather

    pyarrow.feather.write_feather(_arrow(columns, folder), folder / "t.arrow")
    return folder / "t.arrow"


def _relation(columns: Columns, folder: Path) -> Any:
    import duckdb

    return duckdb.connect().from_arrow(_arrow(columns, folder))


ROADS: dict[str, Road] = {
    "csv": lambda columns, folder: csv_file(columns, folder / "t.csv"),
    "tsv": lambda columns, folder: csv_file(columns, folder / "t.tsv", "\t"),
    "gzip": _gzip,
    "zstandard": _zstandard,
    "json lines": _json,
    "parquet": parquet_file,
    "arrow file": _arrow_file,
    "arrow": _arrow,
    "pandas": _pandas,
    "polars": _polars,
    "polars lazy": lambda columns, folder: _polars(columns, folder).lazy(),
    "duckdb": _relation,
    "mapping": lambda columns, folder: dict(columns),
}
every_road = pytest.mark.parametrize("road", list(ROADS))
WIDER = [123456789012345678901234567890 + k for k in range(4)]


def ask(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout
