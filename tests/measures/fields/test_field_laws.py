"""Laws of the measures of fields: order, weights, copies, gradients; intervals that cover; readers that add up."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import strat
from strat import measures as m
from strat.estimation import linear
from strat.measures.base import Statistic, block_totals

N = 36


class Data:
    """Rows of every kind that a measure of a field takes."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        words = np.array(list("abcdefgh"))
        reference = [" ".join(rng.choice(words, rng.integers(5, 12))) for _ in range(N)]
        self.reference = np.array(reference)
        self.hypothesis = np.array(
            [" ".join(w if rng.random() < 0.8 else "z" for w in text.split()) for text in reference]
        )
        self.truth = np.concatenate([[0, 1], rng.integers(0, 2, N - 2)])
        self.predicted = np.concatenate([[1, 0, 1, 0], rng.integers(0, 2, N - 4)])
        self.risk, self.new = rng.random(N).round(2), rng.random(N).round(2)
        self.y, self.x = rng.normal(5, 1, N).round(1), rng.normal(5, 1, N).round(1)
        self.members = rng.normal(5, 1, (N, 4))
        self.ratings = rng.integers(1, 4, (N, 3))
        self.masks, self.guess = rng.integers(0, 3, (N, 5, 5)), rng.integers(0, 3, (N, 5, 5))
        self.counts = rng.integers(1, 4, (N, 2))
        self.severity = rng.choice(["Major", "Minor", "No-error"], N)
        self.w = rng.gamma(2.0, size=N)

    def rows(self, index: Any) -> Data:
        chosen = object.__new__(Data)
        chosen.__dict__ = {name: value[index] for name, value in self.__dict__.items()}
        return chosen


MEASURES: dict[str, Callable[[Data], Statistic]] = {
    "wer": lambda d: m.wer(d.reference, d.hypothesis),
    "cer": lambda d: m.cer(d.reference, d.hypothesis),
    "mer": lambda d: m.mer(d.reference, d.hypothesis),
    "wil": lambda d: m.wil(d.reference, d.hypothesis),
    "bleu": lambda d: m.bleu(d.reference, d.hypothesis),
    "chrf": lambda d: m.chrf(d.reference, d.hypothesis),
    "ter": lambda d: m.ter(d.reference, d.hypothesis),
    "rouge": lambda d: m.rouge(d.reference, d.hypothesis),
    "exact match": lambda d: m.exact_match(d.reference, d.hypothesis),
    "token f1": lambda d: m.token_f1(d.reference, d.hypothesis),
    "net benefit": lambda d: m.net_benefit(d.truth, d.risk, thresholds=[0.1, 0.4]),
    "O:E": lambda d: m.observed_expected(d.truth, d.risk),
    "LR+": lambda d: m.positive_likelihood_ratio(d.truth, d.predicted),
    "LR-": lambda d: m.negative_likelihood_ratio(d.truth, d.predicted),
    "nri": lambda d: m.nri(d.truth, d.risk, d.new, cuts=[0.3, 0.6]),
    "idi": lambda d: m.idi(d.truth, d.risk, d.new),
    "concordance": lambda d: m.concordance(d.y, d.truth, d.risk),
    "mape": lambda d: m.mape(d.y, d.x),
    "mase": lambda d: m.mase(d.y, d.x, d.risk + 1),
    "pinball": lambda d: m.pinball_loss(d.y, d.x, q=0.8),
    "crps": lambda d: m.crps(d.y, d.members),
    "interval share": lambda d: m.interval_share(d.y, d.x - 1, d.x + 1),
    "spearman": lambda d: m.spearman(d.y, d.risk),
    "kendall": lambda d: m.kendall(d.y, d.risk),
    "fleiss": lambda d: m.fleiss_kappa(d.ratings),
    "gwet": lambda d: m.gwet_ac(d.ratings, weights="linear"),
    "dice": lambda d: m.dice(list(d.masks), list(d.guess)),
    "dice of totals": lambda d: m.dice(list(d.masks), list(d.guess), average="totals"),
    "miou": lambda d: m.mean_iou(list(d.masks), list(d.guess), classes=3),
    "hausdorff": lambda d: m.hausdorff(list(d.masks), list(d.guess)),
    "pq": lambda d: m.panoptic_quality(d.counts * 0.8, d.counts, d.counts[:, ::-1]),
    "cost": lambda d: m.cost_per_success(d.y, d.truth),
    "alpha": lambda d: m.krippendorff_alpha(d.ratings, level="ordinal"),
    "icc": lambda d: m.icc(d.ratings.astype(float)),
}
COUNTED = {"alpha", "icc"}  # n − 1 in them counts rows, so that weight 2 is not quite the row twice
each = pytest.mark.parametrize("name", list(MEASURES))


