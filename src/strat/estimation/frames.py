"""Columns to a data frame of the user's library, without importing one that is not in use."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from strat.base.errors import StratError, one_of

LIBRARIES = ("pandas", "polars", "pyarrow")


def frame(columns: dict[str, list[Any]], library: str | None = None) -> Any:
    """A data frame of `library`: by default the one already loaded, else the first installed."""
    if library is not None:
        one_of("library", library, LIBRARIES)
    wanted = [library] if library else sorted(LIBRARIES, key=lambda name: name not in sys.modules)
    for name in wanted:
        try:
            native: Any = importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        return native.table(columns) if name == "pyarrow" else native.DataFrame(columns)
    raise StratError.about("library", f"must be installed, got none of {', '.join(wanted)}; use to_dict() instead.")
