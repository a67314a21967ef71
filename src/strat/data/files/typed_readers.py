"""Parquet and Arrow files, which know the types of their columns."""

from __future__ import annotations

import os
import re
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
        columns = list(relation.columns)
        schema = engine.execute("select name from parquet_schema(?)", [located[0]]).fetchall()
        lost = {name for (name,) in schema} - set(columns)
        require_unique_names([*columns, *(name for name in sorted(lost) if _renamed(name, columns))], self.paths[0])
        return relation


def _renamed(name: str, columns: Sequence[str]) -> bool:
    """Whether a name of the file is missing because another one differs from it by capitals only."""
    pattern = re.compile(re.escape(name) + r"(_\d+)+")
    return any(pattern.fullmatch(column) for column in columns)


class ArrowFiles(TypedFiles):
    """Arrow files, put together by name."""

    def open(self, engine: Any) -> Any:
        """The relation over all files."""
        first = self.paths[0]
        dataset = extras.load(
            "pyarrow.dataset", what=f"`{first}` is an Arrow file, which", otherwise=", or write Parquet"
        )
        try:
            rows = dataset.dataset([os.path.abspath(p) for p in self.paths], format="ipc")  # noqa: PTH100
            require_unique_names(rows.schema.names, first)
            return engine.from_arrow(rows)
        except (StratError, UnicodeError):
            raise
        except (OSError, ValueError) as error:
            raise StratError(f"`{first}` can't be read as an Arrow file: {first_sentence(str(error))}.") from None
