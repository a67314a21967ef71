"""Type-I error and power of every test in `strat.comparison`, on independent and on clustered items.

A test at the 5 % level should reject a true null in 5 % of the trials (less, where p-values are discrete), and a
false one often.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

import strat
from strat import comparison as c

from .counting import monte_carlo, seed_of
from .trials import Array, Rng, layout

LEVEL = 0.05
PERMUTATIONS = 199


@dataclass(frozen=True)
class Case:
    """One test in one situation.

    `draw(rng, effect)` gives the data, `test(data)` a p-value; `valid` says whether the test is meant to hold there.
    """

    test: str
    situation: str
    draw: Callable[[Rng, float], Any]
    pvalue: Callable[[Any], float]
    valid: bool = True
    every: int = 1

    @property
    def name(self) -> str:
        """Unique."""
        return f"{self.test} | {self.situation}"


ROWS = layout(1, 200, 1)
UNITS = layout(1, 40, 10)
SMALL = layout(1, 48, 1)
STRATA = layout(20, 2, 10)
DESIGNS = {id(w): w.design() for w in (ROWS, UNITS, SMALL, STRATA)}  # made once: trials share them


def two_systems(where: Any, icc: float) -> Callable[[Rng, float], Any]:
    """Right or wrong of two systems at 80 %, the second better by `effect`; clusters favour one system or the other."""

    def draw(rng: Rng, effect: float) -> Any:
        return where, _right(rng, where, np.array([0.8 + effect, 0.8]), icc)

    return draw


def several(where: Any, icc: float, k: int) -> Callable[[Rng, float], Any]:
    """Right or wrong of k systems at 80 %, the first better by `effect`."""

    def draw(rng: Rng, effect: float) -> Any:
        return where, _right(rng, where, np.where(np.arange(k) == 0, 0.8 + effect, 0.8), icc)

    return draw


def _right(rng: Rng, where: Any, rates: Array, icc: float) -> Array:
    z = np.sqrt(0.4) * rng.standard_normal(len(where.unit))[:, None]
    z = z + np.sqrt(0.6 - icc) * rng.standard_normal((len(where.unit), len(rates)))
    z = z + np.sqrt(icc) * rng.standard_normal((len(where.stratum), len(rates)))[where.unit]
    return (z < ndtri(rates)).astype(int)


def other_items(where: Any, icc: float) -> Callable[[Rng, float], Any]:
    """Two systems on items of their own."""

    def draw(rng: Rng, effect: float) -> Any:
        return where, [_right(rng, where, np.array([0.8 + e]), icc)[:, 0] for e in (effect, 0.0)]

    return draw


def table(data_sets: int, systems: int) -> Callable[[Rng, float], Any]:
    """Scores of systems on data sets: the data set's level, noise, and `effect` for the first system."""

    def draw(rng: Rng, effect: float) -> Any:
        made = 0.8 + 0.1 * rng.standard_normal((data_sets, 1)) + 0.02 * rng.standard_normal((data_sets, systems))
        made[:, 0] += 0.25 * effect
        return made

    return draw


