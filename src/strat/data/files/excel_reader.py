"""Excel workbooks, brought into the engine through CSV."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strat.base.errors import StratError
from strat.data import excel
from strat.data.files.csv_reader import CsvFiles
from strat.data.files.engine import Counts, engine_errors


@dataclass(eq=False)
class ExcelFiles:
    """A sheet of each workbook, brought into the engine through CSV, so that both are read in the same way."""

    paths: tuple[Path, ...]
    text: tuple[str, ...]
    na: tuple[str, ...]
    sheets: tuple[str | None, ...] = ()
    counts: Counts | None = None

    def open(self, engine: Any) -> Any:
        """The table that holds all rows."""
        if self.counts is None:
            with tempfile.TemporaryDirectory(prefix="strat-") as folder:
                self._bring(engine, Path(folder))
        return engine.table(_SHEET)

    def _bring(self, engine: Any, folder: Path) -> None:
        copies = tuple(folder / f"{place}.csv" for place in range(len(self.paths)))
        for path, sheet, copy in zip(self.paths, self.sheets or (None,) * len(copies), copies, strict=True):
            excel.write_csv(path, sheet, copy)
        try:
            with engine_errors(copies):
                reader = CsvFiles(copies, self.text, self.na)
                reader.open(engine)
                reader.settle(engine, list(reader.types))
                reader.open(engine).create(_SHEET)
                self.counts = reader.marks(engine, list(reader.types))
        except StratError as error:
            message = str(error)
            for path, copy in zip(self.paths, copies, strict=True):
                message = message.replace(str(copy), str(path))
            raise StratError(message) from None

    def as_text(self, engine: Any, names: Sequence[str]) -> Any:
        """All rows were looked at."""
        return

    def settle(self, engine: Any, names: Sequence[str]) -> bool:
        """All rows were looked at."""
        return False

    def marks(self, engine: Any, names: Sequence[str]) -> Counts:
        """How many values are which mark."""
        return {name: (self.counts or {}).get(name, {}) for name in names}


_SHEET = "strat_sheet"
