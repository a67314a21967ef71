"""Replicate weights from a file, as surveys publish them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import strat
from strat import Design, StratError
from strat.cli.app import app

RUNNER = CliRunner()


def _table(seed: int = 1, strata: int = 8) -> tuple[dict[str, np.ndarray], strat.Replicates]:
    rng = np.random.default_rng(seed)
    n = 2 * strata
    design = Design.stratified(np.repeat(np.arange(strata), 2), units=np.arange(n), weights=rng.uniform(5, 20, n))
    replicates = strat.brr(design)
    table = {"y": rng.normal(size=n), "w": design.weights, "id": np.arange(n)}
    weights = replicates.row_factors() * design.weights
    order = rng.permutation(len(weights))
    return table | {f"rep_{k + 1}": weights[k] for k in order}, replicates


def test_columns_by_prefix_give_the_replicates_back() -> None:
    table, replicates = _table()
    own = strat.estimate(strat.mean(table["y"]), on=replicates)
    design = Design.from_columns(table, weights="w")
    got = strat.given(design, weights=table, prefix="rep_", scale=1 / replicates.number)
    published = strat.estimate(strat.mean(table["y"]), on=got)
    assert (published.value, published.se) == pytest.approx((own.value, own.se))
    assert float(published.df) <= replicates.number - 1
    found = strat.evaluate(
        table, score="y", design=strat.Sampling(weights="w", replicate_weights="rep_", scale=1 / replicates.number)
    )
    assert found["mean"].se == pytest.approx(own.se)


def test_r_scales_multiply() -> None:
    table, replicates = _table()
    design, k = Design.from_columns(table, weights="w"), replicates.number
    given = {"weights": table, "prefix": "rep_"}
    whole = strat.given(design, **given, scale=0.5, rscales=np.full(k, 2 / k))
    assert strat.estimate(strat.mean(table["y"]), on=whole).se == pytest.approx(
        strat.estimate(strat.mean(table["y"]), on=strat.given(design, **given, scale=1 / k)).se
    )
    with pytest.raises(StratError, match="`rscales` must go with `scale`"):
        strat.given(design, **given, scales=np.ones(k), rscales=np.ones(k))


def test_deviations_from_the_mean_of_the_replicates() -> None:
    """R's svrVar with mse = FALSE: the replicates' mean in place of the full sample's value, never more."""
    table, replicates = _table()
    x = np.exp(table["y"])
    statistic = strat.ratio(table["y"] + 3, x)
    about_value, about_mean = (strat.estimate(statistic, on=on) for on in (replicates, replicates.about_mean()))
    w = replicates.row_factors() * table["w"]
    values = w @ (table["y"] + 3) / (w @ x)
    assert about_mean.se == pytest.approx(np.sqrt(((values - values.mean()) ** 2).mean()))
    assert about_value.se == pytest.approx(np.sqrt(((values - about_value.value) ** 2).mean()))
    assert about_mean.se < about_value.se
    design = Design.from_columns(table, weights="w")
    given = strat.given(design, weights=table, prefix="rep_", scale=1 / replicates.number, mse=False)
    assert strat.estimate(statistic, on=given).se == pytest.approx(about_mean.se)


def test_only_given_replicates_of_plain_rows_say_what_kind_of_design_they_are() -> None:
    """Of a design with strata more is known than its replicates; a jackknife adds nothing to its design."""
    rows, strata = Design.simple_random(n=4), Design.stratified([0, 0, 1, 1])
    factors = np.array([[2, 0, 2, 0], [0, 2, 0, 2]])
    assert (strat.given(rows, factors, scale=1 / 2).facts.kind, rows.facts.kind) == (
        "given replicates",
        "simple random",
    )
    assert strat.given(strata, factors, scale=1 / 2).facts == strata.facts
    assert strat.jackknife(rows).facts == rows.facts


