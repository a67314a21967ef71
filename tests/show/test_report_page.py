"""The page holds every number of the result, escapes every label, needs no network and stays small."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import strat
from strat import comparison, recognition
from strat.base.limits import changed
from strat.datasets.example import example_path
from strat.estimation.curves import region
from strat.measures import ConfusionMatrix, det, precision_recall, rate_at, roc
from strat.show import report
from strat.show.report import axes, ladders

EVIL = "<script>alert('x')</script>\"&"
RNG = np.random.default_rng(7)


def parsed(page: str) -> HTMLParser:
    """The page through a strict reading: tags must be closed in order."""

    class Reader(HTMLParser):
        void = frozenset({"meta", "link", "input", "br", "path", "circle"})

        def __init__(self) -> None:
            super().__init__()
            self.open: list[str] = []
            self.seen: list[tuple[str, dict[str, str | None]]] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.seen.append((tag, dict(attrs)))
            if tag not in self.void:
                self.open.append(tag)

        def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.seen.append((tag, dict(attrs)))

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag, f"</{tag}> closes nothing"

    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


def embedded(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="strat-data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found.group(1))


@pytest.fixture(scope="module")
def evaluation() -> strat.verbs.Evaluation:
    return strat.evaluate(
        str(example_path()),
        truth="label",
        predicted="guess",
        score="score",
        positive="supported",
        strata="subject",
        units="passage",
    )


@pytest.fixture(scope="module")
def board() -> strat.verbs.Leaderboard:
    return strat.compare(
        str(example_path()), truth="label", predicted=["guess", "baseline"], strata="subject", units="passage"
    )


def test_the_answer_is_the_estimate(evaluation: Any) -> None:
    page = report.render(evaluation)
    value, (low, high) = evaluation["accuracy"].value, evaluation.interval("accuracy")
    sentence = f"Accuracy is {value:.3f}, with a 95 % interval from {low:.3f} to {high:.3f}."
    assert f'<h1 id="answer-text">{sentence.replace(" %", chr(160) + "%")}</h1>' in page
    ratio = (high - low) / (evaluation.naive("accuracy")[1] - evaluation.naive("accuracy")[0])
    assert f"{ratio:.1f} times too narrow" in page


def test_every_number_of_the_result_is_embedded(evaluation: Any, board: Any) -> None:
    data = embedded(report.render([board, evaluation], title="both"))
    assert data["schema"] == "strat/report/1"
    first, second = data["results"]
    assert first["leaderboard"] == board.data()["leaderboard"]
    assert second["measures"] == evaluation.data()["measures"]
    assert second["schema"] == "strat/evaluate/4"


def test_tables_show_what_the_result_has(evaluation: Any) -> None:
    page = report.render(evaluation)
    for stratum, made in evaluation.strata.items():
        assert f">{stratum}</th>" in page
        assert f">{made.value:.4f}</td>" in page
    for part in ("Design and target", "By subject", "Confusion matrix", "In words", "How it was computed"):
        assert part in page
    assert evaluation.target in page
    assert evaluation.design in page


def test_the_page_is_well_formed_and_asks_nobody(evaluation: Any, board: Any) -> None:
    reader = parsed(report.render({"a": board, "b": evaluation}))
    for tag, attributes in reader.seen:
        for name in ("src", "href", "srcset", "action"):
            target = attributes.get(name)
            assert target is None or target.startswith(("#", "data:")), (tag, target)
    page = report.render(evaluation)
    assert "url(" not in page
    assert "@import" not in page
    assert "http://" not in page
    assert "https://" not in page


def test_ids_are_distinct_and_links_lead_somewhere(evaluation: Any, board: Any) -> None:
    seen = parsed(report.render([board, evaluation])).seen
    ids = [a["id"] for _, a in seen if "id" in a]
    assert len(ids) == len(set(ids))
    links = [str(a["href"])[1:] for _, a in seen if str(a.get("href", "")).startswith("#")]
    assert links
    assert set(links) <= set(ids)


@cache
def results_with(label: str) -> dict[str, Any]:
    """Every kind of result, with a label of somebody's own in each place that has one."""
    n = 120
    labels = np.array([label, "b", "c"])
    truth = labels[RNG.integers(0, 3, n)]
    said = np.where(RNG.random(n) < 0.7, truth, labels[RNG.integers(0, 3, n)])
    table = {"t": truth, "p": said, "s": np.array([label, "z"])[np.arange(n) % 2]}
    scores = {label: RNG.random(n).round(), "two": RNG.random(n).round(), "three": RNG.random(n).round()}
    design = strat.Design.simple_random(n=n)
    a, b = (strat.proportion(scores[k]) for k in (label, "two"))
    sets = {label: RNG.random(9), "B": RNG.random(9), "C": RNG.random(9)}
    binary, score = RNG.integers(0, 2, n), RNG.random(n)
    similarity = RNG.normal(size=(30, 10))
    who, gallery = np.repeat(np.arange(10), 3), np.arange(10)
    ranks = recognition.ranks(similarity=similarity, probes=who, gallery=gallery)
    return {
        "evaluation": strat.evaluate(table, truth="t", predicted="p", strata="s"),
        "leaderboard": strat.compare(scores, score=list(scores)),
        "many": comparison.many(scores, on=design, higher_is_better=True),
        "comparison": comparison.paired(a, b, on=design, higher_is_better=True, names=(label, "two")),
        "nemenyi": comparison.nemenyi(sets, higher_is_better=True),
        "control": comparison.bonferroni_dunn(sets, control=label, higher_is_better=True),
        "friedman": comparison.friedman(sets, higher_is_better=True),
        "chance": comparison.chance([[9, 1], [2, 8]]),
        "mcnemar": comparison.mcnemar(truth, said, said[::-1]),
        "confusion": ConfusionMatrix.from_labels(truth, said),
        "number": strat.estimate(strat.mean(score), on=design),
        "row": strat.estimate(strat.stack("system", **{label: a, "B": b}), on=design),
        "roc": strat.estimate(roc(binary, score), on=design),
        "det": strat.estimate(det(binary, score), on=design),
        "pr": strat.estimate(precision_recall(binary, score, thresholds=np.linspace(0.95, 0.05, 19)), on=design),
        "rates": strat.estimate(rate_at(binary, score, fpr=np.linspace(0.05, 0.95, 10)), on=design),
        "match": recognition.match_curve({label: ranks}),
        "verification": recognition.verification(similarity=similarity, probes=who, gallery=gallery).det(),
    }  # fmt: skip


