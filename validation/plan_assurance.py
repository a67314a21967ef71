"""In how many studies a plan keeps its word: ``python -m validation.plan_assurance [studies]`` prints the docs' table.

Each line asks for the least number that reaches an interval width in 80 % of studies (or a power of 80 %), draws so
many studies of that size with what the plan was told, and counts those whose printed interval is as narrow (whose
printed test rejects).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

import strat
from strat import planning
from strat.comparison import paired

from .held_out.shapes import rates

Rng = np.random.Generator
STUDIES = 1000


@dataclass(frozen=True)
class Case:
    """A plan, and a study of its size: whether what was wanted is reached there."""

    name: str
    plan: Callable[[], planning.SampleSize]
    study: Callable[[int, Rng], bool]


def _narrow(statistic: Any, design: Any, width: float) -> bool:
    low, high = strat.estimate(statistic, on=design).interval()
    return bool(high - low <= width)


def share_of_rows(rate: float, width: float) -> Case:
    """Independent rows."""

    def study(n: int, rng: Rng) -> bool:
        right = (rng.random(n) < rate).astype(float)
        return _narrow(strat.proportion(right), strat.Design.simple_random(n=n), width)

    return Case(
        f"share {rate:g}, width {width:g}, rows", lambda: planning.rows_for_width(width=width, proportion=rate), study
    )


def recall_of_rows(rate: float, width: float, prevalence: float) -> Case:
    """The share found of a class that a part of independent rows has."""

    def study(n: int, rng: Rng) -> bool:
        truth = (rng.random(n) < prevalence).astype(int)
        found = (rng.random(n) < np.where(truth == 1, rate, 0.1)).astype(int)
        return _narrow(strat.recall(truth, found, positive=1), strat.Design.simple_random(n=n), width)

    return Case(
        f"recall {rate:g}, width {width:g}, prevalence {prevalence:g}, rows",
        lambda: planning.rows_for_width(width=width, proportion=rate, share=prevalence),
        study,
    )


def share_of_units(rate: float, width: float, rows: int, icc: float) -> Case:
    """Units of equal size whose rates are Beta distributed."""

    def study(n: int, rng: Rng) -> bool:
        unit = np.repeat(np.arange(n), rows)
        right = (rng.random(n * rows) < rates(rng, rate, icc, "Beta", n)[unit]).astype(float)
        return _narrow(strat.proportion(right), strat.Design.clustered(units=unit), width)

    return Case(
        f"share {rate:g}, width {width:g}, units of {rows}, icc {icc:g}",
        lambda: planning.units_for_width(width=width, proportion=rate, rows_per_unit=rows, intraclass=icc),
        study,
    )


def recall_of_units(rate: float, width: float, rows: int, icc: float, prevalence: float, *, whole: bool) -> Case:
    """Units that are positive as a whole, or hold positive rows at random."""

    def study(n: int, rng: Rng) -> bool:
        unit = np.repeat(np.arange(n), rows)
        chance = rng.random(n)[unit] if whole else rng.random(n * rows)
        truth = (chance < prevalence).astype(int)
        own = rates(rng, rate, icc, "Beta", n)[unit]
        found = (rng.random(n * rows) < np.where(truth == 1, own, 0.1)).astype(int)
        return _narrow(strat.recall(truth, found, positive=1), strat.Design.clustered(units=unit), width)

    kind = "whole units positive" if whole else "positive rows at random"
    return Case(
        f"recall {rate:g}, width {width:g}, prevalence {prevalence:g}, units of {rows}, icc {icc:g}, {kind}",
        lambda: planning.units_for_width(
            width=width, proportion=rate, rows_per_unit=rows, intraclass=icc, share=prevalence,
            share_intraclass=float(whole),
        ),
        study,
    )  # fmt: skip


def mean_of_rows(width: float) -> Case:
    """Independent normal rows with deviation 1."""

    def study(n: int, rng: Rng) -> bool:
        return _narrow(strat.mean(rng.standard_normal(n)), strat.Design.simple_random(n=n), width)

    return Case(f"mean, width {width:g}, rows", lambda: planning.rows_for_mean(width=width, deviation=1.0), study)


def mean_of_strata(width: float) -> Case:
    """Strata of two normal units with deviation 1."""

    def study(n: int, rng: Rng) -> bool:
        design = strat.Design.stratified(strata=np.repeat(np.arange(n), 2))
        return _narrow(strat.mean(rng.standard_normal(2 * n)), design, width)

    return Case(
        f"mean, width {width:g}, strata of two", lambda: planning.strata_for_width(width=width, deviation=1.0), study
    )


def area(auc: float, width: float, prevalence: float) -> Case:
    """Normal scores with one spread in both classes."""
    from scipy.special import ndtri

    shift = sqrt(2) * float(ndtri(auc))

    def study(n: int, rng: Rng) -> bool:
        truth = (rng.random(n) < prevalence).astype(int)
        score = shift * truth + rng.standard_normal(n)
        return _narrow(strat.auc(truth, score, positive=1), strat.Design.simple_random(n=n), width)

    return Case(
        f"AUC {auc:g}, width {width:g}, prevalence {prevalence:g}, rows",
        lambda: planning.rows_for_auc(width=width, auc=auc, prevalence=prevalence),
        study,
    )


def power_of_pairs(only_a: float, only_b: float) -> Case:
    """Two systems on the same rows, one right alone on these shares of them."""

    def study(n: int, rng: Rng) -> bool:
        u = rng.random(n)
        a, b = (u < only_a) | (u > 0.5), ((u >= only_a) & (u < only_a + only_b)) | (u > 0.5)
        first, second = strat.proportion(a * 1.0), strat.proportion(b * 1.0)
        one = paired(first, second, on=strat.Design.simple_random(n=n), higher_is_better=True)
        return bool(one.pvalue <= 0.05)

    return Case(
        f"difference {100 * (only_b - only_a):g} points, {100 * (only_a + only_b):g} % of rows discordant, power",
        lambda: planning.paired_rows_for_power(difference=only_b - only_a, disagreement=only_a + only_b),
        study,
    )


CASES = (
    share_of_rows(0.5, 0.1),
    share_of_rows(0.9, 0.08),
    share_of_rows(0.98, 0.03),
    recall_of_rows(0.8, 0.12, 0.2),
    recall_of_rows(0.95, 0.08, 0.1),
    share_of_units(0.8, 0.12, 20, 0.2),
    share_of_units(0.9, 0.08, 10, 0.3),
    share_of_units(0.95, 0.06, 15, 0.1),
    share_of_units(0.7, 0.2, 30, 0.1),
    recall_of_units(0.8, 0.15, 10, 0.2, 0.2, whole=True),
    recall_of_units(0.9, 0.12, 10, 0.2, 0.2, whole=False),
    mean_of_rows(0.5),
    mean_of_strata(0.4),
    area(0.8, 0.1, 0.3),
    area(0.9, 0.08, 0.15),
    power_of_pairs(0.04, 0.10),
    power_of_pairs(0.01, 0.05),
)


def reached(case: Case, studies: int = STUDIES, seed: int = 1) -> tuple[int, float]:
    """The number planned, and in which share of so many studies it does what was wanted."""
    number = case.plan().number
    rng = np.random.default_rng(seed)
    return number, sum(case.study(number, rng) for _ in range(studies)) / studies


def main(studies: int = STUDIES) -> None:
    """Print a line for each case."""
    print("| plan | number | reached, % of studies |\n| --- | ---: | ---: |")
    for case in CASES:
        number, share = reached(case, studies)
        error = sqrt(share * (1 - share) / studies)
        print(f"| {case.name} | {number:,} | {100 * share:.1f} ± {100 * error:.1f} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
