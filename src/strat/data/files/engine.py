"""The embedded engine, DuckDB: connections, queries with progress, SQL for names and marks, errors as sentences."""

from __future__ import annotations

import atexit
import csv
import os
import re
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from strat.base.errors import StratError
from strat.data.files.csv_text import head_of, read_errors, unpacked
from strat.data.spill import spilling
from strat.data.untrusted import text_lines

Progress = Callable[[float], None]
Counts = dict[str, dict[str, int]]
MEMORY = "2GB"


def connect(memory: str = MEMORY, *, alone: bool = False) -> Any:
    """A DuckDB engine that keeps to `memory`, spills to a folder of its own and never reaches for the network.

    Opening one takes longer than most questions to a small file, so that one which is no longer used serves again: for
    one user at a time, each with limits, folder and temporary tables of its own. Who creates other tables asks for one
    that serves him `alone`.
    """
    import duckdb

    _let_go_at_exit()
    with spilling() as folder:
        try:
            if memory.strip().startswith("-"):  # the engine takes it for no limit at all
                raise duckdb.Error
            instance = (None if alone else _idle(memory, folder.path)) or duckdb.connect(
                ":memory:", config=_QUIET | {"memory_limit": memory, "temp_directory": folder.path}
            )
        except duckdb.Error:
            raise StratError.about("memory", f"must be a size such as '2GB', got {memory!r}.") from None
        engine = folder.kept_with(instance.cursor())
        weakref.finalize(engine, _give_back, instance, os.getpid(), alone).atexit = False
        return engine


def _idle(memory: str, folder: str) -> Any:
    """An engine that nobody uses any more, with these settings; None if there is none, or if it refuses them."""
    import duckdb

    try:
        instance = _IDLE.pop()
        for name, value in (("memory_limit", memory), ("temp_directory", folder)):
            instance.execute(f"set {name} = {_text(value)}")
        return instance.execute("reset threads")
    except (IndexError, duckdb.Error):  # one that has spilled, or broken down, takes no other folder
        return None


def _give_back(instance: Any, owner: int, alone: bool) -> None:
    """Keep one engine for the next user; in a copy of the process, keep what must not be closed there."""
    if os.getpid() != owner:
        _INHERITED.append(instance)
    elif not (alone or _IDLE):
        _IDLE.append(instance)


_QUIET = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_file_cache": "false",  # a file may change from one user to the next
}
_IDLE: list[Any] = []
_INHERITED: list[Any] = []  # to close an engine whose threads stayed in the first process ends the copy
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_IDLE.clear)


@cache
def _let_go_at_exit() -> None:
    """Empty what holds DuckDB's objects at the end of the process, narwhals' caches too: they would be called leaks."""
    atexit.register(_empty_caches)


def _empty_caches() -> None:
    _IDLE.clear()
    for module in [module for name, module in sys.modules.items() if name.partition(".")[0] == "narwhals"]:
        for value in vars(module).values():
            if callable(clear := getattr(value, "cache_clear", None)):
                clear()


def counting_progress(engine: Any) -> Any:
    """The engine, which counts its progress; it is drawn by whoever asked for it."""
    engine.execute("set enable_progress_bar = true; set enable_progress_bar_print = false")
    return engine


def run(relation: Any, engine: Any, progress: Progress | None) -> dict[str, Any]:
    """The relation's columns as NumPy arrays, with the share done told to `progress` meanwhile."""
    if progress is None:
        return dict(relation.fetchnumpy())
    answer: list[Any] = []
    worker = threading.Thread(target=lambda: answer.append(_attempt(relation)), daemon=True)
    worker.start()
    try:
        while worker.is_alive():
            worker.join(0.1)
            progress(min(max(engine.query_progress(), 0.0) / 100, 1.0))
    except BaseException:
        engine.interrupt()
        worker.join()
        raise
    if isinstance(answer[0], BaseException):
        raise answer[0]
    return dict(answer[0])


def _attempt(relation: Any) -> Any:
    try:
        return relation.fetchnumpy()
    except BaseException as error:
        return error


