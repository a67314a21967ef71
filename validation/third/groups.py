"""Are all groups equal?  And how large is the largest gap, how bad the worst group?  Groups small, unlike, in units.

    python -m validation.third.groups --samples 400    # how often each test rejects, equal groups and unequal ones

Everything is asked of `strat.evaluate(…, by=…)`, as a reader would. A test that rejects equal groups at 5 % counts as
an interval that misses.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import chi2, chi2_contingency, f_oneway

import strat
from strat.base.errors import StratError
from strat.comparison.equal_groups import rao_scott, welch

from ..trials import Array, Draw, Rng, Scenario, Trial, shares

Columns = dict[str, Array]
LEVEL = 0.05


@dataclass(frozen=True)
class Layout:
    """Groups of rows: how they arise, what is asked of them, and the true value of each."""

    name: str
    draw: Callable[[Rng], Columns]
    values: tuple[float, ...]
    metric: str = "mean"
    asked: dict[str, str] = field(default_factory=dict)

    @property
    def equal(self) -> bool:
        """Whether all groups have one value."""
        return len(set(self.values)) == 1

    def groups(self, columns: Columns) -> Any:
        """The answer for the groups."""
        roles = {"score": "s"} if self.metric in ("mean", "auc") else {"predicted": "p"}
        truth = {} if self.metric == "mean" else {"truth": "t"}
        classes = {} if self.metric in ("mean", "macro_f1", "kappa") else {"positive": 1}
        return strat.evaluate(columns, **roles, **truth, **classes, **self.asked, metrics=self.metric, by="g").groups[
            self.metric
        ]


def of_rows(
    sizes: Sequence[int], values: Sequence[float], draw: Callable[[Rng, Array], Array]
) -> Callable[[Rng], Columns]:
    """Independent rows; `draw` makes their values from the value of their group."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    level = np.asarray(values, float)[group]
    return lambda rng: {"g": group, "s": draw(rng, level)}


def right(rng: Rng, level: Array) -> Array:
    """Hits and misses."""
    return (rng.random(len(level)) < level).astype(float)


def lognormal(rng: Rng, level: Array) -> Array:
    """Times, say."""
    return level * np.exp(rng.standard_normal(len(level)) - 0.5)


def stars(rng: Rng, level: Array) -> Array:
    """One to five; `level` is that of what they round, by halves, so that the mean of a group is not it exactly."""
    return np.clip(np.rint(level + 1.1 * rng.standard_normal(len(level))), 1, 5)


def rare(rng: Rng, level: Array) -> Array:
    """Costs that are mostly nothing."""
    return (rng.random(len(level)) < 0.12) * rng.gamma(2.0, level / 0.24, len(level))


def normal(deviations: Sequence[float], sizes: Sequence[int]) -> Callable[[Rng, Array], Array]:
    """Normal values that vary more in some groups."""
    by_row = np.repeat(deviations, sizes)
    return lambda rng, level: level + by_row * rng.standard_normal(len(level))


def classified(
    sizes: Sequence[int], rates: Sequence[tuple[float, float]], prevalence: float | Sequence[float]
) -> Callable[[Rng], Columns]:
    """Two classes; each group has its own sensitivity and false positive rate."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    share = np.broadcast_to(prevalence, len(sizes))[group]
    sensitivity, false = (np.array([pair[k] for pair in rates])[group] for k in (0, 1))

    def draw(rng: Rng) -> Columns:
        truth = rng.random(len(group)) < share
        predicted = rng.random(len(group)) < np.where(truth, sensitivity, false)
        return {"g": group, "t": truth.astype(int), "p": predicted.astype(int)}

    return draw


def three_classes(sizes: Sequence[int], accuracies: Sequence[float]) -> Callable[[Rng], Columns]:
    """Three classes of .5, .3 and .2; a wrong answer is either of the two others."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    accuracy = np.asarray(accuracies)[group]

    def draw(rng: Rng) -> Columns:
        truth = rng.choice(3, len(group), p=(0.5, 0.3, 0.2))
        other = (truth + rng.integers(1, 3, len(group))) % 3
        return {"g": group, "t": truth, "p": np.where(rng.random(len(group)) < accuracy, truth, other)}

    return draw


