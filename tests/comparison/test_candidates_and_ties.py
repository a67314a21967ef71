"""Comparisons: who the candidate is, ties, percentages beside fractions, shuffling of small measures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strat
from strat import comparison
from strat.base.errors import StratError
from table_sources import ask


@pytest.fixture
def worse(tmp_path: Path) -> Path:
    """A candidate that is clearly worse than main."""
    rng = np.random.default_rng(0)
    right = {"main": rng.random(2000) < 0.66, "candidate": rng.random(2000) < 0.60}
    lines = [f"{name},{item},{int(ok)}" for name, column in right.items() for item, ok in enumerate(column)]
    path = tmp_path / "worse.csv"
    path.write_text("model,question,correct\n" + "\n".join(lines))
    return path


LONG = ("--system", "model", "--items", "question", "--score", "correct")


# ---- who is the candidate


def test_a_worse_candidate_does_not_pass(worse: Path) -> None:
    """Non-inferiority was tested for whoever ranked first: main against the candidate, p = 3.5e-20."""
    found = json.loads(ask("compare", worse, *LONG, "--margin", 0.01, "--baseline", "main", "--json"))
    gate = found["noninferiority"]
    assert (gate["candidate"], gate["baseline"], gate["margin"]) == ("candidate", "main", 0.01)
    assert gate["pvalue"] > 0.5
    assert gate["difference"] == pytest.approx(found["comparison"]["difference"])
    assert gate["difference"] < 0
    assert (found["comparison"]["a"], found["comparison"]["b"]) == ("candidate", "main")
    text = ask("compare", worse, *LONG, "--margin", 0.01, "--baseline", "main")
    assert "candidate not worse than main by more than 0.01: p = " in text
    other = json.loads(ask("compare", worse, *LONG, "--margin", 0.01, "--baseline", "candidate", "--json"))
    assert other["noninferiority"]["candidate"] == "main"
    assert other["noninferiority"]["pvalue"] < 0.001


def test_a_margin_needs_a_baseline(worse: Path) -> None:
    """`--margin` chose the candidate by the scores; now it asks, and names both systems."""
    with pytest.raises(StratError, match=r"`--baseline`, got none: choose --baseline candidate .* or --baseline main"):
        ask("compare", worse, *LONG, "--margin", 0.01)
    with pytest.raises(StratError, match="`--baseline` must be one of the systems, got 'old'"):
        ask("compare", worse, *LONG, "--margin", 0.01, "--baseline", "old")


def _pair(a: list[float], b: list[float], *, higher_is_better: bool = True) -> comparison.Comparison:
    on = strat.Design.simple_random(n=len(a))
    return comparison.paired(strat.mean(a), strat.mean(b), on=on, higher_is_better=higher_is_better, names=("A", "B"))


def test_noninferiority_must_be_told_who_is_the_candidate() -> None:
    """`noninferiority(margin)` took the first argument of `paired` for the candidate without a word."""
    pair = _pair([1.0, 2, 3, 4], [2.0, 2, 4, 4])
    with pytest.raises(StratError, match=r"`baseline` must name the system .* 'A' or 'B'"):
        pair.noninferiority(0.1)
    with pytest.raises(StratError, match="`candidate` must be one of the two systems, 'A' or 'B', got 'C'"):
        pair.noninferiority(0.1, candidate="C")
    with pytest.raises(StratError, match="must be two systems, got 'A' for both"):
        pair.noninferiority(0.1, candidate="A", baseline="A")


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=12),
    st.floats(0.01, 3),
    st.booleans(),
)
@settings(max_examples=25)
def test_noninferiority_does_not_depend_on_the_order_of_the_systems(
    rows: list[tuple[int, int]], margin: float, higher: bool
) -> None:
    """The same candidate and baseline have the same p-value, whichever comes first and however it scores."""
    a, b = ([float(v) for v in side] for side in zip(*rows, strict=True))
    one, two = _pair(a, b, higher_is_better=higher), _pair(b, a, higher_is_better=higher)
    first = one.noninferiority(margin, candidate="A")
    second = two.noninferiority(margin, candidate="B")
    assert first.pvalue == pytest.approx(second.pvalue)
    assert first.difference == pytest.approx(second.difference)
    assert one.noninferiority(margin, baseline="B") == first


# ---- ties and the order of rows


def test_ties_do_not_break_on_rounding() -> None:
    """0.1 + 0.2 and 0.3 ranked 1 and 2 in Friedman's test, and tied in Wilcoxon's."""
    table = {"A": [0.1 + 0.2] * 4, "B": [0.3] * 4, "C": [0.1] * 4}
    assert comparison.friedman(table, higher_is_better=True).ranks.tolist() == [1.5, 1.5, 3.0]
    assert comparison.nemenyi(table, higher_is_better=True).ranks.tolist() == [1.5, 1.5, 3.0]
    assert comparison.signed_rank(table["A"], table["B"]).zeros == 4
    assert comparison.sign(table["A"], table["B"]).draws == 4
    assert comparison.win_draw_loss(table["A"], table["B"], higher_is_better=True).draws == 4


def test_small_scores_are_not_tied_with_each_other() -> None:
    """Differences were rounded to 1e-13 of the largest score of all: errors of 1e-14 beside a data set of 1e3 tied."""
    a, b = [1e3, 1e-14, 3e-14, 2e-14], [2e3, 2e-14, 6e-14, 5e-14]
    assert comparison.signed_rank(a, b).zeros == 0
    assert comparison.friedman({"A": a, "B": b}, higher_is_better=False).ranks.tolist() == [1.0, 2.0]


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    """Runs were averaged by a plain sum: B with A's ten scores in another order ranked 1.58 beside 1.42."""
    rng = np.random.default_rng(1)
    lines = []
    for k in range(12):
        runs = rng.uniform(0.6, 0.9, 10).round(6)
        lines += [f"d{k},A,{v}" for v in runs] + [f"d{k},B,{v}" for v in rng.permutation(runs)]
        lines += [f"d{k},C,{v - 0.1}" for v in runs]
    options = ("--dataset", "set", "--system", "model", "--score", "score", "--higher-is-better", "--json")
    answers = []
    for order in (np.arange(len(lines)), rng.permutation(len(lines))):
        path = tmp_path / "runs.csv"
        path.write_text("set,model,score\n" + "\n".join(lines[k] for k in order))
        answers.append(ask("rank", path, *options))
    assert answers[0] == answers[1]
    assert json.loads(answers[0])["friedman"]["average_ranks"] == {"A": 1.5, "B": 1.5, "C": 3.0}


