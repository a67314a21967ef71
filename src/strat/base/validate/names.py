"""Names of columns: one or several, in a list or as one word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from strat.base.errors import StratError
from strat.base.validate.arguments import shown

Names = Sequence[str]  # of columns


def listed(argument: str, names: Any) -> list[str]:
    """Names of columns as a list, one name as one, or an error that names the argument.

    >>> listed("scores", "A"), listed("scores", ("A", "B"))
    (['A'], ['A', 'B'])
    """
    if isinstance(names, str):
        return [names]
    listing = list(names) if _several(names) else [None]
    if all(isinstance(name, str) for name in listing):
        return [str(name) for name in listing]
    raise StratError.about(argument, f"must be a list of names of columns, got {shown(names)}.")


def one_name(**names: str | None) -> str | None:
    """The one column that two words name: `units` and `clusters` are the same thing."""
    given = {word: name for word, name in names.items() if name is not None}
    if len(given) > 1:
        raise StratError(f"`{'` and `'.join(given)}` must not come together: they are two words for the same thing.")
    return next(iter(given.values()), None)


def _several(names: object) -> bool:
    return isinstance(names, Iterable) and not isinstance(names, Mapping | bytes) and getattr(names, "ndim", 1) == 1
