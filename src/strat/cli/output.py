"""One voice for every command: a table on the screen, or JSON, Markdown, LaTeX, CSV, or a file."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from strat.base import extras
from strat.base.errors import StratError, visible
from strat.cli.guard import PAGES
from strat.show.render import (
    Sheet,
    csv_text,
    json_text,
    latex_text,
    markdown_text,
    numeric_columns,
    plain_text,
    shown,
    write,
)

__all__ = [
    "JSON",
    "Form",
    "Html",
    "Json",
    "Latex",
    "Markdown",
    "Output",
    "Quiet",
    "Sheet",
    "draw",
    "emit",
    "form_of",
    "page_or_text",
    "progress",
    "report",
    "text_out",
    "warn",
    "with_output",
    "write",
]

JSON = typer.Option(False, "--json", help="Print JSON with a schema version.")
Json = Annotated[bool, typer.Option("--json", help="Print JSON with a schema version.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")]
Latex = Annotated[bool, typer.Option("--latex", help="Print a LaTeX table (booktabs).")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the table, no notes.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file; its name tells the form.")]
Html = Annotated[Path | None, typer.Option("--html", help="Write a self-contained HTML report.")]

FORMS = {".csv": "csv", ".json": "json", ".md": "markdown", ".tex": "latex"}  # how --output ends, and what it gets


@dataclass(frozen=True)
class Form:
    """In which form a command prints what it has to say, and where to."""

    html: Path | None = None
    as_json: bool = False
    markdown: bool = False
    latex: bool = False
    quiet: bool = False
    to: Path | None = None

    def give(self, sheet: Sheet, results: Any) -> None:
        """Write the HTML report of the results, if one was asked for, and print the sheet."""
        html, to = page_or_text(self.html, self.to)
        report(results, html)
        emit(sheet, as_json=self.as_json, markdown=self.markdown, latex=self.latex, quiet=self.quiet, output=to)


_FORM = {"html": Html, "as_json": Json, "markdown": Markdown, "latex": Latex, "quiet": Quiet, "to": Output}


def with_output(function: Callable[..., None]) -> Callable[..., None]:
    """The command with the six options of output in place of its parameter `form`."""
    hints = get_type_hints(function, include_extras=True)
    plain = inspect.signature(function)
    own = [p.replace(annotation=hints[name]) for name, p in plain.parameters.items() if name != "form"]
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=getattr(Form, name), annotation=kind)
        for name, kind in _FORM.items()
    ]

    @functools.wraps(function)
    def command(*args: Any, **options: Any) -> None:
        form = Form(**{name: options.pop(name) for name in _FORM})
        function(*args, **options, form=form)

    command.__signature__ = plain.replace(parameters=[*own, *shared])  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in [*own, *shared]}
    return command


def page_or_text(html: Path | None, to: Path | None) -> tuple[Path | None, Path | None]:
    """Where the report goes and where the table: `--output page.html` asks for the report."""
    if html is None and to is not None and to.suffix.lower() in PAGES:
        return to, None
    return html, to


def report(results: Any, html: Path | None) -> None:
    """Write the HTML report of one result, a list or a mapping of them, if a file was named."""
    if html is None:
        return
    if html.suffix.lower() not in PAGES:
        raise StratError(f"`--html` must name a file that ends in .html, got {str(html)!r}.")
    from strat.show.report import write

    write(results, html)


def emit(
    sheet: Sheet,
    *,
    as_json: bool = False,
    markdown: bool = False,
    latex: bool = False,
    quiet: bool = False,
    output: Path | None = None,
) -> None:
    """Print the sheet in the form that was asked for or that the name of `output` tells, or write it to `output`."""
    form = form_of(output, json=as_json, markdown=markdown, latex=latex)
    if form == "text" and output is None:
        _screen(sheet, quiet=quiet)
    elif form in ("json", "csv"):
        text_out(json_text(sheet) if form == "json" else csv_text(sheet), output)
    else:
        write_as = {"markdown": markdown_text, "latex": latex_text, "text": plain_text}[form]
        text_out(write_as(sheet, quiet=quiet), output)


def form_of(output: Path | None, **asked: bool) -> str:
    """The form of what is printed: the one that was asked for, or else that of the file's name."""
    named = [form for form, is_asked in asked.items() if is_asked]
    if len(named) > 1:
        raise StratError("`--json`, `--markdown` and `--latex` must not come together; choose one.")
    return named[0] if named else FORMS.get(output.suffix.lower() if output else "", "text")


def text_out(text: str, output: Path | None) -> None:
    """Print a text, or write it to `output`."""
    if output is None:
        typer.echo(text)
    else:
        write(output, text + "\n")


def _screen(sheet: Sheet, *, quiet: bool) -> None:
    if not sys.stdout.isatty():
        typer.echo(plain_text(sheet, quiet=quiet))
        return
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(title=Text(visible(sheet.title)) if sheet.title and not quiet else None, title_justify="left")
    for name, right in zip(sheet.columns, numeric_columns(sheet), strict=True):
        grid.add_column(Text(visible(str(name))), justify="right" if right else "left", overflow="fold")
    for row in sheet.rows:
        grid.add_row(*[Text(shown(value)) for value in row])
    console = Console()
    console.print(grid)
    for note in () if quiet else sheet.notes:
        console.print(Text(visible(note)))


def draw(path: Path | None, make: Callable[[], Any]) -> None:
    """Write the picture whose axes `make` draws, whole or not at all, in the form that the file's name tells."""
    if path is None:
        return
    extras.load("matplotlib").use("Agg")
    drawn = io.BytesIO()
    make().figure.savefig(drawn, format=path.suffix.lower().removeprefix("."), dpi=150, bbox_inches="tight")
    write(path, drawn.getvalue())


@contextlib.contextmanager
def progress(label: str, *, quiet: bool = False) -> Iterator[Any]:
    """A function that takes the share done and draws a bar on standard error; nothing if no one watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(label, total=1.0)
        yield lambda share: bars.update(task, completed=share)


def warn(messages: Sequence[str]) -> None:
    """Warnings on standard error, one line each."""
    for message in messages:
        typer.echo(f"strat: warning: {visible(message)}", err=True)
