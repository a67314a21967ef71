"""Results show themselves in a notebook by their sentence, never by the arrays that they hold."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from strat import comparison, data, gaussian, planning, protocols, recognition, verbs

TABLE = np.random.default_rng(0).normal(size=(6, 6)) + 2 * np.eye(6)
WHO = {"similarity": TABLE, "probes": list("abcdef"), "gallery": list("abcdef")}
X = np.array([[float(i % 7), float(i % 5)] for i in range(40)])
Y = np.arange(40) % 2
RESULTS = {
    "ranks": lambda: recognition.ranks(**WHO),
    "curve": lambda: recognition.match_curve(recognition.ranks(**WHO)),
    "sizes": lambda: recognition.size_curve(recognition.ranks(**WHO)),
    "verification": lambda: recognition.verification(**WHO),
    "det": lambda: recognition.verification(**WHO).det([0.5]),
    "sets": lambda: recognition.representation(["a"], ["a", "<b>"]),
    "protocol": lambda: protocols.holdout(GaussianNB(), X, Y),
    "plan": lambda: planning.rows_for_width(width=0.1, proportion=0.5),
    "allocation": lambda: planning.neyman_allocation(sizes=[50, 30], deviations=[1, 2], total=20),
    "simulated": lambda: gaussian.Simulated(np.array([0.1, 0.2, 0.4])),
    "sample": lambda: verbs.sample({"i": np.arange(30)}, size=5, items="i"),
    "items": lambda: data.ItemTable(np.array(["a", "a"]), np.array(["1", "2"]), np.array([0.0, 1.0])),
    "chance": lambda: comparison.chance([[5, 1], [2, 6]]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_sentence_in_a_notebook(name):
    shown = RESULTS[name]()._repr_html_()
    assert shown.startswith("<table>" if name == "sample" else "<pre>")  # a sample is a table of rows
    assert "array(" not in shown
    assert "<b>" not in shown


def test_sentences_of_ranks_and_simulations():
    assert str(RESULTS["ranks"]()).startswith("6 probes against N = 6: ")
    assert str(RESULTS["simulated"]()) == "0.2333 (se 0.088; sd 0.153 over 3 sample sets)"
    assert str(RESULTS["items"]()) == "2 rows: 2 items, 1 system"
