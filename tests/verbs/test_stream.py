"""Two passes over a large Parquet file give the numbers of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import strat
from strat import StratError
from strat.base.limits import changed
from strat.verbs import evaluate


@pytest.fixture
def large() -> Iterator[None]:
    with changed(rows_in_memory=0, exact_rows=0):
        yield


def _written(data: dict[str, Any], folder: Path) -> Path:
    import polars as pl

    path = folder / "rows.parquet"
    pl.DataFrame(data).write_parquet(path)
    return path


@pytest.mark.parametrize(
    "roles",
    [{}, {"strata": "subject"}, {"weights": "weight"}, {"strata": "subject", "weights": "weight", "population": 40}],
)
@pytest.mark.parametrize("labels", ["text", "numbers"])
def test_two_passes_are_the_rows(
    large: None, predictions: dict[str, np.ndarray], tmp_path: Path, roles: dict[str, Any], labels: str
) -> None:
    data = dict(predictions)
    if labels == "numbers":
        for name in ("truth", "guess"):
            data[name] = np.unique(data[name], return_inverse=True)[1].astype(np.int8) - 1
    path = _written(data, tmp_path)
    for asked in (
        {"truth": "truth", "predicted": "guess", "metrics": ["accuracy", "macro_f1", "kappa"]},
        {"truth": "cat", "score": "score"},
        {"truth": "truth", "predicted": "guess", "score": "weight", "metrics": ["accuracy", "mean"]},
    ):
        found = evaluate(path, **asked, design=strat.Sampling(units="passage", **roles))
        wanted = evaluate(data, **asked, design=strat.Sampling(units="passage", **roles))
        assert (found.design, found.target, found.rows) == (wanted.design, wanted.target, wanted.rows)
        for name, estimate in wanted.estimates.items():
            assert found[name].value == pytest.approx(estimate.value, rel=1e-12)
            assert found[name].se == pytest.approx(estimate.se, rel=1e-10)
            assert found[name].df == estimate.df
            assert found[name].deff == pytest.approx(estimate.deff, rel=1e-9)
            assert found.interval(name) == pytest.approx(wanted.interval(name), rel=1e-9)


@pytest.mark.parametrize(
    "roles", [{}, {"weights": "weight"}, {"strata": "subject", "weights": "weight", "population": 40}]
)
def test_a_class_counts_the_units_that_it_reaches(
    large: None, predictions: dict[str, np.ndarray], tmp_path: Path, roles: dict[str, Any]
) -> None:
    """Recall of a rare class that is always found: its interval rests on the few units that have it."""
    rare = (predictions["cat"] == 1) & (predictions["passage"] < 24) & (np.arange(2000) % 4 == 0)
    data = {**predictions, "rare": rare.astype(int), "said": (rare | (np.arange(2000) % 7 == 0)).astype(int)}
    ask = {"truth": "rare", "predicted": "said", "metrics": ["recall", "precision", "specificity", "accuracy"]}
    found = evaluate(_written(data, tmp_path), **ask, design=strat.Sampling(units="passage", **roles))
    wanted = evaluate(data, **ask, design=strat.Sampling(units="passage", **roles))
    assert wanted["recall"].df < wanted["precision"].df
    for name, estimate in wanted.estimates.items():
        assert found[name].df == estimate.df
        assert found[name].effective_units == pytest.approx(estimate.effective_units, rel=1e-12)
        assert found.interval(name) == pytest.approx(wanted.interval(name), rel=1e-10)


@pytest.mark.parametrize("roles", [{}, {"strata": "subject", "weights": "weight"}])
def test_measures_of_each_class(
    large: None, predictions: dict[str, np.ndarray], tmp_path: Path, roles: dict[str, str]
) -> None:
    ask: dict[str, Any] = {"truth": "truth", "predicted": "guess", "metrics": ["recall", "f1"], "average": None}
    found = evaluate(_written(predictions, tmp_path), **ask, design=strat.Sampling(units="passage", **roles))
    wanted = evaluate(predictions, **ask, design=strat.Sampling(units="passage", **roles))
    for name in ("recall", "f1"):
        np.testing.assert_allclose(found[name].value, wanted[name].value, rtol=1e-12)
        np.testing.assert_allclose(found[name].covariance, wanted[name].covariance, rtol=1e-8, atol=1e-15)
        np.testing.assert_allclose(found[name].df, wanted[name].df)


@pytest.mark.parametrize("roles", [{}, {"units": "passage"}, {"strata": "subject", "units": "passage"}])
def test_quantiles_are_those_of_the_rows(
    large: None, predictions: dict[str, np.ndarray], tmp_path: Path, roles: dict[str, Any]
) -> None:
    def median(truth: Any, predicted: Any) -> Any:
        return strat.quantile(truth, 0.5)

    data = {**predictions, "hours": (np.arange(2000) * 7919) % 173 + 0.5}
    ask = {"truth": "hours", "predicted": "guess", "metrics": median, **roles}
    found = evaluate(_written(data, tmp_path), **ask)["median"]
    columns = {role: data[name] for role, name in roles.items()}
    design = strat.Design.clustered(**columns) if columns else strat.Design.simple_random(2000)
    wanted = strat.estimate(strat.quantile(data["hours"], 0.5), on=design)
    assert (found.value, found.df) == (wanted.value, wanted.df)
    assert found.se == pytest.approx(wanted.se, rel=1e-10)
    assert found.interval() == pytest.approx(wanted.interval(), rel=1e-12)


def test_many_scores_are_binned_finely(large: None, predictions: dict[str, np.ndarray], tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    unit = rng.integers(0, 50, 20_000)
    truth = rng.integers(0, 2, 20_000)
    data = {"u": unit, "y": truth, "s": rng.normal(truth * 0.8 + 0.3 * (unit % 5), 1)}
    found = evaluate(_written(data, tmp_path), truth="y", score="s", units="u")
    wanted = evaluate(data, truth="y", score="s", units="u")
    assert found.notes[0].facts["bins"] == 65536
    assert found["auc"].value == pytest.approx(wanted["auc"].value, abs=1e-4)
    assert found["auc"].se == pytest.approx(wanted["auc"].se, rel=1e-3)


def test_missing_units_are_found_in_the_second_pass(
    large: None, predictions: dict[str, np.ndarray], tmp_path: Path
) -> None:
    units: list[Any] = predictions["passage"].tolist()
    units[:4] = [None] * 4
    path = _written({**predictions, "passage": units}, tmp_path)
    with pytest.raises(StratError, match="`passage` has 4 missing"):
        evaluate(path, truth="truth", predicted="guess", units="passage")
    found = evaluate(path, truth="truth", predicted="guess", units="passage", missing="drop")
    assert found.dropped == 4


def test_missing_labels_are_found_in_the_first_pass(
    large: None, predictions: dict[str, np.ndarray], tmp_path: Path
) -> None:
    guess: list[Any] = predictions["guess"].tolist()
    guess[:4] = [None] * 4
    path = _written({**predictions, "guess": guess}, tmp_path)
    with pytest.raises(StratError, match="`guess` has 4 missing"):
        evaluate(path, truth="truth", predicted="guess", units="passage")
    found = evaluate(path, truth="truth", predicted="guess", units="passage", missing="drop", metrics="accuracy")
    rest = {name: values[4:] for name, values in predictions.items()}
    wanted = evaluate(rest, truth="truth", predicted="guess", units="passage", metrics="accuracy")
    assert found["accuracy"].se == pytest.approx(wanted["accuracy"].se, rel=1e-10)


def test_subjects_as_units_are_warned_about_here_too(
    large: None, predictions: dict[str, np.ndarray], tmp_path: Path
) -> None:
    path = _written(predictions, tmp_path)
    found = evaluate(path, truth="truth", predicted="guess", units="subject")
    assert (found.notes[0].code, found.notes[0].facts["levels"]) == ("units-look-like-strata", 4)


@pytest.mark.parametrize("weighted", [False, True])
def test_cautions_are_those_of_the_rows(large: None, tmp_path: Path, weighted: bool) -> None:
    rng = np.random.default_rng(2)
    unit = np.repeat(np.arange(60), rng.integers(2, 8, 60))
    truth = rng.integers(0, 2, len(unit))
    wrong = np.isin(unit, [3, 4]) & (rng.random(len(unit)) < 0.8)
    data = {
        "truth": truth,
        "guess": np.where(wrong, 1 - truth, truth),
        "score": rng.lognormal(size=len(unit)),
        "u": unit,
    }
    roles: dict[str, Any] = {"truth": "truth", "predicted": "guess", "score": "score", "units": "u"}
    if weighted:
        data["w"] = np.exp(2.0 * rng.standard_normal(60))[unit]
        roles["weights"] = "w"
    metrics = ["accuracy", "mean"]
    rows = evaluate(data, **roles, metrics=metrics)
    file = evaluate(_written(data, tmp_path), **roles, metrics=metrics)
    for name in metrics:
        assert file[name].notes == rows[name].notes
    assert any("hold the rarer outcome" in note for note in rows["accuracy"].notes)
    assert any("most of the weight" in note for note in rows["accuracy"].notes) == weighted
