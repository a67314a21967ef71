"""From estimators to a verdict: the same splits for all models, several tests, sources of variation, resumed runs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import strat
from strat import StratError, comparison
from strat.datasets import gaussian_classes

DATA = gaussian_classes(120, means=[[-1, 0], [1, 0]], rng=1)
UNITS = np.arange(120) // 3
MODELS = {"nb": GaussianNB(), "knn": KNeighborsClassifier(1)}


class Coin(ClassifierMixin, BaseEstimator):
    """Guesses at random: all that varies is the seed."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.random.default_rng(self.random_state).choice(self.classes_, len(X))


def test_swapping_two_models_flips_the_sign_and_nothing_else():
    result = strat.compare_models(MODELS, DATA.X, DATA.y, cv=5)
    one, other = result.pair("nb", "knn"), result.pair("knn", "nb")
    assert one.difference == pytest.approx(-other.difference)
    assert one.pvalue == pytest.approx(other.pvalue)
    assert one.paired.pvalue == pytest.approx(other.paired.pvalue)
    assert one.posterior.below == pytest.approx(other.posterior.above)


def test_the_level_reaches_every_limit():
    """The limits of the sources of variation had the 0.975 quantile typed in, and pairs printed 95 %."""
    asked = {"X": DATA.X, "y": DATA.y, "cv": 2, "sources": 3}
    narrow, usual = (strat.compare_models(MODELS, **asked, level=level) for level in (0.8, 0.95))
    pairs = [result.pair("nb", "knn") for result in (narrow, usual)]
    assert pairs[0].interval() == pytest.approx(pairs[1].interval(0.8))
    assert pairs[0].interval(0.95) == pytest.approx(pairs[1].interval())
    assert "(80 % " in str(pairs[0])
    assert "95 %" not in str(pairs[0])
    assert (narrow.to_dict()["low"], narrow.to_dict()["high"]) == ([pairs[0].interval()[0]], [pairs[0].interval()[1]])
    one, other = (result.sources["accuracy"][("nb",)] for result in (narrow, usual))
    for name in ("training", "test"):
        (low, high), (least, most) = ((part.low, part.high) for part in (getattr(one, name), getattr(other, name)))
        assert least <= low <= high < most
    assert str(one).count("(80 % ") == 4
    assert "80 % interval" in narrow.plot().get_xlabel()


def test_scores_are_those_of_scikit_learn_on_the_same_splits():
    splits = list(GroupKFold(4).split(DATA.X, DATA.y, UNITS))
    result = strat.compare_models(MODELS, DATA.X, DATA.y, cv=splits, groups=UNITS, metrics=["accuracy", "neg_log_loss"])
    for place, model in enumerate(MODELS.values()):
        assert result.scores["accuracy"][:, place] == pytest.approx(cross_val_score(model, DATA.X, DATA.y, cv=splits))
        losses = -cross_val_score(model, DATA.X, DATA.y, cv=splits, scoring="neg_log_loss")
        assert result.scores["log_loss"][:, place] == pytest.approx(losses, rel=1e-6)
    assert result.best("log_loss") == "nb"  # lower is better


def test_the_pair_holds_the_named_tests():
    result = strat.compare_models(MODELS, DATA.X, DATA.y, cv=5, repeats=2, five_by_two=True, rope=0.02)
    pair, values = result.pair("nb", "knn"), result.scores["accuracy"]
    assert result.ratio == pytest.approx(1 / 4)
    assert pair.pvalue == comparison.corrected_t(*values.T, ratio=result.ratio).pvalue
    expected = comparison.bayesian_correlated_t(*values.T, ratio=result.ratio, rope=0.02)
    assert pair.posterior.probabilities == expected.probabilities
    halves = result.halves["accuracy"]
    assert halves.shape == (5, 2, 2)
    assert pair.halves.pvalue == comparison.five_by_two_f(halves[..., 0], halves[..., 1]).pvalue
    assert pair.recommended == "corrected t over splits"
    assert "trained on other rows" in pair.reason


