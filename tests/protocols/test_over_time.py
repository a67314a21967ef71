"""Rows in the order of time: errors that rise get a note, and each training is tested on all that came later."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB

from strat import protocols
from strat.base.errors import StratError
from strat.base.notes import codes_of

SPLITS = TimeSeriesSplit(5)


def rows(seed: int, turn: int, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Two normal classes that exchange their places after `turn` rows."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 2)) + y[:, None] * (1 - 2 * (np.arange(n) > turn))[:, None], y


def told(result: protocols.ProtocolResult) -> bool:
    return "rising-errors" in codes_of(result.notes)


def test_the_errors_of_a_turning_world_get_a_note_and_those_of_a_steady_one_hardly_ever():
    turning = [told(protocols.cross_validation(GaussianNB(), *rows(s, 250), cv=SPLITS)) for s in range(20)]
    steady = [told(protocols.cross_validation(GaussianNB(), *rows(s, 400), cv=SPLITS)) for s in range(60)]
    assert np.mean(turning) > 0.9
    assert np.mean(steady) < 0.1


def test_the_note_is_for_folds_in_the_order_of_the_rows_only():
    X, y = rows(0, 250)
    assert told(protocols.cross_validation(GaussianNB(), X, y, cv=KFold(5)))
    assert not told(protocols.cross_validation(GaussianNB(), X, y, cv=KFold(5, shuffle=True, random_state=0)))
    assert not told(protocols.cross_validation(GaussianNB(), X, y, cv=5))
    assert not told(protocols.cross_validation(GaussianNB(), X, y, cv=TimeSeriesSplit(2)))
    assert not told(protocols.cross_validation(DummyClassifier(), X, np.arange(400) == 0, cv=KFold(5)))
    (note,) = (n for n in protocols.cross_validation(GaussianNB(), X, y, cv=SPLITS).notes if "rises" in n)
    assert set(note.facts) == {"first", "last"}


def test_of_few_units_a_rise_is_no_evidence():
    """Rows that share their error by unit: as rows p is far below 0.025, as six units it is not."""
    X, y = np.zeros((60, 1)), np.repeat([0, 0, 1, 0, 1, 1], 10)
    unit, by = np.repeat(np.arange(6), 10), KFold(3)
    model = DummyClassifier(strategy="constant", constant=0)
    assert told(protocols.cross_validation(model, X, y, cv=by))
    assert not told(protocols.cross_validation(model, X, y, cv=by, units=unit))
    assert not told(protocols.cross_validation(model, X, y, cv=by, units=np.zeros(60)))


def test_each_training_is_tested_on_each_later_part():
    """The errors of the same fits by hand."""
    X, y = rows(3, 150, 301)
    found = protocols.drift(GaussianNB(), X, y, parts=4)
    pieces = np.array_split(np.arange(301), 4)
    for i in range(4):
        model = GaussianNB().fit(X[np.concatenate(pieces[: i + 1])], y[np.concatenate(pieces[: i + 1])])
        for j in range(4):
            wanted = np.mean(model.predict(X[pieces[j]]) != y[pieces[j]]) if j > i else np.nan
            assert found.errors[i, j] == pytest.approx(wanted, nan_ok=True)
    short = protocols.drift(GaussianNB(), X, y, parts=4, window=1)
    last = GaussianNB().fit(X[pieces[2]], y[pieces[2]])
    assert short.errors[2, 3] == np.mean(last.predict(X[pieces[3]]) != y[pieces[3]])


def test_where_the_world_turns_older_classifiers_err_more():
    turned = protocols.drift(GaussianNB(), *rows(1, 200, 1200), parts=6, window=1)
    assert turned.errors[0, 5] > turned.errors[4, 5] + 0.1
    steady = [protocols.drift(GaussianNB(), *rows(s, 600, 600), window=1).errors for s in range(10)]
    assert abs(np.mean([e[0, 5] - e[4, 5] for e in steady])) < 0.03
    curves = turned.plot().lines
    assert [np.isfinite(np.asarray(c.get_ydata())).sum() for c in curves] == [5, 4, 3, 2, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"parts": 1}, "`parts` must be a whole number from 2 to 400, got 1"),
        ({"parts": 500}, "`parts` must be a whole number from 2 to 400, got 500"),
        ({"window": 0}, "`window` must be a whole number of at least 1, got 0"),
    ],
)
def test_wrong_arguments_are_one_sentence(arguments, message):
    with pytest.raises(StratError, match=message):
        protocols.drift(GaussianNB(), *rows(0, 250), **arguments)
