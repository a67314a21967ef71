"""`strat chance`, `strat rank` and `strat compare`: what they print, and their one-line errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from strat.base.errors import StratError
from strat.cli.app import app
from strat.comparison import chance, mcnemar_clustered
from strat.measures.confusion_matrix import ConfusionMatrix


def ask(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def nyssen(tmp_path: Path) -> Path:
    path = tmp_path / "matrix.csv"
    path.write_text("3,1,1,1\n1,3,1,1\n1,1,3,1\n1,1,1,3\n")
    return path


def test_chance_prints_and_counts(nyssen: Path) -> None:
    assert "50.0 % of 24 patterns agree where chance gives 25.0 % (p = 0.00849, exact)" in ask("chance", nyssen)
    found = json.loads(ask("chance", nyssen, "--json", "--distribution"))
    assert found["schema"] == "strat/chance/1"
    assert found["pvalue"] == pytest.approx(0.0084896, abs=5e-8)
    assert sum(found["distribution"]) == pytest.approx(1.0)
    assert "| p-value |" in ask("chance", nyssen, "--markdown")
    assert "P(24 agreements)" in ask("chance", nyssen, "--distribution")  # the perfect table: 4.3e-13


def test_chance_reads_any_form_of_a_matrix(tmp_path: Path) -> None:
    counts = np.array([[5, 2, 1], [1, 6, 0], [2, 2, 9]])
    wanted = chance(counts).pvalue
    matrix = ConfusionMatrix(counts, ["a", "b", "c"])
    for name in ("named.csv", "named.json"):
        matrix.write(tmp_path / name)
    ConfusionMatrix(counts).write(tmp_path / "numbered.csv")
    np.save(tmp_path / "bare.npy", counts)
    (tmp_path / "head.tsv").write_text("0\t1\t2\n" + "\n".join("\t".join(map(str, row)) for row in counts))
    for name in ("named.csv", "named.json", "numbered.csv", "bare.npy", "head.tsv"):
        assert json.loads(ask("chance", tmp_path / name, "--json"))["pvalue"] == wanted, name


def test_chance_of_predictions(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    rows = [("a", "a"), ("b", "b"), ("a", "a"), ("b", "a")] * 5
    path.write_text("truth,said,unit\n" + "\n".join(f"{t},{s},{k // 4}" for k, (t, s) in enumerate(rows)))
    plain = json.loads(ask("chance", path, "--truth", "truth", "--predicted", "said", "--json"))
    assert plain["agreements"] == 15
    within = json.loads(ask("chance", path, "--truth", "truth", "--predicted", "said", "--units", "unit", "--json"))
    assert within["method"] == "exact"
    between = json.loads(
        ask(
            "chance",
            path,
            "--truth",
            "truth",
            "--predicted",
            "said",
            "--units",
            "unit",
            "--exchange",
            "between",
            "--json",
        )
    )
    assert between["pvalue"] == pytest.approx(1.0)


@pytest.fixture
def errors(tmp_path: Path) -> Path:
    path = tmp_path / "errors.csv"
    path.write_text("data,A,B,C\n" + "\n".join(f"d{k},1,2,3" for k in range(10)))
    return path


def test_rank_prints_and_draws(errors: Path, tmp_path: Path) -> None:
    text = ask("rank", errors, "--lower-is-better", "--plot", tmp_path / "cd.svg")
    assert "3 systems on 10 data sets" in text
    assert "A better than C" in text
    assert (tmp_path / "cd.svg").stat().st_size > 1000
    found = json.loads(ask("rank", errors, "--lower-is-better", "--json"))
    assert found["schema"] == "strat/rank/2"
    assert found["friedman"]["average_ranks"] == {"A": 1.0, "B": 2.0, "C": 3.0}
    assert found["different"] == [["A", "C"]]
    assert json.loads(ask("rank", errors, "--higher-is-better", "--json"))["different"] == [["C", "A"]]
    assert len(json.loads(ask("rank", errors, "--lower-is-better", "--test", "shaffer", "--json"))["different"]) == 3
    assert "\\toprule" in ask("rank", errors, "--lower-is-better", "--latex")


def test_both_tests_of_rank_rest_on_one_statistic(tmp_path: Path) -> None:
    """Friedman was corrected for ties and Iman and Davenport's F, beside it, was not."""
    table = tmp_path / "ties.csv"
    table.write_text("a,b,c\n" + "1,1,2\n2,3,1\n" * 6)
    found = json.loads(ask("rank", table, "--lower-is-better", "--json"))
    x2, f = (found[name]["statistic"] for name in ("friedman", "iman_davenport"))
    assert f == pytest.approx(11 * x2 / (12 * 2 - x2))


