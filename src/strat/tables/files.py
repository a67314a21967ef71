"""Files through DuckDB, the embedded engine: CSV, TSV, Parquet, JSON lines and Arrow, packed or not, any size."""

from __future__ import annotations

import csv
import glob
import gzip
import io
import re
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strat.errors import StratError, some
from strat.tables.limits import possible, readable, unchanged

Progress = Callable[[float], None]
MEMORY = "2GB"
FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
PACKED = (".gz", ".zst")
PICKLES = (".pkl", ".pickle", ".joblib", ".pt", ".pth")
_WHOLE_SNIFF = 64 << 20
_LINE = re.compile(r'(?:"(?:[^"]|"")*"?|[^"\r\n]+)*')  # up to a line end of any system that no quotes enclose


@dataclass(frozen=True, eq=False)
class FileSource:
    """Files of one format, opened in an engine of their own.

    Attributes
    ----------
    paths
        The files, in order.
    relation
        The DuckDB relation over all of them; nothing is read before it is asked.
    engine
        The DuckDB connection that owns the relation.
    """

    paths: tuple[Path, ...]
    relation: Any
    engine: Any
    progress: Progress | None = field(default=None, repr=False)

    @property
    def label(self) -> str:
        """What messages call these files."""
        first = str(self.paths[0])
        return first if len(self.paths) == 1 else f"{first} and {len(self.paths) - 1} more files"

    def fetch(self, relation: Any) -> dict[str, Any]:
        """The relation's columns as NumPy arrays, computed now under the memory limit."""
        with unchanged(self.paths), _engine_errors(self.paths):
            return run(relation, self.engine, self.progress)


