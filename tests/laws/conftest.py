"""Each source of the table of the laws is made once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from law_tables import SOURCES, Data, table


@pytest.fixture(scope="session")
def rows() -> Data:
    """The table."""
    return table()


@pytest.fixture(scope="session")
def source(rows: Data, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """From the name of a source to the table in it."""
    folder = tmp_path_factory.mktemp("laws")
    return cache(lambda name: SOURCES[name](rows, folder))
