"""`strat rank`: systems over many data sets: Friedman, Iman-Davenport, post-hoc tests, the diagram."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from strat.base.errors import StratError, one_of
from strat.base.notes import records
from strat.base.text import counted
from strat.cli import options, output
from strat.cli.output import Form, Sheet

SCHEMA = "strat/rank/2"
OF_PAIRS = ("nemenyi", "shaffer", "bergmann-hommel")  # for all pairs only
PAIRS = (
    *OF_PAIRS,
    *("bonferroni", "holm", "hochberg", "hommel", "holland", "rom", "finner", "li"),
    *("benjamini-hochberg", "benjamini-yekutieli"),
)

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command()
@output.with_output
def rank(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A table of data sets × systems, or a long one.")],
    higher_is_better: Annotated[
        bool | None,
        typer.Option("--higher-is-better/--lower-is-better", help="Accuracies, or errors. Must be given."),
    ] = None,
    control: Annotated[
        str | None, typer.Option(help="Compare this system with the others, instead of all pairs.")
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            help="nemenyi (default), shaffer, bergmann-hommel, bonferroni, holm (default with --control), hochberg, "
            "hommel, holland, rom, finner, li, benjamini-hochberg, benjamini-yekutieli."
        ),
    ] = None,
    ranks: Annotated[
        str, typer.Option(help="All pairs by: friedman ranks, aligned, quade, conover, wilcoxon (each pair alone).")
    ] = "friedman",
    family: Annotated[
        bool, typer.Option("--family", help="Show which procedure separates which pair, all of them side by side.")
    ] = False,
    alternative: Annotated[
        str, typer.Option(help="With --control: two-sided, greater (the control is better), less.")
    ] = "two-sided",
    ties: Annotated[bool, typer.Option("--ties/--no-ties", help="Correct Friedman's statistic for ties.")] = True,
    alpha: Annotated[float, typer.Option(help="Significance level.")] = 0.05,
    dataset: Annotated[str | None, typer.Option(help="Column of data sets (long tables, or not the first).")] = None,
    system: Annotated[str | None, typer.Option(help="Long tables: column of systems.")] = None,
    score: Annotated[str | None, typer.Option(help="Long tables: column of scores; repeats are averaged.")] = None,
    missing: Annotated[str, typer.Option(help="Data sets that lack a system: error or drop.")] = "error",
    na: options.Na = None,
    plot: options.Picture = None,
    *,
    form: Form,
) -> None:
    """Rank systems over many data sets: Friedman, post-hoc tests, critical-difference diagram.

    Friedman's test is exact for small tables. Two systems also get Wilcoxon's signed rank test and the sign test.

    For example:

      strat rank accuracies.csv --higher-is-better --plot cd.svg --html report.html

      strat rank errors.csv --lower-is-better --control C1 --alternative greater --test bonferroni

      strat rank accuracies.csv --higher-is-better --family

      strat rank runs.csv --dataset dataset --system classifier --score percent_correct --higher-is-better --json
    """
    from strat import comparison, verbs

    _check_options(ctx)
    options.picture(plot)
    with options.naming(dataset="--dataset", system="--system", score="--score", missing="--missing", na="--na"):
        scores = verbs.score_table(
            file,
            higher_is_better=bool(higher_is_better),
            dataset=dataset,
            system=system,
            score=score,
            missing=missing,
            na=na or None,
        )
    if family:
        procedures = comparison.family(scores, higher_is_better=scores.higher_is_better)
        form.give(_family(procedures, alpha, scores.notes), [*procedures.procedures.values()][:1])
        return
    whole = comparison.friedman(scores, higher_is_better=scores.higher_is_better, ties=ties)
    f = comparison.iman_davenport(scores, higher_is_better=scores.higher_is_better, ties=ties)
    notes = list(dict.fromkeys([*scores.notes, *f.notes]))
    tests = [whole, f, *_of_two(scores)]
    if control is None:
        post = _pairs(scores, ranks, test)
        sheet = _all_pairs(tests, post, alpha, notes)
    else:
        post = _against(scores, control, alternative, test)
        sheet = _with_control(tests, post, alpha, notes)
    output.draw(plot, lambda: post.plot(alpha=alpha))
    form.give(sheet, [post, whole])


def _check_options(ctx: typer.Context) -> None:
    """Refuse what was not said and what can't apply."""
    asked = ctx.params
    if asked["higher_is_better"] is None:
        raise StratError(
            "`--higher-is-better` or `--lower-is-better` must be given: the numbers do not show whether they are "
            "accuracies or errors."
        )
    if asked["family"]:
        options.leave_out(ctx, "control", "test", "ranks", "plot", why="with --family, which shows all procedures")
    if asked["control"] is None:
        options.leave_out(ctx, "alternative", why="without --control: all pairs are compared on both sides")
    else:
        options.leave_out(ctx, "ranks", why="with --control: it is compared by Friedman's ranks")
    if not 0.0 < asked["alpha"] < 1.0:
        raise StratError(f"`--alpha` must lie between 0 and 1, got {asked['alpha']!r}.")