def open_files(
    source: str | Path | Sequence[str | Path],
    *,
    text: Sequence[str] = (),
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> FileSource:
    """The files that a path, a glob or a list of them names, as one table that is not read yet.

    Parameters
    ----------
    source
        One or more paths or globs; all of one format.
    text
        Columns of CSV files to read as text whatever they look like (labels such as `007`).
    memory
        What the engine may hold in memory, such as ``"2GB"``; beyond it, it spills to a temporary folder.
    progress
        Called with the share done, between 0 and 1, while long work runs.
    """
    paths = find(source)
    kinds = {path: kind_of(path) for path in paths}
    if len(set(kinds.values())) > 1:
        raise StratError(
            f"`source` must name files of one format, got {some([str(p) for p in paths])}; read each format by itself."
        )
    engine = connect(memory)
    with _engine_errors(paths):
        relation = _READERS[kinds[paths[0]]](engine, paths, text)
    return FileSource(tuple(paths), relation, engine, progress)


def find(source: str | Path | Sequence[str | Path]) -> list[Path]:
    """The existing files that the paths and globs name, in sorted order within each."""
    given = [source] if isinstance(source, str | Path) else list(source)
    found: list[Path] = []
    if "" in given:
        raise StratError("`source` must name files that exist, got an empty name.")
    for name in given:
        path = possible(name)
        if path.is_dir():
            raise StratError(f"`source` must name files, got the folder {str(path)!r}; add a pattern: {path}/*.csv.")
        # a pattern may be absolute, which Path.glob refuses
        globbed = sorted(glob.glob(str(name), recursive=True))  # noqa: PTH207
        hits = [path] if path.exists() else [Path(hit) for hit in globbed]
        if not hits:
            raise StratError(f"`source` must name files that exist, got {str(name)!r}; {_beside(path)}")
        found.extend(hits)
    if not found:
        raise StratError("`source` must name at least one file, got none.")
    return [readable(path) for path in found if path.is_file()] or _no_file(given)


def _no_file(given: Sequence[str | Path]) -> list[Path]:
    raise StratError(f"`source` must name files, got {some([str(g) for g in given])}, where there is none.")


def _beside(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"there is no folder {str(folder)!r}."
    from strat.errors import near

    return near(path.name, sorted(p.name for p in folder.iterdir() if p.is_file())[:200])


def kind_of(path: Path) -> str:
    """The format that the name tells, or an error that lists the known ones."""
    suffixes = [s.lower() for s in path.suffixes]
    while suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    if last in PICKLES:
        raise StratError(
            f"`{path}` is a pickle, which can run code when it is loaded, so strat never loads one; "
            "write the table as Parquet or CSV."
        )
    if last not in FORMATS:
        raise StratError(
            f"`{path}` must end in one of {', '.join(FORMATS)} (with .gz or .zst if packed), got {last!r}; "
            "rename it, or pass a data frame."
        )
    return FORMATS[last]


def connect(memory: str = MEMORY) -> Any:
    """A DuckDB engine in memory that keeps to `memory` and never reaches for the network."""
    import duckdb

    settings = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    try:
        engine = duckdb.connect(":memory:", config={**settings, "memory_limit": memory})
    except duckdb.Error:
        raise StratError(f"`memory` must be a size such as '2GB', got {memory!r}.") from None
    # progress is counted, and drawn by whoever asked for it
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


def _literal(path: Path) -> str:
    """The path as DuckDB reads it: its glob signs stand for themselves."""
    return re.sub(r"([\[*?])", r"[\1]", str(path))


def _read_csv(engine: Any, paths: Sequence[Path], text: Sequence[str]) -> Any:
    total = sum(path.stat().st_size for path in paths)
    head = _first_line(paths[0])
    delimiter = _delimiter(head)
    if not head.strip():
        raise StratError(f"`{paths[0]}` must start with a line of column names, got an empty line.")
    _unique_names(_fields(head, delimiter, paths[0]), paths[0])
    return engine.read_csv(
        [_literal(path) for path in paths],
        delimiter=delimiter,
        quotechar='"',
        escapechar='"',
        header=True,
        strict_mode=True,
        dtype=dict.fromkeys(text, "VARCHAR") or None,
        sample_size=-1 if total < _WHOLE_SNIFF else 200_000,
    )


def _delimiter(head: str) -> str:
    """What parts the names of the first line, whatever stands between quotes."""
    return max(",\t;|", key=re.sub(r'"(?:[^"]|"")*"', "", head).count)


def _fields(head: str, delimiter: str, path: Path) -> list[str]:
    try:
        return next(csv.reader([head], delimiter=delimiter))
    except csv.Error as error:
        raise StratError(f"`{path}` must start with a line of column names, and does not: {error}.") from None


def _unique_names(names: Sequence[str], path: Path) -> None:
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise StratError(f"`{path}` must name each column once, got {some(twice)} twice; rename one.")
    # the engine takes capitals for small letters, A to Z, and would call the second one by a name of its own
    alike = Counter(_small(name) for name in names)
    if max(alike.values(), default=0) > 1:
        both = [name for name in names if alike[_small(name)] > 1]
        raise StratError(f"`{path}` must name columns that differ by more than capitals, got {some(both)}; rename one.")


def _small(name: str) -> bytes:
    return name.encode("utf-8", "replace").lower()


def _first_line(path: Path) -> str:
    try:
        with _opened(path) as file:
            line: bytes = file.readline(1 << 20)
            return _LINE.match(line.decode("utf-8-sig", "replace"))[0]  # type: ignore[index]
    except _broken(path) as error:
        raise StratError(f"`{path}` can't be read: {error}.") from None


def _broken(path: Path) -> tuple[type[Exception], ...]:
    """What reading a damaged or empty file raises."""
    plain = (OSError, EOFError, StopIteration, zlib.error)
    if path.suffix.lower() != ".zst":
        return plain
    import zstandard

    return (*plain, zstandard.ZstdError)


def _opened(path: Path) -> Any:
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rb")
    if path.suffix.lower() == ".zst":
        import zstandard

        return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(path.open("rb"), closefd=True))
    return path.open("rb")


def _read_parquet(engine: Any, paths: Sequence[Path], text: Sequence[str]) -> Any:
    made = engine.read_parquet([_literal(path) for path in paths], union_by_name=len(paths) > 1)
    columns = list(made.columns)
    schema = engine.execute("select name from parquet_schema(?)", [_literal(paths[0])]).fetchall()
    lost = {name for (name,) in schema} - set(columns)
    _unique_names([*columns, *(name for name in sorted(lost) if _renamed(name, columns))], paths[0])
    return made


def _renamed(name: str, columns: Sequence[str]) -> bool:
    """Whether a name of the file is missing because another one differs from it by capitals only."""
    pattern = re.compile(re.escape(name) + r"(_\d+)+")
    return any(pattern.fullmatch(column) for column in columns)


def _read_json(engine: Any, paths: Sequence[Path], text: Sequence[str]) -> Any:
    return engine.read_json(
        [_literal(path) for path in paths],
        format="newline_delimited",
        sample_size=200_000,
        maximum_object_size=16 << 20,
    )


def _read_arrow(engine: Any, paths: Sequence[Path], text: Sequence[str]) -> Any:
    try:
        import pyarrow.dataset
    except ImportError:
        raise StratError(
            f"`{paths[0]}` is an Arrow file, which needs the package pyarrow; install pyarrow, or write Parquet."
        ) from None
    try:
        rows = pyarrow.dataset.dataset([str(p) for p in paths], format="ipc")
        _unique_names(rows.schema.names, paths[0])
        return engine.from_arrow(rows)
    except (StratError, UnicodeError):
        raise
    except (OSError, ValueError) as error:
        raise StratError(f"`{paths[0]}` can't be read as an Arrow file: {_sentence(str(error))}.") from None


_READERS: dict[str, Callable[[Any, Sequence[Path], Sequence[str]], Any]] = {
    "csv": _read_csv,
    "parquet": _read_parquet,
    "json": _read_json,
    "arrow": _read_arrow,
}


class _engine_errors:
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
            raise StratError(f"{where} must hold UTF-8 text, and a name in it is none; write it anew.") from None
        if isinstance(error, duckdb.Error | RuntimeError):
            raise StratError(explain(str(error), self.paths)) from None


def explain(message: str, paths: Sequence[Path]) -> str:
    """One sentence about what the engine could not read, with the file and the line if they are known."""
    named = re.search(r"""(?:file = |file ")([^"\n]+)""", message)
    file = named.group(1).strip() if named else str(paths[0])
    if "sniffing file" in message:
        return f"`{file}`{_bad_row(Path(file))}"
    if "memory" in message.lower() and "Out of Memory" in message:
        return f"`memory` is too small for `{file}`: {_sentence(message)}; allow more, or ask for fewer columns."
    if alike := re.search(r"the keys ('.*') and ('.*') differ only in case", message):
        both = f"{alike[1]}, {alike[2]}"
        return f"`{file}` must name columns that differ by more than capitals, got {both}; rename one."
    line = re.search(r"CSV Error on Line: (\d+)", message)
    if line and "Invalid unicode" in message:
        return f"`{file}`, line {line.group(1)}, must be UTF-8 text, and is not; save the file as UTF-8."
    reason = _reason(message)
    if line:
        return f"`{file}`, line {line.group(1)}, can't be read: {reason}; mend the row, or read the column as text."
    return f"`{file}` can't be read: {reason}."


def _reason(message: str) -> str:
    for pattern in (
        r"Error when converting column .*",
        r"Expected Number of Columns: .*",
        r"Value with unterminated quote[^\n]*",
    ):
        found = re.search(pattern, message)
        if found:
            return _sentence(found.group(0))
    return _sentence(re.sub(r"^[A-Z][A-Za-z ]*Error: ", "", message))


def _sentence(text: str) -> str:
    return text.strip().split("\n")[0].strip().rstrip(".")


def _bad_row(path: Path) -> str:
    """Where a CSV file stops being one, found by reading it slowly."""
    delimiter = _delimiter(_first_line(path))
    try:
        with _opened(path) as file:
            reader = csv.reader(io.TextIOWrapper(file, "utf-8", newline=""), delimiter=delimiter, strict=True)
            width = len(next(reader))
            for row in reader:
                if row and len(row) != width:
                    return f", line {reader.line_num}, must have {width} fields as the first line, got {len(row)}."
    except csv.Error as error:
        return f", line {reader.line_num}, can't be read as CSV ({error}); look for a stray quote."
    except UnicodeDecodeError:
        return " must be UTF-8 text, and is not; save it as UTF-8."
    except _broken(path) as error:
        return f" can't be read: {error or 'it is empty'}."
    return " can't be read as CSV; is it text with one header line?"
