"""One value says how rows were drawn: the numbers of its parts, in every call that takes it, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import strat
from strat.base.errors import StratError
from strat.cli.app import app
from strat.data import read
from strat.designs.sampling import Sampling

RATINGS = 30


@pytest.fixture
def ratings() -> dict[str, np.ndarray]:
    """Twelve judges on thirty items, two systems, and a place along which the rows lie."""
    rng = np.random.default_rng(3)
    judge, item = (axis.ravel() for axis in np.meshgrid(range(12), range(RATINGS), indexing="ij"))
    easy = rng.normal(size=RATINGS)[item] + 0.5 * rng.normal(size=12)[judge]
    leaning = 0.8 * rng.normal(size=12)[judge]  # what judges think of the new system in particular
    old, new = ((easy + rng.normal(size=judge.size) > cut).astype(float) for cut in (0.3, -1.2 + leaning))
    return {"judge": judge, "item": item, "old": old, "new": new, "place": np.arange(judge.size)}


@pytest.mark.parametrize(
    "parts",
    [
        {"units": "item"},
        {"strata": "judge", "units": "row", "weights": "heavy"},
        {"strata": "judge", "items": "row", "lone": "collapse"},
        {"strata": "judge", "units": "item", "nested": True},
    ],
)
def test_the_parts_and_the_whole_say_the_same(ratings: dict[str, np.ndarray], parts: dict[str, Any]) -> None:
    table = {**ratings, "row": ratings["place"], "heavy": 1.0 + ratings["item"] % 3}
    by_parts = strat.evaluate(table, score="new", **parts)
    whole = strat.evaluate(table, score="new", design=strat.Sampling(**parts))
    assert str(by_parts) == str(whole)


def test_the_design_by_columns_is_the_design_of_arrays(ratings: dict[str, np.ndarray]) -> None:
    factors = {name: ratings[name] for name in ("judge", "item")}
    own = strat.estimate(strat.mean(ratings["new"] - ratings["old"]), on=strat.Design.crossed(factors))
    board = strat.compare(ratings, score=["old", "new"], design=strat.Sampling(crossed=["judge", "item"]))
    gap = board.difference("new", "old")
    assert (float(gap.value), float(gap.se)) == pytest.approx((float(own.value), float(own.se)), rel=1e-9)


@pytest.mark.parametrize(
    "design",
    [
        strat.Sampling(crossed=["judge", "item"]),
        strat.Sampling(order="place"),
        strat.Sampling(stages=["judge", "item"]),
        strat.Sampling(units="judge", kinds="item"),
        strat.Sampling(units="item", population=900),
    ],
)
def test_a_gate_takes_every_design(ratings: dict[str, np.ndarray], design: strat.Sampling) -> None:
    """Its limits are the one-sided ones of the comparison of the same design."""
    result = strat.gate(ratings, score=["old", "new"], baseline="old", margin=0.02, design=design)
    board = strat.compare(ratings, score=["old", "new"], baseline="old", design=design)
    low, _ = board.comparison.interval(0.9)
    sign = 1.0 if board.comparison.names[0] == "new" else -1.0
    assert result.answer == "not worse"
    assert result.checks[0].low == pytest.approx(sign * low)


def test_a_gate_of_crossed_ratings_on_the_command_line(ratings: dict[str, np.ndarray], tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    names = list(ratings)
    rows = zip(*(ratings[name].tolist() for name in names), strict=True)
    file.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n")
    typed = ["gate", str(file), "--score", "old", "--score", "new", "--baseline", "old", "--margin", "0.02"]
    done = CliRunner().invoke(app, [*typed, "--crossed", "judge,item"])
    assert done.exit_code == 0, done.output
    assert "The variance comes from judge" in done.output
    wrong = CliRunner().invoke(app, [*typed, "--crossed", "judge"])
    assert str(wrong.exception) == "`--crossed` must name two to 4 columns, got 1."


def test_a_gate_against_a_stored_baseline_knows_the_design(ratings: dict[str, np.ndarray], tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    strat.verbs.save_baseline(ratings, file, items="place", score="old")
    design = strat.Sampling(crossed=["judge", "item"])
    stored = strat.gate(ratings, score="new", items="place", baseline=file, margin=0.02, design=design)
    beside = strat.gate(ratings, score=["old", "new"], baseline="old", margin=0.02, design=design)
    assert stored.checks[0].low == pytest.approx(beside.checks[0].low)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"crossed": ["a", "b"], "order": "c"}, "`order` must be left out beside `crossed`: a design is of one kind"),
        ({"crossed": "a"}, "`crossed` must name two to 4 columns, got 1"),
        ({"start": 3}, "`start` must go with `order`"),
        ({"differences": 2}, "`differences` must go with `order`"),
        ({"population": ["a", "b"]}, "`population` must be one column without `stages`, got 2"),
        ({"stages": ["a", "b"], "population": "c"}, r"`population` must name a column for each stage \(2\), got 1"),
        ({"replicate_weights": "rep", "scale": 0.1}, "`weights` must name the column of full-sample weights"),
        ({"replicate_weights": "rep", "weights": "w"}, "`scale` must be given beside `replicate_weights`"),
        ({"scale": 0.1}, "`scale` and `mse` must be left out without `replicate_weights`"),
        ({"lone": "drop"}, "`lone` must be one of"),
        ({"units": [1, 2]}, r"`units` must be the name of a column, got \[1, 2\]"),
        ({"crossed": [1, 2]}, r"`crossed` must be a list of names of columns, got \[1, 2\]"),
    ],
)
def test_what_can_not_come_together(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(StratError, match=message):
        strat.Sampling(**parts)


def test_what_is_said_twice_or_to_the_wrong_call(ratings: dict[str, np.ndarray]) -> None:
    with pytest.raises(StratError, match=r"`units` must be left out beside `design`, got 'item'; say it there"):
        strat.evaluate(ratings, score="new", units="item", design=strat.Sampling(population=50))
    with pytest.raises(StratError, match=r"`design` must be .*Sampling.*got a Design"):
        strat.evaluate(ratings, score="new", design=strat.Design.simple_random(n=360))  # type: ignore[arg-type]
    with pytest.raises(StratError, match="`items` must be given beside `design`, not in it"):
        strat.compare(ratings, score=["old", "new"], design=strat.Sampling(items="item"))
    with pytest.raises(StratError, match="`replicate_weights` must be left out here"):
        strat.compare(
            ratings, score=["old", "new"], design=strat.Sampling(weights="old", replicate_weights="n", scale=0.1)
        )
    with pytest.raises(
        TypeError, match=r"evaluate\(\) got .* 'crossed'; it is part of design=strat.Sampling\(crossed=…\)"
    ):
        strat.evaluate(ratings, score="new", crossed=["judge", "item"])  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"'estimator'; it is part of proxy=strat.Proxy\(estimator=…\)"):
        strat.evaluate(ratings, score="new", estimator="labels")  # type: ignore[call-arg]


def test_replicate_weights_are_not_dropped_beside_a_proxy(ratings: dict[str, np.ndarray]) -> None:
    design = strat.Sampling(weights="old", replicate_weights="n", scale=0.1)
    with pytest.raises(StratError, match="`proxy` must be left out beside `replicate_weights`"):
        strat.evaluate(ratings, score="new", proxy="old", design=design)


def test_how_a_file_is_read_is_said_where_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "codes.csv"
    file.write_text("truth,guess\n" + "01,1\n01,01\n" * 6)
    assert (
        strat.evaluate(read(file, text=["truth", "guess"]), truth="truth", predicted="guess")["accuracy"].value == 0.5
    )


@pytest.mark.parametrize(
    ("other", "way_out"),
    [
        (strat.Design.simple_random(n=4), "got a Design; a Design of arrays goes to strat.estimate"),
        ({"units": "u"}, "got {'units': 'u'}; write strat.Sampling(units='u')."),
        ("u", "got 'u'; write strat.Sampling(units='u')."),
        ({"nonsense": 1}, "write strat.Sampling(units=…)."),
        (3, "got 3; write strat.Sampling(units=…)."),
    ],
)
@pytest.mark.parametrize("call", [strat.evaluate, strat.compare, strat.gate, strat.check])
def test_something_else_as_a_design_gets_a_way_out(call: Any, other: Any, way_out: str) -> None:
    with pytest.raises(StratError, match="`design` must be a Sampling, got ") as error:
        call({"y": [1, 0, 1, 0]}, score="y", design=other)
    assert way_out in str(error.value)


@pytest.mark.parametrize(
    ("make", "hint"),
    [
        (lambda: Sampling(cross=["a", "b"]), "'cross'; did you mean 'crossed'?"),
        (lambda: Sampling(cluster="a"), "'cluster'; did you mean 'units'?"),
        (lambda: Sampling(fpc=3), "'fpc'; did you mean 'population'?"),
        (lambda: Sampling(colour=3), "'colour'; there are strata, units, items, weights"),
        (lambda: Sampling("a"), "; name the others: strata=…"),
        (lambda: strat.Proxy("judge", proba="p"), "'proba'; did you mean 'probability'?"),
        (lambda: strat.Proxy("judge", strata="p"), "'strata'; did you mean 'label_strata'?"),
        (lambda: strat.Proxy("judge", nonsense="p"), "; there are columns, probability, label_strata"),
    ],
)
def test_a_wrong_keyword_gets_a_hint(make: Any, hint: str) -> None:
    with pytest.raises(TypeError) as error:
        make()
    assert hint in str(error.value)
