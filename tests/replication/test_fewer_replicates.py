"""BRR over difference schemes is exact for linear statistics; partial balance is unbiased, with its loss stated."""

from __future__ import annotations

import numpy as np
import pytest

import strat
from strat.cli import main


@pytest.mark.parametrize(
    ("units", "strata", "number"), [(3, 7, 18), (3, 256, 648), (5, 11, 50), (7, 9, 98), (3, 13, 27)]
)
def test_brr_has_the_textbook_variance_in_fewer_replicates(units, strata, number):
    y = np.random.default_rng(units).normal(size=units * strata)
    design = strat.Design.stratified(strata=np.repeat(np.arange(strata), units))
    replicates = strat.brr(design)
    assert replicates.number == number
    assert strat.estimate(strat.mean(y), on=replicates).se == pytest.approx(
        strat.estimate(strat.mean(y), on=design).se, rel=1e-10
    )
    factors = replicates.factors()
    assert set(np.unique(factors)) == {0.0, float(units)}
    np.testing.assert_allclose(strat.fay(design, rho=0.4).factors(), 0.4 + 0.6 * factors)


@pytest.mark.parametrize("units", [2, 3])
def test_partial_balance_is_unbiased_over_its_signs_and_states_its_loss(units):
    design = strat.Design.stratified(strata=np.repeat(np.arange(120), units))
    y = np.random.default_rng(0).normal(size=120 * units)
    whole = strat.estimate(strat.mean(y), on=design).se ** 2
    drawn = [strat.partially_balanced(design, replicates=32, rng=seed) for seed in range(150)]
    ratios = np.array([strat.estimate(strat.mean(y), on=r).se ** 2 for r in drawn]) / whole
    assert abs(ratios.mean() - 1) < 4 * ratios.std() / np.sqrt(150)
    lost = 2 / 31 - 2 / (120 * (units - 1))  # relative variance of the estimate that sharing columns adds
    assert 0.6 * lost < ratios.var() < 1.6 * lost
    assert (drawn[0].number, drawn[0].df) == (32, 31)
    assert "31 degrees of freedom instead of" in str(drawn[0])
    assert (drawn[0].factors() >= -1e-12).all()


def test_partial_balance_with_enough_replicates_loses_nothing():
    design = strat.Design.stratified(strata=np.repeat(np.arange(7), 2))
    enough = strat.partially_balanced(design, replicates=8)
    assert (enough.number, enough.df) == (8, 7)
    np.testing.assert_array_equal(enough.factors(), strat.generalized(design).factors())
    with pytest.raises(strat.StratError, match="`replicates` must be"):
        strat.partially_balanced(design, replicates=1)


def test_tables_and_the_command_take_as_many_replicates_as_asked(tmp_path, capsys):
    rng = np.random.default_rng(5)
    table = {"y": rng.random(240), "h": np.repeat(np.arange(80), 3)}
    one = strat.evaluate(table, score="y", strata="h", method="partially_balanced", replicates=32)
    own = strat.partially_balanced(strat.Design.stratified(table["h"]), replicates=32)
    assert str(one["mean"].method.replicates).startswith("partially balanced BRR: 32 replicates")
    assert float(one["mean"].se) == pytest.approx(float(strat.estimate(strat.mean(table["y"]), on=own).se))
    assert "200 replicates" in str(
        strat.evaluate(table, score="y", method="bootstrap", replicates=200)["mean"].method.replicates
    )
    with pytest.raises(strat.StratError, match="`replicates` must go with method='partially_balanced' or 'bootstrap'"):
        strat.evaluate(table, score="y", strata="h", method="brr", replicates=8)
    file = tmp_path / "t.csv"
    file.write_text("\n".join(["y,h", *(f"{y},{h}" for y, h in zip(table["y"], table["h"], strict=True))]))
    with pytest.raises(SystemExit) as done:
        main(
            [
                "evaluate",
                str(file),
                "--score",
                "y",
                "--strata",
                "h",
                "--method",
                "partially_balanced",
                "--replicates",
                "32",
            ]
        )
    assert done.value.code == 0
    assert f"{float(one['mean'].se):.4f}" in capsys.readouterr().out
