"""An estimate in words and in tables."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from strat.base.text import class_named, of_class

if TYPE_CHECKING:
    from strat.estimation.result import Estimate


def sentence(one: Estimate) -> str:
    """The value with its standard error, limits and degrees of freedom."""
    low, high = one.interval()
    text = f"{one.name} {_number(one.point)} (se {_number(np.sqrt(one.variance))}, "
    text += f"95 % {_number(low)} to {_number(high)}"
    text += f", df {one.df:.4g}"
    if one.deff is not None and np.isfinite(one.deff):
        text += f", design effect {one.deff:.2g}"
    return text + (f"; {class_named(one.positive)})" if one.positive is not None else ")")


def html_table(one: Estimate) -> str:
    """A small table; every label is escaped."""
    table = columns(one, 0.95)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_cell(v))}</td>" for v in row) + "</tr>"
        for row in list(zip(*table.values(), strict=True))[:50]
    )
    caption = html.escape(f"{one.name}{of_class(one.positive)}: {one.method}; for {one.target}")
    return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def columns(one: Estimate, level: float) -> dict[str, list[Any]]:
    """Columns: one line for each value, with its labels, standard error and limits."""
    low, high = (np.ravel(np.asarray(side, float)) for side in one.interval(level))
    places = np.indices(one.point.shape).reshape(len(one.axes), one.point.size)
    table: dict[str, list[Any]] = {}
    if not one.axes:
        table["statistic"] = [one.name]
    for axis, place in zip(one.axes, places, strict=True):
        table[axis.name] = [axis.labels[i] for i in place]
    table["estimate"] = np.ravel(one.point).tolist()
    table["se"] = np.ravel(np.sqrt(one.variance)).tolist()
    table["low"], table["high"] = low.tolist(), high.tolist()
    table["df"] = np.ravel(one.df).tolist()
    if one.inference.srs is not None:
        table["deff"] = np.ravel(np.asarray(one.deff)).tolist()
    if one.positive is not None:
        table["positive"] = [one.positive] * one.point.size
    return table


def lines(one: Estimate, most: int) -> str:
    """A table of the first values."""
    table = columns(one, 0.95)
    rows = list(zip(*table.values(), strict=True))
    cells = [[_cell(v) for v in row] for row in rows[:most]]
    widths = [max(len(c), *(len(line[i]) for line in cells)) for i, c in enumerate(table)]
    head = "  ".join(c.rjust(w) for c, w in zip(table, widths, strict=True))
    body = ["  ".join(v.rjust(w) for v, w in zip(line, widths, strict=True)) for line in cells]
    more = [f"… {len(rows) - most} more"] if len(rows) > most else []
    return "\n".join([f"{one.name}{of_class(one.positive)} ({one.method})", head, *body, *more])


def _number(value: Any) -> str:
    x = float(value)
    return f"{x:.4f}" if x == 0 or 1e-3 <= abs(x) < 1e4 else f"{x:.4g}"


def _cell(value: Any) -> str:
    return _number(value) if isinstance(value, float) else str(value)
