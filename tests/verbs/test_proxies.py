"""`evaluate` with a proxy, rows drawn to be labelled, and what the notes say of the judge."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import strat
from strat.base.errors import StratError
from strat.cli.app import app
from strat.verbs import sample

N = 600
RNG = np.random.default_rng(3)
UNIT = np.arange(N) // 6
HUMAN = (RNG.random(N) < 0.7).astype(float)
JUDGE = np.clip(0.25 + 0.5 * HUMAN + 0.15 * RNG.normal(size=N), 0, 1)
NOISE = RNG.random(N)
LABELLED = RNG.random(N) < 0.3
GUESS = np.where(RNG.random(N) < 0.85, HUMAN, 1 - HUMAN).astype(int)
TABLE = {
    "human": [float(h) if known else None for h, known in zip(HUMAN, LABELLED, strict=True)],
    "class": [("yes" if h else "no") if known else None for h, known in zip(HUMAN, LABELLED, strict=True)],
    "judged": np.where(JUDGE > 0.5, "yes", "no"),
    "guess": np.where(GUESS == 1, "yes", "no"),
    "judge": JUDGE,
    "noise": NOISE,
    "unit": UNIT,
    "site": np.where(UNIT % 2 == 0, "a", "b"),
    "p": np.where(LABELLED, 0.3, np.nan),
}


def codes(result: Any) -> set[str]:
    return {note.code for note in result.notes if hasattr(note, "code")}


def test_a_mean_is_that_of_the_statistic() -> None:
    result = strat.evaluate(TABLE, score="human", proxy="judge", units="unit")
    filled = np.where(LABELLED, HUMAN, 0.0)
    one = strat.two_phase(strat.mean(filled), proxy=strat.mean(JUDGE), labelled=LABELLED, units=UNIT)
    known = strat.estimate(one, on=strat.Design.clustered(UNIT))
    assert result["mean"].value == pytest.approx(known.value)
    assert result["mean"].se == pytest.approx(known.se)
    assert "proxy-gain" in codes(result)
    assert f"{int(LABELLED.sum())} of 600 rows labelled" in result.design


def test_classes_and_their_measures() -> None:
    result = strat.evaluate(
        TABLE, truth="class", predicted="guess", proxy="judged", metrics=["accuracy", "f1"], positive="yes"
    )
    assert abs(result["accuracy"].value - np.mean(GUESS == HUMAN)) < 3 * result["accuracy"].se
    assert result["f1"].positive == "yes"


def test_a_proxy_that_knows_nothing_is_told() -> None:
    assert codes(strat.evaluate(TABLE, score="human", proxy="noise")) & {"proxy-no-gain", "proxy-worse"}
    worse = strat.evaluate(TABLE, score="human", proxy=strat.Proxy("noise", estimator="difference"))
    assert "proxy-worse" in codes(worse)


def test_labels_of_the_easy_rows_are_told_and_known_probabilities_put_them_right() -> None:
    chance = np.clip(1.2 * JUDGE**2, 0.02, 1.0)
    chosen = np.random.default_rng(5).random(N) < chance
    table = {**TABLE, "human": [h if known else None for h, known in zip(HUMAN, chosen, strict=True)], "p": chance}
    assert "labels-not-random" in codes(strat.evaluate(table, score="human", proxy="judge"))
    right = strat.evaluate(table, score="human", proxy=strat.Proxy("judge", probability="p"))
    assert "labels-not-random" not in codes(right)
    assert abs(right["mean"].value - HUMAN.mean()) < 3 * right["mean"].se


def test_a_random_sample_is_not_accused() -> None:
    accused = 0
    for seed in range(40):
        chosen = np.random.default_rng(seed).random(N) < 0.3
        table = {**TABLE, "human": [h if known else None for h, known in zip(HUMAN, chosen, strict=True)]}
        accused += "labels-not-random" in codes(strat.evaluate(table, score="human", proxy="judge"))
    assert accused <= 3


def test_groups_rest_on_their_own_labels() -> None:
    result = strat.evaluate(TABLE, score="human", proxy="judge", units="unit", by="site")
    inside = np.asarray(TABLE["site"]) == "a"
    part = {name: [v for v, keep in zip(column, inside, strict=True) if keep] for name, column in TABLE.items()}
    alone = strat.evaluate(part, score="human", proxy="judge", units="unit")
    assert result.groups["mean"]["a"].value == pytest.approx(alone["mean"].value)
    assert "proxy-differs-by-group" not in codes(result)


def test_a_group_without_labels_is_refused() -> None:
    table = {**TABLE, "human": [h if s == "a" else None for h, s in zip(TABLE["human"], TABLE["site"], strict=True)]}
    with pytest.raises(StratError, match="`score` must have values in every group of `by`, got none in 'b'"):
        strat.evaluate(table, score="human", proxy="judge", by="site")


def test_strata_of_labels_adjust() -> None:
    result = strat.evaluate(TABLE, score="human", proxy=strat.Proxy("judge", label_strata="site", calibrate="isotonic"))
    assert abs(result["mean"].value - HUMAN.mean()) < 3 * result["mean"].se


@pytest.mark.shared
def test_the_policy_that_fools_the_judge_is_seen(shared: Any) -> None:
    file = str(shared / "data/fields/judge/arena_judge_oracle.csv")
    result = strat.evaluate(file, score="oracle_label", proxy="judge_score", units="prompt_id", by="policy")
    told = [note for note in result.notes if getattr(note, "code", "") == "proxy-differs-by-group"]
    assert len(told) == 1
    assert "is not how it errs in unhelpful" in told[0]
    assert result.groups["mean"]["unhelpful"].value < 0.3 < result.groups["mean"]["clone"].value
    table = strat.read(file)
    columns = table.columns(["policy", "judge_score", "slice"])
    human = table.backend.fetch(["oracle_label"])[0].numbers()
    only_base = np.where(columns["policy"] == "base", human.values, np.nan)
    with pytest.raises(StratError, match="got none in 'clone', 'parallel_universe_prompt', 'unhelpful'"):
        strat.evaluate({**columns, "human": only_base}, score="human", proxy="judge_score", by="policy")


def _with_proxy(options: dict[str, Any]) -> dict[str, Any]:
    """The options, with the arguments of a proxy made into one."""
    proxy = options.get("proxy")
    return {**options, "proxy": strat.Proxy(**proxy)} if isinstance(proxy, dict) else options


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"score": "judge", "proxy": "noise"}, "`score` must have a value in some rows and none in others"),
        ({"score": "human", "proxy": {"columns": "judge", "estimator": "x"}}, "`estimator` must be"),
        ({"score": "human", "proxy": {"columns": "judge", "calibrate": "x"}}, "`calibrate` must be"),
        ({"score": "human", "proxy": "nobody"}, "`proxy` must name a column"),
        ({"score": "human", "proxy": []}, "`proxy` must name at least one column"),
        (
            {"truth": "class", "predicted": "guess", "proxy": {"columns": "judged", "calibrate": "isotonic"}},
            "`calibrate` must be left out with `truth`",
        ),
        (
            {"truth": "class", "predicted": "guess", "proxy": "site"},
            "`proxy` must hold classes that the labelled rows of `truth` hold",
        ),
        (
            {"truth": "class", "score": "judge", "proxy": "judged", "threshold": 0.5, "positive": "yes"},
            "`proxy` must not come with `threshold`",
        ),
    ],
)
def test_errors(options: dict[str, Any], match: str) -> None:
    with pytest.raises(StratError, match=match):
        strat.evaluate(TABLE, **_with_proxy(options))


def test_rows_to_label_come_with_their_probability() -> None:
    drawn = sample({"id": range(N), "judge": JUDGE}, size=60, items="id", judge="judge", method="neyman", bins=4)
    assert drawn.probability is not None
    assert (drawn.probability * drawn.weight) == pytest.approx(np.ones(60))
    assert float(drawn.weight.sum()) == pytest.approx(N)
    table = {"judge": JUDGE, "human": np.full(N, np.nan), "p": np.full(N, np.nan)}
    table["human"][drawn.row], table["p"][drawn.row] = HUMAN[drawn.row], drawn.probability
    result = strat.evaluate(table, score="human", proxy=strat.Proxy("judge", probability="p"))
    assert abs(result["mean"].value - HUMAN.mean()) < 3.5 * result["mean"].se


def test_unequal_probabilities_follow_the_doubt() -> None:
    times = np.zeros(N)
    for seed in range(300):
        drawn = sample({"judge": JUDGE}, size=50, judge="judge", method="unequal", seed=seed)
        assert len(drawn) == 50
        times[drawn.row] += 1
    doubt = np.maximum(np.sqrt(JUDGE * (1 - JUDGE)), 0.05 * np.sqrt(JUDGE * (1 - JUDGE)).max())
    assert np.corrcoef(times, doubt)[0, 1] > 0.6
    assert times.sum() / 300 == 50


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"method": "unequal"}, "`judge` must name a column for method='unequal'"),
        ({"judge": "judge", "strata": "site"}, "`strata` must be left out beside `judge`"),
        ({"judge": "judge", "bins": 1}, "`bins` must be at least 2"),
        ({"judge": "unit", "method": "unequal"}, "`judge` must lie from 0 to 1"),
        ({"judge": "judge", "method": "unequal", "size": 601}, "`size` must be at most the number of units"),
    ],
)
def test_errors_of_drawing(options: dict[str, Any], match: str) -> None:
    table = {name: TABLE[name] for name in ("judge", "site", "unit")}
    with pytest.raises(StratError, match=match):
        sample(table, **{"size": 30, **options})


@pytest.fixture
def file(tmp_path: Any) -> str:
    path = tmp_path / "answers.csv"
    lines = ["human,judge,unit,site"]
    lines += [
        f"{'' if h is None else h:},{j},{u},{s}"
        for h, j, u, s in zip(TABLE["human"], JUDGE, UNIT, TABLE["site"], strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_the_commands(file: str) -> None:
    run = CliRunner()
    told = run.invoke(app, ["evaluate", file, "--score", "human", "--proxy", "judge", "--units", "unit", "--json"])
    assert told.exit_code == 0, told.output
    data = json.loads(told.stdout)
    same = strat.evaluate(file, score="human", proxy="judge", units="unit")
    assert data["measures"][0]["estimate"] == pytest.approx(same["mean"].value)
    planned = run.invoke(
        app, ["plan", "labels", file, "--score", "human", "--proxy", "judge", "--width", "0.1", "--json"]
    )
    assert planned.exit_code == 0, planned.output
    answer = json.loads(planned.stdout)
    assert answer["alone"] - answer["number"] == answer["saved"] > 0
    drawn = run.invoke(app, ["sample", file, "--size", "40", "--judge", "judge", "--method", "neyman", "--json"])
    assert drawn.exit_code == 0, drawn.output
    assert len(json.loads(drawn.stdout)["probability"]) == 40


# ---- systems


OTHER = (RNG.random(N) < 0.8).astype(float)
OTHER_JUDGE = np.clip(0.25 + 0.5 * OTHER + 0.15 * RNG.normal(size=N), 0, 1)
SYSTEMS = {
    **TABLE,
    "b": np.where(LABELLED, OTHER, np.nan),
    "a": np.where(LABELLED, HUMAN, np.nan),
    "judge_b": OTHER_JUDGE,
}


def test_systems_keep_their_covariance_through_both_phases() -> None:
    board = strat.compare(SYSTEMS, score=["a", "b"], proxy=["judge", "judge_b"], units="unit")
    filled = [np.where(LABELLED, values, 0.0) for values in (HUMAN, OTHER)]
    joint = strat.two_phase(
        strat.stack("system", a=strat.mean(filled[0]), b=strat.mean(filled[1])),
        proxy=strat.stack("system", a=strat.mean(JUDGE), b=strat.mean(OTHER_JUDGE)),
        labelled=LABELLED,
        units=UNIT,
    )
    own = strat.estimate(joint, on=strat.Design.clustered(UNIT)).map(lambda v: v[..., 1] - v[..., 0])
    difference = board.difference("b", "a")
    assert (difference.value, difference.se) == (pytest.approx(float(own.value)), pytest.approx(float(own.se)))
    alone = strat.compare(
        SYSTEMS, score=["a", "b"], units="unit", proxy=strat.Proxy(["judge", "judge_b"], estimator="labels")
    )
    assert difference.se < 0.8 * alone.difference("b", "a").se
    assert "proxy-gain" in {getattr(note, "code", "") for note in board.notes}


def test_a_truth_known_in_part_compares_predictions() -> None:
    table = {**SYSTEMS, "coin": np.where(RNG.random(N) < 0.5, "yes", "no")}
    board = strat.compare(
        table, truth="class", predicted=["guess", "coin"], proxy="judged", metrics=["accuracy", "f1"], positive="yes"
    )
    one = strat.evaluate(table, truth="class", predicted="guess", proxy="judged", metrics="accuracy")["accuracy"]
    assert board.systems == ("guess", "coin")
    assert float(board.estimate.point[0]) == pytest.approx(float(one.value))
    assert board.pvalue < 0.01
    assert set(board.boards) == {"accuracy", "f1"}


def test_labels_of_rows_that_the_judge_likes_are_told() -> None:
    chosen = np.random.default_rng(6).random(N) < np.clip(1.2 * JUDGE**2, 0.02, 1.0)
    table = {**SYSTEMS, "a": np.where(chosen, HUMAN, np.nan), "b": np.where(chosen, OTHER, np.nan)}
    notes = strat.compare(table, score=["a", "b"], proxy=["judge", "judge_b"]).notes
    assert "labels-not-random" in {getattr(note, "code", "") for note in notes}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": ["a", "b"], "proxy": "judge"}, "`proxy` must name a column for each of the 2 systems"),
        ({"score": ["a", "b"], "proxy": ["judge", "judge_b"], "by": "site"}, "`by` must be left out beside `proxy`"),
        (
            {"score": ["a", "b"], "proxy": ["judge", "judge_b"], "baseline": "c"},
            "`baseline` must be one of the systems",
        ),
        (
            {"score": ["judge", "judge_b"], "proxy": ["noise", "noise"]},
            "`score` must have a value in some rows and none",
        ),
        (
            {"system": "site", "score": "a", "items": "unit", "proxy": "judge"},
            "`proxy` must go with one table that has",
        ),
        (
            {"score": ["a", "b"], "proxy": {"columns": ["judge", "judge_b"], "estimator": "stratified"}},
            "`label_strata` must name a column with estimator='stratified'",
        ),
    ],
)
def test_what_a_comparison_by_proxy_refuses(options: dict[str, Any], message: str) -> None:
    with pytest.raises(StratError, match=message):
        strat.compare(SYSTEMS, **_with_proxy(options))


def test_the_command_compares_by_proxy(tmp_path: Any) -> None:
    file = tmp_path / "votes.csv"
    names = ["a", "b", "judge", "judge_b", "unit"]
    lines = zip(*(np.asarray(SYSTEMS[name], float) for name in names), strict=True)
    file.write_text("\n".join([",".join(names), *(",".join("" if v != v else f"{v}" for v in line) for line in lines)]))
    asked = ["--score", "a", "--score", "b", "--proxy", "judge", "--proxy", "judge_b", "--units", "unit", "--json"]
    done = CliRunner().invoke(app, ["compare", str(file), *asked])
    assert done.exit_code == 0, done.output
    assert "the proxy makes" in done.output