def test_mcnemar_of_equal_counts() -> None:
    """N10 = N01 gave a statistic of 1/(2 N10) and p < 1; R gives 0 and 1."""
    found = comparison.mcnemar([1] * 4, [1, 1, 0, 0], [0, 0, 1, 1])
    assert (found.statistic, found.pvalue) == (0.0, 1.0)


# ---- percentages beside fractions


def test_a_very_good_system_beside_a_poor_one() -> None:
    """Errors in per cent of a good system beside a baseline were refused as fractions, with no way round."""
    table = {"good": [0.3, 0.8, 0.5, 0.9, 0.2, 0.6], "mid": [3, 9, 4, 7, 2, 8], "baseline": [35, 62, 48, 80, 21, 55]}
    found = comparison.friedman(table, higher_is_better=False)
    assert found.ranks.tolist() == [1.0, 2.0, 3.0]
    medians = {"a": "good", "b": "baseline", "first": 0.55, "second": 51.5}
    assert found.notes[0].facts == {"case": "medians", **medians}
    assert "note: good and baseline" in str(found)
    sure = comparison.scores(table, higher_is_better=False, same_unit=True)
    assert comparison.friedman(sure, higher_is_better=False).notes == ()
    assert "percentage" in comparison.signed_rank(table["good"], table["baseline"]).notes[0]
    assert "percentage" in str(comparison.nemenyi(table, higher_is_better=False))


# ---- randomization


def test_small_measures_can_be_told_by_shuffling() -> None:
    """Shuffled differences tied with the observed one up to 1e-10, whatever the scale: tiny losses had p = 1."""
    losses = np.random.default_rng(0).normal(1.0, 0.1, 30)
    on = strat.Design.simple_random(n=30)
    for scale in (1.0, 1e-12):
        found = comparison.randomization(
            strat.mean(scale * losses), strat.mean(scale * (losses + 0.5)), on=on, permutations=199
        )
        assert found.pvalue == pytest.approx(1 / 200)
    kinds = np.repeat(["A", "B"], 15)
    for scale in (1.0, 1e-12):
        values = scale * (losses + (kinds == "B"))
        found = comparison.stratified_shuffling(values, kinds, strata=["s"] * 30, permutations=199)
        assert found.pvalue == pytest.approx(1 / 200)


def test_scores_near_the_largest_float(tmp_path: Path) -> None:
    """Sums and differences of scores of 1e308 are beyond the largest float; their means and ranks are not."""
    table = {"A": [1e308, -1e308, 1e308], "B": [-1e308, 1e308, 1.5e308]}
    assert comparison.friedman(table, higher_is_better=True).ranks.tolist() == pytest.approx([5 / 3, 4 / 3])
    assert comparison.signed_rank(table["A"], table["B"]).r_plus == 2.5
    path = tmp_path / "large.csv"
    rows = [f"{d},{s},{v}" for d in "abc" for s, v in (("A", "1e308"), ("A", "1e308"), ("B", "9e307"), ("B", "9e307"))]
    path.write_text("set,model,score\n" + "\n".join(rows))
    options = ("--dataset", "set", "--system", "model", "--score", "score", "--higher-is-better", "--json")
    assert json.loads(ask("rank", path, *options))["friedman"]["average_ranks"] == {"A": 1.0, "B": 2.0}