def test_what_is_refused() -> None:
    table, replicates = _table()
    design = Design.from_columns(table, weights="w")
    with pytest.raises(StratError, match="`prefix` must start the names of some columns, got 'brr'"):
        strat.given(design, weights=table, prefix="brr", scale=1.0)
    with pytest.raises(StratError, match="`prefix` must come with a table of columns as `weights`, got None"):
        strat.given(design, prefix="rep_", scale=1.0)
    with pytest.raises(StratError, match="`prefix` must be text that starts the names of some columns, got -1"):
        strat.given(design, weights=table, prefix=-1, scale=1.0)  # type: ignore[arg-type]
    with pytest.raises(StratError, match="`scale` must be given beside `replicate_weights`"):
        strat.evaluate(table, score="y", design=strat.Sampling(weights="w", replicate_weights="rep_"))
    with pytest.raises(StratError, match="`weights` must name the column of full-sample weights"):
        strat.evaluate(table, score="y", design=strat.Sampling(replicate_weights="rep_", scale=0.1))
    with pytest.raises(StratError, match="`by` must be left out beside `replicate_weights`"):
        strat.evaluate(
            table, score="y", by="id", design=strat.Sampling(weights="w", replicate_weights="rep_", scale=0.1)
        )
    with pytest.raises(StratError, match="`scale` and `mse` must be left out without `replicate_weights`"):
        strat.evaluate(table, score="y", design=strat.Sampling(weights="w", scale=0.1))
    rows = np.stack([table[f"rep_{k + 1}"] for k in range(replicates.number)])
    with pytest.raises(StratError, match="`factors` must"):
        strat.given(design, rows, scale=0.1)  # weights in the place of factors


def _csv(path: Path, table: dict[str, np.ndarray]) -> str:
    names = list(table)
    lines = [",".join(names), *(",".join(repr(float(v)) for v in row) for row in zip(*table.values(), strict=True))]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def test_the_command_reads_them_too(tmp_path: Path) -> None:
    table, replicates = _table()
    file = _csv(tmp_path / "survey.csv", table)
    scale = 1 / replicates.number
    words = ["evaluate", file, "--score", "y", "--weights", "w", "--replicate-weights", "rep_", "--scale", str(scale)]
    result = RUNNER.invoke(app, [*words, "--json"])
    assert result.exit_code == 0, result.output
    se = json.loads(result.stdout)["measures"][0]["se"]
    assert se == pytest.approx(strat.estimate(strat.mean(table["y"]), on=replicates).se)


def test_the_commands_take_crossed_and_ordered_columns(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    reader, case = np.divmod(np.arange(60), 12)
    table = {"a": rng.random(60), "b": rng.random(60), "reader": reader, "case": case, "t": np.arange(60)}
    file = _csv(tmp_path / "t.csv", table)
    crossed = RUNNER.invoke(app, ["evaluate", file, "--score", "a", "--crossed", "reader,case"])
    assert crossed.exit_code == 0, crossed.output
    assert "5 levels of 'reader' × 12 levels of 'case'" in crossed.stdout
    both = RUNNER.invoke(app, ["compare", file, "--score", "a", "--score", "b", "--crossed", "reader,case"])
    assert "crossed: 60 rows" in both.stdout
    for words, kind in (
        (["--order", "t"], "systematic"),
        (["--units", "case", "--kinds", "reader"], "blocks"),
        (["--stages", "reader,case"], "staged"),
    ):
        result = RUNNER.invoke(app, ["evaluate", file, "--score", "a", *words])
        assert result.stdout.startswith(kind), result.output


def test_few_given_replicates_are_no_heavy_units() -> None:
    """Nine degrees of freedom of ten replicates were told as those of a few heavy units."""
    rng = np.random.default_rng(3)
    group = np.arange(50) % 10
    table = {"y": rng.random(50), "w": np.ones(50)}
    table |= {f"rw{k}": np.where(group == k, 0.0, 10 / 9) for k in range(10)}
    design = strat.Sampling(weights="w", replicate_weights="rw", scale=0.9)
    result = strat.evaluate(table, score="y", design=design)
    assert float(result["mean"].df) == 9
    assert "heavy-units" not in {getattr(note, "code", "") for note in result.notes}
