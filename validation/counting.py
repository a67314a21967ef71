"""Trials to figures: coverage, width, useless intervals, each with its Monte-Carlo error."""

from __future__ import annotations

import math
import warnings
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import strat
from strat.base.notes import codes_of

from .held_out.procedures import PROCEDURES as SECOND_PROCEDURES
from .methods import PROCEDURES
from .trials import Scenario

GOAL = (0.94, 0.96)
HAIR = 1e-9
CAUTIONS = {  # codes of notes on intervals that may be too short
    "few-units", "two-kinds", "few-holders", "few-of-class", "few-df", "thin-tail", "no-variation", "heavy-units",
    "one-outcome", "skewed-units", "few-beyond", "few-subjects", "no-subjects", "subjects-inferred",
    "known-part", "single-stratum-multi-array",
}  # fmt: skip


@dataclass
class Tally:
    """What became of one method's intervals."""

    trials: int = 0
    below: int = 0  # the interval lies below the truth
    above: int = 0
    lost: int = 0  # not covered, all reasons
    useless: int = 0
    widths: list[float] = field(default_factory=list)

    def add(self, low: Any, high: Any, truth: Any, span: float) -> bool:
        """Count one interval, or one band; whether it misses the truth."""
        low, high, truth = (np.asarray(v, float) for v in (low, high, truth))
        self.trials += 1
        if np.isnan(low).any() or np.isnan(high).any():
            self.lost += 1
            self.useless += 1
            return True
        under, over = bool((high < truth - HAIR).any()), bool((low > truth + HAIR).any())
        self.below += under
        self.above += over
        self.lost += under or over
        width = np.clip(high, -1e300, 1e300) - np.clip(low, -1e300, 1e300)
        off = width[~np.eye(len(width), dtype=bool)] if _of_pairs(width) else width
        self.useless += bool((off <= 1e-12).all() or (np.max(off) >= span * (1 - 1e-9)))
        self.widths.append(float(np.mean(off)))
        return under or over

    def figures(self) -> dict[str, float | int]:
        """The figures that are stored."""
        n = self.trials
        coverage = 1 - self.lost / n
        spread = np.std(self.widths) / math.sqrt(len(self.widths)) if self.widths else math.nan
        return {
            "trials": n,
            "coverage": round(coverage, 5),
            "coverage_mc": round(monte_carlo(coverage, n), 5),
            "below": round(self.below / n, 5),
            "above": round(self.above / n, 5),
            "width": float(f"{np.mean(self.widths):.6g}") if self.widths else math.nan,
            "width_mc": float(f"{spread:.3g}"),
            "useless": round(self.useless / n, 5),
        }


def _of_pairs(width: Any) -> bool:
    """Whether widths are those of all pairs, with nothing on the diagonal."""
    return bool(width.ndim == 2 and width.shape[0] == width.shape[1] and not np.diag(width).any())


def monte_carlo(share: float, n: int) -> float:
    """Standard error of a share of trials (Wilson's centre keeps it above zero)."""
    p = (share * n + 2) / (n + 4)
    return math.sqrt(p * (1 - p) / (n + 4))


def verdict(coverage: float, error: float) -> str:
    """Whether 94 to 96 % is ruled out at two Monte-Carlo errors: "short" (too low), "wide" (too high) or "holds"."""
    if coverage + 2 * error < GOAL[0]:
        return "short"
    return "wide" if coverage - 2 * error > GOAL[1] else "holds"


def seed_of(name: str, seed: int) -> list[int]:
    """A seed of its own for each scenario, the same on every machine."""
    return [seed, zlib.crc32(name.encode())]


def run(scenario: Scenario, trials: int, seed: int) -> dict[str, Any]:
    """Try every procedure of a scenario on `trials` draws."""
    rng = np.random.default_rng(seed_of(scenario.name, seed))
    plan = [_step(step) for step in scenario.procedures]
    draw = scenario.make()
    tallies: dict[str, Tally] = {}
    flat = warned = misses = warned_misses = 0
    notes: dict[str, list[int]] = {}  # of each note on short intervals, how many misses and hits it stands in
    truth, independent = None, False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rare draws where a class is never predicted, say
        for i in range(trials):
            trial = draw(rng)
            truth, span, independent = trial.truth, _span(trial), _independent(trial)
            flat += _flat(trial)
            cautions = _cautions(trial)
            warned += bool(cautions)
            missed = False
            for every, procedure in plan:
                if i % every == 0:
                    for name, (low, high) in procedure(trial).items():
                        miss = tallies.setdefault(name, Tally()).add(low, high, trial.truth, span)
                        missed |= miss and name == "default"
            misses += missed
            warned_misses += missed and bool(cautions)
            for code in cautions:
                notes.setdefault(code, [0, 0])[not missed] += 1
    return {
        "name": scenario.name,
        "family": scenario.family,
        "about": scenario.about,
        "truth": float(np.ravel(truth)[0]) if np.ndim(truth) < 2 else None,
        "no_errors": round(flat / trials, 5),
        "warned": round(warned / trials, 5),
        "independent": independent,
        "misses": misses,
        "warned_misses": warned_misses,
        "notes": dict(sorted(notes.items())),
        "trials": trials,
        "seed": seed,
        "methods": {name: tally.figures() for name, tally in tallies.items()},
    }


def _step(step: str) -> tuple[int, Any]:
    name, _, every = step.partition("/")
    return int(every or 1), PROCEDURES[name] if name in PROCEDURES else SECOND_PROCEDURES[name]


def _span(trial: Any) -> float:
    """The width of the whole range, which says nothing."""
    if "span" in trial.extra:
        return float(trial.extra["span"])
    statistic = trial.statistic
    bounds = (
        (0.0, 1.0) if "estimate" in trial.extra else (-math.inf, math.inf) if statistic is None else statistic.bounds
    )
    return float(bounds[1] - bounds[0])


def _cautions(trial: Any) -> set[str]:
    """What the estimate itself says of an interval that may be too short, by the codes of its notes."""
    if "notes" in trial.extra:
        return CAUTIONS & set(codes_of(trial.extra["notes"]))
    one = trial.extra.get("estimate")
    if one is None and trial.statistic is not None and not trial.statistic.axes:
        one = strat.estimate(trial.statistic, on=trial.design)
    return set() if one is None else CAUTIONS & set(codes_of(one.notes))


def _independent(trial: Any) -> bool:
    """Whether rows are independent draws, so that a method that takes them for such is none of another aim."""
    known = trial.extra.get("independent")
    return bool(trial.design is not None and trial.design.rows_are_units) if known is None else known


def _flat(trial: Any) -> bool:
    """Whether no row, or every row, was wrong."""
    y = trial.columns.get("right")
    if y is not None:
        return bool((y == y[0]).all())
    one = trial.extra.get("estimate")
    return isinstance(one, strat.Estimate) and not np.any(one.variance)