def scored(
    sizes: Sequence[int], areas: Sequence[float], prevalence: float | Sequence[float], *, shift: float = 0.0,
    scale: float = 1.0, steps: float = 0.0, units: int = 1,
) -> Callable[[Rng], Columns]:  # fmt: skip
    """Normal scores of two classes; groups may differ in place and scale, which an AUC does not notice."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    share, area = np.broadcast_to(prevalence, len(sizes))[group], np.asarray(areas)[group]
    unit = np.arange(len(group)) // units

    def draw(rng: Rng) -> Columns:
        truth = rng.random(len(group)) < share
        noise = np.sqrt(0.3) * rng.standard_normal(unit.max() + 1)[unit] * (units > 1)
        noise = noise + np.sqrt(1 - 0.3 * (units > 1)) * rng.standard_normal(len(group))
        score = scale**group * (noise + truth * np.sqrt(2) * ndtri(area)) + shift * group
        score = np.rint(score * steps) / steps if steps else score
        return {"g": group, "t": truth.astype(int), "s": score, "u": unit}

    return draw


def inside(
    units: Sequence[int], sizes: int | Sequence[int], rates: Sequence[float], icc: float, *, zipf: bool = False
) -> Callable[[Rng], Columns]:
    """Units that lie in one group each; with `zipf` a few of them are large."""
    of_unit = np.repeat(np.arange(len(units)), units)
    largest = np.maximum(1, 80 // np.arange(1, 41))

    def draw(rng: Rng) -> Columns:
        rows = rng.choice(largest, len(of_unit)) if zipf else np.broadcast_to(sizes, len(units))[of_unit]
        unit = np.repeat(np.arange(len(of_unit)), rows)
        own = shares(rng, np.asarray(rates)[of_unit], icc)
        return {"g": of_unit[unit], "u": unit, "s": (rng.random(len(unit)) < own[unit]).astype(float)}

    return draw


def across(
    units: int, size: int, parts: Sequence[float], rates: Sequence[float], icc: float, own: float = 0.0
) -> Callable[[Rng], Columns]:
    """Units with rows of several groups; `own` is what a unit adds to one of its groups alone."""
    unit, groups = np.repeat(np.arange(units), size), len(parts)
    limit = ndtri(np.asarray(rates))

    def draw(rng: Rng) -> Columns:
        group = rng.choice(groups, len(unit), p=parts)
        z = np.sqrt(icc) * rng.standard_normal(units)[unit] + np.sqrt(1 - icc - own) * rng.standard_normal(len(unit))
        z = z + np.sqrt(own) * rng.standard_normal((units, groups))[unit, group]
        return {"g": group, "u": unit, "s": (z < limit[group]).astype(float)}

    return draw


def weighted(rows: int, parts: Sequence[float], rates: Sequence[float], spread: float) -> Callable[[Rng], Columns]:
    """Rows with lognormal weights."""

    def draw(rng: Rng) -> Columns:
        group = rng.choice(len(parts), rows, p=parts)
        weight = np.exp(spread * rng.standard_normal(rows))
        return {"g": group, "w": weight, "s": right(rng, np.asarray(rates)[group])}

    return draw


def stratified(
    strata: int, rows: int, ladder: tuple[float, float], parts: Sequence[float], lost: Sequence[float]
) -> Callable[[Rng], Columns]:
    """Rows of strata whose rates climb a ladder; each stratum has all groups, which lose so much of their rate."""
    stratum = np.repeat(np.arange(strata), rows)
    level = np.linspace(*ladder, strata)[stratum]

    def draw(rng: Rng) -> Columns:
        group = rng.choice(len(parts), len(stratum), p=parts)
        return {"g": group, "h": stratum, "s": right(rng, level - np.asarray(lost)[group])}

    return draw


def of_strata(strata: Sequence[int], rows: int, rates: Sequence[float], spread: float) -> Callable[[Rng], Columns]:
    """Groups that are made of whole strata, whose rates differ."""
    group = np.repeat(np.arange(len(strata)), strata)
    level = np.concatenate([np.linspace(r - spread, r + spread, n) for r, n in zip(rates, strata, strict=True)])
    stratum = np.repeat(np.arange(len(group)), rows)
    return lambda rng: {"g": group[stratum], "h": stratum, "s": right(rng, level[stratum])}


def rows(
    name: str, sizes: Sequence[int], values: Sequence[float], draw: Callable[[Rng, Array], Array] = right
) -> Layout:
    """A mean of independent rows; one value stands for all groups."""
    each = tuple(values) * (1 if len(values) > 1 else len(sizes))
    return Layout(name, of_rows(sizes, each, draw), each)


ZIPF = [300 // k for k in range(1, 13)]
U, W, H = {"units": "u"}, {"weights": "w"}, {"strata": "h"}
MINE = ((0.9, 0.08),)
SHARES = [
    rows("12 Zipf groups of 300 to 25 rows, .94", ZIPF, [0.94]),
    rows("groups of 6, 6 and 500 rows, .98", [6, 6, 500], [0.98]),
    rows("groups of 2,000 and 9 rows, .995", [2000, 9], [0.995]),
    rows("15 groups of 8 rows, .7", [8] * 15, [0.7]),
    rows("60 groups of 12 rows, .85", [12] * 60, [0.85]),
    rows("a row alone beside 3 groups of 80, .9", [1, 80, 80, 80], [0.9]),
    Layout("recall, 10 groups of 40 rows, a sixth positive",
           classified([40] * 10, MINE * 10, 1 / 6), (0.9,) * 10, "recall"),
    Layout("F1, groups of 25, 50 and 250 rows", classified([25, 50, 250], MINE * 3, 0.3), (0.86,) * 3, "f1"),
    Layout("300 weighted rows, parts of .75, .2 and .05, .9", weighted(300, (0.75, 0.2, 0.05), (0.9,) * 3, 0.9),
           (0.9,) * 3, asked=W),
    Layout("6 strata of 50 rows from .55 to .98, all groups in each",
           stratified(6, 50, (0.55, 0.98), (0.6, 0.3, 0.1), (0, 0, 0)), (0.765,) * 3, asked=H),
    Layout("3 groups of 8 strata of 10 rows each", of_strata([8] * 3, 10, [0.75] * 3, 0.2), (0.75,) * 3, asked=H),
]  # fmt: skip
VALUES = [
    rows("lognormal, groups of 9, 30 and 300 rows", [9, 30, 300], [1.0], lognormal),
    rows("stars, 15 groups of 9 rows", [9] * 15, [3.6], stars),
    rows("rare costs, groups of 7, 20 and 200 rows", [7, 20, 200], [1.0], rare),
    rows("groups of 10, 40 and 160 rows that vary 4 : 2 : 1", [10, 40, 160], [0.0], normal([4, 2, 1], [10, 40, 160])),
    rows("groups of 10, 40 and 160 rows that vary 1 : 2 : 4", [10, 40, 160], [0.0], normal([1, 2, 4], [10, 40, 160])),
    rows("groups of 3 and 100 rows that vary 3 : 1", [3, 100], [0.0], normal([3, 1], [3, 100])),
    Layout("macro F1 of 3 classes, 5 groups of 60 rows", three_classes([60] * 5, [0.8] * 5), (0.8,) * 5, "macro_f1"),
    Layout("kappa of 3 classes, groups of 20, 40 and 300 rows",
           three_classes([20, 40, 300], [0.85] * 3), (0.7,) * 3, "kappa"),
    Layout("AUC, 10 groups of 36 rows", scored([36] * 10, [0.82] * 10, 0.3), (0.82,) * 10, "auc"),
    Layout("AUC of .95, groups of 12, 12 and 300 rows", scored([12, 12, 300], [0.95] * 3, 0.4), (0.95,) * 3, "auc"),
    Layout("AUC, scores in steps, 5 groups of 60 rows", scored([60] * 5, [0.8] * 5, 0.25, steps=1), (0.8,) * 5, "auc"),
    Layout("AUC, prevalence .1 to .5, other places and scales",
           scored([150, 80, 40], [0.85] * 3, (0.1, 0.3, 0.5), shift=0.7, scale=1.6), (0.85,) * 3, "auc"),
]  # fmt: skip
UNITS = [
    Layout("5 groups of 9 units of 7 rows, .8", inside([9] * 5, 7, [0.8] * 5, 0.2), (0.8,) * 5, asked=U),
    Layout("groups of 5 and 45 units of 12 rows, .93", inside([5, 45], 12, [0.93] * 2, 0.25), (0.93,) * 2, asked=U),
    Layout("10 groups of 3 units of 8 rows, .85", inside([3] * 10, 8, [0.85] * 10, 0.1), (0.85,) * 10, asked=U),
    Layout("3 groups of 12 units of Zipf sizes, .85",
           inside([12] * 3, 0, [0.85] * 3, 0.2, zipf=True), (0.85,) * 3, asked=U),
    Layout("groups of 12 units of 2 rows, 12 of 30, .85",
           inside([12, 12], [2, 30], [0.85] * 2, 0.2), (0.85,) * 2, asked=U),
    Layout("18 units of 25 rows across groups of .7 to .03, .9",
           across(18, 25, (0.7, 0.2, 0.07, 0.03), (0.9,) * 4, 0.3), (0.9,) * 4, asked=U),
    Layout("9 units of 40 rows across 3 groups, with likings, .85",
           across(9, 40, (0.4, 0.3, 0.3), (0.85,) * 3, 0.15, 0.1), (0.85,) * 3, asked=U),
    Layout("60 units of 5 rows across 10 groups, .9",
           across(60, 5, (0.1,) * 10, (0.9,) * 10, 0.3), (0.9,) * 10, asked=U),
    Layout("50 units of 10 rows across, one group of 20 rows, .98",
           across(50, 10, (0.96, 0.04), (0.98,) * 2, 0.1), (0.98,) * 2, asked=U),
    Layout("AUC in 40 units of 8 rows, 4 groups", scored([80] * 4, [0.82] * 4, 0.3, units=8), (0.82,) * 4, "auc", U),
]  # fmt: skip
UNEQUAL = [
    rows("20 groups of 25 rows, .65 to .9", [25] * 20, np.linspace(0.65, 0.9, 20).tolist()),
    rows("groups of 12 and 250 rows, .65 and .92", [12, 250], [0.65, 0.92]),
    rows("8 Zipf groups, the third .75, others .92", [300 // k for k in range(1, 9)], [0.92, 0.92, 0.75] + [0.92] * 5),
    rows("normal, 8 groups of 20 rows, two off", [20] * 8, [0] * 6 + [0.5, 0.9], normal([1] * 8, [20] * 8)),
    rows("lognormal, 4 groups of 40 rows, one by half", [40] * 4, [1, 1, 1, 1.7], lognormal),
    Layout("F1, groups of 50, 80 and 250 rows", classified([50, 80, 250], [(0.65, 0.1), (0.9, 0.08), (0.9, 0.08)], 0.3),
           (0.7, 0.86, 0.86), "f1"),
    Layout("AUC, 4 groups of 100 rows, one .7",
           scored([100] * 4, [0.85, 0.85, 0.85, 0.7], 0.3), (0.85, 0.85, 0.85, 0.7), "auc"),
    Layout("AUC, groups of 40 and 300 rows, .7 and .88", scored([40, 300], [0.7, 0.88], 0.3), (0.7, 0.88), "auc"),
    Layout("5 groups of 9 units of 12 rows, one .65", inside([9] * 5, 12, [0.9, 0.9, 0.65, 0.9, 0.9], 0.2),
           (0.9, 0.9, 0.65, 0.9, 0.9), asked=U),
    Layout("3 groups of 12 units of Zipf sizes, one .6", inside([12] * 3, 0, [0.9, 0.6, 0.9], 0.15, zipf=True),
           (0.9, 0.6, 0.9), asked=U),
    Layout("25 units of 12 rows across 5 groups, one .78", across(25, 12, (0.2,) * 5, (0.93,) * 4 + (0.78,), 0.2),
           (0.93,) * 4 + (0.78,), asked=U),
    Layout("15 units of 30 rows across, .88 and .8",
           across(15, 30, (0.6, 0.4), (0.88, 0.8), 0.4), (0.88, 0.8), asked=U),
    Layout("300 weighted rows, a fifth .72, others .9",
           weighted(300, (0.8, 0.2), (0.9, 0.72), 0.9), (0.9, 0.72), asked=W),
    Layout("6 strata of 50 rows from .6 to .98, a third loses .15",
           stratified(6, 50, (0.6, 0.98), (0.67, 0.33), (0, 0.15)), (0.79, 0.64), asked=H),
]  # fmt: skip
GAPS = [
    rows("groups of 9 and 300 rows, .75 and .92", [9, 300], [0.75, 0.92]),
    rows("groups of 5 and 120 rows, .995 and .9", [5, 120], [0.995, 0.9]),
    rows("25 groups of 20 rows, .7 to .95", [20] * 25, np.linspace(0.7, 0.95, 25).tolist()),
    rows("12 Zipf groups of 300 to 25 rows, .94", ZIPF, [0.94]),
    rows("a row alone beside 3 groups of 80, .9", [1, 80, 80, 80], [0.9]),
    rows("lognormal, groups of 15, 40 and 300 rows", [15, 40, 300], [1.4, 1.0, 1.0], lognormal),
    Layout("AUC, groups of 40 and 300 rows, .8 and .92", scored([40, 300], [0.8, 0.92], 0.3), (0.8, 0.92), "auc"),
    Layout("groups of 6 and 40 units of 10 rows, .7 and .9", inside([6, 40], 10, [0.7, 0.9], 0.2), (0.7, 0.9), asked=U),
    Layout("4 groups of 9 units of 8 rows, .8 to .95", inside([9] * 4, 8, [0.8, 0.85, 0.9, 0.95], 0.2),
           (0.8, 0.85, 0.9, 0.95), asked=U),
    Layout("3 groups of 14 units of Zipf sizes, .85",
           inside([14] * 3, 0, [0.85] * 3, 0.2, zipf=True), (0.85,) * 3, asked=U),
    Layout("20 units of 20 rows across 3 groups, .9 to .8", across(20, 20, (0.5, 0.3, 0.2), (0.9, 0.85, 0.8), 0.3),
           (0.9, 0.85, 0.8), asked=U),
]  # fmt: skip


def rejects(layout: Layout, columns: Columns) -> dict[str, float]:
    """The p-value of each test of this layout; not a number where it is refused."""
    found = {"default": _p(lambda: layout.groups(columns).test().pvalue)}
    g, s, u = columns["g"], columns.get("s"), columns.get("u")
    if layout.metric == "auc":
        return found | ({} if layout.asked else {"DeLong": _p(lambda: _delong(columns))})
    if s is None or layout.asked in (W, H):
        return found
    if layout.asked == U:
        return found | {"Rao and Scott": _p(lambda: rao_scott(s, np.ones(len(s)), g, rows=len(s), unit=u).pvalue)}
    if set(np.unique(s)) <= {0.0, 1.0}:
        table = np.stack([np.bincount(g, s), np.bincount(g, 1 - s)])
        chi = _p(lambda: 1.0 if (table.sum(axis=1) == 0).any() else chi2_contingency(table, correction=False).pvalue)
        return found | {"chi-squared": chi}
    parts = [s[g == k] for k in range(g.max() + 1)]
    variances = np.array([v.var(ddof=1) / len(v) for v in parts])
    n, means = np.array([len(v) for v in parts]), np.array([v.mean() for v in parts])
    with np.errstate(all="ignore"):
        return found | {"F test": _p(lambda: f_oneway(*parts).pvalue), "Welch": welch(means, variances, n - 1.0).pvalue}


def _p(ask: Callable[[], Any]) -> float:
    try:
        return float(ask())
    except StratError:
        return np.nan


def _delong(columns: Columns) -> float:
    """The chi-squared test of areas with DeLong's variances, group by group."""
    areas = []
    for k in range(columns["g"].max() + 1):
        own = columns["g"] == k
        truth, score = columns["t"][own], columns["s"][own]
        if 0 < truth.sum() < len(truth):
            one = strat.estimate(strat.auc(truth, score, positive=1), on=strat.Design.simple_random(n=len(truth)))
            areas.append((float(one.value), float(one.variance)))
    value, variance = np.array(areas).T
    if (variance <= 0).any():
        return 0.0 if np.ptp(value) else 1.0
    centre = (value / variance).sum() / (1 / variance).sum()
    return float(chi2.sf(((value - centre) ** 2 / variance).sum(), len(value) - 1))


