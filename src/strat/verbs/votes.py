"""`votes`: from a table of votes on pairs to a ranking with intervals that allow for who voted on what."""

from __future__ import annotations

from typing import Any

from strat.base import validate
from strat.base.notes import Note
from strat.base.validate.arguments import checked
from strat.base.validate.names import Names, listed
from strat.comparison.many_systems import ManySystems, selected
from strat.data.table import read
from strat.designs import Design
from strat.designs.from_columns import argument_of, design_of
from strat.designs.sampling import Sampling, sampling_of
from strat.estimation import Estimate, estimate
from strat.measures.equations.votes import LEFT, TIE, bradley_terry
from strat.verbs.leaderboard import Leaderboard


@checked
def votes(
    source: Any,
    *,
    left: str = "left",
    right: str = "right",
    winner: str = "winner",
    ties: str = "half",
    home: bool = False,
    covariates: str | Names | None = None,
    strata: str | None = None,
    units: str | None = None,
    clusters: str | None = None,
    weights: str | None = None,
    design: Sampling | None = None,
    level: float = 0.95,
    na: Names | None = None,
) -> Leaderboard:
    """A ranking of systems by votes on pairs (Bradley-Terry), with intervals, rank intervals and ties.

    Parameters
    ----------
    source
        A file, a data frame or a mapping of columns, one row for each vote.
    left, right, winner
        Columns: the two systems, and "left", "right" or "tie" (or the winner's name).
    ties
        "half": a tie is half a win for each; "davidson": ties have a parameter of their own.
    home
        Whether the left side has an effect of its own, which is taken out.
    covariates
        Columns of numbers, left minus right, whose effect is taken out (style, length).
    strata, units, clusters, weights
        As in :func:`strat.evaluate`: who or what was drawn. Votes on one prompt, or of one worker, are not independent.
    design
        As in :func:`strat.evaluate`; prompts and workers that were both drawn are Sampling(crossed=["prompt",
        "worker"]).
    level
        Confidence level.
    na
        Strings that mark a missing value.

    Examples
    --------
    >>> table = {
    ...     "left": list("aab") * 8,
    ...     "right": list("bcc") * 8,
    ...     "winner": ["left"] * 18 + ["right"] * 6,
    ...     "prompt": [i // 6 for i in range(24)],
    ... }
    >>> board = votes(table, units="prompt")
    >>> board.systems, board.estimate.point.round(4).tolist()
    (('a', 'b', 'c'), [0.7563, 0.0, -0.7563])
    """
    validate.level(level)
    table = read(source, na=na)
    terms = [] if covariates is None else listed("covariates", covariates)
    sampling = sampling_of(design, strata=strata, units=units, clusters=clusters, weights=weights)
    sampling.refuse_replicates()
    table.require(left=left, right=right, winner=winner)
    for role, name in [*sampling.columns.items(), *(("covariates", term) for term in terms)]:
        table.require(**{argument_of(role): name})
    statistic = bradley_terry(
        table.column(left),
        table.column(right),
        table.column(winner),
        ties=ties,
        home=home,
        covariates={name: table.numbers(name) for name in terms},
    )
    drawn_by = {role: name for role, name in sampling.columns.items() if name is not None and role != "weights"}
    columns = {role: table.column(name) for role, name in drawn_by.items()}
    heavy = None if sampling.weights is None else table.numbers(sampling.weights)
    drawn = design_of(columns, rows=len(statistic), weights=heavy, sampling=sampling)
    strengths = estimate(statistic, on=drawn)
    others = [label for label in strengths.axes[0].labels if label in (LEFT, *terms, TIE)]
    notes = (*(_term(strengths, label, level) for label in others), *_one_by_one(drawn), *strengths.notes)
    many = ManySystems(*_systems(strengths, len(others)), True).best_first()
    return Leaderboard(many, level, notes, measure="strength", library=table.library)


def _systems(strengths: Estimate, others: int) -> tuple[tuple[str, ...], Estimate]:
    """The strengths without the other terms of the model, which stand last."""
    places = list(range(strengths.point.size - others))
    alone = selected(strengths, places)
    return tuple(map(str, alone.axes[0].labels)), alone


def _term(strengths: Estimate, label: str, level: float) -> Note:
    """What a term beside the strengths came to."""
    low, high = strengths.at(label).interval(level)
    facts = {"value": float(strengths.at(label).value), "percent": 100 * level, "low": low, "high": high}
    return Note("vote-term", {"term": label, **facts, "tie": label == TIE})


def _one_by_one(design: Design) -> tuple[Note, ...]:
    """That votes were taken for independent draws, which they hardly are."""
    if not design.single_rows:
        return ()
    return (Note("votes-as-units"),)
