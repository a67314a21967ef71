"""Parquet and Arrow files, which know the types of their columns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strat.base import extras
from strat.base.errors import StratError
from strat.data.files.csv_text import require_unique_names
from strat.data.files.engine import Counts, first_sentence
from strat.data.untrusted import literal


@dataclass(frozen=True)
class TypedFiles:
    """Files that know their types."""

    paths: tuple[Path, ...]
    text: tuple[str, ...]
    na: tuple[str, ...]

    def as_text(self, engine: Any, names: Sequence[str]) -> Any:
        """The files know their types."""
        return

    def settle(self, engine: Any, names: Sequence[str]) -> bool:
        """The files say it."""
        return False

    def marks(self, engine: Any, names: Sequence[str]) -> Counts:
        """Text keeps its marks."""
        return {}


class ParquetFiles(TypedFiles):
    """Parquet files, put together by name."""

    def open(self, engine: Any) -> Any:
        """The relation over all files."""
        located = [literal(path) for path in self.paths]
        relation = engine.read_parquet(located, union_by_name=len(located) > 1, hive_partitioning=False)
        for path, place in zip(self.paths, located, strict=True):
            schema = engine.execute("select name, coalesce(num_children, 0) from parquet_schema(?)", [place]).fetchall()
            require_unique_names(_outer(schema), f"`{path}`")
        return relation


def _outer(schema: Sequence[tuple[str, int]]) -> list[str]:
    """The names of the columns, from those of all their parts: each part is followed by as many as it has."""
    names: list[str] = []
    open_parts = 0  # of columns that hold others
    for name, parts in schema[1:]:
        if not open_parts:
            names.append(name)
        open_parts += parts - (open_parts > 0)
    return names


class ArrowFiles(TypedFiles):
    """Arrow files, put together by name."""

    def open(self, engine: Any) -> Any:
        """The relation over all files."""
        first = self.paths[0]
        what, otherwise = f"`{first}` is an Arrow file, which", ", or write Parquet"
        dataset, ipc = (extras.load(f"pyarrow.{part}", what=what, otherwise=otherwise) for part in ("dataset", "ipc"))
        try:
            for path in self.paths:
                with path.open("rb") as file:
                    require_unique_names(ipc.open_file(file).schema.names, f"`{path}`")
            rows = dataset.dataset([os.path.abspath(p) for p in self.paths], format="ipc")  # noqa: PTH100
            return engine.from_arrow(rows)
        except (StratError, UnicodeError):
            raise
        except (OSError, ValueError) as error:
            raise StratError(f"`{first}` can't be read as an Arrow file: {first_sentence(str(error))}.") from None