@each
def test_rows_and_weights(name: str) -> None:
    make = MEASURES[name]
    for seed in range(3):
        data = Data(seed)
        statistic = make(data)
        value = statistic.value(data.w)
        order = np.random.default_rng(seed).permutation(N)
        np.testing.assert_allclose(make(data.rows(order)).value(data.w[order]), value, atol=1e-10)
        np.testing.assert_allclose(statistic.value(7.3 * data.w), value, atol=1e-10)
        if name not in COUNTED:
            times = 1 + np.arange(N) % 3
            copies = make(data.rows(np.repeat(np.arange(N), times))).value()
            np.testing.assert_allclose(copies, statistic.value(times), atol=1e-10)
            kept = np.arange(N) % 5 != 4
            np.testing.assert_allclose(make(data.rows(kept)).value(), statistic.value(kept.astype(float)), atol=1e-10)
        totals = np.concatenate([block_totals(block, data.w) for block in statistic.rows])
        many = statistic.function(np.stack([totals, 2 * totals]).reshape(1, 2, -1))
        assert many.shape == (1, 2, *statistic.shape)
        np.testing.assert_allclose(many[0, 1], value, atol=1e-10)


@each
def test_the_gradient_is_the_derivative(name: str) -> None:
    data = Data(3)
    statistic = MEASURES[name](data)
    totals = np.concatenate([block_totals(block, data.w) for block in statistic.rows])
    gradient, step = linear.gradient(statistic, totals, data.w).reshape(len(totals), *statistic.shape), 1e-5
    for j in range(0, len(totals), 5):
        up, down = totals.copy(), totals.copy()
        up[j] += step
        down[j] -= step
        slope = (statistic.function(up) - statistic.function(down)) / (2 * step)
        found = 1e-3 if statistic.gradient is None else 1e-7  # a step of a thousandth of all that is added up
        np.testing.assert_allclose(gradient[j], slope, rtol=found, atol=1e-6)


@each
def test_closed_form_and_jackknife_agree(name: str) -> None:
    statistic, design = MEASURES[name](Data(4)), strat.Design.simple_random(n=N)
    closed = strat.estimate(statistic, on=design)
    left_out = strat.estimate(statistic, on=strat.jackknife(design))
    np.testing.assert_allclose(closed.se, left_out.se, rtol=0.15)


def test_der_adds_up_over_recordings() -> None:
    one, other = [(0.0, 10.0, "A"), (10.0, 14.0, "B")], [(0.0, 8.0, "x"), (8.0, 15.0, "y")]
    parts = m.diarization_errors([one, other], [other, one])
    assert float(m.der([one, other], [other, one]).value()) == pytest.approx(
        (parts["missed"] + parts["false_alarm"] + parts["confusion"]).sum() / parts["total"].sum()
    )
    assert float(m.der([one], [one]).value()) == 0.0


def test_mqm_counts_a_segment_once() -> None:
    data = Data(1)
    segments = np.arange(N) // 3
    penalties = m.mqm_weights(data.severity, np.full(N, "Style"))
    value = float(m.mqm(data.severity, np.full(N, "Style"), segments=segments).value())
    assert value == pytest.approx(penalties.sum() / 12)


