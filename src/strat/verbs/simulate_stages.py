"""Samples like the user's own of units drawn in stages: a whole population is made once, and drawn from as it was.

Each unit of the population is made like one that was drawn: as many units below it, the same true labels and weights;
what units do has the variance components of the data. A finite population is as large as it is and drawn from without
replacement; a limitless one is a pool, drawn from with replacement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from strat.base.errors import StratError
from strat.base.limits import LIMITS
from strat.base.validate.columns import Array, Codes
from strat.designs import Design
from strat.designs.crossed import MOST_FACTORS
from strat.designs.stages import Stage, Stages
from strat.verbs.simulate import MAX_CORRELATION, Columns, Drawn, Simulator, class_means, has_labels, named
from strat.verbs.simulate_crossed import level_effects
from strat.verbs.simulate_effects import LabelRates, normal_correlations

POOL = 20  # units of a limitless population for each one drawn


@dataclass(frozen=True, eq=False)
class Level:
    """The units of one stage in the population that was made.

    Attributes
    ----------
    like
        For each unit, the unit of the sample that it is like.
    first, number
        For each parent, its first unit and how many it has.
    drawn
        For each parent, how many units are drawn of it.
    limitless
        For each parent, whether they are drawn with replacement.
    """

    like: Codes
    first: Codes
    number: Codes
    drawn: Codes
    limitless: Any

    def draw(self, parents: Codes, rng: np.random.Generator) -> tuple[Codes, Codes]:
        """Units drawn of these parents, and the place among the parents of each unit's own."""
        number, drawn = self.number[parents], self.drawn[parents]
        owner = _repeated(drawn)
        with_replacement = self.first[parents][owner] + (rng.random(len(owner)) * number[owner]).astype(np.int64)
        home = _repeated(number)
        place = np.arange(len(home)) - (np.cumsum(number) - number)[home]
        shuffled = np.lexsort((rng.random(len(home)), home))
        taken = shuffled[place < drawn[home]]  # sorted by parent, so that the first ones of each are a random few
        without = self.first[parents][home[taken]] + place[taken]
        return np.where(self.limitless[parents][owner], with_replacement, without), owner


def _repeated(number: Codes) -> Codes:
    return np.repeat(np.arange(len(number)), number)


class Population:
    """All units and rows of the population, each like one of the sample."""

    def __init__(self, layout: Stages, design: Design, rng: np.random.Generator) -> None:
        self.stages, self.design = layout.stages, design
        like = np.arange(len(self.stages[0].fraction))
        self.levels: list[Level] = []
        self.unit_of_row: list[Codes] = []
        self.chance = np.ones(len(like))
        for stage in self.stages:
            level = _level(stage, like, rng)
            _refuse_large(int(level.number.sum()))
            self.levels.append(level)
            owner = _repeated(level.number)
            self.unit_of_row = [codes[owner] for codes in self.unit_of_row] + [np.arange(len(owner))]
            self.chance = (self.chance * level.drawn / level.number)[owner]
            like = level.like
        self._add_rows(like)

    def _add_rows(self, line: Codes) -> None:
        """The rows of each last unit are those of the line of the sample that it is like."""
        order = np.argsort(self.design.unit, kind="stable")
        count = np.bincount(self.design.unit, minlength=self.design.lines)
        self.count = count[line]
        _refuse_large(int(self.count.sum()))
        self.first = np.cumsum(self.count) - self.count
        owner = _repeated(self.count)
        self.row = order[(np.cumsum(count) - count)[line][owner] + np.arange(len(owner)) - self.first[owner]]
        self.unit_of_row = [codes[owner] for codes in self.unit_of_row]
        self.mass = self.chance[owner] * self.design.weights[self.row]

    def draw(self, rng: np.random.Generator) -> tuple[Codes, Design]:
        """Rows of a new sample, and its design."""
        parents = np.arange(len(self.levels[0].first))
        labels: list[Codes] = []
        sizes: list[Array] = []
        stratum = parents
        for level in self.levels:
            units, owner = level.draw(parents, rng)
            whole = np.where(level.limitless[parents], np.inf, level.number[parents])[owner]
            labels = [codes[owner] for codes in labels] + [np.arange(len(units))]
            sizes = [size[owner] for size in sizes] + [whole]
            stratum, parents = stratum[owner], units
        owner = _repeated(self.count[parents])
        within = np.arange(len(owner)) - (np.cumsum(self.count[parents]) - self.count[parents])[owner]
        rows = self.first[parents][owner] + within
        names = [stage.name for stage in self.stages]
        design = Design.staged(
            {name: codes[owner] for name, codes in zip(names, labels, strict=True)},
            strata=stratum[owner],
            population={name: size[owner] for name, size in zip(names, sizes, strict=True)},
            weights=self.design.weights[self.row[rows]],
        )
        return rows, design