def test_the_paired_estimate_is_wider_than_for_given_models():
    result = strat.compare_models(MODELS, DATA.X, DATA.y, cv=5)
    pair = result.pair("nb", "knn").paired
    given = comparison.paired(*result.statistics["accuracy"].values(), on=result.sampling, higher_is_better=True)
    assert pair.value == given.value
    assert 1.0 < pair.se / given.se <= np.sqrt(2)
    wider, narrower = pair.interval(), given.interval()
    assert wider[0] < narrower[0] < narrower[1] < wider[1]


def test_units_are_never_torn_and_make_the_paired_estimate():
    result = strat.compare_models(MODELS, DATA.X, DATA.y, cv=4, groups=UNITS)
    assert result.sampling.n_units == 40
    assert not result.notes


def test_few_splits_recommend_the_paired_estimate():
    rows = np.arange(120)
    result = strat.compare_models(MODELS, DATA.X, DATA.y, cv=[(rows[:80], rows[80:])])
    pair = result.pair("nb", "knn")
    assert pair.recommended == "paired estimate"
    assert pair.corrected is None
    assert pair.pvalue == pair.paired.pvalue
    assert "too few" in pair.reason


def test_equal_models_are_not_known_to_be_equivalent():
    result = strat.compare_models({"a": GaussianNB(), "b": GaussianNB()}, DATA.X, DATA.y, cv=5)
    pair = result.pair("a", "b")
    assert (pair.difference, pair.pvalue) == (0.0, 1.0)
    assert pair.corrected is None
    assert pair.posterior is None  # splits without variation say nothing of the size of a difference
    assert [note.code for note in pair.notes] == ["no-variation"]
    low, high = pair.interval()
    assert low < 0 < high


def test_texts_and_nested_group_searches_are_taken():
    texts = [f"{'good fine' if label else 'bad poor'} word{k % 7}" for k, label in enumerate(DATA.y)]
    models = {
        "words": make_pipeline(TfidfVectorizer(), LogisticRegression()),
        "search": GridSearchCV(make_pipeline(TfidfVectorizer(), KNeighborsClassifier()),
                               {"kneighborsclassifier__n_neighbors": [1, 3]}, cv=GroupKFold(2)),
    }  # fmt: skip
    result = strat.compare_models(models, texts, DATA.y, cv=3, groups=UNITS)
    assert result.mean("words") == 1.0


def test_a_run_goes_on_where_it_stopped(tmp_path):
    """What is in the folder is read; another model, seed or data trains anew."""
    steps = []

    def stop(done, total, name):
        steps.append((done, total, name))
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        strat.compare_models(MODELS, DATA.X, DATA.y, cv=5, folder=tmp_path, progress=stop)
    kept = sorted(tmp_path.glob("*.npz"))
    assert 4 <= len(kept) <= 10
    assert steps[3] == (4, 10, "nb")
    first = kept[0].stat().st_mtime_ns
    whole = strat.compare_models(MODELS, DATA.X, DATA.y, cv=5, folder=tmp_path)
    assert len(list(tmp_path.glob("*.npz"))) == 10
    assert kept[0].stat().st_mtime_ns == first
    assert np.array_equal(
        whole.scores["accuracy"], strat.compare_models(MODELS, DATA.X, DATA.y, cv=5).scores["accuracy"]
    )
    strat.compare_models(MODELS, DATA.X + 1, DATA.y, cv=5, folder=tmp_path)
    assert len(list(tmp_path.glob("*.npz"))) == 20
    kept[0].write_bytes(b"nothing")
    with pytest.raises(StratError, match="damaged file"):
        strat.compare_models(MODELS, DATA.X, DATA.y, cv=5, folder=tmp_path)


def test_jobs_do_not_change_the_numbers():
    one = strat.compare_models(MODELS, DATA.X, DATA.y, cv=3)
    two = strat.compare_models(MODELS, DATA.X, DATA.y, cv=3, n_jobs=2)
    assert np.array_equal(one.scores["accuracy"], two.scores["accuracy"])


def test_the_chosen_model_is_trained_on_everything():
    result = strat.compare_models(MODELS, DATA.X, DATA.y, cv=5)
    assert np.array_equal(result.refit("nb").predict(DATA.X), GaussianNB().fit(DATA.X, DATA.y).predict(DATA.X))
    assert type(result.refit()) is type(MODELS[result.best()])


