"""`strat open`: a page in the browser of this machine, from a table to a report."""

from __future__ import annotations

import json
import signal
import sys
import threading
from typing import Annotated, Any

import typer

from strat.base import extras
from strat.cli import output

command = typer.Typer(add_completion=False, rich_markup_mode=None)
SCHEMA = "strat/open/1"


@command.command()
def open(
    file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="A table, or a folder of logs.")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser by itself.")] = True,
    as_json: output.Json = False,
) -> None:
    """Open a page in the browser: choose a table and a question, get the report.

    For example:

      strat open

      strat open predictions.csv

    It is for people who don't program. The page is on this machine only and nothing leaves it. It closes with Ctrl-C,
    or with the terminal.
    """
    extras.load("jinja2")
    from strat.show.local_page import Page

    closed = threading.Event()
    for name in ("SIGHUP", "SIGTERM"):  # the terminal is gone, or somebody wants us to end
        if hasattr(signal, name) and threading.current_thread() is threading.main_thread():
            signal.signal(getattr(signal, name), lambda *_: closed.set())
    with Page(file) as page:
        _tell(page, as_json=as_json)
        if browser:
            _browse(page)
        try:
            while not closed.wait(0.5):
                pass
        except KeyboardInterrupt:
            typer.echo("strat: the page is closed.", err=True)


def _tell(page: Any, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"schema": SCHEMA, "address": page.address}))
    else:
        typer.echo(f"strat is open at {page.address}\nOnly this address opens it. Ctrl-C closes it.")
    sys.stdout.flush()


def _browse(page: Any) -> None:
    import webbrowser

    webbrowser.open(page.doorway().as_uri())
