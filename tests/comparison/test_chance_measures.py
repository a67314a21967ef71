"""Measures against chance: exact where margins decide, Mann and Whitney's for the AUC, permutations elsewhere."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from scipy.stats import binomtest, mannwhitneyu
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, matthews_corrcoef
from typer.testing import CliRunner

from strat import StratError, comparison
from strat.cli.app import app

RNG = np.random.default_rng(0)
TRUTH = np.array([0, 0, 1, 1, 2, 2, 2])
GUESS = np.array([0, 1, 1, 1, 2, 2, 0])
SKLEARN = {"kappa": cohen_kappa_score, "mcc": matthews_corrcoef, "balanced_accuracy": balanced_accuracy_score}


@pytest.mark.parametrize("measure", ["kappa", "mcc"])
def test_exact_tests_equal_all_orders(measure):
    """Every distinct order of seven predictions, with scikit-learn's measure."""
    observed = SKLEARN[measure](TRUTH, GUESS)
    every = [SKLEARN[measure](TRUTH, order) for order in set(itertools.permutations(GUESS.tolist()))]
    result = comparison.chance_of_measure(TRUTH, GUESS, measure=measure)
    assert result.statistic == pytest.approx(observed)
    assert result.pvalue == pytest.approx(np.mean(np.array(every) >= observed - 1e-12))
    assert "exact" in result.name


def test_permutations_of_balanced_accuracy_come_near_all_orders():
    observed = balanced_accuracy_score(TRUTH, GUESS)
    every = [balanced_accuracy_score(TRUTH, order) for order in set(itertools.permutations(GUESS.tolist()))]
    expected = np.mean(np.array(every) >= observed - 1e-12)
    result = comparison.chance_of_measure(TRUTH, GUESS, measure="balanced_accuracy", permutations=4999)
    assert result.pvalue == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 4999) + 1e-3)


@pytest.mark.parametrize("n", [8, 40, 150])
def test_auc_is_mann_and_whitneys(n):
    truth = RNG.permutation(np.arange(n) % 3 == 0)
    score = RNG.normal(size=n) + 0.4 * truth
    result = comparison.chance_of_measure(truth, score=score, measure="auc")
    expected = mannwhitneyu(score[truth], score[~truth], alternative="greater", method="exact")
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    assert result.statistic == pytest.approx(expected.statistic / (truth.sum() * (~truth).sum()))


def test_tied_scores_are_permuted():
    truth, score = np.tile([0, 1], 30), np.round(RNG.normal(size=60) + 0.5 * np.tile([0, 1], 30))
    result = comparison.chance_of_measure(truth, score=score, measure="auc", permutations=1999)
    assert "permutations" in result.name
    normal = mannwhitneyu(score[truth == 1], score[truth == 0], alternative="greater", method="asymptotic").pvalue
    assert result.pvalue == pytest.approx(normal, abs=0.03)


def test_within_units_it_is_the_exact_test_within_units():
    truth = RNG.integers(0, 3, 60)
    guess = np.where(RNG.random(60) < 0.3, truth, RNG.integers(0, 3, 60))
    units = np.arange(60) // 5
    exact = comparison.chance_within(truth, guess, units=units).pvalue
    drawn = comparison.chance_of_measure(truth, guess, measure="kappa", units=units, permutations=2999)
    assert drawn.pvalue == pytest.approx(exact, abs=4 * np.sqrt(exact / 2999) + 1e-3)
    assert "within every unit" in drawn.null


def test_no_information_rate_is_the_binomial_test():
    result = comparison.no_information_rate([[30, 5, 1], [4, 20, 2], [3, 3, 12]])
    assert result.rate == pytest.approx(36 / 80)
    assert result.pvalue == pytest.approx(binomtest(62, 80, 36 / 80, alternative="greater").pvalue)
    assert comparison.no_information_rate([[0, 2], [3, 0]]).pvalue == 1.0


def test_the_command_has_interval_rate_and_measures(tmp_path):
    rows = [
        "y,p,s,u",
        *(f"{t},{g},{k / 7},{k // 2}" for k, (t, g) in enumerate(zip(TRUTH % 2, GUESS % 2, strict=True))),
    ]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(rows))
    base = ["chance", str(path), "--truth", "y", "--predicted", "p", "--json"]
    found = CliRunner().invoke(
        app, [*base, "--metric", "mcc", "--metric", "auc", "--score", "s"], catch_exceptions=False
    )
    assert found.exit_code == 0, found.output
    data = json.loads(found.stdout)
    assert data["interval"] == pytest.approx(list(comparison.chance_of_labels(TRUTH % 2, GUESS % 2).interval()))
    assert [one["test"].split()[0] for one in data["tests"]] == ["no-information", "mcc", "auc"]
    clustered = CliRunner().invoke(app, [*base, "--units", "u"], catch_exceptions=False)
    assert "interval" not in json.loads(clustered.stdout)
    with pytest.raises(StratError, match="`--score` must be given with `--metric auc`"):
        CliRunner().invoke(app, [*base, "--metric", "auc"], catch_exceptions=False)
    with pytest.raises(StratError, match="`--metric` must be one of"):
        CliRunner().invoke(app, [*base, "--metric", "f1"], catch_exceptions=False)


def test_errors_say_what_is_wrong():
    with pytest.raises(StratError, match="`measure` 'auc' must come with `score` and no `predicted`"):
        comparison.chance_of_measure(TRUTH, GUESS, measure="auc")
    with pytest.raises(StratError, match="`measure` 'mcc' must come with `predicted` and no `score`"):
        comparison.chance_of_measure(TRUTH, score=GUESS, measure="mcc")
    with pytest.raises(StratError, match="`truth` must have two classes for the AUC, got 3"):
        comparison.chance_of_measure(TRUTH, score=GUESS, measure="auc")
    with pytest.raises(StratError, match="`measure` must be one of"):
        comparison.chance_of_measure(TRUTH, GUESS, measure="f1")
