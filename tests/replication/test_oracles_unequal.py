"""Unequal strata of 3 and 5 units and six of 5, which R's BRR refuses: its Taylor and jackknife values."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import strat

ORACLES = Path(__file__).parents[1] / "oracles"


def table(name: str) -> dict[str, np.ndarray]:
    with (ORACLES / f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    return {c: np.array([r[c] for r in rows]) if c == "psu" else np.array([float(r[c]) for r in rows]) for c in rows[0]}


def wanted(name: str, method: str) -> dict[str, tuple[float, float, float]]:
    with (ORACLES / "survey_unequal.csv").open() as file:
        rows = [r for r in csv.DictReader(file) if r["dataset"] == name and r["method"] == method]
    return {r["statistic"]: (float(r["estimate"]), float(r["se"]), float(r["df"])) for r in rows}


def statistics(t: dict[str, np.ndarray]) -> dict[str, strat.Statistic]:
    return {
        "mean(x)": strat.mean(t["x"]),
        "mean(y)": strat.mean(t["y"]),
        "total(x)": strat.total(t["x"]),
        "ratio(x/z)": strat.ratio(t["x"], t["z"]),
    }


@pytest.mark.parametrize("name", ["unequal_3_5", "equal_6x5", "mixed_2_to_7"])
def test_against_r(name: str) -> None:
    t = table(name)
    design = strat.Design.stratified(strata=t["stratum"], units=t["psu"], weights=t["weight"])
    for method, on in (("taylor", design), ("JKn/mse", strat.jackknife(design))):
        for statistic, (value, se, df) in wanted(name, method).items():
            got = strat.estimate(statistics(t)[statistic], on=on)
            assert (got.value, got.se, got.df) == pytest.approx((value, se, df), rel=1e-8), (method, statistic)


@pytest.mark.parametrize("name", ["unequal_3_5", "equal_6x5", "mixed_2_to_7"])
def test_balanced_totals_are_r_s_taylor_totals(name: str) -> None:
    t = table(name)
    design = strat.Design.stratified(strata=t["stratum"], units=t["psu"], weights=t["weight"])
    made = [strat.generalized(design)]
    if name == "equal_6x5":
        made += [strat.brr(design), strat.fay(design, rho=0.5)]
    if name != "mixed_2_to_7":
        made += [strat.multi_array(design)]
    _, se, _ = wanted(name, "taylor")["total(x)"]
    taylor = wanted(name, "taylor")
    for replicates in made:
        assert strat.estimate(strat.total(t["x"]), on=replicates).se == pytest.approx(se, rel=1e-11)
        for statistic in ("mean(x)", "ratio(x/z)"):  # not linear: near, and each has its own right to differ
            assert strat.estimate(statistics(t)[statistic], on=replicates).se == pytest.approx(
                taylor[statistic][1], rel=0.05
            )
