"""Cross-validation in scikit-learn's words: its values fold by fold, with intervals on the design of the units."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.model_selection import cross_validate as theirs
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

import strat
from strat import protocols
from strat.base.errors import StratError
from strat.base.notes import codes_of
from strat.datasets import gaussian_classes
from strat.measures.scores import AREAS

DATA = gaussian_classes(240, means=[[-1, 0], [1, 0]], rng=1)
THREE = gaussian_classes(240, means=[[-2, 0], [0, 2], [2, 0]], rng=2)
GROUPS = np.arange(240) // 3
BINARY = (
    "accuracy", "balanced_accuracy", "f1", "f1_macro", "f1_micro", "f1_weighted", "precision", "precision_macro",
    "recall", "recall_weighted", "jaccard", "jaccard_macro", "roc_auc", "average_precision", "neg_log_loss",
    "neg_brier_score", "matthews_corrcoef",
)  # fmt: skip
MANY = ("accuracy", "f1_macro", "roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "neg_log_loss", "top_k_accuracy")


def test_the_first_guess_runs() -> None:
    """`strat.cross_validate(model, X, y, cv=GroupKFold(5), groups=g, scoring=[…])` was four TypeErrors."""
    result = strat.cross_validate(
        LogisticRegression(), DATA.X, DATA.y, cv=GroupKFold(5), groups=GROUPS, scoring=["f1_macro", "roc_auc"]
    )
    assert list(result.estimates) == ["f1_macro", "roc_auc"]
    assert result.design().n_units == 80
    assert result["roc_auc"].df == 79
    assert repr(result) == str(result)
    assert "roc_auc" in str(result)


@pytest.mark.parametrize(("data", "names"), [(DATA, BINARY), (THREE, MANY)], ids=["two classes", "three classes"])
def test_every_fold_is_scikit_learns(data, names) -> None:
    cv = StratifiedKFold(4)
    ours = strat.cross_validate(LogisticRegression(), data.X, data.y, cv=cv, scoring=list(names))
    reference = theirs(LogisticRegression(), data.X, data.y, cv=cv, scoring=list(names))
    for name in names:
        sign = -1.0 if name.startswith("neg_") else 1.0
        folds = ours.folds[name.removeprefix("neg_")]
        np.testing.assert_allclose(folds, sign * reference[f"test_{name}"], rtol=1e-12, err_msg=name)
        assert ours[name].value == pytest.approx(folds.mean(), abs=0.05)


def test_pooled_values_are_those_of_evaluate() -> None:
    """The measures are those of `strat.evaluate` on the table of predictions."""
    ours = strat.cross_validate(
        LogisticRegression(), DATA.X, DATA.y, units=GROUPS, scoring=["accuracy", "f1", "roc_auc"]
    )
    table = {name: list(column) for name, column in ours.predictions.items()}
    same = strat.evaluate(
        table, truth="truth", predicted="predicted", score="score", units="unit", metrics=["accuracy", "f1", "auc"]
    )
    (note,) = (note for note in ours.notes if note.code == "new-models")
    for name in ("accuracy", "f1"):
        assert ours[name].value == pytest.approx(same[name].value, rel=1e-12)
        assert ours[name].se == pytest.approx(same[name].se * note.facts["factor"], rel=1e-12)
        (low, high), (least, most) = ours.interval(name), same.interval(name)
        assert low < least < most < high
    assert ours["roc_auc"].value == pytest.approx(ours.folds["roc_auc"].mean(), rel=1e-12)
    assert ours["roc_auc"].value == pytest.approx(same["auc"].value, abs=0.02)


def test_groups_and_units_are_one_thing() -> None:
    one = strat.cross_validate(GaussianNB(), DATA.X, DATA.y, groups=GROUPS)
    two = strat.cross_validate(GaussianNB(), DATA.X, DATA.y, units=GROUPS)
    both = strat.cross_validate(GaussianNB(), DATA.X, DATA.y, units=GROUPS, groups=GROUPS.tolist())
    assert one.to_dict() == two.to_dict() == both.to_dict()
    with pytest.raises(StratError, match="`groups` must be left out where `units` are given"):
        strat.cross_validate(GaussianNB(), DATA.X, DATA.y, units=GROUPS, groups=GROUPS[::-1])


def test_no_unit_is_on_both_sides_and_a_splitter_that_does_so_gets_a_note() -> None:
    result = strat.cross_validate(GaussianNB(), DATA.X, DATA.y, cv=5, units=GROUPS)
    fold_of = {}
    for unit, fold in zip(result.predictions["unit"], result.predictions["fold"], strict=True):
        assert fold_of.setdefault(unit, fold) == fold
    assert "units-split" not in codes_of(result.notes)
    torn = strat.cross_validate(GaussianNB(), DATA.X, DATA.y, cv=KFold(5, shuffle=True, random_state=0), units=GROUPS)
    assert "units-split" in codes_of(torn.notes)


def test_what_the_interval_covers_is_noted() -> None:
    result = strat.cross_validate(GaussianNB(), DATA.X, DATA.y)
    (of_rows, macro) = (note for note in result.notes if note.code == "new-models")
    assert (of_rows.facts["models"], of_rows.facts["unit"], macro.facts["case"]) == (5, "row", "macro")
    assert 1.0 < of_rows.facts["factor"] < np.sqrt(2)


def test_rows_tested_more_than_once_are_one_unit() -> None:
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0)
    once = strat.cross_validate(GaussianNB(), DATA.X, DATA.y, cv=4, scoring="accuracy")
    often = strat.cross_validate(GaussianNB(), DATA.X, DATA.y, cv=cv, scoring="accuracy")
    same = strat.cross_validate(GaussianNB(), DATA.X, DATA.y, cv=4, repeats=3, scoring="accuracy")
    assert often.design().n_units == same.design().n_units == 240
    assert len(often.folds["accuracy"]) == len(same.folds["accuracy"]) == 12
    assert often["accuracy"].se == pytest.approx(once["accuracy"].se, rel=0.1)  # not a third of the variance


def test_rows_in_no_test_fold_are_noted() -> None:
    result = strat.cross_validate(GaussianNB(), DATA.X, DATA.y, cv=ShuffleSplit(1, test_size=0.25, random_state=0))
    assert {"untested": 180, "of": 240} in [note.facts for note in result.notes]


def test_strata_and_weights_make_the_design() -> None:
    strata = np.repeat(["a", "b"], 120)
    weights = np.where(strata == "a", 3.0, 1.0)
    result = strat.cross_validate(
        GaussianNB(), DATA.X, DATA.y, cv=5, units=GROUPS, strata=strata, weights=weights, scoring="accuracy"
    )
    p = result.predictions
    right = p["truth"] == p["predicted"]
    assert result["accuracy"].value == pytest.approx(np.average(right, weights=weights[p["row"]]), rel=1e-12)
    assert result.design().n_strata == 2
    assert result["accuracy"].df == 78  # 80 units less 2 strata: weights that differ between strata cost nothing


TEXTS = [f"{'good' if i % 2 else 'bad'} film {i % 7}" for i in range(60)]
LABELS = ["yes" if i % 2 else "no" for i in range(60)]
PIXELS = np.random.default_rng(0).standard_normal((60, 4, 4)) + np.arange(60)[:, None, None] % 2


def inputs():
    import pandas as pd
    import scipy.sparse

    flat = PIXELS.reshape(60, -1)
    words = make_pipeline(TfidfVectorizer(), LogisticRegression())
    yield pytest.param(words, TEXTS, id="list of texts")
    yield pytest.param(words, pd.Series(TEXTS), id="series of texts")
    yield pytest.param(words, np.array(TEXTS, object), id="array of texts")
    yield pytest.param(
        make_pipeline(DictVectorizer(), LogisticRegression()), [{t.split()[0]: 1.0} for t in TEXTS], id="records"
    )
    yield pytest.param(
        make_pipeline(FunctionTransformer(lambda x: np.reshape(x, (len(x), -1))), GaussianNB()), PIXELS, id="images"
    )
    yield pytest.param(LogisticRegression(), scipy.sparse.csr_matrix(flat), id="sparse")
    yield pytest.param(GaussianNB(), pd.DataFrame(flat).add_prefix("x"), id="frame")
    yield pytest.param(GaussianNB(), flat.tolist(), id="lists")


@pytest.mark.parametrize(("model", "X"), list(inputs()))
def test_whatever_scikit_learn_takes(model, X) -> None:
    """Text and images were refused: `X` must be rows × features."""
    result = strat.cross_validate(model, X, LABELS, cv=4)
    assert result["accuracy"].value > 0.8
    assert protocols.cross_validation(model, X, LABELS, cv=4).error < 0.2
    assert protocols.holdout(model, X, LABELS).error < 0.3


def test_a_list_of_splits() -> None:
    """`folds=list(KFold(4).split(X))` was refused as no splitter."""
    cv = KFold(4, shuffle=True, random_state=3)
    pairs = list(cv.split(DATA.X))
    masks = [(np.isin(np.arange(240), a).tolist(), np.isin(np.arange(240), b).tolist()) for a, b in pairs]
    expected = protocols.cross_validation(GaussianNB(), DATA.X, DATA.y, cv=cv).fold_errors
    for given in (pairs, iter(pairs), masks):
        np.testing.assert_array_equal(
            protocols.cross_validation(GaussianNB(), DATA.X, DATA.y, cv=given).fold_errors, expected
        )


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([], "`cv` must hold at least one pair"),
        ([(0, 1, 2)], "`cv` must hold pairs of training and test rows"),
        ([([0, 1], [240])], "`cv` must hold numbers of rows from 0 to 239"),
        ([([0, 1], [])], "`cv` must hold numbers of rows from 0 to 239"),
        ([([0, 1, 2], [2, 3])], "`cv` must test rows that were not trained on, got 1 rows on both sides in place 0"),
        ("ten", "`cv` must be a number of folds, a scikit-learn splitter or a list"),
        (True, "`cv` must be a number of folds, a scikit-learn splitter or a list"),
        (GroupKFold(3), "`cv` must be able to split these rows, got a GroupKFold .*; pass `units`"),
    ],
)
def test_splits_that_can_not_be(cv, message: str) -> None:
    with pytest.raises(StratError, match=message):
        strat.cross_validate(GaussianNB(), DATA.X, DATA.y, cv=cv)


def test_a_search_within_gets_the_groups() -> None:
    """A GridSearchCV over GroupKFold died of a bare ValueError about groups."""
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=GroupKFold(3))
    for model in (search, make_pipeline(StandardScaler(), search)):
        result = strat.cross_validate(model, DATA.X, DATA.y, cv=4, units=GROUPS, scoring="accuracy")
        assert result["accuracy"].value > 0.7
        assert protocols.cross_validation(model, DATA.X, DATA.y, cv=4, units=GROUPS).error < 0.3


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers the seed that it was given."""

    seeds: list = []  # noqa: RUF012

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.seeds.append(self.random_state)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_the_seed_of_the_estimator_is_drawn_from_rng() -> None:
    """The estimator's own randomness was not: two calls with one `rng` gave two errors."""
    errors = []
    for rng in (1, 1, 2):
        Spy.seeds.clear()
        protocols.cross_validation(Spy(), DATA.X, DATA.y, cv=3, rng=rng)
        errors.append(Spy.seeds[:3])
    assert errors[0] == errors[1] != errors[2]
    assert len(set(errors[0])) == 3
    Spy.seeds.clear()
    protocols.cross_validation(Spy(random_state=7), DATA.X, DATA.y, cv=3)
    assert set(Spy.seeds) == {7}
    Spy.seeds.clear()
    protocols.repeated_holdout(make_pipeline(StandardScaler(), Spy()), DATA.X, DATA.y, repeats=2)
    assert None not in Spy.seeds[:2]


