"""`strat reproduce`: the sources' printed values beside ours, from the folder `reproduce` of a clone."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from strat.base.errors import StratError
from strat.cli.app import CLONE


def _command() -> Any:
    """The command of a clone, whose folder `reproduce` stands beside `src`."""
    if CLONE is None:
        raise StratError("`strat reproduce` runs in a clone of the project only: the printed tables are not installed.")
    if str(CLONE) not in sys.path:
        sys.path.insert(0, str(CLONE))
    return import_module("reproduce.command").command


command = _command()
