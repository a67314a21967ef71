"""What all results that are tables can do, once: every form of the table, and a data frame."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any, Generic, TypeVar

from strat.base.limits import LIMITS
from strat.base.result import Result
from strat.base.validate.arguments import checked
from strat.show import render
from strat.show.render import Sheet

Key = TypeVar("Key")
Value = TypeVar("Value")


class ByName(Generic[Key, Value]):
    """A result that holds others by name, as a dictionary does: a class needs `named` and `__getitem__`."""

    def named(self) -> Mapping[Key, Value]:
        """The results by name."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Key]:
        """The names, in order."""
        return iter(self.named())

    def __len__(self) -> int:
        """How many there are."""
        return len(self.named())

    def __contains__(self, name: object) -> bool:
        """Whether there is one of this name."""
        return name in self.named()

    def keys(self) -> KeysView[Key]:
        """The names."""
        return self.named().keys()

    def values(self) -> ValuesView[Value]:
        """The results."""
        return self.named().values()

    def items(self) -> ItemsView[Key, Value]:
        """Names with results."""
        return self.named().items()


class SheetResult(Result):
    """A result that is a table: a class needs `sheet` and `to_dict`, and gets every form of them."""

    @property
    def library(self) -> str | None:
        """The data frame library that the rows came in, if it is known."""
        return None

    def sheet(self) -> Sheet:
        """The table, with all numbers for JSON."""
        raise NotImplementedError

    def table(self, max_rows: int | None = None) -> Sheet:
        """The table to look at; a result that may have very many rows makes no more than `max_rows` of them."""
        return self.sheet()

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns of the table, as plain values."""
        raise NotImplementedError

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """The table as a frame of `library` (pandas, polars or pyarrow): by default the one that the rows came in."""
        own = self.library if self.library in render.LIBRARIES else None
        return render.frame_of(self.to_dict(), own if library is None else library)

    def to_json(self) -> str:
        """JSON, with the name and the number of its schema."""
        return render.json_text(self.sheet())

    def to_markdown(self) -> str:
        """A Markdown table."""
        return render.markdown_text(self.table())

    def to_latex(self) -> str:
        """A LaTeX table (booktabs)."""
        return render.latex_text(self.table())

    def to_csv(self) -> str:
        """Comma-separated values, every digit."""
        return render.csv_text(self.table())

    def __str__(self) -> str:
        """The table as text, its first rows where it has very many."""
        return render.plain_text(self.table(LIMITS.printed_rows))

    def _repr_html_(self) -> str:
        """A table for notebooks, escaped."""
        return render.html_text(self.table())