def quoted(name: str) -> str:
    """A column's name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def in_marks(text: str, na: Sequence[str]) -> str:
    """SQL that is true where a text, without the blanks around it, is a mark of a missing value."""
    listed = ", ".join(map(_text, na))
    return f"trim({text}) in ({listed})" if na else "false"


def ask(engine: Any, relation: Any, aggregates: list[str]) -> Iterator[Any]:
    """The answers to these aggregates, from one pass."""
    if not aggregates:
        return iter(())
    return iter(engine.execute(f"select {', '.join(aggregates)} from ({relation.sql_query()})").fetchall()[0])


def count_marks(engine: Any, relation: Any, names: Sequence[str], na: Sequence[str]) -> Counts:
    """How many values of each of these text columns are which mark."""
    if not na or not names:
        return {}
    asked = [f"count(*) filter (where {in_marks(quoted(name), [mark])})" for name in names for mark in na]
    counts = ask(engine, relation, asked)
    return {name: {mark: count for mark in na if (count := next(counts))} for name in names}


class engine_errors:
    """Turn what DuckDB says into one sentence with the file and the line."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = paths

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type | None, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, StratError):
            return
        import duckdb

        if isinstance(error, duckdb.InterruptException) or str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        # pyarrow and the engine's bindings raise these where bytes that should be text are none
        if isinstance(error, UnicodeError) or (type(error) is RuntimeError and "conversion" in str(error)):
            where = f"`{self.paths[0]}`"
            raise StratError(f"{where} must hold UTF-8 text, and a name in it is not UTF-8; write it again.") from None
        if isinstance(error, duckdb.Error | RuntimeError):
            raise StratError(explain(str(error), self.paths)) from None


def explain(message: str, paths: Sequence[Path]) -> str:
    """One sentence about what the engine could not read, with the file and the line if they are known."""
    named = re.search(r"""(?:file = |file ")([^"\n]+)""", message)
    file = named.group(1).strip() if named else str(paths[0])
    if "sniffing file" in message or "reached an invalid state" in message:
        return f"`{file}`{_bad_row(Path(file))}"
    if "memory" in message.lower() and "Out of Memory" in message:
        return f"`memory` is too small for `{file}`: {first_sentence(message)}; allow more, or ask for fewer columns."
    if alike := re.search(r"the keys ('.*') and ('.*') differ only in case", message):
        both = f"{alike[1]}, {alike[2]}"
        return f"`{file}` must name columns that differ by more than capitals, got {both}; rename one."
    line = re.search(r"CSV Error on Line: (\d+)", message)
    if line and "Invalid unicode" in message:
        return f"`{file}`, line {line.group(1)}, must be UTF-8 text, and is not; save the file as UTF-8."
    reason = _reason(message)
    if line:
        return f"`{file}`, line {line.group(1)}, can't be read: {reason}; correct the row, or read the column as text."
    return f"`{file}` can't be read: {reason}."


def _reason(message: str) -> str:
    for pattern in (
        r"Error when converting column .*",
        r"Expected Number of Columns: .*",
        r"Value with unterminated quote[^\n]*",
    ):
        match = re.search(pattern, message)
        if match:
            return first_sentence(match.group(0))
    return first_sentence(re.sub(r"^[A-Z][A-Za-z ]*Error: ", "", message))


def first_sentence(text: str) -> str:
    """The first line of a message, without its full stop."""
    return text.strip().split("\n")[0].strip().rstrip(".")


def _bad_row(path: Path) -> str:
    """Where a CSV file stops being one, found by reading it slowly."""
    head = head_of(path)
    try:
        with unpacked(path) as file:
            ends: set[str] = set()
            lines = _noting_ends(text_lines(file), ends)
            reader = csv.reader(islice(lines, head.skipped, None), delimiter=head.delimiter, strict=True)
            width = len(next(reader))
            for row in reader:
                if row and len(row) != width:
                    line = reader.line_num + head.skipped
                    return f", line {line}, must have {width} fields as the first line, got {len(row)}."
    except csv.Error as error:
        return f", line {reader.line_num}, can't be read as CSV ({error}); look for a stray quote."
    except UnicodeDecodeError:
        return " must be UTF-8 text, and is not; save it as UTF-8."
    except ValueError as error:
        return f" can't be read: {error}; is it text?"
    except read_errors(path) as error:
        return f" can't be read: {error or 'it is empty'}."
    if len(ends) > 1:
        return f" must have one kind of line end, got {' and '.join(map(repr, sorted(ends)))}; save it again."
    return " can't be read as CSV; is it text with one header line?"


def _noting_ends(lines: Iterable[str], ends: set[str]) -> Iterator[str]:
    for line in lines:
        ends.update({line[len(line.rstrip("\r\n")) :]} - {""})
        yield line
