"""The columns of lists of trials by what they hold: tables with a header, and texts with or without one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, some
from strat.base.validate.columns import Array, load, numbers
from strat.recognition.score_files import _columns, _read

ROLES = {
    "probe": ("probe", "test", "query", "segment", "segmentid", "segment_id", "verification", "file1", "image1",
              "probe_image", "test_id", "test_file", "probe_file"),
    "gallery": ("gallery", "enrol", "enroll", "enrolment", "enrollment", "reference", "model", "modelid", "model_id",
                "file2", "image2", "gallery_image", "enrol_id", "enrol_file", "gallery_file"),
    "score": ("score", "scores", "similarity", "similarity_score", "distance", "llr", "cosine"),
    "label": ("label", "target", "mated", "genuine", "match", "key", "same", "is_same", "targettype"),
    "probe_subject": ("probe_subject", "test_subject", "query_subject", "verification_subject", "verif_subject",
                      "probe_id", "subject1", "subject_1", "subject_a", "id1", "id_1"),
    "gallery_subject": ("gallery_subject", "reference_subject", "enrol_subject", "enroll_subject", "gallery_id",
                        "subject2", "subject_2", "subject_b", "id2", "id_2"),
}  # fmt: skip
SUBJECTS = ("subject", "subjects", "subject_id", "label", "labels", "identity", "person", "person_id", "speaker",
            "speaker_id", "pid", "id", "ids")  # fmt: skip
PATHS = ("path", "paths", "file", "filename", "image", "name", "utterance")
YES = ("1", "1.0", "true", "target", "genuine", "mated", "same", "match", "tgt", "yes")
NO = ("0", "0.0", "false", "nontarget", "non-target", "impostor", "imposter", "imp", "non-mated", "nonmated",
      "different", "nonmatch", "no", "-1")  # fmt: skip
WITH_HEADER = (".csv", ".tsv", ".parquet")


def columns_by_role(file: Path, columns: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """The column of each role, by the names or positions given or by usual ones, and the names in the header."""
    if file.suffix.lower() == ".parquet":
        return _by_name(file, columns, None)
    cells = rows_of_text(file, only_first=True)
    if not _has_header(file, cells[0].tolist(), columns):
        return _by_place(file, columns), []
    return _by_name(file, columns, None if file.suffix.lower() in WITH_HEADER else rows_of_text(file))


def _has_header(file: Path, first: Sequence[str], columns: Mapping[str, str]) -> bool:
    """Whether the first line of a text has names: those given, or usual ones, and no number."""
    if columns:
        return bool(set(columns.values()) & set(first)) or not all(str(at).isdigit() for at in columns.values())
    if any(_is_number(cell) for cell in first):
        return False
    usual = {name for names in ROLES.values() for name in names} - {*YES, *NO}
    return file.suffix.lower() in WITH_HEADER or bool({cell.lower() for cell in first} & usual)


def cells_of_bare_list(file: Path) -> int:
    """How many cells the lines have if a text without names of columns seems to be a list of trials; 0 otherwise.

    Such a line has a label, two images and perhaps a score.
    """
    if file.suffix.lower() not in (".txt", ".csv", ".tsv", ".lst", "") or not file.is_file():
        return 0
    try:
        first = rows_of_text(file, only_first=True)[0].tolist()
    except StratError:
        return 0
    labels = [k for k, cell in enumerate(first) if cell.lower() in (*YES, *NO)]
    images = [cell for k, cell in enumerate(first) if k not in labels[:1] and not _is_number(cell)]
    bare = labels and len(images) == 2 and len(first) in (3, 4) and not _has_header(file, first, {})
    return len(first) if bare else 0


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _by_name(file: Path, columns: Mapping[str, str], cells: NDArray[Any] | None) -> tuple[dict[str, Any], list[str]]:
    """The columns of each role of a table with a header (`cells`: of a text that is none of the usual tables)."""
    if cells is not None:
        columns_of_text = {name: cells[1:, k] for k, name in enumerate(cells[0].tolist())}
        present = list(columns_of_text)
        missing = next((name for name in columns.values() if name not in present), None)
        if missing is not None:
            raise StratError.about("path", f"must have a column {missing!r}; there are {some(present, 8)}.")
    else:
        present = list(_read(file, lambda result: [d[0] for d in result.description or []]))
    roles = {role: usual_name(names, present) for role, names in ROLES.items()}
    chosen = {role: name for role, name in (roles | dict(columns)).items() if name is not None}
    named = _columns(file, list(dict.fromkeys(chosen.values()))) if cells is None else columns_of_text
    return {role: named[name] for role, name in chosen.items()}, present


def usual_name(usual: Iterable[str], present: Iterable[str]) -> str | None:
    """The first of the usual names that is there, as it is spelled there.

    >>> usual_name(("subject", "label"), ["Label", "x"])
    'Label'
    """
    lower = {name.lower(): name for name in present}
    return next((lower[name] for name in usual if name in lower), None)


def _by_place(file: Path, columns: Mapping[str, str]) -> dict[str, Any]:
    """The columns of each role of a text without a header, by position."""
    cells = rows_of_text(file)
    width = cells.shape[1]
    if columns:
        return {role: cells[:, _place(role, at, width)] for role, at in columns.items()}
    place = next((k for k in (0, width - 1, *range(1, width - 1)) if _are_labels(cells[:, k])), None)
    if place is None:
        raise StratError.about(
            "path",
            f"must have a column of labels (1 and 0, target and nontarget), got none in {file.name!r}; say "
            "which with columns={'label': '1', 'gallery': '2', 'probe': '3'}, positions from 1.",
        )
    rest = [k for k in range(width) if k != place]
    if len(rest) not in (1, 2, 3):
        raise StratError.about(
            "path",
            f"must have a label, two images and perhaps a score in each line, got {width} cells in "
            f"{file.name!r}; say which with columns={{'label': '1', …}}, positions from 1.",
        )
    roles = {1: ("score",), 2: ("gallery", "probe"), 3: ("gallery", "probe", "score")}[len(rest)]
    return {"label": cells[:, place], **{role: cells[:, k] for role, k in zip(roles, rest, strict=True)}}


def _are_labels(cells: NDArray[Any]) -> bool:
    words = {word.lower() for word in np.unique(cells).tolist()}
    return len(words) >= 2 and words <= {*YES, *NO}


def _place(role: str, at: str, width: int) -> int:
    if not str(at).isdigit() or not 1 <= int(at) <= width:
        raise StratError.about("columns", f"must give positions from 1 to {width} without a header, got {role}={at!r}.")
    return int(at) - 1


def rows_of_text(file: Path, *, only_first: bool = False) -> NDArray[Any]:
    """The cells of a text, as many in each line."""
    if not file.is_file():
        raise StratError.about("path", f"must name a file, got {str(file)!r}, which is none.")
    try:
        with file.open(encoding="utf-8") as text:
            lines = [line for line in ([next(text, "")] if only_first else text.read().splitlines()) if line.strip()]
    except UnicodeDecodeError:
        raise StratError.about("path", f"must be UTF-8 text, got {file.name!r}, which is not.") from None
    if not lines:
        raise StratError.about("path", f"must have at least one line, got {file.name!r}, which is empty.")
    comma = "," in lines[0]
    rows = [[cell.strip() for cell in line.split(",")] if comma else line.split() for line in lines]
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise StratError.about(
            "path", f"must have as many cells in every line, got {some(sorted(widths))} in {file.name!r}."
        )
    return np.array(rows)


def scores_of(argument: str, file: Path) -> tuple[NDArray[Any] | None, Array]:
    """The scores of a file, and the two images of each (comparisons × 2) where its lines name them."""
    if file.suffix.lower() == ".npy":
        return None, numbers(argument, np.ravel(next(iter(load(argument, file).values()))))
    table = file.suffix.lower() == ".parquet"
    if table or _has_header(file, rows_of_text(file, only_first=True)[0].tolist(), {}):
        named, present = columns_by_role(file, {})
        if "score" not in named:
            raise StratError.about(argument, f"must have a column 'score', got {some(present, 8)} in {file.name!r}.")
        sides = [named.get(side) for side in ("gallery", "probe")]
        images = None if any(side is None for side in sides) else np.stack([as_text(s) for s in sides], axis=1)
        return images, numbers(argument, floats(argument, named["score"]))
    cells = rows_of_text(file)
    return cells[:, :2] if cells.shape[1] > 2 else None, numbers(argument, floats(argument, cells[:, -1]))


def subjects_or_paths(file: Path, *, paths: bool) -> NDArray[Any]:
    """The column of subjects of a file of labels, or of paths; the first where it has no header."""
    table = file.suffix.lower() == ".parquet"
    first = [] if table else rows_of_text(file, only_first=True)[0].tolist()
    usual = (*PATHS, *SUBJECTS) if paths else (*SUBJECTS, *PATHS)
    if not table and (file.suffix.lower() not in WITH_HEADER or usual_name(usual, first) is None):
        return np.asarray(rows_of_text(file)[:, 0])
    present = list(_read(file, lambda result: [d[0] for d in result.description or []]))
    name = usual_name(usual, present)
    if name is None:
        raise StratError.about("labels", f"must have a column 'subject', got {some(present, 8)} in {file.name!r}.")
    return np.asarray(as_text(_columns(file, [name])[name]))


def as_text(values: Any) -> Any:
    """Labels that are objects as text, others as they are."""
    array = np.asarray(values)
    return array.astype(str) if array.dtype == object else array


def floats(argument: str, values: Any) -> Any:
    """Cells as numbers, or an error that names the first one that is none."""
    array = np.asarray(values)
    try:
        return array.astype(float)
    except ValueError:
        wrong = next(k for k, cell in enumerate(array.tolist()) if not _is_number(cell))
        raise StratError.about(argument, f"must be numbers, got {array[wrong]!s:.40} in row {wrong + 1}.") from None


def mated_by_word(values: Any) -> NDArray[np.bool_]:
    """Truth values of labels in any of the usual words."""
    words = np.char.lower(np.char.strip(np.asarray(values).astype(str)))
    yes, no = np.isin(words, YES), np.isin(words, NO)
    if not (yes | no).all():
        raise StratError.about(
            "label",
            f"must be words such as 1 and 0 or target and nontarget, got {some(np.unique(words[~(yes | no)]), 3)}.",
        )
    return np.asarray(yes)