def test_a_forest_can_be_had_again() -> None:
    noise = np.random.default_rng(5).standard_normal((100, 5))
    y = np.tile([0, 1], 50)
    one, two = (strat.cross_validate(RandomForestClassifier(5), noise, y, cv=3, rng=4) for _ in range(2))
    np.testing.assert_array_equal(one.predictions["predicted"], two.predictions["predicted"])


def test_splits_do_not_depend_on_the_estimators_randomness() -> None:
    """Two models compared with one `rng` must be tested on the same folds."""
    forest = protocols.cross_validation(RandomForestClassifier(2), DATA.X, DATA.y, cv=5, rng=9)
    plain = protocols.cross_validation(GaussianNB(), DATA.X, DATA.y, cv=5, rng=9)
    np.testing.assert_array_equal(forest.predictions["row"], plain.predictions["row"])


def test_scores_of_either_class() -> None:
    y = np.where(DATA.y == 1, "cancer", "well")
    for model in (LogisticRegression(), LinearSVC()):
        one = strat.cross_validate(model, DATA.X, y, scoring=["roc_auc", "average_precision"], positive="cancer")
        two = strat.cross_validate(model, DATA.X, y, scoring=["roc_auc", "average_precision"], positive="well")
        assert one["roc_auc"].value == pytest.approx(two["roc_auc"].value, rel=1e-12)
        assert one["average_precision"].value != two["average_precision"].value
        assert one["roc_auc"].positive == "cancer"
    assert strat.cross_validate(LogisticRegression(), DATA.X, y, scoring="roc_auc")["roc_auc"].value > 0.8
    with pytest.raises(StratError, match="`positive` must name the positive class of 'cancer' and 'well'"):
        strat.cross_validate(LogisticRegression(), DATA.X, y, scoring="f1")