def test_mqm_of_all_systems_counts_a_segment_once_for_each() -> None:
    """What `by` says of whose the segments are: of systems, but not of kinds of errors."""
    rng = np.random.default_rng(2)
    table = {
        "segment": np.arange(120) % 20,
        "system": np.repeat(["A", "B", "C"], 40),
        "severity": rng.choice(["Major", "Minor", "No-error"], 120),
        "category": rng.choice(["Style", "Accuracy"], 120),
    }
    asked = {"truth": "category", "predicted": "severity", "items": "segment", "metrics": "mqm"}
    systems = strat.evaluate(table, by="system", **asked)
    each = [estimate.value for estimate in systems.groups["mqm"].each.values()]
    assert systems["mqm"].value == pytest.approx(np.mean(each))
    plain = strat.evaluate(table, **asked)["mqm"].value
    assert strat.evaluate(table, by="category", **asked)["mqm"].value == pytest.approx(plain)


def test_unanswered_queries_count_nothing_and_are_noted() -> None:
    statistic = m.mrr({"q1": {"b": 1}, "q2": {"c": 1}}, {"q1": {"a": 1.0, "b": 1.0}})
    assert float(statistic.value()) == 0.5  # of equal scores the later name comes first
    assert [note.code for note in statistic.notes] == ["unanswered-queries", "tied-documents"]


@pytest.mark.parametrize(("metric", "value"), [("wer", 0.125), ("exact_match", 2 / 3), ("rougeL", 8 / 9)])
def test_texts_in_a_table(metric: str, value: float) -> None:
    rng = np.random.default_rng(1)
    table = {
        "reference": ["a b c", "d e", "f g h"] * 8,
        "A": ["a x c", "d e", "f g h"] * 8,
        "B": ["a x c", "d x", "f g h"] * 8,
        "document": rng.integers(0, 6, 24),
    }
    result = strat.evaluate(table, truth="reference", predicted="A", units="document", metrics=metric)
    assert result.estimates[next(iter(result.estimates))].value == pytest.approx(value)
    board = strat.compare(table, truth="reference", predicted=["A", "B"], units="document", metrics=metric)
    assert re.search(r"^1\S* +A ", str(board), re.MULTILINE), board


