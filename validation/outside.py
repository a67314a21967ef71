"""Situations that an outsider found short: ``python -m validation.outside [samples] [words of names]`` prints a table.

Post-stratified shares, paired differences of few units, boards of more systems than units, winners, bands of ROC and
DET curves. Coverage is that of the default, *warned* the share of the samples that miss the truth in which the
estimate said that its interval may be short.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr, ndtri

import strat
from strat import recognition

from .counting import run
from .held_out.procedures import estimated
from .held_out.scores import roc_band
from .held_out.systems import board, in_units, loses_in_some_units
from .trials import Draw, Rng, Scenario, Trial, layout

SAMPLES, SEED = 500, 1
DET_RATES = (0.01, 0.02, 0.05, 0.1, 0.2)


def post_stratified(rows: int, held: float, counted: float, rates: tuple[float, float]) -> Draw:
    """A share over two groups, of which the second is `held` of the rows and counts for `counted` of the whole."""
    design = strat.Design.simple_random(n=rows)
    truth = (1 - counted) * rates[0] + counted * rates[1]

    def draw(rng: Rng) -> Trial:
        second = rng.random(rows) < held
        if second.sum() < 2 or (~second).sum() < 2:
            return draw(rng)
        right = (rng.random(rows) < np.where(second, rates[1], rates[0])).astype(float)
        sizes = {"first": 1 - counted, "second": counted}
        by = np.where(second, "second", "first")
        return estimated(strat.post_stratified(strat.proportion(right), by=by, sizes=sizes), design, truth)

    return draw


def det_band(subjects: int, gap: float, shared: float) -> Draw:
    """FNMR at five false match rates, subjects against subjects."""
    names, rest = np.arange(subjects), np.sqrt(1 - 2 * shared)
    truth = ndtr(-ndtri(np.array(DET_RATES)) - gap)

    def draw(rng: Rng) -> Trial:
        own = np.sqrt(shared) * rng.standard_normal(subjects)
        table = own[:, None] + own + rest * rng.standard_normal((subjects, subjects))
        mated = np.sqrt(2 * shared) * rng.standard_normal(subjects) + rest * rng.standard_normal(subjects)
        np.fill_diagonal(table, gap + mated)
        curve = recognition.verification(similarity=table, probes=names, gallery=names).det(DET_RATES)
        return Trial(None, None, truth, {}, {"estimate": curve.estimate})

    return draw


EQUAL = (0.75,)
MAKE: dict[str, tuple[str, Callable[[], Draw]]] = {
    "post-stratified, 5 % counted as 40 %, 150 rows": (
        "answer", lambda: post_stratified(150, 0.05, 0.4, (0.95, 0.8))),
    "paired, 20 units of 20, loses 0.2 on 15 % of them": (
        "pair", lambda: loses_in_some_units(20, 20, 0.15, 0.2)),
    "paired, 20 units of 25, 0.99 against 0.97": ("pair", lambda: in_units(layout(1, 20, 25), 0.99, 0.97, 0.1)),
    "all pairs of 10 equal systems, 10 units of 20": ("board", lambda: board(layout(1, 10, 20), EQUAL * 10, 0.1)),
    "all pairs of 30 equal systems, 20 units of 20": ("board", lambda: board(layout(1, 20, 20), EQUAL * 30, 0.1)),
    "all pairs of 10 systems 0.95 to 0.99, 200 items": (
        "board", lambda: board(layout(1, 200, 1), tuple(np.linspace(0.95, 0.99, 10)), 0.0)),
    "winner of 10 equal systems, 10 units of 20": (
        "winner", lambda: board(layout(1, 10, 20), EQUAL * 10, 0.1, winner=True)),
    "winner of 30 equal systems, 20 units of 20": (
        "winner", lambda: board(layout(1, 20, 20), EQUAL * 30, 0.1, winner=True)),
    "ROC band, 200 rows": ("simultaneous band", lambda: roc_band(layout(1, 200, 1), 1.5, 0.0, 0.5)),
    "ROC band, 20 units of 15": ("simultaneous band", lambda: roc_band(layout(1, 20, 15), 1.5, 0.3, 0.5)),
    "DET band, 40 subjects": ("simultaneous band", lambda: det_band(40, 3.0, 0.1)),
    "DET band, 80 subjects": ("simultaneous band", lambda: det_band(80, 3.0, 0.1)),
}  # fmt: skip


def line(name: str, samples: int, seed: int = SEED) -> str:
    """Coverage, width and warnings of one situation."""
    step, make = MAKE[name]
    one = run(Scenario(name, step, name, make, (step,)), samples, seed)
    default = one["methods"]["default"]
    warned = f"{100 * one['warned_misses'] / one['misses']:.0f}" if one["misses"] else "–"
    cover = f"{100 * default['coverage']:.1f} ± {100 * default['coverage_mc']:.1f}"
    return f"| {name} | {cover} | {default['width']:.3f} | {warned} / {100 * one['warned']:.0f} |"


def main(samples: int = SAMPLES, words: str = "") -> None:
    """Print a line for each situation."""
    print("| situation | coverage % | mean width | warned of misses / samples % |\n| --- | ---: | ---: | ---: |")
    for name in MAKE:
        if words in name:
            print(line(name, samples), flush=True)


if __name__ == "__main__":
    main(*([int(sys.argv[1])] if len(sys.argv) > 1 else []), *sys.argv[2:3])
