"""No result is written over a file that is read, nor two to one file, nor in a form that the file's name denies."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from strat.base.errors import StratError
from strat.cli.usage import watched

WRITES = (
    "--output",
    "--html",
    "--plot",
    "--out",
    "--copy",
    "--save",
    "--board",
    "--feed",
    "--summary",
    "--figures",
)  # options that name a file to write
# and those that name one to read
READS = (
    "--similarity",
    "--distance",
    "--trials",
    "--scores",
    "--genuine",
    "--impostor",
    "--probes",
    "--gallery",
    "--cameras",
    "--gallery-cameras",
    "--images",
    "--labels",
    "--gallery-labels",
    "--data",
    "--about",
    "--baseline",
)
PAGES = (".html", ".htm")
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")
# endings of --output that can't hold a table of text, with the way out
NO_TEXT = {
    **dict.fromkeys(PAGES, "this command writes no page"),
    **dict.fromkeys((".png", ".svg", ".pdf"), "a picture is drawn by --plot, where a command has it"),
    **dict.fromkeys((".xlsx", ".parquet", ".arrow", ".feather"), "a .csv file can be opened there"),
}


def guarded(command: Any) -> Any:
    """The command, which looks at its options and at their files before it does anything."""
    for inner in getattr(command, "commands", {}).values():
        guarded(inner)
    if not hasattr(command, "commands"):
        invoke = command.invoke

        def after_a_look(ctx: Any) -> Any:
            keep_inputs(ctx)
            return invoke(ctx)

        command.invoke = after_a_look
        watched(command)
    return command


def keep_inputs(ctx: Any) -> None:
    """Refuse to lose the data: files are compared, not the words that name them."""
    written: dict[str, Path] = {}
    for option, target in _written(ctx):
        for other, path in written.items():
            if _place(path) == _place(target):
                raise StratError(f"`{option}` must name another file than `{other}`, got {str(target)!r} twice.")
        written[option] = target
    there = {option: _identity(path) for option, path in written.items() if path.is_file()}
    read = {_identity(path) for path in _read(ctx)} if there else set()
    for option, identity in there.items():
        if identity in read:
            raise StratError(
                f"`{option}` must name another file than those that are read, got {str(written[option])!r}."
            )
    for option, target in written.items():
        _check_ending(ctx, option, target)


def _check_ending(ctx: Any, option: str, target: Path) -> None:
    """Refuse to write text into a file whose name says that it is something else, or that it is no file."""
    ending = target.suffix.lower()
    if str(target) == "-":
        raise StratError.about(option, "must name a file, got '-'; without --output the table is printed.")
    if ending in PACKED:
        raise StratError.about(option, f"must name a file that is not packed, got {str(target)!r}; pack it afterwards.")
    page = ending in PAGES and any("--html" in parameter.opts for parameter in ctx.command.params)
    if option == "--output" and ending in NO_TEXT and not page:
        raise StratError.about(
            option, f"must end in .csv, .json, .md, .tex or .txt, got {str(target)!r}; {NO_TEXT[ending]}."
        )


def _written(ctx: Any) -> Iterator[tuple[str, Path]]:
    for parameter in ctx.command.params:
        option = next((name for name in parameter.opts if name in WRITES), None)
        value = ctx.params.get(parameter.name or "")
        if option is not None and value is not None:
            yield option, Path(value)


def _read(ctx: Any) -> Iterator[Path]:
    """The files that the command reads: its arguments, and its options that are files."""
    for parameter in ctx.command.params:
        if parameter.param_type_name == "argument" or set(parameter.opts) & set(READS):
            value = ctx.params.get(parameter.name or "")
            for name in value if isinstance(value, list | tuple) else [value]:
                yield from _files(str(name)) if isinstance(name, str | Path) else ()  # --trials may be a number


def _files(name: str) -> Iterator[Path]:
    """The files that a name stands for: itself, what a pattern matches, or what is read of a folder."""
    from strat.data.logs.reading import files_read

    name = name.partition("#")[0] if ".xls" in name.lower() else name  # a sheet of a workbook
    try:
        hits = [name] if Path(name).exists() else glob.glob(name, recursive=True)  # noqa: PTH207
        for hit in map(Path, hits):
            if hit.is_file():
                yield hit
            yield from files_read(hit)
    except (OSError, ValueError, StratError):
        return  # the command says what is wrong with it


def _place(path: Path) -> tuple[int, int] | str:
    return _identity(path) if path.exists() else str(path.resolve())


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino
