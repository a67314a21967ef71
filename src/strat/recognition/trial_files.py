"""Lists of trials as people have them: VoxCeleb's, SRE's, genuine and impostor files, CSV and Parquet of any names."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, StratWarning, near, plain, some
from strat.base.notes import Note
from strat.base.text import counted
from strat.base.validate.arguments import checked
from strat.base.validate.columns import Array, labels_of, load, numbers
from strat.recognition.given_table import failed_in_list
from strat.recognition.score_files import _exists
from strat.recognition.trial_columns import (
    ROLES,
    as_text,
    columns_by_role,
    floats,
    mated_by_word,
    scores_of,
    subjects_or_paths,
)
from strat.recognition.trial_comparisons import ListComparisons
from strat.recognition.trials import linked_subjects, verification_of_trials
from strat.recognition.verification import Verification


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
            raise StratError.about("scores", "must be given for a list of trials that has none, got None.")
        given: dict[str, Any] = {"distance" if distance else "similarity": used, "average": average}
        verification = self._verification(given)
        if self.probe is None or self.gallery is None or not isinstance(verification.comparisons, ListComparisons):
            return verification
        alike = failed_in_list(np.asarray(used, float), {"probe": self.probe, "gallery image": self.gallery})
        if not alike:
            return verification
        noted = (*verification.comparisons.noted, *alike)
        return replace(verification, comparisons=replace(verification.comparisons, noted=noted))

    def _verification(self, given: Mapping[str, Any]) -> Verification:
        """The comparisons, with the subjects that are known."""
        if self.probe_subject is not None:
            sides: dict[str, Any] = {"probes": self.probe_subject, "gallery": self.gallery_subject}
            return verification_of_trials(**given, **sides, mated=self.mated)
        if self.probe is None or self.gallery is None or self.mated is None:
            return verification_of_trials(**given, mated=self.mated)
        if np.array_equal(self.probe == self.gallery, self.mated):  # the names are those of subjects
            return verification_of_trials(**given, probes=self.probe, gallery=self.gallery, mated=self.mated)
        probes, gallery = linked_subjects(self.mated, self.probe, self.gallery)
        linked = verification_of_trials(**given, probes=probes, gallery=gallery)
        comparisons = linked.comparisons
        assert isinstance(comparisons, ListComparisons)
        return replace(linked, comparisons=replace(comparisons, noted=(Note("subjects-inferred"),)))


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
        Text, ``label first second [score]`` (VoxCeleb) or ``first second [score] label`` (SRE, Kaldi), cells apart by
        spaces, tabs or commas, or with names of columns in its first line; or ``.csv``, ``.tsv`` or ``.parquet``.
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
        raise StratError.about("path", f"must name a file, got {str(path)!r}, which is not there.")
    unknown = sorted(set(columns or {}) - set(ROLES))
    if unknown:
        raise StratError.about("columns", f"must name roles, got {unknown[0]!r}; {near(unknown[0], list(ROLES))}")
    named, present = columns_by_role(file, columns or {})
    label = None if "label" not in named else mated_by_word(named["label"])
    sides = [None if side not in named else labels_of(side, as_text(named[side])) for side in ("probe", "gallery")]
    subjects = [
        labels_of(name, as_text(named[name])) if (name := f"{side}_subject") in named else subjects_of(names, pattern)
        for side, names in zip(("probe", "gallery"), sides, strict=True)
    ]
    among = f"; there are {some(present, 8)}" if present else ""
    _both_sides(subjects, among)
    score = numbers("score", floats("score", named["score"])) if "score" in named else None
    if label is None and subjects[0] is None:
        raise StratError.about(
            "path",
            f"must say which trials are mated, got {file.name!r} with {some(sorted(named)) or 'no usual name'}; "
            f"`columns` must name its label, or its probe_subject and gallery_subject{among}.",
        )
    return Trials(score, sides[0], sides[1], label, subjects[0], subjects[1])


def _both_sides(subjects: Sequence[Any], among: str) -> None:
    if (subjects[0] is None) != (subjects[1] is None):
        one, other = ("probe", "gallery") if subjects[1] is None else ("gallery", "probe")
        raise StratError.about(
            "columns",
            f"must name the subjects of both sides or of neither, got {one}_subject without {other}_subject{among}.",
        )


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
        raise StratError.about("pattern", f"must be a regular expression, got {pattern!r}: {error}.") from None
    if compiled.groups < 1:
        raise StratError.about("pattern", f"must have a group for the subject, got {pattern!r}; such as '^([^/]+)/'.")
    distinct, codes = np.unique(names.astype(str), return_inverse=True)
    matches = [compiled.search(name) for name in distinct.tolist()]
    missing = [name for name, match in zip(distinct.tolist(), matches, strict=True) if match is None]
    if missing:
        raise StratError.about("pattern", f"must match every name, got {pattern!r} and {some(missing, 3)}.")
    return np.array([match.group(1) for match in matches if match is not None])[codes.reshape(-1)]


@checked
def read_scores(path: str | Path, trials: Trials | None = None) -> Array:
    """The scores of a file: one a line in the order of the trials, or ``first second score`` in any order.

    Parameters
    ----------
    path
        Text, ``.csv``, ``.tsv`` or ``.parquet``; or an ``.npy`` file of as many numbers as there are trials.
    trials
        The trials that they are scores of; None: the last cell of each line.
    """
    file = Path(path)
    if not _exists(file):
        raise StratError.about("scores", f"must name a file, got {str(path)!r}, which is not there.")
    images, values = scores_of("scores", file)
    if images is None or trials is None or trials.probe is None or trials.gallery is None:
        return _as_many(values, trials, file)
    return _joined(images, values, trials, file)


def _as_many(values: Array, trials: Trials | None, file: Path) -> Array:
    if trials is not None and len(values) != len(trials):
        raise StratError.about(
            "scores", f"must be as many as the trials ({len(trials)}), got {len(values)} in {file.name!r}."
        )
    return values


def _joined(names: NDArray[Any], values: Array, trials: Trials, file: Path) -> Array:
    """Scores of pairs of names, in the order of the trials; the two sides may have changed places."""
    assert trials.probe is not None
    assert trials.gallery is not None
    table: dict[tuple[str, str], float] = {}
    for (a, b), value in zip(names.tolist(), values.tolist(), strict=True):
        if table.setdefault((a, b), value) != value:
            raise StratError.about(
                "scores",
                f"must have one score for each pair, got {table[a, b]} and {value} for {a!r} with {b!r} in "
                f"{file.name!r}.",
            )
    if len(table) < len(values):
        again = counted(len(values) - len(table), "line")
        warnings.warn(
            f"{again} of {file.name!r} repeat a pair with the same score; each pair is read once.",
            StratWarning,
            stacklevel=4,
        )
    pairs = list(zip(trials.gallery.astype(str).tolist(), trials.probe.astype(str).tolist(), strict=True))
    joined = [table.get((a, b), table.get((b, a))) for a, b in pairs]
    missing = [pair for pair, value in zip(pairs, joined, strict=True) if value is None]
    if missing:
        raise StratError.about(
            "scores",
            f"must have a score for every trial, got none for {plain(missing[0])!r} in {file.name!r} "
            f"({len(missing)} such trials).",
        )
    return np.array(joined, float)


@checked
def read_genuine_impostor(genuine: str | Path, impostor: str | Path, *, pattern: str | None = None) -> Trials:
    """The trials of a file of genuine scores and a file of impostor scores.

    Parameters
    ----------
    genuine, impostor
        One score a line, or two images and the score; text, ``.csv``, ``.tsv``, ``.parquet`` or ``.npy``.
    pattern
        As in `read_trials`, where the lines name images; without it they are subjects linked by the genuine lines.
    """
    parts = []
    for argument, path in (("genuine", genuine), ("impostor", impostor)):
        if not _exists(Path(path)):
            raise StratError.about(argument, f"must name a file, got {str(path)!r}, which is not there.")
        try:
            parts.append(scores_of(argument, Path(path)))
        except StratError as error:
            raise error.spelled({"path": argument}) from None
    (first, a), (second, b) = parts
    mated = np.arange(len(a) + len(b)) < len(a)
    score = np.concatenate([a, b])
    if first is None or second is None:
        return Trials(score, None, None, mated)
    names = np.concatenate([first, second])
    probe, gallery = names[:, 1], names[:, 0]
    return Trials(score, probe, gallery, mated, subjects_of(probe, pattern), subjects_of(gallery, pattern))


@checked
def read_labels(path: str | Path, *, pattern: str | None = None) -> NDArray[Any]:
    """The subject of each row of an array of embeddings.

    Parameters
    ----------
    path
        An ``.npy`` file; a text with one name a line; or a table with a column ``subject`` (or, with `pattern`,
        ``path``).
    pattern
        As in `read_trials`, where the lines are paths.
    """
    file = Path(path)
    if not _exists(file):
        raise StratError.about("labels", f"must name a file, got {str(path)!r}, which is not there.")
    if file.suffix.lower() == ".npy":
        names = np.ravel(next(iter(load("labels", file).values())))
    else:
        names = subjects_or_paths(file, paths=pattern is not None)
    subjects = subjects_of(names, pattern)
    return names if subjects is None else subjects


def parsed_columns(text: str | Sequence[str]) -> dict[str, str]:
    """Roles and names from "probe=test,score=llr".

    >>> parsed_columns("probe=test, score=llr")
    {'probe': 'test', 'score': 'llr'}
    """
    parts = [part.strip() for part in (text.split(",") if isinstance(text, str) else text) if part.strip()]
    if any("=" not in part for part in parts):
        raise StratError.about(
            "columns", f"must be role=name, comma-separated, got {some(parts)}; such as probe=test,score=llr."
        )
    columns: dict[str, str] = {}
    for role, name in ([cell.strip() for cell in part.split("=", 1)] for part in parts):
        if role in columns:
            raise StratError.about(
                "columns",
                f"must name one column for each role, got {role}={columns[role]} and {role}={name}; evaluate systems "
                "one by one, or give the scores of each in a file of its own (command line: --scores, repeated).",
            )
        columns[role] = name
    return columns
