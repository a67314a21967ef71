"""An estimate in words and in tables."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from strat.base.text import cell, class_named, figure, of_class, table_lines

if TYPE_CHECKING:
    from strat.estimation.result import Estimate


def sentence(one: Estimate) -> str:
    """The value with its standard error, limits and degrees of freedom."""
    low, high = one.interval()
    text = f"{one.name} {figure(one.point)} (se {figure(np.sqrt(one.variance))}, "
    text += f"95 % {figure(low)} to {figure(high)}"
    text += f", df {one.df:.4g}"
    if one.deff is not None and np.isfinite(one.deff):
        text += f", design effect {one.deff:.2g}"
    return text + (f"; {class_named(one.positive)})" if one.positive is not None else ")")


def html_table(one: Estimate) -> str:
    """A small table; every label is escaped."""
    table = columns(one, 0.95)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell(v))}</td>" for v in row) + "</tr>"
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
    head = f"{one.name}{of_class(one.positive)} ({one.method})"
    return "\n".join([head, *table_lines(table, most)])
