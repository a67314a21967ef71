"""The figures, differences and pictures of `strat recognize`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from strat.base.errors import StratError
from strat.base.notes import Note
from strat.base.text import counted
from strat.cli.recognition_sources import TOO_LARGE, Source
from strat.estimation import Estimate, estimate
from strat.recognition import (
    Cost,
    GallerySampling,
    MatchCurve,
    OpenSet,
    Ranks,
    Verification,
    compare_matchers,
    compare_open_sets,
    gallery_sampling,
    match_curve,
    open_set,
    reciprocal_rank_of,
    relative_rank_of,
    size_curve,
)
from strat.recognition.curves import ALONE, design_of
from strat.recognition.measures import OF_COST, OF_RATE

PLOT_KINDS = ("cmc", "det", "roc", "difference", "fnir", "size")
Figure = tuple[str, Any, Estimate]  # name, places and estimate


@dataclass(frozen=True)
class Wish:
    """Which figures, and how."""

    target: str
    ties: str
    method: str
    at: list[int]
    fmr: list[float]
    fpir: list[float]
    max_rank: int | None
    level: float
    average: str
    enrolment: str
    open: bool
    measures: list[str]
    cost: Cost
    thresholds: list[float] = field(default_factory=list)
    sampled: bool = False

    @property
    def counted(self) -> str:
        """What counts the same in rates of searches."""
        return "subjects" if self.average == "subjects" else "probes"

    def threshold(self, systems: list[str], name: str) -> float | None:
        """The threshold of a system: its own, or one for all."""
        if len(self.thresholds) not in (0, 1, len(systems)):
            raise StratError(
                f"`--threshold` must be one number, or one for each of the {len(systems)} systems, got "
                f"{len(self.thresholds)}."
            )
        own = dict(zip(systems, self.thresholds * (len(systems) if len(self.thresholds) == 1 else 1), strict=False))
        return own.get(name)


@dataclass(frozen=True)
class Evaluated:
    """What was made of the systems."""

    ranks: dict[str, Ranks] = field(default_factory=dict)
    checks: dict[str, Verification] = field(default_factory=dict)
    searches: dict[str, OpenSet] = field(default_factory=dict)
    sampled: dict[str, GallerySampling] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    @property
    def systems(self) -> list[str]:
        """Names of the systems."""
        return list(self.ranks or self.checks)


def evaluated(sources: dict[str, Source], wish: Wish) -> Evaluated:
    """Ranks, comparisons and searches of each system."""
    results = Evaluated()
    for name, source in sources.items():
        ranks = source.ranks(enrolment=wish.enrolment, open_set=wish.open)
        if ranks is not None:
            results.ranks[name] = ranks
        check = source.verification(wish.average)
        if check is None:
            results.notes.append(TOO_LARGE)
        else:
            results.checks[name] = check
        results.notes.extend(source.notes)
    if wish.sampled:
        for name, source in sources.items():
            results.sampled[name] = _drawn_gallery(source, wish, wish.threshold(list(sources), name))
    if wish.open:
        results.searches.update(_searches(results.ranks, wish))
    return results


def _drawn_gallery(source: Source, wish: Wish, threshold: float | None) -> GallerySampling:
    sides = source.searched("--sampled-gallery")
    at = sorted({k for k in wish.at if k <= len(sides["gallery"])}) or [1]
    return gallery_sampling(**sides, at=at, threshold=threshold if wish.open else None)


def _searches(ranks: dict[str, Ranks], wish: Wish) -> dict[str, OpenSet]:
    if not ranks or any(r.mated.all() for r in ranks.values()):
        raise StratError("`--open-set` must have probes of subjects outside the gallery, got none; leave it out.")
    return {
        name: open_set(r, max_rank=wish.max_rank, target=wish.target, average=wish.counted) for name, r in ranks.items()
    }


def figures(results: Evaluated, name: str, wish: Wish) -> list[Figure]:
    """All figures of one system."""
    out: list[Figure] = []
    if name in results.ranks:
        out += _closed(results.ranks[name], wish)
    if name in results.sampled:
        rates = results.sampled[name].estimate
        out += [(f"{label}, gallery drawn", "", rates.at(label)) for label in rates.axes[0].labels]
    if name in results.checks:
        v = results.checks[name]
        out += [("EER", "", v.eer()), ("FNMR at FMR", wish.fmr, v.fnmr_at(wish.fmr))]
        out += [figure for measure in wish.measures for figure in _measured(v.measure, measure, wish)]
    t = wish.threshold(results.systems, name)
    if t is not None and name in results.checks:
        v = results.checks[name]
        out += [("FMR at threshold", t, v.fmr(t)), ("FNMR at threshold", t, v.fnmr(t))]
    if name in results.searches:
        searches = results.searches[name]
        if t is not None:
            at_t = searches.rates([t])
            out += [(f"{rate} at threshold", t, at_t.at(rate, t)) for rate in ("FPIR", "FNIR")]
        out.append((f"FNIR(R = {searches.max_rank}) at FPIR", wish.fpir, searches.fnir_at(wish.fpir)))
    return out


def _measured(measure: Callable[..., Estimate], name: str, wish: Wish) -> list[Figure]:
    if name in OF_RATE:
        return [("TAR at FAR", rate, measure(name, rate)) for rate in wish.fmr]
    at = wish.cost if name in OF_COST else None
    estimate = measure(name, at)
    return [(estimate.name.split(",")[0], "", estimate)]


def _closed(ranks: Ranks, wish: Wish) -> list[Figure]:
    """Figures of identification: name, places and estimate."""
    at = _within(wish.at, ranks)
    curve = _curve({ALONE: ranks}, wish, at=np.asarray(at)).of()
    design = design_of(ranks.subject[ranks.mated], wish.target, wish.counted)
    reciprocal = estimate(reciprocal_rank_of(ranks, ties=wish.ties), on=design)
    sizes = np.unique([max(2, ranks.gallery_size // 10), ranks.gallery_size])
    small = size_curve(ranks, sizes=sizes, target=wish.target, average=wish.counted)
    return [
        ("CMS at rank", at, curve),
        ("mean reciprocal rank", "", reciprocal),
        ("mean relative rank", "r / N", estimate(relative_rank_of(ranks, ties=wish.ties), on=design)),
        ("rank-1 miss rate at N", small.sizes.astype(int).tolist(), small.estimate),
    ]


def _within(at: list[int], ranks: Ranks) -> list[int]:
    return sorted({k for k in at if k <= ranks.gallery_size}) or [1]


def _curve(ranks: dict[str, Ranks], wish: Wish, **more: Any) -> MatchCurve:
    return match_curve(ranks, target=wish.target, method=wish.method, ties=wish.ties, average=wish.counted, **more)


def differences(results: Evaluated, wish: Wish) -> list[tuple[str, list[Figure]]]:
    """For the first system against each of the others, paired differences of their figures."""
    first, *others = results.systems
    return [(f"{first} − {other}", _gaps(results, first, other, wish)) for other in others]


def _gaps(results: Evaluated, a: str, b: str, wish: Wish) -> list[Figure]:
    out: list[Figure] = []
    if results.ranks:
        at = _within(wish.at, results.ranks[a])
        out.append(("CMS at rank", at, _curve(results.ranks, wish, at=np.asarray(at)).difference(a, b)))
    if results.checks:
        both = compare_matchers(results.checks)
        out.append(("EER", "", both.difference(a, b)))
        wanted = sorted(set(wish.fmr))
        out.append(("FNMR at FMR", wanted, both.det_difference(a, b, wanted)))
        for measure in wish.measures:
            out += _measured(lambda name, at: both.difference(a, b, name, at), measure, wish)
    t, u = (wish.threshold(results.systems, name) for name in (a, b))
    if t is not None and results.checks:
        for rate in ("FMR", "FNMR"):
            gap = compare_matchers(results.checks).difference(a, b, rate.lower(), t, at_b=u)
            out.append((f"{rate} at threshold", f"{t:g}, {u:g}", gap))
    if results.searches:
        searches = compare_open_sets(results.searches)
        if t is not None:
            rates = searches.difference_at(a, b, t, threshold_b=u)
            out += [(f"{rate} at threshold", f"{t:g}, {u:g}", rates.at(rate)) for rate in ("FPIR", "FNIR")]
        r = results.searches[a].max_rank
        out.append((f"FNIR(R = {r}) at FPIR", wish.fpir, searches.difference(a, b, wish.fpir)))
    return out


def lines(name: str, at: Any, estimate: Estimate, level: float) -> list[list[Any]]:
    """The rows of one figure: name, place, estimate, standard error, limits and degrees of freedom."""
    low, high = (np.ravel(np.asarray(side)) for side in estimate.interval(level))
    value, se = np.ravel(estimate.point), np.ravel(np.sqrt(estimate.variance))
    places, dfs = at if isinstance(at, list) else [at], np.ravel(estimate.df).tolist()
    return [
        [name, place, float(v), float(s), float(a), float(b), int(df) if df.is_integer() else df]
        for place, v, s, a, b, df in zip(places, value, se, low, high, dfs, strict=True)
    ]


def cautions(figures: list[Figure]) -> list[Note]:
    """What the estimates say to be careful about, each thing once, with the figures that it is about."""
    names: dict[tuple[str, str], list[str]] = {}
    for name, _, figure in figures:
        for note in figure.notes:
            reversed_again = note.code == "scores-reversed" and any(code == note.code for code, _ in names)
            if not reversed_again or (note.code, note) in names:
                names.setdefault((note.code, note), []).append(name)
    return [Note(code, f"note on {', '.join(dict.fromkeys(named))}: {text}") for (code, text), named in names.items()]


def title(results: Evaluated) -> str:
    """What was compared, in one line."""
    if results.ranks:
        return _of_ranks(next(iter(results.ranks.values())))
    from strat.recognition.det_curve import compared

    v = next(iter(results.checks.values()))
    return compared(v.n_mated, v.n_nonmated, v.subjects)


def _of_ranks(ranks: Ranks) -> str:
    mated = int(ranks.mated.sum())
    words = (
        f"{counted(mated, 'mated probe')} of {counted(len(np.unique(ranks.subject[ranks.mated])), 'subject')}, "
        f"N = {ranks.gallery_size}"
    )
    return words if mated == len(ranks) else f"{words}; {counted(len(ranks) - mated, 'non-mated probe')}"


def notes(results: Evaluated, wish: Wish) -> list[Note]:
    """The target, and what was counted how."""
    target = "the population of subjects" if wish.target == "population" else "these very subjects"
    out = []
    for name, ranks in results.ranks.items():
        of = "" if len(results.ranks) == 1 else f"{name}: "
        tied = f"{counted(ranks.tied_probes, 'probe')} tied with a non-mate (counted {wish.ties})"
        out.append(Note("ties-counted", f"{of}Target: {target}; {tied}; {ranks.method}."))
        if ranks.failed.any():
            failed = counted(int(ranks.failed.sum()), "probe")
            out.append(Note("probes-failed", f"{of}{failed} failed: a miss at every rank."))
        if name in results.sampled:
            text = "; ".join(results.sampled[name].parts())
            out.append(Note("gallery-drawn", f"{of}With subjects drawn with probes and gallery entries: {text}."))
    return [*out, *dict.fromkeys(results.notes)]


def picture(results: Evaluated, kind: str | None, wish: Wish) -> Any:
    """The picture of this kind with all systems; by default the match curve, or the DET where there are no ranks."""
    kind = kind or ("cmc" if results.ranks else "det")
    _needs(results, kind)
    several = len(results.systems) > 1
    if kind == "cmc":
        return _curve(results.ranks, wish).plot(level=wish.level)
    if kind == "difference":
        first, second = results.systems[:2]
        return compare_matchers(results.checks).plot_difference(first, second, level=wish.level)
    ax = None
    for name in results.systems:
        named: dict[str, Any] = {"name": name} if several else {}
        if kind == "size":
            ax = size_curve(results.ranks[name], target=wish.target, average=wish.counted).plot(
                ax, level=wish.level, **named
            )
        elif kind == "fnir":
            ax = results.searches[name].plot(ax, level=wish.level, **named)
        else:
            axis = "probit" if kind == "det" else "roc-log"
            ax = results.checks[name].det().plot(ax, axis=axis, level=wish.level, **named)
    return ax


def _needs(results: Evaluated, kind: str) -> None:
    reasons = {
        "cmc": (not results.ranks, "a gallery to search"),
        "size": (not results.ranks, "a gallery to search"),
        "det": (not results.checks, "error rates of verification"),
        "roc": (not results.checks, "error rates of verification"),
        "difference": (len(results.checks) < 2, "two systems or more"),
        "fnir": (not results.searches, "--open-set"),
    }
    lacks, what = reasons[kind]
    if lacks:
        raise StratError(f"`--plot-kind` must be another than {kind!r} without {what}.")