def test_sources_of_a_coin_are_its_seed_and_of_a_fixed_rule_its_test_set():
    """A coin on n test rows: seed variance 1/(4n). A rule that learns nothing: no training, no seed variance."""
    models = {"coin": Coin(), "rule": DummyClassifier()}
    y = np.tile([0, 1], 150)
    result = strat.compare_models(models, np.zeros((300, 1)), y, cv=3, sources=12, label_noise=0.1)
    coin, rule = result.sources["accuracy"][("coin",)], result.sources["accuracy"][("rule",)]
    assert coin.seed.variance == pytest.approx(0.25 / 100, rel=0.25)
    assert coin.seed.low < 0.25 / 100 < coin.seed.high
    assert rule.seed.variance == rule.training.variance == 0.0
    assert rule.test.variance == pytest.approx(0.25 / 99)
    assert rule.labels.variance == pytest.approx(0.1 * 0.9 / 100, rel=0.05)
    difference = result.sources["accuracy"][("coin", "rule")]
    assert difference.seed.variance == pytest.approx(coin.seed.variance)


@pytest.mark.slow
def test_the_training_component_is_that_of_independent_training_sets():
    """Truth: the spread of the expected accuracy of LDA over many training sets of 40 rows."""
    truth = []
    far = gaussian_classes(20_000, means=[[-0.7] * 4, [0.7] * 4], rng=99)
    for k in range(300):
        own = gaussian_classes(40, means=[[-0.7] * 4, [0.7] * 4], rng=1000 + k)
        truth.append(LinearDiscriminantAnalysis().fit(own.X, own.y).score(far.X, far.y))
    estimates = []
    for k in range(25):
        data = gaussian_classes(120, means=[[-0.7] * 4, [0.7] * 4], rng=k)
        models = {"lda": LinearDiscriminantAnalysis(), "nothing": DummyClassifier()}
        found = strat.compare_models(models, data.X, data.y, cv=2, sources=6, rng=k).sources["accuracy"][("lda",)]
        estimates.append(found.training.variance)
    expected, spread = np.var(truth, ddof=1), np.std(estimates) / 5
    # the interaction of training set and test rows is in it: never less, and at most a test set's own variance more
    assert expected - 3 * spread < np.mean(estimates) < expected + 0.06 * 0.94 / 40 + 3 * spread


def test_output_forms():
    result = strat.compare_models(MODELS, DATA.X, DATA.y, cv=5, metrics=["accuracy", "roc_auc"])
    data = json.loads(result.to_json())
    assert data["schema"] == "strat/compare_models/2"
    assert [(row["measure"], row["a"], row["b"]) for row in data["pairs"]] == [
        ("accuracy", "nb", "knn"), ("auc", "nb", "knn")]  # fmt: skip
    assert "recommended: corrected t" in str(result)
    assert "nb" in result._repr_html_()
    assert result.plot().get_title() == "5-fold cross-validation"
    assert set(result.pvalues("roc_auc")) == {("nb", "knn")}
    assert str(result.pair("nb", "knn")).startswith("accuracy, nb − knn:")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": {"one": GaussianNB()}}, "`models` must map names to two models or more, got 1"),
        ({"models": [GaussianNB(), GaussianNB()]}, "`models` must be a dictionary"),
        ({"models": {"a": GaussianNB(), "b": 3}}, r"`models\['b'\]` must have `fit` and `predict`"),
        ({"rope": -1.0}, "`rope` must be the largest difference that does not matter"),
        ({"label_noise": 0.9}, "`label_noise` must lie between 0 and 0.5"),
    ],
)
def test_errors_say_what_is_wrong(change, message):
    with pytest.raises(StratError, match=message):
        strat.compare_models(**{"models": MODELS, "X": DATA.X, "y": DATA.y, "cv": 3} | change)


def test_names_that_do_not_exist():
    result = strat.compare_models(MODELS, DATA.X, DATA.y, cv=3)
    with pytest.raises(StratError, match="`b` must be one of the models, got 'kn'"):
        result.pair("nb", "kn")
    with pytest.raises(StratError, match="`metric` must be one that was measured, got 'auc'"):
        result.pair("nb", "knn", "auc")
    with pytest.raises(StratError, match="`b` must be another model than `a`"):
        result.pair("nb", "nb")
