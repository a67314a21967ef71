"""Where the scores of `strat recognize` come from: tables, triples, trial lists, score files or embeddings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from strat.base.errors import StratError, near, one_of, plain, some
from strat.base.limits import LIMITS
from strat.base.notes import Note
from strat.base.text import counted
from strat.base.validate.columns import load
from strat.cli.options import naming
from strat.recognition import (
    Ranks,
    ScoreTable,
    Trials,
    Verification,
    ranks,
    ranks_of_embeddings,
    read_genuine_impostor,
    read_labels,
    read_matrix,
    read_scores,
    read_trials,
    read_triples,
    verification,
    verification_of_embeddings,
    verification_of_file,
)
from strat.recognition.curves import ALONE
from strat.recognition.exact import SCORES, space
from strat.recognition.given_table import own_images
from strat.recognition.score_files import subject_columns
from strat.recognition.trial_columns import SUBJECTS, usual_name
from strat.recognition.trial_files import parsed_columns
from strat.recognition.trials import table_of

SUBJECT = "subject"
EMBEDDINGS = ("embeddings", "embedding", "features", "vectors", "x")
INCOMPLETE = Note(
    "pairs-not-compared",
    "pairs that were never compared are in no rate, and there are no ranks without all scores of a probe",
)
SAME_IMAGES = Note(
    "same-images",
    "rows and columns of the table are the same images: each pair counts once, no image is compared with itself, and "
    "there are no ranks without a gallery; --per-subject N enrols one image of each subject",
)
TOO_LARGE = Note("too-many-pairs", f"more than {LIMITS.trial_scores:,} comparisons: no error rates of verification")
KINDS = (
    "`--similarity`, `--distance`, `--trials`, `--genuine` with `--impostor`, `--probes` with `--gallery`, `--images`"
)


@dataclass(frozen=True)
class Request:
    """The options that say where scores come from."""

    similarity: Sequence[Path] = ()
    distance: Sequence[Path] = ()
    trials: Path | None = None
    scores: Sequence[Path] = ()
    genuine: Sequence[Path] = ()
    impostor: Sequence[Path] = ()
    probes: Sequence[Path] = ()
    gallery: Sequence[Path] = ()
    images: Sequence[Path] = ()
    labels: Path | None = None
    gallery_labels: Path | None = None
    key: Sequence[str] = ()
    names: Sequence[str] = ()
    columns: str | None = None
    id_pattern: str | None = None
    subject: str = SUBJECT
    triples: bool = False
    smaller: bool = False
    score: str = "cosine"
    device: str = "cpu"
    stream: bool = False
    failed_score: float | None = None

    def __post_init__(self) -> None:
        """Refuse two kinds of sources at once, and half of one."""
        given = [
            self.similarity, self.distance, self.trials, self.genuine or self.impostor, self.probes or self.gallery,
            self.images,
        ]  # fmt: skip
        halves = (len(self.probes) != len(self.gallery), len(self.genuine) != len(self.impostor))
        if sum(bool(x) for x in given) != 1:
            raise StratError(f"one of {KINDS} must be given, and only one.")
        if any(halves):
            halved = ("--probes", "--gallery") if halves[0] else ("--genuine", "--impostor")
            raise StratError.about(
                halved[0], f"and `{halved[1]}` must come together, as many of the one as of the other."
            )

    @property
    def kind(self) -> str:
        """Which option it is."""
        kinds = ("similarity", "distance", "trials", "genuine", "probes", "images")
        return next(kind for kind in kinds if getattr(self, kind))

    @property
    def is_table(self) -> bool:
        """Whether there is a table of scores, or a list of triples that makes one."""
        return self.kind in ("similarity", "distance")

    @property
    def listed(self) -> bool:
        """Whether the table is a list of triples."""
        return self.is_table and (self.triples or getattr(self, self.kind)[0].suffix.lower() == ".parquet")

    @property
    def unnamed(self) -> bool:
        """Whether the table is an array without names, whose subjects are in other files."""
        return self.is_table and not self.listed and getattr(self, self.kind)[0].suffix.lower() == ".npy"

    def systems(self) -> dict[str, Source]:
        """The sources of one or more systems by name."""
        sources = self._sources() if self.failed_score is None else self._without_failures(self.failed_score)
        if len(sources) == 1 and not self.names:
            return {ALONE: sources[0][1]}
        names = list(self.names) or [name for name, _ in sources]
        if len(names) != len(sources) or len(set(names)) < len(names):
            raise StratError(
                f"`--name` must name each of the {len(sources)} systems once, got {some(names)}; repeat the option."
            )
        return dict(zip(names, (source for _, source in sources), strict=True))

    def _sources(self) -> list[tuple[str, Source]]:
        if self.is_table:
            return self._tables()
        if self.kind == "trials":
            return self._trials()
        if self.kind == "genuine":
            pairs = zip(self.genuine, self.impostor, strict=True)
            return [(a.stem, self._of_trials(_genuine(a, b, self.id_pattern))) for a, b in pairs]
        galleries: Sequence[Path | None] = self.gallery or [None] * len(self.images)
        files = self.probes or self.images
        return [(p.stem, self._vectors(p, g)) for p, g in zip(files, galleries, strict=True)]

    def _tables(self) -> list[tuple[str, Source]]:
        files = getattr(self, self.kind)
        if len(self.key) > 1 and len(files) > 1:
            raise StratError("`--key` must be given once beside several files, got several of both.")
        keys: list[str | None] = list(self.key) or [None]
        pairs = [(file, key) for file in files for key in keys]
        named = [key if len(keys) > 1 else file.stem for file, key in pairs]
        return [
            (str(n), Source(table=self._table(f, k), kind=self.kind)) for n, (f, k) in zip(named, pairs, strict=True)
        ]

    def _without_failures(self, score: float) -> list[tuple[str, Source]]:
        """The tables with their failed templates, which no system's error rates count: they are of the same pairs."""
        named = [(name, source, source.failures(score)) for name, source in self._tables()]
        either = [np.unique(np.concatenate([failed[side] for *_, failed in named])) for side in (0, 1)]
        if not any(map(len, either)):
            raise StratError(
                f"`--failed-score` must be the score of an image with all others, got {score:g}, which no row and no "
                "column has throughout."
            )
        return [(name, replace(source, failed=failed, left_out=either)) for name, source, failed in named]

    def _table(self, file: Path, key: str | None) -> ScoreTable:
        with naming(path=f"--{self.kind}", key="--key", subject="--subject", read_triples="--triples"):
            if not self.listed:
                return self._labelled(file, read_matrix(file, key=key, subject=self.subject))
            if self.columns is not None:
                with naming(columns="--columns"):
                    return read_triples(file, **parsed_columns(self.columns))
            return read_triples(file, **subject_columns(file, self.subject, asked=self.subject != SUBJECT))

    def _labelled(self, file: Path, table: ScoreTable) -> ScoreTable:
        """The table with the subjects of its rows and columns from other files, where these are given."""
        n, width = table.scores.shape
        if self.labels is None:
            if self.gallery_labels is not None or (self.unnamed and n != width):
                raise StratError(
                    f"`--labels` must name the subjects of the {n} rows of {file.name!r}, an array without names, and "
                    f"`--gallery-labels` those of its {width} columns."
                )
            return table
        if self.gallery_labels is None and n != width:
            raise StratError(f"`--gallery-labels` must name the subjects of the {width} columns of {file.name!r}.")
        probes = self._labels("--labels", self.labels, n, "rows")
        if self.gallery_labels is None:
            return ScoreTable(table.scores, probes, probes)
        return ScoreTable(table.scores, probes, self._labels("--gallery-labels", self.gallery_labels, width, "columns"))

    def _trials(self) -> list[tuple[str, Source]]:
        assert self.trials is not None
        if self.stream:
            return [(self.trials.stem, Source(streamed=self._streamed(self.trials)))]
        with naming(path="--trials", columns="--columns", pattern="--id-pattern"):
            columns = None if self.columns is None else parsed_columns(self.columns)
            trials = read_trials(self.trials, columns=columns, pattern=self.id_pattern)
        if not self.scores:
            if trials.score is None:
                raise StratError(
                    "`--scores` must name a file of scores where `--trials` has none, or `--columns` the column of its "
                    "scores: score=NAME."
                )
            return [(self.trials.stem, self._of_trials(trials))]
        with naming(scores="--scores", score="--scores", path="--scores"):
            return [(file.stem, self._of_trials(trials, read_scores(file, trials))) for file in self.scores]

    def _streamed(self, file: Path) -> Verification:
        with naming(path="--trials", columns="--columns"):
            columns = None if self.columns is None else parsed_columns(self.columns)
            return verification_of_file(file, columns=columns, distance=self.smaller)

    def _of_trials(self, trials: Trials, scores: Any = None) -> Source:
        return Source(trials=trials, scores=scores, smaller=self.smaller)

    def _vectors(self, file: Path, gallery: Path | None) -> Source:
        first = "images" if gallery is None else "probes"
        p, who = self.vectors(first, file, self.labels)
        if gallery is None:
            return Source(vectors=(p, who, None, None), score=self.score, device=self.device)
        g, enrolled = self.vectors("gallery", gallery, self.gallery_labels)
        return Source(vectors=(p, who, g, enrolled), score=self.score, device=self.device)

    def vectors(self, kind: str, path: Path, labels: Path | None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Embeddings and subjects of the probes, the gallery or all images."""
        archive = _arrays(kind, path)
        chosen = self.key[0] if self.key else usual_name(EMBEDDINGS, archive) or EMBEDDINGS[0]
        option = "--gallery-labels" if kind == "gallery" else "--labels"
        if list(archive) == [""]:
            if labels is None:
                raise StratError(
                    f"`--{kind}` must come with the subjects of its rows, got {path.name!r}, an array without names; "
                    f"give {option} FILE (one per line), or an .npz file that holds {chosen!r} and {self.subject!r}."
                )
            return archive[""], self._labels(option, labels, len(archive[""]), "embeddings")
        subject = self.subject if self.subject != SUBJECT else usual_name(SUBJECTS, archive) or SUBJECT
        wanted = (chosen,) if labels is not None else (chosen, subject)
        for name in wanted:
            if name not in archive:
                raise StratError(f"`--{kind}` must hold {name!r}, got {path.name!r}; {near(name, list(archive))}")
        vectors = archive[chosen]
        if labels is None:
            return vectors, archive[subject]
        return vectors, self._labels(option, labels, len(vectors), "embeddings")

    def labels_of_images(self, name: str, option: str) -> NDArray[Any]:
        """The labels of the images under this name in the first .npz file."""
        file = getattr(self, self.kind)[0]
        arrays = load(f"--{self.kind}", file) if file.suffix.lower() == ".npz" else {}
        if name not in arrays:
            raise StratError(
                f"`{option}` must find labels of the images under {name!r} in an .npz file, got {file.name!r}; "
                f"{near(name, list(arrays))}"
            )
        return np.asarray(arrays[name])

    def _labels(self, option: str, labels: Path, number: int, what: str) -> NDArray[Any]:
        with naming(labels=option, path=option, pattern="--id-pattern"):
            values = read_labels(labels, pattern=self.id_pattern)
        if len(values) != number:
            raise StratError(f"`{option}` must have a line for each of the {number} {what}, got {len(values)}.")
        if self.images and len(values) > 1 and len(np.unique(values)) == len(values):
            raise StratError(
                f"`{option}` must name subjects of several images, got {len(values)} different ones, such as "
                f"{plain(values[0])!r}; give --id-pattern to take the subject out of a path, such as '^([^/]+)/'."
            )
        return values


def _arrays(kind: str, path: Path) -> Mapping[str, NDArray[Any]]:
    """The arrays of a file of embeddings by name."""
    if not path.exists():
        raise StratError(f"`--{kind}` must name a file with embeddings, got {str(path)!r}, which is not there.")
    if path.suffix.lower() in (".csv", ".tsv", ".parquet", ".mat", ".pt", ".pkl"):
        raise StratError(
            f"`--{kind}` must be embeddings in .npy (with --labels) or .npz, got {str(path)!r}; numpy.save(FILE, "
            "vectors) writes one."
        )
    return load(f"--{kind}", path)


def _genuine(genuine: Path, impostor: Path, pattern: str | None) -> Trials:
    with naming(genuine="--genuine", impostor="--impostor", path="--genuine", pattern="--id-pattern"):
        return read_genuine_impostor(genuine, impostor, pattern=pattern)


@dataclass(frozen=True, eq=False)
class Source:
    """The scores of one system: a table, a list of trials or embeddings."""

    table: ScoreTable | None = None
    kind: str = "similarity"
    trials: Trials | None = None
    scores: Any = None
    smaller: bool = False
    vectors: tuple[Any, Any, Any, Any] | None = None
    score: str = "cosine"
    device: str = "cpu"
    streamed: Verification | None = None
    failed: Sequence[NDArray[np.int64]] = ()  # rows and columns of the table without a template
    left_out: Sequence[NDArray[np.int64]] = ()  # and those of any system that is compared

    def failures(self, score: float) -> list[NDArray[np.int64]]:
        """Rows and columns of the table with this score throughout."""
        assert self.table is not None
        table = self.table.scores
        hit = np.asarray(table == score)
        failed = hit | np.isnan(table) if self.incomplete else hit.copy()
        if self.same_images:
            np.fill_diagonal(failed, True)  # an image with itself is no comparison
        return [np.flatnonzero(failed.all(axis=axis) & hit.any(axis=axis)) for axis in (1, 0)]

    @property
    def incomplete(self) -> bool:
        """Whether some pairs of a table were not compared."""
        return self.table is not None and self.table.scores.dtype.kind == "f" and self.listed_gaps

    @property
    def listed_gaps(self) -> bool:
        """Whether the table was made of triples that leave out some pairs."""
        assert self.table is not None
        return self.table.listed and bool(np.isnan(self.table.scores).any())

    def ranks(self, *, enrolment: str, open_set: bool) -> Ranks | None:
        """Ranks of the probes; None where there is no gallery to search."""
        with naming(enrolment="--enrolment", open_set="--open-set"):
            return self._ranks(enrolment, open_set)

    @cached_property
    def same_images(self) -> bool:
        """Whether rows and columns of the table are the same images, several of a subject."""
        table = self.table
        return table is not None and not self.incomplete and own_images(table.scores, table.probes, table.gallery)

    def _ranks(self, enrolment: str, open_set: bool) -> Ranks | None:
        if self.same_images:
            if enrolment != "single" or open_set:
                option = "--open-set" if open_set else "--enrolment"
                raise StratError(f"`{option}` must be left out for a table of images with themselves: no gallery.")
            return None
        if self.table is not None and not self.incomplete:
            failed = _named_failures(self.failed)
            return ranks(**self._scores, **self._sides, **failed, enrolment=enrolment, open_set=open_set)
        if self.vectors is None or self.vectors[2] is None:
            return None
        p, who, g, enrolled = self.vectors
        return ranks_of_embeddings(
            p, g, probe_subjects=who, gallery_subjects=enrolled, score=self.score,
            enrolment=enrolment, open_set=open_set, device=self.device,
        )  # fmt: skip

    def verification(self, average: str) -> Verification | None:
        """The comparisons; None where embeddings make too many."""
        if self.streamed is not None:
            return self.streamed
        if self.trials is not None:
            return self.trials.verification(scores=self.scores, distance=self.smaller, average=average)
        if self.table is not None:
            missing = "not compared" if self.incomplete else "error"
            sides = {"probes": self.table.probes} if self.same_images else self._sides
            failed = _named_failures(self.left_out[:1] if self.same_images else self.left_out)
            return verification(**self._scores, **sides, **failed, average=average, missing=missing)
        assert self.vectors is not None
        p, who, g, enrolled = self.vectors
        if len(p) * len(p if g is None else g) > LIMITS.trial_scores:
            return None
        return verification_of_embeddings(
            p, g, probe_subjects=who, gallery_subjects=enrolled, score=self.score, average=average
        )

    def searched(self, option: str) -> dict[str, Any]:
        """Scores of all probes with the gallery and the subjects of both, for what this option asks."""
        if self.table is not None:
            if self.incomplete:
                raise StratError(f"`{option}` must have a score for every pair, got pairs without one.")
            return {**self._scores, **self._sides}
        if self.vectors is None or self.vectors[2] is None:
            raise StratError(f"`{option}` must come with a table of scores, or `--probes` and `--gallery`.")
        p, who, g, enrolled = self.vectors
        if len(p) * len(g) > LIMITS.trial_scores:
            raise StratError(f"`--probes` and `--gallery` must make at most {LIMITS.trial_scores:,} comparisons.")
        table = table_of(space(p, g, score=one_of("--score", self.score, SCORES)))
        return {"similarity": table, "probes": who, "gallery": enrolled}

    @property
    def notes(self) -> list[Note]:
        """What to know about the source."""
        listed = [] if self.table is None else [*self.table.notes]
        if self.left_out:
            failed = " and ".join(
                counted(len(at), what)
                for at, what in zip(self.left_out, ("probe", "gallery image"), strict=True)
                if len(at)
            )
            listed.append(Note("templates-failed", f"{failed} without a template: in no error rate of any system"))
        return [*listed, *([INCOMPLETE] if self.incomplete else [SAME_IMAGES] if self.same_images else [])]

    @property
    def _scores(self) -> dict[str, Any]:
        assert self.table is not None
        return {self.kind: self.table.scores}

    @property
    def _sides(self) -> dict[str, Any]:
        assert self.table is not None
        return {"probes": self.table.probes, "gallery": self.table.gallery}


def _named_failures(failed: Sequence[NDArray[np.int64]]) -> dict[str, Any]:
    """The arguments that name failed rows and columns."""
    return dict(zip(("failed_probes", "failed_gallery"), failed, strict=False))
