"""`strat check`: samples like one's own, with a known truth, tell intervals that hold from those that don't."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import strat
from strat import StratError
from strat.base.notes import codes_of
from strat.cli import main
from strat.datasets import clustered_predictions
from strat.measures.register import spellings
from strat.verbs.check import DRAWN, check
from strat.verbs.check_result import sheet
from strat.verbs.check_trials import Line, limits_of_samples
from strat.verbs.metrics import chosen
from strat.verbs.metrics import named as of_name
from strat.verbs.simulate import shapes, simulator
from strat.verbs.simulate_crossed import crossed_simulator

LABELS = {"truth": "truth", "predicted": "predicted"}


@pytest.fixture(scope="module")
def clustered() -> dict[str, np.ndarray]:
    return clustered_predictions(units=30, per_unit=10, accuracy=0.85, icc=0.3, rng=5)


def test_it_tells_what_holds_from_what_does_not() -> None:
    """With 30 units, one bad in ten of them, no interval of ours holds; with 150 the default one does."""
    clustered = clustered_predictions(units=150, per_unit=10, accuracy=0.85, icc=0.3, rng=5)
    (found,) = check(clustered, **LABELS, units="unit", metrics="accuracy", trials=200)
    assert found["default"].verdict() != "too short"
    assert found["rows as independent"].verdict() == "too short"
    assert found["default"].width > 1.3 * found["rows as independent"].width
    assert set(found.shapes) == {"beta", "logit-normal", "one bad in ten"}
    assert found["default"].coverage == min(found.shapes.values()) == found.shapes[found.shape]
    assert found.trials == 200


def test_independent_rows_need_no_units() -> None:
    rng = np.random.default_rng(1)
    table = {"right": (rng.random(300) < 0.8).astype(int)}
    (found,) = check(table, score="right", trials=600)
    assert found.holds
    assert "it holds" in str(found)
    assert found["rows as independent"].verdict() == "holds"
    assert "intraclass correlation 0.00" in found.assumption


def test_few_units_are_never_said_to_hold() -> None:
    """Fewer than 29 units can't show a bad kind of one in ten, whether they differ or not; more of them can."""
    rng, answers = np.random.default_rng(3), {}
    for units in (20, 60):
        unit = np.repeat(np.arange(units), 10)
        right = (rng.random(len(unit)) < np.where(unit % 2, 0.65, 0.9)).astype(int)  # not calm
        (found,) = check({"unit": unit, "right": right}, score="right", units="unit", trials=60)
        answers[units] = found
        assert found.few_units == (units == 20)
    line = Line("default", 0.95, 0.005, 0.1, 0.0)
    few, enough = (replace(answers[units], lines=(line,)) for units in (20, 60))
    assert not few.holds
    assert "only if other units differ no more than these few" in str(few)
    assert any("12% have no unit of a kind" in note for note in few.notes)
    assert enough.holds
    assert str(enough).endswith("it holds.")


def test_errors_in_few_units_leave_a_doubt() -> None:
    """The estimate notes that its interval may be too short, and the check does not say the contrary."""
    unit = np.repeat(np.arange(80), 10)
    right = np.where((unit < 3) & (np.arange(800) % 10 < 4), 0, 1)
    (found,) = check({"unit": unit, "right": right}, score="right", units="unit", trials=50)
    assert "few-holders" in codes_of(found.notes)
    sure = replace(found, lines=(Line("default", 0.95, 0.005, 0.1, 0.0),))
    assert not sure.holds
    assert "may show too little" in str(sure)
    assert replace(sure, notes=()).holds


def test_measures_of_labels_and_of_scores(clustered: dict[str, np.ndarray]) -> None:
    found = check(clustered, **LABELS, score="score", units="unit", metrics=["kappa", "auc"], trials=100)
    assert [one.metric for one in found] == ["kappa", "auc"]
    for one in found:
        assert 0.85 <= one["default"].coverage <= 1.0
        assert 0 < one["default"].width < 1