def test_numbers_and_risks_in_a_table() -> None:
    data = Data(1)
    table = {"y": data.y, "x": data.x, "t": data.truth, "p": data.predicted, "s": data.risk, "u": np.arange(N) // 3}
    for metric, expected in (
        ("spearman", m.spearman(data.y, data.x)),
        ("kendall", m.kendall(data.y, data.x)),
        ("mape", m.mape(data.y, data.x)),
    ):
        result = strat.evaluate(table, truth="y", predicted="x", units="u", metrics=metric)
        assert result[metric].value == pytest.approx(float(expected.value()))
    result = strat.evaluate(table, truth="t", predicted="p", score="s", units="u",
                            metrics=["positive_likelihood_ratio", "observed_expected"])  # fmt: skip
    expected = float(m.positive_likelihood_ratio(data.truth, data.predicted).value())
    assert result["positive_likelihood_ratio"].value == pytest.approx(expected)
    assert result["observed_expected"].value == pytest.approx(data.truth.sum() / data.risk.sum())


FIELDS = [
    (module.rpartition(".")[2], name)
    for name in m.__all__
    if (module := getattr(m, name).__module__).startswith("strat.measures.fields.")
]


def test_every_field_has_measures() -> None:
    assert {module for module, _ in FIELDS} == {
        "agreement", "answers", "clinical", "costs", "detection", "diarization", "forecasts", "masks", "retrieval",
        "speech", "translation",
    }  # fmt: skip


@pytest.mark.parametrize(("module", "name"), FIELDS)
def test_every_measure_says_what_is_added_up_and_its_usual_unit(module: str, name: str) -> None:
    text = getattr(importlib.import_module(f"strat.measures.fields.{module}"), name).__doc__
    assert "sual unit is" in text or "Units are" in text
    assert re.search(r"\badds?\b|components are|row for each|penalty of each", text)
    assert ">>>" in text


@pytest.mark.parametrize(
    ("metric", "roles", "expected"),
    [
        ("net_benefit@0.3", "tr", lambda d: m.net_benefit(d.truth, d.risk, thresholds=[0.3]).value()[0]),
        ("calibration_slope", "tr", lambda d: m.calibration_slope(d.truth, d.risk).value()[1]),
        ("calibration_intercept", "tr", lambda d: m.calibration_intercept(d.truth, d.risk).value()),
        ("pinball_loss@0.8", "yx", lambda d: m.pinball_loss(d.y, d.x, q=0.8).value()),
        ("fleiss_kappa", "ab", lambda d: m.fleiss_kappa(d.ratings[:, :2]).value()),
        ("krippendorff_alpha", "ab", lambda d: m.krippendorff_alpha(d.ratings[:, :2]).value()),
        ("krippendorff_alpha_ordinal", "ab", lambda d: m.krippendorff_alpha(d.ratings[:, :2], level="ordinal").value()),
        ("gwet_ac1", "ab", lambda d: m.gwet_ac(d.ratings[:, :2]).value()),
        ("gwet_ac2_linear", "ab", lambda d: m.gwet_ac(d.ratings[:, :2], weights="linear").value()),
        ("icc", "ab", lambda d: m.icc(d.ratings[:, :2]).value()),
        ("ratio", "xs", lambda d: d.risk.sum() / d.x.sum()),
        ("cost_per_success", "ps", lambda d: m.cost_per_success(d.risk, d.predicted).value()),
        ("p90", "s", lambda d: m.quantile(d.risk, 0.9).value()),
        ("nri", "tnr", lambda d: m.nri(d.truth, d.new, d.risk).value()),
        ("idi", "tnr", lambda d: m.idi(d.truth, d.new, d.risk).value()),
        ("c_index", "ytr", lambda d: m.concordance(d.y, d.truth, d.risk).value()),
        ("mase", "yxr", lambda d: m.mase(d.y, d.x, d.risk).value()),
        ("coverage", "ylx", lambda d: m.interval_share(d.y, d.x - 1, d.x).value()),
        ("mqm", "cvg", lambda d: m.mqm(d.severity, np.full(N, "Style"), segments=np.arange(N) // 2).value()),
        ("LR-", "tp", lambda d: m.negative_likelihood_ratio(d.truth, d.predicted).value()),
    ],
)
def test_measures_of_fields_in_a_table(metric: str, roles: str, expected: Callable[[Data], float]) -> None:
    data = Data(2)
    data.risk = np.clip(data.risk, 0.02, 0.98)
    table = {"t": data.truth, "r": data.risk, "y": data.y, "x": data.x, "a": data.ratings[:, 0],
             "b": data.ratings[:, 1], "s": data.risk, "p": data.predicted, "u": np.arange(N) // 3, "n": data.new,
             "l": data.x - 1, "c": ["Style"] * N, "v": data.severity, "g": np.arange(N) // 2}  # fmt: skip
    names = {"tr": ("truth", "score"), "xs": ("truth", "score"), "ps": ("predicted", "score"), "s": ("score",),
             "cvg": ("truth", "predicted", "items")}  # fmt: skip
    asked = dict(zip(names.get(roles, ("truth", "predicted", "score")[: len(roles)]), roles, strict=True))
    result = strat.evaluate(table, **asked, units="u", metrics=metric)
    assert result[metric.lower()].value == pytest.approx(float(expected(data)), abs=1e-12)


@pytest.mark.slow
def test_intervals_by_speaker_cover_and_naive_ones_do_not() -> None:
    """Word errors of 40 speakers × 10 utterances: by speaker 95 % cover, by utterance far fewer."""
    rng = np.random.default_rng(1)
    honest = naive = 0
    speakers = np.repeat(np.arange(40), 10)
    for _ in range(300):
        words = rng.integers(5, 15, 400).astype(float)
        rate = np.repeat(rng.beta(2, 8, 40), 10)
        errors = rng.binomial(words.astype(int), rate).astype(float)
        statistic = m.ratio(errors, words)
        for design, place in ((strat.Design.clustered(units=speakers), 0), (strat.Design.simple_random(n=400), 1)):
            low, high = strat.estimate(statistic, on=design).interval(0.95)
            covers = low <= 0.2 <= high
            honest, naive = honest + (covers and place == 0), naive + (covers and place == 1)
    assert 0.91 <= honest / 300 <= 0.98
    assert naive / 300 < 0.8
