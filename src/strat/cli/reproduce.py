"""`strat reproduce`: the sources' printed values beside ours, from the folder `reproduce` of a checkout."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import strat
from strat.base.errors import StratError


def _command() -> Any:
    """The command of a checkout, whose folder `reproduce` stands beside `src`."""
    root = Path(strat.__file__).parents[2]
    if not (root / "reproduce" / "command.py").is_file():
        raise StratError("`strat reproduce` runs in a clone of the project only: the printed tables are not installed.")
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    return import_module("reproduce.command").command


command = _command()