def test_decisions_of_several_models_are_noted() -> None:
    result = strat.cross_validate(LinearSVC(), DATA.X, DATA.y, scoring="average_precision")
    assert "scores-of-several-models" in codes_of(result.notes)
    of_folds = strat.cross_validate(LinearSVC(), DATA.X, DATA.y, scoring="roc_auc")
    assert "scores-of-several-models" not in codes_of(of_folds.notes)
    assert result.scores.shape == (240, 1)
    assert strat.cross_validate(SVC(), THREE.X, THREE.y, scoring="accuracy").scores.shape == (240, 3)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (GaussianNB(), {"scoring": "f1macro"}, "`scoring` must be names .* got 'f1macro'; did you mean 'f1_macro'"),
        (GaussianNB(), {"scoring": "neg_mean_squared_error"}, "`scoring` must be names of classification scorers"),
        (GaussianNB(), {"scoring": []}, "`scoring` must name at least one measure"),
        (GaussianNB(), {"scoring": 3}, "`scoring` must be names such as 'f1_macro'"),
        (GaussianNB(), {"scoring": make_scorer(f1_score)}, "got the scikit-learn scorer .* has no interval"),
        (LinearSVC(), {"scoring": "neg_log_loss"}, "`scoring` must not hold 'log_loss' for LinearSVC"),
        (Spy(), {"scoring": "roc_auc"}, "`scoring` must not hold 'roc_auc' for Spy, which gives no score"),
        (GaussianNB(), {"scoring": "accuracy", "positive": 1}, "`positive` must be left out"),
        (GaussianNB(), {"repeats": 2, "cv": KFold(3)}, "`repeats` must be 1 with given splits, got 2"),
        (GaussianNB(), {"weights": [1.0]}, r"`weights` must have as many rows as `y` \(240\), got 1"),
        (GaussianNB(), {"strata": ["a"]}, r"`strata` must have as many rows as `y` \(240\), got 1"),
        (GaussianNB(), {"level": 2}, "`level` must"),
    ],
)
def test_refusals_are_one_sentence(model, options, message: str) -> None:
    with pytest.raises(StratError, match=message) as caught:
        strat.cross_validate(model, DATA.X, DATA.y, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("function", "named", "hint"),
    [
        ("cross_validation", "folds", "cv"),
        ("cross_validation", "random_state", "rng"),
        ("holdout", "groups", "units"),
        ("holdout", "test_size", "test"),
        ("bootstrap", "seed", "rng"),
        ("leave_one_out", "groups", "units"),
        ("compare_protocols", "random_state", "rng"),
        ("peeking", "folds", "cv"),
        ("three_way", "param_grid", "grid"),
    ],
)
def test_a_wrong_keyword_names_the_right_one(function: str, named: str, hint: str) -> None:
    """Four guesses of `cross_validation` failed without the function's name or a hint."""
    call = getattr(protocols, function)
    with pytest.raises(TypeError, match=rf"{function}\(\) got an unexpected keyword argument '{named}'; .*`{hint}`"):
        call(GaussianNB(), DATA.X, DATA.y, **{named: 1})


