"""`strat recognize`: ranks, curves and error rates of a recognition system, with errors by subject."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from strat.cli.options import Level, Picture, leave_out, naming, picture
from strat.cli.output import Html, Json, Latex, Markdown, Output, Quiet, Sheet, draw, emit, report, warn
from strat.columns import load
from strat.errors import StratError, near, one_of
from strat.estimation import Estimate, estimate
from strat.recognition import (
    Ranks,
    ScoreTable,
    System,
    gallery_effect,
    image_array,
    match_curve,
    open_set,
    ranks,
    ranks_of_embeddings,
    read_matrix,
    read_triples,
    reciprocal_rank_of,
    run,
    size_curve,
    system_of_embeddings,
    system_of_scores,
    verification,
)
from strat.recognition.curves import TARGETS, design_of
from strat.recognition.experiment import compare_methods, compare_units
from strat.recognition.scores import subject_columns
from strat.words import counted

SCHEMA = "strat/recognize/1"
SUBJECT = "subject"
OF_RATES = ("enrolment", "open_", "max_rank", "target", "ties", "at", "fmr", "fpir", "device")
COLUMNS = ("figure", "at", "estimate", "se", "low", "high", "df")

SIMILARITY = typer.Option(None, help="Table of similarities: .npz, .npy, .csv, or triples in .parquet or .csv.")
DISTANCE = typer.Option(None, help="Table of distances, in the same forms.")
PROBES = typer.Option(None, help="Embeddings of the probes: an .npz with embeddings and subject.")
GALLERY = typer.Option(None, help="Embeddings of the gallery, in the same form.")
IMAGES = typer.Option(None, help="Embeddings of all images, for --per-subject.")
AT = typer.Option("1,5,10,20", help="Ranks to print, parted by commas.")
FMR = typer.Option("0.01,0.001", help="False match rates at which to print FNMR.")
FPIR = typer.Option("0.1,0.01", help="False positive identification rates at which to print FNIR.")

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@dataclass(frozen=True)
class _Wish:
    target: str
    ties: str
    method: str
    at: list[int]
    fmr: list[float]
    fpir: list[float]
    max_rank: int | None
    level: float


@dataclass(frozen=True)
class _Source:
    """Where the scores come from."""

    similarity: Path | None
    distance: Path | None
    probes: Path | None
    gallery: Path | None
    images: Path | None
    key: str | None
    subject: str
    triples: bool
    score: str
    device: str

    def __post_init__(self) -> None:
        given = [self.similarity, self.distance, self.probes, self.images]
        if sum(x is not None for x in given) != 1 or (self.probes is None) != (self.gallery is None):
            raise StratError(
                "one of `--similarity`, `--distance`, `--probes` with `--gallery`, and `--images` must be given, "
                "and only one."
            )

    def table(self) -> tuple[ScoreTable, dict[str, Any]] | None:
        """The table of scores, and the scores under their name; None for embeddings."""
        path = self.similarity or self.distance
        if path is None:
            return None
        kind = "similarity" if self.similarity else "distance"
        with naming(path=f"--{kind}", key="--key", subject="--subject", read_triples="--triples"):
            if self.listed:
                asked = self.subject != SUBJECT
                made = read_triples(path, **subject_columns(path, self.subject, asked=asked))
            else:
                made = read_matrix(path, key=self.key, subject=self.subject)
        return made, {kind: made.scores}

    @property
    def listed(self) -> bool:
        """Whether the table is a list of triples."""
        path = self.similarity or self.distance
        return self.triples or (path is not None and path.suffix.lower() == ".parquet")

    def vectors(self, kind: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Embeddings and subjects of the probes, the gallery or all images."""
        path: Path = getattr(self, kind)
        if not path.exists():
            raise StratError(f"`--{kind}` must name a file with embeddings, got {str(path)!r}, which is not there.")
        archive, chosen = load(f"--{kind}", path), self.key or "embeddings"
        for name in (chosen, self.subject):
            if name not in archive:
                raise StratError(f"`--{kind}` must hold {name!r}, got {path.name!r}; {near(name, list(archive))}")
        return archive[chosen], archive[self.subject]


