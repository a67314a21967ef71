"""What bins of scores change is at most what the note says, for every measure; others are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import strat
from strat.base.errors import StratError
from strat.measures.register import every
from strat.verbs.binning_bounds import BOUNDED

REFUSED = ("calibration_slope", "calibration_intercept", "interval_share")
TAKES = {  # what a measure is asked with, where that is not its name and a truth, a risk and a score
    "quantile": {"metrics": "quantile@0.8"},
    "latency": {"metrics": "latency@0.9"},
    "partial_auc@": {"metrics": "partial_auc@0.7"},
    "tpr@": {"metrics": "tpr@0.05"},
    "fnmr@": {"metrics": "fnmr@0.05"},
    "net_benefit": {"metrics": "net_benefit@0.2"},
    "harrell_c": {"truth": "time", "predicted": "event"},
    "cost_per_success": {"predicted": "event"},
    "ratio": {"truth": "length"},
    "mase": {"truth": "length"},
}
MEASURES = {
    one.name: one for one in every() if "score" in one.needs and one.of_tables and one.of != "item"
}  # of a score for each row


def _rows(seed: int, kind: str) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = (rng.random(400) < 0.3).astype(int)
    score = {
        "smooth": 1 / (1 + np.exp(-rng.normal(1.6 * truth - 1, 1))),
        "at an end": rng.beta(0.1, 3.0 - truth),
        "tied": np.round(1 / (1 + np.exp(-rng.normal(1.6 * truth - 1, 2))), 2) * 0.9 + 0.01,
    }[kind]
    return {
        "truth": truth,
        "predicted": np.clip(score + rng.normal(0, 0.02, 400), 0, 1),
        "score": score,
        "time": rng.integers(1, 60, 400),
        "event": rng.integers(0, 2, 400),
        "length": rng.integers(1, 9, 400),
        "unit": rng.integers(0, 40, 400),
        "group": rng.integers(0, 3, 400),
        "weight": rng.integers(1, 4, 400),
    }


def _asked(name: str) -> dict[str, Any]:
    metric = MEASURES[name]
    positive = {"positive": 1} if metric.looks_at_one_class else {}
    roles = {role: role for role in metric.needs}
    return {"metrics": name, "units": "unit", **positive, **roles, **TAKES.get(name, {})}


def test_every_measure_of_scores_has_a_bound_or_is_refused() -> None:
    assert set(MEASURES) == {*BOUNDED, *REFUSED}


@pytest.mark.parametrize("kind", ["smooth", "at an end", "tied"])
@pytest.mark.parametrize("name", BOUNDED)
def test_bins_move_no_value_by_more_than_the_note_says(name: str, kind: str) -> None:
    for seed, more in enumerate([{}, {"weights": "weight"}, {"by": "group"}]):
        data, asked = _rows(seed, kind), {**_asked(name), **more}
        binned, exact = strat.evaluate(pl.DataFrame(data).lazy(), bins=12, **asked), strat.evaluate(data, **asked)
        (note,) = [one for one in binned.notes if one.code == "scores-binned"]
        (word,) = exact.estimates
        rounding = 1e-12 * (1 + abs(float(exact[word].value)))
        assert 0 < note.facts["bound"] < np.inf
        assert abs(binned[word].value - exact[word].value) <= note.facts["bound"] + rounding
        if "by" in more:
            each, true = binned.groups[word].each, exact.groups[word].each
            assert max(abs(each[group].value - true[group].value) for group in true) <= note.facts["within"] + rounding


@pytest.mark.parametrize("name", ["auc", "average_precision", "log_loss", "mean", "equal_error_rate"])
def test_bounds_shrink_with_the_bins(name: str) -> None:
    table, bounds = pl.DataFrame(_rows(5, "smooth")).lazy(), []
    for bins in (8, 64, 512):
        note = next(one for one in strat.evaluate(table, bins=bins, **_asked(name)).notes if "bound" in one.facts)
        bounds.append(note.facts["bound"])
    assert bounds[1] < bounds[0] / 3
    assert bounds[2] < bounds[1] / 3


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_bound_is_refused(name: str) -> None:
    with pytest.raises(StratError, match=f"must have a bound for what bins change, got '{name}' of 400 rows"):
        strat.evaluate(pl.DataFrame(_rows(0, "smooth")).lazy(), bins=12, **_asked(name))
