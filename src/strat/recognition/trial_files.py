"""Lists of trials as people have them: VoxCeleb's, SRE's, genuine and impostor files, CSV and Parquet of any names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.errors import StratError, near, plain, some
from strat.recognition.score_files import _columns, _exists, _read
from strat.recognition.trial_comparisons import ListComparisons
from strat.recognition.trials import INFERRED, linked_subjects, verification_of_trials
from strat.recognition.verification import Verification
from strat.validate.arguments import checked
from strat.validate.columns import Array, labels_of, load, numbers

ROLES = {
    "probe": ("probe", "test", "query", "segment", "file1", "image1", "probe_image", "test_id"),
    "gallery": ("gallery", "enrol", "enroll", "enrolment", "enrollment", "reference", "model", "file2", "image2",
                "gallery_image", "enrol_id", "modelid"),
    "score": ("score", "scores", "similarity", "distance", "llr"),
    "label": ("label", "target", "mated", "genuine", "match", "key", "same", "is_same", "targettype"),
    "probe_subject": ("probe_subject", "test_subject", "probe_id", "subject1", "id1"),
    "gallery_subject": ("gallery_subject", "reference_subject", "enrol_subject", "gallery_id", "subject2", "id2"),
}  # fmt: skip
YES = ("1", "1.0", "true", "target", "genuine", "mated", "same", "match", "tgt", "yes")
NO = ("0", "0.0", "false", "nontarget", "non-target", "impostor", "imposter", "imp", "non-mated", "nonmated",
      "different", "nonmatch", "no", "-1")  # fmt: skip
WITH_HEADER = (".csv", ".tsv", ".parquet")


@dataclass(frozen=True, eq=False)
class Trials:
    """A list of comparisons from files.

    Attributes
    ----------
    score
        Of each comparison; None where the list has none.
    probe, gallery
        Names of the images on either side; None where only scores are known.
    mated
        Whether each comparison is of one subject; None: where subjects agree.
    probe_subject, gallery_subject
        Subjects on either side; None: not known.
    """

    score: Array | None
    probe: NDArray[Any] | None
    gallery: NDArray[Any] | None
    mated: NDArray[np.bool_] | None
    probe_subject: NDArray[Any] | None = None
    gallery_subject: NDArray[Any] | None = None

    def __len__(self) -> int:
        """Number of comparisons."""
        first = next(x for x in (self.score, self.probe, self.mated) if x is not None)
        return len(first)

    @checked
    def verification(
        self, *, scores: Array | None = None, distance: bool = False, average: str = "comparisons"
    ) -> Verification:
        """The comparisons, with the scores of this list or with others in the same order.

        Parameters
        ----------
        scores
            One for each comparison; None: those of the list.
        distance
            Whether smaller is better.
        average
            As in `verification_of_trials`.
        """
        used = self.score if scores is None else scores
        if used is None:
            raise StratError("`scores` must be given for a list of trials that has none, got None.")
        given: dict[str, Any] = {"distance" if distance else "similarity": used, "average": average}
        if self.probe_subject is not None:
            sides: dict[str, Any] = {"probes": self.probe_subject, "gallery": self.gallery_subject}
            return verification_of_trials(**given, **sides, mated=self.mated)
        if self.probe is None or self.gallery is None or self.mated is None:
            return verification_of_trials(**given, mated=self.mated)
        probes, gallery = linked_subjects(self.mated, self.probe, self.gallery)
        linked = verification_of_trials(**given, probes=probes, gallery=gallery)
        comparisons = linked.comparisons
        assert isinstance(comparisons, ListComparisons)
        return replace(linked, comparisons=replace(comparisons, noted=(INFERRED,)))


@checked
def read_trials(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    pattern: str | None = None,
) -> Trials:
    r"""A list of trials from a file.

    Parameters
    ----------
    path
        Text without a header, ``label first second [score]`` (VoxCeleb) or ``first second [score] label`` (SRE, Kaldi),
        cells apart by spaces, tabs or commas; or ``.csv``, ``.tsv`` or ``.parquet`` with names of columns.
    columns
        From roles to names of columns, or to positions from 1 in a text without a header. Roles are probe, gallery,
        score, label, probe_subject and gallery_subject; those left out are looked for under usual names.
    pattern
        Regular expression whose first group is the subject in an image's name, such as ``"^(id[0-9]+)/"``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "trials.txt")
    >>> _ = file.write_text("1 id1/a id1/b 0.9\n0 id1/a id2/a 0.2\n")
    >>> t = read_trials(file, pattern="^(id[0-9]+)/")
    >>> t.mated.tolist(), t.score.tolist(), t.probe_subject.tolist()
    ([True, False], [0.9, 0.2], ['id1', 'id2'])
    """
    file = Path(path)
    if not _exists(file):
        raise StratError(f"`path` must name a file, got {str(path)!r}, which is not there.")
    unknown = sorted(set(columns or {}) - set(ROLES))
    if unknown:
        raise StratError(f"`columns` must name roles, got {unknown[0]!r}; {near(unknown[0], list(ROLES))}")
    named = _by_header(file, columns or {}) if file.suffix.lower() in WITH_HEADER else _by_place(file, columns or {})
    label = None if "label" not in named else _labels(named["label"])
    sides = [None if side not in named else labels_of(side, _text(named[side])) for side in ("probe", "gallery")]
    subjects = [
        labels_of(name, _text(named[name])) if (name := f"{side}_subject") in named else subjects_of(names, pattern)
        for side, names in zip(("probe", "gallery"), sides, strict=True)
    ]
    if (subjects[0] is None) != (subjects[1] is None):
        raise StratError("`columns` must name the subjects of both sides or of neither, got one of them.")
    score = numbers("score", _floats(named["score"])) if "score" in named else None
    trials = Trials(score, sides[0], sides[1], label, subjects[0], subjects[1])
    if label is None and subjects[0] is None:
        raise StratError(
            f"`path` must say which trials are mated, got {file.name!r} with {some(sorted(named))}; name a column with "
            "columns={'label': …} or those of the subjects."
        )
    return trials


def subjects_of(names: NDArray[Any] | None, pattern: str | None) -> NDArray[Any] | None:
    """The first group of the pattern in each name; None without names or pattern.

    >>> subjects_of(np.array(["a/1.png", "b/7.png"]), "^(.*)/").tolist()
    ['a', 'b']
    """
    if names is None or pattern is None:
        return None
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise StratError(f"`pattern` must be a regular expression, got {pattern!r}: {error}.") from None
    if compiled.groups < 1:
        raise StratError(f"`pattern` must have a group for the subject, got {pattern!r}; such as '^([^/]+)/'.")
    distinct, codes = np.unique(names.astype(str), return_inverse=True)
    matches = [compiled.search(name) for name in distinct.tolist()]
    missing = [name for name, match in zip(distinct.tolist(), matches, strict=True) if match is None]
    if missing:
        raise StratError(f"`pattern` must match every name, got {pattern!r} and {some(missing, 3)}.")
    return np.array([match.group(1) for match in matches if match is not None])[codes.reshape(-1)]


def _text(values: Any) -> Any:
    array = np.asarray(values)
    return array.astype(str) if array.dtype == object else array


def _floats(values: Any) -> Any:
    try:
        return np.asarray(values).astype(float)
    except ValueError as error:
        raise StratError(f"`score` must be numbers, got {error}.") from None


def _labels(values: Any) -> NDArray[np.bool_]:
    """Truth values of labels in any of the usual words."""
    words = np.char.lower(np.char.strip(np.asarray(values).astype(str)))
    yes, no = np.isin(words, YES), np.isin(words, NO)
    if not (yes | no).all():
        raise StratError(
            "`label` must be words such as 1 and 0 or target and nontarget, got "
            f"{some(np.unique(words[~(yes | no)]), 3)}."
        )
    return np.asarray(yes)


def _by_header(file: Path, columns: Mapping[str, str]) -> dict[str, Any]:
    """The columns of each role, by the names given or by usual ones."""
    present = list(_read(file, lambda result: [d[0] for d in result.description or []]))
    lower = {name.lower(): name for name in present}
    roles = {role: next((lower[n] for n in names if n in lower), None) for role, names in ROLES.items()}
    chosen = {role: name for role, name in (roles | dict(columns)).items() if name is not None}
    named = _columns(file, list(dict.fromkeys(chosen.values())))
    return {role: named[name] for role, name in chosen.items()}


def _by_place(file: Path, columns: Mapping[str, str]) -> dict[str, Any]:
    """The columns of each role of a text without a header, by position."""
    cells = rows_of_text(file)
    width = cells.shape[1]
    if columns:
        return {role: cells[:, _place(role, at, width)] for role, at in columns.items()}
    place = next((k for k in (0, width - 1, *range(1, width - 1)) if _are_labels(cells[:, k])), None)
    if place is None:
        raise StratError(
            f"`path` must have a column of labels (1 and 0, target and nontarget), got none in {file.name!r}; say "
            "which with columns={'label': '1', 'gallery': '2', 'probe': '3'}, positions from 1."
        )
    rest = [k for k in range(width) if k != place]
    if len(rest) not in (1, 2, 3):
        raise StratError(
            f"`path` must have a label, two images and perhaps a score in each line, got {width} cells in "
            f"{file.name!r}; say which with columns={{'label': '1', …}}, positions from 1."
        )
    roles = {1: ("score",), 2: ("gallery", "probe"), 3: ("gallery", "probe", "score")}[len(rest)]
    return {"label": cells[:, place], **{role: cells[:, k] for role, k in zip(roles, rest, strict=True)}}


def _are_labels(cells: NDArray[Any]) -> bool:
    words = {word.lower() for word in np.unique(cells).tolist()}
    return len(words) >= 2 and words <= {*YES, *NO}


def _place(role: str, at: str, width: int) -> int:
    if not str(at).isdigit() or not 1 <= int(at) <= width:
        raise StratError(f"`columns` must give positions from 1 to {width} without a header, got {role}={at!r}.")
    return int(at) - 1


def rows_of_text(file: Path) -> NDArray[Any]:
    """The cells of a text without a header, as many in each line."""
    if not file.is_file():
        raise StratError(f"`path` must name a file, got {str(file)!r}, which is none.")
    try:
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except UnicodeDecodeError:
        raise StratError(f"`path` must be UTF-8 text, got {file.name!r}, which is not.") from None
    if not lines:
        raise StratError(f"`path` must have at least one line, got {file.name!r}, which is empty.")
    comma = "," in lines[0]
    rows = [[cell.strip() for cell in line.split(",")] if comma else line.split() for line in lines]
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise StratError(f"`path` must have as many cells in every line, got {some(sorted(widths))} in {file.name!r}.")
    return np.array(rows)


@checked
def read_scores(path: str | Path, trials: Trials | None = None) -> Array:
    """The scores of a file: one a line in the order of the trials, or ``first second score`` in any order.

    Parameters
    ----------
    path
        Text without a header; or an ``.npy`` file of as many numbers as there are trials.
    trials
        The trials that they are scores of; None: the last cell of each line.
    """
    file = Path(path)
    if not _exists(file):
        raise StratError(f"`scores` must name a file, got {str(path)!r}, which is not there.")
    if file.suffix.lower() == ".npy":
        values = numbers("scores", np.ravel(next(iter(load("scores", file).values()))))
        return _as_many(values, trials, file)
    cells = rows_of_text(file)
    values = numbers("scores", _floats(cells[:, -1]))
    if cells.shape[1] < 3 or trials is None or trials.probe is None or trials.gallery is None:
        return _as_many(values, trials, file)
    return _joined(cells[:, :2], values, trials, file)


def _as_many(values: Array, trials: Trials | None, file: Path) -> Array:
    if trials is not None and len(values) != len(trials):
        raise StratError(f"`scores` must be as many as the trials ({len(trials)}), got {len(values)} in {file.name!r}.")
    return values


def _joined(names: NDArray[Any], values: Array, trials: Trials, file: Path) -> Array:
    """Scores of pairs of names, in the order of the trials; the two sides may have changed places."""
    assert trials.probe is not None
    assert trials.gallery is not None
    table = {(a, b): v for (a, b), v in zip(names.tolist(), values.tolist(), strict=True)}
    if len(table) < len(values):
        raise StratError(
            f"`scores` must have each pair once, got {len(values) - len(table)} pairs again in {file.name!r}."
        )
    pairs = list(zip(trials.gallery.astype(str).tolist(), trials.probe.astype(str).tolist(), strict=True))
    joined = [table.get((a, b), table.get((b, a))) for a, b in pairs]
    missing = [pair for pair, value in zip(pairs, joined, strict=True) if value is None]
    if missing:
        raise StratError(
            f"`scores` must have a score for every trial, got none for {plain(missing[0])!r} in {file.name!r} "
            f"({len(missing)} such trials)."
        )
    return np.array(joined, float)


@checked
def read_genuine_impostor(genuine: str | Path, impostor: str | Path, *, pattern: str | None = None) -> Trials:
    """The trials of a file of genuine scores and a file of impostor scores.

    Parameters
    ----------
    genuine, impostor
        One score a line; or two images and the score.
    pattern
        As in `read_trials`, where the lines name images; without it they are subjects linked by the genuine lines.
    """
    parts = []
    for argument, path in (("genuine", genuine), ("impostor", impostor)):
        if not _exists(Path(path)):
            raise StratError(f"`{argument}` must name a file, got {str(path)!r}, which is not there.")
        cells = rows_of_text(Path(path))
        parts.append((cells, numbers(argument, _floats(cells[:, -1]))))
    (first, a), (second, b) = parts
    mated = np.arange(len(a) + len(b)) < len(a)
    score = np.concatenate([a, b])
    if min(first.shape[1], second.shape[1]) < 3:
        return Trials(score, None, None, mated)
    names = np.concatenate([first[:, :2], second[:, :2]])
    probe, gallery = names[:, 1], names[:, 0]
    return Trials(score, probe, gallery, mated, subjects_of(probe, pattern), subjects_of(gallery, pattern))


@checked
def read_labels(path: str | Path, *, pattern: str | None = None) -> NDArray[Any]:
    """The subject of each row of an array of embeddings: an ``.npy`` file, or one name a line.

    Parameters
    ----------
    path
        The file.
    pattern
        As in `read_trials`, where the lines are paths.
    """
    file = Path(path)
    if not _exists(file):
        raise StratError(f"`labels` must name a file, got {str(path)!r}, which is not there.")
    if file.suffix.lower() == ".npy":
        names = np.ravel(next(iter(load("labels", file).values())))
    else:
        names = rows_of_text(file)[:, 0]
    subjects = subjects_of(names, pattern)
    return names if subjects is None else subjects


def parsed_columns(text: str | Sequence[str]) -> dict[str, str]:
    """Roles and names from "probe=test,score=llr".

    >>> parsed_columns("probe=test, score=llr")
    {'probe': 'test', 'score': 'llr'}
    """
    parts = [part.strip() for part in (text.split(",") if isinstance(text, str) else text) if part.strip()]
    if any("=" not in part for part in parts):
        raise StratError(
            f"`columns` must be role=name, comma-separated, got {some(parts)}; such as probe=test,score=llr."
        )
    return {role.strip(): name.strip() for role, name in (part.split("=", 1) for part in parts)}
