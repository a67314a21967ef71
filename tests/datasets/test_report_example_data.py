"""The bundled file is what its script makes, and shows what the project is for."""

from __future__ import annotations

import numpy as np

import strat
from strat.datasets.example import SUBJECTS, example, example_path, example_text


def test_the_bundled_file_is_what_the_script_makes() -> None:
    assert example_path().read_text(encoding="utf-8") == example_text()


def test_it_is_small_and_whole() -> None:
    columns = example()
    assert 300 <= len(columns["item"]) <= 2000
    assert set(columns["subject"].tolist()) == set(SUBJECTS)
    assert all(len(np.unique(columns["subject"][columns["passage"] == p])) == 1 for p in np.unique(columns["passage"]))


def test_guesses_follow_from_scores() -> None:
    columns = example()
    assert (columns["guess"] == np.where(columns["score"] > 0.5, "supported", "refuted")).all()
    assert (columns["correct"] == (columns["guess"] == columns["label"])).all()


def test_rows_of_a_passage_are_alike() -> None:
    found = strat.evaluate(str(example_path()), truth="label", predicted="guess", strata="subject", units="passage")
    low, high = found.interval("accuracy")
    bottom, top = found.naive("accuracy")
    assert found["accuracy"].deff > 2
    assert high - low > 1.5 * (top - bottom)