KINDS = sorted(results_with("a"))


@pytest.mark.parametrize("kind", KINDS)
def test_every_result_has_a_page_and_every_label_is_escaped(kind: str) -> None:
    page = report.render({EVIL: results_with(EVIL)[kind]}, title=EVIL)
    reader = parsed(page)
    scripts = [a for tag, a in reader.seen if tag == "script"]
    assert len(scripts) == 3
    assert "<script>alert" not in page
    data = embedded(page)
    assert data["title"] == EVIL
    assert data["results"][0]["answer"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_table_shows_what_is_not_a_number(kind: str) -> None:
    page = report.render(results_with("a")[kind])
    assert not re.search(r">\s*(nan|inf|None|NaN)\s*<", page)
    assert not any("nan" in d for d in re.findall(r'<path[^>]* d="([^"]*)"', page))


def test_the_script_is_the_one_that_the_policy_allows(evaluation: Any) -> None:
    page = report.render(evaluation)
    allowed = re.search(r"script-src 'sha256-([^']+)'", page)
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)
    assert allowed is not None
    assert script is not None
    assert base64.b64encode(hashlib.sha256(script.group(1).encode()).digest()).decode() == allowed.group(1)


def test_the_same_result_makes_the_same_page(evaluation: Any) -> None:
    assert report.render(evaluation) == report.render(evaluation)


def test_warnings_are_shown() -> None:
    found = strat.evaluate(str(example_path()), truth="label", predicted="guess")
    page = report.render(found)
    assert ">Notes</h2>" in page
    assert "With `units=&#39;passage&#39;` it is" in page