@command.command()
def recognize(
    ctx: typer.Context,
    similarity: Path | None = SIMILARITY,
    distance: Path | None = DISTANCE,
    probes: Path | None = PROBES,
    gallery: Path | None = GALLERY,
    images: Path | None = IMAGES,
    key: str | None = typer.Option(None, help="Name of the table, or of the vectors, in an .npz."),
    subject: str = typer.Option(
        SUBJECT, help="Name of the labels in an .npz; in triples, columns probe_NAME and gallery_NAME."
    ),
    triples: bool = typer.Option(False, "--triples", help="The table is a list: probe, gallery, score."),
    score: str = typer.Option("cosine", help="cosine, inner, euclidean, l1 or mahalanobis."),
    enrolment: str = typer.Option("single", help="Several images of a subject: best, mean or images."),
    open_: bool = typer.Option(False, "--open-set", help="Probes without a mate are non-mated searches."),
    max_rank: int | None = typer.Option(None, help="R, the length of the candidate list of open-set rates."),
    per_subject: int | None = typer.Option(None, help="The evaluation of CVPR 5 with so many images a subject."),
    target: str = typer.Option("population", help="population, or these-subjects (subjects as strata)."),
    ties: str = typer.Option("pessimistic", help="pessimistic, optimistic or expected."),
    method: str = typer.Option("closed form", help="closed form, brr, jackknife or bootstrap."),
    at: str = AT,
    fmr: str = FMR,
    fpir: str = FPIR,
    level: Level = 0.95,
    device: str = typer.Option("cpu", help="cpu or cuda, for embeddings."),
    plot: Picture = None,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    latex: Latex = False,
    quiet: Quiet = False,
    output: Output = None,
) -> None:
    """Curves and error rates of a recognition system, with errors that count subjects, not rows.

    For example:

      strat recognize --similarity scores.npz --key face_g --html report.html

      strat recognize --probes probes.npz --gallery gallery.npz --score cosine --plot cms.png

      strat recognize --images all.npz --score euclidean --per-subject 4
    """
    wish = _Wish(
        one_of("--target", target.replace("-", " "), TARGETS),
        ties,
        method,
        _places(at),
        _numbers("--fmr", fmr),
        _numbers("--fpir", fpir),
        max_rank,
        level,
    )
    source = _Source(similarity, distance, probes, gallery, images, key, subject, triples, score, device)
    if images is not None and per_subject is None:
        raise StratError("`--per-subject` must say how many images each subject has with `--images`.")
    picture(plot)
    _left_out(ctx, source, open_, per_subject is not None)
    if per_subject is not None:
        sheet = _experiment(*_system(source), per_subject, wish, plot, html)
    else:
        sheet = _figures(source, enrolment, open_, wish, plot, html)
    emit(sheet, as_json=as_json, markdown=markdown, latex=latex, quiet=quiet, output=output)


def _left_out(ctx: typer.Context, source: _Source, open_: bool, experiment: bool) -> None:
    """Refuse options that these scores have no use for."""
    table = source.similarity or source.distance
    if table is not None:
        leave_out(ctx, "score", "device", why="with a table of scores: it is for embeddings")
        if source.listed or table.suffix.lower() != ".npz":
            leave_out(ctx, "key", why=f"for {table.suffix.lower()} files and triples: it names a part of an .npz")
        if not source.listed and table.suffix.lower() != ".npz":
            leave_out(ctx, "subject", why=f"for a table in a {table.suffix.lower()} file, which names its own subjects")
    else:
        leave_out(ctx, "triples", "fmr", why="for embeddings: it is for a table of scores")
    if experiment:
        if source.probes is not None:
            raise StratError("`--per-subject` must come with `--images` or a square table, got `--probes`.")
        leave_out(ctx, *OF_RATES, why="with --per-subject, which evaluates rank 1 as CVPR 5 does")
    elif not open_:
        leave_out(ctx, "max_rank", "fpir", why="without --open-set: it is for open-set rates")


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise StratError(f"`{option}` must be numbers parted by commas, got {text!r}.") from None


def _places(text: str) -> list[int]:
    found = _numbers("--at", text)
    if any(k < 1 or not k.is_integer() for k in found):
        raise StratError(f"`--at` must be ranks, whole numbers from 1, got {text!r}.")
    return [int(k) for k in found]


def _figures(source: _Source, enrolment: str, open_: bool, wish: _Wish, plot: Path | None, html: Path | None) -> Sheet:
    given = source.table()
    results: dict[str, Any] = {}
    if given is None:
        found = _of_vectors(source, enrolment, open_)
        rows = _closed(found, wish)
    else:
        table, scores = given
        labels: dict[str, Any] = {"probes": table.probes, "gallery": table.gallery}
        found = ranks(**scores, **labels, enrolment=enrolment, open_set=open_)
        checked = verification(**scores, **labels)
        results["verification"] = checked.det()
        rows = _closed(found, wish) + _lines("EER", "", checked.eer(), wish)
        rows += _lines("FNMR at FMR", wish.fmr, checked.fnmr_at(wish.fmr), wish)
    if open_:
        if found.mated.all():
            raise StratError("`--open-set` must have probes of subjects outside the gallery, got none; leave it out.")
        made = open_set(found, max_rank=wish.max_rank, target=wish.target)
        rows += _lines(f"FNIR(R = {made.max_rank}) at FPIR", wish.fpir, made.fnir_at(wish.fpir), wish)
    curve: dict[str, Any] = {"target": wish.target, "method": wish.method, "ties": wish.ties}
    _draw(plot, lambda: match_curve(found, **curve).plot(level=wish.level))
    if html is not None:
        report({"identification": match_curve(found, **curve), **results}, html)
    return Sheet(SCHEMA, COLUMNS, rows, _title(found), _notes(found, wish))


