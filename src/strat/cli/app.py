"""The `strat` program: its commands, each in a module of its own, and what happens when one fails."""

from __future__ import annotations

import importlib
import io
import os
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from strat import __version__
from strat.base.errors import StratError, StratWarning, near, short, visible
from strat.base.notes import on_command_line
from strat.cli.guard import guarded

# command -> its first line of help; the module `strat.cli.<command>` is imported when the command is called,
# so that `strat --help` answers at once. Each such module has a typer app called `command`.
COMMANDS: dict[str, str] = {
    "open": "Open a page in the browser: choose a table and a question, get the report.",
    "look": "Look at a table first: its columns, the roles they seem to play, and the command to run next.",
    "evaluate": "Measure a classifier or a benchmark, with intervals that fit how the rows were drawn.",
    "check": "Say whether the interval would hold for data like yours, by samples with a known truth.",
    "compare": "Compare two or more systems on the same items, paired, with ranks and ties.",
    "score": "Score hypotheses against a reference in a field's own files: texts, RTTM, TREC, COCO, masks.",
    "gate": "Say whether a candidate is not worse than a baseline: exit code 0, 3 (worse) or 4 (can't tell).",
    "recognize": "Rank probes against a gallery: CMS, ROC, DET and open-set rates, with errors by subject.",
    "chance": "Test a confusion matrix against random classification, exactly.",
    "rank": "Rank systems over many data sets: Friedman, post-hoc tests, critical-difference diagram.",
    "test": "Test two systems (McNemar, Wilcoxon, corrected t, …), with advice on which test to use.",
    "votes": "Rank systems by votes on pairs (Bradley-Terry), with intervals that allow for who voted on what.",
    "plan": "Plan how many rows, units, strata, repeats and design samples a wanted answer needs.",
    "sample": "Draw a stratified or clustered sample of test items, with weights and population sizes.",
    "array": "Make and check an orthogonal array or a Hadamard matrix.",
    "reproduce": "In a clone of the project: print every example, table and figure of the sources beside ours.",
    "demo": "Do the main job on bundled data, ending in an HTML report.",
}
# the root of the clone that this package lies in; None where it was installed from an archive
_ROOT = Path(__file__).resolve().parents[3]
CLONE = _ROOT if (_ROOT / "reproduce" / "command.py").is_file() else None


class LazyGroup(TyperGroup):
    """The group of commands, each imported only when it is wanted."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order of COMMANDS, without those that can't run here."""
        return [name for name in COMMANDS if name != "reproduce" or CLONE]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, imported now; a helpful error for an unknown name."""
        if cmd_name not in COMMANDS:
            ctx.fail(f"there is no command {cmd_name!r}; {near(cmd_name, list(COMMANDS))}")
        return _command(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])


@cache
def _command(name: str) -> Any:
    """The command: to make it and its options takes a third of a short call, so that a second call finds it made."""
    module: Any = importlib.import_module(f"strat.cli.{name}")
    command = guarded(typer.main.get_command(module.command))
    command.name = name
    return command


VERSION = f"strat {__version__}"
app = typer.Typer(cls=LazyGroup, no_args_is_help=True, rich_markup_mode=None, add_completion=True)


@app.callback(invoke_without_command=True)
def strat(
    ctx: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    """Honest evaluation: numbers with intervals that know how the data was sampled."""
    if version:
        typer.echo(VERSION)
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program. Exit codes: 0 done, 1 the data does not allow it, 2 wrong usage, 130 interrupted.

    `strat gate` adds 3 (worse) and 4 (can't tell).
    """
    _open_streams()
    if (sys.argv[1:] if arguments is None else list(arguments)) == ["--version"]:
        typer.echo(VERSION)  # at once: to read the flag, Typer loads Pydantic, which takes as long as all the rest
        sys.exit(0)
    try:
        with warnings.catch_warnings(), on_command_line():
            warnings.showwarning = _show(warnings.showwarning)
            app(args=arguments, standalone_mode=True)
    except StratError as error:
        typer.echo(f"strat: {visible(str(error))}", err=True)
        sys.exit(1)
    except SystemExit as end:
        if end.code == 130:
            typer.echo("strat: interrupted; nothing was left half-written.", err=True)
        raise
    except MemoryError:
        typer.echo("strat: there is not enough memory for this; ask for fewer rows, columns or replicates.", err=True)
        sys.exit(1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        typer.echo(f"strat: {visible(_failed(error))}.", err=True)
        sys.exit(1)


def _open_streams() -> None:
    """Make sure that there are streams to print to, and that they take every sign."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started the program
            stream = io.TextIOWrapper(io.FileIO(os.open(os.devnull, os.O_WRONLY), "w"), "utf-8")
            setattr(sys, name, stream)
        if isinstance(stream, io.TextIOWrapper):  # what the terminal can't show is spelled out
            stream.reconfigure(errors="backslashreplace")


def _show(otherwise: Any) -> Any:
    """How to print a warning: ours in one line, without the place in the code that only its authors know."""

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, StratWarning):
            typer.echo(f"strat: warning: {visible(str(message))}", err=True)
        else:
            otherwise(message, category, *place, **more)

    return show


def _failed(error: OSError) -> str:
    """What the machine refused, and for which file if it says so."""
    reason = error.strerror or str(error) or type(error).__name__
    return f"`{short(str(error.filename))}`: {reason}" if error.filename is not None else reason