def test_without_an_error_the_population_still_has_some() -> None:
    table = {"y": ["a", "b"] * 30, "said": ["a", "b"] * 30}
    (found,) = check(table, truth="y", predicted="said", metrics="accuracy", trials=200)
    assert found["default"].coverage > 0.9
    assert found["t"].useless == 0  # at the edge every method is exact


def test_weights_without_an_error() -> None:
    rng = np.random.default_rng(3)
    table = {"right": np.ones(60), "w": np.exp(1.5 * rng.normal(size=60))}
    (found,) = check(table, score="right", weights="w", trials=100)
    assert found["default"].useless == 0
    assert [line.method for line in found.lines][:4] == ["default", "t", "wilson", "exact"]


def test_few_and_unequal_units_are_named() -> None:
    unit = np.repeat(np.arange(6), [1, 1, 1, 1, 1, 95])
    rng = np.random.default_rng(2)
    (found,) = check({"u": unit, "s": rng.normal(size=100)}, score="s", units="u", trials=100)
    assert any("With 5 degrees of freedom every interval is wide" in note for note in found.notes)
    assert set(found.estimate.notes) <= set(found.notes)
    assert any("effective degrees of freedom" in note for note in found.notes)


@pytest.mark.parametrize("shape", ["beta", "logit-normal", "one bad in ten"])
def test_samples_keep_the_rate_and_the_intraclass_correlation(shape: str) -> None:
    t = clustered_predictions(units=400, per_unit=10, accuracy=0.8, icc=0.3, classes=3, rng=1)
    design = strat.Design.clustered(units=t["unit"])
    columns = {"truth": t["truth"], "predicted": t["predicted"], "positive": None}
    assert shape in shapes(columns, design)
    source = simulator(columns, design, shape)
    rng = np.random.default_rng(0)
    drawn = [source.draw(rng) for _ in range(20)]
    right = np.array([(c["truth"] == c["predicted"]).astype(float) for c, _ in drawn])
    assert right.mean() == pytest.approx((t["truth"] == t["predicted"]).mean(), abs=0.01)
    icc = np.mean([strat.intraclass_correlation(r, d.unit) for r, (_, d) in zip(right, drawn, strict=True)])
    assert icc == pytest.approx(strat.intraclass_correlation((t["truth"] == t["predicted"]) * 1.0, t["unit"]), abs=0.07)
    expected, mass = source.expected()
    assert float(strat.accuracy(expected["truth"], expected["predicted"]).value(mass)) == pytest.approx(
        right.mean(), abs=0.01
    )


