"""Results out: Markdown, LaTeX, CSV, JSON and plain text, escaped; files written whole or not at all."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strat.base import extras
from strat.base.errors import visible
from strat.base.escaping import escape_csv, escape_json, escape_latex, escape_markdown, one_line
from strat.base.files import atomic
from strat.base.notes import records

LIBRARIES = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True)
class Sheet:
    """What a command has to say.

    Attributes
    ----------
    schema
        Name and version of the JSON form, such as ``"strat/evaluate/4"``.
    columns
        The names of the columns.
    rows
        The cells; numbers stay numbers, so that JSON keeps every digit.
    title
        One line above the table.
    notes
        Sentences below it: what was assumed, what to look at.
    data
        The JSON form; the table itself if empty.
    left_out
        How many further rows there are, of a table that shows its first ones.
    """

    schema: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    notes: Sequence[str] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    left_out: int = 0


def write(path: Path, content: str | bytes) -> None:
    """Write the file whole or not at all."""
    with atomic(path) as file:
        file.write(content.encode(errors="backslashreplace") if isinstance(content, str) else content)


def json_text(sheet: Sheet) -> str:
    """The JSON form, with its schema first; what is not a number becomes null."""
    data = sheet.data or {
        "title": sheet.title,
        "rows": [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows],
        "notes": records(sheet.notes),
    }
    text = json.dumps({"schema": sheet.schema, **jsonable(data)}, indent=2, ensure_ascii=False, allow_nan=False)
    return escape_json(text)


def jsonable(value: Any) -> Any:
    """`value` as JSON has it: plain containers and numbers, null for what is not finite."""
    if isinstance(value, Mapping):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [jsonable(v) for v in value]
    if hasattr(value, "tolist"):
        return jsonable(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def shown(value: Any) -> str:
    """A cell as people read it: four significant digits or decimals, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, float):
        return _decimal(value)
    return visible(str(value))


def _decimal(value: float) -> str:
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0 or 1e-4 <= abs(value) < 1e5:
        return f"{value:.4f}" if abs(value) < 100 else f"{value:.4g}" if value % 1 else f"{value:.0f}"
    return f"{value:.3g}"


def markdown_text(sheet: Sheet, *, quiet: bool = False) -> str:
    """A pipe table, with the title above and the notes below."""
    right = numeric_columns(sheet)
    lines = ["| " + " | ".join(escape_markdown(str(c)) for c in sheet.columns) + " |"]
    lines.append("| " + " | ".join("---:" if r else "---" for r in right) + " |")
    lines += ["| " + " | ".join(escape_markdown(shown(v)) for v in row) + " |" for row in sheet.rows]
    body = "\n".join(lines)
    if quiet:
        return body
    above = f"**{escape_markdown(sheet.title)}**\n\n" if sheet.title else ""
    below = "".join(f"\n- {escape_markdown(note)}" for note in sheet.notes)
    return above + body + (f"\n{below}" if below else "")


def latex_text(sheet: Sheet, *, quiet: bool = False) -> str:
    """A booktabs tabular; title and notes go into comments."""
    align = "".join("r" if r else "l" for r in numeric_columns(sheet))
    rows = [" & ".join(escape_latex(shown(v)) for v in row) + r" \\" for row in sheet.rows]
    head = " & ".join(escape_latex(str(c)) for c in sheet.columns) + r" \\"
    comments = [] if quiet else [f"% {one_line(t)}" for t in (sheet.title, *sheet.notes) if t]
    table = [rf"\begin{{tabular}}{{{align}}}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule"]
    return "\n".join([*comments, *table, r"\end{tabular}"])


def csv_text(sheet: Sheet) -> str:
    """Comma-separated values with every digit of the numbers."""
    lines = [",".join(escape_csv(str(c)) for c in sheet.columns)]
    lines += [",".join(escape_csv("" if v is None else str(v)) for v in row) for row in sheet.rows]
    return "\n".join(lines)


def plain_text(sheet: Sheet, *, quiet: bool = False) -> str:
    """The table as it looks on the screen, without colours."""
    cells = [[visible(str(c)) for c in sheet.columns], *[[shown(v) for v in row] for row in sheet.rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(sheet.columns))]
    right = numeric_columns(sheet)
    lines = [
        "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)).rstrip()
        for row in cells
    ]
    lines.insert(1, "  ".join("-" * w for w in widths))
    lines += [f"… {sheet.left_out:,} more rows: see to_frame()"] if sheet.left_out else []
    above = [visible(sheet.title), ""] if sheet.title and not quiet else []
    below = ["", *map(visible, sheet.notes)] if sheet.notes and not quiet else []
    return "\n".join([*above, *lines, *below])


def numeric_columns(sheet: Sheet) -> list[bool]:
    """Which columns hold only numbers, and so stand flush right."""
    return [bool(sheet.rows) and all(_like_number(row[i]) for row in sheet.rows) for i in range(len(sheet.columns))]


def _like_number(value: Any) -> bool:
    if isinstance(value, str | bool):
        return False
    return value is None or isinstance(value, int | float) or hasattr(value, "dtype")


def frame_of(columns: Mapping[str, Any], library: str | None = None) -> Any:
    """The columns as a data frame of `library`: pandas, polars or pyarrow; None: the one loaded or installed."""
    from strat.estimation.frames import frame

    return frame({name: _listed(values) for name, values in columns.items()}, library)


def _listed(values: Any) -> list[Any]:
    items = values.tolist() if hasattr(values, "tolist") else list(values)
    return [None if isinstance(v, float) and math.isnan(v) else v for v in items]


def html_text(sheet: Sheet) -> str:
    """A small HTML table with every label escaped."""
    from html import escape

    head = "".join(f"<th>{escape(str(name))}</th>" for name in sheet.columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(shown(v))}</td>" for v in row) + "</tr>" for row in sheet.rows[:200])
    notes = "".join(f"<p>{escape(note)}</p>" for note in sheet.notes)
    caption = f"<caption>{escape(sheet.title)}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def log_to_mlflow(columns: Mapping[str, Sequence[Any]], data: Mapping[str, Any]) -> None:
    """Log the measures to the active MLflow run: the value, `_se`, `_low` and `_high`, and everything as JSON."""
    mlflow = extras.load("mlflow", what="`log_to_mlflow`", otherwise=", or use to_json()")
    for i, name in enumerate(columns["measure"]):
        for part in ("estimate", "se", "low", "high"):
            key = name if part == "estimate" else f"{name}_{part}"
            mlflow.log_metric(key, columns[part][i])
    mlflow.log_dict(jsonable(data), "strat_evaluation.json")


FORMS = {"markdown": markdown_text, "latex": latex_text, "text": plain_text}