def test_measures_of_ones_own() -> None:
    def my_kappa(truth, predicted):
        return strat.kappa(truth, predicted)

    named = strat.cross_validate(GaussianNB(), DATA.X, DATA.y, scoring={"mine": my_kappa, "sensitivity": "recall"})
    assert list(named.estimates) == ["mine", "sensitivity"]
    plain = strat.cross_validate(GaussianNB(), DATA.X, DATA.y, scoring=[my_kappa])
    assert plain["my_kappa"].value == named["mine"].value


def test_tables_of_the_result(tmp_path) -> None:
    import pandas as pd

    result = strat.cross_validate(GaussianNB(), pd.DataFrame(DATA.X).add_prefix("x"), DATA.y)
    frame = result.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["measure"].tolist() == ["accuracy", "f1_macro", "roc_auc"]
    assert frame["fold_mean"].tolist() == [result.folds[name].mean() for name in frame["measure"]]
    assert type(result.to_frame("polars")).__module__.startswith("polars")
    assert "strat/cross_validate/3" in result.to_json()
    assert "<table>" in result._repr_html_()
    assert len(result.plot().get_yticklabels()) == 3
    with pytest.raises(StratError, match="`name` must be a measure that was asked for"):
        result["f1"]


def test_protocols_give_data_frames() -> None:
    """`to_frame` gave a dict of arrays."""
    import pandas as pd

    r = protocols.holdout(GaussianNB(), DATA.X, DATA.y)
    frame = r.to_frame("pandas")
    assert isinstance(frame, pd.DataFrame)
    assert frame["error"].item() == r.error
    assert r.to_dict()["error"] == [r.error]
    assert repr(r) == str(r)
    both = protocols.compare_protocols(GaussianNB(), DATA.X, DATA.y, protocols=["hold-out", "resubstitution"])
    assert both.to_frame("pandas")["protocol"].tolist() == ["hold-out", "resubstitution"]
    assert repr(both) == str(both)