def test_rank_with_a_control(errors: Path, tmp_path: Path) -> None:
    text = ask(
        "rank", errors, "--lower-is-better", "--control", "A", "--alternative", "greater", "--plot", tmp_path / "c.png"
    )
    assert "A as control (greater)" in text
    found = json.loads(ask("rank", errors, "--lower-is-better", "--control", "A", "--test", "bonferroni", "--json"))
    assert found["different"] == ["C"]
    assert found["critical_difference"] > 0


def test_rank_of_a_long_table_and_of_missing_cells(tmp_path: Path) -> None:
    long = tmp_path / "long.csv"
    lines = [f"d{k},{s},{v}" for k in range(6) for s, v in (("A", 1), ("A", 3), ("B", 5), ("C", 9))]
    long.write_text("set,model,error\n" + "\n".join(lines[:-1]))
    options = ["--dataset", "set", "--system", "model", "--score", "error", "--lower-is-better"]
    with pytest.raises(StratError, match="no number for 'C on d5'"):
        ask("rank", long, *options)
    text = ask("rank", long, *options, "--missing", "drop")
    assert "1 of 6 data sets is left out because a cell is missing: d5." in text
    assert "Values are means of 1 to 2 runs of a system on a data set." in text


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(40), 10)
    hard = rng.normal(size=40)[unit]
    truth = rng.integers(0, 3, 400)
    said = {
        name: np.where(rng.normal(size=400) + hard < skill, truth, (truth + 1) % 3)
        for name, skill in (("old", 0.3), ("new", 1.3), ("other", 0.4))
    }
    lines = [f"q{i},p{unit[i]},{truth[i]},{','.join(str(v[i]) for v in said.values())}" for i in range(400)]
    path = tmp_path / "answers.csv"
    path.write_text("id,passage,label,old,new,other\n" + "\n".join(lines))
    for name, values in said.items():
        order = rng.permutation(400)
        body = [f"q{i},p{unit[i]},{truth[i]},{values[i]}" for i in order]
        (tmp_path / f"{name}.csv").write_text("id,passage,label,guess\n" + "\n".join(body))
    return path


def test_compare_two_columns(answers: Path) -> None:
    options = ["--truth", "label", "--predicted", "old", "--predicted", "new", "--units", "passage"]
    text = ask("compare", answers, *options, "--margin", 0.05, "--baseline", "old")
    assert "new is better by" in text
    assert "treating rows as independent would have said" in text
    assert "equivalence within 0.05" in text
    found = json.loads(ask("compare", answers, *options, "--json"))
    assert found["schema"] == "strat/compare/4"
    assert found["comparison"]["a"] == "new"
    table = np.genfromtxt(answers, delimiter=",", dtype=str, skip_header=1)
    clustered = mcnemar_clustered(table[:, 2], table[:, 4], table[:, 3], units=table[:, 1])
    assert found["comparison"]["pvalue"] == pytest.approx(clustered.pvalue, abs=1e-6)
    macro = json.loads(ask("compare", answers, *options, "--metric", "macro_f1", "--json"))
    assert "F1" in macro["comparison"]["metric"]


def test_compare_files_joined_on_the_item(answers: Path, tmp_path: Path) -> None:
    options = ["--items", "id", "--truth", "label", "--predicted", "guess", "--units", "passage"]
    wide = json.loads(
        ask(
            "compare",
            answers,
            "--truth",
            "label",
            "--predicted",
            "old",
            "--predicted",
            "new",
            "--units",
            "passage",
            "--json",
        )
    )
    joined = json.loads(ask("compare", tmp_path / "old.csv", tmp_path / "new.csv", *options, "--json"))
    assert joined["comparison"]["difference"] == pytest.approx(wide["comparison"]["difference"])
    assert joined["comparison"]["se"] == pytest.approx(wide["comparison"]["se"])
    text = (tmp_path / "new.csv").read_text().splitlines()
    (tmp_path / "short.csv").write_text("\n".join(text[:-7]))
    with pytest.raises(
        StratError,
        match=r"old has 7 that not every system has \(such items are .* and 4 more\); 393 are common: choose --unmat",
    ):
        ask("compare", tmp_path / "old.csv", tmp_path / "short.csv", *options)
    said = ask("compare", tmp_path / "old.csv", tmp_path / "short.csv", *options, "--unmatched", "common")
    assert "compared on the 393 items that all of them have" in said
    (tmp_path / "twice.csv").write_text("\n".join([*text, text[1]]))
    with pytest.raises(StratError, match="got repeats of"):
        ask("compare", tmp_path / "old.csv", tmp_path / "twice.csv", *options)
    other = text[:1] + [line.replace(",p", ",x") for line in text[1:]]
    (tmp_path / "moved.csv").write_text("\n".join(other))
    with pytest.raises(StratError, match="`passage` must be the same for an item in every table"):
        ask("compare", tmp_path / "old.csv", tmp_path / "moved.csv", *options)