def splits(kind: str) -> Callable[[Rng, float], Any]:
    """Errors of two nearest-mean classifiers on splits of one data set, each with a feature of its own."""

    def draw(rng: Rng, effect: float) -> Any:
        n = 120
        y = np.repeat([-1.0, 1.0], n // 2)
        x = rng.standard_normal((n, 2)) + y[:, None] * (0.7 + np.array([4 * effect, 0.0]))
        if kind == "5×2":
            return np.stack([_halves(rng, x, y) for _ in range(5)], axis=1)  # models × repeats × halves
        errors = np.empty((2, 15))
        for r in range(15):
            train = np.zeros(n, bool)
            train[rng.permutation(n)[: int(0.9 * n)]] = True
            errors[:, r] = _nearest_mean(x, y, train)
        return errors

    return draw


def _halves(rng: Rng, x: Array, y: Array) -> Array:
    half = rng.permutation(np.repeat([True, False], len(y) // 2))
    return np.stack([_nearest_mean(x, y, half), _nearest_mean(x, y, ~half)], axis=1)


def _nearest_mean(x: Array, y: Array, train: Array) -> Array:
    """Error of the classifier of each feature alone on the rows outside `train`."""
    up, down = (x[train & (y == s)].mean(axis=0) for s in (1, -1))
    said = np.sign((x[~train] - (up + down) / 2) * (up - down))
    return (said != y[~train, None]).mean(axis=0)


def guesses(where: Any, between: float) -> Callable[[Rng, float], Any]:
    """Labels of three classes and guesses that know nothing; `between`: units that answer alike and are alike."""

    def draw(rng: Rng, effect: float) -> Any:
        units, n = len(where.stratum), len(where.unit)
        own = rng.integers(0, 3, (2, units))[:, where.unit]
        free = rng.integers(0, 3, (2, n))
        y, said = np.where(rng.random((2, n)) < between, own, free)
        return y, np.where(rng.random(n) < 2 * effect, y, said), where.unit

    return draw


def _pair(function: Callable[..., Any]) -> Callable[[Any], float]:
    return lambda d: function(np.ones(len(d[1]), int), d[1][:, 0], d[1][:, 1]).pvalue


def _clustered(d: Any) -> float:
    where, x = d
    return c.mcnemar_clustered(np.ones(len(x), int), x[:, 0], x[:, 1], units=where.unit, strata=where.of_row).pvalue


def _paired(d: Any) -> float:
    a, b = (strat.proportion(side) for side in d[1].T)
    return c.paired(a, b, on=DESIGNS[id(d[0])], higher_is_better=True).pvalue


def _rows(d: Any) -> float:
    a, b = (strat.proportion(side) for side in d[1].T)
    return c.paired(a, b, on=strat.Design.simple_random(n=len(d[1])), higher_is_better=True).pvalue


def _shuffled(d: Any) -> float:
    a, b = (strat.proportion(side) for side in d[1].T)
    return c.randomization(a, b, on=DESIGNS[id(d[0])], permutations=PERMUTATIONS).pvalue


def _unpaired(d: Any) -> float:
    design = DESIGNS[id(d[0])]
    a, b = (strat.proportion(side) for side in d[1])
    return c.unpaired(a, b, on_a=design, on_b=design, higher_is_better=True).pvalue


def _noreen(d: Any) -> float:
    where, (a, b) = d
    system = np.repeat(["a", "b"], len(a))
    return c.stratified_shuffling(
        np.concatenate([a, b]), system, strata=np.tile(where.of_row, 2),
        units=np.concatenate([where.unit, where.unit + len(where.stratum)]), permutations=PERMUTATIONS,
    ).pvalue  # fmt: skip


def _many(adjust: str) -> Callable[[Any], float]:
    def pvalue(d: Any) -> float:
        made = c.many(d[1], on=DESIGNS[id(d[0])], higher_is_better=True).pvalues(adjust)
        return float(made[np.triu_indices(len(made), 1)].min())

    return pvalue


def _least(function: Callable[..., Any], **options: Any) -> Callable[[Any], float]:
    def pvalue(d: Any) -> float:
        found = np.asarray(function(d, higher_is_better=True, **options).pvalues, float)
        if found.ndim == 2:
            found = found[np.triu_indices(len(found), 1)]
        return float(np.nanmin(found))

    return pvalue


def _cases() -> list[Case]:
    made: list[Case] = []
    independent, clustered, strata = "200 independent items", "40 units of 10 items", "20 strata of 2 units of 10 items"
    small = "48 independent items"
    places = ((small, SMALL, 0.0), (independent, ROWS, 0.0), (clustered, UNITS, 0.3), (strata, STRATA, 0.3))
    for said, where, icc in places:
        draw = two_systems(where, icc)
        rows = icc == 0
        made += [
            Case("McNemar", said, draw, _pair(c.mcnemar), rows),
            Case("McNemar, exact", said, draw, _pair(c.mcnemar_exact), rows),
            Case("McNemar, mid-p", said, draw, _pair(c.mcnemar_midp), rows),
            Case("paired t on rows", said, draw, _rows, rows),
            Case("paired", said, draw, _paired),
            Case("randomization of units", said, draw, _shuffled, every=2),
        ]
        if not rows:
            made.append(Case("McNemar, clustered", said, draw, _clustered))
        apart = other_items(where, icc)
        made.append(Case("unpaired", said, apart, _unpaired))
        made.append(Case("stratified shuffling", said, apart, _noreen, every=2))
        league = several(where, icc, 4)
        made.append(Case("Cochran's Q", said, league, lambda d: c.cochran_q(d[1]).pvalue, rows))
        for adjust in ("max-t", "holm"):
            made.append(Case(f"all pairs of 4, {adjust}", said, league, _many(adjust), every=4))
    made += _over_data_sets() + _over_splits() + _against_chance()
    return made


def _over_data_sets() -> list[Case]:
    made = []
    for n in (10, 30):
        said, pair, league = f"{n} data sets", table(n, 2), table(n, 5)
        made += [
            Case("signed rank", said, pair, lambda d: c.signed_rank(d[:, 0], d[:, 1]).pvalue),
            Case("sign", said, pair, lambda d: c.sign(d[:, 0], d[:, 1]).pvalue),
            Case("Friedman", said, league, lambda d: c.friedman(d, higher_is_better=True).pvalue),
            Case("Iman-Davenport", said, league, lambda d: c.iman_davenport(d, higher_is_better=True).pvalue),
            Case("Nemenyi, all pairs", said, league, _least(c.nemenyi)),
            Case("Nemenyi, Bonferroni", said, league, _least(c.nemenyi_bonferroni)),
            Case("all pairs, Shaffer", said, league, _least(c.all_pairs, adjust="shaffer")),
            Case("all pairs, Holm", said, league, _least(c.all_pairs, adjust="holm")),
            Case("all pairs, Hochberg", said, league, _least(c.all_pairs, adjust="hochberg")),
            Case("all pairs, Benjamini-Hochberg", said, league, _least(c.all_pairs, adjust="benjamini-hochberg")),
            Case("Bonferroni-Dunn", said, league, _least(c.bonferroni_dunn, control=0)),
            Case("against control, Holm", said, league, _least(c.against_control, control=0)),
        ]
    return made


def _over_splits() -> list[Case]:
    fifteen, halves = splits("shuffles"), splits("5×2")
    ratio = 12 / 108
    a, b = "15 shuffles of 120 rows", "5 × 2 halves of 120 rows"
    return [
        Case("t of splits, uncorrected", a, fifteen, lambda d: c.uncorrected_t(*d).pvalue, False, 2),
        Case("t of splits, corrected", a, fifteen, lambda d: c.corrected_t(*d, ratio=ratio).pvalue, True, 2),
        Case("5×2 t", b, halves, lambda d: c.five_by_two_t(d[0], d[1]).pvalue, True, 2),
        Case("5×2 F", b, halves, lambda d: c.five_by_two_f(d[0], d[1]).pvalue, True, 2),
    ]


def _against_chance() -> list[Case]:
    made = []
    for said, where, between in (("48 independent rows", SMALL, 0.0), ("40 units of 10 rows, alike", UNITS, 0.6)):
        draw = guesses(where, between)
        made.append(Case("chance", said, draw, lambda d: c.chance_of_labels(d[0], d[1]).pvalue, between == 0, 4))
        if between:
            made.append(
                Case(
                    "chance within units", said, draw, lambda d: c.chance_within(d[0], d[1], units=d[2]).pvalue, True, 8
                )
            )
            made.append(Case("chance between units", said, draw, lambda d: c.chance_between(
                d[0], d[1], units=d[2], permutations=PERMUTATIONS).pvalue, True, 4))  # fmt: skip
    return made


CASES = _cases()
EFFECT = 0.05


def run(case: Case, trials: int, seed: int) -> dict[str, Any]:
    """Shares of rejected nulls: true ones (type-I error) and false ones (power)."""
    made: dict[str, Any] = {
        "name": case.name, "test": case.test, "situation": case.situation, "valid": case.valid, "seed": seed,
        "effect": EFFECT,
    }  # fmt: skip
    for what, effect in (("type_one", 0.0), ("power", EFFECT)):
        rng = np.random.default_rng(seed_of(f"{case.situation} {what}", seed))  # all tests see the same draws
        n = trials // case.every
        hits = undefined = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(n):
                data = case.draw(rng, effect)
                try:
                    hits += case.pvalue(data) <= LEVEL
                except strat.StratError:  # nothing varied
                    undefined += 1
        made |= {what: hits / n, f"{what}_mc": round(monte_carlo(hits / n, n), 5), f"{what}_undefined": undefined / n}
        made["trials"] = n
    assert not math.isnan(made["power"])
    return made
