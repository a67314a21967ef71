"""`strat test`: the named test is the library's, the advice fits the rows, and what can't apply is refused."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from strat import StratError, comparison
from strat.cli.app import app, main

ITEMS = {"y": [0, 1, 0, 1, 0, 1] * 5, "a": [0, 1, 0, 0, 0, 1] * 5, "b": [1, 1, 1, 1, 0, 0] * 5,
         "c": [0, 0, 0, 1, 0, 1] * 5, "u": [k // 3 for k in range(30)]}  # fmt: skip
SPLITS = {"a": [7.4, 18.1, 13.7, 17.5, 13.0, 12.5, 8.9, 12.1, 12.4, 7.4],
          "b": [9.9, 11.0, 5.7, 12.5, 2.7, 6.6, 10.6, 6.4, 12.5, 7.8]}  # fmt: skip
BOTH = ("--system", "a", "--system", "b")


@pytest.fixture
def files(tmp_path):
    for name, columns in (("items", ITEMS), ("splits", SPLITS)):
        lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    return tmp_path


def answer(*arguments):
    result = CliRunner().invoke(app, ["test", *map(str, arguments), "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("name", ["mcnemar", "mcnemar-exact", "mcnemar-midp"])
def test_items(files, name):
    found = answer(files / "items.csv", *BOTH, "--truth", "y", "--test", name)
    expected = getattr(comparison, name.replace("-", "_"))(ITEMS["y"], ITEMS["a"], ITEMS["b"])
    assert found["result"]["pvalue"] == pytest.approx(expected.pvalue)
    assert found["schema"] == "strat/test/2"
    assert found["advice"]["test"] == "mcnemar-midp"


def test_the_advice_follows_the_rows(files):
    items, splits = files / "items.csv", files / "splits.csv"
    assert answer(items, *BOTH, "--truth", "y", "--units", "u")["test"] == "mcnemar-clustered"
    assert answer(items, *BOTH, "--system", "c", "--truth", "y")["test"] == "cochran"
    assert answer(splits, *BOTH, "--folds", 10)["test"] == "corrected-t"
    assert answer(splits, *BOTH, "--five-by-two")["test"] == "5x2cv-f"
    assert answer(splits, *BOTH)["test"] == "wilcoxon"
    assert answer(items, *BOTH, "--system", "c", "--lower-is-better")["test"] == "friedman"


def test_example_1_9(files):
    assert answer(files / "splits.csv", *BOTH, "--folds", 10)["result"]["pvalue"] == pytest.approx(0.1053, abs=5e-5)
    assert answer(files / "splits.csv", *BOTH, "--ratio", 0.1, "--test", "uncorrected-t")["result"][
        "pvalue"
    ] == pytest.approx(0.0280, abs=5e-5)


@pytest.mark.parametrize("name", ["5x2cv-t", "5x2cv-f"])
def test_five_by_two(files, name):
    found = answer(files / "splits.csv", *BOTH, "--five-by-two", "--test", name)
    a, b = ([SPLITS[k][i : i + 2] for i in range(0, 10, 2)] for k in "ab")
    function = comparison.five_by_two_t if name == "5x2cv-t" else comparison.five_by_two_f
    assert found["result"]["pvalue"] == function(a, b).pvalue


def test_bayes_tests_take_a_region_and_a_seed(files):
    found = answer(files / "splits.csv", *BOTH, "--folds", 10, "--test", "bayes-t", "--rope", 1)["result"]
    assert found["above"] == pytest.approx(0.8899, abs=1e-4)
    one = answer(files / "splits.csv", *BOTH, "--test", "bayes-signed-rank", "--seed", 3)["result"]
    assert one["above"] == comparison.bayesian_signed_rank(SPLITS["a"], SPLITS["b"], rng=3).above


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--system", "a"), "`--system` must be given twice or more"),
        (("--system", "a", "--system", "a"), "`--system` must name different columns, got 'a' twice"),
        ((*BOTH, "--test", "mcnemar"), "`--test` must be one for data sets, got 'mcnemar', which is for items"),
        ((*BOTH, "--test", "corrected-t"), "which is for splits; give --folds, --ratio or --five-by-two"),
        ((*BOTH, "--folds", "10", "--ratio", "0.1"), "describe the same thing; give only one of them"),
        ((*BOTH, "--rope", "0.1"), "`--rope` must be left out for wilcoxon"),
        ((*BOTH, "--lower-is-better"), "`--lower-is-better` must be left out for wilcoxon"),
        ((*BOTH, "--units", "u"), "`--units` must be left out without --truth"),
        ((*BOTH, "--test", "friedman", "--alternative", "less"), "`--alternative` must be 'two-sided' for friedman"),
        ((*BOTH, "--test", "tukey"), "`--test` must be one of"),
    ],
)
def test_errors_say_what_is_wrong(files, arguments, message, capsys):
    with pytest.raises(SystemExit) as end:
        main(["test", str(files / "splits.csv"), *arguments])
    assert end.value.code == 1
    assert message in capsys.readouterr().err


def test_what_the_library_refuses():
    with pytest.raises(StratError, match="`ratio` must be given for corrected-t"):
        comparison.run_test("corrected-t", SPLITS)
    with pytest.raises(StratError, match="`truth` must be given for mcnemar"):
        comparison.run_test("mcnemar", SPLITS)
    with pytest.raises(StratError, match="`units` must be given for mcnemar-clustered"):
        comparison.run_test("mcnemar-clustered", {"a": ITEMS["a"], "b": ITEMS["b"]}, truth=ITEMS["y"])
    with pytest.raises(StratError, match="`columns` must be two for sign, got 3"):
        comparison.run_test("sign", {**SPLITS, "c": SPLITS["a"]})
    with pytest.raises(StratError, match="`columns` must have 10 rows for 5x2cv-f"):
        comparison.run_test("5x2cv-f", {"a": [1, 2], "b": [2, 3]})
    with pytest.raises(StratError, match="`rows` must be one of"):
        comparison.advise(rows="runs")
    with pytest.raises(StratError, match="`systems` must be two or more"):
        comparison.advise(rows="items", systems=1)
    assert comparison.advise(rows="items", systems=3, units=True).test is None
    assert "can't reach" in comparison.advise(rows="data sets", n=4).reason