def test_compare_three_and_long_tables(answers: Path, tmp_path: Path) -> None:
    options = ["--truth", "label", "--predicted", "old", "--predicted", "new", "--predicted", "other"]
    text = ask("compare", answers, *options, "--plot", tmp_path / "systems.svg")
    assert "came first with" in text
    assert (tmp_path / "systems.svg").stat().st_size > 1000
    with pytest.raises(StratError, match="`--plot` must end in"):
        ask("compare", answers, *options, "--plot", tmp_path / "systems.bmp")
    rows = ["model,q,right"]
    rng = np.random.default_rng(1)
    rows += [f"{m},{q},{int(rng.random() < p)}" for m, p in (("x", 0.9), ("y", 0.4)) for q in range(50)]
    long = tmp_path / "long.csv"
    long.write_text("\n".join(rows))
    found = json.loads(ask("compare", long, "--system", "model", "--items", "q", "--score", "right", "--json"))
    assert found["leaderboard"][0]["system"] == "x"
    worse = json.loads(
        ask("compare", long, "--system", "model", "--items", "q", "--score", "right", "--lower-is-better", "--json")
    )
    assert worse["leaderboard"][0]["system"] == "y"


def test_compare_logs(shared: Path) -> None:
    logs = shared / "data" / "ai-logs"
    text = ask("compare", logs / "logs_eval_a", logs / "logs_json_b", "--runs", "separate")
    assert "rank" in text
    assert "Each item was tried" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chance", "nothing.csv"], "must be a file that exists"),
        (["chance", "bad.csv"], "square matrix of counts"),
        (["chance", "bad.csv", "--truth", "x"], "must be given together"),
        (["chance", "bad.csv", "--units", "x"], "a matrix has no units"),
        (["chance", "bad.csv", "--exchange", "around"], "`--exchange` must be one of"),
        (["rank", "errors.csv"], "must be given"),
        (["rank", "errors.csv", "--lower-is-better", "--alpha", "2"], "`--alpha` must lie between"),
        (["rank", "errors.csv", "--lower-is-better", "--test", "tukey"], "`--test` must be one of"),
        (["rank", "errors.csv", "--lower-is-better", "--control", "Z"], "`control` must be a system"),
        (["rank", "errors.csv", "--lower-is-better", "--plot", "x.bmp"], "`--plot` must end in"),
        (["rank", "errors.csv", "--lower-is-better", "--plot", "no/x.png"], "folder that exists"),
        (
            ["rank", "errors.csv", "--lower-is-better", "--system", "A"],
            "`--dataset`, `--system` and `--score` together",
        ),
        (["compare", "errors.csv", "--predicted", "A"], "`--truth` must name the column"),
        (["compare", "errors.csv", "--predicted", "A", "--truth", "data"], "two systems or more, got one"),
        (["compare", "errors.csv", "--predicted", "A", "--score", "B"], "must not be given together"),
        (
            ["compare", "errors.csv", "--score", "A", "--score", "B", "--system", "C"],
            "`--system` must be left out where each system has a column",
        ),
    ],
)
def test_one_line_errors(
    arguments: list[str], said: str, errors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.csv").write_text("a,b\nx,1\ny,z\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StratError, match=said):
        ask(*arguments)


def test_an_empty_matrix(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(StratError, match="the empty file"):
        ask("chance", tmp_path / "empty.csv")


def test_chance_takes_clusters_as_units_by_default(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = ["patient,label,guess"]
    for patient in range(30):
        label, guess = rng.integers(2, size=2)
        rows += [f"p{patient},{label},{guess}"] * 8
    path = tmp_path / "clustered.csv"
    path.write_text("\n".join(rows) + "\n")
    columns = ("--truth", "label", "--predicted", "guess", "--json")
    found = json.loads(ask("chance", path, *columns))
    assert found == json.loads(ask("chance", path, *columns, "--units", "patient")) | {"notes": found["notes"]}
    assert found["notes"][0]["code"] == "tested-by-units"
    assert "30 whole units exchanged" in found["method"]
    alone = json.loads(ask("chance", path, *columns, "--independent"))
    assert alone["method"] == "exact"
    assert alone["notes"] == []
    with pytest.raises(StratError, match="`--independent` must be given without `--units`"):
        ask("chance", path, *columns, "--independent", "--units", "patient")