def _level(stage: Stage, like: Codes, rng: np.random.Generator) -> Level:
    """The units of a stage below parents that are like those of the sample."""
    drawn, fraction = stage.sizes[like], stage.fraction[like]
    limitless = fraction == 0
    whole = np.divide(drawn, fraction, out=POOL * drawn.astype(float), where=~limitless)
    number = np.rint(whole).astype(np.int64)
    members = np.argsort(stage.parent, kind="stable")
    start = (np.cumsum(stage.sizes) - stage.sizes)[like]
    owner = _repeated(number)
    chosen = members[start[owner] + (rng.random(len(owner)) * drawn[owner]).astype(np.int64)]
    return Level(chosen, np.cumsum(number) - number, number, drawn, limitless)


def _refuse_large(number: int) -> None:
    if number > LIMITS.pooled_rows:
        raise StratError.about(
            "population",
            f"must make at most {LIMITS.pooled_rows:,} rows in all to be drawn from again and again, got "
            f"{number:,}; leave it out for stages of which little was drawn: it then hardly matters.",
        )


def staged_simulator(columns: Mapping[str, Any], design: Design, shape: str) -> Simulator:
    """The simulator of labels where there are predictions or rows right and wrong, of scores otherwise."""
    layout = design.layout
    assert isinstance(layout, Stages)
    rng = np.random.default_rng(1)
    people = Population(layout, design, rng)
    make = _answers if has_labels(columns) else _numbers
    whole, words = make(columns, people, layout, shape, rng)

    def draw(generator: np.random.Generator) -> Drawn:
        rows, drawn = people.draw(generator)
        return {name: v if name in ("positive", "labels") else v[rows] for name, v in whole.items()}, drawn

    return Simulator(draw, lambda: (whole, people.mass), words)


def _answers(
    columns: Mapping[str, Any], people: Population, layout: Stages, shape: str, rng: np.random.Generator
) -> tuple[Columns, str]:
    """The labels that the population's rows get."""
    known = LabelRates(columns, people.design)
    rate = float(people.design.weights @ known.rate / people.design.weights.sum())
    covariances, names = _covariances(known.right - known.rate, people.design, layout, shape)
    parts = normal_correlations(covariances, rate)
    latent = ndtri(known.rate)[people.row] + _of_units(people, parts, rng)
    ok = latent + np.sqrt(1.0 - parts.sum()) * rng.standard_normal(len(people.row)) > 0
    actual = known.actual[people.row]
    words = f"right in {rate:.2%} of the rows, correlations {_in_words(names, parts)} (normal scale)"
    return named(known.columns, known.labels, actual, known.answered(rng, ok, actual)), words


def _numbers(
    columns: Mapping[str, Any], people: Population, layout: Stages, shape: str, rng: np.random.Generator
) -> tuple[Columns, str]:
    """The scores that the population's rows get."""
    score = np.asarray(columns["score"], float)
    truth = columns.get("truth")
    centre = class_means(truth, score)[1]
    rest = score - centre
    covariances, names = _covariances(rest, people.design, layout, shape)
    variance = max(float(rest.var()), 1e-300)
    parts = covariances * min(1.0, MAX_CORRELATION * variance / max(float(covariances.sum()), 1e-300))
    left = np.sqrt(1.0 - parts.sum() / variance)
    drawn = centre[people.row] + _of_units(people, parts, rng) + left * rng.choice(rest, len(people.row))
    labels = {} if truth is None else {"truth": np.asarray(truth)[people.row]}
    words = f"scores with correlations {_in_words(names, parts / variance)}"
    return {"positive": columns.get("positive"), **labels, "score": drawn}, words


def _covariances(residual: Array, design: Design, layout: Stages, shape: str) -> tuple[Array, tuple[str, ...]]:
    """What two rows of one unit have in common at each stage, first stage first; none where a unit is a row."""
    stages = [stage for stage in layout.stages if len(stage.parent) < len(design)][: MOST_FACTORS - 1]
    factors = {stage.name: stage.unit[design.unit] for stage in stages} | {"row": np.arange(len(design))}
    if len(factors) < 2:
        return np.zeros(0), ()
    crossed = Design.crossed(factors, weights=design.weights)
    effects = level_effects(residual, crossed, shape)
    by_name = dict(zip(effects.names, effects.covariances.tolist(), strict=True))
    return np.array([by_name.get(stage.name, 0.0) for stage in stages]), tuple(stage.name for stage in stages)


def _of_units(people: Population, parts: Array, rng: np.random.Generator) -> Array:
    total = np.zeros(len(people.row))
    for part, unit in zip(parts, people.unit_of_row, strict=False):
        total += np.sqrt(part) * rng.standard_normal(int(unit.max()) + 1)[unit]
    return total


def _in_words(names: tuple[str, ...], parts: Array) -> str:
    return ", ".join(f"{name} {part:.2f}" for name, part in zip(names, parts, strict=True)) or "0"