def _against(scores: Any, control: str, alternative: str, test: str | None) -> Any:
    """One system against all others."""
    from strat import comparison

    one_of("--test", test or "holm", [t for t in PAIRS if t not in OF_PAIRS])
    higher = scores.higher_is_better
    return comparison.against_control(
        scores, control=control, higher_is_better=higher, alternative=alternative, adjust=test or "holm"
    )


def _pairs(scores: Any, ranks: str, test: str | None) -> Any:
    """All pairs: Nemenyi's test, another adjustment, or other ranks."""
    from strat import comparison

    one_of("--test", test or "nemenyi", PAIRS)
    higher = scores.higher_is_better
    if test in (None, "nemenyi") and ranks == "friedman":
        return comparison.nemenyi(scores, higher_is_better=higher)
    if ranks == "friedman":
        return comparison.all_pairs(scores, higher_is_better=higher, adjust=str(test))
    if test == "nemenyi":
        raise StratError(f"`--test` must be an adjustment such as holm with --ranks {ranks}, got 'nemenyi'.")
    with options.naming(ranks="--ranks"):
        return comparison.pairwise(scores, higher_is_better=higher, ranks=ranks, adjust=test or "holm")


def _family(family: Any, alpha: float, notes: Any) -> Sheet:
    """Adjusted p-values, pairs × procedures."""
    columns = family.to_dict()
    counts = family.separated(alpha)
    lines = [
        f"pairs separated at {alpha:g}: " + ", ".join(f"{name} {count}" for name, count in counts.items()),
        "choose the procedure before you see the results: the smallest of many p-values is not a valid p-value",
        *notes,
    ]
    data = {"alpha": alpha, "separated": counts, "pairs": columns, "notes": records(notes)}
    title = f"{counted(len(family.systems), 'system')} on {counted(family.n, 'data set')}: adjusted p-values"
    rows = list(zip(*columns.values(), strict=True))
    return Sheet("strat/rank_family/2", tuple(columns), rows, title=title, notes=lines, data=data)


def _of_two(scores: Any) -> list[Any]:
    """Two systems only: Wilcoxon's test and the sign test, which compare two where Friedman's ranks say little."""
    from strat import comparison

    if len(scores.systems) != 2:
        return []
    a, b = scores.values.T
    return [comparison.signed_rank(a, b), comparison.sign(a, b)]


def _tested(tests: list[Any]) -> dict[str, Any]:
    """The tests that come before the pairs, for JSON."""
    names = ("friedman", "iman_davenport", "signed_rank", "sign")
    return {name: test.to_dict() for name, test in zip(names, tests, strict=False)}


def _all_pairs(tests: list[Any], post: Any, alpha: float, notes: list[str]) -> Sheet:
    whole = tests[0]
    order = np.argsort(whole.ranks, kind="stable")
    groups = post.groups(alpha)
    letters = {s: "".join(_letter(k) for k, g in enumerate(groups) if s in g) for s in whole.systems}
    rows = [(whole.systems[k], float(whole.ranks[k]), letters[whole.systems[k]]) for k in order]
    cd = post.critical_difference(alpha)
    pairs = post.different(alpha)
    lines = [
        *(test.sentence for test in tests),
        f"{post.name}: {len(pairs)} of {len(rows) * (len(rows) - 1) // 2} pairs differ at {alpha:g}"
        + (f"; critical difference {cd:.4f}" if cd is not None else ""),
        *(f"{a} better than {b}" for a, b in pairs[:12]),
        *([f"and {len(pairs) - 12} more"] if len(pairs) > 12 else []),
        "systems with a letter in common do not differ",
        *notes,
    ]  # fmt: skip
    data = {
        **_tested(tests), "post_hoc": post.to_dict(), "alpha": alpha,
        "critical_difference": cd, "different": [list(p) for p in pairs], "groups": [list(g) for g in groups],
        "notes": records(notes),
    }  # fmt: skip
    title = _size(whole)
    return Sheet(SCHEMA, ("system", "average rank", "group"), rows, title=title, notes=lines, data=data)


def _with_control(tests: list[Any], post: Any, alpha: float, notes: list[str]) -> Sheet:
    whole = tests[0]
    order = np.argsort(whole.ranks, kind="stable")
    p = dict(zip(post.others, post.pvalues.tolist(), strict=True))
    rows = [
        (s, float(whole.ranks[k]), p.get(s), "control" if s == post.control else p[s] < alpha)
        for k, s in ((int(k), whole.systems[k]) for k in order)
    ]
    data = {
        **_tested(tests), "post_hoc": post.to_dict(), "alpha": alpha,
        "critical_difference": post.critical_difference(alpha), "different": post.different(alpha),
        "notes": records(notes),
    }  # fmt: skip
    title = f"{_size(whole)}, {post.control} as control ({post.alternative})"
    lines = (*(test.sentence for test in tests), f"{post.name}, level {alpha:g}", *notes)
    columns = ("system", "average rank", "adjusted p", "differs")
    return Sheet(SCHEMA, columns, rows, title=title, notes=lines, data=data)


def _size(whole: Any) -> str:
    return f"{counted(len(whole.systems), 'system')} on {counted(whole.n, 'data set')}"


def _letter(k: int) -> str:
    return chr(ord("a") + k) if k < 26 else f"({k + 1})"
