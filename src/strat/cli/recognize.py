"""`strat recognize`: ranks, curves and error rates of recognition systems, with errors by subject."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from strat.base.errors import StratError, one_of
from strat.base.notes import Note
from strat.base.text import counted
from strat.cli.options import Level, Picture, leave_out, naming, picture
from strat.cli.output import Html, Json, Latex, Markdown, Output, Quiet, Sheet, draw, emit, page_or_text, report
from strat.cli.recognition_figures import (
    PLOT_KINDS,
    Evaluated,
    Wish,
    cautions,
    differences,
    evaluated,
    figures,
    lines,
    notes,
    title,
)
from strat.cli.recognition_figures import picture as drawn
from strat.cli.recognition_search import Cameras, searched
from strat.cli.recognition_sources import SUBJECT, Request
from strat.recognition import (
    Cost,
    ImageArray,
    System,
    compare_matchers,
    compare_systems,
    evaluation_figures,
    gallery_effect,
    image_array,
    match_curve,
    run,
    system_of_embeddings,
    system_of_scores,
)
from strat.recognition.curves import ALONE, TARGETS
from strat.recognition.experiment import compare_methods, compare_units
from strat.recognition.measures import NAMES, OF_THRESHOLD
from strat.recognition.verification import AVERAGES, USUAL_FMR

SCHEMA, SEVERAL = "strat/recognize/2", "strat/recognize-systems/2"
MEASURES = tuple(name for name in NAMES if name not in (*OF_THRESHOLD, "eer", "fnmr_at"))
OF_RATES = (
    "plot_kind", "enrolment", "open_", "max_rank", "target", "ties", "at", "fmr", "fpir", "average", "device",
    "measure", "p_target", "c_miss", "c_fa", "name", "threshold", "sampled",
    "failed_score",
)  # fmt: skip
OF_RATES_ALONE = tuple(name for name in OF_RATES if name not in ("at", "name", "device"))
COLUMNS = ("figure", "at", "estimate", "se", "low", "high", "df")

FILES = typer.Argument(None, hidden=True)
SIMILARITY = typer.Option(
    None, help="Table of similarities: .npz, .npy, .csv, or triples in .parquet or .csv; repeat for more systems."
)
DISTANCE = typer.Option(None, help="Table of distances, in the same forms.")
TRIALS = typer.Option(None, help="List of trials: label, two images, perhaps a score; text, .csv or .parquet.")
SCORES = typer.Option(
    None, help="With --trials: scores of a system, one per line or by names; repeat for more systems."
)
GENUINE = typer.Option(None, help="Genuine scores, one per line (or two images and a score).")
IMPOSTOR = typer.Option(None, help="Impostor scores, in the same form.")
PROBES = typer.Option(None, help="Embeddings of the probes: .npz with embeddings and subject, or .npy with --labels.")
GALLERY = typer.Option(None, help="Embeddings of the gallery, in the same form (labels: --gallery-labels).")
IMAGES = typer.Option(None, help="Embeddings of all images: compared all with all, or for --per-subject.")
LABELS = typer.Option(None, help="Subjects of the rows of --probes, --images or an .npy table: one per line, or .npy.")
GALLERY_LABELS = typer.Option(None, help="Subjects of the rows of --gallery, or of the columns of an .npy table.")
KEY = typer.Option(None, help="Name of the table, or of the vectors, in an .npz; repeat for several systems in one.")
NAME = typer.Option(None, "--name", help="Name of a system, in the order of the files; repeat.")
MEASURE = typer.Option(
    None, "--metric", "--metrics", help=f"More measures of verification (repeat): {', '.join(MEASURES)}."
)
AT = typer.Option("1,5,10,20", help="Ranks to print, comma-separated.")
FMR = typer.Option(",".join(f"{fmr:g}" for fmr in USUAL_FMR), help="False match rates at which to print FNMR.")
FPIR = typer.Option("0.1,0.01", help="False positive identification rates at which to print FNIR.")
FAILED_SCORE = typer.Option(
    None, help="With a table: the score of an image without a template with all others, such as -1; see the docs."
)
SAMPLED = typer.Option(
    False, "--sampled-gallery", help="Also give rates of searches with the variance of enrolling other subjects."
)
CAMERAS = typer.Option(
    None, help="With --reidentification: camera of each probe, one per line or .npy; own camera's images don't count."
)
GALLERY_CAMERAS = typer.Option(None, help="Camera of each gallery image, in the same form.")
PLOT_KIND = typer.Option(None, help=f"With --plot: {', '.join(PLOT_KINDS)} (default cmc, or det without a gallery).")

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command()
def recognize(
    ctx: typer.Context,
    files: list[str] | None = FILES,
    similarity: list[Path] | None = SIMILARITY,
    distance: list[Path] | None = DISTANCE,
    trials: Path | None = TRIALS,
    scores: list[Path] | None = SCORES,
    genuine: list[Path] | None = GENUINE,
    impostor: list[Path] | None = IMPOSTOR,
    probes: list[Path] | None = PROBES,
    gallery: list[Path] | None = GALLERY,
    images: list[Path] | None = IMAGES,
    labels: Path | None = LABELS,
    gallery_labels: Path | None = GALLERY_LABELS,
    key: list[str] | None = KEY,
    name: list[str] | None = NAME,
    columns: str | None = typer.Option(None, help="Columns by role: probe=…,gallery=…,score=…,label=…"),
    id_pattern: str | None = typer.Option(None, help="Regular expression whose group is the subject in a name."),
    subject: str = typer.Option(
        SUBJECT, help="Name of the labels in an .npz; in triples, columns probe_NAME and gallery_NAME."
    ),
    triples: bool = typer.Option(False, "--triples", help="The table is a list: probe, gallery, score."),
    smaller: bool = typer.Option(False, "--smaller-is-better", help="Scores of trials or of lists are distances."),
    failed_score: float | None = FAILED_SCORE,
    stream: bool = typer.Option(False, "--stream", help="Read --trials (.parquet) in batches, in bounded memory."),
    score: str = typer.Option("cosine", help="cosine, inner, euclidean, l1 or mahalanobis."),
    enrolment: str = typer.Option("single", help="Several images of a subject: best, mean or images."),
    open_: bool = typer.Option(False, "--open-set", help="Probes without a mate are non-mated searches."),
    sampled: bool = SAMPLED,
    max_rank: int | None = typer.Option(None, help="R, the length of the candidate list of open-set rates."),
    reid: bool = typer.Option(
        False, "--reidentification", "--reid", help="mAP and CMC with several gallery images of a subject."
    ),
    cameras: Path | None = CAMERAS,
    gallery_cameras: Path | None = GALLERY_CAMERAS,
    junk: str | None = typer.Option(None, help="Gallery labels that stand for no subject, comma-separated (-1)."),
    threshold: str | None = typer.Option(
        None, help="Print error rates at this threshold too; comma-separated for one of each system."
    ),
    per_subject: int | None = typer.Option(None, help="The evaluation of CVPR 5 with this many images per subject."),
    image: str | None = typer.Option(
        None, help="The same with these images of each subject, comma-separated: names under `image` in an .npz."
    ),
    kinds: str | None = typer.Option(
        None, help="With --per-subject or --image: name in an .npz of the images' fixed kinds."
    ),
    figures: str | None = typer.Option(None, help="With --per-subject or --image: folder to draw CVPR's figures into."),
    target: str = typer.Option("population", help="population, or these-subjects (subjects as strata)."),
    ties: str = typer.Option("pessimistic", help="pessimistic, optimistic or expected."),
    method: str = typer.Option("closed form", help="closed form, brr, jackknife or bootstrap."),
    at: str = AT,
    fmr: str = FMR,
    fpir: str = FPIR,
    measure: list[str] | None = MEASURE,
    p_target: float = typer.Option(0.01, help="Detection costs: prior probability of a mated comparison."),
    c_miss: float = typer.Option(1.0, help="Detection costs: cost of a false non-match."),
    c_fa: float = typer.Option(1.0, help="Detection costs: cost of a false match."),
    average: str = typer.Option("comparisons", help="What gets equal weight: comparisons (and probes), or subjects."),
    level: Level = 0.95,
    device: str = typer.Option("cpu", help="cpu or cuda, for embeddings."),
    plot: Picture = None,
    plot_kind: str | None = PLOT_KIND,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    latex: Latex = False,
    quiet: Quiet = False,
    output: Output = None,
) -> None:
    """Rank probes against a gallery: CMS, ROC, DET and open-set rates, with errors by subject.

    For example:

      strat recognize --similarity scores.npz --key face_g --html report.html

      strat recognize --similarity scores.npz --key face_g --key face_c --plot difference.pdf --plot-kind difference

      strat recognize --trials trials.txt --scores a.txt --scores b.txt --id-pattern "^(id[0-9]+)/" --metric min_dcf

      strat recognize --genuine genuine.txt --impostor impostor.txt --plot det.pdf

      strat recognize --probes probes.npy --labels who.txt --gallery gallery.npy --gallery-labels whom.txt

      strat recognize --probes query.npz --gallery gallery.npz --reid --cameras q.txt --gallery-cameras g.txt

      strat recognize --images all.npz --score euclidean --per-subject 4 --figures figures/
    """
    if files:
        raise StratError(
            f"an option must say what a file holds, got {files[0]!r} alone; --trials FILE for a list of "
            "comparisons, --similarity or --distance FILE for a table of scores, --images FILE for embeddings."
        )
    if plot_kind is not None:
        one_of("--plot-kind", plot_kind, PLOT_KINDS)
    wish = Wish(
        one_of("--target", target.replace("-", " "), TARGETS), ties, method, _places(at), _numbers("--fmr", fmr),
        _numbers("--fpir", fpir), max_rank, level, one_of("--average", average, AVERAGES), enrolment, open_,
        [one_of("--metric", one, MEASURES) for one in measure or []], _cost(p_target, c_miss, c_fa),
        [] if threshold is None else _numbers("--threshold", threshold), sampled,
    )  # fmt: skip
    source = Request(
        similarity or (), distance or (), trials, scores or (), genuine or (), impostor or (), probes or (),
        gallery or (), images or (), labels, gallery_labels, key or (), name or (), columns, id_pattern, subject,
        triples, smaller, score, device, stream, failed_score,
    )  # fmt: skip
    picture(plot)
    html, output = page_or_text(html, output)
    experiment = per_subject is not None or image is not None
    _left_out(ctx, source, open_, experiment)
    if reid:
        if html is not None:
            raise StratError("`--html` must be left out with --reidentification, which has no page yet.")
        leave_out(ctx, *OF_RATES_ALONE, "method", "plot", "html", "per_subject", "image", why="with --reidentification")
        sheet = searched(source.systems(), wish, Cameras(cameras, gallery_cameras, junk))
    elif experiment:
        systems, labels_of = _square_systems(source)
        with naming(per_subject="--per-subject", only="--image", images="--image", kinds="--kinds"):
            array = image_array(
                labels_of, per_subject=per_subject, fewer="leave out", **_named_images(source, image, kinds)
            )
        sheet = _experiment(systems, array, len(np.unique(labels_of)), wish, plot, html)
        _draw_all(None if figures is None else Path(figures), systems, array)
    else:
        sheet = _figures(source, wish, plot, plot_kind, html)
    emit(sheet, as_json=as_json, markdown=markdown, latex=latex, quiet=quiet, output=output)


def _alone(ctx: typer.Context, experiment: bool) -> None:
    """Refuse options that others are needed for, or that others rule out."""
    asked = ctx.params
    if asked["plot"] is None:
        leave_out(ctx, "plot_kind", why="without --plot")
    if asked["sampled"]:
        leave_out(ctx, "failed_score", why="with --sampled-gallery, which draws from all images")
    if not experiment:
        leave_out(ctx, "kinds", "figures", why="without --per-subject or --image")
    if asked["kinds"] is not None:
        leave_out(ctx, "method", "figures", why="with --kinds: its errors are in closed form")
    if not asked["reid"]:
        leave_out(ctx, "cameras", "gallery_cameras", "junk", why="without --reidentification")


def _left_out(ctx: typer.Context, source: Request, open_: bool, experiment: bool) -> None:
    """Refuse options that these scores have no use for."""
    _alone(ctx, experiment)
    if source.kind not in ("probes", "images"):
        leave_out(ctx, "score", "device", why="with a table of scores: it is for embeddings")
    _labels_left_out(ctx, source)
    if source.is_table:
        _for_table(ctx, source)
    else:
        leave_out(ctx, "triples", "failed_score", why=f"for {_sort(source)}: it is for a table of scores")
    if source.stream:
        leave_out(
            ctx, "scores", "id_pattern", "average", why="with --stream, which reads subjects and scores of one file"
        )
    if source.kind != "trials":
        leave_out(ctx, "scores", "stream", why="without --trials")
        if not source.listed:
            leave_out(ctx, "columns", why="without --trials or --triples")
    if source.kind not in ("trials", "genuine"):
        leave_out(ctx, "smaller", why="without --trials or --genuine; a table has --distance")
    if source.kind in ("trials", "genuine", "images") and not experiment:
        why = "without a gallery to search: it is for ranks"
        ranked = ("enrolment", "open_", "max_rank", "target", "ties", "at", "fpir", "method", "sampled")
        leave_out(ctx, *ranked, why=why)
    if experiment:
        if source.kind not in ("images", "similarity", "distance"):
            raise StratError(f"`--per-subject` must come with `--images` or a square table, got `--{source.kind}`.")
        leave_out(ctx, *OF_RATES, why="with --per-subject, which evaluates rank 1 as CVPR 5 does")
    elif not open_:
        leave_out(ctx, "max_rank", "fpir", why="without --open-set: it is for open-set rates")


def _labels_left_out(ctx: typer.Context, source: Request) -> None:
    if source.kind == "images":
        leave_out(ctx, "gallery_labels", why="without --gallery")
    elif source.kind != "probes" and not source.unnamed:
        leave_out(ctx, "labels", "gallery_labels", why="with scores that name their subjects")


def _for_table(ctx: typer.Context, source: Request) -> None:
    suffix = getattr(source, source.kind)[0].suffix.lower()
    if source.labels is None:
        leave_out(ctx, "id_pattern", why="with a table of scores, which names its subjects")
    if source.listed or suffix != ".npz":
        leave_out(ctx, "key", why=f"for {suffix} files and triples: it names a part of an .npz")
    if not source.listed and suffix != ".npz":
        leave_out(ctx, "subject", why=f"for a table in a {suffix} file, which names its own subjects")


def _sort(source: Request) -> str:
    return "embeddings" if source.kind in ("probes", "images") else "lists of trials"


def _cost(p_target: float, c_miss: float, c_fa: float) -> Cost:
    with naming(p_target="--p-target", c_miss="--c-miss", c_fa="--c-fa"):
        return Cost(p_target, c_miss, c_fa)


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise StratError(f"`{option}` must be comma-separated numbers, got {text!r}.") from None


def _places(text: str) -> list[int]:
    ranks = _numbers("--at", text)
    if any(k < 1 or not k.is_integer() for k in ranks):
        raise StratError(f"`--at` must be ranks, whole numbers from 1, got {text!r}.")
    return [int(k) for k in ranks]


def _figures(source: Request, wish: Wish, plot: Path | None, kind: str | None, html: Path | None) -> Sheet:
    results = evaluated(source.systems(), wish)
    draw(plot, lambda: drawn(results, kind, wish))
    if html is not None:
        report(_results(results, wish), html)
    of_each = {name: figures(results, name, wish) for name in results.systems}
    if len(of_each) == 1:
        (only,) = of_each.values()
        rows = [row for figure in only for row in lines(*figure, wish.level)]
        return Sheet(SCHEMA, COLUMNS, rows, title(results), [*notes(results, wish), *cautions(only)])
    of_each |= dict(differences(results, wish))
    rows = [[name, *row] for name, some in of_each.items() for figure in some for row in lines(*figure, wish.level)]
    careful = [note.of(system=name) for name, some in of_each.items() for note in cautions(some)]
    words = Note("paired-systems", {"case": "comparisons"})
    return Sheet(SEVERAL, ("system", *COLUMNS), rows, title(results), [words, *notes(results, wish), *careful])


def _results(results: Evaluated, wish: Wish) -> dict[str, Any]:
    """What the page tells: the match curve, and the error rates of each system."""
    out: dict[str, Any] = {}
    if results.ranks:
        out["Identification"] = match_curve(
            results.ranks, target=wish.target, method=wish.method, ties=wish.ties, average=wish.counted
        )
    for name, check in results.checks.items():
        of = "" if len(results.checks) == 1 else f", {name}"
        out[f"Verification{of}"] = check
        if wish.fmr != list(USUAL_FMR):
            out[f"FNMR at FMR{of}"] = check.fnmr_at(wish.fmr)
    first, *others = results.checks or [ALONE]
    for other in others:
        out[f"DET difference, {first} − {other}"] = compare_matchers(results.checks).det_difference(first, other)
    for name, searches in results.searches.items():
        out["FNIR at FPIR" + ("" if len(results.searches) == 1 else f", {name}")] = searches.fnir_at(wish.fpir)
    return out


def _square_systems(request: Request) -> tuple[list[System], NDArray[Any]]:
    """The systems, and the subjects of their images, which are the same."""
    systems, labels = [], []
    sources = request.systems()
    for given, source in sources.items():
        name = given if len(sources) > 1 else "system" if not request.key else request.key[0]
        if source.table is None:
            assert source.vectors is not None
            x, who = source.vectors[:2]
            systems.append(system_of_embeddings(name, x, subjects=who, score=source.score))
        else:
            table, scores = source.table, {source.kind: source.table.scores}
            who = table.probes
            if table.scores.shape[0] != table.scores.shape[1] or (who != table.gallery).any():
                raise StratError("`--per-subject` must have a square table of all images with all images.")
            of_rows: dict[str, Any] = {"subjects": who}
            systems.append(system_of_scores(name, **scores, **of_rows))
        labels.append(who)
    if any(not np.array_equal(who, labels[0]) for who in labels[1:]):
        raise StratError("`--per-subject` must have systems of the same images in the same order, got others.")
    return systems, labels[0]


def _named_images(source: Request, image: str | None, kinds: str | None) -> dict[str, Any]:
    """The arguments of `image_array` for --image and --kinds."""
    arguments: dict[str, Any] = {}
    if image is not None:
        arguments["images"] = source.labels_of_images("image", "--image").astype(str)
        arguments["only"] = [name.strip() for name in image.split(",")]
    if kinds is not None:
        arguments["kinds"] = source.labels_of_images(kinds, "--kinds")
    return arguments


def _experiment(
    systems: list[System], array: ImageArray, subjects: int, wish: Wish, plot: Path | None, html: Path | None
) -> Sheet:
    """The evaluation of CVPR section 5: gallery effect, mixing, units and methods of each system, and differences."""
    drawn, per_subject = array.shape
    one_kind, several = array.kinds is None, len(systems) > 1
    method = "brr" if wish.method == "closed form" and one_kind else wish.method
    facts = {"subjects": drawn, "one_kind": one_kind, "images": per_subject - 1, "method": method}
    words = [Note("experiment-design", facts)]
    if drawn < subjects:
        words.append(Note("subjects-left-out", {"subjects": subjects - drawn, "images": per_subject}))
    rows: list[list[Any]] = []
    for system in systems:
        own, notes = _of_system(system, array, method, wish.level)
        rows += [[system.name, *row] if several else row for row in own]
        words += [note.of(system=system.name) if several else note for note in notes]
    curve = compare_systems(systems, array.mixed(), method=method)
    for other in systems[1:]:
        gap = curve.difference(systems[0].name, other.name).at(1)
        words_of = f"{systems[0].name} − {other.name}"
        rows += [[words_of, *row] for row in lines("rank 1, galleries mixed", [1], gap, wish.level)]
    draw(plot, lambda: gallery_effect(systems[0], array, method=method).plot())
    if html is not None:
        report({"CMS curve, mixed galleries": curve if several else curve.of(systems[0].name)}, html)
    heading = (
        f"{', '.join(system.name for system in systems)}: {counted(drawn, 'subject')} × {counted(per_subject, 'image')}"
    )
    return Sheet(SEVERAL if several else SCHEMA, (*(["system"] * several), *COLUMNS), rows, heading, words)


def _of_system(system: System, array: ImageArray, method: str, level: float) -> tuple[list[list[Any]], list[Note]]:
    """The lines and notes of one system."""
    rows: list[list[Any]] = []
    words, per_subject = [], array.shape[1]
    if per_subject > 2:
        for name, used in (("as given", array), ("mixed", array.mixed())):
            effect = gallery_effect(system, used, method=method, at=[1])
            for curve, label in zip(effect.curves, effect.labels, strict=True):
                rows += lines(f"rank 1, galleries {name}", [label], curve, level)
            words.append(Note("gallery-effect", {"galleries": name, "test": str(effect.test())}))
    if per_subject > 3:
        for name, estimate in compare_units(system, array.mixed(), method=method, at=[1]).estimates.items():
            rows += lines(f"rank 1, {name}", [1], estimate, level)
    if array.kinds is None:
        compared = compare_methods(run(system, array.mixed()), at=[1])
        for name, estimate in compared.estimates.items():
            rows += lines(f"rank 1 by {name}", [counted(compared.replicates[name], "replicate")], estimate, level)
    return rows, words


def _draw_all(folder: Path | None, systems: list[System], array: ImageArray) -> None:
    """The figures of CVPR 5, a file for each."""
    if folder is None:
        return
    with naming(array="--figures"):
        pictures = evaluation_figures(systems, array)
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture_of in pictures.items():
        draw(folder / f"figure_{name.replace(' ', '_')}.png", picture_of)
