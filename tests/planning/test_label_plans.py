"""Labels for a width: the formula, what is saved, and errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from strat.base.errors import StratError
from strat.cli.app import app
from strat.measures.student import critical
from strat.planning import labels_for_width
from strat.verbs.two_phase import pilot_of_labels


def test_the_width_is_that_of_the_regression_estimator() -> None:
    plan = labels_for_width(width=0.05, rows=20_000, correlation=0.6, deviation=0.4)
    n = plan.number
    width = 2 * critical(0.95, n - 1) * 0.4 * np.sqrt((1 - 0.36) / n + 0.36 / 20_000)
    assert plan.plan.reached == pytest.approx(float(width))
    assert width <= 0.05 < 2 * critical(0.95, n - 2) * 0.4 * np.sqrt((1 - 0.36) / (n - 1) + 0.36 / 20_000)


def test_a_proxy_without_correlation_saves_nothing() -> None:
    assert labels_for_width(width=0.1, rows=5000, correlation=0.0, proportion=0.5).saved == 0


def test_a_better_proxy_saves_more() -> None:
    saved = [labels_for_width(width=0.1, rows=5000, correlation=r, proportion=0.5).saved for r in (0.3, 0.6, 0.9)]
    assert saved == sorted(saved)


def test_the_sign_of_the_correlation_does_not_matter() -> None:
    one, other = (labels_for_width(width=0.1, rows=5000, correlation=r, proportion=0.5).number for r in (0.7, -0.7))
    assert one == other


@pytest.mark.parametrize("rows", [100, 160, 5000])
def test_the_curve_ends_at_the_rows_there_are(rows: int) -> None:
    """No more rows can be labelled than the proxy has judged."""
    plan = labels_for_width(width=0.25, rows=rows, correlation=0.3, proportion=0.5)
    assert plan.number <= plan.plan.sizes.max() <= rows
    assert plan.alone <= rows


def _judged(rows: int = 4000) -> dict[str, object]:
    """A judge of every row, and labels of those that it doubts, with the probability of each."""
    rng = np.random.default_rng(1)
    judge = rng.random(rows)
    human = (rng.random(rows) < judge).astype(float)
    chance = 0.05 + 0.9 * 4 * judge * (1 - judge)
    labelled = rng.random(rows) < chance
    return {"human": np.where(labelled, human, np.nan), "judge": judge, "p": np.where(labelled, chance, np.nan),
            "all": human}  # fmt: skip


def test_labels_drawn_with_unequal_probabilities_count_by_their_inverse() -> None:
    table = _judged()
    whole = np.corrcoef(table["all"], table["judge"])[0, 1]
    _, plain, _ = pilot_of_labels(table, score="human", proxy="judge")
    _, weighted, deviation = pilot_of_labels(table, score="human", proxy="judge", probability="p")
    assert abs(weighted - whole) < 0.05 < whole - plain
    assert deviation == pytest.approx(np.std(table["all"]), abs=0.02)


def test_equal_probabilities_change_nothing() -> None:
    table = _judged()
    same = {**table, "p": np.where(np.isnan(table["human"]), np.nan, 0.25)}
    assert pilot_of_labels(same, score="human", proxy="judge", probability="p") == pytest.approx(
        pilot_of_labels(table, score="human", proxy="judge")
    )


def test_the_probabilities_are_an_option_of_the_command(tmp_path: Path) -> None:
    pd.DataFrame(_judged()).to_csv(tmp_path / "judged.csv", index=False)
    words = ["plan", "labels", str(tmp_path / "judged.csv"), "--score", "human", "--proxy", "judge", "--width", "0.1"]
    done = CliRunner().invoke(app, [*words, "--probability", "p", "--json"])
    assert done.exit_code == 0, done.output
    plain = CliRunner().invoke(app, [*words, "--json"])
    assert json.loads(done.output)["number"] < json.loads(plain.output)["number"]
    assert max(json.loads(done.output)["curve"]["size"]) <= 4000
    wrong = CliRunner().invoke(app, [*words, "--probability", "q"])
    assert "`--probability` must name a column" in str(wrong.exception)


def test_errors() -> None:
    with pytest.raises(StratError, match=r"`proportion` .* or `deviation` .* must be given"):
        labels_for_width(width=0.1, rows=100, correlation=0.5)
    with pytest.raises(StratError, match="`rows` must be from 3"):
        labels_for_width(width=0.1, rows=0, correlation=0.5, proportion=0.5)
    with pytest.raises(StratError, match="`correlation` must lie from -1 to 1"):
        labels_for_width(width=0.1, rows=100, correlation=2.0, proportion=0.5)
    with pytest.raises(StratError, match="`width` must be one that 100 rows can give"):
        labels_for_width(width=0.01, rows=100, correlation=0.5, proportion=0.5)
