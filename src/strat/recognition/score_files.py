"""Scores from files (matrices, triangles, triples) and candidate lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strat.base.errors import StratError, near, plain, some
from strat.base.notes import Note
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, ArrayFile, encode, load, numbers
from strat.recognition.given_table import score_table


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """A table of scores with the subject of each row and column; NaN where a pair was not compared.

    `listed` says whether the table was made of a list, so that pairs may be absent; `notes` what to know of the file.
    """

    scores: NDArray[Any]
    probes: NDArray[Any]
    gallery: NDArray[Any]
    listed: bool = False
    notes: tuple[Note, ...] = ()


@checked
def read_matrix(path: str | Path, *, key: str | None = None, subject: str = "subject") -> ScoreTable:
    """A square table of scores of images with images, or of probes with a gallery, from a file.

    Parameters
    ----------
    path
        ``.npz`` with the table under `key` and labels under `subject`, as the BSSR1 and FERET files are; labels of
        one side alone are called ``probe_subject`` or ``probes``, and ``gallery_subject`` or ``gallery``. A condensed
        upper triangle is made square. ``.npy``: memory-mapped, labels are positions. ``.csv``: a header with the
        gallery's labels, and each probe's label first in its line.
    key
        Name of the table in an ``.npz``; None: its only table.
    subject
        Name of the labels in an ``.npz``; those of one side alone have ``probe_`` or ``gallery_`` before it.
    """
    path = Path(path)
    if not _exists(path):
        raise StratError.about("path", f"must name a file, got {str(path)!r}, which is not there.")
    suffix = path.suffix.lower()
    if suffix == ".npy":
        table = next(iter(load("path", path, mapped=True).values()), np.zeros(0))
        if table.ndim != 2:
            raise StratError.about("path", f"must hold a table of scores, got {path.name!r} with shape {table.shape}.")
        return ScoreTable(table, np.arange(table.shape[0]), np.arange(table.shape[-1]))
    if suffix == ".npz":
        return _from_archive(load("path", path), key, subject, path.name)
    if suffix == ".csv":
        return _from_csv(path)
    raise StratError.about("path", f"must end in .npz, .npy or .csv, got {path.name!r}; triples have `read_triples`.")


# words by which the name of an array says that it is of the rows alone, or of the columns alone
OF_ONE_SIDE = {
    "probe": re.compile(r"probes?|query|queries|(?<![a-z])rows?(?![a-z])"),
    "gallery": re.compile(r"galler(?:y|ies)|enrol\w*|references?|(?<![a-z])col(?:umn)?s?(?![a-z])"),
}
LABELS = ("subject", "label", "identity", "identities", "person", "speaker", "who", "pid", "id", "name")


def _from_archive(arrays: Mapping[str, NDArray[Any]], key: str | None, subject: str, name: str) -> ScoreTable:
    chosen = _table_name(arrays, key, name)
    table = _square(arrays[chosen], chosen, name)
    others = {n: array for n, array in _heads(arrays).items() if n != chosen}
    rows, columns = (_labels_of(side, others, subject, name) for side in OF_ONE_SIDE)
    for side, labels, number in zip(("rows", "columns"), (rows, columns), table.shape, strict=True):
        if others[labels].shape != (number,):
            raise StratError.about(
                "subject",
                f"must name a label for each of the {number} {side} of {chosen!r} in {name}, got {labels!r} of shape "
                f"{others[labels].shape}; labels of one side alone are called probe_{subject} and gallery_{subject}.",
            )
    if rows == columns:
        _refuse_another_order(arrays, [n for n in others if n != rows], rows, name)
    return ScoreTable(table, arrays[rows], arrays[columns])


def _refuse_another_order(arrays: Mapping[str, NDArray[Any]], others: list[str], used: str, name: str) -> None:
    """Refuse to label both sides alike where the file has the same labels in another order too."""
    labels, heads = arrays[used], _heads(arrays)
    for other in others:
        alike = heads[other].shape == labels.shape and heads[other].dtype.kind == labels.dtype.kind
        if alike and np.array_equal(np.sort(arrays[other]), np.sort(labels)) and (arrays[other] != labels).any():
            raise StratError.about(
                "subject",
                f"must say whose labels these are in {name}, got {used!r} and the same ones in another order as "
                f"{other!r}; call those of the rows probe_{used} and those of the columns gallery_{used}.",
            )


def _labels_of(side: str, others: Mapping[str, NDArray[Any]], subject: str, name: str) -> str:
    """The name of the labels of this side: those of this side alone, or those of both."""
    own = [n for n, array in others.items() if array.ndim == 1 and OF_ONE_SIDE[side].search(n.lower())]
    labels = [n for n in own if _without_side(n, side) in ("", subject.lower(), *LABELS)]
    chosen = next((n for n in (f"{side}_{subject}", f"{side}s", side) if n in others), None)
    if chosen is None and len(labels) == 1:
        chosen = labels[0]
    if chosen is None and own:
        raise StratError.about(
            "subject",
            f"must say which labels are of the {side} alone in {name}, got {some(own)}; call them {side}_{subject}.",
        )
    if chosen is None and subject not in others:
        raise StratError.about(
            "subject", f"must name the labels in {name}, got {subject!r}; {near(subject, list(others))}"
        )
    return chosen or subject


def _without_side(name: str, side: str) -> str:
    """What is left of the name of an array without the word for its side.

    >>> _without_side("gallery_subjects", "gallery")
    'subject'
    """
    return OF_ONE_SIDE[side].sub("", name.lower()).strip("_-. ").removesuffix("s")


def _heads(arrays: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
    """The arrays, or stand-ins of their shapes and types that need no reading."""
    return arrays.heads if isinstance(arrays, ArrayFile) else arrays


def _table_name(arrays: Mapping[str, NDArray[Any]], key: str | None, name: str) -> str:
    """The table of scores that the key names, or the only one."""
    tables = [k for k, v in _heads(arrays).items() if v.ndim == 2 or (v.ndim == 1 and v.dtype.kind == "f")]
    if key is None and len(tables) != 1:
        raise StratError.about("key", f"must name one of the tables in {name}, got None; there are {some(tables, 8)}.")
    chosen = tables[0] if key is None else key
    if chosen not in arrays:
        raise StratError.about("key", f"must name a table in {name}, got {key!r}; {near(chosen, tables)}")
    return chosen


def _square(table: NDArray[Any], chosen: str, name: str) -> NDArray[Any]:
    """The table; a condensed triangle is made square."""
    if table.ndim == 1:
        from scipy.spatial.distance import squareform

        try:
            table = squareform(table)
        except ValueError:
            raise StratError.about(
                "path", f"must hold a square table or its triangle of n (n − 1)/2 scores, got {len(table)} in {name}."
            ) from None
    if table.ndim != 2:
        raise StratError.about(
            "key", f"must name a table of scores in {name}, got {chosen!r} with shape {table.shape}."
        )
    return table


def _from_csv(path: Path) -> ScoreTable:
    try:
        with path.open(encoding="utf-8") as file:
            gallery = np.array([cell.strip() for cell in file.readline().rstrip("\n").split(",")[1:]])
            lines = [line.rstrip("\n").split(",") for line in file if line.strip()]
    except UnicodeDecodeError:
        raise StratError.about("path", f"must be UTF-8 text, got {path.name!r}, which is not.") from None
    widths = {len(line) for line in lines} - {len(gallery) + 1}
    if widths or not lines:
        raise StratError.about(
            "path", f"must have {len(gallery)} scores in every line after the label, got {some(sorted(widths))} cells."
        )
    try:
        scores = np.array([[float(cell) for cell in line[1:]] for line in lines])
    except ValueError as error:
        raise StratError.about(
            "path",
            f"must hold numbers after each label, got {error}; a list of probe, gallery and score has `read_triples`.",
        ) from None
    return ScoreTable(scores, np.array([line[0].strip() for line in lines]), gallery)


@checked
def read_triples(
    path: str | Path,
    *,
    probe: str = "probe",
    gallery: str = "gallery",
    score: str = "score",
    probe_subject: str | None = None,
    gallery_subject: str | None = None,
) -> ScoreTable:
    """A table from triples (probe image, gallery image, score) in CSV or Parquet.

    Parameters
    ----------
    path
        The file.
    probe, gallery, score
        Names of the columns.
    probe_subject, gallery_subject
        Columns with the subjects; None: an image's name is its subject.
    """
    columns = _columns(path, [probe, gallery, score, *filter(None, (probe_subject, gallery_subject))])
    (rows, _), (entries, _) = encode(probe, columns[probe]), encode(gallery, columns[gallery])
    n, width = rows.max() + 1, entries.max() + 1
    place = rows * width + entries
    given = numbers(score, columns[score], finite=False)
    table = np.full(n * width, np.nan)
    table[place] = given
    other = np.flatnonzero((table[place] != given) & ~(np.isnan(table[place]) & np.isnan(given)))
    if len(other):
        raise StratError.about(
            "path",
            f"must have one score for each pair, got {table[place[other[0]]]} and {given[other[0]]} for probe "
            f"{plain(columns[probe][other[0]])!r} with gallery {plain(columns[gallery][other[0]])!r} "
            f"({len(np.unique(place[other]))} such pairs).",
        )
    again = len(place) - len(np.unique(place))
    return ScoreTable(
        table.reshape(n, width),
        _one_subject(columns, rows, probe_subject or probe),
        _one_subject(columns, entries, gallery_subject or gallery),
        listed=True,
        notes=(Note("pairs-repeated", {"lines": again, "file": Path(path).name}),) if again else (),
    )


def subject_columns(path: str | Path, ending: str, *, asked: bool) -> dict[str, str]:
    """The arguments of `read_triples` for columns of subjects called probe_… and gallery_…, if the file has them."""
    names = {argument: f"{argument.split('_')[0]}_{ending}" for argument in ("probe_subject", "gallery_subject")}
    present = list(_read(path, lambda result: [d[0] for d in result.description or []]))
    missing = [name for name in names.values() if name not in present]
    if missing and (asked or len(missing) == 1):
        raise StratError.about("path", f"must have a column {missing[0]!r} of subjects; {near(missing[0], present)}")
    return {} if missing else names


def _columns(path: str | Path, names: list[str]) -> dict[str, NDArray[Any]]:
    def fetch(result: Any) -> dict[str, Any]:
        present = [d[0] for d in result.description or []]
        missing = [name for name in names if name not in present]
        if missing:
            raise StratError.about("path", f"must have a column {missing[0]!r}; {near(missing[0], present)}")
        return dict(result.fetchnumpy())

    columns = _read(path, fetch)
    return {name: _whole(name, columns[name]) for name in names}


def _read(path: str | Path, fetch: Callable[[Any], Any]) -> Any:
    """What `fetch` makes of the rows of a CSV or Parquet file."""
    import duckdb

    if not _exists(Path(path)):
        raise StratError.about("path", f"must name a file, got {str(path)!r}, which is not there.")
    reader = "read_parquet" if str(path).lower().endswith(".parquet") else "read_csv"
    quiet = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    with duckdb.connect(config=quiet) as connection:
        try:
            result = connection.execute(f"SELECT * FROM {reader}(?)", [str(path)])
        except duckdb.Error as error:
            reason = str(error).split("\n")[0].rstrip(".")
            raise StratError.about("path", f"must hold triples, got {str(path)!r}: {reason}.") from None
        return fetch(result)


def _whole(name: str, values: Any) -> NDArray[Any]:
    empty = np.ma.getmaskarray(values)
    if empty.any():
        raise StratError.about(name, f"must have a value in every line, got none in row {empty.argmax()}.")
    return np.asarray(values)


def _one_subject(columns: dict[str, NDArray[Any]], codes: NDArray[np.int64], name: str) -> NDArray[Any]:
    labels = np.asarray(columns[name])
    labels = labels.astype(str) if labels.dtype == object else labels
    first = np.unique(codes, return_index=True)[1]
    subject = labels[first]
    wrong = labels != subject[codes]
    if wrong.any():
        raise StratError.about(
            name, f"must be the same in all lines of an image, got several in row {np.argmax(wrong)}."
        )
    return subject


@dataclass(frozen=True, eq=False)
class Candidates:
    """The best gallery entries of each probe, best first (equal scores in the gallery's order).

    `scores` are the greater the better, so that distances are negated, as everywhere in `strat.recognition`.
    """

    labels: NDArray[Any]
    scores: Array
    columns: NDArray[np.int64]


@checked
def candidates(
    *, similarity: ArrayLike | None = None, distance: ArrayLike | None = None, gallery: ArrayLike, top: int = 50
) -> Candidates:
    """The candidate list of each probe: its `top` best gallery entries.

    Examples
    --------
    >>> candidates(similarity=[[1, 5, 3]], gallery=["a", "b", "c"], top=2).labels.tolist()
    [['b', 'c']]
    """
    table, sign = score_table(similarity, distance)
    labels = np.asarray(gallery)
    if len(labels) != table.shape[1]:
        raise StratError.about("gallery", f"must name the {table.shape[1]} columns, got {len(labels)} labels.")
    if not isinstance(top, int | np.integer) or not 1 <= top <= len(labels):
        raise StratError.about("top", f"must be from 1 to the gallery's size {len(labels)}, got {top!r}.")
    order = np.empty((len(table), top), np.int64)
    step = max(1, (1 << 22) // table.shape[1])
    for start in range(0, len(table), step):
        part = -sign * table[start : start + step].astype(float)
        if np.isnan(part).any():
            raise StratError(
                f"scores must not be missing, got nan for probe {start + np.argwhere(np.isnan(part))[0][0]}."
            )
        order[start : start + step] = np.argsort(part, axis=1, kind="stable")[:, :top]
    scores = sign * np.take_along_axis(np.asarray(table), order, axis=1).astype(float)
    return Candidates(labels[order], scores, order)


def _exists(path: Path) -> bool:
    """Whether there is such a file; a name that no file can have is of none."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
