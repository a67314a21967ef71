"""The `strat` program: its commands, each in a module of its own, and what happens when one fails."""

from __future__ import annotations

import glob
import importlib
import io
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from strat.errors import StratError, StratWarning, near, short, visible

# command -> its first line of help; the module `strat.cli.<command>` is imported when the command is called,
# so that `strat --help` answers at once. Each such module has a typer app called `command`.
COMMANDS: dict[str, str] = {
    "evaluate": "Measure a classifier or a benchmark, with intervals that fit how the rows were drawn.",
    "check": "Say whether the interval would hold for data like yours, by samples with a known truth.",
    "compare": "Compare two or more systems on the same items, paired, with ranks and ties.",
    "recognize": "Rank probes against a gallery: CMS, ROC, DET and open-set rates, with errors by subject.",
    "chance": "Test a confusion matrix against random classification, exactly.",
    "rank": "Rank systems over many data sets: Friedman, post-hoc tests, critical-difference diagram.",
    "plan": "Plan how many rows, units, strata, repeats and design samples a wanted answer needs.",
    "sample": "Draw a stratified or clustered sample of test items, with weights.",
    "array": "Make and check an orthogonal array or a Hadamard matrix.",
    "reproduce": "Print every worked example, table and figure of the sources beside ours.",
    "demo": "Do the main job on bundled data, ending in an HTML report.",
}


class LazyGroup(TyperGroup):
    """The group of commands, each imported only when it is wanted."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order of COMMANDS."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, imported now; a helpful error for an unknown name."""
        if cmd_name not in COMMANDS:
            ctx.fail(f"there is no command {cmd_name!r}; {near(cmd_name, list(COMMANDS))}")
        module: Any = importlib.import_module(f"strat.cli.{cmd_name}")
        command = typer.main.get_command(module.command)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


app = typer.Typer(cls=LazyGroup, no_args_is_help=True, rich_markup_mode=None, add_completion=True)


@app.callback(invoke_without_command=True)
def strat(
    ctx: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    """Honest evaluation: numbers with intervals that know how the data was sampled."""
    if version:
        import strat as package

        typer.echo(f"strat {package.__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program. Exit codes: 0 done, 1 the data does not allow it, 2 wrong usage, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what the terminal can't show is spelled out
            stream.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show(warnings.showwarning)
            keep_inputs(sys.argv[1:] if arguments is None else arguments)
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


WRITES = ("-o", "--output", "--html", "--plot", "--out", "--copy")  # options that name a file to write


def keep_inputs(arguments: Sequence[str]) -> None:
    """Refuse to write results over a file that is read: nobody means to lose the data."""
    words = [word for given in arguments for word in (given.split("=", 1) if given.startswith("--") else [given])]
    written = {i + 1: word for i, word in enumerate(words[:-1]) if word in WRITES}
    for at, option in written.items():
        target = Path(words[at])
        read = (path for i, word in enumerate(words) if i not in written for path in _named(word))
        if target.is_file() and any(target.samefile(path) for path in read):
            raise StratError(f"`{option}` must name another file than those that are read, got {str(target)!r}.")


def _named(word: str) -> list[Path]:
    """The files that a word of the command line names, if it names any."""
    try:
        hits = [word, *glob.glob(word, recursive=True)] if "*" in word else [word]  # noqa: PTH207
        return [path for path in map(Path, hits) if path.is_file()]
    except (OSError, ValueError):  # no path at all
        return []


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