def test_whole_units_are_drawn_with_their_rows_weights_and_labels() -> None:
    unit = np.repeat([0, 1, 2, 3], [1, 2, 3, 4])
    table = {"truth": unit, "predicted": unit, "positive": None}
    design = strat.Design.clustered(units=unit, strata=unit // 2, weights=1.0 + unit)
    columns, drawn = simulator(table, design, "beta").draw(np.random.default_rng(3))
    for new in range(4):
        (label,) = np.unique(columns["truth"][drawn.unit == new])
        assert (drawn.unit == new).sum() == label + 1  # all rows of that unit
        assert (drawn.weights[drawn.unit == new] == 1 + label).all()
        assert label // 2 == new // 2  # of the same stratum


def test_scores_keep_their_variance_between_units() -> None:
    rng = np.random.default_rng(4)
    unit = np.repeat(np.arange(200), 5)
    score = rng.normal(size=200)[unit] + rng.normal(size=1000)
    design = strat.Design.clustered(units=unit)
    for shape in ("as observed", "normal", "one bad in ten"):
        source = simulator({"score": score, "positive": None}, design, shape)
        drawn = [source.draw(rng) for _ in range(30)]
        icc = np.mean([strat.intraclass_correlation(c["score"], d.unit) for c, d in drawn])
        assert icc == pytest.approx(strat.intraclass_correlation(score, unit), abs=0.05)


def test_samples_without_a_class_are_left_out_and_counted() -> None:
    table = {"truth": [1, 1, 0, 0, 0, 0, 0, 0], "predicted": [1, 0, 0, 0, 0, 1, 0, 0]}
    (found,) = check(table, **LABELS, metrics="recall", trials=100)
    assert "undefined-samples" in codes_of(found.notes)


def test_same_seed_same_answer_and_other_seed_another(clustered: dict[str, np.ndarray]) -> None:
    asked = {**LABELS, "units": "unit", "metrics": "accuracy", "trials": 50}
    first, second, third = (check(clustered, **asked, rng=seed)[0] for seed in (1, 1, 2))
    assert first.lines == second.lines
    assert first.lines != third.lines


def test_verdicts() -> None:
    assert Line("x", 0.90, 0.01, 0.1, 0.0).verdict() == "too short"
    assert Line("x", 0.93, 0.01, 0.1, 0.0).verdict() == "undecided"
    assert Line("x", 0.95, 0.005, 0.1, 0.0).verdict() == "holds"
    assert Line("x", 0.99, 0.005, 0.1, 0.0).verdict() == "too wide"
    assert Line("x", 0.90, 0.009, 0.1, 0.0).verdict(0.9) == "holds"


def test_strata_weights_and_items(clustered: dict[str, np.ndarray]) -> None:
    table = {**clustered, "fold": clustered["unit"] // 10, "w": 1.0 + clustered["unit"] % 3}
    (found,) = check(table, **LABELS, strata="fold", items="unit", weights="w", metrics="macro_f1", trials=60)
    assert "30 units in 3 folds of 10 with repeats" in found.design
    asked = {**LABELS, "strata": "fold", "items": "unit", "weights": "w", "metrics": "macro_f1"}
    assert found.design == strat.evaluate(table, **asked).design
    assert sheet([found]).schema == "strat/check/2"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trials": 3}, "`trials` must be a whole number of at least 50, got 3"),
        ({"level": 2.0}, "`level` must lie strictly between 0 and 1, got 2.0"),
        ({"rng": -1}, "`rng` must be a seed of 0 or more or a NumPy generator, got -1"),
        ({"units": "gone"}, "`units` must name a column"),
        ({"weights": "predicted"}, "`weights` must name a column of numbers, got text in 'predicted'"),
    ],
)
def test_errors_say_what_to_do(options: dict[str, object], message: str) -> None:
    table = {"truth": ["a", "b", "a"], "predicted": ["a", "b", "b"]}
    with pytest.raises(StratError, match=message):
        check(table, **LABELS, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "roles"), [("pass@2", "`score` and `items`"), ("cost_per_success", "`score` and `predicted`")]
)
def test_measures_that_no_sample_is_drawn_for_are_refused(name: str, roles: str) -> None:
    table = {"right": [0, 1] * 10, "cost": [1.0, 2.0] * 10, "item": [k // 2 for k in range(20)]}
    score = {"score": "right"} if name == "pass@2" else {"predicted": "right", "score": "cost"}
    with pytest.raises(StratError, match=f"`metrics` must be measures of rows here, got '{name}', which takes {roles}"):
        check(table, **score, items="item", metrics=name, trials=50)


def test_every_measure_is_drawn_for_or_refused_by_name() -> None:
    table = {"y": [0, 1] * 10, "guess": [0, 1, 1, 1] * 5, "score": [0.2, 0.7, 0.4, 0.9] * 5, "item": list(range(20))}
    roles = {"truth": "y", "predicted": "guess", "score": "score", "items": "item"}
    of_drawn = [{"truth", "predicted"}, {"truth", "score"}, {"score"}]
    for name in (*spellings(), "majority@2", "best@2", "mean@2", "pass^2", "net_benefit@0.2"):
        needs = of_name(name).needs
        asked = {role: column for role, column in roles.items() if role in (*needs, "items")}
        if set(needs) in of_drawn:
            assert frozenset(needs) in DRAWN
        else:
            with pytest.raises(StratError, match="must be measures of rows here"):
                check(table, **asked, metrics=name, trials=50)


def _ratings(judges: int, items: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    judge, item = np.divmod(np.arange(judges * items), items)
    latent = 0.5 + rng.normal(size=judges)[judge] + 0.7 * rng.normal(size=items)[item] + rng.normal(size=judges * items)
    return {"good": (latent > 0).astype(int), "judge": judge, "item": item}


def test_crossed_factors_are_both_drawn_anew() -> None:
    table = _ratings(15, 60, 2)
    (one,) = check(table, score="good", trials=200, design=strat.Sampling(crossed=["judge", "item"]))
    assert set(one.shapes) == {"as estimated", "at their upper quartile"}
    assert one["default"].verdict() != "too short"
    assert one["rows as independent"].verdict() == "too short"
    assert [line.method for line in one.lines] == ["default", "t", "wilson", "exact", "rows as independent"]
    assert "variance components: as estimated" in str(sheet([one]).notes)


def test_samples_of_crossed_factors_are_as_correlated_as_the_data() -> None:
    """The variance of the drawn means is that of the estimate, and their mean is the truth."""
    table = _ratings(30, 40, 3)
    design = strat.Design.crossed({"judge": table["judge"], "item": table["item"]})
    source = crossed_simulator({"score": table["good"]}, design, "as estimated")
    rng = np.random.default_rng(4)
    means = [source.draw(rng)[0]["score"].mean() for _ in range(400)]
    own = strat.estimate(strat.proportion(table["good"] == 1), on=design)
    columns, mass = source.expected()
    assert np.mean(means) == pytest.approx(float(mass @ columns["score"] / mass.sum()), abs=4 * own.se / 20)
    assert np.std(means) == pytest.approx(float(own.se), rel=0.15)


def test_an_unknown_method_is_named(clustered: dict[str, np.ndarray]) -> None:
    (found,) = check(clustered, **LABELS, metrics="accuracy", trials=50)
    with pytest.raises(StratError, match="`method` must be one of"):
        found["magic"]


def test_the_command(clustered: dict[str, np.ndarray], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answers.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(clustered)
        writer.writerows(zip(*clustered.values(), strict=True))
    factors = ["--score", "right", "--crossed", "unit,nobody"]
    with pytest.raises(SystemExit):
        main(["check", str(path), *factors])
    assert "must name a column" in capsys.readouterr().err
    asked = ["check", str(path), "--truth", "truth", "--predicted", "predicted", "--units", "unit", "--trials", "60"]
    with pytest.raises(SystemExit) as done:
        main([*asked, "--metric", "accuracy", "--json"])
    assert done.value.code == 0
    data = json.loads(capsys.readouterr().out)
    assert data["schema"] == "strat/check/2"
    assert data["measures"][0]["intervals"][0]["method"] == "default"
    with pytest.raises(SystemExit) as done:
        main([*asked, "--metric", "nonsense"])
    assert done.value.code == 1
    assert "`--metric` must be names of measures" in capsys.readouterr().err


@pytest.mark.parametrize("sizes", [np.full(12, 5), np.arange(3, 15)], ids=["equal", "unequal"])
def test_limits_made_for_many_samples_are_those_of_each(sizes: np.ndarray) -> None:
    unit = np.repeat(np.arange(12), sizes)
    right = (np.arange(len(unit)) % 6 > 0).astype(float)
    source = simulator({"score": right}, strat.Design.clustered(units=unit), "beta")
    (mean,) = chosen("mean", {"score": "right"})
    limits = limits_of_samples(mean, source, 0.95, 9, np.random.default_rng(1), None)
    others = limits_of_samples(mean, source, 0.95, 9, np.random.default_rng(1), None, others=True)
    rng = np.random.default_rng(1)
    for i in range(9):
        columns, design = source.draw(rng)
        alone = strat.estimate(mean.build(columns), on=design).interval()
        assert limits["default"][i] == pytest.approx(alone, abs=1e-4)
    assert len(limits["default"]) == 9
    assert len(others["t"]) == 3  # others are tried in every third sample