def test_every_word_of_scikit_learn_that_is_promised_exists() -> None:
    from sklearn.metrics import get_scorer_names

    known = set(get_scorer_names())
    assert known >= set(BINARY) | set(MANY)
    assert known >= {"neg_log_loss", "neg_brier_score", "average_precision", "top_k_accuracy", *AREAS}


def test_the_signature_shows_scikit_learns_words() -> None:
    assert list(inspect.signature(strat.cross_validate).parameters)[:6] == [
        "estimator",
        "X",
        "y",
        "cv",
        "groups",
        "scoring",
    ]


def test_a_learning_curve_ends_at_the_value_of_all_training_rows() -> None:
    X, y, patient = DATA.X, DATA.y, np.arange(len(DATA.y)) // 3
    curve = strat.learning_curve(LogisticRegression(), X, y, groups=patient, sizes=[0.2, 0.6, 1.0], rng=3)
    result = strat.cross_validate(LogisticRegression(), X, y, groups=patient, scoring="accuracy", rng=3)
    whole, factor = result["accuracy"], result.notes[0].facts["factor"]
    assert curve.axes[0].name == "training rows"
    assert curve.value[-1] == pytest.approx(whole.value, rel=1e-12)
    assert curve.se[-1] == pytest.approx(whole.se / factor, rel=1e-12)
    gain = curve.map(lambda v: v[..., -1] - v[..., 0])  # of models that are tested on the same rows
    assert gain.value == pytest.approx(curve.value[-1] - curve.value[0])
    assert gain.se < np.hypot(curve.se[0], curve.se[-1])


def test_a_learning_curve_rises_where_there_is_something_to_learn() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 30)), rng.integers(0, 2, 600)
    X += 0.25 * (2 * y - 1)[:, None]
    curve = strat.learning_curve(LogisticRegression(), X, y, sizes=[20, 100, 400], scoring="roc_auc")
    assert (np.diff(curve.value) > 0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": [0]}, r"`sizes` must be from 1 to [0-9]+ rows, which the smallest training set has, .* got 0"),
        ({"sizes": [10_000]}, r"`sizes` must be from 1 to [0-9]+ rows, .* got 10000"),
        ({"sizes": [0.5, 20]}, r"`sizes` must be from 1 to [0-9]+ rows, .* got 0\.5, 20"),
        ({"sizes": [1]}, r"`sizes` must leave every class in every training set, got 1\."),
        ({"scoring": ["accuracy", "f1_macro"]}, r"`scoring` must be one measure for a learning curve, got 2\."),
    ],
)
def test_refusals_of_a_learning_curve(options: dict[str, Any], message: str) -> None:
    with pytest.raises(StratError, match=message):
        strat.learning_curve(GaussianNB(), DATA.X, DATA.y, **options)