def _of_vectors(source: _Source, enrolment: str, open_: bool) -> Ranks:
    (p, who), (g, enrolled) = source.vectors("probes"), source.vectors("gallery")
    return ranks_of_embeddings(
        p,
        g,
        probe_subjects=who,
        gallery_subjects=enrolled,
        score=source.score,
        enrolment=enrolment,
        open_set=open_,
        device=source.device,
    )


def _closed(found: Ranks, wish: _Wish) -> list[list[Any]]:
    at = sorted({k for k in wish.at if k <= found.gallery_size}) or [1]
    curve = match_curve(found, target=wish.target, method=wish.method, at=np.asarray(at), ties=wish.ties).of()
    rows = _lines("CMS at rank", at, curve, wish)
    design = design_of(found.subject[found.mated], wish.target)
    rows += _lines("mean reciprocal rank", "", estimate(reciprocal_rank_of(found, ties=wish.ties), on=design), wish)
    small = size_curve(
        found, sizes=np.unique([max(2, found.gallery_size // 10), found.gallery_size]), target=wish.target
    )
    return rows + _lines("rank-1 miss rate at N", small.sizes.astype(int).tolist(), small.estimate, wish)


def _lines(name: str, at: Any, found: Estimate, wish: _Wish) -> list[list[Any]]:
    low, high = (np.ravel(np.asarray(side)) for side in found.interval(wish.level))
    value, se = np.ravel(found.point), np.ravel(np.sqrt(found.variance))
    places, df = at if isinstance(at, list) else [at], float(found.df)
    return [
        [name, place, float(v), float(s), float(a), float(b), int(df) if df.is_integer() else df]
        for place, v, s, a, b in zip(places, value, se, low, high, strict=True)
    ]


def _title(found: Ranks) -> str:
    mated = int(found.mated.sum())
    said = (
        f"{counted(mated, 'mated probe')} of {counted(len(np.unique(found.subject[found.mated])), 'subject')}, "
        f"N = {found.gallery_size}"
    )
    return said if mated == len(found) else f"{said}; {counted(len(found) - mated, 'non-mated probe')}"


def _notes(found: Ranks, wish: _Wish) -> list[str]:
    target = "the population of subjects" if wish.target == "population" else "these very subjects"
    tied = f"{counted(found.tied_probes, 'probe')} tied with a non-mate (counted {wish.ties})"
    notes = [f"Target: {target}; {tied}; {found.method}."]
    if found.failed.any():
        notes.append(f"{counted(int(found.failed.sum()), 'probe')} failed: a miss at every rank.")
    return notes


def _system(source: _Source) -> tuple[System, NDArray[Any]]:
    given = source.table()
    if given is None:
        x, who = source.vectors("images")
        return system_of_embeddings("system", x, subjects=who, score=source.score), who
    table, scores = given
    if table.scores.shape[0] != table.scores.shape[1] or (table.probes != table.gallery).any():
        raise StratError("`--per-subject` must have a square table of all images with all images.")
    labels: dict[str, Any] = {"subjects": table.probes}
    return system_of_scores("system", **scores, **labels), table.probes


def _experiment(
    system: System, who: NDArray[Any], per_subject: int, wish: _Wish, plot: Path | None, html: Path | None
) -> Sheet:
    """The evaluation of CVPR section 5: gallery effect, mixing, units and methods."""
    array = image_array(who, per_subject=per_subject, fewer="leave out")
    left = len(np.unique(who)) - array.shape[0]
    method = "brr" if wish.method == "closed form" else wish.method
    rows: list[list[Any]] = []
    notes = [
        f"{counted(array.shape[0], 'subject')} as strata, {counted(per_subject - 1, 'probe image')} each as units; "
        f"errors by {method}."
    ]
    if left:
        warn([f"{counted(left, 'subject')} with fewer than {counted(per_subject, 'image')} left out."])
    if per_subject > 2:
        for name, used in (("as given", array), ("mixed", array.mixed())):
            effect = gallery_effect(system, used, method=method, at=[1])
            for curve, one in zip(effect.curves, effect.runs, strict=True):
                rows += _lines(f"rank 1, galleries {name}", [one.gallery + 1], curve, wish)
            notes.append(f"Gallery effect, {name}: {effect.test()}.")
    if per_subject > 3:
        for name, found in compare_units(system, array.mixed(), method=method, at=[1]).estimates.items():
            rows += _lines(f"rank 1, {name}", [1], found, wish)
    compared = compare_methods(run(system, array.mixed()), at=[1])
    for name, found in compared.estimates.items():
        rows += _lines(f"rank 1 by {name}", [counted(compared.replicates[name], "replicate")], found, wish)
    _draw(plot, lambda: gallery_effect(system, array, method=method).plot())
    if html is not None:
        report({"CMS curve, mixed galleries": run(system, array.mixed()).cms(method=method)}, html)
    title = f"{system.name}: {counted(array.shape[0], 'subject')} × {counted(per_subject, 'image')}"
    return Sheet(SCHEMA, COLUMNS, rows, title, notes)


def _draw(plot: Path | None, make: Any) -> None:
    if plot is None:
        return
    import matplotlib

    matplotlib.use("Agg")
    draw(make().figure, plot)