def tested(layout: Layout) -> Draw:
    """The tests as intervals of a difference of 0, which miss it where they reject."""

    def draw(rng: Rng) -> Trial:
        found = rejects(layout, layout.draw(rng))
        ends = {
            name: (np.nan, np.nan) if np.isnan(p) else (1e-6 if p <= LEVEL else -0.5, 1.0) for name, p in found.items()
        }
        return Trial(None, None, 0.0, {}, {"limits": ends, "span": 2.0, "notes": (), "independent": not layout.asked})

    return draw


def extreme(layout: Layout, which: str) -> Draw:
    """The limits of the largest gap, or of the worst group."""
    values = np.array(layout.values)
    truth = float(np.ptp(values) if which == "gap" else values.min())

    def draw(rng: Rng) -> Trial:
        one = getattr(layout.groups(layout.draw(rng)), which)()
        limits = {"default": (one.low, one.high)}
        return Trial(None, None, truth, {}, {"limits": limits, "notes": (), "independent": not layout.asked})

    return draw


FAMILIES = {"shares": SHARES, "means and other measures": VALUES, "rows in units": UNITS}
SCENARIOS = [
    *(Scenario(f"equal groups: {one.name}", f"equal groups, {family}", one.name, lambda a=one: tested(a), ("limits",))
      for family, layouts in FAMILIES.items() for one in layouts),
    *(Scenario(f"{words}: {one.name}", words, one.name, lambda a=one, w=which: extreme(a, w), ("limits",))
      for which, words in (("gap", "largest gap"), ("worst", "worst group")) for one in GAPS
      if which == "gap" or one.name != "lognormal, groups of 15, 40 and 300 rows"),
]  # fmt: skip


def table(samples: int, seed: int, only: str = "") -> str:
    """How often each test rejects: of equal groups, and of unequal ones."""
    lines = ["| layout | default | others | refused |", "| --- | ---: | --- | ---: |"]
    for family, layouts in {**{f"equal: {k}": v for k, v in FAMILIES.items()}, "unequal (power)": UNEQUAL}.items():
        lines.append(f"| **{family}** | | | |")
        for layout in (one for one in layouts if only in one.name):
            rng = np.random.default_rng([seed, len(layout.name)])
            each = [rejects(layout, layout.draw(rng)) for _ in range(samples)]
            share = {name: 100 * np.mean([p[name] <= LEVEL for p in each]) for name in each[0]}
            refused = 100 * np.mean([np.isnan(p["default"]) for p in each])
            others = ", ".join(f"{name} {value:.1f}" for name, value in share.items() if name != "default")
            lines.append(f"| {layout.name} | {share['default']:.1f} | {others or '–'} | {refused:.0f} |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--seed", type=int, default=20_010_612)
    parser.add_argument("--only", default="", help="layouts whose name holds this text")
    options = parser.parse_args()
    table(options.samples, options.seed, options.only)


if __name__ == "__main__":
    main()