def test_replicates_name_their_array_and_seed() -> None:
    units = np.arange(24)
    design = strat.Design.stratified(strata=units // 2, units=units)
    made = strat.estimate(strat.mean(np.sin(units)), on=strat.brr(design))
    assert "from a Hadamard matrix of order 16" in report.render(made)
    drawn = strat.estimate(strat.mean(np.sin(units)), on=strat.bootstrap(design, replicates=50, rng=3))
    page = report.render(drawn)
    assert "seed 3" in page
    assert "Rao and C. F. J. Wu" in page


def test_a_plan_travels_into_the_report() -> None:
    plan = strat.Plan(population="simple random", context="night shift", explicit=("lamp",))
    design = strat.Design.simple_random(n=20).with_plan(plan)
    assert "night shift" in report.render(strat.estimate(strat.mean(np.arange(20.0)), on=design))


def test_many_systems_are_quick_to_look_up_and_small() -> None:
    n, m = 400, 60
    scores = {f"s{k}": (RNG.random(n) < 0.3 + 0.01 * k).astype(float) for k in range(m)}
    page = report.render(strat.compare(scores, score=list(scores)))
    assert "Any two systems" in page
    assert len(page) < 6_000_000
    assert page.count("<tr>") < 4 * m


def test_very_long_results_stay_under_the_limit() -> None:
    made = strat.estimate(strat.mean(RNG.random((20, 3_000))), on=strat.Design.simple_random(n=20))
    whole = report.render(made)
    assert len(embedded(whole)["results"][0]["values"]) == 3_000
    with changed(page_data=100_000):
        short = report.render(made)
    assert embedded(short)["results"][0]["left_out"] == {"values": 3_000}
    assert len(short) < len(whole) < 6_000_000


def test_a_stratum_of_one_unit_has_no_interval_and_no_nan() -> None:
    table = {"t": list("aabbab"), "p": list("abbbab"), "s": list("xxxxyy"), "u": [1, 1, 2, 2, 3, 3]}
    found = strat.evaluate(table, truth="t", predicted="p", strata="s", units="u", lone="certainty")
    page = report.render(found)
    assert not re.search(r">\s*(nan|–)\s*<", page)


# ---- writing


def test_results_write_their_own_report(evaluation: Any, tmp_path: Path) -> None:
    path = evaluation.report(tmp_path / "r.html")
    written = re.sub(r" · \d+ [A-Z][a-z]+ \d{4}</p>", "</p>", path.read_text(encoding="utf-8"))
    assert written == report.render(evaluation)
    assert len(path.read_text(encoding="utf-8")) > len(written)  # the file says when it was written


def test_a_failed_write_leaves_the_old_file(evaluation: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.html"
    path.write_text("old")

    def broken(*_: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", broken)
    with pytest.raises(strat.StratError, match="No space left"):
        report.write(evaluation, path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


def test_wrong_calls_are_refused_with_the_way_out(evaluation: Any, tmp_path: Path) -> None:
    with pytest.raises(strat.StratError, match=r"`path` must end in \.html, got"):
        report.write(evaluation, tmp_path / "r.pdf")
    with pytest.raises(strat.StratError, match="there is no folder"):
        report.write(evaluation, tmp_path / "nowhere" / "r.html")
    with pytest.raises(strat.StratError, match="`results` must hold at least one result to report, got none"):
        report.render([])
    with pytest.raises(strat.StratError, match=r"`results` must be results such as those of strat\.evaluate, got"):
        report.render("evaluation")


# ---- charts


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.2, 7.9), (0.731, 0.7312), (1e-9, 2e-9), (5.0, 5000.0)])
def test_ticks_are_round_few_and_inside(low: float, high: float) -> None:
    found = axes.ticks(low, high)
    assert 2 <= len(found) <= 11
    assert all(low - 1e-9 * abs(low) <= t <= high * (1 + 1e-9) for t in found)
    assert len(set(axes.tick_texts(found))) == len(found)


def test_bars_on_one_level_do_not_touch() -> None:
    groups = [(0, 2), (1, 4), (3, 5), (6, 8)]
    levels = ladders._levels(groups)
    for k, level in enumerate(levels):
        for j in range(k):
            if levels[j] == level:
                assert groups[j][1] < groups[k][0]


def test_a_roc_region_holds_the_curve() -> None:
    truth = RNG.integers(0, 2, 300)
    made = strat.estimate(roc(truth, truth + RNG.normal(size=300)), on=strat.Design.simple_random(n=300))
    low, high = (np.asarray(v) for v in made.band())
    (x0, upper), (x1, lower) = region(low, high, "roc")
    fpr, tpr = made.point
    assert (np.diff(upper) >= 0).all()
    assert (np.diff(lower) >= 0).all()
    assert (tpr <= np.interp(fpr, x0, upper, right=1.0) + 1e-9).all()
    assert (tpr >= np.interp(fpr, x1, lower, left=0.0) - 1e-9).all()


def test_a_det_region_is_made_of_the_boxes_of_all_thresholds() -> None:
    """By hand: three boxes from (FPR, FNR) low to high; the edges can only fall, and the tighter box wins."""
    low = np.array([[0.1, 0.3, 0.5], [0.55, 0.4, 0.1]])
    high = np.array([[0.2, 0.4, 0.6], [0.8, 0.85, 0.3]])
    upper, lower = region(low, high, "det")
    assert upper.tolist() == [[0.2, 0.4, 0.6], [0.8, 0.8, 0.3]]  # at most the FNR of thresholds further left
    assert lower.tolist() == [[0.1, 0.3, 0.5], [0.55, 0.4, 0.1]]
    assert region(low, np.array([high[0], [0.8, 0.85, 0.7]]), "det")[0].tolist()[1] == [0.8, 0.8, 0.7]


# ---- what a reader asks first: which data, which class, which side is the truth

N = 400
WHO = np.repeat(np.arange(100), 4)
ILL = (RNG.random(N) < 0.3).astype(int)
RISK = 1 / (1 + np.exp(-(2 * ILL - 1 + RNG.normal(size=N))))
CLINIC = {
    "truth": np.where(ILL, "ill", "well"),
    "called": np.where(RISK > 0.5, "ill", "well"),
    "risk": RISK,
    "patient": WHO,
    "site": np.array(["north", "south"])[WHO % 2],
}


def clinic(**more: Any) -> Any:
    return strat.evaluate(
        CLINIC, truth="truth", predicted="called", score="risk", units="patient", positive="ill", **more
    )


def test_scores_have_a_roc_curve_and_a_reliability_diagram() -> None:
    """A score was given, and the page had neither a ROC curve nor a calibration picture."""
    found = clinic(metrics=["auc", "recall"])
    page = report.render(found)
    low, high = found.interval("auc")
    assert f"ROC curve. AUC {found['auc'].value:.3f} (95\N{NO-BREAK SPACE}% interval {low:.3f} to {high:.3f})" in page
    assert "Reliability diagram. Calibration error" in page
    assert page.count('class="ref" d="M0 1000L1000 0"') == 2
    scores = strat.evaluate(
        {**CLINIC, "risk": RISK * 10}, truth="truth", score="risk", units="patient", positive="ill", metrics="auc"
    )
    assert "ROC curve" in report.render(scores)
    assert "Reliability" not in report.render(scores)  # scores that are no probabilities


def test_groups_have_a_forest_a_table_and_a_test() -> None:
    found = clinic(metrics=["recall"], by="site")
    page = report.render(found)
    test = found.groups["recall"].test()
    assert "Recall by site" in page
    assert f"p = {test.pvalue:.3f}" in page
    for label, made in found.groups["recall"].each.items():
        assert f">{label}</th>" in page
        assert f">{made.value:.4f}</td>" in page


def test_the_page_says_which_side_is_the_truth_and_which_class_is_positive() -> None:
    """The confusion matrix did not say which side is the truth."""
    page = report.render(clinic(metrics=["recall"]))
    assert "<td>truth ↓ predicted →</td>" in page
    assert "<dt>Positive class</dt><dd>ill</dd>" in page


def test_the_title_names_the_data_and_the_facts_its_columns() -> None:
    found = clinic(metrics=["recall"])
    assert "<title>Recall of 400 rows – strat report</title>" in report.render(found)
    for name, value in (("source", "clinic.csv"), ("roles", {"truth": "truth"}), ("threshold", 0.5)):
        object.__setattr__(found, name, value)
    page = report.render(found)
    assert "<title>clinic.csv – strat report</title>" in page
    assert "<dt>Data</dt><dd>clinic.csv</dd>" in page
    assert "<dt>Columns</dt><dd>truth: truth</dd>" in page
    assert "a score of 0.5 or more is called positive" in page


def test_counts_are_written_alike() -> None:
    """Counts read 1992 in the matrix beside 2,390 above it."""
    counts = [[1992, 8], [10, 380]]
    page = report.render(ConfusionMatrix(counts))
    assert ">1,992<" in page
    assert "1992<" not in page


def test_recognition_pages_speak_plainly_and_have_error_rates() -> None:
    """The page of a recognition experiment left the equal error rate out and said "system names 0.857 right"."""
    who, gallery = np.repeat(np.arange(30), 3), np.arange(30)
    similarity = RNG.normal(size=(90, 30)) + 2 * (who[:, None] == gallery)
    checked = recognition.verification(similarity=similarity, probes=who, gallery=gallery)
    curve = recognition.match_curve(recognition.ranks(similarity=similarity, probes=who, gallery=gallery))
    page = report.render({"Identification": curve, "Verification": checked})
    assert re.search(r"At rank 1 the system identifies [\d.]+\xa0% of probes \(95\xa0% interval [\d.]+ to", page)
    assert f">{checked.eer().value:.4f}</td>" in page
    assert f">{checked.fnmr_at(0.01).value:.4f}</td>" in page


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\x1b", "\x9b", "\u200b", "\ud800"])
def test_no_label_turns_the_page_around(sign: str) -> None:
    """A system called `mine<U+202E>` turned the headline of the page around."""
    name = f"mine{sign}"
    for result in (results_with(name)["leaderboard"], results_with(name)["evaluation"], results_with(name)["match"]):
        page = report.render(result)
        assert sign not in page
        assert f"mine\\u{ord(sign):04x}" in page
        json.dumps(embedded(page))


def test_a_check_shows_every_interval_and_its_design() -> None:
    table = {"right": [1, 0, 1, 1] * 10, "who": [k // 4 for k in range(40)]}
    (check,) = strat.check(table, score="right", units="who", trials=200)
    text = report.render(check)
    assert "rows as independent" in text
    assert "clustered: 40 rows in 10 units" in text
    assert "No design was given" not in text


def reader_study() -> Any:
    rng = np.random.default_rng(2)
    reader, case, treatment = (axis.reshape(-1) for axis in np.indices((3, 40, 2)))
    truth = case % 2
    score = truth + rng.normal(size=len(case)) + 0.3 * rng.normal(size=40)[case]
    return comparison.readers(truth, score, reader=reader, case=case, treatment=treatment)


def compared_models() -> Any:
    from sklearn.dummy import DummyClassifier
    from sklearn.naive_bayes import GaussianNB

    data = strat.datasets.gaussian_classes(60, means=[[-1, 0], [1, 0]], rng=1)
    models = {"bayes": GaussianNB(), "chance": DummyClassifier(), "other": GaussianNB(var_smoothing=1e-3)}
    return strat.compare_models(models, data.X, data.y, cv=3)


@pytest.mark.parametrize("make", [reader_study, compared_models])
def test_no_page_denies_the_design_or_calls_what_was_asked_a_finding(make: Any) -> None:
    result = make()
    page = report.render(result)
    told = embedded(page)["results"][0]
    assert "No design" not in page
    assert "names no design" not in page
    assert "practically equivalent" not in told["answer"]
    frame = result.to_frame()
    assert page.count("<tr") > len(frame)  # every line of the table is a row, none is run together


def test_the_headlines_name_the_best_model_and_the_difference_of_treatments() -> None:
    models, study = compared_models(), reader_study()
    answer = embedded(report.render(models))["results"][0]["answer"]
    assert answer.startswith(f"{models.best()} has the best mean accuracy of 3 models")
    assert str(study.differences[0]) in embedded(report.render(study))["results"][0]["answer"]
